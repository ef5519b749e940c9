/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of entities as values of Python: numbers, texts, and tuples for structs and
 * lists. */

#include "fields.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Their description ---------------------------------------------------------- */

static int field_order(const void *left, const void *right)
{
    const gnomon_field_info *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

#define KINDS 32 /* of entities, and of parts, at most */

static binding_entity kinds[2][KINDS];

static void describe_kind(binding_entity *out, int entity)
{
    out->entity = entity;
    out->name = gnomon_host_get()->entity_name(entity);
    out->fields[0].struct_size = sizeof out->fields[0];
    out->count =
        gnomon_host_get()->entity_fields(entity, out->fields, BINDING_FIELDS);
    if (out->count > BINDING_FIELDS)
        out->count = BINDING_FIELDS;
    qsort(out->fields, out->count, sizeof out->fields[0], field_order);
}

static void describe_all(void)
{
    for (int i = 0; i < KINDS; i++) {
        describe_kind(&kinds[0][i], i);
        describe_kind(&kinds[1][i], GNOMON_PART_STATS + i);
    }
}

/* Interpreters may each have a lock of their own. */
const binding_entity *binding_entity_of(int entity)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const int is_part = entity >= GNOMON_PART_STATS;
    (void)pthread_once(&once, describe_all);
    return &kinds[is_part][entity - (is_part ? GNOMON_PART_STATS : 0)];
}

const binding_entity *binding_entity_named(const char *name)
{
    const binding_entity *of;
    for (int i = 0; (of = binding_entity_of(i))->name; i++)
        if (strcmp(of->name, name) == 0)
            return of;
    PyErr_Format(PyExc_ValueError, "a profile has no '%s'", name);
    return NULL;
}

/* ---- Values --------------------------------------------------------------------- */

static PyObject *text_value(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *binding_struct_value(const void *of, const binding_entity *entity)
{
    PyObject *values = PyTuple_New((Py_ssize_t)entity->count);
    for (size_t i = 0; values && i < entity->count; i++) {
        PyObject *value = binding_field_value(of, &entity->fields[i]);
        if (!value || PyTuple_SetItem(values, (Py_ssize_t)i, value))
            Py_CLEAR(values);
    }
    return values;
}

static PyObject *item_value(const gnomon_field_info *f, const char *at)
{
    const gnomon_cell *cell = (const void *)at;
    switch (f->type) {
    case GNOMON_FIELD_CELLS:
        return Py_BuildValue("IK", (unsigned)cell->cell,
                             (unsigned long long)cell->count);
    case GNOMON_FIELD_SIZES:
        return PyLong_FromLongLong(*(const int64_t *)(const void *)at);
    default:
        return binding_struct_value(at, binding_entity_of(f->of));
    }
}

static PyObject *list_value(const void *of, const gnomon_field_info *f)
{
    const char *at = *(const char *const *)((const char *)of + f->offset);
    const char *count_at = (const char *)of + f->count_offset;
    size_t step = f->type == GNOMON_FIELD_CELLS   ? sizeof(gnomon_cell)
                  : f->type == GNOMON_FIELD_SIZES ? sizeof(int64_t)
                  : at ? *(const uint32_t *)(const void *)at
                       : 0;
    size_t count = !at ? 0
                   : f->type == GNOMON_FIELD_SIZES
                       ? *(const uint32_t *)(const void *)count_at
                       : *(const size_t *)(const void *)count_at;
    PyObject *list = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *one = item_value(f, at + i * step);
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *binding_field_value(const void *of, const gnomon_field_info *f)
{
    const void *at = (const char *)of + f->offset;
    switch (f->type) {
    case GNOMON_FIELD_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)at);
    case GNOMON_FIELD_I32:
        return PyLong_FromLong(*(const int32_t *)at);
    case GNOMON_FIELD_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case GNOMON_FIELD_I64:
        return PyLong_FromLongLong(*(const int64_t *)at);
    case GNOMON_FIELD_DOUBLE:
        return PyFloat_FromDouble(*(const double *)at);
    case GNOMON_FIELD_TEXT:
        return text_value(*(const char *const *)at);
    case GNOMON_FIELD_STRUCT:
        if (!*(const char *const *)at)
            Py_RETURN_NONE;
        return item_value(f, *(const char *const *)at);
    default:
        return list_value(of, f);
    }
}
