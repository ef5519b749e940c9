/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sections of a .gnomon file, one after the other. After damage the next
 * header is looked for: its checksum tells it from anything else. */
#include <string.h>

#include "platform/crc32.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "profile/event_blocks.h"
#include "profile/file_read.h"
#include "profile/layout.h"

#define SCAN (64u << 10) /* bytes looked through at a time */

int gnomon__no_memory_to_read(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to read a file");
}

static int is_header(const char *header)
{
    return gnomon__get_32(header + 36) == gnomon__crc32(0, header, 36);
}

/* Whether a section follows the file's header, whatever is in that. */
static int has_a_section(const gnomon__source *from)
{
    char header[GNOMON__SECTION_HEADER];
    return from->size >= GNOMON__FILE_HEADER + sizeof header &&
           !from->read(from->context, GNOMON__FILE_HEADER, header,
                       sizeof header) &&
           is_header(header);
}

int gnomon__sections_open(gnomon__sections *s, const gnomon__source *from)
{
    char header[GNOMON__FILE_HEADER];
    memset(s, 0, sizeof *s);
    s->from = from;
    s->at = sizeof header;
    s->end = from->size;
    s->wanted = GNOMON__EVERY_SECTION;
    if (from->size < sizeof header)
        return gnomon__fail(GNOMON_EINVAL, "not a .gnomon file: too short");
    int code = from->read(from->context, 0, header, sizeof header);
    if (code)
        return code;
    int is_magic = memcmp(header, GNOMON__FILE_MAGIC, 8) == 0;
    if (!is_magic && !has_a_section(from))
        return gnomon__fail(GNOMON_EINVAL, "not a .gnomon file");
    uint32_t version = gnomon__get_32(header + 8);
    if (!is_magic ||
        gnomon__crc32(0, header, 12) != gnomon__get_32(header + 12)) {
        s->damaged = 1; /* it says nothing that the sections do not */
        s->unread = sizeof header;
        return GNOMON_OK;
    }
    if (version > GNOMON__FILE_VERSION)
        return gnomon__fail(GNOMON_EINVAL,
                            "made by a later gnomon: format %u, this one reads "
                            "up to %u",
                            (unsigned)version, GNOMON__FILE_VERSION);
    return GNOMON_OK;
}

void gnomon__sections_close(gnomon__sections *s)
{
    gnomon__free(s->payload);
    s->payload = NULL;
}

static int grow_payload(gnomon__sections *s, uint64_t bytes)
{
    if (bytes <= s->room)
        return GNOMON_OK;
    gnomon__free(s->payload);
    s->room = 0;
    s->payload = bytes < SIZE_MAX ? gnomon__alloc((size_t)bytes) : NULL;
    if (!s->payload)
        return gnomon__fail(GNOMON_ENOMEM,
                            "no memory for a section of %llu "
                            "bytes",
                            (unsigned long long)bytes);
    s->room = bytes;
    return GNOMON_OK;
}

/* Moves to the next header, if there is one: 1, 0, or an error. */
static int resynchronize(gnomon__sections *s)
{
    uint64_t from = s->at;
    s->damaged++;
    for (s->at += 8;
         s->end - s->at >= GNOMON__SECTION_HEADER && s->at < s->end;) {
        uint64_t bytes = s->end - s->at;
        if (bytes > SCAN)
            bytes = SCAN;
        int code = grow_payload(s, bytes);
        if (!code)
            code = s->from->read(s->from->context, s->at, s->payload,
                                 (size_t)bytes);
        if (code)
            return code;
        uint64_t i = 0;
        for (; i + GNOMON__SECTION_HEADER <= bytes; i += 8)
            if (is_header(s->payload + i)) {
                s->at += i;
                s->unread += s->at - from;
                return 1;
            }
        s->at += i;
    }
    s->unread += s->end - from;
    s->at = s->end;
    return 0;
}

static int section_sort(const char *kind)
{
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        if (strcmp(gnomon__structs[k].kind, kind) == 0)
            return k;
    if (strcmp(kind, GNOMON__BLOCK_KIND) == 0)
        return GNOMON_EVENTS;
    return strcmp(kind, "TEXT") == 0   ? GNOMON__SECTION_TEXT
           : strcmp(kind, "END ") == 0 ? GNOMON__SECTION_END
                                       : GNOMON__SECTION_UNKNOWN;
}

int gnomon__sections_next(gnomon__sections *s, gnomon__section *out)
{
    char header[GNOMON__SECTION_HEADER];
    while (s->at < s->end) {
        uint64_t left = s->end - s->at;
        if (left < sizeof header) {
            s->damaged++;
            s->unread += left;
            s->at = s->end;
            return 0;
        }
        int code =
            s->from->read(s->from->context, s->at, header, sizeof header);
        if (code)
            return code;
        left -= sizeof header;
        memcpy(out->kind, header, 4);
        out->kind[4] = 0;
        out->entity = section_sort(out->kind);
        out->is_block = strcmp(out->kind, GNOMON__BLOCK_KIND) == 0;
        out->at = s->at;
        out->payload = NULL;
        out->item_size = gnomon__get_32(header + 4);
        out->bytes = gnomon__get_64(header + 8);
        out->first = gnomon__get_64(header + 16);
        out->count = gnomon__get_32(header + 24);
        out->crc = gnomon__get_32(header + 28);
        if (!is_header(header) || out->bytes > left) {
            code = resynchronize(s);
            if (code <= 0)
                return code;
            continue;
        }
        uint64_t padded = (out->bytes + 7) & ~7ull;
        uint64_t payload = s->at + sizeof header;
        s->at = payload + (padded < left ? padded : left);
        if (out->is_block || !(s->wanted >> out->entity & 1))
            return 1;
        code = grow_payload(s, out->bytes ? out->bytes : 1);
        if (!code && out->bytes)
            code = s->from->read(s->from->context, payload, s->payload,
                                 (size_t)out->bytes);
        if (code)
            return code;
        out->payload = s->payload;
        if (gnomon__crc32(0, s->payload, (size_t)out->bytes) == out->crc &&
            (!out->count || out->item_size) &&
            (uint64_t)out->count * out->item_size <= out->bytes)
            return 1;
        s->damaged++;
        s->unread += sizeof header + out->bytes;
    }
    return 0;
}

/* ---- Where the runs of a file are ---------------------------------------------------
 *
 * One scan of its sections' headers. A file with anything irregular in it, or that was
 * appended to, is one part; reading it reports what is wrong. */

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
        return gnomon__no_memory_to_read();
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
    gnomon__section s = {0};
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
