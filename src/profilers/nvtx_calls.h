/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * All calls of NVTX by the profiler nvtx. Only nvtx_calls.c includes NVTX's headers, as
 * they contain code, of which each source that includes them gets a copy.
 */
#ifndef GNOMON_PROFILERS_NVTX_CALLS_H
#define GNOMON_PROFILERS_NVTX_CALLS_H

#include "gnomon/tool.h"

#ifndef GNOMON_WITH_NVTX /* 1: there are headers of NVTX 3 */
#define GNOMON_WITH_NVTX 0
#endif

#define GNOMON__NVTX_CAPTURE "gnomon.capture"

typedef struct gnomon__nvtx_domain gnomon__nvtx_domain;

/* gnomon_options.region_op. */
typedef const gnomon_op_info *
gnomon__nvtx_region_op(const gnomon_region *region);

/* The domain of this name, made at its first use and never freed. In control calls.
 * `region_op` NULL: nobody tells what regions compute.
 * GNOMON_OK; GNOMON__NVTX_NO_DOMAINS: the tool has no domains, so all is sent in the
 * default one; GNOMON__NVTX_REFUSED: it has domains, but does not want this one;
 * GNOMON_ENOMEM; GNOMON_DECLINED: there is no tool. */
#define GNOMON__NVTX_NO_DOMAINS (GNOMON_DECLINED + 1)
#define GNOMON__NVTX_REFUSED (GNOMON_DECLINED + 2)
int gnomon__nvtx_domain_get(gnomon__nvtx_domain **out, const char *name,
                            gnomon__nvtx_region_op *region_op);

/* The profiler's callbacks. `self` points to a struct whose first field is a pointer to
 * the domain. Any thread, at any time. */
void gnomon__nvtx_start(void *self, const gnomon_frame *frame, uint64_t *slot);
void gnomon__nvtx_stop(void *self, const gnomon_frame *frame, uint64_t *slot);
void gnomon__nvtx_mark(void *self, const gnomon_mark_event *event);
void gnomon__nvtx_counter(void *self, const gnomon_counter_event *event);
void gnomon__nvtx_thread(void *self, const gnomon_thread_event *event);
void gnomon__nvtx_stream(void *self, const gnomon_stream_event *event);

/* Begin and end a range of the name GNOMON__NVTX_CAPTURE, at which tools can start a
 * capture. */
uint64_t gnomon__nvtx_capture_begin(const gnomon__nvtx_domain *d);
void gnomon__nvtx_capture_end(const gnomon__nvtx_domain *d, uint64_t id);

#endif
