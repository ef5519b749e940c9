/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a table of functions as pstats does. A pure function of table and query.
 *
 * Seconds are the doubles that pstats would load from the table's .prof, added up in
 * the same order, so that the last digit is the same. Texts are compared byte by byte,
 * which in UTF-8 is Python's order of code points. Writers do nothing after an error,
 * so only the last call's code is checked.
 */
#include "print/pstats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/python.h"
#include "print/rows.h"
#include "print/width.h"

/* Rows that are equal without their directories are one; its order is the first one's. */
#define PSTATS_SUM_LIST(X) \
    X(PSTATS_CALLS, "", "", COUNT, SHOWN, SUM) \
    X(PSTATS_PRIMITIVE, "", "", COUNT, SHOWN, SUM) \
    X(PSTATS_SELF, "", "", NUMBER, SHOWN, SUM) /* in seconds */ \
    X(PSTATS_CUMULATIVE, "", "", NUMBER, SHOWN, SUM)
#define PSTATS_COLUMN_LIST(X) \
    X(PSTATS_SHOWN, "", "", TEXT, SHOWN, MADE) /* "file.c:3(name)" */ \
    X(PSTATS_FILE, "", "", TEXT, SHOWN, KEY) \
    X(PSTATS_LINE, "", "", ID, SHOWN, KEY) \
    X(PSTATS_NAME, "", "", TEXT, SHOWN, KEY) \
    PSTATS_SUM_LIST(X) \
    X(PSTATS_ORDER, "", "", ID, SHOWN, FIRST) /* of the table */
GNOMON__COLUMNS(pstats_columns, PSTATS_COLUMNS, PSTATS_COLUMN_LIST);

/* A row's callees or callers, in the order of file, line and name: the number of the row
 * under which it is printed; of the row that it names the rank and the name. */
#define EDGE_COLUMN_LIST(X) \
    X(EDGE_FROM, "", "", ID, SHOWN, KEY) \
    X(EDGE_RANK, "", "", ID, SHOWN, KEY) \
    X(EDGE_TO, "", "", TEXT, SHOWN, FIRST)
GNOMON__COLUMN_NUMBERS(EDGE_KEYS, EDGE_COLUMN_LIST);
static const gnomon__column edge_columns[PSTATS_ORDER] = {
    EDGE_COLUMN_LIST(GNOMON__COLUMN_ROW) PSTATS_SUM_LIST(GNOMON__COLUMN_ROW)};

typedef struct pstats_table {
    const gnomon__functions *table;
    const gnomon__pstats_query *query;
    const gnomon_writer *out;
    gnomon__report_rows rows, edges;
    uint32_t *number; /* by index in the table: of its row, from 1 */
    uint32_t
        *at; /* by number: where the row stands by source, then 1 + the first of
                         its edges */
    size_t shown; /* rows that are printed */
    uint64_t calls, primitive;
    double seconds;
} pstats_table;

/* ---- Rows ------------------------------------------------------------------ */

static void pstats_put_numbers(gnomon__cell *cells, uint64_t nc, uint64_t cc,
                               uint64_t tt_ns, uint64_t ct_ns)
{
    gnomon__cell_count(&cells[PSTATS_CALLS], nc);
    gnomon__cell_count(&cells[PSTATS_PRIMITIVE], cc);
    gnomon__cell_number(&cells[PSTATS_SELF], (double)tt_ns / 1e9);
    gnomon__cell_number(&cells[PSTATS_CUMULATIVE], (double)ct_ns / 1e9);
}

static void pstats_read(gnomon__report_rows *r)
{
    pstats_table *p = r->more;
    for (size_t i = 0; i < p->table->row_count; i++) {
        const gnomon__function *f = &p->table->rows[i];
        const char *slash = p->query->strip_dirs ? strrchr(f->file, '/') : NULL;
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[PSTATS_FILE],
                          gnomon_shown(p->out, slash ? slash + 1 : f->file));
        gnomon__cell_count(&cells[PSTATS_LINE], f->line);
        gnomon__cell_text(&cells[PSTATS_NAME], gnomon_shown(p->out, f->name));
        gnomon__cell_count(&cells[PSTATS_ORDER], i);
        pstats_put_numbers(cells, f->nc, f->cc, f->tt_ns, f->ct_ns);
        p->number[i] = gnomon__report_put(r);
        p->calls += f->nc;
        p->primitive += f->cc;
        p->seconds += (double)f->tt_ns / 1e9;
    }
}

static bool pstats_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const char *name = cells[PSTATS_NAME].text, *file = cells[PSTATS_FILE].text;
    const char *shown = name;
    const uint64_t line = cells[PSTATS_LINE].count;
    const size_t n = strlen(name);
    if (strcmp(file, "~") != 0 || line)
        shown = gnomon__table_keep(&r->table, "%s:%" PRIu64 "(%s)", file, line,
                                   name);
    else if (n > 1 && name[0] == '<' && name[n - 1] == '>')
        shown = gnomon__table_keep(&r->table, "{%.*s}", (int)n - 2, name + 1);
    if (!shown)
        r->code = GNOMON_ENOMEM;
    gnomon__cell_text(&cells[PSTATS_SHOWN], shown);
    return true;
}

/* The callee is the caller's row's, or the other way round. */
static void pstats_read_edges(gnomon__report_rows *r)
{
    const pstats_table *p = r->more;
    const bool callees = p->query->view == GNOMON__PSTATS_CALLEES;
    for (size_t i = 0; i < p->table->caller_count; i++) {
        const gnomon__caller *c = &p->table->callers[i];
        const uint32_t caller = p->number[c->caller];
        const uint32_t callee = p->number[c->callee];
        const uint32_t at = p->at[callees ? callee : caller];
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_count(&cells[EDGE_FROM], callees ? caller : callee);
        gnomon__cell_count(&cells[EDGE_RANK], at);
        gnomon__cell_text(
            &cells[EDGE_TO],
            gnomon__cells_of(&p->rows.table, at)[PSTATS_SHOWN].text);
        pstats_put_numbers(cells, c->nc, c->cc, c->tt_ns, c->ct_ns);
    }
}

static const gnomon__report pstats_rows = {.columns = pstats_columns,
                                           .column_count = PSTATS_COLUMNS,
                                           .read = pstats_read,
                                           .finish = pstats_finish};
static const gnomon__report pstats_edges = {.columns = edge_columns,
                                            .column_count = PSTATS_ORDER,
                                            .read = pstats_read_edges};

/* ---- Order ------------------------------------------------------------------- */

/* Sorting keeps the order of what is equal, so the first key comes last. */
static int pstats_sort(pstats_table *p)
{
    static const uint8_t columns[][3] = {
        [GNOMON__PSTATS_CALLS] = {PSTATS_CALLS},
        [GNOMON__PSTATS_CUMULATIVE] = {PSTATS_CUMULATIVE},
        [GNOMON__PSTATS_FILE] = {PSTATS_FILE},
        [GNOMON__PSTATS_LINE] = {PSTATS_LINE},
        [GNOMON__PSTATS_NAME] = {PSTATS_NAME},
        [GNOMON__PSTATS_NFL] = {PSTATS_LINE, PSTATS_FILE, PSTATS_NAME},
        [GNOMON__PSTATS_PRIMITIVE] = {PSTATS_PRIMITIVE},
        [GNOMON__PSTATS_STDNAME] = {PSTATS_SHOWN},
        [GNOMON__PSTATS_TIME] = {PSTATS_SELF}};
    gnomon__report_table *t = &p->rows.table;
    const gnomon__pstats_query *q = p->query;
    int code = gnomon__table_sort(t, PSTATS_ORDER);
    for (int i = q->sort_keys; !code && i-- > 0;) {
        const uint8_t *by = columns[q->sort[i]];
        code = gnomon__table_sort(t, by[0]);
        for (int k = 1; !code && k < 3 && by[k]; k++)
            code = gnomon__table_sort(t, by[k]);
    }
    if (q->reverse && q->sort_keys)
        gnomon__report_reverse(&p->rows);
    return code;
}

static size_t pstats_restrict(const gnomon__restriction *r, size_t count)
{
    if (r->is_fraction)
        return r->fraction >= 0 && r->fraction < 1
                   ? (size_t)((double)count * r->fraction + 0.5)
                   : count;
    return r->count >= 0 && (uint64_t)r->count < count ? (size_t)r->count
                                                       : count;
}

static int pstats_fill(pstats_table *p)
{
    static const gnomon__table_choice all = {.limit = SIZE_MAX, .sort = -1};
    const gnomon__report_table *rows = &p->rows.table, *edges = &p->edges.table;
    int code = gnomon__report_make(&p->rows, &pstats_rows, &all, p, NULL);
    for (size_t i = 0; !code && i < rows->row_count; i++)
        p->at[gnomon__report_number(&p->rows, i)] = (uint32_t)i;
    if (!code && p->query->view != GNOMON__PSTATS_STATS)
        code = gnomon__report_make(&p->edges, &pstats_edges, &all, p, NULL);
    memset(p->at, 0, (p->table->row_count + 1) * sizeof *p->at);
    for (size_t i = edges->row_count; !code && i > 0; i--)
        p->at[gnomon__cells_of(edges, i - 1)[EDGE_FROM].count] = (uint32_t)i;
    p->shown = rows->row_count;
    for (size_t i = 0; i < p->query->restriction_count; i++)
        p->shown = pstats_restrict(&p->query->restrictions[i], p->shown);
    return code ? code : pstats_sort(p);
}

/* ---- Words ----------------------------------------------------------------- */

/* Arrays: each pointer of a table costs the library 24 bytes for its loader. */
typedef struct pstats_word {
    char word[11];
    uint8_t key;
} pstats_word;

int gnomon__pstats_key(const char *word)
{
    /* In the order of pstats' own table, which decides what is ambiguous. */
    static const pstats_word words[] = {
        {"calls", GNOMON__PSTATS_CALLS},
        {"ncalls", GNOMON__PSTATS_CALLS},
        {"cumtime", GNOMON__PSTATS_CUMULATIVE},
        {"cumulative", GNOMON__PSTATS_CUMULATIVE},
        {"filename", GNOMON__PSTATS_FILE},
        {"line", GNOMON__PSTATS_LINE},
        {"module", GNOMON__PSTATS_FILE},
        {"name", GNOMON__PSTATS_NAME},
        {"nfl", GNOMON__PSTATS_NFL},
        {"pcalls", GNOMON__PSTATS_PRIMITIVE},
        {"stdname", GNOMON__PSTATS_STDNAME},
        {"time", GNOMON__PSTATS_TIME},
        {"tottime", GNOMON__PSTATS_TIME}};
    static const pstats_word numbers[] = {{"-1", GNOMON__PSTATS_STDNAME},
                                          {"0", GNOMON__PSTATS_CALLS},
                                          {"1", GNOMON__PSTATS_TIME},
                                          {"2", GNOMON__PSTATS_CUMULATIVE}};
    const size_t size = strlen(word);
    int found = GNOMON_EINVAL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].word, word) == 0)
            return numbers[i].key;
    for (size_t i = 0; size && i < sizeof words / sizeof *words; i++) {
        size_t shared =
            0; /* the most letters that it shares with a word before */
        if (strncmp(words[i].word, word, size) != 0)
            continue;
        for (size_t k = 0; k < i; k++) {
            size_t n = 0;
            while (words[k].word[n] && words[k].word[n] == words[i].word[n])
                n++;
            shared = n > shared ? n : shared;
        }
        if (found >= 0 && shared == size)
            return GNOMON_EINVAL;
        found = found < 0 ? words[i].key : found;
    }
    return found;
}

/* ---- Text ------------------------------------------------------------------ */

static void pstats_caption(const pstats_table *p)
{
    static const char captions[][21] = {
        [GNOMON__PSTATS_CALLS] = "call count",
        [GNOMON__PSTATS_CUMULATIVE] = "cumulative time",
        [GNOMON__PSTATS_FILE] = "file name",
        [GNOMON__PSTATS_LINE] = "line number",
        [GNOMON__PSTATS_NAME] = "function name",
        [GNOMON__PSTATS_NFL] = "name/file/line",
        [GNOMON__PSTATS_PRIMITIVE] = "primitive call count",
        [GNOMON__PSTATS_STDNAME] = "standard name",
        [GNOMON__PSTATS_TIME] = "internal time"};
    const gnomon__pstats_query *query = p->query;
    const gnomon_writer *out = p->out;
    size_t count = p->rows.table.row_count;
    if (query->sort_keys == 0)
        out->print(out, "   Random listing order was used\n");
    for (int i = 0; i < query->sort_keys; i++)
        out->print(out, "%s%s",
                   i ? ", " : "   Ordered by: ", captions[query->sort[i]]);
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

static void pstats_put(const gnomon_writer *out, const char *text)
{
    out->write(out, text, strlen(text));
}

/* A blank, and a time; or as many blanks. */
static void pstats_seconds(const gnomon_writer *out, double value,
                           bool is_known)
{
    char text[GNOMON__PYTHON_TEXT] = "";
    if (is_known)
        gnomon__python_fixed(text, value);
    out->print(out, " %8s", text);
}

static void pstats_calls(const gnomon_writer *out, int width,
                         const gnomon__cell *cells)
{
    const uint64_t nc = cells[PSTATS_CALLS].count;
    const uint64_t cc = cells[PSTATS_PRIMITIVE].count;
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, nc, cc);
    if (nc == cc)
        *strchr(text, '/') = 0;
    out->print(out, "%*s", width, text);
}

static void pstats_share(const gnomon_writer *out, double value, uint64_t calls)
{
    pstats_seconds(out, value, true);
    pstats_seconds(out, value / (double)(calls ? calls : 1), calls != 0);
}

static void pstats_print_stats(const pstats_table *p)
{
    const gnomon_writer *out = p->out;
    out->print(out, "   ncalls  tottime  percall  cumtime  percall "
                    "filename:lineno(function)\n");
    for (size_t i = 0; i < p->shown; i++) {
        const gnomon__cell *cells = gnomon__cells_of(&p->rows.table, i);
        pstats_calls(out, 9, cells);
        pstats_share(out, cells[PSTATS_SELF].number, cells[PSTATS_CALLS].count);
        pstats_share(out, cells[PSTATS_CUMULATIVE].number,
                     cells[PSTATS_PRIMITIVE].count);
        out->write(out, " ", 1);
        pstats_put(out, cells[PSTATS_SHOWN].text);
        out->write(out, "\n", 1);
    }
}

static size_t pstats_width(const pstats_table *p, size_t row)
{
    const char *text = gnomon__cells_of(&p->rows.table, row)[PSTATS_SHOWN].text;
    return gnomon__print_width(text, strlen(text));
}

static void pstats_print_edges(const pstats_table *p)
{
    const bool callees = p->query->view == GNOMON__PSTATS_CALLEES;
    const gnomon__report_table *edges = &p->edges.table;
    const gnomon_writer *out = p->out;
    size_t width = 0;
    for (size_t i = 0; i < p->shown; i++)
        width = pstats_width(p, i) > width ? pstats_width(p, i) : width;
    width += 2;
    out->print(out, "Function ");
    gnomon__print_many(out, ' ', width > 9 ? width - 9 : 0);
    out->print(out, "%s\n", callees ? "called..." : "was called by...");
    if (edges->row_count) {
        gnomon__print_many(out, ' ', width);
        out->print(out, "    ncalls  tottime  cumtime\n");
    }
    for (size_t i = 0; i < p->shown; i++) {
        const uint32_t number = gnomon__report_number(&p->rows, i);
        size_t first = p->at[number], at = first;
        pstats_put(out, gnomon__cells_of(&p->rows.table, i)[PSTATS_SHOWN].text);
        gnomon__print_many(out, ' ', width - pstats_width(p, i));
        out->print(out, callees ? "-> " : "<- ");
        for (; at && at <= edges->row_count &&
               gnomon__cells_of(edges, at - 1)[EDGE_FROM].count == number;
             at++) {
            const gnomon__cell *cells = gnomon__cells_of(edges, at - 1);
            gnomon__print_many(out, ' ', at > first ? width + 1 : 0);
            pstats_calls(out, at > first ? 9 : 7, cells);
            pstats_seconds(out, cells[PSTATS_SELF].number, true);
            pstats_seconds(out, cells[PSTATS_CUMULATIVE].number, true);
            out->write(out, "  ", 2);
            pstats_put(out, cells[EDGE_TO].text);
            out->write(out, "\n", 1);
        }
        out->write(out, "\n", !first);
    }
}

static int pstats_print(const pstats_table *p)
{
    const gnomon_writer *out = p->out;
    const bool is_stats = p->query->view == GNOMON__PSTATS_STATS;
    if (is_stats) {
        char text[GNOMON__PYTHON_TEXT];
        out->print(out, "         %" PRIu64 " function calls ", p->calls);
        if (p->calls != p->primitive)
            out->print(out, "(%" PRIu64 " primitive calls) ", p->primitive);
        gnomon__python_fixed(text, p->seconds);
        out->print(out, "in %s seconds\n\n", text);
    }
    if (p->shown == 0)
        return out->write(out, "", 0);
    pstats_caption(p);
    (is_stats ? pstats_print_stats : pstats_print_edges)(p);
    return out->write(out, "\n\n", 2);
}

int gnomon__pstats_print(const gnomon__functions *table,
                         const gnomon__pstats_query *query,
                         const gnomon_writer *out)
{
    pstats_table p = {.table = table, .query = query, .out = out};
    p.number = calloc(table->row_count + 1, sizeof *p.number);
    p.at = calloc(table->row_count + 1, sizeof *p.at);
    int code = p.number && p.at ? pstats_fill(&p) : GNOMON_ENOMEM;
    if (!code)
        code = pstats_print(&p);
    gnomon__report_free(&p.rows);
    gnomon__report_free(&p.edges);
    free(p.number);
    free(p.at);
    return code;
}

void gnomon__pstats_print_action(const char *action, int32_t rank,
                                 const gnomon_writer *out)
{
    out->print(out, "\nProfile stats for: ");
    pstats_put(out, gnomon_shown(out, action));
    if (rank >= 0)
        out->print(out, " rank: %" PRId32, rank);
    out->write(out, "\n", 1);
}
