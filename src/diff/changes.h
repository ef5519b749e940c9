/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What changed from A to B, as text, Markdown or JSON. */
#ifndef GNOMON_DIFF_CHANGES_H
#define GNOMON_DIFF_CHANGES_H

#include "diff/estimate.h"

/* A row. NAN: not there, or nothing can be said. */
typedef struct gnomon__changes_line {
    const char *name;
    double calls[2];   /* of A and B */
    double values[2];  /* in the table's unit */
    double relative;   /* of B to A; INFINITY: A is 0 */
    double low, high;  /* likewise */
    double confidence; /* 0 .. 1 */
    double total_ns[2];
    double key; /* by which it is ordered, descending; set when printed */
} gnomon__changes_line;

enum gnomon__changes_unit {
    GNOMON__CHANGES_NS,
    GNOMON__CHANGES_COUNT,
    GNOMON__CHANGES_SAMPLE /* of a counter: whatever it counts */
};

enum gnomon__changes_sort {
    GNOMON__CHANGES_TOTAL, /* by the difference of totals */
    GNOMON__CHANGES_CHANGE,
    GNOMON__CHANGES_CONFIDENCE,
    GNOMON__CHANGES_NAME
};

/* By gnomon__changes_sort, then NULL. */
extern const char *const gnomon__changes_words[];

enum gnomon__changes_form {
    GNOMON__CHANGES_TEXT_FORM,
    GNOMON__CHANGES_MD,
    GNOMON__CHANGES_JSON
};

/* By gnomon__changes_form, then NULL. */
extern const char *const gnomon__changes_forms[];

typedef struct gnomon__changes {
    const char *stage;           /* "": of none */
    enum gnomon__diff_kind kind; /* of its rows */
    const char *metric;          /* "mean" */
    enum gnomon__changes_unit unit;
    gnomon__changes_line *lines; /* put in order */
    size_t count;
    size_t limit;      /* so many lines are printed at most; 0: all */
    double confidence; /* with which they lie between low and high */
    enum gnomon__changes_sort sort;
    enum gnomon__changes_form form;
} gnomon__changes;

/* Sorts and prints a table: in JSON an object. GNOMON_ENOMEM, and nothing is printed, or the
 * writer's code. */
int gnomon__changes_print(const gnomon__changes *changes,
                          const gnomon_writer *out);

enum gnomon__changes_unit gnomon__changes_unit_of(enum gnomon__diff_kind kind,
                                                  enum gnomon__metric metric);

/* Texts of numbers: "1.204 ms", with `sign` its "+", too; "12" or "12.5" of
 * calls; "+10.5 %"; "99.93 %", rounded down; "1.6 % + 15 ns"; "+7.2 .. +13.9 %".
 * "-" where nothing can be said. Each returns text. */
#define GNOMON__CHANGES_TEXT 48
const char *gnomon__changes_value(char text[GNOMON__CHANGES_TEXT], double value,
                                  enum gnomon__changes_unit unit, int sign);
const char *gnomon__changes_percent(char text[GNOMON__CHANGES_TEXT],
                                    double share);
const char *gnomon__changes_sure(char text[GNOMON__CHANGES_TEXT],
                                 double confidence);
const char *gnomon__changes_drift(char text[GNOMON__CHANGES_TEXT],
                                  const gnomon__assumptions *assumed);
const char *gnomon__changes_between(char text[GNOMON__CHANGES_TEXT], double low,
                                    double high);

/* ---- JSON: changes_json.c ------------------------------------------------------ */

/* null of what is no finite number. */
void gnomon__changes_json_number(const gnomon_writer *out, const char *key,
                                 double value);
void gnomon__changes_json_text(const gnomon_writer *out, const char *key,
                               const char *text);

/* The lines are in order; the first `shown` are written. */
void gnomon__changes_json(const gnomon__changes *changes, size_t shown,
                          const gnomon_writer *out);

#endif
