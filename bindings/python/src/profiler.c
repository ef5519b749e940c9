/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classes of Python as profilers: gnomon.register makes one known by its name, and
 * gnomon.attach attaches an object. They belong to the first interpreter of the process,
 * for gnomon calls them on any thread.
 *
 * At the end of Python, before its modules go, reports are written and all objects are
 * detached; so no callback comes later. */
#include "profiler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static binding_profiler *profilers;
/* Of this list, and of is_ours in it. */
static pthread_mutex_t profilers_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Objects -------------------------------------------------------------- */

static binding_profiler *make_profiler(const binding_class *of,
                                       PyObject *object, int is_ours)
{
    binding_profiler *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    Py_INCREF(object);
    p->of = of;
    p->object = object;
    p->is_ours = is_ours;
    pthread_mutex_lock(&profilers_lock);
    p->next = profilers;
    profilers = p;
    pthread_mutex_unlock(&profilers_lock);
    return p;
}

static void free_profiler(binding_profiler *p)
{
    pthread_mutex_lock(&profilers_lock);
    for (binding_profiler **at = &profilers; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    pthread_mutex_unlock(&profilers_lock);
    Py_DECREF(p->object);
    free(p);
}

/* The value of an option, of the type of its preset. */
static PyObject *option_value(const gnomon_options *options, const char *key,
                              PyObject *preset)
{
    const char *text = options->text(options, key);
    if (PyBool_Check(preset))
        return PyBool_FromLong(options->number(options, key) != 0);
    if (PyLong_Check(preset))
        return PyLong_FromLongLong(options->number(options, key));
    if (!text)
        Py_RETURN_NONE;
    PyObject *value =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (value && PyFloat_Check(preset)) {
        PyObject *number = PyFloat_FromString(value);
        Py_DECREF(value);
        return number;
    }
    return value;
}

static PyObject *option_values(const binding_class *c,
                               const gnomon_options *options)
{
    PyObject *values = PyDict_New();
    for (const gnomon_option_info *o = c->table.options; values && o && o->key;
         o++) {
        PyObject *preset = PyDict_GetItemString(c->presets, o->key);
        PyObject *value = option_value(options, o->key, preset);
        if (!value || PyDict_SetItemString(values, o->key, value))
            Py_CLEAR(values);
        Py_XDECREF(value);
    }
    return values;
}

static int create(const binding_class *c, const gnomon_options *options,
                  void **self)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return GNOMON_DECLINED;
    PyObject *none = PyTuple_New(0);
    PyObject *values = none ? option_values(c, options) : NULL;
    PyObject *object = values ? PyObject_Call(c->type, none, values) : NULL;
    *self = object ? make_profiler(c, object, 0) : NULL;
    if (!object)
        binding_tell(c, "__init__");
    Py_XDECREF(none);
    Py_XDECREF(values);
    Py_XDECREF(object);
    binding_leave_python(&entry);
    return *self ? GNOMON_OK : object ? GNOMON_ENOMEM : GNOMON_DECLINED;
}

static void destroy(void *self)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return; /* Python is gone, and its objects with it */
    free_profiler(self);
    binding_leave_python(&entry);
}

/* gnomon's create gets no pointer to its table, so each class has a create of its own. */
#define CLASSES(X) \
    X(0) \
    X(1) \
    X(2) \
    X(3) \
    X(4) \
    X(5) \
    X(6) \
    X(7) \
    X(8) \
    X(9) \
    X(10) \
    X(11) \
    X(12) \
    X(13) \
    X(14) \
    X(15) \
    X(16) \
    X(17) \
    X(18) \
    X(19) \
    X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define MOST_CLASSES 32
static binding_class *classes[MOST_CLASSES];
/* For those who register. */
static pthread_mutex_t classes_lock = PTHREAD_MUTEX_INITIALIZER;
#define CREATE(n) \
    static int create_##n(const gnomon_options *options, void **self) \
    { \
        return create(__atomic_load_n(&classes[n], __ATOMIC_ACQUIRE), options, \
                      self); \
    }
CLASSES(CREATE)
#undef CREATE
#define CREATE(n) create_##n,
static int (*const creates[MOST_CLASSES])(const gnomon_options *,
                                          void **) = {CLASSES(CREATE)};
#undef CREATE

/* ---- Classes -------------------------------------------------------------- */

static int take_wants(binding_class *c)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } wants[] = {
        {"tree", GNOMON_WANT_TREE},     {"times", GNOMON_WANT_TIMES},
        {"device", GNOMON_WANT_DEVICE}, {"run", GNOMON_WANT_RUN},
        {"steps", GNOMON_WANT_STEPS},   {"events", GNOMON_WANT_EVENTS}};
    PyObject *list = PyObject_GetAttrString(c->type, "wants");
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL, *word;
    Py_XDECREF(list);
    while (iterator && (word = PyIter_Next(iterator))) {
        uint32_t bit = 0;
        for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
            if (PyUnicode_Check(word) &&
                !PyUnicode_CompareWithASCIIString(word, wants[i].name))
                bit = wants[i].bit;
        if (!bit)
            PyErr_Format(PyExc_ValueError,
                         "wants: %R is none of tree, times, device, run, "
                         "steps, events",
                         word);
        Py_DECREF(word);
        if (!bit)
            break;
        c->table.wants |= bit;
    }
    Py_XDECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

/* A copy that lives as long as the class. NULL: an exception is set. */
static char *keep_text(PyObject *text)
{
    PyObject *bytes = binding_utf8(text);
    char *copy = bytes ? strdup(PyBytes_AsString(bytes)) : NULL;
    if (bytes && !copy)
        PyErr_NoMemory();
    Py_XDECREF(bytes);
    return copy;
}

static int take_option(gnomon_option_info *o, PyObject *key, PyObject *preset)
{
    o->struct_size = sizeof *o;
    o->type = PyBool_Check(preset)   ? GNOMON_OPTION_BOOL
              : PyLong_Check(preset) ? GNOMON_OPTION_INTEGER
                                     : GNOMON_OPTION_TEXT;
    o->key = keep_text(key);
    o->help = "";
    if (!o->key || preset == Py_None)
        return o->key ? 0 : -1;
    PyObject *text = PyObject_Str(preset);
    if (text && PyBool_Check(preset)) {
        Py_DECREF(text);
        text = PyUnicode_FromString(preset == Py_True ? "true" : "false");
    }
    o->preset = text ? keep_text(text) : NULL;
    Py_XDECREF(text);
    return o->preset ? 0 : -1;
}

static int take_options(binding_class *c)
{
    PyObject *key, *preset;
    Py_ssize_t at = 0, count = 0;
    c->presets = PyObject_GetAttrString(c->type, "options");
    if (!c->presets || !PyDict_Check(c->presets)) {
        PyErr_SetString(PyExc_TypeError, "options must be a dict");
        return -1;
    }
    gnomon_option_info *options =
        calloc((size_t)PyDict_Size(c->presets) + 1, sizeof *options);
    if (!options) {
        PyErr_NoMemory();
        return -1;
    }
    options->struct_size = sizeof *options;
    c->table.options = options;
    while (PyDict_Next(c->presets, &at, &key, &preset))
        if (take_option(&options[count++], key, preset))
            return -1;
    return 0;
}

/* What is made for a class stays for the life of the process, also where it fails: only
 * mistakes in a program fail here. */
static binding_class *make_class(binding_state *state, PyObject *type,
                                 PyObject *base, PyObject *name)
{
    if (!state->is_main) {
        PyErr_SetString(state->error, "profilers of Python belong to the "
                                      "first interpreter of the process");
        return NULL;
    }
    if (!PyType_Check(type) ||
        !PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)base)) {
        PyErr_Format(PyExc_TypeError, "%R is no subclass of gnomon.Profiler",
                     type);
        return NULL;
    }
    binding_class *c = calloc(1, sizeof *c);
    if (!c) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(type);
    c->type = type;
    c->state = state;
    c->table.struct_size = sizeof c->table;
    c->table.abi = GNOMON_ABI;
    c->table.name = keep_text(name);
    if (!c->table.name || take_wants(c) || take_options(c) ||
        binding_callbacks_of(c, base))
        return NULL;
    c->table.destroy = destroy;
    return c;
}

/* ---- register, attach, detach --------------------------------------------- */

static PyObject *call_register(PyObject *module, PyObject *args)
{
    binding_state *state = binding_state_of(module);
    PyObject *type, *base, *name, *help;
    size_t n = 0;
    if (!PyArg_ParseTuple(args, "OOUO:register", &type, &base, &name, &help))
        return NULL;
    binding_class *c = make_class(state, type, base, name);
    if (!c)
        return NULL;
    c->table.help = help == Py_None ? NULL : keep_text(help);
    if (PyErr_Occurred())
        return NULL;
    pthread_mutex_lock(&classes_lock);
    while (n < MOST_CLASSES && classes[n] &&
           strcmp(classes[n]->table.name, c->table.name) != 0)
        n++; /* one of the same name gets its place */
    if (n < MOST_CLASSES) {
        c->table.create = creates[n];
        __atomic_store_n(&classes[n], c, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&classes_lock);
    if (n == MOST_CLASSES) {
        PyErr_SetString(state->error, "too many classes are registered");
        return NULL;
    }
    int code;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->add_profiler(&c->table);
    Py_END_ALLOW_THREADS
    return binding_result(state, code);
}

static PyObject *call_attach(PyObject *module, PyObject *args)
{
    binding_state *state = binding_state_of(module);
    PyObject *object, *base, *name, *options;
    if (!PyArg_ParseTuple(args, "OOUU:attach", &object, &base, &name, &options))
        return NULL;
    binding_class *c =
        make_class(state, (PyObject *)Py_TYPE(object), base, name);
    PyObject *bytes = c ? binding_utf8(options) : NULL;
    binding_profiler *p = bytes ? make_profiler(c, object, 1) : NULL;
    if (!p) {
        Py_XDECREF(bytes);
        return bytes ? PyErr_NoMemory() : NULL;
    }
    const char *words = PyBytes_AsString(bytes);
    size_t length = (size_t)PyBytes_Size(bytes);
    int code;
    c->table.options = NULL; /* the object is there already */
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_host_get()->attach(&c->table, p, words, length);
    Py_END_ALLOW_THREADS
    Py_DECREF(bytes);
    if (code)
        free_profiler(p);
    return binding_result(state, code);
}

/* Takes one that gnomon.attach attached, of this object, or any; nobody else can take it
 * again. NULL: there is none. */
static binding_profiler *take_ours(const PyObject *object)
{
    pthread_mutex_lock(&profilers_lock);
    binding_profiler *p = profilers;
    while (p && !(p->is_ours && (!object || p->object == object)))
        p = p->next;
    if (p)
        p->is_ours = 0;
    pthread_mutex_unlock(&profilers_lock);
    return p;
}

static int detach(binding_profiler *p)
{
    int code;
    Py_BEGIN_ALLOW_THREADS
    code = gnomon_detach(&p->of->table, p);
    Py_END_ALLOW_THREADS
    if (!code)
        free_profiler(p);
    return code;
}

static PyObject *call_detach(PyObject *module, PyObject *object)
{
    binding_profiler *p = take_ours(object);
    if (!p) {
        PyErr_SetString(binding_state_of(module)->error, "it is not attached");
        return NULL;
    }
    int code = detach(p);
    if (code) { /* it may be tried again */
        pthread_mutex_lock(&profilers_lock);
        p->is_ours = 1;
        pthread_mutex_unlock(&profilers_lock);
    }
    return binding_result(binding_state_of(module), code);
}

/* Python ends: the reports come while callbacks can still run. So they do where Ctrl-C
 * ended the program, which Python then ends by that signal. */
static PyObject *call_finish(PyObject *module, PyObject *interrupted)
{
    if (!binding_state_of(module)->is_main)
        Py_RETURN_NONE;
    pthread_mutex_lock(&profilers_lock);
    int is_any = profilers != NULL;
    pthread_mutex_unlock(&profilers_lock);
    if (is_any || interrupted == Py_True)
        Py_XDECREF(binding_end_run(module));
    binding_profiler *p;
    while ((p = take_ours(NULL)))
        (void)detach(p);
    __atomic_store_n(&binding_has_ended, 1, __ATOMIC_RELEASE);
    Py_RETURN_NONE;
}

PyMethodDef binding_profiler_methods[] = {
    {"_register", call_register, METH_VARARGS, NULL},
    {"_attach", call_attach, METH_VARARGS, NULL},
    {"_detach", call_detach, METH_O, NULL},
    {"_finish", call_finish, METH_O, NULL},
    {NULL, NULL, 0, NULL}};
