/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* AdamW with gradient clipping, and the learning rate's schedule. */
#ifndef TRAIN_GPT_ADAMW_H
#define TRAIN_GPT_ADAMW_H

#include "model.h"

struct adamw {
    real *mean, *square; /* of gradients, decaying; as many as parameters */
    double weight_decay, beta1, beta2, epsilon;
    uint64_t updates; /* made so far */
};

/* 0, or -1 out of memory. */
int adamw_create(struct adamw *optimizer, const struct model *model);
void adamw_free(struct adamw *optimizer);

/* Scales the gradients so that their norm is at most `most`. */
void clip_gradients(struct model *model, double most);

/* Updates the parameters. */
void adamw_step(struct adamw *optimizer, struct model *model, double rate);

/* For steps on a device. send copies parameters and moments to it, after other code
 * wrote them; fetch copies them back, before other code reads them. */
void adamw_send(const struct adamw *optimizer, const struct model *model);
void adamw_fetch(const struct adamw *optimizer, const struct model *model);

/* ---- schedule.c ---------------------------------------------------------- */

/* The factor of the base rate in an epoch: half a cosine, from 1. */
double schedule_of_epoch(int epoch, int epochs);

/* The factor of the warm-up in the first steps: rises linearly to 1. */
double schedule_of_warmup(uint64_t step, uint64_t steps);

#endif
