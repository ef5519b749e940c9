/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sources of work (gnomon/tool.h): which there are, and when they tell. They are open
 * while a view wants work. In control calls, under no other lock of ours, as sources may
 * give records in each call. */
#ifndef GNOMON_DEVICE_ACTIVITY_H
#define GNOMON_DEVICE_ACTIVITY_H

#include "gnomon/tool.h"

/* See the public calls. A source that is added while views want work is opened at once;
 * if that fails, it is no error, because it may be opened again later. */
int gnomon__sources_add(const gnomon_device_source *source);
int gnomon__sources_remove(const gnomon_device_source *source);

/* Which kinds are wanted, bits of 1 << gnomon_device_work_kind: all, at first. Sources that
 * are open get the new kinds. */
void gnomon__sources_want(uint32_t kinds);

/* A view wants work from now on. GNOMON_EFULL, GNOMON_ENOMEM. */
int gnomon__sources_watch(uint32_t bit, uint32_t generation);
/* One does no longer: before gnomon__activities_unwatch. The last closes all sources. */
void gnomon__sources_unwatch(void);

/* How many sources are open. If none is, *why is a line that says why; NULL: there is no
 * source. */
uint32_t gnomon__sources_open(const char **name, const char **why);

/* Each tells what is over. */
void gnomon__sources_flush(uint64_t patience_ns);

/* The host table's: of the source of this number. */
void gnomon__activity_launched(uint32_t source, uint64_t correlation);
void gnomon__activity_lost(uint32_t source, uint64_t count);

#endif
