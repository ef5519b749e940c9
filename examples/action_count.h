/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Your own profiler: when each action first ran, and how often it ran. */
#include <gnomon/tool.h>
#include <pthread.h>

static struct action {
    const char *name; /* valid until the process ends */
    time_t first;
    unsigned long count;
} actions[256], *end = actions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* any thread calls */

static void count_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, pthread_mutex_lock(&lock);
    while (actions + *slot < end && actions[*slot].name != frame->name)
        ++*slot; /* passed to stop again */
    if (actions + *slot == end && *slot < 255)
        *end++ = (struct action){frame->name, time(NULL), 0};
    pthread_mutex_unlock(&lock);
}

static void count_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, pthread_mutex_lock(&lock);
    actions[*slot].count += actions[*slot].name == frame->name;
    pthread_mutex_unlock(&lock);
}

static int count_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    char first[32];
    (void)self, (void)profile, pthread_mutex_lock(&lock);
    out->print(out, "\nProfile Summary:\n");
    for (const struct action *a = actions; a < end; a++) {
        strftime(first, 32, "%m/%d/%Y, %H:%M:%S", localtime(&a->first));
        out->print(out, "%-20s \t %s \t %lu\n", a->name, first, a->count);
    }
    pthread_mutex_unlock(&lock);
    return out->print(out, "\n");
}

static void count_teardown(void *self, const char *stage)
{
    (void)self, (void)stage, pthread_mutex_lock(&lock);
    end = actions;
    pthread_mutex_unlock(&lock);
}

static const gnomon_profiler action_count = {
    .struct_size = sizeof action_count,
    .abi = GNOMON_ABI,
    .name = "action_count",
    .help = "first occurrence and count of actions",
    .start = count_start,
    .stop = count_stop,
    .summary = count_summary,
    .teardown = count_teardown};
