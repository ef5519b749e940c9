/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of watched modules. torch looks up an attribute of the class of all modules at
 * each call, twice: to compare, and to call. That attribute is the torch_object here, and
 * what is found there for a watched module is its layer.
 *
 * The second look must find what the first one found, also where another thread or a
 * signal handler closes the watch in between, or detaches what records. */
#include "watch.h"

#include <structmember.h>

/* ---- What is asked of torch ----------------------------------------------- */

static int is_true(PyObject *answer)
{
    int is = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (is < 0)
        binding_forget_error();
    return is > 0;
}

int watch_asks(PyObject *function)
{
    return is_true(PyObject_CallObject(function, NULL));
}

PyObject *watch_on_stream(torch_object *torch, PyObject *mark, PyObject *values)
{
    if (is_true(PyObject_CallMethodObjArgs(torch->cuda,
                                           torch->text.is_initialized, NULL)))
        return PyObject_CallFunctionObjArgs(torch->on_stream, mark, values,
                                            NULL);
    Py_INCREF(mark);
    return mark;
}

static PyObject *make(PyObject *type)
{
    return PyType_GenericAlloc((PyTypeObject *)type, 0);
}

here_object *watch_here(torch_object *torch)
{
    PyObject *of_thread = PyThreadState_GetDict();
    PyObject *found =
        of_thread ? PyDict_GetItemWithError(of_thread, torch->here_key) : NULL;
    if (found || PyErr_Occurred())
        return (here_object *)found;
    here_object *here = (here_object *)make(torch->here_type);
    if (here)
        here->open = PyList_New(0);
    if (here && (!here->open || !of_thread ||
                 PyDict_SetItem(of_thread, torch->here_key, (PyObject *)here)))
        Py_CLEAR(here);
    else
        Py_XDECREF(here); /* the thread keeps it */
    return here;
}

/* ---- Looks ---------------------------------------------------------------- */

/* What Module.compile() made of the module, or None. */
static PyObject *compiled(const torch_object *torch, PyObject *module)
{
    PyObject *fields =
        module ? PyObject_GetAttr(module, torch->text.__dict__) : NULL;
    PyObject *found =
        fields ? binding_find(fields, torch->text._compiled_call_impl) : NULL;
    Py_XDECREF(fields);
    if (found || PyErr_Occurred())
        return found;
    Py_RETURN_NONE;
}

/* Whether what looks is about to call what it finds. */
static int is_caller(const torch_object *torch)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyObject *code = frame ? (PyObject *)PyFrame_GetCode(frame) : NULL;
    Py_XDECREF(code);
    return code && code == torch->caller;
}

static void forget_look(const torch_object *torch, PyObject *thread)
{
    if (PyDict_Contains(torch->looked, thread) > 0)
        (void)PyDict_DelItem(torch->looked, thread);
}

/* 1: `layer` is to be called. */
static int is_found(const torch_object *torch, layer_object *layer)
{
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *before = thread ? binding_find(torch->looked, thread) : NULL;
    int is_second = before == (PyObject *)layer, is = 0;
    Py_XDECREF(before);
    if (thread && (is_second || PyList_Size(layer->watches) > 0)) {
        /* First this, then the question: who closes asks the other way. */
        if (is_caller(torch))
            (void)PyDict_SetItem(torch->looked, thread, (PyObject *)layer);
        is = is_second || (binding_is_on() && PyList_Size(layer->watches) > 0);
        if (!is)
            forget_look(torch, thread);
    }
    Py_XDECREF(thread);
    return is;
}

/* The attribute of a module. */
static PyObject *look(PyObject *object, PyObject *module, PyObject *owner)
{
    const torch_object *torch = (torch_object *)object;
    (void)owner;
    PyObject *key = module ? PyLong_FromVoidPtr(module) : NULL;
    PyObject *layer = key ? binding_find(torch->layers, key) : NULL;
    Py_XDECREF(key);
    if (layer && is_found(torch, (layer_object *)layer))
        return layer;
    Py_XDECREF(layer);
    return PyErr_Occurred() ? NULL : compiled(torch, module);
}

/* By Module.compile. NULL: it is deleted. */
static int set_compiled(PyObject *object, PyObject *module, PyObject *value)
{
    const torch_object *torch = (torch_object *)object;
    PyObject *fields = PyObject_GetAttr(module, torch->text.__dict__);
    PyObject *name = torch->text._compiled_call_impl;
    int error = !fields || (value ? PyObject_SetItem(fields, name, value)
                                  : PyObject_DelItem(fields, name));
    Py_XDECREF(fields);
    return error ? -1 : 0;
}

/* ---- Calls ---------------------------------------------------------------- */

static call_object *new_call(layer_object *layer, call_object *parent)
{
    PyObject *number = PyObject_CallObject(layer->torch->sequence_nr, NULL);
    call_object *call =
        number ? (call_object *)make(layer->torch->call_type) : NULL;
    if (call) {
        Py_INCREF(layer);
        call->layer = layer;
        Py_XINCREF(parent);
        call->parent = parent;
        call->first = PyLong_AsUnsignedLongLong(number);
    }
    Py_XDECREF(number);
    return call;
}

/* Calls the function of a layer, and follows what it makes. */
static PyObject *run_call(layer_object *layer, here_object *here,
                          PyObject *function, PyObject *args,
                          PyObject *keywords)
{
    call_object *call = new_call(layer, here->call);
    if (!call)
        return NULL;
    int device = PyTuple_Size(args)
                     ? watch_begins_after(call, PyTuple_GetItem(args, 0))
                     : -1;
    here->call = call;
    PyObject *result =
        PyErr_Occurred() ? NULL : PyObject_Call(function, args, keywords);
    if (result && watch_asks(layer->torch->is_grad_enabled) &&
        watch_follow(call, result, device))
        Py_CLEAR(result);
    here->call = call->parent;
    watch_forget_node(&call->last);
    watch_forget_node(&call->before);
    Py_DECREF(call);
    return result;
}

static PyObject *call_marked(layer_object *layer, PyObject *function,
                             PyObject *args, PyObject *keywords)
{
    here_object *here = watch_here(layer->torch);
    if (!here)
        return NULL;
    if (layer->is_inner && here->call &&
        PyObject_RichCompareBool(here->call->layer->name, layer->name, Py_EQ))
        return PyObject_Call(function, args, keywords);
    PyObject *mark = watch_on_stream(layer->torch, layer->forward, args);
    if (!mark)
        return NULL;
    binding_scope_enter(mark);
    PyObject *result = run_call(layer, here, function, args, keywords);
    binding_scope_leave(mark);
    Py_DECREF(mark);
    return result;
}

/* What torch would call: what Module.compile() made, or the module. */
static PyObject *function_of(const layer_object *layer)
{
    PyObject *module = PyObject_CallObject(layer->module, NULL);
    PyObject *found = module ? compiled(layer->torch, module) : NULL;
    if (found == Py_None) {
        Py_DECREF(found);
        found = PyObject_GetAttr(module, layer->torch->text._call_impl);
    }
    Py_XDECREF(module);
    return found;
}

static PyObject *layer_call(PyObject *object, PyObject *args,
                            PyObject *keywords)
{
    layer_object *layer = (layer_object *)object;
    PyObject *thread = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    if (thread)
        forget_look(layer->torch, thread);
    Py_XDECREF(thread);
    PyObject *function = thread ? function_of(layer) : NULL, *result;
    if (!function)
        return NULL;
    Py_INCREF(object);
    if (PyList_Size(layer->watches) == 0 || !binding_is_on() ||
        watch_asks(layer->torch->is_compiling))
        result = PyObject_Call(function, args, keywords);
    else
        result = call_marked(layer, function, args, keywords);
    Py_DECREF(object);
    Py_DECREF(function);
    return result;
}

/* ---- Types ---------------------------------------------------------------- */

#define EACH_OF_LAYER(X) \
    X(torch) \
    X(name) \
    X(kind) X(level) X(module) X(watches) X(forward) X(backward)

static int layer_visit(PyObject *object, visitproc visit, void *arg)
{
    layer_object *self = (layer_object *)object;
#define VISIT(field) Py_VISIT(self->field);
    EACH_OF_LAYER(VISIT)
    return 0;
}

static int layer_clear(PyObject *object)
{
    layer_object *self = (layer_object *)object;
#define CLEAR(field) Py_CLEAR(self->field);
    EACH_OF_LAYER(CLEAR)
    return 0;
}

static int torch_visit(PyObject *object, visitproc visit, void *arg)
{
    torch_object *self = (torch_object *)object;
    WATCH_GIVEN(VISIT)
    return 0;
}

static int torch_clear(PyObject *object)
{
    torch_object *self = (torch_object *)object;
    WATCH_GIVEN(CLEAR)
#define CLEAR_TEXT(field) Py_CLEAR(self->text.field);
    WATCH_NAMES(CLEAR_TEXT)
    Py_CLEAR(self->layer_type);
    Py_CLEAR(self->here_type);
    Py_CLEAR(self->here_key);
    return 0;
}

static int here_clear(PyObject *object)
{
    Py_CLEAR(((here_object *)object)->open);
    return 0;
}

static void free_cleared(PyObject *object, int (*clear)(PyObject *))
{
    PyTypeObject *type = Py_TYPE(object);
    if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC)
        PyObject_GC_UnTrack(object);
    (void)clear(object);
    if (PyType_GetFlags(type) & Py_TPFLAGS_HAVE_GC)
        PyObject_GC_Del(object);
    else
        PyObject_Free(object);
    Py_DECREF(type);
}

static void layer_free(PyObject *object)
{
    free_cleared(object, layer_clear);
}

static void torch_free(PyObject *object)
{
    free_cleared(object, torch_clear);
}

static void here_free(PyObject *object)
{
    free_cleared(object, here_clear);
}

#define MEMBER(type, field, how, flags) \
    { \
#field, how, offsetof(type, field), flags, NULL \
    }
static PyMemberDef layer_members[] = {
    MEMBER(layer_object, name, T_OBJECT, READONLY),
    MEMBER(layer_object, kind, T_OBJECT, READONLY),
    MEMBER(layer_object, level, T_OBJECT, READONLY),
    MEMBER(layer_object, module, T_OBJECT, READONLY),
    MEMBER(layer_object, watches, T_OBJECT, READONLY),
    MEMBER(layer_object, is_inner, T_BOOL, 0),
    {NULL, 0, 0, 0, NULL}};
static PyMemberDef here_members[] = {MEMBER(here_object, open, T_OBJECT, 0),
                                     MEMBER(here_object, runs, T_BOOL, 0),
                                     {NULL, 0, 0, 0, NULL}};

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static PyType_Slot layer_slots[] = {
    {Py_tp_dealloc, (void *)layer_free}, {Py_tp_traverse, (void *)layer_visit},
    {Py_tp_clear, (void *)layer_clear},  {Py_tp_call, (void *)layer_call},
    {Py_tp_members, layer_members},      {0, NULL}};
static PyType_Slot torch_slots[] = {{Py_tp_dealloc, (void *)torch_free},
                                    {Py_tp_traverse, (void *)torch_visit},
                                    {Py_tp_clear, (void *)torch_clear},
                                    {Py_tp_descr_get, (void *)look},
                                    {Py_tp_descr_set, (void *)set_compiled},
                                    {0, NULL}};
static PyType_Slot here_slots[] = {{Py_tp_dealloc, (void *)here_free},
                                   {Py_tp_members, here_members},
                                   {0, NULL}};
static PyType_Spec layer_spec = {"gnomon.Layer", sizeof(layer_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 layer_slots};
static PyType_Spec torch_spec = {"gnomon.Torch", sizeof(torch_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 torch_slots};
static PyType_Spec here_spec = {"gnomon.Here", sizeof(here_object), 0,
                                Py_TPFLAGS_DEFAULT, here_slots};

/* ---- Functions of the module ---------------------------------------------- */

static int make_torch(torch_object *torch)
{
#define INTERN(name) \
    if (!(torch->text.name = PyUnicode_InternFromString(#name))) \
        return -1;
    WATCH_NAMES(INTERN)
    torch->here_key = PyUnicode_InternFromString("gnomon.torch");
    torch->layer_type = PyType_FromSpec(&layer_spec);
    torch->here_type = PyType_FromSpec(&here_spec);
    return torch->here_key && torch->layer_type && torch->here_type ? 0 : -1;
}

static PyObject *call_call_type(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyType_FromSpec(&watch_call_spec);
}

/* The object of an interpreter; its arguments are WATCH_GIVEN. */
static PyObject *call_torch(PyObject *module, PyObject *args)
{
    PyObject *type = PyType_FromSpec(&torch_spec);
    torch_object *torch = type ? (torch_object *)make(type) : NULL;
    (void)module;
    Py_XDECREF(type);
    if (!torch)
        return NULL;
    PyObject **field = &torch->layers;
    Py_ssize_t count = PyTuple_Size(args);
    int is_given = count == &torch->at_the_end + 1 - field;
    for (Py_ssize_t i = 0; is_given && i < count; i++) {
        field[i] = PyTuple_GetItem(args, i);
        Py_INCREF(field[i]);
    }
    if (!is_given)
        PyErr_SetString(PyExc_TypeError, "_torch() takes WATCH_GIVEN");
    if (!is_given || make_torch(torch))
        Py_CLEAR(torch);
    return (PyObject *)torch;
}

/* (torch, module, name, kind, level, forward, backward) */
static PyObject *call_layer(PyObject *unused, PyObject *args)
{
    layer_object l = {0};
    PyObject *torch;
    (void)unused;
    if (!PyArg_ParseTuple(args, "OOOOOOO:_layer", &torch, &l.module, &l.name,
                          &l.kind, &l.level, &l.forward, &l.backward))
        return NULL;
    layer_object *layer =
        (layer_object *)make(((torch_object *)torch)->layer_type);
    if (!layer)
        return NULL;
    l.torch = (torch_object *)torch;
#define TAKE(field) \
    layer->field = l.field; \
    Py_XINCREF(layer->field);
    EACH_OF_LAYER(TAKE)
    layer->watches = PyList_New(0);
    if (!layer->watches)
        Py_CLEAR(layer);
    return (PyObject *)layer;
}

/* This thread's, for what runs backward. */
static PyObject *call_here(PyObject *module, PyObject *torch)
{
    PyObject *here = (PyObject *)watch_here((torch_object *)torch);
    (void)module;
    Py_XINCREF(here);
    return here;
}

static PyObject *call_close_all(PyObject *module, PyObject *open)
{
    (void)module;
    if (watch_close_all(open))
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef binding_watch_methods[] = {
    {"_call_type", call_call_type, METH_NOARGS, NULL},
    {"_torch", call_torch, METH_VARARGS, NULL},
    {"_layer", call_layer, METH_VARARGS, NULL},
    {"_here", call_here, METH_O, NULL},
    {"_close_all", call_close_all, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
