/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Repairs scopes that longjmp left open, or an exception through C that does
 * not unwind. A scope around them ends them at its own end. Without one, as in
 * a loop at top level, they would nest deeper each round, up to the depth
 * limit. So the thread's steps search for them.
 *
 * A region is taken for left open if it is open MANY times inside itself, at
 * least once of these since the thread's last step, while steps are made
 * from the same stack address or from further out. Fewer may well be a
 * training inside a training, and recursion that steps at each level steps
 * from further in. */
#include "mark/frame.h"
#include "mark/position.h"

#define MANY 16u
#define INNERMOST 256u /* at most so many open executions are read */

/* The open scopes of one tree, or those with frames; innermost first,
 * without actions. */
typedef struct open_list {
    uint32_t count;
    uint32_t region[INNERMOST];
    uint64_t token[INNERMOST];
} open_list;

static void add_open(open_list *all, uint64_t token, uint32_t region)
{
    all->token[all->count] = token & ~GNOMON__TOKEN_FLAGS;
    all->region[all->count++] = region;
}

static void list_tree(open_list *all, gnomon__thread *t, uint32_t bit)
{
    uint32_t at = gnomon__cursor_of(t, bit)->current;
    all->count = 0;
    while (at != gnomon__tree_of(t, bit)->root && all->count < INNERMOST) {
        const gnomon__front *n = gnomon__front_at(t, at);
        if (n->token && !(n->token & GNOMON__TOKEN_ACTION))
            add_open(all, n->token, GNOMON__KEY_REGION(n->key));
        at = n->parent;
    }
}

static void list_frames(open_list *all, const gnomon__thread *t)
{
    all->count = 0;
    for (uint32_t at = t->frame_last; at && all->count < INNERMOST;) {
        const gnomon__frame *f = gnomon__frame_at(t, at);
        if (f->seen.token && !(f->seen.flags & GNOMON_FRAME_ACTION))
            add_open(all, f->seen.token, load_relaxed(&f->seen.region->id));
        at = f->below;
    }
}

/* The token of the outermost that was left open; 0: none. */
static uint64_t find_left(const open_list *all, uint64_t since)
{
    for (uint32_t n = all->count; n-- >= MANY && all->token[n] <= since;) {
        uint32_t same = 0, fresh = 0;
        for (uint32_t i = 0; i <= n; i++)
            if (all->region[i] == all->region[n]) {
                same++;
                fresh += all->token[i] > since;
            }
        if (fresh && same >= MANY)
            return all->token[n];
    }
    return 0;
}

static void end_left(gnomon__thread *t, uint64_t token)
{
    if (!token)
        return;
    gnomon__trouble(t, crossed); /* those inside count themselves */
    gnomon__end_entered(t, token);
}

static void search(gnomon__thread *t, uint64_t since)
{
    open_list all;
    list_frames(&all, t);
    end_left(t, find_left(&all, since));
    gnomon__each_bit(bit, load_relaxed(&t->attached) & t->tree_bits) {
        list_tree(&all, t, bit);
        end_left(t, find_left(&all, since));
    }
}

/* Whether enough is open for a search. */
static int is_deep(gnomon__thread *t)
{
    uint32_t most =
        (t->frame_top - t->frames) / (uint32_t)sizeof(gnomon__frame);
    if (!t->frame_last)
        most = 0;
    gnomon__each_bit(bit, load_relaxed(&t->attached) & t->tree_bits) {
        const gnomon__node *n =
            gnomon__node_at(t, gnomon__cursor_of(t, bit)->current);
        most = n->depth > most ? n->depth : most;
    }
    return most >= MANY;
}

void gnomon__repair(gnomon__thread *t, uintptr_t frame)
{
    if (frame >= t->step_frame && is_deep(t))
        search(t, t->step_seq);
    t->step_seq = load_relaxed(&t->seq);
    t->step_frame = frame;
}
