/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A reader by descent, whose depth is bounded. Each value takes two bytes of the source at
 * least, with what parts it from the next or ends it, which lists that are open lack: so
 * the room for all is known before. */
#include "nsys/literal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/utf8_put.h"

typedef struct source {
    const char *at, *end;
    gnomon__literal *next;
    char *text; /* where the next text goes: never longer than its source */
    int depth;
} source;

static void skip_blanks(source *s)
{
    while (s->at < s->end && memchr(" \t\r\n", *s->at, 4))
        s->at++;
}

static bool is_next(source *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static gnomon__literal *add(source *s, enum gnomon__literal_kind kind)
{
    gnomon__literal *l = s->next++;
    *l = (gnomon__literal){.kind = (uint8_t)kind, .next = 1};
    return l;
}

/* ---- Texts -------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `digits` of them; -1: there are fewer. */
static int32_t hex_number(source *s, int digits)
{
    int32_t value = 0;
    if (s->end - s->at < digits)
        return -1;
    for (int i = 0; i < digits; i++) {
        const int digit = hex_digit(s->at[i]);
        if (digit < 0 || value > INT32_MAX >> 4)
            return -1;
        value = value << 4 | digit;
    }
    s->at += digits;
    return value;
}

/* Behind "\u": also the two halves that JSON makes of a character. */
static bool put_half(source *s)
{
    int32_t c = hex_number(s, 4), low;
    if (c >= 0xd800 && c < 0xdc00 && s->end - s->at >= 6 && s->at[0] == '\\' &&
        s->at[1] == 'u') {
        const char *before = s->at;
        s->at += 2;
        low = hex_number(s, 4);
        if (low >= 0xdc00 && low < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else
            s->at = before;
    }
    if (c >= 0)
        s->text += gnomon__utf8_put(s->text, (uint32_t)c);
    return c >= 0;
}

/* Behind a backslash. */
static bool put_escaped(source *s)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    if (s->at == s->end)
        return false;
    const char c = *s->at++;
    const char *plain = memchr(from, c, sizeof from - 1);
    int32_t code = 0;
    if (c == 'u')
        return put_half(s);
    if (c == 'x' || c == 'U') {
        code = hex_number(s, c == 'x' ? 2 : 8);
    } else if (c >= '0' && c <= '7') {
        code = c - '0';
        for (int i = 0;
             i < 2 && s->at < s->end && *s->at >= '0' && *s->at <= '7'; i++)
            code = code * 8 + (*s->at++ - '0');
    } else if (plain) {
        code = (unsigned char)to[plain - from];
    } else {
        if (!memchr("\\'\"/\n", c, 5))
            *s->text++ = '\\'; /* as Python keeps it */
        *s->text++ = c;
        return true;
    }
    if (code >= 0)
        s->text += gnomon__utf8_put(s->text, (uint32_t)code);
    return code >= 0;
}

static bool read_text(source *s, char quote)
{
    gnomon__literal *l = add(s, GNOMON__LITERAL_TEXT);
    l->of.text = s->text;
    while (s->at < s->end && *s->at != quote) {
        const char c = *s->at++;
        if (c != '\\')
            *s->text++ = c;
        else if (!put_escaped(s))
            return false;
    }
    *s->text++ = 0;
    return s->at++ < s->end;
}

/* ---- Numbers and words ----------------------------------------------------------- */

/* What strtoll or strtod takes, which need a NUL behind it: inf and nan, too. */
static bool read_number(source *s)
{
    char number[64], *end;
    size_t n = 0;
    while (s->at + n < s->end && n < sizeof number - 1 &&
           (isalnum((unsigned char)s->at[n]) || memchr("+-.", s->at[n], 3)))
        n++;
    memcpy(number, s->at, n);
    number[n] = 0;
    gnomon__literal *l = add(s, GNOMON__LITERAL_INTEGER);
    errno = 0;
    l->of.integer = strtoll(number, &end, 10);
    if (*end || end == number || errno) {
        l->kind = GNOMON__LITERAL_REAL;
        l->of.real = strtod(number, &end);
    }
    s->at += n;
    return n && end != number && !*end;
}

static bool read_word(source *s)
{
    static const struct {
        const char *word;
        enum gnomon__literal_kind kind;
        int value;
    } words[] = {
        {"None", GNOMON__LITERAL_NONE, 0},  {"null", GNOMON__LITERAL_NONE, 0},
        {"True", GNOMON__LITERAL_BOOL, 1},  {"true", GNOMON__LITERAL_BOOL, 1},
        {"False", GNOMON__LITERAL_BOOL, 0}, {"false", GNOMON__LITERAL_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i].word);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, words[i].word, n)) {
            s->at += n;
            add(s, words[i].kind)->of.integer = words[i].value;
            return true;
        }
    }
    return read_number(s);
}

/* ---- Lists -------------------------------------------------------------------------- */

static bool read_value(source *s);

static bool read_part(source *s, gnomon__literal *of)
{
    of->count++;
    if (!read_value(s))
        return false;
    if (of->kind != GNOMON__LITERAL_DICT)
        return true;
    of->count++;
    return is_next(s, ':') && read_value(s);
}

/* A comma may follow the last part. In brackets one value without a comma is that value. */
static bool read_list(source *s, char end, enum gnomon__literal_kind kind)
{
    gnomon__literal *l = add(s, kind);
    bool has_comma = false, is_over = is_next(s, end);
    while (!is_over) {
        if (!read_part(s, l))
            return false;
        const bool is_comma = is_next(s, ',');
        has_comma |= is_comma;
        is_over = is_next(s, end);
        if (!is_over && !is_comma)
            return false;
    }
    if (kind == GNOMON__LITERAL_TUPLE && l->count == 1 && !has_comma) {
        memmove(l, l + 1, (size_t)(s->next - l - 1) * sizeof *l);
        s->next--;
    } else {
        l->next = (uint32_t)(s->next - l);
    }
    return true;
}

static bool read_value(source *s)
{
    bool is_read;
    skip_blanks(s);
    if (s->at == s->end || s->depth == GNOMON__LITERAL_DEPTH)
        return false;
    s->depth++;
    const char c = *s->at;
    s->at += c == '[' || c == '(' || c == '{' || c == '\'' || c == '"';
    if (c == '[')
        is_read = read_list(s, ']', GNOMON__LITERAL_LIST);
    else if (c == '(')
        is_read = read_list(s, ')', GNOMON__LITERAL_TUPLE);
    else if (c == '{')
        is_read = read_list(s, '}', GNOMON__LITERAL_DICT);
    else if (c == '\'' || c == '"')
        is_read = read_text(s, c);
    else
        is_read = read_word(s);
    s->depth--;
    return is_read;
}

/* ---- Reading ---------------------------------------------------------------------------- */

const gnomon__literal *gnomon__literal_read(gnomon__literals *l,
                                            const char *text, size_t length)
{
    if (length > GNOMON__LITERAL_BYTES)
        return NULL;
    if (l->room < length || !l->at) {
        gnomon__literals_free(l);
        l->at = calloc(length / 2 + 2 + GNOMON__LITERAL_DEPTH, sizeof *l->at);
        l->texts = calloc(length + 2, 1);
        if (!l->at || !l->texts)
            return NULL;
        l->room = length;
    }
    source s = {text, text + length, l->at, l->texts, 0};
    if (!read_value(&s))
        return NULL;
    skip_blanks(&s);
    return s.at == s.end ? l->at : NULL;
}

void gnomon__literals_free(gnomon__literals *l)
{
    free(l->at);
    free(l->texts);
    *l = (gnomon__literals){0};
}

const gnomon__literal *gnomon__literal_part(const gnomon__literal *of, size_t i)
{
    if (i >= of->count)
        return NULL;
    for (of++; i; i--)
        of = gnomon__literal_next(of);
    return of;
}

const gnomon__literal *gnomon__literal_get(const gnomon__literal *of,
                                           const char *key)
{
    const gnomon__literal *found = NULL;
    if (!of || of->kind != GNOMON__LITERAL_DICT)
        return NULL;
    const gnomon__literal *k = of + 1;
    for (uint32_t i = 0; i < of->count; i += 2) {
        const gnomon__literal *value = gnomon__literal_next(k);
        if (k->kind == GNOMON__LITERAL_TEXT && !strcmp(k->of.text, key))
            found = value;
        k = gnomon__literal_next(value);
    }
    return found;
}

const char *gnomon__literal_text(const gnomon__literal *of)
{
    return of && of->kind == GNOMON__LITERAL_TEXT ? of->of.text : NULL;
}
