/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each device's name and the cost of an event, kept for the run's metadata. */
#ifndef GNOMON_DEVICE_DESCRIBE_H
#define GNOMON_DEVICE_DESCRIBE_H

#include "gnomon/tool.h"

/* Adds or updates device `index` of a kind: its name, which one it is, and the ns that
 * one event takes in a stream; 0: not known. Any thread. */
void gnomon__describe_device(const char *kind, int32_t index, const char *name,
                             const gnomon_device_identity *identity,
                             double event_ns);

/* Sets how far the run's times on the device may be off, in ns to both sides, once it is
 * known by gnomon__describe_device. Any thread. */
void gnomon__describe_clock(const char *kind, int32_t index, uint64_t error_ns);

/* Calls `add` for each thing that is known, as metadata: a key and a JSON value. */
void gnomon__describe_each(int (*add)(const char *key, const char *json));

/* In a forked child. */
void gnomon__describe_forget(void);

#endif
