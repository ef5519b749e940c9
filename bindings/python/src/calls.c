/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every call of Python, and of a function in C, as a scope: below the mark around it, and
 * so in the table of `advanced` for that mark. From Python 3.12 on by sys.monitoring,
 * which all threads obey; before, by a profile function of each thread.
 *
 * A call's region has its file, line and name as cProfile says them. Regions are found by
 * the address of the code, or of the function in C, and live as long as the process.
 *
 * Invariant: a thread's stack of tokens has one for each call that began here and is not
 * over. Calls that began before the switching on are below it, so a return on an empty
 * stack is one of these. A generator's frame ends at each value, while a scope in it stays
 * open: binding_end. */
#include "calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define POOL 4096 /* regions in the module's own memory */

static pthread_key_t stack_key;
static unsigned round_now; /* how often calls were switched on */
static int is_on;

/* ---- Regions -------------------------------------------------------------- */

typedef struct {
    const void *key;       /* a code object, a descriptor, or a C function */
    gnomon_region *region; /* NULL: a call of gnomon's own */
} call_entry;

/* Found without a lock: an entry never changes once its key is there, and tables that
 * became too small stay, which takes as much memory again. */
typedef struct {
    size_t room; /* a power of two */
    call_entry entries[];
} call_table;

static call_table *table;
static size_t table_count;
static binding_mutex table_lock; /* for all that changes the table */

/* The entry of the key, or the free one for it. */
static call_entry *place_of(call_table *in, const void *key)
{
    size_t i = (((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u) >> 20;
    for (;; i++) {
        call_entry *entry = &in->entries[i & (in->room - 1)];
        const void *its = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
        if (!its || its == key)
            return entry;
    }
}

static int grow_table(void)
{
    size_t room = table ? 2 * table->room : 1024;
    call_table *fresh = calloc(1, sizeof *fresh + room * sizeof(call_entry));
    if (!fresh)
        return 0;
    fresh->room = room;
    for (size_t i = 0; table && i < table->room; i++)
        if (table->entries[i].key)
            *place_of(fresh, table->entries[i].key) = table->entries[i];
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE);
    return 1;
}

/* Puts a region there, unless another thread was first. NULL: there is no memory, or no
 * region is recorded. */
static gnomon_region *put_region(const void *key, PyObject *what,
                                 gnomon_region *region)
{
    gnomon_region *found = NULL;
    BINDING_LOCK(&table_lock);
    if ((table && 2 * table_count < table->room) || grow_table()) {
        call_entry *entry = place_of(table, key);
        if (!entry->key) {
            if (key == what)
                Py_INCREF(what);
            entry->region = region;
            __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
            table_count++;
        }
        found = entry->region;
    }
    BINDING_UNLOCK(&table_lock);
    return found;
}

/* Regions of the pool need no look for the module that they are in. */
static gnomon_region *new_region(void)
{
    static gnomon_region pool[POOL];
    static size_t used;
    size_t next = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    return next < POOL ? &pool[next] : calloc(1, sizeof(gnomon_region));
}

static const char *keep_item(PyObject *tuple, Py_ssize_t i)
{
    PyObject *item = PyTuple_GetItem(tuple, i);
    PyObject *bytes = item && item != Py_None ? binding_utf8(item) : NULL;
    char *copy = bytes ? strdup(PyBytes_AsString(bytes)) : NULL;
    Py_XDECREF(bytes);
    return copy;
}

/* What gnomon/_calls.py says of it: (name, file, line), or None for gnomon's own. */
static gnomon_region *describe(binding_state *state, PyObject *what)
{
    PyObject *said = NULL;
    gnomon_region *region = NULL;
    binding_here.is_naming = 1;
    PyObject *describe_call =
        __atomic_load_n(&state->describe_call, __ATOMIC_ACQUIRE);
    if (describe_call)
        said = PyObject_CallFunctionObjArgs(describe_call, what, NULL);
    binding_here.is_naming = 0;
    if (said && said != Py_None && (region = new_region())) {
        region->mask = GNOMON_MASK_UNSEEN;
        region->struct_size = sizeof *region;
        region->abi = GNOMON_ABI;
        region->kind = GNOMON_KIND_PYTHON;
        region->name = keep_item(said, 0);
        region->file = keep_item(said, 1);
        region->function = region->name;
        region->line = (uint32_t)PyLong_AsLong(PyTuple_GetItem(said, 2));
    }
    Py_XDECREF(said);
    PyErr_Clear();
    return region;
}

/* The region of a call; NULL: none is recorded. `what` is kept alive where it is the
 * key. An exception that is set stays. */
static gnomon_region *region_of(binding_state *state, const void *key,
                                PyObject *what)
{
    call_table *now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    const call_entry *entry = now ? place_of(now, key) : NULL;
    if (entry && __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key)
        return entry->region;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    gnomon_region *region = describe(state, what);
    PyErr_Restore(type, value, trace);
    return put_region(key, what, region);
}

/* ---- A thread's open calls ------------------------------------------------ */

/* At the thread's end. */
static void free_stack(void *of_thread)
{
    binding_calls *stack = of_thread;
    free(stack->open);
    memset(stack, 0, sizeof *stack);
}

static int grow_stack(binding_calls *stack)
{
    size_t room = stack->room ? 2 * stack->room : 64;
    struct binding_call *more = realloc(stack->open, room * sizeof *more);
    if (!more)
        return 0;
    stack->open = more;
    stack->room = room;
    pthread_setspecific(stack_key, stack);
    return 1;
}

static void end_calls(binding_calls *stack)
{
    while (stack->count)
        gnomon_end_alone(stack->open[--stack->count].token);
    stack->lost = 0;
}

void binding_call_begins(binding_state *state, const void *key, PyObject *what)
{
    binding_local *here = &binding_here;
    binding_calls *stack = &here->calls;
    if (here->is_naming || here->in_callback ||
        !__atomic_load_n(&is_on, __ATOMIC_RELAXED))
        return;
    unsigned round = __atomic_load_n(&round_now, __ATOMIC_RELAXED);
    if (stack->round != round) {
        end_calls(stack); /* what was open when calls were switched off */
        stack->round = round;
    }
    if (stack->lost || (stack->count == stack->room && !grow_stack(stack))) {
        stack->lost++;
        return;
    }
    if (__builtin_expect(binding_waits() != 0, 0))
        (void)binding_wake();
    gnomon_region *region = region_of(state, key, what);
    struct binding_call *call = &stack->open[stack->count++];
    call->token = 0;
    if (region && __atomic_load_n(&region->mask, __ATOMIC_RELAXED)) {
        here->inside = state;
        call->token = gnomon_begin(region);
        here->inside = NULL;
        call->position = call->token ? ++here->open : 0;
    }
}

void binding_call_ends(binding_state *state)
{
    binding_local *here = &binding_here;
    binding_calls *stack = &here->calls;
    if (here->is_naming || here->in_callback ||
        stack->round != __atomic_load_n(&round_now, __ATOMIC_RELAXED))
        return;
    if (stack->lost) {
        stack->lost--;
    } else if (stack->count) {
        const struct binding_call *call = &stack->open[--stack->count];
        if (call->token) {
            here->inside = state;
            binding_end(here, call->token, call->position);
            here->inside = NULL;
        }
    }
}

void binding_calls_forked(void)
{
    binding_here.calls.count = binding_here.calls.lost = 0;
}

/* The key of a function in C: its address, which all bound methods of it share. A
 * descriptor is its own key. */
const void *binding_c_function(PyObject *callable)
{
    if (PyCFunction_Check(callable))
        return (const void *)(uintptr_t)PyCFunction_GetFunction(callable);
    return Py_TYPE(callable) == &PyMethodDescr_Type ? callable : NULL;
}

/* ---- On and off ----------------------------------------------------------- */

static int has_key;

static void make_key(void)
{
    has_key = !pthread_key_create(&stack_key, free_stack);
}

static PyObject *call_calls_on(PyObject *module, PyObject *describe_call)
{
    binding_state *state = binding_state_of(module);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    PyObject *none = NULL;
    pthread_once(&once, make_key);
    if (!has_key)
        return PyErr_NoMemory();
    Py_INCREF(describe_call); /* the same each time */
    if (!__atomic_compare_exchange_n(&state->describe_call, &none,
                                     describe_call, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        Py_DECREF(describe_call);
    Py_BEGIN_ALLOW_THREADS(void)
    gnomon_spec(NULL, 0); /* reads $GNOMON */
    Py_END_ALLOW_THREADS
    if (!__atomic_load_n(&is_on, __ATOMIC_RELAXED))
        __atomic_fetch_add(&round_now, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&is_on, 1, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

void binding_calls_stop(void)
{
    __atomic_store_n(&is_on, 0, __ATOMIC_RELAXED);
    end_calls(&binding_here.calls);
}

static PyObject *call_calls_off(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    binding_calls_stop();
    Py_RETURN_NONE;
}

PyMethodDef binding_call_methods[] = {
    {"_calls_on", call_calls_on, METH_O, NULL},
    {"_calls_off", call_calls_off, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
