/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A payload is in the file as it was given, with a header of 32 bytes, or as JSON. Its texts
 * are ids of strings there. */
#include "nsys/payload.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>

#include "command/command.h"
#include "command/output.h"
#include "platform/memory.h"

enum { OPERATION, INPUTS, ATTRIBUTES, FLOPS, BYTES, BACKWARD };
static const char *const field_names[GNOMON__PAYLOAD_FIELDS] = {
    "operation", "inputs", "attributes", "flops", "bytes", "backward"};

/* ---- Texts ------------------------------------------------------------------------------- */

static void put_begin(FILE *to, const char *name, const char *operation)
{
    const gnomon_writer out = gnomon__cli_writer(to);
    fputs("{\"mod\": \"gnomon\", \"name\": ", to);
    gnomon__cli_put_json(&out, name);
    fputs(", \"op\": ", to);
    gnomon__cli_put_json(&out, operation);
    fputs(", \"args\": ", to);
}

static void put_end(FILE *to, uint64_t flops, uint64_t bytes, bool is_backward)
{
    fprintf(to,
            ", \"flops\": %" PRIu64 ", \"bytes\": %" PRIu64
            ", \"backward\": %d}",
            flops, bytes, is_backward);
}

void gnomon__op_text(FILE *to, const char *name, const gnomon_op_info *op)
{
    const gnomon_writer out = gnomon__cli_writer(to);
    put_begin(to, name, op->operation);
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(op, i);
        fputs(i ? ", {\"dtype\": " : "[{\"dtype\": ", to);
        gnomon__cli_put_json(&out, t->dtype);
        fputs(", \"dims\": [", to);
        for (uint32_t d = 0; d < t->rank; d++)
            fprintf(to, "%s%" PRId64, d ? ", " : "", t->dims[d]);
        fputs("]}", to);
    }
    fputs(op->input_count ? "], \"type\": {" : "[], \"type\": {", to);
    for (size_t i = 0; i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        fputs(i ? ", " : "", to);
        gnomon__cli_put_json(&out, a->key);
        fprintf(to, ": %s", a->json);
    }
    fputs("}", to);
    put_end(to, op->flops, op->bytes, op->flags & GNOMON_OP_BACKWARD);
}

/* ---- Layouts -------------------------------------------------------------------------- */

static gnomon__payload_layout *layout_of(gnomon__payloads *p, int64_t domain,
                                         int64_t schema)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->layouts[i].domain == domain && p->layouts[i].schema == schema)
            return &p->layouts[i];
    return NULL;
}

static gnomon__payload_layout *add_layout(gnomon__payloads *p, int64_t domain,
                                          int64_t schema)
{
    if (!gnomon__grow(&p->layouts, &p->room, p->count + 1, sizeof *p->layouts))
        return NULL;
    gnomon__payload_layout *l = &p->layouts[p->count++];
    *l = (gnomon__payload_layout){domain, schema, {0}};
    for (int i = 0; i < GNOMON__PAYLOAD_FIELDS; i++)
        l->at[i] = -1;
    return l;
}

/* Of layouts that name an operation and its inputs: those are gnomon's. */
int gnomon__payloads_read(gnomon__payloads *p, const gnomon__nsys *db)
{
    static const char columns[] = "domainId,schemaId,name,offset";
    int status = GNOMON__EXIT_OK;
    size_t kept = 0;
    sqlite3_stmt *rows =
        gnomon__nsys_select(db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, "");
    while (!status && gnomon__nsys_step(db, rows, &status)) {
        const int64_t domain = sqlite3_column_int64(rows, 0),
                      schema = sqlite3_column_int64(rows, 1);
        const char *name = (const char *)sqlite3_column_text(rows, 2);
        gnomon__payload_layout *l = layout_of(p, domain, schema);
        l = l ? l : add_layout(p, domain, schema);
        if (!l)
            status = GNOMON__EXIT_UNREADABLE;
        for (int i = 0; l && name && i < GNOMON__PAYLOAD_FIELDS; i++)
            if (!strcmp(name, field_names[i]))
                l->at[i] = 32 + sqlite3_column_int64(rows, 3);
    }
    sqlite3_finalize(rows);
    for (size_t i = 0; i < p->count; i++)
        if (p->layouts[i].at[OPERATION] >= 0 && p->layouts[i].at[INPUTS] >= 0)
            p->layouts[kept++] = p->layouts[i];
    p->count = kept;
    return status;
}

void gnomon__payloads_free(gnomon__payloads *p)
{
    gnomon__free(p->layouts);
    gnomon__literals_free(&p->literals);
}

/* ---- Payloads ------------------------------------------------------------------------- */

static int64_t number_at(const gnomon__payloads *p,
                         const gnomon__payload_layout *l, int field)
{
    int64_t value = 0;
    (void)gnomon__little_endian(p->blob, p->blob_size, l->at[field],
                                field == BACKWARD ? 4 : 8, &value);
    return value;
}

static bool put_json(gnomon__payloads *p, FILE *to, const char *name)
{
    const gnomon__literal *of =
        gnomon__literal_read(&p->literals, p->json, strlen(p->json));
    if (of && of->kind == GNOMON__LITERAL_DICT && of->count > 1 &&
        !gnomon__literal_get(of, field_names[OPERATION]))
        of = gnomon__literal_part(of, 1); /* below the layout's name */
    const char *operation = gnomon__literal_text_of(of, field_names[OPERATION]);
    const char *inputs = gnomon__literal_text_of(of, field_names[INPUTS]);
    const char *attributes =
        gnomon__literal_text_of(of, field_names[ATTRIBUTES]);
    if (!operation || !inputs)
        return false;
    put_begin(to, name, operation);
    fprintf(to, "%s, \"type\": %s", inputs, attributes ? attributes : "{}");
    put_end(to, gnomon__literal_count_of(of, field_names[FLOPS]),
            gnomon__literal_count_of(of, field_names[BYTES]),
            gnomon__literal_count_of(of, field_names[BACKWARD]) != 0);
    return true;
}

bool gnomon__payload_text(gnomon__payloads *p, FILE *to, const char *name,
                          gnomon__payload_string *string, void *context)
{
    int64_t domain = 0, schema = 0;
    if (p->json && put_json(p, to, name))
        return true;
    if (!p->count ||
        !gnomon__little_endian(p->blob, p->blob_size, 0, 4, &domain) ||
        !gnomon__little_endian(p->blob, p->blob_size, 8, 4, &schema))
        return false;
    const gnomon__payload_layout *l = layout_of(p, domain, schema);
    if (!l)
        return false;
    /* Where a tool keeps only the program's own handle, the range's name is left. */
    const char *text = string(context, number_at(p, l, OPERATION));
    put_begin(to, name, text ? text : name);
    text = string(context, number_at(p, l, INPUTS));
    fprintf(to, "%s, \"type\": ", text ? text : "[]");
    text = string(context, number_at(p, l, ATTRIBUTES));
    fputs(text ? text : "{}", to);
    put_end(to, (uint64_t)number_at(p, l, FLOPS),
            (uint64_t)number_at(p, l, BYTES), number_at(p, l, BACKWARD) != 0);
    return true;
}
