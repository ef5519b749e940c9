/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes a valid profile of a damaged one. References to lost entities are changed to a
 * stand-in or to 0; entities that describe only lost ones are removed. Sums may lack
 * what was lost, so all nodes are marked as partial. */
#include "profile/repair.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "profile/fields.h"

#define LOST_NAME "(lost)"

void gnomon__dangling_add(gnomon__dangling *n, int entity, uint64_t number,
                          const gnomon__field *f, uint32_t target)
{
    uint64_t i = n->count++;
    if (i >= GNOMON__DANGLING_NAMED)
        return;
    int used = snprintf(n->named[i], sizeof n->named[i], "%s", f->name);
    if (target)
        used += snprintf(n->named[i] + used, sizeof n->named[i] - (size_t)used,
                         " %u", (unsigned)target);
    snprintf(n->named[i] + used, sizeof n->named[i] - (size_t)used,
             " of %s %llu", gnomon__structs[entity].one,
             (unsigned long long)number);
}

static int is_missing(const gnomon__model *m, int entity, uint32_t number)
{
    return !number || number > gnomon__model_count(m, entity);
}

/* Those that others name stay where they are: their numbers would change. */
static int is_named(int entity)
{
    return gnomon__is_shared(entity) || entity == GNOMON_RUNS ||
           entity == GNOMON_STAGES || entity == GNOMON_STEPS ||
           entity == GNOMON_TRACKS || entity == GNOMON_NODES;
}

/* ---- What is of all kinds --------------------------------------------------- */

/* A lost entity has no texts: its first becomes "(lost)", the others "", and its signed
 * numbers get their default, "not known". */
static void repair_texts(const gnomon__struct *s, void *item)
{
    const char *text = LOST_NAME;
    int is_lost = 0;
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        if (f->type != GNOMON__TYPE_TEXT || gnomon__field_pointer(f, item))
            continue;
        gnomon__field_set(f, item, &text, sizeof text);
        text = "";
        is_lost = 1;
    }
    for (unsigned i = 0; is_lost && i < s->field_count; i++) {
        int32_t unknown = s->fields[i].standard;
        if (s->fields[i].type == GNOMON__TYPE_I32)
            gnomon__field_set(&s->fields[i], item, &unknown, sizeof unknown);
    }
}

/* A model that is repaired. */
typedef struct model_repair {
    gnomon__model *m;
    const uint32_t *before; /* how many of a kind the file has before it */
    gnomon__dangling *dangling;
} model_repair;

/* The reference to store instead of an invalid one. 0 in a required field: the entity is
 * removed. */
static uint32_t repair_number(const model_repair *w, const gnomon__field *f,
                              const void *item, int entity, int is_first,
                              size_t run)
{
    const gnomon__model *m = w->m;
    const int kind = gnomon__number_of(f, item);
    const uint32_t number = gnomon__field_32(f, item);
    const int needed = f->rules & (GNOMON__NEEDED | GNOMON__OWNED);
    if (is_missing(m, kind, number))
        return needed && is_named(entity) ? 1 : 0;
    if (is_first || gnomon__is_shared(kind) ||
        gnomon__run_of(&m->base, kind, number) == run)
        return number;
    return 0;
}

/* Whether it stays. `i`: its number. */
static int repair_fields(const model_repair *w, int entity, size_t i,
                         void *item)
{
    const gnomon__model *m = w->m;
    const gnomon__struct *s = &gnomon__structs[entity];
    size_t run = 0;
    int is_first = 1;
    for (unsigned k = 0; k < s->field_count; k++) {
        const gnomon__field *f = &s->fields[k];
        const int needed = f->rules & (GNOMON__NEEDED | GNOMON__OWNED);
        if (f->type == GNOMON__TYPE_TEXT && needed &&
            !gnomon__field_pointer(f, item))
            return 0;
        if (f->type != GNOMON__TYPE_NUMBER)
            continue;
        uint32_t number = repair_number(w, f, item, entity, is_first, run);
        uint32_t was = gnomon__field_32(f, item);
        if (was && number != was)
            gnomon__dangling_add(w->dangling, entity, w->before[entity] + i, f,
                                 was);
        if (needed && !number)
            return 0;
        /* In these 0 means "all", so a lost reference removes the entity. */
        if ((entity == GNOMON_STEP_TIMES || entity == GNOMON_STRIPS) &&
            number != gnomon__field_32(f, item))
            return 0;
        gnomon__field_set(f, item, &number, sizeof number);
        if (is_first && number)
            run = gnomon__run_of(&m->base, gnomon__number_of(f, item), number);
        is_first = 0;
    }
    return 1;
}

/* ---- What is particular to a kind ------------------------------------------- */

static int has_its_pools(const gnomon__model *m, const gnomon_node_info *n)
{
    for (size_t i = 0; i < n->memory_count; i++) {
        const uint32_t number = gnomon_memory_at(n, i)->pool;
        const gnomon_track_info *pool, *track;
        if (is_missing(m, GNOMON_TRACKS, number))
            return 0;
        pool = gnomon__model_at(m, GNOMON_TRACKS, number);
        track = gnomon__model_at(m, GNOMON_TRACKS, n->track);
        if (pool->kind != GNOMON_TRACK_POOL || pool->run != track->run)
            return 0;
    }
    return 1;
}

static void repair_node(const gnomon__model *m, gnomon_node_info *n)
{
    const gnomon_node_info *parent =
        n->parent ? gnomon__model_at(m, GNOMON_NODES, n->parent) : NULL;
    n->flags |= GNOMON_NODE_PARTIAL;
    if (parent && parent->track != n->track)
        n->parent = 0;
    if (!has_its_pools(m, n))
        n->memory_count = 0;
}

static int is_on(const gnomon__model *m, uint32_t node, uint32_t track)
{
    const gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, node);
    return n->track == track;
}

/* Whether an entity with repaired references is still consistent. */
static int is_whole(const gnomon__model *m, int entity, const void *item)
{
    const gnomon_open_info *o = item;
    const gnomon_event_info *e = item;
    const gnomon_step_time_info *s = item;
    const gnomon_step_info *step;
    const gnomon_node_info *n;
    switch (entity) {
    case GNOMON_OPENS:
        n = gnomon__model_at(m, GNOMON_NODES, o->node);
        return n->open && n->track == o->track;
    case GNOMON_EVENTS:
        return e->kind == GNOMON_EVENT_EXECUTION
                   ? e->node && is_on(m, e->node, e->track)
                   : e->region != 0;
    case GNOMON_STEP_TIMES:
        step = s->step ? gnomon__model_at(m, GNOMON_STEPS, s->step) : NULL;
        return s->time && (!step || step->stage == s->stage);
    default:
        return 1;
    }
}

/* A parent must come before its child; else it is cut off. */
static void repair_parent(const model_repair *w, size_t i, gnomon_node_info *n)
{
    const gnomon__field *f = gnomon__structs[GNOMON_NODES].fields;
    if (n->parent < i)
        return;
    while (f->at != offsetof(gnomon_node_info, parent))
        f++;
    gnomon__dangling_add(w->dangling, GNOMON_NODES, w->before[GNOMON_NODES] + i,
                         f, n->parent);
    n->parent = 0;
}

static void repair_kind(const model_repair *w, int entity)
{
    gnomon__model *m = w->m;
    gnomon__table *t = &m->tables[entity];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        void *item = gnomon__model_at(m, entity, i);
        if (is_named(entity))
            repair_texts(&gnomon__structs[entity], item);
        if (entity == GNOMON_NODES)
            repair_parent(w, i, item);
        if (!repair_fields(w, entity, i, item) || !is_whole(m, entity, item)) {
            w->dangling->left_out[entity]++;
            continue;
        }
        if (entity == GNOMON_NODES)
            repair_node(m, item);
        memmove(t->items + kept++ * t->size, item, t->size);
    }
    t->count = kept;
}

/* ---- Runs of what is lost ------------------------------------------------------ */

/* Finds the run of lost tracks and stages, so that their records do not go to another
 * run: by nodes that refer to both, else the run of the one before, because runs are
 * written one after the other. */
static void find_runs(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_NODES); i++) {
        const gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, i);
        if (is_missing(m, GNOMON_TRACKS, n->track) ||
            is_missing(m, GNOMON_STAGES, n->stage))
            continue;
        gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, n->track);
        gnomon_stage_info *s = gnomon__model_at(m, GNOMON_STAGES, n->stage);
        if (!t->name && s->name && !t->run)
            t->run = s->run;
        if (!s->name && t->name && !s->run)
            s->run = t->run;
    }
    for (size_t i = 2; i <= gnomon__model_count(m, GNOMON_TRACKS); i++) {
        gnomon_track_info *t = gnomon__model_at(m, GNOMON_TRACKS, i);
        if (!t->name && !t->run)
            t->run = t[-1].run;
    }
    for (size_t i = 2; i <= gnomon__model_count(m, GNOMON_STAGES); i++) {
        gnomon_stage_info *s = gnomon__model_at(m, GNOMON_STAGES, i);
        if (!s->name && !s->run)
            s->run = s[-1].run;
    }
}

/* ---- The whole -------------------------------------------------------------- */

/* A first one; 0: no memory. */
static int any_of(gnomon__model *m, int entity)
{
    return gnomon__model_count(m, entity) || gnomon__model_add(m, entity);
}

int gnomon__repair_model(gnomon__model *m, const uint32_t *before,
                         gnomon__dangling *dangling)
{
    const model_repair w = {m, before, dangling};
    int ok = !gnomon__model_count(m, GNOMON_NODES) ||
             (any_of(m, GNOMON_TRACKS) && any_of(m, GNOMON_REGIONS));
    ok = ok &&
         (!gnomon__model_count(m, GNOMON_STEPS) || any_of(m, GNOMON_STAGES));
    size_t owned = gnomon__model_count(m, GNOMON_STAGES) +
                   gnomon__model_count(m, GNOMON_TRACKS) +
                   gnomon__model_count(m, GNOMON_METADATA);
    if (!ok || (owned && !any_of(m, GNOMON_RUNS)))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    find_runs(m);
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        repair_kind(&w, gnomon__file_order[i]);
    return GNOMON_OK;
}
