/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports: takes a profile of the profiler's view, has its summary written to a buffer,
 * adds the footer, and outputs both. Inside control calls; marks go on meanwhile. */
#include <string.h>

#include "device/activity.h"
#include "device/cupti_source.h"
#include "device/clocks.h"
#include "device/timers.h"
#include "mark/calibrate.h"
#include "mark/region.h"
#include "mark/observer.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/process.h"
#include "print/footer.h"
#include "profile/model.h"
#include "run/notes.h"
#include "run/files.h"
#include "run/host.h"
#include "run/run.h"
#include "run/snapshots.h"

#define DEVICE_WAIT_NS 1000000000

/* At the open stage's begin. */
static gnomon_health health_before GNOMON__OF_PROCESS;
static gnomon_health health_run GNOMON__OF_PROCESS; /* at the run's */

int gnomon__attachment_has_tree(const gnomon__attachment *a)
{
    return a->view->tree && (a->profiler.wants & GNOMON_WANT_TREE);
}

static int write_metadata(const char *key, const char *json)
{
    return gnomon__metadata_put(gnomon__text_of(key, GNOMON_TO_NUL),
                                gnomon__text_of(json, GNOMON_TO_NUL));
}

void gnomon__devices_read(int is_end)
{
    int64_t wait = 0;
    for (const gnomon__attachment *a = gnomon__attachments; is_end && a;
         a = a->next) {
        int64_t its = DEVICE_WAIT_NS;
        if (gnomon__option_find(gnomon__options_of(&a->profiler), "wait"))
            its = gnomon__options_number(a->options, "wait");
        if ((a->is_timed || a->is_worked) && its > wait)
            wait = its;
    }
    gnomon__timers_read((uint64_t)wait, is_end);
    gnomon__sources_flush((uint64_t)wait);
    gnomon__describe_each(write_metadata);
    gnomon__cupti_describe(write_metadata);
}

static void take_devices(void)
{
    int code = GNOMON_OK;
    gnomon__devices_read(1);
    gnomon__readers_lock();
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        int its = gnomon__work_take(v, 1);
        code = code ? code : its;
    }
    gnomon__readers_unlock();
    if (code)
        gnomon__log("no memory for the device times of a stage");
}

int gnomon__summarize(gnomon__attachment *a, const gnomon_profile *profile,
                      gnomon__buffer *b)
{
    gnomon__fail_reason_clear();
    int code = a->profiler.summary(a->self, profile, &b->writer);
    if (b->code)
        return gnomon__fail(b->code, "no memory for the report of %s",
                            a->profiler.name);
    if (code < 0)
        return gnomon__fail(GNOMON_EPLUGIN, "%s: summary failed (%s)",
                            a->profiler.name, gnomon__fail_reason(code));
    return GNOMON_OK;
}

/* Whether its reports come at the run's end. */
static int is_at_end(const gnomon__attachment *a)
{
    const char *at = gnomon__options_text(a->options, "at");
    return (a->profiler.wants & GNOMON_WANT_RUN) ||
           (at && gnomon__same_word(at, "end"));
}

/* Also with a schedule's thread: run_end_thread must see that no other thread is left. */
int gnomon__end_has_reports(void)
{
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->profiler.summary || a->profiler.teardown || a->profiler.events ||
            a->window->scheduled || gnomon__profile_is_kept(a))
            return 1;
    return 0;
}

/* ---- One report -------------------------------------------------------------------- */

static void collect_footer(const gnomon__attachment *a,
                           gnomon__footer_input *footer)
{
    const gnomon__view *v = a->view, *w = a->window;
    const gnomon__whole_steps *steps = gnomon__stage.reported.steps;
    memset(footer, 0, sizeof *footer);
    footer->rank_excluded = !v->rank_on;
    footer->scheduled = w->scheduled && !w->was_active_then;
    footer->regions_seen = gnomon__region_count() - gnomon__op_region_count();
    if (footer->regions_seen)
        footer->regions_seen--; /* "(other)" is ours */
    gnomon__lock();
    if (v->tree)
        footer->regions_excluded = gnomon__region_excluded(v->tree->bit);
    gnomon__unlock();
    footer->steps_made = steps ? steps->time.s.count : 0;
    footer->first_active_step =
        w->scheduled ? gnomon__schedule_next_active(&w->schedule, 0) : 0;
    footer->pid = gnomon__os_pid();
    footer->forked_from = gnomon__fork_parent();
    footer->pair_ns = gnomon__calibrate_pair_ns();
    footer->own_opens = is_at_end(a) && !(a->profiler.wants & GNOMON_WANT_RUN);
    gnomon__memory_print(footer->memory, sizeof footer->memory);
    footer->before = health_before;
    footer->after.struct_size = sizeof footer->after;
    gnomon_health_get(&footer->after);
}

/* Lines on late records of earlier stages. */
static void print_late(const gnomon__attachment *a, const gnomon_writer *out)
{
    gnomon__model *m = NULL;
    uint32_t which = 0;
    while (gnomon__attachment_has_tree(a) &&
           !gnomon__snapshot_late(&m, a->view, which++, NULL) && m) {
        gnomon__footer_late(&m->base, out);
        gnomon_profile_free(&m->base);
    }
}

/* The footer of `m`. `before`: health at the begin; NULL: no lines on health. */
static void put_footer(gnomon__attachment *a, const gnomon__model *m,
                       const gnomon_health *before, const gnomon_writer *out)
{
    gnomon__footer_input footer;
    collect_footer(a, &footer);
    footer.before = before ? *before : footer.after;
    /* If no profiler has a profile, each report has the lines on health. */
    const gnomon__view *v = gnomon__views;
    while (v && !v->tree)
        v = v->next;
    if (m || !v)
        gnomon__footer(m ? &m->base : NULL, &footer, out);
}

int gnomon__report_is_data(const gnomon__attachment *a)
{
    const char *format =
        gnomon__option_find(gnomon__options_of(&a->profiler), "format")
            ? gnomon__options_text(a->options, "format")
            : NULL;
    return format && (gnomon__same_word(format, "csv") ||
                      gnomon__same_word(format, "json"));
}

static void report_text(gnomon__attachment *a, const gnomon__model *m, int code,
                        const gnomon_health *before)
{
    gnomon__buffer b, lines;
    gnomon__buffer_init(&b, a);
    gnomon__buffer_init(&lines, NULL);
    gnomon_writer *footer =
        gnomon__report_is_data(a) ? &lines.writer : &b.writer;
    if (!code)
        code = gnomon__summarize(a, m ? &m->base : NULL, &b);
    if (code) { /* no half reports; the footer is still written */
        gnomon__log("%s", gnomon_error_text());
        gnomon__buffer_free(&b);
        gnomon__buffer_init(&b, a);
    }
    if (b.length && b.text[b.length - 1] != '\n') /* Lightning's may lack it */
        b.writer.write(&b.writer, "\n", 1);
    put_footer(a, m, before, footer);
    if (!is_at_end(a)) /* else it is in the report */
        print_late(a, footer);
    gnomon__output(a, b.text, b.length);
    gnomon__output_plain(lines.text, lines.length);
    gnomon__buffer_free(&b);
    gnomon__buffer_free(&lines);
}

/* ---- When a stage ends ----------------------------------------------------------- */

/* A table that lacks rows is an error: a reader could not see that. */
static int check_whole(const gnomon__attachment *a,
                       const gnomon__totals *totals)
{
    return gnomon__attachment_has_tree(a) && totals->is_incomplete
               ? gnomon__fail(GNOMON_ENOMEM, "no memory for the report of %s",
                              a->profiler.name)
               : GNOMON_OK;
}

/* Of one that leaves a view to others, whose records of the stage go on. */
static int stage_until_now(gnomon__model **m, gnomon__attachment *a)
{
    gnomon__event_range room;
    gnomon__readers_lock();
    int code = gnomon__snapshot_live(
        m, a->view, 0, gnomon__events_of(a, GNOMON__TAPE_ON_TIME, &room));
    gnomon__readers_unlock();
    return code;
}

/* The text first: if time or memory runs out, it matters more than the file. */
static void report_one(gnomon__attachment *a, int leaving)
{
    gnomon__model *m = NULL;
    gnomon__event_range room;
    int is_kept = gnomon__profile_is_kept(a), code = GNOMON_OK;
    int is_text = a->profiler.summary && !is_at_end(a);
    if ((!is_text && !is_kept) || !gnomon__stage.reported.name)
        return; /* a child that a summary forked reports no stage */
    if (gnomon__attachment_has_tree(a))
        code = leaving && !gnomon__view_leaves(a->view)
                   ? stage_until_now(&m, a)
                   : gnomon__snapshot_closed(
                         &m, a->view,
                         gnomon__events_of(a, GNOMON__TAPE_ON_TIME, &room));
    if (is_text)
        report_text(a, m, code ? code : check_whole(a, &a->view->ledger.closed),
                    &health_before);
    else if (code)
        gnomon__log("%s", gnomon_error_text());
    if (is_kept)
        gnomon__profile_keep(a, m);
    if (m)
        gnomon_profile_free(&m->base);
}

static void teardown_all(int leaving, int at_end, const char *stage)
{
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->profiler.teardown && (a->leaves || !leaving) &&
            (at_end || !is_at_end(a)))
            a->profiler.teardown(a->self, stage);
}

void gnomon__report_stage(int leaving)
{
    gnomon__notes_marked();
    take_devices();
    gnomon__cycles_deliver(1, leaving);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->leaves || !leaving)
            report_one(a, leaving);
    gnomon__events_reported(leaving);
    teardown_all(leaving, 0, gnomon__stage_text());
    if (gnomon__attachments && gnomon__output_is_ours())
        gnomon__run_log_rank();
    if (leaving)
        return;
    health_before.struct_size = sizeof health_before;
    gnomon_health_get(&health_before);
}

/* ---- When the run ends ------------------------------------------------------------ */

/* In the order of first begins; the name "" (number 0) is last. */
static uint32_t name_at(uint32_t index)
{
    return index + 1 < gnomon__stage_name_count() ? index + 1 : 0;
}

static int is_reported(uint32_t number)
{
    const gnomon__named_stages *n = gnomon__stages_named(number);
    return (n && n->count) || (gnomon__stage.unfinished.count &&
                               gnomon__stage.unfinished.key.name == number);
}

/* Makes all stages of the name at `index`, 0, 1, ..., the reported ones. Returns whether
 * there are any; below 0: no such index. *is_last: later names have no stages. */
static int report_named(uint32_t index, int *is_last)
{
    uint32_t number = name_at(index), count = gnomon__stage_name_count();
    const gnomon__named_stages *n = gnomon__stages_named(number);
    if (index >= count)
        return -1;
    *is_last = 1;
    while (++index < count)
        *is_last &= !is_reported(name_at(index));
    gnomon__stage.reported = gnomon__stage.unfinished;
    if (!gnomon__stage.unfinished.count ||
        gnomon__stage.unfinished.key.name != number)
        gnomon__stage.reported = (gnomon__stage_record){
            .name = n->name,
            .key = {n->ordinal, number, n->begin_ns, n->end_ns},
            .count = n->count,
            .is_over = 1,
            .steps = &n->steps};
    return is_reported(number);
}

/* Of one name, or of all. `before` as put_footer's. */
static void report_name(gnomon__attachment *a, uint32_t name,
                        const gnomon_health *before)
{
    gnomon__model *m = NULL;
    gnomon__event_range room;
    const gnomon__ledger *l = &a->view->ledger;
    int code = gnomon__attachment_has_tree(a)
                   ? gnomon__snapshot_named(
                         &m, a->view, name,
                         gnomon__events_of(a, GNOMON__TAPE_OVER, &room))
                   : GNOMON_OK;
    if (!code && name < l->name_room)
        code = check_whole(a, &l->names[name]);
    report_text(a, m, code, before);
    if (m)
        gnomon_profile_free(&m->base);
}

/* A report for each name of stages. */
static void report_names(gnomon__attachment *a)
{
    int is_there, is_last;
    for (uint32_t i = 0; (is_there = report_named(i, &is_last)) >= 0; i++)
        if (is_there)
            report_name(a, gnomon__stage.reported.key.name,
                        is_last ? &health_run : NULL);
    gnomon__stage_reports_over();
}

void gnomon__report_run(int leaving)
{
    uint64_t until = gnomon__run_deliver(leaving);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        if (!a->profiler.summary || !is_at_end(a) || (leaving && !a->leaves))
            continue;
        if (a->profiler.wants & GNOMON_WANT_RUN)
            report_name(a, GNOMON__ALL_NAMES, &health_run);
        else
            report_names(a);
        if (a->profiler.teardown)
            a->profiler.teardown(a->self, "");
    }
    gnomon__run_delivered(leaving, until);
    health_run.struct_size = sizeof health_run;
    gnomon_health_get(&health_run);
}

/* No new marks since the last stage's end, but some of its scopes ended. */
void gnomon__report_late(void)
{
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        gnomon__buffer b;
        gnomon__buffer_init(&b, a);
        if (a->profiler.summary && !is_at_end(a))
            print_late(a, &b.writer);
        gnomon__output(a, b.text, b.length);
        gnomon__buffer_free(&b);
        if (gnomon__profile_is_kept(a))
            gnomon__profile_keep(a, NULL);
    }
    gnomon__events_reported(0);
}
