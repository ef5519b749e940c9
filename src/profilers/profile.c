/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * profile: writes what was recorded to the file that file= names, and prints no
 * report. The core writes that file for each profiler that wants a tree; this one only
 * wants the tree.
 */
#include <string.h>

#include "gnomon/tool.h"

static int profile_ends(const char *file, const char *with)
{
    size_t n = strlen(file), length = strlen(with);
    return n >= length && strcmp(file + n - length, with) == 0;
}

/* Checks file= here, so that a mistake is logged at the start of a run, not at its
 * end. */
static int profile_create(const gnomon_options *options, void **self)
{
    const char *file = options->text(options, "file");
    (void)self;
    if (!file ||
        (!profile_ends(file, ".gnomon") && !profile_ends(file, ".gnomon.json")))
        options->log("profile: file= names no .gnomon file, so nothing is "
                     "written: say file=NAME.gnomon");
    return GNOMON_OK;
}

static const gnomon_profiler keeper = {
    .struct_size = sizeof keeper,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "profile",
    .help = "no report, only the profile: file=NAME.gnomon",
    .create = profile_create,
};

GNOMON_PLUGIN(keeper);
