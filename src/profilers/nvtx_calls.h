/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * All that the profiler nvtx says to NVTX. One source includes NVTX's headers,
 * which are code: whoever includes them has a copy of it. Here nothing of theirs
 * shows.
 */
#ifndef GNOMON_PROFILERS_NVTX_CALLS_H
#define GNOMON_PROFILERS_NVTX_CALLS_H

#include "gnomon/profiler.h"

#ifndef GNOMON_WITH_NVTX /* 1: there are headers of NVTX 3 */
#define GNOMON_WITH_NVTX 0
#endif

#define GNOMON__NVTX_CAPTURE "gnomon.capture"

typedef struct gnomon__nvtx_domain gnomon__nvtx_domain;

/* The domain of this name, made at its first use and kept as long as the process
 * lives. In control calls. GNOMON_OK; GNOMON__NVTX_NO_DOMAINS: the tool knows none, and
 * gets all in the default one; GNOMON_ENOMEM; GNOMON_DECLINED: nobody listens. */
#define GNOMON__NVTX_NO_DOMAINS (GNOMON_DECLINED + 1)
int gnomon__nvtx_domain_get(gnomon__nvtx_domain **out, const char *name);

/* The profiler's callbacks. What `self` points to begins with a pointer to the
 * domain. Any thread, at any time. */
void gnomon__nvtx_start(void *self, const gnomon_frame *frame, uint64_t *slot);
void gnomon__nvtx_stop(void *self, const gnomon_frame *frame, uint64_t *slot);
void gnomon__nvtx_mark(void *self, const gnomon_mark_event *event);
void gnomon__nvtx_counter(void *self, const gnomon_counter_event *event);
void gnomon__nvtx_thread(void *self, const gnomon_thread_event *event);
void gnomon__nvtx_stream(void *self, const gnomon_stream_event *event);

/* A range of the name that tools look for, and its end. */
uint64_t gnomon__nvtx_capture_begin(const gnomon__nvtx_domain *d);
void gnomon__nvtx_capture_end(const gnomon__nvtx_domain *d, uint64_t id);

#endif
