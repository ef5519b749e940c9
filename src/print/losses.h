/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words of lines on what was lost: "2 links lost: too many", "1 link lost: ...". */
#ifndef GNOMON_PRINT_LOSSES_H
#define GNOMON_PRINT_LOSSES_H

#include <stdint.h>

/* What stands after a count, of which `several` is for all but 1: a text of GNOMON_HEALTH,
 * or of events. That of one is made of it in `room`. */
#define GNOMON__LOSS_WORDS 128
const char *gnomon__loss_words(char room[GNOMON__LOSS_WORDS],
                               const char *several, uint64_t count);

/* The text for several of a loss of events (gnomon_loss_info.kind); NULL: it is another
 * loss. */
const char *gnomon__event_loss(const char *kind);

#endif
