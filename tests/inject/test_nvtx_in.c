/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX's marks in programs without gnomon (tests/nvtx_in), which load
 * libgnomon-nvtx.so because of their environment.
 *
 * timeout: 300
 * labels: guest */
#include "gnomon.h"
#include "injected.h"
#include "sanitizer.h"

#define RUN(spec, ...) \
    run_at(AT("program"), spec, (const char *const[]){__VA_ARGS__, NULL})
#define PROFILE(...) profile_of(RUN("profile,file=p.gnomon", __VA_ARGS__))

/* ---- Marks --------------------------------------------------------------- */

TEST(pushes_and_pops_are_scopes)
{
    NEEDS_NVTX;
    child_result r = RUN("simple", "nested");
    CHECK_STR(r.out, "0 1 0\n");
    CHECK_TABLE(r.err, "Profiler Report", "outer", "inner");
    CHECK_EQ(calls_of(r.err, "outer"), 3);
    CHECK_EQ(calls_of(r.err, "inner"), 6);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1); /* the line of costs */
    gnomon_profile *p = PROFILE("nested");
    CHECK_EQ(count_at(p, "outer"), 3);
    CHECK_EQ(count_at(p, "outer > inner"), 6);
    CHECK_EQ(count_all(p), 9);
    gnomon_profile_free(p);
}

TEST(texts_of_every_kind_have_their_domain_and_category)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("kinds");
    CHECK_EQ(count_at(p, "plain"), 1);
    CHECK_EQ(count_at(p, "plain > gr\u00f6\u00dfe"), 1);
    CHECK_EQ(count_at(p, "with category [five]"), 1);
    CHECK_EQ(count_at(p, "with category [s\u00eds]"), 1);
    CHECK_EQ(count_at(p, "registered [lib]"), 2); /* also once destroyed */
    CHECK_EQ(count_at(p, "registered [lib/io]"), 1);
    CHECK_EQ(count_at(p, "registered [lib/7]"), 1);
    CHECK_EQ(count_at(p, "registered [b\u00fccher]"), 1);
    CHECK_EQ(count_at(p, "\u2713 \U0001F600 [b\u00fccher/caf\u00e9]"), 1);
    CHECK_EQ(count_at(p, "inline \u00fc"), 1);
    CHECK_EQ(count_at(p, "started"), 1);
    CHECK_EQ(count_at(p, "started \u00fc"), 1);
    CHECK_EQ(count_at(p, "late [lib/9]"), 1);
    CHECK_EQ(count_at(p, "late [lib/nine]"), 1);
    CHECK_EQ(count_at(p, "pointer > pointer [lib] > pointer [lib/io]"), 1);
    CHECK_EQ(count_all(p), 18);
    gnomon_profile_free(p);
}

TEST(marks_are_marks_and_payloads_are_samples)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("marks");
    CHECK_EQ(count_at(p, "around"), 1);
    CHECK_EQ(count_at(p, "around > !tick"), 4);
    CHECK_EQ(count_at(p, "around > !t\u00fcck"), 4);
    CHECK_EQ(count_at(p, "around > !epoch [lib/twin]"), 4);
    CHECK_EQ(count_at(p, "!loss"), 7);
    gnomon_counter_info counter = {.count = 0};
    gnomon_region_info region = {.name = ""};
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    gnomon_profile_counter(p, 1, &counter);
    gnomon_profile_region(p, counter.region, &region);
    CHECK_STR(region.name, "loss");
    CHECK_EQ(counter.count, 6);
    CHECK(counter.min == -5 && counter.max == 6.5 && counter.last == 6.5 &&
          counter.sum == 8);
    gnomon_profile_free(p);
}

/* Eight at once; half of the texts are inline, in one buffer. */
TEST(threads_have_their_own_ranges)
{
    NEEDS_NVTX;
    long long n = IS_TSAN || IS_ASAN ? 1000 : 20000;
    gnomon_profile *p =
        n == 1000 ? PROFILE("threads=1000") : PROFILE("threads=20000");
    CHECK_EQ(count_at(p, "step [threads]"), 8 * n);
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "step [threads] > part %c", 'a' + i);
        CHECK_EQ(count_at(p, path), 8 * n / 4);
    }
    CHECK_EQ(count_at(p, "!round"), 8 * n);
    CHECK_EQ(count_at(p, "across"), 8 * 64); /* ended on another */
    CHECK_EQ(count_all(p), 24 * n + 512);
    int workers = 0;
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_TRACKS); i++) {
        gnomon_track_info track;
        if (gnomon_profile_track(p, i, &track) == GNOMON_OK)
            workers += strncmp(track.name, "worker ", 7) == 0;
    }
    CHECK_EQ(workers, 8);
    gnomon_profile_free(p);
}

TEST(threads_come_and_go)
{
    NEEDS_NVTX;
    child_result r = RUN("simple", "deep=40");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "deep"), 4000);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1);
}

TEST(a_million_ranges_are_counted)
{
    NEEDS_NVTX;
    long long n = IS_SLOW ? 50000 : 1000000;
    gnomon_profile *p =
        n == 50000 ? PROFILE("many=50000") : PROFILE("many=1000000");
    CHECK_EQ(count_at(p, "outer"), n / 1000);
    CHECK_EQ(count_at(p, "outer > inner"), n);
    CHECK_EQ(count_at(p, "range"), n);
    CHECK_EQ(count_all(p), 2 * n + n / 1000);
    gnomon_profile_free(p);
}

TEST(threads_and_things_have_names)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("names");
    gnomon_track_info track = {.name = ""};
    CHECK_EQ(gnomon_profile_track(p, 1, &track), GNOMON_OK);
    CHECK_STR(track.name, "the main one");
    CHECK_EQ(gnomon_profile_track(p, 2, &track), GNOMON_OK);
    CHECK_STR(track.name, "posix \u00fc");
    gnomon_metadata_info m[3] = {{.key = NULL}, {.key = NULL}, {.key = NULL}};
    CHECK_EQ(gnomon_profile_count(p, GNOMON_METADATA), 3);
    for (uint32_t i = 0; i < 3; i++)
        gnomon_profile_metadata(p, i + 1, &m[i]);
    CHECK_STR(m[2].key, "nvtx.resource.10004.0x1");
    CHECK_STR(m[2].json, "\"(null)\"");
    CHECK_STR(m[0].key, "nvtx.thread.1");
    CHECK_STR(m[0].json, "\"init\u00fc\"");
    CHECK_STR(m[1].key, "nvtx.lib.resource.10002.0xabc");
    CHECK_STR(m[1].json, "\"a \\\"lock\\\"\"");
    gnomon_profile_free(p);
}

TEST(waiting_for_a_lock_is_a_scope)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("waits");
    CHECK_EQ(count_at(p, "queue [lib/sync]"), 3);
    CHECK_EQ(count_at(p, "queue [lib/sync] > spin"), 3);
    CHECK_EQ(count_all(p), 6);
    gnomon_profile_free(p);
}

TEST(filters_know_domains_and_categories)
{
    NEEDS_NVTX;
    gnomon_profile *p =
        profile_of(RUN("profile(filter=@lib|@lib/*),file=p.gnomon", "kinds"));
    CHECK_EQ(count_all(p), 8);
    CHECK_EQ(count_at(p, "registered [lib/io]"), 1);
    gnomon_profile_free(p);
    p = profile_of(RUN("profile(exclude=@?*),file=p.gnomon", "kinds"));
    CHECK_EQ(count_all(p), 6); /* the default domain's without a category */
    CHECK_EQ(count_at(p, "registered [lib]"), -1);
    gnomon_profile_free(p);
    p = profile_of(RUN("profile(filter=late),file=p.gnomon", "kinds"));
    CHECK_EQ(count_all(p), 2);
    gnomon_profile_free(p);
}

/* The library of NVTX 1 asks by another name, for one module of few entries. */
TEST(old_libraries_of_nvtx_are_served)
{
    NEEDS_NVTX;
    gnomon_profile *p =
        profile_of(run_at(AT("old_caller"), "profile,file=p.gnomon",
                          (const char *const[]){NULL}));
    CHECK_EQ(count_at(p, "old outer"), 5);
    CHECK_EQ(count_at(p, "old outer > old inner"), 5);
    CHECK_EQ(count_at(p, "old outer > old inner > !old mark"), 5);
    gnomon_profile_free(p);
}

/* PyTorch's emit_nvtx adds a number to each call: they are calls of one
 * name. */
TEST(numbers_of_pytorch_are_not_of_the_name)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("torch=3000");
    CHECK_EQ(count_at(p, "aten::add"), 3000);
    CHECK_EQ(count_at(p, "aten::add > AddBackward0"), 3000);
    CHECK_EQ(count_at(p, "aten::add > aten::mul"), 3000);
    CHECK_EQ(count_at(p, "aten::add > !aten::mul"), 3000);
    CHECK_EQ(count_all(p), 12000);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 4);
    gnomon_profile_free(p);
}

static void check_shapes(const gnomon_profile *p, const char *operation,
                         size_t inputs, uint64_t flops)
{
    gnomon_op_info op;
    for (size_t i = 1; !gnomon_profile_op(p, i, &op); i++) {
        if (strcmp(op.operation, operation) == 0 && op.input_count == inputs) {
            CHECK_EQ(op.flops, flops);
            return;
        }
    }
    CHECK_STR(operation, "");
}

/* "mm > MmBackward" of a link, and how often; 0: there is none. */
static uint64_t links_of(const gnomon_profile *p, const char *names)
{
    gnomon_link_info link;
    char text[128];
    uint64_t count = 0;
    for (size_t i = 1; !gnomon_profile_link(p, i, &link); i++) {
        gnomon_node_info from, to;
        gnomon_region_info left, right;
        if (gnomon_profile_node(p, link.from, &from) ||
            gnomon_profile_node(p, link.to, &to) ||
            gnomon_profile_region(p, from.region, &left) ||
            gnomon_profile_region(p, to.region, &right))
            continue;
        snprintf(text, sizeof text, "%s > %s", left.name, right.name);
        count += strcmp(text, names) == 0 ? link.count : 0;
    }
    return count;
}

TEST(texts_of_pytorch_say_operations_and_links)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("emitted=3");
    check_shapes(p, "mm", 2, 48);
    check_shapes(p, "aten::mm", 2, 48);
    check_shapes(p, "aten::bmm", 2, 384);
    check_shapes(p, "aten::addmm", 5, 48);
    check_shapes(p, "aten::zeros", 0, 0);
    check_shapes(p, "AddmmBackward0", 1, 0);
    CHECK_EQ(count_at(p, "aten::addmm"), 3);
    CHECK_EQ(links_of(p, "mm > MmBackward"), 6);
    CHECK_EQ(links_of(p, "aten::bmm > BmmBackward0"), 3);
    CHECK_EQ(links_of(p, "aten::addmm > AddmmBackward0"), 3);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 4);
    gnomon_profile_free(p);
}

TEST(numbers_in_names_become_one_name)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("numbered=3000");
    CHECK_EQ(count_at(p, "iteration #"), 3000);
    CHECK_EQ(count_at(p, "iteration # > Layer #"), 9000);
    CHECK_EQ(count_at(p, "iteration # > batch_#"), 3000);
    CHECK_EQ(count_at(p, "iteration # > epoch # \u00fc"), 3000);
    CHECK_EQ(count_at(p, "iteration # > !sample #"), 3000);
    CHECK_EQ(count_at(p, "sample #"), 3000);
    CHECK_EQ(count_at(p, "fp16 > conv2d"), 1);
    gnomon_counter_info counter = {.count = 0};
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    gnomon_profile_counter(p, 1, &counter);
    CHECK_EQ(counter.count, 3000);
    CHECK(counter.min == 0 && counter.max == 2999);
    gnomon_profile_free(p);
}

TEST(numbers_in_names_are_kept_with_fold_off)
{
    NEEDS_NVTX;
    gnomon_profile *p =
        profile_of(RUN("profile(file=p.gnomon),fold=off", "numbered=20"));
    CHECK_EQ(count_at(p, "iteration 17"), 1);
    CHECK_EQ(count_at(p, "iteration 17 > Layer 2"), 1);
    CHECK_EQ(count_at(p, "iteration 17 > batch_17"), 1);
    CHECK_EQ(count_at(p, "iteration #"), -1);
    gnomon_profile_free(p);
    child_result r = RUN("simple,fold=numbers,fold=nothing", "numbered=20");
    CHECK(strstr(r.err, "gnomon: $GNOMON: fold=nothing: say numbers or off\n"));
    CHECK_EQ(calls_of(r.err, "iteration #"), 20);
}

/* Each text is different: of a million only the names without numbers are
 * kept. */
TEST(a_million_numbers_take_bounded_memory)
{
    NEEDS_NVTX;
    const char *words = IS_SLOW ? "numbered=20000" : "numbered=1000000";
    child_result r = RUN("simple,mem=2MiB", words);
    CHECK_EQ(calls_of(r.err, "iteration #"), atoi(words + 9));
    CHECK_EQ(calls_of(r.err, "batch_#"), atoi(words + 9));
    CHECK_EQ(calls_of(r.err, "(other)"), -1);
    CHECK_EQ(times_in(r.err, "gnomon: "), 1);
}

/* ---- Steps ----------------------------------------------------------------- */

static long long steps_of(child_result r)
{
    gnomon_profile *p = profile_of(r);
    gnomon_stage_info stage = {.steps = NULL};
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    long long n = stage.steps ? (long long)stage.steps->count : 0;
    gnomon_profile_free(p);
    return n;
}

/* Whatever thread they end on, and whichever kind of range they are. */
TEST(ends_of_named_ranges_are_steps)
{
    NEEDS_NVTX;
    CHECK_EQ(steps_of(RUN("profile,file=p.gnomon", "iterations=50")), 0);
    CHECK_EQ(
        steps_of(RUN("profile,file=p.gnomon,step=iteration*", "iterations=50")),
        50);
    CHECK_EQ(steps_of(RUN("profile,file=p.gnomon,step=\"iteration #\"",
                          "iterations=50")),
             50);
    CHECK_EQ(steps_of(RUN("profile,file=p.gnomon,step=@io", "iterations=50")),
             49); /* the last one stays open */
    CHECK_EQ(steps_of(RUN("profile,file=p.gnomon,step=iteration*|forward",
                          "iterations=50")),
             100); /* each end of nested ones is one */
    CHECK_EQ(steps_of(RUN("profile,file=p.gnomon,fold=off,step=iteration 1?",
                          "iterations=50")),
             10);
    CHECK_EQ(steps_of(RUN("profile(filter=forward),file=p.gnomon,step=iter*",
                          "iterations=50")),
             50); /* also of ranges that nobody records */
}

TEST(schedules_go_by_ends_of_ranges)
{
    NEEDS_NVTX;
    gnomon_profile *p = profile_of(
        RUN("profile,file=p.gnomon,step=iteration*,schedule=wait:3/active:2/"
            "repeat:1",
            "numbered=30"));
    CHECK_EQ(count_at(p, "iteration #"), 2);
    CHECK_EQ(count_at(p, "iteration # > Layer #"), 6);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 30);
    gnomon_profile_free(p);
    child_result r = RUN("simple,step=iterations*", "numbered=3");
    CHECK_EQ(times_in(r.err, "gnomon: step=iterations*: no mark of that name "
                             "ended: no step was made\n"),
             1);
    r = RUN("simple,step=iterations*", "none"); /* nothing is marked */
    CHECK_STR(r.err, "");
}

/* ---- Trouble --------------------------------------------------------------- */

TEST(pops_without_a_push_change_nothing)
{
    NEEDS_NVTX;
    child_result r = RUN("simple", "unbalanced");
    CHECK_STR(r.out, "-1 -1 0 -1\n0 0 0\n");
    CHECK_TABLE(r.err, "Profiler Report", "x", "around", "in lib");
    CHECK(strstr(r.err, /* a range id that was never given */
                 "1 end of a scope that was not open on the thread\n"));
}

/* Domains whose ranges cross: each range has its own time. */
TEST(domains_may_end_crosswise)
{
    NEEDS_NVTX;
    gnomon_profile *p = PROFILE("interleaved");
    CHECK_EQ(count_at(p, "outer"), 1);
    CHECK_EQ(count_at(p, "outer > inner [lib]"), 1);
    CHECK_EQ(count_at(p, "after"), 1);
    gnomon_region_info region;
    gnomon_node_info inner = {.host = NULL};
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++)
        if (gnomon_profile_node(p, i, &inner) == GNOMON_OK &&
            gnomon_profile_region(p, inner.region, &region) == GNOMON_OK &&
            strcmp(region.name, "inner") == 0)
            break;
    if (CHECK(inner.host != NULL)) /* it slept so long after the outer's end */
        CHECK(inner.host->total_ns >= 2000000);
    gnomon_profile_free(p);
    child_result r = RUN("simple", "interleaved");
    CHECK_TABLE(r.err, "Profiler Report", "outer", "inner", "after");
    CHECK(!strstr(r.err, "ended by"));
}

TEST(no_wrong_call_harms_the_program)
{
    NEEDS_NVTX;
    child_result r = RUN("simple", "bad", "bad", "nested");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "0 1 0\n");
    CHECK_EQ(calls_of(r.err, "(null)"), 16);
    CHECK_EQ(calls_of(r.err, "\ufffd\ufffdx"), 2);
    CHECK_EQ(calls_of(r.err, "\ufffd\ufffd"), 2);
    CHECK_EQ(calls_of(r.err, "inner"), 6);
    CHECK_EQ(times_in(r.err, "...#"), 2); /* very long ones are cut */
}

/* Their number is not reported: counting them would mean keeping them. One
 * text in two categories is two names. */
TEST(names_past_the_limit_are_other)
{
    NEEDS_NVTX;
    for (int i = IS_SANITIZED; i < 2; i++) {
        child_result r = RUN("simple,mem=64MiB,limit=1,sort=calls",
                             i ? "fresh_twice=70000" : "fresh=140000",
                             i ? NULL : "fresh_twice=5");
        CHECK_EQ(r.status, 0);
        CHECK_EQ(calls_of(r.err, "Total"), i ? 140000 : 140010);
        CHECK_EQ(calls_of(r.err, "(other)"), i ? 10000 : 10005);
        CHECK_EQ(times_in(r.err, "gnomon: NVTX: more than 130000 texts: the "
                                 "rest are counted under (other)\n"),
                 1);
        CHECK_EQ(times_in(r.err, "past the limit"), 0);
    }
}

/* ---- In any host ----------------------------------------------------------- */

TEST(unset_is_silent)
{
    NEEDS_NVTX;
    child_result r = RUN(NULL, "kinds", "marks", "names", "waits", "nested",
                         "threads=10", "unbalanced", "bad");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "-2 -2 -2\n-2 -2 -2 -2\n-2 -2 -2\n");
}

TEST(a_wrong_word_in_the_environment_is_reported_once)
{
    NEEDS_NVTX;
    child_result r = RUN("simpel", "nested");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "gnomon: $GNOMON: unknown profiler 'simpel': did you "
                     "mean 'simple'?\n");
}

TEST(the_first_mark_may_come_before_main)
{
    NEEDS_NVTX;
    child_result r = child_run(
        AT("program"),
        "PROGRAM_EARLY=1\nGNOMON=simple\nNVTX_INJECTION64_PATH=" LIBRARY,
        (const char *const[]){"nested", NULL});
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "early"), 1);
    CHECK_EQ(calls_of(r.err, "inner"), 6);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
}

/* A fork may happen while another thread holds the sanitizer's own lock, for
 * which its leak search then waits. */
#define NO_LEAKS "\nASAN_OPTIONS=detect_leaks=0"

TEST(children_are_silent_until_they_follow)
{
    NEEDS_NVTX;
    child_result r = RUN("simple" NO_LEAKS, "forks");
    CHECK_STR(r.out, "0\n");
    CHECK_TABLE(r.err, "Profiler Report", "parent");
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    if (IS_TSAN)
        SKIP("a child that follows has threads, which this sanitizer forbids");
    r = RUN("simple,fork=follow,file=of-%p.txt" NO_LEAKS, "forks");
    CHECK_STR(r.out, "0\n");
    r = shell("cat of-*.txt");
    CHECK_EQ(times_in(r.out, "Profiler Report"), 2);
    CHECK_EQ(calls_of(r.out, "parent"), 1);
    CHECK_EQ(calls_of(r.out, "child"), 1);
    CHECK_EQ(calls_of(r.out, "more"), 1);
}

#define EMBEDS(spec, ...) \
    run_at(AT("embeds"), spec, (const char *const[]){__VA_ARGS__, NULL})

TEST(a_program_that_has_gnomon_gets_one_table)
{
    NEEDS_NVTX;
    for (int first = 0; first < 2; first++) {
        child_result r = first ? EMBEDS("simple", "nvtx", "host")
                               : EMBEDS("simple", "host", "nvtx");
        CHECK_EQ(r.status, 0);
        CHECK_TABLE(r.err, "Profiler Report", "host", "inside", "alone");
        CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
        CHECK_EQ(calls_of(r.err, "host"), 3);
        CHECK_EQ(calls_of(r.err, "inside"), 6);
        CHECK_EQ(calls_of(r.err, "alone"), 2);
        gnomon_profile *p =
            profile_of(first ? EMBEDS("profile,file=p.gnomon", "nvtx", "host")
                             : EMBEDS("profile,file=p.gnomon", "host", "nvtx"));
        CHECK_EQ(count_at(p, "host > inside"), 6);
        gnomon_profile_free(p);
    }
    for (int first = 0; first < 2; first++) { /* whichever copy owns the run */
        gnomon_profile *p = profile_of(EMBEDS(
            "profile,file=p.gnomon", first ? "nvtx" : "host", "domains"));
        CHECK_EQ(count_at(p, "outer > inner [lib] > innermost"), 1);
        gnomon_profile_free(p);
    }
}

TEST(it_may_be_switched_on_and_off)
{
    NEEDS_NVTX;
    child_result r = EMBEDS(NULL, "nvtx", "on", "nvtx", "off", "nvtx");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "Profiler Report"), 1);
    CHECK_EQ(calls_of(r.err, "alone"), 2);
    /* Each pop matches its push, whether or not recording was on. */
    r = EMBEDS("simple", "cross");
    CHECK_STR(r.out, "0 1 2: 2 1 0 -1\n");
    CHECK_EQ(calls_of(r.err, "after"), 1);
    CHECK_EQ(calls_of(r.err, "later"), 2);
    /* No trouble is reported, except scopes open at the first report. */
    CHECK_EQ(times_in(r.err, "no rows: 1 scope is open: before "), 1);
    CHECK_EQ(times_in(r.err, "gnomon: 1 "), 0);
}

/* ---- The program, and what it exports -------------------------------------- */

TEST(run_sets_it_up)
{
    NEEDS_PROGRAM;
    NEEDS_NVTX;
    child_result r = shell("$G run --nvtx -- " AT("program") " nested");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "0 1 0\n");
    CHECK_TABLE(r.err, "Profiler Report", "outer", "inner");
    r = shell("$G run -p 'simple,file=t.txt' --nvtx " AT("program") " nested");
    CHECK_STR(r.err, "gnomon: report: t.txt\n");
    r = shell("$G run " AT("program") " nested"); /* not asked for */
    CHECK_EQ(times_in(r.err, "made a mark of gnomon; for marks of NVTX use "
                             "gnomon run --nvtx\n"),
             1);
    CHECK_EQ(times_in(r.err, "\n"), 1);
    r = shell("NVTX_INJECTION64_PATH=/else.so $G run --nvtx sh -c 'echo "
              "$NVTX_INJECTION64_PATH'");
    CHECK_EQ(times_in(r.err, "gnomon: --nvtx: NVTX_INJECTION64_PATH was "
                             "/else.so; for this program it is /"),
             1);
    CHECK_EQ(times_in(r.out, "/libgnomon-nvtx.so\n"), 1);
    r = shell("$G run --nvtx $G run --nvtx true"); /* gnomon's already */
    CHECK_EQ(times_in(r.err, "NVTX_INJECTION64_PATH"), 0);
    CHECK_EQ(times_in(r.err, ": nothing was recorded: no process on this "
                             "machine called gnomon or NVTX\n"),
             1);
    CHECK_EQ(times_in(r.err, "\n"), 1);
}

/* As installed, in folders of any name; and from the build folder. */
TEST(run_finds_it_from_where_the_program_is)
{
    NEEDS_PROGRAM;
    NEEDS_NVTX;
    child_result r =
        shell("mkdir bin && cp $G bin && for d in lib lib64 "
              "lib/$(uname -m)-linux-gnu; do mkdir $d && ln -s " LIBRARY
              " $d; done; bin/gnomon run --nvtx " AT("program") " nested");
    CHECK_TABLE(r.err, "Profiler Report", "outer", "inner");
    r = shell("mkdir -p far/away && cp $G far/away && "
              "far/away/gnomon run --nvtx true");
    CHECK_EQ(r.status, 2);
    CHECK_EQ(
        times_in(r.err, "gnomon: --nvtx: libgnomon-nvtx.so is neither in "), 1);
    CHECK_EQ(times_in(r.err, "\n"), 1);
}

TEST(it_exports_what_nvtx_asks_for)
{
    NEEDS_NVTX;
    if (IS_ASAN || IS_TSAN || shell("command -v nm").status)
        SKIP("no nm, or a sanitizer's own symbols");
    child_result r =
        shell("nm -D --defined-only " LIBRARY " | sed 's/.* //' | sort");
    int has_extensions = shell(AT("extended")).status != 77;
    CHECK_STR(r.out, has_extensions
                         ? "InitializeInjectionNvtx\nInitializeInjectionNvtx2\n"
                           "InitializeInjectionNvtxExtension\ngnomon_nvtx_in\n"
                         : "InitializeInjectionNvtx\nInitializeInjectionNvtx2\n"
                           "gnomon_nvtx_in\n");
}
