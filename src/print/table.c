/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of a table, the options that choose what is written, and the order of
 * rows. */
#include "print/table.h"

#include "print/letters.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "print/order.h"

/* ---- Rows ---------------------------------------------------------------------- */

typedef struct gnomon__kept_text {
    struct gnomon__kept_text *next;
    max_align_t bytes[];
} gnomon__kept_text;

void *gnomon__table_take(gnomon__report_table *t, size_t size)
{
    gnomon__kept_text *kept = calloc(1, sizeof *kept + size);
    if (!kept)
        return NULL;
    kept->next = t->kept;
    t->kept = kept;
    return kept->bytes;
}

const char *gnomon__table_keep(gnomon__report_table *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = n < 0 ? NULL : gnomon__table_take(t, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(list, format);
    (void)vsnprintf(text, (size_t)n + 1, format, list);
    va_end(list);
    return text;
}

bool gnomon__table_grow(void *list, size_t *room, size_t need, size_t size)
{
    const size_t wide = *room ? 2 * *room : 16;
    void *of;
    if (need <= *room)
        return true;
    memcpy(&of, list, sizeof of);
    /* cppcheck-suppress memleakOnRealloc */
    of = realloc(of, (wide < need ? need : wide) * size);
    if (!of)
        return false;
    memcpy(list, &of, sizeof of);
    *room = wide < need ? need : wide;
    return true;
}

gnomon__cell *gnomon__table_add(gnomon__report_table *t, uint32_t group,
                                uint32_t depth)
{
    size_t first = t->row_count * t->column_count;
    if (!gnomon__table_grow(&t->rows, &t->row_room, t->row_count + 1,
                            sizeof *t->rows) ||
        !gnomon__table_grow(&t->cells, &t->cell_room, first + t->column_count,
                            sizeof *t->cells))
        return NULL;
    t->rows[t->row_count++] = (gnomon__table_row){group, depth, first};
    memset(&t->cells[first], 0, t->column_count * sizeof *t->cells);
    return &t->cells[first];
}

void gnomon__cell_text(gnomon__cell *cell, const char *text)
{
    cell->text = text;
    cell->is_there = true;
}

void gnomon__cell_count(gnomon__cell *cell, uint64_t count)
{
    cell->count = count;
    cell->is_there = true;
}

void gnomon__cell_number(gnomon__cell *cell, double number)
{
    cell->number = number;
    cell->is_there = true;
}

void gnomon__table_free(gnomon__report_table *t)
{
    while (t->kept) {
        gnomon__kept_text *next = t->kept->next;
        free(t->kept);
        t->kept = next;
    }
    free(t->rows);
    free(t->cells);
    t->rows = NULL;
    t->cells = NULL;
    t->row_count = t->row_room = t->cell_room = 0;
}

/* ---- Words --------------------------------------------------------------------- */

typedef struct table_words {
    const char *report;
    const gnomon__column *columns;
    size_t count;
    const gnomon_options *options;
} table_words;

/* Logs a wrong word, and what would be right. */
static void log_word(const table_words *w, const char *key, const char *word,
                     size_t n, const char *right)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%s: %s=%.*s: say %s", w->report, key,
                   n > 48 ? 48 : (int)n, word, right);
    w->options->log(line);
}

/* The same of a column. */
static void log_column(const table_words *w, const char *key, const char *word,
                       size_t n, const char *more)
{
    char right[416] = "";
    size_t used = 0;
    for (size_t i = 0; i < w->count && used < sizeof right; i++)
        used += (size_t)snprintf(right + used, sizeof right - used, "%s%s",
                                 i ? ", " : "", w->columns[i].key);
    if (used < sizeof right)
        (void)snprintf(right + used, sizeof right - used, "%s", more);
    log_word(w, key, word, n, right);
}

/* -1: no column has this name. */
static int column_named(const table_words *w, const char *word, size_t n)
{
    for (size_t i = 0; i < w->count; i++)
        if (gnomon__print_same_word(word, n, w->columns[i].key))
            return (int)i;
    return -1;
}

/* Words of columns= are separated by commas, bars or blanks. Where none of them is a
 * column the report has those that it has without columns=. */
static int choose_columns(gnomon__table_choice *c, const table_words *w,
                          const char *text)
{
    static const char between[] = "|, \t";
    bool is_any = false;
    uint16_t *columns = calloc(strlen(text) + w->count + 1, sizeof *columns);
    c->columns = columns;
    if (!columns)
        return GNOMON_ENOMEM;
    columns[c->count++] = 0; /* a row always has its name */
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t n = strcspn(text, between);
        int column = column_named(w, text, n);
        bool is_all = gnomon__print_same_word(text, n, "all");
        is_any |= is_all || column >= 0;
        if (is_all) {
            c->count = 0;
            for (size_t i = 0; i < w->count; i++)
                columns[c->count++] = (uint16_t)i;
        } else if (column < 0) {
            log_column(w, "columns", text, n, " or all");
        } else if (column) {
            columns[c->count++] = (uint16_t)column;
        }
        text += n;
    }
    if (!is_any)
        c->count = 0;
    return GNOMON_OK;
}

static void choose_format(gnomon__table_choice *c, const table_words *w,
                          const char *text)
{
    static const char *const formats[] = {[GNOMON__TABLE_TEXT] = "text",
                                          [GNOMON__TABLE_CSV] = "csv",
                                          [GNOMON__TABLE_MD] = "md",
                                          [GNOMON__TABLE_JSON] = "json"};
    const size_t n = strlen(text);
    int i = 0;
    while (i <= GNOMON__TABLE_JSON &&
           !gnomon__print_same_word(text, n, formats[i]))
        i++;
    if (i <= GNOMON__TABLE_JSON)
        c->format = i;
    else
        log_word(w, "format", text, n, "text, csv, md or json");
}

int gnomon__table_choose(gnomon__table_choice *c, const char *report,
                         const gnomon__column *columns, size_t column_count,
                         bool has_own_sort, const gnomon_options *options)
{
    const table_words w = {report, columns, column_count, options};
    int code = GNOMON_OK;
    const char *text;
    *c = (gnomon__table_choice){.is_table = true,
                                .limit = SIZE_MAX,
                                .sort = -1,
                                .log = options ? options->log : NULL};
    if (!options)
        return GNOMON_OK;
    if ((text = options->text(options, "columns")))
        code = choose_columns(c, &w, text);
    if ((text = options->text(options, "format")))
        choose_format(c, &w, text);
    if ((text = options->text(options, "limit"))) {
        const int64_t limit = options->number(options, "limit");
        if (limit > 0)
            c->limit = (size_t)limit;
        else
            log_word(&w, "limit", text, strlen(text), "how many rows, from 1");
    }
    if (!has_own_sort && (text = options->text(options, "sort"))) {
        c->sort = column_named(&w, text, strlen(text));
        if (c->sort < 0)
            log_column(&w, "sort", text, strlen(text), "");
    }
    return code;
}

void gnomon__table_destroy(void *self)
{
    gnomon__table_choice *c = self;
    if (c)
        free((void *)(size_t)c->columns);
    free(c);
}

bool gnomon__table_is_asked_for(const gnomon__table_choice *c)
{
    return c->count || c->by || c->sort >= 0 || c->format != GNOMON__TABLE_TEXT;
}

/* ---- Order --------------------------------------------------------------------- */

typedef struct table_key {
    gnomon__table_row row;
    union {
        const char *text;
        double number;
    };
    uint32_t index;
} table_key;

/* Numbers descend; texts and ids, whose number is negated, ascend. Empty cells come
 * last. */
GNOMON__ORDER(by_table_text, table_key, UP(row.group),
              OF(a->text && b->text ? strcmp(a->text, b->text)
                                    : !a->text - !b->text),
              UP(index))
GNOMON__ORDER(by_table_number, table_key, UP(row.group), DOWN(number),
              UP(index))

int gnomon__table_sort(gnomon__report_table *t, int sort)
{
    table_key *keys = calloc(t->row_count + 1, sizeof *keys);
    if (!keys)
        return GNOMON_ENOMEM;
    for (size_t i = 0; i < t->row_count; i++) {
        table_key *k = &keys[i];
        k->row = t->rows[i];
        k->index = (uint32_t)i;
        if (sort < 0)
            continue;
        const gnomon__cell *cell = &t->cells[k->row.cells + (size_t)sort];
        switch (t->columns[sort].kind) {
        case GNOMON__CELL_TEXT:
            k->text = cell->is_there ? cell->text : NULL;
            break;
        case GNOMON__CELL_COUNT:
        case GNOMON__CELL_TIME:
            k->number = cell->is_there ? (double)cell->count : -HUGE_VAL;
            break;
        case GNOMON__CELL_ID:
            k->number = cell->is_there ? -(double)cell->count : -HUGE_VAL;
            break;
        default:
            k->number = cell->is_there ? cell->number : -HUGE_VAL;
        }
    }
    GNOMON__SORT(keys, t->row_count,
                 sort >= 0 && t->columns[sort].kind == GNOMON__CELL_TEXT
                     ? by_table_text
                     : by_table_number);
    for (size_t i = 0; i < t->row_count; i++)
        t->rows[i] = keys[i].row;
    free(keys);
    return GNOMON_OK;
}

/* ---- Stages ------------------------------------------------------------ */

bool gnomon__table_stage(const gnomon_profile *p, gnomon_stage_info *out)
{
    size_t count = gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_stage_info other;
    if ((count > 1 && count != gnomon_profile_count(p, GNOMON_RUNS)) ||
        gnomon_profile_stage(p, 1, out) != GNOMON_OK)
        return false;
    for (size_t i = 2; i <= count; i++)
        if (gnomon_profile_stage(p, i, &other) != GNOMON_OK ||
            strcmp(other.name, out->name) != 0)
            return false;
    return true;
}

const char *gnomon__only_stage(const gnomon_profile *p)
{
    gnomon_stage_info stage;
    return gnomon_profile_count(p, GNOMON_STAGES) == 1 &&
                   gnomon_profile_stage(p, 1, &stage) == GNOMON_OK && stage.name
               ? stage.name
               : "";
}
