/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Forks without pthread_atfork handlers. */
#ifndef GNOMON_TESTS_RAW_FORK_H
#define GNOMON_TESTS_RAW_FORK_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline pid_t raw_fork(void)
{
#ifdef __x86_64__
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0ul);
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, 0ul, NULL);
#endif
}

#ifndef __cplusplus
#ifdef __GLIBC__
extern pid_t _Fork(void) __attribute__((weak));
#endif

/* By libc, where it has one, which then makes its own state new. */
static inline pid_t bare_fork(void)
{
#ifdef __GLIBC__
    if (_Fork)
        return _Fork();
#endif
    return raw_fork();
}
#endif

#endif
