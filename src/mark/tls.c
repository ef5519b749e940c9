/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The distance of the thread-local words. Marks come here until it is known,
 * and at each mark where there is none: in a library that was loaded when
 * others had taken the room for thread-local words.
 *
 * The answer is the same on all threads, so threads that race store the
 * same. */
#include "mark/tls.h"

#include "mark/thread.h"

__thread gnomon__tls gnomon__own GNOMON__TLS
    __attribute__((used, aligned(32))) = {.thread = &gnomon__no_thread};

#ifdef GNOMON_TLS_NEAR

uintptr_t gnomon__own_distance;
static int distance_asked;

gnomon__near *gnomon__tls_far(void)
{
    if (unlikely(!load_relaxed(&distance_asked))) {
        store_relaxed(&gnomon__own_distance, gnomon__tls_distance(gnomon__own));
        store_relaxed(&distance_asked, 1);
    }
    return (gnomon__near *)((uintptr_t)&gnomon__own - gnomon__tls_pointer());
}

#endif
