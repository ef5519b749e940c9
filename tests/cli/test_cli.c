/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's commands and options, exit codes, files and output. Its
 * reports are in test_cli_report.c, `run` in test_cli_run.c.
 *
 * links: static
 * needs: cli
 * timeout: 300 */
#include "program.h"
#include "sanitizer.h"

#include <poll.h>

#include "cli/commands.h"
#include "command/progress.h"
#include "full_profile.h"

/* ---- Options and exit codes ---------------------------------------------- */

typedef struct word_case {
    const char *command;
    int status;
    const char *says; /* part of standard error; "": none at all */
} word_case;

static void check_words(const word_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        child_result r = shell("$G %s", cases[i].command);
        if (!CHECK_EQ(r.status, cases[i].status) ||
            !CHECK(*cases[i].says ? strstr(r.err, cases[i].says) != NULL
                                  : !*r.err))
            fprintf(stderr, "    gnomon %s: %s\n", cases[i].command, r.err);
        CHECK(r.status == 0 || times_in(r.err, "\n") >= 1);
    }
}

#define WORDS(...) \
    check_words((const word_case[]){__VA_ARGS__}, \
                sizeof((const word_case[]){__VA_ARGS__}) / sizeof(word_case))

static const char tiny[] =
    "{\"gnomon\": 1, \"stages\": [{\"name\": \"fit\", \"end_ns\": 9}],"
    "\"tracks\": [{\"name\": \"main\"}], \"regions\": [{\"name\": \"step\"}],"
    "\"nodes\": [{\"track\": 1, \"stage\": 1, \"region\": 1, \"host\": "
    "{\"count\": 1, \"total_ns\": 5, \"self_ns\": 5, \"min_ns\": 5, "
    "\"max_ns\": 5}}]}";
static const char empty[] = "{\"gnomon\": 1}";

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
    program_save(p, GNOMON_FORM_FILE, "large.gnomon");
    gnomon_profile_free(p);
}

TEST_ALONE(each_exit_code)
{
    NEEDS_PROGRAM;
    program_put("p.json", tiny);
    program_put("empty.json", empty);
    program_put("broken.json", "{\"gnomon\": 1,");
    program_put("broken.gnomon", "\x89GNOMON");
    CHECK_EQ(mkdir("none", 0755), 0);
    put_large();
    WORDS({"--help", 0, ""}, {"-h", 0, ""}, {"--version", 0, ""},
          {"help", 0, ""}, {"help report", 0, ""}, {"help --man", 0, ""},
          {"report -h", 0, ""}, {"report p.json", 0, ""},
          {"info p.json", 0, ""}, {"cat p.json", 0, ""},
          {"report --stage fit -- p.json", 0, ""},
          {"report p.json --as json", 0, ""}); /* options anywhere */
    WORDS(
        {"", 1, "gnomon: no command is given"},
        {"reprot", 1, "unknown command 'reprot': did you mean 'report'?"},
        {"xyzzy", 1, "unknown command 'xyzzy': there are report, info"},
        {"p.json", 1, "'p.json' is a file, no command: gnomon report p.json"},
        {"report", 1, "report: no file is named"},
        {"info", 1, "info: no file is named"},
        {"cat", 1, "cat: no file is named"},
        {"run", 1, "run: no program is named"},
        {"completion", 1, "say one shell"},
        {"completion ksh", 1, "unknown shell 'ksh': did you mean 'zsh'?"},
        {"help info report", 1, "help: too many words"},
        {"help reprot", 1, "did you mean 'report'?"},
        {"report --srot calls p.json", 1,
         "unknown option '--srot': did you mean '--sort'?"},
        {"report -q p.json", 1, "unknown option '-q': there are --as, --stage"},
        {"report --as simpel p.json", 1,
         "unknown KIND 'simpel': did you mean 'simple'?"},
        {"report --as xyzzy p.json", 1, "'xyzzy': there are simple, advanced"},
        {"report --as profile p.json", 1, "--as profile: it has no report"},
        {"report --as simple,cuda p.json", 1, "say one report: simple, or"},
        {"report --as ./none.so p.json", 1, "cannot load plugin ./none.so"},
        {"report --as", 1, "--as needs KIND"},
        {"report --extended=1 p.json", 1, "--extended takes no value"},
        {"report --help=1", 1, "--help takes no value"},
        {"report --limit 0 p.json", 1, "limit=0: say how many rows, from 1"},
        {"report --limit 1x p.json", 1, "limit=1x: say a whole number"},
        {"report --as advanced --limit 0 p.json", 1, "limit=0: say how many"},
        {"report --as tree --limit 0 p.json", 1, "limit=0: say how many rows"},
        {"report --sort toatl p.json", 1,
         "sort=toatl: say total, mean, calls or name"},
        {"report --as advanced --sort cumulatve p.json", 1,
         "sort=cumulatve: say cumulative, time, calls"},
        {"report --as steps --sort size p.json", 1, "sort=size: say step, "},
        {"report --as regions --sort size p.json", 1,
         "sort=size: say name, category, calls, total"},
        {"report --as tree --sort p99 p.json", 1,
         "sort=p99: say name, percent"},
        {"report --as tree --sort max p.json", 1,
         "say total, self, calls or name"},
        {"report --as tree --by file p.json", 1,
         "by=file: say thread, rank or host"},
        {"report --columns calls,nix p.json", 1, "columns=nix: say name"},
        {"report --by nobody p.json", 1, "unknown word for --by 'nobody'"},
        {"report --format xml p.json", 1, "unknown word for --format 'xml'"},
        {"report --as cuda --sort totl p.json", 1, "sort=totl: say name, "},
        {"report --as json --extended p.json", 1, "unknown option 'extended'"},
        {"cat -o x.gnomon p.json empty.json", 1, "-o takes one file"});
    WORDS({"report nowhere.gnomon", 2,
           "gnomon: nowhere.gnomon: No such file or directory\n"},
          {"info broken.json", 2, "gnomon: broken.json: line 1"},
          {"cat broken.gnomon", 2, "gnomon: broken.gnomon: "},
          {"report 'no*.gnomon'", 2, "gnomon: no*.gnomon: no such file\n"},
          {"cat p.json > /dev/full", 2,
           "gnomon: standard output: No space left on device\n"},
          {"--help > /dev/full", 2, "No space left on device"},
          {"cat -o /nowhere/p.gnomon p.json", 2,
           "gnomon: /nowhere/p.gnomon: No such file or directory\n"},
          {"cat -o /dev/full p.json", 2, "gnomon: /dev/full: No space left"},
          {"cat -o none p.json", 2, "gnomon: none: Is a directory\n"},
          {"cat - < none", 2, "gnomon: standard input: "},
          {"info /proc/self/mem", 2, "gnomon: /proc/self/mem: "},
          {"report large.gnomon > /dev/full", 2,
           "gnomon: standard output: No space left on device\n"},
          {"cat large.gnomon > /dev/full", 2,
           "gnomon: standard output: No space left on device\n"},
          {"report none nowhere.json", 2, "gnomon: nowhere.json: No such"});
    WORDS({"report empty.json", 3, "gnomon: nothing to report: no scope"},
          {"report --as steps p.json", 3, "nothing to report: no step ended"},
          {"report --exclude '*' p.json", 3,
           "nothing to report: the filter leaves out all that ended"},
          {"report --as 'tree(filter=nix)' p.json", 3,
           "nothing to report: the filter leaves out all that ended"},
          {"report --stage test p.json", 3,
           "nothing to report: no stage is named 'test'; gnomon info"},
          {"report --stage Fti p.json", 3,
           "no stage is named 'Fti': did you mean 'fit'?"},
          {"report none", 3,
           "gnomon: none: holds no .gnomon or .gnomon.json file\n"});
}

TEST(a_text_may_begin_with_blanks)
{
    NEEDS_PROGRAM;
    program_put("p.json", " \r\n\t{\"gnomon\": 1}");
    child_result r = shell("$G cat p.json; $G cat - < p.json");
    CHECK_EQ(times_in(r.out, "{\"gnomon\": 1"), 2);
    CHECK_STR(r.err, "");
}

static void check_fits(const char *text)
{
    CHECK(!strpbrk(text, "'\\"));
    CHECK(*text != '.' && !strstr(text, "\n."));
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
        check_fits(c->more ? c->more : "");
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
    check_completed("report --as adv", "advanced\n");
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

/* ---- Files ------------------------------------------------------------------------ */

TEST(folders_and_patterns_are_files)
{
    static const char order[] =
        "==> d/r-2.gnomon.json <==\n==> d/r-9.gnomon <==\n"
        "==> d/r-10.gnomon <==\n==> d/r-11.gnomon.json <==\n";
    NEEDS_PROGRAM;
    CHECK_EQ(mkdir("d", 0755), 0);
    program_put("d/r-2.gnomon.json", tiny);
    program_put("d/r-11.gnomon.json", tiny);
    program_put("d/notes.json", "no profile");
    program_put("d/.gnomon", "no profile");
    CHECK_EQ(shell("$G cat -o d/r-10.gnomon d/r-2.gnomon.json; "
                   "cp d/r-10.gnomon d/r-9.gnomon")
                 .status,
             0);
    const char *const words[] = {"d", "d/", "'d/r*'", "./d", "d/r*"};
    for (size_t i = 0; i < 3; i++) {
        child_result r = shell("$G report %s | grep '==>'", words[i]);
        CHECK_STR(r.err, "");
        CHECK_STR(r.out, order);
    }
    /* A file whose name has such characters is meant itself. */
    CHECK_EQ(shell("cp d/r-9.gnomon '[d].gnomon'; $G info '[d].gnomon'").status,
             0);
    child_result r = shell("$G info d");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "\n"), 5); /* a head, a line for each run */
    CHECK_EQ(times_in(r.out, "d/r-"), 4);
}

TEST(what_cannot_be_read_is_one_line_and_the_others_are_reported)
{
    NEEDS_PROGRAM;
    program_put("a.json", tiny);
    program_put("b.json", "[1]");
    child_result r = shell("$G report nowhere a.json b.json - d < /dev/null");
    CHECK_EQ(r.status, 2);
    CHECK_EQ(times_in(r.out, "FIT Profiler Report"), 1);
    CHECK_EQ(times_in(r.err, "\n"), 4);
    CHECK_EQ(times_in(r.err, "gnomon: "), 4);
    CHECK(strstr(r.err, "gnomon: nowhere: "));
    CHECK(strstr(r.err, "gnomon: b.json: "));
    CHECK(strstr(r.err, "gnomon: standard input: "));
    CHECK(strstr(r.err, "gnomon: d: "));
}

/* Damage is reported, and the rest is read. */
TEST(damage_is_reported)
{
    NEEDS_PROGRAM;
    gnomon_profile *p = full_of("01");
    program_save(p, GNOMON_FORM_FILE, "w.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("head -c -24 w.gnomon > cut.gnomon; "
                           "$G report cut.gnomon; $G info cut.gnomon");
    CHECK_EQ(r.status, 2);
    CHECK(strstr(r.err, "gnomon: cut.gnomon: damaged: the end of the file: 1"));
    CHECK(strstr(r.out, "  lost      damaged: the end of the file: 1\n"));
    r = shell("head -c 32 w.gnomon > a.gnomon; cp a.gnomon b.gnomon; "
              "$G info a.gnomon b.gnomon");
    CHECK_EQ(times_in(r.out, "   2  a.gnomon\n"), 1); /* of no run */
    CHECK_EQ(times_in(r.out, "   2  b.gnomon\n"), 1);
}

TEST(pipes_are_files)
{
    NEEDS_PROGRAM;
    program_put("a.json", tiny);
    CHECK_EQ(shell("$G cat -o a.gnomon a.json").status, 0);
    child_result r = shell("$G cat a.json > want; mkfifo pipe; "
                           "cat a.gnomon > pipe & $G cat pipe | cmp - want && "
                           "cat a.gnomon | $G cat - | cmp - want && "
                           "cat a.json | $G cat /dev/stdin | cmp - want && "
                           "$G cat -o - a.json | cmp - a.gnomon && "
                           "$G cat -o /dev/stdout a.json | cmp - a.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
}

/* Files are readable by the owner only, links are not followed, and a
 * failure leaves nothing behind. */
TEST(files_are_made_whole)
{
    struct stat about;
    NEEDS_PROGRAM;
    program_put("a.json", tiny);
    program_put("precious", "precious");
    CHECK_EQ(symlink("precious", "out.gnomon"), 0);
    child_result r = shell("umask 0; $G cat -o out.gnomon a.json");
    CHECK_EQ(r.status, 0);
    CHECK_STR(child_read("precious"), "precious");
    CHECK_EQ(lstat("out.gnomon", &about), 0);
    CHECK(S_ISREG(about.st_mode));
    CHECK_EQ(about.st_mode & 0777, 0600);
    if (IS_TSAN) /* the file size limit ends it before the program begins */
        return;
    r = shell("mkdir in; cd in; (ulimit -f 0; "
              "$G cat -o big.gnomon ../a.json; echo $?) 2>&1 | cat; ls -A");
    CHECK_STR(r.out, "gnomon: big.gnomon: File too large\n2\n");
}

TEST(info_says_what_a_file_holds)
{
    static const char head[] =
        "w.gnomon\n"
        "run 1\n"
        "  job       job-7\n"
        "  rank      0\n"
        "  local     0\n"
        "  of ranks  2\n"
        "  host      node\\t1 \xc3\xa9\n"
        "  pid       4711\n"
        "  uuid      a\n"
        "  began     2023-11-14 22:13:20 UTC, within 35 ns\n"
        "  taken     9223372037 s later\n"
        "  clock     test\n"
        "  spec      simple(extended=false)\n"
        "  metadata  config = [1.5, \"\\u00e9\", null]\n"
        "  stage 2   fit          90.00 us, 3 steps of 20.00 us\n"
        "  lost      lost_events: 18446744073709551615\n"
        "run 2\n";
    NEEDS_PROGRAM;
    gnomon_profile *p = full_of("01");
    program_save(p, GNOMON_FORM_FILE, "w.gnomon");
    gnomon_profile_free(p);
    child_result r = shell("$G info w.gnomon");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK(strncmp(r.out, head, sizeof head - 1) == 0);
    CHECK(strstr(r.out, "  attempt   1\n"));
    CHECK(strstr(r.out, "holds\n  track      6\n"));
    r = shell("$G info w.gnomon | tail -n +2 > 1; $G cat w.gnomon > w.json; "
              "$G info w.json | tail -n +2 | cmp - 1");
    CHECK_EQ(r.status, 0);
    r = shell("cp w.gnomon v.gnomon; $G info w.gnomon v.gnomon");
    CHECK_EQ(times_in(r.out, "\n"), 3); /* the runs are the same */
    CHECK_EQ(times_in(r.out, " w.gnomon\n"), 2);
    CHECK_EQ(times_in(r.err, "counted once\n"), 2);
    CHECK(strstr(r.out, "2023-11-14 22:13:20 UTC"));
}

/* Not reported as 16 bytes of damage. */
TEST(info_of_valid_json_reports_no_damage)
{
    NEEDS_PROGRAM;
    if (!GNOMON_WITH_JANSSON)
        SKIP("no jansson: install libjansson-dev");
    gnomon_profile *p = full_of("01");
    program_save(p, GNOMON_FORM_JSON, "w.json");
    gnomon_profile_free(p);
    child_result r =
        shell("$G info w.json; $G info - < w.json; cp w.json v.json; "
              "$G info w.json v.json");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.out, "damaged"), 0);
    CHECK_EQ(times_in(r.err, "damaged"), 0);
    CHECK_EQ(times_in(r.out, "rank      1\n"), 2);
}

/* ---- Pipes and terminals ------------------------------------------------- */

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

/* What was written to the terminal within `ms`, or until `part` appeared;
 * never freed. */
static const char *on_terminal(int ms, const char *part)
{
    static char text[65536];
    struct pollfd p = {terminal, POLLIN, 0};
    size_t n = 0;
    ssize_t more = 1;
    text[0] = 0;
    while (!(part && strstr(text, part)) && poll(&p, 1, ms) > 0 &&
           (more = read(terminal, text + n, sizeof text - 1 - n)) > 0)
        text[n += (size_t)more] = 0;
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
        child_result r = shell("unset NO_COLOR; %s $G info a.json > %s",
                               cases[i].environment, name);
        const char *text = on_terminal(50, NULL);
        CHECK_EQ(r.status, 0);
        CHECK(strstr(text, "a.json"));
        CHECK_EQ(strstr(text, "\033") != NULL, cases[i].colour);
    }
    child_result r = shell("TERM=xterm $G info a.json; TERM=xterm $G --help");
    CHECK(!strchr(r.out, '\033'));
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
    CHECK(strstr(on_terminal(20000, "file 81 of 81"), "\r##"));
    CHECK_EQ(shell("cat a.json > d/99.gnomon").status, 0);
    CHECK_EQ(child_wait(child), 0);
    CHECK(strstr(on_terminal(50, NULL), "\r\033[K"));
    CHECK_EQ(times_in(child_read("out"), "\n"), 82);
    /* A small input shows no progress, however long it takes. */
    CHECK_EQ(shell("mkfifo slow; { sleep 0.5; cat a.json; } > slow & "
                   "TERM=xterm $G info slow 2> %s",
                   name)
                 .status,
             0);
    CHECK_STR(on_terminal(50, NULL), "");
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
    while (seen < 3 && strstr(on_terminal(20000, bars[seen]), bars[seen]) &&
           read(file, half, sizeof half) >= 0)
        seen++;
    gnomon__progress_hide();
    gnomon__progress_end();
    dup2(kept, 2);
    CHECK_EQ(seen, 3);
}
