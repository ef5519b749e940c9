/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* .gnomon files: what is read of damaged ones, profiles that no file can hold, and
 * reading and writing without memory.
 * links: testing
 * threads: none */
#include "file_edit.h"
#include "full_profile.h"

#include "platform/memory.h"
#include "profile/file_write.h"

/* ---- Stand-ins for lost entities ----------------------------------------- */

/* Without the sections of runs, tracks and regions, and without an end:
 * neither its program, nor its names, nor its size are known. */
static bytes torn(void)
{
    static const char *const gone[] = {"RUN ", "TRCK", "REGN"};
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    for (int i = 0; i < 3; i++)
        b.at[find_section(&b, gone[i]) + GNOMON__SECTION_HEADER] ^= 1;
    b.size = find_section(&b, "END ");
    gnomon_profile_free(p);
    return b;
}

TEST(one_stands_for_all_that_is_lost)
{
    bytes b = torn();
    gnomon_profile *p = read_back(&b);
    gnomon_run_info run;
    gnomon_track_info track;
    gnomon_region_info region;
    gnomon_node_info n;
    CHECK_EQ(loss_of(p, "the end of the file"), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_TRACKS), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 1);
    gnomon_profile_run(p, 1, &run);
    CHECK_EQ(run.rank, -1);
    CHECK_STR(run.host, "(lost)");
    gnomon_profile_track(p, 1, &track);
    CHECK_STR(track.name, "(lost)");
    gnomon_profile_region(p, 1, &region);
    CHECK_STR(region.name, "(lost)");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 5);
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++) {
        CHECK(n.track == 1 && n.region == 1);
        CHECK_EQ(n.memory_count, 0); /* of no pool that is there */
    }
    CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), 0);
    gnomon_profile_free(p);
    free(b.at);
}

/* The stand-in for the second rank's first node cannot have its parent. */
TEST(no_parent_is_on_another_track)
{
    gnomon_profile *p = full_of("01");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    forge(&b, nth_section(&b, "NODE", 2), 16, 7);
    p = read_back(&b);
    gnomon_node_info n;
    CHECK_EQ(loss_of(p, "unreadable: nodes"), 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 11);
    gnomon_profile_node(p, 2, &n);
    CHECK(n.parent == 1 && n.track == 1);
    gnomon_profile_node(p, 6, &n); /* its stand-in */
    CHECK(n.parent == 0 && n.track == 1);
    gnomon_profile_node(p, 8, &n);
    CHECK(n.parent == 0 && n.track == 4);
    gnomon_profile_free(p);
    free(b.at);
}

/* Two threads of one run: the second's outer path is lost, and the damaged
 * inner one names the stand-in, which is on the first thread. */
static bytes two_threads(void)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .name = "main"});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .name = "other"});
    gnomon_add_node(b, &(gnomon_node_info){.track = 2, .region = 1});
    gnomon_add_node(b,
                    &(gnomon_node_info){.track = 2, .region = 1, .parent = 1});
    gnomon_profile *p = full_finish(b);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

TEST(no_parent_is_on_another_thread)
{
    bytes b = two_threads();
    forge(&b, find_section(&b, "NODE"), 16, 2);
    gnomon_profile *p = read_back(&b);
    gnomon_node_info n;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 3);
    gnomon_profile_node(p, 3, &n);
    CHECK(n.parent == 0 && n.track == 2);
    gnomon_profile_free(p);
    free(b.at);
}

/* Nor may a parent follow its child: in an undamaged file that is an error. */
TEST(no_parent_is_behind_its_child)
{
    enum { PARENT = 12 };
    bytes b = two_threads();
    gnomon_node_info n;
    gnomon_profile *p = NULL;
    forge_inside(&b, find_section(&b, "NODE"), PARENT, 2);
    CHECK_EQ(gnomon_profile_read(&p, b.at, b.size), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "node 1: parent 2 is not before it");
    b.size = find_section(&b, "END ");
    p = read_back(&b);
    gnomon_profile_node(p, 1, &n);
    CHECK_EQ(n.parent, 0);
    gnomon_profile_free(p);
    free(b.at);
}

/* The search for a header reads more than one buffer: only a text can be so
 * long. */
static bytes without_a_long_section(void)
{
    static char text[100000];
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    memset(text, 'x', sizeof text - 1);
    gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    gnomon_add_region(b, &(gnomon_region_info){.name = text});
    gnomon_add_view(b, &(gnomon_view_info){.words = "filter=x"});
    gnomon_profile *p = full_finish(b);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    file.at[nth_section(&file, "TEXT", 2)] ^= 1;
    return file;
}

TEST(what_is_far_behind_damage_is_found)
{
    bytes b = without_a_long_section();
    gnomon_profile *p = read_back(&b);
    gnomon_region_info r;
    gnomon_view_info view;
    CHECK(loss_of(p, "unreadable: bytes") > 65536);
    CHECK_EQ(loss_of(p, "leads nowhere: name of region 2"), 1);
    gnomon_profile_region(p, 1, &r);
    CHECK_STR(r.name, "r");
    CHECK_EQ(gnomon_profile_view(p, 1, &view), GNOMON_OK);
    CHECK_STR(view.words, "filter=x");
    gnomon_profile_free(p);
    free(b.at);
}

TEST(an_unknown_section_is_named_once)
{
    static const char *const kinds[] = {"STEP", "OPEN", "CNTR"};
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    for (int i = 0; i < 3; i++)
        forge(&b, find_section(&b, kinds[i]), 0, i < 2 ? 0x20776e : 0x20776f);
    p = read_back(&b);
    size_t named = 0;
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(p, i, &l); i++)
        named += strncmp(l.kind, "unknown section ", 16) == 0;
    CHECK_EQ(named, 2);
    gnomon_profile_free(p);
    free(b.at);
}

/* Of seven inputs three are valid: the others state another size. */
TEST(an_op_has_no_more_inputs_than_there_are)
{
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    size_t section = find_section(&b, "OP  ");
    CHECK_EQ(gnomon__get_32(b.at + section + GNOMON__SECTION_HEADER + 12), 3);
    forge_inside(&b, section, 12, 7);
    p = read_back(&b);
    gnomon_op_info op;
    gnomon_profile_op(p, 1, &op);
    CHECK_EQ(op.input_count, 3);
    CHECK_EQ(gnomon_input_at(&op, 0)->dims[2], INT64_MAX);
    CHECK_STR(gnomon_input_at(&op, 2)->dtype, "i64");
    CHECK_EQ(gnomon_input_at(&op, 2)->rank, 0);
    CHECK_EQ(op.attribute_count, 2);
    gnomon_profile_free(p);
    free(b.at);
}

/* Data beyond the tail are ignored, and data that are referred to twice are
 * read once, so that a small file makes no large profile. */
TEST(nothing_is_behind_the_tail_or_there_twice)
{
    enum { HOST = 40, DEVICE = 44 };
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    size_t section = find_section(&b, "NODE");
    uint32_t size = gnomon__get_32(b.at + section + 4), host;
    gnomon_node_info n;
    memcpy(&host, b.at + section + GNOMON__SECTION_HEADER + HOST, sizeof host);
    forge_inside(&b, section, HOST, UINT32_MAX);
    p = read_back(&b);
    gnomon_profile_node(p, 1, &n);
    CHECK(n.host == NULL);
    gnomon_profile_free(p);
    for (uint32_t i = 0; i < 5; i++) { /* ten times the same */
        forge_inside(&b, section, i * size + HOST, host);
        forge_inside(&b, section, i * size + DEVICE, host);
    }
    for (uint32_t i = 0; i < 5; i++) /* which makes sums unchecked */
        forge_inside(&b, section, i * size + 28, GNOMON_NODE_CROSSED);
    p = read_back(&b);
    size_t blocks = 0;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        blocks += (n.host && n.host->cells ? 1u : 0) +
                  (n.device && n.device->cells ? 1u : 0);
    CHECK(blocks > 0 && blocks < 10);
    gnomon_profile_free(p);
    free(b.at);
}

/* Where the list of cells is named, from the begin of statistics in a file. */
static size_t at_cells(void)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON__STATS];
    size_t at = 4; /* the struct's size */
    for (size_t i = 0; s->fields[i].type != GNOMON__TYPE_CELLS; i++)
        at += gnomon__field_bytes(&s->fields[i]);
    return at;
}

enum { CELLS = 30 };

/* The file of a node with so many cells. */
static bytes file_of_cells(void)
{
    gnomon_cell cells[CELLS];
    gnomon_stats s = {.struct_size = sizeof s,
                      .count = CELLS,
                      .max_ns = CELLS - 1,
                      .cells = cells,
                      .cell_count = CELLS};
    const gnomon_memory_stats memory = {.struct_size = sizeof memory,
                                        .pool = 2};
    gnomon_builder *b;
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = (gnomon_cell){i, 0, 1};
        s.total_ns += i;
    }
    s.self_ns = s.total_ns;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1});
    gnomon_add_track(b,
                     &(gnomon_track_info){.run = 1, .kind = GNOMON_TRACK_POOL});
    gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                           .region = 1,
                                           .host = &s,
                                           .memory = &memory,
                                           .memory_count = 1});
    gnomon_profile *p = full_finish(b);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* A list that begins in the tail and ends behind it is not read. */
TEST(no_list_ends_behind_the_tail)
{
    enum { HOST = 40 };
    gnomon_profile *p;
    bytes file = file_of_cells();
    const size_t section = find_section(&file, "NODE");
    const char *header = file.at + section;
    const size_t records = gnomon__get_32(header + 4);
    const size_t tail = (size_t)gnomon__get_64(header + 8) - records;
    const size_t host =
        gnomon__get_32(header + GNOMON__SECTION_HEADER + HOST) - 1;
    const size_t at = records + host + at_cells();
    CHECK_EQ(gnomon__get_32(header + GNOMON__SECTION_HEADER + at + 4), CELLS);
    CHECK(tail > 8 * CELLS);
    forge_inside(&file, section, at, (uint32_t)(tail - 8 * (CELLS - 1)) + 1);
    CHECK_EQ(gnomon_profile_read(&p, file.at, file.size), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "node 1: histogram counts 0, count is 30");
    free(file.at);
}

/* Statistics that are referred to twice lose their cells only. */
TEST(cells_are_not_there_twice)
{
    enum { HOST = 40, DEVICE = 44 };
    gnomon_profile *p;
    uint32_t host;
    bytes file = file_of_cells();
    size_t section = find_section(&file, "NODE");
    memcpy(&host, file.at + section + GNOMON__SECTION_HEADER + HOST,
           sizeof host);
    forge_inside(&file, section, DEVICE, host);
    CHECK_EQ(gnomon_profile_read(&p, file.at, file.size), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "the device's part of node 1: histogram "
                                   "counts 0, count is 30");
    free(file.at);
}

/* A text that every gnomon writes, but is missing, is "". */
TEST(a_text_that_is_none)
{
    gnomon_profile *p = full_of("0");
    bytes b = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    gnomon_region_info r;
    forge_inside(&b, find_section(&b, "REGN"), 4, 0);
    p = read_back(&b);
    gnomon_profile_region(p, 1, &r);
    CHECK_STR(r.name, "");
    gnomon_profile_free(p);
    free(b.at);
}

/* ---- What a file cannot hold ----------------------------------------------------- */

/* A file is not written if a number would name another text or entity. */
TEST(numbers_of_a_file_have_an_end)
{
    gnomon_profile *p = full_of("0");
    bytes b = {NULL, 0, 0};
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &b};
    gnomon__file_writer w;
    gnomon__file_start(&w, &out);
    w.texts_written = UINT32_MAX - 4; /* as if */
    gnomon__file_shared(&w, p);
    gnomon__file_runs(&w, p, NULL);
    CHECK_EQ(gnomon__file_finish(&w), GNOMON_EFULL);
    CHECK_STR(gnomon_error_text(), "more than 4 GiB of texts in one file");
    CHECK_EQ(b.size, GNOMON__FILE_HEADER);
    gnomon__file_start(&w, &out);
    gnomon__file_shared(&w, p);
    size_t shared = b.size;
    w.written[GNOMON_RUNS] = UINT32_MAX;
    gnomon__file_runs(&w, p, NULL);
    CHECK_EQ(gnomon__file_finish(&w), GNOMON_EFULL);
    CHECK_STR(gnomon_error_text(),
              "more than 4294967295 of a kind in one file");
    CHECK_EQ(b.size, shared);
    CHECK_EQ(gnomon_write(p, "text", &out), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "no such format: text");
    CHECK_EQ(b.size, shared);
    gnomon_profile_free(p);
    free(b.at);
}

/* ---- Without memory -------------------------------------------------------------- */

static void read_each(const bytes *b)
{
    int failed = 1;
    for (uint32_t n = 1; failed && n < 300; n++) {
        gnomon_profile *p;
        gnomon__test_fail_allocation(n);
        int code = gnomon_profile_read(&p, b->at, b->size);
        failed = gnomon__test_allocations() >= n;
        gnomon__test_fail_allocation(0);
        CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
        CHECK(!code || strstr(gnomon_error_text(), "no memory"));
        CHECK_EQ(!p, failed);
        gnomon_profile_free(p);
    }
    CHECK(!failed);
}

TEST(reading_without_memory)
{
    bytes b = torn();
    uint64_t before = gnomon__heap_bytes();
    read_each(&b);
    free(b.at);
    b = without_a_long_section();
    read_each(&b);
    free(b.at);
    for (size_t pad = FULL_PAD_FROM; pad < FULL_PAD_TO; pad += FULL_PAD_STEP) {
        gnomon_profile *p = full_padded(pad);
        b = bytes_of(p, "gnomon");
        gnomon_profile_free(p);
        read_each(&b);
        free(b.at);
    }
    CHECK_EQ(gnomon__heap_bytes(), before);
}

/* An empty profile, and one with more attributes than the first buffer
 * holds. */
TEST(writing_without_memory)
{
    static gnomon_attribute attributes[600];
    for (int i = 0; i < 600; i++)
        attributes[i] = (gnomon_attribute){sizeof *attributes, 0, "key", "1"};
    for (size_t count = 0; count <= 600; count += 600) {
        gnomon_builder *b;
        CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
        if (count)
            gnomon_add_op(b, &(gnomon_op_info){.operation = "mm",
                                               .attributes = attributes,
                                               .attribute_count = count});
        gnomon_profile *p = full_finish(b);
        uint64_t before = gnomon__heap_bytes();
        int failed = 1;
        for (uint32_t n = 1; failed && n < 100; n++) {
            bytes file = {NULL, 0, 0};
            const gnomon_writer w = {.struct_size = sizeof w,
                                     .write = bytes_write,
                                     .context = &file};
            gnomon__test_fail_allocation(n);
            int code = gnomon_write(p, "gnomon", &w);
            failed = gnomon__test_allocations() >= n;
            gnomon__test_fail_allocation(0);
            CHECK_EQ(code, failed ? GNOMON_ENOMEM : GNOMON_OK);
            CHECK_EQ(gnomon__heap_bytes(), before);
            free(file.at);
        }
        CHECK(!failed);
        gnomon_profile_free(p);
    }
}
