/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls of Python as scopes: what calls.c and call_hooks.c share. */
#ifndef GNOMON_BINDING_CALLS_H
#define GNOMON_BINDING_CALLS_H

#include "binding.h"

#include <gnomon/profile.h>

/* A call begins on this thread. `key` is what its region is found by, and `what` what
 * gnomon/_calls.py describes. */
void binding_call_begins(binding_state *state, const void *key, PyObject *what);
/* The innermost call of this key is over, and what is open inside it. If none began while
 * calls were recorded, nothing is. */
void binding_call_ends(binding_state *state, const void *key);

/* The key of a function in C; NULL: it is none. Of a method that is bound to an object,
 * *callable becomes the function; it is borrowed. */
const void *binding_c_function(PyObject **callable);

#endif
