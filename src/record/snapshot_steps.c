/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts the steps of a run into a profile, and how long regions took in them. */
#include "record/snapshot_parts.h"
#include "record/step_sums.h"

#include <string.h>

/* Whether the profile has a step of this begin. */
static int has_moment(const gnomon__run_record *r, uint64_t begin_ns)
{
    return !r->steps_until ||
           (begin_ns >= r->steps_from && begin_ns < r->steps_until);
}

/* Whether the sums of a stage have steps that the profile does not have. */
static int has_other_steps(const gnomon__run_record *r, size_t stage)
{
    return r->steps_until && (r->steps_until != UINT64_MAX ||
                              r->stages[stage].key.begin_ns < r->steps_from);
}

static int put_step(gnomon__snapshot_builder *b, uint32_t stage,
                    const gnomon__step_record *f)
{
    gnomon_step_info *s = gnomon__model_add(b->m, GNOMON_STEPS);
    if (!s)
        return 0;
    s->stage = stage;
    s->number = f->number;
    s->begin_ns = f->begin_ns;
    s->end_ns = f->end_ns;
    s->phase = f->phase;
    s->rank = -1;
    s->ordinal = f->ordinal;
    return 1;
}

int gnomon__snapshot_steps(gnomon__snapshot_builder *b)
{
    const gnomon__run_record *record = b->record;
    for (size_t i = 0; i < record->step_count; i++) {
        const gnomon__step_record *f = &record->steps[i];
        size_t stage = 0;
        while (stage < record->stage_count &&
               record->stages[stage].key.ordinal != f->ordinal)
            stage++;
        if (stage == record->stage_count || !has_moment(record, f->begin_ns))
            continue;
        if (!put_step(b, (uint32_t)stage + 1, f))
            return 0;
    }
    return 1;
}

/* Of tapes. The profile has the last steps of the run; tapes have those of its events. */
int gnomon__snapshot_taped_step(gnomon__snapshot_builder *b, uint32_t stage,
                                const gnomon__step_record *f, size_t kept)
{
    if (!has_moment(b->record, f->begin_ns))
        return 1;
    for (size_t i = 1; i <= kept; i++) {
        const gnomon_step_info *s = gnomon__model_at(b->m, GNOMON_STEPS, i);
        if (s->begin_ns == f->begin_ns)
            return 1;
    }
    return put_step(b, stage, f);
}

static int sum_own_steps(gnomon__snapshot_builder *b, uint32_t stage,
                         gnomon__total *sum)
{
    size_t count = gnomon__model_count(b->m, GNOMON_STEPS);
    int ok = 1;
    for (size_t i = 1; ok && i <= count; i++) {
        const gnomon_step_info *s = gnomon__model_at(b->m, GNOMON_STEPS, i);
        uint64_t ns = s->end_ns - s->begin_ns;
        ok = s->stage != stage || gnomon__total_count(sum, ns, ns);
    }
    return ok;
}

int gnomon__snapshot_own_steps(gnomon__snapshot_builder *b)
{
    int ok = 1;
    for (uint32_t i = 1; ok && i <= b->record->stage_count; i++) {
        gnomon__total sum = {0};
        gnomon_stats *stats = NULL;
        if (!has_other_steps(b->record, i - 1))
            continue;
        ok = sum_own_steps(b, i, &sum) &&
             (!sum.s.count || (stats = gnomon__snapshot_stats(b, &sum)));
        ((gnomon_stage_info *)gnomon__model_at(b->m, GNOMON_STAGES, i))->steps =
            stats;
        gnomon__total_empty(&sum);
    }
    return ok;
}

/* NULL: no memory. */
static const void *copy_in_model(gnomon__snapshot_builder *b, const void *from,
                                 size_t bytes)
{
    void *to = gnomon__model_room(b->m, bytes);
    return to && bytes ? memcpy(to, from, bytes) : to;
}

int gnomon__snapshot_strip(gnomon__snapshot_builder *b, gnomon_strip_info info,
                           const gnomon__strip *strip)
{
    if (!strip->count || has_other_steps(b->record, info.stage - 1))
        return 1;
    gnomon_strip_info *to = gnomon__model_add(b->m, GNOMON_STRIPS);
    if (!to)
        return 0;
    info.struct_size = to->struct_size;
    info.width = strip->width;
    info.bin_count = strip->count;
    info.bins =
        copy_in_model(b, strip->bins, strip->count * sizeof *strip->bins);
    info.slow =
        copy_in_model(b, info.slow, info.slow_count * sizeof *info.slow);
    *to = info;
    return info.bins && info.slow;
}

/* ---- Times in steps ------------------------------------------------------------- */

static int put_step_time(gnomon__snapshot_builder *b,
                         gnomon_step_time_info info, uint32_t region,
                         const gnomon__total *time)
{
    info.region = region ? gnomon__snapshot_region(b, region) : 0;
    info.time = gnomon__snapshot_stats(b, time);
    gnomon_step_time_info *to = info.time && (info.region || !region)
                                    ? gnomon__model_add(b->m, GNOMON_STEP_TIMES)
                                    : NULL;
    if (!to)
        return 0;
    info.struct_size = to->struct_size;
    *to = info;
    return 1;
}

/* The number of a slow step, which may be among the last steps already. 0: no
 * memory. */
static uint32_t slow_step_number(gnomon__snapshot_builder *b, uint32_t stage,
                                 const gnomon__slow_step *slow)
{
    const gnomon__step_record f = {slow->ordinal, slow->phase, slow->number,
                                   slow->begin_ns, slow->end_ns};
    size_t count = gnomon__model_count(b->m, GNOMON_STEPS);
    for (uint32_t i = 1; i <= count; i++) {
        const gnomon_step_info *s = gnomon__model_at(b->m, GNOMON_STEPS, i);
        if (s->stage == stage && s->ordinal == f.ordinal &&
            s->number == f.number && s->begin_ns == f.begin_ns)
            return i;
    }
    return put_step(b, stage, &f) ? (uint32_t)count + 1 : 0;
}

static int put_one_time(gnomon__snapshot_builder *b, gnomon_step_time_info info,
                        uint32_t region, gnomon__step_part of)
{
    gnomon__total one = {0};
    info.own_ns = of.own;
    info.calls = of.calls;
    int ok = gnomon__total_count(&one, of.time, of.time) &&
             put_step_time(b, info, region, &one);
    gnomon__total_empty(&one);
    return ok;
}

static int put_slow_step(gnomon__snapshot_builder *b, uint32_t stage,
                         const gnomon__slow_step *slow)
{
    const gnomon_step_time_info info = {
        .stage = stage, .step = slow_step_number(b, stage, slow)};
    const uint64_t ns = slow->end_ns - slow->begin_ns;
    int ok =
        info.step && put_one_time(b, info, 0, (gnomon__step_part){ns, ns, 1});
    for (uint32_t i = 1; ok && i < slow->room; i++)
        ok = !slow->of[i].calls || put_one_time(b, info, i, slow->of[i]);
    return ok;
}

int gnomon__snapshot_step_times(gnomon__snapshot_builder *b, uint32_t stage,
                                const void *sums)
{
    const gnomon__step_sums *steps = sums;
    gnomon_step_time_info info = {.stage = stage};
    int ok = 1;
    /* Of a view that came later they are its own; of a cycle they are the stage's. */
    if (b->record->steps_until != UINT64_MAX &&
        has_other_steps(b->record, stage - 1))
        return 1;
    for (uint32_t i = 0; ok && i < steps->room; i++) {
        const gnomon__step_sum *sum = &steps->of[i];
        info.own_ns = sum->own_ns;
        info.calls = sum->calls;
        ok = !sum->time.s.count || put_step_time(b, info, i, &sum->time);
    }
    for (uint32_t i = 0; ok && i < steps->slow_count; i++)
        ok = put_slow_step(b, stage, &steps->slow[i]);
    return ok;
}
