/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI's buffers, and passing their records to the recorder of work.
 *
 * A buffer's state is one word. A thread takes a buffer that nobody owns (free, full) by a
 * compare and swap, and then owns it alone; the owner passes it on by a release store. So
 * there is no list whose end two threads could take.
 *
 * Records go on in rows of 64, so that the recorder's lock is taken once for them. No
 * lock of ours is held while CUPTI is called. */
#include "device/cupti_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/activity.h"
#include "device/cupti_driver.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "platform/ticks.h"
#include "profile/slots.h"
#include "record/activities.h"

#define CUPTI_ROW 64u
#define MOST_DEMANGLED 65536u /* as many names as the recorder keeps */

static const gnomon__cupti_listener the_recorder = {
    gnomon__activity_note_launch, gnomon__activity_noted,
    gnomon__activities_put, gnomon__activity_lost};
const gnomon__cupti_listener *gnomon__cupti_listens = &the_recorder;

uint64_t gnomon__cupti_rows_told;

/* ---- Buffers -------------------------------------------------------------------------- */

enum { BUFFER_FREE, BUFFER_OUT, BUFFER_FULL, BUFFER_READ };

typedef struct cupti_buffer {
    uint32_t state;
    uint64_t order; /* of completion, from 1 */
    size_t valid;   /* bytes */
    uint8_t *memory;
} cupti_buffer;

static cupti_buffer cupti_buffers[GNOMON__CUPTI_BUFFERS];
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

static int buffer_take(cupti_buffer *b, uint32_t from, uint32_t to)
{
    return load_relaxed(&b->state) == from && cas_acq_rel(&b->state, &from, to);
}

static void buffer_give(cupti_buffer *buffer)
{
    memset(buffer->memory, 0, buffer->valid);
    (void)add_relaxed(&bytes_waiting, -(uint64_t)buffer->valid);
    store_release(&buffer->state, BUFFER_FREE);
}

/* CUPTI does not tell where the slot is that it cannot read: it begins where the record
 * before it ends. So the lengths of records are learned while they are read. */
static const uint8_t *unread_slot(const cupti_buffer *b, const uint8_t *last)
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

/* The record after *record, or the first one if that is NULL; 0: there is none. What CUPTI
 * cannot read is passed over and added to *lost: a slot that was never filled as one record,
 * and from a kind that it does not know on as many as there is room for. */
static int buffer_step(const cupti_buffer *b, void **record, uint64_t *lost)
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

static cupti_buffer *buffer_free(void)
{
    uint32_t count = load_acquire(&buffer_count);
    for (uint32_t i = 0; i < count; i++)
        if (buffer_take(&cupti_buffers[i], BUFFER_FREE, BUFFER_OUT))
            return &cupti_buffers[i];
    return NULL;
}

static uint64_t buffer_records(const cupti_buffer *b)
{
    void *record = NULL;
    uint64_t count = 0;
    while (buffer_step(b, &record, &count))
        count++;
    return count;
}

/* Beyond the bound, CUPTI 12.9 and later gets no buffer: it then drops records and
 * counts them. Earlier versions would crash: they get a buffer whose records are
 * thrown away. */
static int has_too_many(int is_refused)
{
    return is_refused == (gnomon__cupti_version() >= GNOMON__CUPTI_12_9) &&
           load_relaxed(&bytes_waiting) >= GNOMON__CUPTI_WAITING;
}

void gnomon__cupti_buffer_requested(uint8_t **buffer, size_t *size,
                                    size_t *most)
{
    cupti_buffer *b = has_too_many(1) ? NULL : buffer_free();
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
    cupti_buffer *b = &cupti_buffers[i];
    b->valid = valid < size ? valid : size;
    int is_taken = valid && !has_too_many(0);
    add_relaxed(&bytes_waiting, b->valid);
    if (!is_taken) {
        add_relaxed(&records_thrown, valid ? buffer_records(b) : 0);
        buffer_give(b);
        return;
    }
    store_relaxed(&b->order, add_relaxed(&buffer_orders, 1) + 1);
    store_release(&b->state, BUFFER_FULL);
    buffer_completed();
}

/* ---- Moments --------------------------------------------------------------------------- */

/* CUPTI is given gnomon's clock, where it takes one. Else both clocks are read at one moment
 * again and again. The line goes through the last two anchors, and on beyond them. CUPTI's
 * own clock is the system's time of day, which somebody may set: then the two anchors do not
 * belong together, and the last one counts alone. One that another profiler gave, and left
 * when it went, may count anything, as the processor's ticks: then the next anchor tells how
 * fast. */
#define CLOCK_TRIES 9       /* the one with the least time between is taken */
#define CLOCK_APART 1000000 /* ns, from which a rate can be told */
#define CLOCK_DRIFT 1000 /* more than one part of so many: the clock was set */
#define CLOCK_IS_OURS 1000000 /* ns, within which both are one clock */

typedef struct cupti_anchor {
    uint64_t ours, theirs;
    uint64_t error; /* half the time that reading both took */
} cupti_anchor;

static int clock_was_given, clock_is_given;
static int rate_is_open; /* of the line from the last anchor on */
static cupti_anchor anchor_before, anchor_last; /* ours 0: none */
static uint64_t clock_error; /* atomic: any thread describes the process */

static uint64_t cupti_now(void)
{
    return gnomon__clock_ns(gnomon__ticks());
}

static int read_both(cupti_anchor *out, int tries)
{
    *out = (cupti_anchor){.error = UINT64_MAX};
    for (int i = 0; i < tries; i++) {
        uint64_t before = cupti_now(), theirs = 0;
        if (gnomon__cupti()->GetTimestamp(&theirs))
            return 0;
        uint64_t half = (cupti_now() - before) / 2;
        if (half < out->error)
            *out = (cupti_anchor){before + half, theirs, half};
    }
    return 1;
}

static uint64_t clock_apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether it is still gnomon's. */
static int clock_is_ours(void)
{
    cupti_anchor now;
    if (!clock_is_given || !read_both(&now, 1) ||
        clock_apart(now.theirs, now.ours) <= now.error + CLOCK_IS_OURS)
        return clock_is_given;
    static int is_logged;
    if (!is_logged)
        gnomon__log(
            "another profiler has set the clock of CUPTI: times of work "
            "are converted from it, as well as possible");
    is_logged = 1;
    anchor_before = anchor_last = (cupti_anchor){0};
    clock_is_given = 0;
    rate_is_open = 1;
    return 0;
}

/* A moment of a record in ns of host->now_ns; 0: before the run's zero. */
static uint64_t clock_time(uint64_t moment)
{
    if (clock_is_given)
        return moment;
    int64_t since = (int64_t)(moment - anchor_last.theirs);
    if (anchor_before.ours) {
        int64_t theirs = (int64_t)(anchor_last.theirs - anchor_before.theirs);
        int64_t ours = (int64_t)(anchor_last.ours - anchor_before.ours);
        double gain = (double)(theirs - ours) / (double)theirs;
        since -= (int64_t)((double)since * gain);
    }
    if (since < 0 && (uint64_t)-since > anchor_last.ours)
        return 0;
    return anchor_last.ours + (uint64_t)since;
}

/* Reads both clocks. How far it is from the line of the earlier two anchors is how wrong a
 * time can be. */
static void clock_anchor(void)
{
    cupti_anchor now;
    if (clock_is_ours() || !read_both(&now, CLOCK_TRIES))
        return;
    if (anchor_last.ours && now.ours - anchor_last.ours < CLOCK_APART)
        return;
    uint64_t expected = clock_time(now.theirs);
    uint64_t missed = clock_apart(expected, now.ours);
    int was_set = anchor_last.ours && !rate_is_open &&
                  missed > (now.ours - anchor_last.ours) / CLOCK_DRIFT +
                               now.error + anchor_last.error;
    uint64_t error = now.error;
    if (anchor_before.ours && !was_set)
        error += missed;
    if (error > load_relaxed(&clock_error))
        store_relaxed(&clock_error, error);
    anchor_before = anchor_last;
    if (was_set)
        memset(&anchor_before, 0, sizeof anchor_before);
    rate_is_open = was_set || (rate_is_open && !anchor_last.ours);
    anchor_last = now;
}

void gnomon__cupti_clock_start(int is_one_of_several)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    if (!clock_was_given || is_one_of_several)
        clock_was_given = cupti->RegisterTimestamp &&
                          cupti->RegisterTimestamp(cupti_now) == CUPTI_OK;
    clock_is_given = clock_was_given;
    clock_anchor();
}

uint64_t gnomon__cupti_clock_error(void)
{
    return load_relaxed(&clock_error);
}

/* ---- Names of kernels ------------------------------------------------------------------ */

/* The process's own C++ runtime demangles: programs that nvcc linked have one, as has
 * PyTorch. None is loaded for this. The text is from the host's malloc. */
static char *(*cupti_demangle)(const char *name, char *buffer, size_t *size,
                               int *status);
/* A name costs some microseconds, so each is kept for good: as it was mangled, NUL, as it
 * reads, NUL. */
static gnomon__text_table cupti_demangled;

/* Looks for that runtime, until it is found. Takes the loader's lock. */
static void find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1",
                                            "libc++.so.1"};
    for (size_t i = 0;
         !cupti_demangle && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = gnomon__os_library_loaded(libraries[i]);
        void *address =
            library ? gnomon__os_symbol(library, "__cxa_demangle") : NULL;
        memcpy(&cupti_demangle, &address, sizeof cupti_demangle);
    }
}

/* What is no such name reads as it is. NULL: no memory. */
static const char *both_names(const char *name)
{
    int status = -1;
    char *its = cupti_demangle(name, NULL, NULL, &status);
    const char *reads = its && !status ? its : name;
    size_t size = strlen(name) + 1, more = strlen(reads) + 1;
    char *both = gnomon__alloc(size + more);
    if (both) {
        memcpy(both, name, size);
        memcpy(both + size, reads, more);
    }
    free(its);
    return both;
}

/* "void gemm<float>(float*)" of "_Z4gemmIfEvPT_". CUPTI tells those of the linker. */
static const char *row_kernel_name(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 || !cupti_demangle)
        return name;
    gnomon__text_item *item = cupti_demangled.slots.count < MOST_DEMANGLED
                                  ? gnomon__text_intern(&cupti_demangled, name)
                                  : gnomon__text_find(&cupti_demangled, name);
    if (item && !item->text)
        item->text = both_names(name);
    return item && item->text ? item->text + strlen(name) + 1 : name;
}

/* ---- Rows ------------------------------------------------------------------------------ */

/* What is read and was not told yet. */
static struct {
    uint32_t number; /* of the source; 0: nobody listens */
    uint32_t count;
    gnomon_device_work records[CUPTI_ROW];
    char texts[CUPTI_ROW][GNOMON__CUPTI_TEXT];
    uint64_t lost; /* unfinished ones, and those that CUPTI cannot read */
} cupti_row;

/* Kernels that were read, or reported as lost, since the last subscription. */
static uint64_t kernels_told;

static const char *row_call_name(int is_driver, uint32_t call)
{
    char *text = cupti_row.texts[cupti_row.count];
    return gnomon__cupti_name(is_driver, call, text, GNOMON__CUPTI_TEXT) ? text
                                                                         : NULL;
}

static gnomon__cupti_reader reads = {.time = clock_time,
                                     .kernel_name = row_kernel_name,
                                     .call_name = row_call_name};

static void row_tell(void)
{
    if (cupti_row.count && cupti_row.number)
        gnomon__cupti_listens->put(cupti_row.number, cupti_row.records,
                                   cupti_row.count);
    cupti_row.count = 0;
    bump_relaxed(&gnomon__cupti_rows_told, 1);
}

/* CUPTI filters noise where it can (12.5); this is for the others. From 12.8 on a query of
 * an event or a stream that is done is a record of a wait too; as queries are not noted, it
 * is known by that. */
static int is_of_use(const gnomon_device_work *a)
{
    if (a->kind != GNOMON_DEVICE_CALL && a->kind != GNOMON_DEVICE_SYNC)
        return 1;
    enum gnomon__activity_noted noted =
        gnomon__cupti_listens->noted(cupti_row.number, a->correlation);
    if (noted == GNOMON__NOTED_OWN)
        return 0;
    if (a->kind == GNOMON_DEVICE_SYNC)
        return noted == GNOMON__NOTED || reads.version < GNOMON__CUPTI_12_8 ||
               !GNOMON__CUPTI_MAY_QUERY(a->call);
    return gnomon__cupti_class_of((a->flags & GNOMON_DEVICE_LOW_LEVEL) != 0,
                                  a->call) != GNOMON__CUPTI_NOISE;
}

static void row_add(const void *record)
{
    gnomon_device_work *a = &cupti_row.records[cupti_row.count];
    char *text = cupti_row.texts[cupti_row.count];
    enum gnomon__cupti_reading is = gnomon__cupti_read(&reads, record, a, text);
    cupti_row.lost += is == GNOMON__CUPTI_UNFINISHED;
    if (is == GNOMON__CUPTI_READ && a->kind == GNOMON_DEVICE_KERNEL)
        add_relaxed(&kernels_told, 1);
    if (is != GNOMON__CUPTI_READ || !is_of_use(a))
        return;
    if (++cupti_row.count == CUPTI_ROW)
        row_tell();
}

/* The full buffer that was completed first, or NULL; it is the caller's until it is given
 * back. `order` of a buffer that is completed at this moment may be an old one: then another
 * buffer is read first, which does no harm. */
static cupti_buffer *buffer_next(void)
{
    for (;;) {
        cupti_buffer *first = NULL;
        uint64_t least = UINT64_MAX;
        for (uint32_t i = 0; i < load_acquire(&buffer_count); i++) {
            cupti_buffer *b = &cupti_buffers[i];
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

static uint64_t read_buffer(const cupti_buffer *b)
{
    void *record = NULL;
    uint64_t count = 0;
    while (buffer_step(b, &record, &cupti_row.lost)) {
        row_add(record);
        count++;
    }
    row_tell(); /* names of kernels are CUPTI's, the rest is in the buffer */
    return count;
}

static void tell_lost(uint32_t number, uint64_t count)
{
    if (!count || !number)
        return;
    add_relaxed(&kernels_told, count);
    gnomon__cupti_listens->lost(number, count);
}

uint64_t gnomon__cupti_read_full(uint32_t number, int has_system_threads)
{
    cupti_buffer *b;
    uint64_t count = 0;
    reads.version = gnomon__cupti_version();
    reads.has_system_threads = has_system_threads;
    cupti_row.number = number;
    cupti_row.lost = 0;
    if (number)
        clock_anchor();
    find_demangler();
    /* No more than there are: threads may fill them as fast as they are read. */
    for (uint32_t i = 0; i < GNOMON__CUPTI_BUFFERS; i++) {
        b = buffer_next();
        if (!b)
            break;
        count += read_buffer(b);
        buffer_give(b);
    }
    size_t dropped = 0; /* as there was no buffer, since the last call */
    if (number && gnomon__cupti()->GetNumDropped(NULL, 0, &dropped))
        dropped = 0;
    tell_lost(number,
              cupti_row.lost + swap_acq_rel(&records_thrown, 0) + dropped);
    return count;
}

int gnomon__cupti_buffers_out(void)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < load_acquire(&buffer_count); i++)
        out += load_relaxed(&cupti_buffers[i].state) == BUFFER_OUT;
    return out != 0;
}

int gnomon__cupti_misses(uint64_t launched)
{
    return load_relaxed(&kernels_told) < launched;
}

void gnomon__cupti_balance(uint32_t number, uint64_t launched)
{
    static int is_logged;
    uint64_t told = load_relaxed(&kernels_told);
    if (!number)
        store_relaxed(&kernels_told, 0);
    if (!number || launched <= told)
        return;
    if (!is_logged)
        gnomon__log("CUPTI: no records of %llu of %llu kernels: does another "
                    "profiler in this process take them?",
                    (unsigned long long)(launched - told),
                    (unsigned long long)launched);
    is_logged = 1;
    tell_lost(number, launched - told);
}
