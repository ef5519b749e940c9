/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folds one kind after the other, in the order of a file: so the references in a key
 * have their new numbers when keys are compared. In place: kept entities move to the
 * front. */
#include "profile/parts.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fold.h"

/* Our paths are not deeper; a damaged file's may be. */
#define DEEPEST 4096

/* The node of the same path in `stage`, for a node in no stage; 0: none. */
static uint32_t in_stage(const gnomon__fold *f, uint32_t node, uint32_t stage,
                         int depth)
{
    gnomon_node_info key =
        *(gnomon_node_info *)gnomon__model_at(f->m, GNOMON_NODES, node);
    uint32_t parent = key.parent && depth < DEEPEST
                          ? in_stage(f, key.parent, stage, depth + 1)
                          : 0;
    key.parent = parent ? parent : key.parent;
    key.stage = stage;
    return gnomon__fold_find(f, GNOMON_NODES, &key);
}

/* A part of late records has its outer paths in no stage: finds the same paths in the
 * node's stage. */
static void find_parent(const gnomon__fold *f, gnomon_node_info *n)
{
    const gnomon_node_info *above =
        n->stage && n->parent ? gnomon__model_at(f->m, GNOMON_NODES, n->parent)
                              : NULL;
    uint32_t parent =
        above && !above->stage ? in_stage(f, n->parent, n->stage, 0) : 0;
    n->parent = parent ? parent : n->parent;
}

static int unite_kind(gnomon__fold *f, gnomon__numbers *maps, int entity)
{
    gnomon__table *t = &f->m->tables[entity];
    const size_t count = t->count;
    uint32_t *map = gnomon__alloc((count + 1) * sizeof *map);
    int ok = map != NULL;
    maps->of[entity] = map; /* nodes name nodes */
    f->tracks = maps->of[GNOMON_TRACKS];
    t->count = 0;
    for (size_t i = 1; ok && i <= count; i++) {
        void *item = gnomon__model_at(f->m, entity, i);
        gnomon__renumber(maps, entity, item);
        if (entity == GNOMON_NODES)
            find_parent(f, item);
        ok = (map[i] = gnomon__fold_add(f, entity, item)) != 0;
    }
    return ok;
}

/* ---- The whole ------------------------------------------------------------------ */

static void keep_opens(gnomon__model *m, size_t first, size_t count)
{
    gnomon__table *t = &m->tables[GNOMON_OPENS];
    if (first + count > t->count + 1)
        count = 0;
    if (count)
        memmove(t->items, t->items + (first - 1) * t->size, count * t->size);
    t->count = count;
}

/* Only the last part says what is open. A node that was open in an earlier part may have
 * self time of an execution that it does not count: it is partial. */
static void count_opens(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_NODES); i++) {
        gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, i);
        if (n->open && n->host)
            n->flags |= GNOMON_NODE_PARTIAL;
        n->open = 0;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_OPENS); i++) {
        const gnomon_open_info *o = gnomon__model_at(m, GNOMON_OPENS, i);
        ((gnomon_node_info *)gnomon__model_at(m, GNOMON_NODES, o->node))
            ->open++;
    }
}

int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count,
                        gnomon__numbers *maps)
{
    gnomon__fold f = {
        .m = m, .way = &gnomon__fold_parts, .rules = GNOMON__UNITE_LENDS};
    int ok = 1;
    keep_opens(m, first_open, open_count);
    for (int i = 0; ok && i < GNOMON__ENTITIES; i++)
        ok = unite_kind(&f, maps, gnomon__file_order[i]);
    gnomon__fold_free(&f);
    if (!ok)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    count_opens(m);
    return GNOMON_OK;
}
