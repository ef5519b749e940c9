/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The payloads that the profiler nvtx sends with scopes that compute an operation, as a
 * tool reads them (nvtx_out/tool.c).
 * labels: guest */
#include "test.h"

#include "child.h"

#define TOOLS TEST_BINARY_DIR "/nvtx_out/"
#define LISTEN "NVTX_TOOL_OUT=heard\nNVTX_INJECTION64_PATH=" TOOLS "tool.so\n"
#define PLAIN "gnomon category 0 colour 00000000 \"linear\""

static const char *hear(const char *environment)
{
    child_folder();
    unlink("heard");
    child_result result = child_run(CHILD_PROGRAM("nvtx_marks"), environment,
                                    (const char *const[]){"compute", NULL});
    CHECK_EQ(result.status, 0);
    const char *heard = child_read("heard");
    CHECK_EQ(times_in(heard ? heard : "", "FAULT"), 0);
    return heard ? heard : "";
}

#define NEEDS_PAYLOADS(heard) \
    if (access(TOOLS "tool.so", F_OK)) \
        SKIP("no headers of NVTX: its profiler is not built"); \
    const char *heard = hear(LISTEN "NVTX_TOOL_PAYLOADS=1\nGNOMON=nvtx"); \
    if (!times_in(heard, "layout ")) \
    SKIP("these headers of NVTX know no payloads")

/* Each field lies where the layout says, and texts are registered strings. */
TEST(ranges_of_operations_have_payloads)
{
    NEEDS_PAYLOADS(heard);
    CHECK_EQ(times_in(heard, "layout gnomon 16777217 gnomon.op 56 operation@0 "
                             "dtype@8 inputs@16 attributes@24 flops@32 "
                             "bytes@40 backward@48\n"),
             1);
    CHECK_EQ(times_in(heard, "layout "), 1);
    CHECK_EQ(
        times_in(heard,
                 "push 0 " PLAIN " gnomon.op{operation=matmul;dtype=float32;"
                 "inputs=[{\"dtype\": \"float32\", \"dims\": [8, 64], "
                 "\"strides\": [64, 1]}, {\"dtype\": \"float32\", \"dims\": "
                 "[64, 32]}];attributes={};flops=32768;bytes=10240;"
                 "backward=0;}\n"),
        2);
    CHECK_EQ(
        times_in(heard,
                 "push 0 " PLAIN " gnomon.op{operation=matmul;"
                 "dtype=float32,float32,a \"b\";"
                 "inputs=[{\"dtype\": \"float32\", \"dims\": [8, 64], "
                 "\"strides\": [64, 1]}, {\"dtype\": \"float32\", \"dims\": "
                 "[64, 32]}, {\"dtype\": \"a \\\"b\\\"\", \"dims\": []}];"
                 "attributes={\"transpose\": [false, true], \"eps\": 1e-5};"
                 "flops=18446744073709551615;bytes=10240;backward=1;}\n"),
        1);
    CHECK_EQ(times_in(heard, "start 0 0 " PLAIN " gnomon.op{operation=relu;"
                             "dtype=;inputs=[];attributes={};flops=0;bytes=0;"
                             "backward=0;}\n"),
             1);
    CHECK_EQ(times_in(heard, "push 0 " PLAIN "\n"), 1); /* without one */
    CHECK_EQ(times_in(heard, "push "), 4);
}

/* A domain has its own layout and strings. */
TEST(each_domain_has_its_layout)
{
    NEEDS_PAYLOADS(heard);
    heard = hear(LISTEN "NVTX_TOOL_PAYLOADS=1\nGNOMON=nvtx(domain=mine)");
    CHECK_EQ(times_in(heard, "layout mine "), 1);
    CHECK_EQ(times_in(heard, " gnomon.op{"), 4);
}

/* A tool that knows no payloads, or does not take the layout, gets the ranges. */
TEST(other_tools_get_the_ranges_alone)
{
    NEEDS_PAYLOADS(heard);
    static const char *const tools[] = {
        LISTEN "GNOMON=nvtx", LISTEN "NVTX_TOOL_PAYLOADS=late\nGNOMON=nvtx",
        LISTEN "NVTX_TOOL_PAYLOADS=1\nNVTX_TOOL_NO_STRINGS=1\nGNOMON=nvtx",
        LISTEN "NVTX_TOOL_PAYLOADS=1\nNVTX_TOOL_CORE=1\nGNOMON=nvtx"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        heard = hear(tools[i]);
        CHECK_EQ(times_in(heard, "push 0 "), 4);
        CHECK_EQ(times_in(heard, "start 0 0 "), 1);
        CHECK_EQ(times_in(heard, "gnomon.op{"), 0);
    }
}

/* As a plugin it knows what regions compute by its options alone. */
TEST(the_plugin_sends_payloads_too)
{
    NEEDS_PAYLOADS(heard);
    heard = hear(LISTEN "NVTX_TOOL_PAYLOADS=1\nGNOMON=" TEST_BINARY_DIR
                        "/plugins/nvtx.so");
    CHECK_EQ(times_in(heard, " gnomon.op{"), 4);
}
