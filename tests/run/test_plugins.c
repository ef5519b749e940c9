/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plugins, in programs of each kind, and in this process with the test's clock.
 *
 * links: testing */
#include "test.h"

#include "child.h"
#include "marks.h"
#include "probe_profile.h"

#define ONE "do=one"
#define HOSTS(i) (i ? CHILD_PROGRAM("host_static") : CHILD_PROGRAM("host"))
#define WORDS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

/* What `command` prints; never freed. */
static char *output_of(const char *command)
{
    static char text[65536];
    FILE *f = popen(command, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    return f && pclose(f) == 0 ? text : NULL;
}

/* Numbers become N, so that times do not matter. */
static char *without_numbers(const char *text)
{
    char *out = child_keep(malloc(strlen(text) + 1)), *to = out;
    for (; *text; text++)
        if (!isdigit((unsigned char)*text) && !strchr("-.e \t", *text))
            *to++ = *text;
    *to = 0;
    return out;
}

TEST(one_file_fits_every_host)
{
    for (int i = 0; i < 2; i++) {
        child_result built_in =
            child_run(HOSTS(i), "GNOMON=simple", WORDS(ONE));
        child_result by_path =
            child_run(HOSTS(i), "GNOMON=" CHILD_PLUGIN("simple"), WORDS(ONE));
        child_result by_call = child_run(
            HOSTS(i), NULL, WORDS("configure=" CHILD_PLUGIN("simple"), ONE));
        CHECK_TABLE(by_path.err, "Profiler Report", "one");
        CHECK_STR(without_numbers(by_path.err), without_numbers(built_in.err));
        CHECK_STR(without_numbers(by_call.err), without_numbers(built_in.err));
        child_result logged =
            child_run(HOSTS(i), "GNOMON=" CHILD_PLUGIN("log"), WORDS(ONE));
        CHECK_EQ(times_in(logged.err, "log: 0 > one\n"), 1);
        CHECK_EQ(times_in(logged.err, "log: 0 < one "), 1);
    }
}

/* The simple of the plugin and the built-in one, both attached: equal bytes. */
TEST(simple_as_a_plugin_prints_the_same_bytes)
{
    child_folder();
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(
                 NULL, NULL,
                 "simple(file=in.txt)," CHILD_PLUGIN(
                     "simple") "(file=out.txt),simple(file=in2.txt,extended=no)"
                               "," CHILD_PLUGIN(
                                   "simple") "(file=out2.txt,extended=no)"),
             GNOMON_OK);
    gnomon_stage_begin("fit");
    for (unsigned i = 0; i < 50; i++) {
        gnomon_start(i % 3 ? "training_step" : "a\tname with \xc3\xa9");
        gnomon__test_pass(12345u * i);
        gnomon_start("inner");
        gnomon__test_pass(777);
        gnomon_stop(i % 3 ? "training_step" : "a\tname with \xc3\xa9");
        gnomon_stop("inner");
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    const char *table = child_read("in.txt"), *flat = child_read("in2.txt");
    CHECK_TABLE(table, "FIT Profiler Report", "training_step", "inner",
                "a\tname with \xc3\xa9");
    CHECK_STR(child_read("out.txt"), table);
    CHECK_TABLE(flat, "FIT Profiler Report", "training_step", "inner",
                "a\tname with \xc3\xa9");
    CHECK_STR(child_read("out2.txt"), flat);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* And its files. */
TEST(advanced_as_a_plugin_prints_the_same_bytes)
{
    static const char *const files[] = {
        "fit-report.txt", "fit-report-outer_.prof", "fit-report-inner.prof"};
    child_folder();
    gnomon__test_set(1000);
    CHECK_EQ(
        gnomon_attach(NULL, NULL,
                      "advanced(dir=in,dump_stats,file=report),\"" CHILD_PLUGIN(
                          "advanced") "\"(dir=out,dump_stats,file=report)"),
        GNOMON_OK);
    gnomon_stage_begin("fit");
    for (unsigned i = 0; i < 50; i++) {
        gnomon_start("outer/");
        gnomon__test_pass(12345u * i);
        gnomon_start("inner");
        gnomon__test_pass(777777);
        gnomon_stop(i % 3 ? "outer/" : "inner");
        GNOMON_SCOPE("work");
        gnomon__test_pass(1000000);
        gnomon_stop(i % 3 ? "inner" : "outer/");
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char command[256];
        snprintf(command, sizeof command, "test -s in/%s && cmp in/%s out/%s",
                 files[i], files[i], files[i]);
        CHECK_EQ(system(command), 0);
    }
    CHECK_EQ(times_in(child_read("in/fit-report.txt"), "Profile stats for: "),
             2);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

TEST(profile_as_a_plugin_keeps_one)
{
    gnomon_profile *p = NULL;
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "\"" CHILD_PLUGIN("profile") "\"(file=a.gnomon)"),
             GNOMON_OK);
    gnomon_start("one");
    gnomon_stop("one");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_profile_load(&p, "a.gnomon"), GNOMON_OK);
    CHECK_EQ(calls_of(p, "one"), 1);
    gnomon_profile_free(p);
}

/* The host provides what it needs of CUDA, or reports that it has none. */
TEST(cuda_and_nvtx_as_plugins)
{
    child_result r =
        child_run(HOSTS(0),
                  "GNOMON_CUDA_LIBRARY=/nonexistent\nGNOMON=" CHILD_PLUGIN(
                      "cuda") "," CHILD_PLUGIN("nvtx"),
                  WORDS(ONE));
    CHECK_EQ(times_in(r.err, "gnomon: no CUDA driver: "), 1);
    CHECK_EQ(times_in(r.err, "gnomon: nvtx: "), 1);
    CHECK_EQ(times_in(r.err, "Device Report"), 1);
}

TEST(tables_of_other_sizes)
{
    for (int i = 0; i < 2; i++) {
        child_result r =
            child_run(HOSTS(i),
                      "GNOMON=" CHILD_PLUGIN("short_table") "," CHILD_PLUGIN(
                          "long_table"),
                      WORDS(ONE, "stage=fit", ONE, "end"));
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "short > one\n"), 2);
        CHECK_EQ(times_in(r.err, "long < one\n"), 2);
    }
}

TEST(a_plugin_calls_what_the_host_table_has)
{
    for (int i = 0; i < 2; i++) {
        child_result r =
            child_run(HOSTS(i), "GNOMON=" CHILD_PLUGIN("host_user"),
                      WORDS(ONE, ONE, "configure=", "exit"));
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "gnomon: a line of the plugin\n"), 1);
        CHECK_EQ(times_in(r.err, "2 starts, 4 marks refused, of the plugin, "
                                 "looked, clock runs\n"),
                 1);
    }
}

/* One message about it, which contains `line`, while simple runs. */
static void fails_with(const char *fault, const char *plugin, const char *line)
{
    for (int i = 0; i < 2; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment, "%sGNOMON=%s,simple", fault,
                 plugin);
        child_result r = child_run(HOSTS(i), environment, WORDS(ONE));
        CHECK_EQ(r.status, 0);
        if (!CHECK_EQ(times_in(r.err, line), 1))
            fprintf(stderr, "    %s: %s\n", plugin, r.err);
        CHECK_EQ(times_in(r.err, "gnomon: "),
                 1 + times_in(r.err, "gnomon: about"));
        CHECK_TABLE(strstr(r.err, "Profiler"), "Profiler Report", "one");
    }
}

#define AT "gnomon: $GNOMON: "

#define UNWANTED \
    " does not want to run with gnomon 0.1.0, generation 2: compile it " \
    "again, " \
    "if it was made for another one\n"

/* It was compiled with the headers of the generation before. */
TEST(an_older_plugin_is_refused_by_a_line)
{
    fails_with("", CHILD_PLUGIN("older"),
               AT "plugin " CHILD_PLUGIN("older") UNWANTED);
}

TEST(a_plugin_that_fails_is_one_line)
{
    static const char faulty[] = CHILD_PLUGIN("faulty");
    fails_with("FAULT=abi\n", faulty,
               AT "plugin " CHILD_PLUGIN(
                   "faulty") ": the profiler was made for generation 1 of "
                             "gnomon, this is 2: "
                             "compile it again\n");
    fails_with("FAULT=null\n", faulty,
               AT "plugin " CHILD_PLUGIN("faulty") UNWANTED);
    fails_with("FAULT=size\n", faulty,
               ": the profiler's struct_size is 8: set it to "
               "sizeof(gnomon_profiler)\n");
    fails_with("FAULT=name\n", faulty, ": the profiler has no name\n");
    fails_with("", CHILD_PLUGIN("no_entry"),
               AT "plugin " CHILD_PLUGIN(
                   "no_entry") " does not export gnomon_plugin_v1\n");
    fails_with("", CHILD_PLUGIN("no_entry") ",limit=9",
               AT "plugin " CHILD_PLUGIN(
                   "no_entry") " does not export gnomon_plugin_v1\n");
    fails_with("", CHILD_PLUGIN("faulty") "(create=-2)",
               AT "faulty: create failed (GNOMON_ENOMEM)\n");
    fails_with("", CHILD_PLUGIN("faulty") "(setup=-8)",
               "gnomon: faulty: setup failed (GNOMON_ESTATE); it goes on\n");
    fails_with("", CHILD_PLUGIN("faulty") "(summary=-6)",
               "gnomon: faulty: summary failed (GNOMON_EIO)\n");
    fails_with("", CHILD_PLUGIN("faulty") ",create=-2", /* free */
               AT "faulty: create failed (GNOMON_ENOMEM)\n");
    fails_with("", CHILD_PLUGIN("faulty") ",smmary=1",
               AT "unknown option 'smmary': did you mean 'summary'?");
    fails_with("", CHILD_PLUGIN("faulty") "(smmary=1)",
               AT "faulty: unknown option 'smmary': did you mean 'summary'?");
}

/* Then no profiler has options, but the message must be another one. */
TEST(a_plugin_that_is_lost_is_the_only_line)
{
    child_result r = child_run(
        HOSTS(0), "GNOMON=" CHILD_PLUGIN("no_entry") ",file=x", WORDS(ONE));
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, AT "plugin " CHILD_PLUGIN(
                         "no_entry") " does not export gnomon_plugin_v1\n");
}

/* One thread fits, as the line about mem= says. */
TEST(the_least_memory_is_enough_for_a_thread)
{
    child_result r =
        child_run(HOSTS(0), "GNOMON=simple,log,mem=32KiB", WORDS(ONE));
    CHECK_EQ(r.status, 0);
    CHECK_TABLE(strstr(r.err, "Profiler"), "Profiler Report", "one");
    CHECK_EQ(times_in(r.err, "lost"), 0);
}

TEST(a_summary_that_fails_prints_nothing)
{
    static const char *const said[] = {"(summary=0)", "(summary=-6)"};
    for (int i = 0; i < 4; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment, "GNOMON=%s%s",
                 CHILD_PLUGIN("faulty"), said[i & 1]);
        child_result r = child_run(HOSTS(i >> 1), environment, WORDS(ONE));
        CHECK_EQ(r.status, 0);
        CHECK_EQ(times_in(r.err, "faulty's summary\n"), !(i & 1));
    }
}

TEST(a_plugin_that_closes_itself_stays)
{
    for (int i = 0; i < 2; i++) {
        child_result r = child_run(
            HOSTS(i), "GNOMON=" CHILD_PLUGIN("closing") ",simple", WORDS(ONE));
        CHECK_EQ(r.status, 0);
        CHECK_TABLE(strstr(r.err, "Profiler"), "Profiler Report", "one");
    }
}

TEST(a_file_that_is_no_plugin_is_one_line)
{
    child_folder();
    FILE *f = fopen("text.so", "w");
    if (CHECK(f != NULL)) {
        fprintf(f, "%1000s\n", "not an ELF file, though named like one");
        fclose(f);
    }
    CHECK_EQ(mkdir("folder.so", 0755), 0);
    fails_with("", "./missing.so",
               AT "cannot load plugin ./missing.so: cannot "
                  "open shared object file: No such file");
    fails_with("", "./text.so",
               AT "cannot load plugin ./text.so: invalid ELF header\n");
    fails_with("", "./folder.so",
               AT "cannot load plugin ./folder.so: cannot "
                  "read file data: Is a directory\n");
    fails_with("", "missing.so",
               AT "cannot load plugin missing.so: cannot open shared object "
                  "file: No such file or directory\n");
    fails_with("", "text.so",
               AT "cannot load plugin text.so: cannot open shared object "
                  "file: No such file or directory. For the file in this "
                  "folder write ./text.so\n");
}

/* By its name alone: beside the program, where gnomon is inside of it, or else where the
 * loader looks. */
TEST(a_named_library_that_does_not_load_tells_its_own_reason)
{
    static const char *const files[] = {
        "libgnomon-malloc.so: cannot open shared object file: No such file or "
        "directory\n",
        "libgnomon-malloc.so: file too short\n"};
    child_folder();
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(system(i ? "echo no library >libgnomon-malloc.so"
                          : "cp '" CHILD_PROGRAM("host_static") "' host"),
                 0);
        CHECK_EQ(system("./host configure=malloc do=one >out 2>err"), 0);
        CHECK_EQ(times_in(child_read("out"), files[i]), 1);
        CHECK_EQ(times_in(child_read("err"), files[i]), 1);
        CHECK_EQ(times_in(child_read("err"), "\n"), 1);
    }
}

TEST(plugins_have_no_undefined_gnomon_symbol)
{
    const char *names =
        output_of("cd '" TEST_BINARY_DIR "/plugins' && for f in *.so; do nm -D "
                  "--undefined-only $f | sed \"s/^/$f /\"; done");
    if (!names)
        SKIP("no nm");
    CHECK(times_in(names, "simple.so") > 0); /* malloc and the like */
    CHECK_EQ(times_in(names, "gnomon"), 0);
}

/* So that the test of static hosts is one. */
TEST(the_static_host_exports_nothing)
{
    const char *names = output_of("nm -D '" CHILD_PROGRAM("host_static") "'");
    if (!names)
        SKIP("no nm");
    CHECK(times_in(names, "printf") > 0);
    CHECK_EQ(times_in(names, "gnomon"), 0);
    names = output_of("nm -D '" CHILD_PROGRAM("host") "' | grep gnomon");
    CHECK(names && times_in(names, " U gnomon_setup") > 0);
}
