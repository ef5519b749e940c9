/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the runs of a .gnomon file are: one scan of its sections' headers. A file with
 * anything irregular in it, or that was appended to, is one part; reading it reports
 * what is wrong. */
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "profile/file_read.h"

typedef struct file_walk {
    gnomon__file_index *index;
    gnomon__file_part *part; /* the current one; NULL: before the first */
    uint64_t texts; /* where the texts of the next section begin; 0: none */
    uint32_t seen[GNOMON__ENTITIES];
    int last; /* what the section before this one holds, texts apart */
    int has_run, has_end, is_irregular;
} file_walk;

static int begin_part(file_walk *w, uint64_t at)
{
    gnomon__file_index *x = w->index;
    if (!gnomon__grow(&x->parts, &x->room, x->count + 1, sizeof *x->parts))
        return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
    if (!x->count)
        x->shared_end = at;
    else
        x->parts[x->count - 1].end = at;
    w->part = &x->parts[x->count++];
    memset(w->part, 0, sizeof *w->part);
    w->part->begin = at;
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        int is_shared = gnomon__is_shared(i);
        w->part->before[i] = is_shared ? 0 : w->seen[i];
        w->part->count[i] = is_shared ? w->seen[i] : 0;
    }
    w->has_run = 0;
    return GNOMON_OK;
}

/* A section of runs begins a new part if the present one has runs, and more than these:
 * many runs in one another take several sections, which follow each other. */
static int walk_section(file_walk *w, const gnomon__section *s)
{
    int code = GNOMON_OK;
    if (s->entity == GNOMON__SECTION_TEXT) {
        w->texts = w->texts ? w->texts : s->at;
        w->is_irregular |= w->has_end;
        return GNOMON_OK;
    }
    uint64_t at = w->texts ? w->texts : s->at;
    w->texts = 0;
    if (s->entity == GNOMON__SECTION_END)
        w->has_end = 1;
    if (s->entity >= GNOMON__ENTITIES)
        return GNOMON_OK;
    int begins_runs = s->entity == GNOMON_RUNS && w->last != GNOMON_RUNS;
    w->last = s->entity;
    w->is_irregular |=
        w->has_end; /* appended to: later sections are of the same runs */
    if (gnomon__is_shared(s->entity))
        w->is_irregular |= w->part != NULL;
    else if (!w->part || (begins_runs && w->has_run))
        code = begin_part(w, at);
    if (code)
        return code;
    w->has_run |= s->entity == GNOMON_RUNS;
    w->is_irregular |= s->first != (uint64_t)w->seen[s->entity] + 1 ||
                       s->first + s->count > UINT32_MAX;
    w->seen[s->entity] += s->count;
    w->index->seen[s->entity] += s->count;
    if (w->part)
        w->part->count[s->entity] += s->count;
    return GNOMON_OK;
}

static int whole_file(gnomon__file_index *x, uint64_t size)
{
    file_walk w = {.index = x};
    x->count = 0;
    int code = begin_part(&w, GNOMON__FILE_HEADER);
    if (!code && w.part) {
        memcpy(w.part->about, x->seen, sizeof x->seen);
        w.part->end = size;
        w.part->is_whole = 1;
    }
    return code;
}

int gnomon__index_file(gnomon__file_index *out, const gnomon__source *from)
{
    file_walk w = {.index = out, .last = GNOMON__ENTITIES};
    gnomon__sections sections;
    gnomon__section s;
    memset(out, 0, sizeof *out);
    gnomon__fail_clear();
    int code = gnomon__sections_open(&sections, from), more = 1;
    sections.wanted = 0;
    while (!code && (more = gnomon__sections_next(&sections, &s)) > 0)
        code = walk_section(&w, &s);
    gnomon__sections_close(&sections);
    if (more < 0 || code)
        return more < 0 ? more : code;
    if (w.is_irregular || !w.has_end || sections.damaged || out->count < 2)
        return whole_file(out, from->size);
    out->parts[out->count - 1].end = from->size;
    return GNOMON_OK;
}

void gnomon__index_free(gnomon__file_index *index)
{
    gnomon__free(index->parts);
    memset(index, 0, sizeof *index);
}
