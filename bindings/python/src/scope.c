/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon.scope: one object for each name, which is entered any number of times, also by
 * several threads and tasks at once. Off, entering it is one load and a branch.
 *
 * A scope that a task of asyncio opens belongs to the task. Other tasks of the thread
 * run while it waits; so it is a scope of the thread only while no scope of another
 * task is open there and no range in its own context, and a range otherwise, inside of
 * that one. Each `with` ends its own scope and no other,
 * in whichever order they end (binding_end).
 *
 * A scope on a CUDA stream that ends out of order is timed on the host alone.
 *
 * Invariant: from __enter__ to its __exit__ an entry is in `entries`, if it has a token,
 * or else counted in `unrecorded`. */
#include "scope.h"

#include <gnomon/cuda.h>
#include <string.h>

gnomon_region binding_not_entered = {.mask = GNOMON_MASK_UNSEEN};

static gnomon_region *make_region(const binding_scope *self)
{
    gnomon_region *region = &binding_not_entered;
    PyObject *category = NULL, *name = binding_utf8(self->name);
    if (name && self->category != Py_None)
        category = binding_utf8(self->category);
    if (name && (category || self->category == Py_None))
        region = binding_region_get(name, category, self->kind);
    Py_XDECREF(name);
    Py_XDECREF(category);
    return region;
}

/* Threads that find out at once find the same one. */
gnomon_region *binding_region_of(PyObject *scope)
{
    binding_scope *self = (binding_scope *)scope;
    gnomon_region *region = __atomic_load_n(&self->region, __ATOMIC_ACQUIRE);
    if (region == &binding_not_entered) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        (void)binding_wake(); /* before what may wait for callbacks */
        region = make_region(self);
        __atomic_store_n(&self->region, region, __ATOMIC_RELEASE);
        PyErr_Restore(type, value, trace);
    }
    return region;
}

/* ---- Enter and exit ------------------------------------------------------- */

static int keep_entry(binding_scope *self, scope_entry entry)
{
    int kept = 1;
    BINDING_LOCK(&self->lock);
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
    if (kept) {
        self->entries[self->count] = entry;
        __atomic_store_n(&self->count, self->count + 1, __ATOMIC_RELAXED);
    }
    BINDING_UNLOCK(&self->lock);
    return kept;
}

static void end_recorded(const scope_entry *entry)
{
    if (entry->forks != binding_forks)
        return; /* it is the parent's */
    if (entry->is_range) {
        gnomon_range_end(entry->token);
        return;
    }
    if (entry->task)
        binding_task_ends(entry->token);
    if (entry->thread != &binding_here) {
        gnomon_end_alone(entry->token);
    } else if (entry->timer && binding_here.open == entry->position) {
        gnomon_device_scope on = {sizeof on, entry->timer, entry->token};
        binding_here.open--;
        gnomon_end_on(on);
    } else {
        binding_end(&binding_here, entry->token, entry->position);
    }
}

static void end_entry(binding_state *state, const scope_entry *entry)
{
    binding_here.inside = state;
    end_recorded(entry);
    binding_here.inside = NULL;
    if (entry->open)
        binding_task_closes(state, entry->open);
}

/* Begins a scope of the thread, and on the stream if it has one. */
static void begin_entry(const binding_scope *self, gnomon_region *region,
                        scope_entry *entry)
{
    if (self->stream == Py_None) {
        entry->token = gnomon_begin(region);
    } else {
        gnomon_cuda_stream stream = PyLong_AsVoidPtr(self->stream);
        gnomon_device_scope on = gnomon_begin_on(region, gnomon_cuda_device(),
                                                 gnomon_cuda_stream_of(stream));
        entry->token = on.token;
        entry->timer = on.timer;
    }
    entry->position = entry->token ? ++binding_here.open : 0;
}

/* Whether there is an entry for the exit to end. Nothing is known of the region while
 * nothing is attached: names that come then take no place. */
static int enter(binding_scope *self)
{
    int in_loop;
    if (!binding_wake())
        return 0;
    gnomon_region *region = binding_region_of((PyObject *)self);
    scope_entry entry = {0};
    entry.forks = binding_forks;
    entry.task = binding_task(self->state, &in_loop);
    entry.thread = &binding_here;
    uint64_t token = 0;
    PyObject *around =
        entry.task ? binding_task_around(self->state, &token) : NULL;
    entry.is_range = around || !binding_task_may_nest(entry.task, in_loop);
    binding_here.inside = self->state;
    if (entry.is_range)
        entry.token = gnomon_range_begin_in(region, token);
    else
        begin_entry(self, region, &entry);
    binding_here.inside = NULL;
    if (entry.is_range && entry.token && entry.task)
        entry.open = binding_task_opens(self->state, entry.token, around);
    else
        Py_XDECREF(around);
    int is_kept = entry.token && keep_entry(self, entry);
    if (entry.token && !is_kept) {
        end_entry(self->state, &entry); /* a scope that could not be ended */
    } else if (is_kept && entry.task && !entry.is_range) {
        binding_task_begins(entry.task, entry.token);
    }
    return is_kept;
}

void binding_scope_enter(PyObject *object)
{
    binding_scope *self = (binding_scope *)object;
    const gnomon_region *region =
        __atomic_load_n(&self->region, __ATOMIC_ACQUIRE);
    uint32_t asks =
        __atomic_load_n(&region->mask, __ATOMIC_RELAXED) | binding_waits();
    if (!asks || !enter(self))
        BINDING_ADD(&self->unrecorded, 1);
}

static PyObject *scope_enter(PyObject *object, PyObject *unused)
{
    (void)unused;
    binding_scope_enter(object);
    Py_INCREF(object);
    return object;
}

/* The entry that this exit ends: the last of this thread and task. If there is none, it
 * may be of a with block whose entry was not recorded, as nothing was attached: `count`
 * is returned. Else the last of the thread, as where a coroutine is closed outside of
 * its task; else the last one, as of a generator that another thread goes on with. */
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
    if (binding_scope_unrecorded(self))
        return self->count;
    return other < self->count ? other : self->count - 1;
}

static void remove_entry(binding_scope *self, size_t i, scope_entry *entry)
{
    *entry = self->entries[i];
    memmove(self->entries + i, self->entries + i + 1,
            (self->count - i - 1) * sizeof *entry);
    __atomic_store_n(&self->count, self->count - 1, __ATOMIC_RELAXED);
}

/* Takes the last entry, if it is of this thread and of no task. */
static int take_last(binding_scope *self, scope_entry *entry)
{
    BINDING_LOCK(&self->lock);
    size_t last = self->count - 1; /* none: another thread ended it meanwhile */
    int is_plain = self->count && self->entries[last].thread == &binding_here &&
                   !self->entries[last].task;
    if (is_plain)
        remove_entry(self, last, entry);
    BINDING_UNLOCK(&self->lock);
    return is_plain;
}

static int take_entry(binding_scope *self, scope_entry *entry)
{
    int in_loop;
    const void *task = binding_task(self->state, &in_loop);
    BINDING_LOCK(&self->lock);
    size_t i = self->count ? find_entry(self, task) : 0;
    int is_there = i < self->count;
    if (is_there)
        remove_entry(self, i, entry);
    BINDING_UNLOCK(&self->lock);
    return is_there;
}

static void leave(binding_scope *self)
{
    scope_entry entry;
    if (!take_last(self, &entry) && !take_entry(self, &entry)) {
        if (binding_scope_unrecorded(self))
            BINDING_ADD(&self->unrecorded, UINT32_MAX);
        return;
    }
    end_entry(self->state, &entry);
}

void binding_scope_leave(PyObject *object)
{
    binding_scope *self = (binding_scope *)object;
    if (__builtin_expect(binding_scope_count(self) != 0, 0))
        leave(self);
    else if (binding_scope_unrecorded(self))
        BINDING_ADD(&self->unrecorded, UINT32_MAX);
}

static PyObject *scope_exit(PyObject *object, PyObject *const *args,
                            Py_ssize_t count)
{
    (void)args;
    (void)count;
    binding_scope_leave(object);
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
        end_entry(self->state, &self->entries[i]);
    PyMem_Free(self->entries);
    Py_XDECREF(self->name);
    Py_XDECREF(self->category);
    Py_XDECREF(self->stream);
    binding_state_release(self->state);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *scope_repr(PyObject *object)
{
    binding_scope *self = (binding_scope *)object;
    if (self->stream != Py_None)
        return PyUnicode_FromFormat("gnomon.scope(%R, %R, stream=%R)",
                                    self->name, self->category, self->stream);
    if (self->category == Py_None)
        return PyUnicode_FromFormat("gnomon.scope(%R)", self->name);
    return PyUnicode_FromFormat("gnomon.scope(%R, %R)", self->name,
                                self->category);
}

/* Found again by its name, in another process too, where its stream is not. */
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

static PyObject *scope_text(PyObject *object, void *is_category)
{
    const binding_scope *self = (binding_scope *)object;
    PyObject *text = is_category ? self->category : self->name;
    Py_INCREF(text);
    return text;
}

static PyObject *scope_stream(PyObject *object, void *unused)
{
    (void)unused;
    Py_INCREF(((binding_scope *)object)->stream);
    return ((binding_scope *)object)->stream;
}

static PyMethodDef scope_members[] = {
    {"__enter__", scope_enter, METH_NOARGS, NULL},
    {"__exit__", BINDING_FUNCTION(scope_exit), METH_FASTCALL, NULL},
    {"__reduce__", scope_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef scope_fields[] = {
    {"name", scope_text, NULL, NULL, NULL},
    {"category", scope_text, NULL, NULL, (void *)1},
    {"stream", scope_stream, NULL, NULL, NULL},
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

int binding_scope_types(binding_state *state, PyObject *module)
{
    state->scope_type = PyType_FromSpec(&scope_spec);
    if (!state->scope_type)
        return -1;
    Py_INCREF(state->scope_type);
    return PyModule_AddObject(module, "Scope", state->scope_type);
}
