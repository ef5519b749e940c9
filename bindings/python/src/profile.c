/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as an object: its entities as tuples of their fields, one by one or column
 * by column. gnomon/_profiles.py makes of it what users see.
 *
 * A profile that a callback was given is borrowed: its object loses it at the callback's
 * end, and raises from then on. */
#include "fields.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "report/loaders.h"
#include "run/files.h"

struct binding_lease {
    const gnomon_profile *profile; /* NULL: it was borrowed, and is gone */
    int is_ours;                   /* freed with the last holder */
    unsigned users;                /* threads that read it now */
    unsigned holders;
};

typedef struct {
    PyObject_HEAD binding_lease *lease;
    binding_state *state;
} profile_object;

/* ---- The lease ------------------------------------------------------------ */

binding_lease *binding_lease_hold(PyObject *object)
{
    binding_lease *lease = ((profile_object *)object)->lease;
    __atomic_fetch_add(&lease->holders, 1, __ATOMIC_RELAXED);
    return lease;
}

void binding_lease_release(binding_lease *lease)
{
    if (__atomic_sub_fetch(&lease->holders, 1, __ATOMIC_ACQ_REL))
        return;
    if (lease->is_ours)
        lease->profile->api->release(
            (gnomon_profile *)(uintptr_t)lease->profile);
    free(lease);
}

const gnomon_profile *binding_lease_enter(binding_lease *lease)
{
    __atomic_fetch_add(&lease->users, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&lease->profile, __ATOMIC_SEQ_CST);
}

void binding_lease_leave(binding_lease *lease)
{
    __atomic_fetch_sub(&lease->users, 1, __ATOMIC_SEQ_CST);
}

/* ---- The object ----------------------------------------------------------- */

static PyObject *make_object(binding_state *state,
                             const gnomon_profile *profile, int is_ours)
{
    binding_lease *lease = malloc(sizeof *lease);
    if (!lease)
        return PyErr_NoMemory();
    profile_object *self =
        PyObject_New(profile_object, (PyTypeObject *)state->profile_type);
    if (!self) {
        free(lease);
        return NULL;
    }
    *lease = (binding_lease){profile, is_ours, 0, 1};
    self->lease = lease;
    self->state = state;
    binding_state_hold(state);
    return (PyObject *)self;
}

/* NULL: an exception is set. */
static const gnomon_profile *profile_of(PyObject *object)
{
    const gnomon_profile *profile = __atomic_load_n(
        &((profile_object *)object)->lease->profile, __ATOMIC_SEQ_CST);
    if (!profile)
        PyErr_SetString(PyExc_ValueError,
                        "this profile was lent to a callback that is over");
    return profile;
}

/* ---- One entity ----------------------------------------------------------- */

static PyObject *profile_count(PyObject *self, PyObject *args)
{
    const char *name;
    const binding_entity *entity;
    if (!PyArg_ParseTuple(args, "s:count", &name) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    const gnomon_profile *profile = profile_of(self);
    return profile ? PyLong_FromSize_t(
                         gnomon_profile_count(profile, entity->entity))
                   : NULL;
}

static PyObject *profile_get(PyObject *self, PyObject *args)
{
    const char *name;
    Py_ssize_t number;
    const binding_entity *entity;
    binding_info info = {.struct_size = sizeof info};
    if (!PyArg_ParseTuple(args, "sn:get", &name, &number) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    const gnomon_profile *profile = profile_of(self);
    if (!profile)
        return NULL;
    int code =
        profile->api->get(profile, entity->entity, (size_t)number, &info);
    if (code == GNOMON_EINVAL)
        return PyErr_Format(PyExc_IndexError, "%s: no number %zd", name,
                            number);
    if (code)
        return PyErr_Format(((profile_object *)self)->state->error,
                            "%s: the file has changed", name);
    return binding_struct_value(&info, entity);
}

/* ---- Files ---------------------------------------------------------------- */

PyObject *binding_profile_own(binding_state *state, int code,
                              gnomon_profile *profile)
{
    if (code < 0)
        return binding_raise(state, code);
    PyObject *object = make_object(state, profile, 1);
    if (!object)
        gnomon_profile_free(profile);
    return object;
}

static PyObject *call_load(PyObject *module, PyObject *path)
{
    gnomon_profile *profile = NULL;
    PyObject *bytes = NULL;
    int code;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    const char *at = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_profile_load(&profile, at);
    Py_END_ALLOW_THREADS
    Py_DECREF(bytes);
    return binding_profile_own(binding_state_of(module), code, profile);
}

static PyObject *call_read(PyObject *module, PyObject *args)
{
    gnomon_profile *profile = NULL;
    const char *at;
    Py_ssize_t size;
    int code;
    if (!PyArg_ParseTuple(args, "y#:read", &at, &size))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_profile_read(&profile, at, (size_t)size);
    Py_END_ALLOW_THREADS
    return binding_profile_own(binding_state_of(module), code, profile);
}

static PyObject *call_snapshot(PyObject *module, PyObject *args)
{
    gnomon_profile *profile = NULL;
    const char *name;
    Py_ssize_t length;
    int all, code;
    if (!PyArg_ParseTuple(args, "s#p:snapshot", &name, &length, &all))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->snapshot(&profile, name, (size_t)length, all);
    Py_END_ALLOW_THREADS
    return binding_profile_own(binding_state_of(module), code, profile);
}

/* Releases the interpreter's lock for long work on a profile, but not on a borrowed one:
 * another thread could let its callback end meanwhile. The caller has a reference. */
static PyThreadState *unlock(PyObject *self)
{
    return ((profile_object *)self)->lease->is_ours ? PyEval_SaveThread()
                                                    : NULL;
}

static void lock(PyThreadState *thread)
{
    if (thread)
        PyEval_RestoreThread(thread);
}

static PyObject *profile_export(PyObject *self, PyObject *args)
{
    PyObject *path;
    const char *form;
    int code;
    if (!PyArg_ParseTuple(args, "sO&:export", &form, PyUnicode_FSConverter,
                          &path))
        return NULL;
    const gnomon_profile *profile = profile_of(self);
    const char *at = PyBytes_AsString(path);
    if (!profile) {
        Py_DECREF(path);
        return NULL;
    }
    PyThreadState *thread = unlock(self);
    code = gnomon_write_file(profile, form, at);
    lock(thread);
    PyObject *result = binding_result(((profile_object *)self)->state, code);
    Py_DECREF(path);
    return result;
}

static PyObject *profile_report(PyObject *self, PyObject *report)
{
    gnomon__buffer text;
    int code;
    const gnomon_profile *profile = profile_of(self);
    PyObject *bytes = profile ? binding_utf8(report) : NULL;
    if (!bytes)
        return NULL;
    const char *at = PyBytes_AsString(bytes);
    size_t length = (size_t)PyBytes_Size(bytes);
    gnomon__buffer_init(&text, NULL);
    PyThreadState *thread = unlock(self);
    code = gnomon_host_get()->report(profile, at, length, &text.writer);
    /* The library does not have this one. */
    if (code == GNOMON_ENOENT && strcmp(at, "loaders") == 0)
        code = gnomon__loaders_profiler->summary(NULL, profile, &text.writer);
    lock(thread);
    Py_DECREF(bytes);
    return binding_text_take(&text, ((profile_object *)self)->state, code);
}

/* ---- The type ------------------------------------------------------------- */

static void profile_free(PyObject *object)
{
    profile_object *self = (profile_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    binding_lease_release(self->lease);
    binding_state_release(self->state);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *profile_new(PyTypeObject *type, PyObject *args,
                             PyObject *keywords)
{
    (void)type;
    (void)args;
    (void)keywords;
    return PyErr_Format(PyExc_TypeError, "call gnomon.load(path)");
}

/* Of each field of a kind: its name, its unit, the kind that it is a number of or None, its
 * words or None. */
static PyObject *describe_fields(PyObject *self, PyObject *args)
{
    const char *name;
    const binding_entity *entity;
    (void)self;
    if (!PyArg_ParseTuple(args, "s:fields", &name) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    PyObject *fields = PyTuple_New((Py_ssize_t)entity->count);
    for (size_t i = 0; fields && i < entity->count; i++) {
        const gnomon_field_info *f = &entity->fields[i];
        PyObject *words = f->words ? PyList_New(0) : NULL;
        for (size_t k = 0; words && f->words[k]; k++) {
            PyObject *word = PyUnicode_FromString(f->words[k]);
            if (!word || PyList_Append(words, word))
                Py_CLEAR(words);
            Py_XDECREF(word);
        }
        const char *of = f->of < GNOMON_PART_STATS
                             ? gnomon_host_get()->entity_name(f->of)
                             : NULL;
        PyObject *one = PyErr_Occurred()
                            ? NULL
                            : Py_BuildValue("sszO", f->name, f->unit, of,
                                            words ? words : Py_None);
        Py_XDECREF(words);
        if (!one || PyTuple_SetItem(fields, (Py_ssize_t)i, one))
            Py_CLEAR(fields);
    }
    return fields;
}

/* A method, so that who takes a lent profile back waits for its end: without a global
 * lock another thread may be in one. */
#define READER(name, method) \
    static PyObject *name(PyObject *self, PyObject *args) \
    { \
        binding_lease *lease = ((profile_object *)self)->lease; \
        (void)binding_lease_enter(lease); \
        PyObject *result = method(self, args); \
        binding_lease_leave(lease); \
        return result; \
    }
READER(read_count, profile_count)
READER(read_one, profile_get)
READER(read_columns, binding_profile_columns)
READER(read_arrow, binding_profile_arrow)
READER(read_export, profile_export)
READER(read_report, profile_report)

static PyMethodDef profile_methods[] = {
    {"count", read_count, METH_VARARGS, NULL},
    {"get", read_one, METH_VARARGS, NULL},
    {"columns", read_columns, METH_VARARGS, NULL},
    {"arrow", read_arrow, METH_VARARGS, NULL},
    {"export", read_export, METH_VARARGS, NULL},
    {"report", read_report, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

PyMethodDef binding_profile_methods[] = {
    {"_load", call_load, METH_O, NULL},
    {"_read", call_read, METH_VARARGS, NULL},
    {"_snapshot", call_snapshot, METH_VARARGS, NULL},
    {"_fields", describe_fields, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static PyType_Slot profile_slots[] = {{Py_tp_new, (void *)profile_new},
                                      {Py_tp_dealloc, (void *)profile_free},
                                      {Py_tp_methods, profile_methods},
                                      {0, NULL}};
static PyType_Spec profile_spec = {"gnomon._Profile", sizeof(profile_object), 0,
                                   Py_TPFLAGS_DEFAULT, profile_slots};

int binding_profile_types(binding_state *state, PyObject *module)
{
    (void)module;
    state->profile_type = PyType_FromSpec(&profile_spec);
    return state->profile_type ? 0 : -1;
}

const gnomon_profile *binding_profile_of(PyObject *object)
{
    return profile_of(object);
}

PyObject *binding_profile_lend(binding_state *state,
                               const gnomon_profile *profile)
{
    if (!profile)
        Py_RETURN_NONE;
    return make_object(state, profile, 0);
}

void binding_profile_take_back(PyObject *lent)
{
    if (lent && lent != Py_None) {
        binding_lease *lease = ((profile_object *)lent)->lease;
        __atomic_store_n(&lease->profile, NULL, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&lease->users, __ATOMIC_SEQ_CST)) {
            Py_BEGIN_ALLOW_THREADS(void)
            sched_yield();
            Py_END_ALLOW_THREADS
        }
    }
    Py_XDECREF(lent);
}

PyObject *binding_profile_wrap(PyObject *raw)
{
    if (!raw || raw == Py_None) {
        Py_XINCREF(raw);
        return raw;
    }
    PyObject *module = PyImport_ImportModule("gnomon._profiles");
    PyObject *made =
        module ? PyObject_CallMethod(module, "Profile", "(O)", raw) : NULL;
    Py_XDECREF(module);
    return made;
}
