/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares two profiles, field by field, through their readers. */
#ifndef GNOMON_TESTS_SAME_PROFILE_H
#define GNOMON_TESTS_SAME_PROFILE_H

#include "gnomon/profile.h"
#include "test.h"

#define SAME_FIELD(field) CHECK_EQ(a.field, b.field)
#define SAME_TEXT(field) CHECK_STR(a.field, b.field)
/* Compares bits, so that NaN equals itself. */
#define SAME_BITS(field) CHECK(memcmp(&a.field, &b.field, sizeof a.field) == 0)

static inline void same_stats(const gnomon_stats *one,
                              const gnomon_stats *other)
{
    if (!CHECK_EQ(!one, !other) || !one)
        return;
    gnomon_stats a = *one, b = *other;
    SAME_FIELD(count);
    SAME_FIELD(total_ns);
    SAME_FIELD(self_ns);
    SAME_FIELD(min_ns);
    SAME_FIELD(max_ns);
    if (!SAME_FIELD(cell_count))
        return;
    for (size_t i = 0; i < a.cell_count; i++) {
        SAME_FIELD(cells[i].cell);
        SAME_FIELD(cells[i].count);
    }
}

static inline void same_anchor(gnomon_clock_anchor a, gnomon_clock_anchor b)
{
    SAME_FIELD(ns);
    SAME_FIELD(unix_ns);
    SAME_FIELD(error_ns);
}

static inline void same_run(gnomon_run_info a, gnomon_run_info b)
{
    SAME_FIELD(rank);
    SAME_FIELD(local_rank);
    SAME_FIELD(world_size);
    SAME_FIELD(pid);
    SAME_TEXT(host);
    SAME_TEXT(dir);
    SAME_TEXT(spec);
    SAME_TEXT(clock);
    SAME_FIELD(zero_unix_ns);
    SAME_FIELD(clock_error_ns);
    SAME_FIELD(now_ns);
    SAME_TEXT(attempt);
    SAME_TEXT(job);
    SAME_TEXT(uuid);
    if (SAME_FIELD(anchor_count))
        for (size_t i = 0; i < a.anchor_count; i++)
            same_anchor(*gnomon_anchor_at(&a, i), *gnomon_anchor_at(&b, i));
}

static inline void same_stage(gnomon_stage_info a, gnomon_stage_info b)
{
    SAME_FIELD(ordinal);
    SAME_TEXT(name);
    SAME_FIELD(begin_ns);
    SAME_FIELD(end_ns);
    SAME_FIELD(ended);
    same_stats(a.steps, b.steps);
    SAME_FIELD(count);
    SAME_FIELD(recorded_ns);
    SAME_FIELD(late);
    SAME_FIELD(run);
}

static inline void same_step(gnomon_step_info a, gnomon_step_info b)
{
    SAME_FIELD(stage);
    SAME_FIELD(number);
    SAME_FIELD(begin_ns);
    SAME_FIELD(end_ns);
    SAME_FIELD(phase);
    SAME_FIELD(rank);
    SAME_FIELD(ordinal);
}

static inline void same_step_time(gnomon_step_time_info a,
                                  gnomon_step_time_info b)
{
    SAME_FIELD(stage);
    SAME_FIELD(view);
    SAME_FIELD(step);
    SAME_FIELD(region);
    same_stats(a.time, b.time);
    SAME_FIELD(own_ns);
    SAME_FIELD(calls);
}

static inline void same_view_time(gnomon_view_time_info a,
                                  gnomon_view_time_info b)
{
    SAME_FIELD(stage);
    SAME_FIELD(view);
    SAME_FIELD(recorded_ns);
}

static inline void same_strip(gnomon_strip_info a, gnomon_strip_info b)
{
    SAME_FIELD(stage);
    SAME_FIELD(track);
    SAME_FIELD(region);
    SAME_FIELD(width);
    SAME_FIELD(bin_count);
    SAME_FIELD(slow_count);
    for (size_t i = 0; i < a.bin_count && i < b.bin_count; i++) {
        const gnomon_bin *x = gnomon_bin_at(&a, i), *y = gnomon_bin_at(&b, i);
        CHECK_EQ(x->count, y->count);
        CHECK(!memcmp(&x->min, &y->min, 3 * sizeof x->min));
    }
    for (size_t i = 0; i < a.slow_count && i < b.slow_count; i++) {
        CHECK_EQ(gnomon_slow_at(&a, i)->at, gnomon_slow_at(&b, i)->at);
        CHECK_EQ(gnomon_slow_at(&a, i)->number, gnomon_slow_at(&b, i)->number);
        CHECK_EQ(gnomon_slow_at(&a, i)->ns, gnomon_slow_at(&b, i)->ns);
    }
}

static inline void same_track(gnomon_track_info a, gnomon_track_info b)
{
    SAME_FIELD(kind);
    SAME_TEXT(name);
    SAME_FIELD(os_id);
    SAME_FIELD(index);
    SAME_FIELD(thread_count);
    SAME_FIELD(alive);
    SAME_FIELD(inexact);
    SAME_FIELD(run);
    SAME_FIELD(device);
}

static inline void same_region(gnomon_region_info a, gnomon_region_info b)
{
    SAME_FIELD(kind);
    SAME_TEXT(name);
    SAME_TEXT(category);
    SAME_TEXT(file);
    SAME_TEXT(function);
    SAME_FIELD(line);
}

static inline void same_memory(gnomon_memory_stats a, gnomon_memory_stats b)
{
    SAME_FIELD(pool);
    SAME_FIELD(allocations);
    SAME_FIELD(frees);
    SAME_FIELD(allocated_bytes);
    SAME_FIELD(freed_bytes);
    SAME_FIELD(live_bytes);
    SAME_FIELD(peak_bytes);
}

static inline void same_node(gnomon_node_info a, gnomon_node_info b)
{
    SAME_FIELD(track);
    SAME_FIELD(stage);
    SAME_FIELD(parent);
    SAME_FIELD(region);
    SAME_FIELD(op);
    SAME_FIELD(open);
    SAME_FIELD(flags);
    SAME_FIELD(first);
    same_stats(a.host, b.host);
    same_stats(a.device, b.device);
    if (SAME_FIELD(memory_count))
        for (size_t i = 0; i < a.memory_count; i++)
            same_memory(*gnomon_memory_at(&a, i), *gnomon_memory_at(&b, i));
    if (CHECK_EQ(!a.work, !b.work) && a.work) {
        SAME_FIELD(work->flops);
        SAME_FIELD(work->bytes);
    }
    SAME_FIELD(view);
}

static inline void same_tensor(gnomon_tensor a, gnomon_tensor b)
{
    SAME_TEXT(dtype);
    if (!SAME_FIELD(rank) || !CHECK_EQ(!a.strides, !b.strides))
        return;
    for (uint32_t i = 0; i < a.rank; i++) {
        SAME_FIELD(dims[i]);
        if (a.strides)
            SAME_FIELD(strides[i]);
    }
}

static inline void same_attribute(gnomon_attribute a, gnomon_attribute b)
{
    SAME_TEXT(key);
    SAME_TEXT(json);
}

static inline void same_op(gnomon_op_info a, gnomon_op_info b)
{
    SAME_FIELD(flags);
    SAME_TEXT(operation);
    SAME_FIELD(flops);
    SAME_FIELD(bytes);
    if (SAME_FIELD(input_count))
        for (size_t i = 0; i < a.input_count; i++)
            same_tensor(*gnomon_input_at(&a, i), *gnomon_input_at(&b, i));
    if (SAME_FIELD(attribute_count))
        for (size_t i = 0; i < a.attribute_count; i++)
            same_attribute(*gnomon_attribute_at(&a, i),
                           *gnomon_attribute_at(&b, i));
}

static inline void same_link(gnomon_link_info a, gnomon_link_info b)
{
    SAME_FIELD(from);
    SAME_FIELD(to);
    SAME_FIELD(kind);
    SAME_FIELD(count);
    SAME_FIELD(from_instance);
    SAME_FIELD(to_instance);
    SAME_FIELD(from_ns);
    SAME_FIELD(to_ns);
}

static inline void same_counter(gnomon_counter_info a, gnomon_counter_info b)
{
    SAME_FIELD(track);
    SAME_FIELD(region);
    SAME_FIELD(stage);
    SAME_FIELD(count);
    SAME_BITS(last);
    SAME_BITS(min);
    SAME_BITS(max);
    SAME_BITS(sum);
    SAME_FIELD(nans);
}

static inline void same_event(gnomon_event_info a, gnomon_event_info b)
{
    SAME_FIELD(kind);
    SAME_FIELD(track);
    SAME_FIELD(node);
    SAME_FIELD(region);
    SAME_FIELD(begin_ns);
    SAME_FIELD(duration_ns);
    SAME_FIELD(instance);
    SAME_BITS(value);
}

static inline void same_loss(gnomon_loss_info a, gnomon_loss_info b)
{
    SAME_FIELD(run);
    SAME_FIELD(track);
    SAME_TEXT(kind);
    SAME_FIELD(count);
    SAME_FIELD(begin_ns);
    SAME_FIELD(end_ns);
}

static inline void same_open(gnomon_open_info a, gnomon_open_info b)
{
    SAME_FIELD(track);
    SAME_FIELD(node);
    SAME_FIELD(begin_ns);
}

static inline void same_metadata(gnomon_metadata_info a, gnomon_metadata_info b)
{
    SAME_FIELD(run);
    SAME_TEXT(key);
    SAME_TEXT(json);
}

static inline void same_view(gnomon_view_info a, gnomon_view_info b)
{
    SAME_TEXT(words);
}

#define SAME_KIND(kind, entities) \
    do { \
        size_t n_ = gnomon_profile_count(p, entities); \
        CHECK_EQ(n_, gnomon_profile_count(q, entities)); \
        for (size_t i_ = 1; i_ <= n_; i_++) { \
            gnomon_##kind##_info a_, b_; \
            CHECK_EQ(gnomon_profile_##kind(p, i_, &a_), GNOMON_OK); \
            CHECK_EQ(gnomon_profile_##kind(q, i_, &b_), GNOMON_OK); \
            same_##kind(a_, b_); \
        } \
    } while (0)

static inline void same_profiles(const gnomon_profile *p,
                                 const gnomon_profile *q)
{
    if (!CHECK(p && q))
        return;
    SAME_KIND(run, GNOMON_RUNS);
    SAME_KIND(stage, GNOMON_STAGES);
    SAME_KIND(step, GNOMON_STEPS);
    SAME_KIND(track, GNOMON_TRACKS);
    SAME_KIND(region, GNOMON_REGIONS);
    SAME_KIND(node, GNOMON_NODES);
    SAME_KIND(open, GNOMON_OPENS);
    SAME_KIND(link, GNOMON_LINKS);
    SAME_KIND(counter, GNOMON_COUNTERS);
    SAME_KIND(metadata, GNOMON_METADATA);
    SAME_KIND(loss, GNOMON_LOSSES);
    SAME_KIND(view, GNOMON_VIEWS);
    SAME_KIND(op, GNOMON_OPS);
    SAME_KIND(event, GNOMON_EVENTS);
    SAME_KIND(step_time, GNOMON_STEP_TIMES);
    SAME_KIND(view_time, GNOMON_VIEW_TIMES);
    SAME_KIND(strip, GNOMON_STRIPS);
}

#endif
