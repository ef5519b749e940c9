/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What runs at each call of a watched module of PyTorch, and in its backward: the part of
 * gnomon.torch in C. What it needs of torch it is given by gnomon/torch.py.
 *
 * Objects are made in this order, and each keeps those above it: the torch_object of the
 * interpreter, a layer for each watched module, a call for each of its calls. */
#ifndef GNOMON_BINDING_WATCH_H
#define GNOMON_BINDING_WATCH_H

#include "binding.h"

/* What is looked up by name: PyObject *NAMED(x) is the text. */
#define WATCH_NAMES(X) \
    X(grad_fn) \
    X(_base) \
    X(_sequence_nr) \
    X(next_functions) \
    X(register_prehook) \
    X(register_hook) \
    X(get_device) \
    X(values) \
    X(is_initialized) \
    X(_call_impl) X(_compiled_call_impl) X(__dict__) X(__dataclass_fields__)

/* Of torch, and of gnomon/torch.py, in the order of the arguments of
 * _gnomon._torch(). */
#define WATCH_GIVEN(X) \
    X(layers)          /* dict: the id of a module that lives -> its layer */ \
    X(looked)          /* dict: a thread -> the layer that it looked up */ \
    X(caller)          /* the code that looks up, and then calls */ \
    X(is_compiling)    /* () */ \
    X(is_grad_enabled) /* () */ \
    X(sequence_nr)     /* (): the number of the next node */ \
    X(tensor)          /* the type */ \
    X(call_type)       /* a class of ours on top of gnomon.Call */ \
    X(cuda)            /* the module */ \
    X(on_stream)       /* (scope, values): the scope on the stream in use */ \
    X(at_the_end)      /* (calls): closes them when backward is over */

typedef struct torch_object {
    PyObject_HEAD
#define FIELD(name) PyObject *name;
    WATCH_GIVEN(FIELD) struct {
        WATCH_NAMES(FIELD)
    } text;
#undef FIELD
    PyObject *layer_type, *here_type, *here_key;
} torch_object;

typedef struct {
    PyObject_HEAD torch_object *torch;
    PyObject *name, *kind, *level;
    PyObject *module;             /* a weak reference */
    PyObject *watches;            /* list: those that are not closed */
    PyObject *forward, *backward; /* scopes without a stream */
    char is_inner;                /* called by what torch.compile made of it */
} layer_object;

/* A node of autograd's graph, and its number: those that are made later have higher ones.
 * Nodes that hold the gradients of parameters have WATCH_LEAF. */
#define WATCH_LEAF UINT64_MAX
typedef struct {
    PyObject *node; /* NULL: none */
    uint64_t number;
} watch_node;

/* One call of a layer. It keeps no node once it is over, so that nodes, whose hooks keep
 * it, go with the graph. */
typedef struct call_object {
    PyObject_HEAD layer_object *layer;
    struct call_object *parent; /* the call that it is in, or NULL */
    uint64_t first;             /* no node of it has a lower number */
    watch_node last;            /* the first node of the calls inside */
    watch_node before;          /* of the newest output inside */
    gnomon_link link;
    int is_followed;
    PyObject *mark; /* its backward, while that is open */
} call_object;

/* What is kept for each thread. */
typedef struct {
    PyObject_HEAD call_object *call; /* the innermost one that runs, borrowed */
    PyObject *open; /* list: calls whose backward is open, outer ones first */
    char runs;      /* the thread called backward */
} here_object;

/* This thread's, borrowed; NULL: an exception is set. */
here_object *watch_here(torch_object *torch);
/* Whether a function of torch's without arguments says so. An error is no. */
int watch_asks(PyObject *function);
/* The scope on the stream that the first of some values is worked on, if CUDA is in use.
 * A new reference, or NULL. */
PyObject *watch_on_stream(torch_object *torch, PyObject *mark,
                          PyObject *values);

/* The device of the first argument, where no node is between the one that made it, in
 * another call of the same caller, and this call; else -1. Autograd goes from this call's
 * first node to that one, on that device, so its hook ends this call too. */
int watch_begins_after(const call_object *call, PyObject *value);
/* Puts hooks on the nodes that this call made, where there are some. With calls inside,
 * the first node is looked for from theirs on. One before them that leads to none of them
 * is not found, and is taken for one of the caller's. -1: an exception is set. */
int watch_follow(call_object *call, PyObject *result, int device);
void watch_forget_node(watch_node *node);

/* Closes what is in a list of open calls. */
int watch_close_all(PyObject *open);
extern PyType_Spec watch_call_spec;

#endif
