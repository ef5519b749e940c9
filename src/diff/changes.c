/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pure functions. A quantile is interpolated in a cell of its histogram, of 16 an octave:
 * more than two digits of it, or tenths of a percent, would be of no meaning. */
#include "diff/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/report.h"
#include "print/table.h"

enum gnomon__changes_unit gnomon__changes_unit_of(enum gnomon__diff_kind kind,
                                                  enum gnomon__metric metric)
{
    if (metric == GNOMON__CALLS)
        return GNOMON__CHANGES_COUNT;
    if (kind == GNOMON__DIFF_COUNTER)
        return GNOMON__CHANGES_SAMPLE;
    return metric >= GNOMON__METRIC_P50 && metric <= GNOMON__METRIC_P99
               ? GNOMON__CHANGES_ABOUT_NS
               : GNOMON__CHANGES_NS;
}

const char *gnomon__changes_value(char text[GNOMON__CHANGES_TEXT], double value,
                                  enum gnomon__changes_unit in, int sign)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *plus = sign && value > 0 ? "+" : "";
    int unit = 0, digits = 0;
    if (isnan(value))
        return strcpy(text, "-");
    if (in == GNOMON__CHANGES_SAMPLE) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.6g", plus, value);
        return text;
    }
    if (in == GNOMON__CHANGES_COUNT || value == 0) {
        snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f%s", plus,
                 value != floor(value), value,
                 in == GNOMON__CHANGES_COUNT ? "" : " ns");
        return text;
    }
    if (in == GNOMON__CHANGES_ABOUT_NS) {
        double step = pow(10, floor(log10(fabs(value))) - 1);
        value = round(value / step) * step;
    }
    for (; fabs(value) >= 999.95 && unit < 3; unit++)
        value /= 1000;
    if (in == GNOMON__CHANGES_ABOUT_NS)
        digits = fabs(value) < 9.95;
    else
        digits = fabs(value) < 9.9995 ? 3 : fabs(value) < 99.995 ? 2 : 1;
    snprintf(text, GNOMON__CHANGES_TEXT, "%s%.*f %s", plus, digits, value,
             units[unit]);
    return text;
}

static int percent_digits(enum gnomon__changes_unit in)
{
    return in != GNOMON__CHANGES_ABOUT_NS;
}

const char *gnomon__changes_percent(char text[GNOMON__CHANGES_TEXT],
                                    double share, enum gnomon__changes_unit in)
{
    const int digits = percent_digits(in);
    if (fabs(share) < (digits ? 0.0005 : 0.005))
        return strcpy(text, digits ? "0.0 %" : "0 %");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.*f %%", digits, 100 * share);
    return text;
}

const char *gnomon__changes_sure(char text[GNOMON__CHANGES_TEXT],
                                 double confidence)
{
    if (isnan(confidence))
        return strcpy(text, "-");
    if (confidence > 0.9999)
        return strcpy(text, "> 99.99 %");
    snprintf(text, GNOMON__CHANGES_TEXT, "%.2f %%",
             floor(confidence * 10000) / 100);
    return text;
}

const char *gnomon__changes_drift(char text[GNOMON__CHANGES_TEXT],
                                  const gnomon__assumptions *assumed)
{
    snprintf(text, GNOMON__CHANGES_TEXT, "%.4g %% + %.6g ns",
             100 * assumed->drift, assumed->drift_ns);
    return text;
}

const char *gnomon__changes_between(char text[GNOMON__CHANGES_TEXT], double low,
                                    double high, enum gnomon__changes_unit in)
{
    if (!isfinite(low) && !isfinite(high))
        return strcpy(text, "-");
    snprintf(text, GNOMON__CHANGES_TEXT, "%+.*f .. %+.*f %%",
             percent_digits(in), 100 * low, percent_digits(in), 100 * high);
    return text;
}

void gnomon__changes_json_number(const gnomon_writer *out, const char *key,
                                 double value)
{
    char text[32];
    if (!isfinite(value))
        out->print(out, "\"%s\": null", key);
    else if (value == floor(value) && fabs(value) < 9007199254740992.0)
        out->print(out, "\"%s\": %.0f", key, value); /* 2^53 */
    else
        out->print(out, "\"%s\": %s", key,
                   gnomon__print_number(text, value, true));
}

void gnomon__changes_json_text(const gnomon_writer *out, const char *key,
                               const char *text)
{
    out->print(out, "\"%s\": ", key);
    gnomon_write_json(out, text);
}
