/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rest of gnomon makes CUPTI's older calls; here each becomes the call of our
 * subscriber. */
#include "device/cupti_several.h"

#include "device/cupti_buffers.h"
#include "device/cupti_records.h"
#include "platform/os.h"

static gnomon__cupti_calls several_calls;
static void *several_handle; /* the subscriber; NULL: none */

/* ---- Its calls --------------------------------------------------------------------- */

static cupti_result several_time(uint64_t *ns)
{
    return several_calls.GetTimestampV2(several_handle, ns);
}

static void several_requested(uint8_t **buffer, size_t *size, size_t *most,
                              void *info)
{
    (void)info;
    gnomon__cupti_buffer_requested(buffer, size, most);
}

static void several_completed(uint8_t *buffer, size_t size, size_t valid,
                              void *info)
{
    (void)info;
    gnomon__cupti_buffer_completed(NULL, 0, buffer, size, valid);
}

static cupti_result several_register(cupti_requested *requested,
                                     cupti_completed *completed)
{
    (void)requested, (void)completed; /* ours */
    return several_calls.RegisterCallbacksV2(several_handle, several_requested,
                                             several_completed);
}

static cupti_result several_enable(uint32_t kind)
{
    return several_calls.EnableV2(several_handle, kind, NULL);
}

static cupti_result several_disable(uint32_t kind)
{
    return several_calls.DisableV2(several_handle, kind, NULL);
}

static cupti_result several_next(uint8_t *buffer, size_t valid, void **record)
{
    return several_calls.GetNextRecordV2(several_handle, buffer, valid, record);
}

static cupti_result several_dropped(void *context, uint32_t stream,
                                    size_t *count)
{
    return several_calls.GetNumDroppedV2(several_handle, context, stream,
                                         count);
}

static cupti_result several_set(int attribute, size_t *size, void *value)
{
    return several_calls.SetAttributeV2(several_handle, attribute, size, value);
}

static cupti_result several_thread_ids(int type)
{
    size_t size = sizeof type;
    return several_set(CUPTI_THREAD_IDS, &size, &type);
}

static cupti_result several_clock(uint64_t (*now)(void))
{
    size_t size = sizeof now;
    return several_set(CUPTI_CLOCK, &size, &now);
}

static cupti_result several_runtime(uint32_t id, uint8_t enable)
{
    return several_calls.EnableRuntimeApiV2(several_handle, id, enable);
}

static cupti_result several_driver(uint32_t id, uint8_t enable)
{
    return several_calls.EnableDriverApiV2(several_handle, id, enable);
}

/* ---- The subscription ---------------------------------------------------------------- */

int gnomon__cupti_is_for_several(void)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *missing = cupti->SubscribeV2 ? NULL : "";
#define NEED(call, symbol, parameters) missing = cupti->call ? missing : symbol;
    CUPTI_CALLS_OF_ONE(NEED)
#undef NEED
    return !missing && gnomon__cupti_version() >= GNOMON__CUPTI_13_4 &&
           !gnomon__cupti_is_pytorch_here();
}

int gnomon__cupti_is_pytorch_here(void)
{
    return gnomon__os_library_loaded("libtorch_cpu.so") != NULL;
}

int gnomon__cupti_several_subscribe(void **subscriber, cupti_callback *callback)
{
    int code = gnomon__cupti_subscribe_v2(subscriber, callback, 1);
    if (code)
        return code;
    several_handle = *subscriber;
    several_calls = *gnomon__cupti();
    several_calls.GetTimestamp = several_time;
    several_calls.RegisterCallbacks = several_register;
    several_calls.Enable = several_enable;
    several_calls.Disable = several_disable;
    several_calls.GetNextRecord = several_next;
    several_calls.GetNumDropped = several_dropped;
    several_calls.SetAttribute = several_set;
    several_calls.SetThreadIdType = several_thread_ids;
    several_calls.RegisterTimestamp = several_clock;
    several_calls.EnableRuntimeApi = several_runtime;
    several_calls.EnableDriverApi = several_driver;
    gnomon__cupti_calls_are(&several_calls);
    return CUPTI_OK;
}

void gnomon__cupti_several_over(void)
{
    if (several_handle)
        gnomon__cupti_calls_are(NULL);
    several_handle = NULL;
}

int gnomon__cupti_is_one_of_several(void)
{
    return several_handle != NULL;
}
