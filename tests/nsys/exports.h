/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Databases as Nsight Systems and nvprof write them, of a few kernels and with the columns
 * of a chosen generation of the schema. */
#ifndef GNOMON_TESTS_NSYS_EXPORTS_H
#define GNOMON_TESTS_NSYS_EXPORTS_H

#include <inttypes.h>
#include <sqlite3.h>

#include "program.h"

/* The generations, by the release of the schema that began each. */
enum export_generation {
    EXPORT_2021, /* no table says the version */
    EXPORT_2_9,
    EXPORT_3_1,
    EXPORT_3_11,
    EXPORT_3_16,
    EXPORT_3_25,
    EXPORT_NVPROF,
    EXPORT_GENERATIONS
};

typedef struct export_file {
    sqlite3 *sql;
    enum export_generation of;
    int strings; /* so far */
    int markers;
} export_file;

/* The id of a thread among all: machine 1, its process and itself. */
#define EXPORT_THREAD(process, thread) \
    ((int64_t)1 << 48 | (int64_t)(process) << 24 | (thread))

static inline void export_sql(export_file *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void export_sql(export_file *x, const char *format, ...)
{
    char text[4096], *error = NULL;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!CHECK_EQ(sqlite3_exec(x->sql, text, NULL, NULL, &error), SQLITE_OK))
        fprintf(stderr, "    %s: %s\n", text, error);
    sqlite3_free(error);
}

static inline void export_tables(export_file *x)
{
    if (x->of == EXPORT_NVPROF) {
        export_sql(x,
                   "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value)");
        export_sql(
            x, "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, "
               "end, deviceId, streamId, correlationId, name, gridX, gridY, "
               "gridZ, blockX, blockY, blockZ)");
        export_sql(
            x, "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(processId, threadId, "
               "correlationId, start, end)");
        export_sql(
            x, "CREATE TABLE CUPTI_ACTIVITY_KIND_DRIVER(processId, threadId, "
               "correlationId, start, end)");
        export_sql(
            x, "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(id, timestamp, flags, "
               "objectId BLOB, name, domain)");
        return;
    }
    export_sql(x, "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)");
    export_sql(x,
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, "
               "streamId, correlationId, globalPid, demangledName, shortName, "
               "gridX, gridY, gridZ, blockX, blockY, blockZ%s)",
               x->of >= EXPORT_3_11 ? ", graphNodeId, greenContextId" : "");
    export_sql(
        x, "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, "
           "globalTid, correlationId, nameId)");
    export_sql(x,
               "CREATE TABLE NVTX_EVENTS(start, end, eventType, rangeId, text, "
               "globalTid, domainId%s%s)",
               x->of >= EXPORT_2_9 ? ", textId, endGlobalTid" : "",
               x->of >= EXPORT_3_16 ? ", binaryData, jsonText" : "");
}

/* A new database at `path`, with tables and no rows. */
static inline export_file export_begin(const char *path,
                                       enum export_generation of)
{
    export_file x = {.of = of};
    (void)remove(path);
    CHECK_EQ(sqlite3_open(path, &x.sql), SQLITE_OK);
    export_sql(&x, "PRAGMA journal_mode = OFF");
    export_sql(&x, "BEGIN");
    export_tables(&x);
    return x;
}

static inline void export_end(export_file *x)
{
    export_sql(x, "COMMIT");
    CHECK_EQ(sqlite3_close(x->sql), SQLITE_OK);
}

/* The id of a text that is new; in it each ' stands twice. */
static inline int export_string(export_file *x, const char *text)
{
    export_sql(x, "INSERT INTO %s VALUES(%d, '%s')",
               x->of == EXPORT_NVPROF ? "StringTable" : "StringIds",
               ++x->strings, text);
    return x->strings;
}

/* A call that launches, and its kernel, which runs from 1000 ns after it. */
static inline void export_call(export_file *x, int process, int64_t thread,
                               int id, int64_t begin, int64_t end)
{
    if (x->of == EXPORT_NVPROF)
        export_sql(x,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_%s VALUES(%d, %" PRId64
                   ", %d, %" PRId64 ", %" PRId64 ")",
                   id % 2 ? "RUNTIME" : "DRIVER", process, thread, id, begin,
                   end);
    else
        export_sql(x,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(%" PRId64
                   ", %" PRId64 ", %d, %" PRId64 ", %d, 0)",
                   begin, end, id % 2, EXPORT_THREAD(process, thread), id);
}

static inline void export_kernel(export_file *x, int process, int id,
                                 const char *name, int64_t begin, int64_t ns)
{
    const int text = export_string(x, name);
    if (x->of == EXPORT_NVPROF)
        export_sql(
            x,
            "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(%" PRId64
            ", %" PRId64 ", 0, 7, %d, %d, 8, 1, 1, 128, 1, 1)",
            begin, begin + ns, id, text);
    else
        export_sql(
            x,
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, "
            "streamId, correlationId, globalPid, demangledName, shortName, "
            "gridX, gridY, gridZ, blockX, blockY, blockZ) VALUES(%" PRId64
            ", %" PRId64 ", 0, 7, %d, %" PRId64 ", %d, %d, 8, 1, 1, 128, 1, 1)",
            begin, begin + ns, id, EXPORT_THREAD(process, 0), text, text);
}

/* `end` 0: it has none. Registered texts and plain ones take turns where there are both. */
static inline void export_range(export_file *x, int process, int64_t thread,
                                const char *text, int64_t begin, int64_t end)
{
    char ended[32] = "NULL", blob[32] = "";
    if (end)
        snprintf(ended, sizeof ended, "%" PRId64, end);
    const int marker = ++x->markers;
    if (x->of != EXPORT_NVPROF) {
        const int is_plain = x->of == EXPORT_2021 || marker % 2;
        const int id = is_plain ? 0 : export_string(x, text);
        export_sql(
            x,
            "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid%s) "
            "VALUES(%" PRId64 ", %s, 59, %s%s%s, %" PRId64 "%s%.0d%s)",
            is_plain ? "" : ", textId", begin, ended, is_plain ? "'" : "",
            is_plain ? text : "NULL", is_plain ? "'" : "",
            EXPORT_THREAD(process, thread), is_plain ? "" : ", ", id, "");
        return;
    }
    for (int i = 0; i < 12; i++)
        snprintf(blob + 2 * i, 3, "%02x",
                 (unsigned)((i < 4 ? (uint64_t)process >> (8 * i)
                                   : (uint64_t)thread >> (8 * (i - 4))) &
                            0xff));
    export_sql(x,
               "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES(%d, %" PRId64
               ", 2, x'%s', %d, 0)",
               marker, begin, blob, export_string(x, text));
    if (end)
        export_sql(x,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES(%d, %s, 4, "
                   "x'%s', 0, 0)",
                   marker, ended, blob);
}

#endif
