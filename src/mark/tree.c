/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The shape of a thread's call tree: its memory, finding and making nodes. Runs
 * on the owning thread with its word odd, or under the lock where the header
 * says so. Nodes are never removed while the tree lives. */
#include "mark/position.h"

#include "mark/region.h"
#include "mark/segment.h"
#include "mark/tape.h"
#include "platform/ticks.h"

/* Bytes reserved for each parent without an "(other)": room for one, in a
 * chunk of its own. */
#define RESERVED 384u

#ifdef GNOMON_TESTING
uint32_t gnomon__test_depth = GNOMON__MAX_DEPTH,
         gnomon__test_paths = UINT32_MAX;
#define most_depth gnomon__test_depth
#define has_room_for_paths(tree) ((tree)->nodes < gnomon__test_paths)
#else
#define most_depth GNOMON__MAX_DEPTH
#define has_room_for_paths(tree) 1
#endif

static uint32_t make_node(gnomon__thread *t, gnomon__tree *tree,
                          uint32_t parent, uint32_t key, enum gnomon__need need)
{
    uint32_t at =
        gnomon__tree_take(t, tree, (uint32_t)sizeof(gnomon__node), need);
    if (!at)
        return 0;
    gnomon__node *n = gnomon__node_at(t, at);
    for (int bank = 0; bank < 2; bank++) {
        store_relaxed(&n->front[bank].min, GNOMON__NO_MIN);
        store_relaxed(&n->front[bank].parent, parent);
        store_relaxed(&n->front[bank].key, key);
    }
    store_relaxed(&n->thread, (uint16_t)t->number);
    if (parent)
        store_relaxed(&n->depth, gnomon__node_at(t, parent)->depth + 1);
    store_relaxed(&n->number, ++tree->made);
    store_relaxed(&n->older, tree->newest);
    store_relaxed(&tree->newest, at);
    fence_release(); /* before any cursor or list that leads a reader here */
    return at;
}

/* From its first child on a node may need an "(other)". */
static void reserve_other(gnomon__thread *t, uint32_t parent)
{
    gnomon__node *n = gnomon__node_at(t, parent);
    if (n->flags & GNOMON__NODE_PARENT)
        return;
    store_relaxed(&n->flags, (uint16_t)(n->flags | GNOMON__NODE_PARENT));
    add_relaxed(&gnomon__reserved_bytes, RESERVED);
}

static void release_other(gnomon__thread *t, uint32_t parent)
{
    gnomon__node *n = gnomon__node_at(t, parent);
    if (!(n->flags & GNOMON__NODE_PARENT))
        return;
    store_relaxed(&n->flags, (uint16_t)(n->flags & ~GNOMON__NODE_PARENT));
    sub_relaxed(&gnomon__reserved_bytes, RESERVED);
}

int gnomon__tree_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    uint32_t at = gnomon__tree_make(t);
    if (!at)
        return 0;
    gnomon__tree *tree = gnomon__at(t, at);
    tree->index =
        gnomon__tree_take(t, tree, 4 * GNOMON__FIRST_INDEX, GNOMON__FOR_PATHS);
    tree->index_count = GNOMON__FIRST_INDEX;
    uint32_t root = make_node(t, tree, 0, 0, GNOMON__FOR_PATHS);
    /* The first chunk has room for both. */
    tree->ranges = make_node(t, tree, root, 0, GNOMON__FOR_PATHS);
    store_relaxed(&gnomon__node_at(t, root)->flags, GNOMON__NODE_ROOT);
    store_relaxed(&gnomon__node_at(t, tree->ranges)->flags,
                  GNOMON__NODE_RANGES);
    reserve_other(t, root);
    reserve_other(t, tree->ranges);
    tree->is_fresh = 1;
    tree->segment[t->bank] = t->segment;
    tree->since[t->bank] = t->segment_begin;
    store_relaxed(&tree->cursor.current, root);
    store_relaxed(&tree->root, root);
    store_release(&t->states[bit], at); /* pairs with record/stack.c */
    store_release(&tree->generation, generation);
    return 1;
}

void gnomon__tree_drop(gnomon__thread *t, uint32_t bit)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    for (uint32_t at = tree->newest; at; at = gnomon__node_at(t, at)->older)
        release_other(t, at);
    store_relaxed(&tree->generation, 0);
    store_relaxed(&t->states[bit], 0);
    fence_release(); /* before its memory is another's */
    if (tree->index_count > GNOMON__FIRST_INDEX)
        gnomon__chunk_give(tree->index, 4 * tree->index_count);
    for (uint32_t at = tree->counters; at;) {
        gnomon__counter *c = gnomon__at(t, at);
        gnomon__bins_give(t, c, 0);
        gnomon__bins_give(t, c, 1);
        at = c->next;
    }
    uint32_t bytes = tree->link_room * (uint32_t)sizeof(gnomon__edge);
    if (tree->links)
        gnomon__chunk_give(tree->links, bytes);
    for (uint32_t i = tree->link_old_count; i-- > 0;)
        gnomon__chunk_give(tree->link_old[i], bytes >>= 1);
    gnomon__tree_give(t, tree);
}

/* ---- Finding ---------------------------------------------------------------- */

/* The entry of (parent, key) in a table of `mask` bytes, or the empty one where it
 * would stand. */
static uint32_t *index_entry(const gnomon__thread *t, uint32_t index,
                             uint32_t mask, uint32_t parent, uint32_t key)
{
    uint32_t at = gnomon__index_of(parent, key, mask);
    for (;; at = (at + 4) & mask) {
        uint32_t *entry = gnomon__at(t, index + at);
        if (!*entry)
            return entry;
        const gnomon__front *n = gnomon__front_at(t, *entry);
        if (n->parent == parent && n->key == key)
            return entry;
    }
}

void gnomon__index_use(gnomon__thread *t)
{
    t->index = GNOMON__NO_INDEX; /* an empty table: the slow path is taken */
    t->index -= t->bank * (uint32_t)sizeof(gnomon__front);
    t->index_mask = 0;
    if (t->hot_bit == GNOMON__BITS)
        return;
    const gnomon__tree *tree = gnomon__tree_of(t, t->hot_bit);
    if (tree->is_fresh)
        return;
    t->index = tree->index - t->bank * (uint32_t)sizeof(gnomon__front);
    t->index_mask = 4 * tree->index_count - 4;
}

/* Guarded: the table and its size belong together. */
static int grow_index(gnomon__thread *t, gnomon__tree *tree, uint32_t bit)
{
    uint32_t count = tree->index_count < 256 ? 256 : 2 * tree->index_count;
    uint32_t at = gnomon__chunk_take(4 * count, GNOMON__FOR_PATHS);
    if (!at)
        return 0;
    const uint32_t *old = gnomon__at(t, tree->index);
    for (uint32_t i = 0; i < tree->index_count; i++) {
        if (!old[i])
            continue;
        const gnomon__front *n = gnomon__front_at(t, old[i]);
        *index_entry(t, at, 4 * count - 4, n->parent, n->key) = old[i];
    }
    if (tree->index_count > GNOMON__FIRST_INDEX)
        gnomon__chunk_give(tree->index, 4 * tree->index_count);
    tree->index_count = count;
    tree->index = at;
    if (bit == t->hot_bit)
        gnomon__index_use(t);
    return 1;
}

uint32_t gnomon__tree_path(gnomon__thread *t, uint32_t bit, uint32_t parent,
                           uint32_t key)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    uint32_t *entry =
        index_entry(t, tree->index, 4 * tree->index_count - 4, parent, key);
    uint32_t node = *entry;
    if (node)
        return node;
    if (!has_room_for_paths(tree))
        return 0;
    if (4 * (tree->nodes + 1) > tree->index_count) {
        gnomon__guard();
        int has_grown = grow_index(t, tree, bit);
        gnomon__unguard();
        if (!has_grown)
            return 0;
        entry =
            index_entry(t, tree->index, 4 * tree->index_count - 4, parent, key);
    }
    node = make_node(t, tree, parent, key, GNOMON__FOR_PATHS);
    if (node) {
        *entry = node;
        tree->nodes++;
        reserve_other(t, parent);
    }
    return node;
}

/* The node that stands for all children of `parent` past a limit. It is in no
 * hash. */
static uint32_t other_child(gnomon__thread *t, gnomon__tree *tree,
                            uint32_t parent)
{
    uint32_t *other = &gnomon__node_at(t, parent)->other, node = *other;
    if (node)
        return node;
    node = make_node(t, tree, parent, GNOMON__OTHER_ID, GNOMON__FOR_OTHER);
    if (!node)
        return 0;
    release_other(t, parent);
    store_relaxed(&gnomon__node_at(t, node)->flags, GNOMON__NODE_OTHER);
    store_release(other, node);
    return node;
}

static uint32_t count_other(gnomon__thread *t, uint32_t node)
{
    if (node) {
        gnomon__trouble(t, other_nodes);
        return node;
    }
    gnomon__trouble(t, lost_scopes);
    return node;
}

/* A scope that begins inside an "(other)" counts as one of that node,
 * without time: its time is in that of the scope around it. */
static void count_inside_other(gnomon__thread *t, gnomon__tree *tree,
                               uint32_t node)
{
    gnomon__tree_count(t, tree, node, 0);
    if (gnomon__node_at(t, node)->depth > most_depth)
        gnomon__trouble(t, too_deep);
    else
        gnomon__trouble(t, other_nodes);
}

uint32_t gnomon__tree_child(gnomon__thread *t, uint32_t bit, uint32_t key)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    gnomon__node *current = gnomon__node_at(t, c->current);
    gnomon__front *line = gnomon__front_at(t, c->current);
    if (tree->is_fresh) {
        tree->is_fresh = 0;
        gnomon__segment_mark(t->segment, gnomon__ticks());
        gnomon__index_use(t);
    }
    if (current->flags & GNOMON__NODE_OTHER) {
        count_inside_other(t, tree, c->current);
        return 0;
    }
    /* The guess: what followed the last one below here. */
    gnomon__front *last = c->last ? gnomon__front_at(t, c->last) : NULL;
    uint32_t *followed =
        last && last->parent == c->current ? &last->next : &line->child;
    if (gnomon__front_at(t, *followed)->key == key)
        return *followed;
    if (current->depth >= most_depth) {
        gnomon__trouble(t, too_deep);
        return other_child(t, tree, c->current);
    }
    uint32_t node = gnomon__tree_path(t, bit, c->current, key);
    if (!node)
        return count_other(t, other_child(t, tree, c->current));
    store_relaxed(followed, node);
    return node;
}

uint32_t gnomon__tree_range(gnomon__thread *t, uint32_t bit,
                            const gnomon__finished *f)
{
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    const uint32_t *around = f->around ? gnomon__at(t, f->around) : NULL;
    uint32_t node = tree->ranges, above = node;
    for (uint32_t i = around ? *around : 0; node && i; i--) {
        above = node;
        node = gnomon__tree_path(t, bit, above, around[-(int)i]);
    }
    if (node)
        node = gnomon__tree_path(t, bit, above = node, f->key);
    return node ? node : other_child(t, tree, above);
}

uint32_t gnomon__tree_range_counted(gnomon__thread *t, uint32_t bit,
                                    const gnomon__finished *f)
{
    uint32_t node = gnomon__tree_range(t, bit, f);
    int is_other =
        !node || (gnomon__node_at(t, node)->flags & GNOMON__NODE_OTHER);
    return is_other ? count_other(t, node) : node;
}
