/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many bytes pools hold over time. Many threads allocate from one pool, so events
 * of memory are read once more, in the order of time: a heap has each track's next. */
#include "export/perfetto.h"

#include <stdlib.h>

typedef struct perfetto_next {
    uint64_t unix_ns;
    size_t row, number;
    gnomon_event_info e;
} perfetto_next;

typedef struct perfetto_heap {
    perfetto_next *of;
    size_t count;
} perfetto_heap;

static int perfetto_is_before(const perfetto_next *a, const perfetto_next *b)
{
    return a->unix_ns != b->unix_ns ? a->unix_ns < b->unix_ns : a->row < b->row;
}

/* Moves what is at `i` down to where it belongs. */
static void perfetto_sink(perfetto_heap *h, size_t i)
{
    perfetto_next moved = h->of[i];
    for (size_t child = 2 * i + 1; child < h->count; child = 2 * i + 1) {
        if (child + 1 < h->count &&
            perfetto_is_before(&h->of[child + 1], &h->of[child]))
            child++;
        if (!perfetto_is_before(&h->of[child], &moved))
            break;
        h->of[i] = h->of[child];
        i = child;
    }
    h->of[i] = moved;
}

/* The track's next event of memory from `number` on; 0: there is none. */
static int perfetto_read_next(const gnomon__perfetto *f, perfetto_next *n,
                              size_t number)
{
    const gnomon__perfetto_row *row = &f->rows[n->row];
    for (; number && number <= row->last_memory; number++) {
        if (gnomon_profile_event(f->p, number, &n->e) || n->e.track != n->row ||
            n->e.kind != GNOMON_EVENT_MEMORY)
            continue;
        n->number = number;
        n->unix_ns = gnomon__perfetto_unix(&f->runs[row->run], n->e.begin_ns);
        return 1;
    }
    return 0;
}

/* What was in the pool before the first event is not known; the file's first event of
 * memory counts from 0, also one before the time that is shown. */
static int perfetto_put_memory(gnomon__perfetto *f, const perfetto_next *n)
{
    gnomon__perfetto_place *place;
    size_t from;
    double rest = n->e.value - n->e.value;
    if (n->e.region > f->track_count || !(rest >= 0))
        return 1;
    uint32_t run = f->rows[n->e.region].run;
    uint64_t uuid = gnomon__perfetto_pool(f, n->e.region, &place);
    if (!uuid)
        return 0;
    place->bytes += n->e.value;
    if (!gnomon__export_takes(f->what, n->unix_ns))
        return 1;
    gnomon__wire *w =
        gnomon__perfetto_event(f, run, n->unix_ns, uuid, TYPE_COUNTER, &from);
    gnomon__wire_double(w, EVENT_DOUBLE, place->bytes);
    gnomon__perfetto_event_end(f, from);
    return 1;
}

int gnomon__perfetto_pools(gnomon__perfetto *f)
{
    perfetto_heap h = {0};
    int ok = 1;
    h.of = calloc(f->track_count + 1, sizeof *h.of);
    if (!h.of)
        return 0;
    for (size_t i = 1; i <= f->track_count; i++) {
        h.of[h.count].row = i;
        h.count +=
            perfetto_read_next(f, &h.of[h.count], f->rows[i].first_memory) != 0;
    }
    for (size_t i = h.count; i > 0; i--)
        perfetto_sink(&h, i - 1);
    while (ok && h.count && !f->t->code) {
        ok = perfetto_put_memory(f, &h.of[0]);
        if (!perfetto_read_next(f, &h.of[0], h.of[0].number + 1))
            h.of[0] = h.of[--h.count];
        perfetto_sink(&h, 0);
    }
    free(h.of);
    return ok;
}
