/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Times of regions in each step, while they are recorded.
 *
 * Each thread adds up its regions' times in a table that only grows. The caller of a
 * step notes next to each sum how much of it earlier steps have taken, under the lock
 * of steps. So neither waits for the other, times of an ended thread are kept, and a
 * thread without marks since the last step costs one load. */
#include "record/step_times.h"

#include "gnomon/tool.h"
#include "mark/hot.h"
#include "mark/region.h"
#include "platform/clock.h"
#include "platform/process.h"
#include "record/snapshot_parts.h"
#include "record/step_sums.h"

#define STEP_PAGE 32u   /* regions in a page: a step looks at each of them */
#define STEP_PAGES 128u /* regions from 4096 on are "(other)" */
#define STEP_REGIONS (STEP_PAGE * STEP_PAGES)

/* Both in the arena. */
typedef struct step_page {
    struct step_count {
        uint64_t ticks, calls;
    } sums[STEP_PAGE],    /* written by the thread */
        taken[STEP_PAGE]; /* written by the caller of a step */
} step_page;

typedef struct step_table {
    gnomon__state state;
    uint64_t seen; /* the thread's word at the last step, by its caller */
    uint32_t pages[STEP_PAGES]; /* 0: none yet */
} step_table;

#define STEP_TABLE_BYTES 1024u
#define STEP_PAGE_BYTES ((uint32_t)sizeof(step_page))
_Static_assert(sizeof(step_table) <= STEP_TABLE_BYTES, "a chunk of the arena");

uint64_t gnomon__step_since GNOMON__OF_PROCESS;

/* ---- The recorder ------------------------------------------------------------------ */

static int step_adopt(gnomon__thread *t, uint32_t bit, uint32_t generation)
{
    (void)generation;
    store_relaxed(&t->states[bit],
                  gnomon__chunk_take(STEP_TABLE_BYTES, GNOMON__FOR_PATHS));
    return t->states[bit] != 0;
}

static void step_drop(gnomon__thread *t, uint32_t bit)
{
    const step_table *own = gnomon__at(t, t->states[bit]);
    for (uint32_t i = 0; i < STEP_PAGES; i++)
        if (own->pages[i])
            gnomon__chunk_give(own->pages[i], STEP_PAGE_BYTES);
    gnomon__chunk_give(t->states[bit], STEP_TABLE_BYTES);
    store_relaxed(&t->states[bit], 0);
}

/* 0: no memory. */
static uint32_t make_page(step_table *own, uint32_t page)
{
    uint32_t at = gnomon__chunk_take(STEP_PAGE_BYTES, GNOMON__FOR_PATHS);
    if (at)
        store_release(&own->pages[page], at);
    return at;
}

/* Only what lies in the step under way. */
static void add_ticks(gnomon__thread *t, step_table *own, uint32_t key,
                      uint64_t begin, uint64_t end)
{
    uint64_t since = load_relaxed(&gnomon__step_since);
    begin = begin > since ? begin : since;
    uint32_t id = GNOMON__KEY_REGION(key);
    id = id < STEP_REGIONS ? id : gnomon__plain_id(id);
    id = id < STEP_REGIONS ? id : GNOMON__OTHER_ID;
    uint32_t at = load_relaxed(&own->pages[id / STEP_PAGE]);
    if (unlikely(!at) && !(at = make_page(own, id / STEP_PAGE)))
        return;
    struct step_count *sum =
        &((step_page *)gnomon__at(t, at))->sums[id % STEP_PAGE];
    gnomon__word_sum(&sum->ticks, end > begin ? end - begin : 0);
    gnomon__word_sum(&sum->calls, 1);
}

static void step_end(gnomon__thread *t, uint32_t bit, const gnomon__finished *f)
{
    add_ticks(t, gnomon__at(t, t->states[bit]), f->key, f->begin, f->end);
}

static __attribute__((noinline)) void
step_ended_slow(gnomon__thread *t, const gnomon__front *n, uint64_t ticks)
{
    add_ticks(t, (step_table *)t->beside, n->key, n->begin, n->begin + ticks);
    gnomon__turn_even(t);
}

/* Of a region with a page, and all in the step under way. It saves no registers. */
static void step_ended(gnomon__thread *t, const gnomon__front *n,
                       uint64_t ticks)
{
    const step_table *own = (const step_table *)t->beside;
    uint32_t id = GNOMON__KEY_REGION(n->key);
    uint32_t page = id < STEP_REGIONS ? own->pages[id / STEP_PAGE] : 0;
    if (unlikely(!page || n->begin < load_loose(&gnomon__step_since))) {
        step_ended_slow(t, n, ticks);
        return;
    }
    struct step_count *sum =
        &((step_page *)gnomon__at(t, page))->sums[id % STEP_PAGE];
    gnomon__word_sum(&sum->ticks, ticks);
    gnomon__word_sum(&sum->calls, 1);
    gnomon__turn_even(t);
}

static void step_range(gnomon__thread *t, uint32_t bit,
                       const gnomon__finished *f, uint32_t segment)
{
    (void)segment;
    step_end(t, bit, f);
}

/* ---- A view's sums -------------------------------------------------------------------- */

typedef struct step_part {
    gnomon__step_part of; /* its time in ticks */
    uint64_t region;
} step_part;

/* A region's, in the arena. */
typedef struct step_total {
    gnomon__tick_sum time;
    uint64_t own, calls;
} step_total;
_Static_assert(sizeof(step_total) <= 8192, "a chunk of the arena");

typedef struct open_slow_step {
    gnomon__step_record step; /* its moments in ns */
    uint64_t begin, end;      /* ticks */
    uint32_t parts;           /* in the arena; 0: none */
    uint32_t count, bytes;
} open_slow_step;

/* The sums of one view in the open stage. What is added while steps are counted is in
 * the arena. */
typedef struct step_times {
    gnomon__kept kept;
    uint32_t sums[STEP_REGIONS]; /* in the arena; 0: of the steps themselves */
    /* Of the step that ends now. */
    gnomon__step_part now[STEP_REGIONS]; /* times in ticks */
    uint32_t touched[STEP_REGIONS];
    uint32_t touched_count;
    uint32_t slow_count;
    uint64_t slow_from; /* none of the slow ones took less */
    int is_incomplete;  /* some is missing: no memory */
    open_slow_step slow[GNOMON__SLOWEST_STEPS]; /* in no order */
} step_times;

static void *in_arena(uint32_t at)
{
    return gnomon__marks_arena.base + at;
}

static void give_parts(const open_slow_step *slow)
{
    if (slow->parts)
        gnomon__chunk_give(slow->parts, slow->bytes);
}

static void step_times_empty(gnomon__kept *kept)
{
    step_times *s = (step_times *)kept;
    for (uint32_t i = 0; i < STEP_REGIONS; i++) {
        if (s->sums[i])
            gnomon__chunk_give(s->sums[i], sizeof(step_total));
        s->sums[i] = 0;
    }
    for (uint32_t i = 0; i < s->slow_count; i++)
        give_parts(&s->slow[i]);
    s->slow_count = 0;
    s->slow_from = 0;
    s->is_incomplete = 0;
}

/* ---- A step ------------------------------------------------------------------------------ */

/* What a region computes has sums of its own: here they are the plain region's. */
static void take_page(step_times *s, step_page *page, uint32_t first,
                      int is_own)
{
    for (uint32_t i = 0; i < STEP_PAGE; i++) {
        struct step_count *taken = &page->taken[i];
        uint64_t calls = load_relaxed(&page->sums[i].calls);
        if (calls == taken->calls)
            continue;
        uint32_t region = gnomon__plain_id(first + i);
        gnomon__step_part *now = &s->now[region];
        uint64_t ticks = load_relaxed(&page->sums[i].ticks);
        if (!now->calls)
            s->touched[s->touched_count++] = region;
        now->time += ticks - taken->ticks;
        now->own += is_own ? ticks - taken->ticks : 0;
        now->calls += calls - taken->calls;
        *taken = (struct step_count){ticks, calls};
    }
}

static void take_threads(step_times *s)
{
    const gnomon__thread *own = gnomon__tls_now()->thread;
    uint32_t count = load_acquire(&gnomon__thread_total);
    for (uint32_t i = 0; i < count; i++) {
        const gnomon__thread *t = load_acquire(&gnomon__threads[i]);
        if (load_acquire(&t->generations[s->kept.bit]) != s->kept.generation)
            continue;
        step_table *table =
            gnomon__at(t, load_relaxed(&t->states[s->kept.bit]));
        uint64_t word = load_acquire(&t->seq); /* with gnomon__turn_even */
        if (word == table->seen)
            continue;
        table->seen = word;
        const uint32_t last = gnomon__region_count() / STEP_PAGE;
        for (uint32_t k = 0; k <= last && k < STEP_PAGES; k++) {
            uint32_t page = load_acquire(&table->pages[k]);
            if (page)
                take_page(s, gnomon__at(t, page), k * STEP_PAGE, t == own);
        }
    }
}

static void count_region(step_times *s, uint32_t region,
                         const gnomon__step_part *of)
{
    if (!s->sums[region])
        s->sums[region] =
            gnomon__chunk_take(sizeof(step_total), GNOMON__FOR_PATHS);
    if (!s->sums[region]) {
        s->is_incomplete = 1;
        return;
    }
    step_total *sum = in_arena(s->sums[region]);
    gnomon__tick_sum_count(&sum->time, of->time);
    sum->own += of->own;
    sum->calls += of->calls;
}

/* Keeps the regions' times of a slow step, or none where there is no memory. */
static void keep_parts(step_times *s, open_slow_step *slow)
{
    slow->bytes = s->touched_count * (uint32_t)sizeof(step_part);
    slow->bytes = slow->bytes < 1024 ? 1024 : slow->bytes;
    slow->parts = gnomon__chunk_take(slow->bytes, GNOMON__FOR_PATHS);
    slow->count = slow->parts ? s->touched_count : 0;
    s->is_incomplete |= !slow->parts;
    step_part *to = in_arena(slow->parts);
    for (uint32_t i = 0; i < slow->count; i++)
        to[i] = (step_part){s->now[s->touched[i]], s->touched[i]};
}

/* Of equally slow steps the first stays. */
static void keep_slow(step_times *s, const gnomon__step_record *done)
{
    const uint64_t took = done->end_ns - done->begin_ns;
    uint32_t at = s->slow_count;
    if (at == GNOMON__SLOWEST_STEPS) {
        uint64_t least = UINT64_MAX;
        if (took <= s->slow_from)
            return;
        for (uint32_t i = 0; i < s->slow_count; i++) {
            uint64_t ticks = s->slow[i].end - s->slow[i].begin;
            if (ticks > least ||
                (ticks == least && s->slow[i].begin < s->slow[at].begin))
                continue;
            least = ticks;
            at = i;
        }
        s->slow_from = least;
        if (took <= least)
            return;
        give_parts(&s->slow[at]);
    } else {
        s->slow_count++;
    }
    open_slow_step *to = &s->slow[at];
    *to = (open_slow_step){
        .step = *done, .begin = done->begin_ns, .end = done->end_ns};
    to->step.begin_ns = gnomon__clock_ns(to->begin);
    to->step.end_ns = gnomon__clock_ns(to->end);
    keep_parts(s, to);
}

/* O(threads + regions of those that marked). */
static void step_times_count(gnomon__kept *kept,
                             const gnomon__step_record *done)
{
    step_times *s = (step_times *)kept;
    take_threads(s);
    if (done) {
        const uint64_t ticks = done->end_ns - done->begin_ns;
        const gnomon__step_part all = {ticks, ticks, 1};
        count_region(s, 0, &all);
        for (uint32_t i = 0; i < s->touched_count; i++)
            count_region(s, s->touched[i], &s->now[s->touched[i]]);
        keep_slow(s, done);
    }
    for (uint32_t i = 0; i < s->touched_count; i++) {
        gnomon__step_part *now = &s->now[s->touched[i]];
        now->time = now->own = now->calls = 0;
    }
    s->touched_count = 0;
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int add_slow(gnomon__step_sums *to, const open_slow_step *from)
{
    const step_part *parts = in_arena(from->parts);
    uint64_t rate = gnomon__clock_rate(from->begin, from->end);
    gnomon__slow_step step = {.number = from->step.number,
                              .begin_ns = from->step.begin_ns,
                              .end_ns = from->step.end_ns,
                              .ordinal = from->step.ordinal,
                              .phase = from->step.phase};
    int ok = 1;
    for (uint32_t i = 0; ok && i < from->count; i++) {
        const gnomon__step_part *of = &parts[i].of;
        ok = gnomon__grow_zeroed(&step.of, &step.room, parts[i].region + 1,
                                 sizeof *step.of);
        if (ok)
            step.of[parts[i].region] = (gnomon__step_part){
                gnomon__line_scale(of->time, rate),
                gnomon__line_scale(of->own, rate), of->calls};
    }
    gnomon__step_sums_slow(to, step);
    return ok;
}

static int step_times_read(const gnomon__kept *kept, gnomon__totals *to,
                           uint64_t begin, uint64_t now)
{
    const step_times *s = (const step_times *)kept;
    gnomon__step_sums *sums = to->sums[GNOMON__STEP_RECORDER];
    uint64_t rate = gnomon__clock_rate(begin, now);
    int ok = 1;
    for (uint32_t i = 0; i < STEP_REGIONS; i++) {
        if (!s->sums[i])
            continue;
        const step_total *sum = in_arena(s->sums[i]);
        gnomon__step_sum *its = gnomon__step_sums_at(&sums, i);
        if (!its || !gnomon__tick_sum_add(&its->time, &sum->time, rate)) {
            ok = 0;
            continue;
        }
        its->own_ns += gnomon__line_scale(sum->own, rate);
        its->calls += sum->calls;
    }
    for (uint32_t i = 0; sums && i < s->slow_count; i++)
        ok &= add_slow(sums, &s->slow[i]);
    to->sums[GNOMON__STEP_RECORDER] = sums;
    to->is_incomplete |= s->is_incomplete;
    return ok;
}

const gnomon__recorder gnomon__step_recorder = {
    .name = "steps",
    .adopt = step_adopt,
    .drop = step_drop,
    .end = step_end,
    .ended = step_ended,
    .range = step_range,
    .wants = GNOMON_WANT_STEPS,
    .kept_bytes = sizeof(step_times),
    .count_step = step_times_count,
    .read = step_times_read,
    .empty = step_times_empty,
    .add_sums = gnomon__step_sums_add,
    .free_sums = gnomon__step_sums_free,
    .put_sums = gnomon__snapshot_step_times,
};
