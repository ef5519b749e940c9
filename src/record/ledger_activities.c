/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes sums of work into the sums of stages. */
#include "record/ledger_activities.h"

#include "gnomon.h"
#include "mark/segment.h"
#include "platform/memory.h"
#include "record/activities.h"

typedef struct work_taker {
    gnomon__ledger *ledger;
    enum gnomon__taking when;
} work_taker;

/* A scope's times on streams go into its node, which has those of all streams, and into
 * its part on the stream. */
static int add_to_totals(gnomon__totals *to, const gnomon__activity_sum *sum)
{
    const gnomon__activity_leaf *leaf = gnomon__activity_leaf_at(sum->leaf);
    if (to && !leaf->name) {
        gnomon__total *s = gnomon__totals_path(to, leaf->thread, leaf->path);
        if (s && !s->device)
            s->device = gnomon__alloc(sizeof *s->device);
        if (!s || !s->device || !gnomon__total_add(s->device, &sum->total))
            return 0;
    }
    return to &&
           (!leaf->track || gnomon__activity_sum_add(
                                &to->sums[GNOMON__ACTIVITY_RECORDER], sum));
}

static int add_to_name(gnomon__ledger *l, uint32_t name,
                       const gnomon__activity_sum *sum)
{
    return gnomon__grow_zeroed(&l->names, &l->name_room, name + 1,
                               sizeof *l->names) &&
           add_to_totals(&l->names[name], sum);
}

/* At a cut the late parts are added to those of their names next (gnomon__ledger_settle),
 * later that is done here. */
static int add_late_work(const work_taker *t, gnomon__stage_key stage,
                         const gnomon__activity_sum *sum)
{
    gnomon__ledger *l = t->ledger;
    if (t->when != GNOMON__TAKE_COPY &&
        gnomon__activity_leaf_at(sum->leaf)->name)
        gnomon__work_trouble(activities_late, sum->total.s.count);
    if (t->when == GNOMON__TAKE_AT_CUT)
        return add_to_totals(gnomon__late_of(&l->late, stage), sum);
    return add_to_totals(gnomon__late_of(&l->late_reported, stage), sum) &&
           add_to_name(l, stage.name, sum);
}

static int take_sum(void *context, const gnomon__activity_sum *sum)
{
    const work_taker *t = context;
    gnomon__ledger *l = t->ledger;
    gnomon__stage_key stage = gnomon__segments_stage(sum->segment);
    int is_closed = stage.ordinal && stage.ordinal == l->closed_ordinal &&
                    t->when != GNOMON__TAKE_AT_CUT;
    /* Where specs go in an open stage, it is the closed one too: their report is due. */
    if (!is_closed && (!stage.ordinal || stage.ordinal == l->ordinal))
        return add_to_totals(&l->open, sum);
    if (!is_closed)
        return add_late_work(t, stage, sum);
    return add_to_totals(&l->closed, sum) && add_to_name(l, stage.name, sum);
}

int gnomon__ledger_take_activities(gnomon__ledger *l, uint32_t generation,
                                   enum gnomon__taking when)
{
    work_taker taker = {l, when};
    return gnomon__activities_take(generation, when == GNOMON__TAKE_COPY,
                                   take_sum, &taker)
               ? GNOMON_OK
               : GNOMON_ENOMEM;
}

static void drop_work(gnomon__totals *t)
{
    void **sums = &t->sums[GNOMON__ACTIVITY_RECORDER];
    if (*sums)
        gnomon__activity_recorder.free_sums(*sums);
    *sums = NULL;
}

static void drop_late_work(const gnomon__late_parts *late)
{
    for (size_t i = 0; i < late->count; i++)
        drop_work(&late->of[i].totals);
}

void gnomon__ledger_drop_activities(gnomon__ledger *l)
{
    for (size_t i = 0; i < l->name_room; i++)
        drop_work(&l->names[i]);
    drop_work(&l->open);
    drop_work(&l->closed);
    drop_late_work(&l->late);
    drop_late_work(&l->late_reported);
}
