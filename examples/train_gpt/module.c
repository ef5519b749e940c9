/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the module (GPT) and the strategy (one device) do in the hooks that they
 * fill in. Called by hook_call alone.
 *
 * Invariant: training_step, zero_grad and backward run inside optimizer_step, as
 * with a closure that an optimizer calls; its own time is the rest.
 */
#include "trainer.h"

#include <gnomon.h>

#define CLIP_NORM 1.0
#define WARMUP_STEPS 20

/* ---- The strategy: one device, the process itself ------------------------ */

static void batch_to_device(struct trainer *t)
{
    hook_call(t, MODULE, HOOK_transfer_batch_to_device);
    hook_call(t, MODULE, HOOK_on_after_batch_transfer);
}

static void training_step(struct trainer *t)
{
    t->loss = model_forward(t->model, t->batch.tokens, t->batch.targets,
                            t->batch.size, t->batch.block);
}

static void backward(struct trainer *t)
{
    hook_call(t, CALLBACKS | MODULE, HOOK_on_before_backward);
    model_backward(t->model, t->batch.tokens, t->batch.targets);
    hook_call(t, CALLBACKS | MODULE, HOOK_on_after_backward);
}

static void evaluation_step(struct trainer *t)
{
    t->evaluation_sum +=
        model_forward(t->model, t->batch.tokens, t->batch.targets,
                      t->batch.size, t->batch.block);
    t->evaluation_count++;
}

static void predict_step(struct trainer *t)
{
    int row = t->batch.size / 2, length = (t->batch.block + 3) / 4;
    if (t->options->progress)
        sample_text(t, t->batch.tokens + row * t->batch.block, length,
                    t->options->sample, t->options->progress);
}

hook_body *const single_device[HOOK_COUNT] = {
    [HOOK_batch_to_device] = batch_to_device,
    [HOOK_training_step] = training_step,
    [HOOK_backward] = backward,
    [HOOK_validation_step] = evaluation_step,
    [HOOK_test_step] = evaluation_step,
    [HOOK_predict_step] = predict_step,
};

/* ---- The module ---------------------------------------------------------- */

static void on_load_checkpoint(struct trainer *t)
{
    const char *why;
    if (checkpoint_load(t, t->options->resume, &why))
        trainer_fail(t, t->options->resume, why);
}

static void lr_scheduler_step(struct trainer *t)
{
    t->decay = schedule_of_epoch(t->epoch + 1, t->options->epochs);
}

static void configure_optimizers(struct trainer *t)
{
    t->decay = schedule_of_epoch(t->epoch, t->options->epochs);
}

static void train_dataloader(struct trainer *t)
{
    const struct options *o = t->options;
    t->loader = loader_start(&t->text, o->batch, o->block, o->seed, t->step,
                             (uint64_t)o->epochs * (uint64_t)o->steps);
}

static void transfer_batch_to_device(struct trainer *t)
{
    batch_copy(&t->batch, t->next);
}

static void optimizer_zero_grad(struct trainer *t)
{
    model_clear_gradients(t->model);
}

static void configure_gradient_clipping(struct trainer *t)
{
    clip_gradients(t->model, CLIP_NORM);
}

static void optimizer_step(struct trainer *t)
{
    hook_call(t, STRATEGY, HOOK_training_step);
    hook_call(t, CALLBACKS | MODULE, HOOK_on_before_zero_grad);
    hook_call(t, MODULE, HOOK_optimizer_zero_grad);
    hook_call(t, STRATEGY, HOOK_backward);
    hook_call(t, CALLBACKS | MODULE, HOOK_on_before_optimizer_step);
    hook_call(t, MODULE, HOOK_configure_gradient_clipping);
    t->rate =
        t->options->rate * t->decay * schedule_of_warmup(t->step, WARMUP_STEPS);
    adamw_step(&t->optimizer, t->model, t->rate);
}

hook_body *const gpt_module[HOOK_COUNT] = {
    [HOOK_on_load_checkpoint] = on_load_checkpoint,
    [HOOK_configure_optimizers] = configure_optimizers,
    [HOOK_train_dataloader] = train_dataloader,
    [HOOK_transfer_batch_to_device] = transfer_batch_to_device,
    [HOOK_optimizer_step] = optimizer_step,
    [HOOK_optimizer_zero_grad] = optimizer_zero_grad,
    [HOOK_configure_gradient_clipping] = configure_gradient_clipping,
    [HOOK_lr_scheduler_step] = lr_scheduler_step,
};
