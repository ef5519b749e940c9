/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* advice: the findings of the rules as a report. They are made of all profiles at once,
 * as how ranks compare is in none of them alone; a report of one profile makes its own. */
#include "report/advice.h"

#include <stdio.h>

#include "command/command.h"
#include "platform/error.h"
#include "print/letters.h"

#define ADVICE_COLUMN_LIST(X) \
    X(ADVICE_RULE, "rule", "Rule", TEXT, SHOWN, MADE) \
    X(ADVICE_GAIN, "gain", "To be gained", TIME, SHOWN, MADE) \
    X(ADVICE_FINDING, "finding", "Finding", TEXT, SHOWN, MADE) \
    X(ADVICE_FROM, "from", "From", TEXT, SHOWN, MADE) \
    X(ADVICE_THRESHOLD, "threshold", "Threshold", TEXT, SHOWN, MADE) \
    X(ADVICE_TRY, "try", "Try", TEXT, SHOWN, MADE) \
    X(ADVICE_UNSURE, "not_sure", "Not sure", TEXT, SHOWN, MADE)
GNOMON__COLUMNS(advice_columns, ADVICE_COLUMNS, ADVICE_COLUMN_LIST);

static void advice_read(gnomon__report_rows *r)
{
    gnomon__findings *f = r->more;
    if (!r->borrows_more)
        r->code = gnomon__advise(f, &r->profile, 1);
    for (size_t i = 0; !r->code && i < f->count; i++) {
        const gnomon__finding *of = &f->at[i];
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        gnomon__cell_text(&cells[ADVICE_RULE], of->rule->name);
        if (of->gain_ns)
            gnomon__cell_count(&cells[ADVICE_GAIN], of->gain_ns);
        gnomon__cell_text(&cells[ADVICE_FINDING], of->what);
        gnomon__cell_text(&cells[ADVICE_FROM], of->from);
        gnomon__cell_text(&cells[ADVICE_THRESHOLD], of->rule->threshold);
        gnomon__cell_text(&cells[ADVICE_TRY], of->tries);
        if (of->unsure)
            gnomon__cell_text(&cells[ADVICE_UNSURE], of->unsure);
    }
}

static void advice_line(const gnomon_writer *out, const char *head,
                        const char *text)
{
    if (text)
        out->print(out, "   %-10s %s\n", head, gnomon_shown(out, text));
}

/* Which rules had no data, in the words of what they read. */
static void advice_print_rest(const gnomon__findings *f,
                              const gnomon_writer *out)
{
    const char *head = "\nNot looked at, as this is not recorded: ";
    for (size_t i = 0; gnomon__advice_rules[i].look; i++) {
        if (f->looked >> i & 1)
            continue;
        out->print(out, "%s%s (%s)", head, gnomon__advice_rules[i].name,
                   gnomon__advice_rules[i].reads);
        head = ", ";
    }
    if (*head == ',')
        out->write(out, "\n", 1);
}

static int advice_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    const gnomon__findings *f = r->more;
    char gain[GNOMON__DURATION];
    gnomon__print_title(out, "", "Advice\n");
    if (!f->count)
        out->print(out, "\nnothing found\n");
    for (size_t i = 0; i < f->count && i < r->choice->limit; i++) {
        const gnomon__finding *of = &f->at[i];
        out->print(out, "\n%zu. %s", i + 1, gnomon_shown(out, of->what));
        if (of->gain_ns)
            out->print(out, ": up to %s to be gained",
                       gnomon__short_duration(gain, of->gain_ns));
        out->print(out, "\n");
        advice_line(out, "from:", of->from);
        advice_line(out, "threshold:", of->rule->threshold);
        advice_line(out, "try:", of->tries);
        advice_line(out, "not sure:", of->unsure);
    }
    advice_print_rest(f, out);
    return GNOMON_OK;
}

const gnomon__report gnomon__advice = {
    .name = "advice",
    .title = "Advice",
    .if_empty = "nothing found",
    .columns = advice_columns,
    .column_count = ADVICE_COLUMNS,
    .is_of_runs = true,
    .limit = GNOMON__FINDINGS,
    .reads = GNOMON__READS_LINKS | GNOMON__READS_COUNTERS,
    .sort = -1,
    .more_size = sizeof(gnomon__findings),
    .read = advice_read,
    .text = advice_text,
    .free_more = gnomon__findings_free,
};

GNOMON__REPORTER(advice, gnomon__advice,
                 GNOMON_WANT_TREE | GNOMON_WANT_STEPS | GNOMON_WANT_EVENTS,
                 "what may make the run faster, with the figures it comes from",
                 GNOMON__COLUMNS_OPTION,
                 GNOMON__PRESET_OPTION("limit", INTEGER, "7",
                                       "how many findings at most"),
                 GNOMON__FORMAT_OPTION);

const gnomon_profiler *const gnomon__advice_profiler =
    &advice_reporter.profiler;

int gnomon__advice_print(const gnomon__cli_inputs *in, const void *self,
                         gnomon__joined *out)
{
    gnomon__findings found;
    gnomon__report_rows rows;
    gnomon__cli_loaded all;
    const gnomon__table_choice *choice = self;
    int status = gnomon__cli_load_all(&all, in);
    if (all.count) {
        int code = gnomon__advise(&found, all.profiles, all.count);
        gnomon__joined_next(out, all.paths[0], NULL,
                            all.count > 1 ? (uint32_t)all.count : 0,
                            choice->is_table);
        if (!code)
            code = gnomon__report_make(&rows, &gnomon__advice, choice, &found,
                                       all.profiles[0]);
        else
            rows = (gnomon__report_rows){.of = &gnomon__advice};
        if (!code)
            code = gnomon__report_put_all(&rows, &out->base);
        if (code && !ferror(stdout))
            gnomon__log("%s", *gnomon_error_text() ? gnomon_error_text()
                                                   : "no memory for advice");
        if (code)
            status = GNOMON__EXIT_UNREADABLE;
        gnomon__report_free(&rows);
        gnomon__findings_free(&found);
    }
    gnomon__cli_loaded_free(&all);
    return status;
}
