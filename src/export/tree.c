/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns what is read of nodes, which are few beside events. Numbers that lead nowhere
 * are taken as none: a profile that a plugin made need not keep the rules. */
#include "export/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Views ------------------------------------------------------------------- */

static uint32_t run_of_track(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    return gnomon_profile_track(p, track, &t) == GNOMON_OK ? t.run : 0;
}

/* self[run][view]. */
static void add_views(const gnomon_profile *p, uint64_t *self, size_t runs,
                      size_t views)
{
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        (void)gnomon_profile_node(p, i, &n);
        size_t run = n.view ? run_of_track(p, n.track) : 0;
        if (n.view && n.host && run <= runs && n.view <= views)
            self[run * (views + 1) + n.view] += n.host->self_ns + 1;
    }
}

static int choose_views(gnomon__export_tree *t)
{
    size_t runs = gnomon_profile_count(t->p, GNOMON_RUNS);
    size_t views = gnomon_profile_count(t->p, GNOMON_VIEWS);
    uint64_t *self = calloc((runs + 1) * (views + 1), sizeof *self);
    t->views = calloc(runs + 1, sizeof *t->views);
    if (!self || !t->views) {
        free(self);
        return GNOMON_ENOMEM;
    }
    add_views(t->p, self, runs, views);
    for (size_t run = 0; run <= runs; run++) {
        const uint64_t *of = &self[run * (views + 1)];
        for (uint32_t view = 1; view <= views; view++)
            if (of[view] > of[t->views[run]])
                t->views[run] = view;
    }
    free(self);
    return GNOMON_OK;
}

int gnomon__export_is_shown(const gnomon__export_tree *t,
                            const gnomon_node_info *node)
{
    if (!node->view)
        return 1;
    uint32_t run = run_of_track(t->p, node->track);
    return run <= gnomon_profile_count(t->p, GNOMON_RUNS) &&
           t->views[run] == node->view;
}

/* ---- Nodes ------------------------------------------------------------------- */

int gnomon__export_tree_begin(gnomon__export_tree *t, const gnomon_profile *p)
{
    const size_t regions = gnomon_profile_count(p, GNOMON_REGIONS);
    uint32_t deepest = 0;
    *t = (gnomon__export_tree){.p = p,
                               .count = gnomon_profile_count(p, GNOMON_NODES)};
    t->nodes = calloc(t->count + 1, sizeof *t->nodes);
    if (!t->nodes)
        return GNOMON_ENOMEM;
    for (size_t i = 1; i <= t->count; i++) {
        gnomon__export_node *to = &t->nodes[i];
        gnomon_node_info n;
        (void)gnomon_profile_node(p, i, &n);
        *to =
            (gnomon__export_node){.parent = n.parent < i ? n.parent : 0,
                                  .region = n.region <= regions ? n.region : 0,
                                  .stage = n.stage};
        to->depth = t->nodes[to->parent].depth + 1;
        deepest = to->depth > deepest ? to->depth : deepest;
    }
    t->path = calloc((size_t)deepest + 1, sizeof *t->path);
    return t->path ? choose_views(t) : GNOMON_ENOMEM;
}

void gnomon__export_tree_end(gnomon__export_tree *t)
{
    free(t->nodes);
    free(t->path);
    free(t->views);
    *t = (gnomon__export_tree){0};
}

const uint32_t *gnomon__export_path(gnomon__export_tree *t, uint32_t node)
{
    for (; node; node = t->nodes[node].parent)
        t->path[t->nodes[node].depth - 1] = t->nodes[node].region;
    return t->path;
}

uint64_t gnomon__export_self(const gnomon__export_tree *t, uint32_t node,
                             uint32_t *track)
{
    gnomon_node_info n;
    gnomon_track_info of;
    *track = 0;
    if (gnomon_profile_node(t->p, node, &n) != GNOMON_OK ||
        gnomon_profile_track(t->p, n.track, &of) != GNOMON_OK ||
        !gnomon__export_is_shown(t, &n))
        return 0;
    *track = n.track;
    if (n.host)
        return n.host->self_ns;
    return n.device && !(n.flags & GNOMON_NODE_PART) &&
                   of.kind == GNOMON_TRACK_STREAM
               ? n.device->self_ns
               : 0;
}

/* ---- Runs -------------------------------------------------------------------- */

size_t gnomon__export_runs(const gnomon__export *what)
{
    size_t runs = 0;
    for (size_t i = 0; i < what->count; i++)
        runs += gnomon_profile_count(what->profiles[i], GNOMON_RUNS);
    return runs;
}

const char *gnomon__export_run_name(char text[32], const gnomon_run_info *run,
                                    size_t number)
{
    if (run->rank < 0)
        snprintf(text, 32, "run %zu", number);
    else
        snprintf(text, 32, "rank %" PRId32, run->rank);
    return text;
}
