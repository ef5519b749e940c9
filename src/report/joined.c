/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/joined.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/output.h"
#include "spec/suggest.h"

static int joined_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    gnomon__joined *j = writer->context;
    const char *text = bytes;
    if (j->is_header) {
        const char *end = memchr(text, '\n', size);
        if (!end)
            return GNOMON_OK;
        j->is_header = 0;
        size -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    if (j->is_json && j->is_begin && size) {
        j->is_begin = 0;
        j->to.print(&j->to, "{\"file\": ");
        gnomon__cli_put_json(&j->to, j->path);
        if (j->ranks)
            j->to.print(&j->to, ", \"ranks\": %" PRIu32, j->ranks);
        if (j->view) {
            j->to.print(&j->to, ", \"view\": ");
            gnomon__cli_put_json(&j->to, j->view);
        }
        j->to.write(&j->to, ", ", 2);
        text++; /* its own brace */
        size--;
    }
    return j->to.write(&j->to, text, size);
}

static int joined_print(const gnomon_writer *writer, const char *format, ...)
    GNOMON_PRINTF(2, 3);

static int joined_print(const gnomon_writer *writer, const char *format, ...)
{
    const gnomon__joined *j = writer->context;
    char *text;
    va_list list;
    if (*format == '\033') /* no name: it is meant for the terminal */
        return j->to.print(&j->to, "%s", format);
    va_start(list, format);
    const int n = vasprintf(&text, format, list);
    va_end(list);
    if (n < 0)
        return GNOMON_ENOMEM;
    const int code = joined_write(writer, text, (size_t)n);
    free(text);
    return code;
}

static const char *joined_shown(const gnomon_writer *writer, const char *name)
{
    const gnomon__joined *j = writer->context;
    return j->to.shown(&j->to, name);
}

void gnomon__joined_begin(gnomon__joined *j, const char *format,
                          const gnomon_writer *to)
{
    *j = (gnomon__joined){.to = *to};
    j->is_csv = gnomon__same_word(format, "csv");
    j->is_json = gnomon__same_word(format, "json");
    j->is_text = !*format || gnomon__same_word(format, "text");
    j->base = (gnomon_writer){.struct_size = sizeof j->base,
                              .write = joined_write,
                              .print = joined_print,
                              .shown = joined_shown,
                              .columns = to->columns,
                              .shows_bold = to->shows_bold,
                              .context = j};
}

void gnomon__joined_next(gnomon__joined *j, const char *path, const char *view,
                         uint32_t ranks, int is_apart)
{
    j->path = path;
    j->view = view;
    j->ranks = ranks;
    j->is_begin = 1;
    if (j->is_json)
        j->to.print(&j->to, j->count ? ",\n" : "[");
    else if (j->count && j->is_csv)
        j->is_header = 1;
    else if (j->count)
        gnomon__cli_end_line();
    if (j->count && is_apart && !j->is_json && !j->is_csv)
        j->to.write(&j->to, "\n", 1);
    if (view && !j->is_json && !j->is_csv) {
        j->to.print(&j->to, "--- view: ");
        gnomon__cli_put(&j->to, view, 0);
        j->to.print(&j->to, " ---\n");
    }
    j->count++;
}

void gnomon__joined_end(gnomon__joined *j)
{
    if (j->is_json && j->count)
        j->to.print(&j->to, "]\n");
}
