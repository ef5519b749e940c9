/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs programs of tests/nvtx_in, which are marked for NVTX alone, with
 * libgnomon-nvtx.so, and reads the reports. */
#ifndef GNOMON_TESTS_INJECTED_H
#define GNOMON_TESTS_INJECTED_H

#include "gnomon/profile.h"
#include "program.h"

#define LIBRARY TEST_BINARY_DIR "/../libgnomon-nvtx.so"
#define AT(name) TEST_BINARY_DIR "/nvtx_in/" name

/* A folder of the test's own; the test is skipped where the library is not
 * built. */
#define NEEDS_NVTX \
    do { \
        if (access(LIBRARY, R_OK) != 0) \
            SKIP("libgnomon-nvtx.so is not built: no headers of NVTX"); \
        child_folder(); \
    } while (0)

static inline child_result run_at(const char *program, const char *spec,
                                  const char *const *words)
{
    char environment[1024];
    snprintf(environment, sizeof environment,
             "%s%s\nNVTX_INJECTION64_PATH=" LIBRARY, spec ? "GNOMON=" : "",
             spec ? spec : "NONE=");
    return child_run(program, environment, words);
}

/* The calls of row `name`; -1: there is none. */
static inline int calls_of(const char *report, const char *name)
{
    char row[128];
    snprintf(row, sizeof row, "\n|  %s", name);
    const char *at = strstr(report, row);
    while (at && !strchr(" \t", at[strlen(row)]))
        at = strstr(at + 1, row);
    for (int i = 0; at && i < 3; i++)
        at = strchr(at + 1, '|');
    return at ? atoi(at + 1) : -1;
}

/* ---- Profiles ------------------------------------------------------------- */

/* Of the run that wrote p.gnomon; its invariants hold. */
static inline gnomon_profile *profile_of(child_result r)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(r.status, 0);
    if (!CHECK_EQ(gnomon_profile_load(&p, "p.gnomon"), GNOMON_OK) ||
        !CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n%s\n", gnomon_error_text(), r.err);
    return p;
}

static inline void append(char *text, const char *first, const char *second)
{
    size_t n = strlen(text);
    snprintf(text + n, 512 - n, "%s%s", first, second);
}

/* "outer > inner [category]"; the name of a mark begins with "!". */
static inline void path_of(const gnomon_profile *p, uint32_t id, char *text)
{
    gnomon_node_info node;
    gnomon_region_info region;
    if (gnomon_profile_node(p, id, &node) ||
        gnomon_profile_region(p, node.region, &region))
        return;
    path_of(p, node.parent, text);
    append(text, *text ? " > " : "",
           region.kind == GNOMON_KIND_MARK ? "!" : "");
    append(text, region.name, "");
    if (*region.category) {
        append(text, " [", region.category);
        append(text, "]", "");
    }
}

/* Executions on this path, on all threads; -1: there is no such path. */
static inline long long count_at(const gnomon_profile *p, const char *path)
{
    long long sum = -1;
    for (uint32_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        char text[512] = "";
        gnomon_node_info node;
        path_of(p, i, text);
        if (strcmp(text, path) == 0 &&
            gnomon_profile_node(p, i, &node) == GNOMON_OK && node.host)
            sum += (sum < 0) + (long long)node.host->count;
    }
    return sum;
}

/* Executions on all paths. */
static inline long long count_all(const gnomon_profile *p)
{
    long long sum = 0;
    for (uint32_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info node;
        if (gnomon_profile_node(p, i, &node) == GNOMON_OK && node.host)
            sum += (long long)node.host->count;
    }
    return sum;
}

#endif
