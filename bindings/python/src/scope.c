/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon.scope: one object for each name, which is entered any number of times, also by
 * several threads and tasks at once. Off, entering it is one load and a branch.
 *
 * A scope that a task of asyncio opens belongs to the task. Other tasks of the thread
 * run while it waits; so it is a scope of the thread only while no scope of another
 * task is open there, and a range otherwise. Each `with` ends its own scope and no other,
 * in whichever order they end (binding_end).
 *
 * Invariant: an entry is in `entries` from __enter__ to its __exit__; only an entry
 * whose `token` is not 0 is put there. */
#include "binding.h"

#include <string.h>

#define CROWDED 16 /* entries past which gnomon.scope makes another object */

/* One execution. */
typedef struct {
    uint64_t token; /* of gnomon_begin, or a range */
    const void *thread;
    const void *task; /* NULL: none. An address, never followed */
    int is_range;
    unsigned forks;    /* binding_forks when it began */
    uint32_t position; /* for binding_end */
} scope_entry;

struct binding_scope {
    PyObject_HEAD gnomon_region *region;
    int kind;
    binding_state *state;
    PyObject *name;
    PyObject *category;
    size_t count, room;
    scope_entry *entries;
};

/* The region of a scope that was not entered yet: gnomon_region_get reads $GNOMON, which
 * is too early where a module is imported. */
static gnomon_region not_entered = {.mask = GNOMON_MASK_UNSEEN};

static gnomon_region *make_region(const binding_scope *self)
{
    gnomon_region *region = &not_entered;
    PyObject *category = NULL, *name = binding_utf8(self->name);
    if (name && self->category != Py_None)
        category = binding_utf8(self->category);
    if (name && (category || self->category == Py_None))
        region = binding_region_get(name, category, self->kind);
    Py_XDECREF(name);
    Py_XDECREF(category);
    return region;
}

gnomon_region *binding_region_of(PyObject *scope)
{
    binding_scope *self = (binding_scope *)scope;
    if (self->region == &not_entered) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        (void)
            binding_wake(); /* first: gnomon_region_get may wait for callbacks */
        self->region = make_region(self);
        PyErr_Restore(type, value, trace);
    }
    return self->region;
}

#ifdef Py_GIL_DISABLED
#include <pthread.h>
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&entries_lock)
#define UNLOCK() pthread_mutex_unlock(&entries_lock)
#else
#define LOCK() (void)0
#define UNLOCK() (void)0
#endif

/* ---- Enter and exit ------------------------------------------------------- */

static int keep_entry(binding_scope *self, scope_entry entry)
{
    int kept = 1;
    LOCK();
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 2;
        scope_entry *more =
            PyMem_Realloc(self->entries, room * sizeof *self->entries);
        kept = more != NULL;
        if (more) {
            self->entries = more;
            self->room = room;
        }
    }
    if (kept)
        self->entries[self->count++] = entry;
    UNLOCK();
    return kept;
}

static void end_entry(const scope_entry *entry)
{
    if (entry->forks != binding_forks)
        return; /* it is the parent's */
    if (entry->is_range) {
        gnomon_range_end(entry->token);
        return;
    }
    if (entry->task)
        binding_task_ends(entry->token);
    if (entry->thread == &binding_here)
        binding_end(&binding_here, entry->token, entry->position);
    else
        gnomon_end_alone(entry->token);
}

static void enter(binding_scope *self)
{
    int in_loop;
    gnomon_region *region = binding_region_of((PyObject *)self);
    if (!binding_wake()) {
        gnomon_end(gnomon_begin(region)); /* makes an unseen region known */
        return;
    }
    scope_entry entry = {0};
    entry.forks = binding_forks;
    entry.task = binding_task(self->state, &in_loop);
    entry.thread = &binding_here;
    binding_here.inside = self->state;
    if (binding_task_may_nest(entry.task, in_loop)) {
        entry.token = gnomon_begin(region);
        entry.position = entry.token ? ++binding_here.open : 0;
    } else {
        entry.is_range = 1;
        entry.token = gnomon_range_begin(region);
    }
    if (entry.token && !keep_entry(self, entry)) {
        end_entry(&entry); /* a scope that could not be ended */
    } else if (entry.token && entry.task && !entry.is_range) {
        binding_task_begins(entry.task, entry.token);
    }
    binding_here.inside = NULL;
}

static PyObject *scope_enter(PyObject *object, PyObject *unused)
{
    binding_scope *self = (binding_scope *)object;
    (void)unused;
    if (__atomic_load_n(&self->region->mask, __ATOMIC_RELAXED) |
        (uint32_t)binding_worker_waits)
        enter(self);
    Py_INCREF(object);
    return object;
}

/* The entry that this exit ends: the last of this thread and task; else the last of the
 * thread, as where a coroutine is closed outside of its task; else the last one. */
static size_t find_entry(const binding_scope *self, const void *task)
{
    size_t other = self->count;
    for (size_t i = self->count; i--;) {
        if (self->entries[i].thread != &binding_here)
            continue;
        if (self->entries[i].task == task)
            return i;
        if (other == self->count)
            other = i;
    }
    return other < self->count ? other : self->count - 1;
}

static void leave(binding_scope *self)
{
    int in_loop;
    const scope_entry *top = &self->entries[self->count - 1];
    const void *task = NULL;
    if (top->thread != &binding_here || top->task)
        task = binding_task(self->state, &in_loop);
    LOCK();
    size_t i = find_entry(self, task);
    scope_entry entry = self->entries[i];
    memmove(self->entries + i, self->entries + i + 1,
            (self->count - i - 1) * sizeof entry);
    self->count--;
    UNLOCK();
    binding_here.inside = self->state;
    end_entry(&entry);
    binding_here.inside = NULL;
}

static PyObject *scope_exit(PyObject *object, PyObject *const *args,
                            Py_ssize_t count)
{
    binding_scope *self = (binding_scope *)object;
    (void)args;
    (void)count;
    if (__builtin_expect(self->count != 0, 0))
        leave(self);
    Py_RETURN_NONE;
}

/* ---- The type ------------------------------------------------------------- */

/* As a decorator. What it makes of functions, coroutines and generators is in
 * gnomon/_decorate.py. */
static PyObject *scope_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *made = NULL, *function;
    if (keywords || !PyArg_ParseTuple(args, "O:scope", &function))
        return keywords ? PyErr_Format(PyExc_TypeError,
                                       "a scope decorates one function")
                        : NULL;
    PyObject *module = PyImport_ImportModule("gnomon._decorate");
    if (module)
        made = PyObject_CallMethod(module, "decorate", "OO", self, function);
    Py_XDECREF(module);
    return made;
}

static PyObject *scope_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    (void)type;
    (void)args;
    (void)keywords;
    return PyErr_Format(PyExc_TypeError, "call gnomon.scope(name)");
}

static void scope_free(PyObject *object)
{
    binding_scope *self = (binding_scope *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = self->count; i--;)
        end_entry(&self->entries[i]);
    PyMem_Free(self->entries);
    Py_XDECREF(self->name);
    Py_XDECREF(self->category);
    binding_state_release(self->state);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *scope_repr(PyObject *object)
{
    binding_scope *self = (binding_scope *)object;
    if (self->category == Py_None)
        return PyUnicode_FromFormat("gnomon.scope(%R)", self->name);
    return PyUnicode_FromFormat("gnomon.scope(%R, %R)", self->name,
                                self->category);
}

/* Found again by its name, in another process too. */
static PyObject *scope_reduce(PyObject *object, PyObject *unused)
{
    binding_scope *self = (binding_scope *)object;
    (void)unused;
    PyObject *module = PyImport_ImportModule("gnomon");
    PyObject *maker = module ? PyObject_GetAttrString(module, "scope") : NULL;
    Py_XDECREF(module);
    return maker ? Py_BuildValue("N(OO)", maker, self->name, self->category)
                 : NULL;
}

static PyObject *scope_name(PyObject *object, void *unused)
{
    (void)unused;
    Py_INCREF(((binding_scope *)object)->name);
    return ((binding_scope *)object)->name;
}

static PyObject *scope_category(PyObject *object, void *unused)
{
    (void)unused;
    Py_INCREF(((binding_scope *)object)->category);
    return ((binding_scope *)object)->category;
}

static PyMethodDef scope_members[] = {
    {"__enter__", scope_enter, METH_NOARGS, NULL},
    {"__exit__", BINDING_FUNCTION(scope_exit), METH_FASTCALL, NULL},
    {"__reduce__", scope_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef scope_fields[] = {
    {"name", scope_name, NULL, NULL, NULL},
    {"category", scope_category, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static PyType_Slot scope_slots[] = {{Py_tp_new, (void *)scope_new},
                                    {Py_tp_dealloc, (void *)scope_free},
                                    {Py_tp_repr, (void *)scope_repr},
                                    {Py_tp_call, (void *)scope_call},
                                    {Py_tp_methods, scope_members},
                                    {Py_tp_getset, scope_fields},
                                    {0, NULL}};
static PyType_Spec scope_spec = {"gnomon.Scope", sizeof(binding_scope), 0,
                                 Py_TPFLAGS_DEFAULT, scope_slots};

static PyObject *make_scope(binding_state *state, PyObject *name,
                            PyObject *category, int kind)
{
    if (!PyUnicode_Check(name) ||
        (category != Py_None && !PyUnicode_Check(category)))
        return PyErr_Format(PyExc_TypeError,
                            "names and categories are of type str");
    binding_scope *self =
        PyObject_New(binding_scope, (PyTypeObject *)state->scope_type);
    if (self) {
        self->region = &not_entered;
        self->kind = kind;
        self->state = state;
        state->users++;
        Py_INCREF(name);
        self->name = name;
        Py_INCREF(category);
        self->category = category;
        self->count = self->room = 0;
        self->entries = NULL;
    }
    return (PyObject *)self;
}

PyObject *binding_scope_get(binding_state *state, PyObject *cache,
                            PyObject *name, PyObject *category, int kind)
{
    PyObject *key = name;
    if (category != Py_None) {
        key = PyTuple_Pack(2, name, category);
        if (!key)
            return NULL;
    }
    PyObject *scope = PyDict_GetItemWithError(cache, key);
    if (scope && ((binding_scope *)scope)->count < CROWDED) {
        Py_INCREF(scope);
    } else if (scope || !PyErr_Occurred()) {
        int is_new = !scope;
        scope = make_scope(state, name, category, kind);
        if (scope && is_new && PyDict_Size(cache) >= BINDING_NAMES)
            PyDict_Clear(cache);
        if (scope && is_new && PyDict_SetItem(cache, key, scope)) {
            Py_DECREF(scope);
            scope = NULL;
        }
    }
    if (key != name)
        Py_DECREF(key);
    return scope;
}

/* ---- gnomon.scope, gnomon.record_function --------------------------------- */

static PyObject *scope_of(PyObject *module, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "category"};
    PyObject *given[2] = {NULL, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("scope", names, 2, args, count, keywords, given))
        return NULL;
    return binding_scope_get(state, state->scopes, given[0], given[1],
                             GNOMON_KIND_SCOPE);
}

/* `args` is what torch.profiler.record_function takes, which keeps it nowhere. */
static PyObject *record_function(PyObject *module, PyObject *const *args,
                                 Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "args"};
    PyObject *given[2] = {NULL, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("record_function", names, 2, args, count, keywords,
                           given))
        return NULL;
    return binding_scope_get(state, state->scopes, given[0], Py_None,
                             GNOMON_KIND_SCOPE);
}

PyMethodDef binding_scope_methods[] = {
    {"scope", BINDING_FUNCTION(scope_of), METH_FASTCALL | METH_KEYWORDS,
     "scope(name, category=None)\n--\n\n"
     "A named scope: a context manager and a decorator."},
    {"record_function", BINDING_FUNCTION(record_function),
     METH_FASTCALL | METH_KEYWORDS,
     "record_function(name, args=None)\n--\n\n"
     "The same, by the name that torch.profiler has for it."},
    {NULL, NULL, 0, NULL}};

int binding_scope_types(binding_state *state, PyObject *module)
{
    state->scope_type = PyType_FromSpec(&scope_spec);
    if (!state->scope_type)
        return -1;
    Py_INCREF(state->scope_type);
    return PyModule_AddObject(module, "Scope", state->scope_type);
}
