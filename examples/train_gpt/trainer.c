/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The loops: fit, validate, test, predict. main.c calls each at most once.
 *
 * Invariant: hooks are called in the order in which Lightning's Trainer calls
 * them; tests/test_actions.c compares it with a real one's. Actions of no part, such
 * as run_training_batch, are marked where they happen.
 */
#include "trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gnomon.h>

#define SANITY_BATCHES 2

void trainer_fail(struct trainer *t, const char *what, const char *why)
{
    fprintf(stderr, "train_gpt: %s: %s\n", what, why);
    t->failed = 1;
}

int trainer_create(struct trainer *t, const struct options *options)
{
    memset(t, 0, sizeof *t);
    t->options = options;
    if (text_load(&t->text, options->text, options->block))
        return -1;
    struct model_config config = {t->text.vocabulary, options->block,
                                  options->layers, options->heads,
                                  options->embedding};
    size_t steps = (size_t)options->epochs * (size_t)options->steps;
    t->model = model_create(config, options->batch);
    t->losses = calloc(steps, sizeof *t->losses);
    if (!t->model || !t->losses || adamw_create(&t->optimizer, t->model) ||
        batch_create(&t->fetched, options->batch, options->block) ||
        batch_create(&t->batch, options->batch, options->block)) {
        fprintf(stderr, "train_gpt: out of memory\n");
        trainer_free(t);
        return -1;
    }
    for (size_t i = 0; i < steps; i++)
        t->losses[i] = (double)NAN;
    model_init(t->model, options->seed);
    adamw_send(&t->optimizer, t->model);
    return 0;
}

void trainer_free(struct trainer *t)
{
    loader_stop(t->loader);
    if (t->metrics)
        fclose(t->metrics);
    batch_free(&t->fetched);
    batch_free(&t->batch);
    adamw_free(&t->optimizer);
    model_free(t->model);
    free(t->losses);
    text_free(&t->text);
}

double trainer_evaluation(const struct trainer *t)
{
    return t->evaluation_count ? t->evaluation_sum / t->evaluation_count
                               : (double)NAN;
}

/* Moves `next` to where the model reads it. */
static void transfer_batch(struct trainer *t)
{
    hook_call(t, MODULE, HOOK_on_before_batch_transfer);
    hook_call(t, STRATEGY, HOOK_batch_to_device);
}

/* ---- Validation, test, prediction ---------------------------------------- */

/* The hooks of such a loop. */
struct evaluation {
    const char *fetch;
    enum hook loader, model_eval, start, epoch_start, batch_start, step,
        batch_end, epoch_end, end;
};

#define EVALUATION(name, short, loop) \
    static const struct evaluation name##_loop = { \
        "[" loop "]." #short "_next", HOOK_##short##_dataloader, \
        HOOK_on_##name##_model_eval,  HOOK_on_##name##_start, \
        HOOK_on_##name##_epoch_start, HOOK_on_##name##_batch_start, \
        HOOK_##name##_step,           HOOK_on_##name##_batch_end, \
        HOOK_on_##name##_epoch_end,   HOOK_on_##name##_end}

EVALUATION(validation, val, "_EvaluationLoop");
EVALUATION(test, test, "_EvaluationLoop");
EVALUATION(predict, predict, "_PredictionLoop");

static void evaluate(struct trainer *t, const struct evaluation *e, int batches)
{
    t->evaluation_sum = 0;
    t->evaluation_count = 0;
    hook_call(t, MODULE, e->model_eval);
    hook_call(t, CALLBACKS | MODULE | STRATEGY, e->start);
    hook_call(t, CALLBACKS | MODULE, e->epoch_start);
    for (int i = 0; i < batches; i++) {
        gnomon_start(e->fetch);
        batch_spread(&t->fetched, &t->text, i, batches);
        t->next = &t->fetched;
        gnomon_stop(e->fetch);
        transfer_batch(t);
        hook_call(t, CALLBACKS | MODULE, e->batch_start);
        hook_call(t, STRATEGY, e->step);
        hook_call(t, CALLBACKS | MODULE, e->batch_end);
    }
    hook_call(t, CALLBACKS | MODULE, e->epoch_end);
    hook_call(t, CALLBACKS | MODULE | STRATEGY, e->end);
}

/* Runs a stage that only evaluates. */
static void run_evaluation(struct trainer *t, const char *stage,
                           const struct evaluation *e, int batches)
{
    hook_call(t, MODULE, HOOK_configure_callbacks);
    gnomon_stage_begin(stage);
    hook_call(t, CALLBACKS | MODULE, HOOK_setup);
    hook_call(t, MODULE, e->loader);
    evaluate(t, e, batches);
    hook_call(t, CALLBACKS | MODULE, HOOK_teardown);
    gnomon_stage_end();
}

void trainer_validate(struct trainer *t)
{
    run_evaluation(t, "validate", &validation_loop, t->options->val_batches);
}

void trainer_test(struct trainer *t)
{
    run_evaluation(t, "test", &test_loop, t->options->val_batches);
}

void trainer_predict(struct trainer *t)
{
    run_evaluation(t, "predict", &predict_loop, 1);
}

/* ---- Fit ----------------------------------------------------------------- */

/* The log, as a logger would write it: a line for each step and validation. */
static void log_metrics(struct trainer *t, int validated)
{
    if (!t->metrics)
        return;
    fprintf(t->metrics, "%d,%llu,%.9g,", t->epoch, (unsigned long long)t->step,
            t->rate);
    if (validated)
        fprintf(t->metrics, ",%.9g\n", trainer_evaluation(t));
    else
        fprintf(t->metrics, "%.9g,\n", t->loss);
}

static void check_sanity(struct trainer *t)
{
    int most = t->options->val_batches;
    t->sanity_checking = 1;
    hook_call(t, CALLBACKS, HOOK_on_sanity_check_start);
    hook_call(t, MODULE, HOOK_val_dataloader);
    evaluate(t, &validation_loop,
             most < SANITY_BATCHES ? most : SANITY_BATCHES);
    hook_call(t, CALLBACKS, HOOK_on_sanity_check_end);
    t->sanity_checking = 0;
}

static void train_batch(struct trainer *t, int last)
{
    gnomon_start("[_TrainingEpochLoop].train_dataloader_next");
    t->next = loader_next(t->loader);
    gnomon_stop("[_TrainingEpochLoop].train_dataloader_next");
    transfer_batch(t);
    hook_call(t, CALLBACKS | MODULE | STRATEGY, HOOK_on_train_batch_start);

    gnomon_start("run_training_batch");
    hook_call(t, MODULE, HOOK_optimizer_step);
    gnomon_stop("run_training_batch");

    t->losses[t->step++] = t->loss;
    GNOMON_COUNTER("train_loss", t->loss);
    log_metrics(t, 0);
    if (last)
        hook_call(t, MODULE, HOOK_lr_scheduler_step);
    hook_call(t, CALLBACKS | MODULE, HOOK_on_train_batch_end);
    gnomon_step();
}

static void train_epoch(struct trainer *t)
{
    hook_call(t, CALLBACKS | MODULE, HOOK_on_train_epoch_start);
    gnomon_start("run_training_epoch");
    for (int i = 0; i < t->options->steps; i++)
        train_batch(t, i == t->options->steps - 1);
    hook_call(t, MODULE, HOOK_on_validation_model_zero_grad);
    evaluate(t, &validation_loop, t->options->val_batches);
    log_metrics(t, 1);
    gnomon_stop("run_training_epoch");
    /* The checkpoint comes last: it holds what the others' hooks left. */
    t->epoch++;
    hook_call(t, PROGRESS | MODULE, HOOK_on_train_epoch_end);
    hook_call(t, CHECKPOINT, HOOK_on_train_epoch_end);
}

/* The training steps, between their data loader's start and end. */
static void run_fit(struct trainer *t)
{
    hook_call(t, CALLBACKS | MODULE, HOOK_on_fit_start);
    check_sanity(t);
    hook_call(t, MODULE, HOOK_train_dataloader);
    if (!t->loader) {
        trainer_fail(t, "data loader", "no memory, or no thread");
        return;
    }
    hook_call(t, CALLBACKS | MODULE | STRATEGY, HOOK_on_train_start);
    while (t->epoch < t->options->epochs)
        train_epoch(t);
    hook_call(t, CALLBACKS | MODULE | STRATEGY, HOOK_on_train_end);
    loader_stop(t->loader);
    t->loader = NULL;
    hook_call(t, CALLBACKS | MODULE, HOOK_on_fit_end);
}

void trainer_fit(struct trainer *t)
{
    hook_call(t, MODULE, HOOK_configure_callbacks);
    gnomon_stage_begin("fit");
    hook_call(t, CALLBACKS | MODULE, HOOK_setup);
    if (t->options->resume) {
        hook_call(t, MODULE, HOOK_on_load_checkpoint);
        hook_call(t, CALLBACKS, HOOK_on_load_checkpoint);
        gnomon_step_at(t->step);
    }
    hook_call(t, MODULE, HOOK_configure_optimizers);
    if (!t->failed)
        run_fit(t);
    hook_call(t, CALLBACKS | MODULE, HOOK_teardown);
    gnomon_stage_end();
}
