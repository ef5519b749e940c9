/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What must be known of a file beside its report. */
#ifndef GNOMON_CLI_NOTES_H
#define GNOMON_CLI_NOTES_H

#include "gnomon/profile.h"

/* Lines on standard error: what of the file was damaged, what was not recorded,
 * how many scopes were open. */
void gnomon__cli_notes(const char *path, const gnomon_profile *profile);

/* A loss as a sentence; returns text. */
const char *gnomon__cli_loss(char *text, size_t size,
                             const gnomon_loss_info *loss);

#endif
