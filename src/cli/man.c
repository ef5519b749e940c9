/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon(1), from the table of commands: man(7) macros that every roff has. */
#include <stdio.h>

#include "cli/help.h"
#include "command/usage.h"
#include "gnomon/version.h"

/* Escapes dashes, so that roff prints them as ASCII. */
static void man_text(const char *text)
{
    for (; *text; text++)
        printf(*text == '-' ? "\\%c" : "%c", *text);
}

/* An empty line of the text is a paragraph; one that begins with blanks stands
 * as it is. */
static void man_paragraphs(const char *text)
{
    int as_is = 0;
    while (*text) {
        char line[256];
        int n = 0;
        for (; text[n] && text[n] != '\n' && n < 255; n++)
            line[n] = text[n];
        line[n] = 0;
        text += n + (text[n] == '\n');
        if ((*line == ' ') != as_is)
            puts((as_is = !as_is) ? ".nf" : ".fi");
        if (!*line) {
            puts(".PP");
            continue;
        }
        man_text(line);
        putchar('\n');
    }
    if (as_is)
        puts(".fi");
}

static void man_command(const gnomon__command *c)
{
    char option[64];
    printf(".SS gnomon %s\n", c->name);
    printf(".B gnomon %s\n%s", c->name, c->options ? "[OPTION...]\n" : "");
    man_text(c->operands);
    printf("%s.PP\n", *c->operands ? "\n" : "");
    man_text(c->about);
    puts(".");
    const char *paragraphs[] = {c->more, gnomon__help_files(c)};
    for (int i = 0; i < 2; i++)
        if (paragraphs[i]) {
            puts(".PP");
            man_paragraphs(paragraphs[i]);
        }
    for (int i = 0; c->options && c->options[i].name; i++) {
        gnomon__help_option(option, sizeof option, &c->options[i]);
        puts(".TP");
        fputs(".B ", stdout);
        man_text(option);
        putchar('\n');
        man_text(c->options[i].help);
        putchar('\n');
    }
}

void gnomon__help_man(const gnomon__command *const *all)
{
    printf(".TH GNOMON 1 \"\" \"gnomon %s\" \"User Commands\"\n",
           GNOMON_VERSION);
    puts(".SH NAME\n"
         "gnomon \\- show, convert and compare what gnomon recorded\n"
         ".SH SYNOPSIS\n"
         ".B gnomon\nCOMMAND\n[OPTION...]\n[WORD...]\n.br\n"
         ".B gnomon \\-\\-help\n.br\n"
         ".B gnomon \\-\\-version\n"
         ".SH COMMANDS");
    for (int i = 0; all[i]; i++)
        man_command(all[i]);
    puts(".SH EXIT STATUS");
#define MAN_EXIT(name, number, words) printf(".TP\n.B %d\n%s\n", number, words);
    GNOMON__EXITS(MAN_EXIT)
#undef MAN_EXIT
    puts(".PP\n"
         "A reader of the output that goes away, as head does, ends the "
         "program by\nSIGPIPE, quietly.\n"
         ".B gnomon run\nends as its program did.");
}
