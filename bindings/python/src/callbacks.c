/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The callbacks of profilers in Python. Each takes the interpreter's lock unless the
 * mark came from Python, calls the method, and tells an exception in one line. A
 * KeyboardInterrupt that hits inside a callback is raised again after it.
 *
 * Events are passed as named tuples. */
#include "profiler.h"

#include <string.h>

enum { FRAME, STEP, COUNTER, MARK, THREAD, EVENT_TYPES };
static PyTypeObject *event_types[EVENT_TYPES]; /* of the first interpreter */

int binding_has_ended;
__thread int binding_asks;

/* ---- Into Python and back ------------------------------------------------- */

int binding_enter_python(binding_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    if (__atomic_load_n(&binding_has_ended, __ATOMIC_ACQUIRE))
        return 0;
    if (binding_here.inside) {
        if (!binding_here.inside->is_main)
            return 0;
        entry->is_held = 1;
        entry->inside = binding_here.inside;
        binding_here.inside = NULL;
    } else {
        if (!Py_IsInitialized())
            return 0;
        entry->lock = PyGILState_Ensure();
        if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
            PyGILState_Release(entry->lock);
            return 0;
        }
    }
    PyErr_Fetch(&entry->type, &entry->value, &entry->trace);
    binding_here.in_callback++;
    return 1;
}

void binding_leave_python(binding_entry *entry)
{
    binding_here.in_callback--;
    PyErr_Restore(entry->type, entry->value, entry->trace);
    if (entry->is_held)
        binding_here.inside = entry->inside;
    else
        PyGILState_Release(entry->lock);
}

void binding_forget_error(void)
{
    int is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    PyErr_Clear();
    if (is_interrupt)
        PyErr_SetInterrupt();
}

void binding_tell(const binding_class *c, const char *callback)
{
    PyObject *type, *value, *trace;
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        binding_forget_error();
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PySys_FormatStderr("gnomon: %s: %s raised %R\n", c->table.name, callback,
                       value);
    PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Calls a method; `argument` is consumed, and NULL where it could not be made. Each
 * callback tells of its exceptions once. Returns what the method returned, or NULL. */
static PyObject *call_method(binding_profiler *self, const char *method,
                             unsigned bit, PyObject *argument)
{
    PyObject *result =
        argument ? PyObject_CallMethod(self->object, method, "(O)", argument)
                 : NULL;
    Py_XDECREF(argument);
    if (result)
        return result;
    if (__atomic_fetch_or(&self->told, 1u << bit, __ATOMIC_RELAXED) & 1u << bit)
        binding_forget_error();
    else
        binding_tell(self->of, method);
    return NULL;
}

/* ---- Events as tuples ----------------------------------------------------- */

/* A tuple of the type; its items are consumed. */
static PyObject *make_event(int which, size_t count, PyObject **items)
{
    int whole = 1;
    PyObject *event = PyStructSequence_New(event_types[which]);
    for (size_t i = 0; i < count; i++) {
        whole = whole && items[i];
        if (event)
            PyStructSequence_SetItem(event, (Py_ssize_t)i, items[i]);
        else
            Py_XDECREF(items[i]);
    }
    if (event && !whole)
        Py_CLEAR(event);
    return event;
}

static PyObject *text_of(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *number_of(uint64_t number)
{
    return PyLong_FromUnsignedLongLong(number);
}

static PyObject *frame_of(const gnomon_frame *f)
{
    PyObject *items[] = {
        text_of(f->name),
        text_of(f->region->category),
        PyBool_FromLong((f->flags & GNOMON_FRAME_UNFINISHED) == 0),
        number_of(f->token),
        number_of(f->thread),
        number_of(f->begin_ns),
        number_of(f->end_ns),
        number_of(f->flags)};
    return make_event(FRAME, sizeof items / sizeof *items, items);
}

static const struct {
    const char *name;
    PyStructSequence_Field fields[9];
} event_forms[EVENT_TYPES] = {
    {"gnomon.Frame",
     {{"name", NULL},
      {"category", NULL},
      {"finished", NULL},
      {"token", NULL},
      {"thread", NULL},
      {"begin_ns", NULL},
      {"end_ns", NULL},
      {"flags", NULL},
      {NULL, NULL}}},
    {"gnomon.StepEvent",
     {{"step", NULL},
      {"thread", NULL},
      {"begin_ns", NULL},
      {"end_ns", NULL},
      {NULL, NULL}}},
    {"gnomon.CounterEvent",
     {{"name", NULL},
      {"category", NULL},
      {"value", NULL},
      {"thread", NULL},
      {"step", NULL},
      {"ns", NULL},
      {NULL, NULL}}},
    {"gnomon.MarkEvent",
     {{"name", NULL},
      {"category", NULL},
      {"thread", NULL},
      {"step", NULL},
      {"ns", NULL},
      {NULL, NULL}}},
    {"gnomon.ThreadEvent",
     {{"name", NULL}, {"thread", NULL}, {"os_id", NULL}, {NULL, NULL}}}};

int binding_event_types(binding_state *state, PyObject *module)
{
    (void)module;
    for (size_t i = 0; state->is_main && i < EVENT_TYPES; i++) {
        PyStructSequence_Desc form = {event_forms[i].name, NULL, NULL, 0};
        PyStructSequence_Field fields[9];
        memcpy(fields, event_forms[i].fields, sizeof fields);
        form.fields = fields;
        while (fields[form.n_in_sequence].name)
            form.n_in_sequence++;
        if (!event_types[i])
            event_types[i] = PyStructSequence_NewType(&form);
        if (!event_types[i])
            return -1;
    }
    return 0;
}

/* ---- Callbacks of marks --------------------------------------------------- */

static void tell_frame(void *object, const gnomon_frame *frame,
                       const char *method, unsigned bit)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    Py_XDECREF(call_method(object, method, bit, frame_of(frame)));
    binding_leave_python(&entry);
}

static void on_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)slot;
    tell_frame(self, frame, "start", 0);
}

static void on_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)slot;
    tell_frame(self, frame, "stop", 1);
}

static void on_step(void *self, const gnomon_step_event *e)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    PyObject *items[] = {number_of(e->step), number_of(e->thread),
                         number_of(e->begin_ns), number_of(e->end_ns)};
    Py_XDECREF(call_method(self, "step", 2, make_event(STEP, 4, items)));
    binding_leave_python(&entry);
}

static void on_counter(void *self, const gnomon_counter_event *e)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    PyObject *items[] = {text_of(e->name),
                         text_of(e->region->category),
                         PyFloat_FromDouble(e->value),
                         number_of(e->thread),
                         number_of(e->step),
                         number_of(e->ns)};
    Py_XDECREF(call_method(self, "counter", 3, make_event(COUNTER, 6, items)));
    binding_leave_python(&entry);
}

static void on_mark(void *self, const gnomon_mark_event *e)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    PyObject *items[] = {text_of(e->name), text_of(e->region->category),
                         number_of(e->thread), number_of(e->step),
                         number_of(e->ns)};
    Py_XDECREF(call_method(self, "mark", 4, make_event(MARK, 5, items)));
    binding_leave_python(&entry);
}

static void on_thread(void *self, const gnomon_thread_event *e)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    PyObject *items[] = {text_of(e->name), number_of(e->thread),
                         PyLong_FromLongLong(e->os_id)};
    Py_XDECREF(call_method(self, "thread", 5, make_event(THREAD, 3, items)));
    binding_leave_python(&entry);
}

/* ---- Callbacks of control calls ------------------------------------------- */

static int on_setup(void *self, const gnomon_run_info *run, const char *stage)
{
    binding_entry entry;
    (void)run;
    if (binding_enter_python(&entry)) {
        Py_XDECREF(call_method(self, "setup", 6, text_of(stage)));
        binding_leave_python(&entry);
    }
    return GNOMON_OK;
}

static void on_teardown(void *self, const char *stage)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return;
    Py_XDECREF(call_method(self, "teardown", 7, text_of(stage)));
    binding_leave_python(&entry);
}

static int write_text(const gnomon_writer *out, PyObject *text)
{
    PyObject *bytes = binding_utf8(text);
    if (!bytes)
        return GNOMON_EPLUGIN;
    int code =
        out->write(out, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    return code;
}

/* Calls a method with the profile, which is borrowed: the object that it gets loses it
 * afterwards. */
static int with_profile(binding_profiler *self, const char *method,
                        unsigned bit, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    int code = GNOMON_OK;
    PyObject *lent = binding_profile_lend(self->of->state, profile);
    PyObject *text = call_method(self, method, bit, binding_profile_wrap(lent));
    binding_profile_take_back(lent);
    if (!text)
        return GNOMON_EPLUGIN;
    if (out && text != Py_None)
        code = write_text(out, text);
    if (PyErr_Occurred())
        binding_tell(self->of, method);
    Py_DECREF(text);
    return code;
}

/* gnomon.summary raises what goes wrong. Otherwise one line has said it. */
static int on_summary(void *self, const gnomon_profile *profile,
                      const gnomon_writer *out)
{
    binding_entry entry;
    if (!binding_enter_python(&entry))
        return GNOMON_OK;
    __atomic_fetch_and(&((binding_profiler *)self)->told, ~(1u << 8),
                       __ATOMIC_RELAXED);
    int code = with_profile(self, "summary", 8, profile, out);
    binding_leave_python(&entry);
    return code == GNOMON_EPLUGIN && !binding_asks ? GNOMON_OK : code;
}

static int on_events(void *self, const gnomon_profile *profile,
                     const gnomon_writer *out)
{
    binding_entry entry;
    (void)out;
    if (binding_enter_python(&entry)) {
        (void)with_profile(self, "events", 9, profile, NULL);
        binding_leave_python(&entry);
    }
    return GNOMON_OK;
}

/* ---- Which callbacks a class has ------------------------------------------ */

/* Whether the class has another method of this name than gnomon.Profiler. */
static int overrides(const binding_class *c, PyObject *base, const char *name)
{
    PyObject *its = PyObject_GetAttrString(c->type, name);
    PyObject *plain = its ? PyObject_GetAttrString(base, name) : NULL;
    int different = plain && its != plain;
    Py_XDECREF(its);
    Py_XDECREF(plain);
    return different;
}

int binding_callbacks_of(binding_class *c, PyObject *base)
{
    gnomon_profiler *t = &c->table;
#define TAKE(name) t->name = overrides(c, base, #name) ? on_##name : NULL
    TAKE(start);
    TAKE(stop);
    TAKE(step);
    TAKE(counter);
    TAKE(mark);
    TAKE(thread);
    TAKE(setup);
    TAKE(teardown);
    TAKE(summary);
    TAKE(events);
#undef TAKE
    return PyErr_Occurred() ? -1 : 0;
}
