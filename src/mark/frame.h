/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames, for scopes that more than the hot tree sees: hooks, each with a
 * slot, several trees, or a clock that is a call. A frame keeps who saw the
 * begin, so that the same observers see the end, whatever was attached or
 * opened in between. */
#ifndef GNOMON_MARK_FRAME_H
#define GNOMON_MARK_FRAME_H

#include <stddef.h>
#include <string.h>

#include "mark/callbacks.h"
#include "mark/position.h"
#include "mark/recorder.h"
#include "mark/region.h"

/* On the thread's frame stack; slots follow, one for each bit in `hooks`, in the
 * order of the bits, which does not change when others come and go. All frames
 * have room for the hooks that are attached (thread->frame_bytes). */
typedef struct gnomon__frame {
    gnomon_frame seen; /* what hooks are shown; token 0: over, not popped */
    uint32_t mask;     /* bits that saw the begin and are still attached */
    uint32_t hooks;    /* whose slots there are */
    uint32_t below;    /* offset of the frame below; 0: none */
    uint32_t reserved;
    uint64_t begin; /* ticks; 0 where nobody wants times */
    uint64_t slots[];
} gnomon__frame;

#define GNOMON__FRAME_BYTES 65536u /* at most */

/* Two 32-bit fields as one word, to compare and store both at once: a
 * frame's `mask` and `hooks`, or its `struct_size` and `flags`. */
_Static_assert(offsetof(gnomon__frame, hooks) ==
                       offsetof(gnomon__frame, mask) + 4 &&
                   offsetof(gnomon_frame, flags) == 4,
               "two words next to each other");
static inline uint64_t gnomon__frame_pair(uint32_t first, uint32_t second)
{
    uint32_t pair[2] = {first, second};
    uint64_t word;
    memcpy(&word, pair, sizeof word);
    return word;
}

/* Begins a scope for the bits `m`, on an entered thread. `token` is its name
 * without flags. Returns whether anybody took it. */
int gnomon__frame_begin(gnomon__thread *t, gnomon_region *region, uint32_t m,
                        uint64_t token, uint32_t flags);

/* What else ends with it. A scope ends the scopes inside it, counted as
 * crossed, but no actions. One that ends alone does so only where a hook
 * sees it end. An action ends nothing else. */
enum gnomon__end { GNOMON__END_SCOPE, GNOMON__END_ALONE, GNOMON__END_ACTION };

/* Ends the scope or action of `token`, as `how` says, and returns 1 if it
 * has a frame. */
int gnomon__frame_end(gnomon__thread *t, uint64_t token, enum gnomon__end how);

/* Ends only this scope, at `now`, for another thread. 0: there is no frame,
 * or it is an action's; -1: hooks must be called, and this is not the owner. */
int gnomon__frame_end_foreign(gnomon__thread *t, uint64_t token, uint64_t now,
                              int on_owner);

/* How large frames are from now on, and how many fit. */
void gnomon__frames_fit(gnomon__thread *t);

/* Gives the stack back, of a thread that has ended: no frame is on it. Under the
 * lock. */
void gnomon__frames_drop(gnomon__thread *t);

/* The thread ends: hooks get the stop of all frames, as unfinished. Returns
 * how many were open. */
uint64_t gnomon__frames_abandon(gnomon__thread *t);

/* A copy of what a hook saw begin. */
typedef struct gnomon__unfinished {
    gnomon_frame frame;
    uint64_t slot;
    uint64_t begin; /* ticks; 0: nobody wanted times */
} gnomon__unfinished;

/* Hooks that are being detached get the stop of all frames that they saw
 * begin. On the thread, at the begin of a mark. */
void gnomon__frames_finish(gnomon__thread *t, uint32_t bits);
/* The same for another thread: copies the frames, innermost first, at most
 * `room`; returns how many. Under the lock, while the thread is outside
 * marks. */
uint32_t gnomon__frames_take(gnomon__thread *t, uint32_t bit,
                             gnomon__unfinished *out, uint32_t room);
/* Likewise of the ranges that it began, from *from on. Any time. */
uint32_t gnomon__ranges_take(gnomon__thread *t, uint32_t bit,
                             gnomon__unfinished *out, uint32_t room,
                             uint32_t *from);

/* Ends the scope of `token`, whoever saw it, with all scopes inside it; a wrong
 * token is counted. On an entered thread. */
void gnomon__end_entered(gnomon__thread *t, gnomon_token token);

/* At a step, which is made from stack address `frame`: ends scopes that
 * longjmp left open. On an entered thread. */
void gnomon__repair(gnomon__thread *t, uintptr_t frame);

/* Whether an observer that is still attached saw the scope of `token` begin,
 * by its frame. */
int gnomon__frame_is_seen(gnomon__thread *t, uint64_t token);

/* Ends all scopes with frames begun after `token`, but not actions. */
void gnomon__frames_end_inner(gnomon__thread *t, uint64_t token);

/* Offset 0 is zeros, which read as a frame that is over. */
static inline gnomon__frame *gnomon__frame_at(const gnomon__thread *t,
                                              uint32_t at)
{
    return (gnomon__frame *)gnomon__at(t, at);
}

/* A scope begins inside node `n`, the innermost of a tree that does not see
 * it. The end of `n` must look for frames, so it is made slow, unless its
 * token says so already. */
static inline void gnomon__frame_inside(gnomon__front *n)
{
    if (n->token && !(n->token & GNOMON__TOKEN_SLOW)) {
        store_relaxed(&n->token, n->token | GNOMON__TOKEN_SLOW);
        store_relaxed(&n->seen, n->seen | GNOMON__SEEN_SLOW);
    }
}

/* The same of the innermost scope of each of these trees. */
static inline void gnomon__trees_inside(gnomon__thread *t, uint32_t trees)
{
    gnomon__each_bit(bit, trees)
        gnomon__frame_inside(
            gnomon__front_at(t, gnomon__cursor_of(t, bit)->current));
}

/* Fills in what hooks get of a scope; times are added at its stop. */
static inline void gnomon__frame_describe(const gnomon__thread *t,
                                          gnomon_frame *f,
                                          const gnomon_region *region,
                                          uint64_t token, uint32_t flags)
{
    const gnomon__entry *entry = load_acquire(&region->link);
    f->struct_size = sizeof *f;
    f->flags = flags;
    f->region = region;
    f->name = likely(entry != NULL) ? entry->name : "";
    f->token = token;
    /* Two words each by one store. */
    memset(&f->begin_ns, 0, sizeof f->begin_ns + sizeof f->end_ns);
    memcpy(&f->thread, &t->number, sizeof f->thread + sizeof f->reserved);
}

#endif
