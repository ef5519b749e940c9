/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes on a file: what was lost, and which scopes were open. */
#ifndef GNOMON_COMMAND_NOTES_H
#define GNOMON_COMMAND_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct gnomon_profile;
struct gnomon_loss_info;

/* What was lost in one or many runs, and how many scopes were open. Zeroes are an
 * empty one. */
typedef struct gnomon__cli_notes {
    uint64_t open;
    struct gnomon_loss_info *losses; /* by kind; each kind is a copy */
    size_t count, room;
} gnomon__cli_notes;

/* Adds the losses of a profile. In a file with runs, losses of no run are damage to the
 * file and left out: gnomon__gather_damage logs them. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__cli_notes_add(gnomon__cli_notes *n,
                          const struct gnomon_profile *profile);

/* Lines on standard error. A gnomon__exit: _UNREADABLE where one is of damage. */
int gnomon__cli_notes_print(const gnomon__cli_notes *n, const char *path);
void gnomon__cli_notes_free(gnomon__cli_notes *n);

/* Whether it is of damage to the file, not of what the run lost. */
int gnomon__cli_is_damage(const struct gnomon_loss_info *loss);

/* Logs all damage to the file `path`; NULL: it is not logged. A gnomon__exit:
 * _UNREADABLE where there is some. */
int gnomon__cli_log_damage(const char *path,
                           const struct gnomon_profile *profile);

/* A loss as a sentence; returns text. */
const char *gnomon__cli_loss(char *text, size_t size,
                             const struct gnomon_loss_info *loss);

#endif
