/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files of many runs: where each of them is, that each is read by itself, and that
 * damage to one does not affect the others.
 * links: testing
 * threads: none
 * timeout: 300 */
#include "profile_bytes.h"
#include "same_profile.h"
#include "sanitizer.h"
#include "full_profile.h"

#include "platform/memory.h"
#include "profile/file_read.h"

static int read_bytes(void *context, uint64_t at, void *to, size_t size)
{
    const bytes *b = context;
    CHECK(at + size <= b->size);
    memcpy(to, b->at + at, size);
    return GNOMON_OK;
}

static gnomon__source source_of(bytes *b)
{
    return (gnomon__source){b->size, read_bytes, b, NULL};
}

static gnomon_profile *read_one(bytes *b, const gnomon__file_index *x, size_t i,
                                uint32_t kinds)
{
    gnomon__source from = source_of(b);
    gnomon_profile *p = NULL;
    if (gnomon__read_part(&p, &from, &x->parts[i], x->shared_end, kinds))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static bytes written(const char *ranks)
{
    gnomon_profile *p = full_of(ranks);
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return b;
}

TEST(each_run_is_a_part)
{
    bytes b = written("2031");
    gnomon__source from = source_of(&b);
    gnomon__file_index x;
    CHECK_EQ(gnomon__index_file(&x, &from), GNOMON_OK);
    if (!CHECK_EQ(x.count, 4))
        return;
    for (size_t i = 0; i < 4; i++) {
        const char rank[] = {"2031"[i], 0};
        gnomon_profile *p = read_one(&b, &x, i, GNOMON__EVERY_KIND);
        gnomon_profile *q = full_of(rank);
        if (CHECK(p != NULL))
            same_profiles(p, q);
        gnomon_profile_free(p);
        gnomon_profile_free(q);
    }
    gnomon__index_free(&x);
    free(b.at);
}

/* Runs that are not requested are not read. */
TEST(some_kinds_alone)
{
    bytes b = written("01");
    gnomon__source from = source_of(&b);
    gnomon__file_index x;
    CHECK_EQ(gnomon__index_file(&x, &from), GNOMON_OK);
    b.at[b.size / 2] ^= 1; /* among nodes */
    gnomon_profile *p =
        read_one(&b, &x, 1, 1u << GNOMON_RUNS | 1u << GNOMON_REGIONS);
    if (CHECK(p != NULL)) {
        gnomon_run_info run;
        CHECK_EQ(gnomon_profile_run(p, 1, &run), GNOMON_OK);
        CHECK_EQ(run.rank, 1);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 7);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 0);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 0);
    }
    gnomon_profile_free(p);
    gnomon__index_free(&x);
    free(b.at);
}

/* One run, or none. */
TEST(what_has_no_parts_is_one)
{
    const char *const ranks[] = {"", "1"};
    for (int i = 0; i < 2; i++) {
        bytes b = written(ranks[i]);
        gnomon__source from = source_of(&b);
        gnomon__file_index x;
        CHECK_EQ(gnomon__index_file(&x, &from), GNOMON_OK);
        CHECK_EQ(x.count, 1);
        gnomon_profile *p = read_one(&b, &x, 0, GNOMON__EVERY_KIND);
        gnomon_profile *q = full_of(ranks[i]);
        if (CHECK(p != NULL))
            same_profiles(p, q);
        gnomon_profile_free(p);
        gnomon_profile_free(q);
        gnomon__index_free(&x);
        free(b.at);
    }
}

/* With so many runs these alone are several sections. */
TEST(runs_in_one_another_are_one_part)
{
    const int counts[] = {2, 1000};
    for (int k = 0; k < 2; k++) {
        gnomon_builder *builder;
        gnomon_profile *p;
        CHECK_EQ(gnomon_builder_create(&builder), GNOMON_OK);
        for (int i = 0; i < counts[k]; i++)
            gnomon_add_run(builder, &(gnomon_run_info){.rank = i});
        for (uint32_t i = 0; i < 4; i++)
            gnomon_add_track(
                builder, &(gnomon_track_info){.run = 1 + i % 2, .index = i});
        CHECK_EQ(gnomon_builder_finish(builder, &p), GNOMON_OK);
        bytes b = bytes_of(p, "gnomon");
        gnomon__source from = source_of(&b);
        gnomon__file_index x;
        CHECK_EQ(gnomon__index_file(&x, &from), GNOMON_OK);
        CHECK_EQ(x.count, 1);
        gnomon_profile *q = read_one(&b, &x, 0, GNOMON__EVERY_KIND);
        if (CHECK(q != NULL))
            same_profiles(q, p);
        gnomon_profile_free(q);
        gnomon_profile_free(p);
        gnomon__index_free(&x);
        free(b.at);
    }
}

/* A byte changed anywhere: all parts are read, and at most one of them
 * differs, or what they share, or the end of the file. */
TEST(damage_stays_where_it_is)
{
    bytes b = written("012");
    gnomon_profile *whole[3];
    const char *const ranks[] = {"0", "1", "2"};
    for (int i = 0; i < 3; i++)
        whole[i] = full_of(ranks[i]);
    bytes sound[3];
    for (int i = 0; i < 3; i++)
        sound[i] = bytes_of(whole[i], "gnomon");
    for (size_t at = 16; at < b.size; at += EACH) {
        gnomon__source from = source_of(&b);
        gnomon__file_index x;
        int changed = 0;
        b.at[at] ^= 0x55;
        CHECK_EQ(gnomon__index_file(&x, &from), GNOMON_OK);
        CHECK(x.count == 3 || x.count == 1);
        for (size_t i = 0; x.count == 3 && i < 3; i++) {
            gnomon_profile *p = read_one(&b, &x, i, GNOMON__EVERY_KIND);
            if (!CHECK(p != NULL))
                continue;
            CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
            bytes now = bytes_of(p, "gnomon");
            changed += !bytes_equal(&now, &sound[i]);
            gnomon_profile_free(p);
            free(now.at);
        }
        if (x.count == 3)
            CHECK(changed <= 1 || at < x.shared_end);
        gnomon__index_free(&x);
        b.at[at] ^= 0x55;
    }
    for (int i = 0; i < 3; i++) {
        gnomon_profile_free(whole[i]);
        free(sound[i].at);
    }
    free(b.at);
}

TEST(each_allocation_may_fail)
{
    bytes b = written("0123");
    uint64_t before = gnomon__heap_bytes();
    int failed = 1;
    for (uint32_t n = 1; failed && n < 1000; n++) {
        gnomon__source from = source_of(&b);
        gnomon__file_index x;
        gnomon_profile *p = NULL;
        gnomon__test_fail_allocation(n);
        int code = gnomon__index_file(&x, &from);
        if (!code)
            code = gnomon__read_part(&p, &from, &x.parts[3], x.shared_end,
                                     GNOMON__EVERY_KIND);
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
        gnomon_profile_free(p);
        gnomon__index_free(&x);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    CHECK(!failed);
    free(b.at);
}
