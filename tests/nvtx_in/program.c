/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with NVTX's marks that knows nothing of gnomon: its words are what it
 * does, in order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>

static nvtxEventAttributes_t attributes(int type)
{
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = type;
    return a;
}

static nvtxEventAttributes_t ascii(const char *text)
{
    nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_ASCII);
    a.message.ascii = text;
    return a;
}

static nvtxEventAttributes_t registered(nvtxStringHandle_t text)
{
    nvtxEventAttributes_t a = attributes(NVTX_MESSAGE_TYPE_REGISTERED);
    a.message.registered = text;
    return a;
}

/* 3 of outer, each with 2 of inner: prints the levels of the first. */
static void nested(void)
{
    for (int i = 0; i < 3; i++) {
        int outer = nvtxRangePushA("outer"), inner = 0, out;
        for (int k = 0; k < 2; k++) {
            inner = nvtxRangePushA("inner");
            nvtxRangePop();
        }
        out = nvtxRangePop();
        if (i == 0)
            printf("%d %d %d\n", outer, inner, out);
    }
}

/* A place of each kind of text, with and without domain and category. */
static void kinds(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxDomainHandle_t wide = nvtxDomainCreateW(L"b\u00fccher");
    nvtxStringHandle_t text = nvtxDomainRegisterStringA(lib, "registered");
    nvtxStringHandle_t wide_text =
        nvtxDomainRegisterStringW(wide, L"\u2713 \U0001F600");
    nvtxNameCategoryA(5, "five");
    nvtxNameCategoryW(6, L"s\u00eds");
    nvtxDomainNameCategoryA(lib, 3, "io");
    nvtxDomainNameCategoryW(wide, 3, L"caf\u00e9");

    nvtxRangePushA("plain");
    nvtxRangePushW(L"gr\u00f6\u00dfe");
    nvtxRangePop();
    nvtxRangePop();
    nvtxEventAttributes_t a = ascii("with category");
    a.category = 5;
    nvtxRangePushEx(&a);
    nvtxRangePop();
    a.category = 6;
    nvtxDomainRangeEnd(NULL, nvtxRangeStartEx(&a));
    a = registered(text);
    for (uint32_t category = 0; category < 4; category += 3) {
        a.category = category;
        nvtxDomainRangePushEx(lib, &a);
        nvtxDomainRangePop(lib);
    }
    a.category = 7; /* which nobody named */
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
    a.category = 0;
    nvtxDomainRangePushEx(wide, &a); /* another's */
    nvtxDomainRangePop(wide);
    a = registered(wide_text);
    a.category = 3;
    nvtxDomainRangePushEx(wide, &a);
    nvtxDomainRangePop(wide);
    a = attributes(NVTX_MESSAGE_TYPE_UNICODE);
    a.message.unicode = L"inline \u00fc";
    nvtxRangeEnd(nvtxRangeStartEx(&a));
    nvtxRangeEnd(nvtxRangeStartA("started"));
    nvtxRangeEnd(nvtxRangeStartW(L"started \u00fc"));
    /* Named late, and anew. */
    a = ascii("late");
    a.category = 9;
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
    nvtxDomainNameCategoryA(lib, 9, "nine");
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
    /* One pointer in two domains and categories. */
    a = ascii("pointer");
    nvtxRangePushEx(&a);
    nvtxDomainRangePushEx(lib, &a);
    a.category = 3;
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
    nvtxDomainRangePop(lib);
    nvtxRangePop();
    /* Destroyed, and created again. */
    nvtxDomainDestroy(lib);
    lib = nvtxDomainCreateA("lib");
    a = registered(text);
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
}

static void marks(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t a = ascii("epoch");
    nvtxDomainNameCategoryA(lib, 1, "twin");
    nvtxDomainNameCategoryA(lib, 2, "twin");
    nvtxRangePushA("around");
    for (int i = 0; i < 4; i++) {
        nvtxMarkA("tick");
        nvtxMarkW(L"t\u00fcck");
        a.category = (uint32_t)(1 + i % 2); /* two of one name */
        nvtxDomainMarkEx(lib, &a);
    }
    nvtxRangePop();
    /* Of each type: 1, -2, 3.5, 4, -5, 6.5. */
    for (int type = 1; type <= 6; type++) {
        a = ascii("loss");
        a.payloadType = type;
        if (type == 1)
            a.payload.ullValue = 1;
        else if (type == 2)
            a.payload.llValue = -2;
        else if (type == 3)
            a.payload.dValue = 3.5;
        else if (type == 4)
            a.payload.uiValue = 4;
        else if (type == 5)
            a.payload.iValue = -5;
        else
            a.payload.fValue = 6.5f;
        nvtxMarkEx(&a);
    }
    a.payloadType = (int32_t)0xDFBD0009; /* of an extension */
    nvtxMarkEx(&a);
}

/* ---- Threads -------------------------------------------------------------- */

#define THREADS 8
static pthread_barrier_t start;
static nvtxDomainHandle_t threads_domain;
static nvtxStringHandle_t threads_text;
static nvtxRangeId_t passed[THREADS][64];
static int rounds;

/* Rounds of: registered { inline { started elsewhere, ended here } } mark. */
static void *thread_body(void *argument)
{
    int me = (int)(size_t)argument;
    char text[32];
    nvtxEventAttributes_t a = registered(threads_text);
    snprintf(text, sizeof text, "worker %d", me);
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), text);
    pthread_barrier_wait(&start);
    for (int i = 0; i < rounds; i++) {
        snprintf(text, sizeof text, "part %c", 'a' + i % 4); /* one buffer */
        nvtxDomainRangePushEx(threads_domain, &a);
        nvtxRangePushA(text);
        nvtxRangePop();
        nvtxDomainRangePop(threads_domain);
        nvtxMarkA("round");
        if (i < 64)
            passed[me][i] = nvtxRangeStartA("across");
    }
    pthread_barrier_wait(&start);
    for (int i = 0; i < 64 && i < rounds; i++)
        nvtxRangeEnd(passed[(me + 1) % THREADS][i]);
    return NULL;
}

static void threads(int n)
{
    pthread_t thread[THREADS];
    rounds = n;
    threads_domain = nvtxDomainCreateA("threads");
    threads_text = nvtxDomainRegisterStringA(threads_domain, "step");
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, thread_body, (void *)i))
            exit(3);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* Threads by the dozen, one after the other, each with a deep stack. */
static void *deep_body(void *unused)
{
    for (int i = 0; i < 100; i++)
        nvtxRangePushA("deep");
    for (int i = 0; i < 100; i++)
        nvtxRangePop();
    return unused;
}

static void deep(int n)
{
    pthread_t thread;
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread, NULL, deep_body, NULL) ||
            pthread_join(thread, NULL))
            exit(3);
}

/* n of inner in n / 1000 of outer, and as many from start to end. */
static void many(int n)
{
    nvtxStringHandle_t outer = nvtxDomainRegisterStringA(NULL, "outer");
    nvtxStringHandle_t inner = nvtxDomainRegisterStringA(NULL, "inner");
    nvtxEventAttributes_t a = registered(outer), b = registered(inner);
    for (int i = 0; i < n; i++) {
        if (i % 1000 == 0)
            nvtxRangePushEx(&a);
        nvtxRangePushEx(&b);
        nvtxRangePop();
        nvtxRangeEnd(nvtxRangeStartA("range"));
        if (i % 1000 == 999)
            nvtxRangePop();
    }
}

/* ---- Trouble --------------------------------------------------------------- */

static void unbalanced(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t a = ascii("in lib");
    int first = nvtxRangePop();
    nvtxRangePushA("x");
    int other = nvtxDomainRangePop(lib), mine = nvtxRangePop();
    printf("%d %d %d %d\n", first, other, mine, nvtxRangePop());
    /* Each domain has its own stack. */
    nvtxRangePushA("around");
    int level = nvtxDomainRangePushEx(lib, &a);
    printf("%d %d", level, nvtxDomainRangePop(lib));
    printf(" %d\n", nvtxRangePop());
    nvtxRangeEnd(0);
    nvtxRangeEnd(12345);
}

/* An older end is one that inner ones of other domains do not outlive. */
static void interleaved(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t a = ascii("inner");
    nvtxRangePushA("outer");
    nvtxDomainRangePushEx(lib, &a);
    nvtxRangePop();
    usleep(2000);
    nvtxDomainRangePop(lib);
    nvtxRangePushA("after");
    nvtxRangePop();
}

/* The last of these runs into pages that nobody has. */
static void bad(void)
{
    nvtxEventAttributes_t a = ascii("never seen");
    nvtxDomainHandle_t none = nvtxDomainCreateA(NULL);
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxRangePushA(NULL);
    nvtxRangePushW(NULL);
    nvtxRangePushEx(NULL);
    a.size = 0;
    nvtxRangePushEx(&a);
    a.size = 8;
    nvtxDomainRangePushEx(none, &a);
    a.size = 1000;
    a.version = 77;
    a.messageType = 99;
    nvtxDomainRangePushEx(lib, &a);
    a = registered(NULL);
    nvtxDomainRangePushEx(lib, &a);
    nvtxDomainRangePop(lib);
    nvtxDomainRangePop(lib);
    nvtxDomainRangePop(none);
    for (int i = 0; i < 4; i++)
        nvtxRangePop();
    nvtxMarkA(NULL);
    nvtxMarkEx(NULL);
    nvtxRangeEnd(nvtxRangeStartEx(NULL));
    nvtxNameCategoryA(0, "none");
    nvtxNameCategoryA(1, NULL);
    nvtxDomainRegisterStringA(lib, NULL);
    nvtxDomainRegisterStringW(lib, NULL);
    nvtxDomainResourceCreate(lib, NULL);
    nvtxDomainDestroy(NULL);
    /* No code points, and no UTF-8. */
    wchar_t invalid[] = {0x110000, 0xD800, 'x', 0};
    nvtxRangePushW(invalid);
    nvtxRangePop();
    nvtxRangePushA("\xff\xfe");
    nvtxRangePop();
    char *longest = malloc(100001);
    wchar_t *wide = malloc(100001 * sizeof *wide);
    for (int i = 0; i < 100000; i++) {
        longest[i] = 'a';
        wide[i] = 0xfc;
    }
    longest[100000] = 0;
    wide[100000] = 0;
    nvtxRangePushA(longest);
    nvtxRangePop();
    nvtxRangePushW(wide);
    nvtxRangePop();
    free(longest);
    free(wide);
}

static void *named_as_resource(void *lib)
{
    nvtxResourceAttributes_t r;
    pthread_t self = pthread_self();
    memset(&r, 0, sizeof r);
    r.version = NVTX_VERSION;
    r.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX;
    memcpy(&r.identifier, &self, sizeof self);
    r.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    r.message.unicode = L"posix \u00fc";
    nvtxDomainResourceCreate(lib, &r);
    nvtxRangePushA("named");
    nvtxRangePop();
    return NULL;
}

static void names(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxResourceAttributes_t r;
    pthread_t thread;
    memset(&r, 0, sizeof r);
    r.version = NVTX_VERSION;
    r.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_HANDLE;
    r.identifier.ullValue = 0xabc;
    r.messageType = NVTX_MESSAGE_TYPE_ASCII;
    r.message.ascii = "a \"lock\"";
    nvtxRangePushA("named");
    nvtxNameOsThreadA((uint32_t)getpid(), "the first name");
    nvtxNameOsThreadW(1, L"init\u00fc");
    nvtxResourceHandle_t handle = nvtxDomainResourceCreate(lib, &r);
    if (!handle)
        puts("no handle");
    nvtxDomainResourceDestroy(handle);
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
    r.identifier.ullValue = (uint64_t)getpid();
    r.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    r.message.registered = nvtxDomainRegisterStringA(lib, "the main one");
    nvtxDomainResourceCreate(lib, &r);
    r.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX;
    r.identifier.ullValue = 1;
    r.messageType = 0;
    nvtxDomainResourceCreate(NULL, &r); /* of no domain, and no text */
    r.size = 4;
    if (nvtxDomainResourceCreate(lib, &r))
        puts("a handle");
    if (pthread_create(&thread, NULL, named_as_resource, lib) ||
        pthread_join(thread, NULL))
        exit(3);
    nvtxRangePop();
}

/* Waiting for a lock of the program's own, and a range pushed meanwhile. */
static void waits(void)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxSyncUserAttributes_t a;
    memset(&a, 0, sizeof a);
    a.version = NVTX_VERSION;
    a.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = "queue";
    nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(lib, &a);
    for (int i = 0; i < 3; i++) {
        nvtxDomainSyncUserAcquireStart(lock);
        nvtxRangePushA("spin");
        nvtxRangePop();
        if (i == 0)
            nvtxDomainSyncUserAcquireFailed(lock);
        else
            nvtxDomainSyncUserAcquireSuccess(lock);
        nvtxDomainSyncUserReleasing(lock);
    }
    nvtxDomainSyncUserDestroy(lock);
}

static void forks(void)
{
    nvtxRangePushA("parent");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        nvtxRangePushA("child");
        nvtxRangePop();
        nvtxRangePop();
        nvtxRangePushA("more");
        nvtxRangePop();
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", status);
    nvtxRangePop();
}

/* A number that is part of a word. */
static void put_fresh(char *text, size_t size, int i)
{
    snprintf(text, size, "fresh%d", i);
}

/* Names that never come again: past what is kept they are "(other)". */
static void fresh(int n)
{
    char text[32];
    for (int i = 0; i < n; i++) {
        put_fresh(text, sizeof text, i);
        nvtxRangePushA(text);
        nvtxRangePop();
    }
}

/* Each in two categories. */
static void fresh_twice(int n)
{
    char text[32] = "";
    nvtxEventAttributes_t a = ascii(text);
    for (int i = 0; i < 2 * n; i++) {
        put_fresh(text, sizeof text, i / 2);
        a.category = (uint32_t)(i % 2);
        nvtxRangePushEx(&a);
        nvtxRangePop();
    }
}

/* Each text is another, as PyTorch's emit_nvtx has them: n inline in one buffer,
 * and n each wide, registered, and as marks. */
static void torch(int n)
{
    char text[128];
    wchar_t wide[64];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text,
                 "aten::add, seq = %d, op_id = %d, sizes = [[2, 4], [], [1]], "
                 "input_op_ids = [(%d,0), (7,1)]",
                 i, i + 1, i);
        nvtxRangePushA(text);
        swprintf(wide, 64, L"AddBackward0, stashed seq=%d", i);
        nvtxRangePushW(wide);
        nvtxRangePop();
        snprintf(text, sizeof text, "aten::mul, op_id = %d", i);
        nvtxEventAttributes_t a =
            registered(nvtxDomainRegisterStringA(NULL, text));
        nvtxRangePushEx(&a);
        nvtxRangePop();
        snprintf(text, sizeof text, "aten::mul, seq = %d", i);
        nvtxMarkA(text);
        nvtxRangePop();
    }
}

/* What emit_nvtx of torch 1.0, 1.4, 1.10 and 2.x says of a product and its backward; and a
 * number that two threads have. */
static void *emit_one(void *text)
{
    nvtxRangePushA(text);
    nvtxRangePop();
    return NULL;
}

static void emitted(int n)
{
    static const char *const texts[] = {
        "mm, seq=5, sizes=[[2, 3], [3, 4]]", "MmBackward, stashed seq=5, seq=9",
        "mm, seq = 6", "MmBackward, seq = 6", "relu, seq = 0", /* no number */
        "ReluBackward, seq = 0", "aten::mm, seq = 7, sizes = [[2, 3], [3, 4]]",
        "aten::bmm, seq = 7, sizes = [[8, 2, 3], [8, 3, 4]]",
        "autograd::engine::evaluate_function: BmmBackward0, seq = 7",
        "BmmBackward0, seq = 7",
        /* clang-format off */
        "aten::addmm, seq = 0, op_id = 1, sizes = [[4], [2, 3], [3, 4], [], []], input_op_ids = [(3,0), (-1,-1)]",
        "aten::zeros, op_id = 2, sizes = []",
        "AddmmBackward0, seq = 0, op_id = 3, sizes = [[2, 4]], input_op_ids = []",
        /* clang-format on */
        "SumBackward0, seq = 77, op_id = 4"}; /* of no forward */
    static char one[] = "aten::exp, seq = 50, op_id = 9";
    static char other[] = "ExpBackward0, seq = 50, op_id = 9";
    pthread_t thread;
    for (int k = 0; k < n; k++) {
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            char text[256];
            snprintf(text, sizeof text, "%s", texts[i]);
            emit_one(text);
        }
        for (int i = 0; i < 3; i++) {
            char *text = i < 2 ? one : other;
            if (i != 1)
                emit_one(text);
            else if (pthread_create(&thread, NULL, emit_one, text) == 0)
                pthread_join(thread, NULL);
        }
    }
}

/* n iterations of 3 layers, each text in one buffer or on the heap, and each also
 * registered, wide, as a mark with a payload, and as a range. */
static void numbered(int n)
{
    char text[64];
    wchar_t wide[64];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "iteration %d", i);
        nvtxRangePushA(text);
        for (int k = 0; k < 3; k++) {
            char *name = malloc(32);
            snprintf(name, 32, "Layer %d", k);
            nvtxRangePushA(name);
            nvtxRangePop();
            free(name);
        }
        snprintf(text, sizeof text, "batch_%d", i);
        nvtxEventAttributes_t a =
            registered(nvtxDomainRegisterStringA(NULL, text));
        nvtxRangePushEx(&a);
        nvtxRangePop();
        swprintf(wide, 64, L"epoch %d \u00fc", i);
        nvtxRangePushW(wide);
        nvtxRangePop();
        snprintf(text, sizeof text, "sample %d", i);
        a = ascii(text);
        a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
        a.payload.iValue = i;
        nvtxMarkEx(&a);
        nvtxRangeId_t id = nvtxRangeStartA(text);
        nvtxRangePop();
        nvtxRangeEnd(id);
    }
    nvtxRangePushA("fp16");
    nvtxRangePushA("conv2d");
    nvtxRangePop();
    nvtxRangePop();
}

/* n of "iteration", each in a thread of its own, with a range of domain "io" that
 * the next one ends. */
static nvtxRangeId_t io_range;

static void *iteration_body(void *i)
{
    nvtxDomainHandle_t io = nvtxDomainCreateA("io");
    nvtxEventAttributes_t a = ascii("read");
    char text[64];
    snprintf(text, sizeof text, "iteration %d", (int)(size_t)i);
    nvtxDomainRangeEnd(io, io_range);
    io_range = nvtxDomainRangeStartEx(io, &a);
    nvtxRangePushA(text);
    nvtxRangePushA("forward");
    nvtxRangePop();
    nvtxRangePop();
    return NULL;
}

static void iterations(int n)
{
    pthread_t thread;
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread, NULL, iteration_body, (void *)(size_t)i) ||
            pthread_join(thread, NULL))
            exit(3);
}

__attribute__((constructor)) static void early(void)
{
    if (getenv("PROGRAM_EARLY")) {
        nvtxRangePushA("early");
        nvtxRangePop();
    }
}

__attribute__((destructor)) static void late(void)
{
    if (getenv("PROGRAM_EARLY")) {
        nvtxRangePushA("late");
        nvtxRangePop();
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *word;
        void (*run)(void);
        void (*run_n)(int);
    } words[] = {{"nested", nested, NULL},
                 {"kinds", kinds, NULL},
                 {"marks", marks, NULL},
                 {"threads=", NULL, threads},
                 {"deep=", NULL, deep},
                 {"many=", NULL, many},
                 {"unbalanced", unbalanced, NULL},
                 {"bad", bad, NULL},
                 {"interleaved", interleaved, NULL},
                 {"names", names, NULL},
                 {"waits", waits, NULL},
                 {"forks", forks, NULL},
                 {"fresh=", NULL, fresh},
                 {"fresh_twice=", NULL, fresh_twice},
                 {"torch=", NULL, torch},
                 {"emitted=", NULL, emitted},
                 {"numbered=", NULL, numbered},
                 {"iterations=", NULL, iterations}};
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
