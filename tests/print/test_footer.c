/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lines after a report.
 * links: testing
 * threads: none */
#include "fake_profile.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "print/footer.h"
#include "test.h"

/* One stage of 10.1 s; `count` executions of one region, `open` open scopes. */
static char *footer(const gnomon__footer_input *facts, uint64_t count,
                    size_t open)
{
    gnomon_stage_info stage = {
        .name = "fit", .begin_ns = 7, .end_ns = 10100000007};
    gnomon_region_info region = {.name = "step"};
    gnomon_stats stats = {.count = count, .total_ns = 5};
    gnomon_node_info node = {.region = 1, .host = &stats};
    fake_profile p = {{&fake_api}, &stage, &region, &node, 1, 1, 1, open};
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(gnomon__footer(&p.base, facts, &w.base), GNOMON_OK);
    return w.text;
}

static void expect(const gnomon__footer_input *facts, uint64_t count,
                   size_t open, const char *text)
{
    char *got = footer(facts, count, open);
    CHECK_STR(got, text);
    free(got);
}

TEST(open_scopes)
{
    gnomon__footer_input facts = {.regions_seen = 1};
    expect(&facts, 4, 1, "gnomon: 1 scope is open: step (main, 1.500 s)\n");
    expect(&facts, 4, 7,
           "gnomon: 7 scopes are open: step (main, 1.500 s), step (main, "
           "1.500 s), step (main, 1.500 s), step (main, 1.500 s), step (main, "
           "1.500 s) and 2 more\n");
    facts.own_opens = 1; /* its node is of no stage, so of another one */
    expect(&facts, 4, 1, "");
    expect(&facts, 0, 1, "gnomon: no rows: no scope ended in this stage\n");
}

TEST(cost)
{
    gnomon__footer_input facts = {.regions_seen = 1, .pair_ns = 29.4};
    expect(
        &facts, 40000, 0,
        "gnomon: about 1.176 ms of 10.100 s (0.012 %) went into 40000 marks at "
        "29 ns each\n");
    expect(&facts, 1, 0,
           "gnomon: about 0.000 ms of 10.100 s (0.000 %) went into 1 mark at "
           "29 ns each\n");
    expect(&facts, 100000000, 0,
           "gnomon: about 2940.000 ms of 10.100 s (29.109 %) went into "
           "100000000 marks at 29 ns each\n");
    facts.pair_ns = 0; /* not known */
    expect(&facts, 1000, 0, "");
}

/* Nor is there a percentage of no time, or of no stage. */
TEST(cost_without_time)
{
    gnomon__footer_input facts = {.regions_seen = 1, .pair_ns = 29};
    gnomon_stage_info stage = {.name = "fit", .begin_ns = 7, .end_ns = 7};
    gnomon_region_info region = {.name = "step"};
    gnomon_stats stats = {.count = 3};
    gnomon_node_info node = {.region = 1, .host = &stats};
    for (size_t stages = 0; stages < 2; stages++) {
        fake_profile p = {{&fake_api}, &stage, &region, &node, stages, 1, 1, 0};
        fake_writer w;
        fake_open(&w);
        CHECK_EQ(gnomon__footer(&p.base, &facts, &w.base), GNOMON_OK);
        CHECK_STR(w.text, "");
        free(w.text);
    }
}

TEST(no_marks)
{
    gnomon__footer_input facts = {.pair_ns = 29};
    expect(&facts, 0, 0, "gnomon: no rows: no marks were made\n");
    facts.regions_seen = 3;
    expect(&facts, 0, 0, "gnomon: no rows: no scope ended in this stage\n");
    expect(&facts, 0, 2,
           "gnomon: no rows: 2 scopes are open: step (main, 1.500 s), step "
           "(main, 1.500 s)\n");
}

/* Memory is marked outside of all scopes, too: then there are rows. */
TEST(memory_is_a_row)
{
    static const char *const said[] = {
        "", "gnomon: 1 scope is open: (outside) (main, 1.500 s)\n"};
    gnomon__footer_input facts = {.pair_ns = 29};
    gnomon_stage_info stage = {.name = "fit"};
    gnomon_region_info region = {.name = "(outside)"};
    gnomon_node_info node = {.region = 1, .memory_count = 1};
    for (size_t open = 0; open < 2; open++) {
        fake_profile p = {{&fake_api}, &stage, &region, &node, 1, 1, 1, open};
        fake_writer w;
        fake_open(&w);
        CHECK_EQ(gnomon__footer(&p.base, &facts, &w.base), GNOMON_OK);
        CHECK_STR(w.text, said[open]);
        free(w.text);
    }
}

TEST(filter)
{
    gnomon__footer_input facts = {.regions_seen = 12, .regions_excluded = 12};
    expect(&facts, 0, 0,
           "gnomon: no rows: the filter excluded 12 of 12 regions\n");
    expect(&facts, 5, 0, "");
    facts.regions_seen = facts.regions_excluded = 1;
    expect(&facts, 0, 0,
           "gnomon: no rows: the filter excluded 1 of 1 region\n");
}

TEST(schedule)
{
    gnomon__footer_input facts = {.regions_seen = 2,
                                  .scheduled = 1,
                                  .steps_made = 3,
                                  .first_active_step = 5};
    expect(&facts, 0, 0,
           "gnomon: no rows: the schedule was never active: 3 steps were made, "
           "the first active one would be step 5\n");
    facts.steps_made = 1;
    expect(&facts, 0, 0,
           "gnomon: no rows: the schedule was never active: 1 step was made, "
           "the first active one would be step 5\n");
    facts.steps_made = 5;
    expect(&facts, 0, 1,
           "gnomon: no rows: 1 scope is open: step (main, 1.500 s)\n");
    facts.first_active_step = UINT64_MAX;
    expect(&facts, 0, 0, "gnomon: no rows: the schedule is never active\n");
    facts.regions_excluded = 1;
    expect(&facts, 0, 0,
           "gnomon: no rows: the filter excluded 1 of 2 regions\n"
           "gnomon: no rows: the schedule is never active\n");
}

TEST(rank)
{
    gnomon__footer_input facts = {.rank_excluded = 1, .regions_seen = 2};
    expect(&facts, 0, 0, "gnomon: no rows: this rank is not in ranks=\n");
}

/* Every counter has its line, and counts what was added since `before`. */
TEST(health)
{
    gnomon__footer_input facts = {.regions_seen = 1};
    char want[4096] = "", line[256];
    uint64_t n = 0;
#define ONE(field, text) \
    facts.before.field = 10; \
    facts.after.field = 11 + ++n; \
    snprintf(line, sizeof line, "gnomon: %llu %s\n", \
             (unsigned long long)n + 1, text); \
    strcat(want, line);
    GNOMON_HEALTH(ONE)
#undef ONE
    strcat(want, "gnomon: the last names within the limit: step\n");
    expect(&facts, 1, 0, want);
    facts.before = facts.after;
    expect(&facts, 1, 0, "");
}

#define HEALTH_OF_ONE(X) \
    X(unmatched, "end of a scope that was not open on the thread") \
    X(crossed, "scope ended by the end of one around it") \
    X(foreign, "end without effect: made on another thread than the begin") \
    X(twice, "start of an action that was open") \
    X(never_started, "stop of an action that was not open") \
    X(left_open, "scope that was open when its thread ended") \
    X(too_deep, "scope past the depth limit, counted under (other)") \
    X(reentered, "mark made inside gnomon, by a callback or a signal, or " \
                 "after the end of its thread") \
    X(other_nodes, "path past the memory limit, counted under (other)") \
    X(other_names, "mark whose name is past the limit, counted under (other)") \
    X(bad_names, "name that was NULL, too long or not UTF-8") \
    X(bad_regions, "region of another generation, or NULL") \
    X(lost_scopes, "mark lost: no memory for the thread (raise mem=)") \
    X(lost_ranges, "range lost: too many open") \
    X(lost_links, "link lost: too many") \
    X(lost_counters, "counter sample lost: too many counters") \
    X(lost_frames, "scope that hooks did not see: too many open, or no " \
                   "memory (raise mem=)") \
    X(bad_stages, "stage of too many names, added up under (other)") \
    X(timers_full, "device time lost: too many scopes waited for the device") \
    X(timers_captured, "device time not taken: captured into a graph") \
    X(timers_failed, "device time lost: the device refused a call") \
    X(timers_late, \
      "device time lost: the device had not finished when the report was due") \
    X(timers_unended, \
      "device time lost: scopes that were crossed or left open") \
    X(clock_back, "end before its begin: the clock stepped back") \
    X(late_lost, "end after its stage, counted in a later one: out of memory") \
    X(activities_lost, "record of device work lost") \
    X(activities_unlinked, "record of device work whose launch was not seen") \
    X(activities_late, \
      "record of device work that came after its stage's report") \
    X(activities_odd, "record of device work with wrong values") \
    X(bad_ops, "operation, or a part of it, with wrong values") \
    X(lost_ops, "scope without its operation: too many operations") \
    X(lost_blocks, "mark of memory lost: out of memory for blocks or paths")

static void check_loss(const char *several, const char *one)
{
    char room[GNOMON__LOSS_WORDS], line[512];
    CHECK(gnomon__loss_words(room, several, 2) == several);
    if (CHECK(one[0]))
        CHECK_STR(gnomon__loss_words(room, several, 1), one);
    for (int more = 0; more < 140; more++) {
        snprintf(line, sizeof line, "%.90s%.*s:%s", several, more,
                 " and, , more,, and more, and more, and  more, and more, and "
                 "more, and, , , , more, and more, and more, and more,,, and "
                 "more, and more, and so on",
                 several);
        CHECK(strlen(gnomon__loss_words(room, line, 1)) < GNOMON__LOSS_WORDS);
    }
}

/* Each has a text of one that reads right. */
TEST(health_of_one)
{
    gnomon__footer_input facts = {.regions_seen = 1};
    facts.after.never_started = 1;
    expect(&facts, 1, 0, "gnomon: 1 stop of an action that was not open\n");
    struct {
#define FIELD(field, text) const char *field;
        GNOMON_HEALTH(FIELD)
    } one = {0};
#define ONE_TEXT(field, text) one.field = text;
    HEALTH_OF_ONE(ONE_TEXT)
#define PAIR(field, text) check_loss(text, one.field ? one.field : "");
    GNOMON_HEALTH(PAIR)
    check_loss(gnomon__event_loss("events_lost"),
               "event lost: no memory, or no path of their own (raise mem=)");
    check_loss(gnomon__event_loss("events_overwritten"),
               "event overwritten by later ones (raise mem=)");
    check_loss(gnomon__event_loss("activities_overwritten"),
               "event of device work overwritten by later ones (raise mem=)");
    CHECK(!gnomon__event_loss("unmatched"));
}

TEST(without_a_profile_only_health)
{
    gnomon__footer_input facts = {.pair_ns = 29};
    fake_writer w;
    facts.after.twice = 2;
    fake_open(&w);
    CHECK_EQ(gnomon__footer(NULL, &facts, &w.base), GNOMON_OK);
    CHECK_STR(w.text, "gnomon: 2 starts of actions that were open\n");
    w.limit = 0;
    w.code = GNOMON_OK;
    CHECK_EQ(gnomon__footer(NULL, &facts, &w.base), GNOMON_EIO);
    free(w.text);
}
