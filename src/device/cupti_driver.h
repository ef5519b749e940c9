/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of CUPTI that gnomon makes, found when the program runs. They are NVIDIA's
 * documented ABI (cupti_activity.h and cupti_callbacks.h of CUDA 11.8 to 13), written
 * out here so that nothing of CUDA is needed to build. */
#ifndef GNOMON_DEVICE_CUPTI_DRIVER_H
#define GNOMON_DEVICE_CUPTI_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int cupti_result;

/* CUptiResult, as far as gnomon tells them apart. */
enum {
    CUPTI_OK = 0,
    CUPTI_MAX_LIMIT_REACHED = 12, /* also: there are no more records */
    CUPTI_NOT_COMPATIBLE = 14,
    CUPTI_NOT_INITIALIZED = 15,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUALIZED = 33,
    CUPTI_NO_PRIVILEGES = 35,
    CUPTI_TWO_SUBSCRIBERS = 39,
    CUPTI_VIRTUALIZED_NO_PRIVILEGES = 40,
    CUPTI_CONFIDENTIAL = 41
};

/* CUpti_CallbackDomain */
enum {
    CUPTI_DRIVER_API = 1,
    CUPTI_RUNTIME_API = 2,
    CUPTI_RESOURCES = 3,
    CUPTI_STATE = 6 /* 12.2 */
};

/* CUpti_CallbackIdResource and CUpti_CallbackIdState */
#define CUPTI_CONTEXT_ENDS 2u
#define CUPTI_FATAL_ERROR 1u

/* CUpti_ActivityAttribute */
enum {
    CUPTI_ZEROED_BUFFERS = 5,
    CUPTI_BUFFERS_OF_THREADS = 9, /* 12.3; on from 13.0 on */
    CUPTI_WHOLE_GRAPHS = 20,      /* for all of several subscribers */
    CUPTI_THREAD_IDS = 21,
    CUPTI_CLOCK = 22
};

#define CUPTI_FLUSH_FORCED 1u
#define CUPTI_NO_STREAM UINT32_MAX /* CUPTI_INVALID_STREAM_ID; 0 from 13.2 on */
#define CUPTI_SYSTEM_THREADS 1     /* CUpti_ActivityThreadIdType */

/* CUpti_CallbackData, of both interfaces' calls. */
typedef struct cupti_call_data {
    int site; /* 0: the call begins, 1: it returns */
    const char *function;
    const void *parameters;
    const int *result; /* set when it returns */
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *user;
    uint32_t correlation;
} cupti_call_data;

/* CUpti_ResourceData */
typedef struct cupti_resource_data {
    void *context;
    void *resource;
    void *description;
} cupti_resource_data;

/* CUpti_StateData */
typedef struct cupti_state_data {
    int result;
    const char *message; /* or NULL */
} cupti_state_data;

/* CUpti_SubscriberParams; up to 13.1 without its last line. */
typedef struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *owner; /* where that of an earlier subscriber is written */
    size_t owner_size;
    uint8_t is_one_of_several, padding[7];
} cupti_subscriber_params;

typedef void cupti_callback(void *user, int domain, uint32_t id,
                            const void *data);
typedef void cupti_requested(uint8_t **buffer, size_t *size, size_t *most);
typedef void cupti_completed(void *context, uint32_t stream, uint8_t *buffer,
                             size_t size, size_t valid);
typedef void cupti_requested_v2(uint8_t **buffer, size_t *size, size_t *most,
                                void *info);
typedef void cupti_completed_v2(uint8_t *buffer, size_t size, size_t valid,
                                void *info);

/* Calls that CUPTI of 11.8 has. Those of CUPTI_NEWER_CALLS may be NULL. */
#define CUPTI_CALLS(X) \
    X(GetVersion, "cuptiGetVersion", (uint32_t * version)) \
    X(GetResultString, "cuptiGetResultString", \
      (cupti_result code, const char **name)) \
    X(GetTimestamp, "cuptiGetTimestamp", (uint64_t * ns)) \
    X(GetCallbackName, "cuptiGetCallbackName", \
      (int domain, uint32_t id, const char **name)) \
    X(Subscribe, "cuptiSubscribe", \
      (void **subscriber, cupti_callback *callback, void *user)) \
    X(Unsubscribe, "cuptiUnsubscribe", (void *subscriber)) \
    X(EnableCallback, "cuptiEnableCallback", \
      (uint32_t enable, void *subscriber, int domain, uint32_t id)) \
    X(RegisterCallbacks, "cuptiActivityRegisterCallbacks", \
      (cupti_requested * requested, cupti_completed * completed)) \
    X(Enable, "cuptiActivityEnable", (uint32_t kind)) \
    X(Disable, "cuptiActivityDisable", (uint32_t kind)) \
    X(GetNextRecord, "cuptiActivityGetNextRecord", \
      (uint8_t * buffer, size_t valid, void **record)) \
    X(GetNumDropped, "cuptiActivityGetNumDroppedRecords", \
      (void *context, uint32_t stream, size_t *count)) \
    X(SetAttribute, "cuptiActivitySetAttribute", \
      (int attribute, size_t *size, void *value)) \
    X(FlushAll, "cuptiActivityFlushAll", (uint32_t flags))
#define CUPTI_NEWER_CALLS(X) \
    X(SetThreadIdType, "cuptiSetThreadIdType", (int type)) \
    X(RegisterTimestamp, "cuptiActivityRegisterTimestampCallback", \
      (uint64_t(*now)(void))) \
    X(GetStreamIdEx, "cuptiGetStreamIdEx", \
      (void *context, void *stream, uint8_t is_own, uint32_t *number)) \
    X(EnableRuntimeApi, "cuptiActivityEnableRuntimeApi", \
      (uint32_t id, uint8_t enable)) \
    X(EnableDriverApi, "cuptiActivityEnableDriverApi", \
      (uint32_t id, uint8_t enable)) \
    X(SubscribeV2, "cuptiSubscribe_v2", \
      (void **subscriber, cupti_callback *callback, void *user, \
       const cupti_subscriber_params *params)) \
    CUPTI_CALLS_OF_ONE(X)
/* Those of one of several subscribers, which does not make the same calls without it. */
#define CUPTI_CALLS_OF_ONE(X) \
    X(GetTimestampV2, "cuptiGetTimestamp_v2", \
      (void *subscriber, uint64_t *ns)) \
    X(RegisterCallbacksV2, "cuptiActivityRegisterCallbacks_v2", \
      (void *subscriber, cupti_requested_v2 *requested, \
       cupti_completed_v2 *completed)) \
    X(EnableV2, "cuptiActivityEnable_v2", \
      (void *subscriber, uint32_t kind, void *config)) \
    X(DisableV2, "cuptiActivityDisable_v2", \
      (void *subscriber, uint32_t kind, void *config)) \
    X(GetNextRecordV2, "cuptiActivityGetNextRecord_v2", \
      (void *subscriber, uint8_t *buffer, size_t valid, void **record)) \
    X(GetNumDroppedV2, "cuptiActivityGetNumDroppedRecords_v2", \
      (void *subscriber, void *context, uint32_t stream, size_t *count)) \
    X(SetAttributeV2, "cuptiActivitySetAttribute_v2", \
      (void *subscriber, int attribute, size_t *size, void *value)) \
    X(EnableRuntimeApiV2, "cuptiActivityEnableRuntimeApi_v2", \
      (void *subscriber, uint32_t id, uint8_t enable)) \
    X(EnableDriverApiV2, "cuptiActivityEnableDriverApi_v2", \
      (void *subscriber, uint32_t id, uint8_t enable))

typedef struct gnomon__cupti_calls {
#define CUPTI_FIELD(name, symbol, parameters) cupti_result(*name) parameters;
    CUPTI_CALLS(CUPTI_FIELD)
    CUPTI_NEWER_CALLS(CUPTI_FIELD)
#undef CUPTI_FIELD
} gnomon__cupti_calls;

/* The symbols of the calls, as messages name them. */
typedef struct gnomon__cupti_symbols {
#define CUPTI_SYMBOL(name, symbol, parameters) const char *name;
    CUPTI_CALLS(CUPTI_SYMBOL)
    CUPTI_NEWER_CALLS(CUPTI_SYMBOL)
#undef CUPTI_SYMBOL
} gnomon__cupti_symbols;
extern const gnomon__cupti_symbols gnomon__cupti_symbol;

/* Loads CUPTI, if it is not there yet; a later call tries again, as the host may have
 * loaded one of its own by then. NULL: *why is one line that says why and what to do,
 * valid until the next call. In control calls only. Hold no lock that a mark may wait
 * for: it loads a library. */
const gnomon__cupti_calls *gnomon__cupti_load(const char **why);

/* What gnomon__cupti_load returned last. Any thread. */
const gnomon__cupti_calls *gnomon__cupti(void);

/* What it returns from now on; NULL: those that were loaded. In control calls. */
void gnomon__cupti_calls_are(const gnomon__cupti_calls *calls);

/* The version from cuptiGetVersion, see cupti_records.h; 0: not loaded. */
uint32_t gnomon__cupti_version(void);

/* ---- CUDA's calls by the numbers that CUPTI has for them -------------------------------- */

#define GNOMON__CUPTI_IDS 2048u /* 13.0 has less than 900 in each interface */

enum gnomon__cupti_class {
    GNOMON__CUPTI_UNKNOWN = 0, /* there is no such call */
    GNOMON__CUPTI_NOISE = 1,   /* it only asks, and often: not told about */
    GNOMON__CUPTI_OTHER = 2,
    GNOMON__CUPTI_WAIT = 3,   /* the thread or a stream waits */
    GNOMON__CUPTI_LAUNCH = 4, /* it launches a copy, a set, a graph or others */
    GNOMON__CUPTI_KERNEL_LAUNCH = 5, /* it launches one kernel */
    GNOMON__CUPTI_CAPTURE_BEGINS = 6,
    GNOMON__CUPTI_CAPTURE_ENDS = 7
};

/* What a call of this name does. */
enum gnomon__cupti_class gnomon__cupti_class_of_name(const char *name);

/* Classifies all calls of the CUPTI that is loaded. In control calls, once. */
void gnomon__cupti_names_read(void);

/* The class of a call, after gnomon__cupti_names_read. One load. */
enum gnomon__cupti_class gnomon__cupti_class_of(int is_driver, uint32_t id);

/* The call's name as programs write it: cudaLaunchKernel, not
 * cudaLaunchKernel_ptsz_v7000. 0: it is not known. */
int gnomon__cupti_name(int is_driver, uint32_t id, char *text, size_t size);

/* ---- One of several subscribers --------------------------------------------------------- */

/* From 13.4 on several may subscribe, if all of them make calls that name the subscriber;
 * each then has buffers, kinds and a clock of its own. CUPTI refuses these calls where
 * somebody made those for the whole process, and the other way round. In control calls. */

/* Whether this CUPTI can, and it is wise. */
int gnomon__cupti_is_for_several(void);

/* PyTorch's profiler makes the calls for the whole process, at any time: it must neither be
 * shut out nor find that its buffers are to be zeroed. */
int gnomon__cupti_is_pytorch_here(void);

/* Subscribes; as one of several gnomon__cupti() then has the calls of this subscriber. Or
 * why not: who has CUPTI is named by gnomon__cupti_explain, if it can be. */
int gnomon__cupti_join(void **subscriber, cupti_callback *callback,
                       int is_one_of_several);
/* gnomon__cupti() is for the whole process again. */
void gnomon__cupti_leave(void *subscriber);

/* Whether it is subscribed as one of several. */
int gnomon__cupti_is_one_of_several(void);

/* One line of why a call failed, and what to do. */
void gnomon__cupti_explain(char *text, size_t size, const char *symbol,
                           int result);

#endif
