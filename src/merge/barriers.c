/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds barriers among events. Tapes of ranks may begin and end at different moments, so
 * the n-th execution is counted from the begin of its step, where steps are known. */
#include "merge/barriers.h"

#include <stdlib.h>
#include <string.h>

#include "merge/united.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "print/events.h"
#include "profile/compare.h"

#define MOST_BARRIERS 16384u

typedef struct barrier_reader {
    const gnomon_profile *p;
    const char *name;
    gnomon__barriers *out;
    gnomon_step_info *steps; /* by begin */
    size_t step_count;
    char *is_barrier; /* by node */
    uint64_t *keys;   /* likewise */
    uint32_t *n;      /* by node: executions in its last step */
    uint64_t *last;   /* by node: that step, and 1 */
} barrier_reader;

/* ---- What a barrier is -------------------------------------------------------------- */

/* A key says the same in all ranks: regions have one number in all, and threads a name.
 * Parents come before their children. */
static void name_node(barrier_reader *r, uint32_t node)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_stage_info stage = {.ordinal = 0};
    if (gnomon_profile_node(r->p, node, &n) ||
        gnomon_profile_region(r->p, n.region, &region) ||
        gnomon_profile_track(r->p, n.track, &track))
        return;
    (void)gnomon_profile_stage(r->p, n.stage, &stage);
    r->is_barrier[node] = r->name ? strcmp(region.name, r->name) == 0
                                  : region.kind == GNOMON_KIND_COLLECTIVE;
    r->keys[node] = gnomon__mix(
        n.parent ? r->keys[n.parent]
                 : gnomon__mix(gnomon__mix(stage.ordinal, track.kind),
                               gnomon__hash_text(track.name)),
        n.region);
}

static int compare_step_begins(const void *left, const void *right)
{
    const gnomon_step_info *a = left, *b = right;
    GNOMON__TRY_NUMBER(begin_ns);
    return 0;
}

static int begin_reading(barrier_reader *r)
{
    const size_t nodes = gnomon_profile_count(r->p, GNOMON_NODES);
    const size_t steps = gnomon_profile_count(r->p, GNOMON_STEPS);
    r->steps = gnomon__alloc((steps + 1) * sizeof *r->steps);
    r->is_barrier = gnomon__alloc(nodes + 1);
    r->keys = gnomon__alloc((nodes + 1) * sizeof *r->keys);
    r->n = gnomon__alloc((nodes + 1) * sizeof *r->n);
    r->last = gnomon__alloc((nodes + 1) * sizeof *r->last);
    if (!r->steps || !r->is_barrier || !r->keys || !r->n || !r->last)
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= nodes; i++)
        name_node(r, i);
    for (size_t i = 1; i <= steps; i++) {
        gnomon_step_info *s = &r->steps[r->step_count];
        if (!gnomon_profile_step(r->p, i, s) && s->end_ns)
            r->step_count++;
    }
    qsort(r->steps, r->step_count, sizeof *r->steps, compare_step_begins);
    return GNOMON_OK;
}

/* ---- Which are kept ------------------------------------------------------------------ */

static int is_kept(const gnomon__barriers *b, const gnomon__barrier *one)
{
    return (one->step ? one->step : one->n) % b->stride == 0;
}

/* Keeps every second of what is there. Other ranks do the same, so what is kept is the
 * same. */
static void thin_out(gnomon__barriers *b)
{
    size_t kept = 0;
    b->stride *= 2;
    for (size_t i = 0; i < b->count; i++)
        if (is_kept(b, &b->of[i]))
            b->of[kept++] = b->of[i];
    b->count = kept;
}

static const gnomon_step_info *step_around(const barrier_reader *r, uint64_t ns)
{
    size_t low = 0, high = r->step_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->steps[middle].begin_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low && ns < r->steps[low - 1].end_ns ? &r->steps[low - 1] : NULL;
}

static int read_barrier(barrier_reader *r, const gnomon_event_info *e)
{
    gnomon__barriers *b = r->out;
    if (e->kind != GNOMON_EVENT_EXECUTION || !r->is_barrier[e->node])
        return GNOMON_OK;
    const gnomon_step_info *step = step_around(r, e->begin_ns);
    const uint64_t place = step ? (uint64_t)(step - r->steps) + 1 : 0;
    if (r->last[e->node] != place)
        r->n[e->node] = 0;
    r->last[e->node] = place;
    gnomon__barrier one = {.key = r->keys[e->node],
                           .step = step ? step->number + 1 : 0,
                           .stage = step ? step->ordinal : 0,
                           .n = r->n[e->node]++,
                           .begin_ns = e->begin_ns,
                           .end_ns = e->begin_ns + e->duration_ns};
    if (!is_kept(b, &one))
        return GNOMON_OK;
    if (b->count == MOST_BARRIERS)
        thin_out(b);
    if (b->count == MOST_BARRIERS || !is_kept(b, &one))
        return GNOMON_OK;
    if (!gnomon__grow(&b->of, &b->room, b->count + 1, sizeof *b->of))
        return gnomon__no_memory_to_merge();
    b->of[b->count++] = one;
    return GNOMON_OK;
}

static int compare_barriers(const gnomon__barrier *a, const gnomon__barrier *b)
{
    GNOMON__TRY_NUMBER(stage);
    GNOMON__TRY_NUMBER(step);
    GNOMON__TRY_NUMBER(key);
    GNOMON__TRY_NUMBER(n);
    return 0;
}

static int barrier_order(const void *left, const void *right)
{
    const gnomon__barrier *a = left, *b = right;
    GNOMON__TRY(compare_barriers(a, b));
    GNOMON__TRY_NUMBER(begin_ns);
    return 0;
}

int gnomon__barriers_read(gnomon__barriers *out, const gnomon_profile *p,
                          const char *name)
{
    barrier_reader r = {.p = p, .name = name, .out = out};
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    *out = (gnomon__barriers){.stride = 1};
    int code = begin_reading(&r);
    gnomon__walk_all(&walk, p);
    while (!code && (e = gnomon__walk_next(&walk)) != NULL)
        code = read_barrier(&r, e);
    if (!code)
        code = gnomon__profile_failed(p);
    if (!code && out->count)
        qsort(out->of, out->count, sizeof *out->of, barrier_order);
    gnomon__free(r.steps);
    gnomon__free(r.is_barrier);
    gnomon__free(r.keys);
    gnomon__free(r.n);
    gnomon__free(r.last);
    return code;
}

void gnomon__barriers_free(gnomon__barriers *b)
{
    gnomon__free(b->of);
    memset(b, 0, sizeof *b);
}

/* ---- Two ranks --------------------------------------------------------------------- */

/* Whether no other of the run is like it, as on two threads of one name. */
static int is_alone(const gnomon__barriers *b, size_t i)
{
    return (!i || compare_barriers(&b->of[i - 1], &b->of[i])) &&
           (i + 1 == b->count || compare_barriers(&b->of[i + 1], &b->of[i]));
}

size_t gnomon__barriers_match(const gnomon__barriers *a,
                              const gnomon__barriers *b, double zero_b,
                              gnomon__clock_pair **out)
{
    size_t count = 0, i = 0, k = 0;
    gnomon__clock_pair *pairs = gnomon__alloc(
        ((a->count < b->count ? a->count : b->count) + 1) * sizeof *pairs);
    *out = pairs;
    while (pairs && i < a->count && k < b->count) {
        const gnomon__barrier *x = &a->of[i], *y = &b->of[k];
        const int order = compare_barriers(x, y);
        if (!order && is_alone(a, i) && is_alone(b, k)) {
            const double begin = zero_b + (double)y->begin_ns;
            const double end = zero_b + (double)y->end_ns;
            pairs[count++] =
                (gnomon__clock_pair){.at = (double)x->end_ns,
                                     .end = (double)x->end_ns - end,
                                     .least = (double)x->begin_ns - end,
                                     .most = (double)x->end_ns - begin};
        }
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}
