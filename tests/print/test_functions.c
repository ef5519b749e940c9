/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cProfile's table of functions, of marks on the test's clock.
 * links: testing */
#include <stdlib.h>

#include "fake_profile.h"
#include "marks.h"
#include "probe_profile.h"
#include "print/functions.h"
#include "call_tables.h"

/* The profile so far, and its tables; one at a time. */
static gnomon_profile *the_profile;
static gnomon__calls *the_calls;

static int tables_ready(int all_stages)
{
    the_profile = profile_of("probe", all_stages);
    return CHECK(the_profile) &&
           CHECK_EQ(gnomon__calls_make(&the_calls, the_profile, NULL),
                    GNOMON_OK);
}

static void tables_done(void)
{
    gnomon__calls_free(the_calls);
    gnomon_profile_free(the_profile);
}

static const gnomon__functions *table(const char *name)
{
    size_t i = table_named(the_calls, name);
    static const gnomon__functions none;
    if (!CHECK(i < gnomon__calls_count(the_calls))) {
        fprintf(stderr, "    no table of %s\n", name);
        return &none;
    }
    return gnomon__calls_table(the_calls, i, NULL);
}

static const gnomon__functions *whole(void)
{
    return gnomon__calls_table(the_calls, GNOMON__CALLS_ALL, NULL);
}

static void fib(int n)
{
    GNOMON_FUNCTION();
    pass(10);
    if (n >= 2) {
        fib(n - 1);
        fib(n - 2);
    }
}

TEST(recursion)
{
    attach_probe();
    gnomon_start("main");
    pass(5);
    fib(5);
    pass(1);
    gnomon_stop("main");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t = table("main");
    CHECK_EQ(t->row_count, 2);
    CHECK_ROW(t, "main", 1, 1, 6, 156);
    CHECK_ROW(t, "fib", 15, 1, 150, 150);
    CHECK_EDGE(t, "main", "fib", 1, 1, 10, 150);
    CHECK_EDGE(t, "fib", "fib", 14, 2, 140, 140); /* two outermost ones */
    check_table(t, 1);
    check_table(whole(), 1);
    tables_done();
}

static void odd(int n);
static void even(int n)
{
    GNOMON_FUNCTION();
    pass(1);
    if (n)
        odd(n - 1);
}
static void odd(int n)
{
    GNOMON_FUNCTION();
    pass(100);
    if (n)
        even(n - 1);
}

TEST(mutual_recursion)
{
    attach_probe();
    gnomon_start("main");
    even(6); /* even odd even odd even odd even */
    gnomon_stop("main");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t = table("main");
    CHECK_ROW(t, "even", 4, 1, 4, 304);
    CHECK_ROW(t, "odd", 3, 1, 300, 303);
    CHECK_EDGE(t, "main", "even", 1, 1, 1, 304);
    CHECK_EDGE(t, "even", "odd", 3, 1, 300, 303);
    CHECK_EDGE(t, "odd", "even", 3, 1, 3, 203);
    CHECK(!table_edge(t, "even", "even"));
    tables_done();
}

/* Here cProfile stops measuring the outer one. */
TEST(nested_actions_are_all_measured)
{
    attach_probe();
    for (int i = 0; i < 2; i++) {
        gnomon_start("outer");
        pass(20);
        gnomon_start("inner");
        pass(20);
        gnomon_stop("inner");
        pass(20);
        gnomon_stop("outer");
    }
    if (!tables_ready(0))
        return;
    CHECK_EQ(gnomon__calls_count(the_calls), 2);
    CHECK_STR(gnomon__calls_name(the_calls, 0), "outer");
    const gnomon__functions *t = table("outer");
    CHECK_ROW(t, "outer", 2, 2, 80, 120);
    CHECK_ROW(t, "inner", 2, 2, 40, 40);
    CHECK_EDGE(t, "outer", "inner", 2, 2, 40, 40);
    CHECK_STR(table_row(t, "outer")->file, "~");
    CHECK_EQ(table_row(t, "outer")->line, 0);
    t = table("inner");
    CHECK_EQ(t->row_count, 1);
    CHECK_EQ(t->caller_count, 0);
    CHECK_ROW(t, "inner", 2, 2, 40, 40);
    tables_done();
}

TEST(crossed_actions)
{
    attach_probe();
    gnomon_start("a");
    pass(1);
    gnomon_start("b");
    pass(10);
    gnomon_stop("a");
    pass(100);
    gnomon_start("a"); /* again, inside b, which is inside the first */
    pass(1000);
    gnomon_stop("b");
    pass(10000);
    gnomon_stop("a");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t = whole();
    CHECK_ROW(t, "a", 2, 2, 11001, 11 + 11000);
    CHECK_ROW(t, "b", 1, 1, 110, 1110);
    CHECK_EDGE(t, "a", "b", 1, 1, 110, 1110);
    CHECK_EDGE(t, "b", "a", 1, 1, 11000, 11000);
    check_table(t, 1);
    t = table("a"); /* the one inside is part of it */
    CHECK_ROW(t, "a", 2, 2, 11001, 11 + 11000);
    check_table(t, 1);
    t = table("b");
    CHECK_ROW(t, "b", 1, 1, 110, 1110);
    CHECK_ROW(t, "a", 1, 1, 11000, 11000);
    check_table(t, 1);
    tables_done();
}

/* An action and a scope without a place may be one row. */
TEST(an_action_and_a_scope_of_one_name)
{
    attach_probe();
    gnomon_region *x = gnomon_region_get("x", NULL, GNOMON_KIND_SCOPE);
    gnomon_start("x");
    gnomon_token t1 = gnomon_begin(x);
    pass(3);
    gnomon_token t2 = gnomon_begin(x);
    pass(4);
    gnomon_end(t2);
    gnomon_end(t1);
    pass(5);
    gnomon_stop("x");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t = table("x");
    CHECK_EQ(t->row_count, 1);
    CHECK_ROW(t, "x", 3, 1, 12, 12);
    CHECK_EDGE(t, "x", "x", 2, 1, 7, 7);
    tables_done();
}

static void *a_worker(void *name)
{
    gnomon_thread_name(name);
    gnomon_start("step");
    fib(1);
    gnomon_stop("step");
    GNOMON_SCOPE("alone");
    pass(7);
    return NULL;
}

TEST(threads_add_up)
{
    static char one[] = "one", two[] = "two";
    attach_probe();
    gnomon_start("step");
    fib(0);
    pass(2);
    gnomon_stop("step");
    on_thread(a_worker, one);
    on_thread(a_worker, two);
    if (!tables_ready(0))
        return;
    CHECK_EQ(gnomon__calls_count(the_calls), 2);
    CHECK_STR(gnomon__calls_name(the_calls, 0), "step");
    const gnomon__functions *t = table("step");
    CHECK_ROW(t, "step", 3, 3, 2, 32);
    CHECK_ROW(t, "fib", 3, 3, 30, 30);
    CHECK_EDGE(t, "step", "fib", 3, 3, 30, 30);
    CHECK_ROW(table("alone"), "alone", 2, 2, 14, 14);
    CHECK(table_row(table("alone"), "alone")->line > 0);
    check_table(whole(), 5);
    tables_done();
}

TEST(stages_add_up_or_stand_alone)
{
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_start("run");
    gnomon_start("step");
    pass(3);
    gnomon_stop("step");
    gnomon_stage_begin("test");
    gnomon_start("step");
    pass(5);
    gnomon_stop("step");
    gnomon_stop("run");
    if (!tables_ready(1))
        return;
    CHECK_ROW(table("step"), "step", 2, 2, 8, 8);
    CHECK_ROW(table("run"), "run", 1, 1, 0, 8);
    tables_done();
    if (!tables_ready(0))
        return;
    CHECK_ROW(table("step"), "step", 1, 1, 5, 5);
    /* It began in another stage: in this one it is only a path. */
    CHECK_ROW(table("run"), "run", 0, 0, 0, 0);
    CHECK_ROW(table("run"), "step", 1, 1, 5, 5);
    CHECK_EDGE(table("run"), "run", "step", 1, 1, 5, 5);
    tables_done();
}

TEST(what_is_open_counts_so_far)
{
    attach_probe();
    gnomon_start("run");
    pass(10);
    gnomon_token t1 =
        gnomon_begin(gnomon_region_get("inner", NULL, GNOMON_KIND_SCOPE));
    pass(4);
    if (!tables_ready(0))
        return;
    CHECK_ROW(table("run"), "run", 1, 1, 10, 14);
    CHECK_ROW(table("run"), "inner", 1, 1, 4, 4);
    tables_done();
    gnomon_end(t1);
    gnomon_stop("run");
}

TEST(ranges_and_marks_have_no_row)
{
    attach_probe();
    gnomon_start("run");
    GNOMON_MARK("moment");
    gnomon_range r =
        gnomon_range_begin(gnomon_region_get("range", NULL, GNOMON_KIND_RANGE));
    pass(5);
    GNOMON_COUNTER("counter", 1);
    gnomon_range_end(r);
    gnomon_stop("run");
    if (!tables_ready(0))
        return;
    CHECK_EQ(gnomon__calls_count(the_calls), 1);
    CHECK_EQ(whole()->row_count, 1);
    CHECK_ROW(whole(), "run", 1, 1, 5, 5);
    tables_done();
}

/* As other programs may write it. */
TEST(scopes_below_a_mark_have_no_row)
{
    const gnomon_stats once = {sizeof once, 0, 1, 5, 5, 5, 5, NULL, 0};
    const gnomon_region_info regions[] = {
        {.kind = GNOMON_KIND_ACTION, .name = "run"},
        {.kind = GNOMON_KIND_MARK, .name = "mark"},
        {.kind = GNOMON_KIND_SCOPE, .name = "below"}};
    const gnomon_node_info nodes[] = {
        {.region = 1, .host = &once},
        {.region = 2, .parent = 1, .host = &once},
        {.region = 3, .parent = 2, .host = &once},
        {.region = 3, .parent = 3, .host = &once}};
    const fake_profile p = {{&fake_api}, NULL, regions, nodes, 0, 3, 4, 0};
    gnomon__calls *calls;
    CHECK_EQ(gnomon__calls_make(&calls, &p.base, NULL), GNOMON_OK);
    CHECK_EQ(gnomon__calls_count(calls), 1);
    const gnomon__functions *t =
        gnomon__calls_table(calls, GNOMON__CALLS_ALL, NULL);
    CHECK_EQ(t->row_count, 1);
    CHECK_EQ(t->caller_count, 0);
    CHECK_ROW(t, "run", 1, 1, 5, 5);
    gnomon__calls_free(calls);
}

/* A file's name may be any bytes; Python refuses what is no UTF-8. */
TEST(prof_files_hold_whole_characters)
{
    static const struct {
        const char *name, *text; /* its size before it */
    } cases[] = {{"d\xc3\xa9j\xc3\xa0", "u\6\0\0\0d\xc3\xa9j\xc3\xa0"},
                 {"\xf0\x9f\x98\x80", "u\4\0\0\0\xf0\x9f\x98\x80"},
                 {"\xe9t\xe9", "u\7\0\0\0\xef\xbf\xbdt\xef\xbf\xbd"},
                 {"\xc3", "u\3\0\0\0\xef\xbf\xbd"},
                 {"\xc0\x80", "u\6\0\0\0\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xff.c", "u\5\0\0\0\xef\xbf\xbd.c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gnomon__function row = {.file = cases[i].name, .name = "f"};
        const gnomon__functions t = {&row, NULL, 1, 0};
        size_t size = gnomon__prof_size(&t);
        unsigned char *bytes = malloc(size);
        gnomon__prof_write(&t, bytes);
        size_t n = 5 + strlen(cases[i].text + 5);
        if (!CHECK(memmem(bytes, size, cases[i].text, n) == bytes + 6))
            fprintf(stderr, "    case %zu\n", i);
        free(bytes);
    }
}

TEST(no_scopes_make_no_table)
{
    attach_probe();
    gnomon_stage_begin("fit");
    if (!tables_ready(0))
        return;
    CHECK_EQ(gnomon__calls_count(the_calls), 0);
    CHECK_EQ(whole()->row_count, 0);
    const gnomon__functions *t =
        gnomon__calls_table(the_calls, GNOMON__CALLS_ALL, "<root>");
    CHECK_EQ(t->row_count, 1);
    CHECK_EQ(t->caller_count, 0);
    CHECK_ROW(t, "<root>", 1, 1, 0, 0);
    tables_done();
}

/* Viewers need one tree in which every caller has a row. */
TEST(a_root_calls_what_is_outermost)
{
    attach_probe();
    gnomon_start("a");
    fib(2);
    gnomon_stop("a");
    fib(1);
    gnomon_start("b");
    pass(7);
    gnomon_stop("b");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t =
        gnomon__calls_table(the_calls, GNOMON__CALLS_ALL, "<root>");
    CHECK_STR(t->rows[0].name, "<root>");
    CHECK_ROW(t, "<root>", 1, 1, 0, 47);
    CHECK_EDGE(t, "<root>", "a", 1, 1, 0, 30);
    CHECK_EDGE(t, "<root>", "fib", 1, 1, 10, 10);
    CHECK_EDGE(t, "<root>", "b", 1, 1, 7, 7);
    check_table(t, 1);
    /* No table affects the next. */
    CHECK_EQ(whole()->row_count, 3);
    CHECK_EQ(whole()->caller_count, 2);
    CHECK_ROW(whole(), "fib", 4, 2, 40, 40);
    tables_done();
}

static void deeper(int levels)
{
    GNOMON_FUNCTION();
    pass(1);
    if (levels > 1)
        deeper(levels - 1);
}

TEST(deep_paths)
{
    attach_probe();
    gnomon_start("run");
    deeper(1500); /* more than are kept apart */
    gnomon_stop("run");
    if (!tables_ready(0))
        return;
    const gnomon__functions *t = table("run");
    uint64_t self = 0;
    for (size_t i = 0; i < t->row_count; i++)
        self += t->rows[i].tt_ns;
    CHECK_EQ(self, 1500);
    CHECK_EQ(table_row(t, "deeper")->cc, 1);
    CHECK_EQ(table_row(t, "deeper")->ct_ns, 1500);
    CHECK(table_row(t, "(other)") != NULL);
    tables_done();
}
