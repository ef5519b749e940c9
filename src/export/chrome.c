/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Chrome export: the file, profile by profile. */
#include "export/chrome.h"

#include <stdlib.h>

#include "print/event_walk.h"

/* Kineto's times count from Unix time rounded down to this, a quarter of a year. With
 * the same rule traces that were written apart, and torch's own, share a time base. */
#define QUARTER_NS UINT64_C(7889238000000000)

/* ---- Times ------------------------------------------------------------------------ */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From the first begin to the last end of the events that the export takes, in Unix
 * ns. Where there are none, `from` is after `until`. */
typedef struct chrome_time {
    uint64_t from, until;
} chrome_time;

static void take_times(chrome_time *time, const gnomon__export *what,
                       const gnomon_profile *p)
{
    uint32_t track = 0;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon_track_info k;
    gnomon_run_info run = {.zero_unix_ns = 0};
    gnomon__walk_all(&walk, p);
    while ((e = gnomon__walk_next(&walk)) != NULL) {
        if (e->track != track) {
            (void)gnomon_profile_track(p, track = e->track, &k);
            (void)gnomon_profile_run(p, k.run ? k.run : 1, &run);
        }
        uint64_t at = gnomon__export_unix(&run, e->begin_ns);
        if (!gnomon__export_takes(what, at))
            continue;
        time->from = earlier(time->from, at);
        if (at + e->duration_ns > time->until)
            time->until = at + e->duration_ns;
    }
}

/* Without reading events. 0: they are not known. */
static int take_span(chrome_time *time, const gnomon__export *what, size_t i)
{
    const gnomon__export_span *s = what->spans ? &what->spans[i] : NULL;
    if (what->until_unix_ns || !s || !s->is_known)
        return 0;
    time->from = earlier(time->from, s->from_unix_ns);
    if (s->until_unix_ns > time->until)
        time->until = s->until_unix_ns;
    return 1;
}

static void find_times(gnomon__chrome *c)
{
    gnomon_run_info run;
    uint64_t zero = UINT64_MAX;
    chrome_time time = {UINT64_MAX, 0};
    for (size_t i = 0; i < c->what->count; i++) {
        const gnomon_profile *p = c->what->profiles[i];
        for (size_t k = 1; !gnomon_profile_run(p, k, &run); k++)
            zero = earlier(zero, run.zero_unix_ns);
        if (!take_span(&time, c->what, i))
            take_times(&time, c->what, p);
    }
    zero = zero == UINT64_MAX ? 0 : zero;
    if (time.from > time.until)
        time = (chrome_time){zero, UINT64_MAX};
    c->base = zero - zero % QUARTER_NS;
    c->start = time.from - c->base;
    c->end = time.until - c->base;
}

/* ---- A profile ---------------------------------------------------------------------- */

static int find_zeros(gnomon__chrome *c)
{
    gnomon_run_info run;
    size_t runs = gnomon_profile_count(c->p, GNOMON_RUNS);
    c->zero = calloc(runs + 1, sizeof *c->zero);
    if (!c->zero)
        return 0;
    for (size_t i = 1; !gnomon_profile_run(c->p, i, &run); i++)
        c->zero[i] = run.zero_unix_ns - c->base;
    c->zero[0] = runs ? c->zero[1] : 0;
    return 1;
}

static int put_rows_of(gnomon__chrome *c, size_t which)
{
    c->p = c->what->profiles[which];
    int ok =
        find_zeros(c) &&
        gnomon__chrome_ids_begin(&c->ids, c->what, which, c->runs_before) &&
        gnomon__chrome_links_begin(&c->links, c->p, c->flows + 1) &&
        gnomon__chrome_nodes_begin(&c->nodes, c->p) &&
        gnomon__opens_begin(&c->opens, c->p) &&
        gnomon__crossed_begin(&c->crossed, c->p) &&
        gnomon__chrome_calls_begin(&c->calls, c->p, &c->ids) &&
        gnomon__chrome_around_begin(
            &c->around, gnomon_profile_count(c->p, GNOMON_TRACKS)) &&
        gnomon__lanes_begin(&c->lanes,
                            gnomon_profile_count(c->p, GNOMON_TRACKS));
    if (ok) {
        gnomon__chrome_name_tracks(c);
        ok = gnomon__chrome_rows(c) && gnomon__chrome_memory(c);
        gnomon__chrome_name_lanes(c);
    }
    c->flows += c->links.flows + c->links.alone;
    c->runs_before += gnomon_profile_count(c->p, GNOMON_RUNS);
    c->labels_before += gnomon_profile_count(c->p, GNOMON_EVENTS) +
                        gnomon_profile_count(c->p, GNOMON_STEPS) +
                        gnomon_profile_count(c->p, GNOMON_OPENS);
    gnomon__lanes_end(&c->lanes);
    gnomon__crossed_end(&c->crossed);
    gnomon__chrome_around_end(&c->around);
    gnomon__chrome_spans_end(&c->spans);
    gnomon__chrome_calls_end(&c->calls);
    gnomon__opens_end(&c->opens);
    gnomon__chrome_nodes_end(&c->nodes);
    gnomon__chrome_links_end(&c->links);
    gnomon__chrome_ids_end(&c->ids);
    free(c->zero);
    c->zero = NULL;
    return ok;
}

/* ---- The file ------------------------------------------------------------------------- */

static int write_chrome(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__chrome c = {.what = what, .is_first = 1};
    int ok = (c.t = gnomon__export_text_begin(out)) != NULL;
    if (!ok)
        return GNOMON_ENOMEM;
    find_times(&c);
    gnomon__chrome_head(&c);
    for (size_t i = 0; ok && i < what->count; i++)
        ok = put_rows_of(&c, i);
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
