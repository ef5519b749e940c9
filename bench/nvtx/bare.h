/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_BENCH_NVTX_BARE_H
#define GNOMON_BENCH_NVTX_BARE_H

#include <stdint.h>

#define BARE_API __attribute__((visibility("default")))

/* Runs n pairs; the first call loads $NVTX_INJECTION64_PATH. Returns whether a tool
 * listens. */
BARE_API int bare_pairs(uint64_t n);

#endif
