/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of a section as entities, and what they point to. Every place in the
 * payload is looked at before it is read. */
#include "profile/record_read.h"

#include <string.h>

#include "platform/error.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "profile/bytes.h"

#define LOST "(lost)"

/* ---- Texts ------------------------------------------------------------------- */

int gnomon__texts_keep(gnomon__record_reader *r)
{
    const gnomon__section *s = r->s;
    const gnomon__read_texts *last =
        r->text_count ? &r->texts[r->text_count - 1] : NULL;
    if (!s->bytes || s->payload[s->bytes - 1] ||
        !gnomon__utf8_valid(s->payload, (size_t)s->bytes) ||
        (last && s->first < last->first + last->bytes))
        return GNOMON_OK; /* names what is in it as lost */
    if (r->text_count == r->text_room) {
        size_t room = r->text_room ? 2 * r->text_room : 16;
        gnomon__read_texts *texts =
            gnomon__realloc(r->texts, room * sizeof *texts);
        if (!texts)
            return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
        r->texts = texts;
        r->text_room = room;
    }
    char *copy = gnomon__model_room(r->m, (size_t)s->bytes);
    if (!copy)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    memcpy(copy, s->payload, (size_t)s->bytes);
    r->texts[r->text_count++] = (gnomon__read_texts){s->first, s->bytes, copy};
    return GNOMON_OK;
}

static const char *read_text(const gnomon__record_reader *r, uint32_t at)
{
    size_t low = 0, high = r->text_count;
    if (at-- == 0)
        return "";
    while (low < high) {
        size_t middle = (low + high) / 2;
        const gnomon__read_texts *t = &r->texts[middle];
        if (at < t->first)
            high = middle;
        else if (at >= t->first + t->bytes)
            low = middle + 1;
        else if (at > t->first && t->text[at - t->first - 1])
            break; /* no text begins there */
        else
            return t->text + (at - t->first);
    }
    return LOST;
}

/* ---- What records point to ------------------------------------------------------ */

static void *record_sized(gnomon__record_reader *r, size_t size)
{
    void *room = gnomon__model_sized(r->m, size);
    r->no_memory |= !room;
    return room;
}

static void *record_room(gnomon__record_reader *r, size_t bytes)
{
    void *room = gnomon__model_room(r->m, bytes);
    r->no_memory |= !room;
    return room;
}

/* `count` items of `size` behind the records; NULL: they are not there. */
static const char *behind(const gnomon__record_reader *r, uint32_t where,
                          uint64_t count, uint64_t size)
{
    uint64_t records = (uint64_t)r->s->count * r->s->item_size;
    uint64_t left = r->s->bytes - records;
    if (!where || where - 1u > left || count > (left - (where - 1u)) / size)
        return NULL;
    return r->s->payload + records + (where - 1u);
}

static int read_stats(gnomon__record_reader *r, uint32_t where,
                      gnomon_stats *out)
{
    const char *at = behind(r, where, 1, 48);
    if (!at)
        return 0;
    uint64_t cells = gnomon__get_64(at + 40);
    if (!behind(r, where + 48, cells, 8) && cells)
        return 0;
    gnomon_cell *cell = NULL;
    if (cells && !(cell = record_room(r, (size_t)cells * sizeof *cell)))
        return 0;
    out->count = gnomon__get_64(at);
    out->total_ns = gnomon__get_64(at + 8);
    out->self_ns = gnomon__get_64(at + 16);
    out->min_ns = gnomon__get_64(at + 24);
    out->max_ns = gnomon__get_64(at + 32);
    out->cells = cell;
    out->cell_count = (size_t)cells;
    for (size_t i = 0; i < cells; i++) {
        uint64_t packed = gnomon__get_64(at + 48 + 8 * i);
        cell[i].cell = (uint32_t)(packed >> 54);
        cell[i].count = packed & ((1ull << 54) - 1);
    }
    return 1;
}

static const void *read_pointer(gnomon__record_reader *r, unsigned type,
                                uint32_t where)
{
    if (type == GNOMON__FIELD_STATS) {
        gnomon_stats *s = record_sized(r, sizeof *s);
        return s && read_stats(r, where, s) ? s : NULL;
    }
    const char *at = behind(r, where, 1, 16);
    gnomon_work_stats *w = at ? record_sized(r, sizeof *w) : NULL;
    if (w) {
        w->flops = gnomon__get_64(at);
        w->bytes = gnomon__get_64(at + 8);
    }
    return w;
}

/* A number of the file as one of the part; what is not in it is nowhere. */
static uint32_t read_number(const gnomon__record_reader *r, int entity,
                            uint32_t number)
{
    if (!number)
        return 0;
    return number > r->before[entity] ? number - r->before[entity] : UINT32_MAX;
}

static void read_memory(gnomon__record_reader *r, gnomon_node_info *n,
                        uint32_t where, uint32_t count)
{
    const char *at = behind(r, where, count, 56);
    gnomon_memory_stats *m =
        at && count ? record_room(r, count * sizeof *m) : NULL;
    if (!m)
        return;
    n->memory = m;
    n->memory_count = count;
    for (; count; count--, at += 56, m++) {
        m->struct_size = sizeof *m;
        m->pool = read_number(r, GNOMON_TRACKS, gnomon__get_32(at));
        m->allocations = gnomon__get_64(at + 8);
        m->frees = gnomon__get_64(at + 16);
        m->allocated_bytes = gnomon__get_64(at + 24);
        m->freed_bytes = gnomon__get_64(at + 32);
        m->live_bytes = (int64_t)gnomon__get_64(at + 40);
        m->peak_bytes = gnomon__get_64(at + 48);
    }
}

static const int64_t *read_list(gnomon__record_reader *r, uint32_t where,
                                uint32_t count)
{
    const char *at = behind(r, where, count, 8);
    int64_t *list = at && count ? record_room(r, count * sizeof *list) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = (int64_t)gnomon__get_64(at + 8 * (size_t)i);
    return list;
}

static void read_inputs(gnomon__record_reader *r, gnomon_op_info *op,
                        uint32_t where, uint32_t count)
{
    /* At least 16 bytes each: so many that are not there are not allocated. */
    gnomon_tensor *t = count && behind(r, where, count, 16)
                           ? record_room(r, count * sizeof *t)
                           : NULL;
    op->inputs = t;
    for (; t && count; count--, t++) {
        const char *at = behind(r, where, 1, 16);
        if (!at)
            return;
        uint32_t rank = gnomon__get_32(at + 4);
        uint32_t has_strides = gnomon__get_32(at + 8);
        t->struct_size = sizeof *t;
        t->dtype = read_text(r, gnomon__get_32(at));
        t->dims = read_list(r, where + 16, rank);
        t->rank = t->dims ? rank : 0;
        where += 16 + 8 * t->rank;
        if (has_strides && t->rank) {
            t->strides = read_list(r, where, rank);
            where += 8 * t->rank;
        }
        op->input_count++;
    }
}

const char *gnomon__valid_json(const char *json)
{
    return gnomon__json_valid(json, strlen(json)) ? json : "null";
}

static void read_attributes(gnomon__record_reader *r, gnomon_op_info *op,
                            uint32_t where, uint32_t count)
{
    const char *at = behind(r, where, count, 8);
    gnomon_attribute *a =
        at && count ? record_room(r, count * sizeof *a) : NULL;
    op->attributes = a;
    for (; a && count; count--, a++, at += 8) {
        a->struct_size = sizeof *a;
        a->key = read_text(r, gnomon__get_32(at));
        a->json = read_text(r, gnomon__get_32(at + 4));
        a->json = gnomon__valid_json(a->json);
        op->attribute_count++;
    }
}

/* ---- Records --------------------------------------------------------------------- */

static void read_field(gnomon__record_reader *r, unsigned type, const char *at,
                       void *info, char *field)
{
    uint32_t small = gnomon__get_32(at);
    uint32_t next = gnomon__field_size(type) == 8 ? gnomon__get_32(at + 4) : 0;
    uint64_t large = small | (uint64_t)next << 32;
    const void *pointer;
    switch (type) {
    case GNOMON__FIELD_64:
        memcpy(field, &large, sizeof large);
        return;
    case GNOMON__FIELD_TEXT:
    case GNOMON__FIELD_MAYBE:
        pointer = read_text(r, small);
        if (!small && type == GNOMON__FIELD_MAYBE)
            pointer = NULL;
        memcpy(field, &pointer, sizeof pointer);
        return;
    case GNOMON__FIELD_STATS:
    case GNOMON__FIELD_WORK:
        pointer = small ? read_pointer(r, type, small) : NULL;
        memcpy(field, &pointer, sizeof pointer);
        return;
    case GNOMON__FIELD_MEMORY:
        read_memory(r, info, small, next);
        return;
    case GNOMON__FIELD_INPUTS:
        read_inputs(r, info, small, next);
        return;
    case GNOMON__FIELD_ATTRIBUTES:
        read_attributes(r, info, small, next);
        return;
    case GNOMON__FIELD_32:
        memcpy(field, &small, sizeof small);
        return;
    default:
        small = read_number(r, (int)type - GNOMON__FIELD_NUMBER, small);
        memcpy(field, &small, sizeof small);
    }
}

void gnomon__record_read(gnomon__record_reader *r, const gnomon__layout *l,
                         const char *at, void *info)
{
    static const char *const none = "";
    uint32_t left = r->s->item_size;
    for (unsigned i = 0; i < l->field_count; i++) {
        const gnomon__field *f = &l->fields[i];
        unsigned size = gnomon__field_size(f->type);
        if (left < size) { /* of an older gnomon: what is missing is zero */
            left = 0;
            if (f->type == GNOMON__FIELD_TEXT)
                memcpy((char *)info + f->at, &none, sizeof none);
            continue;
        }
        read_field(r, f->type, at, info, (char *)info + f->at);
        at += size;
        left -= size;
    }
    gnomon_event_info *e = info;
    if (l->entity == GNOMON_EVENTS && e->kind == GNOMON_EVENT_MEMORY)
        e->region = read_number(r, GNOMON_TRACKS, e->region);
}

void gnomon__texts_free(gnomon__record_reader *r)
{
    gnomon__free(r->texts);
    r->texts = NULL;
}
