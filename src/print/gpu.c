/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu: what devices did, and for which scopes; when they were idle, and whether the host
 * kept them so; how copies and communication lay beside computing in steps; how long
 * threads and streams waited. As text a table for each of these; as another table, where
 * columns, groups, an order or a format are asked for, that of scopes. What needs single
 * executions is left out where there are none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "print/devices.h"
#include "print/events.h"
#include "print/order.h"

/* One piece of work that a device was busy with. */
typedef struct gpu_item {
    uint64_t begin_ns, end_ns;
    uint64_t launched_ns; /* when its call began */
    uint64_t instance;
    uint32_t node;
    uint32_t device;     /* index */
    uint32_t call_track; /* of its call; 0: the call is not there */
} gpu_item;

/* In which a device did nothing. */
typedef struct gpu_gap {
    uint64_t begin_ns, ns;
    size_t before;  /* the item that ended it */
    uint32_t after; /* node of the work that ended last */
    /* Node; 0: nothing was marked. Of the longest alone: what the launching thread did
     * most in it, of its innermost scopes, up to the launch, where the host was waited
     * for; else what launched the work. */
    uint32_t scope;
} gpu_gap;

typedef struct gpu_report {
    gnomon__device_work work;
    gpu_item *items; /* by device, then begin */
    size_t count, room;
    uint64_t missing; /* pieces of work that are no events */
    gpu_gap *gaps;    /* the longest first */
    size_t gap_count, gap_room;
    gnomon__event_steps steps;
    uint32_t *parent; /* by node */
    uint32_t *row; /* by node: of the table, if it may be around work; else 0 */
    uint32_t *seen; /* by row: the turn in which it had work last */
    uint32_t turn;
    uint64_t recorded_ns; /* of all devices that had work */
} gpu_report;

/* Whether all work is there as single executions. */
static bool gpu_has_all(const gpu_report *g)
{
    return g->count > 0 && !g->missing;
}

/* ---- Work in the order of time ----------------------------------------------------- */

static bool gpu_add_item(gpu_report *g, const gnomon_event_info *e)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    return GNOMON__PUSH(
        g->items, g->room, g->count,
        (gpu_item){.begin_ns = e->begin_ns,
                   .end_ns = end < e->begin_ns ? UINT64_MAX : end,
                   .instance = e->instance,
                   .node = e->node,
                   .device = g->work.on[e->track] - 1});
}

/* Calls are begin and track by instance; launches are calls by work. */
static bool gpu_read_events(gpu_report *g, gnomon__keyed_list *calls,
                            gnomon__keyed_list *launches)
{
    const gnomon__device_work *w = &g->work;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    bool ok = gnomon__keyed_links(launches, w->profile, GNOMON_LINK_LAUNCH);
    gnomon__walk_all(&walk, w->profile);
    while (ok && (e = gnomon__walk_next(&walk)) != NULL) {
        if (e->kind != GNOMON_EVENT_EXECUTION || e->node > w->nodes)
            continue;
        if (w->work[e->node] == GNOMON__WORK_CALL && e->instance)
            ok = gnomon__keyed_add(calls, e->instance, e->begin_ns, e->track);
        else if (gnomon__work_is_busy(w->work[e->node]) && w->on[e->track])
            ok = gpu_add_item(g, e);
    }
    return ok;
}

GNOMON__ORDER(gpu_by_begin, gpu_item, UP(device), UP(begin_ns), UP(end_ns),
              UP(node))

static bool gpu_read_work(gpu_report *g)
{
    gnomon__keyed_list calls = {0}, launches = {0};
    const bool ok = gpu_read_events(g, &calls, &launches);
    gnomon__keyed_sort(&calls);
    for (size_t i = 0; i < g->count; i++) {
        gpu_item *item = &g->items[i];
        const gnomon__keyed *c =
            gnomon__keyed_call(&calls, &launches, item->instance);
        item->call_track = c ? c->more : 0;
        item->launched_ns = c ? c->value : 0;
    }
    GNOMON__SORT(g->items, g->count, gpu_by_begin);
    g->missing =
        g->work.busy_work > g->count ? g->work.busy_work - g->count : 0;
    free(calls.at);
    free(launches.at);
    return ok;
}

/* ---- Gaps -------------------------------------------------------------------------- */

GNOMON__ORDER(gpu_by_length, gpu_gap, DOWN(ns), UP(begin_ns), UP(before))

/* Before this moment events are missing. */
static uint64_t gpu_known_from(const gnomon_profile *p)
{
    uint64_t from = 0;
    gnomon_loss_info l;
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++) {
        gnomon_track_info t = {.device = -1};
        if (strncmp(l.kind, "events_", 7) != 0)
            continue;
        if (l.track)
            (void)gnomon_profile_track(p, l.track, &t);
        if ((!l.track || t.device >= 0) && l.end_ns > from)
            from = l.end_ns;
    }
    return from;
}

static bool gpu_add_gap(gpu_report *g, const gpu_item *last, size_t before)
{
    return GNOMON__PUSH(
        g->gaps, g->gap_room, g->gap_count,
        (gpu_gap){.begin_ns = last->end_ns,
                  .ns = g->items[before].begin_ns - last->end_ns,
                  .before = before,
                  .after = last->node});
}

/* There is none from one stage to the next one, outside of a schedule's windows, or while
 * events were lost. */
static bool gpu_find_gaps(gpu_report *g)
{
    const uint64_t known = gpu_known_from(g->work.profile);
    const gpu_item *last = NULL; /* what ended last on the device */
    uint32_t stage = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < g->count; i++) {
        const gpu_item *item = &g->items[i];
        gnomon_node_info n = {.stage = 0};
        (void)gnomon_profile_node(g->work.profile, item->node, &n);
        const bool is_same =
            last && last->device == item->device && stage == n.stage;
        if (is_same && item->begin_ns > last->end_ns && last->end_ns >= known &&
            !gnomon__event_steps_miss(&g->steps, last->end_ns, item->begin_ns))
            ok = gpu_add_gap(g, last, i);
        if (!is_same || item->end_ns >= last->end_ns) {
            last = item;
            stage = n.stage;
        }
    }
    GNOMON__SORT(g->gaps, g->gap_count, gpu_by_length);
    return ok;
}

/* Whether the work that ended the gap was launched in it: then the host is to blame. Else
 * the device had the work already, and waited for something else. */
static bool gpu_is_by_host(const gpu_report *g, const gpu_gap *gap)
{
    return g->items[gap->before].launched_ns > gap->begin_ns;
}

/* The thread whose calls are on this lane; 0: not known. */
static uint32_t gpu_thread_of(const gnomon_profile *p, uint32_t lane)
{
    gnomon_track_info of, t;
    if (gnomon_profile_track(p, lane, &of) != GNOMON_OK)
        return 0;
    if (of.kind == GNOMON_TRACK_THREAD)
        return lane;
    for (uint32_t i = 1; gnomon_profile_track(p, i, &t) == GNOMON_OK; i++)
        if (t.kind == GNOMON_TRACK_THREAD && t.run == of.run &&
            t.os_id == of.os_id && t.index == of.index)
            return i;
    return 0;
}

/* Of gaps and nodes, how long the node was innermost in the gap, in parts: an execution
 * takes from the node around it, also what lasts into the gap from before. `asked` is the
 * gaps and their threads by begin. */
static bool gpu_add_overlaps(const gpu_report *g, const gnomon_event_info *e,
                             const gnomon__keyed_list *asked,
                             gnomon__keyed_list *overlaps)
{
    const uint64_t end = e->begin_ns + e->duration_ns, longest = g->gaps[0].ns;
    bool ok = true;
    for (size_t k = gnomon__keyed_from(asked, end); ok && k-- > 0;) {
        const gnomon__keyed *a = &asked->at[k];
        const gpu_gap *gap = &g->gaps[a->value];
        const uint64_t launched = g->items[gap->before].launched_ns;
        uint64_t from = gap->begin_ns, until = from + gap->ns;
        if (from + longest <= e->begin_ns)
            break;
        from = e->begin_ns > from ? e->begin_ns : from;
        until = launched < until ? launched : until;
        until = end < until ? end : until;
        if (a->more == e->track && until > from)
            ok =
                gnomon__keyed_add(overlaps, a->value << 32 | e->node,
                                  until - from, 0) &&
                gnomon__keyed_add(overlaps, a->value << 32 | g->parent[e->node],
                                  from - until, 0);
    }
    return ok;
}

/* Chooses the scopes: the first of those that were innermost for longest, or none where
 * nothing was for longer. */
static void gpu_choose_scopes(gpu_report *g, const gnomon__keyed_list *overlaps)
{
    int64_t most = 0;
    for (size_t i = 0; i < overlaps->count;) {
        const uint64_t key = overlaps->at[i].key;
        gpu_gap *gap = &g->gaps[key >> 32];
        uint64_t own = 0; /* below 0 where executions cross */
        for (; i < overlaps->count && overlaps->at[i].key == key; i++)
            own += overlaps->at[i].value;
        if (!(uint32_t)key)
            most = 0;
        if ((int64_t)own > most || !(uint32_t)key)
            gap->scope = (uint32_t)key;
        most = (int64_t)own > most ? (int64_t)own : most;
    }
}

/* Of the `limit` longest. */
static bool gpu_find_scopes(gpu_report *g, size_t limit)
{
    gnomon__keyed_list asked = {0}, overlaps = {0};
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    bool ok = true;
    for (size_t i = 0; ok && i < limit && i < g->gap_count; i++) {
        gpu_gap *gap = &g->gaps[i];
        const gpu_item *item = &g->items[gap->before];
        const uint64_t end = gap->begin_ns + gap->ns;
        const uint32_t thread =
            gpu_is_by_host(g, gap)
                ? gpu_thread_of(g->work.profile, item->call_track)
                : 0;
        gap->scope = g->parent[item->node];
        if (thread)
            ok = gnomon__keyed_add(&asked, gap->begin_ns, i, thread) &&
                 gnomon__keyed_add(
                     &overlaps, (uint64_t)i << 32,
                     (item->launched_ns < end ? item->launched_ns : end) -
                         gap->begin_ns,
                     0);
    }
    gnomon__keyed_sort(&asked);
    gnomon__walk_all(&walk, g->work.profile);
    while (ok && asked.count && (e = gnomon__walk_next(&walk)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION && e->node <= g->work.nodes)
            ok = gpu_add_overlaps(g, e, &asked, &overlaps);
    gnomon__keyed_sort(&overlaps);
    gpu_choose_scopes(g, &overlaps);
    free(asked.at);
    free(overlaps.at);
    return ok;
}

/* ---- Devices ----------------------------------------------------------------------- */

#define GPU_DEVICE_COLUMN_LIST(X) \
    X(GPU_DEVICE, "device", "Device", TEXT, SHOWN, FIRST) \
    X(GPU_DEVICE_WORK, "work", "Work", COUNT, SHOWN, SUM) \
    X(GPU_DEVICE_TOTAL, "total", "On streams", TIME, SHOWN, SUM) \
    X(GPU_DEVICE_BUSY, "busy", "Busy", TIME, SHOWN, UNION) \
    X(GPU_DEVICE_SHARE, "percent", "%", SHARE, SHOWN, MADE) \
    X(GPU_DEVICE_IDLE, "idle", "Idle", TIME, SHOWN, MADE) \
    X(GPU_DEVICE_BY_HOST, "host_bound", "By host", TIME, SHOWN, SUM) \
    X(GPU_DEVICE_BY_DEVICE, "device_bound", "By device", TIME, SHOWN, SUM) \
    X(GPU_DEVICE_LONGEST, "longest", "Longest", TIME, SHOWN, MOST) \
    X(GPU_DEVICE_NUMBER, "", "", ID, HIDDEN, KEY)
GNOMON__COLUMNS(gpu_device_columns, GPU_DEVICE_COLUMNS, GPU_DEVICE_COLUMN_LIST);

static gnomon__cell *gpu_device_row(gnomon__report_rows *r, uint32_t device)
{
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    gnomon__cell_count(&cells[GPU_DEVICE_NUMBER], device);
    return cells;
}

static void gpu_read_devices(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    gnomon__cell *cells;
    for (uint32_t i = 0; i < g->work.device_count; i++) {
        const gnomon__device *d = &g->work.devices[i];
        if (!d->work)
            continue;
        cells = gpu_device_row(r, i);
        gnomon__cell_text(&cells[GPU_DEVICE], d->name);
        gnomon__cell_count(&cells[GPU_DEVICE_WORK], d->work);
        gnomon__cell_count(&cells[GPU_DEVICE_TOTAL], d->total_ns);
    }
    for (size_t i = 0; gpu_has_all(g) && i < g->count; i++) {
        cells = gpu_device_row(r, g->items[i].device);
        gnomon__cell_count(&cells[GPU_DEVICE_BUSY], g->items[i].end_ns);
        r->from_ns = g->items[i].begin_ns;
    }
    for (size_t i = 0; i < g->gap_count; i++) {
        const gpu_gap *gap = &g->gaps[i];
        const gpu_item *item = &g->items[gap->before];
        const bool by_host = gpu_is_by_host(g, gap);
        cells = gpu_device_row(r, item->device);
        gnomon__cell_count(&cells[GPU_DEVICE_BY_HOST], by_host ? gap->ns : 0);
        gnomon__cell_count(&cells[GPU_DEVICE_BY_DEVICE],
                           item->call_track && !by_host ? gap->ns : 0);
        gnomon__cell_count(&cells[GPU_DEVICE_LONGEST], gap->ns);
    }
}

/* Work of one stream does not overlap: then its sum is the time in which the device was
 * busy, also without single executions. */
static bool gpu_finish_device(gnomon__report_rows *r, gnomon__cell *cells)
{
    const gpu_report *g = r->more;
    const bool has_all = gpu_has_all(g);
    const uint64_t busy =
        cells[has_all ? GPU_DEVICE_BUSY : GPU_DEVICE_TOTAL].count;
    if (!has_all &&
        g->work.devices[cells[GPU_DEVICE_NUMBER].count].streams != 1)
        return true;
    gnomon__cell_count(&cells[GPU_DEVICE_BUSY], busy);
    gnomon__cell_share(&cells[GPU_DEVICE_SHARE], busy, r->recorded_ns);
    if (r->recorded_ns >= busy)
        gnomon__cell_count(&cells[GPU_DEVICE_IDLE], r->recorded_ns - busy);
    return true;
}

const gnomon__report gnomon__gpu_devices = {.name = "devices",
                                            .title = "GPU",
                                            .columns = gpu_device_columns,
                                            .column_count = GPU_DEVICE_COLUMNS,
                                            .sort = -1,
                                            .read = gpu_read_devices,
                                            .finish = gpu_finish_device};

/* ---- The longest gaps ---------------------------------------------------------------- */

#define GPU_GAP_COLUMN_LIST(X) \
    X(GPU_GAP_DEVICE, "device", "Device", TEXT, SHOWN, MADE) \
    X(GPU_GAP_AT, "at", "At", TIME, SHOWN, MADE) \
    X(GPU_GAP, "gap", "Gap", TIME, SHOWN, MADE) \
    X(GPU_GAP_BOUND, "bound", "Waits for", TEXT, SHOWN, MADE) \
    X(GPU_GAP_SCOPE, "scope", "In", TEXT, SHOWN, MADE) \
    X(GPU_GAP_AFTER, "after", "After", TEXT, SHOWN, MADE) \
    X(GPU_GAP_BEFORE, "before", "Before", TEXT, SHOWN, MADE) \
    X(GPU_GAP_STEP, "step", "Step", ID, SHOWN, MADE)
GNOMON__COLUMNS(gpu_gap_columns, GPU_GAP_COLUMNS, GPU_GAP_COLUMN_LIST);

static void gpu_read_gaps(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    for (size_t i = 0; i < g->gap_count && i < r->choice->limit; i++) {
        const gpu_gap *gap = &g->gaps[i];
        const gpu_item *item = &g->items[gap->before];
        const gnomon_step_info *step =
            gnomon__event_step_at(&g->steps, gap->begin_ns);
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[GPU_GAP_DEVICE],
                          g->work.devices[item->device].name);
        gnomon__cell_count(&cells[GPU_GAP_AT], gap->begin_ns);
        gnomon__cell_count(&cells[GPU_GAP], gap->ns);
        gnomon__cell_text(&cells[GPU_GAP_BOUND], !item->call_track ? ""
                                                 : gpu_is_by_host(g, gap)
                                                     ? "host"
                                                     : "device");
        if (gap->scope || item->call_track)
            gnomon__cell_text(&cells[GPU_GAP_SCOPE],
                              gap->scope
                                  ? gnomon__node_name(r->profile, gap->scope)
                                  : "(nothing marked)");
        gnomon__cell_text(&cells[GPU_GAP_AFTER],
                          gnomon__node_name(r->profile, gap->after));
        gnomon__cell_text(&cells[GPU_GAP_BEFORE],
                          gnomon__node_name(r->profile, item->node));
        if (step)
            gnomon__cell_count(&cells[GPU_GAP_STEP], step->number);
    }
}

const gnomon__report gnomon__gpu_gaps = {.name = "gaps",
                                         .title = "Idle, the longest",
                                         .columns = gpu_gap_columns,
                                         .column_count = GPU_GAP_COLUMNS,
                                         .sort = -1,
                                         .read = gpu_read_gaps};

/* ---- Steps --------------------------------------------------------------------------- */

/* Hidden is what lay beside computing. */
#define GPU_STEP_COLUMN_LIST(X) \
    X(GPU_STEP, "step", "Step", TEXT, SHOWN, MADE) \
    X(GPU_STEP_TIME, "time", "Time", TIME, SHOWN, LAST) \
    X(GPU_STEP_BUSY, "busy", "Busy", TIME, SHOWN, UNION) \
    X(GPU_STEP_COMPUTE, "compute", "Compute", TIME, SHOWN, UNION) \
    X(GPU_STEP_COPY, "copy", "Copy", TIME, SHOWN, UNION) \
    X(GPU_STEP_COPY_HIDDEN, "copy_hidden", "Hidden %", SHARE, SHOWN, MADE) \
    X(GPU_STEP_COMM, "communication", "Communication", TIME, SHOWN, UNION) \
    X(GPU_STEP_COMM_HIDDEN, "communication_hidden", "Hidden %", SHARE, SHOWN, \
      MADE) \
    X(GPU_STEP_IDLE, "idle", "Idle", TIME, SHOWN, MADE) \
    /* computing or copies */ \
    X(GPU_STEP_COPY_TOO, "", "", TIME, HIDDEN, UNION) \
    X(GPU_STEP_COMM_TOO, "", "", TIME, HIDDEN, UNION) \
    X(GPU_STEP_INDEX, "", "", ID, HIDDEN, KEY)
GNOMON__COLUMNS(gpu_step_columns, GPU_STEP_COLUMNS, GPU_STEP_COLUMN_LIST);

/* The part of the work that is in the step. */
static void gpu_add_to_step(gnomon__report_rows *r, const gpu_item *item,
                            size_t index)
{
    const gpu_report *g = r->more;
    const gnomon_step_info *s = &g->steps.at[index];
    const int work = g->work.work[item->node];
    const uint64_t from =
        s->begin_ns > item->begin_ns ? s->begin_ns : item->begin_ns;
    const uint64_t until = s->end_ns < item->end_ns ? s->end_ns : item->end_ns;
    if (until <= from)
        return;
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    r->id = item->device;
    r->from_ns = from;
    gnomon__cell_count(&cells[GPU_STEP_INDEX], index);
    gnomon__cell_count(&cells[GPU_STEP_TIME], s->end_ns - s->begin_ns);
    gnomon__cell_count(&cells[GPU_STEP_BUSY], until);
    gnomon__cell_count(
        &cells[work == GNOMON__WORK_KERNEL          ? GPU_STEP_COMPUTE
               : work == GNOMON__WORK_COMMUNICATION ? GPU_STEP_COMM
                                                    : GPU_STEP_COPY],
        until);
    if (work != GNOMON__WORK_COMMUNICATION)
        gnomon__cell_count(&cells[GPU_STEP_COPY_TOO], until);
    if (work <= GNOMON__WORK_COMMUNICATION)
        gnomon__cell_count(&cells[GPU_STEP_COMM_TOO], until);
}

static void gpu_read_steps(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    const gnomon__event_steps *steps = &g->steps;
    size_t first = 0; /* that may reach into the item */
    for (size_t i = 0; i < g->count; i++) {
        const gpu_item *item = &g->items[i];
        if (i && item->device != item[-1].device)
            first = 0;
        while (first < steps->count &&
               steps->at[first].end_ns <= item->begin_ns)
            first++;
        for (size_t k = first;
             k < steps->count && steps->at[k].begin_ns < item->end_ns; k++)
            gpu_add_to_step(r, item, k);
    }
}

static void gpu_finish_step(const gpu_report *g, gnomon__cell *cells,
                            const char *name)
{
    static const int times[] = {GPU_STEP_COMPUTE, GPU_STEP_COPY, GPU_STEP_COMM};
    uint64_t ns = 0, both;
    for (size_t i = 0; i < g->work.device_count; i++)
        ns += g->work.devices[i].work ? cells[GPU_STEP_TIME].count : 0;
    gnomon__cell_text(&cells[GPU_STEP], name);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        gnomon__cell_count(&cells[times[i]], cells[times[i]].count);
    both = cells[GPU_STEP_COMPUTE].count + cells[GPU_STEP_COPY].count -
           cells[GPU_STEP_COPY_TOO].count;
    gnomon__cell_share(&cells[GPU_STEP_COPY_HIDDEN], both,
                       cells[GPU_STEP_COPY].count);
    both = cells[GPU_STEP_COMPUTE].count + cells[GPU_STEP_COMM].count -
           cells[GPU_STEP_COMM_TOO].count;
    gnomon__cell_share(&cells[GPU_STEP_COMM_HIDDEN], both,
                       cells[GPU_STEP_COMM].count);
    if (ns >= cells[GPU_STEP_BUSY].count)
        gnomon__cell_count(&cells[GPU_STEP_IDLE],
                           ns - cells[GPU_STEP_BUSY].count);
}

/* The last steps, and the sum of all that have work. */
static void gpu_choose_steps(gnomon__report_rows *r)
{
    const gpu_report *g = r->more;
    gnomon__report_table *t = &r->table;
    const size_t count = t->row_count, limit = r->choice->limit;
    gnomon__cell *all = count ? gnomon__table_add(t, 0, 0) : NULL;
    const char *name = "";
    for (size_t i = 0; all && name && i <= count; i++) {
        gnomon__cell *cells = gnomon__cells_of(t, i);
        for (size_t k = GPU_STEP_TIME; i < count && k < GPU_STEP_INDEX; k++)
            if (cells[k].is_there)
                gnomon__cell_count(&all[k], all[k].count + cells[k].count);
        name = i < count ? gnomon__table_keep(
                               t, "%" PRIu64,
                               g->steps.at[cells[GPU_STEP_INDEX].count].number)
                         : gnomon__table_keep(t, "all %zu", count);
        gpu_finish_step(g, cells, name);
    }
    if (count && (!all || !name))
        r->code = GNOMON_ENOMEM;
    for (size_t i = 0; count > limit && i <= limit; i++)
        t->rows[i] = t->rows[count - limit + i];
    t->row_count -= count > limit ? count - limit : 0;
}

static const gnomon__report gpu_steps = {.name = "steps",
                                         .title = "Steps, the last",
                                         .columns = gpu_step_columns,
                                         .column_count = GPU_STEP_COLUMNS,
                                         .sort = -1,
                                         .read = gpu_read_steps,
                                         .choose = gpu_choose_steps};

/* ---- Scopes ------------------------------------------------------------------------ */

/* A row for each name, of the scopes that launched work and those around them. Calls are
 * its executions on the host. Work of streams at one time is busy once; self and delays
 * are of what the scope launched itself. */
#define GPU_COLUMN_LIST(X) \
    X(GPU_SCOPE, "name", "Action", TEXT, SHOWN, KEY) \
    X(GPU_CALLS, "calls", "Calls", COUNT, SHOWN, SUM) \
    X(GPU_WORK, "work", "Work", COUNT, SHOWN, SUM) \
    X(GPU_TOTAL, "total", "Total", TIME, SHOWN, SUM) \
    X(GPU_SHARE, "percent", "%", SHARE, SHOWN, MADE) \
    X(GPU_SELF, "self", "Self", TIME, SHOWN, SUM) \
    X(GPU_BUSY, "busy", "Busy", TIME, SHOWN, UNION) \
    X(GPU_OF_STAGE, "of_stage", "% of stage", SHARE, SHOWN, MADE) \
    X(GPU_DELAY, "delay", "Delay", TIME, SHOWN, SUM) \
    X(GPU_MOST_DELAY, "max_delay", "Max delay", TIME, SHOWN, MOST) \
    X(GPU_DELAYED, "", "", COUNT, HIDDEN, SUM)
GNOMON__COLUMNS(gpu_columns, GPU_COLUMNS, GPU_COLUMN_LIST);

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

/* Clocks of device and host agree to some us: no delay is below 0. */
static void gpu_add_times(gnomon__report_rows *r, gnomon__cell *cells,
                          const gpu_item *item, bool is_own)
{
    gnomon__cell_count(&cells[GPU_BUSY], item->end_ns);
    r->id = item->device;
    r->from_ns = item->begin_ns;
    if (!is_own || !item->call_track)
        return;
    const uint64_t delay = item->begin_ns > item->launched_ns
                               ? item->begin_ns - item->launched_ns
                               : 0;
    gnomon__cell_count(&cells[GPU_DELAYED], 1);
    gnomon__cell_count(&cells[GPU_DELAY], delay);
    gnomon__cell_count(&cells[GPU_MOST_DELAY], delay);
}

/* Adds the sums of a node of work, or the times of a piece of it, to all rows that it
 * counts in, to each once. */
static void gpu_add_work(gnomon__report_rows *r, uint32_t node,
                         const gnomon_stats *sums, const gpu_item *item)
{
    gpu_report *g = r->more;
    const uint32_t own = g->parent[node] ? g->parent[node] : node;
    g->turn++;
    for (uint32_t at = own; at; at = g->parent[at]) {
        const uint32_t row = g->row[at];
        if (!row || g->seen[row] == g->turn)
            continue;
        g->seen[row] = g->turn;
        gnomon__cell *cells = gnomon__report_row_to(r, row);
        if (item) {
            gpu_add_times(r, cells, item, at == own);
            continue;
        }
        gnomon__cell_count(&cells[GPU_WORK], sums->count);
        gnomon__cell_count(&cells[GPU_TOTAL], sums->total_ns);
        gnomon__cell_count(&cells[GPU_SELF], at == own ? sums->total_ns : 0);
    }
}

static void gpu_read_scopes(gnomon__report_rows *r)
{
    gpu_report *g = r->more;
    gnomon_node_info n;
    for (uint32_t i = 1; i <= g->work.nodes; i++)
        if (gnomon__work_is_busy(g->work.work[i]) &&
            gnomon_profile_node(r->profile, i, &n) == GNOMON_OK)
            gpu_add_work(r, i, gnomon__work_stats(&n), NULL);
    for (size_t i = 0; i < g->count; i++)
        gpu_add_work(r, g->items[i].node, NULL, &g->items[i]);
}

/* Percents are of all work, and of the stage on all devices that had some. */
static bool gpu_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const gpu_report *g = r->more;
    if (!cells[GPU_WORK].count) /* waits alone, or nothing of a device */
        return false;
    if (!*cells[GPU_SCOPE].text)
        gnomon__cell_text(&cells[GPU_SCOPE], "(no scope)");
    gnomon__cell_share(&cells[GPU_SHARE], cells[GPU_TOTAL].count,
                       g->work.busy_ns);
    if (gpu_has_all(g)) {
        gnomon__cell_count(&cells[GPU_BUSY], cells[GPU_BUSY].count);
        gnomon__cell_share(&cells[GPU_OF_STAGE], cells[GPU_BUSY].count,
                           g->recorded_ns);
    } else {
        cells[GPU_BUSY] = (gnomon__cell){0};
    }
    if (cells[GPU_DELAYED].count)
        cells[GPU_DELAY].count /= cells[GPU_DELAYED].count;
    return true;
}

/* ---- The report ---------------------------------------------------------------------- */

static void gpu_read(gnomon__report_rows *r)
{
    gpu_report *g = r->more;
    r->code = gnomon__device_work_make(&g->work, r->profile);
    if (!r->code)
        r->code = gnomon__event_steps_make(&g->steps, r->profile, 0);
    const size_t nodes = g->work.nodes + 1;
    g->row = gnomon__table_take(&r->table, 3 * nodes * sizeof *g->row);
    if (r->code || !g->row || !gpu_read_work(g) || !gpu_find_gaps(g)) {
        r->code = GNOMON_ENOMEM;
        return;
    }
    g->parent = g->row + nodes;
    g->seen = g->parent + nodes;
    gpu_put_rows(r);
    gpu_read_scopes(r);
    if (!r->choice->is_table && !gpu_find_scopes(g, r->choice->limit))
        r->code = GNOMON_ENOMEM;
    if (!g->work.busy_work && !g->work.waits)
        r->none = GNOMON__NO_DEVICE_WORK;
    for (size_t i = 0; i < g->work.device_count; i++)
        g->recorded_ns += g->work.devices[i].work ? r->recorded_ns : 0;
}

static int gpu_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const gnomon_profile *p = r->profile;
    const size_t limit = r->choice->limit;
    int code = gnomon__report_part(&gnomon__gpu_devices, r->more, SIZE_MAX,
                                   true, p, out);
    out->write(out, "\n", 1);
    r->table.title = "By scope";
    r->table.is_part = true;
    if (!code)
        code = gnomon__report_put_table(r, out);
    if (!code)
        code = gnomon__report_part(&gnomon__gpu_gaps, r->more, limit, false, p,
                                   out);
    if (!code)
        code = gnomon__report_part(&gpu_steps, r->more, limit, false, p, out);
    return code ? code : gnomon__kernels_print_waits(p, out);
}

static void gpu_note(const gnomon__report_rows *r, const gnomon_writer *out)
{
    const gpu_report *g = r->more;
    if (g->missing && !g->count)
        out->print(out,
                   "\nThe profile has no single executions: idle times are "
                   "not known\n");
    else if (g->missing)
        out->print(out,
                   "\n%" PRIu64 " of %" PRIu64 " pieces of work were not "
                   "recorded singly: idle times and steps are of the others\n",
                   g->missing, g->work.busy_work);
}

static void gpu_free(void *more)
{
    gpu_report *g = more;
    free(g->items);
    free(g->gaps);
    gnomon__event_steps_free(&g->steps);
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
