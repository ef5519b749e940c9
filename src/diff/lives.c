/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lives and jobs by name: one table of texts with a number each, of which the
 * first letter says what it is about. */
#include "diff/lives.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/memory.h"

void gnomon__lives_free(gnomon__lives *l)
{
    for (size_t i = 0; i < l->texts.slots.count; i++)
        gnomon__free((char *)(uintptr_t)l->texts.items[i].text);
    gnomon__text_table_free(&l->texts);
    memset(l, 0, sizeof *l);
}

/* The number of a text, 0 where it is new; NULL: no memory. Valid until the next
 * call. */
static uint32_t *lives_number(gnomon__lives *l, const char *text)
{
    gnomon__text_item *item = gnomon__text_place(&l->texts, text);
    if (item && !item->text)
        item->text = gnomon__strdup(text);
    return item && item->text ? &item->number : NULL;
}

/* What the life is known by, after `kind`; with room for `more` after it. NULL:
 * by nothing, and *known is 0; or no memory. The caller frees it. */
static char *lives_name(char kind, const gnomon_run_info *run, size_t more,
                        int *known)
{
    const char *host = run->host ? run->host : "";
    size_t size = strlen(host) + 64 + more;
    char *text;
    *known = run->uuid || run->zero_unix_ns;
    if (!*known)
        return NULL;
    if (run->uuid)
        size += strlen(run->uuid);
    text = gnomon__alloc(size);
    if (!text)
        return NULL;
    if (run->uuid)
        snprintf(text, size, "%cu%s\n", kind, run->uuid);
    else
        snprintf(text, size, "%cp%s\n%" PRId64 "\n%" PRIu64 "\n", kind, host,
                 run->pid, run->zero_unix_ns);
    return text;
}

/* The number of KIND JOB NUMBER. */
static uint32_t *lives_of_job(gnomon__lives *l, char kind, const char *job,
                              int64_t number)
{
    size_t size = strlen(job) + 32;
    uint32_t *found = NULL;
    char *text = gnomon__alloc(size);
    if (text) {
        snprintf(text, size, "%c%s\n%" PRId64, kind, job, number);
        found = lives_number(l, text);
    }
    gnomon__free(text);
    return found;
}

/* The n-th life of this rank, so the n-th job. */
static int lives_new(gnomon__lives *l, const gnomon_run_info *run, size_t *job)
{
    const char *name = run->job ? run->job : "";
    uint32_t *nth = lives_of_job(l, 'r', name, run->rank), *number;
    if (!nth)
        return GNOMON_ENOMEM;
    number = lives_of_job(l, 'j', name, (int64_t)++ * nth);
    if (!number)
        return GNOMON_ENOMEM;
    if (!*number)
        *number = ++l->jobs;
    *job = *number - 1;
    l->lives++;
    return GNOMON_OK;
}

int gnomon__lives_job(gnomon__lives *l, const gnomon_run_info *run, size_t *job)
{
    int known, code = GNOMON_OK;
    char *life = lives_name('l', run, 0, &known);
    uint32_t *number = life ? lives_number(l, life) : NULL;
    if (known && !number)
        code = GNOMON_ENOMEM;
    else if (number && *number)
        *job = *number - 1;
    else
        code = lives_new(l, run, job);
    if (code == GNOMON_OK && life) {
        number = lives_number(l, life); /* others moved it */
        *number = (uint32_t)*job + 1;
    }
    gnomon__free(life);
    return code;
}

int gnomon__lives_stage(gnomon__lives *l, const gnomon_run_info *run,
                        uint32_t ordinal, const char *name, int *is_new)
{
    int known;
    size_t size = strlen(name) + 16;
    uint32_t *number;
    char *text = lives_name('s', run, size, &known);
    *is_new = 1;
    if (!text)
        return known ? GNOMON_ENOMEM : GNOMON_OK;
    snprintf(text + strlen(text), size, "%" PRIu32 "\n%s", ordinal, name);
    number = lives_number(l, text);
    gnomon__free(text);
    if (!number)
        return GNOMON_ENOMEM;
    *is_new = *number == 0;
    *number = 1;
    return GNOMON_OK;
}
