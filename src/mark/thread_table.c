/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of thread states, the dummy state of a thread without one, and
 * the key by which ends of threads are noticed. Nothing here calls the rest
 * of the room. */
#include <pthread.h>
#include <string.h>

#include "mark/thread.h"
#include "platform/os.h"

#define KEYS_AT_HAND 32u /* glibc has room for so many keys in every thread */

static const gnomon__front no_thread_line;
gnomon__thread gnomon__no_thread = {
    .seq = 1,
    .base = (char *)(uintptr_t)&no_thread_line,
    .ground = (char *)(uintptr_t)&no_thread_line,
    .shut = GNOMON__NEVER,
    .fast = GNOMON__NEVER,
    .epoch = UINT32_MAX,
};

gnomon__thread *gnomon__threads[GNOMON__MAX_THREADS];
uint32_t gnomon__thread_total;
uint32_t gnomon__forks;

static pthread_key_t end_key;
static int end_key_made;

gnomon__slot gnomon__no_slots[GNOMON__SLOTS];

/* A pointer that is no name, and not NULL. */
#define NO_NAME ((const char *)gnomon__no_slots)

void gnomon__slots_clear(gnomon__slot *slots)
{
    for (uint32_t i = 0; i < GNOMON__SLOTS && slots[i].pointer != NO_NAME; i++)
        slots[i] = (gnomon__slot){.pointer = NO_NAME, .text = ""};
}

/* The host may have named it after its first mark. What several threads had, one after the
 * other, keeps the name by which it was found. */
const char *gnomon__thread_name_of(const gnomon__thread *t, char room[16])
{
    const char *name = load_acquire(&t->name);
    if (name != (const char *)t->os_name)
        return name;
    uint64_t words[2] = {load_relaxed(&t->os_name[0]),
                         load_relaxed(&t->os_name[1])};
    memcpy(room, words, sizeof words);
    if (load_relaxed(&t->alive) && load_relaxed(&t->lives) == 1)
        gnomon__os_name_of_thread(load_relaxed(&t->os_id), room);
    return room;
}

uint64_t gnomon__last_end(void)
{
    uint64_t last = 0;
    gnomon__each_thread(t) {
        uint64_t its = load_relaxed(&t->ended);
        last = its > last ? its : last;
    }
    return last;
}

void gnomon__threads_watch(void (*at_end)(void *state))
{
    if (!end_key_made)
        end_key_made = !pthread_key_create(&end_key, at_end);
}

/* The key calls back at the thread's end; without it the state is never
 * reused. For later keys the C library allocates, which a signal handler
 * must not: then the next mark outside of a handler does this, as it settles
 * once more. */
void gnomon__thread_watch(gnomon__thread *t)
{
    if (t->watched || !end_key_made)
        return;
    if (end_key < KEYS_AT_HAND || !gnomon__os_in_handler(1)) {
        t->watched = GNOMON__WATCHED;
        pthread_setspecific(end_key, t);
    } else {
        gnomon__thread_shut(t);
    }
}

int gnomon__thread_watch_again(gnomon__thread *t)
{
    return !pthread_setspecific(end_key, t);
}
