/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Forks. A child has a copy of one thread, of all memory at some moment, and of
 * none of our threads. It records nothing, logs nothing and touches no file of
 * its parent's until it calls gnomon_setup, or at once with fork=follow: then it
 * starts at its next mark as a fresh process does, with recorders of its own.
 *
 * Invariant: state that a control call of the parent may have left half done is
 * never read again. It is abandoned, not freed: the child may be inside a mark or
 * a callback that uses it. */
#include <inttypes.h>
#include <pthread.h>

#include "mark/region.h"
#include "mark/segment.h"
#include "mark/observer.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/run.h"

/* The resolved spec, if it has fork=follow. A fork may come at any moment, so the
 * pointer is swapped before the old text is freed. */
static char *followed;
static uint32_t child_is_off; /* a child without gnomon_setup */
static int64_t forked_from;
static uint32_t forks_watched;

/* Shared with all children of the process that records: how many of them made marks
 * while they were off. NULL: there is no memory, and no line mentions them. */
static uint32_t *off_children;
static uint32_t children_told;
static uint32_t is_counted; /* this child */
static uint32_t is_mapped;  /* the first page, or is about to be */

/* In a child for children of its own. The parent's stays mapped: a mark may be at it. */
static void count_children(void)
{
    store_release(&off_children, gnomon__os_map_shared());
    children_told = 0;
}

void gnomon__fork_follow(char *spec)
{
    gnomon__free(swap_acq_rel(&followed, spec));
}

const char *gnomon__follows(void)
{
    return load_acquire(&followed);
}

static void add_child(uint32_t by)
{
    uint32_t *off = load_acquire(&off_children);
    if (off)
        add_relaxed(off, by);
}

/* `starts`: it records from its next mark on; else it is off, and its first mark is
 * counted. */
static void become_child(int starts)
{
    int wakes = starts || (load_acquire(&off_children) && gnomon__attachments);
    gnomon__os_release_all(); /* before the claim: a signal must see a child */
    if (starts)
        count_children();
    store_relaxed(&child_is_off, !starts);
    forked_from = gnomon__os_claim();
    /* What they point to may be the host's memory. */
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        gnomon__process_keep(a->self);
    gnomon__process_forget();
    gnomon__observers_forget(wakes);
    gnomon__threads_forget();
    gnomon__segments_forget();
    gnomon__run_forget_rank();
}

/* The lock of marks is held over the fork, so that the child's regions are consistent;
 * it is never held for long. The locks of control calls are not taken. */
static void before_fork(void)
{
    gnomon__os_threads_settle();
    gnomon__os_loader_before_fork();
    gnomon__lock_over_fork();
}

static void after_fork_parent(void)
{
    (void)gnomon__unlock_over_fork();
    gnomon__os_loader_after_fork(0);
}

static void after_fork_child(void)
{
    gnomon__os_loader_after_fork(1);
    if (!gnomon__unlock_over_fork() && gnomon__os_is_owner())
        return; /* the handlers are registered twice */
    gnomon__os_own_forget();
    become_child(gnomon__follows() && !load_relaxed(&child_is_off) &&
                 !gnomon__busy() && !gnomon__control_is_inside());
}

/* Two threads that are here at once both register the handlers: neither waits for the
 * other, which a child may not have. A child that clone made meanwhile registers none:
 * libc's lock is then held for ever, as the loader's may be. */
void gnomon__fork_watch(void)
{
    if (load_relaxed(&forks_watched))
        return;
    gnomon__os_claim();
    if (!swap_acq_rel(&is_mapped, 1)) /* threads may begin the run at once */
        count_children();
    if (gnomon__os_loader_enter()) {
        pthread_atfork(before_fork, after_fork_parent, after_fork_child);
        gnomon__os_loader_leave();
    }
    store_relaxed(&forks_watched, 1);
}

int gnomon__fork_is_off(void)
{
    if (gnomon__os_is_copy())
        become_child(0);
    return load_relaxed(&child_is_off) || !gnomon__os_is_owner();
}

int gnomon__output_is_ours(void)
{
    return !load_relaxed(&child_is_off) && gnomon__os_is_owner();
}

void gnomon__fork_ask(void)
{
    if (!gnomon__fork_is_off() || !gnomon__os_is_owner() || gnomon__busy() ||
        gnomon__control_is_inside())
        return;
    if (swap_acq_rel(&is_counted, 0))
        add_child(UINT32_MAX); /* it begins in time, for its own mark */
    count_children();
    gnomon__observers_forget(1);
    gnomon__chunks_forget();
    store_relaxed(&child_is_off, 0);
}

void gnomon__fork_note_mark(void)
{
    if (!load_relaxed(&child_is_off) || swap_acq_rel(&is_counted, 1))
        return;
    add_child(1);
    gnomon__observer_disarm();
}

void gnomon__fork_tell(void)
{
    const uint32_t *off = load_acquire(&off_children);
    uint32_t children = off ? load_relaxed(off) : 0;
    if (children == children_told || !gnomon__output_is_ours())
        return;
    gnomon__log("%" PRIu32 " forked %s made marks, which are not recorded: "
                "fork=follow records them",
                children, children == 1 ? "child" : "children");
    children_told = children;
}

int64_t gnomon__fork_parent(void)
{
    return forked_from;
}
