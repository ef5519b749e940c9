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
#include "print/letters.h"
#include "print/regions.h"

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
    free(t->flops);
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
    uint64_t bytes = 0;
    gnomon_node_info n;
    gnomon_track_info of;
    *track = 0;
    if (gnomon_profile_node(t->p, node, &n) != GNOMON_OK ||
        gnomon_profile_track(t->p, n.track, &of) != GNOMON_OK ||
        !is_shown(t, &n))
        return 0;
    *track = n.track;
    if (t->flops)
        return t->flops[node];
    for (size_t i = 0; t->is_of_bytes && i < n.memory_count; i++)
        bytes += gnomon_memory_at(&n, i)->allocated_bytes;
    if (t->is_of_bytes)
        return bytes;
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
 * time, its frames from the outermost on, and ns; or its own flops or bytes instead.
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
                          int metric, size_t before, int has_runs)
{
    gnomon__export_tree tree;
    int code = gnomon__export_tree_begin(&tree, p);
    tree.is_of_bytes = metric == GNOMON__STACKS_ALLOCATED;
    if (metric == GNOMON__STACKS_FLOPS && !code &&
        (tree.flops = gnomon__own_flops(p)) == NULL)
        code = GNOMON_ENOMEM;
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
        code = stacks_profile(t, what->profiles[i], what->metric, before,
                              has_runs);
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

/* A row is a function, or how often one called another, by the numbers of both. */
#define PROF_COLUMN_LIST(X) \
    X(PROF_FILE, "", "", TEXT, SHOWN, KEY) \
    X(PROF_NAME, "", "", TEXT, SHOWN, KEY) \
    X(PROF_LINE, "", "", ID, SHOWN, KEY) \
    X(PROF_CALLEE, "", "", ID, SHOWN, KEY) \
    X(PROF_CALLER, "", "", ID, SHOWN, KEY) \
    X(PROF_NC, "", "", COUNT, SHOWN, SUM) \
    X(PROF_CC, "", "", COUNT, SHOWN, SUM) \
    X(PROF_TT, "", "", COUNT, SHOWN, SUM) \
    X(PROF_CT, "", "", COUNT, SHOWN, SUM)
GNOMON__COLUMNS(prof_columns, PROF_COLUMNS, PROF_COLUMN_LIST);

typedef struct prof_sum {
    gnomon__report_rows functions, calls;
    gnomon__functions table;
} prof_sum;

/* The name in the form that the file has. */
static const char *prof_text(gnomon__report_rows *r, const char *text)
{
    const char *at = text;
    for (size_t n; *at && (n = gnomon__print_character(at)) != 0;)
        at += n;
    char *clean =
        *at ? gnomon__table_take(&r->table, 3 * strlen(text) + 1) : NULL;
    if (*at && !clean)
        r->code = GNOMON_ENOMEM;
    for (char *to = clean; to && *text; to += strlen(to)) {
        const size_t n = gnomon__print_character(text);
        strncat(to, n ? text : GNOMON__NO_CHARACTER, n ? n : 3);
        text += n ? n : 1;
    }
    return clean ? clean : text;
}

static uint32_t prof_put(gnomon__report_rows *r, gnomon__cell *cells,
                         const uint64_t sums[4])
{
    for (int i = 0; i < 4; i++)
        gnomon__cell_count(&cells[PROF_NC + i], sums[i]);
    return gnomon__report_put(r);
}

static int prof_add_table(prof_sum *s, const gnomon__functions *t)
{
    gnomon__cell *cells;
    uint32_t *number = calloc(t->row_count + 1, sizeof *number);
    for (size_t i = 0; number && i < t->row_count; i++) {
        const gnomon__function *f = &t->rows[i];
        cells = gnomon__report_row_of(&s->functions, 0);
        gnomon__cell_text(&cells[PROF_FILE], prof_text(&s->functions, f->file));
        gnomon__cell_text(&cells[PROF_NAME], prof_text(&s->functions, f->name));
        gnomon__cell_count(&cells[PROF_LINE], f->line);
        number[i] = prof_put(&s->functions, cells,
                             (uint64_t[]){f->nc, f->cc, f->tt_ns, f->ct_ns});
    }
    for (size_t i = 0; number && i < t->caller_count; i++) {
        const gnomon__caller *c = &t->callers[i];
        cells = gnomon__report_row_of(&s->calls, 0);
        gnomon__cell_text(&cells[PROF_FILE], "");
        gnomon__cell_text(&cells[PROF_NAME], "");
        gnomon__cell_count(&cells[PROF_CALLEE], number[c->callee]);
        gnomon__cell_count(&cells[PROF_CALLER], number[c->caller]);
        (void)prof_put(&s->calls, cells,
                       (uint64_t[]){c->nc, c->cc, c->tt_ns, c->ct_ns});
    }
    free(number);
    return !number || s->functions.code || s->calls.code ? GNOMON_ENOMEM
                                                         : GNOMON_OK;
}

/* Callers in the order of their callees, as a table has them. */
static int prof_make_table(prof_sum *s)
{
    gnomon__report_table *functions = &s->functions.table;
    gnomon__report_table *calls = &s->calls.table;
    gnomon__functions *t = &s->table;
    t->rows = calloc(functions->row_count + 1, sizeof *t->rows);
    t->callers = calloc(calls->row_count + 1, sizeof *t->callers);
    if (!t->rows || !t->callers || gnomon__table_sort(calls, PROF_CALLER) ||
        gnomon__table_sort(calls, PROF_CALLEE))
        return GNOMON_ENOMEM;
    for (; t->row_count < functions->row_count; t->row_count++) {
        const gnomon__cell *c = gnomon__cells_of(functions, t->row_count);
        t->rows[t->row_count] =
            (gnomon__function){.file = c[PROF_FILE].text,
                               .name = c[PROF_NAME].text,
                               .line = (uint32_t)c[PROF_LINE].count,
                               .nc = c[PROF_NC].count,
                               .cc = c[PROF_CC].count,
                               .tt_ns = c[PROF_TT].count,
                               .ct_ns = c[PROF_CT].count};
    }
    for (; t->caller_count < calls->row_count; t->caller_count++) {
        const gnomon__cell *c = gnomon__cells_of(calls, t->caller_count);
        gnomon__function *callee = &t->rows[c[PROF_CALLEE].count - 1];
        if (!callee->caller_count++)
            callee->first_caller = t->caller_count;
        t->callers[t->caller_count] =
            (gnomon__caller){.caller = (uint32_t)c[PROF_CALLER].count - 1,
                             .callee = (uint32_t)c[PROF_CALLEE].count - 1,
                             .nc = c[PROF_NC].count,
                             .cc = c[PROF_CC].count,
                             .tt_ns = c[PROF_TT].count,
                             .ct_ns = c[PROF_CT].count};
    }
    return GNOMON_OK;
}

/* ---- The file ---------------------------------------------------------------------- */

static int prof_read(prof_sum *s, const gnomon_profile *p)
{
    gnomon__calls *calls = NULL;
    int code = prof_calls(&calls, p);
    if (!code)
        code = prof_add_table(
            s, gnomon__calls_table(calls, GNOMON__CALLS_ALL, "<gnomon>"));
    gnomon__calls_free(calls);
    return code;
}

static int prof_write_all(const gnomon__export *what, const gnomon_writer *out)
{
    static const gnomon__report sums = {.columns = prof_columns,
                                        .column_count = PROF_COLUMNS};
    prof_sum s = {.table = {.row_count = 0}};
    unsigned char *bytes = NULL;
    int code = gnomon__report_begin(&s.functions, &sums, NULL, NULL);
    code |= gnomon__report_begin(&s.calls, &sums, NULL, NULL);
    for (size_t i = 0; !code && i < what->count; i++)
        code = prof_read(&s, what->profiles[i]);
    if (!code)
        code = prof_make_table(&s);
    const size_t size = code ? 0 : gnomon__prof_size(&s.table);
    if (!code && (bytes = malloc(size)) != NULL) {
        gnomon__prof_write(&s.table, bytes);
        code = out->write(out, bytes, size);
    } else {
        code = code ? code : GNOMON_ENOMEM;
    }
    free(bytes);
    free(s.table.rows);
    free(s.table.callers);
    gnomon__report_free(&s.functions);
    gnomon__report_free(&s.calls);
    return code;
}

const gnomon__exporter gnomon__export_prof = {
    .name = "prof",
    .extension = ".prof",
    .about = "calls and times of functions, for pstats and snakeviz",
    .write = prof_write_all};
