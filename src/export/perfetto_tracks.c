/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packets, of which each is whole in memory before it is written: as much as the longest
 * takes; and tracks, described
 * when the first event needs them:
 *
 *   rank 0 (host)           the process
 *     steps                 slices, as of a thread
 *     trace notes           notices on the run
 *     device 0              streams, each with its overlaps below it
 *     HBM (device 0)        a pool's bytes
 *     main                  a thread, with its overlaps and counters below it
 *
 * And names and values that a viewer lists for an event. What many events share is written
 * once for each run and then named by a number: of a region its own; of an operation's
 * texts those from names.strings on. */
#include "export/perfetto.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "print/python.h"

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

/* ---- Messages ----------------------------------------------------------------------- */

char *gnomon__wire_grow(gnomon__wire *w, size_t more)
{
    w->has_failed |=
        !gnomon__table_grow(&w->bytes, &w->room, w->size + more, 1);
    return w->has_failed ? NULL : w->bytes + w->size;
}

void gnomon__wire_fixed(gnomon__wire *w, uint32_t field, uint64_t value)
{
    char *to = gnomon__wire_room(w, GNOMON__VARINT_ROOM + sizeof value);
    if (!to)
        return;
    size_t n =
        gnomon__wire_varint(to, (uint64_t)field << 3 | GNOMON__WIRE_FIXED);
    for (unsigned i = 0; i < sizeof value; i++)
        to[n + i] = (char)(value >> 8 * i);
    w->size += n + sizeof value;
}

void gnomon__wire_double(gnomon__wire *w, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    gnomon__wire_fixed(w, field, bits);
}

void gnomon__wire_close(gnomon__wire *w)
{
    char length[GNOMON__VARINT_ROOM];
    const size_t from = w->open[--w->depth], size = w->size - from;
    if (w->has_failed)
        return;
    size_t more = gnomon__wire_varint(length, size) - 1;
    if (!gnomon__wire_room(w, more))
        return;
    if (more)
        memmove(w->bytes + from + more, w->bytes + from, size);
    memcpy(w->bytes + from - 1, length, more + 1);
    w->size += more;
}

static void put_piece(gnomon__wire *w, const char *text)
{
    const char *from = text;
    while (*text) {
        size_t size = gnomon__print_character(text);
        text += size;
        if (size)
            continue;
        gnomon__wire_put(w, from, (size_t)(text - from));
        gnomon__wire_put(w, GNOMON__NO_CHARACTER, 3);
        from = ++text;
    }
    gnomon__wire_put(w, from, (size_t)(text - from));
}

void gnomon__wire_form(gnomon__wire *w, uint32_t field, const char *form, ...)
{
    va_list of;
    char text[24];
    if (field)
        gnomon__wire_open(w, field);
    va_start(of, form);
    for (; *form; form++) {
        if (*form != '%') {
            gnomon__wire_put(w, form, 1);
            continue;
        }
        const char *piece = text;
        if (*++form == 's')
            piece = va_arg(of, const char *);
        else if (*form == 'd')
            (void)snprintf(text, sizeof text, "%d", va_arg(of, int));
        else if (*form == 'u')
            (void)snprintf(text, sizeof text, "%u", va_arg(of, unsigned));
        else if (*++form == 'd')
            (void)snprintf(text, sizeof text, "%jd", va_arg(of, intmax_t));
        else
            (void)snprintf(text, sizeof text, "%ju", va_arg(of, uintmax_t));
        put_piece(w, piece);
    }
    va_end(of);
    if (field)
        gnomon__wire_close(w);
}

void gnomon__wire_text(gnomon__wire *w, uint32_t field, const char *text)
{
    gnomon__wire_open(w, field);
    put_piece(w, text);
    gnomon__wire_close(w);
}

void gnomon__wire_free(gnomon__wire *w)
{
    free(w->bytes);
    *w = (gnomon__wire){0};
}

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

static void end_packet(gnomon__perfetto *f)
{
    char head[16];
    if (!gnomon__export_needs(f->t, !f->wire.has_failed))
        return;
    size_t n = gnomon__wire_varint(head, TRACE_PACKET << 3 | 2);
    n += gnomon__wire_varint(head + n, f->wire.size);
    gnomon__out_put(f->t, head, n);
    gnomon__out_put(f->t, f->wire.bytes, f->wire.size);
}

/* Times are Unix ns, and the file says nothing of clocks: viewers then take Unix time for
 * the time of the trace. A ClockSnapshot would say the same, but Perfetto shows it as a
 * group of its own, and opens a process by itself only where it is the only group. */
gnomon__wire *gnomon__perfetto_event(gnomon__perfetto *f, uint32_t run,
                                     uint64_t unix_ns, uint64_t uuid,
                                     uint32_t type)
{
    gnomon__wire *w = begin_packet(f, run, FLAGS_NEEDS_STATE);
    gnomon__wire_number(w, PACKET_TIME, unix_ns);
    gnomon__wire_open(w, PACKET_EVENT);
    gnomon__wire_number(w, EVENT_TYPE, type);
    gnomon__wire_number(w, EVENT_TRACK, uuid);
    return w;
}

void gnomon__perfetto_event_end(gnomon__perfetto *f)
{
    gnomon__wire_close(&f->wire);
    end_packet(f);
}

/* ---- Places ---------------------------------------------------------------------- */

/* The index of the entry, or of the free one that it can take. */
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
    if (!gnomon__export_needs(f->t, 2 * s->used < s->room || grow_places(s)))
        return NULL;
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
    gnomon__wire *w = begin_packet(f, run, FLAGS_NEEDS_STATE);
    gnomon__wire_open(w, PACKET_TRACK);
    gnomon__wire_number(w, TRACK_UUID, uuid);
    if (parent)
        gnomon__wire_number(w, TRACK_PARENT, parent);
    gnomon__wire_number(w, TRACK_ORDERING, ORDERING_BY_RANK);
    gnomon__wire_number(w, TRACK_RANK, rank);
    /* Tracks of one name are not the same one. */
    gnomon__wire_number(w, TRACK_MERGE, MERGE_NEVER);
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
    end_packet(f);
    begin_track(f, run, f->runs[run].uuid, 0, 0);
    put_process(f, run);
    gnomon__perfetto_event_end(f);
}

/* ---- Tracks of a process ------------------------------------------------------------ */

static uint64_t device_of(gnomon__perfetto *f, uint32_t run, int32_t device)
{
    gnomon__perfetto_place *p =
        place_of(f, PLACE_DEVICE, run, (uint32_t)device);
    if (begin_place(f, p, run, f->runs[run].uuid,
                    rank_in(RANK_OF_DEVICES, (uint64_t)device))) {
        gnomon__wire_form(&f->wire, TRACK_NAME, "device %d", device);
        gnomon__perfetto_event_end(f);
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
    gnomon__perfetto_event_end(f);
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
    gnomon__perfetto_event_end(f);
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
        gnomon__perfetto_event_end(f);
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
        gnomon__perfetto_event_end(f);
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
        gnomon__perfetto_event_end(f);
    }
    return p;
}

uint64_t gnomon__perfetto_notices(gnomon__perfetto *f, uint32_t run)
{
    gnomon__perfetto_place *p = place_of(f, PLACE_NOTICES, run, 0);
    if (begin_place(f, p, run, f->runs[run].uuid, RANK_OF_NOTICES)) {
        gnomon__wire_text(&f->wire, TRACK_NAME, "trace notes");
        gnomon__perfetto_event_end(f);
    }
    return uuid_of(p);
}

/* ---- Annotations ---------------------------------------------------------------------- */

static void begin_note(gnomon__wire *w, uint64_t key, const char *name)
{
    gnomon__wire_open(w, EVENT_ANNOTATION);
    if (key)
        gnomon__wire_number(w, ANNOTATION_KEY, key);
    else
        gnomon__wire_text(w, ANNOTATION_NAME, name);
}

void gnomon__perfetto_note(gnomon__wire *w, uint64_t key, const char *name,
                           uint32_t field, uint64_t value)
{
    begin_note(w, key, name);
    gnomon__wire_number(w, field, value);
    gnomon__wire_close(w);
}

void gnomon__perfetto_note_text(gnomon__wire *w, uint64_t key, const char *name,
                                const char *text)
{
    if (!text || !*text)
        return;
    begin_note(w, key, name);
    gnomon__wire_text(w, ANNOTATION_TEXT, text);
    gnomon__wire_close(w);
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* A text without escapes: it can be shown without its quotes. */
static int is_plain_text(const char *json)
{
    size_t n = strlen(json);
    return n >= 2 && json[0] == '"' && json[n - 1] == '"' &&
           !memchr(json, '\\', n);
}

/* Writes what a JSON value is as a text. */
static void put_json_text(gnomon__wire *w, uint32_t field, const char *json)
{
    if (!is_plain_text(json)) {
        gnomon__wire_text(w, field, json);
        return;
    }
    gnomon__wire_open(w, field);
    gnomon__wire_form(w, 0, "%s", json + 1);
    if (!w->has_failed)
        w->size--; /* the quote */
    gnomon__wire_close(w);
}

/* Writes a number; 0: it is none, or one that no 64 bits hold. */
static int put_json_number(gnomon__wire *w, const char *json)
{
    bool is_real;
    int64_t integer;
    double real;
    if (!gnomon__python_number(json, &is_real, &integer, &real))
        return 0;
    if (is_real) {
        gnomon__wire_double(w, ANNOTATION_DOUBLE, real);
        return 1;
    }
    errno = 0;
    integer = strtoll(json, NULL, 10);
    if (!errno) {
        gnomon__wire_number(w, ANNOTATION_INT, (uint64_t)integer);
        return 1;
    }
    errno = 0;
    const uint64_t natural = strtoull(json, NULL, 10);
    if (errno || *json == '-')
        return 0;
    gnomon__wire_number(w, ANNOTATION_UINT, natural);
    return 1;
}

void gnomon__perfetto_note_json(gnomon__wire *w, uint64_t key, const char *name,
                                const char *json)
{
    begin_note(w, key, name);
    if (strcmp(json, "true") == 0 || strcmp(json, "false") == 0)
        gnomon__wire_number(w, ANNOTATION_BOOL, *json == 't');
    else if (put_json_number(w, json))
        ;
    else if (key)
        gnomon__wire_number(w, ANNOTATION_TEXT_IID, key);
    else
        put_json_text(w, ANNOTATION_TEXT, json);
    gnomon__wire_close(w);
}

/* Numbers of categories: of kinds, then those that regions name. */
#define KIND_CATEGORIES 32u

/* Of an operation's texts: its name and its inputs' three, in the order of their keys;
 * then its attributes. */
enum { TEXT_OPERATION, TEXT_DIMS, TEXT_STRIDES, TEXT_TYPES, TEXT_ATTRIBUTES };

static const char *const kind_names[] = {
    "scope", "function", "action", "range", "mark",       "counter", "python",
    "api",   "kernel",   "copy",   "set",   "collective", "line"};
#define KIND_COUNT (uint32_t)(sizeof kind_names / sizeof *kind_names)

/* ---- Names of a profile --------------------------------------------------------------- */

int gnomon__perfetto_names_begin(gnomon__perfetto *f)
{
    gnomon__perfetto_names *n = &f->names;
    size_t regions = gnomon_profile_count(f->line.p, GNOMON_REGIONS);
    size_t ops = gnomon_profile_count(f->line.p, GNOMON_OPS);
    gnomon_op_info op;
    gnomon_node_info node;
    n->node_count = gnomon_profile_count(f->line.p, GNOMON_NODES);
    n->nodes = calloc(n->node_count + 1, sizeof *n->nodes);
    n->regions = calloc(regions + 1, sizeof *n->regions);
    n->ops = calloc(ops + 1, sizeof *n->ops);
    n->strings = calloc(ops + 2, sizeof *n->strings);
    if (!n->nodes || !n->regions || !n->ops || !n->strings)
        return 0;
    for (size_t i = 1; !gnomon_profile_node(f->line.p, i, &node); i++)
        n->nodes[i] = (gnomon__perfetto_node){node.region, node.op};
    n->strings[0] = n->strings[1] = GNOMON__PERFETTO_KEY_COUNT;
    for (size_t i = 1; !gnomon_profile_op(f->line.p, i, &op); i++)
        n->strings[i + 1] =
            n->strings[i] + TEXT_ATTRIBUTES + op.attribute_count;
    return 1;
}

void gnomon__perfetto_names_end(gnomon__perfetto *f)
{
    free(f->names.nodes);
    free(f->names.regions);
    free(f->names.ops);
    free(f->names.strings);
    f->names = (gnomon__perfetto_names){0};
}

/* ---- Entries --------------------------------------------------------------------------- */

static void begin_entry(gnomon__wire *w, uint32_t field, uint64_t number)
{
    gnomon__wire_open(w, field);
    gnomon__wire_number(w, ENTRY_IID, number);
}

static void put_entry(gnomon__wire *w, uint32_t field, uint64_t number,
                      const char *text)
{
    begin_entry(w, field, number);
    gnomon__wire_text(w, ENTRY_TEXT, text);
    gnomon__wire_close(w);
}

static uint64_t category_of(const gnomon_region_info *r, uint32_t region)
{
    return *r->category           ? (uint64_t)KIND_CATEGORIES + region
           : r->kind < KIND_COUNT ? r->kind + 1
                                  : 0;
}

static int has_source(const gnomon_region_info *r)
{
    return *r->file || *r->function;
}

static void put_region(gnomon__perfetto *f, uint32_t region)
{
    gnomon_region_info r = {
        .name = "", .category = "", .file = "", .function = ""};
    gnomon__wire *w = &f->wire;
    (void)gnomon_profile_region(f->line.p, region, &r);
    put_entry(w, INTERNED_NAME, region, r.name);
    uint64_t category = category_of(&r, region);
    f->names.regions[region].category = category;
    f->names.regions[region].has_source = has_source(&r) != 0;
    if (category)
        put_entry(w, INTERNED_CATEGORY, category,
                  *r.category ? r.category : kind_names[r.kind]);
    if (!has_source(&r))
        return;
    begin_entry(w, INTERNED_SOURCE, region);
    gnomon__wire_text(w, ENTRY_TEXT, r.file);
    gnomon__wire_text(w, SOURCE_FUNCTION, r.function);
    gnomon__wire_number(w, SOURCE_LINE, r.line);
    gnomon__wire_close(w);
}

/* ---- Operations -------------------------------------------------------------------------- */

static void put_sizes(gnomon__wire *w, const int64_t *of, uint32_t rank)
{
    gnomon__wire_form(w, 0, "[");
    for (uint32_t i = 0; of && i < rank; i++)
        gnomon__wire_form(w, 0, "%s%jd", i ? ", " : "", of[i]);
    gnomon__wire_form(w, 0, "]");
}

/* One text for all inputs, as torch's traces have it. */
static void put_inputs(gnomon__wire *w, const gnomon_op_info *op, int which,
                       uint64_t number)
{
    begin_entry(w, INTERNED_STRING, number);
    gnomon__wire_open(w, ENTRY_TEXT);
    gnomon__wire_form(w, 0, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        gnomon__wire_form(w, 0, "%s", i ? ", " : "");
        if (which == TEXT_TYPES)
            gnomon__wire_form(w, 0, "%s", input->dtype);
        else
            put_sizes(w, which == TEXT_DIMS ? input->dims : input->strides,
                      input->rank);
    }
    gnomon__wire_form(w, 0, "]");
    gnomon__wire_close(w);
    gnomon__wire_close(w);
}

static void put_op_texts(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    uint64_t base = f->names.strings[number];
    gnomon_op_info op;
    if (gnomon_profile_op(f->line.p, number, &op))
        return;
    put_entry(w, INTERNED_STRING, base + TEXT_OPERATION, op.operation);
    put_inputs(w, &op, TEXT_DIMS, base + TEXT_DIMS);
    put_inputs(w, &op, TEXT_STRIDES, base + TEXT_STRIDES);
    put_inputs(w, &op, TEXT_TYPES, base + TEXT_TYPES);
    for (size_t i = 0; i < op.attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(&op, i);
        uint64_t at = base + TEXT_ATTRIBUTES + i;
        put_entry(w, INTERNED_KEY, at, a->key);
        begin_entry(w, INTERNED_STRING, at);
        put_json_text(w, ENTRY_TEXT, a->json);
        gnomon__wire_close(w);
    }
}

void gnomon__perfetto_op(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    gnomon_op_info op;
    if (!number || gnomon_profile_op(f->line.p, number, &op))
        return;
    const uint64_t base = f->names.strings[number];
    const int has[] = {*op.operation != 0, op.input_count != 0,
                       gnomon__export_has_strides(&op), op.input_count != 0};
    for (uint64_t i = TEXT_OPERATION; i < TEXT_ATTRIBUTES; i++)
        if (has[i])
            gnomon__perfetto_note(w, GNOMON__PERFETTO_OPERATION + i, NULL,
                                  ANNOTATION_TEXT_IID, base + i);
    if (op.flags & GNOMON_OP_BACKWARD)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BACKWARD, NULL,
                              ANNOTATION_UINT, 1);
    if (op.flops)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_FLOPS, NULL, ANNOTATION_UINT,
                              op.flops);
    if (op.bytes)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BYTES, NULL, ANNOTATION_UINT,
                              op.bytes);
    for (size_t i = 0; i < op.attribute_count; i++)
        gnomon__perfetto_note_json(w, base + TEXT_ATTRIBUTES + i, NULL,
                                   gnomon_attribute_at(&op, i)->json);
}

/* ---- For events ----------------------------------------------------------------------------- */

void gnomon__perfetto_intern(gnomon__perfetto *f, uint32_t run, uint32_t region,
                             uint32_t op)
{
    const uint32_t sequence = (uint32_t)f->runs_before + run + 1;
    int has_region = f->names.regions[region].sequence == sequence;
    int has_op = !op || f->names.ops[op] == sequence;
    if (has_region && has_op)
        return;
    gnomon__wire *w = begin_packet(f, run, FLAGS_NEEDS_STATE);
    gnomon__wire_open(w, PACKET_INTERNED);
    if (!has_region)
        put_region(f, region);
    if (!has_op)
        put_op_texts(f, op);
    gnomon__wire_close(w);
    end_packet(f);
    f->names.regions[region].sequence = sequence;
    f->names.ops[op] = sequence;
}

void gnomon__perfetto_name(gnomon__perfetto *f, uint32_t region)
{
    const gnomon__perfetto_region *r = &f->names.regions[region];
    gnomon__wire *w = &f->wire;
    gnomon__wire_number(w, EVENT_NAME_IID, region);
    if (r->category)
        gnomon__wire_number(w, EVENT_CATEGORY_IIDS, r->category);
    if (r->has_source)
        gnomon__wire_number(w, EVENT_SOURCE_IID, region);
}
