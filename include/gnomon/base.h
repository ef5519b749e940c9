/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What every gnomon header needs: visibility, error codes, and how structs
 * grow. Instrument with <gnomon.h>; this file is included by it. */
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

#if defined(__GNUC__) || defined(__clang__)
#define GNOMON_PRINTF(text, first) \
    __attribute__((__format__(__printf__, text, first)))
/* Inlined at -Os too: a mark that is off must not call. */
#define GNOMON_INLINE static inline __attribute__((__always_inline__))
#else
#define GNOMON_PRINTF(text, first)
#define GNOMON_INLINE static inline
#endif

#if defined(__GNUC__) && defined(__ELF__)
#define GNOMON_API __attribute__((visibility("default")))
#else
#define GNOMON_API
#endif
/* For all that the library defines; disabled.h does where there is none. */
#ifdef GNOMON_DISABLE
#define GNOMON__CALL GNOMON_INLINE
#else
#define GNOMON__CALL GNOMON_API
#endif
/* For the out-of-line halves of marks: the call goes by the address table and
 * not by a stub of the procedure table, which would be one more line of code
 * and, to a library loaded far away, an expensive jump. */
#define GNOMON__SLOW_API GNOMON_API
#ifdef __has_attribute
#if __has_attribute(__noplt__)
#undef GNOMON__SLOW_API
#define GNOMON__SLOW_API __attribute__((visibility("default"), __noplt__))
#endif
#endif

/* The codes of control calls: 0 or one of these, all negative. Instrumenting
 * calls return none: they count trouble in gnomon_health. */
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
    GNOMON_OK = 0,
    /* Of a profiler's create alone: it does not want to run here, and has said
     * why. No control call answers it. */
    GNOMON_DECLINED = 1,
#define GNOMON_ERROR_CODE(name, code, text) GNOMON_##name = code,
    GNOMON_ERRORS(GNOMON_ERROR_CODE)
#undef GNOMON_ERROR_CODE
};

GNOMON_BEGIN_DECLS

/* The name of a code ("GNOMON_EINVAL", "GNOMON_OK"), or "GNOMON_E?". Static. */
GNOMON__CALL const char *gnomon_error_name(int code);

/* What the calling thread's last failed control call says to do; "" if none
 * failed. Valid until the thread's next control call. */
GNOMON__CALL const char *gnomon_error_text(void);

/* The version of the library that answers, for instance "0.1.0". Static. */
GNOMON__CALL const char *gnomon_version(void);

/* Public structs that may grow begin with `struct_size`; who fills or passes
 * one sets it to sizeof and zeroes the rest. A smaller one is completed with
 * zeroes, a larger one's extra is ignored. Elements of an array lie as far apart
 * as the first one's struct_size says: a newer module's may be larger. */

/* As the length of a text: up to its final NUL. Every call that takes a name has
 * a form that ends in _n and takes its length in bytes too, for languages whose
 * strings have no NUL. A NUL inside such a length is one byte that is not UTF-8. */
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
