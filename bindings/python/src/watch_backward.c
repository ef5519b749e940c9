/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The backward of a call of a watched module. It begins where autograd comes to the node of
 * an output, and is over after the node that was made first, for autograd goes back in the
 * order of their numbers. Scopes of a thread nest as the calls did: what begins closes what
 * it is not inside of. So backward is followed where the end is not seen too, as with
 * autograd.grad, which comes to a part of the nodes only. */
#include "watch.h"

/* ---- Open ones ------------------------------------------------------------ */

static PyObject *top_of(PyObject *open)
{
    Py_ssize_t count = PyList_Size(open);
    return count > 0 ? PyList_GetItem(open, count - 1) : NULL;
}

static int close_top(PyObject *open)
{
    Py_ssize_t count = PyList_Size(open);
    call_object *call = (call_object *)PyList_GetItem(open, count - 1);
    PyObject *mark = __atomic_exchange_n(&call->mark, NULL, __ATOMIC_ACQ_REL);
    if (mark)
        binding_scope_leave(mark);
    Py_XDECREF(mark);
    return PyList_SetSlice(open, count - 1, count, NULL);
}

int watch_close_all(PyObject *open)
{
    int error = 0;
    while (!error && PyList_Size(open) > 0)
        error = close_top(open);
    return error;
}

static int open_call(call_object *call, PyObject *open, PyObject *gradients)
{
    PyObject *mark =
        watch_on_stream(call->layer->torch, call->layer->backward, gradients);
    if (!mark || PyList_Append(open, (PyObject *)call)) {
        Py_XDECREF(mark);
        return -1;
    }
    mark = __atomic_exchange_n(&call->mark, mark, __ATOMIC_ACQ_REL);
    Py_XDECREF(mark);
    binding_scope_enter(call->mark);
    gnomon_link_in(&call->link, GNOMON_LINK_BACKWARD);
    return 0;
}

/* Opens this call and those around it, from the outermost one that is not. */
static int open_all(call_object *call, PyObject *open, PyObject *gradients)
{
    if (call->parent && !call->parent->mark &&
        open_all(call->parent, open, gradients))
        return -1;
    return call->is_followed ? open_call(call, open, gradients) : 0;
}

/* Whether `inner` is `call`, or in it. */
static int contains(const call_object *call, const call_object *inner)
{
    while (inner && inner != call)
        inner = inner->parent;
    return inner != NULL;
}

/* ---- Hooks ---------------------------------------------------------------- */

/* Before the node of an output. */
static int begin(call_object *call, PyObject *gradients)
{
    torch_object *torch = call->layer->torch;
    here_object *here = watch_here(torch);
    if (!here)
        return -1;
    PyObject *open = here->open, *top;
    while ((top = top_of(open)) != NULL &&
           !contains((call_object *)top, call->parent))
        if (close_top(open))
            return -1;
    if (!top && !here->runs) { /* autograd's own thread, as for a GPU */
        PyObject *none =
            PyObject_CallFunctionObjArgs(torch->at_the_end, open, NULL);
        Py_XDECREF(none);
        if (!none)
            return -1;
    }
    return open_all(call, open, gradients);
}

/* After the node that was made first. */
static int end(call_object *call)
{
    here_object *here = watch_here(call->layer->torch);
    int has = here ? PySequence_Contains(here->open, (PyObject *)call) : -1;
    while (has > 0) {
        has = top_of(here->open) != (PyObject *)call;
        if (close_top(here->open))
            return -1;
    }
    return has;
}

/* Before a node it has one argument, after a node it has two. */
static PyObject *call_hook(PyObject *object, PyObject *const *args,
                           Py_ssize_t count)
{
    call_object *call = (call_object *)object;
    int is_begin = count == 1;
    if (is_begin != !call->mark || (is_begin && !binding_is_on()))
        Py_RETURN_NONE;
    Py_INCREF(object); /* the list may be the last that keeps it */
    int error = is_begin ? begin(call, args[0]) : end(call);
    Py_DECREF(object);
    if (error)
        return NULL;
    Py_RETURN_NONE;
}

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static void call_free(PyObject *object)
{
    call_object *call = (call_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(call->layer);
    Py_XDECREF(call->parent);
    Py_XDECREF(call->mark);
    watch_forget_node(&call->last);
    watch_forget_node(&call->before);
    /* A subclass may be an object of the garbage collector's. */
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyMethodDef call_methods[] = {
    {"_hook", BINDING_FUNCTION(call_hook), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot call_slots[] = {{Py_tp_dealloc, (void *)call_free},
                                   {Py_tp_methods, call_methods},
                                   {0, NULL}};
PyType_Spec watch_call_spec = {"gnomon.Call", sizeof(call_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                               call_slots};
