/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* prof: what cProfile would have dumped, for pstats, snakeviz and gprof2dot: the table
 * of functions of all profiles together, below a row `<gnomon>`. It is made of the
 * tree, so of a profile without events too.
 *
 * Rows of different profiles are one where file, line and name read as equal: what is
 * no UTF-8 is U+FFFD in the file, and a key that came twice would hide a row. */
#include <stdlib.h>

#include "export/tree.h"
#include "print/prof.h"

/* ---- One view of each run ------------------------------------------------------ */

/* The profile in which nodes that are not exported read as zeroes. */
typedef struct prof_shown {
    gnomon_profile base;
    gnomon__export_tree tree;
} prof_shown;

static size_t prof_count(const gnomon_profile *p, int entity)
{
    const prof_shown *s = (const prof_shown *)(const void *)p;
    return gnomon_profile_count(s->tree.p, entity);
}

static int prof_get(const gnomon_profile *p, int entity, size_t number,
                    void *info)
{
    const prof_shown *s = (const prof_shown *)(const void *)p;
    gnomon_node_info *node = info;
    int code = s->tree.p->api->get(s->tree.p, entity, number, info);
    if (!code && entity == GNOMON_NODES &&
        !gnomon__export_is_shown(&s->tree, node))
        *node = (gnomon_node_info){.struct_size = node->struct_size};
    return code;
}

static int prof_calls(gnomon__calls **out, const gnomon_profile *p)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = prof_count,
                                           .get = prof_get};
    prof_shown s = {.base.api = &api};
    int code = gnomon__export_tree_begin(&s.tree, p);
    if (!code)
        code = gnomon__calls_make(out, &s.base);
    gnomon__export_tree_end(&s.tree);
    return code;
}

/* ---- Tables of several profiles as one ------------------------------------------- */

typedef struct prof_row {
    const gnomon__function *of;
    uint32_t order; /* in all tables, one after the other */
} prof_row;

typedef struct prof_sum {
    gnomon__calls **calls;            /* by profile */
    const gnomon__functions **tables; /* theirs */
    size_t count;
    prof_row *rows;
    uint32_t *numbers; /* of rows in the sum, by their order */
    size_t row_count;
    gnomon__functions table;
} prof_sum;

static int prof_by_text(const char *a, const char *b)
{
    static const char none[] = GNOMON__NO_CHARACTER;
    for (;;) {
        size_t m = gnomon__print_character(a), n = gnomon__print_character(b);
        const char *x = m ? a : none, *y = n ? b : none;
        int order = strncmp(x, y, m ? m : sizeof none - 1);
        if (order || !*x)
            return order;
        a += m ? m : 1;
        b += n ? n : 1;
    }
}

static int prof_by_key(const gnomon__function *a, const gnomon__function *b)
{
    int order = prof_by_text(a->file, b->file);
    if (!order && a->line != b->line)
        order = a->line < b->line ? -1 : 1;
    return order ? order : prof_by_text(a->name, b->name);
}

static int prof_by_row(const void *left, const void *right)
{
    const prof_row *a = left, *b = right;
    int order = prof_by_key(a->of, b->of);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static int prof_by_edge(const void *left, const void *right)
{
    const gnomon__caller *a = left, *b = right;
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    return (a->caller > b->caller) - (a->caller < b->caller);
}

/* numbers[order] is the first order of an equal row, then that row's number. */
static void prof_number_rows(prof_sum *s)
{
    gnomon__functions *to = &s->table;
    for (size_t i = 0; i < s->row_count; i++)
        s->rows[i].order = (uint32_t)i;
    qsort(s->rows, s->row_count, sizeof *s->rows, prof_by_row);
    for (size_t i = 0, first = 0; i < s->row_count; i++) {
        if (prof_by_key(s->rows[first].of, s->rows[i].of) != 0)
            first = i;
        s->numbers[s->rows[i].order] = s->rows[first].order;
    }
    for (size_t i = 0; i < s->row_count; i++)
        s->numbers[i] = s->numbers[i] == i ? (uint32_t)to->row_count++
                                           : s->numbers[s->numbers[i]];
}

static void prof_add_rows(prof_sum *s)
{
    for (size_t i = 0; i < s->row_count; i++) {
        const gnomon__function *from = s->rows[i].of;
        gnomon__function *to = &s->table.rows[s->numbers[s->rows[i].order]];
        to->file = from->file;
        to->name = from->name;
        to->line = from->line;
        to->nc += from->nc;
        to->cc += from->cc;
        to->tt_ns += from->tt_ns;
        to->ct_ns += from->ct_ns;
    }
}

/* Callers in the order of their callees, as the table has them; equal ones added up. */
static void prof_add_callers(prof_sum *s)
{
    gnomon__functions *to = &s->table;
    gnomon__caller *callers = to->callers;
    size_t all = 0, before = 0;
    for (size_t i = 0; i < s->count; i++) {
        for (size_t k = 0; k < s->tables[i]->caller_count; k++) {
            gnomon__caller *c = &callers[all++];
            *c = s->tables[i]->callers[k];
            c->caller = s->numbers[before + c->caller];
            c->callee = s->numbers[before + c->callee];
        }
        before += s->tables[i]->row_count;
    }
    qsort(callers, all, sizeof *callers, prof_by_edge);
    for (size_t i = 0; i < all; i++) {
        gnomon__caller *last =
            to->caller_count ? &callers[to->caller_count - 1] : NULL;
        if (last && prof_by_edge(last, &callers[i]) == 0) {
            last->nc += callers[i].nc;
            last->cc += callers[i].cc;
            last->tt_ns += callers[i].tt_ns;
            last->ct_ns += callers[i].ct_ns;
            continue;
        }
        gnomon__function *row = &to->rows[callers[i].callee];
        if (!row->caller_count++)
            row->first_caller = to->caller_count;
        callers[to->caller_count++] = callers[i];
    }
}

/* False: no memory. */
static int prof_unite(prof_sum *s)
{
    size_t callers = 0, at = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->row_count += s->tables[i]->row_count;
        callers += s->tables[i]->caller_count;
    }
    s->rows = calloc(s->row_count + 1, sizeof *s->rows);
    s->numbers = calloc(s->row_count + 1, sizeof *s->numbers);
    s->table.rows = calloc(s->row_count + 1, sizeof *s->table.rows);
    s->table.callers = calloc(callers + 1, sizeof *s->table.callers);
    if (!s->rows || !s->numbers || !s->table.rows || !s->table.callers)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->tables[i]->row_count; k++)
            s->rows[at++].of = &s->tables[i]->rows[k];
    prof_number_rows(s);
    prof_add_rows(s);
    prof_add_callers(s);
    return 1;
}

/* ---- The file ---------------------------------------------------------------------- */

static int prof_read(prof_sum *s, const gnomon__export *what)
{
    s->calls = calloc(what->count + 1, sizeof *s->calls);
    s->tables = calloc(what->count + 1, sizeof *s->tables);
    if (!s->calls || !s->tables)
        return GNOMON_ENOMEM;
    for (size_t i = 0; i < what->count; i++) {
        int code = prof_calls(&s->calls[i], what->profiles[i]);
        if (code)
            return code;
        s->tables[i] =
            gnomon__calls_table(s->calls[i], GNOMON__CALLS_ALL, "<gnomon>");
        s->count++;
    }
    return prof_unite(s) ? GNOMON_OK : GNOMON_ENOMEM;
}

static void prof_free(prof_sum *s, size_t count)
{
    for (size_t i = 0; s->calls && i < count; i++)
        gnomon__calls_free(s->calls[i]);
    free(s->calls);
    free(s->tables);
    free(s->rows);
    free(s->numbers);
    free(s->table.rows);
    free(s->table.callers);
}

static int prof_write_all(const gnomon__export *what, const gnomon_writer *out)
{
    prof_sum s = {.count = 0};
    int code = prof_read(&s, what);
    if (!code) {
        const size_t size = gnomon__prof_size(&s.table);
        unsigned char *bytes = malloc(size);
        code = GNOMON_ENOMEM;
        if (bytes) {
            gnomon__prof_write(&s.table, bytes);
            code = out->write(out, bytes, size);
        }
        free(bytes);
    }
    prof_free(&s, what->count);
    return code;
}

const gnomon__exporter gnomon__export_prof = {
    .name = "prof",
    .extension = ".prof",
    .about = "calls and times of functions, for pstats and snakeviz",
    .write = prof_write_all};
