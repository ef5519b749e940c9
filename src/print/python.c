/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers as Python prints and reads them. Pure functions. printf and strtod are
 * exact, but their decimal point depends on the host's locale: it is replaced when a
 * number is printed, and inserted when one is read.
 */
#include "print/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON_DIGITS 17 /* enough to tell any two doubles apart */

static bool python_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void gnomon__python_fixed(char text[GNOMON__PYTHON_TEXT], double value)
{
    char raw[GNOMON__PYTHON_TEXT + 8];
    int n = snprintf(raw, sizeof raw, "%.3f", value);
    int whole = 0;
    while (python_is_digit(raw[whole]))
        whole++;
    snprintf(text, GNOMON__PYTHON_TEXT, "%.*s.%s", whole, raw, raw + n - 3);
}

/* So many digits of `value` without the point, and the first one's power of ten. Returns
 * what they are read back as. */
static double python_digits_of(char digits[PYTHON_DIGITS + 1], int *exponent,
                               double value, int count)
{
    char raw[48];
    snprintf(raw, sizeof raw, "%.*e", count - 1, value);
    const char *e = strchr(raw, 'e');
    *exponent = (int)strtol(e + 1, NULL, 10);
    digits[0] = raw[0];
    memcpy(digits + 1, e - (count - 1), (size_t)count - 1);
    digits[count] = 0;
    return strtod(raw, NULL);
}

/* The fewest that are read back as `value`. */
static void python_shortest(char digits[PYTHON_DIGITS + 1], int *exponent,
                            double value)
{
    int count = 1;
    while (python_digits_of(digits, exponent, value, count) != value &&
           count < PYTHON_DIGITS)
        count++;
}

/* From 1e-4 to below ten to the power of `most` there is a point with a digit on both
 * sides of it, else an exponent. */
static void python_place(char *text, size_t size, const char *digits,
                         int exponent, int most)
{
    int count = (int)strlen(digits), whole = exponent + 1;
    if (exponent < -4 || exponent >= most)
        snprintf(text, size, "%c%s%se%+03d", digits[0], count > 1 ? "." : "",
                 digits + 1, exponent);
    else if (exponent < 0)
        snprintf(text, size, "0.%.*s%s", -whole, "000", digits);
    else if (count > whole)
        snprintf(text, size, "%.*s.%s", whole, digits, digits + whole);
    else
        snprintf(text, size, "%s%.*s.0", digits, whole - count,
                 "0000000000000000");
}

void gnomon__python_repr(char text[GNOMON__PYTHON_TEXT], double value)
{
    char digits[PYTHON_DIGITS + 1];
    int exponent;
    python_shortest(digits, &exponent, fabs(value));
    *text = '-';
    const int sign = signbit(value) != 0;
    python_place(text + sign, GNOMON__PYTHON_TEXT - (size_t)sign, digits,
                 exponent, 16);
}

void gnomon__python_general(char text[GNOMON__PYTHON_TEXT], double value)
{
    char digits[PYTHON_DIGITS + 1];
    int exponent;
    if (!isfinite(value)) {
        snprintf(text, GNOMON__PYTHON_TEXT, "%s", isnan(value) ? "nan" : "inf");
        return;
    }
    python_digits_of(digits, &exponent, value, 5);
    for (size_t n = strlen(digits); n > 1 && digits[n - 1] == '0';)
        digits[--n] = '\0';
    python_place(text, GNOMON__PYTHON_TEXT, digits, exponent, 4);
}

/* The locale's decimal point. */
static void python_point(char point[8])
{
    char raw[16];
    int n = snprintf(raw, sizeof raw, "%.1f", 0.5);
    snprintf(point, 8, "%.*s", n - 2, raw + 1);
}

bool gnomon__python_number(const char *text, bool *is_float, int64_t *whole,
                           double *real)
{
    const size_t size = strlen(text), dot = strcspn(text, ".");
    char local[128], point[8], *end;
    if (text[strspn(text, "0123456789.eE+-")] ||
        size >= sizeof local - sizeof point)
        return false;
    python_point(point);
    snprintf(local, sizeof local, "%.*s%s%s", (int)dot, text,
             dot < size ? point : "", text + dot + (dot < size));
    *real = strtod(local, &end);
    *is_float = strpbrk(text, ".eE") != NULL;
    *whole = *is_float ? 0 : strtoll(text, NULL, 10);
    if (!*is_float)
        *real = (double)*whole;
    return end != local && !*end;
}
