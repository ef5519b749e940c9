/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of entities as values of Python: numbers, texts, and tuples for statistics and
 * lists. */

#include "fields.h"

#include <string.h>

static PyObject *text_value(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *stats_value(const gnomon_stats *s)
{
    if (!s)
        Py_RETURN_NONE;
    PyObject *cells = PyTuple_New((Py_ssize_t)s->cell_count);
    for (size_t i = 0; cells && i < s->cell_count; i++) {
        PyObject *cell = Py_BuildValue("IK", (unsigned)s->cells[i].cell,
                                       (unsigned long long)s->cells[i].count);
        if (!cell || PyTuple_SetItem(cells, (Py_ssize_t)i, cell))
            Py_CLEAR(cells);
    }
    if (!cells)
        return NULL;
    return Py_BuildValue(
        "KKKKKN", (unsigned long long)s->count, (unsigned long long)s->total_ns,
        (unsigned long long)s->self_ns, (unsigned long long)s->min_ns,
        (unsigned long long)s->max_ns, cells);
}

static PyObject *memory_value(const gnomon_node_info *node)
{
    PyObject *list = PyTuple_New((Py_ssize_t)node->memory_count);
    for (size_t i = 0; list && i < node->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(node, i);
        PyObject *one = Py_BuildValue(
            "IKKKKLK", (unsigned)m->pool, (unsigned long long)m->allocations,
            (unsigned long long)m->frees,
            (unsigned long long)m->allocated_bytes,
            (unsigned long long)m->freed_bytes, (long long)m->live_bytes,
            (unsigned long long)m->peak_bytes);
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *anchors_value(const gnomon_run_info *run)
{
    PyObject *list = PyTuple_New((Py_ssize_t)run->anchor_count);
    for (size_t i = 0; list && i < run->anchor_count; i++) {
        const gnomon_clock_anchor *a = gnomon_anchor_at(run, i);
        PyObject *one = Py_BuildValue("KKK", (unsigned long long)a->ns,
                                      (unsigned long long)a->unix_ns,
                                      (unsigned long long)a->error_ns);
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *sizes_value(const int64_t *sizes, uint32_t count)
{
    PyObject *list = PyTuple_New(sizes ? (Py_ssize_t)count : 0);
    for (uint32_t i = 0; list && sizes && i < count; i++) {
        PyObject *one = PyLong_FromLongLong(sizes[i]);
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *inputs_value(const gnomon_op_info *op)
{
    PyObject *list = PyTuple_New((Py_ssize_t)op->input_count);
    for (size_t i = 0; list && i < op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(op, i);
        PyObject *one = Py_BuildValue("NNN", text_value(t->dtype),
                                      sizes_value(t->dims, t->rank),
                                      sizes_value(t->strides, t->rank));
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *attributes_value(const gnomon_op_info *op)
{
    PyObject *list = PyTuple_New((Py_ssize_t)op->attribute_count);
    for (size_t i = 0; list && i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        PyObject *one =
            Py_BuildValue("NN", text_value(a->key), text_value(a->json));
        if (!one || PyTuple_SetItem(list, (Py_ssize_t)i, one))
            Py_CLEAR(list);
    }
    return list;
}

PyObject *binding_field_value(const binding_info *info, const binding_field *f)
{
    const void *at = (const char *)info + f->offset;
    const gnomon_work_stats *work;
    switch (f->type) {
    case FIELD_U32:
        return PyLong_FromUnsignedLong(*(const uint32_t *)at);
    case FIELD_I32:
        return PyLong_FromLong(*(const int32_t *)at);
    case FIELD_U64:
        return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case FIELD_I64:
        return PyLong_FromLongLong(*(const int64_t *)at);
    case FIELD_F64:
        return PyFloat_FromDouble(*(const double *)at);
    case FIELD_TEXT:
        return text_value(*(const char *const *)at);
    case FIELD_STATS:
        return stats_value(*(const gnomon_stats *const *)at);
    case FIELD_WORK:
        work = *(const gnomon_work_stats *const *)at;
        if (work)
            return Py_BuildValue("KK", (unsigned long long)work->flops,
                                 (unsigned long long)work->bytes);
        Py_RETURN_NONE;
    case FIELD_MEMORY:
        return memory_value(&info->node);
    case FIELD_ANCHORS:
        return anchors_value(&info->run);
    case FIELD_INPUTS:
        return inputs_value(&info->op);
    case FIELD_ATTRIBUTES:
        return attributes_value(&info->op);
    case FIELD_END:
        break;
    }
    Py_RETURN_NONE;
}
