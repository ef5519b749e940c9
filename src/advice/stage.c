/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the stages of a job, who makes the steps of each, and how long these are. */
#include "advice/stage.h"

#include <math.h>
#include <string.h>

#include "platform/memory.h"
#include "print/devices.h"
#include "print/letters.h"

/* ---- Names --------------------------------------------------------------------------- */

bool gnomon__advice_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        for (const char *at = name; *at; at++)
            if (gnomon__print_same_word(at, strnlen(at, strlen(*words)),
                                        *words))
                return true;
    return false;
}

static bool is_loader(const char *name)
{
    static const char *const words[] = {
        "dataloader", "data_loader", "data loader", "next_batch", "get_batch",
        "load_batch", "fetch_batch", "val_next",    NULL};
    return strcmp(name, "load") == 0 || strcmp(name, "loader") == 0 ||
           gnomon__advice_word(name, words);
}

static bool is_worker(const char *name)
{
    return is_loader(name) || strstr(name, "worker");
}

static unsigned words_of(const gnomon_region_info *r)
{
    static const char *const collectives[] = {
        "allreduce",  "all_reduce",    "allgather",      "all_gather",
        "alltoall",   "reducescatter", "reduce_scatter", "barrier",
        "all_to_all", "nccl",          "c10d::",         NULL};
    static const char *const waits[] = {
        "synchronize", "aten::item", "_local_scalar_dense",
        ".item",       ".cpu",       "'item'",
        "'cpu'",       NULL};
    const bool is_collective = r->kind == GNOMON_KIND_COLLECTIVE ||
                               gnomon__advice_word(r->name, collectives);
    return (is_loader(r->name) ? IS_LOADER : 0u) |
           (is_collective ? IS_COLLECTIVE : 0u) |
           (gnomon__advice_word(r->name, waits) ? IS_WAIT : 0u);
}

/* ---- Nodes and metadata ------------------------------------------------------------- */

bool gnomon__advice_is_of(const advice_stage *s, uint32_t view)
{
    return !s->view || !view || view == s->view;
}

bool gnomon__advice_node(const advice_stage *s, size_t at,
                         gnomon__report_node *n)
{
    return gnomon__report_node_at(s->p, at, n) && n->of.stage == s->number &&
           n->of.host && n->of.host->count &&
           gnomon__advice_is_of(s, n->of.view) &&
           !(n->of.flags & (GNOMON_NODE_PART | GNOMON_NODE_RANGE));
}

bool gnomon__advice_next(const advice_stage *s, size_t *at,
                         gnomon__report_node *n)
{
    while (++*at <= gnomon_profile_count(s->p, GNOMON_NODES))
        if (gnomon__advice_node(s, *at, n))
            return true;
    return false;
}

uint64_t gnomon__advice_calls(const advice_stage *s, uint64_t count)
{
    const uint64_t calls = s->steps > 0 ? count / (uint64_t)s->steps : 0;
    return calls ? calls : 1;
}

double gnomon__advice_metadata(const advice_stage *s, const char *key)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(s->p, i, &m); i++)
        if (m.run == s->of.run && strcmp(m.key, key) == 0)
            return strtod(m.json, NULL);
    return -1;
}

/* ---- The stage at hand --------------------------------------------------------------- */

static int by_begin(const void *left, const void *right)
{
    const advice_step *a = left, *b = right;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int by_length(const void *left, const void *right)
{
    const advice_step *a = left, *b = right;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The first step of a stage is start-up, and no slow one. */
static void read_steps(advice *a, const advice_stage *s)
{
    gnomon_step_info of;
    a->step_count = 0;
    for (size_t i = 1; !gnomon_profile_step(s->p, i, &of); i++) {
        const double ns = (double)of.end_ns - (double)of.begin_ns;
        if (of.stage == s->number && ns > 0 && of.rank < 0)
            a->steps[a->step_count++] = (advice_step){
                i,
                of.number,
                of.begin_ns,
                ns,
                ns > 1.25 * s->usual_ns &&
                    (double)(of.begin_ns - s->of.begin_ns) >= s->usual_ns,
                0};
    }
    if (a->step_count)
        qsort(a->steps, a->step_count, sizeof *a->steps, by_begin);
}

/* A loader is asked once more for the batch that an epoch no longer has: the step with
 * that call is the first one of the next epoch, where its workers start, and no slow one. */
static void find_epochs(advice *a, const advice_stage *s)
{
    gnomon_step_time_info t;
    for (size_t i = 1; !gnomon_profile_step_time(s->p, i, &t); i++) {
        const advice_region *r = &a->regions[t.region];
        if (t.stage != s->number || !t.step || !(r->is & IS_LOADER) ||
            !gnomon__advice_is_of(s, t.view) ||
            t.calls <= gnomon__advice_calls(s, r->calls))
            continue;
        for (advice_step *k = a->steps; k < a->steps + a->step_count; k++)
            k->is_slow &= k->index != t.step;
    }
}

static void read_regions(advice *a, const advice_stage *s)
{
    gnomon_step_time_info t;
    gnomon_region_info r;
    a->regions[0].own_ns = (double)INFINITY;
    for (size_t i = 1; !gnomon_profile_region(s->p, i, &r); i++) {
        a->regions[i].own_ns = (double)INFINITY;
        a->regions[i].is = words_of(&r);
    }
    a->has_times = false;
    for (size_t i = 1; !gnomon_profile_step_time(s->p, i, &t); i++)
        if (t.stage == s->number && !t.step &&
            gnomon__advice_is_of(s, t.view)) {
            a->regions[t.region].own_ns =
                (double)(t.calls ? t.own_ns : t.time->total_ns);
            a->regions[t.region].in_steps = t.time;
            a->regions[t.region].calls = t.calls;
            a->has_times = true;
        }
}

static void read_nodes(advice *a, const advice_stage *s)
{
    gnomon_node_info of;
    gnomon__report_node n;
    for (size_t i = 1; !gnomon_profile_node(s->p, i, &of); i++)
        if (of.parent && !gnomon_profile_node(s->p, of.parent, &n.of))
            a->nodes[i].inside =
                a->nodes[of.parent].inside | a->regions[n.of.region].is;
    for (size_t i = 0; s->thread && gnomon__advice_next(s, &i, &n);)
        if (n.of.track == s->thread) {
            a->regions[n.of.region].total_ns += (double)n.of.host->total_ns;
            a->regions[n.of.region].self_ns += (double)n.of.host->self_ns;
        }
}

int gnomon__advice_begin(advice *a, const advice_stage *s)
{
    const size_t regions = gnomon_profile_count(s->p, GNOMON_REGIONS) + 1,
                 tracks = gnomon_profile_count(s->p, GNOMON_TRACKS) + 1,
                 nodes = gnomon_profile_count(s->p, GNOMON_NODES) + 1,
                 steps = gnomon_profile_count(s->p, GNOMON_STEPS) + 1;
    gnomon__report_table *m = &a->memory;
    gnomon__table_free(m);
    *m = (gnomon__report_table){.name = ""};
    a->regions = gnomon__table_take(m, regions * sizeof *a->regions);
    a->tracks = gnomon__table_take(m, tracks * sizeof *a->tracks);
    a->nodes = gnomon__table_take(m, nodes * sizeof *a->nodes);
    a->steps = gnomon__table_take(m, steps * sizeof *a->steps);
    if (!a->regions || !a->tracks || !a->nodes || !a->steps)
        return GNOMON_ENOMEM;
    read_regions(a, s);
    read_nodes(a, s);
    read_steps(a, s);
    find_epochs(a, s);
    return GNOMON_OK;
}

/* ---- What a stage is ----------------------------------------------------------------- */

/* If the stage has no statistics of its steps, they are made of the steps that the
 * profile has. */
static void find_steps(advice *a, advice_stage *s)
{
    if (s->of.steps && s->of.steps->count) {
        s->steps = (double)s->of.steps->count;
        s->steps_ns = (double)s->of.steps->total_ns;
        s->usual_ns = gnomon_quantile(s->of.steps, 0.5);
    } else if (a->step_count) {
        s->steps = (double)a->step_count;
        for (size_t i = 0; i < a->step_count; i++)
            s->steps_ns += a->steps[i].ns;
        qsort(a->steps, a->step_count, sizeof *a->steps, by_length);
        s->usual_ns = a->steps[a->step_count / 2].ns;
    }
}

/* The thread that did most in the steps; where that is not known, most at all, but a
 * loader's. */
static void find_thread(advice *a, advice_stage *s)
{
    gnomon__report_node n;
    gnomon_track_info t;
    for (size_t i = 0; gnomon__advice_next(s, &i, &n);) {
        const advice_region *r = &a->regions[n.of.region];
        advice_track *on = &a->tracks[n.of.track];
        if (n.of.parent || gnomon_profile_track(s->p, n.of.track, &t))
            continue;
        on->ns += (double)n.of.host->total_ns;
        on->is_loader |= (r->is & IS_LOADER) != 0;
        if (t.kind != GNOMON_TRACK_THREAD || t.run != s->of.run ||
            (isinf(r->own_ns) && (a->has_times || is_worker(t.name))))
            continue;
        on->in_steps += fmin((double)n.of.host->total_ns, r->own_ns);
        if (on->in_steps > a->tracks[s->thread].in_steps)
            s->thread = n.of.track;
    }
}

/* How busy its threads were, and which are workers of loaders. */
static void find_workers(const advice *a, advice_stage *s)
{
    const bool is_all = gnomon__advice_metadata(s, "data_loader_worker") >= 0;
    gnomon_track_info t;
    for (size_t i = 1; !gnomon_profile_track(s->p, i, &t); i++) {
        const double busy = advice_share(a->tracks[i].ns, s->recorded_ns);
        if (t.kind != GNOMON_TRACK_THREAD || t.run != s->of.run || busy <= 0)
            continue;
        s->cores += busy / 100;
        if (is_all ||
            (i != s->thread && (a->tracks[i].is_loader || is_worker(t.name)))) {
            s->workers++;
            s->worker_share += busy;
        }
    }
}

static double waits_in_step(const advice *a, const advice_stage *s)
{
    gnomon__report_node n;
    double ns = -1;
    for (size_t i = 1; gnomon__report_node_at(s->p, i, &n); i++) {
        const gnomon_stats *t = gnomon__work_stats(&n.of);
        if (t && n.of.stage == s->number &&
            gnomon__advice_is_of(s, n.of.view) &&
            a->regions[n.of.region].is & ~a->nodes[i].inside & IS_COLLECTIVE)
            ns = fmax(ns, 0) + (double)t->total_ns;
    }
    return ns < 0 || s->steps <= 0 ? -1 : ns / s->steps;
}

static int add_stage(advice *a, const gnomon_profile *p, uint32_t number)
{
    gnomon__report_node n;
    if (!gnomon__grow(&a->stages, &a->room, a->count + 1, sizeof *a->stages))
        return GNOMON_ENOMEM;
    advice_stage *s = &a->stages[a->count++];
    *s = (advice_stage){.p = p,
                        .number = number,
                        .is_first_of_profile = number <= 1,
                        .is_first_of_run = true,
                        .is_first_of_name = true};
    if (gnomon_profile_stage(p, number, &s->of))
        s->of = (gnomon_stage_info){.name = "", .run = 1};
    if (gnomon_profile_run(p, s->of.run, &s->run))
        s->run = (gnomon_run_info){.rank = -1, .host = ""};
    s->recorded_ns = s->of.recorded_ns ? (double)s->of.recorded_ns
                     : number          ? (double)(s->of.end_ns - s->of.begin_ns)
                                       : (double)s->run.now_ns;
    for (size_t i = 0; !s->view && gnomon__advice_next(s, &i, &n);)
        s->view = n.of.view;
    for (const advice_stage *t = a->stages; t < s; t++) {
        s->is_first_of_run &= t->p != p || t->of.run != s->of.run;
        s->is_first_of_name &= strcmp(t->of.name, s->of.name) != 0;
    }
    if (gnomon__advice_begin(a, s))
        return GNOMON_ENOMEM;
    find_steps(a, s);
    find_thread(a, s);
    find_workers(a, s);
    s->waits_ns = waits_in_step(a, s);
    return GNOMON_OK;
}

void gnomon__advice_stages(advice *a, const gnomon_profile *p)
{
    const uint32_t stages = (uint32_t)gnomon_profile_count(p, GNOMON_STAGES);
    for (uint32_t k = stages > 0; !a->code && k <= stages; k++)
        a->code = add_stage(a, p, k);
}
