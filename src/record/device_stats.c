/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table of statistics by node. Each has its histogram as a list of the
 * cells that are in use: a path's durations fall into few.
 *
 * Invariant: a statistic's count is the sum of its cells. */
#include "record/device_stats.h"

#include <pthread.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/memory.h"

typedef struct device_stats {
    struct device_stats *next;
    uint32_t node, generation;
    uint64_t count, total_ns, self_ns, min_ns, max_ns;
    gnomon_cell *cells; /* ascending */
    uint32_t cell_count, cell_room;
} device_stats;

#define STATS_BUCKETS 1024u

static device_stats **buckets; /* NULL: nothing was added yet */
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;

/* Nodes lie 128 bytes apart. */
static device_stats **stats_bucket(uint32_t node, uint32_t generation)
{
    return &buckets[(node / 128 + generation * 31) % STATS_BUCKETS];
}

static device_stats *stats_find(uint32_t node, uint32_t generation)
{
    device_stats *s = buckets ? *stats_bucket(node, generation) : NULL;
    while (s && (s->node != node || s->generation != generation))
        s = s->next;
    return s;
}

static device_stats *stats_make(uint32_t node, uint32_t generation)
{
    if (!buckets && !(buckets = gnomon__alloc(STATS_BUCKETS * sizeof *buckets)))
        return NULL;
    device_stats *s = stats_find(node, generation);
    if (s || !(s = gnomon__alloc(sizeof *s)))
        return s;
    device_stats **bucket = stats_bucket(node, generation);
    s->node = node;
    s->generation = generation;
    s->next = *bucket;
    *bucket = s;
    return s;
}

/* One more in `cell`. 0: no memory. */
static int stats_count(device_stats *s, uint32_t cell)
{
    uint32_t low = 0, high = s->cell_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (s->cells[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < s->cell_count && s->cells[low].cell == cell) {
        s->cells[low].count++;
        return 1;
    }
    if (s->cell_count == s->cell_room) {
        uint32_t room = s->cell_room ? 2 * s->cell_room : 8;
        gnomon_cell *more = gnomon__realloc(s->cells, room * sizeof *more);
        if (!more)
            return 0;
        s->cells = more;
        s->cell_room = room;
    }
    memmove(&s->cells[low + 1], &s->cells[low],
            (s->cell_count - low) * sizeof *s->cells);
    s->cells[low] = (gnomon_cell){cell, 0, 1};
    s->cell_count++;
    return 1;
}

int gnomon__device_stats_add(uint32_t node, uint32_t generation, uint64_t ns,
                             uint64_t self_ns)
{
    pthread_mutex_lock(&stats_lock);
    device_stats *s = stats_make(node, generation);
    int ok = s && stats_count(s, gnomon_cell_of(ns));
    if (ok) {
        if (!s->count || ns < s->min_ns)
            s->min_ns = ns;
        if (ns > s->max_ns)
            s->max_ns = ns;
        s->count++;
        s->total_ns += ns;
        s->self_ns += self_ns;
    }
    pthread_mutex_unlock(&stats_lock);
    return ok;
}

int gnomon__device_stats_get(uint32_t node, uint32_t generation,
                             gnomon_stats *out, gnomon_cell *cells)
{
    pthread_mutex_lock(&stats_lock);
    const device_stats *s = stats_find(node, generation);
    if (s && s->count) {
        *out = (gnomon_stats){.struct_size = sizeof *out,
                              .count = s->count,
                              .total_ns = s->total_ns,
                              .self_ns = s->self_ns,
                              .min_ns = s->min_ns,
                              .max_ns = s->max_ns,
                              .cells = cells,
                              .cell_count = s->cell_count};
        memcpy(cells, s->cells, s->cell_count * sizeof *cells);
    } else {
        s = NULL;
    }
    pthread_mutex_unlock(&stats_lock);
    return s != NULL;
}

void gnomon__device_stats_drop(uint32_t generation)
{
    pthread_mutex_lock(&stats_lock);
    for (uint32_t i = 0; buckets && i < STATS_BUCKETS; i++) {
        device_stats **at = &buckets[i];
        while (*at) {
            device_stats *s = *at;
            if (s->generation != generation) {
                at = &s->next;
                continue;
            }
            *at = s->next;
            gnomon__free(s->cells);
            gnomon__free(s);
        }
    }
    pthread_mutex_unlock(&stats_lock);
}

void gnomon__device_stats_forget(void)
{
    stats_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    gnomon__inherited(buckets);
    buckets = NULL;
}
