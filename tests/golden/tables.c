/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plays the golden cases that print tables of functions. Those of `pstats` and
 * `advanced` come with their tables, so they test what is between table and
 * text; `cprofile` goes all the way, from marks on the test clock. */
#include "tables.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "print/letters.h"
#include "print/functions.h"
#include "print/pstats.h"
#include "print/python.h"

#define TABLES_ZERO_NS 1000u
#define TABLES_DEEPEST 1024

/* ---- A writer -------------------------------------------------------------- */

static int tables_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    return fwrite(bytes, 1, size, writer->context) == size ? GNOMON_OK
                                                           : GNOMON_EIO;
}

static int tables_print(const gnomon_writer *writer, const char *format, ...)
    GNOMON_PRINTF(2, 3);
static int tables_print(const gnomon_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vfprintf(writer->context, format, arguments);
    va_end(arguments);
    return n < 0 ? GNOMON_EIO : GNOMON_OK;
}

static gnomon_writer tables_writer(FILE *out)
{
    gnomon_writer writer = {.struct_size = sizeof writer,
                            .write = tables_write,
                            .print = tables_print,
                            .context = out};
    return writer;
}

/* ---- Reading a case ------------------------------------------------------ */

static uint64_t tables_number(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static const char *tables_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int tables_same(const json_t *caller, const gnomon__function *row)
{
    return strcmp(tables_text(caller, "file"), row->file) == 0 &&
           strcmp(tables_text(caller, "function"), row->name) == 0 &&
           tables_number(caller, "line") == row->line;
}

static size_t tables_find(const gnomon__functions *t, const json_t *caller)
{
    size_t row = 0;
    while (row < t->row_count && !tables_same(caller, &t->rows[row]))
        row++;
    return row;
}

static void tables_free(gnomon__functions *t)
{
    free(t->rows);
    free(t->callers);
}

/* 1: a caller has no row */
static int tables_read(const char *path, const json_t *functions,
                       gnomon__functions *t)
{
    size_t index, at;
    json_t *one, *caller;
    memset(t, 0, sizeof *t);
    json_array_foreach(functions, index, one) t->caller_count +=
        json_array_size(json_object_get(one, "callers"));
    t->row_count = json_array_size(functions);
    t->rows = calloc(t->row_count + 1, sizeof *t->rows);
    t->callers = calloc(t->caller_count + 1, sizeof *t->callers);
    t->caller_count = 0;
    json_array_foreach(functions, index, one)
    {
        gnomon__function *row = &t->rows[index];
        row->file = tables_text(one, "file");
        row->name = tables_text(one, "function");
        row->line = (uint32_t)tables_number(one, "line");
        row->nc = tables_number(one, "nc");
        row->cc = tables_number(one, "cc");
        row->tt_ns = tables_number(one, "tt_ns");
        row->ct_ns = tables_number(one, "ct_ns");
    }
    json_array_foreach(functions, index, one)
    {
        gnomon__function *row = &t->rows[index];
        row->first_caller = t->caller_count;
        json_array_foreach(json_object_get(one, "callers"), at, caller)
        {
            size_t from = tables_find(t, caller);
            if (from == t->row_count)
                return golden_fail(path, "a caller is no function");
            gnomon__caller *c = &t->callers[t->caller_count++];
            c->callee = (uint32_t)index;
            c->caller = (uint32_t)from;
            c->nc = tables_number(caller, "nc");
            c->cc = tables_number(caller, "cc");
            c->tt_ns = tables_number(caller, "tt_ns");
            c->ct_ns = tables_number(caller, "ct_ns");
            row->caller_count++;
        }
    }
    return 0;
}

/* A number is parsed as an option's text. */
static int tables_cut(const char *path, const json_t *value,
                      gnomon__restriction *cut)
{
    char text[GNOMON__PYTHON_TEXT];
    bool is_float;
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%lld",
                 (long long)json_integer_value(value));
    else
        gnomon__python_repr(text, json_real_value(value));
    if (!gnomon__python_number(text, &is_float, &cut->count, &cut->fraction))
        return golden_fail(path, "no number: %s", text);
    cut->is_fraction = is_float;
    return 0;
}

/* A case has one key and one restriction at most. */
typedef struct tables_query {
    int key;
    gnomon__restriction cut;
} tables_query;

static int tables_put(const char *path, const gnomon__functions *t,
                      const tables_query *q, const gnomon_writer *writer)
{
    gnomon__pstats p;
    gnomon__report_table keeper = {0};
    int code = gnomon__pstats_make(&p, &keeper, t, q->key, writer);
    if (!code)
        code = gnomon__pstats_print(&p, t, &q->cut, writer);
    gnomon__table_free(&keeper);
    return code ? golden_fail(path, "not printed") : 0;
}

static int tables_ask(const char *path, const json_t *root, tables_query *q)
{
    const json_t *sort = json_array_get(json_object_get(root, "sort"), 0);
    const json_t *cuts = json_object_get(root, "restrictions");
    char number[24];
    const char *word = json_string_value(sort);
    snprintf(number, sizeof number, "%lld",
             (long long)json_integer_value(sort));
    *q = (tables_query){gnomon__pstats_key(word ? word : number),
                        {.fraction = 1, .is_fraction = 1}};
    if (q->key < 0)
        return golden_fail(path, "no sort key: %s", word ? word : number);
    return json_array_size(cuts) &&
           tables_cut(path, json_array_get(cuts, 0), &q->cut);
}

/* ---- The kinds ------------------------------------------------------------- */

int golden_pstats(const char *path, const json_t *root, FILE *out, FILE *prof)
{
    const gnomon_writer writer = tables_writer(out);
    gnomon__functions t;
    tables_query q;
    int failed = tables_ask(path, root, &q) ||
                 tables_read(path, json_object_get(root, "functions"), &t);
    if (failed)
        return 1;
    failed = tables_put(path, &t, &q, &writer);
    size_t size = gnomon__prof_size(&t);
    unsigned char *bytes = malloc(size);
    gnomon__prof_write(&t, bytes);
    if (fwrite(bytes, 1, size, prof) != size)
        failed = golden_fail(path, "no .prof");
    free(bytes);
    tables_free(&t);
    return failed;
}

int golden_advanced(const char *path, const json_t *root, FILE *out)
{
    const json_t *rank = json_object_get(root, "rank");
    const json_t *actions = json_object_get(root, "actions");
    gnomon_writer writer = tables_writer(out);
    tables_query q = {.key = GNOMON__PSTATS_CUMULATIVE};
    size_t index;
    json_t *one;
    int failed = tables_cut(
        path, json_object_get(root, "line_count_restriction"), &q.cut);
    gnomon__print_title(&writer, tables_text(root, "stage"), "Profiler Report");
    json_array_foreach(actions, index, one)
    {
        gnomon__functions t;
        if (failed ||
            tables_read(path, json_object_get(one, "functions"), &t) != 0)
            return 1;
        gnomon__pstats_print_action(
            tables_text(one, "action"),
            json_is_integer(rank) ? (int32_t)json_integer_value(rank) : -1,
            &writer);
        failed = tables_put(path, &t, &q, &writer);
        tables_free(&t);
    }
    return failed;
}

/* ---- cprofile -------------------------------------------------------------- */

/* Regions made at run time as the macros make them; they stay. */
static gnomon_region *tables_region(const json_t *call)
{
    static struct tables_made {
        struct tables_made *next;
        gnomon_region region;
    } * all;
    const char *file = json_string_value(json_array_get(call, 1));
    const char *name = json_string_value(json_array_get(call, 3));
    uint32_t line = (uint32_t)json_integer_value(json_array_get(call, 2));
    struct tables_made *made = all;
    for (; made; made = made->next)
        if (made->region.line == line && !strcmp(made->region.file, file) &&
            !strcmp(made->region.name, name))
            return &made->region;
    made = calloc(1, sizeof *made);
    made->next = all;
    made->region.mask = GNOMON_MASK_UNSEEN;
    made->region.struct_size = sizeof made->region;
    made->region.abi = GNOMON_ABI;
    made->region.kind = GNOMON_KIND_FUNCTION;
    made->region.line = line;
    made->region.name = made->region.function = strdup(name);
    made->region.file = strdup(file);
    all = made;
    return &made->region;
}

static int tables_play(const char *path, const json_t *script,
                       gnomon_token *stack, int *depth)
{
    size_t index;
    json_t *op;
    json_array_foreach(script, index, op)
    {
        const char *word = json_string_value(json_array_get(op, 0));
        json_int_t number = json_integer_value(json_array_get(op, 1));
        if (strcmp(word, "advance") == 0) {
            gnomon__test_pass((uint64_t)number);
        } else if (strcmp(word, "call") == 0 && *depth < TABLES_DEEPEST) {
            stack[(*depth)++] = gnomon_begin(tables_region(op));
        } else if (strcmp(word, "return") == 0 && *depth > 0) {
            gnomon_end(stack[--*depth]);
        } else if (strcmp(word, "repeat") == 0) {
            for (; number > 0; number--)
                if (tables_play(path, json_array_get(op, 2), stack, depth))
                    return 1;
        } else {
            return golden_fail(path, "unknown operation %s", word);
        }
    }
    return 0;
}

static int tables_of_profile(const char *path, const gnomon_profile *profile,
                             const tables_query *q, FILE *out)
{
    const gnomon_writer writer = tables_writer(out);
    gnomon__calls *calls;
    if (gnomon_profile_check(profile) != GNOMON_OK)
        return golden_fail(path, "%s", gnomon_error_text());
    if (gnomon__calls_make(&calls, profile, NULL) != GNOMON_OK)
        return golden_fail(path, "out of memory");
    int failed = tables_put(
        path, gnomon__calls_table(calls, GNOMON__CALLS_ALL, NULL), q, &writer);
    gnomon__calls_free(calls);
    return failed;
}

int golden_cprofile(const char *path, const json_t *root, FILE *out)
{
    static gnomon_token stack[TABLES_DEEPEST];
    gnomon_profile *profile = NULL;
    tables_query q;
    int depth = 0;
    if (tables_ask(path, root, &q))
        return 1;
    gnomon__test_set(TABLES_ZERO_NS);
    if (gnomon_setup(NULL) != GNOMON_OK ||
        gnomon_attach(NULL, NULL, "simple") != GNOMON_OK)
        return golden_fail(path, "%s", gnomon_error_text());
    int failed =
        tables_play(path, json_object_get(root, "script"), stack, &depth);
    if (gnomon_snapshot(&profile, "simple", 0) != GNOMON_OK)
        failed = golden_fail(path, "snapshot: %s", gnomon_error_text());
    else
        failed |= tables_of_profile(path, profile, &q, out);
    gnomon_profile_free(profile);
    if (golden_quiet_teardown() != GNOMON_OK)
        failed = golden_fail(path, "teardown: %s", gnomon_error_text());
    return failed;
}
