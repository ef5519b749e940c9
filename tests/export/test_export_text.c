/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers of exports are those of printf, wherever in the buffer they begin.
 * links: testing */
#include <inttypes.h>
#include <stdio.h>

#include "test.h"

#include "export/text.h"

enum { MANY = 8 }; /* numbers for each length of a number */

typedef struct written {
    char at[2 * GNOMON__OUT_ROOM];
    size_t size;
} written;

static int keep(const gnomon_writer *w, const void *bytes, size_t size)
{
    written *to = w->context;
    if (!CHECK(size <= sizeof to->at - to->size))
        return GNOMON_ENOMEM;
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
    return GNOMON_OK;
}

/* `number` and ns as us, after so many bytes. */
static void same_as_printf(uint64_t number, size_t before)
{
    static written all;
    static const char padding[GNOMON__OUT_ROOM];
    char expected[80];
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = keep, .context = &all};
    gnomon__out *t = gnomon__export_text_begin(&w);
    all.size = 0;
    gnomon__out_put(t, padding, before);
    gnomon__out_number(t, number);
    gnomon__out_literal(t, " ");
    gnomon__export_us(t, number);
    gnomon__out_literal(t, " ");
    gnomon__out_signed(t, (int64_t)number);
    CHECK_EQ(gnomon__export_text_end(t), GNOMON_OK);
    snprintf(expected, sizeof expected, "%" PRIu64 " %" PRIu64 ".%03u %" PRId64,
             number, number / 1000, (unsigned)(number % 1000), (int64_t)number);
    CHECK_EQ(all.size, before + strlen(expected));
    all.at[all.size] = 0;
    CHECK_STR(all.at + before, expected);
}

TEST(numbers_of_every_length)
{
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++, power *= 10)
        for (uint64_t i = 0; i < MANY; i++) {
            same_as_printf(power + i, 0);
            same_as_printf(power - 1 - i, 0);
            same_as_printf(power * (1 + i) + power / 3, 0);
        }
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t i = 0; i < 3; i++)
            same_as_printf(((uint64_t)1 << bit) + i - 1, 0);
}

static void printed_as(const char *text, const char *expected)
{
    static written all;
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = keep, .context = &all};
    gnomon__out *t = gnomon__export_text_begin(&w);
    all.size = 0;
    gnomon__export_printed(t, text);
    CHECK_EQ(gnomon__export_text_end(t), GNOMON_OK);
    all.at[all.size] = 0;
    CHECK_STR(all.at, expected);
}

/* As printf writes it in de_DE, ps_AF and C. */
TEST(the_point_of_a_locale_is_a_point)
{
    printed_as("-0,5", "-0.5");
    printed_as("1\xd9\xab"
               "25e-07",
               "1.25e-07");
    printed_as("1.5e+300", "1.5e+300");
    printed_as("1e+20", "1e+20");
}

/* A number is never written past the end of the buffer, and none of its digits is lost
 * there. */
TEST(numbers_at_the_end_of_the_buffer)
{
    static const uint64_t numbers[] = {0, 7, 42, 999, 1234567, UINT64_MAX};
    for (size_t before = GNOMON__OUT_ROOM - 70; before <= GNOMON__OUT_ROOM;
         before++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            same_as_printf(numbers[i], before);
}

/* Wherever in the buffer a value or a piece of the form begins. */
TEST(a_form_is_written_as_printf_would)
{
    static const char padding[GNOMON__OUT_ROOM];
    static const char expected[] =
        "{\"a\":\"x \\\"y\\\" \\u000a\",\"b\":-7,\"c\":7,\"d\":-9000000000,"
        "\"e\":18446744073709551615,\"f\":0.5,\"g\":1234.567}";
    for (size_t before = GNOMON__OUT_ROOM; before + 150 > GNOMON__OUT_ROOM;
         before--) {
        static written all;
        const gnomon_writer w = {
            .struct_size = sizeof w, .write = keep, .context = &all};
        gnomon__out *t = gnomon__export_text_begin(&w);
        all.size = 0;
        gnomon__out_put(t, padding, before);
        gnomon__export_form(t,
                            "{'a':'%s','b':%d,'c':%u,'d':%jd,'e':%ju,'f':%g,"
                            "'g':%jx}",
                            "x \"y\" \n", -7, 7u, INT64_C(-9000000000),
                            UINT64_MAX, 0.5, UINT64_C(1234567));
        CHECK_EQ(gnomon__export_text_end(t), GNOMON_OK);
        all.at[all.size] = 0;
        if (!CHECK_STR(all.at + before, expected))
            return;
    }
}
