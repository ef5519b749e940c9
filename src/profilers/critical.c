/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * critical: the critical path of the slowest steps, or of one step: what each moment of
 * the step waited for, over all threads and streams. Pieces of one region on one thread
 * are one row, where the first of them is. The rows of a step add up to it: where there
 * are more than are listed, a last row has the rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gnomon.h"
#include "gnomon/tool.h"
#include "print/critical.h"
#include "print/letters.h"
#include "print/rows.h"

#define CRITICAL_STEPS 3 /* that are shown */

typedef struct critical_settings {
    gnomon__table_choice table; /* the first */
    uint64_t steps, step;
    bool has_step;
} critical_settings;

enum {
    CRITICAL_WHAT,
    CRITICAL_TIME,
    CRITICAL_SHARE,
    CRITICAL_COUNT,
    CRITICAL_AT,
    CRITICAL_THREAD,
    CRITICAL_STATE,
    CRITICAL_CAUSE,
    CRITICAL_RANK,
    CRITICAL_ORDER, /* when its first piece begins: an id ascends */
    CRITICAL_STEP,  /* its length */
    CRITICAL_COLUMNS
};

static const gnomon__column critical_columns[CRITICAL_COLUMNS] = {
    [CRITICAL_WHAT] = GNOMON__COLUMN("what", "What", TEXT, SHOWN, KEY),
    [CRITICAL_TIME] = GNOMON__COLUMN("time", "Time", TIME, SHOWN, SUM),
    [CRITICAL_SHARE] = GNOMON__COLUMN("percent", "%", SHARE, SHOWN, MADE),
    [CRITICAL_COUNT] = GNOMON__COLUMN("count", "Count", COUNT, SHOWN, SUM),
    [CRITICAL_AT] = GNOMON__COLUMN("at", "At", TIME, SHOWN, LEAST),
    [CRITICAL_THREAD] = GNOMON__COLUMN("thread", "Thread", TEXT, SHOWN, KEY),
    [CRITICAL_STATE] = GNOMON__COLUMN("state", "State", TEXT, SHOWN, KEY),
    [CRITICAL_CAUSE] = GNOMON__COLUMN("cause", "Link", TEXT, SHOWN, KEY),
    [CRITICAL_RANK] = GNOMON__COLUMN("rank", "Rank", ID, EXTRA, LAST),
    [CRITICAL_ORDER] = GNOMON__COLUMN("", "", ID, HIDDEN, LEAST),
    [CRITICAL_STEP] = GNOMON__COLUMN("", "", COUNT, HIDDEN, LAST)};

/* ---- Rows ------------------------------------------------------------------------- */

typedef struct critical_adding {
    gnomon__report_rows *rows;
    uint32_t group;
    const gnomon_step_info *step;
} critical_adding;

static void critical_add_piece(void *context, const gnomon__piece *piece)
{
    static const char *const links[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "backward",
                                        [GNOMON_LINK_LAUNCH] = "launch"};
    static const char *const states[] = {[GNOMON__PIECE_RUNS] = "runs",
                                         [GNOMON__PIECE_QUEUED] = "queued",
                                         [GNOMON__PIECE_IDLE] = "idle"};
    const critical_adding *to = context;
    const gnomon_step_info *step = to->step;
    gnomon__report_rows *r = to->rows;
    gnomon__cell *cells = gnomon__report_row_of(r, to->group);
    gnomon__report_node n;
    gnomon_track_info track = {.name = ""};
    gnomon_run_info run;
    (void)gnomon__report_node_at(r->profile, piece->node, &n);
    gnomon__cell_text(&cells[CRITICAL_WHAT],
                      n.of.region ? n.region.name : "(nothing marked)");
    gnomon__cell_count(&cells[CRITICAL_TIME], piece->end_ns - piece->begin_ns);
    gnomon__cell_count(&cells[CRITICAL_COUNT], 1);
    gnomon__cell_count(&cells[CRITICAL_AT], piece->begin_ns - step->begin_ns);
    gnomon__cell_text(&cells[CRITICAL_STATE], states[piece->state]);
    gnomon__cell_text(&cells[CRITICAL_CAUSE],
                      piece->cause < 0                     ? ""
                      : piece->cause <= GNOMON_LINK_LAUNCH ? links[piece->cause]
                                                           : "?");
    if (gnomon_profile_track(r->profile, piece->track, &track) == GNOMON_OK &&
        !gnomon_profile_run(r->profile, track.run, &run) && run.rank >= 0)
        gnomon__cell_count(&cells[CRITICAL_RANK], (uint64_t)run.rank);
    gnomon__cell_text(&cells[CRITICAL_THREAD], track.name);
    gnomon__cell_count(&cells[CRITICAL_ORDER], piece->begin_ns);
    gnomon__cell_count(&cells[CRITICAL_STEP], step->end_ns - step->begin_ns);
}

/* In csv and JSON the step is its number; for people it has its length too. */
static const char *critical_step_text(gnomon__report_rows *r,
                                      const gnomon_step_info *step)
{
    const int format = r->choice->format;
    char took[GNOMON__DURATION];
    if (format == GNOMON__TABLE_CSV || format == GNOMON__TABLE_JSON)
        return gnomon__table_keep(&r->table, "%" PRIu64, step->number);
    return gnomon__table_keep(
        &r->table, "%" PRIu64 ", %s", step->number,
        gnomon__short_duration(took, step->end_ns - step->begin_ns));
}

/* Why there is no path; NULL: there is one. */
static const char *critical_why_none(const gnomon__critical *c,
                                     const critical_settings *s, uint32_t steps)
{
    if (!c->has_events)
        return GNOMON__NO_EVENTS;
    if (!c->steps.count)
        return "no steps are in this profile: call gnomon_step() at the end of "
               "each";
    if (!steps && s->has_step)
        return "no step of that number has single executions";
    return steps ? NULL : "no step has single executions";
}

static void critical_read(gnomon__report_rows *r)
{
    const critical_settings *s = (const void *)r->choice;
    gnomon__critical *c = r->more;
    const gnomon_step_info *step = NULL;
    const char **groups = NULL;
    uint32_t used = 0;
    gnomon__report_say_rank(r);
    r->table.group_word = "step";
    if (!r->code)
        r->code = gnomon__critical_make(c, r->profile);
    if (!r->code)
        groups = gnomon__table_take(&r->table,
                                    (c->steps.count + 1) * sizeof *groups);
    if (!groups)
        r->code = GNOMON_ENOMEM;
    while (!r->code && (s->has_step || used < s->steps) &&
           (step = gnomon__critical_next(c, step))) {
        if (s->has_step && step->number != s->step)
            continue;
        critical_adding to = {r, used, step};
        groups[used] = critical_step_text(r, step);
        r->code = gnomon__critical_read(c, step, critical_add_piece, &to);
        if (!groups[used++])
            r->code = GNOMON_ENOMEM;
    }
    r->table.groups = groups;
    r->none = critical_why_none(c, s, used);
}

/* ---- What is listed ---------------------------------------------------------------- */

/* Row `to` becomes the one of all from there on that are of its group. Returns how many
 * these are. */
static size_t critical_add_rest(gnomon__report_rows *r, size_t to)
{
    gnomon__report_table *t = &r->table;
    gnomon__cell *rest = gnomon__cells_of(t, to);
    size_t count = 1;
    for (; to + count < t->row_count &&
           t->rows[to + count].group == t->rows[to].group;
         count++)
        rest[CRITICAL_TIME].count +=
            gnomon__cells_of(t, to + count)[CRITICAL_TIME].count;
    const char *text = gnomon__table_keep(t, "(%zu more)", count);
    if (!text)
        r->code = GNOMON_ENOMEM;
    gnomon__cell_text(&rest[CRITICAL_WHAT], text);
    for (int k = CRITICAL_COUNT; k <= CRITICAL_RANK; k++)
        rest[k] = (gnomon__cell){0};
    rest[CRITICAL_ORDER].count = UINT64_MAX;
    return count;
}

/* The longest of each step, in the order of their first pieces. */
static void critical_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    size_t kept = 0, in_group = 0;
    r->code = gnomon__table_sort(t, CRITICAL_ORDER);
    if (!r->code)
        r->code = gnomon__table_sort(t, CRITICAL_TIME);
    for (size_t i = 0, n; !r->code && i < t->row_count; i += n) {
        gnomon__cell *cells = gnomon__cells_of(t, i);
        if (!kept || t->rows[kept - 1].group != t->rows[i].group)
            in_group = 0;
        n = in_group++ < r->choice->limit ? 1 : critical_add_rest(r, i);
        if (cells[CRITICAL_CAUSE].is_there && !*cells[CRITICAL_CAUSE].text)
            cells[CRITICAL_CAUSE] = (gnomon__cell){0};
        gnomon__cell_share(&cells[CRITICAL_SHARE], cells[CRITICAL_TIME].count,
                           cells[CRITICAL_STEP].count);
        t->rows[kept++] = t->rows[i];
    }
    t->row_count = kept;
}

static void critical_note(const gnomon__report_rows *r,
                          const gnomon_writer *out)
{
    const gnomon__critical *c = r->more;
    if (c->missing)
        out->print(out,
                   "\n%" PRIu64 " event%s missing: pieces may be taken for "
                   "others\n",
                   c->missing, c->missing == 1 ? " is" : "s are");
}

static void critical_free(void *more)
{
    gnomon__critical_free(more);
}

/* ---- The profiler ------------------------------------------------------------------ */

static void critical_set(void *settings, const gnomon_options *options)
{
    critical_settings *s = settings;
    s->steps = CRITICAL_STEPS;
    if (!options)
        return;
    s->has_step = options->text(options, "step") != NULL;
    s->step = (uint64_t)options->number(options, "step");
    if (options->number(options, "steps") < 1)
        options->log("critical: steps=: say how many of the slowest, from 1");
    else
        s->steps = (uint64_t)options->number(options, "steps");
}

static const gnomon__report critical_report = {
    .name = "critical",
    .title = "Critical Path",
    .columns = critical_columns,
    .column_count = CRITICAL_COLUMNS,
    .limit = 12, /* of each step */
    .has_own_limit = true,
    .reads = GNOMON__READS_LINKS,
    .sort = -1,
    .order = CRITICAL_ORDER,
    .more_size = sizeof(gnomon__critical),
    .settings_size = sizeof(critical_settings),
    .set = critical_set,
    .read = critical_read,
    .choose = critical_choose,
    .note = critical_note,
    .free_more = critical_free,
};

GNOMON__REPORT_PROFILER(
    critical, critical_report, GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    "what the slowest steps waited for; holds 70 bytes an execution",
    GNOMON__ORDER_OPTIONS,
    GNOMON__PRESET_OPTION("limit", INTEGER, "12",
                          "how many rows of a step; one more has the rest"),
    GNOMON__PRESET_OPTION("steps", INTEGER, "3",
                          "how many of the slowest steps"),
    GNOMON__TABLE_OPTION("step", INTEGER, "the step of this number alone"),
    GNOMON__PRESET_OPTION("format", TEXT, "text", "text, csv, md or json"));
