/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The laws of adding up, with random profiles: readings, runs, ranks and stages of a name
 * are the same in any order and grouping, and an empty profile changes nothing; parts of a
 * file are the same in any grouping. Sums of counters are those of exact numbers, rounded.
 * $GNOMON_SEED runs one round again.
 *
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 600 */
#include <float.h>
#include <math.h>

#include "merging.h"
#include "random_rounds.h"

enum { PARTS = 3 };

static const gnomon__stage_filter *stage_asked_for; /* NULL: all */

/* In that order, as one profile. */
static gnomon_profile *fold_of(unsigned rules, gnomon_profile *const *parts,
                               int count)
{
    gnomon__shared shared = {0};
    gnomon__unite *u;
    gnomon_profile *p = NULL;
    for (int i = 0; i < count; i++)
        CHECK_EQ(gnomon__shared_add(&shared, parts[i]), GNOMON_OK);
    CHECK_EQ(gnomon__shared_order(&shared), GNOMON_OK);
    CHECK_EQ(gnomon__unite_create(&u, &shared, rules), GNOMON_OK);
    for (int i = 0; i < count; i++)
        CHECK_EQ(
            gnomon__unite_add(u, parts[i],
                              gnomon_profile_count(parts[i], GNOMON_RUNS) > 0,
                              stage_asked_for),
            GNOMON_OK);
    CHECK_EQ(gnomon__unite_finish(u, GNOMON_OK, &p), GNOMON_OK);
    /* What is shared must outlive it. */
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    gnomon__shared_free(&shared);
    p = read_back(&b);
    free(b.at);
    return p;
}

static void check_same(gnomon_profile *p, const bytes *must, const char *law)
{
    bytes b = bytes_of(p, "gnomon");
    if (!CHECK(bytes_equal(&b, must)))
        fprintf(stderr, "    %s\n", law);
    free(b.at);
    gnomon_profile_free(p);
}

static void check_orders(unsigned rules, gnomon_profile *const *of,
                         const bytes *must)
{
    static const int orders[][PARTS] = {
        {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const int *k = orders[i];
        gnomon_profile *turned[] = {of[k[0]], of[k[1]], of[k[2]]};
        check_same(fold_of(rules, turned, PARTS), must, "commutative");
    }
}

/* In each grouping of two, then with the third. */
static void check_groupings(unsigned rules, gnomon_profile *const *of,
                            const bytes *must)
{
    for (int apart = 0; apart < PARTS; apart++) {
        gnomon_profile *two[] = {of[(apart + 1) % PARTS],
                                 of[(apart + 2) % PARTS]};
        gnomon_profile *sum = fold_of(rules, two, 2);
        gnomon_profile *both[] = {sum, of[apart]};
        check_same(fold_of(rules, both, 2), must, "associative");
        gnomon_profile_free(sum);
    }
}

static void check_unit(unsigned rules, gnomon_profile *part)
{
    gnomon_builder *b;
    gnomon_profile *nothing;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    CHECK_EQ(gnomon_builder_finish(b, &nothing), GNOMON_OK);
    gnomon_profile *alone[] = {part}, *before[] = {nothing, part},
                   *after[] = {part, nothing};
    gnomon_profile *p = fold_of(rules, alone, 1);
    bytes must = bytes_of(p, "gnomon");
    check_same(fold_of(rules, before, 2), &must, "nothing before");
    check_same(fold_of(rules, after, 2), &must, "nothing after");
    free(must.at);
    gnomon_profile_free(p);
    gnomon_profile_free(nothing);
}

/* `life`: 0, or that of one process. */
static void check_laws(unsigned rules, const char *const *ranks,
                       const uint64_t *lives, uint32_t most)
{
    gnomon_profile *of[PARTS], *first[PARTS];
    random_size(most);
    random_is_part = 0;
    for (int i = 0; i < PARTS; i++) {
        of[i] = random_profile(ranks[i], lives[i]);
        first[i] = fold_of(rules & ~(unsigned)GNOMON__UNITE_READINGS, &of[i],
                           1); /* within one, equal keys add up */
    }
    gnomon_profile *p = fold_of(rules, first, PARTS);
    bytes must = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    check_orders(rules, first, &must);
    check_groupings(rules, first, &must);
    check_unit(rules, first[0]);
    free(must.at);
    for (int i = 0; i < PARTS; i++) {
        gnomon_profile_free(of[i]);
        gnomon_profile_free(first[i]);
    }
}

static const char *const one_rank[] = {"2", "2", "2"};
static const char *const three_ranks[] = {"0", "1", "3"};
static const uint64_t no_lives[] = {0, 0, 0};

static void check_runs(uint32_t most)
{
    check_laws(0, one_rank, no_lives, most);
}

TEST(soak_runs_in_any_order_and_grouping)
{
    each_size("runs", 2000, check_runs);
}

static void check_readings(uint32_t most)
{
    const uint64_t life = 1 + random_below(1000);
    const uint64_t lives[] = {life, life, life};
    check_laws(GNOMON__UNITE_READINGS, one_rank, lives, most);
}

TEST(soak_readings_in_any_order_and_grouping)
{
    each_size("readings", 2000, check_readings);
}

static void check_ranks(uint32_t most)
{
    check_laws(GNOMON__UNITE_RANKS, three_ranks, no_lives, most);
}

TEST(soak_ranks_in_any_order_and_grouping)
{
    each_size("ranks", 2000, check_ranks);
}

static void check_names(uint32_t most)
{
    static const gnomon__stage_filter fit = {1, "fit", GNOMON__ALL_VIEWS};
    stage_asked_for = &fit;
    check_laws(GNOMON__UNITE_RANKS | GNOMON__UNITE_NAMES, three_ranks, no_lives,
               most);
    stage_asked_for = NULL;
}

TEST(soak_stages_of_a_name_in_any_order_and_grouping)
{
    each_size("names", 2000, check_names);
}

/* ---- Parts of a file --------------------------------------------------------------- */

/* Tracks may be in another order: a merge puts them, and their events, in one. */
static bytes in_order(gnomon_profile *p)
{
    bytes file = bytes_of(p, "gnomon"), one = merged(&file, 1);
    free(file.at);
    return one;
}

static void check_file(gnomon_profile *p, const bytes *must, const char *law)
{
    bytes b = in_order(p);
    if (!CHECK(bytes_equal(&b, must)))
        fprintf(stderr, "    %s\n", law);
    free(b.at);
    gnomon_profile_free(p);
}

static gnomon_profile *file_of(gnomon_profile *const *parts, int count)
{
    bytes file = {NULL, 0, 0};
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &file};
    gnomon__file_counts so_far = {0};
    for (int i = 0; i < count; i++)
        CHECK_EQ(gnomon__file_add_part(parts[i], &out, &so_far), GNOMON_OK);
    gnomon_profile *p = read_back(&file);
    free(file.at);
    return p;
}

static void check_parts(uint32_t most)
{
    gnomon_profile *of[PARTS];
    random_size(most);
    random_is_part = 1;
    for (int i = 0; i < PARTS; i++)
        of[i] = random_profile("02", 0);
    random_is_part = 0;
    gnomon_profile *all = file_of(of, PARTS);
    gnomon_profile *left = file_of(of, 2), *right = file_of(of + 1, 2);
    gnomon_profile *two_and_one[] = {left, of[2]},
                   *one_and_two[] = {of[0], right};
    bytes must = in_order(all);
    check_file(file_of(two_and_one, 2), &must, "two, then one");
    check_file(file_of(one_and_two, 2), &must, "one, then two");
    free(must.at);
    gnomon_profile_free(all);
    gnomon_profile_free(left);
    gnomon_profile_free(right);
    for (int i = 0; i < PARTS; i++)
        gnomon_profile_free(of[i]);
}

TEST(soak_parts_in_any_grouping)
{
    each_size("parts", 2000, check_parts);
}

/* ---- Sums of counters ---------------------------------------------------------------- */

enum { SUMS = 60 };

static gnomon_profile *counter_of(double sum)
{
    gnomon_builder *b;
    gnomon_profile *p;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    const uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    const uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .device = -1, .name = "main"});
    const uint32_t region =
        gnomon_add_region(b, &(gnomon_region_info){.name = "loss"});
    gnomon_add_counter(b, &(gnomon_counter_info){.track = track,
                                                 .region = region,
                                                 .count = 1,
                                                 .last = sum,
                                                 .min = sum,
                                                 .max = sum,
                                                 .sum = sum});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    return p;
}

static double sum_in(gnomon_profile *p)
{
    gnomon_counter_info c = {.sum = 0};
    CHECK_EQ(gnomon_profile_counter(p, 1, &c), GNOMON_OK);
    gnomon_profile_free(p);
    return c.sum;
}

static int same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Multiples of 2^-30, whose exact sum has more than the 53 bits of a double. */
static double random_double(int64_t *exact)
{
    const int64_t units = ((int64_t)random_below(1u << 20) - (1 << 19)) *
                          ((int64_t)1 << random_below(37));
    *exact += units;
    return ldexp((double)units, -30);
}

TEST(sums_of_counters_are_rounded_once_in_any_order)
{
    for (int round = 0; round < 20; round++) {
        gnomon_profile *of[SUMS], *turned[SUMS];
        int64_t exact = 0;
        random_word = (uint64_t)round + 1;
        for (int i = 0; i < SUMS; i++) {
            of[i] = counter_of(random_double(&exact));
            turned[SUMS - 1 - i] = of[i];
        }
        const double sum = sum_in(fold_of(0, of, SUMS));
        const double must = ldexp((double)exact, -30);
        const double ulp = DBL_EPSILON * fabs(must);
        CHECK(same_bits(sum, sum_in(fold_of(0, turned, SUMS))));
        CHECK(fabs(sum - must) <= ulp);
        /* Two sums in a file are rounded, and then their sum. */
        gnomon_profile *half[] = {fold_of(0, of, SUMS / 2),
                                  fold_of(0, of + SUMS / 2, SUMS / 2)};
        const double a = sum_in(fold_of(0, half, 1));
        const double b = sum_in(fold_of(0, half + 1, 1));
        CHECK(fabs(sum_in(fold_of(0, half, 2)) - must) <=
              DBL_EPSILON * (fabs(a) + fabs(b)) + ulp);
        gnomon_profile_free(half[0]);
        gnomon_profile_free(half[1]);
        for (int i = 0; i < SUMS; i++)
            gnomon_profile_free(of[i]);
    }
}

/* Infinities and what is no number stay so, whatever is added. */
TEST(sums_that_are_no_numbers_stay_so)
{
    gnomon_profile *of[] = {counter_of(1e300), counter_of(HUGE_VAL),
                            counter_of(-3)};
    CHECK(isinf(sum_in(fold_of(0, of, PARTS))));
    gnomon_profile_free(of[0]);
    of[0] = counter_of(-HUGE_VAL);
    CHECK(isnan(sum_in(fold_of(0, of, PARTS))));
    for (int i = 0; i < PARTS; i++)
        gnomon_profile_free(of[i]);
}
