/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon completion: prints completion scripts for shells from the table of commands,
 * whose texts have no single quotes. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"

typedef const gnomon__command *const *all_commands;

static int completion_run(all_commands all, int argc, char **argv);
static void bash_all(all_commands all);
static void zsh_all(all_commands all);
static void fish_all(all_commands all);

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const scripts[])(all_commands all) = {bash_all, zsh_all,
                                                    fish_all};

const gnomon__command gnomon__command_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .about = "Prints the completions of a shell",
    .more = "  bash:  eval \"$(gnomon completion bash)\"\n"
            "  zsh:   gnomon completion zsh > a folder of $fpath/_gnomon\n"
            "  fish:  gnomon completion fish | source",
    .run_of_all = completion_run,
};

static void put_words(const char *const *words)
{
    for (int i = 0; words[i]; i++)
        printf("%s%s", i ? " " : "", words[i]);
}

static void put_commands(all_commands all)
{
    for (int i = 0; all[i]; i++)
        printf("%s%s", i ? " " : "", all[i]->name);
}

/* The words of which help and completion take one. */
static void put_operands(all_commands all, const gnomon__command *c)
{
    if (c->run_of_all == completion_run)
        put_words(shells);
    else
        put_commands(all);
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
        if (o->words) {
            fputs(") words='", stdout);
            put_words(o->words);
            puts("' ;;");
        } else {
            puts(o->kind == GNOMON__VALUE_FILE ? ") compopt -o default ;;"
                                               : ") ;;");
        }
    }
}

static void bash_operands(all_commands all, const gnomon__command *c)
{
    printf("    %s) ", c->name);
    if (c->run_of_all) {
        fputs("words='", stdout);
        put_operands(all, c);
        fputs("' ", stdout);
    } else if (c->operands_follow) {
        fputs("_gnomon_program \"$((i + 1))\"; return ", stdout);
    } else if (c->takes_files) {
        fputs("compopt -o default ", stdout);
    }
    puts(";;");
}

static void bash_all(all_commands all)
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
    puts("_gnomon() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} words= i=1\n"
         "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local command=${COMP_WORDS[1]}\n"
         "    COMPREPLY=()\n"
         "    if [[ $COMP_CWORD -eq 1 ]]; then");
    fputs("        words='", stdout);
    put_commands(all);
    puts(" --help --version'\n"
         "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "        return\n"
         "    fi");
    puts("    # --as=adv is three words for bash\n"
         "    [[ $word == = ]] && word=\n"
         "    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    case $command:$before in");
    for (int i = 0; all[i]; i++)
        bash_values(all[i]);
    puts("    *)\n"
         "        if [[ $word == -* ]]; then\n"
         "            case $command in");
    for (int i = 0; all[i]; i++) {
        const gnomon__command *c = all[i];
        printf("            %s) words='", c->name);
        for (const gnomon__cli_option *o = c->options; o && o->name; o++)
            printf("--%s ", o->name);
        puts("--help' ;;");
    }
    puts("            esac\n"
         "        else\n"
         "            case $command in");
    for (int i = 0; all[i]; i++)
        bash_operands(all, all[i]);
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
    if (o->value) {
        printf(":%s:", o->value);
        if (o->words) {
            putchar('(');
            put_words(o->words);
            putchar(')');
        } else if (o->kind == GNOMON__VALUE_FILE) {
            fputs("_files", stdout);
        }
    }
    puts("' \\");
}

static void zsh_command(all_commands all, const gnomon__command *c)
{
    printf("        %s)\n        _arguments -S \\\n", c->name);
    for (const gnomon__cli_option *o = c->options; o && o->name; o++)
        zsh_option(o);
    puts("            '--help[show this help]' \\");
    fputs("            ", stdout);
    if (c->run_of_all) {
        printf("'1:%s:(",
               c->run_of_all == completion_run ? "shell" : "command");
        put_operands(all, c);
        puts(")' ;;");
    } else if (c->operands_follow) {
        puts("'(-)1:program:_command_names -e' '*::word:_normal' ;;");
    } else {
        puts("'*:file:_files' ;;");
    }
}

static void zsh_all(all_commands all)
{
    puts("#compdef gnomon\n"
         "_gnomon() {\n"
         "    local state line\n"
         "    local -a commands\n"
         "    commands=(");
    for (int i = 0; all[i]; i++) {
        printf("        '%s:", all[i]->name);
        zsh_text(all[i]->about);
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
    for (int i = 0; all[i]; i++)
        zsh_command(all, all[i]);
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
    if (o->words) {
        fputs(" -a '", stdout);
        put_words(o->words);
        fputs("' -f", stdout);
    }
    printf(" -d '%s'\n", o->help);
}

static void fish_all(all_commands all)
{
    puts("# fish completion of gnomon");
    for (int i = 0; all[i]; i++) {
        const gnomon__command *c = all[i];
        printf("complete -c gnomon -f -n __fish_use_subcommand -a %s "
               "-d '%s'\n",
               c->name, c->about);
        for (const gnomon__cli_option *o = c->options; o && o->name; o++)
            fish_option(c, o);
        printf("complete -c gnomon -n '__fish_seen_subcommand_from %s' "
               "-l help -d 'show this help'\n",
               c->name);
        if (c->run_of_all) {
            printf("complete -c gnomon -f -n '__fish_seen_subcommand_from %s'"
                   " -a '",
                   c->name);
            put_operands(all, c);
            puts("'");
        }
    }
}

/* ---- The command ------------------------------------------------------------------- */

static int completion_run(all_commands all, int argc, char **argv)
{
    const gnomon__command *c = &gnomon__command_completion;
    int which, option = gnomon__cli_next(c, argc, argv);
    if (option != GNOMON__CLI_END)
        return gnomon__cli_over(option);
    if (argc - optind != 1)
        return gnomon__cli_usage(c, "say one shell: bash, zsh or fish");
    which = gnomon__cli_word(argv[optind], shells);
    if (which < 0)
        return gnomon__cli_no_word("shell", argv[optind], shells);
    scripts[which](all);
    return GNOMON__EXIT_OK;
}
