/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Resolving a spec: the parser knows no words, here they are looked up. Called
 * from control calls, once the plugins that the spec names are loaded, as they
 * bring words too. Invariant: what is left in the spec has been found. */
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"
#include "spec/options.h"

/* All that is known, for one pass over the spec. */
typedef struct resolve_words {
    const gnomon_profiler *const *known;
    size_t count;
    gnomon__complaints *complaints;
    int status;
} resolve_words;

static const char *resolve_profiler(const resolve_words *w, const char *name)
{
    size_t i;
    for (i = w->count; i-- > 0;) /* of one name the last registered holds */
        if (gnomon__same_word(w->known[i]->name, name))
            return w->known[i]->name;
    return NULL;
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
    const char *key = gnomon__spec_shown(one->place, one->key);
    const char *origin =
        gnomon__spec_name(&who, spec, one->place, spec->origin);
    size_t i;

    w->status = GNOMON_EINVAL;
    if (resolve_profiler(w, one->key)) {
        gnomon__complain(w->complaints,
                         "%s: '%.64s' is a profiler: its options stand in "
                         "brackets, %.64s(...)",
                         origin, key, key);
        return;
    }
    resolve_offer(&s, gnomon__core_options);
    resolve_offer(&s, gnomon__run_options);
    for (i = 0; i < w->count; i++)
        resolve_offer(&s, gnomon__options_of(w->known[i]));
    if (s.best)
        gnomon__complain(w->complaints,
                         "%s: unknown option '%.64s': did you mean '%s'?",
                         origin, key, s.best);
    else
        gnomon__complain(w->complaints,
                         "%s: unknown option '%.64s': no profiler has it",
                         origin, key);
}

static void resolve_unknown_profiler(resolve_words *w, const gnomon__spec *spec,
                                     const gnomon__spec_item *item)
{
    gnomon__suggestion s = gnomon__suggest(item->name);
    gnomon__spec_who who;
    const char *name = gnomon__spec_shown(item->place, item->name);
    const char *origin =
        gnomon__spec_name(&who, spec, item->place, spec->origin);
    char known[600] = "";
    size_t i, used = 0;

    w->status = GNOMON_EINVAL;
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
    else
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

/* Looks at one item; 0: it is none, take it out. */
static int resolve_item(resolve_words *w, gnomon__spec *spec,
                        gnomon__spec_item *item)
{
    const char *name = resolve_profiler(w, item->name);
    const gnomon_option_info *option;

    if (item->is_path)
        return 1;
    if (name) {
        resolve_spell(w, item, name);
        return 1;
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
            gnomon__spec_name(&who, spec, item->place, spec->origin),
            option->key, option->key);
        w->status = GNOMON_EINVAL;
    } else if (gnomon__settings_add(&spec->defaults, option->key, "true") !=
               GNOMON_OK) {
        w->status = GNOMON_ENOMEM;
    }
    return 0;
}

int gnomon__spec_resolve(gnomon__spec *spec,
                         const gnomon_profiler *const *known, size_t count,
                         gnomon__complaints *complaints)
{
    resolve_words w = {known, count, complaints, GNOMON_OK};
    gnomon__settings *defaults = &spec->defaults;
    size_t kept, i;

    for (i = kept = 0; i < defaults->count; i++) {
        gnomon__setting *one = &defaults->at[i];
        if (resolve_option(&w, one->key)) {
            defaults->at[kept++] = *one;
        } else {
            resolve_unknown_option(&w, spec, one);
            gnomon__setting_clear(one);
        }
    }
    defaults->count = kept;
    for (i = kept = 0; i < spec->item_count; i++) {
        gnomon__spec_item *item = &spec->items[i];
        if (w.status == GNOMON_ENOMEM || resolve_item(&w, spec, item))
            spec->items[kept++] = *item;
        else
            gnomon__spec_item_clear(item);
    }
    spec->item_count = kept;
    return w.status;
}
