/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pool. A buffer's state is one word. Whoever changes it from one in which nobody
 * has the buffer (free, full) does so by a compare and swap, and then has the buffer
 * alone; who has it gives it on by a release store. So there is no list whose end two
 * threads could take. */
#include "device/cupti_buffers.h"

#include "device/cupti_driver.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/os.h"

enum { BUFFER_FREE, BUFFER_OUT, BUFFER_FULL, BUFFER_READ };

static gnomon__cupti_buffer cupti_buffers[GNOMON__CUPTI_BUFFERS];
static uint8_t *buffer_memory; /* of all */
static uint32_t buffer_count;  /* that there was memory for */
static uint64_t buffer_orders, records_overwritten;
static void (*buffer_completed)(void);

int gnomon__cupti_buffers_make(void (*completed)(void))
{
    uint32_t count = GNOMON__CUPTI_BUFFERS;
    buffer_completed = completed;
    while (!buffer_memory && count >= 4) {
        buffer_memory = gnomon__os_map((size_t)count * GNOMON__CUPTI_BUFFER);
        if (!buffer_memory)
            count /= 2;
    }
    if (!buffer_count && buffer_memory) {
        for (uint32_t i = 0; i < count; i++)
            cupti_buffers[i].memory =
                buffer_memory + (size_t)i * GNOMON__CUPTI_BUFFER;
        store_release(&buffer_count, count);
    }
    return buffer_memory != NULL;
}

static int buffer_take(gnomon__cupti_buffer *b, uint32_t from, uint32_t to)
{
    return load_relaxed(&b->state) == from && cas_acq_rel(&b->state, &from, to);
}

/* ---- CUPTI's side ------------------------------------------------------------------ */

static gnomon__cupti_buffer *buffer_free(void)
{
    uint32_t count = load_acquire(&buffer_count);
    for (uint32_t i = 0; i < count; i++)
        if (buffer_take(&cupti_buffers[i], BUFFER_FREE, BUFFER_OUT))
            return &cupti_buffers[i];
    return NULL;
}

static uint64_t buffer_records(const gnomon__cupti_buffer *b)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    void *record = NULL;
    uint64_t count = 0;
    while (!cupti->GetNextRecord(b->memory, b->valid, &record))
        count++;
    return count;
}

/* A full buffer, whose records are then lost and counted. */
static gnomon__cupti_buffer *buffer_steal(void)
{
    uint32_t count = load_acquire(&buffer_count);
    for (uint32_t i = 0; i < count; i++) {
        gnomon__cupti_buffer *b = &cupti_buffers[i];
        if (!buffer_take(b, BUFFER_FULL, BUFFER_READ))
            continue;
        add_relaxed(&records_overwritten, buffer_records(b));
        store_release(&b->state, BUFFER_OUT);
        return b;
    }
    return NULL;
}

/* Beyond the bound, CUPTI of 12.9 and later is told that there is none: it then drops
 * records and counts them. Earlier ones crash, so they get a buffer that was not read
 * yet. */
void gnomon__cupti_buffer_requested(uint8_t **buffer, size_t *size,
                                    size_t *most)
{
    gnomon__cupti_buffer *b = buffer_free();
    if (!b && gnomon__cupti_version() < GNOMON__CUPTI_12_9)
        b = buffer_steal();
    *buffer = b ? b->memory : NULL;
    *size = b ? GNOMON__CUPTI_BUFFER : 0;
    *most = 0; /* as many records as there is room for */
}

void gnomon__cupti_buffer_completed(void *context, uint32_t stream,
                                    uint8_t *buffer, size_t size, size_t valid)
{
    uintptr_t from = (uintptr_t)buffer_memory, at = (uintptr_t)buffer;
    size_t i = (at - from) / GNOMON__CUPTI_BUFFER;
    if (!buffer || at < from || i >= load_acquire(&buffer_count))
        return;
    gnomon__cupti_buffer *b = &cupti_buffers[i];
    b->context = context;
    b->stream = stream;
    b->valid = valid < size ? valid : size;
    store_relaxed(&b->order, add_relaxed(&buffer_orders, 1) + 1);
    store_release(&b->state, valid ? BUFFER_FULL : BUFFER_FREE);
    if (valid)
        buffer_completed();
}

/* ---- The reader's side --------------------------------------------------------------- */

/* `order` of a buffer that is completed at this moment may be an old one: then another
 * buffer is read first, which does no harm. */
gnomon__cupti_buffer *gnomon__cupti_buffers_next(void)
{
    for (;;) {
        gnomon__cupti_buffer *first = NULL;
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < load_acquire(&buffer_count); i++) {
            gnomon__cupti_buffer *b = &cupti_buffers[i];
            if (load_acquire(&b->state) == BUFFER_FULL &&
                load_relaxed(&b->order) < least) {
                least = load_relaxed(&b->order);
                first = b;
            }
        }
        if (!first || buffer_take(first, BUFFER_FULL, BUFFER_READ))
            return first;
    }
}

void gnomon__cupti_buffers_give(gnomon__cupti_buffer *buffer)
{
    store_release(&buffer->state, BUFFER_FREE);
}

uint64_t gnomon__cupti_buffers_lost(void)
{
    return swap_acq_rel(&records_overwritten, 0);
}
