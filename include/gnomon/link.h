/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Links: which scope caused which, across threads. Included by gnomon.h.
 *
 *     item.from = gnomon_link_out();            where work is handed on
 *     ...
 *     GNOMON_SCOPE("worker");                   where it is done
 *     gnomon_link_in(&item.from, GNOMON_LINK_SUBMIT);
 *
 * Reports then show a worker's time under the scope that submitted the work.
 */
#ifndef GNOMON_H
#include "../gnomon.h" /* includes this header where it is needed */
#elif !defined GNOMON_LINK_H
#define GNOMON_LINK_H

#include "region.h"

GNOMON_BEGIN_DECLS

/* In what way one scope caused another. */
enum gnomon_link_kind {
    /* It handed work to a pool, and a worker did it. */
    GNOMON_LINK_SUBMIT = 0,
    /* It is the forward pass, the other one its backward pass. */
    GNOMON_LINK_BACKWARD = 1,
    /* It launched what then ran on a device. */
    GNOMON_LINK_LAUNCH = 2
};

/* Where a thread was when it handed work on. A plain value of 32 bytes: copy it
 * into the work item, to any thread of this process. It holds no memory and
 * needs no release. All zero means "no scope". Its words are gnomon's own.
 * It is of use until the set of attached profilers changes; an older one is
 * counted as lost_links in gnomon_health. */
typedef struct gnomon_link {
    uint32_t word[8];
} gnomon_link;

#ifndef GNOMON_DISABLE
/* The out-of-line halves of the calls below; do not call. */
GNOMON__SLOW_API gnomon_link gnomon_link_out_slow(void);
GNOMON__SLOW_API void gnomon_link_in_slow(const gnomon_link *from, int kind);

/* Returns where the calling thread is now: its innermost open scope. All zero
 * where gnomon is off, or where the thread has never marked. Any thread. */
GNOMON_INLINE gnomon_link gnomon_link_out(void)
{
    gnomon_link none = {{0, 0, 0, 0, 0, 0, 0, 0}};
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        return gnomon_link_out_slow();
    return none;
}

/* Says that `from` caused the innermost open scope of the calling thread.
 * `kind` is a gnomon_link_kind. Links are counted from path to path. A NULL or
 * all-zero `from` is ignored, and so is the call where no scope is open here.
 * `from` is read during the call only. Any thread. */
GNOMON_INLINE void gnomon_link_in(const gnomon_link *from, int kind)
{
    if (__builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED), 0))
        gnomon_link_in_slow(from, kind);
}
#endif

GNOMON_END_DECLS

#endif
