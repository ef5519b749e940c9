/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows that describe a profile's structs (src/profile/entity.c) leave nothing
 * out.
 * links: testing */
#include "test.h"

#include "profile/fields.h"
#include "profile/layout.h"

/* ---- The rows ---------------------------------------------------------------- */

/* Room in structs that holds nothing, beside struct_size. */
static const struct {
    int number;
    size_t at;
} reserved[] = {
    {GNOMON__STATS, offsetof(gnomon_stats, reserved)},
    {GNOMON__WORK, offsetof(gnomon_work_stats, reserved)},
    {GNOMON__ATTRIBUTE, offsetof(gnomon_attribute, reserved)},
    {GNOMON_STEPS, offsetof(gnomon_step_info, reserved)},
    {GNOMON_VIEWS, offsetof(gnomon_view_info, reserved)},
    {GNOMON_REGIONS, offsetof(gnomon_region_info, reserved)},
    {GNOMON_NODES, offsetof(gnomon_node_info, reserved)},
    {GNOMON_EVENTS, offsetof(gnomon_event_info, reserved)},
    {GNOMON_OPENS, offsetof(gnomon_open_info, reserved)},
    {GNOMON_LOSSES, offsetof(gnomon_loss_info, reserved)},
};

static size_t field_size(const gnomon__field *f)
{
    return f->type < GNOMON__TYPE_U64 ? 4 : 8;
}

static void cover(char *map, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(map[at + i]++, 0);
}

/* Each byte is of one field. */
TEST(no_field_of_any_struct_is_left_out)
{
    for (int k = 0; k < GNOMON__STRUCTS; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        char map[256] = {0};
        cover(map, 0, sizeof(uint32_t)); /* struct_size */
        for (unsigned i = 0; i < s->field_count; i++) {
            const gnomon__field *f = &s->fields[i];
            cover(map, f->at, field_size(f));
            if (f->type == GNOMON__TYPE_STRUCTS ||
                f->type == GNOMON__TYPE_CELLS)
                cover(map, f->count_at, sizeof(size_t));
            if (f->type == GNOMON__TYPE_DIMS)
                cover(map, f->count_at, sizeof(uint32_t));
        }
        for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
            if (reserved[i].number == k)
                cover(map, reserved[i].at, sizeof(uint32_t));
        const char *hole = memchr(map, 0, s->size);
        if (!CHECK(hole == NULL))
            fprintf(stderr, "    %s has no field at %d\n", s->many,
                    (int)(hole - map));
        CHECK(!memchr(map + s->size, 1, sizeof map - s->size));
        CHECK(s->size <= sizeof(gnomon__any));
    }
}

/* What the rest goes by, without looking. */
TEST(rows_keep_their_promises)
{
    int in_file = 0, in_json = 0;
    for (int k = 0; k < GNOMON__STRUCTS; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        CHECK_EQ(strlen(s->kind), k < GNOMON__ENTITIES ? 4 : 0);
        CHECK(s->first_count && s->first_count <= s->field_count);
        CHECK(s->first_size <= s->size && s->size % 8 == 0);
        for (unsigned i = 0; i < s->field_count; i++) {
            const gnomon__field *f = &s->fields[i];
            unsigned merged = f->rules & GNOMON__MERGED;
            CHECK((merged & (merged - 1)) == 0);
            CHECK(!merged || !(f->rules & GNOMON__KEY));
            CHECK(i >= s->first_count ||
                  f->at + field_size(f) <= s->first_size);
            if (f->type == GNOMON__TYPE_STRUCT ||
                f->type == GNOMON__TYPE_STRUCTS)
                CHECK(f->of >= GNOMON__ENTITIES && f->of < GNOMON__STRUCTS);
            for (unsigned other = 0; other < i; other++)
                CHECK(strcmp(f->name, s->fields[other].name) != 0);
        }
    }
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        in_file |= 1 << gnomon__file_order[i];
        in_json |= 1 << gnomon__json_order[i];
        CHECK_EQ(gnomon__is_shared(gnomon__file_order[i]), i < GNOMON__SHARED);
        if (i >= GNOMON__SHARED && gnomon__file_order[i] != GNOMON_RUNS)
            CHECK(gnomon__first_number(&gnomon__structs[gnomon__file_order[i]])
                      ->of < GNOMON__ENTITIES);
    }
    CHECK_EQ(in_file, (1 << GNOMON__ENTITIES) - 1);
    CHECK_EQ(in_json, in_file);
}
