/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operations of scopes: how many there may be, while gnomon is off, in callbacks, and on
 * several threads.
 *
 * links: testing
 * timeout: 120 */
#include <errno.h>

#include "probe_profile.h"
#include "products.h"
#include "sanitizer.h"

/* ---- Limits ---------------------------------------------------------------------- */

TEST_ALONE(past_the_limit_of_operations_scopes_have_none)
{
    product_op p;
    product_of(&p);
    attach_probe();
    gnomon_health before = health_now();
    gnomon_region *first = region_of(&p);
    for (uint64_t i = 1; i < 1 << 16; i++) {
        p.op.flops = i;
        if (!CHECK(region_of(&p) != &product))
            return;
    }
    CHECK_HEALTH(before, .lost_ops = 0);
    p.op.flops = 1 << 20;
    CHECK(region_of(&p) == &product);
    gnomon_end(gnomon_begin_op(&product, &p.op));
    CHECK_HEALTH(before, .lost_ops = 2);
    CHECK(region_of(product_of(&p)) == first);
    CHECK_HEALTH(before, .lost_ops = 2);
}

TEST_ALONE(the_memory_of_operations_is_limited)
{
    static char name[1001];
    static gnomon_attribute attributes[17];
    gnomon_op_info op = {.struct_size = sizeof op,
                         .operation = "large",
                         .attributes = attributes,
                         .attribute_count = 15};
    uint64_t made = 0;
    attach_probe();
    memset(name, 'x', 1000);
    for (int i = 0; i < 17; i++)
        attributes[i] = (gnomon_attribute){sizeof *attributes, 0, name, "1"};
    gnomon_health before = health_now();
    for (op.flops = 0; op.flops < 5000; op.flops++)
        made += gnomon_op_region(&product, &op) != &product;
    CHECK(made > 4000 && made < 4500); /* of 15 KiB in 64 MiB */
    CHECK_HEALTH(before, .lost_ops = 5000 - made);
    op.attribute_count = 17; /* more than one may have */
    CHECK(gnomon_op_region(&product, &op) == &product);
    CHECK_HEALTH(before, .lost_ops = 5000 - made, .bad_ops = 1);
}

/* ---- Off, in callbacks, on threads -------------------------------------------------- */

/* Off, nothing looks at the operation. What is found meanwhile works later. */
TEST(off_the_operation_is_not_looked_at)
{
    product_op p;
    CHECK_EQ(gnomon_begin_op(&product, &product_of(&p)->op), 0);
    const gnomon_op_info *wild = (const gnomon_op_info *)(uintptr_t)1;
    CHECK_EQ(gnomon_begin_op(&product, wild), 0);
    gnomon_region *region = region_of(&p);
    CHECK(gnomon_host_get()->region_op(region) != NULL);
    CHECK_EQ(region->mask, 0);
    attach_probe();
    CHECK(region_of(&p) == region);
    gnomon_token scope = gnomon_begin(region);
    CHECK(scope != 0);
    gnomon_end(scope);
    gnomon_profile *profile = profile_of("probe", 0);
    CHECK_EQ(calls_of(profile, "linear"), 1);
    CHECK_EQ(gnomon_profile_count(profile, GNOMON_OPS), 1);
    gnomon_profile_free(profile);
}

TEST(errno_stays)
{
    product_op p;
    attach_probe();
    errno = 77;
    CHECK(region_of(product_of(&p)) != &product);
    p.texts[0][1] = '\xff';
    CHECK(region_of(&p) != &product);
    CHECK_EQ(errno, 77);
}

static gnomon_region *found_inside;

static void start_and_find(void *self, const gnomon_frame *frame,
                           uint64_t *slot)
{
    product_op p;
    (void)self, (void)frame, (void)slot;
    found_inside = region_of(product_of(&p));
    found_inside = gnomon_op_region(NULL, &p.op) ? found_inside : NULL;
}

TEST(inside_a_callback_it_is_the_region)
{
    static const gnomon_profiler finder = {.struct_size = sizeof finder,
                                           .abi = GNOMON_ABI,
                                           .name = "finder",
                                           .start = start_and_find};
    CHECK_EQ(gnomon_attach(&finder, NULL, NULL), GNOMON_OK);
    gnomon_health before = health_now();
    gnomon_end(gnomon_begin(&product));
    CHECK(found_inside == &product);
    CHECK_HEALTH(before, .reentered = 2);
}

#define OPS_EACH 400

static gnomon_region *found[4][OPS_EACH];

static void *find_all(void *argument)
{
    gnomon_region **to = argument;
    product_op p;
    product_of(&p);
    for (int i = 0; i < OPS_EACH; i++) {
        p.op.flops = (uint64_t)(i * 7 % OPS_EACH);
        to[p.op.flops] = region_of(&p);
        gnomon_end(gnomon_begin_op(&product, &p.op));
    }
    return NULL;
}

TEST(threads_find_the_same_regions)
{
    pthread_t threads[4];
    attach_probe();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, find_all, found[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < OPS_EACH; i++) {
        const gnomon_op_info *op = gnomon_host_get()->region_op(found[0][i]);
        CHECK(op && op->flops == (uint64_t)i);
        for (int k = 1; k < 4; k++)
            CHECK(found[k][i] == found[0][i]);
    }
    gnomon_profile *p = profile_of("probe", 0);
    CHECK_EQ(calls_of(p, "linear"), 4 * OPS_EACH);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPS), OPS_EACH);
    gnomon_profile_free(p);
}
