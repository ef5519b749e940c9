/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sites as C functions. Their regions are static in this module. */
#include "marks.h"

#define SITE(type, name, args) \
    type c_##name args; \
    __attribute__((used)) type c_##name args
#include "sites.h"
