/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables for people: text with aligned columns, and Markdown. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/letters.h"
#include "print/table.h"
#include "print/width.h"

#define LEAST_NAME 16u /* the least width of a clipped name */

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
    for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
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

/* The text of a cell; `room` is used for numbers. */
static const char *cell_shown(char room[32], const gnomon__report_table *t,
                              const gnomon__table_row *row, size_t column,
                              const gnomon_writer *out)
{
    const gnomon__cell *cell = &t->cells[row->cells + column];
    const char *text =
        t->shown ? t->shown(room, t, column, &t->cells[row->cells]) : NULL;
    if (text || !cell->is_there)
        return text ? text : "";
    switch (t->columns[column].kind) {
    case GNOMON__CELL_TEXT:
        return gnomon_shown(out, cell->text);
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

/* ---- Titles ---------------------------------------------------------------------- */

/* "FIT Regions, 2 stages added up"; as the titles of Lightning's reports. */
static void put_title(const gnomon__report_table *t, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    gnomon_stage_info stage;
    const char *name = t->stage ? t->stage : "";
    uint32_t count = 0;
    if (!t->is_part && !t->stage && gnomon__table_stage(p, &stage)) {
        name = stage.name;
        count = stage.count;
    }
    gnomon__print_title(out, name, t->title);
    if (t->group_word)
        out->print(out, " by %s", t->group_word);
    if (t->inner_word)
        out->print(out, " and %s", t->inner_word);
    if (count > 1)
        out->print(out, ", %" PRIu32 " stages added up", count);
    out->write(out, "\n", 1);
}

/* Columns of the terminal; 0: the output is not a terminal. */
static size_t terminal_width(const gnomon_writer *out)
{
    size_t reach = offsetof(gnomon_writer, columns) + sizeof out->columns;
    return out->struct_size >= reach ? out->columns : 0;
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
static void put_group(const gnomon__report_table *t, uint32_t group,
                      const gnomon_writer *out)
{
    const size_t most = terminal_width(out) ? terminal_width(out) : SIZE_MAX;
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

static void put_blanks(const gnomon_writer *out, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        out->write(out, blanks, sizeof blanks - 1);
    out->write(out, blanks, count);
}

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
        put_blanks(out, *blanks);
        *blanks = 0;
    }
    if (left && used > width)
        put_clipped(out, text, width);
    else
        out->write(out, text, strlen(text));
    if (left)
        *blanks += rest;
}

/* Whether the row is within the limit of its group. */
static bool is_shown(const gnomon__report_table *t, size_t row,
                     size_t *in_group, size_t limit)
{
    if (!row || t->rows[row].group != t->rows[row - 1].group)
        *in_group = 0;
    return (*in_group)++ < limit;
}

static void find_widths(const gnomon__report_table *t,
                        const gnomon__table_choice *c, const gnomon_writer *out,
                        size_t widths[])
{
    size_t in_group = 0;
    for (size_t k = 0; k < c->count; k++)
        widths[k] = text_width(t->columns[c->columns[k]].title);
    for (size_t i = 0; i < t->row_count; i++) {
        char room[32];
        if (!is_shown(t, i, &in_group, c->limit))
            continue;
        for (size_t k = 0; k < c->count; k++) {
            size_t column = c->columns[k];
            size_t n =
                text_width(cell_shown(room, t, &t->rows[i], column, out));
            if (t->is_tree && !column)
                n += 2 * (size_t)t->rows[i].depth;
            if (n > widths[k])
                widths[k] = n;
        }
    }
}

/* On a terminal texts become narrower, the name first, until the columns fit; then the last
 * ones are left out. Returns how many are not. */
static size_t fit_terminal(const gnomon__report_table *t,
                           const gnomon__table_choice *c,
                           const gnomon_writer *out, size_t widths[])
{
    const size_t most = terminal_width(out);
    size_t all = t->group_word ? 2 : 0;
    size_t count = c->count;
    for (size_t k = 0; k < count; k++)
        all += (k ? 2u : 0u) + widths[k];
    for (size_t i = 0; most && all > most && i < count; i++) {
        const size_t k = i ? count - i : 0;
        if (!is_left(t, c->columns[k]) || widths[k] <= LEAST_NAME)
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
    return count;
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

/* Only the first columns; the heading says whether there are more. */
static void put_row(const gnomon__report_table *t,
                    const gnomon__table_choice *c, size_t count,
                    const gnomon__table_row *row, const size_t widths[],
                    const gnomon_writer *out)
{
    char room[32];
    size_t blanks = t->group_word ? 2 : 0;
    for (size_t k = 0; k < count; k++) {
        size_t column = c->columns[k], width = widths[k];
        const char *text = row ? cell_shown(room, t, row, column, out)
                               : t->columns[column].title;
        if (k)
            blanks += 2;
        if (row && t->is_tree && !column) {
            size_t in = indent_of(text, row->depth, width);
            blanks += in;
            width -= in;
        }
        put_cell(out, text, width, is_left(t, column), &blanks);
    }
    if (!row && count < c->count)
        out->print(out, "  \xe2\x80\xa6");
    out->write(out, "\n", 1);
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

static void put_md_row(const gnomon__report_table *t,
                       const gnomon__table_choice *c,
                       const gnomon__table_row *row, const gnomon_writer *out)
{
    char room[32];
    for (size_t k = 0; k < c->count; k++) {
        size_t column = c->columns[k];
        out->write(out, k ? " | " : "| ", k ? 3 : 2);
        for (uint32_t i = 0; row && t->is_tree && !column && i < row->depth;
             i++)
            out->print(out, "&nbsp;&nbsp;");
        gnomon__put_md(out, row ? cell_shown(room, t, row, column, out)
                                : t->columns[column].title);
    }
    out->write(out, " |\n", 3);
}

static void put_md_rule(const gnomon__report_table *t,
                        const gnomon__table_choice *c, const gnomon_writer *out)
{
    for (size_t k = 0; k < c->count; k++)
        out->print(out, "|%s", is_left(t, c->columns[k]) ? " --- " : " ---: ");
    out->write(out, "|\n", 2);
}

/* ---- The whole ------------------------------------------------------------------- */

void gnomon__table_as_text(const gnomon__report_table *t,
                           const gnomon__table_choice *c, size_t widths[],
                           const gnomon_profile *profile,
                           const gnomon_writer *out)
{
    size_t in_group = 0;
    bool is_md = c->format == GNOMON__TABLE_MD;
    if (is_md)
        out->write(out, "### ", 4);
    put_title(t, profile, out);
    if (!t->row_count && t->if_empty)
        out->print(out, "\n%s\n", t->if_empty);
    find_widths(t, c, out, widths);
    const size_t count = fit_terminal(t, c, out, widths);
    for (size_t i = 0; i < t->row_count; i++) {
        const gnomon__table_row *row = &t->rows[i];
        if (!i || row->group != t->rows[i - 1].group) {
            out->write(out, "\n", 1);
            if (t->group_word && is_md)
                out->write(out, "#### ", 5);
            if (t->group_word)
                put_group(t, row->group, out);
            if (t->group_word && is_md)
                out->write(out, "\n", 1);
            if (is_md) {
                put_md_row(t, c, NULL, out);
                put_md_rule(t, c, out);
            } else {
                put_row(t, c, count, NULL, widths, out);
            }
        }
        if (!is_shown(t, i, &in_group, c->limit))
            continue;
        if (is_md)
            put_md_row(t, c, row, out);
        else
            put_row(t, c, count, row, widths, out);
    }
}
