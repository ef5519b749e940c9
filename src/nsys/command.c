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

enum {
    NSYS_COLUMNS,
    NSYS_WIDTH,
    NSYS_CSV,
    NSYS_JSON,
    NSYS_OUTPUT,
    NSYS_BY,
    NSYS_SORT,
    NSYS_TOP,
    NSYS_STEP,
    NSYS_PEAK,
    NSYS_PLOT,
    NSYS_RANGE,
    NSYS_DOMAIN,
    NSYS_PROCESS,
    NSYS_DEVICE,
    NSYS_STREAM,
    NSYS_COMPAT
};

static const char *const compat_words[] = {"pyprof", NULL};
static const gnomon__cli_option nsys_options[] = {
    [NSYS_COLUMNS] = GNOMON__TEXT("columns", 'c', "LIST",
                                  "the columns of prof, in this order"),
    [NSYS_WIDTH] =
        GNOMON__TEXT("width", 'w', "N", "fit rows into N characters"),
    [NSYS_CSV] = GNOMON__FLAG("csv", "write comma-separated values"),
    [NSYS_JSON] = GNOMON__FLAG("json", "write a JSON array of rows"),
    [NSYS_OUTPUT] =
        GNOMON__FILE("output", 'o', "FILE",
                     "write a profile of all kernels, for the other commands"),
    [NSYS_BY] = GNOMON__WORD("group-by", "WHAT", gnomon__nsys_by_words,
                             "add kernels up by what they are of"),
    [NSYS_SORT] = GNOMON__TEXT("sort", 0, "COLUMN", "order rows by a column"),
    [NSYS_TOP] = GNOMON__TEXT("top", 0, "N", "the first N rows only"),
    [NSYS_STEP] = GNOMON__TEXT("step", 0, "PATTERN",
                               "which ranges are steps, for --group-by step"),
    [NSYS_PEAK] = GNOMON__TEXT(
        "peak", 0, "LIST", "TFLOP/s by type: bf16=989.4,fp32=66.9,GB/s=3350"),
    [NSYS_PLOT] =
        GNOMON__FILE("plot", 0, "FILE.svg", "draw a roofline of the groups"),
    [NSYS_RANGE] = GNOMON__TEXT("range", 0, "PATTERN",
                                "only kernels in a range of such a name"),
    [NSYS_DOMAIN] = GNOMON__TEXT("domain", 0, "NAME",
                                 "only ranges of this domain, or of default"),
    [NSYS_PROCESS] =
        GNOMON__TEXT("process", 0, "ID", "only kernels of this process"),
    [NSYS_DEVICE] = GNOMON__TEXT("device", 0, "N", "only those of this device"),
    [NSYS_STREAM] = GNOMON__TEXT("stream", 0, "N", "only those of this stream"),
    [NSYS_COMPAT] = GNOMON__WORD("compat", "TOOL", compat_words,
                                 "pyprof: the rows that it would print"),
    {.name = NULL}};

static int nsys_run(int argc, char **argv);

const gnomon__command gnomon__command_nsys = {
    .name = "nsys",
    .operands = "parse|prof|REPORT [FILE]",
    .about = "Says which operation each kernel of Nsight Systems is of",
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
        "tc is 1 where the kernel ran on tensor cores, 0 where it could have, "
        "- where\n"
        "there is nothing for them, ? where the name does not tell, na of an\n"
        "operation that is not known. Of a group it is the share of its "
        "time.",
    .options = nsys_options,
    .run = nsys_run,
    .takes_files = 1,
};

typedef struct nsys_job {
    gnomon__nsys_filter filter;
    gnomon__nsys_table table;
    gnomon__nsys_grouping grouping; /* .by -1: none */
    const char *columns, *sort, *output;
    bool prints_lines, has_peaks;
    int report; /* below 0: none */
} nsys_job;

static int set_form(nsys_job *job, enum gnomon__nsys_form form)
{
    const enum gnomon__nsys_form before = job->table.form;
    job->table.form = form;
    return before == GNOMON__NSYS_WORDS || before == form
               ? GNOMON__EXIT_OK
               : gnomon__cli_usage(&gnomon__command_nsys,
                                   "-w, --csv and --json are one or the other");
}

/* A number of at least `least`. */
static int set_number(int option, uint64_t least, int64_t *to)
{
    unsigned long long number;
    char what[64];
    if (gnomon__cli_number(optarg, &number) && number >= least &&
        number <= INT32_MAX) {
        *to = (int64_t)number;
        return GNOMON__EXIT_OK;
    }
    snprintf(what, sizeof what, "--%s takes a number",
             nsys_options[option].name);
    return gnomon__cli_usage(&gnomon__command_nsys, what);
}

static int set_option(nsys_job *job, int option)
{
    int64_t number = 0;
    int status = GNOMON__EXIT_OK;
    switch (option) {
    case NSYS_COLUMNS:
        job->columns = optarg;
        break;
    case NSYS_WIDTH:
        status = set_number(option, 0, &number);
        job->table.width = (int)number;
        return status ? status : set_form(job, GNOMON__NSYS_WIDTH);
    case NSYS_CSV:
        return set_form(job, GNOMON__NSYS_CSV);
    case NSYS_JSON:
        return set_form(job, GNOMON__NSYS_JSON);
    case NSYS_OUTPUT:
        job->output = optarg;
        break;
    case NSYS_BY:
        job->grouping.by = gnomon__cli_word(optarg, gnomon__nsys_by_words);
        break;
    case NSYS_SORT:
        job->sort = optarg;
        break;
    case NSYS_TOP:
        status = set_number(option, 1, &number);
        job->table.limit = (uint64_t)number;
        break;
    case NSYS_STEP:
        job->filter.asked.step = optarg;
        break;
    case NSYS_PEAK:
        job->has_peaks = true;
        return gnomon__peaks_read(&job->grouping.peaks, optarg);
    case NSYS_PLOT:
        job->grouping.plot = optarg;
        break;
    case NSYS_RANGE:
        job->filter.range = optarg;
        break;
    case NSYS_DOMAIN:
        job->filter.asked.domain = optarg;
        break;
    case NSYS_PROCESS:
        return set_number(option, 0, &job->filter.process);
    case NSYS_DEVICE:
        return set_number(option, 0, &job->filter.device);
    case NSYS_STREAM:
        return set_number(option, 0, &job->filter.stream);
    default:
        job->filter.asked.is_pyprofs = true;
    }
    return status;
}

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

static int nsys_run(int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_nsys;
    nsys_job job = {.filter = GNOMON__NSYS_ALL,
                    .grouping = {.by = -1},
                    .table = {.limit = UINT64_MAX, .sort = -1}};
    int option, status = GNOMON__EXIT_OK;
    while ((option = gnomon__cli_next(c, argc, argv)) >= 0 && !status)
        status = set_option(&job, option);
    if (status)
        return status;
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    const int words = argc - optind;
    const int what = words ? nsys_word(argv[optind]) : -1;
    if (words < 1 || words > 2 || what < 0)
        return gnomon__cli_usage(c,
                                 "say parse, prof or a report, and one file");
    if (what != NSYS_PROF && words == 1)
        return gnomon__cli_usage(c, "say which file");
    job.prints_lines = what == NSYS_PARSE;
    job.report = what - NSYS_STATS;
    const char *path =
        words == 2 && strcmp(argv[optind + 1], "-") ? argv[optind + 1] : NULL;
    status = do_job(&job, path);
    free((void *)(size_t)job.grouping.choice.columns);
    return status;
}
