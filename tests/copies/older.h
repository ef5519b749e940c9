/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A copy of an earlier version of the same generation. */
#include "gnomon.h"
#undef GNOMON_VERSION
#define GNOMON_VERSION "0.0.7"
