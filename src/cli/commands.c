/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one list of commands, and what is printed from their tables: help, the man page,
 * completions of shells. Nothing is wrapped, so lines there are kept short. */
#include "cli/commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "command/output.h"
#include "gnomon.h"
#include "memory/memory.h"
#include "profilers/table.h"
#include "spec/options.h"

extern const gnomon__command gnomon__command_cat;
extern const gnomon__command gnomon__command_diff;
extern const gnomon__command gnomon__command_export;
extern const gnomon__command gnomon__command_info;
extern const gnomon__command gnomon__command_merge;
extern const gnomon__command gnomon__command_nsys;
extern const gnomon__command gnomon__command_report;
extern const gnomon__command gnomon__command_run;
extern const gnomon__command gnomon__command_schedule;

static int completion_run(const gnomon__command *c, int argc, char **argv);
static int help_run(const gnomon__command *c, int argc, char **argv);

static const gnomon__command command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .about = "Prints the completions of a shell",
    .more = "  bash:  eval \"$(gnomon completion bash)\"\n"
            "  zsh:   gnomon completion zsh > a folder of $fpath/_gnomon\n"
            "  fish:  gnomon completion fish | source",
    .run = completion_run,
};

static const gnomon__cli_option help_options[] = {
    GNOMON__FLAG("man", "the man page, gnomon(1), in roff"), {.name = NULL}};

static const gnomon__command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .about = "Shows help on all commands or on one",
    .options = help_options,
    .run = help_run,
};

const gnomon__command *const gnomon__commands[] = {
    &gnomon__command_report, &gnomon__command_info,  &gnomon__command_cat,
    &gnomon__command_export, &gnomon__command_merge, &gnomon__command_diff,
    &gnomon__command_nsys,   &gnomon__command_run,   &gnomon__command_schedule,
    &command_completion,     &command_help,          NULL,
};

/* ---- Help ------------------------------------------------------------------------ */

void gnomon__help_all(void)
{
    const char *bold = gnomon__cli_bold(stdout),
               *plain = gnomon__cli_plain(stdout);
    printf("%susage:%s gnomon COMMAND [OPTION...] [WORD...]\n\n"
           "Shows, converts and compares what gnomon recorded.\n\n"
           "%scommands:%s\n",
           bold, plain, bold, plain);
    for (int i = 0; gnomon__commands[i]; i++)
        printf("  %-11s %s\n", gnomon__commands[i]->name,
               gnomon__commands[i]->about);
    printf("\n  --help      show this help; gnomon COMMAND --help: of that "
           "command\n"
           "  --version   the version\n\n"
           "%sexit status:%s\n",
           bold, plain);
#define HELP_EXIT(name, number, words) printf("  %-11d %s\n", number, words);
    GNOMON__EXITS(HELP_EXIT)
#undef HELP_EXIT
}

/* ---- The man page ----------------------------------------------------------------- */

/* Escapes dashes and quotes, so that roff prints them as ASCII. */
static void man_text(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("\\(aq", stdout);
        else
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

/* What it is called, and what it is. */
static void man_item(const char *word, const char *text)
{
    fputs(".TP\n.B ", stdout);
    man_text(word);
    putchar('\n');
    man_text(text);
    putchar('\n');
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
        man_item(option, c->options[i].help);
    }
}

typedef struct man_entry {
    const char *what, *is;
} man_entry;

static const man_entry man_environment[] = {
    {"GNOMON", "what marked programs record and report, in the words above"},
    {"GNOMON_RANK, GNOMON_LOCAL_RANK, GNOMON_WORLD_SIZE",
     "the rank of this process, if its launcher does not set one (torchrun, "
     "Slurm,\nOpen MPI, MPICH and others do)"},
    {"GNOMON_JOB", "a name for the job, by which its profiles belong together, "
                   "if its launcher\ndoes not set one"},
    {"GNOMON_CUDA_LIBRARY, GNOMON_CUPTI_LIBRARY",
     "the paths of libcuda.so.1 and libcupti.so, if the loader does not find "
     "them"},
    {"NO_COLOR, TERM", "whether a terminal gets bold titles and colours"},
    {"TMPDIR", "the folder for temporary files of run (default: /tmp)"},
    {NULL, NULL}};

static const man_entry man_files[] = {
    {"*.gnomon", "a profile of one process, or of many that were merged"},
    {"*.gnomon.json", "a profile as JSON"},
    {"*.pt.trace.json", "a trace, for Perfetto, Chrome and TensorBoard"},
    {NULL, NULL}};

static const man_entry man_examples[] = {
    {"gnomon run ./train",
     "runs a marked program and prints what took the time"},
    {"gnomon run --nvtx python3 train.py",
     "the same for a program that is marked for NVTX"},
    {"gnomon run --malloc ./train",
     "which scopes of a marked program allocated memory, and what they leaked"},
    {"GNOMON=steps,file=run.gnomon ./train",
     "says why the slowest steps were slow, and keeps the profile"},
    {"gnomon report --as tree run.gnomon", "another report of that profile"},
    {"gnomon export --to chrome run.gnomon -o run.json",
     "a trace of that profile for Perfetto, if GNOMON had the word trace"},
    {"gnomon report --by rank ranks/",
     "a report of a job's profiles, with rows for each rank"},
    {"gnomon diff --gate 'optimizer_step mean +5%' before.gnomon "
     "after.gnomon",
     "ends with exit status 4 if it became slower by more than 5 %"},
    {NULL, NULL}};

static void man_entries(const char *title, const man_entry *of)
{
    printf(".SH %s\n", title);
    for (; of->what; of++)
        man_item(of->what, of->is);
}

static void man_word(const char *word, const char *help,
                     const gnomon_option_info *options)
{
    const gnomon_option_info *o;
    man_item(word, help);
    for (size_t i = 0; (o = gnomon__option_at(options, i)) != NULL; i++) {
        printf(".br\n.IR %s :\n", o->key);
        man_text(o->help);
        putchar('\n');
    }
}

/* What GNOMON=help prints. */
static void man_words(void)
{
    puts(".SH WORDS OF GNOMON\n"
         "GNOMON=PROFILER[(OPTION=VALUE,...)][,...] names profilers, or "
         "files of plugins\n(./mine.so); GNOMON=@FILE reads such a text. "
         "Options without brackets are for all\nprofilers.");
    for (size_t i = 0; gnomon__profilers[i]; i++) {
        const gnomon_profiler *p = *gnomon__profilers[i];
        man_word(p->name, p->help, gnomon__options_of(p));
    }
    man_word(gnomon__memory_report->name, gnomon__memory_report->help,
             gnomon__options_of(gnomon__memory_report));
    man_word("every profiler", "has these options too", gnomon__core_options);
    man_word("the whole run", "has these options", gnomon__run_options);
}

/* gnomon(1): man(7) macros that every roff has. */
static void man_all(void)
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
    for (int i = 0; gnomon__commands[i]; i++)
        man_command(gnomon__commands[i]);
    puts(".SH EXIT STATUS");
#define MAN_EXIT(name, number, words) printf(".TP\n.B %d\n%s\n", number, words);
    GNOMON__EXITS(MAN_EXIT)
#undef MAN_EXIT
    puts(".PP\n"
         "If the reader of the output ends first, as head does, SIGPIPE "
         "ends the\nprogram, without a message.\n"
         ".B gnomon run\nends as its program did.");
    man_words();
    man_entries("ENVIRONMENT", man_environment);
    man_entries("FILES", man_files);
    man_entries("EXAMPLES", man_examples);
}

/* ---- The command help ------------------------------------------------------------- */

static int help_run(const gnomon__command *c, int argc, char **argv)
{
    const gnomon__command *of = NULL;
    int man = 0, status = gnomon__cli_read(c, argc, argv, &man);
    if (status != GNOMON__CLI_END)
        return status;
    if (argc - optind > 1 || (man && optind < argc))
        return gnomon__cli_usage(c, "too many words");
    if (optind < argc &&
        !(of = gnomon__cli_find(gnomon__commands, argv[optind])))
        return GNOMON__EXIT_USAGE;
    if (man)
        man_all();
    else if (of)
        gnomon__help_command(of);
    else
        gnomon__help_all();
    return GNOMON__EXIT_OK;
}

/* ---- Words of completions ---------------------------------------------------------- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* With blanks between them, until the next call. */
static const char *joined(const char *const *words)
{
    static char text[1024];
    size_t used = 0;
    *text = 0;
    for (int i = 0; words[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i ? " " : "", words[i]);
    return text;
}

/* The words of which the command takes one as its operand; NULL: it takes others. */
static const char *operands_of(const gnomon__command *c)
{
    const char *names[sizeof gnomon__commands / sizeof *gnomon__commands] = {
        NULL};
    for (int i = 0; gnomon__commands[i]; i++)
        names[i] = gnomon__commands[i]->name;
    return c == &command_completion ? joined(shells)
           : c == &command_help     ? joined(names)
                                    : NULL;
}

/* ---- bash ------------------------------------------------------------------------ */

/* Cases for the values of options. */
static void bash_values(const gnomon__command *c)
{
    for (const gnomon__cli_option *o = c->options; o && o->name; o++) {
        if (!o->value)
            continue;
        printf("    %s:--%s", c->name, o->name);
        if (o->letter)
            printf("|%s:-%c", c->name, o->letter);
        if (o->words)
            printf(") words='%s' ;;\n", joined(o->words));
        else
            puts(o->kind == GNOMON__VALUE_FILE ? ") compopt -o default ;;"
                                               : ") ;;");
    }
}

static void bash_operands(const gnomon__command *c)
{
    const char *words = operands_of(c);
    printf("    %s) ", c->name);
    if (words)
        printf("words='%s' ", words);
    else if (c->operands_follow)
        printf("_gnomon_program \"$((i + 1))\"; return ");
    else if (c->takes_files)
        printf("compopt -o default ");
    puts(";;");
}

static void bash_all(void)
{
    puts("# bash completion of gnomon");
    puts("_gnomon_program() {\n"
         "    local at=$1\n"
         "    while [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]} == -* ]]; do\n"
         "        case ${COMP_WORDS[at]} in\n"
         "        --) ((at++)); break ;;\n"
         "        --*=* | -?*[!-]*=*) ((at++)) ;;\n"
         "        *) ((at += 2)) ;;\n"
         "        esac\n"
         "    done\n"
         "    if [[ $at -lt $COMP_CWORD ]]; then\n"
         "        compopt -o default\n"
         "    else\n"
         "        COMPREPLY=($(compgen -c -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "    fi\n"
         "}");
    printf("_gnomon() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} words= i=1\n"
           "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command=${COMP_WORDS[1]}\n"
           "    COMPREPLY=()\n"
           "    if [[ $COMP_CWORD -eq 1 ]]; then\n"
           "        words='%s --help --version'\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "        return\n"
           "    fi\n"
           "    # --as=adv is three words for bash\n"
           "    [[ $word == = ]] && word=\n"
           "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    case $command:$before in\n",
           operands_of(&command_help));
    for (int i = 0; gnomon__commands[i]; i++)
        bash_values(gnomon__commands[i]);
    puts("    *)\n"
         "        if [[ $word == -* ]]; then\n"
         "            case $command in");
    for (int i = 0; gnomon__commands[i]; i++) {
        const gnomon__command *c = gnomon__commands[i];
        printf("            %s) words='", c->name);
        for (const gnomon__cli_option *o = c->options; o && o->name; o++)
            printf("--%s ", o->name);
        puts("--help' ;;");
    }
    puts("            esac\n"
         "        else\n"
         "            case $command in");
    for (int i = 0; gnomon__commands[i]; i++)
        bash_operands(gnomon__commands[i]);
    puts("            esac\n"
         "        fi ;;\n"
         "    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _gnomon gnomon");
}

/* ---- zsh ------------------------------------------------------------------------- */

/* Help inside of [...]. */
static void zsh_text(const char *text)
{
    for (; *text; text++)
        printf(strchr("[]:", *text) ? "\\%c" : "%c", *text);
}

static void zsh_option(const gnomon__cli_option *o)
{
    if (o->letter)
        printf("            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name,
               o->letter, o->name);
    else
        printf("            '--%s%s[", o->name, o->value ? "=" : "");
    zsh_text(o->help);
    putchar(']');
    if (o->value)
        printf(":%s:", o->value);
    if (o->words)
        printf("(%s)", joined(o->words));
    puts(o->kind == GNOMON__VALUE_FILE ? "_files' \\" : "' \\");
}

static void zsh_command(const gnomon__command *c)
{
    printf("        %s)\n        _arguments -S \\\n", c->name);
    for (const gnomon__cli_option *o = c->options; o && o->name; o++)
        zsh_option(o);
    printf("            '--help[show this help]' \\\n            ");
    const char *words = operands_of(c);
    if (words)
        printf("'1:%s:(%s)' ;;\n",
               c == &command_completion ? "shell" : "command", words);
    else
        puts(c->operands_follow
                 ? "'(-)1:program:_command_names -e' '*::word:_normal' ;;"
                 : "'*:file:_files' ;;");
}

static void zsh_all(void)
{
    puts("#compdef gnomon\n"
         "_gnomon() {\n"
         "    local state line\n"
         "    local -a commands\n"
         "    commands=(");
    for (int i = 0; gnomon__commands[i]; i++) {
        printf("        '%s:", gnomon__commands[i]->name);
        zsh_text(gnomon__commands[i]->about);
        puts("'");
    }
    puts("    )\n"
         "    _arguments -C '--help[show this help]' '--version[the version]' "
         "\\\n"
         "        '1:command:->command' '*::word:->word'\n"
         "    case $state in\n"
         "    command) _describe command commands ;;\n"
         "    word)\n"
         "        case $line[1] in");
    for (int i = 0; gnomon__commands[i]; i++)
        zsh_command(gnomon__commands[i]);
    puts("        esac ;;\n"
         "    esac\n"
         "}\n"
         "if [[ $funcstack[1] == _gnomon ]]; then\n"
         "    _gnomon \"$@\"\n"
         "else\n"
         "    compdef _gnomon gnomon\n"
         "fi");
}

/* ---- fish ------------------------------------------------------------------------ */

static void fish_option(const gnomon__command *c, const gnomon__cli_option *o)
{
    printf("complete -c gnomon -n '__fish_seen_subcommand_from %s'", c->name);
    if (o->letter)
        printf(" -s %c", o->letter);
    printf(" -l %s%s", o->name, o->value ? " -r" : "");
    if (o->words)
        printf(" -a '%s' -f", joined(o->words));
    printf(" -d '%s'\n", o->help);
}

static void fish_all(void)
{
    puts("# fish completion of gnomon");
    for (int i = 0; gnomon__commands[i]; i++) {
        const gnomon__command *c = gnomon__commands[i];
        printf("complete -c gnomon -f -n __fish_use_subcommand -a %s "
               "-d '%s'\n",
               c->name, c->about);
        for (const gnomon__cli_option *o = c->options; o && o->name; o++)
            fish_option(c, o);
        printf("complete -c gnomon -n '__fish_seen_subcommand_from %s' "
               "-l help -d 'show this help'\n",
               c->name);
        if (operands_of(c))
            printf("complete -c gnomon -f -n '__fish_seen_subcommand_from %s'"
                   " -a '%s'\n",
                   c->name, operands_of(c));
    }
}

/* ---- The command completion --------------------------------------------------------- */

static int completion_run(const gnomon__command *c, int argc, char **argv)
{
    static void (*const scripts[])(void) = {bash_all, zsh_all, fish_all};
    int which, status = gnomon__cli_read(c, argc, argv, NULL);
    if (status != GNOMON__CLI_END)
        return status;
    if (argc - optind != 1)
        return gnomon__cli_usage(c, "say one shell: bash, zsh or fish");
    which = gnomon__cli_word(argv[optind], shells);
    if (which < 0)
        return gnomon__cli_no_word("shell", argv[optind], shells);
    scripts[which]();
    return GNOMON__EXIT_OK;
}
