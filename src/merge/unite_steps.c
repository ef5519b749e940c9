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

#include "platform/memory.h"
#include "profile/compare.h"

#define PRUNE_FROM 8192u /* times: pruning fewer is not worth its time */

/* ---- Steps -------------------------------------------------------------------------- */

static int same_step_key(const void *context, uint32_t item, const void *wanted)
{
    const gnomon__unite *u = context;
    return !gnomon__compare_keys(
        GNOMON_STEPS, gnomon__model_at(u->m, GNOMON_STEPS, item), wanted);
}

static uint32_t unite_step(gnomon__unite *u, const gnomon_step_info *s)
{
    uint64_t hash = gnomon__hash_key(GNOMON_STEPS, s);
    uint32_t number =
        gnomon__slots_find(&u->step_slots, hash, same_step_key, u, s);
    if (number) {
        gnomon_step_info *to = gnomon__model_at(u->m, GNOMON_STEPS, number);
        gnomon__merge_fields(&gnomon__structs[GNOMON_STEPS], to, s, 0);
        to->reserved |= s->reserved;
        return number;
    }
    gnomon_step_info *to = gnomon__model_add(u->m, GNOMON_STEPS);
    if (!to)
        return 0;
    *to = *s;
    number = (uint32_t)gnomon__model_count(u->m, GNOMON_STEPS);
    return gnomon__slots_add(&u->step_slots, hash, number) ? 0 : number;
}

/* Adds the steps that are kept anyway, and those that times refer to. */
static int unite_part_steps(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    uint32_t *map = part->map.of[GNOMON_STEPS];
    gnomon_step_time_info t;
    gnomon_step_info s;
    gnomon_stage_info stage;
    gnomon_run_info run = gnomon__no_run;
    if (part->run && u->rules & GNOMON__UNITE_RANKS)
        gnomon_profile_run(part->p, part->run, &run);
    for (size_t i = 1; i <= part->count[GNOMON_STEP_TIMES]; i++)
        if (gnomon_profile_step_time(part->p, i, &t) == GNOMON_OK)
            map[t.step] = 1;
    for (size_t i = 1; i <= part->count[GNOMON_STEPS]; i++) {
        gnomon_profile_step(part->p, i, &s);
        s.reserved =
            !(u->rules & GNOMON__UNITE_RANKS) &&
            (!(u->rules & GNOMON__UNITE_NAMES) || s.stage == part->last_stage);
        int is_in = (map[i] || s.reserved) && s.stage &&
                    part->map.of[GNOMON_STAGES][s.stage];
        map[i] = 0;
        if (!is_in)
            continue;
        gnomon_profile_stage(part->p, s.stage, &stage);
        if (s.rank < 0)
            s.rank = run.rank;
        if (!s.ordinal &&
            u->rules & (GNOMON__UNITE_RANKS | GNOMON__UNITE_NAMES))
            s.ordinal = stage.ordinal;
        gnomon__renumber(&part->map, GNOMON_STEPS, &s);
        if (!(map[i] = unite_step(u, &s)))
            return gnomon__no_memory_to_merge();
    }
    map[0] = 0;
    return GNOMON_OK;
}

/* ---- Times ----------------------------------------------------------------------------- */

static int same_time_key(const void *context, uint32_t item, const void *wanted)
{
    const gnomon__unite *u = context;
    return !gnomon__compare_keys(GNOMON_STEP_TIMES, &u->time[item].info,
                                 wanted);
}

static uint32_t find_time(const gnomon__unite *u,
                          const gnomon_step_time_info *t)
{
    return gnomon__slots_find(&u->time_slots,
                              gnomon__hash_key(GNOMON_STEP_TIMES, t),
                              same_time_key, u, t);
}

static int add_time_slot(gnomon__unite *u, uint32_t number)
{
    return gnomon__slots_add(
        &u->time_slots,
        gnomon__hash_key(GNOMON_STEP_TIMES, &u->time[number].info), number);
}

/* Times of one step are readings of it: the larger is kept. Its `time` is in the sum
 * until the end. */
static int unite_time(gnomon__unite *u, const gnomon_step_time_info *t)
{
    uint32_t number = find_time(u, t);
    int larger = t->step || u->rules & GNOMON__UNITE_READINGS;
    if (!number) {
        gnomon_step_time_info key = *t;
        key.time = NULL;
        key.own_ns = key.calls = 0;
        number = (uint32_t)u->time_count + 1;
        if (!gnomon__grow(&u->time, &u->time_room, number + 1, sizeof *u->time))
            return gnomon__no_memory_to_merge();
        u->time[number] = (gnomon__united_time){key, {.room = 0}, 0};
        u->time_count++;
        if (add_time_slot(u, number))
            return gnomon__no_memory_to_merge();
    }
    gnomon_step_time_info *to = &u->time[number].info;
    gnomon__sum *sum = &u->time[number].sum;
    int order = larger ? gnomon__sum_compare(sum, t->time) : 0;
    if (order > 0)
        return GNOMON_OK;
    if (order < 0)
        to->own_ns = to->calls = 0; /* all of the other one */
    gnomon__merge_fields(&gnomon__structs[GNOMON_STEP_TIMES], to, t, larger);
    if (larger)
        return order ? gnomon__sum_become(sum, t->time) : GNOMON_OK;
    return gnomon__sum_add(sum, t->time);
}

/* ---- The slowest ------------------------------------------------------------------------- */

typedef struct slow_step {
    const gnomon__unite *u;
    gnomon__united_time *time;
} slow_step;

/* By stage and view, then the slowest first, then as a live profile has them. */
static int slow_step_order(const void *left, const void *right)
{
    const slow_step *x = left, *y = right;
    const gnomon_step_time_info *a = &x->time->info, *b = &y->time->info;
    GNOMON__TRY_NUMBER(stage);
    GNOMON__TRY_NUMBER(view);
    GNOMON__TRY(GNOMON__COMPARE(y->time->sum.s.max_ns, x->time->sum.s.max_ns));
    const gnomon_step_info *s =
        gnomon__model_at(x->u->m, GNOMON_STEPS, a->step);
    const gnomon_step_info *t =
        gnomon__model_at(x->u->m, GNOMON_STEPS, b->step);
    GNOMON__TRY(GNOMON__COMPARE(s->rank, t->rank));
    GNOMON__TRY(GNOMON__COMPARE(s->ordinal, t->ordinal));
    GNOMON__TRY(GNOMON__COMPARE(s->begin_ns, t->begin_ns));
    return gnomon__compare_keys(GNOMON_STEPS, s, t);
}

/* Marks the steps of each stage and view that are not among the slowest. 0: no memory. */
static int leave_out(gnomon__unite *u)
{
    size_t count = 0, position = 0;
    slow_step *slow = gnomon__alloc((u->time_count + 1) * sizeof *slow);
    for (size_t i = 1; slow && i <= u->time_count; i++)
        if (u->time[i].info.step && !u->time[i].info.region)
            slow[count++] = (slow_step){u, &u->time[i]};
    if (count > 1)
        qsort(slow, count, sizeof *slow, slow_step_order);
    for (size_t i = 0; i < count; i++) {
        const gnomon_step_time_info *a = &slow[i].time->info;
        const gnomon_step_time_info *b = i ? &slow[i - 1].time->info : a;
        position =
            a->stage == b->stage && a->view == b->view ? position + 1 : 1;
        slow[i].time->is_out = position > GNOMON__SLOWEST_UNITED;
    }
    gnomon__free(slow);
    return slow != NULL;
}

/* Whether the time's step is left out. */
static int is_left_out(const gnomon__unite *u, const gnomon_step_time_info *t)
{
    gnomon_step_time_info whole = *t;
    whole.region = 0;
    uint32_t number = t->step ? find_time(u, &whole) : 0;
    return number && u->time[number].is_out;
}

/* Those that stay, moved to the front; named[step]: whether one of them names it. */
static void move_times(gnomon__unite *u, uint32_t *named)
{
    size_t kept = 0;
    for (size_t i = 1; i <= u->time_count; i++)
        u->time[i].is_out = is_left_out(u, &u->time[i].info);
    for (size_t i = 1; i <= u->time_count; i++) {
        if (u->time[i].is_out) {
            gnomon__sum_free(&u->time[i].sum);
            continue;
        }
        named[u->time[i].info.step] = 1;
        u->time[++kept] = u->time[i];
    }
    u->time_count = kept;
}

/* Likewise; number[step]: what it is now. */
static void move_steps(gnomon__unite *u, uint32_t *number)
{
    gnomon__table *t = &u->m->tables[GNOMON_STEPS];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        const gnomon_step_info *s = gnomon__model_at(u->m, GNOMON_STEPS, i);
        if (!number[i] && !s->reserved)
            continue;
        memmove(t->items + kept++ * t->size, s, t->size);
        number[i] = (uint32_t)kept;
    }
    t->count = kept;
    number[0] = 0;
    for (size_t i = 1; i <= u->time_count; i++)
        u->time[i].info.step = number[u->time[i].info.step];
}

/* Rebuilds the tables, because steps and times have new numbers. */
static int find_slots(gnomon__unite *u)
{
    int ok = 1;
    gnomon__slots_free(&u->time_slots);
    gnomon__slots_free(&u->step_slots);
    for (uint32_t i = 1; i <= gnomon__model_count(u->m, GNOMON_STEPS); i++)
        ok &= !gnomon__slots_add(
            &u->step_slots,
            gnomon__hash_key(GNOMON_STEPS,
                             gnomon__model_at(u->m, GNOMON_STEPS, i)),
            i);
    for (uint32_t i = 1; i <= u->time_count; i++)
        ok &= !add_time_slot(u, i);
    return ok;
}

static int keep_slowest(gnomon__unite *u)
{
    size_t steps = gnomon__model_count(u->m, GNOMON_STEPS);
    uint32_t *number = gnomon__alloc((steps + 1) * sizeof *number);
    int ok = number && leave_out(u);
    if (ok) {
        move_times(u, number);
        move_steps(u, number);
        ok = find_slots(u);
    }
    gnomon__free(number);
    u->times_kept = u->time_count;
    return ok ? GNOMON_OK : gnomon__no_memory_to_merge();
}

/* ---- The whole --------------------------------------------------------------------------- */

int gnomon__unite_steps(gnomon__united_part *part)
{
    gnomon__unite *u = part->u;
    gnomon_step_time_info t;
    int code = unite_part_steps(part);
    for (size_t i = 1; !code && i <= part->count[GNOMON_STEP_TIMES]; i++) {
        gnomon_profile_step_time(part->p, i, &t);
        uint32_t step = t.step;
        gnomon__renumber(&part->map, GNOMON_STEP_TIMES, &t);
        if (t.stage && !step == !t.step)
            code = unite_time(u, &t);
    }
    if (!code && u->time_count > PRUNE_FROM &&
        u->time_count > 2 * u->times_kept)
        code = keep_slowest(u);
    return code;
}

static int time_order(const void *left, const void *right)
{
    const gnomon__united_time *a = left, *b = right;
    return gnomon__compare_keys(GNOMON_STEP_TIMES, &a->info, &b->info);
}

int gnomon__order_steps(gnomon__unite *u, gnomon__model *out,
                        gnomon__numbers *n)
{
    int code = keep_slowest(u);
    for (uint32_t i = 1; i <= gnomon__model_count(u->m, GNOMON_STEPS); i++) {
        gnomon_step_info *s = gnomon__model_at(u->m, GNOMON_STEPS, i);
        gnomon__renumber(n, GNOMON_STEPS, s);
        s->reserved = 0;
    }
    if (!code)
        code = gnomon__order_items(u, out, GNOMON_STEPS, n);
    for (size_t i = 1; !code && i <= u->time_count; i++)
        gnomon__renumber(n, GNOMON_STEP_TIMES, &u->time[i].info);
    if (!code && u->time_count > 1)
        qsort(u->time + 1, u->time_count, sizeof *u->time, time_order);
    for (size_t i = 1; !code && i <= u->time_count; i++) {
        gnomon_step_time_info *to = gnomon__model_add(out, GNOMON_STEP_TIMES);
        if (to)
            *to = u->time[i].info;
        if (!to || !gnomon__sum_keep(&u->time[i].sum, out, &to->time))
            code = gnomon__no_memory_to_merge();
    }
    return code;
}

void gnomon__unite_steps_free(gnomon__unite *u)
{
    for (size_t i = 1; i <= u->time_count; i++)
        gnomon__sum_free(&u->time[i].sum);
    gnomon__free(u->time);
    gnomon__slots_free(&u->step_slots);
    gnomon__slots_free(&u->time_slots);
}
