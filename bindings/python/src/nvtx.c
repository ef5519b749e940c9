/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges of NVTX whose text is said once and kept by nobody here: those of operations, whose
 * numbers are new at each call. */
#include "binding.h"

#include "profilers/nvtx_tool.h"

/* A text opens a range in the default domain, None closes this thread's innermost one.
 * Whether a tool hears it; None: built without NVTX. */
static PyObject *nvtx_range(PyObject *module, PyObject *text)
{
    (void)module;
#if GNOMON_WITH_NVTX
    PyObject *bytes = text == Py_None ? NULL : binding_utf8(text);
    nvtx_load(); /* the interpreter's lock is held */
    if (text != Py_None && !bytes)
        return NULL;
    if (bytes)
        (void)NVTX_ASK(CORE, RangePushA, PyBytes_AsString(bytes));
    else if (NVTX_TOOL(CORE, RangePop))
        (void)NVTX_TOOL(CORE, RangePop)();
    Py_XDECREF(bytes);
    return PyBool_FromLong(nvtx_has_core());
#else
    (void)text;
    Py_RETURN_NONE;
#endif
}

PyMethodDef binding_nvtx_methods[] = {{"_nvtx", nvtx_range, METH_O, NULL},
                                      {NULL, NULL, 0, NULL}};
