/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How much memory commands take for large files, as a multiple of the file's size.
 * links: static
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"
#include "saved_profile.h"

#include <sys/stat.h>

#include "sanitizer.h"

enum { PATHS = 70000, REGIONS = 5000, CELLS = 6 };

/* A file of 11 MB, or of 20 as JSON: paths of a thread, each of some durations. */
static void save_large(const char *form, const char *path)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .uuid = "u"});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1, .name = "fit", .end_ns = 1u << 30});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    for (uint32_t i = 0; i < REGIONS; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%u.forward", (unsigned)i);
        gnomon_add_region(b, &(gnomon_region_info){.name = name});
    }
    for (uint32_t i = 0; i < PATHS; i++) {
        gnomon_cell cells[CELLS];
        gnomon_stats s = {.struct_size = sizeof s,
                          .count = CELLS,
                          .cells = cells,
                          .cell_count = CELLS};
        for (uint32_t k = 0; k < CELLS; k++)
            cells[k] = (gnomon_cell){150 + k + i % 40, 0, 1};
        s.min_ns = gnomon_cell_low(cells[0].cell);
        s.max_ns = gnomon_cell_low(cells[CELLS - 1].cell);
        s.total_ns = s.self_ns = s.max_ns * CELLS;
        gnomon_add_node(b,
                        &(gnomon_node_info){
                            .track = 1,
                            .stage = 1,
                            .region = 1 + i % REGIONS,
                            .parent = i < REGIONS ? 0 : 1 + (i - REGIONS) / 2,
                            .first = i + 1,
                            .flags = GNOMON_NODE_PARTIAL | GNOMON_NODE_CROSSED,
                            .host = &s});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, form, path);
    gnomon_profile_free(p);
}

/* The most that a command takes, in sizes of the file. */
static double sizes_of(const char *command, const char *path)
{
    struct stat about;
    char words[80];
    CHECK_EQ(stat(path, &about), 0);
    snprintf(words, sizeof words, "%s %s", command, path);
    return program_kib(words) * 1024 / (double)about.st_size;
}

#define NEEDS_MEASURE() \
    do { \
        NEEDS_PROGRAM; \
        if (IS_SANITIZED) \
            SKIP("sanitizers take memory of their own"); \
    } while (0)

/* It was seven to nine times once. */
TEST(a_file_is_reported_within_three_times_its_size)
{
    static const char *const commands[] = {"report", "report --as advanced",
                                           "report --as threads",
                                           "report --as json", "info"};
    NEEDS_MEASURE();
    save_large("gnomon", "f.gnomon");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        double sizes = sizes_of(commands[i], "f.gnomon");
        CHECK(sizes > 0 && sizes < 3);
    }
    CHECK(sizes_of("diff f.gnomon", "f.gnomon") < 3);
}

/* It was fifteen to eighteen times once. */
TEST(json_is_reported_within_five_times_its_size)
{
    NEEDS_MEASURE();
    if (!GNOMON_WITH_JANSSON)
        SKIP("no jansson: install libjansson-dev");
    save_large("json", "f.json");
    double sizes = sizes_of("report", "f.json");
    CHECK(sizes > 0 && sizes < 5);
    sizes = sizes_of("cat", "f.json");
    CHECK(sizes > 0 && sizes < 5);
}

/* It once took something for each of the scopes around each path: 400 MB. */
TEST(memory_of_deep_paths_takes_little)
{
    enum { DEPTH = 3000 };
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    NEEDS_MEASURE();
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.uuid = "u"});
    gnomon_add_stage(b, &(gnomon_stage_info){.run = 1, .name = "fit"});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1,
                                             .kind = GNOMON_TRACK_POOL,
                                             .name = "host",
                                             .device = -1});
    for (uint32_t i = 0; i < DEPTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        gnomon_add_region(b, &(gnomon_region_info){.name = name});
        gnomon_add_node(b, &(gnomon_node_info){
                               .track = 1,
                               .stage = 1,
                               .region = 1 + i,
                               .parent = i,
                               .memory_count = 1,
                               .memory = &(gnomon_memory_stats){
                                   .struct_size = sizeof(gnomon_memory_stats),
                                   .pool = 2,
                                   .allocations = 1,
                                   .allocated_bytes = 8,
                                   .live_bytes = 8}});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, "gnomon", "d.gnomon");
    gnomon_profile_free(p);
    const double kib = program_kib("report --as memory d.gnomon");
    CHECK(kib > 0 && kib < 32 * 1024);
}
