/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options of the core and of the run, and what values they may have. Pure
 * functions. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "spec/options.h"
#include "spec/rank.h"
#include "spec/schedule.h"

#define OPTION(type, key, preset, help) \
    { \
        sizeof(gnomon_option_info), GNOMON_OPTION_##type, key, preset, help \
    }

const gnomon_option_info gnomon__core_options[] = {
    OPTION(TEXT, "filter", NULL, "marks to take: opt*|[Callback]*|@category"),
    OPTION(TEXT, "exclude", NULL, "marks to leave out, as in filter"),
    OPTION(TEXT, "schedule", NULL,
           "steps to record: wait:1/warmup:1/active:3, also repeat, "
           "skip_first, skip_first_wait"),
    OPTION(TEXT, "ranks", "all", "ranks to record on: all or 0|3|8-15"),
    OPTION(TEXT, "at", "stage",
           "when reports come: stage, at each stage's end; end, at the run's "
           "end, one for each name of stages"),
    OPTION(TEXT, "file", NULL,
           "where the report goes, or the profile, as NAME.gnomon; %r rank, "
           "%l local rank, %h host, %p pid, %s stage, %t start"),
    OPTION(TEXT, "dir", NULL, "directory for reports under names of their own"),
    OPTION(TEXT, "as", NULL, "a name by which the program asks for its report"),
    {.key = NULL},
};

const gnomon_option_info gnomon__run_options[] = {
    OPTION(BYTES, "mem", GNOMON__DEFAULT_MEM,
           "most memory that recording may take"),
    OPTION(TEXT, "fork", NULL,
           "follow: children that this process forks record and report too"),
    OPTION(TEXT, "step", NULL,
           "marks whose ends are steps, as in filter: iteration*"),
    OPTION(TEXT, "fold", NULL,
           "with run --nvtx: numbers (the default): 'iteration 17' is "
           "'iteration #'; or off"),
    {.key = NULL},
};

/* ---- Tables ------------------------------------------------------------- */

/* The size of a row that has no struct_size: that of the first release. */
#define FIRST_OPTION (offsetof(gnomon_option_info, help) + sizeof(char *))

const gnomon_option_info *gnomon__option_at(const gnomon_option_info *table,
                                            size_t i)
{
    if (!table)
        return NULL;
    size_t apart = table->struct_size ? table->struct_size : FIRST_OPTION;
    table = (const void *)((const char *)table + i * apart);
    return table->key ? table : NULL;
}

/* ---- Words -------------------------------------------------------------- */

const gnomon_option_info *gnomon__option_find(const gnomon_option_info *table,
                                              const char *key)
{
    const gnomon_option_info *o;
    for (size_t i = 0; (o = gnomon__option_at(table, i)) != NULL; i++)
        if (gnomon__same_word(o->key, key))
            return o;
    return NULL;
}

int gnomon__option_may_be_bare(const gnomon_option_info *info)
{
    return info->type == GNOMON_OPTION_BOOL ||
           (info->preset && strcmp(info->preset, "false") == 0) ||
           (strcmp(info->key, "dir") == 0 &&
            gnomon__option_find(gnomon__core_options, "dir") == info);
}

const gnomon_option_info *gnomon__options_of(const gnomon_profiler *profiler)
{
    if (profiler->struct_size <
        offsetof(gnomon_profiler, options) + sizeof profiler->options)
        return NULL;
    return profiler->options;
}

/* ---- Values -------------------------------------------------------------- */

int gnomon__setting_goes_on(char *line, size_t size,
                            const gnomon__setting *before)
{
    static const char keys[][8] = {"filter", "exclude", "ranks",
                                   "step",   "columns", "kinds"};
    for (size_t i = 0; before->value && i < sizeof keys / sizeof *keys; i++)
        if (gnomon__same_word(before->key, keys[i])) {
            snprintf(line, size, "if %s is to have it, write %s=%.64s", keys[i],
                     keys[i],
                     gnomon__spec_shown(before->position, before->value));
            return 1;
        }
    return 0;
}

void gnomon__setting_add_word(char *line, size_t size, const char *word)
{
    size_t n = strlen(line);
    snprintf(line + n, size - n, "|%.64s", word);
}

/* The memory of one thread with one name. */
#define LEAST_MEM 32768

static int is_one_of(const char *text, const char *first, const char *second)
{
    return gnomon__same_word(text, first) || gnomon__same_word(text, second)
               ? GNOMON_OK
               : GNOMON_EINVAL;
}

/* An option of the whole run. */
static int run_option_check(const gnomon_option_info *info, const char *text,
                            int64_t *number, char *why, size_t size)
{
    *number = 0;
    if (strcmp(info->key, "step") == 0) {
        snprintf(why, size, "say which marks' ends are steps: step=iteration*");
        return text[strspn(text, " |")] ? GNOMON_OK : GNOMON_EINVAL;
    }
    if (info->type != GNOMON_OPTION_BYTES) {
        int is_fork = strcmp(info->key, "fork") == 0;
        const char *word = is_fork ? "follow" : "numbers";
        snprintf(why, size, "say %s or off", word);
        return is_one_of(text, word, "off");
    }
    int status = gnomon__option_parse(info->type, text, number, why, size);
    if (status || *number >= LEAST_MEM)
        return status;
    snprintf(why, size,
             "the least is %d KiB, and a number without a unit is "
             "bytes: say mem=64MiB",
             LEAST_MEM / 1024);
    return GNOMON_EINVAL;
}

/* What a shell would have replaced: a '~' at the begin, $HOME, ${HOME}; or NULL. */
static const char *word_of_shell(const char *text)
{
    const char *at = *text == '~' ? text : strchr(text, '$');
    while (at && *at == '$' && at[1] != '{' && at[1] != '_' &&
           (gnomon__lower(at[1]) < 'a' || gnomon__lower(at[1]) > 'z'))
        at = strchr(at + 1, '$');
    return at;
}

int gnomon__option_check(const gnomon_option_info *info, const char *text,
                         int64_t *number, char *why, size_t size)
{
    gnomon__schedule schedule;
    size_t n = strlen(text);

    if (gnomon__option_find(gnomon__run_options, info->key) == info)
        return run_option_check(info, text, number, why, size);
    if (gnomon__option_find(gnomon__core_options, info->key) != info)
        return gnomon__option_parse(info->type, text, number, why, size);
    *number = 0;
    if (strcmp(info->key, "schedule") == 0)
        return gnomon__schedule_parse(&schedule, text, why, size);
    if (strcmp(info->key, "ranks") == 0)
        return gnomon__ranks_check(text, why, size);
    if (strcmp(info->key, "at") == 0) {
        snprintf(why, size,
                 "say stage, for a report at each stage's end, or "
                 "end, for one of each name at the run's end");
        return is_one_of(text, "stage", "end");
    }
    const char *word = word_of_shell(text);
    if (word &&
        (strcmp(info->key, "file") == 0 || strcmp(info->key, "dir") == 0)) {
        snprintf(why, size,
                 "no shell has put a folder for '%.*s': write the folder",
                 (int)strcspn(word, "/"), word);
        return GNOMON_EINVAL;
    }
    if (n > 0 && (strcmp(info->key, "file") != 0 || text[n - 1] != '/'))
        return GNOMON_OK;
    snprintf(why, size,
             n > 0 ? "say a file, or dir= for a directory"
                   : "a value is missing");
    return GNOMON_EINVAL;
}
