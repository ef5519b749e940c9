/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Resolving a spec: looks up its words, of which the parser knows none. Called from
 * control calls, after the plugins that the spec names are loaded, because they add
 * options. Invariant: every word left in the spec is known. */
#include <stdio.h>
#include <string.h>

#include "spec/options.h"
#include "spec/schedule.h"

#define MOST_ITEMS 32u /* of one spec: more than may be attached */

/* All that is known, for one pass over the spec. */
typedef struct resolve_words {
    const gnomon_profiler *const *known;
    size_t count;
    gnomon__spec *spec;
    gnomon__spec_position position; /* of the word in hand */
    int status;
    int is_off;    /* the spec has "off": it needs no profiler */
    size_t closed; /* the free option before the last known profiler */
    size_t told;   /* the free option whose words the last line was about */
    const gnomon_profiler *items[MOST_ITEMS];
    /* Those who may have free options: the spec's profilers, plugins too. All that are
     * known where it has none, or lost one. */
    const gnomon_profiler *const *own;
    size_t own_count;
} resolve_words;

static const gnomon_profiler *resolve_known(const resolve_words *w,
                                            const char *name)
{
    size_t i;
    for (i = w->count; i-- > 0;) /* the last of a name wins */
        if (gnomon__same_word(w->known[i]->name, name))
            return w->known[i];
    return NULL;
}

static const char *resolve_profiler(const resolve_words *w, const char *name)
{
    const gnomon_profiler *profiler = resolve_known(w, name);
    return profiler ? profiler->name : NULL;
}

/* The profiler that the first part of `text` names; *rest is the separator after it.
 * NULL: `text` has one part only, or its first part names no profiler. */
static const char *resolve_first_part(const resolve_words *w, const char *text,
                                      const char **rest)
{
    char part[64];
    size_t n = strcspn(text, " \t;:|+&");
    if (!text[n] || n >= sizeof part)
        return NULL;
    memcpy(part, text, n);
    part[n] = 0;
    *rest = text + n;
    return resolve_profiler(w, part);
}

static const gnomon_option_info *resolve_option(const resolve_words *w,
                                                const char *key)
{
    const gnomon_option_info *info =
        gnomon__option_find(gnomon__core_options, key);
    if (!info)
        info = gnomon__option_find(gnomon__run_options, key);
    for (size_t i = 0; !info && i < w->own_count; i++)
        info = gnomon__option_find(gnomon__options_of(w->own[i]), key);
    return info;
}

/* The profiler to name for an option; NULL: none has it. Of many it is `regions`, whose
 * table takes most. */
static const gnomon_profiler *resolve_owner(const resolve_words *w,
                                            const char *key)
{
    const gnomon_profiler *owner = NULL;
    for (size_t i = 0; i < w->count; i++)
        if (gnomon__option_find(gnomon__options_of(w->known[i]), key) &&
            (!owner || strcmp(w->known[i]->name, "regions") == 0))
            owner = w->known[i];
    return owner;
}

static void resolve_offer(gnomon__suggestion *s,
                          const gnomon_option_info *table)
{
    const gnomon_option_info *o;
    for (size_t i = 0; (o = gnomon__option_at(table, i)) != NULL; i++)
        gnomon__suggest_offer(s, o->key);
}

/* Says `what` to write: NAME(KEY=VALUE), quoted where it must be; `is_free`:
 * NAME,KEY=VALUE. */
static void resolve_say(resolve_words *w, const char *what, const char *name,
                        const char *key, const char *value, int is_free)
{
    gnomon__spec advice = {0};
    char text[256];
    int code = gnomon__spec_add(&advice, name);
    if (!code && key)
        code = gnomon__settings_add(
            is_free ? &advice.defaults : &advice.items[0].settings, key, value);
    if (code) {
        w->status = code;
    } else {
        (void)gnomon__spec_print(&advice, text, sizeof text);
        gnomon__spec_complain(w->spec, w->position, NULL, "%s: write %s", what,
                              text);
    }
    gnomon__spec_free(&advice);
}

/* name=value of a profiler: what can be meant is an option, or a file. */
static void resolve_profiler_set(resolve_words *w, const char *name,
                                 const char *value)
{
    char what[96], key[64] = "file";
    const char *equal = strchr(value, '=');
    int is_file = strpbrk(value, "./") != NULL;
    if (equal) {
        snprintf(key, sizeof key, "%.*s", (int)(equal - value), value);
        value = equal + 1;
    }
    snprintf(what, sizeof what, "'%.64s' is a profiler", name);
    resolve_say(w, what, name, equal || is_file ? key : NULL, value, 0);
}

/* An option, spelled `key`, that no profiler of the spec has, but another one. Of
 * formats some are a profiler: format=chrome is `trace`. */
static void resolve_of_other(resolve_words *w, const char *given,
                             const char *key, const char *value)
{
    const gnomon_profiler *owner = resolve_owner(w, key);
    gnomon__suggestion s = gnomon__suggest(value ? value : "");
    char what[96];
    for (size_t i = 0; strcmp(key, "format") == 0 && i < w->count; i++)
        gnomon__suggest_offer(&s, w->known[i]->name);
    if (s.best && s.distance == 0) {
        owner = resolve_known(w, s.best);
        key = NULL;
    }
    snprintf(what, sizeof what, "no profiler here has '%.64s'", given);
    for (size_t i = 0; i < w->own_count; i++)
        if (w->own[i] == owner) {
            gnomon__spec_complain(w->spec, w->position, NULL,
                                  "%s: leave it out", what);
            return;
        }
    resolve_say(w, what, owner->name, key, value, 0);
}

static void resolve_unknown_option(resolve_words *w, const char *given,
                                   const char *value)
{
    gnomon__suggestion s = gnomon__suggest(given);
    const char *key = gnomon__spec_shown(w->position, given);
    const char *name, *rest;
    size_t i;

    w->status = GNOMON_EINVAL;
    value = value ? gnomon__spec_shown(w->position, value) : NULL;
    name = resolve_profiler(w, given);
    if (name) {
        resolve_profiler_set(w, name, value ? value : "");
        return;
    }
    name = resolve_first_part(w, given, &rest);
    if (name) {
        rest += strspn(rest, " \t;:|+&");
        resolve_say(w, "a profiler's options go in brackets", name,
                    gnomon__spec_shown(w->position, rest), value, 0);
        return;
    }
    if (gnomon__schedule_has(given)) {
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "'%.64s' is a part of schedule: write "
                              "schedule=wait:1/warmup:1/active:3",
                              key);
        return;
    }
    resolve_offer(&s, gnomon__core_options);
    resolve_offer(&s, gnomon__run_options);
    for (i = 0; i < w->own_count; i++)
        resolve_offer(&s, gnomon__options_of(w->own[i]));
    if (s.best && !resolve_owner(w, given)) {
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "unknown option '%.64s': did you mean '%s'?", key,
                              s.best);
        return;
    }
    for (i = 0; i < w->count; i++)
        resolve_offer(&s, gnomon__options_of(w->known[i]));
    if (s.best)
        resolve_of_other(w, key, s.best, value);
    else
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "unknown option '%.64s': no profiler has it",
                              key);
}

/* Words after commas that belong to the option before them: filter=a,b for a|b. */
static int resolve_is_of_option(resolve_words *w, const gnomon__spec_item *item,
                                const char *name)
{
    const gnomon__spec *spec = w->spec;
    const gnomon__setting *before =
        item->after && item->after != w->closed && !item->settings.count
            ? &spec->defaults.at[item->after - 1]
            : NULL;
    const gnomon__spec_item *end = spec->items + spec->item_count;
    char line[256];
    if (!before || !gnomon__setting_goes_on(line, sizeof line, before))
        return 0;
    for (const gnomon__spec_item *next = item;
         next < end && next->after == item->after && !next->settings.count &&
         !resolve_known(w, next->name);
         next++)
        gnomon__setting_add_word(
            line, sizeof line, gnomon__spec_shown(next->position, next->name));
    if (w->told != item->after)
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "unknown profiler '%.64s': %s", name, line);
    w->told = item->after;
    return 1;
}

/* Words with another separator than a comma. */
static int resolve_is_more_words(resolve_words *w,
                                 const gnomon__spec_item *item,
                                 const char *name)
{
    const char *rest, *first = resolve_first_part(w, item->name, &rest);
    int is_colon = first && *rest == ':';
    if (!first)
        return 0;
    rest += strspn(rest, " \t;:|+&");
    gnomon__spec_complain(
        w->spec, w->position, NULL,
        "unknown profiler '%.64s': %s: write %s%s%.64s%s", name,
        is_colon ? "options go in brackets" : "separate words by commas", first,
        is_colon ? "(" : ",", gnomon__spec_shown(item->position, rest),
        is_colon ? ")" : "");
    return 1;
}

static void resolve_unknown_profiler(resolve_words *w,
                                     const gnomon__spec_item *item)
{
    gnomon__suggestion s = gnomon__suggest(item->name);
    const char *name = gnomon__spec_shown(item->position, item->name);

    w->status = GNOMON_EINVAL;
    if (resolve_is_more_words(w, item, name))
        return;
    for (size_t i = 0; i < w->count; i++)
        gnomon__suggest_list(&s, w->known[i]->name);
    gnomon__suggest_offer(&s, "help");
    if (!item->settings.count)
        gnomon__suggest_offer(&s, "off");
    /* Another tool's word is weaker than a list: ranks=0,1. */
    if (s.best && !s.distance && resolve_is_of_option(w, item, name))
        return;
    if (s.best)
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "unknown profiler '%.64s': did you mean '%s'?",
                              name, s.best);
    else if (!resolve_is_of_option(w, item, name))
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "unknown profiler '%.64s'. There are: %s", name,
                              s.known);
}

/* Resolves one item; 0: it is no profiler and is to be removed. */
static int resolve_item(resolve_words *w, gnomon__spec_item *item)
{
    const char *name = resolve_profiler(w, item->name);
    const gnomon_option_info *option;

    w->position = item->position;
    if (item->is_path)
        return 1;
    if (name) {
        w->closed = item->after;
        item->name = name;
        return 1;
    }
    if (!item->settings.count && (gnomon__same_word(item->name, "off") ||
                                  gnomon__same_word(item->name, "none") ||
                                  strcmp(item->name, "0") == 0)) {
        w->is_off = 1;
        return 0;
    }
    option = resolve_option(w, item->name);
    if (!option && !item->settings.count && resolve_owner(w, item->name)) {
        resolve_unknown_option(w, item->name, NULL);
        return 0;
    }
    if (item->settings.count == 0 && gnomon__same_word(item->name, "help")) {
        w->spec->wants_help = 1;
    } else if (item->settings.count > 0 || !option) {
        resolve_unknown_profiler(w, item);
    } else if (!gnomon__option_may_be_bare(option)) {
        gnomon__spec_complain(w->spec, w->position, NULL,
                              "%s: a value is missing: %s=...", option->key,
                              option->key);
        w->status = GNOMON_EINVAL;
    } else if (gnomon__settings_add(&w->spec->defaults, option->key, "true") !=
               GNOMON_OK) {
        w->status = GNOMON_ENOMEM;
    }
    return 0;
}

static void resolve_find_own(resolve_words *w)
{
    const gnomon__spec *spec = w->spec;
    for (size_t i = 0; i < spec->item_count && w->own_count < MOST_ITEMS; i++) {
        const gnomon__spec_item *item = &spec->items[i];
        const gnomon_profiler *profiler =
            item->is_path ? item->profiler : resolve_known(w, item->name);
        if (profiler)
            w->items[w->own_count++] = profiler;
    }
    w->own = w->items;
    if (!w->own_count || spec->lost_plugin) {
        w->own = w->known;
        w->own_count = w->count;
    }
}

/* Whether the core, the run or `simple` has the option. */
static int resolve_is_common(const resolve_words *w, const char *key)
{
    const gnomon_profiler *simple = resolve_known(w, "simple");
    return gnomon__option_find(gnomon__core_options, key) ||
           gnomon__option_find(gnomon__run_options, key) ||
           (simple &&
            gnomon__option_find(gnomon__options_of(simple), key) != NULL);
}

/* Complains of options in a spec without a profiler. mem= is also for profilers that
 * the host attaches. */
static void resolve_nobody(resolve_words *w)
{
    for (size_t i = 0; i < w->spec->defaults.count; i++) {
        const gnomon__setting *one = &w->spec->defaults.at[i];
        const gnomon_profiler *owner = resolve_owner(w, one->key);
        if (gnomon__same_word(one->key, "mem"))
            continue;
        w->status = GNOMON_EINVAL;
        w->position = one->position;
        resolve_say(
            w, "no profiler is named",
            owner && !resolve_is_common(w, one->key) ? owner->name : "simple",
            one->key,
            one->value ? gnomon__spec_shown(one->position, one->value) : NULL,
            1);
        return;
    }
}

int gnomon__spec_resolve(gnomon__spec *spec,
                         const gnomon_profiler *const *known, size_t count)
{
    resolve_words w = {.known = known, .count = count, .spec = spec};
    gnomon__settings *defaults = &spec->defaults;
    size_t kept, i;

    resolve_find_own(&w);
    for (i = 0; i < defaults->count; i++) {
        w.position = defaults->at[i].position;
        if (!resolve_option(&w, defaults->at[i].key))
            resolve_unknown_option(&w, defaults->at[i].key,
                                   defaults->at[i].value);
    }
    /* Before unknown options are removed: item->after counts them, too. */
    for (i = kept = 0; i < spec->item_count; i++) {
        gnomon__spec_item *item = &spec->items[i];
        if (w.status == GNOMON_ENOMEM || resolve_item(&w, item))
            spec->items[kept++] = *item;
        else
            gnomon__settings_free(&item->settings);
    }
    spec->item_count = kept;
    for (i = kept = 0; i < defaults->count; i++)
        if (resolve_option(&w, defaults->at[i].key))
            defaults->at[kept++] = defaults->at[i];
    defaults->count = kept;
    if (!spec->item_count && !w.is_off && !spec->wants_help &&
        !spec->lost_plugin && w.status == GNOMON_OK)
        resolve_nobody(&w);
    return w.status;
}
