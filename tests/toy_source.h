/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A source of work on the test clock, by gnomon/tool.h alone, and work as text. What
 * it is told to do it gives when it is flushed, or at once by toy_tell. */
#ifndef GNOMON_TESTS_TOY_SOURCE_H
#define GNOMON_TESTS_TOY_SOURCE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "gnomon/tool.h"
#include "marks.h"
#include "probe_profile.h"

#define TOY_RECORDS 256

typedef struct toy_source {
    gnomon_device_source api;
    uint32_t number, kinds;
    int opens, closes, flushes;
    uint64_t patience_ns; /* of the last flush */
    const char *broken;   /* not NULL: it cannot be opened, and says this */
    gnomon_device_work records[TOY_RECORDS];
    size_t count;
} toy_source;

static int toy_source_open(void *self, uint32_t number, uint32_t kinds,
                           const char **why)
{
    toy_source *s = self;
    s->number = number;
    s->kinds = kinds;
    *why = s->broken;
    s->opens += !s->broken;
    return s->broken ? GNOMON_ESTATE : GNOMON_OK;
}

static void toy_source_close(void *self)
{
    ((toy_source *)self)->closes++;
}

static inline void toy_tell(toy_source *s)
{
    size_t count = s->count;
    s->count = 0;
    gnomon_host_get()->device_put(s->number, s->records, count);
}

static void toy_source_flush(void *self, uint64_t patience_ns)
{
    ((toy_source *)self)->patience_ns = patience_ns;
    ((toy_source *)self)->flushes++;
    toy_tell(self);
}

#define TOY_SOURCE(variable, word) \
    static toy_source variable = {.api = {.struct_size = sizeof variable.api, \
                                          .abi = GNOMON_ABI, \
                                          .name = word, \
                                          .self = &variable, \
                                          .open = toy_source_open, \
                                          .close = toy_source_close, \
                                          .flush = toy_source_flush}}
TOY_SOURCE(toy, "toy");

/* Records of work without a launch: add `.correlation` and so on. */
static inline gnomon_device_work *toy_record(toy_source *s, uint32_t kind,
                                             const char *name, uint64_t begin,
                                             uint64_t ns)
{
    gnomon_device_work *r = &s->records[s->count++ % TOY_RECORDS];
    *r = (gnomon_device_work){.struct_size = sizeof *r,
                              .kind = kind,
                              .name = name,
                              .stream = 7,
                              .begin_ns = begin,
                              .end_ns = begin + ns};
    if (kind == GNOMON_DEVICE_CALL || kind == GNOMON_DEVICE_OVERHEAD)
        r->device = -1;
    return r;
}

/* A call that launches work from where the thread is, and the work. */
static inline gnomon_device_work *toy_work(toy_source *s, uint32_t kind,
                                           const char *name, uint64_t begin,
                                           uint64_t ns)
{
    static uint64_t correlations;
    gnomon_device_work *r = toy_record(s, kind, name, begin, ns);
    r->correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
    gnomon_host_get()->device_launched(s->number, r->correlation);
    return r;
}

static inline gnomon_device_work *toy_kernel(const char *name, uint64_t begin,
                                             uint64_t ns)
{
    return toy_work(&toy, GNOMON_DEVICE_KERNEL, name, begin, ns);
}

static const gnomon_profiler worker = {.struct_size = sizeof worker,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE |
                                                GNOMON_WANT_DEVICE_WORK,
                                       .name = "worker"};

static inline void toy_begin(void)
{
    gnomon__test_set(1000);
    setenv("GNOMON_CUPTI_LIBRARY", "/none", 1); /* the toy is the only source */
    CHECK_EQ(gnomon_host_get()->source_add(&toy.api), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&worker, NULL, NULL), GNOMON_OK);
    gnomon_thread_name("main");
}

/* ---- Work as text ------------------------------------------------------------- */

typedef struct toy_text {
    char at[8192];
    size_t used;
} toy_text;

__attribute__((format(printf, 2, 3))) static inline void
toy_print(toy_text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    t->used += (size_t)vsnprintf(t->at + t->used, sizeof t->at - t->used,
                                 format, arguments);
    va_end(arguments);
}

static inline void toy_print_path(toy_text *t, const gnomon_profile *p,
                                  uint32_t node)
{
    gnomon_node_info n;
    if (gnomon_profile_node(p, node, &n))
        return;
    toy_print_path(t, p, n.parent);
    toy_print(t, "%s%s", n.parent ? ">" : "", node_name(p, &n));
}

/* A line for each node with times that is not of a thread: its track, stage and path,
 * how often and how long; "@" before times on the host. */
static inline const char *toy_shown(toy_text *t, const gnomon_profile *p)
{
    t->used = 0;
    t->at[0] = 0;
    for (uint32_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_track_info k;
        gnomon_stage_info s = {.name = "-"};
        gnomon_profile_node(p, i, &n);
        gnomon_profile_track(p, n.track, &k);
        (void)gnomon_profile_stage(p, n.stage, &s);
        const gnomon_stats *of = n.device ? n.device : n.host;
        if (k.kind == GNOMON_TRACK_THREAD || !of)
            continue;
        toy_print(t, "%s/%s ", k.name, s.name);
        toy_print_path(t, p, i);
        toy_print(t, " %s%" PRIu64 " %" PRIu64, n.device ? "" : "@", of->count,
                  of->total_ns);
        if (n.work)
            toy_print(t, " %" PRIu64 "B", n.work->bytes);
        toy_print(t, "\n");
    }
    return t->at;
}

/* The profile of `worker` as such text. */
#define CHECK_WORK(all_stages, text) \
    do { \
        static toy_text shown_; \
        gnomon_profile *p_ = profile_of("worker", all_stages); \
        CHECK_STR(toy_shown(&shown_, p_), text); \
        gnomon_profile_free(p_); \
    } while (0)

static inline gnomon_health toy_health(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return h;
}

#endif
