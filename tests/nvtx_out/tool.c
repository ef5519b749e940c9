/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tool that listens to NVTX, as Nsight Systems does, and writes what it hears
 * to the file $NVTX_TOOL_OUT, a line for each call, in one piece:
 *
 *   domain NAME                       category DOMAIN ID NAME
 *   push THREAD EVENT                 pop THREAD
 *   start THREAD RANGE EVENT          end THREAD RANGE
 *   mark THREAD EVENT                 thread THREAD own|other NAME
 *   counter ID NAME                   sample THREAD ID VALUE
 *   layout DOMAIN ID NAME SIZE FIELD@OFFSET...
 *
 * with EVENT = DOMAIN category CATEGORY colour COLOUR [value VALUE] "NAME" [PAYLOAD],
 * `plain` before the name of a string that was not registered, and PAYLOAD = NAME of its
 * layout{FIELD=VALUE;...}, read as the layout says. THREAD counts from
 * 0, in the order in which they come. What must not be is a line with FAULT.
 * $NVTX_TOOL_COUNTERS: it knows the extension of counters, $NVTX_TOOL_PAYLOADS that of
 * payloads; with "late" it refuses layouts. $NVTX_TOOL_DEAF: it
 * wants nothing, so nobody listens. $NVTX_TOOL_NO_STRINGS: it registers none.
 * $NVTX_TOOL_CORE: it knows no domains, as before NVTX 3; "names": no attributes
 * either. Then DOMAIN is "default". */
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif
#if defined(NVTX_PAYLOAD_API_FUNCTIONS_V1) && \
    defined(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID)
#define HAS_PAYLOADS
#endif

#define EXPORT __attribute__((visibility("default")))

typedef struct string_handle {
    struct string_handle *next; /* all of them, for leak checkers */
    const struct string_handle *domain;
    char text[];
} string_handle;

static string_handle *all_told;
static uint32_t threads, ranges;
static __thread uint32_t own_thread; /* from 1 */
static __thread int depth;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char line[4096];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const char *path = getenv("NVTX_TOOL_OUT");
    int fd =
        path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd < 0 || n >= (int)sizeof line || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

static unsigned me(void)
{
    if (!own_thread)
        own_thread = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    return own_thread - 1;
}

static string_handle *keep(const string_handle *domain, const char *text)
{
    string_handle *t = malloc(sizeof *t + strlen(text) + 1);
    if (!t)
        abort();
    t->domain = domain;
    strcpy(t->text, text);
    t->next = __atomic_load_n(&all_told, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all_told, &t->next, t, 1,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return t;
}

/* The handles of NVTX are pointers to what only the tool knows. */
static nvtxDomainHandle_t domain_create(const char *name)
{
    const char *refused = getenv("NVTX_TOOL_REFUSES");
    say("domain %s\n", name);
    if (refused && strcmp(refused, name) == 0)
        return NULL;
    return (nvtxDomainHandle_t)(void *)keep(NULL, name);
}

static nvtxStringHandle_t string_register(nvtxDomainHandle_t domain,
                                          const char *text)
{
    return (nvtxStringHandle_t)(void *)keep(
        (const string_handle *)(void *)domain, text);
}

static void category_name(nvtxDomainHandle_t domain, uint32_t id,
                          const char *name)
{
    say("category %s %u %s\n", ((const string_handle *)(void *)domain)->text,
        (unsigned)id, name);
}

/* ---- Payloads ---------------------------------------------------------------- */

#ifdef HAS_PAYLOADS
/* The only layout: its structs are the registering program's, and static. */
static nvtxPayloadSchemaAttr_t layout;
static const string_handle *layout_domain;

static uint64_t layout_register(nvtxDomainHandle_t domain,
                                const nvtxPayloadSchemaAttr_t *a)
{
    char fields[1024];
    size_t used = 0;
    const char *word = getenv("NVTX_TOOL_PAYLOADS");
    layout_domain = (const string_handle *)(void *)domain;
    for (size_t i = 0; i < a->numEntries; i++)
        used += (size_t)snprintf(fields + used, sizeof fields - used, " %s@%u",
                                 a->entries[i].name,
                                 (unsigned)a->entries[i].offset);
    if (layout.entries || a->type != NVTX_PAYLOAD_SCHEMA_TYPE_STATIC ||
        a->schemaId < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START ||
        a->schemaId >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START)
        say("FAULT: a wrong layout\n");
    say("layout %s %" PRIu64 " %s %u%s\n", layout_domain->text, a->schemaId,
        a->name, (unsigned)a->payloadStaticSize, fields);
    layout = *a;
    return strcmp(word, "late") == 0 ? 0 : a->schemaId;
}

static size_t put_field(char *text, size_t size,
                        const nvtxPayloadSchemaEntry_t *field,
                        const char *payload)
{
    const string_handle *word;
    uint64_t number = 0;
    size_t wide = field->type == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 ? 8 : 4;
    if (field->type != NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE) {
        memcpy(&number, payload + field->offset, wide);
        return (size_t)snprintf(text, size, "%s=%" PRIu64 ";", field->name,
                                number);
    }
    memcpy(&word, payload + field->offset, sizeof word);
    if (word->domain != layout_domain)
        say("FAULT: a text of another domain\n");
    return (size_t)snprintf(text, size, "%s=%s;", field->name, word->text);
}

static void put_payload(char *text, size_t size, const nvtxEventAttributes_t *e)
{
    const nvtxPayloadData_t *data =
        (const nvtxPayloadData_t *)(uintptr_t)e->payload.ullValue;
    size_t used = (size_t)snprintf(text, size, " %s{", layout.name);
    if (e->reserved0 != 1 || data->schemaId != layout.schemaId ||
        data->size != layout.payloadStaticSize)
        say("FAULT: a payload of no layout\n");
    for (size_t i = 0; i < layout.numEntries; i++)
        used += put_field(text + used, size - used, &layout.entries[i],
                          data->payload);
    snprintf(text + used, size - used, "}");
}

static int payloads_init(nvtxExtModuleInfo_t *module)
{
    if (!getenv("NVTX_TOOL_PAYLOADS"))
        return 0;
    module->segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        (intptr_t)layout_register;
    return 1;
}
#endif

/* ---- Events ------------------------------------------------------------------- */

/* The part of a line that is an event. */
static const char *event(char *text, size_t size, nvtxDomainHandle_t domain,
                         const nvtxEventAttributes_t *e)
{
    const string_handle *d = (const string_handle *)(void *)domain;
    const char *where = d ? d->text : "default";
    char value[64] = "", payload[2000] = "";
    const char *name = "", *kind = "";
    if (e->version != NVTX_VERSION || e->size != NVTX_EVENT_ATTRIB_STRUCT_SIZE)
        say("FAULT: version %d, size %d\n", e->version, e->size);
    if (e->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
        const string_handle *t =
            (const string_handle *)(void *)e->message.registered;
        if (t->domain != d)
            say("FAULT: a string of another domain\n");
        name = t->text;
    } else if (e->messageType == NVTX_MESSAGE_TYPE_ASCII) {
        name = e->message.ascii;
        kind = "plain ";
    } else {
        say("FAULT: message type %d\n", e->messageType);
    }
    if (e->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
        snprintf(value, sizeof value, " value %g", e->payload.dValue);
#ifdef HAS_PAYLOADS
    if (e->payloadType == NVTX_PAYLOAD_TYPE_EXT)
        put_payload(payload, sizeof payload, e);
#endif
    snprintf(text, size, "%s category %u colour %08x%s %s\"%s\"%s", where,
             (unsigned)e->category,
             e->colorType == NVTX_COLOR_ARGB ? (unsigned)e->color : 0, value,
             kind, name, payload);
    return text;
}

static int range_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *e)
{
    char text[3000];
    depth++;
    say("push %u %s\n", me(), event(text, sizeof text, domain, e));
    return -1; /* as Nsight Systems answers */
}

static int range_pop(nvtxDomainHandle_t domain)
{
    (void)domain;
    if (depth-- <= 0)
        say("FAULT: nothing to pop\n");
    say("pop %u\n", me());
    return -1;
}

static nvtxRangeId_t range_start(nvtxDomainHandle_t domain,
                                 const nvtxEventAttributes_t *e)
{
    char text[3000];
    uint32_t id = __atomic_fetch_add(&ranges, 1, __ATOMIC_RELAXED); /* 0 too */
    say("start %u %u %s\n", me(), (unsigned)id,
        event(text, sizeof text, domain, e));
    return id;
}

static void range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    say("end %u %u\n", me(), (unsigned)id);
}

static void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *e)
{
    char text[3000];
    say("mark %u %s\n", me(), event(text, sizeof text, domain, e));
}

static void thread_name(uint32_t thread, const char *name)
{
    say("thread %u %s %s\n", me(),
        thread == (uint32_t)gettid() ? "own" : "other", name);
}

static void stream_name(const void *stream, const char *name)
{
    say("stream %u %p %s\n", me(), stream, name);
}

/* ---- Without domains --------------------------------------------------------- */

static int core_push_ex(const nvtxEventAttributes_t *e)
{
    return range_push(NULL, e);
}

static int core_push_a(const char *name)
{
    depth++;
    say("push %u \"%s\"\n", me(), name);
    return -1;
}

static int core_pop(void)
{
    return range_pop(NULL);
}

static nvtxRangeId_t core_start_ex(const nvtxEventAttributes_t *e)
{
    return range_start(NULL, e);
}

static nvtxRangeId_t core_start_a(const char *name)
{
    uint32_t id = __atomic_fetch_add(&ranges, 1, __ATOMIC_RELAXED);
    say("start %u %u \"%s\"\n", me(), (unsigned)id, name);
    return id;
}

static void core_end(nvtxRangeId_t id)
{
    range_end(NULL, id);
}

static void core_mark_ex(const nvtxEventAttributes_t *e)
{
    mark(NULL, e);
}

static void core_mark_a(const char *name)
{
    say("mark %u \"%s\"\n", me(), name);
}

static void core_category(uint32_t id, const char *name)
{
    say("category default %u %s\n", (unsigned)id, name);
}

static void hear_core(NvtxFunctionTable core, int knows_attributes)
{
#define HEAR_CORE(what, function) \
    *core[NVTX_CBID_CORE_##what] = (NvtxFunctionPointer)function
    HEAR_CORE(RangePushA, core_push_a);
    HEAR_CORE(RangePop, core_pop);
    HEAR_CORE(RangeStartA, core_start_a);
    HEAR_CORE(RangeEnd, core_end);
    HEAR_CORE(MarkA, core_mark_a);
    if (!knows_attributes)
        return;
    HEAR_CORE(RangePushEx, core_push_ex);
    HEAR_CORE(RangeStartEx, core_start_ex);
    HEAR_CORE(MarkEx, core_mark_ex);
    HEAR_CORE(NameCategoryA, core_category);
}

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable core, domains, cuda;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &domains,
                                           &size) ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDA, &cuda, &size))
        return 0;
    if (getenv("NVTX_TOOL_DEAF"))
        return 1;
    *core[NVTX_CBID_CORE_NameOsThreadA] = (NvtxFunctionPointer)thread_name;
    *cuda[NVTX_CBID_CUDA_NameCuStreamA] = (NvtxFunctionPointer)stream_name;
    const char *only = getenv("NVTX_TOOL_CORE");
    if (only) {
        hear_core(core, strcmp(only, "names") != 0);
        return 1;
    }
#define HEAR(what, function) \
    *domains[NVTX_CBID_CORE2_Domain##what] = (NvtxFunctionPointer)function
    HEAR(MarkEx, mark);
    HEAR(RangeStartEx, range_start);
    HEAR(RangeEnd, range_end);
    HEAR(RangePushEx, range_push);
    HEAR(RangePop, range_pop);
    HEAR(NameCategoryA, category_name);
    HEAR(CreateA, domain_create);
    if (getenv("NVTX_TOOL_REFUSES")) /* as real tools, which have both */
        hear_core(core, 1);
    if (!getenv("NVTX_TOOL_NO_STRINGS"))
        HEAR(RegisterStringA, string_register);
    return 1;
}

/* ---- Counters --------------------------------------------------------------- */

#ifdef NVTX_COUNTER_API_FUNCTIONS_V1
static uint64_t counter_register(nvtxDomainHandle_t domain,
                                 const nvtxCounterAttr_t *c)
{
    (void)domain;
    if (c->structSize != sizeof *c ||
        c->schemaId != NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE ||
        c->counterId < NVTX_COUNTER_ID_STATIC_START ||
        c->counterId >= NVTX_COUNTER_ID_DYNAMIC_START)
        say("FAULT: a wrong counter\n");
    say("counter %" PRIu64 " %s\n", c->counterId, c->name);
    return c->counterId;
}

static void counter_sample(nvtxDomainHandle_t domain, uint64_t id, double value)
{
    (void)domain;
    say("sample %u %" PRIu64 " %g\n", me(), id, value);
}

static int counters_init(nvtxExtModuleInfo_t *module)
{
    if (!getenv("NVTX_TOOL_COUNTERS"))
        return 0;
    intptr_t *slots = module->segments->functionSlots;
    slots[NVTX3EXT_CBID_nvtxCounterRegister] = (intptr_t)counter_register;
    slots[NVTX3EXT_CBID_nvtxCounterSampleFloat64] = (intptr_t)counter_sample;
    return 1;
}
#endif

#if defined(NVTX_COUNTER_API_FUNCTIONS_V1) || defined(HAS_PAYLOADS)
EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);

EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module)
{
#ifdef NVTX_COUNTER_API_FUNCTIONS_V1
    if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID)
        return counters_init(module);
#endif
#ifdef HAS_PAYLOADS
    if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID)
        return payloads_init(module);
#endif
    return 0;
}
#endif
