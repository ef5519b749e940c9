/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks but scopes: actions by name, ranges, steps, counters, moments, links. They raise
 * for wrong arguments alone, on or off, never for gnomon's own trouble, which
 * gnomon.health() counts. */
#include "binding.h"

#include <string.h>

/* Whether marks do something, for code of ours that marks: in far less time than
 * gnomon.enabled(). */
static PyObject *call_is_marking(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(binding_is_on());
}

/* ---- Arguments ------------------------------------------------------------ */

static int take_keyword(const char *function, const char *const *names,
                        Py_ssize_t most, PyObject *name, PyObject *value,
                        PyObject **given, unsigned *seen)
{
    for (Py_ssize_t i = 0; i < most; i++) {
        if (PyUnicode_CompareWithASCIIString(name, names[i]) != 0)
            continue;
        if (*seen & (1u << i)) {
            PyErr_Format(PyExc_TypeError, "%s() got two values for '%s'",
                         function, names[i]);
            return 0;
        }
        *seen |= 1u << i;
        given[i] = value;
        return 1;
    }
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", function, name);
    return 0;
}

int binding_arguments(const char *function, const char *const *names,
                      Py_ssize_t most, PyObject *const *args, Py_ssize_t count,
                      PyObject *keywords, PyObject **given)
{
    unsigned seen = 0;
    if (count > most) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments",
                     function, most);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        given[i] = args[i];
        seen |= 1u << i;
    }
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (!take_keyword(function, names, most, PyTuple_GetItem(keywords, i),
                          args[count + i], given, &seen))
            return 0;
    if (given[0] && PyUnicode_Check(given[0]))
        return 1;
    PyErr_Format(PyExc_TypeError, "%s(): '%s' must be a str", function,
                 names[0]);
    return 0;
}

static int is_category(PyObject *given)
{
    if (given == Py_None || PyUnicode_Check(given))
        return 1;
    PyErr_SetString(PyExc_TypeError, "a category is a str");
    return 0;
}

PyObject *binding_utf8(PyObject *text)
{
    if (!PyUnicode_Check(text))
        return PyErr_Format(PyExc_TypeError, "a name is a str");
    return PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
}

/* ---- Actions -------------------------------------------------------------- */

/* The UTF-8 of a name, a new reference. Most names come again. */
static PyObject *action_name(binding_state *state, PyObject *name)
{
    if (!PyUnicode_CheckExact(name))
        return binding_utf8(name);
    PyObject *bytes = binding_find(state->actions, name);
    if (bytes)
        return bytes;
    bytes = PyErr_Occurred() ? NULL : binding_utf8(name);
    if (bytes && PyDict_Size(state->actions) >= BINDING_NAMES)
        PyDict_Clear(state->actions);
    if (bytes && PyDict_SetItem(state->actions, name, bytes))
        Py_CLEAR(bytes);
    return bytes;
}

/* `act` finds a text again by its pointer, which the kept bytes have as long as the name
 * comes again; `act_n` is for a name with a NUL inside. */
static PyObject *mark_action(PyObject *module, PyObject *name,
                             void (*act)(const char *),
                             void (*act_n)(const char *, size_t))
{
    if (!PyUnicode_Check(name))
        return PyErr_Format(PyExc_TypeError, "a name is a str");
    if (!binding_is_on())
        Py_RETURN_NONE;
    PyObject *bytes = action_name(binding_state_of(module), name);
    if (!bytes)
        return NULL;
    if (__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED) & GNOMON_MASK_UNSEEN)
        (void)binding_region_get(bytes, NULL, GNOMON_KIND_ACTION);
    if (binding_wake()) {
        binding_here.inside = binding_state_of(module);
        const char *text = PyBytes_AsString(bytes);
        size_t length = (size_t)PyBytes_Size(bytes);
        if (strlen(text) == length)
            act(text);
        else
            act_n(text, length);
        binding_here.inside = NULL;
    }
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

static PyObject *mark_start(PyObject *module, PyObject *name)
{
    return mark_action(module, name, gnomon_start_slow, gnomon_start_n_slow);
}

static PyObject *mark_stop(PyObject *module, PyObject *name)
{
    return mark_action(module, name, gnomon_stop_slow, gnomon_stop_n_slow);
}

/* ---- Moments, counters, steps --------------------------------------------- */

static PyObject *mark_moment(PyObject *module, PyObject *const *args,
                             Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "category"};
    PyObject *given[2] = {NULL, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("mark", names, 2, args, count, keywords, given) ||
        !is_category(given[1]))
        return NULL;
    if (!binding_is_on() || !binding_wake())
        Py_RETURN_NONE;
    PyObject *region = binding_scope_get(state, state->marks, given[0],
                                         given[1], GNOMON_KIND_MARK);
    if (!region)
        return NULL;
    gnomon_region *of = binding_region_of(region);
    binding_here.inside = state;
    gnomon_mark(of);
    binding_here.inside = NULL;
    Py_DECREF(region);
    Py_RETURN_NONE;
}

static PyObject *mark_counter(PyObject *module, PyObject *const *args,
                              Py_ssize_t count, PyObject *keywords)
{
    static const char *const names[] = {"name", "value", "category"};
    PyObject *given[3] = {NULL, NULL, Py_None};
    binding_state *state = binding_state_of(module);
    if (!binding_arguments("counter", names, 3, args, count, keywords, given) ||
        !is_category(given[2]))
        return NULL;
    if (!given[1])
        return PyErr_Format(PyExc_TypeError, "counter(): no value");
    double value = PyFloat_AsDouble(given[1]);
    if (PyErr_Occurred())
        return NULL;
    if (!binding_is_on() || !binding_wake())
        Py_RETURN_NONE;
    PyObject *region = binding_scope_get(state, state->counters, given[0],
                                         given[2], GNOMON_KIND_COUNTER);
    if (!region)
        return NULL;
    gnomon_region *of = binding_region_of(region);
    binding_here.inside = state;
    gnomon_counter(of, value);
    binding_here.inside = NULL;
    Py_DECREF(region);
    Py_RETURN_NONE;
}

/* allocated(pool, pointer, bytes) and freed(pool, pointer). */
static PyObject *mark_memory(PyObject *module, PyObject *const *args,
                             Py_ssize_t count, PyObject *keywords, int is_freed)
{
    static const char *const names[] = {"pool", "pointer", "bytes"};
    const char *const call = is_freed ? "freed" : "allocated";
    PyObject *given[3] = {NULL, NULL, NULL};
    binding_state *state = binding_state_of(module);
    const int most = is_freed ? 2 : 3;
    if (!binding_arguments(call, names, most, args, count, keywords, given))
        return NULL;
    if (!given[most - 1])
        return PyErr_Format(PyExc_TypeError, "%s(): no %s", call,
                            names[most - 1]);
    const unsigned long long pointer = PyLong_AsUnsignedLongLong(given[1]);
    const unsigned long long bytes =
        is_freed || PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(given[2]);
    if (PyErr_Occurred())
        return NULL;
    if (!binding_is_on() || !binding_wake())
        Py_RETURN_NONE;
    PyObject *region = binding_scope_get(state, state->pools, given[0], Py_None,
                                         GNOMON_KIND_POOL);
    if (!region)
        return NULL;
    gnomon_region *of = binding_region_of(region);
    if (is_freed)
        gnomon_pool_freed(of, (const void *)(uintptr_t)pointer);
    else
        gnomon_pool_allocated(of, (const void *)(uintptr_t)pointer, bytes);
    Py_DECREF(region);
    Py_RETURN_NONE;
}

static PyObject *mark_allocated(PyObject *module, PyObject *const *args,
                                Py_ssize_t count, PyObject *keywords)
{
    return mark_memory(module, args, count, keywords, 0);
}

static PyObject *mark_freed(PyObject *module, PyObject *const *args,
                            Py_ssize_t count, PyObject *keywords)
{
    return mark_memory(module, args, count, keywords, 1);
}

/* Threads that make steps at once wait for each other, also while callbacks run; so the
 * interpreter's lock is released. */
static PyObject *mark_step(PyObject *module, PyObject *args)
{
    PyObject *number = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "|O:step", &number))
        return NULL;
    int is_given = number && number != Py_None;
    unsigned long long value = 0;
    if (is_given)
        value = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    if (binding_is_on() && binding_wake()) {
        Py_BEGIN_ALLOW_THREADS
        if (is_given)
            gnomon_step_at(value);
        else
            gnomon_step();
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyObject *mark_thread(PyObject *module, PyObject *name)
{
    (void)module;
    PyObject *bytes = binding_utf8(name);
    if (!bytes)
        return NULL;
    if (binding_is_on() && binding_wake()) {
        const char *at = PyBytes_AsString(bytes);
        size_t length = (size_t)PyBytes_Size(bytes);
        Py_BEGIN_ALLOW_THREADS
        gnomon_host_get()->thread_name(at, length);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(bytes);
    Py_RETURN_NONE;
}

/* ---- Links ---------------------------------------------------------------- */

static PyObject *link_out(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    gnomon_link link = gnomon_link_out();
    return PyBytes_FromStringAndSize((const char *)&link, sizeof link);
}

static PyObject *link_in(PyObject *module, PyObject *args)
{
    const char *kind = "submit", *bytes;
    Py_ssize_t size;
    gnomon_link link;
    if (!PyArg_ParseTuple(args, "y#|s:link_in", &bytes, &size, &kind))
        return NULL;
    int number = strcmp(kind, "submit") == 0     ? GNOMON_LINK_SUBMIT
                 : strcmp(kind, "backward") == 0 ? GNOMON_LINK_BACKWARD
                 : strcmp(kind, "launch") == 0   ? GNOMON_LINK_LAUNCH
                                                 : -1;
    if (size != sizeof link || number < 0)
        return PyErr_Format(PyExc_ValueError,
                            "link_in() takes what link_out() returned, and "
                            "'submit', 'backward' or 'launch'");
    memcpy(&link, bytes, sizeof link);
    binding_here.inside = binding_state_of(module);
    gnomon_link_in(&link, number);
    binding_here.inside = NULL;
    Py_RETURN_NONE;
}

PyMethodDef binding_mark_methods[] = {
    {"_on", call_is_marking, METH_NOARGS, NULL},
    {"start", mark_start, METH_O,
     "start($module, name, /)\n--\n\n"
     "Starts the action of this name on the calling thread."},
    {"stop", mark_stop, METH_O,
     "stop($module, name, /)\n--\n\nStops the action of this name."},
    {"mark", BINDING_FUNCTION(mark_moment), METH_FASTCALL | METH_KEYWORDS,
     "mark(name, category=None)\n--\n\nMarks a moment."},
    {"allocated", BINDING_FUNCTION(mark_allocated),
     METH_FASTCALL | METH_KEYWORDS,
     "allocated(pool, pointer, bytes)\n--\n\nA pool of memory gave a block, "
     "by its address."},
    {"freed", BINDING_FUNCTION(mark_freed), METH_FASTCALL | METH_KEYWORDS,
     "freed(pool, pointer)\n--\n\nThe block is about to be given back."},
    {"counter", BINDING_FUNCTION(mark_counter), METH_FASTCALL | METH_KEYWORDS,
     "counter(name, value, category=None)\n--\n\nSamples a counter."},
    {"step", mark_step, METH_VARARGS,
     "step(number=None)\n--\n\n"
     "A training step is over; the next one has this number."},
    {"thread_name", mark_thread, METH_O,
     "thread_name($module, name, /)\n--\n\nNames the calling thread."},
    {"link_out", link_out, METH_NOARGS,
     "link_out($module, /)\n--\n\nWhere the calling thread is, for link_in."},
    {"link_in", link_in, METH_VARARGS,
     "link_in(link, kind='submit', /)\n--\n\n"
     "Says that `link` caused the innermost open scope of this thread."},
    {NULL, NULL, 0, NULL}};
