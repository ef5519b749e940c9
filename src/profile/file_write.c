/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as .gnomon: sections one after the other, each with its checksum, so
 * that a file may be written to its end without being told how long it gets, and
 * read up to where it was damaged.
 *
 * A section holds records of one kind and, behind them, what they point to. Its
 * texts come in a section of texts before it; each is written once. */
#include "profile/file_write.h"

#include <string.h>

#include "platform/crc32.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/bytes.h"
#include "profile/forms.h"
#include "profile/layout.h"

#define FULL_SECTION (1u << 20) /* bytes at which the next one begins */

typedef gnomon__file_writer file_writer;
typedef gnomon__file_buffer file_buffer;

/* ---- Bytes ------------------------------------------------------------------ */

/* Room for `size` more zeroes; NULL: none, and w->code says so. */
static char *file_room(file_writer *w, file_buffer *b, size_t size)
{
    if (!b->bytes || size > b->room - b->used) {
        size_t room = b->room ? b->room : 4096;
        while (room - b->used < size)
            room *= 2;
        char *bytes = gnomon__realloc(b->bytes, room);
        if (!bytes) {
            w->code = gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
            return NULL;
        }
        b->bytes = bytes;
        b->room = room;
    }
    char *at = b->bytes + b->used;
    memset(at, 0, size);
    b->used += size;
    return at;
}

static void file_put(file_writer *w, const void *bytes, size_t size)
{
    if (!w->code && size)
        w->code = w->out->write(w->out, bytes, size);
}

static void file_section(file_writer *w, const char *kind, uint32_t item_size,
                         uint64_t first, uint32_t count, file_buffer *a,
                         file_buffer *b)
{
    char header[GNOMON__SECTION_HEADER] = {0};
    static const char zeroes[8];
    uint64_t bytes = a->used + b->used;
    uint32_t crc = gnomon__crc32(0, a->bytes, a->used);
    crc = gnomon__crc32(crc, b->bytes, b->used);
    memcpy(header, kind, 4);
    gnomon__put_32(header + 4, item_size);
    gnomon__put_64(header + 8, bytes);
    gnomon__put_64(header + 16, first);
    gnomon__put_32(header + 24, count);
    gnomon__put_32(header + 28, crc);
    gnomon__put_32(header + 36, gnomon__crc32(0, header, 36));
    file_put(w, header, sizeof header);
    file_put(w, a->bytes, a->used);
    file_put(w, b->bytes, b->used);
    file_put(w, zeroes, (size_t)(-bytes & 7));
    a->used = b->used = 0;
}

/* ---- Texts ------------------------------------------------------------------- */

static uint32_t file_text_at(file_writer *w, const char *text)
{
    if (!text)
        return 0;
    uint32_t known = gnomon__text_find(&w->shared, text);
    if (!known && w->set != &w->shared)
        known = gnomon__text_find(w->set, text);
    if (known)
        return known;
    size_t n = strlen(text) + 1;
    uint64_t at = w->texts_written + w->texts.used;
    if (at + n >= UINT32_MAX) {
        w->code =
            gnomon__fail(GNOMON_EFULL, "more than 4 GiB of texts in one file");
        return 0;
    }
    char *copy = file_room(w, &w->texts, n);
    if (!copy)
        return 0;
    memcpy(copy, text, n);
    w->code = gnomon__text_add(w->set, text, (uint32_t)at + 1);
    return (uint32_t)at + 1;
}

/* An entity's number in the file. */
static uint32_t file_number(const file_writer *w, int entity, uint32_t number)
{
    return number ? number + w->shift[entity] : 0;
}

/* ---- What records point to ------------------------------------------------------ */

/* 1 + where the next bytes will lie behind the records; 0 is nowhere. */
static uint32_t tail_at(const file_writer *w)
{
    return (uint32_t)w->tail.used + 1;
}

static uint32_t file_stats(file_writer *w, const gnomon_stats *s)
{
    if (!s)
        return 0;
    uint32_t where = tail_at(w);
    char *at = file_room(w, &w->tail, 48 + 8 * s->cell_count);
    if (!at)
        return 0;
    gnomon__put_64(at, s->count);
    gnomon__put_64(at + 8, s->total_ns);
    gnomon__put_64(at + 16, s->self_ns);
    gnomon__put_64(at + 24, s->min_ns);
    gnomon__put_64(at + 32, s->max_ns);
    gnomon__put_64(at + 40, s->cell_count);
    for (size_t i = 0; i < s->cell_count; i++)
        gnomon__put_64(at + 48 + 8 * i,
                       (uint64_t)s->cells[i].cell << 54 |
                           (s->cells[i].count & ((1ull << 54) - 1)));
    return where;
}

static uint32_t file_memory(file_writer *w, const gnomon_node_info *n)
{
    uint32_t where = tail_at(w);
    if (!n->memory_count)
        return 0;
    char *at = file_room(w, &w->tail, 56 * n->memory_count);
    for (size_t i = 0; at && i < n->memory_count; i++, at += 56) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        gnomon__put_64(at, file_number(w, GNOMON_TRACKS, m->pool));
        gnomon__put_64(at + 8, m->allocations);
        gnomon__put_64(at + 16, m->frees);
        gnomon__put_64(at + 24, m->allocated_bytes);
        gnomon__put_64(at + 32, m->freed_bytes);
        gnomon__put_64(at + 40, (uint64_t)m->live_bytes);
        gnomon__put_64(at + 48, m->peak_bytes);
    }
    return where;
}

static uint32_t file_work(file_writer *w, const gnomon_work_stats *work)
{
    uint32_t where = tail_at(w);
    char *at = work ? file_room(w, &w->tail, 16) : NULL;
    if (!at)
        return 0;
    gnomon__put_64(at, work->flops);
    gnomon__put_64(at + 8, work->bytes);
    return where;
}

static uint32_t file_inputs(file_writer *w, const gnomon_op_info *op)
{
    uint32_t where = tail_at(w);
    for (size_t i = 0; op->inputs && i < op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(op, i);
        uint32_t dtype = file_text_at(w, t->dtype);
        size_t lists = t->strides ? 2 : 1;
        char *at = file_room(w, &w->tail, 16 + 8 * lists * t->rank);
        if (!at)
            return 0;
        gnomon__put_32(at, dtype);
        gnomon__put_32(at + 4, t->rank);
        gnomon__put_32(at + 8, t->strides != NULL);
        for (uint32_t d = 0; d < t->rank; d++) {
            gnomon__put_64(at + 16 + 8 * (size_t)d, (uint64_t)t->dims[d]);
            if (t->strides)
                gnomon__put_64(at + 16 + 8 * ((size_t)t->rank + d),
                               (uint64_t)t->strides[d]);
        }
    }
    return op->input_count ? where : 0;
}

static uint32_t file_attributes(file_writer *w, const gnomon_op_info *op)
{
    uint32_t where = tail_at(w);
    for (size_t i = 0; i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        uint32_t key = file_text_at(w, a->key);
        uint32_t json = file_text_at(w, a->json);
        char *at = file_room(w, &w->tail, 8);
        if (!at)
            return 0;
        gnomon__put_32(at, key);
        gnomon__put_32(at + 4, json);
    }
    return op->attribute_count ? where : 0;
}

/* ---- Records --------------------------------------------------------------------- */

static void file_field(file_writer *w, char *at, unsigned type,
                       const void *info, const char *field)
{
    uint32_t small;
    uint64_t large;
    const void *pointer;
    switch (type) {
    case GNOMON__FIELD_64:
        memcpy(&large, field, sizeof large);
        gnomon__put_64(at, large);
        return;
    case GNOMON__FIELD_TEXT:
    case GNOMON__FIELD_MAYBE:
        memcpy(&pointer, field, sizeof pointer);
        gnomon__put_32(at, file_text_at(w, pointer));
        return;
    case GNOMON__FIELD_STATS:
        memcpy(&pointer, field, sizeof pointer);
        gnomon__put_32(at, file_stats(w, pointer));
        return;
    case GNOMON__FIELD_MEMORY:
        gnomon__put_32(at, file_memory(w, info));
        gnomon__put_32(
            at + 4, (uint32_t)((const gnomon_node_info *)info)->memory_count);
        return;
    case GNOMON__FIELD_WORK:
        memcpy(&pointer, field, sizeof pointer);
        gnomon__put_32(at, file_work(w, pointer));
        return;
    case GNOMON__FIELD_INPUTS:
        gnomon__put_32(at, file_inputs(w, info));
        gnomon__put_32(at + 4,
                       (uint32_t)((const gnomon_op_info *)info)->input_count);
        return;
    case GNOMON__FIELD_ATTRIBUTES:
        gnomon__put_32(at, file_attributes(w, info));
        gnomon__put_32(
            at + 4, (uint32_t)((const gnomon_op_info *)info)->attribute_count);
        return;
    case GNOMON__FIELD_32:
        memcpy(&small, field, sizeof small);
        gnomon__put_32(at, small);
        return;
    default: /* a number */
        memcpy(&small, field, sizeof small);
        gnomon__put_32(
            at, file_number(w, (int)(type - GNOMON__FIELD_NUMBER), small));
    }
}

/* Which is a track's number in facts of memory, else a region's. */
static void shift_event_region(const file_writer *w, void *info)
{
    gnomon_event_info *e = info;
    if (e->kind == GNOMON_EVENT_MEMORY)
        e->region = file_number(w, GNOMON_TRACKS, e->region);
}

static void end_section(file_writer *w, const gnomon__layout *l)
{
    file_buffer none = {0};
    if (w->texts.used) {
        uint64_t bytes = w->texts.used;
        file_section(w, "TEXT", 1, w->texts_written, (uint32_t)bytes, &w->texts,
                     &none);
        w->texts_written += bytes;
    }
    if (w->count)
        file_section(w, l->kind, gnomon__record_size(l), w->first, w->count,
                     &w->records, &w->tail);
    w->first += w->count;
    w->count = 0;
}

static void file_entities(file_writer *w, const gnomon__layout *l,
                          gnomon__file_range some)
{
    uint64_t info[16]; /* of any entity */
    unsigned size = gnomon__record_size(l);
    w->first = w->written[l->entity] + 1;
    if (w->written[l->entity] + some.count > UINT32_MAX)
        w->code = gnomon__fail(GNOMON_EFULL,
                               "more than 4294967295 of a kind in one file");
    for (size_t i = 0; !w->code && i < some.count; i++) {
        uint32_t given = sizeof info;
        memcpy(info, &given, sizeof given);
        w->p->api->get(w->p, l->entity, some.first + i, info);
        if (l->entity == GNOMON_EVENTS)
            shift_event_region(w, info);
        char *at = file_room(w, &w->records, size);
        for (unsigned k = 0; at && !w->code && k < l->field_count; k++) {
            const gnomon__field *f = &l->fields[k];
            file_field(w, at, f->type, info, (const char *)info + f->at);
            at += gnomon__field_size(f->type);
        }
        w->count++;
        if (w->records.used + w->tail.used >= FULL_SECTION)
            end_section(w, l);
    }
    end_section(w, l);
    w->written[l->entity] += some.count;
}

/* How many there are of each kind: what a reader misses when it finds less. */
static void file_end(file_writer *w)
{
    file_buffer none = {0};
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        const gnomon__layout *l = &gnomon__layouts[gnomon__layout_order[i]];
        char *at = file_room(w, &w->records, 16);
        if (!at)
            return;
        memcpy(at, l->kind, 4);
        gnomon__put_64(at + 8, w->written[l->entity]);
    }
    file_section(w, "END ", 16, 1, GNOMON__ENTITIES, &w->records, &none);
}

/* ---- The file ---------------------------------------------------------------- */

void gnomon__file_start(gnomon__file_writer *w, const gnomon_writer *out)
{
    char header[GNOMON__FILE_HEADER];
    memset(w, 0, sizeof *w);
    w->out = out;
    w->set = &w->shared;
    memcpy(header, GNOMON__FILE_MAGIC, 8);
    gnomon__put_32(header + 8, GNOMON__FILE_VERSION);
    gnomon__put_32(header + 12, gnomon__crc32(0, header, 12));
    file_put(w, header, sizeof header);
}

void gnomon__file_shared(gnomon__file_writer *w, const gnomon_profile *p)
{
    w->p = p;
    for (int i = 0; !w->code && i < GNOMON__SHARED_LAYOUTS; i++) {
        const gnomon__layout *l = &gnomon__layouts[gnomon__layout_order[i]];
        gnomon__file_range all = {1, gnomon_profile_count(p, l->entity)};
        file_entities(w, l, all);
    }
}

void gnomon__file_runs(gnomon__file_writer *w, const gnomon_profile *p,
                       const gnomon__file_range *ranges)
{
    gnomon__file_range all[GNOMON__ENTITIES];
    w->p = p;
    w->set = &w->own;
    gnomon__text_clear(&w->own);
    for (int k = 0; !ranges && k < GNOMON__ENTITIES; k++)
        all[k] = (gnomon__file_range){1, gnomon_profile_count(p, k)};
    ranges = ranges ? ranges : all;
    for (int i = GNOMON__SHARED_LAYOUTS; i < GNOMON__ENTITIES; i++) {
        int k = gnomon__layout_order[i];
        w->shift[k] = (uint32_t)(w->written[k] - (ranges[k].first - 1));
    }
    for (int i = GNOMON__SHARED_LAYOUTS; !w->code && i < GNOMON__ENTITIES; i++)
        file_entities(w, &gnomon__layouts[gnomon__layout_order[i]],
                      ranges[gnomon__layout_order[i]]);
}

int gnomon__file_finish(gnomon__file_writer *w)
{
    if (!w->code)
        file_end(w);
    gnomon__free(w->records.bytes);
    gnomon__free(w->tail.bytes);
    gnomon__free(w->texts.bytes);
    gnomon__text_free(&w->shared);
    gnomon__text_free(&w->own);
    return w->code;
}
