/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Signals and handlers that come before each system call of an attach or a detach in turn:
 * the program ends as it would have before that call or after it.
 * links: testing
 * labels: guest */
#include <sys/syscall.h>

#include "child.h"
#include "marks.h"
#include "os_calls.h"

static int is_in_place; /* attached before, and to be reported in any case */

static int summary(void *self, const gnomon_profile *p,
                   const gnomon_writer *out)
{
    (void)p;
    return out->print(out, "%s", (const char *)self);
}

static const gnomon_profiler early = {.struct_size = sizeof early,
                                      .abi = GNOMON_ABI,
                                      .wants = GNOMON_WANT_TREE,
                                      .name = "early",
                                      .summary = summary};
static char early_text[] = "early's report\n";

static void attach_spec(void)
{
    (void)gnomon_attach(NULL, NULL, "simple");
}

static void detach_spec(void)
{
    (void)gnomon_attach(NULL, NULL, "");
}

/* ---- At one call --------------------------------------------------------------- */

static uint64_t calls_left;
static void (*at_call)(void);

static void count_call(void)
{
    if (calls_left && --calls_left == 0)
        at_call();
}

static void send_signal(void)
{
    kill(getpid(), SIGTERM);
}

static volatile sig_atomic_t handled;

static void count_signal(int unused)
{
    (void)unused;
    handled++;
}

static void install_handler(void)
{
    struct sigaction action = {.sa_handler = count_signal};
    sigaction(SIGTERM, &action, NULL);
}

/* Exit statuses of a child. */
enum { HANDLED = 1, NOT_REACHED, LOST };

/* By system call: with a thread of ours ThreadSanitizer's _exit sleeps a second. */
static _Noreturn void end_child(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

static _Noreturn void be_child(uint64_t n, void (*act)(void),
                               void (*change)(void))
{
    *child_path = 0; /* the parent cleans up */
    alarm(100);
    dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644), 2);
    if (is_in_place)
        gnomon_attach(&early, early_text, NULL);
    if (change == detach_spec)
        attach_spec();
    gnomon_start("work");
    gnomon_stop("work");
    calls_left = n;
    at_call = act;
    gnomon__test_at_calls(count_call);
    change();
    gnomon__test_at_calls(NULL);
    if (calls_left)
        end_child(NOT_REACHED);
    if (act == install_handler)
        raise(SIGTERM);
    else
        pause();
    end_child(handled == 1 ? HANDLED : LOST);
}

/* The status, or 256 + the signal. */
static int run_child(uint64_t n, void (*act)(void), void (*change)(void))
{
    child_folder();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        be_child(n, act, change);
    return child_wait(child);
}

/* `act` at each call of `change`; returns how many there are. */
static uint64_t at_each_call(void (*act)(void), void (*change)(void),
                             int expected)
{
    for (uint64_t n = 1;; n++) {
        int status = run_child(n, act, change);
        if (status == NOT_REACHED)
            return n - 1;
        char *text = child_load("err");
        if (!CHECK_EQ(status, expected) ||
            !CHECK(!is_in_place || act == install_handler ||
                   times_in(text, early_text) == 1))
            fprintf(stderr, "    before call %d: %s\n", (int)n, text);
        free(text);
    }
}

/* ---- The tests ----------------------------------------------------------------- */

TEST(a_signal_is_not_lost)
{
    for (is_in_place = 0; is_in_place < 2; is_in_place++) {
        CHECK(at_each_call(send_signal, attach_spec, 256 + SIGTERM) > 5);
        CHECK(at_each_call(send_signal, detach_spec, 256 + SIGTERM) > 5);
    }
}

/* A host may install one between our look at the action and our change of it. */
TEST(a_handler_of_the_host_stays)
{
    for (is_in_place = 0; is_in_place < 2; is_in_place++) {
        CHECK(at_each_call(install_handler, attach_spec, HANDLED) > 5);
        CHECK(at_each_call(install_handler, detach_spec, HANDLED) > 5);
    }
}
