/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds mimalloc for the heap in memory.c, which calls this once.
 *
 * The distribution's libmimalloc exports malloc, free and operator new, so
 * it must never be linked: on a link line it replaces the host's allocator
 * in the whole process. Loaded with RTLD_LOCAL it replaces nothing, as the
 * host's names are looked up in the global scope; its functions are found by
 * dlsym. Its own calls between mi_ functions do look into the global scope
 * first: where the host brought a mimalloc, that copy is used, and no second
 * one is loaded. The library is never closed. */
#include "platform/mimalloc.h"

#include "platform/memory.h"
#include "platform/os.h"
#include "platform/tls.h"

/* The sanitizers know libc's heap only. Under them ours is libc's, so that our
 * overruns and leaks show, and blocks handed from thread to thread do not. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GNOMON__SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define GNOMON__SANITIZED 1
#endif
#endif

#if defined(GNOMON_WITH_MIMALLOC) && GNOMON_WITH_MIMALLOC && \
    !defined(GNOMON__SANITIZED)

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static __thread int is_loading_mimalloc GNOMON__TLS;

/* ISO C has no cast from an object pointer to a function pointer; POSIX
 * promises that the bits are the same. */
static int bind_symbol(void *library, const char *name, void *function)
{
    void *found = gnomon__os_symbol(library, name);
    if (found != NULL)
        memcpy(function, &found, sizeof found);
    return found != NULL;
}

static gnomon__heap *bind_mimalloc(void *library)
{
    gnomon__heap heap = {"", NULL, NULL, NULL}, *kept;
    int (*version_of)(void), version;
    if (!bind_symbol(library, "mi_calloc", &heap.zalloc) ||
        !bind_symbol(library, "mi_realloc", &heap.resize) ||
        !bind_symbol(library, "mi_free", &heap.release) ||
        !bind_symbol(library, "mi_version", &version_of))
        return NULL;
    version = version_of();
    snprintf(heap.name, sizeof heap.name, "mimalloc %d.%d.%d", version / 100,
             version / 10 % 10, version % 10);
    kept = heap.zalloc(1, sizeof heap);
    if (kept != NULL)
        *kept = heap;
    return kept;
}

gnomon__heap *gnomon__mimalloc(void)
{
    static const char *const names[] = {"libmimalloc.so.2", "libmimalloc.so.3",
                                        "libmimalloc.so.2.0", "libmimalloc.so"};
    gnomon__heap *heap;
    const char *why;
    size_t i;
    void *library;
    sigset_t all, before;
    /* Not mimalloc here: it reads the environment, and maps tens of
     * megabytes at once. */
    if (is_loading_mimalloc || gnomon__os_is_secure() ||
        gnomon__os_mappable_bytes() < UINT64_MAX || gnomon__os_locks_pages())
        return NULL;
    /* Signals are blocked: a handler's mark may take the loader's lock too,
     * and if it came before the lock's owner was written it would wait for
     * its own thread. */
    int cancel = gnomon__os_cancel_off();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_loading_mimalloc = 1;
    heap = bind_mimalloc(RTLD_DEFAULT);
    for (i = 0; heap == NULL && i < sizeof names / sizeof *names; i++) {
        library = gnomon__os_library(names[i], &why);
        if (library != NULL)
            heap = bind_mimalloc(library);
    }
    is_loading_mimalloc = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    gnomon__os_cancel_back(cancel);
    return heap;
}

#else

gnomon__heap *gnomon__mimalloc(void)
{
    return NULL;
}

#endif
