/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon.range: begins when it is made, and ends once, on any thread. */
#include "binding.h"

typedef struct {
    PyObject_HEAD gnomon_range range; /* 0: it is over, or nobody records it */
    unsigned forks;                   /* binding_forks when it began */
    binding_state *state;
} range_object;

static void end_range(range_object *self)
{
    gnomon_range range = __atomic_exchange_n(&self->range, 0, __ATOMIC_RELAXED);
    if (self->forks != binding_forks)
        return; /* it is the parent's */
    binding_here.inside = self->state;
    gnomon_range_end(range);
    binding_here.inside = NULL;
}

static PyObject *range_end(PyObject *self, PyObject *unused)
{
    (void)unused;
    end_range((range_object *)self);
    Py_RETURN_NONE;
}

static PyObject *range_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_INCREF(self);
    return self;
}

static PyObject *range_exit(PyObject *self, PyObject *const *args,
                            Py_ssize_t count)
{
    (void)args;
    (void)count;
    return range_end(self, NULL);
}

static PyObject *range_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    (void)type;
    (void)args;
    (void)keywords;
    return PyErr_Format(PyExc_TypeError, "call gnomon.range(name)");
}

/* A range that nobody can end any more ends here. */
static void range_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    end_range((range_object *)self);
    binding_state_release(((range_object *)self)->state);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef range_methods[] = {
    {"__enter__", range_enter, METH_NOARGS, NULL},
    {"__exit__", BINDING_FUNCTION(range_exit), METH_FASTCALL, NULL},
    {"end", range_end, METH_NOARGS,
     "end($self, /)\n--\n\nEnds the range. A second call does nothing."},
    {NULL, NULL, 0, NULL}};

#pragma GCC diagnostic ignored \
    "-Wpedantic" /* CPython keeps functions as void * */
static PyType_Slot range_slots[] = {{Py_tp_new, (void *)range_new},
                                    {Py_tp_dealloc, (void *)range_free},
                                    {Py_tp_methods, range_methods},
                                    {0, NULL}};
static PyType_Spec range_spec = {"gnomon.Range", sizeof(range_object), 0,
                                 Py_TPFLAGS_DEFAULT, range_slots};

static PyObject *range_of(PyObject *module, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "category"};
    PyObject *given[2] = {NULL, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("range", names, 2, args, count, keywords, given))
        return NULL;
    PyObject *scope = binding_scope_get(state, state->ranges, given[0],
                                        given[1], GNOMON_KIND_RANGE);
    if (!scope)
        return NULL;
    range_object *self =
        PyObject_New(range_object, (PyTypeObject *)state->range_type);
    if (self) {
        self->range = 0;
        self->forks = binding_forks;
        self->state = state;
        binding_state_hold(state);
    }
    if (self && binding_wake()) {
        gnomon_region *region = binding_region_of(scope);
        binding_here.inside = state;
        self->range = gnomon_range_begin(region);
        binding_here.inside = NULL;
    }
    Py_DECREF(scope);
    return (PyObject *)self;
}

PyMethodDef binding_range_methods[] = {
    {"range", BINDING_FUNCTION(range_of), METH_FASTCALL | METH_KEYWORDS,
     "range(name, category=None)\n--\n\n"
     "Begins a range, which .end() or a with block ends on any thread."},
    {NULL, NULL, 0, NULL}};

int binding_range_types(binding_state *state, PyObject *module)
{
    state->range_type = PyType_FromSpec(&range_spec);
    if (!state->range_type)
        return -1;
    Py_INCREF(state->range_type);
    return PyModule_AddObject(module, "Range", state->range_type);
}
