/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "print/device_tables.h"

#include <inttypes.h>

#include "print/rows.h"
#include "print/table.h"

static void part_share(gnomon__cell *cell, uint64_t part, uint64_t whole)
{
    if (whole)
        gnomon__cell_number(cell, 100.0 * (double)part / (double)whole);
}

/* ---- Devices ----------------------------------------------------------------------- */

enum {
    GPU_DEVICE,
    GPU_DEVICE_WORK,
    GPU_DEVICE_TOTAL,
    GPU_DEVICE_BUSY,
    GPU_DEVICE_SHARE,
    GPU_DEVICE_IDLE,
    GPU_DEVICE_BY_HOST,
    GPU_DEVICE_BY_DEVICE,
    GPU_DEVICE_LONGEST,
    GPU_DEVICE_COLUMNS
};

static const gnomon__column gpu_device_columns[GPU_DEVICE_COLUMNS] = {
    [GPU_DEVICE] = {"device", "Device", GNOMON__CELL_TEXT, false},
    [GPU_DEVICE_WORK] = {"work", "Work", GNOMON__CELL_COUNT, false},
    [GPU_DEVICE_TOTAL] = {"total", "On streams", GNOMON__CELL_TIME, false},
    [GPU_DEVICE_BUSY] = {"busy", "Busy", GNOMON__CELL_TIME, false},
    [GPU_DEVICE_SHARE] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [GPU_DEVICE_IDLE] = {"idle", "Idle", GNOMON__CELL_TIME, false},
    [GPU_DEVICE_BY_HOST] = {"host_bound", "By host", GNOMON__CELL_TIME, false},
    [GPU_DEVICE_BY_DEVICE] = {"device_bound", "By device", GNOMON__CELL_TIME,
                              false},
    [GPU_DEVICE_LONGEST] = {"longest", "Longest", GNOMON__CELL_TIME, false},
};

/* Work of one stream does not overlap: then its sum is the time in which the device was
 * busy, also without single executions. */
static bool gpu_busy(const gnomon__device_report *r, size_t device,
                     uint64_t *ns)
{
    const gnomon__device *d = &r->work.devices[device];
    const bool has_all = gnomon__device_has_all(r);
    *ns = has_all ? r->times.of_device[device].busy_ns : d->total_ns;
    return has_all || d->streams == 1;
}

static int gpu_add_device(const gnomon__device_report *r,
                          gnomon__report_table *table, size_t device,
                          uint64_t recorded)
{
    const gnomon__device *d = &r->work.devices[device];
    const gnomon__device_idle *idle = &r->gaps.of_device[device];
    uint64_t busy;
    gnomon__cell *cells = d->work ? gnomon__table_add(table, 0, 0) : NULL;
    if (!cells)
        return d->work ? GNOMON_ENOMEM : GNOMON_OK;
    gnomon__cell_text(&cells[GPU_DEVICE], d->name);
    gnomon__cell_count(&cells[GPU_DEVICE_WORK], d->work);
    gnomon__cell_count(&cells[GPU_DEVICE_TOTAL], d->total_ns);
    if (gpu_busy(r, device, &busy)) {
        gnomon__cell_count(&cells[GPU_DEVICE_BUSY], busy);
        part_share(&cells[GPU_DEVICE_SHARE], busy, recorded);
        if (recorded >= busy)
            gnomon__cell_count(&cells[GPU_DEVICE_IDLE], recorded - busy);
    }
    if (!idle->gaps)
        return GNOMON_OK;
    gnomon__cell_count(&cells[GPU_DEVICE_BY_HOST],
                       idle->ns[GNOMON__BOUND_HOST]);
    gnomon__cell_count(&cells[GPU_DEVICE_BY_DEVICE],
                       idle->ns[GNOMON__BOUND_DEVICE]);
    gnomon__cell_count(&cells[GPU_DEVICE_LONGEST], idle->longest_ns);
    return GNOMON_OK;
}

int gnomon__print_devices(const gnomon__device_report *r)
{
    static const gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table table = {.name = "devices",
                                  .title = "GPU",
                                  .columns = gpu_device_columns,
                                  .column_count = GPU_DEVICE_COLUMNS,
                                  .is_ordered = true};
    const uint64_t recorded = gnomon__recorded_ns(r->profile);
    int code = GNOMON_OK;
    for (size_t i = 0; !code && i < r->work.device_count; i++)
        code = gpu_add_device(r, &table, i, recorded);
    if (!code)
        code = gnomon__table_print(&table, &choice, r->profile, r->out);
    gnomon__table_free(&table);
    return code;
}

/* ---- Gaps ---------------------------------------------------------------------------- */

enum {
    GPU_GAP_DEVICE,
    GPU_GAP_AT,
    GPU_GAP_NS,
    GPU_GAP_BOUND,
    GPU_GAP_SCOPE,
    GPU_GAP_AFTER,
    GPU_GAP_BEFORE,
    GPU_GAP_STEP,
    GPU_GAP_COLUMNS
};

static const gnomon__column gpu_gap_columns[GPU_GAP_COLUMNS] = {
    [GPU_GAP_DEVICE] = {"device", "Device", GNOMON__CELL_TEXT, false},
    [GPU_GAP_AT] = {"at", "At", GNOMON__CELL_TIME, false},
    [GPU_GAP_NS] = {"gap", "Gap", GNOMON__CELL_TIME, false},
    [GPU_GAP_BOUND] = {"bound", "Waits for", GNOMON__CELL_TEXT, false},
    [GPU_GAP_SCOPE] = {"scope", "In", GNOMON__CELL_TEXT, false},
    [GPU_GAP_AFTER] = {"after", "After", GNOMON__CELL_TEXT, false},
    [GPU_GAP_BEFORE] = {"before", "Before", GNOMON__CELL_TEXT, false},
    [GPU_GAP_STEP] = {"step", "Step", GNOMON__CELL_ID, false},
};

static int gpu_add_gap(const gnomon__device_report *r,
                       gnomon__report_table *table,
                       const gnomon__device_gap *gap)
{
    static const char *const bounds[GNOMON__BOUNDS] = {"", "host", "device"};
    const gnomon_step_info *step =
        gnomon__event_step_at(&r->times.steps, gap->begin_ns);
    gnomon__cell *cells = gnomon__table_add(table, 0, 0);
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GPU_GAP_DEVICE],
                      r->work.devices[gap->device].name);
    gnomon__cell_count(&cells[GPU_GAP_AT], gap->begin_ns);
    gnomon__cell_count(&cells[GPU_GAP_NS], gap->ns);
    gnomon__cell_text(&cells[GPU_GAP_BOUND], bounds[gap->bound]);
    if (gap->scope || gap->bound)
        gnomon__cell_text(&cells[GPU_GAP_SCOPE],
                          gap->scope ? gnomon__node_name(r->profile, gap->scope)
                                     : "(nothing marked)");
    gnomon__cell_text(&cells[GPU_GAP_AFTER],
                      gnomon__node_name(r->profile, gap->after));
    gnomon__cell_text(
        &cells[GPU_GAP_BEFORE],
        gnomon__node_name(r->profile, r->times.items[gap->before].node));
    if (step)
        gnomon__cell_count(&cells[GPU_GAP_STEP], step->number);
    return GNOMON_OK;
}

int gnomon__print_device_gaps(const gnomon__device_report *r)
{
    static const gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    const size_t limit = r->limit;
    gnomon__report_table table = {.name = "gaps",
                                  .title = "Idle, the longest",
                                  .columns = gpu_gap_columns,
                                  .column_count = GPU_GAP_COLUMNS,
                                  .is_ordered = true,
                                  .is_part = true};
    int code = GNOMON_OK;
    for (size_t i = 0; !code && i < r->gaps.count && i < limit; i++)
        code = gpu_add_gap(r, &table, &r->gaps.at[i]);
    if (!code && table.row_count) {
        r->out->write(r->out, "\n", 1);
        code = gnomon__table_print(&table, &choice, r->profile, r->out);
    }
    gnomon__table_free(&table);
    return code;
}

/* ---- Steps --------------------------------------------------------------------------- */

enum {
    GPU_STEP,
    GPU_STEP_TIME,
    GPU_STEP_BUSY,
    GPU_STEP_COMPUTE,
    GPU_STEP_COPY,
    GPU_STEP_COPY_HIDDEN,
    GPU_STEP_COMMUNICATION,
    GPU_STEP_COMMUNICATION_HIDDEN,
    GPU_STEP_IDLE,
    GPU_STEP_COLUMNS
};

/* Hidden is what lay beside computing. */
static const gnomon__column gpu_step_columns[GPU_STEP_COLUMNS] = {
    [GPU_STEP] = {"step", "Step", GNOMON__CELL_TEXT, false},
    [GPU_STEP_TIME] = {"time", "Time", GNOMON__CELL_TIME, false},
    [GPU_STEP_BUSY] = {"busy", "Busy", GNOMON__CELL_TIME, false},
    [GPU_STEP_COMPUTE] = {"compute", "Compute", GNOMON__CELL_TIME, false},
    [GPU_STEP_COPY] = {"copy", "Copy", GNOMON__CELL_TIME, false},
    [GPU_STEP_COPY_HIDDEN] = {"copy_hidden", "Hidden %", GNOMON__CELL_SHARE,
                              false},
    [GPU_STEP_COMMUNICATION] = {"communication", "Communication",
                                GNOMON__CELL_TIME, false},
    [GPU_STEP_COMMUNICATION_HIDDEN] = {"communication_hidden", "Hidden %",
                                       GNOMON__CELL_SHARE, false},
    [GPU_STEP_IDLE] = {"idle", "Idle", GNOMON__CELL_TIME, false},
};

static int gpu_add_step(gnomon__report_table *table, const char *name,
                        uint64_t ns, uint64_t devices,
                        const gnomon__device_parts *of)
{
    gnomon__cell *cells = name ? gnomon__table_add(table, 0, 0) : NULL;
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GPU_STEP], name);
    gnomon__cell_count(&cells[GPU_STEP_TIME], ns);
    gnomon__cell_count(&cells[GPU_STEP_BUSY], of->busy_ns);
    gnomon__cell_count(&cells[GPU_STEP_COMPUTE], of->compute_ns);
    gnomon__cell_count(&cells[GPU_STEP_COPY], of->copy_ns);
    part_share(&cells[GPU_STEP_COPY_HIDDEN], of->hidden_copy_ns, of->copy_ns);
    gnomon__cell_count(&cells[GPU_STEP_COMMUNICATION], of->communication_ns);
    part_share(&cells[GPU_STEP_COMMUNICATION_HIDDEN],
               of->hidden_communication_ns, of->communication_ns);
    if (ns * devices >= of->busy_ns)
        gnomon__cell_count(&cells[GPU_STEP_IDLE], ns * devices - of->busy_ns);
    return GNOMON_OK;
}

static void gpu_add_parts(gnomon__device_parts *to,
                          const gnomon__device_parts *from)
{
    to->busy_ns += from->busy_ns;
    to->compute_ns += from->compute_ns;
    to->copy_ns += from->copy_ns;
    to->communication_ns += from->communication_ns;
    to->hidden_copy_ns += from->hidden_copy_ns;
    to->hidden_communication_ns += from->hidden_communication_ns;
}

/* The last steps, and the sum of all that have work. */
int gnomon__print_device_steps(const gnomon__device_report *r)
{
    static const gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    gnomon__report_table table = {.name = "steps",
                                  .title = "Steps, the last",
                                  .columns = gpu_step_columns,
                                  .column_count = GPU_STEP_COLUMNS,
                                  .is_ordered = true,
                                  .is_part = true};
    const gnomon__device_times *t = &r->times;
    gnomon__device_parts all = {0};
    uint64_t devices = 0, ns = 0, count = 0;
    int code = GNOMON_OK;
    for (size_t i = 0; i < r->work.device_count; i++)
        devices += r->work.devices[i].work > 0;
    for (size_t i = 0; i < t->steps.count; i++)
        count += t->of_step[i].busy_ns > 0;
    for (size_t i = 0, k = 0; !code && i < t->steps.count; i++) {
        const gnomon_step_info *s = &t->steps.at[i];
        if (!t->of_step[i].busy_ns)
            continue;
        gpu_add_parts(&all, &t->of_step[i]);
        ns += s->end_ns - s->begin_ns;
        if (r->limit >= count || k++ >= count - r->limit)
            code = gpu_add_step(
                &table, gnomon__table_keep(&table, "%" PRIu64, s->number),
                s->end_ns - s->begin_ns, devices, &t->of_step[i]);
    }
    if (!code && count)
        code = gpu_add_step(&table,
                            gnomon__table_keep(&table, "all %" PRIu64, count),
                            ns, devices, &all);
    if (!code && count) {
        r->out->write(r->out, "\n", 1);
        code = gnomon__table_print(&table, &choice, r->profile, r->out);
    }
    gnomon__table_free(&table);
    return code;
}
