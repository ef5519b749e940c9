/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Changes for programs: numbers as they are, times in ns. */
#include <math.h>
#include <string.h>

#include "diff/changes.h"
#include "gnomon/report.h"
#include "print/table.h"

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

static void put_line(const gnomon__changes_line *line, const gnomon_writer *out)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"calls_a", line->calls[0]},
        {"calls_b", line->calls[1]},
        {"a", line->values[0]},
        {"b", line->values[1]},
        {"change", line->relative},
        {"low", line->low},
        {"high", line->high},
        {"confidence", line->confidence},
        {"total_a_ns", line->total_ns[0]},
        {"total_b_ns", line->total_ns[1]},
    };
    out->write(out, "{", 1);
    gnomon__changes_json_text(out, "name", line->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        out->write(out, ", ", 2);
        gnomon__changes_json_number(out, numbers[i].key, numbers[i].value);
    }
    out->write(out, "}", 1);
}

void gnomon__changes_json(const gnomon__changes *c, size_t shown,
                          const gnomon_writer *out)
{
    static const char *const kinds[] = {"host", "device", "busy", "steps",
                                        "counter"};
    static const char *const units[] = {"ns", "calls", "samples"};
    out->write(out, "{", 1);
    gnomon__changes_json_text(out, "stage", c->stage);
    out->print(out,
               ", \"kind\": \"%s\", \"metric\": \"%s\", \"unit\": \"%s\", "
               "\"left_out\": %zu, \"rows\": [",
               kinds[c->kind], c->metric, units[c->unit], c->count - shown);
    for (size_t i = 0; i < shown; i++) {
        out->print(out, i ? ",\n" : "\n");
        put_line(&c->lines[i], out);
    }
    out->write(out, "]}", 2);
}
