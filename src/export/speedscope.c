/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* speedscope: a profile of speedscope's for each track, with each execution from its
 * begin to its end; of a profile without events one of the tree's self times.
 *
 * speedscope stops at an end that is not of what was opened last, and at a moment that
 * is before the last one. So executions that overlap are in profiles of their own,
 * lane by lane, and a track is read once for each of its lanes. The file has its
 * frames first, so nothing is kept but what is open. */
#include <stdlib.h>

#include "export/timeline.h"
#include "export/tree.h"
#include "print/order.h"

/* Which events are a track's executions; without events, which nodes are its. */
typedef struct speedscope_track {
    size_t first, last; /* numbers; 0: it has none */
} speedscope_track;

typedef struct speedscope_open {
    uint64_t end;
    uint32_t frame;
} speedscope_open;

typedef struct speedscope_export {
    gnomon__out *t;
    const gnomon__export *what;
    const gnomon_profile *p;
    gnomon__export_tree tree;
    speedscope_track *tracks;
    speedscope_open *open; /* on the lane, innermost last */
    size_t open_count, open_room;
    size_t frames, runs; /* of the profiles before this one */
    uint64_t zero;       /* of the file, in Unix ns */
    int has_runs, has_written, has_event;
} speedscope_export;

/* ---- Moments ------------------------------------------------------------------- */

static uint64_t speedscope_sum(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* ---- What has no events ---------------------------------------------------------- */

static void speedscope_head(const speedscope_export *x)
{
    const char *comma = "";
    gnomon__export_form(
        x->t,
        "{'$schema':'https://www.speedscope.app/file-format-schema.json',\n"
        "'exporter':'gnomon',\n'name':'gnomon, from %ju ns',\n"
        "'shared':{'frames':[",
        x->zero);
    for (size_t i = 0; i < x->what->count; i++) {
        gnomon_region_info r;
        size_t regions =
            gnomon_profile_count(x->what->profiles[i], GNOMON_REGIONS);
        for (size_t k = 1; k <= regions; k++, comma = ",") {
            if (gnomon_profile_region(x->what->profiles[i], k, &r))
                r.name = r.file = "";
            gnomon__export_form(x->t, "%s\n{'name':'%s'", comma, r.name);
            if (*r.file)
                gnomon__export_form(x->t, ",'file':'%s'", r.file);
            if (*r.file && r.line)
                gnomon__export_form(x->t, ",'line':%u", r.line);
            gnomon__out_literal(x->t, "}");
        }
    }
    gnomon__export_form(x->t, "]},\n'profiles':[");
}

static uint32_t speedscope_frame_of(const speedscope_export *x, uint32_t region)
{
    return (uint32_t)x->frames + region - 1;
}

/* ,"name":"rank 0 main (overlap 1)","unit":"nanoseconds" */
static void speedscope_name(speedscope_export *x, const char *type,
                            uint32_t track, uint32_t lane)
{
    gnomon_track_info of;
    gnomon_run_info run;
    char name[32], text[48];
    (void)gnomon_profile_track(x->p, track, &of);
    gnomon__export_form(x->t, "%s\n{'type':'%s','name':'",
                        x->has_written ? "," : "", type);
    x->has_written = 1;
    if (x->has_runs && gnomon_profile_run(x->p, of.run, &run) == GNOMON_OK)
        gnomon__export_form(
            x->t, "%s ", gnomon__export_run_name(name, &run, x->runs + of.run));
    gnomon__export_form(x->t, "%s", gnomon__export_track_name(text, &of));
    if (lane)
        gnomon__export_form(x->t, " (overlap %u)", lane);
    gnomon__export_form(x->t, "','unit':'nanoseconds'");
}

static void speedscope_ends(speedscope_export *x, uint64_t begin, uint64_t end)
{
    gnomon__export_form(x->t, "],'startValue':%ju,'endValue':%ju}", begin, end);
}

static void speedscope_stack(speedscope_export *x, uint32_t node)
{
    const uint32_t depth = x->tree.nodes[node].depth;
    const uint32_t *path = gnomon__export_path(&x->tree, node);
    gnomon__out_literal(x->t, "[");
    for (uint32_t i = 0; i < depth; i++)
        gnomon__export_form(x->t, "%s%u", i ? "," : "",
                            speedscope_frame_of(x, path[i]));
    gnomon__out_literal(x->t, "]");
}

/* Nodes of the track with self time. Returns their sum. With `is_written` their stacks
 * (1) or weights (2) are written. */
static uint64_t speedscope_nodes(speedscope_export *x, uint32_t track,
                                 int is_written)
{
    uint64_t sum = 0;
    for (size_t i = x->tracks[track].first; i && i <= x->tracks[track].last;
         i++) {
        uint32_t of;
        const uint64_t self = gnomon__export_self(&x->tree, (uint32_t)i, &of);
        if (!self || of != track || !x->tree.nodes[i].region)
            continue;
        if (is_written && sum)
            gnomon__out_literal(x->t, ",");
        if (is_written == 1)
            speedscope_stack(x, (uint32_t)i);
        else if (is_written)
            gnomon__out_number(x->t, self);
        sum = speedscope_sum(sum, self);
    }
    return sum;
}

static void speedscope_put_tree(speedscope_export *x, uint32_t track)
{
    const uint64_t sum = speedscope_nodes(x, track, 0);
    if (!sum)
        return;
    speedscope_name(x, "sampled", track, 0);
    gnomon__export_form(x->t, ",'samples':[");
    (void)speedscope_nodes(x, track, 1);
    gnomon__export_form(x->t, "],'weights':[");
    (void)speedscope_nodes(x, track, 2);
    speedscope_ends(x, 0, sum);
}

/* ---- Events -------------------------------------------------------------------- */

/* Whether it is an execution that can be shown. */
static int speedscope_takes(const speedscope_export *x,
                            const gnomon_event_info *e)
{
    return e->kind == GNOMON_EVENT_EXECUTION && e->node &&
           e->node <= x->tree.count && x->tree.nodes[e->node].region;
}

static void speedscope_found(speedscope_export *x, uint32_t track, size_t at)
{
    speedscope_track *t = &x->tracks[track];
    t->first = t->first ? t->first : at;
    t->last = at;
}

static void speedscope_find_tracks(speedscope_export *x)
{
    const size_t tracks = gnomon_profile_count(x->p, GNOMON_TRACKS);
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    x->tracks = calloc(tracks + 1, sizeof *x->tracks);
    x->has_event = 0;
    gnomon__export_needs(x->t, x->tracks);
    gnomon__walk_all(&walk, x->p);
    while (!x->t->code && (e = gnomon__walk_next(&walk)) != NULL)
        if (speedscope_takes(x, e) && e->track <= tracks) {
            speedscope_found(x, e->track, walk.number);
            x->has_event = 1;
        }
    for (uint32_t i = 1; !x->t->code && !x->has_event && i <= x->tree.count;
         i++) {
        uint32_t track;
        if (gnomon__export_self(&x->tree, i, &track))
            speedscope_found(x, track, i);
    }
}

static void speedscope_moment(speedscope_export *x, const char *head,
                              uint32_t frame, uint64_t at)
{
    gnomon__out_text(x->t, head);
    gnomon__out_number(x->t, frame);
    gnomon__out_literal(x->t, ",\"at\":");
    gnomon__out_number(x->t, at);
    gnomon__out_literal(x->t, "}");
}

static void speedscope_close(speedscope_export *x, uint64_t until)
{
    while (x->open_count && x->open[x->open_count - 1].end <= until) {
        const speedscope_open *o = &x->open[--x->open_count];
        speedscope_moment(x, ",\n{\"type\":\"C\",\"frame\":", o->frame, o->end);
    }
}

static void speedscope_put(speedscope_export *x, uint32_t frame, uint64_t begin,
                           uint64_t end, int is_first)
{
    speedscope_close(x, begin);
    gnomon__export_needs(x->t,
                         GNOMON__PUSH(x->open, x->open_room, x->open_count,
                                      (speedscope_open){end, frame}));
    speedscope_moment(x, &",\n{\"type\":\"O\",\"frame\":"[is_first], frame,
                      begin);
}

/* One lane of a track. Returns whether there is a further one. */
static int speedscope_lane(speedscope_export *x, uint32_t track, uint32_t lane)
{
    gnomon__lanes lanes = {.most = 0};
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    uint64_t from = 0, until = 0;
    int is_first = 1, more = 0;
    gnomon__export_needs(x->t, gnomon__lanes_begin(&lanes, 1));
    gnomon__event_cursor_of(&at, x->what, x->p, track, x->tracks[track].first,
                            x->tracks[track].last);
    while (!x->t->code && (e = gnomon__event_cursor_next(&at)) != NULL) {
        if (!speedscope_takes(x, e))
            continue;
        const uint64_t begin = speedscope_sum(at.zero - x->zero, e->begin_ns);
        const uint64_t end = speedscope_sum(begin, e->duration_ns);
        uint32_t of = gnomon__lanes_put(&lanes, 1, 0, begin, end);
        more |= of > lane;
        if (!gnomon__export_needs(x->t, of != GNOMON__NO_LANE) || of != lane)
            continue;
        if (is_first) {
            from = begin;
            speedscope_name(x, "evented", track, lane);
            gnomon__export_form(x->t, ",'events':[");
        }
        until = end > until ? end : until;
        speedscope_put(x, speedscope_frame_of(x, x->tree.nodes[e->node].region),
                       begin, end, is_first);
        is_first = 0;
    }
    speedscope_close(x, UINT64_MAX);
    if (!is_first)
        speedscope_ends(x, from, until);
    gnomon__lanes_end(&lanes);
    return more;
}

/* ---- The file -------------------------------------------------------------------- */

static void speedscope_profile(speedscope_export *x)
{
    const size_t tracks = gnomon_profile_count(x->p, GNOMON_TRACKS);
    if (gnomon__export_needs(x->t, gnomon__export_tree_begin(&x->tree, x->p)))
        speedscope_find_tracks(x);
    for (uint32_t i = 1; !x->t->code && i <= tracks; i++) {
        int more = x->has_event && x->tracks[i].first;
        if (!x->has_event)
            speedscope_put_tree(x, i);
        for (uint32_t lane = 0; !x->t->code && more; lane++)
            more = speedscope_lane(x, i, lane);
    }
    gnomon__export_tree_end(&x->tree);
    free(x->tracks);
    x->tracks = NULL;
    x->frames += gnomon_profile_count(x->p, GNOMON_REGIONS);
    x->runs += gnomon_profile_count(x->p, GNOMON_RUNS);
}

static int speedscope_write(const gnomon__export *what,
                            const gnomon_writer *out)
{
    speedscope_export x = {.t = gnomon__export_text_begin(out),
                           .what = what,
                           .zero = gnomon__timeline_zero(what),
                           .has_runs = gnomon__export_runs(what) > 1};
    if (!x.t)
        return GNOMON_ENOMEM;
    speedscope_head(&x);
    for (size_t i = 0; !x.t->code && i < what->count; i++) {
        x.p = what->profiles[i];
        speedscope_profile(&x);
    }
    free(x.open);
    gnomon__out_literal(x.t, "]}\n");
    return gnomon__export_text_end(x.t);
}

const gnomon__exporter gnomon__export_speedscope = {
    .name = "speedscope",
    .extension = ".speedscope.json",
    .about = "executions in time, for speedscope.app",
    .write = speedscope_write};
