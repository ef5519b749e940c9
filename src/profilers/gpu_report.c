/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu: what devices did, and for which scopes; when they were idle, and whether the host
 * kept them so; how copies and communication lay beside computing in steps; how long
 * threads and streams waited. As text a table for each of these; as another table, where
 * columns, groups, an order or a format are asked for, that of scopes. A pure function
 * from a profile; what needs single executions is left out where there are none.
 */
#include "profilers/gpu_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "print/device_scopes.h"
#include "print/device_tables.h"
#include "print/kernels.h"

#define GPU_PRESET 10u /* scopes, gaps and steps that are listed */

/* Begins with the choice: gnomon__table_choice says why. */
typedef struct gpu_settings {
    gnomon__table_choice table;
    void (*log)(const char *line); /* NULL: attached from C */
} gpu_settings;

typedef struct gpu_report {
    gnomon__device_report of;
    const gpu_settings *settings;
    gnomon__device_scopes scopes;
    gnomon__groups groups;
    gnomon__report_table table; /* of scopes */
} gpu_report;

static void gpu_share(gnomon__cell *cell, uint64_t part, uint64_t whole)
{
    if (whole)
        gnomon__cell_number(cell, 100.0 * (double)part / (double)whole);
}

/* ---- Scopes ------------------------------------------------------------------------ */

enum {
    GPU_SCOPE,
    GPU_CALLS,
    GPU_WORK,
    GPU_TOTAL,
    GPU_SHARE,
    GPU_SELF,
    GPU_BUSY,
    GPU_OF_STAGE,
    GPU_DELAY,
    GPU_MOST_DELAY,
    GPU_COLUMNS
};

static const gnomon__column gpu_columns[GPU_COLUMNS] = {
    [GPU_SCOPE] = {"name", "Action", GNOMON__CELL_TEXT, false},
    [GPU_CALLS] = {"calls", "Calls", GNOMON__CELL_COUNT, false},
    [GPU_WORK] = {"work", "Work", GNOMON__CELL_COUNT, false},
    [GPU_TOTAL] = {"total", "Total", GNOMON__CELL_TIME, false},
    [GPU_SHARE] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [GPU_SELF] = {"self", "Self", GNOMON__CELL_TIME, false},
    [GPU_BUSY] = {"busy", "Busy", GNOMON__CELL_TIME, false},
    [GPU_OF_STAGE] = {"of_stage", "% of stage", GNOMON__CELL_SHARE, false},
    [GPU_DELAY] = {"delay", "Delay", GNOMON__CELL_TIME, false},
    [GPU_MOST_DELAY] = {"max_delay", "Max delay", GNOMON__CELL_TIME, false},
};

/* Percents are of all work, and of the stage on all devices that had some. */
static int gpu_add_scope(gpu_report *r, const gnomon__device_scope *s,
                         uint64_t recorded)
{
    gnomon__cell *cells = gnomon__table_add(&r->table, s->group, 0);
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GPU_SCOPE], *s->name ? s->name : "(no scope)");
    if (s->calls)
        gnomon__cell_count(&cells[GPU_CALLS], s->calls);
    gnomon__cell_count(&cells[GPU_WORK], s->work);
    gnomon__cell_count(&cells[GPU_TOTAL], s->total_ns);
    gpu_share(&cells[GPU_SHARE], s->total_ns, r->of.work.busy_ns);
    gnomon__cell_count(&cells[GPU_SELF], s->self_ns);
    if (gnomon__device_has_all(&r->of)) {
        gnomon__cell_count(&cells[GPU_BUSY], s->busy_ns);
        gpu_share(&cells[GPU_OF_STAGE], s->busy_ns, recorded);
    }
    if (s->delayed) {
        gnomon__cell_count(&cells[GPU_DELAY], s->delay_ns / s->delayed);
        gnomon__cell_count(&cells[GPU_MOST_DELAY], s->most_delay_ns);
    }
    return GNOMON_OK;
}

static int gpu_print_scopes(gpu_report *r)
{
    gnomon__table_choice choice = r->settings->table;
    uint64_t recorded = 0;
    int code = GNOMON_OK;
    for (size_t i = 0; i < r->of.work.device_count; i++)
        recorded +=
            r->of.work.devices[i].work ? gnomon__recorded_ns(r->of.profile) : 0;
    choice.sort = choice.sort < 0 ? GPU_TOTAL : choice.sort;
    for (size_t i = 0; !code && i < r->scopes.count; i++)
        code = gpu_add_scope(r, &r->scopes.rows[i], recorded);
    if (!choice.is_table) {
        r->table.title = "By scope";
        r->table.is_part = true;
        r->of.out->write(r->of.out, "\n", 1);
    }
    return code ? code
                : gnomon__table_print(&r->table, &choice, r->of.profile,
                                      r->of.out);
}

/* ---- The report ---------------------------------------------------------------------- */

static void gpu_print_missing(const gpu_report *r)
{
    const gnomon_writer *out = r->of.out;
    const gnomon__device_times *t = &r->of.times;
    if (t->missing && !t->count)
        out->print(out, "\nNo single executions are in this profile: when the "
                        "device was idle is not known\n");
    else if (t->missing)
        out->print(out,
                   "\n%" PRIu64 " of %" PRIu64 " pieces of work are not there "
                   "as single executions: idle times and steps are of the "
                   "others\n",
                   t->missing, r->of.work.busy_work);
}

static int gpu_print(gpu_report *r)
{
    const bool is_table = r->settings->table.is_table;
    int code = GNOMON_OK;
    if (!is_table)
        code = gnomon__print_devices(&r->of);
    if (!code)
        code = gpu_print_scopes(r);
    if (!code && !is_table)
        code = gnomon__print_device_gaps(&r->of);
    if (!code && !is_table)
        code = gnomon__print_device_steps(&r->of);
    if (!code && !is_table)
        code = gnomon__kernels_print_waits(r->of.profile, r->of.out);
    if (!code && r->settings->table.format == GNOMON__TABLE_TEXT)
        gpu_print_missing(r);
    return code;
}

/* Text is a line that says so; a table is an empty one. */
static void gpu_print_none(const gpu_report *r)
{
    if (r->settings->table.format == GNOMON__TABLE_TEXT)
        r->of.out->print(r->of.out, "gpu: " GNOMON__NO_DEVICE_WORK "\n");
    else if (r->settings->log)
        r->settings->log("gpu: " GNOMON__NO_DEVICE_WORK);
}

static int gpu_make(gpu_report *r)
{
    gnomon__device_report *of = &r->of;
    int code = gnomon__groups_make(&r->groups, r->settings->table.by,
                                   of->profile, &r->table);
    if (!code)
        code = gnomon__device_work_make(&of->work, of->profile);
    if (!code)
        code = gnomon__device_times_make(&of->times, &of->work);
    if (!code)
        code = gnomon__device_gaps_make(
            &of->gaps, &of->times, r->settings->table.is_table ? 0 : of->limit);
    if (!code)
        code = gnomon__device_scopes_make(&r->scopes, &of->times, &r->groups);
    return code;
}

int gnomon__gpu_summary(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    static const gpu_settings preset = {
        .table = {.limit = GPU_PRESET, .sort = -1}};
    gpu_report r = {.settings = self ? self : &preset};
    if (!profile)
        return GNOMON_EINVAL;
    r.of.profile = profile;
    r.of.out = out;
    r.of.limit = r.settings->table.limit;
    r.table = (gnomon__report_table){.name = "gpu",
                                     .title = "GPU by scope",
                                     .columns = gpu_columns,
                                     .column_count = GPU_COLUMNS};
    int code = gpu_make(&r);
    const bool has_work = !code && (r.of.work.busy_work || r.of.work.waits);
    if (!code && !has_work)
        gpu_print_none(&r);
    if (has_work || (!code && r.settings->table.format != GNOMON__TABLE_TEXT))
        code = gpu_print(&r);
    gnomon__device_scopes_free(&r.scopes);
    gnomon__device_gaps_free(&r.of.gaps);
    gnomon__device_times_free(&r.of.times);
    gnomon__device_work_free(&r.of.work);
    gnomon__groups_free(&r.groups);
    gnomon__table_free(&r.table);
    return code ? code : out->write(out, "", 0);
}

int gnomon__gpu_create(const gnomon_options *options, void **self)
{
    gpu_settings *s = calloc(1, sizeof *s);
    if (!s)
        return GNOMON_ENOMEM;
    s->log = options->log;
    gnomon__table_choose(&s->table, "gpu", gpu_columns, GPU_COLUMNS, options);
    s->table.by = gnomon__groups_choose("gpu", GNOMON__BY_THREAD,
                                        GNOMON__BY_HOST, options);
    s->table.is_table = gnomon__table_is_asked_for(&s->table);
    if (s->table.limit == SIZE_MAX)
        s->table.limit = GPU_PRESET;
    *self = s;
    return GNOMON_OK;
}
