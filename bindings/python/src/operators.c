/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operators of torch as scopes: what gnomon/operators.cpp calls, on any thread. They are
 * in the order of the thread's other scopes, as those of layers, which need not nest with
 * them: autograd ends a layer's backward inside of an operator. */
#include "../gnomon/operators.h"

#include <string.h>

#include "binding.h"

/* torch's own session is open for us, and has them. */
static int operators_rest;

static int operators_are_on(void)
{
    return __atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&operators_rest, __ATOMIC_RELAXED);
}

static gnomon_region *operator_region(const char *name)
{
    return gnomon_host_get()->region_get(name, strlen(name), NULL, 0,
                                         GNOMON_KIND_SCOPE);
}

static gnomon_operator operator_begin(gnomon_region *region,
                                      const gnomon_op_info *op)
{
    binding_local *here = binding_local_here();
    gnomon_operator open = {gnomon_begin_op(region, op), here, 0};
    if (open.token)
        open.position = ++here->open;
    return open;
}

static void operator_end(const gnomon_operator *open)
{
    binding_local *here = binding_local_here();
    if (open->thread == here)
        binding_end(here, open->token, open->position);
    else
        gnomon_end_alone(open->token);
}

static gnomon_forwards forwards;

static void operator_forward(uint64_t thread, uint64_t number)
{
    gnomon_forward(&forwards, thread, number);
}

static void operator_backward(uint64_t thread, uint64_t number)
{
    gnomon_backward(&forwards, thread, number);
}

static gnomon_region *operator_pool(const char *name)
{
    return gnomon_region_get(name, NULL, GNOMON_KIND_POOL);
}

static const gnomon_operator_calls operator_calls = {
    operators_are_on,     operator_region,       operator_begin,
    operator_end,         operator_forward,      operator_backward,
    operator_pool,        gnomon_pool_allocated, gnomon_pool_freed,
    gnomon_pool_reserved, gnomon_pool_exhausted};

/* The address of the calls. */
static PyObject *call_operator_calls(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromVoidPtr((void *)(uintptr_t)&operator_calls);
}

static PyObject *call_operators_rest(PyObject *module, PyObject *rest)
{
    (void)module;
    __atomic_store_n(&operators_rest, rest == Py_True, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

PyMethodDef binding_operator_methods[] = {
    {"_operator_calls", call_operator_calls, METH_NOARGS, NULL},
    {"_operators_rest", call_operators_rest, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
