/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of regions. Entries are in blocks that never move, so that an id
 * read from a node leads to its entry without the lock. All changes are made
 * under the lock. Regions made by name: intern.c. */
#include "mark/region.h"

#include <stddef.h>
#include <string.h>

#include "gnomon/tool.h"
#include "mark/names.h"
#include "mark/pretty.h"
#include "mark/observer.h"
#include "mark/thread.h"
#include "mark/upcall.h"
#include "platform/os.h"
#include "platform/owner.h"

#define BLOCK 4096u

/* The size of a region in the first release: modules built against it still
 * work. */
#define FIRST_REGION (offsetof(gnomon_region, link) + sizeof(void *))

/* The first block is static: while gnomon is off, regions by name make no
 * system call, and only pages in use are touched. */
static gnomon__entry first_entries[BLOCK];
static gnomon__entry *entry_blocks[GNOMON__MAX_REGIONS / BLOCK] = {
    first_entries};
static uint32_t entry_count; /* ids are 1 .. entry_count */
static uint32_t op_entry_count;
uint32_t gnomon__plain_ids = UINT32_MAX;

/* Without a place in the source: tables would show that of this line. */
gnomon_region gnomon__other_region = {.mask = GNOMON_MASK_UNSEEN,
                                      .struct_size = sizeof(gnomon_region),
                                      .abi = GNOMON_ABI,
                                      .kind = GNOMON_KIND_SCOPE,
                                      .name = "(other)"};

const gnomon__entry *gnomon__region_entry(uint32_t id)
{
    return &load_acquire(&entry_blocks[id / BLOCK])[id % BLOCK];
}

uint32_t gnomon__region_count(void)
{
    return load_acquire(&entry_count);
}

uint32_t gnomon__op_region_count(void)
{
    return load_relaxed(&op_entry_count);
}

/* The short name of a C++ function, which stays the region's own from here on.
 * Under the lock, before anybody reads the region. */
static void shorten_name(gnomon_region *region)
{
    size_t n = gnomon__pretty_name(region->name, region->line, NULL, 0);
    char *name = gnomon__name_room(n + 1);
    if (name) {
        gnomon__pretty_name(region->name, region->line, name, n + 1);
        region->name = name;
    }
    region->kind = (uint8_t)(region->kind & ~GNOMON_KIND_PRETTY);
}

const gnomon__entry *gnomon__entry_of(const gnomon_region *region)
{
    const void *link = load_acquire(&region->link);
    return gnomon__is_waiting(link) ? NULL : link;
}

const char *gnomon__region_name(const gnomon_region *region)
{
    const gnomon__entry *entry = gnomon__entry_of(region);
    return entry ? entry->name : "";
}

/* The next entry, not counted yet. NULL: the table is full, or no memory. */
static gnomon__entry *next_entry(void)
{
    uint32_t id = entry_count + 1;
    if (id >= GNOMON__MAX_REGIONS)
        return NULL;
    gnomon__entry **block = &entry_blocks[id / BLOCK];
    if (!*block) {
        gnomon__entry *fresh = gnomon__os_map(BLOCK * sizeof **block);
        if (!fresh)
            return NULL;
        store_release(block, fresh);
    }
    return &(*block)[id % BLOCK];
}

/* Filters choose among scopes, and not pools. Under the lock. */
static int wants(uint32_t bit, const gnomon__entry *entry)
{
    return entry->region->kind == GNOMON_KIND_POOL
               ? gnomon__memory_bits >> bit & 1 &&
                     gnomon__upcall_wants(bit, NULL, NULL)
               : gnomon__upcall_wants(bit, entry->name, entry->category);
}

/* Pools also between windows, where blocks end that a window saw begin. */
static uint32_t mask_of(const gnomon__entry *entry, uint32_t armed)
{
    if (entry->region->kind == GNOMON_KIND_POOL)
        armed |= gnomon__memory_bits;
    return (entry->wanted & armed) | gnomon__start_mask;
}

/* All but `wanted` is filled in. Returns its id. */
static uint32_t add_entry(gnomon__entry *entry)
{
    gnomon_region *region = entry->region;
    uint32_t id = entry_count + 1;
    entry->wanted = 0;
    for (uint32_t bit = 0; bit < GNOMON__BITS; bit++)
        if (gnomon__observers[bit].generation && wants(bit, entry))
            entry->wanted |= 1u << bit;
    store_release(&region->link, (void *)entry);
    store_relaxed(&region->id, id);
    store_release(&entry_count, id);
    store_release(&region->mask, mask_of(entry, gnomon__armed_bits));
    return id;
}

uint32_t gnomon__region_append(gnomon_region *region, size_t name_length)
{
    gnomon__entry *entry = next_entry();
    if (!entry)
        return 0;
    entry->region = region;
    entry->name =
        region->name ? gnomon__name_clean(region->name, name_length) : "(null)";
    entry->category = "";
    if (region->category)
        entry->category =
            gnomon__name_clean(region->category, strlen(region->category));
    entry->op = NULL;
    entry->plain = entry_count + 1;
    return add_entry(entry);
}

uint32_t gnomon__region_append_op(gnomon_region *region,
                                  const struct gnomon__op *op,
                                  const gnomon__entry *plain)
{
    gnomon__entry *entry = next_entry();
    if (!entry)
        return 0;
    *entry = *plain;
    entry->region = region;
    entry->op = op;
    /* Before the id is known to anybody. */
    if (entry_count + 1 < load_relaxed(&gnomon__plain_ids))
        store_relaxed(&gnomon__plain_ids, entry_count + 1);
    store_relaxed(&op_entry_count, op_entry_count + 1);
    return add_entry(entry);
}

void gnomon__region_enter_other(void)
{
    if (entry_count == 0)
        gnomon__region_append(&gnomon__other_region,
                              strlen(gnomon__other_region.name));
}

/* Keeps the region's module mapped. Before our lock: the loader has one of its
 * own, and constructors that mark run under it. 0: not now, as a signal handler
 * may have interrupted the loader. */
static int pin(const gnomon_region *region)
{
    if (gnomon__os_is_pinned(region))
        return 1;
    if (gnomon__os_in_handler(1))
        return 0;
    gnomon__guard();
    gnomon__os_pin_module(region);
    gnomon__unguard();
    return 1;
}

/* The table is full: the region becomes "(other)". Its mask stays that of an
 * unseen region, so that each of its marks comes here. */
static void become_other(gnomon_region *region)
{
    store_relaxed(&region->id, GNOMON__OTHER_ID);
    store_release(&region->link, load_relaxed(&gnomon__other_region.link));
    gnomon__trouble(&gnomon__no_thread, other_names);
}

static int is_other(const gnomon_region *region)
{
    const void *link = load_relaxed(&region->link);
    return region != &gnomon__other_region && link &&
           link == gnomon__other_region.link;
}

/* Under the lock. */
static uint32_t enter_region(gnomon_region *region)
{
    gnomon__region_enter_other();
    const gnomon__entry *entry = gnomon__entry_of(region);
    if (!entry && entry_count + 1 >= GNOMON__MAX_REGIONS)
        become_other(region);
    if (is_other(region))
        return load_relaxed(&gnomon__other_region.mask);
    if (!entry && region->name && (region->kind & GNOMON_KIND_PRETTY))
        shorten_name(region);
    if (!entry && !gnomon__region_append(
                      region, region->name ? strlen(region->name) : 0)) {
        store_relaxed(&region->mask, 0);
        gnomon__trouble(&gnomon__no_thread, other_names);
    }
    /* The region was about to wait (waiting.c). */
    if (entry && (load_relaxed(&region->mask) & GNOMON_MASK_UNSEEN))
        store_relaxed(&region->mask, mask_of(entry, gnomon__armed_bits));
    return load_relaxed(&region->mask);
}

/* 0: a region of another generation, which is switched off and counted. */
static int is_region(gnomon_region *region)
{
    if (region && region->abi == GNOMON_ABI &&
        region->struct_size >= FIRST_REGION)
        return 1;
    gnomon__trouble(&gnomon__no_thread, bad_regions);
    if (region)
        store_relaxed(&region->mask, 0);
    return 0;
}

/* A region is written to later, so its module must stay mapped. The region stays
 * unseen until a mark outside of a signal handler has pinned the module. Counted. */
static int may_enter(const gnomon_region *region)
{
    if (gnomon__entry_of(region) || pin(region))
        return 1;
    gnomon__trouble(&gnomon__no_thread, reentered);
    return 0;
}

uint32_t gnomon__region_enter(gnomon_region *region)
{
    if (!is_region(region))
        return 0;
    gnomon__os_atomic_word(&region->mask);
    if (!gnomon__entry_of(region) && gnomon__region_waits(region))
        return 0;
    if (!may_enter(region))
        return 0;
    gnomon__lock();
    uint32_t mask = enter_region(region);
    gnomon__unlock();
    return mask & ~GNOMON_MASK_UNSEEN;
}

const gnomon__entry *gnomon__region_register(gnomon_region *region)
{
    if (!is_region(region) || !may_enter(region))
        return NULL;
    const gnomon__entry *entry = gnomon__entry_of(region);
    if (entry)
        return entry;
    gnomon__os_atomic_word(&region->mask);
    gnomon__lock();
    enter_region(region);
    gnomon__unlock();
    return gnomon__entry_of(region);
}

uint32_t gnomon__region_rewrite(uint32_t armed, uint32_t from, uint32_t count)
{
    for (; from <= entry_count && count; from++, count--) {
        const gnomon__entry *entry = gnomon__region_entry(from);
        store_release(&entry->region->mask, mask_of(entry, armed));
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
        uint32_t on = wants(bit, entry) ? 1u << bit : 0;
        entry->wanted = (entry->wanted & ~(1u << bit)) | on;
    }
}

void gnomon__region_unwant(uint32_t bit)
{
    for (uint32_t id = 1; id <= entry_count; id++)
        entry_blocks[id / BLOCK][id % BLOCK].wanted &= ~(1u << bit);
}

void gnomon__regions_hand_over(void)
{
    gnomon__lock();
    for (uint32_t id = GNOMON__OTHER_ID + 1; id <= entry_count; id++) {
        gnomon_region *region = gnomon__region_entry(id)->region;
        store_release(&region->link, NULL);
        store_release(&region->mask, GNOMON_MASK_UNSEEN);
    }
    gnomon__unlock();
}

uint32_t gnomon__region_excluded(uint32_t bit)
{
    uint32_t n = 0;
    for (uint32_t id = GNOMON__OTHER_ID + 1; id <= entry_count; id++) {
        const gnomon__entry *entry = gnomon__region_entry(id);
        n += !entry->op && !(entry->wanted >> bit & 1);
    }
    return n;
}
