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

/* Those that others name stay where they are: their numbers would change. */
static int is_named(int entity)
{
    return gnomon__is_shared(entity) || entity == GNOMON_RUNS ||
           entity == GNOMON_STAGES || entity == GNOMON_STEPS ||
           entity == GNOMON_TRACKS || entity == GNOMON_NODES;
}

/* The run of an entity that is mended. */
static uint32_t run_of(const gnomon__model *m, int entity, uint32_t number)
{
    while (entity != GNOMON_RUNS) {
        const gnomon__field *first =
            gnomon__first_number(&gnomon__structs[entity]);
        number = gnomon__field_32(first, gnomon__model_at(m, entity, number));
        entity = first->of;
    }
    return number;
}

/* ---- What is of all kinds --------------------------------------------------- */

/* Of one that is lost all texts are missing. Its first says so then; and its
 * numbers are what nobody knows. */
static void mend_texts(const gnomon__struct *s, void *item)
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

/* What a number may be instead; 0 where it must be one: it goes with its entity. */
static uint32_t mend_number(const gnomon__model *m, const gnomon__field *f,
                            const void *item, int entity, int is_first,
                            uint32_t run)
{
    const int kind = gnomon__number_of(f, item);
    const uint32_t number = gnomon__field_32(f, item);
    const int needed = f->rules & (GNOMON__NEEDED | GNOMON__OWNED);
    if (is_missing(m, kind, number))
        return needed && is_named(entity) ? 1 : 0;
    if (is_first || gnomon__is_shared(kind) || run_of(m, kind, number) == run)
        return number;
    return 0;
}

/* Whether it stays. */
static int mend_fields(const gnomon__model *m, int entity, void *item)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    uint32_t run = 0;
    int is_first = 1;
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        const int needed = f->rules & (GNOMON__NEEDED | GNOMON__OWNED);
        if (f->type == GNOMON__TYPE_TEXT && needed &&
            !gnomon__field_pointer(f, item))
            return 0;
        if (f->type != GNOMON__TYPE_NUMBER)
            continue;
        uint32_t number = mend_number(m, f, item, entity, is_first, run);
        if (needed && !number)
            return 0;
        /* 0 means all of them there. */
        if (entity == GNOMON_STEP_TIMES && number != gnomon__field_32(f, item))
            return 0;
        gnomon__field_set(f, item, &number, sizeof number);
        if (is_first && number)
            run = run_of(m, gnomon__number_of(f, item), number);
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

static void mend_node(const gnomon__model *m, gnomon_node_info *n)
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

/* Whether an entity, all of whose numbers are mended, still says something. */
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

static void mend_kind(gnomon__model *m, int entity)
{
    gnomon__table *t = &m->tables[entity];
    size_t kept = 0;
    for (size_t i = 1; i <= t->count; i++) {
        void *item = gnomon__model_at(m, entity, i);
        if (is_named(entity))
            mend_texts(&gnomon__structs[entity], item);
        if (entity == GNOMON_NODES && ((gnomon_node_info *)item)->parent >= i)
            ((gnomon_node_info *)item)->parent = 0;
        if (!mend_fields(m, entity, item) || !is_whole(m, entity, item))
            continue;
        if (entity == GNOMON_NODES)
            mend_node(m, item);
        memmove(t->items + kept++ * t->size, item, t->size);
    }
    t->count = kept;
}

/* ---- The whole -------------------------------------------------------------- */

/* A first one; 0: no memory. */
static int any_of(gnomon__model *m, int entity)
{
    return gnomon__model_count(m, entity) || gnomon__model_add(m, entity);
}

int gnomon__mend(gnomon__model *m)
{
    int ok = !gnomon__model_count(m, GNOMON_NODES) ||
             (any_of(m, GNOMON_TRACKS) && any_of(m, GNOMON_REGIONS));
    ok = ok &&
         (!gnomon__model_count(m, GNOMON_STEPS) || any_of(m, GNOMON_STAGES));
    size_t owned = gnomon__model_count(m, GNOMON_STAGES) +
                   gnomon__model_count(m, GNOMON_TRACKS) +
                   gnomon__model_count(m, GNOMON_METADATA);
    if (!ok || (owned && !any_of(m, GNOMON_RUNS)))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        mend_kind(m, gnomon__file_order[i]);
    return GNOMON_OK;
}
