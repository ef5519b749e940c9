/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each row of an entity is added to the row of its keys, which a hash finds, as soon as
 * the next one begins. What needs all of them waits in a list: statistics, as a sum of
 * histograms is large and only one is there at a time (of several profiles they are added
 * up after each), and parts, of which a row has one for each id or text. Hash tables are
 * half empty at least.
 *
 * Where each profile is all of its group its rows are finished once it was read, so that
 * no histogram outlives it. */
#include "print/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/report.h"
#include "print/order.h"

/* The sum of a row's entities of one id or text; NULL: of an id. Of the row ROWS_NONE: a
 * text that is kept. */
typedef struct rows_part {
    const char *text;
    uint64_t id, sum;
    size_t row;
} rows_part;

#define ROWS_NONE UINT32_MAX /* no row; the depth of one that shall not be */

typedef struct rows_hash {
    size_t *slots; /* 1 + index; 0: none */
    size_t room;   /* a power of two */
} rows_hash;

/* Lists of values in one array: each has the place of the one before it, from 1; 0: it is
 * the first. */
typedef struct rows_lists {
    gnomon__value *at;
    size_t count, room;
} rows_lists;

/* For the rule UNION: the sum, and the time up to which it has the times of
 * this id. */
typedef struct rows_union {
    uint64_t ns, until_ns, id;
} rows_union;

typedef struct gnomon__report_work {
    gnomon__column *columns;
    gnomon__cell *next; /* the row at hand */
    uint32_t group,
        to; /* `to`: the number of the row that it is a part of; 0: by its keys */
    bool has_next;
    rows_hash rows_by_key, parts_by_key;
    const char **names; /* of the path at hand, the innermost first */
    char *path;
    size_t name_room, path_room;
    /* Values, and pointers to statistics: a row's cell has the place of its last one. */
    rows_lists values, times;
    rows_union *unions; /* a row's cell has the place of its own */
    size_t union_count, union_room;
    size_t made;               /* rows that are finished */
    gnomon__report_table sums; /* has the memory of sums of lists */
    rows_part *parts;
    size_t part_count, part_room;
    gnomon_sum *sum; /* NULL: there are no statistics */
    bool has_keys, has_ids;
} rows_work;

static void rows_no_room(gnomon__report_rows *r)
{
    r->code = GNOMON_ENOMEM;
}

/* ---- Hashes ---------------------------------------------------------------------- */

static uint64_t rows_hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t rows_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return rows_hash_number(hash, 0);
}

static bool rows_is_text(const gnomon__column *c)
{
    return c->kind == GNOMON__CELL_TEXT;
}

static uint64_t rows_hash_row(const gnomon__report *of, uint32_t group,
                              const gnomon__cell *cells)
{
    uint64_t hash = rows_hash_number(0, group);
    for (size_t k = 0; k < of->column_count; k++)
        if (of->columns[k].rule == GNOMON__ROW_KEY)
            hash = rows_is_text(&of->columns[k])
                       ? rows_hash_text(hash, cells[k].text)
                       : rows_hash_number(hash, cells[k].count);
    return hash;
}

static uint64_t rows_hash_part(const rows_part *p)
{
    const uint64_t hash = rows_hash_number(p->row + 1, p->id);
    return p->text ? rows_hash_text(hash, p->text) : hash;
}

/* Makes room for one more than `count`, and true if the slots are new and empty: then
 * the caller puts in what was there. */
static bool rows_hash_grow(gnomon__report_rows *r, rows_hash *h, size_t count)
{
    if (2 * (count + 1) < h->room || r->code)
        return false;
    size_t room = 64;
    while (room <= 2 * (count + 1))
        room *= 4;
    size_t *slots = calloc(room, sizeof *slots);
    if (!slots) {
        rows_no_room(r);
        return false;
    }
    free(h->slots);
    h->slots = slots;
    h->room = room;
    return true;
}

static size_t *rows_hash_next(const rows_hash *h, uint64_t hash, size_t *at)
{
    *at = *at == SIZE_MAX ? (size_t)hash & (h->room - 1)
                          : (*at + 1) & (h->room - 1);
    return &h->slots[*at];
}

/* Makes room for one more item; false: no memory (a line has said so). */
static bool rows_room(gnomon__report_rows *r, void *items, size_t *room,
                      size_t count, size_t size)
{
    const bool ok = gnomon__table_grow(items, room, count + 1, size);
    if (!ok)
        rows_no_room(r);
    return ok;
}

/* ---- Parts ----------------------------------------------------------------------- */

static bool rows_same_part(const rows_part *a, const rows_part *b)
{
    return a->row == b->row && a->id == b->id &&
           (a->text && b->text ? strcmp(a->text, b->text) == 0
                               : a->text == b->text);
}

static size_t *rows_slot_of_part(const rows_work *w, const rows_part *part)
{
    size_t at = SIZE_MAX, *slot;
    const uint64_t hash = rows_hash_part(part);
    do
        slot = rows_hash_next(&w->parts_by_key, hash, &at);
    while (*slot && !rows_same_part(&w->parts[*slot - 1], part));
    return slot;
}

/* The part of the same row, id and text, perhaps a new one; NULL: no memory. */
static rows_part *rows_find_part(gnomon__report_rows *r, const rows_part *part)
{
    rows_work *w = r->work;
    if (rows_hash_grow(r, &w->parts_by_key, w->part_count))
        for (size_t i = 0; i < w->part_count; i++)
            *rows_slot_of_part(w, &w->parts[i]) = i + 1;
    if (r->code ||
        !rows_room(r, &w->parts, &w->part_room, w->part_count, sizeof *part))
        return NULL;
    size_t *slot = rows_slot_of_part(w, part);
    if (!*slot) {
        w->parts[w->part_count] = *part;
        *slot = ++w->part_count;
    }
    return &w->parts[*slot - 1];
}

const char *gnomon__report_text(gnomon__report_rows *r, const char *text)
{
    rows_part *p = rows_find_part(r, &(rows_part){text, 0, 0, ROWS_NONE});
    if (p && !p->sum++)
        p->text =
            gnomon__report_kept(r, gnomon__table_keep(&r->table, "%s", text));
    return p ? p->text : "";
}

const char *gnomon__report_kept(gnomon__report_rows *r, const char *text)
{
    r->code = text ? r->code : GNOMON_ENOMEM;
    return text ? text : "";
}

/* ---- Rows ------------------------------------------------------------------------ */

static bool rows_same_keys(const gnomon__report *of, const gnomon__cell *a,
                           const gnomon__cell *b)
{
    for (size_t k = 0; k < of->column_count; k++)
        if (of->columns[k].rule == GNOMON__ROW_KEY &&
            (rows_is_text(&of->columns[k])
                 ? a[k].text != b[k].text && strcmp(a[k].text, b[k].text) != 0
                 : a[k].count != b[k].count))
            return false;
    return true;
}

static size_t *rows_slot_of_row(const gnomon__report_rows *r, uint32_t group,
                                const gnomon__cell *cells)
{
    const gnomon__report_table *t = &r->table;
    const uint64_t hash = rows_hash_row(r->of, group, cells);
    size_t at = SIZE_MAX, *slot;
    do
        slot = rows_hash_next(&r->work->rows_by_key, hash, &at);
    while (*slot &&
           (t->rows[*slot - 1].group != group ||
            !rows_same_keys(r->of, gnomon__cells_of(t, *slot - 1), cells)));
    return slot;
}

/* The row with the keys of `cells`, perhaps a new one; SIZE_MAX: no memory. */
static size_t rows_find_row(gnomon__report_rows *r, uint32_t group,
                            const gnomon__cell *cells)
{
    gnomon__report_table *t = &r->table;
    size_t none = 0, *slot = &none;
    if (r->work->has_keys) {
        if (rows_hash_grow(r, &r->work->rows_by_key, t->row_count))
            for (size_t i = 0; i < t->row_count; i++)
                *rows_slot_of_row(r, t->rows[i].group, gnomon__cells_of(t, i)) =
                    i + 1;
        if (r->code)
            return SIZE_MAX;
        slot = rows_slot_of_row(r, group, cells);
    }
    if (*slot)
        return *slot - 1;
    if (!gnomon__table_add(t, group, 0)) {
        rows_no_room(r);
        return SIZE_MAX;
    }
    return (*slot = t->row_count) - 1;
}

static void rows_add_value(gnomon__report_rows *r, rows_lists *to,
                           gnomon__cell *cell, uint64_t value)
{
    if (!rows_room(r, &to->at, &to->room, to->count, sizeof *to->at))
        return;
    to->at[to->count++] =
        (gnomon__value){value, (uint32_t)r->id, (uint32_t)cell->count};
    gnomon__cell_count(cell, to->count);
}

static void rows_add_union(gnomon__report_rows *r, gnomon__cell *cell,
                           uint64_t end)
{
    rows_work *w = r->work;
    if (!cell->is_there) {
        if (!rows_room(r, &w->unions, &w->union_room, w->union_count,
                       sizeof *w->unions))
            return;
        w->unions[w->union_count] = (rows_union){.id = r->id};
        gnomon__cell_count(cell, w->union_count++);
    }
    rows_union *u = &w->unions[cell->count];
    if (u->id != r->id)
        *u = (rows_union){.ns = u->ns, .id = r->id};
    const uint64_t from = r->from_ns > u->until_ns ? r->from_ns : u->until_ns;
    if (end <= from)
        return;
    u->ns += end - from;
    u->until_ns = end;
}

static void rows_add_sum(const gnomon__column *c, gnomon__cell *to,
                         const gnomon__cell *from)
{
    if (!to->is_there)
        *to = *from;
    else if (c->kind == GNOMON__CELL_NUMBER)
        to->number += from->number;
    else /* no more than 64 bits hold: flops of a long run are more */
        to->count += from->count < UINT64_MAX - to->count
                         ? from->count
                         : UINT64_MAX - to->count;
}

/* Whether `a` is less than `b`. */
static bool rows_is_less(const gnomon__column *c, const gnomon__cell *a,
                         const gnomon__cell *b)
{
    return c->kind == GNOMON__CELL_NUMBER ? a->number < b->number
                                          : a->count < b->count;
}

static void rows_add_top(gnomon__report_rows *r, size_t row, const char *text,
                         uint64_t sum)
{
    rows_part part = {r->keeps ? gnomon__report_text(r, text) : text, 0, 0,
                      row};
    rows_part *to = rows_find_part(r, &part);
    if (to)
        to->sum += sum;
}

/* Adds a cell that is not empty. */
static void rows_add_cell(gnomon__report_rows *r, size_t row, size_t column,
                          bool is_first)
{
    const gnomon__column *c = &r->of->columns[column];
    const gnomon__cell *cells = r->work->next, *from = &cells[column];
    gnomon__cell *to = gnomon__cells_of(&r->table, row) + column;
    switch (c->rule) {
    case GNOMON__ROW_SUM:
        rows_add_sum(c, to, from);
        return;
    case GNOMON__ROW_ONCE:
        if (is_first)
            rows_add_sum(c, to, from);
        return;
    case GNOMON__ROW_TOP:
        rows_add_top(r, row, from->text, cells[c->of].count);
        return;
    case GNOMON__ROW_UNION:
        rows_add_union(r, to, from->count);
        return;
    case GNOMON__ROW_TIMES:
        rows_add_value(r, &r->work->times, to, (uintptr_t)from->text);
        return;
    case GNOMON__ROW_VALUES:
        if (to->is_there && r->work->values.at[to->count - 1].id == r->id)
            r->work->values.at[to->count - 1].value += from->count;
        else
            rows_add_value(r, &r->work->values, to, from->count);
        return;
    case GNOMON__ROW_LEAST:
        if (!to->is_there || !rows_is_less(c, to, from))
            *to = *from;
        return;
    case GNOMON__ROW_MOST:
        if (!to->is_there || !rows_is_less(c, from, to))
            *to = *from;
        return;
    case GNOMON__ROW_LAST:
        break;
    default: /* keys are equal, and what is made is empty */
        if (to->is_there)
            return;
    }
    *to = *from;
    if (r->keeps && rows_is_text(c))
        to->text = gnomon__report_text(r, from->text);
}

uint32_t gnomon__report_put(gnomon__report_rows *r)
{
    rows_work *w = r->work;
    rows_part *part = NULL;
    if (!w->has_next || r->code)
        return 0;
    w->has_next = false;
    const size_t row = w->to ? w->to - 1 : rows_find_row(r, w->group, w->next);
    if (row == SIZE_MAX)
        return 0;
    if (w->has_ids)
        part = rows_find_part(r, &(rows_part){NULL, r->id, 0, row});
    const bool is_first = part && !part->sum++;
    for (size_t k = 0; k < r->of->column_count; k++)
        if (w->next[k].is_there)
            rows_add_cell(r, row, k, is_first);
    return (uint32_t)row + 1;
}

gnomon__cell *gnomon__report_row_of(gnomon__report_rows *r, uint32_t group)
{
    rows_work *w = r->work;
    (void)gnomon__report_put(r);
    memset(w->next, 0, r->of->column_count * sizeof *w->next);
    w->group = group;
    w->to = 0;
    w->has_next = true;
    r->id = r->from_ns = 0;
    return w->next;
}

gnomon__cell *gnomon__report_row_to(gnomon__report_rows *r, uint32_t number)
{
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    r->work->to = number;
    return cells;
}

gnomon__cell *gnomon__report_row(gnomon__report_rows *r, uint32_t track,
                                 uint32_t region)
{
    return gnomon__report_row_of(r,
                                 gnomon__group_of(&r->groups, track, region));
}

/* ---- Cells ----------------------------------------------------------------------- */

void gnomon__cell_times(gnomon__cell *cell, const gnomon_stats *times)
{
    if (times && (times->count || times->self_ns))
        gnomon__cell_text(cell, (const char *)times);
}

const gnomon_stats *gnomon__times_of(const gnomon__cell *cell)
{
    static const gnomon_stats none = {.struct_size = sizeof none};
    return cell->is_there ? (const gnomon_stats *)(const void *)cell->text
                          : &none;
}

void gnomon__cell_share(gnomon__cell *cell, uint64_t part, uint64_t whole)
{
    if (whole)
        gnomon__cell_number(cell, 100.0 * (double)part / (double)whole);
}

bool gnomon__report_node_at(const gnomon_profile *p, size_t number,
                            gnomon__report_node *out)
{
    *out = (gnomon__report_node){.region = {.name = "", .category = ""}};
    if (gnomon_profile_node(p, number, &out->of) != GNOMON_OK)
        return false;
    (void)gnomon_profile_region(p, out->of.region, &out->region);
    return true;
}

const char *gnomon__report_path(gnomon__report_rows *r, uint32_t number)
{
    rows_work *w = r->work;
    size_t count = 0, length = 0;
    gnomon__report_node n;
    while (number && gnomon__report_node_at(r->profile, number, &n) &&
           rows_room(r, &w->names, &w->name_room, count, sizeof *w->names)) {
        w->names[count++] = n.region.name;
        length += strlen(n.region.name) + 1;
        number = n.of.parent < number ? n.of.parent : 0;
    }
    if (!count || r->code || !rows_room(r, &w->path, &w->path_room, length, 1))
        return "";
    for (char *to = w->path; count > 0; *to++ = --count ? '/' : '\0') {
        const size_t size = strlen(w->names[count - 1]);
        memcpy(to, w->names[count - 1], size);
        to += size;
    }
    return gnomon__report_text(r, w->path);
}

uint64_t gnomon__recorded_ns(const gnomon_profile *p)
{
    uint64_t ns = 0;
    gnomon_stage_info s;
    for (size_t i = 1; !gnomon_profile_stage(p, i, &s); i++)
        ns += s.recorded_ns ? s.recorded_ns : s.end_ns - s.begin_ns;
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    return runs > 1 ? ns / runs : ns;
}

void gnomon__report_say_rank(gnomon__report_rows *r)
{
    gnomon_run_info run;
    if (gnomon_profile_count(r->profile, GNOMON_RUNS) != 1 ||
        gnomon_profile_run(r->profile, 1, &run) || run.rank < 0 ||
        run.world_size < 2)
        return;
    r->table.title = gnomon__report_kept(
        r, gnomon__table_keep(&r->table, "%s of rank %" PRId32, r->of->title,
                              run.rank));
}

/* ---- The end --------------------------------------------------------------------- */

typedef struct kept_times {
    gnomon_stats all;
    gnomon_cell cells[];
} kept_times;

static const gnomon_stats *rows_times_at(const gnomon__value *value)
{
    return (const gnomon_stats *)(uintptr_t)value->value;
}

/* The sum of a list, in `sums`; NULL: no memory. */
static const gnomon_stats *rows_sum_times(gnomon__report_rows *r,
                                          const rows_lists *times, uint64_t at)
{
    gnomon_sum *sum = r->work->sum;
    size_t used = 0;
    memset(sum, 0, sizeof *sum);
    for (; at; at = times->at[at - 1].before)
        gnomon_sum_add(sum, rows_times_at(&times->at[at - 1]));
    for (size_t i = 0; i < GNOMON_CELLS; i++)
        used += sum->cells[i] != 0;
    kept_times *kept = gnomon__table_take(
        &r->work->sums, sizeof *kept + used * sizeof *kept->cells);
    if (!kept) {
        rows_no_room(r);
        return NULL;
    }
    gnomon_sum_stats(sum, kept->cells, &kept->all);
    return &kept->all;
}

/* Statistics of one entity stay its own. */
static void rows_end_times(gnomon__report_rows *r, gnomon__cell *cell)
{
    const gnomon__value *last = &r->work->times.at[cell->count - 1];
    gnomon__cell_text(cell, last->before ? (const char *)rows_sum_times(
                                               r, &r->work->times, cell->count)
                                         : (const char *)rows_times_at(last));
}

GNOMON__ORDER(rows_by_value, gnomon__value, UP(value), DOWN(id))

static void rows_sort_values(gnomon__report_rows *r, gnomon__cell *cell)
{
    const gnomon__value *values = r->work->values.at;
    size_t count = 0;
    for (uint64_t at = cell->count; at; at = values[at - 1].before)
        count++;
    gnomon__values *kept = gnomon__table_take(
        &r->work->sums, sizeof *kept + count * sizeof *kept->at);
    if (!kept) {
        rows_no_room(r);
        return;
    }
    for (uint64_t at = cell->count; at; at = values[at - 1].before)
        kept->at[kept->count++] = values[at - 1];
    GNOMON__SORT(kept->at, count, rows_by_value);
    gnomon__cell_text(cell, (const char *)kept);
}

const gnomon__values *gnomon__values_of(const gnomon__cell *cell)
{
    return (const gnomon__values *)(const void *)cell->text;
}

/* Puts texts of the largest sums into their cells, and the sums. */
static void rows_choose_tops(gnomon__report_rows *r, size_t column)
{
    const rows_work *w = r->work;
    for (size_t i = 0; i < w->part_count; i++) {
        const rows_part *p = &w->parts[i];
        if (!p->text || p->row == ROWS_NONE || !p->sum)
            continue;
        gnomon__cell *top = gnomon__cells_of(&r->table, p->row) + column;
        if (top->is_there &&
            (p->sum < top[1].count ||
             (p->sum == top[1].count && strcmp(top->text, p->text) < 0)))
            continue;
        gnomon__cell_text(&top[0], p->text);
        gnomon__cell_count(&top[1], p->sum);
    }
}

/* Finishes the rows since the last time. One that shall not be gets no cells: it leaves
 * at the end, as hashes have places of rows. */
static void rows_make_cells(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    rows_work *w = r->work;
    for (size_t k = 0; k < r->of->column_count; k++)
        if (r->of->columns[k].rule == GNOMON__ROW_TOP)
            rows_choose_tops(r, k);
    for (; w->made < t->row_count && !r->code; w->made++) {
        gnomon__cell *cells = gnomon__cells_of(t, w->made);
        for (size_t k = 0; k < r->of->column_count; k++) {
            const int rule = cells[k].is_there ? r->of->columns[k].rule : 0;
            if (rule == GNOMON__ROW_TIMES)
                rows_end_times(r, &cells[k]);
            else if (rule == GNOMON__ROW_VALUES)
                rows_sort_values(r, &cells[k]);
            else if (rule == GNOMON__ROW_UNION)
                cells[k].count = w->unions[cells[k].count].ns;
        }
        if (!r->code && r->of->finish && !r->of->finish(r, cells))
            t->rows[w->made].depth = ROWS_NONE;
    }
}

/* Statistics of a row are one that is its own, with those of the profiles before. */
static void rows_keep_times(gnomon__report_rows *r)
{
    rows_work *w = r->work;
    rows_lists before = w->times;
    gnomon__report_table sums = w->sums;
    w->times = (rows_lists){0};
    w->sums = (gnomon__report_table){0};
    for (size_t i = 0; i < r->table.row_count && w->sum; i++)
        for (size_t k = 0; k < r->of->column_count && !r->code; k++) {
            gnomon__cell *cell = gnomon__cells_of(&r->table, i) + k;
            const uint64_t at = cell->count;
            if (r->of->columns[k].rule != GNOMON__ROW_TIMES || !cell->is_there)
                continue;
            cell->count = 0;
            rows_add_value(r, &w->times, cell,
                           (uintptr_t)rows_sum_times(r, &before, at));
        }
    free(before.at);
    gnomon__table_free(&sums);
}

/* Ids are those of one profile. Where that is all of its group its rows are finished. */
static void rows_end_profile(gnomon__report_rows *r)
{
    rows_work *w = r->work;
    size_t kept = 0;
    if (r->is_apart) {
        rows_make_cells(r);
        w->times.count = w->values.count = w->union_count = 0;
        gnomon__table_free(&w->sums);
    } else {
        rows_keep_times(r);
    }
    for (size_t i = 0; i < w->part_count; i++)
        if (w->parts[i].text && (!r->is_apart || w->parts[i].row == ROWS_NONE))
            w->parts[kept++] = w->parts[i];
    if (kept < w->part_count) {
        free(w->parts_by_key.slots);
        w->parts_by_key = (rows_hash){0};
        w->part_count = kept;
    }
}

static void rows_drop(gnomon__report_table *t)
{
    size_t used = 0;
    for (size_t i = 0; i < t->row_count; i++)
        if (t->rows[i].depth != ROWS_NONE)
            t->rows[used++] = t->rows[i];
    t->row_count = used;
}

/* ---- Order ----------------------------------------------------------------------- */

static int rows_compare_cells(const gnomon__column *c, const gnomon__cell *a,
                              const gnomon__cell *b)
{
    if (rows_is_text(c))
        return strcmp(a->text, b->text);
    return (a->count > b->count) - (a->count < b->count);
}

/* A key is shown where rows that have the same name, which follow one another, differ in
 * it. */
static void rows_show_what_tells(gnomon__report_rows *r, size_t column)
{
    const gnomon__report_table *t = &r->table;
    gnomon__column *c = &r->work->columns[column];
    for (size_t i = 1; i < t->row_count && c->shown == GNOMON__TELLS; i++) {
        const gnomon__cell *a = gnomon__cells_of(t, i - 1);
        const gnomon__cell *b = gnomon__cells_of(t, i);
        if (t->rows[i - 1].group == t->rows[i].group &&
            strcmp(a->text, b->text) == 0 &&
            rows_compare_cells(c, &a[column], &b[column]) != 0)
            c->shown = GNOMON__SHOWN;
    }
}

/* Sorting keeps the order of what is equal, so the first key comes last. */
static void rows_order_rows(gnomon__report_rows *r)
{
    const gnomon__report *of = r->of;
    for (int k = of->column_count - 1; k >= 0 && !r->code; k--)
        if (of->columns[k].rule == GNOMON__ROW_KEY)
            r->code = gnomon__table_sort(&r->table, k);
    for (size_t k = 1; k < of->column_count && !r->code; k++)
        rows_show_what_tells(r, k);
    if (of->choose && !r->code)
        of->choose(r);
    if (of->order && !r->code)
        r->code = gnomon__table_sort(&r->table, of->order);
}

uint32_t gnomon__report_number(const gnomon__report_rows *r, size_t row)
{
    return (uint32_t)(r->table.rows[row].cells / r->of->column_count) + 1;
}

void gnomon__report_reverse(gnomon__report_rows *r)
{
    gnomon__table_row *rows = r->table.rows;
    for (size_t i = 0, k = r->table.row_count; i + 1 < k--; i++) {
        const gnomon__table_row row = rows[i];
        rows[i] = rows[k];
        rows[k] = row;
    }
}

/* first[] is by the number of the row above, next[] and way[] by place, from 1. */
void gnomon__report_nest(gnomon__report_rows *r, size_t column)
{
    gnomon__report_table *t = &r->table;
    const size_t most = t->cell_room / r->of->column_count + 2;
    uint32_t *first = calloc(3 * most, sizeof *first);
    uint32_t *next = first ? first + most : NULL;
    uint32_t *way = first ? next + most : NULL, depth = 0;
    gnomon__table_row *rows = calloc(t->row_count + 1, sizeof *rows);
    size_t used = 0;
    if (!first || !rows)
        r->code = GNOMON_ENOMEM;
    for (size_t i = r->code ? 0 : t->row_count; i > 0; i--) {
        const uint64_t above = gnomon__cells_of(t, i - 1)[column].count;
        next[i] = first[above];
        first[above] = (uint32_t)i;
    }
    for (size_t at = r->code ? 0 : first[0]; at || depth;) {
        if (!at) {
            at = next[way[--depth]];
            continue;
        }
        rows[used] = t->rows[at - 1];
        rows[used++].depth = depth;
        way[depth++] = (uint32_t)at;
        at = first[gnomon__report_number(r, at - 1)];
    }
    if (used)
        memcpy(t->rows, rows, used * sizeof *rows);
    t->row_count = used;
    t->is_tree = t->is_ordered = true;
    free(first);
    free(rows);
}

/* ---- The whole ------------------------------------------------------------------- */

static bool rows_begin(gnomon__report_rows *r)
{
    const gnomon__report *of = r->of;
    bool has_times = false;
    rows_work *w = r->work = calloc(1, sizeof *w);
    if (!w)
        return false;
    w->next = calloc(of->column_count, sizeof *w->next);
    w->columns = calloc(of->column_count, sizeof *w->columns);
    if (!r->borrows_more && of->more_size)
        r->more = calloc(1, of->more_size);
    if (!w->next || !w->columns || (of->more_size && !r->more))
        return false;
    memcpy(w->columns, of->columns, of->column_count * sizeof *w->columns);
    r->table.columns = w->columns;
    for (size_t k = 0; k < of->column_count; k++) {
        w->has_keys |= of->columns[k].rule == GNOMON__ROW_KEY;
        w->has_ids |= of->columns[k].rule == GNOMON__ROW_ONCE;
        has_times |= of->columns[k].rule == GNOMON__ROW_TIMES;
    }
    return !has_times || (w->sum = calloc(1, sizeof *w->sum)) != NULL;
}

static size_t rows_shown_columns(const gnomon__report *of)
{
    size_t count = of->column_count;
    while (of->columns[count - 1].shown == GNOMON__HIDDEN)
        count--;
    return count;
}

int gnomon__report_begin(gnomon__report_rows *r, const gnomon__report *of,
                         const gnomon__table_choice *choice, void *more)
{
    *r = (gnomon__report_rows){.of = of,
                               .choice = choice,
                               .more = more,
                               .borrows_more = more != NULL,
                               .table = {.name = of->name,
                                         .title = of->title,
                                         .if_empty = of->if_empty,
                                         .column_count = of->column_count}};
    gnomon__groups_begin(&r->groups, choice ? choice->by : GNOMON__BY_NOTHING,
                         &r->table);
    r->code = rows_begin(r) ? GNOMON_OK : GNOMON_ENOMEM;
    return r->code;
}

int gnomon__report_add(gnomon__report_rows *r, const gnomon_profile *profile,
                       const gnomon_run_info *run)
{
    r->profile = profile;
    r->run = run;
    r->recorded_ns = profile ? gnomon__recorded_ns(profile) : 0;
    if (!r->code && profile)
        r->code = gnomon__groups_read(&r->groups, profile, run,
                                      r->of->is_of_runs, &r->table);
    if (!r->code)
        r->of->read(r);
    (void)gnomon__report_put(r);
    if ((r->is_apart || r->keeps) && !r->code)
        rows_end_profile(r);
    return r->code;
}

int gnomon__report_end(gnomon__report_rows *r, const gnomon_profile *profile)
{
    (void)gnomon__report_put(r);
    r->profile = profile;
    r->recorded_ns = profile ? gnomon__recorded_ns(profile) : 0;
    if (!r->code)
        r->code = gnomon__groups_end(&r->groups, &r->table);
    if (!r->code)
        rows_make_cells(r);
    rows_drop(&r->table);
    free(r->work->rows_by_key.slots);
    r->work->rows_by_key = (rows_hash){0};
    if (!r->code)
        rows_order_rows(r);
    r->table.column_count = rows_shown_columns(r->of);
    return r->code;
}

int gnomon__report_make(gnomon__report_rows *r, const gnomon__report *of,
                        const gnomon__table_choice *choice, void *more,
                        const gnomon_profile *profile)
{
    int code = gnomon__report_begin(r, of, choice, more);
    if (!code)
        code = gnomon__report_add(r, profile, NULL);
    return code ? code : gnomon__report_end(r, profile);
}

void gnomon__report_free(gnomon__report_rows *r)
{
    rows_work *w = r->work;
    if (w) {
        free(w->columns);
        free(w->next);
        free(w->sum);
        free(w->rows_by_key.slots);
        free(w->parts_by_key.slots);
        free((void *)w->names);
        free(w->path);
        free(w->values.at);
        free(w->times.at);
        free(w->unions);
        gnomon__table_free(&w->sums);
        free(w->parts);
    }
    free(w);
    if (!r->borrows_more && r->more && r->of->free_more)
        r->of->free_more(r->more);
    if (!r->borrows_more)
        free(r->more);
    gnomon__groups_free(&r->groups);
    gnomon__table_free(&r->table);
}

/* ---- As a profiler ----------------------------------------------------------------- */

const gnomon__report *gnomon__report_of(const gnomon_profiler *profiler)
{
    return profiler->destroy == gnomon__table_destroy
               ? ((const gnomon__reporter *)(const void *)profiler)->report
               : NULL;
}

int gnomon__report_create(const gnomon__report *of,
                          const gnomon_options *options, void **self)
{
    gnomon__table_choice *c =
        calloc(1, of->settings_size ? of->settings_size : sizeof *c);
    if (!c ||
        gnomon__table_choose(c, of->name, of->columns, rows_shown_columns(of),
                             of->has_own_sort, options)) {
        gnomon__table_destroy(c);
        return GNOMON_ENOMEM;
    }
    if (of->by_to)
        c->by =
            gnomon__groups_choose(of->name, of->by_from, of->by_to, options);
    c->is_table = !of->text || gnomon__table_is_asked_for(c);
    if (of->set)
        of->set(c, options);
    if (c->limit == SIZE_MAX && of->limit)
        c->limit = of->limit;
    *self = c;
    return GNOMON_OK;
}

int gnomon__report_put_table(gnomon__report_rows *r, const gnomon_writer *out)
{
    gnomon__table_choice choice = *r->choice;
    if (choice.sort < 0)
        choice.sort = r->of->sort;
    if (r->of->has_own_limit)
        choice.limit = SIZE_MAX;
    return gnomon__table_print(&r->table, &choice, r->profile, out);
}

/* Text is a line that says so; a table is an empty one. */
static void report_say_none(const gnomon__report_rows *r,
                            const gnomon_writer *out)
{
    char line[160];
    (void)snprintf(line, sizeof line, "%s: %s", r->of->name, r->none);
    if (r->choice->format == GNOMON__TABLE_TEXT)
        out->print(out, "%s\n", line);
    else if (r->choice->log)
        r->choice->log(line);
}

int gnomon__report_put_all(gnomon__report_rows *r, const gnomon_writer *out)
{
    const bool is_text = r->choice->format == GNOMON__TABLE_TEXT;
    int code = r->code;
    if (!code && r->none)
        report_say_none(r, out);
    if (!code && (!r->none || !is_text))
        code = r->choice->is_table ? gnomon__report_put_table(r, out)
                                   : r->of->text(r, out);
    if (!code && !r->none && r->of->note && is_text)
        r->of->note(r, out);
    if (!code && r->of->put_files)
        r->of->put_files(r, out);
    return code ? code : out->write(out, "", 0);
}

int gnomon__report_print(const gnomon__report *of, const void *self,
                         const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    gnomon__report_rows rows;
    void *presets = NULL;
    if (!profile)
        return GNOMON_EINVAL;
    if (!self && gnomon__report_create(of, NULL, &presets))
        return GNOMON_ENOMEM;
    int code =
        gnomon__report_make(&rows, of, self ? self : presets, NULL, profile);
    if (!code)
        code = gnomon__report_put_all(&rows, out);
    gnomon__report_free(&rows);
    gnomon__table_destroy(presets);
    return code;
}

int gnomon__report_part(const gnomon__report *of, void *more, size_t limit,
                        bool is_first, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    gnomon__table_choice choice = {.limit = limit, .sort = -1};
    gnomon__report_rows rows;
    int code = gnomon__report_make(&rows, of, &choice, more, profile);
    choice.limit = SIZE_MAX;
    if (!code && (is_first || rows.table.row_count)) {
        if (!is_first)
            out->write(out, "\n", 1);
        rows.table.is_part = !is_first;
        code = gnomon__report_put_table(&rows, out);
    }
    gnomon__report_free(&rows);
    return code;
}
