/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* advanced: its text, its options, its files. The tables themselves are
 * tested in tests/golden, and how Python reads the files in tests/prof.
 * links: testing */
#include "test.h"

#include <locale.h>
#include <stdlib.h>

#include "child.h"
#include "marks.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profilers/table.h"

static char *said; /* what was logged */

static void hear(const char *line)
{
    char *more = malloc(strlen(said ? said : "") + strlen(line) + 2);
    sprintf(more, "%s%s\n", said ? said : "", line);
    free(said);
    said = more;
}

typedef struct kept_text {
    char *text;
    size_t size;
} kept_text;

static int keep(const gnomon_writer *writer, const void *bytes, size_t size)
{
    kept_text *k = writer->context;
    k->text = realloc(k->text, k->size + size + 1);
    memcpy(k->text + k->size, bytes, size);
    k->size += size;
    k->text[k->size] = 0;
    return GNOMON_OK;
}

/* The text of advanced now; never freed. */
static const char *summary(void)
{
    kept_text k = {calloc(1, 1), 0};
    gnomon_writer w = {.struct_size = sizeof w, .write = keep, .context = &k};
    CHECK_EQ(gnomon_summary("advanced", &w), GNOMON_OK);
    return child_keep(k.text);
}

static void mark_some(void)
{
    gnomon_start("[Strategy]S.step");
    pass(20000000);
    gnomon_start("b/c");
    pass(20500000);
    gnomon_stop("b/c");
    pass(20000000);
    gnomon_stop("[Strategy]S.step");
}

static void begin(const char *spec)
{
    child_folder();
    gnomon__test_log = hear;
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    gnomon_stage_begin("fit");
}

static void end(void)
{
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    free(said);
    said = NULL;
}

static const char the_report[] =
    "FIT Profiler Report\n"
    "Profile stats for: [Strategy]S.step\n"
    "         2 function calls in 0.060 seconds\n"
    "\n"
    "   Ordered by: cumulative time\n"
    "\n"
    "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
    "        1    0.040    0.040    0.060    0.060 [Strategy]S.step\n"
    "        1    0.021    0.021    0.021    0.021 b/c\n"
    "\n\n\n"
    "Profile stats for: b/c\n"
    "         1 function calls in 0.021 seconds\n"
    "\n"
    "   Ordered by: cumulative time\n"
    "\n"
    "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n"
    "        1    0.021    0.021    0.021    0.021 b/c\n"
    "\n\n";

TEST(an_action_goes_on_while_others_run_inside)
{
    begin("advanced(file=out.txt)");
    mark_some();
    CHECK_STR(summary(), the_report);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK(strncmp(child_read("out.txt"), the_report, sizeof the_report - 1) ==
          0);
    gnomon_attach(NULL, NULL, "");
}

TEST(no_rows_prints_the_title_alone)
{
    begin("advanced(file=out.txt)");
    CHECK_STR(summary(), "FIT Profiler Report");
    end();
    CHECK_STR(child_read("out.txt"),
              "FIT Profiler Report\ngnomon: no rows: no marks were made\n");
}

TEST(without_a_stage)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "advanced(file=/dev/null)"), GNOMON_OK);
    gnomon_start("x");
    gnomon_stop("x");
    CHECK(strncmp(summary(), "Profiler Report\nProfile stats for: x\n", 37) ==
          0);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

TEST(the_rank_is_shown_where_there_are_several)
{
    gnomon_setup_options o = {.struct_size = sizeof o,
                              .has_rank = 1,
                              .rank = 5,
                              .local_rank = 1,
                              .world_size = 8};
    gnomon_setup(&o);
    begin("advanced(dir=out,dump_stats)");
    mark_some();
    CHECK_EQ(times_in(summary(), "Profile stats for: b/c rank: 5\n"), 1);
    end();
    CHECK(access("out/fit-advanced-5.txt", R_OK) == 0);
    CHECK(access("out/fit-advanced-5-b_c.prof", R_OK) == 0);
}

TEST(tables_are_cut)
{
    begin("advanced(line_count_restriction=1,file=/dev/null)");
    mark_some();
    CHECK_EQ(times_in(summary(),
                      "   List reduced from 2 to 1 due to restriction <1>\n"),
             1);
    CHECK_EQ(times_in(summary(), " b/c\n"), 2);
    end();
    begin("advanced(line_count_restriction=1e-1,file=/dev/null)");
    mark_some();
    CHECK_EQ(times_in(summary(), "Ordered by"), 0); /* no row is left */
    end();
    begin("advanced(line_count_restriction=0.50,file=/dev/null)");
    mark_some();
    CHECK_EQ(times_in(summary(), "restriction <0.5>\n"), 1);
    end();
    begin("advanced(line_count_restriction=7.5,file=/dev/null)");
    mark_some();
    CHECK_STR(summary(), the_report);
    end();
}

TEST(tables_are_sorted_as_asked)
{
    begin("advanced(sort=name,file=/dev/null)");
    mark_some();
    CHECK_EQ(times_in(summary(), "   Ordered by: function name\n"), 2);
    end();
    begin("advanced(sort=call,file=/dev/null)"); /* both words mean one key */
    mark_some();
    CHECK_EQ(times_in(summary(), "   Ordered by: call count\n"), 2);
    end();
}

/* One line, and the preset. */
TEST(wrong_values_are_reported)
{
    begin("advanced(line_count_restriction=half,dump_stats=maybe,sort=size,dir="
          "out)");
    CHECK_STR(said,
              "gnomon: advanced: line_count_restriction=half: say a count (10) "
              "or a fraction (0.5)\n"
              "gnomon: advanced: dump_stats=maybe: say true, false or run\n"
              "gnomon: advanced: sort=size: say cumulative, time, calls, "
              "pcalls, name, filename, line, nfl or stdname\n");
    mark_some();
    CHECK_STR(summary(), the_report);
    end();
    CHECK(access("out/fit-advanced.txt", R_OK) == 0);
    CHECK(access("out/fit-advanced-b_c.prof", R_OK) != 0);
}

TEST(the_decimal_point_is_not_the_locales)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8"))
        SKIP("no locale de_DE.UTF-8");
    begin("advanced(line_count_restriction=1.0,file=/dev/null)");
    mark_some();
    CHECK_STR(summary(), the_report);
    end();
    begin("advanced(line_count_restriction=0.5,file=/dev/null)");
    mark_some();
    CHECK_EQ(times_in(summary(), "restriction <0.5>\n"), 1);
    end();
}

/* ---- Files ----------------------------------------------------------------- */

/* It begins as marshal's dict with a tuple for a key. */
static int is_prof(const char *path)
{
    const char *bytes = child_read(path);
    return bytes && bytes[0] == '{' && bytes[1] == '(';
}

TEST(files_in_the_reports_folder)
{
    begin("advanced(dump_stats,dir=out,file=perf)");
    mark_some();
    end();
    CHECK(access("out/fit-perf.txt", R_OK) == 0);
    CHECK(is_prof("out/fit-perf-[Strategy]S.step.prof"));
    CHECK(is_prof("out/fit-perf-b_c.prof"));
    begin("advanced(dump_stats=run,dir=run)");
    mark_some();
    end();
    CHECK(is_prof("run/fit-advanced.prof"));
    CHECK(access("run/fit-advanced-b_c.prof", R_OK) != 0);
    begin("advanced(dump_stats,file=deep/er/a.b.txt)");
    mark_some();
    end();
    CHECK(is_prof("deep/er/fit-a.b-b_c.prof"));
    begin("advanced(dump_stats=run,file=here-%s.txt)");
    mark_some();
    end();
    CHECK(is_prof("here-fit.prof"));
}

TEST(each_stage_has_a_file)
{
    begin("advanced(dump_stats,file=a.txt)");
    mark_some();
    gnomon_stage_begin("test");
    mark_some();
    end();
    CHECK(is_prof("fit-a-b_c.prof"));
    CHECK(is_prof("test-a-b_c.prof"));
    CHECK_EQ(times_in(child_read("a.txt"), "Profiler Report"), 2);
}

/* Lightning's folder for logs. */
TEST(files_go_into_the_runs_folder)
{
    gnomon_setup_options o = {.struct_size = sizeof o, .dir = "logs"};
    gnomon_setup(&o);
    begin("advanced(dump_stats)");
    mark_some();
    CHECK_STR(summary(), the_report);
    CHECK(is_prof("logs/fit-advanced-b_c.prof"));
    dup2(open("/dev/null", O_WRONLY), 2); /* the report */
    end();
}

TEST(without_a_folder_one_line)
{
    begin("advanced(dump_stats,file=/dev/null)");
    mark_some();
    CHECK_STR(summary(), the_report);
    CHECK_STR(
        said,
        "gnomon: advanced: its files have no folder: give dir= or file=\n");
    *said = 0;
    CHECK_STR(summary(), the_report);
    CHECK_STR(said, ""); /* once is enough */
    end();
}

TEST(the_newest_replaces_the_others)
{
    begin("advanced(dump_stats,dir=out)");
    mark_some();
    summary();
    char *first = child_read("out/fit-advanced-b_c.prof");
    mark_some();
    summary();
    char *second = child_read("out/fit-advanced-b_c.prof");
    CHECK(first && second && memcmp(first, second, 150) != 0);
    end();
    CHECK(memcmp(child_read("out/fit-advanced-b_c.prof"), second, 150) == 0);
}

/* Both names map to a_b. */
TEST(names_that_map_to_one_file_keep_two_files)
{
    begin("advanced(dump_stats,dir=out)");
    gnomon_start("a/b");
    gnomon_stop("a/b");
    gnomon_start("a:b");
    gnomon_stop("a:b");
    summary(); /* and again at the end */
    end();
    CHECK(is_prof("out/fit-advanced-a_b.prof"));
    child_result r = child_run("/bin/ls", NULL, (const char *[]){"out", NULL});
    CHECK_EQ(times_in(r.out, ".prof"), 2);
    CHECK_EQ(times_in(r.out, "fit-advanced-a_b-"), 1);
}

/* A file that another process wrote meanwhile is kept. */
TEST(files_of_others_stay)
{
    begin("advanced(dump_stats=run,dir=out)");
    mark_some();
    child_next_tick();
    CHECK_EQ(system("mkdir -p out && echo mine > out/fit-advanced.prof"), 0);
    summary();
    CHECK_STR(child_read("out/fit-advanced.prof"), "mine\n");
    CHECK_EQ(times_in(said, "another process wrote out/fit-advanced.prof"), 1);
    char apart[64];
    snprintf(apart, sizeof apart, "out/fit-advanced-%d.prof", (int)getpid());
    CHECK(is_prof(apart));
    end();
}

TEST(a_folder_that_cannot_be_is_one_line)
{
    begin("advanced(dump_stats,dir=file/x)");
    CHECK_EQ(system("touch file"), 0);
    mark_some();
    CHECK_STR(summary(), the_report);
    CHECK_EQ(times_in(said, "cannot write file/x/fit-advanced-[Strategy]S.step"
                            ".prof: Not a directory: give file= or dir="),
             1);
    CHECK_EQ(times_in(said, "\n"), 1);
    dup2(open("/dev/null", O_WRONLY), 2); /* the report */
    end();
}

/* ---- Memory ---------------------------------------------------------------- */

/* Each allocation fails in turn: the text is complete or absent, and the
 * code is GNOMON_ENOMEM. */
static void starve(const char *spec)
{
    begin(spec);
    mark_some();
    summary();
    int failed = 1;
    uint64_t heap = health_now().heap_bytes;
    for (uint64_t n = 1; failed && n < 1000; n++) {
        kept_text k = {calloc(1, 1), 0};
        gnomon_writer w = {
            .struct_size = sizeof w, .write = keep, .context = &k};
        gnomon__test_fail_allocation(n);
        int code = gnomon_summary("advanced", &w);
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        CHECK(code == GNOMON_OK || code == GNOMON_ENOMEM ||
              code == GNOMON_EPLUGIN);
        CHECK_STR(k.text, code ? "" : the_report);
        free(k.text);
        CHECK(health_now().heap_bytes <= heap + 4096); /* a path or two */
        CHECK(n > 10 || failed);
    }
    CHECK(!failed);
    CHECK_STR(summary(), the_report);
    end();
}

TEST(no_memory)
{
    starve("advanced(dump_stats,dir=out)");
    starve("advanced(dump_stats,file=a/b.txt)");
}

/* The option leaves the tree out. */
TEST(without_a_profile_nothing_is_written)
{
    kept_text k = {calloc(1, 1), 0};
    gnomon_writer w = {.struct_size = sizeof w, .write = keep, .context = &k};
    const gnomon_profiler *const *const *p = gnomon__profilers;
    while (strcmp((**p)->name, "advanced") != 0)
        p++;
    CHECK_EQ((**p)->summary(NULL, NULL, &w), GNOMON_EINVAL);
    CHECK_STR(k.text, "");
    free(k.text);
}
