/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* What marks write to a tape, off the hot path. On the owning thread, its word odd. */
#include "mark/tape.h"

#include <string.h>

#include "mark/hot.h"
#include "mark/observer.h"
#include "mark/position.h"
#include "platform/ticks.h"

/* A record with one further one. */
static void write_more(gnomon__thread *t, gnomon__tape *tape, uint64_t begin,
                       uint32_t ticks, uint32_t what, uint64_t a, uint64_t b)
{
    uint32_t is_event = GNOMON__TAPE_IS_EVENT(what);
    if (!gnomon__tape_room(t, tape, 1)) {
        if (is_event)
            gnomon__tape_skip(tape);
        return;
    }
    /* A reader sees both or none: `next` moves over both at once. */
    gnomon__tape_record *at = tape->next;
    uint64_t *more = (void *)(at + 1);
    store_relaxed(&at->begin, begin);
    store_relaxed(&at->ticks, ticks);
    store_relaxed(&at->what, what | GNOMON__TAPE_MORE);
    store_relaxed(&more[0], a);
    store_relaxed(&more[1], b);
    store_relaxed(&tape->others, tape->others + (is_event ? 1 : 2));
    store_release(&tape->next, at + 2);
}

/* An event of one record. */
static void write_one(gnomon__thread *t, gnomon__tape *tape, uint64_t begin,
                      uint32_t ticks, uint32_t what)
{
    if (gnomon__tape_room(t, tape, 0))
        gnomon__tape_write(tape, begin, ticks, what);
    else
        gnomon__tape_skip(tape);
}

void gnomon__tape_scope_slow(gnomon__thread *t, gnomon__tape *tape,
                             uint64_t begin, uint64_t ticks, uint32_t node)
{
    if ((int64_t)ticks < 0) /* the clock stepped back */
        ticks = 0;
    if (ticks >> 32)
        write_more(t, tape, begin, 0, node | GNOMON__TAPE_LONG, ticks, 0);
    else
        write_one(t, tape, begin, (uint32_t)ticks, node | GNOMON__TAPE_SCOPE);
}

/* The tree whose nodes the tape's records name; GNOMON__BITS: the thread has none. */
static uint32_t tree_beside(const gnomon__thread *t, uint32_t bit)
{
    uint32_t tree = load_relaxed(&gnomon__tape_pools[bit].tree);
    return t->tree_bits >> tree & 1 ? tree : GNOMON__BITS;
}

/* The node of an execution that the tree has just closed, off the hot path or as its
 * innermost; and in which segment that began. 0: it is not known, as inside an
 * "(other)". */
static uint32_t node_of_finished(gnomon__thread *t, uint32_t tree,
                                 const gnomon__finished *f, uint32_t *segment)
{
    *segment = t->segment;
    if (tree == GNOMON__BITS)
        return 0;
    const gnomon__tree *its = gnomon__tree_of(t, tree);
    const gnomon__cursor *c = gnomon__cursor_of(t, tree);
    const gnomon__front *last = gnomon__front_at(t, c->last);
    if (its->over_token == (f->token & ~GNOMON__TOKEN_FLAGS)) {
        *segment = its->over_segment;
        return its->over;
    }
    if (f->node && t->tree_bits == 1u << tree)
        return f->node;
    return last->key == f->key && last->parent == c->current ? c->last : 0;
}

static void tape_end(gnomon__thread *t, uint32_t bit, const gnomon__finished *f)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    uint32_t segment,
        node = node_of_finished(t, tree_beside(t, bit), f, &segment);
    if (!node)
        gnomon__tape_gap(tape, f->begin);
    else if (segment == t->segment)
        gnomon__tape_scope(t, tape, f->begin, f->end - f->begin, node);
    else
        write_more(t, tape, f->begin, segment, node | GNOMON__TAPE_LONG,
                   f->end > f->begin ? f->end - f->begin : 0, 0);
}

/* The tape is that of t->beside, and the node the one that the hot tree closed last. */
void gnomon__tape_ended(gnomon__thread *t, const gnomon__front *n,
                        uint64_t ticks)
{
    gnomon__tape_scope(t, (gnomon__tape *)t->beside, n->begin, ticks,
                       t->hot.last);
    gnomon__turn_even(t);
}

static void tape_range(gnomon__thread *t, uint32_t bit,
                       const gnomon__finished *f, uint32_t segment)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    uint32_t tree = tree_beside(t, bit), node = 0;
    if (tree < GNOMON__BITS)
        node = gnomon__tree_range(t, tree, f);
    if (node)
        write_more(t, tape, f->begin, segment, node | GNOMON__TAPE_LONG,
                   f->end > f->begin ? f->end - f->begin : 0, f->token);
    else
        gnomon__tape_gap(tape, f->begin);
}

/* The innermost open node of the tree beside it; 0: none. */
static uint32_t node_around(gnomon__thread *t, uint32_t bit)
{
    uint32_t tree = tree_beside(t, bit);
    return tree < GNOMON__BITS ? gnomon__cursor_of(t, tree)->current : 0;
}

static void tape_mark(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f)
{
    write_one(t, gnomon__tape_of(t, bit), f->begin, f->key,
              node_around(t, bit) | GNOMON__TAPE_MARK);
}

void gnomon__tape_memory(gnomon__thread *t, uint32_t bit, uint32_t key,
                         double bytes, uint64_t pointer)
{
    uint64_t bits;
    memcpy(&bits, &bytes, sizeof bits);
    write_more(t, gnomon__tape_of(t, bit), gnomon__ticks(), key,
               node_around(t, bit) | GNOMON__TAPE_SAMPLE, bits, pointer);
}

static void tape_sample(gnomon__thread *t, uint32_t bit, uint32_t key,
                        double value)
{
    gnomon__tape_memory(t, bit, key, value, 0);
}

static void tape_step(gnomon__thread *t, uint32_t bit,
                      const gnomon__stepped *done)
{
    if (done->open >> bit & 1)
        write_more(t, gnomon__tape_of(t, bit), done->begin, 0,
                   GNOMON__TAPE_STEP, done->end - done->begin, done->number);
}

/* The innermost open scope of the tree; its token to *token. */
static uint32_t open_scope(gnomon__thread *t, uint32_t bit, uint64_t *token)
{
    uint32_t node = node_around(t, bit);
    *token = node ? gnomon__front_at(t, node)->token & ~GNOMON__TOKEN_FLAGS : 0;
    return *token ? node : 0;
}

void gnomon__tape_link_out(gnomon__thread *t, uint32_t bit)
{
    gnomon__tape *tape = gnomon__tape_of(t, bit);
    uint64_t token;
    uint32_t node = open_scope(t, bit, &token);
    if (!node || tape->linked == token)
        return;
    tape->linked = token;
    write_more(t, tape, gnomon__ticks(), 0, node | GNOMON__TAPE_LINK_OUT, token,
               0);
}

void gnomon__tape_link_in(gnomon__thread *t, uint32_t bit, int kind,
                          uint32_t from, uint64_t token)
{
    uint64_t its;
    uint32_t node = open_scope(t, bit, &its);
    if (node)
        write_more(t, gnomon__tape_of(t, bit), gnomon__ticks(),
                   from | GNOMON__TAPE_KIND((uint32_t)kind),
                   node | GNOMON__TAPE_LINK_IN, its, token);
}

const gnomon__recorder gnomon__tape_recorder = {
    .name = "tape",
    .is_tape = 1,
    .adopt = gnomon__tape_adopt,
    .drop = gnomon__tape_drop,
    .end = tape_end,
    .ended = gnomon__tape_ended,
    .range = tape_range,
    .mark = tape_mark,
    .sample = tape_sample,
    .step = tape_step,
    .cut = gnomon__tape_cut,
    .kept_bytes = sizeof(gnomon__kept),
};
