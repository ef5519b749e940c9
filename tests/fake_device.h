/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Another vendor's streams, on the test clock, by gnomon/tool.h alone: the
 * part under "The device" is what a vendor has to write. A context is a
 * number that is destroyed with it; a stream is the time at which its work
 * ends. Calls that no vendor would allow are counted. Stream `toy_own` is a
 * different one on each thread. Every call changes errno. */
#ifndef GNOMON_TESTS_FAKE_DEVICE_H
#define GNOMON_TESTS_FAKE_DEVICE_H

#include <errno.h>

#include "gnomon/tool.h"
#include "marks.h"

#define TOY_NEVER UINT64_MAX

typedef struct toy_context {
    uint64_t life; /* 0: destroyed */
    int32_t index;
    uint32_t entered; /* by how many threads */
} toy_context;

typedef struct toy_stream {
    toy_context *context;
    uint64_t ready, life;
    int is_captured, is_alive;
} toy_stream;

typedef struct toy_event {
    const toy_stream *in; /* NULL: not recorded */
    uint64_t at, life;
    int is_alive;
} toy_event;

static toy_context toy_contexts[128];
static toy_stream toy_streams[256];
static toy_event toy_events[8192];
static uint32_t toy_context_count, toy_stream_count, toy_event_count;
static uint64_t toy_lives, toy_faults, toy_entries, toy_event_ns;
static toy_stream toy_own; /* the calling thread's own stream */
static __thread toy_stream *toy_mine;
static __thread toy_context *toy_entered;
static pthread_mutex_t toy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t toy_left = PTHREAD_COND_INITIALIZER;

/* ---- What its host does ------------------------------------------------------- */

static inline toy_context *toy_device_context(int32_t index)
{
    if (toy_context_count == sizeof toy_contexts / sizeof *toy_contexts)
        abort();
    toy_context *c = &toy_contexts[toy_context_count++];
    *c = (toy_context){++toy_lives, index, 0};
    return c;
}

static inline toy_stream *toy_make_stream(toy_context *c)
{
    pthread_mutex_lock(&toy_lock);
    toy_stream *s = &toy_streams[toy_stream_count++];
    *s = (toy_stream){c, 0, c->life, 0, 1};
    pthread_mutex_unlock(&toy_lock);
    return s;
}

static inline uint64_t toy_now(void)
{
    return __atomic_load_n(&gnomon__test_ticks, __ATOMIC_RELAXED);
}

static inline void toy_launch(toy_stream *s, uint64_t ns)
{
    pthread_mutex_lock(&toy_lock);
    s->ready = s->ready < toy_now() ? toy_now() : s->ready;
    s->ready = ns == TOY_NEVER ? ns : s->ready + ns;
    pthread_mutex_unlock(&toy_lock);
}

static inline void toy_finish(toy_stream *s)
{
    pthread_mutex_lock(&toy_lock);
    s->ready = toy_now();
    pthread_mutex_unlock(&toy_lock);
}

/* The device is reset, or lost where `comes_back` is 0. As with CUDA, its host does that
 * while no thread is in the context: one that is could still read the times of events that
 * are gone. */
static inline void toy_reset(toy_context *c, int comes_back)
{
    pthread_mutex_lock(&toy_lock);
    while (c->entered)
        pthread_cond_wait(&toy_left, &toy_lock);
    c->life = comes_back ? ++toy_lives : 0;
    pthread_mutex_unlock(&toy_lock);
}

/* Events and streams that gnomon created and could have destroyed, but did
 * not. */
static inline uint64_t toy_alive(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < toy_event_count; i++)
        n += (uint64_t)toy_events[i].is_alive;
    for (uint32_t i = 0; i < toy_stream_count; i++)
        n += toy_streams[i].is_alive == 2 &&
             toy_streams[i].life == toy_streams[i].context->life;
    return n;
}

/* ---- The device --------------------------------------------------------------- */

static inline int toy_enter_call(void)
{
    errno = 71;
    return pthread_mutex_lock(&toy_lock);
}

static inline int toy_leave_call(int code)
{
    pthread_mutex_unlock(&toy_lock);
    return code;
}

static inline toy_stream *toy_handle(void *stream)
{
    return stream == &toy_own ? toy_mine : stream;
}

static int toy_context_of(void *stream, gnomon_device_context *out)
{
    toy_enter_call();
    const toy_stream *s = toy_handle(stream);
    out->context = s->context;
    out->id = s->context->life;
    return toy_leave_call(s->is_captured || s->life != s->context->life
                              ? GNOMON_EBUSY
                              : GNOMON_OK);
}

static int toy_check(void *stream, const gnomon_device_context *context)
{
    gnomon_device_context now;
    int code = toy_context_of(stream, &now);
    return !code && (now.context != context->context || now.id != context->id)
               ? GNOMON_ESTATE
               : code;
}

static int toy_event_create(const gnomon_device_context *context, void **event)
{
    toy_enter_call();
    if (((toy_context *)context->context)->life != context->id)
        return toy_leave_call(GNOMON_ESTATE);
    toy_event *e = &toy_events[toy_event_count];
    int code = toy_event_count < 8192 ? GNOMON_OK : GNOMON_ENOMEM;
    if (!code) {
        toy_event_count++;
        *e = (toy_event){NULL, 0, context->id, 1};
        *event = e;
    }
    return toy_leave_call(code);
}

static int toy_event_record(void *event, void *stream)
{
    toy_enter_call();
    toy_event *e = event;
    toy_stream *s = toy_handle(stream);
    toy_faults += !e->is_alive || s->is_captured || s->life != e->life;
    if (s->ready < toy_now())
        s->ready = toy_now();
    if (s->ready != TOY_NEVER)
        s->ready += toy_event_ns;
    e->in = s;
    e->at = s->ready;
    return toy_leave_call(GNOMON_OK);
}

static int toy_enter(const gnomon_device_context *context)
{
    toy_enter_call();
    toy_context *c = context->context;
    if (c->life != context->id)
        return toy_leave_call(GNOMON_ESTATE);
    toy_faults += toy_entered != NULL;
    toy_entries++;
    toy_entered = c;
    c->entered++;
    return toy_leave_call(GNOMON_OK);
}

static void toy_leave(void)
{
    toy_enter_call();
    toy_faults += toy_entered == NULL;
    if (toy_entered && --toy_entered->entered == 0)
        pthread_cond_broadcast(&toy_left);
    toy_entered = NULL;
    toy_leave_call(0);
}

static int toy_event_done(void *event)
{
    toy_enter_call();
    toy_event *e = event;
    toy_faults += !e->is_alive || !e->in || !toy_entered;
    if (e->at == TOY_NEVER && e->in->ready != TOY_NEVER)
        e->at = e->in->ready;
    return toy_leave_call(e->at <= toy_now() ? GNOMON_OK : GNOMON_EBUSY);
}

static int toy_event_elapsed(void *from, void *to, double *ns)
{
    toy_enter_call();
    *ns = (double)(int64_t)(((toy_event *)to)->at - ((toy_event *)from)->at);
    return toy_leave_call(GNOMON_OK);
}

static void toy_event_destroy(void *event)
{
    toy_enter_call();
    toy_faults += !((toy_event *)event)->is_alive;
    ((toy_event *)event)->is_alive = 0;
    toy_leave_call(0);
}

static int toy_stream_create(const gnomon_device_context *context,
                             void **stream)
{
    toy_stream *s = toy_make_stream(context->context);
    toy_enter_call();
    s->is_alive = 2; /* gnomon's reader */
    *stream = s;
    return toy_leave_call(GNOMON_OK);
}

static void toy_stream_destroy(void *stream)
{
    toy_enter_call();
    toy_faults += ((toy_stream *)stream)->is_alive != 2;
    ((toy_stream *)stream)->is_alive = 0;
    toy_leave_call(0);
}

static int toy_describe(const gnomon_device_context *context, int32_t *index,
                        char *name, size_t size)
{
    *index = ((toy_context *)context->context)->index;
    snprintf(name, size, "Toy %d", (int)*index);
    return GNOMON_OK;
}

static const gnomon_device toy = {
    .struct_size = sizeof toy,
    .abi = GNOMON_ABI,
    .name = "toy",
    .context_of = toy_context_of,
    .check = toy_check,
    .event_create = toy_event_create,
    .event_record = toy_event_record,
    .enter = toy_enter,
    .leave = toy_leave,
    .event_done = toy_event_done,
    .event_elapsed = toy_event_elapsed,
    .event_destroy = toy_event_destroy,
    .stream_create = toy_stream_create,
    .stream_destroy = toy_stream_destroy,
    .describe = toy_describe,
};

#endif
