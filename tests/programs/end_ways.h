/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that ends in the way that its argument names, after a stage that is over and a
 * mark that came after it. In C and in C++: end_ways.c, end_ways_cpp.cpp; statically
 * linked: end_ways_static.c; with gnomon as one file: tests/onefile. */
#ifndef GNOMON_TESTS_END_WAYS_H
#define GNOMON_TESTS_END_WAYS_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnomon.h>

static void *end_last(void *unused)
{
    usleep(20000); /* after main */
    return unused;
}

static int fork_and_wait(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        GNOMON_SCOPE("child");
        exit(0);
    }
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

static int leave_by(const char *way, char **argv)
{
    pthread_t thread;
    char program[] = "/bin/true";
    if (strcmp(way, "exit") == 0)
        exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "SIGINT") == 0 || strcmp(way, "SIGTERM") == 0) {
        raise(way[3] == 'I' ? SIGINT : SIGTERM);
        for (;;)
            pause();
    }
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "exec") == 0) {
        argv[0] = program;
        execv(program, argv);
        return 1;
    }
    if (strcmp(way, "fork") == 0)
        return fork_and_wait();
    if (strcmp(way, "pthread_exit") == 0) {
        pthread_create(&thread, NULL, end_last, NULL);
        pthread_exit(NULL);
    }
    return 0; /* return */
}

int main(int argc, char **argv)
{
    signal(SIGINT, SIG_DFL); /* a shell in the background ignores it */
    gnomon_stage_begin("fit");
    {
        GNOMON_SCOPE("work");
    }
    gnomon_stage_end();
    {
        GNOMON_SCOPE("late");
    }
    return argc > 1 ? leave_by(argv[1], argv) : 1;
}

#endif
