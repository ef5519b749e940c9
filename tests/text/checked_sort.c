/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* qsort for the program in text cases, by LD_PRELOAD: it ends the program where a
 * comparison contradicts itself. libc's qsort may never see that, and another libc's
 * then sorts in another order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int comparison(const void *left, const void *right);

void qsort(void *items, size_t count, size_t size, comparison *compare)
{
    void (*sort)(void *, size_t, size_t, comparison *);
    *(void **)&sort = dlsym(RTLD_NEXT, "qsort");
    sort(items, count, size, compare);
    if (strcmp(program_invocation_short_name, "gnomon") != 0)
        return; /* the shell's commands are not ours */
    for (size_t i = 1; i < count; i++) {
        const char *left = (char *)items + (i - 1) * size;
        const int order = compare(left, left + size);
        const int turned = compare(left + size, left);
        if (order > 0 || (order < 0) != (turned > 0)) {
            fprintf(stderr,
                    "a comparison of qsort contradicts itself: "
                    "%d, and %d turned\n",
                    order, turned);
            abort();
        }
    }
}
