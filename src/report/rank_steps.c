/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions that are named for a step are those that no region inside them explains. Once
 * the others are left out the same ones are named, in the same order, and paths are no
 * longer needed. */
#include "report/rank_steps.h"

#include "platform/error.h"
#include "platform/memory.h"
#include "print/slow_steps.h"

/* What is named of one stage and view: a step and a region, all numbers of the
 * profile. */
typedef struct named_region {
    size_t step;
    uint32_t region;
} named_region;

typedef struct named_regions {
    named_region *at;
    size_t count, room;
} named_regions;

static int no_room_for_steps(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the steps of the ranks");
}

static int name_regions(named_regions *named, gnomon__slow_steps *slow)
{
    const gnomon__step_reason *reasons[GNOMON__STEP_REASONS];
    named->count = 0;
    for (size_t i = 0; i < slow->slow_count; i++) {
        int count = gnomon__slow_steps_reasons(slow, &slow->slow[i], reasons);
        for (int k = 0; k < count; k++) {
            if (!gnomon__grow(&named->at, &named->room, named->count + 1,
                              sizeof *named->at))
                return no_room_for_steps();
            named->at[named->count++] =
                (named_region){slow->slow[i].number, reasons[k]->region};
        }
    }
    return GNOMON_OK;
}

static int is_named(const named_regions *named,
                    const gnomon_step_time_info *time)
{
    if (!time->region)
        return 1;
    for (size_t i = 0; i < named->count; i++)
        if (named->at[i].region == time->region &&
            (!time->step || named->at[i].step == time->step))
            return 1;
    return 0;
}

static void keep_named(gnomon__rank_steps *s, const named_regions *named,
                       uint32_t stage, uint32_t view)
{
    gnomon_step_time_info time;
    for (size_t i = 1; i <= gnomon_profile_count(s->of, GNOMON_STEP_TIMES); i++)
        if (gnomon_profile_step_time(s->of, i, &time) == GNOMON_OK &&
            time.stage == stage && time.view == view && is_named(named, &time))
            s->times[s->time_count++] = (uint32_t)i;
}

/* ---- What readers see --------------------------------------------------------------- */

static size_t rank_steps_count(const gnomon_profile *p, int entity)
{
    const gnomon__rank_steps *s = (const void *)p;
    switch (entity) {
    case GNOMON_STEP_TIMES:
        return s->time_count;
    case GNOMON_RUNS:
    case GNOMON_STAGES:
    case GNOMON_STEPS:
    case GNOMON_REGIONS:
    case GNOMON_VIEWS:
        return gnomon_profile_count(s->of, entity);
    default:
        return 0;
    }
}

static int rank_steps_get(const gnomon_profile *p, int entity, size_t number,
                          void *info)
{
    const gnomon__rank_steps *s = (const void *)p;
    if (!number || number > rank_steps_count(p, entity))
        return GNOMON_EINVAL;
    return s->of->api->get(
        s->of, entity,
        entity == GNOMON_STEP_TIMES ? s->times[number - 1] : number, info);
}

/* ---- The whole ---------------------------------------------------------------------- */

int gnomon__rank_steps_make(gnomon__rank_steps *s, const gnomon_profile *of)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = rank_steps_count,
                                           .get = rank_steps_get};
    const size_t stages = gnomon_profile_count(of, GNOMON_STAGES);
    const size_t views = gnomon_profile_count(of, GNOMON_VIEWS);
    const size_t times = gnomon_profile_count(of, GNOMON_STEP_TIMES);
    named_regions named = {0};
    gnomon__slow_steps slow;
    *s = (gnomon__rank_steps){.base.api = &api, .of = of};
    s->times = gnomon__alloc((times + 1) * sizeof *s->times);
    int code = gnomon__slow_steps_make(&slow, of);
    if (code || !s->times) {
        gnomon__slow_steps_free(&slow);
        return no_room_for_steps();
    }
    for (uint32_t stage = 1; !code && stage <= stages; stage++)
        for (uint32_t view = 0; !code && view <= views; view++) {
            gnomon__slow_steps_read(&slow, stage, view);
            code = name_regions(&named, &slow);
            if (!code)
                keep_named(s, &named, stage, view);
        }
    gnomon__slow_steps_free(&slow);
    gnomon__free(named.at);
    return code;
}

void gnomon__rank_steps_free(gnomon__rank_steps *s)
{
    gnomon__free(s->times);
    *s = (gnomon__rank_steps){.times = NULL};
}
