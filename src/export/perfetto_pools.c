/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many bytes pools hold over time. Many threads allocate from one pool, so events
 * of memory are read once more, in the order of time. */
#include "export/perfetto.h"
#include "export/timeline.h"

/* What was in the pool before the first event is not known; the file's first event of
 * memory counts from 0, also one before the time that is shown. */
static int perfetto_put_memory(gnomon__perfetto *f, const gnomon_event_info *e)
{
    gnomon__perfetto_place *place;
    const uint64_t unix_ns =
        gnomon__perfetto_unix(&f->runs[f->rows[e->track].run], e->begin_ns);
    size_t from;
    double rest = e->value - e->value;
    if (e->region > f->track_count || !(rest >= 0))
        return 1;
    uint32_t run = f->rows[e->region].run;
    uint64_t uuid = gnomon__perfetto_pool(f, e->region, &place);
    if (!uuid)
        return 0;
    place->bytes += e->value;
    if (!gnomon__export_takes(f->what, unix_ns))
        return 1;
    gnomon__wire *w =
        gnomon__perfetto_event(f, run, unix_ns, uuid, TYPE_COUNTER, &from);
    gnomon__wire_double(w, EVENT_DOUBLE, place->bytes);
    gnomon__perfetto_event_end(f, from);
    return 1;
}

int gnomon__perfetto_pools(gnomon__perfetto *f)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    if (!f->has_memory)
        return 1;
    int ok = gnomon__memory_begin(&memory, &f->line);
    while (ok && !f->t->code && gnomon__memory_next(&memory, &e, &at))
        ok = perfetto_put_memory(f, &e);
    gnomon__memory_end(&memory);
    return ok;
}
