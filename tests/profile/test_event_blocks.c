/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in .gnomon files: how many bytes they take, that any of them come back, what
 * damage costs, and files of format 1.
 * links: testing
 * threads: none
 * timeout: 300 */
#include "file_edit.h"
#include "fuzz/fuzz_bless.h"
#include "many_events.h"
#include "same_profile.h"
#include "sanitizer.h"

#include "platform/memory.h"
#include "profile/event_blocks.h"

/* ---- Bytes --------------------------------------------------------------------- */

static size_t bytes_of_events(const bytes *b)
{
    size_t sum = 0;
    for (size_t at = GNOMON__FILE_HEADER; at < b->size;) {
        size_t size = GNOMON__SECTION_HEADER +
                      (size_t)((gnomon__get_64(b->at + at + 8) + 7) & ~7ull);
        if (memcmp(b->at + at, GNOMON__BLOCK_KIND, 4) == 0)
            sum += size;
        at += size;
    }
    return sum;
}

TEST(a_plain_scope_takes_less_than_8_bytes)
{
    enum { SCOPES = 20000 };
    gnomon_profile *p = plain_scopes(SCOPES);
    bytes b = bytes_of(p, "gnomon");
    CHECK(bytes_of_events(&b) > TRACKS * SCOPES * 3);
    CHECK(bytes_of_events(&b) < TRACKS * SCOPES * 8);
    gnomon_profile *q = read_back(&b);
    same_profiles(p, q);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* The largest moments and durations below 73 minutes, and paths as far apart as 2^26. */
TEST(a_plain_scope_never_takes_more_than_16_bytes)
{
    const uint64_t most = (1ull << 42) - 1;
    char room[GNOMON__SECTION_FULL];
    gnomon__block b;
    gnomon_event_info e = {.struct_size = sizeof e, .track = 1, .node = 1};
    gnomon__block_begin(&b, room, sizeof room);
    gnomon__block_add(&b, &e);
    for (uint32_t i = 0; i < 100; i++) {
        const size_t before = b.used;
        e.begin_ns += most;
        e.duration_ns = most;
        e.node = i % 2 ? 1 : 1u << 26;
        gnomon__block_add(&b, &e);
        CHECK(b.used - before <= 16);
    }
}

/* ---- Any events come back --------------------------------------------------------- */

static uint64_t any_number(void)
{
    uint64_t n =
        (uint64_t)random_below(1u << 31) << 33 | random_below(1u << 31);
    return n >> random_below(64);
}

static gnomon_event_info any_event(void)
{
    gnomon_event_info e = {.struct_size = sizeof e};
    const uint64_t bits = any_number();
    e.track = (uint32_t)any_number();
    e.node = (uint32_t)any_number();
    e.begin_ns = any_number();
    e.duration_ns = random_below(9) ? any_number() : UINT64_MAX;
    if (!random_below(3))
        e.kind = (uint32_t)any_number();
    if (!random_below(3))
        e.region = (uint32_t)any_number();
    if (!random_below(3))
        e.instance = any_number();
    if (!random_below(3))
        memcpy(&e.value, &bits, sizeof bits);
    return e;
}

TEST(any_events_come_back)
{
    static gnomon_event_info in[GNOMON__BLOCK_EVENTS],
        out[GNOMON__BLOCK_EVENTS];
    static char room[GNOMON__SECTION_FULL];
    for (int round = 0; round < 200; round++) {
        gnomon__block b;
        gnomon__block_begin(&b, room, sizeof room);
        while (!gnomon__block_is_full(&b)) {
            in[b.count] = any_event();
            gnomon__block_add(&b, &in[b.count]);
        }
        gnomon__block_end(&b);
        if (!CHECK(gnomon__block_read(room, b.used, b.count, out)))
            return;
        CHECK(memcmp(in, out, b.count * sizeof *in) == 0);
        CHECK(!gnomon__block_read(room, b.used - 1, b.count, out));
        CHECK(!gnomon__block_read(room, b.used, b.count - 1, out));
        room[random_below(GNOMON__BLOCK_HEAD)] ^=
            1; /* bounds that do not hold */
        CHECK(!gnomon__block_read(room, b.used, b.count, out));
    }
}

/* Any bytes are read or refused, and nothing behind them is touched. */
TEST(any_bytes_are_read_or_refused)
{
    static gnomon_event_info out[GNOMON__BLOCK_EVENTS];
    size_t read = 0;
    for (int round = 0; round < 20000; round++) {
        size_t size = GNOMON__BLOCK_HEAD + random_below(64);
        char *exact = malloc(size);
        for (size_t i = 0; i < size; i++)
            exact[i] = random_below(3) ? 0 : (char)random_below(256);
        read +=
            (size_t)gnomon__block_read(exact, size, 1 + random_below(8), out);
        free(exact);
    }
    CHECK(read < 20000);
}

/* ---- Damage ----------------------------------------------------------------------- */

enum { MANY = 5000 };

TEST(a_damaged_block_costs_itself)
{
    gnomon_profile *p = plain_scopes(MANY);
    bytes b = bytes_of(p, "gnomon");
    size_t at = nth_section(&b, GNOMON__BLOCK_KIND, 3);
    b.at[at + GNOMON__SECTION_HEADER + 500] ^= 1;
    gnomon_profile *q = read_back(&b);
    const size_t lost = GNOMON__BLOCK_EVENTS;
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS), TRACKS * MANY - lost);
    CHECK_EQ(loss_of(q, "unreadable: events"), lost);
    CHECK_EQ(gnomon_profile_check(q), GNOMON_OK);
    for (size_t i = 1; i <= TRACKS * MANY - lost; i++) {
        gnomon_event_info x, y;
        gnomon_profile_event(p, i <= 2 * lost ? i : i + lost, &x);
        gnomon_profile_event(q, i, &y);
        if (!CHECK(memcmp(&x, &y, sizeof x) == 0))
            break;
    }
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* A crash or a full disk leaves a file without its end. */
TEST(a_cut_file_has_all_whole_blocks)
{
    gnomon_profile *p = plain_scopes(MANY);
    bytes b = bytes_of(p, "gnomon");
    b.size = nth_section(&b, GNOMON__BLOCK_KIND, 8) + 99;
    gnomon_profile *q = read_back(&b);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS), 7 * GNOMON__BLOCK_EVENTS);
    CHECK_EQ(loss_of(q, "the end of the file"), 1);
    CHECK(loss_of(q, "unreadable: bytes") > 0);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* Checksums that are right say nothing: the content is not trusted. */
TEST(a_forged_block_crashes_nothing)
{
    gnomon_profile *p = plain_scopes(700);
    bytes b = bytes_of(p, "gnomon");
    size_t at = find_section(&b, GNOMON__BLOCK_KIND), refused = 0, read = 0;
    for (size_t i = 0; i < b.size - at; i += IS_SANITIZED ? 97 : 11) {
        bytes other = {malloc(b.size), b.size, 0};
        memcpy(other.at, b.at, b.size);
        other.at[at + i] = (char)(other.at[at + i] ^ 1 << i % 8);
        fuzz_bless(other.at, other.size);
        gnomon_profile *q = NULL;
        if (gnomon_profile_read(&q, other.at, other.size)) {
            refused++;
        } else {
            read++;
            CHECK_EQ(gnomon_profile_check(q), GNOMON_OK);
        }
        gnomon_profile_free(q);
        free(other.at);
    }
    CHECK(read > 0);
    CHECK(refused + read > 10);
    gnomon_profile_free(p);
    free(b.at);
}

/* Replaces the only block by one of these events, of the same size. */
static void replace_events(bytes *b, const gnomon_event_info *events, int count)
{
    char room[GNOMON__SECTION_FULL];
    gnomon__block k;
    size_t at = find_section(b, GNOMON__BLOCK_KIND);
    gnomon__block_begin(&k, room, sizeof room);
    for (int i = 0; i < count; i++)
        gnomon__block_add(&k, &events[i]);
    gnomon__block_end(&k);
    CHECK_EQ(k.used, gnomon__get_64(b->at + at + 8));
    memcpy(b->at + at + GNOMON__SECTION_HEADER, room, k.used);
    fuzz_bless(b->at, b->size);
}

/* A path that is there is not enough: a mark of no region, or of one that is not there, is
 * left out, and an execution loses the region. */
TEST(a_region_that_is_not_there_is_never_read)
{
    enum { COUNT = 4, NOT_THERE = 60 };
    gnomon_event_info e[COUNT] = {
        {.track = 1, .node = 1, .begin_ns = 10, .region = 1},
        {.track = 1, .node = 1, .begin_ns = 20, .region = 1},
        {.track = 1, .node = 1, .begin_ns = 30, .region = 1},
        {.track = 1, .node = 1, .begin_ns = 40, .region = 1}};
    e[1].kind = e[3].kind = GNOMON_EVENT_MARK;
    gnomon_builder *builder = paths_of_threads();
    for (int i = 0; i < COUNT; i++)
        gnomon_add_event(builder, &e[i]);
    gnomon_profile *p = finished(builder);
    bytes b = bytes_of(p, "gnomon");
    e[0].region = e[1].region = NOT_THERE;
    e[3].region = 0;
    e[3].instance = 1; /* as many bytes */
    replace_events(&b, e, COUNT);
    gnomon_profile *q = read_back(&b);
    CHECK_EQ(gnomon_profile_count(q, GNOMON_EVENTS), 2);
    for (size_t i = 1; i <= 2; i++) {
        gnomon_event_info x;
        CHECK_EQ(gnomon_profile_event(q, i, &x), GNOMON_OK);
        CHECK_EQ(x.kind, GNOMON_EVENT_EXECUTION);
        CHECK_EQ(x.begin_ns, i == 1 ? 10 : 30);
        CHECK_EQ(x.region, i == 1 ? 0 : 1);
    }
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(b.at);
}

/* ---- Other formats ------------------------------------------------------------------ */

static bytes file_at(const char *path)
{
    bytes b = {malloc(1 << 16), 0, 0};
    FILE *f = fopen(path, "rb");
    if (CHECK(f != NULL)) {
        b.size = fread(b.at, 1, (1 << 16) - 1, f);
        fclose(f);
    }
    b.at[b.size] = 0;
    return b;
}

/* tests/file/format1.gnomon is a file of gnomon before blocks, with its JSON form. */
TEST(files_of_format_1_are_read)
{
    bytes file = file_at(TEST_SOURCE_DIR "/file/format1.gnomon");
    bytes json = file_at(TEST_SOURCE_DIR "/file/format1.gnomon.json");
    CHECK_EQ(gnomon__get_32(file.at + 8), 1);
    CHECK(find_section(&file, "EVNT") && !find_section(&file, "EVBK"));
    gnomon_profile *p = read_back(&file);
    bytes again = bytes_of(p, "json");
    CHECK(gnomon_profile_count(p, GNOMON_EVENTS) > 0);
    CHECK_STR(again.at, json.at);
    bytes now = bytes_of(p, "gnomon");
    CHECK_EQ(gnomon__get_32(now.at + 8), 2);
    CHECK(!find_section(&now, "EVNT") && find_section(&now, "EVBK"));
    gnomon_profile *q = read_back(&now);
    same_profiles(p, q);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(file.at);
    free(json.at);
    free(again.at);
    free(now.at);
}
