/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for marks */
/* Marks of memory: an allocation and a free are both on the hot path of a program. */
#include "mark/memory.h"

#include "mark/observer.h"
#include "mark/position.h"
#include "mark/recorder.h"
#include "mark/region.h"
#include "mark/segment.h"
#include "mark/tape.h"
#include "platform/error.h"
#include "platform/owner.h"
#include "platform/ticks.h"

const gnomon_memory_recorder *gnomon__memory_recorder;

/* The size of the first release. */
#define FIRST_RECORDER \
    (offsetof(gnomon_memory_recorder, lost) + sizeof(void (*)(void)))

int gnomon__memory_record(const gnomon_memory_recorder *recorder)
{
    if (recorder->abi != GNOMON_ABI || recorder->struct_size < FIRST_RECORDER)
        return gnomon__fail(GNOMON_EABI, "the recorder of memory is of "
                                         "another generation of gnomon");
    store_release(&gnomon__memory_recorder, recorder);
    return GNOMON_OK;
}

/* Also on the tapes beside the tree. */
static void tape_memory(gnomon__thread *t, uint32_t tree, uint32_t key,
                        int64_t bytes, const void *pointer)
{
    gnomon__each_bit(bit, t->tape_bits & load_relaxed(&t->open_bits)) {
        if (gnomon__tape_pools[bit].tree == tree)
            gnomon__tape_memory(t, bit, key, (double)bytes,
                                (uint64_t)(uintptr_t)pointer);
    }
}

/* Memory alone makes a stage. */
static __attribute__((noinline)) void note_mark(const gnomon__thread *t)
{
    gnomon__segment_mark(t->segment, gnomon__ticks());
}

void gnomon__memory_mark(gnomon_region *pool, uint32_t mask, int kind,
                         const void *pointer, uint64_t bytes)
{
    mask = gnomon_touch_slow(pool, mask);
    GNOMON__FORWARD_VOID(memory(pool, mask, kind, pointer, bytes));
    if (!(mask & load_relaxed(&gnomon__memory_bits)))
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    const uint32_t key = gnomon__key_of(pool);
    mask = gnomon__who_takes(t, mask & load_relaxed(&gnomon__memory_bits));
    if (likely(mask != 0)) {
        if (unlikely(!load_relaxed(&gnomon__first_mark)) &&
            (pointer || kind > GNOMON_MEMORY_FREED)) /* NULL is ignored */
            note_mark(t);
        const uint32_t tree = (uint32_t)__builtin_ctz(mask);
        const int64_t by =
            load_relaxed(&gnomon__memory_recorder)
                ->mark(t->number, gnomon__cursor_of(t, tree)->current, key,
                       kind, pointer, bytes);
        if (unlikely(t->tape_bits) && by)
            tape_memory(t, tree, key, by, pointer);
    } else if (kind == GNOMON_MEMORY_FREED) { /* between windows */
        if (load_relaxed(&gnomon__memory_recorder)
                ->mark(t->number, 0, key, kind, pointer, 0) &&
            !load_relaxed(&gnomon__first_mark))
            note_mark(t);
    }
    gnomon__leave(t);
}
