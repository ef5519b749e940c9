/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records become entries, in place: an event needs as many bytes as its shortest record,
 * and what it has more is apart.
 *
 * A link names the scope that was open on a node at a moment, by its token. That scope
 * ends later, and its record comes later: so the token waits with the node until the
 * next execution of that node that began before the link. */
#include "record/tape_read.h"

#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/segments.h"

/* Tokens that wait, by node: as many as scopes of the thread are open and linked. */
typedef struct tape_waiting {
    struct waiting_token {
        uint32_t node; /* offset */
        uint32_t reserved;
        uint64_t at, token;
        uint64_t out; /* the first link from it; 0: none so far */
    } * of;
    size_t count, room;
} tape_waiting;

typedef struct tape_decoder {
    gnomon__tape_events *e;
    gnomon__tape_thread *t;
    const gnomon__thread *thread;
    tape_waiting waiting;
    size_t kept;
    gnomon__tape_place at; /* of the next record ... */
    uint32_t segment;      /* ... and when it was written */
    uint64_t from, until;  /* ticks: that segment */
    /* For a cycle: the first record of a later cycle, if there is one. The cursor goes
     * there; `ahead` events behind it are delivered. */
    gnomon__tape_place rest;
    int has_rest;
    uint64_t ahead;
    uint64_t seen;  /* events from the cursor to there */
    uint64_t again; /* of these, told by the last profile of this cursor */
    uint64_t late;  /* of these, of earlier stages, ... */
    uint64_t asked; /* ... and asked for */
    uint64_t last;  /* ticks: the latest begin so far */
    gnomon__tape_loss gap; /* the moments of events that were not found */
    int is_in_gap;
} tape_decoder;

/* ---- Segments ----------------------------------------------------------------------- */

/* In which it began; ranges perhaps on a thread that was cut at another moment. */
static uint32_t segment_of(const tape_decoder *d, const gnomon__tape_record *r)
{
    return GNOMON__TAPE_KIND(r->what) == GNOMON__TAPE_LONG && r->ticks
               ? r->ticks
               : d->segment;
}

static void find_segment(tape_decoder *d, uint32_t segment)
{
    const gnomon__past_segment *s = gnomon__segments_find(segment);
    d->segment = segment;
    d->from = s ? s->from
              : segment == load_relaxed(&gnomon__segment)
                  ? load_relaxed(&gnomon__segment_begin)
                  : 0;
    d->until = s ? s->until : UINT64_MAX;
}

/* The segment in which it began, where its moment is in another one: as threads are cut
 * one after the other, or at that very moment. */
static uint32_t segment_apart(const tape_decoder *d,
                              const gnomon__tape_record *r)
{
    const uint32_t segment = segment_of(d, r);
    return segment == d->segment && r->begin >= d->from && r->begin < d->until
               ? 0
               : segment;
}

/* The place of a block, or a cut: what follows is of this segment. */
static void begin_segment(tape_decoder *d, const gnomon__tape_record *r)
{
    const uint32_t now = load_relaxed(&gnomon__segment),
                   lower = r->what >> GNOMON__TAPE_SEGMENT,
                   all = UINT32_MAX >> GNOMON__TAPE_SEGMENT;
    find_segment(d, GNOMON__TAPE_KIND(r->what) == GNOMON__TAPE_CUT
                        ? r->ticks
                        : now - ((now - lower) & all));
}

/* ---- Nodes and tokens ----------------------------------------------------------- */

/* The number of the path of the node at this offset; 0: it is none. The tree may be
 * another's by now: what is read is checked by the reader of the profile. */
static uint32_t path_number(const gnomon__thread *t, uint32_t node)
{
    if (!node || (uint64_t)node + sizeof(gnomon__node) >
                     load_relaxed(&gnomon__marks_arena.used))
        return 0;
    uint32_t number = load_relaxed(&gnomon__node_at(t, node)->number);
    return number <= GNOMON__ENTRY_NUMBER(UINT32_MAX) ? number : 0;
}

/* `r` is a link's record, `token` that of the execution on its node. */
static int wait_for(tape_decoder *d, const gnomon__tape_record *r,
                    uint64_t token)
{
    tape_waiting *w = &d->waiting;
    const uint32_t node = GNOMON__TAPE_NODE(r->what);
    const int is_out = GNOMON__TAPE_KIND(r->what) == GNOMON__TAPE_LINK_OUT;
    struct waiting_token now = {.node = node, .at = r->begin, .token = token};
    size_t i = 0;
    while (i < w->count && w->of[i].node != node)
        i++;
    if (i < w->count && w->of[i].token == token)
        now.out = w->of[i].out; /* another one of it did not end */
    if (is_out && !now.out)
        now.out = r->begin;
    if (i == w->count)
        return GNOMON__ADD(w->of, w->room, w->count, now);
    w->of[i] = now;
    return 1;
}

/* What waits for the execution on this node, if something links to it or from it. */
static struct waiting_token waited_for(tape_decoder *d, uint32_t node,
                                       uint64_t begin, uint64_t ticks)
{
    tape_waiting *w = &d->waiting;
    for (size_t i = 0; i < w->count; i++) {
        const struct waiting_token found = w->of[i];
        if (found.node != node || found.at < begin || found.at - begin > ticks)
            continue;
        w->of[i] = w->of[--w->count];
        return found;
    }
    return (struct waiting_token){.token = 0};
}

/* ---- Entries --------------------------------------------------------------------- */

static void keep_entry(tape_decoder *d, uint64_t begin, uint32_t length,
                       uint32_t kind, uint32_t what)
{
    d->t->entries[d->kept++] =
        (gnomon__tape_entry){begin, length, kind << 30 | what};
}

static int keep_more(tape_decoder *d, uint64_t begin, uint32_t kind,
                     uint32_t path, gnomon__tape_more more)
{
    gnomon__tape_events *e = d->e;
    if (!GNOMON__ADD(e->more, e->more_room, e->more_count, more))
        return 0;
    keep_entry(d, begin, (uint32_t)e->more_count - 1, kind,
               path | GNOMON__ENTRY_MORE);
    return 1;
}

static int keep_named(tape_decoder *d, const struct waiting_token *of,
                      const gnomon__tape_record *r, uint32_t path)
{
    gnomon__tape_events *e = d->e;
    return GNOMON__ADD(e->named, e->named_room, e->named_count,
                       (gnomon__tape_named){of->token, r->begin, of->out,
                                            d->t->thread, path,
                                            segment_of(d, r), 0});
}

static int keep_execution(tape_decoder *d, const gnomon__tape_record *r,
                          uint64_t ticks, uint64_t token)
{
    uint32_t node = GNOMON__TAPE_NODE(r->what);
    uint32_t path = path_number(d->thread, node);
    const uint32_t apart = segment_apart(d, r);
    struct waiting_token linked = {.token = token};
    if (!token && d->waiting.count)
        linked = waited_for(d, node, r->begin, ticks);
    if (!path) {
        gnomon__tape_lose(&d->t->lost, 1, r->begin, r->begin + ticks);
        return 1;
    }
    if (linked.token && !keep_named(d, &linked, r, path))
        return 0;
    if (linked.token || ticks >> 32 || apart)
        return keep_more(d, r->begin, GNOMON_EVENT_EXECUTION, path,
                         (gnomon__tape_more){.length = ticks,
                                             .instance = linked.token,
                                             .segment = apart});
    keep_entry(d, r->begin, (uint32_t)ticks, GNOMON_EVENT_EXECUTION, path);
    return 1;
}

static int keep_link(tape_decoder *d, const gnomon__tape_record *r,
                     const uint64_t more[2])
{
    gnomon__tape_events *e = d->e;
    const uint32_t from = path_number(d->thread, GNOMON__TAPE_NODE(r->ticks)),
                   to = path_number(d->thread, GNOMON__TAPE_NODE(r->what));
    return wait_for(d, r, more[0]) &&
           GNOMON__ADD(e->links, e->link_room, e->link_count,
                       (gnomon__tape_link){more[0], more[1], r->begin,
                                           GNOMON__TAPE_KIND(r->ticks), from,
                                           to, d->segment});
}

static int keep_step(tape_decoder *d, const gnomon__tape_record *r,
                     const uint64_t more[2])
{
    gnomon__tape_events *e = d->e;
    return GNOMON__ADD(e->steps, e->step_room, e->step_count,
                       (gnomon__tape_step_read){more[1], r->begin, more[0]});
}

/* 0: no memory. */
static int decode_record(tape_decoder *d, const gnomon__tape_record *r,
                         const uint64_t more[2])
{
    gnomon__tape_more value = {.region = r->ticks,
                               .segment = segment_apart(d, r)};
    uint32_t path = path_number(d->thread, GNOMON__TAPE_NODE(r->what));
    switch (GNOMON__TAPE_KIND(r->what)) {
    case GNOMON__TAPE_SCOPE:
        return keep_execution(d, r, r->ticks, 0);
    case GNOMON__TAPE_LONG:
        return keep_execution(d, r, more[0], more[1]);
    case GNOMON__TAPE_MARK:
        return keep_more(d, r->begin, GNOMON_EVENT_MARK, path, value);
    case GNOMON__TAPE_SAMPLE:
        memcpy(&value.value, &more[0], sizeof value.value);
        value.instance = more[1];
        return keep_more(d, r->begin, GNOMON_EVENT_COUNTER, path, value);
    case GNOMON__TAPE_GAP:
        gnomon__tape_lose(&d->t->lost, 1, r->begin, r->begin);
        return 1;
    case GNOMON__TAPE_LINK_OUT:
        return wait_for(d, r, more[0]);
    case GNOMON__TAPE_LINK_IN:
        return keep_link(d, r, more);
    case GNOMON__TAPE_STEP:
        return keep_step(d, r, more);
    default:
        return 1;
    }
}

static int is_link_record(const gnomon__tape_record *r)
{
    uint32_t kind = GNOMON__TAPE_KIND(r->what);
    return kind == GNOMON__TAPE_LINK_OUT || kind == GNOMON__TAPE_LINK_IN;
}

/* ---- What is there, and what is missing ------------------------------------------ */

void gnomon__tape_lose(gnomon__tape_loss *loss, uint64_t count, uint64_t first,
                       uint64_t last)
{
    if (!count)
        return;
    last = last < first ? first : last; /* by clocks of two threads */
    if (!loss->count || first < loss->first)
        loss->first = first;
    if (!loss->count || last > loss->last)
        loss->last = last;
    loss->count += count;
}

/* So many behind `from` were not found: of blocks that are gone, else there was no room. */
static void lose_events(tape_decoder *d, uint64_t from, uint64_t missing)
{
    const uint64_t gone = d->t->gone > from ? d->t->gone - from : 0,
                   overwritten = gone < missing ? gone : missing;
    gnomon__tape_lose(&d->t->overwritten, overwritten, d->gap.first,
                      d->gap.last);
    gnomon__tape_lose(&d->t->lost, missing - overwritten, d->gap.first,
                      d->gap.last);
}

/* The records go on at this place: whether some before it are missing. */
static void look_for_gap(tape_decoder *d, uint64_t number)
{
    const gnomon__tape_cursor *c = &d->t->cursor;
    if (number <= d->at.number || number <= c->from.number || d->has_rest)
        return;
    if (!d->gap.first) {
        uint64_t since = c->from_at ? c->from_at : d->t->began;
        d->gap.first = d->last > since ? d->last : since;
    }
    d->is_in_gap = 1;
}

static void count_event(tape_decoder *d, int is_old, int is_asked)
{
    if (d->has_rest)
        d->ahead++;
    else
        d->seen++;
    d->again += is_old && d->at.number < d->t->cursor.to.number;
    d->late += (uint64_t)is_old;
    d->asked += (uint64_t)is_asked;
}

/* Whether it is of an earlier stage than those that the cursor has not told. */
static int began_before(const tape_decoder *d, const gnomon__tape_record *r)
{
    return gnomon__tape_is_of_stage(d->e->which)
               ? segment_of(d, r) < d->t->first_segment
               : r->begin < d->t->cursor.from_at;
}

/* Of a cycle, and of what is late. */
static int is_in_range(const tape_decoder *d, const gnomon__tape_record *r)
{
    const gnomon__tape_events *e = d->e;
    const uint32_t segment = segment_of(d, r);
    return gnomon__tape_is_late(e->which)
               ? segment >= e->first_segment && segment <= e->last_segment
               : r->begin >= e->from && r->begin < e->until;
}

/* Whether the profile has the record that is next. */
static int is_asked_for(tape_decoder *d, const gnomon__tape_record *r,
                        int is_range)
{
    const gnomon__tape_events *e = d->e;
    const gnomon__tape_thread *t = d->t;
    const int is_late = gnomon__tape_is_late(e->which),
              is_cycle = gnomon__tape_is_cycle(e->which),
              is_event = GNOMON__TAPE_IS_EVENT(r->what);
    const int is_old = began_before(d, r);
    int is_asked = is_old == is_late;
    if (gnomon__tape_is_before(d->at, t->cursor.from) ||
        (!t->is_live && !gnomon__tape_is_before(d->at, t->until)))
        return 0;
    if (d->is_in_gap)
        d->gap.last = r->begin;
    d->is_in_gap = 0;
    d->last = r->begin > d->last ? r->begin : d->last;
    if (is_cycle && r->begin >= e->until) {
        d->rest = d->has_rest ? d->rest : d->at;
        d->has_rest = 1;
        return 0;
    }
    if (is_cycle || is_late)
        is_asked &= is_in_range(d, r);
    if (is_event)
        count_event(d, is_old, is_asked);
    /* No profile could be made; or a range was open when its cycle was read, and is not
     * among what was open there. */
    if (is_cycle && !is_asked &&
        (!is_old || (is_range && d->at.number >= t->cursor.to.number)))
        gnomon__tape_lose(&d->t->lost, (uint64_t)is_event, r->begin, r->begin);
    return is_asked;
}

/* All events between two places that were not found are missing, except those that were
 * delivered before. */
static void tell_missing(tape_decoder *d)
{
    gnomon__tape_cursor *c = &d->t->cursor;
    const enum gnomon__tape_which which = d->e->which;
    if (d->t->is_live && gnomon__tape_is_before(d->t->until, d->at))
        d->t->until = d->at;
    const gnomon__tape_place to = d->has_rest ? d->rest : d->t->until;
    const uint64_t from = c->from.number, all = to.number - from;
    uint64_t missing = all - d->seen,
             told = c->told > d->again ? c->told - d->again : 0;
    look_for_gap(d, to.number);
    if (d->is_in_gap)
        d->gap.last = d->e->now;
    if (gnomon__tape_is_late(which)) {
        c->told += d->asked;
        missing = which == GNOMON__TAPE_LATE_LAST && all > c->told
                      ? all - c->told
                      : 0;
        c->told += missing;
        d->gap.first = c->from_at;
        d->gap.last = d->t->cut_at;
    } else if (which == GNOMON__TAPE_ON_TIME) {
        c->told = all - d->late;
    } else {
        missing -= told < missing ? told : missing;
        c->from = to;
        c->to = d->t->until;
        c->told = d->ahead;
        if (gnomon__tape_is_cycle(which))
            c->from_at = d->e->until;
    }
    lose_events(d, from, missing);
}

static void pass_record(tape_decoder *d, uint32_t what)
{
    const uint32_t is_event = GNOMON__TAPE_IS_EVENT(what);
    d->at.number += is_event;
    d->at.others += 1 + GNOMON__TAPE_MORE_OF(what) - is_event;
}

/* Entries replace the records that were read: there are never more. */
static int decode_thread(gnomon__tape_events *e, gnomon__tape_thread *t)
{
    tape_decoder d = {.e = e,
                      .t = t,
                      .thread = gnomon__threads[t->thread],
                      .at = t->cursor.from};
    size_t count = t->count;
    int ok = 1;
    for (size_t i = 0; ok && i < count;) {
        gnomon__tape_record r;
        uint64_t more[2] = {0, 0};
        memcpy(&r, &t->entries[i], sizeof r);
        if (GNOMON__TAPE_MORE_OF(r.what) && i + 1 < count)
            memcpy(more, &t->entries[i + 1], sizeof more);
        i += 1 + GNOMON__TAPE_MORE_OF(r.what);
        if (GNOMON__TAPE_KIND(r.what) == GNOMON__TAPE_PLACE) {
            look_for_gap(&d, r.begin);
            d.at = (gnomon__tape_place){r.begin, r.ticks, 0};
            begin_segment(&d, &r);
            continue;
        }
        if (GNOMON__TAPE_KIND(r.what) == GNOMON__TAPE_CUT)
            begin_segment(&d, &r);
        const int is_range =
            GNOMON__TAPE_KIND(r.what) == GNOMON__TAPE_LONG && more[1];
        int is_asked = is_asked_for(&d, &r, is_range);
        pass_record(&d, r.what);
        if (gnomon__tape_is_late(e->which) && is_link_record(&r))
            /* It names an execution; the link itself was given. */
            ok = wait_for(&d, &r, more[0]);
        else if (is_asked && r.begin >= e->since)
            ok = decode_record(&d, &r, more);
        else if (is_asked)
            gnomon__tape_lose(&t->overwritten, GNOMON__TAPE_IS_EVENT(r.what),
                              r.begin, r.begin);
    }
    if (ok && t->is_taped)
        tell_missing(&d);
    t->count = d.kept;
    gnomon__free(d.waiting.of);
    return ok;
}

GNOMON__ORDER(named_order, gnomon__tape_named, UP(token))

int gnomon__tape_decode(gnomon__tape_events *e)
{
    int ok = 1;
    for (size_t i = 0; ok && i < e->thread_count; i++)
        ok = decode_thread(e, &e->threads[i]) &&
             gnomon__tape_sort(e, &e->threads[i]);
    if (ok)
        GNOMON__SORT(e->named, e->named_count, named_order);
    return ok;
}

gnomon__tape_more *gnomon__entry_more(gnomon__tape_events *e,
                                      gnomon__tape_entry *entry)
{
    if (!(entry->what & GNOMON__ENTRY_MORE)) {
        if (!GNOMON__ADD(e->more, e->more_room, e->more_count,
                         (gnomon__tape_more){.length = entry->length}))
            return NULL;
        entry->length = (uint32_t)e->more_count - 1;
        entry->what |= GNOMON__ENTRY_MORE;
    }
    return &e->more[entry->length];
}

const gnomon__tape_named *gnomon__tape_find(const gnomon__tape_events *e,
                                            uint64_t token)
{
    const gnomon__tape_named key = {.token = token};
    return e->named_count && token ? bsearch(&key, e->named, e->named_count,
                                             sizeof key, named_order)
                                   : NULL;
}
