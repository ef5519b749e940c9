/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the trainer marks, against what a real Lightning Trainer marked in a run
 * of the same shape: fit for 2 epochs of 5 batches with 1 validation batch,
 * then validate, test, predict. Every start and stop must be the same, in the
 * same order; only the user's own class names differ.
 *
 * gnomon's calls are replaced by ones that write down actions, so this program
 * is not linked to gnomon.
 */
#include <stdlib.h>

#include "../trainer.h"
#include "test.h"

#include <gnomon.h>

/* ---- The recording gnomon ------------------------------------------------ */

#define MOST 4000
#define LINE_SIZE 300

static char made[MOST][LINE_SIZE];
static int made_count, stage_first, before_stage[8], stages, steps;
static const char *stage_name = "";
static uint64_t resumed_at;

uint32_t gnomon_enabled = 1;

/* Marks before a stage are that stage's: it owns all since the one before. */
static void note(const char *op, const char *name)
{
    if (!CHECK(made_count < MOST))
        return;
    snprintf(made[made_count++], LINE_SIZE, "%s\t%s\t%s", op, stage_name, name);
}

void gnomon_start_slow(const char *name)
{
    note("start", name);
}

void gnomon_stop_slow(const char *name)
{
    note("stop", name);
}

int gnomon_stage_begin(const char *name)
{
    before_stage[stages++] = made_count - stage_first;
    stage_name = name;
    for (int i = stage_first; i < made_count; i++) {
        char line[LINE_SIZE];
        strcpy(line, made[i]);
        char *gap = strstr(line, "\t\t");
        if (!CHECK(gap != NULL))
            continue;
        snprintf(made[i], LINE_SIZE, "%.*s\t%s\t%.200s", (int)(gap - line),
                 line, name, gap + 2);
    }
    return GNOMON_OK;
}

int gnomon_stage_end(void)
{
    stage_first = made_count;
    stage_name = "";
    return GNOMON_OK;
}

void gnomon_step_slow(uint64_t number, int given)
{
    if (given)
        resumed_at = number;
    else
        steps++;
}

gnomon_token gnomon_begin_slow(gnomon_region *region, uint32_t mask)
{
    (void)mask;
    __atomic_store_n(&region->mask, 0, __ATOMIC_RELAXED);
    return 0;
}

gnomon_token gnomon_begin_op_slow(gnomon_region *region,
                                  const gnomon_op_info *op, uint32_t mask)
{
    (void)op;
    return gnomon_begin_slow(region, mask);
}

void gnomon_end_slow(gnomon_token token)
{
    (void)token;
}

uint32_t gnomon_touch_slow(gnomon_region *region, uint32_t mask)
{
    (void)region;
    return mask;
}

void gnomon_counter_slow(gnomon_region *region, uint32_t mask, double value)
{
    (void)mask;
    CHECK_STR(region->name, "train_loss");
    CHECK(value > 0);
}

gnomon_link gnomon_link_out_slow(void)
{
    gnomon_link none = {{0}};
    return none;
}

void gnomon_link_in_slow(const gnomon_link *from, int kind)
{
    CHECK(from && kind == GNOMON_LINK_SUBMIT);
}

void gnomon_thread_name(const char *name)
{
    CHECK_STR(name, "loader");
}

/* ---- The comparison ------------------------------------------------------ */

static char wanted[MOST][LINE_SIZE];
static int wanted_count;

/* Puts `with` in place of the first `what`. */
static void replace(char *line, const char *what, const char *with)
{
    char *at = strstr(line, what), rest[LINE_SIZE];
    if (!at)
        return;
    strcpy(rest, at + strlen(what));
    snprintf(at, (size_t)(line + LINE_SIZE - at), "%s%s", with, rest);
}

static void read_wanted(void)
{
    char line[LINE_SIZE];
    FILE *file = fopen(TEST_SOURCE_DIR "/data/trainer-calls.tsv", "r");
    if (!CHECK(file != NULL))
        return;
    CHECK(fgets(line, sizeof line, file) != NULL); /* the heading */
    while (wanted_count < MOST && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        replace(line, "[LightningModule]Net.", "[LightningModule]GPT.");
        replace(line, "[Callback]Watch.", "[Callback]ProgressLine.");
        strcpy(wanted[wanted_count++], line);
    }
    fclose(file);
}

/* The first line that differs; -1: none. */
static int first_difference(void)
{
    for (int i = 0; i < made_count || i < wanted_count; i++)
        if (i >= made_count || i >= wanted_count ||
            strcmp(made[i], wanted[i]) != 0)
            return i;
    return -1;
}

static struct options options = {
    .epochs = 2,
    .steps = 5,
    .val_batches = 1,
    .batch = 2,
    .block = 8,
    .layers = 1,
    .heads = 2,
    .embedding = 8,
    .sample = 5,
    .rate = 1e-3,
    .seed = 1,
    .text = TRAIN_GPT_TEXT,
};

static void run_all(void)
{
    struct trainer t;
    if (!CHECK_EQ(trainer_create(&t, &options), 0))
        return;
    trainer_fit(&t);
    trainer_validate(&t);
    trainer_test(&t);
    trainer_predict(&t);
    CHECK_EQ(t.failed, 0);
    trainer_free(&t);
}

TEST(same_calls_as_lightning)
{
    read_wanted();
    run_all();
    CHECK_EQ(wanted_count, 2 * (435 + 35 + 35 + 35));
    CHECK_EQ(made_count, wanted_count);
    int at = first_difference();
    if (!CHECK_EQ(at, -1))
        fprintf(stderr, "    line %d: %s\n    Lightning: %s\n", at + 1,
                made[at], wanted[at]);
    CHECK_EQ(steps, 10);
    CHECK_EQ(stages, 4);
    for (int i = 0; i < stages; i++)
        CHECK_EQ(before_stage[i], 2); /* configure_callbacks */
}

TEST(a_difference_is_found)
{
    read_wanted();
    run_all();
    if (!CHECK_EQ(first_difference(), -1))
        return;
    made[700][3] ^= 1;
    CHECK_EQ(first_difference(), 700);
    made[700][3] ^= 1;
    made_count--;
    CHECK_EQ(first_difference(), made_count);
}

/* Resumed, the loading hooks are there and the step's number is given. */
TEST(resume_marks_loading)
{
    static char folder[] = "train_gpt.XXXXXX";
    char path[200], last[200], metrics[200];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof path, "%s/epoch=0-step=5.ckpt", folder);
    snprintf(last, sizeof last, "%s/epoch=1-step=10.ckpt", folder);
    snprintf(metrics, sizeof metrics, "%s/metrics.csv", folder);
    options.out = folder;
    run_all();
    options.resume = path;
    made_count = stage_first = steps = stages = 0;
    run_all();
    static const char *const loading[] = {
        "start\tfit\t" MODULE_ACTION("setup"),
        "start\tfit\t" MODULE_ACTION("on_load_checkpoint"),
        "start\tfit\t" PROGRESS_ACTION("on_load_checkpoint"),
        "start\tfit\t" CHECKPOINT_ACTION("on_load_checkpoint"),
        "start\tfit\t" MODULE_ACTION("configure_optimizers"),
    };
    for (int i = 0; i < 5; i++)
        CHECK_STR(made[6 + 2 * i], loading[i]);
    CHECK_EQ(resumed_at, 5);
    CHECK_EQ(steps, 5);
    unlink(path);
    unlink(last);
    unlink(metrics);
    CHECK_EQ(rmdir(folder), 0);
}
