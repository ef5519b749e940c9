/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes rows level by level, from the roots down: the nodes of a level are sorted by
 * their parent's row and by name, and equal ones are one row. */
#include "print/tree.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "print/links.h"

typedef struct tree_node {
    uint32_t number; /* of the node */
    uint32_t depth;
    uint32_t parent; /* row */
    uint32_t group;
    uint32_t name; /* number of its name and category, in their order */
    uint32_t track;
    bool is_linked, is_range;
} tree_node;

typedef struct tree_work {
    const gnomon_profile *profile;
    uint32_t *parents; /* by the node's number */
    bool *linked;
    uint32_t *depths;
    uint32_t *rows;  /* of each node */
    uint32_t *names; /* by the region's number */
    tree_node *nodes;
    size_t node_count; /* of the profile */
    size_t count;      /* of `nodes`: those in the tree */
} tree_work;

/* ---- Names ----------------------------------------------------------------------- */

typedef struct tree_name {
    const char *name, *category;
    uint32_t region;
} tree_name;

static int by_tree_name(const void *left, const void *right)
{
    const tree_name *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->category, b->category);
}

static bool number_names(tree_work *w)
{
    size_t count = gnomon_profile_count(w->profile, GNOMON_REGIONS);
    tree_name *names = calloc(count + 1, sizeof *names);
    w->names = calloc(count + 1, sizeof *w->names);
    if (!names || !w->names) {
        free(names);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        gnomon_region_info region;
        (void)gnomon_profile_region(w->profile, i + 1, &region);
        names[i] = (tree_name){region.name, region.category, (uint32_t)i + 1};
    }
    qsort(names, count, sizeof *names, by_tree_name);
    for (size_t i = 0, used = 0; i < count; i++) {
        used += i && by_tree_name(&names[i - 1], &names[i]) != 0;
        w->names[names[i].region] = (uint32_t)used + 1;
    }
    free(names);
    return true;
}

/* ---- Levels ---------------------------------------------------------------------- */

/* The depth of each node. By a link, a parent may have a higher number than its
 * child. */
static bool find_depths(tree_work *w)
{
    uint32_t *way = calloc(w->node_count + 1, sizeof *way);
    w->depths = calloc(w->node_count + 1, sizeof *w->depths);
    if (!way || !w->depths) {
        free(way);
        return false;
    }
    for (uint32_t i = 1; i <= w->node_count; i++) {
        size_t n = 0;
        for (uint32_t at = i; at && !w->depths[at]; at = w->parents[at])
            way[n++] = at;
        while (n--) /* 1 is outermost */
            w->depths[way[n]] = w->depths[w->parents[way[n]]] + 1;
    }
    free(way);
    return true;
}

static bool is_in_tree(const tree_work *w, const gnomon_node_info *node)
{
    gnomon_region_info region;
    return gnomon_profile_region(w->profile, node->region, &region) ==
               GNOMON_OK &&
           region.kind != GNOMON_KIND_MARK &&
           region.kind != GNOMON_KIND_COUNTER;
}

static void read_nodes(tree_work *w, const gnomon__groups *groups)
{
    gnomon_node_info node;
    for (uint32_t i = 1; i <= w->node_count; i++) {
        if (gnomon_profile_node(w->profile, i, &node) != GNOMON_OK ||
            !is_in_tree(w, &node))
            continue;
        w->nodes[w->count++] = (tree_node){
            .number = i,
            .depth = w->depths[i] - 1,
            .parent = UINT32_MAX,
            .group = gnomon__group_of(groups, node.track, node.region),
            .name = w->names[node.region],
            .track = node.track,
            .is_linked = w->linked[i],
            .is_range = (node.flags & GNOMON_NODE_RANGE) != 0};
    }
}

static int by_depth(const void *left, const void *right)
{
    const tree_node *a = left, *b = right;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Nodes of one level that compare as equal are one row. */
static int by_level_row(const tree_node *a, const tree_node *b)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->parent == UINT32_MAX && a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->is_range != b->is_range)
        return a->is_range ? 1 : -1;
    return a->is_linked - b->is_linked;
}

static int by_level_row_and_track(const void *left, const void *right)
{
    const tree_node *a = left, *b = right;
    int order = by_level_row(a, b);
    if (order)
        return order;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* ---- Rows ------------------------------------------------------------------------ */

static void add_tree_node(gnomon__tree_row *row, const gnomon_node_info *node)
{
    if (node->host) {
        row->calls += node->host->count;
        row->total_ns += node->host->total_ns;
        row->self_ns += node->host->self_ns;
        if (node->host->max_ns > row->max_ns)
            row->max_ns = node->host->max_ns;
    }
    if (node->flags & GNOMON_NODE_PART)
        return;
    if (node->device) {
        row->device_calls += node->device->count;
        row->device_ns += node->device->total_ns;
    }
    row->has_times |=
        (node->host && (node->host->count || node->host->self_ns)) ||
        (node->device && node->device->count);
}

/* Work lies on tracks of its own. */
static bool tree_is_thread(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    return gnomon_profile_track(p, track, &t) == GNOMON_OK &&
           t.kind == GNOMON_TRACK_THREAD;
}

static void make_level(tree_work *w, gnomon__tree_rows *tree, tree_node *nodes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].depth)
            nodes[i].parent = w->rows[w->parents[nodes[i].number]];
    qsort(nodes, count, sizeof *nodes, by_level_row_and_track);
    for (size_t i = 0; i < count; i++) {
        const tree_node *n = &nodes[i];
        gnomon_node_info node;
        gnomon_region_info region;
        bool is_new = !i || by_level_row(&nodes[i - 1], n) != 0;
        (void)gnomon_profile_node(w->profile, n->number, &node);
        if (is_new) {
            (void)gnomon_profile_region(w->profile, node.region, &region);
            tree->rows[tree->count++] =
                (gnomon__tree_row){.parent = n->parent,
                                   .depth = n->depth,
                                   .group = n->group,
                                   .is_linked = n->is_linked,
                                   .is_range = n->is_range,
                                   .name = region.name,
                                   .category = region.category};
        }
        gnomon__tree_row *row = &tree->rows[tree->count - 1];
        if (is_new || nodes[i - 1].track != n->track)
            row->tracks += tree_is_thread(w->profile, n->track);
        add_tree_node(row, &node);
        w->rows[n->number] = tree->count - 1;
    }
}

static void make_tree_rows(tree_work *w, gnomon__tree_rows *tree)
{
    size_t from = 0;
    qsort(w->nodes, w->count, sizeof *w->nodes, by_depth);
    while (from < w->count) {
        size_t end = from;
        while (end < w->count && w->nodes[end].depth == w->nodes[from].depth)
            end++;
        make_level(w, tree, &w->nodes[from], end - from);
        from = end;
    }
    for (uint32_t i = tree->count; i--;)
        if (tree->rows[i].has_times && tree->rows[i].parent != UINT32_MAX)
            tree->rows[tree->rows[i].parent].has_times = true;
}

/* ---- Order ----------------------------------------------------------------------- */

typedef struct tree_key {
    const gnomon__tree_row *row;
    uint64_t key;
    uint32_t number;
} tree_key;

/* Puts siblings together, roots first. Of equal keys the lower row number comes first,
 * which is the order of names. */
static int by_sibling(const void *left, const void *right)
{
    const tree_key *a = left, *b = right;
    uint32_t x = a->row->parent + 1, y = b->row->parent + 1;
    if (x != y)
        return x < y ? -1 : 1;
    if (!x && a->row->group != b->row->group)
        return a->row->group < b->row->group ? -1 : 1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static bool order_tree_rows(gnomon__tree_rows *tree, int sort)
{
    tree_key *keys = calloc(tree->count + 1, sizeof *keys);
    tree->order = calloc((size_t)tree->count + 1, sizeof *tree->order);
    if (!keys || !tree->order) {
        free(keys);
        return false;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        const gnomon__tree_row *row = &tree->rows[i];
        uint64_t key = sort == GNOMON__TREE_SELF    ? row->self_ns
                       : sort == GNOMON__TREE_CALLS ? row->calls
                       : sort == GNOMON__TREE_NAME  ? 0
                                                    : row->total_ns;
        keys[i] = (tree_key){row, key, i};
    }
    qsort(keys, tree->count, sizeof *keys, by_sibling);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t parent = keys[i].row->parent;
        tree->order[i] = keys[i].number;
        if (parent == UINT32_MAX) {
            tree->roots++;
            continue;
        }
        if (!tree->rows[parent].count++)
            tree->rows[parent].first = i;
    }
    free(keys);
    return true;
}

int gnomon__tree_rows_make(gnomon__tree_rows *tree, int sort,
                           const gnomon__groups *groups,
                           const gnomon_profile *profile)
{
    size_t count = gnomon_profile_count(profile, GNOMON_NODES);
    tree_work w = {.profile = profile, .node_count = count};
    *tree = (gnomon__tree_rows){0};
    bool ok = !gnomon__linked_parents(&w.parents, &w.linked, profile) &&
              number_names(&w) && find_depths(&w);
    w.rows = calloc(count + 1, sizeof *w.rows);
    w.nodes = calloc(count + 1, sizeof *w.nodes);
    tree->rows = calloc(count + 1, sizeof *tree->rows);
    ok = ok && w.rows && w.nodes && tree->rows;
    if (ok) {
        read_nodes(&w, groups);
        make_tree_rows(&w, tree);
        ok = order_tree_rows(tree, sort);
    }
    free(w.parents);
    free(w.linked);
    free(w.depths);
    free(w.rows);
    free(w.names);
    free(w.nodes);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

void gnomon__tree_rows_free(gnomon__tree_rows *tree)
{
    free(tree->rows);
    free(tree->order);
    *tree = (gnomon__tree_rows){0};
}
