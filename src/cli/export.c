/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon export: profiles in the formats of other tools. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/export_files.h"
#include "command/command.h"
#include "export/gzip.h"
#include "command/inputs.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "spec/options.h"

static const gnomon__exporter *const exporters[] = {
    &gnomon__export_chrome,   &gnomon__export_csv,  &gnomon__export_to_json,
    &gnomon__export_perfetto, &gnomon__export_prof, &gnomon__export_speedscope,
    &gnomon__export_stacks,
};
#define EXPORTERS (sizeof exporters / sizeof *exporters)

/* In the order of the exporters. */
static const char *const export_words[] = {
    "chrome", "csv", "json", "perfetto", "prof", "speedscope", "stacks", NULL};
static const char *const export_readers[] = {"tensorboard", NULL};
/* In the order of gnomon__stacks_metric. */
static const char *const export_metrics[] = {"time", "flops", "allocated",
                                             NULL};

static int parse_size(void *request, const gnomon__cli_option *option,
                      const char *word)
{
    gnomon__export_request *r = request;
    char why[120];
    int64_t number;
    if (gnomon__option_parse(GNOMON_OPTION_BYTES, word, &number, why,
                             sizeof why)) {
        gnomon__log("--%s %s: %s", option->name, word, why);
        return 0;
    }
    if (number < GNOMON__EXPORT_LEAST) {
        gnomon__log("--%s %s: say at least 64KiB", option->name, word);
        return 0;
    }
    r->max = (uint64_t)number;
    return 1;
}

static const gnomon__cli_option export_options[] = {
    GNOMON__WORD("to", "FORMAT", export_words,
                 "chrome, csv, json, perfetto, prof, speedscope "
                 "or stacks; else the ending of OUT says it",
                 GNOMON__TO(gnomon__export_request, which)),
    GNOMON__FILE("output", 'o', "OUT",
                 "a file to write, or a folder for a file of each FILE",
                 GNOMON__TO(gnomon__export_request, to)),
    GNOMON__WORD("for", "TOOL", export_readers,
                 "with chrome: categories that this tool knows: tensorboard",
                 GNOMON__TO(gnomon__export_request, reader)),
    GNOMON__WORD("metric", "METRIC", export_metrics,
                 "with stacks: what their lines count: time, which is the "
                 "default, flops or allocated (bytes)",
                 GNOMON__TO(gnomon__export_request, metric)),
    GNOMON__FLAG("modules",
                 "with chrome: layers as modules of torch, for TensorBoard",
                 GNOMON__TO(gnomon__export_request, modules)),
    GNOMON__TEXT("max", 0, "SIZE",
                 "several files, by time, each at most this large",
                 .take = parse_size),
    {.name = NULL}};

/* ---- Options -------------------------------------------------------------------- */

static size_t ends_with(const char *path, size_t size, const char *ending)
{
    const size_t n = strlen(ending);
    return size > n && strncmp(path + size - n, ending, n) == 0 ? n : 0;
}

/* The format of a file of this name: of several endings the longest. NULL: not known. */
static const gnomon__exporter *exporter_of_path(const char *path)
{
    const gnomon__exporter *found = NULL;
    size_t longest = 0, size = strlen(path), n;
    size -= ends_with(path, size, ".gz");
    for (size_t i = 0; i < EXPORTERS; i++)
        if ((n = ends_with(path, size, exporters[i]->extension)) > longest) {
            found = exporters[i];
            longest = n;
        }
    return ends_with(path, size, ".perfetto-trace") ? &gnomon__export_perfetto
                                                    : found;
}

static int check_options(const gnomon__command *c, gnomon__export_request *r,
                         int has_files)
{
    if (r->which >= 0)
        r->exporter = exporters[r->which];
    else if (r->to)
        r->exporter = exporter_of_path(r->to);
    if (!r->exporter)
        return gnomon__cli_usage(c, "--to says which format");
    if (r->metric >= 0 && r->exporter != &gnomon__export_stacks)
        return gnomon__cli_usage(c, "--metric is for --to stacks");
    if ((r->modules || r->reader >= 0) && r->exporter != &gnomon__export_chrome)
        return gnomon__cli_usage(c, "--for and --modules are for --to chrome");
    if (!has_files)
        return gnomon__cli_usage(c, "no file is named");
    if (r->max && (!r->to || strcmp(r->to, "-") == 0))
        return gnomon__cli_usage(c, "--max makes several files: -o says where");
    if (gnomon__export_is_gzip(r->to) && !gnomon__gzip_is_there()) {
        gnomon__log("%s: this program was built without zlib: leave out .gz",
                    r->to);
        return GNOMON__EXIT_USAGE;
    }
    return GNOMON__CLI_END;
}

/* ---- Profiles --------------------------------------------------------------------- */

/* Whether the format has events and nothing else of what was recorded. */
static int is_of_events(const gnomon__exporter *e)
{
    return e == &gnomon__export_chrome || e == &gnomon__export_perfetto ||
           e == &gnomon__export_csv;
}

/* Those that are made of the tree lack no event. */
static int shows_events(const gnomon__exporter *e)
{
    return e != &gnomon__export_prof && e != &gnomon__export_stacks;
}

/* Whether a path has what lines of stacks are to count. */
static int has_metric(const gnomon_profile *p, int metric)
{
    gnomon_node_info n;
    int has =
        metric != GNOMON__STACKS_FLOPS && metric != GNOMON__STACKS_ALLOCATED;
    for (size_t i = 1; !has && !gnomon_profile_node(p, i, &n); i++)
        has = metric == GNOMON__STACKS_FLOPS ? n.work && n.work->flops
                                             : n.memory_count != 0;
    return has;
}

/* Says what readers of the export would not see. */
static void note_lacking(const char *path, const gnomon_profile *p,
                         const gnomon__export_request *r)
{
    const gnomon__exporter *e = r->exporter;
    uint64_t lost = 0;
    gnomon_loss_info l;
    if (is_of_events(e) && !gnomon_profile_count(p, GNOMON_EVENTS))
        gnomon__log("%s: no single executions are in it, and so none in the "
                    "export: record them with GNOMON=trace,file=run.gnomon",
                    path);
    if (!has_metric(p, r->metric))
        gnomon__log("%s: %s, so nothing of it is in the export", path,
                    r->metric == GNOMON__STACKS_FLOPS
                        ? "no operation says its flops"
                        : "no memory was recorded");
    for (size_t i = 1; !gnomon_profile_loss(p, i, &l); i++)
        if (strncmp(l.kind, "events_", 7) == 0)
            lost += l.count;
    if (lost && shows_events(e))
        gnomon__log("%s: %llu event%s missing", path, (unsigned long long)lost,
                    lost == 1 ? " is" : "s are");
}

typedef struct file_identity {
    dev_t device;
    ino_t inode; /* 0: no regular file */
} file_identity;

static file_identity identity_of(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode)
               ? (file_identity){s.st_dev, s.st_ino}
               : (file_identity){0};
}

/* Whether both are one file, by whatever names. */
static int is_one_file(file_identity a, file_identity b)
{
    return a.inode && a.inode == b.inode && a.device == b.device;
}

/* An export has not all that a profile has, so it never takes the place of one. */
static int check_output(const gnomon__export_request *r,
                        const gnomon__cli_inputs *in)
{
    file_identity out = identity_of(r->to ? r->to : "-");
    for (size_t i = 0; out.inode && i < in->count; i++)
        if (is_one_file(out, identity_of(in->paths[i]))) {
            gnomon__log("-o %s: it is %s, which the export would replace: say "
                        "another name",
                        r->to, in->paths[i]);
            return GNOMON__EXIT_USAGE;
        }
    return GNOMON__EXIT_OK;
}

/* Whether a file stands in the list before: its events would be there twice. `before`
 * has those of lower numbers, and gets this one. */
static int is_given_before(file_identity *before, const char *path,
                           size_t number)
{
    before[number] = identity_of(path);
    for (size_t i = 0; i < number; i++)
        if (is_one_file(before[i], before[number])) {
            gnomon__log("%s: is given twice: exported once", path);
            return 1;
        }
    return 0;
}

/* Each FILE is an export of its own in a folder; else all are one. */
static int export_all(gnomon__export_request *r, const gnomon__cli_inputs *in)
{
    const gnomon_profile **profiles =
        gnomon__alloc((in->count + 1) * sizeof *profiles);
    file_identity *identities =
        gnomon__alloc((in->count + 1) * sizeof *identities);
    int status = GNOMON__EXIT_OK;
    r->made = gnomon__alloc((in->count + 1) * sizeof *r->made);
    if (!profiles || !identities || !r->made) {
        gnomon__log("no memory to export");
        status = GNOMON__EXIT_UNREADABLE;
    }
    int is_folder = gnomon__export_is_folder(r->to);
    size_t count = 0;
    for (size_t i = 0; profiles && identities && r->made && i < in->count;
         i++) {
        gnomon_profile *p;
        if (is_given_before(identities, in->paths[i], i))
            continue;
        if (gnomon__cli_load(in->paths[i], &p)) {
            status = gnomon__cli_worse(status, GNOMON__EXIT_UNREADABLE);
            continue;
        }
        status =
            gnomon__cli_worse(status, gnomon__cli_log_damage(in->paths[i], p));
        note_lacking(in->paths[i], p, r);
        profiles[count++] = p;
        if (is_folder) {
            status =
                gnomon__cli_worse(status, gnomon__export_into_folder(r, p));
            gnomon_profile_free(p);
            count = 0;
        }
    }
    if (count)
        status = gnomon__cli_worse(
            status, gnomon__export_files(r, profiles, count, r->to));
    while (count)
        gnomon_profile_free((gnomon_profile *)(size_t)profiles[--count]);
    while (r->made && r->made_count)
        gnomon__free(r->made[--r->made_count]);
    gnomon__free(r->made);
    gnomon__free(identities);
    gnomon__free(profiles);
    return status;
}

static int export_run(const gnomon__command *c, int argc, char **argv)
{
    gnomon__export_request r = {.which = -1, .reader = -1, .metric = -1};
    gnomon__cli_inputs in = {0};
    int status = gnomon__cli_read(c, argc, argv, &r);
    if (status == GNOMON__CLI_END)
        status = check_options(c, &r, optind < argc);
    if (status != GNOMON__CLI_END)
        return status;
    status = gnomon__cli_expand(&in, argv + optind);
    int is_bad = check_output(&r, &in);
    if (is_bad)
        status = is_bad;
    else if (in.count)
        status = gnomon__cli_worse(status, export_all(&r, &in));
    gnomon__cli_inputs_free(&in);
    return status;
}

const gnomon__command gnomon__command_export = {
    .name = "export",
    .operands = "FILE...",
    .about = "Writes profiles in the formats of other tools",
    .more = "Of OUT.gz the content is compressed. In a folder files have the "
            "names of the\n"
            "tensorboard_trace_handler of torch: HOST_PID.TIME.pt.trace.json. "
            "Without -o the\n"
            "export goes to standard output. With --max 300MiB a trace.json "
            "becomes\n"
            "trace.1.json, trace.2.json and so on; sizes are those before "
            "compression.",
    .options = export_options,
    .run = export_run,
    .takes_files = 1,
};
