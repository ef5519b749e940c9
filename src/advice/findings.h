/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What may make a run faster: findings from the profiles of a job, those first by which
 * most time is to be gained. A rule says nothing where its data are missing, and each
 * finding says from what it comes, and where it is not sure. */
#ifndef GNOMON_ADVICE_FINDINGS_H
#define GNOMON_ADVICE_FINDINGS_H

#include "gnomon/profile.h"
#include "print/table.h"

#define GNOMON__FINDINGS 7u /* the most that are shown */

struct advice;
struct advice_stage;

/* Each "{}" of a text is a word that the finding has. */
typedef struct gnomon__advice_rule {
    const char *name;
    /* Called for each stage of each run. */
    void (*look)(struct advice *a, const struct advice_stage *s);
    const char *reads;     /* without these it has no data */
    const char *threshold; /* from which on there is a finding */
    const char *what, *from, *tries;
} gnomon__advice_rule;

/* Texts are of the profiles, or of the findings. */
typedef struct gnomon__finding {
    const gnomon__advice_rule *rule;
    uint64_t gain_ns;  /* at most; 0: it is not about time */
    const char *about; /* a rule has one finding for each */
    const char *what, *from, *tries;
    const char *unsure; /* NULL: it is sure */
} gnomon__finding;

typedef struct gnomon__findings {
    gnomon__finding
        at[GNOMON__FINDINGS + 1]; /* the last one is for what comes */
    size_t count;
    uint32_t looked; /* a bit for each rule that had data */
    gnomon__report_table texts;
} gnomon__findings;

extern const gnomon__advice_rule
    gnomon__advice_rules[]; /* `look` NULL ends them */

/* The profiles of one job, each of one run or of several. GNOMON_OK; GNOMON_ENOMEM; or the
 * code of one whose file could not be read to its end. Free in any case. O(entities) time
 * for each stage. */
int gnomon__advise(gnomon__findings *to, const gnomon_profile *const *profiles,
                   size_t count);
void gnomon__findings_free(void *findings);

#endif
