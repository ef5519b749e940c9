/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A JSON checker and a string writer. The checker gets what a host passes as
 * metadata, which is copied into reports, so it is strict: what it accepts,
 * every reader must accept. Recursion is bounded by the depth; each function
 * moves `at` past what it accepted and never past `end`. */
#include "platform/json.h"

#include <stdint.h>
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

static int json_hex4(json_reader *r, uint32_t *out)
{
    int i;
    *out = 0;
    for (i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? *r->at : ' ';
        if (c >= '0' && c <= '9')
            *out = *out << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *out = *out << 4 | (uint32_t)(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F')
            *out = *out << 4 | (uint32_t)(c - 'A' + 10);
        else
            return 0;
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
    case 't':
        valid = json_word(r, "true");
        break;
    case 'f':
        valid = json_word(r, "false");
        break;
    case 'n':
        valid = json_word(r, "null");
        break;
    default:
        valid = json_number(r);
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
    static const char hex[] = "0123456789abcdef";
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
            char escape[6] = {'\\', 'u', '0', '0', 0, 0};
            escape[4] = hex[code >> 4];
            escape[5] = hex[code & 15];
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
