/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles as the tables of a page: the fields of entities under their names, and what
 * page.js cannot compute. Numbers of entities go on from profile to profile, so that a
 * job's files are on the page what one merged file is. */
#include "page/page.h"

#include <string.h>

#include "advice/findings.h"
#include "command/command.h"
#include "command/inputs.h"
#include "command/output.h"
#include "page/sheet.h"
#include "platform/memory.h"
#include "print/events.h"
#include "profile/model.h"

#define PAGE_FIELDS 24

typedef struct page_part {
    const gnomon_profile *p;
    const char *path;
    uint64_t before[GNOMON__ENTITIES]; /* in the profiles before this one */
    size_t steps_at; /* the step time that says how many steps a stage has */
} page_part;

typedef struct page {
    gnomon__sheet *s;
    page_part *parts;
    size_t count;
    uint64_t zero; /* the earliest of all runs, in Unix ns */
} page;

/* What a table has besides fields; its columns are after those. */
typedef void page_more(page *g, page_part *part, const gnomon__any *item);

typedef struct page_table {
    const char *name;
    const char *columns; /* those of fields are named as these */
    size_t fields;       /* how many of the columns */
    page_more *more;     /* NULL: all are */
    uint8_t entity;
    int8_t is_numbered; /* others name its rows by number */
} page_table;

/* ---- What is no field ---------------------------------------------------------------- */

static uint64_t page_number(const page_part *part, int kind, uint32_t number)
{
    return number ? part->before[kind] + number : 0;
}

static void page_run(page *g, page_part *part, const gnomon__any *item)
{
    char when[32];
    gnomon__sheet_put(g->s, item->run.zero_unix_ns - g->zero);
    gnomon__sheet_put_text(g->s, part->path);
    gnomon__sheet_put_text(g->s,
                           gnomon__cli_when(when, item->run.zero_unix_ns));
}

static void page_loss(page *g, page_part *part, const gnomon__any *item)
{
    char text[512];
    (void)part;
    gnomon__sheet_put_text(g->s,
                           gnomon__cli_loss(text, sizeof text, &item->loss));
}

static void page_stage(page *g, page_part *part, const gnomon__any *item)
{
    static const gnomon_stats none;
    const gnomon_stats *s = item->stage.steps ? item->stage.steps : &none;
    (void)part;
    gnomon__sheet_put(g->s, item->stage.recorded_ns
                                ? item->stage.recorded_ns
                                : item->stage.end_ns - item->stage.begin_ns);
    gnomon__sheet_put(g->s, s->count);
    gnomon__sheet_put(g->s, s->max_ns);
    gnomon__sheet_put(g->s, gnomon_quantile_ns(s, 0.5));
}

static void page_node(page *g, page_part *part, const gnomon__any *item)
{
    static const gnomon_stats none;
    const gnomon_node_info *n = &item->node;
    const gnomon_stats *host = n->host ? n->host : &none;
    const gnomon_stats *device = n->device ? n->device : &none;
    const uint64_t numbers[] = {
        n->host != NULL, host->count,      host->total_ns,
        host->self_ns,   host->min_ns,     host->max_ns,
        device->count,   device->total_ns, n->work ? n->work->flops : 0};
    (void)part;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        gnomon__sheet_put(g->s, numbers[i]);
}

static int is_of_steps(const gnomon_profile *p, size_t number,
                       const gnomon_step_time_info *of,
                       gnomon_step_time_info *found)
{
    return gnomon_profile_step_time(p, number, found) == GNOMON_OK &&
           !found->region && !found->step && found->stage == of->stage &&
           found->view == of->view;
}

/* The median over all steps, in some of which the region took no time. Times of a stage
 * stand side by side, so the last one that said how many steps there are mostly says it
 * again. If none does, the stage says it. */
static uint64_t page_usual(page_part *part, const gnomon_step_time_info *of)
{
    gnomon_step_time_info all;
    const size_t times = gnomon_profile_count(part->p, GNOMON_STEP_TIMES);
    gnomon_stage_info stage;
    double steps = (double)of->time->count;
    if (!gnomon_profile_stage(part->p, of->stage, &stage) && stage.steps &&
        (double)stage.steps->count > steps)
        steps = (double)stage.steps->count;
    for (size_t i = 0; !of->step && i < times; i++) {
        const size_t number = (part->steps_at + times - 1 + i) % times + 1;
        if (!is_of_steps(part->p, number, of, &all))
            continue;
        steps = (double)all.time->count;
        part->steps_at = number;
        break;
    }
    const double count = (double)of->time->count, below = steps - count;
    return of->step || below >= steps / 2
               ? 0
               : gnomon_quantile_ns(of->time, (steps / 2 - below) / count);
}

static void page_step_time(page *g, page_part *part, const gnomon__any *item)
{
    gnomon__sheet_put(g->s, item->step_time.time->total_ns);
    gnomon__sheet_put(g->s, page_usual(part, &item->step_time));
}

/* ---- Entities ------------------------------------------------------------------------ */

static const page_table page_tables[] = {
    {"runs", "rank pid host uuid spec now_ns scope_cost_ns:d zero file when", 7,
     page_run, GNOMON_RUNS, 1},
    {"losses", "run count text", 2, page_loss, GNOMON_LOSSES, 0},
    {"views", "words", 1, NULL, GNOMON_VIEWS, 1},
    {"stages", "run ordinal name begin_ns end_ns recorded steps max p50", 5,
     page_stage, GNOMON_STAGES, 1},
    {"steps", "stage number begin_ns end_ns rank", 5, NULL, GNOMON_STEPS, 1},
    {"stepTimes", "stage view step region own_ns calls total usual", 6,
     page_step_time, GNOMON_STEP_TIMES, 0},
    {"tracks", "run kind name os_id device", 5, NULL, GNOMON_TRACKS, 1},
    {"regions", "kind name category file line", 5, NULL, GNOMON_REGIONS, 1},
    {"nodes",
     "parent track stage region view flags open isHost calls total self min "
     "max deviceCalls device flops",
     7, page_node, GNOMON_NODES, 1},
    {"links", "from to kind count", 4, NULL, GNOMON_LINKS, 0},
    {"counters", "track region stage count nans last:d min:d max:d sum:d", 9,
     NULL, GNOMON_COUNTERS, 0},
    {"strips", "stage track region width", 4, NULL, GNOMON_STRIPS, 1},
};

static void put_field(page *g, const page_part *part, const gnomon__field *f,
                      const gnomon__any *item)
{
    double real;
    switch (f->type) {
    case GNOMON__TYPE_NUMBER:
        gnomon__sheet_put(g->s,
                          page_number(part, f->of, gnomon__field_32(f, item)));
        break;
    case GNOMON__TYPE_U64:
        gnomon__sheet_put(g->s, gnomon__field_64(f, item));
        break;
    case GNOMON__TYPE_I64:
        gnomon__sheet_put_signed(g->s, (int64_t)gnomon__field_64(f, item));
        break;
    case GNOMON__TYPE_DOUBLE:
        memcpy(&real, (const char *)item + f->at, sizeof real);
        gnomon__sheet_put_real(g->s, real);
        break;
    case GNOMON__TYPE_TEXT:
    case GNOMON__TYPE_MAYBE:
        gnomon__sheet_put_text(g->s, gnomon__field_pointer(f, item));
        break;
    default:
        gnomon__sheet_put_signed(g->s, (int32_t)gnomon__field_32(f, item));
    }
}

/* The field that a column is named as. */
static const gnomon__field *field_of(const gnomon__struct *s,
                                     const char *column)
{
    const size_t n = strcspn(column, " :");
    for (size_t i = 0; i < s->field_count; i++)
        if (s->fields[i].name_size == n &&
            memcmp(s->fields[i].name, column, n) == 0)
            return &s->fields[i];
    return NULL;
}

static void put_entities(page *g, const page_table *t)
{
    const gnomon__struct *of = &gnomon__structs[t->entity];
    const gnomon__field *fields[PAGE_FIELDS] = {NULL};
    const char *at = t->columns;
    gnomon__any item;
    for (size_t k = 0; k < t->fields; k++, at += strcspn(at, " ") + 1)
        fields[k] = field_of(of, at);
    gnomon__sheet_table(g->s, t->name, t->columns);
    if (t->is_numbered)
        gnomon__sheet_put_none(g->s);
    for (page_part *part = g->parts; part < g->parts + g->count; part++)
        for (size_t i = 1; i <= gnomon_profile_count(part->p, t->entity); i++) {
            item.struct_size = of->size;
            if (part->p->api->get(part->p, t->entity, i, &item))
                continue;
            for (size_t k = 0; k < t->fields && fields[k]; k++)
                put_field(g, part, fields[k], &item);
            if (t->more)
                t->more(g, part, &item);
        }
}

/* The histogram of a path on the host; where it has no time there, on devices. */
static void put_cells(page *g)
{
    gnomon_node_info n;
    gnomon__sheet_table(g->s, "cells", "node cell count");
    for (const page_part *part = g->parts; part < g->parts + g->count; part++)
        for (size_t i = 1; !gnomon_profile_node(part->p, i, &n); i++) {
            const gnomon_stats *s = n.host && n.host->count ? n.host : n.device;
            for (size_t k = 0; s && k < s->cell_count; k++) {
                gnomon__sheet_put(g->s, part->before[GNOMON_NODES] + i);
                gnomon__sheet_put(g->s, s->cells[k].cell);
                gnomon__sheet_put(g->s, s->cells[k].count);
            }
        }
}

static void put_memory(page *g)
{
    gnomon_node_info n;
    gnomon__sheet_table(g->s, "memory",
                        "node pool allocations allocated freed at_peak held:d");
    for (const page_part *part = g->parts; part < g->parts + g->count; part++)
        for (size_t i = 1; !gnomon_profile_node(part->p, i, &n); i++)
            for (size_t k = 0; k < n.memory_count; k++) {
                const gnomon_memory_stats *m = gnomon_memory_at(&n, k);
                gnomon__sheet_put(g->s, part->before[GNOMON_NODES] + i);
                gnomon__sheet_put(g->s,
                                  page_number(part, GNOMON_TRACKS, m->pool));
                gnomon__sheet_put(g->s, m->allocations);
                gnomon__sheet_put(g->s, m->allocated_bytes);
                gnomon__sheet_put(g->s, m->freed_bytes);
                gnomon__sheet_put(g->s, m->at_peak_bytes);
                gnomon__sheet_put_real(g->s, (double)m->held_bytes);
            }
}

static void put_bins(page *g)
{
    gnomon_strip_info s;
    gnomon__sheet_table(g->s, "bins", "strip count min:d max:d sum:d");
    for (const page_part *part = g->parts; part < g->parts + g->count; part++)
        for (size_t i = 1; !gnomon_profile_strip(part->p, i, &s); i++)
            for (size_t k = 0; k < s.bin_count; k++) {
                const gnomon_bin *b = gnomon_bin_at(&s, k);
                gnomon__sheet_put(g->s, part->before[GNOMON_STRIPS] + i);
                gnomon__sheet_put(g->s, b->count);
                gnomon__sheet_put_real(g->s, b->min);
                gnomon__sheet_put_real(g->s, b->max);
                gnomon__sheet_put_real(g->s, b->sum);
            }
    gnomon__sheet_table(g->s, "slow", "strip at number ns");
    for (const page_part *part = g->parts; part < g->parts + g->count; part++)
        for (size_t i = 1; !gnomon_profile_strip(part->p, i, &s); i++)
            for (size_t k = 0; k < s.slow_count; k++) {
                const gnomon_slow_step *slow = gnomon_slow_at(&s, k);
                gnomon__sheet_put(g->s, part->before[GNOMON_STRIPS] + i);
                gnomon__sheet_put(g->s, slow->at);
                gnomon__sheet_put(g->s, slow->number);
                gnomon__sheet_put(g->s, slow->ns);
            }
}

/* ---- Events -------------------------------------------------------------------------- */

static void put_event(page *g, const page_part *part,
                      const gnomon_event_info *e, uint64_t zero)
{
    const int is_execution = e->kind == GNOMON_EVENT_EXECUTION;
    gnomon__sheet_put(g->s, page_number(part, GNOMON_TRACKS, e->track));
    gnomon__sheet_put(g->s, is_execution
                                ? page_number(part, GNOMON_NODES, e->node)
                            : e->kind == GNOMON_EVENT_MEMORY
                                ? page_number(part, GNOMON_TRACKS, e->region)
                                : page_number(part, GNOMON_REGIONS, e->region));
    gnomon__sheet_put(g->s, zero + e->begin_ns);
    if (is_execution)
        gnomon__sheet_put(g->s, e->duration_ns);
    else
        gnomon__sheet_put_real(g->s, e->value);
}

/* Those of one kind, in a pass over all. */
static int put_events(page *g, uint32_t kind, const char *name,
                      const char *columns)
{
    gnomon__event_walk w;
    const gnomon_event_info *e;
    gnomon__sheet_table(g->s, name, columns);
    for (const page_part *part = g->parts; part < g->parts + g->count; part++) {
        gnomon_track_info t = {.run = 0};
        gnomon_run_info r = {.zero_unix_ns = 0};
        uint32_t track = 0;
        gnomon__walk_all(&w, part->p);
        while ((e = gnomon__walk_next(&w)) != NULL) {
            if (e->track != track &&
                !gnomon_profile_track(part->p, track = e->track, &t) &&
                gnomon_profile_run(part->p, t.run ? t.run : 1, &r))
                r.zero_unix_ns = g->zero;
            if (e->kind == kind)
                put_event(g, part, e, r.zero_unix_ns - g->zero);
        }
        if (gnomon__profile_failed(part->p))
            return GNOMON_EIO;
    }
    return GNOMON_OK;
}

/* ---- Advice -------------------------------------------------------------------------- */

static int put_advice(page *g, const gnomon_profile *const *profiles)
{
    gnomon__findings found;
    const int code = gnomon__advise(&found, profiles, g->count);
    gnomon__sheet_table(g->s, "advice",
                        "gain rule finding from threshold tries unsure");
    for (size_t i = 0; !code && i < found.count; i++) {
        const gnomon__finding *f = &found.at[i];
        const char *texts[] = {f->rule->name,      f->what,  f->from,
                               f->rule->threshold, f->tries, f->unsure};
        gnomon__sheet_put(g->s, f->gain_ns);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            gnomon__sheet_put_text(g->s, texts[k]);
    }
    gnomon__findings_free(&found);
    return code;
}

/* ---- The page ------------------------------------------------------------------------ */

static int page_begin(page *g, const gnomon_profile *const *profiles,
                      const char *const *paths, size_t count)
{
    *g = (page){.count = count, .zero = UINT64_MAX};
    g->parts = gnomon__alloc((count + 1) * sizeof *g->parts);
    if (!g->parts || !(g->s = gnomon__sheet_begin("profile")))
        return GNOMON_ENOMEM;
    memset(g->parts, 0, (count + 1) * sizeof *g->parts);
    for (size_t k = 0; k < count; k++) {
        page_part *part = &g->parts[k];
        gnomon_run_info r;
        part->p = profiles[k];
        part->path = paths[k];
        for (int kind = 0; kind < GNOMON__ENTITIES; kind++)
            part[1].before[kind] =
                part->before[kind] + gnomon_profile_count(part->p, kind);
        for (size_t i = 1; !gnomon_profile_run(part->p, i, &r); i++)
            g->zero = r.zero_unix_ns < g->zero ? r.zero_unix_ns : g->zero;
    }
    g->zero = g->zero == UINT64_MAX ? 0 : g->zero;
    return GNOMON_OK;
}

/* The job's name, or the first file's. */
static const char *page_title(const page *g)
{
    gnomon_run_info r;
    const char *path = g->count ? g->parts->path : "";
    const char *slash = strrchr(path, '/');
    if (g->count && !gnomon_profile_run(g->parts->p, 1, &r) && r.job && *r.job)
        return r.job;
    return slash && slash[1] ? slash + 1 : path;
}

int gnomon__page_write(const gnomon_profile *const *profiles,
                       const char *const *paths, size_t count,
                       const gnomon_writer *out)
{
    page g;
    int code = page_begin(&g, profiles, paths, count);
    for (size_t i = 0; !code && i < sizeof page_tables / sizeof *page_tables;
         i++)
        put_entities(&g, &page_tables[i]);
    if (!code) {
        put_cells(&g);
        put_memory(&g);
        put_bins(&g);
        code = put_events(&g, GNOMON_EVENT_EXECUTION, "events",
                          "track node begin took");
    }
    if (!code)
        code = put_events(&g, GNOMON_EVENT_COUNTER, "samples",
                          "track region begin value:d");
    if (!code)
        code = put_events(&g, GNOMON_EVENT_MEMORY, "pools",
                          "track pool begin value:d");
    if (!code)
        code = put_advice(&g, profiles);
    if (!code)
        code = gnomon__sheet_end(g.s, page_title(&g), out);
    else
        gnomon__sheet_free(g.s);
    gnomon__free(g.parts);
    return code;
}
