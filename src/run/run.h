/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The run: what control calls share. One control call runs at a time; marks never
 * wait for one. Locks are taken in this order: the control lock; the readers' lock
 * (what a snapshot reads: any thread takes it, while control calls run callbacks);
 * the lock of steps (schedules, step statistics); the lock of marks.
 *
 *     state.c      attachments, views, the stage and the spec, as all read them
 *     control_lock.c  the lock of control calls
 *     control.c    entering them, start
 *     fork.c       forked children
 *     end.c        exit, and the signals that end a process
 *     setup.c      setup, teardown, and who reads $GNOMON
 *     job.c        the rank, the folder, and when the run began
 *     configure.c  specs: from text to attachments
 *     plugin.c     profilers by name: built-in, registered, from a file
 *     attach.c     attachments
 *     sources.c    work of devices: the views that want it
 *     view.c       their views: filter, schedule, ranks
 *     stage.c      stages: where one ends and the next begins
 *     stage_names.c  their names, and the sums of each name
 *     step.c       steps, and their statistics
 *     step_marks.c step=: marks whose ends are steps
 *     snapshots.c  snapshots of a view as profiles
 *     events.c     which events they have
 *     cycles.c     when the events of cycles are given to profilers
 *     streams.c    keep=stream: events that are given to profilers meanwhile
 *     metadata.c   the run's metadata
 *     window.c     schedules: open windows, armed masks, cycles that are over
 *     summary.c    reports: into buffers, with their footers
 *     calls.c      control calls on attachments, stages, metadata, the spec
 *     ask.c        gnomon_summary, gnomon_snapshot, gnomon_device_wait
 *     exports.c    exports and reports of a profile that somebody holds
 *     profiles.c   profiles into files
 *     output.c     where reports go
 *     paths.c      the names of files
 *     files.c      the files that this process wrote
 *     fd_writer.c  a writer to a file descriptor
 *     notes.c      notes for `gnomon run`
 *     host.c       the table that plugins and other copies get
 *     copies.c     which copy of the library owns the process
 *
 * What profiles.c, output.c, paths.c and files.c have is in files.h, host.c, copies.c
 * and metadata.c in host.h, plugin.c in plugin.h, stage.c, stage_names.c, step.c and the
 * stage of state.c in stage.h, and what snapshots.c, events.c, cycles.c and streams.c
 * have in snapshots.h. */
#ifndef GNOMON_RUN_RUN_H
#define GNOMON_RUN_RUN_H

#include "gnomon/tool.h"
#include "mark/thread.h"
#include "platform/os.h"
#include "platform/escape.h"
#include "platform/utf8.h"
#include "record/ledger.h"
#include "spec/filter.h"
#include "spec/options.h"
#include "spec/rank.h"
#include "spec/schedule.h"
#include "spec/spec.h"
#include "run/plugin.h"
#include "run/stage.h"

#define GNOMON__WAITING_CYCLES 16u

/* The cycles of a schedule whose events nobody was given yet. Under the lock of steps. */
typedef struct gnomon__cycles {
    int is_open;
    int was_any;
    int had_events;      /* in control calls: of those that were given */
    uint64_t number;     /* of the open one */
    uint64_t begin;      /* ticks */
    uint64_t most_steps; /* that one stage made */
    uint64_t given;      /* how many were; in control calls */
    uint32_t count;      /* of those that are over */
    struct gnomon__cycle {
        uint64_t begin, end; /* ticks */
        uint64_t cycles;     /* more than one: they fell together */
    } over[GNOMON__WAITING_CYCLES];
} gnomon__cycles;

/* A filter, schedule and ranks. Profilers of one spec for which these are equal share
 * a view, and so a call tree. */
typedef struct gnomon__view {
    struct gnomon__view *next;
    uint32_t number; /* from 1, of this process */
    uint32_t refs;
    uint32_t batch; /* of the control call that made it */
    gnomon__filter *filter;
    char *ranks;               /* NULL: all */
    char *words;               /* all of these as text, for profiles */
    gnomon__schedule schedule; /* all zero: none */
    int scheduled;
    int rank_on;
    uint32_t bits;      /* of its recorders and hooks */
    uint32_t watchers;  /* of these, hooks with a `window` callback */
    gnomon__kept *tree; /* of the tree's recorder; NULL: none */
    gnomon__kept *kept[GNOMON__RECORDERS]; /* of the others; NULL: none */
    gnomon__kept *tape;        /* of the tape's recorder; NULL: none */
    struct gnomon__view *base; /* the tape's: whose tree names its paths */
    gnomon__keep keep;         /* of the tape */
    uint64_t *step_begins;     /* ticks: of the last keep.steps; or NULL */
    uint64_t steps_noted;
    gnomon__cycles cycles; /* of its schedule, where it has a tape */
    int counts_steps;      /* whether one of these does */
    uint32_t timed;        /* how many want device times */
    uint32_t worked;       /* how many want work of devices, ... */
    int has_work;          /* ... which it gets: its rank records */
    int32_t phase;         /* gnomon_phase of the step that is open */
    int was_active;        /* in the open stage ... */
    int was_active_then;   /* ... and in the one that is reported */
    int is_open;           /* its window, since ... */
    uint64_t open_since;   /* ... these ticks */
    uint64_t open_before; /* ticks, in windows of this stage that were closed */
    uint64_t
        since; /* ticks: it came, and steps had been made; 0: it was before these */
    gnomon__ledger ledger;
} gnomon__view;

typedef struct gnomon__attachment {
    struct gnomon__attachment *next; /* in attach order */
    gnomon_profiler profiler;        /* the caller's, up to what both know */
    const gnomon_profiler *given;
    void *self;
    char *word; /* its name in the spec; NULL: the program attached it, and
                   destroys it */
    int leaves; /* it is detached after its last reports */
    gnomon__options *options;
    gnomon__view *view; /* of its tree */
    gnomon__view
        *window;       /* of its tape and hook: the same, unless it wants events
                             and has a schedule, which then is the window's alone */
    uint32_t hook_bit; /* GNOMON__BITS: none */
    uint32_t run_number;     /* in the names of its files; 0: none */
    int told_no_folder;      /* the line that its files have none comes once */
    int is_timed, is_worked; /* it is one of view->timed, of view->worked */
    int is_file_told;        /* paths.c: errors of its file= were logged */
    char *
        folder; /* where its paths begin: the working one when the spec was read;
                     NULL: not known */
} gnomon__attachment;

/* ---- state.c ------------------------------------------------------------------ */

/* Changed under the readers' lock. */
extern gnomon__attachment *gnomon__attachments;
extern gnomon__view *gnomon__views;

/* Whether all its profilers leave. */
int gnomon__view_leaves(const gnomon__view *v);

/* The last spec has fork=follow; its value of fold=, NULL: none. Snapshots read them. */
extern int gnomon__spec_follows;
extern const char *gnomon__spec_folds;
/* The resolved spec as text, as snprintf. */
size_t gnomon__spec_resolved(char *buffer, size_t size);
/* The memory of recorders as mem= takes it. */
void gnomon__memory_print(char *text, size_t size);

/* ---- control_lock.c ---------------------------------------------------------- */

/* Marks the thread as inside of a control call, and not any more; `cancel`: as
 * gnomon__os_cancel_off gave it. */
void gnomon__control_go_in(int cancel);
void gnomon__control_come_out(void);
/* Whether the calling thread is in one. A signal handler may ask. */
int gnomon__control_is_inside(void);
/* Takes the lock, inside. 0: another thread loads a library, or has it, for _now. */
int gnomon__control_take(void);
int gnomon__control_take_now(void);
/* Enters where nobody else is inside. */
int gnomon__control_try(void);
void gnomon__control_leave(void);
static inline int gnomon__control_left(int code)
{
    gnomon__control_leave();
    return code;
}
/* As gnomon__os_loading, and tells those who wait for the control call. */
void gnomon__control_loads(int by);
/* What waiters wait for has come when the turn is not `seen` any more; some waits end
 * before. */
uint32_t gnomon__turn(void);
void gnomon__turn_wait(uint32_t seen, uint64_t *pause);
void gnomon__turn_next(void);

/* ---- control.c -------------------------------------------------------------- */

/* Entry of every control call, which ends with gnomon__control_leave; pthread_cancel does
 * not act between them. After an error the call must return it. */
int gnomon__control_enter(void);
/* A mark before the start is over. 0: it is refused; MAKES_START: this thread is inside, and
 * makes the start. */
#define GNOMON__MAKES_START 2
int gnomon__control_first(void);
/* Around what reads $GNOMON, or stands for it: the run starts, unless it has started.
 * Marks of other threads wait in between. Inside a control call. 0: it has started. */
int gnomon__control_start(void);
void gnomon__control_started(void);
/* Whether a call that takes no control lock is allowed now: GNOMON_OK, or a code and a
 * text. */
int gnomon__control_check(void);

/* ---- fork.c ------------------------------------------------------------------ */

/* With fork=follow the resolved spec, with which children start; NULL: children are
 * off. One load. */
const char *gnomon__follows(void);
void gnomon__fork_follow(char *spec); /* takes it */
/* Sees forks from now on; idempotent. */
void gnomon__fork_watch(void);
/* Whether this is a forked child that is off. */
int gnomon__fork_is_off(void);
/* Whether this process may write. Not so in a child that was forked inside a callback
 * and returned from it. */
int gnomon__output_is_ours(void);
/* Turns such a child on: it goes on as a fresh process. Under no lock. */
void gnomon__fork_ask(void);
/* Such a child makes a mark: its parent will know. Any thread, any number of times. */
void gnomon__fork_note_mark(void);
/* Logs how many such children there were, if there are new ones. */
void gnomon__fork_tell(void);
/* The process that a child was forked from; 0: this is none. */
int64_t gnomon__fork_parent(void);

/* ---- end.c ------------------------------------------------------------------- */

/* After an attach or detach, or when the host may have changed its signal handlers:
 * watches for the end of the process while a report is due then. Inside control
 * calls. */
void gnomon__end_watch(void);

/* ---- job.c ------------------------------------------------------------------- */

/* Looks once which rank the launcher's variables say, and at the clock. */
void gnomon__run_find_rank(void);
const gnomon__rank *gnomon__run_rank(void);
/* Those of gnomon_setup. The directory is copied; without memory there is none. */
void gnomon__run_give_rank(int32_t rank, int32_t local_rank,
                           int32_t world_size);
int gnomon__run_rank_is_given(void);
void gnomon__run_give_dir(const char *dir);
/* In a forked child, which keeps the rank and directory that the program gave. A
 * launcher's variables are read again, because they may differ for each child. */
void gnomon__run_forget_rank(void);
/* Logs once which launcher's variables were ignored, if no rank is known. */
void gnomon__run_log_rank(void);
/* Of gnomon_setup, or NULL. */
const char *gnomon__run_dir(void);
uint64_t gnomon__start_unix_ns(void);
/* Fills in all but the clock's part. Borrowed texts. */
void gnomon__run_describe(gnomon_run_info *run);

/* ---- setup.c ----------------------------------------------------------------- */

/* Reads $GNOMON, if it was not read. Its errors are logged and are not those of the
 * calling control call. */
void gnomon__run_ready(void);
/* Enters a control call, and then that. */
int gnomon__run_enter(void);
int gnomon__run_is_ready(void);

/* ---- configure.c -------------------------------------------------------------- */

/* `adds`: beside what is attached, whose options of the run stay. */
int gnomon__configure(const char *spec, const char *origin, int adds);
/* Sets `leaves` of what specs attached: of all (NULL), or of those that the pattern
 * matches. GNOMON_ENOENT: of none. */
int gnomon__configure_leave(const char *pattern);
/* Detaches those whose `leaves` is set. */
void gnomon__configure_clear(void);

/* ---- attach.c ------------------------------------------------------------------- */

/* Attaches with resolved options, and owns them, also on failure. `word`: its name in
 * the spec, or NULL. Profilers of one `batch` share views. */
int gnomon__attach(const gnomon_profiler *profiler, void *self,
                   const char *word, gnomon__options *options, uint32_t batch);
/* The program's; options as a text of theirs. */
int gnomon__attach_given(const gnomon_profiler *profiler, void *self,
                         gnomon__text options);
int gnomon__detach(gnomon__attachment *a);
/* Of the stage that is open. */
void gnomon__call_setup(gnomon__attachment *a);
/* At exit: profilers that the program attached get no more starts, and the stops of
 * scopes that are open. */
void gnomon__attachments_finish(void);
uint32_t gnomon__batch(void);
/* By the profiler's name or its as=, first attached first; NULL: none. */
gnomon__attachment *gnomon__attachment_named(gnomon__text name);

/* ---- sources.c ------------------------------------------------------------------- */

/* The attachment wants work of devices; where no source tells any, one line says so and
 * *is_missing is 1. And it wants no more. */
int gnomon__work_need(gnomon__attachment *a, int *is_missing);
void gnomon__work_drop(gnomon__attachment *a);
/* Sources tell what is over. */
void gnomon__work_flush(void);
/* An attachment wants times of scopes on streams; and no more. */
int gnomon__times_need(gnomon__view *v);
void gnomon__times_drop(gnomon__view *v);
/* An attachment came or went: views of work have events where tapes have them. */
void gnomon__work_tapes(void);
/* The view's rank records from now on, or no longer. */
void gnomon__work_rank(gnomon__view *v);
/* After a cut, or before a report: takes what sources have reported so far.
 * GNOMON_ENOMEM. Under the readers' lock. */
int gnomon__work_take(gnomon__view *v, int is_report);

/* ---- view.c ---------------------------------------------------------------------- */

/* The batch of step=: its view takes no number, as it has no files. */
#define GNOMON__BATCH_OF_STEPS 0u

/* A reference to the view of these options, made where profilers of `batch` have none
 * yet; with `always` that without their schedule. The options were checked when they
 * were set. */
int gnomon__view_find(gnomon__view **out, const gnomon__options *o,
                      uint32_t batch, int always);
/* The view has a tape beside the tree of `base` from now on. */
int gnomon__view_need_tape(gnomon__view *v, gnomon__view *base,
                           gnomon__keep keep);
/* Takes what its trees recorded up to the last cut. GNOMON_ENOMEM. Under the
 * readers' lock, as the next three. */
int gnomon__view_take(gnomon__view *v);
/* Its stage, one of `name`, is over, from `begin` to `end`, in ticks; the next is
 * of ordinal `next`. */
int gnomon__view_close(gnomon__view *v, uint32_t name, uint32_t next,
                       uint64_t begin, uint64_t end);
/* How long it has recorded in the open stage. */
uint64_t gnomon__view_recorded(const gnomon__view *v, uint64_t now);
/* Gives a reference back, and with the last one the view. */
void gnomon__view_drop(gnomon__view *v);
/* A bit whose marks are those that the view's filter takes. */
void gnomon__view_add_bit(gnomon__view *v, uint32_t bit);
/* The view has the recorders that `wants` asks for from now on. */
int gnomon__view_need(gnomon__view *v, uint32_t wants);
/* Adds what its recorders keep of the open stage, from `begin` to `now`, to `to`. 0: no
 * memory, and some is missing. Under the lock of steps. */
int gnomon__view_read(const gnomon__view *v, gnomon__totals *to, uint64_t begin,
                      uint64_t now);
/* Adds it to each view's ledger and empties them, as the stage is over. GNOMON_ENOMEM.
 * As above. */
int gnomon__views_flush(uint64_t begin, uint64_t now);
/* The rank has changed: checks ranks= again. */
void gnomon__views_rank(int32_t rank);

/* ---- window.c ---------------------------------------------------------------------- */

void gnomon__step_lock(void);
void gnomon__step_unlock(void);
/* Under that lock, when a view is new or a stage or step began: windows open and close
 * at once; masks are rewritten by a thread of ours unless a window needs them now.
 * `rests`: watchers are to see no stage. `now` in ticks. Returns the watchers, by bit,
 * that are to be notified of a new phase. */
uint32_t gnomon__windows_move(uint64_t step, int rests, uint64_t now);
/* Closes the windows that `step` closes, and opens none. */
void gnomon__windows_narrow(uint64_t step);
/* The stage is over at `now`, and its cycles with it. */
void gnomon__cycles_end(uint64_t now, int leaving);
/* Whether a cycle is over. Any time. */
int gnomon__cycles_are_due(void);
/* The oldest cycle that waits for its delivery. 0: there is none. Not under that lock. */
int gnomon__cycle_take(gnomon__view *v, struct gnomon__cycle *out);
/* Notifies them; not under that lock. `live`: the bits that may be called, of an
 * entered thread whose callback flag is set; NULL: in a control call. */
void gnomon__windows_notify(uint32_t bits, const uint32_t *live);
/* A hook with a `window` callback came, or goes. Under the lock of steps. */
void gnomon__windows_watch(gnomon__view *v, uint32_t bit, int comes);
/* A view came or went; starts or stops the thread. Not under that lock. */
void gnomon__windows_refresh(int came);

/* ---- summary.c --------------------------------------------------------------------- */

/* Writes every report that is due for the stage that was closed, and calls teardown.
 * With `leaving` only for those that leave. */
void gnomon__report_stage(int leaving);
/* The run ends: reports of all that was, for those that wait for it; or what came
 * late, where there is no stage to report. */
void gnomon__report_run(int leaving);
void gnomon__report_late(void);
/* Whether an attached profiler has a report to write at the end. */
int gnomon__end_has_reports(void);
/* Whether its report is csv or JSON, which a line of ours would break. */
int gnomon__report_is_data(const gnomon__attachment *a);
/* Whether it has a profile. */
int gnomon__attachment_has_tree(const gnomon__attachment *a);
/* Writes the profiler's summary to `b`. GNOMON_OK, or a code and a text. */
struct gnomon__buffer;
int gnomon__summarize(gnomon__attachment *a, const gnomon_profile *profile,
                      struct gnomon__buffer *b);
/* Reads the device times of finished work. At a stage's end (`is_end`) it waits for the
 * rest, as long as the profilers' option `wait` allows. */
void gnomon__devices_read(int is_end);

#endif
