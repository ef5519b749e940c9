/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When reports are written, and what a new spec changes, in processes of their own. */
#include "test.h"

#include "child.h"

/* stdout and stderr in one file, in the order in which they came. */
static char *host_both(const char *environment, const char *const *words,
                       int status)
{
    CHECK_EQ(child_wait(child_start(CHILD_PROGRAM("host"), environment, words,
                                    ".both", ".both")),
             status);
    return child_read(".both");
}

/* Whether the parts stand in `text` in this order, and each only once. */
static void in_order(const char *text, const char *const *parts)
{
    const char *at = text;
    for (; at && *parts; parts++) {
        const char *found = strstr(at, *parts);
        if (!CHECK(found != NULL) || !CHECK_EQ(times_in(text, *parts), 1))
            fprintf(stderr, "    '%s' in\n%s\n", *parts, text);
        at = found ? found : at;
    }
}

#define WORDS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

TEST(a_stage_reports_when_it_ends)
{
    char *text = host_both(
        "GNOMON=simple",
        WORDS("do=first", "setup", "stage=fit", "do=a", "end", "say=between",
              "do=b", "stage=validate", "do=c", "stage=test", "say=next",
              "do=d", "end", "say=after", "do=e", "teardown", "say=over"),
        0);
    in_order(text,
             WORDS("FIT Profiler Report", "between", "VALIDATE Profiler Report",
                   "next", "TEST Profiler Report", "after", "|  e", "over"));
    in_order(text, WORDS("FIT Pro", "|  first", "VALIDATE"));
    in_order(text, WORDS("between", "|  b", "next"));
    in_order(text, WORDS("FIT Pro", "|  a", "between"));
    in_order(text, WORDS("between", "|  c", "next"));
    in_order(text, WORDS("next", "|  d", "after"));
    CHECK_EQ(times_in(text, "Profiler Report"), 4);
}

TEST(the_outermost_teardown_reports)
{
    char *text = host_both("GNOMON=simple",
                           WORDS("setup", "do=a", "setup0", "do=b", "teardown",
                                 "say=inner", "do=c", "teardown", "say=outer",
                                 "do=d", "scope=e", "step", "say=end"),
                           0);
    in_order(text, WORDS("inner", "Profiler Report", "|  c", "outer", "end"));
    CHECK_EQ(times_in(text, "\n|  "), 5); /* a, b, c, Total, header */
    CHECK_STR(text + strlen(text) - 10, "outer\nend\n");
    CHECK_EQ(times_in(text, "gnomon: "), 1);
}

TEST(runs_repeat)
{
    char *text = host_both("GNOMON=simple",
                           WORDS("setup", "stage=fit", "do=a", "teardown",
                                 "do=nobody", "say=again", "setup", "do=b",
                                 "teardown", "say=end", "teardown"),
                           0);
    in_order(text, WORDS("FIT Profiler Report", "|  a", "again", "|  b", "end",
                         "teardown: GNOMON_ESTATE: "));
    CHECK_EQ(times_in(text, "Profiler Report"), 2);
    CHECK_EQ(times_in(text, "nobody"), 0);
}

TEST(exit_reports_without_any_setup)
{
    char *text =
        host_both("GNOMON=simple", WORDS("do=a", "say=end", "exit=7"), 7);
    in_order(text, WORDS("end", "Profiler Report", "|  a"));
    text = host_both("GNOMON=simple", WORDS("stage=fit", "do=a"), 0);
    in_order(text, WORDS("FIT Profiler Report", "|  a"));
    text = host_both("GNOMON=simple", WORDS("setup", "setup", "do=a", "exit=1"),
                     1);
    CHECK_EQ(times_in(text, "Profiler Report"), 1);
    text = host_both("GNOMON=simple", WORDS("stage=fit", "do=a", "end"), 0);
    CHECK_EQ(times_in(text, "Profiler Report"), 1); /* nothing came after */
}

TEST(a_new_spec_replaces_the_old_one)
{
    char *text = host_both("GNOMON=simple",
                           WORDS("do=a", "configure=log", "say=now", "do=b",
                                 "configure=", "say=off", "do=c"),
                           0);
    in_order(text, WORDS("Profiler Report", "|  a", "now", "log: 0 > b",
                         "log: 0 < b", "All was logged", "off"));
    CHECK_EQ(times_in(text, "|  b"), 0);
    CHECK_EQ(times_in(text, "> c"), 0);
    text = host_both(NULL,
                     WORDS("do=a", "configure=simple", "do=b", "spec",
                           "configure=simpel", "spec"),
                     0);
    CHECK_EQ(times_in(text, "|  b"), 1);
    CHECK_EQ(times_in(text, "|  a"), 0);
    in_order(text, WORDS("gnomon: gnomon_attach: unknown profiler 'simpel'",
                         "configure: GNOMON_EINVAL: gnomon_attach: unknown "
                         "profiler 'simpel': did you mean 'simple'?"));
    /* The program's own spec precedes the variable's. */
    text = host_both("GNOMON=log", WORDS("configure=simple", "do=a"), 0);
    CHECK_EQ(times_in(text, "log: "), 0);
}

TEST(a_resolved_spec_comes_to_itself)
{
    static const char *const specs[] = {
        "simple",
        "simple(extended=no),log,passthrough",
        "advanced,advanced(dump_stats,line_count_restriction=0.5)",
        "simple(filter=opt*|[Callback]*,filter=\"a,b(c)=d#\",exclude=@io)",
        "simple,schedule=skip_first:2/wait:1/warmup:1/active:3/repeat:2",
        "simple,ranks=0|3|8-15,mem=3MiB",
        "simple(file=\"out/ a \\\\ \\\"b\\\" %r.txt\"),log,file=x.txt,dir=y",
        "simple,dir",
        "log,\"" CHILD_PLUGIN("simple") "\"(extended=off)," CHILD_PLUGIN("log"),
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment, "GNOMON=%s", specs[i]);
        child_result r = host(environment, "respec", "respec");
        CHECK_EQ(r.status, 0);
        if (!CHECK_EQ(times_in(r.out, "same\n"), 2) ||
            !CHECK_EQ(times_in(r.err, "gnomon: $GNOMON"), 0))
            fprintf(stderr, "    %s\n    %s    %s\n", specs[i], r.out, r.err);
    }
    child_result r = host("GNOMON=simple,mem=3MiB", "spec");
    CHECK_STR(r.out, "simple(extended=true,ranks=all,at=stage),mem=3MiB\n");
    r = host(NULL, "spec", "do=a", "spec");
    CHECK_STR(r.out, "\n\n");
}

/* Memory is reserved once. */
TEST(another_mem_comes_too_late)
{
    child_result r = host("GNOMON=simple,mem=3MiB", "do=a",
                          "configure=simple,mem=1GiB", "do=b", "check=simple");
    CHECK_EQ(times_in(r.out, "configure: "), 0);
    CHECK_EQ(times_in(r.out, "sound\n"), 1);
    CHECK_EQ(times_in(r.err, "gnomon: gnomon_attach: mem=1GiB: recording "
                             "has 3MiB, taken once for the process, and below "
                             "4GiB\n"),
             1);
    CHECK_EQ(times_in(r.err, "|  b"), 1);
}

TEST(a_profile_at_any_time_is_sound)
{
    child_result r =
        host("GNOMON=simple", "check=simple", "start=a", "do=b", "check=simple",
             "stage=fit", "do=b", "stop=a", "check=simple", "end",
             "check=SIMPLE", "many=x", "check=simple", "check=log");
    CHECK_STR(r.out, "sound\nsound\nsound\nsound\nsound\ncheck: GNOMON_ENOENT: "
                     "no profiler 'log' is attached\n");
    r = host("GNOMON=log", "check=log", "summary=log");
    CHECK_STR(r.out, "check: GNOMON_ESTATE: log records no profile\n"
                     "All was logged when it happened.\n");
}
