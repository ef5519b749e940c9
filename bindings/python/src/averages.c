/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* torch's key_averages() of a profile as rows, and its table of rows, by the printer of
 * `gnomon report --as averages`. gnomon/_averages.py makes torch's lists of them.
 *
 * A row is a tuple of the cells, in their order. */
#include "binding.h"

#include <string.h>

#include "report/averages.h"
#include "run/files.h"

#define CELLS GNOMON__AVERAGE_CELLS

/* ---- Rows of a profile ------------------------------------------------------------ */

static PyObject *cell_value(int cell, const gnomon__cell *of)
{
    switch (gnomon__averages.columns[cell].kind) {
    case GNOMON__CELL_TEXT:
        return PyUnicode_DecodeUTF8(of->text, (Py_ssize_t)strlen(of->text),
                                    "replace");
    case GNOMON__CELL_ID:
        return PyLong_FromUnsignedLongLong(of->count);
    default:
        return PyFloat_FromDouble(of->number);
    }
}

static PyObject *row_value(const gnomon__cell *cells)
{
    PyObject *row = PyTuple_New(CELLS);
    for (int k = 0; row && k < CELLS; k++) {
        PyObject *value = cell_value(k, &cells[k]);
        if (!value || PyTuple_SetItem(row, k, value))
            Py_CLEAR(row);
    }
    return row;
}

static PyObject *rows_value(const gnomon__report_table *t)
{
    PyObject *list = PyList_New((Py_ssize_t)t->row_count);
    for (size_t i = 0; list && i < t->row_count; i++) {
        PyObject *row = row_value(gnomon__cells_of(t, i));
        if (!row || PyList_SetItem(list, (Py_ssize_t)i, row))
            Py_CLEAR(list);
    }
    return list;
}

/* averages(profile, by_shapes, frames, by_overloads, is_apart): the rows, and whether there is
 * memory. */
static PyObject *call_averages(PyObject *module, PyObject *args)
{
    gnomon__averages_choice choice = gnomon__averages_preset;
    gnomon__report_rows rows;
    PyObject *of;
    int shapes, overloads, is_apart;
    long long frames;
    bool is_of_events;
    if (!PyArg_ParseTuple(args, "OpLpp:averages", &of, &shapes, &frames,
                          &overloads, &is_apart))
        return NULL;
    const gnomon_profile *profile = binding_profile_of(of);
    if (!profile)
        return NULL;
    (void)module;
    choice.has_shapes = shapes != 0;
    choice.has_overloads = overloads != 0;
    choice.frames = frames;
    choice.is_apart = is_apart != 0;
    const int code =
        gnomon__averages_make(&rows, &choice, &is_of_events, profile);
    PyObject *list = code ? PyErr_NoMemory() : rows_value(&rows.table);
    gnomon__report_free(&rows);
    return list ? Py_BuildValue("NN", list, PyBool_FromLong(choice.has_memory))
                : NULL;
}

/* The names of the cells. */
static PyObject *call_names(PyObject *module, PyObject *unused)
{
    PyObject *names = PyTuple_New(CELLS);
    (void)module;
    (void)unused;
    for (int k = 0; names && k < CELLS; k++) {
        PyObject *name = PyUnicode_FromString(gnomon__average_names[k]);
        if (!name || PyTuple_SetItem(names, k, name))
            Py_CLEAR(names);
    }
    return names;
}

/* ---- The table of rows ------------------------------------------------------------ */

typedef struct given_rows {
    PyObject *rows;
    PyObject *texts; /* a list that keeps the UTF-8 of all texts */
} given_rows;

/* 0: an exception is set. */
static int read_cell(const given_rows *given, int cell, PyObject *value,
                     gnomon__cell *to)
{
    const int kind = gnomon__averages.columns[cell].kind;
    if (kind == GNOMON__CELL_TEXT) {
        PyObject *bytes = value ? binding_utf8(value) : NULL;
        if (bytes && !PyList_Append(given->texts, bytes))
            gnomon__cell_text(to, PyBytes_AsString(bytes));
        Py_XDECREF(bytes);
    } else if (value && kind == GNOMON__CELL_ID) {
        gnomon__cell_count(to, PyLong_AsUnsignedLongLong(value));
    } else if (value) {
        gnomon__cell_number(to, PyFloat_AsDouble(value));
    }
    return !PyErr_Occurred();
}

/* Each is a row of its own, in their order. */
static void read_rows(gnomon__report_rows *r)
{
    const given_rows *given = r->more;
    const Py_ssize_t count = PyList_Size(given->rows);
    for (Py_ssize_t i = 0; i < count && !r->code; i++) {
        gnomon__cell *cells = gnomon__report_row_of(r, 0);
        for (int k = 0; k < CELLS && !r->code; k++)
            if (!read_cell(given, k,
                           PyTuple_GetItem(PyList_GetItem(given->rows, i), k),
                           &cells[k]))
                r->code = GNOMON_EINVAL;
        cells[GNOMON__AVERAGE_KIND].count += 4 * (uint64_t)i;
        cells[GNOMON__AVERAGE_ORDER].count &= 3;
        cells[GNOMON__AVERAGE_ORDER].count |= (uint64_t)i << 2;
    }
}

static PyObject *print_rows(PyObject *module, given_rows *given,
                            const gnomon__averages_choice *choice)
{
    gnomon__buffer text;
    gnomon__report report = gnomon__averages;
    gnomon__report_rows rows;
    report.read = read_rows;
    gnomon__buffer_init(&text, NULL);
    int code = gnomon__report_make(&rows, &report, &choice->table, given, NULL);
    if (!code)
        code = gnomon__averages_text(&rows, &text.writer);
    gnomon__report_free(&rows);
    if (!PyErr_Occurred())
        return binding_text_take(&text, binding_state_of(module), code);
    gnomon__buffer_free(&text);
    return NULL;
}

/* averages_table(rows, sort_by, header, time_unit, device, row_limit, name_width,
 * shapes_width, source_width, is_top_level, has_memory): widths of -1 are none. */
static PyObject *call_table(PyObject *module, PyObject *args)
{
    gnomon__averages_choice c = gnomon__averages_preset;
    given_rows given;
    long long limit, name, shapes, source;
    int is_top_level, has_memory;
    if (!PyArg_ParseTuple(args, "O!zzzzLLLLpp:averages_table", &PyList_Type,
                          &given.rows, &c.sort_by, &c.header, &c.time_unit,
                          &c.device, &limit, &name, &shapes, &source,
                          &is_top_level, &has_memory))
        return NULL;
    c.row_limit = limit;
    c.name_width = name;
    c.shapes_width = shapes;
    c.source_width = source;
    c.is_top_level = is_top_level != 0;
    c.has_memory = has_memory != 0;
    c.has_flops = c.has_shapes = c.has_stacks = c.has_overloads = true;
    given.texts = PyList_New(0);
    PyObject *text = given.texts ? print_rows(module, &given, &c) : NULL;
    Py_XDECREF(given.texts);
    return text;
}

PyMethodDef binding_average_methods[] = {
    {"_averages", call_averages, METH_VARARGS, NULL},
    {"_averages_names", call_names, METH_NOARGS, NULL},
    {"_averages_table", call_table, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
