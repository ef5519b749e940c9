/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that marks in every way, on two threads, between two lines of
 * output; every other system call between them is gnomon's. */
#include <pthread.h>
#include <unistd.h>

#include <gnomon.h>

static pthread_barrier_t turns;

static void mark_all(void)
{
    static gnomon_region range =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    for (int i = 0; i < 100; i++) {
        GNOMON_SCOPE("scope");
        GNOMON_SCOPE_IN("category", "inner");
        GNOMON_FUNCTION();
        GNOMON_MARK("mark");
        GNOMON_COUNTER("counter", i);
        gnomon_start("action");
        gnomon_stop("action");
        gnomon_range_end(gnomon_range_begin(&range));
        gnomon_link link = gnomon_link_out();
        gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
        gnomon_step();
        gnomon_step_at(7);
        gnomon_thread_name("named");
    }
}

static void *mark_too(void *unused)
{
    pthread_barrier_wait(&turns); /* it runs */
    pthread_barrier_wait(&turns);
    mark_all();
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(
        &turns); /* the thread's end is not counted as gnomon's */
    return unused;
}

static void say(const char *line, size_t length)
{
    if (write(1, line, length) != (ssize_t)length)
        _exit(1);
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&turns, NULL, 2);
    if (pthread_create(&thread, NULL, mark_too, NULL))
        return 1;
    pthread_barrier_wait(&turns);
    say("begin\n", 6);
    mark_all();
    pthread_barrier_wait(&turns);
    pthread_barrier_wait(&turns);
    say("end\n", 4);
    pthread_barrier_wait(&turns);
    pthread_join(thread, NULL);
    return 0;
}
