/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Events as differences. A plain execution is its path, its begin and its duration, in 5
 * to 7 bytes; whatever else an event has is announced by a bit. */
#include "profile/event_block.h"

#include "platform/atomic.h"
#include "profile/bytes.h"
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
        if (gnomon__field_bytes(&s->fields[i]) == 8
                ? gnomon__field_64(&s->fields[i], e) != 0
                : gnomon__field_32(&s->fields[i], e) != 0)
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
        if (gnomon__field_bytes(f) == 8)
            gnomon__put_64(at, gnomon__field_64(f, e));
        else
            gnomon__put_32(at, gnomon__field_32(f, e));
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
        uint32_t small;
        uint64_t large;
        if (left < bytes)
            return;
        if (bytes == 8) {
            large = gnomon__get_64(at);
            gnomon__field_set(f, e, &large, sizeof large);
        } else {
            small = gnomon__get_32(at);
            gnomon__field_set(f, e, &small, sizeof small);
        }
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
