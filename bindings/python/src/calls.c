/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every call of Python, and of a function in C, as a scope: below the mark around it, and
 * so in the table of `advanced` for that mark. From Python 3.12 on by sys.monitoring,
 * which all threads obey; before, by a profile function of each thread.
 *
 * A call's region has its file, line and name as cProfile says them. Regions are found by
 * the address of the code, or of the definition of the function in C, and live as long as
 * the process.
 *
 * Invariant: a thread's stack has an entry for each call that began here and is not over,
 * with its function; so an end whose function is not there is of a call that began before
 * the switching on, or that Python named otherwise. A generator's frame ends at each
 * value, while a scope in it stays open: binding_end. */
#include "calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define POOL 4096 /* regions in the module's own memory */

/* Whether an interpreter records calls. It outlives the interpreter, as entries of threads
 * lead here; then the next interpreter has it. */
typedef struct binding_switch {
    unsigned round; /* of all interpreters' switching on; 0: it is off */
    int is_taken;
    struct binding_switch *next;
} binding_switch;

static binding_switch *switches;
static unsigned rounds; /* how often calls were switched on */
static pthread_key_t stack_key;

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
/* For all that changes the table, and for the switches. */
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

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
static gnomon_region *put_region(const void *key, gnomon_region *region)
{
    gnomon_region *found = NULL;
    pthread_mutex_lock(&table_lock);
    if ((table && 2 * table_count < table->room) || grow_table()) {
        call_entry *entry = place_of(table, key);
        if (!entry->key) {
            entry->region = region;
            __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
            table_count++;
        }
        found = entry->region;
    }
    pthread_mutex_unlock(&table_lock);
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

static gnomon_region *region_from(PyObject *said)
{
    gnomon_region *region = new_region();
    if (region) {
        region->mask = GNOMON_MASK_UNSEEN;
        region->struct_size = sizeof *region;
        region->abi = GNOMON_ABI;
        region->kind = GNOMON_KIND_PYTHON;
        region->name = keep_item(said, 0);
        region->file = keep_item(said, 1);
        region->function = region->name;
        region->line = (uint32_t)PyLong_AsLong(PyTuple_GetItem(said, 2));
    }
    return region;
}

/* What the limited API keeps to itself: in all versions from 3.9 on these follow the head
 * of the object. They are used if the first function and method that are seen have them
 * there. */
typedef struct {
    PyObject head;
    PyMethodDef *definition;
    PyObject *self; /* also of a static one, whose type it is; or NULL */
} c_function;
typedef struct {
    PyObject head;
    PyObject *function;
} bound_method;

static int has_definitions;
static PyTypeObject *method_type; /* NULL: methods are not as above */

/* What gnomon/_calls.py says of it: (name, file, line, what has the key), or None for
 * gnomon's own. What has the key is kept: no other function gets its address. NULL: an
 * exception is set. A new reference. */
static PyObject *describe(binding_state *state, PyObject *what)
{
    PyObject *said = NULL;
    PyObject *describe_call =
        __atomic_load_n(&state->describe_call, __ATOMIC_ACQUIRE);
    PyObject *owner = NULL;
    if (PyCFunction_Check(what))
        owner = has_definitions ? ((c_function *)what)->self
                                : PyCFunction_GetSelf(what);
    binding_here.is_naming = 1;
    if (describe_call)
        said = PyObject_CallFunctionObjArgs(describe_call, what, owner, NULL);
    binding_here.is_naming = 0;
    return said;
}

/* The region of a call; NULL: none is recorded. An exception that is set stays. Where
 * describing fails, as at the limit of recursion, the next call is asked again. */
static gnomon_region *region_of(binding_state *state, const void *key,
                                PyObject *what)
{
    call_table *now = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    const call_entry *entry = now ? place_of(now, key) : NULL;
    if (entry && __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key)
        return entry->region;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    gnomon_region *region = NULL;
    PyObject *said = describe(state, what);
    if (said) {
        Py_INCREF(said == Py_None ? what : PyTuple_GetItem(said, 3));
        region = put_region(key, said == Py_None ? NULL : region_from(said));
        Py_DECREF(said);
    }
    if (PyErr_Occurred())
        binding_forget_error();
    PyErr_Restore(type, value, trace);
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

static int is_stale(const struct binding_call *call)
{
    return call->round != __atomic_load_n(&call->by->round, __ATOMIC_RELAXED);
}

void binding_call_begins(binding_state *state, const void *key, PyObject *what)
{
    binding_local *here = binding_local_here();
    binding_calls *stack = &here->calls;
    const binding_switch *by = __atomic_load_n(&state->calls, __ATOMIC_ACQUIRE);
    unsigned round = by ? __atomic_load_n(&by->round, __ATOMIC_RELAXED) : 0;
    if (here->is_naming || here->in_callback || !round)
        return;
    /* What was open when calls were switched off elsewhere. */
    while (stack->count && is_stale(&stack->open[stack->count - 1])) {
        gnomon_end_alone(stack->open[--stack->count].token);
        stack->lost = 0;
    }
    if (stack->lost || (stack->count == stack->room && !grow_stack(stack))) {
        stack->lost++;
        return;
    }
    if (__builtin_expect(binding_waits() != 0, 0))
        (void)binding_wake();
    gnomon_region *region = region_of(state, key, what);
    struct binding_call *call = &stack->open[stack->count++];
    *call = (struct binding_call){.key = key, .by = by, .round = round};
    if (region && __atomic_load_n(&region->mask, __ATOMIC_RELAXED)) {
        here->inside = state;
        call->token = gnomon_begin(region);
        here->inside = NULL;
        call->position = call->token ? ++here->open : 0;
    }
}

/* How many entries are below the innermost call of the key; -1: there is none. */
static ptrdiff_t below_call(const binding_calls *stack,
                            const binding_switch *by, const void *key)
{
    ptrdiff_t i = (ptrdiff_t)stack->count;
    while (--i >= 0 && stack->open[i].by == by)
        if (stack->open[i].key == key)
            return i;
    return -1;
}

void binding_call_ends(binding_state *state, const void *key)
{
    binding_local *here = binding_local_here();
    binding_calls *stack = &here->calls;
    const binding_switch *by = __atomic_load_n(&state->calls, __ATOMIC_ACQUIRE);
    if (here->is_naming || here->in_callback || !stack->count || !by ||
        is_stale(&stack->open[stack->count - 1]))
        return;
    if (stack->lost) {
        stack->lost--;
        return;
    }
    ptrdiff_t below = below_call(stack, by, key);
    here->inside = state;
    while (below >= 0 && (ptrdiff_t)stack->count > below) {
        const struct binding_call *call = &stack->open[--stack->count];
        if (call->token)
            binding_end(here, call->token, call->position);
    }
    here->inside = NULL;
}

void binding_calls_forked(void)
{
    binding_here.calls.count = binding_here.calls.lost = 0;
    (void)pthread_mutex_init(&table_lock, NULL);
}

/* ---- Functions in C ------------------------------------------------------- */

/* `method` is the function, bound to something. */
static void look_at_objects(PyObject *module, PyObject *function,
                            PyObject *method)
{
    PyObject *own = PyObject_GetAttrString(module, "_calls_on");
    if (own && ((c_function *)own)->definition == binding_call_methods)
        has_definitions = 1;
    if (((bound_method *)method)->function == function)
        method_type = Py_TYPE(method);
    Py_XDECREF(own);
}

/* All bound methods of a function share its definition. Functions of pybind11 share their
 * code, and have a definition each. A descriptor is its own key. */
const void *binding_c_function(PyObject **callable)
{
    if (Py_TYPE(*callable) == method_type)
        *callable = ((bound_method *)*callable)->function;
    if (Py_TYPE(*callable) == &PyMethodDescr_Type)
        return *callable;
    if (!PyCFunction_Check(*callable))
        return NULL;
    if (has_definitions)
        return ((c_function *)*callable)->definition;
    return (const void *)(uintptr_t)PyCFunction_GetFunction(*callable);
}

/* ---- On and off ----------------------------------------------------------- */

static int has_key;

static void make_key(void)
{
    has_key = !pthread_key_create(&stack_key, free_stack);
}

/* The switch of this interpreter. NULL: there is no memory. */
static binding_switch *take_switch(void)
{
    pthread_mutex_lock(&table_lock);
    binding_switch *own = switches;
    while (own && own->is_taken)
        own = own->next;
    if (!own && (own = calloc(1, sizeof *own))) {
        own->next = switches;
        switches = own;
    }
    if (own)
        own->is_taken = 1;
    pthread_mutex_unlock(&table_lock);
    return own;
}

static void give_switch(binding_switch *own)
{
    pthread_mutex_lock(&table_lock);
    own->is_taken = 0;
    pthread_mutex_unlock(&table_lock);
}

/* Threads of an interpreter without a global lock may come here at once. */
static binding_switch *switch_of(binding_state *state)
{
    binding_switch *none = NULL;
    binding_switch *own = __atomic_load_n(&state->calls, __ATOMIC_ACQUIRE);
    if (own || !(own = take_switch()))
        return own;
    if (__atomic_compare_exchange_n(&state->calls, &none, own, 0,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return own;
    give_switch(own);
    return none;
}

static PyObject *call_calls_on(PyObject *module, PyObject *args)
{
    binding_state *state = binding_state_of(module);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    PyObject *none = NULL, *describe_call, *method;
    if (!PyArg_ParseTuple(args, "OO:_calls_on", &describe_call, &method))
        return NULL;
    pthread_once(&once, make_key);
    binding_switch *own = switch_of(state);
    if (!has_key || !own)
        return PyErr_NoMemory();
    Py_INCREF(describe_call); /* the same each time */
    if (!__atomic_compare_exchange_n(&state->describe_call, &none,
                                     describe_call, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        Py_DECREF(describe_call);
    if (!has_definitions)
        look_at_objects(module, describe_call, method);
    PyErr_Clear(); /* of the look at our own objects */
    Py_BEGIN_ALLOW_THREADS(void)
    gnomon_spec(NULL, 0); /* reads $GNOMON */
    Py_END_ALLOW_THREADS
    if (!__atomic_load_n(&own->round, __ATOMIC_RELAXED))
        __atomic_store_n(&own->round,
                         __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

void binding_calls_stop(binding_state *state)
{
    binding_calls *stack = &binding_here.calls;
    binding_switch *own = __atomic_load_n(&state->calls, __ATOMIC_ACQUIRE);
    if (!own)
        return;
    __atomic_store_n(&own->round, 0, __ATOMIC_RELAXED);
    while (stack->count && stack->open[stack->count - 1].by == own) {
        gnomon_end_alone(stack->open[--stack->count].token);
        stack->lost = 0;
    }
}

void binding_calls_free(binding_state *state)
{
    binding_calls_stop(state);
    if (state->calls)
        give_switch(state->calls);
}

static PyObject *call_calls_off(PyObject *module, PyObject *unused)
{
    (void)unused;
    binding_calls_stop(binding_state_of(module));
    Py_RETURN_NONE;
}

PyMethodDef binding_call_methods[] = {
    {"_calls_on", call_calls_on, METH_VARARGS, NULL},
    {"_calls_off", call_calls_off, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
