/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions made by name: a map from (kind, name, category) to an id of the table
 * of regions. It only grows; under the lock. */
#include <string.h>

#include "gnomon/profile.h"
#include "mark/names.h"
#include "mark/region.h"
#include "mark/thread.h"
#include "platform/os.h"
#include "platform/owner.h"

#define FIRST_NAMES 1024u

static uint32_t name_count;
static uint32_t first_map[FIRST_NAMES];
static uint32_t *name_map = first_map; /* open addressing; ids */
static uint32_t name_map_size = FIRST_NAMES;

static uint64_t hash_of(gnomon__text name, gnomon__text category, int kind)
{
    return gnomon__name_hash(gnomon__name_hash((uint64_t)kind, name), category);
}

static int is_text(const char *kept, gnomon__text text)
{
    return strncmp(kept, text.at, text.length) == 0 && !kept[text.length];
}

static int grow_map(void)
{
    uint32_t size = 2 * name_map_size;
    uint32_t *map = gnomon__os_map(size * sizeof *map);
    if (!map)
        return 0;
    for (uint32_t i = 0; i < name_map_size; i++) {
        uint32_t id = name_map[i];
        if (!id)
            continue;
        const gnomon_region *r = gnomon__region_entry(id)->region;
        const char *category = r->category ? r->category : "";
        uint64_t h = hash_of(gnomon__text_of(r->name, GNOMON_TO_NUL),
                             gnomon__text_of(category, GNOMON_TO_NUL), r->kind);
        uint32_t at = (uint32_t)(h ^ (h >> 32)) & (size - 1);
        while (map[at])
            at = (at + 1) & (size - 1);
        map[at] = id;
    }
    /* In this order, for a child that was cloned in between: the size it
     * sees is never larger than its map. */
    uint32_t *old = name_map, old_size = name_map_size;
    store_release(&name_map, map);
    store_release(&name_map_size, size);
    if (old != first_map)
        gnomon__os_unmap(old, old_size * sizeof *map);
    return 1;
}

static char *put_text(char *to, gnomon__text text)
{
    memcpy(to, text.at, text.length);
    to[text.length] = 0;
    return to + text.length + 1;
}

/* The region and its texts in one piece. */
static gnomon_region *make_region(gnomon__text name, gnomon__text category,
                                  int kind)
{
    gnomon_region *region =
        gnomon__name_room(sizeof *region + name.length + category.length + 2);
    if (!region)
        return NULL;
    char *text = (char *)(region + 1);
    region->mask = GNOMON_MASK_UNSEEN;
    region->struct_size = sizeof *region;
    region->abi = GNOMON_ABI;
    region->kind = (uint8_t)kind;
    region->name = text;
    region->category = put_text(text, name);
    put_text(text + name.length + 1, category);
    return region;
}

static gnomon_region *find_or_make(gnomon__text name, gnomon__text category,
                                   int kind, uint64_t hash)
{
    if (2 * (name_count + 1) > name_map_size && !grow_map())
        return &gnomon__other_region;
    uint32_t at = (uint32_t)(hash ^ (hash >> 32)) & (name_map_size - 1);
    for (; name_map[at]; at = (at + 1) & (name_map_size - 1)) {
        gnomon_region *r = gnomon__region_entry(name_map[at])->region;
        if (r->kind == kind && is_text(r->name, name) &&
            is_text(r->category, category))
            return r;
    }
    if (name_count >= GNOMON__MAX_NAMES)
        return &gnomon__other_region;
    gnomon_region *region = make_region(name, category, kind);
    uint32_t id = region ? gnomon__region_append(region, name.length) : 0;
    if (!id)
        return &gnomon__other_region;
    name_map[at] = id;
    name_count++;
    return region;
}

gnomon_region *gnomon__region_intern(gnomon__text name, gnomon__text category,
                                     int kind)
{
    char name_room[GNOMON__MAX_NAME + 1], category_room[GNOMON__MAX_NAME + 1];
    if (!name.at) {
        gnomon__trouble(&gnomon__no_thread, bad_names);
        name = gnomon__text_of("(null)", GNOMON_TO_NUL);
    }
    if (!category.at)
        category = gnomon__text_of("", 0);
    name = gnomon__name_fit(name, name_room, 0);
    category = gnomon__name_fit(category, category_room, 0);
    uint64_t hash = hash_of(name, category, kind);
    gnomon__lock();
    gnomon__region_enter_other();
    gnomon_region *region = find_or_make(name, category, kind, hash);
    gnomon__unlock();
    return region;
}

gnomon_region *gnomon__region_named(gnomon__text name, gnomon__text category,
                                    int kind)
{
    gnomon_region *region = gnomon__region_intern(name, category, kind);
    if (region == &gnomon__other_region)
        gnomon__trouble(&gnomon__no_thread, other_names);
    return region;
}

gnomon_region *gnomon__region_get_n(const char *name, size_t length,
                                    const char *category,
                                    size_t category_length, int kind)
{
    if (gnomon__is_refused())
        return &gnomon__other_region;
    GNOMON__FORWARD(region_get(name, length, category, category_length, kind));
    if (kind < 0 || kind > GNOMON_KIND_POOL)
        kind = GNOMON_KIND_SCOPE;
    return gnomon__region_named(gnomon__text_of(name, length),
                                gnomon__text_of(category, category_length),
                                kind);
}

gnomon_region *gnomon_region_get(const char *name, const char *category,
                                 int kind)
{
    return gnomon__region_get_n(name, GNOMON_TO_NUL, category, GNOMON_TO_NUL,
                                kind);
}
