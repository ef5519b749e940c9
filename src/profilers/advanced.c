/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * advanced: the report of Lightning's AdvancedProfiler, cProfile's table for each
 * action, byte for byte, and its .prof files. Unlike in the original, an
 * action is measured also while others run inside it, and on every thread. As another
 * table, where columns, groups or a format are asked for, its groups are the actions.
 *
 * A pure function from a profile of one stage to text and files; all of it is
 * src/print's. All memory is taken before the first byte is written, so that a
 * report is complete or not written at all. Compiled with src/print and -shared it is a
 * plugin that prints the same bytes.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "print/letters.h"
#include "print/pstats.h"
#include "print/python.h"
#include "print/rows.h"

#define FUNCTION_COLUMN_LIST(X) \
    X(FUNCTION_NAME, "name", "Function", TEXT, SHOWN, MADE) \
    X(FUNCTION_FILE, "file", "File", TEXT, SHOWN, MADE) \
    X(FUNCTION_LINE, "line", "Line", ID, SHOWN, MADE) \
    X(FUNCTION_CALLS, "calls", "Calls", COUNT, SHOWN, MADE) \
    X(FUNCTION_PRIMITIVE, "primitive", "Primitive", COUNT, EXTRA, MADE) \
    X(FUNCTION_SELF, "self", "Self", TIME, SHOWN, MADE) \
    X(FUNCTION_CUMULATIVE, "cumulative", "Cumulative", TIME, SHOWN, MADE)
GNOMON__COLUMNS(function_columns, FUNCTION_COLUMNS, FUNCTION_COLUMN_LIST);

enum advanced_dump { ADVANCED_NO_FILES, ADVANCED_ACTIONS, ADVANCED_RUN };

typedef struct advanced_settings {
    gnomon__table_choice table; /* the first */
    gnomon__restriction cut;
    int dump; /* advanced_dump */
    int sort; /* gnomon__pstats_key */
} advanced_settings;

typedef struct advanced_report {
    gnomon__calls *calls;
    unsigned char *bytes; /* of the largest .prof */
    const char *root;     /* its first row */
} advanced_report;

static const advanced_settings *
advanced_settings_of(const gnomon__report_rows *r)
{
    return (const void *)r->choice;
}

/* ---- Rows of a table --------------------------------------------------------- */

static void functions_add(gnomon__report_rows *r, uint32_t group,
                          const gnomon__function *f)
{
    gnomon__cell *cells = gnomon__report_row_of(r, group);
    gnomon__cell_text(&cells[FUNCTION_NAME], f->name);
    if (f->line) {
        gnomon__cell_text(&cells[FUNCTION_FILE], f->file);
        gnomon__cell_count(&cells[FUNCTION_LINE], f->line);
    }
    gnomon__cell_count(&cells[FUNCTION_CALLS], f->nc);
    gnomon__cell_count(&cells[FUNCTION_PRIMITIVE], f->cc);
    gnomon__cell_count(&cells[FUNCTION_SELF], f->tt_ns);
    gnomon__cell_count(&cells[FUNCTION_CUMULATIVE], f->ct_ns);
}

/* The tables of the calls as they are chosen, of the group `from` and those that follow
 * it: groups of regions come one after the other, each with all actions. */
static void functions_add_actions(gnomon__report_rows *r, gnomon__calls *calls,
                                  uint32_t from, uint32_t groups)
{
    const uint32_t count = (uint32_t)gnomon__calls_count(calls);
    uint32_t first = 0;
    for (uint32_t i = 0; i < groups * count && !r->code; i++) {
        const char *name = gnomon__calls_name(calls, i % count);
        const uint32_t group =
            gnomon__groups_add(&r->groups, from + i / count,
                               r->keeps ? gnomon__report_text(r, name) : name);
        if (group == UINT32_MAX)
            r->code = GNOMON_ENOMEM;
        first = i ? first : group;
    }
    for (uint32_t i = 0; i < count && !r->code; i++) {
        const gnomon__functions *f = gnomon__calls_table(calls, i, NULL);
        for (size_t k = 0; k < f->row_count; k++)
            functions_add(r, first + f->rows[k].group * count + i, &f->rows[k]);
    }
}

/* Groups of tracks have tables of functions of their own. Groups of regions share those
 * of the whole profile, and each has its part of their rows. */
static void functions_read(gnomon__report_rows *r, gnomon__calls *calls)
{
    const gnomon__groups *g = &r->groups;
    const uint32_t tracks = g->of_track ? g->count : 1;
    const uint32_t regions = g->of_region ? g->count : 1;
    for (uint32_t i = 0; i < tracks; i++) {
        if (g->of_track)
            gnomon__calls_choose(calls, i);
        functions_add_actions(
            r, calls, g->of_track || g->of_region ? i : g->of_all, regions);
    }
    if (g->by)
        r->table.inner_word = "action";
    else
        r->table.group_word = "action";
}

/* ---- Files ----------------------------------------------------------------------- */

/* The number of files, and the table of each. A table in a file has a root row: so it
 * is a tree, as viewers want, and is never empty. */
static size_t advanced_files(const gnomon__report_rows *r)
{
    const advanced_report *a = r->more;
    const int dump = advanced_settings_of(r)->dump;
    return dump == ADVANCED_NO_FILES ? 0
           : dump == ADVANCED_RUN    ? 1
                                     : gnomon__calls_count(a->calls);
}

static const gnomon__functions *advanced_table(const gnomon__report_rows *r,
                                               size_t file)
{
    const advanced_report *a = r->more;
    const bool is_run = advanced_settings_of(r)->dump == ADVANCED_RUN;
    return gnomon__calls_table(a->calls, is_run ? GNOMON__CALLS_ALL : file,
                               a->root);
}

/* Room for each file in turn. */
static void advanced_take_bytes(gnomon__report_rows *r)
{
    advanced_report *a = r->more;
    const char *stage = gnomon__only_stage(r->profile);
    size_t most = 1;
    a->root =
        gnomon__table_keep(&r->table, "<gnomon%s%s>", *stage ? " " : "", stage);
    for (size_t i = 0; a->root && i < advanced_files(r); i++) {
        const size_t size = gnomon__prof_size(advanced_table(r, i));
        most = size > most ? size : most;
    }
    a->bytes = gnomon__table_take(&r->table, most);
    if (!a->root || !a->bytes)
        r->code = GNOMON_ENOMEM;
}

/* The writer has said why where one cannot be written; the others will not be
 * either, and the report stands without them. */
static void advanced_put_files(gnomon__report_rows *r, const gnomon_writer *out)
{
    const advanced_report *a = r->more;
    const bool is_run = advanced_settings_of(r)->dump == ADVANCED_RUN;
    int code = out->file ? GNOMON_OK : GNOMON_ENOENT;
    for (size_t i = 0; code == GNOMON_OK && i < advanced_files(r); i++) {
        const gnomon__functions *table = advanced_table(r, i);
        gnomon__prof_write(table, a->bytes);
        code = out->file(out, is_run ? NULL : gnomon__calls_name(a->calls, i),
                         ".prof", a->bytes, gnomon__prof_size(table));
    }
}

/* ---- The report ------------------------------------------------------------ */

static void advanced_read(gnomon__report_rows *r)
{
    advanced_report *a = r->more;
    gnomon__calls *grouped = NULL;
    gnomon__calls_free(a->calls); /* of the profile before */
    r->code = gnomon__calls_make(&a->calls, r->profile, NULL);
    if (!r->code && (r->groups.of_track || r->groups.of_region))
        r->code = gnomon__calls_make(&grouped, r->profile, &r->groups);
    if (!r->code && r->choice->is_table)
        functions_read(r, grouped ? grouped : a->calls);
    if (!r->code && advanced_files(r))
        advanced_take_bytes(r);
    gnomon__calls_free(grouped);
}

/* The rank, where there are several. */
static int32_t advanced_rank(const gnomon_profile *profile)
{
    gnomon_run_info run;
    return gnomon_profile_run(profile, 1, &run) == GNOMON_OK &&
                   run.world_size > 1
               ? run.rank
               : -1;
}

/* Nothing is printed unless there is memory for all of it. */
static int advanced_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const advanced_settings *s = advanced_settings_of(r);
    const advanced_report *a = r->more;
    const size_t count = gnomon__calls_count(a->calls);
    gnomon__pstats *made = gnomon__table_take(&r->table, count * sizeof *made);
    int code = made ? GNOMON_OK : GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < count; i++)
        code = gnomon__pstats_make(&made[i], &r->table,
                                   gnomon__calls_table(a->calls, i, NULL),
                                   s->sort, out);
    if (!code)
        code = gnomon__print_title(out, gnomon__only_stage(r->profile),
                                   "Profiler Report");
    for (size_t i = 0; !code && i < count; i++) {
        gnomon__pstats_print_action(gnomon__calls_name(a->calls, i),
                                    advanced_rank(r->profile), out);
        code = gnomon__pstats_print(
            &made[i], gnomon__calls_table(a->calls, i, NULL), &s->cut, out);
    }
    return code;
}

static void advanced_free(void *more)
{
    gnomon__calls_free(((advanced_report *)more)->calls);
}

/* ---- Options --------------------------------------------------------------- */

static bool advanced_read_dump(advanced_settings *s, const char *text)
{
    static const struct advanced_word {
        char word[6];
        uint8_t dump;
    } words[] = {{"false", ADVANCED_NO_FILES}, {"no", ADVANCED_NO_FILES},
                 {"off", ADVANCED_NO_FILES},   {"0", ADVANCED_NO_FILES},
                 {"true", ADVANCED_ACTIONS},   {"yes", ADVANCED_ACTIONS},
                 {"on", ADVANCED_ACTIONS},     {"1", ADVANCED_ACTIONS},
                 {"run", ADVANCED_RUN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (gnomon__print_same_word(text, strlen(text), words[i].word)) {
            s->dump = words[i].dump;
            return true;
        }
    return false;
}

/* The column that a word of pstats orders by. */
static const uint8_t advanced_columns[] = {
    [GNOMON__PSTATS_TIME] = FUNCTION_SELF,
    [GNOMON__PSTATS_CALLS] = FUNCTION_CALLS,
    [GNOMON__PSTATS_PRIMITIVE] = FUNCTION_PRIMITIVE,
    [GNOMON__PSTATS_CUMULATIVE] = FUNCTION_CUMULATIVE,
    [GNOMON__PSTATS_FILE] = FUNCTION_FILE,
    [GNOMON__PSTATS_LINE] = FUNCTION_LINE,
    [GNOMON__PSTATS_NAME] = FUNCTION_NAME,
    [GNOMON__PSTATS_NFL] = FUNCTION_NAME,
    [GNOMON__PSTATS_STDNAME] = FUNCTION_NAME};

/* Logs a wrong value; the default is used instead. */
static void advanced_complain(const gnomon_options *options, const char *key,
                              const char *hint)
{
    char line[160];
    snprintf(line, sizeof line, "advanced: %s=%.48s: %s", key,
             options->text(options, key), hint);
    options->log(line);
}

static void advanced_read_options(advanced_settings *s,
                                  const gnomon_options *options)
{
    const char *cut = options->text(options, "line_count_restriction");
    const char *dump = options->text(options, "dump_stats");
    const char *sort = options->text(options, "sort");
    bool is_float;
    if (cut &&
        !gnomon__python_number(cut, &is_float, &s->cut.count, &s->cut.fraction))
        advanced_complain(options, "line_count_restriction",
                          "say a count (10) or a fraction (0.5)");
    else if (cut)
        s->cut.is_fraction = is_float;
    if (dump && !advanced_read_dump(s, dump))
        advanced_complain(options, "dump_stats", "say true, false or run");
    if (sort && gnomon__pstats_key(sort) < 0)
        advanced_complain(options, "sort",
                          "say cumulative, time, calls, "
                          "pcalls, name, filename, line, nfl or stdname");
    else if (sort)
        s->sort = gnomon__pstats_key(sort);
}

/* A restriction to a fraction of the rows holds in the text only. */
static void advanced_set(void *settings, const gnomon_options *options)
{
    advanced_settings *s = settings;
    s->cut = (gnomon__restriction){.fraction = 1.0, .is_fraction = 1};
    s->sort = GNOMON__PSTATS_CUMULATIVE;
    if (options)
        advanced_read_options(s, options);
    if (s->table.limit != SIZE_MAX)
        s->cut = (gnomon__restriction){.count = (int64_t)s->table.limit};
    else if (!s->cut.is_fraction && s->cut.count >= 0)
        s->table.limit = (size_t)s->cut.count;
    s->table.sort = advanced_columns[s->sort];
}

static const gnomon__report advanced_report_of = {
    .name = "advanced",
    .title = "Profiler Report",
    .columns = function_columns,
    .column_count = FUNCTION_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .has_own_sort = true,
    .reads = GNOMON__READS_LINKS,
    .sort = -1,
    .more_size = sizeof(advanced_report),
    .settings_size = sizeof(advanced_settings),
    .set = advanced_set,
    .read = advanced_read,
    .text = advanced_text,
    .put_files = advanced_put_files,
    .free_more = advanced_free,
};

GNOMON__REPORT_PROFILER(
    advanced, advanced_report_of, GNOMON_WANT_TREE,
    "cProfile's table for each action, and .prof files",
    GNOMON__PRESET_OPTION(
        "line_count_restriction", TEXT, "1.0",
        "rows of a table: a count (10) or, with a point, a fraction"),
    GNOMON__TABLE_OPTION(
        "limit", INTEGER,
        "the most rows of a table: the same as line_count_restriction"),
    GNOMON__PRESET_OPTION(
        "dump_stats", TEXT, "false",
        "true: a .prof file for each action; run: one of all"),
    GNOMON__TABLE_OPTION(
        "sort", TEXT,
        "what rows are ordered by, a word of pstats: time, calls, ..."),
    GNOMON__COLUMNS_OPTION, GNOMON__BY_ANY_OPTION, GNOMON__FORMAT_OPTION);
