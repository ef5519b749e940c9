/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the export must know before it writes a profile's first event. Where something of
 * it is in the events, they are read twice; and once more where there is memory. */
#include "export/perfetto.h"
#include "print/event_walk.h"

#include <stdlib.h>

/* Above all numbers of processes and threads that systems give out. */
#define MADE_UP_PID 100000000
#define MADE_UP_TID 1000000000
/* Perfetto keeps 512 nested slices of a track, the last of them for an instant: of a
 * deeper one it takes the end for that of another. */
#define MOST_DEEP 511

/* ---- Numbers of processes and threads ------------------------------------------ */

static int perfetto_compare_ids(const void *left, const void *right)
{
    const gnomon__perfetto_id *a = left, *b = right;
    if (a->group != b->group)
        return a->group > b->group ? 1 : -1;
    if (a->id != b->id)
        return a->id > b->id ? 1 : -1;
    return (a->owner > b->owner) - (a->owner < b->owner);
}

void gnomon__perfetto_sort_ids(gnomon__perfetto_id *ids, size_t count)
{
    if (count)
        qsort(ids, count, sizeof *ids, perfetto_compare_ids);
}

int gnomon__perfetto_owns(const gnomon__perfetto_id *ids, size_t count,
                          const gnomon__perfetto_id *own)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        const gnomon__perfetto_id first = {ids[at].group, ids[at].id, 0};
        const gnomon__perfetto_id wanted = {own->group, own->id, 0};
        if (perfetto_compare_ids(&first, &wanted) < 0)
            low = at + 1;
        else
            high = at;
    }
    return low < count && ids[low].owner == own->owner;
}

/* Viewers take processes of one number for the same, whatever their machine: so only
 * the first run with a number has it. */
static int32_t perfetto_pid_of(const gnomon__perfetto *f, size_t run,
                               int64_t pid)
{
    const gnomon__perfetto_id own = {0, pid, f->runs_before + run};
    if (pid > GNOMON__PERFETTO_STEPS && pid < MADE_UP_PID &&
        gnomon__perfetto_owns(f->pids, f->pid_count, &own))
        return (int32_t)pid;
    return (int32_t)(MADE_UP_PID +
                     (f->runs_before + run) % (MADE_UP_TID - MADE_UP_PID));
}

/* Likewise of the threads of a run. */
static int perfetto_find_tids(gnomon__perfetto *f)
{
    gnomon_track_info k;
    size_t n = 0;
    gnomon__perfetto_id *ids = calloc(f->track_count + 1, sizeof *ids);
    if (!ids)
        return 0;
    for (size_t i = 1; i <= f->track_count; i++) {
        (void)gnomon_profile_track(f->p, i, &k);
        if (k.kind == GNOMON_TRACK_THREAD)
            ids[n++] = (gnomon__perfetto_id){k.run, k.os_id, i};
    }
    gnomon__perfetto_sort_ids(ids, n);
    for (size_t i = 0; i < n; i++) {
        int64_t tid = ids[i].id;
        if (tid <= GNOMON__PERFETTO_STEPS || tid >= MADE_UP_TID ||
            !gnomon__perfetto_owns(ids, n, &ids[i]))
            tid = MADE_UP_TID + (int64_t)(ids[i].owner % MADE_UP_TID);
        f->rows[ids[i].owner].tid = tid;
    }
    free(ids);
    return 1;
}

/* ---- Runs and rows ---------------------------------------------------------------- */

static void perfetto_find_run(gnomon__perfetto *f, size_t i)
{
    gnomon_run_info run = {.rank = -1};
    if (i)
        (void)gnomon_profile_run(f->p, i, &run);
    f->runs[i] = (gnomon__perfetto_run){
        .zero = run.zero_unix_ns,
        .first = UINT64_MAX,
        .uuid = ++f->uuids,
        .sequence = (uint32_t)(f->runs_before + i) + 1,
        .pid = perfetto_pid_of(f, i, run.pid),
    };
}

static void perfetto_find_wrapped(gnomon__perfetto *f)
{
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(f->p, i, &l); i++)
        if (l.run <= f->run_count && strcmp(l.kind, "events_overwritten") == 0)
            f->runs[l.run].has_wrapped = 1;
}

int gnomon__perfetto_rows_begin(gnomon__perfetto *f)
{
    gnomon_track_info k;
    f->run_count = gnomon_profile_count(f->p, GNOMON_RUNS);
    f->track_count = gnomon_profile_count(f->p, GNOMON_TRACKS);
    f->row_count = f->track_count + f->run_count + 1;
    f->runs = calloc(f->run_count + 1, sizeof *f->runs);
    f->rows = calloc(f->row_count + 1, sizeof *f->rows);
    if (!f->runs || !f->rows || !gnomon__lanes_begin(&f->lanes, f->row_count))
        return 0;
    f->lanes.most = MOST_DEEP;
    for (size_t i = 0; i <= f->run_count; i++)
        perfetto_find_run(f, i);
    for (size_t i = 1; i <= f->row_count; i++) {
        f->rows[i].uuid = ++f->uuids;
        if (i > f->track_count)
            f->rows[i].run = (uint32_t)(i - f->track_count - 1);
        else if (!gnomon_profile_track(f->p, i, &k) && k.run <= f->run_count)
            f->rows[i].run = k.run;
    }
    perfetto_find_wrapped(f);
    return perfetto_find_tids(f);
}

void gnomon__perfetto_rows_end(gnomon__perfetto *f)
{
    gnomon__lanes_end(&f->lanes);
    free(f->rows);
    free(f->runs);
    f->rows = NULL;
    f->runs = NULL;
}

/* ---- Events ----------------------------------------------------------------------- */

static void perfetto_look_at(gnomon__perfetto *f, const gnomon_event_info *e,
                             size_t number)
{
    const gnomon__perfetto_row *row = &f->rows[e->track];
    gnomon__perfetto_run *run = &f->runs[row->run];
    uint64_t unix_ns = gnomon__perfetto_unix(run, e->begin_ns);
    if (!gnomon__export_takes(f->what, unix_ns))
        return;
    run->first = unix_ns < run->first ? unix_ns : run->first;
    if (!gnomon__crossed_meet(&f->crossed, e, number))
        f->has_no_memory = 1;
    if (e->instance && e->kind == GNOMON_EVENT_EXECUTION)
        gnomon__perfetto_links_meet(f, row->run, e, number, unix_ns);
}

/* Whether links, crossed scopes, or the time that is shown depend on all events. */
static int perfetto_must_look(const gnomon__perfetto *f)
{
    int has_wrapped = 0;
    for (size_t i = 0; i <= f->run_count; i++)
        has_wrapped |= f->runs[i].has_wrapped;
    return has_wrapped || f->links.count || f->crossed.is_timed;
}

void gnomon__perfetto_look(gnomon__perfetto *f)
{
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    gnomon__walk_from(&walk, f->p, 1, perfetto_must_look(f) ? SIZE_MAX : 0);
    while ((e = gnomon__walk_next(&walk)) != NULL)
        perfetto_look_at(f, e, walk.number);
    gnomon__crossed_ready(&f->crossed);
    for (size_t i = 0; i <= f->run_count; i++) {
        gnomon__perfetto_run *run = &f->runs[i];
        if (f->what->until_unix_ns)
            run->floor = f->what->from_unix_ns;
        else if (run->has_wrapped && run->first < UINT64_MAX)
            run->floor = run->first;
    }
}
