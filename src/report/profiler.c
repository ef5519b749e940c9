/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers without a run: created by the parser and tables of $GNOMON, but never
 * attached. Each checks its own options, so none of these is named here. */
#include "report/profiler.h"

#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "print/table.h"
#include "profile/file_read.h"
#include "report/rank_table.h"
#include "run/plugin.h"
#include "spec/options.h"

const char *const gnomon__report_words[] = {
    "simple", "advanced", "tree", "regions",  "threads",  "steps",
    "ranks",  "links",    "gaps", "critical", "counters", "cuda",
    "gpu",    "kernels",  "json", NULL};

/* Words that stand for others, with an option. */
static const struct report_alias {
    const char *word, *name, *key, *value;
} report_aliases[] = {{"threads", "regions", "by", "thread"},
                      {"json", "regions", "format", "json"}};

static unsigned complaints_logged; /* by the profiler's create */

static void profiler_log(const char *line)
{
    gnomon__log("%s", line);
    complaints_logged++;
}

static int no_report(const char *name)
{
    char known[256] = "";
    size_t n = 0;
    gnomon__suggestion s = gnomon__suggest(name);
    for (size_t i = 0; gnomon__report_words[i]; i++) {
        gnomon__suggest_offer(&s, gnomon__report_words[i]);
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s",
                              i ? ", " : "", gnomon__report_words[i]);
    }
    if (s.best)
        gnomon__log("unknown KIND '%s': did you mean '%s'?", name, s.best);
    else
        gnomon__log(
            "unknown KIND '%s': there are %s, and plugins by their path", name,
            known);
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
    } else if (gnomon__same_word(item->name, gnomon__ranks_report.name)) {
        p->profiler = &gnomon__ranks_report;
        return GNOMON_OK;
    } else {
        p->profiler = gnomon__profiler_named(item->name);
    }
    if (!p->profiler)
        return no_report(item->name);
    if (p->profiler->summary)
        return GNOMON_OK;
    gnomon__log("--as %s: it has no report", p->profiler->name);
    p->profiler = NULL;
    return GNOMON_ENOENT;
}

/* Whether options are given that Lightning's table does not have: then "simple" is the
 * table "regions". */
static int is_table(const gnomon__settings *options)
{
    for (size_t i = 0; i < options->count; i++)
        if (gnomon__same_word(options->at[i].key, "columns") ||
            gnomon__same_word(options->at[i].key, "format") ||
            gnomon__same_word(options->at[i].key, "by"))
            return 1;
    return 0;
}

static int name_item(gnomon__spec_item *item, const char *name)
{
    char *copy = gnomon__strdup(name);
    if (!copy)
        return GNOMON_ENOMEM;
    gnomon__free(item->name);
    item->name = copy;
    return GNOMON_OK;
}

static int parse_item(gnomon__spec *spec, const char *text,
                      const gnomon__settings *options,
                      gnomon__complaints *complaints)
{
    int code = gnomon__spec_parse(spec, text, "--as", complaints);
    if (!code && (spec->item_count != 1 || spec->defaults.count)) {
        gnomon__log("--as %s: say one report: simple, or 'simple(limit=3)'",
                    text);
        complaints_logged = 1;
        code = GNOMON_EINVAL;
    }
    if (code)
        return code;
    gnomon__spec_item *item = &spec->items[0];
    if (gnomon__same_word(item->name, "simple") && is_table(options))
        code = name_item(item, "regions");
    for (size_t i = 0; i < sizeof report_aliases / sizeof *report_aliases; i++)
        if (gnomon__same_word(item->name, report_aliases[i].word)) {
            code = name_item(item, report_aliases[i].name);
            if (!code)
                code =
                    gnomon__settings_add(&item->settings, report_aliases[i].key,
                                         report_aliases[i].value);
            break;
        }
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

static int report_prints_table(const gnomon__cli_profiler *p,
                               const gnomon__options *options)
{
    const gnomon__table_choice *choice = p->self;
    return gnomon__option_find(gnomon__options_of(p->profiler), "format") &&
           (p->is_plugin ? plugin_prints_table(options, p->profiler)
                         : choice->is_table);
}

static int make_report(gnomon__cli_profiler *p, gnomon__options *options)
{
    int code = GNOMON_OK;
    const char *format = option_of(options, p->profiler, "format");
    const char *by = p->profiler == &gnomon__ranks_report
                         ? NULL /* they are never added up */
                         : option_of(options, p->profiler, "by");
    snprintf(p->format, sizeof p->format, "%s", format ? format : "");
    p->by = by && gnomon__same_word(by, "rank")   ? GNOMON__STAGES_BY_RANK
            : by && gnomon__same_word(by, "host") ? GNOMON__STAGES_BY_HOST
                                                  : GNOMON__STAGES_BY_THREAD;
    code = gnomon__filter_create(&p->filter,
                                 gnomon__options_text(options, "filter"),
                                 gnomon__options_text(options, "exclude"));
    if (!code && p->profiler->create) {
        options->api.log = profiler_log;
        code = p->profiler->create(&options->api, &p->self);
    }
    if (!code)
        p->is_table = report_prints_table(p, options);
    if (!code && p->profiler == &gnomon__ranks_report)
        p->ranks_by = ((const gnomon__table_choice *)p->self)->by;
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
        code = gnomon__options_create_of(&options, p->profiler, &spec, 0,
                                         &complaints);
    if (!code)
        code = make_report(p, options);
    for (unsigned i = 0; i < complaints.count; i++)
        gnomon__log("%s", complaints.line[i]);
    if (code && !complaints.count && !complaints_logged)
        gnomon__log("--as %s: %s", item, gnomon_error_name(code));
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

uint32_t gnomon__report_kinds(const gnomon__cli_profiler *p)
{
    static const char *const without_links[] = {"simple", "regions", "ranks",
                                                "steps"};
    const char *name = p->profiler->name;
    uint32_t kinds = GNOMON__EVERY_KIND;
    for (size_t i = 0; i < sizeof without_links / sizeof *without_links; i++)
        if (strcmp(name, without_links[i]) == 0)
            kinds &= ~(1u << GNOMON_LINKS);
    if (!(p->profiler->wants & GNOMON_WANT_EVENTS) &&
        strcmp(name, "steps") != 0)
        kinds &= ~(1u << GNOMON_EVENTS);
    return kinds;
}
