/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A test program: TEST(name) { CHECK(...); } as often as needed, and this
 * header, once in each of its files. Its main(): no argument runs every test, each in
 * its own process; --list prints their names, seconds, threads and labels; a name runs
 * that one (exit 0 passed, 1 failed, 77 skipped); the name of a file its tests. After a
 * failed CHECK the test goes on. */
#ifndef GNOMON_TEST_H
#define GNOMON_TEST_H

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the file, from the build: what stands before the names of its tests, and what
 * --list prints behind them. */
#ifndef TEST_SUITE
#define TEST_SUITE ""
#define TEST_WORDS "300 some"
#endif
#define TEST_ONCE __attribute__((weak)) /* one for all files of the program */

struct test_case {
    const char *name, *words;
    void (*run)(void);
    struct test_case *next;
};
TEST_ONCE struct test_case *test_first, **test_last;
TEST_ONCE int test_failures, test_skipped;

#define TEST(name) \
    static void test_run_##name(void); \
    static struct test_case test_case_##name = {TEST_SUITE #name, TEST_WORDS, \
                                                test_run_##name, 0}; \
    __attribute__((constructor)) static void test_add_##name(void) \
    { \
        *(test_last ? test_last : &test_first) = &test_case_##name; \
        test_last = &test_case_##name.next; \
    } \
    static void test_run_##name(void)

#define CHECK(cond) test_check(!!(cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) \
    test_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR(a, b) test_str(a, b, __FILE__, __LINE__, #a " == " #b)
#define SKIP(why) \
    do { \
        test_skipped = printf("skipped: %s\n", why); \
        return; /* from the TEST it stands in */ \
    } while (0)

static inline int test_check(int ok, const char *file, int line, const char *s)
{
    if (!ok && __atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED) < 20)
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, s);
    return ok;
}

static inline int test_eq(long long a, long long b, const char *f, int l,
                          const char *s)
{
    if (!test_check(a == b, f, l, s))
        fprintf(stderr, "    %lld, not %lld\n", a, b);
    return a == b;
}

static inline int test_str(const char *a, const char *b, const char *f, int l,
                           const char *s)
{
    int same = a == b || (a && b && strcmp(a, b) == 0);
    if (!test_check(same, f, l, s))
        fprintf(stderr, "    %s, not\n    %s\n", a ? a : "-", b ? b : "-");
    return same;
}

/* Runs one test in a fresh process: 0 passed, 1 failed, 2 skipped. */
static inline int test_spawn(const char *name)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0 && execl("/proc/self/exe", "test", name, (char *)0))
        _exit(127);
    if (child < 0 || waitpid(child, &status, 0) != child || status == 0)
        return status != 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 2 : 1;
}

/* The name of a test is "file.test", or where a program is one file, "test". */
static inline int test_fits(const struct test_case *t, const char *word)
{
    const char *dot = strrchr(t->name, '.');
    size_t length = strlen(word);
    return !strcmp(t->name, word) || (dot && !strcmp(dot + 1, word)) ||
           (!strncmp(t->name, word, length) && t->name[length] == '.');
}

TEST_ONCE int main(int argc, char **argv)
{
    static const char *const words[] = {"ok", "FAIL", "skip"};
    int list = argc == 2 && strcmp(argv[1], "--list") == 0, n[3] = {0, 0, 0};
    for (struct test_case *t = test_first; t; t = t->next) {
        if (list) {
            printf("%s %s\n", t->name, t->words);
        } else if (argc > 1 && strcmp(t->name, argv[1]) == 0) {
            t->run();
            return test_failures ? 1 : test_skipped ? 77 : 0;
        }
    }
    for (struct test_case *t = test_first; t && !list; t = t->next) {
        if (argc > 1 && !test_fits(t, argv[1]))
            continue;
        int result = test_spawn(t->name);
        fprintf(stderr, "%-4s %s\n", words[result], t->name);
        n[result]++;
    }
    if (!list)
        printf("%d passed, %d failed, %d skipped\n", n[0], n[1], n[2]);
    return n[1] != 0 || (!list && n[0] + n[2] == 0);
}

#endif
