/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Annotations: names and values that a viewer lists for an event. */
#include "export/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- By number --------------------------------------------------------------------- */

void gnomon__perfetto_note(gnomon__wire *w, uint32_t key, uint64_t value)
{
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_number(w, ANNOTATION_KEY, key);
    gnomon__wire_number(w, ANNOTATION_UINT, value);
    gnomon__wire_close(w, from);
}

void gnomon__perfetto_note_text(gnomon__wire *w, uint32_t key, const char *text)
{
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_number(w, ANNOTATION_KEY, key);
    gnomon__wire_text(w, ANNOTATION_TEXT, text);
    gnomon__wire_close(w, from);
}

void gnomon__perfetto_note_interned(gnomon__wire *w, uint64_t key,
                                    uint64_t text)
{
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_number(w, ANNOTATION_KEY, key);
    gnomon__wire_number(w, ANNOTATION_TEXT_IID, text);
    gnomon__wire_close(w, from);
}

/* ---- By name ------------------------------------------------------------------------- */

void gnomon__perfetto_say(gnomon__wire *w, const char *name, int64_t value)
{
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_text(w, ANNOTATION_NAME, name);
    gnomon__wire_number(w, ANNOTATION_INT, (uint64_t)value);
    gnomon__wire_close(w, from);
}

void gnomon__perfetto_say_text(gnomon__wire *w, const char *name,
                               const char *text)
{
    if (!text || !*text)
        return;
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    gnomon__wire_text(w, ANNOTATION_NAME, name);
    gnomon__wire_text(w, ANNOTATION_TEXT, text);
    gnomon__wire_close(w, from);
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* A text without escapes: it can be shown without its quotes. */
static int perfetto_is_plain_text(const char *json)
{
    size_t n = strlen(json);
    return n >= 2 && json[0] == '"' && json[n - 1] == '"' &&
           !memchr(json, '\\', n);
}

void gnomon__perfetto_json_text(gnomon__wire *w, uint32_t field,
                                const char *json)
{
    if (!perfetto_is_plain_text(json)) {
        gnomon__wire_text(w, field, json);
        return;
    }
    size_t from = gnomon__wire_open(w, field);
    gnomon__wire_piece(w, json + 1);
    if (!w->has_failed)
        w->size--; /* the quote */
    gnomon__wire_close(w, from);
}

/* Without the point, as the locale may have another. 0: it is too long. */
static int perfetto_without_point(const char *json, char *text, size_t room)
{
    const char *point = strchr(json, '.'), *e = strpbrk(json, "eE");
    const size_t before = (size_t)((point ? point : json) - json);
    const size_t decimals =
        point ? (e ? (size_t)(e - point) : strlen(point)) - 1 : 0;
    if (!point)
        return snprintf(text, room, "%s", json) < (int)room;
    return snprintf(text, room, "%.*s%.*se%ld", (int)before, json,
                    (int)decimals, point + 1,
                    (e ? strtol(e + 1, NULL, 10) : 0) - (long)decimals) <
           (int)room;
}

/* Writes a number; 0: it is none, or one that no 64 bits hold. */
static int perfetto_put_number(gnomon__wire *w, const char *json)
{
    char *end;
    errno = 0;
    if (!(*json >= '0' && *json <= '9') && *json != '-')
        return 0;
    long long integer = strtoll(json, &end, 10);
    if (!*end && !errno) {
        gnomon__wire_number(w, ANNOTATION_INT, (uint64_t)integer);
        return 1;
    }
    errno = 0;
    unsigned long long natural = strtoull(json, &end, 10);
    if (!*end && !errno && *json != '-') {
        gnomon__wire_number(w, ANNOTATION_UINT, natural);
        return 1;
    }
    char text[64];
    if (!perfetto_without_point(json, text, sizeof text))
        return 0;
    double real = strtod(text, &end);
    if (*end || !strpbrk(json, ".eE"))
        return 0;
    gnomon__wire_double(w, ANNOTATION_DOUBLE, real);
    return 1;
}

void gnomon__perfetto_say_json(gnomon__wire *w, const char *name, uint64_t key,
                               const char *json, uint64_t text)
{
    size_t from = gnomon__wire_open(w, EVENT_ANNOTATION);
    if (key)
        gnomon__wire_number(w, ANNOTATION_KEY, key);
    else
        gnomon__wire_text(w, ANNOTATION_NAME, name);
    if (strcmp(json, "true") == 0 || strcmp(json, "false") == 0)
        gnomon__wire_number(w, ANNOTATION_BOOL, *json == 't');
    else if (perfetto_put_number(w, json))
        ;
    else if (text)
        gnomon__wire_number(w, ANNOTATION_TEXT_IID, text);
    else
        gnomon__perfetto_json_text(w, ANNOTATION_TEXT, json);
    gnomon__wire_close(w, from);
}
