/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where Python tells of calls: sys.monitoring's callbacks, from 3.12 on, and before that
 * the profile function of each thread. gnomon/_calls.py registers them. */
#include "calls.h"

#include <dlfcn.h>

/* ---- sys.monitoring: functions of (code, offset, ...) --------------------- */

static PyObject *on_call_begin(PyObject *module, PyObject *const *args,
                               Py_ssize_t count)
{
    if (count >= 2)
        binding_call_begins(binding_state_of(module), args[0], args[0]);
    Py_RETURN_NONE;
}

static PyObject *on_call_end(PyObject *module, PyObject *const *args,
                             Py_ssize_t count)
{
    if (count >= 2)
        binding_call_ends(binding_state_of(module), args[0]);
    Py_RETURN_NONE;
}

/* (code, offset, callable, first argument) */
static PyObject *on_c_begin(PyObject *module, PyObject *const *args,
                            Py_ssize_t count)
{
    PyObject *callable = count >= 3 ? args[2] : Py_None;
    const void *key = binding_c_function(&callable);
    if (key)
        binding_call_begins(binding_state_of(module), key, callable);
    Py_RETURN_NONE;
}

static PyObject *on_c_end(PyObject *module, PyObject *const *args,
                          Py_ssize_t count)
{
    PyObject *callable = count >= 3 ? args[2] : Py_None;
    const void *key = binding_c_function(&callable);
    if (key)
        binding_call_ends(binding_state_of(module), key);
    Py_RETURN_NONE;
}

/* ---- The profile function of a thread ------------------------------------- */

/* These are not in the limited API; all Pythons from 3.9 to 3.11 have them. */
typedef int profile_function(PyObject *, PyFrameObject *, int, PyObject *);
typedef void set_profile(profile_function *, PyObject *);
enum { CALL = 0, RETURN = 3, C_CALL = 4 /* and its ends, 5 and 6 */ };

static int on_profile(PyObject *module, PyFrameObject *frame, int what,
                      PyObject *argument)
{
    binding_state *state = binding_state_of(module);
    PyObject *of = argument;
    const void *key;
    if (what == CALL || what == RETURN) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        if (what == CALL)
            binding_call_begins(state, code, code);
        else
            binding_call_ends(state, code);
        Py_DECREF(code);
    } else if (what >= C_CALL && (key = binding_c_function(&of))) {
        if (what == C_CALL)
            binding_call_begins(state, key, of);
        else
            binding_call_ends(state, key);
    }
    return 0;
}

static int set_hook(PyObject *module, int on)
{
    static set_profile *set;
    if (!set)
        *(void **)&set = dlsym(RTLD_DEFAULT, "PyEval_SetProfile");
    if (set)
        set(on ? on_profile : NULL, on ? module : NULL);
    return set != NULL;
}

static PyObject *call_hook_on(PyObject *module, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(set_hook(module, 1));
}

static PyObject *call_hook_off(PyObject *module, PyObject *unused)
{
    (void)unused;
    return PyBool_FromLong(set_hook(module, 0));
}

/* What threading.setprofile gives a new thread: at its first event, which is a call, it
 * gives way to the function above. */
static PyObject *call_hook_thread(PyObject *module, PyObject *args)
{
    PyObject *frame, *event, *argument;
    if (!PyArg_ParseTuple(args, "OUO", &frame, &event, &argument))
        return NULL;
    if (set_hook(module, 1) &&
        PyUnicode_CompareWithASCIIString(event, "call") == 0)
        (void)on_profile(module, (PyFrameObject *)frame, CALL, argument);
    Py_RETURN_NONE;
}

PyMethodDef binding_hook_methods[] = {
    {"_on_call_begin", BINDING_FUNCTION(on_call_begin), METH_FASTCALL, NULL},
    {"_on_call_end", BINDING_FUNCTION(on_call_end), METH_FASTCALL, NULL},
    {"_on_c_begin", BINDING_FUNCTION(on_c_begin), METH_FASTCALL, NULL},
    {"_on_c_end", BINDING_FUNCTION(on_c_end), METH_FASTCALL, NULL},
    {"_hook_on", call_hook_on, METH_NOARGS, NULL},
    {"_hook_off", call_hook_off, METH_NOARGS, NULL},
    {"_hook_thread", call_hook_thread, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
