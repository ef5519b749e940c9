/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A JSON checker and a string writer. The checker gets what a host passes as
 * metadata, which is copied into reports, so it is strict: what it accepts,
 * every reader must accept. Recursion is bounded by the depth; each function
 * moves `at` past what it accepted and never past `end`. */
#include "platform/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/utf8.h"

typedef struct json_reader {
    const char *at;
    const char *end;
    int depth;
} json_reader;

static int json_value(json_reader *r);

static void json_space(json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' ||
                              *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Passes over `c` if it comes next. */
static int json_take(json_reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return 0;
    r->at++;
    return 1;
}

static int json_word(json_reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return 0;
    r->at += n;
    return 1;
}

static int json_digits(json_reader *r)
{
    const char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > first;
}

static int json_number(json_reader *r)
{
    json_take(r, '-');
    if (!json_take(r, '0') && !json_digits(r))
        return 0;
    if (json_take(r, '.') && !json_digits(r))
        return 0;
    if (json_take(r, 'e') || json_take(r, 'E')) {
        if (!json_take(r, '+'))
            json_take(r, '-');
        return json_digits(r);
    }
    return 1;
}

static const char json_hex[] = "0123456789abcdef";

static int json_hex4(json_reader *r, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? gnomon__lower(*r->at) : ' ';
        const char *digit = c ? strchr(json_hex, c) : NULL;
        if (!digit)
            return 0;
        *out = *out << 4 | (uint32_t)(digit - json_hex);
    }
    return 1;
}

static int json_escape(json_reader *r)
{
    uint32_t code, half;
    if (r->at == r->end)
        return 0;
    if (*r->at != 'u')
        return *r->at != '\0' && strchr("\"\\/bfnrt", *r->at++) != NULL;
    r->at++;
    if (!json_hex4(r, &code) || (code >= 0xDC00 && code <= 0xDFFF))
        return 0;
    if (code < 0xD800 || code > 0xDBFF)
        return 1;
    return json_word(r, "\\u") && json_hex4(r, &half) && half >= 0xDC00 &&
           half <= 0xDFFF;
}

static int json_string(json_reader *r)
{
    if (!json_take(r, '"'))
        return 0;
    while (r->at < r->end) {
        uint32_t code = (unsigned char)*r->at;
        if (code >= ' ' && code < 0x80 && code != '"' && code != '\\') {
            r->at++; /* most are ASCII: without a call */
            continue;
        }
        if (json_take(r, '"'))
            return 1;
        if (json_take(r, '\\')) {
            if (!json_escape(r))
                return 0;
            continue;
        }
        r->at += gnomon__utf8_next(r->at, (size_t)(r->end - r->at), &code);
        if (code < 0x20 || code == GNOMON__UTF8_BAD)
            return 0;
    }
    return 0;
}

/* The inside of an array or object, from after its first bracket. */
static int json_members(json_reader *r, char close, int named)
{
    json_space(r);
    if (json_take(r, close))
        return 1;
    for (;;) {
        if (named) {
            json_space(r);
            if (!json_string(r))
                return 0;
            json_space(r);
            if (!json_take(r, ':'))
                return 0;
        }
        if (!json_value(r))
            return 0;
        if (json_take(r, close))
            return 1;
        if (!json_take(r, ','))
            return 0;
    }
}

/* A value with the white space around it. */
static int json_value(json_reader *r)
{
    int valid;
    json_space(r);
    if (r->at == r->end)
        return 0;
    switch (*r->at) {
    case '{':
    case '[':
        if (r->depth == GNOMON__JSON_DEPTH)
            return 0;
        r->depth++;
        valid =
            *r->at++ == '{' ? json_members(r, '}', 1) : json_members(r, ']', 0);
        r->depth--;
        break;
    case '"':
        valid = json_string(r);
        break;
    default:
        valid = json_word(r, "true") || json_word(r, "false") ||
                json_word(r, "null") || json_number(r);
    }
    json_space(r);
    return valid;
}

size_t gnomon__json_length(const char *text, size_t n)
{
    json_reader r = {text, text + n, 0};
    return json_value(&r) ? (size_t)(r.at - text) : 0;
}

int gnomon__json_valid(const char *text, size_t n)
{
    return n && gnomon__json_length(text, n) == n;
}

/* Appends pieces that fit whole; after one that did not fit, nothing more. */
typedef struct json_writer {
    char *buffer;
    size_t size;
    size_t length; /* of all, written or not */
    size_t written;
} json_writer;

static void json_put(json_writer *w, const char *text, size_t n)
{
    if (w->written == w->length && w->length + n < w->size) {
        memcpy(w->buffer + w->written, text, n);
        w->written += n;
    }
    w->length += n;
}

size_t gnomon__json_quote(const char *text, size_t n, char *buffer, size_t size)
{
    json_writer w = {buffer, size, 0, 0};
    size_t at = 0;

    json_put(&w, "\"", 1);
    while (at < n) {
        uint32_t code;
        size_t took = gnomon__utf8_next(text + at, n - at, &code);
        if (code == '"' || code == '\\') {
            char escape[2] = {'\\', (char)code};
            json_put(&w, escape, 2);
        } else if (code < 0x20) {
            char escape[6] = {
                '\\', 'u', '0', '0', json_hex[code >> 4], json_hex[code & 15]};
            json_put(&w, escape, 6);
        } else if (code == GNOMON__UTF8_BAD) {
            json_put(&w, "\xEF\xBF\xBD", 3);
        } else {
            json_put(&w, text + at, took);
        }
        at += took;
    }
    json_put(&w, "\"", 1);
    if (size > 0)
        buffer[w.written] = '\0';
    return w.length;
}

/* ---- Real numbers --------------------------------------------------------------- */

/* Doubles as numbers of JSON. libc prints and reads only digits and an
 * exponent here, so the point does not depend on the locale. */

#define SIGN_OF_REAL 0x8000000000000000u
#define REAL_INFINITY 0x7ff0000000000000u
#define USUAL_NAN 0x7ff8000000000000u
#define EXACT_WHOLE 9007199254740992.0 /* 2^53 */

/* Digits of the value without its sign; the first stands before the point. */
typedef struct real_digits {
    char text[20];
    int count, exponent;
} real_digits;

static void digits_of(double value, int count, real_digits *d)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    d->count = 0;
    const char *c = text;
    for (; *c && *c != 'e'; c++) /* what is no digit is the locale's point */
        if (*c >= '0' && *c <= '9' && d->count < count)
            d->text[d->count++] = *c;
    d->text[d->count] = 0;
    d->exponent = *c ? (int)strtol(c + 1, NULL, 10) : 0;
}

static double value_of(const real_digits *d)
{
    char text[40];
    snprintf(text, sizeof text, "%se%d", d->text, d->exponent - d->count + 1);
    return strtod(text, NULL);
}

static size_t put_digits(const real_digits *d, const char *sign, char *out)
{
    const size_t size = GNOMON__JSON_REAL;
    int before = d->exponent + 1; /* digits before the point */
    if (d->exponent < -5 || d->exponent > 16)
        return (size_t)snprintf(out, size, "%s%c%s%se%d", sign, d->text[0],
                                d->count > 1 ? "." : "", d->text + 1,
                                d->exponent);
    if (before <= 0)
        return (size_t)snprintf(out, size, "%s0.%.*s%s", sign, -before, "00000",
                                d->text);
    if (before >= d->count) /* whole, but too large to be taken for exact */
        return (size_t)snprintf(out, size, "%s%s%.*s.0", sign, d->text,
                                before - d->count, "00000000000000000");
    return (size_t)snprintf(out, size, "%s%.*s.%s", sign, before, d->text,
                            d->text + before);
}

size_t gnomon__json_real(double value, char *buffer)
{
    const size_t size = GNOMON__JSON_REAL;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const char *sign = bits & SIGN_OF_REAL ? "-" : "";
    uint64_t rest = bits & ~SIGN_OF_REAL;
    if (rest == REAL_INFINITY)
        return (size_t)snprintf(buffer, size, "\"%sInfinity\"", sign);
    if (bits == USUAL_NAN)
        return (size_t)snprintf(buffer, size, "\"NaN\"");
    if (rest > REAL_INFINITY)
        return (size_t)snprintf(buffer, size, "\"NaN(0x%016llx)\"",
                                (unsigned long long)bits);
    if (!rest) /* readers take -0 for an integer, without a sign */
        return (size_t)snprintf(buffer, size, *sign ? "-0.0" : "0");
    if (value >= -EXACT_WHOLE && value <= EXACT_WHOLE &&
        (double)(int64_t)value == value)
        return (size_t)snprintf(buffer, size, "%lld",
                                (long long)(int64_t)value);
    real_digits d;
    double positive = *sign ? -value : value;
    for (int count = 15; count <= 17; count++) {
        digits_of(positive, count, &d);
        if (value_of(&d) == positive)
            break;
    }
    while (d.count > 1 && d.text[d.count - 1] == '0')
        d.text[--d.count] = 0;
    return put_digits(&d, sign, buffer);
}
