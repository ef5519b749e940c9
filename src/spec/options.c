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

/* Options as they are made. */
typedef struct option_maker {
    gnomon__options *options;
    const gnomon__spec *spec;
    const char *who; /* the profiler, or the run */
    int status;      /* the worst so far */
} option_maker;

static int check_option(gnomon__options *options,
                        const gnomon_option_info *info, const char *text,
                        int64_t *number, char *why, size_t size)
{
    gnomon__keep keep;
    if (!options->has_keep || info->type != GNOMON_OPTION_TEXT ||
        !gnomon__same_word(info->key, "keep"))
        return gnomon__option_check(info, text, number, why, size);
    int code = gnomon__keep_parse(&keep, text, options->can_stream, why, size);
    if (!code)
        options->keep = keep;
    return code;
}

/* Gives the option a value; else complains, with `what` before it. 1: it has it. */
static int option_take(option_maker *m, gnomon__option *option,
                       const gnomon__setting *one, const char *who,
                       const char *what, int added)
{
    const gnomon_option_info *info = option->info;
    char why[256];
    int64_t number = 0;
    if (check_option(m->options, info, one->value, &number, why, sizeof why)) {
        gnomon__spec_complain(
            m->spec, one->position, who, "%s%s=%.64s: %s", what, info->key,
            gnomon__spec_shown(one->position, one->value), why);
        return 0;
    }
    option->number = number;
    if (option_set(option, one->value, added) != GNOMON_OK)
        m->status = GNOMON_ENOMEM;
    return 1;
}

/* Applies `settings` of the spec to one option. Complaints begin with `who`: the
 * profiler, or NULL for free options. */
static void option_lay(option_maker *m, gnomon__option *option,
                       const gnomon__settings *settings, const char *who)
{
    const gnomon_option_info *info = option->info;
    int adds = info == &gnomon__core_options[0] || /* filter */
               info == &gnomon__core_options[1];   /* exclude */
    int laid = 0;

    for (size_t i = 0; i < settings->count && m->status != GNOMON_ENOMEM; i++) {
        gnomon__setting one = settings->at[i];
        if (!gnomon__same_word(one.key, info->key))
            continue;
        if (!one.value && gnomon__option_may_be_bare(info))
            one.value = "true";
        if (!one.value)
            gnomon__spec_complain(m->spec, one.position, who,
                                  "%s: a value is missing: %s=...", info->key,
                                  info->key);
        if (one.value && option_take(m, option, &one, who, "", adds && laid))
            laid = 1;
        else
            m->status = GNOMON_EINVAL;
    }
}

static size_t option_count(const gnomon_option_info *table)
{
    size_t count = 0;
    while (gnomon__option_at(table, count))
        count++;
    return count;
}

/* The options of a profiler and of the core, or of the run. Its own that the core has too
 * are left out. */
static gnomon__options *option_make(const gnomon_profiler *of)
{
    const gnomon_option_info *own =
        of ? gnomon__options_of(of) : gnomon__run_options;
    const gnomon_option_info *core = of ? gnomon__core_options : NULL;
    const uint32_t both = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS;
    size_t count = option_count(own) + option_count(core), i;
    const gnomon_option_info *o;
    gnomon__options *options =
        gnomon__alloc(sizeof *options + count * sizeof options->at[0]);

    if (!options)
        return NULL;
    options->api.struct_size = sizeof options->api;
    options->api.text = option_api_text;
    options->api.number = option_api_number;
    /* Of its fields `wants` is as old as the struct. */
    options->has_keep = of && (of->wants & both) == both;
    options->can_stream = of &&
                          of->struct_size >= offsetof(gnomon_profiler, events) +
                                                 sizeof of->events &&
                          of->events;
    for (i = 0; (o = gnomon__option_at(own, i)) != NULL; i++)
        if (!gnomon__option_find(core, o->key))
            options->at[options->count++].info = o;
    for (i = 0; (o = gnomon__option_at(core, i)) != NULL; i++)
        options->at[options->count++].info = o;
    return options;
}

/* The setting at `i`; the same line mentions the words behind it. Returns the last
 * one. */
static size_t option_unknown(option_maker *m, const gnomon__settings *settings,
                             size_t i)
{
    const gnomon__setting *one = &settings->at[i];
    const char *key = one->key;
    char line[256];
    gnomon__suggestion s = gnomon__suggest(key);

    m->status = GNOMON_EINVAL;
    if (gnomon__option_find(gnomon__run_options, key)) {
        gnomon__spec_complain(m->spec, one->position, m->who,
                              "'%s' is for the whole run: write it outside of "
                              "the brackets",
                              key);
        return i;
    }
    for (size_t k = 0; k < m->options->count; k++)
        gnomon__suggest_list(&s, m->options->at[k].info->key);
    key = gnomon__spec_shown(one->position, key);
    if (!s.best && i && !one->value &&
        gnomon__setting_goes_on(line, sizeof line, one - 1)) {
        for (; i < settings->count && !settings->at[i].value &&
               !option_at(m->options, settings->at[i].key);
             i++)
            gnomon__setting_add_word(
                line, sizeof line,
                gnomon__spec_shown(settings->at[i].position,
                                   settings->at[i].key));
        gnomon__spec_complain(m->spec, one->position, m->who,
                              "unknown option '%.64s': %s", key, line);
        return i - 1;
    }
    gnomon__spec_complain(m->spec, one->position, m->who,
                          "unknown option '%.64s'%s%s%s It knows: %s", key,
                          s.best ? ": did you mean '" : ".",
                          s.best ? s.best : "", s.best ? "'?" : "", s.known);
    return i;
}

/* Applies the presets, the free options, and then the item's. */
static void option_fill(option_maker *m, const gnomon__settings *settings)
{
    gnomon__options *options = m->options;
    size_t i;

    for (i = 0; i < options->count; i++) {
        gnomon__option *option = &options->at[i];
        gnomon__setting preset = {.value = option->info->preset};
        if (preset.value) /* of a plugin; it may be wrong, too */
            (void)option_take(m, option, &preset, m->who, "its preset ", 0);
    }
    for (i = 0; i < options->count; i++) {
        option_lay(m, &options->at[i], &m->spec->defaults, NULL);
        option_lay(m, &options->at[i], settings, m->who);
    }
    for (i = 0; m->status != GNOMON_ENOMEM && i < settings->count; i++)
        if (!option_at(options, settings->at[i].key))
            i = option_unknown(m, settings, i);
}

int gnomon__options_create(gnomon__options **out,
                           const gnomon_profiler *profiler,
                           const gnomon__spec *spec, size_t item)
{
    const gnomon__settings none = {0};
    option_maker m = {.options = option_make(profiler),
                      .spec = spec,
                      .who = profiler ? profiler->name : "run"};
    *out = NULL;
    if (!m.options)
        return GNOMON_ENOMEM;
    option_fill(&m, profiler ? &spec->items[item].settings : &none);
    if (m.status == GNOMON_ENOMEM)
        gnomon__options_destroy(m.options);
    else
        *out = m.options;
    return m.status;
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
