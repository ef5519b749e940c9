/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What becomes of scopes that compute an operation: nodes, filters, steps, reports, work
 * of devices, traces.
 *
 * links: testing
 * timeout: 120 */
#include "products.h"
#include "step_times.h"
#include "toy_source.h"

static void compute(uint64_t flops, uint64_t ns)
{
    product_op p;
    product_of(&p)->op.flops = flops;
    gnomon_token scope = gnomon_begin_op(&product, &p.op);
    pass(ns);
    gnomon_end(scope);
}

/* The node of a profile that computes so much; 0: there is none. */
static size_t node_of_flops(const gnomon_profile *p, uint64_t flops,
                            gnomon_node_info *n)
{
    gnomon_op_info op;
    for (size_t i = 1; gnomon_profile_node(p, i, n) == GNOMON_OK; i++)
        if (n->host && n->op && !gnomon_profile_op(p, n->op, &op) &&
            op.flops == flops)
            return i;
    return 0;
}

/* ---- Nodes ---------------------------------------------------------------------- */

TEST(each_operation_of_a_region_is_a_node)
{
    gnomon_node_info n;
    attach_probe();
    {
        GNOMON_SCOPE("outer");
        compute(100, 10);
        compute(200, 20);
        compute(100, 30);
        gnomon_end(gnomon_begin(&product)); /* and without one */
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 4);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPS), 2);
    if (CHECK(node_of_flops(p, 100, &n))) {
        CHECK_EQ(n.parent, node_at(p, 0, 0, "outer"));
        CHECK_EQ(n.host->count, 2);
        CHECK_EQ(n.host->total_ns, 40);
        CHECK(n.work && n.work->flops == 200 && n.work->bytes == 2 * 344064);
    }
    if (CHECK(node_of_flops(p, 200, &n))) {
        CHECK_EQ(n.host->total_ns, 20);
        CHECK(n.work && n.work->flops == 200 && n.work->bytes == 344064);
    }
    gnomon_op_info op;
    CHECK_EQ(gnomon_profile_op(p, n.op, &op), GNOMON_OK);
    CHECK_STR(op.operation, "matmul");
    CHECK_EQ(gnomon_input_at(&op, 1)->dims[1], 128);
    CHECK_STR(gnomon_attribute_at(&op, 0)->json, "[false, true]");
    CHECK_EQ(calls_of(p, "linear"), 4);
    gnomon_profile_free(p);
}

TEST(two_regions_of_equal_operations_share_it)
{
    product_op p;
    attach_probe();
    gnomon_region *other = gnomon_region_get("other", NULL, 0);
    gnomon_end(gnomon_begin_op(&product, &product_of(&p)->op));
    gnomon_end(gnomon_begin_op(other, &product_of(&p)->op));
    gnomon_profile *profile = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(profile, GNOMON_OPS), 1);
    CHECK_EQ(calls_of(profile, "linear"), 1);
    CHECK_EQ(calls_of(profile, "other"), 1);
    gnomon_profile_free(profile);
}

TEST(work_is_counted_up_to_the_largest_number)
{
    gnomon_node_info n;
    attach_probe();
    compute(UINT64_MAX / 2, 1);
    compute(UINT64_MAX / 2, 1);
    compute(UINT64_MAX / 2, 1);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK(node_of_flops(p, UINT64_MAX / 2, &n) && n.work &&
          n.work->flops == UINT64_MAX);
    gnomon_profile_free(p);
}

/* An operation that says nothing of its size has no work, which is not 0. */
TEST(without_numbers_there_is_no_work)
{
    gnomon_op_info op = {.struct_size = sizeof op, .operation = "relu"};
    gnomon_node_info n;
    attach_probe();
    gnomon_end(gnomon_begin_op(&product, &op));
    gnomon_profile *p = profile_of("probe", 0);
    CHECK(node_of_flops(p, 0, &n) && !n.work);
    gnomon_profile_free(p);
}

static uint64_t asked;

static int64_t ask(void)
{
    return (int64_t)++asked;
}

/* The macro gives what the call does, and evaluates its fields where it is recorded. */
static void macro_mark(void)
{
    GNOMON_OP_SCOPE("linear", .operation = "matmul", .bytes = (uint64_t)ask(),
                    GNOMON_INPUTS(GNOMON_TENSOR("float32", 32, 512),
                                  GNOMON_TENSOR("float32", 512, 127 + ask())));
    GNOMON_OP_SCOPE("activation", .operation = "relu");
}

TEST(a_scope_says_what_it_computes)
{
    gnomon_op_info op;
    macro_mark(); /* makes the region known */
    asked = 0;
    macro_mark();
    CHECK_EQ(asked, 0);
    attach_probe();
    macro_mark();
    CHECK_EQ(asked, 2);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPS), 2);
    for (size_t i = 1; gnomon_profile_op(p, i, &op) == GNOMON_OK; i++) {
        if (op.input_count != 2) {
            CHECK_STR(op.operation, "relu");
            continue;
        }
        const gnomon_tensor *b = gnomon_input_at(&op, 1);
        CHECK_STR(op.operation, "matmul");
        CHECK(op.bytes == 1 || op.bytes == 2);
        CHECK_EQ(op.flops, 2ull * 32 * 512 * (uint64_t)b->dims[1]);
        CHECK_EQ((uint64_t)b->dims[1] + op.bytes, 127 + 3);
        CHECK_STR(b->dtype, "float32");
    }
    gnomon_profile_free(p);
}

TEST(ranges_compute_too)
{
    product_op p;
    gnomon_node_info n;
    attach_probe();
    gnomon_range range = gnomon_range_begin(region_of(product_of(&p)));
    pass(5);
    gnomon_range_end(range);
    gnomon_profile *profile = profile_of("probe", 0);
    CHECK(node_of_flops(profile, 4194304, &n) &&
          (n.flags & GNOMON_NODE_RANGE) && n.host->total_ns == 5);
    gnomon_profile_free(profile);
}

/* ---- Filters, steps -------------------------------------------------------------- */

TEST(filters_know_the_region)
{
    static const struct {
        const char *filter;
        uint64_t calls;
    } cases[] = {{"filter=lin*", 1},
                 {"filter=@layers", 1},
                 {"filter=matmul*", 0},
                 {"filter=-linear", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(gnomon_attach(&probe, NULL, cases[i].filter), GNOMON_OK);
        compute(i + 1, 1);
        gnomon_profile *p = profile_of("probe", 0);
        CHECK_EQ(calls_of(p, "linear"), cases[i].calls);
        gnomon_profile_free(p);
        CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    }
}

/* A region's time in a step is that of all its operations. */
TEST(steps_add_up_a_region_s_operations)
{
    static const gnomon_profiler stepper = {.struct_size = sizeof stepper,
                                            .abi = GNOMON_ABI,
                                            .wants = GNOMON_WANT_TREE |
                                                     GNOMON_WANT_STEPS,
                                            .name = "stepper"};
    CHECK_EQ(gnomon_attach(&stepper, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 3; i++) {
        compute(1, 10);
        compute(2, 20);
        gnomon_step();
    }
    gnomon_profile *p = profile_of("stepper", 0);
    gnomon_stats s = step_stats(p, 1, "linear");
    CHECK_EQ(s.count, 3);
    CHECK_EQ(s.total_ns, 90);
    CHECK_EQ(slow_step_ns(p, 1, 1, "linear"), 30);
    int entries = 0;
    gnomon_step_time_info t;
    for (size_t i = 1; gnomon_profile_step_time(p, i, &t) == GNOMON_OK; i++)
        entries += t.region && !t.step;
    CHECK_EQ(entries, 1);
    gnomon_profile_free(p);
}

/* ---- Reports ----------------------------------------------------------------------- */

static int keep_text(const gnomon_writer *to, const void *text, size_t size)
{
    toy_text *t = to->context;
    if (size >= sizeof t->at - t->used)
        return GNOMON_EFULL;
    memcpy(t->at + t->used, text, size);
    t->used += size;
    t->at[t->used] = 0;
    return GNOMON_OK;
}

static const char *report_of(toy_text *t, const gnomon_profile *p,
                             const char *report)
{
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = keep_text, .context = t};
    t->used = 0;
    t->at[0] = 0;
    CHECK_EQ(gnomon_report(p, report, &out), GNOMON_OK);
    return t->at;
}

static int has_once(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    return at && !strstr(at + 1, part);
}

/* One row for the region, as if it computed one thing. */
TEST(reports_add_up_a_region_s_operations)
{
    static toy_text text;
    attach_probe();
    compute(1, 1000);
    compute(2, 3000);
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_STR(report_of(&text, p, "regions(format=csv,columns=calls)"),
              "stage,name,calls\n,linear,2\n");
    CHECK_EQ(gnomon_profile_count(p, GNOMON_REGIONS), 1);
    CHECK(has_once(report_of(&text, p, "advanced"), "(linear)\n"));
    CHECK(has_once(report_of(&text, p, "simple"), "|  linear"));
    gnomon_profile_free(p);
}

/* ---- Work counts once -------------------------------------------------------------- */

#define WORK(name, inputs) GNOMON_OP_SCOPE(name, .operation = name, inputs)
#define MATRIX(rows, columns) GNOMON_TENSOR("float32", rows, columns)
#define IMAGE(n, c, h, w) GNOMON_TENSOR("float32", n, c, h, w)

/* As torch does it: a function, and below it operators, which say the same again. */
static void linear_layer(void)
{
    GNOMON_SCOPE("Linear");
    WORK("aten::linear", GNOMON_INPUTS(MATRIX(4, 5), MATRIX(6, 5)));
    WORK("aten::addmm", GNOMON_INPUTS(GNOMON_TENSOR("float32", 6), MATRIX(4, 5),
                                      MATRIX(5, 6)));
}

static void convolution_layer(void)
{
    GNOMON_SCOPE("Conv2d");
    WORK("aten::conv2d", GNOMON_INPUTS(IMAGE(2, 4, 16, 16), IMAGE(8, 4, 3, 3)));
    WORK("aten::convolution",
         GNOMON_INPUTS(IMAGE(2, 4, 16, 16), IMAGE(8, 4, 3, 3)));
    WORK("aten::_convolution",
         GNOMON_INPUTS(IMAGE(2, 4, 16, 16), IMAGE(8, 4, 3, 3)));
}

/* Without a fused kernel it is products of matrices, in two batches of 3 heads. */
static void attention_layer(void)
{
    GNOMON_SCOPE("Attention");
    WORK(
        "aten::scaled_dot_product_attention",
        GNOMON_INPUTS(IMAGE(2, 3, 7, 5), IMAGE(2, 3, 7, 5), IMAGE(2, 3, 7, 5)));
    {
        WORK("aten::bmm", GNOMON_INPUTS(GNOMON_TENSOR("float32", 6, 7, 5),
                                        GNOMON_TENSOR("float32", 6, 5, 7)));
    }
    WORK("aten::gelu", GNOMON_INPUTS(MATRIX(2, 2)));
}

TEST(work_counts_once)
{
    static toy_text text;
    attach_probe();
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE("model");
        linear_layer();
        convolution_layer();
        attention_layer();
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_STR(report_of(&text, p,
                        "regions(format=csv,columns=flops|by_definition,"
                        "sort=name)"),
              "stage,name,flops,by_definition\n"
              ",Attention,,\n"
              ",Conv2d,,\n"
              ",Linear,,\n"
              ",aten::_convolution,451584,0\n"
              ",aten::addmm,480,0\n"
              ",aten::bmm,5880,0\n"
              ",aten::conv2d,0,0\n"
              ",aten::convolution,0,0\n"
              ",aten::gelu,160,160\n"
              ",aten::linear,0,0\n"
              ",aten::scaled_dot_product_attention,5720,0\n"
              ",model,,\n");
    gnomon_profile_free(p);
}

/* ---- Devices ------------------------------------------------------------------------- */

/* Kernels are below the operation that launched them, on the stream's track too. */
TEST(kernels_belong_to_the_operation_that_launched_them)
{
    product_op p;
    gnomon_node_info n, above;
    gnomon_op_info op;
    uint64_t seen = 0;
    toy_begin();
    for (uint64_t flops = 1; flops <= 2; flops++) {
        product_of(&p)->op.flops = flops;
        gnomon_token scope = gnomon_begin_op(&product, &p.op);
        toy_kernel("gemm", 1000 * flops, 100 * flops);
        gnomon_end(scope);
    }
    gnomon_profile *profile = profile_of("worker", 0);
    for (size_t i = 1; gnomon_profile_node(profile, i, &n) == GNOMON_OK; i++) {
        if (!n.device || strcmp(node_name(profile, &n), "gemm") != 0)
            continue;
        CHECK_EQ(gnomon_profile_node(profile, n.parent, &above), GNOMON_OK);
        CHECK_STR(node_name(profile, &above), "linear");
        CHECK_EQ(gnomon_profile_op(profile, above.op, &op), GNOMON_OK);
        CHECK_EQ(n.device->total_ns, 100 * op.flops);
        seen |= op.flops;
    }
    CHECK_EQ(seen, 3);
    gnomon_profile_free(profile);
}

/* ---- Traces ----------------------------------------------------------------------------- */

TEST(traces_show_the_inputs)
{
    static const gnomon_profiler tracer = {.struct_size = sizeof tracer,
                                           .abi = GNOMON_ABI,
                                           .wants = GNOMON_WANT_TREE |
                                                    GNOMON_WANT_EVENTS,
                                           .name = "tracer"};
    static toy_text text;
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = keep_text, .context = &text};
    CHECK_EQ(gnomon_attach(&tracer, NULL, NULL), GNOMON_OK);
    compute(4194304, 10);
    gnomon_profile *p = profile_of("tracer", 0);
    CHECK_EQ(gnomon_write(p, "chrome", &out), GNOMON_OK);
    const char *row = strstr(text.at, "\"cat\":\"cpu_op\",\"name\":\"linear\"");
    if (CHECK(row != NULL)) {
        CHECK(strstr(row, "\"Input Dims\":[[32, 512], [512, 128]]"));
        CHECK(strstr(row, "\"Input Strides\":[[512, 1], []]"));
        CHECK(strstr(row, "\"Input type\":[\"float32\", \"float32\"]"));
        CHECK(strstr(row, "\"transpose\":[false, true]"));
        CHECK(strstr(row, "\"flops\":4194304"));
    }
    gnomon_profile_free(p);
}
