/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "test.h"

#include "platform/utf8.h"
#include "print/letters.h"

#define REPLACED "\xEF\xBF\xBD"

/* What Python's bytes.decode("utf-8", "replace") makes of each. */
static const struct {
    const char *in, *out;
    size_t count; /* code points, replacements among them */
} cases[] = {
    {"", "", 0},
    {"plain", "plain", 5},
    {"\x7F\xC2\x80", "\x7F\xC2\x80", 2},
    {"\xDF\xBF\xE0\xA0\x80", "\xDF\xBF\xE0\xA0\x80", 2},
    {"\xED\x9F\xBF\xEE\x80\x80", "\xED\x9F\xBF\xEE\x80\x80", 2},
    {"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 2},
    {"a\x80z", "a" REPLACED "z", 3},
    {"\xC0\xAF", REPLACED REPLACED, 2}, /* overlong */
    {"\xE0\x80\xAF", REPLACED REPLACED REPLACED, 3},
    {"\xF0\x80\x80\xAF", REPLACED REPLACED REPLACED REPLACED, 4},
    {"\xED\xA0\x80", REPLACED REPLACED REPLACED, 3}, /* a surrogate */
    {"\xF4\x91\x92\x93\xFF"
     "A\x80"
     "B",
     REPLACED REPLACED REPLACED REPLACED REPLACED "A" REPLACED "B", 8},
    {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
     "A",
     REPLACED REPLACED REPLACED REPLACED "A", 5}, /* maximal subparts */
    {"\xC2", REPLACED, 1},
    {"\xE2\x82", REPLACED, 1},
    {"\xF0\x9F\x98", REPLACED, 1},
    {"\xE2\x82"
     "x",
     REPLACED "x", 2},
    {"\xF5\x80\xFE", REPLACED REPLACED REPLACED, 3},
};

TEST(cleans_as_python)
{
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64];
        size_t n = strlen(cases[i].in);
        int changed = -1, differs = strcmp(cases[i].in, cases[i].out) != 0;
        CHECK_EQ(gnomon__utf8_clean(cases[i].in, n, out, sizeof out, &changed),
                 strlen(cases[i].out));
        CHECK_STR(out, cases[i].out);
        CHECK_EQ(changed, differs);
        CHECK_EQ(gnomon__utf8_valid(cases[i].in, n), !differs);
        CHECK_EQ(gnomon__print_width(out, strlen(out)), cases[i].count);
    }
}

TEST(cuts_at_a_code_point)
{
    const char *text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"; /* 1 2 3 4 */
    static const size_t lengths[] = {0, 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    size_t capacity;
    for (capacity = 0; capacity < 13; capacity++) {
        char out[16] = "???????????????";
        int changed;
        CHECK_EQ(gnomon__utf8_clean(text, 10, out, capacity, &changed),
                 lengths[capacity]);
        CHECK_EQ(changed, lengths[capacity] < 10);
        CHECK(memcmp(out, text, lengths[capacity]) == 0);
        if (capacity > 0)
            CHECK_EQ(out[lengths[capacity]], '\0');
        CHECK_EQ(out[capacity], '?');
    }
    CHECK_EQ(gnomon__utf8_clean("\xFF", 1, NULL, 0, NULL), 0);
}

TEST(a_replacement_is_never_cut)
{
    char out[4];
    int changed;
    CHECK_EQ(gnomon__utf8_clean("\xFF\xFF", 2, out, sizeof out, &changed), 3);
    CHECK_STR(out, REPLACED);
    CHECK_EQ(gnomon__utf8_clean("a\xFF", 2, out, sizeof out, &changed), 1);
    CHECK_STR(out, "a");
    CHECK_EQ(changed, 1);
}

/* Every code point, and each value that is none. */
TEST(every_code_point)
{
    uint32_t code, got;
    for (code = 0; code < 0x120000; code++) {
        unsigned char s[4];
        size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        int good = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
        static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
        size_t i;
        uint32_t rest = code;
        for (i = n; i-- > 1; rest >>= 6)
            s[i] = (unsigned char)(0x80 | (rest & 0x3F));
        s[0] = (unsigned char)(lead[n] | rest);
        i = gnomon__utf8_next((const char *)s, n, &got);
        if (got != (good ? code : GNOMON__UTF8_BAD) || (good && i != n)) {
            CHECK_EQ(got, code);
            break;
        }
    }
    CHECK_EQ(code, 0x120000);
}
