/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builders: a profile of whatever a program knows, as another tool's file, a
 * simulator, or a test. Included by gnomon/profile.h.
 *
 *     gnomon_builder_create(&b);
 *     run = gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
 *     ...
 *     gnomon_builder_finish(b, &p);             p is a profile, or the error
 *
 * Errors: the first one stays. Later calls do nothing, and gnomon_builder_finish
 * returns it; so only that one needs a check.
 * Threads: one thread at a time for each builder.
 */
#ifndef GNOMON_BUILDER_H
#define GNOMON_BUILDER_H

#include "profile.h"

GNOMON_BEGIN_DECLS

/* A profile that is being made. */
typedef struct gnomon_builder gnomon_builder;

/* Makes an empty builder. The caller ends it by gnomon_builder_finish or
 * gnomon_builder_free. GNOMON_OK; GNOMON_ENOMEM or GNOMON_EINVAL, and *out is
 * NULL. */
GNOMON__CALL int gnomon_builder_create(gnomon_builder **out);

/* Adds an entity of a kind (gnomon_entity). `info` is the struct of this kind.
 * It and all that it points to are copied; a NULL text becomes "".
 * What `info` names by number must have been added before, except that links may
 * name nodes that are added later. `info` and each struct that it leads to have
 * their struct_size set. One that is smaller than the first release's is an
 * error; what a later release added is left out.
 * Returns the entity's number, from 1. 0: something is wrong, now or before, and
 * gnomon_builder_finish will say what. */
GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info);

/* Checks all that was added (gnomon_profile_check) and makes a profile of it,
 * which the caller frees by gnomon_profile_free. The builder is freed in any case.
 * GNOMON_OK; GNOMON_EINVAL: something that was added is wrong, or the whole breaks
 * a rule of profiles, which gnomon_error_text() names; GNOMON_ENOMEM. On an error
 * *out is NULL. */
GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out);

/* Frees a builder that was not finished. NULL is ignored. */
GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder);

/* gnomon_add_node(b, &info) and its like: gnomon_builder_add of that kind. They
 * set the struct_size of `info` itself, but not of the structs that it points
 * to. */
#define GNOMON__ADDER(name, entity, type) \
    static inline uint32_t gnomon_add_##name(gnomon_builder *b, \
                                             const type *info) \
    { \
        type sized = *info; \
        sized.struct_size = sizeof sized; \
        return gnomon_builder_add(b, entity, &sized); \
    }
GNOMON__ADDER(run, GNOMON_RUNS, gnomon_run_info)
GNOMON__ADDER(stage, GNOMON_STAGES, gnomon_stage_info)
GNOMON__ADDER(step, GNOMON_STEPS, gnomon_step_info)
GNOMON__ADDER(track, GNOMON_TRACKS, gnomon_track_info)
GNOMON__ADDER(region, GNOMON_REGIONS, gnomon_region_info)
GNOMON__ADDER(node, GNOMON_NODES, gnomon_node_info)
GNOMON__ADDER(open, GNOMON_OPENS, gnomon_open_info)
GNOMON__ADDER(link, GNOMON_LINKS, gnomon_link_info)
GNOMON__ADDER(counter, GNOMON_COUNTERS, gnomon_counter_info)
GNOMON__ADDER(metadata, GNOMON_METADATA, gnomon_metadata_info)
GNOMON__ADDER(loss, GNOMON_LOSSES, gnomon_loss_info)
GNOMON__ADDER(view, GNOMON_VIEWS, gnomon_view_info)
GNOMON__ADDER(op, GNOMON_OPS, gnomon_op_info)
GNOMON__ADDER(event, GNOMON_EVENTS, gnomon_event_info)
GNOMON__ADDER(step_time, GNOMON_STEP_TIMES, gnomon_step_time_info)
GNOMON__ADDER(view_time, GNOMON_VIEW_TIMES, gnomon_view_time_info)
#undef GNOMON__ADDER

GNOMON_END_DECLS

#ifdef GNOMON_DISABLE
#include "disabled_builder.h"
#endif

#endif
