/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices, from the source's records to the ledgers: each record is joined with
 * the note of its launch (activity_notes.h), gets its numbers (activity_tables.h), and is
 * added to the sums of each view that saw the launch, until the view's ledger takes them.
 * Under one lock, which no marking thread takes. */
#ifndef GNOMON_RECORD_ACTIVITIES_H
#define GNOMON_RECORD_ACTIVITIES_H

#include "gnomon/activity.h"
#include "gnomon/profile.h"
#include "record/activity_notes.h"
#include "record/activity_sums.h"

/* A view wants work from now on. GNOMON_EFULL and GNOMON_ENOMEM, with a text. In control
 * calls. */
int gnomon__activities_watch(uint32_t bit, uint32_t generation);
/* It does no longer. After the last one the tables are empty. Under the readers' lock,
 * and after gnomon__ledger_drop_activities. */
void gnomon__activities_unwatch(uint32_t generation);

/* Adds records; those that cannot be are counted. Any thread but a marking one, inside no
 * lock of ours. */
void gnomon__activities_put(uint32_t source, const gnomon_activity *records,
                            size_t count);

/* Passes the view's sums to `add`, which returns 0 where there is no memory, and removes
 * them unless they stay. Returns 0 if any `add` did. Under the readers' lock. */
typedef int gnomon__activities_to(void *context,
                                  const gnomon__activity_sum *sum);
int gnomon__activities_take(uint32_t generation, int stays,
                            gnomon__activities_to *add, void *context);

/* The lock, for who reads the tables of numbers. */
void gnomon__activities_lock(void);
void gnomon__activities_unlock(void);

/* In a forked child: drops all. */
void gnomon__activities_forget(void);

#endif
