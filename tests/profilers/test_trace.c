/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiler trace: which files it writes, when, and what it says of them.
 *
 * links: static
 * needs: cli */
#include "program.h"
#include "taping.h"

#define STEP "do=a", "do=b", "step"

/* How many executions of a name a file has; -1: there is no file. */
static int executions(const char *path, const char *name)
{
    char row[96];
    snprintf(row, sizeof row, "\"cat\":\"user_annotation\",\"name\":\"%s\"",
             name);
    return times_in(child_read(path), row);
}

static void has_line(child_result r, const char *line)
{
    if (!CHECK(strstr(r.err, line) != NULL))
        fprintf(stderr, "    no %s    in %s\n", line, r.err);
}

static int is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

#define CYCLES "schedule=wait:1/warmup:1/active:2/repeat:2"

/* ---- Of the run -------------------------------------------------------------------- */

TEST(a_run_leaves_one_file_and_its_path)
{
    child_result r = host("GNOMON=trace", STEP, STEP, "stage=fit", "do=a");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "gnomon: trace: 5 events in ./trace.pt.trace.json\n");
    CHECK_EQ(executions("trace.pt.trace.json", "a"), 3);
    CHECK_EQ(executions("trace.pt.trace.json", "b"), 2);
    CHECK_EQ(executions("trace.pt.trace.json", "ProfilerStep#1"), 1);
}

TEST(without_marks_there_is_no_file)
{
    child_result r = host("GNOMON=trace", "say=on");
    CHECK_STR(r.err, "");
    CHECK(!is_there("trace.pt.trace.json"));
}

TEST(names_are_those_of_reports)
{
    child_result r = host("GNOMON=trace,dir=out\nRANK=3\nWORLD_SIZE=8", STEP);
    has_line(r, "gnomon: trace: 2 events in out/trace-3.pt.trace.json\n");
    CHECK_EQ(executions("out/trace-3.pt.trace.json", "a"), 1);
    CHECK_EQ(
        times_in(child_read("out/trace-3.pt.trace.json"), "\n  \"rank\": 3,\n"),
        1);
}

TEST(beside_it_a_profile_has_the_same_events)
{
    NEEDS_PROGRAM;
    host("GNOMON=trace,file=run.gnomon", STEP, STEP);
    child_result r = shell("$G export run.gnomon --to chrome -o again.json");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(executions("again.json", "a"), 2);
    CHECK_EQ(executions("run.pt.trace.json", "a"), 2);
}

TEST(on_trace_ready_may_be_none)
{
    child_result r = host("GNOMON=trace(on_trace_ready=none)", STEP);
    CHECK_STR(r.err, "");
    CHECK(!is_there("trace.pt.trace.json"));
    r = host("GNOMON=trace(on_trace_ready=svg)", STEP, "say=went on");
    has_line(r, "gnomon: trace: on_trace_ready=svg: say chrome or none\n");
    has_line(r, "gnomon: trace: 2 events in ./trace.pt.trace.json\n");
    CHECK_EQ(times_in(r.err, "gnomon:"), 2);
    CHECK_STR(r.out, "went on\n");
    CHECK(is_there("trace.pt.trace.json"));
}

/* By libgnomon-trace.so, which the loader finds; its files are those of the program. */
TEST(a_files_name_says_its_format)
{
    static const char *const names[][3] = {
        {"x.pftrace", "perfetto", "cmp - x.pftrace"},
        {"x.perfetto-trace", "perfetto", "cmp - x.perfetto-trace"},
        {"x.json.gz", "chrome",
         "gzip -dc | grep -v '^  []\"]' > text; "
         "gzip -dc x.json.gz | grep -v '^  []\"]' | cmp - text"},
        {"x.pftrace.gz", "perfetto", "cmp - x.pftrace.gz"}};
    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char environment[256], line[96];
        snprintf(environment, sizeof environment,
                 "GNOMON=trace(file=%s),trace(on_trace_ready=none,"
                 "file=run.gnomon)\nLD_LIBRARY_PATH=" TEST_BINARY_DIR "/..",
                 names[i][0]);
        child_result r = host(environment, STEP, STEP);
        snprintf(line, sizeof line, "gnomon: trace: 4 events in %s\n",
                 names[i][0]);
        if (strstr(names[i][0], ".gz") && strstr(r.err, "export run.gnomon"))
            SKIP("no zlib: install zlib1g-dev");
        CHECK_STR(r.err, line);
        r = shell("mkdir -p a; $G export run.gnomon --to %s -o a/%s && "
                  "cat a/%s | %s",
                  names[i][1], names[i][0], names[i][0], names[i][2]);
        CHECK_STR(r.err, "");
        CHECK_STR(r.out, "");
    }
    host("GNOMON=trace(file=x.json.gz," CYCLES ")\n"
         "LD_LIBRARY_PATH=" TEST_BINARY_DIR "/..",
         STEP, STEP, STEP, STEP);
    CHECK(is_there("x-cycle1.json.gz"));
}

/* A report that is thrown away, or goes to a terminal, takes no other file along. */
TEST(a_trace_is_never_beside_a_stream)
{
    child_result r = host("GNOMON=trace,simple,file=/dev/null", STEP);
    has_line(r, "gnomon: trace: 2 events in ./trace.pt.trace.json\n");
    CHECK(is_there("trace.pt.trace.json"));
    r = host("GNOMON=trace,simple,file=/dev/null,dir=out", STEP);
    has_line(r, "gnomon: trace: 2 events in out/trace.pt.trace.json\n");
    CHECK(is_there("out/trace.pt.trace.json"));
    CHECK(!is_there("out/simple.txt"));
    r = host("GNOMON=simple,file=/dev/stdout,dir=out", STEP);
    CHECK_EQ(times_in(r.out, "Profiler Report"), 1);
}

/* ---- Of cycles ---------------------------------------------------------------------- */

TEST(each_cycle_is_a_file)
{
    child_result r = host("GNOMON=trace(" CYCLES "),simple,dir=.", STEP, STEP,
                          STEP, STEP, STEP, STEP, STEP, STEP, STEP, STEP);
    has_line(r, "gnomon: trace: 4 events in ./trace-cycle1.pt.trace.json\n");
    has_line(r, "gnomon: trace: 4 events in ./trace-cycle2.pt.trace.json\n");
    CHECK_EQ(times_in(r.err, "trace:"), 2);
    CHECK_EQ(executions("trace-cycle1.pt.trace.json", "ProfilerStep#2"), 1);
    CHECK_EQ(executions("trace-cycle1.pt.trace.json", "ProfilerStep#3"), 1);
    CHECK_EQ(
        times_in(child_read("trace-cycle1.pt.trace.json"), "ProfilerStep#"), 2);
    CHECK_EQ(executions("trace-cycle2.pt.trace.json", "ProfilerStep#6"), 1);
    CHECK_EQ(executions("trace-cycle2.pt.trace.json", "a"), 2);
    /* Beside it, sums are of every step. */
    CHECK(strstr(child_read("simple.txt"), "|  10 ") != NULL);
}

/* What torch's profiler drops: a cycle that the run's end cuts short. */
TEST(a_cycle_that_is_cut_short_is_written)
{
    child_result r = host("GNOMON=trace(" CYCLES ")", STEP, STEP, STEP, "do=a");
    has_line(r, "gnomon: trace: 3 events in ./trace-cycle1.pt.trace.json\n");
    CHECK_EQ(executions("trace-cycle1.pt.trace.json", "a"), 2);
}

TEST(a_schedule_that_never_recorded_is_told)
{
    child_result r = host("GNOMON=trace(schedule=wait:5/active:1)", STEP, STEP);
    has_line(r, "trace: its schedule never recorded: its first active step is "
                "5, and no stage had more than 2 steps\n");
    CHECK_EQ(times_in(r.err, "\n"), 1);
    r = host("GNOMON=trace(schedule=wait:5/active:1)", "do=a");
    has_line(r, "trace: its schedule never recorded: its first active step is "
                "5, and no step was made: gnomon_step() makes one, or step= in "
                "$GNOMON\n");
}

TEST(active_steps_without_marks_are_told)
{
    child_result r = host("GNOMON=trace(schedule=wait:2/active:1)", STEP, STEP);
    CHECK_STR(r.err, "gnomon: trace: nothing was marked in the active steps of "
                     "its schedule\n");
    r = host("GNOMON=trace(schedule=wait:2/active:1)", STEP, STEP, STEP);
    CHECK_STR(r.err,
              "gnomon: trace: 2 events in ./trace-cycle1.pt.trace.json\n");
}

/* ---- Of several runs ------------------------------------------------------------------ */

#define BEFORE(name) \
    "gnomon: trace: this process wrote ./" name \
    ".pt.trace.json before: run2 is in the names of its files now\n"

TEST(a_second_run_leaves_the_first_s_traces)
{
    child_result r = host("GNOMON=trace", "setup", STEP, "teardown", "setup",
                          "do=c", "teardown", "setup", "do=d", "teardown");
    has_line(r, BEFORE("trace"));
    has_line(r, "gnomon: trace: 1 event in ./trace-run3.pt.trace.json\n");
    CHECK_EQ(times_in(r.err, "gnomon:"), 4);
    CHECK_EQ(executions("trace.pt.trace.json", "a"), 1);
    CHECK_EQ(executions("trace-run2.pt.trace.json", "c"), 1);
    CHECK_EQ(executions("trace-run3.pt.trace.json", "d"), 1);
}

TEST(later_specs_leave_the_traces_of_earlier_ones)
{
    child_result r =
        host("GNOMON=", "configure=trace(schedule=wait:1/active:1)", "do=a",
             "step", "do=b", "step", "do=a", "step", "do=b", "step",
             "configure=trace(schedule=wait:1/active:1)", "do=c", "step",
             "do=d", "step", "do=c", "step", "do=d", "step", "configure=trace",
             "do=e", "configure=trace,advanced(dump_stats,file=of.txt)", "do=f",
             "configure=advanced(dump_stats,file=of.txt)", "do=f", "do=f");
    has_line(r, BEFORE("trace-cycle1"));
    CHECK_EQ(executions("trace-cycle1.pt.trace.json", "b"), 1);
    CHECK_EQ(executions("trace-cycle2.pt.trace.json", "b"), 1);
    CHECK_EQ(executions("trace-run2-cycle1.pt.trace.json", "d"), 1);
    CHECK_EQ(executions("trace-run2-cycle2.pt.trace.json", "d"), 1);
    CHECK_EQ(executions("trace.pt.trace.json", "e"), 1);
    CHECK_EQ(executions("trace-run2.pt.trace.json", "f"), 1);
    CHECK_EQ(times_in(r.err, "before"), 1);
}

TEST(two_traces_of_one_run_are_two_files)
{
    host("GNOMON=trace(filter=a),trace", STEP);
    CHECK_EQ(executions("trace.pt.trace.json", "b"), 0);
    CHECK_EQ(executions("trace-run2.pt.trace.json", "b"), 1);
}

/* ---- What is missing ------------------------------------------------------------------ */

TEST(what_does_not_fit_is_told)
{
    child_result r = host("GNOMON=trace,mem=1MiB", "loop=300000");
    has_line(r, " more are missing: mem= makes room\n");
    char *text = child_read("trace.pt.trace.json");
    CHECK_EQ(times_in(text, "\"kind\": \"events_overwritten\""), 1);
    r = host("GNOMON=trace(keep=first),mem=1MiB", "loop=300000");
    has_line(r, " more are missing: mem= makes room\n");
    text = child_read("trace.pt.trace.json");
    CHECK_EQ(times_in(text, "\"kind\": \"events_lost\""), 1);
}

TEST(one_event_is_one)
{
    child_result r = host("GNOMON=trace(keep=1steps)", "do=a", "step", "do=a",
                          "step", "do=a");
    has_line(r, "trace: 2 events in ./trace.pt.trace.json; 1 older one is not "
                "kept\n");
}

/* The line of a wrong option, and the preset holds. */
TEST(a_wrong_keep_is_told)
{
    child_result r = host("GNOMON=trace(keep=frist)", STEP, "say=went on");
    has_line(r, "gnomon: $GNOMON: trace: keep=frist: say last");
    CHECK_EQ(times_in(r.err, "keep"), 1);
    CHECK_STR(r.out, "went on\n");
    CHECK_EQ(executions("trace.pt.trace.json", "a"), 1);
    r = host("GNOMON=trace,keep=all", STEP);
    has_line(r, "gnomon: $GNOMON: keep=all: say last");
    r = host("GNOMON=trace(keep=FIRST)", STEP);
    CHECK_EQ(times_in(r.err, "keep"), 0);
}

TEST(the_last_steps_are_a_trace)
{
    child_result r = host("GNOMON=trace(keep=2steps)", STEP, STEP, STEP, STEP);
    has_line(r, "gnomon: trace: 4 events in ./trace.pt.trace.json; 4 older "
                "ones are not kept\n");
    CHECK_EQ(executions("trace.pt.trace.json", "a"), 2);
    CHECK_EQ(times_in(child_read("trace.pt.trace.json"), "ProfilerStep#"), 2);
}

/* Each part is a trace of its own, and together with what is missing they are all. */
TEST(a_stream_is_written_in_parts)
{
    child_result r = host("GNOMON=trace(keep=stream),mem=2MiB", "loop=400000");
    uint64_t events = 0, missing = 0;
    int parts = 0;
    for (const char *at = r.err; (at = strstr(at, "trace: ")); at++) {
        unsigned long long n = 0, lost = 0;
        char path[64];
        parts++;
        CHECK_EQ(sscanf(at, "trace: %llu events", &n), 1);
        const char *more = strstr(at, "; ");
        if (more && more < strchr(at, '\n'))
            CHECK_EQ(sscanf(more, "; %llu more", &lost), 1);
        snprintf(path, sizeof path, "trace-part%d.pt.trace.json", parts);
        int rows = executions(path, "loop"); /* also one that is open */
        CHECK(rows == (int)n || rows == (int)n + 1);
        events += n;
        missing += lost;
    }
    CHECK(parts > 2);
    CHECK_EQ(events + missing, 400000);
}

TEST(a_folder_that_cannot_be_written_is_one_line)
{
    child_result r = host("GNOMON=trace,dir=/proc/none", STEP, "say=went on");
    CHECK_STR(r.out, "went on\n");
    CHECK_EQ(times_in(r.err, "\n"), 1);
    CHECK(times_in(r.err, "/proc/none") >= 1);
}

TEST(a_stream_that_cannot_be_written_is_two_lines)
{
    child_result r = host("GNOMON=trace(keep=stream),dir=/proc/none,mem=1MiB",
                          "loop=100000");
    CHECK_EQ(times_in(r.err, "\n"), 2);
    CHECK(times_in(r.err, "cannot write /proc/none/trace-part1.") == 1);
    CHECK(times_in(r.err, "trace: 100000 events of ") == 1);
    CHECK(times_in(r.err, " parts could not be written\n") == 1);
}

/* ---- A file that another process wrote meanwhile ----------------------------------------- */

static char written_path[256];

static int make_mine(void *context, const gnomon_writer *file)
{
    (void)context;
    return file->print(file, "mine\n");
}

static int write_and_ask(void *self, const gnomon_profile *p,
                         const gnomon_writer *out)
{
    (void)self, (void)p;
    int code =
        out->stream(out, "part1", ".pt.trace.json", make_mine, written_path);
    snprintf(written_path, sizeof written_path, "%s", out->path(out));
    return code;
}

/* Viewers know traces by all of the extension. */
TEST(a_trace_apart_keeps_its_extension_and_says_its_name)
{
    static const gnomon_profiler writer = {TAPES("writer"),
                                           .events = write_and_ask};
    static gnomon_region region =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a", NULL, NULL);
    char apart[64];
    child_folder();
    snprintf(apart, sizeof apart, "./writer-part1-%d.pt.trace.json",
             (int)getpid());
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&writer, NULL, "dir=."), GNOMON_OK);
    gnomon_end(gnomon_begin(&region));
    child_next_tick();
    program_put("writer-part1.pt.trace.json", "theirs\n");
    gnomon_teardown();
    CHECK_STR(written_path, apart);
    CHECK_STR(child_read(apart), "mine\n");
    CHECK_STR(child_read("writer-part1.pt.trace.json"), "theirs\n");
}

static int stream_code, made_code;

static int fail_to_make(void *context, const gnomon_writer *file)
{
    (void)context;
    CHECK_EQ(file->print(file, "%0*d", 100000, 7), GNOMON_OK);
    return made_code;
}

static int write_and_fail(void *self, const gnomon_profile *p,
                          const gnomon_writer *out)
{
    (void)self, (void)p;
    stream_code = out->stream(out, NULL, ".txt", fail_to_make, NULL);
    CHECK_EQ(out->stream(out, "all", ".txt", make_mine, NULL), GNOMON_OK);
    return GNOMON_OK;
}

TEST(a_stream_returns_what_make_returned)
{
    static const gnomon_profiler writer = {TAPES("writer"),
                                           .events = write_and_fail};
    child_folder();
    made_code = GNOMON_ENOENT;
    for (int fails = 1; fails >= 0; fails--) {
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        CHECK_EQ(gnomon_attach(&writer, NULL, "dir=."), GNOMON_OK);
        GNOMON_MARK("a");
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
        CHECK_EQ(stream_code, made_code);
        CHECK_EQ(gnomon_detach(&writer, NULL), GNOMON_OK);
        CHECK_EQ(is_there("writer.txt"), !fails);
        CHECK_STR(child_read("writer-all.txt"), "mine\n");
        made_code = GNOMON_OK;
    }
    CHECK_EQ(strlen(child_read("writer.txt")), 100000);
}

/* ---- gnomon export ---------------------------------------------------------------------- */

static void save_run(const char *path)
{
    char word[128];
    snprintf(word, sizeof word, "GNOMON=trace(on_trace_ready=none),file=%s",
             path);
    host(word, "loop=3000", STEP);
}

TEST(export_writes_to_standard_output)
{
    NEEDS_PROGRAM;
    save_run("run.gnomon");
    child_result r = shell("$G export run.gnomon --to chrome > all.json");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_EQ(executions("all.json", "a"), 1);
}

TEST(export_replaces_none_of_its_files)
{
    NEEDS_PROGRAM;
    save_run("run.gnomon");
    child_result r = shell("cp run.gnomon was; ln -s run.gnomon link; "
                           "$G export run.gnomon --to csv -o ./link");
    CHECK_EQ(r.status, 1);
    CHECK_STR(r.err, "gnomon: -o ./link: it is run.gnomon, which the export "
                     "would replace: say another name\n");
    CHECK_EQ(shell("cmp was run.gnomon").status, 0);
    r = shell("$G export run.gnomon ./run.gnomon --to csv -o twice.csv && "
              "$G export run.gnomon --to csv -o once.csv && "
              "cmp once.csv twice.csv");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "gnomon: ./run.gnomon: is given twice: exported once\n");
}

TEST(export_compresses)
{
    NEEDS_PROGRAM;
    save_run("run.gnomon");
    child_result r = shell("$G export run.gnomon --to chrome -o x.json && "
                           "$G export run.gnomon --to chrome -o x.json.gz && "
                           "gzip -dc x.json.gz | sed s/x.json.gz/x.json/ | "
                           "cmp - x.json && wc -c < x.json.gz");
    if (strstr(r.err, "without zlib"))
        SKIP("no zlib: install zlib1g-dev");
    CHECK_EQ(r.status, 0);
    CHECK(atol(r.out) > 1000);
}

TEST(export_into_a_folder_names_files_as_torch_does)
{
    NEEDS_PROGRAM;
    save_run("run.gnomon");
    shell("rm -rf d");
    CHECK_EQ(shell("$G export run.gnomon --to chrome -o d/").status, 0);
    child_result r =
        shell("ls d | grep -Ec '^[^ ]+_[0-9]+\\.[0-9]+\\.pt\\.trace\\.json$'");
    CHECK_STR(r.out, "1\n");
}

/* Each is small enough, and together they have each event once. */
TEST(export_splits_by_size)
{
    NEEDS_PROGRAM;
    save_run("run.gnomon");
    child_result r =
        shell("rm -f p.*; $G export run.gnomon --to chrome -o p.json --max "
              "100KB && ls p.*.json | wc -l && "
              "find . -name 'p.*.json' -size +100000c | wc -l && "
              "cat p.*.json | grep -c '\"name\":\"loop\"'; "
              "cat p.*.json | grep -c '\"name\":\"b\"'");
    int files = -1, large = -1, many = -1, b = -1;
    CHECK_EQ(sscanf(r.out, "%d %d %d %d", &files, &large, &many, &b), 4);
    CHECK(files > 2);
    CHECK_EQ(large, 0);
    CHECK_EQ(many, 3000);
    CHECK_EQ(b, 1);
}

/* Else a viewer shows an empty file, and nobody knows why. */
TEST(an_export_without_executions_is_told)
{
    NEEDS_PROGRAM;
    static const char *const words[] = {"chrome", "perfetto", "csv"};
    host("GNOMON=profile,file=sums.gnomon", STEP);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        child_result r = shell("$G export sums.gnomon --to %s", words[i]);
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.err, "gnomon: sums.gnomon: no single executions are in it, "
                         "and so none in the export: record them with "
                         "GNOMON=trace,file=run.gnomon\n");
    }
    child_result r = shell("$G export sums.gnomon --to speedscope");
    CHECK_STR(r.err, "");
}

/* What is made of the tree has all of it. */
TEST(an_export_of_events_tells_what_is_missing)
{
    NEEDS_PROGRAM;
    host("GNOMON=trace(on_trace_ready=none,keep=1steps),file=some.gnomon", STEP,
         STEP, STEP, STEP);
    child_result r = shell("$G export some.gnomon --to chrome");
    CHECK_EQ(times_in(r.err, "gnomon: some.gnomon: "), 1);
    CHECK_EQ(times_in(r.err, " missing\n"), 1);
    r = shell("$G export some.gnomon --to stacks");
    CHECK_STR(r.err, "");
    r = shell("$G export some.gnomon --to prof > some.prof");
    CHECK_STR(r.err, "");
}

TEST(wrong_words_of_export_are_told)
{
    NEEDS_PROGRAM;
    static const char *const cases[][2] = {
        {"export run.gnomon", "--to says which format"},
        {"export --to chrome", "no file is named"},
        {"export --to svg run.gnomon", "--to"},
        {"export --to chrome --max 1 run.gnomon -o x", "--max"},
        {"export --to chrome --max 1GB run.gnomon", "-o says where"},
        {"export --to chrome nowhere.gnomon", "nowhere.gnomon"}};
    save_run("run.gnomon");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        child_result r = shell("$G %s", cases[i][0]);
        CHECK(r.status == 1 || r.status == 2);
        has_line(r, cases[i][1]);
    }
}

/* ---- gnomon schedule ------------------------------------------------------------------- */

TEST(a_schedule_is_told_without_a_run)
{
    NEEDS_PROGRAM;
    child_result r = shell(
        "$G schedule wait:1/warmup:1/active:2/repeat:1/skip_first:1 --steps 7");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "step 0  none\nstep 1  none\nstep 2  warmup\n"
                     "step 3  record\nstep 4  record_and_save\nstep 5  none\n"
                     "step 6  none\n");
    CHECK_EQ(times_in(shell("$G schedule active:1").out, "\n"), 20);
}

TEST(wrong_words_of_schedule_are_told)
{
    NEEDS_PROGRAM;
    static const char *const cases[][2] = {
        {"schedule", "no schedule is given"},
        {"schedule active:1 active:2", "one schedule at a time"},
        {"schedule wait:1", "active"},
        {"schedule activ:1", "activ"},
        {"schedule active:1 --steps 0", "--steps 0: say a number"},
        {"schedule active:1 --steps x", "--steps x: say a number"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        child_result r = shell("$G %s", cases[i][0]);
        CHECK_EQ(r.status, 1);
        CHECK_STR(r.out, "");
        has_line(r, cases[i][1]);
    }
}
