/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profiler's options, or the run's, come to. Called from control calls
 * only. Invariant: a value that is in a gnomon__options was checked; what failed
 * was complained of once, and the value of the next lower layer holds (item over
 * free over preset). */
#include "spec/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"

/* ---- A profiler's options ----------------------------------------------- */

static const gnomon__option *option_at(const gnomon__options *options,
                                       const char *key)
{
    size_t i;
    for (i = 0; key && i < options->count; i++)
        if (gnomon__same_word(options->at[i].info->key, key))
            return &options->at[i];
    return NULL;
}

const char *gnomon__options_text(const gnomon__options *options,
                                 const char *key)
{
    const gnomon__option *option = option_at(options, key);
    return option ? option->text : NULL;
}

int64_t gnomon__options_number(const gnomon__options *options, const char *key)
{
    const gnomon__option *option = option_at(options, key);
    return option ? option->number : 0;
}

/* `api` is the first member, so it can be cast to the whole. */
static const char *option_api_text(const gnomon_options *api, const char *key)
{
    return gnomon__options_text((const gnomon__options *)api, key);
}

static int64_t option_api_number(const gnomon_options *api, const char *key)
{
    return gnomon__options_number((const gnomon__options *)api, key);
}

/* Copies `text` to the option; `added`: after its present text and a '|'. */
static int option_set(gnomon__option *option, const char *text, int added)
{
    size_t had = added ? strlen(option->text) + 1 : 0, n = strlen(text);
    char *value = gnomon__alloc(had + n + 1);
    if (!value)
        return GNOMON_ENOMEM;
    if (added) {
        memcpy(value, option->text, had);
        value[had - 1] = '|';
    }
    memcpy(value + had, text, n);
    gnomon__free(option->text);
    option->text = value;
    return GNOMON_OK;
}

static int check_option(const gnomon__option *option, const char *text,
                        int64_t *number, char *why, size_t size)
{
    gnomon__keep keep;
    *number = 0;
    return option->is_keep
               ? gnomon__keep_parse(&keep, text, option->can_stream, why, size)
               : gnomon__option_check(option->info, text, number, why, size);
}

/* Applies `settings` of the spec to one option. Complaints begin with `who`: the
 * profiler, or NULL for free options. */
static void option_lay(gnomon__option *option, const gnomon__spec *spec,
                       const gnomon__settings *settings, const char *who,
                       int *status)
{
    const gnomon_option_info *info = option->info;
    int adds = info == &gnomon__core_options[0] || /* filter */
               info == &gnomon__core_options[1];   /* exclude */
    int laid = 0;

    for (size_t i = 0; i < settings->count && *status != GNOMON_ENOMEM; i++) {
        const char *value = settings->at[i].value;
        gnomon__spec_position position = settings->at[i].position;
        char why[256];
        int64_t number;
        if (!gnomon__same_word(settings->at[i].key, info->key))
            continue;
        if (!value && gnomon__option_may_be_bare(info))
            value = "true";
        if (!value) {
            gnomon__spec_complain(spec, position, who,
                                  "%s: a value is missing: %s=...", info->key,
                                  info->key);
            *status = GNOMON_EINVAL;
        } else if (check_option(option, value, &number, why, sizeof why) !=
                   GNOMON_OK) {
            gnomon__spec_complain(spec, position, who, "%s=%.64s: %s",
                                  info->key,
                                  gnomon__spec_shown(position, value), why);
            *status = GNOMON_EINVAL;
        } else if (option_set(option, value, adds && laid) != GNOMON_OK) {
            *status = GNOMON_ENOMEM;
        } else {
            option->number = number;
            laid = 1;
        }
    }
}

/* Presets of plugins may be wrong, too. */
static int option_preset(gnomon__option *option, const gnomon__spec *spec,
                         const char *who)
{
    const char *preset = option->info->preset;
    char why[256];

    if (!preset)
        return GNOMON_OK;
    if (check_option(option, preset, &option->number, why, sizeof why) !=
        GNOMON_OK) {
        gnomon__complain(spec->complaints, "%s: its preset %s=%.64s: %s", who,
                         option->info->key, preset, why);
        return GNOMON_OK;
    }
    return option_set(option, preset, 0);
}

static size_t option_count(const gnomon_option_info *table)
{
    size_t count = 0;
    while (gnomon__option_at(table, count))
        count++;
    return count;
}

/* Of its fields `wants` is as old as the struct. */
static void mark_keep(gnomon__options *options, const gnomon_profiler *of)
{
    const uint32_t both = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS;
    int has_events = of &&
                     of->struct_size >= offsetof(gnomon_profiler, events) +
                                            sizeof of->events &&
                     of->events;
    for (size_t i = 0; of && i < options->count; i++) {
        gnomon__option *o = &options->at[i];
        o->can_stream = has_events;
        o->is_keep = (of->wants & both) == both &&
                     o->info->type == GNOMON_OPTION_TEXT &&
                     gnomon__same_word(o->info->key, "keep");
    }
}

gnomon__keep gnomon__options_keep(const gnomon__options *options)
{
    gnomon__keep keep = {GNOMON__KEEP_LAST, 0};
    const gnomon__option *o = option_at(options, "keep");
    char why[128];
    if (o && o->is_keep && o->text)
        (void)gnomon__keep_parse(&keep, o->text, o->can_stream, why,
                                 sizeof why);
    return keep;
}

/* The options of a profiler and of the core, or of the run, presets set. Its own that
 * the core has too are left out. */
static gnomon__options *option_make(const char *who, const gnomon_profiler *of,
                                    const gnomon__spec *spec)
{
    const gnomon_option_info *own =
        of ? gnomon__options_of(of) : gnomon__run_options;
    const gnomon_option_info *core = of ? gnomon__core_options : NULL;
    size_t count = option_count(own) + option_count(core), i;
    const gnomon_option_info *o;
    gnomon__options *options =
        gnomon__alloc(sizeof *options + count * sizeof options->at[0]);

    if (!options)
        return NULL;
    options->api.struct_size = sizeof options->api;
    options->api.text = option_api_text;
    options->api.number = option_api_number;
    for (i = 0; (o = gnomon__option_at(own, i)) != NULL; i++)
        if (!gnomon__option_find(core, o->key))
            options->at[options->count++].info = o;
    for (i = 0; (o = gnomon__option_at(core, i)) != NULL; i++)
        options->at[options->count++].info = o;
    mark_keep(options, of);
    for (i = 0; i < options->count; i++)
        if (option_preset(&options->at[i], spec, who) != GNOMON_OK) {
            gnomon__options_destroy(options);
            return NULL;
        }
    return options;
}

/* The setting at `i`; the same line mentions the words behind it. Returns the last
 * one. */
static size_t option_unknown(const gnomon__options *options,
                             const gnomon__spec *spec, const char *who,
                             const gnomon__settings *settings, size_t i)
{
    const gnomon__setting *one = &settings->at[i];
    const char *key = one->key;
    char line[256];
    gnomon__suggestion s = gnomon__suggest(key);

    if (gnomon__option_find(gnomon__run_options, key)) {
        gnomon__spec_complain(spec, one->position, who,
                              "'%s' is for the whole run: write it outside of "
                              "the brackets",
                              key);
        return i;
    }
    for (size_t k = 0; k < options->count; k++)
        gnomon__suggest_list(&s, options->at[k].info->key);
    key = gnomon__spec_shown(one->position, key);
    if (!s.best && i && !one->value &&
        gnomon__setting_goes_on(line, sizeof line, one - 1)) {
        for (; i < settings->count && !settings->at[i].value &&
               !option_at(options, settings->at[i].key);
             i++)
            gnomon__setting_add_word(
                line, sizeof line,
                gnomon__spec_shown(settings->at[i].position,
                                   settings->at[i].key));
        gnomon__spec_complain(spec, one->position, who,
                              "unknown option '%.64s': %s", key, line);
        return i - 1;
    }
    gnomon__spec_complain(spec, one->position, who,
                          "unknown option '%.64s'%s%s%s It knows: %s", key,
                          s.best ? ": did you mean '" : ".",
                          s.best ? s.best : "", s.best ? "'?" : "", s.known);
    return i;
}

/* Applies the free options, then the item's, over the presets. */
static int option_fill(gnomon__options *options, const char *who,
                       const gnomon__spec *spec,
                       const gnomon__settings *settings)
{
    int status = GNOMON_OK;
    size_t i;

    for (i = 0; i < options->count; i++) {
        option_lay(&options->at[i], spec, &spec->defaults, NULL, &status);
        if (settings)
            option_lay(&options->at[i], spec, settings, who, &status);
    }
    for (i = 0; settings && status != GNOMON_ENOMEM && i < settings->count; i++)
        if (!option_at(options, settings->at[i].key)) {
            i = option_unknown(options, spec, who, settings, i);
            status = GNOMON_EINVAL;
        }
    return status;
}

int gnomon__options_create(gnomon__options **out,
                           const gnomon_profiler *profiler,
                           const gnomon__spec *spec, size_t item)
{
    const char *who = profiler ? profiler->name : "run";
    int status;
    *out = option_make(who, profiler, spec);
    if (!*out)
        return GNOMON_ENOMEM;
    status = option_fill(*out, who, spec,
                         profiler ? &spec->items[item].settings : NULL);
    if (status == GNOMON_ENOMEM) {
        gnomon__options_destroy(*out);
        *out = NULL;
    }
    return status;
}

void gnomon__options_destroy(gnomon__options *options)
{
    size_t i;
    for (i = 0; options && i < options->count; i++)
        gnomon__free(options->at[i].text);
    gnomon__free(options);
}

int gnomon__options_settle(const gnomon__options *options,
                           gnomon__settings *out)
{
    size_t i;
    for (i = 0; i < options->count; i++) {
        const gnomon__option *option = &options->at[i];
        if (option->text && gnomon__settings_add(out, option->info->key,
                                                 option->text) != GNOMON_OK)
            return GNOMON_ENOMEM;
    }
    return GNOMON_OK;
}
