/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a command of the program `gnomon` is: a table, from which help, the man
 * page, completions and "did you mean" are all made. A command is its file, which
 * ends in a constant of this type, and two lines in cli/commands.c. */
#ifndef GNOMON_COMMAND_COMMAND_H
#define GNOMON_COMMAND_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* What the program ends with; of several the first of 1, 2, 4, 5, 3, 0. Help and the man
 * page have these words. */
#define GNOMON__EXITS(EXIT) \
    EXIT(OK, 0, "done") \
    EXIT(USAGE, 1, "wrong usage") \
    EXIT(UNREADABLE, 2, "a file could not be read or written") \
    EXIT(NOTHING, 3, "nothing to report") \
    EXIT(GATE, 4, "a gate of diff failed") \
    EXIT(UNSURE, 5, "a gate of diff is not sure, and none failed")

enum gnomon__exit {
#define GNOMON__EXIT_NUMBER(name, number, words) GNOMON__EXIT_##name = number,
    GNOMON__EXITS(GNOMON__EXIT_NUMBER)
#undef GNOMON__EXIT_NUMBER
};

/* What the value of an option is, for completions. */
enum gnomon__value_kind { GNOMON__VALUE_TEXT = 0, GNOMON__VALUE_FILE = 1 };

/* Tables of options end with a NULL name. As shells and roff read them, no text
 * of a command has a quote or a backslash, or a line that begins with a point;
 * `more`, which no shell reads, has no line that begins with a quote. */
typedef struct gnomon__cli_option {
    const char *name;  /* "limit" is --limit */
    const char *value; /* what help calls it, "N"; NULL: takes none */
    const char *const
        *words;       /* all values it knows, NULL at the end; or NULL */
    const char *help; /* one line */
    /* What takes it, where that is not `to`: 0 if it is wrong, which it has logged. */
    int (*take)(void *request, const struct gnomon__cli_option *option,
                const char *value);
    /* Where gnomon__cli_read puts it in a request: an int, which is 1 or the number of
     * the word; of a text or file a const char *. */
    uint16_t to;
    char letter;  /* of -o; 0: none */
    char kind;    /* gnomon__value_kind */
    char is_open; /* takes others than its words too */
} gnomon__cli_option;

/* Options of a table: one that takes no value, a text, a file, one of `all` words. Last
 * come the help and, for gnomon__cli_read, GNOMON__TO or .take. */
#define GNOMON__FLAG(word, ...) \
    { \
        .name = word, .help = __VA_ARGS__ \
    }
#define GNOMON__TEXT(word, short, what, ...) \
    { \
        .name = word, .letter = short, .value = what, .help = __VA_ARGS__ \
    }
#define GNOMON__FILE(word, short, what, ...) \
    { \
        .name = word, .letter = short, .kind = GNOMON__VALUE_FILE, \
        .value = what, .help = __VA_ARGS__ \
    }
#define GNOMON__WORD(word, what, all, ...) \
    { \
        .name = word, .value = what, .words = all, .help = __VA_ARGS__ \
    }
#define GNOMON__TO(type, field) .to = offsetof(type, field)

typedef struct gnomon__command {
    const char *name;
    const char *operands; /* "FILE..."; "" where it takes none */
    const char *about;    /* one line, without a point */
    const char *more;     /* paragraphs for help and man, lines of at most 78
                             columns; NULL: none */
    const gnomon__cli_option *options; /* or NULL */
    /* argv[0] is the command's name. Returns a gnomon__exit; the command `run`
     * returns the status of its program. */
    int (*run)(const struct gnomon__command *self, int argc, char **argv);
    void (*prepare)(
        void);           /* makes texts that are lists; NULL: there are none */
    int operands_follow; /* options end at the first operand */
    int takes_files;     /* operands are files, for completions; "FILE..." is
                            explained in help */
} gnomon__command;

/* The command of this name, of `all`, which ends with NULL. NULL: there is none, and
 * one line has said so, with what may be meant. */
const gnomon__command *gnomon__cli_find(const gnomon__command *const *all,
                                        const char *name);

/* ---- Words of the command line ------------------------------------------- */

#define GNOMON__CLI_END (-1) /* no gnomon__exit */

/* Puts all options of a command to where they say. A value that is none of the option's
 * words is an error. GNOMON__CLI_END: the operands begin at argv[optind]; else a
 * gnomon__exit to end with: _OK: help was asked for, and printed; _USAGE: an error, which
 * is logged. */
int gnomon__cli_read(const gnomon__command *command, int argc, char **argv,
                     void *request);

/* Logs a usage error and how to get help. Returns GNOMON__EXIT_USAGE. */
int gnomon__cli_usage(const gnomon__command *command, const char *what);

/* Logs that `word` is no `what` ("--sort"), with a suggestion from `words`, which ends
 * with NULL. Returns GNOMON__EXIT_USAGE. */
int gnomon__cli_no_word(const char *what, const char *word,
                        const char *const *words);

/* The index of the word in `words`, or -1. */
int gnomon__cli_word(const char *word, const char *const *words);

/* A number from 0, all of the text. 0: it is not. */
int gnomon__cli_number(const char *text, unsigned long long *number);

/* The worse of two: see gnomon__exit. */
int gnomon__cli_worse(int a, int b);

/* ---- What the table of a command says of it ------------------------------- */

/* To standard output. */
void gnomon__help_command(const gnomon__command *command);
/* "  --limit N", padded; options in help and the man page. */
void gnomon__help_option(char *text, int size, const gnomon__cli_option *o);
/* What a command's operands FILE... are; NULL: it has others. */
const char *gnomon__help_files(const gnomon__command *command);

#endif
