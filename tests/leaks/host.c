/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that marks and ends without teardown; its argument says what it
 * does before. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gnomon.h>

static void *volatile kept; /* so that the compiler leaves it alone */

static void mark(void)
{
    for (int i = 0; i < 100; i++) {
        GNOMON_SCOPE("scope");
        GNOMON_COUNTER("counter", i);
        gnomon_start("action");
        gnomon_stop("action");
        gnomon_step();
    }
}

static void *mark_there(void *unused)
{
    mark();
    return unused;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (strcmp(word, "leak") == 0) {
        kept = malloc(100);
        kept = NULL;
        return 0;
    }
    mark();
    if (strcmp(word, "stages") == 0)
        for (int i = 0; i < 10; i++) {
            gnomon_stage_begin(i % 2 ? "validate" : "fit");
            mark();
        }
    if (strcmp(word, "thread") == 0 &&
        pthread_create(&thread, NULL, mark_there, NULL) == 0)
        pthread_join(thread, NULL);
    if (strcmp(word, "teardown") == 0) {
        gnomon_setup(NULL);
        mark();
        gnomon_teardown();
    }
    if (strcmp(word, "forks") == 0)
        for (int i = 0, status = 0; i < 20; i++) {
            if (fork() != 0)
                return wait(&status) < 0 || status != 0;
            mark();
        }
    if (strcmp(word, "detach") == 0)
        gnomon_attach(NULL, NULL, "");
    return 0;
}
