/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of the Python module share. The module is written against CPython's
 * limited API, so one build serves Python 3.9 and all later ones.
 *
 * Threads: all functions here are called with the interpreter's lock held (attached,
 * in a build without that lock), but for those that say otherwise.
 */
#ifndef GNOMON_BINDING_H
#define GNOMON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gnomon/tool.h>

/* In the limited API since 3.10. 3.9 has it, with the same value and meaning. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* A function with another signature than PyCFunction, as METH_FASTCALL needs. */
#define BINDING_FUNCTION(f) ((PyCFunction)(void (*)(void))(f))

/* How many names an interpreter keeps the objects of. Then it forgets them all, so that
 * changing names take no memory here. */
#define BINDING_NAMES 16384

/* The lock of an object. Threads of a Python without a global lock run at once in all that
 * is written for it. What is written and read in few instructions, which call nothing of
 * Python, has such a lock; with a global lock it is nothing. What interpreters share has
 * a pthread_mutex_t, for each may have a lock of its own. */
#ifdef Py_GIL_DISABLED
typedef PyMutex binding_mutex;
#define BINDING_LOCK(mutex) PyMutex_Lock(mutex)
#define BINDING_UNLOCK(mutex) PyMutex_Unlock(mutex)
#else
typedef char binding_mutex;
#define BINDING_LOCK(mutex) (void)(mutex)
#define BINDING_UNLOCK(mutex) (void)(mutex)
#endif

/* Adds to a count that has no lock. */
#ifdef Py_GIL_DISABLED
#define BINDING_ADD(at, n) (void)__atomic_fetch_add(at, n, __ATOMIC_RELAXED)
#else
#define BINDING_ADD(at, n) (void)(*(at) += (n))
#endif

/* The value of a key, a new reference; NULL: there is none, or an exception is set. */
static inline PyObject *binding_find(PyObject *dict, PyObject *key)
{
#ifdef Py_GIL_DISABLED
    PyObject *found = NULL;
    (void)PyDict_GetItemRef(dict, key, &found);
#else
    PyObject *found = PyDict_GetItemWithError(dict, key);
    Py_XINCREF(found);
#endif
    return found;
}

/* What is kept for each interpreter. It lives until the module and all objects that
 * lead here are gone. */
typedef struct binding_state {
    Py_ssize_t users;
    PyObject *error;      /* gnomon.Error */
    PyObject *scope_type; /* scopes, by name and category */
    PyObject *range_type;
    PyObject *profile_type;
    PyObject *recording_type;
    PyObject *scopes;        /* dict: name, or (name, category) -> scope */
    PyObject *ranges;        /* the same for gnomon.range */
    PyObject *marks;         /* the same for gnomon.mark */
    PyObject *counters;      /* the same for gnomon.counter */
    PyObject *pools;         /* the same for pools */
    PyObject *actions;       /* dict: the name of an action -> its UTF-8 */
    PyObject *tasks_key;     /* "asyncio.tasks" */
    PyObject *running;       /* asyncio._get_running_loop, once it is there */
    PyObject *current;       /* asyncio.current_task */
    PyObject *around;        /* the contextvars.ContextVar of tasks.c */
    Py_ssize_t open_ranges;  /* of tasks */
    PyObject *describe_call; /* of gnomon/_calls.py */
    struct binding_switch
        *calls;  /* whether it records calls; NULL: never yet */
    int is_main; /* the first interpreter of the process */
} binding_state;

/* The state of the module object. */
binding_state *binding_state_of(PyObject *module);
/* One object more, or one less, leads here. */
void binding_state_hold(binding_state *state);
void binding_state_release(binding_state *state);

/* A scope's object: what gnomon.scope returns. The same type keeps the regions of marks
 * and counters. */
typedef struct binding_scope binding_scope;
/* Its region, which is made now if it was not. It may release the interpreter's lock: call
 * it before `inside` is set. */
gnomon_region *binding_region_of(PyObject *scope);
/* The object of a name, made at its first use. A new reference; NULL: an error. */
PyObject *binding_scope_get(binding_state *state, PyObject *cache,
                            PyObject *name, PyObject *category, int kind);

/* As __enter__ and __exit__, which cannot fail. */
void binding_scope_enter(PyObject *scope);
void binding_scope_leave(PyObject *scope);

/* The task that runs, as an address; NULL: none. *in_loop: whether a loop runs here. An
 * exception that is set stays, and none is added. */
const void *binding_task(binding_state *state, int *in_loop);
/* Whether a scope that begins now may be one of the thread: no scope of another task is
 * open here. If it is of a task, it is told of its begin and its end. */
int binding_task_may_nest(const void *task, int in_loop);
void binding_task_begins(const void *task, uint64_t token);
void binding_task_ends(uint64_t token);
/* The innermost range that is open in the context of the task, and its token; NULL: none.
 * A range that begins in the task is put there, by what that returned, and taken away
 * again. They consume what they are given; an exception that is set stays. */
PyObject *binding_task_around(binding_state *state, uint64_t *token);
PyObject *binding_task_opens(binding_state *state, uint64_t token,
                             PyObject *around);
void binding_task_closes(binding_state *state, PyObject *open);

/* Records no calls of this interpreter any more, and ends those of this thread. */
void binding_calls_stop(binding_state *state);
/* The interpreter ends. */
void binding_calls_free(binding_state *state);
/* Tells of the exception that is set, and takes it, where what we did was not the
 * program's. Its own are raised again: a KeyboardInterrupt that hit there. */
void binding_forget_error(void);
/* In a forked child: what this thread has open is the parent's. */
void binding_calls_forked(void);
void binding_tasks_forked(void);

int binding_scope_types(binding_state *state, PyObject *module);
int binding_range_types(binding_state *state, PyObject *module);
extern PyMethodDef binding_scope_methods[];
extern PyMethodDef binding_range_methods[];
extern PyMethodDef binding_mark_methods[];
extern PyMethodDef binding_control_methods[];
extern PyMethodDef binding_profiler_methods[];
extern PyMethodDef binding_profile_methods[];
extern PyMethodDef binding_recording_methods[];
extern PyMethodDef binding_event_methods[];
extern PyMethodDef binding_average_methods[];
extern PyMethodDef binding_call_methods[];
extern PyMethodDef binding_hook_methods[];
extern PyMethodDef binding_watch_methods[];
extern PyMethodDef binding_nvtx_methods[];
extern PyMethodDef binding_operator_methods[];

/* Ends the run of this process, if there is one. Returns None. */
PyObject *binding_end_run(PyObject *module);

struct gnomon_profile;
/* The object of a profile that a call gave us, which owns it; the exception of an error
 * code. */
PyObject *binding_profile_own(binding_state *state, int code,
                              struct gnomon_profile *profile);
/* The object of a profile that a callback is given, or None for NULL. It is consumed by
 * its end, after which it has no profile any more. */
PyObject *binding_profile_lend(binding_state *state,
                               const struct gnomon_profile *profile);
void binding_profile_take_back(PyObject *lent);
/* The gnomon.Profile of such an object, or None. */
PyObject *binding_profile_wrap(PyObject *raw);
/* The profile of an object; NULL: an exception is set. */
const struct gnomon_profile *binding_profile_of(PyObject *object);
PyObject *binding_profile_columns(PyObject *self, PyObject *args);
/* A capsule with a stream of Arrow of the entities of a kind. */
PyObject *binding_profile_arrow(PyObject *self, PyObject *args);

/* What the object of a profile, and streams that outlive it, hold of it together. */
typedef struct binding_lease binding_lease;
binding_lease *binding_lease_hold(PyObject *object);
void binding_lease_release(binding_lease *lease);
/* The profile, until the call of leave; NULL: it was lent, and is gone; leave it all the
 * same. No lock is needed. */
const struct gnomon_profile *binding_lease_enter(binding_lease *lease);
void binding_lease_leave(binding_lease *lease);
int binding_profile_types(binding_state *state, PyObject *module);
int binding_recording_types(binding_state *state, PyObject *module);
int binding_event_types(binding_state *state, PyObject *module);

/* UTF-8 of a Python text, as a bytes object; lone surrogates are kept as bytes that are
 * not UTF-8, which gnomon replaces. A new reference; NULL: an error. */
PyObject *binding_utf8(PyObject *text);

/* The arguments of a function that is called as METH_FASTCALL | METH_KEYWORDS: `names`
 * are those of its parameters, and the first is a text that must be given. Fills
 * `given`, which has defaults, with borrowed references. 0: an exception is set. */
int binding_arguments(const char *function, const char *const *names,
                      Py_ssize_t most, PyObject *const *args, Py_ssize_t count,
                      PyObject *keywords, PyObject **given);

/* Raises gnomon.Error for a negative code, with gnomon's text. Returns NULL. */
PyObject *binding_raise(binding_state *state, int code);
/* None, or the exception of a negative code. */
PyObject *binding_result(binding_state *state, int code);

/* What was written, which needs no lock, as a str, with bytes that are not UTF-8 replaced;
 * or, if the code is negative, the exception of that. Frees it. */
struct gnomon__buffer;
PyObject *binding_text_take(struct gnomon__buffer *text, binding_state *state,
                            int code);

/* Before a mark: 0 where it would do nothing. Starts a worker process of multiprocessing,
 * with the interpreter's lock released, because that may run callbacks in Python. */
int binding_wake(void);
/* Before a thread's first mark (threads.c). */
void binding_thread_name(void);
/* gnomon_region_get of two bytes objects, `category` or NULL, with the interpreter's lock
 * released: the first mark of the process reads $GNOMON there, which may run callbacks. */
gnomon_region *binding_region_get(PyObject *name, PyObject *category, int kind);
/* Not 0: the next mark begins a run in this forked worker. */
extern int binding_worker_waits;
static inline uint32_t binding_waits(void)
{
    return (uint32_t)__atomic_load_n(&binding_worker_waits, __ATOMIC_RELAXED);
}

/* Whether a mark may do something at all. */
static inline int binding_is_on(void)
{
    return (__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED) |
            binding_waits()) != 0;
}

/* How many forks are between this process and the first one: what began before a fork
 * is the parent's to end. */
extern unsigned binding_forks;

/* The open calls of a thread (calls.c), of all interpreters that it runs. */
typedef struct binding_calls {
    size_t count, room;
    struct binding_call {
        uint64_t token;  /* 0: nobody records it */
        const void *key; /* of its function */
        const struct binding_switch *by;
        unsigned round; /* of that switch, in which it began */
        uint32_t position;
    } * open;
    size_t lost; /* above the stack: there was no memory for them */
} binding_calls;

/* What is kept for each thread; its address names the thread while it lives. */
typedef struct binding_local {
    /* Not NULL: a mark may call profilers in Python on this thread, which then know that
     * the lock of this interpreter is held. */
    binding_state *inside;
    int in_callback; /* a profiler's callback runs in Python */
    int is_naming;   /* code of ours runs, which is no call to mark */
    int is_named;    /* its name was asked for */
    /* Positions of open scopes and calls: each takes the next one. An end whose position
     * this is ends the innermost one; any other end leaves it as it is. So positions
     * differ, and none is above this. */
    uint32_t open;
    binding_calls calls;
} binding_local;
extern
    __attribute__((visibility("hidden"))) __thread binding_local binding_here;

/* The address of this thread's, asked for once: compilers ask the loader again at each
 * use after a call. */
static inline binding_local *binding_local_here(void)
{
    binding_local *here = &binding_here;
    __asm__("" : "+r"(here));
    return here;
}

/* Ends a scope of this thread that began at `position`. What began inside it and is open
 * stays open; gnomon_end does the same where nothing is, in less time. */
static inline void binding_end(binding_local *here, uint64_t token,
                               uint32_t position)
{
    if (here->open == position) {
        here->open--;
        gnomon_end(token);
    } else {
        gnomon_end_alone(token);
    }
}

#endif
