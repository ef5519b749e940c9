/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reading JSON: jansson parses one entity at a time, and it is read into its place in the
 * profile by the description that wrote it (profile/entity.h).
 *
 * Values are taken strictly: a number has to fit its field, a word has to be known. Every
 * number may also be a text, as jansson and others stop at 2^63 - 1 and round beyond 2^53.
 *
 * After the first error, which stays, what is read is 0, and loops end.
 *
 * Invariant: what is allocated has the size of what was read; no number in the file says
 * how much. */
#include "profile/json_read.h"

#include "platform/error.h"

#if GNOMON_WITH_JANSSON
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "profile/fields.h"
#include "profile/slots.h"

#define NAMED_KEYS 5u
#define LONGEST_KEY 40u
#define PATH_TEXT 112u
#define EXACT_REAL 9007199254740992.0 /* 2^53 */

/* The deepest path is that of a cell's half. */
#define PATH_STEPS 8

/* One reading. */
typedef struct reading {
    int code;
    char why[256];
    size_t depth; /* of the path, as "nodes[3].host.cells[1][2]" */
    struct {
        const char *name;
        size_t index;
    } path[PATH_STEPS];
    size_t ignored_count, named_count;
    char ignored[160]; /* the first few, whole names */
    gnomon__model *m;
    gnomon__text_table texts; /* its texts, each once */
} reading;

/* ---- Where, and what is wrong --------------------------------------------------- */

static void enter(reading *r, const char *name, size_t index)
{
    r->path[r->depth].name = name;
    r->path[r->depth++].index = index;
}

static void leave(reading *r)
{
    r->depth--;
}

/* Writes the path and returns its length: names of ours and numbers, so that it
 * fits. */
static size_t put_path(const reading *r, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < r->depth && n < size; i++) {
        size_t index = r->path[i].index;
        int more = index ? snprintf(out + n, size - n, "[%zu]", index)
                         : snprintf(out + n, size - n, "%s%s", n ? "." : "",
                                    r->path[i].name);
        n += more > 0 ? (size_t)more : 0;
    }
    return n < size ? n : size - 1;
}

/* Keeps the first error, with the path before it. */
static GNOMON_PRINTF(2, 3) void wrong(reading *r, const char *format, ...)
{
    va_list list;
    if (r->code)
        return;
    r->code = GNOMON_EINVAL;
    size_t n = put_path(r, r->why, sizeof r->why - 2);
    if (n) {
        memcpy(r->why + n, ": ", 3);
        n += 2;
    }
    va_start(list, format);
    (void)vsnprintf(r->why + n, sizeof r->why - n, format, list);
    va_end(list);
}

static void lacks_memory(reading *r)
{
    if (!r->code)
        snprintf(r->why, sizeof r->why, "no memory to read a profile");
    r->code = r->code ? r->code : GNOMON_ENOMEM;
}

static const char *shown(const char *text, char *out, size_t size)
{
    (void)gnomon__utf8_clean(text, strlen(text), out, size, NULL);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out;
}

static void ignore_key(reading *r, const char *name)
{
    char key[LONGEST_KEY + 1], path[PATH_TEXT];
    size_t n = strlen(r->ignored), room = sizeof r->ignored - n;
    /* After the first key that does not fit no more are named, to keep their order. */
    if (r->named_count == r->ignored_count++ && r->named_count < NAMED_KEYS) {
        put_path(r, path, sizeof path);
        int more =
            snprintf(r->ignored + n, room, "%s%s%s%s", n ? ", " : "", path,
                     *path ? "." : "", shown(name, key, sizeof key));
        if (more >= 0 && (size_t)more < room)
            r->named_count++;
        else
            r->ignored[n] = 0;
    }
}

static void *room_for(reading *r, size_t count, size_t size)
{
    void *room =
        count > SIZE_MAX / size ? NULL : gnomon__model_room(r->m, count * size);
    if (!room)
        lacks_memory(r);
    return room;
}

/* ---- Numbers --------------------------------------------------------------------- */

/* A whole number, as its sign and its distance from 0. */
typedef struct whole_number {
    int negative;
    uint64_t size;
} whole_number;

static whole_number whole_of_text(reading *r, const char *text)
{
    whole_number n = {.negative = *text == '-'};
    text += n.negative;
    if (!*text)
        wrong(r, "not a number");
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (n.size > (UINT64_MAX - digit) / 10)
            wrong(r, "too large a number");
        n.size = 10 * n.size + digit;
    }
    if (*text)
        wrong(r, "not a whole number");
    return n;
}

static whole_number whole_of(reading *r, json_t *value)
{
    double real = json_real_value(value);
    json_int_t whole = json_integer_value(value);
    if (json_is_string(value))
        return whole_of_text(r, json_string_value(value));
    if (!json_is_real(value)) {
        if (!json_is_integer(value))
            wrong(r, "not a number");
    } else if (!(real >= -EXACT_REAL && real <= EXACT_REAL) ||
               (double)(int64_t)real != real) { /* 1e9 is one, too */
        wrong(r, "not a whole number below 2^53: give all digits");
    } else {
        whole = (json_int_t)real;
    }
    return (whole_number){whole < 0,
                          whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole};
}

/* A whole number from `least`, which is at most 0, to `most`. */
static uint64_t to_whole(reading *r, json_t *value, int64_t least,
                         uint64_t most)
{
    const whole_number n = whole_of(r, value);
    if (n.size > (n.negative ? 0 - (uint64_t)least : most))
        wrong(r, "not in %" PRId64 " .. %" PRIu64, least, most);
    return r->code ? 0 : n.negative ? 0 - n.size : n.size;
}

static double real_of_bits(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static double real_of_text(reading *r, const char *text)
{
    static const uint64_t nan = 0x7ff8000000000000u, inf = 0x7ff0000000000000u;
    if (strcmp(text, "NaN") == 0)
        return real_of_bits(nan);
    if (strcmp(text, "Infinity") == 0)
        return real_of_bits(inf);
    if (strcmp(text, "-Infinity") == 0)
        return real_of_bits(inf | (uint64_t)1 << 63);
    if (strncmp(text, "NaN(0x", 6) == 0 && strlen(text) == 23 &&
        strspn(text + 6, "0123456789abcdef") == 16 && text[22] == ')') {
        uint64_t bits = strtoull(text + 6, NULL, 16);
        if ((bits & ~((uint64_t)1 << 63)) > inf)
            return real_of_bits(bits);
    }
    /* Else as JSON has it: by jansson, so that the locale has no say. */
    json_error_t error = {0}; /* as in parse_text */
    json_t *number =
        json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    const double real = json_number_value(number);
    if (!number && gnomon__json_valid(text, strlen(text)) &&
        json_error_code(&error) != json_error_numeric_overflow)
        lacks_memory(r);
    else if (!json_is_number(number))
        wrong(r, "not a number, nor \"NaN\", \"Infinity\" or \"-Infinity\"");
    json_decref(number);
    return real;
}

static double to_double(reading *r, json_t *value)
{
    if (json_is_string(value))
        return real_of_text(r, json_string_value(value));
    if (!json_is_number(value))
        wrong(r, "not a number");
    return json_number_value(value);
}

/* ---- Words ----------------------------------------------------------------------- */

/* The first few words, for an error. */
static void list_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (; *words && n < size; words++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", *words);
}

static int is_number_text(const char *text)
{
    return *text >= '0' && *text <= '9';
}

static uint32_t to_word(reading *r, json_t *value, const char *const *words)
{
    const char *text = json_string_value(value);
    char known[120], part[24];
    if (!text && !json_is_number(value))
        wrong(r, "not a word");
    if (!text || is_number_text(text))
        return (uint32_t)to_whole(r, value, 0, UINT32_MAX);
    for (uint32_t i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    list_words(words, known, sizeof known);
    wrong(r, "'%s' is not one of: %s", shown(text, part, sizeof part), known);
    return 0;
}

static uint32_t to_flags(reading *r, json_t *value, const char *const *words)
{
    size_t i;
    json_t *item;
    uint32_t flags = 0;
    if (!json_is_array(value))
        wrong(r, "not a list of words");
    json_array_foreach(value, i, item)
    {
        const char *text = json_string_value(item);
        enter(r, NULL, i + 1);
        const uint32_t bits = to_word(r, item, words);
        flags |= text && !is_number_text(text) ? (uint32_t)1 << bits : bits;
        leave(r);
    }
    return flags;
}

/* ---- JSON as a text --------------------------------------------------------------- */

static const char *to_json(reading *r, json_t *value)
{
    const size_t flags = JSON_ENCODE_ANY;
    size_t size = json_dumpb(value, NULL, 0, flags);
    char *text = size ? room_for(r, size + 1, 1) : NULL;
    if (!text || json_dumpb(value, text, size, flags) != size)
        lacks_memory(r);
    return text;
}

/* ---- Lists ----------------------------------------------------------------------- */

static void read_pair(reading *r, json_t *pair, gnomon_cell *cell)
{
    uint64_t half[2];
    if (!json_is_array(pair) || json_array_size(pair) != 2)
        wrong(r, "not a pair [cell, executions]");
    for (size_t i = 0; i < 2; i++) {
        enter(r, NULL, i + 1);
        half[i] = to_whole(r, json_array_get(pair, i), 0,
                           i ? UINT64_MAX : UINT32_MAX);
        leave(r);
    }
    *cell = (gnomon_cell){(uint32_t)half[0], 0, half[1]};
}

static void to_struct(reading *r, const gnomon__struct *s, json_t *object,
                      char *to);

static void read_item(reading *r, const gnomon__field *f, json_t *item,
                      char *to)
{
    if (f->type == GNOMON__TYPE_CELLS) {
        read_pair(r, item, (gnomon_cell *)(void *)to);
    } else if (f->type <= GNOMON__TYPE_STRUCTS) {
        to_struct(r, &gnomon__structs[f->of], item, to);
    } else {
        const uint64_t number = to_whole(r, item, INT64_MIN, INT64_MAX);
        memcpy(to, &number, sizeof number);
    }
}

/* A struct, or a list, its items and their count; an empty one is none. */
static void read_list(reading *r, const gnomon__field *f, json_t *list,
                      char *to)
{
    size_t size = f->type == GNOMON__TYPE_CELLS ? sizeof(gnomon_cell)
                  : f->type <= GNOMON__TYPE_STRUCTS
                      ? gnomon__structs[f->of].size
                      : sizeof(int64_t);
    const int is_one = f->type == GNOMON__TYPE_STRUCT;
    size_t n = is_one ? 1 : json_array_size(list), i;
    uint32_t rank;
    if (!is_one && !json_is_array(list))
        wrong(r, "not a list");
    memcpy(&rank, to + f->count_at, sizeof rank); /* 0 before dims */
    if (f->type >= GNOMON__TYPE_DIMS &&
        (n > UINT32_MAX || (f->type == GNOMON__TYPE_STRIDES && n != rank)))
        wrong(r, "not as many as dims");
    if (!is_one)
        gnomon__field_count_set(f, to, n);
    char *items = n && !r->code ? room_for(r, n, size) : NULL;
    gnomon__field_set(f, to, &items, sizeof items);
    if (is_one && items)
        to_struct(r, &gnomon__structs[f->of], list, items);
    for (i = 0; !is_one && i < n && !r->code; i++) {
        enter(r, NULL, i + 1);
        read_item(r, f, json_array_get(list, i), items + i * size);
        leave(r);
    }
}

/* ---- Fields ---------------------------------------------------------------------- */

static void read_text(reading *r, const gnomon__field *f, json_t *value,
                      char *to)
{
    gnomon__copier once = {.m = r->m, .context = &r->texts};
    const char *text = json_string_value(value);
    if (f->type == GNOMON__TYPE_JSON &&
        (!text || !gnomon__json_valid(text, strlen(text))))
        wrong(r, "not a text that is JSON; a value as such "
                 "goes under \"value\"");
    if (!text)
        wrong(r, "not a text");
    if (!r->code && !(text = gnomon__copy_once(&once, text, f->type)))
        lacks_memory(r);
    gnomon__field_set(f, to, &text, sizeof text);
}

/* A whole number of 32 bits or 64, with a sign or without. */
static uint64_t to_number(reading *r, const gnomon__field *f, json_t *value)
{
    const int is_64 = gnomon__field_size(f) == 8;
    const int has_sign = f->type == GNOMON__TYPE_I32 ||
                         f->type == GNOMON__TYPE_TRUTH ||
                         f->type == GNOMON__TYPE_I64;
    const uint64_t most =
        (is_64 ? UINT64_MAX : UINT32_MAX) >> (has_sign ? 1 : 0);
    if (f->type == GNOMON__TYPE_TRUTH && json_is_boolean(value))
        return (uint64_t)json_is_true(value);
    return to_whole(r, value, has_sign ? -(int64_t)most - 1 : 0, most);
}

static void read_value(reading *r, const gnomon__field *f, json_t *value,
                       char *to)
{
    double real;
    switch ((gnomon__type)f->type) {
    case GNOMON__TYPE_DOUBLE:
        real = to_double(r, value);
        gnomon__field_set(f, to, &real, sizeof real);
        break;
    case GNOMON__TYPE_WORD:
        gnomon__field_set_bits(f, to, to_word(r, value, gnomon__words(f)));
        break;
    case GNOMON__TYPE_FLAGS:
        gnomon__field_set_bits(f, to, to_flags(r, value, gnomon__words(f)));
        break;
    case GNOMON__TYPE_TEXT:
    case GNOMON__TYPE_MAYBE:
    case GNOMON__TYPE_JSON:
        read_text(r, f, value, to);
        break;
    case GNOMON__TYPE_STRUCT:
    case GNOMON__TYPE_STRUCTS:
    case GNOMON__TYPE_CELLS:
    case GNOMON__TYPE_DIMS:
    case GNOMON__TYPE_STRIDES:
        read_list(r, f, value, to);
        break;
    default:
        gnomon__field_set_bits(f, to, to_number(r, f, value));
    }
}

/* What a field is that is not there: JSON may be there as a value. */
static void read_nothing(reading *r, const gnomon__field *f, json_t *value,
                         char *to)
{
    const char *text = value ? to_json(r, value) : "";
    if (!value && f->rules & GNOMON__NEEDED)
        wrong(r, "missing");
    else if (value || f->type == GNOMON__TYPE_TEXT)
        gnomon__field_set(f, to, &text, sizeof text);
    else if (f->standard)
        gnomon__field_set_bits(f, to, (uint64_t)f->standard);
}

/* The cells that statistics lack are known if all executions took the same
 * time. */
static void find_cells(reading *r, gnomon_stats *s)
{
    if (s->cell_count || !s->count || r->code)
        return;
    if (s->min_ns != s->max_ns) {
        enter(r, "cells", 0);
        wrong(r, "missing: give the histogram as [[cell, executions], ...], or "
                 "min_ns and max_ns that are equal");
        leave(r);
    }
    gnomon_cell *cell = r->code ? NULL : room_for(r, 1, sizeof *cell);
    if (!cell)
        return;
    cell->cell = gnomon_cell_of(s->min_ns);
    cell->count = s->count;
    s->cells = cell;
    s->cell_count = 1;
}

static int is_known_key(const gnomon__struct *s, const char *key)
{
    for (size_t i = 0; i < s->field_count; i++)
        if (strcmp(s->fields[i].name, key) == 0 ||
            (s->fields[i].type == GNOMON__TYPE_JSON &&
             strcmp(key, "value") == 0))
            return 1;
    return 0;
}

static void to_struct(reading *r, const gnomon__struct *s, json_t *object,
                      char *to)
{
    const uint32_t struct_size = s->size;
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        wrong(r, "not an object");
    memcpy(to, &struct_size, sizeof struct_size);
    for (size_t i = 0; i < s->field_count && !r->code; i++) {
        const gnomon__field *f = &s->fields[i];
        enter(r, f->name, 0);
        json_t *other = f->type == GNOMON__TYPE_JSON
                            ? json_object_get(object, "value")
                            : NULL;
        value = json_object_get(object, f->name);
        if (json_is_null(value))
            value = NULL;
        if (value && other)
            wrong(r, "there is a \"value\" too");
        else if (value)
            read_value(r, f, value, to);
        else
            read_nothing(r, f, other, to);
        leave(r);
    }
    json_object_foreach(object, key, value) if (!is_known_key(s, key))
        ignore_key(r, key);
    if (s == &gnomon__structs[GNOMON__STATS])
        find_cells(r, (gnomon_stats *)(void *)to);
}

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
    wrong(r, "line %d, column %d: %s", error->line, error->column,
          shown(error->text, text, sizeof text));
}

/* The error for a text that jansson refuses. If the text is valid JSON, memory ran out:
 * jansson does not always say so. */
static void wrong_text(reading *r, const json_error_t *error, int is_json)
{
    switch (json_error_code(error)) {
    case json_error_numeric_overflow:
        wrong(r,
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
            lacks_memory(r);
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
    const size_t depth = r->depth;
    r->depth = 0; /* no path */
    if (!root)
        wrong_text(r, &error, is_json);
    else if (!is_json)
        wrong(r, "nested deeper than %d", GNOMON__JSON_DEPTH);
    else
        lacks_memory(r); /* a piece of it failed for memory */
    r->depth = depth;
    json_decref(root);
}

/* A piece of the document `text`; NULL: it cannot be read, which is an error. Where it
 * has doubles and a whole number that is too large for jansson, all its numbers are read
 * as doubles. */
static json_t *piece_of(reading *r, json_span text, json_span piece,
                        int has_doubles)
{
    json_error_t error = {0};
    json_t *root = json_loadb(piece.at, piece.size, PARSE_FLAGS, &error);
    if (!root && has_doubles &&
        json_error_code(&error) == json_error_numeric_overflow)
        root = json_loadb(piece.at, piece.size,
                          PARSE_FLAGS | JSON_DECODE_INT_AS_REAL, &error);
    if (!root)
        wrong_document(r, text, 1);
    return root;
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
static void read_kind(reading *r, int entity, const document *d)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    json_span list = d->lists[entity], piece;
    enter(r, s->many, 0);
    if (*list.at != '[')
        wrong(r, "not a list");
    for (size_t i = 1; !r->code && next_item(&list, NULL, &piece); i++) {
        json_t *item = piece_of(r, d->text, piece, has_doubles(s));
        char *to = item ? gnomon__model_add(r->m, entity) : NULL;
        enter(r, NULL, i);
        if (to)
            to_struct(r, s, item, to);
        else
            lacks_memory(r);
        json_decref(item);
        leave(r);
    }
    leave(r);
}

static void read_version(reading *r, const document *d)
{
    json_t *version = NULL;
    if (d->version.at)
        version = piece_of(r, d->text, d->version, 0);
    else
        wrong(r, "\"gnomon\": 1 is missing, so this is no profile");
    enter(r, "gnomon", 0);
    const uint64_t number = to_whole(r, version, 0, UINT64_MAX);
    json_decref(version);
    if (!number)
        wrong(r, "there is no version 0");
    if (number > GNOMON__JSON_FORM) {
        wrong(r,
              "version %llu is newer than this program, which "
              "reads %d",
              (unsigned long long)number, GNOMON__JSON_FORM);
        r->code = GNOMON_EABI;
    }
    leave(r);
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
static void find_lists(reading *r, document *d)
{
    json_span left = d->text, key, value;
    while (!r->code && next_item(&left, &key, &value)) {
        json_t *text = piece_of(r, d->text, key, 0);
        const char *name = json_string_value(text);
        gnomon__text_item *item =
            name ? gnomon__text_intern(&d->keys, name) : NULL;
        int is_new = item && !item->text;
        if (is_new)
            item->text = gnomon__strdup(name);
        if (is_new && item->text)
            item->number = (uint32_t)find_list(d, name, value);
        else
            wrong_document(r, d->text, 1);
        json_decref(text);
    }
}

static void read_document(reading *r, document *d)
{
    if (*d->text.at == '{')
        find_lists(r, d);
    read_version(r, d);
    for (int i = 0; i < GNOMON__ENTITIES && !r->code; i++) {
        int entity = gnomon__json_order[i];
        if (!is_null(d->lists[entity])) {
            read_kind(r, entity, d);
        } else if (entity == GNOMON_RUNS) {
            gnomon_run_info *run = gnomon__model_add(r->m, GNOMON_RUNS);
            if (run)
                *run = gnomon__no_run;
            else
                lacks_memory(r);
        }
    }
    for (size_t i = 0; i < d->keys.slots.count && !r->code; i++)
        if (!d->keys.items[i].number)
            ignore_key(r, d->keys.items[i].text);
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
    reading r = {.m = gnomon__model_create()};
    document d = {.text = {text, size}};
    *out = NULL;
    gnomon__fail_clear();
    if (!r.m) {
        lacks_memory(&r);
    } else if (gnomon__json_valid(text, size)) {
        pass_blanks(&d.text);
        read_document(&r, &d);
    } else {
        wrong_document(&r, d.text, 0);
    }
    for (size_t i = 0; i < d.keys.slots.count; i++)
        gnomon__free((char *)(uintptr_t)d.keys.items[i].text);
    gnomon__text_table_free(&d.keys);
    gnomon__text_table_free(&r.texts);
    int code = r.code ? gnomon__fail(r.code, "%s", r.why)
                      : gnomon_profile_check(&r.m->base);
    if (!code)
        *out = &r.m->base;
    else if (r.m)
        gnomon_profile_free(&r.m->base);
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
