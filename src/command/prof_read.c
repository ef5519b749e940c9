/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One object is read: a dict of functions, each with a dict of its callers. Invariant: each
 * value that is made has taken a byte at least, so their number is bounded; what refers to
 * an earlier value shares it, and edges that come of that are counted. */
#include "command/prof_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "profile/slots.h"

#define PROF_DEPTH 8
#define PROF_TEXT_MOST 4096u /* bytes */
#define PROF_FLAG 0x80       /* of a type: others may refer to the value */

typedef enum prof_kind {
    PROF_NONE,
    PROF_NUMBER,
    PROF_TEXT,
    PROF_LIST
} prof_kind;

/* A list is a tuple, or keys and values of a dict. */
typedef struct prof_value {
    prof_kind kind;
    int is_dict;
    double number;
    size_t at, count; /* of a text: in the bytes; of a list: in `items` */
} prof_value;

typedef struct prof_reader {
    const unsigned char *bytes;
    size_t size, at;
    prof_value *items; /* of all lists; each list's lie together */
    size_t count, room;
    prof_value *refs; /* kind NONE: it is not read to its end */
    size_t ref_count, ref_room;
    const char *why; /* what is wrong; NULL with `failed`: no memory */
    int failed;
} prof_reader;

static prof_value prof_fail(prof_reader *r, const char *why)
{
    if (!r->failed)
        r->why = why;
    r->failed = 1;
    return (prof_value){.kind = PROF_NONE};
}

static uint64_t prof_take(prof_reader *r, size_t size)
{
    uint64_t value = 0;
    if (r->size - r->at < size) {
        prof_fail(r, "it ends too early");
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)r->bytes[r->at++] << 8 * i;
    return value;
}

static prof_value prof_text(prof_reader *r, uint64_t size)
{
    const prof_value v = {
        .kind = PROF_TEXT, .at = r->at, .count = (size_t)size};
    if (r->failed || size > r->size - r->at)
        return prof_fail(r, "it ends too early");
    r->at += (size_t)size;
    return v;
}

static prof_value prof_number(double number)
{
    return (prof_value){.kind = PROF_NUMBER, .number = number};
}

static prof_value prof_double(prof_reader *r)
{
    const uint64_t bits = prof_take(r, 8);
    double number;
    memcpy(&number, &bits, sizeof number);
    return prof_number(number);
}

/* The text of a number, as old versions write it. */
static prof_value prof_printed(prof_reader *r)
{
    char text[64] = "";
    const prof_value v = prof_text(r, prof_take(r, 1));
    if (r->failed || v.count >= sizeof text)
        return prof_fail(r, "a number is too long");
    memcpy(text, r->bytes + v.at, v.count);
    return prof_number(strtod(text, NULL));
}

static prof_value prof_long(prof_reader *r)
{
    const int32_t digits = (int32_t)(uint32_t)prof_take(r, 4);
    double number = 0, unit = 1;
    for (int32_t i = 0; i < (digits < 0 ? -(int64_t)digits : digits); i++) {
        number += (double)prof_take(r, 2) * unit;
        unit *= 32768;
        if (r->failed || i > 64)
            return prof_fail(r, "a number is too long");
    }
    return prof_number(digits < 0 ? -number : number);
}

static prof_value prof_read_value(prof_reader *r, int depth);

/* A dict ends with a type 0, and has as many as come before. */
static prof_value prof_list(prof_reader *r, int is_dict, uint64_t count,
                            int depth)
{
    prof_value list = {.kind = PROF_LIST, .is_dict = is_dict}, *own = NULL;
    size_t room = 0;
    while (!r->failed && (is_dict || list.count < count)) {
        if (is_dict && list.count % 2 == 0 && r->at < r->size &&
            r->bytes[r->at] == '0') {
            r->at++;
            break;
        }
        const prof_value item = prof_read_value(r, depth + 1);
        if (!r->failed && !GNOMON__ADD(own, room, list.count, item))
            prof_fail(r, NULL);
    }
    list.at = r->count;
    if (!r->failed && list.count &&
        !gnomon__grow(&r->items, &r->room, r->count + list.count, sizeof *own))
        prof_fail(r, NULL);
    if (!r->failed && list.count) {
        memcpy(r->items + r->count, own, list.count * sizeof *own);
        r->count += list.count;
    }
    gnomon__free(own);
    return list;
}

static prof_value prof_ref(prof_reader *r)
{
    const uint64_t number = prof_take(r, 4);
    if (r->failed || number >= r->ref_count ||
        r->refs[number].kind == PROF_NONE)
        return prof_fail(r, "it refers to a value that is not there");
    return r->refs[number];
}

static prof_value prof_of_type(prof_reader *r, int type, int depth)
{
    switch (type) {
    case 'N':
        return (prof_value){.kind = PROF_TEXT};
    case 'i':
        return prof_number((double)(int32_t)(uint32_t)prof_take(r, 4));
    case 'I':
        return prof_number((double)(int64_t)prof_take(r, 8));
    case 'l':
        return prof_long(r);
    case 'g':
        return prof_double(r);
    case 'f':
        return prof_printed(r);
    case 's':
    case 't':
    case 'u':
    case 'a':
    case 'A':
        return prof_text(r, prof_take(r, 4));
    case 'z':
    case 'Z':
        return prof_text(r, prof_take(r, 1));
    case '(':
        return prof_list(r, 0, prof_take(r, 4), depth);
    case ')':
        return prof_list(r, 0, prof_take(r, 1), depth);
    case '{':
        return prof_list(r, 1, 0, depth);
    default:
        return prof_fail(r, "it has values that cProfile does not write");
    }
}

static prof_value prof_read_value(prof_reader *r, int depth)
{
    const int type = (int)prof_take(r, 1), plain = type & ~PROF_FLAG;
    const size_t number = r->ref_count;
    if (r->failed || depth > PROF_DEPTH)
        return prof_fail(r, "it is nested too deep");
    if (plain == 'r')
        return prof_ref(r);
    if (type & PROF_FLAG) {
        if (!GNOMON__ADD(r->refs, r->ref_room, r->ref_count,
                         (prof_value){.kind = PROF_NONE}))
            return prof_fail(r, NULL);
    }
    const prof_value v = prof_of_type(r, plain, depth);
    if (type & PROF_FLAG && !r->failed)
        r->refs[number] = v;
    return v;
}

/* ---- The table ----------------------------------------------------------------------- */

typedef struct prof_maker {
    prof_reader *r;
    gnomon__prof_table *table;
    gnomon__slots known; /* functions, from 1 */
    gnomon__text_table known_texts;
    size_t texts; /* bytes */
} prof_maker;

static const char prof_no_text[] = "";

/* The one copy of a text, as long as the table. Those that differ have bytes of their own
 * in the file, so with their NULs they are no longer than twice the file. */
static const char *prof_keep(prof_maker *m, const prof_value *v)
{
    char *text = m->table->texts + m->texts;
    gnomon__text_item *item;
    if (v->kind != PROF_TEXT || !v->count)
        return prof_no_text;
    if (v->count > PROF_TEXT_MOST) {
        prof_fail(m->r, "a name is too long");
        return prof_no_text;
    }
    memcpy(text, m->r->bytes + v->at, v->count);
    text[v->count] = 0;
    item = gnomon__text_intern(&m->known_texts, text);
    if (!item) {
        prof_fail(m->r, NULL);
        return prof_no_text;
    }
    if (!item->text) {
        item->text = text;
        m->texts += v->count + 1;
    }
    return item->text;
}

static int prof_is_same(const void *context, uint32_t item, const void *wanted)
{
    const gnomon__prof_table *t = context;
    const gnomon__prof_function *a = &t->functions[item - 1], *b = wanted;
    return a->line == b->line && a->name == b->name && a->file == b->file;
}

static double prof_item(const prof_maker *m, const prof_value *list, size_t i)
{
    const prof_value *v = &m->r->items[list->at + i];
    return i < list->count && v->kind == PROF_NUMBER && isfinite(v->number) &&
                   v->number > 0
               ? v->number
               : 0;
}

/* Times of a function: primitive calls come first; of an edge all calls. */
static gnomon__prof_times prof_times_of(const prof_maker *m,
                                        const prof_value *list, int is_edge)
{
    const double most = 9e15; /* ns: 104 days, and whole as a double */
    const double first = fmin(prof_item(m, list, 0), most);
    const double second = fmin(prof_item(m, list, 1), most);
    return (gnomon__prof_times){
        .calls = (uint64_t)(is_edge ? first : second),
        .primitive = (uint64_t)(is_edge ? second : first),
        .self = fmin(prof_item(m, list, 2) * 1e9, most),
        .total = fmin(prof_item(m, list, 3) * 1e9, most)};
}

static int prof_is_tuple(const prof_value *v, size_t least)
{
    return v->kind == PROF_LIST && !v->is_dict && v->count >= least;
}

/* The number of a function, from 1; 0: no memory. */
static uint32_t prof_function(prof_maker *m, const prof_value *key)
{
    const prof_value *part = &m->r->items[key->at];
    gnomon__prof_table *t = m->table;
    gnomon__prof_function f = {
        .file = prof_keep(m, &part[0]),
        .line = (uint32_t)fmin(prof_item(m, key, 1), UINT32_MAX),
        .name = prof_keep(m, &part[2])};
    const uint64_t hash =
        gnomon__mix(gnomon__mix(gnomon__hash_text(f.name), f.line),
                    gnomon__hash_text(f.file));
    uint32_t number = gnomon__slots_find(&m->known, hash, prof_is_same, t, &f);
    if (number)
        return number;
    if (!GNOMON__ADD(t->functions, t->room, t->count, f) ||
        gnomon__slots_add(&m->known, hash, (uint32_t)t->count)) {
        prof_fail(m->r, NULL);
        return 0;
    }
    return (uint32_t)t->count;
}

static void prof_edges(prof_maker *m, uint32_t callee, const prof_value *dict)
{
    gnomon__prof_table *t = m->table;
    for (size_t i = 0; !m->r->failed && i + 1 < dict->count; i += 2) {
        const prof_value *key = &m->r->items[dict->at + i], *of = key + 1;
        if (!prof_is_tuple(key, 3) || !prof_is_tuple(of, 4)) {
            prof_fail(m->r, "a caller is no function");
        } else if (t->edge_count >= m->r->size) {
            prof_fail(m->r, "it shares its dicts of callers");
        } else {
            const uint32_t caller = prof_function(m, key);
            if (caller &&
                !GNOMON__ADD(t->edges, t->edge_room, t->edge_count,
                             (gnomon__prof_edge){caller - 1, callee - 1,
                                                 prof_times_of(m, of, 1)}))
                prof_fail(m->r, NULL);
        }
    }
}

static void prof_make_table(prof_maker *m, const prof_value *all)
{
    for (size_t i = 0; !m->r->failed && i + 1 < all->count; i += 2) {
        const prof_value *key = &m->r->items[all->at + i], *of = key + 1;
        const prof_value *callers = &m->r->items[of->at + 4];
        uint32_t number;
        if (!prof_is_tuple(key, 3) || !prof_is_tuple(of, 5) ||
            callers->kind != PROF_LIST || !callers->is_dict)
            prof_fail(m->r, "it is no table of functions");
        else if ((number = prof_function(m, key)) != 0) {
            m->table->functions[number - 1].times = prof_times_of(m, of, 0);
            prof_edges(m, number, callers);
        }
    }
}

int gnomon__prof_is(const void *head, size_t size)
{
    const unsigned char *b = head;
    return size > 1 && (b[0] & 127) == '{' &&
           ((b[1] & 127) == '(' || (b[1] & 127) == ')' || b[1] == '0');
}

int gnomon__prof_table_read(gnomon__prof_table *table, const void *bytes,
                            size_t size)
{
    prof_reader r = {.bytes = bytes, .size = size};
    prof_maker m = {.r = &r, .table = table};
    const prof_value all = prof_read_value(&r, 0);
    if (!r.failed && (all.kind != PROF_LIST || !all.is_dict))
        prof_fail(&r, "it is no table of functions");
    table->texts =
        r.failed ? NULL : gnomon__alloc(2 * size + PROF_TEXT_MOST + 1);
    if (!r.failed && !table->texts)
        prof_fail(&r, NULL);
    if (!r.failed)
        prof_make_table(&m, &all);
    gnomon__slots_free(&m.known);
    gnomon__text_table_free(&m.known_texts);
    gnomon__free(r.items);
    gnomon__free(r.refs);
    if (!r.failed)
        return GNOMON_OK;
    return r.why ? gnomon__fail(GNOMON_EINVAL, "no file of cProfile: %s", r.why)
                 : gnomon__fail(GNOMON_ENOMEM, "no memory to read it");
}

void gnomon__prof_table_free(gnomon__prof_table *table)
{
    gnomon__free(table->functions);
    gnomon__free(table->edges);
    gnomon__free(table->texts);
    *table = (gnomon__prof_table){0};
}
