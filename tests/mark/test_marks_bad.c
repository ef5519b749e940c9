/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every wrong use of marks, one by one: it is counted in its own field of
 * gnomon_health and in no other, and what was recorded stays right.
 * links: testing
 * timeout: 300 */
#include <errno.h>
#include <stdlib.h>

#include "marks.h"
#include "platform/os.h"
#include "probe_profile.h"

static gnomon_region *region(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
}

/* One right scope after the wrong use, and only right ones in the profile. */
static void still_records(uint64_t scopes_before)
{
    gnomon_token t = gnomon_begin(region("good"));
    pass(10);
    gnomon_end(t);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "good"), scopes_before + 1);
    gnomon_profile_free(p);
}

TEST(a_second_end)
{
    attach_probe();
    gnomon_token t = gnomon_begin(region("good"));
    pass(10);
    gnomon_end(t);
    gnomon_health before = health_now();
    gnomon_end(t);
    CHECK_HEALTH(before, .unmatched = 1);
    gnomon_token again = gnomon_begin(region("good"));
    gnomon_end(t); /* the next scope of the same path ignores it */
    pass(10);
    gnomon_end(again);
    CHECK_HEALTH(before, .unmatched = 2);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "good", 2, 20, 20);
    gnomon_profile_free(p);
}

TEST(an_end_of_a_scope_around_others)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token a = gnomon_begin(region("a"));
    pass(1);
    gnomon_token b = gnomon_begin(region("b"));
    pass(2);
    gnomon_token c = gnomon_begin(region("c"));
    pass(4);
    gnomon_start("survivor");
    pass(8);
    gnomon_end(a);
    CHECK_HEALTH(before, .crossed = 2);
    pass(16);
    gnomon_end(c); /* over already */
    gnomon_end(b);
    CHECK_HEALTH(before, .crossed = 2, .unmatched = 2);
    gnomon_stop("survivor");
    CHECK_HEALTH(before, .crossed = 2, .unmatched = 2);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "a", 1, 15, 1);
    CHECK_NODE(p, "a>b", 1, 14, 2);
    CHECK_NODE(p, "a>b>c", 1, 12, 4);
    CHECK_NODE(p, "a>b>c>survivor", 1, 24, 24);
    gnomon_profile_free(p);
}

TEST(a_start_and_a_stop_too_many)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_start("x");
    pass(5);
    gnomon_start("x");
    CHECK_HEALTH(before, .twice = 1);
    pass(5);
    gnomon_stop("x");
    gnomon_stop("x");
    gnomon_stop("never heard of");
    CHECK_HEALTH(before, .twice = 1, .never_started = 2);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "x", 1, 10, 10);
    gnomon_profile_free(p);
}

/* ---- Other threads ------------------------------------------------------------ */

static void *end_it(void *token)
{
    gnomon_end(*(gnomon_token *)token); /* its first mark */
    gnomon_token own = gnomon_begin(region("own"));
    gnomon_end(*(gnomon_token *)token); /* now it is known */
    gnomon_end(own);
    return NULL;
}

/* The first end takes effect at its time: test_foreign_ends.c. */
TEST(ends_on_another_thread_and_once_more)
{
    attach_probe();
    gnomon_token t = gnomon_begin(region("good"));
    gnomon_health before = health_now();
    pass(7);
    on_thread(end_it, &t);
    pass(5);
    gnomon_end(t);
    CHECK_HEALTH(before, .unmatched = 1, .foreign = 1);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "good", 1, 7, 7);
    gnomon_profile_free(p);
}

static void *stop_it(void *name)
{
    gnomon_stop(name);
    return NULL;
}

TEST(a_stop_on_the_wrong_thread)
{
    static char name[] = "mine";
    attach_probe();
    gnomon_health before = health_now();
    gnomon_start(name);
    on_thread(stop_it, name);
    CHECK_HEALTH(before, .never_started = 1);
    pass(3);
    gnomon_stop(name);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "mine", 1, 3, 3);
    gnomon_profile_free(p);
}

static void *leave_open(void *unused)
{
    gnomon_begin(region("outer"));
    gnomon_token t = gnomon_begin(region("inner"));
    gnomon_end(t);
    gnomon_begin(region("inner"));
    gnomon_start("stopped");
    gnomon_start("action");
    gnomon_stop("stopped");
    return unused;
}

TEST(scopes_that_are_open_when_their_thread_ends)
{
    attach_probe();
    gnomon_health before = health_now();
    on_thread(leave_open, NULL);
    CHECK_HEALTH(before, .left_open = 3);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    CHECK_NODE(p, "outer>inner", 1, 0, 0);
    gnomon_profile_free(p);
    on_thread(leave_open, NULL); /* inherits the state: nothing is open */
    CHECK_HEALTH(before, .left_open = 6);
    p = profile_of("probe", 1);
    CHECK_NODE(p, "outer>inner", 2, 0, 0);
    gnomon_profile_free(p);
}

static void *leave_in_a_child(void *unused)
{
    gnomon_token t = gnomon_begin(region("outer"));
    pass(10);
    gnomon_end(t);
    gnomon_begin(region("outer"));
    pass(2);
    gnomon_token inner = gnomon_begin(region("inner"));
    pass(7);
    gnomon_end(inner);
    gnomon_begin(region("left"));
    pass(4);
    return unused;
}

/* Scopes that never end do not count, and take no time from others. */
TEST(an_end_of_a_thread_takes_no_time_from_earlier_executions)
{
    attach_probe();
    on_thread(leave_in_a_child, NULL);
    for (int stage = 0; stage < 2; stage++) {
        gnomon_profile *p = profile_of("probe", 1);
        CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
        CHECK_NODE(p, "outer", 1, 10, 10 + 2);
        CHECK_NODE(p, "outer>inner", 1, 7, 7);
        CHECK_NODE(p, "outer>left", 0, 0, 4);
        gnomon_profile_free(p);
        gnomon_stage_begin("next");
    }
}

/* ---- Invalid tokens ------------------------------------------------------ */

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Half of them differ from the open token in one or two bits. */
static gnomon_token bad_token(gnomon_token open)
{
    gnomon_token token = random_bits();
    if (token & 1)
        token = open ^ 1ull << (token >> 8 & 63);
    if ((token & 6) == 6)
        token ^= 1ull << (token >> 16 & 63);
    return token == open || !token ? 2 : token;
}

TEST(random_tokens)
{
    attach_probe();
    gnomon_token outer = gnomon_begin(region("outer"));
    pass(1);
    gnomon_token open = gnomon_begin(region("good"));
    gnomon_health before = health_now();
    for (int i = 0; i < 1000000; i++) {
        gnomon_token bad = bad_token(open);
        gnomon_end(bad == outer ? 4 : bad);
    }
    gnomon_health after = health_now();
    uint64_t counted = after.unmatched + after.foreign;
    CHECK_EQ(counted - before.unmatched - before.foreign, 1000000);
    CHECK_HEALTH(before, .unmatched = after.unmatched - before.unmatched,
                 .foreign = after.foreign - before.foreign);
    CHECK_EQ(after.mapped_bytes, before.mapped_bytes);
    CHECK_EQ(after.heap_bytes, before.heap_bytes);
    pass(10);
    gnomon_end(open);
    gnomon_end(outer);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "outer", 1, 11, 1);
    CHECK_NODE(p, "outer>good", 1, 10, 10);
    gnomon_profile_free(p);
}

/* Hooks and readers see an action's token: it ends nothing. */
TEST(tokens_of_actions_end_nothing)
{
    attach_probe();
    gnomon_start("action");
    gnomon_open_scope open = {.struct_size = sizeof open};
    CHECK_EQ(gnomon_thread_stack(0, &open, 1), 1);
    gnomon_health before = health_now();
    gnomon_end(open.token);
    CHECK_HEALTH(before, .unmatched = 1);
    pass(4);
    gnomon_stop("action");
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "action", 1, 4, 4);
    gnomon_profile_free(p);
}

TEST(random_tokens_before_anything_is_attached)
{
    gnomon_health before = health_now();
    for (int i = 0; i < 1000; i++)
        gnomon_end(random_bits() | 1);
    CHECK_HEALTH(before, .foreign = 1000);
    attach_probe();
    still_records(0);
}

/* ---- Inside callbacks ----------------------------------------------------------- */

static gnomon_region *inner_region;
static int codes[8];

static void mark_all(void)
{
    gnomon_end(gnomon_begin(inner_region) + 1);
    gnomon_start("inside");
    gnomon_stop("inside");
    gnomon_range_end(gnomon_range_begin(inner_region) + 1);
    gnomon_counter(inner_region, 1);
    GNOMON_COUNTER("never seen before", 1);
    gnomon_mark(inner_region);
    gnomon_link link = gnomon_link_out();
    link.word[0] = 1;
    gnomon_link_in(&link, 0);
    gnomon_thread_name("inside");
    gnomon_step();
}

static void on_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    (void)slot;
    mark_all();
    gnomon_profile *p = NULL;
    codes[0] = gnomon_setup(NULL);
    codes[1] = gnomon_teardown();
    codes[2] = gnomon_attach(NULL, NULL, "");
    codes[3] = gnomon_stage_begin("fit");
    codes[4] = gnomon_stage_end();
    codes[5] = gnomon_metadata("a", "1");
    codes[6] = gnomon_snapshot(&p, "probe", 1);
    codes[7] = gnomon_attach(&probe, NULL, NULL);
}

TEST(marks_inside_callbacks)
{
    static const gnomon_profiler hook = {.struct_size = sizeof hook,
                                         .abi = GNOMON_ABI,
                                         .name = "hook",
                                         .start = on_start};
    attach_probe();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    inner_region = region("inside");
    gnomon_health before = health_now();
    gnomon_token t = gnomon_begin(region("good"));
    CHECK_HEALTH(before, .reentered = 13);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(codes[i], GNOMON_EBUSY);
    pass(6);
    gnomon_end(t);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 1);
    CHECK_NODE(p, "good", 1, 6, 6);
    gnomon_profile_free(p);
}

/* ---- NULL ----------------------------------------------------------------------- */

TEST(null_everywhere)
{
    gnomon_profile *p = NULL;
    attach_probe();
    gnomon_health before = health_now();
    CHECK_EQ(gnomon_begin(NULL), 0);
    CHECK_EQ(gnomon_range_begin(NULL), 0);
    gnomon_counter(NULL, 1);
    gnomon_mark(NULL);
    CHECK_HEALTH(before, .bad_regions = 4);
    gnomon_end(0);
    gnomon_range_end(0);
    gnomon_link_in(NULL, 0);
    gnomon_link nowhere = {{0}};
    gnomon_link_in(&nowhere, 0);
    gnomon_profile_free(NULL);
    CHECK_HEALTH(before, .bad_regions = 4);
    gnomon_start(NULL);
    gnomon_stop(NULL);
    gnomon_thread_name(NULL);
    gnomon_region *null = gnomon_region_get(NULL, NULL, GNOMON_KIND_SCOPE);
    CHECK(null != NULL);
    CHECK_STR(null->name, "(null)");
    CHECK_HEALTH(before, .bad_regions = 4, .bad_names = 4);
    CHECK_EQ(gnomon_stage_begin(NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_metadata(NULL, "1"), GNOMON_EINVAL);
    CHECK_EQ(gnomon_metadata("key", NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_detach(NULL, NULL), GNOMON_ENOENT);
    CHECK_EQ(gnomon_snapshot(NULL, "probe", 1), GNOMON_EINVAL);
    CHECK_EQ(gnomon_snapshot(&p, NULL, 1), GNOMON_ENOENT);
    CHECK_EQ(gnomon_summary("probe", NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_profile_check(NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_thread_stack(0, NULL, 4), GNOMON_EINVAL);
    CHECK_EQ(gnomon_thread_stack(0, NULL, 0), 0);
    p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "(null)"), 1);
    gnomon_profile_free(p);
}

/* ---- errno ---------------------------------------------------------------------- */

static void *mark_with_errno(void *unused)
{
    static gnomon_region fresh =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "first of a region", NULL, NULL);
    for (int i = 0; i < 3; i++) {
        errno = 4711;
        gnomon_token t = gnomon_begin(&fresh);
        CHECK_EQ(errno, 4711);
        gnomon_start(i ? "second" : "first");
        gnomon_mark(region(i ? "m1" : "m2"));
        gnomon_thread_name("worker");
        gnomon_range_end(gnomon_range_begin(region("r")));
        gnomon_end(t + 1);
        gnomon_stop(i ? "second" : "first");
        gnomon_end(t);
        gnomon_step();
        CHECK_EQ(errno, 4711);
    }
    return unused;
}

TEST(errno_is_left_alone)
{
    setenv("GNOMON", "probably a mistake, passthrough(colour=red)", 1);
    mark_with_errno(NULL); /* reads $GNOMON, and complains */
    on_thread(mark_with_errno, NULL);
    attach_probe();
    mark_with_errno(NULL);
    on_thread(mark_with_errno, NULL);
}

/* ---- No setup --------------------------------------------------------------------- */

TEST(marks_need_no_setup)
{
    CHECK_EQ(gnomon_teardown(), GNOMON_ESTATE);
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    gnomon_token t = gnomon_begin(region("a"));
    CHECK(t != 0);
    gnomon_end(t);
    gnomon_open_scope open = {.struct_size = sizeof open};
    CHECK_EQ(gnomon_thread_count(), 1);
    CHECK_EQ(gnomon_thread_stack(0, &open, 1), 0);
    CHECK_EQ(gnomon_thread_stack(1, &open, 1), GNOMON_EINVAL);
}
