/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What marks counted instead of failing, of all threads. */
#include <string.h>

#include "mark/thread.h"
#include "platform/owner.h"
#include "platform/process.h"

gnomon__work_counts gnomon__work_health GNOMON__OF_PROCESS;

void gnomon__trouble_add(gnomon__thread *t, size_t field)
{
    uint64_t *count = (void *)((char *)&t->health + field);
    if (t == &gnomon__no_thread)
        add_relaxed(count, 1);
    else
        gnomon__word_add(count, 1);
}

void gnomon_health_get(gnomon_health *health)
{
    if (!health)
        return;
    GNOMON__FORWARD_VOID(health(health));
    gnomon_health all = {0};
    uint32_t total = load_acquire(&gnomon__thread_total);
    for (uint32_t i = 0; i <= total; i++) {
        const gnomon__thread *t =
            i < total ? load_acquire(&gnomon__threads[i]) : &gnomon__no_thread;
        all.threads += i < total && load_relaxed(&t->alive);
#define ADD(field, text) all.field += load_relaxed(&t->health.field);
        GNOMON__HEALTH_OF_MARKS(ADD)
        GNOMON__HEALTH_OF_OPS(ADD)
#undef ADD
    }
#define ADD(field, text) all.field = load_relaxed(&gnomon__work_health.field);
    GNOMON__HEALTH_OF_WORK(ADD)
    GNOMON__HEALTH_OF_MEMORY(ADD)
#undef ADD
    all.mapped_bytes = load_relaxed(&gnomon__marks_arena.used);
    all.heap_bytes = gnomon__heap_bytes();
    uint32_t size = health->struct_size;
    if (size > sizeof all) {
        memset((char *)health + sizeof all, 0, size - sizeof all);
        memcpy(health, &all, sizeof all);
    } else {
        memcpy(health, &all, size);
    }
    health->struct_size = size;
}
