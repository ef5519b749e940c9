/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows and callers of a table of functions by name, for tests. */
#ifndef GNOMON_TESTS_CALL_TABLES_H
#define GNOMON_TESTS_CALL_TABLES_H

#include "print/functions.h"
#include "test.h"

/* The row of this name; NULL: there is none. */
static inline const gnomon__function *table_row(const gnomon__functions *t,
                                                const char *name)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return &t->rows[i];
    return NULL;
}

/* How `caller` called `callee`; NULL: not. */
static inline const gnomon__caller *
table_edge(const gnomon__functions *t, const char *caller, const char *callee)
{
    const gnomon__function *row = table_row(t, callee);
    for (uint32_t i = 0; row && i < row->caller_count; i++) {
        const gnomon__caller *c = &t->callers[row->first_caller + i];
        if (strcmp(t->rows[c->caller].name, caller) == 0)
            return c;
    }
    return NULL;
}

/* The number of the table of this name, or of the one without a name. */
static inline size_t table_named(const gnomon__calls *c, const char *name)
{
    size_t i = 0;
    while (i < gnomon__calls_count(c) &&
           strcmp(gnomon__calls_name(c, i), name) != 0)
        i++;
    return i;
}

#define CHECK_ROW(t, name, calls, primitive, self, cumulative) \
    do { \
        const gnomon__function *r_ = table_row(t, name); \
        if (CHECK(r_ != NULL)) { \
            CHECK_EQ(r_->nc, calls); \
            CHECK_EQ(r_->cc, primitive); \
            CHECK_EQ(r_->tt_ns, self); \
            CHECK_EQ(r_->ct_ns, cumulative); \
        } \
    } while (0)

#define CHECK_EDGE(t, from, to, calls, primitive, self, cumulative) \
    do { \
        const gnomon__caller *e_ = table_edge(t, from, to); \
        if (CHECK(e_ != NULL)) { \
            CHECK_EQ(e_->nc, calls); \
            CHECK_EQ(e_->cc, primitive); \
            CHECK_EQ(e_->tt_ns, self); \
            CHECK_EQ(e_->ct_ns, cumulative); \
        } \
    } while (0)

/* What holds for every table: each call has one caller or is outermost, and
 * no part exceeds the whole. `outermost`: the number of outermost calls. */
static inline void check_table(const gnomon__functions *t, uint64_t outermost)
{
    uint64_t outside = 0;
    size_t edges = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const gnomon__function *r = &t->rows[i];
        uint64_t calls = 0, self = 0;
        CHECK_EQ(r->first_caller, edges);
        for (uint32_t k = 0; k < r->caller_count; k++) {
            const gnomon__caller *c = &t->callers[edges + k];
            CHECK_EQ(c->callee, i);
            CHECK(c->caller < t->row_count);
            CHECK(c->cc <= c->nc);
            calls += c->nc;
            self += c->tt_ns;
        }
        edges += r->caller_count;
        CHECK(r->cc <= r->nc);
        CHECK(calls <= r->nc);
        CHECK(self <= r->tt_ns);
        outside += r->nc - calls;
    }
    CHECK_EQ(edges, t->caller_count);
    CHECK_EQ(outside, outermost);
}

#endif
