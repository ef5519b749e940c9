/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A .gnomon file as a profile: records of its sections as entities, and what they point to.
 * Every place in a payload is looked at before it is read.
 *
 * Entities are numbered over the whole file. A lost one keeps its number: a stand-in
 * marked as lost replaces it, so that references to it stay valid. Invariant: for any
 * bytes the result passes gnomon_profile_check or is an error. */
#include "profile/file_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "platform/os.h"
#include "platform/utf8.h"
#include "profile/event_blocks.h"
#include "profile/fields.h"
#include "profile/fold.h"
#include "profile/layout.h"
#include "profile/model.h"
#include "profile/repair.h"

typedef struct read_texts {
    uint64_t first, bytes;
    const char *text; /* UTF-8, the model's; ends with a NUL */
} read_texts;

typedef struct record_reader {
    gnomon__model *m;
    read_texts *texts; /* ascending */
    size_t text_count, text_room;
    const gnomon__section *s;          /* the current one */
    uint32_t before[GNOMON__ENTITIES]; /* numbers of a kind begin above it */
    uint64_t
        tail_left; /* bytes of its tail that are not used up: record_room */
    int no_memory; /* for what a record pointed to */
    gnomon__dangling *dangling;
    int entity;      /* of the current record, */
    uint64_t number; /* and its number in the file */
} record_reader;

#define LOST "(lost)"

/* ---- Texts ------------------------------------------------------------------- */

/* Keeps the texts of the current section. */
static int keep_texts(record_reader *r)
{
    const gnomon__section *s = r->s;
    const read_texts *last =
        r->text_count ? &r->texts[r->text_count - 1] : NULL;
    if (!s->bytes || s->payload[s->bytes - 1] ||
        !gnomon__utf8_valid(s->payload, (size_t)s->bytes) ||
        (last && s->first < last->first + last->bytes))
        return GNOMON_OK; /* references to its texts read as "(lost)" */
    char *copy = gnomon__model_room(r->m, (size_t)s->bytes);
    if (!copy || !GNOMON__ADD(r->texts, r->text_room, r->text_count,
                              (read_texts){s->first, s->bytes, copy}))
        return gnomon__no_memory_to_read();
    memcpy(copy, s->payload, (size_t)s->bytes);
    return GNOMON_OK;
}

/* NULL: there is none. */
static const char *read_text(const record_reader *r, uint32_t at)
{
    size_t low = 0, high = r->text_count;
    if (at-- == 0)
        return "";
    GNOMON__SEARCH(low, high, i, r->texts[i].first + r->texts[i].bytes <= at)
    const read_texts *t = low < r->text_count ? &r->texts[low] : NULL;
    if (!t || at < t->first || (at > t->first && t->text[at - t->first - 1]))
        return NULL; /* no text begins there */
    return t->text + (at - t->first);
}

/* ---- What records point to -------------------------------------------------- */

/* Room for `count` items of `size`, which have `bytes` each in the tail. Each byte of the
 * tail pays for one item, so that a file which refers to the same bytes again and again
 * cannot take more memory than its size allows. */
static void *record_room(record_reader *r, size_t count, size_t size,
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
static const char *behind(const record_reader *r, uint64_t where,
                          uint64_t count, uint64_t size)
{
    uint64_t records = (uint64_t)r->s->count * r->s->item_size;
    uint64_t left = r->s->bytes - records;
    if (!where || where - 1 > left || count > (left - (where - 1)) / size)
        return NULL;
    return r->s->payload + records + (where - 1);
}

/* Cells, which have eight bytes here, or sizes. */
static void *read_words(record_reader *r, int has_cells, uint32_t where,
                        uint32_t count)
{
    const char *at = behind(r, where, count, 8);
    const size_t size = has_cells ? sizeof(gnomon_cell) : sizeof(int64_t);
    void *list = at ? record_room(r, count, size, 8) : NULL;
    gnomon_cell *cells = list;
    int64_t *sizes = list;
    for (uint32_t i = 0; list && i < count; i++, at += 8) {
        const uint64_t word = gnomon__get_64(at);
        if (has_cells)
            cells[i] = (gnomon_cell){(uint32_t)(word >> 54), 0,
                                     word & ((1ull << 54) - 1)};
        else
            sizes[i] = (int64_t)word;
    }
    return list;
}

static void read_fields(record_reader *r, const gnomon__struct *s,
                        const char *at, uint32_t left, void *to);

/* The bytes of the struct that lies there; 0: none that has at least `least`. */
static uint32_t struct_bytes(const record_reader *r, uint64_t where,
                             uint32_t least)
{
    const char *at = behind(r, where, 1, GNOMON__PART_HEADER);
    uint32_t size = at ? gnomon__get_32(at) : 0;
    return size >= least && behind(r, where, 1, size) ? size : 0;
}

/* As many structs of a list as are there, one behind the other; each has at least
 * the fields of the first release. */
static void *read_structs(record_reader *r, const gnomon__struct *s,
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
static uint32_t read_number(const record_reader *r, int entity, uint32_t number)
{
    if (!number)
        return 0;
    return number > r->before[entity] ? number - r->before[entity] : UINT32_MAX;
}

static void add_dangling(record_reader *r, const gnomon__field *f)
{
    gnomon__dangling_add(r->dangling, r->entity, r->number, f, 0);
}

static const char *read_text_of(record_reader *r, const gnomon__field *f,
                                uint32_t at)
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
static void read_list(record_reader *r, const gnomon__field *f, const char *at,
                      void *of)
{
    uint32_t where = gnomon__get_32(at), count = 1;
    const void *list = NULL;
    if (gnomon__field_bytes(f) == 8)
        count = gnomon__get_32(at + 4);
    else if (f->type == GNOMON__TYPE_STRIDES)
        memcpy(&count, (const char *)of + f->count_at, sizeof count);
    if (!where || !count)
        return;
    if (f->type >= GNOMON__TYPE_CELLS)
        list = read_words(r, f->type == GNOMON__TYPE_CELLS, where, count);
    else
        list = read_structs(r, &gnomon__structs[f->of], where, &count);
    if (!list)
        add_dangling(r, f);
    gnomon__field_set(f, of, &list, sizeof list);
    if (list && gnomon__field_bytes(f) == 8)
        gnomon__field_count_set(f, of, count);
}

static void read_field(record_reader *r, const gnomon__field *f, const char *at,
                       void *of)
{
    if (f->type == GNOMON__TYPE_NUMBER) {
        const uint32_t number =
            read_number(r, gnomon__number_of(f, of), gnomon__get_32(at));
        gnomon__field_set(f, of, &number, sizeof number);
    } else if (f->type < GNOMON__TYPE_TEXT) {
        gnomon__field_get(f, at, of);
    } else if (f->type < GNOMON__TYPE_STRUCT) {
        const char *text = read_text_of(r, f, gnomon__get_32(at));
        gnomon__field_set(f, of, &text, sizeof text);
    } else {
        read_list(r, f, at, of);
    }
}

/* From `left` bytes at `at`; fields that an older gnomon did not write are zero. */
static void read_fields(record_reader *r, const gnomon__struct *s,
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

/* Fills `to`, zeroes but for its struct_size, from record i of the section at hand,
 * from 0. What is not there is left out, and counted as dangling: a text is
 * then "(lost)", a block absent. */
static void read_record(record_reader *r, int entity, uint32_t i, void *to)
{
    const char *at = r->s->payload + (size_t)i * r->s->item_size;
    r->entity = entity;
    r->number = r->s->first + i;
    read_fields(r, &gnomon__structs[entity], at, r->s->item_size, to);
}

static void free_read_texts(record_reader *r)
{
    gnomon__free(r->texts);
    r->texts = NULL;
}

/* ---- Sections of entities ------------------------------------------------------ */

#define MAX_UNKNOWN 8

typedef struct file_reader {
    record_reader records;
    gnomon__sections sections;
    uint64_t lost[GNOMON__ENTITIES];
    uint64_t credible; /* how many more may be lost of a file of this size */
    uint64_t events;   /* how many of the part's events were read or lost */
    gnomon__event_blocks *blocks; /* those of them that are in blocks */
    char unknown[MAX_UNKNOWN][5];
    uint32_t unknown_count;
    uint32_t kinds; /* bits: what is asked for */
    gnomon__dangling dangling;
    uint64_t shared_unread; /* bytes of the sections that all parts share */
    int reports_shared;     /* only the first part reports their losses */
    int has_end;            /* an END section, with none after it */
    uint32_t ends;
    size_t open_end[2]; /* of the opens of the last part, and the one before */
} file_reader;

static void *add_entity(file_reader *r, int entity)
{
    void *item = gnomon__model_add(r->records.m, entity);
    if (!item)
        (void)gnomon__no_memory_to_read();
    return item;
}

static int more_is_lost(void)
{
    return gnomon__fail(GNOMON_EINVAL, "more is lost than the file can have "
                                       "had");
}

/* Adds a stand-in for a lost entity, which is repaired later. */
static int add_stand_in(file_reader *r, int entity)
{
    if (!add_entity(r, entity))
        return GNOMON_ENOMEM;
    r->lost[entity]++;
    return r->credible-- ? GNOMON_OK : more_is_lost();
}

/* An entity as its record says. */
static int add_record(file_reader *r, int entity, uint32_t i)
{
    void *item = add_entity(r, entity);
    if (!item)
        return GNOMON_ENOMEM;
    read_record(&r->records, entity, i, item);
    return r->records.no_memory ? gnomon__no_memory_to_read() : GNOMON_OK;
}

/* Nothing refers to events, so lost ones are only counted. */
static int add_lost_events(file_reader *r, uint64_t up_to)
{
    if (up_to <= r->events)
        return GNOMON_OK;
    r->lost[GNOMON_EVENTS] += up_to - r->events;
    r->events = up_to;
    if (r->lost[GNOMON_EVENTS] > r->sections.from->size)
        return more_is_lost();
    return GNOMON_OK;
}

static int add_lost(file_reader *r, int entity, uint64_t up_to)
{
    int code = GNOMON_OK;
    if (entity == GNOMON_EVENTS && r->kinds >> GNOMON_EVENTS & 1)
        return add_lost_events(r, up_to);
    while (!code && r->kinds >> entity & 1 &&
           gnomon__model_count(r->records.m, entity) < up_to)
        code = add_stand_in(r, entity);
    return code;
}

static int take_event_section(file_reader *r)
{
    const gnomon__section *s = r->records.s;
    uint64_t before = r->records.before[GNOMON_EVENTS];
    if (s->first <= before + r->events)
        return GNOMON_OK; /* numbers that were read already: the first stays */
    int code = add_lost_events(r, s->first - before - 1);
    if (!code && s->is_block)
        code = gnomon__blocks_add(&r->blocks, s);
    for (uint32_t i = 0; !code && !s->is_block && i < s->count; i++)
        code = add_record(r, GNOMON_EVENTS, i);
    r->events += s->count;
    return code;
}

static int read_entities(file_reader *r, int entity)
{
    if (entity == GNOMON_EVENTS)
        return take_event_section(r);
    const gnomon__section *s = r->records.s;
    uint64_t before = r->records.before[entity];
    if (s->first <= before + gnomon__model_count(r->records.m, entity))
        return GNOMON_OK; /* numbers that were read already: the first stays */
    int code = add_lost(r, entity, s->first - before - 1);
    r->records.tail_left = s->bytes - (uint64_t)s->count * s->item_size;
    for (uint32_t i = 0; !code && i < s->count; i++)
        code = add_record(r, entity, i);
    return code;
}

/* How many there were of each kind. */
static int read_end(file_reader *r)
{
    int code = GNOMON_OK;
    r->has_end = 1;
    r->ends++;
    for (uint32_t i = 0;
         !code && i < r->records.s->count && r->records.s->item_size >= 16;
         i++) {
        const char *at =
            r->records.s->payload + (size_t)i * r->records.s->item_size;
        for (int k = 0; !code && k < GNOMON__ENTITIES; k++)
            if (memcmp(gnomon__structs[k].kind, at, 4) == 0)
                code = add_lost(r, k, gnomon__get_64(at + 8));
    }
    r->open_end[0] = r->open_end[1];
    r->open_end[1] = gnomon__model_count(r->records.m, GNOMON_OPENS);
    return code;
}

static int read_section(file_reader *r)
{
    const gnomon__section *s = r->records.s;
    const char *kind = s->kind;
    if (s->is_block && r->kinds >> GNOMON_EVENTS & 1) {
        r->has_end &= !r->ends; /* appended to */
        return take_event_section(r);
    }
    if (!s->payload)
        return GNOMON_OK;
    if (s->entity < GNOMON__ENTITIES || s->entity == GNOMON__SECTION_TEXT)
        r->has_end &= !r->ends;
    if (s->entity < GNOMON__ENTITIES)
        return read_entities(r, s->entity);
    if (s->entity == GNOMON__SECTION_TEXT)
        return keep_texts(&r->records);
    if (s->entity == GNOMON__SECTION_END)
        return read_end(r);
    for (uint32_t i = 0; i < r->unknown_count; i++)
        if (strcmp(r->unknown[i], kind) == 0)
            return GNOMON_OK;
    if (r->unknown_count < MAX_UNKNOWN)
        memcpy(r->unknown[r->unknown_count++], kind, sizeof r->unknown[0]);
    return GNOMON_OK;
}

/* ---- The whole ---------------------------------------------------------------------- */

static int add_loss(file_reader *r, uint64_t count, const char *sort,
                    const char *what)
{
    char text[64];
    if (!count)
        return GNOMON_OK;
    snprintf(text, sizeof text, "%s%s", sort, what);
    gnomon_loss_info *l = gnomon__model_add(r->records.m, GNOMON_LOSSES);
    if (l) {
        l->kind = gnomon__model_text(r->records.m, text);
        l->count = count;
    }
    if (!l || !l->kind)
        return gnomon__no_memory_to_read();
    return GNOMON_OK;
}

static int add_dangling_losses(file_reader *r)
{
    const gnomon__dangling *n = &r->dangling;
    int code = GNOMON_OK;
    uint64_t named = 0;
    for (; !code && named < n->count && named < GNOMON__DANGLING_NAMED; named++)
        code = add_loss(r, 1, "leads nowhere: ", n->named[named]);
    if (!code)
        code = add_loss(r, n->count - named, "leads nowhere: ", "others");
    for (int k = 0; !code && k < GNOMON__ENTITIES; k++)
        code = add_loss(r, n->left_out[k],
                        "of lost ones alone: ", gnomon__structs[k].many);
    return code;
}

/* Adds what could not be read as losses of no run. */
static int add_losses(file_reader *r)
{
    int code = GNOMON_OK;
    for (int k = 0; !code && k < GNOMON__ENTITIES; k++)
        if (!gnomon__is_shared(k) || r->reports_shared)
            code = add_loss(r, r->lost[k],
                            "unreadable: ", gnomon__structs[k].many);
    for (uint32_t i = 0; !code && i < r->unknown_count; i++) {
        for (int c = 0; c < 4; c++) /* make it printable */
            if (r->unknown[i][c] < ' ' || r->unknown[i][c] > '~')
                r->unknown[i][c] = '?';
        code = add_loss(r, 1, "unknown section ", r->unknown[i]);
    }
    if (!code)
        code = add_loss(
            r, r->sections.unread - (r->reports_shared ? 0 : r->shared_unread),
            "unreadable: ", "bytes");
    if (!code)
        code = add_dangling_losses(r);
    if (!code)
        code = add_loss(r, !r->has_end, "", "the end of the file");
    return code;
}

static int is_damaged(const file_reader *r)
{
    uint64_t lost = r->sections.damaged + !r->has_end;
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        lost += r->lost[k];
    return lost != 0;
}

static int read_up_to(file_reader *r, uint64_t end)
{
    gnomon__section s;
    int code = GNOMON_OK, more = 1;
    r->records.s = &s;
    r->sections.end =
        end < r->sections.from->size ? end : r->sections.from->size;
    while (!code && (more = gnomon__sections_next(&r->sections, &s)) > 0)
        code = read_section(r);
    r->records.s = NULL; /* ours no more */
    return more < 0 ? more : code;
}

/* Reserves memory for the part's counts, but for no more than fit into its file. */
static int reserve(file_reader *r, const gnomon__file_part *part)
{
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        uint64_t least = gnomon__record_bytes(s, s->first_count);
        uint64_t most = least ? r->sections.from->size / least : 0;
        uint64_t n =
            part->count[k] > part->about[k] ? part->count[k] : part->about[k];
        n = n < most ? n : most;
        if (n && k != GNOMON_EVENTS && r->kinds >> k & 1 &&
            !gnomon__model_reserve(r->records.m, k, (size_t)n))
            return gnomon__no_memory_to_read();
    }
    return GNOMON_OK;
}

static int read_part_of(file_reader *r, const gnomon__file_part *part,
                        uint64_t shared_end)
{
    r->sections.wanted = r->kinds | 1u << GNOMON__SECTION_TEXT |
                         1u << GNOMON__SECTION_UNKNOWN |
                         (uint32_t)part->is_whole << GNOMON__SECTION_END;
    r->has_end = !part->is_whole;
    int code = reserve(r, part);
    if (!code)
        code = read_up_to(r, shared_end);
    r->shared_unread = r->sections.unread;
    r->reports_shared = part->is_whole || part->begin == shared_end;
    if (!r->reports_shared) {
        r->unknown_count = 0;
        memset(&r->dangling, 0, sizeof r->dangling);
    }
    memcpy(r->records.before, part->before, sizeof part->before);
    r->sections.at = part->begin;
    if (!code)
        code = read_up_to(r, part->end);
    for (int k = 0; !code && k < GNOMON__ENTITIES; k++)
        code = add_lost(r, k, part->count[k]);
    return code;
}

static int unite_parts(file_reader *r)
{
    gnomon__model *m = r->records.m;
    gnomon__numbers maps = {{0}};
    gnomon__event_blocks *b = r->blocks;
    for (int k = 0; b && k < GNOMON__ENTITIES; k++)
        b->mapped[k] = (uint32_t)gnomon__model_count(m, k);
    int code = gnomon__check_numbers(&m->base);
    if (!code)
        code = gnomon__unite_parts(m, r->open_end[0] + 1,
                                   r->open_end[1] - r->open_end[0], &maps);
    for (int k = 0; b && k < GNOMON__ENTITIES; k++)
        if (k == GNOMON_TRACKS || k == GNOMON_NODES || k == GNOMON_REGIONS) {
            b->maps.of[k] = maps.of[k];
            maps.of[k] = NULL;
        }
    gnomon__numbers_free(&maps);
    return code;
}

/* All else is there. Events out of order are sorted in memory. */
static int settle_events(file_reader *r)
{
    gnomon__event_blocks *b = r->blocks;
    gnomon__settled found = {0};
    b->m = r->records.m;
    memcpy(b->before, r->records.before, sizeof b->before);
    int code = gnomon__blocks_settle(b, r->sections.from, &r->dangling, &found);
    r->lost[GNOMON_EVENTS] += found.lost;
    r->sections.unread += found.lost_bytes;
    if (code || (!found.is_unsorted &&
                 !gnomon__model_count(r->records.m, GNOMON_EVENTS) && b->count))
        return code;
    code = gnomon__blocks_to_table(b, r->records.m);
    gnomon__blocks_free(b);
    r->blocks = NULL;
    return code;
}

static int read_sections(file_reader *r, const gnomon__source *from,
                         const gnomon__file_part *part, uint64_t shared_end)
{
    static const gnomon__file_part all = {
        .begin = GNOMON__FILE_HEADER, .end = UINT64_MAX, .is_whole = 1};
    int code = gnomon__sections_open(&r->sections, from);
    r->credible = from->size / 8;
    if (!code)
        code = read_part_of(r, part ? part : &all, shared_end);
    if (!code && is_damaged(r))
        code =
            gnomon__repair_model(r->records.m, r->records.before, &r->dangling);
    if (!code && r->ends + !r->has_end > 1)
        code = unite_parts(r);
    if (!code && r->blocks)
        code = settle_events(r);
    if (!code)
        code = add_losses(r);
    if (!code)
        code = gnomon_profile_check(&r->records.m->base);
    if (!code && r->blocks) { /* which were checked */
        gnomon__blocks_open(r->blocks);
        gnomon__model_set_events(r->records.m, &r->blocks->base);
        r->blocks = NULL;
    }
    return code;
}

int gnomon__read_part(gnomon_profile **out, const gnomon__source *from,
                      const gnomon__file_part *part, uint64_t shared_end,
                      uint32_t kinds)
{
    file_reader r = {.records.m = gnomon__model_create(), .kinds = kinds};
    r.records.dangling = &r.dangling;
    *out = NULL;
    gnomon__fail_clear();
    if (!r.records.m)
        return gnomon__no_memory_to_read();
    int code = read_sections(&r, from, part, shared_end);
    gnomon__sections_close(&r.sections);
    free_read_texts(&r.records);
    gnomon__blocks_free(r.blocks);
    if (code)
        gnomon_profile_free(&r.records.m->base);
    else
        *out = &r.records.m->base;
    return code;
}

int gnomon__read_file(gnomon_profile **out, const gnomon__source *from)
{
    return gnomon__read_part(out, from, NULL, 0, GNOMON__EVERY_KIND);
}

/* ---- From memory, or from a file of the system's ------------------------------ */

static int read_memory_at(void *context, uint64_t at, void *bytes, size_t size)
{
    memcpy(bytes, (const char *)context + at, size);
    return GNOMON_OK;
}

gnomon__source gnomon__memory_source(const void *bytes, size_t size)
{
    return (gnomon__source){size, read_memory_at, (void *)(size_t)bytes, NULL};
}

int gnomon_profile_read(gnomon_profile **out, const void *bytes, size_t size)
{
    const gnomon__source from = gnomon__memory_source(bytes, size);
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a profile");
    *out = NULL;
    if (!bytes && size)
        return gnomon__fail(GNOMON_EINVAL, "no bytes to read a profile from");
    return gnomon__read_file(out, &from);
}

static int read_file_at(void *context, uint64_t at, void *bytes, size_t size)
{
    const int *fd = context;
    int error = gnomon__os_read_at(*fd, at, bytes, size);
    return error ? gnomon__fail(GNOMON_EIO, "%s", strerror(error)) : GNOMON_OK;
}

static int hold_file(void *context)
{
    const int *fd = context;
    return gnomon__os_open_again(*fd);
}

gnomon__source gnomon__file_source(const int *fd, uint64_t size)
{
    return (gnomon__source){size, read_file_at, (void *)(size_t)fd, hold_file};
}

int gnomon_profile_load(gnomon_profile **out, const char *path)
{
    int fd = -1;
    gnomon__source from = gnomon__file_source(&fd, 0);
    gnomon__fail_clear();
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a profile");
    *out = NULL;
    if (!path)
        return gnomon__fail(GNOMON_EINVAL, "no file to read a profile from");
    int cancel = gnomon__os_cancel_off();
    int error = gnomon__os_open(path, &fd, &from.size), code;
    if (error) {
        code = gnomon__fail(error == ENOENT ? GNOMON_ENOENT : GNOMON_EIO, "%s",
                            strerror(error));
    } else {
        code = gnomon__read_file(out, &from);
        gnomon__os_close(fd);
    }
    gnomon__os_cancel_back(cancel);
    return code ? gnomon__fail_in_file(code, path) : GNOMON_OK;
}
