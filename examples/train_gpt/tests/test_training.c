/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Training as a whole, in float: the loss falls, is one for one seed whatever
 * the number of threads, and goes on where a checkpoint ended; and the program
 * around it refuses what it does not understand.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../trainer.h"
#include "sanitizer.h"
#include "test.h"

#define STEPS 12

static struct options small_options(void)
{
    struct options options = {
        .epochs = 2,
        .steps = STEPS,
        .val_batches = 1,
        .batch = 3,
        .block = 29,
        .layers = 2,
        .heads = 2,
        .embedding = 20,
        .rate = 5e-3,
        .seed = 11,
        .text = TRAIN_GPT_TEXT,
    };
    return options;
}

/* A folder of this process's own. */
static const char *make_folder(void)
{
    static char path[] = "train_gpt.XXXXXX";
    return CHECK(mkdtemp(path) != NULL) ? path : ".";
}

static void remove_folder(const char *path)
{
    static const char *const names[] = {
        "metrics.csv", "epoch=0-step=12.ckpt", "epoch=1-step=24.ckpt",
        "wrong.ckpt",  "epoch=0-step=3.ckpt",  "epoch=1-step=6.ckpt"};
    char file[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        unlink(file);
    }
    CHECK_EQ(rmdir(path), 0);
}

/* Trains, and copies the losses of all steps and of a last validation. */
static void train(const struct options *options, double losses[2 * STEPS + 1])
{
    struct trainer t;
    if (!CHECK_EQ(trainer_create(&t, options), 0))
        return;
    trainer_fit(&t);
    trainer_validate(&t);
    CHECK_EQ(t.failed, 0);
    memcpy(losses, t.losses, 2 * STEPS * sizeof *losses);
    losses[2 * STEPS] = trainer_evaluation(&t);
    trainer_free(&t);
}

#define SIZE_OF_LOSSES ((2 * STEPS + 1) * sizeof(double))

TEST(threads_change_no_bit_of_the_loss)
{
#ifdef _OPENMP
    struct options options = small_options();
    double one[2 * STEPS + 1], many[2 * STEPS + 1];
    omp_set_dynamic(0);
    omp_set_num_threads(1);
    train(&options, one);
    CHECK(one[0] > 1 && isfinite(one[2 * STEPS]));
    static const int counts[] = {2, 3, 8};
    for (int i = 0; i < 3; i++) {
        omp_set_num_threads(counts[i]);
        train(&options, many);
        CHECK(memcmp(one, many, SIZE_OF_LOSSES) == 0);
    }
#else
    SKIP("built without OpenMP");
#endif
}

TEST(another_seed_is_another_loss)
{
    struct options options = small_options();
    double one[2 * STEPS + 1], other[2 * STEPS + 1];
    train(&options, one);
    options.seed++;
    train(&options, other);
    CHECK(one[0] < other[0] || one[0] > other[0]);
}

TEST(loss_falls)
{
    struct options options = small_options();
    double losses[2 * STEPS + 1];
    double early = 0, late = 0;
    train(&options, losses);
    for (int i = 0; i < 4; i++) {
        early += losses[i] / 4;
        late += losses[2 * STEPS - 1 - i] / 4;
    }
    /* Guessing gives log(vocabulary), about 4.2. */
    CHECK(early > 3.5 && early < 6);
    CHECK(late < early - 0.8);
    CHECK(losses[2 * STEPS] < early - 0.4);
}

/* In float: along its own direction the loss rises as fast as the gradient is
 * long. */
TEST(gradient_in_float)
{
    struct options options = small_options();
    struct trainer t;
    if (!CHECK_EQ(trainer_create(&t, &options), 0))
        return;
    struct model *m = t.model;
    batch_draw(&t.batch, &t.text, 1, 0);
    double loss[2], length = 0, nudge = 2e-2;
    model_forward(m, t.batch.tokens, t.batch.targets, 3, 29);
    model_backward(m, t.batch.tokens, t.batch.targets);
    for (size_t i = 0; i < m->count; i++)
        length += (double)m->gradients[i] * (double)m->gradients[i];
    length = sqrt(length);
    for (int side = 0; side < 2; side++) {
        double move = (side ? -2 : 1) * nudge / length;
        for (size_t i = 0; i < m->count; i++)
            m->parameters[i] += (real)(move * (double)m->gradients[i]);
        loss[side] = model_forward(m, t.batch.tokens, t.batch.targets, 3, 29);
    }
    double slope = (loss[0] - loss[1]) / (2 * nudge);
    CHECK(length > 0.1);
    CHECK(fabs(slope - length) < 0.01 * length);
    trainer_free(&t);
}

TEST(clipping_and_schedule)
{
    struct options options = small_options();
    struct trainer t;
    if (!CHECK_EQ(trainer_create(&t, &options), 0))
        return;
    for (int i = 0; i < 2; i++) { /* the second time there is nothing to clip */
        t.model->gradients[0] = i ? t.model->gradients[0] : 3;
        t.model->gradients[1] = i ? t.model->gradients[1] : 4;
        clip_gradients(t.model, 1.0);
        CHECK(fabs((double)t.model->gradients[0] - 0.6) < 1e-6);
        CHECK(fabs((double)t.model->gradients[1] - 0.8) < 1e-6);
    }
    model_clear_gradients(t.model);
    CHECK(t.model->gradients[1] == 0);
    trainer_free(&t);
    CHECK(fabs(schedule_of_epoch(0, 4) - 1) < 1e-12);
    CHECK(fabs(schedule_of_epoch(4, 4) - 0.1) < 1e-12);
    CHECK(fabs(schedule_of_warmup(4, 10) - 0.5) < 1e-12);
}

TEST(resume_goes_on_as_if_never_stopped)
{
    struct options options = small_options();
    double whole[2 * STEPS + 1], rest[2 * STEPS + 1];
    char path[200];
    options.out = make_folder();
    train(&options, whole);
    snprintf(path, sizeof path, "%s/epoch=0-step=12.ckpt", options.out);
    options.resume = path;
    train(&options, rest);
    CHECK(isnan(rest[0]) && isnan(rest[STEPS - 1]));
    CHECK(memcmp(whole + STEPS, rest + STEPS, (STEPS + 1) * sizeof *rest) == 0);
    remove_folder(options.out);
}

/* Copies `from` to `to` with one byte changed or, with `at` -1, cut. */
static void spoil(const char *from, const char *to, long at)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!CHECK(in && out))
        return;
    fseek(in, 0, SEEK_END);
    long size = ftell(in) - (at < 0);
    rewind(in);
    for (long i = 0; i < size; i++)
        putc(i == at ? getc(in) ^ 4 : getc(in), out);
    fclose(in);
    fclose(out);
}

TEST(damaged_checkpoint_is_refused)
{
    struct options options = small_options();
    double losses[2 * STEPS + 1];
    char good[200], wrong[200];
    const char *why = "";
    struct trainer t;
    options.out = make_folder();
    train(&options, losses);
    snprintf(good, sizeof good, "%s/epoch=1-step=24.ckpt", options.out);
    snprintf(wrong, sizeof wrong, "%s/wrong.ckpt", options.out);
    if (!CHECK_EQ(trainer_create(&t, &options), 0))
        return;
    real first = t.model->parameters[0];
    static const long offsets[] = {-1, 0, 60, 4000, 9999};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        spoil(good, wrong, offsets[i]);
        CHECK_EQ(checkpoint_load(&t, wrong, &why), -1);
        CHECK(strlen(why) > 10);
    }
    CHECK_EQ(t.step, 0);
    CHECK(memcmp(&first, t.model->parameters, sizeof first) == 0);
    CHECK_EQ(checkpoint_load(&t, good, &why), 0);
    CHECK_EQ(t.step, 2 * STEPS);
    CHECK(memcmp(&first, t.model->parameters, sizeof first) != 0);
    trainer_free(&t);
    options.layers = 1;
    if (!CHECK_EQ(trainer_create(&t, &options), 0))
        return;
    CHECK_EQ(checkpoint_load(&t, good, &why), -1);
    CHECK(strstr(why, "--layers") != NULL);
    trainer_free(&t);
    remove_folder(options.out);
}

/* ---- The program --------------------------------------------------------- */

/* Runs it; returns its exit status, and what it wrote on stdout or stderr. */
static int run_program(const char *words, int errors, char *text, size_t size)
{
    char command[4096];
    snprintf(command, sizeof command, "%s %s %s", TRAIN_GPT_PROGRAM, words,
             errors ? "2>&1 >/dev/null" : "");
    FILE *pipe = popen(command, "r");
    if (!CHECK(pipe != NULL))
        return -1;
    text[fread(text, 1, size - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(program_refuses_in_one_line)
{
    static const char *const words[][2] = {
        {"--stpes 3", "unknown option --stpes"},
        {"3", "unknown option 3"},
        {"--steps", "needs a value"},
        {"--steps 3x", "not a whole number from 1"},
        {"--steps=0", "not a whole number from 1"},
        {"--lr 2", "not a number between 0 and 1"},
        {"--seed -1", "not a whole number"},
        {"--test=yes", "takes no value"},
        {"--heads 5", "not a multiple of --heads"},
        {"--text no/such/file", "no/such/file: No such file"},
        {"--text /dev/null", "too short"},
        {"--resume no/such/file --out .", "no/such/file: No such file"},
    };
    char text[10000];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        CHECK_EQ(run_program(words[i][0], 1, text, sizeof text), 1);
        if (!CHECK(strncmp(text, "train_gpt: ", 11) == 0) ||
            !CHECK(strstr(text, words[i][1]) != NULL) ||
            !CHECK_EQ(strcspn(text, "\n") + 1, strlen(text)))
            fprintf(stderr, "    %s: %s\n", words[i][0], text);
    }
    unlink("metrics.csv");
}

TEST(program_trains_and_writes)
{
    char words[400], text[10000];
    const char *out = make_folder();
    snprintf(words, sizeof words,
             "--epochs 2 --steps 12 --batch 2 --block 16 --embd 16 --heads 2 "
             "--layers 1 --sample 40 --test --text '%s' --out '%s'",
             TRAIN_GPT_TEXT, out);
    CHECK_EQ(run_program(words, 0, text, sizeof text), 0);
    CHECK(strstr(text, "epoch 2/2  step 24/24  train loss ") != NULL);
    CHECK(strstr(text, "epoch 2/2  validation loss ") != NULL);
    CHECK(strstr(text, "\nvalidation loss ") != NULL);
    CHECK(strstr(text, "\ntest loss ") != NULL);
    CHECK_EQ(run_program("--help", 0, text, sizeof text), 0);
    CHECK(strstr(text, "--resume") != NULL);
    remove_folder(out);
}

/* ---- What it tells ------------------------------------------------------- */

static void read_file(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, size - 1, f) : 0;
    text[n] = '\0';
    if (CHECK(f != NULL))
        fclose(f);
}

/* The calls and the cumulative time of the row that ends in `name`, in the table
 * of `action`; 0 calls: there is none. */
static int find_row(const char *report, const char *action, const char *name,
                    double *seconds)
{
    char head[200], row[200];
    snprintf(head, sizeof head, "\nProfile stats for: %s\n", action);
    snprintf(row, sizeof row, "%s\n", name);
    const char *from = strstr(report, head);
    from = from ? from + strlen(head) : NULL;
    const char *to = from ? strstr(from, "\nProfile stats") : NULL;
    const char *at = from ? strstr(from, row) : NULL;
    int calls = 0;
    if (!at || (to && at > to))
        return 0;
    while (at[-1] != '\n')
        at--;
    return sscanf(at, "%d %*f %*f %lf", &calls, seconds) == 2 ? calls : 0;
}

/* Which function inside training_step took the time. */
TEST(advanced_tells_what_a_step_is_made_of)
{
    static const char step[] = "[Strategy]SingleDeviceStrategy.training_step";
    static char text[1 << 20];
    const char *out = make_folder();
    const int epoch = IS_SLOW ? 3 : 12, steps = 2 * epoch;
    char words[400], report[200];
    double whole = 0, attention = 0, mlp = 0, product = 0, none = 0;
    snprintf(report, sizeof report, "%s/report.txt", out);
    snprintf(words, sizeof words, "advanced(file=%s)", report);
    setenv("GNOMON", words, 1);
    snprintf(words, sizeof words,
             "--epochs 2 --steps %d --batch %d --block 64 --embd 64 --heads 2 "
             "--layers 2 --sample 0 --text '%s' --out '%s'",
             epoch, IS_SLOW ? 1 : 4, TRAIN_GPT_TEXT, out);
    CHECK_EQ(run_program(words, 0, text, sizeof text), 0);
    unsetenv("GNOMON");
    read_file(report, text, sizeof text);
    CHECK_EQ(find_row(text, step, step, &whole), steps);
    CHECK_EQ(find_row(text, step, "(model_forward)", &whole), steps);
    CHECK_EQ(find_row(text, step, "(attention_forward)", &attention),
             2 * steps);
    CHECK_EQ(find_row(text, step, "(mlp_forward)", &mlp), 2 * steps);
    CHECK_EQ(find_row(text, step, "(matmul_forward)", &product), 9 * steps);
    CHECK_EQ(find_row(text, step, "(adamw_step)", &none), 0);
    /* The parts are most of it, and no more than it. */
    CHECK(attention + mlp <= whole + 0.001);
    CHECK(product > 0 && product < whole);
    CHECK(attention + mlp > whole / 4);
    unlink(report);
    remove_folder(out);
}

/* Whether a stage's row has so many calls and flops. */
static int has_work(const char *rows, const char *start, uint64_t calls,
                    uint64_t flops)
{
    char row[200];
    snprintf(row, sizeof row, "\n%s,%ju,%ju\n", start, (uintmax_t)calls,
             (uintmax_t)flops);
    return strstr(rows, row) != NULL;
}

/* Backward has two products for each one of forward. */
TEST(operations_say_what_a_step_computes)
{
    static char text[1 << 16];
    const char *out = make_folder();
    const uint64_t steps = 3, layers = 2, rows = 3 * 32, time = 32, c = 16;
    struct text data;
    char words[400], report[200];
    CHECK_EQ(text_load(&data, TRAIN_GPT_TEXT, (int)time), 0);
    const uint64_t v = (uint64_t)data.vocabulary;
    const uint64_t products = 2 * rows * (layers * 12 * c * c + c * v);
    const uint64_t heads = layers * 2 * 2 * 3 * time * time * c;
    text_free(&data);
    snprintf(report, sizeof report, "%s/report.csv", out);
    snprintf(words, sizeof words,
             "regions(columns=calls|flops,format=csv,file=%s)", report);
    setenv("GNOMON", words, 1);
    snprintf(words, sizeof words,
             "--epochs 1 --steps 3 --batch 3 --block 32 --embd 16 --heads 2 "
             "--layers 2 --val-batches 1 --sample 0 --text '%s' --out '%s'",
             TRAIN_GPT_TEXT, out);
    CHECK_EQ(run_program(words, 0, text, sizeof text), 0);
    unsetenv("GNOMON");
    read_file(report, text, sizeof text);
    CHECK(has_work(text, "validate,matmul_forward", 9, products));
    CHECK(has_work(text, "validate,heads_forward", 2, heads));
    CHECK(
        has_work(text, "fit,matmul_backward", 9 * steps, 2 * products * steps));
    CHECK(has_work(text, "fit,heads_backward", 2 * steps, 2 * heads * steps));
    unlink(report);
    remove_folder(out);
}
