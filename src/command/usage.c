/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* COMMAND --help. All is printed from the table; nothing is wrapped, so lines there
 * are kept short. */
#include "command/usage.h"

#include <stdio.h>
#include <string.h>

#include "command/output.h"

void gnomon__help_option(char *text, int size, const gnomon__cli_option *o)
{
    char letter[8] = "";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(text, (size_t)size, "%s--%s%s%s", letter, o->name,
             o->value ? " " : "", o->value ? o->value : "");
}

const char *gnomon__help_files(const gnomon__command *c)
{
    return strcmp(c->operands, "FILE...") == 0
               ? "FILE is a .gnomon file or its JSON form, - for standard "
                 "input, a pattern, or\n"
                 "a folder: all .gnomon and .gnomon.json in it."
               : NULL;
}

void gnomon__help_command(const gnomon__command *c)
{
    const char *bold = gnomon__cli_bold(stdout),
               *plain = gnomon__cli_plain(stdout);
    char text[64];
    int width = 6;
    printf("%susage:%s gnomon %s%s%s%s\n\n%s.\n", bold, plain, c->name,
           c->options ? " [OPTION...]" : "", *c->operands ? " " : "",
           c->operands, c->about);
    if (c->more)
        printf("\n%s\n", c->more);
    if (gnomon__help_files(c))
        printf("\n%s\n", gnomon__help_files(c));
    printf("\n%soptions:%s\n", bold, plain);
    for (int i = 0; c->options && c->options[i].name; i++) {
        gnomon__help_option(text, sizeof text, &c->options[i]);
        width = (int)strlen(text) > width ? (int)strlen(text) : width;
    }
    for (int i = 0; c->options && c->options[i].name; i++) {
        gnomon__help_option(text, sizeof text, &c->options[i]);
        printf("  %-*s  %s\n", width, text, c->options[i].help);
    }
    printf("  %-*s  %s\n", width, "--help", "show this help");
}
