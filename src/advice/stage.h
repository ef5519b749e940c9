/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the rules of advice use of a stage. Times of a stage are those of the thread that
 * makes its steps. */
#ifndef GNOMON_ADVICE_STAGE_H
#define GNOMON_ADVICE_STAGE_H

#include "advice/findings.h"
#include "print/rows.h"

enum { IS_LOADER = 1, IS_COLLECTIVE = 2, IS_WAIT = 4 };

typedef struct advice_region {
    double own_ns; /* in all steps; INFINITY: not known */
    const gnomon_stats *in_steps;
    uint64_t calls;           /* in all steps */
    double total_ns, self_ns; /* on the stage's thread */
    double waits_ns;          /* for a device, right below it */
    uint32_t waits_in;        /* a region */
    unsigned is;              /* IS_LOADER, ... */
} advice_region;

typedef struct advice_node {
    double marked_ns; /* in steps, of what is below it */
    unsigned inside;  /* IS_LOADER, ...: of the scopes around it */
} advice_node;

typedef struct advice_track {
    double ns, in_steps; /* in outermost scopes */
    bool is_loader;
} advice_track;

typedef struct advice_step {
    size_t index; /* in the profile */
    uint64_t number, begin_ns;
    double ns;
    bool is_slow;
    unsigned group; /* of periodic ones, from 1; 0: of none */
} advice_step;

typedef struct advice_stage {
    const gnomon_profile *p;
    gnomon_run_info run;
    gnomon_stage_info of;
    uint32_t number; /* 0: nothing is of a stage */
    uint32_t view;   /* whose nodes count */
    uint32_t thread; /* makes the steps; 0: there is none */
    double recorded_ns, steps, steps_ns, usual_ns;
    double waits_ns; /* in collectives, in a step; below 0: there are none */
    double cores;    /* that were busy, on average */
    double workers, worker_share; /* of loaders; their sum */
    bool is_first_of_profile, is_first_of_run, is_first_of_name;
} advice_stage;

typedef struct advice {
    advice_stage *stages;
    size_t count, room, rule;
    gnomon__findings *to;
    int code;
    /* Of the stage at hand, by number: */
    gnomon__report_table memory;
    advice_region *regions;
    advice_node *nodes;
    advice_track *tracks;
    advice_step *steps; /* that are over, by their begin */
    size_t step_count;
    uint64_t periods[3]; /* of groups of slow steps; 0: there is none */
    bool has_times;      /* of regions in steps */
} advice;

/* In per cent; 0 of nothing. */
static inline double advice_share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Whether one of these words, which end in a NULL, is in the name, in any letters. */
bool gnomon__advice_word(const char *name, const char *const *words);

/* Whether this is of the stage, by its view; 0: of all views. */
bool gnomon__advice_is_of(const advice_stage *s, uint32_t view);
/* Whether it is one of the stage, with times on a thread of the host; the next such one
 * behind number *at. */
bool gnomon__advice_node(const advice_stage *s, size_t at,
                         gnomon__report_node *n);
bool gnomon__advice_next(const advice_stage *s, size_t *at,
                         gnomon__report_node *n);
/* How often a step calls what ran so often in all steps; the rest is of few of them. */
uint64_t gnomon__advice_calls(const advice_stage *s, uint64_t count);
/* The number in the run's metadata; below 0: there is none. */
double gnomon__advice_metadata(const advice_stage *s, const char *key);

/* Adds all stages of the profile to a->stages. Sets a->code. */
void gnomon__advice_stages(advice *a, const gnomon_profile *p);
/* Makes it the stage at hand. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__advice_begin(advice *a, const advice_stage *s);

#endif
