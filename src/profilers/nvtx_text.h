/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names as the profiler nvtx gives them to a tool, and numbers and colours made of them.
 */
#ifndef GNOMON_PROFILERS_NVTX_TEXT_H
#define GNOMON_PROFILERS_NVTX_TEXT_H

#include <stdint.h>

#define GNOMON__NVTX_TEXT 1024u

/* The text as valid UTF-8, cut where it is longer; in `fit`, or a constant for NULL. */
const char *gnomon__nvtx_text(char fit[GNOMON__NVTX_TEXT], const char *text);

/* The number of a category or counter: its name's hash, never 0. */
uint32_t gnomon__nvtx_hash(const char *text);

/* One of twelve colours that differ on a light and on a dark background: ARGB. */
uint32_t gnomon__nvtx_colour(uint32_t category);

#endif
