/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The order in which pstats prints rows, and its words for that. Called by pstats.c.
 * The last key is always the row's index in the table, so sorting is stable. Texts are
 * compared byte by byte, which in UTF-8 is Python's order of code points.
 */
#include "print/pstats_sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ----------------------------------------------------------------- */

/* In the order of pstats' own table, which decides what is ambiguous. */
const char *const gnomon__pstats_keys[] = {
    "calls", "ncalls", "cumtime", "cumulative", "filename", "line",    "module",
    "name",  "nfl",    "pcalls",  "stdname",    "time",     "tottime", NULL};

/* What each of them means. */
static const int pstats_meanings[] = {
    GNOMON__PSTATS_CALLS,      GNOMON__PSTATS_CALLS,
    GNOMON__PSTATS_CUMULATIVE, GNOMON__PSTATS_CUMULATIVE,
    GNOMON__PSTATS_FILE,       GNOMON__PSTATS_LINE,
    GNOMON__PSTATS_FILE,       GNOMON__PSTATS_NAME,
    GNOMON__PSTATS_NFL,        GNOMON__PSTATS_PRIMITIVE,
    GNOMON__PSTATS_STDNAME,    GNOMON__PSTATS_TIME,
    GNOMON__PSTATS_TIME};

#define PSTATS_WORDS ((int)(sizeof pstats_meanings / sizeof pstats_meanings[0]))

const char *gnomon__pstats_caption(int key)
{
    static const char *const captions[] = {
        [GNOMON__PSTATS_CALLS] = "call count",
        [GNOMON__PSTATS_CUMULATIVE] = "cumulative time",
        [GNOMON__PSTATS_FILE] = "file name",
        [GNOMON__PSTATS_LINE] = "line number",
        [GNOMON__PSTATS_NAME] = "function name",
        [GNOMON__PSTATS_NFL] = "name/file/line",
        [GNOMON__PSTATS_PRIMITIVE] = "primitive call count",
        [GNOMON__PSTATS_STDNAME] = "standard name",
        [GNOMON__PSTATS_TIME] = "internal time"};
    return captions[key];
}

static size_t pstats_common(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Whether the first `size` letters of word `which` are ambiguous: they are as many as
 * the most that the word shares with a word before it. */
static int pstats_is_ambiguous(int which, size_t size)
{
    size_t longest = 0;
    for (int i = 0; i < which; i++) {
        size_t n =
            pstats_common(gnomon__pstats_keys[i], gnomon__pstats_keys[which]);
        longest = n > longest ? n : longest;
    }
    return longest == size;
}

int gnomon__pstats_key(const char *word)
{
    static const struct pstats_number {
        const char *word;
        int key;
    } numbers[] = {{"-1", GNOMON__PSTATS_STDNAME},
                   {"0", GNOMON__PSTATS_CALLS},
                   {"1", GNOMON__PSTATS_TIME},
                   {"2", GNOMON__PSTATS_CUMULATIVE}};
    size_t size = strlen(word);
    int first = -1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(numbers[i].word, word) == 0)
            return numbers[i].key;
    for (int i = 0; i < PSTATS_WORDS && size; i++) {
        if (strncmp(gnomon__pstats_keys[i], word, size) != 0)
            continue;
        if (first >= 0 && pstats_is_ambiguous(i, size))
            return GNOMON_EINVAL;
        first = first < 0 ? i : first;
    }
    return first < 0 ? GNOMON_EINVAL : pstats_meanings[first];
}

/* ---- Names ----------------------------------------------------------------- */

static void pstats_part(gnomon__pstats_name *name, int i, const char *text,
                        size_t size)
{
    name->part[i] = text;
    name->size[i] = size;
}

void gnomon__pstats_name_of(gnomon__pstats_name *name,
                            const gnomon__pstats_row *row)
{
    size_t n = strlen(row->name);
    memset(name, 0, sizeof *name);
    if (strcmp(row->file, "~") != 0 || row->line) {
        snprintf(name->line, sizeof name->line, ":%" PRIu32 "(", row->line);
        pstats_part(name, 0, row->file, strlen(row->file));
        pstats_part(name, 1, name->line, strlen(name->line));
        pstats_part(name, 2, row->name, n);
        pstats_part(name, 3, ")", 1);
    } else if (n > 1 && row->name[0] == '<' && row->name[n - 1] == '>') {
        pstats_part(name, 0, "{", 1);
        pstats_part(name, 1, row->name + 1, n - 2);
        pstats_part(name, 2, "}", 1);
    } else {
        pstats_part(name, 0, row->name, n);
    }
}

/* The next byte of a name; -1: the end. */
static int pstats_name_byte(const gnomon__pstats_name *name, int *part,
                            size_t *at)
{
    while (*part < GNOMON__PSTATS_PARTS && *at == name->size[*part]) {
        ++*part;
        *at = 0;
    }
    return *part < GNOMON__PSTATS_PARTS
               ? (unsigned char)name->part[*part][(*at)++]
               : -1;
}

static int pstats_compare_names(const gnomon__pstats_row *a,
                                const gnomon__pstats_row *b)
{
    gnomon__pstats_name left, right;
    int left_part = 0, right_part = 0, x, y;
    size_t left_at = 0, right_at = 0;
    gnomon__pstats_name_of(&left, a);
    gnomon__pstats_name_of(&right, b);
    do {
        x = pstats_name_byte(&left, &left_part, &left_at);
        y = pstats_name_byte(&right, &right_part, &right_at);
    } while (x == y && x >= 0);
    return (x > y) - (x < y);
}

/* ---- Order ----------------------------------------------------------------- */

#define PSTATS_UP(a, b) (((a) > (b)) - ((a) < (b)))

static int pstats_compare_source(const gnomon__pstats_row *a,
                                 const gnomon__pstats_row *b)
{
    int order = strcmp(a->file, b->file);
    if (!order)
        order = PSTATS_UP(a->line, b->line);
    return order ? order : strcmp(a->name, b->name);
}

int gnomon__pstats_same_source(const gnomon__pstats_row *a,
                               const gnomon__pstats_row *b)
{
    return pstats_compare_source(a, b) == 0;
}

/* Counts and times descend, the rest ascends. */
static int pstats_compare_key(const gnomon__pstats_row *a,
                              const gnomon__pstats_row *b, int key)
{
    int order = 0;
    switch (key) {
    case GNOMON__PSTATS_CALLS:
        return PSTATS_UP(b->nc, a->nc);
    case GNOMON__PSTATS_PRIMITIVE:
        return PSTATS_UP(b->cc, a->cc);
    case GNOMON__PSTATS_CUMULATIVE:
        return PSTATS_UP(b->ct, a->ct);
    case GNOMON__PSTATS_TIME:
        return PSTATS_UP(b->tt, a->tt);
    case GNOMON__PSTATS_STDNAME:
        return pstats_compare_names(a, b);
    case GNOMON__PSTATS_NFL:
    case GNOMON__PSTATS_NAME:
        order = strcmp(a->name, b->name);
        if (order || key == GNOMON__PSTATS_NAME)
            return order;
        order = strcmp(a->file, b->file);
        return order ? order : PSTATS_UP(a->line, b->line);
    case GNOMON__PSTATS_FILE:
        return strcmp(a->file, b->file);
    default:
        return PSTATS_UP(a->line, b->line);
    }
}

static int pstats_by_source(const void *left, const void *right)
{
    const gnomon__pstats_row *const *a = left, *const *b = right;
    int order = pstats_compare_source(*a, *b);
    return order ? order : PSTATS_UP((*a)->order, (*b)->order);
}

static int pstats_by_query(const void *left, const void *right)
{
    const gnomon__pstats_row *const *a = left, *const *b = right;
    const gnomon__pstats_query *q = (*a)->query;
    int order = 0;
    for (int i = 0; i < q->sort_keys && !order; i++)
        order = pstats_compare_key(*a, *b, q->sort[i]);
    if (!order)
        order = PSTATS_UP((*a)->order, (*b)->order);
    return q->reverse ? -order : order;
}

void gnomon__pstats_sort_source(gnomon__pstats_row **rows, size_t count)
{
    qsort(rows, count, sizeof *rows, pstats_by_source);
}

void gnomon__pstats_sort_query(gnomon__pstats_row **rows, size_t count)
{
    qsort(rows, count, sizeof *rows, pstats_by_query);
}
