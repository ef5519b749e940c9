/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events of a file are read when they are asked for: in bounded memory, by many threads,
 * and without a crash if the file changes meanwhile.
 * links: testing
 * timeout: 300 */
#include <pthread.h>
#include <unistd.h>

#include "file_edit.h"
#include "child.h"
#include "event_runs.h"
#include "many_events.h"
#include "same_profile.h"
#include "sanitizer.h"

#include "platform/memory.h"
#include "profile/file_write.h"
#include "profile/model.h"

#define PATH "events.gnomon"

enum { SCOPES = IS_SANITIZED ? 80000 : 400000 }; /* of each thread */

static void put_file(const bytes *b)
{
    FILE *f = fopen(PATH, "wb");
    CHECK_EQ(fwrite(b->at, 1, b->size, f), b->size);
    CHECK_EQ(fclose(f), 0);
}

static gnomon_profile *load(void)
{
    gnomon_profile *p = NULL;
    if (!CHECK_EQ(gnomon_profile_load(&p, PATH), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return p;
}

static bytes many_scopes(uint32_t of_thread)
{
    gnomon_profile *p = plain_scopes(of_thread);
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return b;
}

/* Bytes of the heap that a profile has after all of its events were read. */
static uint64_t heap_of_all(uint32_t of_thread)
{
    bytes b = many_scopes(of_thread);
    gnomon_event_info e;
    size_t n = 0;
    put_file(&b);
    free(b.at);
    const uint64_t before = gnomon__heap_bytes();
    gnomon_profile *p = load();
    while (gnomon_profile_event(p, n + 1, &e) == GNOMON_OK)
        n++;
    CHECK_EQ(n, TRACKS * of_thread);
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    const uint64_t after = gnomon__heap_bytes();
    gnomon_profile_free(p);
    CHECK_EQ(gnomon__heap_bytes(), before);
    return after - before;
}

TEST_ALONE(memory_does_not_grow_with_events)
{
    child_folder();
    gnomon__heap_start();
    const uint64_t few = heap_of_all(SCOPES / 10), many = heap_of_all(SCOPES);
    CHECK(many < 2u << 20);
    CHECK(many < few + TRACKS * SCOPES / 8); /* an eighth of a byte each */
}

/* ---- Many at a time --------------------------------------------------------------- */

/* A profile that a plugin made: its readers have no get_many. */
typedef struct one_by_one {
    gnomon_profile base;
    const gnomon_profile *of;
} one_by_one;

static size_t single_count(const gnomon_profile *p, int entity)
{
    return gnomon_profile_count(((const one_by_one *)(const void *)p)->of,
                                entity);
}

static int single_get(const gnomon_profile *p, int entity, size_t number,
                      void *info)
{
    const gnomon_profile *of = ((const one_by_one *)(const void *)p)->of;
    return of->api->get(of, entity, number, info);
}

TEST_ALONE(events_come_many_at_a_time)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = single_count,
                                           .get = single_get};
    child_folder();
    gnomon_profile *p = plain_scopes(2500);
    one_by_one single = {{&api}, p};
    bytes b = bytes_of(p, "gnomon");
    put_file(&b);
    gnomon_profile *in_memory = read_back(&b), *q = load();
    check_event_runs(p);
    check_event_runs(&single.base);
    check_event_runs(in_memory);
    check_event_runs(q);
    CHECK(!gnomon__profile_failed(q));
    gnomon_profile_free(p);
    gnomon_profile_free(in_memory);
    gnomon_profile_free(q);
    free(b.at);
}

/* ---- Threads --------------------------------------------------------------------- */

static const gnomon_profile *all, *from_file;

static void *read_some(void *seed)
{
    uint64_t at = (uint64_t)(size_t)seed;
    size_t wrong = 0;
    for (int i = 0; i < (IS_SANITIZED ? 2000 : 20000); i++) {
        gnomon_event_info x, y, some[3];
        at = at * 6364136223846793005u + 1442695040888963407u;
        size_t number = 1 + (size_t)(at >> 33) % (TRACKS * SCOPES);
        number = i % 100 ? 1 + (size_t)i : number;
        gnomon_profile_event(all, number, &x);
        wrong += gnomon_profile_event(from_file, number, &y) != GNOMON_OK ||
                 memcmp(&x, &y, sizeof x) != 0;
        wrong += !gnomon_profile_events(from_file, number, some, 3) ||
                 memcmp(&x, some, sizeof x) != 0;
    }
    return (void *)wrong;
}

TEST(any_number_of_threads_may_read)
{
    pthread_t threads[20]; /* more than there are blocks in memory */
    child_folder();
    gnomon_profile *p = plain_scopes(SCOPES), *q;
    bytes b = bytes_of(p, "gnomon");
    put_file(&b);
    free(b.at);
    all = p;
    from_file = q = load();
    for (size_t i = 0; i < 20; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, read_some, (void *)(i + 1)),
                 0);
    for (size_t i = 0; i < 20; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
    gnomon_profile_free(p);
    gnomon_profile_free(q);
}

/* ---- A file that changes --------------------------------------------------------- */

TEST(a_file_that_is_removed_stays_readable)
{
    child_folder();
    bytes b = many_scopes(SCOPES / 4);
    put_file(&b);
    gnomon_profile *p = load(), *q = read_back(&b);
    CHECK_EQ(unlink(PATH), 0);
    bytes again = bytes_of(p, "gnomon");
    CHECK(bytes_equal(&b, &again));
    CHECK(!gnomon__profile_failed(p));
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
    free(again.at);
}

static int forget(const gnomon_writer *w, const void *more, size_t size)
{
    (void)w, (void)more, (void)size;
    return GNOMON_OK;
}

/* Reads all of a profile whose file was changed. */
static void fails_in_time(gnomon_profile *p)
{
    const gnomon_writer w = {.struct_size = sizeof w, .write = forget};
    gnomon_event_info e;
    int code = GNOMON_OK;
    size_t i = 0;
    while (!code && i < TRACKS * (SCOPES / 4))
        code = gnomon_profile_event(p, ++i, &e);
    CHECK_EQ(code, GNOMON_EIO);
    CHECK_EQ(e.track, 0);
    CHECK_EQ(event_run(p, i, 10), 0);
    CHECK(event_run(p, i - 10, 20) == 10);
    CHECK(gnomon__profile_failed(p));
    CHECK_EQ(gnomon_write(p, "chrome", &w), GNOMON_EIO);
    CHECK_EQ(gnomon_report(p, "gaps", &w), GNOMON_EIO);
    CHECK_EQ(gnomon_write(p, "gnomon", &w), GNOMON_EIO);
    CHECK_EQ(gnomon_write(p, "json", &w), GNOMON_EIO);
    CHECK_EQ(gnomon_write_file(p, "json", "out"), GNOMON_EIO);
    CHECK(strstr(gnomon_error_text(), "out: the profile's file can no longer"));
    gnomon_profile_free(p);
}

TEST(a_file_that_is_cut_is_an_error)
{
    child_folder();
    bytes b = many_scopes(SCOPES / 4);
    put_file(&b);
    gnomon_profile *p = load();
    CHECK_EQ(truncate(PATH, (long)b.size / 2), 0);
    fails_in_time(p);
    free(b.at);
}

TEST(a_file_that_is_overwritten_is_an_error)
{
    child_folder();
    bytes b = many_scopes(SCOPES / 4);
    put_file(&b);
    gnomon_profile *p = load();
    memset(b.at + b.size / 2, 7, b.size / 2);
    put_file(&b);
    fails_in_time(p);
    free(b.at);
}

/* ---- Parts ----------------------------------------------------------------------- */

/* A part with one event on each of two threads, which began at `at`. */
static gnomon_profile *part_at(uint64_t at)
{
    gnomon_builder *b = paths_of_threads();
    for (uint32_t t = 1; t <= 2; t++)
        gnomon_add_event(b, &(gnomon_event_info){.track = t,
                                                 .node = (t - 1) * PATHS + 2,
                                                 .begin_ns = at + t,
                                                 .duration_ns = 5});
    return finished(b);
}

static int keep_bytes(const gnomon_writer *w, const void *more, size_t size)
{
    return bytes_write(w, more, size);
}

/* A scope that lasts longer than a stage ends in a later part, but began before what is in
 * earlier ones. */
TEST(events_of_parts_are_one_list)
{
    const uint64_t orders[2][3] = {{100, 200, 300}, {300, 100, 200}};
    for (int k = 0; k < 2; k++) {
        bytes b = {NULL, 0, 0};
        const gnomon_writer w = {
            .struct_size = sizeof w, .write = keep_bytes, .context = &b};
        gnomon__file_counts counts = {0};
        for (int i = 0; i < 3; i++) {
            gnomon_profile *p = part_at(orders[k][i]);
            CHECK_EQ(gnomon__file_add_part(p, &w, &counts), GNOMON_OK);
            gnomon_profile_free(p);
        }
        gnomon_profile *p = read_back(&b);
        uint64_t sums[3] = {0}, last[3] = {0};
        gnomon_event_info e;
        CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 6);
        for (size_t i = 1; gnomon_profile_event(p, i, &e) == GNOMON_OK; i++) {
            CHECK(e.node == (e.track - 1) * PATHS + 2);
            CHECK(e.begin_ns > last[e.track]);
            last[e.track] = e.begin_ns;
            sums[e.track] += e.begin_ns;
        }
        CHECK(sums[1] == 603 && sums[2] == 606);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 0);
        gnomon_profile_free(p);
        free(b.at);
    }
}

/* Parts in the file of one run. The caller frees the profiles, and what is returned. */
static gnomon_profile *in_one_file(gnomon_profile *const *parts, size_t count)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = keep_bytes, .context = &b};
    gnomon__file_counts counts = {0};
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(gnomon__file_add_part(parts[i], &w, &counts), GNOMON_OK);
    gnomon_profile *p = read_back(&b);
    free(b.at);
    return p;
}

/* A part with a mark of the last region, and what was lost until then. */
static gnomon_profile *marked_part(const char *const *regions, uint32_t count,
                                   uint64_t at, uint64_t lost)
{
    static const char *const kinds[] = {"events_lost", "events_overwritten",
                                        "crossed"};
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .now_ns = at});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .name = "main"});
    for (uint32_t i = 0; i < count; i++)
        gnomon_add_region(b, &(gnomon_region_info){.name = regions[i],
                                                   .kind = GNOMON_KIND_MARK});
    gnomon_add_event(b, &(gnomon_event_info){.kind = GNOMON_EVENT_MARK,
                                             .track = 1,
                                             .region = count,
                                             .begin_ns = at});
    for (size_t i = 0; i < 3; i++)
        gnomon_add_loss(
            b, &(gnomon_loss_info){.run = 1, .kind = kinds[i], .count = lost});
    return finished(b);
}

TEST(marks_and_losses_of_parts_are_united)
{
    gnomon_profile *parts[] = {
        marked_part((const char *const[]){"a", "b"}, 2, 100, 3),
        marked_part((const char *const[]){"c", "b", "a"}, 3, 200, 5)};
    gnomon_profile *p = in_one_file(parts, 2);
    gnomon_event_info e;
    gnomon_region_info r;
    gnomon_loss_info l;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 3);
    for (size_t i = 1; gnomon_profile_event(p, i, &e) == GNOMON_OK; i++) {
        CHECK_EQ(gnomon_profile_region(p, e.region, &r), GNOMON_OK);
        CHECK_STR(r.name, e.begin_ns == 100 ? "b" : "a");
    }
    CHECK_EQ(gnomon_profile_count(p, GNOMON_LOSSES), 3);
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++)
        CHECK_EQ(l.count, strcmp(l.kind, "crossed") == 0 ? 5 : 8);
    gnomon_profile_free(p);
    gnomon_profile_free(parts[0]);
    gnomon_profile_free(parts[1]);
}
