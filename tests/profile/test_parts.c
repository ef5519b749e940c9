/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A .gnomon file grows part by part, as docs/file-format.md says: what a reader
 * gets from several parts, and from a file that was cut off.
 * links: testing */
#include "child.h"
#include "marks.h"
#include "platform/crc32.h"
#include "probe_profile.h"

#define FILE_NAME "p.gnomon"

static size_t size_now(void)
{
    struct stat info;
    return stat(FILE_NAME, &info) == 0 ? (size_t)info.st_size : 0;
}

static void took(const char *name, uint64_t ns)
{
    gnomon_start(name);
    pass(ns);
    gnomon_stop(name);
}

/* The first `size` bytes of the file as a profile, which the caller frees. */
static gnomon_profile *read_up_to(const char *bytes, size_t size)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_profile_read(&p, bytes, size), GNOMON_OK);
    if (p)
        CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    return p;
}

/* The number of the stage of this name, if it is there once; else 0. */
static uint32_t stage_named(const gnomon_profile *p, const char *name)
{
    uint32_t found = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(p, i, &s);
        if (strcmp(s.name, name) != 0)
            continue;
        if (found)
            return 0;
        found = (uint32_t)i;
    }
    return found;
}

static uint64_t calls(const gnomon_profile *p, uint32_t stage, const char *path)
{
    gnomon_node_info n;
    size_t node = node_at(p, 0, stage, path);
    return node && !gnomon_profile_node(p, node, &n) && n.host ? n.host->count
                                                               : 0;
}

/* A loss of the file itself is a loss of no run. */
static int is_cut_off(const gnomon_profile *p)
{
    int found = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LOSSES); i++) {
        gnomon_loss_info l;
        gnomon_profile_loss(p, i, &l);
        found |= !l.run;
    }
    return found;
}

/* Fit, in which something stays open; validate, in which that ends; fit again.
 * How long the file is after each. */
static void three_stages(size_t sizes[3])
{
    child_folder();
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=" FILE_NAME), GNOMON_OK);
    gnomon_stage_begin("fit");
    took("step", 5);
    took("step", 6);
    gnomon_start("late");
    pass(10);
    gnomon_stage_end();
    sizes[0] = size_now();
    gnomon_stage_begin("validate");
    took("eval", 7);
    gnomon_stop("late");
    gnomon_start("open");
    gnomon_stage_end();
    sizes[1] = size_now();
    gnomon_stage_begin("fit");
    took("step", 8);
    gnomon_stage_end();
    sizes[2] = size_now();
    gnomon_stop("open");
}

TEST(each_stage_is_appended)
{
    size_t sizes[3];
    gnomon_open_info open;
    gnomon_node_info n;
    gnomon_stage_info s;
    three_stages(sizes);
    char *bytes = child_load(FILE_NAME);
    CHECK(0 < sizes[0] && sizes[0] < sizes[1] && sizes[1] < sizes[2]);

    gnomon_profile *p = read_up_to(bytes, sizes[0]);
    CHECK(!is_cut_off(p));
    CHECK_EQ(calls(p, stage_named(p, "fit"), "step"), 2);
    CHECK_EQ(calls(p, stage_named(p, "fit"), "late"), 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 1);
    gnomon_profile_free(p);

    /* The late scope counts in its own stage, and is not open any more. */
    p = read_up_to(bytes, sizes[1]);
    CHECK(!is_cut_off(p));
    uint32_t fit = stage_named(p, "fit");
    CHECK_EQ(calls(p, fit, "step"), 2);
    CHECK_EQ(calls(p, fit, "late"), 1);
    CHECK_EQ(calls(p, stage_named(p, "validate"), "late"), 0);
    CHECK_EQ(calls(p, stage_named(p, "validate"), "late>eval") +
                 calls(p, stage_named(p, "validate"), "eval"),
             1);
    CHECK(!gnomon_profile_stage(p, fit, &s) && s.late == 1 && s.ended);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 1);
    CHECK_EQ(gnomon_profile_open(p, 1, &open), GNOMON_OK);
    CHECK(!gnomon_profile_node(p, open.node, &n) && n.open == 1);
    CHECK_STR(node_name(p, &n), "open");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), 1);
    gnomon_profile_free(p);

    /* Two stages of one name stay two: by their ordinals. */
    p = read_up_to(bytes, sizes[2]);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STAGES), 3);
    gnomon_profile_free(p);
    free(bytes);
    gnomon_attach(NULL, NULL, "");
}

/* Cut off anywhere: parts that have their end lose nothing. */
TEST(a_part_that_is_cut_off_is_lost_alone)
{
    size_t sizes[3];
    three_stages(sizes);
    char *bytes = child_load(FILE_NAME);
    for (size_t size = sizes[0]; size <= sizes[2]; size++) {
        gnomon_profile *p = read_up_to(bytes, size);
        if (!CHECK(p != NULL))
            break;
        int is_whole = size == sizes[0] || size == sizes[1] || size == sizes[2];
        uint64_t steps = 0;
        for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
            gnomon_stage_info s;
            gnomon_profile_stage(p, i, &s);
            if (s.ordinal == 1)
                steps = calls(p, (uint32_t)i, "step");
            if (s.ordinal == 2 && size >= sizes[1])
                CHECK_EQ(calls(p, (uint32_t)i, "eval") +
                             calls(p, (uint32_t)i, "late>eval"),
                         1);
        }
        /* Validate has two parts: one is late data of fit, with its own end. */
        int is_loss_reported = is_cut_off(p) || size < sizes[1];
        if (!CHECK_EQ(steps, 2) ||
            !CHECK(is_whole ? !is_cut_off(p) : is_loss_reported))
            fprintf(stderr, "    at %zu of %zu, %zu, %zu\n", size, sizes[0],
                    sizes[1], sizes[2]);
        gnomon_profile_free(p);
    }
    free(bytes);
    gnomon_attach(NULL, NULL, "");
}

/* ---- Wrong numbers ------------------------------------------------------------- */

static uint32_t word_at(const char *bytes, size_t at)
{
    uint32_t word;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

static void put_word(char *bytes, size_t at, uint32_t word)
{
    memcpy(bytes + at, &word, sizeof word);
}

/* Each word of each record in turn, with right checksums: a number must be
 * checked before it is used. */
TEST(a_wrong_number_in_a_part_is_refused)
{
    static const uint32_t wrong[] = {0, 1, 2, 5, 1000000000};
    const size_t header = 16, head = 40;
    size_t sizes[3], tried = 0, refused = 0;
    three_stages(sizes);
    char *good = child_load(FILE_NAME), *bad = malloc(sizes[2]);
    CHECK(bad != NULL);
    for (size_t at = header; at + head <= sizes[2];) {
        uint32_t record = word_at(good, at + 4);
        size_t payload = word_at(good, at + 8);
        for (size_t i = 0; record && i + 4 <= payload; i += 4)
            for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
                gnomon_profile *p = NULL;
                memcpy(bad, good, sizes[2]);
                put_word(bad, at + head + i, wrong[k]);
                put_word(bad, at + 28,
                         gnomon__crc32(0, bad + at + head, payload));
                put_word(bad, at + 36, gnomon__crc32(0, bad + at, 36));
                tried++;
                refused += gnomon_profile_read(&p, bad, sizes[2]) != GNOMON_OK;
                gnomon_profile_free(p);
            }
        at += head + (payload + 7) / 8 * 8;
    }
    CHECK(tried > 1000 && refused > 100 && refused < tried);
    free(bad);
    free(good);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* In a stage that takes no other time. */
TEST(a_clock_that_steps_back_leaves_a_file_that_is_read)
{
    child_folder();
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL, "profile,file=" FILE_NAME), GNOMON_OK);
    gnomon_stage_begin("fit");
    took("step", 5);
    gnomon_stage_end();
    gnomon_stage_begin("validate");
    gnomon_start("eval");
    gnomon__test_pass(-(uint64_t)50);
    gnomon_stop("eval");
    gnomon_stage_end();
    gnomon_stage_begin("fit");
    took("step", 5);
    gnomon_stage_end();
    char *bytes = child_load(FILE_NAME);
    gnomon_profile *p = read_up_to(bytes, size_now());
    free(bytes);
    CHECK_EQ(calls(p, stage_named(p, "validate"), "eval"), 1);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(p, i, &s);
        CHECK(s.end_ns >= s.begin_ns && s.recorded_ns < 1000);
    }
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
