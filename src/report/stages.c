/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of stages, one run in memory at a time. */
#include "report/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/inputs.h"
#include "profile/fields.h"
#include "report/ranks.h"
#include "spec/suggest.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/order.h"

static int no_room_for_stages(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the stages");
}

/* GNOMON__UNITE_NAMES, or 0: each stage by itself. */
static unsigned names_rule(const gnomon__cli_stages *s)
{
    return s->choice.each ? 0 : GNOMON__UNITE_NAMES;
}

/* ---- Stages ------------------------------------------------------------------------ */

/* The sum of that stage (NULL: of what is of none) in that view; NULL: no memory. */
static gnomon__cli_stage *stage_of(gnomon__cli_stages *s,
                                   const gnomon__gather *g,
                                   const gnomon_stage_info *stage,
                                   uint32_t view, unsigned rules)
{
    for (size_t i = 0; i < s->count; i++) {
        gnomon__cli_stage *to = &s->at[i];
        if (to->key.view == view &&
            (stage ? to->key.name &&
                         (to->key.ordinal == stage->ordinal || names_rule(s)) &&
                         strcmp(to->key.name, stage->name) == 0
                   : !to->key.name)) {
            if (stage && names_rule(s) && s->run < to->first_run) {
                to->begin_ns = stage->begin_ns;
                to->first_run = s->run;
            }
            return to;
        }
    }
    if (!gnomon__grow(&s->at, &s->room, s->count + 1, sizeof *s->at))
        return NULL;
    gnomon__cli_stage *to = &s->at[s->count];
    *to = (gnomon__cli_stage){.key.view = view, .first_run = s->run};
    if (stage) {
        to->key.ordinal = stage->ordinal;
        to->begin_ns = names_rule(s) ? stage->begin_ns : 0;
        if (!(to->key.name = gnomon__strdup(stage->name)))
            return NULL;
    }
    s->count++;
    return gnomon__unite_create(&to->sum, gnomon__merge_shared(g->merge), rules)
               ? NULL
               : to;
}

static int count_rank(gnomon__cli_stage *to, int32_t rank)
{
    for (size_t i = to->rank_count; rank >= 0 && i-- > 0;)
        if (to->ranks[i] == rank)
            return GNOMON_OK;
    if (!gnomon__grow(&to->ranks, &to->rank_room, to->rank_count + 1,
                      sizeof *to->ranks))
        return no_room_for_stages();
    to->ranks[to->rank_count++] = rank;
    return GNOMON_OK;
}

/* ---- Ranks and hosts --------------------------------------------------------------- */

/* Whether hosts are apart; ranks are compared one by one in any case. */
static int is_by_host(const gnomon__cli_stages *s)
{
    const gnomon__cli_profiler *of = s->choice.of;
    return gnomon__is_apart(of) && of->by == GNOMON__BY_HOST &&
           !of->report->compares_ranks;
}

/* Whether the runs are of one rank or host, where these are apart. */
static int is_same(const gnomon__cli_stages *s, const gnomon_run_info *a,
                   const gnomon_run_info *b)
{
    if (is_by_host(s))
        return strcmp(a->host, b->host) == 0;
    return gnomon__is_apart(s->choice.of) && a->rank >= 0 && a->rank == b->rank;
}

/* What a report says of a profile besides its rows: its runs and stages. */
typedef struct stages_frame {
    gnomon_profile base;
    const gnomon_profile *of;
} stages_frame;

static size_t frame_count(const gnomon_profile *p, int entity)
{
    const gnomon_profile *of = ((const stages_frame *)(const void *)p)->of;
    return entity == GNOMON_RUNS || entity == GNOMON_STAGES ||
                   entity == GNOMON_VIEWS
               ? gnomon_profile_count(of, entity)
               : 0;
}

static int frame_get(const gnomon_profile *p, int entity, size_t number,
                     void *info)
{
    const gnomon_profile *of = ((const stages_frame *)(const void *)p)->of;
    return of->api->get(of, entity, number, info);
}

/* Adds a complete rank or host. */
static int put_one(const gnomon__cli_stages *s, gnomon__cli_stage *to,
                   const gnomon_profile *p, const gnomon_run_info *run)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = frame_count,
                                           .get = frame_get};
    static const gnomon__table_choice all = {
        .limit = SIZE_MAX, .sort = -1, .is_table = true};
    const stages_frame frame = {{&api}, p};
    const gnomon__cli_profiler *of = s->choice.of;
    const int is_apart = gnomon__is_apart(of);
    int code = GNOMON_OK;
    to->has_rows |= gnomon__report_has_rows(of, p);
    to->has_times |= gnomon_profile_count(p, GNOMON_STEP_TIMES) > 0;
    if (!to->rows.of) {
        code = gnomon__report_begin(&to->rows,
                                    is_apart ? of->report : &gnomon__ranks,
                                    is_apart ? of->self : &all, NULL);
        to->rows.keeps = true;
        to->rows.is_apart = is_apart && !of->report->compares_ranks;
    }
    if (!code)
        code = gnomon__report_add(&to->rows, p, run);
    if (code)
        return gnomon__fail(code, "no memory for the ranks");
    return gnomon__unite_add(to->sum, is_apart ? &frame.base : p, 1, NULL);
}

static int end_one(const gnomon__cli_stages *s, const gnomon__gather *g,
                   gnomon__cli_stage *to)
{
    gnomon__unite *one = to->one;
    gnomon_profile *p;
    if (!one)
        return GNOMON_OK;
    to->one = NULL;
    int code = gnomon__unite_finish(one, GNOMON_OK, &p);
    if (code)
        return code;
    code = put_one(s, to, p, gnomon__merge_info(g->merge, s->first));
    gnomon_profile_free(p);
    return code;
}

/* A rank's stage by itself comes first, as it may be several that are added up. Where it
 * is alone in its rows they are those of a report of this rank. */
static int add_rank(const gnomon__cli_stages *s, gnomon__cli_stage *to,
                    const gnomon__gather *g, const gnomon_profile *p,
                    unsigned rules)
{
    const gnomon__shared *shared = gnomon__merge_shared(g->merge);
    gnomon__unite *own;
    gnomon_profile *stage;
    const int is_alone =
        s->is_one && gnomon__is_apart(s->choice.of) && !is_by_host(s);
    int code = gnomon__unite_create(
        &own, shared, is_alone ? rules : rules | GNOMON__UNITE_RANKS);
    if (code)
        return code;
    gnomon__unite_filter(own, s->choice.of->filter);
    code = gnomon__unite_add(own, p, 1, &to->key);
    to->left_out |= gnomon__unite_left_out(own);
    code = gnomon__unite_finish(own, code, &stage);
    if (code)
        return code;
    code = count_rank(to, gnomon__merge_info(g->merge, s->run)->rank);
    if (!code && s->is_one)
        code = put_one(s, to, stage, gnomon__merge_info(g->merge, s->run));
    if (!code && !s->is_one && !to->one)
        code = gnomon__unite_create(&to->one, shared, GNOMON__UNITE_RANKS);
    if (!code && !s->is_one)
        code = gnomon__unite_add(to->one, stage, 1, NULL);
    gnomon_profile_free(stage);
    return code;
}

static int add_stage(gnomon__cli_stages *s, const gnomon__gather *g,
                     const gnomon_profile *p, const gnomon_stage_info *stage,
                     uint32_t view, unsigned lends)
{
    uint32_t run = gnomon_profile_count(p, GNOMON_RUNS) > 0;
    const unsigned rules = names_rule(s) | lends;
    gnomon__cli_stage *to = stage_of(s, g, stage, view,
                                     s->runs > 1 ? GNOMON__UNITE_RANKS
                                     : run       ? rules
                                           : rules | GNOMON__UNITE_NO_RUN);
    if (!to)
        return no_room_for_stages();
    if (s->runs > 1)
        return add_rank(s, to, g, p, rules);
    gnomon__unite_filter(to->sum, s->choice.of->filter);
    return gnomon__unite_add(to->sum, p, run, &to->key);
}

/* ---- Runs ------------------------------------------------------------------------ */

static void offer_name(const gnomon__stages_choice *choice, const char *name)
{
    gnomon__suggestion s = gnomon__suggest(choice->name);
    gnomon__near_stage *near = choice->near;
    if (*near->name)
        s.distance = near->distance;
    gnomon__suggest_offer(&s, name);
    if (!s.best)
        return;
    near->distance = s.distance;
    snprintf(near->name, sizeof near->name, "%s", name);
}

/* Whether the stage is the first of its name; with GNOMON__UNITE_NAMES the first adds
 * them all. */
static int is_new_of_run(const gnomon_profile *p, size_t number,
                         const gnomon_stage_info *stage, unsigned rule)
{
    gnomon_stage_info before;
    for (size_t i = 1; rule && i < number; i++)
        if (gnomon_profile_stage(p, i, &before) == GNOMON_OK &&
            strcmp(before.name, stage->name) == 0)
            return 0;
    return 1;
}

/* has[view]: whether nodes are of that view. Returns whether nodes of no stage have
 * times. */
static int scan_nodes(const gnomon_profile *p, const gnomon__cli_profiler *of,
                      unsigned char *has)
{
    int of_none = !gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_node_info n;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        const gnomon_stats *times =
            gnomon__wants(of, GNOMON_WANT_DEVICE | GNOMON_WANT_DEVICE_WORK)
                ? n.device
            : gnomon__wants(of, GNOMON_WANT_STEPS) ? NULL
                                                   : n.host;
        has[n.view] = n.view > 0;
        of_none |= !n.stage && times && times->count;
    }
    return of_none;
}

/* Each stage, of one view. */
static int add_view(gnomon__cli_stages *s, gnomon__gather *g,
                    const gnomon_profile *p, uint32_t view, int with_none,
                    unsigned lends)
{
    const char *name = s->choice.name;
    size_t count = gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_stage_info stage;
    int code = GNOMON_OK;
    if (with_none && !name)
        code = add_stage(s, g, p, NULL, view, lends);
    for (size_t i = 1; !code && i <= count; i++) {
        gnomon_profile_stage(p, i, &stage);
        int is_more = is_new_of_run(p, i, &stage, names_rule(s));
        if (name)
            offer_name(&s->choice, stage.name);
        if (is_more && (!name || strcmp(stage.name, name) == 0))
            code = add_stage(s, g, p, &stage, view, lends);
    }
    return code;
}

/* The number that a view of the profile has among all runs; 0: it is none. */
static uint32_t shared_view(const gnomon__gather *g, const gnomon_profile *p,
                            uint32_t view)
{
    const gnomon_profile *all = &gnomon__merge_shared(g->merge)->m->base;
    gnomon_view_info own, other;
    if (gnomon_profile_view(p, view, &own) != GNOMON_OK)
        return 0;
    for (uint32_t i = 1; gnomon_profile_view(all, i, &other) == GNOMON_OK; i++)
        if (strcmp(own.words, other.words) == 0)
            return i;
    return 0;
}

/* Each view that the run's nodes are of. A run without any is taken for one of the
 * first view. Steps are the same in all views. */
static int add_views(gnomon__cli_stages *s, gnomon__gather *g,
                     const gnomon_profile *p, unsigned lends)
{
    size_t count = gnomon_profile_count(p, GNOMON_VIEWS);
    unsigned char *has = gnomon__alloc(count + 1);
    int code = GNOMON_OK;
    if (!has)
        return no_room_for_stages();
    int with_none = scan_nodes(p, s->choice.of, has);
    int is_of_all = gnomon__wants(s->choice.of, GNOMON_WANT_STEPS);
    if (!memchr(has, 1, count + 1))
        has[count > 0] = 1;
    if (is_of_all)
        code = add_view(s, g, p, GNOMON__ALL_VIEWS, with_none, lends);
    for (uint32_t i = 0; !is_of_all && !code && i <= count; i++)
        if (has[i])
            code = add_view(s, g, p, shared_view(g, p, i), with_none, lends);
    gnomon__free(has);
    return code;
}

/* A run that was read as it is is not copied: the sum borrows its statistics. */
static int add_run(gnomon__cli_stages *s, gnomon__gather *g,
                   const gnomon__cli_group *group, size_t which)
{
    const size_t run = group->runs[which];
    const gnomon_run_info *info = gnomon__merge_info(g->merge, run);
    const int is_first =
        !which ||
        !is_same(s, gnomon__merge_info(g->merge, group->runs[which - 1]), info);
    const int is_last =
        which + 1 == group->count ||
        !is_same(s, info, gnomon__merge_info(g->merge, group->runs[which + 1]));
    const gnomon_profile *read;
    gnomon_profile *made = NULL;
    s->run = run;
    s->first = is_first ? run : s->first;
    s->is_one = is_first && is_last;
    gnomon__progress_at("run", which + 1, group->count);
    int code = gnomon__merge_run_read(g->merge, run, &read);
    if (!code && !read)
        code = gnomon__merge_run(g->merge, run, &made);
    gnomon__progress_hide();
    const gnomon_profile *p = read ? read : made;
    if (code || !p)
        return code;
    code = gnomon__cli_notes_add(&s->notes, p);
    if (!code)
        code = add_views(s, g, p, read ? GNOMON__UNITE_LENDS : 0);
    for (size_t i = 0; !code && is_last && i < s->count; i++)
        code = end_one(s, g, &s->at[i]);
    if (read && group->count == 1)
        gnomon__merge_drop_entities(g->merge);
    if (made && group->count == 1 && gnomon_profile_count(made, GNOMON_EVENTS))
        s->made = made; /* the sums have them */
    else
        gnomon_profile_free(made);
    return code;
}

GNOMON__ORDER(by_stage, gnomon__cli_stage, OF(!b->key.name - !a->key.name),
              UP(begin_ns), UP(key.ordinal),
              OF(gnomon__compare_texts(a->key.name, b->key.name)), UP(key.view))

static void free_stage(gnomon__cli_stage *stage)
{
    gnomon__free((void *)(size_t)stage->key.name);
    gnomon__unite_free(stage->sum);
    gnomon__unite_free(stage->one);
    if (stage->rows.of)
        gnomon__report_free(&stage->rows);
    gnomon__free(stage->ranks);
}

/* A view has no report of a stage that it did not record. */
static void drop_empty_stages(gnomon__cli_stages *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!s->at[i].key.name || gnomon__unite_has_stages(s->at[i].sum))
            s->at[kept++] = s->at[i];
        else
            free_stage(&s->at[i]);
    }
    s->count = kept;
}

int gnomon__cli_stages_read(gnomon__cli_stages *s, gnomon__gather *g,
                            const gnomon__cli_group *group,
                            const gnomon__stages_choice *choice)
{
    int code = GNOMON_OK;
    *s = (gnomon__cli_stages){.runs = group->count, .choice = *choice};
    if (is_by_host(s))
        code = gnomon__cli_group_by_host(group, g);
    for (size_t i = 0; !code && i < group->count; i++)
        code = add_run(s, g, group, i);
    if (!code)
        drop_empty_stages(s);
    GNOMON__SORT(s->at, s->count, by_stage);
    for (size_t i = 0; i < s->count; i++)
        s->has_views |= s->at[i].key.view != s->at[0].key.view;
    return code;
}

int gnomon__cli_stage_take(gnomon__cli_stage *stage, gnomon_profile **out)
{
    gnomon__unite *sum = stage->sum;
    stage->sum = NULL;
    stage->left_out |= gnomon__unite_left_out(sum);
    return gnomon__unite_finish(sum, GNOMON_OK, out);
}

void gnomon__cli_stages_free(gnomon__cli_stages *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_stage(&s->at[i]);
    gnomon_profile_free(s->made);
    gnomon__cli_notes_free(&s->notes);
    gnomon__free(s->at);
    *s = (gnomon__cli_stages){0};
}
