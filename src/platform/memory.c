/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon's heap and its arena. Control calls and first touches allocate here;
 * training threads only take pieces of the arena.
 *
 * The heap's functions are chosen once and never change: the pointer to them is
 * published by one compare-and-swap, and who loses that race uses the winner's.
 * No lock is held while a library loads. Each block carries its size, because
 * asking malloc for it would trust that the host replaced all of malloc or
 * nothing of it. The arena's `used` never passes its `size`. */
#include "platform/memory.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "platform/atomic.h"
#include "platform/mimalloc.h"
#include "platform/os.h"

#define PAGE 4096u
#define ARENA_LEAST (1u << 20)
#define FIRST_ARRAY 64u /* of an array that grows, about */

/* In front of each block, which stays aligned as malloc's. */
typedef struct block_head {
    _Alignas(max_align_t) size_t bytes; /* with this head */
} block_head;
_Static_assert(sizeof(block_head) == 16, "memory.h says so");

static const gnomon__heap libc_heap = {"libc", calloc, realloc, free};
static const gnomon__heap *chosen_heap;
static uint64_t heap_bytes_used;

#ifdef GNOMON_TESTING
static uint64_t failing_allocation, allocations_seen;

void gnomon__test_fail_allocation(uint64_t n)
{
    store_relaxed(&allocations_seen, 0);
    store_relaxed(&failing_allocation, n);
}

uint64_t gnomon__test_allocations(void)
{
    return load_relaxed(&allocations_seen);
}

int gnomon__test_allocation_fails(void)
{
    return add_relaxed(&allocations_seen, 1) + 1 ==
           load_relaxed(&failing_allocation);
}
#define FAILS() gnomon__test_allocation_fails()
#else
#define FAILS() 0
#endif

static const gnomon__heap *heap(void)
{
    const gnomon__heap *now = load_acquire(&chosen_heap);
    gnomon__heap *found;
    if (likely(now != NULL))
        return now;
    /* If the host's malloc makes marks, the loader's calls of it lead here
     * again on this thread. gnomon__mimalloc then returns NULL, and libc's
     * heap is chosen. */
    found = gnomon__mimalloc();
    /* Release: pairs with the two acquires. */
    if (cas_acq_rel(&chosen_heap, &now, found != NULL ? found : &libc_heap))
        return found != NULL ? found : &libc_heap;
    if (found != NULL)
        found->release(found);
    return load_acquire(&chosen_heap);
}

void gnomon__heap_start(void)
{
    (void)heap();
}

void gnomon__heap_use_libc(void)
{
    const gnomon__heap *none = NULL;
    (void)cas_acq_rel(&chosen_heap, &none, &libc_heap);
}

const char *gnomon__heap_name(void)
{
    return heap()->name;
}

uint64_t gnomon__heap_bytes(void)
{
    return load_relaxed(&heap_bytes_used);
}

void *gnomon__alloc(size_t bytes)
{
    block_head *head;
    if (FAILS() || bytes > SIZE_MAX - sizeof *head)
        return NULL;
    head = heap()->zalloc(1, bytes + sizeof *head);
    if (head == NULL)
        return NULL;
    head->bytes = bytes + sizeof *head;
    add_relaxed(&heap_bytes_used, head->bytes);
    return head + 1;
}

void *gnomon__realloc(void *memory, size_t bytes)
{
    block_head *head = memory;
    size_t before = 0;
    if (FAILS() || bytes > SIZE_MAX - sizeof *head)
        return NULL;
    if (head != NULL)
        before = (--head)->bytes;
    head = heap()->resize(head, bytes + sizeof *head);
    if (head == NULL)
        return NULL;
    head->bytes = bytes + sizeof *head;
    /* Unsigned, so a smaller block wraps to a subtraction. */
    add_relaxed(&heap_bytes_used, (uint64_t)head->bytes - before);
    return head + 1;
}

void gnomon__free(void *memory)
{
    block_head *head;
    if (memory == NULL)
        return;
    head = (block_head *)memory - 1;
    sub_relaxed(&heap_bytes_used, head->bytes);
    heap()->release(head);
}

int gnomon__grow(void *items, size_t *room, size_t need, size_t size)
{
    void *old; /* by memcpy: a pointer to any type */
    size_t most = *room ? *room : FIRST_ARRAY / size + 1;
    if (need <= *room)
        return 1;
    if (need > SIZE_MAX / 2 / size)
        return 0;
    if (!*room && most < need)
        most = need; /* often the caller knows the final size */
    while (most < need)
        most *= 2;
    memcpy(&old, items, sizeof old);
    void *more = gnomon__realloc(old, most * size);
    if (more == NULL)
        return 0;
    memcpy(items, &more, sizeof more);
    *room = most;
    return 1;
}

int gnomon__grow_zeroed(void *items, size_t *room, size_t need, size_t size)
{
    char *now;
    size_t before = *room;
    if (!gnomon__grow(items, room, need, size))
        return 0;
    memcpy(&now, items, sizeof now);
    if (before != *room)
        memset(now + before * size, 0, (*room - before) * size);
    return 1;
}

static char *copy_of(const char *text, size_t length)
{
    char *copy = gnomon__alloc(length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

char *gnomon__strdup(const char *text)
{
    return copy_of(text, strlen(text));
}

char *gnomon__strndup(const char *text, size_t length)
{
    return copy_of(text, strnlen(text, length));
}

int gnomon__arena_map(gnomon__arena *arena, uint64_t bytes)
{
    uint64_t most = UINT32_MAX - PAGE + 1, room;
    memset(arena, 0, sizeof *arena);
    if (bytes > most)
        bytes = most;
    if (bytes < PAGE)
        bytes = PAGE;
    /* Under a limit take a quarter: the host needs the rest. */
    room = gnomon__os_mappable_bytes() / 4;
    if (bytes > room && room < ARENA_LEAST)
        return GNOMON_ENOMEM;
    if (bytes > room)
        bytes = room;
    bytes &= ~(uint64_t)(PAGE - 1);
    while ((arena->base = gnomon__os_map((size_t)bytes)) == NULL) {
        bytes = bytes / 2 & ~(uint64_t)(PAGE - 1);
        if (bytes < ARENA_LEAST)
            return GNOMON_ENOMEM;
    }
    arena->size = (uint32_t)bytes;
    arena->used = 64; /* offset 0 is "none" */
    return GNOMON_OK;
}

uint32_t gnomon__arena_take(gnomon__arena *arena, uint32_t bytes)
{
    uint32_t used = load_relaxed(&arena->used);
    if (FAILS() || bytes > UINT32_MAX - 63)
        return 0;
    bytes = bytes == 0 ? 64 : (bytes + 63) & ~63u;
    /* A compare-and-swap, so that `used` never exceeds the size even if many
     * threads fail at once. */
    do {
        if (arena->size - used < bytes)
            return 0;
    } while (!cas_acq_rel(&arena->used, &used, used + bytes));
    return used;
}
