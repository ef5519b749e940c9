/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile has for a report, and what it lacks. */
#ifndef GNOMON_REPORT_CONTENT_H
#define GNOMON_REPORT_CONTENT_H

#include "gnomon/profile.h"

/* Whether the report of this name has a row of the profile, which is of one stage. */
int gnomon__report_has_rows(const char *report, const gnomon_profile *profile);

/* Logs where the profile has fewer steps than the stage had: `path` is its file. */
void gnomon__report_log_steps(const char *path, const gnomon_profile *profile);

#endif
