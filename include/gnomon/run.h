/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The run: control calls, for the framework rather than for each hook. Included
 * by gnomon.h. None of them is needed before a mark.
 *
 * Threads: call them from any thread, but not from inside a profiler's callback.
 * One runs at a time; another one waits for it. Marks wait for none, but that the
 * first marks of threads wait while the run starts, a second at most: then they
 * are refused, and counted as `reentered`.
 * Errors: each returns GNOMON_OK or a negative gnomon_error, and then
 * gnomon_error_text() says in one line what to do. Besides those named at each
 * call, all of them return
 *   GNOMON_EBUSY   inside a callback; or while another thread loads a library
 *                  for gnomon and may wait for the caller
 *   GNOMON_ESTATE  in a child process that was forked from one that records, and
 *                  has not called gnomon_setup; or where a copy of gnomon of
 *                  another generation owns the process
 */
#ifndef GNOMON_H
#include "../gnomon.h" /* includes this header where it is needed */
#elif !defined GNOMON_RUN_H
#define GNOMON_RUN_H

#include "region.h"

GNOMON_BEGIN_DECLS

/* ---- Setup and teardown --------------------------------------------------- */

/* What a framework may tell gnomon at setup. All of it is optional: zero it and
 * set struct_size. */
typedef struct gnomon_setup_options {
    /* sizeof(gnomon_setup_options). */
    uint32_t struct_size;
    /* Not 0: the next three are given. 0: they are taken from the variables that
     * launchers set in the environment (docs/environment.md). */
    int32_t has_rank;
    /* This process's rank in the job: 0 .. world_size - 1. */
    int32_t rank;
    /* Its rank among those of its machine, from 0. */
    int32_t local_rank;
    /* How many ranks the job has, at least 1. */
    int32_t world_size;
    /* 0. */
    int32_t reserved;
    /* What to attach where $GNOMON is not set and gnomon_configure was not called, in
     * the same words, whatever other calls came before. NULL: nothing. */
    const char *spec;
    /* The folder of reports where the spec says `dir` without a value. NULL: not
     * given. */
    const char *dir;
} gnomon_setup_options;

/* Begins a run, or joins the one that is open. Setups nest: the options of the
 * outermost one count, and the first rank that any of them gives. NULL is no
 * options. The options are read during the call; their texts are copied.
 * It counts as a setup also where it fails for its options: the run goes on
 * without the wrong ones until gnomon_teardown.
 * What is wrong in $GNOMON is a line on stderr, and no error of this call.
 * GNOMON_EINVAL: struct_size is not set, the rank is not below the world size,
 * or the options' spec has a wrong word. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_setup(const gnomon_setup_options *options);

/* Undoes one setup. The outermost one writes the reports that are due and
 * detaches what $GNOMON or gnomon_configure attached; a later setup begins a new
 * run. Writes files, so it may take long. Where it is not called, a process that
 * exits writes its reports all the same.
 * GNOMON_ESTATE: there was no setup to undo. */
GNOMON__CALL int gnomon_teardown(void);

/* ---- What is attached ----------------------------------------------------- */

/* Replaces what $GNOMON, or an earlier call, attached by `spec`, which has the
 * grammar of docs/environment.md. The profilers that go write their last reports
 * first; marks made meanwhile are in no report. NULL or "" attaches nothing.
 * "+ITEMS" attaches items beside those that are there, whose recording goes on, and
 * "-PATTERN" detaches those whose as=, or profiler where there is none, it matches.
 * `spec` is copied.
 * GNOMON_EINVAL: a word is wrong. What is right in the spec is attached all the
 * same; gnomon_error_text() has the first wrong word. GNOMON_ENOENT,
 * GNOMON_EPLUGIN: a plugin cannot be loaded, or a profiler's create failed; or there
 * is none to detach.
 * GNOMON_EFULL: more profilers than fit. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_configure(const char *spec);

/* The same, with a length in bytes, or GNOMON_TO_NUL. A NUL inside the length is
 * GNOMON_EINVAL. */
GNOMON__CALL int gnomon_configure_n(const char *spec, size_t length);

/* Writes what is attached as a spec with all defaults written out, which
 * gnomon_configure takes again. As snprintf: at most `size` bytes with the final
 * NUL, and returns the length of the whole in bytes without the NUL. 0: nothing
 * is attached, or the call failed. `buffer` may be NULL to ask for the length. */
GNOMON__CALL size_t gnomon_spec(char *buffer, size_t size);

/* ---- Stages --------------------------------------------------------------- */

/* Opens a stage: "fit", "validate", "test", "predict", or any name. A stage that
 * is open is ended first. Reports are made for each stage; all that was marked
 * since the stage before ended belongs to this one. `name` is copied.
 * GNOMON_EINVAL: the name is NULL. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_stage_begin(const char *name);

/* The same, with a length in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_stage_begin_n(const char *name, size_t length);

/* Ends the open stage and writes the reports that are due.
 * GNOMON_ESTATE: no stage is open. */
GNOMON__CALL int gnomon_stage_end(void);

/* ---- Metadata ------------------------------------------------------------- */

/* Adds an entry to the run's metadata, which profiles and files keep. `json` is
 * one JSON value: a text needs its quotes. Both are copied. A key that is there
 * already gets the new value.
 * GNOMON_EINVAL: key or value is NULL, or the value is not JSON. GNOMON_ENOMEM. */
GNOMON__CALL int gnomon_metadata(const char *key, const char *json);

/* The same, with lengths in bytes, or GNOMON_TO_NUL. */
GNOMON__CALL int gnomon_metadata_n(const char *key, size_t length,
                                   const char *json, size_t json_length);

/* ---- Open scopes of any thread -------------------------------------------- */

/* One open scope, as gnomon_thread_stack writes it. */
typedef struct gnomon_open_scope {
    /* Of the first element: set it to sizeof(gnomon_open_scope). */
    uint32_t struct_size;
    uint32_t reserved;
    /* The region's name, UTF-8. Lives as long as the process. */
    const char *name;
    /* When it began, in ns since the run's zero. */
    uint64_t begin_ns;
    /* The token that its gnomon_begin returned. */
    gnomon_token token;
} gnomon_open_scope;

/* How many threads have marked so far. They are numbered 0 .. count - 1. Ended
 * ones count; a thread that follows an ended one of its name has its number.
 * Takes no lock; may be called from anywhere. */
GNOMON__CALL size_t gnomon_thread_count(void);

/* Reads which scopes thread `thread` has open, outermost first. Fills up to
 * `capacity` elements, which lie scopes[0].struct_size bytes apart.
 * Returns how many are open, which may be more than `capacity`, or an error:
 * GNOMON_EINVAL: no such thread, or struct_size is not set. GNOMON_EBUSY: the
 * thread marked so fast that none of 100 copies was exact; `scopes` then holds
 * an inexact one.
 * 0 where no profiler wants a call tree: callbacks alone keep no scopes.
 * Takes no lock and keeps no error text; may be called from anywhere, also from
 * a callback or a signal handler. */
GNOMON__CALL int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                                     size_t capacity);

GNOMON_END_DECLS

#endif
