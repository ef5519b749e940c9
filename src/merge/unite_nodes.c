/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Paths that become one: by parent, track, stage, view, region and op. */
#include "merge/unite_nodes.h"

#include <string.h>

#include "profile/slots.h"
#include "platform/memory.h"

/* ---- Which ----------------------------------------------------------------------- */

int gnomon__united_has_stage(const gnomon__united_part *part, uint32_t stage)
{
    if (!part->only)
        return 1;
    return part->only->name ? part->map.of[GNOMON_STAGES][stage] != 0 : !stage;
}

/* Of a node by the part's numbers. */
static int is_chosen(const gnomon__united_part *part, const gnomon_node_info *n)
{
    return gnomon__united_has_stage(part, n->stage) &&
           (!part->only || !n->view || part->only->view == GNOMON__ALL_VIEWS ||
            part->map.of[GNOMON_VIEWS][n->view] == part->only->view);
}

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
        if (is_chosen(part, &n))
            node[i] = 1;
        if (node[i] && n.parent)
            node[n.parent] = 1;
        chosen += node[i];
    }
    return chosen;
}

/* ---- Blocks ------------------------------------------------------------------------ */

static int readings_of(const gnomon__unite *u)
{
    return (u->rules & GNOMON__UNITE_READINGS) != 0;
}

static int unite_sum(const gnomon__unite *u, gnomon__sum *to,
                     const gnomon_stats *s)
{
    if (!to->s.struct_size || !readings_of(u))
        return gnomon__sum_add(to, s);
    if (!s || gnomon__sum_compare(to, s) >= 0)
        return 0;
    int code = gnomon__sum_become(to, s);
    return code ? code : 1;
}

static int unite_memory(gnomon__united_part *part, gnomon__united_sums *to,
                        const gnomon_node_info *n)
{
    for (size_t i = 0; i < n->memory_count; i++) {
        gnomon_memory_stats m = *gnomon_memory_at(n, i);
        size_t k = 0;
        m.pool = part->map.of[GNOMON_TRACKS][m.pool];
        while (k < to->memory_count && to->memory[k].pool != m.pool)
            k++;
        if (k < to->memory_count) {
            gnomon__merge_fields(&gnomon__structs[GNOMON__MEMORY],
                                 &to->memory[k], &m, readings_of(part->u));
            continue;
        }
        gnomon_memory_stats *more =
            gnomon__realloc(to->memory, (k + 1) * sizeof *more);
        if (!more)
            return gnomon__no_memory_to_merge();
        more[k] = m;
        to->memory = more;
        to->memory_count = k + 1;
    }
    return GNOMON_OK;
}

static void unite_work(const gnomon__unite *u, gnomon__united_sums *to,
                       const gnomon_work_stats *w)
{
    if (w && to->work.struct_size)
        gnomon__merge_fields(&gnomon__structs[GNOMON__WORK], &to->work, w,
                             readings_of(u));
    else if (w)
        to->work = *w;
}

/* Gives the node sums of its own, with what it borrowed. 0: no memory. */
static int own_sums(gnomon__united_node *to)
{
    gnomon_node_info *info = &to->info;
    if (to->sums)
        return 1;
    to->sums = gnomon__alloc(sizeof *to->sums);
    if (!to->sums || gnomon__sum_become(&to->sums->host, info->host) ||
        gnomon__sum_become(&to->sums->device, info->device))
        return 0;
    if (info->work)
        to->sums->work = *info->work;
    info->host = info->device = NULL;
    info->work = NULL;
    return 1;
}

/* Pools are renumbered, so lists of memory are never borrowed. */
static int may_lend(const gnomon__unite *u, const gnomon_node_info *n,
                    int is_new)
{
    return is_new && u->rules & GNOMON__UNITE_LENDS && !n->memory_count;
}

/* With readings `open` is that of the reading that is kept. */
static int unite_blocks(gnomon__united_part *part, gnomon__united_node *to,
                        const gnomon_node_info *n, int is_new)
{
    gnomon__unite *u = part->u;
    to->info.flags |= n->flags;
    if (n->first && (!to->info.first || n->first < to->info.first))
        to->info.first = n->first;
    if (may_lend(u, n, is_new)) {
        to->info.host = n->host;
        to->info.device = n->device;
        to->info.work = n->work;
        return GNOMON_OK;
    }
    if (!own_sums(to))
        return gnomon__no_memory_to_merge();
    gnomon__united_sums *sums = to->sums;
    int had = sums->host.s.struct_size != 0;
    int same = had && n->host && !gnomon__stats_compare(&sums->host.s, n->host);
    int host = unite_sum(u, &sums->host, n->host);
    int device = unite_sum(u, &sums->device, n->device);
    if (host < 0 || device < 0)
        return GNOMON_ENOMEM;
    if (!is_new && had != (n->host != NULL)) /* children may be ahead of it */
        to->info.flags |= GNOMON_NODE_PARTIAL;
    if (!readings_of(u))
        to->info.open += is_new ? 0 : n->open;
    else if (!is_new && (host > 0 || (!had && n->host) ||
                         ((same || !had) && n->open > to->info.open)))
        to->info.open = n->open;
    unite_work(u, sums, n->work);
    return unite_memory(part, sums, n);
}

/* ---- Paths ----------------------------------------------------------------------- */

static int same_path(const void *context, uint32_t item, const void *wanted)
{
    const gnomon__unite *u = context;
    return gnomon__compare_keys(GNOMON_NODES, &u->node[item].info, wanted) == 0;
}

/* The number of the path, added if it is new; 0: no memory. */
static uint32_t path_of(gnomon__unite *u, const gnomon_node_info *n,
                        int *is_new)
{
    uint64_t hash = gnomon__hash_key(GNOMON_NODES, n);
    uint32_t number = gnomon__slots_find(&u->nodes, hash, same_path, u, n);
    *is_new = !number;
    if (number)
        return number;
    if (!gnomon__grow(&u->node, &u->node_room, u->node_count + 2,
                      sizeof *u->node))
        return (uint32_t)(gnomon__no_memory_to_merge(), 0);
    gnomon__united_node *to = &u->node[u->node_count + 1];
    memset(to, 0, sizeof *to);
    to->info = *n;
    to->info.host = to->info.device = NULL;
    to->info.memory = NULL;
    to->info.memory_count = 0;
    to->info.work = NULL;
    if (gnomon__slots_add(&u->nodes, hash, (uint32_t)u->node_count + 1))
        return 0;
    return (uint32_t)++u->node_count;
}

static int unite_node(gnomon__united_part *part, size_t i, gnomon_node_info *n)
{
    uint32_t *node = part->map.of[GNOMON_NODES];
    int is_new;
    int is_of_another = !is_chosen(part, n);
    gnomon__renumber(&part->map, GNOMON_NODES, n);
    if (is_of_another && n->parent)
        part->u->node[n->parent].info.flags |= GNOMON_NODE_PARTIAL;
    if (!node[i])
        return GNOMON_OK;
    if (is_of_another) {
        n->host = n->device = NULL;
        n->memory_count = 0;
        n->work = NULL;
    }
    uint32_t number = path_of(part->u, n, &is_new);
    node[i] = number;
    return number ? unite_blocks(part, &part->u->node[number], n, is_new)
                  : GNOMON_ENOMEM;
}

int gnomon__unite_nodes(gnomon__united_part *part)
{
    int code = GNOMON_OK;
    size_t chosen = choose_nodes(part);
    if (chosen && (!gnomon__grow(&part->u->node, &part->u->node_room,
                                 chosen + 2, sizeof *part->u->node) ||
                   gnomon__slots_reserve(&part->u->nodes, chosen)))
        return gnomon__no_memory_to_merge();
    for (size_t i = 1; !code && i <= part->count[GNOMON_NODES]; i++) {
        gnomon_node_info n;
        gnomon_profile_node(part->p, i, &n);
        if (part->map.of[GNOMON_TRACKS][n.track])
            code = unite_node(part, i, &n);
    }
    return code;
}

void gnomon__unite_nodes_free(gnomon__unite *u)
{
    for (size_t i = 1; i <= u->node_count; i++) {
        gnomon__united_sums *sums = u->node[i].sums;
        if (!sums)
            continue;
        gnomon__sum_free(&sums->host);
        gnomon__sum_free(&sums->device);
        gnomon__free(sums->memory);
        gnomon__free(sums);
    }
    gnomon__free(u->node);
}
