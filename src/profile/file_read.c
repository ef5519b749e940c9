/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A .gnomon file as a profile.
 *
 * Entities are numbered over the whole file. A lost one keeps its number: a stand-in
 * marked as lost replaces it, so that references to it stay valid. Invariant: for any
 * bytes the result passes gnomon_profile_check or is an error. */
#include "profile/file_read.h"

#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "profile/bytes.h"
#include "profile/event_blocks.h"
#include "profile/repair.h"
#include "profile/model.h"
#include "profile/parts.h"
#include "profile/record_read.h"

#define MAX_UNKNOWN 8

typedef struct file_reader {
    gnomon__record_reader records;
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
        (void)gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
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
    gnomon__record_read(&r->records, entity, i, item);
    return r->records.no_memory
               ? gnomon__fail(GNOMON_ENOMEM, "no memory to read a file")
               : GNOMON_OK;
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
    if (!s->payload && !(s->is_block && r->kinds >> GNOMON_EVENTS & 1))
        return GNOMON_OK;
    if (s->entity < GNOMON__ENTITIES || s->entity == GNOMON__SECTION_TEXT)
        r->has_end &= !r->ends; /* appended to */
    if (s->entity < GNOMON__ENTITIES)
        return read_entities(r, s->entity);
    if (s->entity == GNOMON__SECTION_TEXT)
        return gnomon__texts_keep(&r->records);
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
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
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
            return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
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
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    int code = read_sections(&r, from, part, shared_end);
    gnomon__sections_close(&r.sections);
    gnomon__texts_free(&r.records);
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
