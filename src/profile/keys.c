/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is done to a struct by the rows that describe it: field after field, by their
 * types. */
#include <math.h>
#include <string.h>

#include "platform/hash.h"
#include "platform/memory.h"
#include "profile/fields.h"
#include "profile/slots.h"

int gnomon__compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : !b - !a;
}

uint64_t gnomon__real_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

#define KEY_RULES (GNOMON__KEY | GNOMON__KEY_RANGE)

/* A field of numbers, so that they compare as these do. */
static uint64_t ordered_bits(const gnomon__field *f, const void *of,
                             unsigned rules)
{
    const uint64_t sign = 1ull << 63;
    uint64_t bits;
    double real;
    if (f->rules & rules & GNOMON__KEY_RANGE)
        return gnomon__field_32(f, of) & GNOMON_NODE_RANGE;
    switch ((gnomon__type)f->type) {
    case GNOMON__TYPE_I64:
        return gnomon__field_64(f, of) ^ sign;
    case GNOMON__TYPE_DOUBLE:
        bits = gnomon__field_64(f, of);
        memcpy(&real, &bits, sizeof real);
        return gnomon__real_bits(real);
    case GNOMON__TYPE_I32:
    case GNOMON__TYPE_TRUTH:
        return (uint64_t)(int32_t)gnomon__field_32(f, of) ^ sign;
    default:
        return gnomon__field_bits(f, of);
    }
}

/* ---- Comparing -------------------------------------------------------------- */

static int compare_cells(const gnomon_cell *a, const gnomon_cell *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        GNOMON__TRY(GNOMON__COMPARE(a[i].cell, b[i].cell));
        GNOMON__TRY(GNOMON__COMPARE(a[i].count, b[i].count));
    }
    return 0;
}

static int compare_sizes(const int64_t *a, const int64_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        GNOMON__TRY(GNOMON__COMPARE(a[i], b[i]));
    return 0;
}

/* One struct or a list: by how many there are first. */
static int compare_lists(const gnomon__field *f, const void *a, const void *b)
{
    const void *x = gnomon__field_pointer(f, a);
    const void *y = gnomon__field_pointer(f, b);
    size_t n = gnomon__field_count(f, a), m = gnomon__field_count(f, b);
    GNOMON__TRY(GNOMON__COMPARE(n, m));
    if (f->type == GNOMON__TYPE_CELLS)
        return compare_cells(x, y, n);
    if (f->type >= GNOMON__TYPE_DIMS)
        return compare_sizes(x, y, n);
    for (size_t i = 0; i < n; i++)
        GNOMON__TRY(gnomon__compare_fields(&gnomon__structs[f->of],
                                           gnomon__struct_at(x, i),
                                           gnomon__struct_at(y, i), 0));
    return 0;
}

int gnomon__compare_fields(const gnomon__struct *s, const void *a,
                           const void *b, unsigned rules)
{
    for (const gnomon__field *f = s->fields, *end = f + s->field_count; f < end;
         f++) {
        if (rules && !(f->rules & rules))
            continue;
        if (f->type < GNOMON__TYPE_TEXT)
            GNOMON__TRY(GNOMON__COMPARE(ordered_bits(f, a, rules),
                                        ordered_bits(f, b, rules)));
        else if (f->type < GNOMON__TYPE_STRUCT)
            GNOMON__TRY(gnomon__compare_texts(gnomon__field_pointer(f, a),
                                              gnomon__field_pointer(f, b)));
        else
            GNOMON__TRY(compare_lists(f, a, b));
    }
    return 0;
}

int gnomon__compare_keys(int entity, const void *a, const void *b)
{
    return gnomon__compare_fields(&gnomon__structs[entity], a, b, KEY_RULES);
}

static uint64_t hash_fields(const gnomon__struct *s, const void *of,
                            unsigned rules, uint64_t hash);

static uint64_t hash_list(const gnomon__field *f, const void *of, uint64_t hash)
{
    const char *list = gnomon__field_pointer(f, of);
    size_t n = gnomon__field_count(f, of);
    for (size_t i = 0; i < n; i++) {
        const gnomon_cell *cells = (const void *)list;
        const int64_t *sizes = (const void *)list;
        if (f->type == GNOMON__TYPE_CELLS)
            hash = gnomon__mix(hash, cells[i].cell ^ cells[i].count << 10);
        else if (f->type >= GNOMON__TYPE_DIMS)
            hash = gnomon__mix(hash, (uint64_t)sizes[i]);
        else
            hash = hash_fields(&gnomon__structs[f->of],
                               gnomon__struct_at(list, i), 0, hash);
    }
    return hash;
}

static uint64_t hash_fields(const gnomon__struct *s, const void *of,
                            unsigned rules, uint64_t hash)
{
    for (const gnomon__field *f = s->fields, *end = f + s->field_count; f < end;
         f++) {
        if (rules && !(f->rules & rules))
            continue;
        if (f->type < GNOMON__TYPE_TEXT) {
            hash = gnomon__mix(hash, ordered_bits(f, of, rules));
        } else if (f->type < GNOMON__TYPE_STRUCT) {
            const char *text = gnomon__field_pointer(f, of);
            hash = gnomon__mix(hash, text ? gnomon__hash_text(text) : 0);
        } else {
            hash = hash_list(f, of, hash);
        }
    }
    return hash;
}

uint64_t gnomon__hash_key(int entity, const void *item)
{
    return hash_fields(&gnomon__structs[entity], item, KEY_RULES, 0);
}

/* ---- Merging ---------------------------------------------------------------- */

static void add_field(const gnomon__field *f, void *to, const void *from)
{
    double a, b;
    if (f->type == GNOMON__TYPE_DOUBLE) {
        memcpy(&a, (const char *)to + f->at, sizeof a);
        memcpy(&b, (const char *)from + f->at, sizeof b);
        a += b;
        a = isnan(a) ? (double)NAN : a; /* else the first's bits stay */
        gnomon__field_set(f, to, &a, sizeof a);
    } else {
        gnomon__field_set_bits(
            f, to, gnomon__field_bits(f, to) + gnomon__field_bits(f, from));
    }
}

/* Whether `from` is the one that the field's rule keeps. */
static int holds_field(const gnomon__field *f, const void *to, const void *from)
{
    int order =
        f->type < GNOMON__TYPE_TEXT
            ? GNOMON__COMPARE(ordered_bits(f, from, 0), ordered_bits(f, to, 0))
            : gnomon__compare_texts(gnomon__field_pointer(f, from),
                                    gnomon__field_pointer(f, to));
    return f->rules & GNOMON__LEAST ? order < 0 : order > 0;
}

void gnomon__merge_fields(const gnomon__struct *s, void *to, const void *from,
                          int readings)
{
    unsigned rules = 0;
    for (unsigned i = 0; i < s->field_count; i++)
        rules |= s->fields[i].rules;
    int whole = readings && rules & GNOMON__ADD;
    if (whole && gnomon__compare_fields(s, from, to, GNOMON__MERGED) <= 0)
        return;
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        if (!(f->rules & GNOMON__MERGED))
            continue;
        if (!whole && f->rules & GNOMON__ADD)
            add_field(f, to, from);
        else if (whole || holds_field(f, to, from))
            gnomon__field_set(f, to, (const char *)from + f->at,
                              gnomon__field_size(f));
    }
}

/* ---- Numbers ---------------------------------------------------------------- */

void gnomon__renumber(const gnomon__numbers *maps, int entity, void *item)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    const gnomon__field *f = NULL;
    while ((f = gnomon__next_number(s, f)) != NULL) {
        const uint32_t *map = maps->of[gnomon__number_of(f, item)];
        if (map)
            gnomon__field_set(f, item, &map[gnomon__field_32(f, item)],
                              sizeof *map);
    }
}

void gnomon__numbers_free(gnomon__numbers *maps)
{
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        gnomon__free(maps->of[i]);
    memset(maps, 0, sizeof *maps);
}

/* ---- Runs ------------------------------------------------------------------- */

size_t gnomon__run_of(const gnomon_profile *p, int entity, size_t number)
{
    while (entity != GNOMON_RUNS && number) {
        const gnomon__field *first =
            gnomon__next_number(&gnomon__structs[entity], NULL);
        gnomon__any any;
        any.struct_size = sizeof any;
        p->api->get(p, entity, number, &any);
        number = gnomon__field_32(first, &any);
        entity = first->of;
    }
    return number;
}

const gnomon_run_info gnomon__no_run = {.struct_size = sizeof gnomon__no_run,
                                        .rank = -1,
                                        .local_rank = -1,
                                        .world_size = -1,
                                        .host = "",
                                        .spec = "",
                                        .clock = ""};

int gnomon__compare_runs(const gnomon_run_info *a, const gnomon_run_info *b)
{
    GNOMON__TRY_NUMBER(now_ns);
    return gnomon__compare_fields(&gnomon__structs[GNOMON_RUNS], a, b, 0);
}

/* ---- As others see them (gnomon/profile.h) ------------------------------------ */

static const gnomon__struct *struct_numbered(int entity)
{
    if (entity >= GNOMON_PART_STATS)
        entity += GNOMON__STATS - GNOMON_PART_STATS;
    else if (entity >= GNOMON__ENTITIES)
        return NULL;
    return entity >= 0 && entity < GNOMON__STRUCTS ? &gnomon__structs[entity]
                                                   : NULL;
}

static const uint8_t public_types[] = {
    [GNOMON__TYPE_U32] = GNOMON_FIELD_U32,
    [GNOMON__TYPE_I32] = GNOMON_FIELD_I32,
    [GNOMON__TYPE_TRUTH] = GNOMON_FIELD_I32,
    [GNOMON__TYPE_WORD] = GNOMON_FIELD_U32,
    [GNOMON__TYPE_FLAGS] = GNOMON_FIELD_U32,
    [GNOMON__TYPE_NUMBER] = GNOMON_FIELD_U32,
    [GNOMON__TYPE_U64] = GNOMON_FIELD_U64,
    [GNOMON__TYPE_I64] = GNOMON_FIELD_I64,
    [GNOMON__TYPE_DOUBLE] = GNOMON_FIELD_DOUBLE,
    [GNOMON__TYPE_TEXT] = GNOMON_FIELD_TEXT,
    [GNOMON__TYPE_MAYBE] = GNOMON_FIELD_TEXT,
    [GNOMON__TYPE_JSON] = GNOMON_FIELD_TEXT,
    [GNOMON__TYPE_STRUCT] = GNOMON_FIELD_STRUCT,
    [GNOMON__TYPE_STRUCTS] = GNOMON_FIELD_STRUCTS,
    [GNOMON__TYPE_CELLS] = GNOMON_FIELD_CELLS,
    [GNOMON__TYPE_DIMS] = GNOMON_FIELD_SIZES,
    [GNOMON__TYPE_STRIDES] = GNOMON_FIELD_SIZES,
};

/* Names end in their unit. */
static const char *unit_by_name(const gnomon__field *f)
{
    const char *end = f->name + f->name_size;
    if (f->type > GNOMON__TYPE_DOUBLE)
        return "";
    if (f->name_size >= 5 && !strcmp(end - 5, "bytes"))
        return "bytes";
    return !strcmp(f->name, "ns") ||
                   (f->name_size > 3 && !strcmp(end - 3, "_ns"))
               ? "ns"
               : "";
}

static gnomon_field_info describe_field(const gnomon__field *f)
{
    const int is_word =
        f->type == GNOMON__TYPE_WORD || f->type == GNOMON__TYPE_FLAGS;
    gnomon_field_info info = {.type = public_types[f->type],
                              .name = f->name,
                              .unit = unit_by_name(f),
                              .words = is_word ? gnomon__words(f) : NULL,
                              .is_flags = f->type == GNOMON__TYPE_FLAGS,
                              .offset = f->at,
                              .size = (uint32_t)gnomon__field_size(f),
                              .count_offset = f->count_at,
                              .of = -1};
    if (f->type == GNOMON__TYPE_NUMBER)
        info.of = f->of < GNOMON__ENTITIES ? f->of : GNOMON_REGIONS;
    if (f->type == GNOMON__TYPE_STRUCT || f->type == GNOMON__TYPE_STRUCTS)
        info.of = f->of - GNOMON__STATS + GNOMON_PART_STATS;
    return info;
}

size_t gnomon__entity_fields(int entity, gnomon_field_info *fields, size_t room)
{
    const gnomon__struct *s = struct_numbered(entity);
    const size_t size = room ? fields->struct_size : 0;
    for (size_t i = 0; s && i < room && i < s->field_count; i++) {
        gnomon_field_info info = describe_field(&s->fields[i]);
        info.struct_size = (uint32_t)size;
        char *to = (char *)fields + i * size;
        memset(to, 0, size);
        memcpy(to, &info, size < sizeof info ? size : sizeof info);
    }
    return s ? s->field_count : 0;
}

const char *gnomon__entity_name(int entity)
{
    const gnomon__struct *s = struct_numbered(entity);
    return s ? s->many : NULL;
}
