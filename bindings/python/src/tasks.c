/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tasks of asyncio: which one runs, and which scopes of tasks are open on a thread. A
 * task is known by its address, which is never followed.
 *
 * The ranges of a task are known by a variable of its context. A task begins with a copy
 * of its creator's, so with the range that was open there. */
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
    PyObject *variables = current ? PyImport_ImportModule("contextvars") : NULL;
    PyObject *around =
        variables ? PyObject_CallMethod(variables, "ContextVar", "s", "gnomon")
                  : NULL;
    Py_XDECREF(variables);
    PyObject *events = around ? PyObject_GetAttrString(tasks, "events") : NULL;
    PyObject *running =
        events ? PyObject_GetAttrString(events, "_get_running_loop") : NULL;
    Py_XDECREF(events);
    Py_DECREF(tasks);
    if (!running) { /* it is being imported */
        Py_XDECREF(current);
        Py_XDECREF(around);
        return 0;
    }
    keep_found(&state->around, around);
    keep_found(&state->current,
               current); /* first: the other says that all are */
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

/* ---- The ranges of a task --------------------------------------------------- */

/* An item of the variable: a list of a range's token, 0 once it is over; the item of the
 * range around it, or None; and binding_forks. */

static uint64_t number_of(PyObject *item, Py_ssize_t field)
{
    PyObject *number = PySequence_GetItem(item, field);
    uint64_t value = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    return value;
}

/* The first that is open, from `item` outward, which is consumed; NULL: none. */
static PyObject *first_open(PyObject *item, uint64_t *token)
{
    *token = 0;
    while (item && item != Py_None) {
        if (number_of(item, 2) == binding_forks)
            *token = number_of(item, 0);
        if (*token)
            return item;
        PyObject *around = PySequence_GetItem(item, 1);
        Py_DECREF(item);
        item = around;
    }
    Py_XDECREF(item);
    return NULL;
}

static PyObject *in_context(const binding_state *state)
{
    return PyObject_CallMethod(state->around, "get", "O", Py_None);
}

PyObject *binding_task_around(binding_state *state, uint64_t *token)
{
    PyObject *type, *value, *trace;
    *token = 0;
    if (!__atomic_load_n(&state->open_ranges, __ATOMIC_RELAXED))
        return NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *item = first_open(in_context(state), token);
    PyErr_Restore(type, value, trace);
    return item;
}

PyObject *binding_task_opens(binding_state *state, uint64_t token,
                             PyObject *around)
{
    PyObject *type, *value, *trace;
    uint64_t unused;
    PyErr_Fetch(&type, &value, &trace);
    if (around) { /* those that are over are kept no longer */
        PyObject *next = first_open(PySequence_GetItem(around, 1), &unused);
        (void)PySequence_SetItem(around, 1, next ? next : Py_None);
        Py_XDECREF(next);
    }
    PyObject *open = Py_BuildValue("[KOI]", (unsigned long long)token,
                                   around ? around : Py_None, binding_forks);
    PyObject *set =
        open ? PyObject_CallMethod(state->around, "set", "O", open) : NULL;
    Py_XDECREF(set);
    Py_XDECREF(around);
    if (open)
        BINDING_ADD(&state->open_ranges, 1);
    PyErr_Restore(type, value, trace);
    return open;
}

void binding_task_closes(binding_state *state, PyObject *open)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *over = PyLong_FromLong(0);
    if (over)
        (void)PySequence_SetItem(open, 0, over);
    Py_XDECREF(over);
    /* Another context, as where a coroutine is closed outside of its task, keeps it. */
    PyObject *item = in_context(state);
    if (item == open) {
        PyObject *around = PySequence_GetItem(open, 1);
        PyObject *set =
            around ? PyObject_CallMethod(state->around, "set", "O", around)
                   : NULL;
        Py_XDECREF(set);
        Py_XDECREF(around);
    }
    Py_XDECREF(item);
    Py_DECREF(open);
    BINDING_ADD(&state->open_ranges, -1);
    PyErr_Restore(type, value, trace);
}
