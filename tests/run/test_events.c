/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What callbacks other than start and stop are given: each struct, field by field.
 * links: testing */
#include <pthread.h>

#include "marks.h"
#include "probe_profile.h"

/* The last event of each kind. */
typedef struct last_events {
    gnomon_counter_event counter;
    gnomon_mark_event mark;
    gnomon_step_event step;
    gnomon_thread_event thread;
    gnomon_link_event link;
    gnomon_window_event window;
    uint64_t tokens[8]; /* of the scopes that began, in order */
    int scopes;
} last_events;

#define KEEP(field) \
    static void keep_##field(void *self, const gnomon_##field##_event *event) \
    { \
        CHECK_EQ(event->struct_size, sizeof *event); \
        ((last_events *)self)->field = *event; \
    }
KEEP(counter)
KEEP(mark)
KEEP(step)
KEEP(thread)
KEEP(link)
KEEP(window)

static void keep_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    last_events *e = self;
    (void)slot;
    if (e->scopes < 8)
        e->tokens[e->scopes++] = frame->token;
}

static const gnomon_profiler keeps = {
    .struct_size = sizeof keeps,
    .abi = GNOMON_ABI,
    .name = "keeps",
    .wants = GNOMON_WANT_TIMES,
    .start = keep_start,
    .step = keep_step,
    .counter = keep_counter,
    .mark = keep_mark,
    .thread = keep_thread,
    .window = keep_window,
    .link = keep_link,
};

static gnomon_region loss =
    GNOMON_REGION_INIT(GNOMON_KIND_COUNTER, "loss\xff", NULL, NULL);
static gnomon_region saved =
    GNOMON_REGION_INIT(GNOMON_KIND_MARK, "saved", NULL, NULL);
static gnomon_region region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "scope", NULL, NULL);

TEST(counter_and_mark_events_have_every_field)
{
    static last_events e;
    CHECK_EQ(gnomon_attach(&keeps, &e, NULL), GNOMON_OK);
    gnomon_step_at(41);
    pass(100);
    gnomon_counter(&loss, 2.5);
    CHECK(e.counter.region == &loss);
    CHECK_STR(e.counter.name, "loss\xEF\xBF\xBD");
    CHECK(e.counter.value == 2.5);
    CHECK_EQ(e.counter.ns, 100);
    CHECK_EQ(e.counter.step, 41);
    CHECK_EQ(e.counter.thread, 0);
    pass(1);
    gnomon_step();
    pass(1);
    gnomon_mark(&saved);
    CHECK(e.mark.region == &saved);
    CHECK_STR(e.mark.name, "saved");
    CHECK_EQ(e.mark.ns, 102);
    CHECK_EQ(e.mark.step, 42);
    CHECK_EQ(e.mark.thread, 0);
    CHECK_EQ(e.step.step, 41);
    CHECK_EQ(e.step.begin_ns, 101); /* nothing came before */
    CHECK_EQ(e.step.end_ns, 101);
    CHECK_EQ(gnomon_detach(&keeps, &e), GNOMON_OK);
}

TEST(hooks_without_times_get_no_times)
{
    static last_events e;
    gnomon_profiler no_times = keeps;
    no_times.wants = 0;
    CHECK_EQ(gnomon_attach(&no_times, &e, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    pass(100);
    gnomon_counter(&loss, 1);
    gnomon_mark(&saved);
    CHECK_EQ(e.counter.ns, 0);
    CHECK_EQ(e.mark.ns, 0);
    gnomon_step();
    CHECK_EQ(e.step.end_ns, 100);
    CHECK_EQ(gnomon_detach(&no_times, &e), GNOMON_OK);
}

TEST(window_events_have_the_step)
{
    static last_events e;
    CHECK_EQ(gnomon_attach(&keeps, &e, "schedule=wait:2/active:1"), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    gnomon_step();
    gnomon_step();
    CHECK_EQ(e.window.phase, GNOMON_PHASE_RECORD_AND_SAVE);
    CHECK_EQ(e.window.step, 2);
    CHECK_EQ(gnomon_detach(&keeps, &e), GNOMON_OK);
}

static gnomon_link handed;

static void *work(void *self)
{
    last_events *e = self;
    gnomon_thread_name("worker");
    CHECK_EQ(e->thread.thread, 1);
    CHECK_STR(e->thread.name, "worker");
    CHECK(e->thread.os_id > 0);
    gnomon_token t = gnomon_begin(&region);
    pass(5);
    gnomon_link_in(&handed, GNOMON_LINK_SUBMIT);
    gnomon_end(t);
    return NULL;
}

static void check_link(const last_events *e)
{
    CHECK_EQ(e->link.kind, GNOMON_LINK_SUBMIT);
    CHECK_EQ(e->link.from_thread, 0);
    CHECK_EQ(e->link.thread, 1);
    CHECK_EQ(e->scopes, 2);
    CHECK(e->link.from && e->link.from == e->tokens[0]);
    CHECK(e->link.to && e->link.to == e->tokens[1]);
    CHECK_EQ(e->link.ns, 5);
}

/* With or without a tree: hooks saw the scopes, so they are known. */
TEST(links_name_both_scopes)
{
    static last_events e;
    CHECK_EQ(gnomon_attach(&keeps, &e, NULL), GNOMON_OK);
    gnomon_token t = gnomon_begin(&region);
    handed = gnomon_link_out();
    on_thread(work, &e);
    gnomon_end(t);
    check_link(&e);
    CHECK_EQ(gnomon_detach(&keeps, &e), GNOMON_OK);
}

TEST(links_name_both_scopes_with_a_tree)
{
    static last_events e;
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&keeps, &e, NULL), GNOMON_OK);
    gnomon_token t = gnomon_begin(&region);
    handed = gnomon_link_out();
    on_thread(work, &e);
    gnomon_end(t);
    check_link(&e);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LINKS), 1);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&keeps, &e), GNOMON_OK);
}

/* The first row of options states the distance between rows. */
TEST(options_of_a_later_release_are_read)
{
    static const struct later_option {
        gnomon_option_info info;
        const char *more;
    } rows[] = {
        {{sizeof(struct later_option), GNOMON_OPTION_INTEGER, "a", "1", "a"},
         "x"},
        {{sizeof(struct later_option), GNOMON_OPTION_INTEGER, "b", "2", "b"},
         "y"},
        {{.key = NULL}, NULL},
    };
    gnomon_profiler later = probe;
    later.options = &rows[0].info;
    CHECK_EQ(gnomon_attach(&later, NULL, "b=7"), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&later, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&later, NULL, "c=7"), GNOMON_EINVAL);
    CHECK(strstr(gnomon_error_text(), "It knows: a, b,") != NULL);
}

static void *mark_scopes(void *unused)
{
    for (int i = 0; i < 4; i++)
        gnomon_end(gnomon_begin(&region));
    return unused;
}

/* A range of one thread, and scopes of the next. */
TEST(no_token_names_two_executions)
{
    last_events e = {.scopes = 0};
    pthread_t thread;
    CHECK_EQ(gnomon_attach(&keeps, &e, NULL), GNOMON_OK);
    for (int i = 0; i < 4; i++)
        gnomon_range_end(gnomon_range_begin(&region));
    if (CHECK_EQ(pthread_create(&thread, NULL, mark_scopes, NULL), 0))
        pthread_join(thread, NULL);
    CHECK_EQ(e.scopes, 8);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++)
            CHECK(e.tokens[i] != e.tokens[k]);
    CHECK_EQ(gnomon_detach(&keeps, &e), GNOMON_OK);
}
