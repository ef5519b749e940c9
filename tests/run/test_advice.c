/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lines about a wrong spec say to write is typed in, and must be taken without a
 * line.
 * links: testing
 * threads: none
 * labels: guest */
#include <stdlib.h>

#include "child.h"
#include "gnomon/tool.h"
#include "platform/error.h"
#include "test.h"

static char lines[4096];

static void keep_line(const char *line)
{
    size_t n = strlen(lines);
    snprintf(lines + n, sizeof lines - n, "%s\n", line);
}

static const char *lines_of(const char *spec)
{
    *lines = 0;
    gnomon__test_log = keep_line;
    (void)gnomon_attach(NULL, NULL, spec);
    return lines;
}

/* The wrong words of a spec, between what is right. */
typedef struct wrong_spec {
    const char *before, *wrong, *after;
    const char
        *advice; /* what the line must say to write; NULL: to leave it out */
} wrong_spec;

static const wrong_spec specs[] = {
    /* Options that only other profilers have. */
    {"simple,", "format=csv", "", "regions(format=csv)"},
    {"simple(limit=3),", "by=rank", ",mem=64MiB", "regions(by=rank)"},
    {"simple,", "keep=first", "", "trace(keep=first)"},
    {"simple,", "columns=calls", "", "regions(columns=calls)"},
    {"simple,", "columns=calls|self", "", "regions(columns=calls|self)"},
    {"simple,", "dump_stats=true", "", "advanced(dump_stats=true)"},
    {"simple,", "dump_stats", "", "advanced(dump_stats)"},
    {"tree,", "dump_stats", "", "advanced(dump_stats)"},
    {"", "dump_stats", ",tree", "advanced(dump_stats)"},
    {"tree,", "extended=false", "", "simple(extended=false)"},
    {"passthrough,", "limit=3", "", "regions(limit=3)"},
    {"simple,", "colums=calls", "", "regions(columns=calls)"},
    {"simple,", "group_by=thread", "", "regions(by=thread)"},
    {"trace,", "format=chrome", "", NULL},
    {"trace,", "format=Perfetto", ",mem=64MiB", NULL},
    {"simple,", "format=chrome", "", "trace"},
    /* No profiler at all. */
    {"", "dump_stats", "", "advanced,dump_stats=true"},
    {"", "format=csv", "", "regions,format=csv"},
    {"", "extended", "", "simple,extended=true"},
    {"", "file=out.txt", "", "simple,file=out.txt"},
    {"", "mem=64MiB,limit=3", "", "simple,limit=3"},
    {"", "fork=follow", "", "simple,fork=follow"},
    /* Words of other tools. */
    {"simple,", "include=opt*", "", "filter=opt*"},
    {"simple(", "include=opt*", ")", "filter=opt*"},
    {"simple,", "ignore=opt*", "", "exclude=opt*"},
    {"simple,", "output=x.txt", "", "file=x.txt"},
    {"simple,", "out=x.txt", "", "file=x.txt"},
    {"advanced(", "filename=perf", ")", "file=perf"},
    {"advanced,", "dirpath=d", "", "dir=d"},
    {"tree,", "depth=3", "", "limit=3"},
    {"tree(", "top=3", ")", "limit=3"},
    {"simple,", "top=3", "", "limit=3"},
    {"advanced,", "row_limit=3", "", "limit=3"},
    {"advanced,", "sort_by=time", "", "sort=time"},
    {"simple,", "memory=1MiB", "", "mem=64MiB"},
    {"", "SimpleProfiler", "", "simple"},
    {"", "AdvancedProfiler", "(dump_stats)", "advanced"},
    {"", "PassThroughProfiler", "", "passthrough"},
    {"", "PyTorchProfiler", "", "trace"},
    {"", "cprofile", "", "advanced"},
    {"", "cProfile", "(sort=time)", "advanced"},
    {"simple,", "chrome", "", "trace"},
    {"", "true", "", "simple"},
    {"", "1", "", "simple"},
    {"", "false", "", "off"},
    /* Mistyped. */
    {"", "simpel", "", "simple"},
    {"simple,", "flie=x.txt", "", "file=x.txt"},
    {"simple(", "extnded=no", ")", "extended=no"},
    {"simple,", "extnded=no", "", "extended=no"},
    /* Commas, colons and equal signs in the wrong places. */
    {"tree(", "columns=calls,self,total", ",limit=3)",
     "columns=calls|self|total"},
    {"tree,", "columns=calls,self,total", ",limit=3",
     "columns=calls|self|total"},
    {"simple,", "filter=a,b,c", "", "filter=a|b|c"},
    {"simple,", "ranks=0,1,2", "", "ranks=0|1|2"},
    {"", "trace=x.json", "", "trace(file=x.json)"},
    {"", "simple=yes", "", "simple"},
    {"", "simple=sort=calls", "", "simple(sort=calls)"},
    {"", "simple:sort=calls", "", "simple(sort=calls)"},
    {"", "simple:extended", "", "simple(extended)"},
    {"", "simple;tree", "", "simple,tree"},
    {"", "simple tree", "", "simple,tree"},
    {"simple,", "active=3", "", "schedule=wait:1/warmup:1/active:3"},
    /* Values. */
    {"simple,", "mem=0MiB", "", "mem=64MiB"},
    {"simple,", "file=run.json", "", "file=run.gnomon.json"},
    {"simple,", "file=run.prof", "", "advanced(dump_stats=run,file=run.txt)"},
    {"simple,", "file=run.json.gz", "", "file=run.json.gnomon"},
    {"simple,", "file=run.pftrace", "", "file=run.gnomon"},
    {"trace,", "file=run.json.gz", "", "file=run.gnomon"},
    {"trace(", "file=run.pftrace", ")", "file=run.gnomon"},
    {"trace,", "file=a/%s.perfetto-trace", "", "file=a/%s.gnomon"},
};

/* Whether a line says to write it: all of it, or for a mistyped word the right one. */
static int is_said(const char *advice)
{
    char word[128];
    if (!advice)
        return strstr(lines, "leave it out") != NULL;
    snprintf(word, sizeof word, "write %s", advice);
    if (strstr(lines, word))
        return 1;
    snprintf(word, sizeof word, ": say %s", advice);
    if (strstr(lines, word))
        return 1;
    snprintf(word, sizeof word, "did you mean '%.*s'?",
             (int)strcspn(advice, "="), advice);
    return strstr(lines, word) != NULL;
}

TEST(each_advice_is_accepted)
{
    child_folder();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const wrong_spec *s = &specs[i];
        char spec[256];
        snprintf(spec, sizeof spec, "%s%s%s", s->before, s->wrong, s->after);
        lines_of(spec);
        const char *line = strchr(lines, '\n');
        if (!CHECK(line && !line[1]) || !CHECK(is_said(s->advice)))
            fprintf(stderr, "    %s:\n%s", spec, lines);
        snprintf(spec, sizeof spec, "%s%s%s", s->before,
                 s->advice ? s->advice : "", s->after);
        if (!CHECK_STR(lines_of(spec), ""))
            fprintf(stderr, "    by %s\n", spec);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* A folder in place of the shell's word. */
TEST(words_for_a_shell_are_refused)
{
    static const char *const words[] = {"file=$HOME/a.txt", "dir=~/b",
                                        "file=c-${USER}.txt", "dir=$SCRATCH"};
    child_folder();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "simple(%s)", words[i]);
        CHECK(strstr(lines_of(spec), ": write the folder\n"));
    }
    CHECK_STR(lines_of("simple,file=/tmp/a$1-%r$.txt"), "");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* What is wrong is not taken: no option that is told of has an effect. */
TEST(the_rest_of_a_spec_holds)
{
    char spec[256];
    CHECK(*lines_of("simple(limit=3),format=csv,dump_stats"));
    CHECK(gnomon_spec(spec, sizeof spec) > 0);
    CHECK_STR(spec, "simple(extended=true,limit=3,ranks=all,at=stage),"
                    "mem=64MiB");
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
