/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the profiles that file= wrote, and redirects stderr to a file. */
#ifndef GNOMON_TESTS_WRITTEN_FILES_H
#define GNOMON_TESTS_WRITTEN_FILES_H

#include <fcntl.h>
#include <sys/stat.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "test.h"

/* A checked profile from a file; NULL fails the test. */
static inline gnomon_profile *checked_profile(const char *path)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK) ||
        !CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s: %s\n", path, gnomon_error_text());
    return p;
}

/* The stages of the profile, as "fit 1, test 3". */
static inline const char *stages_in(const gnomon_profile *p)
{
    static char text[256];
    size_t n = 0;
    *text = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(p, i, &s);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %u",
                              i > 1 ? ", " : "", s.name, (unsigned)s.ordinal);
    }
    return text;
}

/* The test's own stderr, while stderr is redirected. */
static int errors;

static inline void catch_stderr(const char *path)
{
    errors = dup(2);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    dup2(fd, 2);
    close(fd);
}

static inline void give_stderr_back(void)
{
    dup2(errors, 2);
    close(errors);
}

#endif
