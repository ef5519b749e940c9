/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The protocols of docs/inside/ordering.md as programs of a few operations, each of which
 * says where in src/ it stands: `file: function: text`. */
#ifndef GNOMON_TESTS_ORDERING_PROGRAMS_H
#define GNOMON_TESTS_ORDERING_PROGRAMS_H

#include "weak_memory.h"

/* Operations: the word, what of it, the order, where it stands in src/. */
#define LD(w, reg, o, at) \
    .kind = LOAD, .word = w, .into = reg, .order = o, .source = at
#define ST(w, v, o, at) \
    .kind = STORE, .word = w, .value = v, .order = o, .source = at
#define UP(w, old, v, reg, o, at) \
    .kind = UPDATE, .word = w, .expected = old, .value = v, .into = reg, \
    .order = o, .source = at
#define FN(o, at) .kind = FENCE, .order = o, .source = at
#define MB(t, at) .kind = BARRIER, .value = t, .source = at
#define GET(w) .kind = LOCK, .word = w
#define PUT(w) .kind = UNLOCK, .word = w
#define MADE_IF(reg, v) .if_register = reg, .if_least = v, .if_most = v
/* This program does without its order, which another one needs, or C11, or a
 * machine on which not all see a store at once. */
#define SPARE .is_spare = 1
#define NEEDED .is_spare = 0
/* Does without either of two, but not without both. */
#define EITHER .is_spare = 2

enum { A, B, C, D, E };

/* What several programs say. */
#define TURN_ODD \
    "mark/hot.h: gnomon__turn_odd: gnomon__word_next(&t->seq, one); " \
    "fence_acq_rel();"
#define TURN_ODD_ONLY \
    "mark/hot.h: gnomon__turn_odd_only: gnomon__word_add(&t->seq, one); " \
    "fence_acq_rel();"
#define TURN_EVEN \
    "mark/hot.h: gnomon__turn_even: store_release(&t->seq, " \
    "load_relaxed(&t->seq) + 1);"
#define RAISE \
    "mark/hook.c: raise_flag: store_release(&t->in_hook, (uint32_t)odd);"
#define LOWER "mark/hook.c: lower_flag: store_relaxed(&t->in_hook, 0);"
#define QUIET_SEQ \
    "record/rows_copy.h: gnomon__quiet_word: load_acquire(&t->seq)"
#define QUIET_HOOK \
    "record/rows_copy.h: gnomon__quiet_word: load_acquire(&t->in_hook)"
#define STILL \
    "record/rows_copy.h: gnomon__is_still: fence_acquire(); " \
    "return word && gnomon__quiet_word(t) == word;"

/* ---- Trees ------------------------------------------------------------------- */

static int sees_no_parent(weak_registers r)
{
    return r[1][0] && !r[1][1];
}

/* A new node's parent, and a cursor that leads there. */
static const weak_program new_node = {
    .name = "new_node",
    .is_bad = sees_no_parent,
    .thread = {
        {{ST(A, 1, RELAXED,
             "mark/tree.c: make_node: store_relaxed(&n->front[bank].parent, "
             "parent);")},
         {FN(RELEASE, "mark/tree.c: make_node: store_relaxed(&tree->newest, "
                      "at); fence_release();")},
         {ST(B, 1, RELAXED,
             "mark/position.h: gnomon__move: store_relaxed(&p.cursor->current, "
             "current);")}},
        {{LD(B, 0, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&t->hot.current)")},
         {LD(A, 1, RELAXED,
             "record/stack.c: read_chain: load_relaxed(&node->parent)")}}}};

static int is_torn_row(weak_registers r)
{
    return r[1][0] == r[1][3] && !(r[1][0] & 1) && r[1][1] != r[1][2];
}

/* A copy under the thread's word; the data are two words. */
static const weak_program row = {
    .name = "row",
    .is_bad = is_torn_row,
    .thread = {{{UP(A, ANY, 1, 0, RELAXED, NULL)},
                {FN(ACQ_REL, TURN_ODD_ONLY)},
                {ST(B, 1, RELAXED, NULL)},
                {ST(C, 1, RELAXED, NULL)},
                {ST(A, 2, RELEASE, TURN_EVEN)}},
               {{LD(A, 0, ACQUIRE, QUIET_SEQ)},
                {LD(B, 1, RELAXED, NULL)},
                {LD(C, 2, RELAXED, NULL)},
                {FN(ACQUIRE, STILL)},
                {LD(A, 3, ACQUIRE, QUIET_SEQ), SPARE}}}};

/* A: the word, B: the flag of callbacks, C and D: the data. */
static int is_torn_beside_hooks(weak_registers r)
{
    return r[1][0] == r[1][4] && r[1][1] == r[1][5] &&
           (!(r[1][0] & 1) || (r[1][1] & 1)) && r[1][2] != r[1][3];
}

#define LOOK(seq, hook, a, b) \
    {LD(A, a, ACQUIRE, QUIET_SEQ), seq}, \
    { \
        LD(B, b, ACQUIRE, QUIET_HOOK), hook \
    }
#define COPY_BESIDE_HOOKS(seq, hook) \
    LOOK(seq, hook, 0, 1), {LD(C, 2, RELAXED, NULL)}, \
        {LD(D, 3, RELAXED, NULL)}, {FN(ACQUIRE, STILL)}, \
        LOOK(SPARE, SPARE, 4, 5)

/* A scope begins: hooks are called first, then the tree is written to. */
static const weak_program hooks_then_tree = {
    .name = "hooks_then_tree",
    .first = {1},
    .is_bad = is_torn_beside_hooks,
    .thread = {
        {{ST(B, 1, RELEASE, RAISE), SPARE},
         {ST(B, 0, RELAXED, LOWER)},
         {FN(RELEASE, "mark/hook.c: gnomon__hooks_begin: fence_release(); "
                      "return begin_guessed(t, seq, frame);")},
         {ST(C, 1, RELAXED, NULL)},
         {ST(D, 1, RELAXED, NULL)},
         {ST(A, 2, RELEASE, TURN_EVEN)}},
        {COPY_BESIDE_HOOKS(NEEDED, SPARE)}}};

/* One ends: the tree first; and another mark follows. */
static const weak_program tree_then_hooks = {
    .name = "tree_then_hooks",
    .first = {1},
    .is_bad = is_torn_beside_hooks,
    .thread = {{{ST(C, 1, RELAXED, NULL)},
                {ST(D, 1, RELAXED, NULL)},
                {ST(B, 1, RELEASE, RAISE)},
                {ST(B, 0, RELAXED, LOWER)},
                {ST(A, 2, RELEASE, TURN_EVEN)},
                {UP(A, ANY, 3, 0, RELAXED, NULL)},
                {FN(ACQ_REL, TURN_ODD)},
                {ST(C, 2, RELAXED, NULL)},
                {ST(D, 2, RELAXED, NULL)}},
               {COPY_BESIDE_HOOKS(NEEDED, NEEDED)}}};

#define ENTER \
    "mark/callbacks.h: gnomon__hooks_enter: store_release(&t->in_hook, " \
    "(load_relaxed(&t->in_hook) + 1) | 1);"
#define LEAVE \
    "mark/callbacks.h: gnomon__hooks_leave: store_relaxed(&t->in_hook, " \
    "(load_relaxed(&t->in_hook) + 1) & ~1u);"

/* One mark, two callbacks, and something is written between. */
static const weak_program two_callbacks = {
    .name = "two_callbacks",
    .first = {1},
    .is_bad = is_torn_beside_hooks,
    .thread = {{{ST(B, 1, RELEASE, ENTER), SPARE},
                {ST(B, 2, RELAXED, LEAVE)},
                {FN(RELEASE, LEAVE " fence_release();")},
                {ST(C, 1, RELAXED, NULL)},
                {ST(D, 1, RELAXED, NULL)},
                {ST(B, 3, RELEASE, ENTER)}},
               {COPY_BESIDE_HOOKS(SPARE, NEEDED)}}};

/* A: generation, B: a word of the memory that was the tree's. */
static int sees_another_tree(weak_registers r)
{
    return r[1][0] == 1 && r[1][2] == 1 && r[1][1] == 2;
}

static const weak_program dropped_tree = {
    .name = "dropped_tree",
    .first = {1, 1},
    .is_bad = sees_another_tree,
    .thread = {
        {{ST(A, 2, RELAXED,
             "mark/tree.c: gnomon__tree_drop: store_relaxed(&tree->generation, "
             "0);")},
         {FN(RELEASE, "mark/tree.c: gnomon__tree_drop: "
                      "store_relaxed(&t->states[bit], 0); "
                      "fence_release();")},
         {ST(B, 2, RELAXED,
             "mark/arena.c: gnomon__chunk_take: store_relaxed(&words[i], "
             "0);")}},
        {{LD(A, 0, ACQUIRE,
             "record/rows.c: begin_copy: load_acquire(&c->tree->generation)"),
          SPARE},
         {LD(B, 1, RELAXED, NULL)},
         {FN(ACQUIRE, "record/rows.c: gnomon__rows_copy: fence_acquire(); "
                      "if (load_acquire(&c.tree->generation) != generation)")},
         {LD(A, 2, ACQUIRE,
             "record/rows.c: gnomon__rows_copy: "
             "load_acquire(&c.tree->generation)"),
          SPARE}}}};

/* A: a block's serial, B: a record. The reader listed the block under the lock. */
static int sees_another_block(weak_registers r)
{
    return r[1][0] == 2 && r[1][1] == 1;
}

static const weak_program block_again = {
    .name = "block_again",
    .first = {1, 1},
    .is_bad = sees_another_block,
    .thread = {
        {{ST(A, 2, RELAXED,
             "mark/tape_blocks.c: open_block: store_relaxed(&b->serial, "
             "++block_serials);")},
         {FN(RELEASE, "mark/tape_blocks.c: open_block: fence_release();")},
         {ST(B, 2, RELAXED,
             "mark/tape.h: gnomon__tape_write: store_relaxed(&at->begin, "
             "begin);")}},
        {{LD(B, 0, RELAXED,
             "record/tape_read.c: copy_records: load_relaxed(&from[2 * i])")},
         {FN(ACQUIRE, "record/tape_read.c: copy_piece: fence_acquire();")},
         {LD(A, 1, RELAXED,
             "record/tape_read.c: copy_piece: "
             "load_relaxed(&gnomon__tape_block_at(p->at)"
             "->serial)")}}}};

/* A: room, B: table, C: an edge. */
static int sees_no_table(weak_registers r)
{
    return (r[1][0] && !r[1][1]) || (r[1][1] && !r[1][2]);
}

static const weak_program links = {
    .name = "links",
    .is_bad = sees_no_table,
    .thread = {
        {{ST(C, 1, RELAXED,
             "mark/link.c: grow_links: store_relaxed(&e->from, old[i].from);")},
         {ST(B, 1, RELEASE,
             "mark/link.c: grow_links: store_release(&tree->links, at);")},
         {ST(A, 1, RELEASE,
             "mark/link.c: grow_links: store_release(&tree->link_room, "
             "room);")}},
        {{LD(A, 0, ACQUIRE,
             "record/rows_copy.c: gnomon__copy_links: "
             "load_acquire(&c->tree->link_room)")},
         {LD(B, 1, ACQUIRE,
             "record/rows_copy.c: gnomon__copy_links: "
             "load_acquire(&c->tree->links)")},
         {LD(C, 2, RELAXED, NULL)}}}};

/* ---- Stacks ------------------------------------------------------------------ */

/* A: the word, B: a node's token, C: its begin. The scope of token 1, open at first,
 * ends, and that of token 5 begins. */
static int sees_anothers_begin(weak_registers r)
{
    uint8_t token = r[1][0];
    return token && token == r[1][3] && r[1][1] > token && r[1][2] != token;
}

static const weak_program begin_of_token = {
    .name = "begin_of_token",
    .first = {2, 1, 1},
    .is_bad = sees_anothers_begin,
    .thread = {
        {{UP(A, ANY, 3, 0, RELAXED, NULL)},
         {FN(ACQ_REL, TURN_ODD), SPARE},
         {ST(B, 0, RELAXED,
             "mark/position.h: gnomon__node_close: store_relaxed(&n->token, "
             "0);")},
         {ST(A, 4, RELEASE, TURN_EVEN), SPARE},
         {UP(A, ANY, 5, 0, RELAXED, NULL)},
         {FN(ACQ_REL, TURN_ODD)},
         {ST(B, 5, RELAXED,
             "mark/position.h: gnomon__node_open: store_relaxed(&n->token, "
             "token);")},
         {ST(C, 5, RELAXED,
             "mark/hot.h: gnomon__hot_begin: store_relaxed(&n->begin, "
             "gnomon__ticks_counter());")},
         {ST(A, 6, RELEASE, TURN_EVEN)}},
        {{LD(B, 0, RELAXED,
             "record/stack.c: token_of: load_relaxed(&line->token)")},
         {FN(ACQUIRE,
             "record/stack.c: list_scopes: fence_acquire(); uint64_t seq = "
             "load_acquire(&t->seq)"),
          SPARE},
         {LD(A, 1, ACQUIRE,
             "record/stack.c: list_scopes: load_acquire(&t->seq)")},
         {LD(C, 2, ACQUIRE,
             "record/stack.c: list_scopes: load_acquire(&line->begin)")},
         {LD(B, 3, RELAXED,
             "record/stack.c: token_of: load_relaxed(&line->token)")}}}};

/* A: the bank, B and C: the token of a scope that stays open, in either. */
static int loses_a_scope(weak_registers r)
{
    return r[1][0] == r[1][3] && !(r[1][0] ? r[1][2] : r[1][1]);
}

static const weak_program cut_of_a_stack = {
    .name = "cut_of_a_stack",
    .first = {0, 1, 0},
    .is_bad = loses_a_scope,
    .thread = {
        {{ST(C, 1, RELAXED,
             "mark/carry.c: move_chain: store_relaxed(&to->token, token ?")},
         {ST(A, 1, RELEASE,
             "mark/cut.c: gnomon__thread_cut: store_release(&t->bank, "
             "!t->bank);")},
         {FN(RELEASE, "mark/carry.c: gnomon__tree_forget_open: "
                      "fence_release();")},
         {ST(B, 0, RELAXED,
             "mark/position.h: gnomon__front_clear: store_relaxed(&n->token, "
             "0);")}},
        {{LD(A, 0, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&t->bank)")},
         {LD(B, 1, RELAXED,
             "record/stack.c: token_of: load_relaxed(&line->token)")},
         {LD(C, 2, RELAXED, NULL)},
         {FN(ACQUIRE,
             "record/stack.c: list_scopes: fence_acquire(); uint64_t seq = "
             "load_acquire(&t->seq)")},
         {LD(A, 3, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&t->bank)"),
          SPARE}}}};

/* A: the hot tree's cursor, B: no tree is hot, C: the tree's own cursor, as it was
 * before that tree was hot (3) at first. */
static int is_somewhere_old(weak_registers r)
{
    return (r[1][1] ? r[1][2] : r[1][0]) == 3;
}

static const weak_program cursor_goes_home = {
    .name = "cursor_goes_home",
    .first = {5, 0, 3},
    .is_bad = is_somewhere_old,
    .thread = {
        {{ST(C, 5, RELEASE,
             "mark/adopt.c: park_hot_tree: "
             "store_release(&tree->cursor.current, "
             "t->hot.current);"),
          SPARE},
         {ST(B, 1, RELEASE,
             "mark/adopt.c: park_hot_tree: store_release(&t->hot_bit, "
             "GNOMON__BITS);")},
         {ST(A, 0, RELAXED,
             "mark/adopt.c: park_hot_tree: store_relaxed(&t->hot.current, "
             "0);")},
         {ST(B, 0, RELAXED,
             "mark/adopt.c: choose_hot_tree: store_relaxed(&t->hot_bit, "
             "(uint16_t)")},
         {ST(A, 5, RELEASE,
             "mark/adopt.c: choose_hot_tree: store_release(&t->hot.current, "
             "tree->cursor.current);"),
          SPARE}},
        {{LD(A, 0, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&t->hot.current)"),
          SPARE},
         {LD(B, 1, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&t->hot_bit) == "
             "GNOMON__BITS")},
         {LD(C, 2, ACQUIRE,
             "record/stack.c: read_position: load_acquire(&((const "
             "gnomon__tree *)"),
          SPARE}}}};

/* ---- Control calls ----------------------------------------------------------- */

#define SHUT \
    "mark/thread.h: gnomon__thread_shut: store_release(&t->shut, " \
    "GNOMON__NEVER);"
#define IS_SHUT "mark/thread.h: gnomon__thread_settle: load_relaxed(&t->shut)"
#define CUT_BARRIER "mark/outside.c: gnomon__cut: gnomon__observer_barrier();"

/* A: shut, B: the word, C: what the thread recorded. Cut where it is in no mark: all
 * of it is seen, and the next mark sees that it is shut. */
static int cuts_amid_a_mark(weak_registers r)
{
    return r[1][0] == 2 && (!r[1][1] || !r[0][0]);
}

static const weak_program cut_outside = {
    .name = "cut_outside",
    .first = {0, 1},
    .is_bad = cuts_amid_a_mark,
    .thread = {{{ST(C, 1, RELAXED, NULL)},
                {ST(B, 2, RELEASE, TURN_EVEN)},
                {UP(B, ANY, 3, 1, RELAXED, NULL)},
                {FN(ACQ_REL, TURN_ODD), SPARE},
                {LD(A, 0, RELAXED, IS_SHUT)}},
               {{ST(A, 1, RELEASE, SHUT), SPARE},
                {MB(0, CUT_BARRIER)},
                {LD(B, 0, ACQUIRE,
                    "mark/foreign.h: gnomon__is_outside: "
                    "!(load_acquire(&t->seq) & 1)")},
                {LD(C, 1, RELAXED, NULL)}}}};

/* Cut in a callback. */
static int cuts_beside_a_callback(weak_registers r)
{
    return (r[1][0] & 1) && (!r[1][1] || !r[0][0]);
}

static const weak_program cut_in_a_callback = {
    .name = "cut_in_a_callback",
    .is_bad = cuts_beside_a_callback,
    .thread = {
        {{ST(C, 1, RELAXED, NULL)},
         {ST(B, 1, RELEASE, ENTER)},
         {ST(B, 2, RELAXED, LEAVE)},
         {FN(RELEASE, LEAVE " fence_release();"), SPARE},
         {LD(A, 0, RELAXED, IS_SHUT)}},
        {{ST(A, 1, RELEASE, SHUT), SPARE},
         {MB(0, CUT_BARRIER)},
         {LD(B, 0, ACQUIRE,
             "mark/outside.c: is_resting: (load_acquire(&t->in_hook) & 1)")},
         {LD(C, 1, RELAXED, NULL)}}}};

/* A: the open bits, B: the word, C: whether what the hook has was freed. */
static int calls_who_is_gone(weak_registers r)
{
    return r[1][0] != 1 && r[0][0] && r[0][1];
}

static const weak_program detach = {
    .name = "detach",
    .first = {1, 2},
    .is_bad = calls_who_is_gone,
    .thread = {
        {{UP(B, ANY, 1, 2, RELAXED, NULL)},
         {FN(ACQ_REL, TURN_ODD), SPARE},
         {LD(A, 0, RELAXED,
             "mark/callbacks.h: gnomon__hooks_enter: bits & "
             "load_relaxed(live)")},
         {LD(C, 1, RELAXED, NULL)},
         {ST(B, 3, RELEASE,
             "mark/thread.h: gnomon__leave: store_release(&t->seq, "
             "load_relaxed(&t->seq) + 1);")}},
        {{ST(A, 0, RELAXED,
             "mark/observer.c: publish: store_relaxed(&t->attached,")},
         {MB(0,
             "mark/leave.c: gnomon__observer_detach: if (is_hook && !code) { "
             "gnomon__observer_barrier();")},
         {LD(B, 0, ACQUIRE,
             "mark/leave.c: gnomon__observer_marks_over: uint64_t seen = "
             "load_acquire(&t->seq);")},
         {ST(C, 1, RELAXED, NULL)}}}};

/* A: a region's id, B: its mask. */
static int marks_without_an_id(weak_registers r)
{
    return r[1][0] && !r[1][1];
}

static const weak_program new_region = {
    .name = "new_region",
    .is_bad = marks_without_an_id,
    .thread = {
        {{ST(A, 1, RELAXED,
             "mark/region.c: add_entry: store_relaxed(&region->id, id);")},
         {ST(B, 1, RELEASE,
             "mark/region.c: add_entry: store_release(&region->mask, "
             "mask_of(entry, gnomon__armed_bits));")}},
        {{LD(B, 0, RELAXED, NULL)},
         {UP(C, ANY, 1, 2, RELAXED, NULL)},
         {FN(ACQ_REL, TURN_ODD)},
         {LD(A, 1, RELAXED,
             "mark/scope.c: begin_scope: load_relaxed(&region->id)")}}}};

/* The mask is another thread's, which found the region under the lock, C. */
static const weak_program rewritten_mask = {
    .name = "rewritten_mask",
    .is_bad = marks_without_an_id,
    .thread = {{{GET(C)}, {ST(A, 1, RELAXED, NULL)}, {PUT(C)}},
               {{LD(B, 0, RELAXED, NULL)},
                {FN(ACQUIRE,
                    "mark/slow_begin.c: gnomon_touch_slow: fence_acquire();")},
                {LD(A, 1, RELAXED, NULL)}},
               {{GET(C)},
                {LD(A, 0, RELAXED, NULL)},
                {ST(B, 1, RELEASE,
                    "mark/region.c: gnomon__region_rewrite: "
                    "store_release(&entry->region->mask,"),
                 MADE_IF(0, 1), SPARE},
                {PUT(C)}}}};

/* ---- Ranges ------------------------------------------------------------------ */

#define TAKE_RANGE \
    "mark/range.c: range_end_entered: cas_acq_rel(&r->token, &seen, TAKEN)"

/* A: the token, B: the begin. Two threads end it. */
static int ends_twice_or_early(weak_registers r)
{
    int one = r[1][0] == 2 && r[1][1] == 2;
    int other = r[2][0] == 2 && r[2][1] == 2;
    return (one && other) || (one && !r[1][2]) || (other && !r[2][2]);
}

#define END_RANGE \
    {LD(A, 0, ACQUIRE, \
        "mark/range.c: range_end_entered: load_acquire(&r->token) != token"), \
     EITHER}, \
        {UP(A, 2, 1, 1, ACQ_REL, TAKE_RANGE), EITHER}, \
    { \
        LD(B, 2, RELAXED, NULL) \
    }

static const weak_program range_ends = {
    .name = "range_ends",
    .is_bad = ends_twice_or_early,
    .thread = {
        {{ST(B, 1, RELAXED,
             "mark/range.c: range_begin_entered: store_relaxed(&r->begin,")},
         {ST(A, 2, RELEASE,
             "mark/range.c: range_begin_entered: store_release(&r->token, "
             "token);")}},
        {END_RANGE},
        {END_RANGE}}};

/* A: the list of slots given back, B: the begin, C: the next slot. */
static int reads_the_next_range(weak_registers r)
{
    return r[0][0] && (r[1][0] == 5 || !r[0][1]);
}

static const weak_program slot_given_back = {
    .name = "slot_given_back",
    .first = {0, 1},
    .is_bad = reads_the_next_range,
    .thread = {
        {{UP(A, ANY, 0, 0, ACQ_REL,
             "mark/range.c: take_slot: swap_acq_rel(&t->ranges.given_back, "
             "0)")},
         {LD(C, 1, RELAXED, NULL)},
         {ST(B, 5, RELAXED, NULL)}},
        {{LD(B, 0, RELAXED, NULL)},
         {ST(C, 1, RELAXED,
             "mark/range.c: give_slot: store_relaxed(&r->next, first);")},
         {UP(A, 0, 1, 1, ACQ_REL,
             "mark/range.c: give_slot: cas_acq_rel("
             "&beginner->ranges.given_back, &first, at)")}}}};

/* ---- The clock --------------------------------------------------------------- */

/* A: the head, B: claims (2: that buffer's, 1: nobody's), C: a word of the buffer
 * that is the line at first. One draws another line, the next one writes there. */
static int reads_half_a_line(weak_registers r)
{
    return r[1][0] == 1 && r[2][0] == 1 && r[2][2] == 1 && r[2][1] == 2;
}

static const weak_program line_drawn_on = {
    .name = "line_drawn_on",
    .first = {1, 2, 1},
    .is_bad = reads_half_a_line,
    .thread = {
        {{UP(A, 1, 2, 0, ACQ_REL,
             "platform/clock.c: publish_line: cas_acq_rel(&clock_head, &was, "
             "next)"),
          EITHER},
         {UP(B, 2, 1, 1, RELEASE,
             "platform/clock.c: publish_line: sub_release(&clock_claims, "
             "mine)"),
          EITHER}},
        {{UP(B, 1, 2, 0, ACQ_REL,
             "platform/clock.c: publish_line: cas_acq_rel(&clock_claims, "
             "&claims, "
             "claims | mine)"),
          EITHER},
         {FN(RELEASE,
             "platform/clock.c: publish_line: fence_release(); uint64_t index"),
          EITHER},
         {ST(C, 2, RELAXED, NULL)}},
        {{LD(A, 0, ACQUIRE,
             "platform/clock.c: find_ns: load_acquire(&clock_head)"),
          SPARE},
         {LD(C, 1, RELAXED, NULL)},
         {FN(ACQUIRE, "platform/clock.c: is_still_head: fence_acquire(); "
                      "return load_relaxed(&clock_head) == head;")},
         {LD(A, 2, RELAXED, NULL)}}}};

/* ---- The end ----------------------------------------------------------------- */

/* A: the state, B: the signal's number, C: the bell. */
static int dies_of_nothing(weak_registers r)
{
    return r[1][0] && (r[1][1] != 1 || !r[1][2]);
}

static const weak_program signal_to_thread = {
    .name = "signal_to_thread",
    .is_bad = dies_of_nothing,
    .thread = {
        {{UP(A, 0, 1, 0, ACQ_REL,
             "run/end.c: on_signal: cas_acq_rel(&end_state, &seen, END_BEGUN)"),
          SPARE},
         {ST(B, 1, RELEASE,
             "run/end.c: on_signal: store_release(&end_number, number);"),
          SPARE},
         {ST(C, 1, RELEASE,
             "platform/os_signals.c: gnomon__os_bell_ring: "
             "store_release(&end_bell, 1);")}},
        {{UP(C, ANY, 0, 0, ACQ_REL,
             "platform/os_signals.c: bell_rang: swap_acq_rel(&end_bell, 0)")},
         {LD(A, 1, ACQUIRE,
             "run/end.c: run_end_thread: load_acquire(&end_state)"),
          SPARE},
         {LD(B, 2, ACQUIRE,
             "run/end.c: run_end_thread: load_acquire(&end_number)"),
          SPARE}}}};

/* ---- All that is published --------------------------------------------------- */

static int sees_half(weak_registers r)
{
    return r[1][0] && !r[1][1];
}

static const weak_program publication = {
    .name = "publication",
    .is_bad = sees_half,
    .thread = {{{ST(A, 1, RELAXED, NULL)}, {ST(B, 1, RELEASE, NULL)}},
               {{LD(B, 0, ACQUIRE, NULL)}, {LD(A, 1, RELAXED, NULL)}}}};

static const weak_program *const programs[] = {
    &new_node,          &row,
    &hooks_then_tree,   &tree_then_hooks,
    &two_callbacks,     &dropped_tree,
    &block_again,       &links,
    &begin_of_token,    &cut_of_a_stack,
    &cursor_goes_home,  &cut_outside,
    &cut_in_a_callback, &detach,
    &new_region,        &rewritten_mask,
    &range_ends,        &slot_given_back,
    &line_drawn_on,     &signal_to_thread,
    &publication,
};
#define PROGRAMS (sizeof programs / sizeof *programs)

#endif
