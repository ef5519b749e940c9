/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin with every possible fault: at loading, by $FAULT, and later, by
 * options. It prints the calls that are right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gnomon/tool.h>

typedef struct faulty {
    int64_t setup, summary;
} faulty;

static const gnomon_option_info faulty_options[] = {
    {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "create", "0",
     "what create returns"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "setup", "0",
     "what setup returns"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "summary", "0",
     "what summary returns"},
    {.key = NULL},
};

static int faulty_create(const gnomon_options *options, void **self)
{
    faulty *f = calloc(1, sizeof *f);
    if (!f || options->number(options, "create")) {
        free(f);
        return (int)options->number(options, "create");
    }
    f->setup = options->number(options, "setup");
    f->summary = options->number(options, "summary");
    *self = f;
    return GNOMON_OK;
}

static int faulty_setup(void *self, const gnomon_run_info *run,
                        const char *stage)
{
    (void)run, (void)stage;
    return (int)((const faulty *)self)->setup;
}

static int faulty_summary(void *self, const gnomon_profile *profile,
                          const gnomon_writer *out)
{
    (void)profile;
    out->print(out, "faulty's summary\n");
    return (int)((const faulty *)self)->summary;
}

static gnomon_profiler profiler = {
    .struct_size = sizeof profiler,
    .abi = GNOMON_ABI,
    .name = "faulty",
    .help = "does wrong what it is told to",
    .options = faulty_options,
    .create = faulty_create,
    .setup = faulty_setup,
    .summary = faulty_summary,
    .destroy = free,
};

GNOMON_API gnomon_plugin_entry gnomon_plugin_v1;
const gnomon_profiler *gnomon_plugin_v1(const gnomon_host *host)
{
    const char *fault = getenv("FAULT");
    (void)host;
    if (!fault)
        return &profiler;
    if (strcmp(fault, "null") == 0)
        return NULL;
    if (strcmp(fault, "abi") == 0)
        profiler.abi = GNOMON_ABI - 1;
    if (strcmp(fault, "size") == 0)
        profiler.struct_size = 8;
    if (strcmp(fault, "name") == 0)
        profiler.name = NULL;
    return &profiler;
}
