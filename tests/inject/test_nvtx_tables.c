/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX's marks, through function tables that are older and newer than the
 * known ones, and with functions that the headers of other toolkits call;
 * and failing allocations.
 *
 * links: testing
 * needs: nvtx
 * timeout: 300
 * labels: guest */
#include "test.h"

#ifndef TEST_NVTX
TEST(tables)
{
    SKIP("no headers of NVTX");
}
#else

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <wchar.h>

#include "gnomon/tool.h"
#include "each_allocation.h"
#include "inject/nvtx.h"
#include "live_profile.h"
#include "recording_threads.h"
#include "platform/error.h"
#include "platform/memory.h"

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
LIVE_KEEPER(keeper, "keeper");

/* ---- A program's tables --------------------------------------------------- */

#define ROOM 24 /* of a module, more than any has */
#define MODULES NVTX_CB_MODULE_SIZE

static NvtxFunctionPointer pointers[MODULES][ROOM];
static NvtxFunctionPointer *entries[MODULES][ROOM];
static unsigned sizes[MODULES]; /* 0: it has no such module */
static size_t callbacks_size = sizeof(NvtxExportTableCallbacks);
static uint32_t version_told;

/* The value of a pointer that must not be written. */
static void untouched(void)
{
}

static int table_of(NvtxCallbackModule module, NvtxFunctionTable *table,
                    unsigned *size)
{
    *table = entries[module];
    *size = sizes[module];
    return sizes[module] != 0;
}

static void version_is(uint32_t version)
{
    version_told = version;
}

static const void *export_table(uint32_t id)
{
    static NvtxExportTableCallbacks callbacks;
    static const NvtxExportTableVersionInfo version = {sizeof version, 3, 0,
                                                       version_is};
    callbacks.struct_size = callbacks_size;
    callbacks.GetModuleFunctionTable = table_of;
    return id == NVTX_ETID_CALLBACKS     ? (const void *)&callbacks
           : id == NVTX_ETID_VERSIONINFO ? &version
                                         : NULL;
}

/* All modules, of `size` entries. */
static int start_with(unsigned size)
{
    for (int m = 1; m < MODULES; m++) {
        sizes[m] = size;
        for (int i = 0; i < ROOM; i++) {
            pointers[m][i] = untouched;
            entries[m][i] = &pointers[m][i];
        }
    }
    return InitializeInjectionNvtx2(export_table);
}

#define FUNCTION(module, id, type) \
    ((type)(pointers[NVTX_CB_MODULE_##module][NVTX_CBID_##module##_##id]))
#define PUSH_A(text) \
    FUNCTION(CORE, RangePushA, nvtxRangePushA_impl_fntype)(text)
#define POP() FUNCTION(CORE, RangePop, nvtxRangePop_impl_fntype)()
#define START_A(text) \
    FUNCTION(CORE, RangeStartA, nvtxRangeStartA_impl_fntype)(text)
#define END(id) FUNCTION(CORE, RangeEnd, nvtxRangeEnd_impl_fntype)(id)
#define MARK_A(text) FUNCTION(CORE, MarkA, nvtxMarkA_impl_fntype)(text)
#define DOMAIN_A(text) \
    FUNCTION(CORE2, DomainCreateA, nvtxDomainCreateA_impl_fntype)(text)
#define STRING_A(domain, text) \
    FUNCTION(CORE2, DomainRegisterStringA, \
             nvtxDomainRegisterStringA_impl_fntype) \
    (domain, text)
#define DOMAIN_PUSH(domain, a) \
    FUNCTION(CORE2, DomainRangePushEx, nvtxDomainRangePushEx_impl_fntype) \
    (domain, a)
#define DOMAIN_POP(domain) \
    FUNCTION(CORE2, DomainRangePop, nvtxDomainRangePop_impl_fntype)(domain)
#define LABEL(domain, id, text) \
    FUNCTION(CORE2, DomainNameCategoryA, nvtxDomainNameCategoryA_impl_fntype) \
    (domain, id, text)

/* ---- Sizes ---------------------------------------------------------------- */

static int filled(int module)
{
    int n = 0;
    for (int i = 0; i < ROOM; i++)
        n += pointers[module][i] != untouched;
    return n;
}

TEST(nothing_is_written_past_a_table)
{
    for (unsigned size = 1; size <= ROOM; size++) {
        CHECK_EQ(start_with(size), 1);
        for (int m = 1; m < MODULES; m++)
            for (unsigned i = 0; i < ROOM; i++)
                if (i >= size || i == 0)
                    CHECK(pointers[m][i] == untouched);
    }
    CHECK_EQ(version_told, NVTX_VERSION);
    CHECK_EQ(filled(NVTX_CB_MODULE_CORE), NVTX_CBID_CORE_SIZE - 1);
    /* Without: destroying a resource or a domain, nvtxInitialize. */
    CHECK_EQ(filled(NVTX_CB_MODULE_CORE2), NVTX_CBID_CORE2_SIZE - 1 - 3);
    CHECK_EQ(filled(NVTX_CB_MODULE_CUDA), NVTX_CBID_CUDA_SIZE - 1);
    CHECK_EQ(filled(NVTX_CB_MODULE_CUDART), NVTX_CBID_CUDART_SIZE - 1);
    CHECK_EQ(filled(NVTX_CB_MODULE_OPENCL), NVTX_CBID_OPENCL_SIZE - 1);
    /* ... and without: destroying a lock, releasing it. */
    CHECK_EQ(filled(NVTX_CB_MODULE_SYNC), NVTX_CBID_SYNC_SIZE - 1 - 2);
}

static const void *no_tables(uint32_t id)
{
    (void)id;
    return NULL;
}

TEST(what_has_no_tables_is_refused)
{
    CHECK_EQ(InitializeInjectionNvtx2(NULL), 0);
    CHECK_EQ(InitializeInjectionNvtx2(no_tables), 0);
    callbacks_size = sizeof(size_t); /* without the function */
    CHECK_EQ(start_with(ROOM), 0);
    callbacks_size = 1000; /* newer */
    CHECK_EQ(start_with(ROOM), 1);
}

TEST(modules_and_entries_may_be_missing)
{
    start_with(ROOM);
    memset(pointers, 0, sizeof pointers);
    memset(entries[NVTX_CB_MODULE_CORE], 0, sizeof entries[0]);
    memset(sizes, 0, sizeof sizes);
    sizes[NVTX_CB_MODULE_CORE] = ROOM;
    CHECK_EQ(InitializeInjectionNvtx2(export_table), 1);
    for (int m = 0; m < MODULES; m++)
        for (int i = 0; i < ROOM; i++)
            CHECK(!pointers[m][i]);
}

/* A program of NVTX 1, or one without domains: its ranges are of the default
 * domain. */
TEST(a_program_with_the_core_table_alone_is_served)
{
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    memset(pointers, 0, sizeof pointers);
    memset(sizes, 0, sizeof sizes);
    sizes[NVTX_CB_MODULE_CORE] = ROOM;
    CHECK_EQ(InitializeInjectionNvtx2(export_table), 1);
    for (int m = 1; m < MODULES; m++)
        for (int i = 0; m != NVTX_CB_MODULE_CORE && i < ROOM; i++)
            CHECK(!pointers[m][i]);
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "with attributes";
    CHECK_EQ(PUSH_A("outer"), 0);
    CHECK_EQ(FUNCTION(CORE, RangePushEx, nvtxRangePushEx_impl_fntype)(&a), 1);
    MARK_A("mark");
    CHECK_EQ(POP(), 1);
    END(START_A("range"));
    CHECK_EQ(POP(), 0);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "outer"), 1);
    CHECK_EQ(live_count(p, "with attributes"), 1);
    CHECK_EQ(live_count(p, "mark"), 1);
    CHECK_EQ(live_count(p, "range"), 1);
    gnomon_region_info region;
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_REGIONS); i++)
        if (gnomon_profile_region(p, i, &region) == GNOMON_OK)
            CHECK_STR(region.category, "");
    gnomon_profile_free(p);
}

/* ---- Numbers in names ------------------------------------------------------ */

/* What programs write: PyTorch's examples, llm.c, TensorRT, Megatron, RAPIDS. */
TEST(numbers_that_stand_alone_or_count_become_one_name)
{
    static const char *const folded[][2] = {
        {"iteration 17", "iteration #"},
        {"17", "#"},
        {"Train step 1000000", "Train step #"},
        {"iteration17", "iteration#"},
        {"step_12", "step_#"},
        {"step_12_forward", "step_#_forward"},
        {"Warmup_Step3", "Warmup_Step#"},
        {"ProfilerStep#12", "ProfilerStep#"},
        {"paged_attn_iter_7", "paged_attn_iter_#"},
        {"TrainIter7", "TrainIter#"},
        {"microbatch5/forward", "microbatch#/forward"},
        {"epoch-3", "epoch-#"},
        {"epoch/3", "epoch/#"},
        {"Step::3", "Step::#"},
        {"step: 3, loss = 0.125", "step: #, loss = #"},
        {"lr=1.5e-3", "lr=#"},
        {"x = -5", "x = -#"},
        {"step 1,024", "step #"},
        {"step 1,234,567", "step #"},
        {"sizes=[128, 64]", "sizes=[#, #]"},
        {"op #5", "op #"},
        {"chunk[7]", "chunk[#]"},
        {"Transfer Chunk 3", "Transfer Chunk #"},
        {"Layer 3", "Layer #"}, /* fold=off keeps those apart */
        {"at 0x7f3aBC", "at #"},
        {"1/3 of 10-20", "#/# of #-#"},
        {"done: 5.", "done: #."},
        {"gr\u00f6\u00dfe 5", "gr\u00f6\u00dfe #"},
    };
    static const char *const kept[] = {"fp16",
                                       "conv2d",
                                       "layer3.conv1",
                                       "matmul_64x64",
                                       "64x64",
                                       "AddBackward0",
                                       "layers.3.mlp",
                                       "layers.10.3.mlp",
                                       "/layers/0/attn",
                                       "/layers/0/1",
                                       "gpt-2",
                                       "resnet-50-v1",
                                       "Conv_12 + Relu_13",
                                       "triton_poi_fused_add_3",
                                       "encoder_layer_3",
                                       "v1.2.3",
                                       "5ms",
                                       "1e",
                                       "0xfg",
                                       "writer3",
                                       "BatchNorm2d",
                                       "step2vec",
                                       "batch_64x64",
                                       "forward_3",
                                       "3_forward",
                                       "u\u00fc3",
                                       "#",
                                       "",
                                       "iteration #"};
    char out[64];
    for (size_t i = 0; i < sizeof folded / sizeof *folded; i++) {
        size_t n = gnomon__inject_replace_numbers(out, folded[i][0],
                                                  strlen(folded[i][0]));
        out[n] = 0;
        CHECK_STR(out, folded[i][1]);
        n = gnomon__inject_replace_numbers(out, folded[i][1],
                                           strlen(folded[i][1]));
        out[n] = 0;
        CHECK_STR(out, folded[i][1]); /* once is enough */
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        size_t n =
            gnomon__inject_replace_numbers(out, kept[i], strlen(kept[i]));
        out[n] = 0;
        CHECK_STR(out, kept[i]);
    }
}

/* Nothing past the length is read, and no more is written than read. */
TEST(any_bytes_become_a_name_within_their_length)
{
    static const char bytes[] = "0123456789.,-/_#xXeEitrsp \xc3\xbc";
    uint32_t random = 1;
    for (int i = 0; i < 200000; i++) {
        size_t n = (random >> 8) % 24;
        char *text = malloc(n + 1), *out = malloc(n + 1), *more = malloc(n + 8);
        for (size_t k = 0; k < n; k++) {
            random = random * 1664525u + 1013904223u;
            text[k] = bytes[(random >> 8) % (sizeof bytes - 1)];
        }
        size_t folded = gnomon__inject_replace_numbers(out, text, n);
        CHECK(folded <= n);
        memcpy(more, text, n);
        memcpy(more + n, "7x", 3);
        char *again = malloc(n + 1);
        CHECK_EQ(gnomon__inject_replace_numbers(again, more, n), folded);
        CHECK(memcmp(again, out, folded) == 0);
        random = random * 1664525u + 1013904223u;
        free(text), free(out), free(more), free(again);
    }
}

/* ---- Names of CUDA's and OpenCL's things ----------------------------------- */

static const char *metadata_of(const gnomon_profile *p, const char *key)
{
    gnomon_metadata_info m;
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_METADATA); i++)
        if (gnomon_profile_metadata(p, i, &m) == GNOMON_OK &&
            strcmp(m.key, key) == 0)
            return m.json;
    return NULL;
}

TEST(things_have_names)
{
    typedef void (*name_a)(void *, const char *);
    typedef void (*name_w)(void *, const wchar_t *);
    static const struct {
        int module, id;
        const char *key;
    } things[] = {
        {NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_NameCuContextA, "cuda_context"},
        {NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_NameCuStreamA, "cuda_stream"},
        {NVTX_CB_MODULE_CUDA, NVTX_CBID_CUDA_NameCuEventA, "cuda_event"},
        {NVTX_CB_MODULE_CUDART, NVTX_CBID_CUDART_NameCudaStreamA,
         "cuda_stream"},
        {NVTX_CB_MODULE_CUDART, NVTX_CBID_CUDART_NameCudaEventA, "cuda_event"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClDeviceA,
         "opencl_device"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClContextA,
         "opencl_context"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClCommandQueueA,
         "opencl_queue"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClMemObjectA,
         "opencl_memory"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClSamplerA,
         "opencl_sampler"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClProgramA,
         "opencl_program"},
        {NVTX_CB_MODULE_OPENCL, NVTX_CBID_OPENCL_NameClEventA, "opencl_event"}};
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    for (uintptr_t i = 0; i < sizeof things / sizeof *things; i++) {
        const NvtxFunctionPointer *f =
            &pointers[things[i].module][things[i].id];
        char name[32];
        snprintf(name, sizeof name, "thing %d", (int)i);
        ((name_a)f[0])((void *)(0x1000 + 2 * i), name);
        ((name_w)f[1])((void *)(0x1001 + 2 * i), L"\u00fc");
    }
    FUNCTION(CUDA, NameCuDeviceA, nvtxNameCuDeviceA_fakeimpl_fntype)(0, "zero");
    FUNCTION(CUDART, NameCudaDeviceW, nvtxNameCudaDeviceW_fakeimpl_fntype)
    (1, L"one");
    FUNCTION(CUDART, NameCudaDeviceA, nvtxNameCudaDeviceA_fakeimpl_fntype)
    (2, NULL);
    gnomon_profile *p = live_snapshot("keeper");
    for (uintptr_t i = 0; i < sizeof things / sizeof *things; i++) {
        char key[64], json[32];
        snprintf(key, sizeof key, "nvtx.%s.0x%x", things[i].key,
                 (unsigned)(0x1000 + 2 * i));
        snprintf(json, sizeof json, "\"thing %d\"", (int)i);
        CHECK_STR(metadata_of(p, key), json);
        snprintf(key, sizeof key, "nvtx.%s.0x%x", things[i].key,
                 (unsigned)(0x1001 + 2 * i));
        CHECK_STR(metadata_of(p, key), "\"\u00fc\"");
    }
    CHECK_STR(metadata_of(p, "nvtx.cuda_device.0"), "\"zero\"");
    CHECK_STR(metadata_of(p, "nvtx.cuda_device.1"), "\"one\"");
    CHECK_STR(metadata_of(p, "nvtx.cuda_device.2"), "\"(null)\"");
    gnomon_profile_free(p);
}

static int lines_said;

static void count_line(const char *line)
{
    lines_said += strstr(line, "more than 1024 objects have names") != NULL;
}

TEST(a_thousand_names_are_kept)
{
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    gnomon__test_log = count_line;
    for (uintptr_t i = 0; i < 3000; i++)
        FUNCTION(CUDA, NameCuEventA, nvtxNameCuEventA_fakeimpl_fntype)
    ((void *)i, "event");
    CHECK_EQ(lines_said, 1);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_METADATA), 1024);
    gnomon_profile_free(p);
}

TEST(domains_and_labels_are_bounded)
{
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    nvtxDomainHandle_t last = NULL, before = NULL;
    for (int i = 0; i < 3000; i++) {
        char text[32];
        snprintf(text, sizeof text, "domain %d", i);
        before = last;
        last = DOMAIN_A(text);
        CHECK(last == DOMAIN_A(text));
    }
    CHECK(last == before); /* "(other)" */
    nvtxDomainHandle_t lib = DOMAIN_A("domain 1");
    CHECK(lib != last);
    for (int i = 0; i < 70000; i++)
        LABEL(lib, 1, i % 2 ? "odd" : "even");
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.category = 1;
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = STRING_A(lib, "text");
    CHECK_EQ(DOMAIN_PUSH(lib, &a), 0);
    CHECK_EQ(DOMAIN_POP(lib), 0);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "text"), 1);
    gnomon_profile_free(p);
}

TEST(texts_are_bounded)
{
    start_with(ROOM);
    nvtxStringHandle_t last = NULL, before = NULL;
    for (int i = 0; i < 140000; i++) {
        char text[32];
        snprintf(text, sizeof text, "text%d", i);
        before = last;
        last = STRING_A(NULL, text);
    }
    CHECK(last == before); /* "(other)" */
    CHECK(STRING_A(NULL, "text0") != last);
}

/* ---- Threads that race for the same ---------------------------------------- */

#define RACERS 4
#define RACE_NAMES 200
static pthread_barrier_t race_start;
static nvtxDomainHandle_t raced_domain[RACERS][RACE_NAMES];
static nvtxStringHandle_t raced_text[RACERS][RACE_NAMES];

static void *race(void *argument)
{
    size_t me = (size_t)argument;
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.category = 1;
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    for (int i = 0; i < RACE_NAMES; i++) {
        char text[32];
        snprintf(text, sizeof text, "raced%d", i);
        pthread_barrier_wait(&race_start);
        nvtxDomainHandle_t domain = DOMAIN_A(text);
        a.message.registered = STRING_A(domain, text);
        LABEL(domain, 1, me % 2 ? "odd" : "even");
        DOMAIN_PUSH(domain, &a);
        DOMAIN_POP(domain);
        raced_domain[me][i] = domain;
        raced_text[me][i] = a.message.registered;
    }
    return NULL;
}

TEST(threads_agree_on_who_came_first)
{
    pthread_t thread[RACERS];
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    pthread_barrier_init(&race_start, NULL, RACERS);
    for (size_t i = 0; i < RACERS; i++)
        CHECK(!pthread_create(&thread[i], NULL, race, (void *)i));
    for (int i = 0; i < RACERS; i++)
        pthread_join(thread[i], NULL);
    gnomon_profile *p = live_snapshot("keeper");
    for (int i = 0; i < RACE_NAMES; i++) {
        char text[32];
        snprintf(text, sizeof text, "raced%d", i);
        for (int k = 1; k < RACERS; k++)
            CHECK(raced_domain[k][i] == raced_domain[0][i] &&
                  raced_text[k][i] == raced_text[0][i]);
        CHECK_EQ(live_count(p, text), RACERS);
    }
    gnomon_profile_free(p);
}

/* The name in a text: all of it, without the parts that only PyTorch adds. */
TEST(names_end_where_numbers_of_pytorch_begin)
{
    static const char *const bare[] = {"aten::add", "f(int, double)", "a, b",
                                       "a, seq = x"};
    static const char *const parts[] = {
        ", seq = 0",
        ", seq=12",
        ", stashed seq = 3",
        ", stashed seq=18446744073709551615",
        ", op_id = 7",
        ", sizes = []",
        ", sizes = [[2, 3], [], [[1, -1], [4]]]",
        ", seq = 1, op_id = 7, sizes = [[2]], input_op_ids = [(5,0), (6,1)]",
        ", op_id = 7, input_op_ids = []"};
    static const char *const whole[] = {"",
                                        ",",
                                        ", seq = 5",
                                        "step, seq = ",
                                        "step, seq = 5 ",
                                        "step, seq = 5, ",
                                        "step, seq =5",
                                        "step,seq = 5",
                                        "step, sequence = 5",
                                        "step, id = 5",
                                        "step, seq = 5, lr = 0.1",
                                        "step, sizes = 5]",
                                        "step, sizes = ]",
                                        "step, sizes = [5",
                                        "step, sizes = [[5]",
                                        "step, sizes = [5]]",
                                        "step, sizes = [a]",
                                        "step, sizes = [0.5]"};
    char text[256];
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        CHECK_EQ(gnomon__inject_bare(bare[i]), strlen(bare[i]));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            snprintf(text, sizeof text, "%s%s", bare[i], parts[k]);
            CHECK_EQ(gnomon__inject_bare(text), strlen(bare[i]));
        }
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!CHECK_EQ(gnomon__inject_bare(whole[i]), strlen(whole[i])))
            fprintf(stderr, "    %s\n", whole[i]);
    CHECK_EQ(gnomon__inject_bare("a, seq = 1, b, op_id = 2"),
             strlen("a, seq = 1, b"));
}

/* Pushes without a pop take memory up to a limit; then they are counted. */
TEST_ALONE(pushes_without_a_pop_are_bounded)
{
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    int most = (1 << 20) + 100;
    for (int i = 0; i < most; i++)
        if (PUSH_A("again") != i)
            CHECK(0);
    uint64_t bytes = gnomon__heap_bytes();
    CHECK(bytes < 64u << 20);
    for (int i = most; i-- > 0;)
        if (POP() != i)
            CHECK(0);
    CHECK_EQ(POP(), -1);
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "again"), 1024); /* as deep as gnomon goes */
    gnomon_profile_free(p);
}

/* ---- No memory ------------------------------------------------------------ */

/* One of everything; levels are right, or say that there is none. */
static void use_all(void)
{
    nvtxDomainHandle_t lib = DOMAIN_A("lib"), more = DOMAIN_A("more");
    LABEL(lib, 1, "label");
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.size = sizeof a;
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = STRING_A(lib, "text");
    for (uint32_t i = 0; i < 2; i++) {
        a.category = i;
        int first = DOMAIN_PUSH(lib, &a), second = DOMAIN_PUSH(more, &a);
        CHECK((first == 0 || first == -1) && (second == 0 || second == -1));
        CHECK_EQ(DOMAIN_POP(more), second);
        CHECK_EQ(DOMAIN_POP(lib), first);
    }
    wchar_t wide[1001];
    wmemset(wide, 0xfc, 1000);
    wide[1000] = 0;
    FUNCTION(CORE, MarkW, nvtxMarkW_impl_fntype)(wide);
    MARK_A("mark");
    END(START_A("range"));
    int level = PUSH_A("outer");
    for (int i = 0; i < 40; i++)
        PUSH_A("deep");
    for (int i = 0; i < 40; i++)
        POP();
    CHECK_EQ(POP(), level);
    FUNCTION(CUDA, NameCuDeviceA, nvtxNameCuDeviceA_fakeimpl_fntype)(0, "zero");
}

static void *use_on_thread(void *unused)
{
    use_all();
    return unused;
}

/* On a thread. */
static int use_without(uint64_t failing)
{
    pthread_t thread;
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    gnomon__test_fail_allocation(failing);
    if (pthread_create(&thread, NULL, use_on_thread, NULL) ||
        pthread_join(thread, NULL))
        return ALLOCATION_HARMED;
    int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    use_all(); /* and afterwards all is well */
    gnomon_profile *p = live_snapshot("keeper");
    CHECK(live_count(p, "deep") >= 40);
    CHECK(live_count(p, "text") >= 2);
    gnomon_profile_free(p);
    return test_failures ? ALLOCATION_HARMED
           : came        ? ALLOCATION_CAME
                         : ALLOCATION_NEVER_CAME;
}

TEST(each_allocation_may_fail)
{
    CHECK(fail_each_allocation(use_without) > 12);
}

/* A text for which there was no memory does not count towards the limit. */
TEST(names_come_again_with_memory)
{
    gnomon_attach(&keeper, NULL, NULL);
    start_with(ROOM);
    PUSH_A("first");                    /* the thread has its room */
    for (int i = 0; i <= 130000; i++) { /* the limit */
        char text[] = {(char)('a' + i % 26), (char)('a' + i / 26 % 26),
                       (char)('a' + i / 676 % 26), (char)('a' + i / 17576), 0};
        gnomon__test_fail_allocation(1);
        PUSH_A(text);
        POP();
    }
    gnomon__test_fail_allocation(0);
    PUSH_A("some");
    POP();
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "some"), 1);
    gnomon_profile_free(p);
}
#endif
