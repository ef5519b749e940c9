/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of work become sums. A source's thread does all of it, in batches. */
#include "record/activities.h"

#include <string.h>

#include "gnomon/profile.h"
#include "mark/thread.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "platform/process.h"

/* What a record is in a profile, by its kind. */
static const struct work_kind {
    const char *category;
    uint8_t region;  /* gnomon_region_kind */
    uint8_t lane;    /* gnomon__activity_lane */
    uint8_t is_work; /* a device is busy with it */
} work_kinds[] = {
    [GNOMON_DEVICE_KERNEL] = {"", GNOMON_KIND_KERNEL, GNOMON__LANE_STREAM, 1},
    [GNOMON_DEVICE_COPY] = {"", GNOMON_KIND_COPY, GNOMON__LANE_STREAM, 1},
    [GNOMON_DEVICE_SET] = {"", GNOMON_KIND_SET, GNOMON__LANE_STREAM, 1},
    [GNOMON_DEVICE_CALL] = {"cuda_runtime", GNOMON_KIND_API, GNOMON__LANE_CALLS,
                            0},
    [GNOMON_DEVICE_SYNC] = {"cuda_sync", GNOMON_KIND_SCOPE, GNOMON__LANE_STREAM,
                            0},
    [GNOMON_DEVICE_OVERHEAD] = {"overhead", GNOMON_KIND_SCOPE,
                                GNOMON__LANE_OVERHEAD, 0},
    [GNOMON_DEVICE_GRAPH] = {"graph", GNOMON_KIND_SCOPE, GNOMON__LANE_GRAPHS,
                             1},
    [GNOMON_DEVICE_COLLECTIVE] = {"", GNOMON_KIND_COLLECTIVE,
                                  GNOMON__LANE_COLLECTIVES, 1}};
#define WORK_KINDS (sizeof work_kinds / sizeof *work_kinds)

static gnomon__activity_sums
    work_pending[GNOMON__ACTIVITY_VIEWS] GNOMON__OF_PROCESS;
static uint32_t watchers[GNOMON__ACTIVITY_VIEWS] GNOMON__OF_PROCESS;

/* ---- Views ------------------------------------------------------------------------ */

int gnomon__activities_watch(uint32_t bit, uint32_t generation)
{
    uint32_t i = gnomon__activity_view_of(generation);
    if (i < GNOMON__ACTIVITY_VIEWS) {
        watchers[i]++;
        return GNOMON_OK;
    }
    i = gnomon__activity_view_of(0);
    if (i == GNOMON__ACTIVITY_VIEWS)
        return gnomon__fail(
            GNOMON_EFULL,
            "%u views have work or times of devices already, which is the "
            "most: give them the same filter and schedule",
            GNOMON__ACTIVITY_VIEWS);
    gnomon__activity_view *v = &gnomon__activity_views[i];
    gnomon__activities_lock(); /* those who give records read it under the lock */
    watchers[i] = 1;
    store_relaxed(&v->bit, bit);
    store_relaxed(&v->tapes, 0);
    store_release(&v->generation, generation);
    store_release(&gnomon__activity_bits, gnomon__activity_bits | 1u << bit);
    gnomon__activities_unlock();
    return GNOMON_OK;
}

void gnomon__activities_unwatch(uint32_t generation)
{
    uint32_t bits = 0;
    gnomon__activities_lock();
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++) {
        gnomon__activity_view *v = &gnomon__activity_views[i];
        if (v->generation == generation && !--watchers[i]) {
            store_release(&v->generation, 0);
            gnomon__activity_sums_empty(&work_pending[i]);
            gnomon__activity_events_drop(i);
        }
        if (v->generation)
            bits |= 1u << v->bit;
    }
    store_release(&gnomon__activity_bits, bits);
    if (!bits)
        gnomon__activity_tables_clear();
    gnomon__activities_unlock();
}

/* ---- The numbers of a record --------------------------------------------------------- */

/* One of our threads by the system's number; GNOMON__NO_LAUNCHER: it never marked. */
static uint32_t thread_of_system(int64_t os_id)
{
    gnomon__each_thread(t) {
        if (os_id && load_relaxed(&t->os_id) == os_id)
            return t->number;
    }
    return GNOMON__NO_LAUNCHER;
}

static uint32_t track_of_record(const gnomon_device_work *r,
                                const gnomon__activity_note *note)
{
    gnomon__activity_track track = {work_kinds[r->kind].lane, r->device, 0};
    if (track.lane == GNOMON__LANE_STREAM && r->kind == GNOMON_DEVICE_SYNC &&
        r->device < 0)
        track.lane = GNOMON__LANE_CALLS; /* a thread waits for all streams */
    if (track.lane == GNOMON__LANE_STREAM)
        track.number = r->stream == UINT32_MAX ? -1 : (int64_t)r->stream;
    if (track.lane != GNOMON__LANE_CALLS)
        return gnomon__activity_find_track(&track);
    uint32_t thread = note->thread != GNOMON__NO_LAUNCHER
                          ? note->thread
                          : thread_of_system(r->thread);
    int is_ours = thread != GNOMON__NO_LAUNCHER;
    track.lane = is_ours ? GNOMON__LANE_CALLS : GNOMON__LANE_CALLS_OF;
    track.device = -1;
    track.number = is_ours ? (int64_t)thread : r->thread;
    return gnomon__activity_find_track(&track);
}

/* 0: nothing is known of it. */
static uint32_t op_of_record(const gnomon_device_work *r, uint32_t name)
{
    gnomon__activity_op op = {.name = name, .context = r->context};
    if (!work_kinds[r->kind].is_work)
        return 0;
    op.bytes = r->bytes;
    op.communicator = r->communicator;
    if (r->kind == GNOMON_DEVICE_KERNEL) {
        memcpy(op.grid, r->grid, sizeof op.grid);
        memcpy(op.block, r->block, sizeof op.block);
        op.registers = r->registers;
        op.shared = r->shared_static + r->shared_dynamic;
    }
    static const gnomon__activity_op unknown;
    const size_t name_end = offsetof(gnomon__activity_op, context);
    int is_known =
        op.bytes || op.communicator ||
        memcmp(&op.context, &unknown.context, sizeof op - name_end) != 0;
    return is_known ? gnomon__activity_find_op(&op) : 0;
}

/* All but whose it is. 0: no memory or no room. */
static int leaf_of_record(gnomon__activity_leaf *leaf,
                          const gnomon_device_work *r,
                          const gnomon__activity_note *note)
{
    const struct work_kind *k = &work_kinds[r->kind];
    const char *category =
        r->flags & GNOMON_DEVICE_LOW_LEVEL && r->kind == GNOMON_DEVICE_CALL
            ? "cuda_driver"
            : k->category;
    *leaf = (gnomon__activity_leaf){
        .name = gnomon__activity_find_name(k->region, category, r->name),
        .track = track_of_record(r, note)};
    if (!leaf->name || !leaf->track)
        return 0;
    leaf->op = op_of_record(r, leaf->name);
    return 1;
}

/* ---- Records -------------------------------------------------------------------------- */

/* 0: no memory or no room. */
static int count_work(uint32_t source, uint32_t view,
                      gnomon__activity_leaf leaf, const gnomon_device_work *r,
                      const gnomon__activity_note *note)
{
    leaf.generation = note->generation[view];
    leaf.path = note->path[view];
    leaf.thread = leaf.path ? note->thread : 0;
    uint32_t number = gnomon__activity_find_leaf(&leaf);
    gnomon__activity_sum *s =
        number ? gnomon__activity_sum_at(&work_pending[view], number,
                                         note->segment)
               : NULL;
    const uint64_t ns = r->end_ns - r->begin_ns;
    if (!s || !gnomon__total_count(&s->total, ns, ns))
        return 0;
    s->bytes += r->bytes;
    const gnomon__activity_event event = {
        .begin_ns = r->begin_ns,
        .end_ns = r->end_ns,
        .launched = note->ticks,
        .correlation =
            r->correlation ? gnomon__note_key(source, r->correlation) : 0,
        .leaf = number,
        .segment = note->segment};
    if (note->events >> view & 1)
        gnomon__activity_events_put(view, &event);
    return 1;
}

static void put_record(uint32_t source, const gnomon_device_work *r)
{
    gnomon__activity_note note;
    gnomon__activity_leaf leaf;
    if (r->kind >= WORK_KINDS || r->end_ns < r->begin_ns) {
        gnomon__work_trouble(activities_odd, 1);
        return;
    }
    if (!gnomon__activity_note_find(&note, source, r->correlation,
                                    r->begin_ns) &&
        work_kinds[r->kind].is_work)
        gnomon__work_trouble(activities_unlinked, 1);
    int ok = leaf_of_record(&leaf, r, &note);
    for (uint32_t i = 0; i < GNOMON__ACTIVITY_VIEWS; i++)
        if (ok && note.generation[i] &&
            note.generation[i] == gnomon__activity_views[i].generation)
            ok = count_work(source, i, leaf, r, &note);
    if (!ok)
        gnomon__work_trouble(activities_lost, 1);
}

/* The size of the first release's struct. */
#define FIRST_ACTIVITY (offsetof(gnomon_device_work, entry) + sizeof(uint64_t))

void gnomon__activities_put(uint32_t source, const gnomon_device_work *records,
                            size_t count)
{
    GNOMON__FORWARD_VOID(device_put(source, records, count));
    if (!count || !load_relaxed(&gnomon__activity_bits))
        return;
    const size_t size = records->struct_size;
    if (!source || source > GNOMON__ACTIVITY_SOURCES || size < FIRST_ACTIVITY) {
        gnomon__work_trouble(activities_odd, count);
        return;
    }
    int cancel = gnomon__os_cancel_off();
    gnomon__activities_lock();
    for (size_t i = 0; i < count; i++) {
        gnomon_device_work r = {0};
        memcpy(&r, (const char *)records + i * size,
               size < sizeof r ? size : sizeof r);
        put_record(source, &r);
    }
    gnomon__activities_unlock();
    gnomon__os_cancel_back(cancel);
}

/* ---- Scopes on streams ----------------------------------------------------------------- */

int gnomon__activities_scope(const gnomon__device_path *path,
                             const gnomon__activity_track *on,
                             gnomon__activity_event event, uint64_t self_ns,
                             int is_event)
{
    gnomon__activity_leaf leaf = {.generation = path->generation,
                                  .thread = path->thread,
                                  .path = path->number};
    gnomon__activity_sum *s = NULL;
    gnomon__activities_lock();
    const uint32_t view = gnomon__activity_view_of(path->generation);
    if (on->device >= 0)
        leaf.track = gnomon__activity_find_track(on);
    event.segment = path->segment;
    event.leaf = gnomon__activity_find_scope(&leaf);
    if (event.leaf && view < GNOMON__ACTIVITY_VIEWS)
        s = gnomon__activity_sum_at(&work_pending[view], event.leaf,
                                    event.segment);
    int ok = s && gnomon__total_count(&s->total, event.end_ns - event.begin_ns,
                                      self_ns);
    if (ok && !leaf.track && on->device >= 0)
        gnomon__work_trouble(activities_lost, 1);
    if (!leaf.track)
        event.leaf = 0;
    if (ok && is_event)
        gnomon__activity_events_put(view, &event);
    gnomon__activities_unlock();
    return ok;
}

/* ---- The ledger's ------------------------------------------------------------------------ */

int gnomon__activities_take(uint32_t generation, int stays,
                            gnomon__activities_to *add, void *context)
{
    const uint32_t view = gnomon__activity_view_of(generation);
    int ok = 1;
    if (view == GNOMON__ACTIVITY_VIEWS)
        return ok;
    gnomon__activities_lock();
    gnomon__activity_sums *pending = &work_pending[view];
    for (size_t i = 0; i < pending->count; i++) {
        int is_added = add(context, &pending->of[i]);
        if (!is_added && !stays)
            gnomon__work_trouble(activities_lost, pending->of[i].total.s.count);
        ok &= is_added;
    }
    if (!stays)
        gnomon__activity_sums_empty(pending);
    gnomon__activities_unlock();
    return ok;
}
