/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles written as JSON into memory, and read back; for programs with the
 * program's part of src/. */
#ifndef GNOMON_TESTS_JSON_FORM_H
#define GNOMON_TESTS_JSON_FORM_H

#include <stdlib.h>

#include "profile/json_read.h"
#include "fake_profile.h"
#include "same_profile.h"

#define NEEDS_JANSSON() \
    do { \
        if (!GNOMON_WITH_JANSSON) \
            SKIP("no jansson: install libjansson-dev"); \
    } while (0)

/* The caller frees it. */
static inline char *json_of(const gnomon_profile *p)
{
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(gnomon_write(p, "json", &w.base), GNOMON_OK);
    return w.text;
}

static inline gnomon_profile *profile_of_json(const char *text)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon__json_read(&p, text, strlen(text)), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

/* The profile written as JSON and read again is equal, and so are the bytes
 * of a second write. Frees `p`. */
static inline void check_survives(gnomon_profile *p)
{
    if (!CHECK(p != NULL))
        return;
    char *text = json_of(p), *again = NULL;
    gnomon_profile *q = profile_of_json(text);
    if (q) {
        CHECK_STR(gnomon_error_text(), "");
        same_profiles(p, q);
        again = json_of(q);
        CHECK(strcmp(text, again) == 0);
    }
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(text);
    free(again);
}

#endif
