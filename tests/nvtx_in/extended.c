/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that knows nothing of gnomon and uses the extensions of NVTX: its
 * words are what it does, in order. Ends with 77 where the headers have none. */
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif

#ifdef NVTX3EXT_CBID_nvtxCounterRegister

typedef nvtxPayloadSchemaEntry_t entry;
#define TYPE(name) NVTX_PAYLOAD_ENTRY_TYPE_##name
#define FLAG(name) NVTX_PAYLOAD_ENTRY_FLAG_##name
#define STATIC_ID(n) ((uint64_t)NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + (n))

/* Of a struct's member: explicit, as offsetof says. */
#define MEMBER(kind, text, of, member) \
    { \
        .type = kind, .name = text, .offset = offsetof(of, member) \
    }
#define FIELD(kind, text) \
    { \
        .type = kind, .name = text \
    }
#define MESSAGE(kind, more, detail) \
    { \
        .type = kind, .flags = FLAG(EVENT_MESSAGE) | (more), \
        .arrayOrUnionDetail = detail \
    }

static uint64_t schema_of(nvtxDomainHandle_t domain, const char *name,
                          uint64_t type, const entry *entries, size_t count,
                          uint64_t id)
{
    nvtxPayloadSchemaAttr_t a;
    memset(&a, 0, sizeof a);
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                  (name ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME : 0) |
                  (id ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
    a.name = name;
    a.type = type;
    a.entries = entries;
    a.numEntries = count;
    a.schemaId = id;
    return nvtxPayloadSchemaRegister(domain, &a);
}
#define SCHEMA_IN(domain, name, ...) \
    schema_of(domain, name, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, \
              (const entry[]){__VA_ARGS__}, \
              sizeof((const entry[]){__VA_ARGS__}) / sizeof(entry), 0)
#define SCHEMA(name, ...) SCHEMA_IN(NULL, name, __VA_ARGS__)
#define DYNAMIC(name, ...) \
    schema_of(NULL, name, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, \
              (const entry[]){__VA_ARGS__}, \
              sizeof((const entry[]){__VA_ARGS__}) / sizeof(entry), 0)

static void mark(uint64_t schema, const void *payload, size_t size)
{
    nvtxPayloadData_t data = {schema, size, payload};
    nvtxMarkPayload(NULL, &data, 1);
}

static nvtxEventAttributes_t with_payloads(const nvtxPayloadData_t *payloads,
                                           int count)
{
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    a.reserved0 = count;
    a.payload.ullValue = (uint64_t)(uintptr_t)payloads;
    return a;
}

/* ---- As NCCL does ------------------------------------------------------------ */

enum { SID_INIT, SID_ALL_REDUCE, SID_SEND, SID_REDOP = 11 };

struct init {
    uint64_t communicator;
    int ranks, rank, device;
};
struct all_reduce {
    uint64_t communicator;
    size_t bytes;
    int operation;
};
struct send {
    uint64_t communicator;
    size_t bytes;
    int peer;
};

/* A mask that has a size, which is 0, and no name, which is there. */
static void nccl_schema(nvtxDomainHandle_t domain, uint64_t id,
                        const entry *entries, size_t count)
{
    nvtxPayloadSchemaAttr_t a;
    memset(&a, 0, sizeof a);
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    a.name = "unsaid";
    a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    a.entries = entries;
    a.numEntries = count;
    a.schemaId = STATIC_ID(id);
    if (nvtxPayloadSchemaRegister(domain, &a) != STATIC_ID(id))
        puts("another id");
}

/* What is known at the end only comes with the pop. */
static void nccl_range(nvtxDomainHandle_t domain, const char *name, uint64_t id,
                       const void *parameters, size_t size, int is_late)
{
    nvtxPayloadData_t payload = {STATIC_ID(id), size, parameters};
    nvtxEventAttributes_t a = with_payloads(&payload, 1);
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = nvtxDomainRegisterStringA(domain, name);
    a.payloadType = is_late ? NVTX_PAYLOAD_UNKNOWN : a.payloadType;
    nvtxDomainRangePushEx(domain, &a);
    if (is_late)
        nvtxRangePopPayload(domain, &payload, 1);
    else
        nvtxDomainRangePop(domain);
}

static void *nccl_body(void *rounds)
{
    static const entry init[] = {
        FIELD(TYPE(UINT64), "Communicator"),
        MEMBER(TYPE(INT), "No. of ranks", struct init, ranks),
        MEMBER(TYPE(INT), "Rank", struct init, rank),
        MEMBER(TYPE(INT), "CUDA device", struct init, device)};
    static const entry all_reduce[] = {
        FIELD(TYPE(UINT64), "Communicator"),
        MEMBER(TYPE(SIZE), "Message size [bytes]", struct all_reduce, bytes),
        MEMBER(STATIC_ID(SID_REDOP), "Operation", struct all_reduce,
               operation)};
    static const entry send[] = {
        FIELD(TYPE(UINT64), "Communicator"),
        MEMBER(TYPE(SIZE), "Message size [bytes]", struct send, bytes),
        MEMBER(TYPE(INT), "Peer", struct send, peer)};
    static const nvtxPayloadEnum_t operations[] = {
        {"Sum", 0, 0}, {"Product", 1, 0}, {"Max", 2, 0}};
    nvtxPayloadEnumAttr_t e;
    memset(&e, 0, sizeof e);
    e.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                  NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                  NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
    e.entries = operations;
    e.numEntries = 3;
    e.sizeOfEnum = sizeof(int);
    e.schemaId = STATIC_ID(SID_REDOP);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    if (nvtxPayloadEnumRegister(domain, &e) != e.schemaId)
        puts("another enum");
    nccl_schema(domain, SID_INIT, init, 4);
    nccl_schema(domain, SID_ALL_REDUCE, all_reduce, 3);
    nccl_schema(domain, SID_SEND, send, 3);
    struct init i = {7, 8, 3, 1};
    nccl_range(domain, "ncclCommInitRank", SID_INIT, &i, sizeof i, 1);
    for (int k = 0; k < *(const int *)rounds; k++) {
        struct all_reduce r = {7, 1024 * (size_t)(k % 4 + 1), 2};
        struct send s = {7, 100, k % 2 ? -1 : 5};
        nccl_range(domain, "ncclAllReduce", SID_ALL_REDUCE, &r, sizeof r, 0);
        nccl_range(domain, "ncclSend", SID_SEND, &s, sizeof s, 0);
    }
    return NULL;
}

/* ... and a mark that has no text: its layout's name is not said. */
static void nccl(int rounds)
{
    struct send s = {7, 0, 0};
    nvtxPayloadData_t payload = {STATIC_ID(SID_SEND), sizeof s, &s};
    nccl_body(&rounds);
    nvtxMarkPayload(nvtxDomainCreateA("NCCL"), &payload, 1);
}

/* ---- Events that are payloads ------------------------------------------------ */

struct loop {
    nvtxStringHandle_t text;
    uint32_t category;
    float loss;
};

static uint64_t loop_schema(nvtxDomainHandle_t domain)
{
    return SCHEMA_IN(domain, "loop",
                     MESSAGE(TYPE(NVTX_REGISTERED_STRING_HANDLE), 0, 0),
                     MEMBER(TYPE(CATEGORY), "category", struct loop, category),
                     MEMBER(TYPE(FLOAT), "loss", struct loop, loss));
}

static void alone(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    uint64_t schema = loop_schema(lib);
    uint64_t plain = SCHEMA_IN(lib, "plain", FIELD(TYPE(INT32), "n"));
    struct loop l = {nvtxDomainRegisterStringA(lib, "epoch"), 5, 0.5f};
    struct loop last = {nvtxDomainRegisterStringA(lib, "last"), 0, 2};
    int32_t n = 3;
    nvtxPayloadData_t p[] = {{schema, sizeof l, &l}, {plain, sizeof n, &n}};
    nvtxPayloadData_t two[] = {p[0], {schema, sizeof last, &last}};
    nvtxDomainNameCategoryA(lib, 5, "five");
    printf("%d", nvtxRangePushPayload(lib, p, 2));
    printf(" %d", nvtxRangePushPayload(lib, p + 1, 1));
    printf(" %d", nvtxDomainRangePop(lib)); /* of one stack */
    n = 4;
    printf(" %d", nvtxRangePopPayload(lib, p + 1, 1));
    printf(" %d\n", nvtxRangePopPayload(lib, NULL, 0));
    nvtxRangeId_t id = nvtxRangeStartPayload(lib, p, 1);
    n = 5;
    nvtxRangeEndPayload(lib, id, p + 1, 1);
    nvtxMarkPayload(lib, p, 1);
    nvtxMarkPayload(lib, two, 2); /* of several the last one holds */
    /* ... and holds against the attributes; what it leaves open is theirs. */
    nvtxEventAttributes_t a = with_payloads(p, 1);
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "overruled";
    a.category = 9;
    nvtxDomainMarkEx(lib, &a);
    a = with_payloads(p + 1, 1);
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "attributes";
    a.category = 5;
    nvtxDomainMarkEx(lib, &a);
    uint32_t seven = 7;
    p[1].schemaId = SCHEMA_IN(lib, NULL, FIELD(TYPE(CATEGORY), "category"));
    p[1].payload = &seven;
    nvtxDomainMarkEx(lib, &a);
}

/* ---- Forms of texts ---------------------------------------------------------- */

static void texts(void)
{
    struct {
        const char *text;
        char blob[8];
    } pointer = {"pointer", "within"};
    uint64_t by_pointer = SCHEMA(NULL, MESSAGE(TYPE(CSTRING), 0, 0));
    uint64_t flagged =
        SCHEMA(NULL, MESSAGE(TYPE(CSTRING_UTF8),
                             FLAG(POINTER) | FLAG(ARRAY_ZERO_TERMINATED), 0));
    uint64_t pair = SCHEMA(NULL, MESSAGE(TYPE(CSTRING), FLAG(POINTER), 4));
    mark(by_pointer, &pointer, sizeof pointer);
    pointer.text = pointer.blob;
    mark(flagged, &pointer, sizeof pointer);
    pointer.text = "cut off";
    mark(pair, &pointer, sizeof pointer);
    /* A pointer into another payload of the event ends with that. */
    nvtxPayloadData_t referenced[] = {
        {by_pointer, sizeof pointer.text, &pointer.text},
        {NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, 3, pointer.blob}};
    pointer.text = pointer.blob;
    nvtxMarkPayload(NULL, referenced, 2);

    uint64_t fixed =
        SCHEMA(NULL, MESSAGE(TYPE(CSTRING), 0, 5), FIELD(TYPE(UINT8), "after"));
    mark(fixed, "fixed\7more", 6);
    mark(fixed, "fi\0ed\11", 6);
    uint16_t wide[] = {'u', 0xD83D, 0xDE00, 0xDC00, 0xD800, 0};
    mark(SCHEMA(NULL, MESSAGE(TYPE(CSTRING_UTF16), FLAG(ARRAY_FIXED_SIZE), 6)),
         wide, sizeof wide);
    uint32_t widest[] = {0xfc, 0x1F600, 0};
    mark(SCHEMA(NULL, MESSAGE(TYPE(CSTRING_UTF32), 0, 3)), widest,
         sizeof widest);
    uint64_t ended =
        DYNAMIC(NULL, FIELD(TYPE(UINT8), "before"),
                MESSAGE(TYPE(CSTRING), FLAG(ARRAY_ZERO_TERMINATED), 0),
                FIELD(TYPE(UINT8), "lost"));
    mark(ended, "\1ended\0x", 8);
    mark(ended, "\2without end", 4); /* fields after it are not recorded */
    uint64_t counted =
        DYNAMIC(NULL, FIELD(TYPE(UINT8), NULL),
                MESSAGE(TYPE(CSTRING), FLAG(ARRAY_LENGTH_INDEX), 0));
    mark(counted, "\3countless", 9);
    mark(counted, "\0empty", 6);
    mark(counted, "\377more than there is", 5);
    char *longest = malloc(2000);
    memset(longest, 'l', 2000);
    mark(SCHEMA(NULL, MESSAGE(TYPE(CSTRING), 0, 900)), longest, 900);
    free(longest);
}

/* ---- Layouts ----------------------------------------------------------------- */

static void types(void)
{
    struct {
        signed char c;
        unsigned char uc;
        short s;
        unsigned short us;
        int i;
        unsigned u;
        long l;
        unsigned long ul;
        int8_t i8;
        uint16_t u16;
        int64_t i64;
        uint64_t u64;
        float f;
        double d;
        long double ld;
        size_t size;
        void *address;
        uint16_t half, small, brain;
        float tf;
        _Alignas(16) uint64_t huge[2];
        uint8_t after;
    } v = {-1, 255,    -2,     65535,      -3,   4u << 29, -5,    6,
           -7, 65534,  -8,     1ull << 63, 0.5f, -2.5,     1.25L, 9,
           &v, 0xC500, 0x0001, 0x3FC0,     1.5f, {1, 1},   10};
    uint64_t schema = SCHEMA(
        "types", FIELD(TYPE(INT8), "c"), FIELD(TYPE(UCHAR), "uc"),
        FIELD(TYPE(SHORT), "s"), FIELD(TYPE(USHORT), "us"),
        FIELD(TYPE(INT), "i"), FIELD(TYPE(UINT), "u"), FIELD(TYPE(LONG), "l"),
        FIELD(TYPE(ULONG), "ul"), FIELD(TYPE(INT8), "i8"),
        FIELD(TYPE(UINT16), "u16"), FIELD(TYPE(INT64), "i64"),
        FIELD(TYPE(UINT64), "u64"), FIELD(TYPE(FLOAT), "f"),
        FIELD(TYPE(DOUBLE), "d"), FIELD(TYPE(LONGDOUBLE), "ld"),
        FIELD(TYPE(SIZE), "size"), FIELD(TYPE(ADDRESS), "address"),
        FIELD(TYPE(FLOAT16), "half"), FIELD(TYPE(FLOAT16), "small"),
        FIELD(TYPE(BF16), "brain"), FIELD(TYPE(TF32), "tf"),
        FIELD(TYPE(UINT128), "huge"), FIELD(TYPE(UINT8), "after"));
    mark(schema, &v, sizeof v);
}

static void layouts(void)
{
    struct inner {
        uint8_t a;
        uint32_t b;
    };
    struct {
        struct inner one;
        struct inner several[2];
        char name[3];
        uint16_t last;
    } v = {{1, 2}, {{3, 4}, {5, 6}}, "no", 7};
    uint64_t inner =
        SCHEMA("inner", FIELD(TYPE(UINT8), "a"), FIELD(TYPE(UINT32), "b"));
    uint64_t outer = SCHEMA("outer", FIELD(inner, "one"),
                            {.type = inner,
                             .name = "several",
                             .flags = FLAG(ARRAY_FIXED_SIZE),
                             .arrayOrUnionDetail = 2},
                            {.type = TYPE(CHAR),
                             .name = "name",
                             .flags = FLAG(ARRAY_FIXED_SIZE),
                             .arrayOrUnionDetail = 3},
                            FIELD(TYPE(UINT16), "last"));
    mark(outer, &v, sizeof v);
    struct {
        uint8_t before;
        struct {
            struct inner x;
            uint8_t y;
        } deep;
        uint8_t after;
    } w = {1, {{2, 3}, 4}, 5};
    uint64_t deep = SCHEMA(NULL, FIELD(inner, "x"), FIELD(TYPE(UINT8), "y"));
    mark(SCHEMA("deep", FIELD(TYPE(UINT8), "before"), FIELD(deep, "deep"),
                FIELD(TYPE(UINT8), "after")),
         &w, sizeof w);
    /* Packed, and a pointer, and a union, and no measurements. */
    struct __attribute__((packed)) {
        uint8_t a;
        uint64_t b;
        uint16_t *c;
        uint64_t either;
        uint64_t time;
        uint32_t hidden, unnamed;
        uint16_t d;
    } packed = {1, 2, NULL, 3, 4, 5, 6, 7};
    uint64_t either = schema_of(
        NULL, "either", NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
        (const entry[]){FIELD(TYPE(UINT64), "u"), FIELD(TYPE(DOUBLE), "d")}, 2,
        0);
    const entry entries[] = {
        FIELD(TYPE(UINT8), "a"),
        FIELD(TYPE(UINT64), "b"),
        {.type = TYPE(UINT16), .name = "c", .flags = FLAG(POINTER)},
        FIELD(either, "either"),
        {.type = TYPE(INT64), .name = "time", .flags = FLAG(TIMESTAMP)},
        {.type = TYPE(UINT32), .name = "hidden", .flags = FLAG(HIDE)},
        FIELD(TYPE(UINT32), NULL),
        FIELD(TYPE(UINT16), "d")};
    nvtxPayloadSchemaAttr_t a;
    memset(&a, 0, sizeof a);
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
    a.name = "packed";
    a.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    a.entries = entries;
    a.numEntries = 8;
    a.packAlign = 1;
    mark(nvtxPayloadSchemaRegister(NULL, &a), &packed, sizeof packed);
    /* With room at its end that no field is in; or less than its fields say. */
    const entry few[] = {FIELD(TYPE(UINT8), "a"),
                         MEMBER(TYPE(UINT8), "b", struct inner, b)};
    a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                  NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    a.entries = few;
    a.numEntries = 2;
    a.payloadStaticSize = 6;
    static const uint8_t bytes[] = {1, 0, 0, 0, 2, 0, 3};
    uint64_t roomy = nvtxPayloadSchemaRegister(NULL, &a);
    mark(SCHEMA("roomy", FIELD(roomy, "x"), FIELD(TYPE(UINT8), "after")), bytes,
         7);
    a.payloadStaticSize = 4;
    a.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
    a.name = "narrow";
    mark(nvtxPayloadSchemaRegister(NULL, &a), bytes, 5);
    /* A name in unreadable memory. */
    char longest[301];
    memset(longest, 'x', 300);
    longest[300] = 0;
    mark(SCHEMA("long", FIELD(TYPE(UINT8), longest), FIELD(TYPE(UINT8), "b")),
         "\1\2", 2);
    /* Of unknown size: fields after it need an offset. */
    mark(SCHEMA("gap", FIELD(TYPE(UINT8), "known"), FIELD(900, "what"),
                FIELD(TYPE(UINT8), "lost"),
                {.type = TYPE(UINT8), .name = "told", .offset = 3}),
         "\1\2\3\4", 4);
    /* Numbers without a layout are their event's. */
    double value = 2.5, values[] = {1, 2};
    nvtxPayloadData_t bare = {TYPE(DOUBLE), sizeof value, &value};
    nvtxEventAttributes_t attributes = with_payloads(&bare, 1);
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "bare";
    nvtxMarkEx(&attributes);
    bare = (nvtxPayloadData_t){TYPE(DOUBLE), sizeof values, values};
    nvtxMarkEx(&attributes); /* an array */
    bare =
        (nvtxPayloadData_t){TYPE(DOUBLE), SIZE_MAX, &value}; /* ours to say */
    nvtxMarkEx(&attributes);
}

/* ---- Counters ---------------------------------------------------------------- */

static uint64_t counter_of(nvtxDomainHandle_t domain, const char *name,
                           uint64_t schema, uint64_t id)
{
    nvtxCounterAttr_t a;
    memset(&a, 0, sizeof a);
    a.structSize = sizeof a;
    a.schemaId = schema;
    a.name = name;
    a.counterId = id;
    return nvtxCounterRegister(domain, &a);
}

static void counters(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    uint64_t group = SCHEMA_IN(lib, NULL, FIELD(TYPE(INT32), "free"),
                               FIELD(TYPE(DOUBLE), "load"));
    struct {
        int32_t free;
        double load;
    } v = {3, 0.5};
    uint64_t temperature = counter_of(NULL, "temperature", TYPE(INT64), 0);
    uint64_t mine = counter_of(lib, "mine", TYPE(DOUBLE), STATIC_ID(3));
    uint64_t again = counter_of(lib, "mine", TYPE(DOUBLE), STATIC_ID(3));
    uint64_t taken = counter_of(lib, "other", TYPE(DOUBLE), STATIC_ID(3));
    uint64_t wrong = counter_of(lib, "wrong", TYPE(DOUBLE), 77);
    printf("%d %d %d %d\n", mine == STATIC_ID(3), again == mine, taken == 0,
           wrong == 0);
    uint64_t node = counter_of(lib, "node", group, 0);
    for (int i = 1; i <= 4; i++)
        nvtxCounterSampleInt64(NULL, temperature, -i);
    nvtxCounterSampleFloat64(lib, mine, 1.5);
    double value = 2.5;
    nvtxCounterSample(lib, mine, &value, sizeof value);
    nvtxCounterSampleNoValue(lib, mine, NVTX_COUNTER_SAMPLE_ZERO);
    nvtxCounterSampleNoValue(lib, mine, NVTX_COUNTER_SAMPLE_UNCHANGED);
    nvtxCounterSample(lib, node, &v, sizeof v);
    v.free = 5;
    nvtxCounterSample(lib, node, &v, sizeof v);
    nvtxCounterSample(lib, node, &v, sizeof v.free); /* no more of it */
    nvtxCounterSampleNoValue(lib, node, NVTX_COUNTER_SAMPLE_ZERO);
    /* Counters of an unknown domain, and without attributes. */
    nvtxCounterSampleInt64(NULL, mine, 1000);
    nvtxCounterSampleInt64(lib, 12345, 1000);
    nvtxCounterSample(lib, node, NULL, sizeof v);
    nvtxCounterSample(lib, mine, &value, 3);
    counter_of(lib, NULL, 0, 0);
}

/* ---- Trouble ----------------------------------------------------------------- */

/* Copies of the exact size, so that a sanitizer sees what is read past them. */
static void mark_copy(uint64_t schema, const void *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    mark(schema, copy, size);
    free(copy);
}

static void bad(void)
{
    static const char bytes[64] = "abcdefg";
    nvtxEventAttributes_t a = with_payloads(NULL, 3);
    nvtxMarkEx(&a);
    a.reserved0 = -1;
    nvtxMarkEx(&a);
    a.payload.ullValue = 8; /* nothing is there */
    a.reserved0 = 0;
    nvtxMarkEx(&a);
    nvtxMarkPayload(NULL, NULL, 7);
    nvtxRangePushPayload(NULL, NULL, 0);
    nvtxRangePopPayload(NULL, NULL, 1);
    nvtxRangeEndPayload(NULL, 0, NULL, 0);
    mark(TYPE(INT64), NULL, 8);
    mark(STATIC_ID(99), bytes, 8);
    mark((uint64_t)-1, bytes, 8);
    mark(TYPE(CSTRING), bytes, SIZE_MAX);

    uint64_t pair =
        SCHEMA("pair", FIELD(TYPE(UINT8), "one"), FIELD(TYPE(UINT64), "two"));
    for (size_t size = 0; size < 17; size++)
        mark_copy(pair, bytes, size);
    mark(pair, NULL, 16);
    mark(pair, NULL, SIZE_MAX);
    mark(pair, bytes, SIZE_MAX); /* of which the layout knows the size */
    uint64_t unknown = DYNAMIC("unknown", FIELD(TYPE(UINT8), "one"));
    mark(unknown, (const void *)(uintptr_t)8, SIZE_MAX);
    uint64_t far =
        SCHEMA("far", FIELD(TYPE(UINT8), "near"),
               {.type = TYPE(UINT8), .name = "far", .offset = 1u << 20},
               {.type = TYPE(UINT8), .name = "further", .offset = UINT64_MAX},
               {.type = TYPE(UINT64),
                .name = "many",
                .flags = FLAG(ARRAY_FIXED_SIZE),
                .arrayOrUnionDetail = UINT64_MAX / 8 + 1},
               FIELD(TYPE(UINT8), "behind"));
    mark_copy(far, bytes, 8);

    /* Texts without an end, or missing. */
    uint64_t fixed = SCHEMA("fixed", MESSAGE(TYPE(CSTRING), 0, 40));
    uint64_t handle =
        SCHEMA("handle", MESSAGE(TYPE(NVTX_REGISTERED_STRING_HANDLE), 0, 0));
    uint64_t pointer = SCHEMA("pointer", MESSAGE(TYPE(CSTRING), 0, 0));
    uint64_t wide = SCHEMA("wide", MESSAGE(TYPE(CSTRING_UTF16), 0, 2));
    uint64_t ended = DYNAMIC(
        "ended", MESSAGE(TYPE(CSTRING_UTF32), FLAG(ARRAY_ZERO_TERMINATED), 0));
    uint64_t counted =
        DYNAMIC("counted", FIELD(TYPE(DOUBLE), "length"),
                MESSAGE(TYPE(CSTRING), FLAG(ARRAY_LENGTH_INDEX), 0));
    for (size_t size = 0; size < 8; size++) {
        mark_copy(fixed, "abcdefgh", size);
        mark_copy(handle, bytes, size);
        mark_copy(pointer, bytes, size);
        mark_copy(wide, "abcdefgh", size);
        mark_copy(ended, "abcdefgh", size);
        mark_copy(counted, bytes, size);
    }
    mark_copy(SCHEMA("category", FIELD(TYPE(CATEGORY), NULL)), bytes, 3);
    static const uint64_t no_pointer = 0;
    mark_copy(pointer, &no_pointer, 8);
    mark_copy(handle, &no_pointer, 8);
    static const double lengths[] = {-1, 1e300, (double)NAN};
    for (int i = 0; i < 3; i++)
        mark_copy(counted, &lengths[i], 8);
    mark_copy(
        DYNAMIC("itself", MESSAGE(TYPE(CSTRING), FLAG(ARRAY_LENGTH_INDEX), 0)),
        bytes, 8);
    mark_copy(
        DYNAMIC("elsewhere", MESSAGE(TYPE(CSTRING), FLAG(OFFSET_FROM_BASE), 0)),
        bytes, 8);
    mark_copy(SCHEMA("no text", MESSAGE(TYPE(UINT64), 0, 0)), bytes, 8);
}

/* Prints whether each was refused: all but the last four. */
static void refused(void)
{
    static const entry itself[] = {FIELD(STATIC_ID(5), "itself")};
    static const entry one[] = {FIELD(TYPE(UINT8), "one")};
    static const entry two[] = {FIELD(TYPE(UINT8), "two")};
    nvtxPayloadSchemaAttr_t none;
    nvtxPayloadEnumAttr_t size;
    uint64_t type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    memset(&none, 0, sizeof none);
    memset(&size, 0, sizeof size);
    size.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
    size.sizeOfEnum = 3;
    uint64_t ids[] = {
        nvtxPayloadSchemaRegister(NULL, NULL),
        nvtxPayloadSchemaRegister(NULL, &none),
        nvtxPayloadEnumRegister(NULL, NULL),
        nvtxPayloadEnumRegister(NULL, &size),
        schema_of(NULL, NULL, 0, one, 1, 0),
        schema_of(NULL, NULL, 99, one, 1, 0),
        schema_of(NULL, NULL, type, NULL, 1, 0),
        schema_of(NULL, NULL, type, one, 0, 0),
        schema_of(NULL, NULL, type, one, 1, 77),
        schema_of(NULL, NULL, type, one, 1, UINT64_MAX),
        nvtxCounterRegister(NULL, NULL),
        schema_of(NULL, "five", type, itself, 1, STATIC_ID(5)),
        schema_of(NULL, "six", type, one, 1, STATIC_ID(6)),
        schema_of(NULL, "six", type, one, 1, STATIC_ID(6)),
        schema_of(NULL, "six", type, two, 1, STATIC_ID(6)),
        schema_of(nvtxDomainCreateA("lib"), "six", type, two, 1, STATIC_ID(6))};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        printf("%d", ids[i] != 0);
    puts("");
    mark(STATIC_ID(5), "5", 1);
    mark(STATIC_ID(6), "6", 1);
}

/* Layouts, fields and counters until no more are kept. */
static void many(int n)
{
    char name[32];
    uint64_t first = 0;
    for (int i = 0; i < n; i++) {
        entry entries[20];
        memset(entries, 0, sizeof entries);
        for (int k = 0; k < 20; k++) {
            entries[k].type = TYPE(UINT8);
            entries[k].name = "field";
        }
        snprintf(name, sizeof name, "many%d", i);
        uint64_t id = schema_of(NULL, name, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
                                entries, 20, 0);
        if (!first)
            first = id;
        if (counter_of(NULL, name, TYPE(INT64), 0))
            nvtxRangePushA("kept");
        else
            nvtxRangePushA("not kept");
        nvtxRangePop();
    }
    mark(first, "12345678901234567890", 20);
}

static void is_on(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    printf("%d %d\n", nvtxDomainIsEnabled(NULL), nvtxDomainIsEnabled(lib));
}

/* ---- Threads ----------------------------------------------------------------- */

#define THREADS 8
static pthread_barrier_t start;

/* Each registers the same, at once, and then rounds of all. */
static void *thread_body(void *rounds)
{
    int n = *(const int *)rounds;
    pthread_barrier_wait(&start);
    nccl_body(&n);
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    uint64_t schema = loop_schema(lib);
    uint64_t counter = counter_of(lib, "ticks", TYPE(INT64), STATIC_ID(8));
    struct loop l = {nvtxDomainRegisterStringA(lib, "round"), 0, 0.25f};
    nvtxPayloadData_t p = {schema, sizeof l, &l};
    for (int i = 0; i < n; i++) {
        nvtxRangePushPayload(lib, &p, 1);
        nvtxCounterSampleInt64(lib, counter, i);
        nvtxRangeEndPayload(lib, nvtxRangeStartPayload(lib, &p, 1), NULL, 0);
        nvtxRangePopPayload(lib, &p, 1);
    }
    return NULL;
}

static void threads(int n)
{
    pthread_t thread[THREADS];
    /* At the first call NVTX's headers read what another thread may write. */
    nvtxDomainIsEnabled(NULL);
    nvtxCounterRegister(NULL, NULL);
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, thread_body, &n))
            exit(3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*run)(void);
        void (*run_n)(int);
    } words[] = {{"nccl=", NULL, nccl},      {"alone", alone, NULL},
                 {"texts", texts, NULL},     {"types", types, NULL},
                 {"layouts", layouts, NULL}, {"counters", counters, NULL},
                 {"bad", bad, NULL},         {"refused", refused, NULL},
                 {"many=", NULL, many},      {"is_on", is_on, NULL},
                 {"threads=", NULL, threads}};
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            size_t n = strlen(words[k].word);
            if (words[k].run_n && strncmp(argv[i], words[k].word, n) == 0)
                words[k].run_n(atoi(argv[i] + n));
            else if (words[k].run && strcmp(argv[i], words[k].word) == 0)
                words[k].run();
        }
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
