/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints a profile's file as a few lines of text, to compare with. */
#ifndef GNOMON_TESTS_PROFILE_WORDS_H
#define GNOMON_TESTS_PROFILE_WORDS_H

#include <stdio.h>
#include <unistd.h>

#include "gnomon/profile.h"

/* The parts of a profile that are the same in each process: its stages and
 * nodes. NULL: there is no file; "": it is not complete. Free it. */
static inline char *profile_words(const char *path)
{
    gnomon_profile *p = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *f = access(path, F_OK) == 0 ? open_memstream(&text, &size) : NULL;
    if (f && !gnomon_profile_load(&p, path) && !gnomon_profile_check(p)) {
        for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
            gnomon_stage_info stage;
            gnomon_profile_stage(p, i, &stage);
            fprintf(f, "%s %llu\n", stage.name,
                    stage.steps ? (unsigned long long)stage.steps->count : 0);
        }
        for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
            gnomon_node_info n;
            gnomon_region_info r;
            gnomon_profile_node(p, i, &n);
            gnomon_profile_region(p, n.region, &r);
            fprintf(f, "%u %s %llu\n", (unsigned)n.parent, r.name,
                    n.host ? (unsigned long long)n.host->count : 0);
        }
    }
    gnomon_profile_free(p);
    if (f)
        fclose(f);
    return text;
}

#endif
