/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI without a GPU. Records are written to the client's buffers, in the length that
 * the version has; those of work that is not over have no end yet, and a buffer with one
 * is not given back without force. One lock over all, which is not held in the client's
 * callbacks. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cupti.h"

#define EXPORT __attribute__((visibility("default")))
#define NEVER UINT64_MAX
#define IDS 640u /* of each interface */

enum {
    OK = 0,
    INVALID_PARAMETER = 1,
    INVALID_OPERATION = 7,
    MAX_LIMIT = 12,
    NOT_COMPATIBLE = 14,
    NOT_INITIALIZED = 15,
    INVALID_STREAM = 20,
    INVALID_KIND = 21,
    NOT_SUPPORTED = 27,
    TWO_SUBSCRIBERS = 39,
    UNKNOWN = 999
};

typedef void callback_function(void *user, int domain, uint32_t id,
                               const void *data);

typedef struct held {
    uint8_t *memory;
    size_t size, used;
    unsigned unfinished;
    int is_full;
    pid_t owner; /* the thread, where each has its own */
} held;

/* Work that is not over: where its end will be written. */
typedef struct unfinished {
    uint8_t *record; /* NULL: free */
    unsigned in;     /* which held buffer */
    uint64_t end;
    size_t at; /* of the end, in the record */
} unfinished;

typedef struct open_call {
    int domain;
    uint32_t id, correlation;
    uint64_t start;
    void *context;
} open_call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t version = 130000;
static int has_other, keeps_back, is_unloaded, has_ended;
static enum fake_numbers numbers;
static const uint64_t *the_clock;
static int64_t clock_offset, clock_gain;
static uint64_t (*timestamp)(void);
static callback_function *callback;
static void *callback_user;
static int is_subscribed, is_several;
static char other_name[64];
static int other_is_several, anybody_may;
/* Cannot be mixed in a process (messages of libcupti 13.3 and later). */
static enum { NO_SCOPE, OF_PROCESS, OF_SUBSCRIBER } scope;
static int wants_zeroed;    /* the client gives zeroed buffers */
static int of_threads = -1; /* buffers; -1: as the version has it */
static uint64_t bytes_zeroed;
static void (*requested)(uint8_t **, size_t *, size_t *);
static void (*completed)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t called_back[7][IDS], left_out[4][IDS];
static uint8_t recorded[64];
static held buffers[256], kept_back[256];
static unsigned kept_count;
static unfinished works[4096];
static uint64_t dropped_now, dropped_ever;
static uint32_t last_correlation;
static uint64_t ready[64]; /* of each stream */
static const char *hangs;
static __thread open_call stack[16];
static __thread unsigned top;
static __thread int in_callback;

static struct {
    const char *call;
    uint64_t n, many;
    int result;
} fault;

static struct {
    const char *call;
    uint64_t count;
} counts[64];

static void lock_all(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&lock);
}

/* What a process must have before its first line: FAKE_CUPTI_OTHER=1 (another client
 * owns it), FAKE_CUPTI_VERSION=26, FAKE_CUPTI_NUMBERS=2 (enum fake_numbers),
 * FAKE_CUPTI_FAIL=cuptiSubscribe:35. */
__attribute__((constructor)) static void begin_as_told(void)
{
    const char *other = getenv("FAKE_CUPTI_OTHER");
    const char *is = getenv("FAKE_CUPTI_VERSION");
    const char *how = getenv("FAKE_CUPTI_NUMBERS");
    const char *fails = getenv("FAKE_CUPTI_FAIL");
    char *result = fails ? strchr(fails, ':') : NULL;
    pthread_atfork(lock_all, unlock_all, unlock_all);
    has_other = other != NULL;
    version = is ? (uint32_t)atoi(is) : version;
    numbers = how ? (enum fake_numbers)atoi(how) : numbers;
    if (result) {
        fault.call = strndup(fails, (size_t)(result - fails));
        fault.n = 1;
        fault.many = UINT64_MAX;
        fault.result = atoi(result + 1);
    }
}

/* ---- Inside ------------------------------------------------------------------------ */

static void misuse(const char *what, const char *call)
{
    fprintf(stderr, "fake CUPTI: %s: %s\n", call, what);
    abort();
}

static uint64_t host_now(void)
{
    struct timespec t;
    if (the_clock)
        return __atomic_load_n(the_clock, __ATOMIC_RELAXED);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t own_now(void)
{
    uint64_t ns = host_now();
    return ns + (uint64_t)__atomic_load_n(&clock_offset, __ATOMIC_RELAXED) +
           (uint64_t)((int64_t)ns / 1000000 *
                      __atomic_load_n(&clock_gain, __ATOMIC_RELAXED));
}

static uint64_t record_now(void)
{
    return timestamp ? timestamp() : own_now();
}

/* Every call of the client's: counted, and may be the one that fails. Keeps the lock. */
static int enter(const char *call)
{
    int result = OK;
    if (in_callback && !strstr(call, "GetNextRecord"))
        misuse("a call from inside a callback", call);
    pthread_mutex_lock(&lock);
    if (has_ended)
        result = 15; /* NOT_INITIALIZED */
    if (is_unloaded)
        misuse("a call after the end of CUDA", call);
    for (unsigned i = 0; i < 64; i++) {
        if (!counts[i].call)
            counts[i].call = call;
        if (strcmp(counts[i].call, call) == 0) {
            counts[i].count++;
            break;
        }
    }
    while (hangs && strcmp(hangs, call) == 0) {
        pthread_mutex_unlock(&lock);
        usleep(1000);
        pthread_mutex_lock(&lock);
    }
    if (fault.call && strcmp(fault.call, call) == 0) {
        if (fault.n > 1)
            fault.n--;
        else if (fault.many) {
            fault.many--;
            result = fault.result;
        }
    }
    return result;
}

static int leave(int result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

#define CALL(name) \
    int failed = enter(name); \
    if (failed) \
    return leave(failed)

/* ---- Names --------------------------------------------------------------------------- */

static const struct {
    int domain;
    uint32_t id;
    const char *name;
} names[] = {{1, 1, "cuInit"},
             {1, 26, "cuCtxSynchronize"},
             {1, 73, "cuMemAlloc_v2"},
             {1, 119, "cuEventRecord"},
             {1, 120, "cuEventQuery"},
             {1, 123, "cuEventElapsedTime"},
             {1, 127, "cuStreamSynchronize"},
             {1, 277, "cuMemcpyHtoDAsync_v2"},
             {1, 303, "cuCtxGetCurrent"},
             {1, 307, "cuLaunchKernel"},
             {1, 442, "cuLaunchKernel_ptsz"},
             {1, 514, "cuGraphLaunch"},
             {1, 520, "cuStreamBeginCapture_v2"},
             {1, 521, "cuStreamEndCapture"},
             {2, 10, "cudaGetLastError_v3020"},
             {2, 17, "cudaGetDevice_v3020"},
             {2, 20, "cudaMalloc_v3020"},
             {2, 41, "cudaMemcpyAsync_v3020"},
             {2, 51, "cudaMemsetAsync_v3020"},
             {2, 131, "cudaStreamSynchronize_v3020"},
             {2, 138, "cudaEventQuery_v3020"},
             {2, 147, "cudaStreamWaitEvent_v3020"},
             {2, 165, "cudaDeviceSynchronize_v3020"},
             {2, 211, "cudaLaunchKernel_v7000"},
             {2, 214, "cudaLaunchKernel_ptsz_v7000"},
             {2, 294, "cudaGraphInstantiate_v10000"},
             {2, 311, "cudaGraphLaunch_v10000"},
             {2, 316, "cudaStreamBeginCapture_v10000"},
             {2, 318, "cudaStreamEndCapture_v10000"}};
#define NAMES (sizeof names / sizeof *names)

static const char *name_of(int domain, uint32_t id)
{
    static char others[4][IDS][24];
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].domain == domain && names[i].id == id)
            return names[i].name;
    snprintf(others[domain][id], sizeof *others[domain], "cu%sOther%u",
             domain == FAKE_RUNTIME_API ? "da" : "", (unsigned)id);
    return others[domain][id];
}

/* By the name with or without its version; 0: it has none. */
static uint32_t find_id(int domain, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].domain == domain && strncmp(names[i].name, name, n) == 0 &&
            (!names[i].name[n] || strncmp(names[i].name + n, "_v", 2) == 0))
            return names[i].id;
    return 0;
}

static uint32_t id_of(int domain, const char *name)
{
    uint32_t id = find_id(domain, name);
    if (!id)
        misuse("no such call in the fake", name);
    return id;
}

/* ---- Buffers ------------------------------------------------------------------------- */

static void give_back(const held *b)
{
    unlock_all();
    in_callback++;
    completed(NULL, 0, b->memory, b->size, b->used);
    in_callback--;
    lock_all();
}

/* Each is given back on its own, as the client may take it again at once. */
static void return_buffer(unsigned i)
{
    held b = buffers[i];
    buffers[i] = (held){0};
    for (unsigned k = 0; k < 4096; k++)
        if (works[k].record && works[k].in == i)
            works[k].record = NULL;
    if (!keeps_back)
        give_back(&b);
    else if (kept_count < 256)
        kept_back[kept_count++] = b;
}

static void settle(void)
{
    uint64_t now = record_now();
    for (unsigned k = 0; k < 4096; k++)
        if (works[k].record && works[k].end != NEVER && works[k].end <= now) {
            memcpy(works[k].record + works[k].at, &works[k].end, 8);
            buffers[works[k].in].unfinished--;
            works[k].record = NULL;
        }
}

static void return_buffers(int force)
{
    settle();
    for (unsigned i = 0; i < 256; i++)
        if (buffers[i].used && (force || !buffers[i].unfinished))
            return_buffer(i);
}

static held *ask_for_buffer(unsigned i)
{
    uint8_t *memory = NULL;
    size_t size = 0, most = 7;
    static uint8_t taken; /* by this thread, while it has no lock */
    buffers[i] = (held){.memory = &taken, .is_full = 1};
    unlock_all();
    in_callback++;
    requested(&memory, &size, &most);
    in_callback--;
    lock_all();
    buffers[i] = (held){0};
    if (!memory) {
        if (version < 27)
            misuse("no buffer, and this version crashes without", "requested");
        return NULL;
    }
    if ((uintptr_t)memory % 8 || size < 4096 || most)
        misuse("an odd buffer", "requested");
    for (unsigned k = 0; k < 256; k++)
        if (buffers[k].memory == memory)
            misuse("a buffer that CUPTI has", "requested");
    if (!wants_zeroed) {
        memset(memory, 0, size); /* in the launching thread */
        bytes_zeroed += size;
    }
    for (size_t k = 0; k < size && !anybody_may; k += 8)
        if (memcmp(memory + k, &(uint64_t){0}, 8) != 0)
            misuse("a buffer that is not zeroed", "requested");
    buffers[i] = (held){.memory = memory, .size = size, .owner = gettid()};
    return &buffers[i];
}

/* From 13.0 on each thread has its own, if the client does not say otherwise
 * (cupti_activity.h of 12.3 and 13.0: CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER). */
static int are_of_threads(void)
{
    return of_threads >= 0 ? of_threads : version >= 130000;
}

/* A place of `size` bytes; NULL: dropped. Whatever gives the lock away looks anew. */
static uint8_t *place_for(size_t size, unsigned *in)
{
    unsigned empty = 256;
    for (unsigned i = 0; i < 256; i++) {
        held *b = &buffers[i];
        if (b->memory && are_of_threads() && b->owner != gettid())
            continue;
        if (b->memory && !b->is_full && b->used + size <= b->size) {
            *in = i;
            b->used += size;
            return b->memory + b->used - size;
        }
        if (b->memory && !b->is_full) {
            b->is_full = 1;
            settle();
            if (!b->unfinished)
                return_buffer(i);
            return place_for(size, in);
        }
        empty = b->memory || empty < i ? empty : i;
    }
    if (empty < 256 && ask_for_buffer(empty))
        return place_for(size, in);
    dropped_now++;
    dropped_ever++;
    return NULL;
}

/* Where a record has its end. */
static size_t end_of(uint32_t kind)
{
    return kind == FAKE_RUNTIME || kind == FAKE_DRIVER || kind == FAKE_SYNC ||
                   kind == FAKE_GRAPH
               ? 16
           : kind == FAKE_OVERHEAD ? 32
                                   : 24;
}

static void write_record(const fake_record *r)
{
    size_t size = fake_size(r->kind, version), at = end_of(r->kind);
    unsigned in = 0;
    uint64_t end, none = 0;
    if (!recorded[r->kind])
        return;
    uint8_t *to = place_for(size, &in);
    if (!to)
        return;
    memcpy(to, r, size);
    memcpy(&end, (const char *)r + at, 8);
    if (end <= record_now())
        return;
    for (unsigned k = 0; k < 2 * 4096; k++) {
        if (k == 4096)
            settle();
        unfinished *w = &works[k % 4096];
        if (!w->record) {
            *w = (unfinished){to, in, end, at};
            memcpy(to + at, &none, 8);
            buffers[in].unfinished++;
            return;
        }
    }
    misuse("too much work that is not over", "the fake");
}

/* ---- CUPTI ----------------------------------------------------------------------------- */

EXPORT int cuptiGetVersion(uint32_t *out)
{
    CALL("cuptiGetVersion");
    *out = version;
    return leave(OK);
}

EXPORT int cuptiGetResultString(int code, const char **out)
{
    static __thread char text[32];
    *out = text;
    if (code == INVALID_KIND)
        *out = "CUPTI_ERROR_INVALID_KIND";
    else if (code == 35)
        *out = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
    else if (code == TWO_SUBSCRIBERS)
        *out = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    else if (code > 999)
        return INVALID_PARAMETER;
    snprintf(text, sizeof text, "CUPTI_ERROR_%d", code);
    return OK;
}

EXPORT int cuptiGetTimestamp(uint64_t *ns)
{
    CALL("cuptiGetTimestamp");
    *ns = record_now();
    return leave(OK);
}

EXPORT int cuptiGetCallbackName(int domain, uint32_t id, const char **out)
{
    CALL("cuptiGetCallbackName");
    if (domain < 1 || domain > 2 || !id || id >= IDS)
        return leave(INVALID_PARAMETER);
    *out = name_of(domain, id);
    return leave(OK);
}

static int subscribe(void **out, callback_function *function, void *user)
{
    callback_user = user;
    callback = function;
    is_subscribed = 1;
    memset(called_back, 0, sizeof called_back);
    *out = &is_subscribed;
    return OK;
}

EXPORT int cuptiSubscribe(void **out, callback_function *function, void *user)
{
    CALL("cuptiSubscribe");
    if (is_subscribed || has_other)
        return leave(version > 18 ? TWO_SUBSCRIBERS : MAX_LIMIT);
    is_several = 0;
    return leave(subscribe(out, function, user));
}

EXPORT int cuptiUnsubscribe(void *subscriber)
{
    CALL("cuptiUnsubscribe");
    if (subscriber != &is_subscribed || !is_subscribed)
        misuse("who is no subscriber", "cuptiUnsubscribe");
    is_subscribed = is_several = 0;
    callback = NULL;
    return leave(OK);
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain,
                               uint32_t id)
{
    CALL("cuptiEnableCallback");
    if (subscriber != &is_subscribed || !is_subscribed)
        misuse("who is no subscriber", "cuptiEnableCallback");
    if (domain < 1 || domain > (version < 20 ? 5 : 6) || !id || id >= IDS)
        return leave(INVALID_PARAMETER);
    called_back[domain][id] = enable != 0;
    return leave(OK);
}

/* What is process-wide may be another client's. */
static void only_the_subscriber(const char *call)
{
    if (!is_subscribed && !anybody_may)
        misuse("before a subscription, which tells whether another has it",
               call);
}

#define OF_SCOPE(is) \
    do { \
        if (scope && scope != (is)) \
            return leave(NOT_COMPATIBLE); \
        scope = (is); \
    } while (0)

EXPORT int cuptiActivityRegisterCallbacks(
    void (*request)(uint8_t **, size_t *, size_t *),
    void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    CALL("cuptiActivityRegisterCallbacks");
    only_the_subscriber("cuptiActivityRegisterCallbacks");
    OF_SCOPE(OF_PROCESS);
    requested = request;
    completed = complete;
    return leave(OK);
}

static int enable(uint32_t kind);

static int has_kind(void)
{
    for (unsigned kind = 0; kind < 64; kind++)
        if (recorded[kind])
            return 1;
    return 0;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
    CALL("cuptiActivityEnable");
    only_the_subscriber("cuptiActivityEnable");
    OF_SCOPE(OF_PROCESS);
    return leave(enable(kind));
}

static int enable(uint32_t kind)
{
    if (!requested)
        misuse("before there are buffers", "cuptiActivityEnable");
    if (kind == 3)
        misuse("a kind that makes kernels run one at a time",
               "cuptiActivityEnable");
    if (kind >= 64)
        return INVALID_KIND;
    recorded[kind] = 1;
    if (kind == FAKE_RUNTIME || kind == FAKE_DRIVER)
        memset(left_out[kind == FAKE_DRIVER ? 1 : 2], 0, IDS);
    return OK;
}

EXPORT int cuptiActivityDisable(uint32_t kind)
{
    CALL("cuptiActivityDisable");
    recorded[kind & 63] = 0;
    return leave(OK);
}

static int next_record(uint8_t *buffer, size_t valid, uint8_t **record,
                       const char *call)
{
    CALL(call);
    uint32_t kind;
    uint8_t *next = buffer;
    for (unsigned i = 0; i < 256; i++)
        if (buffers[i].memory == buffer)
            misuse("a buffer that CUPTI has", call);
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        next = *record + fake_size(kind, version);
    }
    if (next >= buffer + valid)
        return leave(MAX_LIMIT);
    memcpy(&kind, next, sizeof kind);
    if (!fake_is_kind(kind)) /* *record stays, as in 12.0 to 13.0 */
        return leave(version < 22 ? UNKNOWN : INVALID_KIND);
    *record = next;
    return leave(OK);
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                      uint8_t **record)
{
    return next_record(buffer, valid, record, "cuptiActivityGetNextRecord");
}

static int set_attribute(int attribute, const size_t *size, const void *value)
{
    uint8_t byte;
    memcpy(&byte, value, 1);
    if ((attribute == 5 || attribute == 9) && *size != 1)
        return INVALID_PARAMETER;
    if (attribute == 9 &&
        (version < 21 || (requested && is_subscribed && has_kind())))
        return INVALID_PARAMETER;
    if (attribute == 5)
        wants_zeroed = byte != 0;
    else if (attribute == 9)
        of_threads = byte != 0;
    else
        return INVALID_PARAMETER;
    return OK;
}

EXPORT int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    CALL("cuptiActivitySetAttribute");
    only_the_subscriber("cuptiActivitySetAttribute");
    return leave(set_attribute(attribute, size, value));
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream,
                                             size_t *count)
{
    CALL("cuptiActivityGetNumDroppedRecords");
    (void)context;
    (void)stream;
    *count = dropped_now;
    dropped_now = 0;
    return leave(OK);
}

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
    CALL("cuptiActivityFlushAll");
    only_the_subscriber("cuptiActivityFlushAll");
    if (!requested)
        return leave(INVALID_OPERATION);
    return_buffers(flags & 1);
    return leave(OK);
}

#ifndef FAKE_PLAIN /* what older versions do not have */
EXPORT int cuptiSetThreadIdType(int type)
{
    CALL("cuptiSetThreadIdType");
    only_the_subscriber("cuptiSetThreadIdType");
    return leave(type == 1 ? OK : INVALID_PARAMETER);
}

static int set_clock(uint64_t (*now)(void), const char *call)
{
    if (timestamp && !anybody_may && !is_several)
        misuse("a second time", call);
    if (has_kind() && !anybody_may)
        misuse("after a kind was enabled", call);
    timestamp = now;
    memset(ready, 0, sizeof ready); /* they were by the other clock */
    return OK;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
    CALL("cuptiActivityRegisterTimestampCallback");
    only_the_subscriber("cuptiActivityRegisterTimestampCallback");
    return leave(set_clock(now, "cuptiActivityRegisterTimestampCallback"));
}

/* The fake driver that the process has. */
static const fake_cuda *its_driver(void)
{
    static const fake_cuda *found;
    const char *path = getenv("GNOMON_CUDA_LIBRARY");
    void *library =
        !found && path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (library)
        found = dlsym(library, "fake_cuda_table");
    return found;
}

EXPORT int cuptiGetStreamIdEx(void *context, void *stream, uint8_t is_own,
                              uint32_t *out)
{
    CALL("cuptiGetStreamIdEx");
    const fake_cuda *cuda = its_driver();
    return leave(cuda && !cuda->stream_number(context, stream, is_own, out)
                     ? OK
                     : INVALID_STREAM);
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
    CALL("cuptiActivityEnableRuntimeApi");
    left_out[2][id % IDS] = !enable;
    return leave(OK);
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
    CALL("cuptiActivityEnableDriverApi");
    left_out[1][id % IDS] = !enable;
    return leave(OK);
}

/* ---- Calls of one subscriber: CUPTI 13.0 has the first, 13.4 all ---------------------- */

/* CUpti_SubscriberParams; up to 13.1 it has four members. */
typedef struct subscriber_params {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_size;
    uint8_t is_several, padding[7];
} subscriber_params;

EXPORT int cuptiSubscribe_v2(void **out, callback_function *function,
                             void *user, const subscriber_params *params)
{
    CALL("cuptiSubscribe_v2");
    if (version < 130000)
        return leave(NOT_SUPPORTED);
    size_t size = version < 130200 ? 32 : sizeof *params;
    int wants = version >= 130200 && params->is_several;
    if (params->size != size)
        return leave(INVALID_PARAMETER);
    if (has_other && params->old_name)
        snprintf(params->old_name, params->old_size, "%s", other_name);
    if (is_subscribed || (has_other && !(other_is_several && wants)))
        return leave(TWO_SUBSCRIBERS);
    is_several = wants;
    return leave(subscribe(out, function, user));
}

#define CALL_OF_ONE(name) \
    CALL(name); \
    if (version < 130400 || !is_several || subscriber != &is_subscribed) \
        misuse("not as one of several subscribers", name); \
    OF_SCOPE(OF_SUBSCRIBER)

EXPORT int cuptiGetTimestamp_v2(void *subscriber, uint64_t *ns)
{
    CALL_OF_ONE("cuptiGetTimestamp_v2");
    *ns = record_now();
    return leave(OK);
}

static uint8_t whole_graphs;

typedef void request_function(uint8_t **, size_t *, size_t *, void *);
typedef void complete_function(uint8_t *, size_t, size_t, void *);
static request_function *requested_v2;
static complete_function *completed_v2;

static void request_by_v2(uint8_t **buffer, size_t *size, size_t *most)
{
    requested_v2(buffer, size, most, &(size_t){8});
}

static void complete_by_v2(void *context, uint32_t stream, uint8_t *buffer,
                           size_t size, size_t valid)
{
    (void)context, (void)stream;
    completed_v2(buffer, size, valid, &(size_t){8});
}

EXPORT int cuptiActivityRegisterCallbacks_v2(void *subscriber,
                                             request_function *request,
                                             complete_function *complete)
{
    CALL_OF_ONE("cuptiActivityRegisterCallbacks_v2");
    requested_v2 = request;
    completed_v2 = complete;
    requested = request_by_v2;
    completed = complete_by_v2;
    return leave(OK);
}

EXPORT int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config)
{
    CALL_OF_ONE("cuptiActivityEnable_v2");
    if (config || (kind == FAKE_GRAPH && !whole_graphs))
        return leave(NOT_COMPATIBLE);
    return leave(enable(kind));
}

EXPORT int cuptiActivityDisable_v2(void *subscriber, uint32_t kind,
                                   void *config)
{
    CALL_OF_ONE("cuptiActivityDisable_v2");
    (void)config;
    recorded[kind & 63] = 0;
    return leave(OK);
}

EXPORT int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer,
                                         size_t valid, uint8_t **record)
{
    if (!is_several || subscriber != &is_subscribed)
        misuse("not as one of several subscribers", "GetNextRecord_v2");
    return next_record(buffer, valid, record, "cuptiActivityGetNextRecord_v2");
}

EXPORT int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context,
                                                uint32_t stream, size_t *count)
{
    CALL_OF_ONE("cuptiActivityGetNumDroppedRecords_v2");
    (void)context, (void)stream;
    *count = dropped_now;
    dropped_now = 0;
    return leave(OK);
}

EXPORT int cuptiActivitySetAttribute_v2(void *subscriber, int attribute,
                                        size_t *size, void *value)
{
    CALL_OF_ONE("cuptiActivitySetAttribute_v2");
    uint64_t (*now)(void);
    if (attribute == 20) {
        if (has_kind())
            return leave(INVALID_OPERATION);
        memcpy(&whole_graphs, value, 1);
        return leave(OK);
    }
    if (attribute == 21)
        return leave(*size == 4 && *(int *)value == 1 ? OK : INVALID_PARAMETER);
    if (attribute == 22 && *size == sizeof now) {
        memcpy(&now, value, sizeof now);
        return leave(set_clock(now, "cuptiActivitySetAttribute_v2"));
    }
    return leave(set_attribute(attribute, size, value));
}

EXPORT int cuptiActivityEnableRuntimeApi_v2(void *subscriber, uint32_t id,
                                            uint8_t enable_it)
{
    CALL_OF_ONE("cuptiActivityEnableRuntimeApi_v2");
    left_out[2][id % IDS] = !enable_it;
    return leave(OK);
}

EXPORT int cuptiActivityEnableDriverApi_v2(void *subscriber, uint32_t id,
                                           uint8_t enable_it)
{
    CALL_OF_ONE("cuptiActivityEnableDriverApi_v2");
    left_out[1][id % IDS] = !enable_it;
    return leave(OK);
}

#endif

/* For bench_attribution alone: gnomon does not call these. */
static __thread uint64_t external_ids[16];
static __thread unsigned external_depth;

EXPORT int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
    if (kind < 1 || external_depth == 16)
        misuse("no such kind, or too deep", "external ids");
    external_ids[external_depth++] = id;
    return OK;
}

EXPORT int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id)
{
    if (kind < 1 || !external_depth)
        misuse("there is none", "external ids");
    *id = external_ids[--external_depth];
    return OK;
}

EXPORT int cuptiFinalize(void)
{
    misuse("it crashes graphs before 12.6, and is of no use", "cuptiFinalize");
    return OK;
}

/* ---- Control --------------------------------------------------------------------------- */

/* As CUpti_CallbackData. */
typedef struct call_data {
    int site;
    const char *function;
    const void *parameters;
    const void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *user;
    uint32_t correlation;
} call_data;

static void fake_version(uint32_t to)
{
    version = to;
}

static void fake_numbers_are(enum fake_numbers how)
{
    numbers = how;
}

static void fake_clock(const uint64_t *ns)
{
    the_clock = ns;
}

static void fake_own_clock(int64_t offset, int64_t gain)
{
    __atomic_store_n(&clock_offset, offset, __ATOMIC_RELAXED);
    __atomic_store_n(&clock_gain, gain, __ATOMIC_RELAXED);
}

static void call_back(const open_call *c, int site, const int *result)
{
    const call_data data = {.site = site,
                            .function = "a function",
                            .result = result,
                            .context = c->context,
                            .correlation = c->correlation};
    lock_all();
    callback_function *function =
        callback && c->id && called_back[c->domain][c->id] ? callback : NULL;
    void *user = callback_user;
    unlock_all();
    in_callback++;
    if (function)
        function(user, c->domain, c->id, &data);
    in_callback--;
}

static uint32_t begin_id(int domain, uint32_t id, void *context)
{
    int is_inside = domain == FAKE_DRIVER_API && top &&
                    stack[top - 1].domain == FAKE_RUNTIME_API;
    lock_all();
    open_call c = {domain, id, 0, record_now(), context};
    c.correlation = is_inside && numbers == FAKE_ONE
                        ? stack[top - 1].correlation
                        : ++last_correlation;
    unlock_all();
    stack[top++] = c;
    call_back(&c, 0, NULL);
    return c.correlation;
}

static uint32_t fake_begin(int domain, const char *name, void *context)
{
    return begin_id(domain, id_of(domain, name), context);
}

static int is_query(const open_call *c)
{
    return c->id && strstr(name_of(c->domain, c->id), "Query");
}

/* From 12.8 on a query that finds all done is a record of a wait too
 * (cupti_activity.h, cuptiActivityEnableAllSyncRecords). */
static void write_query(const fake_record *call)
{
    const fake_record r = {.wait = {.kind = FAKE_SYNC,
                                    .type = 1,
                                    .start = call->call.start,
                                    .end = call->call.end,
                                    .correlation = call->call.correlation,
                                    .context = 1,
                                    .stream = UINT32_MAX}};
    write_record(&r);
}

static void fake_end(int result)
{
    open_call c = stack[--top];
    call_back(&c, 1, &result);
    lock_all();
    fake_record r = {.call = {.kind = c.domain == FAKE_DRIVER_API
                                          ? FAKE_DRIVER
                                          : FAKE_RUNTIME,
                              .call = c.id,
                              .start = c.start,
                              .end = record_now(),
                              .process = (uint32_t)getpid(),
                              .thread = (uint32_t)gettid(),
                              .correlation = c.correlation,
                              .result = (uint32_t)result}};
    if (c.id && !left_out[c.domain][c.id])
        write_record(&r);
    if (version >= 26 && !result && is_query(&c))
        write_query(&r);
    unlock_all();
}

/* Calls of the fake driver, of which some are in the table of names. */
static void on_driver_call(const char *name, int is_over, int result)
{
    if (!is_over)
        begin_id(FAKE_DRIVER_API, find_id(FAKE_DRIVER_API, name), NULL);
    else
        fake_end(result);
}

static const fake_cuda *driver;

static void fake_watch(const fake_cuda *its)
{
    driver = its;
    driver->watch(on_driver_call);
}

static uint32_t *correlation_of(fake_record *r)
{
    switch (r->kind) {
    case FAKE_KERNEL:
        return &r->kernel.correlation;
    case FAKE_MEMCPY:
        return &r->copy.correlation;
    case FAKE_MEMCPY2:
        return &r->peer.correlation;
    case FAKE_MEMSET:
        return &r->set.correlation;
    case FAKE_SYNC:
        return &r->wait.correlation;
    case FAKE_GRAPH:
        return &r->graph.correlation;
    default:
        return &r->call.correlation;
    }
}

static uint32_t carried_correlation(void)
{
    return top ? stack[numbers == FAKE_DRIVERS ? top - 1 : 0].correlation : 0;
}

static void fake_work(const fake_record *record)
{
    fake_record r = *record;
    uint32_t *correlation = correlation_of(&r);
    if (!*correlation)
        *correlation = carried_correlation();
    lock_all();
    write_record(&r);
    unlock_all();
}

static void fake_flood(const fake_record *record, uint32_t many)
{
    fake_record r = *record;
    lock_all();
    for (uint32_t i = 0; i < many; i++) {
        *correlation_of(&r) = ++last_correlation;
        write_record(&r);
    }
    unlock_all();
}

static void put_work(const fake_record *record, uint64_t ns)
{
    fake_record r = *record;
    uint32_t *correlation = correlation_of(&r);
    if (!*correlation)
        *correlation = carried_correlation();
    uint32_t stream = r.kind == FAKE_KERNEL  ? r.kernel.stream
                      : r.kind == FAKE_GRAPH ? r.graph.stream
                                             : r.set.stream;
    uint64_t *free_at = &ready[stream & 63], now = record_now();
    uint64_t start = *free_at > now ? *free_at : now;
    *free_at = ns == NEVER ? NEVER : start + ns;
    memcpy((char *)&r + end_of(r.kind) - 8, &start, 8);
    memcpy((char *)&r + end_of(r.kind), free_at, 8);
    write_record(&r);
}

static void fake_timed_work(const fake_record *record, uint64_t ns)
{
    lock_all();
    put_work(record, ns);
    unlock_all();
}

static uint32_t fake_launch(const fake_place *place, const char *name,
                            uint64_t ns)
{
    const fake_record r = {.kernel = {.kind = FAKE_KERNEL,
                                      .registers = 32,
                                      .device = place->device,
                                      .context = place->context_id,
                                      .stream = place->stream,
                                      .grid = {8, 1, 1},
                                      .block = {256, 1, 1},
                                      .name = name}};
    fake_begin(FAKE_RUNTIME_API, "cudaLaunchKernel", place->context);
    if (numbers != FAKE_NO_DRIVER)
        fake_begin(FAKE_DRIVER_API, "cuLaunchKernel", place->context);
    uint32_t correlation = carried_correlation();
    fake_timed_work(&r, ns);
    if (place->handle && driver)
        driver->launch(place->handle, ns);
    if (numbers != FAKE_NO_DRIVER)
        fake_end(0);
    fake_end(0);
    return correlation;
}

static void fake_finish(void)
{
    lock_all();
    uint64_t now = record_now();
    for (unsigned k = 0; k < 4096; k++)
        if (works[k].record && works[k].end > now)
            works[k].end = now;
    for (unsigned i = 0; i < 64; i++)
        ready[i] = ready[i] > now ? now : ready[i];
    unlock_all();
}

static void fake_context_ends(void *context)
{
    const struct {
        void *context, *resource, *description;
    } data = {context, NULL, NULL};
    if (callback && called_back[3][2]) {
        in_callback++;
        callback(callback_user, 3, 2, &data);
        in_callback--;
    }
}

static void fake_fail(const char *call, uint64_t n, uint64_t many, int result)
{
    lock_all();
    fault.call = call;
    fault.n = n;
    fault.many = many;
    fault.result = result;
    unlock_all();
}

static void fake_hang(const char *call)
{
    lock_all();
    hangs = call;
    unlock_all();
}

static void fake_other(int has_it)
{
    has_other = has_it;
}

static void fake_other_is(const char *name, int is_one_of_several)
{
    snprintf(other_name, sizeof other_name, "%s", name);
    other_is_several = is_one_of_several;
    has_other = 1;
    if (is_one_of_several)
        scope = OF_SUBSCRIBER;
}

static void fake_anybody(int may)
{
    anybody_may = may;
}

/* cupti_callbacks.h of 12.2: CUPTI then calls cuptiFinalize itself, while calls of other
 * threads are under way. */
static void fake_fatal(int result, const char *message)
{
    const struct {
        int result;
        const char *message;
    } data = {result, message};
    in_callback++;
    if (callback && called_back[6][1])
        callback(callback_user, 6, 1, &data);
    in_callback--;
    pthread_mutex_lock(&lock);
    has_ended = 1;
    pthread_mutex_unlock(&lock);
}

static void fake_slot(uint32_t kind)
{
    unsigned in;
    lock_all();
    uint8_t *to = place_for(208, &in);
    if (to)
        memcpy(to, &kind, sizeof kind);
    unlock_all();
}

static uint64_t fake_zeroed(void)
{
    return bytes_zeroed;
}

static void fake_late(int is_late)
{
    lock_all();
    keeps_back = is_late;
    while (!is_late && kept_count) {
        held b = kept_back[--kept_count];
        give_back(&b);
    }
    unlock_all();
}

static void fake_unload(void)
{
    is_unloaded = 1;
}

static uint64_t fake_calls(const char *call)
{
    uint64_t n = 0;
    lock_all();
    for (unsigned i = 0; i < 64; i++)
        if (counts[i].call && (!call || strcmp(counts[i].call, call) == 0))
            n += counts[i].count;
    unlock_all();
    return n;
}

static int fake_records(uint32_t kind)
{
    return recorded[kind & 63];
}

static int fake_calls_back(int domain, const char *name)
{
    return is_subscribed && called_back[domain][id_of(domain, name)];
}

static int fake_records_call(int domain, const char *name)
{
    return recorded[domain == FAKE_DRIVER_API ? FAKE_DRIVER : FAKE_RUNTIME] &&
           !left_out[domain][id_of(domain, name)];
}

static int fake_subscribers(void)
{
    return is_subscribed;
}

static uint32_t fake_buffers(void)
{
    uint32_t n = 0;
    lock_all();
    for (unsigned i = 0; i < 256; i++)
        n += buffers[i].memory != NULL;
    unlock_all();
    return n;
}

static uint64_t fake_dropped(void)
{
    return dropped_ever;
}

EXPORT extern const fake_cupti fake_cupti_table;
const fake_cupti fake_cupti_table = {
    .version = fake_version,
    .numbers = fake_numbers_are,
    .clock = fake_clock,
    .own_clock = fake_own_clock,
    .begin = fake_begin,
    .end = fake_end,
    .launch = fake_launch,
    .watch = fake_watch,
    .work = fake_work,
    .timed_work = fake_timed_work,
    .flood = fake_flood,
    .finish = fake_finish,
    .context_ends = fake_context_ends,
    .fail = fake_fail,
    .hang = fake_hang,
    .other = fake_other,
    .other_is = fake_other_is,
    .anybody = fake_anybody,
    .fatal = fake_fatal,
    .slot = fake_slot,
    .zeroed = fake_zeroed,
    .late = fake_late,
    .unload = fake_unload,
    .calls = fake_calls,
    .records = fake_records,
    .calls_back = fake_calls_back,
    .records_call = fake_records_call,
    .subscribers = fake_subscribers,
    .buffers = fake_buffers,
    .dropped = fake_dropped,
};
