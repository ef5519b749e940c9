/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How much of a large file one wrong bit costs, the line that says so, and the exit
 * status of commands.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include "file_edit.h"
#include "sanitizer.h"

enum { PATHS = IS_SANITIZED ? 6000 : 40000, MOST = 1 << 16 };

/* A thread with a path of each of many regions, as an unrolled model has. */
static bytes large_file(void)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .uuid = "u"});
    gnomon_add_stage(
        b, &(gnomon_stage_info){.run = 1, .name = "fit", .end_ns = 90});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    for (uint32_t i = 1; i <= PATHS; i++) {
        const gnomon_cell cell = {gnomon_cell_of(i), 0, 1};
        const gnomon_stats once = {sizeof once, 0, 1, i, i, i, i, &cell, 1};
        char name[64];
        snprintf(name, sizeof name, "model.layers.%u.attention.forward",
                 (unsigned)i);
        gnomon_add_region(b, &(gnomon_region_info){.name = name});
        gnomon_add_node(b, &(gnomon_node_info){.track = 1,
                                               .stage = 1,
                                               .region = i,
                                               .flags = GNOMON_NODE_PARTIAL,
                                               .host = &once});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* How many paths have their time, in their stage and with their name. */
static size_t rows_left(const bytes *file)
{
    gnomon_profile *p = NULL;
    gnomon_node_info n;
    gnomon_region_info r;
    gnomon_stage_info s;
    size_t left = 0;
    if (!CHECK_EQ(gnomon_profile_read(&p, file->at, file->size), GNOMON_OK))
        return 0;
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++) {
        gnomon_profile_region(p, n.region, &r);
        if (n.host && n.host->total_ns == i &&
            strncmp(r.name, "model.", 6) == 0)
            left += gnomon_profile_stage(p, n.stage, &s) == GNOMON_OK;
    }
    gnomon_profile_free(p);
    return left;
}

TEST(no_section_is_longer_than_64_KiB)
{
    bytes b = large_file();
    size_t sections = 0;
    for (size_t at = GNOMON__FILE_HEADER; at < b.size; sections++) {
        uint64_t size = gnomon__get_64(b.at + at + 8) + GNOMON__SECTION_HEADER;
        CHECK(size <= MOST);
        at += (size + 7) & ~7ull;
    }
    CHECK(sections > b.size / MOST);
    free(b.at);
}

/* The smallest record is a region's, of 24 bytes, and a text has 33: a
 * section has so many rows. Once one wrong bit in a megabyte cost three
 * quarters of the rows. */
TEST(one_flipped_bit_costs_one_section)
{
    bytes b = large_file();
    size_t worst = PATHS, steps = 0;
    for (size_t at = GNOMON__FILE_HEADER; at < b.size;) {
        size_t size = (size_t)gnomon__get_64(b.at + at + 8);
        size_t next = at + GNOMON__SECTION_HEADER + ((size + 7) & ~7ull);
        if (steps++ % (EACH > 1 ? 17 : 23) == 0 || size < 200) {
            const size_t offsets[] = {at + 9,
                                      at + GNOMON__SECTION_HEADER + size / 2};
            for (int i = 0; i < 2; i++) {
                b.at[offsets[i]] ^= 4;
                size_t left = rows_left(&b);
                worst = left < worst ? left : worst;
                b.at[offsets[i]] ^= 4;
            }
        }
        at = next;
    }
    CHECK(worst + MOST / 24 >= PATHS);
    for (size_t i = 0; i < GNOMON__FILE_HEADER; i++) { /* and of the header */
        b.at[i] ^= 4;
        CHECK_EQ(rows_left(&b), PATHS);
        b.at[i] ^= 4;
    }
    free(b.at);
}

/* ---- Ranks --------------------------------------------------------------- */

/* Ranks of 4 and more, each with a path of so many ns. */
static bytes file_of_ranks(int32_t ranks)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_region(b, &(gnomon_region_info){.name = "step"});
    for (int32_t rank = 0; rank < ranks; rank++) {
        uint64_t ns = (uint64_t)rank + 1;
        const gnomon_cell cell = {gnomon_cell_of(ns), 0, 1};
        const gnomon_stats once = {sizeof once, 0, 1, ns, ns, ns, ns, &cell, 1};
        uint32_t run = gnomon_add_run(
            b, &(gnomon_run_info){.rank = rank, .world_size = ranks});
        uint32_t stage = gnomon_add_stage(
            b, &(gnomon_stage_info){.run = run, .name = "fit"});
        uint32_t track =
            gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
        gnomon_add_node(
            b, &(gnomon_node_info){
                   .track = track, .stage = stage, .region = 1, .host = &once});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* Once a lost thread's paths went to the first rank. */
TEST(lost_parts_of_a_rank_are_given_to_no_other)
{
    static const char *const kinds[] = {"TRCK", "STAG"};
    for (int k = 0; k < 2; k++)
        for (int n = 1; n <= 5; n++) {
            bytes b = file_of_ranks(5);
            gnomon_node_info node;
            gnomon_track_info track;
            b.at[nth_section(&b, kinds[k], n) + 9] ^= 4; /* of its header */
            gnomon_profile *p = read_back(&b);
            CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 5);
            for (uint32_t i = 1; i <= 5; i++) {
                gnomon_profile_node(p, i, &node);
                gnomon_profile_track(p, node.track, &track);
                CHECK_EQ(track.run, i);
            }
            gnomon_profile_free(p);
            free(b.at);
        }
}

/* ---- Messages ------------------------------------------------------------ */

static void save_bytes(const bytes *b, const char *path)
{
    child_folder();
    FILE *to = fopen(path, "wb");
    CHECK_EQ(fwrite(b->at, 1, b->size, to), b->size);
    CHECK_EQ(fclose(to), 0);
}

/* The checksums are right, but a text, a block and a parent do not exist. */
TEST(references_that_lead_nowhere_are_named)
{
    enum { NODE_PARENT = 12, NODE_HOST = 40, REGION_NAME = 4 };
    NEEDS_PROGRAM;
    bytes b = file_of_ranks(2);
    forge_inside(&b, find_section(&b, "REGN"), REGION_NAME, 77777);
    forge_inside(&b, nth_section(&b, "NODE", 2), NODE_HOST, 88888);
    gnomon_profile *p = read_back(&b);
    CHECK_EQ(loss_of(p, "leads nowhere: name of region 1"), 1);
    CHECK_EQ(loss_of(p, "leads nowhere: host of node 2"), 1);
    gnomon_profile_free(p);
    save_bytes(&b, "a.gnomon");
    child_result r = shell("$G report a.gnomon");
    CHECK_EQ(r.status, 2);
    CHECK_EQ(times_in(r.err,
                      "gnomon: a.gnomon: damaged: leads nowhere: name of "
                      "region 1: 1\n"),
             1);
    CHECK_EQ(times_in(r.err, "leads nowhere: host of node 2: 1\n"), 1);
    forge_inside(&b, find_section(&b, "NODE"), NODE_PARENT, 99);
    b.size = find_section(&b, "END ");
    p = read_back(&b);
    CHECK_EQ(loss_of(p, "leads nowhere: parent 99 of node 1"), 1);
    gnomon_profile_free(p);
    free(b.at);
}

TEST(damage_is_exit_2_and_gates_refuse_it)
{
    NEEDS_PROGRAM;
    bytes b = file_of_ranks(3);
    save_bytes(&b, "sound.gnomon");
    b.at[nth_section(&b, "NODE", 2) + GNOMON__SECTION_HEADER] ^= 1;
    save_bytes(&b, "damaged.gnomon");
    free(b.at);
    static const char *const commands[] = {"report",
                                           "report --as steps",
                                           "info",
                                           "info sound.gnomon",
                                           "report sound.gnomon",
                                           "cat",
                                           "merge -o m.gnomon",
                                           "diff sound.gnomon"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        child_result r = shell("$G %s damaged.gnomon", commands[i]);
        if (!CHECK_EQ(r.status, 2) ||
            !CHECK(strstr(r.err, "damaged: ") || strstr(r.out, "damaged: ")))
            fprintf(stderr, "    %s: %s%s\n", commands[i], r.out, r.err);
    }
    child_result r = shell("$G report m.gnomon"); /* it stays known */
    CHECK_EQ(r.status, 2);
    r = shell("$G diff sound.gnomon damaged.gnomon --gate 'step mean +5%%'");
    CHECK_EQ(r.status, 2);
    CHECK(strstr(r.err, "gates are refused: not all of both sides could be "
                        "read\n"));
    CHECK(!strstr(r.out, "gate holds"));
    r = shell("$G diff sound.gnomon sound.gnomon --gate 'step mean +5%%'");
    CHECK_EQ(r.status, 0);
}

/* The shared sections are read with each part. */
TEST(damage_of_what_runs_share_is_reported_once)
{
    NEEDS_PROGRAM;
    bytes b = file_of_ranks(6);
    b.at[find_section(&b, "REGN") + GNOMON__SECTION_HEADER] ^= 1;
    save_bytes(&b, "a.gnomon");
    free(b.at);
    child_result r = shell("$G report a.gnomon");
    CHECK_EQ(r.status, 2);
    CHECK_EQ(times_in(r.err, "damaged: unreadable: regions: 1\n"), 1);
    CHECK_EQ(times_in(r.err, "damaged: unreadable: bytes: 64\n"), 1);
}
