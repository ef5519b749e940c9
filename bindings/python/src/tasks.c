/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tasks of asyncio: which one runs, and which scopes of tasks are open on a thread. A
 * task is known by its address, which is never followed. */
#include "binding.h"

#include <string.h>

#define TASK_SCOPES 64 /* of tasks, open on one thread; more become ranges */

/* The open scopes of tasks on this thread that are not ranges. */
static __thread struct {
    size_t count;
    struct {
        const void *task;
        uint64_t token;
    } scope[TASK_SCOPES];
} here;

/* Keeps what one thread found; what others found meanwhile is the same. */
static void keep_found(PyObject **at, PyObject *found)
{
    PyObject *none = NULL;
    if (!__atomic_compare_exchange_n(at, &none, found, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        Py_DECREF(found);
}

static int find_asyncio(binding_state *state)
{
    PyObject *tasks = binding_find(PyImport_GetModuleDict(), state->tasks_key);
    if (!tasks)
        return 0;
    PyObject *current = PyObject_GetAttrString(tasks, "current_task");
    PyObject *events = current ? PyObject_GetAttrString(tasks, "events") : NULL;
    PyObject *running =
        events ? PyObject_GetAttrString(events, "_get_running_loop") : NULL;
    Py_XDECREF(events);
    Py_DECREF(tasks);
    if (!running) { /* it is being imported */
        Py_XDECREF(current);
        return 0;
    }
    keep_found(&state->current,
               current); /* first: the other says that both are */
    keep_found(&state->running, running);
    return 1;
}

const void *binding_task(binding_state *state, int *in_loop)
{
    PyObject *type, *value, *trace, *loop, *task = NULL;
    *in_loop = 0;
    if (!__atomic_load_n(&state->running, __ATOMIC_ACQUIRE)) {
        PyErr_Fetch(&type, &value, &trace);
        int found = find_asyncio(state);
        PyErr_Restore(type, value, trace);
        if (!found)
            return NULL;
    }
    PyErr_Fetch(&type, &value, &trace);
    loop = PyObject_CallObject(
        __atomic_load_n(&state->running, __ATOMIC_ACQUIRE), NULL);
    if (loop && loop != Py_None) {
        PyObject *current = __atomic_load_n(&state->current, __ATOMIC_ACQUIRE);
        *in_loop = 1;
        task = PyObject_CallFunctionObjArgs(current, loop, NULL);
    }
    Py_XDECREF(loop);
    const void *address = task == Py_None ? NULL : task;
    Py_XDECREF(task); /* the loop keeps it while it runs */
    PyErr_Restore(type, value, trace);
    return address;
}

int binding_task_may_nest(const void *task, int in_loop)
{
    if (!in_loop)
        here.count = 0; /* what is left of a loop that has ended */
    if (!here.count)
        return 1;
    return here.count < TASK_SCOPES && here.scope[here.count - 1].task == task;
}

void binding_task_ends(uint64_t token)
{
    for (size_t i = here.count; i--;)
        if (here.scope[i].token == token) {
            memmove(here.scope + i, here.scope + i + 1,
                    (here.count - i - 1) * sizeof *here.scope);
            here.count--;
            return;
        }
}

void binding_task_begins(const void *task, uint64_t token)
{
    here.scope[here.count].task = task;
    here.scope[here.count++].token = token;
}

void binding_tasks_forked(void)
{
    here.count = 0;
}
