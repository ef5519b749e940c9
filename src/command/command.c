/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parses the command line of a command by getopt_long, with our messages. It uses only
 * the command's table, from which help is printed too. Help is not wrapped, so keep lines
 * in the tables short. */
#include "command/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/output.h"
#include "platform/error.h"
#include "spec/suggest.h"

#define MOST_COMMANDS 24
#define MOST_OPTIONS 24

/* ---- Words ---------------------------------------------------------------- */

int gnomon__cli_word(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (gnomon__same_word(word, words[i]))
            return i;
    return -1;
}

/* "unknown WHAT 'SHOWN': did you mean 'BEST'?", or the list where nothing is near. Words
 * stand behind `prefix`: of options the last one is --help, which nobody means. */
static int say_unknown(const char *what, const char *shown, const char *word,
                       const char *const *words, const char *prefix)
{
    char known[512] = "";
    size_t used = 0;
    gnomon__suggestion s = gnomon__suggest(word);
    for (int i = 0; words[i]; i++) {
        if (!*prefix || words[i + 1])
            gnomon__suggest_offer(&s, words[i]);
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used,
                                     "%s %s%s", i ? "," : "", prefix, words[i]);
    }
    if (s.best)
        gnomon__log("unknown %s '%s': did you mean '%s%s'?", what, shown,
                    prefix, s.best);
    else
        gnomon__log("unknown %s '%s': there are%s", what, shown, known);
    return GNOMON__EXIT_USAGE;
}

int gnomon__cli_no_word(const char *what, const char *word,
                        const char *const *words)
{
    return say_unknown(what, word, word, words, "");
}

const gnomon__command *gnomon__cli_find(const gnomon__command *const *all,
                                        const char *name)
{
    const char *names[MOST_COMMANDS + 1] = {NULL};
    for (int i = 0; i < MOST_COMMANDS && all[i]; i++) {
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
        names[i] = all[i]->name;
    }
    if (access(name, F_OK) == 0)
        gnomon__log("'%s' is a file, no command: gnomon report %s", name, name);
    else
        gnomon__cli_no_word("command", name, names);
    return NULL;
}

int gnomon__cli_number(const char *text, unsigned long long *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* ---- Help ------------------------------------------------------------------ */

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

/* ---- Options -------------------------------------------------------------- */

#define FIRST_VALUE 256 /* of getopt: option 0; below are letters */
#define HELP_VALUE (FIRST_VALUE + MOST_OPTIONS)

static int option_count(const gnomon__command *c)
{
    int n = 0;
    while (c->options && c->options[n].name && n < MOST_OPTIONS)
        n++;
    return n;
}

static void wrong_option(const gnomon__command *c, const char *word, int letter)
{
    const char *names[MOST_OPTIONS + 2] = {NULL};
    char shown[128];
    int n = option_count(c);
    for (int i = 0; i < n; i++)
        names[i] = c->options[i].name;
    names[n] = "help";
    if (letter)
        snprintf(shown, sizeof shown, "-%c", letter);
    else
        snprintf(shown, sizeof shown, "--%.*s", (int)strcspn(word + 2, "="),
                 word + 2);
    say_unknown("option", shown, letter ? shown : shown + 2, names, "--");
}

/* The option that getopt's value stands for; NULL: --help. */
static const gnomon__cli_option *option_at(const gnomon__command *c, int value)
{
    for (int i = 0; i < option_count(c); i++)
        if (value == FIRST_VALUE + i ||
            (value < FIRST_VALUE && value == c->options[i].letter))
            return &c->options[i];
    return NULL;
}

static void wrong_value(const gnomon__cli_option *o, int is_missing)
{
    if (is_missing && o)
        gnomon__log("--%s needs %s", o->name, o->value);
    else if (!is_missing)
        gnomon__log("--%s takes no value", o ? o->name : "help");
}

/* `letters` ends with a zero, which it has before. */
static void name_options(const gnomon__command *c, struct option *longs,
                         char *letters)
{
    const int n = option_count(c);
    for (int i = 0; i < n; i++) {
        const gnomon__cli_option *o = &c->options[i];
        longs[i] =
            (struct option){o->name, o->value != NULL, NULL, FIRST_VALUE + i};
        if (o->letter) {
            *letters++ = o->letter;
            if (o->value)
                *letters++ = ':';
        }
    }
    longs[n] = (struct option){"help", 0, NULL, HELP_VALUE};
}

/* 0: its value is wrong, which is logged. */
static int put_option(void *request, const gnomon__cli_option *o)
{
    void *to = (char *)request + o->to;
    const int is_word = o->words && !o->is_open;
    const int word = is_word ? gnomon__cli_word(optarg, o->words) : 0;
    if (word < 0) {
        char what[64];
        snprintf(what, sizeof what, "word for --%s", o->name);
        gnomon__cli_no_word(what, optarg, o->words);
        return 0;
    }
    if (o->take)
        return o->take(request, o, optarg);
    if (!o->value)
        *(int *)to = 1;
    else if (is_word)
        *(int *)to = word;
    else
        *(const char **)to = optarg;
    return 1;
}

int gnomon__cli_read(const gnomon__command *c, int argc, char **argv,
                     void *request)
{
    struct option longs[MOST_OPTIONS + 2] = {{0}};
    char shorts[2 * MOST_OPTIONS + 4] = "+:h";
    int value;
    name_options(c, longs, shorts + strlen(shorts));
    opterr = 0;
    while ((value = getopt_long(argc, argv, shorts + !c->operands_follow, longs,
                                NULL)) != -1) {
        if (value == HELP_VALUE || value == 'h') {
            gnomon__help_command(c);
            return GNOMON__EXIT_OK;
        }
        if (value == '?' && optopt < FIRST_VALUE)
            wrong_option(c, argv[optind - 1], optopt);
        else if (value == '?' || value == ':')
            wrong_value(option_at(c, optopt), value == ':');
        else if (put_option(request, option_at(c, value)))
            continue;
        return GNOMON__EXIT_USAGE;
    }
    return GNOMON__CLI_END;
}

int gnomon__cli_usage(const gnomon__command *c, const char *what)
{
    gnomon__log("%s: %s; gnomon %s --help says more", c->name, what, c->name);
    return GNOMON__EXIT_USAGE;
}

int gnomon__cli_worse(int a, int b)
{
    static const int weights[] = {
        [GNOMON__EXIT_OK] = 0,         [GNOMON__EXIT_NOTHING] = 1,
        [GNOMON__EXIT_UNSURE] = 2,     [GNOMON__EXIT_GATE] = 3,
        [GNOMON__EXIT_UNREADABLE] = 4, [GNOMON__EXIT_USAGE] = 5};
    return weights[a] >= weights[b] ? a : b;
}
