/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stage of a profile of several: what a snapshot of it alone would have held.
 * Paths of other stages lead to its own and count nothing. Tracks and regions
 * are numbered in the order in which paths name them, as a snapshot's are, since
 * reports that know no better order keep it. */
#include "cli/stage.h"

#include "platform/error.h"
#include "platform/memory.h"

/* Numbers in the profile that is made, by those in the one there is; 0: not
 * there. */
typedef struct cli_selection {
    const gnomon_profile *from;
    gnomon_builder *to;
    uint32_t stage; /* wanted */
    uint32_t *tracks, *regions;
    uint32_t *nodes;  /* first 1 where it is wanted */
    char *is_partial; /* by node: some of its children are not */
} cli_selection;

static uint32_t select_track(cli_selection *s, uint32_t number)
{
    gnomon_track_info track;
    if (!s->tracks[number]) {
        gnomon_profile_track(s->from, number, &track);
        track.run = 1;
        s->tracks[number] = gnomon_add_track(s->to, &track);
    }
    return s->tracks[number];
}

static uint32_t select_region(cli_selection *s, uint32_t number)
{
    gnomon_region_info region;
    if (!s->regions[number]) {
        gnomon_profile_region(s->from, number, &region);
        s->regions[number] = gnomon_add_region(s->to, &region);
    }
    return s->regions[number];
}

static int says_something(const gnomon_node_info *n)
{
    return n->open || n->device || (n->host && n->host->count);
}

/* What is of the stage, and all above it. Parents have smaller numbers. */
static void choose_nodes(cli_selection *s)
{
    gnomon_node_info n;
    for (size_t i = gnomon_profile_count(s->from, GNOMON_NODES); i > 0; i--) {
        gnomon_profile_node(s->from, i, &n);
        if (n.stage == s->stage && says_something(&n))
            s->nodes[i] = 1;
        if (s->nodes[i])
            s->nodes[n.parent] = 1;
        else if (says_something(&n))
            s->is_partial[n.parent] = 1;
    }
    s->nodes[0] = 0;
}

static void select_nodes(cli_selection *s)
{
    gnomon_node_info n;
    gnomon_open_info open;
    for (size_t i = 1; i <= gnomon_profile_count(s->from, GNOMON_NODES); i++) {
        if (!s->nodes[i])
            continue;
        gnomon_profile_node(s->from, i, &n);
        gnomon_node_info copy = {.track = select_track(s, n.track),
                                 .region = select_region(s, n.region),
                                 .parent = s->nodes[n.parent],
                                 .open = n.open,
                                 .flags = n.flags,
                                 .first = n.first};
        if (s->is_partial[i])
            copy.flags |= GNOMON_NODE_PARTIAL;
        if (n.stage == s->stage) {
            copy.stage = 1;
            copy.host = n.host;
            copy.device = n.device;
        }
        s->nodes[i] = gnomon_add_node(s->to, &copy);
    }
    for (size_t i = 1; i <= gnomon_profile_count(s->from, GNOMON_OPENS); i++) {
        gnomon_profile_open(s->from, i, &open);
        open.node = s->nodes[open.node];
        open.track = s->tracks[open.track];
        if (open.node)
            gnomon_add_open(s->to, &open);
    }
}

static void select_stage(cli_selection *s)
{
    gnomon_stage_info stage;
    gnomon_run_info run;
    gnomon_step_info step;
    gnomon_profile_stage(s->from, s->stage, &stage);
    gnomon_profile_run(s->from, stage.run, &run);
    gnomon_add_run(s->to, &run);
    stage.run = 1;
    gnomon_add_stage(s->to, &stage);
    for (size_t i = 1; i <= gnomon_profile_count(s->from, GNOMON_STEPS); i++) {
        gnomon_profile_step(s->from, i, &step);
        if (step.stage != s->stage)
            continue;
        step.stage = 1;
        gnomon_add_step(s->to, &step);
    }
}

int gnomon__cli_stage(const gnomon_profile *p, uint32_t number,
                      gnomon_profile **out)
{
    cli_selection s = {.from = p, .stage = number};
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES) + 1;
    int code = gnomon_builder_create(&s.to);
    *out = NULL;
    s.tracks = gnomon__alloc((gnomon_profile_count(p, GNOMON_TRACKS) + 1) *
                             sizeof *s.tracks);
    s.regions = gnomon__alloc((gnomon_profile_count(p, GNOMON_REGIONS) + 1) *
                              sizeof *s.regions);
    s.nodes = gnomon__alloc(nodes * sizeof *s.nodes);
    s.is_partial = gnomon__alloc(nodes);
    if (!code && s.tracks && s.regions && s.nodes && s.is_partial) {
        select_stage(&s);
        choose_nodes(&s);
        select_nodes(&s);
        code = gnomon_builder_finish(s.to, out);
    } else {
        gnomon_builder_free(s.to);
        code = gnomon__fail(GNOMON_ENOMEM, "no memory for a stage");
    }
    gnomon__free(s.tracks);
    gnomon__free(s.regions);
    gnomon__free(s.nodes);
    gnomon__free(s.is_partial);
    return code;
}
