/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions by which tests make the calls of os_calls.h fail; empty in the
 * installed library. Each counts, then fails or makes the real call.
 *
 * One fault is set at a time. Calls of any thread count, also those of a
 * thread of ours that runs meanwhile. */
#define GNOMON__OS_CALLS_THEMSELVES
#include "platform/os_calls.h"

#include <stddef.h>

#ifdef GNOMON_TESTING

#include <string.h>

#include "platform/atomic.h"
#include "platform/memory.h"
#include "platform/os.h"

static struct call_fault {
    const char *name;
    uint64_t first, many, seen;
    int error;
} fault;

void gnomon__test_fail_calls(const char *name, uint64_t n, uint64_t many,
                             int error)
{
    store_relaxed(&fault.first, 0);
    store_relaxed(&fault.name, name);
    store_relaxed(&fault.many, many);
    store_relaxed(&fault.error, error);
    store_relaxed(&fault.seen, 0);
    store_release(&fault.first, n); /* pairs with call_fails */
}

static void (*at_call)(void);

void gnomon__test_at_calls(void (*act)(void))
{
    store_release(&at_call, act); /* pairs with call_fails */
}

uint64_t gnomon__test_calls(void)
{
    return load_relaxed(&fault.seen);
}

/* The error this call is to fail with; 0: none. */
static int call_fails(const char *name, int usual)
{
    uint64_t first = load_acquire(&fault.first), seen;
    const char *which = load_relaxed(&fault.name);
    void (*act)(void) = load_acquire(&at_call);
    if (act != NULL)
        act();
    if (first == 0 || (which != NULL && strcmp(which, name) != 0))
        return 0;
    seen = add_relaxed(&fault.seen, 1) + 1;
    if (seen < first || seen - first >= load_relaxed(&fault.many))
        return 0;
    int error = load_relaxed(&fault.error);
    return error != 0 ? error : usual;
}

#define OS_CALL(name, type, failed, usual, parameters, args) \
    type gnomon__test_##name parameters \
    { \
        int error = call_fails(#name, usual); \
        return error != 0 ? (failed) : name args; \
    }
GNOMON__OS_CALLS(OS_CALL)

static const char *const call_names[] = {
#define OS_CALL_NAME(name, type, failed, usual, parameters, args) #name,
    GNOMON__OS_CALLS(OS_CALL_NAME)};

const char *gnomon__test_call_name(size_t i)
{
    return i < sizeof call_names / sizeof *call_names ? call_names[i] : NULL;
}

uint64_t gnomon__test_hang_ns = 60 * GNOMON__HANG_NS;

/* Profilers and exports use libc's heap: their calls in tests. */
void *gnomon__test_calloc(size_t count, size_t bytes);
void *gnomon__test_realloc(void *old, size_t bytes);

void *gnomon__test_calloc(size_t count, size_t bytes)
{
    return gnomon__test_allocation_fails() ? NULL : calloc(count, bytes);
}

void *gnomon__test_realloc(void *old, size_t bytes)
{
    return gnomon__test_allocation_fails() ? NULL : realloc(old, bytes);
}

#endif
