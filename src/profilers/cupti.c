/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cupti: kernels, copies and calls of CUDA as CUPTI tells them, each below the scope that
 * launched it: the reports of `gpu` and of `kernels`. Where CUPTI could not be used, the
 * run times scopes on streams instead, and the report is that of `cuda`. A pure function
 * from a profile.
 */
#include <stdlib.h>

#include "print/devices.h"
#include "profilers/cupti_kinds.h"

/* Whether scopes were timed by events on their stream. */
static bool cupti_has_timed(const gnomon_profile *profile)
{
    gnomon_node_info n;
    size_t i = 1;
    while (!gnomon_profile_node(profile, i, &n) &&
           !(n.device && n.device->count))
        i++;
    return i <= gnomon_profile_count(profile, GNOMON_NODES);
}

static int cupti_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    gnomon__device_work work;
    (void)self;
    if (!profile)
        return GNOMON_EINVAL;
    int code = gnomon__device_work_make(&work, profile);
    const bool has_work =
        work.busy_work || work.waits || work.calls || work.overheads;
    gnomon__device_work_free(&work);
    if (code)
        return code;
    if (!has_work)
        return cupti_has_timed(profile)
                   ? gnomon__report_print(&gnomon__stream_times, NULL, profile,
                                          out)
                   : out->print(out, "cupti: " GNOMON__NO_DEVICE_WORK "\n");
    code = gnomon__report_print(&gnomon__gpu, NULL, profile, out);
    out->write(out, "\n", 1);
    return code ? code
                : gnomon__report_print(&gnomon__kernels, NULL, profile, out);
}

/* The run reads the options again; here wrong words get a line. */
static int cupti_create(const gnomon_options *options, void **self)
{
    gnomon__cupti_wants wants;
    gnomon__cupti_wants_read(&wants, options->text(options, "kinds"),
                             options->text(options, "graphs"), options->log);
    *self = NULL;
    return GNOMON_OK;
}

/* `wait` is read by whoever calls summary: run/summary.c. */
static const gnomon_option_info cupti_options[] = {
    GNOMON__PRESET_OPTION("kinds", TEXT, GNOMON__CUPTI_ALL_KINDS,
                          "what is recorded"),
    GNOMON__PRESET_OPTION("graphs", TEXT, "launch",
                          "a graph's launch as one piece of work, or each "
                          "node: launch, node"),
    GNOMON__PRESET_OPTION("wait", DURATION, "1s",
                          "at a stage's end, the longest wait for the device"),
    {.key = NULL}};

static const gnomon_profiler cupti_reporter = {
    .struct_size = sizeof cupti_reporter,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_DEVICE_WORK,
    .name = "cupti",
    .help = "kernels, copies and calls of CUDA, and the scopes they are of",
    .options = cupti_options,
    .create = cupti_create,
    .summary = cupti_summary,
};

GNOMON_PLUGIN(cupti_reporter);
