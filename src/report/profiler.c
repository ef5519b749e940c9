/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers without a run: created by the parser and tables of $GNOMON, but never
 * attached. Each checks its own options, so none of these is named here. */
#include "report/profiler.h"

#include <stdio.h>
#include <string.h>

#include "memory/memory.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/file_read.h"
#include "profilers/table.h"
#include "report/advice.h"
#include "report/averages.h"
#include "report/loaders.h"
#include "report/ranks.h"
#include "run/plugin.h"
#include "spec/options.h"

/* ---- All of them ----------------------------------------------------------------- */

/* Those of the library, then the program's own; NULL: there are no more. */
static const gnomon_profiler *report_at(size_t i)
{
    size_t count = 0;
    while (gnomon__profilers[count])
        count++;
    return i < count        ? *gnomon__profilers[i]
           : i == count     ? gnomon__ranks_profiler
           : i == count + 1 ? &gnomon__averages_report
           : i == count + 2 ? gnomon__advice_profiler
           : i == count + 3 ? gnomon__memory_report
           : i == count + 4 ? gnomon__loaders_profiler
           : i == count + 5 ? gnomon__workers_profiler
                            : NULL;
}

/* What makes a report of a profile. */
static int is_report(const gnomon_profiler *p)
{
    return p->summary && p->wants & GNOMON_WANT_TREE;
}

static const gnomon__report_alias no_aliases[] = {{"", "", ""}};

static const gnomon__report_alias *aliases_of(const gnomon_profiler *p)
{
    const gnomon__report *report = gnomon__report_of(p);
    return report && report->aliases ? report->aliases : no_aliases;
}

const char *gnomon__report_words[48];
char gnomon__report_help[3000];

static void add_word(const char *word, const char *help,
                     const gnomon__report_alias *a)
{
    const size_t most =
        sizeof gnomon__report_words / sizeof *gnomon__report_words;
    const size_t used = strlen(gnomon__report_help);
    size_t count = 0;
    while (gnomon__report_words[count])
        count++;
    if (count + 1 == most)
        return;
    gnomon__report_words[count] = word;
    snprintf(gnomon__report_help + used, sizeof gnomon__report_help - used,
             a ? "  %-9s %s(%s=%s)\n" : "  %-9s %s\n", word, help,
             a ? a->key : "", a ? a->value : "");
}

void gnomon__report_words_make(void)
{
    const gnomon_profiler *p;
    if (*gnomon__report_words)
        return;
    for (size_t i = 0; (p = report_at(i)); i++) {
        if (!is_report(p))
            continue;
        add_word(p->name, p->help, NULL);
        for (const gnomon__report_alias *a = aliases_of(p); *a->word; a++)
            if (*a->key)
                add_word(a->word, p->name, a);
    }
    add_word("html", "one page of all of it, for a browser: -o run.html", NULL);
}

/* The report that the word is an alias of; NULL: of none. */
static const gnomon_profiler *report_of_alias(const char *word,
                                              const gnomon__report_alias **of)
{
    const gnomon_profiler *p;
    for (size_t i = 0; (p = report_at(i)); i++)
        for (*of = aliases_of(p); *(*of)->word; ++*of)
            if (gnomon__same_word(word, (*of)->word))
                return p;
    return NULL;
}

static const gnomon_profiler *report_named(const char *name)
{
    const gnomon_profiler *p;
    for (size_t i = 0; (p = report_at(i)); i++)
        if (gnomon__same_word(name, p->name))
            return p;
    return NULL;
}

/* ---- One ------------------------------------------------------------------------- */

static unsigned complaints_logged; /* by the profiler's create */

static void profiler_log(const char *line)
{
    gnomon__log("%s", line);
    complaints_logged++;
}

static int no_report(const char *name)
{
    gnomon__suggestion s = gnomon__suggest(name);
    for (size_t i = 0; gnomon__report_words[i]; i++)
        gnomon__suggest_list(&s, gnomon__report_words[i]);
    if (s.best)
        gnomon__log("unknown KIND '%s': did you mean '%s'?", name, s.best);
    else
        gnomon__log(
            "unknown KIND '%s': there are %s, and plugins by their path", name,
            s.known);
    return GNOMON_ENOENT;
}

static int find_report(gnomon__cli_profiler *p, const gnomon__spec_item *item)
{
    p->is_plugin = item->is_path;
    if (item->is_path) {
        if (gnomon__plugin_load(&p->profiler, item->name, item->name)) {
            gnomon__log("%s", gnomon_error_text());
            return GNOMON_ENOENT;
        }
    } else if (!(p->profiler = report_named(item->name))) {
        return no_report(item->name);
    }
    if (p->profiler->summary) {
        p->report = p->is_plugin ? NULL : gnomon__report_of(p->profiler);
        return GNOMON_OK;
    }
    gnomon__log("--as %s: it has no report", p->profiler->name);
    p->profiler = NULL;
    return GNOMON_ENOENT;
}

/* Whether one of the options is known to the one and not to the other. */
static int knows_more(const gnomon_profiler *p, const gnomon_profiler *other,
                      const gnomon__settings *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const char *key = options->at[i].key;
        if (gnomon__option_find(gnomon__options_of(p), key) &&
            !gnomon__option_find(gnomon__options_of(other), key))
            return 1;
    }
    return 0;
}

static int parse_item(gnomon__spec *spec, const char *text,
                      const gnomon__settings *options,
                      gnomon__complaints *complaints)
{
    int code = gnomon__spec_parse(spec, NULL, text, "--as", complaints);
    if (!code && (spec->item_count != 1 || spec->defaults.count)) {
        gnomon__log("--as %s: say one report: simple, or 'simple(limit=3)'",
                    text);
        complaints_logged = 1;
        code = GNOMON_EINVAL;
    }
    if (code)
        return code;
    gnomon__spec_item *item = &spec->items[0];
    const gnomon__report_alias *alias;
    const gnomon_profiler *named = report_named(item->name);
    const gnomon_profiler *of =
        item->is_path ? NULL : report_of_alias(item->name, &alias);
    if (of && (!named || knows_more(of, named, options)))
        item->name = of->name;
    if (of && !named)
        code = gnomon__settings_add(&item->settings, alias->key, alias->value);
    for (size_t i = 0; !code && i < options->count; i++)
        code = gnomon__settings_add(&item->settings, options->at[i].key,
                                    options->at[i].value);
    return code;
}

static const char *option_of(const gnomon__options *options,
                             const gnomon_profiler *profiler, const char *key)
{
    return gnomon__option_find(gnomon__options_of(profiler), key)
               ? gnomon__options_text(options, key)
               : NULL;
}

/* Whether a plugin prints a table of print/table.h, by its options alone, as its
 * settings are its own: it has columns= and format=, and these ask for one. A preset of
 * format= says that the report has no other text. */
static int plugin_prints_table(const gnomon__options *options,
                               const gnomon_profiler *profiler)
{
    const gnomon_option_info *table = gnomon__options_of(profiler);
    const char *format = option_of(options, profiler, "format");
    if (!gnomon__option_find(table, "columns"))
        return 0;
    return option_of(options, profiler, "columns") ||
           option_of(options, profiler, "by") ||
           (format && (!gnomon__same_word(format, "text") ||
                       gnomon__option_find(table, "format")->preset));
}

static int make_report(gnomon__cli_profiler *p, gnomon__options *options)
{
    int code = GNOMON_OK;
    const char *format = option_of(options, p->profiler, "format");
    const char *by = option_of(options, p->profiler, "by");
    snprintf(p->format, sizeof p->format, "%s", format ? format : "");
    p->by = by && gnomon__same_word(by, "rank")   ? GNOMON__BY_RANK
            : by && gnomon__same_word(by, "host") ? GNOMON__BY_HOST
                                                  : GNOMON__BY_NOTHING;
    code = gnomon__filter_create(&p->filter,
                                 gnomon__options_text(options, "filter"),
                                 gnomon__options_text(options, "exclude"));
    if (!code && p->profiler->create) {
        options->api.log = profiler_log;
        gnomon__fail_reason_clear();
        code = p->profiler->create(&options->api, &p->self);
    }
    if (!code)
        p->is_table = p->report ? ((gnomon__table_choice *)p->self)->is_table
                                : p->is_plugin &&
                                      plugin_prints_table(options, p->profiler);
    return complaints_logged ? GNOMON_EINVAL : code;
}

int gnomon__cli_profiler_open(gnomon__cli_profiler *p, const char *item,
                              const gnomon__settings *settings)
{
    gnomon__complaints complaints = {0};
    gnomon__spec spec = {0};
    gnomon__options *options = NULL;
    *p = (gnomon__cli_profiler){0};
    complaints_logged = 0;
    int code = parse_item(&spec, item, settings, &complaints);
    if (!code && (code = find_report(p, &spec.items[0])))
        complaints_logged = 1;
    if (!code)
        code = gnomon__options_create(&options, p->profiler, &spec, 0);
    if (!code)
        code = make_report(p, options);
    for (unsigned i = 0; i < complaints.count; i++)
        gnomon__log("%s", complaints.line[i]);
    if (code && !complaints.count && !complaints_logged)
        gnomon__log("--as %s: %s", item, gnomon__fail_reason(code));
    gnomon__options_destroy(options);
    gnomon__complaints_free(&complaints);
    gnomon__spec_free(&spec);
    return code;
}

void gnomon__cli_profiler_close(gnomon__cli_profiler *p)
{
    if (p->profiler && p->profiler->destroy && p->self)
        p->profiler->destroy(p->self);
    gnomon__filter_destroy(p->filter);
    *p = (gnomon__cli_profiler){0};
}

/* ---- What it reads ---------------------------------------------------------------- */

int gnomon__wants(const gnomon__cli_profiler *p, uint32_t bits)
{
    return (p->profiler->wants & bits) != 0;
}

int gnomon__is_apart(const gnomon__cli_profiler *p)
{
    return p->report && (p->by || p->report->compares_ranks);
}

int gnomon__report_has_kinds(const gnomon__cli_profiler *p, uint32_t kinds)
{
    const int has_counters =
        p->report && p->report->reads & GNOMON__READS_COUNTERS;
    return !gnomon__wants(p, GNOMON_WANT_STEPS) &&
           kinds & (1u << GNOMON_NODES |
                    (has_counters ? 1u << GNOMON_COUNTERS : 0));
}

int gnomon__report_has_rows(const gnomon__cli_profiler *p,
                            const gnomon_profile *profile)
{
    gnomon_node_info n;
    gnomon_stage_info stage;
    if (gnomon__wants(p, GNOMON_WANT_STEPS))
        return gnomon_profile_count(profile, GNOMON_STEPS) > 0 ||
               (gnomon_profile_stage(profile, 1, &stage) == GNOMON_OK &&
                stage.steps && stage.steps->count > 0);
    if (gnomon_profile_count(profile, GNOMON_COUNTERS) &&
        gnomon__report_has_kinds(p, 1u << GNOMON_COUNTERS))
        return 1;
    const int has_memory = gnomon__wants(p, GNOMON_WANT_MEMORY);
    for (size_t i = 1; !gnomon_profile_node(profile, i, &n); i++)
        if (n.device || (n.host && n.host->count) ||
            (has_memory && n.memory_count))
            return 1;
    return 0;
}

uint32_t gnomon__report_kinds(const gnomon__cli_profiler *p)
{
    uint32_t kinds = GNOMON__EVERY_KIND;
    if (p->report && !(p->report->reads & GNOMON__READS_LINKS))
        kinds &= ~(1u << GNOMON_LINKS);
    if (!gnomon__wants(p, GNOMON_WANT_EVENTS | GNOMON_WANT_STEPS))
        kinds &= ~(1u << GNOMON_EVENTS);
    return kinds;
}
