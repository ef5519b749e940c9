/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gates: parsing and judging. A gate is parsed from its end, so that names may hold
 * spaces. A gate that matches no row is an error, because it could never fail.
 *
 * Invariant: a gate fails only if a change is beyond the relative limit, beyond the
 * absolute one, and sure. */
#include "diff/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/changes.h"
#include "command/command.h"
#include "gnomon/profiler.h"
#include "print/table.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "spec/filter.h"
#include "spec/options.h"

/* ---- Words -------------------------------------------------------------- */

static int gate_wrong(const gnomon__gate *g, const char *why)
{
    gnomon__log("--gate '%s': %s", g->text, why);
    return GNOMON__EXIT_USAGE;
}

/* Cuts the last word off the first *n characters; "": there is none. */
static char *gate_last_word(char *text, size_t *n)
{
    while (*n && text[*n - 1] == ' ')
        --*n;
    text[*n] = 0;
    while (*n && text[*n - 1] != ' ')
        --*n;
    return text + *n;
}

/* "+5%": 0.05 */
static int gate_relative(gnomon__gate *g, const char *word)
{
    size_t digits = strspn(word + 1, "0123456789.");
    char *end;
    double percent = strtod(word + 1, &end);
    if (!digits || end != word + 1 + digits || strcmp(end, "%") != 0)
        return 0;
    g->falls = *word == '-';
    g->relative = (g->falls ? -percent : percent) / 100;
    return 1;
}

/* "+10us", of calls "+10", of a counter "+0.5". */
static int gate_absolute(gnomon__gate *g, const char *word)
{
    int64_t type = g->metric == GNOMON__CALLS ? GNOMON_OPTION_INTEGER
                                              : GNOMON_OPTION_DURATION;
    int64_t number = 0;
    char why[128], *end;
    if (g->kind == GNOMON__DIFF_COUNTER) {
        g->absolute = strtod(word + 1, &end);
        if (!strchr("0123456789.", word[1]) || !word[1] || *end)
            return gate_wrong(g, "a counter's second limit is a number, +0.5");
    } else if (gnomon__option_parse(type, word + 1, &number, why, sizeof why)) {
        return gate_wrong(g, why);
    } else {
        g->absolute = (double)number;
    }
    if (number < 0 || (*word == '-') != g->falls)
        return gate_wrong(g, "its two limits differ in sign");
    return GNOMON__EXIT_OK;
}

static int gate_is_limit(const char *word)
{
    return *word == '+' || *word == '-';
}

/* Without blanks around it, and then without quotes. */
static void gate_trim(char *name, size_t n)
{
    size_t blank = strspn(name, " ");
    while (n > blank && name[n - 1] == ' ')
        n--;
    if (n >= blank + 2 && (name[blank] == '"' || name[blank] == '\'') &&
        name[n - 1] == name[blank]) {
        blank++;
        n--;
    }
    n -= n < blank ? n : blank;
    memmove(name, name + blank, n);
    name[n] = 0;
}

int gnomon__gate_parse(gnomon__gate *g, const char *text)
{
    char *limit, *word, *absolute = NULL;
    size_t n = strlen(text);
    int metric;
    *g = (gnomon__gate){.text = text, .absolute = (double)NAN};
    g->name = gnomon__strdup(text);
    if (!g->name)
        return gate_wrong(g, "no memory");
    limit = gate_last_word(g->name, &n);
    word = gate_last_word(g->name, &n);
    if (gate_is_limit(word)) {
        absolute = limit;
        limit = word;
        word = gate_last_word(g->name, &n);
    }
    if (!gate_is_limit(limit) || !gate_relative(g, limit) ||
        (absolute && !gate_is_limit(absolute)))
        return gate_wrong(g, "it must end in a limit, +5% or -5%, and may name "
                             "a second one, +10us");
    gate_trim(g->name, n);
    if (!*word || !*g->name)
        return gate_wrong(g, "say NAME METRIC LIMIT: 'forward mean +5%'");
    metric = gnomon__cli_word(word, gnomon__metric_words);
    if (metric < 0)
        return gnomon__cli_no_word("metric of a gate", word,
                                   gnomon__metric_words);
    g->kind = gnomon__metrics[metric].kind;
    g->metric = gnomon__metrics[metric].metric;
    g->word = gnomon__metric_words[metric];
    return absolute ? gate_absolute(g, absolute) : GNOMON__EXIT_OK;
}

void gnomon__gate_free(gnomon__gate *g)
{
    gnomon__free(g->name);
    g->name = NULL;
}

/* ---- One judgement ------------------------------------------------------ */

int gnomon__gate_takes(const gnomon__gate *g, const char *name)
{
    return gnomon__glob(g->name, strlen(g->name), name);
}

static double gate_default(const gnomon__gate *g, double calls)
{
    if (g->metric == GNOMON__CALLS || g->kind == GNOMON__DIFF_COUNTER)
        return 0;
    if (g->metric == GNOMON__TOTAL || g->metric == GNOMON__SELF)
        return calls * GNOMON__GATE_GRAIN_NS;
    return GNOMON__GATE_GRAIN_NS;
}

enum gnomon__verdict gnomon__gate_judge(const gnomon__gate *g,
                                        const gnomon__change *c, double calls,
                                        double confidence)
{
    double least = isnan(g->absolute) ? gate_default(g, calls) : g->absolute;
    double change = g->falls ? c->a - c->b : c->b - c->a;
    double relative = g->falls ? -c->relative : c->relative;
    if (!(relative > fabs(g->relative)) || !(change > least))
        return GNOMON__GATE_HOLDS;
    return c->confidence >= confidence ? GNOMON__GATE_FAILS
                                       : GNOMON__GATE_UNSURE;
}

/* ---- All of them -------------------------------------------------------- */

/* What one gate says of its rows. */
typedef struct gate_round {
    const gnomon__gate *gate;
    const gnomon__diff *diff;
    const char *stage;
    const gnomon__assumptions *assumed;
    double confidence; /* of intervals */
    double least;      /* that a failure must have */
    enum gnomon__changes_form form;
    int is_begun; /* something is written: in JSON a comma comes next */
} gate_round;

static int gate_watches(const gnomon__gate *g, const gnomon__diff_row *row,
                        const char *stage)
{
    return row->kind == g->kind && (!stage || strcmp(stage, row->stage) == 0) &&
           gnomon__gate_takes(g, row->name);
}

static int gate_has_both(const gnomon__diff_row *row)
{
    return row->side[0].all.s.count && row->side[1].all.s.count;
}

/* "fit: optimizer_step: mean 1.204 ms -> 1.331 ms, +10.5 %, 99.97 % sure", and of
 * one job a side "if jobs differ by 1.6 % + 15 ns". */
static void gate_say(const gate_round *r, const gnomon__diff_row *row,
                     const gnomon__change *c, char *text, size_t size)
{
    char from[GNOMON__CHANGES_TEXT], to[GNOMON__CHANGES_TEXT];
    char change[GNOMON__CHANGES_TEXT], sure[GNOMON__CHANGES_TEXT];
    char drift[GNOMON__CHANGES_TEXT];
    int is_assumed = gnomon__diff_is_assumed(r->diff) && !isnan(c->confidence);
    enum gnomon__changes_unit unit =
        gnomon__changes_unit_of(r->gate->kind, r->gate->metric);
    snprintf(text, size, "%s%s%.400s: %s %s -> %s, %s, %s%s%s%s", row->stage,
             *row->stage ? ": " : "", row->name, r->gate->word,
             gnomon__changes_value(from, c->a, unit, 0),
             gnomon__changes_value(to, c->b, unit, 0),
             gnomon__changes_percent(change, c->relative),
             isnan(c->confidence) ? "but one execution a side says nothing"
                                  : gnomon__changes_sure(sure, c->confidence),
             isnan(c->confidence) ? "" : " sure",
             is_assumed ? " if jobs differ by " : "",
             is_assumed ? gnomon__changes_drift(drift, r->assumed) : "");
}

static void gate_log(const gate_round *r, enum gnomon__verdict verdict,
                     const char *text)
{
    if (verdict == GNOMON__GATE_FAILS)
        gnomon__log("gate fails: %s: %s", r->gate->text, text);
    else
        gnomon__log("gate is not sure: %s: %s; to fail takes %.6g %%",
                    r->gate->text, text, 100 * r->least);
}

/* One row that a gate watches, for programs. */
static void gate_json(gate_round *r, const gnomon__diff_row *row,
                      const gnomon__change *c, enum gnomon__verdict verdict,
                      const gnomon_writer *out)
{
    static const char *const verdicts[] = {"holds", "fails", "not sure"};
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"a", c->a},
                   {"b", c->b},
                   {"change", c->relative},
                   {"confidence", c->confidence},
                   {"needed", r->least}};
    out->print(out, r->is_begun ? ",\n{" : "\n{");
    r->is_begun = 1;
    gnomon__changes_json_text(out, "gate", r->gate->text);
    out->print(out, ", \"verdict\": \"%s\", ", verdicts[verdict]);
    gnomon__changes_json_text(out, "stage", row->stage);
    out->write(out, ", ", 2);
    gnomon__changes_json_text(out, "name", row->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        out->write(out, ", ", 2);
        gnomon__changes_json_number(out, numbers[i].key, numbers[i].value);
    }
    out->write(out, "}", 1);
}

static void gate_print_holds(const gate_round *r, const char *text,
                             const gnomon_writer *out)
{
    if (r->form == GNOMON__CHANGES_MD) {
        out->print(out, "- gate holds: ");
        gnomon__put_md(out, r->gate->text);
        out->print(out, ": ");
        gnomon__put_md(out, text);
        out->print(out, "\n");
    } else if (r->form == GNOMON__CHANGES_TEXT_FORM) {
        out->print(out, "gate holds: %s: %s\n", r->gate->text, text);
    }
}

/* Each row beyond the limits has a line; where there is none, the one with the
 * largest change. */
static int gate_judge(gate_round *r, const gnomon_writer *out)
{
    const gnomon__diff_row *largest = NULL;
    gnomon__change most = {.relative = 0};
    int status = GNOMON__EXIT_OK, lines = 0;
    char text[768];
    for (size_t i = 0; i < r->diff->count; i++) {
        const gnomon__diff_row *row = r->diff->rows[i];
        enum gnomon__verdict verdict;
        gnomon__change c;
        if (!gate_watches(r->gate, row, r->stage) || !gate_has_both(row))
            continue;
        c = gnomon__compare(r->diff, row, r->gate->metric, r->confidence,
                            r->assumed);
        verdict = gnomon__gate_judge(
            r->gate, &c,
            gnomon__estimate_value(r->diff, row, GNOMON__SIDE_A, GNOMON__CALLS),
            r->least);
        if (!largest || (r->gate->falls ? c.relative < most.relative
                                        : c.relative > most.relative)) {
            largest = row;
            most = c;
        }
        if (r->form == GNOMON__CHANGES_JSON)
            gate_json(r, row, &c, verdict, out);
        if (verdict == GNOMON__GATE_HOLDS)
            continue;
        gate_say(r, row, &c, text, sizeof text);
        gate_log(r, verdict, text);
        lines++;
        status = gnomon__cli_worse(status, verdict == GNOMON__GATE_FAILS
                                               ? GNOMON__EXIT_GATE
                                               : GNOMON__EXIT_UNSURE);
    }
    if (!lines && largest) {
        gate_say(r, largest, &most, text, sizeof text);
        gate_print_holds(r, text, out);
    }
    return status;
}

static int gate_watches_nothing(const gate_round *r)
{
    gnomon__suggestion s = gnomon__suggest(r->gate->name);
    size_t seen = 0;
    for (size_t i = 0; i < r->diff->count; i++) {
        const gnomon__diff_row *row = r->diff->rows[i];
        if (row->kind == r->gate->kind)
            gnomon__suggest_offer(&s, row->name);
        seen += (size_t)gate_watches(r->gate, row, r->stage);
    }
    if (seen) {
        gnomon__log("gate '%s' has nothing to compare: what it watches is on "
                    "one side only",
                    r->gate->text);
        return GNOMON__EXIT_NOTHING;
    }
    if (s.best)
        gnomon__log("gate '%s' watches nothing: no row is '%s': did you mean "
                    "'%s'?",
                    r->gate->text, r->gate->name, s.best);
    else
        gnomon__log("gate '%s' watches nothing: no row is '%s'", r->gate->text,
                    r->gate->name);
    return GNOMON__EXIT_USAGE;
}

static size_t gate_count(const gnomon__gate *g, const gnomon__diff *d,
                         const char *stage)
{
    size_t watched = 0;
    for (size_t i = 0; i < d->count; i++)
        if (gate_watches(g, d->rows[i], stage) && gate_has_both(d->rows[i]))
            watched++;
    return watched;
}

int gnomon__gates_judge(const gnomon__gate *gates, size_t count,
                        const gnomon__diff_request *asked)
{
    const gnomon__diff *d = asked->diff;
    gate_round r = {.diff = d,
                    .stage = asked->stage,
                    .assumed = &asked->assumed,
                    .confidence = asked->confidence,
                    .form = asked->form};
    size_t watched = 0;
    int status = GNOMON__EXIT_OK, one;
    for (size_t i = 0; i < count; i++)
        watched += gate_count(&gates[i], d, r.stage);
    /* Bonferroni: however many there are, all together are right so often. */
    r.least = watched ? 1 - (1 - r.confidence) / (double)watched : 1;
    if (r.form == GNOMON__CHANGES_JSON)
        asked->out.print(&asked->out, ",\n\"gates\": [");
    for (size_t i = 0; i < count; i++) {
        r.gate = &gates[i];
        one = gate_count(r.gate, d, r.stage) ? gate_judge(&r, &asked->out)
                                             : gate_watches_nothing(&r);
        status = gnomon__cli_worse(status, one);
    }
    if (r.form == GNOMON__CHANGES_JSON)
        asked->out.write(&asked->out, "]", 1);
    return status;
}
