/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of entity.h as others see them (gnomon/profile.h). */
#include <string.h>

#include "profile/keys.h"

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

size_t gnomon_entity_fields(int entity, gnomon_field_info *fields, size_t room)
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

const char *gnomon_entity_name(int entity)
{
    const gnomon__struct *s = struct_numbered(entity);
    return s ? s->many : NULL;
}
