/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each kernel is folded into the profile as soon as it comes, by the rules by which
 * profiles are merged. */
#include "nsys/tree.h"

#include <inttypes.h>
#include <stdio.h>

#include "platform/memory.h"

static const char *tree_text(gnomon__copier *c, const char *text, int type)
{
    gnomon__nsys_tree *t = c->context;
    gnomon__text_item *item = gnomon__text_intern(&t->texts, text);
    (void)type;
    if (item && !item->text)
        item->text = gnomon__model_text(t->fold.m, text);
    return item ? item->text : NULL;
}

/* The fold is the tree's first field. */
static int keep_in_tree(gnomon__fold *f, int entity, void *of)
{
    gnomon__copier copier = {f->m, tree_text, f, NULL};
    return gnomon__copy_inside(&copier, &gnomon__structs[entity], of);
}

/* The number of an entity of this key; 0: no memory. */
static uint32_t entity_of(gnomon__nsys_tree *t, int entity, const void *item)
{
    const uint32_t number = gnomon__fold_find(&t->fold, entity, item);
    return number ? number : gnomon__fold_add(&t->fold, entity, item);
}

bool gnomon__nsys_tree_begin(gnomon__nsys_tree *t)
{
    *t = (gnomon__nsys_tree){.fold = {.m = gnomon__model_create(),
                                      .way = &gnomon__fold_sums,
                                      .keep = keep_in_tree},
                             .from_ns = INT64_MAX,
                             .until_ns = INT64_MIN};
    const gnomon_stage_info stage = {
        .struct_size = sizeof stage, .name = "", .run = 1, .ended = 1};
    return t->fold.m && entity_of(t, GNOMON_RUNS, &gnomon__no_run) &&
           entity_of(t, GNOMON_STAGES, &stage);
}

/* Which one of the processes it is, from 1; 0: no memory. There are few. */
static size_t ordinal_of(gnomon__nsys_tree *t, int64_t process)
{
    for (size_t i = 0; i < t->process_count; i++)
        if (t->processes[i] == process)
            return i + 1;
    if (!gnomon__grow(&t->processes, &t->process_room, t->process_count + 1,
                      sizeof *t->processes))
        return 0;
    t->processes[t->process_count] = process;
    return ++t->process_count;
}

/* Ids of processes change from run to run, so those after the first have numbers. */
static uint32_t track_of(gnomon__nsys_tree *t, const gnomon__nsys_record *r)
{
    char name[80];
    const size_t process = ordinal_of(t, r->process);
    snprintf(name, sizeof name,
             process > 1 ? "stream %" PRId64 " of process %zu"
                         : "stream %" PRId64,
             r->stream, process);
    const gnomon_track_info track = {.struct_size = sizeof track,
                                     .kind = GNOMON_TRACK_STREAM,
                                     .name = name,
                                     .os_id = r->process,
                                     .index = (uint32_t)r->stream,
                                     .thread_count = 1,
                                     .run = 1,
                                     .device = (int32_t)r->device};
    return process ? entity_of(t, GNOMON_TRACKS, &track) : 0;
}

static uint32_t region_of(gnomon__nsys_tree *t, const char *name, uint32_t kind)
{
    const gnomon_region_info region = {
        .struct_size = sizeof region,
        .kind = kind,
        .name = name,
        .category = kind == GNOMON_KIND_KERNEL ? "kernel" : "",
        .file = "",
        .function = ""};
    return entity_of(t, GNOMON_REGIONS, &region);
}

/* The node of a list of names below another one. */
static bool go_down(gnomon__nsys_tree *t, gnomon_node_info *at,
                    const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at->region = region_of(t, *names[i] ? names[i] : "?", 0);
        const uint32_t node = at->region ? entity_of(t, GNOMON_NODES, at) : 0;
        if (!node)
            return false;
        at->parent = node;
    }
    return true;
}

/* Lines have no path: there it is the layers and the operation. */
static bool find_path(gnomon__nsys_tree *t, const gnomon__nsys_record *r,
                      gnomon_node_info *at)
{
    if ((r->has_lent_layers || !r->path.count) &&
        !go_down(t, at, r->layers.at, r->layers.count))
        return false;
    return r->path.count ? go_down(t, at, r->path.at, r->path.count)
                         : go_down(t, at, r->ops.at, r->ops.count > 0);
}

bool gnomon__nsys_tree_add(gnomon__nsys_tree *t, const gnomon__nsys_record *r,
                           const gnomon__work *w)
{
    const uint64_t ns = r->ns > 0 ? (uint64_t)r->ns : 0;
    const gnomon_cell cell = {gnomon_cell_of(ns), 0, 1};
    const gnomon_stats time = {sizeof time, 0, 1, ns, ns, ns, ns, &cell, 1};
    const gnomon_work_stats work = {sizeof work, 0, w->flops, w->bytes};
    gnomon_node_info at = {
        .struct_size = sizeof at, .track = track_of(t, r), .stage = 1};
    if (!at.track || !find_path(t, r, &at))
        return false;
    at.region = region_of(t, r->name, GNOMON_KIND_KERNEL);
    at.op = w->info ? entity_of(t, GNOMON_OPS, w->info) : 0;
    at.device = &time;
    at.work = w->is_known ? &work : NULL;
    if (r->begin_ns < t->from_ns)
        t->from_ns = r->begin_ns;
    if (r->begin_ns + r->ns > t->until_ns)
        t->until_ns = r->begin_ns + r->ns;
    return at.region && (at.op || !w->info) &&
           gnomon__fold_add(&t->fold, GNOMON_NODES, &at);
}

const gnomon_profile *gnomon__nsys_tree_end(gnomon__nsys_tree *t)
{
    gnomon_stage_info *stage = gnomon__model_at(t->fold.m, GNOMON_STAGES, 1);
    if (t->until_ns > t->from_ns)
        stage->end_ns = (uint64_t)t->until_ns - (uint64_t)t->from_ns;
    return &t->fold.m->base;
}

void gnomon__nsys_tree_free(gnomon__nsys_tree *t)
{
    gnomon_profile_free(t->fold.m ? &t->fold.m->base : NULL);
    gnomon__fold_free(&t->fold);
    gnomon__text_table_free(&t->texts);
    gnomon__free(t->processes);
}
