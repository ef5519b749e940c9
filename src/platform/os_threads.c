/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads of ours. Nothing here allocates. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "platform/os_wait.h"
#include "platform/process.h"
#include "platform/tls.h"

static uint32_t thread_count GNOMON__OF_PROCESS;
static uint32_t threads_starting GNOMON__OF_PROCESS; /* not at work yet */
static uint32_t threads_over GNOMON__OF_PROCESS;     /* none may be started */

uint32_t gnomon__os_thread_count(void)
{
    return load_relaxed(&thread_count);
}

void gnomon__os_threads_end(void)
{
    store_relaxed(&threads_over, 1);
}

void gnomon__os_threads_settle(void)
{
    gnomon__os_wait_until(&threads_starting, 0, 100000000u);
}

static __thread int ours_depth GNOMON__TLS;

void gnomon__os_ours(int by)
{
    ours_depth += by;
}

int gnomon__os_is_ours(void)
{
    return ours_depth != 0;
}

/* Uses no heap, as a thread's first use of libc's reserves 64 MiB.
 * Cancellation is off, as code of profilers may run here and could cancel
 * its own thread. */
static void *thread_main(void *memory)
{
    gnomon__os_thread *self = memory;
    (void)gnomon__os_cancel_off();
    gnomon__os_ours(1);
    (void)prctl(PR_SET_NAME, self->name);
    sub_release(&threads_starting, 1);
    (void)gnomon__os_wake(&threads_starting);
    self->run(self->argument);
    return NULL;
}

#define LITTLE_ROOM (64u << 20) /* bytes; a usual stack has 8 MiB */

/* If the host locks all new pages, or has little address space left, the stack is small,
 * but large enough for reports; the default size if that is refused. */
static int create_thread(pthread_t *out, gnomon__os_thread *self)
{
    const size_t small = 512u << 10;
    pthread_attr_t how;
    int error = -1;
    if (!gnomon__os_loader_enter())
        return EAGAIN;
    if ((gnomon__os_locks_pages() ||
         gnomon__os_mappable_bytes() < LITTLE_ROOM) &&
        pthread_attr_init(&how) == 0) {
        if (pthread_attr_setstacksize(&how, small) == 0)
            error = pthread_create(out, &how, thread_main, self);
        pthread_attr_destroy(&how);
    }
    if (error != 0)
        error = pthread_create(out, NULL, thread_main, self);
    gnomon__os_loader_leave();
    return error;
}

int gnomon__os_thread_start(gnomon__os_thread *out, const char *name,
                            void (*run)(void *), void *argument)
{
    sigset_t all, before;
    pthread_t thread;
    int error;
    if (load_relaxed(&threads_over))
        return EAGAIN;
    out->run = run;
    out->argument = argument;
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    /* Blocked before the thread starts, which inherits this: so not even its
     * first instruction is interrupted. */
    sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    add_relaxed(&thread_count, 1);
    add_relaxed(&threads_starting, 1);
    if (error == 0) {
        error = create_thread(&thread, out);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    if (error != 0) {
        sub_relaxed(&thread_count, 1);
        sub_relaxed(&threads_starting, 1);
        return error;
    }
    out->handle = (unsigned long)thread;
    return 0;
}

/* If futex is refused, glibc ends the process in a join that has to wait. */
void gnomon__os_thread_join(gnomon__os_thread *thread)
{
    uint64_t pause = 0;
    if (gnomon__os_wake(&thread_count))
        (void)pthread_join((pthread_t)thread->handle, NULL);
    else
        while (pthread_tryjoin_np((pthread_t)thread->handle, NULL) == EBUSY)
            gnomon__os_pause(&pause, UINT64_MAX);
    sub_relaxed(&thread_count, 1);
}
