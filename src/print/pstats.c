/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints a table of functions as pstats does. A pure function of table and key.
 *
 * Seconds are the doubles that pstats would load from the table's .prof, added up in
 * the same order, so that the last digit is the same. Texts are compared byte by byte,
 * which in UTF-8 is Python's order of code points. Writers do nothing after an error,
 * so only the last call's code is checked.
 */
#include "print/pstats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print/python.h"

/* Rows that are equal without their directories are one; its order is the first one's. */
#define PSTATS_COLUMN_LIST(X) \
    X(PSTATS_SHOWN, "", "", TEXT, SHOWN, MADE) /* "file.c:3(name)" */ \
    X(PSTATS_FILE, "", "", TEXT, SHOWN, KEY) \
    X(PSTATS_LINE, "", "", ID, SHOWN, KEY) \
    X(PSTATS_NAME, "", "", TEXT, SHOWN, KEY) \
    X(PSTATS_CALLS, "", "", COUNT, SHOWN, SUM) \
    X(PSTATS_PRIMITIVE, "", "", COUNT, SHOWN, SUM) \
    X(PSTATS_SELF, "", "", NUMBER, SHOWN, SUM) /* in seconds */ \
    X(PSTATS_CUMULATIVE, "", "", NUMBER, SHOWN, SUM) \
    X(PSTATS_ORDER, "", "", ID, SHOWN, FIRST) /* of the table */
GNOMON__COLUMNS(pstats_columns, PSTATS_COLUMNS, PSTATS_COLUMN_LIST);

typedef struct pstats_reading {
    const gnomon__functions *table;
    const gnomon_writer *out;
} pstats_reading;

/* ---- Rows ------------------------------------------------------------------ */

/* Without its folders, as strip_dirs leaves it. */
static const char *pstats_file(const gnomon__function *f,
                               const gnomon_writer *out)
{
    const char *slash = strrchr(f->file, '/');
    return gnomon_shown(out, slash ? slash + 1 : f->file);
}

static void pstats_read(gnomon__report_rows *r)
{
    const pstats_reading *p = r->more;
    for (size_t i = 0; i < p->table->row_count; i++) {
        const gnomon__function *f = &p->table->rows[i];
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[PSTATS_FILE], pstats_file(f, p->out));
        gnomon__cell_count(&cells[PSTATS_LINE], f->line);
        gnomon__cell_text(&cells[PSTATS_NAME], gnomon_shown(p->out, f->name));
        gnomon__cell_count(&cells[PSTATS_ORDER], i);
        gnomon__cell_count(&cells[PSTATS_CALLS], f->nc);
        gnomon__cell_count(&cells[PSTATS_PRIMITIVE], f->cc);
        gnomon__cell_number(&cells[PSTATS_SELF], (double)f->tt_ns / 1e9);
        gnomon__cell_number(&cells[PSTATS_CUMULATIVE], (double)f->ct_ns / 1e9);
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
    gnomon__cell_text(&cells[PSTATS_SHOWN], gnomon__report_kept(r, shown));
    return true;
}

static const gnomon__report pstats_rows = {.columns = pstats_columns,
                                           .column_count = PSTATS_COLUMNS,
                                           .read = pstats_read,
                                           .finish = pstats_finish};

/* ---- Order ------------------------------------------------------------------- */

/* Sorting keeps the order of what is equal, so the first key comes last. */
static int pstats_sort(gnomon__report_table *t, int key)
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
    int code = gnomon__table_sort(t, PSTATS_ORDER);
    for (int k = 0; !code && k < 3 && (!k || columns[key][k]); k++)
        code = gnomon__table_sort(t, columns[key][k]);
    return code;
}

int gnomon__pstats_make(gnomon__pstats *p, gnomon__report_table *keeper,
                        const gnomon__functions *table, int key,
                        const gnomon_writer *out)
{
    static const gnomon__table_choice all = {.limit = SIZE_MAX, .sort = -1};
    pstats_reading reading = {table, out};
    gnomon__report_rows rows;
    int code = gnomon__report_make(&rows, &pstats_rows, &all, &reading, NULL);
    code = code ? code : pstats_sort(&rows.table, key);
    *p = (gnomon__pstats){.key = key, .count = rows.table.row_count};
    p->rows = gnomon__table_take(keeper, (p->count + 1) * sizeof *p->rows);
    for (size_t i = 0; !code && p->rows && i < p->count; i++) {
        const gnomon__cell *cells = gnomon__cells_of(&rows.table, i);
        p->rows[i] = (gnomon__pstats_row){
            cells[PSTATS_CALLS].count, cells[PSTATS_PRIMITIVE].count,
            cells[PSTATS_SELF].number, cells[PSTATS_CUMULATIVE].number,
            cells[PSTATS_ORDER].count};
    }
    gnomon__report_free(&rows);
    return p->rows ? code : GNOMON_ENOMEM;
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

static void pstats_caption(const gnomon__pstats *p,
                           const gnomon__restriction *cut, size_t left,
                           const gnomon_writer *out)
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
    char text[GNOMON__PYTHON_TEXT];
    out->print(out, "   Ordered by: %s\n", captions[p->key]);
    if (cut->is_fraction)
        gnomon__python_repr(text, cut->fraction);
    else
        snprintf(text, sizeof text, "%" PRId64, cut->count);
    if (left != p->count)
        out->print(out,
                   "   List reduced from %zu to %zu due to restriction <%s>\n",
                   p->count, left, text);
    out->write(out, "\n", 1);
}

static void pstats_put(const gnomon_writer *out, const char *text)
{
    out->write(out, text, strlen(text));
}

/* As in the column of the same name. */
static void pstats_put_function(const gnomon_writer *out,
                                const gnomon__function *f)
{
    const char *file = pstats_file(f, out), *name = gnomon_shown(out, f->name);
    const size_t n = strlen(name);
    if (strcmp(file, "~") != 0 || f->line)
        out->print(out, "%s:%" PRIu64 "(%s)", file, (uint64_t)f->line, name);
    else if (n > 1 && name[0] == '<' && name[n - 1] == '>')
        out->print(out, "{%.*s}", (int)n - 2, name + 1);
    else
        pstats_put(out, name);
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

static void pstats_calls(const gnomon_writer *out, uint64_t nc, uint64_t cc)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, nc, cc);
    if (nc == cc)
        *strchr(text, '/') = 0;
    out->print(out, "%9s", text);
}

static void pstats_share(const gnomon_writer *out, double value, uint64_t calls)
{
    pstats_seconds(out, value, true);
    pstats_seconds(out, value / (double)(calls ? calls : 1), calls != 0);
}

static void pstats_print_rows(const gnomon__pstats *p,
                              const gnomon__functions *table, size_t count,
                              const gnomon_writer *out)
{
    out->print(out, "   ncalls  tottime  percall  cumtime  percall "
                    "filename:lineno(function)\n");
    for (size_t i = 0; i < count; i++) {
        const gnomon__pstats_row *row = &p->rows[i];
        pstats_calls(out, row->calls, row->primitive);
        pstats_share(out, row->self, row->calls);
        pstats_share(out, row->cumulative, row->primitive);
        out->write(out, " ", 1);
        pstats_put_function(out, &table->rows[row->function]);
        out->write(out, "\n", 1);
    }
}

int gnomon__pstats_print(const gnomon__pstats *p,
                         const gnomon__functions *table,
                         const gnomon__restriction *cut,
                         const gnomon_writer *out)
{
    const size_t count = pstats_restrict(cut, p->count);
    char text[GNOMON__PYTHON_TEXT];
    uint64_t calls = 0, primitive = 0;
    double seconds = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        calls += table->rows[i].nc;
        primitive += table->rows[i].cc;
        seconds += (double)table->rows[i].tt_ns / 1e9;
    }
    out->print(out, "         %" PRIu64 " function calls ", calls);
    if (calls != primitive)
        out->print(out, "(%" PRIu64 " primitive calls) ", primitive);
    gnomon__python_fixed(text, seconds);
    out->print(out, "in %s seconds\n\n", text);
    if (!count)
        return out->write(out, "", 0);
    pstats_caption(p, cut, count, out);
    pstats_print_rows(p, table, count, out);
    return out->write(out, "\n\n", 2);
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
