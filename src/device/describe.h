/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is found out about devices, kept until the run's metadata take it. */
#ifndef GNOMON_DEVICE_DESCRIBE_H
#define GNOMON_DEVICE_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

/* Notes device `index` of a kind: its name, and what an event takes of a stream,
 * in ns; 0: not known. Any thread. */
void gnomon__describe_device(const char *kind, int32_t index, const char *name,
                             double event_ns);

/* Calls `tell` with all that was noted, as metadata: a key and JSON. */
void gnomon__describe_each(int (*add)(const char *key, const char *json));

/* In a forked child. */
void gnomon__describe_forget(void);

#endif
