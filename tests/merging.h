/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Merging profiles that are bytes in memory, and sums of ranks. */
#ifndef GNOMON_TESTS_MERGING_H
#define GNOMON_TESTS_MERGING_H

#include "profile_bytes.h"
#include "file_edit.h"
#include "merge/align.h"
#include "profile/file_write.h"

static int merging_read(void *context, uint64_t at, void *to, size_t size)
{
    const bytes *b = context;
    memcpy(to, b->at + at, size);
    return GNOMON_OK;
}

static int merging_open(void *context, size_t input, gnomon__source *out)
{
    bytes *b = (bytes *)context + input;
    *out = (gnomon__source){b->size, merging_read, b, NULL};
    return GNOMON_OK;
}

static void merging_close(void *context, gnomon__source *source)
{
    (void)context;
    (void)source;
}

/* Of `count` inputs, scanned and sorted. */
static inline gnomon__merge *merge_of(bytes *inputs, size_t count)
{
    const gnomon__merge_inputs from = {count, merging_open, merging_close,
                                       inputs, 0};
    gnomon__merge *m;
    CHECK_EQ(gnomon__merge_create(&m, &from, GNOMON__EVERY_KIND), GNOMON_OK);
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(gnomon__merge_scan(m, i), GNOMON_OK);
    CHECK_EQ(gnomon__merge_order(m), GNOMON_OK);
    return m;
}

/* The merged file, with all of a run in memory. The caller frees `at`. */
static inline bytes merged_in_memory(bytes *inputs, size_t count)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &b};
    gnomon__merge *m = merge_of(inputs, count);
    gnomon__file_writer w;
    gnomon_profile *p;
    gnomon__file_start(&w, &out);
    gnomon__file_shared(&w, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; i < gnomon__merge_count(m); i++) {
        if (!CHECK_EQ(gnomon__merge_run(m, i, &p), GNOMON_OK)) {
            fprintf(stderr, "    %s\n", gnomon_error_text());
            continue;
        }
        gnomon__file_runs(&w, p, NULL);
        gnomon_profile_free(p);
    }
    if (CHECK_EQ(gnomon__merge_rest(m, &p), GNOMON_OK))
        gnomon__file_runs(&w, p, NULL);
    CHECK_EQ(gnomon__file_finish(&w), GNOMON_OK);
    gnomon_profile_free(p);
    gnomon__merge_free(m);
    return b;
}

static size_t merging_told, merging_all;

static void merging_tell(size_t number, size_t count)
{
    CHECK_EQ(number, ++merging_told);
    CHECK_EQ(count, merging_all);
}

/* The merged file, as gnomon merge writes it. The caller frees `at`. */
static inline bytes merged(bytes *inputs, size_t count)
{
    bytes b = {NULL, 0, 0}, other = merged_in_memory(inputs, count);
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &b};
    gnomon__merge *m = merge_of(inputs, count);
    merging_told = 0;
    merging_all = gnomon__merge_count(m);
    CHECK_EQ(gnomon__merge_write(m, &out, NULL, merging_tell), GNOMON_OK);
    CHECK_EQ(merging_told, merging_all);
    CHECK(bytes_equal(&b, &other));
    gnomon__merge_free(m);
    free(other.at);
    return b;
}

/* Merged in both orders, which must give the same. Returns the result. */
static inline gnomon_profile *merged_both_ways(bytes a, bytes b)
{
    bytes pair[] = {a, b}, turned[] = {b, a};
    bytes one = merged(pair, 2), other = merged(turned, 2);
    CHECK(bytes_equal(&one, &other));
    gnomon_profile *p = read_back(&one);
    free(one.at);
    free(other.at);
    return p;
}

/* All ranks as one sum. */
static inline bytes summed(bytes *inputs, size_t count,
                           const gnomon__stage_filter *only)
{
    gnomon__merge *m = merge_of(inputs, count);
    gnomon__unite *u;
    gnomon_profile *p;
    CHECK_EQ(
        gnomon__unite_create(&u, gnomon__merge_shared(m), GNOMON__UNITE_RANKS),
        GNOMON_OK);
    for (size_t i = 0; i < gnomon__merge_count(m); i++) {
        CHECK_EQ(gnomon__merge_run(m, i, &p), GNOMON_OK);
        CHECK_EQ(gnomon__unite_add(u, p, 1, only), GNOMON_OK);
        gnomon_profile_free(p);
    }
    if (!CHECK_EQ(gnomon__unite_finish(u, GNOMON_OK, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    gnomon__merge_free(m);
    return b;
}

#endif
