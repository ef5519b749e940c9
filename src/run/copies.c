/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The copies of gnomon in this process, and which of them owns it: the first to
 * start. Its marks, threads, files and reading of $GNOMON are the process's; the
 * others hand it their regions and calls (platform/owner.h).
 *
 * Each copy carries an ELF note that leads to its gnomon__copy. The loader lists
 * modules in the order of their loading, and nothing comes before the first, so
 * the first copy's is the place where all agree, by one compare and swap, who
 * owns. It is pinned before, as every copy that takes part is. Copies in another
 * namespace (dlmopen) are in another world. */
#include <stddef.h>
#include <string.h>

#include "mark/sink.h"
#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "run/run.h"

#define NOTE_COPY 1 /* type of the note; its descriptor: where the copy lies */

/* The fields of the first release: a table that another copy joins has them. */
#define FIRST_HOST (offsetof(gnomon_host, join) + sizeof(void *))
#define FIRST_COPY (offsetof(gnomon__copy, gate) + sizeof(void *))

const gnomon_host *gnomon__owner;

extern gnomon__copy gnomon__this_copy; /* by name, for the note */
__attribute__((used, visibility("hidden"))) gnomon__copy gnomon__this_copy = {
    .struct_size = sizeof(gnomon__copy),
    .abi = GNOMON_ABI,
    .version = GNOMON_VERSION,
    .host = &gnomon__host,
    .gate = &gnomon_gate,
};

/* An offset from itself: right in any module without a relocation. */
__asm__(".pushsection .note.gnomon,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 8, 1\n" /* bytes of the name, of the rest, NOTE_COPY */
        ".asciz \"gnomon\"\n"
        ".balign 4\n"
        "0: .quad gnomon__this_copy - 0b\n"
        ".popsection\n");

enum { UNKNOWN, OWNER, JOINED, STRANGER };
static uint32_t state;

static int is_first(const void *desc, size_t bytes, void *out)
{
    int64_t offset;
    if (bytes != sizeof offset)
        return 0;
    memcpy(&offset, desc, sizeof offset);
    gnomon__copy *copy = (gnomon__copy *)((uintptr_t)desc + (uintptr_t)offset);
    if (copy->struct_size < FIRST_COPY)
        return 0;
    *(gnomon__copy **)out = copy;
    return 1;
}

static const gnomon_host *elect(void)
{
    gnomon__copy *first = &gnomon__this_copy;
    gnomon__os_notes("gnomon", NOTE_COPY, is_first, &first);
    gnomon__os_pin_module(first);
    gnomon__os_pin_module(&gnomon__this_copy);
    const gnomon_host *owner = NULL;
    if (cas_acq_rel(&first->owner, &owner, &gnomon__host))
        return &gnomon__host;
    return owner;
}

/* Never called with a lock held: pinning takes the loader's, under which
 * constructors may mark. Two threads may come at once; both find the same. */
static void settle(void)
{
    const gnomon_host *owner = elect();
    int fits = owner->abi == GNOMON_ABI && owner->struct_size >= FIRST_HOST;
    if (owner == &gnomon__host) {
        store_release(&state, OWNER);
    } else if (fits && owner->join(&gnomon__this_copy) == GNOMON_OK) {
        store_release(&gnomon__owner, owner);
        store_release(&state, JOINED);
    } else {
        uint32_t unknown = UNKNOWN;
        store_relaxed(&gnomon_gate, 0);
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
    if (load_acquire(&state) == UNKNOWN)
        settle();
    return load_acquire(&state) == OWNER;
}

const gnomon_host *gnomon__copy_elsewhere(void)
{
    gnomon__copy_owns();
    return load_acquire(&gnomon__owner);
}

int gnomon__copy_join(gnomon__copy *copy)
{
    gnomon__upcall_start(); /* its first mark may be the process's */
    return gnomon__sink_add_gate(copy->gate);
}
