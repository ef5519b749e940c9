/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ids of kernels come first, as most calls launch none. Then calls and ranges are read
 * side by side, by thread and begin; of a thread's ranges those are kept that may be open
 * at its next call. */
#include "nsys/chains.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "platform/error.h"
#include "print/table.h"

/* Of Nsight's global thread ids, the part that is the process's. */
#define PROCESS_OF(thread) ((int64_t)((uint64_t)(thread) & ~0xffffffull))

static int no_memory(const gnomon__nsys *db)
{
    gnomon__log("%s: no memory for its kernels", db->path);
    return GNOMON__EXIT_UNREADABLE;
}

/* ---- Launches --------------------------------------------------------------------- */

/* The number of a process; 0: there is none. There are few. */
static uint32_t process_number(const gnomon__chains *c, int64_t process)
{
    for (size_t i = c->process_count; i; i--)
        if (c->processes[i - 1] == process)
            return (uint32_t)i;
    return 0;
}

/* The same, which is new where there was none; 0: no memory. */
static uint32_t process_new(gnomon__chains *c, int64_t process)
{
    const uint32_t known = process_number(c, process);
    int64_t *more =
        known ? NULL
              : gnomon__table_room(c->processes, &c->process_room,
                                   c->process_count + 1, sizeof *more);
    if (!more)
        return known;
    c->processes = more;
    more[c->process_count++] = process;
    return (uint32_t)c->process_count;
}

/* Of the process's number, which is not 0. */
static gnomon__launch *slot_of(const gnomon__chains *c, uint64_t key)
{
    size_t i = (size_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15ull >> 20);
    for (;; i++) {
        gnomon__launch *l = &c->launches[i & (c->launch_room - 1)];
        if (!l->key || l->key == key)
            return l;
    }
}

static uint64_t key_of(uint32_t process, int64_t correlation)
{
    return process ? (uint64_t)process << 32 | (uint32_t)correlation : 0;
}

static bool widen(gnomon__chains *c)
{
    gnomon__chains wider = *c;
    wider.launch_room = c->launch_room ? c->launch_room * 2 : 1024;
    wider.launches = calloc(wider.launch_room, sizeof *wider.launches);
    if (!wider.launches)
        return false;
    for (size_t i = 0; i < c->launch_room; i++)
        if (c->launches[i].key)
            *slot_of(&wider, c->launches[i].key) = c->launches[i];
    free(c->launches);
    c->launches = wider.launches;
    c->launch_room = wider.launch_room;
    return true;
}

static bool add_launch(gnomon__chains *c, int64_t process, int64_t correlation)
{
    const uint64_t key = key_of(process_new(c, process), correlation);
    if (!key || (c->launch_count * 2 >= c->launch_room && !widen(c)))
        return false;
    gnomon__launch *l = slot_of(c, key);
    c->launch_count += !l->key;
    l->key = key;
    return true;
}

const gnomon__launch *gnomon__chains_find(const gnomon__chains *c,
                                          int64_t process, int64_t correlation)
{
    const uint32_t number = process_number(c, process);
    if (!number)
        return NULL;
    const gnomon__launch *l = slot_of(c, key_of(number, correlation));
    return l->key && l->thread ? l : NULL;
}

static int read_launches(gnomon__chains *c, const gnomon__nsys *db)
{
    static const char *const columns[] = {"globalPid", "correlationId", NULL};
    int status = GNOMON__EXIT_OK;
    sqlite3_stmt *rows = gnomon__nsys_select(
        db,
        db->is_nvprof ? "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"
                      : "CUPTI_ACTIVITY_KIND_KERNEL",
        columns, "WHERE c1 IS NOT NULL");
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
    bool strictly;
    int status;
    open_range *open; /* by begin */
    size_t open_count, open_room;
    int64_t process, thread; /* of `open` */
} sweep;

/* Each: thread, process, begin, end, and a call's correlation id or a range's row. */
static sqlite3_stmt *calls_of(const gnomon__nsys *db)
{
    static const char *const columns[] = {"globalTid", "rowid",         "start",
                                          "end",       "correlationId", NULL};
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
    static const char *const columns[] = {
        "globalTid", "eventType",    "start", "end",
        "rowid",     "endGlobalTid", NULL};
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
            (!order && (from > begin || (s->strictly && from == begin))))
            return;
        if (!order) {
            const bool is_closed = sqlite3_column_type(r, 3) != SQLITE_NULL;
            open_range *open = gnomon__table_room(
                s->open, &s->open_room, s->open_count + 1, sizeof *open);
            if (!open) {
                s->status = no_memory(s->db);
                return;
            }
            s->open = open;
            open[s->open_count++] =
                (open_range){is_closed ? sqlite3_column_int64(r, 3) : INT64_MAX,
                             sqlite3_column_int64(r, 4), 0};
            s->chains->ranges++;
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
    gnomon__chain *more = gnomon__table_room(c->chains, &c->chain_room,
                                             c->chain_count + 2, sizeof *more);
    if (!more || c->chain_count >= UINT32_MAX - 1)
        return 0;
    c->chains = more;
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
        if (o->end > end || (o->end == end && !s->strictly)) {
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
        gnomon__nsys_thread *more = gnomon__table_room(
            c->threads, &c->thread_room, c->thread_count + 2, sizeof *more);
        if (!more) {
            s->status = no_memory(s->db);
            return 0;
        }
        c->threads = more;
        more[++c->thread_count] = (gnomon__nsys_thread){process, thread};
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
    const uint32_t known =
        process_number(s->chains, s->db->is_nvprof ? 0 : process);
    gnomon__launch *l =
        known ? slot_of(s->chains, key_of(known, sqlite3_column_int64(r, 4)))
              : NULL;
    if (!l || !l->key || l->thread)
        return;
    l->thread = thread_number(s, process, thread);
    open_ranges(s, begin);
    l->chain = chain_around(s, begin, end);
}

int gnomon__chains_make(gnomon__chains *c, const gnomon__nsys *db,
                        bool strictly)
{
    *c = (gnomon__chains){0};
    sweep s = {.db = db, .chains = c, .strictly = strictly};
    s.status = read_launches(c, db);
    if (!s.status && db->has_calls && c->launch_room) {
        s.calls = calls_of(db);
        s.ranges = db->has_ranges ? ranges_of(db) : NULL;
        s.has_range = gnomon__nsys_step(db, s.ranges, &s.status);
        while (!s.status && gnomon__nsys_step(db, s.calls, &s.status))
            take_call(&s);
    }
    sqlite3_finalize(s.calls);
    sqlite3_finalize(s.ranges);
    free(s.open);
    return s.status;
}

void gnomon__chains_free(gnomon__chains *c)
{
    free(c->chains);
    free(c->launches);
    free(c->threads);
    free(c->processes);
    *c = (gnomon__chains){0};
}
