/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records become entries, in place: an event needs as many bytes as its shortest record,
 * and what it has more is apart.
 *
 * A link names the scope that was open on a node at a moment, by its token. That scope
 * ends later, and its record comes later: so the token waits with the node until the
 * next execution of that node that began before the link. */
#include "record/tape_read.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"

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
} tape_decoder;

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
    if (i == w->count &&
        !gnomon__grow(&w->of, &w->room, ++w->count, sizeof *w->of))
        return 0;
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
    if (!gnomon__grow(&e->more, &e->more_room, e->more_count + 1,
                      sizeof *e->more))
        return 0;
    e->more[e->more_count] = more;
    keep_entry(d, begin, (uint32_t)e->more_count++, kind,
               path | GNOMON__ENTRY_MORE);
    return 1;
}

static int keep_named(tape_decoder *d, const struct waiting_token *of,
                      uint64_t begin, uint32_t path)
{
    gnomon__tape_events *e = d->e;
    if (!gnomon__grow(&e->named, &e->named_room, e->named_count + 1,
                      sizeof *e->named))
        return 0;
    e->named[e->named_count++] =
        (gnomon__tape_named){of->token, begin, of->out, d->t->thread, path};
    return 1;
}

static int keep_execution(tape_decoder *d, const gnomon__tape_record *r,
                          uint64_t ticks, uint64_t token)
{
    uint32_t node = GNOMON__TAPE_NODE(r->what);
    uint32_t path = path_number(d->thread, node);
    struct waiting_token linked = {.token = token};
    if (!token && d->waiting.count)
        linked = waited_for(d, node, r->begin, ticks);
    if (!path) {
        gnomon__tape_lose(&d->t->lost, 1, r->begin, r->begin + ticks);
        return 1;
    }
    if (linked.token && !keep_named(d, &linked, r->begin, path))
        return 0;
    if (linked.token || ticks >> 32)
        return keep_more(
            d, r->begin, GNOMON_EVENT_EXECUTION, path,
            (gnomon__tape_more){.length = ticks, .instance = linked.token});
    keep_entry(d, r->begin, (uint32_t)ticks, GNOMON_EVENT_EXECUTION, path);
    return 1;
}

static int keep_link(tape_decoder *d, const gnomon__tape_record *r,
                     const uint64_t more[2])
{
    gnomon__tape_events *e = d->e;
    if (!wait_for(d, r, more[0]) ||
        !gnomon__grow(&e->links, &e->link_room, e->link_count + 1,
                      sizeof *e->links))
        return 0;
    e->links[e->link_count++] =
        (gnomon__tape_link){more[0], more[1], r->begin, r->ticks, d->t->thread};
    return 1;
}

static int keep_step(tape_decoder *d, const gnomon__tape_record *r,
                     const uint64_t more[2])
{
    gnomon__tape_events *e = d->e;
    if (!gnomon__grow(&e->steps, &e->step_room, e->step_count + 1,
                      sizeof *e->steps))
        return 0;
    e->steps[e->step_count++] =
        (gnomon__tape_step_read){more[1], r->begin, more[0]};
    return 1;
}

/* 0: no memory. */
static int decode_record(tape_decoder *d, const gnomon__tape_record *r,
                         const uint64_t more[2])
{
    gnomon__tape_more value = {.region = r->ticks};
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
        return keep_more(d, r->begin, GNOMON_EVENT_COUNTER, path, value);
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

static int is_asked_for(const tape_decoder *d, const gnomon__tape_record *r,
                        size_t i)
{
    const gnomon__tape_events *e = d->e;
    gnomon__tape_thread *t = d->t;
    int is_in_time = r->begin >= e->from && r->begin < e->until;
    if (!gnomon__tape_is_of_stage(e->which) || i < t->early)
        return is_in_time && i >= t->early;
    int is_late = r->begin < t->stage.from_at;
    int asks_late = gnomon__tape_is_late(e->which);
    uint64_t one = is_late && GNOMON__TAPE_IS_EVENT(r->what);
    t->late += one;
    t->asked += asks_late && is_in_time ? one : 0;
    return is_in_time && is_late == asks_late;
}

/* Entries replace the records that were read: there are never more. */
static int decode_thread(gnomon__tape_events *e, gnomon__tape_thread *t)
{
    tape_decoder d = {.e = e, .t = t, .thread = gnomon__threads[t->thread]};
    size_t count = t->count;
    int ok = 1;
    for (size_t i = 0; ok && i < count;) {
        gnomon__tape_record r;
        uint64_t more[2] = {0, 0};
        size_t at = i;
        memcpy(&r, &t->entries[i], sizeof r);
        if (GNOMON__TAPE_MORE_OF(r.what) && i + 1 < count)
            memcpy(more, &t->entries[i + 1], sizeof more);
        i += 1 + GNOMON__TAPE_MORE_OF(r.what);
        if (gnomon__tape_is_late(e->which) && is_link_record(&r)) {
            /* It names an execution; the link itself was given. */
            ok = wait_for(&d, &r, more[0]);
            continue;
        }
        if (!is_asked_for(&d, &r, at))
            continue;
        if (r.begin >= e->since)
            ok = decode_record(&d, &r, more);
        else
            gnomon__tape_lose(&t->overwritten, GNOMON__TAPE_IS_EVENT(r.what),
                              r.begin, r.begin);
    }
    t->count = d.kept;
    gnomon__free(d.waiting.of);
    return ok;
}

static int named_order(const void *a, const void *b)
{
    const gnomon__tape_named *x = a, *y = b;
    return (x->token > y->token) - (x->token < y->token);
}

int gnomon__tape_decode(gnomon__tape_events *e)
{
    int ok = 1;
    for (size_t i = 0; ok && i < e->thread_count; i++)
        ok = decode_thread(e, &e->threads[i]) &&
             gnomon__tape_sort(e, &e->threads[i]);
    if (ok && e->named_count)
        qsort(e->named, e->named_count, sizeof *e->named, named_order);
    return ok;
}

const gnomon__tape_named *gnomon__tape_find(const gnomon__tape_events *e,
                                            uint64_t token)
{
    const gnomon__tape_named key = {.token = token};
    return e->named_count && token ? bsearch(&key, e->named, e->named_count,
                                             sizeof key, named_order)
                                   : NULL;
}
