/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes profiles into the test's folder, for programs that read them. */
#ifndef GNOMON_TESTS_SAVED_PROFILE_H
#define GNOMON_TESTS_SAVED_PROFILE_H

#include <stdarg.h>

#include "child.h"
#include "gnomon/profile.h"
#include "test.h"

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
static inline void program_save(const gnomon_profile *p, const char *form,
                                const char *path)
{
    child_folder();
    FILE *to = fopen(path, "wb");
    gnomon_writer w = {.struct_size = sizeof w,
                       .write = program_write,
                       .print = program_print,
                       .context = to};
    CHECK_EQ(gnomon_write(p, form, &w), GNOMON_OK);
    CHECK_EQ(fclose(to), 0);
}

#endif
