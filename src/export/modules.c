/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "export/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/order.h"

/* From the weakest sign of a layer on: the strongest one that a profile has decides. */
enum { NO_LAYER, BY_OPERATION, BY_CATEGORY, BY_TORCH };

static const char prefix[] = "nn.Module: ";

typedef struct gnomon__module {
    const char *name; /* "nn.Module: Linear"; NULL: it is none */
    uint32_t around;  /* the path of the next layer around it; 0: none */
    uint32_t number;  /* of its class: that of its last row */
    uint32_t
        is_each;  /* each call within one of the layer around it has its own */
    uint32_t own; /* how many bytes of its args are of its last row alone */
    /* Numbers of rows: its last one, and of the layer around that; 0: there is none. */
    uint64_t last, within;
} gnomon__module;

typedef struct module_path {
    uint32_t region, parent;
    unsigned char is_work;   /* an operation of forward */
    unsigned char is_next;   /* around one, directly */
    unsigned char is_around; /* at any depth */
    unsigned char sign;
} module_path;

/* A region that is a layer. */
typedef struct module_of {
    const char *kind; /* its class */
    uint32_t region;
    size_t node; /* its first one */
} module_of;

GNOMON__ORDER(modules_by_class, module_of, TEXT(kind), UP(node))

typedef struct modules {
    gnomon__chrome *c;
    module_path *paths; /* by node */
    size_t count, work;
    unsigned char best, is_out; /* of memory */
    unsigned char *is_met;
    module_of *found;
    size_t used;
    gnomon__module *by_region;
} modules;

/* ---- Signs ------------------------------------------------------------------------ */

/* What is around operations: a path has a higher number than its parent. */
static void meet_operations(modules *m)
{
    gnomon_node_info n = {.region = 0};
    gnomon_op_info op;
    for (size_t i = m->count; i; i--) {
        module_path *path = &m->paths[i];
        m->is_out |= !gnomon__chrome_node_at(m->c, (uint32_t)i);
        (void)gnomon_profile_node(m->c->line.p, i, &n);
        path->region = n.region;
        path->parent = n.parent;
        path->is_work = n.op && !gnomon_profile_op(m->c->line.p, n.op, &op) &&
                        !(op.flags & GNOMON_OP_BACKWARD);
        m->work += path->is_work;
        m->paths[n.parent].is_next |= path->is_work;
        m->paths[n.parent].is_around |= path->is_work | path->is_around;
    }
}

static int is_backward(const char *name)
{
    static const char word[] = "backward";
    const size_t n = strlen(name), end = sizeof word - 1;
    return n >= end && strcmp(name + n - end, word) == 0;
}

static unsigned char sign_of(const modules *m, uint32_t node)
{
    const module_path *path = &m->paths[node];
    const gnomon__chrome_node *row = &m->c->nodes[node];
    gnomon_region_info r = {.name = "", .category = ""};
    (void)gnomon_profile_region(m->c->line.p, path->region, &r);
    if (r.kind == GNOMON_KIND_PYTHON &&
        strncmp(r.name, prefix, sizeof prefix - 1) == 0)
        return BY_TORCH;
    if (!row->is_annotation || r.kind > GNOMON_KIND_FUNCTION ||
        is_backward(r.name) || strcmp(r.category, "user_annotation") == 0)
        return NO_LAYER;
    return *r.category && (path->is_around || !m->work) ? BY_CATEGORY
           : path->is_next                              ? BY_OPERATION
                                                        : NO_LAYER;
}

/* ---- Names ------------------------------------------------------------------------ */

/* Each region once, by class. Returns how many bytes their names take at most. */
static size_t meet_regions(modules *m)
{
    size_t bytes = 0;
    gnomon_region_info r = {.name = "", .category = ""};
    for (uint32_t i = 1; i <= m->count; i++)
        if ((m->paths[i].sign = sign_of(m, i)) > m->best)
            m->best = m->paths[i].sign;
    for (uint32_t i = 1; m->best && i <= m->count; i++) {
        const uint32_t region = m->paths[i].region;
        if (m->paths[i].sign != m->best || m->is_met[region]++)
            continue;
        (void)gnomon_profile_region(m->c->line.p, region, &r);
        const char *kind = m->best == BY_CATEGORY ? r.category : r.name;
        m->found[m->used++] = (module_of){kind, region, i};
        bytes += sizeof prefix + strlen(kind);
    }
    GNOMON__SORT(m->found, m->used, modules_by_class);
    return bytes;
}

/* Those of a class are numbered in the order in which they came; torch has done it. */
static void name_regions(const modules *m, char *text)
{
    const int is_given = m->best == BY_TORCH;
    uint32_t number = 0;
    for (size_t i = 0; i < m->used; i++) {
        const module_of *of = &m->found[i];
        char *end =
            text + sprintf(text, "%s%s", is_given ? "" : prefix, of->kind);
        char *given = is_given ? strrchr(text, '_') : NULL;
        number = i && strcmp(of->kind, of[-1].kind) == 0 ? number + 1 : 0;
        m->by_region[of->region] = (gnomon__module){
            .name = text,
            .number = given ? (uint32_t)strtoul(given + 1, NULL, 10) : number,
            .is_each = m->best == BY_OPERATION};
        if (given)
            *given = '\0';
        text = end + 1;
    }
}

/* By node, with their names. NULL: no memory. */
static gnomon__module *make_modules(modules *m)
{
    meet_operations(m);
    const size_t bytes = meet_regions(m), rows = m->count + 1;
    gnomon__module *of =
        m->is_out ? NULL : calloc(1, rows * sizeof *of + bytes);
    if (!of)
        return NULL;
    name_regions(m, (char *)(of + rows));
    for (size_t i = 1; i <= m->count; i++) {
        const uint32_t parent = m->paths[i].parent;
        if (m->best && m->paths[i].sign == m->best)
            of[i] = m->by_region[m->paths[i].region];
        of[i].around = of[parent].name ? parent : of[parent].around;
    }
    return of;
}

static gnomon__module *find_modules(gnomon__chrome *c)
{
    const size_t regions = gnomon_profile_count(c->line.p, GNOMON_REGIONS) + 1;
    modules m = {.c = c,
                 .count = c->node_count,
                 .paths = calloc(c->node_count + 1, sizeof *m.paths),
                 .is_met = calloc(regions, 1),
                 .found = calloc(regions, sizeof *m.found),
                 .by_region = calloc(regions, sizeof *m.by_region)};
    gnomon__module *of =
        m.paths && m.is_met && m.found && m.by_region ? make_modules(&m) : NULL;
    free(m.paths);
    free(m.is_met);
    free(m.found);
    free(m.by_region);
    return of;
}

/* ---- Rows ------------------------------------------------------------------------- */

/* What the path's rows share is made anew, for the next one. 0: no memory. */
static int write_row(gnomon__module *m, int64_t pid, gnomon__chrome_node *n)
{
    gnomon__export_memory to = {0};
    const gnomon_writer w = gnomon__export_to_memory(&to);
    gnomon__out *t = gnomon__export_text_begin(&w);
    if (!t)
        return 0;
    gnomon__export_form(t,
                        "{'ph':'X','cat':'python_function','name':'%s_%u',"
                        "'pid':%jd,'tid':",
                        m->name, m->number, pid);
    gnomon__out_flush(t);
    const size_t head = to.size;
    gnomon__export_form(t,
                        ",'Python module id':%u,'Python id':%ju,"
                        "'Python parent id':",
                        m->number, m->last);
    if (m->within)
        gnomon__out_number(t, m->within);
    else
        gnomon__out_literal(t, "null");
    gnomon__out_flush(t);
    const size_t own = to.size - head;
    gnomon__out_put(t, n->args + m->own, n->args_size - m->own);
    if (gnomon__export_text_end(t)) {
        free(to.text);
        return 0;
    }
    free(n->head);
    n->head = to.text;
    n->args = to.text + head;
    n->head_size = (uint32_t)head;
    n->args_size = (uint32_t)(to.size - head);
    m->own = (uint32_t)own;
    return 1;
}

int gnomon__chrome_layer(gnomon__chrome *c, uint32_t node)
{
    if (!c->modules && !(c->modules = find_modules(c)))
        return 0;
    gnomon__module *m = &c->modules[node], *none = &c->modules[0];
    const uint64_t around = m->around ? c->modules[m->around].last : 0;
    gnomon_node_info n = {.track = 0};
    if (!m->name)
        return 1;
    if (m->is_each)
        m->number = around && m->within == around ? m->number + 1 : 0;
    m->within = around;
    m->last = c->labels_before + ++none->last;
    (void)gnomon_profile_node(c->line.p, node, &n);
    return write_row(m, c->line.tracks[n.track].pid, &c->nodes[node]);
}
