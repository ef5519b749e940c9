/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports that are tables, of a small job whose numbers are known: in each format,
 * in groups, filtered; and the same live.
 * links: testing */
#include "program.h"

#include "marks.h"

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
    gnomon_configure(spec);
    run_job();
    gnomon_profile *p = profile_of("profile", 0);
    program_save(p, GNOMON_FORM_FILE, "job.gnomon");
    gnomon_profile_free(p);
}

/* What the profiler prints now, as if to a terminal of so many columns. */
static void check_live(const char *profiler, uint32_t columns, const char *text)
{
    char *live = NULL;
    size_t size;
    FILE *to = open_memstream(&live, &size);
    gnomon_writer w = {.struct_size = sizeof w,
                       .write = program_write,
                       .print = program_print,
                       .columns = columns,
                       .context = to};
    CHECK_EQ(gnomon_summary(profiler, &w), GNOMON_OK);
    fclose(to);
    CHECK_STR(live, text);
    free(live);
}

static void check_table(const char *words, const char *text)
{
    child_result r = shell("$G report %s job.gnomon", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, text);
    CHECK_STR(r.err, "");
}

static const char tree[] =
    "FIT Call Tree\n"
    "\n"
    "Path              %     Total      Self  Calls  Threads\n"
    "step         100.00  20.00 us  2.000 us      1        1\n"
    "  forward     50.00  10.00 us  10.00 us      1        1\n"
    "    ~ task    30.00  6.000 us  2.000 us      2        1\n"
    "      inner   20.00  4.000 us  4.000 us      2        1\n"
    "  load        25.00  5.000 us  5.000 us      1        1\n"
    "  load        15.00  3.000 us  3.000 us      1        1\n";

TEST(work_stands_below_who_submitted_it)
{
    NEEDS_PROGRAM;
    save_job("profile,tree,file=/dev/null");
    check_live("tree", 0, tree);
    check_table("--as tree", tree);
    check_table("--as tree --format csv --columns path,depth,linked,total",
                "stage,name,path,depth,linked,total_ns\n"
                "fit,step,step,0,0,20000\n"
                "fit,forward,step/forward,1,0,10000\n"
                "fit,~ task,step/forward/task,2,1,6000\n"
                "fit,inner,step/forward/task/inner,3,0,4000\n"
                "fit,load,step/load,1,0,5000\n"
                "fit,load,step/load,1,0,3000\n");
    child_result r = shell("$G report --as tree --by thread --columns calls "
                           "--sort name job.gnomon | sed 's/ ([0-9]*)//'");
    CHECK_STR(r.out, "FIT Call Tree by thread\n"
                     "\n"
                     "Thread 0 main\n"
                     "  Path         Calls\n"
                     "  step             1\n"
                     "    forward        1\n"
                     "      ~ task       2\n"
                     "        inner      2\n"
                     "    load           1\n"
                     "    load           1\n");
    /* Regions that are left out are part of the time of their parents. What was
     * submitted in one was submitted by the nearest kept path. */
    check_table("--as tree --filter 'step|inner|load' --columns self,total",
                "FIT Call Tree\n"
                "\n"
                "Path           Self     Total\n"
                "step       12.00 us  20.00 us\n"
                "  load     5.000 us  5.000 us\n"
                "  ~ inner  4.000 us  4.000 us\n"
                "  load     3.000 us  3.000 us\n");
    gnomon_configure(NULL);
}

TEST(formats_are_words_in_any_letters)
{
    NEEDS_PROGRAM;
    save_job("profile,tree(format=Md,columns=calls),file=/dev/null");
    check_live("tree", 0,
               "### FIT Call Tree\n"
               "\n"
               "| Path | Calls |\n"
               "| --- | ---: |\n"
               "| step | 1 |\n"
               "| &nbsp;&nbsp;forward | 1 |\n"
               "| &nbsp;&nbsp;&nbsp;&nbsp;~ task | 2 |\n"
               "| &nbsp;&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;inner | 2 |\n"
               "| &nbsp;&nbsp;load | 1 |\n"
               "| &nbsp;&nbsp;load | 1 |\n");
    check_table("--as 'tree(format=CSV)' --columns calls --limit 1",
                "stage,name,calls\nfit,step,1\n");
    child_result r = shell("$G report --as 'regions(format=xml)' "
                           "--columns calls --limit 1 job.gnomon");
    CHECK_STR(r.err, "gnomon: regions: format=xml: say text, csv, md or "
                     "json\n");
    gnomon_configure(NULL);
}

/* A line says so; no report loses its numbers by a wrong word. */
TEST(unknown_columns_leave_the_usual_ones)
{
    NEEDS_PROGRAM;
    save_job("profile,tree(columns=totl),file=/dev/null");
    check_live("tree", 0, tree);
    gnomon_configure(NULL);
}

/* Advanced's tables have it too. */
TEST(advanced_has_what_an_action_submitted)
{
    NEEDS_PROGRAM;
    save_job("profile,advanced,file=/dev/null");
    child_result r = shell("$G report --as advanced job.gnomon | "
                           "sed -n '/for: forward/,/inner/p'");
    CHECK_STR(r.out, "Profile stats for: forward\n"
                     "         5 function calls in 0.000 seconds\n"
                     "\n"
                     "   Ordered by: cumulative time\n"
                     "\n"
                     "   ncalls  tottime  percall  cumtime  percall "
                     "filename:lineno(function)\n"
                     "        1    0.000    0.000    0.000    0.000 forward\n"
                     "        2    0.000    0.000    0.000    0.000 task\n"
                     "        2    0.000    0.000    0.000    0.000 inner\n");
    gnomon_configure(NULL);
}

TEST(advanced_for_programs)
{
    NEEDS_PROGRAM;
    save_job("profile,advanced,file=/dev/null");
    child_result r = shell("$G report --as advanced --format csv --sort calls "
                           "--limit 2 job.gnomon | grep -e stage -e ,forward,");
    CHECK_STR(r.out, "stage,action,name,file,line,calls,primitive,self_ns,"
                     "cumulative_ns\n"
                     "fit,forward,task,,,2,2,2000,6000\n"
                     "fit,forward,inner,,,2,2,4000,4000\n");
    r = shell("$G report --as 'advanced(format=json)' job.gnomon | python3 -c '"
              "import json, sys\n"
              "for r in json.load(sys.stdin)[0][\"rows\"]:\n"
              "  if r[\"action\"] == \"forward\":\n"
              "    print(r[\"name\"], r[\"file\"], r[\"cumulative_ns\"])'");
    CHECK_STR(r.out, "forward None 10000\ntask None 6000\ninner None 4000\n");
    /* As in the text, no rows and all of them. */
    r = shell("$G report --as 'advanced(line_count_restriction=0)' --format "
              "csv job.gnomon | wc -l");
    CHECK_STR(r.out, "1\n");
    r = shell("$G report --as 'advanced(line_count_restriction=-1)' --format "
              "csv job.gnomon | grep -c ,forward,");
    CHECK_STR(r.out, "4\n");
    r = shell("$G report --as advanced --columns calls job.gnomon | head -4");
    CHECK_STR(
        r.out,
        "FIT Profiler Report by action\n\nAction step\n  Function  Calls\n");
    gnomon_configure(NULL);
}

/* Rows of several categories are apart; what a thread was given to do is in the group
 * of who gave it. */
TEST(advanced_has_groups)
{
    NEEDS_PROGRAM;
    save_job("profile,advanced(by=category,columns=self|cumulative),"
             "file=/dev/null");
    check_live("advanced", 0,
               "FIT Profiler Report by category and action\n"
               "\n"
               "Category disk, action step\n"
               "  Function      Self  Cumulative\n"
               "  load      5.000 us    5.000 us\n"
               "\n"
               "Category net, action step\n"
               "  Function      Self  Cumulative\n"
               "  load      3.000 us    3.000 us\n"
               "\n"
               "Category (none), action step\n"
               "  Function      Self  Cumulative\n"
               "  step      2.000 us    20.00 us\n"
               "  forward   10.00 us    10.00 us\n"
               "  task      2.000 us    6.000 us\n"
               "  inner     4.000 us    4.000 us\n"
               "\n"
               "Category (none), action forward\n"
               "  Function      Self  Cumulative\n"
               "  forward   10.00 us    10.00 us\n"
               "  task      2.000 us    6.000 us\n"
               "  inner     4.000 us    4.000 us\n");
    child_result r = shell("$G report --as advanced --by thread --format csv "
                           "--columns calls job.gnomon | sed 's/ ([0-9]*)//'");
    CHECK_STR(r.out, "stage,thread,action,name,calls\n"
                     "fit,0 main,step,step,1\n"
                     "fit,0 main,step,forward,1\n"
                     "fit,0 main,step,load,2\n"
                     "fit,0 main,step,task,2\n"
                     "fit,0 main,step,inner,2\n"
                     "fit,0 main,forward,forward,1\n"
                     "fit,0 main,forward,task,2\n"
                     "fit,0 main,forward,inner,2\n");
    /* Its files are of all groups. */
    gnomon__test_set(1000);
    gnomon_configure("advanced(dump_stats=run,file=whole.txt)");
    run_job();
    gnomon__test_set(1000);
    gnomon_configure("advanced(dump_stats=run,by=thread,file=parts.txt)");
    run_job();
    gnomon_configure(NULL);
    r = shell("cmp fit-whole.prof fit-parts.prof && head -1 parts.txt");
    CHECK_STR(r.out, "FIT Profiler Report by thread and action\n");
}

TEST(regions_of_one_name_show_their_categories)
{
    NEEDS_PROGRAM;
    save_job("profile,regions,file=/dev/null");
    static const char all[] =
        "FIT Regions\n"
        "\n"
        "Action   Category  Calls     Total       %      Self      Mean       "
        "p99\n"
        "step                   1  20.00 us  100.00  2.000 us  20.00 us  "
        "20.00 us\n"
        "forward                1  10.00 us   50.00  10.00 us  10.00 us  "
        "10.00 us\n"
        "task                   2  6.000 us   30.00  2.000 us  3.000 us  "
        "3.000 us\n"
        "load     disk          1  5.000 us   25.00  5.000 us  5.000 us  "
        "5.000 us\n"
        "inner                  2  4.000 us   20.00  4.000 us  2.000 us  "
        "2.000 us\n"
        "load     net           1  3.000 us   15.00  3.000 us  3.000 us  "
        "3.000 us\n";
    check_live("regions", 0, all);
    check_table("--as regions", all);
    check_table("--as regions --filter '@disk|ta*' --columns calls",
                "FIT Regions\n"
                "\n"
                "Action  Calls\n"
                "task        2\n"
                "load        1\n");
    check_table("--as regions --exclude 'load|inner' --columns calls,self "
                "--sort self --limit 2",
                "FIT Regions\n"
                "\n"
                "Action   Calls      Self\n"
                "forward      1  10.00 us\n"
                "step         1  10.00 us\n");
    check_table("--by category --columns total --format md",
                "### FIT Regions by category\n"
                "\n"
                "#### Category disk\n"
                "\n"
                "| Action | Total |\n"
                "| --- | ---: |\n"
                "| load | 5.000 us |\n"
                "\n"
                "#### Category net\n"
                "\n"
                "| Action | Total |\n"
                "| --- | ---: |\n"
                "| load | 3.000 us |\n"
                "\n"
                "#### Category (none)\n"
                "\n"
                "| Action | Total |\n"
                "| --- | ---: |\n"
                "| step | 20.00 us |\n"
                "| forward | 10.00 us |\n"
                "| task | 6.000 us |\n"
                "| inner | 4.000 us |\n");
    /* What the groups say is no column besides. */
    check_table("--by category --columns category,total --format csv "
                "--filter load",
                "stage,category,name,total_ns\n"
                "fit,disk,load,5000\n"
                "fit,net,load,3000\n");
    gnomon_configure(NULL);
}

TEST(counters_and_marks_have_a_table)
{
    NEEDS_PROGRAM;
    save_job("profile,counters,file=/dev/null");
    static const char text[] =
        "FIT Counters and Marks\n"
        "\n"
        "Name               Kind     Count         Last          Min         "
        "Mean          Max\n"
        "checkpoint, \"a|b\"  mark         1\n"
        "loss               counter      2           -2           -2        "
        "-0.75          0.5\n"
        "tokens             counter      1  1.67772e+07  1.67772e+07  "
        "1.67772e+07  1.67772e+07\n";
    check_live("counters", 0, text);
    check_table("--as counters", text);
    check_table("--as counters --format csv",
                "stage,name,category,kind,count,last,min,mean,max,sum,nans\n"
                "fit,\"checkpoint, \"\"a|b\"\"\",,mark,1,,,,,,\n"
                "fit,loss,,counter,2,-2,-2,-0.75,0.5,-1.5,0\n"
                "fit,tokens,,counter,1,16777217,16777217,16777217,16777217,"
                "16777217,0\n");
    check_table("--as counters --format md --columns count",
                "### FIT Counters and Marks\n"
                "\n"
                "| Name | Count |\n"
                "| --- | ---: |\n"
                "| checkpoint, \"a\\|b\" | 1 |\n"
                "| loss | 2 |\n"
                "| tokens | 1 |\n");
    gnomon_configure(NULL);
}

/* A filter removes regions from the slow steps, not the steps. */
TEST(steps_are_filtered_too)
{
    NEEDS_PROGRAM;
    gnomon__test_set(1000);
    gnomon_configure("steps,file=/dev/null");
    gnomon_stage_begin("fit");
    for (int i = 0; i < 20; i++) {
        load("disk", i == 10 ? 90000 : 1000);
        load("net", 2000);
        gnomon_step();
    }
    gnomon_profile *p = profile_of("steps", 0);
    program_save(p, GNOMON_FORM_FILE, "job.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G report --as steps --limit 1 job.gnomon");
    CHECK_EQ(times_in(r.out, "step 10 "), 1);
    CHECK_EQ(times_in(r.out, "load 90 us"), 1);
    r = shell("$G report --as steps --limit 1 --filter @net job.gnomon");
    CHECK_EQ(times_in(r.out, "step 10 "), 1);
    CHECK_EQ(times_in(r.out, "load "), 0);
    r = shell("$G report --as steps --limit 2 --format csv job.gnomon");
    CHECK_STR(r.out,
              "stage,step,ordinal,rank,time_ns,median_ns,p99_ns,max_ns,steps,"
              "why,why_time_ns,why_usual_ns,why2,why2_time_ns,why2_usual_ns,"
              "why3,why3_time_ns,why3_usual_ns\n"
              "fit,10,1,,92000,3037,91622,92000,20,load,90000,1012,,,,,,\n"
              "fit,0,1,,3000,3037,91622,92000,20,,,,,,,,,\n");
    r = shell("$G report --as steps --columns time,why --sort time --limit 1 "
              "job.gnomon");
    CHECK_STR(r.out, "FIT Steps\n\nStep      Time  Why\n"
                     "  10  92.00 us  load\n");
    gnomon_configure(NULL);
}

TEST(links_have_a_table)
{
    NEEDS_PROGRAM;
    save_job("profile,links,file=/dev/null");
    static const char text[] =
        "FIT Links\n"
        "\n"
        "From          To    Kind    Links  Calls of it  Total of it\n"
        "step/forward  task  submit      2            2     6.000 us\n";
    check_live("links", 0, text);
    check_table("--as links", text);
    gnomon_configure(NULL);
}

/* Names are cut to a terminal's width, and only there. */
TEST(names_are_clipped_to_the_terminal)
{
    static const char name[] = "a name \xc3\xbc with very many letters in it";
    gnomon__test_set(1000);
    gnomon_configure("regions(columns=total|calls),tree(columns=total),"
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
    check_live("regions", 5,
               "Regions\n"
               "\n"
               "Action               Total  Calls\n"
               "in                5.000 us      1\n"
               "a name \xc3\xbc with v\xe2\x80\xa6  5.000 us      1\n");
    check_live("tree", 26,
               "Call Tree\n"
               "\n"
               "Path                 Total\n"
               "a name \xc3\xbc with v\xe2\x80\xa6  5.000 us\n"
               "  in              5.000 us\n");
    gnomon_configure(NULL);
}

TEST(short_names_are_indented_like_others)
{
    gnomon__test_set(1000);
    gnomon_configure("tree(columns=calls),file=/dev/null");
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
    gnomon_configure(NULL);
}

/* Our notes are not in output for programs. */
TEST(reports_for_programs_hold_nothing_else)
{
    NEEDS_PROGRAM;
    gnomon__test_set(1000);
    gnomon_configure("regions(format=json,file=all.json,columns=calls)");
    run_job();
    gnomon_start("open");
    gnomon_stage_end();
    gnomon_configure(NULL);
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
