/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every header of gnomon needs: error codes, texts with lengths, how structs
 * grow, and what differs from compiler to compiler. Included by gnomon.h.
 *
 * Names: GNOMON_X and gnomon_x are public. GNOMON__X and gnomon__x, with two
 * underscores, are the headers' own; do not use them.
 */
#ifndef GNOMON_BASE_H
#define GNOMON_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "version.h"

/* Marks are for gcc and clang, 64-bit Linux, x86-64 and aarch64. Elsewhere it is
 * as if GNOMON_DISABLE had been defined before gnomon was included: marks vanish
 * and the other calls do nothing (gnomon/disabled.h). */
#if !defined(__GNUC__) || !defined(__linux__) || !defined(__LP64__) || \
    !(defined(__x86_64__) || defined(__aarch64__))
#ifndef GNOMON_DISABLE
#define GNOMON_DISABLE
#endif
#endif

/* C and C++: linkage, the null pointer, and casts that neither warns of. For the
 * headers, and for code that is compiled as both. */
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

/* What is marked at a region. These are the kinds of regions in a profile too,
 * where more kinds exist (gnomon_profile_kind in gnomon/entities.h). */
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

/* What the library defines. With GNOMON_DISABLE there is no library: the headers
 * then define an inline function that does nothing. */
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

/* The codes that calls return: GNOMON_OK, which is 0, or one of these, all
 * negative. Marks return no code: they count what goes wrong in gnomon_health.
 * What a caller may do about each:
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
    /* Returned by a profiler's create alone: it does not want to run here, and
     * has said why. No call of gnomon returns it. */
    GNOMON_DECLINED = 1,
#define GNOMON_ERROR_CODE(name, code, text) GNOMON_##name = code,
    GNOMON_ERRORS(GNOMON_ERROR_CODE)
#undef GNOMON_ERROR_CODE
};

GNOMON_BEGIN_DECLS

/* The name of a code, "GNOMON_EINVAL" or "GNOMON_OK"; "GNOMON_E?" of a number
 * that is no code. The text is static. Any thread. */
GNOMON__CALL const char *gnomon_error_name(int code);

/* One line of text about the calling thread's last control call, if that failed:
 * what is wrong and what to do, without "gnomon: " and without a newline. "" if
 * it did not fail. Each thread has its own text. It is valid until the thread's
 * next control call; do not free it. Never NULL. */
GNOMON__CALL const char *gnomon_error_text(void);

/* The version of the library that is loaded, as "0.1.0"; GNOMON_VERSION is that of
 * the headers. The text is static. Any thread. */
GNOMON__CALL const char *gnomon_version(void);

/* How structs grow. A public struct begins with `struct_size`. Whoever makes one
 * sets it to sizeof and all other fields to 0:
 *     gnomon_setup_options o = {.struct_size = sizeof o};
 * Later releases append fields. A struct that is smaller than the library's is
 * completed with zeroes; what a larger one has beyond it is ignored. The elements
 * of an array lie as far apart as the first one's struct_size says, for a newer
 * module's may be larger. So programs, plugins and libraries of different
 * releases work together within one GNOMON_ABI. */

/* A length that means "up to the final NUL". Every call that takes a name has a
 * form ending in _n, which takes the name's length in bytes too: for languages
 * whose strings have no final NUL. A NUL inside such a length counts as a byte that
 * is not UTF-8. */
#define GNOMON_TO_NUL (~GNOMON_CAST(size_t, 0))

#ifdef GNOMON_DISABLE
GNOMON__CALL const char *gnomon_error_name(int code)
{
#define GNOMON_ERROR_NAME(name, number, text) \
    if (code == number) \
        return "GNOMON_" #name;
    GNOMON_ERRORS(GNOMON_ERROR_NAME)
#undef GNOMON_ERROR_NAME
    if (code == GNOMON_DECLINED)
        return "GNOMON_DECLINED";
    return code == 0 ? "GNOMON_OK" : "GNOMON_E?";
}

GNOMON__CALL const char *gnomon_error_text(void)
{
    return "this program was built without gnomon: with GNOMON_DISABLE, or for "
           "a system that gnomon does not know";
}

GNOMON__CALL const char *gnomon_version(void)
{
    return GNOMON_VERSION;
}
#endif

GNOMON_END_DECLS

#endif
