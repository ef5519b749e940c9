/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin of the generation before, as its headers made it. */
#include <gnomon/tool.h>
#undef GNOMON_ABI
#define GNOMON_ABI 1

static int older_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    (void)self, (void)profile;
    return out->print(out, "never\n");
}

static const gnomon_profiler older = {.struct_size = sizeof older,
                                      .abi = GNOMON_ABI,
                                      .name = "older",
                                      .summary = older_summary};
GNOMON_PLUGIN(older);
