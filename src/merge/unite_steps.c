/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Steps, and what they were made of.
 *
 * A step keeps the rank and the stage it was in, where ranks or stages are added up,
 * and its begin is part of its key: so two steps never become one. Times of all steps
 * add up. Of the steps that have times of their own the slowest stay, by an order of
 * all of them: so it does not matter in which order sets were united. */
#include "merge/unite_steps.h"

#include <stdlib.h>
#include <string.h>

#include "merge/unite_filter.h"
#include "platform/memory.h"
#include "profile/compare.h"

#define PRUNE_FROM 8192u /* times: pruning fewer is not worth its time */

/* ---- Steps -------------------------------------------------------------------------- */

/* Steps are kept that times refer to. */
int gnomon__unite_steps_begin(gnomon__united_part *part)
{
    gnomon_step_time_info t;
    for (size_t i = 1; i <= part->count[GNOMON_STEP_TIMES]; i++)
        if (gnomon_profile_step_time(part->p, i, &t) == GNOMON_OK)
            part->map.of[GNOMON_STEPS][t.step] = 1;
    part->map.of[GNOMON_STEPS][0] = 0;
    return GNOMON_OK;
}

void gnomon__unite_step_stays(gnomon__unite *u, uint32_t number)
{
    gnomon_step_info *s = gnomon__model_at(u->fold.m, GNOMON_STEPS, number);
    s->reserved = 1;
}

/* `reserved`: it is kept anyway. */
int gnomon__unite_steps_take(gnomon__united_part *part, size_t number,
                             gnomon__any *item)
{
    const unsigned rules = part->u->fold.rules;
    uint32_t *map = part->map.of[GNOMON_STEPS];
    gnomon_step_info *s = &item->step;
    gnomon_stage_info stage;
    gnomon_run_info run = gnomon__no_run;
    s->reserved =
        !(rules & GNOMON__UNITE_RANKS) &&
        (!(rules & GNOMON__UNITE_NAMES) || s->stage == part->last_stage);
    const int is_in = map[number] || s->reserved;
    map[number] = 0;
    if (!is_in || !part->map.of[GNOMON_STAGES][s->stage])
        return 0;
    gnomon_profile_stage(part->p, s->stage, &stage);
    if (part->run && rules & GNOMON__UNITE_RANKS)
        gnomon_profile_run(part->p, part->run, &run);
    if (s->rank < 0)
        s->rank = run.rank;
    if (!s->ordinal && rules & (GNOMON__UNITE_RANKS | GNOMON__UNITE_NAMES))
        s->ordinal = stage.ordinal;
    return 1;
}

/* ---- The slowest ------------------------------------------------------------------------- */

typedef struct slow_step {
    const gnomon__unite *u;
    const gnomon_step_time_info *time;
} slow_step;

static gnomon_step_time_info *time_at(const gnomon__unite *u, size_t number)
{
    return gnomon__model_at(u->fold.m, GNOMON_STEP_TIMES, number);
}

static size_t time_count(const gnomon__unite *u)
{
    return gnomon__model_count(u->fold.m, GNOMON_STEP_TIMES);
}

/* By stage and view, then the slowest first, then as a live profile has them. */
static int slow_step_order(const void *left, const void *right)
{
    const slow_step *x = left, *y = right;
    const gnomon_step_time_info *a = x->time, *b = y->time;
    GNOMON__TRY_NUMBER(stage);
    GNOMON__TRY_NUMBER(view);
    GNOMON__TRY(GNOMON__COMPARE(b->time->max_ns, a->time->max_ns));
    const gnomon_step_info *s =
        gnomon__model_at(x->u->fold.m, GNOMON_STEPS, a->step);
    const gnomon_step_info *t =
        gnomon__model_at(x->u->fold.m, GNOMON_STEPS, b->step);
    GNOMON__TRY(GNOMON__COMPARE(s->rank, t->rank));
    GNOMON__TRY(GNOMON__COMPARE(s->ordinal, t->ordinal));
    GNOMON__TRY(GNOMON__COMPARE(s->begin_ns, t->begin_ns));
    return gnomon__compare_keys(GNOMON_STEPS, s, t);
}

/* is_out[time]: of the whole times of steps, those that are not among the slowest of
 * their stage and view. 0: no memory. */
static int leave_out(const gnomon__unite *u, unsigned char *is_out)
{
    size_t count = 0, position = 0;
    slow_step *slow = gnomon__alloc((time_count(u) + 1) * sizeof *slow);
    for (size_t i = 1; slow && i <= time_count(u); i++)
        if (time_at(u, i)->step && !time_at(u, i)->region)
            slow[count++] = (slow_step){u, time_at(u, i)};
    if (count > 1)
        qsort(slow, count, sizeof *slow, slow_step_order);
    for (size_t i = 0; i < count; i++) {
        const gnomon_step_time_info *a = slow[i].time;
        const gnomon_step_time_info *b = i ? slow[i - 1].time : a;
        position =
            a->stage == b->stage && a->view == b->view ? position + 1 : 1;
        is_out[a - time_at(u, 1) + 1] = position > GNOMON__SLOWEST_UNITED;
    }
    gnomon__free(slow);
    return slow != NULL;
}

/* The whole time of the time's step; 0: none. */
static uint32_t whole_time_of(const gnomon__unite *u,
                              const gnomon_step_time_info *t)
{
    gnomon_step_time_info whole = *t;
    whole.region = 0;
    return t->step ? gnomon__fold_find(&u->fold, GNOMON_STEP_TIMES, &whole) : 0;
}

/* In the end the model has them. */
static void free_time(const gnomon_step_time_info *t)
{
    gnomon__sum *sum = (gnomon__sum *)(size_t)t->time;
    if (!sum || sum->m)
        return;
    gnomon__sum_free(sum);
    gnomon__free(sum);
}

/* Those that stay, moved to the front; named[step]: whether one of them names it. */
static void move_times(gnomon__unite *u, unsigned char *is_out, uint32_t *named)
{
    const size_t count = time_count(u);
    size_t kept = 0;
    for (size_t i = 1; i <= count; i++)
        is_out[i] = is_out[whole_time_of(u, time_at(u, i))];
    for (size_t i = 1; i <= count; i++) {
        if (is_out[i]) {
            free_time(time_at(u, i));
            continue;
        }
        named[time_at(u, i)->step] = 1;
        *time_at(u, ++kept) = *time_at(u, i);
    }
    u->fold.m->tables[GNOMON_STEP_TIMES].count = kept;
}

/* Likewise; number[step]: what it is now. */
static void move_steps(gnomon__unite *u, uint32_t *number)
{
    gnomon__table *t = &u->fold.m->tables[GNOMON_STEPS];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        const gnomon_step_info *s =
            gnomon__model_at(u->fold.m, GNOMON_STEPS, i);
        if (!number[i] && !s->reserved)
            continue;
        memmove(t->items + kept++ * t->size, s, t->size);
        number[i] = (uint32_t)kept;
    }
    t->count = kept;
    number[0] = 0;
    for (size_t i = 1; i <= time_count(u); i++)
        time_at(u, i)->step = number[time_at(u, i)->step];
}

int gnomon__unite_keep_slowest(gnomon__unite *u)
{
    const size_t steps = gnomon__model_count(u->fold.m, GNOMON_STEPS);
    unsigned char *is_out = gnomon__alloc(time_count(u) + 1);
    uint32_t *number = gnomon__alloc((steps + 1) * sizeof *number);
    int ok = number && is_out && leave_out(u, is_out);
    if (ok) {
        move_times(u, is_out, number);
        move_steps(u, number);
        ok = !gnomon__fold_index(&u->fold, GNOMON_STEPS) &&
             !gnomon__fold_index(&u->fold, GNOMON_STEP_TIMES);
    }
    gnomon__free(is_out);
    gnomon__free(number);
    u->times_kept = time_count(u);
    return ok ? GNOMON_OK : gnomon__no_memory_to_merge();
}

/* ---- The whole --------------------------------------------------------------------------- */

int gnomon__unite_times_take(gnomon__united_part *part, size_t number,
                             gnomon__any *item)
{
    const gnomon_step_time_info *t = &item->step_time;
    (void)number;
    return (!t->step || part->map.of[GNOMON_STEPS][t->step]) &&
           (!t->region || gnomon__filter_has(part, t->region));
}

int gnomon__unite_times_end(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    return time_count(u) > PRUNE_FROM && time_count(u) > 2 * u->times_kept
               ? gnomon__unite_keep_slowest(u)
               : GNOMON_OK;
}

int gnomon__unite_steps_end(gnomon__unite *u)
{
    for (size_t i = 1; i <= time_count(u); i++) {
        gnomon_step_time_info *time = time_at(u, i);
        const gnomon_step_time_info heap = *time;
        if (!gnomon__sum_keep((const gnomon__sum *)(size_t)heap.time, u->fold.m,
                              &time->time))
            return gnomon__no_memory_to_merge();
        free_time(&heap);
    }
    return GNOMON_OK;
}

void gnomon__unite_steps_free(gnomon__unite *u)
{
    for (size_t i = 1; i <= time_count(u); i++)
        free_time(time_at(u, i));
}
