/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX's extensions, through function tables of older and newer headers. Allocations
 * that fail, and threads that register the same at once.
 * links: testing
 * needs: nvtx
 * timeout: 300
 * labels: guest */
#include "test.h"

#ifdef TEST_NVTX
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif
#endif

#ifndef NVTX3EXT_CBID_nvtxCounterRegister
TEST(extensions)
{
    SKIP("no headers of NVTX, or without extensions");
}
#else

#include <stddef.h>
#include <stdlib.h>

#include "gnomon/tool.h"
#include "each_allocation.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "platform/memory.h"

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info);
LIVE_KEEPER(keeper, "keeper");

/* ---- A program's tables --------------------------------------------------- */

#define ROOM 64 /* as the headers have */

static intptr_t payload_slots[ROOM], counter_slots[ROOM];
static nvtxExtModuleSegment_t segments[2];
static nvtxExtModuleInfo_t info;

/* The value of a slot that must not be written. */
#define UNTOUCHED ((intptr_t)-7)

static int start_with(int module, int compatibility, intptr_t *slots,
                      size_t count)
{
    for (int i = 0; i < ROOM; i++)
        slots[i] = UNTOUCHED;
    segments[0] = (nvtxExtModuleSegment_t){0, count, slots};
    segments[1] = (nvtxExtModuleSegment_t){1, 1, NULL};
    info = (nvtxExtModuleInfo_t){.nvtxVer = NVTX_VERSION,
                                 .structSize = sizeof info,
                                 .moduleId = (uint16_t)module,
                                 .compatId = (uint16_t)compatibility,
                                 .segmentsCount = 1,
                                 .segments = segments};
    return InitializeInjectionNvtxExtension(&info);
}

static int start_payloads(size_t count)
{
    return start_with(NVTX_EXT_PAYLOAD_MODULEID, NVTX_EXT_PAYLOAD_COMPATID,
                      payload_slots, count);
}

static int start_counters(size_t count)
{
    return start_with(NVTX_EXT_COUNTERS_MODULEID, NVTX_EXT_COUNTERS_COMPATID,
                      counter_slots, count);
}

static void start_both(void)
{
    CHECK_EQ(start_payloads(ROOM), 1);
    CHECK_EQ(start_counters(ROOM), 1);
}

#define CALL(slots, name, type) ((type)(slots)[NVTX3EXT_CBID_##name])
#define REGISTER(a) \
    CALL(payload_slots, nvtxPayloadSchemaRegister, \
         uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t *)) \
    (NULL, a)
#define ENUM(a) \
    CALL(payload_slots, nvtxPayloadEnumRegister, \
         uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t *)) \
    (NULL, a)
#define MARK(p) \
    CALL(payload_slots, nvtxMarkPayload, \
         void (*)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)) \
    (NULL, p, 1)
#define PUSH(p) \
    CALL(payload_slots, nvtxRangePushPayload, \
         int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)) \
    (NULL, p, 1)
#define POP(p) \
    CALL(payload_slots, nvtxRangePopPayload, \
         int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t *, size_t)) \
    (NULL, p, 1)
#define COUNTER(a) \
    CALL(counter_slots, nvtxCounterRegister, \
         uint64_t (*)(nvtxDomainHandle_t, const nvtxCounterAttr_t *)) \
    (NULL, a)
#define SAMPLE(id, value) \
    CALL(counter_slots, nvtxCounterSampleFloat64, \
         void (*)(nvtxDomainHandle_t, uint64_t, double)) \
    (NULL, id, value)

/* ---- Sizes ---------------------------------------------------------------- */

static int filled(const intptr_t *slots)
{
    int n = 0;
    for (int i = 0; i < ROOM; i++)
        n += slots[i] != UNTOUCHED;
    return n;
}

TEST(nothing_is_written_past_a_table)
{
    for (size_t count = 0; count <= ROOM; count++) {
        CHECK_EQ(start_payloads(count), 1);
        CHECK_EQ(start_counters(count), 1);
        for (size_t i = count; i < ROOM; i++)
            CHECK(payload_slots[i] == UNTOUCHED &&
                  counter_slots[i] == UNTOUCHED);
        /* The extension's first headers have only two. */
        CHECK_EQ(filled(payload_slots), count < 8 ? count : 8);
        CHECK_EQ(filled(counter_slots), count < 5 ? count : 5);
    }
    CHECK(payload_slots[NVTX3EXT_CBID_nvtxScopeRegister] == UNTOUCHED);
    CHECK(counter_slots[NVTX3EXT_CBID_nvtxCounterBatchSubmit] == UNTOUCHED);
}

TEST(what_has_no_tables_is_refused)
{
    CHECK_EQ(InitializeInjectionNvtxExtension(NULL), 0);
    CHECK_EQ(start_payloads(ROOM), 1);
    info.structSize = offsetof(nvtxExtModuleInfo_t, segments);
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 0);
    info.structSize = 200; /* newer */
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 1);
    info.segmentsCount = 0;
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 0);
    info.segmentsCount = 2;
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 1);
    segments[0].functionSlots = NULL;
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 0);
    info.segments = NULL;
    CHECK_EQ(InitializeInjectionNvtxExtension(&info), 0);
}

TEST(older_and_newer_extensions_of_the_generation_are_served)
{
    static const struct {
        int module, compatibility, answer;
    } hosts[] = {{NVTX_EXT_PAYLOAD_MODULEID, 0x0103, 1},
                 {NVTX_EXT_PAYLOAD_MODULEID, 0x01ff, 1},
                 {NVTX_EXT_PAYLOAD_MODULEID, 0x0203, 0},
                 {NVTX_EXT_COUNTERS_MODULEID, 0x0101, 1},
                 {NVTX_EXT_COUNTERS_MODULEID, 0x0202, 0},
                 {1, 0x0102, 0},
                 {77, 0x0101, 0}};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        CHECK_EQ(start_with(hosts[i].module, hosts[i].compatibility,
                            payload_slots, ROOM),
                 hosts[i].answer);
        CHECK_EQ(filled(payload_slots) > 0, hosts[i].answer);
    }
}

/* Before there were static ids the attributes were shorter. */
TEST(attributes_of_older_counters_are_shorter)
{
    nvtxCounterAttr_t a;
    memset(&a, 0xff, sizeof a);
    a.structSize = offsetof(nvtxCounterAttr_t, semantics);
    a.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
    a.name = "short";
    start_both();
    gnomon_attach(&keeper, NULL, NULL);
    SAMPLE(COUNTER(&a), 1);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    gnomon_profile_free(p);
    a.structSize = sizeof a; /* an id that programs may not choose */
    CHECK_EQ(COUNTER(&a), 0);
    a.structSize = offsetof(nvtxCounterAttr_t, name);
    CHECK_EQ(COUNTER(&a), 0);
}

/* ---- One of everything ----------------------------------------------------- */

/* A text, and as many numbers as are asked for, up to two. */
static uint64_t register_as(const char *name, uint64_t id, size_t numbers)
{
    static const nvtxPayloadSchemaEntry_t entries[] = {
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
         .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
         .arrayOrUnionDetail = 600},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "one"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "two"}};
    nvtxPayloadSchemaAttr_t a;
    memset(&a, 0, sizeof a);
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    a.name = name;
    a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    a.entries = entries;
    a.numEntries = 1 + numbers;
    a.schemaId = id;
    return REGISTER(&a);
}

static uint64_t counter_as(const char *name, uint64_t id)
{
    nvtxCounterAttr_t a;
    memset(&a, 0, sizeof a);
    a.structSize = sizeof a;
    a.name = name;
    a.counterId = id;
    return COUNTER(&a);
}

/* Levels are right, or say that there is none. */
static void use_as(const char *name, uint64_t id)
{
    char payload[602];
    memset(payload, 't', 600);
    payload[600] = payload[601] = 1;
    nvtxPayloadData_t p = {register_as(name, id, 2), sizeof payload, payload};
    int level = PUSH(&p);
    CHECK(level == 0 || level == -1);
    MARK(&p);
    CHECK_EQ(POP(&p), level);
    SAMPLE(counter_as(name, id), 1);
    nvtxPayloadEnumAttr_t e;
    memset(&e, 0, sizeof e);
    e.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    e.sizeOfEnum = 4;
    p.schemaId = ENUM(&e);
    MARK(&p);
}

static uint64_t samples_of(const gnomon_profile *p, const char *end)
{
    uint64_t sum = 0;
    gnomon_counter_info c;
    gnomon_region_info r;
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_COUNTERS); i++) {
        gnomon_profile_counter(p, i, &c);
        gnomon_profile_region(p, c.region, &r);
        size_t length = strlen(r.name), n = strlen(end);
        if (length >= n && strcmp(r.name + length - n, end) == 0)
            sum += c.count;
    }
    return sum;
}

TEST(registering_again_takes_no_room)
{
    uint64_t first = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
    start_both();
    for (int i = 0; i < 70000; i++) {
        CHECK_EQ(register_as("again", first, 2), first);
        CHECK_EQ(counter_as("again", first), first);
    }
    uint64_t bytes = gnomon__heap_bytes();
    CHECK_EQ(register_as("again", first, 2), first);
    CHECK_EQ(gnomon__heap_bytes(), bytes);
    CHECK_EQ(register_as("other", first, 1), 0);
    CHECK_EQ(counter_as("other", first), 0);
    CHECK_EQ(register_as("new", first + 1, 1), first + 1);
    CHECK_EQ(counter_as("new", first + 1), first + 1);
}

/* ---- Threads that race for the same ----------------------------------------- */

#define RACERS 4
#define RACES 200
static pthread_barrier_t race_start;
static uint64_t raced_schema[RACERS][RACES], raced_counter[RACERS][RACES];
static uint64_t raced_other[RACERS][RACES];

static void *race(void *argument)
{
    size_t me = (size_t)argument;
    for (uint64_t i = 0; i < RACES; i++) {
        char name[32];
        snprintf(name, sizeof name, "raced %d", (int)i);
        uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + i;
        pthread_barrier_wait(&race_start);
        raced_other[me][i] = register_as(name, id + RACES, me % 2);
        raced_schema[me][i] = register_as(name, id, 2);
        raced_counter[me][i] = counter_as(name, id);
        use_as(name, id);
    }
    return NULL;
}

TEST(threads_agree_on_who_came_first)
{
    pthread_t thread[RACERS];
    gnomon_attach(&keeper, NULL, NULL);
    start_both();
    pthread_barrier_init(&race_start, NULL, RACERS);
    for (size_t i = 0; i < RACERS; i++)
        CHECK(!pthread_create(&thread[i], NULL, race, (void *)i));
    for (int i = 0; i < RACERS; i++)
        pthread_join(thread[i], NULL);
    for (uint64_t i = 0; i < RACES; i++)
        for (int k = 0; k < RACERS; k++) /* of two layouts one has the id */
            CHECK(raced_schema[k][i] ==
                      NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + i &&
                  raced_counter[k][i] == raced_schema[k][i] &&
                  raced_other[k][i] == raced_other[k % 2][i] &&
                  !raced_other[k][i] == !!raced_other[(k + 1) % 2][i]);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(samples_of(p, ".one"), 3 * RACERS * RACES);
    CHECK_EQ(samples_of(p, "raced 7"), RACERS);
    /* One text, so two fields in 200 layouts: each on its threads is one
     * row. All enums belong to their event, which has no text. */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS),
             gnomon_profile_count(p, GNOMON_TRACKS) * (RACES + 3));
    gnomon_profile_free(p);
}

/* ---- No memory -------------------------------------------------------------- */

static void *use_on_thread(void *unused)
{
    use_as("used", 0);
    return unused;
}

/* On a thread. */
static int use_without(uint64_t failing)
{
    pthread_t thread;
    gnomon_attach(&keeper, NULL, NULL);
    start_both();
    gnomon__test_fail_allocation(failing);
    if (pthread_create(&thread, NULL, use_on_thread, NULL) ||
        pthread_join(thread, NULL))
        return ALLOCATION_HARMED;
    int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    use_as("again", 0); /* and afterwards all is well */
    gnomon_profile *p = live_snapshot("keeper");
    CHECK(samples_of(p, ".one") >= 3 && samples_of(p, "again") == 1);
    gnomon_profile_free(p);
    return test_failures ? ALLOCATION_HARMED
           : came        ? ALLOCATION_CAME
                         : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_may_fail)
{
    CHECK(fail_each_allocation(use_without) > 10);
}

/* A counter for which there was no memory does not count towards the limit. */
TEST(counters_of_fields_come_again_with_memory)
{
    char payload[601];
    memset(payload, 't', 600);
    payload[600] = 1;
    gnomon_attach(&keeper, NULL, NULL);
    start_both();
    nvtxPayloadData_t p = {register_as("text", 0, 0), sizeof payload, payload};
    MARK(&p);
    p.schemaId = register_as("number", 0, 1);
    for (int i = 0; i <= 65536; i++) {   /* the limit */
        gnomon__test_fail_allocation(2); /* the first is the text's */
        MARK(&p);
    }
    gnomon__test_fail_allocation(0);
    MARK(&p);
    gnomon_profile *profile = live_snapshot("keeper");
    CHECK_EQ(samples_of(profile, ".one"), 1);
    gnomon_profile_free(profile);
}
#endif
