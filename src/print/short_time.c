/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Durations for people. Made of integers, as printf's decimal point depends on the
 * host's locale. */
#include "print/short_time.h"

#include <inttypes.h>
#include <stdio.h>

const char *gnomon__short_time(char text[GNOMON__SHORT_TIME], uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    static const uint64_t tens[] = {1, 10, 100};
    uint64_t unit = 1, value;
    int u = 0, digits;
    for (;; unit *= 1000, u++) {
        digits = u ? 2 : 0;
        while ((value = (ns * tens[digits] + unit / 2) / unit) >= 1000 &&
               digits)
            digits--;
        if (value < 1000 || u == 3)
            break;
    }
    for (; digits && value % 10 == 0; digits--)
        value /= 10;
    if (!ns)
        snprintf(text, GNOMON__SHORT_TIME, "0");
    else if (digits)
        snprintf(text, GNOMON__SHORT_TIME, "%" PRIu64 ".%0*" PRIu64 " %s",
                 value / tens[digits], digits, value % tens[digits], units[u]);
    else
        snprintf(text, GNOMON__SHORT_TIME, "%" PRIu64 " %s", value, units[u]);
    return text;
}
