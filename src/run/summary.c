/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Summaries: a profile of the profiler's view, its text into a buffer, the
 * footer after it, and out. Inside control calls; marks go on meanwhile. */
#include <string.h>

#include "device/describe.h"
#include "device/timers.h"
#include "mark/calibrate.h"
#include "mark/region.h"
#include "mark/sink.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "report/footer.h"
#include "run/run.h"

#define DEVICE_WAIT_NS 1000000000

static gnomon_health health_before; /* at the open stage's begin */

int gnomon__snapshot_facts(const gnomon__attachment *a,
                           const gnomon__run_facts *facts, gnomon__model **out)
{
    const gnomon__view *v = a->view;
    *out = NULL;
    if (v->tree_bit == GNOMON__BITS || !(a->profiler.wants & GNOMON_WANT_TREE))
        return GNOMON_OK;
    int code = gnomon__snapshot(out, v->tree_bit, v->generation, facts);
    return code ? gnomon__fail(code, "no memory for a profile") : GNOMON_OK;
}

int gnomon__snapshot_of(const gnomon__attachment *a, int all_stages,
                        gnomon__model **out)
{
    gnomon__run_facts facts;
    *out = NULL;
    int code = gnomon__facts_take(&facts);
    if (code)
        return code;
    if (!all_stages) { /* the open one is the last */
        facts.stages[0] = facts.stages[facts.stage_count - 1];
        facts.stage_count = 1;
    }
    code = gnomon__snapshot_facts(a, &facts, out);
    gnomon__facts_free(&facts);
    return code;
}

static int put_metadata(const char *key, const char *json)
{
    return gnomon__metadata_put(gnomon__text_of(key, GNOMON_TO_NUL),
                                gnomon__text_of(json, GNOMON_TO_NUL));
}

/* Device times that are over are read. Where a stage ends it is waited for those
 * that are not, as long as its profilers' `wait` allows. */
static void read_devices(int is_end)
{
    int64_t wait = 0;
    for (const gnomon__attachment *a = gnomon__attachments; is_end && a;
         a = a->next) {
        int64_t its = DEVICE_WAIT_NS;
        if (gnomon__option_find(gnomon__options_of(&a->profiler), "wait"))
            its = gnomon__options_number(a->options, "wait");
        if ((a->profiler.wants & GNOMON_WANT_DEVICE) && its > wait)
            wait = its;
    }
    gnomon__timers_read((uint64_t)wait, is_end);
    gnomon__describe_tell(put_metadata);
}

static int summarize(gnomon__attachment *a, const gnomon_profile *profile,
                     gnomon__buffer *b)
{
    int code = a->profiler.summary(a->self, profile, &b->writer);
    if (b->code)
        return gnomon__fail(b->code, "no memory for the report of %s",
                            a->profiler.name);
    if (code < 0)
        return gnomon__fail(GNOMON_EPLUGIN, "%s: summary failed (%s)",
                            a->profiler.name, gnomon_error_name(code));
    return GNOMON_OK;
}

/* ---- When a stage ends ----------------------------------------------------------- */

static void collect_facts(const gnomon__attachment *a,
                          gnomon__footer_facts *facts)
{
    const gnomon__view *v = a->view;
    memset(facts, 0, sizeof *facts);
    facts->rank_excluded = !v->rank_on;
    facts->scheduled = v->scheduled && !load_relaxed(&v->was_active);
    facts->regions_seen = gnomon__region_count();
    if (facts->regions_seen)
        facts->regions_seen--; /* "(other)" is ours */
    gnomon__lock();
    if (v->tree_bit < GNOMON__BITS)
        facts->regions_excluded = gnomon__region_excluded(v->tree_bit);
    gnomon__unlock();
    facts->steps_made = gnomon__stage_steps();
    facts->first_active_step =
        v->scheduled ? gnomon__schedule_next_active(&v->schedule, 0) : 0;
    facts->pid = gnomon__os_pid();
    facts->forked_from = gnomon__fork_parent();
    facts->pair_ns = gnomon__calibrate_pair_ns();
    facts->before = health_before;
    facts->after.struct_size = sizeof facts->after;
    gnomon_health_get(&facts->after);
}

static void report_text(gnomon__attachment *a, const gnomon__model *m, int code)
{
    gnomon__buffer b;
    gnomon__buffer_init(&b, a);
    if (!code)
        code = summarize(a, m ? &m->base : NULL, &b);
    if (code) { /* a report comes whole or not at all; the footer may still */
        gnomon__log("%s", gnomon_error_text());
        gnomon__buffer_free(&b);
        gnomon__buffer_init(&b, a);
    }
    if (b.length && b.text[b.length - 1] != '\n') /* as Lightning's may end */
        b.writer.write(&b.writer, "\n", 1);
    gnomon__footer_facts facts;
    collect_facts(a, &facts);
    /* Where nobody has a profile, whoever reports tells what went wrong. */
    if (m || !gnomon__tree_bits)
        gnomon__footer(m ? &m->base : NULL, &facts, &b.writer);
    gnomon__output(a, b.text, b.length);
    gnomon__buffer_free(&b);
}

/* The text first: where time or memory is short, that is what is read. */
static void report_one(gnomon__attachment *a)
{
    gnomon__model *m = NULL;
    int is_kept = gnomon__profile_is_kept(a);
    if (!a->profiler.summary && !is_kept)
        return;
    int code = gnomon__snapshot_of(a, 0, &m);
    if (a->profiler.summary)
        report_text(a, m, code);
    if (is_kept)
        gnomon__profile_keep(a, m);
    if (m)
        gnomon_profile_free(&m->base);
}

void gnomon__report_stage(int of_specs)
{
    if (!gnomon__stage_is_due())
        return;
    read_devices(1);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->word || !of_specs)
            report_one(a);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->profiler.teardown && (a->word || !of_specs))
            a->profiler.teardown(a->self, gnomon__stage_name());
    if (of_specs)
        return;
    health_before.struct_size = sizeof health_before;
    gnomon_health_get(&health_before);
}

void gnomon__reports_forget(void)
{
    memset(&health_before, 0, sizeof health_before);
}

/* ---- When somebody asks -------------------------------------------------------------- */

static int not_attached(gnomon__text name)
{
    if (!name.at)
        name = gnomon__text_of("(null)", GNOMON_TO_NUL);
    return gnomon__fail(GNOMON_ENOENT, "no profiler '%.*s' is attached",
                        (int)(name.length < 256 ? name.length : 256), name.at);
}

int gnomon_summary_n(const char *profiler, size_t length,
                     const gnomon_writer *out)
{
    GNOMON__FORWARD_CONTROL(summary(profiler, length, out));
    gnomon__text name = gnomon__text_of(profiler, length);
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__run_ready();
    read_devices(0);
    gnomon__model *m = NULL;
    gnomon__buffer b;
    gnomon__attachment *a = gnomon__attachment_named(name);
    gnomon__buffer_init(&b, a);
    if (!a)
        code = not_attached(name);
    else if (!out || !out->write)
        code = gnomon__fail(GNOMON_EINVAL, "gnomon_summary: no writer");
    else
        code = gnomon__snapshot_of(a, 0, &m);
    if (!code && a && a->profiler.summary)
        code = summarize(a, m ? &m->base : NULL, &b);
    if (m)
        gnomon_profile_free(&m->base);
    gnomon__control_leave();
    /* The caller's own code, outside: it may call us. */
    if (!code && b.length && out && out->write)
        code = out->write(out, b.text, b.length);
    gnomon__buffer_free(&b);
    return code;
}

int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    return gnomon_summary_n(profiler, GNOMON_TO_NUL, out);
}

int gnomon_snapshot_n(gnomon_profile **out, const char *profiler, size_t length,
                      int all_stages)
{
    GNOMON__FORWARD_CONTROL(snapshot(out, profiler, length, all_stages));
    if (!out)
        return GNOMON_EINVAL;
    *out = NULL;
    gnomon__text name = gnomon__text_of(profiler, length);
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__run_ready();
    read_devices(0);
    gnomon__model *m = NULL;
    gnomon__attachment *a = gnomon__attachment_named(name);
    code = a ? gnomon__snapshot_of(a, all_stages, &m) : not_attached(name);
    if (!code && !m)
        code = gnomon__fail(GNOMON_ESTATE, "%s records no profile",
                            a->profiler.name);
    if (m)
        *out = &m->base;
    gnomon__control_leave();
    return code;
}

int gnomon_snapshot(gnomon_profile **out, const char *profiler, int all_stages)
{
    return gnomon_snapshot_n(out, profiler, GNOMON_TO_NUL, all_stages);
}
