/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gates: "optimizer_step mean +5%" fails where that is more than 5 % longer in B
 * than in A. */
#ifndef GNOMON_DIFF_GATE_H
#define GNOMON_DIFF_GATE_H

#include "diff/show.h"

/* Beyond both limits, of one sign, and surely changed: else it holds. */
typedef struct gnomon__gate {
    const char *text;            /* as given */
    char *name;                  /* a pattern of the filters' kind; owned */
    enum gnomon__diff_kind kind; /* of the rows that it watches */
    enum gnomon__metric metric;
    const char *word; /* of the metric */
    double relative;  /* 0.05; below 0: it watches for less, not more */
    double
        absolute; /* at least 0, ns, calls or of samples; NAN: the metric's default */
    int falls; /* it watches for less */
} gnomon__gate;

/* What a duration must differ by to matter where no gate says so, for each
 * execution: readings of the clock vary so much. */
#define GNOMON__GATE_GRAIN_NS 20.0

enum gnomon__verdict {
    GNOMON__GATE_HOLDS,
    GNOMON__GATE_FAILS,
    GNOMON__GATE_UNSURE /* it is beyond the limits, but chance may do that */
};

/* NAME METRIC LIMIT [ABSOLUTE]; `text` must outlive the gate. A gnomon__exit, and
 * one line where it is _USAGE. */
int gnomon__gate_parse(gnomon__gate *gate, const char *text);
void gnomon__gate_free(gnomon__gate *gate);

/* `calls`: of a job of A. `confidence`: how sure a failure must be. */
enum gnomon__verdict gnomon__gate_judge(const gnomon__gate *gate,
                                        const gnomon__change *change,
                                        double calls, double confidence);

/* Judges all rows that the gates watch (of the stage that was asked for), and prints
 * a line for each gate that holds, in JSON each row; those that fail are lines on
 * standard error.
 * The confidence is that of all judgements together. A gnomon__exit: _GATE; _UNSURE;
 * _USAGE: one watches nothing; _NOTHING: what one watches is not on both sides. */
int gnomon__gates_judge(const gnomon__gate *gates, size_t count,
                        const gnomon__diff_request *asked);

#endif
