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

static int buffer_file(const gnomon_writer *writer, const char *part,
                       const char *extension, const void *bytes, size_t size)
{
    const gnomon__buffer *b = writer->context;
    return b->of ? gnomon__output_file(b->of, part, extension, bytes, size)
                 : GNOMON_ENOENT;
}

void gnomon__buffer_init(gnomon__buffer *b, const gnomon__attachment *of)
{
    memset(b, 0, sizeof *b);
    b->writer.struct_size = sizeof b->writer;
    b->writer.write = buffer_write;
    b->writer.print = buffer_print;
    b->writer.file = buffer_file;
    b->writer.context = b;
    b->of = of;
}

void gnomon__buffer_free(gnomon__buffer *b)
{
    gnomon__free(b->text);
    memset(b, 0, sizeof *b);
}

/* ---- Files ------------------------------------------------------------------------ */

/* The files that this process wrote: of reports what comes later stands below,
 * other ones are replaced. */
typedef struct written_file {
    struct written_file *next;
    gnomon__os_file file; /* what it put there last */
    uint64_t part;        /* which one stands there; 0: a report */
    char path[];
} written_file;

static written_file *files;

/* NULL: no memory. */
static written_file *file_at(const char *path)
{
    size_t size = strlen(path) + 1;
    written_file *f = files;
    while (f && strcmp(f->path, path) != 0)
        f = f->next;
    if (f || !(f = gnomon__alloc(sizeof *f + size)))
        return f;
    memcpy(f->path, path, size);
    f->next = files;
    files = f;
    return f;
}

void gnomon__output_forget(void)
{
    gnomon__inherited(files);
    files = NULL;
}

void gnomon__output_plain(const char *text, size_t length)
{
    int fd = gnomon__os_stderr();
    int why = length && fd >= 0 ? gnomon__os_write(fd, text, length) : 0;
    if (why) /* if at all, then to the same stderr */
        gnomon__log("a report could not be written to stderr: %s",
                    strerror(why));
}

/* 0, or an errno; then the file is as it was. */
static int publish_written(written_file *f, const char *text, size_t length)
{
    char *above = NULL;
    uint64_t since = gnomon__start_unix_ns();
    int why = f->file.inode && !f->part
                  ? gnomon__os_read_mine(f->path, &f->file, FILE_LIMIT, &above)
                  : ENOENT;
    if (why == ENOENT || why == EFBIG)
        return gnomon__os_publish_beside(f->path, text, length, &f->file,
                                         since);
    if (why)
        return why;
    gnomon__buffer whole;
    gnomon__buffer_init(&whole, NULL);
    const gnomon_writer *w = &whole.writer;
    w->write(w, above, strlen(above));
    gnomon__free(above);
    why = ENOMEM;
    if (!w->write(w, text, length))
        why = gnomon__os_publish_beside(f->path, whole.text, whole.length,
                                        &f->file, since);
    gnomon__buffer_free(&whole);
    return why;
}

/* Another process that runs at the same time has written to `path`: both
 * reports stay, ours under a name with the process id. */
static int publish_apart(const char *path, uint64_t part, const char *text,
                         size_t length)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t size = strlen(path) + 24;
    size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    char *apart = gnomon__alloc(size);
    if (!apart)
        return ENOMEM;
    snprintf(apart, size, "%.*s-%lld%s", (int)stem, path,
             (long long)gnomon__os_pid(), path + stem);
    written_file *f = file_at(apart);
    int first = f && !f->file.inode, why = ENOMEM;
    if (f) {
        f->part = part;
        why = publish_written(f, text, length);
    }
    if (!why && first)
        gnomon__log("another process wrote %s meanwhile: this report is in %s; "
                    "%%p in file= keeps them apart",
                    path, apart);
    gnomon__free(apart);
    return why;
}

/* 0, or an errno. */
static int to_path(const char *path, uint64_t part, const char *text,
                   size_t length)
{
    written_file *f = file_at(path);
    if (!f)
        return ENOMEM;
    f->part = part;
    int why = publish_written(f, text, length);
    return why == EEXIST ? publish_apart(path, part, text, length) : why;
}

static void to_file(const char *path, const char *text, size_t length)
{
    int why = to_path(path, 0, text, length);
    if (!why)
        return;
    gnomon__log("cannot write the report to %s: %s: give file= or dir= another "
                "place; here it is",
                path, strerror(why));
    gnomon__output_plain(text, length);
}

/* ---- Names ------------------------------------------------------------------------ */

/* "a/b" of two texts; frees `b`. NULL: no memory, or `b` is NULL. */
static char *path_join(const char *a, int length, char *b)
{
    size_t size = b ? (size_t)length + strlen(b) + 2 : 0;
    char *path = b ? gnomon__alloc(size) : NULL;
    if (path)
        snprintf(path, size, "%.*s/%s", length, a, b);
    gnomon__free(b);
    return path;
}

/* Lightning's name in `dir`, `file` being its stem. A child's has its process
 * id. */
static char *path_in(const char *dir, const gnomon__attachment *a,
                     const char *part, const char *extension)
{
    const char *file = gnomon__options_text(a->options, "file");
    const gnomon__rank *r = gnomon__run_rank();
    size_t size = (part ? strlen(part) : 0) + 24;
    char *action = gnomon__alloc(size);
    if (!action)
        return NULL;
    if (gnomon__forks)
        snprintf(action, size, "%lld%s%s", (long long)gnomon__os_pid(),
                 part ? "-" : "", part ? part : "");
    else
        snprintf(action, size, "%s", part ? part : "");
    if (strcmp(dir, "true") == 0) /* bare: where the host's logs go */
        dir = gnomon__run_dir() ? gnomon__run_dir() : ".";
    char *name =
        gnomon__file_name(gnomon__stage_name(), file ? file : a->profiler.name,
                          r->world_size > 1 ? r->rank : -1,
                          part || gnomon__forks ? action : NULL, extension);
    gnomon__free(action);
    return path_join(dir, (int)strlen(dir), name);
}

/* The path of file=. */
static char *path_expanded(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    const gnomon__rank *r = gnomon__run_rank();
    gnomon_run_info run;
    gnomon__run_describe(&run);
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

/* Beside a report at `path`, which it frees: its name without extension, and the
 * stage where that does not tell it. */
static char *path_beside(const gnomon__attachment *a, char *path,
                         const char *part, const char *extension)
{
    const char *file = gnomon__options_text(a->options, "file");
    char *slash = path ? strrchr(path, '/') : NULL;
    char *stem = slash ? slash + 1 : path;
    char *dot = path ? strrchr(stem, '.') : NULL;
    if (!path)
        return NULL;
    if (dot && dot > stem)
        *dot = 0;
    char *name = gnomon__file_name(
        gnomon__file_tells_stage(file) ? NULL : gnomon__stage_name(), stem, -1,
        part, extension);
    char *beside = slash ? path_join(path, (int)(slash - path), name) : name;
    gnomon__free(path);
    return beside;
}

/* Where a report goes (no part, no extension), or a file beside it; NULL: no
 * memory. */
static char *path_of(const gnomon__attachment *a, const char *part,
                     const char *extension)
{
    const char *dir = gnomon__options_text(a->options, "dir");
    if (dir)
        return path_in(dir, a, part, extension ? extension : ".txt");
    if (!gnomon__options_text(a->options, "file"))
        return path_in("true", a, part, extension);
    char *path = path_expanded(a);
    return extension ? path_beside(a, path, part, extension) : path;
}

/* ---- Reports, and files beside them -------------------------------------------------- */

static int has_folder(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    if (gnomon__options_text(a->options, "dir"))
        return 1;
    return file ? !gnomon__file_is_stream(file) : gnomon__run_dir() != NULL;
}

/* Tells parts apart whose names become one; never 0. */
static uint64_t part_hash(const char *part)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; part && *part; part++)
        hash = (hash ^ (unsigned char)*part) * 0x100000001b3u;
    return hash ? hash : 1;
}

/* Another part of that name is there: the hash makes it another one. */
static char *path_hashed(const gnomon__attachment *a, const char *part,
                         const char *extension)
{
    size_t size = strlen(part) + 18;
    char *longer = gnomon__alloc(size), *path = NULL;
    if (longer) {
        snprintf(longer, size, "%s-%016llx", part,
                 (unsigned long long)part_hash(part));
        path = path_of(a, longer, extension);
    }
    gnomon__free(longer);
    return path;
}

int gnomon__output_file(const gnomon__attachment *a, const char *part,
                        const char *extension, const void *bytes, size_t size)
{
    uint64_t hash = part_hash(part);
    extension = extension ? extension : "";
    if (!gnomon__os_is_owner()) /* forked inside a callback */
        return GNOMON_ESTATE;
    if (!has_folder(a)) {
        if (gnomon__run_rank()->rank <= 0)
            gnomon__log("%s: its files have no folder: give dir= or file=",
                        a->profiler.name);
        return GNOMON_ENOENT;
    }
    char *path = path_of(a, part, extension);
    const written_file *f = files;
    while (path && f && strcmp(f->path, path) != 0)
        f = f->next;
    if (path && part && f && f->part != hash) {
        gnomon__free(path);
        path = path_hashed(a, part, extension);
    }
    int why = path ? to_path(path, hash, bytes, size) : ENOMEM;
    if (why)
        gnomon__log("cannot write %s: %s: give file= or dir= another place",
                    path ? path : "a file", strerror(why));
    gnomon__free(path);
    return why == ENOMEM ? GNOMON_ENOMEM : why ? GNOMON_EIO : GNOMON_OK;
}

void gnomon__output(const gnomon__attachment *a, const char *text,
                    size_t length)
{
    if (!length || !gnomon__os_is_owner()) /* forked inside a callback */
        return;
    if (gnomon__options_text(a->options, "file") ||
        gnomon__options_text(a->options, "dir")) {
        char *path = path_of(a, NULL, NULL);
        if (path) {
            to_file(path, text, length);
        } else {
            gnomon__log("no memory for the report's file name; here it is");
            gnomon__output_plain(text, length);
        }
        gnomon__free(path);
    } else if (gnomon__run_rank()->rank <= 0) {
        gnomon__output_plain(text, length);
    }
}
