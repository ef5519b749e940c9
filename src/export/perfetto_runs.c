/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a trace says of each run beside its events: what it is, and what of it is
 * missing. A moment on a track "trace notes" of its process, and one for each loss. */
#include "export/perfetto.h"

/* ---- What it is --------------------------------------------------------------------- */

/* A moment that does not make the time that is shown longer. */
static uint64_t perfetto_time_in(const gnomon__perfetto *f,
                                 const gnomon__perfetto_run *run,
                                 uint64_t unix_ns)
{
    uint64_t until = f->what->until_unix_ns, most = INT64_MAX;
    if (unix_ns < run->floor)
        unix_ns = run->floor;
    if (until && unix_ns >= until)
        unix_ns = until - 1;
    return unix_ns < most ? unix_ns : most;
}

static gnomon__wire *perfetto_begin_notice(gnomon__perfetto *f, uint32_t run,
                                           uint64_t unix_ns, size_t *from)
{
    uint64_t uuid = gnomon__perfetto_notices(f, run);
    return gnomon__perfetto_event(f, run,
                                  perfetto_time_in(f, &f->runs[run], unix_ns),
                                  uuid, TYPE_INSTANT, from);
}

static uint64_t perfetto_first_moment(const gnomon__perfetto_run *run)
{
    return run->first < UINT64_MAX ? run->first : run->zero;
}

static void perfetto_say_run(gnomon__wire *w, const gnomon_run_info *r)
{
    if (r->rank >= 0)
        gnomon__perfetto_say(w, "rank", r->rank);
    if (r->local_rank >= 0)
        gnomon__perfetto_say(w, "local rank", r->local_rank);
    if (r->world_size >= 0)
        gnomon__perfetto_say(w, "world size", r->world_size);
    gnomon__perfetto_say(w, "pid", r->pid);
    gnomon__perfetto_say_text(w, "host", r->host);
    gnomon__perfetto_say_text(w, "job", r->job);
    gnomon__perfetto_say_text(w, "attempt", r->attempt);
    gnomon__perfetto_say_text(w, "uuid", r->uuid);
    gnomon__perfetto_say_text(w, "spec", r->spec);
    gnomon__perfetto_say_text(w, "clock", r->clock);
    gnomon__perfetto_say(w, "clock error ns", (int64_t)r->clock_error_ns);
}

static void perfetto_say_metadata(const gnomon__perfetto *f, gnomon__wire *w,
                                  uint32_t run)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(f->p, i, &m); i++)
        if (m.run == run)
            gnomon__perfetto_say_json(w, m.key, 0, m.json, 0);
}

static void perfetto_put_run(gnomon__perfetto *f, uint32_t run)
{
    const gnomon__perfetto_run *r = &f->runs[run];
    gnomon_run_info info = {.rank = -1, .local_rank = -1, .world_size = -1};
    size_t from;
    gnomon__wire *w =
        perfetto_begin_notice(f, run, perfetto_first_moment(r), &from);
    gnomon__wire_text(w, EVENT_NAME, "run");
    gnomon__wire_text(w, EVENT_CATEGORIES, "run");
    if (run) {
        (void)gnomon_profile_run(f->p, run, &info);
        perfetto_say_run(w, &info);
    }
    perfetto_say_metadata(f, w, run);
    gnomon__perfetto_event_end(f, from);
}

/* ---- What is missing ------------------------------------------------------------------ */

/* The name is the kind; the count says how often. */
static gnomon__wire *perfetto_begin_loss(gnomon__perfetto *f, uint32_t run,
                                         uint64_t unix_ns, const char *kind,
                                         uint64_t count, size_t *from)
{
    gnomon__wire *w = perfetto_begin_notice(f, run, unix_ns, from);
    gnomon__wire_text(w, EVENT_CATEGORIES, "loss");
    gnomon__wire_text(w, EVENT_NAME, kind);
    size_t note = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_text(w, ANNOTATION_NAME, "count");
    gnomon__wire_number(w, ANNOTATION_UINT, count);
    gnomon__wire_close(w, note);
    return w;
}

static void perfetto_put_loss(gnomon__perfetto *f, const gnomon_loss_info *l)
{
    uint32_t run = l->run ? l->run : f->run_count ? 1 : 0;
    const gnomon__perfetto_run *r = &f->runs[run];
    int has_time = l->begin_ns || l->end_ns;
    uint64_t begin = gnomon__perfetto_unix(r, l->begin_ns);
    gnomon_track_info k;
    size_t from;
    gnomon__wire *w =
        perfetto_begin_loss(f, run, has_time ? begin : perfetto_first_moment(r),
                            l->kind, l->count, &from);
    if (l->track && !gnomon_profile_track(f->p, l->track, &k))
        gnomon__perfetto_say_text(w, "thread", k.name);
    if (has_time) {
        gnomon__perfetto_say(w, "from Unix ns", (int64_t)begin);
        gnomon__perfetto_say(w, "to Unix ns",
                             (int64_t)gnomon__perfetto_unix(r, l->end_ns));
    }
    gnomon__perfetto_event_end(f, from);
}

/* What this file lacks, though the profile has it. */
static void perfetto_put_left_out(gnomon__perfetto *f, uint32_t run,
                                  const char *kind, uint64_t count)
{
    size_t from;
    if (!count)
        return;
    perfetto_begin_loss(f, run, perfetto_first_moment(&f->runs[run]), kind,
                        count, &from);
    gnomon__perfetto_event_end(f, from);
}

void gnomon__perfetto_about(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    for (uint32_t i = f->run_count ? 1 : 0; i <= f->run_count; i++) {
        perfetto_put_run(f, i);
        perfetto_put_left_out(f, i, "links not drawn",
                              f->runs[i].undrawn_links);
        perfetto_put_left_out(f, i, "steps before the first event",
                              f->runs[i].skipped_steps);
    }
    for (size_t i = 1; !gnomon_profile_loss(f->p, i, &l); i++)
        perfetto_put_loss(f, &l);
}
