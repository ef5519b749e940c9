/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entities of a kind as columns, for tables: of each number a bytes object of 8 bytes
 * an entity, of each text a list. */
#include "fields.h"

#include <string.h>

#define MOST_COLUMNS 48

/* A column: a number of 8 bytes, or a text. `part` is the offset in the struct that
 * the field points to; -1: the field itself. */
typedef struct {
    const binding_field *field;
    const char *suffix;
    long part;
    PyObject *to;
    char *bytes;
} column;

static const struct {
    const char *suffix;
    enum binding_field_type of;
    size_t offset;
} parts[] = {{"_count", FIELD_STATS, offsetof(gnomon_stats, count)},
             {"_total_ns", FIELD_STATS, offsetof(gnomon_stats, total_ns)},
             {"_self_ns", FIELD_STATS, offsetof(gnomon_stats, self_ns)},
             {"_min_ns", FIELD_STATS, offsetof(gnomon_stats, min_ns)},
             {"_max_ns", FIELD_STATS, offsetof(gnomon_stats, max_ns)},
             {"_flops", FIELD_WORK, offsetof(gnomon_work_stats, flops)},
             {"_bytes", FIELD_WORK, offsetof(gnomon_work_stats, bytes)}};

/* The columns of an entity: lists in its struct have none. */
static size_t list_columns(const binding_field *f, column *columns)
{
    size_t n = 0;
    for (; f->type != FIELD_END && n < MOST_COLUMNS; f++) {
        if (f->type <= FIELD_TEXT)
            columns[n++] = (column){.field = f, .suffix = "", .part = -1};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (parts[i].of == f->type && n < MOST_COLUMNS)
                columns[n++] = (column){.field = f,
                                        .suffix = parts[i].suffix,
                                        .part = (long)parts[i].offset};
    }
    return n;
}

static void put_number(const column *c, const void *at, char *to)
{
    int64_t whole = 0;
    if (c->part >= 0) {
        const char *of = *(const char *const *)at;
        if (of)
            memcpy(&whole, of + c->part, sizeof whole);
    } else if (c->field->type == FIELD_U32) {
        whole = *(const uint32_t *)at;
    } else if (c->field->type == FIELD_I32) {
        whole = *(const int32_t *)at;
    } else {
        memcpy(&whole, at, sizeof whole);
    }
    memcpy(to, &whole, sizeof whole);
}

static int put_entity(const column *columns, size_t count, size_t row,
                      const binding_info *info)
{
    for (size_t i = 0; i < count; i++) {
        const column *c = &columns[i];
        const void *at = (const char *)info + c->field->offset;
        if (c->field->type != FIELD_TEXT) {
            put_number(c, at, c->bytes + 8 * row);
            continue;
        }
        const char *text = *(const char *const *)at;
        PyObject *value = text ? PyUnicode_DecodeUTF8(
                                     text, (Py_ssize_t)strlen(text), "replace")
                               : PyUnicode_FromString("");
        if (!value || PyList_SetItem(c->to, (Py_ssize_t)row, value))
            return -1;
    }
    return 0;
}

static int make_columns(column *columns, size_t count, size_t rows)
{
    for (size_t i = 0; i < count; i++) {
        column *c = &columns[i];
        if (c->field->type == FIELD_TEXT)
            c->to = PyList_New((Py_ssize_t)rows);
        else
            c->to = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * rows));
        if (!c->to)
            return -1;
        if (c->field->type != FIELD_TEXT)
            c->bytes = PyBytes_AsString(c->to);
    }
    return 0;
}

/* A dict: name -> (format of the struct module, column). */
static PyObject *take_columns(column *columns, size_t count)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; i < count; i++) {
        column *c = &columns[i];
        const char *format = c->field->type == FIELD_TEXT  ? "s"
                             : c->field->type == FIELD_F64 ? "d"
                             : c->part >= 0 || c->field->type == FIELD_U64
                                 ? "Q"
                                 : "q";
        PyObject *name =
            PyUnicode_FromFormat("%s%s", c->field->name, c->suffix);
        PyObject *pair = Py_BuildValue("sO", format, c->to);
        if (dict && (!name || !pair || PyDict_SetItem(dict, name, pair)))
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(pair);
    }
    return dict;
}

PyObject *binding_profile_columns(PyObject *self, PyObject *args)
{
    const char *name;
    const gnomon_profile *profile = binding_profile_of(self);
    const binding_entity *entity = NULL;
    column columns[MOST_COLUMNS] = {{0}};
    binding_info info;
    if (!profile || !PyArg_ParseTuple(args, "s:columns", &name))
        return NULL;
    for (size_t i = 0; i < binding_entity_count && !entity; i++)
        if (strcmp(binding_entities[i].name, name) == 0)
            entity = &binding_entities[i];
    if (!entity)
        return PyErr_Format(PyExc_ValueError, "a profile has no '%s'", name);
    size_t rows = gnomon_profile_count(profile, entity->entity);
    size_t count = list_columns(entity->fields, columns);
    int code = make_columns(columns, count, rows);
    for (size_t row = 0; row < rows && !code; row++) {
        memset(&info, 0, sizeof info);
        info.struct_size = sizeof info;
        code = profile->api->get(profile, entity->entity, row + 1, &info);
        if (code)
            PyErr_Format(PyExc_OSError, "%s: the file has changed", name);
        else
            code = put_entity(columns, count, row, &info);
    }
    PyObject *dict = code ? NULL : take_columns(columns, count);
    for (size_t i = 0; i < count; i++)
        Py_XDECREF(columns[i].to);
    return dict;
}
