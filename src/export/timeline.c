/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns what is read of a profile before its events: it grows with runs, tracks, links and
 * what was open; and, for each lane, the ends of the executions that are open on it,
 * innermost last, and the numbers of the scopes that their work crosses. Of memory, a heap
 * has each track's next event. */
#include "export/timeline.h"

#include <stdlib.h>

#include "export/text.h"
#include "print/order.h"

/* ---- Lanes ------------------------------------------------------------------------ */

typedef struct gnomon__lane {
    uint64_t *ends; /* descending */
    size_t open, room;
} gnomon__lane;

typedef struct gnomon__lane_track {
    gnomon__lane *lanes;
    size_t room;
    uint32_t count;
} gnomon__lane_track;

int gnomon__lanes_begin(gnomon__lanes *l, size_t count)
{
    l->tracks = calloc(count + 1, sizeof *l->tracks);
    l->count = l->tracks ? count + 1 : 0;
    return l->tracks != NULL;
}

static int push_lane(gnomon__lane *lane, uint64_t end)
{
    return GNOMON__PUSH(lane->ends, lane->room, lane->open, end);
}

/* Whether the execution nests in what is open on the lane. What is over leaves. */
static int lane_fits(gnomon__lane *lane, uint64_t begin, uint64_t end,
                     size_t most)
{
    while (lane->open && lane->ends[lane->open - 1] <= begin)
        lane->open--;
    return !lane->open ||
           (lane->ends[lane->open - 1] >= end && lane->open != most);
}

uint32_t gnomon__lanes_put(gnomon__lanes *l, size_t track, uint32_t first,
                           uint64_t begin, uint64_t end)
{
    gnomon__lane_track *t = &l->tracks[track < l->count ? track : 0];
    for (uint32_t i = first; i < t->count; i++)
        if (lane_fits(&t->lanes[i], begin, end, l->most))
            return push_lane(&t->lanes[i], end) ? i : GNOMON__NO_LANE;
    do {
        if (!GNOMON__PUSH(t->lanes, t->room, t->count, (gnomon__lane){0}))
            return GNOMON__NO_LANE;
    } while (t->count <= first);
    return push_lane(&t->lanes[t->count - 1], end) ? t->count - 1
                                                   : GNOMON__NO_LANE;
}

int gnomon__lanes_take(gnomon__lanes *l, size_t track, uint32_t lane,
                       uint64_t until, uint64_t *end)
{
    gnomon__lane *of = &l->tracks[track].lanes[lane];
    if (!of->open || of->ends[of->open - 1] > until)
        return 0;
    *end = of->ends[--of->open];
    return 1;
}

uint32_t gnomon__lanes_of(const gnomon__lanes *l, size_t track)
{
    return track < l->count ? l->tracks[track].count : 0;
}

void gnomon__lanes_end(gnomon__lanes *l)
{
    for (size_t i = 0; i < l->count; i++) {
        for (uint32_t k = 0; k < l->tracks[i].count; k++)
            free(l->tracks[i].lanes[k].ends);
        free(l->tracks[i].lanes);
    }
    free(l->tracks);
    *l = (gnomon__lanes){0};
}

/* ---- Scopes that their work crosses ---------------------------------------------- */

typedef struct gnomon__crossed_open {
    uint64_t end;
    size_t number;
} gnomon__crossed_open;

static void crossed_end(gnomon__crossed *c)
{
    free(c->is_timed);
    free(c->numbers);
    free(c->open);
    *c = (gnomon__crossed){0};
}

static int crossed_begin(gnomon__crossed *c, const gnomon_profile *p)
{
    size_t timed_nodes = 0;
    gnomon_node_info n;
    *c = (gnomon__crossed){.nodes = gnomon_profile_count(p, GNOMON_NODES)};
    c->is_timed = calloc(c->nodes + 1, 1);
    if (!c->is_timed)
        return 0;
    for (size_t i = 1; i <= c->nodes; i++)
        if (!gnomon_profile_node(p, i, &n) && n.flags & GNOMON_NODE_PART)
            timed_nodes += c->is_timed[i] = 1;
    if (!timed_nodes)
        crossed_end(c);
    return 1;
}

int gnomon__crossed_meet(gnomon__crossed *c, const gnomon_event_info *e,
                         size_t number)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    size_t kept = 0;
    int ok = 1;
    if (!c->is_timed || e->kind != GNOMON_EVENT_EXECUTION || e->node > c->nodes)
        return 1;
    int is_timed = c->is_timed[e->node];
    if (e->track != c->track)
        c->open_count = 0;
    c->track = e->track;
    for (size_t i = 0; ok && i < c->open_count; i++) {
        const gnomon__crossed_open *o = &c->open[i];
        if (o->end <= e->begin_ns)
            continue; /* it is over */
        if (!is_timed && o->end < end)
            ok = GNOMON__PUSH(c->numbers, c->room, c->count, o->number);
        else
            c->open[kept++] = *o;
    }
    c->open_count = kept;
    return ok &&
           (!is_timed || GNOMON__PUSH(c->open, c->open_room, c->open_count,
                                      (gnomon__crossed_open){end, number}));
}

GNOMON__ORDER(crossed_order, size_t, ITSELF)

void gnomon__crossed_ready(gnomon__crossed *c)
{
    GNOMON__SORT(c->numbers, c->count, crossed_order);
}

/* The first lane that the event may be in. */
static uint32_t crossed_lane(const gnomon__crossed *c,
                             const gnomon_event_info *e, size_t number)
{
    return c->count && e->node <= c->nodes && c->is_timed[e->node] &&
           bsearch(&number, c->numbers, c->count, sizeof number,
                   crossed_order) != NULL;
}

/* ---- What had not ended ----------------------------------------------------------- */

GNOMON__ORDER(compare_opens, gnomon_open_info, UP(track), UP(begin_ns),
              UP(reserved))

static int begin_opens(gnomon__opens *o, const gnomon_profile *p)
{
    size_t tracks = gnomon_profile_count(p, GNOMON_TRACKS);
    size_t count = gnomon_profile_count(p, GNOMON_OPENS);
    o->of = calloc(count + 1, sizeof *o->of);
    o->next = calloc(tracks + 2, sizeof *o->next);
    o->count = 0;
    if (!o->of || !o->next)
        return 0;
    for (size_t i = 0; i < count; i++) {
        (void)gnomon_profile_open(p, i + 1, &o->of[i]);
        o->of[i].reserved = (uint32_t)i; /* the outer one first, for the sort */
    }
    GNOMON__SORT(o->of, count, compare_opens);
    o->count = count;
    for (size_t i = count; i > 0; i--)
        o->next[o->of[i - 1].track] = i - 1;
    return 1;
}

/* ---- Links ------------------------------------------------------------------------ */

/* 0 for the first end of an execution; executions are numbered in each run anew. */
GNOMON__ORDER(compare_ends, gnomon__link_end, UP(run), UP(instance), UP(kind),
              UP(flow), UP(link), UP(is_effect))

static uint32_t run_of_node(const gnomon__timeline *of, uint32_t node)
{
    gnomon_node_info n;
    return !gnomon_profile_node(of->p, node, &n) && n.track <= of->track_count
               ? of->tracks[n.track].run
               : 0;
}

/* Of all links the causes; or, where `flow_of` says which flow each is, the effects. */
static size_t list_ends(gnomon__link_end *ends, const gnomon__timeline *of,
                        const uint32_t *flow_of, int by_causes)
{
    size_t n = 0;
    gnomon_link_info l;
    for (size_t i = 1; !gnomon_profile_link(of->p, i, &l); i++)
        if (l.from_instance && l.to_instance)
            ends[n++] = (gnomon__link_end){
                .instance = flow_of ? l.to_instance : l.from_instance,
                .run = run_of_node(of, flow_of ? l.to : l.from),
                .link = (uint32_t)i,
                .flow = flow_of ? flow_of[i] : 0,
                .kind = by_causes ? (uint8_t)l.kind : 0,
                .is_effect = flow_of != NULL};
    return n;
}

/* By causes these are in order, and equal ones, of a kind, are one flow. */
static size_t number_flows(gnomon__link_end *causes, size_t count,
                           uint32_t *flow_of, int by_causes)
{
    size_t flows = 0;
    for (size_t i = 0; i < count; i++) {
        int is_same = by_causes && i && causes[i].run == causes[i - 1].run &&
                      causes[i].instance == causes[i - 1].instance &&
                      causes[i].kind == causes[i - 1].kind;
        flows += !is_same;
        flow_of[causes[i].link] = (uint32_t)flows - 1;
        causes[i].flow = (uint32_t)flows - 1;
        causes[i].is_again = (uint8_t)is_same;
    }
    return flows;
}

static int begin_links(gnomon__links *l, const gnomon__timeline *of,
                       int by_causes)
{
    size_t links = gnomon_profile_count(of->p, GNOMON_LINKS);
    uint32_t *flow_of = calloc(links + 1, sizeof *flow_of);
    *l = (gnomon__links){.ends = calloc(2 * links + 1, sizeof *l->ends)};
    int ok = flow_of && l->ends;
    if (ok) {
        size_t causes = list_ends(l->ends, of, NULL, by_causes);
        if (by_causes)
            GNOMON__SORT(l->ends, causes, compare_ends);
        l->flows = number_flows(l->ends, causes, flow_of, by_causes);
        l->count = causes + list_ends(l->ends + causes, of, flow_of, by_causes);
        GNOMON__SORT(l->ends, l->count, compare_ends);
    }
    free(flow_of);
    return ok;
}

/* Whether the ends of that execution come after this one. */
static int is_after(const gnomon__link_end *end, uint32_t run,
                    uint64_t instance)
{
    return end->run != run ? end->run < run : end->instance < instance;
}

const gnomon__link_end *gnomon__links_at(gnomon__timeline *of,
                                         const gnomon_event_info *e,
                                         size_t *count)
{
    gnomon__links *l = &of->links;
    const uint32_t run = of->tracks[e->track].run;
    const uint64_t instance = e->instance;
    size_t low = 0, high = instance ? l->count : 0, last = l->last, step = 1;
    *count = 0;
    if (!high)
        return NULL;
    /* An execution's number is mostly a little above that of the one before. */
    if (is_after(&l->ends[last], run, instance)) {
        low = last + 1;
        for (; last + step < high &&
               is_after(&l->ends[last + step], run, instance);
             step *= 2)
            low = last + step + 1;
        high = last + step < high ? last + step : high;
    } else {
        high = last;
    }
    GNOMON__SEARCH(low, high, i, is_after(&l->ends[i], run, instance))
    l->last = low < l->count ? low : 0;
    while (low + *count < l->count && l->ends[low + *count].run == run &&
           l->ends[low + *count].instance == instance)
        ++*count;
    return l->ends + low;
}

int gnomon__links_is_late(const gnomon_profile *p, const gnomon__link_end *end,
                          const gnomon_event_info *effect, uint64_t *ns)
{
    gnomon_link_info l;
    if (!end->is_effect || gnomon_profile_link(p, end->link, &l))
        return 0;
    *ns = l.to_ns;
    return l.from_ns > effect->begin_ns && l.to_ns >= l.from_ns &&
           l.to_ns <= effect->begin_ns + effect->duration_ns;
}

/* ---- Runs and tracks ------------------------------------------------------------ */

static int is_pid_before(const gnomon__export *what, size_t which, int64_t pid)
{
    gnomon_run_info r;
    for (size_t i = 0; i < which; i++)
        for (size_t k = 1; !gnomon_profile_run(what->profiles[i], k, &r); k++)
            if (r.pid == pid)
                return 1;
    return 0;
}

GNOMON__ORDER(compare_pids, gnomon__timeline_run *const, AT(info.pid), ITSELF)

/* Viewers take processes of one number for the same, whatever their machine: so only
 * the first run with a number has it. */
static int find_timeline_runs(gnomon__timeline *l, const gnomon__export *what,
                              size_t which)
{
    gnomon__timeline_run **of = calloc(l->run_count + 1, sizeof *of);
    for (size_t i = 0; of && i < l->run_count; i++) {
        of[i] = &l->runs[i + 1];
        (void)gnomon_profile_run(l->p, i + 1, &of[i]->info);
    }
    if (of)
        GNOMON__SORT(of, l->run_count, compare_pids);
    for (size_t i = 0; of && i < l->run_count; i++) {
        const int64_t pid = of[i]->info.pid;
        if ((!i || of[i - 1]->info.pid != pid) &&
            !is_pid_before(what, which, pid))
            of[i]->pid = pid;
    }
    free(of);
    return of != NULL;
}

/* Threads come before lanes. */
GNOMON__ORDER(compare_tids, gnomon__timeline_track *const, AT(run),
              AT(info.os_id), AT(info.kind), ITSELF)

/* The first thread of a number gets it, and the first lane of that number is shown in
 * the thread's row. */
static void take_tids(gnomon__timeline *l, gnomon__timeline_track **of,
                      size_t count)
{
    gnomon__timeline_track *owner = NULL;
    for (size_t i = 0; i < count; i++) {
        const int is_lane = of[i]->info.kind == GNOMON_TRACK_LANE;
        if (!i || of[i]->run != of[i - 1]->run ||
            of[i]->info.os_id != of[i - 1]->info.os_id) {
            owner = is_lane ? NULL : of[i];
            of[i]->tid = is_lane ? 0 : of[i]->info.os_id;
        } else if (owner && is_lane) {
            of[i]->tid = owner->tid;
            of[i]->host = (uint32_t)(owner - l->tracks);
            owner = NULL;
        }
    }
}

static int find_timeline_tracks(gnomon__timeline *l)
{
    gnomon__timeline_track **of = calloc(l->track_count + 1, sizeof *of);
    size_t n = 0;
    for (size_t i = 1; of && i <= l->track_count; i++) {
        gnomon__timeline_track *k = &l->tracks[i];
        (void)gnomon_profile_track(l->p, i, &k->info);
        k->run = gnomon__timeline_run_of(l, k->info.run);
        k->host = (uint32_t)i;
        l->runs[k->run].has_thread |= k->info.kind == GNOMON_TRACK_THREAD;
        if ((k->info.kind == GNOMON_TRACK_THREAD ||
             k->info.kind == GNOMON_TRACK_LANE) &&
            k->info.os_id > GNOMON__STEPS_TID)
            of[n++] = k;
    }
    GNOMON__SORT(of, n, compare_tids);
    take_tids(l, of, n);
    free(of);
    return of != NULL;
}

int gnomon__timeline_begin(gnomon__timeline *l, const gnomon__export *what,
                           size_t which)
{
    const gnomon_profile *p = what->profiles[which];
    *l = (gnomon__timeline){.p = p,
                            .run_count = gnomon_profile_count(p, GNOMON_RUNS),
                            .track_count =
                                gnomon_profile_count(p, GNOMON_TRACKS)};
    l->runs = calloc(l->run_count + 1, sizeof *l->runs);
    l->tracks = calloc(l->track_count + 1, sizeof *l->tracks);
    if (!l->runs || !l->tracks)
        return 0;
    l->runs[0].info = (gnomon_run_info){
        .rank = -1, .local_rank = -1, .world_size = -1, .host = ""};
    return find_timeline_runs(l, what, which) && find_timeline_tracks(l);
}

int gnomon__timeline_draw(gnomon__timeline *l, size_t most, int by_causes)
{
    l->lanes.most = most;
    return gnomon__lanes_begin(&l->lanes, l->track_count + 1 + l->run_count) &&
           crossed_begin(&l->crossed, l->p) && begin_opens(&l->opens, l->p) &&
           begin_links(&l->links, l, by_causes);
}

void gnomon__timeline_end(gnomon__timeline *l)
{
    free(l->runs);
    free(l->tracks);
    gnomon__lanes_end(&l->lanes);
    crossed_end(&l->crossed);
    free(l->opens.of);
    free(l->opens.next);
    free(l->links.ends);
    *l = (gnomon__timeline){0};
}

uint32_t gnomon__timeline_lane(gnomon__timeline *l, size_t row,
                               const gnomon_event_info *e, size_t number,
                               uint64_t begin, uint64_t end)
{
    return gnomon__lanes_put(&l->lanes, row,
                             number ? crossed_lane(&l->crossed, e, number) : 0,
                             begin, end);
}

uint32_t gnomon__timeline_step(const gnomon__timeline *l, size_t number,
                               gnomon_step_info *step, const char **stage)
{
    gnomon_stage_info of = {.name = ""};
    *stage = "";
    if (gnomon_profile_step(l->p, number, step))
        return UINT32_MAX;
    (void)gnomon_profile_stage(l->p, step->stage, &of);
    *stage = of.name ? of.name : "";
    return gnomon__timeline_run_of(l, of.run);
}

int gnomon__timeline_on_device(const gnomon__timeline *l, size_t track)
{
    const gnomon_track_info *k = &l->tracks[track].info;
    return k->device >= 0 &&
           (k->kind == GNOMON_TRACK_STREAM || k->kind == GNOMON_TRACK_LANE);
}

uint64_t gnomon__timeline_zero(const gnomon__export *what)
{
    uint64_t zero = UINT64_MAX;
    gnomon_run_info run;
    for (size_t i = 0; i < what->count; i++)
        for (size_t k = 1; !gnomon_profile_run(what->profiles[i], k, &run); k++)
            zero = run.zero_unix_ns < zero ? run.zero_unix_ns : zero;
    return zero == UINT64_MAX ? 0 : zero;
}

/* ---- Events --------------------------------------------------------------------- */

void gnomon__event_cursor_all(gnomon__event_cursor *c,
                              const gnomon__export *what,
                              const gnomon_profile *p)
{
    c->what = what;
    c->is_of_track = 0;
    c->track = 0;
    gnomon__walk_all(&c->walk, p);
}

void gnomon__event_cursor_of(gnomon__event_cursor *c,
                             const gnomon__export *what,
                             const gnomon_profile *p, uint32_t track,
                             size_t first, size_t last)
{
    c->what = what;
    c->is_of_track = 1;
    gnomon__walk_from(&c->walk, p, first, last);
    gnomon__event_cursor_turn(c, track);
}

void gnomon__event_cursor_turn(gnomon__event_cursor *c, uint32_t track)
{
    gnomon_track_info k = {.run = 0};
    gnomon_run_info run = {.zero_unix_ns = 0};
    c->track = track;
    (void)gnomon_profile_track(c->walk.p, track, &k);
    (void)gnomon_profile_run(c->walk.p, k.run ? k.run : 1, &run);
    c->zero = run.zero_unix_ns;
}

/* ---- Memory ----------------------------------------------------------------------- */

typedef struct gnomon__memory_track {
    uint64_t zero, at;   /* `at`: of the next event */
    size_t number, last; /* of the next event and the last one */
    gnomon_event_info e; /* the next one */
} gnomon__memory_track;

static int is_earlier(const gnomon__memory_track *a,
                      const gnomon__memory_track *b)
{
    return a->at != b->at ? a->at < b->at : a->e.track < b->e.track;
}

/* Moves what is at `i` down to where it belongs. */
static void sink_memory(gnomon__memory *m, size_t i)
{
    const gnomon__memory_track moved = m->of[i];
    for (size_t child = 2 * i + 1; child < m->count; child = 2 * i + 1) {
        if (child + 1 < m->count &&
            is_earlier(&m->of[child + 1], &m->of[child]))
            child++;
        if (!is_earlier(&m->of[child], &moved))
            break;
        m->of[i] = m->of[child];
        i = child;
    }
    m->of[i] = moved;
}

int gnomon__memory_begin(gnomon__memory *m, const gnomon__timeline *of)
{
    size_t *place = calloc(of->track_count + 1, sizeof *place); /* from 1 */
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    *m = (gnomon__memory){.p = of->p,
                          .of = calloc(of->track_count + 1, sizeof *m->of)};
    const int ok = place && m->of;
    gnomon__walk_all(&walk, of->p);
    while (ok && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_MEMORY)
            continue;
        if (!place[e->track]) {
            const uint64_t zero =
                of->runs[of->tracks[e->track].run].info.zero_unix_ns;
            m->of[m->count] = (gnomon__memory_track){zero, zero + e->begin_ns,
                                                     walk.number, 0, *e};
            place[e->track] = ++m->count;
        }
        m->of[place[e->track] - 1].last = walk.number;
    }
    free(place);
    for (size_t i = m->count; i > 0; i--)
        sink_memory(m, i - 1);
    return ok;
}

void gnomon__memory_end(gnomon__memory *m)
{
    free(m->of);
    *m = (gnomon__memory){0};
}

int gnomon__memory_next(gnomon__memory *m, gnomon_event_info *e,
                        uint64_t *unix_ns)
{
    gnomon__memory_track *t = m->of;
    if (!m->count)
        return 0;
    *e = t->e;
    *unix_ns = t->at;
    do
        t->number++;
    while (t->number <= t->last &&
           (gnomon_profile_event(m->p, t->number, &t->e) ||
            t->e.kind != GNOMON_EVENT_MEMORY || t->e.track != e->track));
    t->at = t->zero + t->e.begin_ns;
    if (t->number > t->last)
        *t = m->of[--m->count];
    sink_memory(m, 0);
    return 1;
}
