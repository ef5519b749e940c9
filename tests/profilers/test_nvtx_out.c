/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiler nvtx in real processes: the calls of NVTX that a tool gets, here one
 * of the tests (nvtx_out/tool.c) in place of Nsight Systems.
 * labels: guest */
#include "test.h"

#include "child.h"

#define TOOLS TEST_BINARY_DIR "/nvtx_out/"
#define LISTEN "NVTX_TOOL_OUT=heard\nNVTX_INJECTION64_PATH=" TOOLS "tool.so\n"
#define NEEDS_TOOL() \
    if (access(TOOLS "tool.so", F_OK)) \
    SKIP("no headers of NVTX: its profiler is not built")

#define PLAIN "category 0 colour 00000000 "

static child_result result; /* of the last program */

/* Runs nvtx_marks; returns what the tool wrote, "" if nothing. */
static const char *hear(const char *environment, const char *const *words)
{
    child_folder();
    unlink("heard");
    result = child_run(CHILD_PROGRAM("nvtx_marks"), environment, words);
    CHECK_EQ(result.status, 0);
    const char *heard = child_read("heard");
    CHECK_EQ(times_in(heard ? heard : "", "FAULT"), 0);
    return heard ? heard : "";
}

#define HEAR(environment, ...) \
    hear(environment, (const char *const[]){__VA_ARGS__, NULL})

static unsigned hash_of(const char *text)
{
    unsigned hash = 0x811c9dc5u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193u;
    return hash;
}

/* The text before `at` in its line. */
static long number_before(const char *heard, const char *at)
{
    const char *found = strstr(heard, at);
    while (found && found > heard && found[-1] != '\n')
        found--;
    return found ? atol(strchr(found, ' ') + 1) : -1;
}

/* The lines of `heard` that begin so. */
static const char *lines_of(const char *heard, const char *const *beginnings)
{
    char *out = child_keep(calloc(1, strlen(heard) + 1));
    for (const char *line = heard; *line;) {
        size_t n = strcspn(line, "\n") + 1;
        for (size_t i = 0; beginnings[i]; i++)
            if (strncmp(line, beginnings[i], strlen(beginnings[i])) == 0)
                strncat(out, line, n);
        line += n;
    }
    return out;
}

/* ---- Scopes ----------------------------------------------------------------- */

TEST(scopes_nest_and_have_names_and_categories)
{
    NEEDS_TOOL();
    char wanted[2048];
    unsigned compute = hash_of("compute"), io = hash_of("io");
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "nest", "nest");
    static const char *const categories[] = {"category ", NULL};
    static const char *const calls[] = {"push ", "pop ", NULL};
    snprintf(wanted, sizeof wanted,
             "category gnomon %u compute\ncategory gnomon %u io\n", compute,
             io);
    CHECK_STR(lines_of(heard, categories), wanted);
    CHECK_EQ(times_in(heard, "domain gnomon\n"), 1);
    CHECK_EQ(times_in(heard, "domain "), 1);
    CHECK_EQ(times_in(heard, "plain \""), 0); /* all are registered strings */

    /* Colours follow from the category alone. */
    const char *colour = strstr(heard, "colour ") + 7;
    const char *read = strstr(heard, "\"read\"");
    CHECK(read != NULL);
    unsigned first = (unsigned)strtoul(colour, NULL, 16);
    unsigned second = (unsigned)strtoul(read - 9, NULL, 16);
    CHECK_EQ(first >> 24, 0xff);
    CHECK_EQ(second >> 24, 0xff);
    CHECK(first != second);
    size_t used = 0;
    for (int i = 0; i < 2; i++) {
#define PUSH(category, its, name) \
    used += (size_t)snprintf(wanted + used, sizeof wanted - used, \
                             "push 0 gnomon category %u colour %08x \"%s\"\n", \
                             category, its, name)
#define POP() \
    used += (size_t)snprintf(wanted + used, sizeof wanted - used, "pop 0\n")
        PUSH(compute, first, "outer");
        for (int k = 0; k < 2; k++) {
            PUSH(compute, first, "inner");
            PUSH(io, second, "read");
            POP();
            POP();
        }
        PUSH(0u, 0u, "plain");
        POP();
        POP();
    }
    CHECK_STR(lines_of(heard, calls), wanted);
    CHECK_STR(result.err, ""); /* it has nothing to report */
}

TEST(scopes_that_cross_are_popped_in_order)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "cross");
    CHECK_STR(strchr(heard, '\n') + 1, "push 0 gnomon " PLAIN "\"a\"\n"
                                       "start 0 0 gnomon " PLAIN "\"first\"\n"
                                       "push 0 gnomon " PLAIN "\"b\"\n"
                                       "start 0 1 gnomon " PLAIN "\"second\"\n"
                                       "pop 0\npop 0\nend 0 0\nend 0 1\n");
}

/* On the thread of the push, at its next mark. */
TEST(scopes_that_end_elsewhere_are_popped_once)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "move");
    CHECK_STR(strchr(heard, '\n') + 1, "push 0 gnomon " PLAIN "\"a\"\n"
                                       "push 0 gnomon " PLAIN "\"b\"\n"
                                       "pop 0\npop 0\n");
}

TEST(ranges_end_on_other_threads)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "wander");
    CHECK_EQ(times_in(heard, "start 0 0 gnomon"), 1);
    CHECK_EQ(times_in(heard, "start 0 1 gnomon"), 1);
    CHECK_EQ(times_in(heard, "\"here\"\n"), 1);
    CHECK(strstr(heard, "\nend 1 1\nend 0 0\n") != NULL);
    CHECK_EQ(times_in(heard, "push"), 0);
}

/* ---- Marks, counters, names --------------------------------------------------- */

TEST(marks_and_counters)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "facts");
    CHECK_EQ(times_in(heard, "mark 0 gnomon " PLAIN "\"epoch\"\n"), 1);
    CHECK_EQ(times_in(heard, "mark 0 gnomon category 0 colour 00000000 value "
                             "2.5 \"loss\"\n"),
             1);
    CHECK_EQ(times_in(heard, "value 1.5 \"loss\"\n"), 1);
    CHECK_EQ(times_in(heard, "value 0.25 \"loss\"\n"), 1);
    CHECK_EQ(times_in(heard, "\"saved\"\n"), 1);
    CHECK_EQ(times_in(heard, "\nmark "), 5);

    heard = HEAR(LISTEN "NVTX_TOOL_COUNTERS=1\nGNOMON=nvtx", "facts");
    long id = number_before(heard, " loss\n");
    if (id < 0)
        SKIP("these headers of NVTX know no counters");
    char samples[256];
    snprintf(samples, sizeof samples, "sample 0 %ld 2.5\nsample 0 %ld 1.5\n",
             id, id);
    CHECK_EQ(times_in(heard, samples), 1);
    snprintf(samples, sizeof samples, "sample 0 %ld 0.25\n", id);
    CHECK_EQ(times_in(heard, samples), 1);
    CHECK_EQ(times_in(heard, "\nmark "), 2);
}

TEST(names_of_any_bytes)
{
    NEEDS_TOOL();
    for (int i = 0; i < 2; i++) {
        const char *heard =
            i ? HEAR(LISTEN "NVTX_TOOL_NO_STRINGS=1\nGNOMON=nvtx", "names",
                     "names")
              : HEAR(LISTEN "GNOMON=nvtx", "names", "names");
        CHECK_EQ(times_in(heard, "\"gr\xc3\xb6\xc3\x9f"
                                 "e \xe2\x82\xac \xf0\x9f\x8e\x89\"\n"),
                 2);
        CHECK_EQ(times_in(heard, "\"bad \xef\xbf\xbd \xef\xbf\xbd( end\"\n"),
                 2);
        CHECK_EQ(times_in(heard, " c\xc3\xa4t ??\n"), 1); /* the category */
        CHECK_EQ(times_in(heard, "\"(null)\"\n"), 2);
        CHECK_EQ(times_in(heard, "plain \""), i ? 14 : 0);
        for (const char *line = heard; *line; line = strchr(line, '\n') + 1)
            CHECK(strcspn(line, "\n") < 1200);
        CHECK_EQ(times_in(heard, "mmmm#"), 0);
        CHECK(times_in(heard, "mmm") > 0);
    }
}

TEST(threads_have_names)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "threads");
    CHECK_EQ(times_in(heard, "thread 0 own trainer\n"), 1);
    CHECK_EQ(times_in(heard, "thread 1 own loader\n"), 1);
    CHECK_EQ(times_in(heard, "push 1 gnomon"), 1);
    CHECK_EQ(times_in(heard, "stream "), 2); /* as without a cuda.h */
    CHECK_EQ(times_in(heard, "stream 0 0x70 compute\n"), 1);
    CHECK_EQ(times_in(heard, "stream 0 0x80 (null)\n"), 1);
}

/* All threads use the same regions at once; each thread's calls are balanced
 * (the tool writes FAULT otherwise). */
TEST(eight_threads)
{
    NEEDS_TOOL();
    for (int i = 0; i < 2; i++) {
        const char *heard =
            i ? HEAR(LISTEN "NVTX_TOOL_COUNTERS=1\nGNOMON=nvtx", "crowd")
              : HEAR(LISTEN "GNOMON=nvtx", "crowd");
        CHECK_EQ(times_in(heard, "\npush "), 1600);
        CHECK_EQ(times_in(heard, "\npop "), 1600);
        CHECK_EQ(times_in(heard, "\nstart "), 800);
        CHECK_EQ(times_in(heard, "\nend "), 800);
        CHECK_EQ(times_in(heard, "\"shared\"\n"), 800);
        CHECK_EQ(times_in(heard, "\"name 7\"\n"), 8);
        CHECK_EQ(times_in(heard, " crowd\n"), /* category, counter */
                 1 + times_in(heard, "counter "));
        CHECK_EQ(times_in(heard, "\nmark ") + times_in(heard, "\nsample "),
                 800);
    }
}

TEST(errno_is_the_hosts)
{
    NEEDS_TOOL();
    HEAR(LISTEN "GNOMON=nvtx", "errno");
    CHECK_STR(result.out, "errno 77\n");
    HEAR(LISTEN "GNOMON='nvtx(capture=steps,schedule=active:1)'", "errno");
    CHECK_STR(result.out, "errno 77\n");
}

/* ---- With others, and options ------------------------------------------------- */

TEST(filters_and_domains_of_several)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN "GNOMON=nvtx(filter=inner),nvtx(filter=read,domain=second "
                    "one),simple",
             "nest");
    CHECK_EQ(times_in(heard, "domain "), 2);
    CHECK_EQ(times_in(heard, "\npush 0 gnomon "), 2);
    CHECK_EQ(times_in(heard, "\npush 0 second one "), 2);
    CHECK_EQ(times_in(heard, "\npop "), 4);
    CHECK_EQ(times_in(heard, "\"outer\""), 0);
    CHECK_TABLE(result.err, "Profiler Report", "outer", "inner", "read",
                "plain");
}

TEST(a_profiler_that_goes_and_comes_again)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "detach");
    CHECK_EQ(times_in(heard, "domain gnomon\n"), 1); /* reported once */
    CHECK_EQ(times_in(heard, "\"between\""), 0);
    CHECK_EQ(times_in(heard, "\"before\""), 2);
    CHECK_EQ(times_in(heard, "\"after\""), 1);
    CHECK_EQ(times_in(heard, "end "), 1); /* of what it left open */
    CHECK_STR(result.out, "");
}

TEST(children_are_silent_or_follow)
{
    NEEDS_TOOL();
    const char *heard = HEAR(LISTEN "GNOMON=nvtx", "nest", "fork");
    CHECK_EQ(times_in(heard, "child"), 0);
    CHECK_EQ(times_in(heard, "\"parent\"\n"), 1);
    heard = HEAR(LISTEN "GNOMON=nvtx,fork=follow", "nest", "fork");
    CHECK_EQ(times_in(heard, "domain gnomon\n"), 2);
    CHECK_EQ(times_in(heard, "\"child\"\n"), 1);
    CHECK_EQ(times_in(heard, "\"in the child\"\n"), 1);
    CHECK_EQ(times_in(heard, "\"parent\"\n"), 1);
}

/* ---- Without a tool ------------------------------------------------------ */

#define OFF "gate 0 mask 0 token 0\n"
#define ABSENT \
    "gnomon: nvtx: no tool listens, so it is off: start the program with " \
    "nsys " \
    "profile --trace=cuda,nvtx"

TEST(without_a_tool_it_is_off_and_reports_it)
{
    NEEDS_TOOL();
    static const char *const tools[] = {"NVTX_TOOL_OUT=heard\n",
                                        LISTEN "NVTX_TOOL_DEAF=1\n"};
    char environment[512];
    for (int i = 0; i < 2; i++) {
        snprintf(environment, sizeof environment, "%sGNOMON=nvtx", tools[i]);
        CHECK_STR(HEAR(environment, "nest", "masks", "step"), "");
        CHECK_STR(result.err, ABSENT "\n");
        CHECK_STR(result.out, OFF);
    }
    HEAR("GNOMON=nvtx(capture=steps),nvtx(capture=nvtx)", "nest", "masks");
    CHECK_STR(result.err, ABSENT " --capture-range=cudaProfilerApi "
                                 "--capture-range-end=stop\n");
    HEAR("GNOMON=nvtx(capture=cuda,schedule=wait:1/active:1)", "nest", "masks");
    CHECK_STR(result.err, ABSENT " --capture-range=cudaProfilerApi "
                                 "--capture-range-end=repeat\n");
    HEAR("GNOMON=nvtx(capture=nvtx,domain=mine)", "nest", "masks");
    CHECK_STR(result.err, ABSENT " --capture-range=nvtx "
                                 "--nvtx-capture=gnomon.capture@mine "
                                 "--capture-range-end=stop\n");
    HEAR("GNOMON=simple,nvtx", "nest", "masks");
    CHECK_EQ(times_in(result.err, ABSENT "\n"), 1);
    CHECK_EQ(times_in(result.out, OFF), 0);
    CHECK_EQ(times_in(result.err, "|  inner"), 1);
}

#define OFF_FOR "gnomon: nvtx: no tool listens, so it is off: "

TEST(a_tool_that_cannot_be_loaded_is_named)
{
    NEEDS_TOOL();
    HEAR("NVTX_INJECTION64_PATH=/none.so\nGNOMON=nvtx", "nest", "masks");
    CHECK_EQ(times_in(result.err, OFF_FOR "$NVTX_INJECTION64_PATH cannot be "
                                          "loaded: /none.so: "),
             1);
    CHECK_EQ(times_in(result.err, "\n"), 1);
    CHECK_STR(result.out, OFF);
    HEAR("NVTX_INJECTION64_PATH=" TOOLS "cuda.so\nGNOMON=nvtx", "nest",
         "masks");
    CHECK_STR(result.err, OFF_FOR
              "$NVTX_INJECTION64_PATH is no tool of NVTX: " TOOLS "cuda.so\n");
    CHECK_STR(result.out, OFF);
}

/* ---- Tools without domains ------------------------------------------------------ */

#define NO_DOMAINS \
    "gnomon: nvtx: the tool knows no domains: all ranges are in the default " \
    "one\n"

TEST(a_tool_of_the_core_table_is_served_in_the_default_domain)
{
    NEEDS_TOOL();
    char wanted[1024];
    unsigned io = hash_of("io");
    static const char *const calls[] = {"push ", "pop ", "start ", "end ",
                                        "mark ", "cate", NULL};
    const char *heard =
        HEAR(LISTEN "NVTX_TOOL_CORE=1\nGNOMON=nvtx", "cross", "facts");
    const char *saved = strstr(heard, " plain \"saved\"");
    snprintf(wanted, sizeof wanted,
             "push 0 default " PLAIN "plain \"a\"\n"
             "start 0 0 default " PLAIN "plain \"first\"\n"
             "push 0 default " PLAIN "plain \"b\"\n"
             "start 0 1 default " PLAIN "plain \"second\"\n"
             "pop 0\npop 0\nend 0 0\nend 0 1\n"
             "mark 0 default " PLAIN "plain \"epoch\"\n"
             "mark 0 default " PLAIN "value 2.5 plain \"loss\"\n"
             "mark 0 default " PLAIN "value 1.5 plain \"loss\"\n"
             "mark 0 default " PLAIN "value 0.25 plain \"loss\"\n"
             "category default %u io\n"
             "mark 0 default category %u colour %.8s plain \"saved\"\n",
             io, io, saved ? saved - 8 : "");
    CHECK_STR(lines_of(heard, calls), wanted);
    CHECK_STR(result.err, NO_DOMAINS);
}

TEST(a_tool_without_attributes_gets_names)
{
    NEEDS_TOOL();
    static const char *const calls[] = {"push ", "pop ", "start ", "end ",
                                        "mark ", "cate", NULL};
    const char *heard =
        HEAR(LISTEN "NVTX_TOOL_CORE=names\nGNOMON=nvtx", "cross", "facts");
    CHECK_STR(lines_of(heard, calls),
              "push 0 \"a\"\nstart 0 0 \"first\"\npush 0 \"b\"\n"
              "start 0 1 \"second\"\npop 0\npop 0\nend 0 0\nend 0 1\n"
              "mark 0 \"epoch\"\nmark 0 \"loss\"\nmark 0 \"loss\"\n"
              "mark 0 \"loss\"\nmark 0 \"saved\"\n");
    CHECK_STR(result.err, NO_DOMAINS);
}

/* It has functions for the default domain as well. */
TEST(a_tool_that_does_not_want_the_domain_gets_nothing)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN "NVTX_TOOL_REFUSES=mine\nGNOMON=nvtx(domain=mine)", "nest",
             "facts", "masks");
    CHECK_STR(heard, "domain mine\n");
    CHECK_STR(result.err, "gnomon: nvtx: the tool does not want the domain "
                          "'mine', so it is off\n");
    CHECK_STR(result.out, OFF);
    HEAR(LISTEN "NVTX_TOOL_REFUSES=mine\nGNOMON=nvtx(domain=mine),nvtx", "nest",
         "masks");
    CHECK_EQ(times_in(result.err, "\n"), 1);
    CHECK_EQ(times_in(result.out, OFF), 0);
}

/* gnomon's own library for NVTX programs: its symbol in a tool that must not
 * get calls, and the library itself, where it is built. */
TEST(gnomon_is_not_its_own_tool)
{
    NEEDS_TOOL();
    static const char *const own[] = {TOOLS "own.so",
                                      TEST_BINARY_DIR "/../libgnomon-nvtx.so"};
    for (int i = 0; i < 2 && access(own[i], F_OK) == 0; i++) {
        char environment[1024];
        snprintf(environment, sizeof environment,
                 "NVTX_INJECTION64_PATH=%s\nGNOMON=nvtx", own[i]);
        CHECK_STR(HEAR(environment, "nest", "masks"), "");
        CHECK_STR(result.err,
                  "gnomon: nvtx: the tool is gnomon itself, which would "
                  "count its own ranges: off\n");
        CHECK_STR(result.out, OFF);
    }
}

TEST(a_build_without_headers_reports_it)
{
    if (access(TOOLS "tool.so", F_OK) == 0)
        SKIP("this build has them");
    HEAR("GNOMON=nvtx(domain=a,capture=steps)", "nest", "masks");
    CHECK_EQ(times_in(result.err, "gnomon: nvtx: not in this build: "), 1);
    CHECK_EQ(times_in(result.err, "\n"), 1);
    CHECK_STR(result.out, OFF);
}

/* ---- Capture ranges ------------------------------------------------------------ */

#define CUDA "GNOMON_CUDA_LIBRARY=" TOOLS "cuda.so\n"
#define BEGIN "start 0 0 gnomon " PLAIN "\"gnomon.capture\"\n"

static const char *captures(const char *heard)
{
    static const char *const lines[] = {"cuda ", "start ", "end ", NULL};
    return lines_of(heard, lines);
}

/* Steps 1 and 2 of five, twice; scopes fall into the windows exactly. */
TEST(windows_of_a_schedule_are_capture_ranges)
{
    NEEDS_TOOL();
#define FIVE \
    "facts", "step", "facts", "step", "facts", "step", "facts", "step", \
        "facts", "step"
    static const char two_windows[] =
        "cuda start\nstart 0 0 gnomon " PLAIN "\"gnomon.capture\"\n"
        "m\nm\nend 0 0\ncuda stop\n"
        "cuda start\nstart 0 1 gnomon " PLAIN "\"gnomon.capture\"\n"
        "m\nm\nend 0 1\ncuda stop\n";
    static const char *const libraries[][3] = {
        {CUDA, "begin", "begin"},
        {"", "load=" TOOLS "loaded/libcudart.so.12",
         "load=" TOOLS "loaded/libcuda.so.1"}};
    for (int i = 0; i < 2; i++) {
        char environment[1024], seen[1024] = "";
        snprintf(environment, sizeof environment,
                 LISTEN "%sGNOMON=nvtx(capture=steps,schedule=wait:1/active:2/"
                        "repeat:2,filter=epoch)",
                 libraries[i][0]);
        const char *heard =
            HEAR(environment, libraries[i][1], libraries[i][2], FIVE, FIVE);
        for (const char *line = strchr(heard, '\n') + 1; *line;
             line = strchr(line, '\n') + 1) {
            if (strncmp(line, "mark", 4) == 0)
                strcat(seen, "m\n");
            else
                strncat(seen, line, strcspn(line, "\n") + 1);
        }
        CHECK_STR(seen, two_windows);
        CHECK_STR(result.err, "");
    }
}

TEST(captures_in_one_way_only)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN CUDA "GNOMON=nvtx(capture=cuda,schedule=active:1/repeat:1)",
             "step", "step");
    CHECK_STR(captures(heard), "cuda start\ncuda stop\n");
    heard =
        HEAR(LISTEN CUDA "GNOMON=nvtx(capture=nvtx,schedule=active:1/repeat:1)",
             "step", "step");
    CHECK_STR(captures(heard), BEGIN "end 0 0\n");
    heard = HEAR(LISTEN "NVTX_TOOL_NO_STRINGS=1\n"
                        "GNOMON=nvtx(capture=nvtx,schedule=active:1/repeat:1)",
                 "step", "step");
    CHECK_EQ(times_in(heard, "gnomon.capture"), 1);
    heard = HEAR(LISTEN CUDA "GNOMON=nvtx(schedule=active:1)", "step", "step");
    CHECK_STR(captures(heard), "");
    heard = HEAR(LISTEN CUDA "GNOMON=nvtx(capture=some)", "step");
    CHECK_STR(captures(heard), "");
    CHECK_STR(result.err,
              "gnomon: nvtx: capture=: say none, steps, cuda or nvtx\n");
}

/* A tool stops after its first range by default. */
TEST(without_a_schedule_all_stages_are_one_capture)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN CUDA "GNOMON=nvtx(capture=steps)", "stage=fit", "nest",
             "step", "end", "stage=test", "nest", "end", "configure");
    CHECK_EQ(times_in(heard, "cuda start\n"), 1);
    CHECK_EQ(times_in(heard, "cuda stop\n"), 1);
    CHECK(strstr(heard, "end 0 0\ncuda stop\n") != NULL);
    CHECK_EQ(strlen(strstr(heard, "end 0 0\n")),
             strlen("end 0 0\ncuda stop\n"));
}

/* ... and the end of a stage, and of the process, is the end of a window. */
TEST(windows_end_with_their_stage)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN CUDA "GNOMON=nvtx(capture=cuda,schedule=active:5)",
             "stage=fit", "step", "end", "facts", "stage=test", "step");
    CHECK_STR(captures(heard), "cuda start\ncuda stop\n"
                               "cuda start\ncuda stop\n");
    const char *between = strstr(heard, "cuda stop\n");
    CHECK(between &&
          strstr(between, "\"epoch\"") < strstr(between, "cuda start\n"));
}

#define NO_CUDA(what) \
    "gnomon: nvtx: capture=: CUDA is not in use on this thread: " \
    "--capture-range=cudaProfilerApi " what "\n"
#define NO_WINDOW NO_CUDA("sees no window")
#define LATER NO_CUDA("begins at a later stage or step, once it is")

TEST(a_program_without_cuda_is_reported_once)
{
    NEEDS_TOOL();
    HEAR(LISTEN "GNOMON=nvtx(capture=steps,schedule=wait:1/active:1)", "step",
         "step", "step", "step");
    CHECK_STR(result.err, NO_WINDOW);
    HEAR(LISTEN "GNOMON_CUDA_LIBRARY=/none.so\nGNOMON=nvtx(capture=cuda)",
         "step");
    CHECK_STR(result.err, LATER);
}

/* A first mark may come before the device is chosen, and before a fork:
 * CUDA's runtime, which would create a context, is never called. */
TEST(no_capture_begins_the_use_of_cuda)
{
    NEEDS_TOOL();
    const char *heard =
        HEAR(LISTEN "GNOMON=nvtx(capture=cuda)",
             "load=" TOOLS "loaded/libcudart.so.12", "nest", "step", "step");
    CHECK_STR(captures(heard), "");
    CHECK_STR(result.err, LATER);
    /* It waits for the host: a schedule's window is not cut for it. */
    heard = HEAR(LISTEN CUDA "CUDA_LATE=3\nGNOMON=nvtx(capture=cuda)", "nest",
                 "step", "step", "facts", "step", "nest", "step", "configure");
    CHECK_STR(captures(heard), "cuda start\ncuda stop\n");
    CHECK_STR(result.err, LATER);
    CHECK_STR(
        captures(HEAR(LISTEN CUDA "CUDA_LATE=1\nGNOMON=nvtx(capture=cuda)",
                      "nest", "stage=fit", "nest", "configure")),
        "cuda start\ncuda stop\n");
    const char *start = strstr(heard, "cuda start\n");
    CHECK(start && strstr(heard, "\"saved\"") < start &&
          strstr(start, "push ") && !strstr(start, "mark "));
    heard =
        HEAR(LISTEN CUDA "CUDA_LATE=1\n"
                         "GNOMON=nvtx(capture=cuda,schedule=wait:1/active:1)",
             "nest", "step", "step", "step", "step");
    CHECK_STR(captures(heard), "cuda start\ncuda stop\n");
    CHECK_STR(result.err, NO_WINDOW);
}
