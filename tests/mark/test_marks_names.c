/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names: long ones, invalid UTF-8, text that changes under one pointer, and
 * more names than the limit.
 *
 * links: testing
 * threads: none
 * timeout: 300 */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"
#include "platform/utf8.h"

#define CAP (1 << 17) /* of names */

static uint64_t regions_named(const gnomon_profile *p, const char *name)
{
    uint64_t n = 0;
    gnomon_region_info r;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_REGIONS); i++)
        n += !gnomon_profile_region(p, i, &r) && strcmp(r.name, name) == 0;
    return n;
}

static gnomon_token scope(gnomon_region *region, uint64_t ns)
{
    gnomon_token t = gnomon_begin(region);
    pass(ns);
    gnomon_end(t);
    return t;
}

/* ---- Long and broken ------------------------------------------------------------ */

TEST(names_of_a_megabyte)
{
    const size_t size = 1 << 20;
    char *a = malloc(size + 1), *b = malloc(size + 1);
    if (!CHECK(a && b))
        return;
    attach_probe();
    memset(a, 'x', size);
    a[size] = 0;
    memcpy(b, a, size + 1);
    b[size - 1] = 'y'; /* differs in the last byte only */
    gnomon_health before = health_now();
    gnomon_region *first = gnomon_region_get(a, a, GNOMON_KIND_SCOPE);
    CHECK(first == gnomon_region_get(a, a, GNOMON_KIND_SCOPE));
    CHECK(first != gnomon_region_get(b, a, GNOMON_KIND_SCOPE));
    CHECK(strlen(first->name) <= 1024 && strlen(first->category) <= 1024);
    CHECK_HEALTH(before, .bad_names = 6);
    gnomon_start(a);
    gnomon_start(b);
    pass(5);
    gnomon_stop(b);
    gnomon_stop(a);
    gnomon_health after = health_now();
    CHECK(after.bad_names > before.bad_names + 6);
    CHECK_HEALTH(before, .bad_names = after.bad_names - before.bad_names);
    scope(first, 1);
    gnomon_thread_name(a);
    gnomon_stage_begin(a);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 3);
    CHECK_EQ(calls_of(p, first->name), 2); /* scope and action of one name */
    gnomon_profile_free(p);
    free(a);
    free(b);
}

/* Names are cut between characters, never inside one. */
TEST(long_names_are_cut_between_characters)
{
    static char name[5000];
    attach_probe();
    for (int first = 0; first < 4; first++) {
        memset(name, 'x', 4);
        for (int i = first; i < 4900; i += 3)
            memcpy(name + i, "\xe2\x82\xac", 4);
        gnomon_health before = health_now();
        gnomon_region *r = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
        CHECK_HEALTH(before, .bad_names = 1);
        CHECK(gnomon__utf8_valid(r->name, strlen(r->name)));
        CHECK(strlen(r->name) > 900 && strlen(r->name) <= 1024);
    }
}

/* A static region's own text stays as it is; the table shows a clean copy. */
TEST(names_that_are_not_utf8)
{
    static gnomon_region broken =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "a\xff\xc3(", "\x80", NULL);
    static gnomon_region good = GNOMON_REGION_INIT(
        GNOMON_KIND_SCOPE, "\xc3\xa4 \xe2\x82\xac", NULL, NULL);
    attach_probe();
    gnomon_health before = health_now();
    scope(&good, 1);
    CHECK_HEALTH(before, .bad_names = 0);
    scope(&broken, 1);
    CHECK_HEALTH(before, .bad_names = 2);
    CHECK_STR(broken.name, "a\xff\xc3(");
    gnomon_start("\xed\xa0\x80"); /* a surrogate */
    gnomon_stop("\xed\xa0\x80");
    CHECK_HEALTH(before, .bad_names = 3);
    gnomon_thread_name("\xf8thread");
    CHECK_EQ(gnomon_stage_begin("\xfestage"), GNOMON_OK);
    scope(&good, 1);
    gnomon_profile *p = profile_of("probe", 1);
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_REGIONS); i++) {
        gnomon_region_info r;
        gnomon_profile_region(p, i, &r);
        CHECK(gnomon__utf8_valid(r.name, strlen(r.name)));
        CHECK(gnomon__utf8_valid(r.category, strlen(r.category)));
    }
    gnomon_track_info t;
    gnomon_stage_info s;
    CHECK_EQ(gnomon_profile_track(p, 1, &t), GNOMON_OK);
    CHECK_EQ(gnomon_profile_stage(p, 1, &s), GNOMON_OK);
    CHECK(strstr(t.name, "thread") &&
          gnomon__utf8_valid(t.name, strlen(t.name)));
    CHECK(strstr(s.name, "stage") &&
          gnomon__utf8_valid(s.name, strlen(s.name)));
    CHECK_EQ(calls_of(p, "\xc3\xa4 \xe2\x82\xac"), 2);
    gnomon_profile_free(p);
}

/* ---- One buffer, one text --------------------------------------------------------- */

TEST(one_buffer_with_changing_text)
{
    char name[16];
    attach_probe();
    gnomon_health before = health_now();
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 10; i++) {
            snprintf(name, sizeof name, "b%d", i);
            gnomon_start(name);
            pass((uint64_t)i + 1);
        }
        for (int i = 9; i >= 0; i--) {
            snprintf(name, sizeof name, "b%d", i);
            gnomon_stop(name);
        }
    }
    CHECK_HEALTH(before, .twice = 0);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 10);
    CHECK_NODE(p, "b0", 100, 5500, 100);
    CHECK_NODE(p, "b0>b1>b2>b3>b4>b5>b6>b7>b8>b9", 100, 1000, 1000);
    gnomon_profile_free(p);
}

TEST(two_pointers_with_one_text)
{
    char one[] = "same", two[] = "same";
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < 10; i++) {
        gnomon_start(i & 1 ? one : two);
        gnomon_start(i & 1 ? two : one);
        pass(1);
        gnomon_stop(two);
        gnomon_start(two);
        pass(1);
        gnomon_stop(one);
    }
    CHECK_HEALTH(before, .twice = 10);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(regions_named(p, "same"), 1);
    CHECK_NODE(p, "same", 20, 20, 20);
    gnomon_profile_free(p);
}

/* Equal names are one region by (kind, name, category), and static ones each
 * their own. */
TEST(regions_differ_by_kind_name_and_category)
{
    static gnomon_region static_n =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "n", NULL, "f");
    static gnomon_region nameless =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, NULL, NULL, NULL);
    attach_probe();
    scope(&nameless, 1);
    gnomon_region *n = gnomon_region_get("n", NULL, GNOMON_KIND_SCOPE);
    CHECK(n == gnomon_region_get("n", "", GNOMON_KIND_SCOPE));
    CHECK(n != gnomon_region_get("n", "c", GNOMON_KIND_SCOPE));
    scope(n, 1);
    scope(gnomon_region_get("n", "c", GNOMON_KIND_SCOPE), 1);
    scope(&static_n, 1);
    gnomon_start("n");
    gnomon_stop("n");
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(regions_named(p, "n"), 4);
    CHECK_EQ(regions_named(p, "(null)"), 1);
    gnomon_profile_free(p);
}

/* ---- Very many --------------------------------------------------------------------- */

TEST(a_hundred_thousand_regions)
{
    const int n = 100000;
    static gnomon_region *all; /* gnomon keeps them for ever */
    all = calloc((size_t)n, sizeof *all);
    if (!CHECK(all != NULL))
        return;
    attach_probe();
    gnomon_health before = health_now();
    for (int i = 0; i < n; i++) {
        gnomon_region init =
            GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "one of many", NULL, NULL);
        all[i] = init;
        scope(&all[i], 3);
    }
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    for (int i = 0; i < n; i++)
        CHECK_EQ(all[i].mask, 0);
    attach_probe();
    for (int i = 0; i < n; i += 100)
        scope(&all[i], 7);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "one of many"), n / 100);
    CHECK_HEALTH(before, .twice = 0);
    gnomon_profile_free(p);
}

static void name_of(char *name, size_t size, int i)
{
    snprintf(name, size, "name %d", i);
}

/* By region_get: those past the cap are one region "(other)". */
TEST(a_million_names_by_region)
{
    char name[32];
    attach_probe();
    gnomon_health before = health_now();
    gnomon_region *other = NULL;
    for (int i = 0; i < 1000000; i++) {
        name_of(name, sizeof name, i);
        gnomon_region *r = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
        if (i == CAP)
            other = r;
        if (i > CAP)
            CHECK(r == other);
        if (i % 1000 == 0)
            scope(r, 2);
    }
    CHECK(other && strcmp(other->name, "(other)") == 0);
    CHECK_HEALTH(before, .other_names = 1000000 - CAP);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "(other)"), 1000 - (CAP + 999) / 1000);
    CHECK_EQ(calls_of(p, "name 131000"), 1);
    gnomon_profile_free(p);
    CHECK(health_now().mapped_bytes < 64u << 20);
}

/* By name: started and stopped, the sums stay true in and past the cap. */
TEST(a_million_names_by_start)
{
    char name[32];
    int many = EACH > 1 ? CAP + 20000 : 1000000;
    attach_probe();
    gnomon_health before = health_now();
    gnomon_start("all");
    for (int i = 0; i < many; i++) {
        name_of(name, sizeof name, i);
        gnomon_start(name);
        pass(1);
        gnomon_stop(name);
    }
    gnomon_stop("all");
    gnomon_health after = health_now();
    /* Each start, and no stop. */
    CHECK_EQ(after.other_names - before.other_names, many + 1 - CAP);
    CHECK_EQ(after.lost_scopes, before.lost_scopes);
    CHECK_EQ(after.twice + after.never_started, 0);
    CHECK(after.mapped_bytes <= 64u << 20);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "all", 1, many, 0);
    uint64_t calls = 0, self = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        calls += n.host->count;
        self += n.host->self_ns;
    }
    CHECK_EQ(calls, many + 1);
    CHECK_EQ(self, many);
    gnomon_profile_free(p);
}

/* Past the cap names are one action: they may overlap all the same. */
TEST(overlapping_names_past_the_cap)
{
    char name[32];
    attach_probe();
    for (int i = 0; i <= CAP; i++) {
        name_of(name, sizeof name, i);
        gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    gnomon_health before = health_now();
    gnomon_start("new 1");
    pass(1);
    gnomon_start("new 2");
    pass(2);
    gnomon_stop("new 1");
    pass(4);
    gnomon_stop("new 2");
    pass(8);
    gnomon_stop("new 3");
    gnomon_health after = health_now();
    CHECK_EQ(after.other_names - before.other_names, 2);
    CHECK_EQ(after.twice, before.twice);
    CHECK_EQ(after.never_started, before.never_started + 1);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "(other)", 1, 7, 7);
    gnomon_profile_free(p);
}
