/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Forward operations by thread and number: which one a backward operation is linked with.
 *
 * links: static */
#include <string.h>

#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

static gnomon_forwards forwards;

static void forward(const char *name, uint64_t thread, uint64_t number)
{
    gnomon_token t =
        gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
    gnomon_forward(&forwards, thread, number);
    gnomon_end(t);
}

static int backward(const char *name, uint64_t thread, uint64_t number)
{
    gnomon_token t =
        gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
    int is_linked = gnomon_backward(&forwards, thread, number);
    gnomon_end(t);
    return is_linked;
}

static const char *name_of(const gnomon_profile *p, uint32_t number)
{
    gnomon_node_info n = {.struct_size = sizeof n};
    gnomon_region_info r = {.struct_size = sizeof r};
    CHECK_EQ(gnomon_profile_node(p, number, &n), GNOMON_OK);
    CHECK_EQ(gnomon_profile_region(p, n.region, &r), GNOMON_OK);
    return r.name;
}

/* How many links of that kind lead from one name to the other, in all; NULL: to any. */
static uint64_t links(const gnomon_profile *p, const char *from, const char *to)
{
    uint64_t count = 0;
    gnomon_link_info l = {.struct_size = sizeof l};
    for (size_t i = 1; !gnomon_profile_link(p, i, &l); i++)
        if (l.kind == GNOMON_LINK_BACKWARD &&
            strcmp(name_of(p, l.from), from) == 0 &&
            (!to || strcmp(name_of(p, l.to), to) == 0))
            count += l.count;
    return count;
}

static void *backward_elsewhere(void *unused)
{
    CHECK_EQ(backward("back", 7, 0), 1);
    CHECK_EQ(backward("back of another thread", 8, 0), 1);
    return unused;
}

TEST(the_last_forward_of_a_thread_and_number_is_meant)
{
    pthread_t thread;
    CHECK_EQ(gnomon_backward(&forwards, 0, 0), 0);
    forward("before", 7, 3); /* nobody records */
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    forward("first", 7, 0);
    forward("last", 7, 0);
    forward("of another thread", 8, 0);
    forward("of another number", 7, 1);
    pthread_create(&thread, NULL, backward_elsewhere, NULL);
    pthread_join(thread, NULL);
    CHECK_EQ(backward("none", 7, 3), 0);
    CHECK_EQ(backward("none", 9, 0), 0);
    CHECK_EQ(backward("none", 7 + GNOMON_FORWARDS, 1), 0); /* the same place */
    forward("much newer", 7, GNOMON_FORWARDS);
    CHECK_EQ(backward("none", 7, 0), 0);
    CHECK_EQ(backward("back", 7, GNOMON_FORWARDS), 1);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(links(p, "first", NULL), 0);
    CHECK_EQ(links(p, "last", "back"), 1);
    CHECK_EQ(links(p, "of another thread", "back of another thread"), 1);
    CHECK_EQ(links(p, "of another number", NULL), 0);
    CHECK_EQ(links(p, "much newer", "back"), 1);
    gnomon_profile_free(p);
    live_check_no_trouble();
}

TEST(what_another_thread_writes_just_now_is_left_alone)
{
    uint64_t *place = forwards.place[gnomon__forward_at(7, 0)];
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    forward("before", 7, 0);
    *place += 1;
    forward("meanwhile", 7, 0);
    CHECK_EQ(backward("none", 7, 0), 0);
    *place += 1;
    CHECK_EQ(backward("back", 7, 0), 1);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(links(p, "before", "back"), 1);
    CHECK_EQ(links(p, "meanwhile", NULL), 0);
    gnomon_profile_free(p);
}

/* Two numbers share each of these places, and have names that tell them apart. */
#define PLACES 8

static void *make_forwards(void *unused)
{
    for (long i = 0, count = live_times(20000, 400000); i < count; i++)
        forward(i / PLACES % 2 ? "odd" : "even", 1,
                (uint64_t)(i % PLACES + i / PLACES % 2 * GNOMON_FORWARDS));
    return unused;
}

static void *make_backwards(void *unused)
{
    for (long i = 0, count = live_times(20000, 400000); i < count; i++)
        (void)backward(
            i / PLACES % 2 ? "back of odd" : "back of even", 1,
            (uint64_t)(i % PLACES + i / PLACES % 2 * GNOMON_FORWARDS));
    return unused;
}

/* What is read while another thread writes it is one forward, or none. */
TEST(forwards_of_many_threads_are_not_mixed)
{
    void *(*const work[])(void *) = {make_forwards, make_backwards,
                                     make_forwards, make_backwards};
    pthread_t threads[4];
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    forward("even", 1, 0);
    CHECK_EQ(backward("back of even", 1, 0), 1);
    forward("odd", 1, GNOMON_FORWARDS);
    CHECK_EQ(backward("back of odd", 1, GNOMON_FORWARDS), 1);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK(links(p, "odd", "back of odd") > 0);
    CHECK(links(p, "even", "back of even") > 0);
    CHECK_EQ(links(p, "odd", "back of even"), 0);
    CHECK_EQ(links(p, "even", "back of odd"), 0);
    gnomon_profile_free(p);
    live_check_no_trouble();
}
