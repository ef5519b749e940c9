/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * advanced: the report of Lightning's AdvancedProfiler, cProfile's table for each
 * action, byte for byte, and its .prof files. Unlike in the original, an
 * action is measured also while others run inside it, and on every thread.
 *
 * A pure function from a profile of one stage to text and files; all of it is
 * src/print's. All memory is taken before the first byte is written, so that a
 * report is complete or not written at all. Compiled with src/print and -shared it is a
 * plugin that prints the same bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/advanced.h"
#include "print/function_table.h"
#include "print/letters.h"
#include "print/prof.h"
#include "print/pstats.h"
#include "print/python.h"

enum advanced_dump { ADVANCED_NO_FILES, ADVANCED_ACTIONS, ADVANCED_RUN };

typedef struct advanced_settings {
    gnomon__table_choice table; /* the first: see there */
    gnomon__restriction cut;
    int dump; /* advanced_dump */
    int sort; /* gnomon__pstats_key */
} advanced_settings;

/* ---- Options --------------------------------------------------------------- */

static bool advanced_read_cut(advanced_settings *s, const char *text)
{
    bool is_float;
    if (!gnomon__python_number(text, &is_float, &s->cut.count,
                               &s->cut.fraction))
        return false;
    s->cut.is_fraction = is_float;
    return true;
}

static bool advanced_read_dump(advanced_settings *s, const char *text)
{
    static const struct advanced_word {
        const char *word;
        int dump;
    } words[] = {{"false", ADVANCED_NO_FILES}, {"no", ADVANCED_NO_FILES},
                 {"off", ADVANCED_NO_FILES},   {"0", ADVANCED_NO_FILES},
                 {"true", ADVANCED_ACTIONS},   {"yes", ADVANCED_ACTIONS},
                 {"on", ADVANCED_ACTIONS},     {"1", ADVANCED_ACTIONS},
                 {"run", ADVANCED_RUN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (gnomon__print_same_word(text, strlen(text), words[i].word)) {
            s->dump = words[i].dump;
            return true;
        }
    }
    return false;
}

static const advanced_settings advanced_preset = {
    .cut = {.fraction = 1.0, .is_fraction = 1},
    .dump = ADVANCED_NO_FILES,
    .sort = GNOMON__PSTATS_CUMULATIVE,
    .table = {.limit = SIZE_MAX, .sort = -1}};

/* Logs a wrong value; the default is used instead. */
static void advanced_complain(const gnomon_options *options, const char *key,
                              const char *hint)
{
    char line[160];
    snprintf(line, sizeof line, "advanced: %s=%.48s: %s", key,
             options->text(options, key), hint);
    options->log(line);
}

static int advanced_create(const gnomon_options *options, void **self)
{
    advanced_settings *s = calloc(1, sizeof *s);
    const char *cut = options->text(options, "line_count_restriction");
    const char *dump = options->text(options, "dump_stats");
    const char *sort = options->text(options, "sort");
    if (!s)
        return GNOMON_ENOMEM;
    *s = advanced_preset;
    if (cut && !advanced_read_cut(s, cut))
        advanced_complain(options, "line_count_restriction",
                          "say a count (10) or a fraction (0.5)");
    if (options->text(options, "limit"))
        s->cut =
            (gnomon__restriction){.count = options->number(options, "limit")};
    if (options->text(options, "limit") && s->cut.count < 1) {
        advanced_complain(options, "limit", "say how many rows, from 1");
        s->cut = advanced_preset.cut;
    }
    if (dump && !advanced_read_dump(s, dump))
        advanced_complain(options, "dump_stats", "say true, false or run");
    if (sort && gnomon__pstats_key(sort) < 0)
        advanced_complain(options, "sort",
                          "say cumulative, time, calls, "
                          "pcalls, name, filename, line, nfl or stdname");
    else if (sort)
        s->sort = gnomon__pstats_key(sort);
    gnomon__table_choose_shown(&s->table, "advanced", gnomon__function_columns,
                               GNOMON__FUNCTION_COLUMNS, options);
    s->table.by = gnomon__groups_choose("advanced", GNOMON__BY_THREAD,
                                        GNOMON__BY_FILE, options);
    s->table.is_table = gnomon__table_is_asked_for(&s->table);
    *self = s;
    return GNOMON_OK;
}

/* ---- The report ------------------------------------------------------------ */

typedef struct advanced_report {
    const advanced_settings *settings;
    gnomon__calls *calls;
    gnomon__pstats *pstats;
    unsigned char *bytes; /* of the largest .prof */
    char *root;           /* its first row */
    const char *stage;    /* "": none */
    int32_t rank;         /* -1: not known, or the only one */
    const gnomon_writer *out;
} advanced_report;

/* The stage of the profile, where there is one alone; and the rank. */
static void advanced_title(advanced_report *r, const gnomon_profile *profile)
{
    gnomon_stage_info stage;
    gnomon_run_info run;
    r->stage = "";
    r->rank = -1;
    if (gnomon_profile_count(profile, GNOMON_STAGES) == 1 &&
        gnomon_profile_stage(profile, 1, &stage) == GNOMON_OK && stage.name)
        r->stage = stage.name;
    if (gnomon_profile_run(profile, 1, &run) == GNOMON_OK && run.world_size > 1)
        r->rank = run.rank;
}

/* The number of files, and the table of each. A table in a file has a root row: so it
 * is a tree, as viewers want, and is never empty. */
static size_t advanced_files(const advanced_report *r)
{
    return r->settings->dump == ADVANCED_NO_FILES ? 0
           : r->settings->dump == ADVANCED_RUN    ? 1
                                               : gnomon__calls_count(r->calls);
}

static const gnomon__functions *advanced_table(const advanced_report *r,
                                               size_t file)
{
    size_t which = r->settings->dump == ADVANCED_RUN ? GNOMON__CALLS_ALL : file;
    return gnomon__calls_table(r->calls, which, r->root);
}

/* Room for each file in turn. */
static bool advanced_take_bytes(advanced_report *r)
{
    size_t length = strlen(r->stage) + sizeof "<gnomon >", most = 1;
    r->root = calloc(1, length);
    if (!r->root)
        return false;
    snprintf(r->root, length, "<gnomon%s%s>", *r->stage ? " " : "", r->stage);
    for (size_t i = 0; i < advanced_files(r); i++) {
        size_t size = gnomon__prof_size(advanced_table(r, i));
        most = size > most ? size : most;
    }
    r->bytes = calloc(1, most);
    return r->bytes != NULL;
}

static bool advanced_take(advanced_report *r, const gnomon_profile *profile)
{
    if (gnomon__calls_make(&r->calls, profile) != GNOMON_OK)
        return false;
    if (gnomon__pstats_make(&r->pstats, gnomon__calls_most_rows(r->calls),
                            gnomon__calls_most_callers(r->calls)) != GNOMON_OK)
        return false;
    return advanced_files(r) == 0 || advanced_take_bytes(r);
}

static void advanced_give(advanced_report *r)
{
    gnomon__calls_free(r->calls);
    gnomon__pstats_free(r->pstats);
    free(r->bytes);
    free(r->root);
}

static int advanced_print(const advanced_report *r)
{
    int code = gnomon__advanced_title(r->stage, r->out);
    for (size_t i = 0; i < gnomon__calls_count(r->calls); i++)
        code = gnomon__advanced_action(
            r->pstats, gnomon__calls_name(r->calls, i), r->rank,
            r->settings->sort, &r->settings->cut,
            gnomon__calls_table(r->calls, i, NULL), r->out);
    return code;
}

/* The column that a word of pstats orders by. */
static int advanced_column(int key)
{
    switch (key) {
    case GNOMON__PSTATS_TIME:
        return GNOMON__FUNCTION_SELF;
    case GNOMON__PSTATS_CALLS:
        return GNOMON__FUNCTION_CALLS;
    case GNOMON__PSTATS_PRIMITIVE:
        return GNOMON__FUNCTION_PRIMITIVE;
    case GNOMON__PSTATS_CUMULATIVE:
        return GNOMON__FUNCTION_CUMULATIVE;
    case GNOMON__PSTATS_FILE:
        return GNOMON__FUNCTION_FILE;
    case GNOMON__PSTATS_LINE:
        return GNOMON__FUNCTION_LINE;
    default:
        return GNOMON__FUNCTION_NAME;
    }
}

/* A restriction to a fraction of the rows holds in the text only. */
static int advanced_print_table(const advanced_report *r,
                                const gnomon_profile *profile)
{
    const advanced_settings *s = r->settings;
    gnomon__table_choice choice = s->table;
    choice.sort = advanced_column(s->sort);
    if (!s->cut.is_fraction && s->cut.count >= 0)
        choice.limit = (size_t)s->cut.count;
    return gnomon__function_table_print(r->calls, &choice, profile, r->out);
}

/* The writer has said why where one cannot be written; the others will not be
 * either, and the report stands without them. */
static void advanced_dump(const advanced_report *r)
{
    const gnomon_writer *out = r->out;
    size_t reach = offsetof(gnomon_writer, file) + sizeof out->file;
    int code =
        out->struct_size >= reach && out->file ? GNOMON_OK : GNOMON_ENOENT;
    for (size_t i = 0; code == GNOMON_OK && i < advanced_files(r); i++) {
        const gnomon__functions *table = advanced_table(r, i);
        bool is_run = r->settings->dump == ADVANCED_RUN;
        gnomon__prof_write(table, r->bytes);
        code = out->file(out, is_run ? NULL : gnomon__calls_name(r->calls, i),
                         ".prof", r->bytes, gnomon__prof_size(table));
    }
}

static int advanced_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    /* Attached from C, there may be no settings. */
    advanced_report r = {.settings = self ? self : &advanced_preset,
                         .out = out};
    int code = GNOMON_ENOMEM;
    if (!profile)
        return GNOMON_EINVAL;
    advanced_title(&r, profile);
    if (advanced_take(&r, profile)) {
        code = r.settings->table.is_table ? advanced_print_table(&r, profile)
                                          : advanced_print(&r);
        advanced_dump(&r);
    }
    advanced_give(&r);
    return code;
}

static const gnomon_option_info advanced_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "line_count_restriction",
     .type = GNOMON_OPTION_TEXT,
     .preset = "1.0",
     .help = "rows of a table: a count (10) or, with a point, a fraction"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .help = "the most rows of a table: the same, as other reports call it"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "dump_stats",
     .type = GNOMON_OPTION_TEXT,
     .preset = "false",
     .help = "true: a .prof file for each action; run: one of all"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "sort",
     .type = GNOMON_OPTION_TEXT,
     .help = "what rows are ordered by, a word of pstats: time, calls, ..."},
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("by", TEXT, "thread, rank, host, category or file"),
    GNOMON__TABLE_OPTION("format", TEXT, "text, csv, md or json"),
    {.key = NULL}};

static const gnomon_profiler advanced = {
    .struct_size = sizeof advanced,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "advanced",
    .help = "cProfile's table for each action, and .prof files",
    .options = advanced_options,
    .create = advanced_create,
    .summary = advanced_summary,
    .destroy = free,
};

GNOMON_PLUGIN(advanced);
