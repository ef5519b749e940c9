/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Merging: any order and any grouping gives the same bytes, also of one
 * file; ranks may be summed before or after it; a run that is given twice
 * counts once.
 *
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 600 */
#include "merging.h"
#include "random_profile.h"
#include "same_profile.h"
#include "sanitizer.h"
#include "full_profile.h"

#include "platform/memory.h"

enum { PARTS = 4 };

static bytes random_bytes(const char *ranks, uint64_t life)
{
    gnomon_profile *p = random_profile(ranks, life);
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return b;
}

static void check_equal(bytes a, const bytes *b, const char *what, int round)
{
    if (!CHECK(bytes_equal(&a, b)))
        fprintf(stderr, "    %s, round %d\n", what, round);
    free(a.at);
}

/* ((0 1) (2 3)), (((3 2) 1) 0), (0 (1 2 3)). */
static void check_groupings(bytes *parts, const bytes *whole, int round)
{
    bytes left = merged(parts, 2), right = merged(parts + 2, 2);
    bytes two[] = {left, right}, swapped[] = {right, left};
    check_equal(merged(two, 2), whole, "two and two", round);
    check_equal(merged(swapped, 2), whole, "two and two, the other way", round);
    free(left.at);
    free(right.at);
    bytes chain = merged(parts + 3, 1);
    for (int i = 2; i >= 0; i--) {
        bytes pair[] = {chain, parts[i]};
        bytes longer = merged(pair, 2);
        free(chain.at);
        chain = longer;
    }
    check_equal(chain, whole, "one after the other", round);
    bytes three = merged(parts + 1, 3);
    bytes last[] = {parts[0], three};
    check_equal(merged(last, 2), whole, "one and three", round);
    free(three.at);
}

/* A sum does not know its runs, so a run in two parts is in it twice. */
static void check_sums(bytes *parts, bytes *whole, int lives_differ, int round)
{
    static const gnomon__stage_filter fit = {1, "fit", GNOMON__ALL_VIEWS};
    bytes sum = summed(parts, PARTS, NULL);
    check_equal(summed(whole, 1, NULL), &sum, "sum of the merged", round);
    check_equal(merged(&sum, 1), &sum, "a sum merged alone", round);
    bytes sums[PARTS];
    for (int i = 0; i < PARTS; i++)
        sums[i] = summed(&parts[i], 1, NULL);
    if (lives_differ)
        check_equal(merged(sums, PARTS), &sum, "merged sums", round);
    for (int i = 0; i < PARTS; i++)
        free(sums[i].at);
    free(sum.at);
    sum = summed(parts, PARTS, &fit);
    check_equal(summed(whole, 1, &fit), &sum, "sum of a stage", round);
    free(sum.at);
}

static void check_round(int round)
{
    static const char *const ranks[][PARTS] = {
        {"0", "1", "2", "3"}, {"01", "23", "3", "12"}, {"0", "0", "", "10"}};
    bytes parts[PARTS], turned[PARTS];
    uint32_t which = random_below(3);
    const char *const *of = ranks[which];
    int with_uuid = (int)random_below(2);
    for (int i = 0; i < PARTS; i++)
        parts[i] = random_bytes(of[i], with_uuid ? (uint64_t)round + 1 : 0);
    bytes whole = merged(parts, PARTS);
    for (int by = 1; by < PARTS; by++) {
        for (int i = 0; i < PARTS; i++)
            turned[i] = parts[(i + by) % PARTS];
        check_equal(merged(turned, PARTS), &whole, "turned", round);
    }
    check_equal(merged(&whole, 1), &whole, "alone", round);
    check_groupings(parts, &whole, round);
    check_sums(parts, &whole, !with_uuid || which == 0, round);
    for (int i = 0; i < PARTS; i++)
        free(parts[i].at);
    free(whole.at);
}

TEST(soak_any_order_and_grouping)
{
    int rounds = getenv("GNOMON_SOAK") ? 20000 : 200 / SHARE;
    for (int i = 0; i < rounds && !test_failures; i++) {
        random_word = (uint64_t)i * 0x9e3779b97f4a7c15u + 1;
        check_round(i);
    }
}

/* A run with identity given twice counts once; one without counts twice. */
TEST(a_run_given_twice)
{
    for (int i = 1; i <= 20; i++) {
        random_word = (uint64_t)i;
        bytes part = random_bytes("2", (uint64_t)i);
        bytes twice[] = {part, part};
        bytes once = merged(&part, 1);
        check_equal(merged(twice, 2), &once, "twice", i);
        free(part.at);
        free(once.at);
        part = random_bytes("2", 0);
        bytes again[] = {part, part};
        bytes both = merged(again, 2);
        gnomon_profile *p, *q;
        CHECK_EQ(gnomon_profile_read(&p, part.at, part.size), GNOMON_OK);
        CHECK_EQ(gnomon_profile_read(&q, both.at, both.size), GNOMON_OK);
        uint64_t calls = 0, more = 0;
        gnomon_node_info n;
        for (size_t k = 1; !gnomon_profile_node(p, k, &n); k++)
            calls += n.host ? n.host->count : 0;
        for (size_t k = 1; !gnomon_profile_node(q, k, &n); k++)
            more += n.host ? n.host->count : 0;
        CHECK_EQ(more, 2 * calls);
        gnomon_profile_free(p);
        gnomon_profile_free(q);
        free(part.at);
        free(both.at);
    }
}

/* Every entity is in the merged profile. */
TEST(nothing_is_lost)
{
    gnomon_profile *p = full_of("01"), *q;
    bytes once = bytes_of(p, "gnomon");
    bytes now = merged(&once, 1);
    CHECK_EQ(gnomon_profile_read(&q, now.at, now.size), GNOMON_OK);
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        CHECK_EQ(gnomon_profile_count(q, k), gnomon_profile_count(p, k));
    uint64_t before[8] = {0}, after[8] = {0};
    const gnomon_profile *both[] = {p, q};
    for (int i = 0; i < 2; i++) {
        uint64_t *sum = i ? after : before;
        gnomon_node_info n;
        gnomon_event_info e;
        for (size_t k = 1; !gnomon_profile_node(both[i], k, &n); k++) {
            sum[0] += n.host ? n.host->total_ns : 0;
            sum[1] += n.host ? n.host->self_ns : 0;
            sum[2] += n.device ? n.device->total_ns : 0;
            sum[3] += n.work ? n.work->flops : 0;
            sum[4] += n.memory_count ? n.memory->peak_bytes : 0;
            sum[5] += n.open;
        }
        for (size_t k = 1; !gnomon_profile_event(both[i], k, &e); k++)
            sum[6] += e.begin_ns + e.duration_ns + e.instance;
        for (size_t k = 1; k <= 2; k++) {
            gnomon_loss_info l;
            gnomon_profile_loss(both[i], k, &l);
            sum[7] += l.count + l.begin_ns + l.end_ns;
        }
    }
    for (int i = 0; i < 8; i++)
        CHECK_EQ(after[i], before[i]);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(once.at);
    free(now.at);
}

/* Files that contradict each other about one run: the merged one is valid
 * all the same. */
TEST(readings_that_contradict_one_another)
{
    for (uint64_t i = 1; i <= 100; i++) {
        random_word = i;
        bytes both[] = {random_bytes("12", 2 * i),
                        random_bytes("2", 2 * i + 1)};
        bytes whole = merged(both, 2);
        gnomon_profile *p = NULL;
        CHECK_EQ(gnomon_profile_read(&p, whole.at, whole.size), GNOMON_OK);
        gnomon_profile_free(p);
        free(whole.at);
        free(both[0].at);
        free(both[1].at);
    }
}

TEST(no_inputs_and_empty_ones)
{
    bytes none = merged(NULL, 0);
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_profile_read(&p, none.at, none.size), GNOMON_OK);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 0);
    gnomon_profile_free(p);
    bytes some = random_bytes("01", 1);
    bytes both[] = {none, some};
    bytes alone = merged(&some, 1);
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    free(none.at);
    both[0] = bytes_of(p, "gnomon");
    check_equal(merged(both, 2), &alone, "with nothing", 0);
    gnomon_profile_free(p);
    free(both[0].at);
    free(some.at);
    free(alone.at);
}
