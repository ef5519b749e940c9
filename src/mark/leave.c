/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hook that leaves gets a stop for each start that it saw, so that what hangs on
 * its slots can be freed.
 *
 * From the moment its bit is shut no scope begins for it. Then each thread tells it
 * of the scopes that are open there, at its next mark; for a thread that makes none
 * it is done here, by copies, while the lock keeps its next mark waiting. Ranges
 * belong to whoever takes the bit out of their mask first. Last, no thread may call
 * it any more, and all are waited for. */
#include "mark/foreign.h"
#include "mark/frame.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/os.h"

#define PATIENCE_NS 1000000000ull
#define COPIES 32u

static int give_up(void)
{
    return gnomon__fail(GNOMON_EBUSY,
                        "a callback of the profiler has been running for a "
                        "second: detach again when it is over");
}

/* Whether every thread has been seen outside marks, and so outside callbacks,
 * since the barrier. Nothing inside a mark waits for us: no lock is held here. */
static int callbacks_over(void)
{
    uint64_t start = gnomon__os_monotonic_ns();
    gnomon__each_thread(t) {
        uint64_t seen = load_acquire(&t->seq);
        uint64_t pause = 1000;
        while ((seen & 1) && load_acquire(&t->seq) == seen) {
            if (gnomon__os_monotonic_ns() - start > PATIENCE_NS)
                return 0;
            gnomon__os_sleep_ns(pause);
            pause = pause < 1000000 ? 2 * pause : pause;
        }
    }
    return 1;
}

/* ---- What is open ---------------------------------------------------------------- */

static void stop_copies(uint32_t bit, gnomon__unfinished *all, uint32_t count)
{
    const gnomon__observer *s = &gnomon__observers[bit];
    uint64_t now = s->times ? gnomon__clock_ns(gnomon__ticks()) : 0;
    for (uint32_t i = 0; s->stop && i < count; i++) {
        all[i].frame.flags |= GNOMON_FRAME_UNFINISHED;
        all[i].frame.begin_ns =
            s->times && all[i].begin ? gnomon__clock_ns(all[i].begin) : 0;
        all[i].frame.end_ns = now;
        s->stop(s->self, &all[i].frame, &all[i].slot);
    }
}

/* Outside a mark its frames stand still. 0: it has been inside one for long. */
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
            gnomon__os_sleep_ns(pause);
            pause = pause < 1000000 ? 2 * pause : pause;
            gnomon__lock();
        }
        /* Else it has told the hook itself, or is about to. */
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
    /* Who was inside a mark may have seen the bit open. */
    if (!callbacks_over())
        return give_up();
    uint64_t deadline = gnomon__os_monotonic_ns() + PATIENCE_NS;
    gnomon__each_thread(t) {
        if (!finish_scopes(t, bit, deadline))
            return give_up();
        finish_ranges(t, bit);
    }
    /* Who has begun to tell it by itself is through with that. */
    return callbacks_over() ? GNOMON_OK : give_up();
}

int gnomon__observer_detach(uint32_t bit)
{
    int is_hook = !gnomon__observers[bit].recorder;
    int code = GNOMON_OK;
    if (is_hook)
        code = gnomon__observer_finish(bit);
    else
        gnomon__observer_shut(bit);
    gnomon__observer_stop_callbacks(
        bit); /* also where it is to be detached again */
    if (is_hook && !code) {
        gnomon__observer_barrier();
        code = callbacks_over() ? GNOMON_OK : give_up();
    }
    if (!code)
        gnomon__observer_free(bit);
    return code;
}
