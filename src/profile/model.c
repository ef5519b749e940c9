/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns a profile's arrays and texts, and answers its readers. Whoever builds a
 * profile holds it alone; once handed out nothing changes until it is freed. */
#include "profile/model.h"

#include <string.h>

#include "platform/memory.h"
#include "platform/owner.h"

#define TEXT_BLOCK 4096

struct gnomon__text_block {
    gnomon__text_block *below;
    char text[];
};

static const size_t entity_sizes[GNOMON__ENTITIES] = {
    [GNOMON_RUNS] = sizeof(gnomon_run_info),
    [GNOMON_STAGES] = sizeof(gnomon_stage_info),
    [GNOMON_STEPS] = sizeof(gnomon_step_info),
    [GNOMON_TRACKS] = sizeof(gnomon_track_info),
    [GNOMON_REGIONS] = sizeof(gnomon_region_info),
    [GNOMON_NODES] = sizeof(gnomon_node_info),
    [GNOMON_OPENS] = sizeof(gnomon_open_info),
    [GNOMON_LINKS] = sizeof(gnomon_link_info),
    [GNOMON_COUNTERS] = sizeof(gnomon_counter_info),
    [GNOMON_METADATA] = sizeof(gnomon_metadata_info),
    [GNOMON_LOSSES] = sizeof(gnomon_loss_info),
};

static size_t read_count(const gnomon_profile *profile, int entity)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)profile;
    if (entity < 0 || entity >= GNOMON__ENTITIES)
        return 0;
    return m->tables[entity].count;
}

static int read_get(const gnomon_profile *profile, int entity, size_t number,
                    void *info)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)profile;
    uint32_t size;
    memcpy(&size, info, sizeof size);
    memset(info, 0, size);
    if (entity < 0 || entity >= GNOMON__ENTITIES || !number ||
        number > m->tables[entity].count) {
        memcpy(info, &size, sizeof size);
        return GNOMON_EINVAL;
    }
    size_t have = entity_sizes[entity];
    memcpy(info, gnomon__model_at(m, entity, number),
           size < have ? size : have);
    memcpy(info, &size, sizeof size);
    return GNOMON_OK;
}

static const gnomon_profile_api readers = {
    sizeof(gnomon_profile_api),
    GNOMON_ABI,
    read_count,
    read_get,
};

gnomon__model *gnomon__model_create(void)
{
    gnomon__model *m = gnomon__alloc(sizeof *m);
    if (!m)
        return NULL;
    m->base.api = &readers;
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        m->tables[i].size = entity_sizes[i];
    return m;
}

void *gnomon__model_add(gnomon__model *m, int entity)
{
    gnomon__table *t = &m->tables[entity];
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 8;
        char *items = gnomon__realloc(t->items, room * t->size);
        if (!items)
            return NULL;
        t->items = items;
        t->room = room;
    }
    char *item = t->items + t->count++ * t->size;
    memset(item, 0, t->size);
    uint32_t size = (uint32_t)t->size;
    memcpy(item, &size, sizeof size);
    return item;
}

size_t gnomon__model_count(const gnomon__model *m, int entity)
{
    return m->tables[entity].count;
}

void *gnomon__model_at(const gnomon__model *m, int entity, size_t number)
{
    const gnomon__table *t = &m->tables[entity];
    return t->items + (number - 1) * t->size;
}

const char *gnomon__model_text(gnomon__model *m, const char *text)
{
    size_t n = strlen(text) + 1;
    if (n > m->texts_room - m->texts_used) {
        size_t room = n > TEXT_BLOCK ? n : TEXT_BLOCK;
        gnomon__text_block *block = gnomon__alloc(sizeof *block + room);
        if (!block)
            return NULL;
        block->below = m->texts;
        m->texts = block;
        m->texts_used = 0;
        m->texts_room = room;
    }
    char *copy = m->texts->text + m->texts_used;
    memcpy(copy, text, n);
    m->texts_used += n;
    return copy;
}

void gnomon_profile_free(gnomon_profile *profile)
{
    GNOMON__FORWARD_VOID(profile_free(profile));
    gnomon__model *m = (gnomon__model *)(void *)profile;
    if (!m)
        return;
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        gnomon__free(m->tables[i].items);
    while (m->texts) {
        gnomon__text_block *below = m->texts->below;
        gnomon__free(m->texts);
        m->texts = below;
    }
    gnomon__free(m->stats);
    gnomon__free(m->cells);
    gnomon__free(m);
}
