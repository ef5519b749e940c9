/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host that makes children in the way that its argument names; $GNOMON
 * decides what happens to their marks. Exit status 0: all children ended as
 * expected. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../sanitizer.h"
#include "raw_fork.h"
#include "reporter.h"

#define THREADS 8

extern char **environ;
static int all_good = 1, begun, stopping;

static void wait_for(pid_t child)
{
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        all_good = 0;
}

static void need(int truth)
{
    if (!truth)
        all_good = 0;
}

static int is_asleep(const char *task)
{
    char path[300], state = 'R';
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", task);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'R';
    if (f)
        fclose(f);
    return state == 'S';
}

static int others_are_asleep(void)
{
    char self[32];
    int all = 1;
    DIR *tasks = opendir("/proc/self/task");
    snprintf(self, sizeof self, "%d", (int)syscall(SYS_gettid));
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;)
        if (e->d_name[0] != '.' && strcmp(e->d_name, self) != 0)
            all &= is_asleep(e->d_name);
    if (tasks)
        closedir(tasks);
    return all;
}

/* A thread takes AddressSanitizer's locks as it begins, and a child made
 * then never gets them: gnomon's thread must have begun before. */
static void settle(void)
{
    while (IS_ASAN && !others_are_asleep())
        usleep(50);
}

static pid_t fork_when_settled(void)
{
    settle();
    return fork();
}

/* Also regions and names that are new in the child. */
static _Noreturn void live_as_child(long n)
{
    role = "child";
    work(n);
    {
        GNOMON_SCOPE("only in children");
        gnomon_thread_name("child");
        gnomon_start("an action of children");
        gnomon_stop("an action of children");
    }
    exit(all_good ? 0 : 3);
}

static void one(pid_t (*make)(void), long n)
{
    pid_t child = make();
    if (child == 0)
        live_as_child(n);
    wait_for(child);
}

/* ---- Without handlers ---------------------------------------------------- */

/* A clone without handlers, as some libraries make: it shares the parent's
 * memory. */
static void vfork_one(void)
{
    volatile pid_t child = vfork();
    if (child == 0) {
        work(5);
        if (gnomon_stage_end() != GNOMON_ESTATE ||
            gnomon_attach(NULL, NULL, "") != GNOMON_ESTATE)
            _exit(3);
        _exit(0);
    }
    wait_for(child);
}

/* ---- With other threads -------------------------------------------------- */

/* New names all the time keep the lock held nearly always. */
static void *meet_names(void *item)
{
    char name[64];
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
    for (long i = 0; !__atomic_load_n(&stopping, __ATOMIC_RELAXED); i++) {
        snprintf(name, sizeof name, "name %ld of %p", i % 2000, item);
        gnomon_start(name);
        gnomon_stop(name);
        work(1);
    }
    return NULL;
}

static void among_threads(pid_t (*make)(void), int times)
{
    pthread_t threads[THREADS];
    char items[THREADS]; /* names differ by their addresses */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, meet_names, &items[i]);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < THREADS)
        usleep(50);
    for (int i = 0; i < times; i++)
        one(make, 100);
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- From a thread, a callback, a handler -------------------------------- */

static void *fork_and_leave(void *unused)
{
    pid_t child = fork_when_settled();
    if (child == 0) {
        role = "child";
        work(7);
        pthread_exit(NULL); /* the child's last thread: it exits */
    }
    wait_for(child);
    return unused;
}

static pid_t from_inside;
static int fork_next;

static void fork_in_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self;
    (void)f;
    (void)slot;
    if (fork_next) {
        fork_next = 0;
        from_inside = fork();
    }
}

static const gnomon_profiler forking_hook = {
    .struct_size = sizeof forking_hook,
    .abi = GNOMON_ABI,
    .name = "forking",
    .start = fork_in_start,
    .stop = fork_in_start,
};

/* The child returns from the callback, and from open scopes. */
static void fork_in_callbacks(void)
{
    need(gnomon_attach(&forking_hook, NULL, NULL) == GNOMON_OK);
    for (int i = 0; i < 40; i++) {
        GNOMON_SCOPE("around");
        gnomon_start("inside");
        fork_next = 1;
        work(1);
        gnomon_stop("inside");
        if (from_inside == 0)
            live_as_child(20);
        wait_for(from_inside);
    }
    need(gnomon_detach(&forking_hook, NULL) == GNOMON_OK);
}

static volatile sig_atomic_t handler_forks, handler_child;

static void fork_in_handler(int number)
{
    int kept = errno;
    pid_t child = fork();
    (void)number;
    if (child == 0)
        handler_child = 1;
    else
        wait_for(child);
    handler_forks++;
    errno = kept;
}

static void *send_signals(void *to)
{
    for (int i = 0; i < 30; i++) {
        sig_atomic_t before = handler_forks;
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        while (handler_forks == before)
            usleep(50);
    }
    __atomic_store_n(&stopping, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void fork_in_handlers(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler};
    pthread_t sender, self = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&sender, NULL, send_signals, &self);
    while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
        work(1);
        if (handler_child)
            live_as_child(20);
    }
    pthread_join(sender, NULL);
}

/* ---- Servers, other programs --------------------------------------------- */

/* As data loaders do: several workers at a time mark and exit in both ways,
 * and each epoch has new ones. */
static void serve(void)
{
    for (int epoch = 0; epoch < 3; epoch++) {
        pid_t workers[4];
        GNOMON_SCOPE("epoch");
        for (int i = 0; i < 4; i++) {
            workers[i] = fork_when_settled();
            if (workers[i] == 0) {
                role = "child";
                work(10 + i);
                if (i & 1)
                    _exit(0);
                exit(0);
            }
        }
        work(5);
        for (int i = 0; i < 4; i++)
            wait_for(workers[i]);
    }
}

static void spawn_one(const char *program)
{
    char *const words[] = {(char *)(size_t)program, (char *)(size_t) "leaf",
                           NULL};
    pid_t child = -1;
    need(posix_spawn(&child, program, NULL, NULL, words, environ) == 0);
    wait_for(child);
}

static void exec_one(const char *program)
{
    pid_t child = fork_when_settled();
    if (child == 0) {
        work(3); /* forgotten */
        execl(program, program, "leaf", (char *)NULL);
        _exit(127);
    }
    wait_for(child);
}

/* ---- Children that call setup -------------------------------------------- */

static void ask(pid_t (*make)(void))
{
    const gnomon_setup_options options = {.struct_size = sizeof options,
                                          .spec = "reporter"};
    pid_t child = make();
    if (child == 0) {
        role = "child";
        work(50);
        need(gnomon_teardown() == GNOMON_ESTATE);
        need(gnomon_setup(&options) == GNOMON_OK);
        work(11);
        need(gnomon_teardown() == GNOMON_OK);
        exit(all_good ? 0 : 3);
    }
    wait_for(child);
}

static void tear_down_what_was_set_up_before(void)
{
    pid_t child;
    need(gnomon_setup(NULL) == GNOMON_OK);
    work(2);
    child = fork_when_settled();
    if (child == 0) {
        role = "child";
        work(9);
    }
    if (child)
        wait_for(child);
    need(gnomon_teardown() == GNOMON_OK);
}

/* A range and tokens of the parent end in the child, where new ones are
 * open: the parent's are ignored, not taken for the child's. */
static void strange_tokens(void)
{
    static gnomon_region range =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "range", NULL, NULL);
    static gnomon_region scope =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "work", NULL, NULL);
    gnomon_token t[3] = {gnomon_begin(&scope), gnomon_begin(&scope),
                         gnomon_begin(&scope)};
    gnomon_range r = gnomon_range_begin(&range);
    pid_t child = fork_when_settled();
    if (child == 0) {
        role = "child";
        gnomon_token mine = gnomon_begin(&scope);
        gnomon_range my_range = gnomon_range_begin(&range);
        gnomon_health h = {.struct_size = sizeof h};
        for (int i = 0; i < 3; i++)
            gnomon_end(t[i]);
        gnomon_range_end(r);
        gnomon_health_get(&h);
        need(h.unmatched == 1);
        gnomon_end(mine);
        gnomon_range_end(my_range);
        gnomon_health_get(&h);
        need(h.unmatched == 1 && h.threads == 1);
        exit(all_good ? 0 : 3);
    }
    wait_for(child);
    gnomon_range_end(r);
    for (int i = 3; i-- > 0;)
        gnomon_end(t[i]);
}

/* Both mark at once, more than memory has room for; children come at any moment of the
 * thread that writes what the parent marked. */
static void fork_during_a_stream(void)
{
    for (int i = 0; i < 3; i++) {
        work(20000);
        pid_t child = fork_when_settled();
        if (child == 0)
            live_as_child(60000);
        work(20000);
        wait_for(child);
    }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    pthread_t thread;
    gnomon_host_get()->add_profiler(&reporter);
    if (strcmp(word, "leaf") == 0) {
        role = "leaf";
        work(4);
        return 0;
    }
    work(100);
    settle();
    if (strcmp(word, "fork") == 0) {
        one(fork_when_settled, 20);
    } else if (strcmp(word, "grandchild") == 0) {
        pid_t child = fork_when_settled();
        if (child == 0) {
            one(fork_when_settled, 30);
            live_as_child(20);
        }
        wait_for(child);
    } else if (strcmp(word, "clone") == 0) {
        one(raw_fork, 20);
    } else if (strcmp(word, "vfork") == 0) {
        vfork_one();
    } else if (strcmp(word, "threads") == 0) {
        among_threads(fork, 30);
    } else if (strcmp(word, "clone among threads") == 0) {
        among_threads(raw_fork, 30);
    } else if (strcmp(word, "thread") == 0) {
        pthread_create(&thread, NULL, fork_and_leave, NULL);
        pthread_join(thread, NULL);
    } else if (strcmp(word, "callback") == 0) {
        fork_in_callbacks();
    } else if (strcmp(word, "handler") == 0) {
        fork_in_handlers();
    } else if (strcmp(word, "server") == 0) {
        serve();
    } else if (strcmp(word, "spawn") == 0) {
        spawn_one(argv[0]);
    } else if (strcmp(word, "exec") == 0) {
        exec_one(argv[0]);
    } else if (strcmp(word, "ask") == 0) {
        ask(fork_when_settled);
    } else if (strcmp(word, "ask after clone") == 0) {
        ask(raw_fork);
    } else if (strcmp(word, "teardown") == 0) {
        tear_down_what_was_set_up_before();
    } else if (strcmp(word, "moved") == 0) {
        need(mkdir("moved", 0777) == 0 && chdir("moved") == 0);
        one(fork_when_settled, 20);
    } else if (strcmp(word, "tokens") == 0) {
        strange_tokens();
    } else if (strcmp(word, "stream") == 0) {
        fork_during_a_stream();
    } else {
        return 9;
    }
    return all_good ? 0 : 1;
}
