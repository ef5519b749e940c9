/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA's driver without a GPU. A stream is the time at which its work will be
 * over; an event, the time at which its stream comes to it. What a real driver
 * forbids, or a host would suffer from, is counted as misuse. One lock over all;
 * what is destroyed stays in memory, so that its use can be seen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))
#define NEVER UINT64_MAX

enum {
    OK = 0,
    INVALID_VALUE = 1,
    NO_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    DESTROYED = 709,
    CAPTURE_IMPLICIT = 906,
    LAST_RESULT = 999
};

typedef struct context {
    uint64_t id;
    int device, is_gone, is_capturing;
    int is_held; /* another thread has its lock */
    int entered; /* by how many pushes */
    struct stream *legacy;
    struct stream *blocking; /* those that wait for `legacy`, and it for them */
    uint32_t streams;        /* that were made, besides `legacy` */
} context;

#define QUEUE 64u

typedef struct stream {
    context *of;
    struct stream *next; /* of `blocking` */
    uint64_t ready;      /* when its work will be over */
    uint64_t ends
        [QUEUE]; /* of what was launched; the last one is ends[launched - 1] */
    uint32_t launched;
    uint32_t number; /* as CUPTI's records name it: unique in its context */
    int is_gone, is_capturing, waits_for_none, is_early;
} stream;

typedef struct event {
    context *of;
    uint64_t life; /* of the context, when it was made */
    uint64_t at;   /* 0: not recorded */
    stream *in;
    int is_gone;
} event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const uint64_t *the_clock;
static void **kept; /* all objects ever made: the first word links them */
static context *contexts[64];
static unsigned context_count;
static uint64_t alive, misuses, cost;
static uint64_t retained[4]; /* of each device */
static const char *misused = "nothing";
static int is_unloaded;
static int driver_version = 13000;
static __thread context *stack[16];
static __thread unsigned top;
static __thread int mode;    /* of captures: 0 global, 2 relaxed */
static __thread stream *own; /* what handle 2 means on this thread */
static const char *hangs;    /* the call that does not come back */
static const char *is_slow;
static unsigned slow_us;

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

/* A real driver does not work in a forked child; this one starts anew. */
__attribute__((constructor)) static void survive_forks(void)
{
    pthread_atfork(lock_all, unlock_all, unlock_all);
}

/* As real drivers count, who have some streams of their own in each context. */
#define LEGACY_NUMBER 7u
#define FIRST_NUMBER 13u

/* ---- Inside ---------------------------------------------------------------- */

/* Zeroed, never freed, reachable for leak checkers. */
static void *make(size_t size)
{
    void **block = calloc(1, sizeof *block + size);
    *block = kept;
    kept = block;
    return block + 1;
}

static stream *make_stream(context *c)
{
    stream *s = make(sizeof *s);
    s->of = c;
    s->number = FIRST_NUMBER + c->streams++;
    return s;
}

static uint64_t now(void)
{
    struct timespec t;
    if (the_clock)
        return __atomic_load_n(the_clock, __ATOMIC_RELAXED);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int misuse(const char *what, int result)
{
    misuses++;
    misused = what;
    return result;
}

/* Who is told of each call, at its begin and its end; without the lock. */
static void (*watcher)(const char *call, int is_over, int result);

/* Every call of the driver: counted, and may be the one that fails. */
static int enter(const char *call)
{
    int result = OK;
    if (watcher)
        watcher(call, 0, 0);
    pthread_mutex_lock(&lock);
    if (is_unloaded)
        misuse("a call after the end of CUDA", 4);
    for (unsigned i = 0; i < 64; i++) {
        if (!counts[i].call)
            counts[i].call = call;
        if (strcmp(counts[i].call, call) == 0) {
            counts[i].count++;
            break;
        }
    }
    if (is_slow && strcmp(is_slow, call) == 0) {
        pthread_mutex_unlock(&lock);
        usleep(slow_us);
        pthread_mutex_lock(&lock);
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
    if (watcher)
        watcher(NULL, 1, result);
    return result;
}

#define CALL(name) \
    int failed = enter(name); \
    if (failed) \
    return leave(failed)

static context *current(void)
{
    return top ? stack[top - 1] : NULL;
}

/* Calls that may wait invalidate a capture, unless the thread allows them. */
static int may_not(const char *what)
{
    for (unsigned i = 0; i < context_count; i++)
        if (contexts[i]->is_capturing && mode != 2)
            return misuse(what, CAPTURE_IMPLICIT);
    return OK;
}

/* A stream's handle may be one of the three numbers, which are streams of the
 * current context. NULL: there is none. */
static stream *stream_of(void *handle)
{
    context *c = current();
    if ((uintptr_t)handle > 2)
        return handle;
    if ((uintptr_t)handle < 2 || !c)
        return c ? c->legacy : NULL;
    if (!own || own->of != c)
        own = make_stream(c);
    return own;
}

/* What a real driver does with a handle that it freed is not defined. */
static void check_stream(const stream *s)
{
    if (!s->is_gone)
        return;
    fprintf(stderr, "fake driver: a destroyed stream was used\n");
    abort();
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Work of a blocking stream comes after what the legacy stream has, and the other way
 * round. */
static void wait_for_others(stream *s)
{
    const context *c = s->of;
    for (stream *b = c->blocking; b; b = b->next) {
        if (s == c->legacy)
            s->ready = later(s->ready, b->ready);
        else if (s == b)
            s->ready = later(s->ready, c->legacy->ready);
    }
}

static unsigned
    queue_room; /* launches that a stream's queue holds; 0: no end */
static uint64_t queue_waits;

static int queue_is_full(const stream *s)
{
    unsigned pending = 0, count = s->launched < QUEUE ? s->launched : QUEUE;
    for (unsigned i = 0; i < count; i++)
        pending += s->ends[i] == NEVER ? s->ready == NEVER || s->ready > now()
                                       : s->ends[i] > now();
    return queue_room && pending >= queue_room;
}

/* Under the lock, which others can take meanwhile. */
static void wait_for_queue(const stream *s)
{
    queue_waits += (unsigned)queue_is_full(s);
    while (queue_is_full(s)) {
        pthread_mutex_unlock(&lock);
        usleep(200);
        pthread_mutex_lock(&lock);
    }
}

static void wait_for_context(const context *c)
{
    while (c && c->is_held) {
        pthread_mutex_unlock(&lock);
        usleep(200);
        pthread_mutex_lock(&lock);
    }
}

/* All streams with a context; the oldest 256. */
static stream *streams[256];
static unsigned stream_count;

static void keep_stream(stream *s)
{
    if (stream_count < 256)
        streams[stream_count++] = s;
}

static int is_busy(const context *c)
{
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->of == c && !streams[i]->is_gone &&
            streams[i]->ready > now())
            return 1;
    return 0;
}

static uint64_t come_to(stream *s)
{
    uint64_t at = now();
    wait_for_others(s);
    if (s->ready == NEVER)
        return NEVER;
    if (s->ready < at)
        s->ready = at;
    return s->ready += cost;
}

static int check_event(const event *e)
{
    if (!e || e->is_gone)
        return misuse("a destroyed event", INVALID_HANDLE);
    if (e->of->is_gone || e->life != e->of->id)
        return misuse("an event of a device that was reset", DESTROYED);
    return OK;
}

/* ---- The driver ------------------------------------------------------------- */

EXPORT int cuDriverGetVersion(int *version)
{
    CALL("cuDriverGetVersion");
    *version = driver_version;
    return leave(OK);
}

EXPORT int cuInit(unsigned flags)
{
    CALL("cuInit");
    return leave(flags ? INVALID_VALUE : OK);
}

EXPORT int cuGetErrorName(int code, const char **name)
{
    static __thread char text[32];
    if (code == NO_MEMORY)
        *name = "CUDA_ERROR_OUT_OF_MEMORY";
    else if (code == NO_DEVICE)
        *name = "CUDA_ERROR_NO_DEVICE";
    else if (code > LAST_RESULT) {
        *name = NULL;
        return INVALID_VALUE;
    } else {
        snprintf(text, sizeof text, "CUDA_ERROR_%d", code);
        *name = text;
    }
    return OK;
}

EXPORT int cuDeviceGet(int *device, int index)
{
    CALL("cuDeviceGet");
    *device = index;
    return leave(index < 4 ? OK : 101);
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    CALL("cuDeviceGetName");
    const char *given = getenv("FAKE_CUDA_NAME");
    if (given)
        snprintf(name, (size_t)size, "%s", given);
    else
        snprintf(name, (size_t)size, "Fake \"%d\"", device);
    return leave(OK);
}

EXPORT int cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    CALL("cuDeviceGetUuid");
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(16 * device + i);
    return leave(OK);
}

EXPORT int cuDeviceGetPCIBusId(char *id, int size, int device)
{
    CALL("cuDeviceGetPCIBusId");
    snprintf(id, (size_t)size, "0000:%02x:00.0", 0x3b + device);
    return leave(OK);
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    CALL("cuDeviceGetAttribute");
    (void)device;
    *value = attribute == 16 ? 132 : 0;
    return leave(OK);
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    CALL("cuDeviceTotalMem");
    (void)device;
    *bytes = (size_t)140 << 30;
    return leave(OK);
}

static context *make_context(int device)
{
    context *c = make(sizeof *c);
    c->id = context_count + 1;
    c->device = device;
    c->legacy = make(sizeof *c->legacy);
    c->legacy->of = c;
    c->legacy->number = LEGACY_NUMBER;
    keep_stream(c->legacy);
    contexts[context_count++] = c;
    return c;
}

/* The primary context: the first one. */
static context *context_of(int device)
{
    for (unsigned i = 0; i < context_count; i++)
        if (contexts[i]->device == device && !contexts[i]->is_gone)
            return contexts[i];
    return make_context(device);
}

static int device_count = 4;

EXPORT int cuDeviceGetCount(int *count)
{
    CALL("cuDeviceGetCount");
    *count = device_count;
    return leave(OK);
}

EXPORT int cuDevicePrimaryCtxRetain(void **out, int device)
{
    CALL("cuDevicePrimaryCtxRetain");
    int not = may_not("a context is retained during a capture");
    if (not )
        return leave(not );
    *out = context_of(device);
    retained[device]++;
    return leave(OK);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    CALL("cuDevicePrimaryCtxRelease");
    int not = may_not("a context is released during a capture");
    if (not )
        return leave(not );
    if (!retained[device])
        return leave(
            misuse("a context is released too often", INVALID_CONTEXT));
    retained[device]--;
    return leave(OK);
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    CALL("cuDevicePrimaryCtxGetState");
    *flags = 0;
    *active = 0;
    for (unsigned i = 0; i < context_count; i++)
        *active |= contexts[i]->device == device && !contexts[i]->is_gone;
    return leave(OK);
}

EXPORT int cuCtxGetCurrent(void **out)
{
    CALL("cuCtxGetCurrent");
    *out = current();
    return leave(OK);
}

EXPORT int cuCtxSetCurrent(void *c)
{
    CALL("cuCtxSetCurrent");
    top = 1;
    stack[0] = c;
    return leave(OK);
}

EXPORT int cuCtxPushCurrent_v2(void *handle)
{
    CALL("cuCtxPushCurrent");
    context *c = handle;
    if (!c || c->is_gone)
        return leave(DESTROYED);
    c->entered++;
    stack[top++] = c;
    return leave(OK);
}

EXPORT int cuCtxPopCurrent_v2(void **out)
{
    CALL("cuCtxPopCurrent");
    if (!top)
        return leave(misuse("one pop too many", INVALID_CONTEXT));
    context *c = stack[--top];
    c->entered -= c->entered > 0; /* else it was set, not pushed */
    *out = c;
    return leave(OK);
}

EXPORT int cuCtxGetDevice(int *device)
{
    CALL("cuCtxGetDevice");
    if (!current())
        return leave(INVALID_CONTEXT);
    *device = current()->device;
    return leave(OK);
}

/* As real drivers, it spoils a capture in the context in every mode of the thread. */
EXPORT int cuCtxSynchronize(void)
{
    CALL("cuCtxSynchronize");
    context *c = current();
    if (!c)
        return leave(INVALID_CONTEXT);
    if (c->is_capturing)
        return leave(misuse("a context is waited for during a capture",
                            CAPTURE_IMPLICIT));
    int bad = may_not("a context is waited for during a capture");
    while (!bad && !c->is_gone && is_busy(c)) {
        pthread_mutex_unlock(&lock);
        usleep(100);
        pthread_mutex_lock(&lock);
    }
    return leave(bad ? bad : c->is_gone ? DESTROYED : OK);
}

EXPORT int cuCtxGetId(const context *c, unsigned long long *id)
{
    CALL("cuCtxGetId");
    if (!c && !(c = current()))
        return leave(INVALID_CONTEXT);
    if (c->is_gone)
        return leave(DESTROYED);
    *id = c->id;
    return leave(OK);
}

EXPORT int cuStreamIsCapturing(void *handle, int *status)
{
    CALL("cuStreamIsCapturing");
    const stream *s = stream_of(handle);
    if (!s || !current()) /* whatever the stream */
        return leave(INVALID_CONTEXT);
    check_stream(s);
    wait_for_context(s->of);
    if (s->of->is_gone)
        return leave(INVALID_HANDLE);
    if (s == s->of->legacy && s->of->is_capturing)
        return leave(CAPTURE_IMPLICIT);
    *status = s->is_capturing;
    return leave(OK);
}

EXPORT int cuStreamGetCtx(void *handle, void **out)
{
    CALL("cuStreamGetCtx");
    const stream *s = stream_of(handle);
    if (!current())
        return leave(INVALID_CONTEXT);
    if (!s)
        return leave(INVALID_HANDLE);
    check_stream(s);
    *out = s->of;
    return leave(OK);
}

EXPORT int cuStreamCreate(void **out, unsigned flags)
{
    CALL("cuStreamCreate");
    if (!current())
        return leave(INVALID_CONTEXT);
    int not = may_not("a stream is made during a capture");
    if (not )
        return leave(not );
    stream *s = make_stream(current());
    s->waits_for_none = flags == 1;
    keep_stream(s);
    alive++;
    *out = s;
    return leave(OK);
}

EXPORT int cuStreamDestroy_v2(void *handle)
{
    CALL("cuStreamDestroy");
    stream *s = handle;
    if (s->is_gone)
        return leave(misuse("a destroyed stream", INVALID_HANDLE));
    s->is_gone = 1;
    alive--;
    return leave(OK);
}

EXPORT int cuThreadExchangeStreamCaptureMode(int *with)
{
    CALL("cuThreadExchangeStreamCaptureMode");
    int was = mode;
    mode = *with;
    *with = was;
    return leave(OK);
}

EXPORT int cuEventCreate(void **out, unsigned flags)
{
    CALL("cuEventCreate");
    if (!current() || current()->is_gone)
        return leave(INVALID_CONTEXT);
    int not = may_not("an event is made during a capture");
    if (not )
        return leave(not );
    if (flags & 2) /* no timing */
        return leave(misuse("an event without timing", INVALID_VALUE));
    event *e = make(sizeof *e);
    e->of = current();
    e->life = e->of->id;
    alive++;
    *out = e;
    return leave(OK);
}

EXPORT int cuEventRecord(event *e, void *handle)
{
    CALL("cuEventRecord");
    int bad = current() ? check_event(e) : INVALID_CONTEXT;
    if (bad)
        return leave(bad);
    stream *s = stream_of(handle);
    check_stream(s);
    wait_for_context(s->of);
    wait_for_queue(s);
    if (s->of != e->of)
        return leave(misuse("an event of another context", INVALID_HANDLE));
    if (s->is_capturing)
        return leave(misuse("an event goes into a graph", INVALID_VALUE));
    e->in = s;
    e->at = s->is_early ? now() : come_to(s);
    return leave(OK);
}

static int is_over(event *e)
{
    if (e->at == NEVER && e->in->ready != NEVER)
        e->at = e->in->ready; /* finished */
    return e->at != NEVER && e->at <= now();
}

EXPORT int cuEventQuery(event *e)
{
    CALL("cuEventQuery");
    int bad = current() ? check_event(e) : INVALID_CONTEXT;
    if (!bad)
        wait_for_context(e->of);
    if (!bad)
        bad = may_not("an event is asked during a capture");
    if (!bad && !is_over(e))
        bad = NOT_READY;
    return leave(bad);
}

EXPORT int cuEventSynchronize(event *e)
{
    CALL("cuEventSynchronize");
    int bad = check_event(e);
    if (!bad)
        bad = may_not("an event is waited for during a capture");
    while (!bad && !is_over(e)) {
        pthread_mutex_unlock(&lock);
        usleep(100);
        pthread_mutex_lock(&lock);
    }
    return leave(bad);
}

/* A float, as in the real driver; it is rounded to half a microsecond. */
EXPORT int cuEventElapsedTime(float *ms, event *from, event *to)
{
    CALL("cuEventElapsedTime");
    int bad = check_event(from);
    if (!bad)
        bad = check_event(to);
    if (!bad && (!from->at || !to->at))
        bad = INVALID_HANDLE;
    if (!bad && (!is_over(from) || !is_over(to)))
        bad = NOT_READY;
    if (!bad)
        *ms = (float)((double)(int64_t)(to->at - from->at) / 1e6);
    return leave(bad);
}

EXPORT int cuEventDestroy_v2(event *e)
{
    CALL("cuEventDestroy");
    int bad = check_event(e);
    if (bad)
        return leave(bad);
    e->is_gone = 1;
    alive--;
    return leave(OK);
}

static uint64_t profiler_starts, profiler_stops;

EXPORT int cuProfilerStart(void)
{
    CALL("cuProfilerStart");
    profiler_starts++;
    return leave(OK);
}

EXPORT int cuProfilerStop(void)
{
    CALL("cuProfilerStop");
    profiler_stops++;
    return leave(OK);
}

/* ---- Tests ------------------------------------------------------------------- */

static void fake_clock(const uint64_t *ns)
{
    the_clock = ns;
}

static void *fake_context(int device)
{
    pthread_mutex_lock(&lock);
    context *c = context_of(device);
    top = 1;
    stack[0] = c;
    pthread_mutex_unlock(&lock);
    return c;
}

static void fake_current(void *c)
{
    top = c != NULL;
    stack[0] = c;
}

static void *fake_stream(void *c)
{
    pthread_mutex_lock(&lock);
    stream *s = make_stream(c);
    keep_stream(s);
    pthread_mutex_unlock(&lock);
    return s;
}

static void fake_stream_destroy(void *handle)
{
    stream *s = handle;
    pthread_mutex_lock(&lock);
    s->is_gone = 1;
    pthread_mutex_unlock(&lock);
}

static void *fake_further_context(int device)
{
    pthread_mutex_lock(&lock);
    context *c = make_context(device);
    pthread_mutex_unlock(&lock);
    return c;
}

static void fake_stream_again(void *handle)
{
    stream *s = handle;
    pthread_mutex_lock(&lock);
    if (!s->is_gone)
        abort();
    context *of = s->of;
    *s = (stream){.of = of, .number = FIRST_NUMBER + of->streams++};
    pthread_mutex_unlock(&lock);
}

static int fake_stream_number(void *context_or_null, void *handle, int is_own,
                              uint32_t *number)
{
    pthread_mutex_lock(&lock);
    const stream *s = stream_of(!handle && is_own ? (void *)2 : handle);
    int bad = !s || !current() ? INVALID_CONTEXT : OK;
    if (!bad)
        check_stream(s);
    if (!bad &&
        (s->of->is_gone || (context_or_null && context_or_null != s->of)))
        bad = INVALID_HANDLE;
    if (!bad)
        *number = s->number;
    pthread_mutex_unlock(&lock);
    return bad;
}

static void fake_launch(void *handle, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    stream *s = stream_of(handle);
    check_stream(s);
    wait_for_queue(s);
    wait_for_others(s);
    s->ready = later(s->ready, now());
    s->ready = ns == NEVER || s->ready == NEVER ? NEVER : s->ready + ns;
    s->ends[s->launched++ % QUEUE] = s->ready;
    pthread_mutex_unlock(&lock);
}

static void fake_watch(void (*call)(const char *, int, int))
{
    watcher = call;
}

static void fake_finish(void *handle)
{
    pthread_mutex_lock(&lock);
    stream_of(handle)->ready = now();
    pthread_mutex_unlock(&lock);
}

static void fake_blocking(void *handle)
{
    stream *s = handle;
    pthread_mutex_lock(&lock);
    s->next = s->of->blocking;
    s->of->blocking = s;
    pthread_mutex_unlock(&lock);
}

static void fake_queue(unsigned room)
{
    pthread_mutex_lock(&lock);
    queue_room = room;
    pthread_mutex_unlock(&lock);
}

static uint64_t fake_queue_waits(void)
{
    pthread_mutex_lock(&lock);
    uint64_t n = queue_waits;
    pthread_mutex_unlock(&lock);
    return n;
}

static void fake_hold(void *handle, int is_held)
{
    pthread_mutex_lock(&lock);
    ((context *)handle)->is_held = is_held;
    pthread_mutex_unlock(&lock);
}

static void fake_early(void *handle, int is_early)
{
    pthread_mutex_lock(&lock);
    stream_of(handle)->is_early = is_early;
    pthread_mutex_unlock(&lock);
}

static void fake_capture(void *handle, int begins)
{
    pthread_mutex_lock(&lock);
    stream *s = stream_of(handle);
    s->is_capturing = begins;
    s->of->is_capturing += begins ? 1 : -1;
    pthread_mutex_unlock(&lock);
}

/* As CUDA demands of a host: while no other thread calls into the device. */
static void fake_reset(int device)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < context_count; i++) {
        while (contexts[i]->device == device && contexts[i]->entered) {
            pthread_mutex_unlock(&lock);
            usleep(100);
            pthread_mutex_lock(&lock);
        }
        if (contexts[i]->device == device)
            contexts[i]->is_gone = 1;
    }
    alive = 0;
    pthread_mutex_unlock(&lock);
}

static void fake_revive(void *handle)
{
    context *c = handle;
    pthread_mutex_lock(&lock);
    c->id += sizeof contexts / sizeof *contexts; /* not shared */
    c->is_gone = 0;
    pthread_mutex_unlock(&lock);
}

static void fake_fail(const char *call, uint64_t n, uint64_t many, int result)
{
    pthread_mutex_lock(&lock);
    fault.call = call;
    fault.n = n;
    fault.many = many;
    fault.result = result;
    pthread_mutex_unlock(&lock);
}

static void fake_hang(const char *call)
{
    pthread_mutex_lock(&lock);
    hangs = call;
    pthread_mutex_unlock(&lock);
}

static void fake_slow(const char *call, unsigned us)
{
    pthread_mutex_lock(&lock);
    is_slow = call;
    slow_us = us;
    pthread_mutex_unlock(&lock);
}

static uint64_t fake_calls(const char *call)
{
    uint64_t n = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 64 && counts[i].call; i++)
        if (strcmp(counts[i].call, call) == 0)
            n = counts[i].count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void fake_event_cost(uint64_t ns)
{
    cost = ns;
}

static void fake_version(int version)
{
    driver_version = version;
}

static uint64_t fake_misuse(const char **last)
{
    pthread_mutex_lock(&lock);
    uint64_t n = misuses;
    if (last)
        *last = misused;
    pthread_mutex_unlock(&lock);
    return n;
}

static void fake_unload(void)
{
    is_unloaded = 1;
}

static uint64_t fake_leaks(void)
{
    pthread_mutex_lock(&lock);
    uint64_t n = alive;
    pthread_mutex_unlock(&lock);
    return n;
}

static uint64_t fake_retained(void)
{
    pthread_mutex_lock(&lock);
    uint64_t n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += retained[i];
    pthread_mutex_unlock(&lock);
    return n;
}

static void fake_devices(int count)
{
    device_count = count;
}

EXPORT extern const fake_cuda fake_cuda_table;
const fake_cuda fake_cuda_table = {
    fake_clock,          fake_context,  fake_current,         fake_stream,
    fake_stream_destroy, fake_launch,   fake_finish,          fake_capture,
    fake_reset,          fake_fail,     fake_calls,           fake_event_cost,
    fake_version,        fake_misuse,   fake_leaks,           fake_hang,
    fake_unload,         fake_slow,     fake_revive,          fake_retained,
    fake_early,          fake_blocking, fake_queue,           fake_queue_waits,
    fake_hold,           fake_watch,    fake_further_context, fake_stream_again,
    fake_stream_number,  fake_devices};
