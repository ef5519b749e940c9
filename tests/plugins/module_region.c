/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module with a region; the program that loads it marks it. */
#include <gnomon.h>

extern GNOMON_API gnomon_region region_of_module;
gnomon_region region_of_module =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "of a module", NULL, NULL);
