/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* Owns, for each track, the labels that are open: as much memory as are open at one
 * time. */
#include "export/chrome.h"

#include <stdlib.h>

typedef struct gnomon__chrome_labels {
    struct {
        uint64_t end, id;
        uint32_t node;
        uint32_t label; /* in the list of those which launch; 0: not there */
    } * of;
    size_t open, room;
} gnomon__chrome_labels;

int gnomon__chrome_around_begin(gnomon__chrome_around *a, size_t tracks)
{
    a->of = calloc(tracks + 1, sizeof *a->of);
    a->count = a->of ? tracks + 1 : 0;
    return a->of != NULL;
}

void gnomon__chrome_around_end(gnomon__chrome_around *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->of[i].of);
    free(a->of);
    *a = (gnomon__chrome_around){0};
}

static void drop_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    while (l->open && l->of[l->open - 1].end <= begin)
        l->open--;
}

/* Executions that overlap may end below one that is open: these too, before more room is
 * taken. */
static void drop_all_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->open; i++)
        if (l->of[i].end > begin)
            l->of[kept++] = l->of[i];
    l->open = kept;
}

int gnomon__chrome_around_put(gnomon__chrome_around *a, size_t track,
                              const gnomon_event_info *e, uint64_t id)
{
    gnomon__chrome_labels *l = &a->of[track];
    const uint64_t begin = e->begin_ns;
    drop_ended(l, begin);
    const int is_full = l->open == l->room;
    if (is_full)
        drop_all_ended(l, begin);
    if (is_full && 2 * l->open >= l->room) { /* so that this is rare */
        size_t room = l->room ? 2 * l->room : 16;
        void *of = realloc(l->of, room * sizeof *l->of);
        if (!of)
            return 0;
        l->of = of;
        l->room = room;
    }
    l->of[l->open].end = begin + e->duration_ns;
    l->of[l->open].node = e->node;
    l->of[l->open].label = 0;
    l->of[l->open++].id = id;
    return 1;
}

uint64_t gnomon__chrome_around_at(gnomon__chrome_around *a, size_t track,
                                  uint64_t begin)
{
    gnomon__chrome_labels *l = &a->of[track];
    drop_ended(l, begin);
    return l->open ? l->of[l->open - 1].id : 0;
}

int gnomon__chrome_around_label(gnomon__chrome_around *a,
                                gnomon__chrome_spans *s, size_t track,
                                uint64_t begin, uint32_t *label)
{
    gnomon__chrome_labels *l = &a->of[track];
    drop_ended(l, begin);
    *label = 0;
    for (size_t i = 0; i < l->open; i++) {
        if (!l->of[i].label)
            l->of[i].label =
                gnomon__chrome_label_add(s, l->of[i].id, l->of[i].node, *label);
        *label = l->of[i].label;
        if (!*label)
            return 0;
    }
    return 1;
}
