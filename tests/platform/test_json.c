/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "test.h"

#include <stdlib.h>

#include "platform/json.h"

static int valid(const char *text)
{
    /* In memory of its exact size: a read past the end is seen by ASan. */
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);
    int result;
    memcpy(copy, text, n);
    result = gnomon__json_valid(copy, n);
    free(copy);
    return result;
}

TEST(valid_values)
{
    static const char *const good[] = {
        "0",
        "-0",
        "1",
        "-12.50e+3",
        "1E9",
        "0.1",
        "1e-2",
        "18446744073709551616000000",
        "true",
        "false",
        "null",
        "\"\"",
        " \t\r\n1 \t\r\n",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,2 , 3]",
        "{\"a\":1}",
        "{ \"a\" : [ { } , null ] , \"a\" : 2 }",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00\\u00Af\"",
        "\"\xC3\xA9\xF0\x9F\x98\x80\"",
        "\"\x7F\"",
        "\"\\u0000\"",
    };
    size_t i;
    for (i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!CHECK(valid(good[i])))
            fprintf(stderr, "    %s\n", good[i]);
}

TEST(invalid_values)
{
    static const char *const bad[] = {
        "",
        " ",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x10",
        "1 2",
        "--1",
        "NaN",
        "Infinity",
        "-Infinity",
        "tru",
        "truex",
        "True",
        "nul",
        "'a'",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\\n\"",
        "\"\n\"",
        "\"\t\"",
        "\"\x1F\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"",
        "\"\\ud800",
        "\"\\ud800\\",
        "\"\\u",
        "\"\xFF\"",
        "\"\xC3\"",
        "\"\xED\xA0\x80\"",
        "\xEF\xBB\xBF"
        "1",
        "\xC2\xA0"
        "1",
        "[",
        "]",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{",
        "}",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{,}",
        "[}",
        "{]",
        "[1}",
        "1//x",
        "/**/1",
    };
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!CHECK(!valid(bad[i])))
            fprintf(stderr, "    %s\n", bad[i]);
    CHECK(!gnomon__json_valid("1\0", 2));
    CHECK(!gnomon__json_valid("\"\\\0\"", 4));
}

/* A valid text without its last bytes is invalid. */
TEST(every_prefix_is_invalid)
{
    const char *text = "{\"k\":[true,-1.5e-7,\"\\ud83d\\ude00\xC3\xA9\",null]}";
    size_t n, all = strlen(text);
    CHECK(gnomon__json_valid(text, all));
    for (n = 0; n < all; n++)
        CHECK(!gnomon__json_valid(text, n));
}

TEST(depth_is_limited)
{
    static char text[2 * 100000];
    size_t depth;
    for (depth = 1; depth <= 100; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_EQ(gnomon__json_valid(text, 2 * depth),
                 depth <= GNOMON__JSON_DEPTH);
    }
    memset(text, '[', sizeof text);
    CHECK(!gnomon__json_valid(text, sizeof text));
}

static const char *quote(const char *text, size_t n)
{
    static char out[256];
    size_t length = gnomon__json_quote(text, n, out, sizeof out);
    CHECK_EQ(length, strlen(out));
    CHECK(gnomon__json_valid(out, strlen(out)));
    return out;
}

TEST(quotes_strings)
{
    CHECK_STR(quote("", 0), "\"\"");
    CHECK_STR(quote("a\"b\\c/", 6), "\"a\\\"b\\\\c/\"");
    CHECK_STR(quote("\n\x01\x1F\x7F\0z", 6),
              "\"\\u000a\\u0001\\u001f\x7F\\u0000z\"");
    CHECK_STR(quote("\xC3\xA9\xFF", 3), "\"\xC3\xA9\xEF\xBF\xBD\"");
}

TEST(quote_cuts_whole_characters)
{
    const char *text = "a\xC3\xA9\n"; /* "a + 2 bytes + \u000a + " */
    size_t size;
    for (size = 0; size <= 12; size++) {
        char out[16];
        memset(out, '?', sizeof out);
        CHECK_EQ(gnomon__json_quote(text, 4, out, size), 11);
        if (size == 0)
            CHECK_EQ(out[0], '?');
        else
            CHECK_EQ(strlen(out), size > 11   ? 11
                                  : size > 10 ? 10
                                  : size > 4  ? 4
                                  : size > 2  ? 2
                                              : size - 1);
        CHECK_EQ(out[size], '?');
    }
}
