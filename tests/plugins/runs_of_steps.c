/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A plugin with the name of a report and its groups: it prints what the runs are that it
 * is given. */
#include <inttypes.h>

#include <gnomon/profile.h>
#include <gnomon/tool.h>

static int runs_summary(void *self, const gnomon_profile *profile,
                        const gnomon_writer *out)
{
    int code = GNOMON_OK;
    (void)self;
    for (size_t i = 1; i <= gnomon_profile_count(profile, GNOMON_RUNS); i++) {
        gnomon_run_info run;
        gnomon_profile_run(profile, i, &run);
        code = out->print(out,
                          "rank %" PRId32 ", local %" PRId32 " of %" PRId32
                          ", host \"%s\"\n",
                          run.rank, run.local_rank, run.world_size, run.host);
    }
    return code;
}

static const gnomon_option_info runs_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "by",
     .type = GNOMON_OPTION_TEXT,
     .help = "rank or host"},
    {.key = NULL}};

static const gnomon_profiler runs_of_steps = {
    .struct_size = sizeof runs_of_steps,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_STEPS,
    .name = "steps",
    .options = runs_options,
    .summary = runs_summary,
};

GNOMON_PLUGIN(runs_of_steps);
