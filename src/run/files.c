/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that this process wrote, by path. Called inside control calls only.
 *
 * A file appears whole: it is written under a temporary name and then renamed. Later
 * parts of a profile, and later reports, are appended, as long as the file is as this
 * process left it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "platform/process.h"
#include "spec/names.h"
#include "run/notes.h"
#include "run/files.h"
#include "run/run.h"

typedef struct written_file {
    struct written_file *next;
    gnomon__os_file file; /* identity of what was written last */
    uint64_t part;        /* which part it holds; 0: reports */
    uint32_t view;        /* the only view that writes it; 0: any */
    /* Where ours went, as another process wrote this one; of the same view. */
    const struct written_file *apart;
    int was_written;
    int logged_errno; /* of the last failure that was logged; 0: none */
    gnomon__file_counts counts; /* of its entities, where it grows */
    size_t given; /* in `path`: begins what the caller said last */
    char path[];  /* absolute: the program may change its folder */
} written_file;

#define LISTS 256u
#define MOST_APART 15u /* namespaces of a process, by glibc */

/* Each file that this process ever wrote, in a list by its path's hash. NULL: none. */
static written_file **files GNOMON__OF_PROCESS;
static uint32_t view_file_count GNOMON__OF_PROCESS; /* those with a `view` */

static written_file **list_of(const char *path)
{
    return &files[gnomon__hash_text(path) % LISTS];
}

/* The path, absolute: valid until the next call. As it is where the working folder is
 * not known. */
static const char *absolute(const char *path)
{
    static char whole[2 * PATH_MAX];
    if (*path == '/' || gnomon__os_folder(whole, PATH_MAX))
        return path;
    size_t n = strlen(whole);
    return (size_t)snprintf(whole + n, sizeof whole - n, "/%s", path) <
                   sizeof whole - n
               ? whole
               : path;
}

static written_file *file_known(const char *path)
{
    const char *whole = absolute(path);
    written_file *f = files ? *list_of(whole) : NULL;
    while (f && strcmp(f->path, whole) != 0)
        f = f->next;
    if (f)
        f->given = strlen(whole) - strlen(path);
    return f;
}

/* NULL: no memory. */
static written_file *file_at(const char *path)
{
    written_file *f = file_known(path);
    const char *whole = absolute(path);
    size_t size = strlen(whole) + 1;
    if (!files && !(files = gnomon__alloc(LISTS * sizeof *files)))
        return NULL;
    if (f || !(f = gnomon__alloc(sizeof *f + size)))
        return f;
    memcpy(f->path, whole, size);
    f->given = size - 1 - strlen(path);
    written_file **list = list_of(whole);
    f->next = *list;
    *list = f;
    return f;
}

/* A file newer than this is another process's: newer than our start, or any at all
 * after we wrote our own. In a namespace another run of this process may have written
 * it before this one began, and before the start of a forked child its parent. */
static uint64_t written_since(const written_file *f)
{
    const uint64_t tick_ns = 10000000; /* files have their times by the tick */
    if (f->file.inode)
        return 0;
    uint64_t begun = gnomon__os_begun_unix_ns(!gnomon__os_is_namespace());
    return begun ? begun - tick_ns : gnomon__start_unix_ns();
}

int gnomon__file_is_taken(const char *path, uint64_t part)
{
    const written_file *f = file_known(path);
    return f && f->part != part;
}

int gnomon__file_is_written(const char *path)
{
    const written_file *f = file_known(path);
    return f && (f->was_written || f->apart);
}

static void drop_in(written_file **at, uint32_t view)
{
    while (*at) {
        written_file *f = *at;
        if (f->view != view) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        view_file_count--;
        gnomon__free(f);
    }
}

void gnomon__files_drop(uint32_t view)
{
    for (uint32_t i = 0; view_file_count && i < LISTS; i++)
        drop_in(&files[i], view);
}

/* ---- Files -------------------------------------------------------------------- */

/* ENOENT: there is nothing to append to. */
static int append_to(written_file *f, gnomon__file_job *job)
{
    int is_more = job->grows && f->was_written && f->part == job->part;
    job->counts = f->counts;
    return is_more ? gnomon__os_append_made(f->path + f->given, gnomon__fd_make,
                                            &job->content, &f->file)
                   : ENOENT;
}

static int publish_text(written_file *f, gnomon__file_job *job)
{
    gnomon__os_file mine = f->file;
    if (job->grows)
        mine.inode = 0; /* ours is gone: do not replace the file there now */
    memset(&job->counts, 0, sizeof job->counts);
    int why = gnomon__os_publish_made(f->path + f->given, gnomon__fd_make,
                                      &job->content, &mine, written_since(f));
    if (!why)
        f->file = mine;
    return why;
}

static int publish_at(written_file *f, gnomon__file_job *job)
{
    int why = append_to(f, job);
    f->part = job->part;
    view_file_count += (uint32_t)(!f->view && job->view);
    f->view = f->view ? f->view : job->view;
    if (why == ENOENT)
        why = publish_text(f, job);
    if (why)
        return why;
    if (!f->was_written && f->file.inode) /* 0: a stream */
        gnomon__notes_wrote(f->path);
    f->counts = job->counts;
    f->was_written = 1;
    f->logged_errno = 0;
    return 0;
}

/* "out/r.txt" becomes "out/r-PID.txt", and with `n` "out/r-PID-n.txt"; free it. */
static char *path_apart(const char *path, unsigned n)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t stem =
        (size_t)(name - path) + gnomon__file_extension(name, strlen(name));
    size_t size = strlen(path) + 40;
    char more[16] = "", *apart = gnomon__alloc(size);
    if (n)
        snprintf(more, sizeof more, "-%u", n);
    if (apart)
        snprintf(apart, size, "%.*s-%lld%s%s", (int)stem, path,
                 (long long)gnomon__os_pid(), more, path + stem);
    return apart;
}

/* Another process wrote `path` meanwhile, or another run of this one: all files stay,
 * ours under a name with the process id. */
static int publish_apart(written_file *of, gnomon__file_job *job)
{
    const char *path = of->path + of->given;
    int why = EEXIST, is_one = gnomon__os_is_namespace();
    for (unsigned n = 0; why == EEXIST && n <= MOST_APART; n++) {
        char *apart = path_apart(path, n);
        written_file *f = apart ? file_at(apart) : NULL;
        int first = f && !f->file.inode;
        why = f ? publish_at(f, job) : ENOMEM;
        if (!why && first)
            gnomon__log("another %s wrote %s meanwhile: this one's is %s%s",
                        is_one ? "run" : "process", path, apart,
                        is_one ? "" : "; %p in file= keeps them apart");
        of->apart = why ? NULL : f;
        gnomon__free(apart);
    }
    return why;
}

int gnomon__file_put(const char *path, gnomon__file_job *job)
{
    written_file *f = file_at(path);
    if (f && f->logged_errno == GNOMON__OS_UNREAD)
        return f->logged_errno; /* cut short: no second try */
    int why = f ? publish_at(f, job) : ENOMEM;
    if (f)
        f->apart = NULL;
    return why == EEXIST ? publish_apart(f, job) : why;
}

const char *gnomon__file_where(const char *path)
{
    const written_file *f = file_known(path);
    return f && f->apart ? f->apart->path + f->apart->given : path;
}

int gnomon__file_failed(const char *path, int why)
{
    written_file *f = path ? file_known(path) : NULL;
    int is_news = !f || f->logged_errno != why;
    if (f)
        f->logged_errno = why;
    return is_news;
}

/* ---- Bytes -------------------------------------------------------------------- */

typedef struct file_bytes {
    const void *bytes;
    size_t size;
} file_bytes;

static int make_bytes(void *context, const gnomon_writer *out)
{
    const file_bytes *b = context;
    return out->write(out, b->bytes, b->size);
}

int gnomon__file_put_bytes(const char *path, uint64_t part, const void *bytes,
                           size_t size)
{
    file_bytes known = {bytes, size};
    gnomon__file_job job = {
        .part = part, .grows = !part, .content = {make_bytes, &known, NULL}};
    return gnomon__file_put(path, &job);
}
