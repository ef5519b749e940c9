/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fail=each: a command of the program in this process, with its first allocation
 * failing, then its second, and so on until it makes fewer. Each such run prints what
 * the whole run printed, or says that memory is missing and returns the status for it.
 * All are made by one child, which a crash ends; leaks are found at its end. */
#ifndef GNOMON_TESTS_TEXT_STARVE_H
#define GNOMON_TESTS_TEXT_STARVE_H

#include <getopt.h>
#include <stdint.h>
#include <sys/mman.h>
#include <wordexp.h>

#include "child.h"
#include "cli/commands.h"
#include "command/output.h"
#include "platform/memory.h"

#define QUIET ">/dev/null " /* its output is compared, but not shown */

#define ROOM 262144

/* In memory that both processes see. */
typedef struct starving {
    uint64_t failing; /* the allocation; 0: none */
    char wrong[4000];
} starving;

static int starved_command(const wordexp_t *words)
{
    const gnomon__command *c =
        gnomon__cli_find(gnomon__commands, words->we_wordv[0]);
    if (!c || !c->run)
        return GNOMON__EXIT_USAGE;
    optind = 0; /* anew */
    const int status = c->run(c, (int)words->we_wordc, words->we_wordv);
    const int flushed = gnomon__cli_flush();
    return flushed ? flushed : status;
}

/* What a run printed, as far as there is room. */
typedef struct printed {
    int status;
    char out[ROOM], err[ROOM];
} printed;

static int read_back(int fd, char *text)
{
    const ssize_t n = pread(fd, text, ROOM - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return n < 0 || ftruncate(fd, 0);
}

/* The files stay the same for all runs: the program writes no line where another file is
 * standard error than at first. */
static int starved_run(const wordexp_t *words, printed *r)
{
    r->status = starved_command(words);
    return read_back(1, r->out) || read_back(2, r->err);
}

/* Lines of the program, of which one says that there was no memory. */
static int says_so(const char *err)
{
    for (const char *at = err; *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, "gnomon: ", 8) != 0 || !strchr(at, '\n'))
            return 0;
    return strstr(err, "no memory") || strstr(err, "GNOMON_ENOMEM");
}

/* Whether a run with a failing allocation ended as it should. */
static int is_fair(const printed *r, const printed *whole)
{
    const int is_same = r->status == whole->status &&
                        strcmp(r->out, whole->out) == 0 &&
                        strcmp(r->err, whole->err) == 0;
    return is_same || ((r->status == GNOMON__EXIT_USAGE ||
                        r->status == GNOMON__EXIT_UNREADABLE) &&
                       says_so(r->err));
}

static int starve(const wordexp_t *words, starving *s)
{
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    static printed whole, r;
    uint64_t made = 0;
    fflush(stdout);
    if (dup2(open(".out", flags, 0644), 1) < 0 ||
        dup2(open(".err", flags, 0644), 2) < 0 || starved_run(words, &whole))
        return -1;
    do {
        gnomon__test_fail_allocation(++s->failing);
        const int cannot = starved_run(words, &r);
        made = gnomon__test_allocations();
        gnomon__test_fail_allocation(0);
        if (cannot)
            return -1;
        if (!*s->wrong && !is_fair(&r, &whole))
            snprintf(s->wrong, sizeof s->wrong,
                     "allocation %d fails: status %d\n%.1800s%.1800s",
                     (int)s->failing, r.status, r.err, r.out);
    } while (made >= s->failing);
    s->failing = 0;
    if (fputs(whole.out, stdout) < 0 || fputs(whole.err, stderr) < 0)
        return -1;
    return whole.status;
}

/* Runs a command. *wrong is NULL, or says what a run did that it must not; never
 * freed. */
static child_result text_starve(const char *command, const char **wrong)
{
    static char none[1];
    child_result r = {-1, none, none};
    wordexp_t words;
    const int is_quiet = strncmp(command, QUIET, sizeof QUIET - 1) == 0;
    command += is_quiet ? sizeof QUIET - 1 : 0;
    setenv("B", TEST_BINARY_DIR, 1);
    *wrong = "fail=each is for one command of the program: $G WORD...";
    if (strncmp(command, "$G ", 3) != 0 ||
        wordexp(command + 3, &words, WRDE_NOCMD) != 0)
        return r;
    starving *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        *child_path = 0; /* the folder is the parent's */
        exit(starve(&words, s));
    }
    r.status = child_wait(child);
    r.out = is_quiet ? none : child_read(".out");
    r.err = child_read(".err");
    if (s->failing && !*s->wrong)
        snprintf(s->wrong, sizeof s->wrong,
                 "allocation %d fails: the program ends: %s %d\n",
                 (int)s->failing, r.status < 256 ? "status" : "signal",
                 r.status & 255);
    *wrong = *s->wrong ? s->wrong : NULL;
    wordfree(&words);
    return r;
}

#endif
