/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folders of jobs. The path in $GNOMON is absolute, because the program may change its
 * directory before its first mark. */
#include "cli/jobs.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/error.h"
#include "platform/memory.h"

#define QUOTED "a name with a quote cannot stand in $GNOMON"

static int jobs_fail(const char *folder, const char *why)
{
    gnomon__log("%s: %s", folder, why);
    return 0;
}

/* "fold%r" is "fold%%r" in a spec, where it stands in quotes. NULL: no memory. */
static char *quoted_path(const char *path)
{
    char *text = gnomon__alloc(2 * strlen(path) + 1), *to = text;
    for (; text && *path; path++) {
        if (*path == '%')
            *to++ = '%';
        *to++ = *path;
    }
    return text;
}

int gnomon__cli_jobs_begin(gnomon__cli_jobs *jobs, const char *folder)
{
    const char *name = getenv("GNOMON_JOB");
    char path[PATH_MAX];
    if (strchr(folder, '"'))
        return jobs_fail(folder, QUOTED);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return jobs_fail(folder, strerror(errno));
    if (!realpath(folder, path))
        return jobs_fail(folder, strerror(errno));
    if (strchr(path, '"'))
        return jobs_fail(folder, QUOTED);
    const char *slash = strrchr(path, '/');
    jobs->given = folder;
    jobs->folder = gnomon__strdup(path);
    jobs->name = gnomon__strdup(name && *name ? name : slash + 1);
    if (!jobs->folder || !jobs->name)
        return jobs_fail(folder, "no memory");
    if (gnomon__cli_jobs_files(jobs))
        return jobs_fail(folder, "holds profiles already: name another folder");
    return 1;
}

char *gnomon__cli_jobs_spec(const gnomon__cli_jobs *jobs, const char *spec,
                            unsigned n)
{
    char *path = quoted_path(jobs->folder);
    size_t size = (spec ? strlen(spec) : 0) + (path ? strlen(path) : 0) + 64;
    size_t job_size = strlen(jobs->name) + 16;
    char *text = gnomon__alloc(size), *job = gnomon__alloc(job_size);
    int ok = path && text && job;
    if (ok) {
        snprintf(text, size, "%s%sprofile(file=\"%s/job%u.gnomon\")",
                 spec ? spec : "", spec ? "," : "", path, n);
        snprintf(job, job_size, "%s-%u", jobs->name, n);
        ok = setenv("GNOMON_JOB", job, 1) == 0;
    }
    gnomon__free(path);
    gnomon__free(job);
    if (ok)
        return text;
    gnomon__free(text);
    return NULL;
}

size_t gnomon__cli_jobs_files(const gnomon__cli_jobs *jobs)
{
    size_t size = 2 * strlen(jobs->folder) + 16, n = 0, count;
    char *pattern = gnomon__alloc(size);
    glob_t found;
    for (const char *c = jobs->folder; pattern && *c; c++) {
        if (strchr("*?[]\\", *c))
            pattern[n++] = '\\';
        pattern[n++] = *c;
    }
    if (!pattern)
        return 0;
    strcpy(pattern + n, "/*.gnomon");
    count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    gnomon__free(pattern);
    return count;
}

void gnomon__cli_jobs_free(gnomon__cli_jobs *jobs)
{
    gnomon__free(jobs->folder);
    gnomon__free(jobs->name);
    *jobs = (gnomon__cli_jobs){0};
}
