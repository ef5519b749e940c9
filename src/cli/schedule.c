/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon schedule: what schedule= will do at each step, without a run. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "command/command.h"
#include "platform/error.h"
#include "spec/options.h"
#include "spec/schedule.h"

#define STEPS_PRESET 20

static int take_steps(void *steps, const gnomon__cli_option *o,
                      const char *text)
{
    char why[120];
    if (!gnomon__option_parse(GNOMON_OPTION_INTEGER, text, steps, why,
                              sizeof why) &&
        *(int64_t *)steps >= 1)
        return 1;
    gnomon__log("--%s %s: say a number of steps, as 20", o->name, text);
    return 0;
}

static const gnomon__cli_option schedule_options[] = {
    GNOMON__TEXT("steps", 'n', "N", "how many steps, from 0; else 20",
                 .take = take_steps),
    {.name = NULL}};

static int print_actions(const char *words, int64_t steps)
{
    /* By gnomon_phase. */
    static const char *const actions[] = {"none", "warmup", "record",
                                          "record_and_save"};
    gnomon__schedule s;
    char why[160];
    if (gnomon__schedule_parse(&s, words, why, sizeof why)) {
        gnomon__log("%s: %s", words, why);
        return GNOMON__EXIT_USAGE;
    }
    for (int64_t i = 0; i < steps && !ferror(stdout); i++)
        printf("step %" PRId64 "  %s\n", i,
               actions[gnomon__schedule_phase(&s, (uint64_t)i)]);
    return GNOMON__EXIT_OK;
}

static int schedule_run(const gnomon__command *c, int argc, char **argv)
{
    int64_t steps = STEPS_PRESET;
    int status = gnomon__cli_read(c, argc, argv, &steps);
    if (status != GNOMON__CLI_END)
        return status;
    if (optind + 1 != argc)
        return gnomon__cli_usage(c, optind == argc ? "no schedule is given"
                                                   : "one schedule at a time");
    return print_actions(argv[optind], steps);
}

const gnomon__command gnomon__command_schedule = {
    .name = "schedule",
    .operands = "SCHEDULE",
    .about = "Prints what a schedule does at each step, without a run",
    .more = "SCHEDULE is what follows schedule= in $GNOMON, as "
            "wait:1/warmup:1/active:3.\n"
            "A trace has the steps that say record; at record_and_save a cycle "
            "ends.",
    .options = schedule_options,
    .run = schedule_run,
};
