/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* file=NAME.gnomon: what is in such a file is what was recorded, by stage and by
 * run, and the report is what it is without one.
 * links: testing */
#include <stdlib.h>

#include "profile_bytes.h"
#include "child.h"
#include "written_files.h"
#include "marks.h"
#include "probe_profile.h"
#include "os_calls.h"
#include "same_profile.h"
#include "sanitizer.h"

/* ---- What is recorded ----------------------------------------------------------- */

static void work(const char *tag)
{
    gnomon_token outer =
        gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
    for (int i = 0; i < 3; i++) {
        gnomon_start(tag);
        pass(700);
        gnomon_token inner =
            gnomon_begin(gnomon_region_get("inner", "c", GNOMON_KIND_SCOPE));
        pass(30);
        gnomon_counter(gnomon_region_get("loss", NULL, GNOMON_KIND_COUNTER),
                       0.5 * i);
        gnomon_end(inner);
        gnomon_stop(tag);
        gnomon_step();
    }
    gnomon_end(outer);
}

static void *thread_work(void *unused)
{
    work("train_step");
    return unused;
}

static void stage(const char *name)
{
    CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
    work("train_step");
    on_thread(thread_work, NULL);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

static size_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

/* ---- The whole run ---------------------------------------------------------------- */

/* Several stages, one of them twice, and an open one with an open scope. The
 * file written at the end equals the snapshot taken before. */
static gnomon_profile *run_with(const char *spec)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    gnomon_metadata("model", "\"gpt\"");
    stage("fit");
    stage("validate");
    stage("fit");
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    gnomon_start("open");
    pass(5);
    gnomon_token t =
        gnomon_begin(gnomon_region_get("inner", "c", GNOMON_KIND_SCOPE));
    pass(5);
    gnomon_end(t);
    gnomon_profile *live = profile_of("profile", 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    gnomon_stop("open");
    return live;
}

/* Over all stages of a name, and all paths of a region. */
static gnomon_stats sum_of(const gnomon_profile *p, const char *stage,
                           const char *region)
{
    gnomon_stats sum = {.struct_size = sizeof sum};
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_stage_info s = {.name = ""};
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_stage(p, n.stage, &s);
        gnomon_profile_region(p, n.region, &r);
        if (!n.host || strcmp(s.name, stage) != 0 ||
            strcmp(r.name, region) != 0)
            continue;
        sum.count += n.host->count;
        sum.total_ns += n.host->total_ns;
        sum.self_ns += n.host->self_ns;
        sum.cell_count += n.open;
    }
    return sum;
}

/* The file has each stage; in memory those of one name are one. */
TEST(a_file_has_all_of_the_run)
{
    static const char *const stages[] = {"fit", "validate", "test"};
    gnomon_profile *live = run_with("profile,file=run.gnomon");
    gnomon_profile *file = checked_profile("run.gnomon");
    CHECK_STR(stages_in(file), "fit 1, validate 2, fit 3, test 4");
    CHECK_EQ(calls_of(file, "train_step"), 18);
    CHECK_EQ(gnomon_profile_check(file), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(file, GNOMON_RUNS), 1);
    CHECK_EQ(gnomon_profile_count(file, GNOMON_TRACKS),
             gnomon_profile_count(live, GNOMON_TRACKS));
    CHECK_EQ(gnomon_profile_count(file, GNOMON_REGIONS),
             gnomon_profile_count(live, GNOMON_REGIONS));
    CHECK_EQ(gnomon_profile_count(file, GNOMON_METADATA), 1);
    CHECK_EQ(gnomon_profile_count(file, GNOMON_OPENS), 1);
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 1; k <= gnomon_profile_count(live, GNOMON_REGIONS);
             k++) {
            gnomon_region_info r;
            gnomon_profile_region(live, k, &r);
            gnomon_stats a = sum_of(live, stages[i], r.name);
            gnomon_stats b = sum_of(file, stages[i], r.name);
            CHECK_EQ(a.count, b.count);
            CHECK_EQ(a.total_ns, b.total_ns);
            CHECK_EQ(a.self_ns, b.self_ns);
            CHECK_EQ(a.cell_count, b.cell_count);
        }
    }
    gnomon_profile_free(live);
    gnomon_profile_free(file);
}

TEST(a_json_file_is_what_the_writer_writes)
{
    gnomon_profile *live = run_with("profile,file=run.gnomon.json");
    bytes json = bytes_of(live, "json");
    CHECK_STR(child_read("run.gnomon.json"), json.at);
    CHECK(access("run.gnomon", F_OK) != 0);
    free(json.at);
    gnomon_profile_free(live);
}

/* More than one section and one buffer. */
static void mark_many(void)
{
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "name %d", i);
        gnomon_start(name);
        pass(3);
        gnomon_stop(name);
    }
}

TEST(a_large_file_is_what_the_writer_writes)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=large.gnomon"), GNOMON_OK);
    mark_many();
    gnomon_profile *live = profile_of("profile", 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    bytes b = bytes_of(live, "gnomon");
    char *file = child_load("large.gnomon");
    CHECK(b.size > 2u << 20);
    CHECK_EQ(size_of("large.gnomon"), b.size);
    CHECK(file && memcmp(file, b.at, b.size) == 0);
    free(file);
    free(b.at);
    gnomon_profile_free(live);
}

/* Once, and not at each stage. */
TEST(a_large_file_that_does_not_fit_is_reported)
{
    child_folder();
    catch_stderr("err");
    CHECK_EQ(symlink("/dev/full", "full.gnomon"), 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=full.gnomon"), GNOMON_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
        mark_many();
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    give_stderr_back();
    CHECK_STR(child_read("err"),
              "gnomon: cannot write the profile to full.gnomon: No space left "
              "on device: give file= another path\n");
}

/* ---- Stages ------------------------------------------------------------------------ */

static bytes summaries[2]; /* the profiles that it received last, by stage */

static int keep_bytes(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    gnomon_stage_info s;
    (void)self;
    (void)out;
    gnomon_profile_stage(p, 1, &s);
    bytes *b = &summaries[strcmp(s.name, "fit") != 0];
    free(b->at);
    *b = bytes_of(p, "gnomon");
    return GNOMON_OK;
}

static const gnomon_profiler keeper = {
    .struct_size = sizeof keeper,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "keeper",
    .summary = keep_bytes,
};

static int holds(const char *path, const bytes *b)
{
    char *file = child_load(path);
    int same =
        file && size_of(path) == b->size && memcmp(file, b->at, b->size) == 0;
    free(file);
    return same;
}

TEST(a_file_holds_a_stage)
{
    child_folder();
    CHECK_EQ(gnomon_host_get()->add_profiler(&keeper), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, "keeper,file=%s.gnomon"), GNOMON_OK);
    stage("fit");
    CHECK(holds("fit.gnomon", &summaries[0]));
    stage("validate");
    CHECK(holds("validate.gnomon", &summaries[1]));
    CHECK(holds("fit.gnomon", &summaries[0])); /* left alone */
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    free(summaries[0].at);
    free(summaries[1].at);
}

/* As reports of one name share a file. */
TEST(stages_of_one_name_share_a_file)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=%s.gnomon"), GNOMON_OK);
    stage("fit");
    stage("vali/date");
    stage("fit");
    stage("vali_date"); /* as a file it is the same */
    work("unnamed");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    gnomon_profile *fit = checked_profile("fit.gnomon"),
                   *both = checked_profile("vali_date.gnomon"),
                   *rest = checked_profile("run.gnomon");
    CHECK_STR(stages_in(fit), "fit 1, fit 3");
    CHECK_EQ(calls_of(fit, "train_step"), 12);
    CHECK_STR(stages_in(both), "vali/date 2, vali_date 4");
    CHECK_EQ(calls_of(both, "train_step"), 12);
    CHECK_STR(stages_in(rest), " 5");
    CHECK_EQ(calls_of(rest, "train_step"), 0);
    CHECK_EQ(calls_of(rest, "unnamed"), 3);
    gnomon_profile_free(fit);
    gnomon_profile_free(both);
    gnomon_profile_free(rest);
}

/* ---- Who writes --------------------------------------------------------------------- */

TEST(profilers_of_one_view_write_once)
{
    child_folder();
    catch_stderr("err");
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "simple,advanced,profile,log,file=run.gnomon"),
             GNOMON_OK);
    gnomon__test_fail_calls("openat", UINT64_MAX, 1, 0); /* only counts */
    stage("fit");
    CHECK_EQ(gnomon__test_calls(), 2); /* the folder, and the file in it */
    gnomon__test_fail_calls(NULL, 0, 0, 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    give_stderr_back();
    const char *err = child_read("err");
    CHECK_EQ(times_in(err, "FIT Profiler Report"), 2);
    CHECK_EQ(times_in(err, "All was logged"), 1);
    CHECK_EQ(times_in(err, "records no profile"), 0); /* somebody does */
}

static void check_only(const char *path, const char *stages, const char *yes,
                       const char *no)
{
    gnomon_profile *p = checked_profile(path);
    if (!CHECK_STR(stages_in(p), stages) || !CHECK(calls_of(p, yes) > 0) ||
        !CHECK_EQ(calls_of(p, no), 0))
        fprintf(stderr, "    %s\n", path);
    gnomon_profile_free(p);
}

TEST(views_do_not_share_a_file)
{
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "profile(filter=train*),profile(filter=inner),"
                           "file=%s.gnomon"),
             GNOMON_OK);
    stage("fit");
    stage("test");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    check_only("fit.gnomon", "fit 1", "train_step", "inner");
    check_only("fit-view2.gnomon", "fit 1", "inner", "train_step");
    check_only("test.gnomon", "test 2", "train_step", "inner");
    check_only("test-view2.gnomon", "test 2", "inner", "train_step");
}

/* Files of earlier runs in the process stay. */
TEST(a_later_run_leaves_the_file_of_an_earlier_one)
{
    child_folder();
    setenv("GNOMON", "profile,file=run.gnomon.json", 1);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
        stage(i == 0 ? "fit" : i == 1 ? "validate" : "predict");
        CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    }
    CHECK_EQ(times_in(child_read("run.gnomon.json"), "\"name\": \"fit\""), 1);
    CHECK_EQ(times_in(child_read("run-view2.gnomon.json"), "\"validate\""), 1);
    CHECK_EQ(times_in(child_read("run-view3.gnomon.json"), "\"predict\""), 1);
}

/* A profiler of gnomon_attach has its own file, too. */
TEST(an_attached_profiler_keeps_its_profile)
{
    child_folder();
    CHECK_EQ(gnomon_attach(&probe, NULL, "file=run.gnomon"), GNOMON_OK);
    stage("fit");
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    check_only("run.gnomon", "fit 1", "train_step", "nothing");
    gnomon_profiler none = probe;
    none.wants = 0;
    CHECK_EQ(gnomon_attach(&none, NULL, "file=none.gnomon"), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(),
              "probe: file=none.gnomon: it records no profile");
}

static int is_child;

/* The child returns from the summary callback, and so to the code that
 * writes files. */
static int fork_and_wait(void *self, const gnomon_profile *p,
                         const gnomon_writer *out)
{
    int status = -1;
    (void)self, (void)p, (void)out;
    fflush(NULL);
    pid_t child = fork();
    is_child = child == 0;
    if (!is_child)
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(access("run.gnomon", F_OK) != 0);
    return GNOMON_OK;
}

TEST(a_child_of_a_callback_writes_none)
{
    gnomon_profiler forker = keeper;
    forker.name = "forker";
    forker.summary = fork_and_wait;
    child_folder();
    catch_stderr("err");
    CHECK_EQ(gnomon_attach(&forker, NULL, "file=run.gnomon"), GNOMON_OK);
    stage("fit");
    if (is_child) {
        char own[64];
        snprintf(own, sizeof own, "run-%d.gnomon", (int)getpid());
        _exit(access("run.gnomon", F_OK) == 0 || access(own, F_OK) == 0);
    }
    CHECK_EQ(gnomon_detach(&forker, NULL), GNOMON_OK);
    give_stderr_back();
    CHECK_EQ(times_in(child_read("err"), "forked from"), 0);
    check_only("run.gnomon", "fit 1", "train_step", "nothing");
}

/* ---- Reports ----------------------------------------------------------------------- */

/* gnomon's own cost is measured, and differs each time. */
static const char *report_of(const char *spec)
{
    catch_stderr("err");
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    stage("fit");
    stage("validate");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    give_stderr_back();
    char *text = child_read("err"), *at = text, *end;
    while ((at = strstr(at, "gnomon: about ")) && (end = strchr(at, '\n')))
        memmove(at, end, strlen(end) + 1);
    return text;
}

TEST(the_report_is_what_it_is_without)
{
    child_folder();
    const char *plain = report_of("simple,advanced");
    CHECK_EQ(times_in(plain, "FIT Profiler Report"), 2);
    CHECK_STR(report_of("simple,advanced,file=%s.gnomon"), plain);
    CHECK_STR(report_of("simple,advanced(dump_stats=run),file=r.gnomon.json"),
              plain);
    CHECK(access("fit.gnomon", F_OK) == 0);
    CHECK(access("validate-r.prof", F_OK) == 0); /* next to the file */
}

/* ---- While others mark ------------------------------------------------------------- */

static int stopping;

static void *mark_on(void *unused)
{
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
        gnomon_token t =
            gnomon_begin(gnomon_region_get("outer", NULL, GNOMON_KIND_SCOPE));
        gnomon_start("action");
        gnomon_stop("action");
        gnomon_end(t);
    }
    return unused;
}

TEST(files_are_sound_while_others_mark)
{
    pthread_t threads[2];
    child_folder();
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=%s.gnomon"), GNOMON_OK);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, mark_on, NULL);
    for (int i = 0; i < (IS_TSAN || IS_ASAN ? 8 : 40); i++) {
        gnomon_stage_begin(i & 1 ? "validate" : "fit");
        gnomon_start("here");
        gnomon_stop("here");
        gnomon_stage_end();
        gnomon_profile *p =
            checked_profile(i & 1 ? "validate.gnomon" : "fit.gnomon");
        CHECK_EQ(calls_of(p, "here"), 1 + i / 2);
        gnomon_profile_free(p);
    }
    __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
