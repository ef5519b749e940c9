/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links between executions, as flows of a Chrome trace: all links of a kind from one
 * cause are one flow, which begins at its row and ends at each effect's. */
#include "export/chrome.h"

#include <stdlib.h>

static int compare_causes(const void *left, const void *right)
{
    const gnomon__chrome_end *a = left, *b = right;
    if (a->run != b->run)
        return a->run > b->run ? 1 : -1;
    if (a->instance != b->instance)
        return a->instance > b->instance ? 1 : -1;
    if (a->kind != b->kind)
        return a->kind > b->kind ? 1 : -1;
    if (a->flow != b->flow)
        return a->flow > b->flow ? 1 : -1;
    return (a->link > b->link) - (a->link < b->link);
}

/* Executions are numbered in each run anew. */
static uint32_t run_of_node(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    gnomon_track_info k;
    return !gnomon_profile_node(p, node, &n) &&
                   !gnomon_profile_track(p, n.track, &k)
               ? k.run
               : 0;
}

static size_t list_ends(gnomon__chrome_end *ends, const gnomon_profile *p,
                        int is_effect)
{
    size_t n = 0;
    gnomon_link_info l;
    for (size_t i = 1; !gnomon_profile_link(p, i, &l); i++)
        if (l.from_instance && l.to_instance)
            ends[n++] = (gnomon__chrome_end){
                .instance = is_effect ? l.to_instance : l.from_instance,
                .run = run_of_node(p, is_effect ? l.to : l.from),
                .link = (uint32_t)i,
                .kind = (uint8_t)l.kind,
                .is_effect = (uint8_t)is_effect};
    return n;
}

/* Causes in order: equal ones, of a kind, are one flow. Notes each link's flow. */
static size_t number_flows(gnomon__chrome_end *causes, size_t count,
                           uint32_t *flow_of)
{
    size_t flows = 0;
    for (size_t i = 0; i < count; i++) {
        int is_same = i && causes[i].run == causes[i - 1].run &&
                      causes[i].instance == causes[i - 1].instance &&
                      causes[i].kind == causes[i - 1].kind;
        flows += !is_same;
        flow_of[causes[i].link] = (uint32_t)flows - 1;
        causes[i].flow = (uint32_t)flows - 1;
        causes[i].is_again = (uint8_t)is_same;
    }
    return flows;
}

int gnomon__chrome_links_begin(gnomon__chrome_links *l, const gnomon_profile *p,
                               uint64_t first)
{
    size_t links = gnomon_profile_count(p, GNOMON_LINKS);
    uint32_t *flow_of = calloc(links + 1, sizeof *flow_of);
    *l = (gnomon__chrome_links){.first = first};
    l->ends = calloc(2 * links + 1, sizeof *l->ends);
    l->external = calloc(links + 1, sizeof *l->external);
    l->label = calloc(links + 1, sizeof *l->label);
    l->has_call = calloc(links + 1, 1);
    int ok = flow_of && l->ends && l->external && l->label && l->has_call;
    if (ok) {
        size_t causes = list_ends(l->ends, p, 0);
        qsort(l->ends, causes, sizeof *l->ends, compare_causes);
        l->flows = number_flows(l->ends, causes, flow_of);
        l->count = causes + list_ends(l->ends + causes, p, 1);
        for (size_t i = causes; i < l->count; i++)
            l->ends[i].flow = flow_of[l->ends[i].link];
        qsort(l->ends, l->count, sizeof *l->ends, compare_causes);
    }
    free(flow_of);
    return ok;
}

void gnomon__chrome_links_end(gnomon__chrome_links *l)
{
    free(l->ends);
    free(l->external);
    free(l->label);
    free(l->has_call);
    *l = (gnomon__chrome_links){0};
}

const gnomon__chrome_end *gnomon__chrome_links_at(const gnomon__chrome_links *l,
                                                  const gnomon_profile *p,
                                                  const gnomon_event_info *e,
                                                  size_t *count)
{
    const uint64_t instance = e->instance;
    gnomon_track_info k;
    size_t low = 0, high = l->count;
    *count = 0;
    if (!instance || !high || gnomon_profile_track(p, e->track, &k))
        return NULL;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const gnomon__chrome_end *at = &l->ends[middle];
        if (at->run < k.run || (at->run == k.run && at->instance < instance))
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < l->count && l->ends[low + *count].run == k.run &&
           l->ends[low + *count].instance == instance)
        ++*count;
    return l->ends + low;
}

const gnomon__chrome_end *gnomon__chrome_launch(const gnomon__chrome_end *ends,
                                                size_t count)
{
    for (size_t i = count; i > 0; i--)
        if (ends[i - 1].kind == GNOMON_LINK_LAUNCH)
            return &ends[i - 1];
    return NULL;
}
