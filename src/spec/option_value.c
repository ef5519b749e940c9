/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The values of options: text to number, with units. Pure, and independent of
 * the locale, unlike libc's parsers. Invariant: a number that comes out is
 * exact, or cut below the sixth digit of a fraction; what does not fit is
 * refused. */
#include "spec/options.h"

#include <stdio.h>

typedef struct option_unit {
    const char *name;
    int64_t scale;
    const char *other; /* an alias that messages do not list; or NULL */
} option_unit;

static const option_unit option_durations[] = {
    {"ns", 1, NULL},
    {"us", 1000, NULL},
    {"ms", 1000000, NULL},
    {"s", 1000000000, NULL},
    {"min", 60000000000, NULL},
    {"h", 3600000000000, NULL},
    {NULL, 0, NULL},
};

static const option_unit option_sizes[] = {
    {"B", 1, NULL},        {"KB", 1000, NULL},    {"KiB", 1 << 10, "K"},
    {"MB", 1000000, NULL}, {"MiB", 1 << 20, "M"}, {"GB", 1000000000, NULL},
    {"GiB", 1 << 30, "G"}, {NULL, 0, NULL},
};

static int is_unit(const option_unit *unit, const char *word)
{
    return gnomon__same_word(unit->name, word) ||
           (unit->other && gnomon__same_word(unit->other, word));
}

static int option_bad(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return GNOMON_EINVAL;
}

static int option_bool(const char *text, int64_t *number, char *why,
                       size_t size)
{
    static const char *const words[] = {"false", "true", "no", "yes",
                                        "off",   "on",   "0",  "1"};
    size_t i;
    for (i = 0; i < sizeof words / sizeof words[0]; i++)
        if (gnomon__same_word(text, words[i])) {
            *number = i & 1;
            return GNOMON_OK;
        }
    return option_bad(why, size,
                      "say true or false (or yes, no, on, off, 1, 0)");
}

static int option_integer(const char *text, int64_t *number, char *why,
                          size_t size)
{
    const char *at = text + (*text == '-' || *text == '+'), *first = at;
    int64_t value = gnomon__digits(&at);
    if (at == first || *at)
        return option_bad(why, size, "say a whole number");
    if (value < 0)
        return option_bad(why, size, "the number is too large");
    *number = *text == '-' ? -value : value;
    return GNOMON_OK;
}

static int option_unit_missing(const option_unit *units, const char *unit,
                               char *why, size_t size)
{
    char names[64] = "";
    size_t used = 0;
    for (; units->name; units++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 used == 0       ? ""
                                 : units[1].name ? ", "
                                                 : " or ",
                                 units->name);
    snprintf(why, size, "%s: say %s",
             *unit ? "no such unit" : "a unit is missing", names);
    return GNOMON_EINVAL;
}

/* "1.5GiB"; of the fraction six digits count, so nothing overflows. A number
 * without unit is `plain`; NULL: only 0 may be. */
static int option_amount(const char *text, const option_unit *units,
                         const option_unit *plain, int64_t *number, char *why,
                         size_t size)
{
    const char *at = text;
    int64_t whole = gnomon__digits(&at), part = 0, parts = 1;
    const option_unit *unit = units;

    if (at == text)
        return option_bad(why, size, "say a number and its unit");
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            if (parts < 1000000) {
                part = part * 10 + (*at - '0');
                parts *= 10;
            }
    while (*at == ' ')
        at++;
    if (*at)
        while (unit->name && !is_unit(unit, at))
            unit++;
    else if (plain || (whole == 0 && part == 0))
        unit = plain ? plain : units;
    else
        return option_unit_missing(units, at, why, size);
    if (!unit->name)
        return option_unit_missing(units, at, why, size);
    if (whole < 0 || __builtin_mul_overflow(whole, unit->scale, &whole) ||
        __builtin_add_overflow(whole, part * unit->scale / parts, &whole))
        return option_bad(why, size, "the number is too large");
    *number = whole;
    return GNOMON_OK;
}

int gnomon__option_parse(int64_t type, const char *text, int64_t *number,
                         char *why, size_t size)
{
    *number = 0;
    switch (type) {
    case GNOMON_OPTION_BOOL:
        return option_bool(text, number, why, size);
    case GNOMON_OPTION_INTEGER:
        return option_integer(text, number, why, size);
    case GNOMON_OPTION_BYTES:
        return option_amount(text, option_sizes, option_sizes, number, why,
                             size);
    case GNOMON_OPTION_DURATION:
        return option_amount(text, option_durations, NULL, number, why, size);
    default:
        return GNOMON_OK;
    }
}
