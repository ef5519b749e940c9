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

static call_entry *table; /* open addressing; a power of two of entries */
static size_t table_room, table_count;
#ifdef Py_GIL_DISABLED
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&table_lock)
#define UNLOCK() pthread_mutex_unlock(&table_lock)
#else
#define LOCK() (void)0
#define UNLOCK() (void)0
#endif

static size_t place_of(const call_entry *in, size_t room, const void *key)
{
    size_t i = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u;
    for (i = (i >> 20) & (room - 1); in[i].key && in[i].key != key;)
        i = (i + 1) & (room - 1);
    return i;
}

static int grow_table(void)
{
    size_t room = table_room ? 2 * table_room : 1024;
    call_entry *fresh = calloc(room, sizeof *fresh);
    if (!fresh)
        return 0;
    for (size_t i = 0; i < table_room; i++)
        if (table[i].key)
            fresh[place_of(fresh, room, table[i].key)] = table[i];
    free(table);
    table = fresh;
    table_room = room;
    return 1;
}

/* Regions of the pool need no look for the module that they are in. */
static gnomon_region *new_region(void)
{
    static gnomon_region pool[POOL];
    static size_t used;
    return used < POOL ? &pool[used++] : calloc(1, sizeof(gnomon_region));
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
    if (state->describe_call)
        said = PyObject_CallFunctionObjArgs(state->describe_call, what, NULL);
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
    LOCK();
    size_t at = table_room ? place_of(table, table_room, key) : 0;
    if (table_room && table[at].key) {
        gnomon_region *region = table[at].region;
        UNLOCK();
        return region;
    }
    UNLOCK();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    gnomon_region *region = describe(state, what);
    PyErr_Restore(type, value, trace);
    LOCK();
    if (2 * table_count >= table_room && !grow_table()) {
        UNLOCK();
        return NULL; /* it is described again next time */
    }
    at = place_of(table, table_room, key);
    if (!table[at].key) {
        if (key == what)
            Py_INCREF(what);
        table[at] = (call_entry){key, region};
        table_count++;
    }
    region = table[at].region;
    UNLOCK();
    return region;
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
    if (stack->round != round_now) {
        end_calls(stack); /* what was open when calls were switched off */
        stack->round = round_now;
    }
    if (stack->lost || (stack->count == stack->room && !grow_stack(stack))) {
        stack->lost++;
        return;
    }
    if (__builtin_expect(binding_worker_waits, 0))
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
    if (here->is_naming || here->in_callback || stack->round != round_now)
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

static PyObject *call_calls_on(PyObject *module, PyObject *describe_call)
{
    binding_state *state = binding_state_of(module);
    static int has_key;
    if (!has_key && pthread_key_create(&stack_key, free_stack))
        return PyErr_NoMemory();
    has_key = 1;
    Py_INCREF(describe_call);
    Py_XDECREF(state->describe_call);
    state->describe_call = describe_call;
    Py_BEGIN_ALLOW_THREADS(void)
    gnomon_spec(NULL, 0); /* reads $GNOMON */
    Py_END_ALLOW_THREADS
    if (!is_on)
        round_now++;
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
