/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What many events share is written once for each run and then named by a number: of a
 * region its own; of an operation's texts those from names.strings on. */
#include "export/perfetto.h"

#include <stdlib.h>

/* Numbers of categories: of kinds, then those that regions name. */
#define KIND_CATEGORIES 32u

/* Of an operation's texts: its name and its inputs' three; then its attributes. */
enum { TEXT_OPERATION, TEXT_DIMS, TEXT_STRIDES, TEXT_TYPES, TEXT_ATTRIBUTES };

static const char *const perfetto_kind_names[] = {
    "scope", "function", "action", "range", "mark",       "counter", "python",
    "api",   "kernel",   "copy",   "set",   "collective", "line"};
#define KIND_COUNT \
    (uint32_t)(sizeof perfetto_kind_names / sizeof *perfetto_kind_names)

int gnomon__perfetto_names_begin(gnomon__perfetto *f)
{
    gnomon__perfetto_names *n = &f->names;
    size_t regions = gnomon_profile_count(f->p, GNOMON_REGIONS);
    size_t ops = gnomon_profile_count(f->p, GNOMON_OPS);
    gnomon_op_info op;
    gnomon_node_info node;
    n->node_count = gnomon_profile_count(f->p, GNOMON_NODES);
    n->nodes = calloc(n->node_count + 1, sizeof *n->nodes);
    n->regions = calloc(regions + 1, sizeof *n->regions);
    n->ops = calloc(ops + 1, sizeof *n->ops);
    n->strings = calloc(ops + 2, sizeof *n->strings);
    if (!n->nodes || !n->regions || !n->ops || !n->strings)
        return 0;
    for (size_t i = 1; !gnomon_profile_node(f->p, i, &node); i++)
        n->nodes[i] = (gnomon__perfetto_node){node.region, node.op};
    n->strings[0] = n->strings[1] = GNOMON__PERFETTO_KEY_COUNT;
    for (size_t i = 1; !gnomon_profile_op(f->p, i, &op); i++)
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

static size_t perfetto_begin_entry(gnomon__wire *w, uint32_t field,
                                   uint64_t number)
{
    size_t from = gnomon__wire_open(w, field);
    gnomon__wire_number(w, ENTRY_IID, number);
    return from;
}

static void perfetto_put_entry(gnomon__wire *w, uint32_t field, uint64_t number,
                               const char *text)
{
    size_t from = perfetto_begin_entry(w, field, number);
    gnomon__wire_text(w, ENTRY_TEXT, text);
    gnomon__wire_close(w, from);
}

static uint64_t perfetto_category_of(const gnomon_region_info *r,
                                     uint32_t region)
{
    return *r->category           ? (uint64_t)KIND_CATEGORIES + region
           : r->kind < KIND_COUNT ? r->kind + 1
                                  : 0;
}

static int perfetto_has_source(const gnomon_region_info *r)
{
    return *r->file || *r->function;
}

static void perfetto_put_region(gnomon__perfetto *f, uint32_t region)
{
    gnomon_region_info r = {
        .name = "", .category = "", .file = "", .function = ""};
    gnomon__wire *w = &f->wire;
    (void)gnomon_profile_region(f->p, region, &r);
    perfetto_put_entry(w, INTERNED_NAME, region, r.name);
    uint64_t category = perfetto_category_of(&r, region);
    f->names.regions[region].category = category;
    f->names.regions[region].has_source = perfetto_has_source(&r) != 0;
    if (category)
        perfetto_put_entry(w, INTERNED_CATEGORY, category,
                           *r.category ? r.category
                                       : perfetto_kind_names[r.kind]);
    if (!perfetto_has_source(&r))
        return;
    size_t from = perfetto_begin_entry(w, INTERNED_SOURCE, region);
    gnomon__wire_text(w, ENTRY_TEXT, r.file);
    gnomon__wire_text(w, SOURCE_FUNCTION, r.function);
    gnomon__wire_number(w, SOURCE_LINE, r.line);
    gnomon__wire_close(w, from);
}

/* ---- Operations -------------------------------------------------------------------------- */

static void perfetto_put_sizes(gnomon__wire *w, const int64_t *of,
                               uint32_t rank)
{
    gnomon__wire_piece(w, "[");
    for (uint32_t i = 0; of && i < rank; i++) {
        gnomon__wire_piece(w, i ? ", " : "");
        gnomon__wire_decimal(w, of[i]);
    }
    gnomon__wire_piece(w, "]");
}

/* One text for all inputs, as torch's traces have it. */
static void perfetto_put_inputs(gnomon__wire *w, const gnomon_op_info *op,
                                int which, uint64_t number)
{
    size_t entry = perfetto_begin_entry(w, INTERNED_STRING, number);
    size_t text = gnomon__wire_open(w, ENTRY_TEXT);
    gnomon__wire_piece(w, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        gnomon__wire_piece(w, i ? ", " : "");
        if (which == TEXT_TYPES)
            gnomon__wire_piece(w, input->dtype);
        else
            perfetto_put_sizes(
                w, which == TEXT_DIMS ? input->dims : input->strides,
                input->rank);
    }
    gnomon__wire_piece(w, "]");
    gnomon__wire_close(w, text);
    gnomon__wire_close(w, entry);
}

static int perfetto_has_strides(const gnomon_op_info *op)
{
    for (size_t i = 0; i < op->input_count; i++)
        if (gnomon_input_at(op, i)->strides)
            return 1;
    return 0;
}

static void perfetto_put_op_texts(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    uint64_t base = f->names.strings[number];
    gnomon_op_info op;
    if (gnomon_profile_op(f->p, number, &op))
        return;
    perfetto_put_entry(w, INTERNED_STRING, base + TEXT_OPERATION, op.operation);
    perfetto_put_inputs(w, &op, TEXT_DIMS, base + TEXT_DIMS);
    perfetto_put_inputs(w, &op, TEXT_STRIDES, base + TEXT_STRIDES);
    perfetto_put_inputs(w, &op, TEXT_TYPES, base + TEXT_TYPES);
    for (size_t i = 0; i < op.attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(&op, i);
        uint64_t at = base + TEXT_ATTRIBUTES + i;
        perfetto_put_entry(w, INTERNED_KEY, at, a->key);
        size_t from = perfetto_begin_entry(w, INTERNED_STRING, at);
        gnomon__perfetto_json_text(w, ENTRY_TEXT, a->json);
        gnomon__wire_close(w, from);
    }
}

void gnomon__perfetto_op(gnomon__perfetto *f, uint32_t number)
{
    gnomon__wire *w = &f->wire;
    gnomon_op_info op;
    if (!number || gnomon_profile_op(f->p, number, &op))
        return;
    uint64_t base = f->names.strings[number];
    if (*op.operation)
        gnomon__perfetto_note_interned(w, GNOMON__PERFETTO_OPERATION,
                                       base + TEXT_OPERATION);
    if (op.input_count) {
        gnomon__perfetto_note_interned(w, GNOMON__PERFETTO_DIMS,
                                       base + TEXT_DIMS);
        if (perfetto_has_strides(&op))
            gnomon__perfetto_note_interned(w, GNOMON__PERFETTO_STRIDES,
                                           base + TEXT_STRIDES);
        gnomon__perfetto_note_interned(w, GNOMON__PERFETTO_TYPES,
                                       base + TEXT_TYPES);
    }
    if (op.flags & GNOMON_OP_BACKWARD)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BACKWARD, 1);
    if (op.flops)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_FLOPS, op.flops);
    if (op.bytes)
        gnomon__perfetto_note(w, GNOMON__PERFETTO_BYTES, op.bytes);
    for (size_t i = 0; i < op.attribute_count; i++) {
        uint64_t at = base + TEXT_ATTRIBUTES + i;
        gnomon__perfetto_say_json(w, "", at, gnomon_attribute_at(&op, i)->json,
                                  at);
    }
}

/* ---- For events ----------------------------------------------------------------------------- */

void gnomon__perfetto_intern(gnomon__perfetto *f, uint32_t run, uint32_t region,
                             uint32_t op)
{
    uint32_t sequence = f->runs[run].sequence;
    int has_region = f->names.regions[region].sequence == sequence;
    int has_op = !op || f->names.ops[op] == sequence;
    if (has_region && has_op)
        return;
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    size_t from = gnomon__wire_open(w, PACKET_INTERNED);
    if (!has_region)
        perfetto_put_region(f, region);
    if (!has_op)
        perfetto_put_op_texts(f, op);
    gnomon__wire_close(w, from);
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
