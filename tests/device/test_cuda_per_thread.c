/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * Stream 0 where a file is compiled with nvcc's --default-stream per-thread: the
 * thread's own, for scopes and for timers. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "fake_cuda.h"
#include "probe_profile.h"

#define MS 1000000u
#define OWN ((gnomon_cuda_stream)2)

static void work(void)
{
    cuda->launch(NULL, 8 * MS); /* the legacy stream is busy, too */
    cuda->launch(OWN, 3 * MS);
}

TEST(a_scope_is_on_the_thread_s_own_stream)
{
    fake_cuda_use();
    cuda->context(0);
    CHECK_EQ(gnomon_attach(&timed, NULL, NULL), GNOMON_OK);
    {
        GNOMON_SCOPE_ON("a", 0);
        work();
    }
    pass(10 * MS);
    gnomon_profile *p = profile_of("timed", 0);
    CHECK_DEVICE(p, "a", 1, 3 * MS, 3 * MS, 3 * MS, 3 * MS);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&timed, NULL), GNOMON_OK);
    fake_cuda_is_well();
}

TEST(a_timer_too)
{
    gnomon_cuda_timer *timer;
    double ms = 0;
    fake_cuda_use();
    cuda->context(0);
    CHECK_EQ(gnomon_cuda_timer_create(&timer), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_start(timer, 0), GNOMON_OK);
    work();
    CHECK_EQ((gnomon_cuda_timer_stop)(timer, OWN), GNOMON_OK);
    CHECK_EQ(gnomon_cuda_timer_stop(timer, 0), GNOMON_OK);
    pass(10 * MS);
    CHECK_EQ(gnomon_cuda_timer_elapsed(timer, &ms), GNOMON_OK);
    CHECK(ms > 2.999 && ms < 3.001);
    gnomon_cuda_timer_destroy(timer);
    fake_cuda_is_well();
}
