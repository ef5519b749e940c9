/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A page: one HTML file that needs nothing else, made of the template (page.html, .css and
 * .js, which the build embeds) and of tables of numbers. A table's columns are apart, each
 * number as what it is more than the one above it, in as few bytes as that takes; then all
 * is compressed, where the build has zlib, and written as base64.
 *
 *     gnomon__sheet *s = gnomon__sheet_begin("profile");
 *     gnomon__sheet_table(s, "losses", "run kind count");
 *     gnomon__sheet_put(s, 1);              one number for each column, row by row
 *     gnomon__sheet_put_text(s, "events_lost");
 *     gnomon__sheet_put(s, 12);
 *     code = gnomon__sheet_end(s, "a title", out);
 *
 * The first error stays, and the end returns it. One thread at a time. */
#ifndef GNOMON_PAGE_SHEET_H
#define GNOMON_PAGE_SHEET_H

#include "gnomon/profile.h"

typedef struct gnomon__sheet gnomon__sheet;

/* `kind`: which page it is; page.js knows them. NULL: no memory. */
gnomon__sheet *gnomon__sheet_begin(const char *kind);

/* Begins a table; `columns` are names with blanks between them. A name that ends in ":d"
 * is of doubles. Both are constants. */
void gnomon__sheet_table(gnomon__sheet *s, const char *name,
                         const char *columns);
/* The next cell of the table. Numbers past 2^53, which JavaScript has no doubles for, are
 * 2^53 - 1: as ns 104 days. */
void gnomon__sheet_put(gnomon__sheet *s, uint64_t number);
void gnomon__sheet_put_signed(gnomon__sheet *s, int64_t number);
void gnomon__sheet_put_real(gnomon__sheet *s, double number);
/* Its number among the texts; "" and NULL are 0. */
void gnomon__sheet_put_text(gnomon__sheet *s, const char *text);
/* A row of zeroes: rows after it have the numbers of entities, from 1. */
void gnomon__sheet_put_none(gnomon__sheet *s);

/* Writes the page, and frees `s`, also where it fails. GNOMON_OK, GNOMON_ENOMEM or the
 * writer's code. `s` NULL: GNOMON_ENOMEM. */
int gnomon__sheet_end(gnomon__sheet *s, const char *title,
                      const gnomon_writer *out);
/* Without a page. NULL is ignored. */
void gnomon__sheet_free(gnomon__sheet *s);

#endif
