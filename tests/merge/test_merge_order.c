/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Merging files that differ: whatever they differ in, any order gives the same
 * bytes.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include <math.h>

#include "file_edit.h"
#include "merging.h"
#include "full_profile.h"

#include "profile/fields.h"

static gnomon_builder *new_builder(void)
{
    gnomon_builder *b = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    return b;
}

static bytes file_of(gnomon_builder *b)
{
    gnomon_profile *p = full_finish(b);
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* Three files in all their orders give the same. */
static void check_three(bytes *of, const char *what, const char *field)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    bytes first = {NULL, 0, 0};
    for (int i = 0; i < 6; i++) {
        bytes turned[3];
        for (int k = 0; k < 3; k++)
            turned[k] = of[orders[i][k]];
        bytes now = merged(turned, 3);
        if (i && !CHECK(bytes_equal(&now, &first)))
            fprintf(stderr, "    order %d, %s %s\n", i, what, field);
        free(i ? now.at : NULL);
        first = i ? first : now;
    }
    free(first.at);
}

/* ... and in both groupings. */
static void check_groups(bytes *of, const char *what, const char *field)
{
    bytes left[] = {merged(of, 2), of[2]}, right[] = {of[0], merged(of + 1, 2)};
    bytes one = merged(left, 2), other = merged(right, 2);
    if (!CHECK(bytes_equal(&one, &other)))
        fprintf(stderr, "    groups, %s %s\n", what, field);
    free(left[0].at);
    free(right[1].at);
    free(one.at);
    free(other.at);
}

/* ---- Any field ------------------------------------------------------------------- */

typedef struct change {
    int entity; /* its first one */
    unsigned row;
    int inner; /* row of the struct that the row leads to; -1: the row itself */
    uint64_t by;
} change;

static void change_field(const gnomon__field *f, void *of, uint64_t by)
{
    const char *text = f->type == GNOMON__TYPE_JSON ? by == 1 ? "7" : "[]"
                       : by == 1                    ? "!"
                                                    : "~";
    uint64_t wide;
    uint32_t narrow;
    if (f->type >= GNOMON__TYPE_TEXT) {
        gnomon__field_set(f, of, &text, sizeof text);
    } else if (f->type >= GNOMON__TYPE_U64) {
        wide = gnomon__field_64(f, of) + by;
        gnomon__field_set(f, of, &wide, sizeof wide);
    } else {
        narrow = gnomon__field_32(f, of) + (uint32_t)by;
        gnomon__field_set(f, of, &narrow, sizeof narrow);
    }
}

static void apply_change(const change *c, void *of, gnomon__any *room)
{
    const gnomon__field *f = &gnomon__structs[c->entity].fields[c->row];
    if (c->inner < 0) {
        change_field(f, of, c->by);
        return;
    }
    const gnomon__struct *inside = &gnomon__structs[f->of];
    const void *from = gnomon__field_pointer(f, of);
    memcpy(room, from, inside->size);
    gnomon__field_set(f, of, &room, sizeof room);
    if (f->type == GNOMON__TYPE_STRUCTS)
        gnomon__field_count_set(f, of, 1);
    change_field(&inside->fields[c->inner], room, c->by);
}

/* The changed profile as a file; none where it is invalid. */
static bytes changed(const gnomon_profile *from, int with_uuid, const change *c)
{
    gnomon_builder *b = new_builder();
    gnomon_profile *p;
    gnomon__any item, room;
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        int kind = gnomon__file_order[k];
        item.struct_size = gnomon__structs[kind].size;
        for (size_t i = 1; !from->api->get(from, kind, i, &item); i++) {
            if (kind == GNOMON_RUNS && !with_uuid)
                item.run.uuid = NULL;
            if (c && kind == c->entity && i == 1)
                apply_change(c, &item, &room);
            gnomon_builder_add(b, kind, &item);
            item.struct_size = gnomon__structs[kind].size;
        }
    }
    if (gnomon_builder_finish(b, &p) != GNOMON_OK)
        return (bytes){NULL, 0, 0};
    bytes file = bytes_of(p, "gnomon");
    gnomon_profile_free(p);
    return file;
}

/* Of two files that differ from the full profile in a field, one larger and
 * one smaller: how many are valid. */
static int check_change(const gnomon_profile *p, int with_uuid, change c,
                        const gnomon__field *f)
{
    bytes whole = changed(p, with_uuid, NULL), of[] = {whole, whole, whole};
    int sound = 0;
    for (int i = 1; i < 3; i++) {
        c.by = i == 1 ? 1 : UINT64_MAX;
        bytes other = changed(p, with_uuid, &c);
        of[i] = other.at ? other : whole;
        sound += other.at != NULL;
    }
    if (sound) {
        check_three(of, gnomon__structs[c.entity].one, f->name);
        check_groups(of, gnomon__structs[c.entity].one, f->name);
    }
    for (int i = 1; i < 3; i++)
        free(of[i].at == whole.at ? NULL : of[i].at);
    free(whole.at);
    return sound;
}

/* A field without a rule of merging keeps the first value, so a field added
 * to a struct fails here. */
static void check_each_field(int with_uuid)
{
    gnomon_profile *p = full_of("01");
    int sound = 0;
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        gnomon__any first = {.struct_size = s->size};
        if (!CHECK_EQ(p->api->get(p, k, 1, &first), GNOMON_OK))
            continue;
        for (unsigned row = 0; row < s->field_count; row++) {
            const gnomon__field *f = &s->fields[row];
            change c = {k, row, -1, 0};
            if (f->type < GNOMON__TYPE_STRUCT)
                sound += check_change(p, with_uuid, c, f);
            if ((f->type != GNOMON__TYPE_STRUCT &&
                 f->type != GNOMON__TYPE_STRUCTS) ||
                !gnomon__field_count(f, &first))
                continue;
            const gnomon__struct *in = &gnomon__structs[f->of];
            for (unsigned i = 0; i < in->field_count; i++) {
                c.inner = (int)i;
                if (in->fields[i].type < GNOMON__TYPE_STRUCT)
                    sound += check_change(p, with_uuid, c, &in->fields[i]);
            }
        }
    }
    gnomon_profile_free(p);
    CHECK(sound > 100);
}

TEST(readings_that_differ_in_any_one_field)
{
    check_each_field(1);
}

TEST(sums_of_what_differs_in_any_one_field)
{
    check_each_field(0);
}

/* ---- Tracks marked while they were read ------------------------------------------ */

/* The times of an inexact track need not add up. */
static bytes track_read(const char *uuid, int inexact)
{
    gnomon_cell cell;
    const gnomon_stats s = full_stats(&cell, 2, 50, inexact ? 70 : 100);
    gnomon_builder *b = new_builder();
    gnomon_add_run(b, &(gnomon_run_info){.rank = 1, .uuid = uuid});
    gnomon_add_track(
        b, &(gnomon_track_info){.run = 1, .name = "main", .inexact = inexact});
    gnomon_add_region(b, &(gnomon_region_info){.name = "r"});
    gnomon_add_node(b,
                    &(gnomon_node_info){.track = 1, .region = 1, .host = &s});
    return file_of(b);
}

/* If either is inexact, the merged one is, and is valid. */
TEST(exact_and_inexact_tracks)
{
    static const char *const lives[] = {NULL, "u"};
    for (int i = 0; i < 2; i++) {
        bytes exact = track_read(lives[i], 0),
              short_of = track_read(lives[i], 1);
        gnomon_profile *p = merged_both_ways(exact, short_of);
        gnomon_track_info t;
        CHECK_EQ(gnomon_profile_track(p, 1, &t), GNOMON_OK);
        CHECK_EQ(t.inexact, 1);
        gnomon_profile_free(p);
        free(exact.at);
        free(short_of.at);
    }
}

/* ---- Counters' sums --------------------------------------------------------------- */

/* One counter as often as there are sums, in a profile of no run. */
static bytes counter_sums(const double *sums, size_t count)
{
    gnomon_builder *b = new_builder();
    gnomon_add_track(b, &(gnomon_track_info){.name = "main"});
    gnomon_add_region(b, &(gnomon_region_info){.name = "loss"});
    for (size_t i = 0; i < count; i++)
        gnomon_add_counter(
            b, &(gnomon_counter_info){
                   .track = 1, .region = 1, .count = 1, .sum = sums[i]});
    return file_of(b);
}

/* The files have two sums, one and one. */
static void check_counter_sums(const double *sums, const char *what)
{
    bytes of[] = {counter_sums(sums, 2), counter_sums(sums + 2, 1),
                  counter_sums(sums + 3, 1)};
    check_three(of, "counter", what);
    for (int i = 0; i < 3; i++)
        free(of[i].at);
}

TEST(sums_that_are_rounded)
{
    static const double sums[] = {1, 1e16, -1e16, 1e-3};
    static const double in_file[] = {1e16, -1e16, 1, 3};
    check_counter_sums(sums, "apart");
    check_counter_sums(in_file, "together");
}

static double not_a_number(uint64_t payload)
{
    uint64_t bits = 0x7ff8000000000000u | payload;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Nor does the result depend on which NaN came first. */
TEST(sums_that_are_no_numbers)
{
    const double nans[] = {not_a_number(1), not_a_number(2), not_a_number(3),
                           not_a_number(4)};
    const double infinite[] = {HUGE_VAL, 1, -HUGE_VAL, not_a_number(5)};
    check_counter_sums(nans, "NaNs");
    check_counter_sums(infinite, "infinite");
}
