/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Resolving a spec: looks up its words, of which the parser knows none. Called from
 * control calls, after the plugins that the spec names are loaded, because they add
 * options. Invariant: every word left in the spec is known. */
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"
#include "spec/options.h"
#include "spec/schedule.h"

#define MOST_PLUGINS 32u /* of one spec: more than may be attached */

/* All that is known, for one pass over the spec. */
typedef struct resolve_words {
    const gnomon_profiler *const *known;
    size_t count;
    gnomon__complaints *complaints;
    int status;
    int is_off;    /* the spec has "off": it needs no profiler */
    size_t closed; /* the free option before the last known profiler */
    const gnomon_option_info *plugins[MOST_PLUGINS]; /* their options */
    size_t plugin_count;
} resolve_words;

static const char *resolve_profiler(const resolve_words *w, const char *name)
{
    size_t i;
    for (i = w->count; i-- > 0;) /* the last of a name wins */
        if (gnomon__same_word(w->known[i]->name, name))
            return w->known[i]->name;
    return NULL;
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
    size_t i;
    if (!info)
        info = gnomon__option_find(gnomon__run_options, key);
    for (i = 0; !info && i < w->count; i++)
        info = gnomon__option_find(gnomon__options_of(w->known[i]), key);
    for (i = 0; !info && i < w->plugin_count; i++)
        info = gnomon__option_find(w->plugins[i], key);
    return info;
}

static void resolve_offer(gnomon__suggestion *s,
                          const gnomon_option_info *table)
{
    const gnomon_option_info *o;
    for (size_t i = 0; (o = gnomon__option_at(table, i)) != NULL; i++)
        gnomon__suggest_offer(s, o->key);
}

static void resolve_unknown_option(resolve_words *w, const gnomon__spec *spec,
                                   const gnomon__setting *one)
{
    gnomon__suggestion s = gnomon__suggest(one->key);
    gnomon__spec_who who;
    const char *key = gnomon__spec_shown(one->position, one->key);
    const char *origin =
        gnomon__spec_name(&who, spec, one->position, spec->origin);
    const char *name, *rest;
    size_t i;

    w->status = GNOMON_EINVAL;
    if (resolve_profiler(w, one->key)) {
        gnomon__complain(w->complaints,
                         "%s: '%.64s' is a profiler: its options go in "
                         "brackets, %.64s(...)",
                         origin, key, key);
        return;
    }
    name = resolve_first_part(w, one->key, &rest);
    if (name) {
        rest += strspn(rest, " \t;:|+&");
        gnomon__complain(
            w->complaints,
            "%s: a profiler's options go in brackets: %s(%.64s"
            "=%.64s)",
            origin, name, gnomon__spec_shown(one->position, rest),
            gnomon__spec_shown(one->position, one->value ? one->value : ""));
        return;
    }
    if (gnomon__schedule_has(one->key)) {
        gnomon__complain(w->complaints,
                         "%s: '%.64s' is a part of schedule: write "
                         "schedule=wait:1/warmup:1/active:3",
                         origin, key);
        return;
    }
    resolve_offer(&s, gnomon__core_options);
    resolve_offer(&s, gnomon__run_options);
    for (i = 0; i < w->count; i++)
        resolve_offer(&s, gnomon__options_of(w->known[i]));
    for (i = 0; i < w->plugin_count; i++)
        resolve_offer(&s, w->plugins[i]);
    if (s.best)
        gnomon__complain(w->complaints,
                         "%s: unknown option '%.64s': did you mean '%s'?",
                         origin, key, s.best);
    else
        gnomon__complain(w->complaints,
                         "%s: unknown option '%.64s': no profiler has it",
                         origin, key);
}

/* A word after a comma that belongs to the option before it: filter=a,b for a|b. */
static int resolve_is_of_option(resolve_words *w, const gnomon__spec *spec,
                                const gnomon__spec_item *item,
                                const char *origin, const char *name)
{
    const gnomon__setting *before =
        item->after && item->after != w->closed && !item->settings.count
            ? &spec->defaults.at[item->after - 1]
            : NULL;
    char line[256];
    if (!before || !gnomon__setting_goes_on(line, sizeof line, before, name))
        return 0;
    gnomon__complain(w->complaints, "%s: unknown profiler '%.64s': %s", origin,
                     name, line);
    return 1;
}

/* Words with another separator than a comma. */
static int resolve_is_more_words(resolve_words *w,
                                 const gnomon__spec_item *item,
                                 const char *origin, const char *name)
{
    const char *rest, *first = resolve_first_part(w, item->name, &rest);
    int is_colon = first && *rest == ':';
    if (!first)
        return 0;
    rest += strspn(rest, " \t;:|+&");
    gnomon__complain(
        w->complaints, "%s: unknown profiler '%.64s': %s %s%s%.64s%s", origin,
        name,
        is_colon ? "options go in brackets:" : "separate words by commas:",
        first, is_colon ? "(" : ",", gnomon__spec_shown(item->position, rest),
        is_colon ? ")" : "");
    return 1;
}

static void resolve_unknown_profiler(resolve_words *w, const gnomon__spec *spec,
                                     const gnomon__spec_item *item)
{
    gnomon__suggestion s = gnomon__suggest(item->name);
    gnomon__spec_who who;
    const char *name = gnomon__spec_shown(item->position, item->name);
    const char *origin =
        gnomon__spec_name(&who, spec, item->position, spec->origin);
    char known[600] = "";
    size_t i, used = 0;

    w->status = GNOMON_EINVAL;
    if (resolve_is_more_words(w, item, origin, name))
        return;
    for (i = 0; i < w->count; i++) {
        gnomon__suggest_offer(&s, w->known[i]->name);
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                     i > 0 ? ", " : "", w->known[i]->name);
    }
    gnomon__suggest_offer(&s, "help");
    if (s.best)
        gnomon__complain(w->complaints,
                         "%s: unknown profiler '%.64s': did you mean '%s'?",
                         origin, name, s.best);
    else if (!resolve_is_of_option(w, spec, item, origin, name))
        gnomon__complain(w->complaints,
                         "%s: unknown profiler '%.64s'. There are: %s", origin,
                         name, known);
}

/* Puts the item's name in the profiler's own spelling. */
static void resolve_spell(resolve_words *w, gnomon__spec_item *item,
                          const char *name)
{
    char *copy;
    if (strcmp(item->name, name) == 0)
        return;
    copy = gnomon__strdup(name);
    if (!copy) {
        w->status = GNOMON_ENOMEM;
        return;
    }
    gnomon__free(item->name);
    item->name = copy;
}

/* Resolves one item; 0: it is no profiler and is to be removed. */
static int resolve_item(resolve_words *w, gnomon__spec *spec,
                        gnomon__spec_item *item)
{
    const char *name = resolve_profiler(w, item->name);
    const gnomon_option_info *option;

    if (item->is_path)
        return 1;
    if (name) {
        w->closed = item->after;
        resolve_spell(w, item, name);
        return 1;
    }
    if (!item->settings.count && (gnomon__same_word(item->name, "off") ||
                                  gnomon__same_word(item->name, "none") ||
                                  strcmp(item->name, "0") == 0)) {
        w->is_off = 1;
        return 0;
    }
    option = resolve_option(w, item->name);
    if (item->settings.count == 0 && gnomon__same_word(item->name, "help")) {
        spec->wants_help = 1;
    } else if (item->settings.count > 0 || !option) {
        resolve_unknown_profiler(w, spec, item);
    } else if (!gnomon__option_may_be_bare(option)) {
        gnomon__spec_who who;
        gnomon__complain(
            w->complaints, "%s: %s: a value is missing: %s=...",
            gnomon__spec_name(&who, spec, item->position, spec->origin),
            option->key, option->key);
        w->status = GNOMON_EINVAL;
    } else if (gnomon__settings_add(&spec->defaults, option->key, "true") !=
               GNOMON_OK) {
        w->status = GNOMON_ENOMEM;
    }
    return 0;
}

/* Complains of options in a spec without a profiler. mem= is also for profilers that
 * the host attaches. */
static void resolve_nobody(resolve_words *w, const gnomon__spec *spec)
{
    for (size_t i = 0; i < spec->defaults.count; i++) {
        const gnomon__setting *one = &spec->defaults.at[i];
        gnomon__spec_who who;
        if (gnomon__same_word(one->key, "mem"))
            continue;
        gnomon__complain(
            w->complaints, "%s: no profiler is named: write simple,%.64s=%.64s",
            gnomon__spec_name(&who, spec, one->position, spec->origin),
            one->key,
            gnomon__spec_shown(one->position, one->value ? one->value : ""));
        w->status = GNOMON_EINVAL;
        return;
    }
}

int gnomon__spec_resolve(gnomon__spec *spec,
                         const gnomon_profiler *const *known, size_t count,
                         gnomon__complaints *complaints)
{
    resolve_words w = {
        .known = known, .count = count, .complaints = complaints};
    gnomon__settings *defaults = &spec->defaults;
    size_t kept, i;

    for (i = 0; i < spec->item_count && w.plugin_count < MOST_PLUGINS; i++)
        if (spec->items[i].profiler)
            w.plugins[w.plugin_count++] =
                gnomon__options_of(spec->items[i].profiler);
    for (i = 0; i < defaults->count; i++)
        if (!resolve_option(&w, defaults->at[i].key))
            resolve_unknown_option(&w, spec, &defaults->at[i]);
    /* Before unknown options are removed: item->after counts them, too. */
    for (i = kept = 0; i < spec->item_count; i++) {
        gnomon__spec_item *item = &spec->items[i];
        if (w.status == GNOMON_ENOMEM || resolve_item(&w, spec, item))
            spec->items[kept++] = *item;
        else
            gnomon__spec_item_clear(item);
    }
    spec->item_count = kept;
    for (i = kept = 0; i < defaults->count; i++) {
        gnomon__setting *one = &defaults->at[i];
        if (resolve_option(&w, one->key))
            defaults->at[kept++] = *one;
        else
            gnomon__setting_clear(one);
    }
    defaults->count = kept;
    if (!spec->item_count && !w.is_off && !spec->wants_help &&
        !spec->lost_plugin && w.status == GNOMON_OK)
        resolve_nobody(&w, spec);
    return w.status;
}
