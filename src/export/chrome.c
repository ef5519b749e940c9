/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export: the file, profile by profile. */
#include "export/chrome.h"

#include <stdlib.h>

/* Kineto's times count from Unix time rounded down to this, a quarter of a year. With
 * the same rule traces that were written apart, and torch's own, share a time base. */
#define QUARTER_NS UINT64_C(7889238000000000)
/* Devices are numbered below this, and a process in a container may be too. */
#define FIRST_PID 64

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
        !gnomon__links_begin(&c->links, &c->line, 1))
        return 0;
    identify(c);
    c->alone = 0;
    c->flows = calloc(c->links.flows + 1, sizeof *c->flows);
    c->node_count = gnomon_profile_count(p, GNOMON_NODES);
    c->nodes = calloc(c->node_count + 1, sizeof *c->nodes);
    c->around = calloc(c->line.track_count + 1, sizeof *c->around);
    return c->flows && c->nodes && c->around &&
           gnomon__opens_begin(&c->opens, p) &&
           gnomon__crossed_begin(&c->crossed, p) &&
           gnomon__lanes_begin(&c->lanes, c->line.track_count);
}

static void end_profile(gnomon__chrome *c, const gnomon_profile *p)
{
    c->first_flow += c->links.flows + c->alone;
    c->runs_before += c->line.run_count;
    c->labels_before += gnomon_profile_count(p, GNOMON_EVENTS) +
                        gnomon_profile_count(p, GNOMON_STEPS) +
                        gnomon_profile_count(p, GNOMON_OPENS);
    gnomon__lanes_end(&c->lanes);
    gnomon__crossed_end(&c->crossed);
    gnomon__chrome_labels_end(c);
    gnomon__opens_end(&c->opens);
    for (size_t i = 0; c->nodes && i <= c->node_count; i++)
        free(c->nodes[i].head);
    free(c->nodes);
    free(c->flows);
    c->nodes = NULL;
    c->flows = NULL;
    gnomon__links_end(&c->links);
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
static int put_memory(gnomon__chrome *c)
{
    gnomon__memory memory;
    gnomon_event_info e;
    uint64_t at;
    int64_t *allocated = calloc(c->line.track_count + 1, sizeof *allocated);
    const int ok = gnomon__memory_begin(&memory, &c->line) && allocated;
    while (ok && !c->t->code && gnomon__memory_next(&memory, &e, &at)) {
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
    return ok;
}

/* ---- The file ------------------------------------------------------------------------- */

static int put_chrome_profile(gnomon__chrome *c, size_t which)
{
    int ok = begin_profile(c, which);
    if (ok) {
        gnomon__chrome_name_tracks(c);
        ok = gnomon__chrome_rows(c) && (!c->has_memory || put_memory(c));
        gnomon__chrome_name_lanes(c);
    }
    end_profile(c, c->what->profiles[which]);
    return ok;
}

static int write_chrome(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__chrome c = {.what = what, .is_first = 1, .first_flow = 1};
    int ok = (c.t = gnomon__export_text_begin(out)) != NULL;
    if (!ok)
        return GNOMON_ENOMEM;
    find_times(&c);
    gnomon__chrome_head(&c);
    for (size_t i = 0; ok && i < what->count; i++)
        ok = put_chrome_profile(&c, i);
    gnomon__export_string(c.t, c.is_first ? "]" : "\n  ]");
    if (what->name) {
        /* TensorBoard's plugin takes the last bracket for that of the rows. */
        gnomon__export_literal(c.t, ",\n  \"traceName\": \"");
        gnomon__export_json_without(c.t, what->name, ']');
        gnomon__export_literal(c.t, "\"");
    }
    gnomon__export_literal(c.t, "\n}\n");
    int code = gnomon__export_text_end(c.t);
    return ok ? code : GNOMON_ENOMEM;
}

const gnomon__exporter gnomon__export_chrome = {
    .name = "chrome",
    .extension = ".json",
    .about = "Chrome's trace format, as torch.profiler writes it",
    .write = write_chrome,
};
