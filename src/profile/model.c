/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Owns a profile's arrays and texts, and answers its readers. Whoever builds a
 * profile holds it alone; once handed out nothing changes until it is freed. */
#include "profile/model.h"

#include <string.h>

#include "platform/atomic.h"
#include "platform/memory.h"

#define FIRST_ITEMS 8u
#define FIRST_BLOCK 4096u
#define LARGEST_BLOCK (1u << 20)

struct gnomon__model_block {
    gnomon__model_block *below;
    uint64_t room[];
};

static size_t read_count(const gnomon_profile *profile, int entity)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)profile;
    if (entity < 0 || entity >= GNOMON__ENTITIES)
        return 0;
    return gnomon__model_count(m, entity);
}

/* Events that are there, as read_many. */
static size_t read_from_source(const gnomon__model *m, size_t number,
                               gnomon_event_info *events, size_t room)
{
    const size_t count = m->events->read(m->events, number, events, room);
    if (!count && !load_relaxed(&m->events->failed))
        store_relaxed(&m->events->failed, (uint32_t)-GNOMON_EIO);
    return count;
}

/* One: how much of it was filled in. */
static uint32_t read_one_event(const gnomon__model *m, size_t number,
                               void *info, uint32_t have)
{
    gnomon_event_info e;
    if (have == sizeof e)
        return read_from_source(m, number, info, 1) ? have : 0;
    if (!read_from_source(m, number, &e, 1))
        return 0;
    memcpy(info, &e, have);
    return have;
}

static int read_get(const gnomon_profile *profile, int entity, size_t number,
                    void *info)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)profile;
    uint32_t size, have = 0;
    int code = GNOMON_EINVAL;
    memcpy(&size, info, sizeof size);
    if (entity >= 0 && entity < GNOMON__ENTITIES && number &&
        number <= gnomon__model_count(m, entity)) {
        have = (uint32_t)m->tables[entity].size;
        have = size < have ? size : have;
        if (entity == GNOMON_EVENTS && m->events)
            have = read_one_event(m, number, info, have);
        else
            memcpy(info, gnomon__model_at(m, entity, number), have);
        code = have ? GNOMON_OK : gnomon__profile_failed(profile);
    }
    memset((char *)info + have, 0, size - have);
    memcpy(info, &size, sizeof size);
    return code;
}

/* Whole events of a source come as they are stored; all else one by one. */
static size_t read_many(const gnomon_profile *profile, int entity,
                        size_t number, void *infos, size_t room)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)profile;
    uint32_t size;
    size_t done = 0;
    memcpy(&size, infos, sizeof size);
    if (entity == GNOMON_EVENTS && m->events && number &&
        number <= m->events->count && size == sizeof(gnomon_event_info)) {
        const size_t left = m->events->count - number + 1;
        return read_from_source(m, number, infos, room < left ? room : left);
    }
    for (char *at = infos; done < room; at += size, done++) {
        memcpy(at, &size, sizeof size);
        if (read_get(profile, entity, number + done, at) != GNOMON_OK)
            break;
    }
    return done;
}

static void release(gnomon_profile *profile)
{
    gnomon__model *m = (gnomon__model *)(void *)profile;
    if (m->events)
        m->events->free(m->events);
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        gnomon__free(m->tables[i].items);
    while (m->blocks) {
        gnomon__model_block *below = m->blocks->below;
        gnomon__free(m->blocks);
        m->blocks = below;
    }
    gnomon__free(m);
}

static const gnomon_profile_api readers = {
    sizeof(gnomon_profile_api),
    GNOMON_ABI,
    read_count,
    read_get,
    release,
    read_many,
};

int gnomon__profile_failed(const gnomon_profile *p)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)p;
    return p->api == &readers && m->events
               ? -(int)load_relaxed(&m->events->failed)
               : GNOMON_OK;
}

/* Of the track's run, or of the first run if the track has none; 0: not known. */
static uint64_t zero_of_track(const gnomon__model *m, size_t track)
{
    const gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, track);
    const uint32_t run = t->run ? t->run : 1;
    if (run > m->tables[GNOMON_RUNS].count)
        return 0;
    const gnomon_run_info *r = gnomon__model_at(m, GNOMON_RUNS, run);
    return r->zero_unix_ns;
}

int gnomon__profile_span(const gnomon_profile *p, uint64_t *from_unix_ns,
                         uint64_t *until_unix_ns)
{
    const gnomon__model *m = (const gnomon__model *)(const void *)p;
    if (p->api != &readers || !m->events || !m->events->times)
        return 0;
    *from_unix_ns = UINT64_MAX;
    *until_unix_ns = 0;
    for (size_t i = 1; i <= m->tables[GNOMON_TRACKS].count; i++) {
        const gnomon__event_times *t = &m->events->times[i];
        if (t->begin_ns > t->end_ns)
            continue;
        const uint64_t zero = zero_of_track(m, i);
        if (zero > GNOMON__TIMES_MOST)
            return 0;
        if (zero + t->begin_ns < *from_unix_ns)
            *from_unix_ns = zero + t->begin_ns;
        if (zero + t->end_ns > *until_unix_ns)
            *until_unix_ns = zero + t->end_ns;
    }
    return *from_unix_ns <= *until_unix_ns;
}

gnomon__model *gnomon__model_create(void)
{
    gnomon__model *m = gnomon__alloc(sizeof *m);
    if (!m)
        return NULL;
    m->base.api = &readers;
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        m->tables[i].size = gnomon__structs[i].size;
    return m;
}

void *gnomon__model_add(gnomon__model *m, int entity)
{
    gnomon__table *t = &m->tables[entity];
    if (t->count == t->room &&
        !gnomon__grow(&t->items, &t->room, t->count + FIRST_ITEMS, t->size))
        return NULL;
    char *item = t->items + t->count++ * t->size;
    memset(item, 0, t->size);
    uint32_t size = (uint32_t)t->size;
    memcpy(item, &size, sizeof size);
    return item;
}

int gnomon__model_reserve(gnomon__model *m, int entity, size_t count)
{
    gnomon__table *t = &m->tables[entity];
    return gnomon__grow(&t->items, &t->room, count, t->size);
}

void gnomon__model_drop_entities(gnomon__model *m)
{
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        gnomon__free(m->tables[i].items);
        m->tables[i].items = NULL;
        m->tables[i].count = m->tables[i].room = 0;
    }
}

void gnomon__model_set_events(gnomon__model *m, gnomon__event_source *events)
{
    if (m->events)
        m->events->free(m->events);
    m->events = events;
}

void *gnomon__model_room(gnomon__model *m, size_t bytes)
{
    bytes = (bytes + 7) & ~(size_t)7;
    if (!m->blocks || bytes > m->block_room - m->block_used) {
        size_t room = 2 * m->block_room;
        if (room > LARGEST_BLOCK)
            room = LARGEST_BLOCK;
        if (room < FIRST_BLOCK)
            room = FIRST_BLOCK;
        if (room < bytes)
            room = bytes;
        gnomon__model_block *block = gnomon__alloc(sizeof *block + room);
        if (!block)
            return NULL;
        block->below = m->blocks;
        m->blocks = block;
        m->block_used = 0;
        m->block_room = room;
    }
    void *at = (char *)m->blocks->room + m->block_used;
    m->block_used += bytes;
    return at;
}

void *gnomon__model_sized(gnomon__model *m, size_t size)
{
    uint32_t *sized = gnomon__model_room(m, size);
    if (sized)
        *sized = (uint32_t)size;
    return sized;
}

const char *gnomon__model_text(gnomon__model *m, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = gnomon__model_room(m, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

/* By whoever made it: each copy of the library has a heap of its own. */
void gnomon_profile_free(gnomon_profile *profile)
{
    if (profile)
        profile->api->release(profile);
}
