/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A profile: what was recorded, as data. This header reads one.
 *
 * A profile is immutable and may be read from any thread. It brings its own
 * readers, so that plugins call them without linking to gnomon. Every entity is
 * numbered from 1 in each kind, 0 is "none"; every text is UTF-8 and lives as
 * long as the profile. Times are ns since the run's zero, or durations in ns.
 */
#ifndef GNOMON_PROFILE_H
#define GNOMON_PROFILE_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* Kinds of entities, for gnomon_profile_count. */
enum gnomon_entity {
    GNOMON_RUNS = 0,
    GNOMON_STAGES = 1,
    GNOMON_STEPS = 2,
    GNOMON_TRACKS = 3,
    GNOMON_REGIONS = 4,
    GNOMON_NODES = 5,
    GNOMON_OPENS = 6,
    GNOMON_LINKS = 7,
    GNOMON_COUNTERS = 8,
    GNOMON_METADATA = 9,
    GNOMON_LOSSES = 10
};

enum gnomon_track_kind {
    GNOMON_TRACK_THREAD = 0,
    GNOMON_TRACK_STREAM = 1,
    GNOMON_TRACK_LANE = 2,
    GNOMON_TRACK_POOL = 3
};

enum gnomon_phase {
    GNOMON_PHASE_NONE = 0, /* waiting: nothing is recorded */
    GNOMON_PHASE_WARMUP = 1,
    GNOMON_PHASE_RECORD = 2,
    GNOMON_PHASE_RECORD_AND_SAVE = 3
};

/* How many durations fell into cell `cell`. The cells are part of the format:
 * those below 32 ns hold one value each, then 16 to the octave. With
 * e = max(0, floor(log2(ns)) - 4), the cell of ns is 16 e + (ns >> e). */
typedef struct gnomon_cell {
    uint32_t cell;
    uint32_t reserved;
    uint64_t count;
} gnomon_cell;

/* Finished executions on the host. `total` is the sum of their durations,
 * `self` the time in which one was the innermost open scope of its track, that
 * of open ones up to now included. min and max are 0 where count is. */
typedef struct gnomon_host_stats {
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    const gnomon_cell *cells; /* ascending, none of count 0 */
    size_t cell_count;
} gnomon_host_stats;

/* One process's life under gnomon. A rank or size that is not known is -1. */
typedef struct gnomon_run_info {
    uint32_t struct_size;
    int32_t rank;
    int32_t local_rank;
    int32_t world_size;
    int64_t pid;
    const char *host;
    const char *dir;         /* GNOMON_NULL: not given */
    const char *spec;        /* resolved: what $GNOMON came to */
    const char *clock;       /* "tsc", "monotonic", "test" */
    uint64_t zero_unix_ns;   /* the run's zero as Unix time */
    uint64_t clock_error_ns; /* how far the two may be apart */
    uint64_t now_ns;         /* when the profile was taken */
    const char *attempt;     /* GNOMON_NULL, or the launcher's restart count */
} gnomon_run_info;

typedef struct gnomon_stage_info {
    uint32_t struct_size;
    uint32_t ordinal;  /* 1, 2, ... in the order of the run */
    const char *name;  /* "" where none was opened */
    uint64_t begin_ns; /* of its first mark or of its opening */
    uint64_t end_ns;   /* of its end, else of the profile */
    int32_t ended;
    int32_t reserved;
    gnomon_host_stats steps; /* of the finished steps' durations */
} gnomon_stage_info;

typedef struct gnomon_step_info {
    uint32_t struct_size;
    uint32_t stage;
    uint64_t number;
    uint64_t begin_ns;
    uint64_t end_ns; /* 0: not over */
    int32_t phase;   /* gnomon_phase; RECORD where there is no schedule */
    int32_t reserved;
} gnomon_step_info;

typedef struct gnomon_track_info {
    uint32_t struct_size;
    uint32_t kind; /* gnomon_track_kind */
    const char *name;
    int64_t os_id; /* of the last thread that was this track */
    uint32_t index;
    uint32_t lives; /* threads of one name that followed one another */
    int32_t alive;
    int32_t inexact; /* the track marked while it was read */
} gnomon_track_info;

typedef struct gnomon_region_info {
    uint32_t struct_size;
    uint32_t kind; /* gnomon_region_kind */
    const char *name;
    const char *category; /* "" where none */
    const char *file;     /* "" where none */
    const char *function; /* "" where none */
    uint32_t line;
    uint32_t reserved;
} gnomon_region_info;

enum gnomon_node_flags {
    GNOMON_NODE_CROSSED = 1, /* a child outlived it, or it its parent: self and
                                the children's totals do not add up to total */
    GNOMON_NODE_RANGE = 2,   /* ranges: no self, no part in other nodes' */
    GNOMON_NODE_OTHER = 4,   /* stands for paths past a limit */
    GNOMON_NODE_PARTIAL = 8  /* has children in stages that are left out */
};

/* One path: `region` executed inside `parent`. A parent's number is smaller. */
typedef struct gnomon_node_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t stage;
    uint32_t parent; /* 0: outermost */
    uint32_t region;
    uint32_t op;    /* 0: none */
    uint32_t open;  /* executions that are open */
    uint32_t flags; /* gnomon_node_flags */
    uint64_t first; /* order of its first end among all nodes; 0: none yet */
    const gnomon_host_stats *host; /* GNOMON_NULL: not recorded */
} gnomon_node_info;

/* A scope that is open; its node's `host` counts finished ones only. */
typedef struct gnomon_open_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t node;
    uint32_t reserved;
    uint64_t begin_ns;
} gnomon_open_info;

typedef struct gnomon_link_info {
    uint32_t struct_size;
    uint32_t from; /* nodes */
    uint32_t to;
    uint32_t kind; /* gnomon_link_kind */
    uint64_t count;
} gnomon_link_info;

typedef struct gnomon_counter_info {
    uint32_t struct_size;
    uint32_t track;
    uint32_t region;
    uint32_t stage;
    uint64_t count;
    double last;
    double min;
    double max;
    double sum;
} gnomon_counter_info;

typedef struct gnomon_metadata_info {
    uint32_t struct_size;
    uint32_t reserved;
    const char *key;
    const char *json;
} gnomon_metadata_info;

/* Something that was not recorded, and how often. */
typedef struct gnomon_loss_info {
    uint32_t struct_size;
    uint32_t track; /* 0: of the run */
    const char *kind;
    uint64_t count;
} gnomon_loss_info;

typedef struct gnomon_profile gnomon_profile;

/* A profile's readers. `get` fills the struct of that kind up to the
 * struct_size the caller has set; GNOMON_EINVAL: no such kind or number. */
typedef struct gnomon_profile_api {
    uint32_t struct_size;
    uint32_t abi;
    size_t (*count)(const gnomon_profile *profile, int entity);
    int (*get)(const gnomon_profile *profile, int entity, size_t number,
               void *info);
} gnomon_profile_api;

/* A profile begins so. */
struct gnomon_profile {
    const gnomon_profile_api *api;
};

/* How many there are of `entity`; they are numbered 1 .. count. */
static inline size_t gnomon_profile_count(const gnomon_profile *p, int entity)
{
    return p->api->count(p, entity);
}

/* gnomon_profile_node(p, number, &info) and its like fill `info`: GNOMON_OK, or
 * GNOMON_EINVAL with zeroes. */
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
#undef GNOMON__READER

/* The cell of a duration, and the smallest duration of a cell. */
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

static inline uint64_t gnomon_cell_low(uint32_t cell)
{
    uint32_t e = cell < 32 ? 0 : cell / 16 - 1;
    uint64_t low = cell - 16u * e;
    return e < 60 ? low << e : UINT64_MAX; /* no duration is that long */
}

/* The duration below which the fraction `q` (0 .. 1) of the executions lies:
 * the middle of its cell, so within 3.2 % of a recorded duration (6.4 % where
 * ticks were converted), and within min and max. 0 where count is. */
static inline uint64_t gnomon_quantile_ns(const gnomon_host_stats *s, double q)
{
    uint64_t below = 0, value = s->max_ns;
    double want = q * GNOMON_CAST(double, s->count);
    size_t i;
    for (i = 0; i < s->cell_count; i++) {
        below += s->cells[i].count;
        if (GNOMON_CAST(double, below) >= want) {
            uint64_t low = gnomon_cell_low(s->cells[i].cell);
            value = low + (gnomon_cell_low(s->cells[i].cell + 1) - low) / 2;
            break;
        }
    }
    if (value < s->min_ns)
        return s->min_ns;
    return value > s->max_ns ? s->max_ns : value;
}

/* A profile of the running process: of the view of the attached profiler named
 * `profiler`, of the stage that is open (0) or of all (1). The caller frees it.
 * Recording goes on; may be called from any thread but inside a callback. */
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages);

/* Frees what gnomon_snapshot made; NULL is nothing. */
GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile);

/* Checks the invariants of a profile (docs/profile.md). GNOMON_OK, or
 * GNOMON_EINVAL and gnomon_error_text() names the violation and where. */
GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile);

#ifdef GNOMON_DISABLE
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages)
{
    (void)profiler;
    (void)all_stages;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile)
{
    (void)profile;
}

GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile)
{
    (void)profile;
    return GNOMON_ESTATE;
}
#endif

GNOMON_END_DECLS

#endif
