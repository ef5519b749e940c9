/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns what is read of nodes, which are few beside events. Numbers that lead nowhere
 * are taken as none: a profile that a plugin made need not keep the rules.
 *
 * Two formats are made of the tree alone, so of a profile without events too. */
#include "export/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/functions.h"

/* ---- Views ------------------------------------------------------------------- */

static uint32_t run_of_track(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    return gnomon_profile_track(p, track, &t) == GNOMON_OK ? t.run : 0;
}

/* self[run][view]. */
static void add_views(const gnomon_profile *p, uint64_t *self, size_t runs,
                      size_t views)
{
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        (void)gnomon_profile_node(p, i, &n);
        size_t run = n.view ? run_of_track(p, n.track) : 0;
        if (n.view && n.host && run <= runs && n.view <= views)
            self[run * (views + 1) + n.view] += n.host->self_ns + 1;
    }
}

static int choose_views(gnomon__export_tree *t)
{
    size_t runs = gnomon_profile_count(t->p, GNOMON_RUNS);
    size_t views = gnomon_profile_count(t->p, GNOMON_VIEWS);
    uint64_t *self = calloc((runs + 1) * (views + 1), sizeof *self);
    t->views = calloc(runs + 1, sizeof *t->views);
    if (!self || !t->views) {
        free(self);
        return GNOMON_ENOMEM;
    }
    add_views(t->p, self, runs, views);
    for (size_t run = 0; run <= runs; run++) {
        const uint64_t *of = &self[run * (views + 1)];
        for (uint32_t view = 1; view <= views; view++)
            if (of[view] > of[t->views[run]])
                t->views[run] = view;
    }
    free(self);
    return GNOMON_OK;
}

/* Whether the view of that node is exported. */
static int is_shown(const gnomon__export_tree *t, const gnomon_node_info *node)
{
    if (!node->view)
        return 1;
    uint32_t run = run_of_track(t->p, node->track);
    return run <= gnomon_profile_count(t->p, GNOMON_RUNS) &&
           t->views[run] == node->view;
}

/* ---- Nodes ------------------------------------------------------------------- */

int gnomon__export_tree_begin(gnomon__export_tree *t, const gnomon_profile *p)
{
    const size_t regions = gnomon_profile_count(p, GNOMON_REGIONS);
    uint32_t deepest = 0;
    *t = (gnomon__export_tree){.p = p,
                               .count = gnomon_profile_count(p, GNOMON_NODES)};
    t->nodes = calloc(t->count + 1, sizeof *t->nodes);
    if (!t->nodes)
        return GNOMON_ENOMEM;
    for (size_t i = 1; i <= t->count; i++) {
        gnomon__export_node *to = &t->nodes[i];
        gnomon_node_info n;
        (void)gnomon_profile_node(p, i, &n);
        *to =
            (gnomon__export_node){.parent = n.parent < i ? n.parent : 0,
                                  .region = n.region <= regions ? n.region : 0,
                                  .stage = n.stage};
        to->depth = t->nodes[to->parent].depth + 1;
        deepest = to->depth > deepest ? to->depth : deepest;
    }
    t->path = calloc((size_t)deepest + 1, sizeof *t->path);
    return t->path ? choose_views(t) : GNOMON_ENOMEM;
}

void gnomon__export_tree_end(gnomon__export_tree *t)
{
    free(t->nodes);
    free(t->path);
    free(t->views);
    *t = (gnomon__export_tree){0};
}

const uint32_t *gnomon__export_path(gnomon__export_tree *t, uint32_t node)
{
    for (; node; node = t->nodes[node].parent)
        t->path[t->nodes[node].depth - 1] = t->nodes[node].region;
    return t->path;
}

uint64_t gnomon__export_self(const gnomon__export_tree *t, uint32_t node,
                             uint32_t *track)
{
    gnomon_node_info n;
    gnomon_track_info of;
    *track = 0;
    if (gnomon_profile_node(t->p, node, &n) != GNOMON_OK ||
        gnomon_profile_track(t->p, n.track, &of) != GNOMON_OK ||
        !is_shown(t, &n))
        return 0;
    *track = n.track;
    if (n.host)
        return n.host->self_ns;
    return n.device && !(n.flags & GNOMON_NODE_PART) &&
                   of.kind == GNOMON_TRACK_STREAM
               ? n.device->self_ns
               : 0;
}

/* ---- Runs -------------------------------------------------------------------- */

size_t gnomon__export_runs(const gnomon__export *what)
{
    size_t runs = 0;
    for (size_t i = 0; i < what->count; i++)
        runs += gnomon_profile_count(what->profiles[i], GNOMON_RUNS);
    return runs;
}

const char *gnomon__export_run_name(char text[32], const gnomon_run_info *run,
                                    size_t number)
{
    if (run->rank < 0)
        snprintf(text, 32, "run %zu", number);
    else
        snprintf(text, 32, "rank %" PRId32, run->rank);
    return text;
}

/* ---- stacks -------------------------------------------------------------------- */

/* Folded stacks for flamegraph.pl, inferno and others: a line for each path with self
 * time, its frames from the outermost on, and ns.
 *
 * A viewer ends the stack at the last blank and a frame at `;`. As torch's
 * export_stacks has it, both become `_`, and so does what would move a terminal's
 * cursor. */
static void stacks_frame(gnomon__export_text *t, const char *name)
{
    static const char special[] = GNOMON__CONTROLS " ;\x7f";
    size_t character;
    if (!*name)
        gnomon__export_literal(t, "_");
    for (; *(name = gnomon__export_plain(t, name, special, &character));
         name++) {
        if (character)
            gnomon__export_literal(t, "_");
        else
            gnomon__export_literal(t, GNOMON__NO_CHARACTER);
    }
}

/* The first frames: the run, where there are several, and the track. `before`: how
 * many runs earlier profiles have. */
static void stacks_track(gnomon__export_text *t, const gnomon_profile *p,
                         uint32_t number, size_t before, int has_runs)
{
    gnomon_track_info track;
    gnomon_run_info run;
    char name[32], text[48];
    (void)gnomon_profile_track(p, number, &track);
    if (has_runs && gnomon_profile_run(p, track.run, &run) == GNOMON_OK) {
        stacks_frame(t,
                     gnomon__export_run_name(name, &run, before + track.run));
        gnomon__export_literal(t, ";");
    }
    stacks_frame(t, gnomon__export_track_name(text, &track));
}

static void stacks_put(gnomon__export_text *t, gnomon__export_tree *tree,
                       uint32_t node, uint64_t self)
{
    const uint32_t depth = tree->nodes[node].depth;
    const uint32_t *path = gnomon__export_path(tree, node);
    for (uint32_t i = 0; i < depth; i++) {
        gnomon_region_info region;
        gnomon__export_literal(t, ";");
        if (gnomon_profile_region(tree->p, path[i], &region))
            region.name = "";
        stacks_frame(t, region.name);
    }
    gnomon__export_form(t, " %ju\n", self);
}

static int stacks_profile(gnomon__export_text *t, const gnomon_profile *p,
                          size_t before, int has_runs)
{
    gnomon__export_tree tree;
    int code = gnomon__export_tree_begin(&tree, p);
    for (uint32_t i = 1; !code && !t->code && i <= tree.count; i++) {
        uint32_t track;
        const uint64_t self = gnomon__export_self(&tree, i, &track);
        if (!self)
            continue;
        stacks_track(t, p, track, before, has_runs);
        stacks_put(t, &tree, i, self);
    }
    gnomon__export_tree_end(&tree);
    return code;
}

static int stacks_write(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__export_text *t = gnomon__export_text_begin(out);
    const int has_runs = gnomon__export_runs(what) > 1;
    size_t before = 0;
    int code = GNOMON_OK;
    if (!t)
        return GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < what->count; i++) {
        code = stacks_profile(t, what->profiles[i], before, has_runs);
        before += gnomon_profile_count(what->profiles[i], GNOMON_RUNS);
    }
    int written = gnomon__export_text_end(t);
    return code ? code : written;
}

const gnomon__exporter gnomon__export_stacks = {
    .name = "stacks",
    .extension = ".txt",
    .about = "folded stacks and their self time, for flamegraph.pl",
    .write = stacks_write};

/* ---- prof -------------------------------------------------------------------------- */

/* What cProfile would have dumped, for pstats, snakeviz and gprof2dot: the table of
 * functions of all profiles together, below a row `<gnomon>`.
 *
 * Rows of different profiles are one where file, line and name read as equal: what is
 * no UTF-8 is U+FFFD in the file, and a key that came twice would hide a row.
 *
 * The profile in which nodes that are not exported read as zeroes. */
typedef struct prof_shown {
    gnomon_profile base;
    gnomon__export_tree tree;
} prof_shown;

static size_t prof_count(const gnomon_profile *p, int entity)
{
    const prof_shown *s = (const prof_shown *)(const void *)p;
    return gnomon_profile_count(s->tree.p, entity);
}

static int prof_get(const gnomon_profile *p, int entity, size_t number,
                    void *info)
{
    const prof_shown *s = (const prof_shown *)(const void *)p;
    gnomon_node_info *node = info;
    int code = s->tree.p->api->get(s->tree.p, entity, number, info);
    if (!code && entity == GNOMON_NODES && !is_shown(&s->tree, node))
        *node = (gnomon_node_info){.struct_size = node->struct_size};
    return code;
}

static int prof_calls(gnomon__calls **out, const gnomon_profile *p)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = prof_count,
                                           .get = prof_get};
    prof_shown s = {.base.api = &api};
    int code = gnomon__export_tree_begin(&s.tree, p);
    if (!code)
        code = gnomon__calls_make(out, &s.base, NULL);
    gnomon__export_tree_end(&s.tree);
    return code;
}

/* ---- Tables of several profiles as one ------------------------------------------- */

typedef struct prof_row {
    const gnomon__function *of;
    uint32_t order; /* in all tables, one after the other */
} prof_row;

typedef struct prof_sum {
    gnomon__calls **calls;            /* by profile */
    const gnomon__functions **tables; /* theirs */
    size_t count;
    prof_row *rows;
    uint32_t *numbers; /* of rows in the sum, by their order */
    size_t row_count;
    gnomon__functions table;
} prof_sum;

static int prof_by_text(const char *a, const char *b)
{
    static const char none[] = GNOMON__NO_CHARACTER;
    for (;;) {
        size_t m = gnomon__print_character(a), n = gnomon__print_character(b);
        const char *x = m ? a : none, *y = n ? b : none;
        int order = strncmp(x, y, m ? m : sizeof none - 1);
        if (order || !*x)
            return order;
        a += m ? m : 1;
        b += n ? n : 1;
    }
}

static int prof_by_key(const gnomon__function *a, const gnomon__function *b)
{
    int order = prof_by_text(a->file, b->file);
    if (!order && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : prof_by_text(a->name, b->name);
}

static int prof_by_row(const void *left, const void *right)
{
    const prof_row *a = left, *b = right;
    int order = prof_by_key(a->of, b->of);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static int prof_by_edge(const void *left, const void *right)
{
    const gnomon__caller *a = left, *b = right;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    return (a->caller > b->caller) - (a->caller < b->caller);
}

/* numbers[order] is the first order of an equal row, then that row's number. */
static void prof_number_rows(prof_sum *s)
{
    gnomon__functions *to = &s->table;
    for (size_t i = 0; i < s->row_count; i++)
        s->rows[i].order = (uint32_t)i;
    qsort(s->rows, s->row_count, sizeof *s->rows, prof_by_row);
    for (size_t i = 0, first = 0; i < s->row_count; i++) {
        if (prof_by_key(s->rows[first].of, s->rows[i].of) != 0)
            first = i;
        s->numbers[s->rows[i].order] = s->rows[first].order;
    }
    for (size_t i = 0; i < s->row_count; i++)
        s->numbers[i] = s->numbers[i] == i ? (uint32_t)to->row_count++
                                           : s->numbers[s->numbers[i]];
}

static void prof_add_rows(prof_sum *s)
{
    for (size_t i = 0; i < s->row_count; i++) {
        const gnomon__function *from = s->rows[i].of;
        gnomon__function *to = &s->table.rows[s->numbers[s->rows[i].order]];
        to->file = from->file;
        to->name = from->name;
        to->line = from->line;
        to->nc += from->nc;
        to->cc += from->cc;
        to->tt_ns += from->tt_ns;
        to->ct_ns += from->ct_ns;
    }
}

/* Callers in the order of their callees, as the table has them; equal ones added up. */
static void prof_add_callers(prof_sum *s)
{
    gnomon__functions *to = &s->table;
    gnomon__caller *callers = to->callers;
    size_t all = 0, before = 0;
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->tables[i]->caller_count; k++) {
            gnomon__caller *c = &callers[all++];
            *c = s->tables[i]->callers[k];
            c->caller = s->numbers[before + c->caller];
            c->callee = s->numbers[before + c->callee];
        }
        before += s->tables[i]->row_count;
    }
    qsort(callers, all, sizeof *callers, prof_by_edge);
    for (size_t i = 0; i < all; i++) {
        gnomon__caller *last =
            to->caller_count ? &callers[to->caller_count - 1] : NULL;
        if (last && prof_by_edge(last, &callers[i]) == 0) {
            last->nc += callers[i].nc;
            last->cc += callers[i].cc;
            last->tt_ns += callers[i].tt_ns;
            last->ct_ns += callers[i].ct_ns;
            continue;
        }
        gnomon__function *row = &to->rows[callers[i].callee];
        if (!row->caller_count++)
            row->first_caller = to->caller_count;
        callers[to->caller_count++] = callers[i];
    }
}

/* False: no memory. */
static int prof_unite(prof_sum *s)
{
    size_t callers = 0, at = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->row_count += s->tables[i]->row_count;
        callers += s->tables[i]->caller_count;
    }
    s->rows = calloc(s->row_count + 1, sizeof *s->rows);
    s->numbers = calloc(s->row_count + 1, sizeof *s->numbers);
    s->table.rows = calloc(s->row_count + 1, sizeof *s->table.rows);
    s->table.callers = calloc(callers + 1, sizeof *s->table.callers);
    if (!s->rows || !s->numbers || !s->table.rows || !s->table.callers)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->tables[i]->row_count; k++)
            s->rows[at++].of = &s->tables[i]->rows[k];
    prof_number_rows(s);
    prof_add_rows(s);
    prof_add_callers(s);
    return 1;
}

/* ---- The file ---------------------------------------------------------------------- */

static int prof_read(prof_sum *s, const gnomon__export *what)
{
    s->calls = calloc(what->count + 1, sizeof *s->calls);
    s->tables = calloc(what->count + 1, sizeof *s->tables);
    if (!s->calls || !s->tables)
        return GNOMON_ENOMEM;
    for (size_t i = 0; i < what->count; i++) {
        int code = prof_calls(&s->calls[i], what->profiles[i]);
        if (code)
            return code;
        s->tables[i] =
            gnomon__calls_table(s->calls[i], GNOMON__CALLS_ALL, "<gnomon>");
        s->count++;
    }
    return prof_unite(s) ? GNOMON_OK : GNOMON_ENOMEM;
}

static void prof_free(prof_sum *s, size_t count)
{
    for (size_t i = 0; s->calls && i < count; i++)
        gnomon__calls_free(s->calls[i]);
    free(s->calls);
    free(s->tables);
    free(s->rows);
    free(s->numbers);
    free(s->table.rows);
    free(s->table.callers);
}

static int prof_write_all(const gnomon__export *what, const gnomon_writer *out)
{
    prof_sum s = {.count = 0};
    int code = prof_read(&s, what);
    if (!code) {
        const size_t size = gnomon__prof_size(&s.table);
        unsigned char *bytes = malloc(size);
        code = GNOMON_ENOMEM;
        if (bytes) {
            gnomon__prof_write(&s.table, bytes);
            code = out->write(out, bytes, size);
        }
        free(bytes);
    }
    prof_free(&s, what->count);
    return code;
}

const gnomon__exporter gnomon__export_prof = {
    .name = "prof",
    .extension = ".prof",
    .about = "calls and times of functions, for pstats and snakeviz",
    .write = prof_write_all};
