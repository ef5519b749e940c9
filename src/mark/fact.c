/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts without a duration: counters, marks, links, names of threads, and the
 * health that all of them feed. On the calling thread, in its own trees. */
#include <string.h>

#include "mark/frame.h"
#include "mark/region.h"
#include "mark/tree.h"
#include "mark/upcall.h"
#include "platform/owner.h"
#include "platform/utf8.h"

#define MAX_COUNTERS 256u
#define FIRST_LINKS 32u /* edges in the first table: 1 KiB */
#define MAX_LINKS 65536u
#define LINK_NODES 4u /* trees whose place a link can name */

/* Enters for a fact; NULL: refused, or nobody wants it now. */
static gnomon__thread *enter_fact(uint32_t mask, uint32_t *m)
{
    if (mask && gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return NULL;
    }
    gnomon__thread *t = mask ? gnomon__enter() : NULL;
    if (!t)
        return NULL;
    *m = mask & load_relaxed(&t->gate);
    if (*m)
        return t;
    gnomon__leave(t);
    return NULL;
}

/* Ns of this moment, where a hook of `m` wants times; else 0. */
static uint64_t now_for(const gnomon__thread *t, uint32_t m)
{
    return m & t->time_bits & ~t->tree_bits ? gnomon__frame_ns(gnomon__ticks())
                                            : 0;
}

/* ---- Counters ---------------------------------------------------------------- */

static gnomon__counter *counter_of(gnomon__thread *t, uint32_t bit,
                                   uint32_t key)
{
    gnomon__tree *tree = &t->trees[bit];
    for (uint32_t at = tree->counters; at;) {
        gnomon__counter *c = gnomon__at(t, at);
        if (c->key == key)
            return c;
        at = c->next;
    }
    uint32_t at = tree->counter_count < MAX_COUNTERS
                      ? gnomon__tree_take(t, bit, 128, 0)
                      : 0;
    if (!at)
        return NULL;
    gnomon__counter *c = gnomon__at(t, at);
    store_relaxed(&c->key, key);
    store_relaxed(&c->next, tree->counters);
    store_release(&tree->counters, at);
    tree->counter_count++;
    gnomon__stage_mark(GNOMON__KEY_STAGE(key), gnomon__ticks());
    return c;
}

/* Doubles are stored through their bits: readers are on other threads. */
static void store_double(double *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    store_relaxed((uint64_t *)(void *)to, bits);
}

static void sample(gnomon__counter *c, double value)
{
    if (!c->count || value < c->min)
        store_double(&c->min, value);
    if (!c->count || value > c->max)
        store_double(&c->max, value);
    store_double(&c->sum, c->sum + value);
    store_double(&c->last, value);
    bump_relaxed(&c->count, 1);
}

void gnomon_counter_slow(gnomon_region *region, uint32_t mask, double value)
{
    uint32_t m;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD_VOID(counter(region, mask, value));
    gnomon__thread *t = enter_fact(mask, &m);
    if (!t)
        return;
    uint32_t key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t trees = m & t->tree_bits;
    for (uint32_t rest = trees; rest; rest &= rest - 1) {
        gnomon__counter *c = counter_of(t, (uint32_t)__builtin_ctz(rest), key);
        if (c)
            sample(c, value);
        else
            gnomon__trouble(t, lost_counters);
    }
    if (m & ~trees) {
        gnomon_counter_event event = {sizeof event,
                                      t->number,
                                      region,
                                      gnomon__region_name(region),
                                      value,
                                      now_for(t, m),
                                      load_relaxed(&gnomon__step_under_way)};
        GNOMON__HOOKS_TELL(t, &t->gate, m & ~trees, counter, &event);
    }
    gnomon__leave(t);
}

/* ---- Marks --------------------------------------------------------------------- */

void gnomon_mark_slow(gnomon_region *region, uint32_t mask)
{
    uint32_t m;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD_VOID(mark(region, mask));
    gnomon__thread *t = enter_fact(mask, &m);
    if (!t)
        return;
    uint32_t key = load_relaxed(&region->id) | load_relaxed(&t->stage_key);
    uint32_t trees = m & t->tree_bits;
    for (uint32_t rest = trees; rest; rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        uint32_t node = gnomon__tree_child(t, bit, key);
        if (node)
            gnomon__tree_count(t, bit, gnomon__node_at(t, node), 0);
    }
    if (m & ~trees) {
        gnomon_mark_event event = {
            sizeof event,  t->number,
            region,        gnomon__region_name(region),
            now_for(t, m), load_relaxed(&gnomon__step_under_way)};
        GNOMON__HOOKS_TELL(t, &t->gate, m & ~trees, mark, &event);
    }
    gnomon__leave(t);
}

/* ---- Links --------------------------------------------------------------------- */

/* What a link's words hold: the configuration, plus one; the innermost nodes of
 * the first trees, in the order of their bits; the thread; the innermost scope's
 * token. */
enum { LINK_EPOCH = 0, LINK_NODE = 1, LINK_THREAD = 5, LINK_TOKEN = 6 };

/* The innermost open scope, whoever saw it: tokens of a thread only grow. */
static uint64_t innermost_token(gnomon__thread *t)
{
    uint64_t token =
        t->frame_last ? gnomon__frame_at(t, t->frame_last)->seen.token : 0;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits; rest;
         rest &= rest - 1) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        uint32_t node = gnomon__cursor_of(t, bit)->current;
        uint64_t its = gnomon__node_at(t, node)->token & ~GNOMON__TOKEN_FLAGS;
        token = its > token ? its : token;
    }
    return token;
}

gnomon_link gnomon_link_out_slow(void)
{
    GNOMON__FORWARD(link_out());
    gnomon_link link = {{0}};
    if (gnomon__here.thread == &gnomon__nobody)
        return link; /* a thread that never marked is nowhere */
    gnomon__thread *t = gnomon__enter(); /* refuses where it is busy */
    if (!t)
        return link;
    uint32_t i = LINK_NODE;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits;
         rest && i < LINK_NODE + LINK_NODES; rest &= rest - 1, i++) {
        uint32_t bit = (uint32_t)__builtin_ctz(rest);
        uint32_t node = gnomon__cursor_of(t, bit)->current;
        if (node != t->trees[bit].root)
            link.word[i] = node;
    }
    link.word[LINK_EPOCH] = t->epoch + 1;
    link.word[LINK_THREAD] = t->number;
    uint64_t token = innermost_token(t);
    memcpy(&link.word[LINK_TOKEN], &token, sizeof token);
    gnomon__leave(t);
    return link;
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

static int grow_links(gnomon__thread *t, gnomon__tree *tree)
{
    uint32_t room = tree->link_room ? 2 * tree->link_room : FIRST_LINKS;
    if (room > MAX_LINKS)
        return 0;
    uint32_t at = gnomon__chunk_take(room * (uint32_t)sizeof(gnomon__edge), 0);
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
            store_relaxed(&e->count, old[i].count);
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
    gnomon__tree *tree = &t->trees[bit];
    uint32_t to = gnomon__cursor_of(t, bit)->current;
    if (to == tree->root)
        return;
    if (4 * (tree->link_count + 1) > 3 * tree->link_room &&
        !grow_links(t, tree) && tree->link_count + 1 >= tree->link_room) {
        gnomon__trouble(t, lost_links);
        return;
    }
    gnomon__edge *edges = gnomon__at(t, tree->links);
    gnomon__edge *e = &edges[edge_slot(edges, tree->link_room, from, to, kind)];
    if (!e->from) {
        store_relaxed(&e->to, to);
        store_relaxed(&e->kind, kind);
        store_relaxed(&e->from, from);
        tree->link_count++;
    }
    bump_relaxed(&e->count, 1);
}

static void tell_link(gnomon__thread *t, const gnomon_link *from, int kind)
{
    uint32_t hooks = load_relaxed(&t->gate) & ~t->tree_bits;
    gnomon_link_event event = {.struct_size = sizeof event};
    if (!hooks)
        return;
    event.thread = t->number;
    event.kind = kind;
    event.from_thread = from->word[LINK_THREAD];
    memcpy(&event.from, &from->word[LINK_TOKEN], sizeof event.from);
    event.to = innermost_token(t);
    event.ns = now_for(t, hooks);
    event.step = load_relaxed(&gnomon__step_under_way);
    GNOMON__HOOKS_TELL(t, &t->gate, hooks, link, &event);
}

void gnomon_link_in_slow(const gnomon_link *from, int kind)
{
    GNOMON__FORWARD_VOID(link_in(from, kind));
    if (!from || !from->word[LINK_EPOCH])
        return;
    if (gnomon__here.thread == &gnomon__nobody)
        return; /* no scope is open here */
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    uint32_t i = LINK_NODE;
    for (uint32_t rest = load_relaxed(&t->attached) & t->tree_bits;
         rest && i < LINK_NODE + LINK_NODES; rest &= rest - 1, i++) {
        uint32_t node = from->word[i];
        /* A copy of an earlier configuration, or no copy of ours at all. */
        if (from->word[LINK_EPOCH] != t->epoch + 1 || node & 127 ||
            node >= load_relaxed(&gnomon__marks_arena.used)) {
            gnomon__trouble(t, lost_links);
            break;
        }
        if (node)
            count_link(t, (uint32_t)__builtin_ctz(rest), node, (uint32_t)kind);
    }
    tell_link(t, from, kind);
    gnomon__leave(t);
}

/* ---- Names and health -------------------------------------------------------------- */

void gnomon_thread_name_n(const char *name, size_t length)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    if (!gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__nobody, reentered);
        return;
    }
    GNOMON__FORWARD_VOID(thread_name(name, length));
    if (!load_relaxed(&gnomon_gate))
        return; /* off: nothing is kept of threads */
    const char *clean = gnomon__region_name(gnomon__region_intern(
        gnomon__text_of(name, length),
        gnomon__text_of("thread name", GNOMON_TO_NUL), GNOMON_KIND_MARK));
    int known = gnomon__here.thread != &gnomon__nobody;
    gnomon__thread *t = known ? gnomon__enter() : gnomon__thread_enter(clean);
    if (!t)
        return;
    store_release(&t->name, clean);
    t->named = 1;
    uint32_t hooks = load_relaxed(&t->attached) & ~t->tree_bits;
    if (hooks) {
        gnomon_thread_event event = {sizeof event, t->number, clean, t->os_id};
        GNOMON__HOOKS_TELL(t, &t->attached, hooks, thread, &event);
    }
    gnomon__leave(t);
}

void gnomon_thread_name(const char *name)
{
    gnomon_thread_name_n(name, GNOMON_TO_NUL);
}

void gnomon_health_get(gnomon_health *health)
{
    GNOMON__FORWARD_VOID(health(health));
    gnomon_health all = {0};
    uint32_t total = load_acquire(&gnomon__thread_total);
    for (uint32_t i = 0; i <= total; i++) {
        const gnomon__thread *t =
            i < total ? load_acquire(&gnomon__threads[i]) : &gnomon__nobody;
        all.threads += i < total && load_relaxed(&t->alive);
#define ADD(field, text) all.field += load_relaxed(&t->health.field);
        GNOMON_HEALTH(ADD)
#undef ADD
    }
    all.mapped_bytes = load_relaxed(&gnomon__marks_arena.used);
    all.heap_bytes = gnomon__heap_bytes();
    uint32_t size = health->struct_size;
    if (size > sizeof all) {
        memset((char *)health + sizeof all, 0, size - sizeof all);
        memcpy(health, &all, sizeof all);
    } else {
        memcpy(health, &all, size);
    }
    health->struct_size = size;
}
