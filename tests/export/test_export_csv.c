/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cells of csv: which are in quotes, and what is escaped in them.
 * links: testing
 * needs: exports */
#include "profile_bytes.h"

#include "export/export.h"

/* A name, its cell, and its path's. */
static const struct csv_cells {
    const char *name, *cells;
} names[] = {
    {"forward", ",forward,,\"forward\","},
    {"a b.c:d[e]", ",a b.c:d[e],,\"a b.c:d[e]\","},
    {"a,b", ",\"a,b\",,\"a,b\","},
    {",", ",\",\",,\",\","},
    {"say \"x\"", ",\"say \"\"x\"\"\",,\"say \"\"x\"\"\","},
    {"a/b", ",a/b,,\"a\\/b\","},
    {"a\\b", ",a\\b,,\"a\\\\b\","},
    {"a/b,c", ",\"a/b,c\",,\"a\\/b,c\","},
    {"two\nlines", ",\"two\nlines\",,\"two\nlines\","},
    {"return\r", ",\"return\r\",,\"return\r\","},
    {"tab\there", ",tab\there,,\"tab\there\","},
    {"\x7f", ",\x7f,,\"\x7f\","},
    {"caf\xc3\xa9", ",caf\xc3\xa9,,\"caf\xc3\xa9\","},
    {"\xc3\xa9,", ",\"\xc3\xa9,\",,\"\xc3\xa9,\","},
    {"\xf0\x9f\x90\x9b/", ",\xf0\x9f\x90\x9b/,,\"\xf0\x9f\x90\x9b\\/\","},
};

static gnomon_profile *scope_of(const char *name)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(b, &(gnomon_run_info){.rank = 0, .uuid = "u"});
    gnomon_add_region(b, &(gnomon_region_info){.name = name});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1, .device = -1});
    gnomon_add_node(b, &(gnomon_node_info){.track = 1, .region = 1});
    gnomon_add_event(b, &(gnomon_event_info){.track = 1, .node = 1});
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    return p;
}

TEST(cells_of_names)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        gnomon_profile *p = scope_of(names[i].name);
        const gnomon_profile *const one = p;
        const gnomon__export what = {.profiles = &one, .count = 1};
        bytes b = {NULL, 0, 0};
        const gnomon_writer w = {
            .struct_size = sizeof w, .write = bytes_write, .context = &b};
        CHECK_EQ(gnomon__export_csv.write(&what, &w), GNOMON_OK);
        const char *row = strstr(b.at, ",execution,");
        if (CHECK(row != NULL)) {
            row += strlen(",execution");
            CHECK(strncmp(row, names[i].cells, strlen(names[i].cells)) == 0);
        }
        gnomon_profile_free(p);
        free(b.at);
    }
}
