/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of exports, for bench_profiles. */
#ifndef GNOMON_BENCH_EXPORTS_H
#define GNOMON_BENCH_EXPORTS_H

#include "../bench.h"

void bench_exports(bench_table *t, int smoke, int soaks);

#endif
