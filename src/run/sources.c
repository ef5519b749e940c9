/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices: the views that want it, and what its sources are asked for. */
#include <string.h>

#include "device/activity.h"
#include "device/cupti_source.h"
#include "device/timers.h"
#include "platform/error.h"
#include "record/activities.h"
#include "record/ledger_activities.h"
#include "profilers/cupti_kinds.h"
#include "run/run.h"

/* How long sources may take to tell what is over, outside of a stage's report. */
#define WORK_WAIT_NS 1000000000u

/* ---- What is wanted ------------------------------------------------------------- */

#define EVERY_KIND ((2u << GNOMON_DEVICE_COLLECTIVE) - 1)

/* `cupti` has options for it; others get all. */
static void add_wants(gnomon__cupti_wants *sum, const gnomon__attachment *a)
{
    gnomon__cupti_wants its = {.kinds = EVERY_KIND, .runtime = 1, .driver = 1};
    if (strcmp(a->profiler.name, "cupti") == 0) {
        gnomon__cupti_wants_read(
            &its, gnomon__options_text(a->options, "kinds"),
            gnomon__options_text(a->options, "graphs"), NULL);
        its.kinds |= 1u << GNOMON_DEVICE_COLLECTIVE;
    }
    sum->kinds |= its.kinds;
    sum->runtime |= its.runtime;
    sum->driver |= its.driver;
    sum->by_node |= its.by_node;
}

/* What any attachment wants is recorded; `comes` is one that is not in the list yet. A
 * graph by its nodes is not recorded as one piece of work. */
static void tell_wants(const gnomon__attachment *comes)
{
    gnomon__cupti_wants sum = {0};
    if (comes)
        add_wants(&sum, comes);
    for (const gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->is_worked)
            add_wants(&sum, a);
    if (sum.by_node)
        sum.kinds &= ~(1u << GNOMON_DEVICE_GRAPH);
    gnomon__cupti_calls_wanted(sum.runtime, sum.driver);
    if (sum.kinds)
        gnomon__sources_want(sum.kinds);
}

/* CUPTI is there from the first profiler on that wants work. */
static void add_own_source(void)
{
    static int is_added;
    if (!is_added)
        is_added = !gnomon__sources_add(gnomon__cupti_source());
}

/* ---- Views ------------------------------------------------------------------------ */

/* What the ledger has names numbers of tables that go with the last view. `others`:
 * whether the view still has work of another kind. */
static void forget_work(gnomon__view *v, int others)
{
    gnomon__readers_lock();
    if (!others)
        gnomon__ledger_drop_activities(&v->ledger);
    gnomon__activities_unwatch(v->tree->generation);
    gnomon__readers_unlock();
}

static void unwatch_work(gnomon__view *v)
{
    gnomon__sources_unwatch();
    forget_work(v, v->timed != 0);
}

int gnomon__times_need(gnomon__view *v)
{
    const uint32_t bit = v->tree->bit, generation = v->tree->generation;
    int code = v->timed ? GNOMON_OK : gnomon__timers_watch(bit, generation);
    v->timed += !code;
    return code;
}

void gnomon__times_drop(gnomon__view *v)
{
    if (--v->timed)
        return;
    gnomon__timers_unwatch(v->tree->generation);
    forget_work(v, v->has_work);
}

static int watch_work(gnomon__view *v)
{
    int wanted = v->worked && v->rank_on, code = GNOMON_OK;
    if (wanted && !v->has_work)
        code = gnomon__sources_watch(v->tree->bit, v->tree->generation);
    else if (!wanted && v->has_work)
        unwatch_work(v);
    if (!code)
        v->has_work = wanted;
    return code;
}

int gnomon__work_need(gnomon__attachment *a, int *is_missing)
{
    const char *name, *why;
    gnomon__view *v = a->view;
    v->worked++;
    add_own_source();
    tell_wants(a);
    int code = watch_work(v);
    if (code) {
        v->worked--;
        return code;
    }
    a->is_worked = 1;
    *is_missing = v->has_work && !gnomon__sources_open(&name, &why);
    if (*is_missing && why)
        gnomon__log("%s: no kernels and copies: %s: %s; falling back to CUDA "
                    "events",
                    a->profiler.name, name, why);
    else if (*is_missing)
        gnomon__log("%s: no kernels and copies: no library here reports them; "
                    "scopes on streams are timed instead",
                    a->profiler.name);
    return code;
}

void gnomon__work_drop(gnomon__attachment *a)
{
    if (!a->is_worked)
        return;
    a->is_worked = 0;
    a->view->worked--;
    tell_wants(NULL);
    (void)watch_work(a->view);
}

void gnomon__work_flush(void)
{
    gnomon__sources_flush(WORK_WAIT_NS);
}

void gnomon__work_tapes(void)
{
    for (const gnomon__view *v = gnomon__views; v; v = v->next) {
        uint32_t bits = 0;
        if (!v->has_work && !v->timed)
            continue;
        for (const gnomon__view *w = gnomon__views; w; w = w->next)
            if (w->tape && w->base == v)
                bits |= 1u << w->tape->bit;
        gnomon__activities_keep(v->tree->generation, bits);
    }
}

void gnomon__work_rank(gnomon__view *v)
{
    if (watch_work(v))
        gnomon__log("no work of devices: %s", gnomon_error_text());
}

int gnomon__work_take(gnomon__view *v, int is_report)
{
    return v->has_work || v->timed
               ? gnomon__ledger_take_activities(
                     &v->ledger, v->tree->generation,
                     is_report ? GNOMON__TAKE_AT_REPORT : GNOMON__TAKE_AT_CUT)
               : GNOMON_OK;
}
