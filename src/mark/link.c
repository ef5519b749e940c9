/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links: one path caused another. They are counted from path to path in the
 * tree of the calling thread, and hooks get them. On the calling thread. */
#include <string.h>

#include "gnomon/tool.h"
#include "mark/frame.h"
#include "mark/position.h"
#include "mark/tape.h"
#include "platform/owner.h"

#define FIRST_LINKS 32u /* edges in the first table: 1 KiB */
#define MAX_LINKS 65536u
#define LINK_NODES 4u /* at most so many trees have their node in a link */

/* What a link's words hold: the configuration, plus one; the innermost nodes of
 * the first trees, in the order of their bits; the thread; the innermost scope's
 * token. */
enum { LINK_EPOCH = 0, LINK_NODE = 1, LINK_THREAD = 5, LINK_TOKEN = 6 };

/* The innermost open scope, whoever saw it: tokens of a thread only grow. */
static uint64_t innermost_token(gnomon__thread *t)
{
    uint64_t token =
        t->frame_last ? gnomon__frame_at(t, t->frame_last)->seen.token : 0;
    gnomon__each_bit(bit, load_relaxed(&t->attached) & t->tree_bits) {
        uint32_t node = gnomon__cursor_of(t, bit)->current;
        uint64_t its = gnomon__front_at(t, node)->token & ~GNOMON__TOKEN_FLAGS;
        token = its > token ? its : token;
    }
    return token;
}

gnomon_link gnomon_link_out_slow(void)
{
    GNOMON__FORWARD(link_out());
    gnomon_link link = {{0}};
    if (gnomon__tls_now()->thread == &gnomon__no_thread)
        return link; /* a thread that never marked has no open scope */
    gnomon__thread *t = gnomon__enter(); /* refuses where it is busy */
    if (!t)
        return link;
    uint32_t i = LINK_NODE;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits, bit;
         i < LINK_NODE + LINK_NODES && gnomon__bit_next(&rest, &bit); i++) {
        uint32_t node = gnomon__cursor_of(t, bit)->current;
        if (node != gnomon__tree_of(t, bit)->root)
            link.word[i] = node;
    }
    link.word[LINK_EPOCH] = t->epoch + 1;
    link.word[LINK_THREAD] = t->number;
    uint64_t token = innermost_token(t);
    memcpy(&link.word[LINK_TOKEN], &token, sizeof token);
    gnomon__each_bit(tape, t->tape_bits & load_relaxed(&t->open_bits))
        gnomon__tape_link_out(t, tape);
    gnomon__leave(t);
    return link;
}

static uint64_t token_of_link(const gnomon_link *from)
{
    uint64_t token;
    memcpy(&token, &from->word[LINK_TOKEN], sizeof token);
    return token;
}

/* Its node in a tree; 0: that tree saw none. */
static uint32_t node_of_link(const gnomon__thread *t, const gnomon_link *from,
                             uint32_t tree)
{
    uint32_t i = LINK_NODE;
    gnomon__each_bit(bit, load_relaxed(&t->attached) & t->tree_bits) {
        if (bit == tree || i == LINK_NODE + LINK_NODES)
            break;
        i++;
    }
    return i < LINK_NODE + LINK_NODES ? from->word[i] : 0;
}

static uint32_t edge_slot(const gnomon__edge *edges, uint32_t room,
                          uint32_t from, uint32_t to, uint32_t kind)
{
    uint64_t h = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15ull + kind;
    uint32_t at = (uint32_t)(h >> 32) & (room - 1);
    while (edges[at].from && (edges[at].from != from || edges[at].to != to ||
                              edges[at].kind != kind))
        at = (at + 1) & (room - 1);
    return at;
}

/* Under the lock, as a reader clears the resting bank's counts in the table. */
static int grow_links(gnomon__thread *t, gnomon__tree *tree)
{
    uint32_t room = tree->link_room ? 2 * tree->link_room : FIRST_LINKS;
    if (room > MAX_LINKS)
        return 0;
    uint32_t at = gnomon__chunk_take(room * (uint32_t)sizeof(gnomon__edge),
                                     GNOMON__FOR_PATHS);
    if (!at)
        return 0;
    gnomon__edge *fresh = gnomon__at(t, at);
    const gnomon__edge *old = gnomon__at(t, tree->links);
    for (uint32_t i = 0; i < tree->link_room; i++)
        if (old[i].from) {
            gnomon__edge *e = &fresh[edge_slot(fresh, room, old[i].from,
                                               old[i].to, old[i].kind)];
            store_relaxed(&e->from, old[i].from);
            store_relaxed(&e->to, old[i].to);
            store_relaxed(&e->kind, old[i].kind);
            store_relaxed(&e->count[0], old[i].count[0]);
            store_relaxed(&e->count[1], old[i].count[1]);
        }
    if (tree->links)
        tree->link_old[tree->link_old_count++] = tree->links;
    /* The room after the table: a reader sees no more than there is. */
    store_release(&tree->links, at);
    store_release(&tree->link_room, room);
    return 1;
}

static void count_link(gnomon__thread *t, uint32_t bit, uint32_t from,
                       uint32_t kind)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    uint32_t to = gnomon__cursor_of(t, bit)->current;
    if (to == tree->root)
        return;
    if (4 * (tree->link_count + 1) > 3 * tree->link_room) {
        gnomon__lock();
        int has_grown = grow_links(t, tree);
        gnomon__unlock();
        if (!has_grown && tree->link_count + 1 >= tree->link_room) {
            gnomon__trouble(t, lost_links);
            return;
        }
    }
    gnomon__edge *edges = gnomon__at(t, tree->links);
    gnomon__edge *e = &edges[edge_slot(edges, tree->link_room, from, to, kind)];
    if (!e->from) {
        store_relaxed(&e->to, to);
        store_relaxed(&e->kind, kind);
        store_release(&e->from, from); /* who reads it reads them too */
        tree->link_count++;
    }
    bump_relaxed(&e->count[t->bank], 1);
}

static void call_link_hooks(gnomon__thread *t, const gnomon_link *from,
                            int kind)
{
    uint32_t hooks = load_relaxed(&t->open_bits) & ~t->recorder_bits;
    gnomon_link_event event = {.struct_size = sizeof event};
    if (!hooks)
        return;
    event.thread = t->number;
    event.kind = kind;
    event.from_thread = from->word[LINK_THREAD];
    event.from = token_of_link(from);
    event.to = innermost_token(t);
    event.ns = gnomon__now_for(t, hooks);
    event.step = load_relaxed(&gnomon__step_under_way);
    GNOMON__HOOKS_CALL(t, &t->open_bits, hooks, link, &event);
}

void gnomon_link_in_slow(const gnomon_link *from, int kind)
{
    GNOMON__FORWARD_VOID(link_in(from, kind));
    if (!from || !from->word[LINK_EPOCH])
        return;
    if (gnomon__tls_now()->thread == &gnomon__no_thread)
        return; /* no scope is open here */
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    uint32_t i = LINK_NODE, is_lost = 0;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits, bit;
         i < LINK_NODE + LINK_NODES && gnomon__bit_next(&rest, &bit); i++) {
        uint32_t node = from->word[i];
        /* A copy of an earlier configuration, or no copy of ours at all. */
        is_lost = from->word[LINK_EPOCH] != t->epoch + 1 || node & 63 ||
                  node >= load_relaxed(&gnomon__marks_arena.used);
        if (is_lost) {
            gnomon__trouble(t, lost_links);
            break;
        }
        if (node)
            count_link(t, bit, node, (uint32_t)kind);
    }
    gnomon__each_bit(tape,
                     is_lost ? 0 : t->tape_bits & load_relaxed(&t->open_bits)) {
        uint32_t tree = load_relaxed(&gnomon__tape_pools[tape].tree);
        gnomon__tape_link_in(t, tape, kind, node_of_link(t, from, tree),
                             token_of_link(from));
    }
    call_link_hooks(t, from, kind);
    gnomon__leave(t);
}
