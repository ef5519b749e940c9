/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads Perfetto's format, written without looking at what writes it, and checks what
 * its readers need: names are interned before they are used, sequences begin with
 * cleared state, tracks are described before they are used, and on each track moments
 * never go back and ends belong to begins. */
#ifndef GNOMON_TESTS_PERFETTO_READ_H
#define GNOMON_TESTS_PERFETTO_READ_H

#include <stdint.h>
#include <stdlib.h>

#include "test.h"

/* Bytes of the file. */
typedef struct pf_bytes {
    const unsigned char *at;
    size_t size;
} pf_bytes;

/* A field: `bytes` of a message or text, else `number`. */
typedef struct pf_field {
    uint32_t field, type;
    uint64_t number;
    pf_bytes bytes;
} pf_field;

static uint64_t pf_varint(pf_bytes *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (!from->size--) {
            CHECK(0 && "a varint is cut");
            from->size = 0;
            return 0;
        }
        value |= (uint64_t)(*from->at & 0x7f) << (shift < 64 ? shift : 63);
        if (!(*from->at++ & 0x80))
            return value;
    }
    CHECK(0 && "a varint is too long");
    return 0;
}

/* 0: the message is over. */
static int pf_next(pf_bytes *from, pf_field *f)
{
    if (!from->size)
        return 0;
    uint64_t tag = pf_varint(from), size = 0;
    *f = (pf_field){.field = (uint32_t)(tag >> 3), .type = tag & 7};
    if (f->type == 0) {
        f->number = pf_varint(from);
        return 1;
    }
    size = f->type == 1 ? 8 : f->type == 2 ? pf_varint(from) : UINT64_MAX;
    if (!CHECK(size <= from->size)) {
        from->size = 0;
        return 0;
    }
    f->bytes = (pf_bytes){from->at, (size_t)size};
    if (f->type == 1)
        for (unsigned i = 0; i < 8; i++)
            f->number |= (uint64_t)from->at[i] << 8 * i;
    from->at += size;
    from->size -= (size_t)size;
    return 1;
}

/* The n-th field of this number, from 0; 0: there are fewer. */
static int pf_get(pf_bytes message, uint32_t field, unsigned n, pf_field *f)
{
    while (pf_next(&message, f))
        if (f->field == field && !n--)
            return 1;
    *f = (pf_field){0};
    return 0;
}

static uint64_t pf_number(pf_bytes message, uint32_t field)
{
    pf_field f;
    pf_get(message, field, 0, &f);
    return f.number;
}

static pf_bytes pf_part(pf_bytes message, uint32_t field)
{
    pf_field f;
    pf_get(message, field, 0, &f);
    return f.bytes;
}

static int pf_is(pf_bytes bytes, const char *text)
{
    return bytes.size == strlen(text) &&
           (!bytes.size || memcmp(bytes.at, text, bytes.size) == 0);
}

/* ---- A trace ------------------------------------------------------------------ */

typedef struct pf_name {
    uint64_t sequence, kind, iid; /* kind: a field of InternedData */
    pf_bytes text;
} pf_name;

typedef struct pf_track {
    uint64_t uuid, parent, sequence;
    pf_bytes name; /* of a process or thread, its own */
    int64_t pid, tid;
    int is_process, is_thread, is_counter, is_bytes;
    uint64_t last; /* moment */
    size_t open;   /* innermost slice + 1 */
} pf_track;

typedef struct pf_event {
    size_t track;
    uint64_t sequence, type, begin;
    uint64_t end; /* 0: not ended */
    size_t outer; /* slice + 1 */
    double value;
    pf_bytes name, body;
} pf_event;

typedef struct pf_trace {
    pf_name *names;
    pf_track *tracks;
    pf_event *events; /* but ends */
    size_t name_count, track_count, event_count;
    uint64_t sequences[256];
    size_t sequence_count;
} pf_trace;

#define PF_ADD(t, list) \
    (t->list##s = \
         realloc(t->list##s, (t->list##_count + 1) * sizeof *t->list##s), \
     &t->list##s[t->list##_count++])

static pf_bytes pf_interned(const pf_trace *t, uint64_t sequence, uint64_t kind,
                            uint64_t iid)
{
    for (size_t i = 0; i < t->name_count; i++)
        if (t->names[i].sequence == sequence && t->names[i].kind == kind &&
            t->names[i].iid == iid)
            return t->names[i].text;
    CHECK(0 && "an interned text is not there");
    return (pf_bytes){0};
}

static void pf_intern(pf_trace *t, uint64_t sequence, pf_bytes data)
{
    for (pf_field f; pf_next(&data, &f);) {
        pf_name n = {sequence, f.field, pf_number(f.bytes, 1),
                     pf_part(f.bytes, 2)};
        CHECK(n.iid != 0);
        size_t i = 0;
        while (i < t->name_count &&
               (t->names[i].sequence != sequence ||
                t->names[i].kind != n.kind || t->names[i].iid != n.iid))
            i++;
        if (i == t->name_count)
            *PF_ADD(t, name) = n;
        else
            CHECK(n.text.size == t->names[i].text.size &&
                  memcmp(n.text.at, t->names[i].text.at, n.text.size) == 0);
    }
}

static size_t pf_find(const pf_trace *t, uint64_t uuid)
{
    for (size_t i = 0; i < t->track_count; i++)
        if (t->tracks[i].uuid == uuid)
            return i;
    return t->track_count;
}

static void pf_describe(pf_trace *t, uint64_t sequence, pf_bytes d)
{
    pf_track k = {.uuid = pf_number(d, 1),
                  .parent = pf_number(d, 5),
                  .sequence = sequence,
                  .name = pf_part(d, 2)};
    pf_bytes process = pf_part(d, 3), thread = pf_part(d, 4);
    pf_field f;
    CHECK_EQ(pf_find(t, k.uuid), t->track_count);
    CHECK(!k.parent || pf_find(t, k.parent) < t->track_count);
    CHECK_EQ(pf_number(d, 15), 2); /* never merged */
    k.is_process = process.size != 0;
    k.is_thread = thread.size != 0;
    k.is_counter = pf_get(d, 8, 0, &f);
    k.is_bytes = pf_number(f.bytes, 3) == 3;
    if (k.is_process) {
        k.pid = (int64_t)pf_number(process, 1);
        k.name = pf_part(process, 6);
    } else if (k.is_thread) {
        k.pid = (int64_t)pf_number(thread, 1);
        k.tid = (int64_t)pf_number(thread, 2);
        k.name = pf_part(thread, 5);
    } else {
        CHECK(k.name.size != 0);
        CHECK(k.parent != 0);
    }
    for (size_t i = 0; i < t->track_count; i++)
        CHECK(t->tracks[i].pid != k.pid || t->tracks[i].tid != k.tid || !k.pid);
    *PF_ADD(t, track) = k;
}

static void pf_put(pf_trace *t, uint64_t sequence, uint64_t ns, pf_bytes e)
{
    pf_event v = {.sequence = sequence,
                  .type = pf_number(e, 9),
                  .begin = ns,
                  .body = e,
                  .track = pf_find(t, pf_number(e, 11))};
    uint64_t iid = pf_number(e, 10), bits = pf_number(e, 44);
    if (!CHECK(v.track < t->track_count))
        return;
    pf_track *k = &t->tracks[v.track];
    CHECK_EQ(k->sequence, sequence);
    CHECK(ns >= k->last && ns <= INT64_MAX);
    k->last = ns;
    v.name = iid ? pf_interned(t, sequence, 2, iid) : pf_part(e, 23);
    memcpy(&v.value, &bits, sizeof v.value);
    CHECK_EQ(k->is_counter, v.type == 4);
    if (v.type == 2) {
        if (!CHECK(k->open != 0))
            return;
        t->events[k->open - 1].end = ns;
        k->open = t->events[k->open - 1].outer;
        return;
    }
    v.outer = k->open;
    *PF_ADD(t, event) = v;
    if (v.type == 1)
        k->open = t->event_count;
}

static void pf_packet(pf_trace *t, pf_bytes p)
{
    uint64_t sequence = pf_number(p, 10), flags = pf_number(p, 13);
    pf_field f;
    size_t i = 0;
    CHECK(sequence != 0);
    CHECK(!pf_get(p, 6, 0, &f)); /* no clock: times are Unix ns */
    while (i < t->sequence_count && t->sequences[i] != sequence)
        i++;
    if (i == t->sequence_count && CHECK(i < 256)) {
        CHECK_EQ(flags & 1, 1);
        CHECK_EQ(pf_number(p, 87), 1);
        CHECK_EQ(pf_number(pf_part(p, 59), 58), 0); /* nor here */
        t->sequences[t->sequence_count++] = sequence;
    } else {
        CHECK_EQ(flags, 2);
    }
    if (pf_get(p, 12, 0, &f))
        pf_intern(t, sequence, f.bytes);
    if (pf_get(p, 60, 0, &f))
        pf_describe(t, sequence, f.bytes);
    if (pf_get(p, 11, 0, &f))
        pf_put(t, sequence, pf_number(p, 8), f.bytes);
}

/* The bytes must live as long as the trace. */
static void pf_read(pf_trace *t, const void *bytes, size_t size)
{
    pf_bytes file = {bytes, size};
    *t = (pf_trace){0};
    for (pf_field f; pf_next(&file, &f);)
        if (CHECK(f.field == 1 && f.type == 2))
            pf_packet(t, f.bytes);
}

static void pf_free(pf_trace *t)
{
    free(t->names);
    free(t->tracks);
    free(t->events);
}

/* ---- Questions ----------------------------------------------------------------- */

/* The annotation of this name. */
static inline int pf_note(const pf_trace *t, const pf_event *e,
                          const char *name, pf_bytes *note)
{
    pf_field f;
    for (unsigned i = 0; pf_get(e->body, 4, i, &f); i++) {
        uint64_t iid = pf_number(f.bytes, 1);
        *note = f.bytes;
        if (pf_is(iid ? pf_interned(t, e->sequence, 3, iid)
                      : pf_part(f.bytes, 10),
                  name))
            return 1;
    }
    return 0;
}

static inline int pf_says(const pf_trace *t, const pf_event *e,
                          const char *name, const char *text)
{
    pf_bytes note;
    if (!CHECK(pf_note(t, e, name, &note)))
        return 0;
    uint64_t iid = pf_number(note, 17);
    return pf_is(iid ? pf_interned(t, e->sequence, 29, iid) : pf_part(note, 6),
                 text);
}

static inline uint64_t pf_says_number(const pf_trace *t, const pf_event *e,
                                      const char *name)
{
    pf_bytes note;
    if (!CHECK(pf_note(t, e, name, &note)))
        return 0;
    uint64_t natural = pf_number(note, 3);
    return natural ? natural : pf_number(note, 4);
}

/* The only event of this name; NULL, and a failed check: there is not exactly one. */
static inline const pf_event *pf_event_of(const pf_trace *t, const char *name)
{
    const pf_event *found = NULL;
    for (size_t i = 0; i < t->event_count; i++)
        if (pf_is(t->events[i].name, name)) {
            CHECK(!found);
            found = &t->events[i];
        }
    if (!CHECK(found != NULL))
        fprintf(stderr, "    no event %s\n", name);
    return found;
}

static inline const pf_track *pf_track_of(const pf_trace *t, const char *name)
{
    const pf_track *found = NULL;
    for (size_t i = 0; i < t->track_count; i++)
        if (pf_is(t->tracks[i].name, name)) {
            CHECK(!found);
            found = &t->tracks[i];
        }
    if (!CHECK(found != NULL))
        fprintf(stderr, "    no track %s\n", name);
    return found;
}

#endif
