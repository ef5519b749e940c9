/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A fork without pthread_atfork handlers. */
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

#endif
