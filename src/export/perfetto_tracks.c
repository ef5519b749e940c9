/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packets, of which each is whole in memory before it is written; and tracks, described
 * when the first event needs them:
 *
 *   rank 0 (host)           the process
 *     steps                 slices, as of a thread
 *     trace notes           notices on the run
 *     device 0              streams, each with its overlaps below it
 *     HBM (device 0)        a pool's bytes
 *     main                  a thread, with its overlaps and counters below it
 */
#include "export/perfetto.h"

#include <stdlib.h>

enum { PLACE_LANE = 1, PLACE_COUNTER, PLACE_POOL, PLACE_DEVICE, PLACE_NOTICES };

/* In what order the tracks of one parent stand. */
enum {
    RANK_OF_NOTICES = 1,
    RANK_OF_DEVICES = 1000,
    RANK_OF_POOLS = 100000000,
    RANK_OF_TRACKS = 500000000,
    RANK_OF_COUNTERS = 1000000000,
    MOST_RANK = 100000000
};

/* ---- Packets ---------------------------------------------------------------------- */

static gnomon__wire *begin_packet(gnomon__perfetto *f, uint32_t run,
                                  uint64_t flags)
{
    f->wire.size = f->wire.depth = 0;
    gnomon__wire_number(&f->wire, PACKET_SEQUENCE,
                        (uint64_t)f->runs_before + run + 1);
    gnomon__wire_number(&f->wire, PACKET_FLAGS, flags);
    return &f->wire;
}

gnomon__wire *gnomon__perfetto_packet(gnomon__perfetto *f, uint32_t run)
{
    return begin_packet(f, run, FLAGS_NEEDS_STATE);
}

void gnomon__perfetto_packet_end(gnomon__perfetto *f)
{
    char head[16];
    if (f->wire.has_failed) {
        f->has_no_memory = 1;
        return;
    }
    size_t n = gnomon__wire_varint(head, TRACE_PACKET << 3 | 2);
    n += gnomon__wire_varint(head + n, f->wire.size);
    gnomon__export_put(f->t, head, n);
    gnomon__export_put(f->t, f->wire.bytes, f->wire.size);
}

/* Times are Unix ns, and the file says nothing of clocks: viewers then take Unix time for
 * the time of the trace. A ClockSnapshot would say the same, but Perfetto shows it as a
 * group of its own, and opens a process by itself only where it is the only group. */
gnomon__wire *gnomon__perfetto_event(gnomon__perfetto *f, uint32_t run,
                                     uint64_t unix_ns, uint64_t uuid,
                                     uint32_t type)
{
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    gnomon__wire_number(w, PACKET_TIME, unix_ns);
    gnomon__wire_open(w, PACKET_EVENT);
    gnomon__wire_number(w, EVENT_TYPE, type);
    gnomon__wire_number(w, EVENT_TRACK, uuid);
    return w;
}

void gnomon__perfetto_event_end(gnomon__perfetto *f)
{
    gnomon__wire_close(&f->wire);
    gnomon__perfetto_packet_end(f);
}

/* ---- Places ---------------------------------------------------------------------- */

/* Where the place is, or the free one that it may have. */
static size_t find_place(const gnomon__perfetto_places *s, uint32_t kind,
                         uint32_t a, uint32_t b)
{
    uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)((hash >> 32) + kind) & (s->room - 1);
    while (s->of[at].kind &&
           (s->of[at].kind != kind || s->of[at].a != a || s->of[at].b != b))
        at = (at + 1) & (s->room - 1);
    return at;
}

static int grow_places(gnomon__perfetto_places *s)
{
    gnomon__perfetto_places larger = {.room = s->room ? 2 * s->room : 64};
    larger.of = calloc(larger.room, sizeof *larger.of);
    if (!larger.of)
        return 0;
    for (size_t i = 0; i < s->room; i++) {
        const gnomon__perfetto_place *p = &s->of[i];
        if (p->kind)
            larger.of[find_place(&larger, p->kind, p->a, p->b)] = *p;
    }
    larger.used = s->used;
    free(s->of);
    *s = larger;
    return 1;
}

/* NULL: no memory. A new one has no uuid yet. */
static gnomon__perfetto_place *place_of(gnomon__perfetto *f, uint32_t kind,
                                        uint32_t a, uint32_t b)
{
    gnomon__perfetto_places *s = &f->places;
    if (2 * s->used >= s->room && !grow_places(s)) {
        f->has_no_memory = 1;
        return NULL;
    }
    gnomon__perfetto_place *p = &s->of[find_place(s, kind, a, b)];
    if (!p->kind) {
        *p = (gnomon__perfetto_place){.kind = kind, .a = a, .b = b};
        s->used++;
    }
    return p;
}

/* ---- Descriptions ----------------------------------------------------------------- */

static void begin_track(gnomon__perfetto *f, uint32_t run, uint64_t uuid,
                        uint64_t parent, uint64_t rank)
{
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    gnomon__wire_open(w, PACKET_TRACK);
    gnomon__wire_number(w, TRACK_UUID, uuid);
    if (parent)
        gnomon__wire_number(w, TRACK_PARENT, parent);
    gnomon__wire_number(w, TRACK_ORDERING, ORDERING_BY_RANK);
    gnomon__wire_number(w, TRACK_RANK, rank);
    /* Tracks of one name are not the same one. */
    gnomon__wire_number(w, TRACK_MERGE, MERGE_NEVER);
}

static void end_track(gnomon__perfetto *f)
{
    gnomon__wire_close(&f->wire);
    gnomon__perfetto_packet_end(f);
}

static uint64_t rank_in(uint64_t base, uint64_t number)
{
    return base + (number < MOST_RANK ? number : MOST_RANK);
}

/* Whether the place is new: its description is begun then. */
static int begin_place(gnomon__perfetto *f, gnomon__perfetto_place *p,
                       uint32_t run, uint64_t parent, uint64_t rank)
{
    if (!p || p->uuid)
        return 0;
    p->uuid = ++f->uuids;
    begin_track(f, run, p->uuid, parent, rank);
    return 1;
}

static uint64_t uuid_of(const gnomon__perfetto_place *p)
{
    return p ? p->uuid : 0;
}

static void put_process(gnomon__perfetto *f, uint32_t run)
{
    const gnomon_run_info *r = &f->line.runs[run].info;
    gnomon__wire *w = &f->wire;
    gnomon__wire_open(w, TRACK_PROCESS);
    gnomon__wire_number(w, PROCESS_PID, (uint64_t)f->line.runs[run].pid);
    gnomon__wire_open(w, PROCESS_NAME);
    if (r->rank >= 0)
        gnomon__wire_form(w, 0, "rank %d", r->rank);
    else
        gnomon__wire_form(w, 0, "process");
    if (r->host && *r->host)
        gnomon__wire_form(w, 0, " (%s)", r->host);
    if (r->attempt && *r->attempt)
        gnomon__wire_form(w, 0, ", attempt %s", r->attempt);
    gnomon__wire_close(w);
    if (r->job && *r->job)
        gnomon__wire_text(w, PROCESS_LABEL, r->job);
    gnomon__wire_close(w);
}

/* The keys that all runs share, which events then name by number. */
static void put_keys(gnomon__wire *w)
{
    static const char *const keys[] = {"",
#define PERFETTO_KEY_TEXT(name, text) text,
                                       GNOMON__PERFETTO_KEYS(PERFETTO_KEY_TEXT)
#undef PERFETTO_KEY_TEXT
    };
    gnomon__wire_open(w, PACKET_INTERNED);
    for (uint32_t i = 1; i < GNOMON__PERFETTO_KEY_COUNT; i++) {
        gnomon__wire_open(w, INTERNED_KEY);
        gnomon__wire_number(w, ENTRY_IID, i);
        gnomon__wire_text(w, ENTRY_TEXT, keys[i]);
        gnomon__wire_close(w);
    }
    gnomon__wire_close(w);
}

void gnomon__perfetto_process(gnomon__perfetto *f, uint32_t run)
{
    gnomon__wire *w = begin_packet(f, run, FLAGS_CLEARED);
    gnomon__wire_number(w, PACKET_IS_FIRST, 1);
    put_keys(w);
    gnomon__perfetto_packet_end(f);
    begin_track(f, run, f->runs[run].uuid, 0, 0);
    put_process(f, run);
    end_track(f);
}

/* ---- Tracks of a process ------------------------------------------------------------ */

static uint64_t device_of(gnomon__perfetto *f, uint32_t run, int32_t device)
{
    gnomon__perfetto_place *p =
        place_of(f, PLACE_DEVICE, run, (uint32_t)device);
    if (begin_place(f, p, run, f->runs[run].uuid,
                    rank_in(RANK_OF_DEVICES, (uint64_t)device))) {
        gnomon__wire_form(&f->wire, TRACK_NAME, "device %d", device);
        end_track(f);
    }
    return uuid_of(p);
}

/* NULL: the row is one of steps. */
static const gnomon_track_info *track_of(const gnomon__perfetto *f, size_t row)
{
    return row <= f->line.track_count ? &f->line.tracks[row].info : NULL;
}

static void put_row_name(gnomon__perfetto *f, size_t row, uint32_t field,
                         uint32_t lane)
{
    char text[48];
    const gnomon_track_info *k = track_of(f, row);
    const char *name = k ? gnomon__export_track_name(text, k) : "steps";
    if (lane)
        gnomon__wire_form(&f->wire, field, "%s (overlap %u)", name, lane);
    else
        gnomon__wire_text(&f->wire, field, name);
}

/* Steps are shown as a thread: Perfetto has other tracks of a process below all
 * threads. */
static void describe_thread(gnomon__perfetto *f, size_t row)
{
    const gnomon__perfetto_row *r = &f->rows[row];
    gnomon__wire *w = &f->wire;
    begin_track(f, r->run, r->uuid, f->runs[r->run].uuid, 0);
    gnomon__wire_open(w, TRACK_THREAD);
    gnomon__wire_number(w, THREAD_PID, (uint64_t)f->line.runs[r->run].pid);
    gnomon__wire_number(w, THREAD_TID,
                        track_of(f, row) ? (uint64_t)f->line.tracks[row].tid
                                         : GNOMON__STEPS_TID);
    put_row_name(f, row, THREAD_NAME, 0);
    gnomon__wire_close(w);
    end_track(f);
}

static void describe_row(gnomon__perfetto *f, size_t row)
{
    const gnomon__perfetto_row *r = &f->rows[row];
    uint64_t parent = f->runs[r->run].uuid;
    uint64_t rank = rank_in(RANK_OF_TRACKS, row);
    const gnomon_track_info *k = track_of(f, row);
    if (!k || k->kind == GNOMON_TRACK_THREAD) {
        describe_thread(f, row);
        return;
    }
    if (k->kind == GNOMON_TRACK_STREAM && k->device >= 0) {
        parent = device_of(f, r->run, k->device);
        rank = rank_in(0, k->index);
    }
    begin_track(f, r->run, r->uuid, parent, rank);
    put_row_name(f, row, TRACK_NAME, 0);
    end_track(f);
}

uint64_t gnomon__perfetto_lane(gnomon__perfetto *f, size_t row, uint32_t lane)
{
    gnomon__perfetto_row *r = &f->rows[row];
    if (!r->is_described) {
        r->is_described = 1;
        describe_row(f, row);
    }
    if (!lane)
        return r->uuid;
    gnomon__perfetto_place *p = place_of(f, PLACE_LANE, (uint32_t)row, lane);
    if (begin_place(f, p, r->run, r->uuid, lane)) {
        put_row_name(f, row, TRACK_NAME, lane);
        end_track(f);
    }
    return uuid_of(p);
}

/* ---- Counters -------------------------------------------------------------------------- */

uint64_t gnomon__perfetto_counter(gnomon__perfetto *f, uint32_t track,
                                  uint32_t region)
{
    gnomon_region_info r = {.name = ""};
    gnomon__wire *w = &f->wire;
    uint64_t parent = gnomon__perfetto_lane(f, track, 0);
    gnomon__perfetto_place *p = place_of(f, PLACE_COUNTER, track, region);
    if (begin_place(f, p, f->rows[track].run, parent,
                    rank_in(RANK_OF_COUNTERS, region))) {
        (void)gnomon_profile_region(f->line.p, region, &r);
        gnomon__wire_text(w, TRACK_NAME, *r.name ? r.name : "counter");
        gnomon__wire_open(w, TRACK_COUNTER);
        gnomon__wire_close(w);
        end_track(f);
    }
    return uuid_of(p);
}

gnomon__perfetto_place *gnomon__perfetto_pool(gnomon__perfetto *f,
                                              uint32_t pool)
{
    const gnomon_track_info *k = &f->line.tracks[pool].info;
    const char *name = *k->name ? k->name : "memory";
    const uint32_t run = f->rows[pool].run;
    gnomon__wire *w = &f->wire;
    gnomon__perfetto_place *p = place_of(f, PLACE_POOL, pool, 0);
    if (begin_place(f, p, run, f->runs[run].uuid,
                    rank_in(RANK_OF_POOLS, pool))) {
        if (k->device >= 0)
            gnomon__wire_form(w, TRACK_NAME, "%s (device %d)", name, k->device);
        else
            gnomon__wire_text(w, TRACK_NAME, name);
        gnomon__wire_open(w, TRACK_COUNTER);
        gnomon__wire_number(w, COUNTER_UNIT, UNIT_BYTES);
        gnomon__wire_close(w);
        end_track(f);
    }
    return p;
}

uint64_t gnomon__perfetto_notices(gnomon__perfetto *f, uint32_t run)
{
    gnomon__perfetto_place *p = place_of(f, PLACE_NOTICES, run, 0);
    if (begin_place(f, p, run, f->runs[run].uuid, RANK_OF_NOTICES)) {
        gnomon__wire_text(&f->wire, TRACK_NAME, "trace notes");
        end_track(f);
    }
    return uuid_of(p);
}
