/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A launch was in the execution of its path that was open at that moment. A path has one
 * at a time, so the last one that began before it is the only one that can be it. */
#include "record/activity_launches.h"

#include "gnomon.h"
#include "platform/memory.h"
#include "platform/order.h"
#include "record/tape_read.h"

GNOMON__ORDER(launch_order, gnomon__work_launch, UP(thread), UP(ticks))

int gnomon__snapshot_launch(gnomon__snapshot_builder *b, uint32_t from,
                            uint64_t from_instance, uint32_t to,
                            uint64_t to_instance)
{
    gnomon_link_info *l = gnomon__model_add(b->m, GNOMON_LINKS);
    if (!l)
        return 0;
    l->from = from;
    l->to = to;
    l->kind = GNOMON_LINK_LAUNCH;
    l->count = 1;
    l->from_instance = from_instance;
    l->to_instance = to_instance;
    return 1;
}

/* The last execution of a path that has begun so far. */
typedef struct last_entry {
    gnomon__tape_entry *at; /* NULL: none */
    uint32_t stage;
} last_entry;

static int link_launch(gnomon__snapshot_builder *b, const last_entry *last,
                       const gnomon__work_launch *l)
{
    gnomon__tape_events *e = b->record->events;
    if (l->ticks - last->at->begin > gnomon__entry_length(e, last->at))
        return 1;
    uint32_t from = gnomon__snapshot_node(b, l->thread, l->path, last->stage);
    if (!from)
        return 1;
    gnomon__tape_more *more = gnomon__entry_more(e, last->at);
    if (more && !more->instance)
        more->instance = GNOMON__SCOPE_INSTANCE | last->at->length;
    return more && gnomon__snapshot_launch(b, from, more->instance, l->node,
                                           l->instance);
}

/* Launches of one thread, the earliest first. */
static int link_thread(gnomon__snapshot_builder *b, gnomon__tape_thread *t,
                       const gnomon__work_launch *of, size_t count)
{
    const size_t room = b->ledger->paths[t->thread].room;
    last_entry *last = gnomon__alloc((room + 1) * sizeof *last);
    gnomon__stage_cursor found = {0};
    size_t at = 0;
    int ok = last != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        for (; at < t->count && t->entries[at].begin <= of[i].ticks; at++) {
            gnomon__tape_entry *e = &t->entries[at];
            const uint32_t path = GNOMON__ENTRY_NUMBER(e->what);
            if (GNOMON__ENTRY_KIND(e->what) == GNOMON_EVENT_EXECUTION &&
                path < room)
                last[path] = (last_entry){
                    e, gnomon__snapshot_stage_at(b, e->begin, &found)};
        }
        if (of[i].path < room && last[of[i].path].at)
            ok = link_launch(b, &last[of[i].path], &of[i]);
    }
    gnomon__free(last);
    return ok;
}

int gnomon__snapshot_launches(gnomon__snapshot_builder *b,
                              gnomon__work_launches *l)
{
    const gnomon__tape_events *e = b->record->events;
    int ok = 1;
    if (!e || !l->count)
        return 1;
    GNOMON__SORT(l->of, l->count, launch_order);
    for (size_t i = 0, end; ok && i < l->count; i = end) {
        const uint32_t thread = l->of[i].thread;
        for (end = i; end < l->count && l->of[end].thread == thread;)
            end++;
        if (thread < e->thread_count && thread < b->ledger->path_threads)
            ok = link_thread(b, &e->threads[thread], l->of + i, end - i);
    }
    return ok;
}
