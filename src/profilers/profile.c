/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * profile: what was recorded, into the file that file= names, and no text. All
 * of that is the core's, which writes the profile of whoever wants a tree; this
 * one wants a tree and has nothing to say.
 */
#include <string.h>

#include "gnomon/profiler.h"

static int profile_ends(const char *file, const char *with)
{
    size_t n = strlen(file), length = strlen(with);
    return n >= length && strcmp(file + n - length, with) == 0;
}

/* Told at the start, not when the run is over. */
static int profile_create(const gnomon_options *options, void **self)
{
    const char *file = options->text(options, "file");
    (void)self;
    if (!file ||
        (!profile_ends(file, ".gnomon") && !profile_ends(file, ".gnomon.json")))
        options->log("profile: it is written nowhere: say file=NAME.gnomon");
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
