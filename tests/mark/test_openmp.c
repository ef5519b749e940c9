/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OpenMP's workers: threads that another library starts, keeps and ends at
 * any time. Each is a track of its own; nothing is lost when teams change.
 *
 * links: static
 * labels: guest
 * needs: openmp */
#include "live_profile.h"
#include "recording_threads.h"

LIVE_KEEPER(keeper, "keeper");

#ifdef _OPENMP
#include <omp.h>

static gnomon_region parallel_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "parallel", NULL, NULL);

static long work_in_team(int threads, long each)
{
    long done = 0;
#pragma omp parallel num_threads(threads) reduction(+ : done)
    {
        GNOMON_SCOPE("member");
        for (long i = 0; i < each; i++) {
            GNOMON_SCOPE("item");
            gnomon_start("by name");
            gnomon_stop("by name");
            done++;
        }
    }
    return done;
}

TEST(teams_of_any_size)
{
    long items = 0, members = 0;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
    omp_set_dynamic(0);
    for (int round = 0; round < 20; round++)
        for (int threads = 1; threads <= 8; threads++) {
            gnomon_token t = gnomon_begin(&parallel_region);
            items += work_in_team(threads, 100);
            members += threads;
            gnomon_end(t);
            gnomon_step();
        }
    gnomon_profile *p = live_snapshot("keeper");
    CHECK_EQ(live_count(p, "member"), members);
    CHECK_EQ(live_count(p, "item"), items);
    CHECK_EQ(live_count(p, "by name"), items);
    CHECK_EQ(live_count(p, "parallel"), 160);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_OPENS), 0);
    gnomon_profile_free(p);
    /* Smaller teams end threads, which may not be over when the next begin. */
    CHECK(gnomon_thread_count() <= 32);
    live_check_no_trouble();
}

TEST(tasks_run_where_they_like)
{
    long done = 0;
    CHECK_EQ(gnomon_attach(&keeper, NULL, NULL), GNOMON_OK);
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 2000; i++) {
        gnomon_link from = gnomon_link_out();
#pragma omp task firstprivate(from) shared(done)
        {
            GNOMON_SCOPE("task");
            gnomon_link_in(&from, GNOMON_LINK_SUBMIT);
#pragma omp atomic
            done++;
        }
    }
    CHECK_EQ(done, 2000);
    CHECK_EQ(live_count_of("keeper", "task"), 2000);
    live_check_no_trouble();
}
#else
TEST(teams_of_any_size)
{
    (void)keeper;
    SKIP("no OpenMP here");
}
#endif
