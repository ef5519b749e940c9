/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Detaching: the hook gets a stop for each start that it saw, so that it can
 * free what its slots point to.
 *
 * Once the bit is shut no scope begins for it. Then each thread stops its
 * open scopes for the hook at its next mark. For a thread that makes no mark
 * this is done here, on copies of its frames, while the lock keeps its next
 * mark waiting. A range is stopped by whoever clears the bit in its mask
 * first. Last, the bit is made uncallable, and all running callbacks are
 * waited for. */
#include "mark/foreign.h"
#include "mark/frame.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/os_wait.h"

#define STUCK_AFTER_NS 1000000000ull
#define COPIES 32u

static int give_up(void)
{
    return gnomon__fail(GNOMON_EBUSY,
                        "a callback of the profiler has been running for a "
                        "second: detach again when it is over");
}

/* Each has a time of its own: a mark of a thread that does not run, on a busy machine,
 * takes long too. */
int gnomon__observer_marks_over(int with_callbacks)
{
    gnomon__each_thread(t) {
        uint64_t start = gnomon__os_monotonic_ns();
        uint64_t seen = load_acquire(&t->seq);
        uint64_t pause = 1000;
        while ((seen & 1) && load_acquire(&t->seq) == seen &&
               (with_callbacks || !(load_acquire(&t->in_hook) & 1))) {
            if (gnomon__os_monotonic_ns() - start > STUCK_AFTER_NS)
                return 0;
            gnomon__os_pause(&pause, UINT64_MAX);
        }
    }
    return 1;
}

/* ---- What is open ---------------------------------------------------------------- */

static void stop_copies(uint32_t bit, gnomon__unfinished *all, uint32_t count)
{
    const gnomon__observer *s = &gnomon__observers[bit];
    int has_times = (s->hook->wants & GNOMON_WANT_TIMES) != 0;
    uint64_t now = has_times ? gnomon__clock_ns(gnomon__ticks()) : 0;
    for (uint32_t i = 0; s->hook->stop && i < count; i++) {
        all[i].frame.flags |= GNOMON_FRAME_UNFINISHED;
        all[i].frame.begin_ns =
            has_times && all[i].begin ? gnomon__clock_ns(all[i].begin) : 0;
        all[i].frame.end_ns = now;
        s->hook->stop(s->self, &all[i].frame, &all[i].slot);
    }
}

/* Stops the open scopes of a thread, whose frames do not change while it is
 * outside a mark. 0: it stayed inside one for too long. */
static int finish_scopes(gnomon__thread *t, uint32_t bit, uint64_t deadline)
{
    gnomon__unfinished copies[COPIES];
    uint32_t n = COPIES;
    uint64_t pause = 1000;
    while (n == COPIES) {
        gnomon__lock();
        while (t->leave_serial != gnomon__leave_serial &&
               !gnomon__is_outside(t)) {
            gnomon__unlock();
            if (gnomon__os_monotonic_ns() > deadline)
                return 0;
            gnomon__os_pause(&pause, UINT64_MAX);
            gnomon__lock();
        }
        /* Else the thread has called the hook itself, or will. */
        n = 0;
        if (t->leave_serial != gnomon__leave_serial) {
            n = gnomon__frames_take(t, bit, copies, COPIES);
            if (n < COPIES)
                t->leave_serial = gnomon__leave_serial;
        }
        gnomon__unlock();
        stop_copies(bit, copies, n);
    }
    return 1;
}

static void finish_ranges(gnomon__thread *t, uint32_t bit)
{
    gnomon__unfinished copies[COPIES];
    uint32_t from = 0, n;
    do {
        n = gnomon__ranges_take(t, bit, copies, COPIES, &from);
        stop_copies(bit, copies, n);
    } while (n == COPIES);
}

int gnomon__observer_finish(uint32_t bit)
{
    gnomon__observer_shut(bit);
    gnomon__observer_barrier();
    /* A thread that was inside a mark may still have seen the bit open. */
    if (!gnomon__observer_marks_over(1))
        return give_up();
    gnomon__each_thread(t) {
        if (!finish_scopes(t, bit, gnomon__os_monotonic_ns() + STUCK_AFTER_NS))
            return give_up();
        finish_ranges(t, bit);
    }
    /* A thread that had begun to call the hook itself has finished. */
    return gnomon__observer_marks_over(1) ? GNOMON_OK : give_up();
}

int gnomon__observer_detach(uint32_t bit)
{
    int is_hook = !gnomon__observers[bit].recorder;
    int code = GNOMON_OK;
    if (is_hook)
        code = gnomon__observer_finish(bit);
    else
        gnomon__observer_shut(bit);
    gnomon__observer_stop_callbacks(bit); /* also if it is given up */
    if (is_hook && !code) {
        gnomon__observer_barrier();
        code = gnomon__observer_marks_over(1) ? GNOMON_OK : give_up();
    }
    if (!code)
        gnomon__observer_free(bit);
    return code;
}
