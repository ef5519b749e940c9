/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The events of a profile, in its order, and among them what had not ended. */
#include "export/perfetto.h"
#include "export/timeline.h"
#include "print/event_walk.h"

/* ---- Executions ---------------------------------------------------------------- */

static int perfetto_put_execution(gnomon__perfetto *f,
                                  const gnomon_event_info *e, size_t number)
{
    uint32_t run = f->rows[e->track].run;
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, e->node);
    size_t from;
    if (!n)
        return 1;
    gnomon__perfetto_intern(f, run, n->region, n->op);
    if (!gnomon__perfetto_begin(
            f, e->track, gnomon__crossed_lane(&f->crossed, e, number),
            e->begin_ns, gnomon__perfetto_end_of(e->begin_ns, e->duration_ns),
            &from))
        return 0;
    gnomon__perfetto_name(f, n->region);
    gnomon__perfetto_flows(f, run, e, number);
    gnomon__perfetto_op(f, n->op);
    gnomon__perfetto_event_end(f, from);
    return 1;
}

/* ---- What had not ended --------------------------------------------------------------- */

/* One that began before the time that is shown begins with it, and says so. */
static int perfetto_put_open(gnomon__perfetto *f, const gnomon_open_info *o)
{
    const gnomon__perfetto_run *run = &f->runs[f->rows[o->track].run];
    uint64_t unix_ns = gnomon__perfetto_unix(run, o->begin_ns);
    uint64_t begin = o->begin_ns;
    const gnomon__perfetto_node *n = gnomon__perfetto_node_at(f, o->node);
    size_t from;
    if (f->what->until_unix_ns && unix_ns >= f->what->until_unix_ns)
        return 1;
    if (unix_ns < run->floor)
        begin = run->floor - run->zero;
    if (!n)
        return 1;
    gnomon__perfetto_intern(f, f->rows[o->track].run, n->region, n->op);
    if (!gnomon__perfetto_begin(f, o->track, 0, begin, GNOMON__PERFETTO_NEVER,
                                &from))
        return 0;
    gnomon__perfetto_name(f, n->region);
    gnomon__perfetto_op(f, n->op);
    if (unix_ns < run->floor)
        gnomon__perfetto_note(&f->wire, GNOMON__PERFETTO_BEGAN, unix_ns);
    gnomon__perfetto_event_end(f, from);
    return 1;
}

/* Those of the track that began at `ns` or before it. */
static int perfetto_put_opens(gnomon__perfetto *f, gnomon__opens *opens,
                              size_t track, uint64_t ns)
{
    const gnomon_open_info *o;
    int ok = 1;
    while (ok && (o = gnomon__opens_next(opens, track, ns)) != NULL)
        ok = perfetto_put_open(f, o);
    return ok;
}

/* ---- Moments ---------------------------------------------------------------------------- */

static gnomon__wire *perfetto_begin_moment(gnomon__perfetto *f,
                                           const gnomon_event_info *e,
                                           uint64_t uuid, uint32_t type,
                                           size_t *from)
{
    uint32_t run = f->rows[e->track].run;
    return gnomon__perfetto_event(
        f, run, gnomon__perfetto_unix(&f->runs[run], e->begin_ns), uuid, type,
        from);
}

/* `value` NULL: a mark. */
static void perfetto_put_mark(gnomon__perfetto *f, const gnomon_event_info *e,
                              const char *value)
{
    size_t from;
    gnomon__perfetto_intern(f, f->rows[e->track].run, e->region, 0);
    gnomon__perfetto_ends(f, e->track, e->begin_ns);
    uint64_t uuid = gnomon__perfetto_lane(f, e->track, 0);
    gnomon__wire *w = perfetto_begin_moment(f, e, uuid, TYPE_INSTANT, &from);
    gnomon__perfetto_name(f, e->region);
    if (value)
        gnomon__perfetto_note_text(w, GNOMON__PERFETTO_VALUE, value);
    gnomon__perfetto_event_end(f, from);
}

/* A value that no curve can have is a moment on the counter's thread. */
static void perfetto_put_sample(gnomon__perfetto *f, const gnomon_event_info *e)
{
    size_t from;
    double rest = e->value - e->value; /* 0, if it is a number */
    if (!(rest >= 0)) {
        perfetto_put_mark(f, e,
                          e->value > 0   ? "inf"
                          : e->value < 0 ? "-inf"
                                         : "NaN");
        return;
    }
    uint64_t uuid = gnomon__perfetto_counter(f, e->track, e->region);
    gnomon__wire *w = perfetto_begin_moment(f, e, uuid, TYPE_COUNTER, &from);
    gnomon__wire_double(w, EVENT_DOUBLE, e->value);
    gnomon__perfetto_event_end(f, from);
}

/* ---- All events ---------------------------------------------------------------------------- */

static int perfetto_put_event(gnomon__perfetto *f, const gnomon_event_info *e,
                              size_t number)
{
    if (e->kind == GNOMON_EVENT_EXECUTION)
        return perfetto_put_execution(f, e, number);
    if (e->kind == GNOMON_EVENT_MARK)
        perfetto_put_mark(f, e, NULL);
    else if (e->kind == GNOMON_EVENT_COUNTER)
        perfetto_put_sample(f, e);
    return 1;
}

/* If it is taken, and before it what was open. */
static int perfetto_put_in_order(gnomon__perfetto *f, gnomon__opens *opens,
                                 const gnomon_event_info *e, size_t number)
{
    gnomon__perfetto_run *run = &f->runs[f->rows[e->track].run];
    const uint64_t unix_ns = gnomon__perfetto_unix(run, e->begin_ns);
    if (!gnomon__export_takes(f->what, unix_ns))
        return 1;
    run->first = unix_ns < run->first ? unix_ns : run->first;
    return perfetto_put_opens(f, opens, e->track, e->begin_ns) &&
           perfetto_put_event(f, e, number);
}

int gnomon__perfetto_events(gnomon__perfetto *f)
{
    gnomon__opens opens;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    f->has_memory = 0;
    int ok = gnomon__opens_begin(&opens, f->p);
    gnomon__walk_all(&walk, f->p);
    while (ok && !f->t->code && !f->has_no_memory &&
           (e = gnomon__walk_next(&walk)) != NULL) {
        f->has_memory |= e->kind == GNOMON_EVENT_MEMORY;
        ok = perfetto_put_in_order(f, &opens, e, walk.number);
    }
    for (size_t i = 1; ok && i <= f->track_count; i++)
        ok = perfetto_put_opens(f, &opens, i, UINT64_MAX);
    gnomon__opens_end(&opens);
    return ok;
}
