/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A profile: what was recorded, as data. This header reads and builds them;
 * gnomon/entities.h says what they are made of.
 *
 * A profile is immutable and may be read from any thread. It brings its own
 * readers, so that plugins call them without linking to gnomon. All that it
 * points to lives as long as it does.
 */
#ifndef GNOMON_PROFILE_H
#define GNOMON_PROFILE_H

#include "entities.h"

GNOMON_BEGIN_DECLS

typedef struct gnomon_profile gnomon_profile;

/* A profile's readers. `get` fills the struct of that kind up to the
 * struct_size the caller has set; GNOMON_EINVAL: no such kind or number. */
typedef struct gnomon_profile_api {
    uint32_t struct_size;
    uint32_t abi;
    size_t (*count)(const gnomon_profile *profile, int entity);
    int (*get)(const gnomon_profile *profile, int entity, size_t number,
               void *info);
    void (*release)(gnomon_profile *profile); /* for gnomon_profile_free */
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
GNOMON__READER(view, GNOMON_VIEWS, gnomon_view_info)
GNOMON__READER(op, GNOMON_OPS, gnomon_op_info)
GNOMON__READER(event, GNOMON_EVENTS, gnomon_event_info)
GNOMON__READER(step_time, GNOMON_STEP_TIMES, gnomon_step_time_info)
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

/* The duration in ns below which the fraction `q` (0 .. 1) of the executions lies, as
 * if those of a cell were spread evenly over it: so within 6.3 % of a recorded
 * duration (9.4 % where ticks were converted), and within min and max. 0 where
 * count is. Reports and comparisons have no other. */
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

/* The same in whole ns. */
static inline uint64_t gnomon_quantile_ns(const gnomon_stats *s, double q)
{
    const double value = gnomon_quantile(s, q);
    if (value >= GNOMON_CAST(double, s->max_ns))
        return s->max_ns;
    if (value <= GNOMON_CAST(double, s->min_ns))
        return s->min_ns;
    return GNOMON_CAST(uint64_t, value);
}

/* A profile of the running process: of the view of the attached profiler named
 * `profiler`, of the stage that is open (0) or of all (1). The caller frees it.
 * Recording goes on; may be called from any thread but inside a callback. */
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages);
GNOMON__CALL int gnomon_snapshot_n(gnomon_profile **out, const char *profiler,
                                   size_t length, int all_stages);

/* Frees a profile, whoever made it; NULL is nothing. */
GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile);

/* Checks the invariants of a profile (docs/profile.md). GNOMON_OK, or
 * GNOMON_EINVAL and gnomon_error_text() names the violation and where. */
GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile);

/* Where a report or a file goes. All return GNOMON_OK or an error code; write and
 * print do nothing after an error. Text is UTF-8. */
typedef struct gnomon_writer {
    uint32_t struct_size;
    uint32_t reserved;
    int (*write)(const struct gnomon_writer *writer, const void *bytes,
                 size_t size);
    int (*print)(const struct gnomon_writer *writer, const char *format, ...)
        GNOMON_PRINTF(2, 3);
    void *context; /* the writer's own */
    /* Writes a file of a profiler's own, whole, beside its report: named after
     * the stage, the report and the rank as that is, then `part`, made fit for a
     * file name (NULL: nothing), then `extension` (".prof"). Another one of this
     * name takes its place. GNOMON_ENOENT: reports go to a stream and the run
     * has no folder; one line has said so, or why it cannot be written. NULL, or
     * past struct_size: this writer makes no files. */
    int (*file)(const struct gnomon_writer *writer, const char *part,
                const char *extension, const void *bytes, size_t size);
    /* For gnomon_shown. NULL, or past struct_size: names are shown as they are. */
    const char *(*shown)(const struct gnomon_writer *writer, const char *name);
    /* How many columns the terminal has that the text goes to; 0, or past
     * struct_size: it goes elsewhere, where nothing need be clipped. */
    uint32_t columns;
    uint32_t reserved_too;
} gnomon_writer;

/* A name as who reads the writer's text may see it. In a file that is the name;
 * on a terminal, what would move its cursor, begin a line or turn text around is
 * an escape: "\x1b", "\n", "\u202e". Lives as long as the name and the writer. */
static inline const char *gnomon_shown(const gnomon_writer *writer,
                                       const char *name)
{
    size_t reach = offsetof(gnomon_writer, shown) + sizeof writer->shown;
    return writer->struct_size >= reach && writer->shown
               ? writer->shown(writer, name)
               : name;
}

/* ---- Building ------------------------------------------------------------- */

/* Makes a profile of whatever a program knows: other tools' files, a simulator,
 * tests. Not thread-safe. The first error stays, and finish returns it. */
typedef struct gnomon_builder gnomon_builder;

/* GNOMON_OK or GNOMON_ENOMEM. Ends with finish or free. */
GNOMON__CALL int gnomon_builder_create(gnomon_builder **out);

/* Adds an entity: copies `info` and all that it points to, a NULL text as "".
 * Returns its number; 0: something is wrong. What `info` names by number must be
 * there already, but for links, which may be told of nodes to come. It and each
 * struct that it leads to have their struct_size set; one below the first
 * release's is wrong, a larger one's extra is left out. */
GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info);

/* Checks the whole (gnomon_profile_check) and hands it out; the builder is gone
 * in any case. The caller frees the profile. */
GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out);

/* Gives it up; NULL is nothing. */
GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder);

/* gnomon_add_node(b, &info) and its like: gnomon_builder_add with the struct_size
 * of `info` set, not those of what it leads to. */
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
#undef GNOMON__ADDER

/* ---- Files ---------------------------------------------------------------- */

/* The two forms of one thing; docs/file-format.md describes both. */
enum gnomon_form {
    GNOMON_FORM_FILE = 0, /* .gnomon */
    GNOMON_FORM_JSON = 1  /* .gnomon.json */
};

/* Writes all of a profile, from start to end; equal profiles to equal bytes.
 * `form` is a gnomon_form. GNOMON_OK, GNOMON_ENOMEM, or the writer's error;
 * GNOMON_EINVAL: no profile, writer or such form. */
GNOMON__CALL int gnomon_profile_write(const gnomon_profile *profile, int form,
                                      const gnomon_writer *out);

/* Reads a .gnomon file of `size` bytes. What is damaged in it is passed over and
 * counted in losses of no run. GNOMON_OK, and the caller frees the profile;
 * GNOMON_EINVAL: it is no such file, or of a later format, or breaks the rules
 * of profiles. Any thread. */
GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size);

/* The same from the file at `path`. GNOMON_ENOENT: there is none; GNOMON_EIO. */
GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path);

#ifdef GNOMON_DISABLE
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages)
{
    (void)profiler;
    (void)all_stages;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_snapshot_n(gnomon_profile **out, const char *profiler,
                                   size_t length, int all_stages)
{
    (void)length;
    return gnomon_snapshot(out, profiler, all_stages);
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

GNOMON__CALL int gnomon_builder_create(gnomon_builder **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info)
{
    (void)builder;
    (void)entity;
    (void)info;
    return 0;
}

GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out)
{
    (void)builder;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder)
{
    (void)builder;
}

GNOMON__CALL int gnomon_profile_write(const gnomon_profile *profile, int form,
                                      const gnomon_writer *out)
{
    (void)profile;
    (void)form;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size)
{
    (void)bytes;
    (void)size;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path)
{
    (void)path;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}
#endif

GNOMON_END_DECLS

#endif
