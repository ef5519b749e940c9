/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host for tests: each argument is a call. Error codes of control calls go
 * to stdout. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gnomon.h>
#include <gnomon/profile.h>
#include <gnomon/tool.h>

static gnomon_setup_options host_options = {.struct_size = sizeof host_options};

static void host_answer(const char *word, int code)
{
    if (code)
        printf("%s: %s: %s\n", word, gnomon_error_name(code),
               gnomon_error_text());
}

static int host_write(const gnomon_writer *writer, const void *bytes,
                      size_t size)
{
    (void)writer;
    return fwrite(bytes, 1, size, stdout) == size ? GNOMON_OK : GNOMON_EIO;
}

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int n = -3; /* ".", "..", and for fds the folder itself */
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

/* Threads, open files, mapped pages, and signals that are caught. */
static void host_footprint(void)
{
    long pages = 0;
    char line[256], caught[64] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1)
        pages = -1;
    if (f)
        fclose(f);
    f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        (void)sscanf(line, "SigCgt: %63s", caught);
    if (f)
        fclose(f);
    printf("tasks %d fds %d caught %s\npages %ld\n",
           count_entries("/proc/self/task") + 1, count_entries("/proc/self/fd"),
           caught, pages);
}

/* Checks the profiler's view; prints "sound" or the error. */
static void host_check(const char *profiler)
{
    gnomon_profile *p;
    int code = gnomon_snapshot(&p, profiler, 1);
    if (!code)
        code = gnomon_profile_check(p);
    if (code)
        host_answer("check", code);
    else
        puts("sound");
    gnomon_profile_free(p);
}

static void host_spec(void)
{
    char text[8192];
    if (gnomon_spec(text, sizeof text) >= sizeof text)
        strcpy(text, "too long");
    puts(text);
}

/* The resolved spec, configured again, must resolve to itself. */
static void host_respec(void)
{
    char first[8192], again[8192];
    gnomon_spec(first, sizeof first);
    host_answer("respec", gnomon_attach(NULL, NULL, first));
    gnomon_spec(again, sizeof again);
    printf("%s\n%s\n", strcmp(first, again) ? "CHANGED" : "same", again);
}

/* "2/4" or "2/4/1": rank, world size, local rank, of the next setup. */
static void host_rank(const char *text)
{
    int rank = 0, size = 0, local = -1;
    (void)sscanf(text, "%d/%d/%d", &rank, &size, &local);
    host_options.has_rank = 1;
    host_options.rank = rank;
    host_options.world_size = size;
    host_options.local_rank = local;
}

static void host_scope(const char *name)
{
    gnomon_token token =
        gnomon_begin(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE));
    gnomon_end(token);
}

/* Marks of each kind leave errno alone. */
static void host_errno(const char *name)
{
    static gnomon_region mark =
        GNOMON_REGION_INIT(GNOMON_KIND_MARK, "mark", NULL, NULL);
    errno = 77;
    {
        GNOMON_SCOPE("first touch");
    }
    gnomon_mark(&mark);
    gnomon_start(name);
    gnomon_step();
    gnomon_range_end(gnomon_range_begin(&mark));
    gnomon_stop(name);
    printf("errno %d\n", errno);
}

static void host_many(const char *name)
{
    for (int i = 0; i < 200; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s %d", name, i);
        gnomon_start(text);
        gnomon_stop(text);
    }
}

static void host_loop(const char *count)
{
    for (long i = 0, n = atol(count); i < n; i++) {
        gnomon_start("loop");
        gnomon_stop("loop");
    }
}

static void host_stages(const char *count)
{
    for (int i = 0, n = atoi(count); i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%d", i);
        gnomon_stage_begin(name);
        host_many(name);
        gnomon_stage_end();
    }
}

static int host_control(const char *verb, const char *value)
{
    gnomon_writer writer = {.struct_size = sizeof writer, .write = host_write};
    if (strcmp(verb, "setup") == 0)
        host_answer(verb, gnomon_setup(&host_options));
    else if (strcmp(verb, "setup0") == 0)
        host_answer(verb, gnomon_setup(NULL));
    else if (strcmp(verb, "teardown") == 0)
        host_answer(verb, gnomon_teardown());
    else if (strcmp(verb, "configure") == 0)
        host_answer(verb, gnomon_attach(NULL, NULL, value));
    else if (strcmp(verb, "stage") == 0)
        host_answer(verb, gnomon_stage_begin(value));
    else if (strcmp(verb, "end") == 0)
        host_answer(verb, gnomon_stage_end());
    else if (strcmp(verb, "summary") == 0)
        host_answer(verb, gnomon_summary(value, &writer));
    else if (strcmp(verb, "metadata") == 0)
        host_answer(verb, gnomon_metadata(value, "1"));
    else if (strcmp(verb, "spec") == 0)
        host_spec();
    else if (strcmp(verb, "respec") == 0)
        host_respec();
    else if (strcmp(verb, "rank") == 0)
        host_rank(value);
    else if (strcmp(verb, "dir") == 0)
        host_options.dir = value;
    else if (strcmp(verb, "default") == 0)
        host_options.spec = value;
    else
        return 0;
    return 1;
}

/* A folder with files in it, or the working one. */
static void host_remove(const char *path)
{
    char resolved[4096], command[4200];
    if (!realpath(path, resolved))
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", resolved);
    if (system(command))
        puts("not removed");
}

/* Opens a file as the lowest free descriptor. */
static void host_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(fd, "precious", 8) != 8)
        puts(strerror(errno));
}

static void host_both(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(fd, 1);
    dup2(fd, 2);
    close(fd);
}

static void host_signals(void)
{
    sigset_t pending;
    struct sigaction pipe, size;
    sigpending(&pending);
    sigaction(SIGPIPE, NULL, &pipe);
    sigaction(SIGXFSZ, NULL, &size);
    printf("pending %d caught %d\n",
           sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ),
           pipe.sa_handler != SIG_DFL || size.sa_handler != SIG_DFL);
}

/* KiB of address space beyond what is used now. */
static void host_room(const char *kib)
{
    unsigned long pages = 0;
    struct rlimit limit;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1)
        puts("no statm");
    if (f)
        fclose(f);
    limit.rlim_cur = limit.rlim_max =
        pages * (rlim_t)sysconf(_SC_PAGESIZE) + 1024u * (rlim_t)atol(kib);
    if (setrlimit(RLIMIT_AS, &limit))
        puts(strerror(errno));
}

static int host_limit(const char *verb, const char *value)
{
    struct rlimit limit = {(rlim_t)atol(value), (rlim_t)atol(value)};
    if (strcmp(verb, "fsize") == 0)
        setrlimit(RLIMIT_FSIZE, &limit);
    else if (strcmp(verb, "fds") == 0)
        setrlimit(RLIMIT_NOFILE, &limit);
    else if (strcmp(verb, "room") == 0)
        host_room(value);
    else if (strcmp(verb, "take") == 0)
        free(memset(malloc(1024u * (size_t)atol(value)), 1, 1));
    else if (strcmp(verb, "signals") == 0)
        host_signals();
    else if (strcmp(verb, "secure") == 0)
        printf("secure %d\n", getauxval(AT_SECURE) != 0);
    else if (strcmp(verb, "open") == 0)
        host_open(value);
    else if (strcmp(verb, "both") == 0)
        host_both(value);
    else
        return 0;
    return 1;
}

static int host_word(const char *verb, const char *value)
{
    if (host_control(verb, value) || host_limit(verb, value))
        return 1;
    if (strcmp(verb, "do") == 0) {
        gnomon_start(value);
        gnomon_stop(value);
    } else if (strcmp(verb, "start") == 0) {
        gnomon_start(value);
    } else if (strcmp(verb, "stop") == 0) {
        gnomon_stop(value);
    } else if (strcmp(verb, "scope") == 0) {
        host_scope(value);
    } else if (strcmp(verb, "many") == 0) {
        host_many(value);
    } else if (strcmp(verb, "loop") == 0) {
        host_loop(value);
    } else if (strcmp(verb, "stages") == 0) {
        host_stages(value);
    } else if (strcmp(verb, "step") == 0) {
        gnomon_step();
    } else if (strcmp(verb, "errno") == 0) {
        host_errno(value);
    } else if (strcmp(verb, "sleep") == 0) {
        usleep(1000u * (unsigned)atoi(value));
    } else if (strcmp(verb, "footprint") == 0) {
        host_footprint();
    } else if (strcmp(verb, "check") == 0) {
        host_check(value);
    } else if (strcmp(verb, "say") == 0) {
        puts(value);
        fflush(stdout);
    } else if (strcmp(verb, "mkdir") == 0) {
        mkdir(value, 0777);
    } else if (strcmp(verb, "rm") == 0) {
        host_remove(value);
    } else if (strcmp(verb, "chdir") == 0) {
        if (chdir(value))
            puts(strerror(errno));
    } else if (strcmp(verb, "close") == 0) {
        close(atoi(value));
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals)
            *equals = 0;
        if (strcmp(argv[i], "exit") == 0)
            return equals ? atoi(equals + 1) : 0;
        if (!host_word(argv[i], equals ? equals + 1 : "")) {
            fprintf(stderr, "host: no such word: %s\n", argv[i]);
            return 2;
        }
    }
    return 0;
}
