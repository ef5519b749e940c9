/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The two callbacks: a line of progress, and a checkpoint after each epoch.
 * Called by hook_call alone. Neither changes what is trained.
 */
#include "trainer.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnomon.h>

/* ---- ProgressLine -------------------------------------------------------- */

/* On a terminal: one line that is rewritten. Else: ten lines, and the end of each
 * epoch. */
static void show_step(struct trainer *t)
{
    FILE *file = t->options->progress;
    if (!file)
        return;
    unsigned long long step = t->step;
    unsigned long long all = (unsigned long long)t->options->epochs *
                             (unsigned long long)t->options->steps;
    int terminal = isatty(fileno(file));
    if (!terminal && step != 1 && step % (all < 10 ? 1 : all / 10) != 0)
        return;
    fprintf(file, "%sepoch %d/%d  step %llu/%llu  train loss %.4f%s",
            terminal ? "\r" : "", t->epoch + 1, t->options->epochs, step, all,
            t->loss, terminal ? "   " : "\n");
    fflush(file);
}

/* After the line of the last step; on a terminal, on the same line. */
static void show_validation(struct trainer *t)
{
    FILE *file = t->options->progress;
    if (!file || t->sanity_checking)
        return;
    if (t->loader && isatty(fileno(file)))
        fprintf(file, "validation loss %.4f\n", trainer_evaluation(t));
    else if (t->loader)
        fprintf(file, "epoch %d/%d  validation loss %.4f\n", t->epoch + 1,
                t->options->epochs, trainer_evaluation(t));
    else
        fprintf(file, "validation loss %.4f\n", trainer_evaluation(t));
    fflush(file);
}

static void show_test(struct trainer *t)
{
    FILE *file = t->options->progress;
    if (!file)
        return;
    fprintf(file, "test loss %.4f\n", trainer_evaluation(t));
    fflush(file);
}

hook_body *const progress_line[HOOK_COUNT] = {
    [HOOK_on_train_batch_end] = show_step,
    [HOOK_on_validation_end] = show_validation,
    [HOOK_on_test_end] = show_test,
};

/* ---- ModelCheckpoint ----------------------------------------------------- */

/* Room in a path for the name after the folder. */
#define PATH_SIZE 4096

static void prepare_folder(struct trainer *t)
{
    const char *out = t->options->out;
    char path[PATH_SIZE];
    if (!out || t->metrics)
        return;
    snprintf(path, sizeof path, "%s/metrics.csv", out);
    if (mkdir(out, 0777) && errno != EEXIST) {
        trainer_fail(t, out, strerror(errno));
        return;
    }
    t->metrics = fopen(path, t->options->resume ? "a" : "w");
    if (t->metrics && ftell(t->metrics) == 0)
        fputs("epoch,step,rate,train_loss,val_loss\n", t->metrics);
    else if (!t->metrics)
        trainer_fail(t, path, strerror(errno));
}

static void save_epoch(struct trainer *t)
{
    char path[PATH_SIZE];
    const char *why;
    if (!t->options->out)
        return;
    snprintf(path, sizeof path, "%s/epoch=%d-step=%llu.ckpt", t->options->out,
             t->epoch - 1, (unsigned long long)t->step);
    if (checkpoint_save(t, path, &why))
        trainer_fail(t, path, why);
}

/* At the end of an epoch. Other parts may add to a checkpoint before it is written;
 * here none does. */
static void checkpoint_epoch(struct trainer *t)
{
    gnomon_start("save_checkpoint");
    hook_call(t, CALLBACKS | MODULE, HOOK_on_save_checkpoint);
    save_epoch(t);
    gnomon_stop("save_checkpoint");
}

hook_body *const model_checkpoint[HOOK_COUNT] = {
    [HOOK_setup] = prepare_folder,
    [HOOK_on_train_epoch_end] = checkpoint_epoch,
};
