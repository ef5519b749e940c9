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
#include "print/order.h"
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
    gnomon_node_info n;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        size_t run = n.view ? run_of_track(p, n.track) : 0;
        if (n.view && n.host && run <= runs && n.view <= views)
            self[run * (views + 1) + n.view] += n.host->self_ns + 1;
    }
}

static bool choose_views(gnomon__export_tree *t)
{
    size_t runs = gnomon_profile_count(t->p, GNOMON_RUNS);
    size_t views = gnomon_profile_count(t->p, GNOMON_VIEWS);
    uint64_t *self = calloc((runs + 1) * (views + 1), sizeof *self);
    t->views = calloc(runs + 1, sizeof *t->views);
    const bool ok = self && t->views;
    if (ok)
        add_views(t->p, self, runs, views);
    for (size_t run = 0; ok && run <= runs; run++) {
        const uint64_t *of = &self[run * (views + 1)];
        for (uint32_t view = 1; view <= views; view++)
            if (of[view] > of[t->views[run]])
                t->views[run] = view;
    }
    free(self);
    return ok;
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

bool gnomon__export_tree_begin(gnomon__export_tree *t, const gnomon_profile *p)
{
    const size_t regions = gnomon_profile_count(p, GNOMON_REGIONS);
    uint32_t deepest = 0;
    *t = (gnomon__export_tree){.p = p,
                               .count = gnomon_profile_count(p, GNOMON_NODES)};
    t->nodes = calloc(t->count + 1, sizeof *t->nodes);
    for (size_t i = 1; t->nodes && i <= t->count; i++) {
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
    return t->nodes && t->path && choose_views(t);
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
static void stacks_frame(gnomon__out *t, const char *name)
{
    static const char special[] = GNOMON__CONTROLS " ;\x7f";
    size_t character;
    if (!*name)
        gnomon__out_literal(t, "_");
    for (; *(name = gnomon__export_plain(t, name, special, &character));
         name++) {
        if (character)
            gnomon__out_literal(t, "_");
        else
            gnomon__out_literal(t, GNOMON__NO_CHARACTER);
    }
}

/* The first frames: the run, where there are several, and the track. `before`: how
 * many runs earlier profiles have. */
static void stacks_track(gnomon__out *t, const gnomon_profile *p,
                         uint32_t number, size_t before, int has_runs)
{
    gnomon_track_info track;
    gnomon_run_info run;
    char name[32], text[48];
    (void)gnomon_profile_track(p, number, &track);
    if (has_runs && gnomon_profile_run(p, track.run, &run) == GNOMON_OK) {
        stacks_frame(t,
                     gnomon__export_run_name(name, &run, before + track.run));
        gnomon__out_literal(t, ";");
    }
    stacks_frame(t, gnomon__export_track_name(text, &track));
}

static void stacks_put(gnomon__out *t, gnomon__export_tree *tree, uint32_t node,
                       uint64_t self)
{
    const uint32_t depth = tree->nodes[node].depth;
    const uint32_t *path = gnomon__export_path(tree, node);
    for (uint32_t i = 0; i < depth; i++) {
        gnomon_region_info region;
        gnomon__out_literal(t, ";");
        if (gnomon_profile_region(tree->p, path[i], &region))
            region.name = "";
        stacks_frame(t, region.name);
    }
    gnomon__export_form(t, " %ju\n", self);
}

static void stacks_profile(gnomon__out *t, const gnomon_profile *p, int metric,
                           size_t before, int has_runs)
{
    gnomon__export_tree tree;
    if (gnomon__export_needs(t, gnomon__export_tree_begin(&tree, p)) &&
        metric == GNOMON__STACKS_FLOPS)
        gnomon__export_needs(t, (tree.flops = gnomon__own_flops(p)) != NULL);
    tree.is_of_bytes = metric == GNOMON__STACKS_ALLOCATED;
    for (uint32_t i = 1; !t->code && i <= tree.count; i++) {
        uint32_t track;
        const uint64_t self = gnomon__export_self(&tree, i, &track);
        if (!self)
            continue;
        stacks_track(t, p, track, before, has_runs);
        stacks_put(t, &tree, i, self);
    }
    gnomon__export_tree_end(&tree);
}

static int stacks_write(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__out *t = gnomon__export_text_begin(out);
    const int has_runs = gnomon__export_runs(what) > 1;
    size_t before = 0;
    for (size_t i = 0; t && !t->code && i < what->count; i++) {
        stacks_profile(t, what->profiles[i], what->metric, before, has_runs);
        before += gnomon_profile_count(what->profiles[i], GNOMON_RUNS);
    }
    return gnomon__export_text_end(t);
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
 * It is made of one profile, which has the entities of all, part after part. Nodes that
 * are not exported read as zeroes. What is no UTF-8 in a text is U+FFFD, as in the file:
 * a key that came twice would hide a row. All runs are at one moment: now. */
typedef struct prof_part {
    gnomon__export_tree tree;
    size_t
        before[GNOMON_STRIPS + 1]; /* entities of the parts before, by kind */
} prof_part;

typedef struct prof_all {
    gnomon_profile base; /* first */
    prof_part *parts;    /* and one behind the last */
    size_t count;
    gnomon__report_table *texts;
    int *code; /* GNOMON_ENOMEM: a text could not be made */
} prof_all;

static size_t prof_count(const gnomon_profile *p, int entity)
{
    const prof_all *s = (const prof_all *)(const void *)p;
    return s->parts[s->count].before[entity];
}

static const char *prof_text(const prof_all *s, const char *text)
{
    const char *at = text;
    for (size_t n; *at && (n = gnomon__print_character(at)) != 0;)
        at += n;
    if (!*at)
        return text;
    char *clean = gnomon__table_take(s->texts, 3 * strlen(text) + 1);
    for (char *to = clean; to && *text; to += strlen(to)) {
        const size_t n = gnomon__print_character(text);
        strncat(to, n ? text : GNOMON__NO_CHARACTER, n ? n : 3);
        text += n ? n : 1;
    }
    if (!clean)
        *s->code = GNOMON_ENOMEM;
    return clean ? clean : "";
}

static void prof_move(const prof_part *of, int entity, uint32_t *number)
{
    *number += *number ? (uint32_t)of->before[entity] : 0;
}

/* An open scope lasts until the run's now. GNOMON_EINVAL: there is no run. */
static int prof_open(const prof_part *of, gnomon_open_info *open)
{
    gnomon_run_info run;
    if (gnomon_profile_run(of->tree.p, 1, &run))
        return GNOMON_EINVAL;
    open->begin_ns =
        UINT64_MAX -
        (run.now_ns > open->begin_ns ? run.now_ns - open->begin_ns : 0);
    prof_move(of, GNOMON_NODES, &open->node);
    return GNOMON_OK;
}

static int prof_get(const gnomon_profile *p, int entity, size_t number,
                    void *info)
{
    const prof_all *s = (const prof_all *)(const void *)p;
    gnomon_region_info *region = info;
    gnomon_node_info *node = info;
    gnomon_link_info *link = info;
    size_t low = 0, high = s->count;
    GNOMON__SEARCH(low, high, i, s->parts[i + 1].before[entity] < number)
    const prof_part *of = &s->parts[low];
    if (low == s->count)
        return GNOMON_EINVAL;
    number -= number ? of->before[entity] : 0;
    int code = of->tree.p->api->get(of->tree.p, entity, number, info);
    if (code)
        return code;
    if (entity == GNOMON_RUNS) {
        ((gnomon_run_info *)info)->now_ns = UINT64_MAX;
    } else if (entity == GNOMON_REGIONS) {
        region->name = prof_text(s, region->name);
        region->file = prof_text(s, region->file);
    } else if (entity == GNOMON_NODES && !is_shown(&of->tree, node)) {
        *node = (gnomon_node_info){.struct_size = node->struct_size};
    } else if (entity == GNOMON_NODES) {
        prof_move(of, GNOMON_NODES, &node->parent);
        prof_move(of, GNOMON_REGIONS, &node->region);
    } else if (entity == GNOMON_OPENS) {
        code = prof_open(of, info);
    } else if (entity == GNOMON_LINKS) {
        prof_move(of, GNOMON_NODES, &link->from);
        prof_move(of, GNOMON_NODES, &link->to);
    }
    return code;
}

static int prof_begin(prof_all *s, const gnomon__export *what)
{
    s->parts = calloc(s->count + 1, sizeof *s->parts);
    bool ok = s->parts != NULL;
    for (size_t i = 0; ok && i < s->count; i++) {
        const prof_part *of = &s->parts[i];
        ok = gnomon__export_tree_begin(&s->parts[i].tree, what->profiles[i]);
        for (int k = 0; k <= GNOMON_STRIPS; k++)
            s->parts[i + 1].before[k] =
                of->before[k] + gnomon_profile_count(what->profiles[i], k);
    }
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

/* ---- The file ---------------------------------------------------------------------- */

GNOMON__ORDER(prof_by_caller, gnomon__caller, UP(callee), UP(caller))

/* `<gnomon>` was called once for each profile. */
static int prof_put(const gnomon__functions *t, size_t profiles,
                    const gnomon_writer *out)
{
    t->rows->nc = t->rows->cc = profiles;
    GNOMON__SORT(t->callers, t->caller_count, prof_by_caller);
    const size_t size = gnomon__prof_size(t);
    unsigned char *bytes = malloc(size);
    if (bytes)
        gnomon__prof_write(t, bytes);
    const int code = bytes ? out->write(out, bytes, size) : GNOMON_ENOMEM;
    free(bytes);
    return code;
}

static int prof_write_all(const gnomon__export *what, const gnomon_writer *out)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = prof_count,
                                           .get = prof_get};
    gnomon__report_table texts = {.rows = NULL};
    int no_memory = GNOMON_OK;
    prof_all s = {.base.api = &api,
                  .count = what->count,
                  .texts = &texts,
                  .code = &no_memory};
    gnomon__calls *calls = NULL;
    int code = prof_begin(&s, what);
    if (!code)
        code = gnomon__calls_make(&calls, &s.base, NULL);
    if (!code && !(code = no_memory))
        code =
            prof_put(gnomon__calls_table(calls, GNOMON__CALLS_ALL, "<gnomon>"),
                     what->count, out);
    gnomon__calls_free(calls);
    for (size_t i = 0; s.parts && i < s.count; i++)
        gnomon__export_tree_end(&s.parts[i].tree);
    free(s.parts);
    gnomon__table_free(&texts);
    return code;
}

const gnomon__exporter gnomon__export_prof = {
    .name = "prof",
    .extension = ".prof",
    .about = "calls and times of functions, for pstats and snakeviz",
    .write = prof_write_all};
