/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names that programs give to threads, devices, streams and other objects by NVTX. The
 * calling thread gets its name in gnomon. All other names become metadata of the run,
 * with the key "nvtx.KIND.ID". Any thread. gnomon_metadata is a control call, so names
 * that are given inside a profiler's callback are lost.
 *
 * Invariant: at most MAX_RESOURCES names are kept, so that a program that names an
 * event in each step does not use ever more memory. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "inject/nvtx.h"
#include "platform/json.h"
#include "platform/os.h"

#define MAX_RESOURCES 1024u
#define MAX_TEXT 256u

static uint32_t resources_kept;

/* `format`: of the key. */
static __attribute__((format(printf, 2, 3))) void
keep_resource(const char *name, const char *format, ...)
{
    char key[128], json[6 * MAX_TEXT + 3]; /* an escape is \u0000 at most */
    va_list of;
    if (!load_relaxed(&gnomon_enabled) ||
        !gnomon__inject_reserve(&resources_kept, MAX_RESOURCES,
                                "objects have names: the rest are not kept"))
        return;
    va_start(of, format);
    vsnprintf(key, sizeof key, format, of);
    va_end(of);
    if (!name)
        name = "(null)";
    gnomon__json_quote(name, strnlen(name, MAX_TEXT), json, sizeof json);
    (void)gnomon_metadata(key, json);
}

/* `thread`: the system's thread id. */
static void name_thread(uint64_t thread, const char *name)
{
    if (thread == (uint64_t)gnomon__os_thread_id())
        gnomon_thread_name(name);
    else
        keep_resource(name, "nvtx.thread.%" PRIu64, thread);
}

/* A pair of callbacks, of text and of wide text. */
#define NAMED(function, type, call) \
    static void NVTX_API function##_a(type what, const char *name) \
    { \
        call; \
    } \
    GNOMON__INJECT_WIDE(void, function##_w, (type what, const wchar_t *wide), \
                        function##_a(what, text.text))
#define NAMED_HANDLE(function, kind) \
    NAMED(function, void *, \
          keep_resource(name, "nvtx." kind ".0x%" PRIxPTR, (uintptr_t)what))

NAMED(name_os_thread, uint32_t, name_thread(what, name))
NAMED(name_cu_device, int, keep_resource(name, "nvtx.cuda_device.%d", what))
NAMED_HANDLE(name_cu_context, "cuda_context")
NAMED_HANDLE(name_cu_stream, "cuda_stream")
NAMED_HANDLE(name_cu_event, "cuda_event")
NAMED_HANDLE(name_cl_device, "opencl_device")
NAMED_HANDLE(name_cl_context, "opencl_context")
NAMED_HANDLE(name_cl_queue, "opencl_queue")
NAMED_HANDLE(name_cl_memory, "opencl_memory")
NAMED_HANDLE(name_cl_sampler, "opencl_sampler")
NAMED_HANDLE(name_cl_program, "opencl_program")
NAMED_HANDLE(name_cl_event, "opencl_event")

/* ---- Resources of a domain ------------------------------------------------ */

static void name_resource(const gnomon__inject_domain *domain,
                          const nvtxResourceAttributes_t *a, const char *name)
{
    uint64_t value = a->identifier.ullValue;
    pthread_t self = pthread_self();
    if (a->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE)
        name_thread(value, name);
    else if (a->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX &&
             memcmp(&value, &self, sizeof value) == 0)
        gnomon_thread_name(name);
    else
        /* Other types are known to their domain only. */
        keep_resource(name, "nvtx.%.40s%sresource.%" PRIx32 ".0x%" PRIx64,
                      domain->text, *domain->text ? "." : "",
                      (uint32_t)a->identifierType, value);
}

static nvtxResourceHandle_t NVTX_API
resource_create(nvtxDomainHandle_t handle, nvtxResourceAttributes_t *a)
{
    gnomon__inject_domain *domain = gnomon__inject_domain_at(handle);
    gnomon__inject_text text;
    if (!a || a->size < offsetof(nvtxResourceAttributes_t, message) +
                            sizeof a->message)
        return NULL;
    gnomon__inject_message(&text, a->messageType, a->message);
    name_resource(domain, a, text.text);
    gnomon__inject_text_free(&text);
    return (nvtxResourceHandle_t)(void *)domain; /* unused, but not NULL */
}

/* ---- Tables --------------------------------------------------------------- */

#define BOTH(module, name, function) \
    GNOMON__INJECT_CALL(module, name##A, function##_a), \
        GNOMON__INJECT_CALL(module, name##W, function##_w)

const gnomon__inject_call gnomon__inject_resources[] = {
    BOTH(CORE, NameOsThread, name_os_thread),
    GNOMON__INJECT_CALL(CORE2, DomainResourceCreate, resource_create),
    BOTH(CUDA, NameCuDevice, name_cu_device),
    BOTH(CUDA, NameCuContext, name_cu_context),
    BOTH(CUDA, NameCuStream, name_cu_stream),
    BOTH(CUDA, NameCuEvent, name_cu_event),
    BOTH(CUDART, NameCudaDevice, name_cu_device),
    BOTH(CUDART, NameCudaStream, name_cu_stream),
    BOTH(CUDART, NameCudaEvent, name_cu_event),
    BOTH(OPENCL, NameClDevice, name_cl_device),
    BOTH(OPENCL, NameClContext, name_cl_context),
    BOTH(OPENCL, NameClCommandQueue, name_cl_queue),
    BOTH(OPENCL, NameClMemObject, name_cl_memory),
    BOTH(OPENCL, NameClSampler, name_cl_sampler),
    BOTH(OPENCL, NameClProgram, name_cl_program),
    BOTH(OPENCL, NameClEvent, name_cl_event),
    {.function = NULL}};
