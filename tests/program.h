/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the command `gnomon` through a shell. saved_profile.h writes profiles for
 * it. */
#ifndef GNOMON_TESTS_PROGRAM_H
#define GNOMON_TESTS_PROGRAM_H

#include <stdarg.h>

#include "child.h"
#include "test.h"

#define PROGRAM_PATH TEST_BINARY_DIR "/../gnomon"

/* A command of sh, in which $G is the program. */
static inline child_result shell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static inline child_result shell(const char *format, ...)
{
    char command[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return child_run("/bin/sh", "G=" PROGRAM_PATH,
                     (const char *const[]){"-c", command, NULL});
}

#define NEEDS_PROGRAM \
    do { \
        if (access(PROGRAM_PATH, X_OK) != 0) \
            SKIP("the program is not built: GNOMON_PROGRAM=OFF"); \
        child_folder(); \
    } while (0)

#define PROGRAM_PEAK CHILD_PROGRAM("peak") " $G "

/* What PROGRAM_PEAK said last. */
static inline double program_peak(const child_result *r)
{
    const char *last = r->err + strlen(r->err);
    while (last > r->err && (!*last || !last[1] || last[-1] != '\n'))
        last--;
    return strtod(last, NULL);
}

/* The most KiB that the command takes; -1: it failed. */
static inline double program_kib(const char *words)
{
    child_result r = shell(PROGRAM_PEAK "%s >/dev/null", words);
    double kib = r.status == 0 ? program_peak(&r) : -1;
    fprintf(stderr, "    %s: %.0f KiB\n", words, kib);
    return kib;
}

/* Writes a text into the test's folder. */
static inline void program_put(const char *path, const char *text)
{
    child_folder();
    FILE *to = fopen(path, "wb");
    CHECK(fputs(text, to) >= 0);
    CHECK_EQ(fclose(to), 0);
}

#endif
