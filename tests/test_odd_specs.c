/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Odd things in $GNOMON: far too many profilers, and files that hang or hold
 * secrets.
 * links: testing
 * labels: guest */
#include <stdint.h>
#include <stdlib.h>

#include "child.h"
#include "gnomon/profiler.h"
#include "platform/error.h"
#include "test.h"

static char told[4096];

static void keep_line(const char *line)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s\n", line);
}

static int made;

static int count_made(const gnomon_options *options, void **self)
{
    (void)options, (void)self;
    made++;
    return GNOMON_OK;
}

static void see_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
}

static const gnomon_profiler counted = {.struct_size = sizeof counted,
                                        .abi = GNOMON_ABI,
                                        .name = "counted",
                                        .create = count_made,
                                        .start = see_start};

/* `n` times the profiler. */
static const char *crowd_of(int n)
{
    static char text[40000];
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "counted,");
    return text;
}

/* 32 KiB of them took 42 s when each was tried. */
TEST(more_profilers_than_fit_are_refused_at_once)
{
    char spec[64] = "?";
    gnomon__test_log = keep_line;
    CHECK_EQ(gnomon_register(&counted), GNOMON_OK);
    CHECK_EQ(gnomon_configure(crowd_of(4096)), GNOMON_EFULL);
    CHECK_STR(told, "gnomon: gnomon_configure: 4096 profilers at once: 31 fit: "
                    "none is attached\n");
    CHECK_STR(gnomon_error_text(),
              "4096 profilers at once: 31 fit: none is attached");
    CHECK_EQ(made, 0);
    CHECK_EQ(gnomon_spec(spec, sizeof spec), 0);
    CHECK_EQ(gnomon_configure(crowd_of(32)), GNOMON_EFULL);
    CHECK_EQ(made, 0);
    CHECK_EQ(gnomon_configure(crowd_of(31)), GNOMON_OK);
    CHECK_EQ(made, 31);
    CHECK_EQ(gnomon_configure(NULL), GNOMON_OK);
}
