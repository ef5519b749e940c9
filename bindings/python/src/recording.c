/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A recording: a profiler without callbacks, attached under a name of its own, whose
 * events and tree are taken as a profile. gnomon/_recording.py has what users see.
 *
 * gnomon holds a pointer to the table while it is attached. So the table is freed only
 * after it was detached, and is lost where that fails, as inside a callback. */
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnomon/tool.h>

typedef struct {
    gnomon_profiler profiler;
    char name[32];
} recording_table;

typedef struct {
    PyObject_HEAD recording_table *table; /* NULL: it is over */
    binding_state *state;
    unsigned forks; /* in which it is attached: a fork's child has none of it */
    char name[32];  /* the table's, also while another thread ends it */
} recording_object;

/* Of no scope, but as one that is wanted: what devices tell of stays on. */
static const char nothing[] = "exclude=*";

static recording_table *make_table(int devices)
{
    static unsigned number; /* the interpreters' locks do not guard it */
    recording_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    snprintf(table->name, sizeof table->name, "profile %u",
             __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
    table->profiler.struct_size = sizeof table->profiler;
    table->profiler.abi = GNOMON_ABI;
    table->profiler.name = table->name;
    /* Of the run: so events of a stage that ends meanwhile stay. */
    table->profiler.wants =
        GNOMON_WANT_TREE | GNOMON_WANT_EVENTS | GNOMON_WANT_RUN;
    if (devices)
        table->profiler.wants |= GNOMON_WANT_DEVICE;
    if (devices > 1)
        table->profiler.wants |= GNOMON_WANT_DEVICE_WORK;
    return table;
}

/* With the interpreter's lock, which it releases. */
static int end_recording(recording_object *self)
{
    recording_table *table =
        __atomic_exchange_n(&self->table, NULL, __ATOMIC_ACQ_REL);
    int code = GNOMON_OK;
    if (!table || self->forks != binding_forks)
        return code;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_detach(&table->profiler, table);
    Py_END_ALLOW_THREADS
    if (!code)
        free(table);
    return code;
}

/* ---- Methods -------------------------------------------------------------- */

static PyObject *recording_take(PyObject *object, PyObject *unused)
{
    recording_object *self = (recording_object *)object;
    gnomon_profile *profile = NULL;
    int code;
    (void)unused;
    if (!__atomic_load_n(&self->table, __ATOMIC_ACQUIRE)) {
        PyErr_SetString(self->state->error, "the recording is over");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_snapshot(&profile, self->name, 1);
    Py_END_ALLOW_THREADS
    return binding_profile_own(self->state, code, profile);
}

static PyObject *recording_end(PyObject *object, PyObject *unused)
{
    recording_object *self = (recording_object *)object;
    (void)unused;
    return binding_result(self->state, end_recording(self));
}

static void recording_free(PyObject *object)
{
    recording_object *self = (recording_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    (void)end_recording(self);
    PyErr_Restore(kind, value, trace);
    binding_state_release(self->state);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *recording_new(PyTypeObject *type, PyObject *args,
                               PyObject *keywords)
{
    (void)type;
    (void)args;
    (void)keywords;
    return PyErr_Format(PyExc_TypeError, "call gnomon.profile()");
}

/* ---- Functions ------------------------------------------------------------ */

/* record(devices, idle): attaches one, which also wants times of devices (1) and their
 * work (2). An idle one keeps devices ready, and no marks. */
static PyObject *call_record(PyObject *module, PyObject *args)
{
    binding_state *state = binding_state_of(module);
    int devices, idle, code;
    if (!PyArg_ParseTuple(args, "ip:record", &devices, &idle))
        return NULL;
    recording_object *self =
        PyObject_New(recording_object, (PyTypeObject *)state->recording_type);
    if (!self)
        return NULL;
    self->state = state;
    self->forks = binding_forks;
    binding_state_hold(state);
    recording_table *table = make_table(devices);
    self->table = NULL;
    if (!table) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    memcpy(self->name, table->name, sizeof self->name);
    (void)binding_wake();
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_attach(&table->profiler, table, idle ? nothing : NULL);
    Py_END_ALLOW_THREADS
    if (!code) {
        self->table = table;
        return (PyObject *)self;
    }
    free(table);
    Py_DECREF(self);
    return binding_raise(state, code);
}

static PyObject *call_step_begin(PyObject *module, PyObject *number)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    (void)module;
    if (PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    gnomon_step_begin(value);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyObject *call_device_wait(PyObject *module, PyObject *seconds)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(seconds);
    int code;
    if (PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_device_wait(value * 1000000000u);
    Py_END_ALLOW_THREADS
    return binding_result(binding_state_of(module), code);
}

PyMethodDef binding_recording_methods[] = {
    {"_record", call_record, METH_VARARGS, NULL},
    {"_step_begin", call_step_begin, METH_O, NULL},
    {"_device_wait", call_device_wait, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

static PyMethodDef recording_object_methods[] = {
    {"take", recording_take, METH_NOARGS, NULL},
    {"end", recording_end, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static PyType_Slot recording_slots[] = {
    {Py_tp_new, (void *)recording_new},
    {Py_tp_dealloc, (void *)recording_free},
    {Py_tp_methods, recording_object_methods},
    {0, NULL}};
static PyType_Spec recording_spec = {"gnomon._Recording",
                                     sizeof(recording_object), 0,
                                     Py_TPFLAGS_DEFAULT, recording_slots};

int binding_recording_types(binding_state *state, PyObject *module)
{
    (void)module;
    state->recording_type = PyType_FromSpec(&recording_spec);
    return state->recording_type ? 0 : -1;
}
