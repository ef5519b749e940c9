/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pool. A buffer's state is one word. Whoever changes it from one in which nobody
 * has the buffer (free, full) does so by a compare and swap, and then has the buffer
 * alone; who has it gives it on by a release store. So there is no list whose end two
 * threads could take. */
#include "device/cupti_buffers.h"

#include <string.h>

#include "device/cupti_driver.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/os.h"

enum { BUFFER_FREE, BUFFER_OUT, BUFFER_FULL, BUFFER_READ };

static gnomon__cupti_buffer cupti_buffers[GNOMON__CUPTI_BUFFERS];
static uint8_t *buffer_memory; /* of all */
static uint32_t buffer_count;  /* that there was memory for */
static uint64_t buffer_orders, records_thrown, bytes_waiting;
static void (*buffer_completed)(void);
static uint32_t
    record_sizes[GNOMON__CUPTI_KINDS]; /* as CUPTI steps; 0: unknown */

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

/* ---- Records ----------------------------------------------------------------------- */

/* CUPTI does not tell where the slot is that it cannot read: it begins where the record
 * before it ends. So the lengths of records are learned while they are read. */
static const uint8_t *unread_slot(const gnomon__cupti_buffer *b,
                                  const uint8_t *last)
{
    if (!last)
        return b->memory;
    uint32_t size = load_relaxed(
        &record_sizes[gnomon__cupti_kind_of(last) % GNOMON__CUPTI_KINDS]);
    return size ? last + size : NULL;
}

static size_t zeroes_at(const uint8_t *at, size_t most)
{
    static const uint8_t zeroes[8];
    size_t n = 0;
    while (n + 8 <= most && memcmp(at + n, zeroes, 8) == 0)
        n += 8;
    return n;
}

int gnomon__cupti_buffer_step(const gnomon__cupti_buffer *b, void **record,
                              uint64_t *lost)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const uint8_t *last = *record, *end = b->memory + b->valid;
    int code = cupti->GetNextRecord(b->memory, b->valid, record);
    if (!code && last)
        store_relaxed(
            &record_sizes[gnomon__cupti_kind_of(last) % GNOMON__CUPTI_KINDS],
            (uint32_t)((const uint8_t *)*record - last));
    if (!code || code == CUPTI_MAX_LIMIT_REACHED)
        return !code;
    const uint8_t *at = unread_slot(b, last);
    size_t zeroes = at && at < end ? zeroes_at(at, (size_t)(end - at)) : 0;
    *record = NULL;
    *lost += 1;
    if (!at || at + zeroes >= end)
        return 0;
    at += zeroes;
    if (zeroes && !cupti->GetNextRecord(b->memory + (at - b->memory),
                                        (size_t)(end - at), record))
        return 1;
    *lost += (uint64_t)(end - at) / GNOMON__CUPTI_SHORTEST;
    return 0;
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
    void *record = NULL;
    uint64_t count = 0;
    while (gnomon__cupti_buffer_step(b, &record, &count))
        count++;
    return count;
}

/* Beyond the bound, CUPTI of 12.9 and later is told that there is none: it then drops
 * records and counts them. Earlier ones crash: what they fill is thrown away. */
static int has_too_many(int is_refused)
{
    return is_refused == (gnomon__cupti_version() >= GNOMON__CUPTI_12_9) &&
           load_relaxed(&bytes_waiting) >= GNOMON__CUPTI_WAITING;
}

void gnomon__cupti_buffer_requested(uint8_t **buffer, size_t *size,
                                    size_t *most)
{
    gnomon__cupti_buffer *b = has_too_many(1) ? NULL : buffer_free();
    *buffer = b ? b->memory : NULL;
    *size = b ? GNOMON__CUPTI_BUFFER : 0;
    *most = 0; /* as many records as there is room for */
}

void gnomon__cupti_buffer_completed(void *context, uint32_t stream,
                                    uint8_t *buffer, size_t size, size_t valid)
{
    uintptr_t from = (uintptr_t)buffer_memory, at = (uintptr_t)buffer;
    size_t i = (at - from) / GNOMON__CUPTI_BUFFER;
    (void)context, (void)stream; /* always 0 since CUDA 6 */
    if (!buffer || at < from || i >= load_acquire(&buffer_count))
        return;
    gnomon__cupti_buffer *b = &cupti_buffers[i];
    b->valid = valid < size ? valid : size;
    int is_taken = valid && !has_too_many(0);
    add_relaxed(&bytes_waiting, b->valid);
    if (!is_taken) {
        add_relaxed(&records_thrown, valid ? buffer_records(b) : 0);
        gnomon__cupti_buffers_give(b);
        return;
    }
    store_relaxed(&b->order, add_relaxed(&buffer_orders, 1) + 1);
    store_release(&b->state, BUFFER_FULL);
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
    memset(buffer->memory, 0, buffer->valid);
    (void)add_relaxed(&bytes_waiting, -(uint64_t)buffer->valid);
    store_release(&buffer->state, BUFFER_FREE);
}

uint64_t gnomon__cupti_buffers_lost(void)
{
    return swap_acq_rel(&records_thrown, 0);
}

int gnomon__cupti_buffers_out(void)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < load_acquire(&buffer_count); i++)
        out += load_relaxed(&cupti_buffers[i].state) == BUFFER_OUT;
    return out != 0;
}
