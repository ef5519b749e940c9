/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --as averages: torch's key_averages() of a profile. From single executions, where there
 * are any, rows are exactly torch's; from sums by path memory and kernels are of the paths
 * that have them, and the line below says so. */
#include "report/averages_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "gnomon/profile.h"
#include "report/averages_events.h"

typedef struct averages_options {
    gnomon__averages_choice choice;
    bool by_shape;
    char sort[64], unit[8];
} averages_options;

/* What is made of a profile. */
typedef struct averages_of {
    const gnomon_profile *profile;
    const averages_options *options;
    gnomon__average_event *events;
    size_t count;
    gnomon__average *rows;
    size_t row_count;
    char **shapes;  /* texts of operations, by number; NULL: none yet */
    bool has_flops; /* and so on: of any event */
    bool has_memory;
    struct averages_launch {
        uint64_t to, from;
    } * launches; /* by the effect */
    size_t launch_count;
} averages_of;

/* ---- Shapes ------------------------------------------------------------------------ */

/* "[[4, 5], []]", as Python prints it; NULL: no memory. */
static char *print_shapes(const gnomon_op_info *op)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(op, i);
        fputs(i ? ", [" : "[[", out);
        for (uint32_t d = 0; d < t->rank; d++)
            fprintf(out, d ? ", %lld" : "%lld", (long long)t->dims[d]);
        fputs("]", out);
    }
    fputs(op->input_count ? "]" : "[]", out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static const char *shapes_of(averages_of *a, uint32_t number, uint64_t *flops)
{
    gnomon_op_info op;
    *flops = 0;
    if (!number || gnomon_profile_op(a->profile, number, &op))
        return NULL;
    *flops = op.flops;
    a->has_flops |= op.flops != 0;
    if (!a->options->by_shape)
        return NULL;
    if (!a->shapes[number])
        a->shapes[number] = print_shapes(&op);
    return a->shapes[number];
}

/* ---- Events ------------------------------------------------------------------------ */

static int launches_by_effect(const void *left, const void *right)
{
    const struct averages_launch *a = left, *b = right;
    return (a->to > b->to) - (a->to < b->to);
}

static int read_launches(averages_of *a)
{
    const size_t count = gnomon_profile_count(a->profile, GNOMON_LINKS);
    gnomon_link_info l;
    a->launches = malloc((count + 1) * sizeof *a->launches);
    if (!a->launches)
        return GNOMON_ENOMEM;
    for (size_t i = 1; i <= count; i++)
        if (!gnomon_profile_link(a->profile, i, &l) &&
            l.kind == GNOMON_LINK_LAUNCH && l.to_instance)
            a->launches[a->launch_count++] =
                (struct averages_launch){l.to_instance, l.from_instance};
    qsort(a->launches, a->launch_count, sizeof *a->launches,
          launches_by_effect);
    return GNOMON_OK;
}

static uint64_t launcher_of(const averages_of *a, uint64_t instance)
{
    const struct averages_launch wanted = {.to = instance};
    const struct averages_launch *found =
        instance ? bsearch(&wanted, a->launches, a->launch_count,
                           sizeof *a->launches, launches_by_effect)
                 : NULL;
    return found ? found->from : 0;
}

static void read_execution(averages_of *a, const gnomon_event_info *e)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    if (gnomon_profile_node(a->profile, e->node, &n) ||
        gnomon_profile_region(a->profile, n.region, &region) ||
        gnomon_profile_track(a->profile, e->track, &track))
        return;
    gnomon__average_event *to = &a->events[a->count++];
    *to = (gnomon__average_event){
        .name = region.name,
        .begin_ns = e->begin_ns,
        .end_ns = e->begin_ns + e->duration_ns,
        .thread = e->track,
        .end_thread = n.flags & GNOMON_NODE_RANGE ? 0 : e->track,
        .id = e->instance,
        .node = -1,
        .is_device = track.kind == GNOMON_TRACK_STREAM};
    to->shapes = shapes_of(a, n.op, &to->flops);
    if (to->is_device)
        to->linked = launcher_of(a, e->instance);
}

static void read_memory(averages_of *a, const gnomon_event_info *e)
{
    gnomon_track_info pool;
    if (gnomon_profile_track(a->profile, e->region, &pool))
        return;
    a->has_memory = true;
    a->events[a->count++] =
        (gnomon__average_event){.name = "[memory]",
                                .begin_ns = e->begin_ns,
                                .end_ns = e->begin_ns,
                                .thread = e->track,
                                .end_thread = e->track,
                                .bytes = (int64_t)e->value,
                                .node = -1,
                                .is_device = pool.device >= 0};
}

static int read_events(averages_of *a)
{
    const size_t count = gnomon_profile_count(a->profile, GNOMON_EVENTS);
    const gnomon__averages_by by = {.shapes = a->options->by_shape};
    gnomon_event_info e;
    a->events = malloc((count + 1) * sizeof *a->events);
    int code = a->events ? read_launches(a) : GNOMON_ENOMEM;
    for (size_t i = 1; i <= count && !code; i++) {
        code = gnomon_profile_event(a->profile, i, &e);
        if (!code && e.kind == GNOMON_EVENT_EXECUTION)
            read_execution(a, &e);
        else if (!code && e.kind == GNOMON_EVENT_MEMORY)
            read_memory(a, &e);
    }
    return code ? code
                : gnomon__averages_of_events(a->events, a->count, &by, &a->rows,
                                             &a->row_count);
}

/* ---- Paths ------------------------------------------------------------------------- */

/* Kernels below each path, its own and those below what is inside it. */
static int64_t *device_times(const averages_of *a, int64_t *own)
{
    const size_t count = gnomon_profile_count(a->profile, GNOMON_NODES);
    int64_t *all = calloc(count + 1, sizeof *all);
    gnomon_node_info n;
    gnomon_link_info l;
    for (size_t i = 1; all && !gnomon_profile_link(a->profile, i, &l); i++)
        if (l.kind == GNOMON_LINK_LAUNCH && !l.to_instance &&
            !gnomon_profile_node(a->profile, l.to, &n) && n.device)
            own[l.from] += (int64_t)n.device->total_ns;
    for (size_t i = count; all && i; i--) {
        all[i] += own[i];
        if (!gnomon_profile_node(a->profile, i, &n))
            all[n.parent] += all[i];
    }
    return all;
}

static int64_t allocated(const gnomon_node_info *n, bool is_device,
                         const gnomon_profile *profile)
{
    int64_t bytes = 0;
    gnomon_track_info pool;
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        if (!gnomon_profile_track(profile, m->pool, &pool) &&
            (pool.device >= 0) == is_device)
            bytes += (int64_t)(m->allocated_bytes - m->freed_bytes);
    }
    return bytes;
}

typedef struct averages_path {
    gnomon__average row;
    uint64_t first; /* its first end among all */
} averages_path;

static int paths_by_key(const void *left, const void *right)
{
    const averages_path *a = left, *b = right;
    int order = strcmp(a->row.name, b->row.name);
    if (!order)
        order = a->row.is_device - b->row.is_device;
    if (!order)
        order = strcmp(a->row.shapes ? a->row.shapes : "",
                       b->row.shapes ? b->row.shapes : "");
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

static int paths_by_first(const void *left, const void *right)
{
    const averages_path *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

static void add_path(gnomon__average *row, const gnomon__average *more)
{
    row->count += more->count;
    row->flops += more->flops;
    row->cpu_ns += more->cpu_ns;
    row->self_cpu_ns += more->self_cpu_ns;
    row->device_ns += more->device_ns;
    row->self_device_ns += more->self_device_ns;
    row->cpu_bytes += more->cpu_bytes;
    row->device_bytes += more->device_bytes;
    row->self_cpu_bytes += more->self_cpu_bytes;
    row->self_device_bytes += more->self_device_bytes;
}

/* False: nothing of it ended. */
static bool path_row(averages_of *a, size_t number, const int64_t *all,
                     const int64_t *own, averages_path *out)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    uint64_t flops;
    if (gnomon_profile_node(a->profile, number, &n) ||
        gnomon_profile_region(a->profile, n.region, &region) ||
        gnomon_profile_track(a->profile, n.track, &track))
        return false;
    const bool is_device = track.kind == GNOMON_TRACK_STREAM;
    const gnomon_stats *times = is_device ? n.device : n.host;
    if (!times || !times->count)
        return false;
    *out = (averages_path){.first = n.first ? n.first : number};
    out->row = (gnomon__average){.name = region.name,
                                 .shapes = shapes_of(a, n.op, &flops),
                                 .count = times->count,
                                 .flops = n.work ? n.work->flops
                                                 : flops * times->count,
                                 .node = -1,
                                 .is_device = is_device,
                                 .is_inner = n.parent != 0};
    if (is_device) {
        out->row.device_ns = out->row.self_device_ns = (int64_t)times->total_ns;
        return true;
    }
    out->row.cpu_ns = (int64_t)times->total_ns;
    out->row.self_cpu_ns = (int64_t)times->self_ns;
    out->row.device_ns = all[number];
    out->row.self_device_ns = own[number];
    out->row.cpu_bytes = out->row.self_cpu_bytes =
        allocated(&n, false, a->profile);
    out->row.device_bytes = out->row.self_device_bytes =
        allocated(&n, true, a->profile);
    a->has_memory |= n.memory_count != 0;
    return true;
}

static int read_paths(averages_of *a)
{
    const size_t nodes = gnomon_profile_count(a->profile, GNOMON_NODES);
    averages_path *paths = malloc((nodes + 1) * sizeof *paths);
    int64_t *own = calloc(nodes + 1, sizeof *own);
    int64_t *all = own ? device_times(a, own) : NULL;
    size_t count = 0, kept = 0;
    a->rows = malloc((nodes + 1) * sizeof *a->rows);
    const bool has_room = paths && all && a->rows;
    for (size_t i = 1; has_room && i <= nodes; i++)
        count += path_row(a, i, all, own, &paths[count]);
    if (count)
        qsort(paths, count, sizeof *paths, paths_by_key);
    for (size_t i = 0; i < count; i++) {
        averages_path *last = &paths[kept ? kept - 1 : 0];
        const uint64_t first = paths[i].first;
        if (kept) /* only the keys are compared */
            paths[i].first = last->first;
        if (kept && paths_by_key(last, &paths[i]) == 0) {
            add_path(&last->row, &paths[i].row);
        } else {
            paths[kept] = paths[i];
            paths[kept++].first = first;
        }
    }
    if (kept)
        qsort(paths, kept, sizeof *paths, paths_by_first);
    for (size_t i = 0; i < kept; i++)
        a->rows[a->row_count++] = paths[i].row;
    free(paths);
    free(own);
    free(all);
    return has_room ? GNOMON_OK : GNOMON_ENOMEM;
}

/* ---- The report -------------------------------------------------------------------- */

/* 1, 0, or an error's code. */
static int has_executions(const gnomon_profile *profile)
{
    const size_t count = gnomon_profile_count(profile, GNOMON_EVENTS);
    gnomon_event_info e;
    for (size_t i = 1; i <= count; i++) {
        const int code = gnomon_profile_event(profile, i, &e);
        if (code || e.kind == GNOMON_EVENT_EXECUTION)
            return code ? code : 1;
    }
    return 0;
}

static int print_averages(averages_of *a, bool is_of_events,
                          const gnomon_writer *out)
{
    static const char of_events[] =
        "From single executions, as torch makes it.\n";
    static const char of_paths[] =
        "From sums by thread and path, without single executions: no [memory] "
        "rows, and memory is each path's own.\n";
    gnomon__averages_choice choice = a->options->choice;
    for (size_t i = 0; i < a->row_count; i++)
        if (a->rows[i].is_device)
            choice.device = "CUDA";
    choice.has_flops = a->has_flops;
    choice.has_memory = a->has_memory;
    choice.has_shapes = a->options->by_shape;
    int code = gnomon__averages_print(a->rows, a->row_count, &choice, out);
    if (code == GNOMON_EINVAL)
        return gnomon__fail(code,
                            "averages: sort=%s: no such column: key, count, "
                            "flops, cpu_time, cpu_time_total, "
                            "self_cpu_time_total, cuda_time_total, ...",
                            choice.sort_by);
    if (code || !a->row_count)
        return code;
    return is_of_events ? out->write(out, of_events, sizeof of_events - 1)
                        : out->write(out, of_paths, sizeof of_paths - 1);
}

static int averages_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    static const averages_options preset = {.choice = {.row_limit = 100,
                                                       .name_width = 55,
                                                       .shapes_width = 80,
                                                       .source_width = 75}};
    averages_of a = {.profile = profile, .options = self ? self : &preset};
    const size_t ops = gnomon_profile_count(profile, GNOMON_OPS);
    const int is_of_events = has_executions(profile);
    a.shapes = calloc(ops + 1, sizeof *a.shapes);
    int code = is_of_events < 0 ? is_of_events
               : !a.shapes      ? GNOMON_ENOMEM
               : is_of_events   ? read_events(&a)
                                : read_paths(&a);
    if (!code)
        code = print_averages(&a, is_of_events, out);
    for (size_t i = 0; a.shapes && i <= ops; i++)
        free(a.shapes[i]);
    free(a.shapes);
    free(a.events);
    free(a.rows);
    free(a.launches);
    return code;
}

static int averages_create(const gnomon_options *options, void **self)
{
    averages_options *o = calloc(1, sizeof *o);
    if (!o)
        return GNOMON_ENOMEM;
    o->choice = gnomon__averages_preset;
    const char *sort = options->text(options, "sort");
    const char *unit = options->text(options, "unit");
    snprintf(o->sort, sizeof o->sort, "%s", sort ? sort : "");
    snprintf(o->unit, sizeof o->unit, "%s", unit ? unit : "");
    o->choice.sort_by = *o->sort ? o->sort : NULL;
    o->choice.time_unit = o->unit;
    o->choice.row_limit = options->number(options, "limit");
    o->choice.is_top_level = options->number(options, "top_level") != 0;
    o->by_shape = options->number(options, "shapes") != 0;
    *self = o;
    return GNOMON_OK;
}

static const gnomon_option_info averages_option_list[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "sort",
     .type = GNOMON_OPTION_TEXT,
     .help = "torch's sort_by, as self_cpu_time_total"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "100",
     .help = "the most rows; -1: all"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "shapes",
     .type = GNOMON_OPTION_BOOL,
     .preset = "false",
     .help = "a row for each shape of inputs"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "top_level",
     .type = GNOMON_OPTION_BOOL,
     .preset = "false",
     .help = "only what nothing was open around"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "unit",
     .type = GNOMON_OPTION_TEXT,
     .help = "of all times: s, ms or us"},
    {.key = NULL}};

const gnomon_profiler gnomon__averages_report = {
    .struct_size = sizeof gnomon__averages_report,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "averages",
    .help = "torch's table of key_averages()",
    .options = averages_option_list,
    .create = averages_create,
    .summary = averages_summary,
    .destroy = free,
};
