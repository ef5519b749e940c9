/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes a short name of __PRETTY_FUNCTION__. Called once for each region of a
 * C++ function, when it enters the table. A pure function of its arguments.
 *
 * gcc and clang write the same function as
 *
 *   gcc:   U layer<N>::generic(U) [with U = float; int N = 4]
 *   clang: U layer<4>::generic(U) [N = 4, U = float]
 *
 * The text is copied up to the last list of parameters. What was copied is
 * dropped when a space or the like shows that it was part of the return type. A
 * list of parameters before the last one belongs to an enclosing function.
 *
 * gcc leaves the parameters of templates in the name: their values in the
 * brackets replace them, and values that are not in the name are the
 * function's own arguments. In clang's brackets the function's own arguments
 * cannot be told from those of its class, which are in the name already: so
 * they are used only where the name has none. */
#include "mark/pretty.h"

#include <stdio.h>
#include <string.h>

typedef struct pretty_writer {
    char *out;
    size_t size, length;
    const char *bindings; /* what the brackets say; NULL: nothing to be used */
    int is_gcc;
    uint32_t used; /* bindings by number: they are in the name */
} pretty_writer;

/* ---- Reading ------------------------------------------------------------- */

static int starts_with(const char *t, const char *word)
{
    return strncmp(t, word, strlen(word)) == 0;
}

static size_t word_length(const char *t)
{
    size_t n = 0;
    while ((t[n] >= 'a' && t[n] <= 'z') || (t[n] >= 'A' && t[n] <= 'Z') ||
           (t[n] >= '0' && t[n] <= '9') || t[n] == '_' || (t[n] & 0x80))
        n++;
    return n;
}

static int is_word(const char *t, size_t n, const char *word)
{
    return n == strlen(word) && memcmp(t, word, n) == 0;
}

#define MAX_BRACKETS 100 /* nested: the stack may be small */

/* Skips one character, or a literal, or a bracket with all inside it. Inside
 * other brackets than angles, an angle may be an operator. */
static const char *skip_at(const char *t, int depth)
{
    static const char opening[] = "(<[{'\"", closing[] = ")>]}'\"";
    const char *is = *t && depth < MAX_BRACKETS ? strchr(opening, *t) : NULL;
    t += *t != 0;
    if (!is)
        return t;
    char end = closing[is - opening];
    while (*t && *t != end) {
        if (end == '\'' || end == '"')
            t += *t == '\\' && t[1] ? 2 : 1;
        else
            t = *t == '<' && end != '>' ? t + 1 : skip_at(t, depth + 1);
    }
    return t + (*t != 0);
}

static const char *skip(const char *t)
{
    return skip_at(t, 0);
}

/* Past what follows the word "operator", up to the parameters. */
static const char *skip_operator(const char *t)
{
    if (starts_with(t, "()"))
        return t + 2;
    if (*t == ' ') { /* a type, or new and delete */
        while (*t && *t != '(')
            t = skip(t);
        return t;
    }
    t += strspn(t, "+-*/%^&|~!=<>,[]\"");
    if (starts_with(t, " <")) /* arguments of a template */
        return skip(t + 1);
    return t + word_length(t); /* of a literal's operator */
}

/* After a list of parameters: where the name goes on, if that was of a function
 * around it; else NULL. What may stand between is "const" and the like. */
static const char *go_on(const char *t)
{
    if (!starts_with(t, " requires"))
        t += strspn(t, " &abcdefghijklmnopqrstuvwxyz");
    return starts_with(t, "::") ? t : NULL;
}

/* A part of a name that the compiler made up. */
static int is_nameless(const char *t)
{
    static const char words[][12] = {"<lambda(", "(lambda", "<unnamed ",
                                     "{anonymous}", "(anonymous "};
    size_t n = *t == '<' || *t == '(' || *t == '{' ? 5 : 0;
    while (n && !starts_with(t, words[n - 1]))
        n--;
    return n != 0;
}

/* Past a lambda: gcc's, or clang's, which is a class. NULL: this is none. */
static const char *skip_lambda(const char *t)
{
    static const char call[] = "::operator()";
    const char *past = skip(t);
    if (starts_with(t, "<lambda("))
        return past;
    if ((starts_with(t, "(lambda") || starts_with(t, "(anonymous class")) &&
        starts_with(past, call))
        return past + strlen(call);
    return NULL;
}

/* The next binding from *at on. `key` is the word that it binds; of no length
 * where it is another name of a type, or one that the compiler made up. 0:
 * there is none. */
static int next_binding(const pretty_writer *s, const char **at,
                        const char **key, size_t *key_length,
                        const char **value, size_t *length)
{
    const char *t = *at, *begin = t, *is = NULL, *left;
    for (; *t && *t != (s->is_gcc ? ';' : ',') && strcmp(t, "]") != 0;
         t = skip(t))
        if (!is && *t == ' ' && starts_with(t, " = "))
            is = t;
    if (!is)
        return 0;
    *at = *t && t[1] ? t + 2 : t;
    *value = is + 3;
    *length = (size_t)(t - is - 3);
    left = memchr(begin, '(', (size_t)(is - begin));
    if (left && left[1] == '*') { /* void (* F)(int) */
        *key = left + 2 + (left[2] == ' ');
        *key_length = word_length(*key);
        return 1;
    }
    for (*key = is; *key > begin && word_length(*key - 1); --*key)
        continue;
    *key_length = (size_t)(is - *key);
    if (*key > begin ? (*key)[-1] == ':'
                     : s->is_gcc && is - begin > 2 && starts_with(is - 2, "_t"))
        *key_length = 0;
    return 1;
}

/* ---- Writing ------------------------------------------------------------- */

static void put(pretty_writer *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++, s->length++)
        if (s->length < s->size)
            s->out[s->length] = text[i];
}

static void put_nameless(pretty_writer *s, int is_lambda)
{
    put(s, is_lambda ? "lambda" : "(anonymous)", is_lambda ? 6 : 11);
}

static int put_bound(pretty_writer *s, const char *word, size_t n);

/* Writes a part of the name; with `is_bound` its words are replaced by the
 * values they are bound to. */
static void put_part(pretty_writer *s, const char *t, size_t length,
                     int is_bound)
{
    const char *end = t + length, *past;
    for (; t < end; t = past) {
        size_t n = word_length(t);
        int is_made_up = !n && is_nameless(t);
        past = n ? t + n : is_made_up || strchr("'\"", *t) ? skip(t) : t + 1;
        if (is_made_up)
            put_nameless(s, t[1] == 'l');
        else if (!n || !is_bound || !put_bound(s, t, n))
            put(s, t, (size_t)(past - t));
        else if (starts_with(past, " ..."))
            past += strlen(" ...");
    }
}

/* Writes a value; a pack without its brackets. */
static void put_value(pretty_writer *s, const char *value, size_t n)
{
    int is_pack = n > 1 && strchr("{<", *value) && !is_nameless(value);
    put_part(s, value + is_pack, n - 2 * (size_t)is_pack, 0);
}

/* The value of a parameter. 0: the word is none. */
static int put_bound(pretty_writer *s, const char *word, size_t n)
{
    const char *at = s->bindings, *key, *value;
    size_t key_length, length;
    for (uint32_t i = 0;
         at && next_binding(s, &at, &key, &key_length, &value, &length); i++) {
        if (key_length == n && memcmp(key, word, n) == 0) {
            s->used |= 1u << i % 32;
            put_value(s, value, length);
            return 1;
        }
    }
    return 0;
}

/* The function's own arguments: those that are not in the name, which ends in
 * `last`. */
static void put_own(pretty_writer *s, char last)
{
    const char *at = s->bindings, *key, *value, *between = " <";
    size_t key_length, length;
    between += last != '<' && last != '>';
    for (uint32_t i = 0;
         at && next_binding(s, &at, &key, &key_length, &value, &length); i++) {
        if (!key_length && s->is_gcc)
            break; /* other names of types come last */
        if (!key_length || s->used >> i % 32 & 1)
            continue;
        put(s, between, strlen(between));
        put_value(s, value, length);
        between = ", ";
    }
    if (*between == ',')
        put(s, ">", 1);
    s->bindings = NULL;
}

/* Returns whether this is a function's name. */
static int put_name(pretty_writer *s, const char *t, uint32_t line)
{
    const char *bindings = s->bindings, *part = t, *past;
    int is_lambda = 0, is_decltype = 0;
    while (*t) {
        size_t n = word_length(t);
        if (n) {
            int is_operator = is_word(t, n, "operator");
            is_decltype = is_word(t, n, "decltype");
            past = is_operator ? skip_operator(t + n) : t + n;
            put_part(s, t, (size_t)(past - t), is_operator);
            is_lambda = 0;
        } else if (is_nameless(t) && (t == part || *t == '<')) {
            if (t != part) /* "void<unnamed struct>::f()" */
                s->length = 0;
            past = skip_lambda(t);
            is_lambda = past != NULL;
            past = past ? past : skip(t);
            put_nameless(s, is_lambda);
            if (*t == '<' && is_lambda && !starts_with(past, "::"))
                break; /* gcc's has no list of its own */
        } else if (*t == '<' && t != part) {
            past = skip(t);
            put_part(s, t, (size_t)(past - t), 1);
            s->bindings = s->is_gcc ? s->bindings : NULL;
        } else if (*t == '(' && (t != part || is_decltype)) {
            past = skip(t);
            if (!is_decltype) {
                const char *next = go_on(past);
                if (!next)
                    break;
                past = skip_lambda(next + 2);
                if (past && !starts_with(past, "::"))
                    s->bindings = NULL; /* these are the lambda's */
                put_own(s, t[-1]);
                past = next;
            }
            is_decltype = 0;
        } else if (*t == ':' || *t == '~') {
            put(s, t, 1);
            past = part = t + 1;
        } else { /* all that was up to here is of the return type */
            past = part = *t == '<' ? skip(t) : t + 1;
            s->length = s->used = 0;
            s->bindings = bindings;
        }
        t = past;
    }
    if (is_lambda) {
        char text[24];
        put(s, text, (size_t)snprintf(text, sizeof text, " at %u", line));
    } else {
        put_own(s, t[-1]);
    }
    return *t != 0;
}

size_t gnomon__pretty_name(const char *pretty, uint32_t line, char *out,
                           size_t size)
{
    pretty_writer s = {out, size ? size - 1 : 0, 0, NULL, 1, 0};
    size_t length = strlen(pretty);
    if (length && pretty[length - 1] == ']') {
        s.bindings = strstr(pretty, " [with ");
        s.is_gcc = s.bindings != NULL;
        s.bindings = s.is_gcc ? s.bindings + 7 : strstr(pretty, " [");
        if (s.bindings && !s.is_gcc)
            s.bindings += 2;
    }
    if (!length || !put_name(&s, pretty, line)) {
        s.length = 0;
        put(&s, pretty, length);
    }
    if (size)
        out[s.length < size ? s.length : size - 1] = 0;
    return s.length;
}
