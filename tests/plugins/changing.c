/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin whose report is right once and wrong from then on: what tests/text must
 * notice where a command is run again and again. */
#include <stdlib.h>
#include <string.h>

#include <gnomon/tool.h>

static int changing_create(const gnomon_options *options, void **self)
{
    *self = strdup(options->text(options, "later"));
    return *self ? GNOMON_OK : GNOMON_ENOMEM;
}

static int changing_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    (void)profile;
    if (!getenv("CHANGING")) {
        setenv("CHANGING", "1", 1);
        return out->print(out, "first\n");
    }
    if (strcmp(self, "crash") == 0)
        abort();
    if (strcmp(self, "exit") == 0)
        exit(2);
    return out->print(out, "other\n");
}

static const gnomon_option_info changing_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "later",
     .type = GNOMON_OPTION_TEXT,
     .preset = "other",
     .help = "crash, exit or other, then"},
    {.key = NULL}};

static const gnomon_profiler changing = {
    .struct_size = sizeof changing,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "changing",
    .options = changing_options,
    .create = changing_create,
    .summary = changing_summary,
    .destroy = free,
};

GNOMON_PLUGIN(changing);
