/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One stage of a profile, as a profile of its own: what profilers get live. */
#ifndef GNOMON_CLI_STAGE_H
#define GNOMON_CLI_STAGE_H

#include "gnomon/profile.h"

/* The profile of stage `number` of `profile`: its run, steps, paths with their
 * statistics of time, and the paths above those. GNOMON_OK, and the caller frees
 * *out; else gnomon_error_text() says why. */
int gnomon__cli_stage(const gnomon_profile *profile, uint32_t number,
                      gnomon_profile **out);

#endif
