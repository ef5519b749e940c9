/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers used for their reports alone: built-in ones, the program's own, and
 * plugins. */
#ifndef GNOMON_REPORT_PROFILER_H
#define GNOMON_REPORT_PROFILER_H

#include "print/rows.h"
#include "spec/filter.h"
#include "spec/spec.h"

typedef struct gnomon__cli_profiler {
    const gnomon_profiler *profiler;
    const gnomon__report
        *report; /* NULL: it has rows of its own, or is a plugin */
    void *self;  /* of a report: it begins with a gnomon__table_choice */
    gnomon__filter *filter; /* NULL: everything */
    char format[8];         /* what format= says; "": nothing */
    int is_plugin;
    int is_table; /* of print/table.h: its title comes first, and it is set apart */
    int by;       /* gnomon__group_by, of ranks or hosts; else 0 */
} gnomon__cli_profiler;

/* Makes the words of --as: all that have a report; NULL at the end. And the lines that
 * help has on each of them. */
extern const char *gnomon__report_words[];
extern char gnomon__report_help[];
void gnomon__report_words_make(void);

/* The profiler of an item as in a spec, "simple(limit=3)" or "./libmine.so", with
 * these options besides. GNOMON_OK; else lines have said why. End it with _close in
 * any case. */
int gnomon__cli_profiler_open(gnomon__cli_profiler *p, const char *item,
                              const gnomon__settings *settings);
void gnomon__cli_profiler_close(gnomon__cli_profiler *p);

/* Whether the profiler wants any of these to be recorded: that is what the report reads. */
int gnomon__wants(const gnomon__cli_profiler *p, uint32_t bits);
/* Whether ranks or hosts are added to its rows one by one, and are not summed. */
int gnomon__is_apart(const gnomon__cli_profiler *p);
/* Whether it has a row of the profile, which is of one stage. */
int gnomon__report_has_rows(const gnomon__cli_profiler *p,
                            const gnomon_profile *profile);
/* Whether some of these kinds, as bits, have rows in it. */
int gnomon__report_has_kinds(const gnomon__cli_profiler *p, uint32_t kinds);
/* Bits of the kinds of entities that its report reads; others need no memory. */
uint32_t gnomon__report_kinds(const gnomon__cli_profiler *p);

#endif
