/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes that end on another thread than they began on: when they end, what
 * stays open, and what is counted where nothing could end. Expected values
 * are computed by hand.
 *
 * links: testing
 * labels: guest */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark/foreign.h"
#include "marks.h"
#include "probe_profile.h"
#include "os_calls.h"
#include "turns.h"

#define MANY 3000

static gnomon_token begin(const char *name)
{
    return gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
}

static void *end_it(void *token)
{
    gnomon_end(*(gnomon_token *)token);
    return NULL;
}

static void end_elsewhere(gnomon_token token)
{
    on_thread(end_it, &token);
}

static uint64_t opens_of(const gnomon_profile *p)
{
    return p ? gnomon_profile_count(p, GNOMON_OPENS) : 0;
}

static int depth_of(const gnomon_profile *p)
{
    int most = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n = {.parent = (uint32_t)i};
        int depth = 0;
        for (; n.parent; depth++)
            gnomon_profile_node(p, n.parent, &n);
        most = depth > most ? depth : most;
    }
    return most;
}

/* ---- The moment ---------------------------------------------------------------- */

TEST(it_ends_at_the_time_of_the_call)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token outer = begin("outer");
    pass(1);
    gnomon_token a = begin("a");
    pass(5);
    end_elsewhere(a);
    pass(30);
    gnomon_token b = begin("b"); /* the next mark */
    pass(2);
    gnomon_end(b);
    gnomon_end(outer);
    CHECK_HEALTH(before, .foreign = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "outer>a", 1, 5, 5);
    CHECK_NODE(p, "outer>b", 1, 2, 2);
    CHECK_NODE(p, "outer", 1, 38, 31);
    gnomon_profile_free(p);
}

/* The thread that ends "a" has read the clock, and is then held up until "b", which is
 * inside, has ended later. */
TEST(an_end_that_is_heard_of_late)
{
    attach_probe();
    gnomon_token outer = begin("outer"), a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(9);
    gnomon_end(b);
    gnomon__test_pass((uint64_t)-4);
    end_elsewhere(a);
    pass(14);
    gnomon_end(outer);
    gnomon_profile *p = profile_of("probe", 0); /* which it checks */
    CHECK_NODE(p, "outer>a>b", 1, 9, 9);
    CHECK_NODE(p, "outer>a", 1, 6, 0);
    CHECK_NODE(p, "outer", 1, 20, 11); /* Each moment is of one scope. */
    gnomon_profile_free(p);
}

/* A profile shows the end, also if the thread makes no mark any more. */
TEST(a_thread_that_makes_no_mark_is_read_right)
{
    attach_probe();
    gnomon_token a = begin("a");
    pass(5);
    end_elsewhere(a);
    pass(30);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 5, 5);
    CHECK_EQ(opens_of(p), 0);
    gnomon_profile_free(p);
}

/* The same where its profiler wants events and times of steps. */
TEST(a_thread_that_makes_no_mark_is_read_with_its_events)
{
    static const gnomon_profiler events = {
        .struct_size = sizeof events,
        .abi = GNOMON_ABI,
        .name = "events",
        .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS | GNOMON_WANT_STEPS};
    gnomon_event_info e = {.kind = 0};
    CHECK_EQ(gnomon_attach(&events, NULL, NULL), GNOMON_OK);
    gnomon_token a = begin("a");
    pass(5);
    end_elsewhere(a);
    pass(30);
    gnomon_profile *p = profile_of("events", 0);
    CHECK_NODE(p, "a", 1, 5, 5);
    CHECK_EQ(opens_of(p), 0);
    if (CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 1))
        CHECK_EQ(gnomon_profile_event(p, 1, &e), GNOMON_OK);
    CHECK_EQ(e.duration_ns, 5);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&events, NULL), GNOMON_OK);
}

TEST(it_counts_in_the_stage_in_which_it_ended)
{
    CHECK_EQ(gnomon_stage_begin("one"), GNOMON_OK);
    attach_probe();
    gnomon_token a = begin("a");
    pass(5);
    end_elsewhere(a);
    pass(30);
    CHECK_EQ(gnomon_stage_begin("two"), GNOMON_OK);
    pass(3);
    gnomon_end(begin("b"));
    gnomon_profile *p = profile_of("probe", 1);
    gnomon_stage_info s;
    CHECK_NODE(p, "a", 1, 5, 5);
    CHECK_EQ(gnomon_profile_stage(p, 1, &s), GNOMON_OK);
    CHECK_EQ(s.late, 0);
    gnomon_profile_free(p);
}

/* ---- A reader between two ends ------------------------------------------------------- */

static gnomon_token first, second;
static uint32_t asked, answered;

static void wait_for(const uint32_t *word, uint32_t value)
{
    for (uint32_t tries = 0; load_acquire(word) != value;)
        give_turn(&tries);
}

/* Each time it is asked it makes a mark. */
static void *mark_when_asked(void *unused)
{
    first = begin("first");
    second = begin("second");
    for (uint32_t i = 1; i <= 3; i++) {
        store_release(&answered, i);
        wait_for(&asked, i);
        gnomon_end(begin("mark"));
    }
    return unused;
}

/* In the reader's barrier: its owner makes the first end itself and opens its short
 * paths, and only then comes the second end. */
static void owner_settles(void)
{
    gnomon__test_at_calls(NULL);
    store_release(&asked, 1);
    wait_for(&answered, 2);
    gnomon_end(second);
}

static int have_foreign_ends(void)
{
    int any = 0;
    gnomon__each_thread(t)
        any |= gnomon__has_foreign_ends(t);
    return any;
}

/* Its next mark may have begun before it saw that it was shut again, so a reader must
 * not write to its trees. */
TEST(a_thread_that_settled_in_the_barrier_is_left_alone)
{
    pthread_t owner;
    attach_probe();
    pthread_create(&owner, NULL, mark_when_asked, NULL);
    wait_for(&answered, 1);
    gnomon_end(first);
    gnomon__test_at_calls(owner_settles);
    gnomon__foreign_settle();
    CHECK_EQ(answered, 2);
    CHECK(have_foreign_ends());
    gnomon__foreign_settle(); /* nobody settles meanwhile */
    CHECK(!have_foreign_ends());
    store_release(&asked, 2);
    wait_for(&answered, 3);
    store_release(&asked, 3);
    pthread_join(owner, NULL);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(opens_of(p), 0);
    gnomon_profile_free(p);
}

/* Begun in one stage, ended in a later one: late, as on one thread. */
TEST(it_may_be_late)
{
    CHECK_EQ(gnomon_stage_begin("one"), GNOMON_OK);
    attach_probe();
    gnomon_token a = begin("a"), b = begin("b");
    pass(5);
    CHECK_EQ(gnomon_stage_begin("two"), GNOMON_OK);
    pass(3);
    end_elsewhere(a);
    pass(2);
    gnomon_end(b);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "a"), 1);
    CHECK_EQ(calls_of(p, "b"), 1);
    CHECK_EQ(stats_at(p, "a").total_ns, 8);
    CHECK_EQ(stats_at(p, "a>b").total_ns, 10);
    gnomon_profile_free(p);
}

/* ---- Inner scopes -------------------------------------------------------- */

/* The self time up to the end stays with the old path: all add up. */
TEST(what_began_inside_goes_on)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(2);
    end_elsewhere(a);
    gnomon_token f = begin("f");
    pass(4);
    gnomon_end(f);
    pass(8);
    gnomon_end(b);
    CHECK_HEALTH(before, .crossed = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 3, 1);
    CHECK_NODE(p, "a>b", 0, 0, 2);
    CHECK_NODE(p, "b", 1, 14, 8);
    CHECK_NODE(p, "b>f", 1, 4, 4);
    gnomon_profile_free(p);
}

TEST(scopes_that_always_overlap_nest_no_deeper)
{
    attach_probe();
    gnomon_health before = health_now();
    gnomon_token last = begin("job");
    for (int i = 0; i < MANY; i++) {
        gnomon_token next = begin("job");
        gnomon_token f = begin("f");
        pass(1);
        gnomon_end(f);
        end_elsewhere(last);
        last = next;
    }
    end_elsewhere(last);
    CHECK_HEALTH(before, .crossed = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "job"), MANY + 1);
    CHECK_EQ(calls_of(p, "f"), MANY);
    if (!CHECK(depth_of(p) <= 3))
        fprintf(stderr, "    %d deep\n", depth_of(p));
    uint64_t self = 0;
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        self += n.host ? n.host->self_ns : 0;
    }
    CHECK_EQ(self, MANY); /* each moment is one scope's own */
    gnomon_profile_free(p);
}

/* ---- Observers ----------------------------------------------------------- */

typedef struct seen {
    char names[16][8];
    uint32_t flags[16];
    uint64_t slots[16], ends[16];
    int starts, stops;
} seen;

static seen all;

static void see_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame;
    *slot = (uint64_t)++all.starts;
}

static void see_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    int i = all.stops++ & 15;
    snprintf(all.names[i], sizeof *all.names, "%s", frame->name);
    all.flags[i] = frame->flags;
    all.slots[i] = *slot;
    all.ends[i] = frame->end_ns - frame->begin_ns;
}

static gnomon_profiler hook = {.struct_size = sizeof hook,
                               .abi = GNOMON_ABI,
                               .wants = GNOMON_WANT_TIMES,
                               .name = "hook",
                               .start = see_start,
                               .stop = see_stop};

/* On the thread that began it, at its next mark, though it is not the
 * innermost scope. */
static void hooks_are_told(uint32_t wants, int with_tree)
{
    hook.wants = wants;
    memset(&all, 0, sizeof all);
    gnomon_health before = health_now();
    if (with_tree)
        attach_probe();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    gnomon_token a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(2);
    end_elsewhere(a);
    CHECK_EQ(all.stops, 0);
    pass(4);
    gnomon_token f = begin("f");
    CHECK_EQ(all.stops, 1);
    CHECK_STR(all.names[0], "a");
    CHECK_EQ(all.flags[0], GNOMON_FRAME_FOREIGN);
    CHECK_EQ(all.slots[0], 1);
    CHECK_EQ(all.ends[0], wants || with_tree ? 3 : 0);
    pass(8);
    gnomon_end(f);
    gnomon_end(b);
    CHECK_EQ(all.stops, 3);
    CHECK_STR(all.names[2], "b");
    CHECK_EQ(all.flags[2], 0);
    if (wants)
        CHECK_EQ(all.ends[2], 14);
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
    CHECK_EQ(all.stops, 3);
    CHECK_HEALTH(before, .crossed = 0);
    if (!with_tree)
        return;
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 3, 1);
    CHECK_NODE(p, "b", 1, 14, 6 - 2);
    CHECK_NODE(p, "b>f", 1, 8, 8);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
}

TEST(hooks_are_called_on_the_thread_of_the_begin)
{
    hooks_are_told(GNOMON_WANT_TIMES, 0);
    hooks_are_told(GNOMON_WANT_TIMES, 1);
    hooks_are_told(0, 0);
    hooks_are_told(0, 1);
}

/* A thread that makes no mark any more: hooks get the end with the open
 * scopes. */
TEST(a_hook_that_leaves_first_gets_its_stop)
{
    hook.wants = GNOMON_WANT_TIMES;
    attach_probe();
    CHECK_EQ(gnomon_attach(&hook, NULL, NULL), GNOMON_OK);
    gnomon_token a = begin("a");
    end_elsewhere(a);
    CHECK_EQ(gnomon_detach(&hook, NULL), GNOMON_OK);
    CHECK_EQ(all.starts, 1);
    CHECK_EQ(all.stops, 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 0, 0);
    gnomon_profile_free(p);
}

TEST(several_trees_close_it)
{
    attach_probe();
    CHECK_EQ(gnomon_attach(&other_probe, NULL, "filter=a|f"), GNOMON_OK);
    gnomon_token a = begin("a");
    pass(1);
    gnomon_token b = begin("b");
    pass(2);
    end_elsewhere(a);
    gnomon_token f = begin("f");
    pass(4);
    gnomon_end(f);
    gnomon_end(b);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 3, 1);
    CHECK_NODE(p, "b>f", 1, 4, 4);
    gnomon_profile_free(p);
    p = profile_of("other_probe", 0);
    CHECK_NODE(p, "a", 1, 3, 3);
    CHECK_NODE(p, "f", 1, 4, 4);
    gnomon_profile_free(p);
}

/* ---- Ends that are refused ----------------------------------------------- */

static gnomon_token left;

static void *begin_and_end(void *unused)
{
    (void)unused;
    left = begin("left");
    return NULL;
}

static void *end_of_the_dead(void *unused)
{
    (void)unused;
    gnomon_token own = begin("own");
    end_elsewhere(left);
    pass(5);
    gnomon_end(own);
    return NULL;
}

/* Another thread has taken its state over; that thread's scopes are not
 * touched. */
TEST(an_ended_thread_has_delivered_it)
{
    attach_probe();
    gnomon_health before = health_now();
    on_thread(begin_and_end, NULL);
    CHECK_HEALTH(before, .left_open = 1);
    end_elsewhere(left);
    on_thread(end_of_the_dead, NULL);
    gnomon_end(begin("mine"));
    CHECK_HEALTH(before, .left_open = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "own", 1, 5, 5);
    CHECK_EQ(calls_of(p, "left"), 0);
    gnomon_profile_free(p);
}

static void *begin_be_told_and_end(void *unused)
{
    (void)unused;
    left = begin("left");
    pass(4);
    end_elsewhere(left);
    pass(4);
    return NULL;
}

TEST(an_ending_thread_applies_pending_ends)
{
    attach_probe();
    gnomon_health before = health_now();
    on_thread(begin_be_told_and_end, NULL);
    CHECK_HEALTH(before, .left_open = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "left", 1, 4, 4);
    gnomon_profile_free(p);
}

static void *end_often(void *token)
{
    for (int i = 0; i < MANY; i++)
        gnomon_end(*(gnomon_token *)token);
    return NULL;
}

/* More ends than the thread has open scopes are counted at once, and take no
 * memory. */
TEST(repeated_ends_are_counted)
{
    attach_probe();
    gnomon_token a = begin("a");
    end_elsewhere(a);
    gnomon_end(begin("b"));
    gnomon_health before = health_now();
    for (int i = 0; i < 4; i++)
        on_thread(end_often, &a);
    gnomon_end(begin("b"));
    CHECK_HEALTH(before, .foreign = 4 * MANY);
    gnomon_health after = health_now();
    CHECK(after.mapped_bytes - before.mapped_bytes < 100000);
    for (int i = 0; i < 4; i++)
        on_thread(end_often, &a);
    gnomon_end(begin("b"));
    CHECK_HEALTH(before, .foreign = 8 * MANY);
    CHECK_EQ(health_now().mapped_bytes, after.mapped_bytes);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "a"), 1);
    CHECK_EQ(calls_of(p, "b"), 3);
    gnomon_profile_free(p);
}

TEST(actions_end_by_their_name_alone)
{
    attach_probe();
    gnomon_start("action");
    gnomon_open_scope open = {.struct_size = sizeof open};
    CHECK_EQ(gnomon_thread_stack(0, &open, 1), 1);
    gnomon_health before = health_now();
    end_elsewhere(open.token);
    pass(4);
    gnomon_stop("action");
    CHECK_HEALTH(before, .foreign = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "action", 1, 4, 4);
    gnomon_profile_free(p);
}

/* Past the depth limit only a count is kept, and it returns to 0. */
TEST(past_the_limit_of_depth)
{
    static gnomon_token t[1040];
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < 1040; i++)
        t[i] = begin("deep");
    for (int i = 0; i < 1040; i += 2)
        end_elsewhere(t[i]);
    for (int i = 1; i < 1040; i += 2)
        end_elsewhere(t[i]);
    gnomon_end(begin("f"));
    CHECK_HEALTH(before, .too_deep = 16);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "deep") + calls_of(p, "(other)"), 1040);
    CHECK_EQ(stats_at(p, "f").count, 1);
    CHECK_EQ(opens_of(p), 0);
    gnomon_profile_free(p);
}

/* ---- From anywhere ---------------------------------------------------------------- */

static volatile gnomon_token from_handler;

static void handler(int number)
{
    (void)number;
    gnomon_end(from_handler);
}

static void *end_in_handler(void *unused)
{
    (void)unused;
    gnomon_end(begin("own"));
    raise(SIGUSR1);
    return NULL;
}

TEST(a_signal_handler_may_end_it)
{
    attach_probe();
    signal(SIGUSR1, handler);
    gnomon_health before = health_now();
    from_handler = begin("a");
    pass(3);
    on_thread(end_in_handler, NULL);
    pass(3);
    gnomon_end(begin("b"));
    CHECK_HEALTH(before, .foreign = 0);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 3, 3);
    gnomon_profile_free(p);
}

static int child_of(gnomon_token parents)
{
    int failures = test_failures;
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    gnomon_token own = begin("own");
    gnomon_health before = health_now();
    end_elsewhere(parents);
    pass(2);
    gnomon_end(own);
    CHECK_HEALTH(before, .foreign = 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "own", 1, 2, 2);
    gnomon_profile_free(p);
    return test_failures - failures;
}

/* With an end pending that the parent had received. */
TEST(a_forked_child_is_not_affected)
{
    int status = -1;
    attach_probe();
    gnomon_token a = begin("a"), b = begin("b");
    end_elsewhere(b);
    pid_t child = fork();
    if (!child)
        _exit(child_of(a));
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    pass(1);
    gnomon_end(a);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_NODE(p, "a", 1, 1, 1);
    CHECK_NODE(p, "a>b", 1, 0, 0);
    gnomon_profile_free(p);
}
