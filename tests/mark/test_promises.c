/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Single promises without a test file of their own: first samples that are
 * NaN, many open ranges, stops that hooks get whatever is detached
 * meanwhile, static regions past the table of regions.
 *
 * links: testing
 * timeout: 300 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>

#include "mark/region.h"
#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"

static gnomon_region *region(const char *name, int kind)
{
    return gnomon_region_get(name, NULL, kind);
}

/* ---- Counters ----------------------------------------------------------------------- */

static gnomon_counter_info counter_of(const gnomon_profile *p)
{
    gnomon_counter_info c = {.struct_size = sizeof c};
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    return c;
}

TEST(a_first_sample_that_is_no_number)
{
    gnomon_region *loss = region("loss", GNOMON_KIND_COUNTER);
    attach_probe();
    gnomon_counter(loss, (double)NAN);
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_counter_info c = counter_of(p);
    CHECK_EQ(c.count, 0);
    CHECK_EQ(c.nans, 1);
    CHECK(c.last == 0 && c.min == 0 && c.max == 0 && c.sum == 0);
    gnomon_profile_free(p);
    gnomon_counter(loss, 3);
    gnomon_counter(loss, (double)-NAN);
    gnomon_counter(loss, -1);
    p = profile_of("probe", 0);
    c = counter_of(p);
    CHECK_EQ(c.count, 2);
    CHECK_EQ(c.nans, 2);
    CHECK(c.last == -1 && c.min == -1 && c.max == 3 && c.sum == 2);
    gnomon_profile_free(p);
    /* Of one name, with a stage without any numeric sample. */
    gnomon_stage_begin("fit");
    gnomon_stage_begin("fit");
    gnomon_counter(loss, (double)NAN);
    gnomon_stage_begin("fit");
    gnomon_counter(loss, 7);
    p = profile_of("probe", 1);
    c = counter_of(p);
    CHECK_EQ(c.nans, 3);
    CHECK_EQ(c.count, 3);
    CHECK(c.last == 7 && c.min == -1 && c.max == 7 && c.sum == 9);
    gnomon_profile_free(p);
}

/* ---- Many open ranges ------------------------------------------------------------------ */

#define PAIRS 40
#define MOST_OPEN 8191 /* with one more the pool is full */

static void end_and_begin(gnomon_region *r)
{
    for (int i = 0; i < PAIRS; i++)
        gnomon_range_end(gnomon_range_begin(r));
}

/* Instructions of PAIRS pairs while `open` ranges are open, by single steps. */
static long steps_with(int open)
{
    int status = 0;
    long steps = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        gnomon_region *r = region("r", GNOMON_KIND_RANGE);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        attach_probe();
        end_and_begin(r);
        for (int i = 0; i < open; i++)
            gnomon_range_begin(r);
        gnomon_health h = health_now();
        end_and_begin(r); /* ways that are known */
        raise(SIGSTOP);
        end_and_begin(r);
        raise(SIGSTOP);
        _exit(h.lost_ranges != 0 || test_failures);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return -1;
    do {
        steps++;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
            waitpid(child, &status, 0) != child)
            return -1;
    } while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    return steps;
}

TEST(open_ranges_do_not_make_others_slow)
{
    if (IS_SLOW)
        SKIP("no single steps here");
    long none = steps_with(0), many = steps_with(MOST_OPEN);
    if (none < 0 || many < 0)
        SKIP("no single steps here");
    CHECK(none > PAIRS * 20);
    if (!CHECK(many <= none + none / 5))
        fprintf(stderr, "    %ld instructions with %d open, %ld with none\n",
                many, MOST_OPEN, none);
}

/* ---- Hooks --------------------------------------------------------------------------- */

static int starts, stops, unfinished;

static void on_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    starts++;
    *slot = f->token;
}

static void on_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    CHECK_EQ(*slot, f->token);
    stops++;
    unfinished += (f->flags & GNOMON_FRAME_UNFINISHED) != 0;
}

static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                     .abi = GNOMON_ABI,
                                     .name = "hook",
                                     .start = on_start,
                                     .stop = on_stop};

/* Profilers are attached and detached while they are open. */
TEST(each_start_has_its_stop_where_trees_come_and_go)
{
    gnomon_region *a = region("a", GNOMON_KIND_SCOPE);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    for (int round = 0; round < 4; round++) {
        gnomon_token t[3];
        if (round & 1)
            attach_probe();
        t[0] = gnomon_begin(a);
        gnomon_start("action");
        t[1] = gnomon_begin(a);
        gnomon_range r = gnomon_range_begin(region("r", GNOMON_KIND_RANGE));
        if (round & 1)
            CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
        else
            attach_probe();
        t[2] = gnomon_begin(a);
        gnomon_end(t[2]);
        if (round & 2)
            gnomon_end(t[1]);
        gnomon_range_end(r);
        gnomon_end(t[0]);
        gnomon_stop("action");
        if (!(round & 1))
            CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
        CHECK_EQ(starts, 5 * (round + 1));
        CHECK_EQ(stops, starts);
    }
    CHECK_EQ(unfinished, 0);
}

/* The one that is open goes on, whoever has come since. */
TEST(a_start_of_an_open_action_after_an_attach)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_start("a");
    pass(10);
    CHECK_EQ(gnomon_attach(&other_probe, NULL, NULL), GNOMON_OK);
    gnomon_start("a");
    CHECK_HEALTH(before, .twice = 1);
    pass(5);
    gnomon_stop("a");
    CHECK_HEALTH(before, .twice = 1);
    gnomon_start("a"); /* both see this one */
    pass(2);
    gnomon_stop("a");
    gnomon_profile *p = profile_of("probe", 0);
    gnomon_profile *q = profile_of("other_probe", 0);
    CHECK_NODE(p, "a", 2, 17, 17);
    CHECK_NODE(q, "a", 1, 2, 2);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* No tree is attached that could know of scopes. */
TEST(no_stack_is_known_where_hooks_alone_are)
{
    gnomon_open_scope open[4] = {{.struct_size = sizeof *open}};
    gnomon_region *a = region("a", GNOMON_KIND_SCOPE);
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    gnomon_token outer = gnomon_begin(a);
    CHECK(outer != 0);
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 0);
    attach_probe();
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 0); /* it began before */
    gnomon_token inner = gnomon_begin(a);
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 1);
    CHECK(open[0].token == inner);
    CHECK_STR(open[0].name, "a");
    gnomon_end(inner);
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_thread_stack(0, open, 4), 0);
    gnomon_end(outer);
    CHECK_EQ(stops, starts);
}

/* ---- Regions ------------------------------------------------------------------------- */

/* They record, and all have one name. */
TEST(static_regions_past_the_table_are_other)
{
    enum { MORE = 100 };
    uint32_t n = GNOMON__MAX_REGIONS + MORE;
    if (IS_SLOW)
        SKIP("a sanitizer is too slow at it");
    gnomon_region *all = calloc(n, sizeof *all);
    attach_probe();
    for (uint32_t i = 0; i < n; i++) {
        all[i] = (gnomon_region)GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "many",
                                                   NULL, NULL);
        (void)gnomon_touch_slow(&all[i], all[i].mask);
    }
    uint64_t past = health_now().other_names;
    CHECK(past >= MORE);
    for (uint32_t i = n - MORE; i < n; i++) {
        gnomon_token t = gnomon_begin(&all[i]);
        CHECK(t != 0);
        pass(1);
        gnomon_end(t);
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "(other)"), MORE);
    CHECK_EQ(calls_of(p, "many"), 0);
    gnomon_profile_free(p);
}

/* ---- errno -------------------------------------------------------------------------- */

static int errno_spoiled; /* how often */

static void spoil(void)
{
    errno = 1000 + ++errno_spoiled;
}

static void spoil_scope(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self, (void)f, (void)slot;
    spoil();
}

static void spoil_step(void *self, const gnomon_step_event *e)
{
    (void)self, (void)e;
    spoil();
}

static void spoil_counter(void *self, const gnomon_counter_event *e)
{
    (void)self, (void)e;
    spoil();
}

static void spoil_mark(void *self, const gnomon_mark_event *e)
{
    (void)self, (void)e;
    spoil();
}

static void spoil_thread(void *self, const gnomon_thread_event *e)
{
    (void)self, (void)e;
    spoil();
}

static void spoil_window(void *self, const gnomon_window_event *e)
{
    (void)self, (void)e;
    spoil();
}

static void spoil_link(void *self, const gnomon_link_event *e)
{
    (void)self, (void)e;
    spoil();
}

static const gnomon_profiler spoiler = {.struct_size = sizeof spoiler,
                                        .abi = GNOMON_ABI,
                                        .name = "spoiler",
                                        .start = spoil_scope,
                                        .stop = spoil_scope,
                                        .step = spoil_step,
                                        .counter = spoil_counter,
                                        .mark = spoil_mark,
                                        .thread = spoil_thread,
                                        .window = spoil_window,
                                        .link = spoil_link};

/* Each mark, and that a callback of it was called. */
static void marks_keep_errno(void)
{
    int before = 0;
#define KEEPS(mark) \
    do { \
        before = errno_spoiled; \
        errno = 7; \
        mark; \
        CHECK_EQ(errno, 7); \
        CHECK(errno_spoiled > before); \
    } while (0)
    gnomon_region *scope = region("scope", GNOMON_KIND_SCOPE);
    gnomon_token token;
    gnomon_range range;
    KEEPS(token = gnomon_begin(scope));
    KEEPS(gnomon_link in = gnomon_link_out(); gnomon_link_in(&in, 0));
    KEEPS(gnomon_end(token));
    KEEPS(gnomon_start("action"));
    KEEPS(gnomon_stop("action"));
    KEEPS(range = gnomon_range_begin(region("range", GNOMON_KIND_RANGE)));
    KEEPS(gnomon_range_end(range));
    KEEPS(gnomon_counter(region("counter", GNOMON_KIND_COUNTER), 1));
    KEEPS(gnomon_mark(region("mark", GNOMON_KIND_MARK)));
    KEEPS(gnomon_thread_name("renamed"));
    KEEPS(gnomon_step());
    KEEPS(gnomon_step());
}

/* Alone, beside another one, beside a tree, and with windows that open and close. */
TEST(errno_stays_whatever_callbacks_do_to_it)
{
    static int other;
    CHECK_EQ(gnomon_attach(&spoiler, NULL, NULL), GNOMON_OK);
    marks_keep_errno();
    CHECK_EQ(gnomon_attach(&spoiler, &other, NULL), GNOMON_OK);
    marks_keep_errno();
    attach_probe();
    marks_keep_errno();
    CHECK_EQ(gnomon_detach(&spoiler, &other), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&spoiler, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&spoiler, NULL, "schedule=wait:1/active:1/repeat:9"),
             GNOMON_OK);
    errno = 7;
    int before = errno_spoiled;
    for (int i = 0; i < 4; i++)
        gnomon_step();
    CHECK_EQ(errno, 7);
    CHECK(errno_spoiled > before + 4); /* of windows, too */
}
