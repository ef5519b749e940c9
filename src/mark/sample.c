/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Marks without a duration: samples of counters, and moments. On the calling
 * thread. */
#include "gnomon/tool.h"
#include "mark/frame.h"
#include "mark/recorder.h"
#include "mark/region.h"
#include "mark/tls.h"
#include "platform/ticks.h"
#include "platform/owner.h"

/* NULL: refused, or nobody wants it now. */
static gnomon__thread *enter_sample(uint32_t mask, uint32_t *m)
{
    if (mask && gnomon__is_reentered())
        return NULL;
    gnomon__thread *t = mask ? gnomon__enter() : NULL;
    if (!t)
        return NULL;
    *m = gnomon__who_takes(t, mask);
    if (*m)
        return t;
    gnomon__leave(t);
    return NULL;
}

uint64_t gnomon__now_for(const gnomon__thread *t, uint32_t m)
{
    int is_wanted = (m & t->time_bits & ~t->recorder_bits) != 0;
    return is_wanted ? gnomon__clock_ns(gnomon__ticks()) : 0;
}

void gnomon_counter_slow(gnomon_region *region, uint32_t mask, double value)
{
    uint32_t m;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD_VOID(counter(region, mask, value));
    gnomon__thread *t = enter_sample(mask, &m);
    if (!t)
        return;
    uint32_t recorders = m & t->recorder_bits, hooks = m & ~recorders;
    gnomon__each_bit(bit, recorders) {
        const gnomon__recorder *r = gnomon__recorder_of(t, bit);
        if (r->sample)
            r->sample(t, bit, gnomon__key_of(region), value);
    }
    if (hooks) {
        gnomon_counter_event event = {sizeof event,
                                      t->number,
                                      region,
                                      gnomon__region_name(region),
                                      value,
                                      gnomon__now_for(t, m),
                                      load_relaxed(&gnomon__step_under_way)};
        GNOMON__HOOKS_CALL(t, &t->open_bits, hooks, counter, &event);
    }
    gnomon__leave(t);
}

void gnomon_mark_slow(gnomon_region *region, uint32_t mask)
{
    uint32_t m;
    mask = gnomon_touch_slow(region, mask);
    GNOMON__FORWARD_VOID(mark(region, mask));
    gnomon__thread *t = enter_sample(mask, &m);
    if (!t)
        return;
    uint32_t recorders = m & t->recorder_bits, hooks = m & ~recorders;
    uint64_t now = recorders ? gnomon__ticks() : 0;
    const gnomon__finished f = {.token = load_relaxed(&t->seq),
                                .begin = now,
                                .end = now,
                                .key = gnomon__key_of(region)};
    gnomon__each_bit(bit, recorders) {
        const gnomon__recorder *r = gnomon__recorder_of(t, bit);
        if (r->mark)
            r->mark(t, bit, &f);
    }
    if (hooks) {
        gnomon_mark_event event = {sizeof event,
                                   t->number,
                                   region,
                                   gnomon__region_name(region),
                                   gnomon__now_for(t, m),
                                   load_relaxed(&gnomon__step_under_way)};
        GNOMON__HOOKS_CALL(t, &t->open_bits, hooks, mark, &event);
    }
    gnomon__leave(t);
}
