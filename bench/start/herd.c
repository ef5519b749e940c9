/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* 500 threads make their first mark at once, and one of them starts gnomon. Prints the
 * CPU time and the wall time, in ns, until all are through. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gnomon.h"

#define HERD 500

static pthread_barrier_t begin, end;

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *first_mark(void *unused)
{
    pthread_barrier_wait(&begin);
    {
        GNOMON_SCOPE("first");
    }
    pthread_barrier_wait(&end);
    return unused;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_barrier_init(&begin, NULL, HERD + 1);
    pthread_barrier_init(&end, NULL, HERD + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1u << 16);
    for (int i = 0; i < HERD; i++)
        if (pthread_create(&thread, &small, first_mark, NULL))
            return 2;
    double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    double wall = now_ns(CLOCK_MONOTONIC);
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    printf("%.0f %.0f\n", now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu,
           now_ns(CLOCK_MONOTONIC) - wall);
    fflush(stdout);
    _Exit(0); /* the threads wait in the barrier's end, or are over */
}
