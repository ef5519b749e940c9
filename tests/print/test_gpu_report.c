/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports of device work, of a profile whose answers are known.
 *
 * links: static
 * threads: none
 * needs: cli */
#include "program.h"

#include "device_profile.h"

static void save_work(int rank, int has_events, const char *path)
{
    gnomon_profile *p = work_profile(rank, has_events);
    program_save(p, GNOMON_FORM_FILE, path);
    gnomon_profile_free(p);
}

static child_result report(const char *what)
{
    return shell("$G report --as %s", what);
}

#define LOSSES \
    "gnomon: a.gnomon: 1 record of device work whose launch was not seen\n"

TEST(a_gpu_is_busy_idle_and_late)
{
    NEEDS_PROGRAM;
    save_work(-1, 1, "a.gnomon");
    child_result r = report("gpu a.gnomon");
    CHECK_STR(r.err, LOSSES);
    CHECK_STR(
        r.out,
        "FIT GPU\n"
        "\n"
        "Device        Work  On streams      Busy      %      Idle   By host  "
        "By device   Longest\n"
        "GPU 0 (Fake)     9    650.0 us  550.0 us  55.00  450.0 us  278.0 us   "
        "24.00 us  158.0 us\n"
        "\n"
        "By scope\n"
        "\n"
        "Action      Calls  Work     Total      %      Self      Busy  % of "
        "stage     Delay  Max delay\n"
        "train_step      2     8  640.0 us  98.46      0 ns  540.0 us       "
        "54.00\n"
        "backward        2     4  420.0 us  64.62  420.0 us  320.0 us       "
        "32.00  49.00 us   68.00 us\n"
        "forward         2     4  220.0 us  33.85  220.0 us  220.0 us       "
        "22.00  13.00 us   20.00 us\n"
        "(no scope)            1  10.00 us   1.54  10.00 us  10.00 us        "
        "1.00\n"
        "\n"
        "Idle, the longest\n"
        "\n"
        "Device              At       Gap  Waits for  In                After  "
        "                         Before                          Step\n"
        "GPU 0 (Fake)  360.0 us  158.0 us  host       (nothing marked)  "
        "ncclDevKernel_AllReduce         Memcpy HtoD (Pinned -> Device)     0\n"
        "GPU 0 (Fake)  860.0 us  90.00 us                               "
        "ncclDevKernel_AllReduce         stray                              1\n"
        "GPU 0 (Fake)  140.0 us  60.00 us  host       forward           gemm   "
        "                         gemm                               0\n"
        "GPU 0 (Fake)  640.0 us  60.00 us  host       forward           gemm   "
        "                         gemm                               1\n"
        "GPU 0 (Fake)  28.00 us  12.00 us  device     forward           Memcpy "
        "HtoD (Pinned -> Device)  gemm                               0\n"
        "GPU 0 (Fake)  528.0 us  12.00 us  device     forward           Memcpy "
        "HtoD (Pinned -> Device)  gemm                               1\n"
        "\n"
        "Steps, the last\n"
        "\n"
        "Step       Time      Busy   Compute      Copy  Hidden %  "
        "Communication  Hidden %      Idle\n"
        "0      500.0 us  270.0 us  200.0 us  10.00 us      0.00       110.0 "
        "us     45.45  230.0 us\n"
        "1      500.0 us  280.0 us  210.0 us  10.00 us      0.00       110.0 "
        "us     45.45  220.0 us\n"
        "all 2  1.000 ms  550.0 us  410.0 us  20.00 us      0.00       220.0 "
        "us     45.45  450.0 us\n"
        "\n"
        "Waits\n"
        "\n"
        "Wait         Calls     Total      Mean       Max  Most in\n"
        "Stream Sync      2  340.0 us  170.0 us  170.0 us  backward\n");
}

/* What the sums of the tree say is there without single executions. */
TEST(a_gpu_without_events)
{
    NEEDS_PROGRAM;
    save_work(-1, 0, "a.gnomon");
    child_result r = report("gpu a.gnomon");
    CHECK_STR(r.out,
              "FIT GPU\n"
              "\n"
              "Device        Work  On streams\n"
              "GPU 0 (Fake)     9    650.0 us\n"
              "\n"
              "By scope\n"
              "\n"
              "Action      Calls  Work     Total      %      Self\n"
              "train_step      2     8  640.0 us  98.46      0 ns\n"
              "backward        2     4  420.0 us  64.62  420.0 us\n"
              "forward         2     4  220.0 us  33.85  220.0 us\n"
              "(no scope)            1  10.00 us   1.54  10.00 us\n"
              "\n"
              "Waits\n"
              "\n"
              "Wait         Calls     Total      Mean       Max  Most in\n"
              "Stream Sync      2  340.0 us  170.0 us  170.0 us  backward\n"
              "\n"
              "No single executions are in this profile: when the device was "
              "idle is not known\n");
}

/* Where groups are streams nobody can say whose a thread's calls are. */
TEST(scopes_by_stream)
{
    NEEDS_PROGRAM;
    save_work(-1, 1, "a.gnomon");
    child_result r = report("'gpu(by=thread)' a.gnomon");
    CHECK_STR(
        r.out,
        "FIT GPU by scope by thread\n"
        "\n"
        "Thread 7 stream 7\n"
        "  Action      Work     Total      %      Self      Busy  % of stage   "
        "  Delay  Max delay\n"
        "  train_step     6  420.0 us  64.62      0 ns  420.0 us       42.00\n"
        "  forward        4  220.0 us  33.85  220.0 us  220.0 us       22.00  "
        "13.00 us   20.00 us\n"
        "  backward       2  200.0 us  30.77  200.0 us  200.0 us       20.00  "
        "30.00 us   30.00 us\n"
        "  (no scope)     1  10.00 us   1.54  10.00 us  10.00 us        1.00\n"
        "\n"
        "Thread 13 stream 13\n"
        "  Action      Work     Total      %      Self      Busy  % of stage   "
        "  Delay  Max delay\n"
        "  backward       2  220.0 us  33.85  220.0 us  220.0 us       22.00  "
        "68.00 us   68.00 us\n"
        "  train_step     2  220.0 us  33.85      0 ns  220.0 us       "
        "22.00\n");
}

TEST(scopes_as_data)
{
    NEEDS_PROGRAM;
    save_work(-1, 1, "a.gnomon");
    child_result r = report("'gpu(format=csv)' a.gnomon");
    CHECK_STR(r.out,
              "stage,name,calls,work,total_ns,percent,self_ns,busy_ns,of_stage,"
              "delay_ns,max_delay_ns\n"
              "fit,train_step,2,8,640000,98.4615,0,540000,54,,\n"
              "fit,backward,2,4,420000,64.6154,420000,320000,32,49000,68000\n"
              "fit,forward,2,4,220000,33.8462,220000,220000,22,13000,20000\n"
              "fit,(no scope),,1,10000,1.53846,10000,10000,1,,\n");
}

TEST(kernels_have_names)
{
    NEEDS_PROGRAM;
    save_work(-1, 1, "a.gnomon");
    child_result r = report("kernels a.gnomon");
    CHECK_STR(r.err, LOSSES);
    CHECK_STR(
        r.out,
        "FIT Kernels\n"
        "\n"
        "Kernel                   Calls     Total      %      Mean       Min   "
        "    Max  Most in   % there\n"
        "gemm                         4  400.0 us  61.54  100.0 us  100.0 us  "
        "100.0 us  backward    50.00\n"
        "ncclDevKernel_AllReduce      2  220.0 us  33.85  110.0 us  110.0 us  "
        "110.0 us  backward   100.00\n"
        "stray                        1  10.00 us   1.54  10.00 us  10.00 us  "
        "10.00 us\n"
        "\n"
        "Copies and sets\n"
        "\n"
        "Copy                            Calls     Total     %      Mean       "
        "Max   Bytes     GB/s  Most in\n"
        "Memcpy HtoD (Pinned -> Device)      2  20.00 us  3.08  10.00 us  "
        "10.00 us  262144  13.1072  forward\n"
        "\n"
        "Calls\n"
        "\n"
        "Call                   Calls     Total      Mean       Max  Most in\n"
        "cudaStreamSynchronize      2  340.0 us  170.0 us  170.0 us  backward\n"
        "cudaLaunchKernel           6  48.00 us  8.000 us  10.00 us  backward\n"
        "cudaMemcpyAsync            2  8.000 us  4.000 us  4.000 us  forward\n"
        "\n"
        "Overhead of recording\n"
        "\n"
        "Overhead      Calls     Total      Mean       Max\n"
        "Buffer Flush      2  18.00 us  9.000 us  9.000 us\n"
        "\n"
        "The launch of 8 of 9 pieces of work was found\n");
}

TEST(kernels_as_data)
{
    NEEDS_PROGRAM;
    save_work(-1, 1, "a.gnomon");
    child_result r = report("'kernels(format=csv,limit=2)' a.gnomon");
    CHECK_STR(
        r.out,
        "stage,name,kind,calls,total_ns,percent,mean_ns,min_ns,max_ns,bytes,gb_"
        "per_s,scope,of_scope\n"
        "fit,gemm,kernel,4,400000,61.5385,100000,100000,100000,,,backward,50\n"
        "fit,Stream Sync,wait,2,340000,,170000,170000,170000,,,backward,100\n");
}

/* Ranks of a job: the work of both in one table, or each rank's; when each GPU was busy
 * is told rank by rank. */
TEST(ranks_add_up)
{
    NEEDS_PROGRAM;
    save_work(0, 1, "a.gnomon");
    save_work(1, 1, "b.gnomon");
    child_result r = report("'kernels(columns=calls|total,limit=1)' *.gnomon");
    CHECK_STR(
        r.out,
        "FIT Kernels, copies and calls\n"
        "\n"
        "Name  Calls     Total\n"
        "gemm      8  800.0 us\n"
        "\n"
        "2 ranks, time of each\n"
        "\n"
        "Action      Ranks       Min    Median       Max  Slowest  Host\n"
        "train_step      2  800.0 us  800.0 us  800.0 us  rank 0   node1\n"
        "backward        2  428.0 us  428.0 us  428.0 us  rank 0   node1\n"
        "forward         2  310.0 us  310.0 us  310.0 us  rank 0   node1\n");
    r = report("'kernels(columns=calls|total,limit=1,by=rank)' *.gnomon");
    CHECK_STR(r.out, "FIT Kernels, copies and calls by rank\n"
                     "\n"
                     "Rank 0\n"
                     "  Name  Calls     Total\n"
                     "  gemm      4  400.0 us\n"
                     "\n"
                     "Rank 1\n"
                     "  Name  Calls     Total\n"
                     "  gemm      4  400.0 us\n");
    r = report("'gpu(columns=work|total|busy,limit=1)' *.gnomon");
    CHECK_STR(r.out, "==> a.gnomon <==\n"
                     "FIT GPU by scope\n"
                     "\n"
                     "Action      Work     Total      Busy\n"
                     "train_step     8  640.0 us  540.0 us\n"
                     "\n"
                     "==> b.gnomon <==\n"
                     "\n"
                     "FIT GPU by scope\n"
                     "\n"
                     "Action      Work     Total      Busy\n"
                     "train_step     8  640.0 us  540.0 us\n");
}

/* A merged file has the sums of both. */
TEST(a_merge_keeps_sums)
{
    NEEDS_PROGRAM;
    save_work(0, 1, "a.gnomon");
    save_work(1, 1, "b.gnomon");
    child_result r = shell("$G merge -o m.gnomon a.gnomon b.gnomon");
    CHECK_EQ(r.status, 0);
    r = report("'kernels(columns=calls|total|bytes)' m.gnomon");
    CHECK_STR(
        r.out,
        "FIT Kernels, copies and calls\n"
        "\n"
        "Name                            Calls     Total   Bytes\n"
        "gemm                                8  800.0 us\n"
        "Stream Sync                         4  680.0 us\n"
        "cudaStreamSynchronize               4  680.0 us\n"
        "ncclDevKernel_AllReduce             4  440.0 us\n"
        "cudaLaunchKernel                   12  96.00 us\n"
        "Memcpy HtoD (Pinned -> Device)      4  40.00 us  524288\n"
        "Buffer Flush                        4  36.00 us\n"
        "stray                               2  20.00 us\n"
        "cudaMemcpyAsync                     4  16.00 us\n"
        "\n"
        "2 ranks, time of each\n"
        "\n"
        "Action      Ranks       Min    Median       Max  Slowest  Host\n"
        "train_step      2  800.0 us  800.0 us  800.0 us  rank 0   node1\n"
        "backward        2  428.0 us  428.0 us  428.0 us  rank 0   node1\n"
        "forward         2  310.0 us  310.0 us  310.0 us  rank 0   node1\n");
}

TEST(without_device_work)
{
    static const char *const names[] = {"gpu", "kernels"};
    gnomon_builder *b;
    NEEDS_PROGRAM;
    gnomon_builder_create(&b);
    gnomon_add_run(b, &(gnomon_run_info){.rank = -1});
    gnomon_add_stage(b, &(gnomon_stage_info){.run = 1, .ordinal = 1});
    gnomon_profile *p = work_finish(b);
    program_save(p, GNOMON_FORM_FILE, "a.gnomon");
    gnomon_profile_free(p);
    for (size_t i = 0; i < 2; i++) {
        char expected[128];
        child_result r = report(i ? "kernels a.gnomon" : "gpu a.gnomon");
        snprintf(expected, sizeof expected,
                 "%s: no device work in this profile\n", names[i]);
        CHECK_STR(r.out, expected);
        CHECK_STR(r.err, "gnomon: nothing to report: no scope ended\n");
    }
}

/* In each job the second kernel took 40 us longer: it was launched in "backward", which
 * is in "train_step". Of four kernels no gate is sure. */
TEST(work_by_scope_can_be_gated)
{
    NEEDS_PROGRAM;
    save_work(-1, 0, "a.gnomon");
    work_longer = 40;
    save_work(-1, 0, "b.gnomon");
    work_longer = 0;
    child_result r = shell("$G diff a.gnomon b.gnomon --as json "
                           "--gate '* busy-total +5%%' "
                           "--gate '* busy-calls +0%%' 2>/dev/null");
    CHECK_EQ(times_in(r.out, "\"kind\": \"busy\""), 1);
    CHECK_EQ(times_in(r.out, "\"verdict\": \"not sure\""), 2);
    CHECK_EQ(times_in(r.out, "\"verdict\": \"holds\""), 4);
    r = shell("$G diff a.gnomon b.gnomon --metric busy-total");
    CHECK_STR(r.out, "A: 1 job, 1 run; B: 1 job, 1 run\n"
                     "How far jobs differ is assumed: 1.6 % + 15 ns. Three "
                     "jobs a side measure it.\n"
                     "\n"
                     "FIT Changes of work by scope from A to B\n"
                     "\n"
                     "action      work A  work B   total A   total B   change  "
                     "    99.9 % sure of  confidence  change of total\n"
                     "backward         4       4  420.0 us  500.0 us  +19.0 %  "
                     "-100.0 .. +394.2 %     65.03 %        +80.00 us\n"
                     "train_step       8       8  640.0 us  720.0 us  +12.5 %  "
                     "                 -     13.02 %        +80.00 us\n"
                     "forward          4       4  220.0 us  220.0 us    0.0 %  "
                     "                 -      0.00 %             0 ns\n"
                     "\n");
    r = shell(
        "$G diff a.gnomon b.gnomon --gate 'backward busy-total +5%%' 2>&1 "
        "| grep gate");
    CHECK_STR(r.out,
              "gnomon: gate is not sure: backward busy-total +5%: fit: "
              "backward: busy-total 420.0 us -> 500.0 us, +19.0 %, 65.03 % "
              "sure if jobs differ by 1.6 % + 15 ns; to fail takes 99.9 %\n");
}
