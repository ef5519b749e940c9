/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Paths that become one: by parent, track, stage, view, region and op. */
#include "merge/unite_nodes.h"

#include "merge/unite_filter.h"

/* ---- Which ----------------------------------------------------------------------- */

/* Chooses the nodes of the wanted stage, and their parents. A parent of another stage is
 * kept without statistics, and a parent of a left-out child is partial: as in the
 * summary of a stage. Returns how many. */
static size_t choose_nodes(gnomon__united_part *part)
{
    size_t chosen = 0;
    gnomon_node_info n;
    uint32_t *node = part->map.of[GNOMON_NODES];
    for (size_t i = part->count[GNOMON_NODES]; i >= 1; i--) {
        gnomon_profile_node(part->p, i, &n);
        if (!part->map.of[GNOMON_TRACKS][n.track]) /* of another run */
            continue;
        if (gnomon__united_is_chosen(part, &n))
            node[i] = 1;
        if (node[i] && n.parent)
            node[n.parent] = 1;
        chosen += node[i];
    }
    return chosen;
}

/* ---- Paths ----------------------------------------------------------------------- */

static int unite_node(gnomon__united_part *part, size_t i, gnomon_node_info *n)
{
    gnomon__fold *f = &part->u->fold;
    uint32_t *node = part->map.of[GNOMON_NODES];
    const int is_of_another = !gnomon__united_is_chosen(part, n);
    if (is_of_another && node[n->parent])
        gnomon__united_partial(part, node[n->parent]);
    if (!node[i])
        return GNOMON_OK;
    int is_taken = gnomon__filter_node(part, i, n, !is_of_another);
    if (is_taken <= 0)
        return is_taken ? gnomon__no_memory_to_merge() : GNOMON_OK;
    gnomon__renumber(&part->map, GNOMON_NODES, n);
    if (is_of_another) {
        n->host = n->device = NULL;
        n->memory_count = 0;
        n->work = NULL;
    }
    node[i] = gnomon__fold_add(f, GNOMON_NODES, n);
    return node[i] ? GNOMON_OK : gnomon__no_memory_to_merge();
}

int gnomon__unite_nodes(gnomon__united_part *part)
{
    int code = GNOMON_OK;
    gnomon__fold *f = &part->u->fold;
    size_t chosen = choose_nodes(part);
    if (chosen && (!gnomon__model_reserve(f->m, GNOMON_NODES, chosen) ||
                   gnomon__slots_reserve(&f->slots[GNOMON_NODES], chosen)))
        return gnomon__no_memory_to_merge();
    f->tracks = part->map.of[GNOMON_TRACKS];
    for (size_t i = 1; !code && i <= part->count[GNOMON_NODES]; i++) {
        gnomon_node_info n;
        gnomon_profile_node(part->p, i, &n);
        if (part->map.of[GNOMON_TRACKS][n.track])
            code = unite_node(part, i, &n);
    }
    return code;
}
