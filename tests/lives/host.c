/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One life of a host; lives.py chooses and judges it. Each argument is an axis and the
 * name of an act of its table below:
 *
 *     set=        how gnomon is asked for, where that is not $GNOMON
 *     host=       what the host does to itself before it marks
 *     meanwhile=  what another thread does all the while
 *     act=        what it does as its first call and once more later
 *     with=       what another thread does at the same moment
 *     end=        how the process ends
 *
 * spec= has the words of set=, module= is a library made of this file, and pipe= is
 * where the host tells how often it marked each region, and what it found changed. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <gnomon.h>
#include <gnomon/profile.h>
#include <gnomon/tool.h>

#include "../programs/raw_fork.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define OPEN __attribute__((visibility("default")))

/* Has one of the two functions. `number` is for `with`, or how often `run` is repeated
 * meanwhile. */
struct act {
    const char *name;
    void (*run)(void);
    void (*with)(int number);
    int number;
};

static int told, quits, alive, immune, raises, loads;
static const char *spec = "", *module = "";

/* ---- Marks ---------------------------------------------------------------- */

/* The regions by who marks them. Nobody counts the last three: marks after the counts
 * were told, of children, and those that a thread is taken away from. */
enum {
    WORK,
    THREAD,
    SIGNALLED,
    SWITCHED,
    MODULE,
    ACT,
    LAST,
    LATE,
    CHILD,
    LEFT,
    ALL
};
#define REGION(name) GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, NULL, NULL)
static gnomon_region regions[ALL] = {
    REGION("work"),   REGION("thread"), REGION("signalled"), REGION("switched"),
    REGION("module"), REGION("act"),    REGION("last"),      REGION("late"),
    REGION("child"),  REGION("left")};
static int did[ALL], named;

static void changed(const char *what)
{
    dprintf(told, "changed %s\n", what);
}

static int is_over(void)
{
    return __atomic_load_n(&quits, __ATOMIC_ACQUIRE);
}

static void one(int which)
{
    which = is_over() ? LATE : which;
    errno = 77;
    gnomon_token token = gnomon_begin(&regions[which]);
    gnomon_end(token);
    if (errno != 77)
        changed("errno");
    __atomic_fetch_add(&did[which], 1, __ATOMIC_RELAXED);
}

static void some(int which)
{
    for (int i = 0; i < 20; i++)
        one(which);
}

static void work(void)
{
    some(WORK);
    for (int i = 0; i < 20; i++) {
        gnomon_start("named");
        gnomon_stop("named");
        named++;
    }
    gnomon_step();
}

static void mark_late(void)
{
    some(LATE);
}

static void on_signal(int number)
{
    int was = errno;
    (void)number;
    one(SIGNALLED);
    errno = was;
}

static void do_act(const struct act *act)
{
    if (act && act->run)
        act->run();
    else if (act)
        act->with(act->number);
}

/* ---- Threads --------------------------------------------------------------- */

/* Nobody joins them: where futex is refused, pthread_join ends the process. */
static void *thread_main(void *act)
{
    do_act((const struct act *)act);
    __atomic_fetch_sub(&alive, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int begin_thread(const struct act *act)
{
    pthread_attr_t how;
    pthread_t thread;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 256 << 10);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    __atomic_fetch_add(&alive, 1, __ATOMIC_RELAXED);
    int code =
        pthread_create(&thread, &how, thread_main, (void *)(uintptr_t)act);
    if (code)
        __atomic_fetch_sub(&alive, 1, __ATOMIC_RELAXED);
    pthread_attr_destroy(&how);
    return code == 0;
}

static void wait_for_threads(void)
{
    while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE) > 0)
        usleep(200);
}

/* ---- A profiler of the host's own -------------------------------------------- */

/* Prints rows as simple does. */
static int own_summary(void *self, const gnomon_profile *p,
                       const gnomon_writer *out)
{
    gnomon_node_info n;
    gnomon_region_info r;
    (void)self;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        if (n.host && !gnomon_profile_region(p, n.region, &r))
            out->print(out, "|  %s\t|  0\t|  %llu \t|\n", r.name,
                       (unsigned long long)n.host->count);
    return 0;
}

static void own_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    errno = EPERM;
    *slot = 5;
}

static void own_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self;
    (void)frame;
    if (*slot != 5)
        changed("slot");
}

static gnomon_profiler own(int reports)
{
    gnomon_profiler p;
    memset(&p, 0, sizeof p);
    p.struct_size = sizeof p;
    p.abi = GNOMON_ABI;
    p.name = "own";
    if (reports) {
        p.wants = GNOMON_WANT_TREE;
        p.summary = own_summary;
    } else {
        p.start = own_start;
        p.stop = own_stop;
    }
    return p;
}

/* ---- set= ------------------------------------------------------------------ */

static void refused_by(int code)
{
    if (code)
        dprintf(told, "refused %s\n", gnomon_error_text());
}

static void set_configure(void)
{
    refused_by(gnomon_attach(NULL, NULL, spec));
}

static void set_setup(void)
{
    gnomon_setup_options o;
    memset(&o, 0, sizeof o);
    o.struct_size = sizeof o;
    o.spec = spec;
    refused_by(gnomon_setup(&o));
}

static void set_attach(void)
{
    static int self;
    static gnomon_profiler p;
    p = own(1);
    refused_by(gnomon_attach(&p, &self, NULL));
}

static const struct act sets[] = {{"configure", set_configure, NULL, 0},
                                  {"setup", set_setup, NULL, 0},
                                  {"attach", set_attach, NULL, 0}};

/* ---- host= ----------------------------------------------------------------- */

static void cannot(void)
{
    _exit(77);
}

static void close_three(void)
{
    for (int i = 0; i < 3; i++)
        close(i);
}

/* A file of the first hundredths of a second is not told from one that the program was
 * started with (docs/inside/promises.md). */
static void own_three(void)
{
    static const char *const names[] = {"own0", "own1", "own2"};
    struct statx info;
    close_three();
    usleep(50000);
    for (int i = 0; i < 3; i++)
        if (open(names[i], O_RDWR | O_CREAT, 0600) != i)
            cannot();
    if (statx(2, "", AT_EMPTY_PATH, STATX_BTIME, &info) ||
        !(info.stx_mask & STATX_BTIME))
        cannot();
}

static void dead_stderr(void)
{
    int ends[2];
    if (pipe(ends))
        cannot();
    close(ends[0]);
    dup2(ends[1], 2);
    close(ends[1]);
}

static void full_stderr(void)
{
    int ends[2];
    if (pipe(ends))
        cannot();
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], &ends, sizeof ends) > 0)
        ;
    dup2(ends[1], 2);
    close(ends[1]);
}

static void change_root(void)
{
    if (mkdir("jail", 0777) || chroot("jail") || chdir("/"))
        cannot();
}

static void go_below(void)
{
    if (mkdir("below", 0777) || chdir("below"))
        cannot();
}

static void lose_folder(void)
{
    go_below();
    if (rmdir("../below"))
        cannot();
}

static void limit(int what, rlim_t value)
{
    struct rlimit r = {value, value};
    if (setrlimit((unsigned)what, &r))
        cannot();
}

static void limit_to_none(int what)
{
    limit(what, 0);
}

static void other_user(void)
{
    if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
        cannot();
}

static void no_processes(void)
{
    other_user();
    limit(RLIMIT_NPROC, 1);
}

static void little_room(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1)
        cannot();
    fclose(f);
    limit(RLIMIT_AS, (rlim_t)pages * 4096 + (16 << 20));
}

static void handle(int number, void (*how)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = how;
    action.sa_flags = flags;
    sigaction(number, &action, NULL);
}

static const int ends_by[] = {SIGTERM, SIGINT, SIGHUP};

static void take_signals(void (*how)(int))
{
    immune = 1;
    for (size_t i = 0; i < COUNT(ends_by); i++)
        handle(ends_by[i], how, SA_RESTART);
}

static void handle_signals(void)
{
    take_signals(on_signal);
}

static void ignore_signals(void)
{
    take_signals(SIG_IGN);
}

static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT(ends_by); i++)
        sigaddset(&set, ends_by[i]);
    immune = 1;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void other_stack(void)
{
    static char room[64 << 10];
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    sigaltstack(&stack, NULL);
    handle(SIGUSR1, on_signal, SA_ONSTACK);
    raises = SIGUSR1;
}

static void no_environment(void)
{
    clearenv();
}

static void other_locale(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "C.UTF-8");
}

static void no_rights_for_files(void)
{
    umask(0777);
}

static void lock_pages(void)
{
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        cannot();
}

static void no_dump(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

static void own_mounts(void)
{
    if (unshare(CLONE_NEWNS) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        cannot();
}

static void no_proc(void)
{
    own_mounts();
    if (umount2("/proc", MNT_DETACH))
        cannot();
}

static void full_disk(void)
{
    static char page[4096];
    own_mounts();
    if (mkdir("full", 0777) || mount("none", "full", "tmpfs", 0, "size=16k") ||
        chdir("full"))
        cannot();
    int file = open("filler", O_WRONLY | O_CREAT, 0600);
    while (write(file, page, sizeof page) > 0)
        ;
    close(file);
}

/* Which calls a filter refuses, by number of the act. */
static const int refused[][4] = {
#ifdef SYS_open
    {SYS_openat, SYS_open, -1, -1},
#else
    {SYS_openat, -1, -1, -1},
#endif
    {SYS_futex, -1, -1, -1},
    {SYS_madvise, -1, -1, -1},
    {SYS_membarrier, SYS_prctl, -1, -1},
    {SYS_clone, SYS_clone3, -1, -1},
    {SYS_rt_sigaction, SYS_tgkill, -1, -1},
    {SYS_mmap, SYS_mprotect, SYS_mremap, -1}};

static void refuse(int number)
{
    const int *calls = refused[number - 1];
    enum { MOST = COUNT(refused[0]) };
    struct sock_filter code[2 * MOST + 2];
    unsigned short n = 0;
    code[n++] = (struct sock_filter){BPF_LD | BPF_W | BPF_ABS, 0, 0, 0};
    for (int i = 0; i < MOST && calls[i] >= 0; i++) {
        code[n++] = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, 1,
                                         (uint32_t)calls[i]};
        code[n++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0,
                                         SECCOMP_RET_ERRNO | EPERM};
    }
    code[n++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        cannot();
}

/* Its environment is made by lives.py. */
static void no_act(int unused)
{
    (void)unused;
}

static const struct act hosts[] = {
    {"no-fds", close_three, NULL, 0},
    {"own-fds", own_three, NULL, 0},
    {"dead-stderr", dead_stderr, NULL, 0},
    {"full-stderr", full_stderr, NULL, 0},
    {"chroot", change_root, NULL, 0},
    {"chdir", go_below, NULL, 0},
    {"lost-folder", lose_folder, NULL, 0},
    {"no-file", NULL, limit_to_none, RLIMIT_NOFILE},
    {"no-size", NULL, limit_to_none, RLIMIT_FSIZE},
    {"other-user", other_user, NULL, 0},
    {"no-process", no_processes, NULL, 0},
    {"little-room", little_room, NULL, 0},
    {"handled", handle_signals, NULL, 0},
    {"ignored", ignore_signals, NULL, 0},
    {"blocked", block_signals, NULL, 0},
    {"altstack", other_stack, NULL, 0},
    {"clearenv", no_environment, NULL, 0},
    {"locale", other_locale, NULL, 0},
    {"umask", no_rights_for_files, NULL, 0},
    {"mlockall", lock_pages, NULL, 0},
    {"no-dump", no_dump, NULL, 0},
    {"no-proc", no_proc, NULL, 0},
    {"full-disk", full_disk, NULL, 0},
    {"bare-env", NULL, no_act, 0},
    {"no-open", NULL, refuse, 1},
    {"no-futex", NULL, refuse, 2},
    {"no-madvise", NULL, refuse, 3},
    {"no-membarrier", NULL, refuse, 4},
    {"no-clone", NULL, refuse, 5},
    {"no-sigaction", NULL, refuse, 6},
    {"no-mmap", NULL, refuse, 7}};

/* ---- Modules and children ------------------------------------------------------ */

extern
#ifdef __cplusplus
    "C"
#endif
    OPEN int
    module_use(int n);
int module_use(int n)
{
    for (int i = 0; i < n; i++) {
        gnomon_token t = gnomon_begin(&regions[MODULE]);
        gnomon_end(t);
    }
    return n;
}

static void use_module(void *library)
{
    int (*use)(int);
    void *symbol = library ? dlsym(library, "module_use") : NULL;
    memcpy(&use, &symbol, sizeof use);
    if (use)
        __atomic_fetch_add(&did[MODULE], use(3), __ATOMIC_RELAXED);
    if (library)
        dlclose(library);
}

static void load_module(void)
{
    use_module(dlopen(module, RTLD_NOW | RTLD_LOCAL));
}

static void load_apart(void)
{
#ifdef LM_ID_NEWLM
    use_module(dlmopen(LM_ID_NEWLM, module, RTLD_NOW | RTLD_LOCAL));
#endif
}

static void wait_for(pid_t child)
{
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && status)
        dprintf(told, "changed child: %d\n", status);
}

/* Its exit runs the handlers of exit, ours and gnomon's. While another thread loads
 * modules a child would wait for the locks of libc: of exit, and at a first mark. */
static void fork_child(void)
{
    if (loads)
        one(ACT);
    pid_t child = fork();
    if (child == 0) {
        some(CHILD);
        if (loads)
            _exit(0);
        exit(0);
    }
    wait_for(child);
}

/* A child without handlers of fork, that would need the loader's lock for a start. */
static void clone_child(void)
{
    one(ACT);
    pid_t child = raw_fork();
    if (child == 0) {
        some(CHILD);
        _exit(0);
    }
    wait_for(child);
}

/* ---- act= and with= -------------------------------------------------------------------- */

static void act_mark(void)
{
    some(ACT);
}

/* The first setup stays, so that no teardown is the outermost. */
static void act_setup(void)
{
    static int used;
    gnomon_setup(NULL);
    one(ACT);
    if (__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED))
        gnomon_teardown();
}

static void act_teardown(void)
{
    gnomon_teardown();
    gnomon_setup(NULL);
}

static void act_stage(void)
{
    gnomon_stage_begin("fit");
    one(ACT);
    gnomon_stage_end();
}

static void act_attach(void)
{
    static int selves[64], used;
    static gnomon_profiler p;
    int *self = &selves[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) % 64];
    gnomon_profiler mine = own(0);
    if (!p.struct_size)
        p = mine;
    if (gnomon_attach(&p, self, NULL))
        return;
    one(ACT);
    gnomon_detach(&p, self);
}

static int no_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)w;
    (void)bytes;
    (void)size;
    return 0;
}

static int no_text(const gnomon_writer *w, const char *format, ...)
{
    (void)w;
    (void)format;
    return 0;
}

static void act_summary(void)
{
    gnomon_writer w;
    memset(&w, 0, sizeof w);
    w.struct_size = sizeof w;
    w.write = no_bytes;
    w.print = no_text;
    gnomon_summary("simple", &w);
}

static void act_snapshot(void)
{
    gnomon_profile *p;
    if (!gnomon_snapshot(&p, "simple", 1))
        gnomon_profile_free(p);
}

static void act_thread(void)
{
    static const struct act marks = {"", act_mark, NULL, 0};
    begin_thread(&marks);
}

static void act_name(void)
{
    char name[16];
    snprintf(name, sizeof name, "thread %d", did[ACT] % 100);
    gnomon_thread_name(name);
    prctl(PR_SET_NAME, name);
    one(ACT);
}

static void act_step(void)
{
    one(ACT);
    gnomon_step();
}

static const struct act acts[] = {
    {"mark", act_mark, NULL, 0},         {"setup", act_setup, NULL, 0},
    {"teardown", act_teardown, NULL, 0}, {"configure", set_configure, NULL, 0},
    {"stage", act_stage, NULL, 0},       {"attach", act_attach, NULL, 0},
    {"summary", act_summary, NULL, 0},   {"snapshot", act_snapshot, NULL, 0},
    {"thread", act_thread, NULL, 0},     {"name", act_name, NULL, 0},
    {"step", act_step, NULL, 0},         {"fork", fork_child, NULL, 0},
    {"clone", clone_child, NULL, 0},     {"dlopen", load_module, NULL, 0},
    {"dlmopen", load_apart, NULL, 0}};

enum { SET, HOST, MEANWHILE, HERE, THERE, END, AXES };
static const struct act *chosen[AXES];
static int met, done;

static void meet(void)
{
    __atomic_fetch_add(&met, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < 1000 && __atomic_load_n(&met, __ATOMIC_ACQUIRE) < 2;
         i++)
        if (i > 100)
            usleep(10);
}

static void act_other(void)
{
    meet();
    do_act(chosen[THERE]);
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
}

static void act_at_once(void)
{
    static const struct act other = {"", act_other, NULL, 0};
    met = done = 0;
    int is_begun = chosen[THERE] && begin_thread(&other);
    if (is_begun)
        meet();
    do_act(chosen[HERE]);
    while (is_begun && !__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* ---- meanwhile= ------------------------------------------------------------------ */

static void mark_on(void)
{
    do {
        some(THREAD);
        usleep(50);
    } while (!is_over());
}

static void many_threads(void)
{
    static const struct act marks = {"", mark_on, NULL, 0};
    for (int i = 0; i < 4; i++)
        begin_thread(&marks);
}

static void mark_thread(void)
{
    some(THREAD);
}

/* Over the end of the process too. */
static void go_on(void)
{
    __atomic_fetch_sub(&alive, 1, __ATOMIC_RELEASE);
    for (;;) {
        some(LATE);
        usleep(20);
    }
}

/* At least once. */
static void go_on_meanwhile(void)
{
    const struct act *act = chosen[MEANWHILE];
    for (int i = 0; i == 0 || (i < act->number && !is_over()); i++) {
        act->run();
        usleep(50);
    }
}

static void begin_marking_thread(void)
{
    static const struct act marks = {"", mark_thread, NULL, 0};
    begin_thread(&marks);
}

static void left(void *unused)
{
    (void)unused;
    __atomic_fetch_sub(&alive, 1, __ATOMIC_RELEASE);
}

static void leave_inside(void)
{
    gnomon_token t = gnomon_begin(&regions[LEFT]);
    (void)t;
    pthread_cleanup_push(left, NULL);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static void begin_leaving_thread(void)
{
    static const struct act leaves = {"", leave_inside, NULL, 0};
    begin_thread(&leaves);
}

static void open_and_close(void)
{
    int file = open("/dev/null", O_RDONLY);
    usleep(20);
    if (file >= 0 && close(file))
        changed("descriptor");
}

/* Begun and ended by the host itself, as a timer is the process's. */
static void send_signals(int us)
{
    struct itimerval every = {{0, us}, {0, us}};
    setitimer(ITIMER_REAL, &every, NULL);
}

/* Coroutines that suspend inside a scope; two threads resume whichever is free. */
enum { ROUTINES = 4, SWITCHES = 20 };
static ucontext_t routine[ROUTINES], home[ROUTINES];
static int taken[ROUTINES], turns[ROUTINES];

static void be_routine(int i)
{
    for (;;) {
        gnomon_token token = gnomon_begin(&regions[SWITCHED]);
        swapcontext(&routine[i], &home[i]);
        gnomon_end_alone(token);
        __atomic_fetch_add(&did[SWITCHED], 1, __ATOMIC_RELAXED);
        swapcontext(&routine[i], &home[i]);
    }
}

static void resume_all(void)
{
    for (int round = 0; round < SWITCHES; round++) {
        for (int i = 0; i < ROUTINES; i++) {
            if (__atomic_exchange_n(&taken[i], 1, __ATOMIC_ACQUIRE))
                continue;
            if (turns[i] < SWITCHES && ++turns[i])
                swapcontext(&home[i], &routine[i]);
            __atomic_store_n(&taken[i], 0, __ATOMIC_RELEASE);
            one(THREAD);
        }
        usleep(20);
    }
    while (!is_over())
        usleep(100);
    one(THREAD); /* where ends of scopes that other threads ended are seen */
}

static void coroutines(void)
{
    static const struct act resumes = {"", resume_all, NULL, 0};
    static char stacks[ROUTINES][64 << 10];
    for (int i = 0; i < ROUTINES; i++) {
        getcontext(&routine[i]);
        routine[i].uc_stack.ss_sp = stacks[i];
        routine[i].uc_stack.ss_size = sizeof stacks[i];
        makecontext(&routine[i], (void (*)(void))be_routine, 1, i);
    }
    begin_thread(&resumes);
    resume_all();
}

static const struct act meanwhiles[] = {
    {"threads", many_threads, NULL, 0},
    {"come-and-go", begin_marking_thread, NULL, 50},
    {"leave", begin_leaving_thread, NULL, 20},
    {"go-on", go_on, NULL, 0},
    {"dlopen", load_module, NULL, 20},
    {"dlmopen", load_apart, NULL, 0},
    {"fork", fork_child, NULL, 10},
    {"clone", clone_child, NULL, 10},
    {"attach", act_attach, NULL, 50},
    {"stage", act_stage, NULL, 10},
    {"snapshot", act_snapshot, NULL, 20},
    {"names", act_name, NULL, 50},
    {"descriptors", open_and_close, NULL, 100},
    {"signals", NULL, send_signals, 500},
    {"coroutines", coroutines, NULL, 0}};

/* ---- end= ------------------------------------------------------------------------ */

static void end_exec(void)
{
    execl("/bin/sh", "sh", "-c", "echo executed; exit 9", (char *)0);
    _exit(7);
}

static void end_fork(void)
{
    fork_child();
    exit(7);
}

/* The child lives on without its parent. */
static void end_orphan(void)
{
    if (fork() != 0)
        _exit(7);
    usleep(2000);
    some(CHILD);
    exit(0);
}

static void end_exec_by_child(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(0);
    }
    wait_for(child);
    exit(7);
}

static void end_by_thread(void)
{
    static const struct act ends = {"", NULL, exit, 7};
    if (!begin_thread(&ends))
        exit(7);
    for (;;)
        pause();
}

static void mark_last(void)
{
    usleep(3000);
    for (int i = 0; i < 5; i++) {
        gnomon_token t = gnomon_begin(&regions[LAST]);
        gnomon_end(t);
    }
}

/* Main is not the last thread; the one that is marks 5 times more. */
static void end_main_thread(void)
{
    pthread_exit(NULL);
}

static void end_teardown(void)
{
    gnomon_teardown();
}

static void end_by_signal(int number)
{
    kill(getpid(), number);
    for (int i = 0; i < 3000 && (!immune || number == SIGKILL); i++)
        usleep(10000);
    exit(7);
}

static const struct act ends[] = {{"exit", NULL, exit, 7},
                                  {"quick_exit", NULL, quick_exit, 7},
                                  {"_exit", NULL, _exit, 7},
                                  {"abort", abort, NULL, 0},
                                  {"exec", end_exec, NULL, 0},
                                  {"vfork", end_exec_by_child, NULL, 0},
                                  {"fork", end_fork, NULL, 0},
                                  {"orphan", end_orphan, NULL, 0},
                                  {"thread", end_by_thread, NULL, 0},
                                  {"pthread_exit", end_main_thread, NULL, 0},
                                  {"teardown", end_teardown, NULL, 0},
                                  {"SIGTERM", NULL, end_by_signal, SIGTERM},
                                  {"SIGINT", NULL, end_by_signal, SIGINT},
                                  {"SIGHUP", NULL, end_by_signal, SIGHUP},
                                  {"SIGSEGV", NULL, end_by_signal, SIGSEGV},
                                  {"SIGKILL", NULL, end_by_signal, SIGKILL}};

/* ---- What must stay as it was ----------------------------------------------------- */

struct state {
    struct sigaction actions[32];
    sigset_t mask;
    stack_t stack;
    struct stat three[3];
    char folder[4096];
    mode_t umask;
};

static void read_state(struct state *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &s->actions[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    sigaltstack(NULL, &s->stack);
    for (int i = 0; i < 3; i++) {
        fstat(i, &s->three[i]);
        s->three[i].st_atim = s->three[i].st_mtim = s->three[i].st_ctim =
            (struct timespec){0, 0};
        s->three[i].st_size = s->three[i].st_blocks = 0;
    }
    if (!getcwd(s->folder, sizeof s->folder))
        s->folder[0] = 0;
    s->umask = umask(0);
    umask(s->umask);
}

static void compare_states(const struct state *was, const struct state *is)
{
    for (int i = 1; i < 32; i++)
        if (was->actions[i].sa_handler != is->actions[i].sa_handler &&
            (was->actions[i].sa_handler != SIG_DFL ||
             (i != SIGTERM && i != SIGINT && i != SIGHUP)))
            changed("handler");
    if (memcmp(&was->mask, &is->mask, sizeof is->mask))
        changed("mask");
    if (memcmp(&was->stack, &is->stack, sizeof is->stack))
        changed("stack");
    if (memcmp(was->three, is->three, sizeof is->three))
        changed("descriptors");
    if (strcmp(was->folder, is->folder))
        changed("folder");
    if (was->umask != is->umask)
        changed("umask");
}

/* ---- The life ----------------------------------------------------------------------- */

static const struct {
    const char *word;
    const struct act *table;
    size_t count;
} axes[] = {{"set=", sets, COUNT(sets)},
            {"host=", hosts, COUNT(hosts)},
            {"meanwhile=", meanwhiles, COUNT(meanwhiles)},
            {"act=", acts, COUNT(acts)},
            {"with=", acts, COUNT(acts)},
            {"end=", ends, COUNT(ends)}};

static const struct act *find(size_t axis, const char *name)
{
    for (size_t i = 0; i < axes[axis].count; i++)
        if (!strcmp(axes[axis].table[i].name, name))
            return &axes[axis].table[i];
    fprintf(stderr, "no %s%s\n", axes[axis].word, name);
    exit(78);
}

static const char *value(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncmp(text, word, length) ? NULL : text + length;
}

static void read_word(const char *text)
{
    const char *v;
    if ((v = value(text, "spec=")) != NULL)
        spec = v;
    else if ((v = value(text, "module=")) != NULL)
        module = v;
    else if ((v = value(text, "pipe=")) != NULL)
        told = atoi(v);
    for (size_t i = 0; i < COUNT(axes); i++)
        if ((v = value(text, axes[i].word)) != NULL) {
            chosen[i] = find(i, v);
            loads |= strncmp(v, "dl", 2) == 0;
        }
}

static void tell(void)
{
    static const char *const names[] = {
        "work", "thread", "signalled", "switched", "module", "act", "last"};
    static const struct act last = {"", mark_last, NULL, 0};
    if (chosen[END] && chosen[END]->run == end_main_thread &&
        begin_thread(&last))
        did[LAST] = 5;
    for (size_t i = 0; i < COUNT(names); i++)
        dprintf(told, "did %s %d\n", names[i], did[i]);
    dprintf(told, "did named %d\n", named);
}

extern
#ifdef __cplusplus
    "C"
#endif
    OPEN int
    life(int argc, char **argv);
int life(int argc, char **argv)
{
    static const struct act goes_on = {"", go_on_meanwhile, NULL, 0};
    static struct state was, is;
    for (int i = 1; i < argc; i++)
        read_word(argv[i]);
    for (size_t i = 0; i < COUNT(ends_by); i++)
        handle(ends_by[i], SIG_DFL,
               0); /* a shell may have let them be ignored */
    limit(RLIMIT_CORE, 0);
    handle(SIGALRM, on_signal, SA_RESTART);
    atexit(mark_late);
    if (chosen[END] && chosen[END]->run == end_main_thread)
        (void)dlopen("libgcc_s.so.1", RTLD_NOW); /* pthread_exit needs it */
    do_act(chosen[HOST]);
    read_state(&was);
    do_act(chosen[SET]);
    if (chosen[MEANWHILE] && chosen[MEANWHILE]->with) {
        one(WORK); /* the first mark may not be a handler's */
        do_act(chosen[MEANWHILE]);
    } else if (chosen[MEANWHILE])
        begin_thread(&goes_on);
    for (int i = 0; i < 2; i++) {
        act_at_once();
        work();
        if (raises)
            raise(raises);
    }
    send_signals(0);
    __atomic_store_n(&quits, 1, __ATOMIC_RELEASE);
    wait_for_threads();
    read_state(&is);
    compare_states(&was, &is);
    if (write(1, "lived\n", 6) < 0)
        errno = 0;
    tell();
    do_act(chosen[END]);
    return 7;
}

#ifndef LIVES_MODULE
int main(int argc, char **argv)
{
    return life(argc, argv);
}
#endif
