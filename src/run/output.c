/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where reports go: stderr on rank 0, or files. A file that several stages or
 * profilers share is kept whole: what this process wrote to it is read back and
 * goes out again with what is new, under a temporary name that is then renamed,
 * so that a reader never sees half a report. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "run/names.h"
#include "run/run.h"

#define FILE_LIMIT (1u << 30) /* larger ones begin anew */

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

/* The files that this process wrote: what comes later stands below. */
typedef struct written_file {
    struct written_file *next;
    char path[];
} written_file;

static written_file *files;

static int was_written(const char *path)
{
    for (const written_file *f = files; f; f = f->next)
        if (strcmp(f->path, path) == 0)
            return 1;
    return 0;
}

static void remember(const char *path)
{
    size_t size = strlen(path) + 1;
    if (was_written(path))
        return;
    written_file *f = gnomon__alloc(sizeof *f + size);
    if (!f) {
        gnomon__log("no memory to add to %s: the next report replaces it",
                    path);
        return;
    }
    memcpy(f->path, path, size);
    f->next = files;
    files = f;
}

void gnomon__output_forget(void)
{
    gnomon__inherited(files);
    files = NULL;
}

void gnomon__output_plain(const char *text, size_t length)
{
    int why = length ? gnomon__os_write(2, text, length) : 0;
    if (why) /* if at all, then to the same stderr */
        gnomon__log("a report could not be written to stderr: %s",
                    strerror(why));
}

static int replace_or_append(const char *path, const char *text, size_t length)
{
    char *above = NULL;
    int is_file = was_written(path) ? gnomon__os_is_file(path) : 0;
    if (is_file < 0)
        return errno;
    int unread =
        is_file ? gnomon__os_read_file(path, FILE_LIMIT, &above) : ENOENT;
    if (unread == ENOENT || unread == EFBIG)
        return gnomon__os_publish(path, text, length);
    if (unread) /* what stands there already is not lost for it */
        return unread;
    gnomon__buffer whole;
    gnomon__buffer_init(&whole);
    const gnomon_writer *w = &whole.writer;
    w->write(w, above, strlen(above));
    gnomon__free(above);
    int why = ENOMEM;
    if (!w->write(w, text, length))
        why = gnomon__os_publish(path, whole.text, whole.length);
    gnomon__buffer_free(&whole);
    return why;
}

static void to_file(const char *path, const char *text, size_t length)
{
    int why = replace_or_append(path, text, length);
    if (!why) {
        remember(path);
        return;
    }
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
        char digits[24], *pid = gnomon__forks ? digits : NULL;
        snprintf(digits, sizeof digits, "%lld", (long long)run.pid);
        if (strcmp(dir, "true") == 0) /* bare: where the host's logs go */
            dir = gnomon__run_dir() ? gnomon__run_dir() : ".";
        char *name = gnomon__file_name(
            gnomon__stage_name(), file ? file : a->profiler.name,
            r->world_size > 1 ? r->rank : -1, pid, ".txt");
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
                                  gnomon__start_unix_ns() / 1000000000u,
                                  gnomon__forks > 0};
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
    if (!length || !gnomon__os_is_owner()) /* forked inside a callback */
        return;
    if (gnomon__options_text(a->options, "file") ||
        gnomon__options_text(a->options, "dir")) {
        char *path = path_of(a);
        if (path) {
            to_file(path, text, length);
        } else {
            gnomon__log("no memory for the name of a report's file; here it "
                        "is");
            gnomon__output_plain(text, length);
        }
        gnomon__free(path);
    } else if (gnomon__run_rank()->rank <= 0) {
        gnomon__output_plain(text, length);
    }
}
