/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libgnomon-malloc.so before programs: what each call of the heap is marked as, and that
 * the program notices nothing. */
#include "child.h"
#include "program.h"
#include "sanitizer.h"

#define LIBRARY TEST_BINARY_DIR "/../libgnomon-malloc.so"
#define NEEDS_MALLOC \
    do { \
        if (IS_SANITIZED) \
            SKIP("a sanitizer has a malloc of its own"); \
        child_folder(); \
    } while (0)

static child_result preloaded(const char *program, const char *spec,
                              const char *word)
{
    char environment[1024];
    snprintf(environment, sizeof environment, "%s%s\nLD_PRELOAD=" LIBRARY,
             spec ? "GNOMON=" : "NONE", spec ? spec : "=");
    child_result r =
        child_run(program, environment, (const char *const[]){word, NULL});
    if (!CHECK_EQ(r.status, 0))
        fprintf(stderr, "%s", r.err);
    return r;
}

/* The rows of all calls, with the bytes asked for. The block that a realloc leaves counts as
 * large as the heap has made it. */
static void check_calls(const char *text)
{
    CHECK(strstr(text, ",malloc,,malloc,1,1,10,10,10,"));
    CHECK(strstr(text, "calloc,,malloc,1,1,15,15,15,"));
    CHECK(strstr(text, "posix_memalign,,malloc,1,1,1000,1000,1000,"));
    CHECK(strstr(text, "aligned,,malloc,2,2,168,168,168,"));
    CHECK(strstr(text, ",realloc,,malloc,4,4,"));
    CHECK(strstr(text, "keep,,malloc,1,0,4321,4321,0,"));
}

#define MALLOCS CHILD_PROGRAM("mallocs")

TEST(each_call_is_marked_in_its_scope)
{
    NEEDS_MALLOC;
    child_result r = preloaded(MALLOCS, "memory(format=csv)", "");
    check_calls(r.err);
    CHECK(!strstr(r.err, "marks made inside gnomon"));
    CHECK(strstr(r.err, ",(outside),,malloc,")); /* of constructors */
}

TEST(memory_is_there_before_the_real_heap_is_known)
{
    NEEDS_MALLOC;
    child_result r =
        child_run(CHILD_PROGRAM("mallocs_early"), "LD_PRELOAD=" LIBRARY,
                  (const char *const[]){NULL});
    if (r.status == 77)
        SKIP("this C library has no dlsym of GLIBC_2.34");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, "");
}

TEST(threads_lose_nothing)
{
    NEEDS_MALLOC;
    child_result r = preloaded(MALLOCS, "memory(format=csv)", "threads");
    check_calls(r.err);
    CHECK(strstr(r.err, "work,,malloc,100000,100000,2450000,2450000,2450000,"));
}

TEST(a_forked_child_has_its_own)
{
    NEEDS_MALLOC;
    child_result r =
        preloaded(MALLOCS, "memory(format=csv),fork=follow", "fork");
    check_calls(r.err);
    CHECK(strstr(r.err, "child,,malloc,1,1,55,55,55,"));
}

TEST(where_nobody_records_memory_nothing_is_said)
{
    NEEDS_MALLOC;
    CHECK_STR(preloaded(MALLOCS, NULL, "threads").err, "");
    CHECK(!strstr(preloaded(MALLOCS, "simple", "").err, "malloc,,malloc"));
}

/* Its copy of gnomon starts long after ours, whose mark would come inside of it. */
TEST(a_program_may_attach_by_itself)
{
    NEEDS_MALLOC;
    child_result r = preloaded(MALLOCS, NULL, "attach");
    check_calls(r.err);
    CHECK(!strstr(r.err, "(outside)"));
}

/* Nor is what gnomon's second copy, the program's, takes from the loader. */
TEST(exit_handlers_of_the_program_are_recorded)
{
    NEEDS_MALLOC;
    child_result r = preloaded(MALLOCS, "memory(format=csv)", "exit");
    check_calls(r.err);
    CHECK(strstr(r.err, ",(outside),,malloc,1,0,77,77,"));
    CHECK(strstr(r.err, ",handler,,malloc,1,1,66,66,66,"));
    CHECK(strstr(r.err, ",end,,malloc,1,2,88,88,165,"));
}

static child_result by_request(const char *program, const char *word)
{
    child_result r =
        child_run(program, NULL, (const char *const[]){word, NULL});
    if (!CHECK_EQ(r.status, 0))
        fprintf(stderr, "%s%s", r.out, r.err);
    return r;
}

TEST(a_program_marks_its_own_by_request)
{
    child_folder();
    child_result r = by_request(MALLOCS, "watch");
    check_calls(r.err);
    if (IS_SANITIZED)
        CHECK_EQ(times_in(r.err, "gnomon: malloc: this program has a "
                                 "sanitizer: "),
                 1);
    else
        CHECK(strstr(r.err, "text,,malloc,1,1,17,17,17,"));
    CHECK(!strstr(r.err, "detached,"));
    CHECK(!strstr(r.err, "marks made inside gnomon"));
    r = by_request(MALLOCS, "watchthreads");
    CHECK(strstr(r.err, "work,,malloc,100000,100000,2450000,2450000,2450000,"));
    r = by_request(MALLOCS, "watchexit");
    CHECK(strstr(r.err, ",handler,,malloc,1,1,66,66,66,"));
    r = by_request(MALLOCS, "watchcontrol");
    CHECK(strstr(r.err, ",after,,malloc,1,1,6,6,6,"));
    CHECK(!strstr(r.err, "control,,malloc,1"));
}

TEST(a_library_that_is_loaded_later_is_covered_by_another_call)
{
    child_folder();
    child_result r = by_request(MALLOCS, "late");
    check_calls(r.err);
    CHECK(strstr(r.err, ",covered,,malloc,1,1,501,501,501,"));
    CHECK(!strstr(r.err, ",loaded,,malloc,1"));
}

/* The child's marks are in its own report, which comes first. */
TEST(a_process_forks_after_the_request)
{
    NEEDS_THREADS_AFTER_FORK();
    child_folder();
    child_result r = by_request(MALLOCS, "watchfork");
    CHECK_EQ(times_in(r.err, ",child,,malloc,1,1,55,55,55,"), 1);
    const char *parent = strstr(r.err, ",keep,,malloc,1,0,4321,4321,0,");
    CHECK(parent && strstr(r.err, ",child,") < parent);
    CHECK_EQ(times_in(r.err, ",keep,,malloc,1,0,4321,"), 1);
    r = by_request(MALLOCS, "watchforks");
    check_calls(r.err);
    CHECK(strstr(r.err, ",forks,,malloc,40,40,1280,1280,1280,"));
}

/* Preloaded and by request. */
static void check_word(const char *word, const char *row)
{
    char watch[32];
    snprintf(watch, sizeof watch, "watch%s", word);
    for (int i = IS_SANITIZED; i < 2; i++) {
        child_result r = i ? by_request(MALLOCS, watch)
                           : preloaded(MALLOCS, "memory(format=csv)", word);
        check_calls(r.err);
        if (!CHECK(strstr(r.err, row)))
            fprintf(stderr, "%s", r.err);
    }
}

TEST(a_handler_takes_memory_amid_marks)
{
    child_folder();
    check_word("handler", ",handler,,malloc,");
}

/* What comes after gnomon's own end of the thread is counted by a line. */
TEST(a_thread_takes_memory_as_it_ends)
{
    if (IS_TSAN)
        SKIP("the sanitizer has ended the thread before");
    child_folder();
    check_word("thread", ",ending,,malloc,10,10,640,640,640,");
}

TEST(a_child_of_vfork_takes_memory)
{
    NEEDS_THREADS_AFTER_FORK(); /* the sanitizer makes it a fork */
    child_folder();
    check_word("vfork", ",vfork,,malloc,2,2,45,45,45,");
}

TEST(mimallocs_own_calls_are_marked)
{
    NEEDS_MALLOC;
    const char *program = CHILD_PROGRAM("mallocs_mi");
    if (access(program, X_OK) != 0)
        SKIP("mimalloc is not installed");
    for (int i = 0; i < 2; i++) {
        child_result r = i ? by_request(program, "watch")
                           : preloaded(program, "memory(format=csv)", NULL);
        CHECK(strstr(r.err, "take,,malloc,9,9,45,45,45,"));
        CHECK(strstr(r.err, "aligned,,malloc,7,7,700,700,700,"));
        CHECK(strstr(r.err, "move,,malloc,7,7,2800,2800,2800,"));
        CHECK(strstr(r.err, "copy,,malloc,2,2,7,7,7,"));
    }
}

TEST(a_program_in_cpp_is_recorded)
{
    NEEDS_MALLOC;
    child_result r =
        preloaded(CHILD_PROGRAM("mallocs_cpp"), "memory(format=csv)", "");
    CHECK(strstr(r.err, ",new,,malloc,"));
    CHECK(strstr(r.err, ",hold,,malloc,1,0,555,555,0,"));
}

TEST(a_program_at_a_fixed_address_is_recorded)
{
    NEEDS_MALLOC;
    child_result r =
        preloaded(CHILD_PROGRAM("mallocs_fixed"), "memory(format=csv)", "");
    CHECK(strstr(r.err, ",fixed,,malloc,1,1,1234,1234,1234,"));
    r = by_request(CHILD_PROGRAM("mallocs_fixed"),
                   "memory(format=csv),malloc(in=taking)");
    CHECK(strstr(r.err, ",library,,malloc,1,1,401,401,401,"));
    r = by_request(CHILD_PROGRAM("mallocs_fixed"), "memory(format=csv),malloc");
    CHECK(strstr(r.err, ",library,,malloc,2,2,803,803,803,"));
}

/* What `gnomon run --malloc` with the words says and prints, as one text. */
static const char *run_with_malloc(const char *words)
{
    child_result r = shell("$G run --malloc %s 2>&1", words);
    CHECK_EQ(r.status, 0);
    return r.out;
}

TEST(run_preloads_it_and_chooses_the_report)
{
    NEEDS_MALLOC;
    NEEDS_PROGRAM;
    check_calls(run_with_malloc("-p 'memory(format=csv)' " MALLOCS));
    CHECK(strstr(run_with_malloc(MALLOCS), "Memory (bytes)"));
    child_result r = shell("LD_PRELOAD=/none.so $G run --malloc -p off "
                           "sh -c 'echo $LD_PRELOAD' 2>/dev/null");
    CHECK(strstr(r.out, "libgnomon-malloc.so:/none.so\n"));
}

/* Executables by the bytes that say what they are; they cannot run. */
TEST(run_says_which_programs_it_leaves_alone)
{
    NEEDS_MALLOC;
    NEEDS_PROGRAM;
    static const struct {
        const char *bytes, *why;
    } programs[] = {
        {"\\177ELF", "it is linked statically"},
        {"\\177ELF/lib/ld-linux.so\\0libasan.so.8\\0",
         "it is built with a sanitizer, which has a malloc of its own"},
#ifdef __GLIBC__
        {"\\177ELF/lib/ld-musl-x86_64.so.1\\0",
         "it is of another C library than gnomon"},
#endif
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        child_result r = shell("printf '%s' >odd; chmod +x odd; "
                               "$G run --malloc ./odd 2>&1",
                               programs[i].bytes);
        char line[256];
        snprintf(line, sizeof line,
                 "gnomon: --malloc: ./odd: %s: its malloc is not recorded\n",
                 programs[i].why);
        CHECK_EQ(times_in(r.out, line), 1);
    }
}

/* Run by a user who has fewer rights; its folder may refuse that (nosuid). */
TEST(a_setuid_program_says_that_it_is_left_alone)
{
    NEEDS_MALLOC;
    NEEDS_PROGRAM;
    if (geteuid() != 0 ||
        system("cp '" CHILD_PROGRAM("host") "' odd && "
                                            "chmod 4755 odd && chmod 777 ."))
        SKIP("only root can give rights away");
    child_result r =
        shell("setpriv --reuid=65534 --clear-groups "
              "$G run --malloc ./odd secure configure=malloc 2>&1");
    if (!strstr(r.out, "secure 1"))
        SKIP("only root can give rights away: no setpriv, or nosuid");
    CHECK_EQ(times_in(r.out, "gnomon: --malloc: ./odd: it has more rights than "
                             "its user, so the loader preloads nothing: its "
                             "malloc is not recorded\n"),
             1);
    CHECK_EQ(times_in(r.out, "configure: GNOMON_ESTATE: gnomon_attach: plugin "
                             "libgnomon-malloc.so is not loaded: this program "
                             "runs with more rights than its user\n"),
             1);
}

/* What control calls take, for a report and its file. */
TEST(what_gnomon_takes_is_not_marked)
{
    NEEDS_MALLOC;
    child_result r = preloaded(MALLOCS, "memory(format=csv)", "control");
    CHECK(strstr(r.err, ",after,,malloc,1,1,6,6,6,"));
    CHECK(!strstr(r.err, "control,,malloc,1"));
    CHECK(strstr(r.err, "\n,control,,malloc,,,,6,")); /* only with below */
    CHECK(!strstr(r.err, "marks made inside gnomon"));
}
