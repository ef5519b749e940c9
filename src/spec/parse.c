/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parser of $GNOMON, of specs in files, and of gnomon_attach's options.
 * Called from control calls only. It knows the grammar and no words. Invariant:
 * every loop moves on through the text, whatever bytes it holds, and what was
 * wrong is complained of while all around it is kept. */
#include "spec/spec.h"

#include <errno.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/os.h"

/* ---- Tokens ------------------------------------------------------------- */

typedef struct spec_parser {
    gnomon__spec *spec;
    gnomon__complaints *complaints;
    const char *text;
    const char *at;
    gnomon__spec_position position; /* of `counted`, the last one asked for */
    const char *counted;
    int depth;      /* of files */
    size_t after;   /* see gnomon__spec_item */
    size_t *budget; /* bytes of files that may still be read */
    int status;     /* the worst so far */
} spec_parser;

/* Counts on from the last position, because most are asked for in order. */
static gnomon__spec_position spec_position(spec_parser *p, const char *where)
{
    if (where < p->counted) {
        p->counted = p->text;
        p->position.line = 1;
    }
    for (; p->position.file && p->counted < where; p->counted++)
        p->position.line += *p->counted == '\n';
    return p->position;
}

/* Complains of the text at `where`. */
static void spec_wrong(spec_parser *p, const char *where, const char *what)
{
    gnomon__spec_who who;
    gnomon__spec_position position = spec_position(p, where);
    if (p->status != GNOMON_ENOMEM)
        p->status = GNOMON_EINVAL;
    if (position.file)
        gnomon__complain(
            p->complaints, "%s: %s",
            gnomon__spec_name(&who, p->spec, position, p->spec->origin), what);
    else
        gnomon__complain(p->complaints, "%s: at character %zu, '%.20s': %s",
                         p->spec->origin, (size_t)(where - p->text) + 1, where,
                         what);
}

static int spec_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void spec_space(spec_parser *p)
{
    while (spec_is_space(*p->at))
        p->at++;
}

/* Whether c ends an item or option. */
static int spec_separates(char c)
{
    return c == ',' || c == '\n' || c == '#';
}

/* Skips separators and comments. */
static void spec_separators(spec_parser *p)
{
    for (;;) {
        spec_space(p);
        if (*p->at == '#')
            p->at += strcspn(p->at, "\n");
        else if (*p->at == ',' || *p->at == '\n')
            p->at++;
        else
            return;
    }
}

/* After an error: skips to the separator or bracket that ends the item. */
static void spec_recover(spec_parser *p)
{
    size_t open = 0;
    for (; *p->at; p->at++) {
        if (*p->at == '"') {
            while (p->at[1] && *++p->at != '"')
                if (*p->at == '\\' && p->at[1])
                    p->at++;
        } else if (*p->at == '(') {
            open++;
        } else if (open == 0 &&
                   (*p->at == ')' || *p->at == ',' || *p->at == '\n')) {
            return;
        } else if (*p->at == ')') {
            open--;
        }
    }
}

/* A quoted token, from its first quote on; NULL: no end, or no memory. */
static char *spec_quoted(spec_parser *p)
{
    const char *start = p->at, *c;
    char *token, *out;

    for (c = start + 1; *c && *c != '"'; c++)
        if (*c == '\\' && c[1])
            c++;
    if (*c == '\0') {
        spec_wrong(p, start, "the quote is not closed");
        p->at = c;
        return NULL;
    }
    p->at = c + 1;
    token = out = gnomon__alloc((size_t)(c - start));
    if (!token) {
        p->status = GNOMON_ENOMEM;
        return NULL;
    }
    for (start++; start < c; start++) {
        if (*start == '\\')
            start++;
        *out++ = *start;
    }
    return token; /* zeroed memory: it ends in a NUL */
}

/* The next token, up to white space that ends it; `stops` end it besides
 * separators, brackets and quotes. May be empty. NULL: it is wrong (then
 * p->at is where to recover), or there is no memory. */
static char *spec_token(spec_parser *p, const char *stops)
{
    const char *start, *end;
    char *token;

    spec_space(p);
    if (*p->at == '"') {
        token = spec_quoted(p);
        spec_space(p);
        return token;
    }
    start = end = p->at;
    for (; *p->at && !strchr(",\n()\"", *p->at) && !strchr(stops, *p->at);
         p->at++) {
        if (spec_is_space(*p->at))
            continue;
        if (*p->at == '#' && (p->at == start || spec_is_space(p->at[-1])))
            break;
        end = p->at + 1;
    }
    token = gnomon__strndup(start, (size_t)(end - start));
    if (!token)
        p->status = GNOMON_ENOMEM;
    return token;
}

/* Whether what was read ends here; else complains and moves on. */
static int spec_ended(spec_parser *p)
{
    if (*p->at == '\0' || *p->at == ')' || spec_separates(*p->at))
        return 1;
    if (*p->at == '(')
        spec_wrong(p, p->at,
                   "a bracket inside a value: put the value in "
                   "double quotes");
    else if (*p->at == '"')
        spec_wrong(p, p->at,
                   "a quote inside a word: put all of it in double "
                   "quotes, and write \\\" for a quote");
    else
        spec_wrong(p, p->at, "a comma is missing before this");
    spec_recover(p);
    return 0;
}

/* ---- The grammar -------------------------------------------------------- */

/* After a key: its value if there is one. Takes the key. */
static void spec_setting(spec_parser *p, gnomon__settings *out, char *key)
{
    const char *start = p->at;
    gnomon__spec_position position = spec_position(p, start);
    char *value = NULL;
    int has_value = *p->at == '=';

    if (has_value) {
        p->at++;
        value = spec_token(p, "");
    }
    if (has_value && !value)
        spec_recover(p);
    else if (!spec_ended(p))
        ;
    else if (*key == '\0')
        spec_wrong(p, start, "the name of an option is missing");
    else if (gnomon__settings_add(out, key, value) != GNOMON_OK)
        p->status = GNOMON_ENOMEM;
    else
        out->at[out->count - 1].position = position;
    gnomon__free(key);
    gnomon__free(value);
}

/* Options up to the bracket that closes them; `open` is the one that opened
 * them, NULL where the text is nothing but options. */
static void spec_options(spec_parser *p, gnomon__settings *out,
                         const char *open)
{
    for (;;) {
        char *key;
        spec_separators(p);
        if (*p->at == ')') {
            p->at++;
            if (open)
                return;
            spec_wrong(p, p->at - 1, "there is no open bracket before this");
            continue;
        }
        if (*p->at == '\0') {
            if (open)
                spec_wrong(p, open, "the bracket is not closed");
            return;
        }
        key = spec_token(p, "=");
        if (key)
            spec_setting(p, out, key);
        else
            spec_recover(p);
    }
}

static void spec_items(spec_parser *p);

/* After '@': the items of a file. */
static void spec_include(spec_parser *p, const char *start)
{
    spec_parser inner = *p;
    gnomon__settings *sources = &p->spec->files;
    char *path = spec_token(p, ""), *text = NULL;
    int error;

    if (!path || !spec_ended(p)) {
        spec_recover(p);
    } else if (*path == '\0') {
        spec_wrong(p, start, "the name of a file is missing");
    } else if (p->depth == GNOMON__SPEC_FILE_DEPTH) {
        spec_wrong(p, start, "files include one another too deeply");
    } else if ((error = gnomon__os_read_file(path, *p->budget, &text)) != 0) {
        spec_wrong(p, start,
                   error == EFBIG    ? "the files have more than 64 KiB"
                   : error == ESPIPE ? "it is not a regular file"
                                     : strerror(error));
        if (error == ENOMEM)
            p->status = GNOMON_ENOMEM;
    } else if (gnomon__settings_add(sources, path, NULL) != GNOMON_OK) {
        p->status = GNOMON_ENOMEM;
    } else {
        *p->budget -= strlen(text);
        inner.text = inner.at = inner.counted = text;
        inner.position.file = sources->at[sources->count - 1].key;
        inner.position.line = 1;
        inner.depth++;
        spec_items(&inner);
        p->status = inner.status;
    }
    gnomon__free(text);
    gnomon__free(path);
}

/* An item that begins with `name`, which it takes. */
static void spec_item(spec_parser *p, char *name, const char *start)
{
    gnomon__spec *spec = p->spec;
    const char *open = *p->at == '(' ? p->at : NULL;

    if (*p->at == '=') {
        spec_setting(p, &spec->defaults, name);
        p->after = spec->defaults.count;
        return;
    }
    if (open)
        p->after = 0;
    if (*name == '\0')
        spec_wrong(p, start, "the name of a profiler is missing");
    if (!open && !spec_ended(p)) {
        gnomon__free(name);
        return;
    }
    if (*name == '\0') {
        spec_recover(p);
    } else if (gnomon__spec_add(spec, name) != GNOMON_OK) {
        p->status = GNOMON_ENOMEM;
    } else {
        gnomon__spec_item *item = &spec->items[spec->item_count - 1];
        item->position = spec_position(p, start);
        item->after = p->after;
        if (open) {
            p->at++;
            spec_options(p, &item->settings, open);
            spec_space(p);
            spec_ended(p);
        }
    }
    gnomon__free(name);
}

static void spec_items(spec_parser *p)
{
    while (p->status != GNOMON_ENOMEM) {
        const char *start;
        char *name;
        spec_separators(p);
        start = p->at;
        if (*p->at == '\0')
            return;
        if (*p->at == ')') {
            spec_wrong(p, p->at++, "there is no open bracket before this");
        } else if (*p->at == '@') {
            p->at++;
            spec_include(p, start);
        } else if ((name = spec_token(p, "=")) != NULL) {
            spec_item(p, name, start);
        } else {
            spec_recover(p);
        }
    }
}

/* Parses items, or, with a `name`, the options of that one profiler. */
static int spec_run(gnomon__spec *out, const char *name, const char *text,
                    const char *origin, gnomon__complaints *complaints)
{
    size_t budget = GNOMON__SPEC_FILE_BYTES;
    spec_parser p;

    memset(out, 0, sizeof *out);
    memset(&p, 0, sizeof p);
    out->origin = origin;
    p.spec = out;
    p.complaints = complaints;
    p.text = p.at = p.counted = text ? text : "";
    p.budget = &budget;
    p.status = GNOMON_OK;
    if (!name)
        spec_items(&p);
    else if (gnomon__spec_add(out, name) == GNOMON_OK)
        spec_options(&p, &out->items[0].settings, NULL);
    else
        p.status = GNOMON_ENOMEM;
    if (p.status == GNOMON_ENOMEM)
        gnomon__spec_free(out);
    return p.status;
}

int gnomon__spec_parse(gnomon__spec *out, const char *text, const char *origin,
                       gnomon__complaints *complaints)
{
    return spec_run(out, NULL, text, origin, complaints);
}

int gnomon__spec_parse_options(gnomon__spec *out, const char *name,
                               const char *text, const char *origin,
                               gnomon__complaints *complaints)
{
    return spec_run(out, name, text, origin, complaints);
}
