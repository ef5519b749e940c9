/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the programs of tests/programs in a folder of the test's own, in an
 * environment without any launcher, and returns what they write. */
#ifndef GNOMON_TESTS_CHILD_H
#define GNOMON_TESTS_CHILD_H

#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_PROGRAM(name) TEST_BINARY_DIR "/programs/" name
#define CHILD_PLUGIN(name) TEST_BINARY_DIR "/plugins/" name ".so"

/* What a program wrote; both texts are terminated and are never freed.
 * `status`: the exit status, or 256 + the signal. */
typedef struct child_result {
    int status;
    char *out, *err;
} child_result;

static char
    child_path[64]; /* of the test's folder, which is the working directory */

static inline void child_clean(void)
{
    char command[96];
    if (chdir("/") == 0 && *child_path) {
        snprintf(command, sizeof command, "rm -rf '%s'", child_path);
        if (system(command) != 0)
            perror(child_path);
    }
}

/* Whether this file system has a GiB of room, and lets programs be run from it. Tests'
 * folders are in memory where they can be: ext4 without a journal takes the longer for a
 * new file the more were removed of late. */
static inline int child_may_use(const char *path)
{
    const unsigned long unfit = ST_RDONLY | ST_NOEXEC | ST_NOSUID;
    struct statvfs s;
    return statvfs(path, &s) == 0 && !(s.f_flag & unfit) &&
           s.f_bavail >= (1u << 30) / s.f_frsize &&
           access(path, W_OK | X_OK) == 0;
}

/* Makes the folder and goes there; readable for other users. */
static inline void child_folder(void)
{
    if (*child_path)
        return;
    snprintf(child_path, sizeof child_path, "%s/gnomon-test-XXXXXX",
             child_may_use("/dev/shm") ? "/dev/shm" : "/tmp");
    if (!mkdtemp(child_path) || chmod(child_path, 0755) || chdir(child_path)) {
        perror(child_path);
        exit(1);
    }
    atexit(child_clean);
}

/* File times have the granularity of the kernel's tick, up to 10 ms. Files
 * written after this call are newer than those written before. */
static inline void child_next_tick(void)
{
    struct timespec now, tick;
    clock_gettime(CLOCK_REALTIME, &now);
    do {
        usleep(500);
        clock_gettime(CLOCK_REALTIME_COARSE, &tick);
    } while (tick.tv_sec < now.tv_sec ||
             (tick.tv_sec == now.tv_sec && tick.tv_nsec <= now.tv_nsec));
}

/* The whole file, terminated; NULL: there is none. Free it. Its room is doubled where it
 * ends: sanitizers copy what is made larger. */
static inline char *child_load(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0, room = 4096, n;
    if (!f)
        return NULL;
    char *text = malloc(room);
    while ((n = fread(text + size, 1, room - size, f)) > 0) {
        size += n;
        if (size == room)
            text = realloc(text, room *= 2);
    }
    text = realloc(text, size + 1);
    text[size] = 0;
    fclose(f);
    return text;
}

/* Keeps a text until the process ends, reachable for the leak checker. */
static inline char *child_keep(char *text)
{
    static struct kept {
        char *text;
        struct kept *next;
    } * all;
    struct kept *one = malloc(sizeof *one);
    one->text = text;
    one->next = all;
    all = one;
    return text;
}

/* As read_file, but the text is never freed. */
static inline char *child_read(const char *path)
{
    return child_keep(child_load(path));
}

/* `environment`: lines of NAME=value, or NULL. Returns the process. */
static inline pid_t child_start(const char *program, const char *environment,
                                const char *const *words, const char *out,
                                const char *err)
{
    static const char *const launchers[] = {"GNOMON",
                                            "GNOMON_RANK",
                                            "GNOMON_LOCAL_RANK",
                                            "GNOMON_WORLD_SIZE",
                                            "RANK",
                                            "LOCAL_RANK",
                                            "WORLD_SIZE",
                                            "OMPI_COMM_WORLD_RANK",
                                            "OMPI_COMM_WORLD_SIZE",
                                            "PMI_RANK",
                                            "PMI_SIZE",
                                            "MV2_COMM_WORLD_RANK",
                                            "FLUX_TASK_RANK",
                                            "JSM_NAMESPACE_RANK",
                                            "PALS_RANKID",
                                            "PMIX_RANK",
                                            "SLURM_PROCID",
                                            "SLURM_NTASKS",
                                            "SLURM_STEP_ID"};
    const char *argv[64] = {program};
    char *lines = environment ? strdup(environment) : NULL, *line;
    child_folder();
    for (size_t i = 0; words[i] && i < 62; i++)
        argv[i + 1] = words[i];
    /* Before the child: on a busy machine it opens them so late that they would pass for
     * files of its program. */
    close(open(out, O_WRONLY | O_CREAT, 0644));
    close(open(err, O_WRONLY | O_CREAT, 0644));
    fflush(NULL);
    pid_t child = fork();
    if (child != 0) {
        free(lines);
        return child;
    }
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        unsetenv(launchers[i]);
    for (line = lines ? strtok(lines, "\n") : NULL; line;
         line = strtok(NULL, "\n"))
        putenv(line);
    dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644), 1);
    dup2(open(err, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644), 2);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execv(program, (char *const *)(size_t)argv);
    _exit(127);
}

static inline int child_wait(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static inline child_result child_run(const char *program,
                                     const char *environment,
                                     const char *const *words)
{
    child_result r;
    r.status =
        child_wait(child_start(program, environment, words, ".out", ".err"));
    r.out = child_read(".out");
    r.err = child_read(".err");
    return r;
}

/* host("GNOMON=simple", "do=a", "step"): a host that makes these calls. */
#define host(environment, ...) \
    child_run(CHILD_PROGRAM("host"), environment, \
              (const char *const[]){__VA_ARGS__, NULL})

/* How often `part` occurs in `text`; -1: `text` is NULL. */
static inline int times_in(const char *text, const char *part)
{
    int n = text ? 0 : -1;
    const char *end = text ? text + strlen(text) : NULL;
    const size_t length = strlen(part);
    /* Not strstr: sanitizers look at all of the text that is left, each time. */
    while (text && (text = memchr(text, *part, (size_t)(end - text)))) {
        int is_it =
            (size_t)(end - text) >= length && memcmp(text, part, length) == 0;
        n += is_it;
        text += is_it ? length : 1;
    }
    return n;
}

/* The length in bytes of simple's table with this title and just these rows,
 * in any order, and its rules; -1: the text begins with no such table. */
static inline int table_length(const char *text, const char *title,
                               const char *const *names)
{
    size_t n = strlen(title), rows = 0, rules = 0;
    const char *at = text;
    if (!text || strncmp(text, title, n) != 0 || strncmp(text + n, "\n\n", 2))
        return -1;
    for (at += n + 2; strncmp(at, "|  ", 3) == 0 || strncmp(at, "--", 2) == 0;
         at = strchr(at, '\n') + 1) {
        rules += *at == '-';
        rows += *at == '|';
        if (!strchr(at, '\n'))
            return -1;
    }
    for (; *names; names++) {
        char row[256];
        const char *found;
        snprintf(row, sizeof row, "\n|  %s", *names);
        found = strstr(text, row);
        if (!found || found > at || !strchr(" \t", found[strlen(row)]))
            return -1;
        rows--;
    }
    /* The rows that remain: the header, and Total. */
    return (rows == 2 && rules == 4) || (rows == 1 && rules == 3)
               ? (int)(at - text)
               : -1;
}

/* CHECK that `text` begins with a whole table of these rows and no others. */
#define CHECK_TABLE(text, title, ...) \
    CHECK(table_length(text, title, \
                       (const char *const[]){__VA_ARGS__, NULL}) > 0)

#endif
