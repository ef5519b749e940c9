/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gnomon: mark the hooks of a training framework once; whoever runs the training
 * chooses with $GNOMON what is recorded. GNOMON=simple prints a table to stderr
 * when the program ends, GNOMON=help lists the other words.
 *
 *     GNOMON_SCOPE("train_step");        a block: the usual mark, and the cheapest
 *     gnomon_start("optimizer_step");    by name, where begin and end are apart;
 *     gnomon_stop("optimizer_step");     need not nest, but is on one thread
 *     gnomon_range_begin(region);        a number, to end on any thread
 *     gnomon_step();                     a training step is over
 *
 * This header has all that a framework needs: regions, marks, links, operations,
 * and the run's setup and stages. Each of the other headers can be included alone:
 *
 *     gnomon/tool.h      to write a profiler; devices and other sources of work;
 *                        health, and the open scopes of threads
 *     gnomon/profile.h   what was recorded, as data: to take, read, build, write it
 *     gnomon/report.h    rows, sums and JSON text, for reports
 *     gnomon/cuda.h      scopes on CUDA's streams, and event timers
 *
 * gnomon.hpp has all of it as C++ objects.
 *
 * For all marks:
 * Setup: none is needed. The first mark reads $GNOMON.
 * Errors: marks cannot fail, abort, print or block, and return no code. What goes
 * wrong is counted in gnomon_health (gnomon/tool.h).
 * Threads: any thread, also before main and in signal handlers. Inside a
 * profiler's callback marks do nothing and are counted as `reentered`. errno
 * stays as it was.
 * Memory: texts are copied, except those of static regions.
 * Cost: while nobody records it, a scope costs one relaxed load, a test and a
 * branch. With GNOMON_DISABLE defined before this header, it costs nothing.
 *
 * Names: GNOMON_X and gnomon_x are public. GNOMON__X and gnomon__x, with two
 * underscores, are the headers' own; do not use them.
 */
#ifndef GNOMON_H
#define GNOMON_H

#include <stddef.h>
#include <stdint.h>

/* The version of these headers; gnomon_version() is that of the library which is
 * loaded. The two may differ: see GNOMON_ABI. */
#define GNOMON_VERSION_MAJOR 0
#define GNOMON_VERSION_MINOR 1
#define GNOMON_VERSION_PATCH 0
#define GNOMON_VERSION "0.1.0"

/* The generation of all binary interfaces: regions, profilers, the host table,
 * profiles. Within one generation structs only grow at their ends and say their
 * size, and no exported function is removed or changed: so old and new modules
 * work together. A module of another generation is refused with one line. */
#define GNOMON_ABI 2

/* Marks need gcc or clang, and 64-bit Linux on x86-64 or aarch64. Elsewhere the
 * headers define GNOMON_DISABLE: marks compile to nothing and the other calls do
 * nothing (gnomon/off.h). */
#if !defined(__GNUC__) || !defined(__linux__) || !defined(__LP64__) || \
    !(defined(__x86_64__) || defined(__aarch64__))
#ifndef GNOMON_DISABLE
#define GNOMON_DISABLE
#endif
#endif

/* Linkage, the null pointer and casts, for code that is compiled as C and as
 * C++. */
#ifdef __cplusplus
#define GNOMON_BEGIN_DECLS extern "C" {
#define GNOMON_END_DECLS }
#define GNOMON_NULL nullptr
#define GNOMON_CAST(type, value) static_cast<type>(value)
#else
#define GNOMON_BEGIN_DECLS
#define GNOMON_END_DECLS
#define GNOMON_NULL ((void *)0)
#define GNOMON_CAST(type, value) ((type)(value))
#endif

/* GNOMON_PRINTF has the compiler check a call's format against its arguments, as
 * it does for printf: `text` is the number of the format, `first` that of the
 * first argument to check, from 1. */
#if defined(__GNUC__) || defined(__clang__)
#define GNOMON_PRINTF(text, first) \
    __attribute__((__format__(__printf__, text, first)))
/* Inlined at -Os too: a mark that is off must not call. */
#define GNOMON_INLINE static inline __attribute__((__always_inline__))
#else
#define GNOMON_PRINTF(text, first)
#define GNOMON_INLINE static inline
#endif

/* Exported, also from modules that are compiled with -fvisibility=hidden. */
#if defined(__GNUC__) && defined(__ELF__)
#define GNOMON_API __attribute__((visibility("default")))
#else
#define GNOMON_API
#endif

/* What is marked at a region. Regions in a profile have these kinds too, and
 * some more (gnomon_profile_kind in gnomon/profile.h). */
enum gnomon_region_kind {
    /* A block, by GNOMON_SCOPE or gnomon_begin. */
    GNOMON_KIND_SCOPE = 0,
    /* A whole function, by GNOMON_FUNCTION. */
    GNOMON_KIND_FUNCTION = 1,
    /* An action, by its name, with gnomon_start. */
    GNOMON_KIND_ACTION = 2,
    /* A range, which may end on another thread. */
    GNOMON_KIND_RANGE = 3,
    /* A moment without a duration, by gnomon_mark. */
    GNOMON_KIND_MARK = 4,
    /* A number that is sampled, by gnomon_counter. */
    GNOMON_KIND_COUNTER = 5
};

/* A function of the library. With GNOMON_DISABLE there is no library: the
 * headers then define each of these as an inline function that does nothing. */
#ifdef GNOMON_DISABLE
#define GNOMON__CALL GNOMON_INLINE
#else
#define GNOMON__CALL GNOMON_API
#endif
/* The out-of-line halves of marks. They are called through the global offset
 * table, without a stub of the procedure linkage table: a stub is one more cache
 * line of code, and an expensive jump to a library that is loaded far away. */
#define GNOMON__SLOW_API GNOMON_API
#ifdef __has_attribute
#if __has_attribute(__noplt__)
#undef GNOMON__SLOW_API
#define GNOMON__SLOW_API __attribute__((visibility("default"), __noplt__))
#endif
#endif

/* The codes that calls return: GNOMON_OK, which is 0, or one of these, which
 * are all negative. (Marks return no code.) What a caller can do about each:
 *
 *   EINVAL   correct the call; gnomon_error_text() names the argument or word
 *   ENOMEM   nothing was done, or as much as the text says; the program goes on
 *   ENOENT   look at the name: no such thing is there
 *   EBUSY    try again later, or outside of the callback
 *   EABI     compile the module again, with the headers of this generation
 *   EIO      look at the file, the disk or the device that the text names
 *   EFULL    use fewer; the limit cannot be raised
 *   ESTATE   call it at another time: the text says when
 *   EPLUGIN  look at the profiler, which has failed; gnomon has not
 */
#define GNOMON_ERRORS(X) \
    X(EINVAL, -1, "an argument or an option is wrong") \
    X(ENOMEM, -2, "out of memory") \
    X(ENOENT, -3, "no such profiler, file or entity") \
    X(EBUSY, -4, "in use: a callback is running") \
    X(EABI, -5, "made for another generation of gnomon") \
    X(EIO, -6, "reading or writing failed") \
    X(EFULL, -7, "a fixed limit is reached") \
    X(ESTATE, -8, "not possible now") \
    X(EPLUGIN, -9, "a profiler's own callback failed")

enum gnomon_error {
    /* It is done. */
    GNOMON_OK = 0,
    /* Only a profiler's create returns it: the profiler does not want to run
     * here, and has said why. No call of gnomon returns it. */
    GNOMON_DECLINED = 1,
#define GNOMON_ERROR_CODE(name, code, text) GNOMON_##name = code,
    GNOMON_ERRORS(GNOMON_ERROR_CODE)
#undef GNOMON_ERROR_CODE
};

GNOMON_BEGIN_DECLS

/* The name of a code, "GNOMON_EINVAL" or "GNOMON_OK"; "GNOMON_E?" of a number
 * that is no code. The text is static. Any thread. */
GNOMON__CALL const char *gnomon_error_name(int code);

/* If the calling thread's last control call failed: one line that says what is
 * wrong and what to do, without "gnomon: " and without a newline. Else "". Each
 * thread has its own text. It is valid until the thread's next control call; do
 * not free it. Never NULL. */
GNOMON__CALL const char *gnomon_error_text(void);

/* The version of the library that is loaded, as "0.1.0"; GNOMON_VERSION is that of
 * the headers. The text is static. Any thread. */
GNOMON__CALL const char *gnomon_version(void);

/* How structs grow. A public struct begins with `struct_size`. Whoever makes one
 * sets it to sizeof and all other fields to 0:
 *     gnomon_setup_options o = {.struct_size = sizeof o};
 * Later releases append fields. If yours is smaller than the library's, its
 * missing fields count as 0; if it is larger, the library ignores the rest. In an
 * array the distance between elements is the struct_size of the first, because a
 * newer module's may be larger. So programs, plugins and libraries of different
 * releases work together within one GNOMON_ABI. */

/* A length that means "up to the final NUL". Languages whose strings have no final NUL
 * pass lengths in bytes instead: to gnomon_start_n, gnomon_stop_n and the calls of the
 * host table (gnomon/tool.h). A NUL within the length counts as a byte that is not
 * UTF-8. */
#define GNOMON_TO_NUL (~GNOMON_CAST(size_t, 0))

/* ==== Regions =============================================================
 * The named places in a program at which marks are made. Each has a word, its mask,
 * that says which profilers record it. A mark loads this word and returns if it is
 * 0. That is all that a mark costs while it is off. */

/* A bit that is added to the kind: the name is a C++ compiler's
 * __PRETTY_FUNCTION__. At the first mark gnomon clears the bit and replaces the
 * name by the short one that GNOMON_FUNCTION describes. */
#define GNOMON_KIND_PRETTY 0x80u

/* The top bit of a mask: gnomon has not seen the region. The first mark takes
 * the slow path because of it, and gnomon then writes the real mask. */
#define GNOMON_MASK_UNSEEN 0x80000000u

/* A named place in the program.
 *
 * Layout: it is compiled into other people's modules, so fields never move.
 * Later releases only append some; `struct_size` says how many a module has.
 * Ownership: the module that defines a region owns it. Only gnomon writes to it
 * after its initialization.
 * Lifetime: it must outlive every use. Make it static with GNOMON_REGION, or
 * take one from gnomon_region_get, which lives as long as the process.
 * Threads: any number of threads may mark one region at once. */
typedef struct gnomon_region {
    /* Bit i is set while profiler i records the region; 0: nobody does. */
    uint32_t mask;
    /* sizeof(gnomon_region) in the module that defines it. */
    uint16_t struct_size;
    /* GNOMON_ABI in the module that defines it. */
    uint8_t abi;
    /* A gnomon_region_kind, perhaps with GNOMON_KIND_PRETTY. */
    uint8_t kind;
    /* Given by gnomon at the first mark: 1, 2, ... without gaps; 0 before. */
    uint32_t id;
    /* The source line, from 1; 0: not known. */
    uint32_t line;
    /* UTF-8. Bytes that are not UTF-8 are shown as U+FFFD. */
    const char *name;
    /* Reports can group regions by it. NULL: none. */
    const char *category;
    /* The source file, or NULL. */
    const char *file;
    /* The function that it is in, or NULL. */
    const char *function;
    /* gnomon's own. Begins as NULL. */
    void *link;
} gnomon_region;

/* Names an open scope of a thread. 0: the scope is not recorded. No two scopes
 * of a process get the same token. */
typedef uint64_t gnomon_token;

#ifndef GNOMON_DISABLE
/* The initializer of a region, for a static one outside of functions:
 *     static gnomon_region r = GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "io",
 *                                                 NULL, NULL);
 * All texts must live as long as the region. `category` and `function` may be
 * NULL. File and line are those of the place where it is expanded. */
#define GNOMON_REGION_INIT(kind, name, category, function) \
    { \
        GNOMON_MASK_UNSEEN, sizeof(gnomon_region), GNOMON_ABI, kind, 0, \
            __LINE__, name, category, __FILE__, function, GNOMON_NULL \
    }

/* Defines a static region `variable` inside a function, for gnomon_begin and
 * its like. `name` is a string literal, `category` one or NULL. */
#define GNOMON_REGION(variable, name, category) \
    static gnomon_region variable = \
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, category, __func__)

/* Finds the region of this name, category and kind (gnomon_region_kind), or
 * makes it at the first call. For names that are known only at run time.
 *
 * Returns a region that lives as long as the process; never NULL. If there are
 * too many names, no memory, or the call comes from inside a callback, it is
 * the region "(other)", and gnomon_health counts the cause. A NULL name becomes
 * "(null)", a NULL category means none, and an unknown kind becomes
 * GNOMON_KIND_SCOPE.
 * Both texts are copied. Any thread. It takes a lock and hashes the name, so
 * keep the result. */
GNOMON_API gnomon_region *gnomon_region_get(const char *name,
                                            const char *category, int kind);

/* Whether anything is attached. 0: no. The top bit: not known yet. Other bits:
 * profilers. The inline calls test it first, with a relaxed load. Do not write
 * to it. */
extern GNOMON_API uint32_t gnomon_enabled;

/* The mask of a region, by a relaxed load. For NULL it is GNOMON_MASK_UNSEEN,
 * so that the slow path counts the mistake. For the inline calls. The compiler
 * drops the test for NULL where the region is static. */
GNOMON_INLINE uint32_t gnomon__mask(const gnomon_region *region)
{
    if (__builtin_expect(region == GNOMON_NULL, 0))
        return GNOMON_MASK_UNSEEN;
    return __atomic_load_n(&region->mask, __ATOMIC_RELAXED);
}

/* Registers the region if gnomon has not seen it, and returns its mask. For the
 * inline calls; do not call. */
GNOMON__SLOW_API uint32_t gnomon_touch_slow(gnomon_region *region,
                                            uint32_t mask);
#endif

/* ==== Marks =============================================================== */

/* ---- Scopes: one execution of a region on a thread ----------------------- */

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. They are exported
 * because the inline halves are compiled into the modules that mark. `mask` is
 * the value that the inline half read. `given` is 1 if the caller numbers the
 * step, 2 for gnomon_step_begin. */
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
 * Returns the token for gnomon_end; 0 if nobody records the region. A region
 * of NULL is counted as bad_regions.
 * Another thread may end the scope, for example if a coroutine moves. The
 * thread that began it then closes it at its next mark, with the time at which
 * it was ended (docs/inside/promises.md). */
GNOMON_INLINE gnomon_token gnomon_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_begin_slow(region, mask);
}

/* Ends the scope of this token. Token 0 does nothing. Scopes that began inside
 * it and are still open end with it, and are counted as `crossed`; actions stay
 * open. If another thread than the one that began the scope calls this, only
 * the scope itself ends. A token that was used before, or is no token, is
 * counted as `unmatched` and changes nothing. */
GNOMON_INLINE void gnomon_end(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_slow(token);
}

/* Ends the scope of this token, and leaves open what began inside it. For scopes
 * that need not nest, such as ranges of another tool. In reports the scopes that
 * stay open, and what begins in them, are still inside the scope that ended; after
 * more than 16 scopes around one have ended, it moves out. Slower than gnomon_end:
 * use that for the innermost scope.
 * If a profiler has callbacks for scopes, this does the same as gnomon_end on the
 * thread that began the scope, because callbacks rely on scopes that nest. */
GNOMON_INLINE void gnomon_end_alone(gnomon_token token)
{
    if (__builtin_expect(token != 0, 0))
        gnomon_end_alone_slow(token);
}

/* The compiler calls it at the end of a GNOMON_SCOPE's block. */
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

/* A scope from this line to the end of the block, also if the block is left by
 * return, break or goto. `name` is a string literal. It is a declaration: give
 * it a line of its own in a block, not after an `if` without braces. Exceptions
 * end the scope too, in C++ and in C with -fexceptions. longjmp does not: the
 * scope then ends together with a scope around it. */
#define GNOMON_SCOPE(name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, GNOMON_NULL, __COUNTER__)

/* The same with a category, a string literal too; reports can group by it. */
#define GNOMON_SCOPE_IN(category, name) \
    GNOMON__SCOPE(GNOMON_KIND_SCOPE, name, category, __COUNTER__)

/* A scope from this line to the end of the function, named after the function.
 * In C++ the name is qualified and has template arguments, "layer<4>::forward";
 * a lambda is named by its line, "layer<4>::forward::lambda at 42". */
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
 * they may be stopped in any order. On each thread an action can be open once;
 * starting one that is open is counted as `twice` and changes nothing. `name` is
 * UTF-8 and is copied when it is first seen, so one buffer with changing text is
 * fine. NULL is the name "(null)". Slower than a scope: the name is looked up
 * each time. */
GNOMON_INLINE void gnomon_start(const char *name)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_start_slow(name);
}

/* Stops the action of this name on the calling thread. If it is not open there,
 * that is counted as `never_started` and changes nothing. */
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
/* Begins a range of `region`. End it once, on any thread, with gnomon_range_end.
 * A range adds to its region's total, and does not reduce the self time of the
 * scopes around it. Reports show it under the thread that ended it.
 * Returns 0 if nobody records the region, or if too many ranges are open, which
 * is counted as lost_ranges. */
GNOMON_INLINE gnomon_range gnomon_range_begin(gnomon_region *region)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_range_begin_slow(region, mask);
}

/* The same for a range inside the range `around`, which any thread may have begun: its
 * path is that of `around` plus its own name. If `around` is 0, or has ended, this is
 * gnomon_range_begin. For tasks that move between threads, for example in a server:
 * each task has a call tree of its own, separate from those of threads. */
GNOMON_INLINE gnomon_range gnomon_range_begin_in(gnomon_region *region,
                                                 gnomon_range around)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_range_begin_in_slow(region, mask, around);
}

/* Ends a range. With 0 it does nothing. A range that has ended already, or a number
 * that is no range, is counted as `unmatched` and changes nothing. */
GNOMON_INLINE void gnomon_range_end(gnomon_range range)
{
    if (__builtin_expect(range != 0, 0))
        gnomon_range_end_slow(range);
}

/* ---- Counters, marks, names ---------------------------------------------- */

/* Samples a counter: what `region` measures is `value` now, in the unit that the
 * region's name says. Profiles keep count, last, min, max and sum by thread and
 * stage. NaNs are counted separately and change none of these. Make the region
 * with GNOMON_KIND_COUNTER. */
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
 * evaluated only if some profiler records the counter. A statement. */
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

/* Names the calling thread in reports. `name` is UTF-8 and copied. A thread that
 * begins after another one of its name ended shares its row in reports: so name the
 * threads of a pool before their first mark. Does nothing while nothing is
 * attached. */
GNOMON_API void gnomon_thread_name(const char *name);

/* ---- Steps --------------------------------------------------------------- */

/* A training step of the open stage is over; the next one begins now. Schedules
 * advance only here, and at once: the next scope already obeys the new phase.
 * Profilers' callbacks for steps run on the thread that calls this. */
GNOMON_INLINE void gnomon_step(void)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(0, 0);
}

/* The same; the step that begins now gets the number `number`, for example in a
 * job that was resumed. Schedules count calls, not these numbers. */
GNOMON_INLINE void gnomon_step_at(uint64_t number)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(number, 1);
}

/* Makes the open step begin now, with the number `number`. Call it after work that
 * belongs to no step, such as a validation between two steps. No step ends, and
 * schedules do not advance. */
GNOMON_INLINE void gnomon_step_begin(uint64_t number)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_step_slow(number, 2);
}
#endif

/* ==== Links ===============================================================
 * Which scope caused which, across threads.
 *
 *     item.from = gnomon_link_out();            where work is handed on
 *     ...
 *     GNOMON_SCOPE("worker");                   where it is done
 *     gnomon_link_in(&item.from, GNOMON_LINK_SUBMIT);
 *
 * Reports then show a worker's time under the scope that submitted the work. */

/* How one scope caused another. */
enum gnomon_link_kind {
    /* It handed work to a pool, and a worker did it. */
    GNOMON_LINK_SUBMIT = 0,
    /* It is a forward pass, and the other scope its backward pass. */
    GNOMON_LINK_BACKWARD = 1,
    /* It launched what then ran on a device. */
    GNOMON_LINK_LAUNCH = 2
};

/* The scope that a thread was in when it handed work on. A plain value of 32 bytes:
 * copy it into the work item, for any thread of this process. All zero means "no
 * scope". Do not change its words. It is valid until a profiler is attached or
 * detached; an older one is counted as lost_links in gnomon_health. */
typedef struct gnomon_link {
    uint32_t word[8];
} gnomon_link;

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. */
GNOMON__SLOW_API gnomon_link gnomon_link_out_slow(void);
GNOMON__SLOW_API void gnomon_link_in_slow(const gnomon_link *from, int kind);

/* Returns the innermost open scope of the calling thread; all zero while nothing is
 * attached, or if the thread has made no mark. Any thread. */
GNOMON_INLINE gnomon_link gnomon_link_out(void)
{
    gnomon_link none = {{0, 0, 0, 0, 0, 0, 0, 0}};
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        return gnomon_link_out_slow();
    return none;
}

/* Says that `from` caused the innermost open scope of the calling thread.
 * `kind` is a gnomon_link_kind. Profiles count links from path to path. A NULL
 * or all-zero `from` is ignored, and so is a call while no scope is open.
 * `from` is only read during the call. Any thread. */
GNOMON_INLINE void gnomon_link_in(const gnomon_link *from, int kind)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_link_in_slow(from, kind);
}
#endif

/* ==== Operations ==========================================================
 * What a scope computes, for example a matrix product of these shapes:
 *     GNOMON_OP_SCOPE("linear", .operation = "matmul",
 *                     GNOMON_INPUTS(GNOMON_TENSOR("float32", rows, in),
 *                                   GNOMON_TENSOR("float32", in, out)));
 *
 * Profiles then have a node for each operation of the region, with the flops
 * and bytes of all its executions: docs/profile.md. */

/* The shape of one input of an operation. */
typedef struct gnomon_tensor {
    uint32_t struct_size;
    /* How many dims there are. */
    uint32_t rank;
    /* The type of its elements, as "float32". */
    const char *dtype;
    /* `rank` sizes, in elements. */
    const int64_t *dims;
    /* `rank` distances, in elements; NULL: contiguous. */
    const int64_t *strides;
} gnomon_tensor;

/* A property of an operation. */
typedef struct gnomon_attribute {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;
    /* One JSON value. */
    const char *json;
} gnomon_attribute;

/* Bits of gnomon_op_info.flags. */
enum gnomon_op_flags {
    /* It is of a backward pass. */
    GNOMON_OP_BACKWARD = 1,
    /* The program gave the number; it is not counted from shapes. */
    GNOMON_OP_FLOPS_GIVEN = 2,
    GNOMON_OP_BYTES_GIVEN = 4,
    /* In profiles: its flops are a fixed number for each element, by definition. */
    GNOMON_OP_BY_DEFINITION = 8
};

/* What one execution computes. gnomon/profile.h has gnomon_input_at and _attribute_at. */
typedef struct gnomon_op_info {
    uint32_t struct_size;
    /* Bits of gnomon_op_flags. */
    uint32_t flags;
    /* Its name, as "matmul". */
    const char *operation;
    /* Read them by gnomon_input_at. */
    const gnomon_tensor *inputs;
    size_t input_count;
    /* Also a kernel's grid and block. Read them by gnomon_attribute_at. */
    const gnomon_attribute *attributes;
    size_t attribute_count;
    /* Floating-point operations, and bytes moved, of one execution. 0, without a flag
     * above: gnomon computes it from the shapes if it knows the operation
     * (docs/profile.md). */
    uint64_t flops;
    uint64_t bytes;
} gnomon_op_info;

#ifndef GNOMON_DISABLE
/* The last argument, `op`, is evaluated only if the region is recorded. */
#define GNOMON__OP_SCOPE(name, n, ...) \
    static gnomon_region GNOMON__NAME(gnomon__region, n) = \
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, GNOMON_NULL, __func__); \
    const uint32_t GNOMON__NAME(gnomon__mask, n) = \
        gnomon__mask(&GNOMON__NAME(gnomon__region, n)); \
    __attribute__((cleanup(gnomon__end_scope), unused)) gnomon_token \
    GNOMON__NAME(gnomon__token, n) = \
        __builtin_expect(GNOMON__NAME(gnomon__mask, n) == 0, 1) \
            ? 0 \
            : gnomon_begin_op_slow(&GNOMON__NAME(gnomon__region, n), \
                                   __VA_ARGS__, GNOMON__NAME(gnomon__mask, n))

/* A region for `region` when it computes `op`, to pass to gnomon_begin and the like.
 * It has the name, the category and the place of `region`, so filters and reports
 * treat both as one. Equal operations of one region have the same region: all fields
 * are compared by value.
 *
 * Returns a region that lives as long as the process; never NULL. If it cannot be
 * made, it is `region` itself, or "(other)" if that is NULL, and gnomon_health
 * counts the cause:
 *   lost_ops     65536 operations of regions are known, or 64 MiB of them, or memory
 *                is out
 *   bad_ops      `op` is NULL, has no struct_size, more than 256 inputs or attributes,
 *                or more than 16 KiB; or `region` is a mark or a counter
 *   bad_regions, reentered
 * If a part of `op` is wrong, that part is left out and counted, and the rest is kept:
 * an input whose rank is above 64 or whose dims are NULL has rank 0, and an attribute
 * that is not JSON, or has more than 4 KiB, is null (bad_ops); bytes of names that are
 * not UTF-8 become U+FFFD (bad_names). Such an operation takes a lock each time.
 * `op` and all that it points to are copied. A module with a static region that is
 * given here is not unmapped by dlclose.
 * Any thread. It hashes `op`, which takes 50 ns and more, and takes no lock for an
 * operation that it has seen. Keep the result if the operation is always the same. */
GNOMON_API gnomon_region *gnomon_op_region(gnomon_region *region,
                                           const gnomon_op_info *op);

/* The out-of-line half of the call below; do not call. */
GNOMON__SLOW_API gnomon_token gnomon_begin_op_slow(gnomon_region *region,
                                                   const gnomon_op_info *op,
                                                   uint32_t mask);

/* gnomon_begin of the region that gnomon_op_region returns. While nobody records the
 * region it does not read `op`, and costs as much as gnomon_begin. */
GNOMON_INLINE gnomon_token gnomon_begin_op(gnomon_region *region,
                                           const gnomon_op_info *op)
{
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask == 0, 1))
        return 0;
    return gnomon_begin_op_slow(region, op, mask);
}
#endif

#ifndef __cplusplus
#ifndef GNOMON_DISABLE
/* GNOMON_SCOPE with what it computes: fields of gnomon_op_info as `.field = value`,
 * without struct_size. They are evaluated only if the region is recorded. For C;
 * gnomon.hpp has one for C++. */
#define GNOMON_OP_SCOPE(name, ...) \
    GNOMON__OP_SCOPE(name, __COUNTER__, \
                     &(const gnomon_op_info){ \
                         .struct_size = sizeof(gnomon_op_info), __VA_ARGS__})
#endif

/* The fields for inputs. Each GNOMON_TENSOR is the type of its elements and at
 * least one size. */
#define GNOMON_INPUTS(...) \
    .inputs = (const gnomon_tensor[]){__VA_ARGS__}, \
    .input_count = \
        sizeof((const gnomon_tensor[]){__VA_ARGS__}) / sizeof(gnomon_tensor)
#define GNOMON_TENSOR(dtype, ...) \
    { \
        sizeof(gnomon_tensor), \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), dtype, \
            (const int64_t[]){__VA_ARGS__}, GNOMON_NULL \
    }
#endif

/* ==== The run =============================================================
 * Control calls: a framework makes a few of them, not one at each hook. None is
 * needed before a mark.
 *
 * Threads: call them from any thread, but not from inside a profiler's callback.
 * One runs at a time; others wait for it. Marks do not wait, with one exception:
 * while the run starts, the first mark of a thread waits, for a second at most.
 * Then it goes on unrecorded, and is counted as `reentered`.
 * Errors: each returns GNOMON_OK or a negative gnomon_error, and then
 * gnomon_error_text() says in one line what to do. Each call names its errors;
 * in addition all of them return
 *   GNOMON_EBUSY   inside a callback; or while another thread loads a library
 *                  for gnomon and may wait for the caller
 *   GNOMON_ESTATE  in a child process that was forked from one that records, and
 *                  has not called gnomon_setup; or if a copy of gnomon of another
 *                  generation was first in the process */

/* ---- Setup and teardown --------------------------------------------------- */

/* A profiler: callbacks that get the marks (gnomon/tool.h). */
typedef struct gnomon_profiler gnomon_profiler;

/* What a framework may tell gnomon at setup. All of it is optional: zero it and
 * set struct_size. */
typedef struct gnomon_setup_options {
    /* sizeof(gnomon_setup_options). */
    uint32_t struct_size;
    /* Not 0: the next three fields are set. 0: gnomon takes them from the
     * environment variables that launchers set (docs/environment.md). */
    int32_t has_rank;
    /* This process's rank in the job: 0 .. world_size - 1. */
    int32_t rank;
    /* Its rank among those of its machine, from 0. */
    int32_t local_rank;
    /* How many ranks the job has, at least 1. */
    int32_t world_size;
    /* 0. */
    int32_t reserved;
    /* What to attach, in the words of $GNOMON, if that is not set, and gnomon_attach
     * was not called with words alone before. NULL: nothing. */
    const char *spec;
    /* The folder of reports if the spec has `dir` without a value. NULL: the working
     * directory. */
    const char *dir;
    /* The program's own profilers, a list that ends with a NULL. $GNOMON and `spec`
     * can then name them; one with a built-in profiler's name replaces that. They
     * must live as long as the process uses gnomon. Nested setups add theirs too.
     * NULL: none. */
    const gnomon_profiler *const *profilers;
} gnomon_setup_options;

/* Begins a run, or joins the one that is open. Setups nest: the options of the
 * outermost one count, but the rank is the first that any of them gives. NULL: no
 * options. The options are read during the call; their texts are copied. If an
 * option is wrong, the call fails and the run begins without that option: it
 * still needs a gnomon_teardown.
 * A mistake in $GNOMON gives a line on stderr, and is no error of this call.
 * GNOMON_EINVAL: struct_size is not set, the rank is not below the world size, or
 * the options' spec has a wrong word. GNOMON_EINVAL, GNOMON_EABI: a profiler is
 * wrong, see gnomon_attach. GNOMON_EFULL: too many profilers. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_setup(const gnomon_setup_options *options);

/* Undoes one setup. The last one, for the outermost setup, writes the reports that are
 * due and detaches what $GNOMON or words of gnomon_attach attached; a later setup
 * begins a new run. It writes files, so it may take long. If it is not called, reports
 * are written when the process exits.
 * GNOMON_ESTATE: there was no setup to undo. */
GNOMON__CALL int gnomon_teardown(void);

/* ---- What is attached ----------------------------------------------------- */

/* Attaches `profiler` with the caller's `self`; its create and destroy are not called.
 * One profiler may be attached several times, also with one `self`: each takes a detach.
 * Both belong to the caller, and must live until then. `words` are the options that
 * $GNOMON has in brackets ("filter=opt*,extended=false"), or NULL; they are copied.
 *
 * If `profiler` and `self` are NULL, `words` are a whole spec, as in $GNOMON
 * (docs/environment.md), and replace it: what $GNOMON or an earlier such call attached
 * writes its last reports and is detached; marks made meanwhile are in no report. ""
 * only detaches. "+ITEMS" attaches more items, while the present ones go on recording.
 * "-PATTERN" detaches the items whose name matches: as=, or else the profiler's.
 *
 * GNOMON_EINVAL: no profiler and no words, no name, or a wrong word: the other words of
 * a spec are attached all the same, and gnomon_error_text() has the first wrong one.
 * GNOMON_EABI: another generation, or struct_size is too small. GNOMON_ENOENT: a plugin
 * cannot be loaded, or nothing matches. GNOMON_EPLUGIN: a profiler's create failed.
 * GNOMON_EFULL: too many profilers. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *words);

/* Detaches what one gnomon_attach attached with this `self`, without a summary. Once it
 * returns GNOMON_OK no callback of it runs, and none will come: both may be freed.
 * GNOMON_ENOENT: it is not attached. GNOMON_EBUSY: called inside a callback, or a
 * callback did not return within a second; no new one will start, and the call
 * may be made again. */
GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self);

/* Writes what is attached as a spec with all defaults, which gnomon_attach accepts.
 * As snprintf, it writes at most `size` bytes with the final NUL, and returns the
 * length of the whole spec without it. 0: nothing is attached, or the call failed.
 * `buffer` may be NULL to ask for the length. */
GNOMON__CALL size_t gnomon_spec(char *buffer, size_t size);

/* ---- Stages --------------------------------------------------------------- */

/* Opens a stage: "fit", "validate", "test", "predict", or any name. If a stage is
 * open, it ends first. Each stage has its own reports; marks made since the
 * previous stage ended belong to this one. `name` is copied.
 * GNOMON_EINVAL: the name is NULL. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_stage_begin(const char *name);

/* Ends the open stage and writes the reports that are due.
 * GNOMON_ESTATE: no stage is open. */
GNOMON__CALL int gnomon_stage_end(void);

/* ---- Metadata ------------------------------------------------------------- */

/* Adds an entry to the run's metadata, which profiles and files keep. `json` is
 * one JSON value: a text needs its quotes. Both are copied. A key that is there
 * already gets the new value.
 * GNOMON_EINVAL: key or value is NULL, or the value is not JSON. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_metadata(const char *key, const char *json);

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#define GNOMON__OFF_GNOMON
#include "gnomon/off.h"
#undef GNOMON__OFF_GNOMON
#endif

#endif
