/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A column is a row of the table and a case of put_cell. */
#include "nsys/columns.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/escape.h"
#include "print/letters.h"

/* Where a cell is from: a field of the record, or of the work. */
enum source {
    IDX,
    SEQS,
    NUMBER,
    SUB,
    LIST,
    TRACE,
    DIR,
    WORD, /* of the work */
    KERNEL,
    SIZES,
    COUNT /* of the work */
};

#define OF_RECORD(field) offsetof(gnomon__nsys_record, field)
#define OF_WORK(field) offsetof(gnomon__work, field)
/* `width` 0: what the others leave. */
static const struct {
    const char *key, *title;
    int width;
    bool is_number;
    enum source source;
    size_t at;
} nsys_columns[GNOMON__NSYS_COLUMNS] = {
    {"idx", "Idx", 7, true, IDX, 0},
    {"seq", "SeqId", 7, false, SEQS, OF_RECORD(seqs)},
    {"altseq", "AltSeqId", 7, false, SEQS, OF_RECORD(other_seqs)},
    {"tid", "TId", 12, true, NUMBER, OF_RECORD(thread)},
    {"layer", "Layer", 10, false, LIST, OF_RECORD(layers)},
    {"trace", "Trace", 25, false, TRACE, OF_RECORD(trace)},
    {"dir", "Direction", 5, false, DIR, 0},
    {"sub", "Sub", 3, true, SUB, 0},
    {"mod", "Module", 15, false, WORD, OF_WORK(mod)},
    {"op", "Op", 15, false, WORD, OF_WORK(op)},
    {"kernel", "Kernel", 0, false, KERNEL, 0},
    {"params", "Params", 0, false, WORD, OF_WORK(params)},
    {"sil", "Sil(ns)", 10, true, NUMBER, OF_RECORD(ns)},
    {"tc", "TC", 2, false, WORD, OF_WORK(tensor_cores)},
    {"device", "Device", 3, true, NUMBER, OF_RECORD(device)},
    {"stream", "Stream", 3, true, NUMBER, OF_RECORD(stream)},
    {"grid", "Grid", 12, false, SIZES, OF_RECORD(grid)},
    {"block", "Block", 12, false, SIZES, OF_RECORD(block)},
    {"flops", "FLOPs", 12, true, COUNT, OF_WORK(flops)},
    {"bytes", "Bytes", 12, true, COUNT, OF_WORK(bytes)}};

const char *const gnomon__nsys_by_words[] = {
    "op", "module", "layer", "kernel", "range", "step", "collective", NULL};

/* In the order of stats.c. */
const char *const gnomon__nsys_stats_names[] = {
    "cuda_api_sum",          "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum", "nvtx_sum",          "nvtx_gpu_proj_sum",
    "nvtx_gpu_proj_trace",   "nvtx_kern_sum",     NULL};

int gnomon__nsys_column(const char *option, const char *key, size_t length)
{
    char keys[256];
    size_t n = 0;
    for (int c = 0; c < GNOMON__NSYS_COLUMNS; c++) {
        if (strlen(nsys_columns[c].key) == length &&
            !memcmp(nsys_columns[c].key, key, length))
            return c;
        n += (size_t)snprintf(keys + n, sizeof keys - n, "%s%s", c ? "," : "",
                              nsys_columns[c].key);
    }
    gnomon__log("%s: no column '%.*s': there are %s", option, (int)length, key,
                keys);
    return -1;
}

int gnomon__nsys_choose(gnomon__nsys_table *t, const char *words)
{
    t->count = 0;
    for (const char *at = words ? words
                                : "idx,dir,sub,mod,op,kernel,params,sil";
         *at; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        const int c = gnomon__nsys_column("-c", at, n);
        if (c < 0)
            return GNOMON__EXIT_USAGE;
        if (t->count == GNOMON__NSYS_COLUMNS) {
            gnomon__log("-c: more than %d columns", GNOMON__NSYS_COLUMNS);
            return GNOMON__EXIT_USAGE;
        }
        t->columns[t->count++] = c;
        at += n;
    }
    return GNOMON__EXIT_OK;
}

/* ---- Cells ------------------------------------------------------------------------------ */

/* A cell's text as it grows; what does not fit is cut off. For people names are escaped,
 * so that a row stays a line, and nothing of a file is an order to a terminal. */
typedef struct cell {
    char *text;
    size_t used, size;
    bool is_shown;
} cell;

static void put(cell *c, const char *text)
{
    char *to = c->text + c->used;
    const size_t room = c->size - c->used;
    if (c->is_shown) {
        c->used += gnomon__escape_copy(text, to, room);
        return;
    }
    const size_t n = strlen(text);
    const size_t fits = n < room ? n : room - 1;
    memcpy(to, text, fits);
    to[fits] = 0;
    c->used += fits;
}

static void put_number(cell *c, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(c, text);
}

static void put_list(cell *c, const gnomon__texts *t, const char *between)
{
    for (size_t i = 0; i < t->count; i++) {
        put(c, i ? between : "");
        put(c, t->at[i]);
    }
    put(c, t->count ? "" : "-");
}

static void put_numbers(cell *c, const void *numbers, size_t count)
{
    const int64_t *at = numbers;
    for (size_t i = 0; i < count; i++) {
        put(c, i ? "," : "");
        put_number(c, at[i]);
    }
    put(c, count ? "" : "-");
}

/* In a width only the name of the innermost file is there. */
static void put_trace(const gnomon__nsys_table *t, cell *c,
                      const gnomon__texts *trace)
{
    if (t->form != GNOMON__NSYS_WIDTH || !trace->count) {
        put_list(c, trace, ",");
        return;
    }
    const char *frame = trace->at[trace->count - 1],
               *slash = strrchr(frame, '/');
    put(c, slash ? slash + 1 : frame);
}

static void put_cell(const gnomon__nsys_table *t, cell *c, int column,
                     const gnomon__nsys_record *r, const gnomon__work *w)
{
    const void *in_record = (const char *)r + nsys_columns[column].at,
               *in_work = (const char *)w + nsys_columns[column].at;
    c->used = 0;
    c->text[0] = 0;
    switch (nsys_columns[column].source) {
    case IDX:
        put_number(c, (int64_t)t->rows);
        break;
    case SEQS:
        put_numbers(c, ((const gnomon__seqs *)in_record)->at,
                    ((const gnomon__seqs *)in_record)->count);
        break;
    case NUMBER:
        put_number(c, *(const int64_t *)in_record);
        break;
    case SUB:
        put_number(c, r->sub);
        break;
    case LIST:
        put_list(c, in_record, ":");
        break;
    case TRACE:
        put_trace(t, c, in_record);
        break;
    case DIR:
        put(c, r->is_backward ? "bprop" : "fprop");
        break;
    case WORD:
        put(c, *(const char *const *)in_work);
        break;
    case KERNEL:
        put(c, r->name);
        for (char *at = c->text; (at = strchr(at, ' '));)
            *at = '_';
        break;
    case SIZES:
        put_numbers(c, in_record, 3);
        break;
    default:
        put_number(c, (int64_t) * (const uint64_t *)in_work);
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* The least width of the columns, as PyProf counts it: without the blanks between them. */
static int least_width(const gnomon__nsys_table *t)
{
    int least = 0;
    for (int i = 0; i < t->count; i++)
        least += nsys_columns[t->columns[i]].width;
    return least;
}

/* What is left goes to the columns without one. */
static int width_of(const gnomon__nsys_table *t, int column)
{
    int open = 0;
    for (int i = 0; i < t->count; i++)
        open += !nsys_columns[t->columns[i]].width;
    return nsys_columns[column].width
               ? nsys_columns[column].width
               : (t->width - least_width(t)) / (open ? open : 1);
}

void gnomon__nsys_put_csv(FILE *to, const char *text, bool is_number,
                          bool quotes)
{
    quotes |= strpbrk(text, ",\"\r\n") != NULL;
    fputs(quotes ? "\"" : "", to);
    if (!is_number && text[0] && text[1] && /* "-" is none */
        gnomon__print_is_formula(text))
        fputc('\'', to);
    for (; *text; text++)
        fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    fputs(quotes ? "\"" : "", to);
}

void gnomon__nsys_put_member(FILE *to, bool is_first, const char *key,
                             const char *text, bool is_number)
{
    const gnomon_writer out = gnomon__cli_writer(to);
    fprintf(to, "%s\"%s\": ", is_first ? " {" : ", ", key);
    if (text && !is_number)
        gnomon__cli_put_json(&out, text);
    else
        fputs(text ? text : "null", to);
}

static void print_text(const gnomon__nsys_table *t, FILE *to, int i,
                       const char *text, bool is_number)
{
    const int width =
        t->form == GNOMON__NSYS_WIDTH ? width_of(t, t->columns[i]) : 0;
    switch (t->form) {
    case GNOMON__NSYS_WORDS:
        fprintf(to, "%s%s", i ? " " : "", text);
        break;
    case GNOMON__NSYS_WIDTH:
        if (is_number)
            fprintf(to, "%*s ", width, text);
        else
            fprintf(to, "%-*.*s ", width, width, text);
        break;
    default:
        fputs(i ? "," : "", to);
        gnomon__nsys_put_csv(to, text, is_number, true);
    }
}

int gnomon__nsys_head(gnomon__nsys_table *t)
{
    if (t->form == GNOMON__NSYS_WIDTH && t->width < least_width(t)) {
        fputs("Minimum width required to print ", stdout);
        for (int i = 0; i < t->count; i++)
            printf("%s%s", i ? "," : "", nsys_columns[t->columns[i]].key);
        printf(" = %d. Exiting.\n", least_width(t));
        return GNOMON__EXIT_USAGE;
    }
    for (int i = 0; i < t->count && t->form != GNOMON__NSYS_JSON; i++)
        print_text(t, t->to, i, nsys_columns[t->columns[i]].title, false);
    fputs(t->form == GNOMON__NSYS_JSON ? "[" : "\n", t->to);
    return GNOMON__EXIT_OK;
}

/* Of people's forms a terminal obeys nothing in a name. */
static void print_row(const gnomon__nsys_table *t, FILE *to,
                      const gnomon__nsys_record *r, const gnomon__work *w)
{
    char text[16384];
    const bool is_csv = t->form == GNOMON__NSYS_CSV;
    cell c = {text, 0, sizeof text,
              t->form < GNOMON__NSYS_CSV || (is_csv && isatty(fileno(t->to)))};
    for (int i = 0; i < t->count; i++) {
        const int column = t->columns[i];
        put_cell(t, &c, column, r, w);
        if (t->form == GNOMON__NSYS_JSON)
            gnomon__nsys_put_member(to, !i, nsys_columns[column].key, text,
                                    nsys_columns[column].is_number);
        else
            print_text(t, to, i, text, nsys_columns[column].is_number);
    }
    fputs(t->form == GNOMON__NSYS_JSON ? "}" : "\n", to);
}

bool gnomon__nsys_between(gnomon__nsys_table *t)
{
    const bool is_json = t->form == GNOMON__NSYS_JSON;
    if (t->printed == t->limit)
        return false;
    fputs(is_json ? t->printed ? ",\n" : "\n" : "", t->to);
    t->printed++;
    return true;
}

enum { KEY_NUMBER, KEY_TEXT, ROW_LINE };
static const gnomon__column kept_columns[] = {
    [KEY_NUMBER] = {.key = "number", .kind = GNOMON__CELL_NUMBER},
    [KEY_TEXT] = {.key = "text", .kind = GNOMON__CELL_TEXT},
    [ROW_LINE] = {.key = "line", .kind = GNOMON__CELL_TEXT}};

static bool keep_row(gnomon__nsys_table *t, const gnomon__nsys_record *r,
                     const gnomon__work *w)
{
    char text[256];
    cell c = {text, 0, sizeof text, false};
    if (!t->line_to) {
        t->kept.columns = kept_columns;
        t->kept.column_count = sizeof kept_columns / sizeof *kept_columns;
        t->line_to = open_memstream(&t->line, &t->line_size);
    }
    gnomon__cell *cells = t->line_to ? gnomon__table_add(&t->kept, 0, 0) : NULL;
    if (!cells)
        return false;
    rewind(t->line_to);
    print_row(t, t->line_to, r, w);
    fputc(0, t->line_to);
    put_cell(t, &c, t->sort, r, w);
    const char *key = "", *line = NULL;
    if (nsys_columns[t->sort].is_number)
        gnomon__cell_number(&cells[KEY_NUMBER], strtod(text, NULL));
    else
        key = gnomon__table_keep(&t->kept, "%s", text);
    if (!fflush(t->line_to))
        line = gnomon__table_keep(&t->kept, "%s", t->line);
    gnomon__cell_text(&cells[KEY_TEXT], key ? key : "");
    gnomon__cell_text(&cells[ROW_LINE], line ? line : "");
    return key && line;
}

bool gnomon__nsys_row(gnomon__nsys_table *t, const gnomon__nsys_record *r,
                      const gnomon__work *w)
{
    t->rows++;
    if (t->sort >= 0)
        return keep_row(t, r, w);
    if (!gnomon__nsys_between(t))
        return true;
    print_row(t, t->to, r, w);
    return true;
}

bool gnomon__nsys_foot(gnomon__nsys_table *t)
{
    const bool is_json = t->form == GNOMON__NSYS_JSON;
    bool ok = !t->kept.row_count ||
              !gnomon__table_sort(&t->kept, nsys_columns[t->sort].is_number
                                                ? KEY_NUMBER
                                                : KEY_TEXT);
    for (size_t i = 0; ok && i < t->kept.row_count && gnomon__nsys_between(t);
         i++)
        fputs(gnomon__cells_of(&t->kept, i)[ROW_LINE].text, t->to);
    if (is_json)
        fputs(t->printed ? "\n]\n" : "]\n", t->to);
    gnomon__table_free(&t->kept);
    if (t->line_to)
        fclose(t->line_to);
    free(t->line);
    return ok;
}
