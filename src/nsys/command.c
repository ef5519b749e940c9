/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon nsys: what PyProf did with the databases of Nsight Systems and nvprof. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "command/output.h"
#include "nsys/columns.h"
#include "nsys/records.h"
#include "platform/error.h"

enum { NSYS_COLUMNS, NSYS_WIDTH, NSYS_CSV, NSYS_JSON, NSYS_COMPAT };

static const char *const compat_words[] = {"pyprof", NULL};
static const gnomon__cli_option nsys_options[] = {
    [NSYS_COLUMNS] = {.name = "columns",
                      .letter = 'c',
                      .value = "LIST",
                      .help = "the columns of prof, in this order"},
    [NSYS_WIDTH] = {.name = "width",
                    .letter = 'w',
                    .value = "N",
                    .help = "fit rows into N characters"},
    [NSYS_CSV] = {.name = "csv", .help = "write comma-separated values"},
    [NSYS_JSON] = {.name = "json", .help = "write a JSON array of rows"},
    [NSYS_COMPAT] = {.name = "compat",
                     .value = "TOOL",
                     .words = compat_words,
                     .help = "pyprof: no range that begins or ends with a call "
                             "is around it"},
    {.name = NULL}};

static int nsys_run(int argc, char **argv);

const gnomon__command gnomon__command_nsys = {
    .name = "nsys",
    .operands = "parse|prof [FILE]",
    .about = "Tells the operation of each kernel that Nsight Systems saw",
    .more =
        "FILE is what nsys export --type sqlite wrote, or a database of "
        "nvprof.\n"
        "parse prints a line for each kernel, with the markers around its "
        "launch, as\n"
        "PyProf's parse. prof prints a row for each kernel; it reads a "
        "database, or\n"
        "the lines of parse, also from standard input.\n"
        "Columns: idx, seq, altseq, tid, layer, trace, dir, sub, mod, op, "
        "kernel,\n"
        "params, sil, tc, device, stream, grid, block, flops, bytes. Without "
        "-c:\n"
        "idx, dir, sub, mod, op, kernel, params, sil.\n"
        "tc is 1 where the kernel ran on tensor cores, 0 where it could have, "
        "- where\n"
        "there is nothing for them, ? where the name does not tell, na of an\n"
        "operation that is not known.",
    .options = nsys_options,
    .run = nsys_run,
    .takes_files = 1,
};

typedef struct nsys_job {
    gnomon__nsys_table table;
    const char *columns;
    bool prints_lines, is_strict;
} nsys_job;

static int set_option(nsys_job *job, int option)
{
    const gnomon__command *c = &gnomon__command_nsys;
    unsigned long long width;
    const enum gnomon__nsys_form before = job->table.form;
    switch (option) {
    case NSYS_COLUMNS:
        job->columns = optarg;
        return GNOMON__EXIT_OK;
    case NSYS_COMPAT:
        job->is_strict = true;
        return GNOMON__EXIT_OK;
    case NSYS_WIDTH:
        if (!gnomon__cli_number(optarg, &width) || width > 10000)
            return gnomon__cli_usage(c, "-w takes a number up to 10000");
        job->table.width = (int)width;
        job->table.form = GNOMON__NSYS_WIDTH;
        break;
    default:
        job->table.form =
            option == NSYS_CSV ? GNOMON__NSYS_CSV : GNOMON__NSYS_JSON;
    }
    return before == GNOMON__NSYS_WORDS || before == job->table.form
               ? GNOMON__EXIT_OK
               : gnomon__cli_usage(c,
                                   "-w, --csv and --json are one or the other");
}

#if GNOMON_WITH_SQLITE

/* On standard error: what is missing in the rows. `unknown`: of how many kernels the
 * operation has no figures. `w` NULL: nobody asked. */
static void tell_sums(const gnomon__nsys_records *r, const gnomon__work *w,
                      uint64_t unknown)
{
    const gnomon__nsys_records_sums s = gnomon__nsys_records_sum(r);
    gnomon__log("%" PRIu64 " kernels, %" PRIu64 " without a call, %" PRIu64
                " in no range; %" PRIu64 " ranges are open at the end",
                s.kernels, s.without_call, s.without_range, s.unclosed);
    if (w)
        gnomon__log("%" PRIu64 " kernels are of an operation without figures",
                    unknown);
    if (w && w->without_forward)
        gnomon__log("%" PRIu64 " backward kernels have a number that no "
                    "forward operation has",
                    w->without_forward);
    if (s.bad_lines)
        gnomon__log("%" PRIu64 " lines were no kernels", s.bad_lines);
}

static int print_all(nsys_job *job, gnomon__nsys_records *records)
{
    gnomon__work w = {0};
    gnomon__nsys_record *r;
    int status = GNOMON__EXIT_OK;
    uint64_t unknown = 0;
    while (!ferror(stdout) &&
           (r = gnomon__nsys_records_next(records, &status))) {
        if (job->prints_lines) {
            gnomon__nsys_record_print(r, stdout);
            continue;
        }
        if (!gnomon__work_of(&w, r)) {
            gnomon__log("no memory for a kernel");
            status = GNOMON__EXIT_UNREADABLE;
            break;
        }
        unknown += !w.is_known;
        gnomon__nsys_row(&job->table, r, &w);
    }
    if (!job->prints_lines)
        gnomon__nsys_foot(&job->table);
    tell_sums(records, job->prints_lines ? NULL : &w, unknown);
    if (!status && !gnomon__nsys_records_sum(records).kernels)
        status = GNOMON__EXIT_NOTHING;
    gnomon__work_free(&w);
    return status;
}

static int print_file(nsys_job *job, const char *path)
{
    gnomon__nsys_records *records;
    int status = gnomon__nsys_records_open(&records, path, job->is_strict);
    job->table.to = stdout;
    if (!status && !job->prints_lines)
        status = gnomon__nsys_head(&job->table);
    if (!status)
        status = print_all(job, records);
    gnomon__nsys_records_free(records);
    return status;
}

#else

static int print_file(nsys_job *job, const char *path)
{
    (void)job;
    gnomon__log("%s: cannot be read: built without SQLite: install "
                "libsqlite3-dev and build again",
                path ? path : "standard input");
    return GNOMON__EXIT_UNREADABLE;
}

#endif

static int nsys_run(int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_nsys;
    nsys_job job = {0};
    int option, status = GNOMON__EXIT_OK;
    while ((option = gnomon__cli_next(c, argc, argv)) >= 0 && !status)
        status = set_option(&job, option);
    if (status)
        return status;
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    const int words = argc - optind;
    if (words < 1 || words > 2 ||
        (strcmp(argv[optind], "parse") && strcmp(argv[optind], "prof")))
        return gnomon__cli_usage(c, "say parse or prof, and one file");
    job.prints_lines = !strcmp(argv[optind], "parse");
    if (job.prints_lines && words == 1)
        return gnomon__cli_usage(c, "parse needs a file");
    status = gnomon__nsys_choose(&job.table, job.columns);
    const char *path =
        words == 2 && strcmp(argv[optind + 1], "-") ? argv[optind + 1] : NULL;
    return status ? status : print_file(&job, path);
}
