/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Finds out what the blocks of a file hold, in one pass with the memory of one block.
 *
 * Invariant: of a settled block exactly `kept` events fit to the model, and decoding it
 * again gives these again, as long as the file has the same bytes. */
#include "profile/event_blocks.h"

#include <string.h>

#include "platform/crc32.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profile/layout.h"

/* With fewer bytes of events in it a file is not kept open. */
#define HELD_FROM (256u << 10)

static int no_memory_for_events(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
}

int gnomon__blocks_add(gnomon__event_blocks **s, const gnomon__section *block)
{
    if (!*s && !(*s = gnomon__alloc(sizeof **s)))
        return no_memory_for_events();
    gnomon__event_blocks *b = *s;
    if (!b->count)
        b->fd = -1;
    if (!gnomon__grow(&b->blocks, &b->room, b->count + 1, sizeof *b->blocks))
        return no_memory_for_events();
    b->blocks[b->count++] =
        (gnomon__stored_block){.at = block->at + GNOMON__SECTION_HEADER,
                               .size = (uint32_t)block->bytes,
                               .crc = block->crc,
                               .count = block->count,
                               .number = block->first};
    b->total += block->bytes;
    return GNOMON_OK;
}

void gnomon__blocks_free(gnomon__event_blocks *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        gnomon__os_close(s->fd);
    for (int i = 0; i < GNOMON__BLOCK_SLOTS; i++)
        gnomon__free(s->slots[i].events);
    gnomon__numbers_free(&s->maps);
    gnomon__free(s->bytes);
    gnomon__free(s->blocks);
    gnomon__free(s->times);
    gnomon__free(s);
}

static void free_blocks(gnomon__event_source *s)
{
    gnomon__blocks_free((gnomon__event_blocks *)(void *)s);
}

/* ---- Whether an event fits --------------------------------------------------- */

/* A number of the file as one of the model; 0: the model has none. */
static uint32_t number_in_model(const gnomon__event_blocks *s, int entity,
                                uint32_t number)
{
    const uint32_t *map = s->maps.of[entity];
    if (number <= s->before[entity])
        return 0;
    number -= s->before[entity];
    if (map)
        return number <= s->mapped[entity] ? map[number] : 0;
    return number <= gnomon__model_count(s->m, entity) ? number : 0;
}

static uint32_t run_of_event_track(const gnomon__model *m, uint32_t track)
{
    const gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, track);
    return t->run;
}

/* What it names in another run is not there. */
static void leave_other_runs(const gnomon__model *m, gnomon_event_info *e)
{
    const uint32_t run = run_of_event_track(m, e->track);
    const gnomon_node_info *n =
        e->node ? gnomon__model_at(m, GNOMON_NODES, e->node) : NULL;
    if (n && run_of_event_track(m, n->track) != run)
        e->node = 0;
    if (e->kind == GNOMON_EVENT_MEMORY && e->region &&
        run_of_event_track(m, e->region) != run)
        e->region = 0;
}

/* Gives an event the model's numbers. 0: it names nothing that the model has. */
static int fit_any_event(const gnomon__event_blocks *s, gnomon_event_info *e,
                         uint64_t number, gnomon__dangling *dangling)
{
    const gnomon__struct *rows = &gnomon__structs[GNOMON_EVENTS];
    for (unsigned i = 0; i < rows->field_count; i++) {
        const gnomon__field *f = &rows->fields[i];
        if (f->type != GNOMON__TYPE_NUMBER)
            continue;
        const uint32_t was = gnomon__field_32(f, e);
        const uint32_t is =
            was ? number_in_model(s, gnomon__number_of(f, e), was) : 0;
        if (was && !is && dangling)
            gnomon__dangling_add(dangling, GNOMON_EVENTS, number, f, was);
        gnomon__field_set(f, e, &is, sizeof is);
    }
    if (!e->track)
        return 0;
    leave_other_runs(s->m, e);
    if (e->kind != GNOMON_EVENT_EXECUTION)
        return e->region != 0;
    const gnomon_node_info *n =
        e->node ? gnomon__model_at(s->m, GNOMON_NODES, e->node) : NULL;
    return n && n->track == e->track;
}

/* The same for the most frequent ones, executions whose path is on their track: nothing
 * else of them is a number. 0: it is not such a one, and is as it was. */
static inline int fit_execution(const gnomon__event_blocks *s,
                                gnomon_event_info *e)
{
    const uint32_t track = number_in_model(s, GNOMON_TRACKS, e->track);
    const uint32_t node = number_in_model(s, GNOMON_NODES, e->node);
    if (e->kind != GNOMON_EVENT_EXECUTION || e->region || !track || !node)
        return 0;
    const gnomon_node_info *n = gnomon__model_at(s->m, GNOMON_NODES, node);
    if (n->track != track)
        return 0;
    e->track = track;
    e->node = node;
    return 1;
}

int gnomon__blocks_decode(const gnomon__event_blocks *s,
                          const gnomon__stored_block *b, const char *bytes,
                          gnomon_event_info *out, gnomon__dangling *dangling)
{
    uint32_t kept = 0;
    if (gnomon__crc32(0, bytes, b->size) != b->crc ||
        !gnomon__block_read(bytes, b->size, b->count, out))
        return -1;
    for (uint32_t i = 0; i < b->count; i++) {
        if (fit_execution(s, &out[i]) ||
            fit_any_event(s, &out[i], b->number + i, dangling)) {
            if (kept != i)
                out[kept] = out[i];
            kept++;
        } else if (dangling) {
            dangling->left_out[GNOMON_EVENTS]++;
        }
    }
    return (int)kept;
}

/* ---- The pass over all blocks ---------------------------------------------------- */

typedef struct settling {
    gnomon__event_blocks *s;
    const gnomon__source *from;
    gnomon__settled *out;
    char *bytes;               /* of one block */
    gnomon_event_info *events; /* likewise */
    uint64_t *last;            /* by track: when its last event began */
    uint64_t latest;           /* bits of all times */
    size_t kept;               /* blocks so far */
    size_t events_so_far;
    uint64_t bytes_so_far;
} settling;

/* An end above 2^64 is a small number again; its begin or duration shows in `latest`. */
static void see_times(settling *w, int count)
{
    for (int i = 0; i < count; i++) {
        const gnomon_event_info *e = &w->events[i];
        gnomon__event_times *t = &w->s->times[e->track];
        const uint64_t end = e->begin_ns + e->duration_ns;
        w->out->is_unsorted |= e->begin_ns < w->last[e->track];
        w->last[e->track] = e->begin_ns;
        w->latest |= e->begin_ns | e->duration_ns | end;
        t->begin_ns = e->begin_ns < t->begin_ns ? e->begin_ns : t->begin_ns;
        t->end_ns = end > t->end_ns ? end : t->end_ns;
    }
}

static int settle_block(settling *w, gnomon__stored_block b,
                        gnomon__dangling *dangling)
{
    gnomon__event_blocks *s = w->s;
    int kept = -1;
    if (b.size <= GNOMON__SECTION_FULL) {
        int code = w->from->read(w->from->context, b.at, w->bytes, b.size);
        if (code)
            return code;
        kept = gnomon__blocks_decode(s, &b, w->bytes, w->events, dangling);
    }
    if (kept < 0) {
        w->out->lost += b.count;
        w->out->lost_bytes += GNOMON__SECTION_HEADER + b.size;
        return GNOMON_OK;
    }
    if (!kept)
        return GNOMON_OK;
    see_times(w, kept);
    b.kept = (uint32_t)kept;
    b.first = w->events_so_far + 1;
    if (s->bytes) {
        memcpy(s->bytes + w->bytes_so_far, w->bytes, b.size);
        b.at = w->bytes_so_far;
        w->bytes_so_far += b.size;
    }
    w->events_so_far += b.kept;
    s->blocks[w->kept++] = b;
    return GNOMON_OK;
}

/* Where the blocks will be read from. Lengths were checked: the file has that many bytes. */
static int hold(gnomon__event_blocks *s, const gnomon__source *from)
{
    if (s->total > HELD_FROM && from->hold)
        s->fd = from->hold(from->context);
    if (s->fd < 0 &&
        !(s->bytes =
              s->total < SIZE_MAX ? gnomon__alloc((size_t)s->total + 1) : NULL))
        return no_memory_for_events();
    return GNOMON_OK;
}

static int make_times(gnomon__event_blocks *s, size_t tracks)
{
    s->times = gnomon__alloc(tracks * sizeof *s->times);
    for (size_t i = 0; s->times && i < tracks; i++)
        s->times[i].begin_ns = UINT64_MAX;
    return s->times ? GNOMON_OK : no_memory_for_events();
}

static int settle_blocks(settling *w, gnomon__dangling *dangling)
{
    int code = hold(w->s, w->from);
    for (size_t i = 0; !code && i < w->s->count; i++)
        code = settle_block(w, w->s->blocks[i], dangling);
    return code;
}

int gnomon__blocks_settle(gnomon__event_blocks *s, const gnomon__source *from,
                          gnomon__dangling *dangling, gnomon__settled *out)
{
    const size_t tracks = gnomon__model_count(s->m, GNOMON_TRACKS) + 1;
    settling w = {.s = s, .from = from, .out = out};
    int code = make_times(s, tracks);
    w.bytes = gnomon__alloc(GNOMON__SECTION_FULL);
    w.events = gnomon__alloc(GNOMON__BLOCK_EVENTS * sizeof *w.events);
    w.last = gnomon__alloc(tracks * sizeof *w.last);
    if (!code && !(w.bytes && w.events && w.last))
        code = no_memory_for_events();
    else if (!code)
        code = settle_blocks(&w, dangling);
    if (!code)
        s->count = w.kept;
    s->base.count = w.events_so_far;
    s->base.times = w.latest <= GNOMON__TIMES_MOST ? s->times : NULL;
    s->base.free = free_blocks;
    gnomon__free(w.bytes);
    gnomon__free(w.events);
    gnomon__free(w.last);
    return code;
}
