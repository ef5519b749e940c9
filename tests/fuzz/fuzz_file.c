/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a .gnomon file, and files whose checksums are right whatever is in
 * them: a sound profile, which is written and read again as the same, or a
 * refusal with a word; the same run by run, which of what we write, and of what
 * is in that order, loses nothing; and nothing is left in memory.
 * links: testing */
#include "fuzz.h"

#include "fuzz_bless.h"

#include "platform/memory.h"
#include "profile/file_read.h"

#define LONGEST 8192

static int from_memory(void *context, uint64_t at, void *to, size_t size)
{
    memcpy(to, (const char *)context + at, size);
    return GNOMON_OK;
}

static size_t count_in_parts(const gnomon_profile *p)
{
    return gnomon_profile_count(p, GNOMON_RUNS) +
           gnomon_profile_count(p, GNOMON_STAGES) +
           gnomon_profile_count(p, GNOMON_TRACKS) +
           gnomon_profile_count(p, GNOMON_NODES) +
           gnomon_profile_count(p, GNOMON_EVENTS);
}

/* `whole`: the result of reading the whole file, if valid. `is_ours`: gnomon
 * wrote it. */
static void try_parts(char *at, size_t size, const gnomon_profile *whole,
                      int is_ours)
{
    const gnomon__source from = {size, from_memory, at, NULL};
    gnomon__file_index x;
    size_t count = 0;
    int code = gnomon__index_file(&x, &from);
    CHECK_EQ(code, whole ? GNOMON_OK : code);
    for (size_t i = 0; !code && i < x.count; i++) {
        gnomon_profile *p = NULL;
        if (x.parts[i].is_whole) { /* that was tried */
            gnomon__index_free(&x);
            return;
        }
        code = gnomon__read_part(&p, &from, &x.parts[i], x.shared_end,
                                 GNOMON__EVERY_KIND);
        if (code)
            break;
        CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
        count += count_in_parts(p);
        gnomon_profile_free(p);
    }
    if (code)
        CHECK(code == GNOMON_EINVAL && *gnomon_error_text() && !is_ours);
    else if (whole && (is_ours || !gnomon_profile_count(whole, GNOMON_LOSSES)))
        CHECK_EQ(count, count_in_parts(whole));
    gnomon__index_free(&x);
}

static void try_file(char *at, size_t size)
{
    gnomon_profile *p, *q;
    int code = gnomon_profile_read(&p, at, size);
    if (code) {
        CHECK_EQ(code, GNOMON_EINVAL);
        CHECK(!p && *gnomon_error_text());
        try_parts(at, size, NULL, 0);
        return;
    }
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    try_parts(at, size, p, 0);
    bytes once = bytes_of(p, "gnomon");
    try_parts(once.at, once.size, p, 1);
    CHECK_EQ(gnomon_profile_read(&q, once.at, once.size), GNOMON_OK);
    bytes twice = bytes_of(q, "gnomon");
    CHECK(bytes_equal(&once, &twice));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(once.at);
    free(twice.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST)
        return 0;
    char *copy = malloc(size + 1); /* so that ASan sees its end */
    gnomon__heap_start();
    uint64_t before = gnomon__heap_bytes();
    fuzz_begin(data, size);
    if (copy && size) {
        memcpy(copy, data + 1, size - 1);
        if (data[0] & 1)
            fuzz_bless(copy, size - 1);
        try_file(copy, size - 1);
    }
    free(copy);
    CHECK_EQ(gnomon__heap_bytes(), before);
    return fuzz_end();
}
