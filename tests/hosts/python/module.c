/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A Python module with a copy of gnomon of its own. NAME.work(n) marks n scopes called
 * NAME, inside an action that both modules call "work". NAME.start() and NAME.finish()
 * are for processes that end without exit(). */
#include <Python.h>

#include "gnomon.h"

#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)
#define JOIN(a, b) a##b
#define INIT(name) JOIN(PyInit_, name)

static PyObject *work(PyObject *self, PyObject *args)
{
    int n;
    (void)self;
    if (!PyArg_ParseTuple(args, "i", &n))
        return NULL;
    gnomon_start("work");
    for (int i = 0; i < n; i++) {
        GNOMON_SCOPE(TEXT_OF(NAME));
    }
    gnomon_stop("work");
    return PyLong_FromLong(n);
}

static PyObject *start(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    return PyLong_FromLong(gnomon_setup(NULL));
}

static PyObject *finish(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    return PyLong_FromLong(gnomon_teardown());
}

static PyMethodDef methods[] = {
    {"work", work, METH_VARARGS, "work(n): n scopes"},
    {"start", start, METH_NOARGS, "begins a run, also in a forked child"},
    {"finish", finish, METH_NOARGS, "ends it, and reports"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    TEXT_OF(NAME),
                                    NULL,
                                    -1,
                                    methods,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC INIT(NAME)(void)
{
    return PyModule_Create(&module);
}
