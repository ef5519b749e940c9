/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schemas of payloads are found by the names of their entries, as their numbers differ from
 * release to release. A payload follows a header of 32 bytes, which has the schema's number
 * at 8. How many ranks a communicator has is said where it is made. */
#include "nsys/collectives.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "nsys/work.h"
#include "ops/operands.h"
#include "platform/error.h"
#include "platform/memory.h"

static const char collective_select[] =
    "WITH parts(schema, what, at) AS (SELECT DISTINCT c0, CASE WHEN c1 LIKE "
    "'Message size%%' THEN 's' WHEN c1 LIKE '%%communicator%%' THEN 'c' WHEN "
    "c1 "
    "LIKE 'No. of ranks%%' THEN 'r' END, coalesce(c2, 0) + 32 FROM %s), "
    "said(tid, start, name, b, schema) AS (SELECT c0, c1, coalesce(c2, (SELECT "
    "value FROM StringIds WHERE id = c3)), c4, le(c4, 8, 4) FROM %s WHERE c4 "
    "IS "
    "NOT NULL), "
    "ranks(comm, n) AS (SELECT le(b, c.at, 8), max(le(b, r.at, 4)) FROM said "
    "JOIN parts c ON c.schema = said.schema AND c.what = 'c' JOIN parts r ON "
    "r.schema = said.schema AND r.what = 'r' GROUP BY 1) "
    "SELECT tid, start, name, le(b, s.at, 8), n FROM said JOIN parts s ON "
    "s.schema = said.schema AND s.what = 's' LEFT JOIN parts c ON c.schema = "
    "said.schema AND c.what = 'c' LEFT JOIN ranks ON comm = le(b, c.at, 8) "
    "ORDER BY tid, start";

/* A message is what one rank gives or gets. */
static gnomon__collective_bytes bytes_of(const char *name, double message,
                                         double ranks)
{
    const bool is_part =
        strstr(name, "AllGather") || strstr(name, "ReduceScatter");
    const bool is_all = is_part || strstr(name, "AllToAll");
    const double all = is_part && ranks > 0 ? message * ranks : message;
    return (gnomon__collective_bytes){all, !(ranks > 0) ? 0
                                           : strstr(name, "AllReduce")
                                               ? 2 * all * (ranks - 1) / ranks
                                           : is_all ? all * (ranks - 1) / ranks
                                                    : all};
}

/* Torch's arguments, as PyProf's markers have them, are what comes out too: a list of a part
 * for each rank, or one tensor of all parts. */
static double ranks_of(const gnomon_op_info *op, bool is_all, double *message)
{
    const size_t parts = op->input_count;
    uint64_t least = parts ? UINT64_MAX : 0, most = 0;
    for (size_t i = 0; i < parts; i++) {
        const uint64_t bytes = gnomon__bytes(&op->inputs[i]);
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    if (parts < 2 || !least)
        return 0;
    *message = is_all ? *message / 2 : (double)least;
    if (parts == GNOMON__OP_MOST_INPUTS)
        return *message = 0; /* there may be more */
    return is_all         ? (double)(parts > 2 ? parts / 2 : 0)
           : most > least ? (double)most / (double)least
                          : (double)parts - 1;
}

gnomon__collective_bytes gnomon__collective_of(const char *kernel,
                                               const gnomon_op_info *op,
                                               uint64_t inputs)
{
    const bool is_all = strstr(op->operation, "to_all") ||
                        strstr(op->operation, "alltoall"),
               is_scatter = strstr(kernel, "ReduceScatter") != NULL;
    double ranks = (double)gnomon__op_number(op, "ranks", 0),
           message = (double)inputs;
    if (inputs && !(ranks > 0) &&
        (is_all || is_scatter || strstr(kernel, "AllGather")))
        ranks = ranks_of(op, is_all, &message);
    else if (is_scatter && ranks > 0)
        message /= ranks; /* all of it goes in */
    return bytes_of(is_all ? "AllToAll" : kernel, message, ranks);
}

int gnomon__collectives_read(gnomon__collective_calls *calls,
                             const gnomon__nsys *db)
{
    static const char entries[] = "schemaId,name,offset";
    static const char events[] = "globalTid,start,text,textId,binaryData";
    char parts[256], said[256], text[2048];
    int status = GNOMON__EXIT_OK;
    if (!gnomon__nsys_has(db, "NVTX_PAYLOAD_SCHEMA_ENTRIES") ||
        !gnomon__nsys_has(db, "StringIds") ||
        !gnomon__nsys_source(db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", entries, parts,
                             sizeof parts) ||
        !gnomon__nsys_source(db, "NVTX_EVENTS", events, said, sizeof said))
        return GNOMON__EXIT_OK;
    snprintf(text, sizeof text, collective_select, parts, said);
    sqlite3_stmt *rows = gnomon__nsys_prepare(db, text);
    while (!status && gnomon__nsys_step(db, rows, &status)) {
        const int64_t thread = sqlite3_column_int64(rows, 0);
        const char *name = (const char *)sqlite3_column_text(rows, 2);
        if (!gnomon__grow(&calls->at, &calls->room, calls->count + 1,
                          sizeof *calls->at)) {
            gnomon__log("%s: no memory for its collectives", db->path);
            status = GNOMON__EXIT_UNREADABLE;
            break;
        }
        gnomon__collective_call *c = &calls->at[calls->count++];
        *c = (gnomon__collective_call){.process = thread >> 24 & 0xffffff,
                                       .thread = thread & 0xffffff,
                                       .begin_ns =
                                           sqlite3_column_int64(rows, 1)};
        c->is = bytes_of(name ? name : "", sqlite3_column_double(rows, 3),
                         sqlite3_column_double(rows, 4));
    }
    sqlite3_finalize(rows);
    return status;
}

bool gnomon__collective_name(const char *kernel, char out[32])
{
    const char *from = strchr(kernel, '_');
    if (strncmp(kernel, "nccl", 4) != 0)
        return false;
    from = from ? from + 1 : kernel;
    const size_t n = strcspn(from, "_(<");
    snprintf(out, 32, "%.*s", n < 31 ? (int)n : 31, from);
    return true;
}
