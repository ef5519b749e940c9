/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export: chrome.c writes the file, with the names of processes and threads,
 * chrome_nodes.c has what is equal in all rows of a path, and chrome_rows.c writes the rows
 * of events, and which labels are around calls, and how long they are on streams.
 *
 * The format is Chrome's Trace Event Format, as Kineto writes it for torch.profiler. */
#ifndef GNOMON_EXPORT_CHROME_H
#define GNOMON_EXPORT_CHROME_H

#include "export/text.h"
#include "export/timeline.h"
#include "gnomon.h"

/* Numbers of threads that a track takes: for lanes and itself. */
#define GNOMON__CHROME_LANES 1024u

/* ---- Paths: chrome_nodes.c ---------------------------------------------------- */

/* What all rows of a path share: text before `ts`, and in `args`. */
typedef struct gnomon__chrome_node {
    char *head;
    char *args; /* without the braces, each with a comma before it */
    uint32_t head_size, args_size;
    uint64_t moved;    /* bytes that a copy or set moves; 0: not known */
    uint32_t is_label; /* an operation or label: calls below it name its id */
    uint32_t is_call;  /* of the device's runtime */
    uint32_t is_annotation; /* a label that is no operation */
    uint32_t is_span;       /* what is written of one on a stream */
    uint32_t is_wait;       /* no work: a stream that waits */
    uint32_t is_work;       /* of a device: its rows name their stream */
    uint32_t is_timed;      /* a scope on a stream, as events timed it */
    uint32_t has_rows;      /* it, in this trace */
} gnomon__chrome_node;

/* ---- Labels: chrome_rows.c ------------------------------------------------------ */

/* Operations and labels that are open on a track, innermost last. */
typedef struct gnomon__chrome_labels {
    struct {
        uint64_t end, id;
        uint32_t node;
        uint32_t label; /* in the list of those which launch; 0: not there */
    } * of;
    size_t open, room;
} gnomon__chrome_labels;

/* A label under which work was launched, and how long this lasted on each stream: from
 * the begin of the first to the end of the last. As much memory as labels launch. */
typedef struct gnomon__chrome_spans {
    struct gnomon__chrome_label *labels; /* from 1 */
    size_t label_count, label_room;
    struct gnomon__chrome_span *of; /* later by track and begin */
    size_t count, room;
    size_t *next; /* by track: the first that was not written */
} gnomon__chrome_spans;

/* ---- The file ------------------------------------------------------------------ */

/* What rows of one flow share: all links of a kind from one cause. */
typedef struct gnomon__chrome_flow {
    uint64_t external; /* External id of its cause */
    uint32_t label;    /* the label around that; 0: none */
    uint32_t has_call; /* a row of the host has its number */
} gnomon__chrome_flow;

typedef struct gnomon__chrome {
    const gnomon__export *what;
    gnomon__out *t;
    uint64_t base;  /* Unix ns: ts 0 */
    int is_first;   /* no row was written yet */
    int has_memory; /* an event of the profile is an allocation */
    /* These belong to the profile that is written now. */
    gnomon__timeline line;
    gnomon__chrome_flow *flows; /* by number, from 0 */
    gnomon__chrome_node *nodes; /* by number */
    size_t node_count;
    struct gnomon__module *modules; /* of what->layer, by node, or NULL */
    gnomon__chrome_labels *around;  /* by track */
    gnomon__chrome_spans spans;
    struct gnomon__chrome_calls **calls; /* by a thread's track: of its lane */
    uint64_t first_flow;                 /* its number in the file */
    uint64_t alone;         /* rows of work that nothing launched, so far */
    size_t runs_before;     /* in the profiles before */
    uint64_t labels_before; /* how many External ids they may have */
    uint64_t start, end;    /* of all events, less `base` */
} gnomon__chrome;

/* The path's text, made when it is first needed; NULL: no memory. */
const gnomon__chrome_node *gnomon__chrome_node_at(gnomon__chrome *c,
                                                  uint32_t node);
/* Whether TensorBoard's plugin must not know the category of such a row. */
int gnomon__chrome_hides_collective(const char *category, const char *name);

/* All events of the profile, and steps. */
void gnomon__chrome_rows(gnomon__chrome *c);
void gnomon__chrome_rows_end(gnomon__chrome *c);

/* Begins a row: the comma and line before it. */
static inline void gnomon__chrome_row(gnomon__chrome *c)
{
    gnomon__out_put(c->t, &",\n"[c->is_first], 2 - (size_t)c->is_first);
    c->is_first = 0;
}

/* The zero of the track's run, less `base`. */
static inline uint64_t gnomon__chrome_zero(const gnomon__chrome *c,
                                           size_t track)
{
    return c->line.runs[c->line.tracks[track].run].info.zero_unix_ns - c->base;
}

/* The tid of a track, or of its further lane. */
static inline int64_t gnomon__chrome_tid(const gnomon__chrome *c, size_t track,
                                         uint32_t lane)
{
    const uint32_t most = GNOMON__CHROME_LANES - 2;
    return !lane ? c->line.tracks[track].tid
                 : GNOMON__MADE_UP_TID + (int64_t)track * GNOMON__CHROME_LANES +
                       (lane > most ? most : lane);
}

#endif
