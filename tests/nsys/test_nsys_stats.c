/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reports of `nsys stats`: what they say of a file whose sums were made by hand.
 * links: static
 * threads: none
 * needs: cli */
#if GNOMON_WITH_SQLITE

#include "exports.h"

/* Two processes; `step` is twice around `forward`; a kernel, a copy and a memset are
 * launched in `forward`, in `step` another kernel. One call launches two kernels, as a
 * graph does. A range of another domain has no work, and one has no end. */
static void put_all(export_file *x)
{
    static const int64_t begin[] = {100, 1100};
    for (int i = 0; i < 2; i++) {
        const int64_t at = begin[i];
        export_range(x, 1, 5, "step", at, at + 900);
        export_range(x, 1, 5, "forward", at + 10, at + 210 + 100 * i);
        export_call(x, 1, 5, 10 * i + 1, at + 20, at + 30);
        export_call(x, 1, 5, 10 * i + 2, at + 40, at + 60);
        export_call(x, 1, 5, 10 * i + 3, at + 300 + 100 * i,
                    at + 340 + 100 * i);
        export_kernel(x, 1, 10 * i + 1, "gemm", at + 50, 100 + 50 * i);
        export_kernel(x, 1, 10 * i + 3, "void adam<int>(int)", at + 1000, 7);
    }
    export_kernel(x, 1, 3, "void adam<int>(int)", 1200, 7);
    export_range(x, 2, 6, "loader", 50, 60);
    export_range(x, 2, 6, "open", 70, 0);
    export_sql(x, "UPDATE NVTX_EVENTS SET domainId = 4 WHERE start = 50");
    export_sql(x,
               "INSERT INTO NVTX_EVENTS(start, eventType, text, globalTid, "
               "domainId) VALUES(-7, 75, 'data', %" PRId64 ", 4)",
               EXPORT_THREAD(2, 6));
    export_sql(x, "INSERT INTO StringIds VALUES(1000, 'cudaLaunchKernel_v7000')"
                  ", (1001, 'cudaMemcpyAsync_v3020')");
    export_sql(x, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = "
                  "CASE correlationId %% 10 WHEN 2 THEN 1001 ELSE 1000 END");
    export_sql(x, "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, "
                  "correlationId, globalPid, bytes, copyKind)");
    export_sql(x, "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, "
                  "correlationId, globalPid, bytes)");
    export_sql(x,
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(300, 340, 2, "
               "%" PRId64 ", 4000000, 1), (1300, 1360, 12, %" PRId64
               ", 1000000, 1), (9000, 9001, NULL, %" PRId64 ", 500, 8)",
               EXPORT_THREAD(1, 0), EXPORT_THREAD(1, 0), EXPORT_THREAD(1, 0));
    export_sql(x,
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(345, 347, 2, "
               "%" PRId64 ", 2048)",
               EXPORT_THREAD(1, 0));
}

static void check_report(const char *words, const char *wanted)
{
    child_result r = shell("$G nsys %s", words);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, wanted);
}

static void make_file(enum export_generation of)
{
    export_file x = export_begin("x.sqlite", of);
    put_all(&x);
    export_end(&x);
}

TEST(sums_of_calls_and_work_are_those_of_nsys_stats)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_NVPROF; g++) {
        make_file((enum export_generation)g);
        check_report(
            "cuda_api_sum x.sqlite --csv",
            "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),"
            "Max (ns),StdDev (ns),Name\n"
            "71.4,100,4,25.0,25.0,10,40,17.3,cudaLaunchKernel\n"
            "28.6,40,2,20.0,20.0,20,20,0.0,cudaMemcpyAsync\n");
        check_report(
            "cuda_gpu_kern_sum x.sqlite --csv",
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),"
            "Max (ns),StdDev (ns),Name\n"
            "92.3,250,2,125.0,125.0,100,150,35.4,gemm\n"
            "7.7,21,3,7.0,7.0,7,7,0.0,void adam<int>(int)\n");
        check_report(
            "cuda_gpu_mem_time_sum x.sqlite --csv",
            "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),"
            "Max (ns),StdDev (ns),Operation\n"
            "97.1,100,2,50.0,50.0,40,60,14.1,[CUDA memcpy Host-to-Device]\n"
            "1.9,2,1,2.0,2.0,2,2,0.0,[CUDA memset]\n"
            "1.0,1,1,1.0,1.0,1,1,0.0,[CUDA memcpy Device-to-Device]\n");
        check_report(
            "cuda_gpu_mem_size_sum x.sqlite --csv",
            "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),"
            "StdDev (MB),Operation\n"
            "5.0,2,2.5,2.5,1.0,4.0,2.121,[CUDA memcpy Host-to-Device]\n"
            "0.002,1,0.002,0.002,0.002,0.002,0.0,[CUDA memset]\n"
            "0.001,1,0.001,0.001,0.001,0.001,0.0,[CUDA memcpy "
            "Device-to-Device]\n");
    }
}

TEST(sums_of_ranges_are_those_of_nsys_stats)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_NVPROF; g++) {
        make_file((enum export_generation)g);
        check_report(
            "nvtx_sum x.sqlite --csv",
            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),"
            "Max (ns),StdDev (ns),Style,Range\n"
            "45.5,1930,1,1930.0,1930.0,1930,1930,0.0,PushPop,:open\n"
            "42.5,1800,2,900.0,900.0,900,900,0.0,PushPop,:step\n"
            "11.8,500,2,250.0,250.0,200,300,70.7,PushPop,:forward\n"
            "0.2,10,1,10.0,10.0,10,10,0.0,PushPop,data:loader\n");
        check_report(
            "nvtx_kern_sum x.sqlite --csv",
            "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),"
            "Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Kernel Name\n"
            ":forward,PushPop,1,5,2,2,250,125.0,125.0,100,150,35.4,gemm\n"
            ":step,PushPop,1,5,2,2,250,125.0,125.0,100,150,35.4,gemm\n"
            ":step,PushPop,1,5,2,3,21,7.0,7.0,7,7,0.0,void adam<int>(int)\n");
    }
}

TEST(work_is_projected_onto_ranges)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_NVPROF; g++) {
        make_file((enum export_generation)g);
        check_report(
            "nvtx_gpu_proj_sum x.sqlite --csv",
            "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range "
            "Instances,Proj Avg (ns),Proj Med (ns),Proj Min (ns),Proj Max (ns),"
            "Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num "
            "Child\n"
            ":step,PushPop,2014,1800,2,1007.0,1007.0,957,1057,70.7,6,3.0,0.0,1."
            "0\n"
            ":forward,PushPop,407,500,2,203.5,203.5,197,210,9.2,4,2.0,1.0,0."
            "0\n");
        check_report(
            "nvtx_gpu_proj_trace x.sqlite --csv",
            "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),"
            "Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,"
            "ParentId,RangeStack\n"
            ":step,150,1057,100,900,PushPop,1,5,3,0,1,1,,:1\n"
            ":forward,150,197,110,200,PushPop,1,5,2,1,0,2,1,:1:2\n"
            ":step,1150,957,1100,900,PushPop,1,5,3,0,1,3,,:3\n"
            ":forward,1150,210,1110,300,PushPop,1,5,2,1,0,4,3,:3:4\n");
    }
}

TEST(reports_have_forms_and_limits)
{
    NEEDS_PROGRAM;
    make_file(EXPORT_3_25);
    check_report("cuda_gpu_kern_sum x.sqlite --top 1",
                 "Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  "
                 "Min (ns)  Max (ns)  StdDev (ns)  Name\n"
                 "    92.3              250          2     125.0     125.0  "
                 "     100       150         35.4  gemm\n");
    check_report("nvtx_gpu_proj_trace x.sqlite --top 1 --json",
                 "[\n {\"Name\": \":step\", \"Projected Start (ns)\": 150, "
                 "\"Projected Duration (ns)\": 1057, \"Orig Start (ns)\": 100, "
                 "\"Orig Duration (ns)\": 900, \"Style\": \"PushPop\", "
                 "\"PID\": 1, \"TID\": 5, \"NumGPUOps\": 3, \"Lvl\": 0, "
                 "\"NumChild\": 1, \"RangeId\": 1, \"ParentId\": null, "
                 "\"RangeStack\": \":1\"}\n]\n");
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 5, "=a\"b,c", 5, 95);
    export_end(&x);
    child_result r = shell("$G nsys nvtx_sum x.sqlite --csv | tail -1");
    CHECK_STR(r.out, "100.0,90,1,90.0,90.0,90,90,0.0,PushPop,\":=a\"\"b,c\"\n");
    CHECK_EQ(shell("$G nsys cuda_gpu_kern_sum x.sqlite").status, 3);
    CHECK_EQ(shell("$G nsys nvtx_gpu_proj_sum x.sqlite").status, 3);
    CHECK_EQ(shell("$G nsys nvtx_gpu_proj_sum").status, 1);
    CHECK_EQ(shell("$G nsys nope_sum x.sqlite").status, 1);
    CHECK_EQ(shell("ls | grep -v said").status, 0);
    CHECK_STR(shell("ls").out, "x.sqlite\n");
}

/* By process, device and stream, by domain and name. */
TEST(reports_are_of_what_was_asked_for)
{
    NEEDS_PROGRAM;
    make_file(EXPORT_3_25);
    check_report("cuda_gpu_kern_sum x.sqlite --process 1 --device 0 --stream 7 "
                 "--csv | cut -d, -f3,9",
                 "Instances,Name\n2,gemm\n3,void adam<int>(int)\n");
    CHECK_EQ(shell("$G nsys cuda_gpu_kern_sum x.sqlite --stream 8").status, 3);
    CHECK_EQ(shell("$G nsys cuda_gpu_kern_sum x.sqlite --process 2").status, 3);
    check_report("nvtx_sum x.sqlite --process 2 --csv | cut -d, -f3,10",
                 "Instances,Range\n1,data:loader\n1,:open\n");
    check_report("nvtx_sum x.sqlite --domain data --csv | cut -d, -f3,10",
                 "Instances,Range\n1,data:loader\n");
    check_report("nvtx_sum x.sqlite --domain default --range 's*' --csv | cut "
                 "-d, -f3,10",
                 "Instances,Range\n2,:step\n");
    check_report("nvtx_gpu_proj_sum x.sqlite --range fo* --csv | cut -d, "
                 "-f1,5,11",
                 "Range,Range Instances,Total GPU Ops\n:forward,2,4\n");
    CHECK_EQ(shell("$G nsys cuda_api_sum x.sqlite --device 0").status, 1);
    CHECK_EQ(shell("$G nsys cuda_gpu_kern_sum x.sqlite --range a").status, 1);
}

/* An export of a run on two H100s (product 2026.2.1), which is not part of the tree: its
 * figures were counted with SQL. */
TEST(figures_of_a_real_export)
{
    const char *path = getenv("GNOMON_NSYS_EXPORT");
    if (!path)
        SKIP("GNOMON_NSYS_EXPORT is not set");
    NEEDS_PROGRAM;
#define SUMS \
    "| python3 -c 'import json, sys; d = json.load(sys.stdin); print(%s)'"
    CHECK_STR(shell("$G nsys nvtx_gpu_proj_trace --json %s " SUMS, path,
                    "len(d), sum(r[\"Projected Duration (ns)\"] for r in d), "
                    "sum(r[\"NumGPUOps\"] for r in d)")
                  .out,
              "3242 4269307236 4018\n");
    CHECK_STR(shell("$G nsys cuda_gpu_kern_sum --json %s " SUMS, path,
                    "sum(r[\"Instances\"] for r in d), "
                    "sum(r[\"Total Time (ns)\"] for r in d)")
                  .out,
              "3442 44829522\n");
    CHECK_STR(shell("$G nsys cuda_gpu_mem_time_sum --json %s " SUMS, path,
                    "[(r[\"Count\"], r[\"Total Time (ns)\"]) for r in d]")
                  .out,
              "[(450, 1841630798), (450, 39203544), (22, 29216), (4, 7872)]\n");
    CHECK_STR(shell("$G nsys nvtx_sum --json %s " SUMS, path,
                    "sum(r[\"Instances\"] for r in d)")
                  .out,
              "16782\n");
    CHECK_STR(shell("$G nsys cuda_api_sum --json %s " SUMS, path,
                    "sum(r[\"Num Calls\"] for r in d)")
                  .out,
              "5796\n");
    CHECK_STR(
        shell("$G nsys prof --group-by range --csv -c name,kernels,sum "
              "%s 2> said | grep '^,aten::mm,'; grep -o '3442 kernels, .*' "
              "said",
              path)
            .out,
        ",aten::mm,244,19866482\n3442 kernels, 1810 without a call, 0 in "
        "no range; 0 ranges are open at the end\n");
#undef SUMS
}

#else

#include "test.h"

TEST(reports_are_those_of_nsys_stats)
{
    SKIP("built without SQLite");
}

#endif
