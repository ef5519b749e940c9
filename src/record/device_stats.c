/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table of the device times that were read since the ledger took them last. */
#include "record/device_stats.h"

#include <string.h>

#include "platform/memory.h"
#include "platform/os_wait.h"
#include "platform/process.h"

typedef struct device_stats {
    struct device_stats *next;
    gnomon__device_part part;
    gnomon__total total;
} device_stats;

#define STATS_BUCKETS 1024u

/* NULL: nothing was added yet. */
static device_stats **buckets GNOMON__OF_PROCESS;
static gnomon__os_lock stats_lock = GNOMON__OS_LOCK;

static device_stats **stats_bucket(const gnomon__device_part *part)
{
    const gnomon__device_path *path = &part->path;
    uint32_t hash = path->number + path->thread * 7919 + path->generation * 31 +
                    path->segment * 101 + part->stream * 257;
    return &buckets[hash % STATS_BUCKETS];
}

static device_stats *stats_at(const gnomon__device_part *part)
{
    if (!buckets && !(buckets = gnomon__alloc(STATS_BUCKETS * sizeof *buckets)))
        return NULL;
    device_stats **bucket = stats_bucket(part), *s = *bucket;
    while (s && memcmp(&s->part, part, sizeof *part) != 0)
        s = s->next;
    if (s || !(s = gnomon__alloc(sizeof *s)))
        return s;
    s->part = *part;
    s->next = *bucket;
    *bucket = s;
    return s;
}

int gnomon__device_stats_add(const gnomon__device_part *part, uint64_t ns,
                             uint64_t self_ns)
{
    gnomon__os_lock_take(&stats_lock);
    device_stats *s = stats_at(part);
    int ok = s && gnomon__total_count(&s->total, ns, self_ns);
    gnomon__os_lock_give(&stats_lock);
    return ok;
}

static int ignore_stats(void *context, const gnomon__device_part *part,
                        const gnomon__total *total)
{
    (void)context;
    (void)part;
    (void)total;
    return 1;
}

int gnomon__device_stats_take(uint32_t generation, int stays,
                              gnomon__device_stats_to *add, void *context)
{
    int ok = 1;
    gnomon__os_lock_take(&stats_lock);
    for (uint32_t i = 0; buckets && i < STATS_BUCKETS; i++) {
        device_stats **at = &buckets[i];
        while (*at) {
            device_stats *s = *at;
            int is_of_generation = s->part.path.generation == generation;
            if (is_of_generation)
                ok &= add(context, &s->part, &s->total);
            if (!is_of_generation || stays) {
                at = &s->next;
                continue;
            }
            *at = s->next;
            gnomon__total_empty(&s->total);
            gnomon__free(s);
        }
    }
    gnomon__os_lock_give(&stats_lock);
    return ok;
}

void gnomon__device_stats_drop(uint32_t generation)
{
    gnomon__device_stats_take(generation, 0, ignore_stats, NULL);
}
