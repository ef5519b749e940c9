/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * threads: none
 * alone: yes
 * Which clock is chosen on other processors, kernels and hosts
 * than this: the clock once more, with a cpuid, a counter and a kernel's clock
 * that tests set. */
#include "test.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

#include "platform/os.h"

/* A few leaves; all others are 0. */
typedef struct answer {
    uint32_t number, a, b, c, d;
} answer;
static const answer *processor;
static const char *kernels_clock = ""; /* a sandbox */
static int asked;                      /* the processor, so often */

static void ask(uint32_t number, uint32_t *a, uint32_t *b, uint32_t *c,
                uint32_t *d)
{
    asked++;
    *a = *b = *c = *d = 0;
    for (const answer *l = processor; l && l->number; l++)
        if (l->number == number)
            *a = l->a, *b = l->b, *c = l->c, *d = l->d;
}

static int backwards, stands;
static uint64_t reads;

static uint64_t count(void)
{
    reads += !stands;
    return backwards ? UINT64_MAX - reads : 1000 * reads;
}

#undef __cpuid
#define __cpuid(leaf, a, b, c, d) ask(leaf, &(a), &(b), &(c), &(d))
#define __builtin_ia32_rdtsc() count()
#define gnomon__os_clock_source(buffer, size) \
    (void)snprintf(buffer, size, "%s", kernels_clock)
#include "platform/clock.c"
#include "platform/clock_counter.c"

#define KVM 0x4b4d564b, 0x564b4d56, 0x4d /* "KVMKVMKVM" */
#define HYPER_V 0x7263694d, 0x666f736f, 0x76482074
#define STABLE (1u << 24)

static void expect(const answer *leaves, int kind)
{
    processor = leaves;
    gnomon__clock_start();
    CHECK_EQ(gnomon__clock_kind(), kind);
    CHECK_STR(gnomon__clock_name(),
              kind == GNOMON__CLOCK_SYSTEM ? "monotonic" : "tsc");
}

static uint64_t rate(void)
{
    return gnomon__clock_rate(0, gnomon__ticks());
}

TEST(a_counter_of_one_rate)
{
    static const answer leaves[] = {{0x80000007, 0, 0, 0, 1u << 8}, {0}};
    expect(leaves, GNOMON__CLOCK_COUNTER);
    CHECK(reads > 0);
    /* A read is a large step: the rate is known only after many, or 10 ms. */
    CHECK(rate() > 0);
    /* A counter that was reset and stopped does not block either. */
    reads = 0;
    stands = 1;
    uint64_t ns = gnomon__clock_ns(gnomon__ticks());
    CHECK(gnomon__clock_ns(gnomon__ticks()) >= ns);
    CHECK(rate() > 0);
}

TEST(a_counter_that_stands_still)
{
    static const answer leaves[] = {{0x80000007, 0, 0, 0, 1u << 8}, {0}};
    stands = 1;
    expect(leaves, GNOMON__CLOCK_COUNTER);
    CHECK_EQ(gnomon__clock_ns(gnomon__ticks()), 0);
    CHECK_EQ(rate(), 0);
}

/* Its ticks are ns, and its conversion is exact. */
TEST(a_counter_of_changing_rate_is_not_read)
{
    static const answer leaves[] = {{0x80000007, 0, 0, 0, ~(1u << 8)}, {0}};
    expect(leaves, GNOMON__CLOCK_SYSTEM);
    uint64_t before = gnomon__os_monotonic_ns(), now = gnomon__ticks();
    CHECK(before <= now && now <= gnomon__os_monotonic_ns());
    CHECK_EQ(rate(), 1ull << GNOMON__CLOCK_SHIFT);
    CHECK(gnomon__clock_ns(now) < 1000000000);
    CHECK_EQ(reads, 0);
}

TEST(a_guest_of_kvm_whose_clock_is_stable)
{
    static const answer leaves[] = {
        {0x40000000, 0x40000001, KVM}, {0x40000001, STABLE, 0, 0, 0}, {0}};
    expect(leaves, GNOMON__CLOCK_COUNTER);
}

TEST(a_guest_of_kvm_whose_clock_is_not)
{
    static const answer leaves[] = {
        {0x40000000, 0x40000001, KVM}, {0x40000001, ~STABLE, 0, 0, 0}, {0}};
    expect(leaves, GNOMON__CLOCK_SYSTEM);
}

TEST(a_guest_of_kvm_that_plays_hyper_v)
{
    static const answer leaves[] = {{0x40000000, 0x40000006, HYPER_V},
                                    {0x40000001, 0, 0, 0, 0},
                                    {0x40000100, 0x40000101, KVM},
                                    {0x40000101, STABLE, 0, 0, 0},
                                    {0}};
    expect(leaves, GNOMON__CLOCK_COUNTER);
}

/* On other processors bit 24 means something else. */
TEST(a_guest_of_another_hypervisor)
{
    static const answer leaves[] = {
        {0x40000000, 0x40000006, HYPER_V}, {0x40000001, STABLE, 0, 0, 0}, {0}};
    expect(leaves, GNOMON__CLOCK_SYSTEM);
}

TEST(a_counter_that_runs_backwards_is_given_up)
{
    static const answer leaves[] = {{0x80000007, 0, 0, 0, 1u << 8}, {0}};
    backwards = 1;
    expect(leaves, GNOMON__CLOCK_SYSTEM);
    CHECK_EQ(rate(), 1ull << GNOMON__CLOCK_SHIFT);
    gnomon__clock_moment moments[GNOMON__CLOCK_MOMENTS];
    CHECK(gnomon__clock_moments(moments) >= 2);
    CHECK(moments[0].error_ns < 100000000);
}

/* ---- What the kernel says ------------------------------------------------ */

static const answer unable[] = {{0x80000007, 0, 0, 0, ~(1u << 8)}, {0}};
static const answer able[] = {{0x80000007, 0, 0, 0, 1u << 8}, {0}};

/* The kernel tested the counter, which is more than the processor's flags
 * promise. */
TEST(a_kernel_that_uses_the_counter)
{
    kernels_clock = "tsc";
    expect(unable, GNOMON__CLOCK_COUNTER);
    CHECK_EQ(asked, 0);
}

TEST(a_kernel_that_uses_the_counter_of_hyper_v)
{
    kernels_clock = "hyperv_clocksource_tsc_page";
    expect(unable, GNOMON__CLOCK_COUNTER);
}

/* It can use KVM's clock where the counter differs between cores. */
TEST(a_kernel_that_uses_kvms_clock)
{
    kernels_clock = "kvm-clock";
    expect(unable, GNOMON__CLOCK_SYSTEM);
}

TEST(a_kernel_that_uses_kvms_clock_despite_a_good_counter)
{
    kernels_clock = "kvm-clock";
    expect(able, GNOMON__CLOCK_COUNTER);
}

TEST(a_kernel_that_found_the_counter_unstable)
{
    kernels_clock = "hpet";
    expect(able, GNOMON__CLOCK_SYSTEM);
    CHECK_EQ(asked, 0);
    CHECK_EQ(reads, 0);
}

TEST(a_kernel_of_later_years)
{
    kernels_clock = "tsc-with-something-odd-of-a-name-that-is-far-too-long";
    expect(able, GNOMON__CLOCK_SYSTEM);
}

#else

TEST(other_processors)
{
    SKIP("only x86-64 says which counters are usable");
}

#endif
