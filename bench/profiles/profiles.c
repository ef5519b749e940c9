/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile costs after recording: CPU time of building, writing, reading and
 * merging one node, compared with a plain copy of the bytes of its file; and a merge
 * of many ranks, with its peak memory.
 *
 * bench_profiles --part FILE [--smoke]   writes a part of bench's table. With
 * $GNOMON_SOAK it merges 10^4 ranks instead of 10^3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "gnomon/profile.h"
#include "merge/merge.h"
#include "exports.h"
#include "profile/file_write.h"

#define NODES 1000u /* of a rank */
#define REGIONS 100u
#define CELLS 12u /* of a node's histogram */

typedef struct file_bytes {
    char *at;
    size_t size, room;
} file_bytes;

static int smoke;

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, gnomon_error_text());
    exit(2);
}

/* ---- A rank ---------------------------------------------------------------------- */

static void add_nodes(gnomon_builder *b, uint32_t track, uint32_t stage)
{
    gnomon_cell cells[CELLS];
    for (uint32_t c = 0; c < CELLS; c++)
        cells[c] = (gnomon_cell){160 + c, 0, 9 + c};
    gnomon_stats s = {.struct_size = sizeof s,
                      .min_ns = gnomon_cell_low(160),
                      .max_ns = gnomon_cell_low(160 + CELLS - 1),
                      .cells = cells,
                      .cell_count = CELLS};
    for (uint32_t c = 0; c < CELLS; c++)
        s.count += cells[c].count;
    s.total_ns = s.self_ns = 50 * s.max_ns;
    /* Ten below each: the total of an outermost node includes theirs. */
    for (uint32_t i = 0, parent = 0; i < NODES; i++) {
        gnomon_node_info n = {.track = track,
                              .stage = stage,
                              .parent = i % 11 ? parent : 0,
                              .region = 1 + i % REGIONS,
                              .first = i % 11 ? i : i + 11,
                              .host = &s};
        uint32_t below = NODES - 1 - i < 10 ? NODES - 1 - i : 10;
        s.total_ns = (i % 11 ? 1 : 1 + below) * s.self_ns;
        n.host = &s;
        uint32_t number = gnomon_add_node(b, &n);
        parent = i % 11 ? parent : number;
    }
}

static gnomon_profile *build_rank(int32_t rank)
{
    gnomon_builder *b;
    gnomon_profile *p;
    char text[32];
    must(!gnomon_builder_create(&b), "builder");
    for (uint32_t i = 0; i < REGIONS; i++) {
        snprintf(text, sizeof text, "region %u", i);
        gnomon_add_region(b, &(gnomon_region_info){.name = text,
                                                   .file = "src/model.c",
                                                   .line = i});
    }
    snprintf(text, sizeof text, "life %d", (int)rank);
    uint32_t run = gnomon_add_run(b, &(gnomon_run_info){.rank = rank,
                                                        .world_size = 10000,
                                                        .host = "node",
                                                        .uuid = text});
    uint32_t stage = gnomon_add_stage(
        b, &(gnomon_stage_info){
               .run = run, .ordinal = 1, .name = "fit", .end_ns = 1000000000});
    uint32_t track = gnomon_add_track(
        b, &(gnomon_track_info){.run = run, .name = "main", .device = -1});
    add_nodes(b, track, stage);
    must(!gnomon_builder_finish(b, &p), "build");
    return p;
}

/* ---- Bytes ----------------------------------------------------------------------- */

static int keep_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    file_bytes *to = w->context;
    if (size > to->room - to->size) {
        to->room = 2 * (to->room + size);
        to->at = realloc(to->at, to->room);
        must(to->at != NULL, "memory");
    }
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
    return GNOMON_OK;
}

static int count_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)w->context += size;
    return GNOMON_OK;
}

static void write_rank(const gnomon_profile *p, file_bytes *to)
{
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = keep_bytes, .context = to};
    to->size = 0;
    must(!gnomon_write(p, "gnomon", &w), "write");
}

static int read_bytes(void *context, uint64_t at, void *bytes, size_t size)
{
    memcpy(bytes, ((file_bytes *)context)->at + at, size);
    return GNOMON_OK;
}

/* ---- Merging --------------------------------------------------------------------- */

typedef struct rank_inputs {
    file_bytes *ready; /* NULL: made when they are opened */
    file_bytes made;
} rank_inputs;

static int open_rank(void *context, size_t input, gnomon__source *out)
{
    rank_inputs *in = context;
    file_bytes *b = in->ready ? &in->ready[input] : &in->made;
    if (!in->ready) {
        gnomon_profile *p = build_rank((int32_t)input);
        write_rank(p, b);
        gnomon_profile_free(p);
    }
    *out = (gnomon__source){b->size, read_bytes, b, NULL};
    return GNOMON_OK;
}

static void close_rank(void *context, gnomon__source *source)
{
    (void)context;
    (void)source;
}

/* Returns the bytes of the merged file. */
static uint64_t merge_ranks(rank_inputs *in, size_t count)
{
    const gnomon__merge_inputs from = {count, open_rank, close_rank, in, 0};
    uint64_t bytes = 0;
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = count_bytes, .context = &bytes};
    gnomon__merge *m;
    gnomon__file_writer w;
    must(!gnomon__merge_create(&m, &from, GNOMON__EVERY_KIND), "merge");
    for (size_t i = 0; i < count; i++)
        must(!gnomon__merge_scan(m, i), "merge");
    must(!gnomon__merge_order(m), "merge");
    gnomon__file_start(&w, &out);
    gnomon__file_shared(&w, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; i < gnomon__merge_count(m); i++) {
        gnomon_profile *p;
        must(!gnomon__merge_run(m, i, &p), "merge");
        gnomon__file_runs(&w, p, NULL);
        gnomon_profile_free(p);
    }
    must(!gnomon__file_finish(&w), "merge");
    gnomon__merge_free(m);
    return bytes;
}

/* ---- Rows ------------------------------------------------------------------------ */

static gnomon_profile *profile;
static file_bytes file, copy, pair[2];
static rank_inputs both = {.ready = pair};

static void do_copy(void)
{
    memcpy(copy.at, file.at, file.size);
    BENCH_FENCE();
}

static void do_build(void)
{
    gnomon_profile_free(build_rank(0));
}

static void do_write(void)
{
    write_rank(profile, &copy);
}

static void do_read(void)
{
    gnomon_profile *p;
    must(!gnomon_profile_read(&p, file.at, file.size), "read");
    must(gnomon_profile_count(p, GNOMON_NODES) == NODES, "read");
    gnomon_profile_free(p);
}

static void do_merge(void)
{
    must(merge_ranks(&both, 2) > file.size, "merge");
}

static double ns_of(void (*work)(void), int times)
{
    uint64_t before = bench_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < times; i++)
        work();
    return (double)(bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / times;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Each call handles `nodes` nodes; the copy has the bytes of as many. */
static void measure(bench_table *t, const char *name, void (*work)(void),
                    double nodes)
{
    enum { MOST = 15 };
    double ns[MOST], ratio[MOST];
    int rounds = smoke ? 3 : MOST;
    bench_result *r = bench_line(t, name, 1, "static", 1);
    for (int i = 0; i < rounds; i++) {
        double floor = ns_of(do_copy, smoke ? 5 : 200) / NODES;
        ns[i] = ns_of(work, smoke ? 1 : 10) / nodes;
        ratio[i] = ns[i] / floor;
    }
    qsort(ns, (size_t)rounds, sizeof *ns, by_value);
    qsort(ratio, (size_t)rounds, sizeof *ratio, by_value);
    r->ns_min = ns[0];
    r->ns_median = ns[rounds / 2];
    if (work == do_copy)
        return;
    r->ratio_min = ratio[0];
    r->ratio_median = ratio[rounds / 2];
    snprintf(r->floor, sizeof r->floor, "copy");
    fprintf(stderr, "%-16s %8.2f M nodes/s %8.0f MB/s %6.1f times a copy\n",
            name, 1e3 / r->ns_median,
            (double)file.size / NODES * 1e3 / r->ns_median, r->ratio_median);
}

static void put_value(bench_table *t, const char *name, double value)
{
    bench_result *r = bench_line(t, name, 1, "static", 1);
    r->ns_min = r->ns_median = value;
}

/* A line of /proc/self/status, in bytes; BENCH_EMPTY: there is none. */
static double status_bytes(const char *line)
{
    char text[256];
    double kib = BENCH_EMPTY;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(text, sizeof text, f))
        if (strncmp(text, line, strlen(line)) == 0)
            kib = strtod(text + strlen(line), NULL);
    if (f)
        fclose(f);
    return kib * 1024;
}

/* The peak is that of what comes from now on. Returns what is resident now, which it is
 * to be compared with; BENCH_EMPTY: the system refuses. */
static double reset_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    int bad = !f || fputs("5", f) < 0;
    if (f)
        bad |= fclose(f) != 0;
    return bad ? BENCH_EMPTY : status_bytes("VmRSS:");
}

static void measure_ranks(bench_table *t)
{
    const char *soak = getenv("GNOMON_SOAK");
    size_t ranks = smoke ? 20 : soak && *soak == '1' ? 10000 : 1000;
    rank_inputs in = {.ready = NULL};
    double making =
        ns_of(do_build, smoke ? 1 : 20) + ns_of(do_write, smoke ? 1 : 20);
    double before = reset_peak();
    uint64_t start = bench_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t bytes = merge_ranks(&in, ranks);
    double ns = (double)(bench_now_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
    ns -= 2 * making * (double)ranks; /* each is made twice */
    put_value(t, "merge_ranks", ns / (double)ranks / NODES);
    double peak = status_bytes("VmHWM:") - before;
    put_value(t, "merge_peak_bytes", peak);
    fprintf(stderr,
            "%zu ranks of %u nodes, %.0f MB: merged in %.1f s of CPU time, "
            "%.0f MB/s; %.1f MB of memory at its peak, beside %.1f\n",
            ranks, NODES, (double)bytes / 1e6, ns / 1e9,
            (double)bytes * 1e3 / ns, peak / 1e6, before / 1e6);
    free(in.made.at);
}

int main(int argc, char **argv)
{
    bench_table t = {.count = 0};
    if (argc < 3 || strcmp(argv[1], "--part") != 0)
        return 2;
    smoke = argc > 3 && strcmp(argv[3], "--smoke") == 0;
    const char *soak = getenv("GNOMON_SOAK");
    bench_exports(&t, smoke, soak && *soak == '1');
    profile = build_rank(0);
    write_rank(profile, &file);
    write_rank(profile, &copy);
    for (int i = 0; i < 2; i++) {
        gnomon_profile *p = build_rank(i);
        write_rank(p, &pair[i]);
        gnomon_profile_free(p);
    }
    measure(&t, "copy", do_copy, NODES);
    measure(&t, "profile_build", do_build, NODES);
    measure(&t, "profile_write", do_write, NODES);
    measure(&t, "profile_read", do_read, NODES);
    measure(&t, "profile_merge", do_merge, 2 * NODES);
    put_value(&t, "profile_file_bytes", (double)file.size / NODES);
    measure_ranks(&t);
    gnomon_profile_free(profile);
    free(file.at);
    free(copy.at);
    free(pair[0].at);
    free(pair[1].at);
    return bench_write(&t, argv[2]) != 0;
}
