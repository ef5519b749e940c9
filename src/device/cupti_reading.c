/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records go on in rows of 64, so that the recorder's lock is taken once for them. No
 * lock of ours is held while CUPTI is called. */
#include "device/cupti_reading.h"

#include <stdio.h>
#include <string.h>

#include "device/cupti_buffers.h"
#include "device/cupti_clock.h"
#include "device/cupti_demangle.h"
#include "device/cupti_driver.h"
#include "device/cupti_names.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/error.h"

#define CUPTI_ROW 64u

static const gnomon__cupti_listener the_recorder = {
    gnomon__activity_note_launch, gnomon__activity_noted, gnomon_activity_put,
    gnomon_activity_lost};
const gnomon__cupti_listener *gnomon__cupti_listens = &the_recorder;

uint64_t gnomon__cupti_rows_told;

/* What is read and was not told yet. */
static struct {
    uint32_t number; /* of the source; 0: nobody listens */
    uint32_t count;
    gnomon_activity records[CUPTI_ROW];
    char texts[CUPTI_ROW][GNOMON__CUPTI_TEXT];
    char call[128]; /* a call's name, before it is copied */
    uint64_t lost;  /* unfinished ones, and those that CUPTI cannot read */
} cupti_row;

/* Kernels that were read, and whatever was told to be lost, since the last subscription. */
static uint64_t kernels_told;

/* ---- Records ----------------------------------------------------------------------- */

static const char *row_call_name(int is_driver, uint32_t call)
{
    return gnomon__cupti_name(is_driver, call, cupti_row.call,
                              sizeof cupti_row.call)
               ? cupti_row.call
               : NULL;
}

static gnomon__cupti_reader reads = {.time = gnomon__cupti_clock_time,
                                     .kernel_name = gnomon__cupti_demangled,
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
static int is_of_use(const gnomon_activity *a)
{
    if (a->kind != GNOMON_ACTIVITY_CALL && a->kind != GNOMON_ACTIVITY_SYNC)
        return 1;
    enum gnomon__activity_noted noted =
        gnomon__cupti_listens->noted(cupti_row.number, a->correlation);
    if (noted == GNOMON__NOTED_OWN)
        return 0;
    if (a->kind == GNOMON_ACTIVITY_SYNC)
        return noted == GNOMON__NOTED || reads.version < GNOMON__CUPTI_12_8 ||
               !GNOMON__CUPTI_MAY_QUERY(a->call);
    return gnomon__cupti_class_of((a->flags & GNOMON_ACTIVITY_LOW_LEVEL) != 0,
                                  a->call) != GNOMON__CUPTI_NOISE;
}

static void row_add(const void *record)
{
    gnomon_activity *a = &cupti_row.records[cupti_row.count];
    char *text = cupti_row.texts[cupti_row.count];
    enum gnomon__cupti_reading is = gnomon__cupti_read(&reads, record, a, text);
    cupti_row.lost += is == GNOMON__CUPTI_UNFINISHED;
    if (is == GNOMON__CUPTI_READ && a->kind == GNOMON_ACTIVITY_KERNEL)
        add_relaxed(&kernels_told, 1);
    if (is != GNOMON__CUPTI_READ || !is_of_use(a))
        return;
    if (a->name == cupti_row.call) {
        snprintf(text, GNOMON__CUPTI_TEXT, "%.*s", (int)GNOMON__CUPTI_TEXT - 1,
                 cupti_row.call);
        a->name = text;
    }
    if (++cupti_row.count == CUPTI_ROW)
        row_tell();
}

static uint64_t read_buffer(const gnomon__cupti_buffer *b)
{
    void *record = NULL;
    uint64_t count = 0;
    while (gnomon__cupti_buffer_step(b, &record, &cupti_row.lost)) {
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
    gnomon__cupti_buffer *b;
    uint64_t count = 0;
    reads.version = gnomon__cupti_version();
    reads.has_system_threads = has_system_threads;
    cupti_row.number = number;
    cupti_row.lost = 0;
    if (number)
        gnomon__cupti_clock_anchor();
    gnomon__cupti_demangle_begin();
    /* No more than there are: threads may fill them as fast as they are read. */
    for (uint32_t i = 0; i < GNOMON__CUPTI_BUFFERS; i++) {
        b = gnomon__cupti_buffers_next();
        if (!b)
            break;
        count += read_buffer(b);
        gnomon__cupti_buffers_give(b);
    }
    tell_lost(number, cupti_row.lost + gnomon__cupti_buffers_lost());
    return count;
}

void gnomon__cupti_count_dropped(uint32_t number)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    size_t dropped = 0;
    if (!cupti->GetNumDropped(NULL, 0, &dropped))
        tell_lost(number, dropped);
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
