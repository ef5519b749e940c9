/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The last blocks that were decoded, for any number of threads. A thread locks one block
 * while it copies events or decodes; no thread waits for another one that reads the
 * file, unless all blocks are in use. The file is read by pread, not mapped: if it gets
 * shorter, a read fails, and no signal comes. */
#include <stdlib.h>
#include <string.h>

#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profile/event_blocks.h"
#include "profile/layout.h"

static int is_in_block(const gnomon__event_blocks *s, size_t block,
                       size_t number)
{
    const gnomon__stored_block *b = &s->blocks[block];
    return number >= b->first && number - b->first < b->kept;
}

static size_t find_block(gnomon__event_blocks *s, size_t number)
{
    size_t low = load_relaxed(&s->last), high = s->count;
    if (is_in_block(s, low, number))
        return low;
    if (low + 1 < high && is_in_block(s, low + 1, number)) {
        store_relaxed(&s->last, low + 1);
        return low + 1;
    }
    for (low = 0; high - low > 1;) {
        size_t middle = (low + high) / 2;
        if (s->blocks[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    store_relaxed(&s->last, low);
    return low;
}

static int lock_slot(gnomon__block_slot *slot)
{
    uint32_t free = 0;
    return !load_relaxed(&slot->locked) && cas_acq_rel(&slot->locked, &free, 1);
}

/* Pairs with lock_slot's acquire. */
static void unlock_slot(gnomon__block_slot *slot)
{
    store_release(&slot->locked, 0);
}

/* The i-th slot to try for a block. A walk over all blocks finds each at its first try. */
static gnomon__block_slot *slot_at(gnomon__event_blocks *s, size_t block, int i)
{
    return &s->slots[(block + (size_t)i) % GNOMON__BLOCK_SLOTS];
}

/* The slot that has the block, locked; NULL: none that is free. */
static gnomon__block_slot *slot_of(gnomon__event_blocks *s, size_t block)
{
    for (int i = 0; i < GNOMON__BLOCK_SLOTS; i++) {
        gnomon__block_slot *slot = slot_at(s, block, i);
        if (load_relaxed(&slot->block_plus_one) != block + 1 ||
            !lock_slot(slot))
            continue;
        if (load_relaxed(&slot->block_plus_one) == block + 1)
            return slot;
        unlock_slot(slot);
    }
    return NULL;
}

/* The one that was not used for longest, locked. */
static gnomon__block_slot *oldest_slot(gnomon__event_blocks *s, size_t block)
{
    for (;;) {
        gnomon__block_slot *oldest = slot_at(s, block, 0);
        for (int i = 1; i < GNOMON__BLOCK_SLOTS; i++) {
            gnomon__block_slot *slot = slot_at(s, block, i);
            if (load_relaxed(&oldest->locked) ||
                (!load_relaxed(&slot->locked) &&
                 load_relaxed(&slot->used) < load_relaxed(&oldest->used)))
                oldest = slot;
        }
        if (lock_slot(oldest))
            return oldest;
    }
}

static int fill_slot(const gnomon__event_blocks *s, gnomon__block_slot *slot,
                     const gnomon__stored_block *b, char *room)
{
    const char *bytes = s->bytes ? s->bytes + b->at : room;
    if (!slot->events && !(slot->events = gnomon__alloc(GNOMON__BLOCK_EVENTS *
                                                        sizeof *slot->events)))
        return GNOMON_ENOMEM;
    if (!s->bytes && gnomon__os_read_at(s->fd, b->at, room, b->size))
        return GNOMON_EIO;
    return gnomon__blocks_decode(s, b, bytes, slot->events, NULL) ==
                   (int)b->kept
               ? GNOMON_OK
               : GNOMON_EIO;
}

static int load_block(gnomon__event_blocks *s, size_t block,
                      gnomon__block_slot *slot)
{
    int cancel = gnomon__os_cancel_off();
    char *room = s->bytes ? NULL : gnomon__alloc(GNOMON__SECTION_FULL);
    store_relaxed(&slot->block_plus_one, 0u);
    int code = s->bytes || room ? fill_slot(s, slot, &s->blocks[block], room)
                                : GNOMON_ENOMEM;
    if (!code)
        store_relaxed(&slot->block_plus_one, block + 1);
    gnomon__free(room);
    gnomon__os_cancel_back(cancel);
    return code;
}

/* Up to the end of the block. */
static size_t read_cached(gnomon__event_source *source, size_t number,
                          gnomon_event_info *events, size_t room)
{
    gnomon__event_blocks *s = (gnomon__event_blocks *)(void *)source;
    const size_t block = find_block(s, number);
    gnomon__block_slot *slot = slot_of(s, block);
    int code = GNOMON_OK;
    if (!slot) {
        slot = oldest_slot(s, block);
        code = load_block(s, block, slot);
        add_relaxed(&s->loads, 1u);
    }
    const size_t at = number - s->blocks[block].first;
    const size_t left = s->blocks[block].kept - at;
    room = code ? 0 : room < left ? room : left;
    if (code == GNOMON_ENOMEM)
        store_relaxed(&s->base.failed, (uint32_t)-code);
    if (room)
        memcpy(events, slot->events + at, room * sizeof *events);
    store_relaxed(&slot->used, load_relaxed(&s->loads));
    unlock_slot(slot);
    return room;
}

void gnomon__blocks_open(gnomon__event_blocks *s)
{
    s->base.read = read_cached;
}

/* ---- All at once ------------------------------------------------------------------- */

static int compare_in_track(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->reserved < b->reserved ? -1 : a->reserved > b->reserved;
}

/* `reserved` keeps the order of events that began at one moment. */
int gnomon__blocks_to_table(gnomon__event_blocks *s, gnomon__model *m)
{
    for (size_t i = 1; i <= s->base.count; i++) {
        gnomon_event_info *e = gnomon__model_add(m, GNOMON_EVENTS);
        if (!e)
            return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
        if (!read_cached(&s->base, i, e, 1))
            return gnomon__fail(GNOMON_EIO, "the file has changed meanwhile");
    }
    gnomon__table *t = &m->tables[GNOMON_EVENTS];
    gnomon_event_info *events = (void *)t->items;
    for (size_t i = 0; i < t->count; i++)
        events[i].reserved = (uint32_t)i;
    if (t->count)
        qsort(events, t->count, sizeof *events, compare_in_track);
    for (size_t i = 0; i < t->count; i++)
        events[i].reserved = 0;
    return GNOMON_OK;
}
