/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state of a training run, and its four entry points. */
#ifndef TRAIN_GPT_TRAINER_H
#define TRAIN_GPT_TRAINER_H

#include <stdint.h>
#include <stdio.h>

#include "adamw.h"
#include "data.h"
#include "hooks.h"
#include "model.h"

struct options {
    int epochs, steps; /* training batches in an epoch */
    int val_batches;   /* in each validation */
    int batch, block, layers, heads, embedding;
    int sample; /* letters; 0: no predict stage */
    int test;   /* whether there is a test stage */
    double rate;
    uint64_t seed;
    const char *text, *out; /* a file, and where ours go; NULL: nowhere */
    const char *resume;     /* a checkpoint, or NULL */
    FILE *progress;         /* NULL: silent */
};

struct trainer {
    const struct options *options;
    struct text text;
    struct model *model;
    struct adamw optimizer;
    struct loader *loader;
    struct batch fetched;     /* as a loader gave it: validation's own */
    struct batch batch;       /* where the model reads it */
    const struct batch *next; /* what batch_to_device will take */
    int epoch;                /* that runs, or would run next */
    uint64_t step;            /* training steps made */
    double decay;             /* factor that the scheduler computed */
    double rate;              /* of the step that runs, warm-up included */
    double loss;              /* of the last training step */
    double *losses;           /* of all of them; NAN: made before a resume */
    double evaluation_sum;
    int evaluation_count, sanity_checking;
    FILE *metrics;
    int failed; /* a failure was printed on stderr */
};

/* Reads the text and makes the model. -1, and one line on stderr. */
int trainer_create(struct trainer *trainer, const struct options *options);
void trainer_free(struct trainer *trainer);

/* Each is its own stage. They print failures on stderr and set `failed`. With
 * `resume` fit goes on where that file ends. */
void trainer_fit(struct trainer *trainer);
void trainer_validate(struct trainer *trainer);
void trainer_test(struct trainer *trainer);
void trainer_predict(struct trainer *trainer);

/* The mean over the last validation or test; NAN if there was no batch. */
double trainer_evaluation(const struct trainer *trainer);

/* One line on stderr about `what`, and `failed`. */
void trainer_fail(struct trainer *trainer, const char *what, const char *why);

/* ---- Checkpoints (checkpoint.c): 0, or -1 and *why ----------------------- */

/* A file holds parameters, optimizer and progress; it is never incomplete. */
int checkpoint_save(const struct trainer *trainer, const char *path,
                    const char **why);

/* Changes nothing if the file is not completely valid. */
int checkpoint_load(struct trainer *trainer, const char *path,
                    const char **why);

/* ---- Sampling (sample.c) ------------------------------------------------- */

/* Continues `prompt` by `count` letters, and writes both to `file`. */
void sample_text(struct trainer *trainer, const int *prompt, int length,
                 int count, FILE *file);

#endif
