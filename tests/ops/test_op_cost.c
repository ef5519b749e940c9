/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What operations compute, held against torch's figures and against loops that do the
 * operation and count.
 * links: testing
 * threads: none */
#include "ops/cost.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

#define MOST 8

/* An operation of words: "4,5 5,6 - 3:int64" are the shapes of its inputs, of which "-" is
 * a number, and "stride=[2, 2]; groups=2" its attributes. */
typedef struct made_op {
    gnomon_op_info info;
    gnomon_tensor inputs[MOST];
    gnomon_attribute attributes[MOST];
    int64_t dims[MOST][8];
    char words[512];
} made_op;

static void make_op(made_op *m, const char *name, const char *shapes,
                    const char *attributes)
{
    char *save = NULL, *next = m->words;
    memset(m, 0, sizeof *m);
    m->info = (gnomon_op_info){.struct_size = sizeof m->info,
                               .operation = name,
                               .inputs = m->inputs,
                               .attributes = m->attributes};
    snprintf(m->words, sizeof m->words, "%s", shapes);
    for (char *word; (word = strtok_r(next, " ", &save)); next = NULL) {
        const size_t i = m->info.input_count++;
        gnomon_tensor *t = &m->inputs[i];
        *t = (gnomon_tensor){.struct_size = sizeof *t, .dims = m->dims[i]};
        char *type = strchr(word, ':');
        t->dtype = type ? type + 1 : "float32";
        for (char *at = word; *word != '-' || word[1]; at++) {
            m->dims[i][t->rank++] = strtoll(at, &at, 10);
            if (*at != ',')
                break;
        }
        if (type)
            *type = 0;
    }
    char *keys = m->words + strlen(shapes) + 1;
    snprintf(keys, sizeof m->words - strlen(shapes) - 1, "%s", attributes);
    for (char *word; (word = strtok_r(keys, ";", &save)); keys = NULL) {
        gnomon_attribute *a = &m->attributes[m->info.attribute_count++];
        word += strspn(word, " ");
        char *value = strchr(word, '=');
        *value = 0;
        *a = (gnomon_attribute){
            .struct_size = sizeof *a, .key = word, .json = value + 1};
    }
}

static gnomon__op_cost work(const char *name, const char *shapes,
                            const char *attributes)
{
    made_op m;
    make_op(&m, name, shapes, attributes);
    return gnomon__op_cost_of(&m.info);
}

static gnomon__op_cost work_back(const char *name, const char *shapes,
                                 const char *attributes)
{
    made_op m;
    make_op(&m, name, shapes, attributes);
    m.info.flags = GNOMON_OP_BACKWARD;
    return gnomon__op_cost_of(&m.info);
}

/* ---- torch's figures --------------------------------------------------------------- */

/* torch.profiler(with_flops=True) of torch 2.13. */
TEST(torchs_own_figures)
{
    static const struct {
        const char *op, *shapes, *attributes;
        uint64_t flops;
    } golden[] = {
        {"aten::mm", "4,5 5,6", "", 240},
        {"aten::mm", "1,1 1,1", "", 2},
        {"aten::mm", "4096,2048 2048,8", "", 134217728},
        {"aten::addmm", "6 4,5 5,6 - -", "", 240},
        {"aten::addmm", "64 32,128 128,64 - -", "", 524288},
        {"aten::bmm", "3,4,5 3,5,6", "", 720},
        {"aten::bmm", "6,4,5 6,5,6", "", 1440},
        {"aten::baddbmm", "3,4,6 3,4,5 3,5,6 - -", "", 720},
        {"aten::conv2d", "2,4,16,16 8,4,3,3 - - - - -",
         "stride=[1, 1];padding=[0, 0];dilation=[1, 1];groups=1", 225792},
        {"aten::conv2d", "1,3,224,224 64,3,7,7 - - - - -",
         "stride=[2, 2];padding=[3, 3];dilation=[1, 1];groups=1", 236027904},
        {"aten::conv2d", "1,8,8,8 8,1,3,3 - - - - -",
         "stride=[1, 1];padding=[1, 1];dilation=[1, 1];groups=8", 9216},
        {"aten::conv2d", "2,4,16,16 8,2,3,3 - - - - -",
         "stride=[2, 2];padding=[1, 1];dilation=[1, 1];groups=2", 36864},
        {"aten::conv2d", "1,3,8,8 5,3,1,1 5 - - - -",
         "stride=[1, 1];padding=[0, 0];dilation=[1, 1];groups=1", 1920},
        {"aten::conv2d", "1,3,8,8 5,3,1,1 5 - - - -",
         "stride=[1, 1];padding=\"same\";dilation=[1, 1];groups=1", 0},
        {"aten::conv2d", "3,8,8 5,3,1,1 5 - - - -",
         "stride=[1, 1];padding=[0, 0];dilation=[1, 1];groups=1", 0},
        {"aten::conv2d", "1,3,8,8 5,3,1,1 5 - - - -", "", 0},
        {"aten::mul", "3,4 3,4", "", 12},
        {"aten::mul", "3,4 -", "", 12},
        {"aten::mul", "- 3,4", "", 1},
        {"aten::add", "3,4 3,4 -", "", 12},
        {"aten::add", "2,3,4 - -", "", 24},
        {"aten::sub", "3,4 3,4 -", "", 0},
        {"aten::mv", "4,5 5", "", 0},
        {"aten::softmax", "3,4 - -", "", 0},
        {"aten::conv1d", "1,3,8 5,3,3 - - - - -", "", 0},
        {"aten::conv3d", "1,3,4,8,8 5,3,2,3,3 - - - - -", "", 0},
        {"aten::add_", "3,4 - -", "", 0},
        {"mm", "4,5 5,6", "", 0}};
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        made_op m;
        make_op(&m, golden[i].op, golden[i].shapes, golden[i].attributes);
        CHECK_EQ(gnomon__torch_flops(&m.info), golden[i].flops);
    }
}

/* torch.utils.flop_counter of torch 2.13, which counts as we do. */
TEST(torchs_counter_counts_as_we_do)
{
    CHECK_EQ(work("mm", "4,5 5,6", "").flops, 240);
    CHECK_EQ(work("addmm", "6 4,5 5,6", "").flops, 240);
    CHECK_EQ(work("bmm", "3,4,5 3,5,6", "").flops, 720);
    CHECK_EQ(work("baddbmm", "3,4,6 3,4,5 3,5,6", "").flops, 720);
    CHECK_EQ(work("convolution", "1,3,8 5,3,3", "").flops, 540);
    CHECK_EQ(work("convolution", "2,4,16,16 8,4,3,3", "").flops, 225792);
    CHECK_EQ(
        work("convolution", "2,4,16,16 8,2,3,3", "stride=2;padding=1;groups=2")
            .flops,
        36864);
    CHECK_EQ(work("convolution", "1,3,8,8 3,5,3,3", "transposed=true").flops,
             17280);
    CHECK_EQ(work("aten::scaled_dot_product_attention",
                  "2,8,128,64 2,8,128,64 2,8,128,64", "")
                 .flops,
             67108864);
    CHECK_EQ(work("aten::_scaled_dot_product_flash_attention_backward",
                  "2,8,128,64 2,8,128,64 2,8,128,64 2,8,128,64", "")
                 .flops,
             167772160);
    CHECK_EQ(work("convolution_backward", "1,5,6,6 1,3,8,8 5,3,3,3", "").flops,
             2 * 9720);
}

/* ---- Loops ------------------------------------------------------------------------- */

static unsigned seed;

static int any(int from, int to)
{
    seed = seed * 1103515245u + 12345u;
    return from + (int)(seed >> 16) % (to - from + 1);
}

TEST(products_are_what_a_loop_counts)
{
    char shapes[96];
    seed = 1;
    for (int round = 0; round < 50; round++) {
        const int b = any(1, 3), m = any(1, 7), n = any(1, 7), k = any(0, 7);
        uint64_t counted = 0;
        for (int i = 0; i < b * m * n; i++)
            for (int j = 0; j < k; j++)
                counted += 2;
        snprintf(shapes, sizeof shapes, "%d,%d,%d %d,%d,%d", b, m, k, b, k, n);
        gnomon__op_cost w = work("bmm", shapes, "");
        CHECK_EQ(w.flops, counted);
        CHECK_EQ(w.bytes, 4u * (unsigned)(b * (m * k + k * n + m * n)));
        CHECK(w.is_known && !w.is_by_definition);
        snprintf(shapes, sizeof shapes, "%d,%d,%d %d,%d %d", b, m, k, n, k, n);
        w = work("linear", shapes, "");
        CHECK_EQ(w.flops, counted);
        CHECK_EQ(w.bytes, 4u * (unsigned)(b * m * k + k * n + b * m * n + n));
        CHECK_EQ(work_back("linear", shapes, "").flops, 2 * counted);
        /* The second matrix is one for all of the batch. */
        snprintf(shapes, sizeof shapes, "%d,1,%d,%d %d,%d", b, m, k, k, n);
        w = work("matmul", shapes, "");
        CHECK_EQ(w.flops, counted);
        CHECK_EQ(w.bytes, 4u * (unsigned)(b * m * k + k * n + b * m * n));
    }
}

/* The multiplications of a convolution over an input that was padded. */
static uint64_t count_convolution(const int *size, const int *kernel,
                                  const int *stride, const int *padding,
                                  const int *dilation, int dims, int each)
{
    uint64_t counted = 0;
    int at[3] = {0};
    for (int d = 0; d < dims; d++)
        at[d] = 0;
    for (;;) {
        int taps = 1, fits = 1;
        for (int d = 0; d < dims; d++) {
            taps *= kernel[d];
            fits &= at[d] + dilation[d] * (kernel[d] - 1) <
                    size[d] + 2 * padding[d];
        }
        if (fits)
            for (int tap = 0; tap < taps * each; tap++)
                counted += 2;
        int d = dims - 1;
        while (d >= 0 && (at[d] += stride[d]) >= size[d] + 2 * padding[d])
            at[d--] = 0;
        if (d < 0)
            return counted;
    }
}

TEST(convolutions_are_what_a_loop_counts)
{
    char shapes[128], attributes[128];
    seed = 2;
    for (int round = 0; round < 100; round++) {
        const int dims = any(1, 2), g = any(1, 2), n = any(1, 2);
        const int c = g * any(1, 2), results = g * any(1, 3);
        int size[3], kernel[3], stride[3], padding[3], dilation[3];
        for (int d = 0; d < 3; d++) {
            size[d] = any(5, 8);
            kernel[d] = any(1, 3);
            stride[d] = any(1, 3);
            padding[d] = any(0, 2);
            dilation[d] = any(1, 2);
        }
        const uint64_t want = count_convolution(
            size, kernel, stride, padding, dilation, dims, n * results * c / g);
        snprintf(attributes, sizeof attributes,
                 dims == 1 ? "stride=%d;padding=%d;dilation=%d;groups=%d"
                           : "stride=[%d, %4$d];padding=[%2$d, %5$d];dilation=["
                             "%3$d,%6$d];groups=%7$d",
                 stride[0], padding[0], dilation[0], dims == 1 ? g : stride[1],
                 padding[1], dilation[1], g);
        if (dims == 1)
            snprintf(shapes, sizeof shapes, "%d,%d,%d %d,%d,%d", n, c, size[0],
                     results, c / g, kernel[0]);
        else
            snprintf(shapes, sizeof shapes, "%d,%d,%d,%d %d,%d,%d,%d", n, c,
                     size[0], size[1], results, c / g, kernel[0], kernel[1]);
        CHECK_EQ(work("aten::convolution", shapes, attributes).flops, want);
        CHECK_EQ(work_back("conv2d", shapes, attributes).flops, 2 * want);
    }
}

TEST(attention_is_what_a_loop_counts)
{
    char shapes[128], attributes[64];
    seed = 3;
    for (int round = 0; round < 200; round++) {
        const int heads = any(1, 3), q = any(1, 9), k = any(1, 9);
        const int d = any(1, 4), dv = any(1, 4);
        const int is_causal = any(0, 1), window = is_causal ? any(0, 5) : 0;
        uint64_t met = 0;
        for (int i = 0; i < q; i++)
            for (int j = 0; j < k; j++) {
                const int last = k - q + i; /* the last key that i sees */
                met +=
                    !is_causal || (j <= last && (!window || j > last - window));
            }
        snprintf(shapes, sizeof shapes, "2,%d,%d,%d 2,1,%d,%d 2,1,%d,%d", heads,
                 q, d, k, d, k, dv);
        snprintf(attributes, sizeof attributes, "is_causal=%s;window=%d",
                 is_causal ? "true" : "false", window);
        const uint64_t pairs = 2u * (unsigned)heads * met;
        const gnomon__op_cost w =
            work("scaled_dot_product_attention", shapes, attributes);
        CHECK_EQ(w.flops, 2 * pairs * (unsigned)(d + dv));
        const int rows = 2 * heads * q;
        CHECK_EQ(w.bytes, 4u * (unsigned)(rows * d + 2 * k * d + 2 * k * dv +
                                          rows * dv + rows));
        CHECK_EQ(work_back("attention", shapes, attributes).flops,
                 2 * pairs * (unsigned)(3 * d + 2 * dv));
    }
}

TEST(attention_of_several_lengths_is_the_sum)
{
    CHECK_EQ(work("flash_attention_varlen", "12,2,4 12,2,4 12,2,4",
                  "seqlens_q=[3,4,5];is_causal=true")
                 .flops,
             2 * 2 * (6 + 10 + 15) * 8);
    CHECK_EQ(work("attention", "3,2,4 9,2,4 9,2,4",
                  "seqlens_q=[1,2];seqlens_k=[4,5]")
                 .flops,
             2 * 2 * (4 + 10) * 8);
    CHECK(!work("attention", "3,2,4 9,2,4 9,2,4",
                "seqlens_q=[1,2];seqlens_k=[4,5,6]")
               .is_known);
}

TEST(experts_are_counted_from_given_counts_only)
{
    const gnomon__op_cost w =
        work("grouped_mm", "10,8 3,8,4", "tokens=[7, 0, 3]");
    CHECK_EQ(w.flops, 2 * 10 * 8 * 4);
    CHECK_EQ(w.bytes, 4 * (10 * (8 + 4) + 2 * 8 * 4));
    CHECK(!work("grouped_mm", "10,8 3,8,4", "").is_known);
    CHECK(!work("grouped_mm", "10,8 3,8,4", "tokens=[7,3]").is_known);
}

/* ---- Rules ------------------------------------------------------------------------- */

TEST(each_rule_by_an_example)
{
    static const struct {
        const char *op, *shapes, *attributes;
        uint64_t flops, bytes, back, back_bytes;
    } rules[] = {
        {"linear", "32,400 120,400", "", 2 * 120 * 32 * 400, 258560,
         4 * 120 * 32 * 400, 2 * 258560},
        {"conv2d", "32,3,32,32 6,3,3,3", "", 9331200, 1085064, 18662400,
         2170128},
        {"relu_", "10", "", 10, 80, 10, 120},
        {"exp", "10:float64", "", 200, 160, 200, 240},
        {"silu", "10:bfloat16", "", 50, 40, 50, 60},
        {"_softmax", "5,2", "", 50, 80, 40, 120},
        {"dropout", "10", "", 50, 90, 10, 90},
        {"add", "5,1 1,2", "", 10, 68, 0, 80},
        {"mul", "5,2 -", "", 10, 80, 10, 120},
        {"eq", "5,2 5,2", "", 10, 90, 0, 0},
        {"addcmul", "10 10 10 -", "", 30, 160, 30, 160},
        {"sum", "5,2", "", 10, 44, 0, 44},
        {"mean", "5,2", "", 11, 44, 1, 44},
        {"native_layer_norm", "4,8 8 8", "", 224, 256 + 32 + 64, 448,
         384 + 32 + 64},
        {"rms_norm", "4,8 8", "", 128, 256 + 16 + 32, 288, 384 + 16 + 32},
        {"group_norm", "2,8,3", "num_groups=4", 336, 384 + 64, 672, 576 + 64},
        {"swiglu", "4,8", "", 80, 192, 80, 320},
        {"cat", "2,3 4,3", "", 0, 144, 0, 144},
        {"copy_", "6:float16 6", "", 0, 36, 0, 36},
        {"view", "6", "", 0, 0, 0, 0},
        {"gather", "9 4:int64", "", 0, 64, 0, 64},
        {"index_select", "5,3 2:int64", "dim=0", 0, 64, 0, 64},
        {"embedding", "100,8 3:int64", "", 0, 24 + 192, 24, 24 + 288},
        {"max_pool2d", "1,2,8,8", "kernel_size=[2, 2]", 128, 640, 128, 640},
        {"cross_entropy_loss", "4,10 4:int64", "", 200, 160 + 32 + 4, 160,
         160 + 32 + 160},
        {"_adamw", "10 3,2", "", 256, 16 * 28, 256, 16 * 28}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *op = rules[i].op, *shapes = rules[i].shapes;
        const gnomon__op_cost w = work(op, shapes, rules[i].attributes);
        const gnomon__op_cost back = work_back(op, shapes, rules[i].attributes);
        if (w.flops != rules[i].flops || w.bytes != rules[i].bytes ||
            back.flops != rules[i].back || back.bytes != rules[i].back_bytes)
            fprintf(stderr, "%s\n", op);
        CHECK(w.is_known && back.is_known);
        CHECK_EQ(w.flops, rules[i].flops);
        CHECK_EQ(w.bytes, rules[i].bytes);
        CHECK_EQ(back.flops, rules[i].back);
        CHECK_EQ(back.bytes, rules[i].back_bytes);
    }
    CHECK(work("exp", "10", "").is_by_definition);
    CHECK(!work("view", "10", "").is_by_definition);
    CHECK(!work("add", "10 10", "").is_by_definition);
}

TEST(a_backward_operation_reads_its_gradient_first)
{
    CHECK_EQ(work("aten::_softmax_backward_data", "7 5,2 - -", "").flops, 40);
    CHECK_EQ(work("aten::gelu_backward", "10 10", "").bytes, 120 + 0);
    CHECK_EQ(
        work("aten::native_layer_norm_backward", "4,8 4,8 - 8 8", "").flops,
        448);
}

TEST(what_is_wrong_is_not_known)
{
    static const char *const wrong[][3] = {
        {"", "4 4", ""},
        {"m", "4,5 5,6", ""},
        {"mm bmm", "4,5 5,6", ""},
        {"nothing", "4 4", ""},
        {"mm", "", ""},
        {"mm", "4,5", ""},
        {"mm", "4,5 4,6", ""},
        {"mm", "4,5 5,-6", ""},
        {"mm", "4 4", ""},
        {"matmul", "3,4,5 2,5,6", ""},
        {"matmul", "- -", ""},
        {"add", "3 4", ""},
        {"linear", "4,5 6,7", ""},
        {"conv2d", "1,3,8,8 5,3,3,3", "stride=0"},
        {"conv2d", "1,3,8,8 5,3,3,3", "stride=\"x\""},
        {"conv2d", "1,3,8,8 5,3,3,3", "padding=\"other\""},
        {"conv2d", "1,3,8,8 5,3,3,3", "dilation=[1.5, 1]"},
        {"conv2d", "1,3,8,8 5,2,3,3", ""},
        {"conv2d", "1,3,8,8 5,3,3,3", "groups=0"},
        {"conv2d", "1,3,8,8 5,3,3,3", "stride=[1, 2, 3]"},
        {"attention", "2,3 2,4 2,3", ""},
        {"attention", "2,3 2,3 2,3", "window=-1"},
        {"swiglu", "3,3", ""},
        {"group_norm", "2,8,3", ""},
        {"max_pool2d", "1,2,8,8", ""},
        {"index_select", "5,3 2", "dim=70"},
        {"embedding", "100,8", ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const gnomon__op_cost w = work(wrong[i][0], wrong[i][1], wrong[i][2]);
        if (w.is_known || w.flops || w.bytes)
            fprintf(stderr, "%s %s %s\n", wrong[i][0], wrong[i][1],
                    wrong[i][2]);
        CHECK(!w.is_known && !w.flops && !w.bytes);
    }
}

TEST(sizes_beyond_all_numbers_stop_at_the_largest)
{
    const char *huge = "4294967296,4294967296 4294967296,4294967296";
    CHECK(work("mm", huge, "").flops == UINT64_MAX);
    CHECK(work("mm", huge, "").bytes == UINT64_MAX);
    CHECK(work("add", huge, "").flops == UINT64_MAX);
    CHECK_EQ(work("conv1d", "1,1,9223372036854775807 1,1,3", "").flops, 0);
    CHECK(work("attention",
               "1,9223372036854775807,4 1,9223372036854775807,4 "
               "1,9223372036854775807,4",
               "is_causal=true")
              .flops == UINT64_MAX);
}
