/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The shape of a thread's call tree: its memory, finding and making nodes. Runs
 * on the owning thread with its word odd, or under the lock where the header
 * says so. Nodes are never removed while the tree lives. */
#include "mark/tree.h"

#include "mark/region.h"

#define CHUNK 16384u
#define BUCKETS 256u /* a chunk of 1 KiB */

static uint64_t stage_first[GNOMON__MAX_STAGES + 1];

void gnomon__stage_mark(uint32_t ordinal, uint64_t ticks)
{
    uint64_t seen = load_relaxed(&stage_first[ordinal]);
    ticks++; /* kept one too high: 0 is "none" */
    while ((!seen || ticks < seen) &&
           !cas_acq_rel(&stage_first[ordinal], &seen, ticks))
        ;
}

int gnomon__stage_first(uint32_t ordinal, uint64_t *ticks)
{
    uint64_t first = load_acquire(&stage_first[ordinal]);
    *ticks = first - 1;
    return first != 0;
}

void gnomon__stage_forget(void)
{
    for (uint32_t i = 0; i <= GNOMON__MAX_STAGES; i++)
        if (load_relaxed(&stage_first[i]))
            store_relaxed(&stage_first[i], 0);
}

/* ---- Memory ---------------------------------------------------------------- */

uint32_t gnomon__tree_take(gnomon__thread *t, uint32_t bit, uint32_t bytes,
                           int spare)
{
    gnomon__tree *tree = &t->trees[bit];
    if (tree->free_end - tree->free < bytes) {
        uint32_t chunk = gnomon__chunk_take(CHUNK, spare);
        if (!chunk)
            return 0;
        uint32_t *below = gnomon__at(t, chunk);
        *below = tree->chunks;
        tree->chunks = chunk;
        tree->free = chunk + 128;
        tree->free_end = chunk + CHUNK;
    }
    uint32_t at = tree->free;
    tree->free += bytes;
    return at;
}

static uint32_t make_node(gnomon__thread *t, uint32_t bit, uint32_t parent,
                          uint32_t key, int spare)
{
    uint32_t at = gnomon__tree_take(t, bit, sizeof(gnomon__node), spare);
    if (!at)
        return 0;
    gnomon__node *n = gnomon__node_at(t, at);
    store_relaxed(&n->min, GNOMON__NO_MIN);
    store_relaxed(&n->parent, parent);
    store_relaxed(&n->key, key);
    if (parent)
        store_relaxed(&n->depth, gnomon__node_at(t, parent)->depth + 1);
    gnomon__tree *tree = &t->trees[bit];
    store_relaxed(&n->older, tree->newest);
    store_release(&tree->newest, at);
    return at;
}

int gnomon__tree_make(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    gnomon__tree *tree = &t->trees[bit];
    uint32_t root = make_node(t, bit, 0, 0, 0);
    uint32_t ranges = root ? make_node(t, bit, root, 0, 0) : 0;
    tree->bucket_count = BUCKETS;
    tree->buckets = ranges ? gnomon__chunk_take(4 * BUCKETS, 0) : 0;
    if (!tree->buckets) {
        gnomon__tree_drop(t, bit);
        return 0;
    }
    store_relaxed(&gnomon__node_at(t, root)->flags, GNOMON__NODE_ROOT);
    store_relaxed(&gnomon__node_at(t, ranges)->flags, GNOMON__NODE_RANGES);
    tree->ranges = ranges;
    gnomon__cursor_set(t, gnomon__cursor_of(t, bit), root);
    store_relaxed(&tree->root, root);
    store_release(&tree->generation, generation);
    return 1;
}

void gnomon__tree_drop(gnomon__thread *t, uint32_t bit)
{
    gnomon__tree *tree = &t->trees[bit];
    store_release(&tree->generation, 0);
    uint32_t chunk = tree->chunks;
    while (chunk) {
        uint32_t below = *(uint32_t *)gnomon__at(t, chunk);
        gnomon__chunk_give(chunk, CHUNK);
        chunk = below;
    }
    if (tree->buckets)
        gnomon__chunk_give(tree->buckets, 4 * tree->bucket_count);
    uint32_t bytes = tree->link_room * (uint32_t)sizeof(gnomon__edge);
    if (tree->links)
        gnomon__chunk_give(tree->links, bytes);
    for (uint32_t i = tree->link_old_count; i-- > 0;)
        gnomon__chunk_give(tree->link_old[i], bytes >>= 1);
    /* Word by word: readers may be looking. */
    for (size_t i = 0; i < sizeof *tree / sizeof(uint32_t); i++)
        store_relaxed((uint32_t *)(void *)tree + i, 0);
    if (t->hot_bit == bit)
        gnomon__cursor_set(t, &t->hot, 0);
}

/* ---- Finding ---------------------------------------------------------------- */

static uint32_t bucket_of(uint32_t parent, uint32_t key, uint32_t count)
{
    uint64_t h = (((uint64_t)parent << 32) | key) * 0x9e3779b97f4a7c15ull;
    return (uint32_t)(h >> 32) & (count - 1);
}

static int grow_buckets(gnomon__thread *t, gnomon__tree *tree)
{
    uint32_t count = 2 * tree->bucket_count;
    uint32_t at = gnomon__chunk_take(4 * count, 0);
    if (!at)
        return 0;
    const uint32_t *old = gnomon__at(t, tree->buckets);
    uint32_t *fresh = gnomon__at(t, at);
    for (uint32_t i = 0; i < tree->bucket_count; i++) {
        uint32_t node = old[i];
        if (!node)
            continue;
        const gnomon__node *n = gnomon__node_at(t, node);
        uint32_t b = bucket_of(n->parent, n->key, count);
        while (fresh[b])
            b = (b + 1) & (count - 1);
        fresh[b] = node;
    }
    gnomon__chunk_give(tree->buckets, 4 * tree->bucket_count);
    tree->bucket_count = count;
    tree->buckets = at;
    return 1;
}

/* The node of (parent, key), made if it is not there; 0: no memory. */
static uint32_t lookup(gnomon__thread *t, uint32_t bit, uint32_t parent,
                       uint32_t key)
{
    gnomon__tree *tree = &t->trees[bit];
    uint32_t *buckets = gnomon__at(t, tree->buckets);
    uint32_t b = bucket_of(parent, key, tree->bucket_count);
    for (; buckets[b]; b = (b + 1) & (tree->bucket_count - 1)) {
        const gnomon__node *n = gnomon__node_at(t, buckets[b]);
        if (n->parent == parent && n->key == key)
            return buckets[b];
    }
    if (2 * (tree->nodes + 1) > tree->bucket_count) {
        if (!grow_buckets(t, tree))
            return 0;
        buckets = gnomon__at(t, tree->buckets);
        b = bucket_of(parent, key, tree->bucket_count);
        while (buckets[b])
            b = (b + 1) & (tree->bucket_count - 1);
    }
    uint32_t node = make_node(t, bit, parent, key, 0);
    if (node) {
        buckets[b] = node;
        tree->nodes++;
    }
    return node;
}

/* The node that stands for all children of `parent` past a limit. It is in no
 * hash, so that it can be made when there is no room for one. */
static uint32_t other_child(gnomon__thread *t, uint32_t bit, uint32_t parent,
                            uint32_t key)
{
    uint32_t other = GNOMON__OTHER_ID | (key & ~(GNOMON__MAX_REGIONS - 1));
    uint32_t *at = &gnomon__node_at(t, parent)->other;
    /* One for each stage: the next hangs from the one before, which has no
     * children. */
    uint32_t node;
    for (; (node = *at) != 0; at = &gnomon__node_at(t, node)->other)
        if (gnomon__node_at(t, node)->key == other)
            return node;
    node = make_node(t, bit, parent, other, 1);
    if (!node)
        return 0;
    store_relaxed(&gnomon__node_at(t, node)->flags, GNOMON__NODE_OTHER);
    store_release(at, node);
    return node;
}

uint32_t gnomon__tree_child(gnomon__thread *t, uint32_t bit, uint32_t key)
{
    gnomon__tree *tree = &t->trees[bit];
    gnomon__cursor *c = gnomon__cursor_of(t, bit);
    gnomon__node *current = gnomon__node_at(t, c->current);
    uint32_t stage = GNOMON__KEY_STAGE(key);
    if (stage != tree->stage) {
        tree->stage = stage;
        gnomon__stage_mark(stage, gnomon__ticks());
    }
    if (current->flags & GNOMON__NODE_OTHER) {
        gnomon__trouble(t, too_deep);
        return 0;
    }
    /* What was remembered below, the last time. */
    gnomon__node *last = c->last ? gnomon__node_at(t, c->last) : NULL;
    uint32_t *followed =
        last && last->parent == c->current ? &last->next : &current->child;
    if (gnomon__node_at(t, *followed)->key == key)
        return *followed;
    int deep = current->depth >= GNOMON__MAX_DEPTH;
    uint32_t node = deep ? 0 : lookup(t, bit, c->current, key);
    if (!node) {
        node = other_child(t, bit, c->current, key);
        if (deep)
            gnomon__trouble(t, too_deep);
        else if (node)
            gnomon__trouble(t, other_nodes);
        else
            gnomon__trouble(t, lost_scopes);
        return node;
    }
    store_relaxed(followed, node);
    return node;
}

uint32_t gnomon__tree_range(gnomon__thread *t, uint32_t bit, uint32_t key)
{
    gnomon__tree *tree = &t->trees[bit];
    uint32_t node = lookup(t, bit, tree->ranges, key);
    if (!node) {
        node = other_child(t, bit, tree->ranges, key);
        if (node)
            gnomon__trouble(t, other_nodes);
        else
            gnomon__trouble(t, lost_scopes);
    }
    return node;
}
