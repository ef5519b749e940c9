/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of threads: a thread that threading knows is called as there, from its first mark
 * on. The main thread keeps the name that the system has. */
#include "binding.h"

#include <string.h>

#include <pythread.h>

/* So many threads have names of their own. Later ones have # in place of digits, so that a
 * program that makes threads without end does not make names without end. */
#define OWN_NAMES 256

static void hide_digits(char *name, size_t *length)
{
    size_t kept = 0;
    for (size_t i = 0; i < *length; i++) {
        int is_digit = name[i] >= '0' && name[i] <= '9';
        if (!is_digit)
            name[kept++] = name[i];
        else if (!kept || name[kept - 1] != '#')
            name[kept++] = '#';
    }
    *length = kept;
}

/* The name of this thread's object, if there is one. A new reference or NULL, perhaps with
 * an exception. No code in Python runs. */
static PyObject *own_name(void)
{
    PyObject *name = NULL, *modules = PyImport_GetModuleDict();
    PyObject *threading = PyDict_GetItemString(modules, "threading");
    PyObject *active =
        threading ? PyObject_GetAttrString(threading, "_active") : NULL;
    PyObject *ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *thread = active && ident && PyDict_Check(active)
                           ? binding_find(active, ident)
                           : NULL;
    if (thread)
        name = PyObject_GetAttrString(thread, "_name");
    Py_XDECREF(thread);
    Py_XDECREF(ident);
    Py_XDECREF(active);
    return name;
}

static void tell_name(PyObject *name)
{
    static unsigned told;
    char text[128];
    PyObject *bytes = binding_utf8(name);
    size_t length = bytes ? (size_t)PyBytes_Size(bytes) : 0;
    length = length < sizeof text ? length : sizeof text;
    if (length)
        memcpy(text, PyBytes_AsString(bytes), length);
    Py_XDECREF(bytes);
    if (!length)
        return;
    if (__atomic_fetch_add(&told, 1, __ATOMIC_RELAXED) >= OWN_NAMES)
        hide_digits(text, &length);
    Py_BEGIN_ALLOW_THREADS
    gnomon_host_get()->thread_name(text, length);
    Py_END_ALLOW_THREADS
}

void binding_thread_name(void)
{
    PyObject *type, *value, *trace;
    binding_here.is_named = 1;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *name = own_name();
    if (name && PyUnicode_Check(name) &&
        PyUnicode_CompareWithASCIIString(name, "MainThread") != 0)
        tell_name(name);
    Py_XDECREF(name);
    if (PyErr_Occurred())
        binding_forget_error();
    PyErr_Restore(type, value, trace);
}
