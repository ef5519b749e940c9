/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The reader's thread sleeps while there is nothing to read; whoever sends it a timer
 * wakes it, without a lock. */
#include "device/reader.h"
#include "platform/os_wait.h"

uint32_t gnomon__reader_sleeps;

void gnomon__reader_wake(void)
{
    uint32_t sleeps = 1;
    if (cas_acq_rel(&gnomon__reader_sleeps, &sleeps, 0))
        (void)gnomon__os_wake(&gnomon__reader_sleeps);
}

void gnomon__reader_sleep(void)
{
    uint64_t pause = 0;
    while (load_relaxed(&gnomon__reader_sleeps))
        gnomon__os_wait(&gnomon__reader_sleeps, 1, UINT64_MAX, &pause);
}
