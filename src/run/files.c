/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files of this process: which paths it wrote, and what stands there. Called
 * inside control calls only.
 *
 * A file is whole at every moment: it is made under a temporary name that is
 * then renamed. Reports that share one come one below the other: what this
 * process wrote before is read back and goes out again with what is new. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "run/names.h"
#include "run/run.h"

#define FILE_LIMIT (1u << 30) /* larger ones begin anew */

typedef struct written_file {
    struct written_file *next;
    gnomon__os_file file; /* what it put there last */
    uint64_t part;        /* which one stands there; 0: reports */
    uint32_t view;        /* who alone writes there; 0: anybody */
    char path[];
} written_file;

static written_file *files;

static written_file *file_known(const char *path)
{
    written_file *f = files;
    while (f && strcmp(f->path, path) != 0)
        f = f->next;
    return f;
}

/* NULL: no memory. */
static written_file *file_at(const char *path)
{
    size_t size = strlen(path) + 1;
    written_file *f = file_known(path);
    if (f || !(f = gnomon__alloc(sizeof *f + size)))
        return f;
    memcpy(f->path, path, size);
    f->next = files;
    files = f;
    return f;
}

/* Another process's file is one that came after this one's start; or at all,
 * where this one's own was there. */
static uint64_t since(const written_file *f)
{
    return f->file.inode ? 0 : gnomon__start_unix_ns();
}

int gnomon__file_is_taken(const char *path, uint64_t part)
{
    const written_file *f = file_known(path);
    return f && f->part != part;
}

void gnomon__files_drop(uint32_t view)
{
    written_file **at = &files;
    while (*at) {
        written_file *f = *at;
        if (f->view != view) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        gnomon__free(f);
    }
}

void gnomon__files_forget(void)
{
    gnomon__inherited(files);
    files = NULL;
}

/* ---- Bytes -------------------------------------------------------------------- */

typedef struct file_bytes {
    const char *above; /* what this process wrote before; NULL: nothing */
    const void *bytes;
    size_t size;
} file_bytes;

static int make_bytes(int fd, const void *context)
{
    const file_bytes *b = context;
    int why = b->above ? gnomon__os_write(fd, b->above, strlen(b->above)) : 0;
    return why ? why : gnomon__os_write(fd, b->bytes, b->size);
}

/* 0, or an errno; then the file is as it was. */
static int publish_report(written_file *f, const file_bytes *report)
{
    char *above = NULL;
    gnomon__os_file mine = f->file;
    int why = f->file.inode
                  ? gnomon__os_read_mine(f->path, &f->file, FILE_LIMIT, &above)
                  : ENOENT;
    if (why && why != ENOENT && why != EFBIG)
        return why;
    if (why == ENOENT)
        mine.inode = 0; /* gone; if not, what stands there is spared */
    file_bytes whole = {above, report->bytes, report->size};
    why = gnomon__os_publish_made(f->path, make_bytes, &whole, &mine, since(f));
    if (!why)
        f->file = mine;
    gnomon__free(above);
    return why;
}

/* ---- Files -------------------------------------------------------------------- */

static int publish_at(written_file *f, const gnomon__file_job *job)
{
    f->part = job->part;
    f->view = job->view;
    if (!job->part)
        return publish_report(f, job->context);
    return gnomon__os_publish_made(f->path, job->make, job->context, &f->file,
                                   since(f));
}

/* Another process that runs at the same time has written to `path`: both files
 * stay, ours under a name with the process id. */
static int publish_apart(const char *path, const gnomon__file_job *job)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t stem =
        (size_t)(name - path) + gnomon__file_extension(name, strlen(name));
    size_t size = strlen(path) + 24;
    char *apart = gnomon__alloc(size);
    if (!apart)
        return ENOMEM;
    snprintf(apart, size, "%.*s-%lld%s", (int)stem, path,
             (long long)gnomon__os_pid(), path + stem);
    written_file *f = file_at(apart);
    int first = f && !f->file.inode;
    int why = f ? publish_at(f, job) : ENOMEM;
    if (!why && first)
        gnomon__log("another process wrote %s meanwhile: this one's is %s; "
                    "%%p in file= keeps them apart",
                    path, apart);
    gnomon__free(apart);
    return why;
}

int gnomon__file_put(const char *path, const gnomon__file_job *job)
{
    written_file *f = file_at(path);
    int why = f ? publish_at(f, job) : ENOMEM;
    return why == EEXIST ? publish_apart(path, job) : why;
}

int gnomon__file_put_bytes(const char *path, uint64_t part, const void *bytes,
                           size_t size)
{
    file_bytes known = {NULL, bytes, size};
    gnomon__file_job job = {part, 0, make_bytes, &known};
    return gnomon__file_put(path, &job);
}
