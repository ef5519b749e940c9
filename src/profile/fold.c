/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules by which two entities of one key become one, and the table that finds them.
 *
 * Invariant: no two of a kind have the same key, but for what happened at a moment: open
 * scopes and events all stay. */
#include "profile/fold.h"

#include <math.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/strip.h"

/* ---- Statistics -------------------------------------------------------------- */

/* *to is NULL or a sum in `m`, on the heap where that is NULL. Adds to it; with
 * `larger` it becomes the larger of both instead. *took: it is all of `from` now. */
static int fold_stats(gnomon__model *m, const gnomon_stats **to,
                      const gnomon_stats *from, int larger, int *took)
{
    gnomon__sum *sum = (gnomon__sum *)(size_t)*to;
    const int is_new = !sum;
    *took = 0;
    if (!from || (larger && sum && gnomon__stats_compare(*to, from) >= 0))
        return GNOMON_OK;
    if (is_new && !(sum = gnomon__sum_create(m)))
        return GNOMON_ENOMEM;
    *to = &sum->s;
    *took = larger || is_new;
    return *took ? gnomon__sum_become(sum, from) : gnomon__sum_add(sum, from);
}

static int add_to_stats(gnomon__model *m, const gnomon_stats **to,
                        const gnomon_stats *from)
{
    int took;
    return fold_stats(m, to, from, 0, &took);
}

/* ---- Nodes --------------------------------------------------------------------- */

/* Both by ascending pool. */
static int join_memory(gnomon__fold *f, gnomon_node_info *to,
                       const gnomon_node_info *n)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON__MEMORY];
    gnomon_memory_stats *list = (gnomon_memory_stats *)(size_t)to->memory;
    size_t room = to->memory_count;
    for (size_t i = 0; i < n->memory_count; i++) {
        gnomon_memory_stats m = *gnomon_memory_at(n, i);
        size_t k = 0, count = to->memory_count;
        m.struct_size = sizeof m;
        m.pool = f->tracks[m.pool];
        while (k < count && list[k].pool < m.pool)
            k++;
        if (k < count && list[k].pool == m.pool) {
            gnomon__merge_fields(s, &list[k], &m, f->way->takes_larger);
            continue;
        }
        if (count == room) {
            room = count + n->memory_count - i;
            list = gnomon__model_room(f->m, room * sizeof *list);
            if (!list)
                return GNOMON_ENOMEM;
            if (count)
                memcpy(list, to->memory, count * sizeof *list);
        }
        memmove(&list[k + 1], &list[k], (count - k) * sizeof *list);
        list[k] = m;
        to->memory = list;
        to->memory_count++;
    }
    return GNOMON_OK;
}

static int join_work(gnomon__fold *f, gnomon_node_info *to,
                     const gnomon_work_stats *from)
{
    gnomon_work_stats *work = (gnomon_work_stats *)(size_t)to->work;
    if (from && work) {
        const int larger = f->way->takes_larger;
        const gnomon_work_stats was = *work;
        gnomon__merge_fields(&gnomon__structs[GNOMON__WORK], work, from,
                             larger);
        if (!larger && work->flops < was.flops)
            work->flops = UINT64_MAX;
        if (!larger && work->bytes < was.bytes)
            work->bytes = UINT64_MAX;
    } else if (from) {
        if (!(work = gnomon__model_room(f->m, sizeof *work)))
            return GNOMON_ENOMEM;
        *work = *from;
        work->struct_size = sizeof *work;
        to->work = work;
    }
    return GNOMON_OK;
}

/* *took: of the host's times those of `from` are kept. */
static int join_blocks(gnomon__fold *f, gnomon_node_info *to,
                       const gnomon_node_info *from, int *took)
{
    const int larger = f->way->takes_larger;
    int device;
    int code = fold_stats(f->m, &to->host, from->host, larger, took);
    if (!code)
        code = fold_stats(f->m, &to->device, from->device, larger, &device);
    if (!code)
        code = join_work(f, to, from->work);
    return code ? code : join_memory(f, to, from);
}

/* Gives the node blocks of its own, with what it borrowed. */
static int own_blocks(gnomon__fold *f, size_t number, gnomon_node_info *to)
{
    const gnomon_node_info borrowed = *to;
    int took;
    if (f->owns[number])
        return GNOMON_OK;
    f->owns[number] = 1;
    to->host = to->device = NULL;
    to->memory = NULL;
    to->memory_count = 0;
    to->work = NULL;
    return join_blocks(f, to, &borrowed, &took);
}

/* Pools are renumbered, so lists of memory are never borrowed. */
static int begin_node(gnomon__fold *f, size_t number, gnomon_node_info *to)
{
    if (!gnomon__grow(&f->owns, &f->owns_room, number + 1, 1))
        return GNOMON_ENOMEM;
    f->owns[number] = 0;
    return f->rules & GNOMON__UNITE_LENDS && !to->memory_count
               ? GNOMON_OK
               : own_blocks(f, number, to);
}

static int join_node(gnomon__fold *f, size_t number, gnomon_node_info *to,
                     const gnomon_node_info *n)
{
    const gnomon_stats *had = to->host;
    const int is_same = had && n->host && f->way->takes_larger &&
                        !gnomon__stats_compare(had, n->host);
    int took;
    int code = own_blocks(f, number, to);
    if (!code)
        code = join_blocks(f, to, n, &took);
    if (code)
        return code;
    to->flags |= n->flags;
    if (n->first && (!to->first || n->first < to->first))
        to->first = n->first;
    if (f->way->takes_later) { /* the last one alone says what is open */
        to->open |= n->open;
        return GNOMON_OK;
    }
    if (!had != !n->host) /* children may be ahead of it */
        to->flags |= GNOMON_NODE_PARTIAL;
    if (!f->way->takes_larger)
        to->open += n->open;
    else if (took || ((is_same || !had) && n->open > to->open))
        to->open = n->open;
    return GNOMON_OK;
}

int gnomon__fold_add_self(gnomon__fold *f, uint32_t node, uint64_t ns)
{
    gnomon_node_info *to = gnomon__model_at(f->m, GNOMON_NODES, node);
    int code = own_blocks(f, node, to);
    if (!code)
        ((gnomon_stats *)(size_t)to->host)->self_ns += ns;
    return code;
}

/* ---- Parts ------------------------------------------------------------------------- */

static int join_parts_of_stage(gnomon__fold *f, void *stage, const void *part)
{
    gnomon_stage_info *to = stage;
    const gnomon_stage_info *s = part;
    gnomon__merge_fields(&gnomon__structs[GNOMON_STAGES], to, s, 0);
    if (s->begin_ns < to->begin_ns)
        to->begin_ns = s->begin_ns;
    if (s->end_ns > to->end_ns)
        to->end_ns = s->end_ns;
    to->ended |= s->ended;
    return add_to_stats(f->m, &to->steps, s->steps);
}

/* What rounding takes from a sum is kept, and added to what comes next: so sums are the
 * same in any order. */
static int add_exactly(gnomon__fold *f, gnomon_counter_info *to, double a,
                       double b)
{
    const gnomon_counter_info *first =
        gnomon__model_at(f->m, GNOMON_COUNTERS, 1);
    const size_t i = (size_t)(to - first);
    const double sum = a + b, other = sum - a;
    if (!isfinite(sum))
        return GNOMON_OK;
    if (!gnomon__grow_zeroed(&f->rounded, &f->rounded_room, i + 1,
                             sizeof *f->rounded))
        return GNOMON_ENOMEM;
    const double rest = (a - (sum - other)) + (b - other) + f->rounded[i];
    to->sum = sum + rest;
    f->rounded[i] = rest - (to->sum - sum);
    return GNOMON_OK;
}

/* A counter without samples has zeros that are no values. */
static int join_counters(gnomon__fold *f, void *counter, const void *other)
{
    gnomon_counter_info *to = counter;
    const gnomon_counter_info *from = other;
    const gnomon_counter_info was = *to;
    const gnomon_counter_info *has = was.count ? &was : from;
    const int has_one = !f->way->takes_larger && !was.count != !from->count;
    gnomon__merge_fields(&gnomon__structs[GNOMON_COUNTERS], to, from,
                         f->way->takes_larger);
    if (has_one) {
        to->min = has->min;
        to->max = has->max;
    }
    if (f->way->takes_later)
        to->last = from->count ? from->last : was.last;
    else if (has_one)
        to->last = has->last;
    return f->way->takes_larger ? GNOMON_OK
                                : add_exactly(f, to, was.sum, from->sum);
}

/* A loss without an end has no known time. */
static int join_losses(gnomon__fold *f, void *loss, const void *other)
{
    gnomon_loss_info *to = loss;
    const gnomon_loss_info *from = other;
    const int order = !to->end_ns - !from->end_ns;
    gnomon__merge_fields(&gnomon__structs[GNOMON_LOSSES], to, from,
                         f->way->takes_larger);
    if (order > 0 || (!order && from->begin_ns < to->begin_ns))
        to->begin_ns = from->begin_ns;
    if (from->end_ns > to->end_ns)
        to->end_ns = from->end_ns;
    return GNOMON_OK;
}

/* Each part says what was lost of its own events; all else that is lost is counted since
 * the process began. */
static int join_parts_of_loss(gnomon__fold *f, void *to, const void *part)
{
    const gnomon_loss_info *from = part;
    if (strcmp(from->kind, "events_lost") == 0 ||
        strcmp(from->kind, "events_overwritten") == 0)
        return join_losses(f, to, from);
    memcpy(to, from, sizeof *from);
    return GNOMON_OK;
}

/* Times of one step are readings of it. */
static int join_step_times(gnomon__fold *f, void *time, const void *other)
{
    gnomon_step_time_info *to = time;
    const gnomon_step_time_info *t = other;
    gnomon__sum *sum = (gnomon__sum *)(size_t)to->time;
    const int is_one = to->step || f->way->takes_larger;
    const int order = !is_one ? 0
                      : f->way->takes_later
                          ? -1
                          : gnomon__stats_compare(to->time, t->time);
    if (order > 0)
        return GNOMON_OK;
    if (order < 0)
        to->own_ns = to->calls = 0; /* all of the other one */
    gnomon__merge_fields(&gnomon__structs[GNOMON_STEP_TIMES], to, t, is_one);
    if (is_one)
        return order ? gnomon__sum_become(sum, t->time) : GNOMON_OK;
    return gnomon__sum_add(sum, t->time);
}

static uint64_t count_of_bins(const gnomon_strip_info *s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->bin_count; i++)
        count += gnomon_bin_at(s, i)->count;
    return count;
}

/* The bins become the sum of both. */
static int add_strip_bins(gnomon__fold *f, gnomon_strip_info *to,
                          const gnomon_strip_info *s)
{
    gnomon__strip sum = {to->width, (gnomon_bin *)(size_t)to->bins,
                         to->bin_count, to->bin_count};
    const size_t need = gnomon__strip_need(&sum, s->width, s->bin_count);
    if (need > sum.room) {
        sum.bins = gnomon__model_room(f->m, need * sizeof *sum.bins);
        if (!sum.bins)
            return GNOMON_ENOMEM;
        memset(sum.bins, 0, need * sizeof *sum.bins);
        if (sum.count)
            memcpy(sum.bins, to->bins, sum.count * sizeof *sum.bins);
        sum.room = need;
    }
    (void)gnomon__strip_add(&sum, s->width, s->bins, s->bin_count);
    if (!sum.count && s->width > sum.width) /* as in the other order */
        sum.width = s->width;
    to->width = sum.width;
    to->bins = sum.bins;
    to->bin_count = sum.count;
    return GNOMON_OK;
}

static int add_slow_steps(gnomon__fold *f, gnomon_strip_info *to,
                          const gnomon_strip_info *s)
{
    gnomon_slow_step list[GNOMON__SLOW_STEPS];
    size_t count = 0;
    for (size_t i = 0; i < to->slow_count; i++)
        count = gnomon__slow_add(list, count, gnomon_slow_at(to, i));
    for (size_t i = 0; i < s->slow_count; i++)
        count = gnomon__slow_add(list, count, gnomon_slow_at(s, i));
    gnomon_slow_step *at = count > to->slow_count
                               ? gnomon__model_room(f->m, count * sizeof *at)
                               : (gnomon_slow_step *)(size_t)to->slow;
    if (count && !at)
        return GNOMON_ENOMEM;
    if (count)
        memcpy(at, list, count * sizeof *list);
    to->slow = at;
    to->slow_count = count;
    return GNOMON_OK;
}

/* Of several readings the one with more steps is kept. Those of a file are not
 * checked yet. */
static int join_strips(gnomon__fold *f, void *strip, const void *other)
{
    gnomon_strip_info *to = strip;
    const gnomon_strip_info *s = other;
    const gnomon__struct *of = &gnomon__structs[GNOMON_STRIPS];
    if (!gnomon__strip_is_sound(to) || !gnomon__strip_is_sound(s))
        return GNOMON_OK;
    if (f->way->takes_larger) {
        const uint64_t has = count_of_bins(to), its = count_of_bins(s);
        const int order = its != has ? GNOMON__COMPARE(its, has)
                                     : gnomon__compare_fields(of, s, to, 0);
        if (order <= 0)
            return GNOMON_OK;
        *to = *s;
        return f->keep && !f->keep(f, GNOMON_STRIPS, to) ? GNOMON_ENOMEM
                                                         : GNOMON_OK;
    }
    const int code = add_strip_bins(f, to, s);
    return code ? code : add_slow_steps(f, to, s);
}

const gnomon__fold_way gnomon__fold_parts = {
    .takes_later = 1,
    .join = {[GNOMON_STAGES] = join_parts_of_stage,
             [GNOMON_COUNTERS] = join_counters,
             [GNOMON_LOSSES] = join_parts_of_loss,
             [GNOMON_STEP_TIMES] = join_step_times,
             [GNOMON_STRIPS] = join_strips}};

/* ---- Readings ---------------------------------------------------------------------- */

static int join_readings_of_stage(gnomon__fold *f, void *stage,
                                  const void *reading)
{
    gnomon_stage_info *to = stage;
    const gnomon_stage_info *s = reading;
    int took;
    const int order = s->ended != to->ended
                          ? GNOMON__COMPARE(s->ended, to->ended)
                          : GNOMON__COMPARE(s->end_ns, to->end_ns);
    gnomon__merge_fields(&gnomon__structs[GNOMON_STAGES], to, s, 1);
    if (s->begin_ns < to->begin_ns)
        to->begin_ns = s->begin_ns;
    if (order <= 0) /* ends may be equal: then the times of steps decide */
        return order ? GNOMON_OK
                     : fold_stats(f->m, &to->steps, s->steps, 1, &took);
    to->ended = s->ended;
    to->end_ns = s->end_ns;
    to->steps = NULL;
    return add_to_stats(f->m, &to->steps, s->steps);
}

static int join_readings_of_track(gnomon__fold *f, void *track,
                                  const void *reading)
{
    gnomon_track_info *to = track;
    const gnomon_track_info *t = reading;
    (void)f;
    to->inexact |= t->inexact; /* sums of it stay, a later reading's too */
    if (t->thread_count != to->thread_count ? t->thread_count < to->thread_count
        : t->alive != to->alive             ? t->alive > to->alive
                                            : t->os_id <= to->os_id)
        return GNOMON_OK;
    to->os_id = t->os_id;
    to->thread_count = t->thread_count;
    to->alive = t->alive;
    return GNOMON_OK;
}

const gnomon__fold_way gnomon__fold_readings = {
    .takes_larger = 1,
    .join = {[GNOMON_STAGES] = join_readings_of_stage,
             [GNOMON_TRACKS] = join_readings_of_track,
             [GNOMON_COUNTERS] = join_counters,
             [GNOMON_LOSSES] = join_losses,
             [GNOMON_STEP_TIMES] = join_step_times,
             [GNOMON_STRIPS] = join_strips}};

/* ---- Sums -------------------------------------------------------------------------- */

static uint64_t recorded_time(const gnomon_stage_info *s)
{
    return s->recorded_ns ? s->recorded_ns : s->end_ns - s->begin_ns;
}

/* Durations add up, because runs have different zero times. */
static int add_stage(gnomon__fold *f, void *stage, const void *other)
{
    gnomon_stage_info *to = stage;
    const gnomon_stage_info *s = other;
    const uint64_t recorded = to->recorded_ns || s->recorded_ns
                                  ? recorded_time(to) + recorded_time(s)
                                  : 0;
    const uint64_t lasted = to->end_ns - to->begin_ns + s->end_ns - s->begin_ns;
    const uint32_t count =
        (to->count ? to->count : 1) + (s->count ? s->count : 1);
    gnomon__merge_fields(&gnomon__structs[GNOMON_STAGES], to, s, 0);
    if (f->rules & GNOMON__UNITE_NAMES) /* not one stage, but two */
        to->count = count;
    to->recorded_ns = recorded;
    if (s->begin_ns < to->begin_ns)
        to->begin_ns = s->begin_ns;
    to->end_ns = to->begin_ns + lasted;
    to->ended = to->ended && s->ended;
    return add_to_stats(f->m, &to->steps, s->steps);
}

static int add_track(gnomon__fold *f, void *track, const void *other)
{
    gnomon_track_info *to = track;
    const gnomon_track_info *t = other;
    (void)f;
    if (t->os_id > to->os_id)
        to->os_id = t->os_id;
    to->thread_count += t->thread_count;
    to->alive |= t->alive;
    to->inexact |= t->inexact;
    return GNOMON_OK;
}

const gnomon__fold_way gnomon__fold_sums = {
    .join = {[GNOMON_STAGES] = add_stage,
             [GNOMON_TRACKS] = add_track,
             [GNOMON_COUNTERS] = join_counters,
             [GNOMON_LOSSES] = join_losses,
             [GNOMON_STEP_TIMES] = join_step_times,
             [GNOMON_STRIPS] = join_strips}};

/* ---- Finding and adding ------------------------------------------------------------ */

int gnomon__fold_join(gnomon__fold *f, int entity, void *to, const void *from)
{
    gnomon_track_info *track = entity == GNOMON_TRACKS ? to : NULL;
    const int32_t inexact = track ? track->inexact : 0;
    if (f->way->join[entity])
        return f->way->join[entity](f, to, from);
    if (f->way->takes_later && entity != GNOMON_LINKS)
        memcpy(to, from, f->m->tables[entity].size);
    else
        gnomon__merge_fields(&gnomon__structs[entity], to, from,
                             f->way->takes_larger);
    if (track)
        track->inexact |= inexact; /* as sums of it stay */
    return GNOMON_OK;
}

/* Of a new item: sums of its own. Times of steps come and go, so theirs are on the heap
 * where many runs are added. */
static int begin_item(gnomon__fold *f, int entity, size_t number, void *item)
{
    gnomon_stage_info *stage = item;
    gnomon_step_time_info *time = item;
    const gnomon_stats *from = NULL;
    if (entity == GNOMON_NODES)
        return begin_node(f, number, item);
    if (entity == GNOMON_STEP_TIMES) {
        from = time->time;
        time->time = NULL;
        return add_to_stats(f->way->takes_later ? f->m : NULL, &time->time,
                            from);
    }
    if (entity == GNOMON_STAGES) {
        from = stage->steps;
        stage->steps = NULL;
    }
    if (f->keep && !f->keep(f, entity, item))
        return GNOMON_ENOMEM;
    return from ? add_to_stats(f->m, &stage->steps, from) : GNOMON_OK;
}

typedef struct fold_kind {
    const gnomon__model *m;
    int entity;
} fold_kind;

static int same_key(const void *context, uint32_t item, const void *wanted)
{
    const fold_kind *k = context;
    return !gnomon__compare_keys(
        k->entity, gnomon__model_at(k->m, k->entity, item), wanted);
}

static uint32_t find_item(const gnomon__fold *f, int entity, const void *item,
                          uint64_t hash)
{
    const fold_kind kind = {f->m, entity};
    return gnomon__slots_find(&f->slots[entity], hash, same_key, &kind, item);
}

uint32_t gnomon__fold_find(const gnomon__fold *f, int entity, const void *item)
{
    return find_item(f, entity, item, gnomon__hash_key(entity, item));
}

static int is_of_moment(int entity)
{
    return entity == GNOMON_OPENS || entity == GNOMON_EVENTS;
}

uint32_t gnomon__fold_add(gnomon__fold *f, int entity, const void *item)
{
    gnomon__table *t = &f->m->tables[entity];
    const uint64_t hash = gnomon__hash_key(entity, item);
    uint32_t number =
        is_of_moment(entity) ? 0 : find_item(f, entity, item, hash);
    if (number) {
        void *to = gnomon__model_at(f->m, entity, number);
        int code = entity == GNOMON_NODES
                       ? join_node(f, number, to, item)
                       : gnomon__fold_join(f, entity, to, item);
        return code ? 0 : number;
    }
    if (!gnomon__grow(&t->items, &t->room, t->count + 1, t->size))
        return 0;
    void *to = t->items + t->count++ * t->size;
    memmove(to, item, t->size);
    number = (uint32_t)t->count;
    if (begin_item(f, entity, number, to) ||
        (!is_of_moment(entity) &&
         gnomon__slots_add(&f->slots[entity], hash, number)))
        return 0;
    return number;
}

int gnomon__fold_index(gnomon__fold *f, int entity)
{
    int code = GNOMON_OK;
    gnomon__slots_empty(&f->slots[entity]);
    for (uint32_t i = 1; !code && i <= gnomon__model_count(f->m, entity); i++)
        code = gnomon__slots_add(
            &f->slots[entity],
            gnomon__hash_key(entity, gnomon__model_at(f->m, entity, i)), i);
    return code;
}

void gnomon__fold_free(gnomon__fold *f)
{
    for (int i = 0; i < GNOMON__ENTITIES; i++)
        gnomon__slots_free(&f->slots[i]);
    gnomon__free(f->owns);
    gnomon__free(f->rounded);
}

/* ---- Parts of a file -----------------------------------------------------------------
 *
 * One kind after the other, in the order of a file: so the references in a key have their
 * new numbers when keys are compared. In place: kept entities move to the front. */

/* Our paths are not deeper; a damaged file's may be. */
#define DEEPEST 4096

/* The node of the same path in `stage`, for a node in no stage; 0: none. */
static uint32_t in_stage(const gnomon__fold *f, uint32_t node, uint32_t stage,
                         int depth)
{
    gnomon_node_info key =
        *(gnomon_node_info *)gnomon__model_at(f->m, GNOMON_NODES, node);
    uint32_t parent = key.parent && depth < DEEPEST
                          ? in_stage(f, key.parent, stage, depth + 1)
                          : 0;
    key.parent = parent ? parent : key.parent;
    key.stage = stage;
    return gnomon__fold_find(f, GNOMON_NODES, &key);
}

/* A part of late records has its outer paths in no stage: finds the same paths in the
 * node's stage. */
static void find_parent(const gnomon__fold *f, gnomon_node_info *n)
{
    const gnomon_node_info *above =
        n->stage && n->parent ? gnomon__model_at(f->m, GNOMON_NODES, n->parent)
                              : NULL;
    uint32_t parent =
        above && !above->stage ? in_stage(f, n->parent, n->stage, 0) : 0;
    n->parent = parent ? parent : n->parent;
}

static int unite_kind(gnomon__fold *f, gnomon__numbers *maps, int entity)
{
    gnomon__table *t = &f->m->tables[entity];
    const size_t count = t->count;
    uint32_t *map = gnomon__alloc((count + 1) * sizeof *map);
    int ok = map != NULL;
    maps->of[entity] = map; /* nodes name nodes */
    f->tracks = maps->of[GNOMON_TRACKS];
    t->count = 0;
    for (size_t i = 1; ok && i <= count; i++) {
        void *item = gnomon__model_at(f->m, entity, i);
        gnomon__renumber(maps, entity, item);
        if (entity == GNOMON_NODES)
            find_parent(f, item);
        ok = (map[i] = gnomon__fold_add(f, entity, item)) != 0;
    }
    return ok;
}

static void keep_opens(gnomon__model *m, size_t first, size_t count)
{
    gnomon__table *t = &m->tables[GNOMON_OPENS];
    if (first + count > t->count + 1)
        count = 0;
    if (count)
        memmove(t->items, t->items + (first - 1) * t->size, count * t->size);
    t->count = count;
}

/* Only the last part says what is open. A node that was open in an earlier part may have
 * self time of an execution that it does not count: it is partial. */
static void count_opens(gnomon__model *m)
{
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_NODES); i++) {
        gnomon_node_info *n = gnomon__model_at(m, GNOMON_NODES, i);
        if (n->open && n->host)
            n->flags |= GNOMON_NODE_PARTIAL;
        n->open = 0;
    }
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_OPENS); i++) {
        const gnomon_open_info *o = gnomon__model_at(m, GNOMON_OPENS, i);
        ((gnomon_node_info *)gnomon__model_at(m, GNOMON_NODES, o->node))
            ->open++;
    }
}

int gnomon__unite_parts(gnomon__model *m, size_t first_open, size_t open_count,
                        gnomon__numbers *maps)
{
    gnomon__fold f = {
        .m = m, .way = &gnomon__fold_parts, .rules = GNOMON__UNITE_LENDS};
    int ok = 1;
    keep_opens(m, first_open, open_count);
    for (int i = 0; ok && i < GNOMON__ENTITIES; i++)
        ok = unite_kind(&f, maps, gnomon__file_order[i]);
    gnomon__fold_free(&f);
    if (!ok)
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    count_opens(m);
    return GNOMON_OK;
}
