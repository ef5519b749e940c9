/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of several profiles, each of which is gone after it was added.
 *
 * links: testing */
#include "print/rows.h"

#include "gnomon/report.h"
#include "test.h"

enum { ROW_NAME, ROW_THREADS, ROW_TOP, ROW_TOP_SUM, ROW_TIMES, ROW_COLUMNS };

static const gnomon__column columns[ROW_COLUMNS] = {
    [ROW_NAME] = GNOMON__COLUMN("name", "Name", TEXT, SHOWN, KEY),
    [ROW_THREADS] = GNOMON__COLUMN("threads", "Threads", COUNT, SHOWN, ONCE),
    [ROW_TOP] = {"top", "Top", GNOMON__CELL_TEXT, GNOMON__SHOWN,
                 GNOMON__ROW_TOP, ROW_TOP_SUM},
    [ROW_TOP_SUM] = GNOMON__COLUMN("", "", COUNT, SHOWN, MADE),
    [ROW_TIMES] = GNOMON__COLUMN("", "", TEXT, HIDDEN, TIMES)};

typedef struct one_profile {
    gnomon_cell cell;
    gnomon_stats times;
    char name[8], top[8];
    uint64_t weight, paths;
} one_profile;

/* Three are two paths of one thread, and one of another. */
static void read_one(gnomon__report_rows *r)
{
    const one_profile *p = *(one_profile **)r->more;
    for (uint64_t i = 0; i < p->paths; i++) {
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        r->id = 1 + i / 2;
        gnomon__cell_text(&cells[ROW_NAME], p->name);
        gnomon__cell_count(&cells[ROW_THREADS], 1);
        gnomon__cell_text(&cells[ROW_TOP], p->top);
        gnomon__cell_count(&cells[ROW_TOP_SUM], p->weight);
        gnomon__cell_times(&cells[ROW_TIMES], &p->times);
    }
}

static const gnomon__report report = {
    .columns = columns, .column_count = ROW_COLUMNS, .read = read_one};

static void fill(one_profile *p, uint64_t ns, uint64_t count, const char *top)
{
    *p = (one_profile){.cell = {gnomon_cell_of(ns), 0, count},
                       .times = {.struct_size = sizeof p->times,
                                 .cells = &p->cell,
                                 .cell_count = 1,
                                 .count = count,
                                 .total_ns = ns * count,
                                 .self_ns = ns * count,
                                 .min_ns = ns,
                                 .max_ns = ns},
                       .weight = count,
                       .paths = 3};
    snprintf(p->name, sizeof p->name, "step");
    snprintf(p->top, sizeof p->top, "%s", top);
}

TEST(profiles_go_before_their_rows)
{
    gnomon__report_rows rows;
    static one_profile one;
    one_profile *at = &one;
    CHECK_EQ(gnomon__report_begin(&rows, &report, NULL, &at), GNOMON_OK);
    rows.keeps = true;
    for (uint64_t i = 1; i <= 3; i++) {
        fill(&one, 100 * i, i, i == 3 ? "b" : "a");
        CHECK_EQ(gnomon__report_add(&rows, NULL, NULL), GNOMON_OK);
        memset(&one, 0xA5, sizeof one);
    }
    CHECK_EQ(gnomon__report_end(&rows, NULL), GNOMON_OK);
    CHECK_EQ(rows.table.row_count, 1);
    const gnomon__cell *cells = gnomon__cells_of(&rows.table, 0);
    const gnomon_stats *times = gnomon__times_of(&cells[ROW_TIMES]);
    CHECK_STR(cells[ROW_NAME].text, "step");
    CHECK_EQ(cells[ROW_THREADS].count, 6); /* two of each profile */
    CHECK_STR(cells[ROW_TOP].text, "a");   /* 9 of each: the lower one */
    CHECK_EQ(cells[ROW_TOP_SUM].count, 9);
    CHECK_EQ(times->count, 18);
    CHECK_EQ(times->total_ns, 3 * (100 + 400 + 900));
    CHECK_EQ(times->min_ns, 100);
    CHECK_EQ(times->max_ns, 300);
    CHECK_EQ(times->cell_count, 3);
    gnomon__report_free(&rows);
}

TEST(the_only_path_of_a_row_is_its_top)
{
    gnomon__report_rows rows;
    one_profile one, *at = &one;
    fill(&one, 100, 7, "a");
    one.paths = 1;
    CHECK_EQ(gnomon__report_make(&rows, &report, NULL, &at, NULL), GNOMON_OK);
    const gnomon__cell *cells = gnomon__cells_of(&rows.table, 0);
    CHECK_STR(cells[ROW_TOP].text, "a");
    CHECK_EQ(cells[ROW_TOP_SUM].count, 7);
    gnomon__report_free(&rows);
}
