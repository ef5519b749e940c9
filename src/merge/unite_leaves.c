/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Leaves: entities that no other entity refers to: open scopes, links, counters, losses,
 * metadata, events. All are added; those of one key are merged at the end, and each time
 * their number has doubled. */
#include <stdlib.h>
#include <string.h>

#include "merge/unite_filter.h"

#define MERGE_FROM 4096u /* of a kind: merging fewer is not worth its time */

/* ---- Taking in ---------------------------------------------------------------- */

/* Ranks have no common zero time, so moments of theirs are not kept in a sum. */
static int has_moments(const gnomon__united_part *part)
{
    return !(part->u->fold.rules & GNOMON__UNITE_RANKS);
}

/* Entities of no run belong to the file; gnomon__merge_rest has them. */
static int is_of_part(const gnomon__united_part *part, uint32_t run)
{
    return run == part->run && (run || !part->count[GNOMON_RUNS]);
}

/* An event with a node is in if its node is; one without is in if its moment is in the
 * stage that is asked for. */
static int is_event_in(const gnomon__united_part *part,
                       const gnomon_event_info *e)
{
    if (!part->only || e->node)
        return !part->only || part->map.of[GNOMON_NODES][e->node];
    for (size_t i = 1; i <= part->count[GNOMON_STAGES]; i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(part->p, i, &s);
        if ((part->map.of[GNOMON_STAGES][i] || !part->only->name) &&
            s.run == part->run && e->begin_ns >= s.begin_ns &&
            e->begin_ns <= s.end_ns)
            return part->only->name != NULL;
    }
    return !part->only->name;
}

/* Whether the leaf, which has the part's numbers, is wanted. Clears its fields that are
 * not. */
static int is_wanted(const gnomon__united_part *part, int entity,
                     gnomon__any *f)
{
    int moments = has_moments(part);
    switch (entity) {
    case GNOMON_LINKS:
        if (!moments) /* nor have instances */
            f->link.from_instance = f->link.to_instance = f->link.from_ns =
                f->link.to_ns = 0;
        return gnomon__filter_link(part, &f->link);
    case GNOMON_COUNTERS:
        return gnomon__united_has_stage(part, f->counter.stage) &&
               gnomon__filter_counter(part, f->counter.region);
    case GNOMON_LOSSES:
        if (!moments)
            f->loss.begin_ns = f->loss.end_ns = 0;
        return is_of_part(part, f->loss.run);
    case GNOMON_METADATA:
        return moments && part->is_latest && f->metadata.run == part->run;
    case GNOMON_EVENTS:
        f->event.reserved = part->u->parts;
        return moments && is_event_in(part, &f->event) &&
               gnomon__filter_event(part, &f->event);
    default: /* open scopes */
        f->open.reserved = part->u->parts;
        return moments && !gnomon__filter_left_out(part, f->open.node);
    }
}

/* Whether all its required references are in. */
static int is_whole(const gnomon__struct *s, const void *of)
{
    for (unsigned i = 0; i < s->field_count; i++)
        if (s->fields[i].type == GNOMON__TYPE_NUMBER &&
            s->fields[i].rules & GNOMON__NEEDED &&
            !gnomon__field_32(&s->fields[i], of))
            return 0;
    return 1;
}

static const int leaf_kinds[] = {GNOMON_OPENS,    GNOMON_LINKS,
                                 GNOMON_COUNTERS, GNOMON_LOSSES,
                                 GNOMON_METADATA, GNOMON_EVENTS};

int gnomon__unite_leaves(gnomon__united_part *part)
{
    gnomon__model *m = part->u->fold.m;
    for (size_t k = 0; k < sizeof leaf_kinds / sizeof *leaf_kinds; k++) {
        int entity = leaf_kinds[k];
        const gnomon__struct *s = &gnomon__structs[entity];
        if (entity == GNOMON_EVENTS &&
            part->u->fold.rules & GNOMON__UNITE_NO_EVENTS)
            continue;
        for (size_t i = 1; i <= part->count[entity]; i++) {
            gnomon__any f;
            f.struct_size = s->size;
            if (part->p->api->get(part->p, entity, i, &f) == GNOMON_EIO)
                return gnomon__changed_while_merged();
            if (!is_wanted(part, entity, &f))
                continue;
            gnomon__renumber(&part->map, entity, &f);
            if (!is_whole(s, &f))
                continue;
            void *to = gnomon__unite_keep(&part->u->fold, entity, &f)
                           ? gnomon__model_add(m, entity)
                           : NULL;
            if (!to)
                return gnomon__no_memory_to_merge();
            memcpy(to, &f, s->size);
        }
        size_t now = gnomon__model_count(m, entity);
        if (now > MERGE_FROM && now > 2 * part->u->merged_count[entity])
            gnomon__merge_leaves(part->u, entity);
    }
    return GNOMON_OK;
}
