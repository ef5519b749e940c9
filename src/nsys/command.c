/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon nsys: what PyProf did with the databases of Nsight Systems and nvprof. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/inputs.h"
#include "command/output.h"
#include "nsys/columns.h"
#include "nsys/groups.h"
#include "nsys/stats.h"
#include "nsys/tree.h"
#include "platform/error.h"

extern const gnomon__command gnomon__command_nsys;
static const char *const compat_words[] = {"pyprof", NULL};
typedef struct nsys_job {
    gnomon__nsys_filter filter;
    gnomon__nsys_table table;
    gnomon__nsys_grouping grouping; /* .by -1: none */
    const char *columns, *sort, *output;
    int compat; /* 0: as PyProf; -1: not */
    bool prints_lines, has_peaks;
    int report; /* below 0: none */
} nsys_job;

/* A number of at least `least`; 0: it is none, which is logged. */
static int read_number(const gnomon__cli_option *o, uint64_t least,
                       const char *value, int64_t *to)
{
    unsigned long long number;
    char what[64];
    if (gnomon__cli_number(value, &number) && number >= least &&
        number <= INT32_MAX) {
        *to = (int64_t)number;
        return 1;
    }
    snprintf(what, sizeof what, "--%s takes a number", o->name);
    return !gnomon__cli_usage(&gnomon__command_nsys, what);
}

/* One of -w, --csv and --json. */
static int set_form(void *job, const gnomon__cli_option *o, const char *value)
{
    gnomon__nsys_table *t = &((nsys_job *)job)->table;
    const enum gnomon__nsys_form before = t->form;
    int64_t width = 0;
    if (value && !read_number(o, 0, value, &width))
        return 0;
    t->width = value ? (int)width : t->width;
    t->form = value               ? GNOMON__NSYS_WIDTH
              : o->name[0] == 'c' ? GNOMON__NSYS_CSV
                                  : GNOMON__NSYS_JSON;
    return before == GNOMON__NSYS_WORDS || before == t->form ||
           !gnomon__cli_usage(&gnomon__command_nsys,
                              "use only one of -w, --csv and --json");
}

static int set_top(void *job, const gnomon__cli_option *o, const char *value)
{
    int64_t top = 0;
    const int ok = read_number(o, 1, value, &top);
    ((nsys_job *)job)->table.limit = (uint64_t)top;
    return ok;
}

static int set_number(void *job, const gnomon__cli_option *o, const char *value)
{
    return read_number(o, 0, value, (void *)((char *)job + o->to));
}

static int set_peaks(void *job, const gnomon__cli_option *o, const char *value)
{
    (void)o;
    ((nsys_job *)job)->has_peaks = true;
    return !gnomon__peaks_read(&((nsys_job *)job)->grouping.peaks, value);
}

static const gnomon__cli_option nsys_options[] = {
    GNOMON__TEXT("columns", 'c', "LIST", "the columns of prof, in this order",
                 GNOMON__TO(nsys_job, columns)),
    GNOMON__TEXT("width", 'w', "N", "fit rows into N characters",
                 .take = set_form),
    GNOMON__FLAG("csv", "write comma-separated values", .take = set_form),
    GNOMON__FLAG("json", "write a JSON array of rows", .take = set_form),
    GNOMON__FILE("output", 'o', "FILE",
                 "write a profile of all kernels, for the other commands",
                 GNOMON__TO(nsys_job, output)),
    GNOMON__WORD("group-by", "WHAT", gnomon__nsys_by_words,
                 "add up kernels by what they belong to",
                 GNOMON__TO(nsys_job, grouping.by)),
    GNOMON__TEXT("sort", 0, "COLUMN", "order rows by a column",
                 GNOMON__TO(nsys_job, sort)),
    GNOMON__TEXT("top", 0, "N", "the first N rows only", .take = set_top),
    GNOMON__TEXT("step", 0, "PATTERN",
                 "which ranges are steps, for --group-by step",
                 GNOMON__TO(nsys_job, filter.asked.step)),
    GNOMON__TEXT("peak", 0, "LIST",
                 "TFLOP/s by type: bf16=989.4,fp32=66.9,GB/s=3350",
                 .take = set_peaks),
    GNOMON__FILE("plot", 0, "FILE.svg", "draw a roofline of the groups",
                 GNOMON__TO(nsys_job, grouping.plot)),
    GNOMON__TEXT("range", 0, "PATTERN", "only kernels in a range of this name",
                 GNOMON__TO(nsys_job, filter.range)),
    GNOMON__TEXT("domain", 0, "NAME",
                 "only ranges of this domain, or of default",
                 GNOMON__TO(nsys_job, filter.asked.domain)),
    GNOMON__TEXT("process", 0, "ID", "only kernels of this process",
                 GNOMON__TO(nsys_job, filter.process), .take = set_number),
    GNOMON__TEXT("device", 0, "N", "only those of this device",
                 GNOMON__TO(nsys_job, filter.device), .take = set_number),
    GNOMON__TEXT("stream", 0, "N", "only those of this stream",
                 GNOMON__TO(nsys_job, filter.stream), .take = set_number),
    GNOMON__WORD("compat", "TOOL", compat_words,
                 "pyprof: the rows that it would print",
                 GNOMON__TO(nsys_job, compat)),
    {.name = NULL}};

#if GNOMON_WITH_SQLITE

/* Columns and order, of rows or of groups. */
static int choose_columns(nsys_job *job)
{
    gnomon__nsys_table *t = &job->table;
    if (job->grouping.by < 0 && (job->has_peaks || job->grouping.plot))
        job->grouping.by = GNOMON__NSYS_BY_OP;
    if (job->grouping.by < 0) {
        t->sort = job->sort ? gnomon__nsys_column("--sort", job->sort,
                                                  strlen(job->sort))
                            : -1;
        return job->sort && t->sort < 0 ? GNOMON__EXIT_USAGE
                                        : gnomon__nsys_choose(t, job->columns);
    }
    if (t->form == GNOMON__NSYS_WIDTH)
        return gnomon__cli_usage(&gnomon__command_nsys,
                                 "groups have no -w: they fit the terminal");
    const int status =
        gnomon__nsys_groups_choose(&job->grouping, job->columns, job->sort);
    gnomon__table_choice *choice = &job->grouping.choice;
    choice->limit = t->limit > SIZE_MAX ? SIZE_MAX : (size_t)t->limit;
    choice->format = t->form == GNOMON__NSYS_CSV    ? GNOMON__TABLE_CSV
                     : t->form == GNOMON__NSYS_JSON ? GNOMON__TABLE_JSON
                                                    : GNOMON__TABLE_TEXT;
    return status;
}

static int no_memory(void)
{
    gnomon__log("no memory for a kernel");
    return GNOMON__EXIT_UNREADABLE;
}

static int print_rows(nsys_job *job, gnomon__nsys_kernels *k)
{
    const gnomon__nsys_record *r;
    int status = GNOMON__EXIT_OK;
    if (isatty(STDOUT_FILENO))
        gnomon__progress_end(); /* rows show how far it is */
    k->only_reads = job->prints_lines;
    if (!job->prints_lines)
        status = gnomon__nsys_head(&job->table);
    while (!status && !ferror(stdout) && (r = gnomon__nsys_kernel_next(k)))
        if (job->prints_lines)
            gnomon__nsys_record_print(r, stdout);
        else if (!gnomon__nsys_row(&job->table, r, &k->work))
            status = no_memory();
    if (!job->prints_lines && status != GNOMON__EXIT_USAGE &&
        !gnomon__nsys_foot(&job->table))
        status = no_memory();
    return status ? status : k->status;
}

static int write_profile(const char *path, gnomon__nsys_kernels *k)
{
    const gnomon__nsys_record *r;
    gnomon__nsys_tree tree;
    bool ok = gnomon__nsys_tree_begin(&tree);
    while (ok && (r = gnomon__nsys_kernel_next(k)))
        ok = gnomon__nsys_tree_add(&tree, r, &k->work);
    int status = ok ? k->status : no_memory();
    if (!status)
        status = gnomon__cli_save(gnomon__nsys_tree_end(&tree), path);
    gnomon__nsys_tree_free(&tree);
    return status;
}

/* As PyProf: the reader has seen enough. */
static void end_well(int number)
{
    (void)number;
    _exit(GNOMON__EXIT_OK);
}

static int read_kernels(nsys_job *job, const char *path)
{
    const gnomon_writer out = gnomon__cli_writer(stdout);
    gnomon__nsys_kernels k;
    int status = gnomon__nsys_kernels_open(&k, path, &job->filter);
    job->table.to = stdout;
    if (!status && job->grouping.by == GNOMON__NSYS_BY_STEP &&
        !job->filter.asked.step && !gnomon__nsys_records_are_own(k.records))
        status =
            gnomon__cli_usage(&gnomon__command_nsys,
                              "say which ranges are steps: --step PATTERN");
    if (status) {
        gnomon__nsys_kernels_free(&k);
        return status;
    }
    if (job->output)
        status = write_profile(job->output, &k);
    else if (job->grouping.by >= 0)
        status = gnomon__nsys_groups_print(&k, &job->grouping, &out);
    else
        status = print_rows(job, &k);
    gnomon__progress_end();
    if (!status || status == GNOMON__EXIT_NOTHING)
        gnomon__nsys_kernels_tell(&k);
    gnomon__nsys_kernels_free(&k);
    return status;
}

static int do_job(nsys_job *job, const char *path)
{
    char *paths[] = {(char *)(size_t)path};
    const gnomon__cli_inputs input = {paths, path != NULL, 1};
    int status = job->report < 0 ? choose_columns(job) : GNOMON__EXIT_OK;
    if (status)
        return status;
    (void)signal(SIGPIPE, end_well);
    gnomon__progress_begin(&input);
    gnomon__progress_show();
    status = job->report < 0
                 ? read_kernels(job, path)
                 : gnomon__nsys_stats(job->report, path, &job->filter,
                                      job->table.form, job->table.limit);
    gnomon__progress_end();
    return status;
}

#else

static int do_job(nsys_job *job, const char *path)
{
    (void)job;
    gnomon__log("%s: cannot be read: built without SQLite: install "
                "libsqlite3-dev and build again",
                path ? path : "standard input");
    return GNOMON__EXIT_UNREADABLE;
}

#endif

/* What the first operand is; -1: neither. */
enum { NSYS_PARSE, NSYS_PROF, NSYS_STATS };
static int nsys_word(const char *word)
{
    static const char *const words[] = {"parse", "prof", NULL};
    const int report = gnomon__cli_word(word, gnomon__nsys_stats_names);
    return report < 0 ? gnomon__cli_word(word, words) : NSYS_STATS + report;
}

static int nsys_run(const gnomon__command *c, int argc, char **argv)
{
    nsys_job job = {.filter = GNOMON__NSYS_ALL,
                    .grouping = {.by = -1},
                    .table = {.limit = UINT64_MAX, .sort = -1},
                    .compat = -1};
    int status = gnomon__cli_read(c, argc, argv, &job);
    if (status != GNOMON__CLI_END)
        return status;
    job.filter.asked.is_pyprofs = !job.compat;
    const int words = argc - optind;
    const int what = words ? nsys_word(argv[optind]) : -1;
    if (words < 1 || words > 2 || what < 0)
        return gnomon__cli_usage(c,
                                 "say parse, prof or a report, and one file");
    if (what != NSYS_PROF && words == 1)
        return gnomon__cli_usage(c, "say which file");
    job.prints_lines = what == NSYS_PARSE;
    job.report = what - NSYS_STATS;
    const char *path = words == 2 && strcmp(argv[optind + 1], "-") != 0
                           ? argv[optind + 1]
                           : NULL;
    status = do_job(&job, path);
    free((void *)(size_t)job.grouping.choice.columns);
    return status;
}

const gnomon__command gnomon__command_nsys = {
    .name = "nsys",
    .operands = "parse|prof|REPORT [FILE]",
    .about = "Says to which operation each kernel of Nsight Systems belongs",
    .more =
        "FILE is what nsys export --type sqlite wrote, a database of nvprof, "
        "or for\n"
        "prof a profile of gnomon's own, with work of a device.\n"
        "parse prints a line for each kernel, with the markers around its "
        "launch, as\n"
        "PyProf's parse. prof prints a row for each kernel; it reads a "
        "database, or\n"
        "the lines of parse, also from standard input. REPORT is one of nsys "
        "stats:\n"
        "nvtx_sum, nvtx_gpu_proj_sum, nvtx_gpu_proj_trace, nvtx_kern_sum, "
        "cuda_api_sum,\n"
        "cuda_gpu_kern_sum, cuda_gpu_mem_time_sum or cuda_gpu_mem_size_sum.\n"
        "Columns: idx, seq, altseq, tid, layer, trace, dir, sub, mod, op, "
        "kernel,\n"
        "params, sil, tc, device, stream, grid, block, flops, bytes. Without "
        "-c:\n"
        "idx, dir, sub, mod, op, kernel, params, sil. --group-by adds up by "
        "op, "
        "module,\n"
        "layer, kernel, range, step or collective; its columns are name, "
        "kernels,\n"
        "sum, share, union, min, max, tc, flops, bytes, intensity, tflops,\n"
        "peak_tflops, tflops_share, gbs, peak_gbs, gbs_share, roof_share, "
        "wall, mfu,\n"
        "hfu, exposed, message, algbw_gbs, busbw_gbs.\n"
        "tc is 1 if the kernel ran on tensor cores, 0 if it could have, - if "
        "they cannot\n"
        "do its work, ? if its name does not say, na if its operation is not "
        "known. For a\n"
        "group it is the share of its time.",
    .options = nsys_options,
    .run = nsys_run,
    .takes_files = 1,
};
