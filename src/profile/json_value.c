/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of jansson's, taken strictly: a number has to fit its field, a word has
 * to be known. Every number may also be a text, as jansson and others stop at
 * 2^63 - 1 and round beyond 2^53. */
#include "profile/json_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"

#define NAMED_KEYS 5u
#define LONGEST_KEY 40u
#define PATH_TEXT 112u
#define EXACT_REAL 9007199254740992.0 /* 2^53 */

struct gnomon__json_piece {
    gnomon__json_piece *below;
    uint64_t room[];
};

/* ---- Where, and what is wrong --------------------------------------------------- */

void gnomon__json_enter(gnomon__json_reading *r, const char *name, size_t index)
{
    r->path[r->depth].name = name;
    r->path[r->depth++].index = index;
}

void gnomon__json_leave(gnomon__json_reading *r)
{
    r->depth--;
}

/* Writes the path and returns its length: names of ours and numbers, so that it
 * fits. */
static size_t put_path(const gnomon__json_reading *r, char *out, size_t size)
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

int gnomon__json_wrong(gnomon__json_reading *r, const char *format, ...)
{
    va_list list;
    r->code = GNOMON_EINVAL;
    size_t n = put_path(r, r->why, sizeof r->why - 2);
    if (n) {
        memcpy(r->why + n, ": ", 3);
        n += 2;
    }
    va_start(list, format);
    (void)vsnprintf(r->why + n, sizeof r->why - n, format, list);
    va_end(list);
    return 0;
}

int gnomon__json_no_memory(gnomon__json_reading *r)
{
    if (!r->code)
        snprintf(r->why, sizeof r->why, "no memory to read a profile");
    r->code = r->code ? r->code : GNOMON_ENOMEM;
    return 0;
}

const char *gnomon__json_shown(const char *text, char *out, size_t size)
{
    (void)gnomon__utf8_clean(text, strlen(text), out, size, NULL);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return out;
}

void gnomon__json_ignore(gnomon__json_reading *r, const char *name)
{
    char key[LONGEST_KEY + 1], path[PATH_TEXT];
    size_t n = strlen(r->ignored), room = sizeof r->ignored - n;
    /* After the first key that does not fit no more are named, to keep their order. */
    if (r->named_count == r->ignored_count++ && r->named_count < NAMED_KEYS) {
        put_path(r, path, sizeof path);
        int more = snprintf(r->ignored + n, room, "%s%s%s%s", n ? ", " : "",
                            path, *path ? "." : "",
                            gnomon__json_shown(name, key, sizeof key));
        if (more >= 0 && (size_t)more < room)
            r->named_count++;
        else
            r->ignored[n] = 0;
    }
}

void *gnomon__json_room(gnomon__json_reading *r, size_t count, size_t size)
{
    gnomon__json_piece *piece =
        count > (SIZE_MAX - sizeof *piece) / size
            ? NULL
            : gnomon__alloc(sizeof *piece + count * size);
    if (!piece) {
        gnomon__json_no_memory(r);
        return NULL;
    }
    piece->below = r->pieces;
    r->pieces = piece;
    return piece->room;
}

void gnomon__json_drop(gnomon__json_reading *r)
{
    while (r->pieces) {
        gnomon__json_piece *below = r->pieces->below;
        gnomon__free(r->pieces);
        r->pieces = below;
    }
}

/* ---- Numbers --------------------------------------------------------------------- */

/* A whole number, as its sign and its distance from 0. */
typedef struct whole_number {
    int negative;
    uint64_t size;
} whole_number;

static int whole_of_text(gnomon__json_reading *r, const char *text,
                         whole_number *out)
{
    out->negative = *text == '-';
    out->size = 0;
    text += out->negative;
    if (!*text)
        return gnomon__json_wrong(r, "not a number");
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (out->size > (UINT64_MAX - digit) / 10)
            return gnomon__json_wrong(r, "too large a number");
        out->size = 10 * out->size + digit;
    }
    return *text ? gnomon__json_wrong(r, "not a whole number") : 1;
}

static int whole_of(gnomon__json_reading *r, json_t *value, whole_number *out)
{
    double real = json_real_value(value);
    json_int_t whole = json_integer_value(value);
    if (json_is_string(value))
        return whole_of_text(r, json_string_value(value), out);
    if (json_is_real(value)) { /* 1e9 is one, too */
        if (!(real >= -EXACT_REAL && real <= EXACT_REAL) ||
            (double)(int64_t)real != real)
            return gnomon__json_wrong(r, "not a whole number below 2^53: give "
                                         "all digits");
        whole = (json_int_t)real;
    } else if (!json_is_integer(value)) {
        return gnomon__json_wrong(r, "not a number");
    }
    out->negative = whole < 0;
    out->size = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
    return 1;
}

int gnomon__json_to_u64(gnomon__json_reading *r, json_t *value, uint64_t most,
                        uint64_t *out)
{
    whole_number n = {0, 0};
    if (!whole_of(r, value, &n))
        return 0;
    if ((n.negative && n.size) || n.size > most)
        return gnomon__json_wrong(r, "not in 0 .. %" PRIu64, most);
    *out = n.size;
    return 1;
}

int gnomon__json_to_i64(gnomon__json_reading *r, json_t *value, int64_t least,
                        int64_t most, int64_t *out)
{
    whole_number n = {0, 0};
    if (!whole_of(r, value, &n))
        return 0;
    if (n.negative ? n.size > 0 - (uint64_t)least : n.size > (uint64_t)most)
        return gnomon__json_wrong(r, "not in %" PRId64 " .. %" PRId64, least,
                                  most);
    *out = (int64_t)(n.negative ? 0 - n.size : n.size);
    return 1;
}

static int real_of_bits(uint64_t bits, double *out)
{
    memcpy(out, &bits, sizeof *out);
    return 1;
}

static int real_of_text(gnomon__json_reading *r, const char *text, double *out)
{
    static const uint64_t nan = 0x7ff8000000000000u, inf = 0x7ff0000000000000u;
    if (strcmp(text, "NaN") == 0)
        return real_of_bits(nan, out);
    if (strcmp(text, "Infinity") == 0)
        return real_of_bits(inf, out);
    if (strcmp(text, "-Infinity") == 0)
        return real_of_bits(inf | (uint64_t)1 << 63, out);
    if (strncmp(text, "NaN(0x", 6) == 0 && strlen(text) == 23 &&
        strspn(text + 6, "0123456789abcdef") == 16 && text[22] == ')') {
        uint64_t bits = strtoull(text + 6, NULL, 16);
        if ((bits & ~((uint64_t)1 << 63)) > inf)
            return real_of_bits(bits, out);
    }
    /* Else as JSON has it: by jansson, so that the locale has no say. */
    json_error_t error = {0}; /* as in parse_text */
    json_t *number =
        json_loads(text, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
    int is_number = json_is_number(number);
    if (is_number)
        *out = json_number_value(number);
    else if (!number && gnomon__json_valid(text, strlen(text)) &&
             json_error_code(&error) != json_error_numeric_overflow)
        return gnomon__json_no_memory(r);
    json_decref(number);
    return is_number ? 1
                     : gnomon__json_wrong(r, "not a number, nor \"NaN\", "
                                             "\"Infinity\" or \"-Infinity\"");
}

int gnomon__json_to_double(gnomon__json_reading *r, json_t *value, double *out)
{
    if (json_is_string(value))
        return real_of_text(r, json_string_value(value), out);
    if (!json_is_number(value))
        return gnomon__json_wrong(r, "not a number");
    *out = json_number_value(value);
    return 1;
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

int gnomon__json_to_word(gnomon__json_reading *r, json_t *value,
                         const char *const *words, uint32_t *out)
{
    const char *text = json_string_value(value);
    char known[120], shown[24];
    uint64_t number = 0;
    if (!text || is_number_text(text)) {
        if (!text && !json_is_number(value))
            return gnomon__json_wrong(r, "not a word");
        if (!gnomon__json_to_u64(r, value, UINT32_MAX, &number))
            return 0;
        *out = (uint32_t)number;
        return 1;
    }
    for (*out = 0; words[*out]; ++*out)
        if (strcmp(words[*out], text) == 0)
            return 1;
    list_words(words, known, sizeof known);
    return gnomon__json_wrong(r, "'%s' is not one of: %s",
                              gnomon__json_shown(text, shown, sizeof shown),
                              known);
}

int gnomon__json_to_flags(gnomon__json_reading *r, json_t *value,
                          const char *const *words, uint32_t *out)
{
    size_t i;
    json_t *item;
    uint32_t flags = 0, bits = 0;
    if (!json_is_array(value))
        return gnomon__json_wrong(r, "not a list of words");
    json_array_foreach(value, i, item)
    {
        gnomon__json_enter(r, NULL, i + 1);
        if (!gnomon__json_to_word(r, item, words, &bits))
            return 0;
        const char *text = json_string_value(item);
        flags |= text && !is_number_text(text) ? (uint32_t)1 << bits : bits;
        gnomon__json_leave(r);
    }
    *out = flags;
    return 1;
}

/* ---- JSON as a text --------------------------------------------------------------- */

int gnomon__json_to_json(gnomon__json_reading *r, json_t *value,
                         const char **out)
{
    const size_t flags = JSON_ENCODE_ANY;
    size_t size = json_dumpb(value, NULL, 0, flags);
    char *text = size ? gnomon__json_room(r, size + 1, 1) : NULL;
    if (!text)
        return gnomon__json_no_memory(r);
    if (json_dumpb(value, text, size, flags) != size)
        return gnomon__json_no_memory(r);
    *out = text;
    return 1;
}
