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
 * This header has the marks. It includes what belongs to them:
 *
 *     gnomon/base.h     error codes, sized structs, texts with lengths
 *     gnomon/region.h   the named places at which marks are made
 *     gnomon/link.h     which scope caused which, across threads
 *     gnomon/run.h      setup, stages, what is attached, open scopes
 *     gnomon/health.h   what marks count where they cannot do their work
 *
 * Further headers, each by itself: gnomon/profiler.h to write a profiler,
 * gnomon/profile.h to read what was recorded, gnomon/report.h to print it,
 * gnomon/device.h and gnomon/cuda.h for time on devices, gnomon/op.h for what
 * scopes compute. gnomon.hpp has all of it as C++ objects.
 *
 * For all marks:
 * Setup: they need none. The first mark reads $GNOMON.
 * Errors: they cannot fail, abort, print or block, and return no code. What goes
 * wrong is counted in gnomon_health.
 * Threads: call them from any thread, before main and in signal handlers too.
 * Inside a profiler's callback they do nothing, and are counted as `reentered`.
 * errno stays as it was.
 * Memory: texts that they are given are copied, but for those in a static region.
 * Cost: off, a scope costs one relaxed load, a test and a branch. With
 * GNOMON_DISABLE defined before this header, it costs nothing: see
 * gnomon/disabled.h.
 */
#ifndef GNOMON_H
#define GNOMON_H

#include "gnomon/base.h"
#include "gnomon/health.h"
#include "gnomon/region.h"

GNOMON_BEGIN_DECLS

/* ---- Scopes: one execution of a region on a thread ----------------------- */

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. They are exported
 * because the inline halves end up in the modules that mark. `mask` is what the
 * inline half read, so that it is read once. `given` says whether a step's
 * number is the caller's. */
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
GNOMON__SLOW_API uint64_t gnomon_range_begin_in_slow(gnomon_region *region,
                                                     uint32_t mask,
                                                     uint64_t around);
GNOMON__SLOW_API void gnomon_range_end_slow(uint64_t range);
GNOMON__SLOW_API void gnomon_counter_slow(gnomon_region *region, uint32_t mask,
                                          double value);
GNOMON__SLOW_API void gnomon_mark_slow(gnomon_region *region, uint32_t mask);
GNOMON__SLOW_API void gnomon_step_slow(uint64_t number, int given);
/* Begins a scope of `region` on the calling thread. It is inside the innermost
 * scope that this thread has open.
 * Returns the token for gnomon_end; 0 where nobody records the region. A region
 * of NULL is counted as bad_regions.
 * Another thread may end the scope, as in coroutines that move. The thread that
 * began it then closes it at its next mark, as of the moment of the end
 * (docs/embedding.md). */
GNOMON_INLINE gnomon_token gnomon_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_begin_slow(region, mask);
}

/* Ends the scope that `token` names. Token 0 is nothing to end.
 * Scopes that began inside it and are still open end with it, and are counted
 * as `crossed`. Actions stay open. On another thread than the one that began
 * the scope, nothing ends with it.
 * A token that was used before, or that is no token at all, is counted as
 * `unmatched` and changes nothing. */
GNOMON_INLINE void gnomon_end(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_slow(token);
}

/* Ends the scope that `token` names, and leaves open what began inside it. For
 * scopes that need not nest, as those of another tool's ranges.
 * A scope that stays open keeps its path: what begins in it is still inside the
 * one that ended, until more than 16 scopes around it have ended; then it moves
 * out of them.
 * Slower than gnomon_end; use that where the scope is the innermost one.
 * Where a profiler's callbacks saw the scope begin, this is gnomon_end on the
 * thread that began it: callbacks are promised that scopes nest. */
GNOMON_INLINE void gnomon_end_alone(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_alone_slow(token);
}

/* What the compiler calls where the block of a GNOMON_SCOPE is left. */
GNOMON_INLINE void gnomon__end_scope(gnomon_token *token)
{
    gnomon_end(*token);
}

/* Unique names for several scopes in one block: `n` is __COUNTER__. */
#define GNOMON__PASTE(a, b) a##b
#define GNOMON__NAME(a, b) GNOMON__PASTE(a, b)
#define GNOMON__SCOPE(kind, name, category, n) \
    static gnomon_region GNOMON__NAME(gnomon__region, n) = \
        GNOMON_REGION_INIT(kind, name, category, __func__); \
    __attribute__((cleanup(gnomon__end_scope), unused)) gnomon_token \
    GNOMON__NAME(gnomon__token, n) = \
        gnomon_begin(&GNOMON__NAME(gnomon__region, n))

/* A scope from this line to the end of the block, also where the block is left
 * by return, break or goto. `name` is a string literal. It is a declaration:
 * give it a line of its own in a block, not after an `if` without braces.
 * Exceptions end the scope too where the compiler unwinds: in C++, and in C with
 * -fexceptions. longjmp does not; the scope ends with one around it. */
#define GNOMON_SCOPE(name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, GNOMON_NULL, __COUNTER__)

/* The same with a category, a string literal too, by which reports group. */
#define GNOMON_SCOPE_IN(category, name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, category, __COUNTER__)

/* A scope for the function around it, from this line to the function's end, and
 * named after it. In C++ the name is qualified and has template arguments,
 * "layer<4>::forward"; a lambda is named by its line,
 * "layer<4>::forward::lambda at 42". */
#ifdef __cplusplus
#define GNOMON_FUNCTION() \
    GNOMON__SCOPE(GNOMON_KIND_FUNCTION | GNOMON_KIND_PRETTY, \
                  __PRETTY_FUNCTION__, GNOMON_NULL, __COUNTER__)
#else
#define GNOMON_FUNCTION() \
    GNOMON__SCOPE(GNOMON_KIND_FUNCTION, __func__, GNOMON_NULL, __COUNTER__)
#endif

/* ---- Actions: by name, as Lightning's profilers -------------------------- */

/* Starts the action of this name on the calling thread. Actions need not nest:
 * they may be stopped in any order. An action has one execution at a time on each
 * thread; starting one that is open is counted as `twice` and changes nothing.
 * `name` is UTF-8 and is copied when it is first seen, so one buffer with
 * changing text is fine. NULL is the name "(null)". Slower than a scope, as the
 * name is looked up each time. */
GNOMON_INLINE void gnomon_start(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_start_slow(name);
}

/* Stops the action of this name on the calling thread. Stopping one that is not
 * open here is counted as `never_started` and changes nothing. */
GNOMON_INLINE void gnomon_stop(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_stop_slow(name);
}

/* gnomon_start with a length in bytes, or GNOMON_TO_NUL. */
GNOMON_INLINE void gnomon_start_n(const char *name, size_t length)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_start_n_slow(name, length);
}

/* gnomon_stop with a length in bytes, or GNOMON_TO_NUL. */
GNOMON_INLINE void gnomon_stop_n(const char *name, size_t length)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_stop_n_slow(name, length);
}
#endif

/* ---- Ranges: may end on another thread ----------------------------------- */

/* An open range. A plain number: pass it to any thread of the process. 0: the
 * range is not recorded. */
typedef uint64_t gnomon_range;

#ifndef GNOMON_DISABLE
/* Begins a range of `region`. End it once, on any thread, by gnomon_range_end.
 * A range counts in its region's total, and takes no self time from the scopes
 * around it. It is found in reports under the thread that ended it.
 * Returns 0 where nobody records the region, or where too many ranges are open,
 * which is counted as lost_ranges. */
GNOMON_INLINE gnomon_range gnomon_range_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_range_begin_slow(region, mask);
}

/* The same for a range that is inside the range `around`, which any thread began: its
 * path is that of `around` and its own name. Where `around` is 0, or has ended, it is
 * gnomon_range_begin. For tasks that take turns on threads, as of a server: each has its
 * call tree, which the tree of the thread has no part in. */
GNOMON_INLINE gnomon_range gnomon_range_begin_in(gnomon_region *region,
                                                 gnomon_range around)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_range_begin_in_slow(region, mask, around);
}

/* Ends a range. 0 is nothing to end. A range that has ended already, or that is
 * no range at all, is counted as `unmatched` and changes nothing. */
GNOMON_INLINE void gnomon_range_end(gnomon_range range)
{
    if (__builtin_expect(range != 0, 0))
        gnomon_range_end_slow(range);
}
#endif

#ifndef GNOMON_DISABLE
/* ---- Counters, marks, names ---------------------------------------------- */

/* Samples a counter: what `region` measures is `value` now, in whatever unit the
 * region's name says. Profiles keep count, last, min, max and sum by thread and
 * stage. A NaN is counted apart and changes none of these. Make the region with
 * GNOMON_KIND_COUNTER. */
GNOMON_INLINE void gnomon_counter(gnomon_region *region, double value)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask != 0, 0))
        gnomon_counter_slow(region, mask, value);
}

/* Marks a moment: `region` happened now, inside the innermost open scope of the
 * calling thread. Make the region with GNOMON_KIND_MARK. */
GNOMON_INLINE void gnomon_mark(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask != 0, 0))
        gnomon_mark_slow(region, mask);
}

/* gnomon_counter for a region of its own: `name` is a string literal. `value` is
 * evaluated only where somebody records the counter. A statement. */
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

/* gnomon_mark for a region of its own: `name` is a string literal. A statement. */
#define GNOMON_MARK(name) GNOMON__MARK(name, __COUNTER__)
#define GNOMON__MARK(name, n) \
    do { \
        static gnomon_region GNOMON__NAME(gnomon__region, n) = \
            GNOMON_REGION_INIT(GNOMON_KIND_MARK, name, GNOMON_NULL, __func__); \
        gnomon_mark(&GNOMON__NAME(gnomon__region, n)); \
    } while (0)

/* Names the calling thread in reports. `name` is UTF-8 and copied. Threads of one
 * name that follow one another are one row of a report: so name pool threads
 * before their first mark. Does nothing where gnomon is off. */
GNOMON_API void gnomon_thread_name(const char *name);

/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON_API void gnomon_thread_name_n(const char *name, size_t length);

/* ---- Steps --------------------------------------------------------------- */

/* Says that a training step of the open stage is over; the next one begins now.
 * Schedules move here and nowhere else: the next scope is already in the new
 * window. The thread that calls it runs the profilers' step callbacks. */
GNOMON_INLINE void gnomon_step(void)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(0, 0);
}

/* The same; the step that begins now has the number `number`, as in a job that
 * was resumed. Schedules count the steps that were made, not these numbers. */
GNOMON_INLINE void gnomon_step_at(uint64_t number)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(number, 1);
}

/* Begins the open step anew: it begins now, with the number `number`. For what comes
 * between two steps and is of none, as a validation. No step is over, and schedules
 * do not move. */
GNOMON_INLINE void gnomon_step_begin(uint64_t number)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(number, 2);
}
#endif

GNOMON_END_DECLS

#include "gnomon/link.h"
#include "gnomon/run.h"

#ifdef GNOMON_DISABLE
#include "gnomon/disabled.h"
#endif

#endif
