/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The objects of scopes, by name, category and stream: gnomon.scope and
 * gnomon.record_function. Each is made once and kept (BINDING_NAMES). */
#include "scope.h"

#include <string.h>

#define CROWDED 16 /* entries past which gnomon.scope makes another object */

static PyObject *make_scope(binding_state *state, PyObject *name,
                            PyObject *category, PyObject *stream, int kind)
{
    if (!PyUnicode_Check(name) ||
        (category != Py_None && !PyUnicode_Check(category)))
        return PyErr_Format(PyExc_TypeError,
                            "names and categories are of type str");
    binding_scope *self =
        PyObject_New(binding_scope, (PyTypeObject *)state->scope_type);
    if (self) {
        self->region = &binding_not_entered;
        self->kind = kind;
        self->state = state;
        binding_state_hold(state);
        Py_INCREF(name);
        self->name = name;
        Py_INCREF(category);
        self->category = category;
        Py_INCREF(stream);
        self->stream = stream;
        self->count = self->room = 0;
        self->entries = NULL;
        memset(&self->lock, 0, sizeof self->lock);
        self->unrecorded = 0;
    }
    return (PyObject *)self;
}

/* What the object is kept by; a new reference. */
static PyObject *key_of(PyObject *name, PyObject *category, PyObject *stream)
{
    if (stream != Py_None)
        return PyTuple_Pack(3, name, category, stream);
    if (category != Py_None)
        return PyTuple_Pack(2, name, category);
    Py_INCREF(name);
    return name;
}

static PyObject *get_scope(binding_state *state, PyObject *cache,
                           PyObject *name, PyObject *category, PyObject *stream,
                           int kind)
{
    PyObject *key = key_of(name, category, stream);
    if (!key)
        return NULL;
    PyObject *scope = binding_find(cache, key);
    int is_crowded =
        scope && binding_scope_count((binding_scope *)scope) >= CROWDED;
    if (is_crowded || (!scope && !PyErr_Occurred())) {
        int is_new = !scope;
        Py_XDECREF(scope);
        scope = make_scope(state, name, category, stream, kind);
        if (scope && is_new && PyDict_Size(cache) >= BINDING_NAMES)
            PyDict_Clear(cache);
        if (scope && is_new && PyDict_SetItem(cache, key, scope)) {
            Py_DECREF(scope);
            scope = NULL;
        }
    }
    Py_DECREF(key);
    return scope;
}

PyObject *binding_scope_get(binding_state *state, PyObject *cache,
                            PyObject *name, PyObject *category, int kind)
{
    return get_scope(state, cache, name, category, Py_None, kind);
}

/* ---- gnomon.scope, gnomon.record_function --------------------------------- */

/* The handle of a stream, as an int; None stays None. A new reference, or NULL. */
static PyObject *handle_of(PyObject *stream)
{
    PyObject *handle = stream;
    Py_INCREF(handle);
    if (stream != Py_None && !PyLong_Check(stream)) {
        Py_DECREF(handle);
        handle = PyObject_GetAttrString(stream, "cuda_stream");
        if (!handle)
            PyErr_Format(PyExc_TypeError, "a stream is a handle as an int, or "
                                          "has one as .cuda_stream");
    }
    if (handle && handle != Py_None) {
        (void)PyLong_AsVoidPtr(handle);
        if (PyErr_Occurred())
            Py_CLEAR(handle);
    }
    return handle;
}

static PyObject *scope_of(PyObject *module, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "category", "stream"};
    PyObject *given[3] = {NULL, Py_None, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("scope", names, 3, args, count, keywords, given))
        return NULL;
    if (given[2] == Py_None)
        return binding_scope_get(state, state->scopes, given[0], given[1],
                                 GNOMON_KIND_SCOPE);
    PyObject *handle = handle_of(given[2]);
    PyObject *scope = handle ? get_scope(state, state->scopes, given[0],
                                         given[1], handle, GNOMON_KIND_SCOPE)
                             : NULL;
    Py_XDECREF(handle);
    return scope;
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
     "scope(name, category=None, stream=None)\n--\n\n"
     "A named scope: a context manager and a decorator. `stream`: what is put "
     "into "
     "this CUDA stream is timed there too."},
    {"record_function", BINDING_FUNCTION(record_function),
     METH_FASTCALL | METH_KEYWORDS,
     "record_function(name, args=None)\n--\n\n"
     "The same, by the name that torch.profiler has for it."},
    {NULL, NULL, 0, NULL}};
