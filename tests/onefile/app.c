/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that has gnomon.c among its own files: marks on four threads and on
 * the main one. Exit status 0 if gnomon had no trouble with them. */
#include <gnomon.h>
#include <gnomon/tool.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 1000

static void *work(void *unused)
{
    int i;
    for (i = 0; i < ROUNDS; i++) {
        GNOMON_SCOPE("work");
        gnomon_start("inner");
        gnomon_stop("inner");
    }
    return unused;
}

/* Whether no mark was lost, refused or unbalanced. */
static int is_well(void)
{
    gnomon_health health = {0};
    uint64_t trouble = 0;
    health.struct_size = sizeof health;
    gnomon_health_get(&health);
#define ADD(field, text) trouble += health.field;
    GNOMON_HEALTH(ADD)
    return trouble == 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 2;
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < 3; i++) {
        GNOMON_SCOPE("step");
        gnomon_step();
    }
    printf("gnomon %s\n", gnomon_version());
    return !is_well() || strcmp(gnomon_version(), GNOMON_VERSION) != 0;
}
