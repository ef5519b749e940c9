/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables for programs: csv by RFC 4180, and JSON. Times are in ns. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/report.h"
#include "print/letters.h"
#include "print/table.h"

/* ---- Cells ----------------------------------------------------------------------- */

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

/* ---- csv ------------------------------------------------------------------------- */

static void put_csv_text(const gnomon_writer *out, const char *text)
{
    const char *guard = gnomon__print_is_formula(text) ? "'" : "";
    if (!strpbrk(text, ",\"\r\n")) {
        out->print(out, "%s", guard);
        out->write(out, text, strlen(text));
        return;
    }
    out->print(out, "\"%s", guard);
    for (size_t n; n = strcspn(text, "\""), text[n]; text += n + 1) {
        out->write(out, text, n + 1);
        out->write(out, "\"", 1);
    }
    out->write(out, text, strlen(text));
    out->write(out, "\"", 1);
}

static void put_csv_head(const gnomon__report_table *t,
                         const gnomon__table_choice *c,
                         const gnomon_writer *out)
{
    out->print(out, "stage");
    if (t->group_word)
        out->print(out, ",%s", t->group_word);
    if (t->inner_word)
        out->print(out, ",%s", t->inner_word);
    for (size_t k = 0; k < c->count; k++) {
        const gnomon__column *column = &t->columns[c->columns[k]];
        out->print(out, ",%s%s", column->key, unit_of(column));
    }
    out->write(out, "\n", 1);
}

static void put_csv_row(const gnomon__report_table *t,
                        const gnomon__table_choice *c,
                        const gnomon__table_row *row, const char *stage,
                        const gnomon_writer *out)
{
    put_csv_text(out, stage);
    if (t->group_word) {
        out->write(out, ",", 1);
        put_csv_text(out, t->groups[row->group]);
    }
    if (t->inner_word) {
        out->write(out, ",", 1);
        put_csv_text(out, t->inner_groups[row->group]);
    }
    for (size_t k = 0; k < c->count; k++) {
        const gnomon__cell *cell = &t->cells[row->cells + c->columns[k]];
        const gnomon__column *column = &t->columns[c->columns[k]];
        char text[32];
        out->write(out, ",", 1);
        if (!cell->is_there)
            continue;
        if (column->kind == GNOMON__CELL_TEXT)
            put_csv_text(out, cell->text);
        else if (data_number(text, column, cell))
            out->print(out, "%s", text);
    }
    out->write(out, "\n", 1);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void put_json_row(const gnomon__report_table *t,
                         const gnomon__table_choice *c,
                         const gnomon__table_row *row, const gnomon_writer *out)
{
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
    for (size_t k = 0; k < c->count; k++) {
        const gnomon__cell *cell = &t->cells[row->cells + c->columns[k]];
        const gnomon__column *column = &t->columns[c->columns[k]];
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

void gnomon__table_as_data(const gnomon__report_table *t,
                           const gnomon__table_choice *c,
                           const gnomon_profile *profile,
                           const gnomon_writer *out)
{
    bool is_csv = c->format == GNOMON__TABLE_CSV, is_first = true;
    gnomon_stage_info stage;
    size_t in_group = 0;
    if (t->stage)
        stage.name = t->stage;
    else if (!gnomon__table_stage(profile, &stage))
        stage.name = "";
    if (is_csv && !t->has_head)
        put_csv_head(t, c, out);
    else if (!is_csv && !t->has_head)
        put_json_head(t, profile, out);
    if (!is_csv)
        out->print(out, ", \"rows\": [");
    for (size_t i = 0; i < t->row_count; i++) {
        const gnomon__table_row *row = &t->rows[i];
        if (!i || row->group != t->rows[i - 1].group)
            in_group = 0;
        if (in_group++ >= c->limit)
            continue;
        if (is_csv) {
            put_csv_row(t, c, row, stage.name, out);
            continue;
        }
        out->write(out, is_first ? "\n" : ",\n", is_first ? 1 : 2);
        is_first = false;
        put_json_row(t, c, row, out);
    }
    if (!is_csv)
        out->print(out, "]}");
}
