/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What nodes, tracks and stages do not hold: steps, open scopes, links, counters,
 * losses, metadata, events. All are taken in, and those of one key folded into
 * one when they have become twice as many, and at the end. */
#include <stdlib.h>
#include <string.h>

#include "offline/keys.h"
#include "offline/united.h"

#define FOLD_FROM 4096u /* of a kind: fewer are not worth it */

/* ---- Taking in ---------------------------------------------------------------- */

static uint32_t united_node(const gnomon__united_part *part, uint32_t node)
{
    return node ? part->node[node] : 0;
}

/* Moments have no meaning among ranks. */
static int has_moments(const gnomon__united_part *part)
{
    return !(part->u->rules & GNOMON__UNITE_RANKS);
}

static int take_step(gnomon__united_part *part, gnomon_step_info *s)
{
    s->stage = part->stage[s->stage];
    return s->stage && has_moments(part);
}

static int take_open(gnomon__united_part *part, gnomon_open_info *o)
{
    o->node = united_node(part, o->node);
    o->track = part->track[o->track];
    o->reserved = part->u->parts;
    return o->node && has_moments(part);
}

static int take_link(gnomon__united_part *part, gnomon_link_info *l)
{
    l->from = united_node(part, l->from);
    l->to = united_node(part, l->to);
    if (!has_moments(part)) /* nor do instances */
        l->from_instance = l->to_instance = 0;
    return l->from && l->to;
}

static int take_counter(gnomon__united_part *part, gnomon_counter_info *c)
{
    int is_left_out = part->only && (!c->stage || !part->stage[c->stage]);
    c->track = part->track[c->track];
    c->stage = c->stage ? part->stage[c->stage] : 0;
    c->region = part->map.region[c->region];
    return c->track && !is_left_out;
}

/* Those of no run are the file's: whoever reads it tells them. */
static int take_loss(gnomon__united_part *part, gnomon_loss_info *l)
{
    int is_ours = l->run == part->run &&
                  (l->run || !gnomon_profile_count(part->p, GNOMON_RUNS));
    l->run = !(part->u->rules & GNOMON__UNITE_NO_RUN);
    l->track = l->track ? part->track[l->track] : 0;
    if (!has_moments(part))
        l->begin_ns = l->end_ns = 0;
    return is_ours;
}

static int take_metadata(gnomon__united_part *part, gnomon_metadata_info *d)
{
    int is_ours = d->run == part->run && part->is_latest && has_moments(part);
    d->run = !(part->u->rules & GNOMON__UNITE_NO_RUN);
    return is_ours;
}

/* Of one stage what belongs to a path that is in, and what has no path but a
 * moment in it. */
static int take_event(gnomon__united_part *part, gnomon_event_info *e)
{
    int is_in = !part->only;
    for (size_t i = 1; !is_in && !e->node && i <= part->stages; i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(part->p, i, &s);
        is_in = part->stage[i] && e->begin_ns >= s.begin_ns &&
                e->begin_ns <= s.end_ns;
    }
    is_in = is_in || (e->node && part->node[e->node]);
    e->track = part->track[e->track];
    e->node = united_node(part, e->node);
    if (e->kind == GNOMON_EVENT_MEMORY)
        e->region = part->track[e->region];
    else
        e->region = part->map.region[e->region];
    e->reserved = part->u->parts;
    return e->track && is_in && has_moments(part);
}

typedef union united_fact {
    gnomon_step_info step;
    gnomon_open_info open;
    gnomon_link_info link;
    gnomon_counter_info counter;
    gnomon_loss_info loss;
    gnomon_metadata_info metadata;
    gnomon_event_info event;
} united_fact;

static int take_fact(gnomon__united_part *part, int entity, united_fact *f)
{
    switch (entity) {
    case GNOMON_STEPS:
        return take_step(part, &f->step);
    case GNOMON_OPENS:
        return take_open(part, &f->open);
    case GNOMON_LINKS:
        return take_link(part, &f->link);
    case GNOMON_COUNTERS:
        return take_counter(part, &f->counter);
    case GNOMON_LOSSES:
        return take_loss(part, &f->loss);
    case GNOMON_METADATA:
        return take_metadata(part, &f->metadata);
    default:
        return take_event(part, &f->event);
    }
}

static int keep_fact_texts(gnomon__unite *u, int entity, united_fact *f)
{
    if (entity == GNOMON_LOSSES)
        return gnomon__unite_text(u, &f->loss.kind);
    if (entity == GNOMON_METADATA)
        return gnomon__unite_text(u, &f->metadata.key) &&
               gnomon__unite_text(u, &f->metadata.json);
    return 1;
}

static const int fact_kinds[] = {
    GNOMON_STEPS,  GNOMON_OPENS,    GNOMON_LINKS, GNOMON_COUNTERS,
    GNOMON_LOSSES, GNOMON_METADATA, GNOMON_EVENTS};

int gnomon__unite_facts(gnomon__united_part *part)
{
    gnomon__model *m = part->u->m;
    for (size_t k = 0; k < sizeof fact_kinds / sizeof *fact_kinds; k++) {
        int entity = fact_kinds[k];
        size_t count = gnomon_profile_count(part->p, entity);
        for (size_t i = 1; i <= count; i++) {
            united_fact f;
            uint32_t size = (uint32_t)m->tables[entity].size;
            memcpy(&f, &size, sizeof size);
            part->p->api->get(part->p, entity, i, &f);
            if (!take_fact(part, entity, &f))
                continue;
            void *to = keep_fact_texts(part->u, entity, &f)
                           ? gnomon__model_add(m, entity)
                           : NULL;
            if (!to)
                return gnomon__no_memory_to_merge();
            memcpy(to, &f, size);
        }
        size_t now = gnomon__model_count(m, entity);
        if (now > FOLD_FROM && now > 2 * part->u->folded[entity])
            gnomon__fold_facts(part->u, entity);
    }
    return GNOMON_OK;
}
