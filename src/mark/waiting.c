/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions that were marked while nothing was attached. They are off and only
 * listed by address. Their modules are not pinned, as a pin may allocate and
 * waits for the loader; what is off makes no system call.
 *
 * A region and its slot in the list point at each other. When an observer
 * attaches, the list is walked. A region whose module was closed meanwhile
 * is detected by that link: what is at its address now, if anything, does
 * not point at the slot, as the slot's address is kept nowhere else. */
#include "mark/region.h"

#include "mark/observer.h"
#include "platform/atomic.h"
#include "platform/os.h"

#define MOST_WAITING 4096u /* further ones come here each time */

static gnomon_region *waiting_regions[MOST_WAITING];
static uint32_t waiting_count;

int gnomon__is_waiting(const void *link)
{
    return (uintptr_t)link - (uintptr_t)waiting_regions <
           sizeof waiting_regions;
}

static void list_region(gnomon_region *region)
{
    void *none = NULL;
    if (load_relaxed(&waiting_count) >= MOST_WAITING)
        return;
    uint32_t at = add_relaxed(&waiting_count, 1);
    if (at < MOST_WAITING &&
        cas_acq_rel(&region->link, &none, (void *)&waiting_regions[at]))
        store_release(&waiting_regions[at], region);
}

int gnomon__region_waits(gnomon_region *region)
{
    uint32_t unseen = GNOMON_MASK_UNSEEN, off = 0;
    if (!load_acquire(&gnomon__observer_is_idle) ||
        load_relaxed(&gnomon__start_mask))
        return 0;
    if (!load_acquire(&region->link))
        list_region(region);
    if (!load_acquire(&region->link))
        return 1;
    cas_acq_rel(&region->mask, &unseen, 0u);
    /* Pairs with gnomon__observer_attach: either that finds the region in
     * the list, or this sees that an observer attaches. */
    fence_full();
    if (load_acquire(&gnomon__observer_is_idle))
        return 1;
    cas_acq_rel(&region->mask, &off, GNOMON_MASK_UNSEEN);
    return 0;
}

/* Makes the region unseen again, if what is at the address is still that
 * region. */
static void wake_region(uint32_t at)
{
    gnomon_region *region = load_relaxed(&waiting_regions[at]);
    void *link = &waiting_regions[at];
    store_relaxed(&waiting_regions[at], NULL);
    if (load_relaxed(&region->link) != link)
        return;
    store_release(&region->mask, GNOMON_MASK_UNSEEN);
    cas_acq_rel(&region->link, &link, NULL);
}

static uint32_t listed_regions(void)
{
    uint32_t count = load_acquire(&waiting_count);
    return count < MOST_WAITING ? count : MOST_WAITING;
}

static void wake_between(uintptr_t begin, uintptr_t end)
{
    for (uint32_t at = 0; at < listed_regions(); at++) {
        uintptr_t region = (uintptr_t)load_acquire(&waiting_regions[at]);
        if (region >= begin && region + sizeof(gnomon_region) <= end)
            wake_region(at);
    }
}

void gnomon__regions_wake(void)
{
    if (!listed_regions())
        return;
    gnomon__os_writable_segments(wake_between);
    /* Regions in memory that the host allocated, which the loader does not
     * know. */
    for (uint32_t at = 0; at < listed_regions(); at++) {
        const gnomon_region *region = load_acquire(&waiting_regions[at]);
        if (region && gnomon__os_can_read(&region->link))
            wake_region(at);
        store_relaxed(&waiting_regions[at], NULL);
    }
    store_release(&waiting_count, 0);
}
