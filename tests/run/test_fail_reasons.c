/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * host->fail and host->log: what a callback says of its failure is in the line on
 * stderr, and in the text of the call that came to it. */
#include <stdlib.h>

#include "gnomon/tool.h"
#include "platform/error.h"
#include "run/host.h"
#include "test.h"

static char lines[2048];
static int code, given; /* what callbacks return; and whether they say why */

static void keep(const char *line)
{
    size_t n = strlen(lines);
    snprintf(lines + n, sizeof lines - n, "%s\n", line);
}

static int fails(const char *why)
{
    return given ? gnomon_host_get()->fail(code, why, GNOMON_TO_NUL) : code;
}

static int create(const gnomon_options *options, void **self)
{
    (void)options, (void)self;
    return fails("no room");
}

static int setup(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    return fails("no disk");
}

static int summary(void *self, const gnomon_profile *profile,
                   const gnomon_writer *out)
{
    (void)self, (void)profile, (void)out;
    return fails("two\nlines");
}

static int discard(const gnomon_writer *out, const void *bytes, size_t size)
{
    (void)out, (void)bytes, (void)size;
    return GNOMON_OK;
}

static const gnomon_profiler failing = {.struct_size = sizeof failing,
                                        .abi = GNOMON_ABI,
                                        .name = "failing",
                                        .create = create,
                                        .setup = setup,
                                        .summary = summary};
static const gnomon_writer nowhere = {.struct_size = sizeof nowhere,
                                      .write = discard};

static void begin(void)
{
    unsetenv("GNOMON");
    gnomon__test_log = keep;
    CHECK_EQ(gnomon_host_get()->add_profiler(&failing), GNOMON_OK);
}

TEST(create_says_why)
{
    begin();
    code = GNOMON_EIO, given = 1;
    CHECK_EQ(gnomon_attach(NULL, NULL, "failing"), GNOMON_EPLUGIN);
    CHECK(strstr(gnomon_error_text(), "failing: create failed (no room)"));
    given = 0;
    CHECK_EQ(gnomon_attach(NULL, NULL, "failing"), GNOMON_EPLUGIN);
    CHECK(strstr(gnomon_error_text(), "failing: create failed (GNOMON_EIO)"));
}

TEST(setup_says_why)
{
    begin();
    given = 1;
    CHECK_EQ(gnomon_attach(NULL, NULL, "failing"),
             GNOMON_OK); /* says why, but is well */
    code = GNOMON_EIO;
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    CHECK_STR(lines, "gnomon: failing: setup failed (no disk); it goes on\n");
    given = 0, *lines = 0;
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    CHECK(strstr(lines, "failing: setup failed (GNOMON_EIO); it goes on\n"));
}

TEST(summary_says_why_in_one_line)
{
    begin();
    CHECK_EQ(gnomon_attach(NULL, NULL, "failing"), GNOMON_OK);
    code = GNOMON_EFULL, given = 1;
    CHECK_EQ(gnomon_summary("failing", &nowhere), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "failing: summary failed (two\\nlines)");
    given = 0;
    CHECK_EQ(gnomon_summary("failing", &nowhere), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "failing: summary failed (GNOMON_EFULL)");
}

/* One that returned GNOMON_OK said it of nothing. */
TEST(what_was_said_is_forgotten)
{
    begin();
    CHECK_EQ(gnomon_attach(NULL, NULL, "failing"), GNOMON_OK);
    given = 1;
    CHECK_EQ(gnomon_summary("failing", &nowhere), GNOMON_OK);
    code = GNOMON_EIO, given = 0;
    CHECK_EQ(gnomon_summary("failing", &nowhere), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "failing: summary failed (GNOMON_EIO)");
}

TEST(texts_have_a_length_or_none)
{
    char longer[1000];
    memset(longer, 'x', sizeof longer);
    CHECK_EQ(gnomon_host_get()->fail(GNOMON_EIO, "short", 2), GNOMON_EIO);
    CHECK_STR(gnomon_error_text(), "sh");
    CHECK_EQ(gnomon_host_get()->fail(-42, longer, sizeof longer), -42);
    CHECK_EQ(strlen(gnomon_error_text()), 255);
    CHECK_EQ(gnomon_host_get()->fail(GNOMON_EIO, NULL, GNOMON_TO_NUL),
             GNOMON_EIO);
    CHECK_STR(gnomon__fail_reason(GNOMON_EIO), "GNOMON_EIO");
    CHECK_EQ(gnomon_host_get()->fail(GNOMON_EIO, "", GNOMON_TO_NUL),
             GNOMON_EIO);
    CHECK_STR(gnomon__fail_reason(GNOMON_EIO), "GNOMON_EIO");
    CHECK_EQ(gnomon__upcall_host.fail(GNOMON_EIO, "plugin", GNOMON_TO_NUL),
             GNOMON_EIO);
    CHECK_STR(gnomon_error_text(), "plugin");
}

TEST(lines_of_the_log)
{
    begin();
    gnomon_host_get()->log("a line");
    gnomon_host_get()->log("two\nlines");
    gnomon_host_get()->log(NULL);
    CHECK_STR(lines, "gnomon: a line\ngnomon: two\\nlines\ngnomon: \n");
}
