/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What an export of single executions costs, from memory and from a file, beside writing
 * the same bytes from memory; and that its memory does not grow with events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../bench.h"
#include "export/export.h"
#include "exports.h"
#include "profile/model.h"

#define NAMES 20u
#define THREADS 4u

/* ---- A profile whose events are made as they are read ---------------------------- */

typedef struct made_profile {
    gnomon_profile base; /* first */
    const gnomon_profile *of;
    size_t events;
} made_profile;

static size_t made_count(const gnomon_profile *p, int entity)
{
    const made_profile *m = (const void *)p;
    return entity == GNOMON_EVENTS ? m->events
                                   : gnomon_profile_count(m->of, entity);
}

/* On each thread scopes of 500 ns with one of 200 ns inside. */
static int made_get(const gnomon_profile *p, int entity, size_t number,
                    void *info)
{
    const made_profile *m = (const void *)p;
    if (entity != GNOMON_EVENTS)
        return m->of->api->get(m->of, entity, number, info);
    if (number < 1 || number > m->events)
        return GNOMON_EINVAL;
    size_t each = m->events / THREADS + 1, at = (number - 1) % each;
    uint32_t track = (uint32_t)((number - 1) / each);
    *(gnomon_event_info *)info =
        (gnomon_event_info){.struct_size = sizeof(gnomon_event_info),
                            .track = 1 + track,
                            .node = 1 + track * NAMES + (uint32_t)(at % NAMES),
                            .begin_ns = 1000 + at / 2 * 700 + at % 2 * 100,
                            .duration_ns = at % 2 ? 200 : 500};
    return GNOMON_OK;
}

static const gnomon_profile_api made_api = {.struct_size = sizeof made_api,
                                            .abi = GNOMON_ABI,
                                            .count = made_count,
                                            .get = made_get};

static gnomon_profile *build_nodes(void)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    char text[32];
    if (gnomon_builder_create(&b))
        return NULL;
    uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = 0,
                              .world_size = 1,
                              .pid = 4711,
                              .host = "node",
                              .zero_unix_ns = 1700000000000000000u});
    uint32_t stage = gnomon_add_stage(
        b, &(gnomon_stage_info){.run = run, .ordinal = 1, .name = "fit"});
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "region %u", i);
        gnomon_add_region(b, &(gnomon_region_info){.name = text});
    }
    for (uint32_t t = 1; t <= THREADS; t++) {
        snprintf(text, sizeof text, "worker %u", t);
        gnomon_add_track(
            b, &(gnomon_track_info){
                   .run = run, .name = text, .os_id = 4711 + t, .device = -1});
        for (uint32_t i = 1; i <= NAMES; i++)
            gnomon_add_node(b, &(gnomon_node_info){
                                   .track = t, .stage = stage, .region = i});
    }
    return gnomon_builder_finish(b, &p) ? NULL : p;
}

/* ---- Bytes ------------------------------------------------------------------------ */

typedef struct bytes_out {
    char *at; /* NULL: they are only counted */
    size_t size, room;
} bytes_out;

static char sink[65536];
static gnomon_profile *exports_nodes;

static int take_bytes(const gnomon_writer *w, const void *bytes, size_t size)
{
    bytes_out *to = w->context;
    memcpy(to->at ? to->at + to->size : sink, bytes,
           to->at               ? size
           : size < sizeof sink ? size
                                : sizeof sink);
    to->size += size;
    return GNOMON_OK;
}

static void must_export(int code)
{
    if (!code)
        return;
    fprintf(stderr, "bench: export: %s\n", gnomon_error_text());
    exit(2);
}

static size_t export_to(bytes_out *to, const gnomon__exporter *format,
                        const gnomon_profile *p,
                        const gnomon__export_span *span)
{
    const gnomon__export what = {.profiles = &p, .count = 1, .spans = span};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = take_bytes, .context = to};
    to->size = 0;
    must_export(format->write(&what, &w));
    return to->size;
}

static size_t export_made(bytes_out *to, const gnomon__exporter *format,
                          size_t events)
{
    const made_profile made = {{&made_api}, exports_nodes, events};
    return export_to(to, format, &made.base, NULL);
}

static bytes_out exports_file; /* of such a profile */

static void make_file(size_t events)
{
    const made_profile made = {{&made_api}, exports_nodes, events};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = take_bytes, .context = &exports_file};
    must_export(gnomon_write(&made.base, "gnomon", &w));
    exports_file.at = malloc(exports_file.size);
    exports_file.size = 0;
    must_export(gnomon_write(&made.base, "gnomon", &w));
}

/* As the program does it, with the check of all that is in the file. */
static size_t export_file(bytes_out *to, const gnomon__exporter *format,
                          size_t events)
{
    gnomon_profile *p = NULL;
    gnomon__export_span span;
    (void)events;
    must_export(gnomon_profile_read(&p, exports_file.at, exports_file.size));
    span.is_known =
        gnomon__profile_span(p, &span.from_unix_ns, &span.until_unix_ns);
    export_to(to, format, p, &span);
    gnomon_profile_free(p);
    return to->size;
}

/* The floor: the same bytes, from memory, in the pieces that an export writes. */
static void write_again(const bytes_out *from)
{
    bytes_out to = {0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = take_bytes, .context = &to};
    for (size_t at = 0; at < from->size; at += sizeof sink)
        w.write(&w, from->at + at,
                from->size - at < sizeof sink ? from->size - at : sizeof sink);
    BENCH_FENCE();
}

static double peak(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_maxrss * 1024;
}

static double cpu_ns(void)
{
    return (double)bench_now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef size_t export_call(bytes_out *to, const gnomon__exporter *format,
                           size_t events);

static void measure_export(bench_table *t, const char *name,
                           export_call *export_all,
                           const gnomon__exporter *format, size_t events,
                           int rounds)
{
    double ns[15], ratio[15];
    bytes_out all = {0};
    all.at = malloc(export_all(&all, format, events));
    export_all(&all, format, events);
    for (int i = 0; i < rounds; i++) {
        bytes_out none = {0};
        double before = cpu_ns();
        write_again(&all);
        double floor = cpu_ns() - before;
        before = cpu_ns();
        export_all(&none, format, events);
        ns[i] = (cpu_ns() - before) / (double)events;
        ratio[i] = ns[i] * (double)events / floor;
    }
    qsort(ns, (size_t)rounds, sizeof *ns, by_size);
    qsort(ratio, (size_t)rounds, sizeof *ratio, by_size);
    bench_result *r = bench_line(t, name, 1, "static", 1);
    r->ns_min = ns[0];
    r->ns_median = ns[rounds / 2];
    r->ratio_min = ratio[0];
    r->ratio_median = ratio[rounds / 2];
    snprintf(r->floor, sizeof r->floor, "rewrite");
    fprintf(stderr, "%-16s %8.2f M scopes/s %7.0f MB/s %6.1f times a rewrite\n",
            name, 1e3 / r->ns_median,
            (double)all.size / (double)events * 1e3 / r->ns_median,
            r->ratio_median);
    free(all.at);
}

/* Peak memory with a hundred times the events, less that with fewer. */
static void measure_growth(bench_table *t, size_t few, size_t many)
{
    bytes_out none = {0};
    export_made(&none, &gnomon__export_chrome, few);
    double before = peak();
    export_made(&none, &gnomon__export_chrome, many);
    bench_result *r = bench_line(t, "export_growth_bytes", 1, "static", 1);
    r->ns_min = r->ns_median = peak() - before;
}

void bench_exports(bench_table *t, int smoke, int soaks)
{
    static const struct {
        const char *name;
        const gnomon__exporter *format;
    } of_files[] = {{"export_file", &gnomon__export_chrome},
                    {"csv_file", &gnomon__export_csv},
                    {"perfetto_file", &gnomon__export_perfetto},
                    {"speedscope_file", &gnomon__export_speedscope}};
    const size_t events = smoke ? 10000 : 500000;
    const int rounds = smoke ? 3 : 15;
    exports_nodes = build_nodes();
    if (!exports_nodes)
        exit(2);
    /* First, as memory that is freed later stays in the peak. */
    measure_growth(t, 10000, smoke ? 100000 : soaks ? 100000000 : 1000000);
    measure_export(t, "export_chrome", export_made, &gnomon__export_chrome,
                   events, rounds);
    make_file(events);
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        measure_export(t, of_files[i].name, export_file, of_files[i].format,
                       events, rounds);
    free(exports_file.at);
    gnomon_profile_free(exports_nodes);
}
