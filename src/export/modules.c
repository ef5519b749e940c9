/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "export/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/chrome.h"
#include "print/order.h"

/* From the weakest sign of a layer on: the strongest one that a profile has decides. */
enum { NO_LAYER, BY_OPERATION, BY_CATEGORY, BY_TORCH };

static const char prefix[] = "nn.Module: ";

typedef struct module_path {
    uint32_t region, parent;
    unsigned char is_work;   /* an operation of forward */
    unsigned char is_around; /* some, at any depth */
    unsigned char is_next;   /* and directly */
    unsigned char sign;
} module_path;

/* A class, and a region that is of it. */
typedef struct module_of {
    const char *kind;
    uint32_t region;
    size_t node; /* its first one */
} module_of;

GNOMON__ORDER(modules_by_class, module_of, TEXT(kind), UP(node))

typedef struct modules {
    const gnomon_profile *p;
    module_path *paths; /* by node */
    size_t count, work;
    module_of *found; /* a region each */
    size_t used;
    unsigned char best;
} modules;

/* ---- Signs ------------------------------------------------------------------------ */

static int is_backward(const char *name)
{
    static const char word[] = "backward";
    const size_t n = strlen(name), end = sizeof word - 1;
    return n >= end && strcmp(name + n - end, word) == 0;
}

/* Operations, and what is around each: a path has a higher number than its parent. */
static void meet_operations(modules *m)
{
    gnomon_node_info n;
    gnomon_op_info op;
    for (size_t i = m->count; i; i--) {
        module_path *path = &m->paths[i];
        if (gnomon_profile_node(m->p, i, &n))
            continue;
        path->region = n.region;
        path->parent = n.parent;
        path->is_work = n.op && !gnomon_profile_op(m->p, n.op, &op) &&
                        !(op.flags & GNOMON_OP_BACKWARD);
        m->work += path->is_work;
        m->paths[n.parent].is_next |= path->is_work;
        m->paths[n.parent].is_around |= path->is_work | path->is_around;
    }
}

static unsigned char sign_of(const modules *m, size_t node)
{
    const module_path *path = &m->paths[node];
    gnomon_node_info n;
    gnomon_region_info r;
    gnomon_track_info k;
    if (gnomon_profile_node(m->p, node, &n) ||
        gnomon_profile_region(m->p, n.region, &r) ||
        gnomon_profile_track(m->p, n.track, &k) ||
        k.kind != GNOMON_TRACK_THREAD)
        return NO_LAYER;
    if (r.kind == GNOMON_KIND_PYTHON &&
        strncmp(r.name, prefix, sizeof prefix - 1) == 0)
        return BY_TORCH;
    if (r.kind > GNOMON_KIND_FUNCTION || n.op || is_backward(r.name) ||
        gnomon__chrome_is_category(r.category))
        return NO_LAYER;
    return *r.category && (path->is_around || !m->work) ? BY_CATEGORY
           : path->is_next                              ? BY_OPERATION
                                                        : NO_LAYER;
}

/* ---- Names ------------------------------------------------------------------------ */

static const char *class_of(const modules *m, uint32_t region)
{
    gnomon_region_info r = {.name = "", .category = ""};
    (void)gnomon_profile_region(m->p, region, &r);
    return m->best == BY_CATEGORY ? r.category : r.name;
}

/* Each region once, and returns how many bytes their names take at most. */
static size_t meet_regions(modules *m, unsigned char *is_met)
{
    size_t bytes = 0;
    for (size_t i = 1; i <= m->count; i++)
        if ((m->paths[i].sign = sign_of(m, i)) > m->best)
            m->best = m->paths[i].sign;
    for (size_t i = 1; m->best && i <= m->count; i++) {
        const uint32_t region = m->paths[i].region;
        if (m->paths[i].sign != m->best || is_met[region])
            continue;
        is_met[region] = 1;
        const char *kind = class_of(m, region);
        m->found[m->used++] = (module_of){kind, region, i};
        bytes += sizeof prefix + strlen(kind);
    }
    GNOMON__SORT(m->found, m->used, modules_by_class);
    return bytes;
}

/* Those of a class are numbered in the order in which they came; torch has done it. */
static void name_regions(const modules *m, char *text,
                         gnomon__module *by_region)
{
    const int is_given = m->best == BY_TORCH;
    uint32_t number = 0;
    for (size_t i = 0; i < m->used; i++) {
        const module_of *of = &m->found[i];
        char *end =
            text + sprintf(text, "%s%s", is_given ? "" : prefix, of->kind);
        char *given = is_given ? strrchr(text, '_') : NULL;
        number = i && strcmp(of->kind, of[-1].kind) == 0 ? number + 1 : 0;
        by_region[of->region] = (gnomon__module){
            .name = text,
            .number = given ? (uint32_t)strtoul(given + 1, NULL, 10) : number,
            .is_each = m->best == BY_OPERATION};
        if (given)
            *given = '\0';
        text = end + 1;
    }
}

static gnomon__module *make_modules(modules *m, gnomon__module *by_region,
                                    unsigned char *is_met)
{
    meet_operations(m);
    const size_t names = meet_regions(m, is_met), rows = m->count + 1;
    gnomon__module *of = calloc(1, rows * sizeof *of + names);
    if (!of)
        return NULL;
    name_regions(m, (char *)(of + rows), by_region);
    for (size_t i = 1; i <= m->count; i++) {
        const uint32_t parent = m->paths[i].parent;
        if (m->best && m->paths[i].sign == m->best)
            of[i] = by_region[m->paths[i].region];
        of[i].around = of[parent].name ? parent : of[parent].around;
    }
    return of;
}

gnomon__module *gnomon__modules_find(const gnomon_profile *p)
{
    modules m = {.p = p, .count = gnomon_profile_count(p, GNOMON_NODES)};
    const size_t regions = gnomon_profile_count(p, GNOMON_REGIONS) + 1;
    unsigned char *is_met = calloc(regions, 1);
    gnomon__module *by_region = calloc(regions, sizeof *by_region), *of = NULL;
    m.paths = calloc(m.count + 1, sizeof *m.paths);
    m.found = calloc(regions, sizeof *m.found);
    if (is_met && by_region && m.paths && m.found)
        of = make_modules(&m, by_region, is_met);
    free(is_met);
    free(by_region);
    free(m.paths);
    free(m.found);
    return of;
}
