/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * critical: the critical path of the slowest steps, or of one step: what each moment of
 * the step waited for, over all threads and streams. The pieces of a step add up to it:
 * where more are found than are listed, a last row has the rest. A pure function from a
 * profile with events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/profile.h"
#include "gnomon/profiler.h"
#include "print/critical.h"
#include "print/duration.h"
#include "print/table.h"

#define CRITICAL_STEPS 3   /* that are shown */
#define CRITICAL_PRESET 12 /* pieces of each */

/* Begins with the choice: gnomon__table_choice says why. */
typedef struct critical_settings {
    gnomon__table_choice table;
    void (*log)(const char *line); /* NULL: attached from C */
    uint64_t steps, step;
    bool has_step;
} critical_settings;

enum {
    CRITICAL_WHAT,
    CRITICAL_TIME,
    CRITICAL_SHARE,
    CRITICAL_AT,
    CRITICAL_THREAD,
    CRITICAL_STATE,
    CRITICAL_CAUSE,
    CRITICAL_RANK,
    CRITICAL_COLUMNS
};

static const gnomon__column critical_columns[CRITICAL_COLUMNS] = {
    [CRITICAL_WHAT] = {"what", "What", GNOMON__CELL_TEXT, false},
    [CRITICAL_TIME] = {"time", "Time", GNOMON__CELL_TIME, false},
    [CRITICAL_SHARE] = {"percent", "%", GNOMON__CELL_SHARE, false},
    [CRITICAL_AT] = {"at", "At", GNOMON__CELL_TIME, false},
    [CRITICAL_THREAD] = {"thread", "Thread", GNOMON__CELL_TEXT, false},
    [CRITICAL_STATE] = {"state", "State", GNOMON__CELL_TEXT, false},
    [CRITICAL_CAUSE] = {"cause", "Link", GNOMON__CELL_TEXT, false},
    [CRITICAL_RANK] = {"rank", "Rank", GNOMON__CELL_ID, true}};

/* ---- Rows ------------------------------------------------------------------------- */

typedef struct critical_report {
    gnomon__report_table table;
    gnomon__critical of;
    const critical_settings *settings;
    const char **groups; /* texts of the steps */
    uint32_t group_count;
    uint64_t *longest; /* room for lengths of pieces */
    size_t longest_room;
} critical_report;

static const char *path_name_of(const gnomon_profile *p,
                                const gnomon__piece *piece)
{
    gnomon_node_info n;
    gnomon_region_info region;
    if (gnomon_profile_node(p, piece->node, &n) ||
        gnomon_profile_region(p, n.region, &region))
        return "(nothing marked)";
    return region.name;
}

static void critical_put_share(gnomon__cell *cells, uint64_t ns,
                               const gnomon_step_info *step)
{
    const uint64_t all = step->end_ns - step->begin_ns;
    gnomon__cell_count(&cells[CRITICAL_TIME], ns);
    if (all)
        gnomon__cell_number(&cells[CRITICAL_SHARE],
                            100.0 * (double)ns / (double)all);
}

static int critical_add_piece(critical_report *r, const gnomon__piece *piece,
                              const gnomon_step_info *step)
{
    static const char *const links[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "backward",
                                        [GNOMON_LINK_LAUNCH] = "launch"};
    static const char *const states[] = {[GNOMON__PIECE_RUNS] = "runs",
                                         [GNOMON__PIECE_QUEUED] = "queued",
                                         [GNOMON__PIECE_IDLE] = "idle"};
    const gnomon_profile *p = r->of.profile;
    gnomon__cell *cells = gnomon__table_add(&r->table, r->group_count - 1, 0);
    gnomon_track_info track;
    gnomon_run_info run;
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[CRITICAL_WHAT], path_name_of(p, piece));
    critical_put_share(cells, piece->end_ns - piece->begin_ns, step);
    gnomon__cell_count(&cells[CRITICAL_AT], piece->begin_ns - step->begin_ns);
    gnomon__cell_text(&cells[CRITICAL_STATE], states[piece->state]);
    if (piece->cause >= 0)
        gnomon__cell_text(
            &cells[CRITICAL_CAUSE],
            piece->cause <= GNOMON_LINK_LAUNCH ? links[piece->cause] : "?");
    if (gnomon_profile_track(p, piece->track, &track) == GNOMON_OK) {
        gnomon__cell_text(&cells[CRITICAL_THREAD], track.name);
        if (!gnomon_profile_run(p, track.run, &run) && run.rank >= 0)
            gnomon__cell_count(&cells[CRITICAL_RANK], (uint64_t)run.rank);
    }
    return GNOMON_OK;
}

static int critical_add_rest(critical_report *r, size_t pieces, uint64_t ns,
                             const gnomon_step_info *step)
{
    const char *text = gnomon__table_keep(&r->table, "(%zu more)", pieces);
    gnomon__cell *cells =
        text ? gnomon__table_add(&r->table, r->group_count - 1, 0) : NULL;
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[CRITICAL_WHAT], text);
    critical_put_share(cells, ns, step);
    return GNOMON_OK;
}

static int critical_by_ns(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Of so many pieces the longest are listed: those from *least ns on; *equal: how many of
 * just that length. False: no memory. */
static bool critical_choose(critical_report *r, uint64_t *least, size_t *equal)
{
    const size_t count = r->of.piece_count, limit = r->settings->table.limit;
    *least = 0;
    *equal = SIZE_MAX;
    if (count <= limit)
        return true;
    if (count > r->longest_room) {
        uint64_t *longest = realloc(r->longest, count * sizeof *longest);
        if (!longest)
            return false;
        r->longest = longest;
        r->longest_room = count;
    }
    for (size_t i = 0; i < count; i++)
        r->longest[i] = r->of.pieces[i].end_ns - r->of.pieces[i].begin_ns;
    qsort(r->longest, count, sizeof *r->longest, critical_by_ns);
    *least = r->longest[limit - 1];
    for (*equal = 0; *equal < limit; ++*equal)
        if (r->longest[limit - 1 - *equal] != *least)
            break;
    return true;
}

static int critical_add_pieces(critical_report *r, const gnomon_step_info *step)
{
    uint64_t least, rest_ns = 0;
    size_t equal, rest = 0;
    int code = critical_choose(r, &least, &equal) ? GNOMON_OK : GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < r->of.piece_count; i++) {
        const gnomon__piece *piece = &r->of.pieces[i];
        const uint64_t ns = piece->end_ns - piece->begin_ns;
        if (ns > least || (ns == least && equal)) {
            equal -= ns == least;
            code = critical_add_piece(r, piece, step);
        } else {
            rest++;
            rest_ns += ns;
        }
    }
    return !code && rest ? critical_add_rest(r, rest, rest_ns, step) : code;
}

/* In csv and JSON the step is its number; for people it has its length too. */
static const char *critical_step_text(critical_report *r,
                                      const gnomon_step_info *step)
{
    const int format = r->settings->table.format;
    char took[GNOMON__DURATION];
    if (format == GNOMON__TABLE_CSV || format == GNOMON__TABLE_JSON)
        return gnomon__table_keep(&r->table, "%" PRIu64, step->number);
    return gnomon__table_keep(
        &r->table, "%" PRIu64 ", %s", step->number,
        gnomon__short_duration(took, step->end_ns - step->begin_ns));
}

static int critical_add_step(critical_report *r, const gnomon_step_info *step)
{
    const char *text = critical_step_text(r, step);
    const char **groups =
        realloc(r->groups, (r->group_count + 1) * sizeof *groups);
    if (groups)
        r->table.groups = r->groups = groups;
    if (!groups || !text)
        return GNOMON_ENOMEM;
    groups[r->group_count++] = text;
    int code = gnomon__critical_read(&r->of, step);
    return code ? code : critical_add_pieces(r, step);
}

/* ---- The report ----------------------------------------------------------------------- */

static int critical_add_steps(critical_report *r)
{
    const critical_settings *s = r->settings;
    const gnomon_step_info *step = NULL;
    int code = GNOMON_OK;
    while (!code && (s->has_step || r->group_count < s->steps) &&
           (step = gnomon__critical_next(&r->of, step)))
        if (!s->has_step || step->number == s->step)
            code = critical_add_step(r, step);
    return code;
}

/* Why there is no path; NULL: there is one. */
static const char *critical_why_none(const critical_report *r)
{
    if (!r->of.has_events)
        return "critical: " GNOMON__NO_EVENTS;
    if (!r->of.steps.count)
        return "critical: no steps are in this profile: call gnomon_step() at "
               "the end of each";
    if (!r->group_count && r->settings->has_step)
        return "critical: no step of that number has single executions";
    return r->group_count ? NULL : "critical: no step has single executions";
}

static int critical_print(critical_report *r, const gnomon_writer *out)
{
    const critical_settings *s = r->settings;
    gnomon__table_choice choice = s->table;
    const char *why = critical_why_none(r);
    const bool is_text = choice.format == GNOMON__TABLE_TEXT;
    int code = GNOMON_OK;
    choice.limit = SIZE_MAX;
    r->table.is_ordered = choice.sort < 0;
    if (why && is_text)
        out->print(out, "%s\n", why);
    else if (why && s->log)
        s->log(why);
    if (!why || !is_text)
        code = gnomon__table_print(&r->table, &choice, r->of.profile, out);
    if (!code && !why && is_text && r->of.missing)
        out->print(out,
                   "\n%" PRIu64 " event%s missing: pieces may be taken for "
                   "others\n",
                   r->of.missing, r->of.missing == 1 ? " is" : "s are");
    return code;
}

static const char *critical_title(gnomon__report_table *table,
                                  const gnomon_profile *p)
{
    gnomon_run_info run;
    if (gnomon_profile_count(p, GNOMON_RUNS) != 1 ||
        gnomon_profile_run(p, 1, &run) || run.rank < 0 || run.world_size < 2)
        return "Critical Path";
    return gnomon__table_keep(table, "Critical Path of rank %" PRId32,
                              run.rank);
}

static int critical_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    static const critical_settings preset = {
        .table = {.limit = CRITICAL_PRESET, .sort = -1},
        .steps = CRITICAL_STEPS};
    critical_report r = {.settings = self ? self : &preset,
                         .table = {.name = "critical",
                                   .columns = critical_columns,
                                   .column_count = CRITICAL_COLUMNS,
                                   .group_word = "step"}};
    if (!profile)
        return GNOMON_EINVAL;
    int code = gnomon__critical_make(&r.of, profile);
    if (!code && !(r.table.title = critical_title(&r.table, profile)))
        code = GNOMON_ENOMEM;
    if (!code)
        code = critical_add_steps(&r);
    if (!code)
        code = critical_print(&r, out);
    gnomon__critical_free(&r.of);
    gnomon__table_free(&r.table);
    free(r.groups);
    free(r.longest);
    return code ? code : out->write(out, "", 0);
}

static int critical_create(const gnomon_options *options, void **self)
{
    critical_settings *s = calloc(1, sizeof *s);
    if (!s)
        return GNOMON_ENOMEM;
    s->log = options->log;
    gnomon__table_choose(&s->table, "critical", critical_columns,
                         CRITICAL_COLUMNS, options);
    if (s->table.limit == SIZE_MAX)
        s->table.limit = CRITICAL_PRESET;
    s->table.is_table = true;
    s->has_step = options->text(options, "step") != NULL;
    s->step = (uint64_t)options->number(options, "step");
    s->steps = (uint64_t)options->number(options, "steps");
    if (options->number(options, "steps") < 1) {
        options->log("critical: steps=: say how many of the slowest, from 1");
        s->steps = CRITICAL_STEPS;
    }
    *self = s;
    return GNOMON_OK;
}

static const gnomon_option_info critical_options[] = {
    GNOMON__TABLE_OPTION("columns", TEXT, "which columns: a|b, or all"),
    GNOMON__TABLE_OPTION("sort", TEXT, "the column that rows are ordered by"),
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "12",
     .help = "how many pieces of a step; a row has the rest"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "steps",
     .type = GNOMON_OPTION_INTEGER,
     .preset = "3",
     .help = "how many of the slowest steps"},
    GNOMON__TABLE_OPTION("step", INTEGER, "the step of this number alone"),
    {.struct_size = sizeof(gnomon_option_info),
     .key = "format",
     .type = GNOMON_OPTION_TEXT,
     .preset = "text",
     .help = "text, csv, md or json"},
    {.key = NULL}};

static const gnomon_profiler path_reporter = {
    .struct_size = sizeof path_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "critical",
    .help = "what the slowest steps waited for, over all threads",
    .options = critical_options,
    .create = critical_create,
    .summary = critical_summary,
    .destroy = free,
};

GNOMON_PLUGIN(path_reporter);
