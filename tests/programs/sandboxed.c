/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that enters a sandbox which kills it at any system call but read, write and
 * exit, and then marks in every way, also in a signal handler.
 *
 *     setup      it calls gnomon_setup before that
 *     detached   it has attached a profiler before, and detached it */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gnomon.h>
#include <gnomon/tool.h>

#define STRICT 1 /* SECCOMP_MODE_STRICT */

/* A signal without a system call. */
#if defined(__x86_64__)
#define TRAP() __asm__ volatile("int3" ::: "memory")
#else
#define TRAP() (void)0
#endif

static const gnomon_profiler keeper = {.struct_size = sizeof keeper,
                                       .abi = GNOMON_ABI,
                                       .wants = GNOMON_WANT_TREE,
                                       .name = "keeper"};

static void mark_all(gnomon_region *range)
{
    GNOMON_SCOPE("scope");
    GNOMON_SCOPE_IN("category", "inner");
    GNOMON_FUNCTION();
    GNOMON_MARK("mark");
    GNOMON_COUNTER("counter", 1);
    gnomon_start("action");
    gnomon_stop("action");
    gnomon_start_n("by length", 9);
    gnomon_stop_n("by length", 9);
    gnomon_range_end(gnomon_range_begin(range));
    gnomon_end_alone(gnomon_begin(range));
    gnomon_link link = gnomon_link_out();
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_step();
    gnomon_step_at(7);
    gnomon_thread_name("named");
}

static void mark_in_handler(int number)
{
    static gnomon_region handled =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "handled", NULL, NULL);
    (void)number;
    mark_all(&handled);
}

static void say(const char *line)
{
    if (write(1, line, strlen(line)) < 0)
        (void)syscall(SYS_exit, 3);
}

int main(int argc, char **argv)
{
    static gnomon_region range =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    struct sigaction act = {.sa_handler = mark_in_handler};
    const char *word = argc > 1 ? argv[1] : "";
    if (sigaction(SIGTRAP, &act, NULL))
        return 4;
    if (strcmp(word, "setup") == 0 && gnomon_setup(NULL))
        return 5;
    if (strcmp(word, "detached") == 0 &&
        (gnomon_attach(&keeper, NULL, NULL) || gnomon_detach(&keeper, NULL)))
        return 6;
    if (prctl(PR_SET_SECCOMP, STRICT, 0, 0, 0))
        return 77;
    say("begin\n");
    TRAP();
    mark_all(&range);
    mark_all(gnomon_region_get("by name", NULL, GNOMON_KIND_SCOPE));
    say("end\n");
    return (int)syscall(SYS_exit, 0);
}
