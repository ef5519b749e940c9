/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Loads CUDA's driver, once for the process. Tests name another library in
 * $GNOMON_CUDA_LIBRARY, which is ignored in a process with more rights than its
 * user. Keeps its first failures, which threads that mark meet, for one of gnomon's own to
 * log. */
#include "device/cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/tool.h"
#include "platform/atomic.h"
#include "platform/error.h"
#include "platform/os_wait.h"

#define OLDEST 11040 /* 11.4, as cuDriverGetVersion returns it */

const gnomon__cuda_symbols gnomon__cuda_symbol = {
#define CUDA_NAME(name, symbol, parameters) symbol,
    CUDA_CALLS(CUDA_NAME) CUDA_NEWER_CALLS(CUDA_NAME)
#undef CUDA_NAME
};

static gnomon__cuda_calls cuda_calls;
static char cuda_load_error[256];
static int cuda_is_usable;
static gnomon__os_once cuda_once = GNOMON__OS_ONCE;

static const char *library_name(void)
{
    const char *given =
        gnomon__os_is_secure() ? NULL : getenv("GNOMON_CUDA_LIBRARY");
    return given && *given ? given : "libcuda.so.1";
}

/* By memcpy: ISO C has no cast from an object's pointer to a function's. */
const char *gnomon__calls_find(void *library, const void *symbols,
                               size_t needed, size_t count, void *calls)
{
    const char *const *symbol = symbols, *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        void *address = gnomon__os_symbol(library, symbol[i]);
        memcpy((char *)calls + i * sizeof address, &address, sizeof address);
        if (!address && i < needed && !missing)
            missing = symbol[i];
    }
    return missing;
}

static void cuda_load(void)
{
    const char *name = library_name(), *why, *missing = NULL;
    int version = OLDEST, code = CUDA_OK;
    void *library = gnomon__os_library(name, &why);
    if (library)
        missing = gnomon__calls_find(
            library, &gnomon__cuda_symbol,
            offsetof(gnomon__cuda_symbols, CtxGetId) / sizeof(char *),
            sizeof gnomon__cuda_symbol / sizeof(char *), &cuda_calls);
    if (cuda_calls.DriverGetVersion)
        code = cuda_calls.DriverGetVersion(&version);
    if (!library)
        snprintf(cuda_load_error, sizeof cuda_load_error, "%s", why);
    else if (code == CUDA_STUB_LIBRARY)
        snprintf(cuda_load_error, sizeof cuda_load_error,
                 "%s is the stub that programs are linked with: take its "
                 "folder out of LD_LIBRARY_PATH",
                 name);
    else if (code || version < OLDEST)
        snprintf(cuda_load_error, sizeof cuda_load_error,
                 "%s is for CUDA %d.%d: 11.4 is the oldest that can be used",
                 name, version / 1000, version % 1000 / 10);
    else if (missing)
        snprintf(cuda_load_error, sizeof cuda_load_error, "%s has no %s", name,
                 missing);
    cuda_is_usable = !*cuda_load_error;
}

const gnomon__cuda_calls *gnomon__cuda(void)
{
    gnomon__os_make_once(&cuda_once, cuda_load);
    return cuda_is_usable ? &cuda_calls : NULL;
}

const char *gnomon__cuda_load_error(void)
{
    return gnomon__cuda() ? NULL : cuda_load_error;
}

const char *gnomon__cuda_result_name(int result)
{
    const char *name = NULL;
    (void)cuda_calls.GetErrorName(result, &name); /* NULL: unknown */
    return name ? name : "an unknown error";
}

int gnomon__cuda_enter(void *context, int *mode)
{
    int result = cuda_calls.CtxPush(context);
    *mode = CUDA_CAPTURE_RELAXED;
    if (!result)
        cuda_calls.CaptureMode(mode);
    return result;
}

void gnomon__cuda_leave(int mode)
{
    void *popped;
    cuda_calls.CaptureMode(&mode);
    cuda_calls.CtxPop(&popped);
}

void *gnomon__cuda_runtime(size_t *at)
{
    static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0"};
    const char *given =
        gnomon__os_is_secure() ? NULL : getenv("GNOMON_CUDART_LIBRARY");
    void *library = NULL;
    for (; !library && *at <= sizeof runtimes / sizeof *runtimes; ++*at) {
        const char *name = *at ? runtimes[*at - 1] : given;
        library = name && *name ? gnomon__os_library_loaded(name) : NULL;
    }
    return library;
}

int gnomon__cuda_chosen_device(void)
{
    static const char *const symbol = "cudaGetDevice";
    size_t at = 0;
    for (void *library; (library = gnomon__cuda_runtime(&at));) {
        int (*get)(int *) = NULL;
        int device = 0;
        if (!gnomon__calls_find(library, &symbol, 1, 1, &get) && !get(&device))
            return device;
    }
    return 0;
}

/* ---- Failures ------------------------------------------------------------ */

/* The first failure for lack of a context, which is often temporary, and the first
 * failure of any other kind. */
static struct {
    int result; /* 0: none; -1: logged */
    const char *call;
} cuda_first_failures[2];

int gnomon__cuda_code(int result)
{
    if (result == CUDA_OK)
        return GNOMON_OK;
    if (result == CUDA_NOT_READY || result == CUDA_CAPTURE_IMPLICIT)
        return GNOMON_EBUSY;
    return result == CUDA_NO_DEVICE ? GNOMON_ENOENT : GNOMON_ESTATE;
}

int gnomon__cuda_failed(int result, const char *call)
{
    int none = 0, code = gnomon__cuda_code(result);
    int i = result != CUDA_NO_CONTEXT && result != CUDA_NOT_INITIALIZED;
    if (code && code != GNOMON_EBUSY &&
        !load_relaxed(&cuda_first_failures[i].result) &&
        cas_acq_rel(&cuda_first_failures[i].result, &none, result))
        store_release(&cuda_first_failures[i].call, call);
    return code;
}

/* What to do about a failure, after its line; "": nothing that is known. */
static const char *cuda_advice(int result)
{
    if (result == CUDA_NOT_INITIALIZED)
        return ": CUDA was not initialized at their scopes: call "
               "cudaSetDevice, or cuInit, before them";
    if (result == CUDA_NO_CONTEXT)
        return ": the thread had no context, and none could be borrowed: call "
               "cudaSetDevice on it before its scopes";
    return "";
}

void gnomon__cuda_log_failures(void)
{
    for (int i = 0; i < 2; i++) {
        const char *call = load_acquire(&cuda_first_failures[i].call);
        int result = load_relaxed(&cuda_first_failures[i].result);
        if (!call || result <= 0)
            continue;
        store_relaxed(&cuda_first_failures[i].result, -1);
        gnomon__log("%s: %s (%d): some device times are missing%s", call,
                    gnomon__cuda_result_name(result), result,
                    cuda_advice(result));
    }
}
