/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon nsys: kernels of databases, the ranges around their launches, and what those say.
 * links: static
 * threads: none
 * needs: cli */
#if GNOMON_WITH_SQLITE

#include "exports.h"
#include "gnomon/profile.h"

static void check_lines(const char *options, const char *wanted)
{
    child_result r = shell("$G nsys %s", options);
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, wanted);
}

/* ---- Launches and ranges ------------------------------------------------------------ */

/* Two processes use the same ids; one thread of a process has no range. */
static void put_processes(export_file *x)
{
    for (int p = 1; p <= 2; p++) {
        char name[32];
        snprintf(name, sizeof name, "process-%d", p);
        export_range(x, p, 5, name, 100, 900);
        export_call(x, p, 5, 11, 200, 210);
        export_call(x, p, 6, 12, 300, 310);
    }
    export_kernel(x, 2, 12, "void at::native::b<int>(int)", 2000, 20);
    export_kernel(x, 1, 11, "a<int>", 1000, 10);
    export_kernel(x, 2, 11, "a", 3000, 30);
    export_kernel(x, 1, 12, "b", 4000, 40);
    export_kernel(x, 1, 99, "lost", 5000, 50);
}

TEST(kernels_are_joined_by_process_and_id)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_NVPROF; g++) {
        export_file x = export_begin("x.sqlite", (enum export_generation)g);
        put_processes(&x);
        export_end(&x);
        check_lines("prof x.sqlite -c idx,tid,op,kernel,sil 2> said",
                    "Idx TId Op Kernel Sil(ns)\n1 6 na b 20\n"
                    "2 5 process-1 a 10\n3 5 process-2 a 30\n4 6 na b 40\n"
                    "5 0 na lost 50\n");
        child_result r = shell("cat said");
        CHECK(strstr(r.out, "5 kernels, 1 without a call, 2 in no range;") !=
              NULL);
    }
}

TEST(ranges_are_around_a_call_that_they_hold)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_GENERATIONS; g++) {
        /* Threads of nvprof's may be negative. */
        const int64_t thread = g == EXPORT_NVPROF ? -7 : 7;
        export_file x = export_begin("x.sqlite", (enum export_generation)g);
        export_range(&x, 1, thread, "before", 0, 99);
        export_range(&x, 1, thread, "begins_inside", 101, 900);
        export_range(&x, 1, thread, "ends_inside", 50, 105);
        export_range(&x, 1, thread, "layer:open", 10, 0);
        export_range(&x, 1, thread, "layer:exact", 100, 110);
        export_range(&x, 1, 8, "layer:elsewhere", 0, 900);
        export_range(&x, 1, thread, "layer:wide", 20, 800);
        export_call(&x, 1, thread, 3, 100, 110);
        export_call(&x, 1, thread, 4, 850, 860);
        export_kernel(&x, g == EXPORT_NVPROF ? 0 : 1, 3, "k", 1000, 10);
        export_kernel(&x, g == EXPORT_NVPROF ? 0 : 1, 4, "k", 2000, 10);
        export_end(&x);
        check_lines("prof x.sqlite -c layer,op 2> said",
                    "Layer Op\nopen:wide:exact na\nopen begins_inside\n");
        check_lines("prof x.sqlite -c layer,op --compat=pyprof 2> said",
                    "Layer Op\nopen:wide na\nopen begins_inside\n");
        child_result r = shell("cat said");
        CHECK(strstr(r.out, "1 ranges are open at the end") != NULL);
    }
}

/* A kernel of another thread between two of one range. */
TEST(threads_that_take_turns_keep_their_ranges)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 1, "layer:a", 5, 95);
    export_range(&x, 1, 1, "layer:b", 10, 90);
    export_range(&x, 1, 2, "layer:c", 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_call(&x, 1, 2, 2, 40, 50);
    export_call(&x, 1, 1, 3, 60, 70);
    for (int i = 1; i <= 3; i++)
        export_kernel(&x, 1, i, "k", i * 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite -c layer 2> said", "Layer\na:b\nc\na:b\n");
}

/* What is no push and pop: a range that another thread ended, and other events. */
TEST(other_events_are_no_ranges)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_sql(
        &x,
        "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, "
        "endGlobalTid) VALUES(0, 900, 60, 'other_thread', %" PRId64 ", %" PRId64
        "), (0, 900, 60, 'layer:same', %" PRId64 ", %" PRId64
        "), (0, 900, 34, 'mark', %" PRId64
        ", NULL), (-1878291120, NULL, 75, 'domain', %" PRId64 ", NULL)",
        EXPORT_THREAD(1, 2), EXPORT_THREAD(1, 3), EXPORT_THREAD(1, 2),
        EXPORT_THREAD(1, 2), EXPORT_THREAD(1, 2), EXPORT_THREAD(1, 2));
    export_call(&x, 1, 2, 3, 100, 110);
    export_kernel(&x, 1, 3, "k", 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite -c layer,op 2> said", "Layer Op\nsame na\n");
}

/* ---- Operations ------------------------------------------------------------------------ */

/* Quotes stand twice, as SQL has them. */
#define Q "''"
#define TENSOR(shape) \
    "{" Q "name" Q ": " Q Q ", " Q "type" Q ": " Q "tensor" Q ", " Q "shape" Q \
    ": " shape ", " Q "dtype" Q ": " Q "float32" Q "}"
#define SCALAR(value) \
    "{" Q "name" Q ": " Q Q ", " Q "type" Q ": " Q "int" Q ", " Q "value" Q \
    ": " value "}"
#define CALL(op, args) \
    "{" Q "mod" Q ": " Q "torch.nn.functional" Q ", " Q "op" Q ": " Q op Q \
    ", " Q "args" Q ": [" args "]}"

/* A convolution, a linear layer and its backward pass on another thread. */
static void put_pyprof(export_file *x)
{
    export_range(x, 1, 1, "layer:conv1", 5, 195);
    export_range(x, 1, 1,
                 "{" Q "traceMarker" Q ": [" Q "train.py:9" Q ", " Q
                 "torch/nn/modules/conv.py:1" Q "]}",
                 6, 190);
    export_range(
        x, 1, 1,
        CALL("conv2d",
             TENSOR("(32, 3, 32, 32)") ", " TENSOR("(6, 3, 3, 3)") ", " TENSOR(
                 "(6,)") ", " SCALAR("1") ", " SCALAR("0")),
        10, 90);
    export_range(x, 1, 1, "conv2d, seq = 4", 11, 89);
    export_call(x, 1, 1, 1, 20, 30);
    export_call(x, 1, 1, 2, 40, 50);
    export_range(x, 1, 1,
                 CALL("linear", TENSOR("(32, 400)") ", " TENSOR("(120, 400)")),
                 100, 180);
    export_range(x, 1, 1, "linear, seq = 5", 101, 179);
    export_call(x, 1, 1, 3, 120, 130);
    export_range(x, 1, 2, "AddmmBackward0, seq = 5, op_id = 77", 200, 300);
    export_call(x, 1, 2, 4, 210, 220);
    export_call(x, 1, 2, 5, 230, 240);
    export_kernel(x, 1, 1, "nchwToNhwcKernel<float>", 1000, 10);
    export_kernel(x, 1, 2, "sm80_xmma_fprop_implicit_gemm_tf32_tensor16x8x8",
                  1100, 10);
    export_kernel(x, 1, 3, "ampere_sgemm_32x32", 1200, 10);
    export_kernel(x, 1, 4, "ampere_h16816gemm_64x64", 1300, 10);
    export_kernel(x, 1, 5, "ampere_sgemm_32x32_nt", 1400, 10);
}

/* Figures of PyProf's own run, but for the bytes of linear, of which it scales one
 * operand alone, and of the convolution's bias, which it leaves out. */
TEST(figures_are_those_of_the_shapes)
{
    NEEDS_PROGRAM;
    static const char wanted[] =
        "idx,seq,dir,sub,layer,trace,op,tc,flops,bytes\n"
        "1,4,fprop,0,conv1,train.py:9,conv2d,-,0,0\n"
        "2,4,fprop,1,conv1,train.py:9,conv2d,1,9331200,1085088\n"
        "3,5,fprop,0,conv1,train.py:9,linear,0,3072000,258560\n"
        "4,5,bprop,0,conv1,train.py:9,linear,1,3072000,258560\n"
        "5,5,bprop,1,conv1,train.py:9,linear,0,3072000,258560\n";
#define PROF \
    "prof %s --csv -c idx,seq,dir,sub,layer,trace,op,tc,flops,bytes 2> said"
#define PLAIN \
    " | sed '1s/.*/idx,seq,dir,sub,layer,trace,op,tc,flops,bytes/;s/\"//g'"
    export_file x = export_begin("x.sqlite", EXPORT_2_9);
    put_pyprof(&x);
    export_end(&x);
    CHECK_EQ(shell("$G nsys parse x.sqlite > x.dict 2> said").status, 0);
    CHECK_STR(shell("$G nsys " PROF PLAIN, "x.sqlite").out, wanted);
    CHECK_STR(shell("$G nsys " PROF PLAIN, "x.dict").out, wanted);
    CHECK_STR(shell("$G nsys " PROF PLAIN, "< x.dict").out, wanted);
}

TEST(sizes_of_torch_give_the_flops_of_products)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(
        &x, 1, 1,
        "aten::linear, seq = 3, op_id = 1, sizes = [[2, 3], [4, 3], []]", 5,
        95);
    export_range(&x, 1, 1,
                 "aten::addmm, seq = 3, op_id = 2, sizes = [[4], [2, 3], [3, "
                 "4], [], []], "
                 "input_op_ids = [(1,0)]",
                 10, 90);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, "nvjet_tst_64x8_64x16_4x1_v_bz_TNN", 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite -c seq,op,tc,flops,bytes 2> said",
                "SeqId Op TC FLOPs Bytes\n3 aten::addmm 1 48 0\n");
    /* So do the lines. */
    CHECK_STR(shell("$G nsys parse x.sqlite 2> said | $G nsys prof -c "
                    "seq,op,tc,flops,bytes 2> said")
                  .out,
              "SeqId Op TC FLOPs Bytes\n3 aten::addmm 1 48 0\n");
}

/* What PyProf itself printed of these markers, but for the flops of a convolution, which
 * are floats there, and the bytes of a linear layer. */
TEST(parameters_are_those_of_pyprof)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_2_9);
    put_pyprof(&x);
    export_range(&x, 1, 1,
                 CALL("bmm", TENSOR("(7, 3, 4)") ", " TENSOR("(7, 4, 5)")), 400,
                 490);
    export_range(&x, 1, 1, "bmm, seq = 6", 401, 489);
    export_call(&x, 1, 1, 6, 410, 420);
    export_call(&x, 1, 1, 7, 430, 440);
    export_range(
        &x, 1, 1,
        CALL("linear", TENSOR("(4, 8, 400)") ", " TENSOR("(120, 400)")), 500,
        590);
    export_range(&x, 1, 1, "linear, seq = 7", 501, 589);
    export_call(&x, 1, 1, 8, 510, 520);
    export_call(&x, 1, 1, 9, 530, 540);
    export_kernel(&x, 1, 6, "volta_h884gemm_x", 1500, 10);
    export_kernel(&x, 1, 77, "has_no_call", 1600, 10);
    export_kernel(&x, 1, 8, "volta_sgemm_x", 1700, 10);
    export_kernel(&x, 1, 9, "elementwise_kernel_x", 1800, 10);
    export_end(&x);
    check_lines(
        "prof --compat=pyprof x.sqlite -c idx,op,params,flops,tc 2> said",
        "Idx Op Params FLOPs TC\n"
        "1 conv2d N=32,C=3,H=32,W=32,K=6,P=30,Q=30,R=3,S=3,ph=0,pw=0,U=1,V=1,"
        "dh=1,dw=1,g=1,fp32, 0 -\n"
        "2 conv2d N=32,C=3,H=32,W=32,K=6,P=30,Q=30,R=3,S=3,ph=0,pw=0,U=1,V=1,"
        "dh=1,dw=1,g=1,fp32, 9331200 1\n"
        "3 linear M=120,N=32,K=400,fp32, 3072000 0\n"
        "4 linear M=400,N=32,K=120,fp32, 3072000 1\n"
        "5 linear M=400,N=120,K=32,fp32, 3072000 0\n"
        "6 bmm B=7,M=5,N=3,K=4,fp32, 840 1\n"
        "7 linear M=120,N=(4,8),K=400,fp32, 3072000 0\n"
        "8 bias M=120,N=(4,8),fp32, 3840 -\n");
    check_lines(
        "prof --compat=pyprof x.sqlite --top 1 -w 120 2> said",
        "Idx     Direc Sub Module          Op              Kernel       "
        "                    Params                           Sil(ns)    "
        "\n      1 fprop   0 torch.nn.functi conv2d          "
        "nchwToNhwcKernel                 "
        "N=32,C=3,H=32,W=32,K=6,P=30,Q=30         10 \n");
}

/* ---- Groups, order and filters --------------------------------------------------------- */

/* Of two streams that overlap; the last kernel has no call. */
static void put_groups(export_file *x)
{
    put_pyprof(x);
    export_kernel(x, 1, 3, "ampere_sgemm_32x32", 1205, 20);
    export_kernel(x, 2, 50, "lost", 5000, 7);
    export_sql(x,
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 9 WHERE start "
               "= 1205");
}

TEST(kernels_are_added_up_by_what_they_are_of)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_groups(&x);
    export_end(&x);
    check_lines("prof x.sqlite --group-by op --csv -c name,kernels,sum,share,"
                "union,tc,flops,bytes 2> said",
                "stage,name,kernels,sum_ns,share,union_ns,tc,flops,bytes\n"
                ",linear,4,50,64.9351,45,20,9216000,775680\n"
                ",conv2d,2,20,25.974,20,50,9331200,1085088\n"
                ",na,1,7,9.09091,7,0,0,0\n");
    check_lines("prof x.sqlite --group-by layer --csv -c name,kernels,max "
                "--sort max --top 2 2> said",
                "stage,name,kernels,max_ns\n,conv1,6,20\n,(none),1,7\n");
    child_result r = shell("$G nsys prof x.sqlite --group-by kernel 2> said");
    CHECK(strstr(r.out, "7 kernels: sum 77 ns, union 72 ns, 18547200 flops, "
                        "1860768 bytes\n") != NULL);
    r = shell("cat said");
    CHECK(strstr(r.out,
                 "1 kernels have an operation without figures (na); "
                 "for 0 the name does not say whether they ran on tensor "
                 "cores (?)") != NULL);
    CHECK_EQ(shell("$G nsys prof x.sqlite --group-by op -c nope").status, 1);
    CHECK_EQ(shell("$G nsys prof x.sqlite --sort nope").status, 1);
}

TEST(rows_are_ordered_and_left_out)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_groups(&x);
    export_end(&x);
    check_lines("prof x.sqlite --sort flops --top 2 -c idx,flops 2> said",
                "Idx FLOPs\n2 9331200\n3 3072000\n");
    check_lines("prof x.sqlite --sort op --json --top 1 -c idx,op 2> said",
                "[\n {\"idx\": 1, \"op\": \"conv2d\"}\n]\n");
    check_lines("prof x.sqlite --top 1 -c sil 2> said", "Sil(ns)\n10\n");
    check_lines("prof x.sqlite --stream 9 -c idx,sil 2> said",
                "Idx Sil(ns)\n1 20\n");
    check_lines("prof x.sqlite --process 2 -c kernel 2> said",
                "Kernel\nlost\n");
    check_lines("prof x.sqlite --range 'conv1' -c sub,op 2> said",
                "Sub Op\n0 conv2d\n1 conv2d\n0 linear\n0 linear\n1 "
                "linear\n1 linear\n");
    CHECK_EQ(shell("$G nsys prof x.sqlite --device 3").status, 3);
    CHECK_EQ(shell("$G nsys prof x.sqlite --top 0").status, 1);
}

/* A reader that goes has seen enough, of rows and of groups. */
TEST(a_closed_pipe_is_no_error)
{
    NEEDS_PROGRAM;
    static const char *const words[] = {"prof x.sqlite",
                                        "prof x.sqlite --group-by op",
                                        "parse x.sqlite", "nvtx_sum x.sqlite"};
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_groups(&x);
    export_end(&x);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK_EQ(shell("rm -f p; mkfifo p; : < p & exec 3> p; wait; $G nsys %s "
                       ">&3 2> said",
                       words[i])
                     .status,
                 0);
    CHECK_EQ(shell("$G nsys prof x.sqlite --group-by op > /dev/full").status,
             2);
}

TEST(ranges_of_one_domain_can_count_alone)
{
    NEEDS_PROGRAM;
    for (int g = EXPORT_2021; g < EXPORT_NVPROF; g++) {
        export_file x = export_begin("x.sqlite", (enum export_generation)g);
        export_range(&x, 1, 1, "layer:plain", 5, 95);
        export_range(&x, 1, 1, "layer:named", 10, 90);
        export_sql(&x, "UPDATE NVTX_EVENTS SET domainId = 3 WHERE start = 10");
        export_sql(&x,
                   "INSERT INTO NVTX_EVENTS(start, eventType, text, globalTid, "
                   "domainId) VALUES(-9, 75, 'mine', %" PRId64
                   ", 3), (-9, 75, 'other', %" PRId64 ", 3)",
                   EXPORT_THREAD(1, 1), EXPORT_THREAD(2, 1));
        export_call(&x, 1, 1, 1, 20, 30);
        export_call(&x, 1, 1, 2, 92, 93);
        export_kernel(&x, 1, 1, "k", 1000, 10);
        export_kernel(&x, 1, 2, "k", 2000, 10);
        export_end(&x);
        check_lines("prof x.sqlite -c layer 2> said",
                    "Layer\nplain:named\nplain\n");
        check_lines("prof x.sqlite --domain mine -c layer 2> said",
                    "Layer\nnamed\n");
        check_lines("prof x.sqlite --domain default -c layer 2> said",
                    "Layer\nplain\nplain\n");
        CHECK_EQ(shell("$G nsys prof x.sqlite --domain other").status, 3);
    }
}

/* ---- Peaks and steps -------------------------------------------------------------------- */

/* A linear layer of 3072000 flops and 258560 bytes in each of two steps; its kernel takes
 * 1000 ns and 500 ns, of which a collective runs beside 400 ns, and 100 ns alone. The
 * second step's forward pass is one that checkpointing runs again. */
static void put_steps(export_file *x)
{
    for (int i = 0; i < 2; i++) {
        const int64_t at = 100 + 1000 * i;
        const int thread = i + 1; /* as a backward pass, on another thread */
        export_range(x, 1, 1, "train_step", at, at + 800 + 200 * i);
        if (i)
            export_range(x, 1, thread, "CheckpointFunctionBackward, seq = 9",
                         at + 5, at + 600);
        export_range(
            x, 1, thread,
            CALL("linear", TENSOR("(32, 400)") ", " TENSOR("(120, 400)")),
            at + 10, at + 500);
        export_range(x, 1, thread, "linear, seq = 5", at + 20, at + 490);
        export_call(x, 1, thread, 10 * i + 1, at + 30, at + 40);
        export_call(x, 1, thread, 10 * i + 2, at + 700, at + 710);
        export_kernel(x, 1, 10 * i + 1, "ampere_sgemm_32x32", 3000 + 5000 * i,
                      1000 - 500 * i);
        export_kernel(x, 1, 10 * i + 2, "ncclDevKernel_AllReduce_Sum_f32",
                      3600 + 5000 * i - 500 * i, 500);
    }
}

TEST(rooflines_are_of_the_peaks_that_were_given)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_steps(&x);
    export_end(&x);
    check_lines("prof x.sqlite --peak fp32=10,GB/s=1000 --csv --top 1 2> said",
                "stage,name,kernels,union_ns,flops,bytes,intensity,tflops,"
                "peak_tflops,tflops_share,gbs,peak_gbs,gbs_share,roof_share\n"
                ",linear,2,1500,6144000,517120,11.881188118811881,"
                "4.096,10,40.96,344.74666666666667,1000,34.4747,40.96\n");
    check_lines("prof x.sqlite --group-by step --step 'train_*' --peak fp32=10 "
                "--csv --sort name 2> said",
                "stage,name,kernels,wall_ns,union_ns,exposed_ns,flops,"
                "peak_tflops,mfu,hfu\n"
                ",1,2,800,1100,100,3072000,10,38.4,38.4\n"
                ",2,2,1000,600,100,3072000,10,0,30.72\n");
    CHECK_EQ(shell("$G nsys prof x.sqlite --peak fp99=1").status, 1);
    CHECK_EQ(shell("$G nsys prof x.sqlite --peak fp32=-1").status, 1);
    CHECK_EQ(shell("$G nsys prof x.sqlite --group-by step").status, 1);
    export_file y = export_begin("y.sqlite", EXPORT_3_25);
    put_steps(&y);
    export_sql(&y, "CREATE TABLE TARGET_INFO_GPU(id, memoryBandwidth)");
    export_sql(&y, "INSERT INTO TARGET_INFO_GPU VALUES(0, 500000000000)");
    export_end(&y);
    check_lines("prof y.sqlite --group-by op --csv --top 1 -c peak_gbs,"
                "gbs_share,peak_tflops --sort flops 2> said",
                "stage,name,peak_gbs,gbs_share,peak_tflops\n"
                ",linear,500,68.9493,\n");
    CHECK(strstr(shell("$G nsys prof y.sqlite --group-by op 2> said").out,
                 "Peak of memory, as the driver said: 500 GB/s\n") != NULL);
}

/* Group columns of steps on a device of this name, as many multiprocessors, clock in Hz and
 * compute capability; a second device beside it, unless it is NULL. */
static child_result on_device(const char *device, const char *second,
                              const char *options)
{
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_steps(&x);
    export_sql(&x, "CREATE TABLE TARGET_INFO_GPU(name, smCount, clockRate, "
                   "computeMajor, computeMinor, memoryBandwidth)");
    export_sql(&x, "INSERT INTO TARGET_INFO_GPU VALUES(%s), (%s)", device,
               second ? second : device);
    export_end(&x);
    return shell("$G nsys prof x.sqlite --group-by op --top 1 --sort flops "
                 "-c peak_tflops,tflops_share,peak_gbs %s 2> said",
                 options);
}

/* Those of a board whose figures were read; else of ordinary cores alone, as many as the
 * device has; none where devices differ. What is asked for goes before. */
TEST(peaks_are_those_of_the_device)
{
    NEEDS_PROGRAM;
    static const char a100[] = "'NVIDIA A100-SXM4-40GB', 108, 1410000000, 8, "
                               "0, 1555200000000",
                      t4[] = "'Tesla T4', 40, 1590000000, 7, 5, 320064000000";
    child_result r = on_device(a100, NULL, "");
    CHECK(strstr(r.out, "Peak of memory, as the driver said: 1555 GB/s\n"
                        "Peaks, TFLOP/s: fp64 9.7, fp64tc 19.5, fp32 19.5, "
                        "tf32 156, fp16 312, bf16 312, int8 624 of NVIDIA "
                        "A100-SXM4-40GB (NVIDIA A100 Tensor Core GPU "
                        "Architecture, V1.0, table 4)\n") != NULL);
    CHECK_STR(on_device(a100, NULL, "--csv").out,
              "stage,name,peak_tflops,tflops_share,peak_gbs\n"
              ",linear,19.5,21.0051,1555.2\n");
    CHECK(strstr(on_device(a100, NULL, "--peak fp32=10,tf32=1").out,
                 "Peaks, TFLOP/s: fp64 9.7, fp64tc 19.5, fp16 312, ") != NULL);
    r = on_device(t4, NULL, "");
    CHECK(strstr(r.out, "Peaks, TFLOP/s: fp32 8.1408 of Tesla T4 (2 for each "
                        "core and clock") != NULL);
    CHECK(!strstr(
        on_device("'NVIDIA A100', 108, 1400000000, 8, 0, NULL", NULL, "").out,
        "fp16"));
    CHECK(!strstr(on_device(a100, t4, "").out, "\nPeak"));
    CHECK(!strstr(on_device("'K80', 13, 875000000, 3, 7, NULL", NULL, "").out,
                  "\nPeak"));
}

/* A range of NCCL with its payload: a header of 32 bytes, and the schema's entries. */
static void put_call(export_file *x, const char *name, int64_t begin,
                     int64_t end, int schema, uint64_t second)
{
    export_sql(
        x,
        "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, "
        "domainId, binaryData) VALUES(%" PRId64 ", %" PRId64
        ", 59, '%s', %" PRId64
        ", 1, x'0100000000000000%02x000001000000001000000000000000"
        "3000000000000000aa00000000000000%02x%02x%02x%02x00000000')",
        begin, end, name, EXPORT_THREAD(1, 1), schema,
        (unsigned)(second & 0xff), (unsigned)(second >> 8 & 0xff),
        (unsigned)(second >> 16 & 0xff), (unsigned)(second >> 24));
}

/* A communicator of 4 ranks; an AllReduce, and a group of two sends whose kernel its end
 * launches; an AllGather of another one whose ranks are not known. */
TEST(collectives_have_bytes_and_bandwidths)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_sql(&x,
               "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, "
               "idx, type, name, offset)");
    for (int i = 0; i < 2; i++) /* of each process */
        export_sql(
            &x, "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(1, 16777218, "
                "0, 18, 'NCCL communicator ID', NULL), (1, 16777218, 1, 5, "
                "'No. of ranks', 8), (1, 16777220, 0, 18, 'NCCL communicator "
                "ID', NULL), (1, 16777220, 1, 22, 'Message size [bytes]', 8)");
    put_call(&x, "ncclCommInitRank", 1, 9, 2, 4);
    put_call(&x, "ncclAllReduce", 100, 200, 4, 4000);
    export_call(&x, 1, 1, 1, 120, 130);
    put_call(&x, "ncclSend", 310, 320, 4, 500);
    put_call(&x, "ncclSend", 330, 340, 4, 700);
    export_range(&x, 1, 1, "ncclGroupEnd", 350, 400);
    export_call(&x, 1, 1, 2, 360, 370);
    export_call(&x, 1, 1, 3, 500, 510);
    export_kernel(&x, 1, 3, "gemm", 2000, 300);
    export_kernel(&x, 1, 2, "ncclDevKernel_SendRecv(x)", 2100, 400);
    export_kernel(&x, 1, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 1000,
                  200);
    export_end(&x);
    check_lines("prof x.sqlite --group-by collective --csv --sort name 2> said",
                "stage,name,kernels,sum_ns,union_ns,exposed_ns,message,"
                "algbw_gbs,busbw_gbs\n"
                ",(compute),1,300,300,,,,\n"
                ",AllReduce,1,200,200,200,4000,20,30\n"
                ",SendRecv,1,400,400,200,1200,3,3\n");
    CHECK_EQ(shell("$G nsys parse x.sqlite 2> said | $G nsys prof --group-by "
                   "collective 2> said")
                 .status,
             0);
}

static void put_number(char *hex, uint64_t value, int bytes)
{
    char *to = hex + strlen(hex);
    for (int i = 0; i < bytes; i++)
        to += sprintf(to, "%02x", (unsigned)(value >> (8 * i) & 0xff));
}

/* A range of gnomon's, by its layout of 56 bytes; the texts are ids. */
static void put_payload(export_file *x, const char *name, int64_t begin,
                        const uint64_t fields[7])
{
    char hex[256] = "";
    const uint64_t head[] = {5, 16777217, 56, 88};
    for (int i = 0; i < 4; i++)
        put_number(hex, head[i], 8);
    for (int i = 0; i < 7; i++)
        put_number(hex, fields[i], i == 6 ? 4 : 8);
    export_sql(
        x,
        "INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, "
        "domainId, binaryData) VALUES(%" PRId64 ", %" PRId64
        ", 59, '%s', %" PRId64 ", 5, x'%s')",
        begin, begin + 50, name, EXPORT_THREAD(1, 1), hex);
}

#define GNOMON_INPUTS_JSON \
    "[{\"dtype\": \"float32\", \"dims\": [2, 3]}, {\"dtype\": \"float32\", " \
    "\"dims\": [3, 4]}]"

static void put_layout(export_file *x)
{
    static const char *const fields[] = {"operation",  "dtype", "inputs",
                                         "attributes", "flops", "bytes",
                                         "backward"};
    export_sql(x, "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, "
                  "schemaId, idx, type, name, offset)");
    for (int i = 0; i < 7; i++)
        export_sql(
            x,
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(5, 16777217, "
            "%d, 80, '%s', %s)",
            i, fields[i],
            (const char *[]){"NULL", "8", "16", "24", "32", "40", "48"}[i]);
}

/* Each of 4 ranks; the last ones by PyProf's markers and by sizes without types. An operation
 * of two kernels counts once. */
TEST(collectives_are_in_operations_too)
{
    NEEDS_PROGRAM;
    static const char *const ops[][3] = {
        {"all_reduce", "1000", "AllReduce_Sum_f32_RING_LL"},
        {"reduce_scatter", "1000", "ReduceScatter_Sum_f32_RING_LL"},
        {"all_gather", "250", "AllGather_RING_LL"},
        {"all_to_all", "1000", "SendRecv"},
        {"broadcast", "1000", "Broadcast_RING_LL"}};
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_layout(&x);
    const uint64_t four = (uint64_t)export_string(&x, "{\"ranks\": 4}");
    char text[160];
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text,
                 "[{\"dtype\": \"float32\", \"dims\": [%s]}]", ops[i][1]);
        const uint64_t inputs = (uint64_t)export_string(&x, text);
        put_payload(&x, "range", 100 * (i + 1),
                    (const uint64_t[]){(uint64_t)export_string(&x, ops[i][0]),
                                       0, inputs, four, 0, 0, 0});
        export_call(&x, 1, 1, i + 1, 100 * (i + 1) + 10, 100 * (i + 1) + 20);
        snprintf(text, sizeof text, "ncclDevKernel_%s(args)", ops[i][2]);
        export_kernel(&x, 1, i + 1, text, 1000 * (i + 1), 200);
    }
    export_call(&x, 1, 1, 6, 530, 540); /* broadcast's second */
    export_kernel(&x, 1, 6, "ncclDevKernel_Broadcast_RING_LL(args)", 7000, 50);
    export_range(&x, 1, 1, CALL("reduce", TENSOR("(4, 5)")), 800, 850);
    export_call(&x, 1, 1, 7, 810, 820);
    export_kernel(&x, 1, 7, "ncclDevKernel_Reduce_RING_LL(args)", 8000, 40);
    export_range(&x, 1, 1,
                 CALL("all_gather",
                      TENSOR("(5,)") ", " TENSOR("(5,)") ", " TENSOR("(5,)")),
                 960, 970);
    export_call(&x, 1, 1, 9, 962, 963);
    export_kernel(&x, 1, 9, "ncclKernel_AllGather_RING_LL(args)", 9500, 200);
    export_range(
        &x, 1, 1,
        CALL("reduce_scatter_tensor", TENSOR("(5,)") ", " TENSOR("(20,)")), 980,
        990);
    export_call(&x, 1, 1, 10, 982, 983);
    export_kernel(&x, 1, 10, "ncclKernel_ReduceScatter_RING_LL(x)", 9900, 200);
    export_range(&x, 1, 1, "c10d::send, seq = 3, op_id = 4, sizes = [[9]]", 900,
                 950);
    export_call(&x, 1, 1, 8, 910, 920);
    export_kernel(&x, 1, 8, "ncclKernel_Send(args)", 9000, 40);
    export_end(&x);
    static const char wanted[] =
        ",AllGather,2,4040,10.1,7.55\n,AllReduce,1,4000,20,30\n"
        ",Broadcast,2,4000,20,20\n,Reduce,1,80,2,\n"
        ",ReduceScatter,2,4080,10.2,7.65\n,Send,1,,,\n,SendRecv,1,4000,20,15\n";
    child_result r =
        shell("$G nsys prof x.sqlite --group-by collective --csv --sort name "
              "-c kernels,message,algbw_gbs,busbw_gbs 2> said | tail -n +2");
    CHECK_STR(r.out, wanted);
    r = shell("$G nsys parse x.sqlite 2> said | $G nsys prof --group-by "
              "collective --csv --sort name -c kernels,message 2> said | "
              "grep Reduce,");
    CHECK_STR(r.out, ",AllReduce,1,4000\n,Reduce,1,80\n");
}

/* By payloads in bytes, of which one has handles that are no ids, and by JSON. Flops that
 * the program gave hold. The profile has the names of the ranges. */
TEST(operations_are_in_gnomons_payloads)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_layout(&x);
    const uint64_t mm = (uint64_t)export_string(&x, "matmul"),
                   type = (uint64_t)export_string(&x, "float32"),
                   inputs = (uint64_t)export_string(&x, GNOMON_INPUTS_JSON),
                   attributes = (uint64_t)export_string(&x, "{}");
    put_payload(&x, "fc1", 100,
                (const uint64_t[]){mm, type, inputs, attributes, 0, 0, 0});
    put_payload(&x, "fc2", 200,
                (const uint64_t[]){mm, type, inputs, attributes, 77, 99, 1});
    put_payload(&x, "fc3", 300,
                (const uint64_t[]){0x7f0011223344, 0x7f0011223344,
                                   0x7f0011223344, 0x7f0011223344, 55, 0, 0});
    export_range(&x, 1, 1, "fc4", 400, 450);
    export_sql(
        &x,
        "UPDATE NVTX_EVENTS SET jsonText = '{\"operation\": \"matmul\", "
        "\"inputs\": %s, \"flops\": 0, \"backward\": 0}' WHERE start = 400",
        "\"[{\\\"dtype\\\": \\\"float32\\\", \\\"dims\\\": [2, 3]}, "
        "{\\\"dtype\\\": \\\"float32\\\", \\\"dims\\\": [3, 4]}]\"");
    for (int i = 1; i <= 4; i++) {
        export_call(&x, 1, 1, i, i * 100 + 10, i * 100 + 20);
        export_kernel(&x, 1, i, "ampere_sgemm_32x32", 1000 * i, 10);
    }
    export_end(&x);
    static const char wanted[] = "Dir Op Params FLOPs Bytes\n"
                                 "fprop matmul A=(2,3),B=(3,4),fp32, 48 104\n"
                                 "bprop matmul A=(2,3),B=(3,4),fp32, 77 99\n"
                                 "fprop fc3 na=na, 55 0\n"
                                 "fprop matmul A=(2,3),B=(3,4),fp32, 48 104\n";
    const char *after = strchr(wanted, '\n');
    child_result r =
        shell("$G nsys prof x.sqlite -c dir,op,params,flops,bytes 2> said");
    CHECK_STR(strchr(r.out, '\n'), after);
    r = shell("$G nsys parse x.sqlite 2> said | $G nsys prof -c "
              "dir,op,params,flops,bytes 2> said");
    CHECK_STR(strchr(r.out, '\n'), after);
    check_lines("prof x.sqlite --group-by range -c name,kernels --sort name "
                "--csv 2> said",
                "stage,name,kernels\n,fc1,1\n,fc2,1\n,fc3,1\n,fc4,1\n");
}

/* DLProf's markers tell the modules around a call. */
TEST(layers_are_in_the_stacks_of_dlprof)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_1);
    export_range(&x, 1, 1,
                 "{" Q "traceMarker" Q ": [" Q "a.py:1" Q "], " Q "funcStack" Q
                 ": " Q "/Net/fc1/" Q "}",
                 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, "k", 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite -c layer,trace 2> said",
                "Layer Trace\n/Net/fc1/ a.py:1\n");
}

TEST(rooflines_are_drawn)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_steps(&x);
    export_end(&x);
    CHECK_EQ(
        shell("$G nsys prof x.sqlite --peak fp32=10,GB/s=1000 --plot r.svg "
              "--group-by kernel > table 2> said && python3 -c 'import "
              "xml.dom.minidom as x; x.parse(\"r.svg\")'")
            .status,
        0);
    child_result r = shell("cat r.svg");
    CHECK(strstr(r.out, ">ampere_sgemm_32x32</text>") != NULL);
    CHECK(strstr(r.out, ">fp32 10 TFLOP/s, ridge at 10</text>") != NULL);
    CHECK_EQ(shell("$G nsys prof x.sqlite --peak fp16=5,fp32=10,bf16=5 --plot "
                   "s.svg > table 2> said && grep -q '>fp16, bf16 5 TFLOP/s<' "
                   "s.svg")
                 .status,
             0);
    CHECK(strstr(r.out, ">Intensity, FLOP a byte</text>") != NULL);
    CHECK(strstr(r.out, ">TFLOP/s</text>") != NULL);
    CHECK(strstr(r.out, "class=\"ridge\"/>") != NULL);
    CHECK(!strstr(r.out, "nan") && !strstr(r.out, "inf"));
}

/* ---- As a profile -------------------------------------------------------------------- */

/* The kernels of a file, as "linear/gemm 2 30", by path, count and ns. */
static void kernel_nodes(const char *path, char *to, size_t size,
                         uint64_t *count, uint64_t *ns)
{
    gnomon_profile *p = NULL;
    gnomon_node_info n;
    size_t used = 0;
    *count = *ns = 0;
    *to = 0;
    if (!CHECK_EQ(gnomon_profile_load(&p, path), GNOMON_OK))
        return;
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    for (size_t i = 1; gnomon_profile_node(p, i, &n) == GNOMON_OK; i++) {
        gnomon_region_info r;
        char name[256] = "";
        if (!n.device)
            continue;
        *count += n.device->count;
        *ns += n.device->total_ns;
        const gnomon_stats time = *n.device;
        for (;;) {
            char inner[256];
            gnomon_profile_region(p, n.region, &r);
            snprintf(inner, sizeof inner, "%s", name);
            snprintf(name, sizeof name, "%.100s%s%.100s", r.name,
                     *inner ? "/" : "", inner);
            if (!n.parent || gnomon_profile_node(p, n.parent, &n))
                break;
        }
        if (used < size)
            used += (size_t)snprintf(to + used, size - used,
                                     "%s %" PRIu64 " %" PRIu64 "\n", name,
                                     time.count, time.total_ns);
    }
    gnomon_profile_free(p);
}

/* Counts and times of all kernels' nodes are those of the rows, in all generations; the
 * other commands take the file. */
TEST(the_profile_is_the_sum_of_the_rows)
{
    NEEDS_PROGRAM;
    char text[4096];
    uint64_t count, ns;
    for (int g = EXPORT_2021; g < EXPORT_GENERATIONS; g++) {
        export_file x = export_begin("x.sqlite", (enum export_generation)g);
        if (g == EXPORT_NVPROF) {
            export_range(&x, 1, 1, "layer:a", 5, 95);
            export_call(&x, 1, 1, 1, 20, 30);
            export_kernel(&x, 0, 1, "k", 1000, 10);
            export_kernel(&x, 0, 2, "k", 2000, 77);
        } else {
            put_groups(&x);
            put_processes(&x);
        }
        export_end(&x);
        CHECK_EQ(shell("$G nsys prof x.sqlite -o x.gnomon 2> said").status, 0);
        kernel_nodes("x.gnomon", text, sizeof text, &count, &ns);
        snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 "\n", count, ns);
        CHECK(count > 1);
        CHECK_STR(shell("$G nsys prof x.sqlite -c sil 2> said | awk 'NR > 1 { "
                        "n++; s += $1 } END { print n, s }'")
                      .out,
                  text);
        CHECK_EQ(shell("$G merge x.gnomon x.gnomon -o two.gnomon && $G diff "
                       "x.gnomon two.gnomon && $G export --to json x.gnomon && "
                       "$G report --as kernels x.gnomon")
                     .status,
                 0);
    }
}

/* By path: a backward kernel is below its forward operation's layer. */
TEST(the_profile_has_paths_of_layers_and_operations)
{
    NEEDS_PROGRAM;
    char text[4096];
    uint64_t count, ns;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_pyprof(&x);
    export_range(&x, 1, 2,
                 "autograd::engine::evaluate_function: Conv1, seq = 4", 600,
                 700);
    export_range(&x, 1, 2, "Conv1, seq = 4, op_id = 9", 601, 699);
    export_call(&x, 1, 2, 60, 610, 620);
    export_kernel(&x, 1, 60, "k", 9000, 10);
    export_range(&x, 1, 2, "ConvBackward0, seq = 4, op_id = 99", 800, 900);
    export_call(&x, 1, 2, 61, 810, 820);
    export_kernel(&x, 1, 61, "dgrad", 9100, 10);
    export_end(&x);
    CHECK_EQ(shell("$G nsys prof x.sqlite -o x.gnomon 2> said").status, 0);
    kernel_nodes("x.gnomon", text, sizeof text, &count, &ns);
    CHECK_STR(
        text,
        "conv1/conv2d/nchwToNhwcKernel 1 10\n"
        "conv1/conv2d/sm80_xmma_fprop_implicit_gemm_tf32_tensor16x8x8 1 10\n"
        "conv1/linear/ampere_sgemm_32x32 1 10\n"
        "conv1/AddmmBackward0/ampere_h16816gemm_64x64 1 10\n"
        "conv1/AddmmBackward0/ampere_sgemm_32x32_nt 1 10\n"
        "Conv1/k 1 10\n"
        "conv1/ConvBackward0/dgrad 1 10\n");
    CHECK_EQ(shell("$G nsys parse x.sqlite 2> said | $G nsys prof -o y.gnomon "
                   "2> said")
                 .status,
             0);
    kernel_nodes("y.gnomon", text, sizeof text, &count, &ns);
    CHECK(strstr(text, "conv1/conv2d/dgrad 1 10\n") != NULL);
    CHECK_EQ(count, 7);
}

/* ---- Profiles of gnomon's own -------------------------------------------------------- */

#define OWN_STATS(count, total, least, most, cells) \
    "{\"count\": " count ", \"total_ns\": " total ", \"self_ns\": " total \
    ", \"min_ns\": " least ", \"max_ns\": " most ", \"cells\": [" cells "]}"
#define OWN_HEAD \
    "{\"gnomon\": 1, \"runs\": [{\"pid\": 9}], \"stages\": [{\"run\": 1, " \
    "\"name\": " \
    "\"fit\"}], \"tracks\": [{\"run\": 1, \"name\": \"main\"}, {\"run\": 1, " \
    "\"kind\": " \
    "\"stream\", \"device\": 2, \"index\": 7, \"name\": \"stream 7\"}], " \
    "\"regions\": " \
    "[{\"name\": \"layer:fc\"}, {\"name\": \"linear\"}, {\"kind\": " \
    "\"kernel\", " \
    "\"name\": \"h16816gemm\"}, {\"kind\": \"kernel\", \"name\": " \
    "\"splitKreduce\"}], " \
    "\"ops\": [{\"operation\": \"matmul\", \"inputs\": [{\"dtype\": " \
    "\"float16\", " \
    "\"dims\": [2, 3]}, {\"dtype\": \"float16\", \"dims\": [3, 4]}]}, " \
    "{\"operation\": " \
    "\"\", \"attributes\": [{\"key\": \"grid\", \"json\": \"[8, 1, 1]\"}]}], "
#define OWN_PATH \
    "{\"track\": 2, \"stage\": 1, \"region\": 1}, {\"track\": 2, \"stage\": " \
    "1, " \
    "\"parent\": 1, \"region\": 2, \"op\": 1}, {\"track\": 2, \"stage\": 1, " \
    "\"parent\": 2, \"region\": 3, \"op\": 2, \"device\": " OWN_STATS( \
        "3", "60", "10", "30", \
        "[10, 1], [20, 1], [30, 1]") "}, {\"track\": 2, \"stage\": 1, " \
                                     "\"parent\": 2, \"region\": 4, " \
                                     "\"device\": " OWN_STATS( \
                                         "3", "6", "2", "2", "[2, 3]") "}"

static void write_own(const char *rest)
{
    FILE *f = fopen("x.gnomon.json", "w");
    fprintf(f, OWN_HEAD "%s}", rest);
    CHECK_EQ(fclose(f), 0);
}

/* Each execution of the operation counts once, with the kernel that multiplies. */
TEST(kernels_of_own_profiles_are_rows)
{
    NEEDS_PROGRAM;
    write_own("\"nodes\": [" OWN_PATH "]");
    check_lines(
        "prof x.gnomon.json -c idx,layer,op,kernel,params,sil,tc,device,"
        "stream,grid,flops,bytes 2> said",
        "Idx Layer Op Kernel Params Sil(ns) TC Device Stream Grid FLOPs "
        "Bytes\n"
#define ROW(idx, ns) \
    idx " fc matmul h16816gemm A=(2,3),B=(3,4),fp16, " ns " 1 2 7 8,1,1 48 " \
        "52\n"
#define REST(idx) \
    idx " fc matmul splitKreduce A=(2,3),B=(3,4),fp16, 2 - 2 7 0,0,0 0 0\n"
        ROW("1", "10") REST("2") ROW("3", "30") REST("4") ROW("5", "20")
            REST("6"));
    check_lines(
        "prof x.gnomon.json --group-by op --csv -c name,kernels,sum,min,"
        "max,flops,bytes --peak fp16=1 2> said",
        "stage,name,kernels,sum_ns,min_ns,max_ns,flops,bytes\n"
        ",matmul,6,66,2,30,144,156\n");
    /* Its sum is a profile too, whose rows say the same; and so do its lines. */
    check_lines("prof x.gnomon.json -o y.gnomon 2> said", "");
    check_lines("prof y.gnomon --group-by op --csv -c name,kernels,sum,min,max,"
                "flops,bytes 2> said",
                "stage,name,kernels,sum_ns,min_ns,max_ns,flops,bytes\n"
                ",matmul,6,66,2,30,144,156\n");
    CHECK_STR(
        shell("$G nsys parse x.gnomon.json 2> said | $G nsys prof --top 1 "
              "-c layer,sil,flops 2> said")
            .out,
        "Layer Sil(ns) FLOPs\nfc 10 48\n");
}

/* Where single executions are known, streams may overlap and steps have kernels. */
TEST(own_traces_have_unions_and_steps)
{
    NEEDS_PROGRAM;
    write_own(
        "\"nodes\": [" OWN_PATH "], \"steps\": [{\"stage\": 1, \"number\": 0, "
        "\"begin_ns\": 100, \"end_ns\": 200}, {\"stage\": 1, \"number\": 1, "
        "\"begin_ns\": 200, \"end_ns\": 400}], \"events\": [{\"track\": 2, "
        "\"node\": 3, \"begin_ns\": 110, \"duration_ns\": 20}, {\"track\": 2, "
        "\"node\": 3, \"begin_ns\": 120, \"duration_ns\": 30}, {\"track\": 2, "
        "\"node\": 3, \"begin_ns\": 300, \"duration_ns\": 10}]");
    check_lines("prof x.gnomon.json --group-by kernel --csv -c "
                "name,kernels,sum,union 2> said",
                "stage,name,kernels,sum_ns,union_ns\n"
                ",h16816gemm,3,60,50\n,splitKreduce,3,6,\n");
    check_lines(
        "prof x.gnomon.json --group-by step --csv -c "
        "name,kernels,wall,flops,mfu --peak fp16=0.001 --sort name 2> said",
        "stage,name,kernels,wall_ns,flops,mfu\n"
        ",(none),3,,0,\n,1,2,100,96,96\n,2,1,200,48,24\n");
}

/* A kernel belongs to the step that launched it, not to the one in which it began. */
TEST(own_kernels_are_of_the_step_that_launched_them)
{
    NEEDS_PROGRAM;
    write_own(
        "\"nodes\": [" OWN_PATH ", {\"track\": 1, \"stage\": 1, \"region\": 1, "
        "\"host\": " OWN_STATS(
            "1", "1", "1", "1",
            "[1, 1]") "}], \"steps\": [{\"stage\": 1, "
                      "\"begin_ns\": 100, \"end_ns\": 200}, {\"stage\": 1, "
                      "\"begin_ns\": 200, \"end_ns\": 400}], \"links\": "
                      "[{\"kind\": \"launch\", \"from\": 5, \"to\": 3, "
                      "\"from_instance\": 8, \"to_instance\": 9}], "
                      "\"events\": [{\"track\": 1, \"node\": 5, "
                      "\"begin_ns\": 150, \"duration_ns\": 1, "
                      "\"instance\": 8}, {\"track\": 2, \"node\": 3, "
                      "\"begin_ns\": 300, \"duration_ns\": 10, "
                      "\"instance\": 9}]");
    check_lines("prof x.gnomon.json --group-by step --csv -c name,kernels "
                "--sort name 2> said",
                "stage,name,kernels\n,(none),5\n,1,1\n");
}

TEST(own_collectives_have_bytes_and_bandwidths)
{
    NEEDS_PROGRAM;
    FILE *f = fopen("x.gnomon.json", "w");
    fputs("{\"gnomon\": 1, \"runs\": [{\"pid\": 9}], \"stages\": [{\"run\": 1, "
          "\"name\": \"fit\"}], \"tracks\": [{\"run\": 1, \"kind\": "
          "\"stream\", \"device\": 0, \"index\": 7, \"name\": \"stream 7\"}], "
          "\"regions\": [{\"name\": \"sync\"}, {\"kind\": \"kernel\", "
          "\"name\": \"ncclDevKernel_AllReduce_Sum_f16_RING_LL(x)\"}], "
          "\"ops\": [{\"operation\": \"all_reduce\", \"inputs\": [{\"dtype\": "
          "\"float16\", \"dims\": [100]}], \"attributes\": [{\"key\": "
          "\"ranks\", \"json\": \"2\"}]}], \"nodes\": [{\"track\": 1, "
          "\"stage\": 1, \"region\": 1, \"op\": 1}, {\"track\": 1, "
          "\"stage\": 1, \"parent\": 1, \"region\": 2, \"device\": " OWN_STATS(
              "3", "60", "10", "30", "[10, 1], [20, 1], [30, 1]") "}]}",
          f);
    CHECK_EQ(fclose(f), 0);
    check_lines("prof x.gnomon.json --group-by collective --csv -c "
                "name,kernels,message,algbw_gbs,busbw_gbs 2> said",
                "stage,name,kernels,message,algbw_gbs,busbw_gbs\n"
                ",AllReduce,3,600,10,10\n");
}

/* Of a device's events, what scopes took less those inside them. */
TEST(event_timers_are_rows_where_there_are_no_kernels)
{
    NEEDS_PROGRAM;
    write_own(
        "\"nodes\": [{\"track\": 1, \"stage\": 1, \"region\": 1, \"device\": "
        "{\"count\": 1, \"total_ns\": 50, \"self_ns\": 9, \"min_ns\": 50, "
        "\"max_ns\": 50, \"cells\": [[41, 1]]}}, {\"track\": 1, \"stage\": 1, "
        "\"parent\": 1, "
        "\"region\": 2, \"op\": 1, \"device\": " OWN_STATS(
            "2", "41", "20", "21", "[20, 1], [21, 1]") "}]");
    check_lines("prof x.gnomon.json -c layer,op,kernel,sil,flops 2> said",
                "Layer Op Kernel Sil(ns) FLOPs\n- na layer:fc 9 0\n"
                "fc matmul linear 20 48\nfc matmul linear 21 48\n");
    write_own("\"nodes\": []");
    CHECK_EQ(shell("$G nsys prof x.gnomon.json").status, 3);
    CHECK_EQ(shell("$G nsys prof x.gnomon.json --group-by step").status, 3);
}

/* ---- What is no export ------------------------------------------------------------------- */

static void check_refused(const char *file, int status, const char *words)
{
    child_result r = shell("$G nsys prof %s", file);
    CHECK_EQ(r.status, status);
    if (!CHECK(strstr(r.err, words) != NULL))
        fprintf(stderr, "    %s", r.err);
}

TEST(what_is_no_database_is_told)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    put_processes(&x);
    export_end(&x);
    check_refused("nothing.sqlite", 2, "No such file");
    CHECK_EQ(
        shell("echo hello > a.sqlite; : > b.sqlite; cp a.sqlite c.nsys-rep; "
              "head -c 5000 x.sqlite > d.sqlite")
            .status,
        0);
    check_refused("a.sqlite", 2, "neither an export of Nsight Systems");
    check_refused("b.sqlite", 2, "none of their tables");
    check_refused("c.nsys-rep", 2, "nsys export --type sqlite");
    check_refused("d.sqlite", 2, "d.sqlite: ");
    check_refused("x.sqlite -c idx,nope", 1, "no column 'nope'");
    check_refused("x.sqlite -w 10 --csv", 1, "use only one of");
    CHECK_STR(shell("$G nsys prof x.sqlite -w 20").out,
              "Minimum width required to print "
              "idx,dir,sub,mod,op,kernel,params,sil = 55. "
              "Exiting.\n");
    CHECK_EQ(shell("$G nsys prof x.sqlite -w 20").status, 1);
    CHECK_STR(shell("($G nsys prof x.sqlite 2> said; echo $? > code) | true; "
                    "cat code")
                  .out,
              "0\n");
}

/* Rows of what is left, and the line and the code of every command; a text is cut off. */
TEST(damaged_profiles_are_told)
{
    NEEDS_PROGRAM;
    write_own("\"nodes\": [" OWN_PATH "]");
    CHECK_EQ(
        shell("$G merge x.gnomon.json -o x.gnomon 2> said && size=$(wc -c "
              "< x.gnomon) && head -c $((size / 2)) x.gnomon > a.gnomon && "
              "head -c $((size - 1)) x.gnomon > b.gnomon")
            .status,
        0);
    check_refused("a.gnomon", 2, "a.gnomon: damaged: ");
    CHECK(!strstr(shell("$G nsys prof a.gnomon").err, "no kernels"));
    check_refused("a.gnomon --group-by op", 2, "a.gnomon: damaged: ");
    check_refused("b.gnomon", 2, "b.gnomon: damaged: ");
    CHECK(strstr(shell("$G nsys prof b.gnomon").out, "h16816gemm") != NULL);
}

/* A table that is not there is no error; without kernels there is nothing to tell. */
TEST(tables_may_be_missing)
{
    NEEDS_PROGRAM;
    static const char *const tables[] = {
        "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        export_file x = export_begin("x.sqlite", EXPORT_3_25);
        put_processes(&x);
        export_sql(&x, "DROP TABLE %s", tables[i]);
        export_end(&x);
        child_result r = shell("$G nsys prof x.sqlite -c sil 2> said");
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.out, "Sil(ns)\n20\n10\n30\n40\n50\n");
    }
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_sql(&x, "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end)");
    export_sql(&x, "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1, 2)");
    export_call(&x, 1, 1, 1, 1, 2);
    export_end(&x);
    check_refused("x.sqlite", 3, "--cuda-graph-trace=node");
}

/* Names of all kinds go through both forms. */
TEST(names_are_quoted)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 1, "layer:a\"b'',\nc\\\xe2\x82\xac", 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, "k", 1000, 10);
    export_end(&x);
    CHECK_STR(shell("$G nsys prof x.sqlite --csv -c layer 2> said").out,
              "\"Layer\"\n\"a\"\"b',\nc\\\xe2\x82\xac\"\n");
    CHECK_STR(shell("$G nsys prof x.sqlite --json -c layer 2> said").out,
              "[\n {\"layer\": \"a\\\"b',\\u000ac\\\\\xe2\x82\xac\"}\n]\n");
    CHECK_STR(shell("$G nsys parse x.sqlite 2> said | $G nsys prof --json -c "
                    "layer 2> said")
                  .out,
              "[\n {\"layer\": \"a\\\"b',\\u000ac\\\\\xe2\x82\xac\"}\n]\n");
}

/* Names of templates are long, and control characters take six bytes in JSON. */
TEST(long_names_are_whole_in_json)
{
    NEEDS_PROGRAM;
    char name[3001] = "", count[64];
    memset(name, 'x', sizeof name - 1);
    memset(name + 1, 1, 2000);
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 1, name, 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, name, 1000, 10);
    export_end(&x);
    snprintf(count, sizeof count, "%d\n", 3000);
#define LENGTH(key) \
    "| python3 -c 'import json, sys; " \
    "print(len(json.load(sys.stdin)[0][\"" key "\"]))'"
    CHECK_STR(shell("$G nsys prof x.sqlite --json -c kernel 2> said " LENGTH(
                        "kernel"))
                  .out,
              count);
    CHECK_STR(
        shell("$G nsys cuda_gpu_kern_sum x.sqlite --json " LENGTH("Name")).out,
        count);
#undef LENGTH
}

/* A spreadsheet runs no name; a "-" for nothing stays as it is. */
TEST(names_are_no_formulas_in_csv)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 1, "layer:=1+2", 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, "k", 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite --csv -c layer,seq,sil 2> said",
                "\"Layer\",\"SeqId\",\"Sil(ns)\"\n\"'=1+2\",\"-\",\"10\"\n");
}

/* A name that would clear a terminal, or be two rows. */
TEST(names_are_no_orders_to_a_terminal)
{
    NEEDS_PROGRAM;
    export_file x = export_begin("x.sqlite", EXPORT_3_25);
    export_range(&x, 1, 1, "layer:a\033[2J\nb", 5, 95);
    export_call(&x, 1, 1, 1, 20, 30);
    export_kernel(&x, 1, 1, "k\033c", 1000, 10);
    export_end(&x);
    check_lines("prof x.sqlite -c layer,kernel 2> said",
                "Layer Kernel\na\\x1b[2J\\nb k\\x1bc\n");
    CHECK(!strchr(shell("$G nsys parse x.sqlite 2> said").out, '\033'));
}

#else

#include "test.h"

TEST(databases_are_read)
{
    SKIP("built without SQLite");
}

#endif
