/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of a comparison: one for each stage and kind of rows; and numbers as text,
 * for them and for gates. */
#ifndef GNOMON_DIFF_SHOW_H
#define GNOMON_DIFF_SHOW_H

#include "diff/compare.h"

/* ---- Numbers as text -------------------------------------------------------- */

enum gnomon__changes_unit {
    GNOMON__CHANGES_NS,
    GNOMON__CHANGES_ABOUT_NS, /* of a quantile, which is known to 3 to 6 % */
    GNOMON__CHANGES_COUNT,
    GNOMON__CHANGES_SAMPLE, /* of a counter: whatever it counts */
    GNOMON__CHANGES_BYTES
};

enum gnomon__changes_unit gnomon__changes_unit_of(enum gnomon__diff_kind kind,
                                                  enum gnomon__metric metric);

/* "1.204 ms", about "1.2 ms", with `sign` its "+", too; "12" or "12.5" of calls; "+10.5 %";
 * "99.93 %", rounded down; "1.6 % + 15 ns"; "+7.2 .. +13.9 %". "-" where nothing can be
 * said. Each returns text. */
#define GNOMON__CHANGES_TEXT 32
const char *gnomon__changes_value(char text[GNOMON__CHANGES_TEXT], double value,
                                  enum gnomon__changes_unit unit, int sign);
const char *gnomon__changes_percent(char text[GNOMON__CHANGES_TEXT],
                                    double share,
                                    enum gnomon__changes_unit unit);
const char *gnomon__changes_sure(char text[GNOMON__CHANGES_TEXT],
                                 double confidence);
const char *gnomon__changes_drift(char text[GNOMON__CHANGES_TEXT],
                                  const gnomon__assumptions *assumed);
const char *gnomon__changes_between(char text[GNOMON__CHANGES_TEXT], double low,
                                    double high,
                                    enum gnomon__changes_unit unit);

/* "key": value; null of what is no finite number. */
void gnomon__changes_json_number(const gnomon_writer *out, const char *key,
                                 double value);
void gnomon__changes_json_text(const gnomon_writer *out, const char *key,
                               const char *text);

/* ---- Tables ----------------------------------------------------------------- */

/* What is asked for. */
typedef struct gnomon__diff_request {
    gnomon__diff *diff;
    const char *stage; /* that alone; NULL: all */
    int metric;        /* its word; below 0: none was given */
    gnomon__table_choice choice;
    double confidence;
    gnomon__assumptions assumed;
    gnomon_writer out;
    const char *page; /* the file that the page of it is; NULL: none */
    struct gnomon__gate_lines
        *said;          /* gets what gates say; NULL: nobody asks */
    char *const *names; /* of the sides */
} gnomon__diff_request;

/* Whether a row is asked for; and its cells below the keys. */
int gnomon__diff_is_shown(const gnomon__diff_request *request,
                          const gnomon__diff_row *row);
void gnomon__diff_fill(const gnomon__diff_request *request,
                       const gnomon__diff_row *row, gnomon__cell *cells);

/* Words of --sort, then NULL, and the columns that they are. */
extern const char *const gnomon__diff_sort_words[];
extern const int gnomon__diff_sort_columns[];

/* The two sides and the tables; JSON is left open, for the gates, until
 * gnomon__diff_show_end(). GNOMON_OK, GNOMON_ENOMEM, or the writer's code. */
int gnomon__diff_show(const gnomon__diff_request *request);
/* `is_judged`: the gates were written, as gnomon__gates_judge() does. */
void gnomon__diff_show_end(const gnomon__diff_request *request, int is_judged);

/* What gates said, for the page. All but `gate` is owned. */
typedef struct gnomon__gate_lines {
    struct gnomon__gate_line {
        const char *gate;
        char *text;
        int verdict; /* gnomon__verdict */
    } * at;
    size_t count, room;
} gnomon__gate_lines;

/* Writes the page of the comparison (docs/reports.md). A gnomon__exit. */
int gnomon__diff_make_page(const gnomon__diff_request *request);

#endif
