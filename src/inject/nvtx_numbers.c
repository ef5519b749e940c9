/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Replaces numbers in names. A program that pushes "iteration 17" and "iteration 18"
 * means one scope. With fold=numbers, the default, a number becomes "#". Only the text
 * itself decides which numbers do, not what was pushed before (docs/nsight.md):
 *
 *   - a number that stands alone, as in "layer 3", "step: 5", "chunk[7]";
 *   - a number behind a word that counts (`counting`), as in "step_12" and
 *     "iteration17".
 *
 * Digits next to other letters are part of a name ("fp16", "conv2d", "64x64"), and so
 * are numbers in paths of names ("layers.3.mlp", "resnet-50"). All functions are pure,
 * except for the one that reads the option. */
#include <string.h>

#include "inject/nvtx.h"
#include "platform/memory.h"
#include "platform/utf8.h"

#define FOLD_OFF ",fold=off" /* gnomon_spec always puts it last */

uint32_t gnomon__inject_replaces_numbers = 1;

void gnomon__inject_read_fold_option(void)
{
    static uint32_t is_read;
    size_t n = GNOMON__INJECT_ON() && !load_relaxed(&is_read)
                   ? gnomon_spec(NULL, 0)
                   : 0;
    char *spec = n ? gnomon__inject_alloc(n + 1) : NULL;
    if (!spec)
        return;
    size_t tail = sizeof FOLD_OFF - 1;
    int is_whole = gnomon_spec(spec, n + 1) == n;
    if (is_whole) {
        store_relaxed(&gnomon__inject_replaces_numbers,
                      n < tail || strcmp(spec + n - tail, FOLD_OFF) != 0);
        store_relaxed(&is_read, 1);
    }
    gnomon__free(spec);
}

/* ---- Letters --------------------------------------------------------------- */

static int is_digit_of(char c)
{
    return c >= '0' && c <= '9';
}

/* All that is not ASCII counts as a letter, as most of it is. */
static int is_letter_of(char c)
{
    char small = gnomon__lower(c);
    return (unsigned char)c >= 0x80 || (small >= 'a' && small <= 'z');
}

static int is_of_word(char c)
{
    return is_letter_of(c) || is_digit_of(c) || c == '_';
}

/* Characters between the parts of a path of names. */
static int is_glue(char c)
{
    return c == '.' || c == '/' || c == '-';
}

/* ---- Words that count ------------------------------------------------------- */

static int ends_in(const char *from, const char *to, const char *word, size_t n)
{
    if ((size_t)(to - from) < n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (gnomon__lower((to - n)[i]) != word[i])
            return 0;
    return 1;
}

/* Whether the letters before `to` end in a word that counts: also "microbatch", but not
 * "writer". */
static int is_counting(const char *from, const char *to)
{
    static const char *const counting[] = {"batch", "epoch", "iteration",
                                           "step"};
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++)
        if (ends_in(from, to, counting[i], strlen(counting[i])))
            return 1;
    return ends_in(from, to, "iter", 4) &&
           (to - from == 4 || !is_letter_of(to[-5]) || to[-4] == 'I');
}

/* ---- Numbers ----------------------------------------------------------------- */

static const char *digits_end(const char *at, const char *end)
{
    while (at < end && is_digit_of(*at))
        at++;
    return at;
}

static int has_digit_at(const char *at, const char *end)
{
    return at < end && is_digit_of(*at);
}

/* The end of a number such as "0x7f"; NULL: it is none. */
static const char *hex_end(const char *at, const char *end)
{
    const char *from = at + 2;
    if (end - at < 3 || *at != '0' || gnomon__lower(at[1]) != 'x')
        return NULL;
    at = from;
    while (at < end && (is_digit_of(*at) || (gnomon__lower(*at) >= 'a' &&
                                             gnomon__lower(*at) <= 'f')))
        at++;
    return at > from ? at : NULL;
}

/* The end of a number such as 12, 0x1f, 1,024, 1.5, 1.2.3 or 1.5e-3. */
static const char *number_end(const char *at, const char *end)
{
    const char *hex = hex_end(at, end), *next = digits_end(at, end);
    if (hex)
        return hex;
    while (next < end && *next == ',' && digits_end(next + 1, end) == next + 4)
        next += 4;
    while (next < end && *next == '.' && has_digit_at(next + 1, end))
        next = digits_end(next + 1, end);
    if (next < end && gnomon__lower(*next) == 'e') {
        at = next + 1;
        at += at < end && (*at == '-' || *at == '+');
        if (has_digit_at(at, end))
            next = digits_end(at, end);
    }
    return next;
}

/* Whether the number from `at` to `to`, which begins a word, stands alone. `path`: the
 * end of the last number that was part of a path. */
static int is_alone(const char *from, const char *at, const char *to,
                    const char *end, const char *path)
{
    if (to < end && is_of_word(*to))
        return 0;
    if (to + 1 < end && (*to == '.' || *to == '/') && !is_digit_of(to[1]) &&
        is_of_word(to[1]))
        return 0;
    if (at == from || !is_glue(at[-1]))
        return 1;
    if (at - 1 == path)
        return 0;
    return at - 1 == from || is_digit_of(at[-2]) || !is_of_word(at[-2]) ||
           is_counting(from, at - 1);
}

/* Whether the digits from `at` to `to`, inside a word, follow a word that counts. */
static int is_counted(const char *from, const char *at, const char *to,
                      const char *end)
{
    if (to < end && is_letter_of(*to))
        return 0;
    return is_counting(from, at - (at[-1] == '_'));
}

size_t gnomon__inject_replace_numbers(char *out, const char *text, size_t n)
{
    const char *end = text + n, *at = text, *path = NULL;
    size_t used = 0;
    while (at < end) {
        if (!is_digit_of(*at)) {
            out[used++] = *at++;
            continue;
        }
        int is_first = at == text || !is_of_word(at[-1]);
        const char *to = is_first ? number_end(at, end) : digits_end(at, end);
        if (is_first ? is_alone(text, at, to, end, path)
                     : is_counted(text, at, to, end)) {
            if (!used || out[used - 1] != '#')
                out[used++] = '#';
        } else {
            memcpy(out + used, at, (size_t)(to - at));
            used += (size_t)(to - at);
            path = to;
        }
        at = to;
    }
    return used;
}

/* ---- Titles ------------------------------------------------------------------- */

void gnomon__inject_title_of(gnomon__inject_text *out, const char *text,
                             int replaces_numbers)
{
    out->text = text;
    out->length = gnomon__inject_bare(text);
    out->kept = NULL;
    if (!replaces_numbers || strcspn(text, "0123456789") >= out->length)
        return;
    char *to = out->buffer; /* cppcheck-suppress ctuuninitvar */
    if (out->length > sizeof out->buffer)
        to = out->kept = gnomon__inject_alloc(out->length);
    if (!to)
        return;
    out->length = gnomon__inject_replace_numbers(to, text, out->length);
    out->text = to;
}
