/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin whose report is a text of its own, whatever its format= says. */
#include <stdlib.h>
#include <string.h>

#include <gnomon/profile.h>
#include <gnomon/tool.h>

static const gnomon_host *host;

static int own_create(const gnomon_options *options, void **self)
{
    const char *format = options->text(options, "format");
    if (format && !strcmp(format, "none"))
        return host->fail(GNOMON_EINVAL, "none is no format", GNOMON_TO_NUL);
    *self = calloc(1, 16);
    if (*self && format)
        strncpy(*self, format, 15);
    return *self ? GNOMON_OK : GNOMON_ENOMEM;
}

static int own_summary(void *self, const gnomon_profile *profile,
                       const gnomon_writer *out)
{
    gnomon_stage_info stage = {.name = ""};
    gnomon_profile_stage(profile, 1, &stage);
    return out->print(out, "own text of %s%s%s\n", stage.name,
                      *(char *)self ? " as " : "", (const char *)self);
}

static const gnomon_option_info own_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "format",
     .type = GNOMON_OPTION_TEXT,
     .help = "any word"},
    {.key = NULL}};

static const gnomon_profiler own_text = {
    .struct_size = sizeof own_text,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "own_text",
    .options = own_options,
    .create = own_create,
    .summary = own_summary,
    .destroy = free,
};

GNOMON_API const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *of);
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *of)
{
    host = of;
    return &own_text;
}
