/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Probes before it asks. Such a file may come from anybody: no view or trigger of it runs,
 * and its own schema is not trusted. */
#include "nsys/database.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "platform/error.h"

/* ---- Opening --------------------------------------------------------------------- */

/* "file:" and the path, of which all but letters and digits is in percents. NULL: no
 * memory. */
static char *file_uri(const char *path)
{
    static const char tail[] = "?mode=ro&immutable=1";
    char *uri = malloc(strlen(path) * 3 + sizeof tail + 5), *to = uri;
    if (!uri)
        return NULL;
    to += sprintf(to, "file:");
    for (; *path; path++)
        if (strchr("/.-_", *path) || isalnum((unsigned char)*path))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02x", (unsigned char)*path);
    memcpy(to, tail, sizeof tail);
    return uri;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Reports that are no databases yet. */
static int no_database(const char *path, const char *why)
{
    if (ends_with(path, ".nsys-rep") || ends_with(path, ".qdrep"))
        gnomon__log("%s: a report, not a database: make one with nsys export "
                    "--type sqlite -o FILE.sqlite %s",
                    path, path);
    else
        gnomon__log("%s: neither an export of Nsight Systems nor a database of "
                    "nvprof: %s",
                    path, why);
    return GNOMON__EXIT_UNREADABLE;
}

bool gnomon__little_endian(const void *blob, size_t size, int64_t from,
                           int bytes, int64_t *out)
{
    uint64_t value = 0;
    if (!blob || from < 0 || bytes < 1 || bytes > 8 || (size_t)bytes > size ||
        (uint64_t)from > size - (size_t)bytes)
        return false;
    const uint8_t *at = (const uint8_t *)blob + from;
    for (int i = bytes; i--;)
        value = value << 8 | at[i];
    if (bytes < 8 && at[bytes - 1] & 0x80)
        value |= ~0ull << (8 * bytes);
    *out = (int64_t)value;
    return true;
}

/* `LE(blob, from, bytes)`: the signed number that lies there. */
static void little_endian(sqlite3_context *c, int count, sqlite3_value **of)
{
    int64_t value;
    (void)count;
    const void *blob = sqlite3_value_blob(of[0]);
    if (gnomon__little_endian(blob, (size_t)sqlite3_value_bytes(of[0]),
                              sqlite3_value_int64(of[1]),
                              sqlite3_value_int(of[2]), &value))
        sqlite3_result_int64(c, value);
}

static void make_safe(sqlite3 *sql)
{
    (void)sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    (void)sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, 16 << 20);
    (void)sqlite3_exec(sql, "PRAGMA cache_size = -16000", NULL, NULL, NULL);
    (void)sqlite3_create_function(sql, "le", 3,
                                  SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                  little_endian, NULL, NULL);
}

bool gnomon__nsys_has(const gnomon__nsys *db, const char *table)
{
    static const char id[] = "rowid";
    sqlite3_stmt *rows = gnomon__nsys_select(db, table, id, "LIMIT 1");
    const bool is_there = rows && sqlite3_step(rows) == SQLITE_ROW;
    sqlite3_finalize(rows);
    return is_there;
}

int gnomon__nsys_open(gnomon__nsys *db, const char *path)
{
    *db = (gnomon__nsys){.path = path};
    char *uri = file_uri(path);
    int code =
        uri ? sqlite3_open_v2(uri, &db->sql,
                              SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL)
            : SQLITE_NOMEM;
    free(uri);
    if (db->sql)
        make_safe(db->sql);
    if (!code)
        code = sqlite3_exec(db->sql, "SELECT 1 FROM sqlite_schema", NULL, NULL,
                            NULL);
    if (code)
        return no_database(path, db->sql ? sqlite3_errmsg(db->sql)
                                         : sqlite3_errstr(code));
    db->is_nvprof = gnomon__nsys_has(db, "StringTable");
    db->has_kernels = gnomon__nsys_has(
        db, db->is_nvprof ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                          : "CUPTI_ACTIVITY_KIND_KERNEL");
    db->has_calls =
        gnomon__nsys_has(db, "CUPTI_ACTIVITY_KIND_RUNTIME") ||
        (db->is_nvprof && gnomon__nsys_has(db, "CUPTI_ACTIVITY_KIND_DRIVER"));
    db->has_ranges = gnomon__nsys_has(
        db, db->is_nvprof ? "CUPTI_ACTIVITY_KIND_MARKER" : "NVTX_EVENTS");
    return db->has_kernels || db->is_nvprof || db->has_calls ||
                   db->has_ranges || gnomon__nsys_has(db, "StringIds")
               ? GNOMON__EXIT_OK
               : no_database(path, "it has none of their tables");
}

gnomon__nsys_device gnomon__nsys_device_of(const gnomon__nsys *db)
{
    static const char columns[] = "name,memoryBandwidth,smCount,clockRate,"
                                  "computeMajor|smMajor,computeMinor|smMinor";
    gnomon__nsys_device d = {.bandwidth = 0};
    int status = 0;
    sqlite3_stmt *rows = gnomon__nsys_select(db, "TARGET_INFO_GPU", columns,
                                             "GROUP BY c0, c1, c2, c3, c4, c5");
    if (gnomon__nsys_step(db, rows, &status)) {
        const char *name = (const char *)sqlite3_column_text(rows, 0);
        snprintf(d.name, sizeof d.name, "%s", name ? name : "");
        d.bandwidth = sqlite3_column_double(rows, 1);
        d.processors = sqlite3_column_int64(rows, 2);
        d.clock_hz = sqlite3_column_int64(rows, 3);
        d.capability =
            sqlite3_column_int64(rows, 4) * 16 + sqlite3_column_int64(rows, 5);
    }
    if (gnomon__nsys_step(db, rows, &status))
        d = (gnomon__nsys_device){.bandwidth = 0};
    sqlite3_finalize(rows);
    return d;
}

int gnomon__nsys_no_kernels(const gnomon__nsys *db)
{
    gnomon__log("%s: no kernels in it%s", db->path,
                gnomon__nsys_has(db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")
                    ? ", as graphs were traced as a whole: nsys profile "
                      "--cuda-graph-trace=node"
                    : "");
    return GNOMON__EXIT_NOTHING;
}

void gnomon__nsys_close(gnomon__nsys *db)
{
    (void)sqlite3_close_v2(db->sql);
    db->sql = NULL;
}

/* ---- Selects ----------------------------------------------------------------------- */

#define SELECT_ROOM 4096

/* The first of "a|b" that the table has, into `name`. */
static bool find_column(const gnomon__nsys *db, const char *table,
                        const char *names, char name[64])
{
    const char *type;
    for (;; names++) {
        const size_t n = strcspn(names, "|,");
        snprintf(name, 64, "%.*s", (int)n, names);
        if (!sqlite3_table_column_metadata(db->sql, NULL, table, name, &type,
                                           NULL, NULL, NULL, NULL))
            return true;
        names += n;
        if (*names != '|')
            return false;
    }
}

sqlite3_stmt *gnomon__nsys_prepare(const gnomon__nsys *db, const char *text)
{
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(db->sql, text, -1, &rows, NULL) == SQLITE_OK)
        return rows;
    gnomon__log("%s: %s", db->path, sqlite3_errmsg(db->sql));
    return NULL;
}

static bool has_table(const gnomon__nsys *db, const char *table)
{
    return !sqlite3_table_column_metadata(db->sql, NULL, table, NULL, NULL,
                                          NULL, NULL, NULL, NULL);
}

bool gnomon__nsys_source(const gnomon__nsys *db, const char *table,
                         const char *columns, char *text, size_t size)
{
    const bool is_there = has_table(db, table);
    char name[64];
    size_t n = (size_t)snprintf(text, size, "(SELECT ");
    for (size_t i = 0; *columns && n < size; i++) {
        const bool has = is_there && find_column(db, table, columns, name);
        n += (size_t)snprintf(text + n, size - n,
                              has ? "%s\"%s\" AS c%zu" : "%s%s AS c%zu",
                              i ? ", " : "", has ? name : "NULL", i);
        columns += strcspn(columns, ",");
        columns += *columns == ',';
    }
    if (n < size)
        n += (size_t)snprintf(text + n, size - n,
                              is_there ? " FROM %s)" : " WHERE 0)", table);
    return n < size;
}

sqlite3_stmt *gnomon__nsys_select(const gnomon__nsys *db, const char *table,
                                  const char *columns, const char *rest)
{
    char text[SELECT_ROOM], source[SELECT_ROOM - 512];
    if (!has_table(db, table) ||
        !gnomon__nsys_source(db, table, columns, source, sizeof source))
        return NULL;
    source[strlen(source) - 1] = 0;
    const int n = snprintf(text, sizeof text, "%s %s", source + 1, rest);
    return n > 0 && (size_t)n < sizeof text ? gnomon__nsys_prepare(db, text)
                                            : NULL;
}

bool gnomon__nsys_step(const gnomon__nsys *db, sqlite3_stmt *rows, int *status)
{
    const int code = rows ? sqlite3_step(rows) : SQLITE_DONE;
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE && !*status) {
        gnomon__log("%s: reading ends early: %s", db->path,
                    sqlite3_errmsg(db->sql));
        *status = GNOMON__EXIT_UNREADABLE;
    }
    return false;
}
