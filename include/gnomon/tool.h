/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For tools: profilers, which receive the marks, and sources, which report the work
 * of devices.
 *
 *   Health     counts of what marks could not do
 *   Stacks     which scopes threads have open
 *   Devices    scopes on streams, and how to support another vendor's devices
 *   Work       kernels, copies and calls that a vendor's library reports
 *   Memory     what a program takes from pools, and gives back
 *   Forwards   which forward operation made one of a backward pass, by its number
 *   Profilers  what a profiler is, and what its callbacks receive
 *   Plugins    what a plugin exports, and all that it may call
 *
 * gnomon/report.h has rows, sums and JSON text for reports.
 */
#ifndef GNOMON_TOOL_H
#define GNOMON_TOOL_H

#include "profile.h"

GNOMON_BEGIN_DECLS

/* ==== Health ==============================================================
 * What went wrong in marks, and how much memory gnomon uses.
 *
 * Marks return no codes and print nothing. What a mark could not do is counted by
 * its cause. Reports end with a line for each cause whose count is not 0, and
 * profiles keep the counts as losses (gnomon_loss_info). */

/* The causes, each with its field in gnomon_health and its text in reports:
 *
 * Mistakes of the program that marks: unmatched, crossed, foreign, twice,
 * never_started, left_open, reentered, bad_names, bad_regions.
 * Limits: too_deep (1024 open scopes on a thread), other_nodes and other_names (what does
 * not fit counts under "(other)", so sums stay right), lost_links, lost_counters,
 * lost_ranges, bad_stages. other_names counts starts by name, calls of gnomon_region_get
 * and records of devices' work, but not stops. Memory: lost_scopes, lost_frames;
 * $GNOMON's mem= gives more. lost_blocks, where the system gives none.
 * Devices: timers_..., which count scopes whose time on the device is missing
 * (their time on the host is there); activities_..., which count records of work.
 * Clocks: clock_back. Stages: late_lost. Operations: bad_ops, lost_ops. */
#define GNOMON__HEALTH_OF_MARKS(X) \
    X(unmatched, "ends of scopes that were not open on the thread") \
    X(crossed, "scopes ended by the end of one around them") \
    X(foreign, "ends without effect: made on another thread than the begin") \
    X(twice, "starts of actions that were open") \
    X(never_started, "stops of actions that were not open") \
    X(left_open, "scopes that were open when their thread ended") \
    X(too_deep, "scopes past the depth limit, counted under (other)") \
    X(reentered, \
      "marks made inside gnomon, by a callback or a signal, or after the end " \
      "of their thread") \
    X(other_nodes, "paths past the memory limit, counted under (other)") \
    X(other_names, \
      "marks whose name is past the limit, counted under (other)") \
    X(bad_names, "names that were NULL, too long or not UTF-8") \
    X(bad_regions, "regions of another generation, or NULL") \
    X(lost_scopes, "marks lost: no memory for the thread (raise mem=)") \
    X(lost_ranges, "ranges lost: too many open") \
    X(lost_links, "links lost: too many") \
    X(lost_counters, "counter samples lost: too many counters") \
    X(lost_frames, "scopes that hooks did not see: too many open, or no " \
                   "memory (raise mem=)") \
    X(bad_stages, "stages of too many names, added up under (other)") \
    X(timers_full, "device times lost: too many scopes waited for the device") \
    X(timers_captured, "device times not taken: captured into a graph") \
    X(timers_failed, "device times lost: the device refused a call") \
    X(timers_late, "device times lost: the device had not finished when the " \
                   "report was due") \
    X(timers_unended, \
      "device times lost: scopes that were crossed or left open") \
    X(clock_back, "ends before their begins: the clock stepped back") \
    X(late_lost, \
      "ends after their stage, counted in a later one: out of memory")
#define GNOMON__HEALTH_OF_WORK(X) \
    X(activities_lost, "records of device work lost") \
    X(activities_unlinked, "records of device work whose launch was not seen") \
    X(activities_late, \
      "records of device work that came after their stage's report") \
    X(activities_odd, "records of device work with wrong values")
#define GNOMON__HEALTH_OF_MEMORY(X) \
    X(lost_blocks, "marks of memory lost: out of memory for blocks or paths")
#define GNOMON__HEALTH_OF_OPS(X) \
    X(bad_ops, "operations, or parts of them, with wrong values") \
    X(lost_ops, "scopes without their operation: too many operations")
#define GNOMON_HEALTH(X) \
    GNOMON__HEALTH_OF_MARKS(X) \
    GNOMON__HEALTH_OF_WORK(X) \
    GNOMON__HEALTH_OF_OPS(X) \
    GNOMON__HEALTH_OF_MEMORY(X)

/* The counts since the start of the process, for all threads together. */
typedef struct gnomon_health {
    /* sizeof(gnomon_health), set by the caller. */
    uint32_t struct_size;
    /* How many threads have marked and have not ended. */
    uint32_t threads;
    /* Bytes in use of the memory that is mapped for recording. */
    uint64_t mapped_bytes;
    /* Bytes of gnomon's own heap. */
    uint64_t heap_bytes;
    /* One count for each cause. */
#define GNOMON_HEALTH_FIELD(field, text) uint64_t field;
    GNOMON_HEALTH(GNOMON_HEALTH_FIELD)
#undef GNOMON_HEALTH_FIELD
} gnomon_health;

/* Fills `health`, up to the struct_size that the caller has set; fields that
 * this library does not know become 0. NULL is ignored. Any thread; takes no
 * lock. Counts of threads that are marking may be a moment old. */
GNOMON__CALL void gnomon_health_get(gnomon_health *health);

/* ==== Stacks ============================================================== */

/* One open scope, as gnomon_thread_stack writes it. */
typedef struct gnomon_open_scope {
    /* Set that of the first element to sizeof(gnomon_open_scope). */
    uint32_t struct_size;
    uint32_t reserved;
    /* The region's name, UTF-8. Lives as long as the process. */
    const char *name;
    /* When it began, in ns since the run's zero. */
    uint64_t begin_ns;
    /* The token that its gnomon_begin returned. */
    gnomon_token token;
} gnomon_open_scope;

/* How many threads have made marks so far. They are numbered 0 .. count - 1.
 * Threads that ended count too; a new thread with the name of an ended one gets
 * its number. Takes no lock; may be called from anywhere. */
GNOMON__CALL size_t gnomon_thread_count(void);

/* Reads which scopes thread `thread` has open, outermost first. Fills up to
 * `capacity` elements, which lie scopes[0].struct_size bytes apart.
 * Returns how many are open, which may be more than `capacity`, or an error:
 * GNOMON_EINVAL: no such thread, or struct_size is not set. GNOMON_EBUSY: the
 * thread was marking during each of 100 attempts; `scopes` then holds an
 * inexact copy. 0 if no profiler wants a call tree: for callbacks alone gnomon
 * keeps no list of open scopes. Takes no lock and sets no error text; may be
 * called from anywhere, also from a callback or a signal handler. */
GNOMON__CALL int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                                     size_t capacity);

/* ==== Devices =============================================================
 * Time on a device: scopes whose work runs on a stream, timed by events on the
 * device itself. For CUDA use gnomon/cuda.h.
 *
 *     { GNOMON_SCOPE_ON_DEVICE("backward", &some_device, stream); ... }
 *
 * How: gnomon puts an event into the stream at the scope's begin and at its end. A
 * thread of gnomon reads their times after the device has reached them. The
 * calling thread never waits for a device. If no profiler wants device times
 * (`cuda` in $GNOMON does), such a scope is a plain one. Times that could not be
 * taken are counted as timers_... in gnomon_health; the scope's time on the host
 * is recorded all the same. */

/* ---- A vendor's streams and events ---------------------------------------- */

/* The context that a stream belongs to, such as CUDA's CUcontext. Events that are
 * made in a context can be used only in that context. */
typedef struct gnomon_device_context {
    uint32_t struct_size;
    uint32_t reserved;
    /* The vendor's handle. */
    void *context;
    /* A number that is different if the handle is used again after a reset of the
     * device. 0: the vendor has none. */
    uint64_t id;
} gnomon_device_context;

/* Identifies a device, because its number may differ from process to process. */
typedef struct gnomon_device_identity {
    uint32_t struct_size;
    /* How many multiprocessors it has; 0: not known. */
    uint32_t processors;
    /* Its memory in bytes; 0: not known. */
    uint64_t memory;
    /* Its id as other tools show it, "GPU-8f3c...", and its PCI address,
     * "0000:3b:00.0"; "": not known. ASCII. */
    char uuid[48];
    char pci[24];
} gnomon_device_identity;

/* A kind of device: the calls by which gnomon makes, records and reads a
 * vendor's events. To support another vendor, fill in all of them.
 * Lifetime: it must live as long as the process; gnomon never frees it.
 * Errors: each call that returns int returns GNOMON_OK or an error code. After
 * an error this one time is missing, which is counted; the program goes on.
 * Rules: the calls never wait, and change nothing that the program could notice,
 * such as the vendor's last error or the current context. */
typedef struct gnomon_device {
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* What reports call this kind of device: "cuda". */
    const char *name;

    /* The next four are also called on threads that mark, on several at the
     * same time. */

    /* Fills *out with the context of `stream`. GNOMON_EBUSY: the stream is being
     * captured into a graph, so what is put into it does not run now. */
    int (*context_of)(void *stream, gnomon_device_context *out);
    /* Checks, at a scope's end, that `stream` still belongs to the context in
     * which the scope began. GNOMON_ESTATE: it does not; the program may have
     * destroyed it. */
    int (*check)(void *stream, const gnomon_device_context *where);
    /* Makes an event in `context`, whichever one is current. */
    int (*event_create)(const gnomon_device_context *where, void **event);
    /* Puts an event into `stream`, a stream of the event's context. */
    int (*event_record)(void *event, void *stream);

    /* The next ones are called by one thread at a time, usually gnomon's own. */

    /* Makes the context current for the calls below; `leave` undoes it. An error
     * means that the context no longer exists, nor its events and streams; `leave`
     * is then not called. */
    int (*enter)(const gnomon_device_context *where);
    void (*leave)(void);
    /* Whether the device has reached an event. GNOMON_EBUSY: not yet. */
    int (*event_done)(void *event);
    /* The time from one event to another, in ns; negative if the device reached
     * `to` first. Called only after the device has reached both. */
    int (*event_elapsed)(void *from, void *to, double *ns);
    void (*event_destroy)(void *event);
    /* Makes a stream for gnomon's own use: it waits for no other stream, and no
     * other stream waits for it. gnomon makes one for each context. */
    int (*stream_create)(const gnomon_device_context *where, void **stream);
    void (*stream_destroy)(void *stream);
    /* Writes the number of the context's device, from 0, and the device's name, at
     * most `size` bytes with the NUL. */
    int (*describe)(const gnomon_device_context *where, int32_t *index,
                    char *name, size_t size);

    /* Fills in what is known of the device of the current context. NULL: nothing
     * is known. */
    int (*identify)(const gnomon_device_context *where,
                    gnomon_device_identity *out);

    /* The number of `stream` in records of work (see Work of devices). With it,
     * scopes are on the same track as their stream's work; if this is NULL or fails,
     * they have a track of their own. Called on threads that mark, when a scope
     * begins, so the stream exists. `where` is the stream's context. */
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
/* The out-of-line halves of the calls below; do not call. The caller of the
 * first sets only the struct_size of `scope`. */
GNOMON__SLOW_API void gnomon_begin_on_slow(gnomon_region *region, uint32_t mask,
                                           const gnomon_device *device,
                                           void *stream,
                                           gnomon_device_scope *scope);
GNOMON__SLOW_API void gnomon_end_on_slow(const gnomon_device_scope *scope);

/* Begins a scope of `region` on `stream`, a stream of `device`. End it with
 * gnomon_end_on, on the same thread, while the stream exists. It times the work
 * that is put into the stream between the two calls. */
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

/* Ends it. For a scope that is not open, see gnomon_end. */
GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    if (__builtin_expect(scope.token != 0, 0))
        gnomon_end_on_slow(&scope);
}

/* The compiler calls it at the end of a GNOMON_SCOPE_ON's block. */
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

/* `device` and `stream` are evaluated only if some profiler records the region. */
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

/* Names a stream: profilers that have the callback `stream` receive the name.
 * gnomon itself keeps no names of streams. `name` is UTF-8 and copied. Any
 * thread. Does nothing if nothing is attached or `device` is NULL. */
GNOMON_API void gnomon_stream_name(const gnomon_device *device, void *stream,
                                   const char *name);

/* A scope from this line to the end of the block, on the host and in `stream`.
 * `name` is a string literal. A declaration, as GNOMON_SCOPE: give it a line of
 * its own in a block. */
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE_ON(name, GNOMON_NULL, device, stream, __COUNTER__)
#endif

/* Call it before gnomon_snapshot: it waits until devices have finished what was
 * launched so far, and reads the times. It waits at most `patience_ns` for scopes on
 * streams, and then as long for each source of work (see Work of devices). A control
 * call (gnomon.h). GNOMON_OK, also if nothing is timed or not all was done in time. */
GNOMON__CALL int gnomon_device_wait(uint64_t patience_ns);

/* ==== Work of devices ==========================================================
 * Kernels, copies and calls that a vendor's library has measured. A source reports each
 * with its begin and end, and gnomon counts it below the scope that launched it. A
 * source for CUPTI is built in (`cupti` in $GNOMON); for another one write a
 * gnomon_device_source, which has three calls.
 *
 * How: when a call launches work, the source calls device_launched on that thread, and
 * gnomon notes the innermost open scope under the call's correlation number. When the
 * work is over, the source gives a record with the same number, from any thread.
 * No record is refused: wrong ones are counted as activities_odd in gnomon_health. */

/* What kind of work a record describes. */
enum gnomon_device_work_kind {
    GNOMON_DEVICE_KERNEL = 0,
    /* Memory that was copied, and memory that was set to a value. */
    GNOMON_DEVICE_COPY = 1,
    GNOMON_DEVICE_SET = 2,
    /* A call of the vendor's interface, on a thread of the host. */
    GNOMON_DEVICE_CALL = 3,
    /* A thread or a stream that waits for a stream, an event or a device. */
    GNOMON_DEVICE_SYNC = 4,
    /* Time that the source itself took. */
    GNOMON_DEVICE_OVERHEAD = 5,
    /* A whole graph, from its first to its last work. */
    GNOMON_DEVICE_GRAPH = 6,
    /* A collective operation of several ranks. */
    GNOMON_DEVICE_COLLECTIVE = 7
};

/* Bits of gnomon_device_work.flags. */
enum gnomon_device_work_flags {
    /* The call is of the lower of two interfaces (CUDA's driver). */
    GNOMON_DEVICE_LOW_LEVEL = 1u
};

/* One piece of work that has ended. Numbers that are not known are 0, unless
 * said otherwise. */
typedef struct gnomon_device_work {
    uint32_t struct_size;
    /* A gnomon_device_work_kind. */
    uint32_t kind;
    /* Bits of gnomon_device_work_flags. */
    uint32_t flags;
    /* The device, from 0; -1: it is on no device. */
    int32_t device;
    /* The vendor's numbers. Of a wait for more than one stream: UINT32_MAX. */
    uint32_t context;
    uint32_t stream;
    /* Moments by host->now_ns. */
    uint64_t begin_ns;
    uint64_t end_ns;
    /* The vendor's number of the call that launched it, or of the call itself;
     * 0: not known. */
    uint64_t correlation;
    /* The operating system's number of the thread of a call or a wait. */
    int64_t thread;
    /* The graph that it was in, and its node there. */
    uint64_t graph;
    uint64_t graph_node;
    /* Of a copy, set or collective. */
    uint64_t bytes;
    /* The name of the kernel or call; of copies, sets and waits their kind, such as
     * "Memcpy HtoD (Pageable -> Device)". NULL: not known. UTF-8, borrowed until
     * the call returns. */
    const char *name;
    /* Of a kernel: its blocks, the threads of a block, registers of a thread,
     * and bytes of shared memory of a block. */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers;
    uint32_t shared_static;
    uint32_t shared_dynamic;
    /* Of a call: the vendor's number for this function, and what it returned. */
    uint32_t call;
    int32_t result;
    uint32_t reserved;
    /* Of a collective: the communicator, and the number of the operation on it. */
    uint64_t communicator;
    uint64_t entry;
} gnomon_device_work;

/* ---- Sources -------------------------------------------------------------- */

/* A source of records. It must live until it is removed. Each call may be NULL. They
 * are called inside control calls, one at a time, and may call host->device_put. */
typedef struct gnomon_device_source {
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* Its name in messages: "CUPTI". */
    const char *name;
    void *self;
    /* Starts reporting. `number` is the source's number; `kinds` is what profilers
     * want: the bit 1 << kind for each gnomon_device_work_kind. It is called again,
     * without `close`, when they want other kinds. After an error the source reports
     * nothing; it may set *why to a line that says what to do, which must live as
     * long as the source. */
    int (*open)(void *self, uint32_t number, uint32_t kinds, const char **why);
    /* Stops reporting: no profiler wants work any more. After it returns, the
     * source reports nothing. */
    void (*close)(void *self);
    /* Reports all work that has ended, and takes at most `patience_ns`. */
    void (*flush)(void *self, uint64_t patience_ns);
} gnomon_device_source;

/* The calls that add a source, and those that a source makes, are in the host table:
 * source_add, source_remove, device_launched, device_put, device_lost. Moments are
 * those of its now_ns. */

/* ==== Memory ==================================================================
 * What a program takes from its pools of memory and gives back, and in which scopes:
 *
 *     GNOMON_POOL(host, "host");
 *     p = take(bytes);
 *     gnomon_pool_allocated(&host, p, bytes);     after it was taken
 *     gnomon_pool_freed(&host, p);                before it is given back
 *     give(p);
 *
 * These are marks (gnomon.h): they cannot fail, and while nobody records memory (`memory`
 * in $GNOMON) they cost a load, a test and a branch. While memory is recorded they take
 * no lock; they allocate only if there are more blocks or paths than ever before. A
 * profile has a track for each pool, and sums at each node (gnomon_memory_stats). The
 * name of a pool is its identity: "host", "cuda:0". A category of memory is a pool of its
 * own: "weights/cuda:0". The number after the last colon is the device. */

/* The kind of a pool's region. */
#define GNOMON_KIND_POOL 13

/* What a mark says. */
enum gnomon_memory_kind {
    GNOMON_MEMORY_ALLOCATED = 0,
    GNOMON_MEMORY_FREED = 1,
    GNOMON_MEMORY_RESERVED = 2,
    GNOMON_MEMORY_EXHAUSTED = 3
};

#ifndef GNOMON_DISABLE
/* Defines a static pool inside a function; `name` is a string literal. For a name that is
 * known only at run time: gnomon_region_get(name, NULL, GNOMON_KIND_POOL). */
#define GNOMON_POOL(variable, name) \
    static gnomon_region variable = \
        GNOMON_REGION_INIT(GNOMON_KIND_POOL, name, GNOMON_NULL, __func__)

/* What the calls below do, by the host table; do not call. */
GNOMON_INLINE void gnomon__pool_mark(gnomon_region *pool, int kind,
                                     const void *pointer, uint64_t bytes);

/* A block of `bytes` bytes was allocated at `pointer`. A pointer is below 2^48, a block
 * less than 256 GiB, and no two blocks in use have the same pointer, in all pools
 * together: if a pool takes its memory from another pool, mark only one of the two. If
 * the pointer is in use already, the older block counts as freed (and in
 * gnomon_memory_stats.unknown). NULL is ignored. */
GNOMON_INLINE void gnomon_pool_allocated(gnomon_region *pool,
                                         const void *pointer, uint64_t bytes)
{
    gnomon__pool_mark(pool, GNOMON_MEMORY_ALLOCATED, pointer, bytes);
}

/* The block at `pointer` is freed, on any thread. Call it before the block is given back,
 * because another thread may get it at once. A pointer that is not known is counted, for
 * example if its block was allocated before memory was recorded. NULL is ignored. */
GNOMON_INLINE void gnomon_pool_freed(gnomon_region *pool, const void *pointer)
{
    gnomon__pool_mark(pool, GNOMON_MEMORY_FREED, pointer, 0);
}

/* The pool now has `bytes` bytes from the system, in use or not. */
GNOMON_INLINE void gnomon_pool_reserved(gnomon_region *pool, uint64_t bytes)
{
    gnomon__pool_mark(pool, GNOMON_MEMORY_RESERVED, GNOMON_NULL, bytes);
}

/* The pool could not provide `bytes` bytes: it is out of memory. */
GNOMON_INLINE void gnomon_pool_exhausted(gnomon_region *pool, uint64_t bytes)
{
    gnomon__pool_mark(pool, GNOMON_MEMORY_EXHAUSTED, GNOMON_NULL, bytes);
}
#endif

/* Marks what the program allocates and frees by malloc, its variants and mimalloc's own calls,
 * in the pool "malloc". It loads libgnomon-malloc.so, as `malloc` in $GNOMON does, which replaces
 * these calls in the import tables of all libraries that are loaded: call it again to cover
 * libraries that were loaded later. Other threads may allocate meanwhile, but must not load or
 * close a library. It marks until it is detached ("-malloc") or exit handlers run; the replaced
 * calls stay, and then only call the real functions.
 * For a program without gnomon `gnomon run --malloc` does the same from the start.
 * GNOMON_ENOENT: libgnomon-malloc.so is neither beside gnomon nor where the loader looks.
 * GNOMON_ESTATE: it may not be loaded, as this program is static or has more rights than its
 * user. Otherwise as gnomon_attach, which also writes the reason to stderr if it fails. */
GNOMON_INLINE int gnomon_watch_malloc(void)
{
    return gnomon_attach(GNOMON_NULL, GNOMON_NULL, "+malloc");
}

/* What records memory: libgnomon-memory.so, which calls host->memory_record. It is never
 * unloaded. `node` is a path of the call tree of `thread`; `pool` is the id of the pool's
 * region. */
typedef struct gnomon_memory_recorder {
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* Called by the thread that marks, inside the mark, with its innermost node. A node
     * of 0 is a free between windows, which counts at no path. Returns by how many bytes
     * the use of the pool changed. */
    int64_t (*mark)(uint32_t thread, uint32_t node, uint32_t pool, int kind,
                    const void *pointer, uint64_t bytes);
    /* Forgets everything. Called inside control calls, one at a time, while
     * threads mark. */
    void (*begin)(void);
    /* Calls `put` with the sums of each path since `next`. Returns 0 if `put` returned
     * 0, because it had no memory. */
    int (*read)(void *to, int (*put)(void *to, uint32_t node, uint32_t pool,
                                     const gnomon_memory_stats *sums));
    /* A stage is over: with what was read last. */
    void (*next)(void);
    /* Step `at` of the stage, from 0, is over: on the thread that makes it. It waits for
     * nobody and allocates nothing. It, `levels` and `next` are called one at a time. */
    void (*step)(uint64_t at);
    /* Puts what was in use in pools as steps ended since `next`, as in gnomon_strip_info;
     * 0 as `read` does. */
    int (*levels)(void *to, int (*put)(void *to, uint32_t pool, uint64_t width,
                                       const gnomon_bin *bins, size_t count));
    /* How many marks were lost since it was asked last, for want of memory. */
    uint64_t (*lost)(void);
} gnomon_memory_recorder;

/* ==== Forwards ================================================================
 * Which forward operation made one of a backward pass, where all that is known of it is
 * its thread and a number, as in torch:
 *
 *     static gnomon_forwards forwards;
 *     GNOMON_OP_SCOPE("addmm", .operation = "addmm", ...);
 *     gnomon_forward(&forwards, thread, number);
 *     ...
 *     GNOMON_OP_SCOPE("addmm_backward", .flags = GNOMON_OP_BACKWARD, ...);
 *     gnomon_backward(&forwards, thread, number);
 */

/* How many forward operations are kept: the last ones of a thread whose numbers follow one
 * another. */
#define GNOMON_FORWARDS 16384

/* Forward operations by thread and number; zeroes are none, so a static one is ready. The
 * program owns it, and usually has one. 1 MiB, of which what is not used takes no memory.
 * Do not change its words: a version, which is odd while the others are written; the
 * thread; the number; a link. */
typedef struct gnomon_forwards {
    uint64_t place[GNOMON_FORWARDS][8];
} gnomon_forwards;

GNOMON_INLINE uint64_t gnomon__forward_at(uint64_t thread, uint64_t number)
{
    return (number + thread * 0x9e3779b1u) % GNOMON_FORWARDS;
}

/* The innermost open scope of the calling thread is the forward operation of that number,
 * from 0, on that thread; both are the program's own numbers. It takes the place of an
 * earlier one of the same number, or of one that is GNOMON_FORWARDS older. Nothing is kept
 * while nothing is attached, or where another thread writes to that place at this moment.
 * Any thread; takes no lock. */
GNOMON_INLINE void gnomon_forward(gnomon_forwards *forwards, uint64_t thread,
                                  uint64_t number)
{
    gnomon_link link = gnomon_link_out();
    uint64_t *to = forwards->place[gnomon__forward_at(thread, number)];
    uint64_t word[7], version = __atomic_load_n(to, __ATOMIC_RELAXED), i;
    word[1] = thread;
    word[2] = number;
    __builtin_memcpy(&word[3], &link, sizeof link);
    if (!link.word[0] || (version & 1) ||
        !__atomic_compare_exchange_n(to, &version, version + 1, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    for (i = 1; i < 7;
         i++) /* release: who reads one sees the odd version too */
        __atomic_store_n(&to[i], word[i], __ATOMIC_RELEASE);
    __atomic_store_n(to, version + 2, __ATOMIC_RELEASE);
}

/* Links the innermost open scope of the calling thread with the last forward operation of
 * that number, as gnomon_link_in with GNOMON_LINK_BACKWARD. 1: it is linked; 0: none is
 * kept, and reports by layer then have it under "(no forward)". Any thread; takes no
 * lock. */
GNOMON_INLINE int gnomon_backward(const gnomon_forwards *forwards,
                                  uint64_t thread, uint64_t number)
{
    const uint64_t *from = forwards->place[gnomon__forward_at(thread, number)];
    uint64_t word[7], i;
    gnomon_link link;
    for (i = 0; i < 7; i++)
        word[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    if (!word[0] || (word[0] & 1) || word[1] != thread || word[2] != number ||
        __atomic_load_n(from, __ATOMIC_RELAXED) != word[0])
        return 0;
    __builtin_memcpy(&link, &word[3], sizeof link);
    gnomon_link_in(&link, GNOMON_LINK_BACKWARD);
    return 1;
}

/* ==== What callbacks are given ============================================
 * What a profiler's callbacks are given.
 *
 * Ownership: each struct is borrowed: it, and what it points to, is valid only
 * inside the callback. Only regions and names live as long as the process.
 * Units: `ns`, `begin_ns` and `end_ns` are ns since the run's start. They are 0 if
 * the profiler does not want GNOMON_WANT_TIMES; those of steps are always set.
 * `thread` is the calling thread's number, from 0; `step` is the number of the
 * current step. Names are always valid UTF-8. Before reading a field that is newer
 * than the first release, check with GNOMON_HAS that it is there. */

/* Bits of gnomon_frame.flags. */
enum gnomon_frame_flags {
    /* An action: it may not nest with other scopes. */
    GNOMON_FRAME_ACTION = 1u,
    /* A range: it may stop on another thread. */
    GNOMON_FRAME_RANGE = 2u,
    /* In stop: it did not end, because its thread ended first or the profiler
     * is detached. Free what `slot` refers to, and count nothing. */
    GNOMON_FRAME_UNFINISHED = 4u,
    /* In stop: another thread ended it, at end_ns. The stop comes at the next
     * mark of the thread that began it, where it may not be the innermost
     * scope. */
    GNOMON_FRAME_FOREIGN = 8u
};

/* A scope, action or range, at its start or its stop. */
typedef struct gnomon_frame {
    uint32_t struct_size;
    /* Bits of gnomon_frame_flags. */
    uint32_t flags;
    /* The region that is executed. Lives as long as the process. */
    const gnomon_region *region;
    /* The region's name. Use this one: region->name may not be valid UTF-8. */
    const char *name;
    /* This execution's 64-bit id, the same in start and stop. */
    uint64_t token;
    /* Set in stop; 0 in start. */
    uint64_t begin_ns;
    uint64_t end_ns;
    uint32_t thread;
    uint32_t reserved;
} gnomon_frame;

/* A counter was sampled: gnomon_counter, or GNOMON_COUNTER. */
typedef struct gnomon_counter_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    /* May be a NaN or infinite. */
    double value;
    uint64_t ns;
    uint64_t step;
} gnomon_counter_event;

/* A moment was marked. */
typedef struct gnomon_mark_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_region *region;
    const char *name;
    uint64_t ns;
    uint64_t step;
} gnomon_mark_event;

/* A step is over. Both times are always set. */
typedef struct gnomon_step_event {
    uint32_t struct_size;
    uint32_t thread;
    /* The number of the step that is over. */
    uint64_t step;
    uint64_t begin_ns;
    uint64_t end_ns;
} gnomon_step_event;

/* The calling thread got a name. */
typedef struct gnomon_thread_event {
    uint32_t struct_size;
    uint32_t thread;
    const char *name;
    /* The operating system's number of the thread. */
    int64_t os_id;
} gnomon_thread_event;

/* The innermost open scope of the calling thread was caused by another scope. */
typedef struct gnomon_link_event {
    uint32_t struct_size;
    uint32_t thread;
    /* A gnomon_link_kind. */
    int32_t kind;
    /* The thread of the cause. */
    uint32_t from_thread;
    /* The tokens of cause and effect; 0: not a known scope. */
    uint64_t from;
    uint64_t to;
    uint64_t ns;
    uint64_t step;
} gnomon_link_event;

/* The window of the profiler's schedule opens or closes. */
typedef struct gnomon_window_event {
    uint32_t struct_size;
    /* The gnomon_phase that begins now. */
    int32_t phase;
    /* How many steps of the open stage are over. */
    uint64_t step;
} gnomon_window_event;

/* A stream of a device got a name. */
typedef struct gnomon_stream_event {
    uint32_t struct_size;
    uint32_t thread;
    const gnomon_device *device;
    /* The vendor's handle of the stream. It is not gnomon's. */
    void *stream;
    const char *name;
} gnomon_stream_event;

/* ==== Profilers ===========================================================
 * Fill in a gnomon_profiler. Then attach it, pass it to gnomon_setup, or export
 * it from a plugin. docs/writing-a-profiler.md shows how, step by step.
 *
 * A callback that is NULL is not called, and costs nothing. gnomon applies filters,
 * schedules and ranks: callbacks are called only for marks that pass them. */

/* ---- Options ------------------------------------------------------------------ */

/* The values of a profiler's options, from $GNOMON or gnomon_attach. They are
 * checked against its table, and defaults are filled in. Borrowed: after create
 * keep no pointer to it, only `log` and `region_op`. */
typedef struct gnomon_options {
    uint32_t struct_size;
    uint32_t reserved;
    /* The value of option `key`, as it was written; its default if it was not
     * given; NULL if it has no default. The text lives as long as the options. */
    const char *(*text)(const struct gnomon_options *options, const char *key);
    /* The same as a number: 0 or 1 of a BOOL, bytes of BYTES, ns of a DURATION. */
    int64_t (*number)(const struct gnomon_options *options, const char *key);
    /* Writes "gnomon: <line>" to stderr, in one piece. May be kept and called
     * later, by any thread. Unlike stdio it raises no signal if stderr is a
     * closed pipe, and writes nothing if the host closed stderr. */
    void (*log)(const char *line);
    /* host->region_op: the operation of a frame's region; NULL: it has none. May be
     * kept and called later, by any thread. */
    const gnomon_op_info *(*region_op)(const gnomon_region *region);
} gnomon_options;

/* What an option's value must be; other values are refused before create is
 * called. */
enum gnomon_option_type {
    /* true or false; number() gives 1 or 0. */
    GNOMON_OPTION_BOOL = 0,
    /* A whole number. */
    GNOMON_OPTION_INTEGER = 1,
    /* A size with its unit, such as 64MiB; number() gives bytes. */
    GNOMON_OPTION_BYTES = 2,
    /* A time with its unit, such as 10ms; number() gives ns. */
    GNOMON_OPTION_DURATION = 3,
    /* Any text. If the preset is "false", the option may be written without a
     * value, and is then "true". */
    GNOMON_OPTION_TEXT = 4
};

/* One option that a profiler knows. A table of them ends with a NULL key; the
 * distance between its items is the struct_size of the first. */
typedef struct gnomon_option_info {
    uint32_t struct_size;
    /* A gnomon_option_type. */
    int32_t type;
    /* Its name in a spec. */
    const char *key;
    /* Its default, written as in a spec; NULL: none. */
    const char *preset;
    /* One line for GNOMON=help. */
    const char *help;
} gnomon_option_info;

/* ---- The profiler --------------------------------------------------------- */

/* What a profiler wants in addition to its callbacks: bits of
 * gnomon_profiler.wants. Each takes time at every mark that is recorded. */
enum gnomon_wants {
    /* A call tree: summary then gets a profile. Costs about two clock reads a
     * scope. */
    GNOMON_WANT_TREE = 1u,
    /* begin_ns and end_ns in stop, which are 0 without it. */
    GNOMON_WANT_TIMES = 2u,
    /* With the tree: times on devices, in its nodes' `device`. */
    GNOMON_WANT_DEVICE = 4u,
    /* One summary at the run's end, of all its stages, instead of one for each
     * stage. */
    GNOMON_WANT_RUN = 8u,
    /* With the tree: how long regions took in steps (gnomon_step_time_info). */
    GNOMON_WANT_STEPS = 16u,
    /* With the tree: single executions, marks, samples and links, in the profile's
     * events. A scope takes some ns more, and 16 bytes of the memory that mem= allows.
     * A schedule then chooses only the events; the tree has all steps. The profiler's
     * option `keep`, if it has one, says which events are kept when that memory is
     * full: "last" (the default), "first", those of the last steps ("8steps"), or none,
     * because `events` receives them while the run goes on ("stream"). */
    GNOMON_WANT_EVENTS = 32u,
    /* With the tree: kernels, copies and calls of devices that sources report (see
     * Work of devices), in nodes of their own. If no source can report any, a line on
     * stderr says why, and GNOMON_WANT_DEVICE is used instead. */
    GNOMON_WANT_DEVICE_WORK = 64u,
    /* With the tree: memory, in its nodes' `memory`. Only one view at a time can have
     * it, in a process that has loaded libgnomon-memory.so. */
    GNOMON_WANT_MEMORY = 128u
};

/* A profiler: a table of callbacks. Each receives `self`, which create made, or
 * which was passed to gnomon_attach.
 *
 * Order: create, setup; marks; then, when a stage ends and at the end of the run,
 * summary and teardown; setup again with each stage that begins; destroy.
 * Threads: control calls call create, setup, summary, teardown and destroy,
 * never two at the same time for one `self`. The threads that mark call all
 * others, at any time, and several at once: keep state for each thread, or lock.
 * Errors: callbacks that return int return GNOMON_OK or a negative code, for
 * which gnomon writes one line to stderr; the program and other profilers go
 * on.
 * Inside: a callback may allocate, print and lock. Marks that it makes are
 * not recorded, and counted as `reentered`. It may not make control calls
 * (GNOMON_EBUSY).
 * Cancellation: pthread_cancel has no effect in the callbacks of control calls,
 * nor in window. A thread that is cancelled in another callback ends there, and
 * that scope gets no stop.
 * Lifetime: the table and its texts must outlive their use by gnomon. */
struct gnomon_profiler {
    /* sizeof(gnomon_profiler); it must reach as far as `help`. */
    uint32_t struct_size;
    /* GNOMON_ABI. */
    uint32_t abi;
    /* Bits of gnomon_wants. */
    uint32_t wants;
    uint32_t reserved;
    /* Its name in $GNOMON. Not NULL, not "". */
    const char *name;
    /* One line for GNOMON=help, or NULL. */
    const char *help;
    /* Its own options, or NULL: none. */
    const gnomon_option_info *options;
    /* Makes *self, which the other callbacks receive. If the profiler does not
     * want to run, it says so in a line (options->log) and returns
     * GNOMON_DECLINED: then nothing else is called, as if the spec had not
     * named the profiler. */
    int (*create)(const gnomon_options *options, void **self);
    /* Called after create, and when a stage begins. `run` is borrowed; `stage`
     * is the stage's name, "" if the program opened none. Like Lightning's
     * setup. */
    int (*setup)(void *self, const gnomon_run_info *run, const char *stage);
    /* A scope, action or range begins. `slot` is 64 bits for the profiler: 0
     * here, and kept until the stop. Each start is followed by one stop. If the
     * scope never ends, that stop has GNOMON_FRAME_UNFINISHED, and may come on
     * another thread. */
    void (*start)(void *self, const gnomon_frame *frame, uint64_t *slot);
    /* It ends. `slot` has the value that the start put there. */
    void (*stop)(void *self, const gnomon_frame *frame, uint64_t *slot);
    /* A step is over (gnomon_step). */
    void (*step)(void *self, const gnomon_step_event *event);
    /* A counter was sampled (gnomon_counter). */
    void (*counter)(void *self, const gnomon_counter_event *event);
    /* A moment was marked (gnomon_mark). */
    void (*mark)(void *self, const gnomon_mark_event *event);
    /* A thread was named (gnomon_thread_name). */
    void (*thread)(void *self, const gnomon_thread_event *event);
    /* Writes the report: when a stage ends, at the end of the run, and whenever
     * somebody asks (gnomon_summary). `profile` has that stage, or all of them
     * with GNOMON_WANT_RUN; it is NULL without GNOMON_WANT_TREE. Both are
     * borrowed. Threads go on marking meanwhile. If it returns an error, the
     * report is not printed. */
    int (*summary)(void *self, const gnomon_profile *profile,
                   const gnomon_writer *out);
    /* Called after the summary of a stage, and at the end. `stage` is as in setup,
     * and "" at the end. Like Lightning's teardown. */
    void (*teardown)(void *self, const char *stage);
    /* Frees `self`. No callback comes after it. */
    void (*destroy)(void *self);
    /* The window of its schedule opens or closes. Without a schedule the phase is
     * GNOMON_PHASE_RECORD. It is GNOMON_PHASE_NONE at first, after a stage's end
     * until the next one begins or a step is made, and always on ranks that
     * ranks= leaves out. The thread that makes the step calls it, after `step`,
     * or the thread of a control call; never two at the same time for one
     * `self`. If several threads make steps at the same time, one of them may
     * call it for all, with the last phase only. */
    void (*window)(void *self, const gnomon_window_event *event);
    /* A stream of a device was named (gnomon_stream_name). */
    void (*stream)(void *self, const gnomon_stream_event *event);
    /* A scope was linked to its cause (gnomon_link_in). */
    void (*link)(void *self, const gnomon_link_event *event);
    /* With GNOMON_WANT_EVENTS: events are ready, like torch's on_trace_ready. With a
     * schedule it is called after each cycle, also after one that the end of the stage
     * cuts short, and `profile` has the events of the cycle. (If cycles end faster than
     * this callback returns, it gets several together, and a line on stderr says so.)
     * Without a schedule it is called once, at the end of the run. The tree in `profile`
     * is that of the stage so far, or of the run. If the profiler's option `keep` is
     * "stream", it is also called in between, with events that no other profile has. It
     * runs as a control call does, on a thread of gnomon or on the one that ends the
     * stage. `out` is for files: text written to it is dropped. If the profiler's option
     * `on_trace_ready` is "none", it is called only for a stream. */
    int (*events)(void *self, const gnomon_profile *profile,
                  const gnomon_writer *out);
};

/* ---- Asking ----------------------------------------------------------------- */

/* Writes the report that the attached profiler named `profiler` can make now,
 * of the open stage. Its summary runs on the calling thread; then out->write is
 * called once, while no lock is held. Only out->write is needed. A control
 * call. GNOMON_ENOENT: no such profiler is attached. GNOMON_EINVAL: no writer.
 * GNOMON_EPLUGIN: its summary failed. GNOMON_ENOMEM, or what out->write
 * returned. */
GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out);

/* ==== Plugins =============================================================
 * Profilers in shared libraries of their own, which GNOMON=./mine.so loads.
 *
 * A plugin exports gnomon_plugin_v1, which GNOMON_PLUGIN defines, and links to
 * nothing: it calls gnomon only through the host table below, the profile and the
 * writer. So one plugin works in every marked program, whether that uses gnomon as
 * a shared library or contains it. */

struct gnomon__copy;
struct gnomon_rows;

/* Pointers to the calls of gnomon: for plugins, which receive the table when they are
 * loaded; for bindings to other languages; and for sources of work. A pointer that has
 * the name of a call does the same as that call, with the same threads and errors.
 * Texts are passed with their lengths in bytes, or GNOMON_TO_NUL. The table lives as
 * long as the process. Before using a field that is newer than the first release, check
 * with GNOMON_HAS that it is there.
 * Masks: begin, range_begin, counter, mark, begin_on and touch are the slow
 * halves of marks. Load the region's mask; if it is not 0, call them with it. */
typedef struct gnomon_host {
    uint32_t struct_size;
    uint32_t abi;
    /* gnomon_version() of the library. */
    const char *version;
    /* The time, in ns since the run's zero. Any thread. */
    uint64_t (*now_ns)(void);
    /* Writes "gnomon: <line>" to stderr, in one piece. Any thread, also in a callback.
     * NULL is an empty line. */
    void (*log)(const char *line);
    /* Zeroed memory from gnomon's own heap, never from the host's malloc; NULL:
     * there is none. Free it with `release`. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);

    /* Regions and marks: gnomon.h. */
    gnomon_region *(*region_get)(const char *name, size_t length,
                                 const char *category, size_t category_length,
                                 int kind);
    gnomon_token (*begin)(gnomon_region *region, uint32_t mask);
    void (*end)(gnomon_token token);
    /* gnomon_start_n and gnomon_stop_n. */
    void (*start)(const char *name, size_t length);
    void (*stop)(const char *name, size_t length);
    gnomon_range (*range_begin)(gnomon_region *region, uint32_t mask);
    void (*range_end)(gnomon_range range);
    gnomon_link (*link_out)(void);
    void (*link_in)(const gnomon_link *from, int kind);
    void (*counter)(gnomon_region *region, uint32_t mask, double value);
    void (*mark)(gnomon_region *region, uint32_t mask);
    /* `given` 0 is gnomon_step, 1 is gnomon_step_at, 2 is gnomon_step_begin. */
    void (*step)(uint64_t number, int given);
    void (*thread_name)(const char *name, size_t length);

    /* Control calls: gnomon.h. */
    int (*stage_begin)(const char *name, size_t length);
    int (*stage_end)(void);
    int (*metadata)(const char *key, size_t length, const char *json,
                    size_t json_length);

    /* Profilers and profiles. */
    int (*attach)(const gnomon_profiler *profiler, void *self,
                  const char *options, size_t length);
    int (*detach)(const gnomon_profiler *profiler, void *self);
    int (*snapshot)(gnomon_profile **out, const char *profiler, size_t length,
                    int all_stages);
    void (*profile_free)(gnomon_profile *profile);
    void (*health)(gnomon_health *health);
    /* Of the calling thread. */
    const char *(*error_text)(void);
    /* Registers a region if gnomon has not seen it, and returns its mask. */
    uint32_t (*touch)(gnomon_region *region, uint32_t mask);
    int (*setup)(const gnomon_setup_options *options);
    int (*teardown)(void);
    /* gnomon_attach with only words. A NUL within the length is GNOMON_EINVAL. */
    int (*configure)(const char *spec, size_t length);
    size_t (*spec)(char *buffer, size_t size);
    /* Makes `profiler` known by its name, as the profilers of gnomon_setup_options are,
     * with the same errors. Call it before the first mark, because that reads $GNOMON. */
    int (*add_profiler)(const gnomon_profiler *profiler);
    int (*summary)(const char *profiler, size_t length,
                   const gnomon_writer *out);
    int (*profile_check)(const gnomon_profile *profile);
    size_t (*thread_count)(void);
    int (*thread_stack)(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity);
    /* For other copies of the library only: such a copy joins this one. */
    int (*join)(struct gnomon__copy *copy);

    /* Scopes on streams. */
    void (*begin_on)(gnomon_region *region, uint32_t mask,
                     const gnomon_device *device, void *stream,
                     gnomon_device_scope *scope);
    void (*end_on)(const gnomon_device_scope *scope);
    void (*stream_name)(const gnomon_device *device, void *stream,
                        const char *name, size_t length);
    void (*end_alone)(gnomon_token token);

    /* The rows of a profile (gnomon/report.h); `by` is a gnomon_rows_by. The caller
     * frees *out with rows_free, before it frees the profile, to which the texts
     * belong. Takes O(nodes) memory from libc's heap. Any thread, also in summary.
     * GNOMON_OK; GNOMON_EINVAL: no profile, or no such `by`; GNOMON_ENOMEM. On an error
     * *out is NULL. */
    int (*rows)(struct gnomon_rows **out, const gnomon_profile *profile,
                int by);
    void (*rows_free)(struct gnomon_rows *rows);
    /* Makes a file name from `pattern`, as $GNOMON's file= does: %r is the rank, %h
     * the host, %p the process, %s the stage, ... (docs/environment.md). Ranks that
     * share a disk never get the same name. Missing folders are made. It is for files
     * that a profiler writes itself while the program runs: call it in setup, where
     * rank and stage are known.
     * As snprintf: writes at most `size` bytes with the NUL, and returns the length of
     * the whole name in bytes. 0: the pattern is empty or NULL, there is no memory, or
     * a folder cannot be made; gnomon_error_text() says which.
     * Call it in a profiler's create, setup, summary or teardown, or outside of
     * callbacks, where it is a control call. */
    size_t (*file_name)(const char *pattern, char *buffer, size_t size);

    /* Adds a source of work. It is opened when a profiler wants work; `open` then
     * receives its number, from 1. GNOMON_OK, or an error and a text: GNOMON_EINVAL,
     * GNOMON_EABI, GNOMON_ENOMEM (there are 4 already). */
    int (*source_add)(const gnomon_device_source *source);
    /* Closes and removes it. */
    int (*source_remove)(const gnomon_device_source *source);
    /* Call it on the thread that launches work, before any record of that work: records
     * with this correlation belong to the innermost scope that is open on this thread.
     * `source` is the source's number. It does not wait, as marks do not; only the
     * thread's first call after a stage or a profiler has begun or ended takes a lock,
     * and may allocate. */
    void (*device_launched)(uint32_t source, uint64_t correlation);
    /* Passes records of work that has ended. The distance between them is the
     * struct_size of the first. It takes a lock, so do not call it on a thread
     * that marks. */
    void (*device_put)(uint32_t source, const gnomon_device_work *records,
                       size_t count);
    /* The source lost `count` records. */
    void (*device_lost)(uint32_t source, uint64_t count);

    /* For a callback that returns int: keeps one line of text and returns `code`, so
     *     return host->fail(GNOMON_EIO, "the socket is closed", GNOMON_TO_NUL);
     * The line on stderr, and gnomon_error_text() of the control call that called the
     * callback, then end with that text instead of the code's name. The text is copied,
     * and cut at 255 bytes. NULL and "" are no text. It is dropped if the callback
     * returns GNOMON_OK. */
    int (*fail)(int code, const char *text, size_t length);
    int (*device_wait)(uint64_t patience_ns);

    gnomon_region *(*op_region)(gnomon_region *region,
                                const gnomon_op_info *op);
    /* The operation of a region that gnomon_op_region returned; NULL: the region has
     * none. It lives as long as the process. For profilers: a frame's region may have
     * one. Any thread, takes no lock. */
    const gnomon_op_info *(*region_op)(const gnomon_region *region);
    gnomon_range (*range_begin_in)(gnomon_region *region, uint32_t mask,
                                   gnomon_range around);

    /* Calls of gnomon/profile.h. */
    int (*report)(const gnomon_profile *profile, const char *report,
                  size_t length, const gnomon_writer *out);
    /* Describes the fields of a kind (gnomon_entity, gnomon_part): fills at most `room`
     * of `fields`, whose distance is the struct_size that the caller has set in the
     * first. Returns how many fields the struct has; 0: there is no such kind. Any
     * thread. */
    size_t (*entity_fields)(int entity, gnomon_field_info *fields, size_t room);
    /* The name of a kind, such as "nodes"; NULL: there is no such kind. */
    const char *(*entity_name)(int entity);

    /* The slow half of marks of memory; `kind` is a gnomon_memory_kind. */
    void (*memory)(gnomon_region *pool, uint32_t mask, int kind,
                   const void *pointer, uint64_t bytes);
    /* Sets what records memory. GNOMON_EABI: it is of another generation. */
    int (*memory_record)(const gnomon_memory_recorder *recorder);
    /* Whether the calling thread is in a control call or a mark: for a plugin that is
     * called by what gnomon calls, as malloc. Any thread, also in a signal handler. */
    int (*is_inside)(void);
} gnomon_host;

/* The host table of the process, for programs and bindings that are linked to gnomon.
 * Never NULL; only with GNOMON_DISABLE there is no table, and it is NULL. Any thread. */
GNOMON__CALL const gnomon_host *gnomon_host_get(void);

#ifndef GNOMON_DISABLE
GNOMON_INLINE void gnomon__pool_mark(gnomon_region *pool, int kind,
                                     const void *pointer, uint64_t bytes)
{
    uint32_t mask = gnomon__mask(pool);
    if (__builtin_expect(mask != 0, 0))
        gnomon_host_get()->memory(pool, mask, kind, pointer, bytes);
}
#endif

/* The one function that a plugin exports, named GNOMON_PLUGIN_ENTRY. It is called
 * once, when the plugin is loaded. It returns the profiler, which lives as long as
 * the process, because plugins are never unloaded; NULL: it does not want to run
 * with this host. It may keep `host`. */
typedef const gnomon_profiler *gnomon_plugin_entry(const gnomon_host *host);
#define GNOMON_PLUGIN_ENTRY "gnomon_plugin_v1"

/* Defines that function: it returns `profiler`, a gnomon_profiler, if the host
 * is of this generation. Write the function by hand if you need the host table.
 * In the library's own build the macro makes the profiler a built-in one
 * instead. */
#ifdef GNOMON_BUILTIN
#define GNOMON_PLUGIN(profiler) GNOMON__NO_PLUGIN(profiler)
#define GNOMON__NO_PLUGIN(profiler) \
    extern const gnomon_profiler *const gnomon__builtin_##profiler; \
    const gnomon_profiler *const gnomon__builtin_##profiler = &profiler
#else
#ifdef __cplusplus
#define GNOMON__PLUGIN_LINKAGE extern "C"
#else
#define GNOMON__PLUGIN_LINKAGE
#endif
#define GNOMON_PLUGIN(profiler) \
    GNOMON__PLUGIN_LINKAGE GNOMON_API const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host); \
    GNOMON__PLUGIN_LINKAGE const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host) \
    { \
        return host->abi == GNOMON_ABI ? &(profiler) : GNOMON_NULL; \
    } \
    GNOMON__PLUGIN_LINKAGE gnomon_plugin_entry gnomon_plugin_v1
#endif

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#define GNOMON__OFF_TOOL
#include "off.h"
#undef GNOMON__OFF_TOOL
#endif

#endif
