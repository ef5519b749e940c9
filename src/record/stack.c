/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The open scopes of any thread, without locks: the chain from its cursor to the
 * root, copied under its sequence word. Of the hot tree, which is the first one
 * attached. */
#include "gnomon.h"
#include "mark/region.h"
#include "mark/tree.h"
#include "platform/clock.h"

#define TRIES 100
#define MAX_OPEN (GNOMON__MAX_DEPTH + 2)

typedef struct open_copy {
    uint64_t token, begin;
    uint32_t key;
} open_copy;

size_t gnomon_thread_count(void)
{
    return load_acquire(&gnomon__thread_total);
}

/* Innermost first; how many, at most `room` copied. Every offset is checked: a
 * torn chain must lead nowhere else. */
static size_t copy_chain(const gnomon__thread *t, open_copy *out, size_t room)
{
    uint32_t used = load_relaxed(&gnomon__marks_arena.used);
    uint32_t at = load_relaxed(&t->hot.current);
    size_t n = 0;
    for (int hops = 0; at && hops < MAX_OPEN; hops++) {
        if ((at & 127) || at >= used)
            break;
        const gnomon__node *node = gnomon__node_at(t, at);
        uint64_t token = load_relaxed(&node->token);
        if (token && n < room)
            out[n++] = (open_copy){token, load_relaxed(&node->begin),
                                   load_relaxed(&node->key)};
        at = load_relaxed(&node->parent);
    }
    return n;
}

int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity)
{
    if (thread >= gnomon_thread_count() || (capacity && !scopes))
        return GNOMON_EINVAL;
    const gnomon__thread *t = load_acquire(&gnomon__threads[thread]);
    open_copy chain[MAX_OPEN];
    size_t n = 0;
    int exact = 0;
    for (int i = 0; i < TRIES && !exact; i++) {
        uint64_t seq = load_acquire(&t->seq);
        uint32_t hook = load_acquire(&t->in_hook);
        n = copy_chain(t, chain, MAX_OPEN);
        fence_acquire();
        exact = (!(seq & 1) || (hook & 1)) && load_acquire(&t->seq) == seq;
    }
    gnomon__clock clock = gnomon__clock_read();
    for (size_t i = 0; i < n && i < capacity; i++) {
        const open_copy *c = &chain[n - 1 - i];
        uint32_t id = GNOMON__KEY_REGION(c->key);
        int known = id && id <= gnomon__region_count();
        scopes[i].name = known ? gnomon__region_entry(id)->name : "";
        scopes[i].begin_ns = gnomon__clock_since_zero_ns(&clock, c->begin);
        scopes[i].token = c->token & ~GNOMON__TOKEN_FLAGS;
    }
    return exact ? (int)n : GNOMON_EBUSY;
}
