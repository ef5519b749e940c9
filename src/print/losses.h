/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words of lines on what was lost: "2 links lost: too many", "1 link lost: ...". */
#ifndef GNOMON_PRINT_LOSSES_H
#define GNOMON_PRINT_LOSSES_H

#include <stdint.h>

/* What stands after the count of a loss (gnomon_loss_info.kind); NULL: it is neither a
 * field of gnomon_health nor one of events. */
const char *gnomon__loss_words(const char *kind, uint64_t count);

#endif
