/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The door of every control call, and the moments a process has only once: the
 * first mark, a fork, the exit. One control call runs at a time; a callback that
 * makes one is told GNOMON_EBUSY instead of waiting for itself. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "mark/region.h"
#include "mark/sink.h"
#include "mark/upcall.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "run/run.h"

static pthread_mutex_t control_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int in_control __attribute__((tls_model("initial-exec")));
static uint32_t has_started; /* $GNOMON was read */
static uint32_t is_forked;   /* a child: off until it asks */
static int exit_watched;

int gnomon__control_enter(void)
{
    gnomon__fail_clear();
    if (in_control || gnomon__busy())
        return gnomon__fail(GNOMON_EBUSY,
                            "called inside a callback: call it from outside");
    if (load_relaxed(&is_forked))
        return gnomon__fail(GNOMON_ESTATE,
                            "this process was forked from one that records; "
                            "it is off");
    if (!gnomon__copy_owns())
        return gnomon__fail(GNOMON_ESTATE,
                            "another generation of gnomon owns this process: "
                            "this copy, %s, is off",
                            GNOMON_VERSION);
    in_control = 1; /* first: a handler's first mark must not wait for us */
    pthread_mutex_lock(&control_lock);
    return GNOMON_OK;
}

void gnomon__control_leave(void)
{
    pthread_mutex_unlock(&control_lock);
    in_control = 0;
}

void gnomon__control_start(void)
{
    if (load_relaxed(&has_started))
        return;
    gnomon__clock_start();
    gnomon__sink_start();
    store_release(&has_started, 1);
}

void gnomon__upcall_start(void)
{
    if (load_acquire(&has_started) || in_control || load_relaxed(&is_forked))
        return;
    int kept = errno;
    in_control = 1;
    if (!gnomon__copy_owns()) {
        store_release(&has_started, 1);
        in_control = 0;
        errno = kept;
        return;
    }
    pthread_mutex_lock(&control_lock);
    if (!has_started) {
        gnomon__clock_start();
        gnomon__sink_start();
        gnomon__run_from_environment(NULL);
        store_release(&has_started, 1);
    }
    gnomon__control_leave();
    errno = kept;
}

/* ---- Exit ----------------------------------------------------------------------- */

static void at_exit(void)
{
    if (load_relaxed(&is_forked) || !gnomon__attachments ||
        gnomon__control_enter())
        return;
    gnomon__report_stage(0);
    gnomon__control_leave();
}

/* ---- Fork ----------------------------------------------------------------------- */

/* The lock of marks is taken over the fork, so that the child finds the regions
 * whole; it is never held for long. Control calls may be: the child makes none
 * of them, and its masks are cleared without their lock. */
static void before_fork(void)
{
    gnomon__lock();
}

static void after_fork_parent(void)
{
    gnomon__unlock();
}

static void after_fork_child(void)
{
    store_relaxed(&is_forked, 1);
    gnomon__sink_gates(0);
    gnomon__sink_arm(0); /* regions that come later are off too */
    gnomon__region_rewrite(0, 1, UINT32_MAX);
    gnomon__here_set(&gnomon__nobody);
    gnomon__thread_refuse();
    gnomon__unlock();
}

void gnomon__control_watch_exit(void)
{
    if (exit_watched)
        return;
    exit_watched = 1;
    if (atexit(at_exit))
        gnomon__log("reports will not come at exit: call gnomon_teardown()");
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
