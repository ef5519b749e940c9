/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A range begins on one thread and may end on another.
 * env: GNOMON=simple
 */
#include <gnomon.h>
#include <pthread.h>
#include <unistd.h>

/* One copy in progress. */
typedef struct request {
    gnomon_range range; /* 0 if it is not recorded; then its end does nothing */
    pthread_t thread;
} request;

static void *finish(void *argument)
{
    request *r = argument;
    usleep(8000);
    gnomon_range_end(r->range);
    return NULL;
}

int main(void)
{
    GNOMON_REGION(copy, "copy_to_device", "io");
    request requests[3];
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("submit");
        requests[i].range = gnomon_range_begin(&copy);
        pthread_create(&requests[i].thread, NULL, finish, &requests[i]);
        usleep(1000);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(requests[i].thread, NULL);
    return 0;
}
