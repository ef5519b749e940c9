/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The clock of each device context, and what one event costs there. Both use a
 * stream of gnomon's own. The cost is measured once, from a row of events. What is known
 * of a device stays in a list when its clocks go; its lock is held over no callback. */
#include "device/clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/os_wait.h"
#include "platform/process.h"
#include "platform/ticks.h"

#define CLOCK_COUNT 16u
#define CLOCK_PART 16u /* the cost is that of the fastest part of the row */
#define CLOCK_ROW (4 * CLOCK_PART + 1)
#define CLOCK_ANCHOR_NS 1000000000ull /* the longest time between anchors */
/* The first anchors follow each other until the host's time is known so well. */
#define CLOCK_GOOD_NS 5000u
#define CLOCK_FIRST_ANCHORS 16u

typedef struct described_device {
    char kind[16], name[64]; /* texts are fit for JSON */
    gnomon_device_identity identity;
    int32_t index;
    double
        event_ns; /* the time that one event takes in a stream; 0: not known */
    uint64_t
        clock_error_ns; /* of the run's times, to both sides; CLOCK_UNKNOWN */
} described_device;
#define CLOCK_UNKNOWN UINT64_MAX

struct gnomon__device_clock {
    gnomon__device_place on; /* device NULL: free */
    described_device about;
    void *stream; /* gnomon's own; NULL: not made */
    void *anchor; /* an event that is over, at `anchor_ns`; NULL: none */
    void *next;   /* the event of the next anchor; NULL: not made */
    double anchor_ns;
    uint64_t steps;   /* training steps made at the last anchor */
    uint64_t host_ns; /* host time of the last anchor */
    /* The run's time: before the next anchor was put into the stream; and of a moment
     * of the device's, which lies within about.clock_error_ns of it. */
    uint64_t before_ns;
    double place_ns;
    uint64_t place_on_host_ns;
    void *row[CLOCK_ROW];
    int next_is_recorded;  /* it is in the stream */
    uint32_t tries;        /* anchors so far */
    uint32_t row_recorded; /* events of the row in the stream */
    int is_measured, is_described;
    uint32_t number;
};

static gnomon__device_clock device_clocks[CLOCK_COUNT] GNOMON__OF_PROCESS;
static uint32_t clocks_made;
uint64_t gnomon__device_steps, gnomon__reader_calls;

/* ---- What is known of devices -------------------------------------------- */

#define DEVICES 16u

static described_device described[DEVICES];
static uint32_t described_count GNOMON__OF_PROCESS;
static gnomon__os_lock described_lock = GNOMON__OS_LOCK;

static void make_fit_for_json(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '"' || *c == '\\' || *c < ' ' || *c > '~')
            *c = '?';
}

/* If a device has several contexts, the last clock counts. */
static void clock_describe(const gnomon__device_clock *c)
{
    gnomon__os_lock_take(&described_lock);
    uint32_t i = 0;
    while (i < described_count &&
           (described[i].index != c->about.index ||
            strcmp(described[i].kind, c->about.kind) != 0))
        i++;
    if (i < DEVICES) {
        described[i] = c->about;
        described_count = i < described_count ? described_count : i + 1;
    }
    gnomon__os_lock_give(&described_lock);
}

typedef int describe_add(const char *key, const char *json);

/* gnomon.KIND.INDEX.WHAT; `text` in quotes where it is one. */
static void add_fact(describe_add *add, const described_device *d,
                     const char *what, const char *text, uint64_t number)
{
    char key[64], json[80];
    snprintf(key, sizeof key, "gnomon.%s.%" PRId32 ".%s", d->kind, d->index,
             what);
    if (text)
        snprintf(json, sizeof json, "\"%s\"", text);
    else
        snprintf(json, sizeof json, "%" PRIu64, number);
    add(key, json);
}

static void add_identity(describe_add *add, const described_device *d)
{
    if (*d->identity.uuid)
        add_fact(add, d, "uuid", d->identity.uuid, 0);
    if (*d->identity.pci)
        add_fact(add, d, "pci", d->identity.pci, 0);
    if (d->identity.processors)
        add_fact(add, d, "processors", NULL, d->identity.processors);
    if (d->identity.memory)
        add_fact(add, d, "memory", NULL, d->identity.memory);
}

void gnomon__describe_each(int (*add)(const char *key, const char *json))
{
    for (uint32_t i = 0;; i++) {
        described_device d;
        gnomon__os_lock_take(&described_lock);
        int more = i < described_count;
        if (more)
            d = described[i];
        gnomon__os_lock_give(&described_lock);
        if (!more)
            return;
        add_fact(add, &d, "name", d.name, 0);
        add_fact(add, &d, "event_ns", NULL, (uint64_t)(d.event_ns + 0.5));
        add_identity(add, &d);
        if (d.clock_error_ns != CLOCK_UNKNOWN)
            add_fact(add, &d, "clock_error_ns", NULL, d.clock_error_ns);
    }
}

/* ---- Anchors ------------------------------------------------------------- */

/* Makes the stream and the event where they are missing. 0: the device refuses. */
static int clock_make_event(gnomon__device_clock *c, void **event)
{
    const gnomon_device *d = c->on.device;
    add_relaxed(&gnomon__reader_calls, 1);
    return (c->stream || !d->stream_create(&c->on.where, &c->stream)) &&
           (*event || !d->event_create(&c->on.where, event));
}

static uint64_t run_ns(void)
{
    return gnomon__clock_ns(gnomon__ticks());
}

static int has_place(const gnomon__device_clock *c)
{
    return c->about.clock_error_ns != CLOCK_UNKNOWN;
}

static void clock_record_next(gnomon__device_clock *c)
{
    c->steps = load_relaxed(&gnomon__device_steps);
    c->host_ns = gnomon__os_monotonic_ns();
    int ok = clock_make_event(c, &c->next);
    c->tries++;
    c->before_ns = run_ns();
    c->next_is_recorded = ok && !c->on.device->event_record(c->next, c->stream);
}

/* The new anchor was passed between before_ns and `after`. What was known of the host's
 * time stays while it is more exact: its error grows by 1/8192, more than two clocks
 * drift apart. */
static void clock_place(gnomon__device_clock *c, uint64_t after)
{
    uint64_t half = (after - c->before_ns + 1) / 2;
    uint64_t middle = c->before_ns + half;
    uint64_t age = middle - c->place_on_host_ns;
    if (has_place(c) && c->about.clock_error_ns + (age >> 13) < half)
        return;
    c->place_ns = c->anchor_ns;
    c->place_on_host_ns = middle;
    c->about.clock_error_ns = half;
    if (c->is_described)
        clock_describe(c);
}

static int clock_needs_anchor(const gnomon__device_clock *c)
{
    return !c->anchor ||
           (c->about.clock_error_ns > CLOCK_GOOD_NS &&
            c->tries < CLOCK_FIRST_ANCHORS) ||
           c->steps != load_relaxed(&gnomon__device_steps) ||
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
        code = c->on.device->event_done(c->next);
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
        (c->anchor && c->on.device->event_elapsed(c->anchor, c->next, &ns)))
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
    int code = c->on.device->event_elapsed(c->anchor, event, ns);
    *ns += c->anchor_ns;
    return code;
}

int gnomon__device_clock_host(const gnomon__device_clock *c, void *event,
                              uint64_t *ns)
{
    double at;
    if (!c || !has_place(c) || gnomon__device_clock_time(c, event, &at))
        return GNOMON_ESTATE;
    double host = (double)c->place_on_host_ns + (at - c->place_ns);
    *ns = host > 0 ? (uint64_t)host : 0;
    return GNOMON_OK;
}

int32_t gnomon__device_clock_index(const gnomon__device_clock *c)
{
    return c ? c->about.index : -1;
}

/* ---- What an event costs ------------------------------------------------- */

/* An upper bound: where the host is slower than the stream, gaps between events
 * count too. The fastest part has the smallest gaps. 0: not known. */
static double clock_event_ns(const gnomon__device_clock *c)
{
    double least = 0, ns;
    for (uint32_t i = 0; i + CLOCK_PART < CLOCK_ROW; i += CLOCK_PART) {
        if (c->on.device->event_elapsed(c->row[i], c->row[i + CLOCK_PART], &ns))
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
        if (c->on.device->event_record(c->row[c->row_recorded], c->stream))
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
    int code = c->on.device->event_done(c->row[CLOCK_ROW - 1]);
    if (code == GNOMON_EBUSY)
        return;
    c->is_measured = c->is_described = 1;
    if (!code)
        c->about.event_ns = clock_event_ns(c);
    clock_describe(c);
    for (uint32_t i = 0; i < CLOCK_ROW; i++) {
        c->on.device->event_destroy(c->row[i]);
        c->row[i] = NULL;
    }
}

/* ---- All of them --------------------------------------------------------- */

static void clock_identify(gnomon__device_clock *c)
{
    const gnomon_device *d = c->on.device;
    described_device *about = &c->about;
    about->clock_error_ns = CLOCK_UNKNOWN;
    snprintf(about->kind, sizeof about->kind, "%s", d->name);
    c->is_measured = /* a device without a name is not measured */
        d->describe(&c->on.where, &about->index, about->name,
                    sizeof about->name);
    about->identity.struct_size = sizeof about->identity;
    if (!d->identify || d->identify(&c->on.where, &about->identity))
        memset(&about->identity, 0, sizeof about->identity);
    about->identity.uuid[sizeof about->identity.uuid - 1] = 0;
    about->identity.pci[sizeof about->identity.pci - 1] = 0;
    make_fit_for_json(about->name);
    make_fit_for_json(about->identity.uuid);
    make_fit_for_json(about->identity.pci);
}

gnomon__device_clock *gnomon__device_clock_of(const gnomon__device_place *on)
{
    gnomon__device_clock *made = NULL;
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        gnomon__device_clock *c = &device_clocks[i];
        if (gnomon__is_place(&c->on, on))
            return c;
        if (!c->on.device && !made)
            made = c;
    }
    if (!made)
        return NULL;
    memset(made, 0, sizeof *made);
    made->on = *on;
    clocks_made += clocks_made == UINT32_MAX ? 2 : 1; /* 0 is none */
    made->number = clocks_made;
    clock_identify(made);
    clock_advance(made);
    return made;
}

static int clocks_are_full(void)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++)
        if (!device_clocks[i].on.device)
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
        if (!c->on.device || !(all || c->next_is_recorded || !c->is_measured ||
                               clock_needs_anchor(c)))
            continue;
        if (c->on.device->enter(&c->on.where)) {
            c->on.device = NULL; /* the context and its events are gone */
            continue;
        }
        clock_advance(c);
        if (!c->is_measured)
            clock_measure(c);
        c->on.device->leave();
    }
}

int gnomon__device_clocks_are_idle(void)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        const gnomon__device_clock *c = &device_clocks[i];
        if (c->on.device && (c->next_is_recorded || !c->is_measured))
            return 0;
    }
    return 1;
}

void gnomon__device_clocks_free(int is_over)
{
    for (uint32_t i = 0; i < CLOCK_COUNT; i++) {
        gnomon__device_clock *c = &device_clocks[i];
        if (!c->on.device || is_over || c->on.device->enter(&c->on.where))
            continue;
        add_relaxed(&gnomon__reader_calls, 1);
        void *events[] = {c->anchor, c->next};
        for (size_t k = 0; k < 2; k++)
            if (events[k])
                c->on.device->event_destroy(events[k]);
        for (uint32_t k = 0; k < CLOCK_ROW; k++)
            if (c->row[k])
                c->on.device->event_destroy(c->row[k]);
        if (c->stream)
            c->on.device->stream_destroy(c->stream);
        c->on.device->leave();
    }
    memset(device_clocks, 0, sizeof device_clocks);
}
