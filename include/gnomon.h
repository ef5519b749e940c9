/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gnomon: mark the hooks of a training framework once; whoever runs the
 * training picks with $GNOMON what becomes of the marks.
 *
 *     GNOMON_SCOPE("train_step");             ends with the block
 *     gnomon_start("optimizer_step"); ...     by name, need not nest
 *     gnomon_stop("optimizer_step");
 *     gnomon_step();                          a training step is over
 *
 * Marks need no setup. They cannot fail, abort, print or block; what goes wrong
 * is counted in gnomon_health. All of them may be called from any thread.
 * Off, a scope costs one relaxed load, a test and a branch. With GNOMON_DISABLE
 * defined before, it costs nothing: see gnomon/disabled.h.
 */
#ifndef GNOMON_H
#define GNOMON_H

#include "gnomon/base.h"
#include "gnomon/health.h"

GNOMON_BEGIN_DECLS

/* ---- Regions: named places in the program -------------------------------- */

/* What a region is a place for; also the kinds of regions in a profile. */
enum gnomon_region_kind {
    GNOMON_KIND_SCOPE = 0,
    GNOMON_KIND_FUNCTION = 1,
    GNOMON_KIND_ACTION = 2, /* marked by name, with gnomon_start */
    GNOMON_KIND_RANGE = 3,
    GNOMON_KIND_MARK = 4,
    GNOMON_KIND_COUNTER = 5
};

/* A bit beside the kind in a region that gnomon never saw: its name is what the
 * compiler calls a C++ function, __PRETTY_FUNCTION__. When gnomon first sees the
 * region it sets the short name of GNOMON_FUNCTION in its place. */
#define GNOMON_KIND_PRETTY 0x80u

#define GNOMON_MASK_UNSEEN 0x80000000u

/* A named place. Bit i of `mask` set: recorder or hook i wants it; 0: nobody;
 * the top bit: never seen. Compiled into strangers' modules, so its layout is
 * frozen: fields are only appended, and `struct_size` tells. Only gnomon writes
 * to one after its initialization. It must outlive every use: make it static
 * with GNOMON_REGION, or take one from gnomon_region_get. */
typedef struct gnomon_region {
    uint32_t mask;
    uint16_t struct_size;
    uint8_t abi;
    uint8_t kind;
    uint32_t id; /* gnomon's: from 1, without gaps; 0: never seen */
    uint32_t line;
    const char *name; /* UTF-8 */
    const char *category;
    const char *file;
    const char *function;
    void *link; /* gnomon's */
} gnomon_region;

#ifndef GNOMON_DISABLE
#define GNOMON_REGION_INIT(kind, name, category, function) \
    { \
        GNOMON_MASK_UNSEEN, sizeof(gnomon_region), GNOMON_ABI, kind, 0, \
            __LINE__, name, category, __FILE__, function, GNOMON_NULL \
    }

/* Defines a static region `variable` inside a function; `name` and `category`
 * are literals. At file scope: GNOMON_REGION_INIT with a function of NULL. */
#define GNOMON_REGION(variable, name, category) \
    static gnomon_region variable = \
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, category, __func__)
#endif

/* The region of this name, category and kind (gnomon_region_kind), made at the
 * first call; never NULL, never freed. Both texts are copied. Takes a lock and
 * hashes the name: keep the result. Past the cap of names, or out of memory, it is
 * the region "(other)". NULL is the name "(null)", a kind that is none a scope. */
GNOMON__CALL gnomon_region *gnomon_region_get(const char *name,
                                              const char *category, int kind);
GNOMON__CALL gnomon_region *gnomon_region_get_n(const char *name, size_t length,
                                                const char *category,
                                                size_t category_length,
                                                int kind);

/* ---- Scopes: one execution of a region on a thread ----------------------- */

/* An open scope: which one, on which thread; 0: not recorded. */
typedef uint64_t gnomon_token;

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. */
GNOMON__SLOW_API gnomon_token gnomon_begin_slow(gnomon_region *region,
                                                uint32_t mask);
GNOMON__SLOW_API void gnomon_end_slow(gnomon_token token);
GNOMON__SLOW_API void gnomon_end_alone_slow(gnomon_token token);
GNOMON__SLOW_API void gnomon_start_slow(const char *name);
GNOMON__SLOW_API void gnomon_stop_slow(const char *name);
GNOMON__SLOW_API void gnomon_start_n_slow(const char *name, size_t length);
GNOMON__SLOW_API void gnomon_stop_n_slow(const char *name, size_t length);
GNOMON__SLOW_API uint64_t gnomon_range_begin_slow(gnomon_region *region,
                                                  uint32_t mask);
GNOMON__SLOW_API void gnomon_range_end_slow(uint64_t range);
GNOMON__SLOW_API void gnomon_counter_slow(gnomon_region *region, uint32_t mask,
                                          double value);
GNOMON__SLOW_API void gnomon_mark_slow(gnomon_region *region, uint32_t mask);
GNOMON__SLOW_API void gnomon_step_slow(uint64_t number, int given);
GNOMON__SLOW_API uint32_t gnomon_touch_slow(gnomon_region *region,
                                            uint32_t mask);

/* Whether anything is attached: 0 no; the top bit: never asked. Read only. */
extern GNOMON_API uint32_t gnomon_enabled;

/* The compiler drops the test for NULL where the region is a static one. */
GNOMON_INLINE uint32_t gnomon__mask(const gnomon_region *region)
{
    if (__builtin_expect(region == GNOMON_NULL, 0))
        return GNOMON_MASK_UNSEEN;
    return __atomic_load_n(&region->mask, __ATOMIC_RELAXED);
}

/* Begins a scope of `region`. Where another thread ends it, this one closes it at
 * its next mark, as of that moment (docs/embedding.md, on coroutines). */
GNOMON_INLINE gnomon_token gnomon_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_begin_slow(region, mask);
}

/* Ends the scope that `token` names. Scopes begun inside it and still open end
 * with it, counted as crossed; actions do not, and on another thread than the
 * begin's nothing does. Any wrong token, used twice, or random, is counted and
 * changes nothing. */
GNOMON_INLINE void gnomon_end(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_slow(token);
}

/* The same, but scopes begun inside it go on, as actions do: for what comes from
 * elsewhere and need not nest. What begins in one that goes on is inside it, and
 * where more than 16 around it are over it moves out of them. Slower than
 * gnomon_end, which does where it is the innermost one. Where a profiler's
 * callbacks saw it begin, on its own thread it is gnomon_end: scopes that they are
 * told of nest. */
GNOMON_INLINE void gnomon_end_alone(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_alone_slow(token);
}

GNOMON_INLINE void gnomon__end_scope(gnomon_token *token)
{
    gnomon_end(*token);
}

#define GNOMON__PASTE(a, b) a##b
#define GNOMON__NAME(a, b) GNOMON__PASTE(a, b)
#define GNOMON__SCOPE(kind, name, category, n) \
    static gnomon_region GNOMON__NAME(gnomon__region, n) = \
        GNOMON_REGION_INIT(kind, name, category, __func__); \
    __attribute__((cleanup(gnomon__end_scope), unused)) gnomon_token \
    GNOMON__NAME(gnomon__token, n) = \
        gnomon_begin(&GNOMON__NAME(gnomon__region, n))

/* A scope from here to the end of the block. The names are literals. These are
 * declarations: give them a line of their own in a block. Where the compiler
 * unwinds (C++, or C with -fexceptions), exceptions end the scope too. */
#define GNOMON_SCOPE(name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, GNOMON_NULL, __COUNTER__)
#define GNOMON_SCOPE_IN(category, name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, category, __COUNTER__)

/* A scope for the function it stands in, named after it. In C++ that is its
 * qualified name with template arguments, "layer<4>::forward", and a lambda is
 * named by its line, "layer<4>::forward::lambda at 42". */
#ifdef __cplusplus
#define GNOMON_FUNCTION() \
    GNOMON__SCOPE(GNOMON_KIND_FUNCTION | GNOMON_KIND_PRETTY, \
                  __PRETTY_FUNCTION__, GNOMON_NULL, __COUNTER__)
#else
#define GNOMON_FUNCTION() \
    GNOMON__SCOPE(GNOMON_KIND_FUNCTION, __func__, GNOMON_NULL, __COUNTER__)
#endif

/* ---- Actions: by name, as Lightning's profilers -------------------------- */

/* Starts, and stops, the action of this name on the calling thread. Actions
 * need not nest. Starting one that is open, or stopping one that is not, is
 * counted and changes nothing. The text is copied when first seen; one buffer
 * with changing text is fine. NULL is the name "(null)". */
GNOMON_INLINE void gnomon_start(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_start_slow(name);
}

GNOMON_INLINE void gnomon_stop(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_stop_slow(name);
}

GNOMON_INLINE void gnomon_start_n(const char *name, size_t length)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_start_n_slow(name, length);
}

GNOMON_INLINE void gnomon_stop_n(const char *name, size_t length)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_stop_n_slow(name, length);
}
#endif

/* ---- Ranges: may end on another thread ----------------------------------- */

/* An open range; 0: not recorded. */
typedef uint64_t gnomon_range;

#ifndef GNOMON_DISABLE
/* Begins a range of `region`, and ends it, once, on any thread. A range counts
 * in its region's total and in nobody's self. */
GNOMON_INLINE gnomon_range gnomon_range_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_range_begin_slow(region, mask);
}

GNOMON_INLINE void gnomon_range_end(gnomon_range range)
{
    if (__builtin_expect(range != 0, 0))
        gnomon_range_end_slow(range);
}
#endif

/* ---- Links: this was caused by that -------------------------------------- */

enum gnomon_link_kind {
    GNOMON_LINK_SUBMIT = 0,   /* handed to a pool, run by a worker */
    GNOMON_LINK_BACKWARD = 1, /* forward, and its backward */
    GNOMON_LINK_LAUNCH = 2    /* a launch, and what ran on a device */
};

/* Where a thread was when it handed work on. A plain value: copy it into the
 * work item. All zero: nowhere. */
typedef struct gnomon_link {
    uint32_t word[8];
} gnomon_link;

#ifndef GNOMON_DISABLE
GNOMON__SLOW_API gnomon_link gnomon_link_out_slow(void);
GNOMON__SLOW_API void gnomon_link_in_slow(const gnomon_link *from, int kind);

/* The innermost open scope of the calling thread. */
GNOMON_INLINE gnomon_link gnomon_link_out(void)
{
    gnomon_link none = {{0, 0, 0, 0, 0, 0, 0, 0}};
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        return gnomon_link_out_slow();
    return none;
}

/* Says that the innermost open scope of the calling thread was caused by
 * `from`. Counted from path to path. NULL and nowhere are ignored. */
GNOMON_INLINE void gnomon_link_in(const gnomon_link *from, int kind)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_link_in_slow(from, kind);
}

/* ---- Counters, marks, names ---------------------------------------------- */

/* Samples a counter: what `region` measures is `value` now. */
GNOMON_INLINE void gnomon_counter(gnomon_region *region, double value)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask != 0, 0))
        gnomon_counter_slow(region, mask, value);
}

/* Marks a moment: `region` happened inside the innermost open scope. */
GNOMON_INLINE void gnomon_mark(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask != 0, 0))
        gnomon_mark_slow(region, mask);
}

/* The same by a literal name; `value` is not evaluated when off. */
#define GNOMON_COUNTER(name, value) GNOMON__COUNTER(name, value, __COUNTER__)
#define GNOMON__COUNTER(name, value, n) \
    do { \
        static gnomon_region GNOMON__NAME(gnomon__region, n) = \
            GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, name, GNOMON_NULL, \
                               __func__); \
        uint32_t gnomon__bits = __atomic_load_n( \
            &GNOMON__NAME(gnomon__region, n).mask, __ATOMIC_RELAXED); \
        if (__builtin_expect(gnomon__bits != 0, 0) && \
            (gnomon__bits = gnomon_touch_slow( \
                 &GNOMON__NAME(gnomon__region, n), gnomon__bits)) != 0) \
            gnomon_counter_slow(&GNOMON__NAME(gnomon__region, n), \
                                gnomon__bits, value); \
    } while (0)

#define GNOMON_MARK(name) GNOMON__MARK(name, __COUNTER__)
#define GNOMON__MARK(name, n) \
    do { \
        static gnomon_region GNOMON__NAME(gnomon__region, n) = \
            GNOMON_REGION_INIT(GNOMON_KIND_MARK, name, GNOMON_NULL, __func__); \
        gnomon_mark(&GNOMON__NAME(gnomon__region, n)); \
    } while (0)

/* Names the calling thread in reports. Copied. */
GNOMON_API void gnomon_thread_name(const char *name);
GNOMON_API void gnomon_thread_name_n(const char *name, size_t length);

/* ---- Steps --------------------------------------------------------------- */

/* A training step of the open stage is over; schedules move here, and only
 * here: the next scope is already in the new window. */
GNOMON_INLINE void gnomon_step(void)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(0, 0);
}

/* The same; the step that begins now bears the framework's own number, as in a
 * resumed job. Schedules count the steps made, not these numbers. */
GNOMON_INLINE void gnomon_step_at(uint64_t number)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(number, 1);
}
#endif

/* ---- The run: control calls, each returns GNOMON_OK or an error code ------ */

/* What a host may tell at setup. All of it is optional. */
typedef struct gnomon_setup_options {
    uint32_t struct_size;
    int32_t has_rank; /* whether the three below are given; else they are */
    int32_t rank;     /* taken from the launcher's environment */
    int32_t local_rank;
    int32_t world_size;
    int32_t reserved;
    const char *spec; /* used where $GNOMON is not set */
    const char *dir;  /* where reports named by `dir` alone go */
} gnomon_setup_options;

/* Begins a run, or joins the one that is open: setups nest, the outermost
 * one's options hold. NULL is no options. Not needed for marks. One that fails for
 * its options counts too: the run goes on without them, until gnomon_teardown. */
GNOMON__CALL int gnomon_setup(const gnomon_setup_options *options);

/* Undoes one setup; the outermost writes the reports that are due, detaches
 * what $GNOMON or gnomon_configure attached, and a later setup begins anew. */
GNOMON__CALL int gnomon_teardown(void);

/* Replaces what $GNOMON, or an earlier call, attached by `spec` (the grammar of
 * docs/environment.md), after their last reports. "" or NULL: nothing. Of a
 * spec that is partly wrong the rest is attached, and the code tells. What is marked
 * while those reports are written is in none: a stage has no such gap. */
GNOMON__CALL int gnomon_configure(const char *spec);
GNOMON__CALL int gnomon_configure_n(const char *spec, size_t length);

/* The resolved spec, all defaults written out, as gnomon_configure takes it.
 * Writes at most `size` bytes with the final NUL; returns the length that all
 * of it has, as snprintf. */
GNOMON__CALL size_t gnomon_spec(char *buffer, size_t size);

/* Opens a stage ("fit", "validate", "test", "predict", or any name), ending one
 * that is open. A stage owns all that was marked since the one before ended. */
GNOMON__CALL int gnomon_stage_begin(const char *name);
GNOMON__CALL int gnomon_stage_begin_n(const char *name, size_t length);

/* Ends the open stage and writes the reports that are due. */
GNOMON__CALL int gnomon_stage_end(void);

/* Adds to the run's metadata: `json` is one JSON value. Both are copied; the
 * last value of a key holds. */
GNOMON__CALL int gnomon_metadata(const char *key, const char *json);
GNOMON__CALL int gnomon_metadata_n(const char *key, size_t length,
                                   const char *json, size_t json_length);

/* ---- Open scopes of any thread ------------------------------------------- */

typedef struct gnomon_open_scope {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;  /* lives as long as the process */
    uint64_t begin_ns; /* since the run's zero */
    gnomon_token token;
} gnomon_open_scope;

/* How many threads have marked so far; they are 0 .. count - 1. */
GNOMON__CALL size_t gnomon_thread_count(void);

/* The open scopes of thread `thread`, outermost first: fills up to `capacity`
 * elements of the size that scopes[0].struct_size says, and returns how many are
 * open, or an error code. GNOMON_EBUSY: the thread marked so fast that no exact
 * copy came in 100 tries; `scopes` holds an inexact one. Takes no lock, may be
 * called from anywhere. Where no profiler wants a call tree, only callbacks, no
 * scope is known here: 0. */
GNOMON__CALL int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                                     size_t capacity);

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "gnomon/disabled.h"
#endif

#endif
