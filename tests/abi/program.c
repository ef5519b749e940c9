/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of a release, compiled as users do, against its public headers
 * alone; it runs with a library of either release. -DNEXT: of the next one,
 * whose structs have `next_release`. */
#define gnomon_builder_create program_create
#define gnomon_builder_add program_add
#define gnomon_builder_finish program_finish
#define gnomon_error_text program_error

#include <stdlib.h>

#include "../same_profile.h"
#include "../full_profile.h"
#include "release.h"

static const release_library *library; /* whose calls are made */

int program_create(gnomon_builder **out)
{
    return library->create(out);
}

int program_finish(gnomon_builder *builder, gnomon_profile **out)
{
    return library->finish(builder, out);
}

const char *program_error(void)
{
    return library->error();
}

#ifdef NEXT

/* ---- The new field ------------------------------------------------------- */

#define VALUE_OF_NEXT 0x7478656eu

typedef union any_info {
    uint32_t struct_size;
    gnomon_run_info run;
    gnomon_stage_info stage;
    gnomon_node_info node;
    gnomon_op_info op;
    gnomon_step_time_info step_time;
    gnomon_strip_info strip;
    gnomon_event_info event; /* larger than what is left */
    uint64_t bytes[24];
} any_info;

/* A temporary copy of a list, with the value in each item. */
static void *with_value(const void *list, size_t count, void *copies[8])
{
    uint32_t size;
    const uint64_t value = VALUE_OF_NEXT;
    if (!list || !count)
        return NULL;
    memcpy(&size, list, sizeof size);
    char *copy = malloc(count * size);
    memcpy(copy, list, count * size);
    for (size_t i = 1; i <= count; i++) /* it is the last of all fields */
        memcpy(copy + i * size - sizeof value, &value, sizeof value);
    while (*copies)
        copies++;
    return *copies = copy;
}

#define WITH_VALUE(pointer, count) pointer = with_value(pointer, count, copies)

uint32_t program_add(gnomon_builder *builder, int entity, const void *info)
{
    const uint64_t value = VALUE_OF_NEXT;
    void *copies[8] = {NULL};
    any_info x;
    memcpy(&x, info, sizeof(uint32_t));
    memcpy(&x, info, x.struct_size);
    memcpy((char *)&x + x.struct_size - sizeof value, &value, sizeof value);
    if (entity == GNOMON_RUNS) {
        WITH_VALUE(x.run.anchors, x.run.anchor_count);
    } else if (entity == GNOMON_STAGES) {
        WITH_VALUE(x.stage.steps, 1);
    } else if (entity == GNOMON_STEP_TIMES) {
        WITH_VALUE(x.step_time.time, 1);
    } else if (entity == GNOMON_STRIPS) {
        WITH_VALUE(x.strip.bins, x.strip.bin_count);
        WITH_VALUE(x.strip.slow, x.strip.slow_count);
    } else if (entity == GNOMON_NODES) {
        WITH_VALUE(x.node.host, 1);
        WITH_VALUE(x.node.device, 1);
        WITH_VALUE(x.node.memory, x.node.memory_count);
        WITH_VALUE(x.node.work, 1);
    } else if (entity == GNOMON_OPS) {
        WITH_VALUE(x.op.inputs, x.op.input_count);
        WITH_VALUE(x.op.attributes, x.op.attribute_count);
    }
    uint32_t number = library->add(builder, entity, &x);
    for (int i = 0; i < 8; i++)
        free(copies[i]);
    return number;
}

/* Any other value but zero is foreign memory. */
static int is_value(uint64_t value)
{
    CHECK(value == VALUE_OF_NEXT || value == 0);
    return value != 0;
}

#define IS_NEWS(pointer) \
    (GNOMON_HAS(pointer, next_release) && is_value((pointer)->next_release))
#else
uint32_t program_add(gnomon_builder *builder, int entity, const void *info)
{
    return library->add(builder, entity, info);
}

#define IS_NEWS(pointer) ((pointer)->struct_size == 0)
#endif

/* ---- Comparison ---------------------------------------------------------- */

static size_t seen, news;

static void see(int is_news)
{
    seen++;
    news += is_news != 0;
}

static void see_stats(const gnomon_stats *s)
{
    if (s)
        see(IS_NEWS(s));
}

#define SEE_EACH(kind, entity) \
    for (size_t i = 1; i <= gnomon_profile_count(p, entity); i++) { \
        gnomon_##kind##_info x; \
        CHECK_EQ(gnomon_profile_##kind(p, i, &x), GNOMON_OK); \
        see(IS_NEWS(&x)); \
        see_parts_of_##kind(&x); \
    }
#define NO_PARTS(kind) \
    static void see_parts_of_##kind(const gnomon_##kind##_info *x) \
    { \
        (void)x; \
    }
NO_PARTS(step)
NO_PARTS(track)
NO_PARTS(region)
NO_PARTS(open)
NO_PARTS(link)
NO_PARTS(counter)
NO_PARTS(metadata)
NO_PARTS(loss)
NO_PARTS(view)
NO_PARTS(view_time)
NO_PARTS(event)

static void see_parts_of_run(const gnomon_run_info *x)
{
    for (size_t i = 0; i < x->anchor_count; i++)
        see(IS_NEWS(gnomon_anchor_at(x, i)));
}

static void see_parts_of_stage(const gnomon_stage_info *x)
{
    see_stats(x->steps);
}

static void see_parts_of_strip(const gnomon_strip_info *x)
{
    for (size_t i = 0; i < x->bin_count; i++)
        see(IS_NEWS(gnomon_bin_at(x, i)));
    for (size_t i = 0; i < x->slow_count; i++)
        see(IS_NEWS(gnomon_slow_at(x, i)));
}

static void see_parts_of_step_time(const gnomon_step_time_info *x)
{
    see_stats(x->time);
}

static void see_parts_of_node(const gnomon_node_info *x)
{
    see_stats(x->host);
    see_stats(x->device);
    for (size_t i = 0; i < x->memory_count; i++)
        see(IS_NEWS(gnomon_memory_at(x, i)));
    if (x->work)
        see(IS_NEWS(x->work));
}

static void see_parts_of_op(const gnomon_op_info *x)
{
    for (size_t i = 0; i < x->input_count; i++)
        see(IS_NEWS(gnomon_input_at(x, i)));
    for (size_t i = 0; i < x->attribute_count; i++)
        see(IS_NEWS(gnomon_attribute_at(x, i)));
}

static size_t program_news(const gnomon_profile *p, size_t *structs)
{
    int before = test_failures;
    seen = news = 0;
    SEE_EACH(run, GNOMON_RUNS)
    SEE_EACH(stage, GNOMON_STAGES)
    SEE_EACH(step, GNOMON_STEPS)
    SEE_EACH(track, GNOMON_TRACKS)
    SEE_EACH(region, GNOMON_REGIONS)
    SEE_EACH(node, GNOMON_NODES)
    SEE_EACH(open, GNOMON_OPENS)
    SEE_EACH(link, GNOMON_LINKS)
    SEE_EACH(counter, GNOMON_COUNTERS)
    SEE_EACH(metadata, GNOMON_METADATA)
    SEE_EACH(loss, GNOMON_LOSSES)
    SEE_EACH(view, GNOMON_VIEWS)
    SEE_EACH(op, GNOMON_OPS)
    SEE_EACH(event, GNOMON_EVENTS)
    SEE_EACH(step_time, GNOMON_STEP_TIMES)
    SEE_EACH(view_time, GNOMON_VIEW_TIMES)
    SEE_EACH(strip, GNOMON_STRIPS)
    *structs = seen;
    return test_failures == before ? news : (size_t)-1;
}

/* ---- The program ---------------------------------------------------------------- */

static gnomon_profile *program_build(const release_library *by)
{
    library = by;
    return full_of("01");
}

static int program_differ(const gnomon_profile *p, const gnomon_profile *q)
{
    int before = test_failures;
    same_profiles(p, q);
    return test_failures - before;
}

static const release_program program = {program_build, program_differ,
                                        program_news};

__attribute__((visibility("default"))) release_program_get program_of_release;

const release_program *program_of_release(void)
{
    return &program;
}
