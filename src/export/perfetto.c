/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Perfetto export: the file, profile by profile; and what a trace says of each run
 * beside its events: what it is, and what of it is missing. That is a moment on a track
 * "trace notes" of its process, and one for each loss.
 *
 * Where something that must be known before the first event is in the events, they are
 * read twice; and once more where there is memory. */
#include "export/perfetto.h"

#include <stdlib.h>

/* Perfetto keeps 512 nested slices of a track, the last of them for an instant: of a
 * deeper one it takes the end for that of another. */
#define MOST_DEEP 511

/* ---- What it is --------------------------------------------------------------------- */

/* A moment that does not make the time that is shown longer. */
static uint64_t time_in(const gnomon__perfetto *f,
                        const gnomon__perfetto_run *run, uint64_t unix_ns)
{
    uint64_t until = f->what->until_unix_ns, most = INT64_MAX;
    if (unix_ns < run->floor)
        unix_ns = run->floor;
    if (until && unix_ns >= until)
        unix_ns = until - 1;
    return unix_ns < most ? unix_ns : most;
}

static gnomon__wire *begin_notice(gnomon__perfetto *f, uint32_t run,
                                  uint64_t unix_ns)
{
    uint64_t uuid = gnomon__perfetto_notices(f, run);
    return gnomon__perfetto_event(f, run, time_in(f, &f->runs[run], unix_ns),
                                  uuid, TYPE_INSTANT);
}

static uint64_t first_moment(const gnomon__perfetto *f, uint32_t run)
{
    return f->runs[run].first < UINT64_MAX
               ? f->runs[run].first
               : f->line.runs[run].info.zero_unix_ns;
}

static void say_run(gnomon__wire *w, const gnomon_run_info *r)
{
    if (r->rank >= 0)
        gnomon__perfetto_note(w, 0, "rank", ANNOTATION_INT, (uint64_t)r->rank);
    if (r->local_rank >= 0)
        gnomon__perfetto_note(w, 0, "local rank", ANNOTATION_INT,
                              (uint64_t)r->local_rank);
    if (r->world_size >= 0)
        gnomon__perfetto_note(w, 0, "world size", ANNOTATION_INT,
                              (uint64_t)r->world_size);
    gnomon__perfetto_note(w, 0, "pid", ANNOTATION_INT, (uint64_t)r->pid);
    gnomon__perfetto_note_text(w, 0, "host", r->host);
    gnomon__perfetto_note_text(w, 0, "job", r->job);
    gnomon__perfetto_note_text(w, 0, "attempt", r->attempt);
    gnomon__perfetto_note_text(w, 0, "uuid", r->uuid);
    gnomon__perfetto_note_text(w, 0, "spec", r->spec);
    gnomon__perfetto_note_text(w, 0, "clock", r->clock);
    gnomon__perfetto_note(w, 0, "clock error ns", ANNOTATION_INT,
                          r->clock_error_ns);
}

static void say_metadata(const gnomon__perfetto *f, gnomon__wire *w,
                         uint32_t run)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(f->line.p, i, &m); i++)
        if (m.run == run)
            gnomon__perfetto_note_json(w, 0, m.key, m.json);
}

static void put_run(gnomon__perfetto *f, uint32_t run)
{
    gnomon__wire *w = begin_notice(f, run, first_moment(f, run));
    gnomon__wire_text(w, EVENT_NAME, "run");
    gnomon__wire_text(w, EVENT_CATEGORIES, "run");
    if (run)
        say_run(w, &f->line.runs[run].info);
    say_metadata(f, w, run);
    gnomon__perfetto_event_end(f);
}

/* ---- What is missing ------------------------------------------------------------------ */

/* The name is the kind; the count says how often. */
static gnomon__wire *begin_loss(gnomon__perfetto *f, uint32_t run,
                                uint64_t unix_ns, const char *kind,
                                uint64_t count)
{
    gnomon__wire *w = begin_notice(f, run, unix_ns);
    gnomon__wire_text(w, EVENT_CATEGORIES, "loss");
    gnomon__wire_text(w, EVENT_NAME, kind);
    gnomon__perfetto_note(w, 0, "count", ANNOTATION_UINT, count);
    return w;
}

static void put_loss(gnomon__perfetto *f, const gnomon_loss_info *l)
{
    const uint32_t run = gnomon__timeline_run_of(&f->line, l->run);
    const int has_time = l->begin_ns || l->end_ns;
    const uint64_t begin = gnomon__perfetto_unix(f, run, l->begin_ns);
    gnomon__wire *w = begin_loss(
        f, run, has_time ? begin : first_moment(f, run), l->kind, l->count);
    if (l->track && l->track <= f->line.track_count)
        gnomon__perfetto_note_text(w, 0, "thread",
                                   f->line.tracks[l->track].info.name);
    if (has_time) {
        gnomon__perfetto_note(w, 0, "from Unix ns", ANNOTATION_INT, begin);
        gnomon__perfetto_note(w, 0, "to Unix ns", ANNOTATION_INT,
                              gnomon__perfetto_unix(f, run, l->end_ns));
    }
    gnomon__perfetto_event_end(f);
}

/* What this file lacks, though the profile has it. */
static void put_left_out(gnomon__perfetto *f, uint32_t run, const char *kind,
                         uint64_t count)
{
    if (!count)
        return;
    begin_loss(f, run, first_moment(f, run), kind, count);
    gnomon__perfetto_event_end(f);
}

static void put_about(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    for (uint32_t i = f->line.run_count ? 1 : 0; i <= f->line.run_count; i++) {
        put_run(f, i);
        put_left_out(f, i, "links not drawn", f->runs[i].undrawn_links);
        put_left_out(f, i, "steps before the first event",
                     f->runs[i].skipped_steps);
    }
    for (size_t i = 1; !gnomon_profile_loss(f->line.p, i, &l); i++)
        put_loss(f, &l);
}

/* ---- Runs and rows ---------------------------------------------------------------- */

/* Viewers take processes of one number for the same, and threads of one. */
static void identify_rows(gnomon__perfetto *f)
{
    gnomon__timeline *l = &f->line;
    for (size_t i = 0; i <= l->run_count; i++)
        if (l->runs[i].pid <= GNOMON__STEPS_TID ||
            l->runs[i].pid >= GNOMON__MADE_UP_PID)
            l->runs[i].pid = GNOMON__MADE_UP_PID +
                             (int64_t)(f->runs_before + i) %
                                 (GNOMON__MADE_UP_TID - GNOMON__MADE_UP_PID);
    for (size_t i = 1; i <= l->track_count; i++)
        if (!l->tracks[i].tid || l->tracks[i].tid >= GNOMON__MADE_UP_TID)
            l->tracks[i].tid =
                GNOMON__MADE_UP_TID + (int64_t)i % GNOMON__MADE_UP_TID;
}

static int begin_rows(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    const size_t runs = f->line.run_count, tracks = f->line.track_count;
    f->row_count = tracks + runs + 1;
    f->runs = calloc(runs + 1, sizeof *f->runs);
    f->rows = calloc(f->row_count + 1, sizeof *f->rows);
    if (!f->runs || !f->rows || !gnomon__lanes_begin(&f->lanes, f->row_count))
        return 0;
    f->lanes.most = MOST_DEEP;
    for (size_t i = 0; i <= runs; i++)
        f->runs[i] =
            (gnomon__perfetto_run){.first = UINT64_MAX, .uuid = ++f->uuids};
    for (size_t i = 1; i <= f->row_count; i++)
        f->rows[i] = (gnomon__perfetto_row){
            .run =
                i > tracks ? (uint32_t)(i - tracks - 1) : f->line.tracks[i].run,
            .uuid = ++f->uuids};
    for (size_t i = 1; !gnomon_profile_loss(f->line.p, i, &l); i++)
        if (l.run <= runs && strcmp(l.kind, "events_overwritten") == 0)
            f->runs[l.run].has_wrapped = 1;
    identify_rows(f);
    return 1;
}

/* Reads all events, if it must: the ends of links, crossed scopes, and from where on each
 * run is shown. */
static int look(gnomon__perfetto *f)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    int must = f->links.count || f->crossed.is_timed, ok = 1;
    for (size_t i = 0; i <= f->line.run_count; i++)
        must |= f->runs[i].has_wrapped;
    gnomon__event_cursor_all(&at, f->what, f->line.p);
    while (must && ok && (e = gnomon__event_cursor_next(&at)) != NULL) {
        const uint32_t run = f->rows[e->track].run;
        const uint64_t ns = gnomon__perfetto_unix(f, run, e->begin_ns);
        if (ns < f->runs[run].first)
            f->runs[run].first = ns;
        ok = gnomon__crossed_meet(&f->crossed, e, at.walk.number);
        if (e->instance && e->kind == GNOMON_EVENT_EXECUTION)
            gnomon__perfetto_meet(f, e, at.walk.number, ns);
    }
    gnomon__crossed_ready(&f->crossed);
    for (size_t i = 0; i <= f->line.run_count; i++) {
        gnomon__perfetto_run *run = &f->runs[i];
        if (f->what->until_unix_ns)
            run->floor = f->what->from_unix_ns;
        else if (run->has_wrapped && run->first < UINT64_MAX)
            run->floor = run->first;
    }
    return ok;
}

/* ---- The file --------------------------------------------------------------------- */

static int begin_perfetto(gnomon__perfetto *f, size_t which)
{
    const gnomon_profile *p = f->what->profiles[which];
    if (!gnomon__timeline_begin(&f->line, f->what, which) || !begin_rows(f) ||
        !gnomon__links_begin(&f->links, &f->line, 0))
        return 0;
    f->flows = calloc(f->links.flows + 1, sizeof *f->flows);
    return f->flows && gnomon__crossed_begin(&f->crossed, p) &&
           gnomon__opens_begin(&f->opens, p) && gnomon__perfetto_names_begin(f);
}

static void end_perfetto(gnomon__perfetto *f)
{
    f->runs_before += f->line.run_count + 1;
    f->flows_before += f->links.flows;
    gnomon__perfetto_names_end(f);
    gnomon__opens_end(&f->opens);
    gnomon__crossed_end(&f->crossed);
    gnomon__links_end(&f->links);
    gnomon__lanes_end(&f->lanes);
    gnomon__timeline_end(&f->line);
    free(f->places.of);
    free(f->late);
    free(f->flows);
    free(f->rows);
    free(f->runs);
    f->places = (gnomon__perfetto_places){0};
    f->late = NULL;
    f->late_count = f->late_room = 0;
    f->flows = NULL;
    f->rows = NULL;
    f->runs = NULL;
}

/* Run 0 has a process only where there is no run at all. */
static int put_perfetto(gnomon__perfetto *f)
{
    if (!look(f))
        return 0;
    gnomon__perfetto_join(f);
    for (uint32_t i = f->line.run_count > 0; i <= f->line.run_count; i++)
        gnomon__perfetto_process(f, i);
    if (!gnomon__perfetto_steps(f) || !gnomon__perfetto_events(f) ||
        !gnomon__perfetto_pools(f))
        return 0;
    put_about(f);
    return !f->has_no_memory;
}

static int write_perfetto(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__perfetto f = {.what = what};
    int ok = (f.t = gnomon__export_text_begin(out)) != NULL;
    for (size_t i = 0; ok && i < what->count && !f.t->code; i++) {
        ok = begin_perfetto(&f, i) && put_perfetto(&f);
        end_perfetto(&f);
    }
    gnomon__wire_free(&f.wire);
    int code = gnomon__export_text_end(f.t);
    return ok ? code : GNOMON_ENOMEM;
}

const gnomon__exporter gnomon__export_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .about = "Perfetto's own format, for large traces",
    .write = write_perfetto,
};
