/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's help and completions, and what it does on pipes and terminals. Its exit
 * codes and files are in text/cli, `run` in test_cli_run.c.
 *
 * links: static
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include <poll.h>

#include "cli/commands.h"
#include "command/inputs.h"
#include "profilers/table.h"
#include "saved_profile.h"
#include "spec/options.h"

/* ---- Help and completions ------------------------------------------------- */

/* For roff; shells do not read what a command has more. */
static void check_fits_a_page(const char *text)
{
    CHECK(!strchr(text, '\\'));
    CHECK(!strchr(".'", *text) && !strstr(text, "\n.") && !strstr(text, "\n'"));
}

static void check_fits(const char *text)
{
    CHECK(!strpbrk(text, "'\\"));
    check_fits_a_page(text);
}

/* Whether `word` is in the text, and not as a part of another word. */
static int has_word(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    for (; (text = strstr(text, word)); text++)
        if (!strchr(letters, text[-1]) &&
            (!text[strlen(word)] || !strchr(letters, text[strlen(word)])))
            return 1;
    return 0;
}

/* The man page has each word that $GNOMON takes. */
static void check_words(const char *man, const gnomon_option_info *options)
{
    const gnomon_option_info *o;
    char line[64];
    for (size_t i = 0; (o = gnomon__option_at(options, i)) != NULL; i++) {
        snprintf(line, sizeof line, "\n.IR %s :\n", o->key);
        CHECK(strstr(man, line));
    }
}

/* Help, the man page and completions list the whole table of options, and help each
 * word that an option takes; of families, as device-mean, some. */
TEST(the_table_is_the_same_everywhere)
{
    char name[96];
    NEEDS_PROGRAM;
    child_result all = shell("$G --help"), man = shell("$G help --man"),
                 bash = shell("$G completion bash"),
                 zsh = shell("$G completion zsh"),
                 fish = shell("$G completion fish");
    for (int i = 0; gnomon__commands[i]; i++) {
        const gnomon__command *c = gnomon__commands[i];
        if (c->prepare)
            c->prepare();
        child_result help = shell("$G %s --help", c->name);
        child_result same = shell("$G help %s", c->name);
        CHECK_EQ(help.status, 0);
        CHECK_STR(help.err, "");
        CHECK_STR(same.out, help.out);
        CHECK(strstr(help.out, c->about));
        CHECK(strstr(all.out, c->about));
        CHECK(strstr(zsh.out, c->about));
        snprintf(name, sizeof name, ".SS gnomon %s\n", c->name);
        CHECK_EQ(times_in(man.out, name), 1);
        check_fits(c->about);
        check_fits_a_page(c->more ? c->more : "-");
        for (const gnomon__cli_option *o = c->options; o && o->name; o++) {
            check_fits(o->help);
            snprintf(name, sizeof name, "--%s", o->name);
            CHECK(strstr(help.out, name));
            CHECK(strstr(help.out, o->help));
            CHECK(strstr(bash.out, name));
            CHECK(strstr(zsh.out, name));
            snprintf(name, sizeof name, " -l %s", o->name);
            CHECK(strstr(fish.out, name));
            for (int k = 0; o->words && o->words[k]; k++)
                if (!strchr(o->words[k], '-') &&
                    !CHECK(has_word(help.out, o->words[k])))
                    printf("%s --%s: help lacks %s\n", c->name, o->name,
                           o->words[k]);
        }
    }
#define CHECK_EXIT(name, number, words) \
    CHECK_EQ(times_in(all.out, words "\n"), 1); \
    CHECK_EQ(times_in(man.out, ".B " #number "\n" words "\n"), 1);
    GNOMON__EXITS(CHECK_EXIT)
    for (int i = 0; gnomon__profilers[i]; i++) {
        const gnomon_profiler *p = *gnomon__profilers[i];
        snprintf(name, sizeof name, "\n.B %s\n", p->name);
        CHECK_EQ(times_in(man.out, name), 1);
        check_words(man.out, gnomon__options_of(p));
    }
    check_words(man.out, gnomon__core_options);
    check_words(man.out, gnomon__run_options);
    CHECK(has_word(man.out, "\\-\\-malloc"));
    CHECK_EQ(times_in(man.out, ".SH ENVIRONMENT\n.TP\n.B GNOMON\n"), 1);
    CHECK_EQ(times_in(man.out, ".SH FILES\n"), 1);
    CHECK_EQ(times_in(man.out, ".SH EXAMPLES\n.TP\n.B gnomon run ./train\n"),
             1);
    CHECK(strstr(shell("$G help cat").out, "\nFILE is "));
    CHECK(!strstr(shell("$G help diff").out, "\nFILE is "));
    shell("$G help --man > gnomon.1");
    child_result r = shell("command -v groff > tool && "
                           "groff -man -Tutf8 -ww gnomon.1 > page");
    CHECK_STR(r.err, "");
    if (*child_read("tool"))
        CHECK(strstr(child_read("page"), "report"));
    else
        printf("no groff: the man page is not set\n");
    for (char *line = strtok(all.out, "\n"); line; line = strtok(NULL, "\n"))
        CHECK(strlen(line) < 80);
}

/* What bash completes for these words; the last one is incomplete. */
static void check_completed(const char *words, const char *expected)
{
    child_result r =
        shell("PATH=.:$PATH bash -c 'source ./gnomon.bash; compopt() { echo "
              "files; }; "
              "COMP_WORDS=(gnomon %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
              "_gnomon; echo \"${COMPREPLY[*]}\"'",
              words);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, expected);
}

TEST(bash_completes)
{
    NEEDS_PROGRAM;
    child_result r = shell("$G completion bash > gnomon.bash; bash -n "
                           "gnomon.bash && bash -c 'source ./gnomon.bash; "
                           "complete -p gnomon'");
    if (r.status == 127)
        SKIP("no bash");
    CHECK_STR(r.out, "complete -F _gnomon gnomon\n");
    check_completed("rep", "report\n");
    check_completed("--v", "--version\n");
    check_completed("report --as adva", "advanced\n");
    check_completed("report --as = t", "tree threads\n");
    check_completed("report --by h", "host\n");
    check_completed("report --st", "--stage\n");
    check_completed("report --sort s", "\n");
    check_completed("report fi", "files\n\n");
    check_completed("cat -o fi", "files\n\n");
    check_completed("help in", "info\n");
    check_completed("completion f", "fish\n");
    check_completed("run --p", "--profiler\n");
    check_completed("run -- bash-no-such", "\n");
    CHECK_EQ(
        shell("printf '#!/bin/sh\n' > an-own-one; chmod +x an-own-one").status,
        0);
    check_completed("run -p simple -- an-ow", "an-own-one\n");
    check_completed("run true fi", "files\n\n");
}

TEST(zsh_completes)
{
    NEEDS_PROGRAM;
    if (shell("command -v zsh").status)
        SKIP("no zsh");
    child_result r =
        shell("$G completion zsh > _gnomon && zsh -n _gnomon && "
              "zsh -fc 'fpath=($PWD $fpath); autoload -Uz compinit; "
              "compinit -u -d ./dump; print ${_comps[gnomon]}; "
              "autoload -Uz +X _gnomon && print loaded'");
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "_gnomon\nloaded\n");
}

TEST(fish_completes)
{
    NEEDS_PROGRAM;
    if (shell("command -v fish").status)
        SKIP("no fish");
    child_result r = shell("export HOME=$PWD; $G completion fish > g.fish && "
                           "fish -c 'source ./g.fish; "
                           "complete -C \"gnomon rep\"; "
                           "complete -C \"gnomon report --as adv\"; "
                           "complete -C \"gnomon completion z\"'");
    CHECK_STR(r.err, "");
    CHECK(strstr(r.out, "report\t"));
    CHECK(strstr(r.out, "advanced"));
    CHECK(strstr(r.out, "zsh"));
}

/* ---- Pipes and terminals ------------------------------------------------- */

static const char tiny[] =
    "{\"gnomon\": 1, \"stages\": [{\"name\": \"fit\", \"end_ns\": 9}],"
    "\"tracks\": [{\"name\": \"main\"}], \"regions\": [{\"name\": \"step\"}],"
    "\"nodes\": [{\"track\": 1, \"stage\": 1, \"region\": 1, \"host\": "
    "{\"count\": 1, \"total_ns\": 5, \"self_ns\": 5, \"min_ns\": 5, "
    "\"max_ns\": 5}}]}";

static void put_large(void)
{
    gnomon_builder *b;
    gnomon_profile *p;
    char name[80];
    gnomon_stats once = {.struct_size = sizeof once, .count = 1};
    gnomon_cell cell = {0, 0, 1};
    once.cells = &cell;
    once.cell_count = 1;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "a region with a long name, number %d", i);
        uint32_t region =
            gnomon_add_region(b, &(gnomon_region_info){.name = name});
        gnomon_add_node(b, &(gnomon_node_info){
                               .track = 1, .region = region, .host = &once});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    program_save(p, "gnomon", "large.gnomon");
    gnomon_profile_free(p);
}

/* It dies by SIGPIPE, or exits with its status where that is ignored. */
TEST(a_reader_that_goes_away_ends_it_quietly)
{
    NEEDS_PROGRAM;
    put_large();
    child_result r = shell("{ $G cat large.gnomon; echo $? > status; } | "
                           "head -n 1");
    CHECK_STR(r.out, "{\"gnomon\": 1,\n");
    CHECK_STR(r.err, "");
    CHECK_STR(child_read("status"), "141\n");
    r = shell("trap '' PIPE; { $G cat large.gnomon; echo $? > status; } | "
              "head -n 1");
    CHECK_STR(r.out, "{\"gnomon\": 1,\n");
    CHECK_STR(r.err, "");
    CHECK_STR(child_read("status"), "141\n");
}

static int terminal = -1;

/* The terminal's name, for a shell to open. */
static const char *open_terminal(void)
{
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        return NULL;
    return ptsname(terminal);
}

/* What was written to the terminal until `part` appeared, or for a minute nothing; never
 * freed. */
static char *on_terminal(const char *part)
{
    static char text[65536];
    struct pollfd p = {terminal, POLLIN, 0};
    size_t n = 0;
    ssize_t more = 1;
    text[0] = 0;
    while (!strstr(text, part) && poll(&p, 1, 60000) > 0 &&
           (more = read(terminal, text + n, sizeof text - 1 - n)) > 0)
        text[n += (size_t)more] = 0;
    return text;
}

/* All of it so far: it comes in the order in which it was written, and last what is
 * written here to the other side. */
static const char *all_on_terminal(int side)
{
    CHECK_EQ(write(side, "\f", 1), 1);
    char *text = on_terminal("\f");
    text[strcspn(text, "\f")] = 0;
    return text;
}

TEST(colour_is_for_terminals)
{
    NEEDS_PROGRAM;
    const char *name = open_terminal();
    if (!name)
        SKIP("no pseudo-terminals");
    /* Kept open, so that no output is lost between commands. */
    int kept = open(name, O_RDWR | O_NOCTTY);
    program_put("a.json", tiny);
    CHECK(kept >= 0);
    const struct {
        const char *environment;
        int colour;
    } cases[] = {{"TERM=xterm", 1},
                 {"TERM=xterm NO_COLOR=", 1},
                 {"TERM=xterm NO_COLOR=1", 0},
                 {"TERM=dumb", 0},
                 {"TERM=", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char *const commands[] = {"info", "report --as tree"};
        for (size_t k = 0; k < 2; k++) {
            child_result r = shell("unset NO_COLOR; %s $G %s a.json > %s",
                                   cases[i].environment, commands[k], name);
            const char *text = all_on_terminal(kept);
            CHECK_EQ(r.status, 0);
            CHECK(strstr(text, k ? "Call Tree" : "a.json"));
            CHECK_EQ(strstr(text, "\033[1m") != NULL, cases[i].colour);
        }
    }
    child_result r =
        shell("TERM=xterm; export TERM; $G info a.json; $G --help; "
              "$G report --as tree a.json");
    CHECK(!strchr(r.out, '\033'));
    close(kept);
}

/* In formats for programs, too: a name may hold what a terminal obeys. */
TEST(names_are_escaped_on_terminals)
{
    NEEDS_PROGRAM;
    static const char *const commands[] = {"report --as regions --format csv",
                                           "report --as tree --format csv",
                                           "diff --as csv evil.json", "cat"};
    const char *name = open_terminal();
    if (!name)
        SKIP("no pseudo-terminals");
    int kept = open(name, O_RDWR | O_NOCTTY);
    char evil[sizeof tiny + 32];
    const char *at = strstr(tiny, "step");
    snprintf(evil, sizeof evil, "%.*s\\u001b[31m, \xc3\xa9%s", (int)(at - tiny),
             tiny, at);
    program_put("evil.json", evil);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        child_result r =
            shell("TERM=dumb $G %s evil.json > %s", commands[i], name);
        const char *text = all_on_terminal(kept);
        CHECK_EQ(r.status, 0);
        if (!CHECK(!strchr(text, '\033') && strstr(text, "[31m, \xc3\xa9step")))
            fprintf(stderr, "    %s:\n%s\n", commands[i], text);
    }
    /* Elsewhere they are as they are. */
    child_result r = shell("$G report --as regions --format csv evil.json");
    CHECK(strstr(r.out, "\"\033[31m, \xc3\xa9step\""));
    close(kept);
}

/* The last file is a pipe, and is written only once the bar is shown. */
TEST(progress_is_shown_on_terminals)
{
    NEEDS_PROGRAM;
    const char *name = open_terminal();
    if (!name)
        SKIP("no pseudo-terminals");
    int kept = open(name, O_RDWR | O_NOCTTY);
    char command[512];
    program_put("a.json", tiny);
    CHECK_EQ(mkdir("d", 0755), 0);
    CHECK_EQ(shell("for i in $(seq 80); do cp a.json d/$i.gnomon.json; done; "
                   "mkfifo d/99.gnomon")
                 .status,
             0);
    snprintf(command, sizeof command, "TERM=xterm $G info d 2> %s", name);
    pid_t child =
        child_start("/bin/sh", "G=" PROGRAM_PATH,
                    (const char *const[]){"-c", command, NULL}, "out", "err");
    CHECK(strstr(on_terminal("file 81 of 81"), "\r##"));
    CHECK_EQ(shell("cat a.json > d/99.gnomon").status, 0);
    CHECK_EQ(child_wait(child), 0);
    CHECK(strstr(all_on_terminal(kept), "\r\033[K"));
    CHECK_EQ(times_in(child_read("out"), "\n"), 84);
    /* A small input shows no progress, however long it takes. */
    CHECK_EQ(shell("mkfifo slow; { sleep 0.5; cat a.json; } > slow & "
                   "TERM=xterm $G info slow 2> %s",
                   name)
                 .status,
             0);
    CHECK_STR(all_on_terminal(kept), "");
    /* Into a pipe or a file: nothing. */
    child =
        child_start("/bin/sh", "G=" PROGRAM_PATH,
                    (const char *const[]){"-c", "TERM=xterm $G info d", NULL},
                    "out", "err");
    CHECK_EQ(shell("sleep 0.5; cat a.json > d/99.gnomon").status, 0);
    CHECK_EQ(child_wait(child), 0);
    CHECK_STR(child_read("err"), "");
    close(kept);
}

/* Its reader goes away once the bar is there. */
TEST(what_a_merge_logs_is_not_behind_its_progress)
{
    NEEDS_PROGRAM;
    const char *name = open_terminal();
    char command[512];
    if (!name)
        SKIP("no pseudo-terminals");
    int kept = open(name, O_RDWR | O_NOCTTY);
    program_put("a.json", tiny);
    CHECK_EQ(mkdir("d", 0755), 0);
    CHECK_EQ(
        shell("for i in $(seq 80); do sed \"s/1,/1, \\\"runs\\\": "
              "[{\\\"uuid\\\": \\\"$i\\\"}],/\" a.json > d/$i.gnomon.json; "
              "done; mkfifo all")
            .status,
        0);
    int all = open("all", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CHECK(fcntl(all, F_SETPIPE_SZ, 4096) >= 0);
    snprintf(command, sizeof command,
             "trap '' PIPE; TERM=xterm $G merge d -o all 2> %s", name);
    pid_t child =
        child_start("/bin/sh", "G=" PROGRAM_PATH,
                    (const char *const[]){"-c", command, NULL}, "out", "err");
    CHECK(strstr(on_terminal("run "), " of 80"));
    close(all);
    CHECK_EQ(child_wait(child), 2);
    CHECK(strstr(all_on_terminal(kept), "\r\033[Kgnomon: all: Broken pipe"));
    close(kept);
}

/* Kernels go into a pipe that nobody reads until the bar is there. */
TEST(progress_of_kernels_is_shown)
{
    NEEDS_PROGRAM;
    const char *name = open_terminal();
    char command[512];
    if (!name)
        SKIP("no pseudo-terminals");
    int kept = open(name, O_RDWR | O_NOCTTY);
    FILE *f = fopen("net.dict", "w");
    for (int i = 0; i < 4000; i++)
        fputs("{'kShortName': 'a_kernel_of_some_length', 'kDuration': 7}\n", f);
    fprintf(f, "%*s\n", 17 << 20, "");
    fclose(f);
    child_result r = shell("mkfifo rows; $G nsys prof net.dict --top 1");
    if (r.status)
        SKIP("built without SQLite");
    snprintf(command, sizeof command,
             "TERM=xterm $G nsys prof net.dict > rows 2> %s", name);
    pid_t child =
        child_start("/bin/sh", "G=" PROGRAM_PATH,
                    (const char *const[]){"-c", command, NULL}, "out", "err");
    const int rows = open("rows", O_RDONLY);
    CHECK(strstr(on_terminal("file 1 of 1"), " %, file"));
    char some[4096];
    ssize_t n;
    size_t lines = 0;
    while ((n = read(rows, some, sizeof some)) > 0)
        for (ssize_t i = 0; i < n; i++)
            lines += some[i] == '\n';
    close(rows);
    CHECK_EQ(child_wait(child), 0);
    CHECK_EQ(lines, 4001);
    CHECK(strstr(all_on_terminal(kept), "\r\033[K"));
    close(kept);
}

/* Progress in one file, by its bytes read. */
TEST(progress_of_a_large_file_is_in_bytes)
{
    enum { SIZE = 16 << 20 };
    static const char *const bars[] = {
        "\r........................................   0 %, file 1 of 1",
        "\r####################....................  50 %, file 1 of 1",
        "\r######################################## 100 %, file 1 of 1"};
    static char path[] = "large", half[SIZE / 2];
    char *paths[] = {path};
    const gnomon__cli_inputs in = {paths, 1, 1};
    const char *name = open_terminal();
    size_t seen = 0;
    child_folder();
    if (!name)
        SKIP("no pseudo-terminals");
    if (access("/proc/self/io", R_OK) != 0)
        SKIP("the system does not say what a process has read");
    int kept = dup(2), file = open(path, O_RDWR | O_CREAT, 0644);
    CHECK_EQ(ftruncate(file, SIZE), 0);
    setenv("TERM", "xterm", 1);
    dup2(open(name, O_RDWR | O_NOCTTY), 2);
    gnomon__progress_begin(&in);
    gnomon__progress_show();
    while (seen < 3 && strstr(on_terminal(bars[seen]), bars[seen]) &&
           read(file, half, sizeof half) >= 0)
        seen++;
    gnomon__progress_hide();
    gnomon__progress_end();
    dup2(kept, 2);
    CHECK_EQ(seen, 3);
}
