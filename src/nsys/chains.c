/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ids of kernels come first, as most calls launch none. Then calls and ranges are read
 * side by side, by thread and begin; of a thread's ranges those are kept that may be open
 * at its next call. */
#include "nsys/chains.h"

#include <sqlite3.h>
#include <stdio.h>

#include "command/command.h"
#include "platform/error.h"
#include "platform/memory.h"

/* Of Nsight's global thread ids, the part that is the process's. */
#define PROCESS_OF(thread) ((int64_t)((uint64_t)(thread) & ~0xffffffull))

static int no_memory(const gnomon__nsys *db)
{
    gnomon__log("%s: no memory for its kernels", db->path);
    return GNOMON__EXIT_UNREADABLE;
}

/* ---- Launches --------------------------------------------------------------------- */

static int is_launch(const void *chains, uint32_t item, const void *wanted)
{
    const gnomon__launch *l =
        &((const gnomon__chains *)chains)->launches[item - 1];
    const gnomon__launch *key = wanted;
    return l->process == key->process && l->correlation == key->correlation;
}

static uint64_t launch_hash(const gnomon__launch *key)
{
    return gnomon__mix(gnomon__mix(0, (uint64_t)key->process),
                       (uint64_t)key->correlation);
}

/* Whether there is a kernel of that id; NULL: none. */
static gnomon__launch *launch_of(const gnomon__chains *c, int64_t process,
                                 int64_t correlation)
{
    const gnomon__launch key = {process, correlation, 0, 0, 0};
    const uint32_t item =
        gnomon__slots_find(&c->by_key, launch_hash(&key), is_launch, c, &key);
    return item ? &c->launches[item - 1] : NULL;
}

static bool add_launch(gnomon__chains *c, int64_t process, int64_t correlation)
{
    const gnomon__launch key = {process, correlation, 0, 0, 0};
    if (launch_of(c, process, correlation))
        return true;
    if (c->launch_count >= UINT32_MAX - 1 ||
        !gnomon__grow(&c->launches, &c->launch_room, c->launch_count + 1,
                      sizeof *c->launches) ||
        gnomon__slots_add(&c->by_key, launch_hash(&key),
                          (uint32_t)c->launch_count + 1))
        return false;
    c->launches[c->launch_count++] = key;
    return true;
}

const gnomon__launch *gnomon__chains_find(const gnomon__chains *c,
                                          int64_t process, int64_t correlation)
{
    const gnomon__launch *l = launch_of(c, process, correlation);
    return l && l->thread ? l : NULL;
}

static int read_launches(gnomon__chains *c, const gnomon__nsys *db,
                         const char *table)
{
    static const char columns[] = "globalPid,correlationId";
    int status = GNOMON__EXIT_OK;
    sqlite3_stmt *rows =
        gnomon__nsys_select(db, table, columns, "WHERE c1 IS NOT NULL");
    while (!status && gnomon__nsys_step(db, rows, &status))
        if (!add_launch(c, sqlite3_column_int64(rows, 0),
                        sqlite3_column_int64(rows, 1)))
            status = no_memory(db);
    sqlite3_finalize(rows);
    return status;
}

/* ---- The sweep ------------------------------------------------------------------------ */

typedef struct open_range {
    int64_t end, row;
    uint32_t chain; /* that it was last in; 0: in none yet */
} open_range;

typedef struct sweep {
    const gnomon__nsys *db;
    gnomon__chains *chains;
    sqlite3_stmt *calls, *ranges;
    bool has_range; /* one is at hand, which no call has come for yet */
    bool is_pyprofs;
    int status;
    open_range *open; /* by begin */
    size_t open_count, open_room;
    int64_t process, thread; /* of `open` */
} sweep;

/* Each: thread, process, begin, end, and a call's correlation id or a range's row. */
static sqlite3_stmt *calls_of(const gnomon__nsys *db)
{
    static const char columns[] = "globalTid,rowid,start,end,correlationId";
    char text[640];
    if (!db->is_nvprof)
        return gnomon__nsys_select(
            db, "CUPTI_ACTIVITY_KIND_RUNTIME", columns,
            "WHERE c4 IS NOT NULL ORDER BY c0, c2, c3 DESC");
#define CALLS \
    "SELECT threadId, processId, start, \"end\", correlationId FROM " \
    "CUPTI_ACTIVITY_KIND_"
    const bool has_runtime =
        gnomon__nsys_has(db, "CUPTI_ACTIVITY_KIND_RUNTIME");
    const bool has_driver = gnomon__nsys_has(db, "CUPTI_ACTIVITY_KIND_DRIVER");
    snprintf(text, sizeof text, "%s%s%s ORDER BY 1, 2, 3, 4 DESC",
             has_runtime ? CALLS "RUNTIME" : "",
             has_runtime && has_driver ? " UNION ALL " : "",
             has_driver ? CALLS "DRIVER" : "");
#undef CALLS
    return gnomon__nsys_prepare(db, text);
}

static sqlite3_stmt *ranges_of(const gnomon__nsys *db)
{
    static const char columns[] =
        "globalTid,eventType,start,end,rowid,endGlobalTid";
    if (!db->is_nvprof)
        return gnomon__nsys_select(
            db, "NVTX_EVENTS", columns,
            "WHERE c1 IN (59, 60, 70, 71) AND (c5 IS NULL OR c5 = c0) "
            "ORDER BY c0, c2, coalesce(c3, 9223372036854775807) DESC, c4");
    return gnomon__nsys_prepare(
        db, "SELECT le(b.objectId, 4, 8), le(b.objectId, 0, 4), b.timestamp, "
            "e.timestamp, b.rowid FROM CUPTI_ACTIVITY_KIND_MARKER b LEFT JOIN "
            "CUPTI_ACTIVITY_KIND_MARKER e ON e.id = b.id AND e.flags = 4 "
            "WHERE b.flags = 2 ORDER BY 1, 2, 3, "
            "coalesce(e.timestamp, 9223372036854775807) DESC, 5");
}

static int64_t process_of(const sweep *s, sqlite3_stmt *row)
{
    return s->db->is_nvprof ? sqlite3_column_int64(row, 1)
                            : PROCESS_OF(sqlite3_column_int64(row, 0));
}

static int by_thread(const sweep *s, int64_t thread, int64_t process)
{
    if (thread != s->thread)
        return thread < s->thread ? -1 : 1;
    return (process > s->process) - (process < s->process);
}

/* Opens the ranges of the call's thread that began by `begin`, and passes those of threads
 * before it. */
static void open_ranges(sweep *s, int64_t begin)
{
    while (s->has_range) {
        sqlite3_stmt *r = s->ranges;
        const int order =
            by_thread(s, sqlite3_column_int64(r, 0), process_of(s, r));
        const int64_t from = sqlite3_column_int64(r, 2);
        if (order > 0 ||
            (!order && (from > begin || (s->is_pyprofs && from == begin))))
            return;
        if (!order) {
            const bool is_closed = sqlite3_column_type(r, 3) != SQLITE_NULL;
            if (!gnomon__grow(&s->open, &s->open_room, s->open_count + 1,
                              sizeof *s->open)) {
                s->status = no_memory(s->db);
                return;
            }
            s->open[s->open_count++] =
                (open_range){is_closed ? sqlite3_column_int64(r, 3) : INT64_MAX,
                             sqlite3_column_int64(r, 4), 0};
            s->chains->unclosed += !is_closed;
        }
        s->has_range = gnomon__nsys_step(s->db, r, &s->status);
    }
}

/* The chain of `range` inside `parent`; 0: no memory. */
static uint32_t chain_in(gnomon__chains *c, open_range *range, uint32_t parent)
{
    if (range->chain && c->chains[range->chain].parent == parent)
        return range->chain;
    if (c->chain_count >= UINT32_MAX - 1 ||
        !gnomon__grow(&c->chains, &c->chain_room, c->chain_count + 2,
                      sizeof *c->chains))
        return 0;
    const uint32_t depth = parent ? c->chains[parent].depth + 1 : 1;
    range->chain = (uint32_t)++c->chain_count;
    c->chains[range->chain] = (gnomon__chain){range->row, parent, depth};
    return range->chain;
}

/* The innermost range around a call; those that ended before it are closed. */
static uint32_t chain_around(sweep *s, int64_t begin, int64_t end)
{
    size_t kept = 0;
    uint32_t chain = 0;
    for (size_t i = 0; i < s->open_count && !s->status; i++) {
        open_range *o = &s->open[kept];
        *o = s->open[i];
        kept += o->end >= begin;
        if (o->end > end || (o->end == end && !s->is_pyprofs)) {
            chain = chain_in(s->chains, o, chain);
            if (!chain)
                s->status = no_memory(s->db);
        }
    }
    s->open_count = kept;
    return chain;
}

/* Calls come thread by thread. */
static uint32_t thread_number(sweep *s, int64_t process, int64_t thread)
{
    gnomon__chains *c = s->chains;
    if (!c->thread_count || by_thread(s, thread, process)) {
        if (!gnomon__grow(&c->threads, &c->thread_room, c->thread_count + 2,
                          sizeof *c->threads)) {
            s->status = no_memory(s->db);
            return 0;
        }
        c->threads[++c->thread_count] = (gnomon__nsys_thread){process, thread};
        s->thread = thread;
        s->process = process;
        s->open_count = 0;
    }
    return (uint32_t)c->thread_count;
}

/* Of calls inside one another that have one id, as the runtime's and the driver's, the
 * outer one comes first and stays. */
static void take_call(sweep *s)
{
    sqlite3_stmt *r = s->calls;
    const int64_t process = process_of(s, r),
                  thread = sqlite3_column_int64(r, 0),
                  begin = sqlite3_column_int64(r, 2),
                  end = sqlite3_column_int64(r, 3);
    gnomon__launch *l = launch_of(s->chains, s->db->is_nvprof ? 0 : process,
                                  sqlite3_column_int64(r, 4));
    if (!l || l->thread)
        return;
    l->begin_ns = begin;
    l->thread = thread_number(s, process, thread);
    open_ranges(s, begin);
    l->chain = chain_around(s, begin, end);
}

int gnomon__chains_make(gnomon__chains *c, const gnomon__nsys *db,
                        bool is_pyprofs, bool has_copies)
{
    *c = (gnomon__chains){0};
    sweep s = {.db = db, .chains = c, .is_pyprofs = is_pyprofs};
    s.status =
        read_launches(c, db,
                      db->is_nvprof ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                                    : "CUPTI_ACTIVITY_KIND_KERNEL");
    if (has_copies && !s.status)
        s.status = read_launches(c, db, "CUPTI_ACTIVITY_KIND_MEMCPY");
    if (has_copies && !s.status)
        s.status = read_launches(c, db, "CUPTI_ACTIVITY_KIND_MEMSET");
    if (!s.status && db->has_calls && c->launch_count) {
        s.calls = calls_of(db);
        s.ranges = db->has_ranges ? ranges_of(db) : NULL;
        s.has_range = gnomon__nsys_step(db, s.ranges, &s.status);
        while (!s.status && gnomon__nsys_step(db, s.calls, &s.status))
            take_call(&s);
    }
    sqlite3_finalize(s.calls);
    sqlite3_finalize(s.ranges);
    gnomon__free(s.open);
    return s.status;
}

void gnomon__chains_free(gnomon__chains *c)
{
    gnomon__free(c->chains);
    gnomon__free(c->launches);
    gnomon__free(c->threads);
    gnomon__slots_free(&c->by_key);
    *c = (gnomon__chains){0};
}
