/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which stage something is recorded for, also after that was over. */
#include "platform/memory.h"
#include "record/ledger.h"

gnomon__totals *gnomon__late_of(gnomon__late_parts *late,
                                gnomon__stage_key stage)
{
    uint32_t i = 0;
    while (i < late->count && late->of[i].stage.ordinal != stage.ordinal)
        i++;
    if (i == late->count) {
        if (!gnomon__grow_zeroed(&late->of, &late->room, i + 1,
                                 sizeof *late->of))
            return NULL;
        late->of[i].stage = stage;
        late->count++;
    }
    return &late->of[i].totals;
}

gnomon__totals *gnomon__ledger_segment(gnomon__ledger *l, uint32_t segment,
                                       int *is_late)
{
    gnomon__stage_key stage = gnomon__segments_stage(segment);
    *is_late = stage.ordinal && stage.ordinal != l->ordinal;
    return *is_late ? gnomon__late_of(&l->late, stage) : &l->open;
}

void gnomon__late_clear(gnomon__late_parts *late)
{
    for (uint32_t i = 0; i < late->count; i++)
        gnomon__totals_free(&late->of[i].totals);
    late->count = 0;
}
