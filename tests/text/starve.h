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

#define OUT ".starved.out"
#define ERR ".starved.err"

/* In memory that both processes see. */
typedef struct starving {
    uint64_t failing; /* the allocation; 0: none */
    char wrong[4000];
} starving;

static int starved_run(const wordexp_t *words)
{
    const gnomon__command *c =
        gnomon__cli_find(gnomon__commands, words->we_wordv[0]);
    if (!c || !c->run)
        return GNOMON__EXIT_USAGE;
    optind = 0; /* anew */
    const int status = c->run((int)words->we_wordc, words->we_wordv);
    const int flushed = gnomon__cli_flush();
    return flushed ? flushed : status;
}

static int redirect(const char *out, const char *err)
{
    fflush(stdout);
    const int to_out = open(out, O_RDWR | O_CREAT | O_TRUNC, 0644);
    const int to_err = open(err, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
    return dup2(to_out, 1) < 0 || dup2(to_err, 2) < 0 || close(to_out) ||
           close(to_err);
}

/* Lines of the program, of which one says that there was no memory. */
static int says_so(const char *err)
{
    for (const char *at = err; *at; at = strchr(at, '\n') + 1)
        if (strncmp(at, "gnomon: ", 8) != 0 || !strchr(at, '\n'))
            return 0;
    return strstr(err, "no memory") || strstr(err, "GNOMON_ENOMEM");
}

/* Whether the run of a failed allocation ended as it should. */
static int is_fair(int status, const char *out, const char *err, int whole)
{
    char *whole_out = child_load(".out"), *whole_err = child_load(".err");
    const int is_same = status == whole && strcmp(out, whole_out) == 0 &&
                        strcmp(err, whole_err) == 0;
    free(whole_out);
    free(whole_err);
    return is_same || ((status == GNOMON__EXIT_USAGE ||
                        status == GNOMON__EXIT_UNREADABLE) &&
                       says_so(err));
}

static int starve(const wordexp_t *words, starving *s)
{
    uint64_t made = 0;
    const int whole = redirect(".out", ".err") ? -1 : starved_run(words);
    do {
        s->failing++;
        if (redirect(OUT, ERR))
            return -1;
        gnomon__test_fail_allocation(s->failing);
        const int status = starved_run(words);
        made = gnomon__test_allocations();
        gnomon__test_fail_allocation(0);
        char *out = child_load(OUT), *err = child_load(ERR);
        if (!*s->wrong && !is_fair(status, out, err, whole))
            snprintf(s->wrong, sizeof s->wrong,
                     "allocation %d fails: status %d\n%.1800s%.1800s",
                     (int)s->failing, status, err, out);
        free(out);
        free(err);
    } while (made >= s->failing);
    s->failing = 0;
    return whole;
}

/* Runs a command. *wrong is NULL, or says what a run did that it must not; never
 * freed. */
static child_result text_starve(const char *command, const char **wrong)
{
    static char none[1];
    child_result r = {-1, none, none};
    wordexp_t words;
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
    r.out = child_read(".out");
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
