/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What other copies of the library in this process call, and the run's metadata. Marks
 * and control calls of a copy that does not own the process go to the one that does. */
#ifndef GNOMON_RUN_HOST_H
#define GNOMON_RUN_HOST_H

#include "run/run.h"

/* What plugins and other copies call: it leads to nearly all of the run, and files of the
 * run below it hand it out. */
extern const gnomon_host gnomon__upcall_host;

/* What of the table is in this room, with lengths in bytes, or GNOMON_TO_NUL: the calls
 * without a length call them. */
int gnomon__attach_n(const gnomon_profiler *profiler, void *self,
                     const char *options, size_t length);
int gnomon__configure_n(const char *spec, size_t length);
int gnomon__stage_begin_n(const char *name, size_t length);
int gnomon__metadata_n(const char *key, size_t length, const char *json,
                       size_t json_length);
int gnomon__summary_n(const char *profiler, size_t length,
                      const gnomon_writer *out);
int gnomon__snapshot_n(gnomon_profile **out, const char *profiler,
                       size_t length, int all_stages);
int gnomon__report_n(const gnomon_profile *profile, const char *report,
                     size_t length, const gnomon_writer *out);
int gnomon__register(const gnomon_profiler *profiler);
size_t gnomon__own_file_name(const char *pattern, char *buffer, size_t size);
int gnomon__source_add(const gnomon_device_source *source);
int gnomon__source_remove(const gnomon_device_source *source);

/* All metadata; it is cleared between runs, and forgotten in a forked child. */
const gnomon_metadata_info *gnomon__metadata_all(size_t *count);
/* As gnomon_metadata, inside a control call. */
int gnomon__metadata_put(gnomon__text key, gnomon__text json);
void gnomon__metadata_clear(void);
/* Valid UTF-8, cut to 256 bytes; NULL: no memory. Free it. */
char *gnomon__clean_copy(gnomon__text text);

/* Whether this copy owns the process; the first call decides. If not, another copy
 * does, or this one stays off. Under no lock. */
int gnomon__copy_owns(void);
/* The table of the copy that owns the process, or will, of whatever generation. Takes the
 * loader's lock, and no other. */
const gnomon_host *gnomon__copy_elect(void);
/* The table of the owner, if this copy joined it; else NULL. */
const gnomon_host *gnomon__copy_elsewhere(void);
/* Whether no copy in this process has attached a profiler and $GNOMON asks for none:
 * then marks by name are off now. No system call; safe in a signal handler. */
int gnomon__copy_rests(void);
/* Before this copy attaches: turns the marks of other copies on. Takes the loader's
 * lock of the list. */
void gnomon__copies_wake(void);
/* Adds another copy: its active word follows ours. GNOMON_EFULL. */
int gnomon__copy_join(struct gnomon__copy *copy);

/* GNOMON__FORWARD for control calls, which may be a copy's first call. */
#define GNOMON__FORWARD_CONTROL(call) \
    do { \
        const gnomon_host *gnomon__to = gnomon__copy_elsewhere(); \
        if (gnomon__to) \
            return gnomon__to->call; \
    } while (0)

#endif
