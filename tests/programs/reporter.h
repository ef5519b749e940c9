/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by hosts that fork and end: a profiler, "reporter" in $GNOMON,
 * whose report is one line: the process, and its number of scopes called
 * "work". */
#ifndef GNOMON_TESTS_REPORTER_H
#define GNOMON_TESTS_REPORTER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"

/* A child has one thread only: the parent's other threads are no leaks, and
 * the leak search cannot stop them. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "report_thread_leaks=0:atexit_sleep_ms=0:die_after_fork=0:"
           "report_signal_unsafe=0";
}

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static const char *role = "parent"; /* of this process, in its report */

static int reporter_summary(void *self, const gnomon_profile *p,
                            const gnomon_writer *out)
{
    unsigned long long sum = 0;
    (void)self;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_region(p, n.region, &r);
        if (n.host && strcmp(r.name, "work") == 0)
            sum += n.host->count;
    }
    return out->print(out, "%s: work %llu\n", role, sum);
}

static const gnomon_profiler reporter = {
    .struct_size = sizeof reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "reporter",
    .help = "one line",
    .summary = reporter_summary,
};

/* All kinds of marks. */
static void work(long n)
{
    for (long i = 0; i < n; i++) {
        GNOMON_SCOPE("work");
        gnomon_start("action");
        gnomon_stop("action");
        GNOMON_COUNTER("samples", (double)i);
        gnomon_step();
    }
}

#endif
