/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a buffer of CUPTI's, whose reader steps over them as NVIDIA's does: each
 * record that it finds is told, or counted as lost; what it cannot read is counted; and the
 * buffer is zeroed when it is free again. Names are the only addresses in records, and
 * CUPTI's own: those are made good.
 * links: testing */
#include "fuzz.h"

#include "device/cupti_driver.h"
#include "device/cupti_reading.h"
#include "fake_cupti/layouts.h"

static const uint32_t versions[] = {18,     20,     21,     22,    26,
                                    130001, 130101, 130301, 130500};
static uint32_t version;
static uint64_t found, told, lost;

/* ---- CUPTI, as far as it reads ------------------------------------------------------ */

static cupti_result next_record(uint8_t *buffer, size_t valid, void **record)
{
    static const char *const names[] = {"gemm", "_Z4gemmIfEvPT_", "_Zodd", ""};
    uint32_t kind = 0;
    uint8_t *at = buffer;
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        at = (uint8_t *)*record + fake_size(kind, version);
    }
    size_t left = (size_t)(buffer + valid - at);
    if (at >= buffer + valid)
        return CUPTI_MAX_LIMIT_REACHED;
    memcpy(&kind, at, left < sizeof kind ? left : sizeof kind);
    if (left < 4 || !fake_is_kind(kind) || fake_size(kind, version) > left)
        return version < 22 ? 999 : 21;
    if (kind == FAKE_KERNEL || kind == 3) {
        const char *name = names[at[104] & 3];
        if (at[104] & 4)
            name = NULL;
        memcpy(at + 104, &name, sizeof name);
    }
    *record = at;
    found++;
    return CUPTI_OK;
}

static cupti_result timestamp(uint64_t *ns)
{
    *ns = 1000000;
    return CUPTI_OK;
}

static cupti_result callback_name(int domain, uint32_t id, const char **name)
{
    *name = domain == CUPTI_DRIVER_API ? "cuCall_ptsz" : "cudaCall_v7000";
    return id % 3 ? CUPTI_OK : 1;
}

static cupti_result dropped(void *context, uint32_t stream, size_t *count)
{
    (void)context, (void)stream;
    *count = 0;
    return CUPTI_OK;
}

static const gnomon__cupti_calls calls = {.GetNextRecord = next_record,
                                          .GetNumDropped = dropped,
                                          .GetTimestamp = timestamp,
                                          .GetCallbackName = callback_name};

/* ---- The recorder ------------------------------------------------------------------- */

static void hear_launched(uint32_t source, uint64_t correlation, int is_own)
{
    (void)source, (void)correlation, (void)is_own;
}

static enum gnomon__activity_noted hear_noted(uint32_t source,
                                              uint64_t correlation)
{
    (void)source, (void)correlation;
    return GNOMON__NOTED;
}

static void hear(uint32_t source, const gnomon_device_work *records,
                 size_t count)
{
    CHECK_EQ(source, 1);
    for (size_t i = 0; i < count; i++) {
        const gnomon_device_work *r = &records[i];
        CHECK_EQ(r->struct_size, sizeof *r);
        CHECK(r->kind <= GNOMON_DEVICE_GRAPH && r->device >= -1 - INT32_MAX);
        CHECK(!r->name || strlen(r->name) < 512);
    }
    told += count;
}

static void hear_lost(uint32_t source, uint64_t count)
{
    CHECK_EQ(source, 1);
    lost += count;
}

static const gnomon__cupti_listener ears = {hear_launched, hear_noted, hear,
                                            hear_lost};

static void on_completed(void)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *buffer;
    size_t room, most;
    if (!size)
        return 0;
    gnomon__cupti_calls_are(&calls);
    gnomon__cupti_listens = &ears;
    if (!gnomon__cupti_buffers_make(on_completed))
        abort();
    version = versions[data[0] % (sizeof versions / sizeof *versions)];
    found = told = lost = 0;
    gnomon__cupti_buffer_requested(&buffer, &room, &most);
    if (!CHECK(buffer != NULL))
        return 0;
    size = size - 1 < room ? size - 1 : room;
    memcpy(buffer, data + 1, size);
    gnomon__cupti_buffer_completed(NULL, 0, buffer, room, size);
    uint64_t read = gnomon__cupti_read_full(1, 1);
    CHECK_EQ(read, found);
    CHECK(told <= read);
    /* Each that was read is told, unfinished, or of no use; and no more than there is
     * room for is said to be lost beside those. */
    CHECK(lost <= read + 2 + size / 8);
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(buffer[i], 0);
    CHECK(!gnomon__cupti_buffers_out());
    return 0;
}
