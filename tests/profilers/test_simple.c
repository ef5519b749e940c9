/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lightning's table, from profiles made by hand. tests/golden tests the
 * same rules with real marks.
 * links: testing
 * threads: none */
#include <locale.h>

#include "fake_profile.h"
#include "gnomon/profile.h"
#include "profilers/table.h"
#include "test.h"

#define MAX_ROWS 48

/* A profile of one stage: each row is one region with one node. */
typedef struct table {
    gnomon_stage_info stage;
    gnomon_region_info regions[MAX_ROWS];
    gnomon_node_info nodes[MAX_ROWS];
    gnomon_stats stats[MAX_ROWS];
    size_t rows;
} table;

static void row(table *t, const char *name, uint64_t calls, uint64_t total_ns)
{
    size_t i = t->rows++;
    t->regions[i].name = name;
    t->regions[i].kind = GNOMON_KIND_ACTION;
    t->stats[i].count = calls;
    t->stats[i].total_ns = total_ns;
    t->nodes[i].region = (uint32_t)t->rows;
    t->nodes[i].first = t->rows;
    t->nodes[i].host = &t->stats[i];
}

/* The options of simple. */
static int said_extended;
static const char *said_sort;
static int64_t said_limit;
static const char *limit_text;
static char complaint[160];

static int64_t say_number(const gnomon_options *options, const char *key)
{
    (void)options;
    return strcmp(key, "extended") == 0 ? said_extended
           : strcmp(key, "limit") == 0  ? said_limit
                                        : 0;
}

static const char *say_text(const gnomon_options *options, const char *key)
{
    (void)options;
    return strcmp(key, "sort") == 0    ? said_sort
           : strcmp(key, "limit") == 0 ? limit_text
                                       : NULL;
}

static void hear(const char *line)
{
    snprintf(complaint, sizeof complaint, "%s", line);
}

static const gnomon_profiler *find_simple(void)
{
    for (size_t i = 0; gnomon__profilers[i]; i++)
        if (strcmp((*gnomon__profilers[i])->name, "simple") == 0)
            return *gnomon__profilers[i];
    return NULL;
}

static int render(const fake_profile *p, int extended, fake_writer *w)
{
    const gnomon_profiler *simple = find_simple();
    gnomon_options options = {.struct_size = sizeof options,
                              .text = say_text,
                              .number = say_number,
                              .log = hear};
    void *self = NULL;
    int code;
    said_extended = extended;
    if (!CHECK(simple && simple->create && simple->summary) ||
        !CHECK_EQ(simple->create(&options, &self), GNOMON_OK))
        return GNOMON_EINVAL;
    code = simple->summary(self, &p->base, &w->base);
    simple->destroy(self);
    return code;
}

/* The text; the caller frees it. */
static char *summary(const table *t, int extended)
{
    fake_profile p = {{&fake_api}, &t->stage, t->regions, t->nodes,
                      1,           t->rows,   t->rows,    0};
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(render(&p, extended, &w), GNOMON_OK);
    return w.text;
}

static void expect(const table *t, int extended, const char *text)
{
    char *got = summary(t, extended);
    CHECK_STR(got, text);
    free(got);
}

static void check_has(const char *text, const char *part)
{
    if (!CHECK(strstr(text, part) != NULL))
        fprintf(stderr, "    no %s\n    in %s\n", part, text);
}

#define DASHES_10 "----------"
#define DASHES_40 DASHES_10 DASHES_10 DASHES_10 DASHES_10
#define RULE_98 DASHES_40 DASHES_40 DASHES_10 "--------\n"
#define RULE_146 DASHES_40 DASHES_40 DASHES_40 DASHES_10 DASHES_10 "------\n"

static void training(table *t)
{
    memset(t, 0, sizeof *t);
    t->stage.name = "fit";
    t->stage.begin_ns = 1000;
    t->stage.end_ns = 12345678001000;
    row(t, "run_training_epoch", 1, 6250000000);
    row(t, "run_training_batch", 400, 400 * 2500000ull);
    row(t, "[Strategy]SingleDeviceStrategy.training_step", 400,
        400 * 1000000ull);
    row(t, "[Strategy]SingleDeviceStrategy.backward", 400, 400 * 1250000ull);
    row(t, "[_TrainingEpochLoop].train_dataloader_next", 401,
        401 * 12345678ull);
    row(t, "save_checkpoint", 1, 1000000000);
    row(t, "[LightningModule]BoringModel.on_train_end", 1, 1516);
}

/* md5 of Lightning's own text: 168023a70424424a0cfbd289f303bf20 */
TEST(training_extended)
{
    table t;
    training(&t);
    expect(&t, 1,
           "FIT Profiler Report\n\n" RULE_146
           "|  Action                                      \t|  "
           "Mean duration (s)\t|  Num calls      \t|  Total time (s) \t|  "
           "Percentage %   \t|\n" RULE_146
           "|  Total                                       \t|  "
           "-              \t|  1604           \t|  1.2346e+04     \t|  "
           "100 %          \t|\n" RULE_146
           "|  run_training_epoch                          \t|  "
           "6.25           \t|  1              \t|  6.25           \t|  "
           "0.050625       \t|\n"
           "|  [_TrainingEpochLoop].train_dataloader_next  \t|  "
           "0.012346       \t|  401            \t|  4.9506         \t|  "
           "0.0401         \t|\n"
           "|  run_training_batch                          \t|  "
           "0.0025         \t|  400            \t|  1.0            \t|  "
           "0.0081         \t|\n"
           "|  save_checkpoint                             \t|  "
           "1.0            \t|  1              \t|  1.0            \t|  "
           "0.0081         \t|\n"
           "|  [Strategy]SingleDeviceStrategy.backward     \t|  "
           "0.00125        \t|  400            \t|  0.5            \t|  "
           "0.00405        \t|\n"
           "|  [Strategy]SingleDeviceStrategy.training_step\t|  "
           "0.001          \t|  400            \t|  0.4            \t|  "
           "0.00324        \t|\n"
           "|  [LightningModule]BoringModel.on_train_end   \t|  "
           "1.516e-06      \t|  1              \t|  1.516e-06      \t|  "
           "1.228e-08      \t|\n" RULE_146);
}

/* md5 of Lightning's own text: 3722708ce524ef69bea695f224bf0b47 */
TEST(training_not_extended)
{
    table t;
    training(&t);
    expect(&t, 0,
           "FIT Profiler Report\n\n" RULE_98
           "|  Action                                      \t|  "
           "Mean duration (s)\t|  Total time (s) \t|\n" RULE_98
           "|  run_training_epoch                          \t|  "
           "6.25           \t|  6.25           \t|\n"
           "|  save_checkpoint                             \t|  "
           "1.0            \t|  1.0            \t|\n"
           "|  [_TrainingEpochLoop].train_dataloader_next  \t|  "
           "0.012346       \t|  4.9506         \t|\n"
           "|  run_training_batch                          \t|  "
           "0.0025         \t|  1.0            \t|\n"
           "|  [Strategy]SingleDeviceStrategy.backward     \t|  "
           "0.00125        \t|  0.5            \t|\n"
           "|  [Strategy]SingleDeviceStrategy.training_step\t|  "
           "0.001          \t|  0.4            \t|\n"
           "|  [LightningModule]BoringModel.on_train_end   \t|  "
           "1.516e-06      \t|  1.516e-06      \t|\n" RULE_98);
}

/* Lightning's own unit test: six hooks, one second apart, in 7 s. */
TEST(six_hooks)
{
    static const char *const names[] = {
        "on_train_start",           "on_train_end",
        "on_train_epoch_start",     "on_train_epoch_end",
        "on_before_batch_transfer", "on_fit_start"};
    static const char *const cells[] = {
        "|  on_fit_start            \t|  5.7734         \t|  1              "
        "\t|  5.7734         \t|  82.478         \t|\n",
        "|  on_before_batch_transfer\t|  4.7734         \t|  1              "
        "\t|  4.7734         \t|  68.192         \t|\n",
        "|  on_train_epoch_end      \t|  3.7734         \t|  1              "
        "\t|  3.7734         \t|  53.906         \t|\n",
        "|  on_train_epoch_start    \t|  2.7734         \t|  1              "
        "\t|  2.7734         \t|  39.62          \t|\n",
        "|  on_train_end            \t|  1.7734         \t|  1              "
        "\t|  1.7734         \t|  25.335         \t|\n",
        "|  on_train_start          \t|  0.77343        \t|  1              "
        "\t|  0.77343        \t|  11.049         \t|\n"};
    char all[2048] = "";
    char *text;
    table t;
    memset(&t, 0, sizeof t);
    t.stage.name = "";
    t.stage.end_ns = 7000000000;
    for (size_t i = 0; i < 6; i++)
        row(&t, names[i], 1, 773434000 + i * 1000000000);
    for (size_t i = 0; i < 6; i++)
        strcat(all, cells[i]);
    text = summary(&t, 1);
    check_has(text, "Profiler Report\n\n---");
    check_has(text,
              "\n|  Total                   \t|  -              \t|  6  "
              "            \t|  7.0            \t|  100 %          \t|\n");
    check_has(text, all);
    free(text);
}

/* The names in the order of their rows. */
static void expect_order(const table *t, const char *sort, const char *names)
{
    char got[64] = "", *text, *at;
    said_sort = sort;
    text = summary(t, 1);
    for (at = text; (at = strstr(at, "\n|  ")) != NULL; at++)
        if (at[5] == ' ' || at[5] == '\t')
            strncat(got, at + 4, 1);
    CHECK_STR(got, names);
    free(text);
    said_sort = NULL;
}

TEST(rows_are_ordered_and_cut_as_asked)
{
    table t = {.stage = {.end_ns = 1000}};
    row(&t, "c", 3, 300);
    row(&t, "a", 1, 200);
    row(&t, "b", 8, 400);
    expect_order(&t, NULL, "bca");
    expect_order(&t, "total", "bca");
    expect_order(&t, "mean", "acb");
    expect_order(&t, "calls", "bca");
    expect_order(&t, "name", "abc");
    said_limit = 2;
    limit_text = "2";
    expect_order(&t, "mean", "ac");
    CHECK_STR(complaint, "");
    said_limit = -3;
    limit_text = "-3";
    expect_order(&t, NULL, "bca");
    CHECK_STR(complaint, "simple: limit=-3: say how many rows, from 1");
    said_limit = 0;
    limit_text = NULL;
    expect_order(&t, "size", "bca");
    CHECK_STR(complaint, "simple: sort=size: say total, mean, calls or name");
}

TEST(nothing_recorded)
{
    table t;
    memset(&t, 0, sizeof t);
    t.stage.name = "predict";
    t.stage.end_ns = 5000000000;
    row(&t, "begun_but_never_ended", 0, 0);
    expect(&t, 1, "PREDICT Profiler Report\n\n");
    expect(&t, 0, "PREDICT Profiler Report\n\n");
    t.stage.name = "";
    expect(&t, 1, "Profiler Report\n\n");
    t.stage.name = "my é stage";
    expect(&t, 1, "MY é STAGE Profiler Report\n\n");
}

TEST(one_row_for_each_name)
{
    char *text;
    table t;
    memset(&t, 0, sizeof t);
    t.stage.name = "fit";
    t.stage.end_ns = 1000;
    row(&t, "a", 1, 100);
    row(&t, "b", 1, 400);
    row(&t, "a", 2, 200);
    t.regions[2].kind = GNOMON_KIND_SCOPE;
    t.regions[2].category = "elsewhere";
    row(&t, "", 4, 50); /* a path to the region of the row before */
    t.nodes[3].region = 3;
    t.regions[3].kind = GNOMON_KIND_MARK;
    row(&t, "function", 1, 1);
    t.regions[4].kind = GNOMON_KIND_FUNCTION;
    row(&t, "range", 1, 1);
    t.regions[5].kind = GNOMON_KIND_RANGE;
    row(&t, "a_counter_with_a_long_name", 1, 1);
    t.regions[6].kind = GNOMON_KIND_COUNTER;
    row(&t, "a_mark_with_a_long_name", 1, 1);
    t.regions[7].kind = GNOMON_KIND_MARK;
    text = summary(&t, 1);
    check_has(text, "|  a       \t|  5e-08          \t|  7              \t|  "
                    "3.5e-07        \t|  35.0           \t|\n");
    check_has(text, "\n|  Total   \t|  -              \t|  10             \t|");
    check_has(text, "\n|  range   \t|");
    check_has(text, "\n|  function\t|");
    CHECK(!strstr(text, "long_name"));
    free(text);
}

TEST(ties_keep_the_order_of_first_ends)
{
    char *text;
    const char *late, *early, *unknown;
    table t;
    memset(&t, 0, sizeof t);
    t.stage.name = "fit";
    t.stage.end_ns = 1000;
    row(&t, "late", 1, 100);
    row(&t, "early", 1, 50);
    row(&t, "early", 1, 50);
    row(&t, "unknown", 1, 100);
    t.nodes[0].first = 7;
    t.nodes[1].first = 9;
    t.nodes[2].first = 6;
    t.nodes[3].first = 0;
    text = summary(&t, 1);
    early = strstr(text, "|  early"), late = strstr(text, "|  late");
    unknown = strstr(text, "|  unknown");
    CHECK(early && late && unknown && early < late && late < unknown);
    free(text);
}

TEST(numbers)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0.0"},
                 {1, "1e-09"},
                 {2150, "2.15e-06"},
                 {10000, "1e-05"},
                 {99999, "9.9999e-05"},
                 {100000, "0.0001"},
                 {123457, "0.00012346"},
                 {773434000, "0.77343"},
                 {999994000, "0.99999"},
                 {999996000, "1.0"},
                 {7000000000, "7.0"},
                 {39620000000, "39.62"},
                 {100000000000, "100.0"},
                 {1000000000000, "1000.0"},
                 {9999400000000, "9999.4"},
                 {9999960000000, "1e+04"},
                 {12345600000000, "1.2346e+04"},
                 {99995000000000, "9.9995e+04"},
                 {10000000000000000000ull, "1e+10"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char cell[64], *text;
        table t;
        memset(&t, 0, sizeof t);
        t.stage.name = "fit";
        t.stage.end_ns = 1000000000;
        row(&t, "action", 1, cases[i].ns);
        text = summary(&t, 0);
        snprintf(cell, sizeof cell, "|  action\t|  %-15s\t|  %-15s\t|\n",
                 cases[i].text, cases[i].text);
        check_has(text, cell);
        free(text);
    }
}

TEST(the_decimal_point_is_not_the_locales)
{
    char *text;
    table t;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8"))
        SKIP("no locale de_DE.UTF-8");
    memset(&t, 0, sizeof t);
    t.stage.name = "fit";
    t.stage.end_ns = 1000000000;
    row(&t, "action", 1, 2150);
    text = summary(&t, 0);
    check_has(text, "|  2.15e-06       \t|");
    free(text);
}

TEST(no_time_passed)
{
    char *text;
    table t;
    memset(&t, 0, sizeof t);
    t.stage.name = "fit";
    t.stage.begin_ns = t.stage.end_ns = 5;
    row(&t, "nothing", 1, 0);
    row(&t, "something", 1, 5);
    text = summary(&t, 1);
    check_has(text, "\t|  0.0            \t|  100 %");
    check_has(text, "|  something\t|  5e-09          \t|  1              \t|  "
                    "5e-09          \t|  inf            \t|\n|  nothing  \t|  "
                    "0.0            \t|  1              \t|  0.0            "
                    "\t|  0.0            \t|\n");
    free(text);
}

/* A profile without the order of first ends, or with a node without a
 * region. */
TEST(profiles_without_an_order_or_regions)
{
    table t;
    memset(&t, 0, sizeof t);
    row(&t, "b", 2, 10);
    row(&t, "c", 2, 10);
    row(&t, "a", 2, 10);
    row(&t, "nobody's", 5, 99);
    row(&t, "nobody's too", 5, 99);
    for (size_t i = 0; i < t.rows; i++)
        t.nodes[i].first = 0;
    t.nodes[3].region = 0;
    t.nodes[4].region = 6;
    fake_profile p = {{&fake_api}, NULL, t.regions, t.nodes, 0, 5, 5, 0};
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(render(&p, 0, &w), GNOMON_OK);
    const char *a = strstr(w.text, "|  a\t"), *b = strstr(w.text, "|  b\t");
    CHECK(a && b && a < b && b < strstr(w.text, "|  c\t"));
    CHECK(strstr(w.text, "nobody's") == NULL);
    CHECK_EQ(strncmp(w.text, "Profiler Report", 15), 0); /* of no stage */
    free(w.text);
}

TEST(a_failing_writer_is_reported)
{
    table t;
    char *whole;
    training(&t);
    whole = summary(&t, 1);
    for (size_t limit = 0; limit < strlen(whole); limit += 97) {
        fake_profile p = {{&fake_api}, &t.stage, t.regions, t.nodes,
                          1,           t.rows,   t.rows,    0};
        fake_writer w;
        fake_open(&w);
        w.limit = limit;
        CHECK_EQ(render(&p, 1, &w), GNOMON_EIO);
        CHECK(strncmp(w.text, whole, w.size) == 0);
        free(w.text);
    }
    free(whole);
}

TEST(without_a_profile_nothing_is_written)
{
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(find_simple()->summary(NULL, NULL, &w.base), GNOMON_EINVAL);
    CHECK_EQ(w.size, 0);
    free(w.text);
}

/* 10^5 regions of 50 000 names. */
TEST(many_rows)
{
    enum { N = 100000 };
    gnomon_region_info *regions = calloc(N, sizeof *regions);
    gnomon_node_info *nodes = calloc(N, sizeof *nodes);
    gnomon_stats one = {sizeof one, 0, 2, 10, 10, 5, 5, NULL, 0};
    gnomon_stage_info stage = {.name = "fit", .end_ns = 1000};
    fake_profile p = {{&fake_api}, &stage, regions, nodes, 1, N, N, 0};
    char(*names)[16] = calloc(N, sizeof *names);
    size_t lines = 0;
    fake_writer w;
    for (uint32_t i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "name_%u", (unsigned)(i % (N / 2)));
        regions[i].name = names[i];
        nodes[i].region = i + 1;
        nodes[i].first = N - i;
        nodes[i].host = &one;
    }
    fake_open(&w);
    CHECK_EQ(render(&p, 1, &w), GNOMON_OK);
    for (size_t i = 0; i < w.size; i++)
        lines += w.text[i] == '\n';
    CHECK_EQ(lines, 2 + 6 + N / 2);
    check_has(w.text, "|  200000         \t|  1e-06          \t|  100 %");
    check_has(w.text, "|  name_49999\t|  5e-09          \t|  4              ");
    free(w.text);
    free(regions);
    free(nodes);
    free(names);
}
