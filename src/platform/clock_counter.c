/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whether the processor's counter can be used as a clock: decided once, at the
 * start.
 *
 * The kernel is asked first: it has compared the counter with other clocks
 * and keeps doing so, which we cannot. The counter is fit if the kernel
 * measures time with it, and unfit if the kernel uses another clock. Where
 * the kernel does not say (a sandbox), or its clock says nothing of the
 * plain counter, the processor is asked. */
#include <string.h>

#include "platform/ticks.h"

enum counter_verdict { COUNTER_UNFIT, COUNTER_FIT, COUNTER_ASK };

/* A clock that is not here (hpet, acpi_pm, jiffies, xen, ...) means that the
 * counter was found unstable, or differs from core to core. */
static enum counter_verdict verdict_of_kernel(void)
{
    static const struct {
        const char *name;
        enum counter_verdict verdict;
    } known[] = {
        {"tsc", COUNTER_FIT},
        /* One scale and offset for all cores, from the host. */
        {"hyperv_clocksource_tsc_page", COUNTER_FIT},
        /* A scale and offset for each core, unless the host says otherwise. */
        {"kvm-clock", COUNTER_ASK},
        {"arch_sys_counter", COUNTER_ASK},
        {"", COUNTER_ASK},
    };
    char name[48];
    gnomon__os_clock_source(name, sizeof name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].verdict;
    return COUNTER_UNFIT;
}

#if defined(__x86_64__)

#include <cpuid.h>

/* Where the processor says so, the TSC counts at one rate in all sleep
 * states and alike on all cores. Most KVM guests do not see that bit; there
 * the host's promise that their clock is stable means the same. A cpuid
 * traps in a guest and takes 1 to 10 us: one, or up to four. */
static int processor_says_fit(void)
{
    uint32_t a, b, c, d, leaf;
    __cpuid(0x80000007u, a, b, c, d); /* all 64-bit processors have it */
    if (d & 1u << 8)
        return 1;
    /* KVM's leaves; behind Hyper-V's where it plays that as well. */
    for (leaf = 0x40000000u; leaf <= 0x40000100u; leaf += 0x100) {
        __cpuid(leaf, a, b, c, d);
        if (b != 0x4b4d564bu || c != 0x564b4d56u || d != 0x4du)
            continue;
        __cpuid(leaf + 1, a, b, c, d);
        return (a >> 24 & 1) != 0; /* KVM_FEATURE_CLOCKSOURCE_STABLE_BIT */
    }
    return 0;
}

int gnomon__counter_is_usable(uint64_t *step)
{
    enum counter_verdict verdict = verdict_of_kernel();
    *step = 0;
    return verdict == COUNTER_FIT ||
           (verdict == COUNTER_ASK && processor_says_fit());
}

#elif defined(__aarch64__)

#define STEP_READS 200 /* 1 to 4 us */

/* All cores share this counter. Its stated frequency is not its resolution:
 * one of 1 GHz may stand still for 32 ns or 1 us and then jump by as much.
 * One that stands still for all of the reads cannot be used. */
int gnomon__counter_is_usable(uint64_t *step)
{
    uint64_t last = gnomon__ticks_counter(), least = UINT64_MAX;
    for (int i = 0; i < STEP_READS; i++) {
        uint64_t now = gnomon__ticks_counter();
        if (now != last && now - last < least)
            least = now - last;
        last = now;
    }
    *step = least == UINT64_MAX ? 0 : least;
    return *step && verdict_of_kernel() != COUNTER_UNFIT;
}

#else

int gnomon__counter_is_usable(uint64_t *step)
{
    *step = 0;
    return 0 && verdict_of_kernel();
}

#endif
