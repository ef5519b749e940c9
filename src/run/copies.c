/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The copies of gnomon in this process, and which of them owns it: the first to
 * start. Its marks, threads, files and reading of $GNOMON are the process's; the
 * others hand it their regions and calls (platform/owner.h).
 *
 * Each copy carries an ELF note that leads to its gnomon__copy. The loader lists
 * modules in the order of their loading. So all copies find the same first one,
 * and agree who owns by one compare and swap on its `owner`. The first copy is
 * pinned before, and so is every copy that takes part. Copies in another
 * namespace (dlmopen) do not see each other. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mark/lock.h"
#include "mark/region.h"
#include "mark/observer.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "run/host.h"
#include "run/run.h"

#define NOTE_COPY 1 /* type of the note; its descriptor is the copy's address */

/* The fields of the first release. A smaller table is refused. */
#define FIRST_HOST (offsetof(gnomon_host, is_inside) + sizeof(void *))
#define FIRST_COPY (offsetof(gnomon__copy, is_loaded) + sizeof(uint32_t))

static void wake_copy(void);

extern gnomon__copy gnomon__this_copy; /* by name, for the note */
__attribute__((used, visibility("hidden"))) gnomon__copy gnomon__this_copy = {
    .struct_size = sizeof(gnomon__copy),
    .abi = GNOMON_ABI,
    .version = GNOMON_VERSION,
    .host = &gnomon__upcall_host,
    .active_word = &gnomon_enabled,
    .wake = wake_copy,
};

/* The offset is relative to itself, so it needs no relocation. */
__asm__(".pushsection .note.gnomon,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 8, 1\n" /* bytes of the name, of the rest, NOTE_COPY */
        ".asciz \"gnomon\"\n"
        ".balign 4\n"
        "0: .quad gnomon__this_copy - 0b\n"
        ".popsection\n");

enum { UNKNOWN, OWNER, JOINED, STRANGER };
static uint32_t state;

/* NULL: no copy's note, or an unknown size. */
static gnomon__copy *copy_in_note(const void *desc, size_t bytes)
{
    int64_t offset;
    if (bytes != sizeof offset)
        return NULL;
    memcpy(&offset, desc, sizeof offset);
    gnomon__copy *copy = (gnomon__copy *)((uintptr_t)desc + (uintptr_t)offset);
    return copy->struct_size < FIRST_COPY ? NULL : copy;
}

static int is_first(const void *desc, size_t bytes, void *out)
{
    gnomon__copy *copy = copy_in_note(desc, bytes);
    if (copy)
        *(gnomon__copy **)out = copy;
    return copy != NULL;
}

#define MOST_ELECTIONS 8 /* then this copy goes alone */

/* A module that is not pinned may be closed at any moment: then the next one is the
 * first. */
static gnomon__copy *pinned_first(void)
{
    for (int i = 0; i < MOST_ELECTIONS; i++) {
        gnomon__copy *first = &gnomon__this_copy;
        gnomon__os_notes("gnomon", NOTE_COPY, is_first, &first);
        if (gnomon__os_pin_module(first))
            return first;
    }
    return &gnomon__this_copy;
}

const gnomon_host *gnomon__copy_elect(void)
{
    gnomon__os_own_page(); /* before the loader's lock, as before ours */
    gnomon__copy *first = pinned_first();
    const gnomon_host *owner = load_acquire(&first->owner);
    if (owner) /* this copy is pinned as it joins */
        return owner;
    gnomon__os_pin_module(&gnomon__this_copy);
    if (cas_acq_rel(&first->owner, &owner, &gnomon__upcall_host))
        return &gnomon__upcall_host;
    return owner;
}

/* Never called with a lock held: pinning takes the loader's lock, under which
 * constructors may mark. Two threads may run this at once: the result is the same. */
static void settle(void)
{
    const gnomon_host *owner = gnomon__copy_elect();
    int fits = owner->abi == GNOMON_ABI && owner->struct_size >= FIRST_HOST;
    if (owner == &gnomon__upcall_host) {
        store_release(&state, OWNER);
        return;
    }
    /* Set before our active word opens: then marks of other threads go to the owner. */
    if (fits)
        store_release(&gnomon__owner, owner);
    if (fits && owner->join(&gnomon__this_copy) == GNOMON_OK) {
        store_release(&state, JOINED);
    } else {
        uint32_t unknown = UNKNOWN;
        store_release(&gnomon__owner, NULL);
        store_relaxed(&gnomon_enabled, 0);
        if (cas_acq_rel(&state, &unknown, STRANGER))
            gnomon__log("a copy of version %s (generation %d) stays off: "
                        "version %s (generation %u) came first: use one "
                        "generation in all modules",
                        GNOMON_VERSION, GNOMON_ABI, owner->version,
                        (unsigned)owner->abi);
    }
}

int gnomon__copy_owns(void)
{
    if (load_acquire(&state) == UNKNOWN) {
        int cancel = gnomon__os_cancel_off(); /* it takes the loader's lock */
        settle();
        gnomon__os_cancel_back(cancel);
    }
    return load_acquire(&state) == OWNER;
}

const gnomon_host *gnomon__copy_elsewhere(void)
{
    gnomon__copy_owns();
    return load_acquire(&gnomon__owner);
}

/* ---- Rest ---------------------------------------------------------------------- */

/* Until the first profiler is attached in this process no copy searches for others:
 * marks make no system call. The copy that attaches wakes all loaded copies. The
 * loader lists a module before it relocates it: no function of such a copy may be
 * called. It checks in its constructor who is awake. Each stores its own word
 * before it reads the other's, so one of them sees the other. */

static void wake_copy(void)
{
    uint32_t off = 0;
    if (swap_acq_rel(&gnomon__this_copy.is_awake, 1))
        return;
    fence_full();
    if (load_acquire(&state) == UNKNOWN)
        cas_acq_rel(&gnomon_enabled, &off, GNOMON_MASK_UNSEEN);
    gnomon__regions_hand_over();
    gnomon__regions_wake();
}

static int wake_one(const void *desc, size_t bytes, void *unused)
{
    const gnomon__copy *copy = copy_in_note(desc, bytes);
    (void)unused;
    if (copy && copy != &gnomon__this_copy && load_acquire(&copy->is_loaded))
        copy->wake();
    return 0;
}

void gnomon__copies_wake(void)
{
    if (swap_acq_rel(&gnomon__this_copy.is_awake, 1))
        return;
    fence_full();
    gnomon__os_notes("gnomon", NOTE_COPY, wake_one, NULL);
}

static int is_awake(const void *desc, size_t bytes, void *found)
{
    const gnomon__copy *copy = copy_in_note(desc, bytes);
    *(int *)found = copy && load_acquire(&copy->is_awake);
    return *(int *)found;
}

__attribute__((constructor)) static void wake_with_others(void)
{
    int found = 0;
    store_release(&gnomon__this_copy.is_loaded, 1); /* pairs with wake_one */
    fence_full();
    gnomon__os_notes("gnomon", NOTE_COPY, is_awake, &found);
    if (found)
        wake_copy();
}

/* Whether $GNOMON asks for no profiler; the program may still attach one. It is read
 * once, because it may change while threads mark. */
static int run_is_off(void)
{
    static uint32_t is_off;
    if (load_relaxed(&is_off))
        return 1;
    const char *spec = gnomon__follows();
    if (!spec && !gnomon__os_is_secure())
        spec = getenv("GNOMON");
    if (spec && spec[strspn(spec, " ,")])
        return 0;
    store_relaxed(&is_off, 1);
    return 1;
}

int gnomon__copy_rests(void)
{
    uint32_t unseen = GNOMON_MASK_UNSEEN, off = 0;
    if (load_acquire(&gnomon__this_copy.is_awake) || !run_is_off())
        return 0;
    cas_acq_rel(&gnomon_enabled, &unseen, 0u);
    fence_full(); /* pairs with the fences in wake_copy and gnomon__copies_wake */
    if (!load_acquire(&gnomon__this_copy.is_awake))
        return 1;
    cas_acq_rel(&gnomon_enabled, &off, GNOMON_MASK_UNSEEN);
    return 0;
}

int gnomon__copy_join(gnomon__copy *copy)
{
    gnomon__upcall_start(); /* its first mark may be the process's */
    gnomon__guard();        /* what the loader takes is not the program's */
    gnomon__os_pin_module(copy);
    gnomon__unguard();
    return gnomon__observer_add_active_word(copy->active_word);
}
