/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When the events of a file are is known from its check: it is the same as all events say,
 * also of damaged files, and exports read each event once less.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "cli/export_files.h"
#include "file_edit.h"
#include "fuzz/fuzz_bless.h"
#include "child.h"
#include "many_events.h"
#include "sanitizer.h"

#include "export/export.h"
#include "profile/event_blocks.h"
#include "profile/model.h"

enum { RUNS = 2, OF_RUN = 3, OF_TRACK = 5000, STEP_NS = 1000000 };

/* ---- Profiles ------------------------------------------------------------------- */

/* Of each run: a track of overlapping scopes, one of short ones, and one without events.
 * Steps begin before the first scope and end after the last; one scope is open. */
static gnomon_profile *two_runs(uint64_t zero_unix_ns, uint64_t shift_ns)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_region(b, &(gnomon_region_info){.name = "forward"});
    for (uint32_t r = 1; r <= RUNS; r++) {
        gnomon_add_run(
            b, &(gnomon_run_info){.rank = (int32_t)r - 1,
                                  .uuid = r == 1 ? "u" : "v",
                                  .now_ns = 90 * STEP_NS,
                                  .zero_unix_ns = zero_unix_ns + r * 7777777});
        gnomon_add_stage(
            b, &(gnomon_stage_info){.run = r, .ordinal = 1, .name = "fit"});
        for (uint32_t i = 0; i < 80; i++)
            gnomon_add_step(b,
                            &(gnomon_step_info){.stage = r,
                                                .number = i,
                                                .phase = GNOMON_PHASE_RECORD,
                                                .begin_ns = i * STEP_NS,
                                                .end_ns = (i + 1) * STEP_NS});
        for (uint32_t i = 0; i < OF_RUN; i++) {
            uint32_t t = gnomon_add_track(
                b, &(gnomon_track_info){.run = r, .index = i, .device = -1});
            uint32_t n = gnomon_add_node(
                b, &(gnomon_node_info){
                       .track = t, .stage = r, .region = 1, .open = i == 2});
            if (i == 2)
                gnomon_add_open(b, &(gnomon_open_info){
                                       .track = t, .node = n, .begin_ns = 9});
            uint64_t at = (4 + i) * STEP_NS + random_below(STEP_NS) + shift_ns;
            for (uint32_t k = 0; i < 2 && k < OF_TRACK; k++) {
                at += random_below(20000);
                gnomon_add_event(
                    b, &(gnomon_event_info){
                           .track = t,
                           .node = n,
                           .begin_ns = at,
                           .duration_ns = random_below(i ? 100 : 3000000)});
            }
        }
    }
    return finished(b);
}

static gnomon_profile *read_again(const gnomon_profile *p)
{
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile *q = read_back(&b);
    free(b.at);
    return q;
}

/* What all events say, in Unix ns. */
static void span_of_events(const gnomon_profile *p, uint64_t span[2])
{
    gnomon_event_info e;
    span[0] = UINT64_MAX;
    span[1] = 0;
    for (size_t i = 1; !gnomon_profile_event(p, i, &e); i++) {
        gnomon_track_info k;
        gnomon_run_info run;
        gnomon_profile_track(p, e.track, &k);
        gnomon_profile_run(p, k.run, &run);
        uint64_t at = run.zero_unix_ns + e.begin_ns;
        span[0] = at < span[0] ? at : span[0];
        span[1] = at + e.duration_ns > span[1] ? at + e.duration_ns : span[1];
    }
}

/* Whether it is known; then it is what all events say. */
static int known_span_holds(const gnomon_profile *p)
{
    uint64_t known[2], all[2];
    if (!gnomon__profile_span(p, &known[0], &known[1]))
        return 0;
    span_of_events(p, all);
    CHECK_EQ(known[0], all[0]);
    CHECK_EQ(known[1], all[1]);
    return 1;
}

/* ---- What is known ------------------------------------------------------------------ */

TEST(the_span_of_a_file_is_that_of_its_events)
{
    gnomon_profile *p = two_runs(0, 0), *q = read_again(p);
    uint64_t from, until;
    CHECK(!gnomon__profile_span(p, &from, &until)); /* in memory */
    CHECK(known_span_holds(q));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

TEST(lost_blocks_do_not_count)
{
    gnomon_profile *p = two_runs(0, 0);
    bytes b = bytes_of(p, "gnomon");
    uint64_t all[2], left[2];
    span_of_events(p, all);
    for (int n = 1; nth_section(&b, GNOMON__BLOCK_KIND, n); n++)
        b.at[nth_section(&b, GNOMON__BLOCK_KIND, n) + GNOMON__SECTION_HEADER +
             200] ^= n == 1 || n > 5;
    gnomon_profile *q = read_back(&b);
    CHECK(known_span_holds(q));
    span_of_events(q, left);
    CHECK(left[0] > all[0] || left[1] < all[1]);
    b.size = nth_section(&b, GNOMON__BLOCK_KIND, 3) + 99;
    gnomon_profile *cut = read_back(&b);
    CHECK(known_span_holds(cut));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    gnomon_profile_free(cut);
    free(b.at);
}

/* Events whose path is lost, or on another track, are left out and do not count either. */
TEST(events_of_a_lost_path_do_not_count)
{
    gnomon_profile *p = two_runs(0, 0);
    bytes b = bytes_of(p, "gnomon");
    b.at[find_section(&b, "NODE") + GNOMON__SECTION_HEADER] ^= 1;
    gnomon_profile *q = read_back(&b);
    CHECK(gnomon_profile_count(q, GNOMON_EVENTS) > 0);
    CHECK(gnomon_profile_count(q, GNOMON_EVENTS) < 4 * OF_TRACK);
    CHECK(known_span_holds(q));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

TEST(events_of_a_path_elsewhere_do_not_count)
{
    gnomon_profile *p = two_runs(0, 0);
    bytes b = bytes_of(p, "gnomon");
    uint64_t all[2], left[2];
    forge_inside(&b, find_section(&b, "NODE"), 0, 2);
    gnomon_profile *q = read_back(&b);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS), 3 * OF_TRACK);
    CHECK(known_span_holds(q));
    span_of_events(p, all);
    span_of_events(q, left);
    CHECK(left[0] > all[0]);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

TEST(what_is_known_of_a_forged_file_holds)
{
    gnomon_profile *p = two_runs(0, 0);
    bytes b = bytes_of(p, "gnomon");
    size_t known = 0, at = find_section(&b, GNOMON__BLOCK_KIND);
    for (size_t i = 0; i < b.size - at; i += IS_SANITIZED ? 997 : 211) {
        bytes other = {malloc(b.size), b.size, 0};
        memcpy(other.at, b.at, b.size);
        other.at[at + i] = (char)(other.at[at + i] ^ 1 << i % 8);
        fuzz_bless(other.at, other.size);
        gnomon_profile *q = NULL;
        if (!gnomon_profile_read(&q, other.at, other.size))
            known += (size_t)known_span_holds(q);
        gnomon_profile_free(q);
        free(other.at);
    }
    CHECK(known > 10);
    gnomon_profile_free(p);
    free(b.at);
}

/* ---- What is not known -------------------------------------------------------------- */

static bytes chrome_of(const gnomon_profile *p,
                       const gnomon__export_span *spans)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = bytes_write, .context = &b};
    const gnomon__export what = {.profiles = &p, .count = 1, .spans = spans};
    CHECK_EQ(gnomon__export_chrome.write(&what, &w), GNOMON_OK);
    return b;
}

/* Moves the second full block before the first, in the numbers too. */
static void swap_blocks(bytes *b)
{
    const size_t first = nth_section(b, GNOMON__BLOCK_KIND, 1);
    const size_t second = nth_section(b, GNOMON__BLOCK_KIND, 2);
    const size_t third = nth_section(b, GNOMON__BLOCK_KIND, 3);
    char *copy = malloc(second - first);
    memcpy(copy, b->at + first, second - first);
    memmove(b->at + first, b->at + second, third - second);
    memcpy(b->at + first + (third - second), copy, second - first);
    free(copy);
    forge(b, first, 16, 1);
    forge(b, first + (third - second), 16, 1 + GNOMON__BLOCK_EVENTS);
}

TEST(blocks_out_of_order_are_sorted_and_not_known)
{
    gnomon_profile *p = two_runs(0, 0);
    bytes b = bytes_of(p, "gnomon");
    uint64_t from, until;
    swap_blocks(&b);
    gnomon_profile *q = read_back(&b);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS),
             gnomon_profile_count(p, GNOMON_EVENTS));
    CHECK(!gnomon__profile_span(q, &from, &until));
    bytes x = chrome_of(p, NULL), y = chrome_of(q, NULL);
    CHECK(bytes_equal(&x, &y));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
    free(x.at);
    free(y.at);
}

static void is_not_known(uint64_t zero_unix_ns, uint64_t shift_ns)
{
    gnomon_profile *p = two_runs(zero_unix_ns, shift_ns), *q = read_again(p);
    uint64_t from, until;
    CHECK(gnomon_profile_count(q, GNOMON_EVENTS) > 0);
    CHECK(!gnomon__profile_span(q, &from, &until));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

TEST(times_that_could_overflow_are_not_known)
{
    is_not_known(0, UINT64_MAX >> 1);
    is_not_known(UINT64_MAX >> 1, 0);
}

TEST(a_file_without_events_has_no_span)
{
    gnomon_profile *p = finished(paths_of_threads()), *q = read_again(p);
    uint64_t from, until;
    CHECK(!gnomon__profile_span(q, &from, &until));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* ---- Exports ------------------------------------------------------------------------ */

/* Blocks that were decoded since the file was read. */
static uint64_t loads_of(const gnomon_profile *p)
{
    const gnomon__model *m = (const void *)p;
    return ((const gnomon__event_blocks *)(const void *)m->events)->loads;
}

static size_t blocks_of(const gnomon_profile *p)
{
    const gnomon__model *m = (const void *)p;
    return ((const gnomon__event_blocks *)(const void *)m->events)->count;
}

/* Steps that no event is in are not shown, and open scopes begin with the first event: the
 * times of all events show in both. */
TEST(a_trace_is_the_same_without_a_pass_for_times)
{
    gnomon_profile *p = two_runs(0, 0), *q = read_again(p);
    gnomon__export_span span = {.is_known = 1};
    CHECK(gnomon__profile_span(q, &span.from_unix_ns, &span.until_unix_ns));
    bytes x = chrome_of(p, NULL), y = chrome_of(q, &span);
    CHECK(bytes_equal(&x, &y));
    CHECK_EQ(loads_of(q), blocks_of(q));
    free(y.at);
    span.until_unix_ns -= 20 * STEP_NS;
    y = chrome_of(q, &span);
    CHECK(!bytes_equal(&x, &y));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(x.at);
    free(y.at);
}

static int count_all(const gnomon_writer *w, const void *more, size_t size)
{
    (void)more;
    *(size_t *)w->context += size;
    return GNOMON_OK;
}

TEST(a_trace_decodes_each_block_once)
{
    gnomon_profile *p = two_runs(0, 0), *q = read_again(p);
    const gnomon_profile *const held = q;
    size_t size = 0;
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = count_all, .context = &size};
    CHECK_EQ(gnomon_write(q, "chrome", &w), GNOMON_OK);
    CHECK(blocks_of(q) > GNOMON__BLOCK_SLOTS);
    CHECK_EQ(loads_of(q), blocks_of(q));
    child_folder();
    const gnomon__export_request request = {.exporter = &gnomon__export_chrome};
    CHECK_EQ(gnomon__export_files(&request, &held, 1, "trace.json"), 0);
    CHECK_EQ(loads_of(q), 2 * blocks_of(q));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* However many others are read meanwhile. */
TEST(a_block_that_is_in_use_is_decoded_once)
{
    gnomon_profile *p = two_runs(0, 0), *q = read_again(p);
    gnomon_event_info e;
    for (size_t i = 1; i <= 4 * OF_TRACK; i += GNOMON__BLOCK_EVENTS / 4) {
        CHECK_EQ(gnomon_profile_event(q, i, &e), GNOMON_OK);
        CHECK_EQ(gnomon_profile_event(q, 1, &e), GNOMON_OK);
    }
    CHECK(blocks_of(q) > GNOMON__BLOCK_SLOTS);
    CHECK_EQ(loads_of(q), blocks_of(q));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* ---- What fits to a file quickly ------------------------------------------------------ */

/* fit_execution of event_blocks.c maps these numbers, and no others. */
TEST(events_have_three_numbers_of_others)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    unsigned numbers = 0;
    for (unsigned i = 0; i < s->field_count; i++)
        numbers += s->fields[i].type == GNOMON__TYPE_NUMBER;
    CHECK_EQ(numbers, 3); /* track, node, region */
}
