/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a control call says when it fails, and the lines that the log gets. */
#ifndef GNOMON_PLATFORM_ERROR_H
#define GNOMON_PLATFORM_ERROR_H

#include "gnomon.h"

/* Keeps the text, as escape.h has it, as the thread's last error and returns `code`:
 *     return gnomon__fail(GNOMON_EINVAL, "...: %s", name);               */
int gnomon__fail(int code, const char *format, ...) GNOMON_PRINTF(2, 3);

/* Puts "PATH: " before the thread's last error, which is of this file; a long path is cut
 * where the reason would not fit. Returns `code`. */
int gnomon__fail_in_file(int code, const char *path);

/* Why a callback failed, for a line about it: what it told host->fail, else the name of
 * the code that it returned. Valid until the thread's next call here. */
const char *gnomon__fail_reason(int code);

/* host->fail. */
int gnomon__fail_n(int code, const char *text, size_t length);

/* Before a callback: forgets what an earlier one told. */
void gnomon__fail_reason_clear(void);

/* Forgets the thread's last error; the entry of every control call. */
void gnomon__fail_clear(void);

/* Writes "gnomon: ...\n" to stderr in one piece, at most 1 KiB: one line, whatever
 * is in it (escape.h). Leaves errno as it is. */
void gnomon__log(const char *format, ...) GNOMON_PRINTF(1, 2);

/* host->log. */
void gnomon__log_line(const char *line);

/* With GNOMON_TESTING. If set, it gets the lines ("gnomon: ...", no newline) instead
 * of stderr. */
extern void (*gnomon__test_log)(const char *line);

#endif
