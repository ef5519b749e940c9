/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The states of threads: where they are listed, what stands for a thread without
 * one, and the key by which their ends are told. Nothing here calls the rest of the
 * room. */
#include <pthread.h>
#include <string.h>

#include "mark/thread.h"
#include "platform/os.h"
#include "platform/os_calls.h"

#define KEYS_AT_HAND 32u /* keys that every thread has room for in glibc */

static const gnomon__front no_thread_line;
gnomon__thread gnomon__no_thread = {
    .seq = 1,
    .base = (char *)(uintptr_t)&no_thread_line,
    .ground = (char *)(uintptr_t)&no_thread_line,
    .shut = 1,
    .fast = GNOMON__NEVER,
    .epoch = UINT32_MAX,
};

gnomon__thread *gnomon__threads[GNOMON__MAX_THREADS];
uint32_t gnomon__thread_total;
uint32_t gnomon__forks;

static pthread_key_t end_key;
static int end_key_made;

gnomon__slot gnomon__no_slots[GNOMON__SLOTS];

/* A pointer that is nobody's name, and not NULL. */
#define NO_NAME ((const char *)gnomon__no_slots)

void gnomon__slots_clear(gnomon__slot *slots)
{
    for (uint32_t i = 0; i < GNOMON__SLOTS && slots[i].pointer != NO_NAME; i++)
        slots[i] = (gnomon__slot){.pointer = NO_NAME, .text = ""};
}

const char *gnomon__thread_name_of(const gnomon__thread *t, char room[16])
{
    const char *name = load_acquire(&t->name);
    if (name != (const char *)t->os_name)
        return name;
    uint64_t words[2] = {load_relaxed(&t->os_name[0]),
                         load_relaxed(&t->os_name[1])};
    memcpy(room, words, sizeof words);
    return room;
}

void gnomon__threads_watch(void (*at_end)(void *state))
{
    if (!end_key_made)
        end_key_made = !pthread_key_create(&end_key, at_end);
}

/* Needed at the thread's end only: without it the state stays taken. For later
 * keys the C library allocates, which is not for a signal handler: then the next
 * mark outside of one does it, by settling once more. */
void gnomon__thread_watch(gnomon__thread *t)
{
    if (t->is_watched || !end_key_made)
        return;
    if (end_key < KEYS_AT_HAND || !gnomon__os_in_handler(1)) {
        t->is_watched = 1;
        pthread_setspecific(end_key, t);
    } else {
        gnomon__thread_shut(t);
    }
}
