/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control calls. All release the interpreter's lock: they may run callbacks in Python,
 * on this thread or, in other control calls, on others. */
#include "profiler.h"

#include <stdlib.h>
#include <string.h>

#include <gnomon/tool.h>

#include "platform/json.h"
#include "run/files.h"

PyObject *binding_raise(binding_state *state, int code)
{
    PyObject *text = PyUnicode_FromFormat("%s: %s", gnomon_error_name(code),
                                          gnomon_error_text());
    PyObject *error =
        text ? PyObject_CallFunctionObjArgs(state->error, text, NULL) : NULL;
    PyObject *number = error ? PyLong_FromLong(code) : NULL;
    if (number && !PyObject_SetAttrString(error, "code", number))
        PyErr_SetObject(state->error, error);
    Py_XDECREF(number);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

PyObject *binding_result(binding_state *state, int code)
{
    if (code < 0)
        return binding_raise(state, code);
    Py_RETURN_NONE;
}

/* ---- Setup and teardown --------------------------------------------------- */

/* The bytes of a text or of None, where *at is NULL. A new reference. */
static PyObject *optional_text(PyObject *text, const char **at)
{
    *at = NULL;
    if (text == Py_None) {
        Py_INCREF(text);
        return text;
    }
    PyObject *bytes = binding_utf8(text);
    if (bytes)
        *at = PyBytes_AsString(bytes);
    return bytes;
}

static int take_number(PyObject *number, int32_t *to)
{
    long value = PyLong_AsLong(number);
    if (PyErr_Occurred())
        return 0;
    *to = (int32_t)value;
    return 1;
}

static PyObject *call_setup(PyObject *module, PyObject *args)
{
    gnomon_setup_options o = {.struct_size = sizeof o, .world_size = 1};
    PyObject *spec, *dir, *rank, *local, *world;
    if (!PyArg_ParseTuple(args, "OOOOO:setup", &spec, &dir, &rank, &local,
                          &world))
        return NULL;
    o.has_rank = rank != Py_None;
    if ((o.has_rank && !take_number(rank, &o.rank)) ||
        (world != Py_None && !take_number(world, &o.world_size)) ||
        (local != Py_None && !take_number(local, &o.local_rank)))
        return NULL;
    if (o.has_rank && local == Py_None)
        o.local_rank = o.rank;
    PyObject *spec_bytes = optional_text(spec, &o.spec);
    PyObject *dir_bytes = spec_bytes ? optional_text(dir, &o.dir) : NULL;
    int code = 0;
    if (dir_bytes) {
        /* The worker begins by itself. */
        __atomic_store_n(&binding_worker_waits, 0, __ATOMIC_RELAXED);
        Py_BEGIN_ALLOW_THREADS
        code = gnomon_setup(&o);
        Py_END_ALLOW_THREADS
    }
    Py_XDECREF(spec_bytes);
    Py_XDECREF(dir_bytes);
    return dir_bytes ? binding_result(binding_state_of(module), code) : NULL;
}

static PyObject *call_teardown(PyObject *module, PyObject *unused)
{
    int code;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_teardown();
    Py_END_ALLOW_THREADS
    return binding_result(binding_state_of(module), code);
}

/* ---- What is attached ----------------------------------------------------- */

static PyObject *call_configure(PyObject *module, PyObject *spec)
{
    const char *at;
    int code;
    PyObject *bytes = optional_text(spec, &at);
    if (!bytes)
        return NULL;
    size_t length = at ? (size_t)PyBytes_Size(bytes) : 0;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->configure(at, length);
    Py_END_ALLOW_THREADS
    Py_DECREF(bytes);
    return binding_result(binding_state_of(module), code);
}

static PyObject *call_spec(PyObject *module, PyObject *unused)
{
    size_t length, room = 0;
    char *text = NULL;
    (void)module;
    (void)unused;
    for (;;) {
        Py_BEGIN_ALLOW_THREADS
        length = gnomon_spec(text, room);
        Py_END_ALLOW_THREADS
        if (length < room)
            break;
        char *more = PyMem_Realloc(text, length + 1);
        if (!more) {
            PyMem_Free(text);
            return PyErr_NoMemory();
        }
        text = more;
        room = length + 1;
    }
    PyObject *spec = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    PyMem_Free(text);
    return spec;
}

static PyObject *call_is_on(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (binding_wake()) {
        Py_BEGIN_ALLOW_THREADS(void)
        gnomon_spec(NULL, 0); /* reads $GNOMON */
        Py_END_ALLOW_THREADS
    }
    return PyBool_FromLong(binding_wake());
}

/* ---- Stages and metadata -------------------------------------------------- */

static PyObject *call_stage_begin(PyObject *module, PyObject *name)
{
    int code;
    PyObject *bytes = binding_utf8(name);
    if (!bytes)
        return NULL;
    const char *at = PyBytes_AsString(bytes);
    size_t length = (size_t)PyBytes_Size(bytes);
    (void)binding_wake();
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->stage_begin(at, length);
    Py_END_ALLOW_THREADS
    Py_DECREF(bytes);
    return binding_result(binding_state_of(module), code);
}

static PyObject *call_stage_end(PyObject *module, PyObject *unused)
{
    int code;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_stage_end();
    Py_END_ALLOW_THREADS
    return binding_result(binding_state_of(module), code);
}

static PyObject *call_metadata(PyObject *module, PyObject *args)
{
    PyObject *key, *json, *key_bytes, *json_bytes;
    int code = 0;
    if (!PyArg_ParseTuple(args, "UU:_metadata", &key, &json))
        return NULL;
    key_bytes = binding_utf8(key);
    json_bytes = key_bytes ? binding_utf8(json) : NULL;
    if (json_bytes) {
        const char *k = PyBytes_AsString(key_bytes);
        const char *j = PyBytes_AsString(json_bytes);
        size_t k_length = (size_t)PyBytes_Size(key_bytes);
        size_t j_length = (size_t)PyBytes_Size(json_bytes);
        (void)binding_wake();
        Py_BEGIN_ALLOW_THREADS
        code = gnomon_host_get()->metadata(k, k_length, j, j_length);
        Py_END_ALLOW_THREADS
    }
    int is_done = json_bytes != NULL;
    Py_XDECREF(key_bytes);
    Py_XDECREF(json_bytes);
    return is_done ? binding_result(binding_state_of(module), code) : NULL;
}

/* Whether a text is JSON, as metadata takes it. */
static PyObject *call_is_json(PyObject *module, PyObject *text)
{
    (void)module;
    PyObject *bytes = binding_utf8(text);
    if (!bytes)
        return NULL;
    const int is_valid = gnomon__json_valid(PyBytes_AsString(bytes),
                                            (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    return PyBool_FromLong(is_valid);
}

/* ---- Reports and health --------------------------------------------------- */

PyObject *binding_text_take(gnomon__buffer *text, binding_state *state,
                            int code)
{
    PyObject *result =
        code < 0 ? binding_raise(state, code)
                 : PyUnicode_DecodeUTF8(text->text ? text->text : "",
                                        (Py_ssize_t)text->length, "replace");
    gnomon__buffer_free(text);
    return result;
}

static PyObject *call_summary(PyObject *module, PyObject *name)
{
    gnomon__buffer text;
    int code;
    PyObject *bytes = binding_utf8(name);
    if (!bytes)
        return NULL;
    const char *at = PyBytes_AsString(bytes);
    size_t length = (size_t)PyBytes_Size(bytes);
    gnomon__buffer_init(&text, NULL);
    binding_asks = 1;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->summary(at, length, &text.writer);
    Py_END_ALLOW_THREADS
    binding_asks = 0;
    Py_DECREF(bytes);
    return binding_text_take(&text, binding_state_of(module), code);
}

static int put_count(PyObject *dict, const char *key, uint64_t count)
{
    PyObject *number = PyLong_FromUnsignedLongLong(count);
    int code = number ? PyDict_SetItemString(dict, key, number) : -1;
    Py_XDECREF(number);
    return code;
}

static PyObject *call_health(PyObject *module, PyObject *unused)
{
    gnomon_health health = {.struct_size = sizeof health};
    (void)module;
    (void)unused;
    gnomon_health_get(&health);
    PyObject *dict = PyDict_New();
    int code = dict ? put_count(dict, "threads", health.threads) : -1;
#define PUT(field, text) \
    if (!code) \
        code = put_count(dict, #field, health.field);
    PUT(mapped_bytes, )
    PUT(heap_bytes, )
    GNOMON_HEALTH(PUT)
#undef PUT
    if (code)
        Py_CLEAR(dict);
    return dict;
}

static PyObject *call_version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(gnomon_version());
}

PyMethodDef binding_control_methods[] = {
    {"_setup", call_setup, METH_VARARGS, NULL},
    {"teardown", call_teardown, METH_NOARGS,
     "teardown($module, /)\n--\n\nUndoes one setup; the last writes reports."},
    {"configure", call_configure, METH_O,
     "configure($module, spec, /)\n--\n\nReplaces what is attached."},
    {"spec", call_spec, METH_NOARGS,
     "spec($module, /)\n--\n\nWhat is attached, with all defaults."},
    {"enabled", call_is_on, METH_NOARGS,
     "enabled($module, /)\n--\n\nWhether anything is attached."},
    {"stage_begin", call_stage_begin, METH_O,
     "stage_begin($module, name, /)\n--\n\nOpens a stage."},
    {"stage_end", call_stage_end, METH_NOARGS,
     "stage_end($module, /)\n--\n\nEnds the stage: its reports are written."},
    {"_metadata", call_metadata, METH_VARARGS, NULL},
    {"_is_json", call_is_json, METH_O, NULL},
    {"_summary", call_summary, METH_O, NULL},
    {"health", call_health, METH_NOARGS,
     "health($module, /)\n--\n\nWhat marks could not do, by its cause."},
    {"version", call_version, METH_NOARGS,
     "version($module, /)\n--\n\nThe version of the library that records."},
    {NULL, NULL, 0, NULL}};
