/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of regions. Entries lie in blocks that never move, so that an id
 * read from a node leads to its entry without the lock; all changes are made
 * under the lock. The intern map goes from (kind, name, category) to an id. */
#include "mark/region.h"

#include <stdio.h>
#include <string.h>

#include "mark/pretty.h"
#include "mark/sink.h"
#include "mark/thread.h"
#include "mark/upcall.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "platform/utf8.h"

#define BLOCK 4096u
#define KEEP_PAGE 65536u
#define MAX_UNPINNED 64u

/* The first block is there: a program that is off makes no system call for its
 * regions, and no page of it is touched that holds none. */
static gnomon__entry first_entries[BLOCK];
static gnomon__entry *entry_blocks[GNOMON__MAX_REGIONS / BLOCK] = {
    first_entries};
static uint32_t entry_count; /* ids are 1 .. entry_count */
static uint32_t name_count;
static uint32_t *name_map; /* open addressing; ids */
static uint32_t name_map_size;

/* Registered by signal handlers, where no module can be pinned. */
static const gnomon_region *unpinned[MAX_UNPINNED];
static uint32_t unpinned_count;

static gnomon_region other_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "(other)", GNOMON_NULL, GNOMON_NULL);

const gnomon__entry *gnomon__region_entry(uint32_t id)
{
    return &entry_blocks[id / BLOCK][id % BLOCK];
}

uint32_t gnomon__region_count(void)
{
    return load_acquire(&entry_count);
}

const char *gnomon__region_name(const gnomon_region *region)
{
    const gnomon__entry *entry = load_acquire(&region->link);
    return entry ? entry->name : "";
}

/* Regions and texts live for ever, side by side in pages: a program that is off
 * loads no allocator for them. Under the lock. */
static void *keep(size_t bytes)
{
    static char *page;
    static size_t left;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > left) {
        char *fresh = gnomon__os_map(KEEP_PAGE);
        if (!fresh)
            return NULL;
        page = fresh;
        left = KEEP_PAGE;
    }
    void *kept = page + KEEP_PAGE - left;
    left -= bytes;
    return kept;
}

/* FNV-1a: names are short, and the table is asked once for each. */
static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull;
}

/* A copy fit for reports, or `text` itself where it is. */
static const char *presentable(const char *text, size_t length)
{
    if (length <= GNOMON__MAX_NAME && gnomon__utf8_valid(text, length))
        return text;
    size_t take = length < GNOMON__MAX_NAME ? length : GNOMON__MAX_NAME;
    char *clean = keep(3 * take + 1);
    if (!clean)
        return "(bad name)";
    int changed;
    size_t n = gnomon__utf8_clean(text, take, clean, 3 * take + 1, &changed);
    if (n > GNOMON__MAX_NAME || length > take) {
        n = GNOMON__MAX_NAME - 24; /* as gnomon__region_intern cuts */
        while (n && (clean[n] & 0xc0) == 0x80)
            n--;
        n += (size_t)snprintf(clean + n, 24, "...#%016llx",
                              (unsigned long long)hash_text(0, text, length));
    }
    clean[n] = 0;
    gnomon__trouble(&gnomon__nobody, bad_names);
    return clean;
}

/* The short name of a C++ function, which stays the region's own from here on.
 * Under the lock, before anybody reads the region. */
static void shorten_name(gnomon_region *region)
{
    size_t n = gnomon__pretty_name(region->name, region->line, NULL, 0);
    char *name = keep(n + 1);
    if (name) {
        gnomon__pretty_name(region->name, region->line, name, n + 1);
        region->name = name;
    }
    region->kind = (uint8_t)(region->kind & ~GNOMON_KIND_PRETTY);
}

/* Under the lock. 0: the table is full or there is no memory. */
static uint32_t append(gnomon_region *region, size_t name_length)
{
    uint32_t id = entry_count + 1;
    if (id >= GNOMON__MAX_REGIONS)
        return 0;
    gnomon__entry **block = &entry_blocks[id / BLOCK];
    if (!*block) {
        gnomon__entry *fresh = gnomon__os_map(BLOCK * sizeof **block);
        if (!fresh)
            return 0;
        store_release(block, fresh);
    }
    gnomon__entry *entry = &(*block)[id % BLOCK];
    entry->region = region;
    entry->name =
        region->name ? presentable(region->name, name_length) : "(null)";
    entry->category = region->category ? presentable(region->category,
                                                     strlen(region->category))
                                       : "";
    entry->wanted = 0;
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++)
        if (gnomon__sinks[bit].kind &&
            gnomon__upcall_wants(bit, entry->name, entry->category))
            entry->wanted |= 1u << bit;
    store_release(&region->link, (void *)entry);
    store_relaxed(&region->id, id);
    store_release(&entry_count, id);
    store_release(&region->mask, entry->wanted & gnomon__sink_armed());
    return id;
}

static void enter_other(void)
{
    if (entry_count == 0)
        append(&other_region, strlen(other_region.name));
}

/* Keeps the region's module mapped. Before our lock: the loader has one of its
 * own, and constructors that mark run under it. 0: not now, as a signal handler
 * may have interrupted the loader. */
static int pin(const gnomon_region *region)
{
    if (gnomon__os_in_handler(1))
        return 0;
    gnomon__region_pin_rest();
    gnomon__guard();
    gnomon__os_pin_module(region);
    gnomon__unguard();
    return 1;
}

void gnomon__region_pin_rest(void)
{
    while (load_relaxed(&unpinned_count)) {
        const gnomon_region *region = NULL;
        gnomon__lock();
        if (unpinned_count) {
            store_relaxed(&unpinned_count, unpinned_count - 1);
            region = unpinned[unpinned_count];
        }
        gnomon__unlock();
        gnomon__guard();
        if (region)
            gnomon__os_pin_module(region);
        gnomon__unguard();
    }
}

uint32_t gnomon__region_enter(gnomon_region *region)
{
    if (!region || region->abi != GNOMON_ABI ||
        region->struct_size < sizeof(gnomon_region)) {
        gnomon__trouble(&gnomon__nobody, bad_regions);
        if (region)
            store_relaxed(&region->mask, 0);
        return 0;
    }
    int pinned = load_acquire(&region->link) != NULL || pin(region);
    gnomon__lock();
    enter_other();
    if (!pinned && !region->link) {
        if (unpinned_count == MAX_UNPINNED) {
            gnomon__unlock();
            gnomon__trouble(&gnomon__nobody, reentered);
            return 0;
        }
        unpinned[unpinned_count] = region;
        store_relaxed(&unpinned_count, unpinned_count + 1);
    }
    if (!region->link && region->name && (region->kind & GNOMON_KIND_PRETTY))
        shorten_name(region);
    if (!region->link &&
        !append(region, region->name ? strlen(region->name) : 0)) {
        store_relaxed(&region->mask, 0);
        gnomon__trouble(&gnomon__nobody, other_names);
    }
    uint32_t mask = load_relaxed(&region->mask);
    gnomon__unlock();
    return mask;
}

static int same_name(const gnomon_region *region, const char *name,
                     const char *category, int kind)
{
    return region->kind == kind && strcmp(region->name, name) == 0 &&
           strcmp(region->category ? region->category : "", category) == 0;
}

static int grow_map(void)
{
    uint32_t size = name_map_size ? 2 * name_map_size : 1024;
    uint32_t *map = gnomon__os_map(size * sizeof *map);
    if (!map)
        return 0;
    for (uint32_t i = 0; i < name_map_size; i++) {
        uint32_t id = name_map[i];
        if (!id)
            continue;
        const gnomon_region *r = gnomon__region_entry(id)->region;
        const char *category = r->category ? r->category : "";
        uint64_t h = hash_text(hash_text(r->kind, r->name, strlen(r->name)),
                               category, strlen(category));
        uint32_t at = (uint32_t)(h ^ (h >> 32)) & (size - 1);
        while (map[at])
            at = (at + 1) & (size - 1);
        map[at] = id;
    }
    /* In this order, whatever a child that was cloned amid it has of it: a map
     * that is there, and no size beyond it. */
    uint32_t *old = name_map, old_size = name_map_size;
    store_release(&name_map, map);
    store_release(&name_map_size, size);
    gnomon__os_unmap(old, old_size * sizeof *map);
    return 1;
}

/* The region and its texts in one piece. */
static gnomon_region *make_region(const char *name, const char *category,
                                  int kind)
{
    size_t n = strlen(name) + 1, c = strlen(category) + 1;
    gnomon_region *region = keep(sizeof *region + n + c);
    if (!region)
        return NULL;
    char *text = (char *)(region + 1);
    memcpy(text, name, n);
    memcpy(text + n, category, c);
    region->mask = GNOMON_MASK_UNSEEN;
    region->struct_size = sizeof *region;
    region->abi = GNOMON_ABI;
    region->kind = (uint8_t)kind;
    region->name = text;
    region->category = text + n;
    return region;
}

static gnomon_region *find_or_make(const char *name, const char *category,
                                   int kind, uint64_t hash)
{
    if (2 * (name_count + 1) > name_map_size && !grow_map())
        return &other_region;
    uint32_t at = (uint32_t)(hash ^ (hash >> 32)) & (name_map_size - 1);
    for (; name_map[at]; at = (at + 1) & (name_map_size - 1)) {
        gnomon_region *r = gnomon__region_entry(name_map[at])->region;
        if (same_name(r, name, category, kind))
            return r;
    }
    if (name_count >= GNOMON__MAX_NAMES) {
        gnomon__trouble(&gnomon__nobody, other_names);
        return &other_region;
    }
    gnomon_region *region = make_region(name, category, kind);
    uint32_t id = region ? append(region, strlen(region->name)) : 0;
    if (!id) {
        gnomon__trouble(&gnomon__nobody, other_names);
        return &other_region;
    }
    name_map[at] = id;
    name_count++;
    return region;
}

gnomon_region *gnomon__region_intern(const char *name, const char *category,
                                     int kind)
{
    char cut[GNOMON__MAX_NAME + 1], cut_category[GNOMON__MAX_NAME + 1];
    if (!name) {
        gnomon__trouble(&gnomon__nobody, bad_names);
        name = "(null)";
    }
    if (!category)
        category = "";
    /* Longer names stay different by a hash of the whole in their cut form. */
    const char **texts[2] = {&name, &category};
    char *cuts[2] = {cut, cut_category};
    uint64_t hash = (uint64_t)kind;
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(*texts[i]);
        if (length > GNOMON__MAX_NAME) {
            uint64_t whole = hash_text(0, *texts[i], length);
            size_t keep = GNOMON__MAX_NAME - 24;
            while (keep && ((*texts[i])[keep] & 0xc0) == 0x80)
                keep--;
            memcpy(cuts[i], *texts[i], keep);
            snprintf(cuts[i] + keep, 24, "...#%016llx",
                     (unsigned long long)whole);
            *texts[i] = cuts[i];
            length = strlen(cuts[i]);
            gnomon__trouble(&gnomon__nobody, bad_names);
        }
        hash = hash_text(hash, *texts[i], length);
    }
    gnomon__lock();
    enter_other();
    gnomon_region *region = find_or_make(name, category, kind, hash);
    gnomon__unlock();
    return region;
}

gnomon_region *gnomon_region_get(const char *name, const char *category)
{
    /* A signal inside gnomon: no lock to be had; or before it started. */
    if (gnomon__busy() || !gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__nobody, reentered);
        return &other_region;
    }
    GNOMON__FORWARD(region_get(name, category));
    return gnomon__region_intern(name, category, GNOMON_KIND_SCOPE);
}

uint32_t gnomon__region_rewrite(uint32_t armed, uint32_t from, uint32_t count)
{
    for (; from <= entry_count && count; from++, count--) {
        const gnomon__entry *entry = gnomon__region_entry(from);
        store_relaxed(&entry->region->mask, entry->wanted & armed);
    }
    return from <= entry_count ? from : 0;
}

void gnomon__regions_forget(uint32_t mask)
{
    for (uint32_t id = 1; id <= entry_count; id++) {
        gnomon__entry *entry = &entry_blocks[id / BLOCK][id % BLOCK];
        entry->wanted = 0;
        store_relaxed(&entry->region->mask, mask);
    }
}

void gnomon__region_filter(uint32_t bit)
{
    for (uint32_t id = 1; id <= entry_count; id++) {
        gnomon__entry *entry = &entry_blocks[id / BLOCK][id % BLOCK];
        uint32_t on = gnomon__upcall_wants(bit, entry->name, entry->category)
                          ? 1u << bit
                          : 0;
        entry->wanted = (entry->wanted & ~(1u << bit)) | on;
    }
}

void gnomon__region_unwant(uint32_t bit)
{
    for (uint32_t id = 1; id <= entry_count; id++)
        entry_blocks[id / BLOCK][id % BLOCK].wanted &= ~(1u << bit);
}

uint32_t gnomon__region_excluded(uint32_t bit)
{
    uint32_t n = 0;
    for (uint32_t id = GNOMON__OTHER_ID + 1; id <= entry_count; id++)
        n += !(gnomon__region_entry(id)->wanted >> bit & 1);
    return n;
}
