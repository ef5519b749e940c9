/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scans inputs, one at a time, for the runs in them and for what these share. Of each
 * input only its index stays in memory. */
#include <string.h>

#include "merge/merging.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"

void gnomon__merge_close(gnomon__merge *m)
{
    if (m->open != SIZE_MAX)
        m->inputs.close(m->inputs.context, &m->source);
    m->open = SIZE_MAX;
}

int gnomon__merge_open(gnomon__merge *m, size_t input)
{
    if (m->open == input)
        return GNOMON_OK;
    gnomon__merge_close(m);
    int code = m->inputs.open(m->inputs.context, input, &m->source);
    if (!code)
        m->open = input;
    return code;
}

static int add_reading(gnomon__merge *m, const gnomon_run_info *info,
                       size_t input, size_t part, size_t run)
{
    if (!gnomon__grow(&m->readings, &m->reading_room, m->reading_count + 1,
                      sizeof *m->readings))
        return gnomon__no_memory_to_merge();
    gnomon__reading *r = &m->readings[m->reading_count];
    memset(r, 0, sizeof *r);
    r->info = *info;
    r->input = (uint32_t)input;
    r->part = (uint32_t)part;
    r->run = (uint32_t)run;
    r->is_apart = !info->uuid &&
                  m->inputs.apart > (info->rank < 0 ? GNOMON__APART_NONE
                                                    : GNOMON__APART_UNKNOWN);
    gnomon__copier copier = {.m = m->texts, .text = gnomon__copy_text};
    if (!gnomon__copy_inside(&copier, &gnomon__structs[GNOMON_RUNS], &r->info))
        return gnomon__no_memory_to_merge();
    m->reading_count++;
    return GNOMON_OK;
}

/* A part without runs is a reading only if it holds anything, because merging an empty
 * profile must change nothing. */
static int scan_part_without_run(gnomon__merge *m, size_t input, size_t part)
{
    const gnomon__file_index *x = &m->index[input];
    gnomon_profile *p;
    size_t count = 0;
    int code = gnomon__read_part(&p, &m->source, &x->parts[part], x->shared_end,
                                 GNOMON__EVERY_KIND);
    if (code)
        return code;
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        if (!gnomon__is_shared(k))
            count += gnomon_profile_count(p, k);
    gnomon_profile_free(p);
    return count ? add_reading(m, &gnomon__no_run, input, part, 0) : GNOMON_OK;
}

static int scan_part(gnomon__merge *m, size_t input, size_t part)
{
    const gnomon__file_index *x = &m->index[input];
    gnomon_profile *p;
    gnomon_run_info info;
    int code = gnomon__read_part(
        &p, &m->source, &x->parts[part], x->shared_end,
        part ? GNOMON__RUN_KINDS : GNOMON__RUN_KINDS | GNOMON__SHARED_KINDS);
    if (code)
        return code;
    if (!part)
        code = gnomon__shared_add(&m->shared, p);
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    m->has_runs |= runs > 0;
    if (!code && !runs)
        code = scan_part_without_run(m, input, part);
    for (size_t i = 1; !code && i <= runs; i++) {
        gnomon_profile_run(p, i, &info);
        code = add_reading(m, &info, input, part, i);
    }
    gnomon_profile_free(p);
    return code;
}

int gnomon__merge_scan(gnomon__merge *m, size_t input)
{
    size_t before = m->reading_count;
    gnomon__fail_clear();
    int code = gnomon__merge_open(m, input);
    if (!code)
        code = gnomon__index_file(&m->index[input], &m->source);
    if (!code &&
        !(m->was_read[input] = gnomon__alloc(m->index[input].count + 1)))
        code = gnomon__no_memory_to_merge();
    for (size_t i = 0; !code && i < m->index[input].count; i++)
        code = scan_part(m, input, i);
    if (code)
        m->reading_count = before;
    return code;
}
