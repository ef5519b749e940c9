/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is left of a damaged profile, made whole. Whatever names something that
 * is lost names a stand-in, or nothing; what says something only of lost things
 * goes. Sums may be short by what is lost, so all nodes are marked as partial. */
#include "profile/mend.h"

#include <string.h>

#include "platform/error.h"

#define LOST_NAME "(lost)"

static int is_missing(const gnomon__model *m, int entity, uint32_t number)
{
    return !number || number > gnomon__model_count(m, entity);
}

/* The number of a first one; 0: no memory. */
static uint32_t any_of(gnomon__model *m, int entity)
{
    if (gnomon__model_count(m, entity))
        return 1;
    return gnomon__model_add(m, entity) != NULL;
}

static int mend_runs(gnomon__model *m)
{
    size_t users = gnomon__model_count(m, GNOMON_STAGES) +
                   gnomon__model_count(m, GNOMON_TRACKS) +
                   gnomon__model_count(m, GNOMON_METADATA);
    if (users && !any_of(m, GNOMON_RUNS))
        return 0;
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_RUNS); i++) {
        gnomon_run_info *r = gnomon__model_at(m, GNOMON_RUNS, i);
        if (r->host)
            continue;
        r->rank = r->local_rank = r->world_size = -1;
        r->host = r->spec = r->clock = LOST_NAME;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_STAGES); i++) {
        gnomon_stage_info *s = gnomon__model_at(m, GNOMON_STAGES, i);
        if (is_missing(m, GNOMON_RUNS, s->run))
            s->run = 1;
        if (!s->name)
            s->name = LOST_NAME;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_TRACKS); i++) {
        gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, i);
        if (is_missing(m, GNOMON_RUNS, t->run))
            t->run = 1;
        if (!t->name)
            t->name = LOST_NAME;
    }
    return 1;
}

static void mend_names(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_REGIONS); i++) {
        gnomon_region_info *r = gnomon__model_at(m, GNOMON_REGIONS, i);
        if (!r->name) {
            r->name = LOST_NAME;
            r->category = r->file = r->function = "";
        }
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_VIEWS); i++) {
        gnomon_view_info *v = gnomon__model_at(m, GNOMON_VIEWS, i);
        if (!v->words)
            v->words = LOST_NAME;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_OPS); i++) {
        gnomon_op_info *o = gnomon__model_at(m, GNOMON_OPS, i);
        if (!o->operation)
            o->operation = LOST_NAME;
    }
}

static uint32_t run_of_track(const gnomon__model *m, uint32_t track)
{
    return ((gnomon_track_info *)gnomon__model_at(m, GNOMON_TRACKS, track))
        ->run;
}

static int has_its_pools(const gnomon__model *m, const gnomon_node_info *n)
{
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_track_info *pool;
        if (is_missing(m, GNOMON_TRACKS, n->memory[i].pool))
            return 0;
        pool = gnomon__model_at(m, GNOMON_TRACKS, n->memory[i].pool);
        if (pool->kind != GNOMON_TRACK_POOL ||
            pool->run != run_of_track(m, n->track))
            return 0;
    }
    return 1;
}

static void mend_nodes(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_NODES); i++) {
        gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, i);
        const gnomon_node_info *parent;
        const gnomon_stage_info *stage;
        n->flags |= GNOMON_NODE_PARTIAL;
        if (is_missing(m, GNOMON_TRACKS, n->track))
            n->track = 1;
        if (is_missing(m, GNOMON_REGIONS, n->region))
            n->region = 1;
        if (is_missing(m, GNOMON_OPS, n->op))
            n->op = 0;
        if (is_missing(m, GNOMON_VIEWS, n->view))
            n->view = 0;
        if (is_missing(m, GNOMON_STAGES, n->stage))
            n->stage = 0;
        if (n->stage) {
            stage = gnomon__model_at(m, GNOMON_STAGES, n->stage);
            if (stage->run != run_of_track(m, n->track))
                n->stage = 0;
        }
        if (n->parent && n->parent < i) {
            parent = gnomon__model_at(m, GNOMON_NODES, n->parent);
            if (parent->track != n->track)
                n->parent = 0;
        }
        if (!has_its_pools(m, n))
            n->memory_count = 0;
    }
}

static uint32_t run_of_node(const gnomon__model *m, uint32_t node)
{
    const gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, node);
    return run_of_track(m, n->track);
}

static int is_whole_counter(const gnomon__model *m,
                            const gnomon_counter_info *c)
{
    const gnomon_stage_info *stage;
    if (is_missing(m, GNOMON_TRACKS, c->track) ||
        is_missing(m, GNOMON_REGIONS, c->region) ||
        c->stage > gnomon__model_count(m, GNOMON_STAGES))
        return 0;
    stage = c->stage ? gnomon__model_at(m, GNOMON_STAGES, c->stage) : NULL;
    return !stage || stage->run == run_of_track(m, c->track);
}

static int is_whole_event(const gnomon__model *m, const gnomon_event_info *e)
{
    int is_memory = e->kind == GNOMON_EVENT_MEMORY;
    if (is_missing(m, GNOMON_TRACKS, e->track) ||
        e->node > gnomon__model_count(m, GNOMON_NODES))
        return 0;
    uint32_t run = run_of_track(m, e->track);
    if (e->node && run_of_node(m, e->node) != run)
        return 0;
    if (e->kind == GNOMON_EVENT_EXECUTION)
        return e->node &&
               ((gnomon_node_info *)gnomon__model_at(m, GNOMON_NODES, e->node))
                       ->track == e->track;
    if (is_missing(m, is_memory ? GNOMON_TRACKS : GNOMON_REGIONS, e->region))
        return 0;
    return !is_memory || run_of_track(m, e->region) == run;
}

/* Whether an entity that nothing names says something of what is there. */
static int is_whole(const gnomon__model *m, int entity, const void *item)
{
    const gnomon_step_info *step = item;
    const gnomon_open_info *open = item;
    const gnomon_link_info *link = item;
    const gnomon_metadata_info *data = item;
    const gnomon_loss_info *loss = item;
    switch (entity) {
    case GNOMON_STEPS:
        return !is_missing(m, GNOMON_STAGES, step->stage);
    case GNOMON_OPENS:
        if (is_missing(m, GNOMON_NODES, open->node))
            return 0;
        {
            const gnomon_node_info *n =
                gnomon__model_at(m, GNOMON_NODES, open->node);
            return n->open && n->track == open->track;
        }
    case GNOMON_LINKS:
        return !is_missing(m, GNOMON_NODES, link->from) &&
               !is_missing(m, GNOMON_NODES, link->to) && link->count &&
               run_of_node(m, link->from) == run_of_node(m, link->to);
    case GNOMON_COUNTERS:
        return is_whole_counter(m, item);
    case GNOMON_METADATA:
        return !is_missing(m, GNOMON_RUNS, data->run) && data->key;
    case GNOMON_LOSSES:
        return loss->run <= gnomon__model_count(m, GNOMON_RUNS) &&
               loss->track <= gnomon__model_count(m, GNOMON_TRACKS) &&
               loss->kind &&
               (!loss->track || run_of_track(m, loss->track) == loss->run);
    default: /* an event */
        return is_whole_event(m, item);
    }
}

static void drop_others(gnomon__model *m, int entity)
{
    gnomon__table *t = &m->tables[entity];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        const void *item = gnomon__model_at(m, entity, i);
        if (is_whole(m, entity, item))
            memmove(t->items + kept++ * t->size, item, t->size);
    }
    t->count = kept;
}

int gnomon__mend(gnomon__model *m)
{
    static const int unnamed[] = {
        GNOMON_STEPS,    GNOMON_OPENS,  GNOMON_LINKS, GNOMON_COUNTERS,
        GNOMON_METADATA, GNOMON_LOSSES, GNOMON_EVENTS};
    /* What nodes name first: a stand-in is mended as what was lost is. */
    if (gnomon__model_count(m, GNOMON_NODES) &&
        (!any_of(m, GNOMON_TRACKS) || !any_of(m, GNOMON_REGIONS)))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    if (!mend_runs(m))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    mend_names(m);
    mend_nodes(m);
    for (size_t i = 0; i < sizeof unnamed / sizeof *unnamed; i++)
        drop_others(m, unnamed[i]);
    return GNOMON_OK;
}
