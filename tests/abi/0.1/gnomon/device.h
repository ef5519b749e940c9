/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Time on a device: scopes whose work runs on a stream, timed by events that
 * the device itself stamps. gnomon/cuda.h has them for CUDA.
 *
 *     { GNOMON_SCOPE_ON_DEVICE("backward", &some_device, stream); ... }
 *
 * Nothing here makes the calling thread wait for a device: an event goes into
 * the stream at either end, and a thread of gnomon's reads them when they are
 * over. Where no profiler asks for device times (`cuda` in $GNOMON), such a
 * scope is a plain one.
 */
#ifndef GNOMON_DEVICE_H
#define GNOMON_DEVICE_H

#include "../gnomon.h"

GNOMON_BEGIN_DECLS

/* ---- What makes a vendor's streams timeable ------------------------------ */

/* Where a stream runs. Events made in one context are of use in it alone. */
typedef struct gnomon_device_context {
    uint32_t struct_size;
    uint32_t reserved;
    void *context;
    uint64_t id; /* another one after the device was reset; 0: not known */
} gnomon_device_context;

/* A device's kind, as the vendor calls it, and what it can do. Fill in all of it
 * for another vendor; it must live as long as the process. All calls return
 * GNOMON_OK or an error code, wait for nothing, and leave no trace that the
 * host could meet: no error to be asked for, no other current context. */
typedef struct gnomon_device {
    uint32_t struct_size;
    uint32_t abi;     /* GNOMON_ABI */
    const char *name; /* "cuda" */

    /* These come from marking threads too, many at once. */

    /* Where `stream` is. GNOMON_EBUSY: it is being captured into a graph, so
     * that what is put into it does not run now. */
    int (*context_of)(void *stream, gnomon_device_context *out);
    /* The same of a stream that was there a moment ago, and is so but for
     * mistakes of the host: GNOMON_ESTATE where it sees one. */
    int (*check)(void *stream, const gnomon_device_context *place);
    /* A new event, whatever context is current; puts it into `stream`. */
    int (*event_create)(const gnomon_device_context *place, void **event);
    int (*event_record)(void *event, void *stream);

    /* These come from one thread at a time, which is seldom the host's. */

    /* Around the calls below, which are of this context. An error: it is gone,
     * with all its events and streams, and `leave` does not follow. */
    int (*enter)(const gnomon_device_context *place);
    void (*leave)(void);
    /* GNOMON_EBUSY: the stream has not come to it yet. */
    int (*event_done)(void *event);
    /* Both are over; below 0 where `to` was first. */
    int (*event_elapsed)(void *from, void *to, double *ns);
    void (*event_destroy)(void *event);
    /* A stream of gnomon's own, on which nothing waits and which waits for
     * nothing: one for each place. */
    int (*stream_create)(const gnomon_device_context *place, void **stream);
    void (*stream_destroy)(void *stream);
    /* Which device it is, from 0, and what it is called. */
    int (*describe)(const gnomon_device_context *place, int32_t *index,
                    char *name, size_t size);
} gnomon_device;

/* ---- Scopes on a stream -------------------------------------------------- */

/* An open scope on a stream. */
typedef struct gnomon_device_scope {
    uint32_t struct_size;
    uint32_t timer;     /* gnomon's */
    gnomon_token token; /* 0: not recorded */
} gnomon_device_scope;

#ifndef GNOMON_DISABLE
/* Fills `scope`, of which only struct_size is set. */
GNOMON__SLOW_API void gnomon_begin_on_slow(gnomon_region *region, uint32_t mask,
                                           const gnomon_device *device,
                                           void *stream,
                                           gnomon_device_scope *scope);
GNOMON__SLOW_API void gnomon_end_on_slow(const gnomon_device_scope *scope);

/* Begins a scope of `region` whose work goes into `stream`. End it on the same
 * thread, by gnomon_end_on, while the stream is still there. */
GNOMON_INLINE gnomon_device_scope gnomon_begin_on(gnomon_region *region,
                                                  const gnomon_device *device,
                                                  void *stream)
{
    gnomon_device_scope scope = {sizeof(gnomon_device_scope), 0, 0};
    uint32_t mask = gnomon__mask(region);
    if (__builtin_expect(mask != 0, 0))
        gnomon_begin_on_slow(region, mask, device, stream, &scope);
    return scope;
}

/* Ends it; as gnomon_end for all that is wrong with `scope`. */
GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    if (__builtin_expect(scope.token != 0, 0))
        gnomon_end_on_slow(&scope);
}

GNOMON_INLINE void gnomon__end_scope_on(gnomon_device_scope *scope)
{
    gnomon_end_on(*scope);
}

GNOMON_INLINE gnomon_device_scope gnomon__no_scope_on(void)
{
    gnomon_device_scope none = {sizeof(gnomon_device_scope), 0, 0};
    return none;
}

/* The stream is not evaluated when off. */
#define GNOMON__SCOPE_ON(name, category, device, stream, n) \
    static gnomon_region GNOMON__NAME(gnomon__region, n) = \
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, category, __func__); \
    __attribute__((cleanup(gnomon__end_scope_on), unused)) gnomon_device_scope \
    GNOMON__NAME(gnomon__token, n) = \
        __builtin_expect(gnomon__mask(&GNOMON__NAME(gnomon__region, n)) == 0, \
                         1) \
            ? gnomon__no_scope_on() \
            : gnomon_begin_on(&GNOMON__NAME(gnomon__region, n), device, \
                              stream)

/* Names a stream for tools that show it. Copied. */
GNOMON_API void gnomon_stream_name(const gnomon_device *device, void *stream,
                                   const char *name);
GNOMON_API void gnomon_stream_name_n(const gnomon_device *device, void *stream,
                                     const char *name, size_t length);

/* A scope from here to the end of the block, on the host and in `stream`. As
 * GNOMON_SCOPE: a line of its own in a block. */
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE_ON(name, GNOMON_NULL, device, stream, __COUNTER__)
#else
/* As gnomon/disabled.h: what is given is compiled, and not evaluated. */
GNOMON_INLINE gnomon_device_scope gnomon_begin_on(gnomon_region *region,
                                                  const gnomon_device *device,
                                                  void *stream)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)region;
    (void)device;
    (void)stream;
    return none;
}

GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    (void)scope;
}

GNOMON_INLINE gnomon_device_scope gnomon__none_or(int nothing)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)nothing;
    return none;
}

GNOMON_INLINE void gnomon_stream_name(const gnomon_device *device, void *stream,
                                      const char *name)
{
    (void)device;
    (void)stream;
    (void)name;
}

GNOMON_INLINE void gnomon_stream_name_n(const gnomon_device *device,
                                        void *stream, const char *name,
                                        size_t length)
{
    (void)device;
    (void)stream;
    (void)name;
    (void)length;
}

#define gnomon_stream_name(device, stream, name) \
    GNOMON__NOT(gnomon_stream_name(device, stream, name))
#define gnomon_stream_name_n(device, stream, name, length) \
    GNOMON__NOT(gnomon_stream_name_n(device, stream, name, length))
#define gnomon_begin_on(region, device, stream) \
    gnomon__none_or(1 ? 0 : (gnomon_begin_on(region, device, stream), 0))
#define gnomon_end_on(scope) GNOMON__NOT(gnomon_end_on(scope))
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE(sizeof(name) + sizeof(device) + sizeof(stream) > 0, \
                  __COUNTER__)
#endif

GNOMON_END_DECLS

#endif
