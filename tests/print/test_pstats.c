/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words and numbers of pstats. Its printed tables are tested in tests/golden.
 * links: testing
 * threads: none */
#include "test.h"

#include "print/pstats.h"
#include "print/python.h"

TEST(sort_keys)
{
    static const struct {
        const char *word;
        int key;
    } words[] = {{"calls", GNOMON__PSTATS_CALLS},
                 {"ca", GNOMON__PSTATS_CALLS},
                 {"nc", GNOMON__PSTATS_CALLS},
                 {"cu", GNOMON__PSTATS_CUMULATIVE}, /* as pstats has it */
                 {"cumu", GNOMON__PSTATS_CUMULATIVE},
                 {"cumtime", GNOMON__PSTATS_CUMULATIVE},
                 {"f", GNOMON__PSTATS_FILE},
                 {"mod", GNOMON__PSTATS_FILE},
                 {"l", GNOMON__PSTATS_LINE},
                 {"name", GNOMON__PSTATS_NAME},
                 {"nf", GNOMON__PSTATS_NFL},
                 {"p", GNOMON__PSTATS_PRIMITIVE},
                 {"std", GNOMON__PSTATS_STDNAME},
                 {"ti", GNOMON__PSTATS_TIME},
                 {"to", GNOMON__PSTATS_TIME},
                 {"-1", GNOMON__PSTATS_STDNAME},
                 {"0", GNOMON__PSTATS_CALLS},
                 {"1", GNOMON__PSTATS_TIME},
                 {"2", GNOMON__PSTATS_CUMULATIVE}};
    static const char *const none[] = {
        "", "c", "cum", "n", "t", "x", "callsx", "Calls", "-2", "3", "calls "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!CHECK_EQ(gnomon__pstats_key(words[i].word), words[i].key))
            fprintf(stderr, "    %s\n", words[i].word);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!CHECK_EQ(gnomon__pstats_key(none[i]), GNOMON_EINVAL))
            fprintf(stderr, "    %s\n", none[i]);
}

TEST(numbers_as_python_writes_them)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1.0, "1.0"},
                 {0.0, "0.0"},
                 {-0.25, "-0.25"},
                 {1e-05, "1e-05"},
                 {0.0001, "0.0001"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {123456789.0, "123456789.0"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {5e-324, "5e-324"}};
    char text[GNOMON__PYTHON_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gnomon__python_repr(text, cases[i].value);
        CHECK_STR(text, cases[i].text);
    }
    gnomon__python_fixed(text, 0.0625);
    CHECK_STR(text, "0.062");
    gnomon__python_fixed(text, 18446744073.709551615);
    CHECK_STR(text, "18446744073.710");
}

TEST(numbers_as_python_reads_them)
{
    static const struct {
        const char *text;
        bool is_float;
        int64_t whole;
        double real;
    } cases[] = {{"10", false, 10, 10},
                 {"-3", false, -3, -3},
                 {"+3", false, 3, 3},
                 {"99999999999999999999", false, INT64_MAX, 0x1p63},
                 {"0.5", true, 0, 0.5},
                 {".5", true, 0, 0.5},
                 {"5.", true, 0, 5},
                 {"1e2", true, 0, 100},
                 {"1E-2", true, 0, 0.01},
                 {"-0.25", true, 0, -0.25}};
    static const char *const none[] = {"",    "-",     ".",    "1e",  "e5",
                                       "1e+", "--1",   "0x10", "inf", "nan",
                                       "1,5", "1.5.2", " 1",   "1 ",  "half"};
    bool is_float;
    int64_t whole;
    double real;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(gnomon__python_number(cases[i].text, &is_float, &whole, &real));
        CHECK_EQ(is_float, cases[i].is_float);
        CHECK_EQ(whole, cases[i].whole);
        CHECK(!(real < cases[i].real) && !(real > cases[i].real));
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!CHECK(!gnomon__python_number(none[i], &is_float, &whole, &real)))
            fprintf(stderr, "    %s\n", none[i]);
}
