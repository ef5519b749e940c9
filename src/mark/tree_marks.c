/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The call tree's functions for the table of recorders: marks off the hot
 * path. On the owning thread, its word odd. */

#include <math.h>
#include <string.h>

#include "mark/callbacks.h"
#include "mark/segment.h"
#include "mark/position.h"
#include "platform/ticks.h"
#include "profile/strip.h"

#define MAX_COUNTERS 256u

/* ---- Scopes ------------------------------------------------------------------ */

int gnomon__tree_begin(gnomon__thread *t, uint32_t bit, uint32_t key,
                       uint64_t token)
{
    uint32_t node = gnomon__tree_child(t, bit, key);
    if (node)
        gnomon__node_open(gnomon__position_of(t, gnomon__tree_of(t, bit), bit),
                          node, gnomon__front_at(t, node), token,
                          GNOMON__SEEN_SLOW);
    return node != 0;
}

void gnomon__tree_begun(gnomon__thread *t, uint32_t bit, uint64_t ticks)
{
    uint32_t node = gnomon__cursor_of(t, bit)->current;
    store_relaxed(&gnomon__front_at(t, node)->begin, ticks);
}

void gnomon__tree_end(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f)
{
    uint32_t node = gnomon__tree_find(t, bit, f->token);
    if (node)
        gnomon__tree_close(t, bit, node, f->end);
}

static void tree_range(gnomon__thread *t, uint32_t bit,
                       const gnomon__finished *f, uint32_t segment)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    uint64_t ticks = f->end - f->begin;
    uint32_t node = gnomon__tree_range_counted(t, bit, f);
    if (!node)
        return;
    if (segment == t->segment ||
        !gnomon__tree_carry_range(t, tree, node, segment, ticks)) {
        if (segment != t->segment)
            gnomon__trouble(t, late_lost);
        gnomon__tree_add(t, tree, gnomon__cursor_of(t, bit), node, ticks);
    }
}

static void tree_mark(gnomon__thread *t, uint32_t bit,
                      const gnomon__finished *f)
{
    uint32_t node = gnomon__tree_child(t, bit, f->key);
    if (node)
        gnomon__tree_count(t, gnomon__tree_of(t, bit), node, 0);
}

/* ---- Counters ---------------------------------------------------------------- */

static gnomon__counter *counter_of(gnomon__thread *t, gnomon__tree *tree,
                                   uint32_t key)
{
    for (uint32_t at = tree->counters; at;) {
        gnomon__counter *c = gnomon__at(t, at);
        if (c->key == key)
            return c;
        at = c->next;
    }
    uint32_t at = tree->counter_count < MAX_COUNTERS
                      ? gnomon__tree_take(t, tree, 128, GNOMON__FOR_PATHS)
                      : 0;
    if (!at)
        return NULL;
    gnomon__counter *c = gnomon__at(t, at);
    store_relaxed(&c->key, key);
    store_relaxed(&c->next, tree->counters);
    store_release(&tree->counters, at);
    tree->counter_count++;
    return c;
}

/* NaNs are counted apart: one NaN would make the sum and both bounds NaN. */
static void tree_sample(gnomon__thread *t, uint32_t bit, uint32_t key,
                        double value)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__counter *c = counter_of(t, tree, key);
    if (tree->is_fresh)
        gnomon__segment_mark(t->segment, gnomon__ticks());
    if (!c) {
        gnomon__trouble(t, lost_counters);
        return;
    }
    const uint64_t step = load_relaxed(&gnomon__steps_over);
    gnomon__sums_of_samples *s = &c->bank[t->bank];
    if (isnan(value)) {
        bump_relaxed(&s->nans, 1);
        return;
    }
    if (step)
        gnomon__bins_count(t, c, step, value);
    if (!s->count || value < s->min)
        gnomon__store_double(&s->min, value);
    if (!s->count || value > s->max)
        gnomon__store_double(&s->max, value);
    gnomon__store_double(&s->sum, s->sum + value);
    gnomon__store_double(&s->last, value);
    bump_relaxed(&s->count, 1);
}

/* ---- The table ----------------------------------------------------------------- */

const gnomon__recorder gnomon__tree_recorder = {
    .name = "tree",
    .is_tree = 1,
    .adopt = gnomon__tree_adopt,
    .drop = gnomon__tree_drop,
    .cut = gnomon__tree_cut,
    .range = tree_range,
    .mark = tree_mark,
    .sample = tree_sample,
    .kept_bytes = sizeof(gnomon__kept),
};
