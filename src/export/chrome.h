/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of the Chrome export: chrome.c writes the file, chrome_head.c what comes
 * before the rows, chrome_ids.c says who is which process and thread there,
 * chrome_links.c which rows belong together, chrome_nodes.c what is equal in all rows of
 * a path, chrome_around.c which label is around a
 * call, chrome_calls.c which calls come before an event, chrome_spans.c how long labels
 * are on streams, chrome_memory.c allocations, chrome_row.c how a row begins, and
 * chrome_rows.c all of them.
 *
 * The format is Chrome's Trace Event Format, as Kineto writes it for torch.profiler. */
#ifndef GNOMON_EXPORT_CHROME_H
#define GNOMON_EXPORT_CHROME_H

#include "export/export.h"
#include "export/lanes.h"
#include "export/text.h"
#include "export/timeline.h"
#include "gnomon/link.h"

/* Numbers of threads that a track takes: for lanes and itself. */
#define GNOMON__CHROME_LANES 1024u
/* The thread of a run's steps. Perfetto shows threads by their numbers, after the main
 * one; a thread of the system's that has this number gets another. */
#define GNOMON__CHROME_STEPS 1

/* ---- Processes and threads: chrome_ids.c ------------------------------------ */

typedef struct gnomon__chrome_ids {
    int64_t *runs;   /* pid of each run, by its number in its profile */
    int64_t *tracks; /* tid of each track */
    int64_t *pids;   /* pid of each track: its run's, or its device's */
    unsigned char *has_thread; /* of each run: else its steps are not shown */
    uint32_t *
        hosts; /* the track in whose row each one is: the thread, of the lane of
                        its calls; else itself */
} gnomon__chrome_ids;

/* Those of profile `which`; 0: no memory. Runs of different profiles have different
 * pids; `runs_before` is how many runs the profiles before it have. */
int gnomon__chrome_ids_begin(gnomon__chrome_ids *ids,
                             const gnomon__export *what, size_t which,
                             size_t runs_before);
void gnomon__chrome_ids_end(gnomon__chrome_ids *ids);
/* The tid of a track's further lane. */
int64_t gnomon__chrome_lane_tid(size_t track, uint32_t lane);

/* ---- Links: chrome_links.c -------------------------------------------------- */

typedef struct gnomon__chrome_links {
    struct gnomon__chrome_end *ends; /* by run and instance */
    size_t count;
    uint64_t *external; /* External id of each cause, by its flow's number */
    uint32_t *label;    /* the label around it; 0: none */
    unsigned char *has_call; /* a row of the host has its number */
    size_t flows;
    size_t alone;   /* rows of work that nothing launched, so far */
    uint64_t first; /* number of the first flow in the file */
} gnomon__chrome_links;

/* One end of a link. */
typedef struct gnomon__chrome_end {
    uint64_t instance; /* of its run */
    uint32_t run, link;
    uint32_t flow; /* from 0; all links from one cause of a kind are one flow */
    uint8_t kind;  /* gnomon_link_kind */
    uint8_t is_effect;
    uint8_t is_again; /* a cause that was listed already */
} gnomon__chrome_end;

int gnomon__chrome_links_begin(gnomon__chrome_links *l, const gnomon_profile *p,
                               uint64_t first);
void gnomon__chrome_links_end(gnomon__chrome_links *l);
/* The ends of links at this execution; *count: how many. */
const gnomon__chrome_end *gnomon__chrome_links_at(const gnomon__chrome_links *l,
                                                  const gnomon_profile *p,
                                                  const gnomon_event_info *e,
                                                  size_t *count);

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

typedef struct gnomon__chrome_nodes {
    gnomon__chrome_node *of; /* by number */
    size_t count;
} gnomon__chrome_nodes;

/* ---- Labels around: chrome_around.c --------------------------------------------- */

/* Operations and labels that are open on each track, innermost last. */
typedef struct gnomon__chrome_around {
    struct gnomon__chrome_labels *of; /* by track */
    size_t count;
} gnomon__chrome_around;

int gnomon__chrome_around_begin(gnomon__chrome_around *a, size_t tracks);
void gnomon__chrome_around_end(gnomon__chrome_around *a);
/* One begins; of a track in the order of their begins. 0: no memory. */
int gnomon__chrome_around_put(gnomon__chrome_around *a, size_t track,
                              const gnomon_event_info *e, uint64_t id);
/* The id of the innermost one at `begin`; 0: none. */
uint64_t gnomon__chrome_around_at(gnomon__chrome_around *a, size_t track,
                                  uint64_t begin);

/* ---- Labels that launched work: chrome_spans.c ------------------------------------- */

/* A label under which work was launched, and how long this lasted on each stream: from
 * the begin of the first to the end of the last. As much memory as labels launch. */
typedef struct gnomon__chrome_spans {
    struct gnomon__chrome_label *labels; /* from 1 */
    size_t label_count, label_room;
    struct gnomon__chrome_span *of; /* later by track and begin */
    size_t count, room;
    size_t *next; /* by track: the first that was not written */
} gnomon__chrome_spans;

/* Adds the label that is around (outermost: 0) to those which launch. 0: no memory. */
uint32_t gnomon__chrome_label_add(gnomon__chrome_spans *s, uint64_t id,
                                  uint32_t node, uint32_t around);
/* The innermost label at `begin`, in the list of those which launch; *label is 0 where
 * there is none. 0: no memory. */
int gnomon__chrome_around_label(gnomon__chrome_around *a,
                                gnomon__chrome_spans *s, size_t track,
                                uint64_t begin, uint32_t *label);
void gnomon__chrome_spans_end(gnomon__chrome_spans *s);

/* ---- Calls: chrome_calls.c ----------------------------------------------------------- */

/* Reads the lanes that are shown in a thread's row beside its events, so that both come
 * in the order of their begins. */
typedef struct gnomon__chrome_calls {
    struct gnomon__chrome_lane **of; /* by the thread's track; NULL: none */
    size_t count;
} gnomon__chrome_calls;

int gnomon__chrome_calls_begin(gnomon__chrome_calls *l, const gnomon_profile *p,
                               const gnomon__chrome_ids *ids);
/* The next call of the thread that began before `ns`; 0: none. */
int gnomon__chrome_calls_next(gnomon__chrome_calls *l, const gnomon_profile *p,
                              size_t track, uint64_t ns, gnomon_event_info *e,
                              size_t *number);
void gnomon__chrome_calls_end(gnomon__chrome_calls *l);

/* ---- The file ------------------------------------------------------------------ */

typedef struct gnomon__chrome {
    const gnomon__export *what;
    gnomon__export_text *t;
    uint64_t base; /* Unix ns: ts 0 */
    int is_first;  /* no row was written yet */
    /* Of the profile that is written now. */
    const gnomon_profile *p;
    gnomon__chrome_ids ids;
    gnomon__chrome_links links;
    gnomon__chrome_nodes nodes;
    gnomon__opens opens;
    gnomon__lanes lanes;
    gnomon__crossed crossed;
    gnomon__chrome_around around;
    gnomon__chrome_spans spans;
    gnomon__chrome_calls calls;
    uint64_t flows;         /* in the profiles before */
    size_t runs_before;     /* likewise */
    int has_memory;         /* an event of the profile is an allocation */
    uint64_t labels_before; /* how many External ids they may have */
    uint64_t *zero; /* Unix ns of each run's zero, less `base`; 0: any run's */
    uint64_t start, end; /* of all events, less `base` */
} gnomon__chrome;

/* The path's text, made when it is first needed; NULL: no memory. */
const gnomon__chrome_node *gnomon__chrome_node_at(gnomon__chrome *c,
                                                  uint32_t node);
/* Whether TensorBoard's plugin must not know the category of such a row. */
int gnomon__chrome_hides_collective(const char *category, const char *name);
int gnomon__chrome_nodes_begin(gnomon__chrome_nodes *n,
                               const gnomon_profile *p);
void gnomon__chrome_nodes_end(gnomon__chrome_nodes *n);

/* ---- Before and after the rows: chrome_head.c ------------------------------------ */

/* The file's first keys, up to the bracket of its rows. */
void gnomon__chrome_head(gnomon__chrome *c);
/* Rows that name the profile's processes and threads, before its events; and those
 * of lanes, after them. */
void gnomon__chrome_name_tracks(gnomon__chrome *c);
void gnomon__chrome_name_lanes(gnomon__chrome *c);

/* ---- Rows: chrome_row.c, chrome_memory.c, chrome_rows.c ------------------------- */

/* Begins a row: the comma and line before it. */
void gnomon__chrome_row(gnomon__chrome *c);
/* Where and when it is; `ns` counts from `base`. */
void gnomon__chrome_place(gnomon__chrome *c, int64_t pid, int64_t tid,
                          uint64_t ns);
/* Begins a row of a moment, up to its args; the caller closes them. */
void gnomon__chrome_moment(gnomon__chrome *c, size_t track, uint64_t ns,
                           const char *phase, const char *name);
/* Allocations and frees of the profile, with what is allocated after each. 0: no
 * memory. */
int gnomon__chrome_memory(gnomon__chrome *c);
/* All events of the profile, and steps. 0: no memory. */
int gnomon__chrome_rows(gnomon__chrome *c);
/* After the rows of hosts: how long labels are on streams, and then the rows of those of
 * a track that begin up to `ns`. 0: no memory. */
int gnomon__chrome_spans_find(gnomon__chrome *c);
int gnomon__chrome_spans_put(gnomon__chrome *c, size_t track, uint64_t ns);
/* The launch among the links of a row; NULL: none. */
const gnomon__chrome_end *gnomon__chrome_launch(const gnomon__chrome_end *ends,
                                                size_t count);
/* Whether the track is a device's: a stream, or a lane of graphs and the like. */
int gnomon__chrome_on_device(const gnomon_profile *p, size_t track);
/* Of the track's run, less `base`. */
uint64_t gnomon__chrome_zero(const gnomon__chrome *c, size_t track);

#endif
