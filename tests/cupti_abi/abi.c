/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI's calls, numbers and records as gnomon and the fake write them out, against
 * NVIDIA's headers of one release. Compiled only. <cupti.h> is not included: its lists of
 * all calls of CUDA need the cuda.h of the same release. */
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include <cupti_result.h>
#include <cupti_version.h>

#include <cupti_callbacks.h>

#include <cupti_activity.h>

#include "device/cupti_driver.h"
#include "device/cupti_records.h"
#include "fake_cupti/layouts.h"

#define IS(what) _Static_assert(what, #what)

/* ---- Calls: what each takes, as NVIDIA names the types ------------------------------- */

#define CALL(name, ...) \
    IS(__builtin_types_compatible_p(__typeof__(&name), \
                                    CUptiResult (*)(__VA_ARGS__)))

CALL(cuptiGetVersion, uint32_t *);
CALL(cuptiGetResultString, CUptiResult, const char **);
CALL(cuptiGetTimestamp, uint64_t *);
CALL(cuptiGetCallbackName, CUpti_CallbackDomain, uint32_t, const char **);
CALL(cuptiSubscribe, CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
CALL(cuptiUnsubscribe, CUpti_SubscriberHandle);
CALL(cuptiEnableCallback, uint32_t, CUpti_SubscriberHandle,
     CUpti_CallbackDomain, CUpti_CallbackId);
CALL(cuptiActivityRegisterCallbacks, CUpti_BuffersCallbackRequestFunc,
     CUpti_BuffersCallbackCompleteFunc);
CALL(cuptiActivityEnable, CUpti_ActivityKind);
CALL(cuptiActivityDisable, CUpti_ActivityKind);
CALL(cuptiActivityGetNextRecord, uint8_t *, size_t, CUpti_Activity **);
CALL(cuptiActivityGetNumDroppedRecords, CUcontext, uint32_t, size_t *);
CALL(cuptiActivityFlushAll, uint32_t);
CALL(cuptiSetThreadIdType, CUpti_ActivityThreadIdType);
CALL(cuptiActivityRegisterTimestampCallback, CUpti_TimestampCallbackFunc);
CALL(cuptiGetStreamIdEx, CUcontext, CUstream, uint8_t, uint32_t *);
CALL(cuptiActivitySetAttribute, CUpti_ActivityAttribute, size_t *, void *);
#if CUPTI_API_VERSION >= 23
CALL(cuptiActivityEnableRuntimeApi, CUpti_CallbackId, uint8_t);
CALL(cuptiActivityEnableDriverApi, CUpti_CallbackId, uint8_t);
#endif
#if CUPTI_API_VERSION >= 130000
CALL(cuptiSubscribe_v2, CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
     CUpti_SubscriberParams *);
#endif
#if CUPTI_API_VERSION >= 130400
CALL(cuptiGetTimestamp_v2, CUpti_SubscriberHandle, uint64_t *);
CALL(cuptiActivityRegisterCallbacks_v2, CUpti_SubscriberHandle,
     CUpti_BuffersCallbackRequestFunc_v2, CUpti_BuffersCallbackCompleteFunc_v2);
CALL(cuptiActivityEnable_v2, CUpti_SubscriberHandle, CUpti_ActivityKind,
     CUpti_ActivityConfig *);
CALL(cuptiActivityDisable_v2, CUpti_SubscriberHandle, CUpti_ActivityKind,
     CUpti_ActivityConfig *);
CALL(cuptiActivityGetNextRecord_v2, CUpti_SubscriberHandle, uint8_t *, size_t,
     CUpti_Activity **);
CALL(cuptiActivityGetNumDroppedRecords_v2, CUpti_SubscriberHandle, CUcontext,
     uint32_t, size_t *);
CALL(cuptiActivitySetAttribute_v2, CUpti_SubscriberHandle,
     CUpti_ActivityAttribute, size_t *, void *);
CALL(cuptiActivityEnableRuntimeApi_v2, CUpti_SubscriberHandle, CUpti_CallbackId,
     uint8_t);
CALL(cuptiActivityEnableDriverApi_v2, CUpti_SubscriberHandle, CUpti_CallbackId,
     uint8_t);
#endif

/* Types that gnomon passes others for. */
IS(sizeof(CUptiResult) == sizeof(cupti_result));
IS(sizeof(CUpti_CallbackDomain) == sizeof(int));
IS(sizeof(CUpti_CallbackId) == sizeof(uint32_t));
IS(sizeof(CUpti_ActivityKind) == sizeof(uint32_t));
IS(sizeof(CUpti_ActivityThreadIdType) == sizeof(int));
IS(sizeof(CUpti_SubscriberHandle) == sizeof(void *));
IS(sizeof(CUcontext) == sizeof(void *));
IS(sizeof(CUstream) == sizeof(void *));

/* ---- Numbers ---------------------------------------------------------------------------- */

#define SAME(ours, theirs) IS((int)(ours) == (int)(theirs))

SAME(CUPTI_OK, CUPTI_SUCCESS);
SAME(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
SAME(CUPTI_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME(CUPTI_NO_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(CUPTI_TWO_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(CUPTI_VIRTUALIZED_NO_PRIVILEGES,
     CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(CUPTI_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME(CUPTI_DRIVER_API, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(CUPTI_RUNTIME_API, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(CUPTI_RESOURCES, CUPTI_CB_DOMAIN_RESOURCE);
SAME(CUPTI_CONTEXT_ENDS, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(CUPTI_SYSTEM_THREADS, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
IS(CUPTI_INVALID_STREAM_ID ==
   (CUPTI_API_VERSION < GNOMON__CUPTI_13_2 ? CUPTI_NO_STREAM : 0));
IS((uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE == UINT32_MAX);
SAME(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
SAME(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME(CUPTI_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME(1, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
SAME(3, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
#if CUPTI_API_VERSION >= 20
SAME(CUPTI_STATE, CUPTI_CB_DOMAIN_STATE);
SAME(CUPTI_FATAL_ERROR, CUPTI_CBID_STATE_FATAL_ERROR);
IS(offsetof(cupti_state_data, result) ==
   offsetof(CUpti_StateData, notification.result));
IS(offsetof(cupti_state_data, message) ==
   offsetof(CUpti_StateData, notification.message));
#endif
#if CUPTI_API_VERSION >= 21
SAME(CUPTI_BUFFERS_OF_THREADS, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif
#if CUPTI_API_VERSION >= 130000
IS(offsetof(cupti_subscriber_params, size) ==
   offsetof(CUpti_SubscriberParams, structSize));
IS(offsetof(cupti_subscriber_params, name) ==
   offsetof(CUpti_SubscriberParams, subscriberName));
IS(offsetof(cupti_subscriber_params, owner) ==
   offsetof(CUpti_SubscriberParams, oldSubscriberName));
IS(offsetof(cupti_subscriber_params, owner_size) ==
   offsetof(CUpti_SubscriberParams, oldSubscriberSize));
IS(CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN == 64);
IS(CUpti_SubscriberParams_STRUCT_SIZE ==
   (CUPTI_API_VERSION < GNOMON__CUPTI_13_2
        ? offsetof(cupti_subscriber_params, is_one_of_several)
        : sizeof(cupti_subscriber_params)));
#endif
#if CUPTI_API_VERSION >= 130400
IS(offsetof(cupti_subscriber_params, is_one_of_several) ==
   offsetof(CUpti_SubscriberParams, allowMultipleSubscribers));
SAME(CUPTI_WHOLE_GRAPHS,
     CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE);
SAME(CUPTI_THREAD_IDS, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
SAME(CUPTI_CLOCK, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK);
#endif
SAME(0, CUPTI_API_ENTER);
SAME(1, CUPTI_API_EXIT);

SAME(GNOMON__CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(GNOMON__CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(GNOMON__CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(GNOMON__CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(GNOMON__CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(GNOMON__CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(GNOMON__CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(GNOMON__CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(GNOMON__CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

/* ---- What callbacks are given -------------------------------------------------------------- */

#define AT(ours, field, theirs, member) \
    IS(offsetof(ours, field) == offsetof(theirs, member))

#define CALL_AT(field, member) \
    AT(cupti_call_data, field, CUpti_CallbackData, member)
CALL_AT(site, callbackSite);
CALL_AT(function, functionName);
CALL_AT(parameters, functionParams);
CALL_AT(result, functionReturnValue);
CALL_AT(symbol, symbolName);
CALL_AT(context, context);
CALL_AT(context_id, contextUid);
CALL_AT(user, correlationData);
CALL_AT(correlation, correlationId);
IS(sizeof(cupti_call_data) == sizeof(CUpti_CallbackData));
AT(cupti_resource_data, context, CUpti_ResourceData, context);
IS(sizeof(cupti_resource_data) == sizeof(CUpti_ResourceData));

/* ---- Records: those of CUDA 12 and later have these in common ------------------------------- */

#if defined IS_CUDA_12 && !IS_CUDA_12
typedef CUpti_ActivityKernel8 their_kernel;
#else
typedef CUpti_ActivityKernel9 their_kernel;
#endif
#define KERNEL_AT(field, member) AT(fake_kernel, field, their_kernel, member)
KERNEL_AT(registers, registersPerThread);
KERNEL_AT(start, start);
KERNEL_AT(end, end);
KERNEL_AT(device, deviceId);
KERNEL_AT(context, contextId);
KERNEL_AT(stream, streamId);
KERNEL_AT(grid, gridX);
KERNEL_AT(block, blockX);
KERNEL_AT(shared_static, staticSharedMemory);
KERNEL_AT(shared_dynamic, dynamicSharedMemory);
KERNEL_AT(correlation, correlationId);
KERNEL_AT(name, name);
KERNEL_AT(graph_node, graphNodeId);
KERNEL_AT(graph, graphId);

#define COPY_AT(field, member) \
    AT(fake_copy, field, CUpti_ActivityMemcpy5, member)
COPY_AT(direction, copyKind);
COPY_AT(from, srcKind);
COPY_AT(to, dstKind);
COPY_AT(bytes, bytes);
COPY_AT(start, start);
COPY_AT(end, end);
COPY_AT(device, deviceId);
COPY_AT(context, contextId);
COPY_AT(stream, streamId);
COPY_AT(correlation, correlationId);
COPY_AT(graph_node, graphNodeId);
COPY_AT(graph, graphId);

#define PEER_AT(field, member) \
    AT(fake_peer_copy, field, CUpti_ActivityMemcpyPtoP4, member)
PEER_AT(bytes, bytes);
PEER_AT(device, deviceId);
PEER_AT(stream, streamId);
PEER_AT(correlation, correlationId);
PEER_AT(graph_node, graphNodeId);
PEER_AT(graph, graphId);

#define SET_AT(field, member) AT(fake_set, field, CUpti_ActivityMemset4, member)
SET_AT(bytes, bytes);
SET_AT(start, start);
SET_AT(end, end);
SET_AT(device, deviceId);
SET_AT(stream, streamId);
SET_AT(correlation, correlationId);
SET_AT(memory, memoryKind);
SET_AT(graph_node, graphNodeId);
SET_AT(graph, graphId);

#define API_AT(field, member) AT(fake_call, field, CUpti_ActivityAPI, member)
API_AT(call, cbid);
API_AT(start, start);
API_AT(end, end);
API_AT(process, processId);
API_AT(thread, threadId);
API_AT(correlation, correlationId);
API_AT(result, returnValue);
IS(sizeof(fake_call) == sizeof(CUpti_ActivityAPI));

#define WAIT_AT(field, member) \
    AT(fake_wait, field, CUpti_ActivitySynchronization, member)
WAIT_AT(type, type);
WAIT_AT(start, start);
WAIT_AT(end, end);
WAIT_AT(correlation, correlationId);
WAIT_AT(context, contextId);
WAIT_AT(stream, streamId);

#define OVERHEAD_AT(field, member) \
    AT(fake_overhead, field, CUpti_ActivityOverhead, member)
OVERHEAD_AT(what, overheadKind);
OVERHEAD_AT(of, objectKind);
OVERHEAD_AT(id, objectId);
OVERHEAD_AT(start, start);
OVERHEAD_AT(end, end);

#define GRAPH_AT(field, member) \
    AT(fake_graph, field, CUpti_ActivityGraphTrace, member)
GRAPH_AT(correlation, correlationId);
GRAPH_AT(start, start);
GRAPH_AT(end, end);
GRAPH_AT(device, deviceId);
GRAPH_AT(graph, graphId);
GRAPH_AT(context, contextId);
GRAPH_AT(stream, streamId);
