/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages and their steps. They change in control calls, under the readers' lock and
 * the lock of steps (window.c). */
#ifndef GNOMON_RUN_STAGE_H
#define GNOMON_RUN_STAGE_H

#include "record/snapshot.h"

/* All stages of one name that are over. */
typedef struct gnomon__named_stages {
    char *name;
    uint32_t count;
    uint32_t ordinal;          /* of the last one */
    uint64_t begin_ns, end_ns; /* of the first and the last */
    gnomon__whole_steps steps;
} gnomon__named_stages;

/* ---- state.c ---------------------------------------------------------------------- */

/* The open stage, and the one that is reported. */
typedef struct gnomon__stages {
    uint32_t over;      /* how many stages are */
    int32_t was_opened; /* the open one; else it begins at its first mark */
    char *name;         /* its; NULL: "" */
    uint64_t opened;    /* ticks */
    uint64_t first;     /* its first mark's in segments that are over, + 1 */
    gnomon__stage_record reported; /* whose reports are written */
    char *reported_name;           /* its name, if it is over; else NULL */
    /* The open one, while profilers leave in it. */
    gnomon__stage_record unfinished;
    uint32_t unreached; /* threads that the last cut did not reach */
} gnomon__stages;
extern gnomon__stages gnomon__stage;

/* The name of the reported stage, else of the open one; NULL: unnamed. */
const char *gnomon__stage_name(void);
/* The same for callbacks; "": unnamed. */
static inline const char *gnomon__stage_text(void)
{
    const char *name = gnomon__stage_name();
    return name ? name : "";
}
static inline uint32_t gnomon__stage_ordinal(void)
{
    return gnomon__stage.over + 1;
}
/* Ticks of the open stage's first mark, plus 1; 0: no mark. And of its begin. */
uint64_t gnomon__stage_first_mark(void);
uint64_t gnomon__stage_begin_ticks(uint64_t now);
/* Whether anything was marked or opened since the stage before ended. */
int gnomon__stage_is_due(void);
/* Its reports are written. In control calls. */
void gnomon__stage_reports_over(void);

/* ---- stage.c ---------------------------------------------------------------------- */

/* The stage begins, if none is open; it takes over `name`. Returns the watchers of windows
 * that are to be notified. */
uint32_t gnomon__stage_open(char *name);
/* Ends the stage, named or not, with its reports. */
void gnomon__stage_over(void);
/* The same, and the reports of the whole run. */
void gnomon__run_over(void);
/* The stage goes on, but profilers that specs attached report before their detach. */
void gnomon__stage_report_leaving(void);
/* Forgets the stages of a run that is over. */
void gnomon__stages_restart(void);

/* ---- stage_names.c: under the readers' lock ---------------------------------------- */

/* The number of a name, added if it is new. After 1023 names all new ones are "(other)";
 * without memory the number is that of "". */
uint32_t gnomon__stage_name_number(const char *name);
/* The same without adding it: of a new name, the number that it would get. */
uint32_t gnomon__stage_name_find(const char *name);
/* Adds a finished stage to its name. */
void gnomon__stage_names_add(const gnomon__stage_record *s);
/* 0, 1, ...; NULL: there are no more. */
const gnomon__named_stages *gnomon__stages_named(uint32_t number);
uint32_t gnomon__stage_name_count(void);
/* Forgets them, as a run begins or is over. */
void gnomon__stage_names_clear(void);

/* ---- step.c: under the lock of steps ------------------------------------------------ */

/* The stage was opened at these ticks, and its first step begins: marks before are of
 * the stage and of no step. */
void gnomon__steps_begin(uint64_t ticks);
/* *out: the step statistics of the open stage, in ns, valid until the next call of
 * either. _end also ends the stage. GNOMON_ENOMEM: some are missing. Under the readers'
 * lock too. */
int gnomon__steps_flush(const gnomon__whole_steps **out, uint64_t begin,
                        uint64_t now);
int gnomon__steps_end(const gnomon__whole_steps **out, uint64_t begin,
                      uint64_t now);
/* Sets the empty `out` to the statistics of the open stage. 0: no memory. */
int gnomon__steps_copy(gnomon__whole_steps *out, uint64_t begin, uint64_t now);
/* The last GNOMON__LAST_STEPS of the run; how many. */
size_t gnomon__steps_last(gnomon__step_record *out);
/* In ticks: when the last step of the run was over; 0: none was. */
uint64_t gnomon__steps_last_end(void);
/* Whether any step of the run was over. */
int gnomon__steps_were_made(void);
void gnomon__steps_restart(void);

#endif
