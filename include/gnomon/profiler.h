/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Write a profiler: fill in a gnomon_profiler, then attach it, register it, or
 * export it from a plugin. docs/writing-a-profiler.md is the tour.
 *
 *     gnomon/events.h   what callbacks are given
 *     gnomon/profile.h  what is in a profile; not included here
 *     gnomon/plugin.h   what a plugin exports, and what it may call
 *     gnomon/report.h   rows, sums and JSON text for reports; not included here
 *
 * A callback that is NULL is not wanted, and costs nothing. Filters, schedules
 * and ranks are gnomon's work: a callback is called only for what passed them.
 */
#ifndef GNOMON_PROFILER_H
#define GNOMON_PROFILER_H

#include "../gnomon.h"
#include "device.h"
#include "entities.h"
#include "events.h"
#include "writer.h"

GNOMON_BEGIN_DECLS

/* ---- Options ------------------------------------------------------------------ */

/* The values of a profiler's options, from $GNOMON or gnomon_attach. They are
 * checked against its table, and defaults are filled in. Borrowed: keep no
 * pointer to it after create, but for `log`. */
typedef struct gnomon_options {
    uint32_t struct_size;
    uint32_t reserved;
    /* The value of option `key`, as it was written; its default where it was not
     * given; NULL where it has none. The text lives as long as the options. */
    const char *(*text)(const struct gnomon_options *options, const char *key);
    /* The same as a number: 0 or 1 of a BOOL, bytes of BYTES, ns of a DURATION. */
    int64_t (*number)(const struct gnomon_options *options, const char *key);
    /* Writes "gnomon: <line>" to stderr, in one piece. May be kept and called
     * later, by any thread. Unlike stdio it raises no signal where stderr is a
     * closed pipe, and is silent where the host closed stderr. */
    void (*log)(const char *line);
    /* gnomon_region_op, of gnomon/op.h: what a frame's region computes; NULL: nothing
     * that was told. May be kept and called later, by any thread. */
    const gnomon_op_info *(*region_op)(const gnomon_region *region);
} gnomon_options;

/* What an option's value must be; another one is refused before create. */
enum gnomon_option_type {
    /* true or false; number() gives 1 or 0. */
    GNOMON_OPTION_BOOL = 0,
    /* A whole number. */
    GNOMON_OPTION_INTEGER = 1,
    /* A size with its unit, as 64MiB; number() gives bytes. */
    GNOMON_OPTION_BYTES = 2,
    /* A time with its unit, as 10ms; number() gives ns. */
    GNOMON_OPTION_DURATION = 3,
    /* Any text. With a preset of "false" the option may be written without a
     * value, and is "true" then. */
    GNOMON_OPTION_TEXT = 4
};

/* One option that a profiler knows. A table of them ends with a NULL key; its
 * items lie as far apart as the first one's struct_size says. */
typedef struct gnomon_option_info {
    uint32_t struct_size;
    /* A gnomon_option_type. */
    int32_t type;
    /* Its name in a spec. */
    const char *key;
    /* Its default, as it would be written in a spec; NULL: none. */
    const char *preset;
    /* One line for GNOMON=help. */
    const char *help;
} gnomon_option_info;

/* ---- The profiler --------------------------------------------------------- */

/* What a profiler wants besides the callbacks that it fills in: bits of
 * gnomon_profiler.wants. Each costs time at every mark that it records. */
enum gnomon_wants {
    /* A call tree: summary then gets a profile. About two clock reads a scope. */
    GNOMON_WANT_TREE = 1u,
    /* begin_ns and end_ns in stop, which are 0 without it. */
    GNOMON_WANT_TIMES = 2u,
    /* With the tree: times on devices, in its nodes' `device`. */
    GNOMON_WANT_DEVICE = 4u,
    /* One summary at the run's end, of all its stages, and none when a stage
     * ends. */
    GNOMON_WANT_RUN = 8u,
    /* With the tree: how long regions took in steps (gnomon_step_time_info). */
    GNOMON_WANT_STEPS = 16u,
    /* With the tree: single executions, marks, samples and links, in the profile's
     * events. Some ns and 16 bytes a scope, of the memory that mem= gives. A schedule
     * then chooses the events alone; the tree is of all steps. An option `keep` of
     * the profiler says what stays when that memory is full: "last" (its default) or
     * "first"; or of how many steps ("8steps"); or that `ready` gets it while the run
     * goes on ("stream"). */
    GNOMON_WANT_EVENTS = 32u,
    /* With the tree: kernels, copies and calls of devices, in nodes of their own, as
     * sources tell of them (gnomon/activity.h). Where no source does, one line says
     * why, and it is as if GNOMON_WANT_DEVICE stood here. */
    GNOMON_WANT_ACTIVITIES = 64u
};

/* A profiler: a table of callbacks. Each gets `self`, which create made, or which
 * gnomon_attach was given.
 *
 * Order: create, setup; marks; then, when a stage ends and at the end of the run,
 * summary and teardown; setup again with each stage that begins; destroy.
 * Threads: create, setup, summary, teardown and destroy come from control calls,
 * and never at the same time for one `self`. All others come from the threads
 * that mark, at any time, also at once: keep state for each thread, or lock.
 * Errors: callbacks that return int return GNOMON_OK or a negative code, which
 * becomes one line on stderr; the program and other profilers go on.
 * Inside: a callback may allocate, print and lock. Marks that it makes are
 * counted as `reentered` and recorded by nobody. It may not make control calls
 * (GNOMON_EBUSY).
 * Cancellation: pthread_cancel does not act in the callbacks of control calls,
 * nor in window. A thread that is cancelled in another callback ends there, and
 * that scope has no stop.
 * Lifetime: the table and its texts must outlive their use by gnomon. */
typedef struct gnomon_profiler {
    /* sizeof(gnomon_profiler); it must reach as far as `help`. */
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* Bits of gnomon_wants. */
    uint32_t wants;
    uint32_t reserved;
    /* Its name in $GNOMON. Not NULL, not "". */
    const char *name;
    /* One line for GNOMON=help, or NULL. */
    const char *help;
    /* Its own options, or NULL: none. */
    const gnomon_option_info *options;
    /* Makes *self, which the other callbacks get. It may return GNOMON_DECLINED
     * after a line of its own (options->log): then nothing else is called, and
     * it is as if the spec had not named the profiler. */
    int (*create)(const gnomon_options *options, void **self);
    /* After create, and when a stage begins. `run` is borrowed; `stage` is its
     * name, "" where the program opened none. As Lightning's setup. */
    int (*setup)(void *self, const gnomon_run_info *run, const char *stage);
    /* A scope, action or range begins. `slot` is 64 bits for the profiler: 0
     * here, and kept until the stop. Each start is followed by one stop; where
     * the scope does not end, by one with GNOMON_FRAME_UNFINISHED, perhaps on
     * another thread. */
    void (*start)(void *self, const gnomon_frame *frame, uint64_t *slot);
    /* It is over. `slot` is what the start left there. */
    void (*stop)(void *self, const gnomon_frame *frame, uint64_t *slot);
    /* A step is over (gnomon_step). */
    void (*step)(void *self, const gnomon_step_event *event);
    /* A counter was sampled (gnomon_counter). */
    void (*counter)(void *self, const gnomon_counter_event *event);
    /* A moment was marked (gnomon_mark). */
    void (*mark)(void *self, const gnomon_mark_event *event);
    /* A thread was named (gnomon_thread_name). */
    void (*thread)(void *self, const gnomon_thread_event *event);
    /* Writes the report: when a stage ends, at the end of the run, and whenever
     * somebody asks (gnomon_summary). `profile` has that stage, or all of them
     * with GNOMON_WANT_RUN; it is NULL where no tree was wanted. Both are
     * borrowed. Marks go on meanwhile. A report that fails is not printed. */
    int (*summary)(void *self, const gnomon_profile *profile,
                   const gnomon_writer *out);
    /* After the summary of a stage, and at the end. `stage` is as in setup, and ""
     * at the end. As Lightning's teardown. */
    void (*teardown)(void *self, const char *stage);
    /* Frees `self`. No callback comes after it. */
    void (*destroy)(void *self);
    /* The window of its schedule opens or closes. Without a schedule the phase is
     * GNOMON_PHASE_RECORD. It is GNOMON_PHASE_NONE at first, after a stage's end
     * until the next one begins or a step is made, and always on ranks that
     * ranks= leaves out. Comes on the thread that makes the step, after `step`,
     * or on that of the control call, and never twice at once for one `self`.
     * Where several threads make steps at once, one of them may tell for all,
     * and tells only the last phase. */
    void (*window)(void *self, const gnomon_window_event *event);
    /* A stream of a device was named (gnomon_stream_name). */
    void (*stream)(void *self, const gnomon_stream_event *event);
    /* A scope was linked to its cause (gnomon_link_in). */
    void (*link)(void *self, const gnomon_link_event *event);
    /* With GNOMON_WANT_EVENTS: events are ready, as torch's on_trace_ready. With a
     * schedule after each cycle, also one that the stage's end cuts short, and
     * `profile` has its events (those of cycles that ended faster than they could be
     * given are all in the first's, as a line says); else once at the end of the run.
     * The tree in it is of the stage so far, or of the run. With an option `keep` that
     * is "stream" also in between, with events that no other profile has. It comes from
     * a control call on a thread of gnomon's, or on that which ends the stage. `out` is
     * for files: text written to it goes nowhere. Where an option `on_trace_ready` of
     * the profiler is "none" it is not called, and no such profile is made; but of a
     * stream it is. */
    int (*ready)(void *self, const gnomon_profile *profile,
                 const gnomon_writer *out);
} gnomon_profiler;

/* ---- Saying why ----------------------------------------------------------------- */

/* For a callback that returns int: keeps one line of text and returns `code`, so
 *     return gnomon_fail(GNOMON_EIO, "the socket is closed");
 * The line on stderr then ends in that text, where it would have the code's name;
 * so does gnomon_error_text() of the control call that came to the callback. The
 * text is copied, and cut at 255 bytes. NULL and "" are no text. It is forgotten
 * where the callback returns GNOMON_OK after all. A plugin has host->fail. */
GNOMON__CALL int gnomon_fail(int code, const char *text);
/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_fail_n(int code, const char *text, size_t length);

/* Writes "gnomon: <line>" to stderr, in one piece: options->log and host->log, for
 * who has neither. Any thread, also in a callback. NULL is an empty line. */
GNOMON__CALL void gnomon_log(const char *line);

/* ---- Attaching ------------------------------------------------------------------ */

/* All four are control calls: gnomon/run.h says on which threads, and which
 * errors each of them may return. */

/* Attaches `profiler` with the caller's `self`; its create and destroy are not
 * called. One profiler may be attached several times with different `self`.
 * Both stay the caller's, and must outlive it. `options` has the words that
 * would stand in the brackets in $GNOMON ("filter=opt*,extended=false"), or is
 * NULL; it is copied.
 * GNOMON_EINVAL: no profiler, no name, or a wrong option. GNOMON_EABI: another
 * generation, or struct_size is too small. GNOMON_EFULL: more are attached than
 * fit. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *options);
/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_attach_n(const gnomon_profiler *profiler, void *self,
                                 const char *options, size_t length);

/* Detaches what gnomon_attach attached with this `self`, without a summary. Once
 * it returns GNOMON_OK no callback runs, and none will come: both may be freed.
 * GNOMON_ENOENT: it is not attached. GNOMON_EBUSY: called inside a callback, or a
 * callback did not return within a second; no new one will start, and the call
 * may be made again. */
GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self);

/* Makes `profiler` known by its name to $GNOMON and gnomon_configure. Call it
 * before the first mark, which reads $GNOMON. The profiler stays the caller's and
 * must live as long as the process uses gnomon. A second one of a name replaces
 * the first.
 * GNOMON_EINVAL, GNOMON_EABI: as gnomon_attach. GNOMON_EFULL: too many. */
GNOMON__CALL int gnomon_register(const gnomon_profiler *profiler);

/* Writes the report that the attached profiler named `profiler` has now, of the
 * open stage. Its summary runs on the calling thread, and then out->write is
 * called once, outside of all locks; only out->write is needed.
 * GNOMON_ENOENT: no such profiler is attached. GNOMON_EINVAL: no writer.
 * GNOMON_EPLUGIN: its summary failed. GNOMON_ENOMEM, or what out->write
 * returned. */
GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out);
/* The same, with the name's length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_summary_n(const char *profiler, size_t length,
                                  const gnomon_writer *out);

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_profiler.h"
#endif

#include "plugin.h"

#endif
