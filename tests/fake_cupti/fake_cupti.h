/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control of the fake CUPTI by tests: found with dlsym as fake_cupti_table. From any
 * thread. It stands for a host that calls CUDA, and for CUPTI that watches it. What a
 * client of CUPTI must not do aborts, with a line. What it is from its loading on may be said
 * by variables of the environment: cupti.c. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "../fake_cuda/fake_cuda.h"
#include "layouts.h"

enum { FAKE_DRIVER_API = 1, FAKE_RUNTIME_API = 2 };

/* Where work runs. `handle` is a stream of the fake driver, which then works as long, or
 * NULL. */
typedef struct fake_place {
    void *context, *handle;
    uint32_t device, context_id, stream;
} fake_place;

/* What the driver's call inside one of the runtime's is, and whose number work carries. On
 * a GPU, CUPTI 12.1's sample shows kernels with the number of the runtime's call, and no
 * number between two of these (github.com/pytorch/pytorch, issue 99615). HPCToolkit
 * (hpcrun/gpu/api/nvidia/cupti-api.c) is called back for the driver's call inside it. */
enum fake_numbers {
    FAKE_RUNTIMES, /* it has a number of its own; work has the runtime's, */
    FAKE_DRIVERS,  /* or the driver's */
    FAKE_ONE,      /* both have one number */
    FAKE_NO_DRIVER /* it is none: nobody is called back for it */
};

typedef struct fake_cupti {
    /* ---- What it is, before it is used -------------------------------------- */
    void (*version)(uint32_t version);
    void (*numbers)(enum fake_numbers how);
    /* The word that is the time, in ns; NULL: CLOCK_MONOTONIC. Its own clock is
     * `offset` later, and gains `gain` ns in a million. */
    void (*clock)(const uint64_t *ns);
    void (*own_clock)(int64_t offset, int64_t gain);

    /* ---- The host's calls ---------------------------------------------------- */
    /* A call of an interface begins on this thread, and ends; they nest. Its
     * correlation. */
    uint32_t (*begin)(int domain, const char *name, void *context);
    void (*end)(int result);
    /* A kernel that takes `ns` after what is in the stream: cudaLaunchKernel, which
     * calls cuLaunchKernel. UINT64_MAX: it is not over before `finish`. */
    uint32_t (*launch)(const fake_place *place, const char *name, uint64_t ns);
    /* The driver's calls are CUPTI's to see: also those of gnomon's own. */
    void (*watch)(const fake_cuda *driver);
    /* Work of the innermost calls of this thread; begin and end are those of the
     * record, whose correlation is filled in if it is 0. It is over when the time is
     * its end. */
    void (*work)(const fake_record *record);
    /* The same, for `ns` after what is in its stream. */
    void (*timed_work)(const fake_record *record, uint64_t ns);
    /* As `work`, `many` times, with correlations from here on, as other threads'. */
    void (*flood)(const fake_record *record, uint32_t many);
    /* All is over now. */
    void (*finish)(void);
    void (*context_ends)(void *context);

    /* ---- What goes wrong ----------------------------------------------------- */
    /* From the n-th call of `call` on (1: the next), `many` fail with `result`. */
    void (*fail)(const char *call, uint64_t n, uint64_t many, int result);
    /* No call of that name returns, until another name is set, or NULL. */
    void (*hang)(const char *call);
    /* Another client owns it, or no more. */
    void (*other)(int has_it);
    /* It has told its name; and whether it is one of several subscribers. */
    void (*other_is)(const char *name, int is_one_of_several);
    /* Anybody may make the calls for the whole process, as Kineto does without a
     * subscription. */
    void (*anybody)(int may);
    /* It ends itself: no call may follow. */
    void (*fatal)(int result, const char *message);
    /* A slot of 208 bytes with no more than a kind; 0: it was never filled. */
    void (*slot)(uint32_t kind);
    /* Full buffers are kept, and given back in one go, the last first. */
    void (*late)(int is_late);
    /* As at the end of a process: no call may follow. */
    void (*unload)(void);

    /* ---- What was done -------------------------------------------------------- */
    uint64_t (*calls)(const char *call);
    /* Whether a kind is recorded; whether calls of this name call back, and are
     * recorded. */
    int (*records)(uint32_t kind);
    int (*calls_back)(int domain, const char *name);
    int (*records_call)(int domain, const char *name);
    int (*subscribers)(void);
    /* Buffers that it has, records that it dropped as it got none, and bytes of buffers
     * that it had to zero. */
    uint32_t (*buffers)(void);
    uint64_t (*dropped)(void);
    uint64_t (*zeroed)(void);
} fake_cupti;

#endif
