/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What docs/file-format.md says of JSON holds.
 *
 * links: testing
 * threads: none
 * needs: cli */
#include "json_form.h"
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

TEST(the_page_speaks_of_every_field_and_word)
{
    char quoted[64];
    if (!read_page())
        return;
    for (size_t k = 0; k < GNOMON__ENTITIES; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        snprintf(quoted, sizeof quoted, "| `%s` | type", s->many);
        char *from = strstr(page, quoted), *to;
        if (!CHECK(from != NULL) || !CHECK((to = strstr(from, "\n\n")) != NULL))
            return;
        *to = 0;
        for (size_t i = 0; i < s->field_count; i++) {
            const gnomon__field *f = &s->fields[i];
            int is_flags = f->type == GNOMON__TYPE_FLAGS;
            const char *const *words = is_flags || f->type == GNOMON__TYPE_WORD
                                           ? gnomon__words(f)
                                           : NULL;
            snprintf(quoted, sizeof quoted, "`%s`", f->name);
            if (!CHECK(strstr(from, quoted) != NULL))
                fprintf(stderr, "    %s.%s\n", s->many, f->name);
            for (uint32_t w = 0; words && words[w]; w++) {
                snprintf(quoted, sizeof quoted, "`%s` %d", words[w],
                         is_flags ? 1 << w : (int)w);
                if (!CHECK(strstr(from, quoted) != NULL))
                    fprintf(stderr, "    %s\n", quoted);
            }
        }
        *to = '\n';
    }
}

TEST(what_the_page_shows_is_read)
{
    NEEDS_JANSSON();
    int blocks = 0;
    char *end = page, *at;
    if (!read_page())
        return;
    while ((at = strstr(end, "\n```json\n")) != NULL) {
        at += 9;
        end = strstr(at, "\n```");
        if (!CHECK(end != NULL))
            return;
        *end++ = 0;
        gnomon_profile *p = profile_of_json(at);
        CHECK_STR(gnomon_error_text(), "");
        if (p)
            check_survives(p);
        blocks++;
    }
    CHECK(blocks > 0);
}
