/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks, with no jump threaded */
/*
 * Calls of NVTX. The event of a region is made at its first use and kept in a table by
 * the region's id, so a push is three loads and the tool's call. Domains and their
 * tables are kept as long as the process, as regions are: so nothing is registered with
 * the tool twice when profilers come and go.
 *
 * There is no lock, as a fork could leave it held. The thread that claims a table entry
 * fills it in; others meanwhile send events that are made on the spot. An entry that is
 * ready never changes.
 */
#include "profilers/nvtx_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if GNOMON_WITH_NVTX

#include "profilers/nvtx_payload.h"

#define NVTX_BLOCK_REGIONS 256u /* entries of one block */
#define NVTX_BLOCKS 4096u
#define NVTX_CATEGORIES 256u
#define NVTX_TEXT 1024u /* the longest name */

enum { NVTX_FREE, NVTX_CLAIMED, NVTX_READY, NVTX_REFUSED };

/* What is kept of a region: its event and the id of its counter. */
typedef struct nvtx_kept_region {
    nvtxEventAttributes_t event;
    uint64_t counter_id;
    uint32_t state;   /* of the event */
    uint32_t counter; /* of the counter's id */
} nvtx_kept_region;

struct gnomon__nvtx_domain {
    gnomon__nvtx_domain *next;
    nvtxDomainHandle_t handle;  /* NULL: the tool has the default domain only */
    nvtxStringHandle_t capture; /* NULL: the tool registers no strings */
    uint64_t layout;            /* of payloads; 0: the tool knows none */
    gnomon__nvtx_region_op *region_op;
    int64_t pid; /* a forked child does not use its parent's handles */
    nvtx_kept_region *blocks[NVTX_BLOCKS]; /* by region id */
    uint32_t categories[NVTX_CATEGORIES];  /* whose names were sent */
    char name[];
};

/* 1: the caller has claimed it and fills it in. */
static int nvtx_claim(uint32_t *state)
{
    uint32_t none = NVTX_FREE;
    return __atomic_compare_exchange_n(state, &none, NVTX_CLAIMED, 0,
                                       __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

/* ---- Domains ------------------------------------------------------------------ */

static gnomon__nvtx_domain *nvtx_domains; /* changed in control calls */

int gnomon__nvtx_domain_get(gnomon__nvtx_domain **out, const char *name,
                            gnomon__nvtx_region_op *region_op)
{
    int64_t pid = getpid();
    for (gnomon__nvtx_domain *d = nvtx_domains; d; d = d->next) {
        if (d->pid == pid && strcmp(d->name, name) == 0) {
            *out = d;
            return d->handle ? GNOMON_OK : GNOMON__NVTX_NO_DOMAINS;
        }
    }
    gnomon__nvtx_domain *d = calloc(1, sizeof *d + strlen(name) + 1);
    if (!d)
        return GNOMON_ENOMEM;
    strcpy(d->name, name);
    d->pid = pid;
    d->region_op = region_op;
    nvtx_load();
    d->handle = NVTX_ASK(CORE2, DomainCreateA, name);
    if (!d->handle && (nvtx_has_domains() || !nvtx_has_core())) {
        free(d);
        return nvtx_has_domains() ? GNOMON__NVTX_REFUSED : GNOMON_DECLINED;
    }
    if (d->handle)
        d->capture = nvtx_string(d->handle, GNOMON__NVTX_CAPTURE);
    d->layout = region_op ? nvtx_register_layout(d->handle) : 0;
    d->next = nvtx_domains;
    nvtx_domains = d;
    *out = d;
    return d->handle ? GNOMON_OK : GNOMON__NVTX_NO_DOMAINS;
}

/* ---- Texts -------------------------------------------------------------------- */

/* The number of a category or counter: FNV-1a of its name; never 0, which means none. */
static uint32_t nvtx_hash(const char *text)
{
    uint32_t hash = 0x811c9dc5u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193u;
    return hash ? hash : 1;
}

/* Bytes of the UTF-8 character at `text`; 0: not valid. */
static size_t nvtx_sequence(const char *text)
{
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0x80   ? 1
                    : first < 0xc2 ? 0
                    : first < 0xe0 ? 2
                    : first < 0xf0 ? 3
                    : first < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* The text as valid UTF-8, cut where it is longer; in `fit`, or a constant for NULL. */
static const char *nvtx_text(char fit[NVTX_TEXT], const char *text)
{
    size_t used = 0, n;
    if (!text)
        return "(null)";
    for (; *text && used + 4 < NVTX_TEXT; text += n ? n : 1) {
        n = nvtx_sequence(text);
        memcpy(fit + used, n ? text : "?", n ? n : 1);
        used += n ? n : 1;
    }
    fit[used] = 0;
    return fit;
}

/* One of twelve colours that differ on a light and on a dark background. */
static uint32_t nvtx_colour(uint32_t category)
{
    static const uint32_t colours[] = {
        0xff4e79a7, 0xfff28e2b, 0xff59a14f, 0xffe15759, 0xffb07aa1, 0xff76b7b2,
        0xffedc948, 0xffff9da7, 0xff9c755f, 0xff86bcb6, 0xffd37295, 0xff8cd17d};
    return colours[category % (sizeof colours / sizeof *colours)];
}

/* ---- Regions ------------------------------------------------------------------ */

/* The table entry of a region; NULL: no memory. */
static nvtx_kept_region *nvtx_kept_region_of(gnomon__nvtx_domain *d,
                                             const gnomon_region *region)
{
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_RELAXED);
    if (id >= NVTX_BLOCK_REGIONS * NVTX_BLOCKS)
        return NULL;
    nvtx_kept_region **at = &d->blocks[id / NVTX_BLOCK_REGIONS];
    nvtx_kept_region *block = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (!block) {
        nvtx_kept_region *fresh = calloc(NVTX_BLOCK_REGIONS, sizeof *fresh),
                         *none = NULL;
        if (!(block = fresh))
            return NULL;
        if (!__atomic_compare_exchange_n(at, &none, fresh, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            free(fresh);
            block = none;
        }
    }
    return block + id % NVTX_BLOCK_REGIONS;
}

/* The kept event of a region; NULL: it is not ready. */
static inline const nvtxEventAttributes_t *
nvtx_kept_event(const gnomon__nvtx_domain *d, const gnomon_region *region)
{
    uint32_t id = __atomic_load_n(&region->id, __ATOMIC_RELAXED);
    if (id >= NVTX_BLOCK_REGIONS * NVTX_BLOCKS)
        return NULL;
    const nvtx_kept_region *p =
        __atomic_load_n(&d->blocks[id / NVTX_BLOCK_REGIONS], __ATOMIC_ACQUIRE);
    if (!p)
        return NULL;
    p += id % NVTX_BLOCK_REGIONS;
    return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == NVTX_READY
               ? &p->event
               : NULL; /* partner: nvtx_make_event */
}

/* ---- Events ----------------------------------------------------------------- */

/* Names a category at its first use, or, when the table is full, for each region. */
static void nvtx_name_category(gnomon__nvtx_domain *d, uint32_t id,
                               const char *name)
{
    for (uint32_t i = 0; i < NVTX_CATEGORIES; i++) {
        uint32_t *at = &d->categories[(id + i) % NVTX_CATEGORIES], none = 0;
        if (__atomic_compare_exchange_n(at, &none, id, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            break;
        if (none == id)
            return;
    }
    nvtx_send_category(d->handle, id, name);
}

/* Fills in an event of the region with its text inline: `name` is borrowed. */
static void nvtx_describe(gnomon__nvtx_domain *d, const gnomon_region *region,
                          const char *name, nvtxEventAttributes_t *event)
{
    char fit[NVTX_TEXT];
    memset(event, 0, sizeof *event);
    event->version = NVTX_VERSION;
    event->size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event->messageType = NVTX_MESSAGE_TYPE_ASCII;
    event->message.ascii = name;
    if (!region->category || !*region->category)
        return;
    const char *category = nvtx_text(fit, region->category);
    event->category = nvtx_hash(category);
    event->colorType = NVTX_COLOR_ARGB;
    event->color = nvtx_colour(event->category);
    nvtx_name_category(d, event->category, category);
}

static const nvtxEventAttributes_t *
nvtx_make_event(gnomon__nvtx_domain *d, const gnomon_region *region,
                const char *name, nvtxEventAttributes_t *spare)
{
    int kept = errno;
    const nvtxEventAttributes_t *event = spare;
    nvtx_kept_region *p = nvtx_kept_region_of(d, region);
    nvtx_describe(d, region, name, spare);
    if (p && nvtx_claim(&p->state)) {
        nvtxStringHandle_t registered =
            d->handle ? nvtx_string(d->handle, name) : NULL;
        p->event = *spare;
        p->event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        p->event.message.registered = registered;
        /* A tool that registers no strings gets the text with each event. */
        if (registered) {
            event = &p->event;
            nvtx_add_payload(&p->event, d->handle, d->layout,
                             d->layout ? d->region_op(region) : NULL);
            __atomic_store_n(&p->state, NVTX_READY, __ATOMIC_RELEASE);
        }
    }
    errno = kept;
    return event;
}

/* ---- Counters ------------------------------------------------------------------ */

#ifdef NVTX3EXT_CBID_nvtxCounterRegister
static intptr_t nvtx_counter_slots[NVTX_SLOTS];

typedef uint64_t nvtx_register_counter(nvtxDomainHandle_t domain,
                                       const nvtxCounterAttr_t *counter);
typedef void nvtx_send_sample(nvtxDomainHandle_t domain, uint64_t id,
                              double value);

static void nvtx_register(gnomon__nvtx_domain *d, nvtx_kept_region *p,
                          const char *name)
{
    static uint32_t extension; /* one thread makes the first call: it loads */
    uint32_t state = NVTX_FREE;
    nvtxCounterAttr_t counter;
    memset(&counter, 0, sizeof counter);
    counter.structSize = sizeof counter;
    counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
    counter.name = name;
    counter.scopeId = NVTX_SCOPE_CURRENT_SW_PROCESS;
    /* Regions of one name are one counter. */
    counter.counterId =
        NVTX_COUNTER_ID_STATIC_START + nvtx_hash(counter.name) % (1u << 31);
    if (nvtx_claim(&extension)) {
        nvtx_extend(NVTX_EXT_COUNTERS_MODULEID, NVTX_EXT_COUNTERS_COMPATID,
                    NULL, nvtx_counter_slots);
        __atomic_store_n(&extension, NVTX_READY, __ATOMIC_RELEASE);
    }
    if (__atomic_load_n(&extension, __ATOMIC_ACQUIRE) == NVTX_READY) {
        intptr_t slot = nvtx_counter_slots[NVTX3EXT_CBID_nvtxCounterRegister];
        p->counter_id =
            slot ? ((nvtx_register_counter *)slot)(d->handle, &counter) : 0;
        state = p->counter_id ? NVTX_READY : NVTX_REFUSED;
    }
    __atomic_store_n(&p->counter, state, __ATOMIC_RELEASE);
}

static int nvtx_sample(gnomon__nvtx_domain *d,
                       const gnomon_counter_event *sample)
{
    nvtx_kept_region *p =
        d->handle ? nvtx_kept_region_of(d, sample->region) : NULL;
    if (p && nvtx_claim(&p->counter))
        nvtx_register(d, p, sample->name);
    if (!p || __atomic_load_n(&p->counter, __ATOMIC_ACQUIRE) != NVTX_READY)
        return 0;
    intptr_t slot = nvtx_counter_slots[NVTX3EXT_CBID_nvtxCounterSampleFloat64];
    if (slot)
        ((nvtx_send_sample *)slot)(d->handle, p->counter_id, sample->value);
    return 1;
}
#else
static int nvtx_sample(gnomon__nvtx_domain *d,
                       const gnomon_counter_event *sample)
{
    (void)d, (void)sample;
    return 0;
}
#endif

/* ---- Marks -------------------------------------------------------------------- */

/* The event of a region, kept or in `spare`. */
static const nvtxEventAttributes_t *nvtx_event(gnomon__nvtx_domain *d,
                                               const gnomon_region *region,
                                               const char *name,
                                               nvtxEventAttributes_t *spare)
{
    const nvtxEventAttributes_t *event = nvtx_kept_event(d, region);
    return event ? event : nvtx_make_event(d, region, name, spare);
}

/* All but the push of a kept event, which is to be short. */
static __attribute__((noinline)) void nvtx_start_slow(gnomon__nvtx_domain *d,
                                                      const gnomon_frame *frame,
                                                      uint64_t *slot)
{
    nvtxEventAttributes_t spare;
    const nvtxEventAttributes_t *event =
        nvtx_event(d, frame->region, frame->name, &spare);
    if (frame->flags)
        *slot = nvtx_range_start(d->handle, event);
    else
        nvtx_push(d->handle, event);
}

void gnomon__nvtx_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    gnomon__nvtx_domain *d = *(gnomon__nvtx_domain **)self;
    const nvtxEventAttributes_t *event = nvtx_kept_event(d, frame->region);
    if (__builtin_expect(!event || frame->flags, 0))
        nvtx_start_slow(d, frame, slot);
    else /* what it returns is up to the tool, and means nothing */
        (void)NVTX_ASK(CORE2, DomainRangePushEx, d->handle, event);
}

void gnomon__nvtx_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    gnomon__nvtx_domain *d = *(gnomon__nvtx_domain **)self;
    /* If another thread ended the scope, it may not be the innermost: then the pops of
     * the scopes inside it are exchanged, but each push gets one pop. */
    if (__builtin_expect(!(frame->flags & ~(uint32_t)GNOMON_FRAME_FOREIGN), 1))
        nvtx_pop(d->handle);
    else if (frame->flags & (GNOMON_FRAME_ACTION | GNOMON_FRAME_RANGE))
        nvtx_range_end(d->handle, *slot);
    /* Else it is a push of an ended thread, or of one that is not the caller. */
}

void gnomon__nvtx_mark(void *self, const gnomon_mark_event *mark)
{
    gnomon__nvtx_domain *d = *(gnomon__nvtx_domain **)self;
    nvtxEventAttributes_t spare;
    nvtx_send_mark(d->handle, nvtx_event(d, mark->region, mark->name, &spare));
}

void gnomon__nvtx_counter(void *self, const gnomon_counter_event *sample)
{
    gnomon__nvtx_domain *d = *(gnomon__nvtx_domain **)self;
    nvtxEventAttributes_t event, spare;
    int kept = errno;
    if (!nvtx_sample(d, sample)) {
        /* The tool has no counters: a mark with the value as payload. */
        event = *nvtx_event(d, sample->region, sample->name, &spare);
        event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
        event.payload.dValue = sample->value;
        nvtx_send_mark(d->handle, &event);
    }
    errno = kept;
}

void gnomon__nvtx_thread(void *self, const gnomon_thread_event *event)
{
    (void)self;
    NVTX_TELL(CORE, NameOsThreadA, (uint32_t)gettid(), event->name);
}

/* Its type is named otherwise, as that of NVTX's header needs cuda.h. */
void gnomon__nvtx_stream(void *self, const gnomon_stream_event *event)
{
    nvtxNameCuStreamA_fakeimpl_fntype name_stream =
        (nvtxNameCuStreamA_fakeimpl_fntype)
            nvtx_set[NVTX_CB_MODULE_CUDA][NVTX_CBID_CUDA_NameCuStreamA];
    (void)self;
    if (name_stream && strcmp(event->device->name, "cuda") == 0)
        name_stream(event->stream, event->name);
}

/* ---- Capture ranges ----------------------------------------------------------- */

uint64_t gnomon__nvtx_capture_begin(const gnomon__nvtx_domain *d)
{
    nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message.ascii = GNOMON__NVTX_CAPTURE};
    if (d->capture) {
        event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
        event.message.registered = d->capture;
    }
    return nvtx_range_start(d->handle, &event);
}

void gnomon__nvtx_capture_end(const gnomon__nvtx_domain *d, uint64_t id)
{
    nvtx_range_end(d->handle, id);
}

#endif
