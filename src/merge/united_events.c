/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A cursor on the events of all parts at once, in the memory of a few blocks, whatever
 * their number.
 *
 * In each part the events of a track are in the order of their begins, and stay so under
 * new numbers. So for each track of the result, its tracks in the parts are merged by
 * begin. What began at one moment is collected and put in order by itself. */
#include "merge/united.h"

#include <stdlib.h>
#include <string.h>

#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"
#include "print/events.h"
#include "print/order.h"

#define CHUNK 1024u
/* More than so many at one moment of one track are put in order piece by piece. */
#define MOST_AT_ONCE (1u << 16)

/* A track in a part, and its next event. */
typedef struct event_cursor {
    const gnomon__event_part *of;
    uint32_t part;  /* from 1 */
    uint32_t track; /* in the part */
    uint32_t to;    /* in the result */
    const gnomon__event_track *has;
    size_t first; /* number of the first event of `to` in the result */
    gnomon__event_walk *walk; /* of the part, if its track is being read */
    int is_over;
    gnomon_event_info e; /* it, with the numbers of the result */
} event_cursor;

struct gnomon__united_events {
    gnomon__event_source base;
    gnomon__event_part *parts;
    size_t part_count, part_room;
    int are_readings;
    void (*move)(const void *context, gnomon_event_info *e);
    const void *context;
    event_cursor *cursors; /* by track of the result */
    size_t cursor_count;
    /* The thread that has set `locked` owns the rest. */
    uint32_t locked;
    size_t next;               /* number of the next event */
    size_t begin, end;         /* cursors of its track */
    gnomon__event_walk *walks; /* as many as a track has cursors at most */
    gnomon__table moment;      /* events that began together */
    size_t given;              /* of these */
};

/* ---- Parts ------------------------------------------------------------------------ */

static gnomon__united_events *events_of(gnomon__event_source *s)
{
    return (gnomon__united_events *)(void *)s;
}

static void free_source(gnomon__event_source *s)
{
    gnomon__events_free(events_of(s));
}

static void free_part(gnomon__event_part *part)
{
    gnomon_profile_free(part->own);
    gnomon__numbers_free(&part->of);
    gnomon__free(part->is_taken);
    gnomon__free(part->windows);
    gnomon__free(part->chunks);
    gnomon__free(part->tracks);
}

void gnomon__events_free(gnomon__united_events *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->part_count; i++)
        free_part(&s->parts[i]);
    gnomon__free(s->parts);
    gnomon__free(s->cursors);
    gnomon__free(s->walks);
    gnomon__free(s->moment.items);
    gnomon__free(s);
}

gnomon__event_part *gnomon__events_add(gnomon__united_events **s,
                                       const gnomon_profile *p)
{
    if (!*s && !(*s = gnomon__alloc(sizeof **s)))
        return NULL;
    if (!gnomon__grow(&(*s)->parts, &(*s)->part_room, (*s)->part_count + 1,
                      sizeof *(*s)->parts))
        return NULL;
    gnomon__event_part *part = &(*s)->parts[(*s)->part_count++];
    *part = (gnomon__event_part){.p = p};
    return part;
}

static const int numbered[] = {GNOMON_TRACKS, GNOMON_NODES};

static void follow_numbers(gnomon__event_part *part, const gnomon__numbers *on)
{
    for (size_t k = 0; k < sizeof numbered / sizeof *numbered; k++) {
        uint32_t *of = part->of.of[numbered[k]];
        for (size_t i = 1; of && i <= part->count[numbered[k]]; i++)
            of[i] = on->of[numbered[k]][of[i]];
    }
}

int gnomon__events_own(gnomon__united_events *s, gnomon_profile *p)
{
    gnomon__event_part *last = &s->parts[s->part_count - 1];
    const int is_last = last->p == p;
    last->own = is_last ? p : last->own;
    return is_last;
}

int gnomon__events_follow(gnomon__united_events *s,
                          gnomon__event_source *source)
{
    gnomon__united_events *from = events_of(source);
    gnomon__event_part last = s->parts[s->part_count - 1];
    if (!gnomon__grow(&s->parts, &s->part_room,
                      s->part_count + from->part_count, sizeof *s->parts))
        return gnomon__no_memory_to_merge();
    s->part_count--;
    for (size_t i = 0; i < from->part_count; i++) {
        follow_numbers(&from->parts[i], &last.of);
        s->parts[s->part_count++] = from->parts[i];
    }
    from->part_count = 0;
    free_part(&last);
    return GNOMON_OK;
}

/* ---- Which are in ------------------------------------------------------------------ */

/* Memory of a pool that no node counts stays. */
static int is_in_without_node(const gnomon__event_part *part,
                              const gnomon_event_info *e)
{
    size_t i = 0;
    if (part->is_taken && e->kind != GNOMON_EVENT_MEMORY &&
        !part->is_taken[e->region])
        return 0;
    while (i < part->window_count && (e->begin_ns < part->windows[i].begin_ns ||
                                      e->begin_ns > part->windows[i].end_ns))
        i++;
    return (i < part->window_count) != part->is_outside;
}

/* Gives it the numbers of the result. */
static void take_numbers(const gnomon__event_part *part, gnomon_event_info *e)
{
    const uint32_t *const *of = (const uint32_t *const *)part->of.of;
    e->track = of[GNOMON_TRACKS][e->track];
    e->node = of[GNOMON_NODES][e->node];
    e->region = of[e->kind == GNOMON_EVENT_MEMORY ? GNOMON_TRACKS
                                                  : GNOMON_REGIONS][e->region];
}

/* Whether the result has it. */
static int is_event_in(const gnomon__event_part *part,
                       const gnomon_event_info *e)
{
    gnomon_event_info to = *e;
    take_numbers(part, &to);
    return to.track && (e->node ? to.node != 0 : is_in_without_node(part, e)) &&
           (e->kind == GNOMON_EVENT_EXECUTION ? to.node : to.region) != 0;
}

static int index_part(gnomon__event_part *part)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    const size_t count = gnomon_profile_count(part->p, GNOMON_EVENTS);
    gnomon__event_chunk *at =
        gnomon__alloc((count / CHUNK + 1) * sizeof *part->chunks);
    part->tracks =
        gnomon__alloc((part->count[GNOMON_TRACKS] + 1) * sizeof *part->tracks);
    if (!(part->chunks = at) || !part->tracks)
        return gnomon__no_memory_to_merge();
    gnomon__walk_all(&walk, part->p);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        gnomon__event_track *has = &part->tracks[e->track];
        at = &part->chunks[(walk.number - 1) / CHUNK];
        if ((walk.number - 1) % CHUNK == 0)
            *at = (gnomon__event_chunk){e->track, e->track};
        at->low = e->track < at->low ? e->track : at->low;
        at->high = e->track > at->high ? e->track : at->high;
        if (!is_event_in(part, e))
            continue;
        has->begin_ns = has->count++ ? has->begin_ns : e->begin_ns;
        has->last_ns = e->begin_ns;
    }
    return walk.number == count
               ? GNOMON_OK
               : gnomon__unread_while_merged(gnomon__profile_failed(part->p));
}

/* Chunks that have no event of its track. */
static void pass_chunks(event_cursor *c)
{
    gnomon__event_walk *w = c->walk;
    while (w->number < w->last && w->number % CHUNK == 0) {
        const gnomon__event_chunk *at = &c->of->chunks[w->number / CHUNK];
        const size_t left = w->last - w->number;
        if (c->track >= at->low && c->track <= at->high)
            break;
        gnomon__walk_from(
            w, w->p, w->number + 1 + (left < CHUNK ? left : CHUNK), w->last);
    }
}

static int advance(event_cursor *c)
{
    const gnomon_event_info *e;
    while (pass_chunks(c), (e = gnomon__walk_next(c->walk)) != NULL) {
        if (e->track != c->track || !is_event_in(c->of, e))
            continue;
        c->e = *e;
        c->e.reserved = c->part;
        take_numbers(c->of, &c->e);
        return GNOMON_OK;
    }
    c->is_over = 1;
    return c->walk->number == c->walk->last
               ? GNOMON_OK
               : gnomon__unread_while_merged(gnomon__profile_failed(c->of->p));
}

/* ---- What began at one moment ----------------------------------------------------- */

/* If two events begin at the same time, the longer one comes first, because it
 * surrounds the shorter. */
static int compare_same_events(const void *left, const void *right)
{
    const gnomon_event_info *a = left, *b = right;
    gnomon_event_info copy = *a;
    copy.reserved = b->reserved;
    /* As most of several readings are, to the byte. */
    if (!memcmp((const char *)&copy, (const char *)b, sizeof copy))
        return 0;
    GNOMON__TRY_NUMBER(track);
    GNOMON__TRY_NUMBER(begin_ns);
    GNOMON__TRY(GNOMON__COMPARE(b->duration_ns, a->duration_ns));
    GNOMON__TRY_NUMBER(node);
    return gnomon__compare_keys(GNOMON_EVENTS, a, b);
}

GNOMON__ORDER(compare_events, gnomon_event_info, OF(compare_same_events(a, b)),
              UP(reserved))

void gnomon__leave_out_copies(gnomon__table *t,
                              int (*same)(const void *a, const void *b),
                              int (*order)(const void *a, const void *b))
{
    size_t kept = 0;
    for (size_t i = 0, end; i < t->count; i = end) {
        const char *first = t->items + i * t->size;
        size_t most = 0, of_one = 0;
        for (end = i; end < t->count; end++) {
            const char *item = t->items + end * t->size;
            if (same(first, item))
                break;
            of_one = end > i && !order(item - t->size, item) ? of_one + 1 : 1;
            most = of_one > most ? of_one : most;
        }
        for (size_t k = 0; k < most; k++)
            memmove(t->items + kept++ * t->size, first, t->size);
    }
    t->count = kept;
}

/* ---- One track of the result ----------------------------------------------------- */

/* The first cursor of the next track. */
static size_t end_of_track(const gnomon__united_events *s, size_t begin)
{
    size_t end = begin + 1;
    while (end < s->cursor_count && s->cursors[end].to == s->cursors[begin].to)
        end++;
    return end;
}

static int begin_track(gnomon__united_events *s, size_t begin)
{
    int code = GNOMON_OK;
    s->moment.count = s->given = 0;
    s->begin = begin;
    s->end = end_of_track(s, begin);
    for (size_t i = begin; !code && i < s->end; i++) {
        s->cursors[i].walk = &s->walks[i - begin];
        s->cursors[i].is_over = 0;
        gnomon__walk_all(s->cursors[i].walk, s->cursors[i].of->p);
        code = advance(&s->cursors[i]);
    }
    return code;
}

/* Takes the cursor's events that began at `begin`, as far as there is room. */
static int take_moment(gnomon__table *t, event_cursor *c, uint64_t begin)
{
    int code = GNOMON_OK;
    while (!code && !c->is_over && c->e.begin_ns == begin &&
           t->count < MOST_AT_ONCE) {
        if (!gnomon__grow(&t->items, &t->room, t->count + 1, t->size))
            return gnomon__no_memory_to_merge();
        memcpy(t->items + t->count++ * t->size, &c->e, t->size);
        code = advance(c);
    }
    return code;
}

/* The track's next moment; without events: it is over. */
static int next_moment(gnomon__united_events *s)
{
    uint64_t begin = UINT64_MAX;
    int code = GNOMON_OK;
    s->moment.count = s->given = 0;
    for (size_t i = s->begin; i < s->end; i++)
        if (!s->cursors[i].is_over && s->cursors[i].e.begin_ns < begin)
            begin = s->cursors[i].e.begin_ns;
    for (size_t i = s->begin; !code && i < s->end; i++)
        code = take_moment(&s->moment, &s->cursors[i], begin);
    gnomon__sort(s->moment.items, s->moment.count, s->moment.size,
                 compare_events);
    if (s->are_readings && s->moment.count > 1)
        gnomon__leave_out_copies(&s->moment, compare_same_events,
                                 compare_events);
    return code;
}

/* ---- Reading ----------------------------------------------------------------------- */

/* 1; 0: there is none; or an error. */
static int next_event(gnomon__united_events *s, gnomon_event_info *e)
{
    while (s->given == s->moment.count) {
        int code = next_moment(s);
        if (!code && !s->moment.count && s->end == s->cursor_count)
            return 0;
        if (!code && !s->moment.count)
            code = begin_track(s, s->end);
        if (code)
            return code;
    }
    *e = ((const gnomon_event_info *)(void *)s->moment.items)[s->given++];
    e->reserved = 0;
    s->next++;
    return 1;
}

static int seek_event(gnomon__united_events *s, size_t number)
{
    size_t low = 0, high = s->cursor_count;
    gnomon_event_info passed;
    /* The first cursor of a later track. */
    GNOMON__SEARCH(low, high, i, s->cursors[i].first <= number)
    while (--low && s->cursors[low - 1].first == s->cursors[low].first)
        ;
    s->next = s->cursors[low].first;
    int code = begin_track(s, low);
    while (!code && s->next < number)
        if ((code = next_event(s, &passed)) > 0)
            code = GNOMON_OK;
    return code;
}

static size_t read_united(gnomon__event_source *source, size_t number,
                          gnomon_event_info *events, size_t room)
{
    gnomon__united_events *s = events_of(source);
    size_t done = 0;
    uint32_t free = 0;
    while (!cas_acq_rel(&s->locked, &free, 1))
        free = 0;
    int code = number == s->next ? GNOMON_OK : seek_event(s, number);
    while (!code && done < room && (code = next_event(s, &events[done])) > 0) {
        if (s->move)
            s->move(s->context, &events[done]);
        done++;
        code = GNOMON_OK;
    }
    if (code < 0) {
        s->next = 0; /* the next one is looked for */
        store_relaxed(&source->failed, (uint32_t)-code);
    }
    store_release(&s->locked, 0);
    return done;
}

/* ---- The whole -------------------------------------------------------------------- */

GNOMON__ORDER(compare_cursors, event_cursor, UP(to), UP(part))

static int make_cursors(gnomon__united_events *s)
{
    size_t most = 0;
    int code = GNOMON_OK;
    for (size_t i = 0; i < s->part_count; i++)
        most += s->parts[i].count[GNOMON_TRACKS];
    s->cursors = gnomon__alloc((most + 1) * sizeof *s->cursors);
    if (!s->cursors)
        return gnomon__no_memory_to_merge();
    for (size_t i = 0; !code && i < s->part_count; i++) {
        gnomon__event_part *part = &s->parts[i];
        code = part->chunks ? GNOMON_OK : index_part(part);
        for (uint32_t t = 1; !code && t <= part->count[GNOMON_TRACKS]; t++)
            if (part->tracks[t].count)
                s->cursors[s->cursor_count++] =
                    (event_cursor){.of = part,
                                   .has = &part->tracks[t],
                                   .part = (uint32_t)i + 1,
                                   .track = t,
                                   .to = part->of.of[GNOMON_TRACKS][t],
                                   .e.struct_size = sizeof(gnomon_event_info)};
    }
    GNOMON__SORT(s->cursors, s->cursor_count, compare_cursors);
    return code;
}

/* Whether several readings may have one event of the track. */
static int is_shared_track(const event_cursor *first, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (first[i].has->begin_ns <= first[k].has->last_ns &&
                first[k].has->begin_ns <= first[i].has->last_ns)
                return 1;
    return 0;
}

/* Numbers the events of the track that begins there. */
static int count_track(gnomon__united_events *s, size_t begin)
{
    const size_t end = end_of_track(s, begin), before = s->base.count;
    int code = GNOMON_OK;
    for (size_t i = begin; i < end; i++) {
        s->cursors[i].first = before + 1;
        s->base.count += s->cursors[i].has->count;
    }
    if (!s->are_readings || !is_shared_track(&s->cursors[begin], end - begin))
        return GNOMON_OK;
    s->base.count = before;
    code = begin_track(s, begin);
    while (!code && !(code = next_moment(s)) && s->moment.count)
        s->base.count += s->moment.count;
    return code;
}

int gnomon__events_end(gnomon__united_events *s, const gnomon__numbers *n,
                       int are_readings)
{
    size_t most = 0;
    s->are_readings = are_readings;
    s->moment.size = sizeof(gnomon_event_info);
    for (size_t i = 0; i < s->part_count; i++)
        follow_numbers(&s->parts[i], n);
    int code = make_cursors(s);
    for (size_t i = 0; i < s->cursor_count; i = end_of_track(s, i))
        most = end_of_track(s, i) - i > most ? end_of_track(s, i) - i : most;
    if (!code && !(s->walks = gnomon__alloc((most + 1) * sizeof *s->walks)))
        code = gnomon__no_memory_to_merge();
    for (size_t i = 0; !code && i < s->cursor_count; i = end_of_track(s, i))
        code = count_track(s, i);
    s->base.read = read_united;
    s->base.free = free_source;
    return code;
}

gnomon__event_source *gnomon__events_source(gnomon__united_events *s)
{
    return &s->base;
}

void gnomon__events_move(gnomon__event_source *s,
                         void (*move)(const void *context,
                                      gnomon_event_info *e),
                         const void *context)
{
    events_of(s)->move = move;
    events_of(s)->context = context;
}
