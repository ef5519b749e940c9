/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile made of arrays and a writer into memory, for tests of what turns
 * profiles into text. Uses public headers only. */
#ifndef GNOMON_TESTS_FAKE_PROFILE_H
#define GNOMON_TESTS_FAKE_PROFILE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"

/* Open scopes are in the first node, on the only track, since 1.5 s. */
typedef struct fake_profile {
    gnomon_profile base; /* first */
    const gnomon_stage_info *stages;
    const gnomon_region_info *regions;
    const gnomon_node_info *nodes;
    size_t stage_count, region_count, node_count, open_count;
} fake_profile;

static inline size_t fake_count(const gnomon_profile *profile, int entity)
{
    const fake_profile *p = (const fake_profile *)(const void *)profile;
    return entity == GNOMON_STAGES    ? p->stage_count
           : entity == GNOMON_REGIONS ? p->region_count
           : entity == GNOMON_NODES   ? p->node_count
           : entity == GNOMON_OPENS   ? p->open_count
           : entity == GNOMON_RUNS    ? p->open_count > 0
           : entity == GNOMON_TRACKS  ? p->open_count > 0
                                      : 0;
}

static inline int fake_get(const gnomon_profile *profile, int entity,
                           size_t number, void *info)
{
    const fake_profile *p = (const fake_profile *)(const void *)profile;
    if (number == 0 || number > fake_count(profile, entity))
        return GNOMON_EINVAL;
    number--;
    if (entity == GNOMON_STAGES)
        *(gnomon_stage_info *)info = p->stages[number];
    else if (entity == GNOMON_REGIONS)
        *(gnomon_region_info *)info = p->regions[number];
    else if (entity == GNOMON_NODES)
        *(gnomon_node_info *)info = p->nodes[number];
    else if (entity == GNOMON_OPENS)
        *(gnomon_open_info *)info =
            (gnomon_open_info){.track = 1, .node = 1, .begin_ns = 1000000000};
    else if (entity == GNOMON_RUNS)
        *(gnomon_run_info *)info = (gnomon_run_info){.now_ns = 2500000000};
    else if (entity == GNOMON_TRACKS)
        *(gnomon_track_info *)info = (gnomon_track_info){.name = "main"};
    else
        return GNOMON_EINVAL;
    return GNOMON_OK;
}

static const gnomon_profile_api fake_api = {.struct_size = sizeof fake_api,
                                            .abi = GNOMON_ABI,
                                            .count = fake_count,
                                            .get = fake_get};

/* Fails the write that would exceed `limit` bytes, and each later one. */
typedef struct fake_writer {
    gnomon_writer base; /* first */
    char *text;         /* terminated; free it */
    size_t size;
    size_t limit;
    int code;
} fake_writer;

static inline int fake_write(const gnomon_writer *writer, const void *bytes,
                             size_t size)
{
    fake_writer *w = writer->context;
    if (w->code)
        return w->code;
    if (w->size + size > w->limit)
        return w->code = GNOMON_EIO;
    if (w->size == 0 || (w->size + size) / 4096 != w->size / 4096)
        w->text = realloc(w->text, w->size + size + 4097);
    memcpy(w->text + w->size, bytes, size);
    w->size += size;
    w->text[w->size] = 0;
    return GNOMON_OK;
}

static inline int fake_print(const gnomon_writer *writer, const char *format,
                             ...) GNOMON_PRINTF(2, 3);
static inline int fake_print(const gnomon_writer *writer, const char *format,
                             ...)
{
    char *text;
    va_list arguments;
    int size, code;
    va_start(arguments, format);
    size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0)
        return GNOMON_ENOMEM;
    code = fake_write(writer, text, (size_t)size);
    free(text);
    return code;
}

static inline void fake_open(fake_writer *w)
{
    memset(w, 0, sizeof *w);
    w->base.struct_size = sizeof w->base;
    w->base.write = fake_write;
    w->base.print = fake_print;
    w->base.context = w;
    w->limit = (size_t)-1;
    w->text = calloc(1, 4097);
}

#endif
