/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options of the profiler `cupti` that say what CUPTI records. The run reads them too,
 * as there is one CUPTI in a process: what any profiler wants is recorded. */
#ifndef GNOMON_PROFILERS_CUPTI_KINDS_H
#define GNOMON_PROFILERS_CUPTI_KINDS_H

#include <stdint.h>

#define GNOMON__CUPTI_ALL_KINDS \
    "kernel|memcpy|memset|runtime|driver|sync|overhead"

/* What `cupti` asks for. */
typedef struct gnomon__cupti_wants {
    uint32_t kinds;      /* bits of 1 << gnomon_device_work_kind */
    int runtime, driver; /* which calls, if any */
    int by_node;         /* the nodes of graphs, instead of graphs */
} gnomon__cupti_wants;

/* Reads the values of `kinds` and `graphs`. Each wrong word is left out, with a line to
 * `log`, which may be NULL. */
void gnomon__cupti_wants_read(gnomon__cupti_wants *out, const char *kinds,
                              const char *graphs,
                              void (*log)(const char *line));

#endif
