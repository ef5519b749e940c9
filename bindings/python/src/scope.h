/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A scope's object, for the files that make it (scopes.c) and that enter it (scope.c). */
#ifndef GNOMON_BINDING_SCOPE_H
#define GNOMON_BINDING_SCOPE_H

#include "binding.h"

/* One execution. */
typedef struct {
    uint64_t token; /* of gnomon_begin or gnomon_begin_on, or a range */
    const void *thread;
    const void *task; /* NULL: none. An address, never followed */
    PyObject *open;   /* of a range in a task: binding_task_opens */
    int is_range;
    unsigned forks;    /* binding_forks when it began */
    uint32_t position; /* for binding_end */
    uint32_t timer;    /* of gnomon_begin_on; 0: none */
} scope_entry;

struct binding_scope {
    PyObject_HEAD gnomon_region *region;
    int kind;
    binding_state *state;
    PyObject *name;
    PyObject *category;
    PyObject *stream; /* None, or the handle of a CUDA stream as an int */
    size_t count;     /* changed with the lock, and read by exits without it */
    size_t room;
    scope_entry *entries;
    binding_mutex lock; /* of the entries */
    /* How often it was entered, and not left, with no entry. May wrap, and in a forked
     * child it has those of the parent's threads: a hint for exits in odd places. */
    uint32_t unrecorded;
};

static inline size_t binding_scope_count(const binding_scope *self)
{
    return __atomic_load_n(&self->count, __ATOMIC_RELAXED);
}

static inline uint32_t binding_scope_unrecorded(const binding_scope *self)
{
    return __atomic_load_n(&self->unrecorded, __ATOMIC_RELAXED);
}

/* The region of a scope that was not entered yet: gnomon_region_get reads $GNOMON, which
 * is too early where a module is imported. */
extern __attribute__((visibility("hidden"))) gnomon_region binding_not_entered;

#endif
