/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time for a page's program, whatever else the machine does: usleep adds what it is
 * asked for to CLOCK_MONOTONIC, each read of that clock adds 20 ns, and nothing else
 * does. check.py preloads it. The kernel's clock is shown as hpet, so that gnomon
 * reads this clock and not the processor's counter. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READ_NS 20
#define USLEEP_MORE_NS 60000 /* as a kernel's timer adds */

static _Atomic long long now_ns = 1000000000;

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (id != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, id, out);
    long long ns = atomic_fetch_add(&now_ns, READ_NS);
    out->tv_sec = ns / 1000000000;
    out->tv_nsec = ns % 1000000000;
    return 0;
}

int usleep(useconds_t us)
{
    now_ns += us * 1000ll + USLEEP_MORE_NS;
    return 0;
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    unsigned mode = va_arg(rest, unsigned);
    va_end(rest);
    if (strstr(path, "/current_clocksource"))
        path = getenv("STEADY_CLOCK");
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
