/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Strips of steps and counters, on the test's clock: exact bins of a bounded number, the
 * slowest steps, and that stages, parts of a file and what goes on give the same ones.
 *
 * links: testing */
#include <math.h>

#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"

#include "gnomon.h"
#include "mark/arena.h"
#include "platform/memory.h"
#include "profile/strip.h"

#define STEPS 1000000u
#define PRIME 7919u /* a step takes 1 .. PRIME ns, each as often */

static void begin(const char *spec)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
}

static gnomon_region *counter(void)
{
    return gnomon_region_get("counter", NULL, GNOMON_KIND_COUNTER);
}

static uint64_t step_ns(uint64_t i)
{
    return i * 104729 % PRIME + 1;
}

/* Of each step the counter has twice its number, and one more in each fourth. */
static void make_steps(uint64_t from, uint64_t until)
{
    gnomon_region *of = counter();
    for (uint64_t i = from; i < until; i++) {
        gnomon_counter(of, 2.0 * (double)i);
        if (i % 4 == 0)
            gnomon_counter(of, 1);
        pass(step_ns(i));
        gnomon_step();
    }
}

/* The only strip of a stage, by its kind. */
static gnomon_strip_info strip_of(const gnomon_profile *p, uint32_t stage,
                                  int is_counter)
{
    gnomon_strip_info s, found = {.struct_size = 0};
    int count = 0;
    for (size_t i = 1; p && !gnomon_profile_strip(p, i, &s); i++)
        if (s.stage == stage && !s.region == !is_counter) {
            found = s;
            count++;
        }
    CHECK_EQ(count, 1);
    return found;
}

static double real_of(uint64_t value)
{
    return (double)value;
}

/* The bins of steps 0 .. `steps`, made `times` times over. */
static void check_steps(const gnomon_strip_info *s, uint64_t steps,
                        uint32_t times)
{
    CHECK(s->bin_count <= 1024 && (steps < 1024 || s->bin_count > 512));
    CHECK_EQ(s->bin_count, (steps + s->width - 1) / s->width);
    for (size_t i = 0; i < s->bin_count; i++) {
        const gnomon_bin *b = gnomon_bin_at(s, i);
        uint64_t least = UINT64_MAX, most = 0, sum = 0;
        uint32_t count = 0;
        for (uint64_t k = i * s->width; k < (i + 1) * s->width && k < steps;
             k++, count++) {
            least = step_ns(k) < least ? step_ns(k) : least;
            most = step_ns(k) > most ? step_ns(k) : most;
            sum += step_ns(k);
        }
        if (!CHECK_EQ(b->count, times * count) ||
            !CHECK(!(b->min < real_of(least) || b->min > real_of(least))) ||
            !CHECK(!(b->max < real_of(most) || b->max > real_of(most))) ||
            !CHECK(fabs(b->sum - real_of(times * sum)) < 0.5))
            return;
    }
}

static void check_counter(const gnomon_strip_info *s, uint64_t steps)
{
    CHECK(s->bin_count <= 512 && s->bin_count > 256);
    CHECK_EQ(s->bin_count, (steps + s->width - 1) / s->width);
    CHECK_EQ(s->slow_count, 0);
    for (size_t i = 0; i < s->bin_count; i++) {
        const gnomon_bin *b = gnomon_bin_at(s, i);
        const uint64_t first = i * s->width;
        const uint64_t end =
            first + s->width < steps ? first + s->width : steps;
        const uint64_t more = (end + 3) / 4 - (first + 3) / 4;
        const double sum = real_of((end - first) * (first + end - 1) + more);
        const double least = more && first ? 1 : 2 * real_of(first);
        const double most = more && end < 2 ? 1 : 2 * real_of(end - 1);
        if (!CHECK_EQ(b->count, end - first + more) ||
            !CHECK(fabs(b->min - least) < 0.5) ||
            !CHECK(fabs(b->max - most) < 0.5) ||
            !CHECK(fabs(b->sum - sum) < 0.5))
            return;
    }
}

/* Of equally slow ones the first: step_ns is PRIME every PRIME steps. */
static void check_slow(const gnomon_strip_info *s)
{
    CHECK_EQ(s->slow_count, 16);
    for (size_t i = 0; i < s->slow_count; i++) {
        const gnomon_slow_step *slow = gnomon_slow_at(s, i);
        CHECK_EQ(slow->ns, PRIME);
        CHECK_EQ(step_ns(slow->at), PRIME);
        CHECK_EQ(slow->number, slow->at);
        CHECK_EQ(slow->at / PRIME, i);
    }
}

TEST(a_million_steps_are_exact_bins)
{
    const uint64_t steps = IS_SANITIZED ? STEPS / 8 : STEPS;
    begin("simple");
    make_steps(0, 1);
    const uint64_t used = load_relaxed(&gnomon__marks_arena.used);
    make_steps(1, steps);
    /* Chunks of 1, 2, .. 32 KiB, of which the last stays. */
    CHECK(load_relaxed(&gnomon__marks_arena.used) - used <= 64u << 10);
    gnomon_profile *p = profile_of("simple", 0);
    gnomon_strip_info s = strip_of(p, 1, 0);
    check_steps(&s, steps, 1);
    check_slow(&s);
    s = strip_of(p, 1, 1);
    check_counter(&s, steps);
    gnomon_profile_free(p);
}

/* What is read while it goes on, by the open stage and by names, has the same bins. */
TEST(bins_of_a_stage_that_goes_on)
{
    const uint64_t at[] = {0, 2, 31, 33, 1024, 1025, 3000};
    begin("simple");
    for (size_t i = 1; i < sizeof at / sizeof *at; i++) {
        make_steps(at[i - 1], at[i]);
        for (int all = 0; all < 2; all++) {
            gnomon_profile *p = profile_of("simple", all);
            gnomon_strip_info s = strip_of(p, 1, 0);
            check_steps(&s, at[i], 1);
            if (at[i] > 1000) {
                s = strip_of(p, 1, 1);
                check_counter(&s, at[i]);
            }
            gnomon_profile_free(p);
        }
    }
}

TEST(stages_of_a_name_add_up_step_by_step)
{
    begin("simple");
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(gnomon_stage_begin("epoch"), GNOMON_OK);
        make_steps(0, 700 + 700 * (uint64_t)(i == 1));
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    gnomon_profile *p = profile_of("simple", 1);
    gnomon_strip_info s = strip_of(p, 1, 0);
    CHECK_EQ(s.width, 2);
    CHECK_EQ(s.bin_count, 700);
    CHECK_EQ(gnomon_bin_at(&s, 0)->count, 6);
    CHECK_EQ(gnomon_bin_at(&s, 349)->count, 6);
    CHECK_EQ(gnomon_bin_at(&s, 350)->count, 2);
    s = strip_of(p, 1, 1);
    CHECK_EQ(s.width, 4);
    CHECK_EQ(gnomon_bin_at(&s, 0)->count, 15);
    CHECK_EQ(gnomon_bin_at(&s, 174)->count, 15);
    CHECK_EQ(gnomon_bin_at(&s, 175)->count, 5);
    gnomon_profile_free(p);
}

/* A stage has its own; those of an earlier one do not come back. */
TEST(the_next_stage_begins_anew)
{
    begin("simple");
    CHECK_EQ(gnomon_stage_begin("a"), GNOMON_OK);
    make_steps(0, 5000);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("b"), GNOMON_OK);
    make_steps(0, 1500);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon_profile *p = profile_of("simple", 1);
    gnomon_strip_info s = strip_of(p, 1, 0);
    check_steps(&s, 5000, 1);
    s = strip_of(p, 2, 0);
    check_steps(&s, 1500, 1);
    s = strip_of(p, 2, 1);
    check_counter(&s, 1500);
    gnomon_profile_free(p);
}

/* Each stage is a part of the file. */
TEST(parts_of_a_file_give_the_same)
{
    char path[] = "/tmp/gnomon-strips-XXXXXX.gnomon", spec[96];
    gnomon_profile *p = NULL;
    const int fd = mkstemps(path, 7);
    close(fd);
    unlink(path);
    snprintf(spec, sizeof spec, "simple,file=%s", path);
    begin(spec);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(gnomon_stage_begin(i % 2 ? "b" : "a"), GNOMON_OK);
        make_steps(0, 3000);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    if (CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK)) {
        for (uint32_t stage = 1; stage <= 4; stage++) {
            gnomon_strip_info s = strip_of(p, stage, 0);
            check_steps(&s, 3000, 1);
            s = strip_of(p, stage, 1);
            check_counter(&s, 3000);
        }
        gnomon_profile_free(p);
    }
    unlink(path);
}

/* Without steps, and of counters that are of the first step alone, there is none. */
TEST(what_has_one_bin_has_no_strip)
{
    begin("simple");
    gnomon_counter(counter(), 1);
    gnomon_profile *p = profile_of("simple", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STRIPS), 0);
    gnomon_profile_free(p);
    gnomon_step();
    p = profile_of("simple", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STRIPS), 1);
    gnomon_profile_free(p);
}

TEST(values_that_are_no_numbers_are_in_no_bin)
{
    begin("simple");
    for (int i = 0; i < 8; i++) {
        gnomon_counter(counter(), i == 3 ? (double)NAN : i == 5 ? HUGE_VAL : i);
        gnomon_step();
    }
    gnomon_profile *p = profile_of("simple", 0);
    const gnomon_strip_info s = strip_of(p, 1, 1);
    CHECK_EQ(s.bin_count, 8);
    CHECK_EQ(gnomon_bin_at(&s, 3)->count, 0);
    CHECK(isinf(gnomon_bin_at(&s, 5)->max));
    gnomon_profile_free(p);
}

/* ---- Sums ------------------------------------------------------------------------------ */

TEST(a_strip_is_the_same_in_pieces)
{
    enum { ALL = 5000 };
    for (size_t pieces = 1; pieces < 7; pieces++) {
        gnomon__strip sum = {0};
        for (size_t k = 0; k < pieces; k++) {
            gnomon_bin bins[1024] = {{0}};
            const uint64_t width = 8u << k % 3;
            for (uint64_t i = k; i < ALL; i += pieces) {
                const double ns = real_of(step_ns(i));
                const gnomon_bin one = {sizeof one, 1, ns, ns, ns};
                gnomon__bin_add(&bins[i / width], &one);
            }
            for (size_t i = 0; i < 1024; i++)
                bins[i].struct_size = sizeof *bins;
            CHECK(gnomon__strip_add(&sum, width, bins,
                                    (ALL + width - 1) / width));
        }
        const gnomon_strip_info s = {sizeof s, 1,         0,    0, sum.width,
                                     sum.bins, sum.count, NULL, 0};
        CHECK_EQ(s.width, 8u << (pieces < 3 ? pieces - 1 : 2));
        CHECK_EQ(s.bin_count, (ALL + s.width - 1) / s.width);
        for (size_t i = 0; i < s.bin_count; i++) {
            const gnomon_bin *b = gnomon_bin_at(&s, i);
            uint64_t total = 0;
            for (uint64_t k = i * s.width; k < (i + 1) * s.width && k < ALL;
                 k++)
                total += step_ns(k);
            CHECK(fabs(b->sum - real_of(total)) < 0.5);
        }
        gnomon__strip_free(&sum);
    }
}

TEST(counts_stop_at_their_most)
{
    gnomon_bin a = {sizeof a, UINT32_MAX - 1, 1, 2, 3};
    const gnomon_bin b = {sizeof b, 3, 0, 1, 2};
    gnomon__bin_add(&a, &b);
    CHECK_EQ(a.count, UINT32_MAX);
    CHECK(a.min < 0.5 && a.max > 1.5 && a.sum > 4.5);
}
