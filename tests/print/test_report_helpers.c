/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon/report.h: what profilers in C make reports of.
 * links: testing */
#include "gnomon/report.h"

#include <fcntl.h>

#include "marks.h"
#include "probe_profile.h"
#include "program.h"

static void mark(const char *name, const char *category, uint64_t ns)
{
    gnomon_token t =
        gnomon_begin(gnomon_region_get(name, category, GNOMON_KIND_SCOPE));
    pass(ns);
    gnomon_end(t);
}

static gnomon_profile *some(void)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple,file=/dev/null"), GNOMON_OK);
    for (uint64_t i = 1; i <= 100; i++)
        mark("load", "disk", i * 1000);
    mark("load", "net", 7000);
    mark("step", "", 9000);
    gnomon_profile *p = profile_of("simple", 0);
    gnomon_attach(NULL, NULL, "");
    return p;
}

TEST(rows_are_names_and_categories_with_their_histograms)
{
    gnomon_profile *p = some();
    gnomon_rows *rows;
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, GNOMON_ROWS_ALL), GNOMON_OK);
    if (CHECK_EQ(rows->count, 3)) {
        const gnomon_row *disk = gnomon_row_at(rows, 0);
        const gnomon_row *net = gnomon_row_at(rows, 1);
        CHECK_STR(disk->name, "load");
        CHECK_STR(disk->category, "disk");
        CHECK_STR(disk->group, "");
        CHECK_EQ(disk->host->count, 100);
        CHECK_EQ(disk->host->total_ns, 5050000);
        CHECK_EQ(disk->host->min_ns, 1000);
        CHECK_EQ(disk->host->max_ns, 100000);
        uint64_t p90 = gnomon_quantile_ns(disk->host, 0.9);
        CHECK(p90 > 87000 && p90 < 93000);
        CHECK(!disk->device);
        CHECK_STR(net->category, "net");
        CHECK_EQ(net->host->total_ns, 7000);
        CHECK_STR(gnomon_row_at(rows, 2)->name, "step");
    }
    gnomon_host_get()->rows_free(rows);
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, GNOMON_ROWS_BY_CATEGORY),
             GNOMON_OK);
    if (CHECK_EQ(rows->count, 3)) {
        CHECK_STR(gnomon_row_at(rows, 0)->group, "disk");
        CHECK_STR(gnomon_row_at(rows, 2)->group, "(none)");
    }
    gnomon_host_get()->rows_free(rows);
    gnomon_profile_free(p);
}

/* An open scope has self time on a path without a finished execution. What has no other
 * is no row. */
TEST(rows_have_the_self_time_of_open_paths)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple,file=/dev/null"), GNOMON_OK);
    mark("load", "", 100);
    gnomon_token outer =
        gnomon_begin(gnomon_region_get("outer", "", GNOMON_KIND_SCOPE));
    gnomon_token inner =
        gnomon_begin(gnomon_region_get("load", "", GNOMON_KIND_SCOPE));
    pass(30);
    gnomon_profile *p = profile_of("simple", 0);
    gnomon_rows *rows;
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, GNOMON_ROWS_ALL), GNOMON_OK);
    if (CHECK_EQ(rows->count, 1)) {
        CHECK_STR(gnomon_row_at(rows, 0)->name, "load");
        CHECK_EQ(gnomon_row_at(rows, 0)->host->count, 1);
        CHECK_EQ(gnomon_row_at(rows, 0)->host->total_ns, 100);
        CHECK_EQ(gnomon_row_at(rows, 0)->host->self_ns, 130);
    }
    gnomon_host_get()->rows_free(rows);
    gnomon_profile_free(p);
    gnomon_end(inner);
    gnomon_end(outer);
    gnomon_attach(NULL, NULL, "");
}

TEST(wrong_arguments_are_refused)
{
    gnomon_profile *p = some();
    gnomon_rows *rows = (gnomon_rows *)(void *)p;
    CHECK_EQ(gnomon_host_get()->rows(&rows, NULL, 0), GNOMON_EINVAL);
    CHECK(!rows);
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, -1), GNOMON_EINVAL);
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, GNOMON_ROWS_BY_FILE + 1),
             GNOMON_EINVAL);
    CHECK_EQ(gnomon_host_get()->rows(NULL, p, 0), GNOMON_EINVAL);
    gnomon_host_get()->rows_free(NULL);
    gnomon_profile_free(p);
}

/* The sum of the halves is the whole. */
TEST(sums_add_histograms)
{
    gnomon_profile *p = some();
    gnomon_rows *rows;
    static gnomon_sum sum;
    static gnomon_cell cells[GNOMON_CELLS];
    gnomon_stats all;
    CHECK_EQ(gnomon_host_get()->rows(&rows, p, GNOMON_ROWS_ALL), GNOMON_OK);
    gnomon_sum_add(&sum, NULL);
    CHECK_EQ(sum.stats.count, 0);
    for (size_t i = 0; i < rows->count; i++)
        gnomon_sum_add(&sum, gnomon_row_at(rows, i)->host);
    gnomon_sum_stats(&sum, cells, &all);
    CHECK_EQ(all.count, 102);
    CHECK_EQ(all.total_ns, 5066000);
    CHECK_EQ(all.min_ns, 1000);
    CHECK_EQ(all.max_ns, 100000);
    uint64_t count = 0;
    for (size_t i = 0; i < all.cell_count; i++)
        count += all.cells[i].count;
    CHECK_EQ(count, 102);
    CHECK_EQ(gnomon_quantile_ns(&all, 1), 100000);
    gnomon_host_get()->rows_free(rows);
    gnomon_profile_free(p);
}

/* Of an execution that is still open there is self time, but no minimum. */
TEST(statistics_add_in_any_order)
{
    const gnomon_stats ended = {.struct_size = sizeof ended,
                                .count = 2,
                                .total_ns = 30,
                                .self_ns = 25,
                                .min_ns = 10,
                                .max_ns = 20};
    const gnomon_stats open = {.struct_size = sizeof open, .self_ns = 7};
    gnomon_stats a = {.count = 0}, b = a;
    gnomon_stats_add(&a, &open);
    gnomon_stats_add(&a, &ended);
    gnomon_stats_add(&b, &ended);
    gnomon_stats_add(&b, &open);
    CHECK_EQ(a.struct_size, sizeof a);
    CHECK_EQ(a.count, 2);
    CHECK_EQ(a.total_ns, 30);
    CHECK_EQ(a.self_ns, 32);
    CHECK_EQ(a.min_ns, 10);
    CHECK_EQ(a.max_ns, 20);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
}

/* ---- Files of a profiler's own ------------------------------------------------- */

static char own_path[512];

static int own_setup(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    size_t n = gnomon_host_get()->file_name("own/deep/r%r.csv", own_path,
                                            sizeof own_path);
    CHECK_EQ(n, strlen("own/deep/r3.csv"));
    return GNOMON_OK;
}

static void own_step(void *self, const gnomon_step_event *event)
{
    FILE *f = fopen(own_path, "a");
    (void)self;
    if (CHECK(f != NULL)) {
        fprintf(f, "%llu\n", (unsigned long long)event->step);
        fclose(f);
    }
}

static const gnomon_profiler own = {.struct_size = sizeof own,
                                    .abi = GNOMON_ABI,
                                    .name = "own",
                                    .setup = own_setup,
                                    .step = own_step};

TEST(a_profiler_writes_files_while_it_runs)
{
    gnomon_setup_options setup = {
        .struct_size = sizeof setup, .has_rank = 1, .rank = 3, .world_size = 8};
    CHECK_EQ(gnomon_setup(&setup), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->add_profiler(&own), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "own"), GNOMON_OK);
    gnomon_step();
    gnomon_step();
    CHECK_STR(own_path, "own/deep/r3.csv");
    char text[16] = "";
    FILE *f = fopen(own_path, "r");
    if (CHECK(f != NULL)) {
        CHECK_EQ(fread(text, 1, sizeof text - 1, f), 4);
        fclose(f);
    }
    CHECK_STR(text, "0\n1\n");
    CHECK_EQ(remove(own_path), 0);
    CHECK_EQ(rmdir("own/deep"), 0);
    CHECK_EQ(rmdir("own"), 0);
    gnomon_attach(NULL, NULL, "");
    gnomon_teardown();
}

TEST(file_names_are_as_long_as_they_are)
{
    char few[4] = "xxx";
    CHECK_EQ(gnomon_host_get()->file_name("abcdef", few, sizeof few), 6);
    CHECK_STR(few, "abc");
    CHECK_EQ(gnomon_host_get()->file_name("abcdef", NULL, 0), 6);
    CHECK_EQ(gnomon_host_get()->file_name("", few, sizeof few), 0);
    CHECK_STR(few, "");
    CHECK_EQ(gnomon_host_get()->file_name(NULL, few, sizeof few), 0);
    CHECK_EQ(close(open("in_the_way", O_CREAT | O_WRONLY, 0644)), 0);
    CHECK_EQ(gnomon_host_get()->file_name("in_the_way/x", few, sizeof few), 0);
    CHECK(strstr(gnomon_error_text(), "no file in_the_way/x: ") != NULL);
    CHECK_EQ(remove("in_the_way"), 0);
}
