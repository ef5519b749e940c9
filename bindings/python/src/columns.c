/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entities of a kind as columns, for tables: of each number a bytes object of 8 bytes
 * an entity, of each text a list. */
#include "fields.h"

#include <string.h>

#define MOST_COLUMNS 48

/* A column: a number of 8 bytes, or a text. */
typedef struct {
    gnomon_field_info field;
    gnomon_field_info
        part; /* of the struct that the field points to; no name: none */
    PyObject *to;
    char *bytes;
} column;

/* The columns of an entity: lists in its struct have none. */
static size_t list_columns(const binding_entity *entity, column *columns)
{
    size_t n = 0;
    for (size_t i = 0; i < entity->count; i++) {
        const gnomon_field_info *f = &entity->fields[i];
        const binding_entity *part =
            f->type == GNOMON_FIELD_STRUCT ? binding_entity_of(f->of) : NULL;
        if (f->type <= GNOMON_FIELD_TEXT && n < MOST_COLUMNS)
            columns[n++].field = *f;
        for (size_t k = 0; part && k < part->count; k++)
            if (part->fields[k].type < GNOMON_FIELD_TEXT && n < MOST_COLUMNS) {
                columns[n].part = part->fields[k];
                columns[n++].field = *f;
            }
    }
    return n;
}

static void put_number(const column *c, const void *at, char *to)
{
    int64_t whole = 0;
    const gnomon_field_info *f = &c->field;
    if (c->part.name) {
        f = &c->part;
        at = *(const char *const *)at ? *(const char *const *)at + f->offset
                                      : NULL;
    }
    if (at && f->type == GNOMON_FIELD_U32)
        whole = *(const uint32_t *)at;
    else if (at && f->type == GNOMON_FIELD_I32)
        whole = *(const int32_t *)at;
    else if (at)
        memcpy(&whole, at, sizeof whole);
    memcpy(to, &whole, sizeof whole);
}

static int put_entity(const column *columns, size_t count, size_t row,
                      const binding_info *info)
{
    for (size_t i = 0; i < count; i++) {
        const column *c = &columns[i];
        const void *at = (const char *)info + c->field.offset;
        if (c->field.type != GNOMON_FIELD_TEXT) {
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
        if (c->field.type == GNOMON_FIELD_TEXT)
            c->to = PyList_New((Py_ssize_t)rows);
        else
            c->to = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * rows));
        if (!c->to)
            return -1;
        if (c->field.type != GNOMON_FIELD_TEXT)
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
        const char *part = c->part.name;
        const uint32_t type = part ? c->part.type : c->field.type;
        const char *format = type == GNOMON_FIELD_TEXT     ? "s"
                             : type == GNOMON_FIELD_DOUBLE ? "d"
                             : type == GNOMON_FIELD_U64    ? "Q"
                                                           : "q";
        PyObject *name = PyUnicode_FromFormat(
            "%s%s%s", c->field.name, part ? "_" : "", part ? part : "");
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
    const binding_entity *entity;
    column columns[MOST_COLUMNS] = {{.to = NULL}};
    binding_info info;
    if (!profile || !PyArg_ParseTuple(args, "s:columns", &name) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    size_t rows = gnomon_profile_count(profile, entity->entity);
    size_t count = list_columns(entity, columns);
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
