/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A spec as a value: built, taken apart, and printed. Called from control calls
 * only. Invariant: what print writes is parsed (parse.c) to an equal spec. */
#include "spec/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"

int gnomon__settings_add(gnomon__settings *settings, const char *key,
                         const char *value)
{
    if (!gnomon__grow(&settings->at, &settings->room, settings->count + 1,
                      sizeof *settings->at))
        return GNOMON_ENOMEM;
    settings->at[settings->count++] =
        (gnomon__setting){.key = key, .value = value};
    return GNOMON_OK;
}

void gnomon__settings_free(gnomon__settings *settings)
{
    gnomon__free(settings->at);
    *settings = (gnomon__settings){0};
}

int gnomon__spec_add(gnomon__spec *spec, const char *name)
{
    size_t n = strlen(name);
    if (!gnomon__grow(&spec->items, &spec->item_room, spec->item_count + 1,
                      sizeof *spec->items))
        return GNOMON_ENOMEM;
    spec->items[spec->item_count++] = (gnomon__spec_item){
        .name = name,
        .is_path = strchr(name, '/') != NULL ||
                   (n > 3 && memcmp(name + n - 3, ".so", 3) == 0)};
    return GNOMON_OK;
}

void gnomon__spec_free(gnomon__spec *spec)
{
    while (spec->item_count > 0)
        gnomon__settings_free(&spec->items[--spec->item_count].settings);
    gnomon__free(spec->items);
    spec->items = NULL;
    spec->item_room = 0;
    gnomon__settings_free(&spec->defaults);
    while (spec->words) {
        gnomon__spec_words *words = spec->words;
        spec->words = words->next;
        gnomon__free(words);
    }
}

/* ---- In lines for a person ---------------------------------------------- */

const char *gnomon__spec_shown(gnomon__spec_position position, const char *text)
{
    return position.file ? "..." : text;
}

void gnomon__spec_complain(const gnomon__spec *spec,
                           gnomon__spec_position position, const char *who,
                           const char *format, ...)
{
    char begin[320], what[1024] = "";
    va_list arguments;
    snprintf(begin, sizeof begin, "%s", who ? who : spec->origin);
    if (position.file)
        snprintf(begin, sizeof begin, "%s: %.200s:%zu%s%s", spec->origin,
                 position.file, position.line, who ? ": " : "", who ? who : "");
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    gnomon__complain(spec->complaints, "%s: %s", begin, what);
}

/* ---- Printing ----------------------------------------------------------- */

typedef struct spec_printer {
    char *buffer;
    size_t size;
    size_t length; /* of all, whether it fits or not */
} spec_printer;

static void spec_put(spec_printer *p, char c)
{
    if (p->length + 1 < p->size)
        p->buffer[p->length] = c;
    p->length++;
}

/* Whether the parser would not read `text` back where it stands unquoted. */
static int spec_needs_quotes(const char *text, int is_value)
{
    const char *c;
    if (*text == '\0')
        return !is_value;
    if (*text == ' ' || text[strlen(text) - 1] == ' ' || *text == '@')
        return 1;
    for (c = text; *c; c++)
        if ((*c > 0 && *c < ' ') || strchr(",()\"#", *c) ||
            (*c == '=' && !is_value))
            return 1;
    return 0;
}

static void spec_put_word(spec_printer *p, const char *text, int is_value)
{
    int quoted = spec_needs_quotes(text, is_value);
    if (quoted)
        spec_put(p, '"');
    for (; *text; text++) {
        if (quoted && (*text == '"' || *text == '\\'))
            spec_put(p, '\\');
        spec_put(p, *text);
    }
    if (quoted)
        spec_put(p, '"');
}

static void spec_put_settings(spec_printer *p, const gnomon__settings *s)
{
    size_t i;
    for (i = 0; i < s->count; i++) {
        if (i > 0)
            spec_put(p, ',');
        spec_put_word(p, s->at[i].key, 0);
        if (s->at[i].value) {
            spec_put(p, '=');
            spec_put_word(p, s->at[i].value, 1);
        }
    }
}

size_t gnomon__spec_print(const gnomon__spec *spec, char *buffer, size_t size)
{
    spec_printer p = {buffer, size, 0};
    size_t i;

    for (i = 0; i < spec->item_count; i++) {
        const gnomon__spec_item *item = &spec->items[i];
        if (i > 0)
            spec_put(&p, ',');
        spec_put_word(&p, item->name, 0);
        if (item->settings.count > 0) {
            spec_put(&p, '(');
            spec_put_settings(&p, &item->settings);
            spec_put(&p, ')');
        }
    }
    if (spec->item_count > 0 && spec->defaults.count > 0)
        spec_put(&p, ',');
    spec_put_settings(&p, &spec->defaults);
    if (size > 0)
        buffer[p.length < size ? p.length : size - 1] = '\0';
    return p.length;
}
