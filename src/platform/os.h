/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What gnomon asks of the operating system. One file per system implements it;
 * callers never include a system header for these. */
#ifndef GNOMON_PLATFORM_OS_H
#define GNOMON_PLATFORM_OS_H

#include <stddef.h>
#include <stdint.h>

uint64_t gnomon__os_monotonic_ns(void);
uint64_t gnomon__os_unix_ns(void);

/* What the kernel measures time with ("tsc", "arch_sys_counter", "hpet"); ""
 * where it does not say. Opens a file: some 8 us, the first time in a boot more.
 * Leaves errno alone. */
void gnomon__os_clock_source(char *buffer, size_t size);
int64_t gnomon__os_pid(void);
int64_t gnomon__os_thread_id(void);

/* Fills `bytes`: unlike any other process's, but no secret. */
void gnomon__os_random(void *bytes, size_t size);

/* The calling thread's name as the system has it; always terminated. */
void gnomon__os_thread_name(char *buffer, size_t size);
void gnomon__os_host_name(char *buffer, size_t size);

/* Says that what is recorded from now on belongs to this process. Idempotent,
 * and what a forked child does before it records for itself. Returns the id of
 * the process that claimed before; 0: none. */
int64_t gnomon__os_claim(void);

/* Whether this process claimed; any that is forked, cloned or in a vfork from
 * it did not. Where nobody claimed it is true. A signal handler may ask; one
 * system call. */
int gnomon__os_is_owner(void);

/* Whether the memory is a copy that a child got, by a way that called no
 * handlers of forks. One load. */
int gnomon__os_is_copy(void);

/* Words that are 0 in every copy until somebody there changes them: whether the
 * run, and each lock that marks may meet, is as its owner left it. A thread of
 * the parent may have held a lock that nobody in the child gives back. */
enum gnomon__os_own_word {
    GNOMON__OS_OWN_RUN = 0,
    GNOMON__OS_OWN_MARKS = 1,
    GNOMON__OS_OWN_STEPS = 2,
    GNOMON__OS_OWN_WORDS = 3
};
extern uint32_t *gnomon__os_own;

/* Whether the host has all new pages filled and locked at once (mlockall with
 * MCL_FUTURE). Three system calls. */
int gnomon__os_locks_pages(void);

/* Pages of zeroes, taken when touched; NULL if there is no address space. Of a
 * megabyte or more they are not locked, whatever the host does with its own. */
void *gnomon__os_map(size_t bytes);
void gnomon__os_unmap(void *pages, size_t bytes);

/* Bytes that the process may still map under its limits (RLIMIT_AS and
 * RLIMIT_DATA); UINT64_MAX where it has none. Opens a file. */
uint64_t gnomon__os_mappable_bytes(void);

/* Whether the process runs with more rights than its user (setuid): then no
 * environment variable and no plugin is obeyed. */
int gnomon__os_is_secure(void);

/* A full memory barrier in every thread of the process that is running; the
 * heavy side of an asymmetric fence. _prepare once, early: it takes 10 to 40 ms
 * when there are other threads. _barrier returns 0 where the system has none:
 * then both sides fence. */
int gnomon__os_barrier_prepare(void);
int gnomon__os_barrier(void); /* both: 1, or 0 */

/* A thread of ours, all signals blocked, named `name`. 0, or an errno. *out is
 * its own until it is joined. */
typedef struct gnomon__os_thread {
    unsigned long handle;
    void (*run)(void *);
    void *argument;
    char name[16];
} gnomon__os_thread;
int gnomon__os_thread_start(gnomon__os_thread *out, const char *name,
                            void (*run)(void *), void *argument);
void gnomon__os_thread_join(gnomon__os_thread *thread);

/* How many threads of ours there are; none in a child that was forked, which
 * says so. */
uint32_t gnomon__os_thread_count(void);
void gnomon__os_threads_forget(void);

/* Waits until each thread of ours that was started is at work, for 0.1 s at most.
 * Before a fork: one that begins may hold a lock of an allocator that lets no
 * child out of it (AddressSanitizer's, TCMalloc's), and at work it holds none
 * unless it reports. */
void gnomon__os_threads_settle(void);

/* Whether the main thread has ended by itself and no thread is left but those
 * of ours: libc, which counts ours, would have ended the process. Three system
 * calls; 0 where the system does not tell. */
int gnomon__os_is_deserted(void);

/* Whether this is called inside a signal handler. A microsecond, or some with
 * signals blocked; `roughly`: a tenth of it, at the price of missing handlers
 * during which nothing is blocked. Takes no lock and no memory. */
int gnomon__os_in_handler(int roughly);

void gnomon__os_sleep_ns(uint64_t ns);

/* From _off to _back no pthread_cancel acts on the calling thread, neither where
 * the system waits nor, where the host asked for that, between any two
 * instructions; one that was asked for acts later. Pairs nest, and what _off
 * returned goes to its _back, last of all: an asynchronous one acts in there. A
 * handler may call them; some nanoseconds. */
int gnomon__os_cancel_off(void);
void gnomon__os_cancel_back(int before);

/* ---- Signals (os_signals.c) ------------------------------------------------- */

/* Has `handler` called for a signal whose action is the default; another is left
 * as it is, also the default of process 1, which does nothing. `again`: this is
 * what gnomon__os_die_in ordered. Idempotent; 1: it is caught now. */
int gnomon__os_catch(int number, void (*handler)(int number, int again));
/* Where it is still caught, the default again. A handler may call it. */
void gnomon__os_release(int number);

/* The end that the signal's default action is, on the calling thread; returns
 * only where that does nothing. A handler may call it. */
void gnomon__os_die(int number);
/* The same after `ns`, if the process still lives: the signal comes once more,
 * as `again` where it is caught. A handler may call it. */
void gnomon__os_die_in(int number, uint64_t ns);

/* A bell that a handler may ring. Waiting returns 1 when it rang, once for all
 * rings since, and 0 when the time is over, by the monotonic clock. */
void gnomon__os_bell_make(void);
void gnomon__os_bell_ring(void);
int gnomon__os_bell_wait(uint64_t ns);

/* Writes all of it to a file descriptor, through EINTR; no SIGPIPE reaches the
 * host. One that the host set not to block is waited for, but ETIMEDOUT once
 * two seconds pass without a byte. 0, or an errno. */
int gnomon__os_write(int fd, const void *bytes, size_t size);

/* 2 while that is the process's standard error, else -1: it was closed, and the
 * host's own file or socket may stand there by now. The first call settles what
 * standard error is; with $GNOMON set that is when the library is loaded. */
int gnomon__os_stderr(void);

/* How many columns the terminal has that standard error is; 0: it is none. */
unsigned gnomon__os_columns(void);

/* Makes the folders of a file that is to be, as _publish does. 0, or an errno. */
int gnomon__os_make_folders(const char *path);

/* Which file it is; all zero: none. */
typedef struct gnomon__os_file {
    uint64_t device, inode, size;
} gnomon__os_file;

/* Beside errnos, and larger than any. */
enum gnomon__os_trouble {
    GNOMON__OS_FOREIGN = 4096, /* a stranger's, where others may write */
    GNOMON__OS_UNREAD = 4097,  /* a stream that nobody reads any more */
    GNOMON__OS_IN_ROOT = 4098  /* a folder would have to be made in / */
};
/* The text of an errno, or of these. */
const char *gnomon__os_error_text(int error);

/* `gnomon run` names a file of its own in this variable, which processes that it
 * starts append to: a letter, a path where the letter has one, a NUL. */
#define GNOMON__NOTES "GNOMON_RUN_NOTES"
enum gnomon__note {
    GNOMON__NOTE_BEGUN = 'b',  /* a spec was read */
    GNOMON__NOTE_MARKED = 'm', /* a report came, or none is to come */
    GNOMON__NOTE_FILE = 'f'    /* written: its path */
};
/* Appends a note in one piece, the path (NULL: none) made absolute, where `file` is
 * this user's own regular file. What fails is left. */
void gnomon__os_note(const char *file, char note, const char *path);

/* Whether nothing is there. */
int gnomon__os_is_missing(const char *path);

/* Makes `path` hold these bytes: a temporary name beside it, created anew and
 * for its owner only, then renamed, so that a reader sees the old or the new
 * file whole. A link is replaced, not followed. Missing directories are made, but
 * of an absolute path none in the root (GNOMON__OS_IN_ROOT), where only a mistyped
 * path ends; a failure leaves nothing behind. A link to a directory is followed.
 * A device, a pipe, or a descriptor (/dev/stdout, /dev/fd/3) is no file to
 * replace: it is written to, ENXIO where nobody reads the pipe,
 * GNOMON__OS_UNREAD where gnomon__os_write waited in vain.
 * In a folder that others may write to, no link or pipe of a stranger is used,
 * and in a sticky one no file of a stranger is replaced: GNOMON__OS_FOREIGN. A
 * stranger is who is neither this process's user nor the folder's owner.
 * 0, or an errno. */
int gnomon__os_publish(const char *path, const void *bytes, size_t size);

/* Writes all of a file's bytes, with gnomon__os_write: 0, or an errno. It may be
 * called again, for another file. */
typedef int gnomon__os_make(int fd, const void *context);

/* The same of bytes that `make` writes, and so need not be in memory at once.
 * With `mine`, the file that this process put there last, one is spared that
 * another process put there after `since_unix_ns`, by the kernel's ticks (up to
 * 10 ms): EEXIST. */
int gnomon__os_publish_made(const char *path, gnomon__os_make *make,
                            const void *context, gnomon__os_file *mine,
                            uint64_t since_unix_ns);

/* Writes behind what this process put there last, `mine`, which it brings up to date;
 * to a stream, whatever it is. ENOENT: another file is there, or none. Where it
 * fails the file is as it was; a reader may meanwhile see some of what is new. */
int gnomon__os_append_made(const char *path, gnomon__os_make *make,
                           const void *context, gnomon__os_file *mine);

/* A file open for reading: a regular one, whose size is known. 0, or an errno:
 * EISDIR, or ESPIPE for what else there is; it waits for nobody. */
int gnomon__os_open(const char *path, int *fd, uint64_t *size);
/* All `size` bytes from `at`: 0, errno, or EIO where the file has become short. */
int gnomon__os_read_at(int fd, uint64_t at, void *bytes, size_t size);
void gnomon__os_close(int fd);

/* The whole of a regular file as a terminated string from gnomon__alloc, at most
 * `limit` bytes. 0, or an errno (EFBIG: longer, ESPIPE: not a regular file), and
 * *text is NULL. */
int gnomon__os_read_file(const char *path, size_t limit, char **text);

/* Shared libraries, always RTLD_LOCAL, never closed. NULL and a text, which is
 * valid until the thread's next call of these. Takes the loader's lock: hold
 * none of ours that a mark may wait for, as constructors mark. */
void *gnomon__os_library(const char *path, const char **why);
/* Whether any thread may be waiting for the loader: it adds 1 before it calls it, or
 * what may call it, and -1 after. */
void gnomon__os_loading(int by);
int gnomon__os_is_loading(void);
/* Whether the program is linked statically: it can load none, as a library would
 * bring a second libc, which nobody has set up. */
int gnomon__os_is_static(void);
void *gnomon__os_symbol(void *library, const char *name);
/* The same of one that is loaded already; NULL: it is not. */
void *gnomon__os_library_loaded(const char *name);

/* Keeps the module that holds `address` mapped for the life of the process, so
 * that static regions of a dlclosed module stay readable. A microsecond for a
 * new module, else a few loads. Takes the loader's lock: hold none of ours. */
void gnomon__os_pin_module(const void *address);
/* Whether what lies there stays mapped: in the program, once anything was pinned, or
 * in a module that was. A few loads; safe in a signal handler. */
int gnomon__os_is_pinned(const void *address);

/* Shows `found` each piece of the program and its modules that can be written to.
 * None of them is unmapped meanwhile. Takes the loader's lock of the list. */
void gnomon__os_writable_segments(void (*found)(uintptr_t begin,
                                                uintptr_t end));

/* Tells helgrind and drd that this word of 4 bytes is read and written by atomic
 * instructions alone. A few instructions where no such tool runs. */
void gnomon__os_atomic_word(const void *word);

/* Whether 8 bytes at `address` can be read, as the kernel sees it. */
int gnomon__os_can_read(const void *address);

/* Shows `found` the ELF notes of this name and type in all modules, in the order
 * of their loading, until it returns 1. Takes the loader's lock of the list,
 * which is not held while constructors run. */
void gnomon__os_notes(const char *name, uint32_t type,
                      int (*found)(const void *desc, size_t bytes, void *out),
                      void *out);

#endif
