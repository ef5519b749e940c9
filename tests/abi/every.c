/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* every [LIBRARY]: passes every struct that may grow, but those of profiles (program.c),
 * over the border between a program and the library, whose release is LIBRARY: 0 is
 * this one, 1 the next; left out: of any later one. $GNOMON names `every`. Prints what came of it, and the structs'
 * names: the same text whichever release the two are of. */
#include "gnomon/report.h"
#include "gnomon/tool.h"

#include "every.h"

/* ---- A profiler ------------------------------------------------------------- */

static int every_create(const gnomon_options *options, void **self)
{
    GOT(gnomon_options, options);
    printf("options %d %s\n", (int)options->number(options, "first"),
           options->text(options, "second"));
    *self = NULL;
    return GNOMON_OK;
}

static int every_setup(void *self, const gnomon_run_info *run,
                       const char *stage)
{
    (void)self, (void)stage;
    GOT(gnomon_run_info, run);
    printf("rank %d %d %d\n", (int)run->rank, (int)run->local_rank,
           (int)run->world_size);
    return GNOMON_OK;
}

static void every_frame(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)slot;
    GOT(gnomon_frame, frame);
}

#define EVERY_EVENT(call) \
    static void every_##call(void *self, const gnomon_##call##_event *event) \
    { \
        (void)self; \
        GOT(gnomon_##call##_event, event); \
    }
EVERY_EVENT(step)
EVERY_EVENT(counter)
EVERY_EVENT(mark)
EVERY_EVENT(thread)
EVERY_EVENT(window)
EVERY_EVENT(stream)
EVERY_EVENT(link)

static void print_rows(const gnomon_profile *profile)
{
    gnomon_rows *rows = NULL;
    if (gnomon_host_get()->rows(&rows, profile, GNOMON_ROWS_ALL) != GNOMON_OK)
        printf("no rows: %s\n", gnomon_error_text());
    else
        GOT(gnomon_rows, rows);
    for (size_t i = 0; rows && i < rows->count; i++) {
        const gnomon_row *row = gnomon_row_at(rows, i);
        GOT(gnomon_row, rows->rows); /* the first one's size is that of all */
        printf("row %s %d %d\n", row->name, (int)row->host->count,
               row->device ? (int)row->device->count : -1);
    }
    gnomon_host_get()->rows_free(rows);
}

/* Of work on a device; a plain program has none. */
static void print_kernels(const gnomon_profile *profile)
{
    gnomon_node_info node;
    gnomon_track_info track;
    gnomon_region_info region;
    for (size_t i = 1; !gnomon_profile_node(profile, i, &node); i++)
        if (!gnomon_profile_track(profile, node.track, &track) &&
            !gnomon_profile_region(profile, node.region, &region) &&
            track.kind == GNOMON_TRACK_STREAM)
            printf("on a device %s\n", region.name);
}

static int every_summary(void *self, const gnomon_profile *profile,
                         const gnomon_writer *out)
{
    (void)self;
    GOT(gnomon_writer, out);
    GOT(gnomon_profile_api, profile->api);
    print_rows(profile);
    print_kernels(profile);
    return out->print(out, "a summary\n");
}

static const gnomon_option_info options[] = {
    {NEWS.struct_size = sizeof *options, .type = GNOMON_OPTION_INTEGER,
     .key = "first", .preset = "1", .help = "a number"},
    {NEWS.struct_size = sizeof *options, .type = GNOMON_OPTION_TEXT,
     .key = "second", .preset = "two", .help = "a text"},
    {NEWS.struct_size = sizeof *options}};

static const gnomon_profiler every = {
    NEWS.struct_size = sizeof every,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_TIMES | GNOMON_WANT_DEVICE |
             GNOMON_WANT_DEVICE_WORK,
    .name = "every",
    .options = options,
    .create = every_create,
    .setup = every_setup,
    .start = every_frame,
    .stop = every_frame,
    .step = every_step,
    .counter = every_counter,
    .mark = every_mark,
    .thread = every_thread,
    .summary = every_summary,
    .window = every_window,
    .stream = every_stream,
    .link = every_link,
};

/* The other one comes of the spec, so that it is created, with its options. */
static const gnomon_profiler attached = {NEWS.struct_size = sizeof attached,
                                         .abi = GNOMON_ABI, .name = "attached",
                                         .stop = every_frame};

/* ---- A device whose work is done at once ------------------------------------- */

static int device_events, stream;

static int device_context_of(void *of, gnomon_device_context *out)
{
    GOT(gnomon_device_context, out);
    out->context = of;
    return GNOMON_OK;
}

static int device_check(void *of, const gnomon_device_context *where)
{
    GOT(gnomon_device_context, where);
    return where->context == of ? GNOMON_OK : GNOMON_ESTATE;
}

static int device_make(const gnomon_device_context *where, void **out)
{
    GOT(gnomon_device_context, where);
    *out = &device_events;
    return GNOMON_OK;
}

static int device_record(void *event, void *in)
{
    return event && in ? GNOMON_OK : GNOMON_EINVAL;
}

static int device_enter(const gnomon_device_context *where)
{
    GOT(gnomon_device_context, where);
    return GNOMON_OK;
}

static void device_leave(void)
{
}

static int device_done(void *event)
{
    return event ? GNOMON_OK : GNOMON_EINVAL;
}

static int device_elapsed(void *from, void *to, double *ns)
{
    *ns = from && to ? 5 : 0;
    return GNOMON_OK;
}

static void device_destroy(void *one)
{
    (void)one;
}

static int device_describe(const gnomon_device_context *where, int32_t *index,
                           char *name, size_t size)
{
    GOT(gnomon_device_context, where);
    *index = 0;
    snprintf(name, size, "Every");
    return GNOMON_OK;
}

static int device_identify(const gnomon_device_context *where,
                           gnomon_device_identity *out)
{
    GOT(gnomon_device_context, where);
    GOT(gnomon_device_identity, out);
    out->processors = 4;
    return GNOMON_OK;
}

static const gnomon_device device = {
    NEWS.struct_size = sizeof device,
    .abi = GNOMON_ABI,
    .name = "every",
    .context_of = device_context_of,
    .check = device_check,
    .event_create = device_make,
    .event_record = device_record,
    .enter = device_enter,
    .leave = device_leave,
    .event_done = device_done,
    .event_elapsed = device_elapsed,
    .event_destroy = device_destroy,
    .stream_create = device_make,
    .stream_destroy = device_destroy,
    .describe = device_describe,
    .identify = device_identify,
};

/* ---- A source of work -------------------------------------------------------- */

static uint32_t source_number;

static int source_open(void *self, uint32_t number, uint32_t kinds,
                       const char **why)
{
    (void)self, (void)kinds, (void)why;
    source_number = number;
    return GNOMON_OK;
}

static const gnomon_device_source source = {NEWS.struct_size = sizeof source,
                                            .abi = GNOMON_ABI, .name = "every",
                                            .open = source_open};

static const gnomon_memory_recorder recorder = {
    NEWS.struct_size = sizeof recorder, .abi = GNOMON_ABI};

/* Two records: the second one lies where the first one's size says. */
static void launch(void)
{
    uint64_t now = gnomon_host_get()->now_ns();
    gnomon_device_work records[] = {
        {NEWS.struct_size = sizeof *records, .correlation = 1, .stream = 7,
         .begin_ns = now + 1, .end_ns = now + 2, .name = "one kernel"},
        {NEWS.struct_size = sizeof *records, .correlation = 2, .stream = 7,
         .begin_ns = now + 3, .end_ns = now + 4, .name = "two kernels"}};
    gnomon_host_get()->device_launched(source_number, 1);
    gnomon_host_get()->device_launched(source_number, 2);
    gnomon_host_get()->device_put(source_number, records, 2);
    GAVE(gnomon_device_work);
}

/* ---- The program ------------------------------------------------------------- */

static void print_stack(void)
{
    gnomon_open_scope scopes[2] = {{NEWS.struct_size = sizeof *scopes},
                                   {NEWS.struct_size = sizeof *scopes}};
    int count = gnomon_thread_stack(0, scopes, 2);
    printf("open %d %s %s\n", count, scopes[0].name, scopes[1].name);
    see("gnomon_open_scope", scopes[0].struct_size, sizeof *scopes,
        IS_CLEAN(&scopes[0]) && IS_CLEAN(&scopes[1]));
}

static void mark(void)
{
    static gnomon_region region = {NEWS.mask = GNOMON_MASK_UNSEEN,
                                   .struct_size = sizeof region,
                                   .abi = GNOMON_ABI, .name = "outer"};
    gnomon_thread_name("main");
    gnomon_token outer = gnomon_begin(&region);
    gnomon_link link = gnomon_link_out();
    gnomon_start("inner");
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    GNOMON_MARK("mark");
    GNOMON_COUNTER("counter", 1);
    print_stack();
    gnomon_stop("inner");
    gnomon_stream_name(&device, &stream, "stream");
    GNOMON_REGION(on, "on", NULL);
    gnomon_device_scope scope = gnomon_begin_on(&on, &device, &stream);
    see("gnomon_device_scope", scope.struct_size, sizeof scope,
        IS_CLEAN(&scope));
    launch();
    gnomon_end_on(scope);
    gnomon_end(outer);
    GNOMON_REGION(range, "range", NULL);
    gnomon_range_end(gnomon_range_begin(&range));
    gnomon_step();
    GAVE(gnomon_region);
    GAVE(gnomon_device);
}

static int writer_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    (void)writer;
    return fwrite(bytes, 1, size, stdout) == size ? GNOMON_OK : GNOMON_EIO;
}

int main(int argc, char **argv)
{
    const gnomon_setup_options setup = {NEWS.struct_size = sizeof setup,
                                        .has_rank = 1,
                                        .rank = 0,
                                        .local_rank = 2,
                                        .world_size = 5,
                                        .spec = NULL};
    const gnomon_writer writer = {NEWS.struct_size = sizeof writer,
                                  .write = writer_write};
    ROOM(gnomon_health, health);
    ROOM(gnomon_field_info, field);
    library_growth = growth_of(argc > 1 ? argv[1] : NULL);
    gnomon_host_get()->source_add(&source);
    (void)gnomon_host_get()->is_inside();
    gnomon_host_get()->memory_record(&recorder); /* nobody wants memory */
    int code = gnomon_host_get()->add_profiler(&every);
    code |= gnomon_setup(&setup);
    code |= gnomon_attach(&attached, NULL, NULL);
    mark();
    code |= gnomon_device_wait(1000000000);
    code |= gnomon_summary("every", &writer);
    gnomon_health_get(&health.it);
    FILLED(gnomon_health, health);
    (void)gnomon_host_get()->entity_fields(GNOMON_VIEWS, &field.it, 1);
    FILLED(gnomon_field_info, field);
    code |= gnomon_detach(&attached, NULL);
    code |= gnomon_teardown();
    code |= gnomon_host_get()->source_remove(&source);
    GAVE(gnomon_setup_options);
    GAVE(gnomon_profiler);
    GAVE(gnomon_option_info);
    GAVE(gnomon_device_source);
    GAVE(gnomon_memory_recorder);
    printf("code %d, threads %d, unmatched %d, lost %d\n", code,
           (int)health.it.threads, (int)health.it.unmatched,
           (int)health.it.activities_lost);
    print_seen();
    return 0;
}
