/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns profiles while programs make them. Everything an entity points to is
 * copied into the model, a text only once.
 *
 * Invariant: after an error nothing more is added; finish tells the first. */
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "profile/model.h"

#define FIRST_SLOTS 256u

struct gnomon_builder {
    gnomon__model *m;
    const char **texts; /* a hash table, open addressing */
    size_t text_count, text_slots;
    int code; /* of the first error */
    char why[160];
};

static int fails(gnomon_builder *b, int code, const char *what, int entity)
{
    if (!b->code)
        snprintf(b->why, sizeof b->why, "entity %zu of kind %d: %s",
                 gnomon__model_count(b->m, entity), entity, what);
    b->code = b->code ? b->code : code;
    return 0;
}

static int no_memory(gnomon_builder *b)
{
    if (!b->code)
        snprintf(b->why, sizeof b->why, "no memory to build a profile");
    b->code = b->code ? b->code : GNOMON_ENOMEM;
    return 0;
}

/* ---- Texts ----------------------------------------------------------------------- */

static const char **text_slot(const char **texts, size_t slots,
                              const char *text)
{
    size_t i = gnomon__hash_text(text) & (slots - 1);
    while (texts[i] && strcmp(texts[i], text) != 0)
        i = (i + 1) & (slots - 1);
    return &texts[i];
}

static int grow_texts(gnomon_builder *b)
{
    size_t slots = b->text_slots ? 2 * b->text_slots : FIRST_SLOTS;
    const char **texts = gnomon__alloc(slots * sizeof *texts);
    if (!texts)
        return no_memory(b);
    for (size_t i = 0; i < b->text_slots; i++)
        if (b->texts[i])
            *text_slot(texts, slots, b->texts[i]) = b->texts[i];
    gnomon__free(b->texts);
    b->texts = texts;
    b->text_slots = slots;
    return 1;
}

/* A text that is not UTF-8 is repaired, as names of regions are. */
static const char *keep_text(gnomon_builder *b, const char *text)
{
    size_t n = strlen(text);
    if (gnomon__utf8_valid(text, n))
        return gnomon__model_text(b->m, text);
    char *clean = gnomon__model_room(b->m, 3 * n + 1);
    int changed;
    if (clean)
        (void)gnomon__utf8_clean(text, n, clean, 3 * n + 1, &changed);
    return clean;
}

/* Replaces *text by the profile's copy. */
static int take_text(gnomon_builder *b, const char **text)
{
    if (2 * (b->text_count + 1) > b->text_slots && !grow_texts(b))
        return 0;
    const char **slot = text_slot(b->texts, b->text_slots, *text);
    if (!*slot) {
        if (!(*slot = keep_text(b, *text)))
            return no_memory(b);
        b->text_count++;
    }
    *text = *slot;
    return 1;
}

static int take_texts(gnomon_builder *b, const char **const *texts, size_t n,
                      int may_be_null)
{
    for (size_t i = 0; i < n; i++) {
        if (!*texts[i] && may_be_null)
            continue;
        if (!*texts[i])
            *texts[i] = "";
        if (!take_text(b, texts[i]))
            return 0;
    }
    return 1;
}

#define TAKE_TEXTS(b, may_be_null, ...) \
    take_texts(b, (const char **const[]){__VA_ARGS__}, \
               sizeof((const char **const[]){__VA_ARGS__}) / \
                   sizeof(const char **), \
               may_be_null)

static int take_json(gnomon_builder *b, const char **json, int entity)
{
    if (!*json || !gnomon__json_valid(*json, strlen(*json)))
        return fails(b, GNOMON_EINVAL, "its value is no JSON", entity);
    return take_text(b, json);
}

/* ---- What entities point to ------------------------------------------------------- */

/* Replaces *from, `count` items, by a copy; without items by NULL. */
static int take_items(gnomon_builder *b, const void **from, size_t count,
                      size_t size)
{
    if (!count || !*from) {
        *from = NULL;
        return 1;
    }
    void *copy =
        count > SIZE_MAX / size ? NULL : gnomon__model_room(b->m, count * size);
    if (!copy)
        return no_memory(b);
    *from = memcpy(copy, *from, count * size);
    return 1;
}

#define TAKE_ITEMS(b, pointer, count) \
    take_items(b, (const void **)(void *)&(pointer), count, sizeof *(pointer))

/* The same of structs that say their size, which is that of the first release at
 * least: each copy has ours. */
static int take_sized(gnomon_builder *b, const void **from, size_t count,
                      size_t size, int entity)
{
    const char *at = *from;
    uint32_t given;
    *from = NULL;
    if (!count || !at)
        return 1;
    memcpy(&given, at, sizeof given);
    if (given < size)
        return fails(b, GNOMON_EINVAL, "a part's struct_size is not set",
                     entity);
    char *copy =
        count > SIZE_MAX / size ? NULL : gnomon__model_room(b->m, count * size);
    if (!copy)
        return no_memory(b);
    *from = copy;
    for (; count; count--, at += given, copy += size) {
        uint32_t ours = (uint32_t)size;
        memcpy(copy, at, given < ours ? given : ours);
        memcpy(copy, &ours, sizeof ours);
    }
    return 1;
}

#define TAKE_SIZED(b, pointer, count, entity) \
    take_sized(b, (const void **)(void *)&(pointer), count, sizeof *(pointer), \
               entity)

static int take_stats(gnomon_builder *b, const gnomon_stats **from, int entity)
{
    if (!TAKE_SIZED(b, *from, 1, entity))
        return 0;
    gnomon_stats *s = (gnomon_stats *)(size_t)*from; /* ours by now */
    if (s && !s->cells)
        s->cell_count = 0;
    return !s || TAKE_ITEMS(b, s->cells, s->cell_count);
}

static int take_node(gnomon_builder *b, gnomon_node_info *n)
{
    if (!n->memory)
        n->memory_count = 0;
    return take_stats(b, &n->host, GNOMON_NODES) &&
           take_stats(b, &n->device, GNOMON_NODES) &&
           TAKE_SIZED(b, n->memory, n->memory_count, GNOMON_NODES) &&
           TAKE_SIZED(b, n->work, 1, GNOMON_NODES);
}

static int take_op(gnomon_builder *b, gnomon_op_info *o)
{
    if (!o->inputs)
        o->input_count = 0;
    if (!o->attributes)
        o->attribute_count = 0;
    if (!TAKE_TEXTS(b, 0, &o->operation) ||
        !TAKE_SIZED(b, o->inputs, o->input_count, GNOMON_OPS) ||
        !TAKE_SIZED(b, o->attributes, o->attribute_count, GNOMON_OPS))
        return 0;
    /* Ours by now, so they may be changed. */
    gnomon_tensor *inputs = (gnomon_tensor *)(size_t)o->inputs;
    gnomon_attribute *attributes = (gnomon_attribute *)(size_t)o->attributes;
    for (size_t i = 0; inputs && i < o->input_count; i++) {
        if (!inputs[i].dims && inputs[i].rank)
            return fails(b, GNOMON_EINVAL, "a shape without dims", GNOMON_OPS);
        if (!TAKE_TEXTS(b, 0, &inputs[i].dtype) ||
            !TAKE_ITEMS(b, inputs[i].dims, inputs[i].rank) ||
            !TAKE_ITEMS(b, inputs[i].strides, inputs[i].rank))
            return 0;
    }
    for (size_t i = 0; attributes && i < o->attribute_count; i++)
        if (!TAKE_TEXTS(b, 0, &attributes[i].key) ||
            !take_json(b, &attributes[i].json, GNOMON_OPS))
            return 0;
    return 1;
}

static int take_contents(gnomon_builder *b, int entity, void *item)
{
    gnomon_run_info *run = item;
    gnomon_region_info *region = item;
    gnomon_metadata_info *metadata = item;
    gnomon_stage_info *stage = item;
    switch (entity) {
    case GNOMON_RUNS:
        return TAKE_TEXTS(b, 0, &run->host, &run->spec, &run->clock) &&
               TAKE_TEXTS(b, 1, &run->dir, &run->attempt, &run->job,
                          &run->uuid);
    case GNOMON_STAGES:
        return TAKE_TEXTS(b, 0, &stage->name) &&
               take_stats(b, &stage->steps, entity);
    case GNOMON_TRACKS:
        return TAKE_TEXTS(b, 0, &((gnomon_track_info *)item)->name);
    case GNOMON_REGIONS:
        return TAKE_TEXTS(b, 0, &region->name, &region->category, &region->file,
                          &region->function);
    case GNOMON_NODES:
        return take_node(b, item);
    case GNOMON_METADATA:
        return TAKE_TEXTS(b, 0, &metadata->key) &&
               take_json(b, &metadata->json, entity);
    case GNOMON_LOSSES:
        return TAKE_TEXTS(b, 0, &((gnomon_loss_info *)item)->kind);
    case GNOMON_VIEWS:
        return TAKE_TEXTS(b, 0, &((gnomon_view_info *)item)->words);
    case GNOMON_OPS:
        return take_op(b, item);
    default:
        return 1; /* numbers alone */
    }
}

/* ---- The builder -------------------------------------------------------------------- */

int gnomon_builder_create(gnomon_builder **out)
{
    gnomon__fail_clear();
    gnomon_builder *b = gnomon__alloc(sizeof *b);
    *out = b;
    if (b && (b->m = gnomon__model_create()) != NULL)
        return GNOMON_OK;
    gnomon__free(b);
    *out = NULL;
    return gnomon__fail(GNOMON_ENOMEM, "no memory to build a profile");
}

uint32_t gnomon_builder_add(gnomon_builder *b, int entity, const void *info)
{
    uint32_t given;
    if (!b || b->code)
        return 0;
    if (entity < 0 || entity >= GNOMON__ENTITIES || !info) {
        snprintf(b->why, sizeof b->why, "there is no kind %d of entities",
                 entity);
        b->code = GNOMON_EINVAL;
        return 0;
    }
    memcpy(&given, info, sizeof given);
    if (given < sizeof given || gnomon__model_count(b->m, entity) >= UINT32_MAX)
        return (uint32_t)fails(b, GNOMON_EINVAL, "struct_size is not set",
                               entity);
    char *item = gnomon__model_add(b->m, entity);
    if (!item)
        return (uint32_t)no_memory(b);
    uint32_t size;
    memcpy(&size, item, sizeof size);
    memcpy(item, info, given < size ? given : size);
    memcpy(item, &size, sizeof size);
    if (!take_contents(b, entity, item))
        return 0;
    return (uint32_t)gnomon__model_count(b->m, entity);
}

void gnomon_builder_free(gnomon_builder *b)
{
    if (!b)
        return;
    if (b->m)
        gnomon_profile_free(&b->m->base);
    gnomon__free(b->texts);
    gnomon__free(b);
}

int gnomon_builder_finish(gnomon_builder *b, gnomon_profile **out)
{
    gnomon__fail_clear();
    *out = NULL;
    if (!b)
        return gnomon__fail(GNOMON_EINVAL, "no builder");
    int code = b->code;
    if (code)
        (void)gnomon__fail(code, "%s", b->why);
    else
        code = gnomon_profile_check(&b->m->base);
    if (!code) {
        *out = &b->m->base;
        b->m = NULL;
    }
    gnomon_builder_free(b);
    return code;
}
