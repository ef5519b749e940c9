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

/* Counts digits, of which there may be none. Returns the end of them. */
static const char *python_digits(const char *text, int *count)
{
    *count = 0;
    while (python_is_digit(text[*count]))
        ++*count;
    return text + *count;
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
    const char *at = text + (*text == '-' || *text == '+');
    const char *dot = NULL;
    char local[128], point[8];
    int before, after = 0, power;
    at = python_digits(at, &before);
    if (*at == '.') {
        dot = at;
        at = python_digits(at + 1, &after);
    }
    *is_float = dot != NULL;
    if (*at == 'e' || *at == 'E') {
        *is_float = true;
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        at = python_digits(at, &power);
        if (!power)
            return false;
    }
    if (*at || !(before + after) || strlen(text) >= sizeof local - sizeof point)
        return false;
    if (!*is_float) {
        *whole = strtoll(text, NULL, 10);
        *real = (double)*whole;
        return true;
    }
    python_point(point);
    if (dot)
        snprintf(local, sizeof local, "%.*s%s%s", (int)(dot - text), text,
                 point, dot + 1);
    else
        snprintf(local, sizeof local, "%s", text);
    *real = strtod(local, NULL);
    *whole = 0;
    return true;
}
