/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies a thread's tree. Nobody writes to the bank at rest. The bank in use is copied
 * under the thread's sequence word: if the word does not change during the whole
 * copy, all rows are of one moment. Else nodes are copied in groups, and where a group is
 * not of one moment each node alone, ten times at most. If that fails, fields of a node
 * may be of different moments, and nothing is tried any more: a thread that marks without
 * pause would let it fail for each node. Either way is_exact is 0.
 *
 * While a tree exists, nodes are only added, and lists grow only at their heads, so a
 * list that was read from its head stays valid. A tree that is dropped meanwhile
 * changes its generation; then the rows are thrown away. */
#include "record/rows_copy.h"

#include <string.h>

#include "mark/segment.h"
#include "platform/os_wait.h"
#include "platform/ticks.h"

#define TREE_TRIES 3

static gnomon__os_lock rows_lock = GNOMON__OS_LOCK;

void gnomon__readers_lock(void)
{
    gnomon__os_lock_take(&rows_lock);
}

void gnomon__readers_unlock(void)
{
    gnomon__os_lock_give(&rows_lock);
}

static int begin_copy(gnomon__rows_copier *c, gnomon__rows *out,
                      const gnomon__thread *t, uint32_t bit,
                      uint32_t generation)
{
    int is_of_generation = load_acquire(&t->generations[bit]) == generation;
    uint32_t at = is_of_generation ? load_relaxed(&t->states[bit]) : 0;
    *out = (gnomon__rows){.thread = t->number};
    *c = (gnomon__rows_copier){.out = out, .t = t, .bit = bit};
    c->tree = at ? gnomon__at(t, at) : NULL;
    return c->tree && load_acquire(&c->tree->generation) == generation;
}

int gnomon__rows_copy(gnomon__rows *out, const gnomon__thread *t, uint32_t bit,
                      uint32_t generation)
{
    gnomon__rows_copier c;
    if (!begin_copy(&c, out, t, bit, generation))
        return GNOMON_OK;
    c.is_live = 1;
    for (int left = TREE_TRIES; left; left--) {
        c.is_apart = left == 1;
        c.word = gnomon__quiet_word(t);
        c.bank = load_acquire(&t->bank) & 1;
        out->until = gnomon__ticks();
        out->from = load_relaxed(&c.tree->since[c.bank]);
        out->segment = load_relaxed(&c.tree->segment[c.bank]);
        if (!gnomon__copy_rows(&c) || !gnomon__copy_links(&c)) {
            gnomon__rows_free(out);
            return GNOMON_ENOMEM;
        }
        fence_acquire(); /* the copy before the second read of generation */
        if (load_acquire(&c.tree->generation) != generation) {
            gnomon__rows_free(out);
            return GNOMON_OK;
        }
        if (gnomon__is_still(t, c.word))
            break;
        out->is_exact = 0;
    }
    out->has_tree = 1;
    return GNOMON_OK;
}

/* ---- The bank at rest ------------------------------------------------------------- */

/* Relaxed word by word, as the owner may read them later. */
static void store_words(void *to, const void *from, size_t bytes)
{
    uint64_t *out = to;
    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word;
        memcpy(&word, (const char *)from + 8 * i, sizeof word);
        store_relaxed(&out[i], word);
    }
}

/* Clears the bank but for the histogram's place, and the cells that the row lists. One
 * of them may be outside the window. */
static void clear_node(gnomon__rows_copier *c, const gnomon__row *row)
{
    gnomon__front *line = &gnomon__copied_node(c, row->node)->front[c->bank];
    gnomon__part *p = &gnomon__copied_node(c, row->node)->part[c->bank];
    uint64_t *count = gnomon__at(c->t, p->histogram);
    for (uint32_t i = 0; p->histogram && i < row->cell_count; i++) {
        uint32_t cell = c->out->cells[row->cells + i].cell -
                        (uint32_t)p->low * GNOMON__CELLS;
        if (cell < (uint32_t)p->room * GNOMON__CELLS)
            store_relaxed(&count[cell], 0);
    }
    store_relaxed(&line->total, 0);
    store_relaxed(&line->min, GNOMON__NO_MIN);
    store_relaxed(&line->spread, 0);
    const gnomon__part cleared = {
        .histogram = p->histogram, .low = p->low, .room = p->room};
    store_words(p, &cleared, sizeof cleared);
}

/* Gives the carries that were read back to the thread, which reuses them from its
 * next cut on. */
static void return_carries(gnomon__rows_copier *c, gnomon__tree *tree)
{
    uint32_t at = tree->ended[c->bank];
    while (at) {
        gnomon__carry *e = gnomon__at(c->t, at);
        uint32_t next = e->next;
        e->next = tree->returned;
        tree->returned = at;
        at = next;
    }
    store_relaxed(&tree->ended[c->bank], 0);
}

static void clear_bank(gnomon__rows_copier *c, gnomon__tree *tree)
{
    for (size_t i = 0; i < c->out->count; i++)
        clear_node(c, &c->out->rows[i]);
    store_relaxed(&tree->touched[c->bank], 0);
    gnomon__tree_forget_open(c->t, tree, c->bank);
    for (uint32_t at = load_acquire(&tree->counters); at;) {
        gnomon__counter *counter = gnomon__at(c->t, at);
        memset(&counter->bank[c->bank], 0, sizeof *counter->bank);
        gnomon__bins_give(c->t, counter, c->bank);
        at = load_relaxed(&counter->next);
    }
}

/* Under the lock, as the thread could replace the table by a larger one meanwhile. */
static int take_links(gnomon__rows_copier *c, gnomon__tree *tree)
{
    gnomon__lock();
    int ok = gnomon__copy_links(c);
    gnomon__edge *edges = gnomon__at(c->t, tree->links);
    for (size_t i = 0; ok && i < tree->link_room; i++)
        store_relaxed(&edges[i].count[c->bank], 0);
    if (ok)
        return_carries(c, tree);
    gnomon__unlock();
    return ok;
}

int gnomon__rows_take(gnomon__rows *out, gnomon__thread *t, uint32_t bit,
                      uint32_t generation)
{
    gnomon__rows_copier c;
    if (!begin_copy(&c, out, t, bit, generation) ||
        load_acquire(&t->segment) != gnomon__segment)
        return GNOMON_OK; /* no tree; or the thread has not cut it yet */
    gnomon__tree *tree = gnomon__tree_of(t, bit);
    c.bank = !t->bank;
    out->segment = tree->segment[c.bank];
    if (!out->segment)
        return GNOMON_OK; /* the tree was made after the cut */
    gnomon__heap_start(); /* the heap's first use must not be under a lock */
    int ok = gnomon__copy_rows(&c) && take_links(&c, tree);
    if (ok)
        clear_bank(&c, tree);
    out->has_tree = ok;
    out->from = tree->since[c.bank];
    out->until = tree->until[c.bank];
    if (!ok)
        gnomon__rows_free(out);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__rows_free(gnomon__rows *rows)
{
    gnomon__free(rows->rows);
    gnomon__free(rows->cells);
    gnomon__free(rows->late);
    gnomon__free(rows->edges);
    for (size_t i = 0; i < rows->counter_room; i++)
        gnomon__strip_free(&rows->counters[i].strip);
    gnomon__free(rows->counters);
    memset(rows, 0, sizeof *rows);
}
