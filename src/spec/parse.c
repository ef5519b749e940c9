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
    const char *text;
    const char *at;
    char *out; /* the room for words: each and its NUL need no more bytes
                  than the text does for it and what ends it */
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
    gnomon__spec_position position = spec_position(p, where);
    if (p->status != GNOMON_ENOMEM)
        p->status = GNOMON_EINVAL;
    if (position.file)
        gnomon__spec_complain(p->spec, position, NULL, "%s", what);
    else
        gnomon__spec_complain(p->spec, position, NULL,
                              "at character %zu, '%.20s': %s",
                              (size_t)(where - p->text) + 1, where, what);
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

/* Writes a quoted token, from its first quote on; 0: it has no end. */
static int spec_quoted(spec_parser *p)
{
    const char *c;
    char *out = p->out;

    for (c = p->at + 1; *c && *c != '"'; c++) {
        if (*c == '\\' && c[1])
            c++;
        *out++ = *c;
    }
    if (*c == '\0') {
        spec_wrong(p, p->at, "the quote is not closed");
        p->at = c;
        return 0;
    }
    p->at = c + 1;
    *out++ = '\0';
    p->out = out;
    return 1;
}

/* The next token, up to white space that ends it; `stops` end it besides
 * separators, brackets and quotes. May be empty. NULL: it is wrong, and p->at is
 * the end of the text. */
static const char *spec_token(spec_parser *p, const char *stops)
{
    const char *start, *end;
    char *token = p->out;

    spec_space(p);
    if (*p->at == '"') {
        if (!spec_quoted(p))
            return NULL;
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
    memcpy(token, start, (size_t)(end - start));
    token[end - start] = '\0';
    p->out += end - start + 1;
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

/* After a key: its value if there is one. */
static void spec_setting(spec_parser *p, gnomon__settings *out, const char *key)
{
    const char *start = p->at, *value = NULL;
    gnomon__spec_position position = spec_position(p, start);

    if (*p->at == '=') {
        p->at++;
        value = spec_token(p, "");
        if (!value)
            return;
    }
    if (!spec_ended(p))
        return;
    if (*key == '\0')
        spec_wrong(p, start, "the name of an option is missing");
    else if (gnomon__settings_add(out, key, value) != GNOMON_OK)
        p->status = GNOMON_ENOMEM;
    else
        out->at[out->count - 1].position = position;
}

/* Options up to the bracket that closes them; `open` is the one that opened
 * them, NULL where the text is nothing but options. */
static void spec_options(spec_parser *p, gnomon__settings *out,
                         const char *open)
{
    for (;;) {
        const char *key;
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
    }
}

/* Reads `text` as items, or, with `options`, as those alone. */
static void spec_text(spec_parser *p, const char *text,
                      gnomon__settings *options);

/* After '@': the items of a file. */
static void spec_include(spec_parser *p, const char *start)
{
    spec_parser inner = *p;
    const char *path = spec_token(p, "");
    char *text = NULL;
    int error;

    if (!path || !spec_ended(p))
        return;
    if (*path == '\0') {
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
    } else {
        *p->budget -= strlen(text);
        inner.position = (gnomon__spec_position){path, 1};
        inner.depth++;
        spec_text(&inner, text, NULL);
        p->status = inner.status;
    }
    gnomon__free(text);
}

/* An item that begins with `name`. */
static void spec_item(spec_parser *p, const char *name, const char *start)
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
    if (!open && !spec_ended(p))
        return;
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
}

static void spec_items(spec_parser *p)
{
    while (p->status != GNOMON_ENOMEM) {
        const char *start, *name;
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
        }
    }
}

static void spec_text(spec_parser *p, const char *text,
                      gnomon__settings *options)
{
    gnomon__spec_words *words = gnomon__alloc(sizeof *words + strlen(text) + 1);
    if (!words) {
        p->status = GNOMON_ENOMEM;
        return;
    }
    words->next = p->spec->words;
    p->spec->words = words;
    p->out = words->at;
    p->text = p->at = p->counted = text;
    if (options)
        spec_options(p, options, NULL);
    else
        spec_items(p);
}

int gnomon__spec_parse(gnomon__spec *out, const char *name, const char *text,
                       const char *origin, gnomon__complaints *complaints)
{
    size_t budget = GNOMON__SPEC_FILE_BYTES;
    spec_parser p = {.spec = out, .budget = &budget};

    *out = (gnomon__spec){.origin = origin, .complaints = complaints};
    if (name)
        p.status = gnomon__spec_add(out, name);
    if (p.status == GNOMON_OK && text && *text) /* "" detaches without memory */
        spec_text(&p, text, name ? &out->items[0].settings : NULL);
    if (p.status == GNOMON_ENOMEM)
        gnomon__spec_free(out);
    return p.status;
}
