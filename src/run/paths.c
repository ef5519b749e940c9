/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The paths of an attachment's files: its file= and dir= expanded by the rules of
 * spec/names.c. Called inside control calls only. All paths are from gnomon__alloc;
 * NULL: no memory. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/report.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "spec/names.h"
#include "run/files.h"
#include "run/run.h"

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

/* ---- Where paths begin ----------------------------------------------------------- */

static char spec_folder[PATH_MAX];

void gnomon__path_begin(void)
{
    if (gnomon__os_folder(spec_folder, sizeof spec_folder))
        *spec_folder = 0;
}

char *gnomon__path_folder(const char *word)
{
    if (!word)
        gnomon__path_begin();
    return *spec_folder ? gnomon__strdup(spec_folder) : NULL;
}

/* A path is made absolute once the program works in another folder: till then its
 * parents need not be open to this process, and lines show it as it was given. Takes
 * `path`, which may be NULL. */
static char *path_rooted(const gnomon__attachment *a, char *path)
{
    char now[PATH_MAX];
    if (!path || *path == '/' || !a->folder ||
        (!gnomon__os_folder(now, sizeof now) && strcmp(now, a->folder) == 0))
        return path;
    return path_join(a->folder, (int)strlen(a->folder), path);
}

/* ---- Paths ----------------------------------------------------------------------- */

int gnomon__path_form(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    return file ? gnomon__file_form(file) : -1;
}

/* file=, if it names a report; NULL: it names a profile, or there is none. */
static const char *report_file(const gnomon__attachment *a)
{
    return gnomon__path_form(a) < 0 ? gnomon__options_text(a->options, "file")
                                    : NULL;
}

char *gnomon__path_root_missing(const gnomon__attachment *a)
{
    const char *path = gnomon__options_text(a->options, "dir");
    const char *file = gnomon__options_text(a->options, "file");
    if (!path || (file && *file == '/' && gnomon__path_form(a) >= 0))
        path = file;
    size_t n = path && *path == '/' ? 1 + strcspn(path + 1, "/") : 0;
    /* A % is not expanded yet. */
    if (!n || !path[n] || memchr(path, '%', n))
        return NULL;
    char *first = gnomon__strndup(path, n);
    if (first && gnomon__os_is_missing(first))
        return first;
    gnomon__free(first);
    return NULL;
}

/* Whether file= is a stream: other files are not beside it, as they would be in /dev, and
 * dir= is for these alone. */
static int goes_to_stream(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    return file && gnomon__file_is_stream(file);
}

int gnomon__path_is_given(const gnomon__attachment *a)
{
    return report_file(a) || gnomon__options_text(a->options, "dir");
}

int gnomon__path_is_file(const gnomon__attachment *a)
{
    return gnomon__path_is_given(a) && !goes_to_stream(a);
}

int gnomon__path_has_folder(const gnomon__attachment *a)
{
    const char *file = gnomon__options_text(a->options, "file");
    if (gnomon__options_text(a->options, "dir"))
        return 1;
    return (file && !goes_to_stream(a)) || gnomon__run_dir() != NULL;
}

/* The value of dir=; without a value it is the host's log folder. */
static const char *folder_named(const char *dir)
{
    if (strcmp(dir, "true") != 0)
        return dir;
    return gnomon__run_dir() ? gnomon__run_dir() : ".";
}

/* Lightning's name in `dir`, file= being its stem. A child's has its process
 * id. */
static char *path_in(const char *dir, const gnomon__attachment *a,
                     const char *part, const char *extension)
{
    const char *file = goes_to_stream(a) ? NULL : report_file(a);
    const char *folder = folder_named(dir);
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
    char *name = gnomon__file_name(
        gnomon__stage_name(), file ? file : a->profiler.name,
        gnomon__rank_has_others(r->rank, r->world_size) ? r->rank : -1,
        part || gnomon__forks ? action : NULL, extension);
    gnomon__free(action);
    return path_join(folder, (int)strlen(folder), name);
}

/* Expands a pattern; `logs`: log its errors. */
static char *pattern_expanded(const char *pattern, const char *who,
                              const char *stage, uint32_t view, int logs)
{
    const gnomon__rank *r = gnomon__run_rank();
    gnomon_run_info run;
    gnomon__run_describe(&run);
    gnomon__complaints complaints = {0};
    gnomon__file_values values = {r->rank,
                                  r->local_rank,
                                  r->world_size,
                                  run.pid,
                                  run.host,
                                  stage,
                                  gnomon__start_unix_ns() / 1000000000u,
                                  gnomon__forks > 0,
                                  view};
    char *path = gnomon__file_expand(pattern, &values, who, &complaints);
    for (unsigned i = 0; logs && i < complaints.count; i++)
        gnomon__log("%s", complaints.line[i]);
    gnomon__complaints_free(&complaints);
    return path;
}

/* Whether what is wrong in its file= was logged: once for all attachments with the same
 * one, and not for each of their files. */
static int is_file_told(const gnomon__attachment *a, const char *file)
{
    if (a->is_file_told)
        return 1;
    for (gnomon__attachment *b = gnomon__attachments; b; b = b->next) {
        const char *other = gnomon__options_text(b->options, "file");
        if (other && strcmp(other, file) == 0)
            b->is_file_told = 1;
    }
    return 0;
}

static char *path_expanded(const gnomon__attachment *a, const char *stage,
                           uint32_t view, int logs)
{
    const char *file = gnomon__options_text(a->options, "file");
    return pattern_expanded(file, a->profiler.name, stage, view,
                            logs && !is_file_told(a, file));
}

/* ---- host->file_name ------------------------------------------------------------ */

size_t gnomon__path_own(const char *pattern, char *buffer, size_t size)
{
    char *path =
        pattern_expanded(pattern, "file_name", gnomon__stage_name(), 0, 1);
    int why = path ? gnomon__os_make_folders(path) : ENOMEM;
    size_t length = why ? 0 : strlen(path);
    if (why)
        gnomon__fail(why == ENOMEM ? GNOMON_ENOMEM : GNOMON_EIO,
                     "no file %.128s: %s", pattern, gnomon__os_error_text(why));
    else if (size)
        snprintf(buffer, size, "%s", path);
    gnomon__free(path);
    return length;
}

char *gnomon__path_of_profile(const gnomon__attachment *a, const char *stage,
                              uint32_t view, int logs)
{
    const char *dir = gnomon__options_text(a->options, "dir");
    char *path = path_expanded(a, stage, view, logs);
    if (!path || !dir || *path == '/')
        return path_rooted(a, path);
    dir = folder_named(dir);
    return path_rooted(a, path_join(dir, (int)strlen(dir), path));
}

/* A file in the folder of a report at `path`, which is freed: the report's name without
 * extension, and the stage, if the pattern has none. */
static char *path_next_to(const gnomon__attachment *a, char *path,
                          const char *part, const char *extension)
{
    const char *file = gnomon__options_text(a->options, "file");
    char *slash = path ? strrchr(path, '/') : NULL;
    char *stem = slash ? slash + 1 : path;
    if (!path)
        return NULL;
    stem[gnomon__file_extension(stem, strlen(stem))] = 0;
    char *name = gnomon__file_name(
        gnomon__file_has_stage(file) ? NULL : gnomon__stage_name(), stem, -1,
        part, extension);
    char *path_made = slash ? path_join(path, (int)(slash - path), name) : name;
    gnomon__free(path);
    return path_made;
}

static char *path_given(const gnomon__attachment *a, const char *part,
                        const char *extension)
{
    const char *dir = gnomon__options_text(a->options, "dir");
    int is_beside_stream = goes_to_stream(a) && extension;
    if (dir && (is_beside_stream || !goes_to_stream(a)))
        return path_in(dir, a, part, extension ? extension : ".txt");
    if (is_beside_stream || !gnomon__options_text(a->options, "file"))
        return path_in("true", a, part, extension);
    char *path = path_expanded(a, gnomon__stage_name(), 0, 1);
    return extension ? path_next_to(a, path, part, extension) : path;
}

char *gnomon__path_of(const gnomon__attachment *a, const char *part,
                      const char *extension)
{
    return path_rooted(a, path_given(a, part, extension));
}
