/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds slices to sums. What a thread recorded in a segment counts for the segment's
 * stage. An execution that began in an earlier segment counts for the stage in which
 * it began. */
#include "record/ledger.h"

#include <string.h>

#include "gnomon/profile.h"
#include "mark/foreign.h"
#include "mark/segment.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/ledger_activities.h"
#include "record/slice.h"
#include "record/step_sums.h"

/* ---- Paths ------------------------------------------------------------------------- */

static int keep_paths(gnomon__ledger *l, const gnomon__rows *r)
{
    if (!gnomon__grow_zeroed(&l->paths, &l->path_threads, r->thread + 1,
                             sizeof *l->paths))
        return 0;
    gnomon__paths *paths = &l->paths[r->thread];
    const size_t most = r->count ? r->rows[r->count - 1].number : 0;
    int ok = gnomon__grow_zeroed(&paths->of, &paths->room, most + 1,
                                 sizeof *paths->of);
    for (size_t i = 0; ok && i < r->count; i++) {
        const gnomon__row *row = &r->rows[i];
        paths->of[row->number] = (gnomon__path){
            row->key,
            row->parent == GNOMON__NO_ROW ? 0 : r->rows[row->parent].number,
            row->node_flags, 0};
    }
    return ok;
}

gnomon__path *gnomon__ledger_path(const gnomon__ledger *l, uint32_t thread,
                                  uint32_t path)
{
    if (thread >= l->path_threads || path >= l->paths[thread].room)
        return NULL;
    gnomon__path *p = &l->paths[thread].of[path];
    return p->key ? p : NULL;
}

/* ---- Rows ---------------------------------------------------------------------------- */

static uint16_t node_flags(const gnomon__row *row, int is_partial)
{
    const uint32_t part = row->part.flags;
    return (uint16_t)((is_partial ? GNOMON_NODE_PARTIAL : 0) |
                      (part & (GNOMON__PART_CROSSED | GNOMON__PART_MOVED)
                           ? GNOMON_NODE_CROSSED
                           : 0) |
                      (part & GNOMON__PART_CLOCK ? GNOMON_NODE_CLOCK : 0));
}

/* The cell of ns that holds the middle of a cell of ticks. Those of one rate are kept, as
 * trees have many cells and few different ones. */
static uint32_t ns_cell(const gnomon__rows *r, uint32_t cell)
{
    static uint64_t rate;
    static uint16_t known[GNOMON__TICK_CELLS]; /* plus 1; 0: not asked yet */
    if (rate != r->rate)
        memset(known, 0, sizeof known);
    rate = r->rate;
    if (!known[cell]) {
        uint64_t low = gnomon_cell_low(cell), high = gnomon_cell_low(cell + 1);
        uint64_t middle = gnomon__slice_ns(r, low + (high - low) / 2);
        known[cell] = (uint16_t)(gnomon_cell_of(middle) + 1);
    }
    return known[cell] - 1u;
}

static int add_row_cells(gnomon__total *s, const gnomon__rows *r,
                         const gnomon__row *row)
{
    const gnomon__row_cell *cells = r->cells + row->cells;
    int ok = gnomon__total_hold(s, row->cell_count);
    for (uint32_t k = 0; ok && k < row->cell_count; k++)
        gnomon__total_cell(s, ns_cell(r, cells[k].cell), cells[k].count);
    return ok;
}

/* Adds what the row recorded of executions that began in the slice's own segment. */
static int add_row(gnomon__totals *to, const gnomon__rows *r, size_t i)
{
    const gnomon__row *row = &r->rows[i];
    int is_own_open =
        row->is_on_chain && row->token && row->segment == r->segment;
    uint16_t flags = node_flags(row, row->is_partial != 0);
    int is_flags_only = !row->count && !row->self_ns && !is_own_open;
    if (is_flags_only && !flags)
        return 1;
    gnomon__total *s = is_flags_only
                           ? gnomon__totals_flags(to, r->thread, row->number)
                           : gnomon__totals_path(to, r->thread, row->number);
    if (s)
        s->flags |= flags;
    if (is_flags_only) /* its times may be in another stage of this name */
        return s != NULL;
    if (!s || !add_row_cells(s, r, row))
        return 0;
    const gnomon_stats more = {.struct_size = sizeof more,
                               .count = row->count,
                               .total_ns = gnomon__slice_ns(r, row->total),
                               .self_ns = row->self_ns,
                               .min_ns = gnomon__slice_ns(r, row->part.least),
                               .max_ns = gnomon__slice_ns(r, row->part.most)};
    gnomon_stats_add(&s->s, &more);
    gnomon__total_first(s, row->part.first);
    return 1;
}

/* The sums of a row in the segment in which an execution began; `ended` is how many did
 * so. NULL: no memory. */
static gnomon__total *sums_at_begin(gnomon__ledger *l, const gnomon__rows *r,
                                    size_t row, uint32_t segment,
                                    uint64_t ended)
{
    int is_late;
    uint32_t number = r->rows[row].number;
    gnomon__totals *to = gnomon__ledger_segment(l, segment, &is_late);
    gnomon__total *s = to ? gnomon__totals_path(to, r->thread, number) : NULL;
    if (s && is_late) {
        s->flags |= GNOMON_NODE_PARTIAL;
        to->late += ended;
    }
    return s;
}

/* The self time in this segment of an execution that began in an earlier one. */
static int add_earlier(gnomon__ledger *l, const gnomon__rows *r, size_t i)
{
    gnomon__total *s = sums_at_begin(l, r, i, r->rows[i].segment, 0);
    if (s)
        s->s.self_ns += r->rows[i].earlier_self_ns;
    return s != NULL;
}

static int add_late(gnomon__ledger *l, const gnomon__rows *r,
                    const gnomon__late *late)
{
    const uint64_t self = gnomon__slice_ns(r, late->self);
    gnomon__total *s =
        sums_at_begin(l, r, late->row, late->segment, !late->is_left);
    if (s && late->is_left) {
        s->flags |= GNOMON_NODE_CROSSED;
        s->s.self_ns += self;
    } else if (s) {
        gnomon__total_first(s, UINT64_MAX); /* after all ends in the stage */
        return gnomon__total_count(s, gnomon__slice_ns(r, late->ticks), self);
    }
    return s != NULL;
}

static int add_opens(gnomon__ledger *l, const gnomon__rows *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const gnomon__row *row = &r->rows[i];
        if (!row->is_on_chain || !row->token)
            continue;
        gnomon__stage_key stage = gnomon__segments_stage(row->segment);
        if (!stage.ordinal)
            stage.ordinal = l->ordinal;
        if (!GNOMON__ADD(
                l->opens, l->open_room, l->open_count,
                (gnomon__open_path){r->thread, row->number, stage, row->begin}))
            return 0;
    }
    return 1;
}

/* What began in an earlier segment goes on elsewhere: there, too, the path has self time
 * without an execution. */
static int has_left(const gnomon__rows *r, const gnomon__row *row)
{
    return (row->part.flags & GNOMON__PART_MOVED) && row->segment != r->segment;
}

static int add_slice(gnomon__ledger *l, const gnomon__rows *r)
{
    int ok = keep_paths(l, r), is_late;
    gnomon__totals *own = gnomon__ledger_segment(l, r->segment, &is_late);
    gnomon__totals_thread *thread =
        own ? gnomon__totals_thread_at(own, r->thread) : NULL;
    ok = ok && thread;
    if (ok)
        thread->is_inexact |= !r->is_exact;
    for (size_t i = 0; ok && i < r->counter_count; i++)
        ok = gnomon__totals_counter(thread, &r->counters[i]);
    for (size_t i = 0; ok && i < r->count; i++)
        ok = add_row(own, r, i);
    for (size_t i = 0; ok && i < r->edge_count; i++) {
        const gnomon__row_edge *e = &r->edges[i];
        const gnomon__total_edge edge = {
            e->from_thread, e->from, r->thread, e->to, e->kind, 0, e->count};
        ok = gnomon__totals_link(own, &edge);
    }
    for (size_t i = 0; ok && i < r->count; i++)
        if (r->rows[i].earlier_self_ns || has_left(r, &r->rows[i]))
            ok = add_earlier(l, r, i);
    for (size_t i = 0; ok && i < r->late_count; i++)
        ok = add_late(l, r, &r->late[i]);
    return ok && add_opens(l, r);
}

/* ---- All of it --------------------------------------------------------------------------- */

/* The lost part may belong to any of these stages, so all are incomplete. */
static void mark_incomplete(gnomon__ledger *l)
{
    l->open.is_incomplete = 1;
    for (uint32_t i = 0; i < l->late.count; i++)
        l->late.of[i].totals.is_incomplete = 1;
}

/* What began in these segments is open. */
static void hold_segments(const gnomon__rows *r)
{
    gnomon__segments_hold(r->segment);
    for (size_t i = 0; i < r->count; i++)
        if (r->rows[i].is_on_chain)
            gnomon__segments_hold(r->rows[i].segment);
}

/* What a thread has that was not cut in time comes with the next stage, but memory and work
 * of this one may name its paths. 0: no memory. */
static int keep_late(gnomon__ledger *l, const gnomon__thread *t, uint32_t bit,
                     uint32_t generation)
{
    gnomon__rows rows;
    int ok =
        !gnomon__rows_copy(&rows, t, bit, generation) &&
        (!rows.has_tree || (keep_paths(l, &rows) &&
                            gnomon__totals_thread_at(&l->open, rows.thread)));
    gnomon__rows_free(&rows);
    return ok;
}

static int add_threads(gnomon__ledger *l, uint32_t bit, uint32_t generation,
                       int is_live)
{
    int code = GNOMON_OK;
    l->open_count = 0;
    gnomon__each_thread(t) {
        gnomon__rows rows = {0};
        int is_late = !is_live && load_acquire(&t->segment) != gnomon__segment;
        int is_known = !is_late || keep_late(l, t, bit, generation);
        int its = gnomon__slice_read(&rows, t, bit, generation, is_live);
        if (!is_known || (rows.has_tree && !add_slice(l, &rows)))
            its = GNOMON_ENOMEM;
        if (!is_live)
            hold_segments(&rows);
        gnomon__rows_free(&rows);
        code = code ? code : its;
    }
    return code;
}

int gnomon__ledger_take(gnomon__ledger *l, uint32_t bit, uint32_t generation)
{
    int code = add_threads(l, bit, generation, 0);
    if (code)
        mark_incomplete(l);
    gnomon__ranges_open(gnomon__segments_hold);
    return code;
}

/* ---- Copies -------------------------------------------------------------------------------- */

static int copy_totals(gnomon__ledger *to, const gnomon__ledger *from,
                       int with_names)
{
    int ok = !gnomon__totals_add(&to->open, &from->open);
    for (uint32_t i = 0; ok && with_names && i < from->name_room; i++)
        ok = gnomon__grow_zeroed(&to->names, &to->name_room, i + 1,
                                 sizeof *to->names) &&
             !gnomon__totals_add(&to->names[i], &from->names[i]);
    for (uint32_t i = 0; ok && with_names && i < from->late.count; i++) {
        const gnomon__late_part *part = &from->late.of[i];
        gnomon__totals *late = gnomon__late_of(&to->late, part->stage);
        ok = late && !gnomon__totals_add(late, &part->totals);
    }
    return ok;
}

int gnomon__ledger_copy(gnomon__ledger *out, gnomon__ledger *l, uint32_t bit,
                        uint32_t generation, int with_names)
{
    *out = (gnomon__ledger){.ordinal = l->ordinal,
                            .closed_ordinal = l->closed_ordinal,
                            .is_copy = 1,
                            .paths = l->paths,
                            .path_threads = l->path_threads};
    /* Before the trees, so that these have all its paths. */
    int ok =
        !gnomon__ledger_take_activities(out, generation, GNOMON__TAKE_COPY);
    gnomon__foreign_settle();
    ok = ok && copy_totals(out, l, with_names) &&
         !add_threads(out, bit, generation, 1);
    l->paths = out->paths; /* with those that are new */
    l->path_threads = out->path_threads;
    if (!ok)
        gnomon__ledger_free(out);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}

static int add_name(gnomon__ledger *l, uint32_t name,
                    const gnomon__totals *from)
{
    return gnomon__grow_zeroed(&l->names, &l->name_room, name + 1,
                               sizeof *l->names)
               ? gnomon__totals_add(&l->names[name], from)
               : GNOMON_ENOMEM;
}

int gnomon__ledger_close(gnomon__ledger *l, uint32_t name, uint32_t next,
                         uint64_t recorded_ns)
{
    gnomon__totals open = l->open;
    gnomon__totals_clear(&l->closed);
    l->open = l->closed;
    l->closed = open;
    l->closed.recorded_ns = recorded_ns;
    l->closed_ordinal = l->ordinal;
    l->ordinal = next;
    int code = add_name(l, name, &l->closed),
        settled = gnomon__ledger_settle(l);
    return code ? code : settled;
}

int gnomon__ledger_settle(gnomon__ledger *l)
{
    int code = GNOMON_OK;
    gnomon__late_parts late = l->late;
    gnomon__late_clear(&l->late_reported);
    l->late = l->late_reported;
    l->late_reported = late;
    for (uint32_t i = 0; i < late.count; i++) {
        int added = add_name(l, late.of[i].stage.name, &late.of[i].totals);
        code = code ? code : added;
    }
    return code;
}

static int is_empty(const gnomon__totals *t)
{
    int has_more =
        t->thread_count || t->recorded_ns || t->late || t->is_incomplete;
    for (int i = 0; i < GNOMON__RECORDERS; i++)
        has_more |= t->sums[i] != NULL;
    return !has_more;
}

/* The first stage of its name is moved: to add up each path again takes as long as to
 * read the tree. */
int gnomon__ledger_join(gnomon__ledger *l, uint32_t name, uint64_t recorded_ns)
{
    int code = GNOMON_OK;
    l->open.recorded_ns = recorded_ns;
    if (name < l->name_room && !is_empty(&l->names[name])) {
        code = add_name(l, name, &l->open);
    } else if (gnomon__grow_zeroed(&l->names, &l->name_room, name + 1,
                                   sizeof *l->names)) {
        l->names[name] = l->open;
        l->open = (gnomon__totals){0};
    } else {
        code = GNOMON_ENOMEM;
    }
    return code ? code : gnomon__ledger_settle(l);
}

void gnomon__ledger_free(gnomon__ledger *l)
{
    for (uint32_t i = 0; !l->is_copy && i < l->path_threads; i++)
        gnomon__free(l->paths[i].of);
    for (uint32_t i = 0; i < l->name_room; i++)
        gnomon__totals_free(&l->names[i]);
    gnomon__late_clear(&l->late);
    gnomon__late_clear(&l->late_reported);
    gnomon__totals_free(&l->open);
    gnomon__totals_free(&l->closed);
    gnomon__free(l->late.of);
    gnomon__free(l->late_reported.of);
    if (!l->is_copy)
        gnomon__free(l->paths);
    gnomon__free(l->names);
    gnomon__free(l->opens);
    *l = (gnomon__ledger){0};
}
