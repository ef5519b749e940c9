/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables of functions after random runs, compared with a plain model: a stack
 * of open scopes on which cProfile's rules are applied at each end.
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"
#include "sanitizer.h"
#include "call_tables.h"

#define NAMES 9 /* functions, scopes, actions: a third each */
#define DEEPEST 40
#define WHOLE NAMES /* the table of all */

typedef struct model_numbers {
    uint64_t nc, cc, tt, ct;
} model_numbers;

/* A row or an edge; the edge from NAMES is that from outside. */
typedef struct model_table {
    model_numbers row[NAMES];
    model_numbers edge[NAMES + 1][NAMES];
} model_table;

static const char *const names[NAMES] = {"f",  "g",      "h",      "s0", "s1",
                                         "s2", "[A]a.x", "[B]b/y", "z"};
static gnomon_region regions[NAMES]; /* of functions and scopes */
static model_table tables[NAMES + 1];
static uint64_t now;

/* What is open on the thread. */
typedef struct model_frame {
    int name;
    uint64_t begin, inner;
    gnomon_token token;
} model_frame;

static int is_action(int name)
{
    return name >= NAMES * 2 / 3;
}

static void count(model_numbers *n, uint64_t self, uint64_t total,
                  int primitive)
{
    n->nc++;
    n->tt += self;
    if (primitive) {
        n->cc++;
        n->ct += total;
    }
}

/* The innermost of `stack` ends, in the table of calls from `first` on. */
static void model_end(model_table *t, const model_frame *stack, int first,
                      int depth)
{
    const model_frame *f = &stack[depth - 1];
    uint64_t total = now - f->begin, self = total - f->inner;
    int caller = depth - 1 > first ? stack[depth - 2].name : NAMES;
    int row = 1, edge = 1;
    for (int i = first; i < depth - 1; i++) {
        int above = i > first ? stack[i - 1].name : NAMES;
        row &= stack[i].name != f->name;
        edge &= stack[i].name != f->name || above != caller;
    }
    count(&t->row[f->name], self, total, row);
    count(&t->edge[caller][f->name], self, total, edge);
}

static void end_innermost(model_frame *stack, int *depth)
{
    int done[NAMES] = {0};
    const model_frame *f = &stack[*depth - 1];
    model_end(&tables[WHOLE], stack, 0, *depth);
    for (int i = 0; i < *depth; i++) {
        int name = stack[i].name;
        if ((i == 0 || is_action(name)) && !done[name]++)
            model_end(&tables[name], stack, i, *depth);
    }
    if (*depth > 1)
        stack[*depth - 2].inner += now - f->begin;
    if (is_action(f->name))
        gnomon_stop(names[f->name]);
    else
        gnomon_end(f->token);
    --*depth;
}

static void begin(model_frame *stack, int *depth, int name)
{
    for (int i = 0; i < *depth; i++)
        if (is_action(name) && stack[i].name == name)
            return; /* open already */
    model_frame *f = &stack[(*depth)++];
    f->name = name;
    f->begin = now;
    f->inner = 0;
    f->token = 0;
    if (is_action(name))
        gnomon_start(names[name]);
    else
        f->token = gnomon_begin(&regions[name]);
}

static unsigned seed;

static unsigned below(unsigned n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % n;
}

static void *run_thread(void *unused)
{
    model_frame stack[DEEPEST];
    int depth = 0;
    for (unsigned left = below(200); left; left--) {
        unsigned what = below(10), ns = below(100000);
        if (what < 4 && depth < DEEPEST)
            begin(stack, &depth, (int)below(NAMES));
        else if (what < 7 && depth > 0)
            end_innermost(stack, &depth);
        pass(ns);
        now += ns;
    }
    while (depth)
        end_innermost(stack, &depth);
    return unused;
}

static int same(const model_numbers *want, uint64_t nc, uint64_t cc,
                uint64_t tt, uint64_t ct)
{
    return want->nc == nc && want->cc == cc && want->tt == tt && want->ct == ct;
}

static void compare(const gnomon__functions *t, const model_table *want)
{
    uint64_t outermost = 0;
    size_t rows = 0, edges = 0;
    for (int i = 0; i < NAMES; i++) {
        const gnomon__function *r = table_row(t, names[i]);
        rows += want->row[i].nc > 0;
        outermost += want->edge[NAMES][i].nc;
        if (want->row[i].nc)
            CHECK(r && same(&want->row[i], r->nc, r->cc, r->tt_ns, r->ct_ns));
        for (int from = 0; from < NAMES; from++) {
            const model_numbers *edge = &want->edge[from][i];
            const gnomon__caller *c = table_edge(t, names[from], names[i]);
            edges += edge->nc > 0;
            if (edge->nc)
                CHECK(c && same(edge, c->nc, c->cc, c->tt_ns, c->ct_ns));
        }
    }
    CHECK_EQ(t->row_count, rows);
    CHECK_EQ(t->caller_count, edges);
    check_table(t, outermost);
}

/* As above, with a root that calls the outermost functions. */
static void compare_root(const gnomon__functions *t, const model_table *want)
{
    uint64_t all = 0;
    for (int i = 0; i < NAMES; i++) {
        const model_numbers *edge = &want->edge[NAMES][i];
        const gnomon__caller *c = table_edge(t, "<root>", names[i]);
        all += edge->ct;
        CHECK_EQ(c != NULL, edge->nc > 0);
        if (c)
            CHECK(same(edge, c->nc, c->cc, c->tt_ns, c->ct_ns));
    }
    CHECK_ROW(t, "<root>", 1, 1, 0, all);
    check_table(t, 1);
}

static void one_run(unsigned number)
{
    seed = number * 2654435761u + 1;
    memset(tables, 0, sizeof tables);
    gnomon_stage_begin("fit");
    run_thread(NULL);
    for (unsigned threads = below(3); threads; threads--)
        on_thread(run_thread, NULL);
    gnomon_profile *p = profile_of("probe", 0);
    gnomon__calls *c;
    if (!p || !CHECK_EQ(gnomon__calls_make(&c, p, NULL), GNOMON_OK))
        return;
    size_t expected = 0, all = GNOMON__CALLS_ALL;
    for (int i = 0; i < NAMES; i++) {
        size_t at = table_named(c, names[i]);
        expected += tables[i].row[i].nc > 0;
        CHECK_EQ(at<gnomon__calls_count(c), tables[i].row[i].nc> 0);
        if (at == gnomon__calls_count(c))
            continue;
        compare(gnomon__calls_table(c, at, NULL), &tables[i]);
        compare_root(gnomon__calls_table(c, at, "<root>"), &tables[i]);
    }
    CHECK_EQ(gnomon__calls_count(c), expected);
    compare(gnomon__calls_table(c, all, NULL), &tables[WHOLE]);
    compare_root(gnomon__calls_table(c, all, "<root>"), &tables[WHOLE]);
    gnomon__calls_free(c);
    gnomon_profile_free(p);
    gnomon_stage_end();
    if (test_failures)
        fprintf(stderr, "    run %u\n", number);
}

TEST(soak_random_runs)
{
    unsigned runs = getenv("GNOMON_SOAK") ? 100000 : IS_SLOW ? 100 : 500;
    for (int i = 0; !is_action(i); i++) {
        regions[i] = (gnomon_region)GNOMON_REGION_INIT(
            i < NAMES / 3 ? GNOMON_KIND_FUNCTION : GNOMON_KIND_SCOPE, names[i],
            NULL, __func__);
        regions[i].line = (uint32_t)i;
    }
    for (unsigned i = 0; i < runs && !test_failures; i++) {
        /* Now and then a run of its own begins. */
        if (i % 100 == 0) {
            gnomon_setup(NULL);
            attach_probe();
        }
        one_run(i);
        if (i % 100 == 99 || i + 1 == runs) {
            CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
            gnomon_teardown();
        }
    }
}
