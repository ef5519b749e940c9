/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The report of cuda, byte for byte, on the test clock: two vendors, several
 * devices, times that were lost, and devices that were not there. */
#include <locale.h>

#include "child.h"
#include "fake_cuda.h"
#include "fake_device.h"
#include "probe_profile.h"

#define TITLE(stage) stage "Device Report\n\n"
#define HEADS_OF_CELLS \
    "     Num calls    Stream (s)      Self (s)     Mean (ms)      Min (ms)  " \
    "   " \
    " " \
    "Max (ms)      Host (s)"
#define HEADS "Action " HEADS_OF_CELLS

#define US 1000u
#define MS 1000000u

extern const gnomon_profiler *const gnomon__builtin_cuda_profiler;

static char text[1u << 20];
static void *stream;
static toy_stream *apart;
static uint64_t cuda_cost, toy_cost; /* ns of an event */

static int keep(const gnomon_writer *writer, const void *bytes, size_t size)
{
    (void)writer;
    size_t used = strlen(text);
    memcpy(text + used, bytes, size);
    text[used + size] = 0;
    return GNOMON_OK;
}

static const char *report(const char *profiler)
{
    const gnomon_writer writer = {.struct_size = sizeof writer, .write = keep};
    *text = 0;
    CHECK_EQ(gnomon_summary(profiler, &writer), GNOMON_OK);
    return text;
}

/* Both devices' clocks are set and the cost of events is measured before the
 * first counted mark, so that nothing depends on when the reader runs. */
static void begin(const char *spec)
{
    fake_cuda_use();
    stream = cuda->stream(cuda->context(0));
    apart = toy_make_stream(toy_device_context(3));
    cuda->event_cost(cuda_cost);
    toy_event_ns = toy_cost;
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    GNOMON_REGION(warm, "warm", NULL);
    gnomon_end_on(gnomon_begin_on(&warm, gnomon_cuda_device(), stream));
    gnomon_end_on(gnomon_begin_on(&warm, &toy, apart));
    for (int i = 0; i < 3; i++) {
        gnomon_profile_free(profile_of("timed", 0));
        pass(10 * MS);
    }
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
}

static void end(void)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    fake_cuda_is_well();
    CHECK_EQ(toy_faults, 0);
}

static void scope_on(const char *name, void *on, uint64_t ns)
{
    gnomon_device_scope s =
        gnomon_begin_on(gnomon_region_get(name, NULL, GNOMON_KIND_SCOPE),
                        gnomon_cuda_device(), on);
    cuda->launch(on, ns);
    pass(10 * US);
    gnomon_end_on(s);
}

static const char *metadata_of(const gnomon_profile *p, const char *key)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++)
        if (strcmp(m.key, key) == 0)
            return m.json;
    return "";
}

/* Its number depends on CUDA_VISIBLE_DEVICES; which one it is does not. */
TEST(which_device_it_is)
{
    begin("cuda(file=/dev/null)");
    scope_on("forward", stream, 1 * MS);
    pass(100 * MS);
    gnomon_stage_end();
    gnomon_profile *p = profile_of("cuda", 0);
    CHECK_STR(metadata_of(p, "gnomon.cuda.0.uuid"),
              "\"GPU-00010203-0405-0607-0809-0a0b0c0d0e0f\"");
    CHECK_STR(metadata_of(p, "gnomon.cuda.0.pci"), "\"0000:3b:00.0\"");
    CHECK_STR(metadata_of(p, "gnomon.cuda.0.processors"), "132");
    CHECK_STR(metadata_of(p, "gnomon.cuda.0.memory"), "150323855360");
    CHECK_STR(metadata_of(p, "gnomon.toy.3.uuid"), ""); /* it does not say */
    gnomon_profile_free(p);
    end();
}

TEST(devices_of_two_vendors)
{
    cuda_cost = 600;
    toy_cost = 1250;
    begin("cuda(file=/dev/null)");
    gnomon_stage_begin("fit");
    for (unsigned i = 1; i <= 3; i++) {
        gnomon_region *r =
            gnomon_region_get("forward", NULL, GNOMON_KIND_SCOPE);
        gnomon_device_scope s =
            gnomon_begin_on(r, gnomon_cuda_device(), stream);
        cuda->launch(stream, i * MS);
        scope_on("attention", stream, 500 * US);
        gnomon_end_on(s);
        r = gnomon_region_get("copy", NULL, GNOMON_KIND_SCOPE);
        s = gnomon_begin_on(r, &toy, apart);
        toy_launch(apart, 20 * MS);
        gnomon_end_on(s);
        pass(100 * MS);
    }
    CHECK_STR(
        report("cuda"),
        TITLE("FIT ") "Action   " HEADS_OF_CELLS "\n" /* clang-format off */
"copy                  3      0.060004      0.060004       20.0013       20.0013       20.0013      0.000000\n"
"forward               3      0.007505      0.006004        2.5018        1.5018        3.5018      0.000030\n"
"attention             3      0.001502      0.001502        0.5006        0.5006        0.5006      0.000030\n"
"cuda 0, Fake ?0?: two events one after the other take 1.2 us of a stream, so an empty scope measures 0.6 us\n"
"toy 3, Toy 3: two events one after the other take 2.5 us of a stream, so an empty scope measures 1.3 us\n"
"\n" /* clang-format on */);
    end();
}

/* Columns stand below one another whatever the script; the decimal point is no
 * locale's; equal times are in the order of names. */
TEST(names)
{
    begin("cuda(file=/dev/null)");
    setlocale(LC_ALL, "de_DE.UTF-8");
    scope_on("r\xc3\xbc"
             "ckw\xc3\xa4rts \xe2\x86\x92",
             stream, 65432000000);
    scope_on("b", stream, 999950);
    scope_on("a", stream, 999950);
    pass(70000000000);
    CHECK_STR(
        report("cuda"), TITLE("") /* clang-format off */
"Action          Num calls    Stream (s)      Self (s)     Mean (ms)      Min (ms)      Max (ms)      Host (s)\n"
"r\xc3\xbc" "ckw\xc3\xa4rts \xe2\x86\x92             1     65.432000     65.432000    65432.0000    65432.0000    65432.0000      0.000010\n"
"a                       1      0.001000      0.001000        1.0000        1.0000        1.0000      0.000010\n"
"b                       1      0.001000      0.001000        1.0000        1.0000        1.0000      0.000010\n"
"\n" /* clang-format on */);
    end();
}

/* by= is of a table, also in the running program. */
TEST(rows_by_category)
{
    begin("cuda(file=/dev/null,by=category,columns=calls|total)");
    for (int i = 0; i < 3; i++) {
        gnomon_device_scope s = gnomon_begin_on(
            gnomon_region_get("copy", i ? "io" : NULL, GNOMON_KIND_SCOPE),
            gnomon_cuda_device(), stream);
        cuda->launch(stream, (unsigned)(i + 1) * MS);
        pass(10 * US);
        gnomon_end_on(s);
        pass(100 * MS);
    }
    CHECK_STR(report("cuda"), "Device Report by category\n"
                              "\n"
                              "Category io\n"
                              "  Action  Calls    Stream\n"
                              "  copy        2  5.000 ms\n"
                              "\n"
                              "Category (none)\n"
                              "  Action  Calls    Stream\n"
                              "  copy        1  1.000 ms\n");
    end();
}

TEST(many_rows)
{
    char name[16], expected[1u << 16] = "";
    size_t n = 0;
    begin("cuda(file=/dev/null)");
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "layer %03u", (i * 7) % 200);
        scope_on(name, stream, ((i * 7) % 200 + 1) * MS);
    }
    pass(100000 * (uint64_t)MS);
    n += (size_t)snprintf(expected, sizeof expected, "%s",
                          TITLE("") "Action   " HEADS_OF_CELLS "\n");
    for (unsigned i = 200; i--;)
        n += (size_t)snprintf(expected + n, sizeof expected - n,
                              "layer %03u             1      0.%03u000      "
                              "0.%03u000  %7u.0000  %7u.0000  %7u.0000      "
                              "0.000010\n",
                              i, i + 1, i + 1, i + 1, i + 1, i + 1);
    snprintf(expected + n, sizeof expected - n, "\n");
    CHECK_STR(report("cuda"), expected);
    end();
}

/* The same name on many paths and threads is one row; each of several devices has one
 * below it. */
static void *elsewhere(void *unused)
{
    GNOMON_SCOPE("outer");
    cuda->context(1);
    scope_on("forward", cuda->stream(cuda->context(1)), 2 * MS);
    return unused;
}

TEST(one_row_for_a_name)
{
    begin("cuda(file=/dev/null)");
    scope_on("forward", stream, 1 * MS);
    on_thread(elsewhere, NULL);
    pass(100 * MS);
    CHECK_STR(report("cuda"), TITLE("") HEADS
              "\n" /* clang-format off */
"forward             2      0.003000      0.003000        1.5000        1.0000        2.0000      0.000020\n"
"  GPU 0             1      0.001000      0.001000        1.0000        1.0000        1.0000              \n"
"  GPU 1             1      0.002000      0.002000        2.0000        2.0000        2.0000              \n"
"\n" /* clang-format on */);
    end();
}

/* ---- Missing devices ----------------------------------------------------- */

TEST(lost_times_are_listed)
{
    begin("cuda(file=/dev/null)");
    scope_on("forward", stream, 1 * MS);
    cuda->capture(stream, 1);
    scope_on("forward", stream, 1 * MS);
    scope_on("in a graph", stream, 1 * MS);
    cuda->capture(stream, 0);
    pass(100 * MS);
    CHECK_STR(report("cuda"), TITLE("") HEADS
              "\n" /* clang-format off */
"forward           1/2      0.001000      0.001000        1.0000        1.0000        1.0000      0.000020\n"
"\n" /* clang-format on */);
    end();
}

/* Lost times are listed below the report, with the reason. */
TEST(lines_below)
{
    child_folder();
    begin("cuda(file=out.txt,wait=1ms)");
    gnomon_stage_begin("fit");
    scope_on("forward", stream, 1 * MS);
    cuda->capture(stream, 1);
    scope_on("forward", stream, 1 * MS);
    cuda->capture(stream, 0);
    cuda->fail("cuEventRecord", 1, 1, 719);
    scope_on("forward", stream, 1 * MS);
    GNOMON_REGION(region, "forward", NULL);
    (void)gnomon_begin_on(&region, gnomon_cuda_device(), stream);
    scope_on("forward", stream, UINT64_MAX);
    pass(100 * MS);
    gnomon_stage_end();
    char *out = child_read("out.txt");
    CHECK_EQ(times_in(out, "\ngnomon: 1 device time not taken: captured into "
                           "a graph\n"),
             1);
    CHECK_EQ(times_in(out, "\ngnomon: 1 device time lost: the device refused "
                           "a call\n"),
             1);
    CHECK_EQ(times_in(out, "\ngnomon: 1 device time lost: the device had "
                           "not finished when the report was due\n"),
             1);
    CHECK_EQ(times_in(out, "device time"), 3);
    CHECK_EQ(times_in(out, "FIT Device Report\n\nAction"), 1);
    end();
}

TEST(no_scopes_prints_the_title_alone)
{
    begin("cuda(file=/dev/null)");
    CHECK_STR(report("cuda"), TITLE("") "no scope on a stream was timed\n\n");
    {
        GNOMON_SCOPE("plain");
        pass(1 * MS);
    }
    CHECK_STR(report("cuda"), TITLE("") "no scope on a stream was timed\n\n");
    end();
}

/* ---- Together with simple ------------------------------------------------ */

static char *simple_report(const char *spec)
{
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    gnomon_stage_begin("fit");
    for (int i = 0; i < 3; i++) {
        scope_on("forward", stream, 1 * MS);
        scope_on("backward", stream, 2 * MS);
        pass(10 * MS);
    }
    char *kept = child_keep(strdup(report("simple")));
    gnomon_stage_end();
    return kept;
}

TEST(simple_keeps_its_bytes)
{
    begin("passthrough");
    simple_report("simple(file=/dev/null)"); /* the first stage began before */
    const char *alone = simple_report("simple(file=/dev/null)");
    CHECK(strstr(alone, "FIT Profiler Report\n"));
    CHECK_STR(simple_report("simple,cuda,file=/dev/null"), alone);
    CHECK_STR(simple_report("cuda,simple,file=/dev/null"), alone);
    end();
}

/* ---- Metadata ------------------------------------------------------------ */

/* Metadata come from the run and may hold any text: the report stays valid. */
TEST(metadata_in_the_form_of_event_times)
{
    begin("cuda(file=/dev/null)");
    scope_on("a", stream, 1 * MS);
    gnomon_metadata("gnomon.event_ns", "7");
    gnomon_metadata("gnomon..event_ns", "7");
    gnomon_metadata("other.cuda.1.event_ns", "7");
    gnomon_metadata("gnomon.a.kind.with.a.name.that.is.longer.than.any.other."
                    "kind.has.to.be."
                    "1.event_ns",
                    "7");
    gnomon_metadata("gnomon.cuda.7.event_ns", "\"no number\"");
    gnomon_metadata("gnomon.cuda.8.event_ns", "18446744073709551615");
    gnomon_metadata("gnomon.cuda.9.event_ns", "1500");
    gnomon_metadata("gnomon.cuda.10.event_ns", "99");
    gnomon_metadata("gnomon.cuda.10.name", "10");
    pass(10 * MS);
    const char *out = report("cuda");
    CHECK_EQ(times_in(out, "of a stream"), 2);
    CHECK_EQ(times_in(out,
                      "\ncuda 9: two events one after the other take 3.0 "
                      "us of a stream, so an empty scope measures 1.5 us\n"),
             1);
    CHECK_EQ(times_in(out, "\ncuda 10: two events one after the other take "
                           "0.2 us of a stream, so an empty scope measures 0.1 "
                           "us\n"),
             1);
    end();
}

TEST(without_a_profile_nothing_is_written)
{
    gnomon_writer w = {.struct_size = sizeof w, .write = keep};
    CHECK_EQ(gnomon__builtin_cuda_profiler->summary(NULL, NULL, &w),
             GNOMON_EINVAL);
    CHECK_STR(text, "");
}
