/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A whole profile as .gnomon: run after run where its entities stand so, which
 * those of merged ones do; else all as if of one. */
#include "profile/file_write.h"
#include "profile/forms.h"
#include "profile/layout.h"

static uint32_t track_run(const gnomon_profile *p, uint32_t track)
{
    gnomon_track_info t;
    gnomon_profile_track(p, track, &t);
    return t.run;
}

/* Which run an entity is of; 0: of none. */
static uint32_t run_of_entity(const gnomon_profile *p, int entity, size_t i)
{
    union {
        gnomon_metadata_info metadata;
        gnomon_stage_info stage;
        gnomon_step_info step;
        gnomon_track_info track;
        gnomon_node_info node;
        gnomon_open_info open;
        gnomon_link_info link;
        gnomon_counter_info counter;
        gnomon_loss_info loss;
        gnomon_event_info event;
    } a;
    switch (entity) {
    case GNOMON_RUNS:
        return (uint32_t)i;
    case GNOMON_METADATA:
        gnomon_profile_metadata(p, i, &a.metadata);
        return a.metadata.run;
    case GNOMON_STEPS:
        gnomon_profile_step(p, i, &a.step);
        i = a.step.stage;
        /* fall through */
    case GNOMON_STAGES:
        gnomon_profile_stage(p, i, &a.stage);
        return a.stage.run;
    case GNOMON_LOSSES:
        gnomon_profile_loss(p, i, &a.loss);
        return a.loss.run;
    case GNOMON_TRACKS:
        return track_run(p, (uint32_t)i);
    case GNOMON_OPENS:
        gnomon_profile_open(p, i, &a.open);
        return track_run(p, a.open.track);
    case GNOMON_COUNTERS:
        gnomon_profile_counter(p, i, &a.counter);
        return track_run(p, a.counter.track);
    case GNOMON_EVENTS:
        gnomon_profile_event(p, i, &a.event);
        return track_run(p, a.event.track);
    case GNOMON_LINKS:
        gnomon_profile_link(p, i, &a.link);
        i = a.link.from;
        /* fall through */
    default:
        gnomon_profile_node(p, i, &a.node);
        return track_run(p, a.node.track);
    }
}

/* What is of no run stands last. */
static size_t place_of(const gnomon_profile *p, int entity, size_t i)
{
    uint32_t run = run_of_entity(p, entity, i);
    return run ? run : gnomon_profile_count(p, GNOMON_RUNS) + 1;
}

static int stands_run_after_run(const gnomon_profile *p)
{
    for (int i = GNOMON__SHARED_LAYOUTS; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__layout_order[i];
        size_t last = 0;
        for (size_t k = 1; k <= gnomon_profile_count(p, entity); k++) {
            size_t place = place_of(p, entity, k);
            if (place < last)
                return 0;
            last = place;
        }
    }
    return 1;
}

int gnomon__write_file(const gnomon_profile *p, const gnomon_writer *out)
{
    gnomon__file_writer w;
    gnomon__file_range ranges[GNOMON__ENTITIES];
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    gnomon__file_start(&w, out);
    gnomon__file_shared(&w, p);
    if (runs < 2 || !stands_run_after_run(p)) {
        gnomon__file_runs(&w, p, NULL);
        return gnomon__file_finish(&w);
    }
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        ranges[k] = (gnomon__file_range){1, 0};
    for (size_t run = 1; run <= runs + 1; run++) {
        for (int i = GNOMON__SHARED_LAYOUTS; i < GNOMON__ENTITIES; i++) {
            int entity = gnomon__layout_order[i];
            gnomon__file_range *r = &ranges[entity];
            size_t end = r->first += r->count;
            while (end <= gnomon_profile_count(p, entity) &&
                   place_of(p, entity, end) == run)
                end++;
            r->count = end - r->first;
        }
        gnomon__file_runs(&w, p, ranges);
    }
    return gnomon__file_finish(&w);
}
