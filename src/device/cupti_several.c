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

/* The older call, what it takes, the newer one, and what that is given. */
#define CALLS_OF_SEVERAL(X) \
    X(GetTimestamp, (uint64_t * ns), GetTimestampV2, ns) \
    X(Enable, (uint32_t kind), EnableV2, kind, NULL) \
    X(Disable, (uint32_t kind), DisableV2, kind, NULL) \
    X(GetNextRecord, (uint8_t * buffer, size_t valid, void **record), \
      GetNextRecordV2, buffer, valid, record) \
    X(GetNumDropped, (void *context, uint32_t stream, size_t *count), \
      GetNumDroppedV2, context, stream, count) \
    X(SetAttribute, (int attribute, size_t *size, void *value), \
      SetAttributeV2, attribute, size, value) \
    X(SetThreadIdType, (int type), SetAttributeV2, CUPTI_THREAD_IDS, \
      &(size_t){sizeof type}, &type) \
    X(RegisterTimestamp, (uint64_t(*now)(void)), SetAttributeV2, CUPTI_CLOCK, \
      &(size_t){sizeof now}, &now) \
    X(EnableRuntimeApi, (uint32_t id, uint8_t enable), EnableRuntimeApiV2, id, \
      enable) \
    X(EnableDriverApi, (uint32_t id, uint8_t enable), EnableDriverApiV2, id, \
      enable)

#define CALL_OF_SEVERAL(name, parameters, call, ...) \
    static cupti_result several_##name parameters \
    { \
        return several_calls.call(several_handle, __VA_ARGS__); \
    }
CALLS_OF_SEVERAL(CALL_OF_SEVERAL)

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
    several_calls.RegisterCallbacks = several_register;
#define PUT_CALL(name, ...) several_calls.name = several_##name;
    CALLS_OF_SEVERAL(PUT_CALL)
#undef PUT_CALL
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
