/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Wrong words: the nearest known one by Damerau-Levenshtein distance (optimal
 * string alignment: a letter more, less, other, or two neighbours exchanged),
 * and the lines about them. Called by the parsers of this folder, from control
 * calls only. Invariant: a complaint is one line of valid UTF-8 whatever bytes
 * were complained of, and none is lost uncounted. */
#include "spec/suggest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/escape.h"

#define SUGGEST_LONGEST 40

int gnomon__is_word(gnomon__text text, const char *word)
{
    size_t i = 0;
    while (i < text.length && word[i] &&
           gnomon__lower(text.at[i]) == gnomon__lower(word[i]))
        i++;
    return i == text.length && !word[i];
}

int gnomon__same_word(const char *a, const char *b)
{
    return gnomon__is_word((gnomon__text){a, strlen(a)}, b);
}

int64_t gnomon__digits(const char **at)
{
    int64_t value = 0;
    int is_full = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        is_full |= __builtin_mul_overflow(value, 10, &value) ||
                   __builtin_add_overflow(value, **at - '0', &value);
    return is_full ? -1 : value;
}

static size_t suggest_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t suggest_distance(const char *a, size_t na, const char *b,
                               size_t nb)
{
    size_t rows[3][SUGGEST_LONGEST + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t i, k;

    for (k = 0; k <= nb; k++)
        above[k] = k;
    for (i = 1; i <= na; i++) {
        size_t *recycled = before;
        row[0] = i;
        for (k = 1; k <= nb; k++) {
            char x = gnomon__lower(a[i - 1]), y = gnomon__lower(b[k - 1]);
            row[k] = suggest_least(above[k - 1] + (x != y),
                                   1 + suggest_least(above[k], row[k - 1]));
            if (i > 1 && k > 1 && x == gnomon__lower(b[k - 2]) &&
                y == gnomon__lower(a[i - 2]))
                row[k] = suggest_least(row[k], before[k - 2] + 1);
        }
        before = above;
        above = row;
        row = recycled;
    }
    return above[nb];
}

/* Words of other tools: a line is ours, and then those that mean the same. */
static const char suggest_others[] =
    "simple simpleprofiler true yes on 1 all default\n"
    "advanced advancedprofiler cprofile pstats\n"
    "passthrough passthroughprofiler\n"
    "trace pytorchprofiler pytorch torch chrome perfetto timeline\n"
    "tree callgraph calltree flamegraph\n"
    "nvtx nsys nsight\n"
    "off false no disable disabled\n"
    "file output out outfile output_file filename path\n"
    "dir dirpath folder directory outdir output_dir\n"
    "filter include only select\n"
    "exclude ignore\n"
    "limit top depth row_limit rows max_rows\n"
    "sort sort_by order order_by\n"
    "by group_by\n"
    "mem memory\n";

static int suggest_is_other(const char *word, const char *known)
{
    int is_first = 1, is_line = 0;
    for (const char *at = suggest_others; *at;) {
        gnomon__text one = {at, strcspn(at, " \n")};
        if (is_first)
            is_line = gnomon__is_word(one, known);
        else if (is_line && gnomon__is_word(one, word))
            return 1;
        at += one.length;
        is_first = *at++ == '\n';
    }
    return 0;
}

/* About one letter in three may be wrong, and never more than three. */
gnomon__suggestion gnomon__suggest(const char *word)
{
    gnomon__suggestion s;
    size_t n = strlen(word);
    s.word = word;
    s.best = NULL;
    *s.known = 0;
    s.distance = n > SUGGEST_LONGEST ? 0 : suggest_least((n + 1) / 3, 3) + 1;
    return s;
}

void gnomon__suggest_offer(gnomon__suggestion *s, const char *known)
{
    size_t n = strlen(s->word), nk, distance;
    if (s->distance == 0)
        return;
    nk = strlen(known);
    if (nk == 0 || nk > SUGGEST_LONGEST)
        return;
    distance = suggest_is_other(s->word, known)
                   ? 0
                   : suggest_distance(s->word, n, known, nk);
    if (distance < s->distance) {
        s->distance = distance;
        s->best = known;
    }
}

void gnomon__suggest_list(gnomon__suggestion *s, const char *known)
{
    size_t used = strlen(s->known);
    snprintf(s->known + used, sizeof s->known - used, "%s%s", used ? ", " : "",
             known);
    gnomon__suggest_offer(s, known);
}

void gnomon__complain(gnomon__complaints *c, const char *format, ...)
{
    char raw[1024] = "", line[1024];
    va_list arguments;
    size_t i;

    if (c->count == GNOMON__COMPLAINTS) {
        c->dropped++;
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    gnomon__escape_copy(raw, line, sizeof line);
    for (i = 0; i < c->count; i++)
        if (strcmp(c->line[i], line) == 0)
            return;
    c->line[c->count] = gnomon__strdup(line);
    if (c->line[c->count])
        c->count++;
    else
        c->dropped++;
}

void gnomon__complaints_free(gnomon__complaints *c)
{
    while (c->count > 0)
        gnomon__free(c->line[--c->count]);
    c->dropped = 0;
}
