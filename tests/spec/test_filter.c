/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "test.h"

#include <stdlib.h>

#include "gnomon.h"
#include "platform/memory.h"
#include "spec/filter.h"

static int glob(const char *pattern, const char *text)
{
    return gnomon__glob(pattern, strlen(pattern), text);
}

TEST(globs)
{
    CHECK(glob("", ""));
    CHECK(!glob("", "a"));
    CHECK(glob("*", ""));
    CHECK(glob("***", "abc"));
    CHECK(!glob("?", ""));
    CHECK(glob("?", "a"));
    CHECK(!glob("?", "ab"));
    CHECK(glob("opt*", "optimizer_step"));
    CHECK(!glob("opt*", "an optimizer"));
    CHECK(glob("*step", "optimizer_step"));
    CHECK(glob("*step", "step step"));
    CHECK(!glob("*step", "steps"));
    CHECK(glob("a*b*c", "aXbYc"));
    CHECK(glob("a*b*c", "abcbc"));
    CHECK(!glob("a*b*c", "acb"));
    CHECK(glob("*ab?", "abaabx"));
    CHECK(glob("a?c", "abc"));
    CHECK(!glob("a?c", "ac"));
    CHECK(!glob("ABC", "abc"));
}

/* Only * and ? are special: other characters match themselves. */
TEST(lightning_names_are_plain)
{
    const char *module = "[LightningModule]M.training_step";
    const char *callback = "[Callback]ModelCheckpoint{'monitor': None, "
                           "'mode': 'min'}.setup";
    CHECK(glob(module, module));
    CHECK(!glob("[LightningModule]M.x", "LM.x"));
    CHECK(!glob("[LightningModule]M.x", "LightM.x"));
    CHECK(glob("[Callback]ModelCheckpoint{'monitor': None*", callback));
    CHECK(glob("[*].setup", "[x].setup"));
    CHECK(glob("\\d+", "\\d+"));
    CHECK(!glob("\\*", "*"));
}

TEST(a_question_mark_is_a_code_point)
{
    const char *euro = "\xE2\x82\xAC";
    CHECK(glob("?", euro));
    CHECK(!glob("??", euro));
    CHECK(!glob("*??", euro));
    CHECK(!glob("*??cd", "\xE2\x82\xAC"
                         "cd")); /* nor when tried again */
    CHECK(glob("*?", euro));
    CHECK(glob("a?b", "a\xF0\x9F\x98\x80"
                      "b"));
    CHECK(!glob("*???", "a\xE2\x82\xAC"));
    CHECK(glob("?", "\xFF")); /* not UTF-8: one replacement */
}

/* The plain recursion, on every short text and pattern of three letters. */
static int slow_glob(const char *p, const char *t)
{
    if (*p == '\0')
        return *t == '\0';
    if (*p == '*')
        return slow_glob(p + 1, t) || (*t && slow_glob(p, t + 1));
    return *t && (*p == '?' || *p == *t) && slow_glob(p + 1, t + 1);
}

static void spell(char *out, unsigned n, const char *letters, unsigned base)
{
    for (; n > 0; n = (n - 1) / base)
        *out++ = letters[(n - 1) % base];
    *out = '\0';
}

TEST(globs_as_the_definition)
{
    unsigned p, t, wrong = 0;
    for (p = 0; p < 1365; p++)      /* up to 5 of 4 letters */
        for (t = 0; t < 127; t++) { /* up to 6 of 2 */
            char pattern[8], text[8];
            spell(pattern, p, "ab*?", 4);
            spell(text, t, "ab", 2);
            wrong += glob(pattern, text) != slow_glob(pattern, text);
        }
    CHECK_EQ(wrong, 0);
}

/* Exponential matchers never come back from this. */
TEST(no_blow_up)
{
    char pattern[201], *text = malloc(20001);
    int i;
    memset(text, 'a', 20000);
    text[20000] = '\0';
    for (i = 0; i < 200; i += 2)
        memcpy(pattern + i, "a*", 2);
    pattern[200] = '\0';
    CHECK(glob(pattern, text));
    pattern[199] = 'b';
    CHECK(!glob(pattern, text));
    free(text);
}

static int takes(const char *include, const char *exclude, const char *name,
                 const char *category)
{
    gnomon__filter *filter;
    int result;
    CHECK_EQ(gnomon__filter_create(&filter, include, exclude), GNOMON_OK);
    result = gnomon__filter_takes(filter, name, category);
    gnomon__filter_destroy(filter);
    return result;
}

TEST(include_and_exclude)
{
    CHECK(takes(NULL, NULL, "a", NULL));
    CHECK(takes("", " | ", "a", NULL));
    CHECK(takes("a|b", NULL, "b", NULL));
    CHECK(!takes("a|b", NULL, "c", NULL));
    CHECK(!takes(NULL, "a*", "ab", NULL));
    CHECK(takes(NULL, "a*", "ba", NULL));
    CHECK(!takes("a*", "*b", "ab", NULL));
    CHECK(takes("a*", "*b", "abc", NULL));
    CHECK(takes(" opt* | \t[Callback]* ", NULL, "[Callback]X", NULL));
    CHECK(takes("a b", NULL, "a b", NULL));
    CHECK(!takes("a", NULL, "", NULL));
}

TEST(categories)
{
    CHECK(takes("@io", NULL, "read", "io"));
    CHECK(!takes("@io", NULL, "io", "net"));
    CHECK(!takes("@io", NULL, "@io", NULL));
    CHECK(!takes("@?*", NULL, "x", NULL));
    CHECK(!takes("@?*", NULL, "x", ""));
    CHECK(takes("@*", NULL, "x", NULL));
    CHECK(takes("step|@io", NULL, "step", "net"));
    CHECK(!takes("*", "@i?", "read", "io"));
    CHECK(takes("?x", NULL, "@x", NULL));
}

TEST(equality)
{
    gnomon__filter *a, *b, *c;
    CHECK_EQ(gnomon__filter_create(&a, "x|y", "z"), GNOMON_OK);
    CHECK_EQ(gnomon__filter_create(&b, " x || y ", "z|"), GNOMON_OK);
    CHECK_EQ(gnomon__filter_create(&c, "x", "y|z"), GNOMON_OK);
    CHECK(gnomon__filter_equal(a, b));
    CHECK(!gnomon__filter_equal(a, c));
    CHECK(!gnomon__filter_equal(a, NULL));
    CHECK(gnomon__filter_equal(NULL, NULL));
    gnomon__filter_destroy(a);
    gnomon__filter_destroy(b);
    CHECK_EQ(gnomon__filter_create(&a, "@x", NULL), GNOMON_OK);
    CHECK_EQ(gnomon__filter_create(&b, "x", NULL), GNOMON_OK);
    CHECK(!gnomon__filter_equal(a, b));
    gnomon__filter_destroy(a);
    gnomon__filter_destroy(b);
    gnomon__filter_destroy(c);
}

TEST(matching_does_not_allocate)
{
    gnomon__filter *filter;
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon__filter_create(&filter, "a", NULL), GNOMON_ENOMEM);
    CHECK(filter == NULL);
    CHECK_EQ(gnomon__filter_create(&filter, "*a*|@b", "c?"), GNOMON_OK);
    gnomon__test_fail_allocation(0);
    CHECK(gnomon__filter_takes(filter, "xax", "b"));
    CHECK_EQ(gnomon__test_allocations(), 0);
    gnomon__filter_destroy(filter);
}
