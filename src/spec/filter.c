/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Filters: glob lists cut up once, matched whenever a region is registered or
 * masks are rewritten, possibly by a thread that trains: so matching takes no
 * memory and no lock, and no pattern makes it exponential. Invariant: one block
 * of memory holds the patterns and their text, and never changes. */
#include "spec/filter.h"

#include <string.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "platform/utf8.h"

typedef struct filter_pattern {
    const char *text;
    size_t length;
    int of_category;
} filter_pattern;

struct gnomon__filter {
    size_t count;
    size_t includes; /* so many of them, then those that exclude */
    filter_pattern patterns[];
};

/* Only the last star is ever tried again: where a later one was reached, what
 * came before it need not be, as the later one can take up any difference. */
int gnomon__glob(const char *pattern, size_t n, const char *text)
{
    const char *end = pattern + n, *text_end = text + strlen(text);
    const char *star = NULL, *retry = NULL;

    while (text < text_end) {
        uint32_t code;
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            retry = text;
        } else if (pattern < end && *pattern == '?') {
            text += gnomon__utf8_next(text, (size_t)(text_end - text), &code);
            pattern++;
        } else if (pattern < end && *pattern == *text) {
            text++;
            pattern++;
        } else if (star) {
            /* A whole code point, so that `?` never sees half of one. */
            retry +=
                gnomon__utf8_next(retry, (size_t)(text_end - retry), &code);
            text = retry;
            pattern = star;
        } else {
            return 0;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

/* Takes the next pattern off a list, passing over empty ones; 0 at its end. */
static int filter_next(const char **list, filter_pattern *out)
{
    const char *at = *list + strspn(*list, "| \t\n\r");
    if (*at == '\0')
        return 0;
    out->of_category = *at == '@';
    at += out->of_category;
    out->text = at;
    out->length = strcspn(at, "|");
    *list = at + out->length;
    while (out->length > 0 && strchr(" \t\n\r", at[out->length - 1]))
        out->length--;
    return 1;
}

int gnomon__filter_create(gnomon__filter **out, const char *include,
                          const char *exclude)
{
    const char *lists[] = {include ? include : "", exclude ? exclude : ""};
    size_t bytes = strlen(lists[0]) + strlen(lists[1]);
    size_t most = bytes / 2 + 1; /* patterns: a byte and a '|' each */
    gnomon__filter *filter;
    char *text;

    *out = NULL;
    if (bytes == 0)
        return GNOMON_OK;
    filter = gnomon__alloc(sizeof *filter + most * sizeof filter->patterns[0] +
                           bytes);
    if (!filter)
        return GNOMON_ENOMEM;
    text = (char *)&filter->patterns[most];
    for (int list = 0; list < 2; list++) {
        filter_pattern *p = &filter->patterns[filter->count];
        for (; filter_next(&lists[list], p); filter->count++, p++) {
            p->text = memcpy(text, p->text, p->length);
            text += p->length;
        }
        if (list == 0)
            filter->includes = filter->count;
    }
    if (filter->count > 0)
        *out = filter;
    else
        gnomon__free(filter);
    return GNOMON_OK;
}

void gnomon__filter_destroy(gnomon__filter *filter)
{
    gnomon__free(filter);
}

static int filter_matches(const filter_pattern *p, const char *name,
                          const char *category)
{
    const char *text = p->of_category ? category : name;
    return gnomon__glob(p->text, p->length, text ? text : "");
}

int gnomon__filter_takes(const gnomon__filter *filter, const char *name,
                         const char *category)
{
    size_t i;
    if (!filter)
        return 1;
    for (i = 0; i < filter->includes; i++)
        if (filter_matches(&filter->patterns[i], name, category))
            break;
    if (i == filter->includes && filter->includes > 0)
        return 0;
    for (i = filter->includes; i < filter->count; i++)
        if (filter_matches(&filter->patterns[i], name, category))
            return 0;
    return 1;
}

int gnomon__filter_equal(const gnomon__filter *a, const gnomon__filter *b)
{
    size_t i;
    if (!a || !b)
        return a == b;
    if (a->count != b->count || a->includes != b->includes)
        return 0;
    for (i = 0; i < a->count; i++) {
        const filter_pattern *p = &a->patterns[i], *q = &b->patterns[i];
        if (p->of_category != q->of_category || p->length != q->length ||
            memcmp(p->text, q->text, p->length) != 0)
            return 0;
    }
    return 1;
}
