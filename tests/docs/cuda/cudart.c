/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* That runtime on the fake driver: a copy takes a nanosecond for 100 bytes, a set for
 * 110. The fake CUPTI
 * sees it, where one is loaded by then. */
#include "cuda_runtime_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../../fake_cuda/fake_cuda.h"
#include "../../fake_cupti/fake_cupti.h"

#define EXPORT __attribute__((visibility("default")))

static const fake_cuda *cuda;
static void *driver;

__attribute__((constructor)) static void load(void)
{
    driver = dlopen(getenv("FAKE_CUDA_DRIVER"), RTLD_NOW);
    cuda = driver ? dlsym(driver, "fake_cuda_table") : NULL;
}

static void *call(const char *name)
{
    void *found = dlsym(driver, name);
    if (!found)
        abort();
    return found;
}

EXPORT int cudaMalloc(void **memory, size_t size)
{
    *memory = NULL; /* nothing touches it */
    cuda->context(0);
    return size == 0;
}

EXPORT int cudaStreamCreate(cudaStream_t *stream)
{
    *stream = cuda->stream(cuda->context(0));
    return 0;
}

EXPORT int cudaStreamSynchronize(cudaStream_t stream)
{
    int (*create)(void **, unsigned), (*record)(void *, void *),
        (*wait)(void *);
    void *event, *found;
    memcpy(&create, (found = call("cuEventCreate"), &found), sizeof create);
    memcpy(&record, (found = call("cuEventRecord"), &found), sizeof record);
    memcpy(&wait, (found = call("cuEventSynchronize"), &found), sizeof wait);
    return create(&event, 0) || record(event, stream) || wait(event);
}

static const fake_cupti *cupti_now(void)
{
    const char *path = getenv("GNOMON_CUPTI_LIBRARY");
    void *tool = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    return tool ? dlsym(tool, "fake_cupti_table") : NULL;
}

static uint32_t number_of(cudaStream_t stream)
{
    uint32_t number = 0;
    cuda->stream_number(NULL, stream, 0, &number);
    return number;
}

/* A call whose record of work has no times yet. */
static int work(const char *name, const fake_record *record, uint64_t ns,
                cudaStream_t stream)
{
    const fake_cupti *cupti = cupti_now();
    if (cupti) {
        cupti->begin(FAKE_RUNTIME_API, name, cuda->context(0));
        cupti->timed_work(record, ns);
    }
    cuda->launch(stream, ns);
    if (cupti)
        cupti->end(0);
    return 0;
}

EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind,
                           cudaStream_t stream)
{
    const fake_record r = {.copy = {.kind = FAKE_MEMCPY,
                                    .direction = 1,
                                    .from = 1,
                                    .to = 3,
                                    .bytes = size,
                                    .context = 1,
                                    .stream = number_of(stream)}};
    (void)to;
    (void)from;
    (void)kind;
    return work("cudaMemcpyAsync", &r, size / 100, stream);
}

EXPORT int cudaMemsetAsync(void *memory, int value, size_t size,
                           cudaStream_t stream)
{
    const fake_record r = {.set = {.kind = FAKE_MEMSET,
                                   .bytes = size,
                                   .context = 1,
                                   .stream = number_of(stream),
                                   .memory = 3}};
    (void)memory;
    (void)value;
    return work("cudaMemsetAsync", &r, size / 110, stream);
}
