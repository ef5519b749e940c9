/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table of functions as a tree of calls. A path from a function to one that it calls takes
 * the part of that edge's time that the path has of the caller's time: as viewers of such
 * files do, and gprof. A call of what is on the path already is in the time that is there.
 * Paths below a thousandth of all are not followed; what a function has in none of its paths
 * is given to its largest one, so that its sums are those of the file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/prof_read.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"

#define TREE_LEAST 0.001
#define TREE_DEPTH 200
#define TREE_MOST 100000u /* paths */

typedef struct tree_node {
    uint32_t function, parent; /* a node, from 1; 0: outermost */
    uint32_t depth;
    gnomon__prof_times times;
    double calls;
} tree_node;

typedef struct prof_tree {
    const gnomon__prof_table *t;
    tree_node *nodes;
    size_t count, room;
    uint32_t *largest; /* by function: its node, from 1 */
    double least;      /* ns */
} prof_tree;

GNOMON__ORDER(by_caller, gnomon__prof_edge, UP(caller), UP(callee))

static int tree_add(prof_tree *p, uint32_t function, uint32_t parent,
                    const gnomon__prof_times *times, double part)
{
    if (!gnomon__grow(&p->nodes, &p->room, p->count + 1, sizeof *p->nodes))
        return GNOMON_ENOMEM;
    p->nodes[p->count] =
        (tree_node){function,
                    parent,
                    parent ? p->nodes[parent - 1].depth + 1 : 0,
                    {.self = times->self * part, .total = times->total * part},
                    (double)times->calls * part};
    const uint32_t number = (uint32_t)++p->count;
    uint32_t *largest = &p->largest[function];
    if (!*largest ||
        p->nodes[*largest - 1].times.total < p->nodes[number - 1].times.total)
        *largest = number;
    return GNOMON_OK;
}

static int is_on_path(const prof_tree *p, uint32_t node, uint32_t function)
{
    for (; node; node = p->nodes[node - 1].parent)
        if (p->nodes[node - 1].function == function)
            return 1;
    return 0;
}

/* Nodes are followed in the order in which they were made: so the largest parts of all are
 * there before there are too many. */
static int tree_follow(prof_tree *p, uint32_t number)
{
    const tree_node n = p->nodes[number - 1];
    const double whole = p->t->functions[n.function].times.total;
    const double part = whole > 0 ? fmin(n.times.total / whole, 1) : 0;
    int code = GNOMON_OK;
    size_t at = 0, end = p->t->edge_count;
    GNOMON__SEARCH(at, end, i, p->t->edges[i].caller < n.function)
    for (;
         !code && at < p->t->edge_count && p->t->edges[at].caller == n.function;
         at++) {
        const gnomon__prof_edge *e = &p->t->edges[at];
        if (e->times.total * part >= p->least && n.depth < TREE_DEPTH &&
            p->count < TREE_MOST && !is_on_path(p, number, e->callee))
            code = tree_add(p, e->callee, number, &e->times, part);
    }
    return code;
}

/* Functions that nobody calls but themselves are outermost. */
static int tree_make(prof_tree *p)
{
    const gnomon__prof_table *t = p->t;
    double all = 0;
    uint32_t followed = 0;
    int code = GNOMON_OK;
    char *is_called = gnomon__alloc(t->count + 1);
    p->largest = gnomon__alloc((t->count + 1) * sizeof *p->largest);
    if (!is_called || !p->largest)
        code = GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < t->edge_count; i++)
        is_called[t->edges[i].callee] |=
            t->edges[i].caller != t->edges[i].callee;
    for (size_t i = 0; i < t->count; i++)
        all += t->functions[i].times.self;
    p->least = all * TREE_LEAST;
    for (uint32_t i = 0; !code && i < t->count; i++)
        if (!is_called[i])
            code = tree_add(p, i, 0, &t->functions[i].times, 1);
    for (uint32_t i = 0; !code && i <= t->count; i++) {
        if (i && !p->largest[i - 1]) /* too short, or in a circle */
            code = tree_add(p, i - 1, 0, &t->functions[i - 1].times, 1);
        while (!code && followed < p->count)
            code = tree_follow(p, ++followed);
    }
    gnomon__free(is_called);
    return code;
}

/* What the other nodes of a function leave of its sums is the largest one's. */
static int tree_settle(prof_tree *p)
{
    gnomon__prof_times *left = gnomon__alloc((p->t->count + 1) * sizeof *left);
    if (!left)
        return GNOMON_ENOMEM;
    for (size_t f = 0; f < p->t->count; f++)
        left[f] = p->t->functions[f].times;
    for (uint32_t i = 1; i <= p->count; i++) {
        tree_node *n = &p->nodes[i - 1];
        gnomon__prof_times *l = &left[n->function];
        if (p->largest[n->function] == i)
            continue;
        n->times.calls = (uint64_t)fmax(floor(n->calls), 1);
        l->calls -= n->times.calls < l->calls ? n->times.calls : l->calls;
        l->self = fmax(l->self - n->times.self, 0);
        l->total = fmax(l->total - n->times.total, 0);
    }
    for (uint32_t i = 1; i <= p->count; i++) {
        tree_node *n = &p->nodes[i - 1];
        if (p->largest[n->function] == i)
            n->times = left[n->function];
    }
    gnomon__free(left);
    return GNOMON_OK;
}

/* ---- The profile --------------------------------------------------------------------- */

/* How long single calls took is not known: each is as long as their mean. */
static void put_node(gnomon_builder *b, const tree_node *n)
{
    const uint64_t total = (uint64_t)n->times.total;
    const uint64_t self = (uint64_t)n->times.self;
    const uint64_t count = n->times.calls || !total ? n->times.calls : 1;
    const uint64_t mean = count ? total / count : 0;
    const gnomon_cell cell = {gnomon_cell_of(mean), 0, count};
    const gnomon_stats s = {.struct_size = sizeof s,
                            .count = count,
                            .total_ns = total,
                            .self_ns = self < total ? self : total,
                            .min_ns = mean,
                            .max_ns = mean,
                            .cells = &cell,
                            .cell_count = count != 0};
    gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                           .stage = 1,
                                           .parent = n->parent,
                                           .region = n->function + 1,
                                           .flags = GNOMON_NODE_CROSSED,
                                           .host = &s});
}

/* Names as in pstats: "~" is the file of built-in functions. */
static void put_function(gnomon_builder *b, const gnomon__prof_function *f)
{
    const int is_plain = strcmp(f->file, "~") == 0 && !f->line;
    gnomon_add_region(b, &(gnomon_region_info){.kind = GNOMON_KIND_FUNCTION,
                                               .name = f->name,
                                               .file = is_plain ? "" : f->file,
                                               .line = f->line});
}

static int tree_put(const prof_tree *p, gnomon_profile **out)
{
    gnomon_builder *b;
    double all = 0;
    int code = gnomon_builder_create(&b);
    if (code)
        return code;
    for (size_t i = 0; i < p->t->count; i++)
        all += p->t->functions[i].times.self;
    const uint64_t all_ns = (uint64_t)fmin(all, (double)INT64_MAX);
    gnomon_add_run(b, &(gnomon_run_info){.rank = -1,
                                         .local_rank = -1,
                                         .world_size = -1,
                                         .now_ns = all_ns});
    gnomon_add_stage(b,
                     &(gnomon_stage_info){
                         .ordinal = 1, .run = 1, .ended = 1, .end_ns = all_ns});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .name = "cProfile", .device = -1});
    for (size_t i = 0; i < p->t->count; i++)
        put_function(b, &p->t->functions[i]);
    for (size_t i = 0; i < p->count; i++)
        put_node(b, &p->nodes[i]);
    return gnomon_builder_finish(b, out);
}

int gnomon__prof_read(gnomon_profile **out, const void *bytes, size_t size)
{
    gnomon__prof_table table = {0};
    prof_tree p = {.t = &table};
    int code = gnomon__prof_table_read(&table, bytes, size);
    *out = NULL;
    GNOMON__SORT(table.edges, table.edge_count, by_caller);
    if (!code && (tree_make(&p) || tree_settle(&p)))
        code = gnomon__fail(GNOMON_ENOMEM, "no memory for its tree");
    if (!code)
        code = tree_put(&p, out);
    if (!code)
        gnomon__fail(GNOMON_OK, "a file of cProfile: the time of a function "
                                "is split among its callers, as their calls "
                                "of it took, and calls are as long as their "
                                "mean");
    gnomon__free(p.largest);
    gnomon__free(p.nodes);
    gnomon__prof_table_free(&table);
    return code;
}
