/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Durations for people, the same in every locale. */
#ifndef GNOMON_PRINT_DURATION_H
#define GNOMON_PRINT_DURATION_H

#include <stdint.h>

#define GNOMON__DURATION 32 /* bytes that any of them fits in */

/* For columns: "12.35 us", four digits and the unit that fits. Returns `text`. */
const char *gnomon__print_duration(char text[GNOMON__DURATION], uint64_t ns);

/* For sentences: "114 ms", "3.1 ms", "0": three digits at most. Returns `text`, or a
 * constant. */
const char *gnomon__short_duration(char text[GNOMON__DURATION], uint64_t ns);

#endif
