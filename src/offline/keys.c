/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Field after field, until two differ. */
#include "offline/keys.h"

#include <string.h>

#include "offline/compare.h"
#include "offline/slots.h"
#include "platform/hash.h"

#define TRY_TEXT(field) GNOMON__TRY(gnomon__compare_texts(a->field, b->field))

int gnomon__compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : !b - !a;
}

int gnomon__compare_regions(const gnomon_region_info *a,
                            const gnomon_region_info *b)
{
    GNOMON__TRY_NUMBER(kind);
    TRY_TEXT(name);
    TRY_TEXT(category);
    TRY_TEXT(file);
    GNOMON__TRY_NUMBER(line);
    TRY_TEXT(function);
    return 0;
}

static int compare_sizes(const int64_t *a, const int64_t *b, uint32_t rank)
{
    GNOMON__TRY(GNOMON__COMPARE(a != NULL, b != NULL));
    for (uint32_t i = 0; a && i < rank; i++)
        GNOMON__TRY(GNOMON__COMPARE(a[i], b[i]));
    return 0;
}

static int compare_tensors(const gnomon_tensor *a, const gnomon_tensor *b)
{
    TRY_TEXT(dtype);
    GNOMON__TRY_NUMBER(rank);
    GNOMON__TRY(compare_sizes(a->dims, b->dims, a->rank));
    GNOMON__TRY(compare_sizes(a->strides, b->strides, a->rank));
    return 0;
}

int gnomon__compare_ops(const gnomon_op_info *a, const gnomon_op_info *b)
{
    TRY_TEXT(operation);
    GNOMON__TRY_NUMBER(flags);
    GNOMON__TRY_NUMBER(input_count);
    GNOMON__TRY_NUMBER(attribute_count);
    GNOMON__TRY_NUMBER(flops);
    GNOMON__TRY_NUMBER(bytes);
    for (size_t i = 0; i < a->input_count; i++)
        GNOMON__TRY(
            compare_tensors(gnomon_input_at(a, i), gnomon_input_at(b, i)));
    for (size_t i = 0; i < a->attribute_count; i++) {
        const gnomon_attribute *x = gnomon_attribute_at(a, i);
        const gnomon_attribute *y = gnomon_attribute_at(b, i);
        GNOMON__TRY(gnomon__compare_texts(x->key, y->key));
        GNOMON__TRY(gnomon__compare_texts(x->json, y->json));
    }
    return 0;
}

int gnomon__compare_views(const gnomon_view_info *a, const gnomon_view_info *b)
{
    return strcmp(a->words, b->words);
}

const gnomon_run_info gnomon__no_run = {.struct_size = sizeof gnomon__no_run,
                                        .rank = -1,
                                        .local_rank = -1,
                                        .world_size = -1,
                                        .host = "",
                                        .spec = "",
                                        .clock = ""};

int gnomon__compare_run_keys(const gnomon_run_info *a, const gnomon_run_info *b)
{
    TRY_TEXT(job);
    GNOMON__TRY_NUMBER(rank);
    TRY_TEXT(attempt);
    TRY_TEXT(uuid);
    return 0;
}

int gnomon__compare_runs(const gnomon_run_info *a, const gnomon_run_info *b)
{
    GNOMON__TRY_NUMBER(now_ns);
    GNOMON__TRY_NUMBER(local_rank);
    GNOMON__TRY_NUMBER(world_size);
    GNOMON__TRY_NUMBER(pid);
    TRY_TEXT(host);
    TRY_TEXT(dir);
    TRY_TEXT(spec);
    TRY_TEXT(clock);
    GNOMON__TRY_NUMBER(zero_unix_ns);
    GNOMON__TRY_NUMBER(clock_error_ns);
    return 0;
}

int gnomon__compare_stage_keys(const gnomon_stage_info *a,
                               const gnomon_stage_info *b)
{
    GNOMON__TRY_NUMBER(ordinal);
    TRY_TEXT(name);
    return 0;
}

int gnomon__compare_track_keys(const gnomon_track_info *a,
                               const gnomon_track_info *b, int has_index)
{
    GNOMON__TRY_NUMBER(kind);
    GNOMON__TRY_NUMBER(device);
    if (has_index)
        GNOMON__TRY_NUMBER(index);
    TRY_TEXT(name);
    return 0;
}

/* What is left out of a hash makes it no less right. */
uint64_t gnomon__hash_region(const gnomon_region_info *r)
{
    uint64_t h = gnomon__mix(gnomon__hash_text(r->name), r->kind);
    h = gnomon__mix(h, gnomon__hash_text(r->category));
    return gnomon__mix(gnomon__mix(h, gnomon__hash_text(r->file)), r->line);
}

uint64_t gnomon__hash_op(const gnomon_op_info *o)
{
    uint64_t h = gnomon__mix(gnomon__hash_text(o->operation), o->flags);
    for (size_t i = 0; i < o->input_count; i++)
        for (uint32_t d = 0; d < gnomon_input_at(o, i)->rank; d++)
            h = gnomon__mix(h, (uint64_t)gnomon_input_at(o, i)->dims[d]);
    for (size_t i = 0; i < o->attribute_count; i++)
        h = gnomon__mix(h, gnomon__hash_text(gnomon_attribute_at(o, i)->json));
    return gnomon__mix(gnomon__mix(h, o->flops), o->bytes);
}
