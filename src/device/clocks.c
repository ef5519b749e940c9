/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The clock of each device context, and what one event costs there. Both use a
 * stream of gnomon's own. The cost is measured once, from a row of events.
 * Everything here runs on the reader's thread. */
#include <string.h>

#include "device/describe.h"
#include "device/reader.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "platform/os.h"

#define CLOCK_COUNT 16u
#define CLOCK_PART 16u /* the cost is that of the fastest part of the row */
#define CLOCK_ROW (4 * CLOCK_PART + 1)
#define CLOCK_ANCHOR_NS 1000000000ull /* the longest time between anchors */
/* The first anchors follow each other until the host's time is known so well. */
#define CLOCK_GOOD_NS 5000u
#define CLOCK_FIRST_ANCHORS 16u

struct gnomon__device_clock {
    const gnomon_device *device; /* NULL: free */
    gnomon_device_context where;
    void *stream; /* gnomon's own; NULL: not made */
    void *anchor; /* an event that is over, at `anchor_ns`; NULL: none */
    void *next;   /* the event of the next anchor; NULL: not made */
    double anchor_ns;
    uint64_t steps;   /* training steps made at the last anchor */
    uint64_t host_ns; /* host time of the last anchor */
    /* The run's time: before the next anchor was put into the stream; and of a moment
     * of the device's, half of the time in which it must lie, to both sides. */
    uint64_t before_ns;
    double place_ns;
    uint64_t place_on_host_ns, place_error_ns;
    void *row[CLOCK_ROW];
    double event_ns;      /* the time that one event takes in a stream */
    int next_is_recorded; /* it is in the stream */
    int has_place;
    uint32_t tries;        /* anchors so far */
    uint32_t row_recorded; /* events of the row in the stream */
    int is_measured;
    uint32_t number;
    int32_t index;
    char name[64];
    gnomon_device_identity identity;
};

static gnomon__device_clock device_clocks[CLOCK_COUNT];
static uint32_t clocks_made;
static uint64_t steps_made;

void gnomon__timers_step(void)
{
    if (load_relaxed(&gnomon__timer_bits))
        add_relaxed(&steps_made, 1);
}

/* ---- Anchors ------------------------------------------------------------- */

/* Makes the stream and the event where they are missing. 0: the device refuses. */
static int clock_make_event(gnomon__device_clock *c, void **event)
{
    const gnomon_device *d = c->device;
    add_relaxed(&gnomon__reader_calls, 1);
    return (c->stream || !d->stream_create(&c->where, &c->stream)) &&
           (*event || !d->event_create(&c->where, event));
}

static uint64_t run_ns(void)
{
    return gnomon__clock_ns(gnomon__ticks());
}

static void clock_record_next(gnomon__device_clock *c)
{
    c->steps = load_relaxed(&steps_made);
    c->host_ns = gnomon__os_monotonic_ns();
    int ok = clock_make_event(c, &c->next);
    c->tries++;
    c->before_ns = run_ns();
    c->next_is_recorded = ok && !c->device->event_record(c->next, c->stream);
}

/* The new anchor was passed between before_ns and `after`. What was known of the host's
 * time stays while it is more exact: its error grows by 1/8192, more than two clocks
 * drift apart. */
static void clock_place(gnomon__device_clock *c, uint64_t after)
{
    uint64_t half = (after - c->before_ns + 1) / 2;
    uint64_t middle = c->before_ns + half;
    uint64_t age = c->has_place ? middle - c->place_on_host_ns : 0;
    if (c->has_place && c->place_error_ns + (age >> 13) < half)
        return;
    c->has_place = 1;
    c->place_ns = c->anchor_ns;
    c->place_on_host_ns = middle;
    c->place_error_ns = half;
    gnomon__describe_clock(c->device->name, c->index, half);
}

static int clock_needs_anchor(const gnomon__device_clock *c)
{
    return !c->anchor ||
           (c->place_error_ns > CLOCK_GOOD_NS &&
            c->tries < CLOCK_FIRST_ANCHORS) ||
           c->steps != load_relaxed(&steps_made) ||
           gnomon__os_monotonic_ns() - c->host_ns > CLOCK_ANCHOR_NS;
}

/* An idle stream passes an event in some us. */
#define CLOCK_LOOKS 64

/* `most`: how often it looks. Right after the event was put into the stream several times
 * make the time short in which it was passed. */
static int clock_look(gnomon__device_clock *c, int most, uint64_t *after)
{
    int code = GNOMON_EBUSY;
    for (int i = 0; code == GNOMON_EBUSY && i < most; i++) {
        code = c->device->event_done(c->next);
        *after = run_ns();
    }
    return code;
}

static void clock_finish(gnomon__device_clock *c, int most)
{
    double ns = 0;
    uint64_t after = 0;
    int code = clock_look(c, most, &after);
    if (code == GNOMON_EBUSY)
        return;
    c->next_is_recorded = 0;
    if (code ||
        (c->anchor && c->device->event_elapsed(c->anchor, c->next, &ns)))
        return;
    void *was = c->anchor;
    c->anchor = c->next;
    c->anchor_ns += ns;
    c->next = was;
    clock_place(c, after);
}

static void clock_advance(gnomon__device_clock *c)
{
    if (c->next_is_recorded)
        clock_finish(c, 1);
    if (c->next_is_recorded || !clock_needs_anchor(c))
        return;
    clock_record_next(c);
    if (c->next_is_recorded)
        clock_finish(c, CLOCK_LOOKS);
}

uint32_t gnomon__device_clock_number(const gnomon__device_clock *c)
{
    return c ? c->number : 0;
}

int gnomon__device_clock_time(const gnomon__device_clock *c, void *event,
                              double *ns)
{
    if (!c || !c->anchor)
        return GNOMON_ESTATE;
    int code = c->device->event_elapsed(c->anchor, event, ns);
    *ns += c->anchor_ns;
    return code;
}

int gnomon__device_clock_host(const gnomon__device_clock *c, void *event,
                              uint64_t *ns)
{
    double at;
    if (!c || !c->has_place || gnomon__device_clock_time(c, event, &at))
        return GNOMON_ESTATE;
    double host = (double)c->place_on_host_ns + (at - c->place_ns);
    *ns = host > 0 ? (uint64_t)host : 0;
    return GNOMON_OK;
}

int32_t gnomon__device_clock_index(const gnomon__device_clock *c)
{
    return c ? c->index : -1;
}

/* ---- What an event costs ------------------------------------------------- */

/* An upper bound: where the host is slower than the stream, gaps between events
 * count too. The fastest part has the smallest gaps. 0: not known. */
static double clock_event_ns(const gnomon__device_clock *c)
{
    double least = 0, ns;
    for (uint32_t i = 0; i + CLOCK_PART < CLOCK_ROW; i += CLOCK_PART) {
        if (c->device->event_elapsed(c->row[i], c->row[i + CLOCK_PART], &ns))
            return 0;
        if (i == 0 || ns < least)
            least = ns;
    }
    return least / CLOCK_PART;
}

/* All events are made first, as making one between two others would leave a gap.
 * 0: the device refuses. */
static int clock_record_row(gnomon__device_clock *c)
{
    for (uint32_t i = c->row_recorded; i < CLOCK_ROW; i++)
        if (!clock_make_event(c, &c->row[i]))
            return 0;
    for (; c->row_recorded < CLOCK_ROW; c->row_recorded++) {
        add_relaxed(&gnomon__reader_calls, 1);
        if (c->device->event_record(c->row[c->row_recorded], c->stream))
            return 0;
    }
    return 1;
}

static void clock_measure(gnomon__device_clock *c)
{
    if (!clock_record_row(c)) {
        c->is_measured = 1; /* the cost stays 0: not known */
        return;
    }
    int code = c->device->event_done(c->row[CLOCK_ROW - 1]);
    if (code == GNOMON_EBUSY)
        return;
    c->is_measured = 1;
    if (!code)
        c->event_ns = clock_event_ns(c);
    gnomon__describe_device(c->device->name, c->index, c->name, &c->identity,
                            c->event_ns);
    if (c->has_place)
        gnomon__describe_clock(c->device->name, c->index, c->place_error_ns);
    for (uint32_t i = 0; i < CLOCK_ROW; i++) {
        c->device->event_destroy(c->row[i]);
        c->row[i] = NULL;
    }
}

/* ---- All of them --------------------------------------------------------- */

gnomon__device_clock *
gnomon__device_clock_of(const gnomon_device *device,
                        const gnomon_device_context *where)
{
    gnomon__device_clock *made = NULL;
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        gnomon__device_clock *c = &device_clocks[i];
        if (c->device == device && c->where.context == where->context &&
            c->where.id == where->id)
            return c;
        if (!c->device && !made)
            made = c;
    }
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    made->device = device;
    made->where = *where;
    clocks_made += clocks_made == UINT32_MAX ? 2 : 1; /* 0 is none */
    made->number = clocks_made;
    made->is_measured = /* a device without a name is not measured */
        device->describe(where, &made->index, made->name, sizeof made->name);
    if (device->struct_size > offsetof(gnomon_device, identify) &&
        device->identify) {
        made->identity.struct_size = sizeof made->identity;
        if (device->identify(where, &made->identity))
            memset(&made->identity, 0, sizeof made->identity);
    }
    clock_advance(made);
    return made;
}

static int clocks_are_full(void)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++)
        if (!device_clocks[i].device)
            return 0;
    return 1;
}

/* A context with nothing under way is not entered. Where all clocks are taken,
 * each is entered, to find and free those whose context is gone. */
void gnomon__device_clocks_advance(void)
{
    int all = clocks_are_full();
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        gnomon__device_clock *c = &device_clocks[i];
        if (!c->device || !(all || c->next_is_recorded || !c->is_measured ||
                            clock_needs_anchor(c)))
            continue;
        if (c->device->enter(&c->where)) {
            c->device = NULL; /* the context and its events are gone */
            continue;
        }
        clock_advance(c);
        if (!c->is_measured)
            clock_measure(c);
        c->device->leave();
    }
}

int gnomon__device_clocks_are_idle(void)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        const gnomon__device_clock *c = &device_clocks[i];
        if (c->device && (c->next_is_recorded || !c->is_measured))
            return 0;
    }
    return 1;
}

void gnomon__device_clocks_free(void)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        gnomon__device_clock *c = &device_clocks[i];
        if (!c->device || load_relaxed(&gnomon__timers_closed) ||
            c->device->enter(&c->where))
            continue;
        add_relaxed(&gnomon__reader_calls, 1);
        void *events[] = {c->anchor, c->next};
        for (size_t k = 0; k < 2; k++)
            if (events[k])
                c->device->event_destroy(events[k]);
        for (uint32_t k = 0; k < CLOCK_ROW; k++)
            if (c->row[k])
                c->device->event_destroy(c->row[k]);
        if (c->stream)
            c->device->stream_destroy(c->stream);
        c->device->leave();
    }
    memset(device_clocks, 0, sizeof device_clocks);
}

void gnomon__device_clocks_forget(void)
{
    memset(device_clocks, 0, sizeof device_clocks);
}
