/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Slices as begins and ends. A track's packets must be in the order of their moments:
 * so the ends of what is over are written before the next begin, from the lanes, which
 * hold what is open. */
#include "export/perfetto.h"

void gnomon__perfetto_ends(gnomon__perfetto *f, size_t row, uint64_t until)
{
    uint32_t run = f->rows[row].run, lanes = gnomon__lanes_of(&f->lanes, row);
    uint64_t end;
    size_t from;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        while (gnomon__lanes_take(&f->lanes, row, lane, until, &end)) {
            if (f->links.late_count)
                gnomon__perfetto_late_flows(f, row, lane, end);
            if (end == GNOMON__PERFETTO_NEVER)
                continue;
            uint64_t uuid = gnomon__perfetto_lane(f, row, lane);
            gnomon__perfetto_event(f, run,
                                   gnomon__perfetto_unix(&f->runs[run], end),
                                   uuid, TYPE_END, &from);
            gnomon__perfetto_event_end(f, from);
        }
        if (f->links.late_count)
            gnomon__perfetto_late_flows(f, row, lane, until);
    }
}

uint64_t gnomon__perfetto_end_of(uint64_t begin, uint64_t duration)
{
    return duration < GNOMON__PERFETTO_NEVER - 1 - begin
               ? begin + duration
               : GNOMON__PERFETTO_NEVER - 1;
}

int gnomon__perfetto_begin(gnomon__perfetto *f, size_t row, uint32_t first_lane,
                           uint64_t begin, uint64_t end, size_t *from)
{
    const gnomon__perfetto_row *r = &f->rows[row];
    gnomon__perfetto_ends(f, row, begin);
    uint32_t lane =
        gnomon__lanes_put_after(&f->lanes, row, first_lane, begin, end);
    uint64_t uuid =
        lane == GNOMON__NO_LANE ? 0 : gnomon__perfetto_lane(f, row, lane);
    if (!uuid)
        return 0;
    f->begun_lane = lane;
    gnomon__perfetto_event(f, r->run,
                           gnomon__perfetto_unix(&f->runs[r->run], begin), uuid,
                           TYPE_BEGIN, from);
    return 1;
}
