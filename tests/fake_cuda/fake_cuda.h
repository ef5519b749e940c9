/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control of the fake driver by tests, besides gnomon's calls: found with
 * dlsym, or by name in linked programs. From any thread. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdint.h>

typedef struct fake_cuda {
    /* The word that is the time, in ns; NULL: CLOCK_MONOTONIC. */
    void (*clock)(const uint64_t *ns);
    /* A context of `device` becomes the calling thread's; NULL: none. */
    void *(*context)(int device);
    void (*current)(void *context);
    void *(*stream)(void *context);
    /* A call with a destroyed stream aborts. */
    void (*stream_destroy)(void *stream);
    /* Work of `ns` goes into a stream; never over with UINT64_MAX, until
     * `finish`. */
    void (*launch)(void *stream, uint64_t ns);
    void (*finish)(void *stream);
    /* The stream is captured into a graph, or no more. */
    void (*capture)(void *stream, int begins);
    /* All contexts of the device, their streams and their events are gone. */
    void (*reset)(int device);
    /* From the n-th call of `call` on (1: the next), `many` fail with `result`. */
    void (*fail)(const char *call, uint64_t n, uint64_t many, int result);
    /* How often it was called; of all since the start. */
    uint64_t (*calls)(const char *call);
    /* What an event takes of a stream. */
    void (*event_cost)(uint64_t ns);
    /* What the version is said to be; before the first use. */
    void (*version)(int version);
    /* How often something was done that a host would suffer from, and what it
     * was last. Events and streams that were made and not destroyed. */
    uint64_t (*misuse)(const char **last);
    uint64_t (*leaks)(void);
    /* No call of that name returns, until another name is set, or NULL. */
    void (*hang)(const char *call);
    /* As at the end of a process: no call may follow. */
    void (*unload)(void);
    /* Each call of that name takes so long. */
    void (*slow)(const char *call, unsigned us);
    /* The context of a device that was reset is there again, where it was. */
    void (*revive)(void *context);
    /* How many contexts were retained and not released. */
    uint64_t (*retained)(void);
    /* Events that are put into the stream are over at once, before what was put
     * there earlier; or no more. */
    void (*early)(void *stream, int is_early);
    /* The stream waits for the legacy one and that one for it, as one made by
     * cudaStreamCreate. */
    void (*blocking)(void *stream);
    /* A stream's queue holds so many launches (below 64; 0: any number): with more, the
     * caller waits. How often one did. */
    void (*queue)(unsigned room);
    uint64_t (*queue_waits)(void);
    /* Another thread has the context's lock, or no more: calls wait. */
    void (*hold)(void *context, int is_held);
    /* `call` is told of each call of the driver at its begin, and with a NULL for a
     * name at its end; or no more. */
    void (*watch)(void (*call)(const char *name, int is_over, int result));
    /* Another context of the device, besides the primary one. */
    void *(*further_context)(int device);
    /* The handle of a stream that was destroyed is that of a new one. */
    void (*stream_again)(void *stream);
    /* What the fake CUPTI tells of a stream: unique in its context, 7 for the legacy
     * one. With `is_own` 0 is the thread's own. Not 0: there is no such stream in the
     * context, which may be NULL. A destroyed stream aborts. */
    int (*stream_number)(void *context, void *stream, int is_own,
                         uint32_t *number);
    /* How many devices there are said to be; 4 otherwise. */
    void (*devices)(int count);
} fake_cuda;

#endif
