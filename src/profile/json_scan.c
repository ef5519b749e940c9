/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The spans of values in a JSON text. Only for texts that passed gnomon__json_valid: it
 * reads only brackets, quotes, commas and blanks. */
#include "profile/json_scan.h"

static const char *after_blanks(const char *at, const char *end)
{
    while (at < end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* Behind the quote that ends the text whose first one is at `at`. */
static const char *after_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

static const char *after_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        switch (*at) {
        case '"':
            at = after_string(at, end);
            break;
        case '{':
        case '[':
            depth++;
            at++;
            break;
        case '}':
        case ']':
            if (!depth) /* it closes the surrounding value */
                return at;
            depth--;
            at++;
            break;
        case ',':
        case ' ':
        case '\t':
        case '\n':
        case '\r':
            if (!depth)
                return at;
            at++;
            continue;
        default:
            at++;
            continue;
        }
        if (!depth)
            return at;
    }
    return end;
}

gnomon__json_span gnomon__json_scan_text(const char *text, size_t size)
{
    const char *end = text + size, *at = after_blanks(text, end);
    return (gnomon__json_span){at, (size_t)(after_value(at, end) - at)};
}

gnomon__json_scan gnomon__json_scan_into(gnomon__json_span of)
{
    return (gnomon__json_scan){of.at + 1, of.at + of.size};
}

int gnomon__json_scan_next(gnomon__json_scan *s, gnomon__json_span *key,
                           gnomon__json_span *value)
{
    s->at = after_blanks(s->at, s->end);
    if (s->at < s->end && *s->at == ',')
        s->at = after_blanks(s->at + 1, s->end);
    if (s->at >= s->end || *s->at == ']' || *s->at == '}')
        return 0;
    if (key) {
        key->at = s->at;
        s->at = after_string(s->at, s->end);
        key->size = (size_t)(s->at - key->at);
        s->at = after_blanks(s->at, s->end); /* the colon */
        s->at = after_blanks(s->at + 1, s->end);
    }
    value->at = s->at;
    s->at = after_value(s->at, s->end);
    value->size = (size_t)(s->at - value->at);
    return 1;
}
