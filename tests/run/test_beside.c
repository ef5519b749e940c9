/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * Items that are attached beside others and detached alone: "+ITEMS", "-PATTERN" and as=. */
#include "test.h"

#include "gnomon/report.h"
#include "live_profile.h"

static void once(const char *name)
{
    gnomon_start(name);
    gnomon_stop(name);
}

static void configured(const char *spec)
{
    if (!CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK))
        fprintf(stderr, "    %s: %s\n", spec, gnomon_error_text());
}

TEST(what_is_attached_goes_on)
{
    configured("+simple(as=a,file=/dev/null)");
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    once("x");
    configured("+simple(as=b,file=/dev/null),profile(as=p,file=beside.gnomon)");
    once("x");
    CHECK_EQ(live_count_of("a", "x"), 2);
    CHECK_EQ(live_count_of("b", "x"), 1);
    configured("-b");
    once("x");
    CHECK_EQ(live_count_of("a", "x"), 3);
    CHECK_EQ(live_count_of("p", "x"), 2); /* it shared b's view */
    configured("-p");
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_profile_load(&p, "beside.gnomon"), GNOMON_OK);
    CHECK_EQ(live_count(p, "x"), 2);
    gnomon_profile_free(p);
    once("x");
    CHECK_EQ(live_count_of("a", "x"), 4);
    configured("-*");
    CHECK_EQ(gnomon_spec(NULL, 0), 0);
}

TEST(those_that_stay_keep_their_open_cycle)
{
    configured(
        "+simple(as=a,file=/dev/null,schedule=wait:0/active:3/repeat:1)");
    configured("+tree(as=b,file=/dev/null)");
    for (int i = 0; i < 2; i++, gnomon_step())
        once("x");
    configured("-b");
    for (int i = 0; i < 2; i++, gnomon_step())
        once("x");
    CHECK_EQ(live_count_of("a", "x"), 3);
    configured("");
}

TEST(the_options_of_the_run_stay)
{
    char spec[256];
    configured("simple(file=/dev/null),fork=follow");
    configured("+tree(file=/dev/null)");
    gnomon_spec(spec, sizeof spec);
    CHECK(strstr(spec, "fork=follow") != NULL);
    configured("-simple");
    gnomon_spec(spec, sizeof spec);
    CHECK(strstr(spec, "fork=follow") && !strstr(spec, "simple"));
    configured("tree(file=/dev/null)");
    gnomon_spec(spec, sizeof spec);
    CHECK(!strstr(spec, "fork=follow"));
    configured("");
}

TEST(wrong_words_leave_the_others)
{
    configured("simple(file=/dev/null)");
    CHECK_EQ(gnomon_attach(NULL, NULL, "-none"), GNOMON_ENOENT);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+simpel"), GNOMON_EINVAL);
    once("x");
    CHECK_EQ(live_count_of("simple", "x"), 1);
    CHECK_EQ(gnomon_attach(NULL, NULL, "+"), GNOMON_OK);
    CHECK_EQ(live_count_of("simple", "x"), 1);
    configured("");
}
