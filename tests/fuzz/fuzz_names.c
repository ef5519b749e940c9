/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as names: of regions, in filters, in the patterns of report files,
 * in JSON. A name of ours is always UTF-8; a report's file stays in its folder,
 * apart for each rank, and no part of it is too long; a filter takes what the
 * plain rules take.
 * links: testing */
#include "fuzz.h"

#include "marks.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "print/letters.h"
#include "spec/filter.h"
#include "spec/names.h"

#define LONGEST 700

/* ---- Filters ------------------------------------------------------------------- */

/* Tries all matches, by code points if both texts are valid. Exponential, so
 * for short patterns. */
static int plain_glob(const char *p, size_t n, const char *text)
{
    size_t left = strlen(text);
    uint32_t code;
    if (n == 0)
        return left == 0;
    if (*p == '*')
        return plain_glob(p + 1, n - 1, text) ||
               (left &&
                plain_glob(p, n, text + gnomon__utf8_next(text, left, &code)));
    if (left == 0)
        return 0;
    if (*p == '?')
        return plain_glob(p + 1, n - 1,
                          text + gnomon__utf8_next(text, left, &code));
    return *p == *text && plain_glob(p + 1, n - 1, text + 1);
}

static void try_filter(const char *pattern, const char *name)
{
    gnomon__filter *all = NULL, *none = NULL;
    size_t n = strlen(pattern), stars = 0, i;
    for (i = 0; i < n; i++)
        stars += pattern[i] == '*';
    if (stars <= 4 && strlen(name) < 24 && gnomon__utf8_valid(pattern, n) &&
        gnomon__utf8_valid(name, strlen(name)))
        CHECK_EQ(gnomon__glob(pattern, n, name), plain_glob(pattern, n, name));
    CHECK_EQ(gnomon__filter_create(&all, pattern, NULL), GNOMON_OK);
    CHECK_EQ(gnomon__filter_create(&none, NULL, pattern), GNOMON_OK);
    int in = gnomon__filter_takes(all, name, name);
    int out = gnomon__filter_takes(none, name, name);
    /* Without a pattern both take all. */
    CHECK(in != out || (in && !all && !none));
    CHECK(gnomon__filter_equal(all, all));
    gnomon__filter_destroy(all);
    gnomon__filter_destroy(none);
}

/* ---- Files ---------------------------------------------------------------------- */

static size_t slashes(const char *path)
{
    size_t n = 0;
    for (; *path; path++)
        n += *path == '/';
    return n;
}

static void check_parts(const char *path)
{
    size_t n = strcspn(path, "/");
    for (; path[n]; path += n + 1, n = strcspn(path, "/"))
        CHECK(n <= 255);
    CHECK(n <= 255);
}

static void try_file(const char *pattern, const char *host, const char *stage)
{
    gnomon__complaints said = {0};
    gnomon__file_values v = {0, 0, 2, 42, host, stage, 1000000000, 0, 0};
    v.world_size = 1 + (int)(fuzz_byte() & 1);
    v.add_pid = (int)(fuzz_byte() & 1);
    char *first = gnomon__file_expand(pattern, &v, "x", &said);
    v.rank = v.local_rank = 1;
    v.pid = 43;
    char *second = gnomon__file_expand(pattern, &v, "x", &said);
    int is_stream =
        strncmp(pattern, "/dev/", 5) == 0 || strncmp(pattern, "/proc/", 6) == 0;
    if (CHECK(first && second) && !is_stream) {
        CHECK(v.world_size == 1 || strcmp(first, second) != 0);
        CHECK_EQ(slashes(first), slashes(pattern));
        check_parts(first);
    }
    gnomon__free(first);
    gnomon__free(second);
    gnomon__complaints_free(&said);
    first = gnomon__file_name(stage, pattern, v.rank, host, ".txt");
    if (CHECK(first != NULL))
        CHECK(!slashes(first) && strlen(first) <= 255);
    gnomon__free(first);
}

/* ---- Texts ----------------------------------------------------------------------- */

/* Code points, and parts that are none. */
static size_t pieces(const char *text, size_t n)
{
    uint32_t code;
    size_t at, count = 0;
    for (at = 0; at < n; at += gnomon__utf8_next(text + at, n - at, &code))
        count++;
    return count;
}

static void try_text(const char *text, size_t n)
{
    char clean[3 * LONGEST + 1], quoted[6 * LONGEST + 3];
    int changed = 0;
    size_t length = gnomon__utf8_clean(text, n, clean, sizeof clean, &changed);
    CHECK(gnomon__utf8_valid(clean, length));
    CHECK_EQ(!changed, length == n && memcmp(clean, text, n) == 0);
    CHECK_EQ(pieces(text, n), gnomon__print_width(clean, length));
    length = gnomon__json_quote(text, n, quoted, sizeof quoted);
    CHECK(length < sizeof quoted && gnomon__json_valid(quoted, length));
    gnomon__json_valid(text, n);
}

static void try_region(const char *name, const char *category)
{
    gnomon_region *r = gnomon_region_get(name, category, GNOMON_KIND_SCOPE);
    CHECK(r && r == gnomon_region_get(name, category, GNOMON_KIND_SCOPE));
    gnomon_token token = gnomon_begin(r);
    gnomon_open_scope open = {.struct_size = sizeof open};
    CHECK_EQ(gnomon_thread_stack(0, &open, 1), 1);
    if (CHECK(open.name && open.token == token)) {
        CHECK(gnomon__utf8_valid(open.name, strlen(open.name)));
        CHECK(strlen(open.name) <= 1024);
    }
    gnomon_end(token);
    gnomon_start(name);
    gnomon_stop(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char a[LONGEST], b[LONGEST], c[LONGEST];
    if (size >= LONGEST)
        return 0;
    try_text((const char *)data, size);
    fuzz_begin(data, size);
    fuzz_text(a, sizeof a);
    fuzz_text(b, sizeof b);
    fuzz_text(c, sizeof c);
    static int is_attached;
    if (!is_attached++)
        attach_probe();
    uint64_t before = gnomon__heap_bytes();
    try_filter(a, b);
    try_file(a, b, c);
    CHECK_EQ(gnomon__heap_bytes(), before);
    try_region(a, b);
    return fuzz_end();
}
