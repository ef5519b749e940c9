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

#include "command/command.h"
#include "gnomon/tool.h"
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

/* "+10us", of calls "+10", of a counter "+0.5", of memory "+1MiB". */
static int gate_absolute(gnomon__gate *g, const char *word)
{
    int64_t type = g->metric == GNOMON__CALLS       ? GNOMON_OPTION_INTEGER
                   : g->kind == GNOMON__DIFF_MEMORY ? GNOMON_OPTION_BYTES
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
        return gate_wrong(g, "say NAME METRIC LIMIT: 'forward mean +5%'; "
                             "a second limit may follow: +10us");
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

static double gate_default(const gnomon__gate *g, double calls)
{
    if (g->metric == GNOMON__CALLS || g->kind >= GNOMON__DIFF_COUNTER)
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
    const gnomon__diff_request *asked;
    double least; /* the confidence that a failure must have */
    int is_begun; /* something is written: in JSON a comma comes next */
} gate_round;

static int gate_watches(const gate_round *r, const gnomon__diff_row *row)
{
    return row->kind == r->gate->kind &&
           (!r->asked->stage || strcmp(r->asked->stage, row->stage) == 0) &&
           gnomon__glob(r->gate->name, strlen(r->gate->name), row->name);
}

/* The next row from *at on that the gate watches and whose value both sides have; NULL:
 * there is none. */
static const gnomon__diff_row *gate_next(const gate_round *r, size_t *at)
{
    while (*at < r->asked->diff->table.table.row_count) {
        const gnomon__diff_row *row =
            gnomon__diff_row_at(r->asked->diff, (*at)++);
        int has = gate_watches(r, row);
        for (int side = 0; has && side < 2; side++)
            has = !isnan(gnomon__estimate_value(
                r->asked->diff, row, (enum gnomon__side)side, r->gate->metric));
        if (has)
            return row;
    }
    return NULL;
}

/* "fit: optimizer_step: mean 1.204 ms -> 1.331 ms, +10.5 %, 99.97 % sure", and of
 * one job a side "if jobs differ by 1.6 % + 15 ns". */
static void gate_say(const gate_round *r, const gnomon__diff_row *row,
                     const gnomon__change *c, char *text, size_t size)
{
    char from[GNOMON__CHANGES_TEXT], to[GNOMON__CHANGES_TEXT];
    char change[GNOMON__CHANGES_TEXT], sure[GNOMON__CHANGES_TEXT];
    char drift[GNOMON__CHANGES_TEXT];
    int is_assumed =
        gnomon__diff_is_assumed(r->asked->diff) && !isnan(c->confidence);
    enum gnomon__changes_unit unit =
        gnomon__changes_unit_of(r->gate->kind, r->gate->metric);
    snprintf(text, size, "%s%s%.400s: %s %s -> %s, %s, %s%s%s%s", row->stage,
             *row->stage ? ": " : "", row->name, r->gate->word,
             gnomon__changes_value(from, c->a, unit, 0),
             gnomon__changes_value(to, c->b, unit, 0),
             gnomon__changes_percent(change, c->relative, unit),
             isnan(c->confidence) ? "but one execution a side says nothing"
                                  : gnomon__changes_sure(sure, c->confidence),
             isnan(c->confidence) ? "" : " sure",
             is_assumed ? " if jobs differ by " : "",
             is_assumed ? gnomon__changes_drift(drift, &r->asked->assumed)
                        : "");
}

/* One row that a gate watches, for programs. */
static void gate_json(gate_round *r, const gnomon__diff_row *row,
                      const gnomon__change *c, enum gnomon__verdict verdict)
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
    const gnomon_writer *out = &r->asked->out;
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

static void gate_print_holds(const gate_round *r, const char *text)
{
    const gnomon_writer *out = &r->asked->out;
    if (r->asked->choice.format == GNOMON__TABLE_MD) {
        out->print(out, "- gate holds: ");
        gnomon__put_md(out, r->gate->text);
        out->print(out, ": ");
        gnomon__put_md(out, text);
        out->print(out, "\n");
    } else if (r->asked->choice.format == GNOMON__TABLE_TEXT &&
               !r->asked->page) {
        out->print(out, "gate holds: %s: %s\n", r->gate->text, text);
    }
}

/* Without memory the page has a line less; standard error has them all. */
static void gate_note(const gate_round *r, enum gnomon__verdict verdict,
                      const char *text)
{
    gnomon__gate_lines *said = r->asked->said;
    if (said &&
        gnomon__grow(&said->at, &said->room, said->count + 1, sizeof *said->at))
        said->at[said->count++] = (struct gnomon__gate_line){
            r->gate->text, gnomon__strdup(text), (int)verdict};
}

/* Each row beyond the limits has a line; where there is none, the one with the
 * largest change. */
static int gate_judge(gate_round *r)
{
    const gnomon__diff_row *row, *largest = NULL;
    const gnomon__diff_request *asked = r->asked;
    gnomon__change most = {.relative = 0};
    int status = GNOMON__EXIT_OK;
    char text[768];
    for (size_t at = 0; (row = gate_next(r, &at)) != NULL;) {
        const gnomon__change c =
            gnomon__compare(asked->diff, row, r->gate->metric,
                            asked->confidence, &asked->assumed);
        const enum gnomon__verdict verdict = gnomon__gate_judge(
            r->gate, &c,
            gnomon__estimate_value(asked->diff, row, GNOMON__SIDE_A,
                                   GNOMON__CALLS),
            r->least);
        if (!largest || (r->gate->falls ? c.relative < most.relative
                                        : c.relative > most.relative)) {
            largest = row;
            most = c;
        }
        if (asked->choice.format == GNOMON__TABLE_JSON)
            gate_json(r, row, &c, verdict);
        if (verdict == GNOMON__GATE_HOLDS)
            continue;
        gate_say(r, row, &c, text, sizeof text);
        gate_note(r, verdict, text);
        if (verdict == GNOMON__GATE_FAILS)
            gnomon__log("gate fails: %s: %s", r->gate->text, text);
        else
            gnomon__log("gate is not sure: %s: %s; a failure needs %.6g %%",
                        r->gate->text, text, 100 * r->least);
        status = gnomon__cli_worse(status, verdict == GNOMON__GATE_FAILS
                                               ? GNOMON__EXIT_GATE
                                               : GNOMON__EXIT_UNSURE);
    }
    if (!status && largest) { /* there is one */
        gate_say(r, largest, &most, text, sizeof text);
        gate_note(r, GNOMON__GATE_HOLDS, text);
        gate_print_holds(r, text);
    }
    return status;
}

static int gate_watches_nothing(const gate_round *r)
{
    gnomon__suggestion s = gnomon__suggest(r->gate->name);
    for (size_t i = 0; i < r->asked->diff->table.table.row_count; i++) {
        const gnomon__diff_row *row = gnomon__diff_row_at(r->asked->diff, i);
        if (gate_watches(r, row)) {
            gnomon__log("gate '%s' has nothing to compare: what it watches is "
                        "not on both sides",
                        r->gate->text);
            return GNOMON__EXIT_NOTHING;
        }
        if (row->kind == r->gate->kind)
            gnomon__suggest_offer(&s, row->name);
    }
    gnomon__log("gate '%s' watches nothing: no row is '%s'%s%s%s",
                r->gate->text, r->gate->name, s.best ? ": did you mean '" : "",
                s.best ? s.best : "", s.best ? "'?" : "");
    return GNOMON__EXIT_USAGE;
}

int gnomon__gates_judge(const gnomon__gate *gates, size_t count,
                        const gnomon__diff_request *asked)
{
    const int is_json = asked->choice.format == GNOMON__TABLE_JSON;
    gate_round r = {.asked = asked};
    size_t watched = 0, at;
    int status = GNOMON__EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        r.gate = &gates[i];
        for (at = 0; gate_next(&r, &at);)
            watched++;
    }
    /* Bonferroni: however many there are, all together are right so often. */
    r.least = watched ? 1 - (1 - asked->confidence) / (double)watched : 1;
    if (is_json)
        asked->out.print(&asked->out, ",\n\"gates\": [");
    for (size_t i = 0; i < count; i++) {
        r.gate = &gates[i];
        at = 0;
        status = gnomon__cli_worse(status, gate_next(&r, &at)
                                               ? gate_judge(&r)
                                               : gate_watches_nothing(&r));
    }
    if (is_json)
        asked->out.write(&asked->out, "]", 1);
    return status;
}
