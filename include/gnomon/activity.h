/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Work that is over, as somebody else measured it: kernels, copies and calls that a
 * vendor's tool tells about, each with its begin and its end, and each counted below the
 * scope that launched it. CUPTI is gnomon's own source (`cupti` in $GNOMON); another
 * one is a gnomon_activity_source of three calls.
 *
 * How: where a call launches work, its source says so on that thread, and gnomon notes
 * the innermost open scope under the call's correlation. When the work is over, the
 * source gives a record with the same correlation, from any thread.
 * Records are counted and never refused: what cannot be is an activities_... count of
 * gnomon_health.
 */
#ifndef GNOMON_ACTIVITY_H
#define GNOMON_ACTIVITY_H

#include "../gnomon.h"

GNOMON_BEGIN_DECLS

/* What a record is of. */
enum gnomon_activity_kind {
    GNOMON_ACTIVITY_KERNEL = 0,
    /* Memory that was copied, or set to a value. */
    GNOMON_ACTIVITY_COPY = 1,
    GNOMON_ACTIVITY_SET = 2,
    /* A call of the vendor's interface, on a thread of the host. */
    GNOMON_ACTIVITY_CALL = 3,
    /* A thread or a stream that waits for a stream, an event or a device. */
    GNOMON_ACTIVITY_SYNC = 4,
    /* What the source itself costs. */
    GNOMON_ACTIVITY_OVERHEAD = 5,
    /* A whole graph, from its first to its last work. */
    GNOMON_ACTIVITY_GRAPH = 6,
    /* A collective operation of several ranks. */
    GNOMON_ACTIVITY_COLLECTIVE = 7
};

/* Bits of gnomon_activity.flags. */
enum gnomon_activity_flags {
    /* The call is of the lower of two interfaces (CUDA's driver). */
    GNOMON_ACTIVITY_LOW_LEVEL = 1u
};

/* One piece of work that is over. Numbers that are not known are 0, if not said
 * otherwise. */
typedef struct gnomon_activity {
    uint32_t struct_size;
    /* A gnomon_activity_kind. */
    uint32_t kind;
    /* Bits of gnomon_activity_flags. */
    uint32_t flags;
    /* The device, from 0; -1: it is of no device. */
    int32_t device;
    /* The vendor's numbers. A wait for more than one stream: UINT32_MAX. */
    uint32_t context;
    uint32_t stream;
    /* Moments by gnomon_now_ns. */
    uint64_t begin_ns;
    uint64_t end_ns;
    /* Of the call that launched it, or of the call itself; 0: not known. */
    uint64_t correlation;
    /* The operating system's number of the thread of a call or a wait. */
    int64_t thread;
    /* The graph that it was in, and its node there. */
    uint64_t graph;
    uint64_t graph_node;
    /* Of a copy, set or collective. */
    uint64_t bytes;
    /* UTF-8, borrowed until the call returns: a kernel's name, a call's; of copies,
     * sets and waits what kind they are, as "Memcpy HtoD (Pageable -> Device)".
     * NULL: not known. */
    const char *name;
    /* Of a kernel: blocks, threads of a block, registers of a thread, bytes of a
     * block. */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers;
    uint32_t shared_static;
    uint32_t shared_dynamic;
    /* Of a call: the vendor's number of it, and what it returned. */
    uint32_t call;
    int32_t result;
    uint32_t reserved;
    /* Of a collective: which communicator, and which of its operations. */
    uint64_t communicator;
    uint64_t entry;
} gnomon_activity;

/* ---- Sources -------------------------------------------------------------- */

/* Who tells about work. It must live until it is removed. Each call but the names may
 * be NULL. They are called inside control calls, one at a time, and may call
 * gnomon_activity_put. */
typedef struct gnomon_activity_source {
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* What messages call it, as "CUPTI". */
    const char *name;
    void *self;
    /* Begins to tell: somebody wants `kinds`, a bit 1 << kind for each
     * gnomon_activity_kind. Called again with other kinds while it is open. An error
     * means that it tells nothing; *why may be set to one line that says what to do,
     * which must live as long as the source. */
    int (*open)(void *self, uint32_t number, uint32_t kinds, const char **why);
    /* Nobody wants it any more. After it returns, nothing is told. */
    void (*close)(void *self);
    /* Tells all that is over, within `patience_ns`. */
    void (*flush)(void *self, uint64_t patience_ns);
} gnomon_activity_source;

#ifndef GNOMON_DISABLE
/* Adds a source, which is opened when somebody wants work. GNOMON_OK, or an error and a
 * text: GNOMON_EINVAL, GNOMON_EABI, GNOMON_ENOMEM (there are 4 already). Its number, from
 * 1, is given to `open`. */
GNOMON_API int gnomon_activity_source_add(const gnomon_activity_source *source);
/* Closes and removes it. */
GNOMON_API int
gnomon_activity_source_remove(const gnomon_activity_source *source);

/* Now, in ns since the run's zero: what records' moments are counted from. Any thread. */
GNOMON_API uint64_t gnomon_now_ns(void);

/* On the thread that launches work, before any record of it is given: what comes with
 * this correlation was launched by the innermost scope that is open on this thread.
 * `source`: its number. It waits for nothing, as a mark: only after a stage or a profiler
 * came or went the thread's first call of either takes a lock, and perhaps memory. */
GNOMON_API void gnomon_activity_launched(uint32_t source, uint64_t correlation);
/* Work that is over. They lie struct_size of the first one apart. Any thread, not a
 * marking one: it takes a lock. */
GNOMON_API void gnomon_activity_put(uint32_t source,
                                    const gnomon_activity *records,
                                    size_t count);
/* `count` records were lost by the source. */
GNOMON_API void gnomon_activity_lost(uint32_t source, uint64_t count);
#endif

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_activity.h"
#endif

#endif
