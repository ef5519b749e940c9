/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linked into each test program that an emulator runs: the kernel knows the
 * emulator but not what it emulates, so a program for the other machine that
 * is to be executed becomes an argument of the emulator. All else, a shell for
 * instance, is executed as it is. The linker turns calls of execv and the like
 * into calls of __wrap_execv; what libc calls by itself (system, popen) stays.
 *
 * As async-signal-safe as what it stands for: nothing is allocated. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define WORDS 256

extern char **environ;

int __real_execve(const char *path, char *const *words, char *const *names);
int __real_execvp(const char *path, char *const *words);
int __wrap_execve(const char *path, char *const *words, char *const *names);
int __wrap_execv(const char *path, char *const *words);
int __wrap_execvp(const char *path, char *const *words);
int __wrap_execl(const char *path, const char *word, ...);
int __real_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *words,
                       char *const *names);
int __real_posix_spawnp(pid_t *pid, const char *path,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *words,
                        char *const *names);
int __wrap_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *words,
                       char *const *names);
int __wrap_posix_spawnp(pid_t *pid, const char *path,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *words,
                        char *const *names);

typedef struct emulated {
    char options[256]; /* TEST_EMULATOR, cut into words */
    char path[4096];
    char *words[WORDS];
} emulated;

static int is_for_other_machine(const char *path)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC), is = 0;
    if (fd < 0)
        return 0;
    is = read(fd, &header, sizeof header) == (ssize_t)sizeof header &&
         memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_machine == EM_AARCH64;
    close(fd);
    return is;
}

/* The emulator's command line for `path`; 0: it is not for the emulator. */
static int emulate(emulated *e, const char *path, char *const *words)
{
    int n = 0;
    /* /proc/self/exe would be the emulator itself. */
    ssize_t length = readlink(path, e->path, sizeof e->path - 1);
    if (length < 0 || strncmp(path, "/proc/", 6) != 0) {
        length = (ssize_t)strlen(path);
        if (length >= (ssize_t)sizeof e->path)
            return 0;
        memcpy(e->path, path, (size_t)length);
    }
    e->path[length] = 0;
    if (!is_for_other_machine(e->path))
        return 0;
    strcpy(e->options, TEST_EMULATOR);
    for (char *at = e->options, *next; at; at = next) {
        next = strchr(at, ' ');
        if (next)
            *next++ = 0;
        e->words[n++] = at;
    }
    if (words[0]) {
        static char argv0[] = "-0";
        e->words[n++] = argv0;
        e->words[n++] = *words++;
    }
    e->words[n++] = e->path;
    while (n < WORDS - 1 && *words)
        e->words[n++] = *words++;
    e->words[n] = NULL;
    return 1;
}

int __wrap_execve(const char *path, char *const *words, char *const *names)
{
    emulated e;
    if (emulate(&e, path, words))
        return __real_execve(e.words[0], e.words, names);
    return __real_execve(path, words, names);
}

int __wrap_execv(const char *path, char *const *words)
{
    return __wrap_execve(path, words, environ);
}

/* Programs of the other machine are called with a path. */
int __wrap_execvp(const char *path, char *const *words)
{
    if (strchr(path, '/'))
        return __wrap_execve(path, words, environ);
    return __real_execvp(path, words);
}

int __wrap_execl(const char *path, const char *word, ...)
{
    const char *words[WORDS] = {word};
    va_list rest;
    va_start(rest, word);
    for (int n = 1; n < WORDS - 1 && words[n - 1]; n++)
        words[n] = va_arg(rest, const char *);
    va_end(rest);
    return __wrap_execve(path, (char *const *)(uintptr_t)words, environ);
}

int __wrap_posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *words,
                       char *const *names)
{
    emulated e;
    if (emulate(&e, path, words))
        return __real_posix_spawn(pid, e.words[0], actions, attributes, e.words,
                                  names);
    return __real_posix_spawn(pid, path, actions, attributes, words, names);
}

int __wrap_posix_spawnp(pid_t *pid, const char *path,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *words,
                        char *const *names)
{
    if (strchr(path, '/'))
        return __wrap_posix_spawn(pid, path, actions, attributes, words, names);
    return __real_posix_spawnp(pid, path, actions, attributes, words, names);
}
