/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Time on a device: scopes whose work runs on a stream, timed by events on the
 * device itself. gnomon/cuda.h has them ready for CUDA.
 *
 *     { GNOMON_SCOPE_ON_DEVICE("backward", &some_device, stream); ... }
 *
 * How: an event is put into the stream at the scope's begin and at its end. A
 * thread of gnomon's own reads their times once the device has come to them. The
 * calling thread never waits for a device.
 * Where no profiler asks for device times (`cuda` in $GNOMON), such a scope is a
 * plain one. Times that could not be taken are counted as timers_... in
 * gnomon_health; the scope's time on the host is there all the same.
 */
#ifndef GNOMON_DEVICE_H
#define GNOMON_DEVICE_H

#include "../gnomon.h"

GNOMON_BEGIN_DECLS

/* ---- A vendor's streams and events ---------------------------------------- */

/* The context that a stream belongs to, as CUDA's CUcontext. Events that are made
 * in one context can be used in that one alone. */
typedef struct gnomon_device_context {
    uint32_t struct_size;
    uint32_t reserved;
    /* The vendor's handle. */
    void *context;
    /* Differs where a handle is used anew after its device was reset. 0: the
     * vendor does not say. */
    uint64_t id;
} gnomon_device_context;

/* Which device it is, whatever number it has in this process. */
typedef struct gnomon_device_identity {
    uint32_t struct_size;
    /* How many multiprocessors it has; 0: not known. */
    uint32_t processors;
    /* Its memory in bytes; 0: not known. */
    uint64_t memory;
    /* As tools show it, "GPU-8f3c...", and its place, "0000:3b:00.0"; "": not known.
     * ASCII. */
    char uuid[48];
    char pci[24];
} gnomon_device_identity;

/* A kind of devices: how gnomon makes, records and reads a vendor's events. Fill
 * in all of it for another vendor.
 * Lifetime: it must live as long as the process; gnomon never frees it.
 * Errors: each call that returns int returns GNOMON_OK or an error code. Any code
 * costs this one time and is counted; no code stops the program.
 * Rules: the calls wait for nothing, and leave nothing behind that the host could
 * notice: no error that it would be asked about, no other current context. */
typedef struct gnomon_device {
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* What reports call this kind, as "cuda". */
    const char *name;

    /* These are called on marking threads too, by many at once. */

    /* Fills *out with the context of `stream`. GNOMON_EBUSY: the stream is being
     * captured into a graph, so what is put into it does not run now. */
    int (*context_of)(void *stream, gnomon_device_context *out);
    /* Checks, at a scope's end, that `stream` still is of the context in which the
     * scope began. GNOMON_ESTATE: it is not, as where the host destroyed it. */
    int (*check)(void *stream, const gnomon_device_context *where);
    /* Makes an event in `context`, whichever one is current. */
    int (*event_create)(const gnomon_device_context *where, void **event);
    /* Puts an event into `stream`, a stream of the event's context. */
    int (*event_record)(void *event, void *stream);

    /* These are called by one thread at a time, mostly by gnomon's own. */

    /* Makes `context` current for the calls below; leave undoes it. An error means
     * that the context is gone with all its events and streams; leave is not
     * called then. */
    int (*enter)(const gnomon_device_context *where);
    void (*leave)(void);
    /* Whether the device has come to an event. GNOMON_EBUSY: not yet. */
    int (*event_done)(void *event);
    /* The time from one event to another, in ns; below 0 where `to` came first.
     * The device has come to both. */
    int (*event_elapsed)(void *from, void *to, double *ns);
    void (*event_destroy)(void *event);
    /* Makes a stream for gnomon's own use, which waits for no other stream and for
     * which no other one waits. gnomon makes one for each context. */
    int (*stream_create)(const gnomon_device_context *where, void **stream);
    void (*stream_destroy)(void *stream);
    /* Writes the number of the context's device, from 0, and the device's name, at
     * most `size` bytes with the NUL. */
    int (*describe)(const gnomon_device_context *where, int32_t *index,
                    char *name, size_t size);

    /* Fills in what is known of the entered context's device. NULL: nothing is. */
    int (*identify)(const gnomon_device_context *where,
                    gnomon_device_identity *out);

    /* The number by which records of work name `stream` (gnomon/activity.h). With it
     * scopes lie on the track of their stream's work; without, where this is NULL or
     * fails, on one of their own. Called as a scope begins, on marking threads, so
     * after the stream's end nothing asks for it. `where` is the stream's context. */
    int (*stream_number)(void *stream, const gnomon_device_context *where,
                         uint32_t *number);
} gnomon_device;

/* ---- Scopes on a stream -------------------------------------------------- */

/* An open scope on a stream. A plain value, for gnomon_end_on. */
typedef struct gnomon_device_scope {
    uint32_t struct_size;
    /* gnomon's own. */
    uint32_t timer;
    /* The scope on the host; 0: it is not recorded. */
    gnomon_token token;
} gnomon_device_scope;

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. The first one fills
 * `scope`, of which only struct_size is set. */
GNOMON__SLOW_API void gnomon_begin_on_slow(gnomon_region *region, uint32_t mask,
                                           const gnomon_device *device,
                                           void *stream,
                                           gnomon_device_scope *scope);
GNOMON__SLOW_API void gnomon_end_on_slow(const gnomon_device_scope *scope);

/* Begins a scope of `region` whose work goes into `stream`, a stream of `device`.
 * End it by gnomon_end_on, on the same thread, while the stream exists. What is
 * timed is what is put into the stream between the two calls. */
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

/* Ends it. A scope that is not open is treated as by gnomon_end. */
GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    if (__builtin_expect(scope.token != 0, 0))
        gnomon_end_on_slow(&scope);
}

/* What the compiler calls where the block of a GNOMON_SCOPE_ON is left. */
GNOMON_INLINE void gnomon__end_scope_on(gnomon_device_scope *scope)
{
    gnomon_end_on(*scope);
}

/* A scope that is not recorded. */
GNOMON_INLINE gnomon_device_scope gnomon__no_scope_on(void)
{
    gnomon_device_scope none = {sizeof(gnomon_device_scope), 0, 0};
    return none;
}

/* `device` and `stream` are evaluated only where somebody records the region. */
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

/* Names a stream for the profilers that show streams; they get the callback
 * `stream`. gnomon itself keeps no names of streams. `name` is UTF-8 and copied.
 * Any thread. Does nothing where gnomon is off or `device` is NULL. */
GNOMON_API void gnomon_stream_name(const gnomon_device *device, void *stream,
                                   const char *name);

/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON_API void gnomon_stream_name_n(const gnomon_device *device, void *stream,
                                     const char *name, size_t length);

/* Waits until devices have done what was launched so far, and reads its times: what
 * gnomon_snapshot takes next has them. It waits `patience_ns` at most for scopes on
 * streams, and as long again for each source of work (gnomon/activity.h). A control
 * call (gnomon/run.h). GNOMON_OK, also where nothing is timed or patience
 * ended. */
GNOMON_API int gnomon_device_wait(uint64_t patience_ns);

/* A scope from this line to the end of the block, on the host and in `stream`.
 * `name` is a string literal. A declaration, as GNOMON_SCOPE: give it a line of
 * its own in a block. */
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE_ON(name, GNOMON_NULL, device, stream, __COUNTER__)
#endif

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_device.h"
#endif

#endif
