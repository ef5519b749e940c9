/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Templates of files: README.md says what stands in them. A text is copied until a
 * dollar, what follows is replaced. The first mistake ends all. */
#ifndef GNOMON_TESTS_TEXT_FILL_H
#define GNOMON_TESTS_TEXT_FILL_H

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"

#define MOST_CELLS 64

typedef struct filling {
    const char *at;     /* the rest of the template */
    const char *values; /* name=value ... */
    const char *wrong;  /* NULL, or the first mistake */
    FILE *to;
} filling;

static char *text_fill(const char *text, const char *values,
                       const char **wrong);

static void set_wrong(filling *f, const char *what)
{
    f->wrong = f->wrong ? f->wrong : what;
    f->at = "";
}

static int take(filling *f, const char *word)
{
    const size_t n = strlen(word);
    f->at += strspn(f->at, " \n");
    if (strncmp(f->at, word, n) != 0)
        return 0;
    f->at += n;
    return 1;
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

/* To be freed; NULL: the name has no value. */
static char *value_of(const char *values, const char *name, size_t size)
{
    for (const char *at = values + strspn(values, " "); *at;
         at += strspn(at, " ")) {
        const char *value = at + strcspn(at, "= ");
        const size_t n = (size_t)(value - at);
        const int has_value = *value == '=', is_quoted = value[1] == '\'';
        const char *begin = value + has_value + (has_value && is_quoted);
        const size_t length =
            strcspn(begin, has_value && is_quoted ? "'" : " ");
        if (has_value && n == size && memcmp(at, name, n) == 0)
            return strndup(begin, length);
        at = begin + length + (begin[length] == '\'');
    }
    return NULL;
}

/* ---- Numbers ---------------------------------------------------------------- */

static int64_t sum(filling *f);

static int64_t atom(filling *f)
{
    char *end, *value;
    int64_t n = 0;
    if (take(f, "(")) {
        n = sum(f);
        if (!take(f, ")"))
            set_wrong(f, "a parenthesis is not closed");
        return n;
    }
    if (isdigit((unsigned char)*f->at)) {
        n = strtoll(f->at, &end, 10);
        f->at = end;
        return n;
    }
    const size_t size = name_length(f->at);
    value = value_of(f->values, f->at, size);
    if (!value || !*value)
        set_wrong(f, "a number or a name of one is missing");
    else
        n = strtoll(value, NULL, 10), f->at += size;
    free(value);
    return n;
}

static int64_t product(filling *f)
{
    int64_t n = atom(f), by;
    for (;;) {
        if (take(f, "*")) {
            n *= atom(f);
        } else if (take(f, "/")) {
            by = atom(f);
            n = by ? n / by : 0;
        } else {
            return n;
        }
    }
}

static int64_t sum(filling *f)
{
    int64_t n = product(f);
    for (;;) {
        if (take(f, "+"))
            n += product(f);
        else if (take(f, "-"))
            n -= product(f);
        else
            return n;
    }
}

/* ---- What stands after a dollar ------------------------------------------------ */

/* The text up to the parenthesis that closes it, which is moved past; to be freed. */
static char *until_closed(filling *f)
{
    const char *end = f->at;
    for (int depth = 1; *end && (depth += (*end == '(') - (*end == ')')); end++)
        ;
    char *text = strndup(f->at, (size_t)(end - f->at));
    if (*end)
        f->at = end + 1;
    else
        set_wrong(f, "a parenthesis is not closed");
    return text;
}

static void add_cell(gnomon_cell *cells, uint32_t *size, uint32_t cell,
                     uint64_t count)
{
    uint32_t i = *size;
    while (i && cells[i - 1].cell > cell)
        i--;
    if (i && cells[i - 1].cell == cell) {
        cells[i - 1].count += count;
        return;
    }
    memmove(cells + i + 1, cells + i, (*size - i) * sizeof *cells);
    cells[i] = (gnomon_cell){cell, 0, count};
    ++*size;
}

/* A number, in which `total` is one, too. */
static int64_t self_of(filling *f, uint64_t total)
{
    const char *values = f->values;
    char *more = NULL;
    if (asprintf(&more, "total=%llu %s", (unsigned long long)total, values) < 0)
        abort();
    f->values = more;
    const int64_t n = sum(f);
    f->values = values;
    free(more);
    return n;
}

/* $took(N of NS, NS, ..., self NS): the statistics of these durations. */
static void fill_took(filling *f)
{
    gnomon_cell cells[MOST_CELLS + 1] = {{0}};
    uint32_t size = 0;
    uint64_t count = 0, total = 0, least = UINT64_MAX, most = 0, self = 0;
    int has_self = 0;
    char *raw = until_closed(f);
    char *durations = text_fill(raw, f->values, &f->wrong);
    filling in = {durations ? durations : "0", f->values, f->wrong, f->to};
    do {
        uint64_t times = 1, ns;
        has_self = take(&in, "self ");
        if (has_self) {
            self = (uint64_t)self_of(&in, total);
            break;
        }
        ns = (uint64_t)sum(&in);
        if (take(&in, "of "))
            times = ns, ns = (uint64_t)sum(&in);
        if (!times)
            continue;
        add_cell(cells, &size, gnomon_cell_of(ns), times);
        count += times, total += times * ns;
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    } while (take(&in, ",") && size < MOST_CELLS);
    if (!in.wrong && *in.at)
        set_wrong(&in, "$took has durations and self");
    fprintf(f->to,
            "{\"count\": %llu, \"total_ns\": %llu, \"self_ns\": %llu, "
            "\"min_ns\": %llu, \"max_ns\": %llu, \"cells\": [",
            (unsigned long long)count, (unsigned long long)total,
            (unsigned long long)(has_self ? self : total),
            (unsigned long long)least, (unsigned long long)most);
    for (uint32_t i = 0; i < size; i++)
        fprintf(f->to, "%s[%u, %llu]", i ? ", " : "", cells[i].cell,
                (unsigned long long)cells[i].count);
    fputs("]}", f->to);
    if (in.wrong)
        set_wrong(f, in.wrong);
    free(raw);
    free(durations);
}

/* $list(NAME, FIRST, LAST, TEXT): the text for each number, with commas between. */
static void fill_list(filling *f)
{
    char *raw = until_closed(f);
    filling in = {raw, f->values, NULL, f->to};
    take(&in, ""); /* blanks */
    const char *name = in.at;
    const size_t size = name_length(name);
    in.at += size;
    int is_right = size && take(&in, ",");
    const int64_t first = sum(&in);
    is_right = is_right && take(&in, ",");
    const int64_t last = sum(&in);
    if (!is_right || !take(&in, ","))
        set_wrong(&in, "$list has a name, two numbers and a text");
    take(&in, "");
    for (int64_t i = first; i <= last && !in.wrong; i++) {
        char *values = NULL, *text;
        if (asprintf(&values, "%.*s=%lld %s", (int)size, name, (long long)i,
                     f->values) < 0)
            abort();
        text = text_fill(in.at, values, &in.wrong);
        if (text)
            fprintf(f->to, "%s%s", i > first ? ",\n" : "", text);
        free(text);
        free(values);
    }
    if (in.wrong)
        set_wrong(f, in.wrong);
    free(raw);
}

/* $NAME, ${NAME} or ${NAME:-DEFAULT} */
static void fill_value(filling *f)
{
    const int has_braces = *f->at == '{';
    const char *name = f->at + has_braces, *end = name + name_length(name);
    char *value = value_of(f->values, name, (size_t)(end - name));
    if (has_braces && strncmp(end, ":-", 2) == 0) {
        const size_t size = strcspn(end + 2, "}");
        value = value ? value : strndup(end + 2, size);
        end += 2 + size;
    }
    if (!value)
        set_wrong(f, "a name has no value");
    else if (has_braces && *end != '}')
        set_wrong(f, "${ is not closed");
    else
        fputs(value, f->to), f->at = end + has_braces;
    free(value);
}

static void fill(filling *f)
{
    while (*f->at) {
        if (*f->at != '$') {
            fputc(*f->at++, f->to);
            continue;
        }
        f->at++;
        if (*f->at == '(')
            fprintf(f->to, "%lld", (long long)atom(f));
        else if (take(f, "took("))
            fill_took(f);
        else if (take(f, "list("))
            fill_list(f);
        else
            fill_value(f);
    }
}

/* `values`: name=value ... Returns a text to be freed; NULL: *wrong says why. */
static char *text_fill(const char *text, const char *values, const char **wrong)
{
    char *filled = NULL;
    size_t size;
    filling f = {text, values, NULL, open_memstream(&filled, &size)};
    fill(&f);
    fclose(f.to);
    *wrong = f.wrong;
    if (f.wrong) {
        free(filled);
        filled = NULL;
    }
    return filled;
}

#endif
