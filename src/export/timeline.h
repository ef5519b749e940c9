/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The timeline below all formats that are made of events: who the runs and tracks of a
 * profile are, its events on one time base, what had not ended, which executions belong
 * together, and memory. A format asks for what it writes; each part is begun and ended
 * by itself. Moments of the timeline are Unix ns. */
#ifndef GNOMON_EXPORT_TIMELINE_H
#define GNOMON_EXPORT_TIMELINE_H

#include "export/export.h"
#include "print/events.h"

/* ---- Lanes ------------------------------------------------------------------------ */

/* Viewers draw the executions of a row as nested boxes and drop one that overlaps another
 * partially. So each track has as many lanes as it needs for the executions of each to
 * nest; nearly always one. */
#define GNOMON__NO_LANE UINT32_MAX

typedef struct gnomon__lanes {
    struct gnomon__lane_track *tracks; /* by number */
    size_t count;
    size_t most; /* open at one time on a lane; 0: any number */
} gnomon__lanes;

/* All zero, for tracks 1 .. count. 0: no memory. */
int gnomon__lanes_begin(gnomon__lanes *l, size_t count);
/* The lane, from `first` on, of an execution. A track's executions come in the order of
 * their begins. GNOMON__NO_LANE: no memory. */
uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint32_t first,
                           uint64_t begin, uint64_t end);
/* Takes out the innermost open execution of a lane if it ends at `until` or before it:
 * for what writes begins and ends apart. 0: there is none, or it ends later. */
int gnomon__lanes_take(gnomon__lanes *l, size_t track, uint32_t lane,
                       uint64_t until, uint64_t *end);
/* How many lanes the track has so far. */
uint32_t gnomon__lanes_of(const gnomon__lanes *l, size_t track);
void gnomon__lanes_end(gnomon__lanes *l);

/* Events time a scope on a stream, and another clock the work: this may seem to end after
 * the scope in which it began. Such scopes are in the second lane, so that the work stays
 * in the first, with the rest of the stream's. Known are they when all events were met. */
typedef struct gnomon__crossed {
    unsigned char *is_timed; /* by node; NULL: none is */
    size_t nodes;
    size_t *numbers; /* of events */
    size_t count, room;
    struct gnomon__crossed_open
        *open; /* timed scopes, on the last event's track */
    size_t open_count, open_room;
    uint32_t track;
} gnomon__crossed;

/* Events are met in their order, by number. 0: no memory. */
int gnomon__crossed_meet(gnomon__crossed *c, const gnomon_event_info *e,
                         size_t number);
/* After all were met. */
void gnomon__crossed_ready(gnomon__crossed *c);

/* ---- What had not ended ----------------------------------------------------------- */

/* Scopes that were open, by track, in the order of their begins. */
typedef struct gnomon__opens {
    gnomon_open_info *of;
    size_t *next; /* by track: the first that was not given */
    size_t count;
} gnomon__opens;

/* The track's next open scope that began at `ns` of its run or before it; NULL: none. */
static inline const gnomon_open_info *
gnomon__opens_next(gnomon__opens *o, size_t track, uint64_t ns)
{
    size_t i = o->next[track];
    if (i >= o->count || o->of[i].track != track || o->of[i].begin_ns > ns)
        return NULL;
    o->next[track] = i + 1;
    return &o->of[i];
}

/* ---- Links ------------------------------------------------------------------------ */

/* One end of a link between executions. */
typedef struct gnomon__link_end {
    uint64_t instance; /* of its run */
    uint32_t run, link;
    uint32_t flow; /* from 0 */
    uint8_t kind;  /* gnomon_link_kind */
    uint8_t is_effect;
    uint8_t is_again; /* a cause that was listed already */
} gnomon__link_end;

typedef struct gnomon__links {
    gnomon__link_end *ends; /* by run and instance */
    size_t count, flows;
    size_t last; /* where ends were found last */
} gnomon__links;

/* ---- Runs and tracks ------------------------------------------------------------ */

/* Numbers of processes and threads that a format makes up are above all that systems
 * give out. This thread is that of a run's steps: viewers show threads by their numbers,
 * after the main one, and a thread of the system's with this number gets another. */
#define GNOMON__MADE_UP_PID 100000000
#define GNOMON__MADE_UP_TID 1000000000
#define GNOMON__STEPS_TID 1

/* A format replaces the numbers of processes and threads that it cannot use. */
typedef struct gnomon__timeline_run {
    gnomon_run_info info;
    int64_t pid;    /* the system's, of the first run that has it; 0: none */
    int has_thread; /* else its steps belong to nobody */
} gnomon__timeline_run;

typedef struct gnomon__timeline_track {
    gnomon_track_info info;
    uint32_t
        run; /* 0: the profile has none; what names no run is of the first */
    uint32_t
        host; /* whose row it is shown in: of calls the thread, else itself */
    int64_t pid,
        tid; /* tid: the system's, of the first thread that has it; 0: none */
} gnomon__timeline_track;

typedef struct gnomon__timeline {
    const gnomon_profile *p;
    size_t run_count, track_count;
    gnomon__timeline_run *runs;     /* by number; 0: where there is none */
    gnomon__timeline_track *tracks; /* by number */
    /* Of gnomon__timeline_draw(). */
    gnomon__lanes
        lanes; /* of tracks, and behind them of the steps of run 0, 1, ... */
    gnomon__crossed crossed;
    gnomon__opens opens;
    gnomon__links links;
} gnomon__timeline;

/* A run's number as it is here: what names none is of the first. */
static inline uint32_t gnomon__timeline_run_of(const gnomon__timeline *l,
                                               uint32_t run)
{
    return run && run <= l->run_count ? run : l->run_count > 0;
}

/* Of what->profiles[which]. 0: no memory; end it in any case. */
int gnomon__timeline_begin(gnomon__timeline *l, const gnomon__export *what,
                           size_t which);
/* On request, for what draws rows with arrows: lanes with at most `most` open at one time
 * (0: any number), what had not ended, and links, whose flows are each a link, or, by
 * causes, all links of a kind from one cause. 0: no memory. */
int gnomon__timeline_draw(gnomon__timeline *l, size_t most, int by_causes);
/* The lane of an execution, event `number` (0: it is none), in a row of `lanes`.
 * GNOMON__NO_LANE: no memory. */
uint32_t gnomon__timeline_lane(gnomon__timeline *l, size_t row,
                               const gnomon_event_info *e, size_t number,
                               uint64_t begin, uint64_t end);
/* Reads a step, and its stage, "" where it has no name. Its run; it is not there:
 * UINT32_MAX. */
uint32_t gnomon__timeline_step(const gnomon__timeline *l, size_t number,
                               gnomon_step_info *step, const char **stage);
void gnomon__timeline_end(gnomon__timeline *l);
/* Whether the track is a device's: a stream, or a lane of graphs and the like. */
int gnomon__timeline_on_device(const gnomon__timeline *l, size_t track);
/* The earliest zero of all runs of the export; 0: it has none. */
uint64_t gnomon__timeline_zero(const gnomon__export *what);

/* The ends of links at an execution, by flow, or by kind and flow; *count: how many. */
const gnomon__link_end *gnomon__links_at(gnomon__timeline *l,
                                         const gnomon_event_info *e,
                                         size_t *count);
/* Whether the effect began before the link went out, and is of a file that says when it
 * came in, *ns of its run: viewers draw no arrow to what began before its cause, as a wait
 * does, so it leads to an instant in it. */
int gnomon__links_is_late(const gnomon_profile *p, const gnomon__link_end *end,
                          const gnomon_event_info *effect, uint64_t *ns);

/* ---- Events --------------------------------------------------------------------- */

/* Reads the events that an export takes, in the order of the profile: of all tracks, or of
 * one. */
typedef struct gnomon__event_cursor {
    const gnomon__export *what;
    uint32_t track; /* of the event that was given last */
    int is_of_track;
    uint64_t zero;  /* of the track's run */
    uint64_t begin; /* of the event that was given last */
    gnomon__event_walk walk;
} gnomon__event_cursor;

void gnomon__event_cursor_all(gnomon__event_cursor *c,
                              const gnomon__export *what,
                              const gnomon_profile *p);
/* Of a track, from number `first` to `last`. */
void gnomon__event_cursor_of(gnomon__event_cursor *c,
                             const gnomon__export *what,
                             const gnomon_profile *p, uint32_t track,
                             size_t first, size_t last);
void gnomon__event_cursor_turn(gnomon__event_cursor *c, uint32_t track);

/* The next event, valid until the next call; its number is c->walk.number. NULL: there is
 * none, or it could not be read. */
static inline const gnomon_event_info *
gnomon__event_cursor_next(gnomon__event_cursor *c)
{
    const gnomon_event_info *e;
    while ((e = gnomon__walk_next(&c->walk)) != NULL) {
        if (e->track != c->track) {
            if (c->is_of_track)
                continue;
            gnomon__event_cursor_turn(c, e->track);
        }
        c->begin = c->zero + e->begin_ns;
        if (gnomon__export_takes(c->what, c->begin))
            break;
    }
    return e;
}

/* ---- Memory ----------------------------------------------------------------------- */

/* Allocations and frees, of all tracks in the order of time, and of equal moments in that
 * of tracks: many threads allocate from one pool. */
typedef struct gnomon__memory {
    const gnomon_profile *p;
    struct gnomon__memory_track *of; /* a heap, the earliest first */
    size_t count;
} gnomon__memory;

/* Reads all events, whatever the export takes: what a pool holds is a sum. 0: no memory. */
int gnomon__memory_begin(gnomon__memory *m, const gnomon__timeline *of);
void gnomon__memory_end(gnomon__memory *m);
/* Copies the next one, and its moment. 0: there is none. */
int gnomon__memory_next(gnomon__memory *m, gnomon_event_info *e,
                        uint64_t *unix_ns);

#endif
