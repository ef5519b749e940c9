/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A profile: what was recorded, as data. This header takes one from the running
 * process or a file, and reads it; gnomon/entities.h says what it is made of,
 * gnomon/fields.h the same as data, and gnomon/builder.h, which it includes, makes one of
 * other data.
 *
 *     gnomon_profile *p;
 *     gnomon_node_info node;
 *     gnomon_snapshot(&p, "simple", 0);
 *     for (i = 1; gnomon_profile_node(p, i, &node) == GNOMON_OK; i++) ...
 *     gnomon_profile_free(p);
 *
 * Threads: a profile never changes, so any number of threads may read one.
 * Ownership: who is given a profile through an `out` frees it, by
 * gnomon_profile_free. A profile that a callback is given is borrowed.
 * Lifetime: all that a profile hands out lives as long as it does.
 * Linking: a profile brings its own readers, so the inline calls here work in a
 * plugin, which is linked to nothing. The exported ones need the library.
 */
#ifndef GNOMON_PROFILE_H
#define GNOMON_PROFILE_H

#include "entities.h"
#include "fields.h"
#include "nodes.h"
#include "writer.h"

GNOMON_BEGIN_DECLS

/* A profile's readers: behind the inline calls below, for languages that cannot
 * use these. */
typedef struct gnomon_profile_api {
    uint32_t struct_size;
    /* GNOMON_ABI of the library that made the profile. */
    uint32_t abi;
    /* How many entities there are of a kind (gnomon_entity); 0: no such kind. */
    size_t (*count)(const gnomon_profile *profile, int entity);
    /* Fills the struct of that kind, up to the struct_size that the caller has
     * set in it. GNOMON_EINVAL: there is no such kind or number. GNOMON_EIO: an
     * event of a file that was cut or overwritten since it was loaded. */
    int (*get)(const gnomon_profile *profile, int entity, size_t number,
               void *info);
    /* Frees the profile. Call gnomon_profile_free. */
    void (*release)(gnomon_profile *profile);
    /* As `get` of the entities from `number` on, into an array of `room` structs, which
     * lie as far apart as the first one's struct_size says. Returns how many were
     * filled, which may be fewer than are there; 0: `get` of the first would fail. NULL:
     * this profile only has `get`. */
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

/* gnomon_profile_node(p, number, &info) and its like read one entity into the
 * caller's `info`. The texts and lists that it then points to are the profile's.
 * GNOMON_OK; GNOMON_EINVAL, and zeroes: there is no such number. So a loop may
 * run until it fails. No call here keeps an error text. */
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
#undef GNOMON__READER

/* Reads the events from `number` on, at most `room` of them: a file's take a third less
 * time than one by one. Returns how many, which may be fewer than there are up to the
 * last: ask again from there. 0: event `number` could not be read, or there is none. */
static inline size_t gnomon_profile_events(const gnomon_profile *p,
                                           size_t number,
                                           gnomon_event_info *events,
                                           size_t room)
{
    size_t reach = offsetof(gnomon_profile_api, get_many) +
                   sizeof p->api->get_many; /* older libraries have none */
    size_t count = 0;
    if (p->api->struct_size >= reach && p->api->get_many && room) {
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
 * The caller frees *out. Recording goes on meanwhile; O(paths) time and memory.
 * Any thread, but not inside a callback. On an error *out is NULL:
 * GNOMON_ENOENT: no such profiler is attached. GNOMON_ESTATE: it records no
 * profile, for it wants no tree. GNOMON_ENOMEM, GNOMON_EBUSY, GNOMON_EINVAL. */
GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages);
/* The same, with the name's length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_snapshot_n(gnomon_profile **out, const char *profiler,
                                   size_t length, int all_stages);

/* Frees a profile, whoever made it. NULL is ignored. */
GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile);

/* Checks what always holds of a profile (docs/profile.md lists it). Any thread.
 * GNOMON_OK; GNOMON_EINVAL: gnomon_error_text() names what is wrong, and where;
 * GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile);

/* ---- Files ---------------------------------------------------------------- */

/* The forms of a file. The first two hold all of a profile; docs/file-format.md
 * describes them. */
enum gnomon_form {
    /* Binary, with checksums: .gnomon. */
    GNOMON_FORM_FILE = 0,
    /* Text, for other tools: .gnomon.json. */
    GNOMON_FORM_JSON = 1,
    /* For gnomon_export: a trace, made of events, as torch.profiler writes it: for
     * Perfetto, chrome://tracing, TensorBoard (docs/exports.md). */
    GNOMON_FORM_CHROME = 2
};

/* Writes all of a profile to `out`, from start to end. Equal profiles give equal
 * bytes. `form` is one of the first two; only out->write is needed. Any thread.
 * GNOMON_OK, or the writer's error; GNOMON_EINVAL: profile or writer is NULL, or
 * there is no such form; GNOMON_EFULL: more than the form can hold, as 4 GiB of
 * texts; GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_profile_write(const gnomon_profile *profile, int form,
                                      const gnomon_writer *out);

/* Makes a profile of a .gnomon file that is in memory: `size` bytes, which are not
 * needed any more afterwards. The caller frees *out. Any thread.
 * What is damaged in the file is passed over, and is told in losses of run 0.
 * GNOMON_OK; GNOMON_EINVAL: it is no such file, or of a later format, or breaks
 * the rules of profiles; GNOMON_ENOMEM. On an error *out is NULL. */
GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size);

/* The same of the file at `path`. Besides: GNOMON_ENOENT: there is none;
 * GNOMON_EIO: it cannot be read. If it has many events, these are read when they
 * are asked for: a descriptor stays open until the profile is freed, and memory
 * does not grow with their number. */
GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path);

/* Writes a profile in any gnomon_form, as gnomon_profile_write. The profile may be
 * exported any number of times. What else `gnomon export` knows, as flame graphs, is
 * in the program alone. */
GNOMON__CALL int gnomon_export(const gnomon_profile *profile, int form,
                               const gnomon_writer *out);
/* The same into the file at `path`, which others see whole or not at all: missing
 * folders are made, and a file that is there is replaced. A device or a pipe is
 * written to. Besides: GNOMON_EIO: it cannot be written. */
GNOMON__CALL int gnomon_export_file(const gnomon_profile *profile, int form,
                                    const char *path);

/* ---- Reports -------------------------------------------------------------- */

/* Writes the report that a built-in profiler makes of a profile: `report` is its name
 * with its options, as in $GNOMON, "tree" or "regions(limit=5)". It needs no run and
 * takes no lock. Only out->write is needed; it is called once, with all of the text.
 * GNOMON_OK, or the writer's error; GNOMON_ENOENT: there is no such report;
 * GNOMON_EINVAL: an option is wrong, or something is NULL; GNOMON_ESTATE: the profile
 * has several runs, stages or views, of each of which `gnomon report` makes one;
 * GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_report(const gnomon_profile *profile,
                               const char *report, const gnomon_writer *out);
/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_report_n(const gnomon_profile *profile,
                                 const char *report, size_t length,
                                 const gnomon_writer *out);

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_profile.h"
#endif

#include "builder.h"

#endif
