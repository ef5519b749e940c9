/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a Chrome trace has beside its events: the keys of the file, in Kineto's order,
 * and the rows that name processes and threads. */
#include "export/chrome.h"

#include <inttypes.h>
#include <stdio.h>

#define GPU_ORDER 5000000

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

static void put_key(gnomon__export_text *t, const char *key)
{
    gnomon__export_literal(t, "  ");
    gnomon__export_json(t, key);
    gnomon__export_literal(t, ": ");
}

static void put_run_keys(gnomon__export_text *t, const gnomon_profile *p)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++) {
        if (is_own_key(m.key))
            continue;
        put_key(t, m.key);
        gnomon__export_string(t, m.json);
        gnomon__export_literal(t, ",\n");
    }
}

/* With a blank before the number and in a line of its own: holistic trace analysis
 * finds the rank by such a line. */
static void put_rank(gnomon__export_text *t, const gnomon_profile *p,
                     const gnomon_run_info *run)
{
    const char *given = metadata_of(p, "distributedInfo");
    if (run->rank >= 0) {
        gnomon__export_literal(t, "  \"rank\": ");
        gnomon__export_signed(t, run->rank);
        gnomon__export_literal(t, ",\n");
    }
    if (!given && run->rank < 0)
        return;
    put_key(t, "distributedInfo");
    if (given) {
        gnomon__export_string(t, given);
    } else {
        gnomon__export_literal(t, "{\"rank\": ");
        gnomon__export_signed(t, run->rank);
        if (run->world_size > 0) {
            gnomon__export_literal(t, ", \"world_size\": ");
            gnomon__export_signed(t, run->world_size);
        }
        gnomon__export_literal(t, "}");
    }
    gnomon__export_literal(t, ",\n");
}

static void put_loss(gnomon__export_text *t, const gnomon_loss_info *l,
                     size_t profile)
{
    gnomon__export_literal(t, "    {\"kind\": ");
    gnomon__export_json(t, l->kind);
    gnomon__export_literal(t, ", \"count\": ");
    gnomon__export_number(t, l->count);
    gnomon__export_literal(t, ", \"profile\": ");
    gnomon__export_number(t, profile + 1);
    gnomon__export_literal(t, ", \"run\": ");
    gnomon__export_number(t, l->run);
    gnomon__export_literal(t, ", \"track\": ");
    gnomon__export_number(t, l->track);
    if (l->end_ns) {
        gnomon__export_literal(t, ", \"begin_ns\": ");
        gnomon__export_number(t, l->begin_ns);
        gnomon__export_literal(t, ", \"end_ns\": ");
        gnomon__export_number(t, l->end_ns);
    }
    gnomon__export_literal(t, "}");
}

/* All of all profiles: what is missing in a trace belongs into it. */
static void put_all_losses(const gnomon__chrome *c)
{
    int is_first = 1;
    gnomon_loss_info l;
    put_key(c->t, "gnomonLosses");
    gnomon__export_literal(c->t, "[");
    for (size_t i = 0; i < c->what->count; i++)
        for (size_t k = 1; !gnomon_profile_loss(c->what->profiles[i], k, &l);
             k++) {
            gnomon__export_string(c->t, is_first ? "\n" : ",\n");
            put_loss(c->t, &l, i);
            is_first = 0;
        }
    gnomon__export_string(c->t, is_first ? "],\n" : "\n  ],\n");
}

void gnomon__chrome_head(gnomon__chrome *c)
{
    gnomon_run_info run;
    int is_only = only_run(c, &run);
    const char *devices =
        is_only ? metadata_of(c->what->profiles[0], "deviceProperties") : NULL;
    gnomon__export_literal(
        c->t, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": ");
    gnomon__export_string(c->t, devices ? devices : "[]");
    gnomon__export_literal(c->t, ",\n");
    if (is_only) {
        put_rank(c->t, c->what->profiles[0], &run);
        if (run.host[0]) {
            put_key(c->t, "host_name");
            gnomon__export_json(c->t, run.host);
            gnomon__export_literal(c->t, ",\n");
        }
        put_run_keys(c->t, c->what->profiles[0]);
    }
    put_all_losses(c);
    gnomon__export_literal(
        c->t, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
    gnomon__export_number(c->t, c->base);
    gnomon__export_literal(c->t, ",\n  \"traceEvents\": [");
}

/* ---- Processes ------------------------------------------------------------------- */

/* Begins a row of names; its value comes next, and then end_name. */
static void begin_name(gnomon__chrome *c, const char *what, int64_t pid,
                       int64_t tid, const char *key)
{
    gnomon__chrome_row(c);
    gnomon__export_literal(c->t, "{\"ph\":\"M\",\"name\":\"");
    gnomon__export_string(c->t, what);
    gnomon__export_literal(c->t, "\",\"pid\":");
    gnomon__export_signed(c->t, pid);
    gnomon__export_literal(c->t, ",\"tid\":");
    gnomon__export_signed(c->t, tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, c->start);
    gnomon__export_literal(c->t, ",\"args\":{\"");
    gnomon__export_string(c->t, key);
    gnomon__export_literal(c->t, "\":");
}

static void end_name(gnomon__chrome *c)
{
    gnomon__export_literal(c->t, "}}");
}

static void put_order(gnomon__chrome *c, const char *what, int64_t pid,
                      int64_t tid, int64_t order)
{
    begin_name(c, what, pid, tid, "sort_index");
    gnomon__export_signed(c->t, order);
    end_name(c);
}

/* A run, or a device of it. */
static void name_process(gnomon__chrome *c, const gnomon_run_info *run,
                         int64_t pid, int device)
{
    char text[96];
    begin_name(c, "process_name", pid, 0, "name");
    if (run->rank >= 0)
        (void)snprintf(text, sizeof text, "\"rank %" PRId32, run->rank);
    else
        (void)snprintf(text, sizeof text, "\"process");
    gnomon__export_string(c->t, text);
    if (run->attempt && *run->attempt) {
        gnomon__export_literal(c->t, ", attempt ");
        gnomon__export_json_inside(c->t, run->attempt);
    }
    if (run->host[0]) {
        gnomon__export_literal(c->t, " (");
        gnomon__export_json_inside(c->t, run->host);
        gnomon__export_literal(c->t, ")");
    }
    gnomon__export_literal(c->t, "\"");
    end_name(c);
    if (device >= 0)
        (void)snprintf(text, sizeof text, "\"GPU %d\"", device);
    else
        (void)snprintf(text, sizeof text, "\"CPU\"");
    begin_name(c, "process_labels", pid, 0, "labels");
    gnomon__export_string(c->t, text);
    end_name(c);
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

static void name_runs(gnomon__chrome *c)
{
    gnomon_run_info run;
    for (size_t i = 1; !gnomon_profile_run(c->p, i, &run); i++) {
        int64_t pid = c->ids.runs[i];
        name_process(c, &run, pid, -1);
        put_order(c, "process_sort_index", pid, 0,
                  order_of(c, &run, i, -1, pid));
        if (!c->ids.has_thread[i])
            continue;
        begin_name(c, "thread_name", pid, GNOMON__CHROME_STEPS, "name");
        gnomon__export_literal(c->t, "\"steps\"");
        end_name(c);
        put_order(c, "thread_sort_index", pid, GNOMON__CHROME_STEPS, -1);
    }
}

/* ---- Threads and streams ------------------------------------------------------------ */

static void put_track_name(gnomon__chrome *c, size_t track,
                           const gnomon_track_info *k, uint32_t lane)
{
    char text[48], stream[48];
    const char *name = gnomon__export_track_name(text, k);
    (void)snprintf(stream, sizeof stream, "stream %" PRId64,
                   c->ids.tracks[track]);
    const int is_named_stream =
        k->kind == GNOMON_TRACK_STREAM && strcmp(name, stream) != 0;
    gnomon__export_literal(c->t, "\"");
    if (is_named_stream) {
        gnomon__export_string(c->t, stream);
        gnomon__export_literal(c->t, " (");
    }
    gnomon__export_json_inside(c->t, name);
    if (is_named_stream)
        gnomon__export_literal(c->t, ")");
    if (lane) {
        gnomon__export_literal(c->t, " (overlap ");
        gnomon__export_number(c->t, lane);
        gnomon__export_literal(c->t, ")");
    }
    gnomon__export_literal(c->t, "\"");
}

/* Whether an earlier stream has named the device's process. */
static int is_device_named(const gnomon__chrome *c, size_t track)
{
    for (size_t i = 1; i < track; i++)
        if (c->ids.pids[i] == c->ids.pids[track])
            return 1;
    return 0;
}

static void name_device(gnomon__chrome *c, size_t track,
                        const gnomon_track_info *k)
{
    gnomon_run_info run = {.rank = -1, .host = ""};
    (void)gnomon_profile_run(c->p, k->run ? k->run : 1, &run);
    name_process(c, &run, c->ids.pids[track], k->device);
    put_order(c, "process_sort_index", c->ids.pids[track], 0,
              order_of(c, &run, k->run, k->device, c->ids.pids[track]));
}

void gnomon__chrome_name_tracks(gnomon__chrome *c)
{
    gnomon_track_info k;
    name_runs(c);
    for (size_t i = 1; !gnomon_profile_track(c->p, i, &k); i++) {
        if (k.kind == GNOMON_TRACK_POOL || c->ids.hosts[i] != i)
            continue;
        if (gnomon__chrome_on_device(c->p, i) && !is_device_named(c, i))
            name_device(c, i, &k);
        begin_name(c, "thread_name", c->ids.pids[i], c->ids.tracks[i], "name");
        put_track_name(c, i, &k, 0);
        end_name(c);
        put_order(c, "thread_sort_index", c->ids.pids[i], c->ids.tracks[i],
                  (int64_t)i * GNOMON__CHROME_LANES);
    }
}

void gnomon__chrome_name_lanes(gnomon__chrome *c)
{
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_track(c->p, i, &k); i++)
        for (uint32_t lane = 1; lane < gnomon__lanes_of(&c->lanes, i); lane++) {
            int64_t tid = gnomon__chrome_lane_tid(i, lane);
            begin_name(c, "thread_name", c->ids.pids[i], tid, "name");
            put_track_name(c, i, &k, lane);
            end_name(c);
            put_order(c, "thread_sort_index", c->ids.pids[i], tid,
                      (int64_t)i * GNOMON__CHROME_LANES + lane);
        }
}
