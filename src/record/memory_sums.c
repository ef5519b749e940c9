/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of memory of a stage: those of one path and one pool are one. */
#include "record/memory_sums.h"

#include <string.h>

#include "mark/callbacks.h"
#include "mark/memory.h"
#include "mark/observer.h"
#include "mark/region.h"
#include "mark/tree.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/fields.h"

/* ---- Sums ------------------------------------------------------------------------ */

/* Accounts of threads add up to what a path held at a peak; of stages, each has a peak of
 * its own. 0: no memory. */
static int add_memory(void **to, const gnomon__memory_sum *from,
                      int is_of_stage)
{
    gnomon__memory_sums *s = *to ? *to : (*to = gnomon__alloc(sizeof *s));
    if (!s)
        return 0;
    uint32_t item = gnomon__keyed_at(
        &s->slots, &s->of, &s->room, sizeof *from, from,
        offsetof(gnomon__memory_sum, pool) + sizeof from->pool, SIZE_MAX);
    const size_t before = s->count;
    s->count = s->slots.count;
    if (!item || s->count != before)
        return item != 0;
    gnomon_memory_stats *sum = &s->of[item - 1].s;
    const uint64_t at_peak = sum->at_peak_bytes + from->s.at_peak_bytes;
    gnomon__merge_fields(&gnomon__structs[GNOMON__MEMORY], sum, &from->s, 0);
    sum->at_peak_bytes = is_of_stage ? at_peak : sum->at_peak_bytes;
    return 1;
}

/* `sums` is what add_memory gets. 0: no memory. */
static int add_level(void *sums, uint32_t pool, uint64_t width,
                     const gnomon_bin *bins, size_t count)
{
    void **to = sums;
    gnomon__memory_sums *s = *to ? *to : (*to = gnomon__alloc(sizeof *s));
    size_t i = 0;
    while (s && i < s->level_count && s->levels[i].pool != pool)
        i++;
    if (!s || !gnomon__grow_zeroed(&s->levels, &s->level_room, i + 1,
                                   sizeof *s->levels))
        return 0;
    s->levels[i].pool = pool;
    s->level_count += i == s->level_count;
    return gnomon__strip_add(&s->levels[i].strip, width, bins, count);
}

static int memory_sums_add(void **to, const void *sums)
{
    const gnomon__memory_sums *from = sums;
    int ok = 1;
    for (size_t i = 0; i < from->count; i++)
        ok &= add_memory(to, &from->of[i], 0);
    for (size_t i = 0; i < from->level_count; i++) {
        const gnomon__strip *s = &from->levels[i].strip;
        ok &= add_level(to, from->levels[i].pool, s->width, s->bins, s->count);
    }
    return ok;
}

static void memory_sums_free(void *sums)
{
    gnomon__memory_sums *s = sums;
    for (size_t i = 0; i < s->level_count; i++)
        gnomon__strip_free(&s->levels[i].strip);
    gnomon__free(s->levels);
    gnomon__free(s->of);
    gnomon__slots_free(&s->slots);
    gnomon__free(s);
}

/* ---- A view's -------------------------------------------------------------------- */

static void memory_step(gnomon__kept *kept,
                        const struct gnomon__step_record *done)
{
    (void)kept;
    if (done)
        gnomon__memory_recorder->step(load_relaxed(&gnomon__steps_over));
}

static int memory_join(gnomon__kept *kept, const gnomon__kept *tree)
{
    if (tree && !gnomon__memory_recorder)
        return gnomon__fail(GNOMON_ESTATE, "libgnomon-memory.so is not loaded");
    if (tree && gnomon__memory_bits)
        return gnomon__fail(GNOMON_EFULL, "memory is recorded with the filter "
                                          "or schedule of another profiler");
    if (tree) {
        gnomon__observer_barrier(); /* a mark of the recording before is over */
        if (!gnomon__observer_marks_over(1))
            return gnomon__fail(GNOMON_EBUSY, "a mark has been going on for a "
                                              "second: attach again later");
        gnomon__memory_recorder->begin();
        kept->bit = tree->bit;
    }
    store_relaxed(&gnomon__memory_bits, tree ? 1u << kept->bit : 0);
    gnomon__observer_filter(kept->bit); /* pools are wanted, or no more */
    return GNOMON_OK;
}

/* Of the path's thread: others may have freed what it allocated. */
static int put_account(void *to, uint32_t node, uint32_t pool,
                       const gnomon_memory_stats *sums)
{
    const gnomon__node *n = (const void *)(gnomon__marks_arena.base + node);
    gnomon__memory_sum one = {.thread = load_relaxed(&n->thread), .pool = pool};
    if (!(load_relaxed(&n->flags) & GNOMON__NODE_ROOT))
        one.path = load_relaxed(&n->number);
    one.s = *sums;
    return add_memory(to, &one, 1);
}

static int memory_read(const gnomon__kept *kept, gnomon__totals *to,
                       uint64_t begin, uint64_t now)
{
    (void)kept;
    (void)begin;
    (void)now;
    void *read = NULL, **out = &to->sums[GNOMON__MEMORY_RECORDER];
    int ok = gnomon__memory_recorder->read(&read, put_account);
    gnomon__memory_sums *sums = read;
    for (size_t i = 0; sums && i < sums->count; i++) {
        gnomon__memory_sum *one = &sums->of[i];
        if ((int64_t)one->s.at_peak_bytes < 0) /* threads allocate just now */
            one->s.at_peak_bytes = 0;
        /* The path is in the stage, though nothing of it may have ended there. */
        ok &= (!one->path || gnomon__totals_path(to, one->thread, one->path)) &&
              add_memory(out, one, 0);
    }
    if (sums)
        memory_sums_free(sums);
    gnomon__work_trouble(lost_blocks, gnomon__memory_recorder->lost());
    return gnomon__memory_recorder->levels(out, add_level) && ok;
}

static int note_marked(void *is_any, uint32_t node, uint32_t pool,
                       const gnomon_memory_stats *s)
{
    (void)node;
    (void)pool;
    *(int *)is_any |= s->allocations || s->frees || s->held_bytes ||
                      s->reserved_bytes || s->failures || s->unknown;
    return 1;
}

int gnomon__memory_was_marked(void)
{
    int is_any = 0;
    if (load_relaxed(&gnomon__memory_bits))
        (void)gnomon__memory_recorder->read(&is_any, note_marked);
    return is_any;
}

static void memory_next(gnomon__kept *kept)
{
    (void)kept;
    gnomon__memory_recorder->next();
}

const gnomon__recorder gnomon__memory_sums_recorder = {
    .name = "memory",
    .wants = GNOMON_WANT_MEMORY,
    .join = memory_join,
    .kept_bytes = sizeof(gnomon__kept),
    .count_step = memory_step,
    .read = memory_read,
    .empty = memory_next,
    .add_sums = memory_sums_add,
    .free_sums = memory_sums_free,
};
