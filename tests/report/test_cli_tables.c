/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports that are tables, live: they are what the program prints of the profile. What
 * that is: text/cli_tables.
 * links: testing */
#include "program.h"
#include "saved_profile.h"

#include "marks.h"
#include "probe_profile.h"

/* forward hands work to a thread; "load" is of two categories. All times in ns are
 * what `pass` said. */
static gnomon_link handed;

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        gnomon_token task =
            gnomon_begin(gnomon_region_get("task", NULL, GNOMON_KIND_SCOPE));
        gnomon_link_in(&handed, GNOMON_LINK_SUBMIT);
        pass(1000);
        gnomon_token inner =
            gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE));
        pass(2000);
        gnomon_end(inner);
        gnomon_end(task);
    }
    return unused;
}

static void load(const char *category, uint64_t ns)
{
    gnomon_token token =
        gnomon_begin(gnomon_region_get("load", category, GNOMON_KIND_SCOPE));
    pass(ns);
    gnomon_end(token);
}

static void run_job(void)
{
    static gnomon_region loss =
        GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "loss", NULL, "");
    static gnomon_region tokens =
        GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "tokens", NULL, "");
    pthread_t thread;
    gnomon_thread_name("main");
    gnomon_stage_begin("fit");
    gnomon_start("step");
    load("disk", 5000);
    load("net", 3000);
    gnomon_start("forward");
    handed = gnomon_link_out();
    if (CHECK_EQ(pthread_create(&thread, NULL, work, NULL), 0))
        pthread_join(thread, NULL);
    pass(4000);
    gnomon_stop("forward");
    gnomon_counter(&loss, 0.5);
    gnomon_counter(&loss, -2);
    gnomon_counter(&tokens, 16777217);
    GNOMON_MARK("checkpoint, \"a|b\"");
    pass(2000);
    gnomon_stop("step");
}

static void save_job(const char *spec)
{
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL, spec);
    run_job();
    gnomon_profile *p = profile_of("profile", 0);
    program_save(p, "gnomon", "job.gnomon");
    gnomon_profile_free(p);
}

/* What the profiler prints now, as if to a terminal of so many columns; never freed. */
static char *live(const char *profiler, uint32_t columns)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    gnomon_writer w = {.struct_size = sizeof w,
                       .write = program_write,
                       .print = program_print,
                       .columns = columns,
                       .context = to};
    CHECK_EQ(gnomon_summary(profiler, &w), GNOMON_OK);
    fclose(to);
    return child_keep(text);
}

static void check_live(const char *profiler, uint32_t columns, const char *text)
{
    CHECK_STR(live(profiler, columns), text);
}

TEST(tables_are_those_of_the_running_program)
{
    static const char *const reports[][2] = {
        {"tree", "tree"},
        {"tree", "tree(format=Md,columns=calls)"},
        {"regions", "regions"},
        {"counters", "counters"},
        {"links", "links"},
        {"advanced", "advanced(by=category,columns=self|cumulative)"}};
    char spec[128];
    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        snprintf(spec, sizeof spec, "profile,%s,file=/dev/null", reports[i][1]);
        save_job(spec);
        child_result r = shell("$G report --as '%s' job.gnomon", reports[i][1]);
        CHECK_EQ(r.status, 0);
        CHECK(*r.out);
        check_live(reports[i][0], 0, r.out);
        gnomon_attach(NULL, NULL, "");
    }
}

/* A line says so; no report loses its numbers by a wrong word. */
TEST(unknown_columns_leave_the_usual_ones)
{
    NEEDS_PROGRAM;
    save_job("profile,tree(columns=totl),file=/dev/null");
    check_live("tree", 0, shell("$G report --as tree job.gnomon").out);
    gnomon_attach(NULL, NULL, "");
}

TEST(files_of_advanced_are_of_all_groups)
{
    child_folder();
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL, "advanced(dump_stats=run,file=whole.txt)");
    run_job();
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL,
                  "advanced(dump_stats=run,by=thread,file=parts.txt)");
    run_job();
    gnomon_attach(NULL, NULL, "");
    child_result r =
        shell("cmp fit-whole.prof fit-parts.prof && head -1 parts.txt");
    CHECK_STR(r.out, "FIT Profiler Report by thread and action\n");
}

/* A table is cut to a terminal's width, and only there. */
TEST(tables_are_clipped_to_the_terminal)
{
    static const char name[] = "a name \xc3\xbc with very many letters in it";
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL,
                  "regions(columns=total|calls),tree(columns=total),"
                  "file=/dev/null");
    gnomon_start(name);
    gnomon_start("in");
    pass(5000);
    gnomon_stop("in");
    gnomon_stop(name);
    check_live(
        "regions", 0,
        "Regions\n"
        "\n"
        "Action                                    Total  Calls\n"
        "in                                     5.000 us      1\n"
        "a name \xc3\xbc with very many letters in it  5.000 us      1\n");
    check_live("regions", 37,
               "Regions\n"
               "\n"
               "Action                   Total  Calls\n"
               "in                    5.000 us      1\n"
               "a name \xc3\xbc with very \xe2\x80\xa6  5.000 us      1\n");
    check_live("regions", 30, /* the last column does not fit */
               "Regions\n"
               "\n"
               "Action               Total  \xe2\x80\xa6\n"
               "in                5.000 us\n"
               "a name \xc3\xbc with v\xe2\x80\xa6  5.000 us\n");
    check_live("regions", 8,
               "Regions\n"
               "\n"
               "Acti\xe2\x80\xa6  \xe2\x80\xa6\n"
               "in\n"
               "a na\xe2\x80\xa6\n");
    check_live("tree", 26,
               "Call Tree\n"
               "\n"
               "Path                 Total\n"
               "a name \xc3\xbc with v\xe2\x80\xa6  5.000 us\n"
               "  in              5.000 us\n");
    gnomon_attach(NULL, NULL, "");
}

TEST(names_of_groups_are_clipped_to_the_terminal)
{
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL,
                  "regions(columns=calls,by=category),file=/dev/null");
    load("a category with very many letters in it", 5000);
    check_live("regions", 30,
               "Regions by category\n"
               "\n"
               "Category a category with very\xe2\x80\xa6\n"
               "  Action  Calls\n"
               "  load        1\n");
    gnomon_attach(NULL, NULL, "");
}

TEST(short_names_are_indented_like_others)
{
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL, "tree(columns=calls),file=/dev/null");
    gnomon_start("a");
    gnomon_start("b");
    gnomon_start("c");
    gnomon_stop("c");
    gnomon_stop("b");
    gnomon_stop("a");
    check_live("tree", 0,
               "Call Tree\n"
               "\n"
               "Path   Calls\n"
               "a          1\n"
               "  b        1\n"
               "    c      1\n");
    gnomon_attach(NULL, NULL, "");
}

/* Our notes are not in output for programs. */
TEST(reports_for_programs_hold_nothing_else)
{
    NEEDS_PROGRAM;
    gnomon__test_set(1000);
    gnomon_attach(NULL, NULL,
                  "regions(format=json,file=all.json,columns=calls)");
    run_job();
    gnomon_start("open");
    gnomon_stage_end();
    gnomon_attach(NULL, NULL, "");
    child_result r = shell("cat *all.json");
    CHECK_STR(r.out,
              "{\"report\": \"regions\", \"rank\": null, \"stage\": \"fit\", "
              "\"ordinal\": 1, \"stages\": 1, \"wall_ns\": 20000, \"steps\": "
              "0, \"rows\": [\n"
              "{\"name\": \"step\", \"calls\": 1},\n"
              "{\"name\": \"forward\", \"calls\": 1},\n"
              "{\"name\": \"task\", \"calls\": 2},\n"
              "{\"name\": \"load\", \"calls\": 1},\n"
              "{\"name\": \"inner\", \"calls\": 2},\n"
              "{\"name\": \"load\", \"calls\": 1}]}\n");
}
