/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static */
#include "end_ways.h"
