/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Views: the filter, schedule and ranks under which profilers share a call tree. Called
 * inside control calls, but for the filter's upcall, which runs under the lock of
 * marks, and for snapshots. So views are changed under all locks. */
#include <stdio.h>
#include <string.h>

#include "mark/observer.h"
#include "mark/tape.h"
#include "mark/upcall.h"
#include "platform/ticks.h"
#include "platform/error.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/run.h"

static uint32_t view_count GNOMON__OF_PROCESS;

static void lock_all(void)
{
    gnomon__readers_lock();
    gnomon__step_lock();
    gnomon__lock();
}

static void unlock_all(void)
{
    gnomon__unlock();
    gnomon__step_unlock();
    gnomon__readers_unlock();
}

/* A bit that is being attached may have no view yet: then 0. */
int gnomon__upcall_wants(uint32_t bit, const char *name, const char *category)
{
    const gnomon__view *v = gnomon__views;
    while (v && !(v->bits >> bit & 1))
        v = v->next;
    return v && v->rank_on &&
           (!name || gnomon__filter_takes(v->filter, name, category));
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* "filter=a*,schedule=wait:1"; "" where there is none of them. NULL: no memory. */
static char *view_words(const gnomon__options *o, int always)
{
    static const char *const keys[] = {"filter", "exclude", "schedule",
                                       "ranks"};
    enum { KEYS = sizeof keys / sizeof *keys, RANKS = KEYS - 1, SCHEDULE = 2 };
    size_t size = 1, used = 0;
    const char *texts[KEYS];
    for (int i = 0; i < KEYS; i++) {
        const char *text = texts[i] = gnomon__options_text(o, keys[i]);
        if ((i == RANKS && text &&
             strcmp(text, "all") == 0) || /* its default */
            (i == SCHEDULE && always))
            text = texts[i] = NULL;
        size += text ? strlen(keys[i]) + strlen(text) + 2 : 0;
    }
    char *words = gnomon__alloc(size);
    for (int i = 0; words && i < KEYS; i++)
        if (texts[i])
            used += (size_t)snprintf(words + used, size - used, "%s%s=%s",
                                     used ? "," : "", keys[i], texts[i]);
    return words;
}

static void free_view_parts(gnomon__view *v)
{
    gnomon__filter_destroy(v->filter);
    gnomon__free(v->ranks);
    gnomon__free(v->words);
}

int gnomon__view_find(gnomon__view **out, const gnomon__options *o,
                      uint32_t batch, int always)
{
    char why[128];
    gnomon__view made = {.batch = batch, .refs = 1};
    const char *schedule = always ? NULL : gnomon__options_text(o, "schedule");
    const char *ranks = gnomon__options_text(o, "ranks");
    made.scheduled = schedule && !gnomon__schedule_parse(
                                     &made.schedule, schedule, why, sizeof why);
    made.rank_on = gnomon__ranks_hold(ranks, gnomon__run_rank()->rank);
    if (!(made.words = view_words(o, always)) ||
        (ranks && !(made.ranks = gnomon__strdup(ranks))) ||
        gnomon__filter_create(&made.filter, gnomon__options_text(o, "filter"),
                              gnomon__options_text(o, "exclude"))) {
        free_view_parts(&made);
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a view");
    }
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        if (v->batch == batch && v->scheduled == made.scheduled &&
            same_text(v->ranks, made.ranks) &&
            memcmp(&v->schedule, &made.schedule, sizeof v->schedule) == 0 &&
            gnomon__filter_equal(v->filter, made.filter)) {
            free_view_parts(&made);
            v->refs++;
            *out = v;
            return GNOMON_OK;
        }
    }
    gnomon__view *v = gnomon__alloc(sizeof *v);
    if (!v) {
        free_view_parts(&made);
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a view");
    }
    *v = made;
    v->number = batch == GNOMON__BATCH_OF_STEPS ? UINT32_MAX : ++view_count;
    lock_all();
    v->ledger.ordinal = gnomon__stage_ordinal();
    v->since = gnomon__steps_were_made() ? gnomon__ticks() : 0;
    v->next = gnomon__views;
    gnomon__views = v;
    unlock_all();
    *out = v;
    return GNOMON_OK;
}

static void drop_recorder(const gnomon__recorder *r, gnomon__kept *kept)
{
    if (!kept)
        return;
    if (r->empty)
        r->empty(kept);
    if (r->join)
        (void)r->join(kept, NULL);
    else
        gnomon__observer_detach(kept->bit);
    gnomon__free(kept);
}

static void drop_tape(const gnomon__view *v)
{
    if (!v->tape)
        return;
    uint32_t bit = v->tape->bit, generation = v->tape->generation;
    drop_recorder(&gnomon__tape_recorder, v->tape);
    gnomon__tape_stop(bit, generation);
}

void gnomon__view_drop(gnomon__view *v)
{
    if (--v->refs)
        return;
    lock_all();
    gnomon__view **at = &gnomon__views;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    unlock_all();
    drop_tape(v);
    gnomon__free(v->step_begins);
    drop_recorder(&gnomon__tree_recorder, v->tree);
    for (int i = 0; i < GNOMON__RECORDERS; i++)
        drop_recorder(gnomon__recorders[i], v->kept[i]);
    gnomon__files_drop(v->number);
    gnomon__ledger_free(&v->ledger);
    free_view_parts(v);
    gnomon__free(v);
}

void gnomon__view_add_bit(gnomon__view *v, uint32_t bit)
{
    lock_all();
    v->bits |= 1u << bit;
    unlock_all();
    gnomon__observer_filter(bit);
}

void gnomon__views_rank(int32_t rank)
{
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        lock_all();
        v->rank_on = gnomon__ranks_hold(v->ranks, rank);
        unlock_all();
        for (uint32_t rest = v->bits; rest; rest &= rest - 1)
            gnomon__observer_filter((uint32_t)__builtin_ctz(rest));
        gnomon__work_rank(v);
    }
    gnomon__windows_refresh(0);
}

/* ---- Its recorders --------------------------------------------------------------- */

/* *at: what it keeps for the view; not NULL: the view has the recorder. Its bit is not
 * in the view yet, so its window stays closed. */
static int attach_recorder(gnomon__view *v, const gnomon__recorder *r,
                           gnomon__kept **at)
{
    gnomon__kept *kept = gnomon__alloc(r->kept_bytes);
    if (!kept) {
        gnomon__fail(GNOMON_ENOMEM, "no memory for the recorder '%s'", r->name);
        return GNOMON_ENOMEM;
    }
    int code = r->join ? r->join(kept, v->tree)
                       : gnomon__observer_attach(r, NULL, NULL, &kept->bit);
    if (code) {
        gnomon__free(kept);
        return code;
    }
    kept->generation = gnomon__observers[kept->bit].generation;
    lock_all();
    *at = kept;
    v->counts_steps |= r->count_step != NULL;
    unlock_all();
    return GNOMON_OK;
}

static int add_recorder(gnomon__view *v, const gnomon__recorder *r,
                        gnomon__kept **at)
{
    int code = *at ? GNOMON_OK : attach_recorder(v, r, at);
    if (!code && !(v->bits >> (*at)->bit & 1))
        gnomon__view_add_bit(v, (*at)->bit);
    return code;
}

int gnomon__view_need_tape(gnomon__view *v, gnomon__view *base,
                           gnomon__keep keep)
{
    if (v->tape)
        return GNOMON_OK;
    uint64_t *begins =
        keep.steps ? gnomon__alloc(keep.steps * sizeof *begins) : NULL;
    if (keep.steps && !begins)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a view");
    int code = attach_recorder(v, &gnomon__tape_recorder, &v->tape);
    if (code) {
        gnomon__free(begins);
        return code;
    }
    v->base = base;
    v->keep = keep;
    gnomon__tape_start(v->tape->bit, v->tape->generation, base->tree->bit,
                       keep.mode);
    gnomon__step_lock();
    v->step_begins = begins; /* steps use the tape from now on */
    gnomon__step_unlock();
    gnomon__view_add_bit(v, v->tape->bit);
    return GNOMON_OK;
}

int gnomon__view_need(gnomon__view *v, uint32_t wants)
{
    if (!(wants & GNOMON_WANT_TREE))
        return GNOMON_OK;
    int code = add_recorder(v, &gnomon__tree_recorder, &v->tree);
    for (int i = 0; !code && i < GNOMON__RECORDERS; i++)
        if (wants & gnomon__recorders[i]->wants)
            code = add_recorder(v, gnomon__recorders[i], &v->kept[i]);
    return code;
}

int gnomon__view_read(const gnomon__view *v, gnomon__totals *to, uint64_t begin,
                      uint64_t now)
{
    int ok = 1;
    for (int i = 0; i < GNOMON__RECORDERS; i++)
        if (v->kept[i])
            ok &= gnomon__recorders[i]->read(v->kept[i], to, begin, now);
    return ok;
}

int gnomon__views_flush(uint64_t begin, uint64_t now)
{
    int ok = 1;
    for (gnomon__view *v = gnomon__views; v; v = v->next) {
        ok &= gnomon__view_read(v, &v->ledger.open, begin, now);
        for (int i = 0; i < GNOMON__RECORDERS; i++)
            if (v->kept[i])
                gnomon__recorders[i]->empty(v->kept[i]);
    }
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

/* ---- Its ledger ------------------------------------------------------------------ */

int gnomon__view_take(gnomon__view *v)
{
    if (!v->tree)
        return GNOMON_OK;
    int code =
            gnomon__ledger_take(&v->ledger, v->tree->bit, v->tree->generation),
        work = gnomon__work_take(v, 0);
    return code ? code : work;
}

static uint64_t recorded_until(const gnomon__view *v, uint64_t begin,
                               uint64_t end)
{
    uint64_t since = v->open_since > begin ? v->open_since : begin;
    uint64_t ticks = v->open_before, before = 0;
    if (!v->is_open && v->open_since > end) { /* it was closed after the end */
        uint64_t idle = v->open_since - end;
        ticks -= idle < ticks ? idle : ticks;
    }
    if (ticks)
        before = gnomon__line_scale(ticks, gnomon__clock_rate(begin, end));
    return before + (v->is_open ? gnomon__clock_between(since, end) : 0);
}

uint64_t gnomon__view_recorded(const gnomon__view *v, uint64_t now)
{
    gnomon__step_lock();
    uint64_t ns = recorded_until(v, gnomon__stage_begin_ticks(now), now);
    gnomon__step_unlock();
    return ns;
}

int gnomon__view_close(gnomon__view *v, uint32_t name, uint32_t next,
                       uint64_t begin, uint64_t end)
{
    gnomon__step_lock();
    uint64_t recorded = recorded_until(v, begin, end);
    v->was_active_then = v->was_active;
    store_relaxed(&v->was_active, v->is_open);
    v->open_before = 0;
    v->open_since = end;
    gnomon__step_unlock();
    return gnomon__ledger_close(&v->ledger, name, next, recorded);
}
