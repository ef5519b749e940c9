/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds and loads CUPTI. A process must not have two: where the host has one already,
 * as PyTorch does, that one is taken. Then those that the loader finds by name, then
 * those beside CUDA's runtime and in the toolkit's folder. $GNOMON_CUPTI_LIBRARY names
 * the only one to try; it is ignored in a process with more rights than its user.
 *
 * A CUPTI of a later generation of CUDA than the driver's does not work with it, so it
 * is passed over. CUDA is initialized first, which CUPTI would do too. */
#include "device/cupti_driver.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_driver.h"
#include "device/cupti_records.h"
#include "platform/atomic.h"
#include "platform/os.h"

const gnomon__cupti_symbols gnomon__cupti_symbol = {
#define CUPTI_SYMBOL(name, symbol, parameters) symbol,
    CUPTI_CALLS(CUPTI_SYMBOL) CUPTI_NEWER_CALLS(CUPTI_SYMBOL)
#undef CUPTI_SYMBOL
};

static gnomon__cupti_calls cupti_calls;
static const gnomon__cupti_calls *cupti_loaded;
static uint32_t cupti_version;
static char cupti_trouble[512];
static char cupti_owner[64]; /* as CUPTI names the subscriber before us */

/* ---- One library --------------------------------------------------------------- */

/* The generation of CUDA that a version of CUPTI is of. */
static int cupti_generation(uint32_t version)
{
    if (version >= 10000)
        return (int)(version / 10000);
    return version > GNOMON__CUPTI_11_8 ? 12 : 11;
}

/* Why its calls, all of which are there or one is `missing`, cannot be used, in
 * cupti_trouble; 0: they can. */
static int cupti_is_useless(const char *name, const char *missing)
{
    int driver = 0; /* it does not say */
    uint32_t version = 0;
    int code = cupti_calls.GetVersion ? cupti_calls.GetVersion(&version) : 0;
    (void)gnomon__cuda()->DriverGetVersion(&driver);
    driver /= 1000;
    if (code)
        snprintf(cupti_trouble, sizeof cupti_trouble,
                 "%s: %s: error %d: it does not work with this driver", name,
                 gnomon__cupti_symbol.GetVersion, code);
    else if (cupti_calls.GetVersion && version < GNOMON__CUPTI_11_8)
        snprintf(cupti_trouble, sizeof cupti_trouble,
                 "%s is of version %u, or a stub that programs are linked "
                 "with: CUDA 11.8 has the oldest that can be used (18)",
                 name, (unsigned)version);
    else if (missing)
        snprintf(cupti_trouble, sizeof cupti_trouble, "%s has no %s", name,
                 missing);
    else if (driver > 0 && cupti_generation(version) > driver)
        snprintf(cupti_trouble, sizeof cupti_trouble,
                 "%s is of CUDA %d, and the driver is for CUDA %d: take "
                 "an older one",
                 name, cupti_generation(version), driver);
    else
        cupti_version = version;
    return !cupti_version;
}

/* One that is of no use is left: a CUPTI that stays keeps the right one out. */
static int cupti_take(void *library, const char *name)
{
    const char *why;
    cupti_version = 0;
    const char *missing = gnomon__calls_find(
        library, &gnomon__cupti_symbol,
        offsetof(gnomon__cupti_symbols, SetThreadIdType) / sizeof(char *),
        sizeof gnomon__cupti_symbol / sizeof(char *), &cupti_calls);
    int is_useless = cupti_is_useless(name, missing);
    if (is_useless || gnomon__os_library(name, &why)) /* stays from now on */
        gnomon__os_library_close(library);
    return !is_useless;
}

static int cupti_open(const char *name)
{
    const char *why;
    void *library = gnomon__os_library_to_try(name, &why);
    if (!library) {
        if (!*cupti_trouble) /* the first is the likeliest */
            snprintf(cupti_trouble, sizeof cupti_trouble, "%s", why);
        return 0;
    }
    return cupti_take(library, name);
}

/* ---- All of them ----------------------------------------------------------------- */

static const char *const cupti_names[] = {
    "libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8",
    "libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so"};
#define CUPTI_NAMES (sizeof cupti_names / sizeof *cupti_names)

/* The loader knows a library by the name in it, which is one of these. -1: there are, and
 * none can be used. */
static int cupti_take_loaded(void)
{
    int found = 0;
    for (size_t i = 0; i < CUPTI_NAMES && found <= 0; i++) {
        void *library = gnomon__os_library_loaded(cupti_names[i]);
        if (library)
            found = cupti_take(library, cupti_names[i]) ? 1 : -1;
    }
    return found;
}

/* In the folder of a toolkit, or of a wheel of the runtime. */
static int cupti_open_in(const char *folder)
{
    static const char *const below[] = {"extras/CUPTI/lib64",
                                        "extras/CUPTI/lib", "../cuda_cupti/lib",
                                        "lib64", "lib"};
    char path[PATH_MAX];
    for (size_t i = 0; folder && *folder && i < sizeof below / sizeof *below;
         i++)
        for (size_t k = 0; k < CUPTI_NAMES; k++) {
            int n = snprintf(path, sizeof path, "%s/%s/%s", folder, below[i],
                             cupti_names[k]);
            if (n > 0 && (size_t)n < sizeof path && cupti_open(path))
                return 1;
        }
    return 0;
}

/* Beside CUDA's runtime, where that is a library. */
static int cupti_open_beside_runtime(void)
{
    char folder[PATH_MAX];
    size_t at = 0;
    for (void *runtime; (runtime = gnomon__cuda_runtime(&at));) {
        const void *inside = gnomon__os_symbol(runtime, "cudaGetDeviceCount");
        if (!inside)
            continue;
        gnomon__os_beside(inside, "..", folder, sizeof folder);
        if (cupti_open_in(folder))
            return 1;
    }
    return 0;
}

/* What the environment says is not asked in a process with more rights than its
 * user. */
static int cupti_search(void)
{
    int is_secure = gnomon__os_is_secure();
    const char *given = is_secure ? NULL : getenv("GNOMON_CUPTI_LIBRARY");
    if (given && *given)
        return cupti_open(given);
    int is_loaded = cupti_take_loaded();
    if (is_loaded)
        return is_loaded > 0;
    for (size_t i = 0; i < CUPTI_NAMES; i++)
        if (cupti_open(cupti_names[i]))
            return 1;
    if (cupti_open_beside_runtime() ||
        (!is_secure && (cupti_open_in(getenv("CUDA_HOME")) ||
                        cupti_open_in(getenv("CUDA_PATH")))) ||
        cupti_open_in("/usr/local/cuda"))
        return 1;
    size_t used = strlen(cupti_trouble);
    snprintf(cupti_trouble + used, sizeof cupti_trouble - used,
             ": name it in $GNOMON_CUPTI_LIBRARY");
    return 0;
}

/* Asked before any CUPTI is: without a driver and a GPU that of CUDA 13.2 calls itself
 * until the stack ends, even if only its version is asked. 0: why not is in
 * cupti_trouble. */
static int driver_is_ready(void)
{
    const gnomon__cuda_calls *cu = gnomon__cuda();
    const char *symbol = gnomon__cuda_symbol.Init;
    int devices = 0, code = cu ? cu->Init(0) : CUDA_OK;
    if (cu && !code) {
        symbol = gnomon__cuda_symbol.DeviceGetCount;
        code = cu->DeviceGetCount(&devices);
    }
    if (!cu)
        snprintf(cupti_trouble, sizeof cupti_trouble, "no CUDA driver: %s",
                 gnomon__cuda_load_error());
    else if (code)
        snprintf(cupti_trouble, sizeof cupti_trouble,
                 "the CUDA driver says %s: %s (%d)", symbol,
                 gnomon__cuda_result_name(code), code);
    else if (!devices)
        snprintf(cupti_trouble, sizeof cupti_trouble,
                 "the CUDA driver sees no GPU");
    return devices > 0;
}

const gnomon__cupti_calls *gnomon__cupti_load(const char **why)
{
    if (!cupti_loaded) {
        *cupti_trouble = 0;
        int cancel = gnomon__os_cancel_off();
        if (driver_is_ready() && cupti_search())
            store_release(&cupti_loaded, &cupti_calls);
        gnomon__os_cancel_back(cancel);
    }
    *why = cupti_loaded ? NULL : cupti_trouble;
    return cupti_loaded;
}

const gnomon__cupti_calls *gnomon__cupti(void)
{
    return load_acquire(&cupti_loaded);
}

void gnomon__cupti_calls_are(const gnomon__cupti_calls *calls)
{
    store_release(&cupti_loaded, calls ? calls : &cupti_calls);
}

uint32_t gnomon__cupti_version(void)
{
    return gnomon__cupti() ? cupti_version : 0;
}

/* ---- Names of CUDA's calls ------------------------------------------------------------- */

/* What a call does is seen from its name, as CUPTI tells it. So calls of later versions
 * of CUDA are known too, and no list of numbers is needed. */
#define UNUSED_IDS 64u /* so many without a name: there are no more */

static uint8_t cupti_classes[2][GNOMON__CUPTI_IDS];

/* Without cuda, cu or cu64. */
static const char *cupti_stem(const char *name)
{
    static const char *const heads[] = {"cuda", "cu64", "cu"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(name, heads[i], strlen(heads[i])) == 0)
            return name + strlen(heads[i]);
    return name;
}

/* Whether the stem begins with one of these words, each of which ends in a blank. */
static int is_of(const char *words, const char *stem)
{
    for (size_t n; (n = strcspn(words, " ")) != 0; words += n + 1)
        if (strncmp(stem, words, n) == 0)
            return 1;
    return 0;
}

/* The first line that fits. Calls that only ask for something, or choose a context, are
 * noise: a framework makes several of them for each launch. */
static const struct {
    enum gnomon__cupti_class is;
    const char *words;
} cupti_stems[] = {
    {GNOMON__CUPTI_LAUNCH, "LaunchCooperativeKernelMultiDevice "},
    {GNOMON__CUPTI_KERNEL_LAUNCH, "LaunchKernel LaunchCooperativeKernel "},
    {GNOMON__CUPTI_LAUNCH, "Launch GraphLaunch Memcpy Memset MemPrefetch "
                           "MemBatchDecompress "},
    {GNOMON__CUPTI_CAPTURE_BEGINS, "StreamBeginCapture "},
    {GNOMON__CUPTI_CAPTURE_ENDS, "StreamEndCapture "},
    {GNOMON__CUPTI_NOISE,
     "CtxGet CtxPopCurrent CtxPushCurrent CtxSetCurrent DeviceGet "
     "DevicePrimaryCtxGetState DriverGetVersion EventQuery FuncGet GetDevice "
     "GetDriverEntryPoint GetError GetExportTable GetFuncBySymbol GetKernel "
     "GetLastError GetProcAddress KernelGet Occupancy PeekAtLastError "
     "PointerGetAttribute RuntimeGetVersion StreamGet StreamIsCapturing "
     "StreamQuery ThreadExchangeStreamCaptureMode "},
    {GNOMON__CUPTI_OTHER, "Graph "},
};

enum gnomon__cupti_class gnomon__cupti_class_of_name(const char *name)
{
    const char *stem = cupti_stem(name);
    for (size_t i = 0; i < sizeof cupti_stems / sizeof *cupti_stems; i++)
        if (is_of(cupti_stems[i].words, stem))
            return cupti_stems[i].is;
    return strstr(stem, "Synchronize") || strstr(stem, "WaitEvent")
               ? GNOMON__CUPTI_WAIT
               : GNOMON__CUPTI_OTHER;
}

static const char *cupti_raw_name(int is_driver, uint32_t id)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *name = NULL;
    if (!cupti ||
        cupti->GetCallbackName(is_driver ? CUPTI_DRIVER_API : CUPTI_RUNTIME_API,
                               id, &name))
        return NULL;
    return name;
}

void gnomon__cupti_names_read(void)
{
    for (int is_driver = 0; is_driver < 2; is_driver++) {
        uint32_t unused = 0;
        for (uint32_t id = 1; id < GNOMON__CUPTI_IDS && unused < UNUSED_IDS;
             id++) {
            const char *name = cupti_raw_name(is_driver, id);
            unused = name ? 0 : unused + 1;
            cupti_classes[is_driver][id] =
                (uint8_t)(name ? gnomon__cupti_class_of_name(name)
                               : GNOMON__CUPTI_UNKNOWN);
        }
    }
}

enum gnomon__cupti_class gnomon__cupti_class_of(int is_driver, uint32_t id)
{
    return id < GNOMON__CUPTI_IDS
               ? (enum gnomon__cupti_class)cupti_classes[is_driver != 0][id]
               : GNOMON__CUPTI_UNKNOWN;
}

/* The runtime's names end in the version of CUDA that brought the call, as _v7000.
 * The driver's _v2 is a part of the name. */
static size_t cupti_name_length(const char *name)
{
    size_t n = strlen(name);
    const char *version = strrchr(name, '_');
    if (version && version[1] == 'v' &&
        strspn(version + 2, "0123456789") >= 4 &&
        version[2 + strspn(version + 2, "0123456789")] == 0)
        n = (size_t)(version - name);
    if (n > 5 && (strncmp(name + n - 5, "_ptsz", 5) == 0 ||
                  strncmp(name + n - 5, "_ptds", 5) == 0))
        n -= 5;
    return n;
}

int gnomon__cupti_name(int is_driver, uint32_t id, char *text, size_t size)
{
    const char *name = cupti_raw_name(is_driver, id);
    if (!name)
        return 0;
    snprintf(text, size, "%.*s", (int)cupti_name_length(name), name);
    return 1;
}

/* ---- One of several subscribers --------------------------------------------------------- */

/* Each of CUPTI's older calls becomes that of our subscriber. */
static gnomon__cupti_calls several_calls;
static void *several_handle; /* the subscriber; NULL: none */
static cupti_requested *our_requested;
static cupti_completed *our_completed;

/* The older call, what it takes, the newer one, and what that is given. */
#define CALLS_OF_SEVERAL(X) \
    X(GetTimestamp, (uint64_t * ns), GetTimestampV2, ns) \
    X(Enable, (uint32_t kind), EnableV2, kind, NULL) \
    X(Disable, (uint32_t kind), DisableV2, kind, NULL) \
    X(GetNextRecord, (uint8_t * buffer, size_t valid, void **record), \
      GetNextRecordV2, buffer, valid, record) \
    X(GetNumDropped, (void *context, uint32_t stream, size_t *count), \
      GetNumDroppedV2, context, stream, count) \
    X(SetAttribute, (int attribute, size_t *size, void *value), \
      SetAttributeV2, attribute, size, value) \
    X(SetThreadIdType, (int type), SetAttributeV2, CUPTI_THREAD_IDS, \
      &(size_t){sizeof type}, &type) \
    X(RegisterTimestamp, (uint64_t(*now)(void)), SetAttributeV2, CUPTI_CLOCK, \
      &(size_t){sizeof now}, &now) \
    X(EnableRuntimeApi, (uint32_t id, uint8_t enable), EnableRuntimeApiV2, id, \
      enable) \
    X(EnableDriverApi, (uint32_t id, uint8_t enable), EnableDriverApiV2, id, \
      enable)

#define CALL_OF_SEVERAL(name, parameters, call, ...) \
    static cupti_result several_##name parameters \
    { \
        return several_calls.call(several_handle, __VA_ARGS__); \
    }
CALLS_OF_SEVERAL(CALL_OF_SEVERAL)

static void several_requested(uint8_t **buffer, size_t *size, size_t *most,
                              void *info)
{
    (void)info;
    our_requested(buffer, size, most);
}

static void several_completed(uint8_t *buffer, size_t size, size_t valid,
                              void *info)
{
    (void)info;
    our_completed(NULL, 0, buffer, size, valid);
}

static cupti_result several_register(cupti_requested *requested,
                                     cupti_completed *completed)
{
    our_requested = requested;
    our_completed = completed;
    return several_calls.RegisterCallbacksV2(several_handle, several_requested,
                                             several_completed);
}

/* By the newer call, which tells whose CUPTI is if it is not free. */
static int subscribe_v2(void **subscriber, cupti_callback *callback,
                        int is_one_of_several)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const cupti_subscriber_params params = {
        .size = cupti_version < GNOMON__CUPTI_13_2
                    ? offsetof(cupti_subscriber_params, is_one_of_several)
                    : sizeof params,
        .name = "gnomon",
        .owner = cupti_owner,
        .owner_size = sizeof cupti_owner,
        .is_one_of_several = is_one_of_several != 0};
    *cupti_owner = 0;
    return cupti->SubscribeV2
               ? cupti->SubscribeV2(subscriber, callback, NULL, &params)
               : CUPTI_NOT_SUPPORTED;
}

int gnomon__cupti_is_for_several(void)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *missing = cupti->SubscribeV2 ? NULL : "";
#define NEED(call, symbol, parameters) missing = cupti->call ? missing : symbol;
    CUPTI_CALLS_OF_ONE(NEED)
#undef NEED
    return !missing && gnomon__cupti_version() >= GNOMON__CUPTI_13_4 &&
           !gnomon__cupti_is_pytorch_here();
}

int gnomon__cupti_is_pytorch_here(void)
{
    return gnomon__os_library_loaded("libtorch_cpu.so") != NULL;
}

int gnomon__cupti_join(void **subscriber, cupti_callback *callback,
                       int is_one_of_several)
{
    void *other = NULL;
    int code = is_one_of_several
                   ? subscribe_v2(subscriber, callback, 1)
                   : gnomon__cupti()->Subscribe(subscriber, callback, NULL);
    if (code == CUPTI_TWO_SUBSCRIBERS && !is_one_of_several &&
        !subscribe_v2(&other, callback, 0))        /* asks for its name */
        (void)gnomon__cupti()->Unsubscribe(other); /* it just left */
    if (code || !is_one_of_several)
        return code;
    several_handle = *subscriber;
    several_calls = *gnomon__cupti();
    several_calls.RegisterCallbacks = several_register;
#define PUT_CALL(name, ...) several_calls.name = several_##name;
    CALLS_OF_SEVERAL(PUT_CALL)
#undef PUT_CALL
    gnomon__cupti_calls_are(&several_calls);
    return CUPTI_OK;
}

void gnomon__cupti_leave(void *subscriber)
{
    (void)gnomon__cupti()->Unsubscribe(subscriber);
    if (several_handle)
        gnomon__cupti_calls_are(NULL);
    several_handle = NULL;
}

int gnomon__cupti_is_one_of_several(void)
{
    return several_handle != NULL;
}

/* ---- Errors ------------------------------------------------------------------------ */

/* Which other profiler may own CUPTI: by the name that it gave CUPTI, or by variables of
 * the environment. */
static const char *owner_of_cupti(void)
{
    if (*cupti_owner)
        return cupti_owner;
    if (getenv("NSYS_PROFILING_SESSION_ID"))
        return "nsys";
    return getenv("CUDA_INJECTION64_PATH")
               ? "the tool that $CUDA_INJECTION64_PATH names"
               : "";
}

static const struct {
    int result;
    const char *text;
} cupti_advice[] = {
    {CUPTI_NOT_COMPATIBLE,
     "another profiler in this process uses CUPTI in a way that excludes "
     "gnomon: run one of the two in another process"},
    {CUPTI_NOT_INITIALIZED,
     "there is no GPU, or no driver that this CUPTI works with"},
    {CUPTI_HARDWARE_BUSY,
     "another process uses what it needs of the GPU: end the other "
     "profiler"},
    {CUPTI_VIRTUALIZED, "it does not work on this virtual GPU"},
    {CUPTI_NO_PRIVILEGES,
     "the driver allows it to administrators only: load the nvidia "
     "module with NVreg_RestrictProfilingToAdminUsers=0, or give the "
     "process CAP_SYS_ADMIN"},
    {CUPTI_VIRTUALIZED_NO_PRIVILEGES,
     "the host of this virtual GPU must allow profiling in it"},
    {CUPTI_CONFIDENTIAL, "it does not work with confidential computing"},
};

void gnomon__cupti_explain(char *text, size_t size, const char *symbol,
                           int result)
{
    const gnomon__cupti_calls *cupti = gnomon__cupti();
    const char *name = NULL, *advice = NULL;
    for (size_t i = 0; i < sizeof cupti_advice / sizeof *cupti_advice; i++)
        if (cupti_advice[i].result == result)
            advice = cupti_advice[i].text;
    if (!cupti || cupti->GetResultString(result, &name) || !name)
        name = "an unknown error";
    if (result == CUPTI_TWO_SUBSCRIBERS ||
        (result == CUPTI_MAX_LIMIT_REACHED &&
         strcmp(symbol, gnomon__cupti_symbol.Subscribe) == 0))
        snprintf(text, size, "another profiler owns CUPTI%s%s (%s: %s)",
                 *owner_of_cupti() ? ": " : "", owner_of_cupti(), symbol, name);
    else
        snprintf(text, size, "%s: %s (%d)%s%s", symbol, name, result,
                 advice ? ": " : "", advice ? advice : "");
}
