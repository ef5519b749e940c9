/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A column is of a field; of a field of a struct that the field points to, as host_count;
 * or of what the entity refers to, as the name of its region. */
#include "columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum source {
    OF_FIELD,
    OF_PART,
    OF_WORD, /* of the number in the field */
    ID,
    NAME,
    CATEGORY,
    PATH, /* of the node whose number is in the field; of none: the entity's own */
    THREAD,
    STAGE,
    RANK
};

/* ---- What there is ---------------------------------------------------------------- */

static const gnomon_field_info *field_named(const binding_entity *entity,
                                            const char *name)
{
    for (size_t i = 0; i < entity->count; i++)
        if (strcmp(entity->fields[i].name, name) == 0)
            return &entity->fields[i];
    return NULL;
}

static const gnomon_field_info *field_to(const binding_entity *entity, int of)
{
    for (size_t i = 0; i < entity->count; i++)
        if (entity->fields[i].of == of &&
            strcmp(entity->fields[i].name, "parent") != 0)
            return &entity->fields[i];
    return NULL;
}

static const char *number_format(uint32_t type)
{
    return type == GNOMON_FIELD_DOUBLE ? "g"
           : type == GNOMON_FIELD_U64  ? "L"
                                       : "l";
}

static binding_column *add_column(binding_column *columns, size_t *count,
                                  int source, const char *format,
                                  const char *name, const char *more)
{
    static binding_column beyond;
    binding_column *c =
        *count < BINDING_COLUMNS ? &columns[(*count)++] : &beyond;
    memset(c, 0, sizeof *c);
    c->source = source;
    c->format = format;
    snprintf(c->name, sizeof c->name, "%s%s%s", name, *more ? "_" : "", more);
    return c;
}

static void add_field(binding_column *columns, size_t *count,
                      const gnomon_field_info *f)
{
    const binding_entity *part =
        f->type == GNOMON_FIELD_STRUCT ? binding_entity_of(f->of) : NULL;
    if (f->type == GNOMON_FIELD_TEXT)
        add_column(columns, count, OF_FIELD, "U", f->name, "")->field = *f;
    else if (f->words && strcmp(f->name, "kind") == 0)
        add_column(columns, count, OF_WORD, "U", f->name, "")->field = *f;
    else if (f->type < GNOMON_FIELD_TEXT)
        add_column(columns, count,
                   strcmp(f->name, "rank") == 0 ? RANK : OF_FIELD,
                   number_format(f->type), f->name, "")
            ->field = *f;
    for (size_t k = 0; part && k < part->count; k++)
        if (part->fields[k].type < GNOMON_FIELD_TEXT) {
            binding_column *c = add_column(columns, count, OF_PART,
                                           number_format(part->fields[k].type),
                                           f->name, part->fields[k].name);
            c->field = *f;
            c->part = part->fields[k];
        }
}

size_t binding_columns_of(const binding_entity *entity, binding_column *columns)
{
    size_t n = 0;
    const int is_node = entity->entity == GNOMON_NODES;
    const int has_node = is_node || field_to(entity, GNOMON_NODES);
    const int has_region = has_node || field_to(entity, GNOMON_REGIONS);
    const int has_track = has_node || field_to(entity, GNOMON_TRACKS);
    const int has_stage = has_node || field_to(entity, GNOMON_STAGES);
    add_column(columns, &n, ID, "l", "id", "");
    for (size_t i = 0; i < entity->count; i++)
        add_field(columns, &n, &entity->fields[i]);
    if (has_region && !field_named(entity, "name")) {
        add_column(columns, &n, NAME, "U", "name", "");
        add_column(columns, &n, CATEGORY, "U", "category", "");
    }
    if (is_node)
        add_column(columns, &n, PATH, "U", "path", "");
    for (size_t i = 0; i < entity->count; i++) {
        const gnomon_field_info *f = &entity->fields[i];
        if (f->of != GNOMON_NODES || strcmp(f->name, "parent") == 0)
            continue;
        const int is_the_node = strcmp(f->name, "node") == 0;
        add_column(columns, &n, PATH, "U", is_the_node ? "path" : f->name,
                   is_the_node ? "" : "path")
            ->field = *f;
    }
    if (has_track)
        add_column(columns, &n, THREAD, "U", "thread", "");
    if (has_stage)
        add_column(columns, &n, STAGE, "U", "stage_name", "");
    if (!field_named(entity, "rank") &&
        (has_track || has_stage || field_to(entity, GNOMON_RUNS)))
        add_column(columns, &n, RANK, "l", "rank", "");
    return n;
}

/* ---- What an entity refers to ----------------------------------------------------- */

typedef struct reading {
    const gnomon_profile *profile;
    const binding_entity *entity;
    const gnomon_field_info *to[GNOMON_NODES + 1]; /* field_to, by kind */
    size_t number;
    binding_info info;
    gnomon_node_info node;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_stage_info stage;
    gnomon_run_info run;
    char *path;
    size_t path_room;
} reading;

static uint32_t number_at(const reading *r, const gnomon_field_info *f)
{
    uint32_t number = 0;
    if (f) /* NULL: there is none */
        memcpy(&number, (const char *)&r->info + f->offset, sizeof number);
    return number;
}

/* All of it is zero where there is none. */
static void look_up(const reading *r, int kind, uint32_t number, void *info,
                    size_t size)
{
    memset(info, 0, size);
    *(uint32_t *)info = (uint32_t)size;
    if (number && r->profile->api->get(r->profile, kind, number, info))
        memset(info, 0, size);
}

/* The number of the entity of that kind: its own, or the one that it says itself, or the
 * one of what it refers to. */
static uint32_t number_of(const reading *r, int kind, uint32_t otherwise)
{
    uint32_t number = kind == r->entity->entity ? (uint32_t)r->number
                                                : number_at(r, r->to[kind]);
    return number ? number : otherwise;
}

static void look_up_all(reading *r)
{
    const gnomon_event_info *event = (const void *)&r->info;
    const int is_memory = r->entity->entity == GNOMON_EVENTS &&
                          event->kind == GNOMON_EVENT_MEMORY;
    look_up(r, GNOMON_NODES, number_of(r, GNOMON_NODES, 0), &r->node,
            sizeof r->node);
    look_up(r, GNOMON_REGIONS,
            is_memory ? 0 : number_of(r, GNOMON_REGIONS, r->node.region),
            &r->region, sizeof r->region);
    if (is_memory) {
        look_up(r, GNOMON_TRACKS, event->region, &r->track, sizeof r->track);
        r->region.name = r->track.name; /* the pool's */
    }
    look_up(r, GNOMON_TRACKS, number_of(r, GNOMON_TRACKS, r->node.track),
            &r->track, sizeof r->track);
    look_up(r, GNOMON_STAGES, number_of(r, GNOMON_STAGES, r->node.stage),
            &r->stage, sizeof r->stage);
    look_up(
        r, GNOMON_RUNS,
        number_of(r, GNOMON_RUNS, r->track.run ? r->track.run : r->stage.run),
        &r->run, sizeof r->run);
}

/* A step of a sum of ranks has a rank of its own. */
static int64_t rank_of(const reading *r, const gnomon_field_info *own)
{
    int32_t rank = -1;
    if (own->name)
        memcpy(&rank, (const char *)&r->info + own->offset, sizeof rank);
    return rank >= 0 || !r->run.struct_size ? rank : r->run.rank;
}

/* From the outermost name on, with "/" between; NULL: no memory. */
static const char *path_of(reading *r, uint32_t number)
{
    size_t length = 0;
    gnomon_node_info n;
    gnomon_region_info region;
    if (!number)
        return "";
    for (; number; number = n.parent) {
        look_up(r, GNOMON_NODES, number, &n, sizeof n);
        look_up(r, GNOMON_REGIONS, n.region, &region, sizeof region);
        const char *name = region.name ? region.name : "";
        const size_t more = strlen(name) + 1, need = length + more + 1;
        if (need > r->path_room) {
            char *grown = realloc(r->path, 2 * need);
            if (!grown)
                return NULL;
            r->path = grown;
            r->path_room = 2 * need;
        }
        if (length)
            memmove(r->path + more, r->path, length);
        memcpy(r->path, name, more - 1);
        r->path[more - 1] = '/';
        length += more;
    }
    r->path[length - 1] = 0;
    return r->path;
}

/* ---- Rows ------------------------------------------------------------------------- */

static int make_rows(binding_column *c, size_t rows)
{
    c->valid = calloc(rows / 8 + 1, 1);
    if (*c->format == 'U')
        c->ends = calloc(rows + 1, sizeof *c->ends);
    else
        c->data = malloc(8 * rows + 1);
    return c->valid && (c->ends || c->data) ? GNOMON_OK : GNOMON_ENOMEM;
}

static int put_text(binding_column *c, const char *text)
{
    const size_t length = text ? strlen(text) : 0, need = c->size + length;
    if (need > c->room) {
        char *grown = realloc(c->data, 2 * need);
        if (!grown)
            return GNOMON_ENOMEM;
        c->data = grown;
        c->room = 2 * need;
    }
    if (length)
        memcpy(c->data + c->size, text, length);
    c->size = need;
    c->ends[c->rows + 1] = (int64_t)need;
    return GNOMON_OK;
}

/* A number as wide as its field, as one of 8 bytes. */
static void put_number(binding_column *c, const gnomon_field_info *f,
                       const char *of)
{
    int64_t whole = 0;
    if (of && f->type == GNOMON_FIELD_U32)
        whole = *(const uint32_t *)(const void *)(of + f->offset);
    else if (of && f->type == GNOMON_FIELD_I32)
        whole = *(const int32_t *)(const void *)(of + f->offset);
    else if (of)
        memcpy(&whole, of + f->offset, sizeof whole);
    memcpy(c->data + 8 * c->rows, &whole, sizeof whole);
}

static const char *word_of(uint32_t number, const char *const *words,
                           char room[16])
{
    for (uint32_t i = 0; words[i]; i++)
        if (i == number)
            return words[i];
    snprintf(room, 16, "%u", (unsigned)number);
    return room;
}

static const char *text_of(reading *r, const binding_column *c, char room[16])
{
    switch (c->source) {
    case OF_WORD:
        return word_of(number_at(r, &c->field), c->field.words, room);
    case NAME:
        return r->region.name ? r->region.name : "";
    case CATEGORY:
        return r->region.category ? r->region.category : "";
    case PATH:
        return path_of(r, c->field.name ? number_at(r, &c->field)
                                        : (uint32_t)r->number);
    case THREAD:
        return r->track.name ? r->track.name : "";
    case STAGE:
        return r->stage.name ? r->stage.name : "";
    default:
        return *(const char *const *)(const void *)((const char *)&r->info +
                                                    c->field.offset);
    }
}

static int put_value(reading *r, binding_column *c)
{
    const char *of = (const char *)&r->info;
    int code = GNOMON_OK, is_there = 1;
    char room[16];
    if (*c->format == 'U') {
        const char *text = text_of(r, c, room);
        is_there = text != NULL;
        code = text || c->source != PATH ? put_text(c, text) : GNOMON_ENOMEM;
    } else if (c->source == OF_PART) {
        of = *(const char *const *)(const void *)(of + c->field.offset);
        is_there = of != NULL;
        put_number(c, &c->part, of);
    } else if (c->source == OF_FIELD) {
        put_number(c, &c->field, of);
    } else {
        const int64_t whole =
            c->source == ID ? (int64_t)r->number : rank_of(r, &c->field);
        memcpy(c->data + 8 * c->rows, &whole, sizeof whole);
    }
    c->nulls += !is_there;
    c->valid[c->rows / 8] |= (uint8_t)(is_there << c->rows % 8);
    c->rows++;
    return code;
}

int binding_columns_read(const gnomon_profile *profile,
                         const binding_entity *entity, size_t after,
                         size_t rows, binding_column *columns, size_t count)
{
    reading r = {.profile = profile, .entity = entity};
    int code = GNOMON_OK;
    for (int kind = 0; kind <= GNOMON_NODES; kind++)
        r.to[kind] = field_to(entity, kind);
    for (size_t i = 0; i < count && !code; i++)
        code = make_rows(&columns[i], rows);
    for (size_t row = 0; row < rows && !code; row++) {
        r.number = after + row + 1;
        memset(&r.info, 0, sizeof r.info);
        r.info.struct_size = sizeof r.info;
        code = profile->api->get(profile, entity->entity, r.number, &r.info);
        if (!code)
            look_up_all(&r);
        for (size_t i = 0; i < count && !code; i++)
            code = put_value(&r, &columns[i]);
    }
    free(r.path);
    return code;
}

void binding_column_free(binding_column *column)
{
    free(column->data);
    free(column->ends);
    free(column->valid);
    column->data = NULL;
    column->ends = NULL;
    column->valid = NULL;
}
