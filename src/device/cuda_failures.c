/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The first failures of CUDA's driver: kept where a thread that marks meets them, logged
 * by gnomon's own. */
#include "device/cuda.h"
#include "device/cuda_driver.h"
#include "platform/atomic.h"
#include "platform/error.h"

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
