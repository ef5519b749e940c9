/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where reports go: into buffers, then to stderr on rank 0, or into files.
 * Called inside control calls only. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/run.h"

/* Of the file of its own that a profiler wrote last. */
static char *last_path GNOMON__OF_PROCESS;

/* ---- Reports ---------------------------------------------------------------------- */

/* The same text, escaped, in a buffer; 0: it needs no escape, or there is no memory. */
static int escape_report(gnomon__buffer *b, const char *text, size_t length)
{
    gnomon__text rest = {text, length};
    gnomon__buffer_init(b, NULL);
    while (rest.length) {
        char escape[8];
        gnomon__text piece = gnomon__escape_next(&rest, "\n\t", escape);
        if (piece.at == text && piece.length == length)
            return 0;
        b->writer.write(&b->writer, piece.at, piece.length);
    }
    return !b->code;
}

/* One write, unless the text has characters to escape. */
void gnomon__output_plain(const char *text, size_t length)
{
    gnomon__text rest = {text, length};
    int fd = gnomon__os_stderr(), why = 0;
    while (rest.length && fd >= 0 && !why) {
        char escape[8];
        gnomon__text piece = gnomon__escape_next(&rest, "\n\t", escape);
        why = gnomon__os_write(fd, piece.at, piece.length);
    }
    if (why) /* stderr may take this line all the same */
        gnomon__log("a report could not be written to stderr: %s",
                    strerror(why));
}

#define ANOTHER_PATH "give file= or dir= another path"

static void output_to_file(const char *path, const char *text, size_t length)
{
    int why = gnomon__file_put_bytes(path, 0, text, length);
    if (!why)
        return;
    if (gnomon__file_failed(path, why))
        gnomon__log("cannot write the report to %s: %s: %s; here it is", path,
                    gnomon__os_error_text(why),
                    gnomon__os_error_advice(why, ANOTHER_PATH));
    gnomon__output_plain(text, length);
}

void gnomon__output(const gnomon__attachment *a, const char *text,
                    size_t length)
{
    if (!length || !gnomon__output_is_ours())
        return;
    if (gnomon__path_is_given(a)) {
        if (!a->view->rank_on)
            return; /* else 999 of 1000 ranks would leave a stub */
        char *path = gnomon__path_of(a, NULL, NULL);
        gnomon__buffer safe = {.text = NULL};
        if (path && !gnomon__path_is_file(a) && /* may be a terminal */
            escape_report(&safe, text, length)) {
            output_to_file(path, safe.text, safe.length);
        } else if (path) {
            output_to_file(path, text, length);
        } else {
            gnomon__log("no memory for the report's file name; here it is");
            gnomon__output_plain(text, length);
        }
        gnomon__buffer_free(&safe);
        gnomon__free(path);
    } else if (gnomon__run_rank()->rank <= 0) {
        gnomon__output_plain(text, length);
    }
}

/* ---- Other files --------------------------------------------------------------------- */

/* Distinguishes parts whose names become one file name; never 0. */
static uint64_t part_hash(const char *part)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; part && *part; part++)
        hash = (hash ^ (unsigned char)*part) * 0x100000001b3u;
    return hash ? hash : 1;
}

/* With the number of the run in its name, where there is one, and the hash of the part,
 * where that is asked for. NULL: no memory. */
static char *path_with(const gnomon__attachment *a, const char *part,
                       const char *extension, int is_hashed)
{
    char run[16] = "", hash[20] = "", *path = NULL;
    size_t size = (part ? strlen(part) : 0) + sizeof run + sizeof hash;
    char *longer = gnomon__alloc(size);
    if (a->run_number)
        snprintf(run, sizeof run, "run%u%s", (unsigned)a->run_number,
                 part ? "-" : "");
    if (is_hashed)
        snprintf(hash, sizeof hash, "-%016llx",
                 (unsigned long long)part_hash(part));
    if (longer) {
        snprintf(longer, size, "%s%s%s", run, part ? part : "", hash);
        path = gnomon__path_of(a, *longer ? longer : part, extension);
    }
    gnomon__free(longer);
    return path;
}

/* The path of a file of the profiler's own; NULL: no memory. */
static char *path_of_file(const gnomon__attachment *a, const char *part,
                          const char *extension)
{
    char *path = path_with(a, part, extension, 0);
    if (path && part && gnomon__file_is_taken(path, part_hash(part))) {
        gnomon__free(path);
        path = path_with(a, part, extension, 1);
    }
    return path;
}

/* The same of a file that this process has not written, in an earlier run of it or for
 * another view. */
static char *path_of_new(gnomon__attachment *a, const char *part,
                         const char *extension)
{
    static int was_told;
    char *path;
    while ((path = path_of_file(a, part, extension)) != NULL &&
           gnomon__file_is_written(path)) {
        a->run_number += a->run_number ? 1 : 2;
        if (!was_told++)
            gnomon__log("%s: this process wrote %s before: run%u is in the "
                        "names of its files now",
                        a->profiler.name, path, (unsigned)a->run_number);
        gnomon__free(path);
    }
    return path;
}

/* The stream (keep=stream) whose last part could not be written, and why. */
static const gnomon__attachment *failed_stream GNOMON__OF_PROCESS;
static int failed_stream_why;

/* Parts of a stream have a name each, and a job may have thousands: of those that fail
 * one after the other for one reason the first is news. */
static int is_new_failure(const gnomon__attachment *a, const char *path,
                          int why)
{
    int is_stream = a->window->keep.mode == GNOMON__KEEP_STREAM;
    int is_known = is_stream && failed_stream == a && failed_stream_why == why;
    if (is_stream) {
        failed_stream = why ? a : NULL;
        failed_stream_why = why;
    }
    return why && gnomon__file_failed(path, why) && !is_known;
}

/* Of a file of `a` that was written to `path`, which it takes, or was not. */
static int file_over(const gnomon__attachment *a, char *path, int why)
{
    if (is_new_failure(a, path, why))
        gnomon__log("cannot write %s: %s: %s", path ? path : "a file",
                    gnomon__os_error_text(why),
                    gnomon__os_error_advice(why, ANOTHER_PATH));
    gnomon__free(last_path);
    last_path = why ? NULL : gnomon__strdup(gnomon__file_where(path));
    gnomon__free(path);
    return why == ENOMEM ? GNOMON_ENOMEM : why ? GNOMON_EIO : GNOMON_OK;
}

/* ---- Buffers -------------------------------------------------------------------- */

static int buffer_room(gnomon__buffer *b, size_t more)
{
    if (gnomon__grow(&b->text, &b->room, b->length + more + 1, 1))
        return 1;
    b->code = GNOMON_ENOMEM;
    return 0;
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

/* Why the profiler writes no file of its own. */
static int refuses_file(const gnomon__attachment *a)
{
    if (a && !gnomon__output_is_ours())
        return GNOMON_ESTATE;
    return a && a->view->rank_on ? GNOMON_OK : GNOMON_ENOENT;
}

static int buffer_file(const gnomon_writer *writer, const char *part,
                       const char *extension, const void *bytes, size_t size)
{
    gnomon__attachment *a = ((const gnomon__buffer *)writer->context)->of;
    int code = refuses_file(a);
    if (code)
        return code;
    if (!gnomon__path_has_folder(a)) {
        if (gnomon__run_rank()->rank <= 0 && !a->told_no_folder++)
            gnomon__log("%s: its files have no folder: give dir= or file=",
                        a->profiler.name);
        return GNOMON_ENOENT;
    }
    char *path = path_of_file(a, part, extension ? extension : "");
    return file_over(
        a, path,
        path ? gnomon__file_put_bytes(path, part_hash(part), bytes, size)
             : ENOMEM);
}

static int buffer_stream(const gnomon_writer *writer, const char *part,
                         const char *extension,
                         int (*make)(void *context, const gnomon_writer *file),
                         void *context)
{
    gnomon__attachment *a = ((const gnomon__buffer *)writer->context)->of;
    int refused = refuses_file(a), code = GNOMON_OK;
    if (refused)
        return refused;
    char *path = path_of_new(a, part, extension ? extension : "");
    gnomon__file_job job = {.part = part_hash(part),
                            .content = {make, context, &code}};
    int why = path ? gnomon__file_put(path, &job) : ENOMEM;
    if (!code || code == GNOMON_ENOMEM)
        return file_over(a, path, why);
    gnomon__free(path); /* `make` knows why there is no file */
    return code;
}

static const char *buffer_path(const gnomon_writer *writer)
{
    (void)writer;
    return last_path ? last_path : "";
}

static const char *buffer_shown(const gnomon_writer *writer, const char *name)
{
    gnomon__buffer *b = writer->context;
    const char *shown = gnomon__escaped_name(&b->names, name);
    if (shown)
        return shown;
    b->code = GNOMON_ENOMEM;
    return "";
}

void gnomon__buffer_init(gnomon__buffer *b, gnomon__attachment *of)
{
    *b = (gnomon__buffer){.writer = {.struct_size = sizeof b->writer,
                                     .write = buffer_write,
                                     .print = buffer_print,
                                     .file = buffer_file,
                                     .stream = buffer_stream,
                                     .path = buffer_path,
                                     .context = b},
                          .of = of};
    if (of && !gnomon__path_is_file(of)) {
        b->writer.shown = buffer_shown;
        b->writer.columns = gnomon__os_columns();
    }
}

void gnomon__buffer_free(gnomon__buffer *b)
{
    gnomon__free(b->text);
    gnomon__escaped_names_free(&b->names);
    memset(b, 0, sizeof *b);
}
