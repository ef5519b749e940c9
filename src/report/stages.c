/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of stages, one run in memory at a time. */
#include "report/stages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/progress.h"
#include "profile/keys.h"
#include "platform/error.h"
#include "platform/memory.h"

static int no_room_for_stages(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the stages");
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
                         (to->key.ordinal == stage->ordinal || s->names_rule) &&
                         strcmp(to->key.name, stage->name) == 0
                   : !to->key.name)) {
            if (stage && s->names_rule && s->run < to->first_run) {
                to->begin_ns = stage->begin_ns;
                to->first_run = s->run;
            }
            return to;
        }
    }
    if (!gnomon__grow(&s->at, &s->room, s->count + 1, sizeof *s->at))
        return NULL;
    gnomon__cli_stage *to = &s->at[s->count];
    *to = (gnomon__cli_stage){
        .key.view = view,
        .first_run = s->run,
        .ranks.by = s->ranks_by,
        .apart = {.by = s->by, .of_steps = s->of == GNOMON__STAGES_OF_STEPS}};
    if (stage) {
        to->key.ordinal = stage->ordinal;
        to->begin_ns = s->names_rule ? stage->begin_ns : 0;
        if (!(to->key.name = gnomon__strdup(stage->name)))
            return NULL;
    }
    s->count++;
    return gnomon__unite_create(&to->sum, gnomon__merge_shared(g->merge), rules)
               ? NULL
               : to;
}

/* A rank's stage by itself is what its table is made from. */
static int add_rank(const gnomon__cli_stages *s, gnomon__cli_stage *to,
                    const gnomon__gather *g, const gnomon_profile *p,
                    const gnomon_run_info *run, unsigned lends)
{
    gnomon__unite *one;
    gnomon_profile *stage;
    int code =
        gnomon__unite_create(&one, gnomon__merge_shared(g->merge),
                             GNOMON__UNITE_RANKS | s->names_rule | lends);
    if (code)
        return code;
    gnomon__unite_filter(one, s->filter);
    code = gnomon__unite_add(one, p, 1, &to->key);
    if (code) {
        gnomon__unite_free(one);
        return code;
    }
    to->left_out |= gnomon__unite_left_out(one);
    code = gnomon__unite_finish(one, &stage);
    if (code)
        return code;
    code = gnomon__rank_table_add(&to->ranks, run, stage);
    if (!code)
        code = gnomon__apart_add(&to->apart, to->sum,
                                 gnomon__merge_shared(g->merge), stage, run);
    gnomon_profile_free(stage);
    return code;
}

static int add_stage(gnomon__cli_stages *s, const gnomon__gather *g,
                     const gnomon_profile *p, const gnomon_stage_info *stage,
                     uint32_t view, unsigned lends)
{
    uint32_t run = gnomon_profile_count(p, GNOMON_RUNS) > 0;
    unsigned rules = s->runs > 1 ? GNOMON__UNITE_RANKS
                     : run       ? s->names_rule | lends
                                 : s->names_rule | lends | GNOMON__UNITE_NO_RUN;
    gnomon__cli_stage *to = stage_of(s, g, stage, view, rules);
    gnomon_run_info info;
    if (!to)
        return no_room_for_stages();
    if (s->runs < 2) {
        gnomon__unite_filter(to->sum, s->filter);
        return gnomon__unite_add(to->sum, p, run, &to->key);
    }
    gnomon_profile_run(p, 1, &info);
    return add_rank(s, to, g, p, &info, lends);
}

/* A name that was not there before. */
static int add_name(gnomon__cli_stages *s, const char *name)
{
    for (size_t i = 0; i < s->name_count; i++)
        if (strcmp(s->names[i], name) == 0)
            return GNOMON_OK;
    if (!gnomon__grow(&s->names, &s->name_room, s->name_count + 1,
                      sizeof *s->names))
        return no_room_for_stages();
    s->names[s->name_count] = gnomon__strdup(name);
    s->name_count += s->names[s->name_count] != NULL;
    return GNOMON_OK;
}

/* Whether the stage is the first of its name; with GNOMON__UNITE_NAMES the first adds
 * them all. */
static int is_new_of_run(const gnomon_profile *p, size_t number,
                         const gnomon_stage_info *stage, unsigned names_rule)
{
    gnomon_stage_info before;
    for (size_t i = 1; names_rule && i < number; i++)
        if (gnomon_profile_stage(p, i, &before) == GNOMON_OK &&
            strcmp(before.name, stage->name) == 0)
            return 0;
    return 1;
}

/* has[view]: whether nodes are of that view. Returns whether nodes of no stage have
 * times. */
static int scan_nodes(const gnomon_profile *p, enum gnomon__stages_of what,
                      unsigned char *has)
{
    int of_none = !gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_node_info n;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_profile_node(p, i, &n);
        const gnomon_stats *times = what == GNOMON__STAGES_OF_DEVICES ? n.device
                                    : what == GNOMON__STAGES_OF_HOST  ? n.host
                                                                      : NULL;
        has[n.view] = n.view > 0;
        of_none |= !n.stage && times && times->count;
    }
    return of_none;
}

/* Each stage, of one view. */
static int add_view(gnomon__cli_stages *s, gnomon__gather *g,
                    const gnomon_profile *p, uint32_t view, int with_none,
                    const char *name, unsigned lends)
{
    size_t count = gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_stage_info stage;
    int code = GNOMON_OK;
    if (with_none && !name)
        code = add_stage(s, g, p, NULL, view, lends);
    for (size_t i = 1; !code && i <= count; i++) {
        gnomon_profile_stage(p, i, &stage);
        int is_more = is_new_of_run(p, i, &stage, s->names_rule);
        code = add_name(s, stage.name);
        if (!code && is_more && (!name || strcmp(stage.name, name) == 0))
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
 * first view. */
static int add_views(gnomon__cli_stages *s, gnomon__gather *g,
                     const gnomon_profile *p, const char *name,
                     enum gnomon__stages_of what, unsigned lends)
{
    size_t count = gnomon_profile_count(p, GNOMON_VIEWS);
    unsigned char *has = gnomon__alloc(count + 1);
    int code = GNOMON_OK;
    if (!has)
        return no_room_for_stages();
    int with_none = scan_nodes(p, what, has);
    int is_of_all = what == GNOMON__STAGES_OF_STEPS;
    if (!memchr(has, 1, count + 1))
        has[count > 0] = 1;
    if (is_of_all)
        code = add_view(s, g, p, GNOMON__ALL_VIEWS, with_none, name, lends);
    for (uint32_t i = 0; !is_of_all && !code && i <= count; i++)
        if (has[i])
            code =
                add_view(s, g, p, shared_view(g, p, i), with_none, name, lends);
    gnomon__free(has);
    return code;
}

/* A run that was read as it is is not copied: the sum borrows its statistics. */
static int add_run(gnomon__cli_stages *s, gnomon__gather *g,
                   const gnomon__cli_group *group, size_t which,
                   const char *name, enum gnomon__stages_of what)
{
    const size_t run = group->runs[which];
    const gnomon_profile *read;
    gnomon_profile *made = NULL;
    s->run = run;
    gnomon__progress_at("run", which + 1, group->count);
    int code = gnomon__merge_run_read(g->merge, run, &read);
    if (!code && !read)
        code = gnomon__merge_run(g->merge, run, &made);
    gnomon__progress_hide();
    if (code)
        return code;
    const gnomon_profile *p = read ? read : made;
    code = gnomon__cli_notes_add(&s->notes, p);
    if (!code)
        code = add_views(s, g, p, name, what, read ? GNOMON__UNITE_LENDS : 0);
    if (read && group->count == 1)
        gnomon__merge_drop_entities(g->merge);
    gnomon_profile_free(made);
    return code;
}

static int by_stage(const void *left, const void *right)
{
    const gnomon__cli_stage *a = left, *b = right;
    if (!a->key.name != !b->key.name)
        return a->key.name ? 1 : -1;
    if (a->begin_ns != b->begin_ns)
        return GNOMON__COMPARE(a->begin_ns, b->begin_ns);
    if (a->key.ordinal != b->key.ordinal)
        return GNOMON__COMPARE(a->key.ordinal, b->key.ordinal);
    GNOMON__TRY(gnomon__compare_texts(a->key.name, b->key.name));
    return GNOMON__COMPARE(a->key.view, b->key.view);
}

static void free_stage(gnomon__cli_stage *stage)
{
    gnomon__free((void *)(size_t)stage->key.name);
    gnomon__unite_free(stage->sum);
    gnomon__rank_table_free(&stage->ranks);
    gnomon__apart_free(&stage->apart);
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
    *s = (gnomon__cli_stages){.runs = group->count,
                              .of = choice->of,
                              .by = choice->by,
                              .ranks_by = choice->ranks_by,
                              .filter = choice->filter,
                              .names_rule =
                                  choice->each ? 0 : GNOMON__UNITE_NAMES};
    if (choice->of == GNOMON__STAGES_OF_STEPS &&
        choice->by == GNOMON__STAGES_BY_HOST)
        code = gnomon__cli_group_by_host(group, g);
    for (size_t i = 0; !code && i < group->count; i++)
        code = add_run(s, g, group, i, choice->name, choice->of);
    for (size_t i = 0; !code && i < s->count; i++)
        code = gnomon__apart_end(&s->at[i].apart, s->at[i].sum);
    if (!code)
        drop_empty_stages(s);
    if (s->count > 1)
        qsort(s->at, s->count, sizeof *s->at, by_stage);
    for (size_t i = 0; i < s->count; i++)
        s->has_views |= s->at[i].key.view != s->at[0].key.view;
    return code;
}

int gnomon__cli_stage_take(gnomon__cli_stage *stage, gnomon_profile **out)
{
    gnomon__unite *sum = stage->sum;
    stage->sum = NULL;
    stage->left_out |= gnomon__unite_left_out(sum);
    return gnomon__unite_finish(sum, out);
}

void gnomon__cli_stages_free(gnomon__cli_stages *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_stage(&s->at[i]);
    for (size_t i = 0; i < s->name_count; i++)
        gnomon__free(s->names[i]);
    gnomon__free((void *)s->names);
    gnomon__cli_notes_free(&s->notes);
    gnomon__free(s->at);
    *s = (gnomon__cli_stages){0};
}
