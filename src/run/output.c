/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where reports go: stderr on rank 0, or files. A file that several stages or
 * profilers share is kept whole: what was written to it in this run stays in
 * memory and goes out again with what is new, under a temporary name that is
 * then renamed, so that a reader never sees half a report. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "run/names.h"
#include "run/run.h"

/* ---- Buffers -------------------------------------------------------------------- */

static int buffer_room(gnomon__buffer *b, size_t more)
{
    if (b->length + more < b->room)
        return 1;
    size_t room = b->room ? b->room : 1024;
    while (room <= b->length + more)
        room *= 2;
    char *text = gnomon__realloc(b->text, room);
    if (!text) {
        b->code = GNOMON_ENOMEM;
        return 0;
    }
    b->text = text;
    b->room = room;
    return 1;
}

static int buffer_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    gnomon__buffer *b = writer->context;
    if (!b->code && buffer_room(b, size)) {
        memcpy(b->text + b->length, bytes, size);
        b->length += size;
        b->text[b->length] = 0;
    }
    return b->code;
}

static int buffer_print(const gnomon_writer *writer, const char *format, ...)
    GNOMON_PRINTF(2, 3);

static int buffer_print(const gnomon_writer *writer, const char *format, ...)
{
    gnomon__buffer *b = writer->context;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    if (n > 0 && !b->code && buffer_room(b, (size_t)n)) {
        vsnprintf(b->text + b->length, (size_t)n + 1, format, again);
        b->length += (size_t)n;
    }
    va_end(again);
    va_end(arguments);
    return b->code;
}

void gnomon__buffer_init(gnomon__buffer *b)
{
    memset(b, 0, sizeof *b);
    b->writer.struct_size = sizeof b->writer;
    b->writer.write = buffer_write;
    b->writer.print = buffer_print;
    b->writer.context = b;
}

void gnomon__buffer_free(gnomon__buffer *b)
{
    gnomon__free(b->text);
    memset(b, 0, sizeof *b);
}

/* ---- Files ------------------------------------------------------------------------ */

typedef struct shared_file {
    struct shared_file *next;
    char *path;
    gnomon__buffer text;
} shared_file;

static shared_file *files;

static shared_file *file_of(const char *path)
{
    for (shared_file *f = files; f; f = f->next)
        if (strcmp(f->path, path) == 0)
            return f;
    shared_file *f = gnomon__alloc(sizeof *f);
    if (f && (f->path = gnomon__strdup(path))) {
        gnomon__buffer_init(&f->text);
        f->next = files;
        files = f;
        return f;
    }
    gnomon__free(f);
    return NULL;
}

void gnomon__output_restart(void)
{
    while (files) {
        shared_file *f = files;
        files = f->next;
        gnomon__buffer_free(&f->text);
        gnomon__free(f->path);
        gnomon__free(f);
    }
}

void gnomon__output_plain(const char *text, size_t length)
{
    if (length)
        gnomon__os_write(2, text, length); /* nobody to tell if it fails */
}

static void to_file(const char *path, const char *text, size_t length)
{
    shared_file *f = file_of(path);
    int why = ENOMEM;
    if (f && !f->text.writer.write(&f->text.writer, text, length))
        why = gnomon__os_publish(path, f->text.text ? f->text.text : "",
                                 f->text.length);
    if (!why)
        return;
    gnomon__log("cannot write the report to %s: %s; here it is", path,
                strerror(why));
    gnomon__output_plain(text, length);
}

/* dir= gives Lightning's name, `file` then being its stem; NULL: no memory. */
static char *path_of(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    const char *dir = gnomon__options_text(a->options, "dir");
    const gnomon__rank *r = gnomon__run_rank();
    gnomon_run_info run;
    gnomon__run_describe(&run);
    if (dir) {
        if (strcmp(dir, "true") == 0) /* bare: where the host's logs go */
            dir = gnomon__run_dir() ? gnomon__run_dir() : ".";
        char *name = gnomon__file_name(
            gnomon__stage_name(), file ? file : a->profiler.name,
            r->world_size > 1 ? r->rank : -1, NULL, ".txt");
        size_t size = name ? strlen(dir) + strlen(name) + 2 : 0;
        char *path = name ? gnomon__alloc(size) : NULL;
        if (path)
            snprintf(path, size, "%s/%s", dir, name);
        gnomon__free(name);
        return path;
    }
    gnomon__complaints complaints = {0};
    gnomon__file_values values = {r->rank,
                                  r->local_rank,
                                  r->world_size,
                                  run.pid,
                                  run.host,
                                  gnomon__stage_name(),
                                  gnomon__start_unix_ns() / 1000000000u};
    char *path =
        gnomon__file_expand(file, &values, a->profiler.name, &complaints);
    for (unsigned i = 0; i < complaints.count; i++)
        gnomon__log("%s", complaints.line[i]);
    gnomon__complaints_free(&complaints);
    return path;
}

void gnomon__output(const gnomon__attachment *a, const char *text,
                    size_t length)
{
    if (!length)
        return;
    if (gnomon__options_text(a->options, "file") ||
        gnomon__options_text(a->options, "dir")) {
        char *path = path_of(a);
        if (path)
            to_file(path, text, length);
        else
            gnomon__output_plain(text, length);
        gnomon__free(path);
    } else if (gnomon__run_rank()->rank <= 0) {
        gnomon__output_plain(text, length);
    }
}
