/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages alternate for long while threads mark: nothing is lost or reported
 * twice, and a switch takes as much memory at the end as at first. Its time
 * is printed and not judged.
 *
 * links: static
 * timeout: 600 */
#include <sys/stat.h>
#include <time.h>

#include "live_profile.h"
#include "recording_threads.h"

#define THREADS 4
#define BRANCHES 20 /* 1 + 3 * 20 = 61 paths on each thread */
#define PATHS (1 + 3 * BRANCHES)

/* ---- What is marked ---------------------------------------------------------------- */

static gnomon_region *regions[PATHS], *samples;
static int branches = BRANCHES; /* that are marked */
static int is_over;

typedef struct marker {
    uint64_t scopes, samples;
} marker;

/* A branch is three nested scopes; an outer one lasts for many branches, so
 * that some are open at any switch. */
static void mark_branch(marker *m, int branch)
{
    gnomon_token t[3];
    for (int i = 0; i < 3; i++)
        t[i] = gnomon_begin(regions[1 + 3 * branch + i]);
    gnomon_counter(samples, branch);
    m->samples++;
    for (int i = 3; i-- > 0;) {
        gnomon_end(t[i]);
        m->scopes++;
    }
}

/* Bursts with short sleeps in between: threads that never sleep keep the processors from
 * the one that switches, which then waits for the end of their turns each time. */
static void *mark_all_the_time(void *argument)
{
    marker *m = argument;
    for (int branch = 0, bursts = 0; !load_acquire(&is_over);) {
        gnomon_token t = gnomon_begin(regions[0]);
        for (int i = 0; i < 7; i++, branch = (branch + 1) % branches)
            mark_branch(m, branch);
        if (++bursts % 64 == 0)
            usleep(50);
        gnomon_end(t);
        m->scopes++;
    }
    return NULL;
}

static void make_regions(void)
{
    for (int i = 0; i < PATHS; i++) {
        char name[32];
        snprintf(name, sizeof name, "scope %d", i);
        regions[i] = gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE);
    }
    samples = gnomon_region_get("samples", NULL, GNOMON_KIND_COUNTER);
}

/* ---- What is reported ---------------------------------------------------- */

typedef struct sums {
    uint64_t scopes, late, samples, stages;
} sums;

static sums reported_sums; /* in reports */
static uint64_t most_nodes;

static void add_profile(sums *to, const gnomon_profile *p)
{
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n;
        gnomon_profile_node(p, i, &n);
        to->scopes += n.host ? n.host->count : 0;
    }
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_COUNTERS);
         i++) {
        gnomon_counter_info c;
        gnomon_profile_counter(p, i, &c);
        to->samples += c.count;
    }
    for (size_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_STAGES); i++) {
        gnomon_stage_info s;
        gnomon_profile_stage(p, i, &s);
        to->late += s.late;
        to->stages += s.count;
    }
}

static int keep_sums(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    (void)self, (void)out;
    if (reported_sums.stages % 64 == 0 &&
        !CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    most_nodes = nodes > most_nodes ? nodes : most_nodes;
    add_profile(&reported_sums, p);
    return GNOMON_OK;
}

static const gnomon_profiler teller = {
    .struct_size = sizeof teller,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "teller",
    .summary = keep_sums,
};

/* ---- Memory and time ----------------------------------------------------- */

typedef struct cost {
    uint64_t heap, mapped, resident, ns;
} cost;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void alternate(long times, cost *tenths)
{
    uint64_t begin = now_ns();
    long tenth = times / 10, done = 0;
    for (int i = 0; i < 10; i++) {
        for (; done < (i + 1) * tenth; done++) {
            CHECK_EQ(gnomon_stage_begin(done % 2 ? "validate" : "fit"),
                     GNOMON_OK);
            if (done % 16 == 0)
                usleep(100); /* so that threads get their turn */
            gnomon_step();
        }
        gnomon_health h = live_health();
        tenths[i] = (cost){h.heap_bytes, h.mapped_bytes, resident_bytes(),
                           (now_ns() - begin) / (uint64_t)tenth};
        begin = now_ns();
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

/* Measured in the second half: by then all paths have histograms of any
 * width. After few stages on a busy machine some have not, and those are 4
 * MiB. */
static void check_flat(const cost *tenths, long times)
{
    const cost *a = &tenths[4], *b = &tenths[9];
    const uint64_t mib = 1 << 20, more = times < 10000 ? 4 * mib : mib;
    for (int i = 0; i < 10; i += i ? 5 : 4)
        fprintf(stderr,
                "    tenth %2d: %llu ns a switch, heap %llu, arena %llu, "
                "resident %llu bytes\n",
                i + 1, (unsigned long long)tenths[i].ns,
                (unsigned long long)tenths[i].heap,
                (unsigned long long)tenths[i].mapped,
                (unsigned long long)tenths[i].resident);
    if (IS_SLOW) /* too few stages for that */
        return;
    CHECK(b->heap <= a->heap + more);
    CHECK(b->mapped <= a->mapped + more);
    CHECK(b->resident <= a->resident + 3 * mib + more);
}

/* Not rank 0, which would print its reports on stderr. */
static void begin_quietly(void)
{
    gnomon_setup_options o = {
        .struct_size = sizeof o, .has_rank = 1, .rank = 1, .world_size = 2};
    CHECK_EQ(gnomon_setup(&o), GNOMON_OK);
}

/* ---- Tests --------------------------------------------------------------------------- */

static void finish(pthread_t *threads, marker *markers, sums *marked)
{
    store_release(&is_over, 1);
    live_join(threads, THREADS);
    *marked = (sums){0};
    for (int i = 0; i < THREADS; i++) {
        marked->scopes += markers[i].scopes;
        marked->samples += markers[i].samples;
    }
}

/* Each mark is in one report, or counted as late; and all are in the profile
 * of all stages. */
TEST(soak_alternating_stages_are_reported_once)
{
    long times = live_times(EACH > 1 ? 200 : 300, 100000);
    pthread_t threads[THREADS];
    static marker markers[THREADS];
    cost tenths[10];
    sums marked, all = {0};
    begin_quietly();
    make_regions();
    CHECK_EQ(gnomon_attach(&teller, NULL, NULL), GNOMON_OK);
    live_start(threads, THREADS, mark_all_the_time, markers, sizeof *markers);
    alternate(times, tenths);
    finish(threads, markers, &marked);
    CHECK_EQ(gnomon_stage_begin("last"), GNOMON_OK); /* of what came since */
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    gnomon_profile *p = live_snapshot("teller");
    add_profile(&all, p);
    gnomon_profile_free(p);
    CHECK_EQ(all.scopes, marked.scopes);
    CHECK_EQ(all.samples, marked.samples);
    CHECK_EQ(reported_sums.scopes + all.late, marked.scopes);
    CHECK_EQ(reported_sums.samples, marked.samples);
    CHECK_EQ(reported_sums.stages, times + 1);
    CHECK_EQ(all.stages, times + 1);
    fprintf(stderr, "    %llu scopes in %ld stages, %llu of them late\n",
            (unsigned long long)marked.scopes, times,
            (unsigned long long)all.late);
    check_flat(tenths, times);
    live_check_no_trouble();
}

/* As above with reports and a profile in files; with few paths where there
 * are many stages, as all of it is read again. */
TEST(soak_alternating_stages_are_kept_once)
{
    long times = live_times(100, 100000); /* tenths of it, also if slow */
    pthread_t threads[THREADS];
    static marker markers[THREADS];
    cost tenths[10];
    sums marked, all = {0};
    char folder[] = "/tmp/gnomon-switches-XXXXXX", spec[256], path[64];
    if (!CHECK(mkdtemp(folder) != NULL))
        return;
    snprintf(path, sizeof path, "%s/run-1.gnomon", folder);
    snprintf(spec, sizeof spec,
             "simple(file=%s/run-%%r.txt),advanced(file=%s/run-%%r.gnomon)",
             folder, folder);
    if (times > 10000)
        branches = 2;
    begin_quietly();
    make_regions();
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    live_start(threads, THREADS, mark_all_the_time, markers, sizeof *markers);
    alternate(times, tenths);
    finish(threads, markers, &marked);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    gnomon_profile *p = NULL;
    struct stat text = {0}, file = {0};
    stat(path, &file);
    if (!CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    unlink(path);
    add_profile(&all, p);
    gnomon_profile_free(p);
    snprintf(path, sizeof path, "%s/run-1.txt", folder);
    stat(path, &text);
    unlink(path);
    rmdir(folder);
    fprintf(stderr, "    %lld bytes of profile, %lld of text\n",
            (long long)file.st_size, (long long)text.st_size);
    CHECK_EQ(all.scopes, marked.scopes);
    CHECK_EQ(all.samples, marked.samples);
    CHECK(all.stages == (uint64_t)times || all.stages == (uint64_t)times + 1);
    check_flat(tenths, times);
    live_check_no_trouble();
}
