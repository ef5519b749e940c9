/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text of the program's own reports. What comes out of a file never reaches a
 * terminal as control characters. */
#include "command/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "platform/json.h"
#include "platform/escape.h"
#include "print/width.h"

const char *gnomon__cli_when(char text[32], uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm parts;
    if (!unix_ns || !gmtime_r(&seconds, &parts) ||
        !strftime(text, 32, "%Y-%m-%d %H:%M:%S UTC", &parts))
        strcpy(text, "-");
    return text;
}

/* Writes it, where there is a writer, and returns its code points. */
static size_t put_shown(const gnomon_writer *out, const char *text)
{
    gnomon__text rest = {text, strlen(text)};
    size_t n = 0;
    char escape[8];
    while (rest.length) {
        gnomon__text piece = gnomon__escape_next(&rest, "", escape);
        n += gnomon__print_width(piece.at, piece.length);
        if (out)
            out->write(out, piece.at, piece.length);
    }
    return n;
}

size_t gnomon__cli_width(const char *text)
{
    return put_shown(NULL, text);
}

void gnomon__cli_put(const gnomon_writer *out, const char *text, size_t width)
{
    for (size_t n = put_shown(out, text); n < width; n++)
        out->write(out, " ", 1);
}

void gnomon__cli_put_json(const gnomon_writer *out, const char *text)
{
    char quoted[12];
    uint32_t code;
    out->write(out, "\"", 1);
    for (size_t left = strlen(text), took; left; text += took, left -= took) {
        took = gnomon__utf8_next(text, left, &code);
        size_t n = gnomon__json_quote(text, took, quoted, sizeof quoted);
        out->write(out, quoted + 1, n - 2); /* without its quotes */
    }
    out->write(out, "\"", 1);
}
