/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Durations for people. Made of integers, as printf's decimal point depends on the
 * host's locale. */
#include "print/duration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* ns / unit with so many digits after the point, rounded half up; never overflows. */
static uint64_t scaled_half_up(uint64_t ns, uint64_t unit, uint64_t ten_power)
{
    uint64_t step = unit / ten_power;
    return ns / step + (ns % step >= step - step / 2);
}

/* With so many digits in all, as far as there are units; `is_short`: without zeroes at
 * the end of a fraction. */
static const char *print_digits(char text[GNOMON__DURATION], uint64_t ns,
                                int digits, bool is_short)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000};
    uint64_t unit = 1, value;
    int u = 0, places;
    for (;; unit *= 1000, u++) {
        places = u ? digits - 1 : 0;
        while ((value = scaled_half_up(ns, unit, tens[places])) >=
                   tens[digits] &&
               places)
            places--;
        if (places || value < 1000 || u == 3)
            break;
    }
    for (; is_short && places && value % 10 == 0; places--)
        value /= 10;
    if (places)
        (void)snprintf(text, GNOMON__DURATION, "%" PRIu64 ".%0*" PRIu64 " %s",
                       value / tens[places], places, value % tens[places],
                       units[u]);
    else
        (void)snprintf(text, GNOMON__DURATION, "%" PRIu64 " %s", value,
                       units[u]);
    return text;
}

const char *gnomon__print_duration(char text[GNOMON__DURATION], uint64_t ns)
{
    return print_digits(text, ns, 4, false);
}

const char *gnomon__short_duration(char text[GNOMON__DURATION], uint64_t ns)
{
    return ns ? print_digits(text, ns, 3, true) : "0";
}
