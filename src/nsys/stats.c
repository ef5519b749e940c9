/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A report is a select, whose columns are called as those of the report. What selects read
 * from are the tables of the file under short names, with columns that any release may
 * lack; and where work is projected onto ranges, a temporary table of the ranges that
 * launched it, which chains.h finds. */
#include "nsys/stats.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/inputs.h"
#include "nsys/chains.h"
#include "platform/error.h"
#include "platform/escape.h"
#include "platform/memory.h"
#include "print/order.h"

/* ---- What selects read from ----------------------------------------------------------- */

/* The short names; c0, c1, ... are the columns. */
static const struct {
    const char *name, *table;
    const char *columns;
    int process;       /* which column has it */
    bool is_on_device; /* and c5, c6 are the device and the stream */
} stats_sources[] = {
    {"strings", "StringIds", "id,value", -1, false},
    {"kernels", "CUPTI_ACTIVITY_KIND_KERNEL",
     "start,end,globalPid,correlationId,demangledName|shortName,"
     "deviceId,streamId",
     2, true},
    {"calls", "CUPTI_ACTIVITY_KIND_RUNTIME", "start,end,nameId,globalTid", 3,
     false},
    {"copies", "CUPTI_ACTIVITY_KIND_MEMCPY",
     "start,end,globalPid,correlationId,bytes,deviceId,streamId,"
     "copyKind",
     2, true},
    {"sets", "CUPTI_ACTIVITY_KIND_MEMSET",
     "start,end,globalPid,correlationId,bytes,deviceId,streamId", 2, true},
    {"events", "NVTX_EVENTS",
     "start,end,eventType,text,textId,globalTid,domainId,rowid", 5, false}};

/* A line of SQL stands in a line. */
/* clang-format off */
/* What all selects may use: operations on memory, and ranges by name. A range without an
 * end lasts to the last moment of the file. */
static const char stats_views[] =
    "memory(d, bytes, name) AS ("
    "SELECT c1 - c0, c4, '[CUDA memcpy ' || CASE c7"
    " WHEN 1 THEN 'Host-to-Device'"
    " WHEN 2 THEN 'Device-to-Host'"
    " WHEN 3 THEN 'Host-to-Array'"
    " WHEN 4 THEN 'Array-to-Host'"
    " WHEN 5 THEN 'Array-to-Array'"
    " WHEN 6 THEN 'Array-to-Device'"
    " WHEN 7 THEN 'Device-to-Array'"
    " WHEN 8 THEN 'Device-to-Device'"
    " WHEN 9 THEN 'Host-to-Host'"
    " WHEN 10 THEN 'Peer-to-Peer'"
    " WHEN 11 THEN 'Unified Host-to-Device'"
    " WHEN 12 THEN 'Unified Device-to-Host'"
    " WHEN 13 THEN 'Unified Device-to-Device'"
    " ELSE 'Unknown' END || ']' FROM copies "
    "UNION ALL SELECT c1 - c0, c4, '[CUDA memset]' FROM sets), "

    "domains(process, number, name) AS ("
    "SELECT c5 >> 24, c6, coalesce(c3, "
    "(SELECT c1 FROM strings WHERE strings.c0 = events.c4), '') "
    "FROM events WHERE c2 = 75 GROUP BY 1, 2), "

    "last(t) AS (SELECT max(coalesce(c1, c0)) FROM events), "

    "all_ranges(row, start, d, style, process, thread, name) AS ("
    "SELECT c7, events.c0, "
    "coalesce(c1, (SELECT t FROM last)) - events.c0, "
    "CASE WHEN c2 IN (60, 71) THEN 'StartEnd' ELSE 'PushPop' END, "
    "c5 >> 24 & 16777215, c5 & 16777215, "
    "CASE WHEN coalesce(c6, 0) = 0 THEN '' ELSE coalesce("
    "(SELECT name FROM domains WHERE process = c5 >> 24 AND number = c6), "
    "'<domain ' || c6 || '>') END || ':' || coalesce(c3, "
    "(SELECT c1 FROM strings WHERE strings.c0 = events.c4), '') "
    "FROM events WHERE c2 IN (59, 60, 70, 71)), "

    "projected AS (SELECT tree.*, coalesce(n, 0) AS children "
    "FROM temp.tree LEFT JOIN temp.kids ON kids.above = tree.row)";

/* Those of a domain, whose names are like a pattern; NULL: any. */
#define CHOSEN_RANGES \
    "ranges AS (SELECT * FROM all_ranges WHERE " \
    "(%Q IS NULL OR substr(name, 1, length(%Q)) = %Q) AND " \
    "(%Q IS NULL OR substr(name, instr(name, ':') + 1) GLOB %Q)) "

/* Statistics of durations `d`, in ns, after their share of all. */
#define SHARE "round(100.0 * sum(d) / sum(sum(d)) OVER (), 1) AS \"Time (%)\", "
#define COUNTED(count) \
    "sum(d) AS \"Total Time (ns)\", count(*) AS \"" count "\", " \
    "round(avg(d), 1) AS \"Avg (ns)\", round(med(d), 1) AS \"Med (ns)\", " \
    "min(d) AS \"Min (ns)\", max(d) AS \"Max (ns)\", " \
    "round(stddev(d), 1) AS \"StdDev (ns)\""
#define STRING(id) \
    "coalesce((SELECT c1 FROM strings WHERE strings.c0 = " id "), " id ")"
#define MB(of, title) "round(" of " / 1000000.0, 3) AS \"" title " (MB)\", "

static const struct {
    const char *name, *select;
    bool is_projected;
} stats_reports[] = {
    {"cuda_api_sum",
     "SELECT " SHARE COUNTED("Num Calls") ", name AS \"Name\" "
     "FROM (SELECT c1 - c0 AS d, plain(" STRING("c2") ") AS name FROM calls) "
     "GROUP BY name ORDER BY 2 DESC, name",
     false},
    {"cuda_gpu_kern_sum",
     "SELECT " SHARE COUNTED("Instances") ", name AS \"Name\" "
     "FROM (SELECT c1 - c0 AS d, " STRING("c4") " AS name FROM kernels) "
     "GROUP BY name ORDER BY 2 DESC, name",
     false},
    {"cuda_gpu_mem_time_sum",
     "SELECT " SHARE COUNTED("Count") ", name AS \"Operation\" "
     "FROM memory GROUP BY name ORDER BY 2 DESC, name",
     false},
    {"cuda_gpu_mem_size_sum",
     "SELECT " MB("sum(bytes)", "Total") "count(*) AS \"Count\", "
     MB("avg(bytes)", "Avg") MB("med(bytes)", "Med") MB("min(bytes)", "Min")
     MB("max(bytes)", "Max") MB("stddev(bytes)", "StdDev")
     "name AS \"Operation\" "
     "FROM memory GROUP BY name ORDER BY sum(bytes) DESC, name",
     false},
    {"nvtx_sum",
     "SELECT " SHARE COUNTED("Instances") ", style AS \"Style\", "
     "name AS \"Range\" "
     "FROM ranges GROUP BY name, style ORDER BY 2 DESC, name",
     false},
    {"nvtx_gpu_proj_sum",
     "SELECT name AS \"Range\", style AS \"Style\", "
     "sum(until - since) AS \"Total Proj Time (ns)\", "
     "sum(d) AS \"Total Range Time (ns)\", "
     "count(*) AS \"Range Instances\", "
     "round(avg(until - since), 1) AS \"Proj Avg (ns)\", "
     "round(med(until - since), 1) AS \"Proj Med (ns)\", "
     "min(until - since) AS \"Proj Min (ns)\", "
     "max(until - since) AS \"Proj Max (ns)\", "
     "round(stddev(until - since), 1) AS \"Proj StdDev (ns)\", "
     "sum(ops) AS \"Total GPU Ops\", "
     "round(avg(ops), 1) AS \"Avg GPU Ops\", "
     "round(avg(level), 1) AS \"Avg Range Lvl\", "
     "round(avg(children), 1) AS \"Avg Num Child\" "
     "FROM ranges CROSS JOIN projected USING (row) "
     "GROUP BY name, style ORDER BY 3 DESC, name",
     true},
    {"nvtx_gpu_proj_trace",
     "SELECT name AS \"Name\", since AS \"Projected Start (ns)\", "
     "until - since AS \"Projected Duration (ns)\", "
     "start AS \"Orig Start (ns)\", d AS \"Orig Duration (ns)\", "
     "style AS \"Style\", process AS \"PID\", thread AS \"TID\", "
     "ops AS \"NumGPUOps\", level AS \"Lvl\", children AS \"NumChild\", "
     "row AS \"RangeId\", parent AS \"ParentId\", stack AS \"RangeStack\" "
     "FROM ranges CROSS JOIN projected USING (row) "
     "ORDER BY since, level, row",
     true},
    {"nvtx_kern_sum",
     "SELECT name AS \"NVTX Range\", style AS \"Style\", "
     "process AS \"PID\", thread AS \"TID\", "
     "count(DISTINCT row) AS \"NVTX Inst\", count(*) AS \"Kern Inst\", "
     "sum(ns) AS \"Total Time (ns)\", round(avg(ns), 1) AS \"Avg (ns)\", "
     "round(med(ns), 1) AS \"Med (ns)\", min(ns) AS \"Min (ns)\", "
     "max(ns) AS \"Max (ns)\", round(stddev(ns), 1) AS \"StdDev (ns)\", "
     "kernel AS \"Kernel Name\" "
     "FROM (SELECT row, ns, " STRING("kernel") " AS kernel FROM temp.launched) "
     "JOIN ranges USING (row) "
     "GROUP BY name, style, process, thread, kernel "
     "ORDER BY name, process, thread, 7 DESC, kernel",
     true}};
/* clang-format on */
#define STATS_REPORTS (sizeof stats_reports / sizeof *stats_reports)

/* ---- Functions of SQL ------------------------------------------------------------------- */

typedef struct stats_values {
    double *at;
    size_t count, room;
} stats_values;

static void values_step(sqlite3_context *c, int count, sqlite3_value **of)
{
    stats_values *v = sqlite3_aggregate_context(c, sizeof *v);
    (void)count;
    if (sqlite3_value_type(of[0]) == SQLITE_NULL)
        return;
    if (!v ||
        !GNOMON__PUSH(v->at, v->room, v->count, sqlite3_value_double(of[0])))
        sqlite3_result_error_nomem(c);
}

GNOMON__ORDER(by_value, double, ITSELF)

static void median_end(sqlite3_context *c)
{
    stats_values *v = sqlite3_aggregate_context(c, sizeof *v);
    if (!v || !v->count)
        return;
    GNOMON__SORT(v->at, v->count, by_value);
    sqlite3_result_double(c, (v->at[(v->count - 1) / 2] + v->at[v->count / 2]) /
                                 2);
    free(v->at);
}

/* Of a sample; of a single value 0. */
static void deviation_end(sqlite3_context *c)
{
    stats_values *v = sqlite3_aggregate_context(c, sizeof *v);
    double mean = 0, squares = 0;
    if (!v || !v->count)
        return;
    for (size_t i = 0; i < v->count; i++)
        mean += v->at[i] / (double)v->count;
    for (size_t i = 0; i < v->count; i++)
        squares += (v->at[i] - mean) * (v->at[i] - mean);
    sqlite3_result_double(
        c, v->count > 1 ? sqrt(squares / (double)(v->count - 1)) : 0);
    free(v->at);
}

/* A call's name without the version of its interface: "cudaLaunchKernel_v7000". */
static void plain_name(sqlite3_context *c, int count, sqlite3_value **of)
{
    const char *name = (const char *)sqlite3_value_text(of[0]);
    size_t n = name ? strlen(name) : 0;
    const size_t all = n;
    (void)count;
    while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    if (!name)
        return;
    if (n == all || n < 3 || memcmp(name + n - 2, "_v", 2) != 0)
        n = all + 2;
    sqlite3_result_text(c, name, (int)n - 2, SQLITE_TRANSIENT);
}

static void add_functions(sqlite3 *sql)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    (void)sqlite3_create_function(sql, "med", 1, flags, NULL, NULL, values_step,
                                  median_end);
    (void)sqlite3_create_function(sql, "stddev", 1, flags, NULL, NULL,
                                  values_step, deviation_end);
    (void)sqlite3_create_function(sql, "plain", 1, flags, NULL, plain_name,
                                  NULL, NULL);
}

/* ---- Projection ---------------------------------------------------------------------- */

/* Work that was launched inside a range. */
typedef struct projection {
    int64_t since, until;
    uint64_t ops; /* launches that put work on a device; 0: none */
} projection;

typedef struct stats_job {
    gnomon__nsys db;
    gnomon__chains chains;
    projection *of;   /* by chain */
    bool *is_counted; /* by launch */
    char *with;       /* the begin of each select */
    int status;
} stats_job;

static sqlite3_stmt *stats_select(stats_job *j, const char *select)
{
    char *text = sqlite3_mprintf("%s%s", j->with, select);
    sqlite3_stmt *rows = text ? gnomon__nsys_prepare(&j->db, text) : NULL;
    sqlite3_free(text);
    if (!rows && !j->status)
        j->status = GNOMON__EXIT_UNREADABLE;
    return rows;
}

/* Runs a statement with numbers as its parameters. */
static void insert(stats_job *j, sqlite3_stmt *into, const int64_t *numbers,
                   int count, const char *text)
{
    sqlite3_reset(into);
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(into, i + 1, numbers[i]);
    if (text)
        sqlite3_bind_text(into, count + 1, text, -1, SQLITE_STATIC);
    (void)gnomon__nsys_step(&j->db, into, &j->status);
}

static void add_work(stats_job *j, sqlite3_stmt *row, sqlite3_stmt *launched)
{
    const int64_t since = sqlite3_column_int64(row, 0),
                  until = sqlite3_column_int64(row, 1);
    const gnomon__launch *l =
        sqlite3_column_type(row, 3) == SQLITE_NULL
            ? NULL
            : gnomon__chains_find(&j->chains, sqlite3_column_int64(row, 2),
                                  sqlite3_column_int64(row, 3));
    if (!l || !l->chain)
        return;
    projection *p = &j->of[l->chain];
    bool *is_counted = &j->is_counted[l - j->chains.launches];
    if (!p->ops || since < p->since)
        p->since = since;
    if (!p->ops || until > p->until)
        p->until = until;
    p->ops += !*is_counted;
    *is_counted = true;
    if (sqlite3_column_type(row, 4) == SQLITE_NULL)
        return; /* no kernel */
    for (uint32_t at = l->chain; at && !j->status;
         at = j->chains.chains[at].parent)
        insert(j, launched,
               (const int64_t[]){j->chains.chains[at].row, until - since,
                                 sqlite3_column_int64(row, 4)},
               3, NULL);
}

/* A range has its inner ones' work too. Inner ones have higher numbers. */
static void add_up(stats_job *j)
{
    for (size_t i = j->chains.chain_count; i; i--) {
        const projection *p = &j->of[i];
        projection *to = &j->of[j->chains.chains[i].parent];
        if (!p->ops || !j->chains.chains[i].parent)
            continue;
        if (!to->ops || p->since < to->since)
            to->since = p->since;
        if (!to->ops || p->until > to->until)
            to->until = p->until;
        to->ops += p->ops;
    }
}

/* ":3:17", from the outermost range. Returns where it begins in `text`, which ends
 * it. */
static const char *stack_of(const gnomon__chains *c, uint32_t chain, char *text,
                            size_t size)
{
    char one[24];
    text[--size] = 0;
    for (; chain; chain = c->chains[chain].parent) {
        const size_t n = (size_t)snprintf(one, sizeof one, ":%" PRId64,
                                          c->chains[chain].row);
        memcpy(text + (size -= n), one, n);
    }
    return text + size;
}

static void write_tree(stats_job *j)
{
    const gnomon__chains *c = &j->chains;
    sqlite3_stmt *into = gnomon__nsys_prepare(
        &j->db, "INSERT INTO temp.tree VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON "
                "CONFLICT(row) DO UPDATE SET since = min(since, "
                "excluded.since), until = max(until, excluded.until), ops = "
                "ops + excluded.ops");
    char *text = NULL;
    size_t room = 0;
    for (uint32_t i = 1; into && i <= c->chain_count && !j->status; i++) {
        const projection *p = &j->of[i];
        const gnomon__chain *chain = &c->chains[i];
        const int64_t parent =
            chain->parent ? c->chains[chain->parent].row : INT64_MIN;
        if (!p->ops)
            continue;
        if (!gnomon__grow(&text, &room, chain->depth * 21 + 1, 1))
            j->status = GNOMON__EXIT_UNREADABLE;
        else
            insert(j, into,
                   (const int64_t[]){chain->row, parent, p->since, p->until,
                                     (int64_t)p->ops, chain->depth - 1},
                   6, stack_of(c, i, text, room));
    }
    gnomon__free(text);
    sqlite3_finalize(into);
    (void)sqlite3_exec(j->db.sql,
                       "UPDATE temp.tree SET parent = NULL WHERE parent = "
                       "-9223372036854775808;"
                       "INSERT INTO temp.kids SELECT parent, count(*) FROM "
                       "temp.tree WHERE parent IS NOT NULL GROUP BY 1",
                       NULL, NULL, NULL);
}

static void project(stats_job *j)
{
    j->status = gnomon__chains_make(&j->chains, &j->db, false, true);
    j->of = gnomon__alloc((j->chains.chain_count + 1) * sizeof *j->of);
    j->is_counted = gnomon__alloc(j->chains.launch_count + 1);
    if (!j->of || !j->is_counted)
        j->status = GNOMON__EXIT_UNREADABLE;
    if (j->status)
        return;
    sqlite3_stmt *launched = gnomon__nsys_prepare(
        &j->db, "INSERT INTO temp.launched VALUES(?1, ?2, ?3)");
    sqlite3_stmt *work = stats_select(
        j, "SELECT c0, c1, c2, c3, c4 FROM kernels UNION ALL SELECT c0, c1, "
           "c2, c3, NULL FROM copies UNION ALL SELECT c0, c1, c2, c3, NULL "
           "FROM sets");
    while (!j->status && gnomon__nsys_step(&j->db, work, &j->status))
        add_work(j, work, launched);
    sqlite3_finalize(work);
    sqlite3_finalize(launched);
    add_up(j);
    write_tree(j);
}

/* ---- Printing ------------------------------------------------------------------------- */

#define STATS_COLUMNS 16

/* A cell, or the title of its column. */
static void print_text(const gnomon__nsys_table *t, int column,
                       const char *text, bool is_number, int width)
{
    char shown[2048];
    if (t->form == GNOMON__NSYS_CSV) {
        fputs(column ? "," : "", t->to);
        gnomon__nsys_put_csv(t->to, text, is_number, false);
    } else {
        gnomon__escape_copy(text, shown, sizeof shown);
        fprintf(t->to, is_number ? "%s%*s" : "%s%-*s", column ? "  " : "",
                width, shown);
    }
}

static void print_cell(const gnomon__nsys_table *t, sqlite3_stmt *rows,
                       int column, int width)
{
    const char *text = (const char *)sqlite3_column_text(rows, column);
    const int type = sqlite3_column_type(rows, column);
    const bool is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    if (t->form == GNOMON__NSYS_JSON)
        gnomon__nsys_put_member(
            t->to, !column, sqlite3_column_name(rows, column), text, is_number);
    else
        print_text(t, column, text ? text : "", is_number, width);
}

/* As text a column is as wide as its widest cell, so there rows are read twice. */
static void print_rows(stats_job *j, sqlite3_stmt *rows, gnomon__nsys_table *t)
{
    int widths[STATS_COLUMNS] = {0};
    const int count = sqlite3_column_count(rows);
    const bool is_json = t->form == GNOMON__NSYS_JSON;
    for (int i = 0; i < count; i++)
        widths[i] = (int)strlen(sqlite3_column_name(rows, i));
    for (uint64_t read = 0; t->form == GNOMON__NSYS_WORDS && read < t->limit &&
                            gnomon__nsys_step(&j->db, rows, &j->status);
         read++)
        for (int i = 0; i + 1 < count; i++) {
            const int n = sqlite3_column_bytes(rows, i);
            widths[i] = n > widths[i] && n < 400 ? n : widths[i];
        }
    sqlite3_reset(rows);
    widths[count - 1] = 0;
    for (int i = 0; i < count && !is_json; i++)
        print_text(t, i, sqlite3_column_name(rows, i), false, widths[i]);
    fputs(is_json ? "[" : "\n", t->to);
    while (t->printed < t->limit && !ferror(t->to) &&
           gnomon__nsys_step(&j->db, rows, &j->status)) {
        (void)gnomon__nsys_between(t);
        for (int i = 0; i < count; i++)
            print_cell(t, rows, i, widths[i]);
        fputs(is_json ? "}" : "\n", t->to);
    }
    (void)gnomon__nsys_foot(t);
    if (!t->printed && !j->status)
        j->status = GNOMON__EXIT_NOTHING;
}

/* ---- The whole ---------------------------------------------------------------------------- */

/* What of a table counts. */
static char *conditions_of(const gnomon__nsys_filter *f, size_t source)
{
    char process[64] = "1", device[64] = "", stream[64] = "";
    if (f->process >= 0 && stats_sources[source].process >= 0)
        snprintf(process, sizeof process, "(c%d >> 24 & 16777215) = %" PRId64,
                 stats_sources[source].process, f->process);
    if (f->device >= 0 && stats_sources[source].is_on_device)
        snprintf(device, sizeof device, " AND c5 = %" PRId64, f->device);
    if (f->stream >= 0 && stats_sources[source].is_on_device)
        snprintf(stream, sizeof stream, " AND c6 = %" PRId64, f->stream);
    return sqlite3_mprintf("%s%s%s", process, device, stream);
}

static char *domain_of(const gnomon__nsys_filter *f)
{
    const char *domain = f->asked.domain;
    return domain
               ? sqlite3_mprintf("%s:", strcmp(domain, "default") ? domain : "")
               : NULL;
}

static bool begin_with(stats_job *j, const gnomon__nsys_filter *f)
{
    char source[1024], *domain = domain_of(f);
    char *text = sqlite3_mprintf("WITH ");
    for (size_t i = 0; text && i < sizeof stats_sources / sizeof *stats_sources;
         i++) {
        if (!gnomon__nsys_source(&j->db, stats_sources[i].table,
                                 stats_sources[i].columns, source,
                                 sizeof source))
            break;
        char *where = conditions_of(f, i);
        char *more =
            sqlite3_mprintf("%s%s AS (SELECT * FROM %s WHERE %s), ", text,
                            stats_sources[i].name, source, where);
        sqlite3_free(where);
        sqlite3_free(text);
        text = more;
    }
    j->with = text ? sqlite3_mprintf("%s%s, " CHOSEN_RANGES, text, stats_views,
                                     domain, domain, domain, f->range, f->range)
                   : NULL;
    sqlite3_free(text);
    sqlite3_free(domain);
    return j->with &&
           !sqlite3_exec(j->db.sql,
                         "CREATE TEMP TABLE tree(row INTEGER PRIMARY KEY, "
                         "parent, since, until, ops, level, stack);"
                         "CREATE TEMP TABLE kids(above INTEGER PRIMARY KEY, n);"
                         "CREATE TEMP TABLE launched(row, ns, kernel)",
                         NULL, NULL, NULL);
}

/* Whether all that is asked for is of such a report; else a line says what is not. */
static bool can_filter(int which, const gnomon__nsys_filter *f)
{
    const char *name = stats_reports[which].name;
    const bool is_of_ranges = !strncmp(name, "nvtx", 4),
               is_on_device = stats_reports[which].is_projected ||
                              !strncmp(name, "cuda_gpu", 8);
    if ((f->range || f->asked.domain) && !is_of_ranges)
        gnomon__log("%s has no ranges: --range and --domain are of nvtx_...",
                    name);
    else if ((f->device >= 0 || f->stream >= 0) && !is_on_device)
        gnomon__log("%s has no work of a device: no --device and --stream",
                    name);
    else
        return true;
    return false;
}

int gnomon__nsys_stats(int which, const char *path,
                       const gnomon__nsys_filter *filter,
                       enum gnomon__nsys_form form, uint64_t limit)
{
    gnomon__nsys_table table = {.form = form, .limit = limit, .to = stdout};
    stats_job j = {0};
    sqlite3_stmt *rows = NULL;
    if (!can_filter(which, filter))
        return GNOMON__EXIT_USAGE;
    j.status = gnomon__nsys_open(&j.db, path);
    if (!j.status && j.db.is_nvprof) {
        gnomon__log("%s: a database of nvprof: reports are of Nsight Systems",
                    path);
        j.status = GNOMON__EXIT_UNREADABLE;
    }
    if (!j.status) {
        add_functions(j.db.sql);
        if (!begin_with(&j, filter))
            j.status = GNOMON__EXIT_UNREADABLE;
    }
    if (!j.status && stats_reports[which].is_projected)
        project(&j);
    if (!j.status)
        rows = stats_select(&j, stats_reports[which].select);
    gnomon__progress_end();
    if (rows)
        print_rows(&j, rows, &table);
    sqlite3_finalize(rows);
    sqlite3_free(j.with);
    gnomon__free(j.of);
    gnomon__free(j.is_counted);
    gnomon__chains_free(&j.chains);
    gnomon__nsys_close(&j.db);
    return j.status;
}
