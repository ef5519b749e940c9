/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The spans of values in a JSON text, for texts that passed gnomon__json_valid. */
#include "profile/json_scan.h"

#include "platform/json.h"

static const char *after_blanks(const char *at, const char *end)
{
    while (at < end &&
           (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

static const char *after_value(const char *at, const char *end)
{
    return at + gnomon__json_length(at, (size_t)(end - at));
}

gnomon__json_span gnomon__json_scan_text(const char *text, size_t size)
{
    const char *end = text + size, *at = after_blanks(text, end);
    return (gnomon__json_span){at, (size_t)(end - at)};
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
        s->at = after_value(s->at, s->end);
        key->size = (size_t)(s->at - key->at);
        s->at = after_blanks(s->at + 1, s->end); /* after the colon */
    }
    value->at = s->at;
    s->at = after_value(s->at, s->end);
    value->size = (size_t)(s->at - value->at);
    return 1;
}
