/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The open scopes of any thread, without locks, of its first tree.
 *
 * The sequence word of a thread that marks without pause changes too often to check
 * a copy by it. Tokens are compared instead: a token names one execution. If the
 * cursor and the tokens of the whole chain are the same when they are read a second
 * time, all of these scopes were open in between, and the cursor's one was the
 * innermost at the second read. A begin time belongs to its token once the sequence
 * word is past that token. */
#include "gnomon.h"
#include "gnomon/tool.h"

#include <stddef.h>
#include <string.h>

#include "mark/region.h"
#include "mark/tree.h"
#include "platform/clock.h"
#include "platform/owner.h"

#define CHAIN_TRIES 100
#define ROOT_TRIES 16
#define MAX_OPEN (GNOMON__MAX_DEPTH + 2)
#define CURSOR_MOVING UINT32_MAX /* the cursor is moving between two trees */

/* The size of an element in the first release: older modules' arrays stay valid. */
#define FIRST_OPEN_SCOPE \
    (offsetof(gnomon_open_scope, token) + sizeof(gnomon_token))

/* Innermost first. Of the tokens only a sum is kept: the struct is on the stack, which
 * may be a small signal stack, and takes 4 KiB so. */
typedef struct open_chain {
    size_t count;
    uint64_t sum;
    uint32_t node[MAX_OPEN];
} open_chain;

/* The caller's array; `stride` is the size of its elements. */
typedef struct scope_list {
    char *at;
    size_t room, stride;
} scope_list;

/* A thread's cursor, and the bank in which it records. */
typedef struct chain_position {
    uint32_t cursor, bank;
} chain_position;

size_t gnomon_thread_count(void)
{
    GNOMON__FORWARD(thread_count());
    return load_acquire(&gnomon__thread_total);
}

/* While several trees record at once, each tree has a cursor of its own. */
static chain_position read_position(const gnomon__thread *t)
{
    chain_position p = {load_acquire(&t->hot.current),
                        load_acquire(&t->bank) & 1};
    uint32_t trees = load_relaxed(&t->tree_bits);
    uint32_t tree = trees ? load_acquire(&t->states[__builtin_ctz(trees)]) : 0;
    if (load_acquire(&t->hot_bit) == GNOMON__BITS && tree)
        p.cursor = load_acquire(
            &((const gnomon__tree *)gnomon__at(t, tree))->cursor.current);
    if (!p.cursor && trees)
        p.cursor = CURSOR_MOVING;
    return p;
}

/* NULL for a bad offset, which a torn chain may hold. */
static const gnomon__front *line_at(const gnomon__thread *t, uint32_t at,
                                    uint32_t bank)
{
    uint64_t used = load_relaxed(&gnomon__marks_arena.used);
    return at && !(at & 63) && at + sizeof(gnomon__node) <= used
               ? &gnomon__node_at(t, at)->front[bank]
               : NULL;
}

static uint64_t add_token(uint64_t sum, uint64_t token)
{
    return (sum + token) * 0x9e3779b97f4a7c15ull;
}

static uint64_t token_of(const gnomon__front *line)
{
    return load_relaxed(&line->token) & ~GNOMON__TOKEN_FLAGS;
}

static void copy_chain(const gnomon__thread *t, chain_position p,
                       open_chain *out)
{
    uint32_t at = p.cursor;
    out->count = out->sum = 0;
    for (int hops = 0; hops < MAX_OPEN; hops++) {
        const gnomon__front *line = line_at(t, at, p.bank);
        if (!line)
            break;
        uint64_t token = token_of(line);
        if (token) {
            out->node[out->count++] = at;
            out->sum = add_token(out->sum, token);
        }
        at = load_relaxed(&line->parent);
    }
}

/* Writes element i. Its begin is in ticks; gnomon_thread_stack converts it. */
static void put_scope(const scope_list *list, size_t i,
                      const gnomon__front *line, uint64_t token, uint64_t begin)
{
    uint32_t id = GNOMON__KEY_REGION(load_relaxed(&line->key));
    int is_known = id && id <= gnomon__region_count();
    gnomon_open_scope scope = {(uint32_t)list->stride, 0,
                               is_known ? gnomon__region_entry(id)->name : "",
                               begin, token};
    char *to = list->at + i * list->stride;
    memset(to, 0, list->stride);
    memcpy(to, &scope,
           list->stride < sizeof scope ? list->stride : sizeof scope);
}

/* Reads each begin, then its token, and requires that the sequence word is past the
 * token: so the begin is that execution's. A thread may be stopped while its innermost
 * scope begins; that scope is not open yet and is left out. */
static int list_scopes(const gnomon__thread *t, chain_position p,
                       open_chain *chain, const scope_list *list)
{
    fence_acquire();
    uint64_t seq = load_acquire(&t->seq), sum = 0;
    chain_position now = read_position(t);
    int is_beginning = 0, is_exact = 1;
    for (size_t i = 0; i < chain->count; i++) {
        const gnomon__front *line = line_at(t, chain->node[i], p.bank);
        uint64_t begin = load_acquire(&line->begin);
        uint64_t token = token_of(line);
        sum = add_token(sum, token);
        if (i == 0 && token == seq)
            is_beginning = 1;
        else if ((int64_t)(seq - token) <= 0)
            is_exact = 0;
        if (chain->count - 1 - i < list->room)
            put_scope(list, chain->count - 1 - i, line, token, begin);
    }
    chain->count -= (size_t)is_beginning;
    return is_exact && sum == chain->sum && now.cursor == p.cursor &&
           now.bank == p.bank && p.cursor != CURSOR_MOVING;
}

/* A cursor at the root means that nothing was open, without a second read. A thread
 * that marks without pause is usually found there. */
static int read_chain(const gnomon__thread *t, open_chain *chain,
                      const scope_list *list)
{
    chain_position p = {0, 0};
    for (int i = 0; i < ROOT_TRIES; i++) {
        p = read_position(t);
        const gnomon__front *node = line_at(t, p.cursor, p.bank);
        if (node && !load_relaxed(&node->parent)) {
            chain->count = 0;
            return 1;
        }
    }
    copy_chain(t, p, chain);
    return list_scopes(t, p, chain, list);
}

int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity)
{
    GNOMON__FORWARD(thread_stack(thread, scopes, capacity));
    if (thread >= gnomon_thread_count() ||
        (capacity && (!scopes || scopes->struct_size < FIRST_OPEN_SCOPE)))
        return GNOMON_EINVAL;
    scope_list list = {(char *)scopes, capacity,
                       capacity ? scopes->struct_size : 0};
    const gnomon__thread *t = load_acquire(&gnomon__threads[thread]);
    open_chain chain;
    int is_exact = 0;
    for (int i = 0; i < CHAIN_TRIES && !is_exact; i++)
        is_exact = read_chain(t, &chain, &list);
    for (size_t i = 0; i < chain.count && i < capacity; i++) {
        char *at = list.at + i * list.stride;
        uint64_t begin;
        memcpy(&begin, at + offsetof(gnomon_open_scope, begin_ns),
               sizeof begin);
        begin = gnomon__clock_ns(begin);
        memcpy(at + offsetof(gnomon_open_scope, begin_ns), &begin,
               sizeof begin);
    }
    return is_exact ? (int)chain.count : GNOMON_EBUSY;
}
