/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Asks CUPTI for the number of a stream. Nothing is kept: a handle may name another
 * stream after it was destroyed, and then has another number. The driver has a number of
 * its own for a stream, of which nothing says that it is the same. */
#include "device/cupti_streams.h"

#include <stddef.h>

#include "device/cupti_driver.h"
#include "device/cupti_flushes.h"
#include "device/cupti_records.h"
#include "device/cupti_subscriber.h"

int gnomon__cupti_knows_streams(void)
{
    return gnomon__cupti_is_subscribed() && !gnomon__cupti_is_at_end() &&
           gnomon__cupti()->GetStreamIdEx;
}

/* Without a context, as CUPTI's manual advises: it would only be compared with the
 * stream's. CUPTI may be left meanwhile by another thread; it stays loaded, and answers
 * without a subscriber too. */
int gnomon__cupti_stream_number(void *stream, int is_own, uint32_t *number)
{
    return !gnomon__cupti()->GetStreamIdEx(NULL, stream, is_own != 0, number) &&
           *number != CUPTI_NO_STREAM &&
           (*number || gnomon__cupti_version() < GNOMON__CUPTI_13_2);
}
