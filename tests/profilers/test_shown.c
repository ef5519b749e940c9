/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names that would move a terminal's cursor, begin a line or turn text around:
 * shown as escapes to a person, kept as they are in files.
 * links: testing
 * labels: guest */
#include <fcntl.h>
#include <stdlib.h>

#include "child.h"
#include "gnomon/tool.h"
#include "platform/error.h"
#include "platform/escape.h"
#include "test.h"

static const char *shown(const char *text)
{
    static char out[128];
    gnomon__escape_copy(text, out, sizeof out);
    return out;
}

TEST(what_terminals_obey_is_shown_as_escapes)
{
    CHECK_STR(shown(""), "");
    CHECK_STR(shown("a\tb\nc\rd\x1b[2J\x01\x7f"),
              "a\\tb\\nc\\rd\\x1b[2J\\x01\\x7f");
    CHECK_STR(shown("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0"),
              "\\x80\\x9b\\x9f\xc2\xa0");
    CHECK_STR(shown("\xd8\x9c|\xe2\x80\x8d|\xe2\x80\x8e|\xe2\x80\x8f"),
              "\\u061c|\xe2\x80\x8d|\\u200e|\\u200f");
    CHECK_STR(shown("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae"),
              "\\u2028\\u2029\\u202a\\u202e");
    CHECK_STR(shown("\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xef\xbb\xbf"),
              "\xe2\x81\xa5\\u2066\\u2069\\ufeff");
    CHECK_STR(shown("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK_STR(shown("a\xff\x9bz"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

/* For any bytes, cut anywhere, escaping them a second time changes nothing. */
TEST(shown_twice_is_shown_once)
{
    unsigned state = 1;
    for (int round = 0; round < 20000; round++) {
        char text[12] = "", once[40], twice[40];
        for (size_t i = 0; i + 1 < sizeof text; i++) {
            state = state * 1664525u + 1013904223u;
            text[i] = (char)(state >> 24);
        }
        size_t room = 1 + (state >> 8) % sizeof once;
        size_t length = gnomon__escape_copy(text, once, room);
        CHECK_EQ(length, strlen(once));
        CHECK(length < room);
        gnomon__escape_copy(once, twice, sizeof twice);
        CHECK_STR(twice, once);
    }
}

/* ---- Reports ------------------------------------------------------------- */

/* A cursor that moves, a false row, right-to-left text, and a C1 control;
 * and their escapes. */
#define EVIL "e\x1b[2J\n|  fake\t|\xe2\x80\xae\xc2\x9b"
#define SEEN "e\\x1b[2J\\n|  fake\\t|\\u202e\\x9b"

static int is_safe(const char *text)
{
    char once[8];
    gnomon__text rest = {text, strlen(text)};
    return !rest.length ||
           (gnomon__escape_next(&rest, "\n\t", once).at == text &&
            !rest.length);
}

TEST(tables_on_stderr_show_them)
{
    static const char *const specs[] = {
        "GNOMON=simple",   "GNOMON=simple(extended=false)",
        "GNOMON=advanced", "GNOMON=simple,file=/dev/stderr",
        "GNOMON=log",
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        child_result r = host(specs[i], "stage=" EVIL, "do=" EVIL,
                              "scope=" EVIL, "start=" EVIL, "end");
        CHECK_EQ(r.status, 0);
        CHECK(is_safe(r.err));
        if (!CHECK(times_in(r.err, SEEN) > 1))
            fprintf(stderr, "    %s:\n%s\n", specs[i], r.err);
        CHECK_EQ(times_in(r.err, "\n|  fake"), 0);
    }
    child_result r = host("GNOMON=simple,file=/dev/full", "do=" EVIL);
    CHECK(is_safe(r.err));
}

/* A stream may be a terminal. */
TEST(tables_for_programs_show_them_on_streams)
{
    child_result r =
        host("GNOMON=regions,format=csv,file=/dev/stderr", "do=a\x1b[2J, \"b");
    CHECK(is_safe(r.err));
    CHECK_EQ(times_in(r.err, "\"a\\x1b[2J, \"\"b\""), 1);
    r = host("GNOMON=regions,format=csv,file=r.csv", "do=a\x1b[2J, \"b");
    CHECK_EQ(times_in(child_read("r.csv"), "\"a\x1b[2J, \"\"b\""), 1);
}

/* Letters of a name become capitals, those of its escapes do not. A name is capitals
 * throughout, whatever its length and its characters' sizes. */
TEST(headings_keep_escapes)
{
    child_result r =
        host("GNOMON=simple,regions", "stage=new\nline\\n\x1b", "do=a");
    CHECK_EQ(times_in(r.err, "NEW\\nLINE\\N\\x1b Profiler Report\n"), 1);
    CHECK_EQ(times_in(r.err, "NEW\\nLINE\\N\\x1b Regions\n"), 1);
    char stage[256] = "stage=", want[256] = "";
    for (int i = 0; i < 40; i++) {
        strcat(stage, "x\xe2\x82\xac");
        strcat(want, "X\xe2\x82\xac");
    }
    r = host("GNOMON=regions", stage, "do=a");
    CHECK_EQ(times_in(r.err, strcat(want, " Regions\n")), 1);
}

/* A rule is as long as its row as shown. */
TEST(columns_fit_what_is_shown)
{
    child_result r = host("GNOMON=simple", "do=" EVIL);
    child_result same = host("GNOMON=simple", "do=" SEEN);
    CHECK_EQ(strcspn(strstr(r.err, "----"), "\n"),
             strcspn(strstr(same.err, "----"), "\n"));
}

TEST(files_keep_the_names)
{
    child_result r = host("GNOMON=simple,file=report.txt", "do=" EVIL);
    CHECK_EQ(times_in(child_read("report.txt"), "\n|  " EVIL), 1);
    CHECK_STR(r.err, "");
    r = host("GNOMON=profile,file=p.gnomon.json", "do=" EVIL);
    CHECK_EQ(
        times_in(child_read("p.gnomon.json"),
                 "\"e\\u001b[2J\\u000a|  fake\\u0009|\xe2\x80\xae\xc2\x9b\""),
        1);
    r = host("GNOMON=simple", "do=" EVIL, "summary=simple");
    CHECK_EQ(times_in(r.out, "\n|  " EVIL), 1); /* the host's to show */
}

static int write_evil(void *self, const gnomon_profile *profile,
                      const gnomon_writer *out)
{
    (void)self, (void)profile;
    out->write(out, "row\t" EVIL "\n", sizeof "row\t" EVIL);
    return out->write(out, "bad \xff\n", 6);
}

static const gnomon_profiler careless = {.struct_size = sizeof careless,
                                         .abi = GNOMON_ABI,
                                         .name = "careless",
                                         .summary = write_evil};

/* Text of a plugin's report is escaped too, except newlines and tabs. */
TEST(reports_of_plugins_reach_no_terminal_as_they_are)
{
    child_folder();
    dup2(open("err", O_RDWR | O_CREAT | O_APPEND, 0600), 2);
    CHECK_EQ(gnomon_attach(&careless, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    gnomon_start("x");
    gnomon_stop("x");
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    const char *err = child_read("err");
    CHECK(is_safe(err));
    CHECK_EQ(times_in(err, "row\te\\x1b[2J\n|  fake\t|\\u202e\\x9b\n"
                           "bad \xEF\xBF\xBD\n"),
             1);
}

/* ---- Messages ------------------------------------------------------------ */

TEST(errors_show_them)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, EVIL), GNOMON_EINVAL);
    CHECK(is_safe(gnomon_error_text()));
    CHECK(strstr(gnomon_error_text(), "'e\\x1b[2J'") != NULL);
    CHECK_EQ(gnomon__fail(GNOMON_EINVAL, "no %s", EVIL), GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(), "no " SEEN);
}
