/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes times of scopes on streams into the sums of stages: into the node of the scope,
 * which has those of all streams, and into its part on the stream. */
#include "platform/memory.h"
#include "record/activities.h"
#include "record/ledger.h"

/* `leaf`: of the part; 0: it has none. */
static int add_device(gnomon__totals *to, const gnomon__device_path *path,
                      uint32_t leaf, const gnomon__total *total)
{
    const gnomon__activity_sum part = {.leaf = leaf, .total = *total};
    gnomon__total *s =
        to ? gnomon__totals_path(to, path->thread, path->number) : NULL;
    if (s && !s->device)
        s->device = gnomon__alloc(sizeof *s->device);
    return s && s->device && gnomon__total_add(s->device, total) &&
           (!leaf || gnomon__activity_sum_add(
                         &to->sums[GNOMON__ACTIVITY_RECORDER], &part));
}

typedef struct device_taker {
    gnomon__ledger *ledger;
    int is_copy;
} device_taker;

/* Times of the stage that was closed last count in its own sums and in those of its
 * name, as its reports are not written yet. */
static int take_device(void *context, const gnomon__device_part *part,
                       const gnomon__total *total)
{
    int is_late;
    const device_taker *taker = context;
    const gnomon__device_path *path = &part->path;
    gnomon__ledger *l = taker->ledger;
    gnomon__stage_key stage = gnomon__segments_stage(path->segment);
    uint32_t leaf = part->device < 0
                        ? 0
                        : gnomon__activities_leaf(
                              part, taker->is_copy ? 0 : total->s.count);
    if (!stage.ordinal || stage.ordinal != l->closed_ordinal)
        return add_device(gnomon__ledger_segment(l, path->segment, &is_late),
                          path, leaf, total);
    int ok = add_device(&l->closed, path, leaf, total);
    return gnomon__grow_zeroed(&l->names, &l->name_room, stage.name + 1,
                               sizeof *l->names) &&
           add_device(&l->names[stage.name], path, leaf, total) && ok;
}

int gnomon__ledger_take_devices(gnomon__ledger *l, uint32_t generation)
{
    device_taker taker = {l, 0};
    return gnomon__device_stats_take(generation, 0, take_device, &taker)
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

int gnomon__ledger_copy_devices(gnomon__ledger *out, uint32_t generation)
{
    device_taker taker = {out, 1};
    return gnomon__device_stats_take(generation, 1, take_device, &taker);
}
