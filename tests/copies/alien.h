/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A copy of another generation: neither can join the other. */
#include "gnomon.h"
#undef GNOMON_VERSION
#define GNOMON_VERSION "9.0.0"
#undef GNOMON_ABI
#define GNOMON_ABI 9
