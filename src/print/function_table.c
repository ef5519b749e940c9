/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Groups of tracks have tables of functions of their own. Groups of regions share those
 * of the whole profile, and each has its part of their rows. */
#include "print/function_table.h"

#include <stdlib.h>

const gnomon__column gnomon__function_columns[GNOMON__FUNCTION_COLUMNS] = {
    [GNOMON__FUNCTION_NAME] = {"name", "Function", GNOMON__CELL_TEXT,
                               .shown = GNOMON__SHOWN},
    [GNOMON__FUNCTION_FILE] = {"file", "File", GNOMON__CELL_TEXT,
                               .shown = GNOMON__SHOWN},
    [GNOMON__FUNCTION_LINE] = {"line", "Line", GNOMON__CELL_ID,
                               .shown = GNOMON__SHOWN},
    [GNOMON__FUNCTION_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT,
                                .shown = GNOMON__SHOWN},
    [GNOMON__FUNCTION_PRIMITIVE] = {"primitive", "Primitive",
                                    GNOMON__CELL_COUNT, .shown = GNOMON__EXTRA},
    [GNOMON__FUNCTION_SELF] = {"self", "Self", GNOMON__CELL_TIME,
                               .shown = GNOMON__SHOWN},
    [GNOMON__FUNCTION_CUMULATIVE] = {"cumulative", "Cumulative",
                                     GNOMON__CELL_TIME, .shown = GNOMON__SHOWN},
};

typedef struct function_table {
    gnomon__report_table table;
    gnomon__groups groups;
    gnomon__calls *calls;
    const char **actions; /* names, by the table's group */
    const char **outer;   /* those of groups, likewise */
} function_table;

/* How often the calls are chosen anew, and how many groups the rows of one action are
 * in. */
static uint32_t track_groups(const function_table *t)
{
    return t->groups.of_track ? t->groups.count : 1;
}

static uint32_t region_groups(const function_table *t)
{
    return t->groups.of_region ? t->groups.count : 1;
}

/* Room for the names of the table's groups. */
static int take_names(function_table *t)
{
    size_t count = 0;
    for (uint32_t i = 0; i < track_groups(t); i++) {
        if (t->groups.of_track)
            gnomon__calls_choose(t->calls, i);
        count += gnomon__calls_count(t->calls) * region_groups(t);
    }
    t->actions = calloc(count + 1, sizeof *t->actions);
    t->outer = calloc(count + 1, sizeof *t->outer);
    return t->actions && t->outer ? GNOMON_OK : GNOMON_ENOMEM;
}

static int add_function(function_table *t, size_t group,
                        const gnomon__function *f)
{
    gnomon__cell *cells = gnomon__table_add(&t->table, (uint32_t)group, 0);
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GNOMON__FUNCTION_NAME], f->name);
    if (f->line) {
        gnomon__cell_text(&cells[GNOMON__FUNCTION_FILE], f->file);
        gnomon__cell_count(&cells[GNOMON__FUNCTION_LINE], f->line);
    }
    gnomon__cell_count(&cells[GNOMON__FUNCTION_CALLS], f->nc);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_PRIMITIVE], f->cc);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_SELF], f->tt_ns);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_CUMULATIVE], f->ct_ns);
    return GNOMON_OK;
}

/* The tables of the calls as they are chosen; `first` is the table's next group. Groups
 * of regions come one after the other, each with all actions. */
static int add_actions(function_table *t, uint32_t track_group, size_t first)
{
    size_t actions = gnomon__calls_count(t->calls);
    int code = GNOMON_OK;
    for (uint32_t k = 0; t->groups.by && k < region_groups(t); k++)
        for (size_t i = 0; i < actions; i++)
            t->outer[first + k * actions + i] =
                t->groups.texts[t->groups.of_track ? track_group : k];
    for (size_t i = 0; !code && i < actions; i++) {
        const gnomon__functions *f = gnomon__calls_table(t->calls, i, NULL);
        for (uint32_t k = 0; k < region_groups(t); k++)
            t->actions[first + k * actions + i] =
                gnomon__calls_name(t->calls, i);
        for (size_t k = 0; !code && k < f->row_count; k++)
            code = add_function(t, first + f->rows[k].group * actions + i,
                                &f->rows[k]);
    }
    return code;
}

static int add_all(function_table *t)
{
    size_t first = 0;
    int code = take_names(t);
    for (uint32_t i = 0; !code && i < track_groups(t); i++) {
        if (t->groups.of_track)
            gnomon__calls_choose(t->calls, i);
        code = add_actions(t, i, first);
        first += gnomon__calls_count(t->calls);
    }
    return code;
}

int gnomon__function_table_print(gnomon__calls *calls,
                                 const gnomon__table_choice *choice,
                                 const gnomon_profile *profile,
                                 const gnomon_writer *out)
{
    function_table t = {.table = {.name = "advanced",
                                  .title = "Profiler Report",
                                  .columns = gnomon__function_columns,
                                  .column_count = GNOMON__FUNCTION_COLUMNS},
                        .calls = calls};
    gnomon__calls *grouped = NULL;
    int code = gnomon__groups_make(&t.groups, choice->by, profile, &t.table);
    if (!code && choice->by) {
        code = gnomon__calls_make_by(&grouped, profile, &t.groups);
        t.calls = grouped;
    }
    if (!code)
        code = add_all(&t);
    if (choice->by) {
        t.table.groups = t.outer;
        t.table.inner_word = "action";
        t.table.inner_groups = t.actions;
    } else {
        t.table.group_word = "action";
        t.table.groups = t.actions;
    }
    if (!code)
        code = gnomon__table_print(&t.table, choice, profile, out);
    free(t.actions);
    free(t.outer);
    gnomon__calls_free(grouped);
    gnomon__groups_free(&t.groups);
    gnomon__table_free(&t.table);
    return code;
}
