/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Damaged files, missing ones, missing memory, and no jansson: JSON is read or
 * gives an error, and nothing crashes.
 * links: testing
 * threads: none
 * needs: cli */
#include "json_form.h"
#include "command/inputs.h"
#include "platform/memory.h"
#include "full_profile.h"
#if GNOMON_WITH_JANSSON
#include <jansson.h>
#endif

/* Cut or damaged anywhere, a file is an error or another profile. */
TEST(damaged_files_do_no_harm)
{
    NEEDS_JANSSON();
    gnomon_profile *p = full_of("0");
    char *text = json_of(p);
    size_t n = strlen(text);
    gnomon_profile_free(p);
    uint64_t before = gnomon__heap_bytes();
    for (size_t i = 0; i + 1 < n; i++) { /* but for its last newline */
        char *cut = memcpy(malloc(i + 1), text, i);
        CHECK(gnomon__json_read(&p, cut, i) == GNOMON_EINVAL && !p);
        free(cut);
        char kept = text[i];
        text[i] = "0-\"]}\xff"[i % 6];
        gnomon__json_read(&p, text, n);
        gnomon_profile_free(p);
        text[i] = kept;
    }
    CHECK_EQ(gnomon__heap_bytes(), before);
    free(text);
}

/* ---- Without memory, files, or jansson ------------------------------------------ */

#if GNOMON_WITH_JANSSON
/* jansson's allocations, except the one that enlarges its token buffer: 2.14
 * does not check it. */
static void *tree_alloc(size_t size)
{
    if (size >= 32 && (size & (size - 1)) == 0)
        return malloc(size);
    void *own = malloc(size);
    if (own && gnomon__test_allocation_fails()) {
        free(own);
        own = NULL;
    }
    return own;
}

/* Fills an error that jansson leaves empty: each byte says that a number is
 * too large, as jansson leaves it when it could not begin to read. */
static __attribute__((noinline)) void leave_errors_on_the_stack(void)
{
    volatile char left[16384];
    for (size_t i = 0; i < sizeof left; i++)
        left[i] = json_error_numeric_overflow;
}

static void check_without_memory(const char *text)
{
    int failed = 1, codes = 0;
    uint64_t before = gnomon__heap_bytes();
    for (uint32_t n = 1; failed && n < 20000; n++) {
        gnomon_profile *p;
        leave_errors_on_the_stack();
        gnomon__test_fail_allocation(n);
        int code = gnomon__json_read(&p, text, strlen(text));
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        codes += code == (failed ? GNOMON_ENOMEM : GNOMON_OK);
        CHECK_EQ(codes, n);
        CHECK(!code == (p != NULL));
        CHECK(!code || strstr(gnomon_error_text(), "no memory"));
        gnomon_profile_free(p);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    CHECK(!failed);
}

TEST(any_allocation_may_fail)
{
    gnomon_profile *p = full_of("0");
    char *text = json_of(p);
    gnomon_profile_free(p);
    json_set_alloc_funcs(tree_alloc, free);
    check_without_memory(text);
    check_without_memory(
        "{\"gnomon\": 1, \"tracks\": [{}], \"regions\": [{\"name\": \"r\"}], "
        "\"metadata\": [{\"key\": \"k\", \"value\": {\"a\": [1]}}], "
        "\"stages\": [{\"steps\": {\"count\": 1}}], \"counters\": [{"
        "\"track\": 1, \"region\": 1, \"count\": 1, \"sum\": \"1.5\"}]}");
    free(text);
}
#endif

TEST(files_are_read)
{
    NEEDS_JANSSON();
    gnomon_profile *p = full_of("01"), *q;
    char path[] = "/tmp/gnomon-json-XXXXXX", *text = json_of(p);
    FILE *f = fdopen(mkstemp(path), "w+");
    fputs(text, f);
    for (int i = 0; i < 100000; i++)
        fputc(' ', f);
    fclose(f);
    CHECK_EQ(gnomon__cli_load(path, &q), GNOMON_OK);
    same_profiles(p, q);
    gnomon_profile_free(q);
    for (uint32_t n = 1; n < 3; n++) {
        gnomon__test_fail_allocation(n);
        CHECK_EQ(gnomon__cli_load(path, &q), GNOMON_ENOMEM);
        CHECK(q == NULL);
        gnomon__test_fail_allocation(0);
    }
    unlink(path);
    CHECK_EQ(gnomon__cli_load(path, &q), GNOMON_ENOENT);
    CHECK_STR(gnomon_error_text(), "No such file or directory");
    CHECK_EQ(gnomon__cli_load("/tmp", &q), GNOMON_EIO);
    CHECK_STR(gnomon_error_text(), "cannot be read: Is a directory");
    free(text);
    gnomon_profile_free(p);
}

TEST(without_jansson_the_error_names_it)
{
    gnomon_profile *p;
    if (GNOMON_WITH_JANSSON)
        SKIP("jansson is here");
    CHECK_EQ(gnomon__json_read(&p, "{}", 2), GNOMON_ESTATE);
    CHECK(p == NULL);
    CHECK(strstr(gnomon_error_text(), "install libjansson-dev") != NULL);
}
