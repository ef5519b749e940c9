/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A profile: what was recorded, as data. Here are its structs, and the calls that
 * take a profile from the running process or a file, read it, write it, and build
 * one from other data. docs/profile.md lists what is always true of a profile.
 *
 *     gnomon_profile *p;
 *     gnomon_node_info node;
 *     gnomon_snapshot(&p, "simple", 0);
 *     for (i = 1; gnomon_profile_node(p, i, &node) == GNOMON_OK; i++) ...
 *     gnomon_profile_free(p);
 *
 * Threads: a profile never changes, so any number of threads may read one.
 * Ownership: a profile that a call returns through `out` is the caller's, who
 * frees it with gnomon_profile_free. A profile that a callback receives is
 * borrowed: it must not be freed. Lifetime: the texts and lists of a profile
 * live as long as the profile.
 * Linking: a profile has pointers to the functions that read it, so the inline
 * calls here work in a plugin, which links to nothing. The exported calls need
 * the library.
 */
#ifndef GNOMON_PROFILE_H
#define GNOMON_PROFILE_H

#include "../gnomon.h"

GNOMON_BEGIN_DECLS

/* ==== Writers =============================================================
 * Where reports and files go.
 *
 * gnomon gives a writer to each profiler's summary. A program that asks for a
 * report (gnomon_summary) or a file (gnomon_write) passes a writer of its own,
 * in which only struct_size and `write` must be set. */

/* What was recorded. gnomon/profile.h has its readers. */
typedef struct gnomon_profile gnomon_profile;

/* Where a report goes. Its calls return GNOMON_OK or an error code. After an error
 * gnomon's own writers write nothing more and return the same error again, so a
 * profiler may write its whole report and check only the last code. Before reading
 * a field that is newer than the first release, check with GNOMON_HAS that it is
 * there. A writer that a callback receives is borrowed, and only the calling
 * thread may use it. */
typedef struct gnomon_writer {
    uint32_t struct_size;
    uint32_t reserved;
    /* Writes `size` bytes of UTF-8 text, or of a file. */
    int (*write)(const struct gnomon_writer *writer, const void *bytes,
                 size_t size);
    /* The same, of a text that is formatted as printf does. */
    int (*print)(const struct gnomon_writer *writer, const char *format, ...)
        GNOMON_PRINTF(2, 3);
    /* For the use of whoever made the writer. */
    void *context;
    /* Writes a whole file for the profiler, next to its report. The file's name
     * is that of the report (stage, profiler and rank), then `part` (NULL:
     * nothing), then `extension` (".prof"). Characters of `part` that a file
     * name cannot have are replaced. A file that has this name already is
     * replaced. GNOMON_ENOENT: reports go to a stream and the run has no folder;
     * a line on stderr has said so. GNOMON_EIO: it cannot be written; a line on
     * stderr has said why. NULL: this writer makes no files. */
    int (*file)(const struct gnomon_writer *writer, const char *part,
                const char *extension, const void *bytes, size_t size);
    /* Do not call it: call gnomon_shown, which first checks that it is there. NULL:
     * names are shown as they are. */
    const char *(*shown)(const struct gnomon_writer *writer, const char *name);
    /* How many columns the terminal has, if the text goes to a terminal. 0: it
     * goes elsewhere, and no line needs to be cut. */
    uint32_t columns;
    /* 1: the terminal shows text after "\033[1m" as bold, which titles of
     * reports use. 0: it does not. */
    uint32_t shows_bold;
    /* Writes a file as `file` does, but piece by piece: `make` is called once, with
     * `context` and a writer of the file's bytes. If `make` returns an error, no file
     * is made, and a file that is there stays as it was. A file that this process
     * wrote by an earlier call is not replaced: the second file of the same name has
     * "run2" in its name, and a line on stderr says so. Without dir= and file= the
     * file is in the run's folder, or else in the current one. Returns what `file`
     * returns, or the error of `make`. NULL: this writer makes no files. */
    int (*stream)(const struct gnomon_writer *writer, const char *part,
                  const char *extension,
                  int (*make)(void *context, const struct gnomon_writer *file),
                  void *context);
    /* The path of the file that `file` or `stream` wrote last; "": none. */
    const char *(*path)(const struct gnomon_writer *writer);
} gnomon_writer;

/* A name, in a form that is safe to show. For a file that is the name itself. On
 * a terminal, characters that would move the cursor, begin a line or change the
 * direction of text become escapes: "\x1b", "\n", "\u202e".
 * The result lives as long as both the name and the writer; do not free it. */
static inline const char *gnomon_shown(const gnomon_writer *writer,
                                       const char *name)
{
    return writer->shown ? writer->shown(writer, name) : name;
}

/* ==== Statistics ==========================================================
 * Statistics of executions, and how to read lists of structs.
 *
 * A later release may append fields to a struct. So each struct begins with its
 * struct_size, also behind a pointer and in a list; whoever makes one sets it to
 * sizeof. The struct that you read may be smaller or larger than the one you
 * compiled:
 *   - The struct_size of a list's first item is the distance between items. Read
 *   them with gnomon_memory_at(&node, i) and the other calls of that kind. Never
 *   write list[i].
 *   - A struct behind a pointer has at least the first release's fields. A field
 *   that a later release added is there if GNOMON_HAS(pointer, field) is true.
 * Only gnomon_cell never grows: the file format fixes it. */

/* Whether the struct at `pointer` is large enough to have `field`. The pointer
 * must not be NULL. */
#define GNOMON_HAS(pointer, field) \
    (GNOMON_CAST(const char *, \
                 GNOMON_CAST(const void *, &(pointer)->field + 1)) <= \
     GNOMON_CAST(const char *, GNOMON_CAST(const void *, (pointer))) + \
         (pointer)->struct_size)

/* Defines gnomon_NAME_at(owner, i): item `i` of a list of the owner, from 0 to
 * its count - 1. The item lives as long as the list. `i` is not checked. */
#define GNOMON__LIST(name, type, owner, list) \
    GNOMON_INLINE const type *gnomon_##name##_at(const owner *of, size_t i) \
    { \
        const void *first = of->list; \
        const void *item = \
            GNOMON_CAST(const char *, first) + i * of->list->struct_size; \
        return GNOMON_CAST(const type *, item); \
    }

/* One cell of a histogram: how many durations fell into it. The file format fixes
 * the cells, and so this struct, for ever: histograms of all runs can be added
 * cell by cell. Durations below 32 ns have a cell for each value. Above that each
 * octave (from a power of two to the next) has 16 cells. With e = max(0,
 * floor(log2(ns)) - 4), the cell of ns is 16 e + (ns >> e); gnomon_cell_of
 * computes it. */
typedef struct gnomon_cell {
    /* 0 .. 975. */
    uint32_t cell;
    uint32_t reserved;
    /* How many durations; never 0 in a profile. */
    uint64_t count;
} gnomon_cell;

/* Statistics of executions that have ended, on the host or on a device, or of
 * steps. Adding them up is exact: gnomon_stats_add, and gnomon_sum_add in
 * gnomon/report.h, which adds the cells too. */
typedef struct gnomon_stats {
    uint32_t struct_size;
    uint32_t reserved;
    /* How many executions have ended. */
    uint64_t count;
    /* The sum of their durations. */
    uint64_t total_ns;
    /* The time in which an execution was the innermost open scope of its track.
     * It includes the time so far of an execution that is still open. */
    uint64_t self_ns;
    /* The shortest and the longest duration; both are 0 if count is 0. */
    uint64_t min_ns;
    uint64_t max_ns;
    /* The histogram of the durations: cells in ascending order, none with a
     * count of 0. Their counts add up to `count`. */
    const gnomon_cell *cells;
    size_t cell_count;
} gnomon_stats;

/* Adds `from` to *to, without the cells, and sets the struct_size of *to. *to must
 * be all zero or the result of an earlier call. The sum does not depend on the
 * order. One thread at a time for each `to`. */
GNOMON_INLINE void gnomon_stats_add(gnomon_stats *to, const gnomon_stats *from)
{
    to->struct_size = GNOMON_CAST(uint32_t, sizeof *to);
    if (from->count && (!to->count || from->min_ns < to->min_ns))
        to->min_ns = from->min_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
    to->count += from->count;
    to->total_ns += from->total_ns;
    to->self_ns += from->self_ns;
}

/* The cell of a histogram in which a duration counts: 0 .. 975. */
static inline uint32_t gnomon_cell_of(uint64_t ns)
{
    uint32_t e = 0;
#ifdef __GNUC__
    if (ns >= 32)
        e = 59u - GNOMON_CAST(uint32_t, __builtin_clzll(ns));
#else
    while (ns >> e >= 32)
        e++;
#endif
    return 16u * e + GNOMON_CAST(uint32_t, ns >> e);
}

/* The shortest duration of a cell, in ns. Past the last cell: UINT64_MAX. */
static inline uint64_t gnomon_cell_low(uint32_t cell)
{
    uint32_t e = cell < 32 ? 0 : cell / 16 - 1;
    uint64_t low = cell - 16u * e;
    return e < 60 ? low << e : UINT64_MAX; /* no duration is that long */
}

/* The duration in ns below which the fraction `q` (0 .. 1) of the executions lies:
 * 0.5 gives the median. The durations of a cell are assumed to be spread evenly
 * over it. So the result is within 6.3 % of a recorded duration (9.4 % if the
 * clock's ticks were converted to ns), and never outside min and max. 0 if there
 * are no executions. All reports and comparisons of gnomon use this function. */
static inline double gnomon_quantile(const gnomon_stats *s, double q)
{
    const double want = q * GNOMON_CAST(double, s->count);
    const double min = GNOMON_CAST(double, s->min_ns);
    const double max = GNOMON_CAST(double, s->max_ns);
    double below = 0;
    size_t i;
    for (i = 0; i < s->cell_count; i++) {
        const double count = GNOMON_CAST(double, s->cells[i].count);
        if (below + count >= want) {
            const uint32_t cell = s->cells[i].cell;
            double low = GNOMON_CAST(double, gnomon_cell_low(cell));
            double high = GNOMON_CAST(double, gnomon_cell_low(cell + 1) - 1);
            low = low < min ? min : low;
            high = high > max ? max : high;
            if (high <= low) /* also where ticks were moved past both */
                return high < min ? min : high;
            return low + (high - low) * (want - below) / count;
        }
        below += count;
    }
    return max;
}

/* The same in whole ns, rounded down. */
static inline uint64_t gnomon_quantile_ns(const gnomon_stats *s, double q)
{
    const double value = gnomon_quantile(s, q);
    if (value >= GNOMON_CAST(double, s->max_ns))
        return s->max_ns;
    if (value <= GNOMON_CAST(double, s->min_ns))
        return s->min_ns;
    return GNOMON_CAST(uint64_t, value);
}

/* Memory that one path took from one pool, and gave back to it. */
typedef struct gnomon_memory_stats {
    uint32_t struct_size;
    /* The pool: a track of the kind GNOMON_TRACK_POOL. */
    uint32_t pool;
    /* How many allocations and how many frees. */
    uint64_t allocations;
    uint64_t frees;
    /* The bytes of all allocations, and of all frees. */
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    /* Allocated bytes minus freed bytes: negative if the path freed what other
     * paths had allocated. */
    int64_t live_bytes;
    /* The maximum of live_bytes since the stage began. */
    uint64_t peak_bytes;
    /* The bytes that the path allocated in this stage and nobody has freed yet, minus the
     * bytes that it allocated in earlier stages and somebody freed in this one. */
    int64_t held_bytes;
    /* Of all bytes that the path ever allocated, those in use at the moment of the pool's
     * peak. The sum over all paths is the pool's peak. If stages were added up: the
     * maximum of the stages. */
    uint64_t at_peak_bytes;
    /* The most bytes that the pool reported as reserved there, in the stage. */
    uint64_t reserved_bytes;
    /* How often the pool was out of memory. */
    uint64_t failures;
    /* How many frees had a pointer that was not known, plus how many allocations had a
     * pointer that was in use already. */
    uint64_t unknown;
} gnomon_memory_stats;

/* What a path computed, all executions together. */
typedef struct gnomon_work_stats {
    uint32_t struct_size;
    uint32_t reserved;
    /* Floating-point operations. */
    uint64_t flops;
    /* Bytes read and written. */
    uint64_t bytes;
} gnomon_work_stats;

/* ==== Entities ============================================================
 * What a profile is made of. For all structs here:
 * Numbers: the entities of each kind are numbered from 1. In a field that refers
 * to an entity by its number, 0 means "none".
 * Units: moments are ns since the run's zero, durations ns, sizes bytes.
 * Texts: UTF-8, with a final NUL. "" is none, unless NULL is named.
 * Ownership: what you read from a profile belongs to the profile, and lives as
 * long as it does. What you give to a builder is copied.
 * `reserved` is 0. Later releases may append fields: see above. */

/* The kinds of entities, for gnomon_profile_count and gnomon_builder_add. Each
 * has its struct below. */
enum gnomon_entity {
    /* gnomon_run_info: the processes that recorded. */
    GNOMON_RUNS = 0,
    /* gnomon_stage_info. */
    GNOMON_STAGES = 1,
    /* gnomon_step_info: the last steps, and the slowest. */
    GNOMON_STEPS = 2,
    /* gnomon_track_info: threads, streams, pools. */
    GNOMON_TRACKS = 3,
    /* gnomon_region_info: names, with file and line. */
    GNOMON_REGIONS = 4,
    /* gnomon_node_info: the paths of the call tree, with their times. */
    GNOMON_NODES = 5,
    /* gnomon_open_info: scopes that were open. */
    GNOMON_OPENS = 6,
    /* gnomon_link_info: causes and effects. */
    GNOMON_LINKS = 7,
    /* gnomon_counter_info. */
    GNOMON_COUNTERS = 8,
    /* gnomon_metadata_info. */
    GNOMON_METADATA = 9,
    /* gnomon_loss_info: what was not recorded. */
    GNOMON_LOSSES = 10,
    /* gnomon_view_info: filters, schedules and ranks. */
    GNOMON_VIEWS = 11,
    /* gnomon_op_info: what nodes compute. */
    GNOMON_OPS = 12,
    /* gnomon_event_info: single executions and moments. */
    GNOMON_EVENTS = 13,
    /* gnomon_step_time_info: how long regions took in steps. */
    GNOMON_STEP_TIMES = 14,
    /* gnomon_view_time_info: how long views recorded stages. */
    GNOMON_VIEW_TIMES = 15,
    /* gnomon_strip_info: steps and counters over a whole stage, in few bins. */
    GNOMON_STRIPS = 16
};

/* ---- The run ---------------------------------------------------------------- */

/* A moment at which the run's clock was compared with the system's. */
typedef struct gnomon_clock_anchor {
    uint32_t struct_size;
    uint32_t reserved;
    /* The moment by the run's clock. */
    uint64_t ns;
    /* The same moment in Unix time, ns since 1970. */
    uint64_t unix_ns;
    /* The largest possible error of unix_ns. */
    uint64_t error_ns;
} gnomon_clock_anchor;

/* One process that recorded. A merged profile has many; job, rank and attempt
 * together tell them apart. */
typedef struct gnomon_run_info {
    uint32_t struct_size;
    /* The rank in the job, from 0; -1: not known. */
    int32_t rank;
    /* The rank among those of the machine, from 0; -1: not known. */
    int32_t local_rank;
    /* How many ranks the job has; -1: not known. */
    int32_t world_size;
    /* The process id. */
    int64_t pid;
    /* The machine's name. */
    const char *host;
    /* The folder of reports; NULL: not given. */
    const char *dir;
    /* What was attached, as a spec with all defaults written out. */
    const char *spec;
    /* What times were read from: "tsc", "cntvct", "monotonic", "test". */
    const char *clock;
    /* The run's zero, in Unix time. */
    uint64_t zero_unix_ns;
    /* How far zero_unix_ns may be off. */
    uint64_t clock_error_ns;
    /* When the profile was taken. */
    uint64_t now_ns;
    /* How often the launcher has restarted the job; NULL: not known. */
    const char *attempt;
    /* What the launcher calls the job; NULL: not known. */
    const char *job;
    /* Unique to this process. By it a merge sees that two profiles are copies
     * of one, and does not add them up; NULL: not known. */
    const char *uuid;
    /* Later comparisons of the clocks, in the order in which they were made. Read
     * them with gnomon_anchor_at. */
    const gnomon_clock_anchor *anchors;
    size_t anchor_count;
    /* What a scope cost there, begin and end, as measured; 0: not known. */
    double scope_cost_ns;
} gnomon_run_info;

GNOMON__LIST(anchor, gnomon_clock_anchor, gnomon_run_info, anchors)

/* What a program, a launcher or gnomon said of a run. */
typedef struct gnomon_metadata_info {
    uint32_t struct_size;
    /* The run that it is of. */
    uint32_t run;
    const char *key;
    /* One JSON value. */
    const char *json;
} gnomon_metadata_info;

/* Something that was not recorded, and how often. docs/profile.md has more. */
typedef struct gnomon_loss_info {
    uint32_t struct_size;
    /* The thread; 0: the run as a whole. */
    uint32_t track;
    /* A field of gnomon_health; or what is damaged in a file; or, for events,
     * events_lost (there was no room for them) and events_overwritten (newer ones
     * took their room). */
    const char *kind;
    /* How often, at least 1. */
    uint64_t count;
    /* The time within which it happened; both 0: not known. */
    uint64_t begin_ns;
    uint64_t end_ns;
    /* The run; 0: not known. */
    uint32_t run;
    uint32_t reserved;
} gnomon_loss_info;

/* ---- Stages and steps --------------------------------------------------------- */

/* A stage of a run, or several of one name that were added up. */
typedef struct gnomon_stage_info {
    uint32_t struct_size;
    /* 1, 2, ... in the order of the run. */
    uint32_t ordinal;
    /* "" where the program opened none. */
    const char *name;
    /* When it was opened, or its first mark if that was earlier. */
    uint64_t begin_ns;
    /* When it ended; if it is still open, when the profile was taken. */
    uint64_t end_ns;
    /* Whether it has ended. */
    int32_t ended;
    /* The run that it is of. */
    uint32_t run;
    /* Durations of its steps; NULL: no step has ended. */
    const gnomon_stats *steps;
    /* How many stages of this name are added up in it; 0 means 1. */
    uint32_t count;
    uint32_t reserved;
    /* How long it was recorded: reports show percents of this time. 0: not
     * known, then use end_ns - begin_ns. If there are several views, it is the
     * longest time of them; gnomon_view_time_info has that of each view. */
    uint64_t recorded_ns;
    /* How many executions that its sums contain ended after the stage. */
    uint64_t late;
} gnomon_stage_info;

/* Where a schedule stands, or stood at a step. */
enum gnomon_phase {
    /* Waiting: nothing is recorded. */
    GNOMON_PHASE_NONE = 0,
    /* The steps before a window, in which a tool may warm up: nothing is recorded
     * either. */
    GNOMON_PHASE_WARMUP = 1,
    /* Recorded. */
    GNOMON_PHASE_RECORD = 2,
    /* Recorded; the last step of a window. */
    GNOMON_PHASE_RECORD_AND_SAVE = 3
};

/* One training step. A profile keeps the last 64, and also the slowest ten if a
 * profiler asks for GNOMON_WANT_STEPS. */
typedef struct gnomon_step_info {
    uint32_t struct_size;
    /* The stage that it is of. */
    uint32_t stage;
    /* Its number: from 0 in each stage, or what the framework gave. */
    uint64_t number;
    uint64_t begin_ns;
    /* 0: it is not over. */
    uint64_t end_ns;
    /* A gnomon_phase; GNOMON_PHASE_RECORD where there is no schedule. */
    int32_t phase;
    /* The rank of its process if its stage is of several ranks; else -1. */
    int32_t rank;
    /* The ordinal of the stage in which the step was made. It is needed because
     * `stage` may be several stages added up. 0: not known. */
    uint32_t ordinal;
    uint32_t reserved;
} gnomon_step_info;

/* How long a region took in steps. An execution counts in the step in which it
 * ends, with the time since its own begin or the begin of the step, whichever is
 * later. Times of all threads are added up. `own_ns` is the part of the thread
 * that made the step: the other threads may have worked at the same time without
 * delaying it. For each region that ended in any step of the stage there is one
 * entry with `step` 0, in which each step is one duration. The other entries are
 * of the slowest steps, one by one. */
typedef struct gnomon_step_time_info {
    uint32_t struct_size;
    uint32_t stage;
    /* 0: there is only one view. */
    uint32_t view;
    /* 0: of all steps that were recorded from their begin to their end. */
    uint32_t step;
    /* 0: the steps themselves. */
    uint32_t region;
    uint32_t reserved;
    /* Never NULL; its self_ns is 0. */
    const gnomon_stats *time;
    /* How much of time's total_ns was on the thread that made the step. */
    uint64_t own_ns;
    /* How many executions ended; 0: neither this nor own_ns is known, as in older
     * files. */
    uint64_t calls;
} gnomon_step_time_info;

/* How long a view recorded a stage. Only merged profiles have these, because
 * several views share their stages. In any other profile there is one view, and
 * `recorded_ns` of the stage is its time. */
typedef struct gnomon_view_time_info {
    uint32_t struct_size;
    uint32_t stage;
    uint32_t view;
    uint32_t reserved;
    uint64_t recorded_ns;
} gnomon_view_time_info;

/* Some consecutive steps, or the samples of a counter in them. */
typedef struct gnomon_bin {
    uint32_t struct_size;
    /* How many steps or samples; it stops at 2^32 - 1. If it is 0, the other
     * fields are 0 too. */
    uint32_t count;
    /* Of steps their durations in ns; of a counter its values. */
    double min;
    double max;
    double sum;
} gnomon_bin;

/* A slow step. */
typedef struct gnomon_slow_step {
    uint32_t struct_size;
    uint32_t reserved;
    /* How many steps of its stage came before it. */
    uint64_t at;
    uint64_t number;
    uint64_t ns;
} gnomon_slow_step;

/* All steps of a stage, or the samples of a counter in them, in at most 1024 bins. When all
 * bins are full, each two neighbours become one. If stages were added up, the first bin has
 * the first steps of each of them, and so on. Read the lists with gnomon_bin_at and
 * gnomon_slow_at. */
typedef struct gnomon_strip_info {
    uint32_t struct_size;
    uint32_t stage;
    /* The counter's thread. If it is a pool and there is no region: the strip is
     * of the bytes in use in the pool. */
    uint32_t track;
    /* The counter; 0, and no track: the steps themselves. */
    uint32_t region;
    /* How many steps of the stage a bin stands for: 1, 2, 4, ... */
    uint64_t width;
    const gnomon_bin *bins;
    size_t bin_count;
    /* Of steps: the slowest 16, the slowest first. Of a counter: none. */
    const gnomon_slow_step *slow;
    size_t slow_count;
} gnomon_strip_info;

GNOMON__LIST(bin, gnomon_bin, gnomon_strip_info, bins)
GNOMON__LIST(slow, gnomon_slow_step, gnomon_strip_info, slow)

/* ---- Who did it, and what ------------------------------------------------------- */

/* What a track is. */
enum gnomon_track_kind {
    GNOMON_TRACK_THREAD = 0,
    /* A stream of a device. */
    GNOMON_TRACK_STREAM = 1,
    /* A row of a trace that is neither. */
    GNOMON_TRACK_LANE = 2,
    /* A pool of memory. */
    GNOMON_TRACK_POOL = 3
};

/* What executes one thing after another, such as a thread or a stream; or a
 * pool of memory. */
typedef struct gnomon_track_info {
    uint32_t struct_size;
    /* A gnomon_track_kind. */
    uint32_t kind;
    const char *name;
    /* The operating system's number of the last thread that was this track. */
    int64_t os_id;
    /* The thread's number in its process, from 0. */
    uint32_t index;
    /* How many threads this track was: threads of one name that follow one
     * another are one track. */
    uint32_t thread_count;
    /* Whether the thread had not ended when the profile was taken. */
    int32_t alive;
    /* 1: the thread made marks while it was read, so its sums may be wrong by
     * the executions of that moment. */
    int32_t inexact;
    /* The run that it is of. */
    uint32_t run;
    /* The number of its device, from 0; -1: the host. */
    int32_t device;
} gnomon_track_info;

/* The filter, schedule and ranks under which nodes were recorded. */
typedef struct gnomon_view_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* As in a spec: "filter=opt*"; "" is everything. */
    const char *words;
} gnomon_view_info;

/* Kinds of regions beyond those that are marked (gnomon_region_kind). */
enum gnomon_profile_kind {
    /* A function of Python. */
    GNOMON_KIND_PYTHON = 6,
    /* A call of a device's interface on the host. */
    GNOMON_KIND_API = 7,
    /* A kernel on a device. */
    GNOMON_KIND_KERNEL = 8,
    /* A copy of memory, to, from or on a device. */
    GNOMON_KIND_COPY = 9,
    /* Memory of a device that is set to a value. */
    GNOMON_KIND_SET = 10,
    /* A collective operation of several ranks. */
    GNOMON_KIND_COLLECTIVE = 11,
    /* A line of source. */
    GNOMON_KIND_LINE = 12
};

/* A named place in the program: gnomon_region, as a profile keeps it. */
typedef struct gnomon_region_info {
    uint32_t struct_size;
    /* A gnomon_region_kind or gnomon_profile_kind. */
    uint32_t kind;
    const char *name;
    const char *category;
    const char *file;
    const char *function;
    /* From 1; 0: not known. */
    uint32_t line;
    uint32_t reserved;
} gnomon_region_info;

GNOMON__LIST(input, gnomon_tensor, gnomon_op_info, inputs)
GNOMON__LIST(attribute, gnomon_attribute, gnomon_op_info, attributes)

/* ---- The call tree -------------------------------------------------------------- */

/* Bits of gnomon_node_info.flags. */
enum gnomon_node_flags {
    /* A child ended after it, or it ended after its parent: its self time and
     * its children's totals do not add up to its total. */
    GNOMON_NODE_CROSSED = 1,
    /* It is a range: it has no self time, and its time is not subtracted from
     * any other node's self time. */
    GNOMON_NODE_RANGE = 2,
    /* It stands for all paths beyond a limit, for example of memory or depth.
     * */
    GNOMON_NODE_OTHER = 4,
    /* It has children in stages that this profile leaves out. */
    GNOMON_NODE_PARTIAL = 8,
    /* The clock stepped back during an execution: its times do not add up, as
     * with GNOMON_NODE_CROSSED. */
    GNOMON_NODE_CLOCK = 16,
    /* A scope on one stream. The scope's node on its thread has the device times of
     * all streams, and these are a part of them: when you add up device times, leave
     * this node out. */
    GNOMON_NODE_PART = 32
};

/* One path of the call tree: `region`, executed inside `parent`, on one track and
 * in one stage. A parent's number is smaller than its children's. */
typedef struct gnomon_node_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t stage;
    /* 0: it is outermost. */
    uint32_t parent;
    uint32_t region;
    /* What it computes; 0: not known. */
    uint32_t op;
    /* How many of its executions are open. */
    uint32_t open;
    /* Bits of gnomon_node_flags. */
    uint32_t flags;
    /* The order in which the first executions of nodes ended: 1, 2, ...; 0:
     * none of its executions has ended. */
    uint64_t first;
    /* Times on the host; NULL: not recorded (which is not the same as 0). */
    const gnomon_stats *host;
    /* Times on a device, of the work that it launched there; NULL: not
     * recorded. */
    const gnomon_stats *device;
    /* Memory, in ascending order of pools. Read it with gnomon_memory_at. */
    const gnomon_memory_stats *memory;
    size_t memory_count;
    /* NULL: not recorded. */
    const gnomon_work_stats *work;
    /* The view that recorded it; 0: it is of all views. */
    uint32_t view;
    uint32_t reserved;
} gnomon_node_info;

GNOMON__LIST(memory, gnomon_memory_stats, gnomon_node_info, memory)

/* A scope that is open. The `host` of its node counts only executions that have
 * ended. */
typedef struct gnomon_open_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t node;
    uint32_t reserved;
    uint64_t begin_ns;
} gnomon_open_info;

/* One node, or one execution, caused another. */
typedef struct gnomon_link_info {
    uint32_t struct_size;
    /* The nodes of cause and effect, both of one run. */
    uint32_t from;
    uint32_t to;
    /* A gnomon_link_kind. */
    uint32_t kind;
    /* How often, at least 1. */
    uint64_t count;
    /* The executions, as in gnomon_event_info.instance; 0: the link is between
     * the paths as a whole. */
    uint64_t from_instance;
    uint64_t to_instance;
    /* When the cause first called gnomon_link_out, and when the effect called
     * gnomon_link_in. 0: not known; so it is for paths, for launches, and in older
     * files. */
    uint64_t from_ns;
    uint64_t to_ns;
} gnomon_link_info;

/* The samples of a counter, by track and stage. */
typedef struct gnomon_counter_info {
    uint32_t struct_size;
    uint32_t track;
    /* What is counted, and in which unit, is the region's name. */
    uint32_t region;
    uint32_t stage;
    /* How many samples are numbers. The next four fields are of these samples,
     * and 0 if there are none. */
    uint64_t count;
    double last;
    double min;
    double max;
    double sum;
    /* How many samples were not a number (NaN). */
    uint64_t nans;
} gnomon_counter_info;

/* ---- Events ---------------------------------------------------------------------- */

/* What an event is. */
enum gnomon_event_kind {
    GNOMON_EVENT_EXECUTION = 0,
    GNOMON_EVENT_MARK = 1,
    /* A sample of a counter. */
    GNOMON_EVENT_COUNTER = 2,
    /* Memory that was allocated, or freed. */
    GNOMON_EVENT_MEMORY = 3
};

/* One moment or execution on a track. A track's events are in the order of their
 * begin. */
typedef struct gnomon_event_info {
    uint32_t struct_size;
    /* A gnomon_event_kind. */
    uint32_t kind;
    uint32_t track;
    /* The node of an execution; for other events the node of the scope around
     * it, or 0. */
    uint32_t node;
    /* The region of a mark or counter; for memory the pool, which is a track;
     * else 0. */
    uint32_t region;
    uint32_t reserved;
    uint64_t begin_ns;
    /* 0 for a mark, a sample, or memory. */
    uint64_t duration_ns;
    /* Its 64-bit id, to which links refer; of memory the address; 0: none. */
    uint64_t instance;
    /* A counter's sample; for memory the bytes, negative if they were freed. */
    double value;
} gnomon_event_info;

/* ==== Fields ==============================================================
 * The fields of these structs, as data: for bindings, tables and formats that
 * handle all kinds of entities by the same code.
 *
 *     gnomon_field_info f[32];
 *     f[0].struct_size = sizeof f[0];
 *     n = host->entity_fields(GNOMON_NODES, f, 32);
 *     for (i = 0; i < n; i++) puts(f[i].name); */

/* The structs that entities point to. Their numbers differ from those of
 * gnomon_entity, so that one field can hold either. */
enum gnomon_part {
    GNOMON_PART_STATS = 100,
    /* gnomon_memory_stats. */
    GNOMON_PART_MEMORY = 101,
    /* gnomon_work_stats. */
    GNOMON_PART_WORK = 102,
    /* gnomon_tensor. */
    GNOMON_PART_INPUT = 103,
    GNOMON_PART_ATTRIBUTE = 104,
    /* gnomon_clock_anchor. */
    GNOMON_PART_ANCHOR = 105,
    GNOMON_PART_BIN = 106,
    /* gnomon_slow_step. */
    GNOMON_PART_SLOW = 107
};

enum gnomon_field_type {
    GNOMON_FIELD_U32 = 0,
    GNOMON_FIELD_I32 = 1,
    GNOMON_FIELD_U64 = 2,
    GNOMON_FIELD_I64 = 3,
    GNOMON_FIELD_DOUBLE = 4,
    /* const char *. */
    GNOMON_FIELD_TEXT = 5,
    /* A pointer to one struct of `of`; NULL: none. */
    GNOMON_FIELD_STRUCT = 6,
    /* A pointer to a list of structs of `of`, each as long as its struct_size says.
     * Their number is the size_t at count_offset. */
    GNOMON_FIELD_STRUCTS = 7,
    /* A pointer to a list of gnomon_cell. Their number is the size_t at
     * count_offset. */
    GNOMON_FIELD_CELLS = 8,
    /* A pointer to a list of int64_t. Their number is the uint32_t at
     * count_offset. NULL: none. */
    GNOMON_FIELD_SIZES = 9
};

/* A field of a struct. */
typedef struct gnomon_field_info {
    uint32_t struct_size;
    /* A gnomon_field_type. */
    uint32_t type;
    /* As in C and in JSON. */
    const char *name;
    /* "ns" or "bytes"; "": neither. */
    const char *unit;
    /* The words for its values, ended by a NULL: word i is for value i, or for bit i of
     * flags. NULL: its values have no words. */
    const char *const *words;
    uint32_t is_flags;
    /* Its offset in the struct, in bytes. */
    uint32_t offset;
    /* Its size in bytes: 4 or 8; of a pointer 8. */
    uint32_t size;
    /* The offset of the number of items that it points to; 0: it is no list. */
    uint32_t count_offset;
    /* If the field is an entity's number: the kind of it (gnomon_entity). If it
     * points to structs: their gnomon_part. Else -1. One exception: the `region` of
     * an event of memory is a pool, which is a track. */
    int32_t of;
    uint32_t reserved;
} gnomon_field_info;

/* ==== Reading and writing ================================================= */

/* The functions that read a profile. C uses the inline calls below; languages
 * that cannot do that call these. */
typedef struct gnomon_profile_api {
    uint32_t struct_size;
    /* GNOMON_ABI of the library that made the profile. */
    uint32_t abi;
    /* How many entities there are of a kind (gnomon_entity); 0: no such kind. */
    size_t (*count)(const gnomon_profile *profile, int entity);
    /* Fills the struct of that kind, up to the struct_size that the caller has
     * set. GNOMON_EINVAL: there is no such kind or number. GNOMON_EIO: an event
     * of a file that was cut or overwritten since it was loaded. */
    int (*get)(const gnomon_profile *profile, int entity, size_t number,
               void *info);
    /* Frees the profile. Call gnomon_profile_free. */
    void (*release)(gnomon_profile *profile);
    /* Does what `get` does, for several entities: from `number` on, into an array of
     * `room` structs, whose distance is the struct_size of the first. Returns how many
     * it filled, which may be fewer than there are; 0: `get` of the first would fail.
     * NULL: this profile has only `get`. */
    size_t (*get_many)(const gnomon_profile *profile, int entity, size_t number,
                       void *infos, size_t room);
} gnomon_profile_api;

/* How every profile begins. The rest is the library's own. */
struct gnomon_profile {
    const gnomon_profile_api *api;
};

/* How many entities of a kind (gnomon_entity) a profile has. They are numbered
 * 1 .. count. */
static inline size_t gnomon_profile_count(const gnomon_profile *p, int entity)
{
    return p->api->count(p, entity);
}

/* gnomon_profile_node(p, number, &info), and the same for each other kind, read
 * one entity into the caller's `info`. The texts and lists that it then points
 * to belong to the profile. GNOMON_OK; GNOMON_EINVAL, and `info` is all zero:
 * there is no such number. So a loop may run until the call fails. These calls
 * set no error text. */
#define GNOMON__READER(name, entity, type) \
    static inline int gnomon_profile_##name(const gnomon_profile *p, \
                                            size_t number, type *info) \
    { \
        info->struct_size = sizeof *info; \
        return p->api->get(p, entity, number, info); \
    }
GNOMON__READER(run, GNOMON_RUNS, gnomon_run_info)
GNOMON__READER(stage, GNOMON_STAGES, gnomon_stage_info)
GNOMON__READER(step, GNOMON_STEPS, gnomon_step_info)
GNOMON__READER(track, GNOMON_TRACKS, gnomon_track_info)
GNOMON__READER(region, GNOMON_REGIONS, gnomon_region_info)
GNOMON__READER(node, GNOMON_NODES, gnomon_node_info)
GNOMON__READER(open, GNOMON_OPENS, gnomon_open_info)
GNOMON__READER(link, GNOMON_LINKS, gnomon_link_info)
GNOMON__READER(counter, GNOMON_COUNTERS, gnomon_counter_info)
GNOMON__READER(metadata, GNOMON_METADATA, gnomon_metadata_info)
GNOMON__READER(loss, GNOMON_LOSSES, gnomon_loss_info)
GNOMON__READER(view, GNOMON_VIEWS, gnomon_view_info)
GNOMON__READER(op, GNOMON_OPS, gnomon_op_info)
GNOMON__READER(event, GNOMON_EVENTS, gnomon_event_info)
GNOMON__READER(step_time, GNOMON_STEP_TIMES, gnomon_step_time_info)
GNOMON__READER(view_time, GNOMON_VIEW_TIMES, gnomon_view_time_info)
GNOMON__READER(strip, GNOMON_STRIPS, gnomon_strip_info)
#undef GNOMON__READER

/* Reads the events from `number` on, at most `room` of them. For a file this takes a
 * third less time than reading one by one. Returns how many it read. These may be fewer
 * than there are: continue with the next number. 0: event `number` could not be read,
 * or there is none. */
static inline size_t gnomon_profile_events(const gnomon_profile *p,
                                           size_t number,
                                           gnomon_event_info *events,
                                           size_t room)
{
    size_t count = 0;
    if (p->api->get_many && room) {
        events->struct_size = sizeof *events;
        return p->api->get_many(p, GNOMON_EVENTS, number, events, room);
    }
    while (count < room &&
           gnomon_profile_event(p, number + count, &events[count]) == GNOMON_OK)
        count++;
    return count;
}

/* ---- From the running process ------------------------------------------------ */

/* Takes a profile of the running process: what the attached profiler named
 * `profiler` has recorded, in the open stage (all_stages 0) or in all of them (1).
 * The caller frees *out. Recording goes on meanwhile. Time and memory are
 * O(paths). Any thread, but not inside a callback. On an error *out is NULL:
 * GNOMON_ENOENT: no such profiler is attached. GNOMON_ESTATE: it records no
 * profile, because it asks for no call tree. GNOMON_ENOMEM, GNOMON_EBUSY,
 * GNOMON_EINVAL. */
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages);
/* Frees a profile, however it was made. NULL is ignored. */
GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile);

/* Checks that a profile keeps all rules (docs/profile.md lists them). Any
 * thread. GNOMON_OK; GNOMON_EINVAL: gnomon_error_text() names what is wrong,
 * and where; GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile);

/* ---- Files ---------------------------------------------------------------- */

/* Writes a profile to `out`, from start to end, in a format by its name:
 *
 *   "gnomon"  binary, with checksums, as .gnomon files: all of it
 *   "json"    text, for other tools, as .gnomon.json: all of it
 *   "chrome"  a trace, made of its events, as torch.profiler writes it: for Perfetto,
 *             chrome://tracing, TensorBoard (docs/exports.md)
 *
 * docs/file-format.md describes the first two: equal profiles give equal bytes. The other
 * formats of `gnomon export`, such as flame graphs, are not in the library. Only
 * out->write is needed. Any thread, and any number of times.
 * GNOMON_OK, or the writer's error; GNOMON_EINVAL: profile or writer is NULL, or
 * there is no such format; GNOMON_EFULL: more than the format can hold, for example
 * over 4 GiB of texts; GNOMON_EIO: the file that the profile was loaded from can no
 * longer be read; GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_write(const gnomon_profile *profile, const char *format,
                              const gnomon_writer *out);

/* The same into the file at `path`. Others see the file whole or not at all.
 * Missing folders are made, and a file that is there is replaced; but a device or
 * a pipe is written to. In addition: GNOMON_EIO: the file cannot be written. */
GNOMON__CALL int gnomon_write_file(const gnomon_profile *profile,
                                   const char *format, const char *path);

/* Makes a profile of a .gnomon file that is in memory: `size` bytes, which may be
 * freed afterwards. The caller frees *out. Any thread. Damaged parts of the file
 * are left out, and losses of run 0 say which. GNOMON_OK; GNOMON_EINVAL: it is no
 * such file, or of a later format, or breaks the rules of profiles; GNOMON_ENOMEM.
 * On an error *out is NULL. */
GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size);

/* The same, of the file at `path`. In addition: GNOMON_ENOENT: there is no such
 * file; GNOMON_EIO: it cannot be read. If it has many events, they are read only
 * when somebody asks for them. So the file stays open until the profile is
 * freed, and memory does not grow with their number. */
GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path);

/* ---- Reports -------------------------------------------------------------- */

/* Writes the report that a built-in profiler makes of a profile. `report` is the
 * profiler's name with its options, as in $GNOMON: "tree" or "regions(limit=5)". It
 * needs no run and takes no lock. Only out->write is needed; it is called once, with
 * all of the text. GNOMON_OK, or the writer's error; GNOMON_ENOENT: there is no such
 * report; GNOMON_EINVAL: an option is wrong, or something is NULL; GNOMON_ESTATE: the
 * profile has several runs, stages or views (the program `gnomon report` makes a
 * report of each); GNOMON_EIO: the file that the profile was loaded from can no
 * longer be read; GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_report(const gnomon_profile *profile,
                               const char *report, const gnomon_writer *out);

/* ==== Builders ============================================================
 * Make a profile of other data: of another tool's file, of a simulator, in a test.
 *
 *     gnomon_builder_create(&b);
 *     run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
 *     ...
 *     gnomon_builder_finish(b, &p);             p is a profile, or the error
 *
 * Errors: after the first error all calls do nothing, and gnomon_builder_finish
 * returns that error. So only gnomon_builder_finish needs a check.
 * Threads: one thread at a time for each builder. */

/* A profile that is being made. */
typedef struct gnomon_builder gnomon_builder;

/* Makes an empty builder. The caller ends it with gnomon_builder_finish or
 * gnomon_builder_free. GNOMON_OK; GNOMON_ENOMEM or GNOMON_EINVAL, and *out is
 * NULL. */
GNOMON__CALL int gnomon_builder_create(gnomon_builder **out);

/* Adds an entity of a kind (gnomon_entity). `info` is the struct of this kind.
 * It and all that it points to are copied; a NULL text becomes "".
 * Entities whose numbers are in `info` must have been added before; only links
 * may refer to nodes that are added later. Set the struct_size of `info` and of
 * each struct that it points to. A struct that is smaller than the first
 * release's is an error; fields of later releases that this library does not
 * know are ignored. Returns the entity's number, from 1. 0: something is wrong,
 * now or before, and gnomon_builder_finish will say what. */
GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info);

/* Checks all that was added (gnomon_profile_check) and makes a profile of it,
 * which the caller frees with gnomon_profile_free. The builder is freed in any
 * case. GNOMON_OK; GNOMON_EINVAL: something that was added is wrong, or the
 * profile breaks a rule; gnomon_error_text() says what; GNOMON_ENOMEM. On an error
 * *out is NULL. */
GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out);

/* Frees a builder that was not finished. NULL is ignored. */
GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder);

/* gnomon_add_node(b, &info), and the same for each other kind, call
 * gnomon_builder_add. They set the struct_size of `info` itself, but not of the
 * structs that it points to. */
#define GNOMON__ADDER(name, entity, type) \
    static inline uint32_t gnomon_add_##name(gnomon_builder *b, \
                                             const type *info) \
    { \
        type sized = *info; \
        sized.struct_size = sizeof sized; \
        return gnomon_builder_add(b, entity, &sized); \
    }
GNOMON__ADDER(run, GNOMON_RUNS, gnomon_run_info)
GNOMON__ADDER(stage, GNOMON_STAGES, gnomon_stage_info)
GNOMON__ADDER(step, GNOMON_STEPS, gnomon_step_info)
GNOMON__ADDER(track, GNOMON_TRACKS, gnomon_track_info)
GNOMON__ADDER(region, GNOMON_REGIONS, gnomon_region_info)
GNOMON__ADDER(node, GNOMON_NODES, gnomon_node_info)
GNOMON__ADDER(open, GNOMON_OPENS, gnomon_open_info)
GNOMON__ADDER(link, GNOMON_LINKS, gnomon_link_info)
GNOMON__ADDER(counter, GNOMON_COUNTERS, gnomon_counter_info)
GNOMON__ADDER(metadata, GNOMON_METADATA, gnomon_metadata_info)
GNOMON__ADDER(loss, GNOMON_LOSSES, gnomon_loss_info)
GNOMON__ADDER(view, GNOMON_VIEWS, gnomon_view_info)
GNOMON__ADDER(op, GNOMON_OPS, gnomon_op_info)
GNOMON__ADDER(event, GNOMON_EVENTS, gnomon_event_info)
GNOMON__ADDER(step_time, GNOMON_STEP_TIMES, gnomon_step_time_info)
GNOMON__ADDER(view_time, GNOMON_VIEW_TIMES, gnomon_view_time_info)
GNOMON__ADDER(strip, GNOMON_STRIPS, gnomon_strip_info)
#undef GNOMON__ADDER

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#define GNOMON__OFF_PROFILE
#include "off.h"
#undef GNOMON__OFF_PROFILE
#endif

#endif
