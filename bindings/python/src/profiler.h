/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers that are classes of Python: what profiler.c and callbacks.c share. */
#ifndef GNOMON_BINDING_PROFILER_H
#define GNOMON_BINDING_PROFILER_H

#include "binding.h"

#include <gnomon/tool.h>

/* A class. It is never freed, for gnomon may know it by its name. */
typedef struct binding_class {
    gnomon_profiler table; /* first: gnomon's pointer leads to it */
    PyObject *type;
    PyObject *presets; /* dict of its options, or NULL */
    binding_state *state;
} binding_class;

/* An object of it that is attached. */
typedef struct binding_profiler {
    const binding_class *of;
    PyObject *object;
    unsigned told; /* bits of callbacks whose exceptions were told */
    int is_ours;   /* attached by gnomon.attach */
    struct binding_profiler *next;
} binding_profiler;

/* The thread is in Python, with the lock of the first interpreter. */
typedef struct binding_entry {
    int is_held; /* it was before */
    PyGILState_STATE lock;
    binding_state *inside;
    PyObject *type, *value, *trace; /* an exception that was set */
} binding_entry;

/* 0: no call into Python is possible here: Python has ended, or this thread is in
 * another interpreter. The lock need not be held. */
int binding_enter_python(binding_entry *entry);
void binding_leave_python(binding_entry *entry);

/* Sets the callbacks that the class overrides. -1: an exception is set. */
int binding_callbacks_of(binding_class *c, PyObject *base);
/* Says in one line which exception a callback raised, and clears it. */
void binding_tell(const binding_class *c, const char *callback);

/* Python ends: from now on no callback comes. */
extern int binding_has_ended;
/* This thread waits in gnomon.summary, to which an error can be told. */
extern __thread int binding_asks;

#endif
