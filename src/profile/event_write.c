/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The events of a profile as blocks of a file, each a section. */
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/file_write.h"
#include "profile/layout.h"

#define SOME_EVENTS 64u

static void begin_block(gnomon__file_writer *w)
{
    char *bytes = w->block.bytes;
    if (!bytes && !(bytes = gnomon__alloc(GNOMON__SECTION_FULL)))
        w->code = gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
    gnomon__block_begin(&w->block, bytes, GNOMON__SECTION_FULL);
}

void gnomon__file_events_end(gnomon__file_writer *w)
{
    gnomon__block *b = &w->block;
    gnomon__file_buffer events = {b->bytes, b->used, b->room}, none = {0};
    if (!b->bytes || !b->count || w->code)
        return;
    gnomon__block_end(b);
    gnomon__file_section(w, GNOMON__BLOCK_KIND, GNOMON__EVENT_LEAST,
                         w->written[GNOMON_EVENTS] - b->count + 1, b->count,
                         &events, &none);
    begin_block(w);
}

void gnomon__file_event(gnomon__file_writer *w, gnomon_event_info *e)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    if (w->block.bytes && gnomon__block_is_full(&w->block))
        gnomon__file_events_end(w);
    else if (!w->block.bytes)
        begin_block(w);
    if (w->written[GNOMON_EVENTS] == UINT32_MAX)
        gnomon__file_full(w);
    if (w->code)
        return;
    for (unsigned i = 0; i < s->field_count; i++) {
        const gnomon__field *f = &s->fields[i];
        if (f->type != GNOMON__TYPE_NUMBER)
            continue;
        uint32_t number = gnomon__file_number(w, gnomon__number_of(f, e),
                                              gnomon__field_32(f, e));
        gnomon__field_set(f, e, &number, sizeof number);
    }
    gnomon__block_add(&w->block, e);
    w->written[GNOMON_EVENTS]++;
}

void gnomon__file_events(gnomon__file_writer *w, gnomon__file_range some)
{
    gnomon_event_info e[SOME_EVENTS];
    size_t done = 0;
    while (!w->code && done < some.count) {
        const size_t left = some.count - done;
        const size_t count =
            gnomon_profile_events(w->p, some.first + done, e,
                                  left < SOME_EVENTS ? left : SOME_EVENTS);
        if (!count && !(w->code = gnomon__profile_failed(w->p)))
            w->code = GNOMON_EIO;
        for (size_t i = 0; !w->code && i < count; i++)
            gnomon__file_event(w, &e[i]);
        done += count;
    }
    gnomon__file_events_end(w);
}
