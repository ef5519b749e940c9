/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names and values that a viewer lists for an event. What many events share is written
 * once for each run and then named by a number: of a region its own; of an operation's
 * texts those from names.strings on. */
#include "export/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Annotations ---------------------------------------------------------------------- */

static void begin_note(gnomon__wire *w, uint64_t key, const char *name)
{
    gnomon__wire_open(w, EVENT_ANNOTATION);
    if (key)
        gnomon__wire_number(w, ANNOTATION_KEY, key);
    else
        gnomon__wire_text(w, ANNOTATION_NAME, name);
}

void gnomon__perfetto_note(gnomon__wire *w, uint64_t key, const char *name,
                           uint32_t field, uint64_t value)
{
    begin_note(w, key, name);
    gnomon__wire_number(w, field, value);
    gnomon__wire_close(w);
}

void gnomon__perfetto_note_text(gnomon__wire *w, uint64_t key, const char *name,
                                const char *text)
{
    if (!text || !*text)
        return;
    begin_note(w, key, name);
    gnomon__wire_text(w, ANNOTATION_TEXT, text);
    gnomon__wire_close(w);
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* A text without escapes: it can be shown without its quotes. */
static int is_plain_text(const char *json)
{
    size_t n = strlen(json);
    return n >= 2 && json[0] == '"' && json[n - 1] == '"' &&
           !memchr(json, '\\', n);
}

/* Writes what a JSON value is as a text. */
static void put_json_text(gnomon__wire *w, uint32_t field, const char *json)
{
    if (!is_plain_text(json)) {
        gnomon__wire_text(w, field, json);
        return;
    }
    gnomon__wire_open(w, field);
    gnomon__wire_form(w, 0, "%s", json + 1);
    if (!w->has_failed)
        w->size--; /* the quote */
    gnomon__wire_close(w);
}

/* Without the point, as the locale may have another. 0: it is too long. */
static int without_point(const char *json, char *text, size_t room)
{
    const char *point = strchr(json, '.'), *e = strpbrk(json, "eE");
    const size_t before = (size_t)((point ? point : json) - json);
    const size_t decimals =
        point ? (e ? (size_t)(e - point) : strlen(point)) - 1 : 0;
    if (!point)
        return snprintf(text, room, "%s", json) < (int)room;
    return snprintf(text, room, "%.*s%.*se%ld", (int)before, json,
                    (int)decimals, point + 1,
                    (e ? strtol(e + 1, NULL, 10) : 0) - (long)decimals) <
           (int)room;
}

/* Writes a number; 0: it is none, or one that no 64 bits hold. */
static int put_json_number(gnomon__wire *w, const char *json)
{
    char *end;
    errno = 0;
    if (!(*json >= '0' && *json <= '9') && *json != '-')
        return 0;
    long long integer = strtoll(json, &end, 10);
    if (!*end && !errno) {
        gnomon__wire_number(w, ANNOTATION_INT, (uint64_t)integer);
        return 1;
    }
    errno = 0;
    unsigned long long natural = strtoull(json, &end, 10);
    if (!*end && !errno && *json != '-') {
        gnomon__wire_number(w, ANNOTATION_UINT, natural);
        return 1;
    }
    char text[64];
    if (!without_point(json, text, sizeof text))
        return 0;
    double real = strtod(text, &end);
    if (*end || !strpbrk(json, ".eE"))
        return 0;
    gnomon__wire_double(w, ANNOTATION_DOUBLE, real);
    return 1;
}

void gnomon__perfetto_note_json(gnomon__wire *w, uint64_t key, const char *name,
                                const char *json)
{
    begin_note(w, key, name);
    if (strcmp(json, "true") == 0 || strcmp(json, "false") == 0)
        gnomon__wire_number(w, ANNOTATION_BOOL, *json == 't');
    else if (put_json_number(w, json))
        ;
    else if (key)
        gnomon__wire_number(w, ANNOTATION_TEXT_IID, key);
    else
        put_json_text(w, ANNOTATION_TEXT, json);
    gnomon__wire_close(w);
}

/* Numbers of categories: of kinds, then those that regions name. */
#define KIND_CATEGORIES 32u

/* Of an operation's texts: its name and its inputs' three, in the order of their keys;
 * then its attributes. */
enum { TEXT_OPERATION, TEXT_DIMS, TEXT_STRIDES, TEXT_TYPES, TEXT_ATTRIBUTES };

static const char *const kind_names[] = {
    "scope", "function", "action", "range", "mark",       "counter", "python",
    "api",   "kernel",   "copy",   "set",   "collective", "line"};
#define KIND_COUNT (uint32_t)(sizeof kind_names / sizeof *kind_names)

/* ---- Names of a profile --------------------------------------------------------------- */

int gnomon__perfetto_names_begin(gnomon__perfetto *f)
{
    gnomon__perfetto_names *n = &f->names;
    size_t regions = gnomon_profile_count(f->line.p, GNOMON_REGIONS);
    size_t ops = gnomon_profile_count(f->line.p, GNOMON_OPS);
    gnomon_op_info op;
    gnomon_node_info node;
    n->node_count = gnomon_profile_count(f->line.p, GNOMON_NODES);
    n->nodes = calloc(n->node_count + 1, sizeof *n->nodes);
    n->regions = calloc(regions + 1, sizeof *n->regions);
    n->ops = calloc(ops + 1, sizeof *n->ops);
    n->strings = calloc(ops + 2, sizeof *n->strings);
    if (!n->nodes || !n->regions || !n->ops || !n->strings)
        return 0;
    for (size_t i = 1; !gnomon_profile_node(f->line.p, i, &node); i++)
        n->nodes[i] = (gnomon__perfetto_node){node.region, node.op};
    n->strings[0] = n->strings[1] = GNOMON__PERFETTO_KEY_COUNT;
    for (size_t i = 1; !gnomon_profile_op(f->line.p, i, &op); i++)
        n->strings[i + 1] =
            n->strings[i] + TEXT_ATTRIBUTES + op.attribute_count;
    return 1;
}

void gnomon__perfetto_names_end(gnomon__perfetto *f)
{
    free(f->names.nodes);
    free(f->names.regions);
    free(f->names.ops);
    free(f->names.strings);
    f->names = (gnomon__perfetto_names){0};
}

/* ---- Entries --------------------------------------------------------------------------- */

static void begin_entry(gnomon__wire *w, uint32_t field, uint64_t number)
{
    gnomon__wire_open(w, field);
    gnomon__wire_number(w, ENTRY_IID, number);
}

static void put_entry(gnomon__wire *w, uint32_t field, uint64_t number,
                      const char *text)
{
    begin_entry(w, field, number);
    gnomon__wire_text(w, ENTRY_TEXT, text);
    gnomon__wire_close(w);
}

static uint64_t category_of(const gnomon_region_info *r, uint32_t region)
{
    return *r->category           ? (uint64_t)KIND_CATEGORIES + region
           : r->kind < KIND_COUNT ? r->kind + 1
                                  : 0;
}

static int has_source(const gnomon_region_info *r)
{
    return *r->file || *r->function;
}

static void put_region(gnomon__perfetto *f, uint32_t region)
{
    gnomon_region_info r = {
        .name = "", .category = "", .file = "", .function = ""};
    gnomon__wire *w = &f->wire;
    (void)gnomon_profile_region(f->line.p, region, &r);
    put_entry(w, INTERNED_NAME, region, r.name);
    uint64_t category = category_of(&r, region);
    f->names.regions[region].category = category;
    f->names.regions[region].has_source = has_source(&r) != 0;
    if (category)
        put_entry(w, INTERNED_CATEGORY, category,
                  *r.category ? r.category : kind_names[r.kind]);
    if (!has_source(&r))
        return;
    begin_entry(w, INTERNED_SOURCE, region);
    gnomon__wire_text(w, ENTRY_TEXT, r.file);
    gnomon__wire_text(w, SOURCE_FUNCTION, r.function);
    gnomon__wire_number(w, SOURCE_LINE, r.line);
    gnomon__wire_close(w);
}

/* ---- Operations -------------------------------------------------------------------------- */

static void put_sizes(gnomon__wire *w, const int64_t *of, uint32_t rank)
{
    gnomon__wire_form(w, 0, "[");
    for (uint32_t i = 0; of && i < rank; i++)
        gnomon__wire_form(w, 0, "%s%jd", i ? ", " : "", of[i]);
    gnomon__wire_form(w, 0, "]");
}

/* One text for all inputs, as torch's traces have it. */
static void put_inputs(gnomon__wire *w, const gnomon_op_info *op, int which,
                       uint64_t number)
{
    begin_entry(w, INTERNED_STRING, number);
    gnomon__wire_open(w, ENTRY_TEXT);
    gnomon__wire_form(w, 0, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        gnomon__wire_form(w, 0, "%s", i ? ", " : "");
        if (which == TEXT_TYPES)
            gnomon__wire_form(w, 0, "%s", input->dtype);
        else
            put_sizes(w, which == TEXT_DIMS ? input->dims : input->strides,
                      input->rank);
    }
    gnomon__wire_form(w, 0, "]");
    gnomon__wire_close(w);
    gnomon__wire_close(w);
}

static int has_strides(const gnomon_op_info *op)
{
    for (size_t i = 0; i < op->input_count; i++)
        if (gnomon_input_at(op, i)->strides)
            return 1;
    return 0;
}

static void put_op_texts(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    uint64_t base = f->names.strings[number];
    gnomon_op_info op;
    if (gnomon_profile_op(f->line.p, number, &op))
        return;
    put_entry(w, INTERNED_STRING, base + TEXT_OPERATION, op.operation);
    put_inputs(w, &op, TEXT_DIMS, base + TEXT_DIMS);
    put_inputs(w, &op, TEXT_STRIDES, base + TEXT_STRIDES);
    put_inputs(w, &op, TEXT_TYPES, base + TEXT_TYPES);
    for (size_t i = 0; i < op.attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(&op, i);
        uint64_t at = base + TEXT_ATTRIBUTES + i;
        put_entry(w, INTERNED_KEY, at, a->key);
        begin_entry(w, INTERNED_STRING, at);
        put_json_text(w, ENTRY_TEXT, a->json);
        gnomon__wire_close(w);
    }
}

void gnomon__perfetto_op(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    gnomon_op_info op;
    if (!number || gnomon_profile_op(f->line.p, number, &op))
        return;
    const uint64_t base = f->names.strings[number];
    const int has[] = {*op.operation != 0, op.input_count != 0,
                       has_strides(&op), op.input_count != 0};
    for (uint64_t i = TEXT_OPERATION; i < TEXT_ATTRIBUTES; i++)
        if (has[i])
            gnomon__perfetto_note(w, GNOMON__PERFETTO_OPERATION + i, NULL,
                                  ANNOTATION_TEXT_IID, base + i);
    if (op.flags & GNOMON_OP_BACKWARD)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BACKWARD, NULL,
                              ANNOTATION_UINT, 1);
    if (op.flops)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_FLOPS, NULL, ANNOTATION_UINT,
                              op.flops);
    if (op.bytes)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BYTES, NULL, ANNOTATION_UINT,
                              op.bytes);
    for (size_t i = 0; i < op.attribute_count; i++)
        gnomon__perfetto_note_json(w, base + TEXT_ATTRIBUTES + i, NULL,
                                   gnomon_attribute_at(&op, i)->json);
}

/* ---- For events ----------------------------------------------------------------------------- */

void gnomon__perfetto_intern(gnomon__perfetto *f, uint32_t run, uint32_t region,
                             uint32_t op)
{
    const uint32_t sequence = (uint32_t)f->runs_before + run + 1;
    int has_region = f->names.regions[region].sequence == sequence;
    int has_op = !op || f->names.ops[op] == sequence;
    if (has_region && has_op)
        return;
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    gnomon__wire_open(w, PACKET_INTERNED);
    if (!has_region)
        put_region(f, region);
    if (!has_op)
        put_op_texts(f, op);
    gnomon__wire_close(w);
    gnomon__perfetto_packet_end(f);
    f->names.regions[region].sequence = sequence;
    f->names.ops[op] = sequence;
}

void gnomon__perfetto_name(gnomon__perfetto *f, uint32_t region)
{
    const gnomon__perfetto_region *r = &f->names.regions[region];
    gnomon__wire *w = &f->wire;
    gnomon__wire_number(w, EVENT_NAME_IID, region);
    if (r->category)
        gnomon__wire_number(w, EVENT_CATEGORY_IIDS, r->category);
    if (r->has_source)
        gnomon__wire_number(w, EVENT_SOURCE_IID, region);
}
