/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The open scopes of any thread, without locks, of its first tree.
 *
 * A thread that marks without pause leaves its sequence word still for too short
 * a time, so the proof is another: a token names one execution. If the innermost
 * scope and the tokens of the whole chain are the same at a second look, all of
 * them were open in between, and nothing was inside the innermost one at the
 * second look at the cursor. A begin time belongs to its token once the word is
 * past it. */
#include "gnomon.h"

#include <stddef.h>
#include <string.h>

#include "mark/region.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/owner.h"

#define LOOKS 100
#define GLANCES 16
#define MAX_OPEN (GNOMON__MAX_DEPTH + 2)

/* Elements of the first release's size: older modules' arrays stay good. */
#define FIRST_OPEN_SCOPE \
    (offsetof(gnomon_open_scope, token) + sizeof(gnomon_token))

typedef struct open_copy {
    uint64_t token, begin;
    uint32_t key, node;
} open_copy;

/* Where a thread is: its cursor, and the bank in which it records. */
typedef struct chain_place {
    uint32_t cursor, bank;
} chain_place;

size_t gnomon_thread_count(void)
{
    GNOMON__FORWARD(thread_count());
    return load_acquire(&gnomon__thread_total);
}

/* While windows of several trees are open, each has its cursor with it. */
static chain_place look_where(const gnomon__thread *t)
{
    chain_place p = {load_acquire(&t->hot.current), load_acquire(&t->bank) & 1};
    uint32_t trees = load_relaxed(&t->tree_bits);
    uint32_t tree = trees ? load_relaxed(&t->states[__builtin_ctz(trees)]) : 0;
    if (load_relaxed(&t->hot_bit) == GNOMON__BITS && tree)
        p.cursor = load_acquire(
            &((const gnomon__tree *)gnomon__at(t, tree))->cursor.current);
    return p;
}

/* Every offset is checked: a torn chain must lead nowhere else. */
static const gnomon__front *line_at(const gnomon__thread *t, uint32_t at,
                                    uint32_t bank)
{
    uint64_t used = load_relaxed(&gnomon__marks_arena.used);
    return at && !(at & 63) && at + sizeof(gnomon__node) <= used
               ? &gnomon__node_at(t, at)->front[bank]
               : NULL;
}

/* Innermost first; how many. */
static size_t copy_chain(const gnomon__thread *t, chain_place p, open_copy *out)
{
    size_t n = 0;
    uint32_t at = p.cursor;
    for (int hops = 0; hops < MAX_OPEN; hops++) {
        const gnomon__front *node = line_at(t, at, p.bank);
        if (!node)
            break;
        uint64_t token = load_acquire(&node->token);
        if (token)
            out[n++] = (open_copy){token & ~GNOMON__TOKEN_FLAGS,
                                   load_relaxed(&node->begin),
                                   load_relaxed(&node->key), at};
        at = load_relaxed(&node->parent);
    }
    return n;
}

/* The begin is read again once the word is past its token, and the token after
 * it: so it is that execution's. The innermost may be just beginning, on a
 * thread that was stopped there: it is not open yet, and left out. */
static int is_exact(const gnomon__thread *t, chain_place p, open_copy *chain,
                    size_t *n)
{
    fence_acquire();
    uint64_t seq = load_acquire(&t->seq);
    chain_place now = look_where(t);
    if (now.cursor != p.cursor || now.bank != p.bank)
        return 0;
    int beginning = *n && chain[0].token == seq;
    for (size_t i = 0; i < *n; i++) {
        const gnomon__front *node = line_at(t, chain[i].node, p.bank);
        chain[i].begin = load_acquire(&node->begin);
        uint64_t token = load_acquire(&node->token) & ~GNOMON__TOKEN_FLAGS;
        if (token != chain[i].token ||
            (!(beginning && i == 0) && (int64_t)(seq - token) <= 0))
            return 0;
    }
    if (beginning)
        memmove(chain, chain + 1, --*n * sizeof *chain);
    return 1;
}

/* At the root nothing was open when the cursor was read; that needs no proof,
 * and is when a thread that never pauses is met. */
static int look_at_thread(const gnomon__thread *t, open_copy *chain, size_t *n)
{
    chain_place p = {0, 0};
    for (int i = 0; i < GLANCES; i++) {
        p = look_where(t);
        const gnomon__front *node = line_at(t, p.cursor, p.bank);
        if (node && !load_relaxed(&node->parent)) {
            *n = 0;
            return 1;
        }
    }
    *n = copy_chain(t, p, chain);
    return is_exact(t, p, chain, n);
}

int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity)
{
    GNOMON__FORWARD(thread_stack(thread, scopes, capacity));
    if (thread >= gnomon_thread_count() ||
        (capacity && (!scopes || scopes->struct_size < FIRST_OPEN_SCOPE)))
        return GNOMON_EINVAL;
    uint32_t apart = capacity ? scopes->struct_size : 0;
    const gnomon__thread *t = load_acquire(&gnomon__threads[thread]);
    open_copy chain[MAX_OPEN];
    size_t n = 0;
    int exact = 0;
    for (int i = 0; i < LOOKS && !exact; i++)
        exact = look_at_thread(t, chain, &n);
    for (size_t i = 0; i < n && i < capacity; i++) {
        const open_copy *c = &chain[n - 1 - i];
        uint32_t id = GNOMON__KEY_REGION(c->key);
        int known = id && id <= gnomon__region_count();
        gnomon_open_scope scope = {apart, 0,
                                   known ? gnomon__region_entry(id)->name : "",
                                   gnomon__clock_ns(c->begin), c->token};
        char *to = (char *)scopes + i * apart;
        memset(to, 0, apart);
        memcpy(to, &scope, apart < sizeof scope ? apart : sizeof scope);
    }
    return exact ? (int)n : GNOMON_EBUSY;
}
