/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who is which process and thread in a Chrome trace. Viewers want whole numbers: a
 * run's is its process's where no other run has it, a thread's the system's, a device is
 * a process and its streams are threads, as in Kineto's traces. */
#include "export/chrome.h"

#include <stdlib.h>

/* Above all numbers of processes and threads that systems give out. */
#define MADE_UP_PID 100000000
#define MADE_UP_TID 1000000000
/* Devices are numbered below this, and a process in a container may be too. */
#define FIRST_PID 64

static int is_pid_taken(const gnomon__export *what, size_t which, size_t run,
                        int64_t pid)
{
    gnomon_run_info r;
    for (size_t i = 0; i <= which; i++)
        for (size_t k = 1; !gnomon_profile_run(what->profiles[i], k, &r); k++)
            if (r.pid == pid && (i < which || k < run))
                return 1;
    return 0;
}

static int64_t pid_of_run(const gnomon__export *what, size_t which, size_t run,
                          size_t before)
{
    gnomon_run_info r;
    if (gnomon_profile_run(what->profiles[which], run, &r) ||
        r.pid < FIRST_PID || is_pid_taken(what, which, run, r.pid))
        return MADE_UP_PID + (int64_t)(before + run);
    return r.pid;
}

/* The run of a track; 1 where there is none, and so no other run. */
static size_t run_of_track(const gnomon_track_info *k)
{
    return k->run ? k->run : 1;
}

/* ---- Threads ------------------------------------------------------------------ */

typedef struct chrome_thread {
    int64_t os_id;
    uint32_t run, track;
    int is_lane; /* of what a thread called */
} chrome_thread;

static int compare_threads(const void *left, const void *right)
{
    const chrome_thread *a = left, *b = right;
    if (a->run != b->run)
        return a->run > b->run ? 1 : -1;
    if (a->os_id != b->os_id)
        return a->os_id > b->os_id ? 1 : -1;
    if (a->is_lane != b->is_lane)
        return a->is_lane ? 1 : -1;
    return (a->track > b->track) - (a->track < b->track);
}

/* The first thread of a number gets it, and the first lane of that number is shown in
 * the thread's row. `of`: all of one number. */
static void take_number(gnomon__chrome_ids *ids, const chrome_thread *of,
                        size_t count)
{
    size_t i = 0;
    if (of->is_lane)
        return;
    ids->tracks[of->track] = of->os_id;
    while (i < count && !of[i].is_lane)
        i++;
    if (i == count)
        return;
    ids->tracks[of[i].track] = of->os_id;
    ids->hosts[of[i].track] = of->track;
}

/* The system's numbers; those who get none keep 0. */
static int take_own_numbers(gnomon__chrome_ids *ids, const gnomon_profile *p)
{
    gnomon_track_info k;
    size_t count = gnomon_profile_count(p, GNOMON_TRACKS), n = 0, same;
    chrome_thread *threads = calloc(count + 1, sizeof *threads);
    if (!threads)
        return 0;
    for (size_t i = 1; !gnomon_profile_track(p, i, &k); i++) {
        ids->hosts[i] = (uint32_t)i;
        if ((k.kind == GNOMON_TRACK_THREAD || k.kind == GNOMON_TRACK_LANE) &&
            k.os_id > GNOMON__CHROME_STEPS)
            threads[n++] = (chrome_thread){k.os_id, k.run, (uint32_t)i,
                                           k.kind == GNOMON_TRACK_LANE};
    }
    qsort(threads, n, sizeof *threads, compare_threads);
    for (size_t i = 0; i < n; i += same) {
        for (same = 1; i + same < n &&
                       threads[i + same].run == threads[i].run &&
                       threads[i + same].os_id == threads[i].os_id;)
            same++;
        take_number(ids, &threads[i], same);
    }
    free(threads);
    return 1;
}

static void identify(gnomon__chrome_ids *ids, const gnomon_profile *p,
                     size_t track, size_t before)
{
    gnomon_track_info k;
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    (void)gnomon_profile_track(p, track, &k);
    size_t run = run_of_track(&k);
    ids->pids[track] = runs ? ids->runs[run] : MADE_UP_PID;
    if (!ids->tracks[track])
        ids->tracks[track] =
            gnomon__chrome_lane_tid(track, GNOMON__CHROME_LANES - 1);
    if (gnomon__chrome_on_device(p, track)) {
        /* Devices of a second run are others, though their numbers are the same. */
        ids->pids[track] =
            before + run > 1
                ? MADE_UP_PID + (int64_t)(before + run) * 1000 + k.device
                : k.device;
        if (k.kind == GNOMON_TRACK_STREAM)
            ids->tracks[track] = k.os_id > 0 ? k.os_id : k.index;
    }
}

static void find_threads(gnomon__chrome_ids *ids, const gnomon_profile *p,
                         size_t runs)
{
    gnomon_track_info k;
    for (size_t i = 1; !gnomon_profile_track(p, i, &k); i++)
        if (k.kind == GNOMON_TRACK_THREAD && k.run)
            ids->has_thread[k.run] = 1;
        else if (k.kind == GNOMON_TRACK_THREAD)
            memset(ids->has_thread, 1, runs + 1);
}

int gnomon__chrome_ids_begin(gnomon__chrome_ids *ids,
                             const gnomon__export *what, size_t which,
                             size_t runs_before)
{
    const gnomon_profile *p = what->profiles[which];
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    size_t tracks = gnomon_profile_count(p, GNOMON_TRACKS);
    ids->runs = calloc(runs + 2, sizeof *ids->runs);
    ids->tracks = calloc(tracks + 1, sizeof *ids->tracks);
    ids->pids = calloc(tracks + 1, sizeof *ids->pids);
    ids->hosts = calloc(tracks + 1, sizeof *ids->hosts);
    ids->has_thread = calloc(runs + 1, 1);
    if (!ids->has_thread || !ids->runs || !ids->tracks || !ids->pids ||
        !ids->hosts || !take_own_numbers(ids, p))
        return 0;
    for (size_t i = 1; i <= runs; i++)
        ids->runs[i] = pid_of_run(what, which, i, runs_before);
    find_threads(ids, p, runs);
    ids->runs[0] = runs ? ids->runs[1] : MADE_UP_PID;
    for (size_t i = 1; i <= tracks; i++)
        identify(ids, p, i, runs_before);
    return 1;
}

void gnomon__chrome_ids_end(gnomon__chrome_ids *ids)
{
    free(ids->has_thread);
    free(ids->runs);
    free(ids->tracks);
    free(ids->pids);
    free(ids->hosts);
    *ids = (gnomon__chrome_ids){0};
}

int64_t gnomon__chrome_lane_tid(size_t track, uint32_t lane)
{
    if (lane > GNOMON__CHROME_LANES - 2)
        lane = GNOMON__CHROME_LANES - 2;
    return MADE_UP_TID + (int64_t)track * GNOMON__CHROME_LANES + lane;
}
