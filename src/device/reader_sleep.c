/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The reader's thread sleeps while there is nothing to read; whoever sends it a timer
 * wakes it, without a lock. Each wake is one post, and each sleep takes one. */
#include <errno.h>
#include <semaphore.h>

#include "device/reader.h"

uint32_t gnomon__reader_sleeps;

static sem_t reader_called;

void gnomon__reader_sleep_init(void)
{
    store_relaxed(&gnomon__reader_sleeps, 0);
    sem_init(&reader_called, 0, 0);
}

void gnomon__reader_wake(void)
{
    uint32_t sleeps = 1;
    if (cas_acq_rel(&gnomon__reader_sleeps, &sleeps, 0))
        sem_post(&reader_called);
}

void gnomon__reader_sleep(void)
{
    while (sem_wait(&reader_called) && errno == EINTR)
        ;
}
