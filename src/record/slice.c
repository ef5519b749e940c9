/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Collects the slice of each thread by its view's recorder. */
#include "record/slice.h"

#include "mark/foreign.h"
#include "mark/observer.h"
#include "platform/memory.h"

int gnomon__slice_read(gnomon__slice *out, uint32_t bit, uint32_t generation,
                       int is_live)
{
    if (is_live)
        gnomon__foreign_settle();
    uint32_t total = load_acquire(&gnomon__thread_total);
    *out = (gnomon__slice){.bit = bit, .generation = generation};
    out->threads = gnomon__alloc((total + 1) * sizeof *out->threads);
    int code = out->threads ? GNOMON_OK : GNOMON_ENOMEM;
    for (uint32_t i = 0; out->threads && i < total; i++) {
        gnomon__thread *t = load_acquire(&gnomon__threads[i]);
        gnomon__slice_thread *s = &out->threads[out->count];
        *s = (gnomon__slice_thread){.thread = i};
        int its = gnomon__observers[bit].recorder->collect(s, t, bit,
                                                           generation, is_live);
        code = code ? code : its;
        if (its || !s->rows.has_tree) {
            gnomon__rows_free(&s->rows);
            gnomon__free(s->shares);
        } else {
            out->count++;
        }
    }
    return code;
}

void gnomon__slice_free(gnomon__slice *slice)
{
    for (size_t i = 0; slice->threads && i < slice->count; i++) {
        gnomon__rows_free(&slice->threads[i].rows);
        gnomon__free(slice->threads[i].shares);
    }
    gnomon__free(slice->threads);
    *slice = (gnomon__slice){0};
}
