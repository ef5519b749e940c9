/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lets each allocation fail in turn, each time in a process of its own. */
#ifndef GNOMON_TESTS_EACH_ALLOCATION_H
#define GNOMON_TESTS_EACH_ALLOCATION_H

#include <stdint.h>
#include <stdlib.h>

#include "test.h"

/* What `use` returns; its argument is the number of the allocation that
 * fails. */
enum { ALLOCATION_NEVER_CAME = 0, ALLOCATION_HARMED = 1, ALLOCATION_CAME = 2 };

/* Fails allocation 1, 2, ... until the run makes fewer. Returns the number
 * of the first that did not occur; 0: a run failed. */
static inline int fail_each_allocation(int (*use)(uint64_t failing))
{
    int status = 0, n = 0;
    do {
        n++;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            exit(use((uint64_t)n));
        if (!CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                   WEXITSTATUS(status) != ALLOCATION_HARMED)) {
            fprintf(stderr, "    allocation %d\n", n);
            return 0;
        }
    } while (WEXITSTATUS(status) == ALLOCATION_CAME);
    return n;
}

#endif
