/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the command `gnomon` through a shell. */
#ifndef GNOMON_TESTS_PROGRAM_H
#define GNOMON_TESTS_PROGRAM_H

#include <stdarg.h>

#include "child.h"
#include "gnomon/profile.h"
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

/* ---- Files of profiles ------------------------------------------------------ */

static inline int program_write(const gnomon_writer *w, const void *bytes,
                                size_t size)
{
    return fwrite(bytes, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

static inline int program_print(const gnomon_writer *w, const char *format, ...)
    GNOMON_PRINTF(2, 3);

static inline int program_print(const gnomon_writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vfprintf(w->context, format, arguments);
    va_end(arguments);
    return n < 0 ? GNOMON_EIO : GNOMON_OK;
}

/* Writes the profile into the test's folder. */
static inline void program_save(const gnomon_profile *p, int form,
                                const char *path)
{
    child_folder();
    FILE *to = fopen(path, "wb");
    gnomon_writer w = {.struct_size = sizeof w,
                       .write = program_write,
                       .print = program_print,
                       .context = to};
    CHECK_EQ(gnomon_profile_write(p, form, &w), GNOMON_OK);
    CHECK_EQ(fclose(to), 0);
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
