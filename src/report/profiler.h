/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers used for their reports alone: built-in ones, the program's own, and
 * plugins. */
#ifndef GNOMON_REPORT_PROFILER_H
#define GNOMON_REPORT_PROFILER_H

#include "gnomon/profiler.h"
#include "report/stages.h"
#include "spec/filter.h"
#include "spec/spec.h"

typedef struct gnomon__cli_profiler {
    const gnomon_profiler *profiler;
    void *self;
    gnomon__filter *filter; /* NULL: everything */
    char format[8];         /* what format= says; "": nothing */
    int is_plugin;
    int is_table; /* of print/table.h: its title comes first, and it is set apart */
    enum gnomon__stages_by by;
    int ranks_by; /* of --as ranks: gnomon__rank_table.by */
} gnomon__cli_profiler;

/* All that have a report, as --as has them; NULL at the end. */
extern const char *const gnomon__report_words[];

/* The profiler of an item as in a spec, "simple(limit=3)" or "./libmine.so", with
 * these options besides. GNOMON_OK; else lines have said why. End it with _close in
 * any case. */
int gnomon__cli_profiler_open(gnomon__cli_profiler *p, const char *item,
                              const gnomon__settings *options);
void gnomon__cli_profiler_close(gnomon__cli_profiler *p);

/* Bits of the kinds of entities that its report reads; others need no memory. */
uint32_t gnomon__report_kinds(const gnomon__cli_profiler *p);

#endif
