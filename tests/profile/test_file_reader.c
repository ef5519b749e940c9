/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A reader in Python, written only from docs/file-format.md
 * (file/reader.py), prints the same as gnomon's readers.
 *
 * links: testing */
#include "profile_bytes.h"
#include "child.h"
#include "full_profile.h"

static FILE *out;
static const char *kind;
static size_t number;

static void begin(const char *name)
{
    fprintf(out, "%s %zu %s ", kind, number, name);
}

static void show_text(const char *text)
{
    if (!text) {
        fprintf(out, "-");
        return;
    }
    fprintf(out, "\"");
    for (; *text; text++)
        fprintf(out, "%02x", (unsigned)(unsigned char)*text);
    fprintf(out, "\"");
}

static void text(const char *name, const char *value)
{
    begin(name);
    show_text(value);
    fprintf(out, "\n");
}

static void u(const char *name, uint64_t value)
{
    begin(name);
    fprintf(out, "%llu\n", (unsigned long long)value);
}

static void i(const char *name, int64_t value)
{
    begin(name);
    fprintf(out, "%lld\n", (long long)value);
}

static unsigned long long bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void f(const char *name, double value)
{
    begin(name);
    fprintf(out, "%016llx\n", bits_of(value));
}

static void stats(const char *name, const gnomon_stats *s)
{
    begin(name);
    if (!s) {
        fprintf(out, "-\n");
        return;
    }
    fprintf(out, "[%llu %llu %llu %llu %llu [", (unsigned long long)s->count,
            (unsigned long long)s->total_ns, (unsigned long long)s->self_ns,
            (unsigned long long)s->min_ns, (unsigned long long)s->max_ns);
    for (size_t c = 0; c < s->cell_count; c++)
        fprintf(out, "%s[%u %llu]", c ? " " : "", (unsigned)s->cells[c].cell,
                (unsigned long long)s->cells[c].count);
    fprintf(out, "]]\n");
}

static void list(const int64_t *values, uint32_t count)
{
    fprintf(out, "[");
    for (uint32_t k = 0; k < count; k++)
        fprintf(out, "%s%lld", k ? " " : "", (long long)values[k]);
    fprintf(out, "]");
}

#define EACH(entity, name, type, letters) \
    type x; \
    kind = letters; \
    for (number = 1; gnomon_profile_##name(p, number, &x) == GNOMON_OK; \
         number++)

static void show_runs(const gnomon_profile *p)
{
    EACH(GNOMON_RUNS, run, gnomon_run_info, "RUN")
    {
        i("rank", x.rank);
        i("local_rank", x.local_rank);
        i("world_size", x.world_size);
        text("host", x.host);
        i("pid", x.pid);
        text("dir", x.dir);
        text("spec", x.spec);
        text("clock", x.clock);
        text("attempt", x.attempt);
        u("zero_unix_ns", x.zero_unix_ns);
        u("clock_error_ns", x.clock_error_ns);
        u("now_ns", x.now_ns);
        f("scope_cost_ns", x.scope_cost_ns);
        text("job", x.job);
        text("uuid", x.uuid);
        begin("anchors");
        fprintf(out, "[");
        for (size_t k = 0; k < x.anchor_count; k++) {
            const gnomon_clock_anchor *a = gnomon_anchor_at(&x, k);
            fprintf(out, "%s[%llu %llu %llu]", k ? " " : "",
                    (unsigned long long)a->ns, (unsigned long long)a->unix_ns,
                    (unsigned long long)a->error_ns);
        }
        fprintf(out, "]\n");
    }
}

static void show_stages(const gnomon_profile *p)
{
    EACH(GNOMON_STAGES, stage, gnomon_stage_info, "STAG")
    {
        u("run", x.run);
        u("ordinal", x.ordinal);
        text("name", x.name);
        i("ended", x.ended);
        u("begin_ns", x.begin_ns);
        u("end_ns", x.end_ns);
        stats("steps", x.steps);
        u("count", x.count);
        u("recorded_ns", x.recorded_ns);
        u("late", x.late);
    }
}

static void show_steps(const gnomon_profile *p)
{
    EACH(GNOMON_STEPS, step, gnomon_step_info, "STEP")
    {
        u("stage", x.stage);
        i("phase", x.phase);
        u("number", x.number);
        u("begin_ns", x.begin_ns);
        u("end_ns", x.end_ns);
        i("rank", x.rank);
        u("ordinal", x.ordinal);
    }
}

static void show_step_times(const gnomon_profile *p)
{
    EACH(GNOMON_STEP_TIMES, step_time, gnomon_step_time_info, "STIM")
    {
        u("stage", x.stage);
        u("view", x.view);
        u("step", x.step);
        u("region", x.region);
        stats("time", x.time);
        u("own_ns", x.own_ns);
        u("calls", x.calls);
    }
}

static void show_view_times(const gnomon_profile *p)
{
    EACH(GNOMON_VIEW_TIMES, view_time, gnomon_view_time_info, "VTIM")
    {
        u("stage", x.stage);
        u("view", x.view);
        u("recorded_ns", x.recorded_ns);
    }
}

static void show_strips(const gnomon_profile *p)
{
    EACH(GNOMON_STRIPS, strip, gnomon_strip_info, "STRP")
    {
        u("stage", x.stage);
        u("track", x.track);
        u("region", x.region);
        u("width", x.width);
        begin("bins");
        fprintf(out, "[");
        for (size_t k = 0; k < x.bin_count; k++) {
            const gnomon_bin *b = gnomon_bin_at(&x, k);
            fprintf(out, "%s[%u %016llx %016llx %016llx]", k ? " " : "",
                    (unsigned)b->count, bits_of(b->min), bits_of(b->max),
                    bits_of(b->sum));
        }
        fprintf(out, "]\n");
        begin("slow");
        fprintf(out, "[");
        for (size_t k = 0; k < x.slow_count; k++) {
            const gnomon_slow_step *s = gnomon_slow_at(&x, k);
            fprintf(out, "%s[%llu %llu %llu]", k ? " " : "",
                    (unsigned long long)s->at, (unsigned long long)s->number,
                    (unsigned long long)s->ns);
        }
        fprintf(out, "]\n");
    }
}

static void show_tracks(const gnomon_profile *p)
{
    EACH(GNOMON_TRACKS, track, gnomon_track_info, "TRCK")
    {
        u("run", x.run);
        u("kind", x.kind);
        i("device", x.device);
        u("index", x.index);
        text("name", x.name);
        u("thread_count", x.thread_count);
        i("os_id", x.os_id);
        i("alive", x.alive);
        i("inexact", x.inexact);
    }
}

static void show_regions(const gnomon_profile *p)
{
    EACH(GNOMON_REGIONS, region, gnomon_region_info, "REGN")
    {
        u("kind", x.kind);
        text("name", x.name);
        text("category", x.category);
        text("file", x.file);
        text("function", x.function);
        u("line", x.line);
    }
}

static void show_nodes(const gnomon_profile *p)
{
    EACH(GNOMON_NODES, node, gnomon_node_info, "NODE")
    {
        u("track", x.track);
        u("stage", x.stage);
        u("parent", x.parent);
        u("region", x.region);
        u("op", x.op);
        u("view", x.view);
        u("open", x.open);
        u("flags", x.flags);
        u("first", x.first);
        stats("host", x.host);
        stats("device", x.device);
        begin("memory");
        fprintf(out, "[");
        for (size_t k = 0; k < x.memory_count; k++) {
            const gnomon_memory_stats *m = gnomon_memory_at(&x, k);
            fprintf(out, "%s[%u %llu %llu %llu %llu %lld %llu]", k ? " " : "",
                    (unsigned)m->pool, (unsigned long long)m->allocations,
                    (unsigned long long)m->frees,
                    (unsigned long long)m->allocated_bytes,
                    (unsigned long long)m->freed_bytes,
                    (long long)m->live_bytes,
                    (unsigned long long)m->peak_bytes);
        }
        fprintf(out, "]\n");
        begin("work");
        if (x.work)
            fprintf(out, "[%llu %llu]\n", (unsigned long long)x.work->flops,
                    (unsigned long long)x.work->bytes);
        else
            fprintf(out, "-\n");
    }
}

static void show_small(const gnomon_profile *p)
{
    {EACH(GNOMON_OPENS, open, gnomon_open_info, "OPEN"){u("track", x.track);
    u("node", x.node);
    u("begin_ns", x.begin_ns);
}
}
{EACH(GNOMON_LINKS, link, gnomon_link_info, "LINK"){u("from", x.from);
u("to", x.to);
u("kind", x.kind);
u("count", x.count);
u("from_instance", x.from_instance);
u("to_instance", x.to_instance);
u("from_ns", x.from_ns);
u("to_ns", x.to_ns);
}
}
{EACH(GNOMON_COUNTERS, counter, gnomon_counter_info,
      "CNTR"){u("track", x.track);
u("region", x.region);
u("stage", x.stage);
u("count", x.count);
f("last", x.last);
f("min", x.min);
f("max", x.max);
f("sum", x.sum);
u("nans", x.nans);
}
}
{EACH(GNOMON_METADATA, metadata, gnomon_metadata_info, "META"){u("run", x.run);
text("key", x.key);
text("json", x.json);
}
}
{EACH(GNOMON_LOSSES, loss, gnomon_loss_info, "LOSS"){u("run", x.run);
u("track", x.track);
text("kind", x.kind);
u("count", x.count);
u("begin_ns", x.begin_ns);
u("end_ns", x.end_ns);
}
}
{
    EACH(GNOMON_VIEWS, view, gnomon_view_info, "VIEW")
    {
        text("words", x.words);
    }
}
}

static void show_ops(const gnomon_profile *p)
{
    EACH(GNOMON_OPS, op, gnomon_op_info, "OP")
    {
        u("flags", x.flags);
        text("operation", x.operation);
        begin("inputs");
        fprintf(out, "[");
        for (size_t k = 0; k < x.input_count; k++) {
            const gnomon_tensor *t = gnomon_input_at(&x, k);
            fprintf(out, "%s[", k ? " " : "");
            show_text(t->dtype);
            fprintf(out, " ");
            list(t->dims, t->rank);
            fprintf(out, " ");
            if (t->strides)
                list(t->strides, t->rank);
            else
                fprintf(out, "-");
            fprintf(out, "]");
        }
        fprintf(out, "]\n");
        begin("attributes");
        fprintf(out, "[");
        for (size_t k = 0; k < x.attribute_count; k++) {
            const gnomon_attribute *a = gnomon_attribute_at(&x, k);
            fprintf(out, "%s[", k ? " " : "");
            show_text(a->key);
            fprintf(out, " ");
            show_text(a->json);
            fprintf(out, "]");
        }
        fprintf(out, "]\n");
        u("flops", x.flops);
        u("bytes", x.bytes);
    }
}

static void show_events(const gnomon_profile *p)
{
    EACH(GNOMON_EVENTS, event, gnomon_event_info, "EVNT")
    {
        u("kind", x.kind);
        u("track", x.track);
        u("node", x.node);
        u("region", x.region);
        u("begin_ns", x.begin_ns);
        u("duration_ns", x.duration_ns);
        u("instance", x.instance);
        f("value", x.value);
    }
}

static void dump(const gnomon_profile *p)
{
    show_runs(p);
    show_stages(p);
    show_steps(p);
    show_step_times(p);
    show_view_times(p);
    show_strips(p);
    show_tracks(p);
    show_regions(p);
    show_nodes(p);
    show_small(p);
    show_ops(p);
    show_events(p);
}

static int order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines, sorted: kinds are in another order. */
static char *sorted(char *text)
{
    size_t n = 0, room = 1;
    for (char *c = text; *c; c++)
        room += *c == '\n';
    char **lines = malloc(room * sizeof *lines),
         *copy = malloc(strlen(text) + 1);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        lines[n++] = line;
    qsort(lines, n, sizeof *lines, order);
    *copy = 0;
    for (size_t k = 0; k < n; k++) {
        strcat(copy, lines[k]);
        strcat(copy, "\n");
    }
    free(lines);
    return copy;
}

static void python_agrees(const gnomon_profile *p)
{
    bytes b = bytes_of(p, "gnomon");
    FILE *file = fopen("p.gnomon", "wb");
    CHECK_EQ(fwrite(b.at, 1, b.size, file), b.size);
    fclose(file);
    out = fopen("ours", "w");
    dump(p);
    fclose(out);
    CHECK_EQ(
        system("python3 '" TEST_SOURCE_DIR "/file/reader.py' p.gnomon >theirs"),
        0);
    char *ours = sorted(child_read("ours"));
    char *theirs = sorted(child_read("theirs"));
    CHECK(*ours != 0);
    CHECK_STR(theirs, ours);
    free(b.at);
    free(ours);
    free(theirs);
}

TEST(python_reads_all_of_it)
{
    if (system("python3 -c 'import zlib' 2>/dev/null") != 0)
        SKIP("there is no python3");
    child_folder();
    gnomon_profile *p = full_of("01");
    python_agrees(p);
    gnomon_profile_free(p);
}

TEST(python_reads_a_run)
{
    if (system("python3 -c 'import zlib' 2>/dev/null") != 0)
        SKIP("there is no python3");
    child_folder();
    gnomon_profile *p;
    CHECK_EQ(gnomon_attach(NULL, NULL, "passthrough,simple,steps"), GNOMON_OK);
    for (int k = 0; k < 100; k++) {
        GNOMON_SCOPE("outer");
        GNOMON_SCOPE("inner");
        gnomon_start("action");
        gnomon_stop("action");
        GNOMON_COUNTER("loss", 1.0 / (k + 1));
        gnomon_step();
    }
    CHECK_EQ(gnomon_metadata("key", "{\"a\": 1}"), GNOMON_OK);
    CHECK_EQ(gnomon_snapshot(&p, "simple", 1), GNOMON_OK);
    python_agrees(p);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
