/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Groups of tracks have tables of functions of their own. Groups of regions share those
 * of the whole profile, and each has its part of their rows. */
#include "print/function_table.h"

const gnomon__column gnomon__function_columns[GNOMON__FUNCTION_COLUMNS] = {
    [GNOMON__FUNCTION_NAME] =
        GNOMON__COLUMN("name", "Function", TEXT, SHOWN, MADE),
    [GNOMON__FUNCTION_FILE] = GNOMON__COLUMN("file", "File", TEXT, SHOWN, MADE),
    [GNOMON__FUNCTION_LINE] = GNOMON__COLUMN("line", "Line", ID, SHOWN, MADE),
    [GNOMON__FUNCTION_CALLS] =
        GNOMON__COLUMN("calls", "Calls", COUNT, SHOWN, MADE),
    [GNOMON__FUNCTION_PRIMITIVE] =
        GNOMON__COLUMN("primitive", "Primitive", COUNT, EXTRA, MADE),
    [GNOMON__FUNCTION_SELF] = GNOMON__COLUMN("self", "Self", TIME, SHOWN, MADE),
    [GNOMON__FUNCTION_CUMULATIVE] =
        GNOMON__COLUMN("cumulative", "Cumulative", TIME, SHOWN, MADE),
};

static void add_function(gnomon__report_rows *r, size_t group,
                         const gnomon__function *f)
{
    gnomon__cell *cells = gnomon__report_row_of(r, (uint32_t)group);
    gnomon__cell_text(&cells[GNOMON__FUNCTION_NAME], f->name);
    if (f->line) {
        gnomon__cell_text(&cells[GNOMON__FUNCTION_FILE], f->file);
        gnomon__cell_count(&cells[GNOMON__FUNCTION_LINE], f->line);
    }
    gnomon__cell_count(&cells[GNOMON__FUNCTION_CALLS], f->nc);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_PRIMITIVE], f->cc);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_SELF], f->tt_ns);
    gnomon__cell_count(&cells[GNOMON__FUNCTION_CUMULATIVE], f->ct_ns);
}

/* The tables of the calls as they are chosen, from the table's group `first` on: groups
 * of regions come one after the other, each with all actions. Returns the next one. */
static size_t add_actions(gnomon__report_rows *r, gnomon__calls *calls,
                          uint32_t track_group, size_t first,
                          const char **actions, const char **outer)
{
    const gnomon__groups *g = &r->groups;
    const uint32_t parts = g->of_region ? g->count : 1;
    const size_t count = gnomon__calls_count(calls);
    for (uint32_t k = 0; k < parts; k++)
        for (size_t i = 0; i < count; i++) {
            actions[first + k * count + i] = gnomon__calls_name(calls, i);
            if (g->by)
                outer[first + k * count + i] =
                    g->texts[g->of_track ? track_group : k];
        }
    for (size_t i = 0; i < count; i++) {
        const gnomon__functions *f = gnomon__calls_table(calls, i, NULL);
        for (size_t k = 0; k < f->row_count; k++)
            add_function(r, first + f->rows[k].group * count + i, &f->rows[k]);
    }
    return first + parts * count;
}

static void choose_group(const gnomon__report_rows *r, gnomon__calls *calls,
                         uint32_t group)
{
    if (r->groups.of_track)
        gnomon__calls_choose(calls, group);
}

static void functions_read(gnomon__report_rows *r)
{
    const gnomon__groups *g = &r->groups;
    const uint32_t track_groups = g->of_track ? g->count : 1;
    gnomon__calls *grouped = NULL, *calls = r->more;
    const char **actions, **outer;
    size_t count = 1, first = 0;
    if (g->by && gnomon__calls_make_by(&grouped, r->profile, g)) {
        r->code = GNOMON_ENOMEM;
        return;
    }
    calls = grouped ? grouped : calls;
    for (uint32_t i = 0; i < track_groups; i++) {
        choose_group(r, calls, i);
        count += gnomon__calls_count(calls) * (g->of_region ? g->count : 1);
    }
    actions = gnomon__table_take(&r->table, 2 * count * sizeof *actions);
    outer = actions ? actions + count : NULL;
    for (uint32_t i = 0; actions && i < track_groups; i++) {
        choose_group(r, calls, i);
        first = add_actions(r, calls, i, first, actions, outer);
    }
    if (!actions)
        r->code = GNOMON_ENOMEM;
    if (g->by)
        r->table.inner_word = "action";
    else
        r->table.group_word = "action";
    r->table.groups = g->by ? outer : actions;
    r->table.inner_groups = actions;
    gnomon__calls_free(grouped);
}

int gnomon__function_table_print(gnomon__calls *calls,
                                 const gnomon__table_choice *choice,
                                 const gnomon_profile *profile,
                                 const gnomon_writer *out)
{
    static const gnomon__report functions = {
        .name = "advanced",
        .title = "Profiler Report",
        .columns = gnomon__function_columns,
        .column_count = GNOMON__FUNCTION_COLUMNS,
        .sort = -1,
        .read = functions_read};
    gnomon__report_rows rows;
    int code = gnomon__report_make(&rows, &functions, choice, calls, profile);
    if (!code)
        code = gnomon__report_put_table(&rows, out);
    gnomon__report_free(&rows);
    return code;
}
