/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which nodes of autograd's graph a call of a layer made, and their hooks. These read
 * nothing and change nothing, and no node is added: torch's own backward hooks of modules
 * do that, which forbid changes in place of what a module returns. */
#include "watch.h"

#define MOST_NODES 256 /* of a call, that are looked at for its first one */
#define DEPTH 4        /* of containers in which outputs are looked for */
#define FEW 8

/* Nodes, each once, with references. All zero is empty. */
typedef struct {
    size_t count, room;
    watch_node few[FEW], *more;
} node_list;

static watch_node *nodes_of(node_list *list)
{
    return list->more ? list->more : list->few;
}

static void free_nodes(node_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        Py_DECREF(nodes_of(list)[i].node);
    PyMem_Free(list->more);
}

static int is_in(node_list *list, const PyObject *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (nodes_of(list)[i].node == node)
            return 1;
    return 0;
}

static int add_node(node_list *list, PyObject *node, uint64_t number)
{
    if (list->count >= FEW && list->count >= list->room) {
        size_t room = 4 * list->count;
        watch_node *more = PyMem_Realloc(list->more, room * sizeof *list->more);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        for (size_t i = 0; !list->more && i < FEW; i++)
            more[i] = list->few[i];
        list->more = more;
        list->room = room;
    }
    Py_INCREF(node);
    nodes_of(list)[list->count++] = (watch_node){node, number};
    return 0;
}

void watch_forget_node(watch_node *node)
{
    Py_CLEAR(node->node);
}

static void keep_node(watch_node *at, watch_node node)
{
    Py_INCREF(node.node);
    Py_XDECREF(at->node);
    *at = node;
}

/* -1: an exception is set. */
static int number_of(const call_object *call, PyObject *node, uint64_t *number)
{
    PyObject *name = call->layer->torch->text._sequence_nr;
    PyObject *made = PyObject_CallMethodObjArgs(node, name, NULL);
    *number = made ? PyLong_AsUnsignedLongLong(made) : 0;
    Py_XDECREF(made);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- Outputs -------------------------------------------------------------- */

/* Adds the node that made a tensor, if this call made that. 1: the tensor has a node. */
static int add_maker(const call_object *call, PyObject *tensor, node_list *made)
{
    PyObject *node = PyObject_GetAttr(tensor, call->layer->torch->text.grad_fn);
    uint64_t number;
    int error = node ? 0 : -1, has = node && node != Py_None;
    if (has && !is_in(made, node)) {
        error = number_of(call, node, &number);
        if (!error && number >= call->first && number != WATCH_LEAF)
            error = add_node(made, node, number);
    }
    Py_XDECREF(node);
    return error ? -1 : has;
}

static int add_makers(const call_object *call, PyObject *value, int depth,
                      node_list *made);

static int add_tensor(const call_object *call, PyObject *tensor,
                      node_list *made)
{
    int has = add_maker(call, tensor, made);
    if (has <= 0)
        return has;
    PyObject *base = PyObject_GetAttr(tensor, call->layer->torch->text._base);
    if (base && base != Py_None)
        /* A change in place makes the view's node anew, but not this one. */
        has = add_maker(call, base, made);
    Py_XDECREF(base);
    return base && has >= 0 ? 0 : -1;
}

static int add_each(const call_object *call, PyObject *values, int depth,
                    node_list *made)
{
    PyObject *all = values ? PySequence_Tuple(values) : NULL;
    int error = all ? 0 : -1;
    for (Py_ssize_t i = 0; all && !error && i < PyTuple_Size(all); i++)
        error = add_makers(call, PyTuple_GetItem(all, i), depth, made);
    Py_XDECREF(all);
    return error;
}

/* Of an instance of a data class. */
static int add_fields(const call_object *call, PyObject *value, int depth,
                      node_list *made)
{
    PyObject *name = call->layer->torch->text.__dict__;
    PyObject *fields = PyObject_GetAttr(value, name);
    PyObject *values = fields
                           ? PyObject_CallMethodObjArgs(
                                 fields, call->layer->torch->text.values, NULL)
                           : NULL;
    int error = add_each(call, values, depth, made);
    Py_XDECREF(values);
    Py_XDECREF(fields);
    return error;
}

/* Adds the nodes of this call that made the tensors in an output. */
static int add_makers(const call_object *call, PyObject *value, int depth,
                      node_list *made)
{
    const torch_object *torch = call->layer->torch;
    int is_tensor = PyObject_IsInstance(value, torch->tensor);
    if (is_tensor)
        return is_tensor < 0 ? -1 : add_tensor(call, value, made);
    if (depth == DEPTH || made->count >= MOST_NODES)
        return 0;
    if (PyTuple_Check(value) || PyList_Check(value))
        return add_each(call, value, depth + 1, made);
    if (PyDict_Check(value)) {
        PyObject *values = PyDict_Values(value);
        int error = add_each(call, values, depth + 1, made);
        Py_XDECREF(values);
        return error;
    }
    if (PyObject_HasAttr((PyObject *)Py_TYPE(value),
                         torch->text.__dataclass_fields__))
        return add_fields(call, value, depth + 1, made);
    return 0;
}

/* ---- The first node ------------------------------------------------------- */

static int add_next(const call_object *call, PyObject *node, node_list *seen)
{
    PyObject *next =
        PyObject_GetAttr(node, call->layer->torch->text.next_functions);
    int error = next ? 0 : -1;
    for (Py_ssize_t i = 0; next && !error && i < PyTuple_Size(next); i++) {
        PyObject *inner = PyTuple_GetItem(PyTuple_GetItem(next, i), 0);
        uint64_t number;
        if (!inner) {
            error = -1;
        } else if (inner != Py_None && !is_in(seen, inner) &&
                   seen->count < MOST_NODES) {
            error = number_of(call, inner, &number);
            if (!error && number >= call->first && number != WATCH_LEAF)
                error = add_node(seen, inner, number);
        }
    }
    Py_XDECREF(next);
    return error;
}

/* The node with the lowest number that those in `seen` lead to, of this call. No node of
 * it has a lower one than `first`, so where that is found the search is over. It goes on
 * with the newest found, which leads to the oldest ones soonest. */
static int find_last(const call_object *call, node_list *seen, watch_node *last)
{
    char is_done[MOST_NODES] = {0};
    *last = nodes_of(seen)[0];
    for (size_t i = 0; i < seen->count; i++)
        if (nodes_of(seen)[i].number < last->number)
            *last = nodes_of(seen)[i];
    for (size_t at = seen->count; at-- && last->number > call->first;) {
        if (at >= MOST_NODES || is_done[at])
            continue;
        is_done[at] = 1;
        size_t known = seen->count;
        if (add_next(call, nodes_of(seen)[at].node, seen))
            return -1;
        for (size_t i = known; i < seen->count; i++)
            if (nodes_of(seen)[i].number < last->number)
                *last = nodes_of(seen)[i];
        if (known < seen->count)
            at = seen->count;
    }
    return 0;
}

/* ---- Hooks ---------------------------------------------------------------- */

static int add_hook(PyObject *node, PyObject *method, call_object *call)
{
    PyObject *handle =
        PyObject_CallMethodObjArgs(node, method, (PyObject *)call, NULL);
    Py_XDECREF(handle);
    return handle ? 0 : -1;
}

static int device_of(const call_object *call, PyObject *tensor)
{
    PyObject *device = PyObject_CallMethodObjArgs(
        tensor, call->layer->torch->text.get_device, NULL);
    long number = device ? PyLong_AsLong(device) : -1;
    Py_XDECREF(device);
    return (int)number + 1; /* -1 is that of the CPU */
}

int watch_begins_after(const call_object *call, PyObject *value)
{
    const call_object *parent = call->parent;
    const torch_object *torch = call->layer->torch;
    if (!parent || !parent->before.node ||
        parent->before.number != call->first - 1 ||
        PyObject_IsInstance(value, torch->tensor) <= 0)
        return -1;
    PyObject *node = PyObject_GetAttr(value, torch->text.grad_fn);
    int device = node == parent->before.node ? device_of(call, value) : -1;
    Py_XDECREF(node);
    return device;
}

/* The nodes that were made here, and where the calls inside made the first one, that. */
static int add_end(call_object *call, node_list *made)
{
    call_object *parent = call->parent;
    node_list inner = {0};
    watch_node last;
    int error = 0;
    if (call->last.node)
        error = add_node(&inner, call->last.node, call->last.number);
    node_list *from = call->last.node ? &inner : made;
    error = error || find_last(call, from, &last) ||
            add_hook(last.node, call->layer->torch->text.register_hook, call);
    if (!error && parent && parent->first <= last.number &&
        (!parent->last.node || parent->last.number > last.number))
        keep_node(&parent->last, last);
    free_nodes(&inner);
    return error ? -1 : 0;
}

static int follow_made(call_object *call, PyObject *result, int device,
                       node_list *made)
{
    const torch_object *torch = call->layer->torch;
    const watch_node *newest = nodes_of(made);
    for (size_t i = 0; i < made->count; i++) {
        watch_node *node = &nodes_of(made)[i];
        if (add_hook(node->node, torch->text.register_prehook, call))
            return -1;
        if (node->number > newest->number)
            newest = node;
    }
    call->link = gnomon_link_out();
    call->is_followed = 1;
    if (call->parent)
        keep_node(&call->parent->before, *newest);
    if (device >= 0 && PyObject_IsInstance(result, torch->tensor) > 0 &&
        device_of(call, result) == device)
        return 0; /* the call before is the caller's first one, or after that */
    return add_end(call, made);
}

int watch_follow(call_object *call, PyObject *result, int device)
{
    node_list made = {0};
    int error = add_makers(call, result, 0, &made);
    if (!error && made.count)
        error = follow_made(call, result, device, &made);
    free_nodes(&made);
    return error;
}
