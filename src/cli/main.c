/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program `gnomon`: its first word names a command. It makes no marks, so $GNOMON
 * has no effect on it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "command/output.h"
#include "gnomon.h"
#include "platform/error.h"
#include "platform/memory.h"

int main(int argc, char **argv)
{
    const gnomon__command *command;
    int status = GNOMON__EXIT_OK, flushed;
    gnomon__heap_use_libc();
    for (int i = 0; gnomon__commands[i]; i++)
        if (gnomon__commands[i]->prepare)
            gnomon__commands[i]->prepare();
    if (argc < 2) {
        gnomon__log("no command is given; gnomon --help lists them");
        return GNOMON__EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        gnomon__help_all();
    else if (strcmp(argv[1], "--version") == 0)
        printf("gnomon %s\n", GNOMON_VERSION);
    else if (!(command = gnomon__cli_find(gnomon__commands, argv[1])))
        status = GNOMON__EXIT_USAGE;
    else
        status = command->run(command, argc - 1, argv + 1);
    flushed = gnomon__cli_flush();
    return flushed ? flushed : status;
}
