/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages. Marks after one stage's end belong to the next one, which gets its name when
 * it begins. So a stage ends by a cut of the recording, before its reports are written.
 * Of finished stages only sums are kept, by name. Stages change in control calls, under
 * the readers' lock and that of steps. */
#include <string.h>

#include "mark/segment.h"
#include "mark/observer.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/process.h"
#include "run/host.h"
#include "run/run.h"
#include "run/snapshots.h"

static struct {
    uint32_t over;      /* how many stages are */
    int32_t was_opened; /* the open one; else it begins at its first mark */
    char *name;         /* its; NULL: "" */
    uint64_t opened;    /* ticks */
    uint64_t first;     /* its first mark's in segments that are over, + 1 */
    gnomon__stage_record reported; /* whose reports are written */
    char *reported_name;           /* its name, if it is over; else NULL */
    /* The open one, while profilers leave in it. */
    gnomon__stage_record unfinished;
    uint32_t unreached; /* threads that the last cut did not reach */
} this_stage GNOMON__OF_PROCESS;

/* ---- Names ---------------------------------------------------------------------- */

static const char *open_name(void)
{
    return this_stage.name ? this_stage.name : "";
}

const char *gnomon__stage_name(void)
{
    const char *name = this_stage.reported.name ? this_stage.reported.name
                       : this_stage.was_opened  ? open_name()
                                                : "";
    return *name ? name : NULL;
}

/* ---- What is open ------------------------------------------------------------------ */

uint64_t gnomon__stage_first_mark(void)
{
    uint64_t first = this_stage.first, its;
    if (gnomon__segment_first(&its) && (!first || its + 1 < first))
        first = its + 1;
    return first;
}

uint64_t gnomon__stage_begin_ticks(uint64_t now)
{
    uint64_t first = gnomon__stage_first_mark();
    uint64_t begin = this_stage.was_opened ? this_stage.opened : now;
    return first && first - 1 < begin ? first - 1 : begin;
}

int gnomon__stage_is_due(void)
{
    return this_stage.was_opened || this_stage.over == 0 ||
           gnomon__stage_first_mark();
}

uint32_t gnomon__stage_ordinal(void)
{
    return this_stage.over + 1;
}

int gnomon__stage_was_opened(void)
{
    return this_stage.was_opened;
}

/* A clock that stepped back must not end a stage before its begin. */
static void end_stage_at(gnomon__stage_record *s, uint64_t ticks)
{
    uint64_t end = gnomon__clock_ns(ticks);
    s->key.end_ns = end > s->key.begin_ns ? end : s->key.begin_ns;
}

void gnomon__stage_describe(gnomon__stage_record *s)
{
    uint64_t now = gnomon__ticks();
    *s = (gnomon__stage_record){.name = open_name(), .count = 1};
    s->key.ordinal = gnomon__stage_ordinal();
    s->key.name = gnomon__stage_name_find(open_name());
    s->from = gnomon__stage_begin_ticks(now);
    s->key.begin_ns = gnomon__clock_ns(s->from);
    end_stage_at(s, now);
}

static int is_range_open; /* of goes_on alone */

static void see_range(uint32_t segment)
{
    (void)segment;
    is_range_open = 1;
}

/* Devices may work on after the last mark. */
static int goes_on(const gnomon__ledger *copy)
{
    int any = this_stage.was_opened || this_stage.unreached;
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        any |=
            (copy ? copy : &v->ledger)->open_count || v->has_work || v->timed;
    is_range_open = 0;
    gnomon__ranges_open(see_range);
    return any || is_range_open;
}

uint64_t gnomon__stage_end(gnomon__stage_record *s, const gnomon__ledger *copy,
                           uint64_t now)
{
    uint64_t last = gnomon__last_end(), step = gnomon__steps_last_end();
    last = last > step ? last : step;
    if (last <= s->from || last > now || goes_on(copy))
        return now;
    end_stage_at(s, last);
    return last;
}

const gnomon__stage_record *gnomon__stage_reported(void)
{
    return &this_stage.reported;
}

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

/* Under the readers' lock: later marks go to the next segment, and earlier ones are
 * added to the ledgers. */
static int cut(uint64_t now)
{
    gnomon__step_lock();
    this_stage.first = gnomon__stage_first_mark();
    gnomon__step_unlock();
    int code = gnomon__segments_add(gnomon__segment, gnomon__stage_ordinal());
    gnomon__segments_name(&this_stage.reported.key);
    if (this_stage.unreached)
        code = take_views() ? GNOMON_ENOMEM : code;
    this_stage.unreached = gnomon__cut(now);
    code = take_views() ? GNOMON_ENOMEM : code;
    for (gnomon__view *v = gnomon__views; v && code; v = v->next)
        v->ledger.open.is_incomplete = 1;
    gnomon__segments_sweep();
    return code;
}

static void log_lost(int code)
{
    if (code)
        gnomon__log("no memory for what a stage recorded: some of it is "
                    "missing in its profile");
}

void gnomon__stage_reports_over(void)
{
    gnomon__readers_lock();
    this_stage.reported = this_stage.unfinished;
    gnomon__free(this_stage.reported_name);
    this_stage.reported_name = NULL;
    gnomon__readers_unlock();
}

/* ---- The end of a stage --------------------------------------------------------------- */

/* The next one begins, unnamed. */
static void begin_next(void)
{
    gnomon__free(this_stage.reported_name);
    this_stage.reported_name = this_stage.name;
    this_stage.name = NULL;
    this_stage.was_opened = 0;
    this_stage.first = 0;
    this_stage.over++;
}

static int close_views(const gnomon__stage_record *s, uint64_t begin,
                       uint64_t end)
{
    int code = GNOMON_OK;
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        int its =
            gnomon__view_close(v, s->key.name, s->key.ordinal + 1, begin, end);
        code = code ? code : its;
    }
    return code;
}

/* After the cut. */
static uint64_t end_reported(uint64_t now)
{
    gnomon__step_lock();
    uint64_t end = gnomon__stage_end(&this_stage.reported, NULL, now);
    gnomon__step_unlock();
    gnomon__segments_name(&this_stage.reported.key);
    return end;
}

/* Marks belong to the next stage from the cut on. */
static void end_stage(void)
{
    gnomon__readers_lock();
    gnomon__step_lock();
    gnomon__windows_narrow(0);
    uint64_t now = gnomon__ticks(), begin = gnomon__stage_begin_ticks(now);
    gnomon__cycles_end(now, 0);
    gnomon__stage_describe(&this_stage.reported);
    end_stage_at(&this_stage.reported, now);
    this_stage.reported.until = now;
    this_stage.reported.is_over = 1;
    this_stage.reported.key.name = gnomon__stage_name_number(open_name());
    int lost = gnomon__steps_end(&this_stage.reported.steps, begin, now);
    gnomon__step_unlock();
    int code = cut(now);
    int closed = close_views(&this_stage.reported, begin, end_reported(now));
    gnomon__stage_names_add(&this_stage.reported);
    gnomon__stage_span_add(now, &this_stage.reported.key);
    gnomon__step_lock();
    begin_next();
    uint32_t unnotified = gnomon__windows_move(0, 1, now);
    gnomon__step_unlock();
    gnomon__readers_unlock();
    gnomon__windows_notify(unnotified, NULL);
    log_lost(code | closed | lost);
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

/* Closes the records of profilers that leave; the stage stays open. */
static void close_leaving(void)
{
    gnomon__readers_lock();
    gnomon__step_lock();
    uint64_t now = gnomon__ticks(), begin = gnomon__stage_begin_ticks(now);
    gnomon__cycles_end(now, 1);
    gnomon__stage_describe(&this_stage.reported);
    this_stage.reported.until = now;
    this_stage.reported.key.name = gnomon__stage_name_number(open_name());
    int lost = gnomon__steps_flush(&this_stage.reported.steps, begin, now);
    gnomon__step_unlock();
    int code = cut(now);
    uint64_t end = end_reported(now);
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        if (gnomon__view_leaves(v) &&
            gnomon__view_close(v, this_stage.reported.key.name,
                               gnomon__stage_ordinal(), begin, end))
            code = GNOMON_ENOMEM;
    this_stage.unfinished = this_stage.reported;
    gnomon__readers_unlock();
    log_lost(code | lost);
}

/* Takes late records only; no stage is added. */
static int settle_late(void)
{
    int is_any = 0;
    gnomon__work_flush();
    gnomon__readers_lock();
    gnomon__stage_describe(&this_stage.reported);
    int code = cut(gnomon__ticks());
    this_stage.reported.name = NULL; /* there is nothing of it to report */
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
    if (gnomon__stage_is_due()) {
        close_leaving();
        gnomon__report_stage(1);
    } else if (settle_late()) {
        gnomon__report_late();
    }
    gnomon__report_run(1);
    memset(&this_stage.unfinished, 0, sizeof this_stage.unfinished);
    gnomon__stage_reports_over();
}

void gnomon__run_over(void)
{
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
    this_stage.was_opened = 1;
    this_stage.opened = gnomon__ticks();
    this_stage.name = name;
    gnomon__steps_begin(this_stage.opened);
    uint32_t unnotified =
        gnomon__windows_move(gnomon__stage_steps(), 0, this_stage.opened);
    gnomon__step_unlock();
    gnomon__readers_unlock();
    return unnotified;
}

/* ---- All of a name --------------------------------------------------------------------- */

/* In the order of first begins; the name "" (number 0) is last. */
static uint32_t name_at(uint32_t index)
{
    return index + 1 < gnomon__stage_name_count() ? index + 1 : 0;
}

static int is_reported(uint32_t number)
{
    const gnomon__named_stages *n = gnomon__stages_named(number);
    return (n && n->count) || (this_stage.unfinished.count &&
                               this_stage.unfinished.key.name == number);
}

int gnomon__stage_report_named(uint32_t index, int *is_last)
{
    uint32_t number = name_at(index), count = gnomon__stage_name_count();
    const gnomon__named_stages *n = gnomon__stages_named(number);
    if (index >= count)
        return -1;
    *is_last = 1;
    while (++index < count)
        *is_last &= !is_reported(name_at(index));
    this_stage.reported = this_stage.unfinished;
    if (!this_stage.unfinished.count ||
        this_stage.unfinished.key.name != number)
        this_stage.reported = (gnomon__stage_record){
            .name = n->name,
            .key = {n->ordinal, number, n->begin_ns, n->end_ns},
            .count = n->count,
            .is_over = 1,
            .steps = &n->steps};
    return is_reported(number);
}

/* ---- A run's begin -------------------------------------------------------------------- */

void gnomon__stages_restart(void)
{
    gnomon__readers_lock();
    gnomon__step_lock();
    gnomon__stage_names_clear();
    begin_next();
    this_stage.over = 0;
    gnomon__segments_forget();
    gnomon__segments_clear();
    gnomon__steps_restart();
    gnomon__step_unlock();
    gnomon__stage_spans_clear();
    gnomon__metadata_clear();
    gnomon__readers_unlock();
}
