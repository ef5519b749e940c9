/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the node of each event by its leaf and stage, and its call by the correlation. */
#include "record/activity_rows.h"

#include "gnomon.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/activity_events.h"
#include "record/activity_launches.h"

typedef struct work_call {
    uint64_t correlation, instance;
    uint32_t node;
} work_call;

GNOMON__ORDER(work_place_order, gnomon__work_place, UP(stage), UP(leaf))
GNOMON__ORDER(work_call_order, work_call, UP(correlation))

/* Of two that begin at the same moment the longer comes first; if they are equally
 * long, the outer one: a path's number is above that of the path around it. */
GNOMON__ORDER(work_row_order, gnomon__work_row, UP(track), UP(begin_ns),
              DOWN(duration_ns), UP(node), UP(instance))

static const gnomon__work_place *place_of(const gnomon__snapshot_builder *b,
                                          const gnomon__work_place *places,
                                          size_t count,
                                          const gnomon__activity_event *e)
{
    const gnomon__work_place key = {
        .stage = gnomon__snapshot_stage_in(b, e->segment), .leaf = e->leaf};
    return key.stage && count
               ? bsearch(&key, places, count, sizeof key, work_place_order)
               : NULL;
}

static const work_call *call_of(const work_call *calls, size_t count,
                                uint64_t correlation)
{
    const work_call key = {.correlation = correlation};
    return correlation && count
               ? bsearch(&key, calls, count, sizeof key, work_call_order)
               : NULL;
}

/* Events without a place came after the sums were taken: they are in the next profile. */
static void make_work_rows(gnomon__snapshot_builder *b, gnomon__work_rows *rows,
                           const gnomon__work_place **found, work_call *calls,
                           size_t *call_count)
{
    gnomon__activity_events *events = b->record->work;
    for (size_t i = 0; i < events->count; i++) {
        const gnomon__activity_event *e = &events->of[i];
        if (!found[i]) {
            gnomon__activity_events_miss(events, e);
            continue;
        }
        gnomon__work_row *row = &rows->of[rows->count++];
        *row = (gnomon__work_row){.begin_ns = e->begin_ns,
                                  .duration_ns = e->end_ns - e->begin_ns,
                                  .instance = GNOMON__WORK_INSTANCE | e->serial,
                                  .node = found[i]->node,
                                  .track = found[i]->track};
        if (found[i]->is_call && e->correlation)
            calls[(*call_count)++] =
                (work_call){e->correlation, row->instance, row->node};
    }
    GNOMON__SORT(calls, *call_count, work_call_order);
}

/* Work without a call waits for the scopes' executions. */
static int add_launch(gnomon__work_launches *l, const gnomon__work_row *to,
                      const gnomon__work_place *place, uint64_t ticks)
{
    if (!place->path)
        return 1;
    return GNOMON__ADD(l->of, l->room, l->count,
                       (gnomon__work_launch){.thread = place->thread,
                                             .path = place->path,
                                             .ticks = ticks,
                                             .instance = to->instance,
                                             .node = to->node});
}

static int put_launches(gnomon__snapshot_builder *b,
                        const gnomon__work_rows *rows,
                        const gnomon__work_place *const *found,
                        const work_call *calls, size_t call_count)
{
    const gnomon__activity_events *events = b->record->work;
    gnomon__work_launches others = {0};
    int ok = 1;
    for (size_t i = 0, row = 0; ok && i < events->count; i++) {
        const gnomon__activity_event *e = &events->of[i];
        const gnomon__work_row *to = &rows->of[row];
        row += found[i] != NULL;
        if (!found[i] || found[i]->is_on_host)
            continue;
        const work_call *from = call_of(calls, call_count, e->correlation);
        ok = from ? gnomon__snapshot_launch(b, from->node, from->instance,
                                            to->node, to->instance)
                  : add_launch(&others, to, found[i], e->launched);
    }
    ok = ok && gnomon__snapshot_launches(b, &others);
    gnomon__free(others.of);
    return ok;
}

int gnomon__snapshot_work_rows(gnomon__snapshot_builder *b,
                               gnomon__work_place *places, size_t count)
{
    const gnomon__activity_events *events = b->record->work;
    size_t call_count = 0;
    if (!events || !events->count)
        return 1;
    gnomon__work_rows *rows =
        gnomon__alloc(sizeof *rows + events->count * sizeof *rows->of);
    work_call *calls = gnomon__alloc(events->count * sizeof *calls);
    const gnomon__work_place **found =
        gnomon__alloc(events->count * sizeof *found);
    int ok = rows && calls && found;
    if (ok)
        GNOMON__SORT(places, count, work_place_order);
    for (size_t i = 0; ok && i < events->count; i++)
        found[i] = place_of(b, places, count, &events->of[i]);
    if (ok)
        make_work_rows(b, rows, found, calls, &call_count);
    ok = ok && put_launches(b, rows, found, calls, call_count);
    if (ok)
        GNOMON__SORT(rows->of, rows->count, work_row_order);
    gnomon__free(calls);
    gnomon__free((void *)found);
    if (ok)
        b->work = rows;
    else
        gnomon__free(rows);
    return ok;
}
