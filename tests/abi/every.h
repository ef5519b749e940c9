/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For programs and plugins that are compiled against the headers of this release, or
 * with -DNEXT of the next one, whose structs have one field more, and that run with the
 * library of either. */
#ifndef GNOMON_TESTS_ABI_EVERY_H
#define GNOMON_TESTS_ABI_EVERY_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOREIGN 0x7478656eu /* what no library may see, or overwrite */

/* NEWS: the new field, which a library of this release must pass over. */
#ifdef NEXT
#define NEWS .next_release = FOREIGN,
#define IS_CLEAN(p) (!(p)->next_release)
#define OWN_GROWTH sizeof(uint64_t)
#else
#define NEWS
#define IS_CLEAN(p) 1
#define OWN_GROWTH 0
#endif

/* By how much the library's structs are larger than this release's; UNKNOWN_GROWTH: it
 * is of some later release, and none is smaller. */
#define UNKNOWN_GROWTH SIZE_MAX
static size_t library_growth = UNKNOWN_GROWTH;

static size_t growth_of(const char *library)
{
    return library ? *library == '1' ? sizeof(uint64_t) : 0 : UNKNOWN_GROWTH;
}

static const char *seen[64];
static size_t seen_count;
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

static void see(const char *type, size_t size, size_t wanted, int is_clean)
{
    pthread_mutex_lock(&seen_lock);
    if (size != wanted || !is_clean)
        printf("%s: %zu bytes and not %zu, or foreign ones\n", type, size,
               wanted);
    size_t i = 0;
    while (i < seen_count && strcmp(seen[i], type) != 0)
        i++;
    if (i == seen_count)
        seen[seen_count++] = type;
    pthread_mutex_unlock(&seen_lock);
}

/* A struct that the library made has the library's size. */
static void got(const char *type, size_t size, size_t first)
{
    const int is_known = library_growth != UNKNOWN_GROWTH;
    see(type, size,
        is_known        ? first + library_growth
        : size >= first ? size
                        : first,
        1);
}
#define GOT(type, p) got(#type, (p)->struct_size, sizeof(type) - OWN_GROWTH)

/* One that the library reads: only said. What the library does with it is looked at. */
#define GAVE(type) see(#type, 0, 0, 1)

/* One that is made here and filled in there: up to its size, with zero in what the
 * library does not have. */
#define ROOM(type, name) \
    struct { \
        type it; \
        uint64_t beyond; \
    } name = {.it = {NEWS.struct_size = sizeof(type)}, .beyond = FOREIGN}
#define FILLED(type, name) \
    see(#type, (name).it.struct_size, sizeof(type), \
        (name).beyond == FOREIGN && IS_CLEAN(&(name).it))

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_seen(void)
{
    qsort(seen, seen_count, sizeof *seen, by_name);
    for (size_t i = 0; i < seen_count; i++)
        printf("%s\n", seen[i]);
}

#endif
