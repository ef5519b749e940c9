/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entities of a profile as tables: of Python's lists, and as a stream of Arrow, which
 * DuckDB, Polars, pandas and pyarrow read by themselves.
 * https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html and
 * CDataInterface/PyCapsuleInterface.html.
 *
 * A stream is read from any thread, without the interpreter's lock and after its profile's
 * object is gone: it holds what that holds. */
#include "columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Python's ---------------------------------------------------------------------- */

static PyObject *texts_of(const binding_column *c)
{
    PyObject *list = PyList_New((Py_ssize_t)c->rows);
    for (size_t i = 0; list && i < c->rows; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(
            c->data + c->ends[i], (Py_ssize_t)(c->ends[i + 1] - c->ends[i]),
            "replace");
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text))
            Py_CLEAR(list);
    }
    return list;
}

/* A dict: name -> (typecode of the module array, or "U", and its bytes or a list). */
static PyObject *columns_as_dict(const binding_column *columns, size_t count)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        const binding_column *c = &columns[i];
        const char *code = *c->format == 'g'   ? "d"
                           : *c->format == 'L' ? "Q"
                           : *c->format == 'l' ? "q"
                                               : "U";
        PyObject *values =
            *c->format == 'U'
                ? texts_of(c)
                : PyBytes_FromStringAndSize(c->data, (Py_ssize_t)(8 * c->rows));
        PyObject *pair = values ? Py_BuildValue("sN", code, values) : NULL;
        if (!pair || PyDict_SetItemString(dict, c->name, pair))
            Py_CLEAR(dict);
        Py_XDECREF(pair);
    }
    return dict;
}

PyObject *binding_profile_columns(PyObject *self, PyObject *args)
{
    const char *name;
    const gnomon_profile *profile = binding_profile_of(self);
    const binding_entity *entity;
    binding_column columns[BINDING_COLUMNS];
    PyObject *dict = NULL;
    if (!profile || !PyArg_ParseTuple(args, "s:columns", &name) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    const size_t count = binding_columns_of(entity, columns);
    const int code = binding_columns_read(
        profile, entity, 0, gnomon_profile_count(profile, entity->entity),
        columns, count);
    if (code == GNOMON_ENOMEM)
        PyErr_NoMemory();
    else if (code)
        PyErr_Format(PyExc_OSError, "%s: the file has changed", name);
    else
        dict = columns_as_dict(columns, count);
    for (size_t i = 0; i < count; i++)
        binding_column_free(&columns[i]);
    return dict;
}

/* ---- Arrow's three structs ---------------------------------------------------------- */

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#define ARROW_FLAG_NULLABLE 2
#define ROWS_AT_ONCE 65536

/* A consumer may move a column out and release the rest, so each keeps what it needs. */
static void release_schema_column(struct ArrowSchema *schema)
{
    free(schema->private_data);
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child->release)
            child->release(child);
        free(child);
    }
    free(schema->children);
    schema->release = NULL;
}

static int make_schema(struct ArrowSchema *out, const binding_column *columns,
                       size_t count)
{
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .release = release_schema};
    out->children = calloc(count, sizeof(struct ArrowSchema *));
    for (size_t i = 0; out->children && i < count; i++) {
        struct ArrowSchema *child = calloc(1, sizeof *child);
        char *name = child ? strdup(columns[i].name) : NULL;
        if (!name) {
            free(child);
            break;
        }
        *child = (struct ArrowSchema){.format = columns[i].format,
                                      .name = name,
                                      .flags = ARROW_FLAG_NULLABLE,
                                      .release = release_schema_column,
                                      .private_data = name};
        out->children[out->n_children++] = child;
    }
    if ((size_t)out->n_children == count)
        return 0;
    release_schema(out);
    return ENOMEM;
}

typedef struct array_column {
    binding_column column;
    const void *buffers[3];
} array_column;

static void release_array_column(struct ArrowArray *array)
{
    array_column *of = array->private_data;
    binding_column_free(&of->column);
    free(of);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child->release)
            child->release(child);
        free(child);
    }
    free(array->children);
    free(array->private_data);
    array->release = NULL;
}

/* Takes the column's buffers. NULL: no memory. */
static struct ArrowArray *make_array_column(binding_column *column)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    array_column *of = array ? calloc(1, sizeof *of) : NULL;
    if (!of) {
        free(array);
        return NULL;
    }
    const int is_text = *column->format == 'U';
    of->column = *column;
    of->buffers[0] = column->nulls ? column->valid : NULL;
    of->buffers[1] = is_text ? (const void *)column->ends : column->data;
    of->buffers[2] = column->data;
    *array = (struct ArrowArray){.length = (int64_t)column->rows,
                                 .null_count = (int64_t)column->nulls,
                                 .n_buffers = is_text ? 3 : 2,
                                 .buffers = of->buffers,
                                 .release = release_array_column,
                                 .private_data = of};
    column->data = NULL;
    column->ends = NULL;
    column->valid = NULL;
    return array;
}

static int make_array(struct ArrowArray *out, binding_column *columns,
                      size_t count, size_t rows)
{
    *out = (struct ArrowArray){
        .length = (int64_t)rows, .n_buffers = 1, .release = release_array};
    out->children = calloc(count, sizeof(struct ArrowArray *));
    out->private_data = calloc(1, sizeof(void *)); /* no row of it is null */
    out->buffers = out->private_data;
    for (size_t i = 0; out->children && out->buffers && i < count; i++) {
        struct ArrowArray *child = make_array_column(&columns[i]);
        if (!child)
            break;
        out->children[out->n_children++] = child;
    }
    if ((size_t)out->n_children == count)
        return 0;
    release_array(out);
    return ENOMEM;
}

/* ---- The stream -------------------------------------------------------------------- */

typedef struct stream {
    binding_lease *lease;
    const binding_entity *entity;
    size_t next, rows;
    char error[96];
} stream;

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    const stream *s = self->private_data;
    binding_column columns[BINDING_COLUMNS];
    return make_schema(out, columns, binding_columns_of(s->entity, columns));
}

static int stream_read(stream *s, const gnomon_profile *profile,
                       struct ArrowArray *out)
{
    binding_column columns[BINDING_COLUMNS];
    const size_t left = s->rows - s->next;
    const size_t rows = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    const size_t count = binding_columns_of(s->entity, columns);
    int code =
        binding_columns_read(profile, s->entity, s->next, rows, columns, count);
    code = !code                   ? make_array(out, columns, count, rows)
           : code == GNOMON_ENOMEM ? ENOMEM
                                   : EIO;
    for (size_t i = 0; i < count; i++)
        binding_column_free(&columns[i]);
    snprintf(s->error, sizeof s->error, "%s: %s", s->entity->name,
             code == EIO ? "the file has changed" : "no memory");
    s->next += rows;
    return code;
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    stream *s = self->private_data;
    int code = 0;
    memset(out, 0, sizeof *out);
    const gnomon_profile *profile = binding_lease_enter(s->lease);
    if (!profile) {
        snprintf(s->error, sizeof s->error,
                 "this profile was lent to a callback that is over");
        code = EINVAL;
    } else if (s->next < s->rows) {
        code = stream_read(s, profile, out);
    }
    binding_lease_leave(s->lease);
    return code;
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    const stream *s = self->private_data;
    return s->error;
}

static void stream_release(struct ArrowArrayStream *self)
{
    stream *s = self->private_data;
    binding_lease_release(s->lease);
    free(s);
    self->release = NULL;
}

static void capsule_free(PyObject *capsule)
{
    struct ArrowArrayStream *self =
        PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (self && self->release)
        self->release(self);
    free(self);
}

PyObject *binding_profile_arrow(PyObject *self, PyObject *args)
{
    const char *name;
    const gnomon_profile *profile = binding_profile_of(self);
    const binding_entity *entity;
    if (!profile || !PyArg_ParseTuple(args, "s:arrow", &name) ||
        !(entity = binding_entity_named(name)))
        return NULL;
    struct ArrowArrayStream *out = calloc(1, sizeof *out);
    stream *s = calloc(1, sizeof *s);
    if (!out || !s) {
        free(out);
        free(s);
        return PyErr_NoMemory();
    }
    s->lease = binding_lease_hold(self);
    s->entity = entity;
    s->rows = gnomon_profile_count(profile, entity->entity);
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error,
                                     stream_release, s};
    PyObject *capsule = PyCapsule_New(out, "arrow_array_stream", capsule_free);
    if (!capsule) {
        stream_release(out);
        free(out);
    }
    return capsule;
}
