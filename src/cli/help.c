/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --help, and the command `help`. All is printed from the table; nothing is
 * wrapped, so lines there are kept short. */
#include "cli/help.h"

#include <getopt.h>
#include <stdio.h>

#include "command/output.h"
#include "command/usage.h"

void gnomon__help_all(const gnomon__command *const *all)
{
    const char *bold = gnomon__cli_bold(stdout),
               *plain = gnomon__cli_plain(stdout);
    printf("%susage:%s gnomon COMMAND [OPTION...] [WORD...]\n\n"
           "Shows, converts and compares what gnomon recorded.\n\n"
           "%scommands:%s\n",
           bold, plain, bold, plain);
    for (int i = 0; all[i]; i++)
        printf("  %-11s %s\n", all[i]->name, all[i]->about);
    printf("\n  --help      show this help; gnomon COMMAND --help: of that "
           "command\n"
           "  --version   the version\n\n"
           "%sexit status:%s\n",
           bold, plain);
#define HELP_EXIT(name, number, words) printf("  %-11d %s\n", number, words);
    GNOMON__EXITS(HELP_EXIT)
#undef HELP_EXIT
}

/* ---- The command ------------------------------------------------------------ */

enum { HELP_MAN };

static const gnomon__cli_option help_options[] = {
    [HELP_MAN] = {.name = "man", .help = "the man page, gnomon(1), in roff"},
    {.name = NULL}};

static int help_run(const gnomon__command *const *all, int argc, char **argv);

const gnomon__command gnomon__command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .about = "Shows help on all commands or on one",
    .options = help_options,
    .run_of_all = help_run,
};

static int help_run(const gnomon__command *const *all, int argc, char **argv)
{
    const gnomon__command *c = NULL;
    int option, man = 0;
    while ((option = gnomon__cli_next(&gnomon__command_help, argc, argv)) >= 0)
        man = option == HELP_MAN;
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    if (argc - optind > 1 || (man && optind < argc))
        return gnomon__cli_usage(&gnomon__command_help, "too many words");
    if (optind < argc && !(c = gnomon__cli_find(all, argv[optind])))
        return GNOMON__EXIT_USAGE;
    if (man)
        gnomon__help_man(all);
    else if (c)
        gnomon__help_command(c);
    else
        gnomon__help_all(all);
    return GNOMON__EXIT_OK;
}
