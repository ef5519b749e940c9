/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Durations in few characters, for people. */
#ifndef GNOMON_PRINT_SHORT_TIME_H
#define GNOMON_PRINT_SHORT_TIME_H

#include <stdint.h>

#define GNOMON__SHORT_TIME 32

/* A duration in three digits at most: "114 ms", "3.1 ms", "0". The same in every
 * locale. Returns `text`. */
const char *gnomon__short_time(char text[GNOMON__SHORT_TIME], uint64_t ns);

#endif
