/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tracks, described when the first event needs them:
 *
 *   rank 0 (host)           the process
 *     steps                 slices, as of a thread
 *     trace notes           notices on the run
 *     device 0              streams, each with its overlaps below it
 *     HBM (device 0)        a pool's bytes
 *     main                  a thread, with its overlaps and counters below it
 */
#include "export/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACE_LANE = 1, PLACE_COUNTER, PLACE_POOL, PLACE_DEVICE };

/* In what order the tracks of one parent stand. */
enum {
    RANK_OF_NOTICES = 1,
    RANK_OF_DEVICES = 1000,
    RANK_OF_POOLS = 100000000,
    RANK_OF_TRACKS = 500000000,
    RANK_OF_COUNTERS = 1000000000,
    MOST_RANK = 100000000
};

/* ---- Places ---------------------------------------------------------------------- */

/* Where the place is, or the free one that it may have. */
static size_t perfetto_find_place(const gnomon__perfetto_places *s,
                                  uint32_t kind, uint32_t a, uint32_t b)
{
    uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)((hash >> 32) + kind) & (s->room - 1);
    while (s->of[at].kind &&
           (s->of[at].kind != kind || s->of[at].a != a || s->of[at].b != b))
        at = (at + 1) & (s->room - 1);
    return at;
}

static int perfetto_grow_places(gnomon__perfetto_places *s)
{
    gnomon__perfetto_places larger = {.room = s->room ? 2 * s->room : 64};
    larger.of = calloc(larger.room, sizeof *larger.of);
    if (!larger.of)
        return 0;
    for (size_t i = 0; i < s->room; i++) {
        const gnomon__perfetto_place *p = &s->of[i];
        if (p->kind)
            larger.of[perfetto_find_place(&larger, p->kind, p->a, p->b)] = *p;
    }
    larger.used = s->used;
    free(s->of);
    *s = larger;
    return 1;
}

/* *is_new: it must be described now. NULL: no memory. */
static gnomon__perfetto_place *perfetto_place_of(gnomon__perfetto *f,
                                                 uint32_t kind, uint32_t a,
                                                 uint32_t b, int *is_new)
{
    gnomon__perfetto_places *s = &f->places;
    *is_new = 0;
    if (2 * s->used >= s->room && !perfetto_grow_places(s)) {
        f->has_no_memory = 1;
        return NULL;
    }
    gnomon__perfetto_place *p = &s->of[perfetto_find_place(s, kind, a, b)];
    if (!p->kind) {
        *p = (gnomon__perfetto_place){kind, a, b, ++f->uuids, 0};
        s->used++;
        *is_new = 1;
    }
    return p;
}

void gnomon__perfetto_places_end(gnomon__perfetto *f)
{
    free(f->places.of);
    f->places = (gnomon__perfetto_places){0};
}

/* ---- Descriptions ----------------------------------------------------------------- */

static size_t perfetto_begin_track(gnomon__perfetto *f, uint32_t run,
                                   uint64_t uuid, uint64_t parent,
                                   uint64_t rank)
{
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    size_t from = gnomon__wire_open(w, PACKET_TRACK);
    gnomon__wire_number(w, TRACK_UUID, uuid);
    if (parent)
        gnomon__wire_number(w, TRACK_PARENT, parent);
    gnomon__wire_number(w, TRACK_ORDERING, ORDERING_BY_RANK);
    gnomon__wire_number(w, TRACK_RANK, rank);
    /* Tracks of one name are not the same one. */
    gnomon__wire_number(w, TRACK_MERGE, MERGE_NEVER);
    return from;
}

static void perfetto_end_track(gnomon__perfetto *f, size_t from)
{
    gnomon__wire_close(&f->wire, from);
    gnomon__perfetto_packet_end(f);
}

static uint64_t perfetto_rank_in(uint64_t base, uint64_t number)
{
    return base + (number < MOST_RANK ? number : MOST_RANK);
}

static void perfetto_put_process_name(gnomon__wire *w,
                                      const gnomon_run_info *run)
{
    size_t from = gnomon__wire_open(w, PROCESS_NAME);
    if (run->rank >= 0) {
        gnomon__wire_piece(w, "rank ");
        gnomon__wire_decimal(w, run->rank);
    } else {
        gnomon__wire_piece(w, "process");
    }
    if (run->host && *run->host) {
        gnomon__wire_piece(w, " (");
        gnomon__wire_piece(w, run->host);
        gnomon__wire_piece(w, ")");
    }
    if (run->attempt && *run->attempt) {
        gnomon__wire_piece(w, ", attempt ");
        gnomon__wire_piece(w, run->attempt);
    }
    gnomon__wire_close(w, from);
}

static void perfetto_put_process(gnomon__perfetto *f, uint32_t run)
{
    gnomon_run_info r = {.rank = -1};
    gnomon__wire *w = &f->wire;
    if (run)
        (void)gnomon_profile_run(f->p, run, &r);
    size_t from = gnomon__wire_open(w, TRACK_PROCESS);
    gnomon__wire_number(w, PROCESS_PID, (uint64_t)f->runs[run].pid);
    perfetto_put_process_name(w, &r);
    if (r.job && *r.job)
        gnomon__wire_text(w, PROCESS_LABEL, r.job);
    gnomon__wire_close(w, from);
}

/* The keys that all runs share, which events then name by number. */
static void perfetto_put_keys(gnomon__wire *w)
{
    static const char *const keys[] = {"",
#define PERFETTO_KEY_TEXT(name, text) text,
                                       GNOMON__PERFETTO_KEYS(PERFETTO_KEY_TEXT)
#undef PERFETTO_KEY_TEXT
    };
    size_t from = gnomon__wire_open(w, PACKET_INTERNED);
    for (uint32_t i = 1; i < GNOMON__PERFETTO_KEY_COUNT; i++) {
        size_t entry = gnomon__wire_open(w, INTERNED_KEY);
        gnomon__wire_number(w, ENTRY_IID, i);
        gnomon__wire_text(w, ENTRY_TEXT, keys[i]);
        gnomon__wire_close(w, entry);
    }
    gnomon__wire_close(w, from);
}

void gnomon__perfetto_process(gnomon__perfetto *f, uint32_t run)
{
    gnomon__wire *w = &f->wire;
    w->size = 0;
    gnomon__wire_number(w, PACKET_SEQUENCE, f->runs[run].sequence);
    gnomon__wire_number(w, PACKET_FLAGS, FLAGS_CLEARED);
    gnomon__wire_number(w, PACKET_IS_FIRST, 1);
    perfetto_put_keys(w);
    gnomon__perfetto_packet_end(f);
    size_t from = perfetto_begin_track(f, run, f->runs[run].uuid, 0, 0);
    perfetto_put_process(f, run);
    perfetto_end_track(f, from);
}

/* ---- Tracks of a process ------------------------------------------------------------ */

static uint64_t perfetto_device_of(gnomon__perfetto *f, uint32_t run,
                                   int32_t device)
{
    int is_new;
    gnomon__perfetto_place *p =
        perfetto_place_of(f, PLACE_DEVICE, run, (uint32_t)device, &is_new);
    if (!p || !is_new)
        return p ? p->uuid : 0;
    gnomon__wire *w = &f->wire;
    size_t from = perfetto_begin_track(
        f, run, p->uuid, f->runs[run].uuid,
        perfetto_rank_in(RANK_OF_DEVICES, (uint64_t)device));
    size_t name = gnomon__wire_open(w, TRACK_NAME);
    gnomon__wire_piece(w, "device ");
    gnomon__wire_decimal(w, device);
    gnomon__wire_close(w, name);
    perfetto_end_track(f, from);
    return p->uuid;
}

static void perfetto_put_row_name(gnomon__perfetto *f, size_t row,
                                  uint32_t field, uint32_t lane)
{
    char text[48];
    gnomon_track_info k = {.name = "steps"};
    gnomon__wire *w = &f->wire;
    if (row <= f->track_count)
        (void)gnomon_profile_track(f->p, row, &k);
    size_t from = gnomon__wire_open(w, field);
    gnomon__wire_piece(w, gnomon__export_track_name(text, &k));
    if (lane) {
        gnomon__wire_piece(w, " (overlap ");
        gnomon__wire_decimal(w, lane);
        gnomon__wire_piece(w, ")");
    }
    gnomon__wire_close(w, from);
}

/* Steps are shown as a thread: Perfetto has other tracks of a process below all
 * threads. */
static void perfetto_describe_thread(gnomon__perfetto *f, size_t row)
{
    const gnomon__perfetto_row *r = &f->rows[row];
    gnomon__wire *w = &f->wire;
    size_t from =
        perfetto_begin_track(f, r->run, r->uuid, f->runs[r->run].uuid, 0);
    size_t thread = gnomon__wire_open(w, TRACK_THREAD);
    gnomon__wire_number(w, THREAD_PID, (uint64_t)f->runs[r->run].pid);
    gnomon__wire_number(w, THREAD_TID,
                        row <= f->track_count ? (uint64_t)r->tid
                                              : GNOMON__PERFETTO_STEPS);
    perfetto_put_row_name(f, row, THREAD_NAME, 0);
    gnomon__wire_close(w, thread);
    perfetto_end_track(f, from);
}

static void perfetto_describe_row(gnomon__perfetto *f, size_t row)
{
    const gnomon__perfetto_row *r = &f->rows[row];
    uint64_t parent = f->runs[r->run].uuid;
    uint64_t rank = perfetto_rank_in(RANK_OF_TRACKS, row);
    gnomon_track_info k = {.kind = GNOMON_TRACK_THREAD};
    if (row <= f->track_count)
        (void)gnomon_profile_track(f->p, row, &k);
    if (k.kind == GNOMON_TRACK_THREAD) {
        perfetto_describe_thread(f, row);
        return;
    }
    if (k.kind == GNOMON_TRACK_STREAM && k.device >= 0) {
        parent = perfetto_device_of(f, r->run, k.device);
        rank = perfetto_rank_in(0, k.index);
    }
    size_t from = perfetto_begin_track(f, r->run, r->uuid, parent, rank);
    perfetto_put_row_name(f, row, TRACK_NAME, 0);
    perfetto_end_track(f, from);
}

uint64_t gnomon__perfetto_lane(gnomon__perfetto *f, size_t row, uint32_t lane)
{
    gnomon__perfetto_row *r = &f->rows[row];
    int is_new;
    if (!r->is_described) {
        r->is_described = 1;
        perfetto_describe_row(f, row);
    }
    if (!lane)
        return r->uuid;
    gnomon__perfetto_place *p =
        perfetto_place_of(f, PLACE_LANE, (uint32_t)row, lane, &is_new);
    if (p && is_new) {
        size_t from = perfetto_begin_track(f, r->run, p->uuid, r->uuid, lane);
        perfetto_put_row_name(f, row, TRACK_NAME, lane);
        perfetto_end_track(f, from);
    }
    return p ? p->uuid : 0;
}

/* ---- Counters -------------------------------------------------------------------------- */

uint64_t gnomon__perfetto_counter(gnomon__perfetto *f, uint32_t track,
                                  uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    int is_new;
    uint64_t parent = gnomon__perfetto_lane(f, track, 0);
    gnomon__perfetto_place *p =
        perfetto_place_of(f, PLACE_COUNTER, track, region, &is_new);
    if (!p || !is_new)
        return p ? p->uuid : 0;
    (void)gnomon_profile_region(f->p, region, &r);
    gnomon__wire *w = &f->wire;
    size_t from =
        perfetto_begin_track(f, f->rows[track].run, p->uuid, parent,
                             perfetto_rank_in(RANK_OF_COUNTERS, region));
    gnomon__wire_text(w, TRACK_NAME, *r.name ? r.name : "counter");
    gnomon__wire_close(w, gnomon__wire_open(w, TRACK_COUNTER));
    perfetto_end_track(f, from);
    return p->uuid;
}

static void perfetto_describe_pool(gnomon__perfetto *f, uint32_t pool,
                                   uint64_t uuid)
{
    gnomon_track_info k = {.name = "", .device = -1};
    gnomon__wire *w = &f->wire;
    uint32_t run = f->rows[pool].run;
    (void)gnomon_profile_track(f->p, pool, &k);
    size_t from = perfetto_begin_track(f, run, uuid, f->runs[run].uuid,
                                       perfetto_rank_in(RANK_OF_POOLS, pool));
    size_t name = gnomon__wire_open(w, TRACK_NAME);
    gnomon__wire_piece(w, *k.name ? k.name : "memory");
    if (k.device >= 0) {
        gnomon__wire_piece(w, " (device ");
        gnomon__wire_decimal(w, k.device);
        gnomon__wire_piece(w, ")");
    }
    gnomon__wire_close(w, name);
    size_t counter = gnomon__wire_open(w, TRACK_COUNTER);
    gnomon__wire_number(w, COUNTER_UNIT, UNIT_BYTES);
    gnomon__wire_close(w, counter);
    perfetto_end_track(f, from);
}

uint64_t gnomon__perfetto_pool(gnomon__perfetto *f, uint32_t pool,
                               gnomon__perfetto_place **place)
{
    int is_new;
    *place = perfetto_place_of(f, PLACE_POOL, pool, 0, &is_new);
    if (*place && is_new)
        perfetto_describe_pool(f, pool, (*place)->uuid);
    return *place ? (*place)->uuid : 0;
}

uint64_t gnomon__perfetto_notices(gnomon__perfetto *f, uint32_t run)
{
    gnomon__perfetto_run *r = &f->runs[run];
    if (r->notices_uuid)
        return r->notices_uuid;
    r->notices_uuid = ++f->uuids;
    size_t from =
        perfetto_begin_track(f, run, r->notices_uuid, r->uuid, RANK_OF_NOTICES);
    gnomon__wire_text(&f->wire, TRACK_NAME, "trace notes");
    perfetto_end_track(f, from);
    return r->notices_uuid;
}
