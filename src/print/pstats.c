/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a table of functions as pstats does. Called by profilers, once for each
 * table, with memory that was taken before: so a text is never cut by lack of memory.
 * A pure function of table and query.
 *
 * Seconds are the doubles that pstats would load from the table's .prof, added up in
 * the same order, so that the last digit is the same. Writers do nothing after an
 * error, so only the last call's code is checked.
 */
#include "print/pstats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/pstats_sort.h"
#include "print/python.h"
#include "print/width.h"

struct gnomon__pstats {
    gnomon__pstats_row *rows;
    gnomon__pstats_row **list;  /* rows to print, in order */
    uint32_t *row_of;           /* index in `rows` of a row of the table */
    gnomon__pstats_edge *edges; /* in the order of their lines */
    size_t count, shown, edge_count;
    size_t width;
    uint64_t calls, primitive;
    double seconds;
};

void gnomon__pstats_free(gnomon__pstats *p)
{
    if (!p)
        return;
    free(p->rows);
    free(p->list);
    free(p->row_of);
    free(p->edges);
    free(p);
}

int gnomon__pstats_make(gnomon__pstats **out, size_t rows, size_t callers)
{
    gnomon__pstats *p = *out = calloc(1, sizeof *p);
    if (!p)
        return GNOMON_ENOMEM;
    p->rows = calloc(rows + 1, sizeof *p->rows);
    p->list = calloc(rows + 1, sizeof *p->list);
    p->row_of = calloc(rows + 1, sizeof *p->row_of);
    p->edges = calloc(callers + 1, sizeof *p->edges);
    if (p->rows && p->list && p->row_of && p->edges)
        return GNOMON_OK;
    gnomon__pstats_free(p);
    *out = NULL;
    return GNOMON_ENOMEM;
}

/* ---- Loading --------------------------------------------------------------- */

static size_t pstats_width(const gnomon__pstats_row *row)
{
    gnomon__pstats_name name;
    size_t width = 0;
    gnomon__pstats_name_of(&name, row);
    for (int i = 0; i < GNOMON__PSTATS_PARTS; i++)
        width += gnomon__print_width(name.part[i], name.size[i]);
    return width;
}

static void pstats_load_rows(gnomon__pstats *p, const gnomon__functions *table,
                             const gnomon__pstats_query *query,
                             const gnomon_writer *out)
{
    p->calls = p->primitive = 0;
    p->seconds = 0;
    p->width = 0;
    p->count = table->row_count;
    for (size_t i = 0; i < p->count; i++) {
        const gnomon__function *from = &table->rows[i];
        gnomon__pstats_row *row = &p->rows[i];
        const char *slash = query->strip_dirs ? strrchr(from->file, '/') : NULL;
        row->file = gnomon_shown(out, slash ? slash + 1 : from->file);
        row->name = gnomon_shown(out, from->name);
        row->line = from->line;
        row->order = (uint32_t)i;
        row->nc = from->nc;
        row->cc = from->cc;
        row->tt = (double)from->tt_ns / 1e9;
        row->ct = (double)from->ct_ns / 1e9;
        row->query = query;
        row->width = pstats_width(row);
        if (row->width > p->width)
            p->width = row->width;
        p->calls += row->nc;
        p->primitive += row->cc;
        p->seconds += row->tt;
        p->list[i] = row;
    }
}

/* Merges rows that are equal without their directories into the first of them, and sets
 * every row's rank. */
static void pstats_merge_rows(gnomon__pstats *p)
{
    gnomon__pstats_row *first = NULL;
    uint32_t rank = 0;
    size_t kept = 0;
    gnomon__pstats_sort_source(p->list, p->count);
    for (size_t i = 0; i < p->count; i++) {
        gnomon__pstats_row *row = p->list[i];
        if (first && gnomon__pstats_same_source(first, row)) {
            first->nc += row->nc;
            first->cc += row->cc;
            first->tt += row->tt;
            first->ct += row->ct;
            p->row_of[row->order] = first->order;
            row->order = UINT32_MAX;
            continue;
        }
        first = row;
        row->rank = rank++;
        p->row_of[row->order] = row->order;
    }
    for (size_t i = 0; i < p->count; i++)
        if (p->rows[i].order != UINT32_MAX)
            p->list[kept++] = &p->rows[i];
    p->count = kept;
}

static int pstats_by_line(const void *left, const void *right)
{
    const gnomon__pstats_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Each row's callees or callers, in the order of file, line and name. */
static void pstats_load_edges(gnomon__pstats *p, const gnomon__functions *table,
                              int callees)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->caller_count; i++) {
        const gnomon__caller *from = &table->callers[i];
        gnomon__pstats_edge *edge = &p->edges[i];
        uint32_t caller = p->row_of[from->caller];
        uint32_t callee = p->row_of[from->callee];
        edge->from = callees ? caller : callee;
        edge->to = callees ? callee : caller;
        edge->rank = p->rows[edge->to].rank;
        edge->order = (uint32_t)i;
        edge->nc = from->nc;
        edge->cc = from->cc;
        edge->tt = (double)from->tt_ns / 1e9;
        edge->ct = (double)from->ct_ns / 1e9;
    }
    qsort(p->edges, table->caller_count, sizeof *p->edges, pstats_by_line);
    for (size_t i = 0; i < table->caller_count; i++) {
        const gnomon__pstats_edge *edge = &p->edges[i];
        gnomon__pstats_edge *last = kept ? &p->edges[kept - 1] : NULL;
        if (!last || last->from != edge->from || last->to != edge->to) {
            p->edges[kept++] = *edge;
            continue;
        }
        last->nc += edge->nc;
        last->cc += edge->cc;
        last->tt += edge->tt;
        last->ct += edge->ct;
    }
    p->edge_count = kept;
}

/* ---- Caption --------------------------------------------------------------- */

static size_t pstats_restrict(const gnomon__restriction *r, size_t count)
{
    if (r->is_fraction)
        return r->fraction >= 0 && r->fraction < 1
                   ? (size_t)((double)count * r->fraction + 0.5)
                   : count;
    return r->count >= 0 && (uint64_t)r->count < count ? (size_t)r->count
                                                       : count;
}

static void pstats_caption(const gnomon__pstats *p,
                           const gnomon__pstats_query *query,
                           const gnomon_writer *out)
{
    size_t count = p->count;
    if (query->sort_keys == 0)
        out->print(out, "   Random listing order was used\n");
    for (int i = 0; i < query->sort_keys; i++)
        out->print(out, "%s%s", i ? ", " : "   Ordered by: ",
                   gnomon__pstats_caption(query->sort[i]));
    if (query->sort_keys)
        out->write(out, "\n", 1);
    for (size_t i = 0; i < query->restriction_count; i++) {
        const gnomon__restriction *r = &query->restrictions[i];
        size_t left = pstats_restrict(r, count);
        char text[GNOMON__PYTHON_TEXT];
        if (left == count)
            continue;
        if (r->is_fraction)
            gnomon__python_repr(text, r->fraction);
        else
            snprintf(text, sizeof text, "%" PRId64, r->count);
        out->print(out,
                   "   List reduced from %zu to %zu due to restriction <%s>\n",
                   count, left, text);
        count = left;
    }
    out->write(out, "\n", 1);
}

/* ---- Rows ------------------------------------------------------------------ */

static void pstats_put_name(const gnomon_writer *out,
                            const gnomon__pstats_row *row)
{
    gnomon__pstats_name name;
    gnomon__pstats_name_of(&name, row);
    for (int i = 0; i < GNOMON__PSTATS_PARTS && name.part[i]; i++)
        out->write(out, name.part[i], name.size[i]);
}

static void pstats_spaces(const gnomon_writer *out, size_t count)
{
    static const char spaces[64 + 1] =
        "                                                                ";
    for (; count > 64; count -= 64)
        out->write(out, spaces, 64);
    out->write(out, spaces, count);
}

static void pstats_seconds(const gnomon_writer *out, double value)
{
    char text[GNOMON__PYTHON_TEXT];
    gnomon__python_fixed(text, value);
    out->print(out, "%8s", text);
}

static void pstats_share(const gnomon_writer *out, double value, uint64_t calls)
{
    out->write(out, " ", 1);
    if (calls)
        pstats_seconds(out, value / (double)calls);
    else
        pstats_spaces(out, 8);
}

static void pstats_calls(const gnomon_writer *out, int width, uint64_t nc,
                         uint64_t cc)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, nc, cc);
    if (nc == cc)
        *strchr(text, '/') = 0;
    out->print(out, "%*s ", width, text);
}

static void pstats_print_stats(const gnomon__pstats *p,
                               const gnomon_writer *out)
{
    out->print(out, "   ncalls  tottime  percall  cumtime  percall "
                    "filename:lineno(function)\n");
    for (size_t i = 0; i < p->shown; i++) {
        const gnomon__pstats_row *row = p->list[i];
        pstats_calls(out, 9, row->nc, row->cc);
        pstats_seconds(out, row->tt);
        pstats_share(out, row->tt, row->nc);
        out->write(out, " ", 1);
        pstats_seconds(out, row->ct);
        pstats_share(out, row->ct, row->cc);
        out->write(out, " ", 1);
        pstats_put_name(out, row);
        out->write(out, "\n", 1);
    }
}

/* The first of the edges under row `from`. */
static size_t pstats_edges_of(const gnomon__pstats *p, uint32_t from)
{
    size_t low = 0, high = p->edge_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->edges[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void pstats_print_edges(const gnomon__pstats *p, size_t width,
                               int callees, const gnomon_writer *out)
{
    out->print(out, "Function ");
    pstats_spaces(out, width > 9 ? width - 9 : 0);
    out->print(out, "%s\n", callees ? "called..." : "was called by...");
    if (p->edge_count) {
        pstats_spaces(out, width);
        out->print(out, "    ncalls  tottime  cumtime\n");
    }
    for (size_t i = 0; i < p->shown; i++) {
        const gnomon__pstats_row *row = p->list[i];
        size_t first = pstats_edges_of(p, row->order), at = first;
        pstats_put_name(out, row);
        pstats_spaces(out, width - row->width);
        out->print(out, callees ? "-> " : "<- ");
        for (; at < p->edge_count && p->edges[at].from == row->order; at++) {
            const gnomon__pstats_edge *edge = &p->edges[at];
            pstats_spaces(out, at > first ? width + 1 : 0);
            pstats_calls(out, at > first ? 9 : 7, edge->nc, edge->cc);
            pstats_seconds(out, edge->tt);
            out->write(out, " ", 1);
            pstats_seconds(out, edge->ct);
            out->write(out, "  ", 2);
            pstats_put_name(out, &p->rows[edge->to]);
            out->write(out, "\n", 1);
        }
        out->write(out, "\n", at == first);
    }
}

/* The longest name's width + 2: of the rows shown, if the list was cut. */
static size_t pstats_name_column(const gnomon__pstats *p)
{
    size_t width = 0;
    if (p->shown == p->count)
        return p->width + 2;
    for (size_t i = 0; i < p->shown; i++)
        if (p->list[i]->width > width)
            width = p->list[i]->width;
    return width + 2;
}

int gnomon__pstats_print(gnomon__pstats *p, const gnomon__functions *table,
                         const gnomon__pstats_query *query,
                         const gnomon_writer *out)
{
    int callees = query->view == GNOMON__PSTATS_CALLEES;
    pstats_load_rows(p, table, query, out);
    pstats_merge_rows(p);
    if (query->sort_keys)
        gnomon__pstats_sort_query(p->list, p->count);
    p->shown = p->count;
    for (size_t i = 0; i < query->restriction_count; i++)
        p->shown = pstats_restrict(&query->restrictions[i], p->shown);
    if (query->view == GNOMON__PSTATS_STATS) {
        char text[GNOMON__PYTHON_TEXT];
        out->print(out, "         %" PRIu64 " function calls ", p->calls);
        if (p->calls != p->primitive)
            out->print(out, "(%" PRIu64 " primitive calls) ", p->primitive);
        gnomon__python_fixed(text, p->seconds);
        out->print(out, "in %s seconds\n\n", text);
    }
    if (p->shown == 0)
        return out->write(out, "", 0);
    pstats_caption(p, query, out);
    if (query->view == GNOMON__PSTATS_STATS) {
        pstats_print_stats(p, out);
    } else {
        pstats_load_edges(p, table, callees);
        pstats_print_edges(p, pstats_name_column(p), callees, out);
    }
    return out->write(out, "\n\n", 2);
}
