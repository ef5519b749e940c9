/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log: one line to stderr for each callback. Read it before you write a profiler: it
 * has all callbacks except destroy, which frees what create made. Each callback may be
 * left out, and then costs nothing.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "gnomon/tool.h"

#define LOG(...) ((void)self, log_line(__VA_ARGS__))

static void (*log_out)(const char *line);

static void log_line(const char *format, ...) GNOMON_PRINTF(1, 2);

static void log_line(const char *format, ...)
{
    char line[1024] = "log: ";
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line + 5, sizeof line - 5, format, list);
    va_end(list);
    if (log_out)
        log_out(line);
}

/* *self may be set to this profiler's own state, which all callbacks get. This one needs
 * none. */
static int log_create(const gnomon_options *options, void **self)
{
    log_out = options->log;
    (void)self;
    return GNOMON_OK;
}

/* For each thread, as training threads call at the same time. */
static __thread uint32_t log_depth;

static int log_setup(void *self, const gnomon_run_info *run, const char *stage)
{
    LOG("setup, rank %d, stage \"%s\"", (int)run->rank, stage ? stage : "");
    return GNOMON_OK; /* a negative code is reported */
}

static void log_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    *slot = log_depth; /* given back at stop */
    LOG("%u %*s> %s", (unsigned)frame->thread, 2 * (int)*slot, "", frame->name);
    log_depth += !(frame->flags & GNOMON_FRAME_RANGE);
}

/* Actions need not nest, so a stop may not belong to the last start. A range may stop
 * on another thread. */
static void log_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    log_depth -= log_depth > 0 && !(frame->flags & GNOMON_FRAME_RANGE);
    LOG("%u %*s< %s %" PRIu64 " ns%s", (unsigned)frame->thread, 2 * (int)*slot,
        "", frame->name, frame->end_ns - frame->begin_ns,
        frame->flags & GNOMON_FRAME_UNFINISHED ? ", unfinished" : "");
}

static void log_step(void *self, const gnomon_step_event *event)
{
    LOG("step %" PRIu64 " over at %" PRIu64 " ns", event->step, event->end_ns);
}

static void log_counter(void *self, const gnomon_counter_event *event)
{
    LOG("counter %s = %g", event->name, event->value);
}

static void log_mark(void *self, const gnomon_mark_event *event)
{
    LOG("mark %s", event->name);
}

static void log_thread(void *self, const gnomon_thread_event *event)
{
    LOG("%u is thread %s", (unsigned)event->thread, event->name);
}

static void log_stream(void *self, const gnomon_stream_event *event)
{
    LOG("stream: %s %p is %s", event->device->name, event->stream, event->name);
}

/* The innermost open scope was caused by another scope, perhaps of another thread. */
static void log_link(void *self, const gnomon_link_event *event)
{
    LOG("link of kind %d from thread %u", (int)event->kind,
        (unsigned)event->from_thread);
}

/* The schedule's window opens or closes. Without a schedule it opens at once. */
static void log_window(void *self, const gnomon_window_event *event)
{
    static const char *const phases[] = {"none", "warmup", "record", "last"};
    LOG("window: %s", phases[event->phase & 3]);
}

/* Writes the report, only to `out`. `profile` is NULL without GNOMON_WANT_TREE. */
static int log_summary(void *self, const gnomon_profile *profile,
                       const gnomon_writer *out)
{
    LOG("summary %s profile", profile ? "with a" : "without");
    return out->print(out, "All was logged when it happened.\n");
}

static void log_teardown(void *self, const char *stage)
{
    LOG("teardown, stage \"%s\"", stage ? stage : "");
}

static const gnomon_profiler logger = {
    .struct_size = sizeof logger,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TIMES, /* else begin_ns and end_ns are 0 */
    .name = "log",
    .help = "one line to stderr for each callback",
    .create = log_create,
    .setup = log_setup,
    .start = log_start,
    .stop = log_stop,
    .step = log_step,
    .counter = log_counter,
    .mark = log_mark,
    .thread = log_thread,
    .summary = log_summary,
    .teardown = log_teardown,
    .window = log_window,
    .stream = log_stream,
    .link = log_link,
};

GNOMON_PLUGIN(logger);
