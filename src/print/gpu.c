/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu: what devices did, and for which scopes; when they were idle, and whether the host
 * kept them so; how copies and communication lay beside computing in steps; how long
 * threads and streams waited. As text a table for each of these; as another table, where
 * columns, groups, an order or a format are asked for, that of scopes. What needs single
 * executions is left out where there are none.
 */
#include "print/devices.h"

#include <inttypes.h>

#include "print/device_gaps.h"

typedef struct gpu_report {
    gnomon__device_work work;
    gnomon__device_times times;
    gnomon__device_gaps gaps;
    uint32_t *row; /* by node: of the table, if it may be around work; else 0 */
    uint32_t *parent;         /* by node */
    struct gpu_scope *scopes; /* by row, from 1 */
    size_t seen;              /* pieces of work so far */
    uint64_t recorded_ns;     /* of all devices that had work */
} gpu_report;

/* Whether all work is there as single executions. */
static bool gpu_has_all(const gpu_report *g)
{
    return g->times.count > 0 && !g->times.missing;
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
    [GPU_DEVICE] = GNOMON__COLUMN("device", "Device", TEXT, SHOWN, MADE),
    [GPU_DEVICE_WORK] = GNOMON__COLUMN("work", "Work", COUNT, SHOWN, MADE),
    [GPU_DEVICE_TOTAL] =
        GNOMON__COLUMN("total", "On streams", TIME, SHOWN, MADE),
    [GPU_DEVICE_BUSY] = GNOMON__COLUMN("busy", "Busy", TIME, SHOWN, MADE),
    [GPU_DEVICE_SHARE] = GNOMON__COLUMN("percent", "%", SHARE, SHOWN, MADE),
    [GPU_DEVICE_IDLE] = GNOMON__COLUMN("idle", "Idle", TIME, SHOWN, MADE),
    [GPU_DEVICE_BY_HOST] =
        GNOMON__COLUMN("host_bound", "By host", TIME, SHOWN, MADE),
    [GPU_DEVICE_BY_DEVICE] =
        GNOMON__COLUMN("device_bound", "By device", TIME, SHOWN, MADE),
    [GPU_DEVICE_LONGEST] =
        GNOMON__COLUMN("longest", "Longest", TIME, SHOWN, MADE),
};

/* Work of one stream does not overlap: then its sum is the time in which the device was
 * busy, also without single executions. */
static bool gpu_busy(const gpu_report *g, size_t device, uint64_t *ns)
{
    const gnomon__device *d = &g->work.devices[device];
    *ns = gpu_has_all(g) ? g->times.of_device[device].busy_ns : d->total_ns;
    return gpu_has_all(g) || d->streams == 1;
}

static void gpu_read_devices(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    for (size_t i = 0; i < g->work.device_count; i++) {
        const gnomon__device *d = &g->work.devices[i];
        const gnomon__device_idle *idle = &g->gaps.of_device[i];
        uint64_t busy;
        if (!d->work)
            continue;
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[GPU_DEVICE], d->name);
        gnomon__cell_count(&cells[GPU_DEVICE_WORK], d->work);
        gnomon__cell_count(&cells[GPU_DEVICE_TOTAL], d->total_ns);
        if (gpu_busy(g, i, &busy)) {
            gnomon__cell_count(&cells[GPU_DEVICE_BUSY], busy);
            gnomon__cell_share(&cells[GPU_DEVICE_SHARE], busy, r->recorded_ns);
            if (r->recorded_ns >= busy)
                gnomon__cell_count(&cells[GPU_DEVICE_IDLE],
                                   r->recorded_ns - busy);
        }
        if (!idle->gaps)
            continue;
        gnomon__cell_count(&cells[GPU_DEVICE_BY_HOST],
                           idle->ns[GNOMON__BOUND_HOST]);
        gnomon__cell_count(&cells[GPU_DEVICE_BY_DEVICE],
                           idle->ns[GNOMON__BOUND_DEVICE]);
        gnomon__cell_count(&cells[GPU_DEVICE_LONGEST], idle->longest_ns);
    }
}

static const gnomon__report gpu_devices = {.name = "devices",
                                           .title = "GPU",
                                           .columns = gpu_device_columns,
                                           .column_count = GPU_DEVICE_COLUMNS,
                                           .sort = -1,
                                           .read = gpu_read_devices};

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
    [GPU_GAP_DEVICE] = GNOMON__COLUMN("device", "Device", TEXT, SHOWN, MADE),
    [GPU_GAP_AT] = GNOMON__COLUMN("at", "At", TIME, SHOWN, MADE),
    [GPU_GAP_NS] = GNOMON__COLUMN("gap", "Gap", TIME, SHOWN, MADE),
    [GPU_GAP_BOUND] = GNOMON__COLUMN("bound", "Waits for", TEXT, SHOWN, MADE),
    [GPU_GAP_SCOPE] = GNOMON__COLUMN("scope", "In", TEXT, SHOWN, MADE),
    [GPU_GAP_AFTER] = GNOMON__COLUMN("after", "After", TEXT, SHOWN, MADE),
    [GPU_GAP_BEFORE] = GNOMON__COLUMN("before", "Before", TEXT, SHOWN, MADE),
    [GPU_GAP_STEP] = GNOMON__COLUMN("step", "Step", ID, SHOWN, MADE),
};

static void gpu_read_gaps(gnomon__report_rows *r)
{
    static const char *const bounds[GNOMON__BOUNDS] = {"", "host", "device"};
    const gpu_report *g = r->more;
    for (size_t i = 0; i < g->gaps.count && i < r->choice->limit; i++) {
        const gnomon__device_gap *gap = &g->gaps.at[i];
        const uint32_t before = g->times.items[gap->before].node;
        const gnomon_step_info *step =
            gnomon__event_step_at(&g->times.steps, gap->begin_ns);
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[GPU_GAP_DEVICE],
                          g->work.devices[gap->device].name);
        gnomon__cell_count(&cells[GPU_GAP_AT], gap->begin_ns);
        gnomon__cell_count(&cells[GPU_GAP_NS], gap->ns);
        gnomon__cell_text(&cells[GPU_GAP_BOUND], bounds[gap->bound]);
        if (gap->scope || gap->bound)
            gnomon__cell_text(&cells[GPU_GAP_SCOPE],
                              gap->scope
                                  ? gnomon__node_name(r->profile, gap->scope)
                                  : "(nothing marked)");
        gnomon__cell_text(&cells[GPU_GAP_AFTER],
                          gnomon__node_name(r->profile, gap->after));
        gnomon__cell_text(&cells[GPU_GAP_BEFORE],
                          gnomon__node_name(r->profile, before));
        if (step)
            gnomon__cell_count(&cells[GPU_GAP_STEP], step->number);
    }
}

static const gnomon__report gpu_gaps = {.name = "gaps",
                                        .title = "Idle, the longest",
                                        .columns = gpu_gap_columns,
                                        .column_count = GPU_GAP_COLUMNS,
                                        .sort = -1,
                                        .read = gpu_read_gaps};

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
    [GPU_STEP] = GNOMON__COLUMN("step", "Step", TEXT, SHOWN, MADE),
    [GPU_STEP_TIME] = GNOMON__COLUMN("time", "Time", TIME, SHOWN, MADE),
    [GPU_STEP_BUSY] = GNOMON__COLUMN("busy", "Busy", TIME, SHOWN, MADE),
    [GPU_STEP_COMPUTE] =
        GNOMON__COLUMN("compute", "Compute", TIME, SHOWN, MADE),
    [GPU_STEP_COPY] = GNOMON__COLUMN("copy", "Copy", TIME, SHOWN, MADE),
    [GPU_STEP_COPY_HIDDEN] =
        GNOMON__COLUMN("copy_hidden", "Hidden %", SHARE, SHOWN, MADE),
    [GPU_STEP_COMMUNICATION] =
        GNOMON__COLUMN("communication", "Communication", TIME, SHOWN, MADE),
    [GPU_STEP_COMMUNICATION_HIDDEN] =
        GNOMON__COLUMN("communication_hidden", "Hidden %", SHARE, SHOWN, MADE),
    [GPU_STEP_IDLE] = GNOMON__COLUMN("idle", "Idle", TIME, SHOWN, MADE),
};

static void gpu_add_step(gnomon__report_rows *r, const char *name, uint64_t ns,
                         uint64_t devices, const gnomon__device_parts *of)
{
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    if (!name)
        r->code = GNOMON_ENOMEM;
    gnomon__cell_text(&cells[GPU_STEP], name);
    gnomon__cell_count(&cells[GPU_STEP_TIME], ns);
    gnomon__cell_count(&cells[GPU_STEP_BUSY], of->busy_ns);
    gnomon__cell_count(&cells[GPU_STEP_COMPUTE], of->compute_ns);
    gnomon__cell_count(&cells[GPU_STEP_COPY], of->copy_ns);
    gnomon__cell_share(&cells[GPU_STEP_COPY_HIDDEN], of->hidden_copy_ns,
                       of->copy_ns);
    gnomon__cell_count(&cells[GPU_STEP_COMMUNICATION], of->communication_ns);
    gnomon__cell_share(&cells[GPU_STEP_COMMUNICATION_HIDDEN],
                       of->hidden_communication_ns, of->communication_ns);
    if (ns * devices >= of->busy_ns)
        gnomon__cell_count(&cells[GPU_STEP_IDLE], ns * devices - of->busy_ns);
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
static void gpu_read_steps(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    const gnomon__device_times *t = &g->times;
    const size_t limit = r->choice->limit;
    gnomon__device_parts all = {0};
    uint64_t devices = 0, ns = 0, count = 0;
    for (size_t i = 0; i < g->work.device_count; i++)
        devices += g->work.devices[i].work > 0;
    for (size_t i = 0; i < t->steps.count; i++)
        count += t->of_step[i].busy_ns > 0;
    for (size_t i = 0, k = 0; i < t->steps.count; i++) {
        const gnomon_step_info *s = &t->steps.at[i];
        if (!t->of_step[i].busy_ns)
            continue;
        gpu_add_parts(&all, &t->of_step[i]);
        ns += s->end_ns - s->begin_ns;
        if (limit >= count || k++ >= count - limit)
            gpu_add_step(r,
                         gnomon__table_keep(&r->table, "%" PRIu64, s->number),
                         s->end_ns - s->begin_ns, devices, &t->of_step[i]);
    }
    if (count)
        gpu_add_step(r, gnomon__table_keep(&r->table, "all %" PRIu64, count),
                     ns, devices, &all);
}

static const gnomon__report gpu_steps = {.name = "steps",
                                         .title = "Steps, the last",
                                         .columns = gpu_step_columns,
                                         .column_count = GPU_STEP_COLUMNS,
                                         .sort = -1,
                                         .read = gpu_read_steps};

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

/* A row for each name, of the scopes that launched work and those around them. Calls are
 * its executions on the host. */
static const gnomon__column gpu_columns[GPU_COLUMNS] = {
    [GPU_SCOPE] = GNOMON__COLUMN("name", "Action", TEXT, SHOWN, KEY),
    [GPU_CALLS] = GNOMON__COLUMN("calls", "Calls", COUNT, SHOWN, SUM),
    [GPU_WORK] = GNOMON__COLUMN("work", "Work", COUNT, SHOWN, MADE),
    [GPU_TOTAL] = GNOMON__COLUMN("total", "Total", TIME, SHOWN, MADE),
    [GPU_SHARE] = GNOMON__COLUMN("percent", "%", SHARE, SHOWN, MADE),
    [GPU_SELF] = GNOMON__COLUMN("self", "Self", TIME, SHOWN, MADE),
    [GPU_BUSY] = GNOMON__COLUMN("busy", "Busy", TIME, SHOWN, MADE),
    [GPU_OF_STAGE] =
        GNOMON__COLUMN("of_stage", "% of stage", SHARE, SHOWN, MADE),
    [GPU_DELAY] = GNOMON__COLUMN("delay", "Delay", TIME, SHOWN, MADE),
    [GPU_MOST_DELAY] =
        GNOMON__COLUMN("max_delay", "Max delay", TIME, SHOWN, MADE),
};

/* What is added up for a row outside of its cells, as work counts in it once. */
typedef struct gpu_scope {
    uint64_t work;     /* pieces of work launched in it */
    uint64_t total_ns; /* of them, streams added up */
    uint64_t self_ns;  /* of those that it launched itself */
    uint64_t
        busy_ns; /* with any of them, so overlaps count once; from events */
    uint64_t delayed, delay_ns,
        most_delay_ns; /* from call to work, of its own */
    uint64_t until_ns; /* of busy_ns, on this device */
    uint32_t device;
    size_t seen; /* which work was added last */
} gpu_scope;

/* Scopes have no times on a device's track, or those of events. Work without a parent has
 * itself as its scope's stand-in: a row named "". */
static bool gpu_leads(const gpu_report *g, const gnomon_node_info *n,
                      uint32_t number, bool on_device)
{
    const int work = g->work.work[number];
    if (work != GNOMON__WORK_NONE)
        return gnomon__work_is_busy(work) && !n->parent;
    return on_device && (!gnomon__work_stats(n) || n->flags & GNOMON_NODE_PART);
}

/* The rows of all that may be around work, and of executions on threads; where groups are
 * streams there is no telling whose these are. */
static void gpu_put_rows(gnomon__report_rows *r)
{
    gpu_report *g = r->more;
    gnomon__report_node n;
    gnomon_track_info t;
    for (uint32_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        const bool is_known =
            gnomon_profile_track(r->profile, n.of.track, &t) == GNOMON_OK;
        const bool is_called = is_known && t.device < 0 && n.of.host &&
                               !g->work.work[i] && *n.region.name &&
                               r->groups.by != GNOMON__BY_THREAD;
        g->parent[i] = n.of.parent;
        if (!is_called && !gpu_leads(g, &n.of, i, is_known && t.device >= 0))
            continue;
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        gnomon__cell_text(&cells[GPU_SCOPE],
                          g->work.work[i] ? "" : n.region.name);
        if (is_called && n.of.host->count)
            gnomon__cell_count(&cells[GPU_CALLS], n.of.host->count);
        const uint32_t row = gnomon__report_put(r);
        g->row[i] = is_called ? 0 : row;
    }
}

/* The next row that the work counts in, from node *at upwards; NULL: there is none. */
static gpu_scope *gpu_next_scope(gpu_report *g, uint32_t *at)
{
    while (*at) {
        gpu_scope *scope = g->row[*at] ? &g->scopes[g->row[*at]] : NULL;
        *at = g->parent[*at];
        if (!scope || scope->seen == g->seen)
            continue;
        scope->seen = g->seen;
        return scope;
    }
    return NULL;
}

/* The node whose row the work is of. */
static uint32_t gpu_launcher(const gpu_report *g, uint32_t node)
{
    return g->parent[node] ? g->parent[node] : node;
}

static void gpu_add_sums(gpu_report *g)
{
    gnomon_node_info n;
    for (uint32_t i = 1; i <= g->work.nodes; i++) {
        if (!gnomon__work_is_busy(g->work.work[i]) ||
            gnomon_profile_node(g->work.profile, i, &n) != GNOMON_OK)
            continue;
        const gnomon_stats *s = gnomon__work_stats(&n);
        const uint32_t own = gpu_launcher(g, i);
        uint32_t at = own;
        gpu_scope *scope;
        g->seen++;
        for (bool is_own = g->row[own]; (scope = gpu_next_scope(g, &at));
             is_own = false) {
            scope->work += s->count;
            scope->total_ns += s->total_ns;
            scope->self_ns += is_own ? s->total_ns : 0;
        }
    }
}

static void gpu_add_event(gpu_scope *scope, const gnomon__work_item *item,
                          bool is_own)
{
    /* Clocks of device and host agree to some us: no delay is below 0. */
    const uint64_t delay = item->begin_ns > item->launched_ns
                               ? item->begin_ns - item->launched_ns
                               : 0;
    if (scope->device != item->device + 1) {
        scope->device = item->device + 1;
        scope->until_ns = 0;
    }
    const uint64_t from =
        item->begin_ns > scope->until_ns ? item->begin_ns : scope->until_ns;
    if (item->end_ns > from) {
        scope->busy_ns += item->end_ns - from;
        scope->until_ns = item->end_ns;
    }
    if (!is_own || !item->call_track)
        return;
    scope->delayed++;
    scope->delay_ns += delay;
    scope->most_delay_ns =
        delay > scope->most_delay_ns ? delay : scope->most_delay_ns;
}

static void gpu_add_events(gpu_report *g)
{
    for (size_t i = 0; i < g->times.count; i++) {
        const gnomon__work_item *item = &g->times.items[i];
        const uint32_t own = gpu_launcher(g, item->node);
        uint32_t at = own;
        gpu_scope *scope;
        g->seen++;
        for (bool is_own = g->row[own]; (scope = gpu_next_scope(g, &at));
             is_own = false)
            gpu_add_event(scope, item, is_own);
    }
}

static void gpu_read_scopes(gnomon__report_rows *r)
{
    gpu_report *g = r->more;
    g->row =
        gnomon__table_take(&r->table, 2 * (g->work.nodes + 1) * sizeof *g->row);
    g->parent = g->row ? g->row + g->work.nodes + 1 : NULL;
    if (g->row)
        gpu_put_rows(r);
    g->scopes = gnomon__table_take(&r->table, (r->table.row_count + 1) *
                                                  sizeof *g->scopes);
    if (!g->row || !g->scopes) {
        r->code = GNOMON_ENOMEM;
        return;
    }
    gpu_add_sums(g);
    gpu_add_events(g);
}

/* Percents are of all work, and of the stage on all devices that had some. */
static bool gpu_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const gpu_report *g = r->more;
    const gpu_scope *s =
        &g->scopes[(size_t)(cells - r->table.cells) / GPU_COLUMNS + 1];
    if (!s->work) /* waits alone, or nothing of a device */
        return false;
    if (!*cells[GPU_SCOPE].text)
        gnomon__cell_text(&cells[GPU_SCOPE], "(no scope)");
    gnomon__cell_count(&cells[GPU_WORK], s->work);
    gnomon__cell_count(&cells[GPU_TOTAL], s->total_ns);
    gnomon__cell_share(&cells[GPU_SHARE], s->total_ns, g->work.busy_ns);
    gnomon__cell_count(&cells[GPU_SELF], s->self_ns);
    if (gpu_has_all(g)) {
        gnomon__cell_count(&cells[GPU_BUSY], s->busy_ns);
        gnomon__cell_share(&cells[GPU_OF_STAGE], s->busy_ns, g->recorded_ns);
    }
    if (s->delayed) {
        gnomon__cell_count(&cells[GPU_DELAY], s->delay_ns / s->delayed);
        gnomon__cell_count(&cells[GPU_MOST_DELAY], s->most_delay_ns);
    }
    return true;
}

static void gpu_read(gnomon__report_rows *r)
{
    gpu_report *g = r->more;
    r->code = gnomon__device_work_make(&g->work, r->profile);
    if (!r->code)
        r->code = gnomon__device_times_make(&g->times, &g->work);
    if (!r->code)
        r->code = gnomon__device_gaps_make(
            &g->gaps, &g->times, r->choice->is_table ? 0 : r->choice->limit);
    if (!g->work.busy_work && !g->work.waits)
        r->none = GNOMON__NO_DEVICE_WORK;
    for (size_t i = 0; i < g->work.device_count; i++)
        g->recorded_ns += g->work.devices[i].work ? r->recorded_ns : 0;
    if (!r->code)
        gpu_read_scopes(r);
}

/* ---- The report ---------------------------------------------------------------------- */

static int gpu_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const gnomon_profile *p = r->profile;
    const size_t limit = r->choice->limit;
    int code =
        gnomon__report_part(&gpu_devices, r->more, SIZE_MAX, true, p, out);
    out->write(out, "\n", 1);
    r->table.title = "By scope";
    r->table.is_part = true;
    if (!code)
        code = gnomon__report_put_table(r, out);
    if (!code)
        code = gnomon__report_part(&gpu_gaps, r->more, limit, false, p, out);
    if (!code)
        code = gnomon__report_part(&gpu_steps, r->more, limit, false, p, out);
    return code ? code : gnomon__kernels_print_waits(p, out);
}

static void gpu_note(const gnomon__report_rows *r, const gnomon_writer *out)
{
    const gpu_report *g = r->more;
    const gnomon__device_times *t = &g->times;
    if (t->missing && !t->count)
        out->print(out, "\nNo single executions are in this profile: when the "
                        "device was idle is not known\n");
    else if (t->missing)
        out->print(out,
                   "\n%" PRIu64 " of %" PRIu64 " pieces of work are not there "
                   "as single executions: idle times and steps are of the "
                   "others\n",
                   t->missing, g->work.busy_work);
}

static void gpu_free(void *more)
{
    gpu_report *g = more;
    gnomon__device_gaps_free(&g->gaps);
    gnomon__device_times_free(&g->times);
    gnomon__device_work_free(&g->work);
}

const gnomon__report gnomon__gpu = {
    .name = "gpu",
    .title = "GPU by scope",
    .columns = gpu_columns,
    .column_count = GPU_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_HOST,
    .limit = 10,
    .reads = GNOMON__READS_LINKS,
    .sort = GPU_TOTAL,
    .more_size = sizeof(gpu_report),
    .read = gpu_read,
    .finish = gpu_finish,
    .text = gpu_text,
    .note = gpu_note,
    .free_more = gpu_free,
};
