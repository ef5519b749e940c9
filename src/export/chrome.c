/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export: the file, profile by profile. */
#include "export/chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Kineto's times count from Unix time rounded down to this, a quarter of a year. With
 * the same rule traces that were written apart, and torch's own, share a time base. */
#define QUARTER_NS UINT64_C(7889238000000000)
/* Devices are numbered below this, and a process in a container may be too. */
#define FIRST_PID 64
#define GPU_ORDER 5000000 /* of their processes */

/* ---- Times ------------------------------------------------------------------------ */

static void widen_time(gnomon__export_span *time, uint64_t from, uint64_t until)
{
    time->from_unix_ns = from < time->from_unix_ns ? from : time->from_unix_ns;
    time->until_unix_ns =
        until > time->until_unix_ns ? until : time->until_unix_ns;
}

/* From the first begin to the last end of the events that the export takes. */
static void find_times(gnomon__chrome *c)
{
    const uint64_t zero = gnomon__timeline_zero(c->what);
    gnomon__export_span time = {UINT64_MAX, 0, 0};
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    for (size_t i = 0; i < c->what->count; i++) {
        const gnomon__export_span *s =
            c->what->spans ? &c->what->spans[i] : NULL;
        if (s && s->is_known && !c->what->until_unix_ns) {
            widen_time(&time, s->from_unix_ns, s->until_unix_ns);
            continue;
        }
        gnomon__event_cursor_all(&at, c->what, c->what->profiles[i]);
        while ((e = gnomon__event_cursor_next(&at)) != NULL)
            widen_time(&time, at.begin, at.begin + e->duration_ns);
    }
    if (time.from_unix_ns > time.until_unix_ns) /* there are none */
        time = (gnomon__export_span){zero, UINT64_MAX, 0};
    c->base = zero - zero % QUARTER_NS;
    c->start = time.from_unix_ns - c->base;
    c->end = time.until_unix_ns - c->base;
}

/* ---- Keys ------------------------------------------------------------------------ */

/* Keys that this file sets itself. */
static int is_own_key(const char *key)
{
    static const char *const own[] = {
        "schemaVersion",       "deviceProperties", "rank",
        "displayTimeUnit",     "traceEvents",      "traceName",
        "baseTimeNanoseconds", "gnomonLosses",     "distributedInfo"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(key, own[i]) == 0)
            return 1;
    return 0;
}

/* The only run of the file; 0: there are several. */
static int only_run(const gnomon__chrome *c, gnomon_run_info *run)
{
    return c->what->count == 1 &&
           gnomon_profile_count(c->what->profiles[0], GNOMON_RUNS) == 1 &&
           !gnomon_profile_run(c->what->profiles[0], 1, run);
}

static const char *metadata_of(const gnomon_profile *p, const char *key)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++)
        if (strcmp(m.key, key) == 0)
            return m.json;
    return NULL;
}

static void put_run_keys(const gnomon__chrome *c, const gnomon_profile *p)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++) {
        if (is_own_key(m.key))
            continue;
        gnomon__export_form(c->t, "  '%s': ", m.key);
        gnomon__out_text(c->t, m.json);
        gnomon__out_literal(c->t, ",\n");
    }
}

/* With a blank before the number and in a line of its own: holistic trace analysis
 * finds the rank by such a line. */
static void put_rank(gnomon__out *t, const gnomon_profile *p,
                     const gnomon_run_info *run)
{
    const char *given = metadata_of(p, "distributedInfo");
    if (run->rank >= 0)
        gnomon__export_form(t, "  'rank': %d,\n", run->rank);
    if (!given && run->rank < 0)
        return;
    gnomon__export_form(t, "  'distributedInfo': ");
    if (given) {
        gnomon__out_text(t, given);
    } else {
        gnomon__export_form(t, "{'rank': %d", run->rank);
        if (run->world_size > 0)
            gnomon__export_form(t, ", 'world_size': %d", run->world_size);
        gnomon__out_literal(t, "}");
    }
    gnomon__out_literal(t, ",\n");
}

static void put_loss(gnomon__out *t, const gnomon_loss_info *l, size_t profile)
{
    gnomon__export_form(t,
                        "    {'kind': '%s', 'count': %ju, 'profile': %ju, "
                        "'run': %u, 'track': %u",
                        l->kind, l->count, (uint64_t)profile + 1, l->run,
                        l->track);
    if (l->end_ns)
        gnomon__export_form(t, ", 'begin_ns': %ju, 'end_ns': %ju", l->begin_ns,
                            l->end_ns);
    gnomon__out_literal(t, "}");
}

/* All of all profiles: what is missing in a trace belongs into it. */
static void put_all_losses(const gnomon__chrome *c)
{
    int is_first = 1;
    gnomon_loss_info l;
    gnomon__export_form(c->t, "  'gnomonLosses': [");
    for (size_t i = 0; i < c->what->count; i++)
        for (size_t k = 1; !gnomon_profile_loss(c->what->profiles[i], k, &l);
             k++) {
            gnomon__out_text(c->t, is_first ? "\n" : ",\n");
            put_loss(c->t, &l, i);
            is_first = 0;
        }
    gnomon__out_text(c->t, is_first ? "],\n" : "\n  ],\n");
}

/* The file's first keys, in Kineto's order, up to the bracket of its rows. */
static void put_keys(gnomon__chrome *c)
{
    gnomon_run_info run;
    int is_only = only_run(c, &run);
    const char *devices =
        is_only ? metadata_of(c->what->profiles[0], "deviceProperties") : NULL;
    gnomon__export_form(c->t, "{\n  'schemaVersion': 1,\n"
                              "  'deviceProperties': ");
    gnomon__out_text(c->t, devices ? devices : "[]");
    gnomon__out_literal(c->t, ",\n");
    if (is_only) {
        put_rank(c->t, c->what->profiles[0], &run);
        if (run.host[0])
            gnomon__export_form(c->t, "  'host_name': '%s',\n", run.host);
        put_run_keys(c, c->what->profiles[0]);
    }
    put_all_losses(c);
    gnomon__export_form(c->t,
                        "  'displayTimeUnit': 'ms',\n"
                        "  'baseTimeNanoseconds': %ju,\n  'traceEvents': [",
                        c->base);
}

/* ---- Processes ------------------------------------------------------------------- */

/* Begins a row of names; its value comes next, and then the braces. */
static void begin_name(gnomon__chrome *c, const char *what, int64_t pid,
                       int64_t tid, const char *key)
{
    gnomon__chrome_row(c);
    gnomon__export_form(c->t,
                        "{'ph':'M','name':'%s','pid':%jd,'tid':%jd,'ts':%jx,"
                        "'args':{'%s':",
                        what, pid, tid, c->start, key);
}

static void put_order(gnomon__chrome *c, const char *what, int64_t pid,
                      int64_t tid, int64_t order)
{
    begin_name(c, what, pid, tid, "sort_index");
    gnomon__export_form(c->t, "%jd}}", order);
}

/* Ranks in their order, each before its devices; one run as Kineto. */
static int64_t order_of(const gnomon__chrome *c, const gnomon_run_info *run,
                        size_t number, int device, int64_t pid)
{
    gnomon_run_info only;
    if (only_run(c, &only))
        return device >= 0 ? GPU_ORDER + device : pid;
    int64_t at =
        run->rank >= 0 ? run->rank : (int64_t)(c->runs_before + number);
    return at * 100 + 1 + device;
}

/* A run, or a device of it. */
static void name_process(gnomon__chrome *c, size_t run, int64_t pid, int device)
{
    const gnomon_run_info *r = &c->line.runs[run].info;
    begin_name(c, "process_name", pid, 0, "name");
    if (r->rank >= 0)
        gnomon__export_form(c->t, "'rank %d", r->rank);
    else
        gnomon__export_form(c->t, "'process");
    if (r->attempt && *r->attempt)
        gnomon__export_form(c->t, ", attempt %s", r->attempt);
    if (r->host[0])
        gnomon__export_form(c->t, " (%s)", r->host);
    gnomon__export_form(c->t, "'}}");
    begin_name(c, "process_labels", pid, 0, "labels");
    if (device >= 0)
        gnomon__export_form(c->t, "'GPU %d'}}", device);
    else
        gnomon__export_form(c->t, "'CPU'}}");
    put_order(c, "process_sort_index", pid, 0,
              order_of(c, r, run, device, pid));
}

static void name_runs(gnomon__chrome *c)
{
    for (size_t i = 1; i <= c->line.run_count; i++) {
        int64_t pid = c->line.runs[i].pid;
        name_process(c, i, pid, -1);
        if (!c->line.runs[i].has_thread)
            continue;
        begin_name(c, "thread_name", pid, GNOMON__STEPS_TID, "name");
        gnomon__export_form(c->t, "'steps'}}");
        put_order(c, "thread_sort_index", pid, GNOMON__STEPS_TID, -1);
    }
}

/* ---- Threads and streams ------------------------------------------------------------ */

/* Names the row of a track, or of a further lane of it. */
static void name_chrome_track(gnomon__chrome *c, size_t track, uint32_t lane)
{
    char text[48], stream[48];
    const gnomon__timeline_track *k = &c->line.tracks[track];
    const int64_t tid = gnomon__chrome_tid(c, track, lane);
    const char *name = gnomon__export_track_name(text, &k->info);
    (void)snprintf(stream, sizeof stream, "stream %" PRId64, k->tid);
    begin_name(c, "thread_name", k->pid, tid, "name");
    if (k->info.kind == GNOMON_TRACK_STREAM && strcmp(name, stream) != 0)
        gnomon__export_form(c->t, "'%s (%s)", stream, name);
    else
        gnomon__export_form(c->t, "'%s", name);
    if (lane)
        gnomon__export_form(c->t, " (overlap %u)", lane);
    gnomon__export_form(c->t, "'}}");
    put_order(c, "thread_sort_index", k->pid, tid,
              (int64_t)track * GNOMON__CHROME_LANES + lane);
}

/* Whether an earlier stream has named the device's process. */
static int is_device_named(const gnomon__chrome *c, size_t track)
{
    for (size_t i = 1; i < track; i++)
        if (c->line.tracks[i].pid == c->line.tracks[track].pid)
            return 1;
    return 0;
}

/* Before the events. */
static void name_chrome_tracks(gnomon__chrome *c)
{
    name_runs(c);
    for (size_t i = 1; i <= c->line.track_count; i++) {
        const gnomon__timeline_track *k = &c->line.tracks[i];
        if (k->info.kind == GNOMON_TRACK_POOL || k->host != i)
            continue;
        if (gnomon__timeline_on_device(&c->line, i) && !is_device_named(c, i))
            name_process(c, k->run, k->pid, k->info.device);
        name_chrome_track(c, i, 0);
    }
}

/* After them. */
static void name_chrome_lanes(gnomon__chrome *c)
{
    for (size_t i = 1; i <= c->line.track_count; i++)
        for (uint32_t lane = 1; lane < gnomon__lanes_of(&c->line.lanes, i);
             lane++)
            name_chrome_track(c, i, lane);
}

/* ---- A profile ---------------------------------------------------------------------- */

/* Viewers want whole numbers for processes and threads. A device is a process and its
 * streams are threads, as in Kineto's traces. */
static void identify(gnomon__chrome *c)
{
    gnomon__timeline *l = &c->line;
    for (size_t i = 0; i <= l->run_count; i++)
        if (l->runs[i].pid < FIRST_PID)
            l->runs[i].pid =
                GNOMON__MADE_UP_PID + (int64_t)(i ? c->runs_before + i : 0);
    for (size_t i = 1; i <= l->track_count; i++) {
        gnomon__timeline_track *k = &l->tracks[i];
        const size_t run = c->runs_before + (k->run ? k->run : 1);
        k->pid = l->runs[k->run].pid;
        if (!k->tid)
            k->tid = GNOMON__MADE_UP_TID + (int64_t)i * GNOMON__CHROME_LANES +
                     GNOMON__CHROME_LANES - 2;
        if (!gnomon__timeline_on_device(l, i))
            continue;
        /* Devices of a second run are others, though their numbers are the same. */
        k->pid =
            run > 1 ? GNOMON__MADE_UP_PID + (int64_t)run * 1000 + k->info.device
                    : k->info.device;
        if (k->info.kind == GNOMON_TRACK_STREAM)
            k->tid = k->info.os_id > 0 ? k->info.os_id : k->info.index;
    }
}

static int begin_profile(gnomon__chrome *c, size_t which)
{
    const gnomon_profile *p = c->what->profiles[which];
    if (!gnomon__timeline_begin(&c->line, c->what, which) ||
        !gnomon__timeline_draw(&c->line, 0, 1))
        return 0;
    identify(c);
    c->alone = 0;
    c->flows = calloc(c->line.links.flows + 1, sizeof *c->flows);
    c->node_count = gnomon_profile_count(p, GNOMON_NODES);
    c->nodes = calloc(c->node_count + 1, sizeof *c->nodes);
    c->around = calloc(c->line.track_count + 1, sizeof *c->around);
    return c->flows && c->nodes && c->around;
}

static void end_profile(gnomon__chrome *c, const gnomon_profile *p)
{
    c->first_flow += c->line.links.flows + c->alone;
    c->runs_before += c->line.run_count;
    c->labels_before += gnomon_profile_count(p, GNOMON_EVENTS) +
                        gnomon_profile_count(p, GNOMON_STEPS) +
                        gnomon_profile_count(p, GNOMON_OPENS);
    gnomon__chrome_rows_end(c);
    for (size_t i = 0; c->nodes && i <= c->node_count; i++)
        free(c->nodes[i].head);
    free(c->nodes);
    free(c->flows);
    free(c->modules);
    c->modules = NULL;
    c->nodes = NULL;
    c->flows = NULL;
    gnomon__timeline_end(&c->line);
}

/* ---- Memory -------------------------------------------------------------------------- */

/* Bytes; what no memory has is 0. */
static int64_t whole(double bytes)
{
    return bytes > -1e18 && bytes < 1e18 ? (int64_t)bytes : 0;
}

/* Each row says how much its pool has allocated since the first of them, so those of all
 * tracks are written in the order of their time. */
static void put_memory(gnomon__chrome *c)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    int64_t *allocated = calloc(c->line.track_count + 1, sizeof *allocated);
    gnomon__export_needs(c->t,
                         gnomon__memory_begin(&memory, &c->line) && allocated);
    while (!c->t->code && gnomon__memory_next(&memory, &e, &at)) {
        const gnomon__timeline_track *k = &c->line.tracks[e.track];
        const int device = c->line.tracks[e.region].info.device;
        int64_t *pool = &allocated[e.region];
        *pool = whole((double)*pool + e.value);
        if (!gnomon__export_takes(c->what, at))
            continue;
        gnomon__chrome_row(c);
        gnomon__export_form(
            c->t,
            "{'ph':'i','s':'t','cat':'cpu_instant_event','name':'[memory]',"
            "'pid':%jd,'tid':%jd,'ts':%jx,'args':{'Device Type':%d,"
            "'Device Id':%d,'Bytes':%jd,'Addr':%ju,'Total Allocated':%jd,"
            "'Total Reserved':0}}",
            k->pid, k->tid, at - c->base, device >= 0, device, whole(e.value),
            e.instance, *pool);
    }
    gnomon__memory_end(&memory);
    free(allocated);
}

/* ---- The file ------------------------------------------------------------------------- */

static void put_chrome_profile(gnomon__chrome *c, size_t which)
{
    if (gnomon__export_needs(c->t, begin_profile(c, which))) {
        name_chrome_tracks(c);
        gnomon__chrome_rows(c);
        if (c->has_memory)
            put_memory(c);
        name_chrome_lanes(c);
    }
    end_profile(c, c->what->profiles[which]);
}

static int write_chrome(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__chrome c = {.what = what,
                        .t = gnomon__export_text_begin(out),
                        .is_first = 1,
                        .first_flow = 1};
    if (!c.t)
        return GNOMON_ENOMEM;
    find_times(&c);
    put_keys(&c);
    for (size_t i = 0; !c.t->code && i < what->count; i++)
        put_chrome_profile(&c, i);
    gnomon__out_text(c.t, c.is_first ? "]" : "\n  ]");
    if (what->name) {
        /* TensorBoard's plugin takes the last bracket for that of the rows. */
        gnomon__out_literal(c.t, ",\n  \"traceName\": \"");
        gnomon__export_json_inside(c.t, what->name, GNOMON__JSON_SPECIAL "]");
        gnomon__out_literal(c.t, "\"");
    }
    gnomon__out_literal(c.t, "\n}\n");
    return gnomon__export_text_end(c.t);
}

const gnomon__exporter gnomon__export_chrome = {
    .name = "chrome",
    .extension = ".json",
    .about = "Chrome's trace format, as torch.profiler writes it",
    .write = write_chrome,
};
