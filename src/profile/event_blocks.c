/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Events as differences. A plain execution is its path, its begin and its duration, in 5
 * to 7 bytes; whatever else an event has is announced by a bit.
 *
 * Invariant: of a settled block exactly `kept` events fit to the model, and decoding it
 * again gives these again, as long as the file has the same bytes. */
#include "profile/event_blocks.h"

#include <string.h>

#include "platform/atomic.h"
#include "platform/crc32.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "platform/os.h"
#include "profile/layout.h"

/* What follows the number of a path with an odd first bit. */
enum event_parts {
    PART_TRACK = 1, /* the track; then the begin may be earlier than the last */
    PART_KIND = 2,
    PART_REGION = 4,
    PART_INSTANCE = 8,
    PART_VALUE = 16,
    PART_REST = 32, /* fields of later releases, as in a record */
    PARTS_KNOWN = 63
};

/* Of fields in the table of rows: those that have a part of their own above. */
#define FIRST_FIELDS 8

/* ---- Numbers ---------------------------------------------------------------- */

static char *put_number(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    return at;
}

/* Small for a difference that is near 0, above or below. */
static uint64_t folded(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfolded(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

typedef struct block_reader {
    const unsigned char *at, *end;
    int is_wrong;
} block_reader;

/* The number from bit `shift` on, byte by byte; `value` has the bits below. */
static uint64_t get_rest_of(block_reader *r, uint64_t value, unsigned shift)
{
    for (; r->at < r->end && shift < 64; shift += 7) {
        unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    r->is_wrong = 1;
    return 0;
}

/* The 56 bits of eight bytes: neighbours are put together, 7 bits to 14, these to 28, and
 * these to 56. */
static inline uint64_t bits_of_bytes(uint64_t word)
{
    word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
    word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
    return (word & 0x0fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* Without a branch on how many bytes it has, up to 8: numbers of 2 and of 3 bytes come in
 * any order, and a branch that is predicted wrongly costs 20 cycles. */
static inline uint64_t get_number_inline(block_reader *r)
{
    if (unlikely(r->end - r->at < 8))
        return get_rest_of(r, 0, 0);
    const uint64_t word = gnomon__get_64((const char *)r->at);
    const uint64_t lasts = ~word & 0x8080808080808080;
    if (unlikely(!lasts)) {
        r->at += 8;
        return get_rest_of(r, bits_of_bytes(word), 56);
    }
    r->at += ((unsigned)__builtin_ctzll(lasts) >> 3) + 1;
    return bits_of_bytes(word & (lasts ^ (lasts - 1)));
}

static __attribute__((noinline)) uint64_t get_number(block_reader *r)
{
    return get_number_inline(r);
}

/* For numbers that mostly have one byte. */
static inline uint64_t get_small(block_reader *r)
{
    return likely(r->at < r->end && *r->at < 0x80) ? *r->at++ : get_number(r);
}

static uint32_t get_moved(block_reader *r, uint32_t from)
{
    uint64_t value = from + unfolded(get_number(r));
    r->is_wrong |= value > UINT32_MAX;
    return (uint32_t)value;
}

/* ---- Fields of later releases ------------------------------------------------- */

static int has_rest(const gnomon_event_info *e)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    for (unsigned i = FIRST_FIELDS; i < s->field_count; i++)
        if (gnomon__field_bits(&s->fields[i], e))
            return 1;
    return 0;
}

static char *put_rest(char *at, const gnomon_event_info *e)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    at = put_number(at, gnomon__record_bytes(s, s->field_count) -
                            gnomon__record_bytes(s, FIRST_FIELDS));
    for (unsigned i = FIRST_FIELDS; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        gnomon__field_put(f, at, e);
        at += gnomon__field_bytes(f);
    }
    return at;
}

static void get_rest(block_reader *r, gnomon_event_info *e)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    uint64_t left = get_number(r);
    if (left > (uint64_t)(r->end - r->at)) {
        r->is_wrong = 1;
        return;
    }
    const char *at = (const char *)r->at;
    r->at += left;
    for (unsigned i = FIRST_FIELDS; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        const uint32_t bytes = gnomon__field_bytes(f);
        if (left < bytes)
            return;
        gnomon__field_get(f, at, e);
        at += bytes;
        left -= bytes;
    }
}

/* ---- Writing ------------------------------------------------------------------ */

static const gnomon__block_bounds no_bounds = {
    .begin_ns = UINT64_MAX, .track = {UINT32_MAX, 0}, .node = {UINT32_MAX, 0}};

void gnomon__block_begin(gnomon__block *b, char *bytes, size_t room)
{
    memset(b, 0, sizeof *b);
    b->bytes = bytes;
    b->room = room;
    b->used = GNOMON__BLOCK_HEAD;
    b->bounds = no_bounds;
}

static void widen_range(uint32_t bounds[2], uint32_t number)
{
    bounds[0] = number < bounds[0] ? number : bounds[0];
    bounds[1] = number > bounds[1] ? number : bounds[1];
}

static void widen_bounds(gnomon__block_bounds *b, const gnomon_event_info *e)
{
    uint64_t end = e->begin_ns + e->duration_ns;
    end = end < e->begin_ns ? UINT64_MAX : end;
    b->begin_ns = e->begin_ns < b->begin_ns ? e->begin_ns : b->begin_ns;
    b->end_ns = end > b->end_ns ? end : b->end_ns;
    widen_range(b->track, e->track);
    widen_range(b->node, e->node);
}

static unsigned parts_of(const gnomon__block *b, const gnomon_event_info *e)
{
    uint64_t value;
    memcpy(&value, &e->value, sizeof value);
    return (e->track != b->last.track || e->begin_ns < b->last.begin_ns
                ? PART_TRACK
                : 0u) |
           (e->kind ? PART_KIND : 0u) | (e->region ? PART_REGION : 0u) |
           (e->instance ? PART_INSTANCE : 0u) | (value ? PART_VALUE : 0u) |
           (has_rest(e) ? PART_REST : 0u);
}

void gnomon__block_add(gnomon__block *b, const gnomon_event_info *e)
{
    const unsigned parts = parts_of(b, e);
    const uint64_t later = e->begin_ns - b->last.begin_ns;
    char *at = b->bytes + b->used;
    at = put_number(at, folded((uint64_t)e->node - b->last.node) << 1 |
                            (parts != 0));
    if (parts)
        at = put_number(at, parts);
    if (parts & PART_TRACK)
        at = put_number(at, folded((uint64_t)e->track - b->last.track));
    at = put_number(at, parts & PART_TRACK ? folded(later) : later);
    at = put_number(at, e->duration_ns);
    if (parts & PART_KIND)
        at = put_number(at, (uint32_t)e->kind);
    if (parts & PART_REGION) {
        at = put_number(at, folded((uint64_t)e->region - b->last.region));
        b->last.region = e->region;
    }
    if (parts & PART_INSTANCE)
        at = put_number(at, e->instance);
    if (parts & PART_VALUE) {
        uint64_t value;
        memcpy(&value, &e->value, sizeof value);
        gnomon__put_64(at, value);
        at += 8;
    }
    if (parts & PART_REST)
        at = put_rest(at, e);
    b->last.track = e->track;
    b->last.node = e->node;
    b->last.begin_ns = e->begin_ns;
    b->used = (size_t)(at - b->bytes);
    b->count++;
    widen_bounds(&b->bounds, e);
}

void gnomon__block_end(gnomon__block *b)
{
    gnomon__put_64(b->bytes, b->bounds.begin_ns);
    gnomon__put_64(b->bytes + 8, b->bounds.end_ns);
    gnomon__put_32(b->bytes + 16, b->bounds.track[0]);
    gnomon__put_32(b->bytes + 20, b->bounds.track[1]);
    gnomon__put_32(b->bytes + 24, b->bounds.node[0]);
    gnomon__put_32(b->bytes + 28, b->bounds.node[1]);
}

/* ---- Reading ------------------------------------------------------------------ */

/* The event from its `parts` on. */
static void get_parts(block_reader *r, const gnomon_event_info *last,
                      uint32_t *region, gnomon_event_info *e)
{
    const uint64_t parts = get_number(r);
    uint64_t value = 0;
    r->is_wrong |= (parts & ~(uint64_t)PARTS_KNOWN) != 0;
    if (parts & PART_TRACK)
        e->track = get_moved(r, last->track);
    value = get_number(r);
    e->begin_ns =
        last->begin_ns + (parts & PART_TRACK ? unfolded(value) : value);
    e->duration_ns = get_number(r);
    if (parts & PART_KIND) {
        value = get_number(r);
        r->is_wrong |= value > UINT32_MAX;
        uint32_t kind = (uint32_t)value;
        memcpy(&e->kind, &kind, sizeof kind);
    }
    if (parts & PART_REGION)
        e->region = *region = get_moved(r, *region);
    if (parts & PART_INSTANCE)
        e->instance = get_number(r);
    if (parts & PART_VALUE) {
        if (r->end - r->at < 8) {
            r->is_wrong = 1;
            return;
        }
        value = gnomon__get_64((const char *)r->at);
        memcpy(&e->value, &value, sizeof value);
        r->at += 8;
    }
    if (parts & PART_REST)
        get_rest(r, e);
}

static inline void get_event(block_reader *r, const gnomon_event_info *last,
                             uint32_t *region, gnomon_event_info *e)
{
    const uint64_t first = get_small(r);
    const uint64_t node = last->node + unfolded(first >> 1);
    *e = (gnomon_event_info){
        .struct_size = sizeof *e, .track = last->track, .node = (uint32_t)node};
    r->is_wrong |= node > UINT32_MAX;
    if (unlikely(first & 1)) {
        get_parts(r, last, region, e);
    } else {
        e->begin_ns = last->begin_ns + get_number_inline(r);
        e->duration_ns = get_number_inline(r);
    }
}

static int bounds_hold(const gnomon__block_bounds *b, const char *head)
{
    return b->begin_ns == gnomon__get_64(head) &&
           b->end_ns == gnomon__get_64(head + 8) &&
           b->track[0] == gnomon__get_32(head + 16) &&
           b->track[1] == gnomon__get_32(head + 20) &&
           b->node[0] == gnomon__get_32(head + 24) &&
           b->node[1] == gnomon__get_32(head + 28);
}

int gnomon__block_read(const char *bytes, size_t size, uint32_t count,
                       gnomon_event_info *out)
{
    gnomon__block_bounds bounds = no_bounds;
    gnomon_event_info none = {.struct_size = sizeof none};
    if (size < GNOMON__BLOCK_HEAD || !count || count > GNOMON__BLOCK_EVENTS)
        return 0;
    const unsigned char *at = (const unsigned char *)bytes;
    block_reader r = {at + GNOMON__BLOCK_HEAD, at + size, 0};
    const gnomon_event_info *last = &none;
    uint32_t region = 0;
    for (uint32_t i = 0; i < count && !r.is_wrong; i++) {
        get_event(&r, last, &region, &out[i]);
        widen_bounds(&bounds, &out[i]);
        last = &out[i];
    }
    return !r.is_wrong && r.at == r.end && bounds_hold(&bounds, bytes);
}

/* ---- What the blocks of a file hold --------------------------------------------------
 *
 * One pass with the memory of one block. */

/* With fewer bytes of events in it a file is not kept open. */
#define HELD_FROM (256u << 10)

int gnomon__blocks_add(gnomon__event_blocks **s, const gnomon__section *block)
{
    if (!*s && !(*s = gnomon__alloc(sizeof **s)))
        return gnomon__no_memory_to_read();
    gnomon__event_blocks *b = *s;
    if (!b->count)
        b->fd = -1;
    b->total += block->bytes;
    return GNOMON__ADD(
               b->blocks, b->room, b->count,
               (gnomon__stored_block){.at = block->at + GNOMON__SECTION_HEADER,
                                      .size = (uint32_t)block->bytes,
                                      .crc = block->crc,
                                      .count = block->count,
                                      .number = block->first})
               ? GNOMON_OK
               : gnomon__no_memory_to_read();
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

/* 0: there is no such track. References of nodes are not checked yet. */
static uint32_t run_of_event_track(const gnomon__model *m, uint32_t track)
{
    const gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, 1);
    return track && track <= gnomon__model_count(m, GNOMON_TRACKS)
               ? t[track - 1].run
               : 0;
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
    const gnomon__field *f = NULL;
    while ((f = gnomon__next_number(&gnomon__structs[GNOMON_EVENTS], f)) !=
           NULL) {
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

/* Decodes a block into `out`, of GNOMON__BLOCK_EVENTS; `bytes` are its own. Returns how
 * many events the model has of it; -1: it is not what it was. NULL: no dangling numbers
 * are counted. */
static int decode_block(const gnomon__event_blocks *s,
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
        kept = decode_block(s, &b, w->bytes, w->events, dangling);
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
        return gnomon__no_memory_to_read();
    return GNOMON_OK;
}

static int make_times(gnomon__event_blocks *s, size_t tracks)
{
    s->times = gnomon__alloc(tracks * sizeof *s->times);
    for (size_t i = 0; s->times && i < tracks; i++)
        s->times[i].begin_ns = UINT64_MAX;
    return s->times ? GNOMON_OK : gnomon__no_memory_to_read();
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
        code = gnomon__no_memory_to_read();
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

/* ---- Reading a file's events ----------------------------------------------------------
 *
 * The last blocks that were decoded, for any number of threads. A thread locks one block
 * while it copies events or decodes; no thread waits for another one that reads the
 * file, unless all blocks are in use. The file is read by pread, not mapped: if it gets
 * shorter, a read fails, and no signal comes. */

static int is_in_block(const gnomon__event_blocks *s, size_t block,
                       size_t number)
{
    const gnomon__stored_block *b = &s->blocks[block];
    return number >= b->first && number - b->first < b->kept;
}

static size_t find_block(gnomon__event_blocks *s, size_t number)
{
    size_t low = load_relaxed(&s->last), high = s->count;
    if (is_in_block(s, low, number))
        return low;
    if (low + 1 < high && is_in_block(s, low + 1, number)) {
        store_relaxed(&s->last, low + 1);
        return low + 1;
    }
    low = 0;
    GNOMON__SEARCH(low, high, i, s->blocks[i].first <= number)
    store_relaxed(&s->last, low - 1);
    return low - 1;
}

static int lock_slot(gnomon__block_slot *slot)
{
    uint32_t free = 0;
    return !load_relaxed(&slot->locked) && cas_acq_rel(&slot->locked, &free, 1);
}

/* Pairs with lock_slot's acquire. */
static void unlock_slot(gnomon__block_slot *slot)
{
    store_release(&slot->locked, 0);
}

/* The i-th slot to try for a block. A walk over all blocks finds each at its first try. */
static gnomon__block_slot *slot_at(gnomon__event_blocks *s, size_t block, int i)
{
    return &s->slots[(block + (size_t)i) % GNOMON__BLOCK_SLOTS];
}

/* The slot that has the block, locked; NULL: none that is free. */
static gnomon__block_slot *slot_of(gnomon__event_blocks *s, size_t block)
{
    for (int i = 0; i < GNOMON__BLOCK_SLOTS; i++) {
        gnomon__block_slot *slot = slot_at(s, block, i);
        if (load_relaxed(&slot->block_plus_one) != block + 1 ||
            !lock_slot(slot))
            continue;
        if (load_relaxed(&slot->block_plus_one) == block + 1)
            return slot;
        unlock_slot(slot);
    }
    return NULL;
}

/* The one that was not used for longest, locked. */
static gnomon__block_slot *oldest_slot(gnomon__event_blocks *s, size_t block)
{
    for (;;) {
        gnomon__block_slot *oldest = slot_at(s, block, 0);
        for (int i = 1; i < GNOMON__BLOCK_SLOTS; i++) {
            gnomon__block_slot *slot = slot_at(s, block, i);
            if (load_relaxed(&oldest->locked) ||
                (!load_relaxed(&slot->locked) &&
                 load_relaxed(&slot->used) < load_relaxed(&oldest->used)))
                oldest = slot;
        }
        if (lock_slot(oldest))
            return oldest;
    }
}

static int fill_slot(const gnomon__event_blocks *s, gnomon__block_slot *slot,
                     const gnomon__stored_block *b, char *room)
{
    const char *bytes = s->bytes ? s->bytes + b->at : room;
    if (!slot->events && !(slot->events = gnomon__alloc(GNOMON__BLOCK_EVENTS *
                                                        sizeof *slot->events)))
        return GNOMON_ENOMEM;
    if (!s->bytes && gnomon__os_read_at(s->fd, b->at, room, b->size))
        return GNOMON_EIO;
    return decode_block(s, b, bytes, slot->events, NULL) == (int)b->kept
               ? GNOMON_OK
               : GNOMON_EIO;
}

static int load_block(gnomon__event_blocks *s, size_t block,
                      gnomon__block_slot *slot)
{
    int cancel = gnomon__os_cancel_off();
    char *room = s->bytes ? NULL : gnomon__alloc(GNOMON__SECTION_FULL);
    store_relaxed(&slot->block_plus_one, 0u);
    int code = s->bytes || room ? fill_slot(s, slot, &s->blocks[block], room)
                                : GNOMON_ENOMEM;
    if (!code)
        store_relaxed(&slot->block_plus_one, block + 1);
    gnomon__free(room);
    gnomon__os_cancel_back(cancel);
    return code;
}

/* Up to the end of the block. */
static size_t read_cached(gnomon__event_source *source, size_t number,
                          gnomon_event_info *events, size_t room)
{
    gnomon__event_blocks *s = (gnomon__event_blocks *)(void *)source;
    const size_t block = find_block(s, number);
    gnomon__block_slot *slot = slot_of(s, block);
    int code = GNOMON_OK;
    if (!slot) {
        slot = oldest_slot(s, block);
        code = load_block(s, block, slot);
        add_relaxed(&s->loads, 1u);
    }
    const size_t at = number - s->blocks[block].first;
    const size_t left = s->blocks[block].kept - at;
    room = code ? 0 : room < left ? room : left;
    if (code == GNOMON_ENOMEM)
        store_relaxed(&s->base.failed, (uint32_t)-code);
    if (room)
        memcpy(events, slot->events + at, room * sizeof *events);
    store_relaxed(&slot->used, load_relaxed(&s->loads));
    unlock_slot(slot);
    return room;
}

void gnomon__blocks_open(gnomon__event_blocks *s)
{
    s->base.read = read_cached;
}

/* ---- All at once ------------------------------------------------------------------- */

GNOMON__ORDER(compare_in_track, gnomon_event_info, UP(track), UP(begin_ns),
              UP(reserved))

/* `reserved` keeps the order of events that began at one moment. */
int gnomon__blocks_to_table(gnomon__event_blocks *s, gnomon__model *m)
{
    for (size_t i = 1; i <= s->base.count; i++) {
        gnomon_event_info *e = gnomon__model_add(m, GNOMON_EVENTS);
        if (!e)
            return gnomon__no_memory_to_read();
        if (!read_cached(&s->base, i, e, 1))
            return gnomon__fail(GNOMON_EIO, "the file has changed meanwhile");
    }
    gnomon__table *t = &m->tables[GNOMON_EVENTS];
    gnomon_event_info *events = (void *)t->items;
    for (size_t i = 0; i < t->count; i++)
        events[i].reserved = (uint32_t)i;
    GNOMON__SORT(events, t->count, compare_in_track);
    for (size_t i = 0; i < t->count; i++)
        events[i].reserved = 0;
    return GNOMON_OK;
}
