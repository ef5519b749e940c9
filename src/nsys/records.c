/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of a database the texts of ranges are read when a kernel needs them; those around the
 * kernel before, mostly the same, are kept. */
#include "nsys/records.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "nsys/chains.h"
#include "nsys/own.h"
#include "nsys/payload.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "print/order.h"

typedef struct level {
    uint32_t chain;
    bool is_left_out; /* of a domain that does not count */
    gnomon__marker marker;
} level;

/* A domain of NVTX, by its number in a process. */
typedef struct domain {
    int64_t process, number;
    char *name;
} domain;

struct gnomon__nsys_records {
    gnomon__nsys_record record;
    gnomon__nsys_record_before *before; /* by thread; of all in PyProf's way */
    size_t before_room;
    bool is_pyprofs;
    gnomon__nsys_records_sums sums;
    const char *path; /* as messages name it */
    /* Of a database. */
    gnomon__nsys db;
    gnomon__chains chains;
    sqlite3_stmt *kernels, *ranges, *strings;
    gnomon__payloads payloads;
    gnomon__marker_text text; /* of an operation, which a payload told */
    const char *only_domain;  /* NULL: all */
    domain *domains;
    size_t domain_count, domain_room;
    gnomon__nsys_step_range *steps; /* by process and begin */
    size_t step_count, step_room, step_processes;
    level *levels; /* around the last kernel, from the outermost */
    size_t level_count, level_room;
    gnomon__own *own; /* of a profile */
    /* Of lines. */
    FILE *lines;
    char *line, *clean;
    size_t line_room, clean_room;
    gnomon__literals literals;
};

static int no_memory(const gnomon__nsys_records *r)
{
    gnomon__log("%s: no memory for a kernel", r->path);
    return GNOMON__EXIT_UNREADABLE;
}

/* ---- A database ------------------------------------------------------------------- */

/* What the columns of the kernels are. */
enum {
    K_START,
    K_END,
    K_DEVICE,
    K_STREAM,
    K_CORRELATION,
    K_PROCESS,
    K_NAME,
    K_SHORT,
    K_GRID,
    K_BLOCK = K_GRID + 3,
    K_COUNT = K_BLOCK + 3
};

static void prepare(gnomon__nsys_records *r)
{
    static const char kernels[] =
        "start,end,deviceId,streamId,correlationId,globalPid,"
        "demangledName|mangledName|name,shortName|name,gridX,gridY,"
        "gridZ,blockX,blockY,blockZ";
    static const char ranges[] = "text,textId,domainId,globalTid,binaryData,"
                                 "jsonText|jsonTextId";
    static const char marks[] = "rowid,name,domain";
    static const char value[] = "value";
    const gnomon__nsys *db = &r->db;
    r->kernels = gnomon__nsys_select(
        db,
        db->is_nvprof ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                      : "CUPTI_ACTIVITY_KIND_KERNEL",
        kernels, "ORDER BY rowid");
    if (db->has_ranges)
        r->ranges = db->is_nvprof
                        ? gnomon__nsys_select(db, "CUPTI_ACTIVITY_KIND_MARKER",
                                              marks, "WHERE rowid = ?")
                        : gnomon__nsys_select(db, "NVTX_EVENTS", ranges,
                                              "WHERE rowid = ?");
    r->strings = gnomon__nsys_select(
        db, db->is_nvprof ? "StringTable" : "StringIds", value,
        db->is_nvprof ? "WHERE _id_ = ?" : "WHERE id = ?");
}

static const char *string_by_id(gnomon__nsys_records *r, int64_t id,
                                int *status)
{
    if (!r->strings)
        return NULL;
    sqlite3_reset(r->strings);
    sqlite3_bind_int64(r->strings, 1, id);
    return gnomon__nsys_step(&r->db, r->strings, status)
               ? (const char *)sqlite3_column_text(r->strings, 0)
               : NULL;
}

/* A text by its id, or the text that a column has; valid until the next. */
static const char *string_of(gnomon__nsys_records *r, sqlite3_stmt *row,
                             int column, int *status)
{
    const int type = sqlite3_column_type(row, column);
    if (type == SQLITE_NULL)
        return NULL;
    if (type != SQLITE_INTEGER)
        return (const char *)sqlite3_column_text(row, column);
    return string_by_id(r, sqlite3_column_int64(row, column), status);
}

/* ---- Domains ------------------------------------------------------------------------ */

static bool add_domain(gnomon__nsys_records *r, int64_t process, int64_t number,
                       const char *name)
{
    char *copy = gnomon__strdup(name ? name : "");
    const bool ok =
        copy && GNOMON__PUSH(r->domains, r->domain_room, r->domain_count,
                             (domain){process, number, copy});
    if (!ok)
        gnomon__free(copy);
    return ok;
}

/* nvprof names a domain with each range. */
static int read_domains(gnomon__nsys_records *r)
{
    static const char columns[] = "globalTid,domainId,text,textId,eventType";
    int status = GNOMON__EXIT_OK;
    sqlite3_stmt *rows = r->only_domain && r->db.has_ranges && !r->db.is_nvprof
                             ? gnomon__nsys_select(&r->db, "NVTX_EVENTS",
                                                   columns, "WHERE c4 = 75")
                             : NULL;
    while (!status && gnomon__nsys_step(&r->db, rows, &status)) {
        const char *name = (const char *)sqlite3_column_text(rows, 2);
        if (!add_domain(r, sqlite3_column_int64(rows, 0) >> 24,
                        sqlite3_column_int64(rows, 1),
                        name ? name : string_of(r, rows, 3, &status)))
            status = no_memory(r);
    }
    sqlite3_finalize(rows);
    return status;
}

/* ---- Steps ------------------------------------------------------------------------------- */

/* The next one, by process and begin. Those inside of one are none. */
static int add_step(gnomon__nsys_records *r, gnomon__nsys_step_range step)
{
    const gnomon__nsys_step_range *last =
        r->step_count ? &r->steps[r->step_count - 1] : NULL;
    const bool is_new = !last || last->process != step.process;
    if (!is_new && step.begin_ns < last->end_ns)
        return GNOMON__EXIT_OK;
    step.number = is_new ? 1 : last->number + 1;
    r->step_processes += is_new;
    return GNOMON__PUSH(r->steps, r->step_room, r->step_count, step)
               ? GNOMON__EXIT_OK
               : no_memory(r);
}

static int read_steps(gnomon__nsys_records *r, const char *pattern)
{
    static const char columns[] = "eventType,start,end,globalTid,textId,text";
    int status = GNOMON__EXIT_OK;
    sqlite3_stmt *rows =
        pattern && !r->db.is_nvprof && gnomon__nsys_has(&r->db, "StringIds")
            ? gnomon__nsys_select(
                  &r->db, "NVTX_EVENTS", columns,
                  "WHERE c0 IN (59, 60, 70, 71) AND c2 IS NOT NULL AND "
                  "coalesce(c5, (SELECT value FROM StringIds WHERE id = c4)) "
                  "GLOB ? ORDER BY c3 >> 24, c1, c2 DESC")
            : NULL;
    if (rows)
        sqlite3_bind_text(rows, 1, pattern, -1, SQLITE_STATIC);
    while (!status && gnomon__nsys_step(&r->db, rows, &status))
        status = add_step(
            r, (gnomon__nsys_step_range){sqlite3_column_int64(rows, 3) >> 24,
                                         sqlite3_column_int64(rows, 1),
                                         sqlite3_column_int64(rows, 2), 0});
    sqlite3_finalize(rows);
    return status;
}

GNOMON__ORDER(by_process, gnomon__nsys_step_range, UP(process), UP(begin_ns))

/* A profile's own ones. */
static int read_own_steps(gnomon__nsys_records *r)
{
    gnomon__nsys_step_range *all = NULL, one;
    size_t count = 0, room = 0;
    int status = GNOMON__EXIT_OK;
    while (!status && gnomon__own_step(r->own, count, &one))
        if (!GNOMON__PUSH(all, room, count, one))
            status = no_memory(r);
    GNOMON__SORT(all, count, by_process);
    for (size_t i = 0; i < count && !status; i++)
        status = add_step(r, all[i]);
    free(all);
    return status;
}

/* The step of a launch, from 1; 0: none. */
static uint32_t step_of(const gnomon__nsys_records *r, int64_t process,
                        int64_t begin)
{
    size_t from = 0, until = r->step_count;
    GNOMON__SEARCH(
        from, until, i,
        r->steps[i].process < process ||
            (r->steps[i].process == process && r->steps[i].end_ns <= begin));
    return from < r->step_count && r->steps[from].process == process &&
                   r->steps[from].begin_ns <= begin
               ? (uint32_t)from + 1
               : 0;
}

const gnomon__nsys_step_range *
gnomon__nsys_records_steps(const gnomon__nsys_records *r, size_t *processes)
{
    *processes = r->step_processes;
    return r->steps;
}

bool gnomon__nsys_records_are_own(const gnomon__nsys_records *r)
{
    return r->own != NULL;
}

const gnomon__nsys *gnomon__nsys_records_database(const gnomon__nsys_records *r)
{
    return r->lines || r->own ? NULL : &r->db;
}

/* Whether the range at hand is of the domain that counts. */
static bool is_of_domain(gnomon__nsys_records *r, int *status)
{
    const char *name = "default";
    const int64_t number = sqlite3_column_int64(r->ranges, 2),
                  process = sqlite3_column_int64(r->ranges, 3) >> 24;
    if (!r->only_domain)
        return true;
    if (number && r->db.is_nvprof)
        name = string_of(r, r->ranges, 2, status);
    for (size_t i = 0; number && i < r->domain_count; i++)
        if (r->domains[i].number == number && r->domains[i].process == process)
            name = r->domains[i].name;
    return name && !strcmp(name, r->only_domain);
}

static const char *payload_string(void *context, int64_t id)
{
    int status = GNOMON__EXIT_OK;
    return string_by_id(context, id, &status);
}

/* The marker of the range at hand by its payload, if that tells an operation. */
static void set_by_payload(gnomon__nsys_records *r, level *l, int *status)
{
    if (sqlite3_column_type(r->ranges, 4) == SQLITE_NULL &&
        sqlite3_column_type(r->ranges, 5) == SQLITE_NULL)
        return;
    r->payloads.blob = sqlite3_column_blob(r->ranges, 4);
    r->payloads.blob_size = (size_t)sqlite3_column_bytes(r->ranges, 4);
    r->payloads.json = string_of(r, r->ranges, 5, status);
    FILE *to = gnomon__marker_begin(&r->text);
    if (to && !gnomon__payload_text(&r->payloads, to, l->marker.text,
                                    payload_string, r))
        return;
    if (!to || !gnomon__marker_end(&r->text, &l->marker))
        *status = no_memory(r);
}

static void read_range(gnomon__nsys_records *r, level *l, int64_t row,
                       int *status)
{
    const char *text = NULL;
    sqlite3_reset(r->ranges);
    sqlite3_bind_int64(r->ranges, 1, row);
    if (gnomon__nsys_step(&r->db, r->ranges, status)) {
        l->is_left_out = !is_of_domain(r, status);
        text = r->db.is_nvprof
                   ? NULL
                   : (const char *)sqlite3_column_text(r->ranges, 0);
        if (!text)
            text = string_of(r, r->ranges, 1, status);
    }
    if (!gnomon__marker_set(&l->marker, text ? text : "",
                            text ? strlen(text) : 0))
        *status = no_memory(r);
    else if (!r->db.is_nvprof && !l->is_left_out)
        set_by_payload(r, l, status);
}

/* Makes the levels those of a chain. */
static void follow(gnomon__nsys_records *r, uint32_t chain, int *status)
{
    const gnomon__chain *chains = r->chains.chains;
    const size_t depth = chain ? chains[chain].depth : 0,
                 before = r->level_count;
    if (!gnomon__grow_zeroed(&r->levels, &r->level_room, depth,
                             sizeof *r->levels)) {
        *status = no_memory(r);
        return;
    }
    r->level_count = depth;
    for (size_t i = depth; i-- && !*status; chain = chains[chain].parent) {
        if (i < before && r->levels[i].chain == chain)
            break; /* so are all outside of it */
        r->levels[i].chain = chain;
        read_range(r, &r->levels[i], chains[chain].row, status);
    }
}

/* After its last range: which kernel of its thread's operation it is. */
static void end_kernel(gnomon__nsys_records *r, size_t thread, int *status)
{
    if (gnomon__grow_zeroed(&r->before, &r->before_room, thread + 1,
                            sizeof *r->before))
        gnomon__nsys_record_end(&r->record, &r->before[thread]);
    else
        *status = no_memory(r);
}

static bool read_own(gnomon__nsys_records *r, int *status)
{
    gnomon__nsys_record *k = &r->record;
    if (!gnomon__own_next(r->own, k, status))
        return false;
    if (r->step_count && k->begin_ns)
        k->step = step_of(r, k->process, k->launch_ns);
    end_kernel(r, 0, status);
    return true;
}

static void read_kernel(gnomon__nsys_records *r, int *status)
{
    gnomon__nsys_record *k = &r->record;
    sqlite3_stmt *row = r->kernels;
    gnomon__nsys_record_begin(k);
    const char *name = string_of(r, row, K_NAME, status);
    if (!name)
        name = string_of(r, row, K_SHORT, status);
    gnomon__nsys_record_name(k, name ? name : "?");
    k->ns =
        sqlite3_column_int64(row, K_END) - sqlite3_column_int64(row, K_START);
    k->begin_ns = sqlite3_column_int64(row, K_START);
    k->device = sqlite3_column_int64(row, K_DEVICE);
    k->stream = sqlite3_column_int64(row, K_STREAM);
    for (int i = 0; i < 3; i++) {
        k->grid[i] = sqlite3_column_int64(row, K_GRID + i);
        k->block[i] = sqlite3_column_int64(row, K_BLOCK + i);
    }
    const gnomon__launch *l =
        sqlite3_column_type(row, K_CORRELATION) == SQLITE_NULL
            ? NULL
            : gnomon__chains_find(&r->chains,
                                  sqlite3_column_int64(row, K_PROCESS),
                                  sqlite3_column_int64(row, K_CORRELATION));
    follow(r, l ? l->chain : 0, status);
    for (size_t i = 0; i < r->level_count && !*status; i++)
        if (!r->levels[i].is_left_out)
            gnomon__nsys_record_add(k, &r->levels[i].marker);
    if (!r->db.is_nvprof)
        k->process = sqlite3_column_int64(row, K_PROCESS) >> 24 & 0xffffff;
    k->has_call = l != NULL;
    k->instance = l ? l->chain : 0;
    if (l && r->step_count)
        k->step = step_of(r, l->process >> 24, l->begin_ns);
    if (l) {
        const gnomon__nsys_thread *t = &r->chains.threads[l->thread];
        k->launch_ns = l->begin_ns;
        k->thread = r->db.is_nvprof ? t->thread : t->thread & 0xffffff;
        k->process = r->db.is_nvprof ? t->process : k->process;
    }
    end_kernel(r, l && !r->is_pyprofs ? l->thread : 0, status);
}

/* ---- Lines ---------------------------------------------------------------------------- */

static bool read_line(gnomon__nsys_records *r, int *status)
{
    ssize_t n;
    while ((n = getline(&r->line, &r->line_room, r->lines)) >= 0) {
        const char *line = r->line;
        if (!gnomon__utf8_valid(line, (size_t)n)) {
            const size_t most = 3 * (size_t)n + 1;
            if (!gnomon__grow(&r->clean, &r->clean_room, most, 1))
                break;
            n = (ssize_t)gnomon__utf8_clean(r->line, (size_t)n, r->clean, most,
                                            NULL);
            line = r->clean;
        }
        const gnomon__literal *l =
            gnomon__literal_read(&r->literals, line, (size_t)n);
        if (l && gnomon__nsys_record_read(&r->record, l))
            return true;
        const size_t length = strcspn(line, "\r\n");
        if (strspn(line, " \t\r\n") < (size_t)n && !r->sums.bad_lines++)
            gnomon__log("%s: a line is not from gnomon nsys parse: %.*s",
                        r->path, length < 40 ? (int)length : 40, line);
    }
    if (ferror(r->lines) && !*status) {
        gnomon__log("%s: cannot be read: %s", r->path, strerror(errno));
        *status = GNOMON__EXIT_UNREADABLE;
    }
    return false;
}

enum { IS_DATABASE, IS_LINES, IS_PROFILE };

/* What is no text and no profile is told by the database's reader. */
static int kind_of(FILE *f)
{
    char head[64];
    const size_t n = fread(head, 1, sizeof head, f);
    rewind(f);
    size_t i = 0;
    while (i < n && head[i] && strchr(" \t\r\n", head[i]))
        i++;
    return gnomon__own_is(head + i, n - i) ? IS_PROFILE
           : i < n && head[i] == '{'       ? IS_LINES
                                           : IS_DATABASE;
}

/* ---- Both --------------------------------------------------------------------------------- */

static int open_file(gnomon__nsys_records *r, const char *path,
                     const gnomon__nsys_asked *asked)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        gnomon__log("%s: cannot be read: %s", path, strerror(errno));
        return GNOMON__EXIT_UNREADABLE;
    }
    const int kind = kind_of(f);
    if (kind == IS_LINES) {
        r->lines = f;
        return GNOMON__EXIT_OK;
    }
    fclose(f);
    if (kind == IS_PROFILE) {
        const int code = gnomon__own_open(&r->own, path);
        return code ? code : read_own_steps(r);
    }
    int status = gnomon__nsys_open(&r->db, path);
    if (!status && !r->db.has_kernels)
        status = gnomon__nsys_no_kernels(&r->db);
    if (!status)
        status =
            gnomon__chains_make(&r->chains, &r->db, asked->is_pyprofs, false);
    if (!status) {
        prepare(r);
        status = read_domains(r);
        if (!status)
            status = gnomon__payloads_read(&r->payloads, &r->db);
        if (!status)
            status = read_steps(r, asked->step);
    }
    r->sums.unclosed = r->chains.unclosed;
    return status;
}

int gnomon__nsys_records_open(gnomon__nsys_records **out, const char *path,
                              const gnomon__nsys_asked *asked)
{
    gnomon__nsys_records *r = *out = calloc(1, sizeof *r);
    if (!r) {
        gnomon__log("no memory to read kernels");
        return GNOMON__EXIT_UNREADABLE;
    }
    r->path = path ? path : "standard input";
    r->only_domain = asked->domain;
    r->is_pyprofs = asked->is_pyprofs;
    if (path)
        return open_file(r, path, asked);
    r->lines = stdin;
    return GNOMON__EXIT_OK;
}

gnomon__nsys_record *gnomon__nsys_records_next(gnomon__nsys_records *r,
                                               int *status)
{
    if (r->own     ? !read_own(r, status)
        : r->lines ? !read_line(r, status)
                   : !gnomon__nsys_step(&r->db, r->kernels, status))
        return NULL;
    if (!r->lines && !r->own)
        read_kernel(r, status);
    if (r->record.has_no_memory && !*status)
        *status = no_memory(r);
    r->sums.kernels++;
    r->sums.without_call += !r->record.has_call;
    r->sums.without_range += r->record.has_call && !r->record.is_in_range;
    return *status ? NULL : &r->record;
}

gnomon__nsys_records_sums
gnomon__nsys_records_sum(const gnomon__nsys_records *r)
{
    return r->sums;
}

void gnomon__nsys_records_free(gnomon__nsys_records *r)
{
    if (!r)
        return;
    sqlite3_finalize(r->kernels);
    sqlite3_finalize(r->ranges);
    sqlite3_finalize(r->strings);
    gnomon__own_free(r->own);
    gnomon__chains_free(&r->chains);
    gnomon__payloads_free(&r->payloads);
    gnomon__marker_text_free(&r->text);
    gnomon__nsys_close(&r->db);
    for (size_t i = 0; i < r->level_room; i++)
        gnomon__marker_free(&r->levels[i].marker);
    gnomon__free(r->levels);
    gnomon__free(r->before);
    for (size_t i = 0; i < r->domain_count; i++)
        gnomon__free(r->domains[i].name);
    free(r->domains);
    free(r->steps);
    gnomon__free(r->clean);
    if (r->lines && r->lines != stdin)
        fclose(r->lines);
    free(r->line);
    gnomon__literals_free(&r->literals);
    gnomon__nsys_record_free(&r->record);
    free(r);
}
