/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one table of calls that reach the kernel or the loader and may fail.
 *
 * A source that makes such calls includes this header and makes them by their
 * own names. That costs nothing: only with GNOMON_TESTING do the names
 * below become the table's, and then a test makes the n-th call of one name, or
 * of all, fail (tests/run/test_faults.c). tests/imports lists what else the library
 * may call: a call that is in neither list fails there, so that nobody forgets
 * to add a line here.
 *
 * Not here is what fails only by a mistake of ours (pthread_join, mutexes, sets
 * of signals) and the heap, whose failures memory.h makes. */
#ifndef GNOMON_PLATFORM_OS_CALLS_H
#define GNOMON_PLATFORM_OS_CALLS_H

#ifdef GNOMON_TESTING

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__ /* whose getrlimit takes an enum */
typedef __rlimit_resource_t gnomon__resource;
#else
typedef int gnomon__resource;
#endif

/* One call in each line: its name, its return type, its value when it fails
 * with `error`, its usual error, its parameters, its arguments. A close that
 * fails has closed the descriptor, as on Linux. */
#define GNOMON__OS_CALLS(CALL) \
    CALL(atexit, int, error, ENOMEM, (void (*f)(void)), (f)) \
    CALL(clock_gettime, int, (errno = error, -1), EPERM, \
         (clockid_t clock, struct timespec * out), (clock, out)) \
    CALL(close, int, (close(fd), errno = error, -1), EIO, (int fd), (fd)) \
    CALL(dlinfo, int, -1, EINVAL, (void *library, int what, void *out), \
         (library, what, out)) \
    CALL(dlopen, void *, NULL, ENOMEM, (const char *file, int flags), \
         (file, flags)) \
    CALL(dlsym, void *, NULL, ENOENT, (void *library, const char *name), \
         (library, name)) \
    CALL(fcntl, int, (errno = error, -1), EBADF, (int fd, int what, int with), \
         (fd, what, with)) \
    CALL(fstat, int, (errno = error, -1), EIO, (int fd, struct stat *out), \
         (fd, out)) \
    CALL(fstatat, int, (errno = error, -1), EIO, \
         (int folder, const char *path, struct stat *out, int flags), \
         (folder, path, out, flags)) \
    CALL(ftruncate, int, (errno = error, -1), EIO, (int fd, off_t size), \
         (fd, size)) \
    CALL(futimens, int, (errno = error, -1), EPERM, \
         (int fd, const struct timespec times[2]), (fd, times)) \
    CALL(getcwd, char *, (errno = error, NULL), ENOENT, \
         (char *buffer, size_t size), (buffer, size)) \
    CALL(gethostname, int, (errno = error, -1), EPERM, \
         (char *name, size_t size), (name, size)) \
    CALL(getrandom, ssize_t, (errno = error, -1), EAGAIN, \
         (void *bytes, size_t size, unsigned flags), (bytes, size, flags)) \
    CALL(getrlimit, int, (errno = error, -1), EINVAL, \
         (gnomon__resource resource, struct rlimit * out), (resource, out)) \
    CALL(ioctl, int, (errno = error, -1), ENOTTY, \
         (int fd, unsigned long what, struct winsize *size), (fd, what, size)) \
    CALL(madvise, int, (errno = error, -1), EINVAL, \
         (void *at, size_t size, int advice), (at, size, advice)) \
    CALL(mincore, int, (errno = error, -1), ENOSYS, \
         (void *at, size_t size, unsigned char *out), (at, size, out)) \
    CALL(mkdirat, int, (errno = error, -1), EROFS, \
         (int folder, const char *path, mode_t mode), (folder, path, mode)) \
    CALL(mmap, void *, (errno = error, MAP_FAILED), ENOMEM, \
         (void *at, size_t size, int prot, int flags, int fd, off_t from), \
         (at, size, prot, flags, fd, from)) \
    CALL(mprotect, int, (errno = error, -1), ENOMEM, \
         (void *at, size_t size, int prot), (at, size, prot)) \
    CALL(munlock, int, (errno = error, -1), EPERM, \
         (const void *at, size_t size), (at, size)) \
    CALL(munmap, int, (errno = error, -1), ENOMEM, (void *at, size_t size), \
         (at, size)) \
    CALL(open, int, (errno = error, -1), EMFILE, \
         (const char *path, int flags, mode_t mode), (path, flags, mode)) \
    CALL(openat, int, (errno = error, -1), ENFILE, \
         (int folder, const char *path, int flags, mode_t mode), \
         (folder, path, flags, mode)) \
    CALL(poll, int, (errno = error, -1), ENOMEM, \
         (struct pollfd * files, nfds_t count, int ms), (files, count, ms)) \
    CALL(prctl, int, (errno = error, -1), EPERM, (int option, char *name), \
         (option, name)) \
    CALL(process_vm_readv, ssize_t, (errno = error, -1), EPERM, \
         (pid_t of, const struct iovec *to, unsigned long a, \
          const struct iovec *from, unsigned long b, unsigned long flags), \
         (of, to, a, from, b, flags)) \
    CALL(pthread_atfork, int, error, ENOMEM, \
         (void (*a)(void), void (*b)(void), void (*c)(void)), (a, b, c)) \
    CALL(pthread_create, int, error, EAGAIN, \
         (pthread_t * out, const pthread_attr_t *how, void *(*run)(void *), \
          void *argument), \
         (out, how, run, argument)) \
    CALL(pthread_key_create, int, error, EAGAIN, \
         (pthread_key_t * out, void (*end)(void *)), (out, end)) \
    CALL(pthread_setspecific, int, error, ENOMEM, \
         (pthread_key_t key, const void *value), (key, value)) \
    CALL(pthread_sigmask, int, error, EPERM, \
         (int how, const sigset_t *set, sigset_t *old), (how, set, old)) \
    CALL(pread, ssize_t, (errno = error, -1), EIO, \
         (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at)) \
    CALL(read, ssize_t, (errno = error, -1), EIO, \
         (int fd, void *bytes, size_t size), (fd, bytes, size)) \
    CALL(readlinkat, ssize_t, (errno = error, -1), EIO, \
         (int folder, const char *path, char *text, size_t size), \
         (folder, path, text, size)) \
    CALL(raise, int, (errno = error, -1), EPERM, (int number), (number)) \
    CALL(renameat, int, (errno = error, -1), EXDEV, \
         (int from, const char *name, int to, const char *new_name), \
         (from, name, to, new_name)) \
    CALL(sigaction, int, (errno = error, -1), EPERM, \
         (int number, const struct sigaction *want, struct sigaction *old), \
         (number, want, old)) \
    CALL(sigpending, int, (errno = error, -1), EPERM, (sigset_t * out), (out)) \
    CALL(sigtimedwait, int, (errno = error, -1), EPERM, \
         (const sigset_t *set, siginfo_t *out, const struct timespec *most), \
         (set, out, most)) \
    CALL(statx, int, (errno = error, -1), ENOSYS, \
         (int folder, const char *path, int flags, unsigned what, \
          struct statx *out), \
         (folder, path, flags, what, out)) \
    CALL(syscall, long, (errno = error, -1), ENOSYS, \
         (long number, long a, long b, long c, long d, long e), \
         (number, a, b, c, d, e)) \
    CALL(unlinkat, int, (errno = error, -1), EROFS, \
         (int folder, const char *path, int flags), (folder, path, flags)) \
    CALL(write, ssize_t, (errno = error, -1), ENOSPC, \
         (int fd, const void *bytes, size_t size), (fd, bytes, size))

#define GNOMON__OS_CALL_DECLARE(name, type, failed, usual, parameters, args) \
    type gnomon__test_##name parameters;
GNOMON__OS_CALLS(GNOMON__OS_CALL_DECLARE)
#undef GNOMON__OS_CALL_DECLARE

/* From now on the n-th call (1: the next) of `name` (NULL: of any) fails, and
 * those after it, `many` in all, with `error` (0: its usual one). n = 0: none
 * does. For a moment when no other thread of ours runs. */
void gnomon__test_fail_calls(const char *name, uint64_t n, uint64_t many,
                             int error);
/* From now on each call, of whichever thread, calls `act` first; NULL: none. */
void gnomon__test_at_calls(void (*act)(void));
/* Calls of that name since then. */
uint64_t gnomon__test_calls(void);
/* The i-th name of the table, from 0; NULL: there are no more. */
const char *gnomon__test_call_name(size_t i);

/* Arguments that the caller leaves out are 0. */
#ifndef GNOMON__OS_CALLS_THEMSELVES
#define GNOMON__TWO(a, b, ...) a, b
#define GNOMON__SIX(n, a, b, c, d, e, ...) \
    n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)
#define atexit(...) gnomon__test_atexit(__VA_ARGS__)
#define clock_gettime(...) gnomon__test_clock_gettime(__VA_ARGS__)
#define close(...) gnomon__test_close(__VA_ARGS__)
#define dlinfo(...) gnomon__test_dlinfo(__VA_ARGS__)
#define dlopen(...) gnomon__test_dlopen(__VA_ARGS__)
#define dlsym(...) gnomon__test_dlsym(__VA_ARGS__)
#define fcntl(fd, ...) gnomon__test_fcntl(fd, GNOMON__TWO(__VA_ARGS__, 0, 0))
#define fstat(...) gnomon__test_fstat(__VA_ARGS__)
#define fstatat(...) gnomon__test_fstatat(__VA_ARGS__)
#define ftruncate(...) gnomon__test_ftruncate(__VA_ARGS__)
#define futimens(...) gnomon__test_futimens(__VA_ARGS__)
#define getcwd(...) gnomon__test_getcwd(__VA_ARGS__)
#define gethostname(...) gnomon__test_gethostname(__VA_ARGS__)
#define getrandom(...) gnomon__test_getrandom(__VA_ARGS__)
#define getrlimit(...) gnomon__test_getrlimit(__VA_ARGS__)
#define ioctl(...) gnomon__test_ioctl(__VA_ARGS__)
#define madvise(...) gnomon__test_madvise(__VA_ARGS__)
#define mincore(...) gnomon__test_mincore(__VA_ARGS__)
#define mkdirat(...) gnomon__test_mkdirat(__VA_ARGS__)
#define mmap(...) gnomon__test_mmap(__VA_ARGS__)
#define mprotect(...) gnomon__test_mprotect(__VA_ARGS__)
#define munlock(...) gnomon__test_munlock(__VA_ARGS__)
#define munmap(...) gnomon__test_munmap(__VA_ARGS__)
#define open(path, ...) gnomon__test_open(path, GNOMON__TWO(__VA_ARGS__, 0, 0))
#define openat(folder, path, ...) \
    gnomon__test_openat(folder, path, GNOMON__TWO(__VA_ARGS__, 0, 0))
#define poll(...) gnomon__test_poll(__VA_ARGS__)
#define prctl(...) gnomon__test_prctl(__VA_ARGS__)
#define process_vm_readv(...) gnomon__test_process_vm_readv(__VA_ARGS__)
#define pthread_atfork(...) gnomon__test_pthread_atfork(__VA_ARGS__)
#define pthread_create(...) gnomon__test_pthread_create(__VA_ARGS__)
#define pthread_key_create(...) gnomon__test_pthread_key_create(__VA_ARGS__)
#define pthread_setspecific(...) gnomon__test_pthread_setspecific(__VA_ARGS__)
#define pthread_sigmask(...) gnomon__test_pthread_sigmask(__VA_ARGS__)
#define pread(...) gnomon__test_pread(__VA_ARGS__)
#define read(...) gnomon__test_read(__VA_ARGS__)
#define readlinkat(...) gnomon__test_readlinkat(__VA_ARGS__)
#define raise(...) gnomon__test_raise(__VA_ARGS__)
#define renameat(...) gnomon__test_renameat(__VA_ARGS__)
#define sigaction(...) gnomon__test_sigaction(__VA_ARGS__)
#define sigpending(...) gnomon__test_sigpending(__VA_ARGS__)
#define sigtimedwait(...) gnomon__test_sigtimedwait(__VA_ARGS__)
#define statx(...) gnomon__test_statx(__VA_ARGS__)
#define syscall(...) \
    gnomon__test_syscall(GNOMON__SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0))
#define unlinkat(...) gnomon__test_unlinkat(__VA_ARGS__)
#define write(...) gnomon__test_write(__VA_ARGS__)
#endif

#endif
#endif
