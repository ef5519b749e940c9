/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Regions that compute an operation: which are the same, what is copied, and what is
 * wrong with one.
 *
 * links: testing
 * timeout: 120 */
#include "products.h"

/* ---- Which are the same ------------------------------------------------------- */

TEST(equal_operations_are_one_region)
{
    product_op one, other;
    attach_probe();
    gnomon_region *region = region_of(product_of(&one));
    CHECK(region && region != &product);
    CHECK(region_of(product_of(&other)) == region);
    CHECK(gnomon_op_region(region, &other.op) == region);
    CHECK_STR(region->name, "linear");
    CHECK_STR(region->category, "layers");
    CHECK_STR(region->function, "forward");
    CHECK_STR(region->file, product.file);
    CHECK_EQ(region->line, product.line);
    CHECK_EQ(region->kind, GNOMON_KIND_SCOPE);
    CHECK_EQ(region->mask, product.mask);
}

/* Whether the operation is another one after each of these changes. */
TEST(each_part_of_an_operation_counts)
{
    product_op p;
    attach_probe();
    gnomon_region *all[32] = {region_of(product_of(&p))};
    int count = 1;
#define CHANGED(change) \
    do { \
        product_of(&p); \
        change; \
        all[count++] = region_of(&p); \
    } while (0)
    CHANGED(p.texts[0][0] = 'M');
    CHANGED(p.texts[1][5] = '6');
    CHANGED(p.dims[3] = 129);
    CHANGED(p.strides[0] = 1024);
    CHANGED(p.inputs[0].strides = NULL);
    CHANGED(p.inputs[1].rank = 1);
    CHANGED(p.op.input_count = 1);
    CHANGED(p.op.input_count = 0);
    CHANGED(p.texts[2][0] = 'T');
    CHANGED(strcpy(p.texts[3], "[true, true]"));
    CHANGED(p.op.attribute_count = 0);
    CHANGED(p.op.flags |= GNOMON_OP_BACKWARD);
    CHANGED(p.op.flops++);
    CHANGED(p.op.bytes++);
    CHANGED((void)p);
#undef CHANGED
    all[count] = gnomon_op_region(gnomon_region_get("linear", NULL, 0), &p.op);
    CHECK(all[0] == all[count - 1]);
    all[count - 1] = all[count];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (!CHECK(all[i] != all[k]))
                fprintf(stderr, "    %d and %d\n", i, k);
}

/* An operation of another one's region replaces it. */
TEST(an_operation_replaces_another)
{
    product_op p;
    attach_probe();
    gnomon_region *first = region_of(product_of(&p));
    p.op.flops = 7;
    gnomon_region *second = region_of(&p);
    CHECK(second != first && gnomon_op_region(first, &p.op) == second);
}

/* ---- What is kept -------------------------------------------------------------- */

TEST(operations_are_copied)
{
    product_op p;
    attach_probe();
    gnomon_region *region = region_of(product_of(&p));
    memset(&p, 0x5a, sizeof p);
    const gnomon_op_info *op = gnomon_host_get()->region_op(region);
    if (!CHECK(op != NULL))
        return;
    CHECK_EQ(op->struct_size, sizeof *op);
    CHECK_STR(op->operation, "matmul");
    CHECK_EQ(op->flags, GNOMON_OP_FLOPS_GIVEN);
    CHECK_EQ(op->flops, 4194304);
    CHECK_EQ(op->bytes, 344064);
    CHECK_EQ(op->input_count, 2);
    const gnomon_tensor *a = gnomon_input_at(op, 0),
                        *b = gnomon_input_at(op, 1);
    CHECK_EQ(a->rank, 2);
    CHECK_STR(a->dtype, "float32");
    CHECK(a->dims[0] == 32 && a->dims[1] == 512);
    CHECK(a->strides && a->strides[0] == 512 && a->strides[1] == 1);
    CHECK(b->dims[0] == 512 && b->dims[1] == 128 && !b->strides);
    CHECK_EQ(op->attribute_count, 1);
    CHECK_STR(gnomon_attribute_at(op, 0)->key, "transpose");
    CHECK_STR(gnomon_attribute_at(op, 0)->json, "[false, true]");
    CHECK(gnomon_host_get()->region_op(&product) == NULL);
    CHECK(gnomon_host_get()->region_op(NULL) == NULL);
}

/* src/ops counts it; what the program gave stays, also 0. */
TEST(what_is_not_given_is_counted)
{
    product_op p;
    attach_probe();
    product_of(&p)->op.flags = 0;
    p.op.flops = p.op.bytes = 0;
    gnomon_region *region = region_of(&p);
    CHECK_EQ(gnomon_host_get()->region_op(region)->flops, 4194304);
    CHECK_EQ(gnomon_host_get()->region_op(region)->bytes, 344064);
    CHECK(region_of(&p) == region);
    p.op.flags = GNOMON_OP_FLOPS_GIVEN | GNOMON_OP_BYTES_GIVEN;
    CHECK_EQ(gnomon_host_get()->region_op(region_of(&p))->flops, 0);
    CHECK_EQ(gnomon_host_get()->region_op(region_of(&p))->bytes, 0);
    p.op.flags = 0;
    p.op.flops = 7;
    CHECK_EQ(gnomon_host_get()->region_op(region_of(&p))->flops, 7);
    CHECK_EQ(gnomon_host_get()->region_op(region_of(&p))->bytes, 344064);
}

/* What a struct of an older release does not have is 0; items of a newer one lie
 * further apart. */
TEST(structs_of_any_size)
{
    static const int64_t dims[] = {32, 512, 128};
    struct {
        gnomon_tensor tensor;
        uint64_t more[3];
    } newer[2] = {{.tensor = {sizeof *newer, 2, "int8", dims, NULL}},
                  {.tensor = {sizeof *newer, 1, "int4", dims + 2, NULL}}};
    product_op p;
    attach_probe();
    product_of(&p)->op.inputs = &newer->tensor;
    const gnomon_op_info *op = gnomon_host_get()->region_op(region_of(&p));
    CHECK_STR(gnomon_input_at(op, 1)->dtype, "int4");
    CHECK_EQ(gnomon_input_at(op, 1)->dims[0], 128);
    CHECK_EQ(op->inputs->struct_size, sizeof *op->inputs);
    product_of(&p)->op.struct_size = offsetof(gnomon_op_info, attributes);
    op = gnomon_host_get()->region_op(region_of(&p));
    CHECK_EQ(op->input_count, 2);
    CHECK_EQ(op->attribute_count, 0);
    CHECK_EQ(op->flops, 0); /* given */
    CHECK_EQ(op->bytes, 344064);
    uint64_t room[sizeof p.op / 8 + 4] = {0};
    memset(room, 0xff, sizeof room);
    memcpy(room, &product_of(&p)->op, sizeof p.op);
    memcpy(room, &(uint32_t){sizeof room}, sizeof(uint32_t));
    CHECK(gnomon_op_region(&product, (const gnomon_op_info *)(void *)room) ==
          region_of(&p));
}

/* ---- What is wrong --------------------------------------------------------------- */

static void check_bad(product_op *p, uint64_t bad_ops, int is_plain)
{
    gnomon_health before = health_now();
    gnomon_region *region = region_of(p);
    CHECK(region && (region == &product) == is_plain);
    CHECK_HEALTH(before, .bad_ops = bad_ops);
}

TEST(what_is_no_operation_leaves_the_region)
{
    static gnomon_tensor many[300];
    product_op p;
    attach_probe();
    gnomon_health before = health_now();
    CHECK(gnomon_op_region(&product, NULL) == &product);
    CHECK_HEALTH(before, .bad_ops = 1);
    product_of(&p)->op.struct_size = 0;
    check_bad(&p, 1, 1);
    for (int i = 0; i < 300; i++)
        many[i].struct_size = sizeof *many;
    product_of(&p)->op.inputs = many;
    p.op.input_count = 257;
    check_bad(&p, 1, 1);
    p.op.input_count = SIZE_MAX;
    check_bad(&p, 1, 1);
    p.op.input_count = 256;
    check_bad(&p, 0, 0);
    product_of(&p)->inputs[1].rank = 1u << 31;
    before = health_now();
    for (int i = 0; i < 3; i++) /* also of what it computed last */
        gnomon_end(gnomon_begin_op(&product, &p.op));
    CHECK_HEALTH(before, .bad_ops = 3);
    gnomon_token scope = gnomon_begin_op(&product, NULL);
    CHECK(scope != 0); /* without the operation */
    gnomon_end(scope);
}

TEST(a_region_that_cannot_be)
{
    static gnomon_region strange = GNOMON_REGION_INIT(0, "strange", NULL, NULL);
    product_op p;
    product_of(&p);
    attach_probe();
    gnomon_health before = health_now();
    gnomon_region *none = gnomon_op_region(NULL, &p.op);
    CHECK(none && gnomon_host_get()->region_op(none) == NULL);
    CHECK_EQ(gnomon_begin_op(NULL, &p.op), 0);
    strange.abi++;
    CHECK(gnomon_op_region(&strange, &p.op) == &strange);
    CHECK_HEALTH(before, .bad_regions = 3);
    before = health_now();
    gnomon_region *mark = gnomon_region_get("mark", NULL, GNOMON_KIND_MARK);
    gnomon_region *counter =
        gnomon_region_get("counter", NULL, GNOMON_KIND_COUNTER);
    CHECK(gnomon_op_region(mark, &p.op) == mark);
    CHECK(gnomon_op_region(counter, &p.op) == counter);
    CHECK_HEALTH(before, .bad_ops = 2);
}

TEST(a_bad_part_is_left_out_and_the_rest_stays)
{
    product_op p;
    attach_probe();
    product_of(&p)->inputs[1].rank = 1u << 31;
    check_bad(&p, 1, 0);
    check_bad(&p, 1, 0); /* each time */
    const gnomon_op_info *op = gnomon_host_get()->region_op(region_of(&p));
    CHECK_EQ(gnomon_input_at(op, 1)->rank, 0);
    CHECK_STR(gnomon_input_at(op, 1)->dtype, "float32");
    CHECK_EQ(gnomon_input_at(op, 0)->rank, 2);
    CHECK_EQ(op->flops, 4194304);
    product_of(&p)->inputs[0].dims = NULL;
    check_bad(&p, 1, 0);
    product_of(&p)->op.inputs = NULL;
    check_bad(&p, 1, 0);
    CHECK_EQ(gnomon_host_get()->region_op(region_of(&p))->input_count, 0);
    product_of(&p)->inputs[0].struct_size = 13;
    check_bad(&p, 1, 0);
    product_of(&p)->op.attributes = NULL;
    check_bad(&p, 1, 0);
    product_of(&p)->inputs[0].dtype = NULL; /* is not wrong */
    check_bad(&p, 0, 0);
    CHECK_STR(
        gnomon_input_at(gnomon_host_get()->region_op(region_of(&p)), 0)->dtype,
        "");
}

TEST(json_that_is_none_is_null)
{
    static char long_text[5000];
    product_op p;
    attach_probe();
    const char *const bad[] = {"{", "", "\"\xff\"", "1 2", NULL, long_text};
    memset(long_text, '1', sizeof long_text - 1);
    gnomon_region *first = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        product_of(&p)->attributes[0].json = bad[i];
        check_bad(&p, 1, 0);
        gnomon_region *region = region_of(&p);
        const gnomon_op_info *op = gnomon_host_get()->region_op(region);
        CHECK_STR(gnomon_attribute_at(op, 0)->json, "null");
        CHECK_STR(gnomon_attribute_at(op, 0)->key, "transpose");
        CHECK(!first || region == first); /* of equal contents */
        first = region;
    }
}

TEST(names_are_made_fit)
{
    static char long_text[3000];
    product_op p;
    attach_probe();
    memset(long_text, 'x', sizeof long_text - 1);
    gnomon_health before = health_now();
    product_of(&p)->op.operation = "mat\xffmul";
    CHECK_STR(gnomon_host_get()->region_op(region_of(&p))->operation,
              "mat\xef\xbf\xbdmul");
    CHECK_HEALTH(before, .bad_names = 1);
    product_of(&p)->op.operation = long_text;
    CHECK(strlen(gnomon_host_get()->region_op(region_of(&p))->operation) <=
          1024);
    CHECK_HEALTH(before, .bad_names = 2);
    product_of(&p)->op.operation = NULL;
    CHECK_STR(gnomon_host_get()->region_op(region_of(&p))->operation, "(null)");
    product_of(&p)->attributes[0].key = NULL;
    CHECK_STR(
        gnomon_attribute_at(gnomon_host_get()->region_op(region_of(&p)), 0)
            ->key,
        "(null)");
    CHECK_HEALTH(before, .bad_names = 4);
}
