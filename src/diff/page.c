/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The comparison as a page: its rows, each with how sure its change is, and its gates. */
#include <math.h>

#include "command/output.h"
#include "diff/show.h"
#include "page/sheet.h"

static void put_real(gnomon__sheet *s, const gnomon__cell *cells, int column)
{
    gnomon__sheet_put_real(s, cells[column].is_there ? cells[column].number
                                                     : (double)NAN);
}

static void put_row(gnomon__sheet *s, const gnomon__diff_row *row,
                    const gnomon__cell *cells)
{
    static const int columns[] = {
        GNOMON__DIFF_CALLS_A, GNOMON__DIFF_CALLS_B,    GNOMON__DIFF_A,
        GNOMON__DIFF_B,       GNOMON__DIFF_CHANGE,     GNOMON__DIFF_LOW,
        GNOMON__DIFF_HIGH,    GNOMON__DIFF_CONFIDENCE, GNOMON__DIFF_MORE};
    gnomon__sheet_put_text(s, row->stage);
    gnomon__sheet_put(s, (uint64_t)row->kind);
    gnomon__sheet_put_text(s, row->name);
    gnomon__sheet_put(s, cells[GNOMON__DIFF_LOW].number > 0 ||
                             cells[GNOMON__DIFF_HIGH].number < 0);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        put_real(s, cells, columns[i]);
}

static int write_page(void *context, int form, const gnomon_writer *out)
{
    const gnomon__diff_request *r = context;
    const gnomon__report_table *all = &r->diff->table.table;
    gnomon__sheet *s = gnomon__sheet_begin("diff");
    (void)form;
    if (!s)
        return GNOMON_ENOMEM;
    gnomon__sheet_table(s, "sides", "name jobs");
    for (int side = 0; side < 2; side++) {
        gnomon__sheet_put_text(s, r->names[side]);
        gnomon__sheet_put(s, r->diff->jobs[side].jobs);
    }
    gnomon__sheet_table(s, "changes",
                        "stage kind name isSure callsA:d callsB:d a:d b:d "
                        "change:d low:d high:d sure:d more:d");
    for (size_t i = 0; i < all->row_count; i++) {
        const gnomon__diff_row *row = gnomon__diff_row_at(r->diff, i);
        gnomon__cell *cells = gnomon__cells_of(all, i);
        if (!gnomon__diff_is_shown(r, row))
            continue;
        gnomon__diff_fill(r, row, cells);
        put_row(s, row, cells);
    }
    gnomon__sheet_table(s, "gates", "verdict gate text");
    for (size_t i = 0; i < r->said->count; i++) {
        gnomon__sheet_put(s, (uint64_t)r->said->at[i].verdict);
        gnomon__sheet_put_text(s, r->said->at[i].gate);
        gnomon__sheet_put_text(s, r->said->at[i].text);
    }
    return gnomon__sheet_end(s, "gnomon diff", out);
}

int gnomon__diff_make_page(const gnomon__diff_request *r)
{
    return gnomon__cli_make(r->page, write_page, (void *)(size_t)r);
}
