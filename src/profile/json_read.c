/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading JSON: jansson parses one entity at a time, json_struct.c makes a struct of it,
 * and the struct is added to a builder. */
#include "profile/json_read.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"

#if GNOMON_WITH_JANSSON
#include "profile/json_value.h"
#include "profile/texts.h"
#include "platform/json.h"
#include "profile/json_write.h"

typedef gnomon__json_reading reading;

/* ---- Where values lie -------------------------------------------------------------- */

/* A part of a document that passed gnomon__json_valid. */
typedef struct json_span {
    const char *at; /* NULL: there is none */
    size_t size;
} json_span;

static void pass_over(json_span *s, size_t n)
{
    s->at += n;
    s->size -= n;
}

static void pass_blanks(json_span *s)
{
    while (s->size && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' ||
                       *s->at == '\r'))
        pass_over(s, 1);
}

static json_span take_value(json_span *s)
{
    json_span value = {s->at, gnomon__json_length(s->at, s->size)};
    pass_over(s, value.size);
    return value;
}

/* The next item of what is left of a list or object, from its bracket on, with the key
 * of an object's (NULL: of a list). So a long list is read item by item, and never
 * whole. 0: it ends. */
static int next_item(json_span *left, json_span *key, json_span *value)
{
    pass_over(left, strchr("[{,", *left->at) != NULL);
    pass_blanks(left);
    if (!left->size || *left->at == ']' || *left->at == '}')
        return 0;
    if (key) {
        *key = take_value(left);
        pass_over(left, 1); /* the colon */
        pass_blanks(left);
    }
    *value = take_value(left);
    return 1;
}

/* ---- Texts as trees ---------------------------------------------------------------- */

/* What jansson says is wrong, which may quote the file. */
static void wrong_syntax(reading *r, const json_error_t *error)
{
    char text[80];
    gnomon__json_wrong(r, "line %d, column %d: %s", error->line, error->column,
                       gnomon__json_shown(error->text, text, sizeof text));
}

/* The error for a text that jansson refuses. If the text is valid JSON, memory ran out:
 * jansson does not always say so. */
static void wrong_text(reading *r, const json_error_t *error, int is_json)
{
    switch (json_error_code(error)) {
    case json_error_numeric_overflow:
        gnomon__json_wrong(r,
                           "line %d, column %d: too large a number: in "
                           "quotes it may go up to 2^64 - 1",
                           error->line, error->column);
        break;
    case json_error_duplicate_key:
    case json_error_null_character:
    case json_error_null_byte_in_key:
        wrong_syntax(r, error);
        break;
    default:
        if (is_json)
            gnomon__json_no_memory(r);
        else
            wrong_syntax(r, error);
    }
}

#define PARSE_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)

/* A document that cannot be read: jansson parses all of it once more, for an error with
 * line and column. */
static void wrong_document(reading *r, json_span text, int is_json)
{
    /* jansson 2.14 leaves the code in it unset where its first buffer fails. */
    json_error_t error = {0};
    json_t *root = json_loadb(text.at, text.size, PARSE_FLAGS, &error);
    r->depth = 0;
    if (!root)
        wrong_text(r, &error, is_json);
    else if (!is_json)
        gnomon__json_wrong(r, "nested deeper than %d", GNOMON__JSON_DEPTH);
    else
        gnomon__json_no_memory(r); /* a piece of it failed for memory */
    json_decref(root);
}

/* A piece of the document; NULL: it cannot be read, for whatever reason. Where it has
 * doubles and a whole number that is too large for jansson, all its numbers are read as
 * doubles. */
static json_t *piece_of(json_span piece, int has_doubles)
{
    json_error_t error = {0};
    json_t *root = json_loadb(piece.at, piece.size, PARSE_FLAGS, &error);
    return root || !has_doubles ||
                   json_error_code(&error) != json_error_numeric_overflow
               ? root
               : json_loadb(piece.at, piece.size,
                            PARSE_FLAGS | JSON_DECODE_INT_AS_REAL, &error);
}

static int has_doubles(const gnomon__struct *s)
{
    unsigned i = 0;
    while (i < s->field_count && s->fields[i].type != GNOMON__TYPE_DOUBLE)
        i++;
    return i < s->field_count;
}

/* ---- The whole ------------------------------------------------------------------- */

/* Where the lists lie in the document. */
typedef struct document {
    json_span text, version, lists[GNOMON__ENTITIES];
    gnomon__text_table keys; /* all keys of it, copied */
} document;

static int is_null(json_span value)
{
    return !value.at || *value.at == 'n';
}

/* One item of a list at a time: a tree takes ten times as much as its text. */
static int read_kind(reading *r, gnomon_builder *b, int entity,
                     const document *d)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    json_span list = d->lists[entity], piece;
    gnomon__json_enter(r, s->many, 0);
    if (*list.at != '[')
        return gnomon__json_wrong(r, "not a list");
    for (size_t i = 1; next_item(&list, NULL, &piece); i++) {
        gnomon__any any;
        json_t *item = piece_of(piece, has_doubles(s));
        if (!item) {
            wrong_document(r, d->text, 1);
            return 0;
        }
        gnomon__json_enter(r, NULL, i);
        memset(&any, 0, sizeof any);
        int good = gnomon__json_to_struct(r, s, item, (char *)&any);
        /* Where it cannot be added, finish says why. */
        int added = good && gnomon_builder_add(b, entity, &any);
        gnomon__json_drop(r);
        json_decref(item);
        if (!added)
            return 0;
        gnomon__json_leave(r);
    }
    gnomon__json_leave(r);
    return 1;
}

static int read_version(reading *r, const document *d)
{
    uint64_t number;
    if (!d->version.at)
        return gnomon__json_wrong(
            r, "\"gnomon\": 1 is missing, so this is no profile");
    json_t *version = piece_of(d->version, 0);
    if (!version) {
        wrong_document(r, d->text, 1);
        return 0;
    }
    gnomon__json_enter(r, "gnomon", 0);
    int good = gnomon__json_to_u64(r, version, UINT64_MAX, &number);
    json_decref(version);
    if (!good)
        return 0;
    if (!number)
        return gnomon__json_wrong(r, "there is no version 0");
    if (number > GNOMON__JSON_FORM) {
        gnomon__json_wrong(r,
                           "version %llu is newer than this program, which "
                           "reads %d",
                           (unsigned long long)number, GNOMON__JSON_FORM);
        r->code = GNOMON_EABI;
        return 0;
    }
    gnomon__json_leave(r);
    return 1;
}

/* Which key it is; the others are ignored, once all lists are read. */
static int find_list(document *d, const char *key, json_span value)
{
    if (strcmp(key, "gnomon") == 0) {
        d->version = value;
        return 1;
    }
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        if (strcmp(key, gnomon__structs[i].many) == 0) {
            d->lists[i] = value;
            return 1;
        }
    return 0;
}

/* Finds the lists in the document, which is an object. A second equal key is an error. */
static int find_lists(reading *r, document *d)
{
    json_span left = d->text, key, value;
    while (next_item(&left, &key, &value)) {
        json_t *text = piece_of(key, 0);
        const char *name = json_string_value(text);
        gnomon__text_item *item =
            name ? gnomon__text_intern(&d->keys, name) : NULL;
        int is_new = item && !item->text;
        if (is_new)
            item->text = gnomon__strdup(name);
        int good = is_new && item->text;
        if (good)
            item->number = (uint32_t)find_list(d, name, value);
        json_decref(text);
        if (!good) {
            wrong_document(r, d->text, 1);
            return 0;
        }
    }
    return 1;
}

static void read_document(reading *r, gnomon_builder *b, document *d)
{
    static const gnomon_run_info nobody = {
        .rank = -1, .local_rank = -1, .world_size = -1};
    if (*d->text.at == '{' && !find_lists(r, d))
        return;
    if (!read_version(r, d))
        return;
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__json_order[i];
        if (!is_null(d->lists[entity])) {
            if (!read_kind(r, b, entity, d))
                return;
        } else if (entity == GNOMON_RUNS) {
            (void)gnomon_add_run(b, &nobody);
        }
    }
    for (size_t i = 0; i < d->keys.slots.count; i++)
        if (!d->keys.items[i].number)
            gnomon__json_ignore(r, d->keys.items[i].text);
}

static int report_ignored(const reading *r)
{
    size_t more = r->ignored_count - r->named_count;
    if (!r->ignored_count)
        return GNOMON_OK;
    if (!more)
        return gnomon__fail(GNOMON_OK, "ignored: %s", r->ignored);
    return gnomon__fail(GNOMON_OK, "ignored: %s and %zu more", r->ignored,
                        more);
}

int gnomon__json_read(gnomon_profile **out, const char *text, size_t size)
{
    reading r = {0};
    document d = {.text = {text, size}};
    gnomon_builder *b;
    *out = NULL;
    int code = gnomon_builder_create(&b);
    if (code)
        return code;
    if (gnomon__json_valid(text, size)) {
        pass_blanks(&d.text);
        read_document(&r, b, &d);
    } else {
        wrong_document(&r, d.text, 0);
    }
    for (size_t i = 0; i < d.keys.slots.count; i++)
        gnomon__free((char *)(uintptr_t)d.keys.items[i].text);
    gnomon__text_table_free(&d.keys);
    if (r.code) {
        gnomon_builder_free(b);
        code = gnomon__fail(r.code, "%s", r.why);
    } else {
        code = gnomon_builder_finish(b, out);
    }
    return code ? code : report_ignored(&r);
}
#else
int gnomon__json_read(gnomon_profile **out, const char *text, size_t size)
{
    (void)text;
    (void)size;
    *out = NULL;
    return gnomon__fail(GNOMON_ESTATE,
                        "this program reads no JSON, as it was built without "
                        "jansson: install libjansson-dev, configure with "
                        "GNOMON_JSON=ON and build again");
}
#endif
