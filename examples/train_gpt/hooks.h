/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trainer's hooks, marked as Lightning marks them: each part that a hook is
 * called on is one action, "[Base]Class.hook". A hook may be empty; it is marked
 * all the same.
 */
#ifndef TRAIN_GPT_HOOKS_H
#define TRAIN_GPT_HOOKS_H

struct trainer;

/* A part's name in front of a literal hook name. A checkpoint callback is named
 * after its settings, as Lightning's. */
#define PROGRESS_ACTION(hook) "[Callback]ProgressLine." hook
#define CHECKPOINT_ACTION(hook) \
    "[Callback]ModelCheckpoint{'monitor': None, 'mode': 'min', " \
    "'every_n_train_steps': 0, 'every_n_epochs': 1, " \
    "'train_time_interval': None}." hook
#define MODULE_ACTION(hook) "[LightningModule]GPT." hook
#define STRATEGY_ACTION(hook) "[Strategy]SingleDeviceStrategy." hook

#define HOOKS(X) \
    X(configure_callbacks) \
    X(setup) \
    X(on_load_checkpoint) \
    X(configure_optimizers) \
    X(on_fit_start) \
    X(on_sanity_check_start) \
    X(on_sanity_check_end) \
    X(train_dataloader) \
    X(on_train_start) \
    X(on_train_epoch_start) \
    X(on_before_batch_transfer) \
    X(batch_to_device) \
    X(transfer_batch_to_device) \
    X(on_after_batch_transfer) \
    X(on_train_batch_start) \
    X(optimizer_step) \
    X(training_step) \
    X(on_before_zero_grad) \
    X(optimizer_zero_grad) \
    X(backward) \
    X(on_before_backward) \
    X(on_after_backward) \
    X(on_before_optimizer_step) \
    X(configure_gradient_clipping) \
    X(lr_scheduler_step) \
    X(on_train_batch_end) \
    X(on_validation_model_zero_grad) \
    X(on_train_epoch_end) \
    X(on_save_checkpoint) \
    X(on_train_end) \
    X(on_fit_end) \
    X(teardown) \
    EVALUATION_HOOKS(X, validation, val) \
    EVALUATION_HOOKS(X, test, test) \
    EVALUATION_HOOKS(X, predict, predict)

#define EVALUATION_HOOKS(X, name, loader) \
    X(loader##_dataloader) \
    X(on_##name##_model_eval) \
    X(on_##name##_start) \
    X(on_##name##_epoch_start) \
    X(on_##name##_batch_start) \
    X(name##_step) \
    X(on_##name##_batch_end) \
    X(on_##name##_epoch_end) \
    X(on_##name##_end)

enum hook {
#define HOOK_ENUM(name) HOOK_##name,
    HOOKS(HOOK_ENUM) HOOK_COUNT
#undef HOOK_ENUM
};

/* The parts that a hook is called on, in this order. */
enum part {
    PROGRESS = 1,
    CHECKPOINT = 2,
    CALLBACKS = PROGRESS | CHECKPOINT,
    MODULE = 4,
    STRATEGY = 8
};

typedef void hook_body(struct trainer *trainer);

/* What each part does in a hook; NULL: nothing. */
extern hook_body *const progress_line[HOOK_COUNT];
extern hook_body *const model_checkpoint[HOOK_COUNT];
extern hook_body *const gpt_module[HOOK_COUNT];
extern hook_body *const single_device[HOOK_COUNT];

/* Calls a hook on some parts, each marked as an action. */
void hook_call(struct trainer *trainer, unsigned parts, enum hook hook);

#endif
