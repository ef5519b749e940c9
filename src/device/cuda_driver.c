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
static gnomon__os_once cuda_once = GNOMON__OS_ONCE(GNOMON__OS_OWN_CUDA);

static const char *library_name(void)
{
    const char *given =
        gnomon__os_is_secure() ? NULL : getenv("GNOMON_CUDA_LIBRARY");
    return given && *given ? given : "libcuda.so.1";
}

/* By memcpy: ISO C has no cast from an object's pointer to a function's. */
static void cuda_find_symbol(void *library, const char *symbol, void *call)
{
    void *address = gnomon__os_symbol(library, symbol);
    memcpy(call, &address, sizeof address);
}

static void cuda_load(void)
{
    const char *name = library_name(), *why;
    int version = 0;
    void *library = gnomon__os_library(name, &why);
    if (!library) {
        snprintf(cuda_load_error, sizeof cuda_load_error, "%s", why);
        return;
    }
#define FIND(name, symbol, parameters) \
    cuda_find_symbol(library, symbol, &cuda_calls.name);
    CUDA_CALLS(FIND)
    CUDA_NEWER_CALLS(FIND)
#undef FIND
    int code = cuda_calls.DriverGetVersion
                   ? cuda_calls.DriverGetVersion(&version)
                   : CUDA_OK;
    if (code == CUDA_STUB_LIBRARY) {
        snprintf(cuda_load_error, sizeof cuda_load_error,
                 "%s is the stub that programs are linked with: take its "
                 "folder out of LD_LIBRARY_PATH",
                 name);
        return;
    }
    if (code || (cuda_calls.DriverGetVersion && version < OLDEST)) {
        snprintf(cuda_load_error, sizeof cuda_load_error,
                 "%s is for CUDA %d.%d: 11.4 is the oldest that can be used",
                 name, version / 1000, version % 1000 / 10);
        return;
    }
#define REQUIRE(name, symbol, parameters) \
    if (!cuda_calls.name && !*cuda_load_error) \
        snprintf(cuda_load_error, sizeof cuda_load_error, "%s has no %s", \
                 library_name(), symbol);
    CUDA_CALLS(REQUIRE)
#undef REQUIRE
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

int gnomon__cuda_chosen_device(void)
{
    static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0"};
    const char *given =
        gnomon__os_is_secure() ? NULL : getenv("GNOMON_CUDART_LIBRARY");
    for (size_t i = 0; i <= sizeof runtimes / sizeof *runtimes; i++) {
        const char *name = i ? runtimes[i - 1] : given;
        void *library = name && *name ? gnomon__os_library_loaded(name) : NULL;
        int (*get)(int *) = NULL;
        int device = 0;
        if (library)
            cuda_find_symbol(library, "cudaGetDevice", &get);
        if (get && !get(&device))
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
