/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* csv, JSON, .prof, stacks and speedscope of built profiles: a part of the time, hostile
 * names, errors of the writer, and no memory. Their bytes are in text/export_formats,
 * what readers in Python make of them in tests/export.
 *
 * links: static
 * alone: yes
 * threads: none
 * needs: cli */
#include "failing_malloc.h"

#include "export_world.h"
#include "json_form.h"

static const gnomon__exporter *const formats[] = {
    &gnomon__export_csv, &gnomon__export_to_json, &gnomon__export_prof,
    &gnomon__export_stacks, &gnomon__export_speedscope};
enum { FORMATS = sizeof formats / sizeof *formats };

/* The caller frees it. */
static char *exported(const gnomon__exporter *format,
                      const gnomon__export *what)
{
    fake_writer w;
    fake_open(&w);
    CHECK_EQ(format->write(what, &w.base), GNOMON_OK);
    return w.text;
}

static void expect(const gnomon__exporter *format, const gnomon__export *what,
                   const char *text)
{
    char *got = exported(format, what);
    CHECK_STR(got, text);
    free(got);
}

static int times_of(const char *text, const char *part)
{
    int n = 0;
    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        n++;
    return n;
}

/* ---- A profile to the byte -------------------------------------------------------- */

#define SMALL_ZERO 1700000000000000000u

/* `events`: 0 leaves them out. */
static gnomon_profile *small_of(int32_t rank, int events)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    gnomon_cell cells[3] = {{gnomon_cell_of(5000), 0, 1},
                            {gnomon_cell_of(2000), 0, 1},
                            {gnomon_cell_of(1000), 0, 2}};
    const uint32_t size = sizeof(gnomon_stats);
    const gnomon_stats step = {size, 0,    1,         5000, 3000,
                               5000, 5000, &cells[0], 1};
    const gnomon_stats forward = {size, 0,    1,         2000, 2000,
                                  2000, 2000, &cells[1], 1};
    const gnomon_stats kernels = {size, 0,    2,         2000, 2000,
                                  1000, 1000, &cells[2], 1};
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = rank,
                                         .zero_unix_ns =
                                             SMALL_ZERO + (uint64_t)rank * 10});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1, .ordinal = 1, .name = "fit"});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .name = "main", .device = -1});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1,
                                             .kind = GNOMON_TRACK_STREAM,
                                             .name = "stream 7"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "train step"});
    gnomon_add_region(
        b, &(gnomon_region_info){
               .name = "a/b;c", .category = "nn", .file = "m.py", .line = 7});
    gnomon_add_region(
        b, &(gnomon_region_info){.name = "gemm", .kind = GNOMON_KIND_KERNEL});
    gnomon_add_region(
        b, &(gnomon_region_info){.name = "tick", .kind = GNOMON_KIND_MARK});
    gnomon_add_region(
        b, &(gnomon_region_info){.name = "loss", .kind = GNOMON_KIND_COUNTER});
    gnomon_add_node(b, &(gnomon_node_info){
                           .track = 1, .stage = 1, .region = 1, .host = &step});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                           .stage = 1,
                                           .parent = 1,
                                           .region = 2,
                                           .host = &forward});
    gnomon_add_node(
        b, &(gnomon_node_info){.track = 2, .region = 3, .device = &kernels});
    const gnomon_event_info all[] = {
        {.track = 1, .node = 1, .begin_ns = 1000, .duration_ns = 5000},
        {.track = 1,
         .node = 2,
         .begin_ns = 1500,
         .duration_ns = 2000,
         .instance = 9},
        {.kind = GNOMON_EVENT_MARK,
         .track = 1,
         .node = 2,
         .region = 4,
         .begin_ns = 2000},
        {.track = 2, .node = 3, .begin_ns = 2000, .duration_ns = 1000},
        {.track = 2, .node = 3, .begin_ns = 2500, .duration_ns = 1000},
        {.kind = GNOMON_EVENT_COUNTER,
         .track = 1,
         .node = 1,
         .region = 5,
         .begin_ns = 5500,
         .value = -0.25},
        {.kind = GNOMON_EVENT_COUNTER,
         .track = 1,
         .region = 5,
         .begin_ns = 7000,
         .value = (double)NAN}};
    for (size_t i = 0; events && i < sizeof all / sizeof *all; i++)
        gnomon_add_event(b, &all[i]);
    gnomon_add_loss(b, &(gnomon_loss_info){.run = 1,
                                           .track = 1,
                                           .kind = "events_lost",
                                           .count = 3,
                                           .begin_ns = 100,
                                           .end_ns = 900});
    gnomon_add_loss(
        b, &(gnomon_loss_info){.run = 1, .kind = "crossed", .count = 1});
    if (!CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

#define CSV_HEADER \
    "run,rank,track,track_kind,device,track_name,kind,name,category,path," \
    "depth,node,stage,begin_ns,duration_ns,instance,value,count,file,line\n"
TEST(no_profiles_are_a_whole_export)
{
    const gnomon__export what = {.count = 0};
    expect(&gnomon__export_csv, &what, CSV_HEADER);
    expect(&gnomon__export_to_json, &what, "[\n]\n");
}

/* ---- JSON --------------------------------------------------------------------------- */

TEST(json_of_a_time_is_read_back)
{
    NEEDS_JANSSON();
    gnomon_profile *p = small_of(0, 1);
    const gnomon_profile *one = p;
    const gnomon__export what = {.profiles = &one,
                                 .count = 1,
                                 .from_unix_ns = SMALL_ZERO + 1500,
                                 .until_unix_ns = SMALL_ZERO + 2500};
    char *text = exported(&gnomon__export_to_json, &what);
    gnomon_profile *q = profile_of_json(text);
    gnomon_event_info e;
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS), 3);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_NODES), 3);
    CHECK_EQ(gnomon_profile_event(q, 1, &e), GNOMON_OK);
    CHECK_EQ(e.begin_ns, 1500);
    CHECK_EQ(gnomon_profile_event(q, 3, &e), GNOMON_OK);
    CHECK_EQ(e.track, 2);
    free(text);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* ---- What is taken ------------------------------------------------------------------- */

/* Events by their begin; losses and the tree have no moment to go by. */
TEST(events_of_a_time_alone)
{
    gnomon_profile *p = small_of(0, 1);
    const gnomon_profile *one = p;
    gnomon__export what = {.profiles = &one,
                           .count = 1,
                           .from_unix_ns = SMALL_ZERO + 1500,
                           .until_unix_ns = SMALL_ZERO + 2500};
    char *text = exported(&gnomon__export_csv, &what);
    CHECK_EQ(times_of(text, ",execution,"), 2);
    CHECK_EQ(times_of(text, ",mark,"), 1);
    CHECK_EQ(times_of(text, ",counter,"), 0);
    CHECK_EQ(times_of(text, ",loss,"), 2);
    free(text);
    text = exported(&gnomon__export_speedscope, &what);
    CHECK_EQ(times_of(text, "\"type\":\"O\""), 2);
    CHECK_EQ(times_of(text, "\"type\":\"C\""), 2);
    CHECK_EQ(times_of(text, "overlap"), 0);
    free(text);
    what.until_unix_ns = what.from_unix_ns; /* no time at all */
    text = exported(&gnomon__export_speedscope, &what);
    CHECK_EQ(times_of(text, "\"profiles\":[]"), 1);
    free(text);
    text = exported(&gnomon__export_stacks, &what);
    CHECK_EQ(times_of(text, "\n"), 3);
    free(text);
    gnomon_profile_free(p);
}

/* ---- Any names, any numbers ------------------------------------------------------------ */

/* Bytes of what is written are UTF-8 and no control characters where a line ends. */
TEST(hostile_names_stay_on_their_lines)
{
    gnomon_profile *p = small_of(0, 1);
    for (size_t shift = 0; shift < 40; shift++) {
        const world_hostile h = world_with_names(p, shift);
        const gnomon_profile *one = &h.base;
        const gnomon__export what = {.profiles = &one, .count = 1};
        char *text = exported(&gnomon__export_stacks, &what);
        CHECK_EQ(times_of(text, "\n"), 3);
        CHECK_EQ(times_of(text, " "), 3);
        CHECK_EQ(times_of(text, ";"), 4);
        for (const char *c = text; *c; c++)
            CHECK(*c == '\n' || (unsigned char)*c >= ' ');
        free(text);
        text = exported(&gnomon__export_speedscope, &what);
        CHECK_EQ(times_of(text, "\n"), 21);
        free(text);
    }
    gnomon_profile_free(p);
}

/* ---- Trouble ----------------------------------------------------------------------------- */

/* The first error is returned, and nothing is written after it. */
TEST(errors_of_the_writer_are_returned)
{
    const world_choice choice = {.ranks = 2, .steps = 200, .has_events = 1};
    gnomon_profile *p = world_make(&choice);
    const gnomon_profile *both[] = {p, p};
    const gnomon__export what = {.profiles = both, .count = 2};
    for (int i = 0; i < FORMATS; i++) {
        fake_writer all, w;
        fake_open(&all);
        CHECK_EQ(formats[i]->write(&what, &all.base), GNOMON_OK);
        for (size_t limit = 0; limit < all.size; limit += all.size / 7 + 1) {
            fake_open(&w);
            w.limit = limit;
            CHECK_EQ(formats[i]->write(&what, &w.base), GNOMON_EIO);
            CHECK(w.size <= limit && memcmp(w.text, all.text, w.size) == 0);
            free(w.text);
        }
        free(all.text);
    }
    gnomon_profile_free(p);
}

static int swallow(const gnomon_writer *writer, const void *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)writer->context += size;
    return GNOMON_OK;
}

static int write_nowhere(const gnomon__exporter *format,
                         const gnomon_profile *p, uint64_t *size)
{
    const gnomon_profile *both[] = {p, p};
    const gnomon__export what = {.profiles = both,
                                 .count = 2,
                                 .from_unix_ns = 1,
                                 .until_unix_ns = UINT64_MAX};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = swallow, .context = size};
    *size = 0;
    return format->write(&what, &w);
}

TEST(without_memory_each_says_so_and_leaks_nothing)
{
    if (!MALLOC_IS_OURS)
        SKIP("the heap is a sanitizer's");
    for (int events = 0; events < 2; events++) {
        const world_choice choice = {
            .ranks = 2, .steps = 3, .has_events = events};
        gnomon_profile *p = world_make(&choice);
        for (int i = 0; i < FORMATS; i++) {
            int code = GNOMON_ENOMEM;
            uint64_t n = 1, size;
            CHECK_EQ(write_nowhere(formats[i], p, &size), GNOMON_OK);
            for (; code == GNOMON_ENOMEM && n < 2000; n++) {
                const int64_t live = malloc_live;
                malloc_fail(n);
                code = write_nowhere(formats[i], p, &size);
                malloc_fail(0);
                CHECK_EQ(malloc_live, live);
            }
            CHECK_EQ(code, GNOMON_OK);
            if (formats[i] != &gnomon__export_to_json) /* the library's heap */
                CHECK(n > 4);
        }
        gnomon_profile_free(p);
    }
}

/* 30 times the events take the same memory, but for what is open at once. */
TEST(memory_does_not_grow_with_events)
{
    if (!MALLOC_IS_OURS)
        SKIP("the heap is a sanitizer's");
    for (int i = 0; i < FORMATS; i++) {
        uint64_t bytes[2], written[2];
        for (int k = 0; k < 2; k++) {
            const world_choice choice = {
                .ranks = 1, .steps = k ? 3000 : 100, .has_events = 1};
            gnomon_profile *p = world_make(&choice);
            malloc_fail(0);
            CHECK_EQ(write_nowhere(formats[i], p, &written[k]), GNOMON_OK);
            bytes[k] = malloc_bytes;
            gnomon_profile_free(p);
        }
        CHECK(bytes[1] <= bytes[0] + 65536);
        if (formats[i] == &gnomon__export_csv ||
            formats[i] == &gnomon__export_to_json)
            CHECK(written[1] > 20 * written[0]);
    }
}

/* Every format has the same bytes each time. */
TEST(exports_repeat)
{
    const world_choice choice = {.ranks = 2, .steps = 20, .has_events = 1};
    gnomon_profile *p = world_make(&choice);
    const gnomon_profile *one = p;
    const gnomon__export what = {.profiles = &one, .count = 1};
    for (int i = 0; i < FORMATS; i++) {
        fake_writer a, b;
        fake_open(&a);
        fake_open(&b);
        CHECK_EQ(formats[i]->write(&what, &a.base), GNOMON_OK);
        CHECK_EQ(formats[i]->write(&what, &b.base), GNOMON_OK);
        CHECK(a.size == b.size && memcmp(a.text, b.text, a.size) == 0);
        CHECK(*formats[i]->name && *formats[i]->about &&
              *formats[i]->extension == '.');
        free(a.text);
        free(b.text);
    }
    gnomon_profile_free(p);
}
