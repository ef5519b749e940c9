/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages. Marks after one stage's end belong to the next one, which gets its name when
 * it begins. So a stage ends by a cut of the recording, before its reports are written.
 * Of finished stages only sums are kept, by name. Stages change in control calls, under
 * the readers' lock and that of steps. */
#include <string.h>

#include "mark/callbacks.h"
#include "mark/segment.h"
#include "mark/observer.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "record/memory_sums.h"
#include "run/host.h"
#include "run/run.h"
#include "run/snapshots.h"

/* ---- Cuts --------------------------------------------------------------------------- */

static int take_views(void)
{
    int code = GNOMON_OK;
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        int its = gnomon__view_take(v);
        code = code ? code : its;
    }
    return code;
}

/* Of how many segments the stages are kept at the least: many where something records
 * events, of which only the moment is known, or work, which may be told late. */
#define FEW_SEGMENTS 4u
#define MOST_SEGMENTS 32768u

static size_t segments_needed(void)
{
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->tape || v->has_work || v->timed)
            return MOST_SEGMENTS;
    return FEW_SEGMENTS;
}

/* Under the readers' lock: later marks go to the next segment, and earlier ones are
 * added to the ledgers. */
static int cut(uint64_t now)
{
    gnomon__step_lock();
    gnomon__stage.first = gnomon__stage_first_mark();
    gnomon__step_unlock();
    int code = gnomon__segments_add(now, &gnomon__stage.reported.key);
    if (gnomon__stage.unreached)
        code = take_views() ? GNOMON_ENOMEM : code;
    gnomon__stage.unreached = gnomon__cut(now);
    code = take_views() ? GNOMON_ENOMEM : code;
    for (gnomon__view *v = gnomon__views; v && code; v = v->next)
        v->ledger.open.is_incomplete = 1;
    gnomon__segments_sweep(segments_needed());
    return code;
}

static void log_lost(int code)
{
    if (code)
        gnomon__log("no memory for what a stage recorded: some of it is "
                    "missing in its profile");
}

/* ---- The end of a stage --------------------------------------------------------------- */

/* The next one begins, unnamed. */
static void begin_next(void)
{
    gnomon__free(gnomon__stage.reported_name);
    gnomon__stage.reported_name = gnomon__stage.name;
    gnomon__stage.name = NULL;
    gnomon__stage.was_opened = 0;
    gnomon__stage.first = 0;
    gnomon__stage.over++;
}

/* After the cut. */
static uint64_t end_reported(uint64_t now)
{
    gnomon__step_lock();
    uint64_t end = gnomon__stage_end(&gnomon__stage.reported, NULL, now);
    gnomon__step_unlock();
    gnomon__segments_name(&gnomon__stage.reported.key);
    return end;
}

/* The open stage is the reported one, up to `now`. */
static void describe_reported(uint64_t now)
{
    gnomon__stage_record *s = &gnomon__stage.reported;
    gnomon__stage_describe(s, now);
    s->until = now;
    s->key.name = gnomon__stage_name_number(s->name);
}

/* The open stage is closed: marks belong to the next one from the cut on. Or, if
 * `leaving`, only the records of profilers that leave; then the stage goes on. Under the
 * readers' lock. */
static int close_reported(int leaving)
{
    gnomon__stage_record *s = &gnomon__stage.reported;
    gnomon__step_lock();
    if (!leaving)
        gnomon__windows_narrow(0);
    uint64_t now = gnomon__ticks(), begin = gnomon__stage_begin_ticks(now);
    gnomon__cycles_end(now, leaving);
    describe_reported(now);
    s->is_over = !leaving;
    int code = gnomon__views_flush(begin, now);
    code |= leaving ? gnomon__steps_flush(&s->steps, begin, now)
                    : gnomon__steps_end(&s->steps, begin, now);
    gnomon__step_unlock();
    code |= cut(now);
    uint64_t first, end = end_reported(now);
    if (!gnomon__segment_first(&first) && gnomon__memory_was_marked())
        gnomon__segment_mark(gnomon__segment, now); /* before the cut */
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (!leaving || gnomon__view_leaves(v))
            code |= gnomon__view_close(v, s->key.name,
                                       s->key.ordinal + (uint32_t)!leaving,
                                       begin, end);
    return code;
}

static void end_stage(void)
{
    gnomon__readers_lock();
    int code = close_reported(0);
    gnomon__stage_names_add(&gnomon__stage.reported);
    gnomon__step_lock();
    begin_next();
    uint32_t unnotified =
        gnomon__windows_move(0, 1, gnomon__stage.reported.until);
    gnomon__step_unlock();
    gnomon__readers_unlock();
    gnomon__windows_notify(unnotified, NULL);
    log_lost(code);
}

void gnomon__stage_over(void)
{
    if (!gnomon__stage_is_due())
        return;
    gnomon__clock_anchor();
    end_stage();
    gnomon__report_stage(0);
    gnomon__stage_reports_over();
}

/* Takes late records only; no stage is added. */
static int settle_late(void)
{
    int is_any = 0;
    gnomon__work_flush();
    gnomon__readers_lock();
    uint64_t now = gnomon__ticks();
    gnomon__stage_describe(&gnomon__stage.reported, now);
    int code = cut(now);
    gnomon__stage.reported.name = NULL; /* there is nothing of it to report */
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        code = gnomon__ledger_settle(&v->ledger) ? GNOMON_ENOMEM : code;
        is_any |= v->ledger.late_reported.count != 0;
    }
    gnomon__readers_unlock();
    log_lost(code);
    return is_any;
}

void gnomon__stage_report_leaving(void)
{
    gnomon__ranges_over(1);
    if (gnomon__stage_is_due()) {
        gnomon__readers_lock();
        int code = close_reported(1);
        gnomon__stage.unfinished = gnomon__stage.reported;
        gnomon__readers_unlock();
        log_lost(code);
        gnomon__report_stage(1);
    } else if (settle_late()) {
        gnomon__report_late();
    }
    gnomon__report_run(1);
    memset(&gnomon__stage.unfinished, 0, sizeof gnomon__stage.unfinished);
    gnomon__stage_reports_over();
}

void gnomon__run_over(void)
{
    gnomon__ranges_over(0);
    if (gnomon__stage_is_due())
        gnomon__stage_over();
    else if (settle_late())
        gnomon__report_late();
    gnomon__stage_reports_over();
    gnomon__report_run(0);
    gnomon__fork_tell();
}

/* ---- The begin of a stage ------------------------------------------------------------ */

uint32_t gnomon__stage_open(char *name)
{
    gnomon__clock_anchor();
    gnomon__readers_lock();
    gnomon__step_lock();
    gnomon__stage.was_opened = 1;
    gnomon__stage.opened = gnomon__ticks();
    gnomon__stage.name = name;
    gnomon__steps_begin(gnomon__stage.opened);
    uint32_t unnotified = gnomon__windows_move(
        load_relaxed(&gnomon__steps_over), 0, gnomon__stage.opened);
    gnomon__step_unlock();
    gnomon__readers_unlock();
    return unnotified;
}

/* ---- A run's begin -------------------------------------------------------------------- */

void gnomon__stages_restart(void)
{
    gnomon__readers_lock();
    gnomon__step_lock();
    gnomon__stage_names_clear();
    begin_next();
    gnomon__stage.over = 0;
    gnomon__segments_forget();
    gnomon__segments_clear();
    gnomon__steps_restart();
    gnomon__step_unlock();
    gnomon__metadata_clear();
    gnomon__readers_unlock();
}
