/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The module gnomon._gnomon: its state, forks and workers. The package gnomon/ is what
 * users import.
 *
 * Each interpreter of a process has a module of its own, and all share one gnomon. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include "report/loaders.h"

int binding_worker_waits;
unsigned binding_forks;
__thread binding_local binding_here;

typedef struct {
    binding_state *state;
} module_data;

binding_state *binding_state_of(PyObject *module)
{
    return ((module_data *)PyModule_GetState(module))->state;
}

void binding_state_hold(binding_state *state)
{
    __atomic_fetch_add(&state->users, 1, __ATOMIC_RELAXED);
}

void binding_state_release(binding_state *state)
{
    if (__atomic_sub_fetch(&state->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(state);
}

/* ---- The first mark, forks, workers --------------------------------------- */

static void wake_worker(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_BEGIN_ALLOW_THREADS
    if (__atomic_exchange_n(&binding_worker_waits, 0, __ATOMIC_RELAXED))
        (void)gnomon_setup(NULL);
    Py_END_ALLOW_THREADS
    PyErr_Restore(type, value, trace);
}

int binding_wake(void)
{
    if (binding_waits())
        wake_worker();
    int is_on = __atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED) != 0;
    if (__builtin_expect(is_on && !binding_here.is_named, 0))
        binding_thread_name();
    return is_on;
}

/* The first call in the process reads $GNOMON, and those of other threads wait for it. */
gnomon_region *binding_region_get(PyObject *name, PyObject *category, int kind)
{
    gnomon_region *region;
    const char *name_at = PyBytes_AsString(name);
    const char *category_at = category ? PyBytes_AsString(category) : NULL;
    size_t name_length = (size_t)PyBytes_Size(name);
    size_t category_length = category ? (size_t)PyBytes_Size(category) : 0;
    (void)binding_wake();
    Py_BEGIN_ALLOW_THREADS
    region = gnomon_host_get()->region_get(name_at, name_length, category_at,
                                           category_length, kind);
    Py_END_ALLOW_THREADS
    return region;
}

/* In a forked child, before anything else of Python runs there. */
static PyObject *module_forked(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    binding_forks++;
    binding_calls_forked();
    binding_tasks_forked();
    __atomic_store_n(&binding_worker_waits, 0, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

/* In a worker of multiprocessing, before its work: a forked one is off, and begins its
 * own run at its first mark. */
static PyObject *module_worker(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    if (!(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED) &
          ~GNOMON_MASK_UNSEEN))
        __atomic_store_n(&binding_worker_waits, 1, __ATOMIC_RELAXED);
    Py_RETURN_NONE;
}

/* Where a worker ends, which may be by os._exit. */
static PyObject *module_end(PyObject *module, PyObject *unused)
{
    (void)unused;
    return binding_end_run(module);
}

PyObject *binding_end_run(PyObject *module)
{
    uint32_t on = __atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED);
    __atomic_store_n(&binding_worker_waits, 0, __ATOMIC_RELAXED);
    binding_calls_stop(binding_state_of(module));
    if (on && !(on & GNOMON_MASK_UNSEEN)) {
        Py_BEGIN_ALLOW_THREADS
        if (gnomon_setup(NULL) != GNOMON_ESTATE)
            while (gnomon_teardown() != GNOMON_ESTATE)
                ;
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyMethodDef own_methods[] = {
    {"_forked", module_forked, METH_NOARGS, NULL},
    {"_worker", module_worker, METH_NOARGS, NULL},
    {"_end", module_end, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

/* ---- The module ----------------------------------------------------------- */

/* The codes of errors, as ENOENT. */
static int add_codes(PyObject *module)
{
#define ADD_CODE(name, code, text) \
    if (PyModule_AddIntConstant(module, #name, code)) \
        return -1;
    GNOMON_ERRORS(ADD_CODE)
#undef ADD_CODE
    return 0;
}

static int make_state(binding_state *state, PyObject *module)
{
    PyObject *members = Py_BuildValue("{si}", "code", 0);
    if (!members)
        return -1;
    state->error = PyErr_NewExceptionWithDoc(
        "gnomon.Error",
        "A call failed: .code is gnomon's code, 0 where the package raised it.",
        PyExc_RuntimeError, members);
    Py_DECREF(members);
    state->tasks_key = PyUnicode_InternFromString("asyncio.tasks");
    state->scopes = PyDict_New();
    state->ranges = PyDict_New();
    state->marks = PyDict_New();
    state->counters = PyDict_New();
    state->pools = PyDict_New();
    state->actions = PyDict_New();
    if (!state->error || !state->tasks_key || !state->scopes ||
        !state->ranges || !state->marks || !state->counters || !state->pools ||
        !state->actions || add_codes(module))
        return -1;
    Py_INCREF(state->error);
    return PyModule_AddObject(module, "Error", state->error);
}

static int module_run(PyObject *module)
{
    static PyMethodDef *const methods[] = {own_methods,
                                           binding_scope_methods,
                                           binding_range_methods,
                                           binding_mark_methods,
                                           binding_control_methods,
                                           binding_profiler_methods,
                                           binding_profile_methods,
                                           binding_recording_methods,
                                           binding_event_methods,
                                           binding_average_methods,
                                           binding_call_methods,
                                           binding_hook_methods,
                                           binding_watch_methods,
                                           binding_nvtx_methods,
                                           binding_operator_methods};
    module_data *data = PyModule_GetState(module);
    data->state = calloc(1, sizeof *data->state);
    if (!data->state) {
        PyErr_NoMemory();
        return -1;
    }
    data->state->users = 1;
    data->state->is_main =
        PyInterpreterState_GetID(PyInterpreterState_Get()) == 0;
    if (make_state(data->state, module) ||
        binding_scope_types(data->state, module) ||
        binding_range_types(data->state, module) ||
        binding_event_types(data->state, module) ||
        binding_profile_types(data->state, module) ||
        binding_recording_types(data->state, module))
        return -1;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (PyModule_AddFunctions(module, methods[i]))
            return -1;
    (void)gnomon_host_get()->add_profiler(gnomon__loaders_profiler);
    return 0;
}

#define MODULE_OBJECTS(X) \
    X(error) \
    X(scope_type) \
    X(range_type) \
    X(scopes) \
    X(ranges) \
    X(marks) \
    X(counters) \
    X(pools) \
    X(actions) X(tasks_key) X(describe_call) X(running) X(current) X(around)

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_data *data = PyModule_GetState(module);
    if (!data || !data->state)
        return 0;
#define VISIT(field) Py_VISIT(data->state->field);
    MODULE_OBJECTS(VISIT)
#undef VISIT
    return 0;
}

static int module_clear(PyObject *module)
{
    module_data *data = PyModule_GetState(module);
    if (!data || !data->state)
        return 0;
#define CLEAR(field) Py_CLEAR(data->state->field);
    MODULE_OBJECTS(CLEAR)
#undef CLEAR
    return 0;
}

static void module_free(void *module)
{
    module_data *data = PyModule_GetState(module);
    if (!data || !data->state)
        return;
    module_clear(module);
    binding_calls_free(data->state);
    binding_state_release(data->state);
    data->state = NULL;
}

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
/* Each interpreter may have a lock of its own: slot 3 says so, since 3.12. The slot of
 * builds without that lock is 4, since 3.13. */
static PyModuleDef_Slot slots[4] = {{Py_mod_exec, (void *)module_run}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_gnomon",    "Marks for gnomon.",
    sizeof(module_data),   NULL,         slots,
    module_traverse,       module_clear, module_free};

PyMODINIT_FUNC PyInit__gnomon(void);
PyMODINIT_FUNC PyInit__gnomon(void)
{
    const char *version = Py_GetVersion();
    int minor = version[0] == '3' && version[1] == '.' ? atoi(version + 2) : 0;
    if (minor >= 12) {
        slots[1].slot = 3;          /* Py_mod_multiple_interpreters */
        slots[1].value = (void *)2; /* one lock each */
    }
#ifdef Py_GIL_DISABLED
    slots[2].slot = Py_mod_gil;
    slots[2].value = Py_MOD_GIL_NOT_USED;
#endif
    return PyModuleDef_Init(&definition);
}
