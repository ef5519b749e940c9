/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/file-format.md lists the fields that .gnomon files have.
 * links: testing
 * threads: none */
#include "test.h"

#include "profile/entity.h"

static char page[1 << 18];

static int read_page(void)
{
    FILE *f = fopen(TEST_SOURCE_DIR "/../docs/file-format.md", "r");
    if (!CHECK(f != NULL))
        return 0;
    page[fread(page, 1, sizeof page - 1, f)] = 0;
    fclose(f);
    return 1;
}

/* A field in the words of the page. */
static void put_field(char *to, size_t size, const gnomon__field *f)
{
    static const char *const types[] = {
        [GNOMON__TYPE_U32] = "u32 ",   [GNOMON__TYPE_I32] = "i32 ",
        [GNOMON__TYPE_TRUTH] = "i32 ", [GNOMON__TYPE_WORD] = "u32 ",
        [GNOMON__TYPE_FLAGS] = "u32 ", [GNOMON__TYPE_U64] = "u64 ",
        [GNOMON__TYPE_I64] = "i64 ",   [GNOMON__TYPE_DOUBLE] = "f64 ",
        [GNOMON__TYPE_TEXT] = "text ", [GNOMON__TYPE_MAYBE] = "text ",
        [GNOMON__TYPE_JSON] = "text ", [GNOMON__TYPE_CELLS] = "",
        [GNOMON__TYPE_DIMS] = "",      [GNOMON__TYPE_STRIDES] = "",
        [GNOMON__TYPE_STRUCTS] = "",
    };
    char kind[8] = "";
    if (f->type == GNOMON__TYPE_STRUCT) {
        const char *one = gnomon__structs[f->of].one;
        snprintf(to, size, "%s%s%s", strcmp(one, f->name) ? one : "",
                 strcmp(one, f->name) ? " " : "", f->name);
        return;
    }
    if (f->type == GNOMON__TYPE_NUMBER && f->of < GNOMON__ENTITIES)
        snprintf(kind, sizeof kind, "#%.4s", gnomon__structs[f->of].kind);
    kind[strcspn(kind, " ")] = 0;
    if (f->type == GNOMON__TYPE_NUMBER)
        snprintf(to, size, "%s %s", *kind ? kind : "#REGN or #TRCK", f->name);
    else
        snprintf(to, size, "%s%s", types[f->type], f->name);
}

TEST(the_page_lists_the_fields_of_every_record)
{
    if (!read_page())
        return;
    for (int k = 0; k < GNOMON__STRUCTS; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        char row[512], field[64];
        int is_entity = k < GNOMON__ENTITIES;
        size_t n = (size_t)snprintf(row, sizeof row,
                                    is_entity ? "| `%s` | %s | " : "| %s%s | ",
                                    s->kind, is_entity ? s->one : s->many);
        for (unsigned i = 0; i < s->field_count; i++) {
            put_field(field, sizeof field, &s->fields[i]);
            n += (size_t)snprintf(row + n, sizeof row - n, "%s%s",
                                  i ? ", " : "", field);
        }
        snprintf(row + n, sizeof row - n, " |\n");
        if (!CHECK(strstr(page, row) != NULL))
            fprintf(stderr, "%s", row);
    }
}
