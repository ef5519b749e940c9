/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * The out-of-line halves of marks, as bindings to other languages call them: those
 * of actions, steps and links at any time, the others with the mask that was read and
 * the tokens that their begins returned. */
#include <stdlib.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "marks.h"

static gnomon_region region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "region", NULL, NULL);

static void call_all(uint32_t mask)
{
    gnomon_link from = gnomon_link_out_slow();
    gnomon_start_n_slow("action", 6);
    gnomon_link_in_slow(&from, GNOMON_LINK_SUBMIT);
    gnomon_token token = mask ? gnomon_begin_slow(&region, mask) : 0;
    gnomon_range range = mask ? gnomon_range_begin_slow(&region, mask) : 0;
    gnomon_range inner =
        mask ? gnomon_range_begin_in_slow(&region, mask, range) : 0;
    if (inner)
        gnomon_range_end_slow(inner);
    if (range)
        gnomon_range_end_slow(range);
    if (token)
        gnomon_end_slow(token);
    gnomon_stop_n_slow("action", 6);
    gnomon_step_slow(0, 0);
    gnomon_step_slow(7, 1);
}

static void check_nothing_is_wrong(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
#define NONE(field, text) CHECK_EQ(h.field, 0);
    GNOMON_HEALTH(NONE)
#undef NONE
}

TEST(off_they_do_nothing)
{
    unsetenv("GNOMON");
    call_all(0); /* before $GNOMON is read */
    call_all(region.mask);
    CHECK_EQ(region.mask, 0);
    call_all(0);
    CHECK_EQ(gnomon_thread_count(), 0);
    check_nothing_is_wrong();
}

TEST(on_they_mark)
{
    unsetenv("GNOMON");
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple,file=/dev/null"), GNOMON_OK);
    call_all(region.mask); /* unseen */
    CHECK(region.mask != 0);
    call_all(region.mask);
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "simple", 1), GNOMON_OK);
    uint64_t counts[2] = {0, 0};
    gnomon_node_info node;
    gnomon_region_info of;
    for (size_t i = 1; gnomon_profile_node(p, i, &node) == GNOMON_OK; i++)
        if (!gnomon_profile_region(p, node.region, &of))
            counts[strcmp(of.name, "action") != 0] += node.host->count;
    CHECK_EQ(counts[0], 2);
    CHECK_EQ(counts[1], 6); /* a scope and two ranges each time */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_STEPS), 4);
    gnomon_profile_free(p);
    check_nothing_is_wrong();
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
