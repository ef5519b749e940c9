/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * alone: yes
 * gnomon's heap as it is: mimalloc's where that is, else libc's. What a host
 * notices of it is tested in tests/heap. */
#include "platform/memory.h"

#include <pthread.h>

#include "test.h"

static int is_mapped(const char *name)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        found |= strstr(line, name) != NULL;
    if (maps != NULL)
        fclose(maps);
    return found;
}

TEST(nothing_is_loaded_before_the_first_allocation)
{
    int major, minor, patch;
    CHECK(!is_mapped("libmimalloc"));
    CHECK_EQ(gnomon__heap_bytes(), 0);
    gnomon__heap_start();
    if (strcmp(gnomon__heap_name(), "libc") == 0) {
        CHECK(!is_mapped("libmimalloc"));
    } else {
        CHECK_EQ(sscanf(gnomon__heap_name(), "mimalloc %d.%d.%d", &major,
                        &minor, &patch),
                 3);
        CHECK(major >= 1 && minor >= 0);
        CHECK(is_mapped("libmimalloc"));
    }
}

TEST(memory_is_zeroed_aligned_and_counted)
{
    char *a = gnomon__alloc(1000), *b;
    size_t i;
    int sum = 0;
    if (!CHECK(a != NULL))
        return;
    for (i = 0; i < 1000; i++)
        sum += a[i];
    CHECK_EQ(sum, 0);
    CHECK_EQ((uintptr_t)a % 16, 0);
    CHECK_EQ(gnomon__heap_bytes(), 1016);
    memset(a, 7, 1000);
    a = gnomon__realloc(a, 100000);
    CHECK(a != NULL && a[0] == 7 && a[999] == 7);
    CHECK_EQ(gnomon__heap_bytes(), 100016);
    a = gnomon__realloc(a, 10);
    CHECK(a != NULL && a[9] == 7);
    CHECK_EQ(gnomon__heap_bytes(), 26);
    b = gnomon__realloc(NULL, 0);
    CHECK(b != NULL && (uintptr_t)b % 16 == 0);
    gnomon__free(a);
    gnomon__free(b);
    gnomon__free(NULL);
    CHECK_EQ(gnomon__heap_bytes(), 0);
    /* Freed memory comes back zeroed too. */
    for (i = 0; i < 100; i++) {
        a = gnomon__alloc(200);
        sum += a[0] + a[199];
        memset(a, 1, 200);
        gnomon__free(a);
    }
    CHECK_EQ(sum, 0);
}

TEST(texts_are_copied)
{
    char *a = gnomon__strdup("forward"), *b = gnomon__strndup("forward", 3);
    char *c = gnomon__strndup("abc", 100), *d = gnomon__strdup("");
    const char open_ended[3] = {'x', 'y', 'z'};
    char *e = gnomon__strndup(open_ended, 3);
    CHECK_STR(a, "forward");
    CHECK_STR(b, "for");
    CHECK_STR(c, "abc");
    CHECK_STR(d, "");
    CHECK_STR(e, "xyz");
    gnomon__free(a);
    gnomon__free(b);
    gnomon__free(c);
    gnomon__free(d);
    gnomon__free(e);
    CHECK_EQ(gnomon__heap_bytes(), 0);
}

/* The sanitizers' heap otherwise ends the program there. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

TEST(too_large_sizes_are_null_and_leave_the_block)
{
    volatile size_t all = SIZE_MAX, too_much = SIZE_MAX / 2 + 1;
    char *a = gnomon__strdup("kept");
    CHECK(gnomon__alloc(all) == NULL);
    CHECK(gnomon__realloc(a, all - 15) == NULL);
    CHECK(gnomon__alloc(too_much) == NULL);
    CHECK(gnomon__realloc(a, too_much) == NULL);
    CHECK_STR(a, "kept");
    gnomon__free(a);
    CHECK_EQ(gnomon__heap_bytes(), 0);
}

/* Blocks of all sizes go from thread to thread and are freed elsewhere, also
 * after the thread that made them ended. */
static void *slots[1024];

static void *trade(void *seed)
{
    uint32_t state = *(uint32_t *)seed, i;
    for (i = 0; i < 20000; i++) {
        uint32_t size;
        char *block, *got;
        state = state * 1664525u + 1013904223u;
        size = state >> 20;
        block = gnomon__alloc(size + 1);
        if (!CHECK(block != NULL && block[0] == 0 && block[size] == 0))
            return NULL;
        if (i % 7 == 0)
            block = gnomon__realloc(block, 3 * size + 1);
        memset(block, 0x5a, size + 1);
        got = __atomic_exchange_n(&slots[state >> 8 & 1023], block,
                                  __ATOMIC_ACQ_REL);
        CHECK(got == NULL || got[0] == 0x5a);
        gnomon__free(got);
    }
    return NULL;
}

TEST(threads_free_what_others_made)
{
    uint32_t seeds[8], i;
    pthread_t threads[8];
    for (i = 0; i < 8; i++) {
        seeds[i] = i + 1;
        pthread_create(&threads[i], NULL, trade, &seeds[i]);
    }
    for (i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK(gnomon__heap_bytes() > 0);
    for (i = 0; i < 1024; i++)
        gnomon__free(slots[i]);
    CHECK_EQ(gnomon__heap_bytes(), 0);
}
