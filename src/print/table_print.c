/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes tables: for people as text with aligned columns and as Markdown, for programs as
 * csv by RFC 4180 and as JSON, with times in ns. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/report.h"
#include "print/letters.h"
#include "print/table.h"

#define LEAST_NAME 16u /* the least width of a clipped name */

/* A table that is being written. */
typedef struct table_page {
    const gnomon__report_table *t;
    const gnomon_profile *profile;
    const gnomon_writer *out;
    const uint16_t *columns; /* that are shown */
    size_t *widths;          /* of them, as text */
    size_t count;            /* of them; as text those that fit the terminal */
    size_t cut;              /* others, on a terminal */
    bool is_md, is_csv;
} table_page;

/* ---- Cells ----------------------------------------------------------------------- */

static size_t text_width(const char *text)
{
    return gnomon__print_width(text, strlen(text));
}

const char *gnomon__print_number(char text[32], double value, bool is_exact)
{
    char raw[48], *to = text;
    const char *c = raw;
    if (value == 0) /* also -0 */
        value = 0;
    int n = 0;
    const bool is_whole = fabs(value) < 1e15 && value == (double)(int64_t)value;
    for (int digits = is_whole ? 15 : 6; isfinite(value) && digits <= 17;
         digits++) {
        n = snprintf(raw, sizeof raw, "%.*g", digits, value);
        if (!is_exact || strtod(raw, NULL) == value)
            break;
    }
    if (n <= 0 || n >= 31) {
        strcpy(text, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return text;
    }
    for (; *c; c++) { /* a locale's point may be several bytes */
        if (strchr("+-0123456789e", *c))
            *to++ = *c;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = 0;
    return text;
}

/* Two digits after the point. */
static void put_share(char text[32], double percent)
{
    if (isfinite(percent) && percent >= 0 && percent < 1e15) {
        uint64_t hundredths = (uint64_t)(percent * 100 + 0.5);
        (void)snprintf(text, 32, "%" PRIu64 ".%02d", hundredths / 100,
                       (int)(hundredths % 100));
    } else {
        (void)gnomon__print_number(text, percent, false);
    }
}

/* The text of a cell, of a column's heading where `row` is NULL; `room` is used for
 * numbers. */
static const char *cell_shown(char room[32], const table_page *p,
                              const gnomon__table_row *row, size_t column)
{
    const gnomon__report_table *t = p->t;
    if (!row)
        return t->columns[column].title;
    const gnomon__cell *cell = &t->cells[row->cells + column];
    const char *text =
        t->shown ? t->shown(room, t, column, &t->cells[row->cells]) : NULL;
    if (text || !cell->is_there)
        return text ? text : "";
    switch (t->columns[column].kind) {
    case GNOMON__CELL_TEXT:
        return gnomon_shown(p->out, cell->text);
    case GNOMON__CELL_TIME:
        return gnomon__print_duration(room, cell->count);
    case GNOMON__CELL_COUNT:
    case GNOMON__CELL_ID:
        (void)snprintf(room, 32, "%" PRIu64, cell->count);
        return room;
    case GNOMON__CELL_SHARE:
        put_share(room, cell->number);
        return room;
    default:
        return gnomon__print_number(room, cell->number, false);
    }
}

static const char *unit_of(const gnomon__column *column)
{
    return column->kind == GNOMON__CELL_TIME ? "_ns" : "";
}

/* A number, also valid in JSON; false: not finite. A recorded value is read back as the
 * same double. */
static bool data_number(char text[32], const gnomon__column *column,
                        const gnomon__cell *cell)
{
    if (column->kind == GNOMON__CELL_COUNT || column->kind == GNOMON__CELL_ID ||
        column->kind == GNOMON__CELL_TIME)
        (void)snprintf(text, 32, "%" PRIu64, cell->count);
    else if (!isfinite(cell->number))
        return false;
    else if (column->kind == GNOMON__CELL_VALUE &&
             fabs(cell->number) < 9007199254740992.0 && /* 2^53 */
             (double)(int64_t)cell->number == cell->number)
        (void)snprintf(text, 32, "%" PRId64, (int64_t)cell->number);
    else
        (void)gnomon__print_number(text, cell->number,
                                   column->kind != GNOMON__CELL_SHARE);
    return true;
}

/* ---- Titles ---------------------------------------------------------------------- */

/* "FIT Regions, 2 stages added up"; as the titles of Lightning's reports. */
static void put_title(const table_page *p)
{
    const gnomon__report_table *t = p->t;
    gnomon_stage_info stage;
    const char *name = t->stage ? t->stage : "";
    uint32_t count = 0;
    if (!t->is_part && !t->stage && gnomon__table_stage(p->profile, &stage)) {
        name = stage.name;
        count = stage.count;
    }
    gnomon__print_title(p->out, name, t->title);
    if (t->group_word)
        p->out->print(p->out, " by %s", t->group_word);
    if (t->inner_word)
        p->out->print(p->out, " and %s", t->inner_word);
    if (count > 1)
        p->out->print(p->out, ", %" PRIu32 " stages added up", count);
    p->out->write(p->out, "\n", 1);
}

/* Writes the text, clipped to `width` columns, of which the last is an ellipsis. */
static void put_clipped(const gnomon_writer *out, const char *text,
                        size_t width)
{
    const char *end = text;
    size_t count = 0;
    if (text_width(text) <= width) {
        out->write(out, text, strlen(text));
        return;
    }
    for (; *end; end++)
        if (((unsigned char)*end & 0xC0) != 0x80 && count++ + 1 >= width)
            break;
    out->write(out, text, (size_t)(end - text));
    out->write(out, "\xe2\x80\xa6", 3);
}

/* "Thread 0 train (4711)", "Rank 3, action step" */
static void put_group(const table_page *p, uint32_t group)
{
    const gnomon__report_table *t = p->t;
    const gnomon_writer *out = p->out;
    const size_t most = out->columns ? out->columns : SIZE_MAX;
    const size_t words =
        strlen(t->group_word) + (t->inner_word ? strlen(t->inner_word) + 4 : 1);
    const size_t rest = most > words + LEAST_NAME ? most - words : LEAST_NAME;
    char first = t->group_word[0];
    if (first >= 'a' && first <= 'z')
        first = (char)(first - 'a' + 'A');
    out->print(out, "%c%s ", first, t->group_word + 1);
    put_clipped(out, gnomon_shown(out, t->groups[group]),
                t->inner_word ? rest / 2 : rest);
    if (t->inner_word) {
        out->print(out, ", %s ", t->inner_word);
        put_clipped(out, gnomon_shown(out, t->inner_groups[group]), rest / 2);
    }
    out->write(out, "\n", 1);
}

/* ---- Text ------------------------------------------------------------------------ */

static bool is_left(const gnomon__report_table *t, size_t column)
{
    return t->columns[column].kind == GNOMON__CELL_TEXT;
}

/* Blanks are only counted until the next text, so that no line ends in blanks. */
static void put_cell(const gnomon_writer *out, const char *text, size_t width,
                     bool left, size_t *blanks)
{
    size_t used = text_width(text);
    size_t rest = used < width ? width - used : 0;
    if (!left)
        *blanks += rest;
    if (*text) {
        gnomon__print_many(out, ' ', *blanks);
        *blanks = 0;
    }
    if (left && used > width)
        put_clipped(out, text, width);
    else
        out->write(out, text, strlen(text));
    if (left)
        *blanks += rest;
}

static void find_widths(const table_page *p)
{
    const gnomon__report_table *t = p->t;
    char room[32];
    for (size_t i = 0; i <= t->row_count; i++) {
        const gnomon__table_row *row = i ? &t->rows[i - 1] : NULL;
        for (size_t k = 0; k < p->count; k++) {
            size_t n = text_width(cell_shown(room, p, row, p->columns[k]));
            if (row && t->is_tree && !p->columns[k])
                n += 2 * (size_t)row->depth;
            p->widths[k] = n > p->widths[k] ? n : p->widths[k];
        }
    }
}

/* On a terminal texts become narrower, the name first, until the columns fit; then the last
 * ones are left out. */
static void fit_terminal(table_page *p)
{
    const size_t most = p->out->columns;
    size_t *widths = p->widths, count = p->count;
    size_t all = p->t->group_word ? 2 : 0;
    for (size_t k = 0; k < count; k++)
        all += (k ? 2u : 0u) + widths[k];
    for (size_t i = 0; most && all > most && i < count; i++) {
        const size_t k = i ? count - i : 0;
        if (!is_left(p->t, p->columns[k]) || widths[k] <= LEAST_NAME)
            continue;
        const size_t over = all - most, spare = widths[k] - LEAST_NAME;
        widths[k] -= over < spare ? over : spare;
        all -= over < spare ? over : spare;
    }
    const size_t mark = all > most ? 3 : 0; /* what says that there are more */
    for (; most && count > 1 && all + mark > most;)
        all -= 2 + widths[--count];
    if (most && all + mark > most)
        widths[0] = most > mark ? most - mark : 1;
    p->cut = p->count - count;
    p->count = count;
}

/* Blanks before a name of a tree: fewer where the column is cut for a terminal, so that
 * some of the name is left. */
static size_t indent_of(const char *name, size_t depth, size_t width)
{
    size_t least = text_width(name) < 4 ? text_width(name) : 4;
    if (2 * depth + least <= width)
        return 2 * depth;
    return width > least ? width - least : 0;
}

/* The heading, where `row` is NULL, says whether there are more columns. */
static void put_row(const table_page *p, const gnomon__table_row *row)
{
    char room[32];
    size_t blanks = p->t->group_word ? 2 : 0;
    for (size_t k = 0; k < p->count; k++) {
        size_t column = p->columns[k], width = p->widths[k];
        const char *text = cell_shown(room, p, row, column);
        if (k)
            blanks += 2;
        if (row && p->t->is_tree && !column) {
            size_t in = indent_of(text, row->depth, width);
            blanks += in;
            width -= in;
        }
        put_cell(p->out, text, width, is_left(p->t, column), &blanks);
    }
    if (!row && p->cut)
        p->out->print(p->out, "  \xe2\x80\xa6");
    p->out->write(p->out, "\n", 1);
}

/* ---- Markdown -------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

void gnomon__put_md(const gnomon_writer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool in_word = c != text && is_letter(c[-1]) && is_letter(c[1]);
        if (*c == '\n' || *c == '\r') {
            out->write(out, " ", 1);
            continue;
        }
        if (strchr("\\`*<[|", *c) || (*c == '_' && !in_word))
            out->write(out, "\\", 1);
        out->write(out, c, 1);
    }
}

/* `row` NULL: the heading. */
static void put_md_row(const table_page *p, const gnomon__table_row *row)
{
    const gnomon_writer *out = p->out;
    char room[32];
    for (size_t k = 0; k < p->count; k++) {
        const size_t column = p->columns[k];
        const bool is_tree = row && p->t->is_tree && !column;
        out->write(out, k ? " | " : "| ", k ? 3 : 2);
        for (uint32_t i = 0; is_tree && i < row->depth; i++)
            out->print(out, "&nbsp;&nbsp;");
        gnomon__put_md(out, cell_shown(room, p, row, column));
    }
    out->write(out, " |\n", 3);
    for (size_t k = 0; !row && k < p->count; k++)
        out->print(out, "|%s",
                   is_left(p->t, p->columns[k]) ? " --- " : " ---: ");
    if (!row)
        out->write(out, "|\n", 2);
}

/* ---- csv ------------------------------------------------------------------------- */

static void put_csv_text(const gnomon_writer *out, const char *text)
{
    const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";
    out->print(out, "%s%s", quote, gnomon__print_is_formula(text) ? "'" : "");
    for (size_t n; n = strcspn(text, "\""), text[n]; text += n + 1) {
        out->write(out, text, n + 1);
        out->write(out, "\"", 1);
    }
    out->write(out, text, strlen(text));
    out->write(out, quote, strlen(quote));
}

/* `row` NULL: the names of the columns. */
static void put_csv_row(const table_page *p, const char *stage,
                        const gnomon__table_row *row)
{
    const gnomon__report_table *t = p->t;
    const gnomon_writer *out = p->out;
    put_csv_text(out, row ? stage : "stage");
    const char *const words[] = {t->group_word, t->inner_word};
    const char *const *const names[] = {t->groups, t->inner_groups};
    for (size_t i = 0; i < 2; i++)
        if (words[i]) {
            out->write(out, ",", 1);
            put_csv_text(out, row ? names[i][row->group] : words[i]);
        }
    for (size_t k = 0; k < p->count; k++) {
        const gnomon__column *column = &t->columns[p->columns[k]];
        char text[32];
        out->write(out, ",", 1);
        if (!row) {
            out->print(out, "%s%s", column->key, unit_of(column));
            continue;
        }
        const gnomon__cell *cell = &t->cells[row->cells + p->columns[k]];
        if (cell->is_there && column->kind == GNOMON__CELL_TEXT)
            put_csv_text(out, cell->text);
        else if (cell->is_there && data_number(text, column, cell))
            out->print(out, "%s", text);
    }
    out->write(out, "\n", 1);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_json_row(const table_page *p, const gnomon__table_row *row)
{
    const gnomon__report_table *t = p->t;
    const gnomon_writer *out = p->out;
    const char *between = "{";
    if (t->group_word) {
        out->print(out, "{\"%s\": ", t->group_word);
        gnomon_write_json(out, t->groups[row->group]);
        between = ", ";
    }
    if (t->inner_word) {
        out->print(out, ", \"%s\": ", t->inner_word);
        gnomon_write_json(out, t->inner_groups[row->group]);
    }
    for (size_t k = 0; k < p->count; k++) {
        const gnomon__cell *cell = &t->cells[row->cells + p->columns[k]];
        const gnomon__column *column = &t->columns[p->columns[k]];
        char text[32];
        out->print(out, "%s\"%s%s\": ", between, column->key, unit_of(column));
        between = ", ";
        if (cell->is_there && column->kind == GNOMON__CELL_TEXT)
            gnomon_write_json(out, cell->text);
        else
            out->print(out, "%s",
                       cell->is_there && data_number(text, column, cell)
                           ? text
                           : "null");
    }
    out->write(out, "}", 1);
}

/* The run and stage of the rows. */
static void put_json_head(const gnomon__report_table *t,
                          const gnomon_profile *p, const gnomon_writer *out)
{
    gnomon_run_info run;
    gnomon_stage_info stage;
    size_t stages = gnomon_profile_count(p, GNOMON_STAGES);
    out->print(out, "{\"report\": \"%s\"", t->name);
    if (gnomon_profile_count(p, GNOMON_RUNS) == 1 &&
        gnomon_profile_run(p, 1, &run) == GNOMON_OK && run.rank >= 0)
        out->print(out, ", \"rank\": %" PRId32, run.rank);
    else
        out->print(out, ", \"rank\": null");
    if (gnomon__table_stage(p, &stage)) {
        out->print(out, ", \"stage\": ");
        gnomon_write_json(out, stage.name);
    }
    if (stages == 1) {
        out->print(out,
                   ", \"ordinal\": %" PRIu32 ", \"stages\": %" PRIu32
                   ", \"wall_ns\": %" PRIu64 ", \"steps\": %" PRIu64,
                   stage.ordinal, stage.count ? stage.count : 1,
                   stage.recorded_ns ? stage.recorded_ns
                                     : stage.end_ns - stage.begin_ns,
                   stage.steps ? stage.steps->count : 0);
    } else {
        out->print(out, ", \"stages\": %zu", stages);
    }
}

/* ---- The whole ------------------------------------------------------------------- */

static void put_for_people(table_page *p)
{
    const gnomon__report_table *t = p->t;
    const gnomon_writer *out = p->out;
    void (*put_either)(const table_page *, const gnomon__table_row *) =
        p->is_md ? put_md_row : put_row;
    if (p->is_md)
        out->write(out, "### ", 4);
    put_title(p);
    if (!t->row_count && t->if_empty)
        out->print(out, "\n%s\n", t->if_empty);
    if (!p->is_md) {
        find_widths(p);
        fit_terminal(p);
    }
    for (size_t i = 0; i < t->row_count; i++) {
        const gnomon__table_row *row = &t->rows[i];
        if (!i || row->group != row[-1].group) {
            out->write(out, "\n", 1);
            if (t->group_word && p->is_md)
                out->write(out, "#### ", 5);
            if (t->group_word)
                put_group(p, row->group);
            if (t->group_word && p->is_md)
                out->write(out, "\n", 1);
            put_either(p, NULL);
        }
        put_either(p, row);
    }
}

static void put_for_programs(const table_page *p)
{
    const gnomon__report_table *t = p->t;
    const gnomon_writer *out = p->out;
    gnomon_stage_info stage = {.name = ""};
    if (!t->stage && !gnomon__table_stage(p->profile, &stage))
        stage.name = "";
    if (p->is_csv && !t->has_head)
        put_csv_row(p, NULL, NULL);
    else if (!t->has_head)
        put_json_head(t, p->profile, out);
    if (!p->is_csv)
        out->print(out, ", \"rows\": [");
    for (size_t i = 0; i < t->row_count; i++) {
        if (p->is_csv) {
            put_csv_row(p, t->stage ? t->stage : stage.name, &t->rows[i]);
            continue;
        }
        out->print(out, i ? ",\n" : "\n");
        put_json_row(p, &t->rows[i]);
    }
    if (!p->is_csv)
        out->print(out, "]}");
}

/* Whether the column has a cell that is not empty. */
static bool has_cells(const gnomon__report_table *t, size_t column)
{
    size_t i = 0;
    while (i < t->row_count && !t->cells[t->rows[i].cells + column].is_there)
        i++;
    return i < t->row_count;
}

/* Whether the groups say it already: their word is the column's key. */
static bool is_of_groups(const gnomon__report_table *t, size_t column)
{
    const char *key = t->columns[column].key;
    return column && t->group_word && strcmp(key, t->group_word) == 0;
}

/* Whether the column is shown where none are chosen. */
static bool is_preset(const gnomon__report_table *t, size_t column,
                      bool is_data)
{
    return is_data || !column ||
           (t->columns[column].shown == GNOMON__SHOWN && has_cells(t, column));
}

/* Returns how many columns it put into `to`. */
static size_t choose_shown(const gnomon__report_table *t,
                           const gnomon__table_choice *c, bool is_data,
                           uint16_t *to)
{
    const size_t most = c->count ? c->count : t->column_count;
    size_t count = 0;
    for (size_t i = 0; i < most; i++) {
        const size_t column = c->count ? c->columns[i] : i;
        if (!is_of_groups(t, column) &&
            (c->count || is_preset(t, column, is_data)))
            to[count++] = (uint16_t)column;
    }
    return count;
}

/* For each group. */
static void leave_out_rows(gnomon__report_table *t, size_t limit)
{
    size_t used = 0, in_group = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const gnomon__table_row row = t->rows[i];
        in_group = row.group == group ? in_group + 1 : 1;
        group = row.group;
        if (in_group <= limit)
            t->rows[used++] = row;
    }
    t->row_count = used;
}

int gnomon__table_print(gnomon__report_table *t, const gnomon__table_choice *c,
                        const gnomon_profile *profile, const gnomon_writer *out)
{
    const size_t most = c->count + t->column_count;
    const bool is_data =
        c->format == GNOMON__TABLE_CSV || c->format == GNOMON__TABLE_JSON;
    table_page p = {.t = t,
                    .profile = profile,
                    .out = out,
                    .is_md = c->format == GNOMON__TABLE_MD,
                    .is_csv = c->format == GNOMON__TABLE_CSV};
    p.widths = calloc(most, sizeof *p.widths + sizeof *p.columns);
    if (!p.widths || (!t->is_ordered && t->row_count > 1 &&
                      gnomon__table_sort(t, c->sort))) {
        free(p.widths);
        return GNOMON_ENOMEM;
    }
    uint16_t *shown = (uint16_t *)(void *)(p.widths + most);
    p.columns = shown;
    p.count = choose_shown(t, c, is_data, shown);
    leave_out_rows(t, c->limit);
    if (is_data)
        put_for_programs(&p);
    else
        put_for_people(&p);
    free(p.widths);
    return out->write(out, "", 0);
}
