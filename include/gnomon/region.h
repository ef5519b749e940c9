/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Regions: the named places in a program at which marks are made. Included by
 * gnomon.h.
 *
 * Each region has a word, its mask, that says who records it. A mark loads this
 * word and returns if it is 0. That is all that a mark costs while it is off.
 */
#ifndef GNOMON_H
#include "../gnomon.h" /* includes this header where it is needed */
#elif !defined GNOMON_REGION_H
#define GNOMON_REGION_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* A bit beside the kind, set in a region that gnomon has not seen. It says that
 * the name is a C++ compiler's __PRETTY_FUNCTION__. At the first mark gnomon
 * clears the bit and replaces the name by the short one of GNOMON_FUNCTION. */
#define GNOMON_KIND_PRETTY 0x80u

/* The top bit of a mask: gnomon has not seen the region. The first mark takes
 * the slow path because of it, and gnomon then writes the real mask. */
#define GNOMON_MASK_UNSEEN 0x80000000u

/* A named place in the program.
 *
 * Layout: compiled into other people's modules, so it never changes. Fields are
 * only appended; `struct_size` says how many a module has.
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
    /* What groups regions in reports, or NULL. */
    const char *category;
    /* The source file, or NULL. */
    const char *file;
    /* The function around it, or NULL. */
    const char *function;
    /* gnomon's own. Begins as NULL. */
    void *link;
} gnomon_region;

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
#endif

/* Finds the region of this name, category and kind (gnomon_region_kind), or
 * makes it at the first call. For names that are not known when compiling.
 *
 * Returns a region that lives as long as the process; never NULL. Where the
 * limit of names is reached, memory is out, or the call comes from inside a
 * callback, it is the region "(other)", and gnomon_health counts the cause.
 * A NULL name is the name "(null)"; a NULL category is none; a kind that does
 * not exist is GNOMON_KIND_SCOPE.
 * Both texts are copied. Any thread. It takes a lock and hashes the name, so
 * keep the result. */
GNOMON__CALL gnomon_region *gnomon_region_get(const char *name,
                                              const char *category, int kind);

/* The same, with lengths in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL gnomon_region *gnomon_region_get_n(const char *name, size_t length,
                                                const char *category,
                                                size_t category_length,
                                                int kind);

/* An open scope: which one, on which thread. 0: the scope is not recorded. A
 * token is used once, and stays unique for as long as the process runs. */
typedef uint64_t gnomon_token;

#ifndef GNOMON_DISABLE
/* Whether anything is attached: 0 is no, the top bit is "not asked yet", other
 * bits are profilers. Inline calls test it first, by a relaxed load. Do not
 * write to it. */
extern GNOMON_API uint32_t gnomon_enabled;

/* The mask of a region, by a relaxed load; of NULL it is GNOMON_MASK_UNSEEN, so
 * that the slow path counts it. For the inline calls. The compiler drops the
 * test for NULL where the region is static. */
GNOMON_INLINE uint32_t gnomon__mask(const gnomon_region *region)
{
    if (__builtin_expect(region == GNOMON_NULL, 0))
        return GNOMON_MASK_UNSEEN;
    return __atomic_load_n(&region->mask, __ATOMIC_RELAXED);
}

/* Makes the region known to gnomon where it was not, and returns the mask that
 * marks go by from now on. For the inline calls; do not call. */
GNOMON__SLOW_API uint32_t gnomon_touch_slow(gnomon_region *region,
                                            uint32_t mask);
#endif

GNOMON_END_DECLS

#endif
