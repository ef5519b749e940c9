/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Doubles as numbers of JSON. libc prints and reads only digits and an
 * exponent here, so the point does not depend on the locale. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/json.h"

#define SIGN_OF_REAL 0x8000000000000000u
#define REAL_INFINITY 0x7ff0000000000000u
#define USUAL_NAN 0x7ff8000000000000u
#define EXACT_WHOLE 9007199254740992.0 /* 2^53 */

/* Digits of the value without its sign; the first stands before the point. */
typedef struct real_digits {
    char text[20];
    int count, exponent;
} real_digits;

static void digits_of(double value, int count, real_digits *d)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    d->count = 0;
    const char *c = text;
    for (; *c && *c != 'e'; c++) /* what is no digit is the locale's point */
        if (*c >= '0' && *c <= '9' && d->count < count)
            d->text[d->count++] = *c;
    d->text[d->count] = 0;
    d->exponent = *c ? (int)strtol(c + 1, NULL, 10) : 0;
}

static double value_of(const real_digits *d)
{
    char text[40];
    snprintf(text, sizeof text, "%se%d", d->text, d->exponent - d->count + 1);
    return strtod(text, NULL);
}

static size_t put_digits(const real_digits *d, const char *sign, char *out)
{
    const size_t size = GNOMON__JSON_REAL;
    int before = d->exponent + 1; /* digits before the point */
    if (d->exponent < -5 || d->exponent > 16)
        return (size_t)snprintf(out, size, "%s%c%s%se%d", sign, d->text[0],
                                d->count > 1 ? "." : "", d->text + 1,
                                d->exponent);
    if (before <= 0)
        return (size_t)snprintf(out, size, "%s0.%.*s%s", sign, -before, "00000",
                                d->text);
    if (before >= d->count) /* whole, but too large to be taken for exact */
        return (size_t)snprintf(out, size, "%s%s%.*s.0", sign, d->text,
                                before - d->count, "00000000000000000");
    return (size_t)snprintf(out, size, "%s%.*s.%s", sign, before, d->text,
                            d->text + before);
}

size_t gnomon__json_real(double value, char *buffer)
{
    const size_t size = GNOMON__JSON_REAL;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const char *sign = bits & SIGN_OF_REAL ? "-" : "";
    uint64_t rest = bits & ~SIGN_OF_REAL;
    if (rest == REAL_INFINITY)
        return (size_t)snprintf(buffer, size, "\"%sInfinity\"", sign);
    if (bits == USUAL_NAN)
        return (size_t)snprintf(buffer, size, "\"NaN\"");
    if (rest > REAL_INFINITY)
        return (size_t)snprintf(buffer, size, "\"NaN(0x%016llx)\"",
                                (unsigned long long)bits);
    if (!rest) /* readers take -0 for an integer, without a sign */
        return (size_t)snprintf(buffer, size, *sign ? "-0.0" : "0");
    if (value >= -EXACT_WHOLE && value <= EXACT_WHOLE &&
        (double)(int64_t)value == value)
        return (size_t)snprintf(buffer, size, "%lld",
                                (long long)(int64_t)value);
    real_digits d;
    double positive = *sign ? -value : value;
    for (int count = 15; count <= 17; count++) {
        digits_of(positive, count, &d);
        if (value_of(&d) == positive)
            break;
    }
    while (d.count > 1 && d.text[d.count - 1] == '0')
        d.text[--d.count] = 0;
    return put_digits(&d, sign, buffer);
}
