/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The run: what control calls share. One control call at a time; marks never
 * wait for one. Below it lie the readers' lock (what a snapshot looks at: it is
 * taken from any thread, while control calls call back), the lock of steps
 * (schedules, step statistics) and the lock of marks, always taken in that order.
 *
 *     control.c    entering control calls, start
 *     fork.c       forked children
 *     end.c        exit, and the signals that end a process
 *     setup.c      setup, teardown, rank
 *     configure.c  specs: from text to attachments
 *     plugin.c     profilers by name: built-in, registered, from a file
 *     attach.c     attachments
 *     view.c       their views: filter, schedule, ranks
 *     stage.c      stages: where one ends and the next begins
 *     step.c       steps, and their statistics
 *     step_marks.c step=: marks whose ends are steps
 *     snapshots.c  what a profile says of the run and its stages
 *     metadata.c   what the run is told of itself
 *     window.c     schedules: open bits and armed masks
 *     summary.c    reports: into buffers, with their footers
 *     ask.c        summaries and snapshots for who asks
 *     profiles.c   profiles into files
 *     output.c     where reports go
 *     paths.c      the names of files
 *     files.c      what this process wrote, and where
 *     notes.c      what `gnomon run` is told
 *     host.c       the table that plugins and other copies get
 *     copies.c     which copy of the library owns the process              */
#ifndef GNOMON_RUN_RUN_H
#define GNOMON_RUN_RUN_H

#include "gnomon/profiler.h"
#include "mark/thread.h"
#include "platform/os.h"
#include "platform/escape.h"
#include "platform/utf8.h"
#include "profile/file_write.h"
#include "record/snapshot.h"
#include "record/step_times.h"
#include "spec/filter.h"
#include "spec/options.h"
#include "spec/rank.h"
#include "spec/schedule.h"
#include "spec/spec.h"
#include "run/plugin.h"
#include "run/stage.h"

/* The equal filter, schedule and ranks under which profilers that came together
 * share a call tree. */
typedef struct gnomon__view {
    struct gnomon__view *next;
    uint32_t number; /* from 1, of this process */
    uint32_t refs;
    uint32_t batch; /* of the control call that made it */
    gnomon__filter *filter;
    char *ranks; /* NULL: all */
    char *words; /* all of these, as they were given: what profiles say */
    gnomon__schedule schedule; /* all zero: none */
    int scheduled;
    int rank_on;
    uint32_t bits;       /* of all its sinks */
    uint32_t watchers;   /* of these, hooks with a `window` callback */
    uint32_t tree_bit;   /* GNOMON__BITS: none */
    uint32_t generation; /* of the tree's sink */
    /* GNOMON__BITS and NULL: it does not keep what steps are made of. */
    uint32_t steps_bit;
    gnomon__step_times *steps;
    uint32_t timed;       /* how many want device times */
    int32_t phase;        /* gnomon_phase of the step that is open */
    int was_active;       /* in the open stage ... */
    int was_active_then;  /* ... and in the one that is reported */
    int is_open;          /* its window, since ... */
    uint64_t open_since;  /* ... these ticks */
    uint64_t recorded_ns; /* in the open stage, while it was open before */
    gnomon__ledger ledger;
} gnomon__view;

#define GNOMON__LAST_STEPS 64

/* What a profile says of the run: taken under the readers' lock, used there. */
typedef struct gnomon__snapshot_input {
    gnomon__run_record run;
    gnomon__stage_record *stages;
    char *spec;
    gnomon__total open_steps;
    gnomon__ledger ledger; /* a copy, of what goes on */
    gnomon__step_record last_steps[GNOMON__LAST_STEPS];
} gnomon__snapshot_input;

typedef struct gnomon__attachment {
    struct gnomon__attachment *next; /* in attach order */
    gnomon_profiler profiler;        /* the caller's, up to what both know */
    const gnomon_profiler *given;
    void *self;
    char *word;    /* of the spec: ours, created and destroyed here; NULL: given
                   by the program */
    int detaching; /* an attempt said GNOMON_EBUSY */
    gnomon__options *options;
    gnomon__view *view;
    uint32_t hook_bit; /* GNOMON__BITS: none */
} gnomon__attachment;

/* ---- control.c -------------------------------------------------------------- */

/* Entry and exit of every control call; no pthread_cancel acts between them. Not
 * GNOMON_OK: do not go on. */
int gnomon__control_enter(void);
void gnomon__control_leave(void);
/* Marks are taken from now on. Inside a control call. */
void gnomon__control_start(void);
/* Whether the calling thread is in one. A signal handler may ask. */
int gnomon__control_is_inside(void);
/* Whether calls that wait for no other may go on: GNOMON_OK, or a code and a text. */
int gnomon__control_check(void);
/* Enters where nobody else is inside. */
int gnomon__control_try(void);

/* ---- fork.c ------------------------------------------------------------------ */

/* Sees forks from now on; idempotent. */
void gnomon__fork_watch(void);
/* Whether this is a child that has not asked to record. */
int gnomon__fork_is_off(void);
/* It asks: what follows is as in a fresh process. Under no lock. */
void gnomon__fork_ask(void);
/* The process that a child was forked from; 0: this is none. */
int64_t gnomon__fork_parent(void);

/* In a child, for fork.c: each file sets aside what it inherited. */
void gnomon__control_forget(void);
void gnomon__end_forget(void);
void gnomon__setup_forget(void);
void gnomon__attachments_forget(void);
void gnomon__stages_forget(void);
void gnomon__windows_forget(void);
void gnomon__reports_forget(void);
void gnomon__files_forget(void);

/* ---- end.c ------------------------------------------------------------------- */

/* Something came or went, or the host may have changed its handlers: reports
 * come at the end as long as anybody has one. Inside control calls. */
void gnomon__end_watch(void);
/* Whether the end of the run is waited for: somebody has something to say then. */
int gnomon__end_has_reports(void);

/* ---- setup.c ----------------------------------------------------------------- */

const gnomon__rank *gnomon__run_rank(void);
/* Once, where no rank is known: what of a launcher was passed over. */
void gnomon__run_log_rank(void);
/* Of gnomon_setup, or NULL. */
const char *gnomon__run_dir(void);
void gnomon__run_find_rank(void);
uint64_t gnomon__start_unix_ns(void);
/* Fills in all but the clock's part. Borrowed texts. */
void gnomon__run_describe(gnomon_run_info *run);
/* Reads $GNOMON, or takes `fallback`; nothing in secure processes. */
int gnomon__run_from_environment(const char *fallback);
/* What a control call does first that needs $GNOMON read. Its faults were told
 * on stderr and are not the call's. */
void gnomon__run_ready(void);
/* Whether nobody asks for a profiler but, perhaps, the program itself. No system
 * call; safe in a signal handler. */
int gnomon__run_is_off(void);
int gnomon__run_is_ready(void);

/* ---- configure.c -------------------------------------------------------------- */

int gnomon__configure(const char *spec, const char *origin);
/* The resolved spec as text, as snprintf. */
size_t gnomon__spec_resolved(char *buffer, size_t size);
/* The memory of recorders as mem= takes it. */
void gnomon__memory_print(char *text, size_t size);
/* Detaches what specs attached, with their teardown. */
void gnomon__configure_clear(void);
/* Of fork=follow: the spec, resolved, that children start with; NULL: they are
 * off. One load. */
const char *gnomon__follows(void);

/* ---- attach.c ------------------------------------------------------------------- */

extern gnomon__attachment *gnomon__attachments;

/* Attaches with options that are settled; takes them over, also on failure.
 * `word`: how a spec named it, or NULL. `batch`: profilers of one number share
 * views. */
int gnomon__attach(const gnomon_profiler *profiler, void *self,
                   const char *word, gnomon__options *options, uint32_t batch);
int gnomon__detach(gnomon__attachment *a);
/* At exit: those that the program attached see no more scopes begin, and get the stop
 * of those that are open. */
void gnomon__attachments_finish(void);
uint32_t gnomon__batch(void);
/* By the profiler's name, first attached first; NULL: none. */
gnomon__attachment *gnomon__attachment_named(gnomon__text name);

/* ---- view.c ---------------------------------------------------------------------- */

/* Of no spec: its view has no number of those that names of files tell. */
#define GNOMON__BATCH_OF_STEPS 0u

extern gnomon__view *gnomon__views;

/* The view of these options, made where profilers of `batch` have none yet. The
 * options were checked when they were set. */
int gnomon__view_find(gnomon__view **out, const gnomon__options *o,
                      uint32_t batch);
/* Takes what its trees recorded up to the last cut. GNOMON_ENOMEM. Under the
 * readers' lock, as the next three. */
int gnomon__view_take(gnomon__view *v);
/* Its stage, one of `name`, is over, from `begin` to `end`, in ticks; the next is
 * of ordinal `next`. */
int gnomon__view_close(gnomon__view *v, uint32_t name, uint32_t next,
                       uint64_t begin, uint64_t end);
/* How long it has recorded in the open stage. */
uint64_t gnomon__view_recorded(const gnomon__view *v, uint64_t now);
int gnomon__view_is_of_spec(const gnomon__view *v);
/* Gives it up where nobody holds it. */
void gnomon__view_drop(gnomon__view *v);
/* A bit whose marks are those that the view's filter takes. */
void gnomon__view_add_bit(gnomon__view *v, uint32_t bit);
/* The view has a call tree from now on. */
int gnomon__view_need_tree(gnomon__view *v);
/* It keeps what steps are made of from now on. */
int gnomon__view_need_steps(gnomon__view *v);
/* The rank is another one than was known: ranks= is looked at again. */
void gnomon__views_rank(int32_t rank);
/* In a forked child. */
void gnomon__views_forget(void);

/* ---- snapshots.c -------------------------------------------------------------------- */

/* The profile of the stage that is reported. In control calls. GNOMON_ENOMEM and a
 * text. */
int gnomon__snapshot_closed(gnomon__model **out, const gnomon__view *v);
/* What came late of an earlier stage, as a profile of that: 0, 1, ...; *out is NULL
 * where there is no more. As above. */
int gnomon__snapshot_late(gnomon__model **out, const gnomon__view *v,
                          uint32_t which);
/* All of one name, or ALL_NAMES, that are over. As above. */
#define GNOMON__ALL_NAMES UINT32_MAX
int gnomon__snapshot_named(gnomon__model **out, const gnomon__view *v,
                           uint32_t name);
/* Of the open stage, or of all by their names. Under the readers' lock. */
int gnomon__snapshot_live(gnomon__model **out, gnomon__view *v, int by_name);
void gnomon__snapshot_input_free(gnomon__snapshot_input *f);

/* ---- window.c ---------------------------------------------------------------------- */

void gnomon__step_lock(void);
void gnomon__step_unlock(void);
/* Under that lock. A view is new, or a stage or step began: open bits change at once;
 * masks when they must, else on a thread of ours. `rests`: no stage is under way,
 * as far as watchers are told. `now`: when, in ticks. Returns which watchers do not
 * know their phase. */
uint32_t gnomon__windows_move(uint64_t step, int rests, uint64_t now);
/* Closes windows that are not open at `step`: what opens waits. */
void gnomon__windows_narrow(uint64_t step);
/* Tells those; not under that lock. `live`: on an entered thread with the flag of
 * callbacks raised, its word of bits that may be called; NULL: in a control
 * call. */
void gnomon__windows_notify(uint32_t bits, const uint32_t *live);
/* A hook with a `window` callback came, or goes. Under the lock of steps. */
void gnomon__windows_watch(gnomon__view *v, uint32_t bit, int comes);
/* A view came or went; starts or stops the thread. Not under that lock. */
void gnomon__windows_refresh(int came);

/* ---- summary.c --------------------------------------------------------------------- */

/* Writes every report that is due for the stage that was closed, and calls teardown.
 * With `of_specs` only for those that a spec attached. */
void gnomon__report_stage(int of_specs);
/* The run ends: reports of all that was, for those that wait for it; or what came
 * late, where there is no stage to report. */
void gnomon__report_run(int of_specs);
void gnomon__report_late(void);
/* Whether its report is csv or JSON, which a line of ours would break. */
int gnomon__report_is_data(const gnomon__attachment *a);
/* Whether it has a profile. */
int gnomon__attachment_has_tree(const gnomon__attachment *a);
/* What the profiler has to say. GNOMON_OK, or a code and a text. */
struct gnomon__buffer;
int gnomon__summarize(gnomon__attachment *a, const gnomon_profile *profile,
                      struct gnomon__buffer *b);
/* Device times that are over are read. Where a stage ends it is waited for those that
 * are not, as long as its profilers' `wait` allows. */
void gnomon__devices_read(int is_end);

/* ---- profiles.c -------------------------------------------------------------------- */

/* Whether file= is where its profile goes. */
int gnomon__profile_is_kept(const gnomon__attachment *a);
/* The file= of a profile that nobody attached records; NULL: all is well. */
const char *gnomon__profile_unrecorded_file(const gnomon__attachment *a);
/* Writes to that file what is new: of the stage that is reported, `closed`, borrowed;
 * NULL: there is none; and what came late of others. */
void gnomon__profile_keep(const gnomon__attachment *a,
                          const gnomon__model *closed);

/* ---- output.c ---------------------------------------------------------------------- */

/* A writer into memory; its files are those of `of`, a profiler whose summary
 * this is, or nobody's. Names are shown as suits where reports of `of` go. */
typedef struct gnomon__buffer {
    gnomon_writer writer; /* first */
    const gnomon__attachment *of;
    char *text;
    size_t length, room;
    int code; /* the first error */
    gnomon__escaped_names *names;
} gnomon__buffer;
void gnomon__buffer_init(gnomon__buffer *b, const gnomon__attachment *of);
void gnomon__buffer_free(gnomon__buffer *b);

/* Not in a child that was forked inside a callback and came back out of it: it
 * writes nothing. */
int gnomon__output_is_ours(void);

/* Sends a report to where the attachment's options say; and a file beside it,
 * as gnomon_writer.file. */
int gnomon__output_file(const gnomon__attachment *a, const char *part,
                        const char *extension, const void *bytes, size_t size);
void gnomon__output(const gnomon__attachment *a, const char *text,
                    size_t length);
void gnomon__output_plain(const char *text, size_t length); /* stderr */

/* ---- paths.c ----------------------------------------------------------------------- */

/* The folder in / that dir= or file= needs and that is not there, or NULL. Free it. */
char *gnomon__path_root_missing(const gnomon__attachment *a);
/* What file= says is in the file: a form of profiles, or -1, a report. */
int gnomon__path_form(const gnomon__attachment *a);
/* Whether reports go to a file; whether there is a folder for what is beside. */
int gnomon__path_is_given(const gnomon__attachment *a);
/* The same, but for streams, as /dev/stderr, which may be a terminal. */
int gnomon__path_is_file(const gnomon__attachment *a);
int gnomon__path_has_folder(const gnomon__attachment *a);
/* Where a report goes (no part, no extension), or a file beside it; and where
 * the profile of a stage goes, `view` 0 or told in its name. What is wrong with
 * the pattern is told where `logs`. From gnomon__alloc; NULL: no memory. */
char *gnomon__path_of(const gnomon__attachment *a, const char *part,
                      const char *extension);
char *gnomon__path_of_profile(const gnomon__attachment *a, const char *stage,
                              uint32_t view, int logs);

/* ---- files.c ----------------------------------------------------------------------- */

typedef struct gnomon__file_job {
    uint64_t part; /* what stands there then, and is replaced ... */
    int grows;     /* ... or, of that part, appended to */
    uint32_t view; /* none but it writes there; 0: others may */
    /* As gnomon__os_make; `counts` are of what stands there, and then of all. */
    int (*make)(int fd, const void *context, gnomon__file_counts *counts);
    const void *context;
    gnomon__file_counts counts;
} gnomon__file_job;

/* Makes a file, beside what another process wrote there meanwhile. 0, or an errno,
 * and then the file is as it was. */
int gnomon__file_put(const char *path, gnomon__file_job *job);
/* That failed: whether it is news, as no line said so since it last was written. */
int gnomon__file_failed(const char *path, int why);
/* The same of bytes; of part 0, reports: they come below what this process put
 * there before. */
int gnomon__file_put_bytes(const char *path, uint64_t part, const void *bytes,
                           size_t size);
/* Whether this process wrote another part there. */
int gnomon__file_is_taken(const char *path, uint64_t part);
/* The view is gone. */
void gnomon__files_drop(uint32_t view);

/* ---- host.c ------------------------------------------------------------------------ */

extern const gnomon_host gnomon__host;

/* Metadata as it is; cleared between runs; forgotten in a forked child. */
const gnomon_metadata_info *gnomon__metadata_all(size_t *count);
/* As gnomon_metadata, inside a control call. */
int gnomon__metadata_put(gnomon__text key, gnomon__text json);
void gnomon__metadata_clear(void);
void gnomon__metadata_forget(void);
/* Valid UTF-8, cut to 256 bytes; NULL: no memory. Free it. */
char *gnomon__clean_copy(gnomon__text text);

/* Whether this copy owns the process, by its first asking; else another does, or
 * it stays off. Under no lock. */
int gnomon__copy_owns(void);
/* The table of the copy that owns it, where this one joined that; else NULL. */
const gnomon_host *gnomon__copy_elsewhere(void);
/* Whether nobody has attached anything in this process, by any copy, nor
 * $GNOMON asks for it: then marks by name are off now. No system call; safe in a
 * signal handler. */
int gnomon__copy_rests(void);
/* Before this copy attaches: the others' marks rest no longer. Takes the loader's
 * lock of the list. */
void gnomon__copies_wake(void);
/* Takes another copy in: its active word follows ours. GNOMON_EFULL. */
int gnomon__copy_join(struct gnomon__copy *copy);

/* GNOMON__FORWARD for control calls, which may be a copy's first call. */
#define GNOMON__FORWARD_CONTROL(call) \
    do { \
        const gnomon_host *gnomon__to = gnomon__copy_elsewhere(); \
        if (gnomon__to) \
            return gnomon__to->call; \
    } while (0)

#endif
