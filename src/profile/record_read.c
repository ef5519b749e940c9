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
#include "profile/fields.h"
#include "profile/layout.h"

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
        return GNOMON_OK; /* references to its texts read as "(lost)" */
    char *copy = gnomon__model_room(r->m, (size_t)s->bytes);
    if (!copy || !gnomon__grow(&r->texts, &r->text_room, r->text_count + 1,
                               sizeof *r->texts))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    memcpy(copy, s->payload, (size_t)s->bytes);
    r->texts[r->text_count++] = (gnomon__read_texts){s->first, s->bytes, copy};
    return GNOMON_OK;
}

/* NULL: there is none. */
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
    return NULL;
}

/* ---- What records point to -------------------------------------------------- */

/* Room for `count` items of `size`, which have `bytes` each in the tail. Each byte of the
 * tail pays for one item, so that a file which refers to the same bytes again and again
 * cannot take more memory than its size allows. */
static void *record_room(gnomon__record_reader *r, size_t count, size_t size,
                         uint32_t bytes)
{
    if (count > r->tail_left / bytes)
        return NULL;
    void *room = gnomon__model_room(r->m, count * size);
    r->tail_left -= count * bytes;
    r->no_memory |= !room;
    return room;
}

/* `count` items of `size` behind the records; NULL: they are not there. */
static const char *behind(const gnomon__record_reader *r, uint64_t where,
                          uint64_t count, uint64_t size)
{
    uint64_t records = (uint64_t)r->s->count * r->s->item_size;
    uint64_t left = r->s->bytes - records;
    if (!where || where - 1 > left || count > (left - (where - 1)) / size)
        return NULL;
    return r->s->payload + records + (where - 1);
}

static void *read_cells(gnomon__record_reader *r, uint32_t where,
                        uint32_t count)
{
    const char *at = behind(r, where, count, 8);
    gnomon_cell *cells = at ? record_room(r, count, sizeof *cells, 8) : NULL;
    for (uint32_t i = 0; cells && i < count; i++) {
        uint64_t packed = gnomon__get_64(at + 8 * (size_t)i);
        cells[i] = (gnomon_cell){(uint32_t)(packed >> 54), 0,
                                 packed & ((1ull << 54) - 1)};
    }
    return cells;
}

static void *read_sizes(gnomon__record_reader *r, uint32_t where,
                        uint32_t count)
{
    const char *at = behind(r, where, count, 8);
    int64_t *sizes = at ? record_room(r, count, sizeof *sizes, 8) : NULL;
    for (uint32_t i = 0; sizes && i < count; i++)
        sizes[i] = (int64_t)gnomon__get_64(at + 8 * (size_t)i);
    return sizes;
}

static void read_fields(gnomon__record_reader *r, const gnomon__struct *s,
                        const char *at, uint32_t left, void *to);

/* The bytes of the struct that lies there; 0: none that has at least `least`. */
static uint32_t struct_bytes(const gnomon__record_reader *r, uint64_t where,
                             uint32_t least)
{
    const char *at = behind(r, where, 1, GNOMON__PART_HEADER);
    uint32_t size = at ? gnomon__get_32(at) : 0;
    return size >= least && behind(r, where, 1, size) ? size : 0;
}

/* As many structs of a list as are there, one behind the other; each has at least
 * the fields of the first release. */
static void *read_structs(gnomon__record_reader *r, const gnomon__struct *s,
                          uint64_t where, uint32_t *count)
{
    const uint32_t least =
        GNOMON__PART_HEADER + gnomon__record_bytes(s, s->first_count);
    const uint64_t most = r->tail_left / least;
    uint32_t n = 0, size;
    for (uint64_t at = where;
         n < *count && n < most && (size = struct_bytes(r, at, least)) != 0;
         n++)
        at += size;
    char *list = n ? record_room(r, n, s->size, least) : NULL;
    *count = n;
    for (uint32_t i = 0; list && i < n; i++) {
        char *to = list + (size_t)i * s->size;
        const uint32_t struct_size = s->size;
        const char *at = behind(r, where, 1, GNOMON__PART_HEADER);
        size = gnomon__get_32(at);
        memcpy(to, &struct_size, sizeof struct_size);
        read_fields(r, s, at + GNOMON__PART_HEADER, size - GNOMON__PART_HEADER,
                    to);
        where += size;
    }
    return list;
}

/* ---- Records --------------------------------------------------------------------- */

/* A number of the file as one of the part; UINT32_MAX: it is in an earlier part. */
static uint32_t read_number(const gnomon__record_reader *r, int entity,
                            uint32_t number)
{
    if (!number)
        return 0;
    return number > r->before[entity] ? number - r->before[entity] : UINT32_MAX;
}

static void add_dangling(gnomon__record_reader *r, const gnomon__field *f)
{
    gnomon__dangling_add(r->dangling, r->entity, r->number, f, 0);
}

static const char *read_text_of(gnomon__record_reader *r,
                                const gnomon__field *f, uint32_t at)
{
    if (!at && f->type == GNOMON__TYPE_MAYBE)
        return NULL;
    const char *text = read_text(r, at);
    if (!text) {
        add_dangling(r, f);
        text = LOST;
    }
    return f->type == GNOMON__TYPE_JSON &&
                   !gnomon__json_valid(text, strlen(text))
               ? "null"
               : text;
}

/* Reads one struct or a list; if it cannot be read, the reference is dangling. */
static void read_list(gnomon__record_reader *r, const gnomon__field *f,
                      const char *at, void *of)
{
    uint32_t where = gnomon__get_32(at), count = 1;
    const void *list = NULL;
    if (gnomon__field_bytes(f) == 8)
        count = gnomon__get_32(at + 4);
    else if (f->type == GNOMON__TYPE_STRIDES)
        memcpy(&count, (const char *)of + f->count_at, sizeof count);
    if (!where || !count)
        return;
    if (f->type == GNOMON__TYPE_CELLS)
        list = read_cells(r, where, count);
    else if (f->type >= GNOMON__TYPE_DIMS)
        list = read_sizes(r, where, count);
    else
        list = read_structs(r, &gnomon__structs[f->of], where, &count);
    if (!list)
        add_dangling(r, f);
    gnomon__field_set(f, of, &list, sizeof list);
    if (list && gnomon__field_bytes(f) == 8)
        gnomon__field_count_set(f, of, count);
}

static void read_field(gnomon__record_reader *r, const gnomon__field *f,
                       const char *at, void *of)
{
    if (f->type < GNOMON__TYPE_U64) {
        uint32_t small = gnomon__get_32(at);
        if (f->type == GNOMON__TYPE_NUMBER)
            small = read_number(r, gnomon__number_of(f, of), small);
        gnomon__field_set(f, of, &small, sizeof small);
    } else if (f->type < GNOMON__TYPE_TEXT) {
        uint64_t large = gnomon__get_64(at);
        gnomon__field_set(f, of, &large, sizeof large);
    } else if (f->type < GNOMON__TYPE_STRUCT) {
        const char *text = read_text_of(r, f, gnomon__get_32(at));
        gnomon__field_set(f, of, &text, sizeof text);
    } else {
        read_list(r, f, at, of);
    }
}

/* From `left` bytes at `at`; fields that an older gnomon did not write are zero. */
static void read_fields(gnomon__record_reader *r, const gnomon__struct *s,
                        const char *at, uint32_t left, void *to)
{
    for (const gnomon__field *f = s->fields, *end = f + s->field_count; f < end;
         f++) {
        uint32_t bytes = gnomon__field_bytes(f);
        const char *none = f->type == GNOMON__TYPE_JSON ? "null" : "";
        if (left >= bytes) {
            read_field(r, f, at, to);
            at += bytes;
            left -= bytes;
            continue;
        }
        left = 0;
        if (f->type == GNOMON__TYPE_TEXT || f->type == GNOMON__TYPE_JSON)
            gnomon__field_set(f, to, &none, sizeof none);
    }
}

void gnomon__record_read(gnomon__record_reader *r, int entity, uint32_t i,
                         void *to)
{
    const char *at = r->s->payload + (size_t)i * r->s->item_size;
    r->entity = entity;
    r->number = r->s->first + i;
    read_fields(r, &gnomon__structs[entity], at, r->s->item_size, to);
}

void gnomon__texts_free(gnomon__record_reader *r)
{
    gnomon__free(r->texts);
    r->texts = NULL;
}
