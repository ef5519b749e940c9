/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exports: profiles in somebody else's format.
 *
 * An exporter reads profiles by their public readers, event after event, and
 * writes as it reads: its memory grows with names, nodes, tracks and open
 * executions, and not with events. The same profile may be exported any number
 * of times. Everything here uses public headers and libc only, so that a
 * profiler, the program and a plugin can use it alike. */
#ifndef GNOMON_EXPORT_EXPORT_H
#define GNOMON_EXPORT_EXPORT_H

#include "gnomon/profile.h"

/* From the first begin to the last end of all events of a profile. */
typedef struct gnomon__export_span {
    uint64_t from_unix_ns, until_unix_ns;
    int is_known;
} gnomon__export_span;

/* What lines of stacks count. */
enum gnomon__stacks_metric {
    GNOMON__STACKS_TIME,
    GNOMON__STACKS_FLOPS,    /* work counts once: gnomon__own_flops */
    GNOMON__STACKS_ALLOCATED /* bytes, of all pools */
};

struct gnomon__chrome;

/* What is exported. */
typedef struct gnomon__export {
    const gnomon_profile *const *profiles; /* each of one run or of many */
    size_t count;
    const char *name;    /* what the file is called; NULL: not known */
    int for_tensorboard; /* chrome: categories that its plugin knows */
    int metric;          /* gnomon__stacks_metric */
    /* chrome: what makes the path's next row that of a layer, if it is one; NULL: none
     * is. 0: no memory. */
    int (*layer)(struct gnomon__chrome *c, uint32_t node);
    /* Only events that begin in this time, in Unix ns; `until` 0: all. */
    uint64_t from_unix_ns, until_unix_ns;
    /* Of each profile, which saves a pass over its events; NULL: not known. */
    const gnomon__export_span *spans;
} gnomon__export;

typedef struct gnomon__exporter {
    const char *name;      /* of --to */
    const char *extension; /* of the file, with its point */
    const char *about;     /* one line for help */
    /* Returns GNOMON_OK, what out->write returned, or GNOMON_ENOMEM. */
    int (*write)(const gnomon__export *what, const gnomon_writer *out);
} gnomon__exporter;

extern const gnomon__exporter gnomon__export_chrome;
extern const gnomon__exporter gnomon__export_perfetto;
extern const gnomon__exporter gnomon__export_speedscope;
extern const gnomon__exporter gnomon__export_stacks;
extern const gnomon__exporter gnomon__export_csv;
extern const gnomon__exporter gnomon__export_to_json;
extern const gnomon__exporter gnomon__export_prof;

/* Whether a moment in Unix time, a run's zero and its own ns, is asked for. */
static inline int gnomon__export_takes(const gnomon__export *what,
                                       uint64_t unix_ns)
{
    return !what->until_unix_ns ||
           (unix_ns >= what->from_unix_ns && unix_ns < what->until_unix_ns);
}

/* The JSON form of a profile, of the room profile. */
int gnomon__write_json(const gnomon_profile *profile, const gnomon_writer *out);

#endif
