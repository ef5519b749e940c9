/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs text cases, whose form README.md describes. A case is written anew with what its
 * commands print now; it fails where that is another text, and what differs is printed
 * as a diff. With --write the new text replaces the old one.
 *   text [--write] CASE|FOLDER...    0: all passed, 1: one failed, 77: skipped
 * links: testing
 * needs: cli */
#include <glob.h>
#include <limits.h>

#include "child.h"
#include "fill.h"
#include "gnomon/profile.h"
#include "profile/json_read.h"
#include "starve.h"

#define PROGRAM TEST_BINARY_DIR "/../gnomon"
#define MARKER "=== "

enum { PASSED = 0, FAILED = 1, SKIPPED = 77 };

typedef struct text_case {
    const char *path;
    char *text;
    const char *at;   /* the rest of the text */
    const char *part; /* that is run now */
    FILE *anew;
    int commands; /* that were run */
    int failures; /* of these */
} text_case;

static void end_case(const text_case *c, int status, const char *what,
                     const char *more)
{
    int line = 1;
    for (const char *at = c->text; at < c->part; at++)
        line += *at == '\n';
    if (status == SKIPPED)
        printf("skipped: %s%s\n", what, more);
    else
        fprintf(stderr, "%s:%d: %s%s\n", c->path, line, what, more);
    exit(status);
}

/* ---- The parts of a case ------------------------------------------------------- */

static int is_marker(const char *at)
{
    return strncmp(at, MARKER, sizeof MARKER - 1) == 0;
}

/* Everything up to the next marker; freed by nobody, as a process runs one case. */
static char *read_body(text_case *c)
{
    const char *begin = c->at;
    while (*c->at && !is_marker(c->at)) {
        const char *end = strchr(c->at, '\n');
        c->at = end ? end + 1 : strchr(c->at, 0);
    }
    return child_keep(strndup(begin, (size_t)(c->at - begin)));
}

/* The words of a marker's line, which goes on after a backslash at its end. */
static char *read_words(text_case *c)
{
    const char *begin = c->at += sizeof MARKER - 1, *end = strchr(begin, '\n');
    while (end && end > begin && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    if (!end)
        end_case(c, FAILED, "the last line has no end", "");
    c->at = end + 1;
    return child_keep(strndup(begin, (size_t)(end - begin)));
}

/* The first word is moved past; the rest is returned. */
static const char *after(const char *words, const char *first)
{
    const size_t n = strlen(first);
    return strncmp(words, first, n) == 0 && (words[n] == ' ' || !words[n])
               ? words + n + (words[n] == ' ')
               : NULL;
}

/* ---- Files ---------------------------------------------------------------------- */

static int write_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

static void write_file(const text_case *c, const char *path, const char *text)
{
    const char *dot = strrchr(path, '.');
    const int is_profile = dot && strcmp(dot, ".gnomon") == 0;
    gnomon_profile *p = NULL;
    char folder[PATH_MAX];
    if ((is_profile || (dot && strcmp(dot, ".json") == 0)) &&
        !GNOMON_WITH_JANSSON)
        end_case(c, SKIPPED, "no jansson: install libjansson-dev", "");
    if (is_profile && gnomon__json_read(&p, text, strlen(text)) != GNOMON_OK)
        end_case(c, FAILED, "no profile: ", gnomon_error_text());
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        mkdir(folder, 0755);
    }
    FILE *to = fopen(path, "wb");
    gnomon_writer w = {
        .struct_size = sizeof w, .write = write_bytes, .context = to};
    if (!to)
        end_case(c, FAILED, "cannot write ", path);
    if (is_profile ? gnomon_write(p, "gnomon", &w) : fputs(text, to) < 0)
        end_case(c, FAILED, "cannot write ", path);
    fclose(to);
    gnomon_profile_free(p);
}

/* What the file of this name was made from: earlier in the case, or beside it. */
static const char *template_of(const text_case *c, const char *name)
{
    char path[PATH_MAX], *text;
    const size_t n = strlen(name);
    for (const char *at = c->text; (at = strstr(at, "\n" MARKER "file "));) {
        at += sizeof "\n" MARKER "file " - 1;
        text_case earlier = *c;
        earlier.at = at - sizeof MARKER "file " + 1;
        read_words(&earlier);
        if (strncmp(at, name, n) == 0 && strchr(" \n", at[n]) &&
            strncmp(at + n, " from ", 6) != 0)
            return read_body(&earlier);
    }
    snprintf(path, sizeof path, "%.*s%s",
             (int)(strrchr(c->path, '/') + 1 - c->path), c->path, name);
    text = child_read(path);
    if (!text)
        end_case(c, FAILED, "no such file: ", name);
    while (*text == '#' && strchr(text, '\n')) /* a comment at its head */
        text = strchr(text, '\n') + 1;
    return text;
}

/* The next word of a line; what follows it is moved to. "": there is none. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " "), *end = word + strcspn(word, " ");
    *line = end + (*end != 0);
    *end = 0;
    return word;
}

static void make_file(const text_case *c, char *words, const char *text)
{
    const char *wrong;
    for (char *at = words; (at = strstr(at, "\\\n"));)
        at[0] = at[1] = ' ';
    const char *path = next_word(&words);
    words += strspn(words, " ");
    if (after(words, "from")) {
        next_word(&words);
        text = template_of(c, next_word(&words));
    }
    char *whole = text_fill(text, words, &wrong);
    if (!whole)
        end_case(c, FAILED, wrong, "");
    write_file(c, path, whole);
    free(whole);
}

/* ---- Commands -------------------------------------------------------------------- */

static void put_output(const text_case *c, const char *text)
{
    const size_t n = strlen(text);
    if (is_marker(text) || strstr(text, "\n" MARKER))
        end_case(c, FAILED, "a line of the output begins with ", MARKER);
    fputs(text, c->anew);
    if (n && text[n - 1] != '\n')
        fputs("\n\\ No newline at end\n", c->anew);
}

/* 0: a failing allocation was not borne, as standard error says. */
static int run_command(const text_case *c, const char *command)
{
    const char *wrong = NULL, *starved = after(command, "fail=each");
    const child_result r =
        starved ? text_starve(starved, &wrong)
                : child_run("/bin/sh", "G=" PROGRAM "\nB=" TEST_BINARY_DIR,
                            (const char *const[]){"-c", command, NULL});
    put_output(c, r.out);
    if (*r.err) {
        fputs(MARKER "error\n", c->anew);
        put_output(c, r.err);
    }
    if (r.status)
        fprintf(c->anew, MARKER "status %d\n", r.status);
    if (wrong)
        fprintf(stderr, "%s: fail=each: %s\n", c->path, wrong);
    return !wrong;
}

/* What was expected is moved past. */
static void skip_expected(text_case *c)
{
    read_body(c);
    while (is_marker(c->at)) {
        text_case next = *c;
        const char *words = read_words(&next);
        if (!after(words, "error") && !after(words, "status"))
            return;
        read_body(&next);
        *c = next;
    }
}

/* ---- A case ------------------------------------------------------------------------ */

static void run_part(text_case *c)
{
    c->part = c->at;
    char *words = read_words(c);
    const char *rest;
    fprintf(c->anew, MARKER "%s\n", words);
    if ((rest = after(words, "run"))) {
        skip_expected(c);
        c->failures += !run_command(c, rest);
        c->commands++;
        return;
    }
    const char *body = read_body(c);
    fputs(body, c->anew);
    if ((rest = after(words, "file")))
        make_file(c, words + (rest - words), body);
    else if (!after(words, "#"))
        end_case(c, FAILED, "file, run or # is missing: ", words);
}

static int save(const char *path, const char *text)
{
    FILE *to = fopen(path, "wb");
    return !to || fputs(text, to) < 0 || fclose(to);
}

/* In a process of its own, in a folder of its own. */
static int run_case(const char *path, int writes)
{
    char *anew = NULL, command[2 * PATH_MAX];
    size_t size;
    text_case c = {.path = path, .text = child_read(path)};
    if (!c.text || access(PROGRAM, X_OK) != 0) {
        printf(c.text ? "skipped: the program is not built\n" : "no file\n");
        return c.text ? SKIPPED : FAILED;
    }
    c.at = c.part = c.text;
    c.anew = open_memstream(&anew, &size);
    child_folder();
    fputs(read_body(&c), c.anew);
    while (*c.at)
        run_part(&c);
    fclose(c.anew);
    child_keep(anew);
    if (!c.commands)
        end_case(&c, FAILED, "no command is run", "");
    if (strcmp(c.text, anew) == 0)
        return c.failures ? FAILED : PASSED;
    snprintf(command, sizeof command, "diff -u '%s' .anew >&2", path);
    if (save(".anew", anew) || (!writes && system(command) == 0))
        fprintf(stderr, "%s\n", anew);
    return writes && !c.failures ? save(path, anew) : FAILED;
}

/* Cases follow one another, each in a child; nobody waits for more than one. */
static int run_cases(const glob_t *all, int writes)
{
    int n[3] = {0};
    for (size_t i = 0; i < all->gl_pathc; i++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            exit(run_case(all->gl_pathv[i], writes));
        const int status = child_wait(child);
        n[status == PASSED ? 0 : status == SKIPPED ? 2 : 1]++;
        if (status != PASSED)
            printf("%s: %s\n", status == SKIPPED ? "skip" : "FAIL",
                   all->gl_pathv[i]);
    }
    printf("%d passed, %d failed, %d skipped\n", n[0], n[1], n[2]);
    return n[1] || !(n[0] + n[2]);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX], pattern[PATH_MAX + 8];
    const int writes = argc > 1 && strcmp(argv[1], "--write") == 0;
    static glob_t all; /* its names are used to the end */
    struct stat about;
    if (freopen("/dev/null", "r", stdin) == NULL)
        return FAILED;
    for (int i = 1 + writes; i < argc; i++) {
        if (!realpath(argv[i], path) || stat(path, &about) != 0) {
            perror(argv[i]);
            return FAILED;
        }
        snprintf(pattern, sizeof pattern, "%s%s", path,
                 S_ISDIR(about.st_mode) ? "/*.txt" : "");
        glob(pattern, i > 1 + writes ? GLOB_APPEND : 0, NULL, &all);
    }
    return all.gl_pathc == 1 ? run_case(all.gl_pathv[0], writes)
                             : run_cases(&all, writes);
}
