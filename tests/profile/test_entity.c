/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows that describe a profile's structs (src/profile/entity.c) leave no field
 * out, and each field is kept by building, both forms and merging.
 * links: testing
 * threads: none
 * needs: cli */
#include "json_form.h"
#include "merging.h"
#include "full_profile.h"

#include "profile/fields.h"

/* ---- The rows ---------------------------------------------------------------- */

/* Padding in structs, besides struct_size. */
static const struct {
    int number;
    size_t at;
} reserved[] = {
    {GNOMON__STATS, offsetof(gnomon_stats, reserved)},
    {GNOMON__WORK, offsetof(gnomon_work_stats, reserved)},
    {GNOMON__ATTRIBUTE, offsetof(gnomon_attribute, reserved)},
    {GNOMON__ANCHOR, offsetof(gnomon_clock_anchor, reserved)},
    {GNOMON_STAGES, offsetof(gnomon_stage_info, reserved)},
    {GNOMON_STEPS, offsetof(gnomon_step_info, reserved)},
    {GNOMON_STEP_TIMES, offsetof(gnomon_step_time_info, reserved)},
    {GNOMON_VIEW_TIMES, offsetof(gnomon_view_time_info, reserved)},
    {GNOMON_VIEWS, offsetof(gnomon_view_info, reserved)},
    {GNOMON__SLOW, offsetof(gnomon_slow_step, reserved)},
    {GNOMON_REGIONS, offsetof(gnomon_region_info, reserved)},
    {GNOMON_NODES, offsetof(gnomon_node_info, reserved)},
    {GNOMON_EVENTS, offsetof(gnomon_event_info, reserved)},
    {GNOMON_OPENS, offsetof(gnomon_open_info, reserved)},
    {GNOMON_LOSSES, offsetof(gnomon_loss_info, reserved)},
};

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
            cover(map, f->at, gnomon__field_size(f));
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

/* What the other checks rely on. */
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
                  f->at + gnomon__field_size(f) <= s->first_size);
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
            CHECK(gnomon__next_number(&gnomon__structs[gnomon__file_order[i]],
                                      NULL)
                      ->of < GNOMON__ENTITIES);
    }
    CHECK_EQ(in_file, (1 << GNOMON__ENTITIES) - 1);
    CHECK_EQ(in_json, in_file);
}

/* ---- A value in every field --------------------------------------------------- */

static char has_value[GNOMON__STRUCTS][64]; /* by struct and field */

/* Notes which fields of a struct, and of all that it points to, have a
 * value. */
static void note_values(int number, const void *of)
{
    const gnomon__struct *s = &gnomon__structs[number];
    static const char zeroes[8];
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        const char *at = (const char *)of + f->at;
        has_value[number][i] |= memcmp(at, zeroes, gnomon__field_size(f)) != 0;
        for (size_t k = 0;
             f->type == GNOMON__TYPE_STRUCT || f->type == GNOMON__TYPE_STRUCTS;
             k++) {
            if (k == gnomon__field_count(f, of))
                break;
            note_values(f->of,
                        gnomon__struct_at(gnomon__field_pointer(f, of), k));
        }
    }
}

static void note_profile(const gnomon_profile *p)
{
    memset(has_value, 0, sizeof has_value);
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        for (size_t i = 1; i <= gnomon_profile_count(p, k); i++) {
            gnomon__any item = {.struct_size = sizeof item};
            p->api->get(p, k, i, &item);
            note_values(k, &item);
        }
}

/* Gives each field without a value one that no other field has. */
static void fill(gnomon__model *m, int number, void *of, uint32_t *next)
{
    const gnomon__struct *s = &gnomon__structs[number];
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        const char *text;
        char word[24];
        uint32_t small = ++*next;
        uint64_t large = (uint64_t)small << 32 | small;
        double real = small + 0.25;
        if (f->type == GNOMON__TYPE_STRUCT || f->type == GNOMON__TYPE_STRUCTS) {
            char *list = (char *)(size_t)gnomon__field_pointer(f, of);
            for (size_t k = 0; k < gnomon__field_count(f, of); k++)
                fill(m, f->of, list + k * gnomon__structs[f->of].size, next);
        }
        if (has_value[number][i] || f->type >= GNOMON__TYPE_STRUCT ||
            f->type == GNOMON__TYPE_NUMBER)
            continue;
        snprintf(word, sizeof word, "%u", (unsigned)small); /* JSON, too */
        text = gnomon__model_text(m, word);
        gnomon__field_set(f, of,
                          f->type >= GNOMON__TYPE_TEXT     ? (const void *)&text
                          : f->type == GNOMON__TYPE_DOUBLE ? (const void *)&real
                          : f->type >= GNOMON__TYPE_U64 ? (const void *)&large
                                                        : &small,
                          gnomon__field_size(f));
    }
}

/* Two ranks, with a value in every field of some entity. */
static gnomon_profile *filled(void)
{
    gnomon_profile *p = full_of("01");
    gnomon__model *m = gnomon__model_create();
    gnomon__copier copier = {.m = m, .text = gnomon__copy_text};
    uint32_t next = 1000;
    note_profile(p);
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        for (size_t i = 1; i <= gnomon_profile_count(p, k); i++) {
            gnomon__any item = {.struct_size = sizeof item};
            void *to = gnomon__model_add(m, k);
            p->api->get(p, k, i, &item);
            gnomon__struct_take(&gnomon__structs[k], to, &item, sizeof item);
            CHECK(gnomon__copy_inside(&copier, &gnomon__structs[k], to));
            fill(m, k, to, &next);
        }
    gnomon_profile_free(p);
    if (!CHECK_EQ(gnomon_profile_check(&m->base), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    return &m->base;
}

static void check_values(const gnomon_profile *p, const char *where)
{
    note_profile(p);
    for (int k = 0; k < GNOMON__STRUCTS; k++)
        for (unsigned i = 0; i < gnomon__structs[k].field_count; i++)
            if (!CHECK(has_value[k][i]))
                fprintf(stderr, "    %s: %s has no %s\n", where,
                        gnomon__structs[k].one,
                        gnomon__structs[k].fields[i].name);
}

/* ---- What survives -------------------------------------------------------------- */

static int same_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Compares bytes; numbers of entities only if `numbers`. */
static int same_struct(int number, const void *a, const void *b, int numbers)
{
    const gnomon__struct *s = &gnomon__structs[number];
    int same = 1;
    for (unsigned i = 0; same && i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        if (f->type == GNOMON__TYPE_NUMBER && !numbers)
            continue;
        if (f->type < GNOMON__TYPE_TEXT) {
            same = memcmp((const char *)a + f->at, (const char *)b + f->at,
                          gnomon__field_size(f)) == 0;
            continue;
        }
        const char *x = gnomon__field_pointer(f, a);
        const char *y = gnomon__field_pointer(f, b);
        if (f->type < GNOMON__TYPE_STRUCT) {
            same = same_texts(x, y);
            continue;
        }
        size_t n = gnomon__field_count(f, a);
        same = n == gnomon__field_count(f, b) && !x == !y;
        for (size_t k = 0; same && k < n; k++)
            same = f->type == GNOMON__TYPE_CELLS
                       ? memcmp(x + 16 * k, y + 16 * k, 16) == 0
                   : f->type >= GNOMON__TYPE_DIMS
                       ? memcmp(x + 8 * k, y + 8 * k, 8) == 0
                       : same_struct(f->of, gnomon__struct_at(x, k),
                                     gnomon__struct_at(y, k), numbers);
    }
    return same;
}

/* Each entity of `p` is in `q`: under its number, or anywhere. */
static void check_same(const gnomon_profile *p, const gnomon_profile *q,
                       int in_order, const char *where)
{
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        size_t n = gnomon_profile_count(p, k);
        CHECK_EQ(gnomon_profile_count(q, k), n);
        for (size_t i = 1; i <= n; i++) {
            gnomon__any a = {.struct_size = sizeof a};
            gnomon__any b = {.struct_size = sizeof b};
            int found = 0;
            p->api->get(p, k, i, &a);
            for (size_t at = in_order ? i : 1;
                 !found && at <= (in_order ? i : n); at++) {
                b.struct_size = sizeof b;
                q->api->get(q, k, at, &b);
                found = same_struct(k, &a, &b, in_order);
            }
            if (!CHECK(found))
                fprintf(stderr, "    %s: %s %zu is another\n", where,
                        gnomon__structs[k].one, i);
        }
    }
    check_values(q, where);
}

static gnomon_profile *built(const gnomon_profile *p)
{
    gnomon_builder *b;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    for (int o = 0; o < GNOMON__ENTITIES; o++) {
        int k = gnomon__file_order[o];
        for (size_t i = 1; i <= gnomon_profile_count(p, k); i++) {
            gnomon__any item = {.struct_size = gnomon__structs[k].size};
            p->api->get(p, k, i, &item);
            CHECK_EQ(gnomon_builder_add(b, k, &item), i);
        }
    }
    return full_finish(b);
}

TEST(every_field_survives)
{
    gnomon_profile *p = filled(), *q = built(p);
    check_same(p, q, 1, "built");
    gnomon_profile_free(p);
    bytes file = bytes_of(q, "gnomon");
    CHECK_EQ(gnomon_profile_read(&p, file.at, file.size), GNOMON_OK);
    check_same(q, p, 1, "file");
    gnomon_profile_free(p);
    bytes one = merged(&file, 1);
    CHECK_EQ(gnomon_profile_read(&p, one.at, one.size), GNOMON_OK);
    check_same(q, p, 0, "merged alone");
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(file.at);
    free(one.at);
}

TEST(every_field_survives_json)
{
    NEEDS_JANSSON();
    gnomon_profile *p = filled();
    char *text = json_of(p);
    gnomon_profile *q = profile_of_json(text);
    CHECK_STR(gnomon_error_text(), "");
    check_same(p, q, 1, "JSON");
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(text);
}
