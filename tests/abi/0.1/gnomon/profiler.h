/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Write a profiler: fill in a gnomon_profiler, and attach it, register it, or
 * export it from a plugin. NULL callbacks are "not wanted".
 *
 * A plugin is a shared library that exports gnomon_plugin_v1 and has no
 * undefined gnomon symbol: all that it calls comes with the host table, with
 * the profile, or with the writer. docs/writing-a-profiler.md is the tour.
 */
#ifndef GNOMON_PROFILER_H
#define GNOMON_PROFILER_H

#include "../gnomon.h"
#include "device.h"
#include "profile.h"

GNOMON_BEGIN_DECLS

/* ---- What callbacks get --------------------------------------------------- */

enum gnomon_frame_flags {
    GNOMON_FRAME_ACTION = 1u, /* by name: need not nest */
    GNOMON_FRAME_RANGE = 2u,  /* may stop on another thread */
    /* In stop: it did not end; its thread did before it, or the profiler is
     * detached. Only what `slot` leads to is to be freed. */
    GNOMON_FRAME_UNFINISHED = 4u,
    /* In stop: another thread ended it, at end_ns. It comes at the next mark of the
     * thread that began it, and need not be the innermost there. */
    GNOMON_FRAME_FOREIGN = 8u
};

/* A scope at its start or stop. Borrowed: valid inside the callback. */
typedef struct gnomon_frame {
    uint32_t struct_size;
    uint32_t flags;              /* gnomon_frame_flags */
    const gnomon_region *region; /* lives as long as the process */
    const char *name;  /* the region's, always valid UTF-8; likewise */
    uint64_t token;    /* this execution's 64-bit id */
    uint64_t begin_ns; /* in stop, where times are wanted; else 0 */
    uint64_t end_ns;
    uint32_t thread; /* 0, 1, ...: the calling thread */
    uint32_t reserved;
} gnomon_frame;

/* What the other callbacks are told: each is borrowed, valid inside the callback.
 * `thread` is the calling one, 0, 1, ...; `step` the number of the step that is
 * under way; `ns` since the run's zero, 0 where times are not wanted. A region
 * and its name, valid UTF-8, live as long as the process. */
typedef struct gnomon_counter_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    double value;
    uint64_t ns;
    uint64_t step;
} gnomon_counter_event;

typedef struct gnomon_mark_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    uint64_t ns;
    uint64_t step;
} gnomon_mark_event;

/* A step is over. Both times are there whether times are wanted or not. */
typedef struct gnomon_step_event {
    uint32_t struct_size;
    uint32_t thread;
    uint64_t step; /* the number of the one that is over */
    uint64_t begin_ns;
    uint64_t end_ns;
} gnomon_step_event;

/* A thread got a name. */
typedef struct gnomon_thread_event {
    uint32_t struct_size;
    uint32_t thread;
    const char *name; /* lives as long as the process */
    int64_t os_id;
} gnomon_thread_event;

/* The innermost open scope of this thread was caused by what `from` names. */
typedef struct gnomon_link_event {
    uint32_t struct_size;
    uint32_t thread;
    int32_t kind; /* gnomon_link_kind */
    uint32_t from_thread;
    uint64_t from; /* tokens of scopes; 0: of none that is known */
    uint64_t to;
    uint64_t ns;
    uint64_t step;
} gnomon_link_event;

/* The window of the profiler's schedule opens or closes. */
typedef struct gnomon_window_event {
    uint32_t struct_size;
    int32_t phase; /* gnomon_phase: holds from now on */
    uint64_t step; /* of the open stage: how many are over */
} gnomon_window_event;

/* A stream of a device got a name. */
typedef struct gnomon_stream_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_device *device;
    void *stream;
    const char *name; /* lives as long as the process */
} gnomon_stream_event;

/* The profiler's options from $GNOMON, checked against its `options` table,
 * defaults filled in. Borrowed for the call. */
typedef struct gnomon_options {
    uint32_t struct_size;
    uint32_t reserved;
    /* By name; the default where not given. Text: NULL if it has none. */
    const char *(*text)(const struct gnomon_options *options, const char *key);
    int64_t (*number)(const struct gnomon_options *options, const char *key);
    /* "gnomon: <line>" to stderr, in one piece. Keep it for later: unlike
     * stdio, it raises no signal where stderr is a closed pipe, and is silent
     * where the host closed stderr. Any thread, any time. */
    void (*log)(const char *line);
} gnomon_options;

enum gnomon_option_type {
    GNOMON_OPTION_BOOL = 0, /* 0 or 1 */
    GNOMON_OPTION_INTEGER = 1,
    GNOMON_OPTION_BYTES = 2,    /* 64MiB; number() gives bytes */
    GNOMON_OPTION_DURATION = 3, /* 10ms; number() gives ns */
    GNOMON_OPTION_TEXT = 4 /* a preset of "false": may stand bare, as "true" */
};

/* One option that a profiler knows. Tables end with a NULL key. */
typedef struct gnomon_option_info {
    uint32_t struct_size;
    int32_t type; /* gnomon_option_type */
    const char *key;
    const char *preset; /* the default, as written in a spec; NULL: none */
    const char *help;   /* one line */
} gnomon_option_info;

/* ---- The profiler --------------------------------------------------------- */

/* What a profiler wants beyond the callbacks it fills in. */
enum gnomon_wants {
    GNOMON_WANT_TREE = 1u,   /* a call tree, for the profile in summary */
    GNOMON_WANT_TIMES = 2u,  /* begin_ns and end_ns in stop */
    GNOMON_WANT_DEVICE = 4u, /* with the tree: times on devices, in its nodes */
    GNOMON_WANT_RUN = 8u,    /* one summary at the run's end, of all its stages,
                            and none when a stage ends */
    GNOMON_WANT_STEPS = 16u  /* with the tree: what steps were made of, in
                            GNOMON_STEP_TIMES */
};

/* Threads: create, setup, summary, teardown and destroy come from control calls
 * and never overlap for one `self`. All others come from the marking threads,
 * at any time, also at once: give threads a state of their own, or a lock.
 * No pthread_cancel acts in those of control calls, nor in window; who is
 * cancelled in another one ends there, and that scope has no stop.
 * Nothing raised inside a callback is recorded; it is counted. A callback may
 * allocate and print; it may not detach, configure or tear down (GNOMON_EBUSY).
 * int callbacks return 0 or a negative code, which is reported; create may
 * return GNOMON_DECLINED, after a line of its own (options->log): then it is as
 * if the spec had not named the profiler, and nothing else of it is called. */
typedef struct gnomon_profiler {
    uint32_t struct_size; /* at least as far as `help` */
    uint32_t abi;         /* GNOMON_ABI */
    uint32_t wants;       /* gnomon_wants */
    uint32_t reserved;
    const char *name;
    const char *help;                  /* one line, for GNOMON=help */
    const gnomon_option_info *options; /* or NULL: none */
    int (*create)(const gnomon_options *options, void **self);
    /* Lightning's setup: after create, and when a stage begins (run->stage). */
    int (*setup)(void *self, const gnomon_run_info *run, const char *stage);
    /* `slot` is zero at start and kept until stop, where it is given again. Each
     * start is followed by a stop, for what does not end by
     * GNOMON_FRAME_UNFINISHED: then perhaps on another thread. */
    void (*start)(void *self, const gnomon_frame *frame, uint64_t *slot);
    void (*stop)(void *self, const gnomon_frame *frame, uint64_t *slot);
    void (*step)(void *self, const gnomon_step_event *event);
    void (*counter)(void *self, const gnomon_counter_event *event);
    void (*mark)(void *self, const gnomon_mark_event *event);
    void (*thread)(void *self, const gnomon_thread_event *event);
    /* Writes the report. Called when a stage ends, at the end of the run, and
     * whenever somebody asks. `profile` holds that stage, or with GNOMON_WANT_RUN
     * all of them; NULL where no tree was wanted. */
    int (*summary)(void *self, const gnomon_profile *profile,
                   const gnomon_writer *out);
    /* Lightning's teardown: after the summary of a stage, and at the end. */
    void (*teardown)(void *self, const char *stage);
    /* Frees `self`. No callback comes after it. */
    void (*destroy)(void *self);
    /* Without a schedule the phase is GNOMON_PHASE_RECORD. At first it is
     * GNOMON_PHASE_NONE, again after a stage's end until the next begins or a
     * step is made, and always on ranks that ranks= leaves out. Comes on the
     * thread that makes the step, after `step`, or the control call, and never
     * twice at once for one `self`: where threads step at once, one of them may
     * tell for all, and only what holds last. */
    void (*window)(void *self, const gnomon_window_event *event);
    void (*stream)(void *self, const gnomon_stream_event *event);
    void (*link)(void *self, const gnomon_link_event *event);
} gnomon_profiler;

/* Attaches `profiler`, which stays the caller's and must outlive it, with the
 * caller's `self` (its create and destroy are not called). `options` holds
 * $GNOMON's words for it ("filter=opt*,extended=false") or NULL. */
GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *options);
GNOMON__CALL int gnomon_attach_n(const gnomon_profiler *profiler, void *self,
                                 const char *options, size_t length);

/* Detaches it, without a summary. When it returns GNOMON_OK no callback runs or
 * will come. GNOMON_EBUSY: called inside a callback, or one did not return in a
 * second; nothing new will start, and it may be called again. */
GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self);

/* Makes `profiler` known under its name to $GNOMON and gnomon_configure. Do it
 * before the first mark. It must outlive the process's use of gnomon. A second
 * one of a name takes the first's place. */
GNOMON__CALL int gnomon_register(const gnomon_profiler *profiler);

/* Writes what `profiler`, attached by name or by gnomon_attach, has to say now,
 * of the open stage. Only out->write is needed. */
GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out);
GNOMON__CALL int gnomon_summary_n(const char *profiler, size_t length,
                                  const gnomon_writer *out);

#ifdef GNOMON_DISABLE
GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *options)
{
    (void)profiler;
    (void)self;
    (void)options;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_attach_n(const gnomon_profiler *profiler, void *self,
                                 const char *options, size_t length)
{
    (void)length;
    return gnomon_attach(profiler, self, options);
}

GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self)
{
    (void)profiler;
    (void)self;
    return GNOMON_ENOENT; /* nothing is attached */
}

GNOMON__CALL int gnomon_register(const gnomon_profiler *profiler)
{
    (void)profiler;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    (void)profiler;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_summary_n(const char *profiler, size_t length,
                                  const gnomon_writer *out)
{
    (void)length;
    return gnomon_summary(profiler, out);
}
#endif

/* ---- Plugins --------------------------------------------------------------- */

struct gnomon__copy;
struct gnomon_rows;

/* What the process's gnomon offers to plugins. Lives as long as the process.
 * Look at struct_size before a field newer than the first release. */
typedef struct gnomon_host {
    uint32_t struct_size;
    uint32_t abi;
    const char *version;
    uint64_t (*now_ns)(void);        /* since the run's zero */
    void (*log)(const char *line);   /* one line to stderr, "gnomon: " first */
    void *(*allocate)(size_t bytes); /* zeroed, from gnomon's own heap */
    void (*release)(void *memory);
    gnomon_region *(*region_get)(const char *name, size_t length,
                                 const char *category, size_t category_length,
                                 int kind);
    gnomon_token (*begin)(gnomon_region *region, uint32_t mask);
    void (*end)(gnomon_token token);
    void (*start)(const char *name, size_t length);
    void (*stop)(const char *name, size_t length);
    gnomon_range (*range_begin)(gnomon_region *region, uint32_t mask);
    void (*range_end)(gnomon_range range);
    gnomon_link (*link_out)(void);
    void (*link_in)(const gnomon_link *from, int kind);
    void (*counter)(gnomon_region *region, uint32_t mask, double value);
    void (*mark)(gnomon_region *region, uint32_t mask);
    void (*step)(uint64_t number, int given);
    void (*thread_name)(const char *name, size_t length);
    int (*stage_begin)(const char *name, size_t length);
    int (*stage_end)(void);
    int (*metadata)(const char *key, size_t length, const char *json,
                    size_t json_length);
    int (*attach)(const gnomon_profiler *profiler, void *self,
                  const char *options, size_t length);
    int (*detach)(const gnomon_profiler *profiler, void *self);
    int (*snapshot)(gnomon_profile **out, const char *profiler, size_t length,
                    int all_stages);
    void (*profile_free)(gnomon_profile *profile);
    void (*health)(gnomon_health *health);
    const char *(*error_text)(void);
    uint32_t (*touch)(gnomon_region *region, uint32_t mask);
    int (*setup)(const gnomon_setup_options *options);
    int (*teardown)(void);
    int (*configure)(const char *spec, size_t length);
    size_t (*spec)(char *buffer, size_t size);
    int (*add_profiler)(const gnomon_profiler *profiler); /* gnomon_register */
    int (*summary)(const char *profiler, size_t length,
                   const gnomon_writer *out);
    int (*profile_check)(const gnomon_profile *profile);
    size_t (*thread_count)(void);
    int (*thread_stack)(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity);
    int (*join)(struct gnomon__copy *copy); /* another copy of the library */
    void (*begin_on)(gnomon_region *region, uint32_t mask,
                     const gnomon_device *device, void *stream,
                     gnomon_device_scope *scope);
    void (*end_on)(const gnomon_device_scope *scope);
    void (*stream_name)(const gnomon_device *device, void *stream,
                        const char *name, size_t length);
    void (*end_alone)(gnomon_token token);
    int (*rows)(struct gnomon_rows **out, const gnomon_profile *profile,
                int by); /* these three: gnomon/report.h */
    void (*rows_free)(struct gnomon_rows *rows);
    size_t (*file_name)(const char *pattern, char *buffer, size_t size);
} gnomon_host;

/* All that a plugin exports. NULL: it does not want to run with this host. */
typedef const gnomon_profiler *gnomon_plugin_entry(const gnomon_host *host);
#define GNOMON_PLUGIN_ENTRY "gnomon_plugin_v1"

/* Exports `profiler` from a plugin. In the library's own build, where the same
 * file is built in, it is nothing. */
#ifdef GNOMON_BUILTIN
#define GNOMON_PLUGIN(profiler) GNOMON__NO_PLUGIN(profiler)
#define GNOMON__NO_PLUGIN(profiler) \
    extern const gnomon_profiler *const gnomon__builtin_##profiler; \
    const gnomon_profiler *const gnomon__builtin_##profiler = &profiler
#else
#ifdef __cplusplus
#define GNOMON__PLUGIN_LINKAGE extern "C"
#else
#define GNOMON__PLUGIN_LINKAGE
#endif
#define GNOMON_PLUGIN(profiler) \
    GNOMON__PLUGIN_LINKAGE GNOMON_API const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host); \
    GNOMON__PLUGIN_LINKAGE const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host) \
    { \
        return host->abi == GNOMON_ABI ? &(profiler) : GNOMON_NULL; \
    } \
    GNOMON__PLUGIN_LINKAGE gnomon_plugin_entry gnomon_plugin_v1
#endif

GNOMON_END_DECLS

#endif
