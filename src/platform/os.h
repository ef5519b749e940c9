/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What gnomon uses of the operating system. The os_*.c files implement it
 * for Linux; callers never include a system header for these. */
#ifndef GNOMON_PLATFORM_OS_H
#define GNOMON_PLATFORM_OS_H

#include <stddef.h>
#include <stdint.h>

#include "platform/atomic.h"

uint64_t gnomon__os_monotonic_ns(void);
uint64_t gnomon__os_unix_ns(void);

/* What the kernel measures time with ("tsc", "arch_sys_counter", "hpet"); ""
 * where it does not say. Opens a file: some 8 us, the first time in a boot more.
 * Leaves errno alone. */
void gnomon__os_clock_source(char *buffer, size_t size);
int64_t gnomon__os_pid(void);
int64_t gnomon__os_thread_id(void);

/* Fills `bytes` so that they differ from those of any other process; not
 * secret. */
void gnomon__os_random(void *bytes, size_t size);

/* The calling thread's name as the system has it, which is that long; "" where it does
 * not say. */
void gnomon__os_thread_name(char name[16]);
/* The name of another thread of this process, at most 15 bytes; `name` is unchanged if it
 * cannot be read. */
void gnomon__os_name_of_thread(int64_t id, char name[16]);
void gnomon__os_host_name(char name[256]);

/* Claims the memory: what is recorded from now on belongs to this process.
 * Idempotent; a forked child calls it before it records for itself. Returns
 * the id of the process that claimed before; 0: none. */
int64_t gnomon__os_claim(void);

/* Whether this process claimed; a process that was forked, cloned or vforked
 * from it did not. True where none claimed. Safe in a signal handler; one
 * system call. */
int gnomon__os_is_owner(void);

/* Whether the memory is a child's copy, made by a call that runs no fork
 * handlers. One load. */
int gnomon__os_is_copy(void);

/* Words that are 0 in every copy until the child changes them: the mask of who
 * claimed, and the number of the process, which locks (os_wait.h) are made in. A thread
 * of the parent may have held a lock that is never released in the child. */
enum { GNOMON__OS_OWN_RUN, GNOMON__OS_OWN_NUMBER, GNOMON__OS_OWN_WORDS };
GNOMON__DATA uint32_t *gnomon__os_own;

/* Whether the kernel wipes these words; 0: nobody has asked it yet. */
enum { GNOMON__OS_WIPED = 1, GNOMON__OS_NOT_WIPED = 2 };
GNOMON__DATA uint32_t gnomon__os_own_state;

/* The number of the process that owns this memory. It differs from its parent's, and
 * from that of every earlier process. */
#define GNOMON__OS_FIRST_NUMBER 1u
uint32_t gnomon__os_own_number_slow(uint32_t *word);
static inline __attribute__((always_inline)) uint32_t
gnomon__os_own_number(void)
{
    uint32_t *word = &load_acquire(&gnomon__os_own)[GNOMON__OS_OWN_NUMBER];
    uint32_t number = load_acquire(word);
    return likely(number) ? number : gnomon__os_own_number_slow(word);
}

/* In a fork's handler in the child: its locks are made new when they are taken next, also
 * where the kernel says that it wipes the page and does not, as an emulator's. Not later:
 * the child's threads may hold some by then. */
void gnomon__os_own_forget(void);

/* Before a lock is taken that a child must not find held: makes the words' page
 * unless it is there. */
void gnomon__os_own_page_slow(void);
static inline void gnomon__os_own_page(void)
{
    if (unlikely(!load_acquire(&gnomon__os_own_state)))
        gnomon__os_own_page_slow();
}

/* The same for callbacks of marks, in two loads, where this process or its parent is known
 * to have claimed. Where the kernel cannot wipe words in a child it is always 1, and
 * _runs_in_child tells, by the process id. */
int gnomon__os_runs_in_child(void);
static inline uint32_t
gnomon__os_own_mask(void) /* all bits, or in a copy none */
{
    return load_relaxed(&load_acquire(&gnomon__os_own)[GNOMON__OS_OWN_RUN]);
}
static inline int gnomon__os_runs_in_copy(void)
{
    return unlikely(!gnomon__os_own_mask()) ? 1 : 0;
}

/* Whether the host locks all new pages at once (mlockall with MCL_FUTURE).
 * Three system calls. */
int gnomon__os_locks_pages(void);

/* Pages of zeroes, allocated when touched; NULL if there is no address
 * space. A megabyte or more is not locked, even if the host locks its own
 * pages. */
void *gnomon__os_map(size_t bytes);
/* A page of zeroes that children share, whatever they write; NULL: there is none. */
void *gnomon__os_map_shared(void);
void gnomon__os_unmap(void *pages, size_t bytes);
/* Gives memory to pages of gnomon__os_map that nobody has touched yet. 0: there is none, or
 * the system cannot (Linux before 5.14). */
int gnomon__os_populate(void *pages, size_t bytes);

/* Bytes that the process may still map under its limits (RLIMIT_AS and
 * RLIMIT_DATA); UINT64_MAX where it has none. Opens a file. */
uint64_t gnomon__os_mappable_bytes(void);

/* Whether the process runs with more rights than its user (setuid): then
 * environment variables and plugins are ignored. */
int gnomon__os_is_secure(void);

/* A full memory barrier in every running thread of the process: the heavy
 * side of an asymmetric fence. _prepare once, early: it takes 10 to 40 ms
 * when there are other threads. _barrier returns 0 where the system has
 * none: then both sides need a fence. */
int gnomon__os_barrier_prepare(void);
int gnomon__os_barrier(void); /* both: 1, or 0 */

/* Starts a thread of ours, with all signals blocked and named `name`. 0, or
 * an errno. *out belongs to the thread until it is joined. */
typedef struct gnomon__os_thread {
    unsigned long handle;
    void (*run)(void *);
    void *argument;
    char name[16];
} gnomon__os_thread;
int gnomon__os_thread_start(gnomon__os_thread *out, const char *name,
                            void (*run)(void *), void *argument);
void gnomon__os_thread_join(gnomon__os_thread *thread);

/* Calls that the calling thread makes from here on, with 1, are ours and not the host's;
 * -1 ends it. Pairs nest. */
void gnomon__os_ours(int by);
/* Whether they are: always in a thread of ours. */
int gnomon__os_is_ours(void);

/* How many threads of ours there are. A forked child has none. */
uint32_t gnomon__os_thread_count(void);
/* From here on none is started: it would be the last thread for libc, which would
 * end the process as soon as it ends, in the middle of a report at exit. */
void gnomon__os_threads_end(void);

/* Waits until each thread of ours that was started is running, for 0.1 s at
 * most. Called before a fork: a thread that begins may hold the lock of an
 * allocator that does not release it in the child (AddressSanitizer's,
 * TCMalloc's); a running one holds none unless it writes a report. */
void gnomon__os_threads_settle(void);

/* 1: the main thread has ended by itself and only threads of ours are left:
 * without ours libc would have ended the process. -1: the main thread has
 * ended, and who is left is not for us to say: the system does not show it,
 * or this is a namespace. Then libc ends the process once ours are gone.
 * Else 0. Three system calls. */
int gnomon__os_is_deserted(void);

/* When the process began, up to 10 ms early; 0: the system does not say, or, with
 * `as_child`, it executed a program since it was forked. */
uint64_t gnomon__os_begun_unix_ns(int as_child);

/* Whether this runs inside a signal handler. One microsecond, or some with
 * signals blocked. With `roughly` a tenth of that, but it misses handlers
 * that block no signal. Takes no lock and no memory. */
int gnomon__os_in_handler(int roughly);

void gnomon__os_sleep_ns(uint64_t ns);

/* A call of a driver that does not come back for so long hangs, for those who wait for
 * the thread that makes it. Tests wait longer, as a busy machine may keep a thread from
 * running for a second; what is to hang gets a second there too. */
#define GNOMON__HANG_NS 1000000000ull
GNOMON__DATA uint64_t gnomon__test_hang_ns; /* only with GNOMON_TESTING */
uint64_t gnomon__hang_ns(void);

/* From _off to _back no pthread_cancel acts on the calling thread, neither
 * where the system waits nor, if the host asked for asynchronous
 * cancellation, between any two instructions; a cancel in between acts
 * later. The thread may then use all of libc, whichever libc started it. Pairs
 * nest. Pass what _off returned to its _back, last of all: an
 * asynchronous cancel acts inside it. Safe in a signal handler; some
 * nanoseconds. */
int gnomon__os_cancel_off(void);
void gnomon__os_cancel_back(int before);

/* For code that calls no cancellation point, so that only an asynchronous cancel could act
 * in it (waits of os_wait.h are none), and prints no number: puts off asynchronous cancels
 * alone. Costs next to nothing on a thread that allows none, as nearly all do. */
int gnomon__os_async_off(void);
void gnomon__os_async_back(int before);

/* ---- Signals (os_signals.c) ------------------------------------------------- */

/* Installs `handler` for a signal that has its default action, or is caught by a
 * run in another namespace, which gets it afterwards. Other actions are left
 * alone, and so are all signals of process 1, where the default does nothing.
 * `again`: the signal is from gnomon__os_die_in. Idempotent; 1: it is caught
 * now, -1: the system refuses it. */
int gnomon__os_catch(int number, void (*handler)(int number, int again));
/* Restores the action before if our handler is still installed. Safe in a
 * signal handler. */
void gnomon__os_release(int number);
/* The same of all that are caught. */
void gnomon__os_release_all(void);

/* Ends the process by the signal's default action, on the calling thread, or
 * passes the signal on to a run in another namespace, which does so. Returns
 * then, and if the action does nothing. Safe in a signal handler. */
void gnomon__os_die(int number);
/* The same after `ns` if the process still runs: the signal is sent again,
 * and a handler gets `again`. Safe in a signal handler. */
void gnomon__os_die_in(int number, uint64_t ns);

/* An event that a signal handler may set. _wait returns 1 if it was set,
 * once for all that set it since, and 0 when the time is over, by the
 * monotonic clock. */
void gnomon__os_bell_make(void);
void gnomon__os_bell_ring(void);
int gnomon__os_bell_wait(uint64_t ns);

/* Writes all bytes to a file descriptor, through EINTR; no SIGPIPE reaches
 * the host. Waits for a descriptor that does not block, but returns
 * ETIMEDOUT after two seconds without a byte. 0, or an errno. */
int gnomon__os_write(int fd, const void *bytes, size_t size);

/* Returns 2 while that is the process's standard error. -1 if it was closed:
 * a file or socket of the host may have that number by now. The first call
 * notes what standard error is; with $GNOMON set that is when the library is
 * loaded. */
int gnomon__os_stderr(void);

/* Columns of the terminal that is standard error; 0: it is no terminal. */
unsigned gnomon__os_columns(void);

/* Makes the missing folders of a path, as _publish_made does. 0, or an errno. */
int gnomon__os_make_folders(const char *path);

/* Identifies a file; all zero: none. */
typedef struct gnomon__os_file {
    uint64_t device, inode, size;
} gnomon__os_file;

/* Errors besides errnos, larger than any of them. */
enum gnomon__os_trouble {
    GNOMON__OS_FOREIGN = 4096, /* another user's, see _publish_made */
    GNOMON__OS_UNREAD = 4097,  /* a stream that nobody reads any more */
    GNOMON__OS_IN_ROOT = 4098  /* a folder would have to be made in / */
};
/* The text of an errno, or of one of these. */
const char *gnomon__os_error_text(int error);
/* What to do about it where a file cannot be written; `usual` where another path may help. */
const char *gnomon__os_error_advice(int error, const char *usual);

/* `gnomon run` names a file of its own in this variable, which processes that it
 * starts append to: a letter, a path where the letter has one, a NUL. */
#define GNOMON__NOTES "GNOMON_RUN_NOTES"
enum gnomon__note {
    GNOMON__NOTE_BEGUN = 'b',  /* a spec was read */
    GNOMON__NOTE_MARKED = 'm', /* a report came, or none is to come */
    GNOMON__NOTE_FILE = 'f'    /* written: its path */
};
/* Appends a note in one write, if `file` is a regular file of this user. The
 * path (NULL: none) is made absolute. Errors are ignored. */
void gnomon__os_note(const char *file, char note, const char *path);

/* Writes the working folder. 0; or -1: it is not known, or longer. */
int gnomon__os_folder(char *out, size_t size);

/* Whether nothing exists at the path. */
int gnomon__os_is_missing(const char *path);

/* Writes all of a file's bytes, with gnomon__os_write: 0, or an errno. It may be
 * called again, for another file. */
typedef int gnomon__os_make(int fd, const void *context);

/* Makes `path` hold what `make` writes. That goes to a temporary file next to
 * it, created for its owner only, which is then renamed, so that a reader sees
 * the old or the new file whole. A link is replaced, not followed; a link to a
 * directory is followed. Missing directories are made, except in the root of an
 * absolute path (GNOMON__OS_IN_ROOT), as that is mostly a mistyped path. A
 * failure leaves nothing behind.
 *
 * A device, a pipe, or a descriptor (/dev/stdout, /dev/fd/3) is written to, not
 * replaced: ENXIO where nobody reads the pipe, GNOMON__OS_UNREAD where
 * gnomon__os_write timed out.
 *
 * A stranger is neither this process's user nor the folder's owner. In a folder
 * that others may write to, no link or pipe of a stranger is used, and in a
 * sticky one no file of a stranger is replaced: GNOMON__OS_FOREIGN.
 *
 * `mine` is the file that this process put there last, or NULL. With it, a file
 * that another process put there after `since_unix_ns` is kept: EEXIST. One that
 * was not written by gnomon has a time of the kernel's ticks (up to 10 ms).
 *
 * 0, or an errno. */
int gnomon__os_publish_made(const char *path, gnomon__os_make *make,
                            const void *context, gnomon__os_file *mine,
                            uint64_t since_unix_ns);

/* Appends to `mine`, the file that this process put there last, and updates
 * `mine`; a stream is written to in any case. ENOENT: another file is there,
 * or none. On an error the file is as it was; meanwhile a reader may see
 * some of the new bytes. */
int gnomon__os_append_made(const char *path, gnomon__os_make *make,
                           const void *context, gnomon__os_file *mine);

/* Opens a regular file for reading and gives its size. 0, or an errno:
 * EISDIR, or ESPIPE for anything else; never waits. */
int gnomon__os_open(const char *path, int *fd, uint64_t *size);
/* All `size` bytes from `at`: 0, errno, or EIO where the file has become short. */
int gnomon__os_read_at(int fd, uint64_t at, void *bytes, size_t size);
void gnomon__os_close(int fd);
/* Another descriptor of the same file; -1: there are no more. */
int gnomon__os_open_again(int fd);

/* The beginning of a file that the kernel makes, with a NUL. Returns its length; 0
 * where it cannot be read. Keeps errno. */
size_t gnomon__os_read_small(const char *path, char *text, size_t size);

/* The whole of a regular file as a terminated string from gnomon__alloc, at most
 * `limit` bytes. 0, or an errno (EFBIG: longer, ESPIPE: not a regular file), and
 * *text is NULL. */
int gnomon__os_read_file(const char *path, size_t limit, char **text);

/* Loads a shared library, always RTLD_LOCAL, never closed. NULL and a text
 * that is valid until the thread's next call of these. Takes the loader's
 * lock: hold no lock that a mark may wait for, as constructors may mark. */
void *gnomon__os_library(const char *path, const char **why);
/* Likewise one that may be closed again, if it is of no use. */
void *gnomon__os_library_to_try(const char *path, const char **why);
void gnomon__os_library_close(void *library);
/* The path of library `name` in the folder of the module that contains `address`; NULL:
 * of this module. */
void gnomon__os_beside(const void *address, const char *name, char *path,
                       size_t size);
/* A count of threads that may wait for the loader: `by` is 1 before a call
 * that may reach it, and -1 after. */
void gnomon__os_loading(int by);
int gnomon__os_is_loading(void);
/* Around each call of libc's that takes the loader's locks, as those that start threads
 * do. 0: this is a child in which they may be held for ever: do not call, nor leave. */
int gnomon__os_loader_enter(void);
void gnomon__os_loader_leave(void);
/* Around a fork: its child finds no such call of another thread's under way, unless that
 * takes more than 0.1 s. */
void gnomon__os_loader_before_fork(void);
void gnomon__os_loader_after_fork(int in_child);
/* Whether the program is linked statically: it then loads no library, which
 * would bring a second libc that was not initialised. */
int gnomon__os_is_static(void);
/* Whether this copy was loaded by dlmopen, apart from the program. */
int gnomon__os_is_namespace(void);
/* Whether this copy was loaded by a program that ran already; also where it cannot be
 * told, as with musl's loader. */
int gnomon__os_is_late(void);
void *gnomon__os_symbol(void *library, const char *name);
/* A library that is loaded already; NULL: it is not. */
void *gnomon__os_library_loaded(const char *name);

/* Keeps the module that holds `address` mapped for the life of the process, so
 * that static regions of a dlclosed module stay readable. 0: there is none, or it was
 * closed meanwhile. A microsecond for a new module, else a few loads. Takes the loader's
 * lock: hold none of ours. */
int gnomon__os_pin_module(const void *address);
/* Whether the memory at `address` stays mapped: in the program, once
 * anything was pinned, or in a pinned module. A few loads; safe in a signal
 * handler. */
int gnomon__os_is_pinned(const void *address);

/* Calls `found` for each writable segment of the program and its modules.
 * None of them is unmapped meanwhile. Takes the loader's lock of the list. */
void gnomon__os_writable_segments(void (*found)(uintptr_t begin,
                                                uintptr_t end));

/* Tells helgrind and drd that this word of 4 bytes is read and written by atomic
 * instructions alone. A few instructions where no such tool runs. */
void gnomon__os_atomic_word(const void *word);

/* Whether 8 bytes at `address` can be read, as the kernel sees it. */
int gnomon__os_can_read(const void *address);

/* Calls `found` for the ELF notes of this name and type in all modules, in
 * the order of their loading, until it returns 1. Takes the loader's lock of
 * the list, which is not held while constructors run. */
void gnomon__os_notes(const char *name, uint32_t type,
                      int (*found)(const void *desc, size_t bytes, void *out),
                      void *out);

#endif
