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

/* For steps that are made elsewhere than where the process's arrays are: takes
 * parameters and moments there, after something else wrote them, and brings them
 * back before something else reads them. */
void adamw_send(const struct adamw *optimizer, const struct model *model);
void adamw_fetch(const struct adamw *optimizer, const struct model *model);

/* ---- schedule.c ---------------------------------------------------------- */

/* What the base rate is multiplied with in an epoch: half a cosine, from 1. */
double schedule_of_epoch(int epoch, int epochs);

/* The first steps' part of it: rises evenly to 1. */
double schedule_of_warmup(uint64_t step, uint64_t steps);

#endif
