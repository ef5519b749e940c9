/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles into files: what a profiler with a tree recorded goes to its file=
 * where that ends in .gnomon or .gnomon.json, whenever reports come.
 *
 * A file holds all stages that have its name for theirs: with %s those of one
 * name, else the whole run. It is made anew each time, piece by piece, so that
 * it is whole whenever the process dies. One view's file is never another's. */
#include <errno.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "run/names.h"
#include "run/run.h"

/* ---- Who writes which -------------------------------------------------------------- */

static int same_word_of(const gnomon__attachment *a,
                        const gnomon__attachment *b, const char *key)
{
    const char *x = gnomon__options_text(a->options, key);
    const char *y = gnomon__options_text(b->options, key);
    return x == y || (x && y && strcmp(x, y) == 0);
}

static int has_tree(const gnomon__attachment *a)
{
    return (a->profiler.wants & GNOMON_WANT_TREE) != 0;
}

/* Two profilers of one view would write the same: the first does. */
int gnomon__profile_is_kept(const gnomon__attachment *a)
{
    const gnomon__attachment *b = gnomon__attachments;
    if (!has_tree(a) || gnomon__path_form(a) < 0)
        return 0;
    while (b && b != a &&
           (b->view != a->view || !has_tree(b) || !same_word_of(a, b, "file") ||
            !same_word_of(a, b, "dir")))
        b = b->next;
    return !b || b == a;
}

const char *gnomon__profile_is_missed(const gnomon__attachment *a)
{
    const gnomon__attachment *b = gnomon__attachments;
    if (gnomon__path_form(a) < 0)
        return NULL;
    while (b && (!has_tree(b) || !same_word_of(a, b, "file")))
        b = b->next;
    return b ? NULL : gnomon__options_text(a->options, "file");
}

/* ---- Bytes -------------------------------------------------------------------------- */

/* Gathers what a form's writer gives in small pieces. */
typedef struct profile_pen {
    int fd, why; /* the first errno */
    size_t used;
    char bytes[(size_t)64 << 10];
} profile_pen;

static int pen_flush(profile_pen *pen)
{
    if (!pen->why)
        pen->why = gnomon__os_write(pen->fd, pen->bytes, pen->used);
    pen->used = 0;
    return pen->why ? GNOMON_EIO : GNOMON_OK;
}

static int pen_write(const gnomon_writer *writer, const void *bytes,
                     size_t size)
{
    profile_pen *pen = writer->context;
    if (size > sizeof pen->bytes - pen->used && pen_flush(pen))
        return GNOMON_EIO;
    if (size > sizeof pen->bytes) {
        pen->why = gnomon__os_write(pen->fd, bytes, size);
        return pen->why ? GNOMON_EIO : GNOMON_OK;
    }
    memcpy(pen->bytes + pen->used, bytes, size);
    pen->used += size;
    return GNOMON_OK;
}

typedef struct profile_content {
    const gnomon__model *m;
    int form; /* gnomon_form */
} profile_content;

static int make_profile(int fd, const void *context)
{
    const profile_content *content = context;
    profile_pen *pen = gnomon__alloc(sizeof *pen);
    gnomon_writer writer = {
        .struct_size = sizeof writer, .write = pen_write, .context = pen};
    if (!pen)
        return ENOMEM;
    pen->fd = fd;
    int code = gnomon_profile_write(&content->m->base, content->form, &writer);
    if (!code)
        code = pen_flush(pen);
    int why = pen->why;
    gnomon__free(pen);
    if (code && !why)
        why = code == GNOMON_ENOMEM ? ENOMEM : EFBIG;
    return why;
}

/* ---- The file ------------------------------------------------------------------------ */

/* As %s has it. */
static const char *name_in_files(const gnomon__stage_fact *s)
{
    return s->was_opened && *s->name ? s->name : NULL;
}

/* Leaves the stages whose profiles go to `path`. GNOMON_OK or GNOMON_ENOMEM. */
static int choose_stages(const gnomon__attachment *a, const char *path,
                         gnomon__run_facts *facts)
{
    size_t kept = 0;
    if (!gnomon__file_tells_stage(gnomon__options_text(a->options, "file")))
        return GNOMON_OK;
    for (size_t i = 0; i < facts->stage_count; i++) {
        char *other =
            gnomon__path_of_profile(a, name_in_files(&facts->stages[i]), 0, 0);
        if (!other)
            return GNOMON_ENOMEM;
        if (strcmp(path, other) == 0)
            facts->stages[kept++] = facts->stages[i];
        gnomon__free(other);
    }
    facts->stage_count = kept;
    return GNOMON_OK;
}

/* *all is `open`, where that is all. 0, or an errno. */
static int take_stages(const gnomon__attachment *a, const char *path,
                       const gnomon__model *open, gnomon__model **own,
                       const gnomon__model **all)
{
    gnomon__run_facts facts;
    *own = NULL;
    int code = gnomon__facts_take(&facts);
    if (code)
        return ENOMEM;
    code = choose_stages(a, path, &facts);
    if (!code && (facts.stage_count > 1 || !open))
        code = gnomon__snapshot_facts(a, &facts, own);
    gnomon__facts_free(&facts);
    *all = *own ? *own : open;
    return code || !*all ? ENOMEM : 0;
}

/* Replaces *path where another view wrote there. 0, or an errno. */
static int leave_to_others(const gnomon__attachment *a, char **path,
                           gnomon__file_job *job)
{
    if (!gnomon__file_is_taken(*path, job->part))
        return 0;
    job->view = a->view->number;
    char *own = gnomon__path_of_profile(a, gnomon__stage_name(), job->view, 0);
    if (!own)
        return ENOMEM;
    gnomon__free(*path);
    *path = own;
    return 0;
}

void gnomon__profile_keep(const gnomon__attachment *a,
                          const gnomon__model *open)
{
    gnomon__model *own = NULL;
    profile_content content = {.form = gnomon__path_form(a)};
    gnomon__file_job job = {a->view->number, 0, make_profile, &content};
    if (!gnomon__output_is_ours())
        return;
    char *path = gnomon__path_of_profile(a, gnomon__stage_name(), 0, 1);
    int why = path ? take_stages(a, path, open, &own, &content.m) : ENOMEM;
    if (!why)
        why = leave_to_others(a, &path, &job);
    if (!why)
        why = gnomon__file_put(path, &job);
    if (why)
        gnomon__log("cannot write the profile to %s: %s: give file= another "
                    "place",
                    path ? path : "a file", strerror(why));
    gnomon__free(path);
    if (own)
        gnomon_profile_free(&own->base);
}
