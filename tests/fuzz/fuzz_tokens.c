/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any words as tokens and links, between marks that are right. A token that the
 * library gave ends its scope; any other is never obeyed, and counted once, but
 * for what looks like a scope of profilers that are gone: what is open stays
 * so, and the profile's sums hold.
 * links: testing */
#include "fuzz.h"

#include "marks.h"
#include "probe_profile.h"

#define MOST_OPEN 16

static gnomon_region *region, *range;
static gnomon_token scopes[MOST_OPEN], ranges[MOST_OPEN];
static int scope_count, range_count;

static uint64_t troubles(void)
{
    gnomon_health h = health_now();
    uint64_t sum = 0;
#define TOKENS_SUM(field, text) sum += h.field;
    GNOMON_HEALTH(TOKENS_SUM)
#undef TOKENS_SUM
    return sum;
}

static int find(const gnomon_token *tokens, int count, gnomon_token token)
{
    for (int i = 0; i < count; i++)
        if (tokens[i] == token)
            return i;
    return -1;
}

/* The open scopes, as the library sees them. */
static void check_open(void)
{
    gnomon_open_scope open[MOST_OPEN] = {{.struct_size = sizeof *open}};
    CHECK_EQ(gnomon_thread_stack(0, open, MOST_OPEN), scope_count);
    for (int i = 0; i < scope_count; i++)
        CHECK(open[i].token == scopes[i]);
}

/* A word, or one that was a token, with some bits turned. */
static gnomon_token bad_token(void)
{
    gnomon_token t = 0;
    uint32_t how = fuzz_byte();
    if (how & 1 && scope_count)
        t = scopes[how % (uint32_t)scope_count];
    if (how & 2 && range_count)
        t = ranges[how % (uint32_t)range_count];
    return t ^ (how & 4 ? 1ull << (fuzz_byte() & 63) : fuzz_number());
}

static void end_any(gnomon_token t)
{
    int i = find(scopes, scope_count, t);
    uint64_t before = troubles();
    gnomon_end(t);
    if (i < 0) {
        CHECK(troubles() - before <= (t != 0));
        return;
    }
    CHECK_EQ(troubles() - before, scope_count - i - 1); /* ended with it */
    scope_count = i;
}

static void end_any_alone(gnomon_token t)
{
    int i = find(scopes, scope_count, t);
    uint64_t before = troubles();
    gnomon_end_alone(t);
    CHECK(troubles() - before <= (i < 0 && t != 0));
    if (i < 0)
        return;
    scope_count--;
    memmove(scopes + i, scopes + i + 1,
            (size_t)(scope_count - i) * sizeof *scopes);
}

static void end_any_range(gnomon_token t)
{
    int i = find(ranges, range_count, t);
    uint64_t before = troubles();
    gnomon_range_end(t);
    CHECK(troubles() - before <= (i < 0 && t != 0));
    if (i >= 0)
        ranges[i] = ranges[--range_count];
}

static void operate(void)
{
    gnomon_link link;
    uint32_t what = fuzz_byte();
    switch (what % 8) {
    case 0:
    case 1:
        if (scope_count < MOST_OPEN)
            scopes[scope_count++] = gnomon_begin(region);
        break;
    case 2:
        if (range_count < MOST_OPEN)
            ranges[range_count++] = gnomon_range_begin(range);
        break;
    case 3:
        if (scope_count && what < 128)
            end_any(scopes[scope_count - 1]);
        else if (scope_count)
            end_any_alone(scopes[what % (uint32_t)scope_count]);
        break;
    case 4:
        (what < 128 ? end_any : end_any_alone)(bad_token());
        break;
    case 5:
        end_any_range(bad_token());
        break;
    case 6:
        link = gnomon_link_out();
        for (int i = 0; i < 8; i++)
            if (fuzz_byte() & 1)
                link.word[i] ^= (uint32_t)fuzz_number();
        gnomon_link_in(&link, (int)(fuzz_byte() % 4));
        break;
    default:
        pass(fuzz_byte());
    }
    check_open();
}

static void start(void)
{
    static int is_started;
    if (is_started++)
        return;
    region = gnomon_region_get("scope", NULL, GNOMON_KIND_SCOPE);
    range = gnomon_region_get("range", NULL, GNOMON_KIND_SCOPE);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    attach_probe();
    gnomon_end(gnomon_begin(region)); /* now the thread is known */
    gnomon_detach(&probe, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t runs;
    start();
    fuzz_begin(data, size);
    attach_probe();
    for (int i = 0; i < 200 && fuzz_left && !test_failures; i++)
        operate();
    while (scope_count)
        end_any(scopes[scope_count - 1]);
    while (range_count)
        end_any_range(ranges[0]);
    if (runs++ % 16 == 0) { /* slow */
        gnomon_profile *p = profile_of("probe", 1);
        gnomon_profile_free(p);
    }
    gnomon_detach(&probe, NULL);
    return fuzz_end();
}
