/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX's ranges and marks. A push is a scope of gnomon; its token is kept on the
 * domain's stack for the pop. A start is a range of gnomon and has its number. A
 * payload is a sample of a counter with the same name.
 *
 * Pushes of two domains may cross on a thread. A pop while a later push is open uses
 * gnomon_end_alone. After that, `newest` may name an ended push until the next push;
 * until then pops use gnomon_end_alone too.
 *
 * Invariant: once a thread has a stack, each push is on it, also where gnomon is off
 * or has no memory, so each pop meets its own push. With a registered text, a push
 * and its pop cost two reads of thread-local storage and some 40 instructions more
 * than the scope. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "inject/nvtx.h"

/* Whether the attributes have the field: older ones are shorter. */
#define COVERS(a, field) \
    ((a)->size >= offsetof(nvtxEventAttributes_t, field) + sizeof((a)->field))

static gnomon__inject_thread *thread_now(void)
{
    gnomon__inject_thread *t = gnomon__inject_this_thread;
    return likely(t != NULL) ? t : gnomon__inject_thread_make();
}

/* ---- The regions of an event ---------------------------------------------- */

static gnomon__inject_regions *regions_a(gnomon__inject_domain *domain,
                                         uint32_t category, const char *text)
{
    return gnomon__inject_inline(thread_now(), domain, category, text);
}

static gnomon__inject_regions *regions_w(gnomon__inject_domain *domain,
                                         uint32_t category, const wchar_t *wide)
{
    gnomon__inject_text text;
    gnomon__inject_wide(&text, wide);
    /* Not cached: the next wide text is converted at the same address. */
    gnomon__inject_regions *p =
        gnomon__inject_inline(NULL, domain, category, text.text);
    gnomon__inject_text_free(&text);
    return p;
}

static __attribute__((noinline)) gnomon__inject_regions *
regions_unusual(gnomon__inject_domain *domain, const nvtxEventAttributes_t *a)
{
    const gnomon__inject_name *name;
    const char *text = NULL;
    if (!a || !COVERS(a, message))
        return regions_a(domain, 0, NULL);
    if (a->messageType == NVTX_MESSAGE_TYPE_UNICODE)
        return regions_w(domain, a->category, a->message.unicode);
    name = (const void *)a->message.registered; /* in another domain, or NULL */
    if (a->messageType == NVTX_MESSAGE_TYPE_ASCII)
        text = a->message.ascii;
    else if (a->messageType == NVTX_MESSAGE_TYPE_REGISTERED && name)
        text = name->text;
    return regions_a(domain, a->category, text);
}

#if GNOMON__INJECT_EXTENSIONS
/* Samples structured payloads, which may change the regions. */
static gnomon__inject_regions *take_payloads(gnomon__inject_domain *domain,
                                             gnomon__inject_regions *p,
                                             const nvtxPayloadData_t *payloads,
                                             size_t count)
{
    p = gnomon__inject_payload_regions(domain, p, payloads, count);
    gnomon__inject_payload_sample(domain, p, payloads, count);
    return p;
}
#endif

/* Samples the payload. Returns the regions, which structured payloads may change. */
static __attribute__((noinline)) gnomon__inject_regions *
take_payload(gnomon__inject_domain *domain, gnomon__inject_regions *p,
             const nvtxEventAttributes_t *a)
{
    (void)domain; /* where the headers have no extensions */
    switch (a->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        gnomon_counter(&p->counter, (double)a->payload.ullValue);
        break;
    case NVTX_PAYLOAD_TYPE_INT64:
        gnomon_counter(&p->counter, (double)a->payload.llValue);
        break;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
        gnomon_counter(&p->counter, a->payload.dValue);
        break;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        gnomon_counter(&p->counter, a->payload.uiValue);
        break;
    case NVTX_PAYLOAD_TYPE_INT32:
        gnomon_counter(&p->counter, a->payload.iValue);
        break;
    case NVTX_PAYLOAD_TYPE_FLOAT:
        gnomon_counter(&p->counter, (double)a->payload.fValue);
        break;
#if GNOMON__INJECT_EXTENSIONS
    case NVTX_PAYLOAD_TYPE_EXT:
        return take_payloads(domain, p,
                             (const void *)(uintptr_t)a->payload.ullValue,
                             a->reserved0 > 0 ? (size_t)a->reserved0 : 0);
#endif
    default:;
    }
    return p;
}

/* The regions of an event. Samples its payload. */
static inline gnomon__inject_regions *
event_regions(gnomon__inject_domain *domain, const nvtxEventAttributes_t *a)
{
    gnomon__inject_regions *p;
    gnomon__inject_name *name = NULL;
    if (likely(a && COVERS(a, message) &&
               a->messageType == NVTX_MESSAGE_TYPE_REGISTERED))
        name = (void *)a->message.registered;
    if (likely(name && name->domain == domain))
        p = gnomon__inject_regions_of(name, a->category);
    else
        p = regions_unusual(domain, a);
    if (unlikely(a && COVERS(a, payload) && a->payloadType))
        p = take_payload(domain, p, a);
    return p;
}

/* ---- Pushes and pops ------------------------------------------------------ */

static inline gnomon__inject_stack *
inject_stack_at(gnomon__inject_thread *t, const gnomon__inject_domain *domain)
{
    return likely(domain->index < t->stack_count) ? &t->stacks[domain->index]
                                                  : NULL;
}

/* Takes the level first, so that a signal handler meanwhile pushes above it. Reads the
 * stack anew after gnomon_begin, as a callback may move it. */
static inline int inject_push_on(gnomon__inject_thread *t,
                                 const gnomon__inject_domain *domain,
                                 gnomon__inject_regions *regions)
{
    gnomon__inject_stack *s = inject_stack_at(t, domain);
    if (unlikely(!s || s->depth >= s->room)) {
        s = gnomon__inject_stack_grow(t, domain->index);
        if (!s)
            return -1;
    }
    uint32_t level = s->depth++;
    if (unlikely(level >= s->room))
        return (int)level;
    s->levels[level] = (gnomon__inject_level){0, 0, regions};
    fence_signal();
    gnomon_token token = regions ? gnomon_begin(regions->scope) : 0;
    if (token) {
        gnomon__inject_level *at = &t->stacks[domain->index].levels[level];
        at->token = token;
        at->below = t->newest;
        t->newest = token;
    }
    return (int)level;
}

int gnomon__inject_push(const gnomon__inject_domain *domain,
                        gnomon__inject_regions *regions)
{
    gnomon__inject_thread *t;
    if (unlikely(!regions && !load_relaxed(&gnomon__inject_any_thread)))
        return NVTX_NO_PUSH_POP_TRACKING;
    t = regions ? thread_now() : gnomon__inject_this_thread;
    if (likely(t != NULL))
        return inject_push_on(t, domain, regions);
    return regions ? -1 : NVTX_NO_PUSH_POP_TRACKING;
}

/* A text with a comma, behind which torch may say more. Not in the push of all others,
 * which it would make slower. */
static __attribute__((noinline)) int
inject_push_torch(const gnomon__inject_domain *domain,
                  gnomon__inject_regions *regions, const char *text)
{
    const size_t length = gnomon__inject_bare(text);
    const int kept_errno = errno;
    if (!text[length])
        return gnomon__inject_push(domain, regions);
    gnomon__inject_regions own = {
        .scope = gnomon__inject_torch_region(regions->scope, text, length)};
    const int level = gnomon__inject_push(domain, &own);
    gnomon__inject_stack *s =
        level < 0 ? NULL : inject_stack_at(thread_now(), domain);
    if (s && (uint32_t)level < s->room)
        s->levels[level].regions = regions;
    gnomon__inject_torch_link(text, length);
    errno = kept_errno;
    return level;
}

int gnomon__inject_pop(const gnomon__inject_domain *domain)
{
    gnomon__inject_thread *t = likely(load_relaxed(&gnomon__inject_any_thread))
                                   ? gnomon__inject_this_thread
                                   : NULL;
    gnomon__inject_stack *s =
        likely(t != NULL) ? inject_stack_at(t, domain) : NULL;
    if (unlikely(!s || !s->depth))
        return GNOMON__INJECT_ON() ? -1 : NVTX_NO_PUSH_POP_TRACKING;
    uint32_t level = s->depth - 1;
    gnomon__inject_level at = {0, 0, NULL};
    if (likely(level < s->room))
        at = s->levels[level];
    int is_newest = at.token == t->newest;
    if (at.token && is_newest)
        t->newest = at.below;
    fence_signal();
    s->depth = level;
    if (likely(is_newest))
        gnomon_end(at.token);
    else
        gnomon_end_alone(at.token);
    return (int)level;
}

#if GNOMON__INJECT_EXTENSIONS
/* The regions of the domain's innermost push on this thread; NULL: none. */
static gnomon__inject_regions *
inject_innermost(const gnomon__inject_domain *domain)
{
    gnomon__inject_thread *t = gnomon__inject_this_thread;
    const gnomon__inject_stack *s = t ? inject_stack_at(t, domain) : NULL;
    return s && s->depth && s->depth <= s->room
               ? s->levels[s->depth - 1].regions
               : NULL;
}
#endif

/* ---- Callbacks ------------------------------------------------------------ */

/* How an event begins: as a push, or as a start or a mark. `regions` are the event's in
 * `domain`, which are looked up only while gnomon is on. */
#define PUSH(form, parameters, its_domain, regions) \
    static int NVTX_API inject_push_##form parameters \
    { \
        gnomon__inject_domain *domain = its_domain; \
        return gnomon__inject_push(domain, \
                                   GNOMON__INJECT_ON() ? regions : NULL); \
    }
#define START_AND_MARK(form, parameters, its_domain, regions) \
    static nvtxRangeId_t NVTX_API inject_start_##form parameters \
    { \
        gnomon__inject_domain *domain = its_domain; \
        return GNOMON__INJECT_ON() ? gnomon_range_begin((regions)->scope) : 0; \
    } \
    static void NVTX_API inject_mark_##form parameters \
    { \
        gnomon__inject_domain *domain = its_domain; \
        if (GNOMON__INJECT_ON()) \
            gnomon_mark(&(regions)->mark); \
    }
#define EVENT(form, parameters, its_domain, regions) \
    PUSH(form, parameters, its_domain, regions) \
    START_AND_MARK(form, parameters, its_domain, regions)

EVENT(domain_ex, (nvtxDomainHandle_t handle, const nvtxEventAttributes_t *a),
      gnomon__inject_domain_at(handle), event_regions(domain, a))
EVENT(ex, (const nvtxEventAttributes_t *a), &gnomon__inject_default,
      event_regions(domain, a))
EVENT(w, (const wchar_t *message), &gnomon__inject_default,
      regions_w(domain, 0, message))
START_AND_MARK(a, (const char *message), &gnomon__inject_default,
               regions_a(domain, 0, message))

static int NVTX_API inject_push_a(const char *message)
{
    gnomon__inject_domain *domain = &gnomon__inject_default;
    gnomon__inject_regions *p =
        GNOMON__INJECT_ON() ? regions_a(domain, 0, message) : NULL;
    return p && message && strchr(message, ',')
               ? inject_push_torch(domain, p, message)
               : gnomon__inject_push(domain, p);
}

static int NVTX_API inject_domain_pop(nvtxDomainHandle_t handle)
{
    return gnomon__inject_pop(gnomon__inject_domain_at(handle));
}

static int NVTX_API inject_pop(void)
{
    return gnomon__inject_pop(&gnomon__inject_default);
}

static void NVTX_API inject_end(nvtxRangeId_t id)
{
    gnomon_range_end(id);
}

static void NVTX_API inject_domain_end(nvtxDomainHandle_t handle,
                                       nvtxRangeId_t id)
{
    (void)handle;
    gnomon_range_end(id);
}

const gnomon__inject_call gnomon__inject_marks[] = {
    GNOMON__INJECT_CALL(CORE, MarkEx, inject_mark_ex),
    GNOMON__INJECT_CALL(CORE, MarkA, inject_mark_a),
    GNOMON__INJECT_CALL(CORE, MarkW, inject_mark_w),
    GNOMON__INJECT_CALL(CORE, RangeStartEx, inject_start_ex),
    GNOMON__INJECT_CALL(CORE, RangeStartA, inject_start_a),
    GNOMON__INJECT_CALL(CORE, RangeStartW, inject_start_w),
    GNOMON__INJECT_CALL(CORE, RangeEnd, inject_end),
    GNOMON__INJECT_CALL(CORE, RangePushEx, inject_push_ex),
    GNOMON__INJECT_CALL(CORE, RangePushA, inject_push_a),
    GNOMON__INJECT_CALL(CORE, RangePushW, inject_push_w),
    GNOMON__INJECT_CALL(CORE, RangePop, inject_pop),
    GNOMON__INJECT_CALL(CORE2, DomainMarkEx, inject_mark_domain_ex),
    GNOMON__INJECT_CALL(CORE2, DomainRangeStartEx, inject_start_domain_ex),
    GNOMON__INJECT_CALL(CORE2, DomainRangeEnd, inject_domain_end),
    GNOMON__INJECT_CALL(CORE2, DomainRangePushEx, inject_push_domain_ex),
    GNOMON__INJECT_CALL(CORE2, DomainRangePop, inject_domain_pop),
    {.function = NULL}};

/* ---- Events of structured payloads alone ----------------------------------- */

#if GNOMON__INJECT_EXTENSIONS

EVENT(payload,
      (nvtxDomainHandle_t handle, const nvtxPayloadData_t *payloads,
       size_t count),
      gnomon__inject_domain_at(handle),
      take_payloads(domain, NULL, payloads, count))

/* A pop has the name of its push. */
static int NVTX_API payload_pop(nvtxDomainHandle_t handle,
                                const nvtxPayloadData_t *payloads, size_t count)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    if (GNOMON__INJECT_ON())
        take_payloads(domain, inject_innermost(domain), payloads, count);
    return gnomon__inject_pop(domain);
}

static void NVTX_API payload_end(nvtxDomainHandle_t handle, nvtxRangeId_t id,
                                 const nvtxPayloadData_t *payloads,
                                 size_t count)
{
    if (GNOMON__INJECT_ON())
        take_payloads(gnomon__inject_domain_at(handle), NULL, payloads, count);
    gnomon_range_end(id);
}

static uint8_t NVTX_API payload_is_on(nvtxDomainHandle_t handle)
{
    (void)handle;
    return load_relaxed(&gnomon_enabled) != 0;
}

const gnomon__inject_call gnomon__inject_payloads[] = {
    GNOMON__INJECT_SLOT(nvtxPayloadSchemaRegister,
                        gnomon__inject_schema_register),
    GNOMON__INJECT_SLOT(nvtxPayloadEnumRegister, gnomon__inject_enum_register),
    GNOMON__INJECT_SLOT(nvtxMarkPayload, inject_mark_payload),
    GNOMON__INJECT_SLOT(nvtxRangePushPayload, inject_push_payload),
    GNOMON__INJECT_SLOT(nvtxRangePopPayload, payload_pop),
    GNOMON__INJECT_SLOT(nvtxRangeStartPayload, inject_start_payload),
    GNOMON__INJECT_SLOT(nvtxRangeEndPayload, payload_end),
    GNOMON__INJECT_SLOT(nvtxDomainIsEnabled, payload_is_on),
    {.function = NULL}};

#endif
