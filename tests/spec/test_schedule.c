/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing */
#include "test.h"

#include "gnomon.h"
#include "spec/schedule.h"

static gnomon__schedule parsed(const char *text)
{
    gnomon__schedule s;
    char why[256] = "";
    CHECK_EQ(gnomon__schedule_parse(&s, text, why, sizeof why), GNOMON_OK);
    CHECK_STR(why, "");
    return s;
}

static const char *refused(const char *text)
{
    static char why[256];
    gnomon__schedule s, none;
    memset(&none, 0, sizeof none);
    memset(&s, 1, sizeof s);
    CHECK_EQ(gnomon__schedule_parse(&s, text, why, sizeof why), GNOMON_EINVAL);
    CHECK(memcmp(&s, &none, sizeof s) == 0);
    CHECK(why[0] != '\0');
    return why;
}

static int phase_named(const char *name)
{
    static const char *const names[] = {"NONE", "WARMUP", "RECORD",
                                        "RECORD_AND_SAVE"};
    int i;
    for (i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* What torch.profiler.schedule answers for 32 schedules and 40 steps each. */
TEST(as_torch)
{
    FILE *f = fopen(TEST_SOURCE_DIR "/data/schedule.tsv", "r");
    char line[256], action[32], text[256];
    int n[7], rows = 0;

    if (!CHECK(f != NULL))
        return;
    if (!fgets(line, sizeof line, f))
        CHECK(0);
    while (fgets(line, sizeof line, f)) {
        gnomon__schedule s;
        if (!CHECK_EQ(sscanf(line, "%d %d %d %d %d %d %d %31s", &n[0], &n[1],
                             &n[2], &n[3], &n[4], &n[5], &n[6], action),
                      8))
            break;
        snprintf(text, sizeof text,
                 "skip_first:%d/wait:%d/warmup:%d/active:%d/repeat:%d/"
                 "skip_first_wait:%d",
                 n[4], n[0], n[1], n[2], n[3], n[5]);
        s = parsed(text);
        if (!CHECK_EQ(gnomon__schedule_phase(&s, (uint64_t)n[6]),
                      phase_named(action)))
            fprintf(stderr, "    %s step %d\n", text, n[6]);
        rows++;
    }
    fclose(f);
    CHECK_EQ(rows, 32 * 40);
}

TEST(next_active_agrees_with_phase)
{
    static const char *const texts[] = {
        "active:1",
        "wait:1/warmup:1/active:2",
        "wait:3/active:2/repeat:2",
        "wait:2/warmup:1/active:1/repeat:2/skip_first:3",
        "wait:4/warmup:1/active:2/repeat:2/skip_first:3/skip_first_wait:1",
        "wait:5/active:1/skip_first_wait:1",
        "active:3/repeat:1/skip_first:7"};
    size_t i;
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        gnomon__schedule s = parsed(texts[i]);
        uint64_t step, next = UINT64_MAX;
        /* Backwards: the next active step is this one, or the next one's. */
        if (s.repeat == 0)
            next = gnomon__schedule_next_active(&s, 100);
        for (step = 100; step-- > 0;) {
            if (gnomon__schedule_phase(&s, step) != GNOMON_PHASE_NONE)
                next = step;
            CHECK_EQ(gnomon__schedule_next_active(&s, step), next);
        }
    }
}

TEST(equals_signs_are_colons)
{
    gnomon__schedule a = parsed("wait:2/warmup:1/active:3/skip_first:4");
    gnomon__schedule b = parsed("wait=2/warmup=1/active:3/skip_first=4");
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_STR(refused("wait=1"),
              "'active' is missing: how many steps to record, as active:3");
}

TEST(no_schedule_records_always)
{
    gnomon__schedule s;
    memset(&s, 0, sizeof s);
    CHECK_EQ(gnomon__schedule_phase(&s, 0), GNOMON_PHASE_RECORD);
    CHECK_EQ(gnomon__schedule_phase(&s, UINT64_MAX), GNOMON_PHASE_RECORD);
    CHECK_EQ(gnomon__schedule_next_active(&s, 17), 17);
}

TEST(numbers_are_checked)
{
    CHECK_STR(refused(""),
              "a part is unknown: write wait:1/warmup:1/active:3, "
              "perhaps with repeat, skip_first or skip_first_wait");
    CHECK_STR(refused("wait:1/warmup:1"),
              "'active' is missing: how many steps to record, as active:3");
    CHECK_STR(refused("active:0"), "active must be at least 1");
    CHECK_STR(refused("active:-1"), "active must be at least 1");
    CHECK_STR(refused("wait:-1/active:1"), "wait must be at least 0");
    CHECK_STR(refused("warmup:-2/active:1"), "warmup must be at least 0");
    CHECK_STR(refused("repeat:-1/active:1"), "repeat must be at least 0");
    CHECK_STR(refused("skip_first:-1/active:1"),
              "skip_first must be at least 0");
    CHECK_STR(refused("wait:x/active:1"), "'wait' needs a whole number, as "
                                          "wait:1");
    CHECK_STR(refused("wait/active:1"), "'wait' needs a whole number, as "
                                        "wait:1");
    CHECK_STR(refused("active:1/active:2"), "'active' is given twice");
    CHECK_STR(refused("activ:1"), "a part is unknown: did you mean 'active'?");
    refused("active:1/");
    refused("/active:1");
    refused("active:");
    refused("active:-");
    refused("active: 1");
    refused("active:1.5");
    refused("active:1000000000000000001");
    refused("active:18446744073709551617"); /* 1, if it wrapped */
    refused("active:99999999999999999999999999999999999999999999");
}

/* As in torch, every value but 0 means yes, unchecked. */
TEST(skip_first_wait_is_a_boolean)
{
    CHECK_EQ(parsed("active:1/skip_first_wait:0").skip_first_wait, 0);
    CHECK_EQ(parsed("active:1/skip_first_wait:7").skip_first_wait, 1);
    CHECK_EQ(parsed("active:1/skip_first_wait:-3").skip_first_wait, 1);
}

TEST(largest_numbers)
{
    gnomon__schedule s = parsed("wait:1000000000000000000/warmup:"
                                "1000000000000000000/active:"
                                "1000000000000000000/skip_first:"
                                "1000000000000000000/skip_first_wait:1");
    uint64_t e18 = 1000000000000000000u;
    CHECK_EQ(gnomon__schedule_phase(&s, e18 - 1), GNOMON_PHASE_NONE);
    CHECK_EQ(gnomon__schedule_phase(&s, e18), GNOMON_PHASE_WARMUP);
    CHECK_EQ(gnomon__schedule_phase(&s, 2 * e18), GNOMON_PHASE_RECORD);
    CHECK_EQ(gnomon__schedule_phase(&s, 3 * e18 - 1),
             GNOMON_PHASE_RECORD_AND_SAVE);
    CHECK_EQ(gnomon__schedule_phase(&s, 3 * e18), GNOMON_PHASE_NONE);
    CHECK_EQ(gnomon__schedule_next_active(&s, 3 * e18), 4 * e18);
    CHECK_EQ(gnomon__schedule_next_active(&s, UINT64_MAX), UINT64_MAX);
    s = parsed("wait:10/active:1");
    CHECK_EQ(gnomon__schedule_next_active(&s, UINT64_MAX), UINT64_MAX);
    CHECK_EQ(UINT64_MAX % 11, 4); /* so it waits */
    CHECK_EQ(gnomon__schedule_phase(&s, UINT64_MAX), GNOMON_PHASE_NONE);
    CHECK_EQ(gnomon__schedule_phase(&s, UINT64_MAX - 5),
             GNOMON_PHASE_RECORD_AND_SAVE);
}
