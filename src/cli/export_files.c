/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/export_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "export/gzip.h"
#include "export/modules.h"
#include "export/timeline.h"
#include "command/output.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"
#include "profile/model.h"

#define BINS 1024u /* of a time that is split */

/* ---- A file --------------------------------------------------------------------- */

typedef struct file_job {
    const gnomon__export_request *request;
    gnomon__export what;
    const char *path; /* NULL: standard output */
} file_job;

static int is_suffixed(const char *path, const char *suffix)
{
    size_t n = path ? strlen(path) : 0, m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

int gnomon__export_is_gzip(const char *path)
{
    return is_suffixed(path, ".gz");
}

int gnomon__export_is_folder(const char *path)
{
    struct stat about;
    return path && *path &&
           (is_suffixed(path, "/") ||
            (stat(path, &about) == 0 && S_ISDIR(about.st_mode)));
}

/* An exporter reads events until there are no more, or until one cannot be read. */
static int write_events(void *context, const gnomon_writer *out)
{
    const file_job *job = context;
    int code = job->request->exporter->write(&job->what, out);
    for (size_t i = 0; !code && i < job->what.count; i++)
        if (gnomon__profile_failed(job->what.profiles[i]))
            code = gnomon__fail(
                GNOMON_EINVAL, "events cannot be read: their file has changed, "
                               "or there is no memory");
    return code;
}

static int write_file(void *context, int form, const gnomon_writer *out)
{
    const file_job *job = context;
    (void)form;
    return gnomon__export_is_gzip(job->path)
               ? gnomon__gzip(out, write_events, context)
               : write_events(context, out);
}

static int make_file(file_job *job)
{
    job->what.name = job->path;
    return gnomon__cli_make(job->path ? job->path : "-", write_file, job);
}

/* ---- Parts of a time ----------------------------------------------------------------- */

static int count_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)w->context += size;
    return GNOMON_OK;
}

/* Bytes of the export; 0: no memory. */
static uint64_t size_of_export(const file_job *job)
{
    uint64_t size = 0;
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = count_bytes, .context = &size};
    gnomon__export what = job->what;
    what.name = job->path; /* it is in the file */
    return job->request->exporter->write(&what, &w) ? 0 : size;
}

typedef struct time_bins {
    uint64_t first, last, count; /* events, and when they begin */
    uint64_t width;              /* of a bin; 0: they are counted for it */
    uint64_t of[BINS];
} time_bins;

static void meet_events(time_bins *b, const gnomon__export *what)
{
    gnomon__event_cursor at;
    for (size_t i = 0; i < what->count; i++) {
        gnomon__event_cursor_all(&at, what, what->profiles[i]);
        while (gnomon__event_cursor_next(&at)) {
            if (b->width) {
                b->of[(at.begin - b->first) / b->width]++;
                continue;
            }
            b->first = at.begin < b->first ? at.begin : b->first;
            b->last = at.begin > b->last ? at.begin : b->last;
            b->count++;
        }
    }
}

/* When the second half of the events begins. 0: they cannot be split. */
static uint64_t middle_of(const gnomon__export *what)
{
    time_bins b = {.first = UINT64_MAX};
    uint64_t before = 0;
    size_t i = 0;
    meet_events(&b, what);
    if (b.count < 2 || b.first == b.last)
        return 0;
    b.width = (b.last - b.first) / BINS + 1;
    meet_events(&b, what);
    while (i < BINS && before + b.of[i] <= b.count / 2)
        before += b.of[i++];
    i += before == 0; /* never an empty half */
    const uint64_t middle = b.first + i * b.width;
    return middle > b.first && middle <= b.last ? middle : b.last;
}

/* ---- Files of at most a size --------------------------------------------------------- */

/* "a/trace.json.gz" and 2 are "a/trace.2.json.gz". NULL: no memory. */
static char *numbered(const char *path, unsigned number)
{
    const char *slash = strrchr(path, '/');
    const char *point = strchr(slash ? slash + 1 : path, '.');
    size_t stem = point ? (size_t)(point - path) : strlen(path);
    size_t room = strlen(path) + 16;
    char *name = gnomon__alloc(room);
    if (name)
        (void)snprintf(name, room, "%.*s.%u%s", (int)stem, path, number,
                       path + stem);
    return name;
}

/* In halves of halves, each its time's; the order of files is that of time. What cannot
 * be split is one file, of any size. */
static int make_parts(const file_job *job, unsigned *number, int depth)
{
    file_job first = *job, second = *job;
    char *name = numbered(job->path, *number + 1);
    int status = GNOMON__EXIT_UNREADABLE;
    first.path = name;
    if (!name) {
        gnomon__log("no memory for the name of a file");
    } else if (size_of_export(&first) <= job->request->max || depth == 40 ||
               !(second.what.from_unix_ns = middle_of(&job->what))) {
        ++*number;
        status = make_file(&first);
    } else {
        first.path = job->path;
        first.what.until_unix_ns = second.what.from_unix_ns;
        if (!second.what.until_unix_ns)
            second.what.until_unix_ns = UINT64_MAX;
        status = make_parts(&first, number, depth + 1);
        status =
            gnomon__cli_worse(status, make_parts(&second, number, depth + 1));
    }
    gnomon__free(name);
    return status;
}

/* Each file has the names and numbers of all: where these alone take most of its bytes,
 * there would be thousands. */
static int check_max(const file_job *job)
{
    file_job empty = *job;
    empty.what.from_unix_ns = empty.what.until_unix_ns = 1;
    const uint64_t least = 2 * size_of_export(&empty);
    if (least <= job->request->max)
        return GNOMON__EXIT_OK;
    gnomon__log(
        "--max: what each file of %s needs, besides what happened in its "
        "time, takes %" PRIu64 " KiB: say at least %" PRIu64 "KiB",
        job->request->exporter->name, (least / 2 + 1023) / 1024,
        (least + 1023) / 1024);
    return GNOMON__EXIT_USAGE;
}

static int make_files(file_job *job)
{
    const uint64_t max = job->request->max;
    unsigned number = 0;
    if (!max || !job->path || size_of_export(job) <= max)
        return make_file(job);
    int status = check_max(job);
    return status ? status : make_parts(job, &number, 0);
}

int gnomon__export_files(const gnomon__export_request *r,
                         const gnomon_profile *const *profiles, size_t count,
                         const char *path)
{
    gnomon__export_span *spans = gnomon__alloc((count + 1) * sizeof *spans);
    file_job job = {.request = r,
                    .what = {.profiles = profiles,
                             .count = count,
                             .for_tensorboard = !r->reader,
                             .metric = r->metric < 0 ? 0 : r->metric,
                             .layer = r->modules ? gnomon__chrome_layer : NULL,
                             .spans = spans},
                    .path = path && strcmp(path, "-") != 0 ? path : NULL};
    for (size_t i = 0; spans && i < count; i++)
        spans[i].is_known = gnomon__profile_span(
            profiles[i], &spans[i].from_unix_ns, &spans[i].until_unix_ns);
    int status = make_files(&job);
    gnomon__free(spans);
    return status;
}

/* ---- Folders ------------------------------------------------------------------------------ */

static int is_made(const gnomon__export_request *r, const char *path)
{
    for (size_t i = 0; i < r->made_count; i++)
        if (strcmp(r->made[i], path) == 0)
            return 1;
    return 0;
}

/* As torch.profiler's handler for TensorBoard: host, process, and when it was taken. */
int gnomon__export_into_folder(gnomon__export_request *r,
                               const gnomon_profile *profile)
{
    gnomon_run_info run;
    if (gnomon_profile_run(profile, 1, &run))
        run = gnomon__no_run;
    const char *host = run.host[0] ? run.host : "host";
    const char *extension = strcmp(r->exporter->name, "chrome") == 0
                                ? ".pt.trace.json"
                                : r->exporter->extension;
    size_t room = strlen(r->to) + strlen(host) + 96;
    char *path = gnomon__alloc(room);
    uint64_t moment = run.zero_unix_ns + run.now_ns;
    if (!path) {
        gnomon__log("no memory for the name of a file");
        return GNOMON__EXIT_UNREADABLE;
    }
    int n =
        snprintf(path, room, "%s%s", r->to, is_suffixed(r->to, "/") ? "" : "/");
    (void)mkdir(r->to, 0777); /* what is wrong with it is told below */
    do {                      /* until no FILE before has this name */
        (void)snprintf(path + n, room - (size_t)n,
                       "%s_%" PRId64 ".%" PRIu64 "%s", host, run.pid, moment++,
                       extension);
        for (char *c = path + n; *c; c++)
            if (*c == '/')
                *c = '_';
    } while (is_made(r, path));
    r->made[r->made_count++] = path;
    return gnomon__export_files(r, &profile, 1, path);
}
