/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as .gnomon: sections one after the other, each with its checksum. So a file
 * can be written without knowing its length, and read in spite of damage.
 *
 * A section holds records of one kind and, behind them, what they point to. Its
 * texts come in a section of texts before it; each is written once. */
#include "profile/file_write.h"

#include <string.h>

#include "gnomon/profile.h"
#include "platform/crc32.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profile/model.h"
#include "spec/names.h"
#include "profile/fields.h"
#include "profile/json_read.h"
#include "profile/layout.h"

#define FIRST_BUFFER ((size_t)4096)

typedef gnomon__file_writer file_writer;
typedef gnomon__file_buffer file_buffer;

/* Where no error came before. */
static void put_bytes_in_file(file_writer *w, const void *bytes, size_t size)
{
    if (!w->code && size)
        w->code = w->out->write(w->out, bytes, size);
}

/* Writes what both buffers hold as one section, and empties them. */
static void file_section(file_writer *w, const char *kind, uint32_t item_size,
                         uint64_t first, uint32_t count, file_buffer *a,
                         file_buffer *b)
{
    char header[GNOMON__SECTION_HEADER] = {0};
    static const char zeroes[8];
    uint64_t bytes = a->used + b->used;
    uint32_t crc = gnomon__crc32(0, a->bytes, a->used);
    crc = gnomon__crc32(crc, b->bytes, b->used);
    memcpy(header, kind, 4);
    gnomon__put_32(header + 4, item_size);
    gnomon__put_64(header + 8, bytes);
    gnomon__put_64(header + 16, first);
    gnomon__put_32(header + 24, count);
    gnomon__put_32(header + 28, crc);
    gnomon__put_32(header + 36, gnomon__crc32(0, header, 36));
    put_bytes_in_file(w, header, sizeof header);
    put_bytes_in_file(w, a->bytes, a->used);
    put_bytes_in_file(w, b->bytes, b->used);
    put_bytes_in_file(w, zeroes, (size_t)(-bytes & 7));
    a->used = b->used = 0;
}

/* A kind has more entities than numbers. */
static void set_full(file_writer *w)
{
    w->code = gnomon__fail(GNOMON_EFULL,
                           "more than 4294967295 of a kind in one file");
}

/* An entity's number in the file. */
static uint32_t number_in_file(const file_writer *w, int entity,
                               uint32_t number)
{
    return number ? number + w->shift[entity] : 0;
}

/* ---- Events, as blocks of a file, each a section -------------------------------- */

#define SOME_EVENTS 64u

static void begin_block(file_writer *w)
{
    char *bytes = w->block.bytes;
    if (!bytes && !(bytes = gnomon__alloc(GNOMON__SECTION_FULL)))
        w->code = gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
    gnomon__block_begin(&w->block, bytes, GNOMON__SECTION_FULL);
}

void gnomon__file_events_end(file_writer *w)
{
    gnomon__block *b = &w->block;
    file_buffer events = {b->bytes, b->used, b->room}, none = {0};
    if (!b->bytes || !b->count || w->code)
        return;
    gnomon__block_end(b);
    file_section(w, GNOMON__BLOCK_KIND, GNOMON__EVENT_LEAST,
                 w->written[GNOMON_EVENTS] - b->count + 1, b->count, &events,
                 &none);
    begin_block(w);
}

void gnomon__file_event(file_writer *w, gnomon_event_info *e)
{
    const gnomon__struct *s = &gnomon__structs[GNOMON_EVENTS];
    const gnomon__field *f = NULL;
    if (w->block.bytes && gnomon__block_is_full(&w->block))
        gnomon__file_events_end(w);
    else if (!w->block.bytes)
        begin_block(w);
    if (w->written[GNOMON_EVENTS] == UINT32_MAX)
        set_full(w);
    if (w->code)
        return;
    while ((f = gnomon__next_number(s, f)) != NULL) {
        uint32_t number =
            number_in_file(w, gnomon__number_of(f, e), gnomon__field_32(f, e));
        gnomon__field_set(f, e, &number, sizeof number);
    }
    gnomon__block_add(&w->block, e);
    w->written[GNOMON_EVENTS]++;
}

/* `some` events of w->p. */
static void file_events(file_writer *w, gnomon__file_range some)
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

/* ---- Bytes ------------------------------------------------------------------ */

/* Room for `size` more bytes; NULL: no memory, and w->code is set. */
static char *file_room(file_writer *w, file_buffer *b, size_t size)
{
    if ((!b->bytes || size > b->room - b->used) &&
        !gnomon__grow(&b->bytes, &b->room, b->used + size + FIRST_BUFFER, 1)) {
        w->code = gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
        return NULL;
    }
    char *at = b->bytes + b->used;
    b->used += size;
    return at;
}

/* ---- Texts ------------------------------------------------------------------- */

static void file_put_texts(file_writer *w)
{
    file_buffer none = {0};
    uint64_t bytes = w->texts.used;
    if (bytes)
        file_section(w, "TEXT", 1, w->texts_written, (uint32_t)bytes, &w->texts,
                     &none);
    w->texts_written += bytes;
}

static uint32_t file_text_at(file_writer *w, const char *text)
{
    if (!text)
        return 0;
    gnomon__text_item *known = gnomon__text_find(&w->shared, text);
    if (!known && !(known = gnomon__text_intern(w->set, text)))
        w->code = gnomon__fail(GNOMON_ENOMEM, "no memory to write a file");
    if (!known || known->text)
        return known ? known->number : 0;
    size_t n = strlen(text) + 1;
    if (w->texts.used + n > GNOMON__SECTION_FULL)
        file_put_texts(w); /* before the records that name them */
    uint64_t at = w->texts_written + w->texts.used;
    if (at + n >= UINT32_MAX) {
        w->code =
            gnomon__fail(GNOMON_EFULL, "more than 4 GiB of texts in one file");
        return 0;
    }
    char *copy = file_room(w, &w->texts, n);
    if (!copy)
        return 0;
    memcpy(copy, text, n);
    *known = (gnomon__text_item){text, (uint32_t)at + 1};
    return known->number;
}

/* ---- Records ---------------------------------------------------------------- */

static void file_fields(file_writer *w, file_buffer *to, size_t at,
                        const gnomon__struct *s, const void *of);

/* 1 + where the next bytes will lie behind the records. */
static uint32_t tail_at(const file_writer *w)
{
    return (uint32_t)w->tail.used + 1;
}

/* Structs that lie one behind the other, each after its size; what they point to
 * comes behind all of them. */
static void file_structs(file_writer *w, const gnomon__struct *s,
                         const void *list, size_t count)
{
    const uint32_t size =
        GNOMON__PART_HEADER + gnomon__record_bytes(s, s->field_count);
    size_t at = w->tail.used;
    gnomon__any room;
    if (!file_room(w, &w->tail, count * size))
        return;
    for (size_t i = 0; !w->code && i < count; i++, at += size) {
        gnomon__put_32(w->tail.bytes + at, size);
        file_fields(w, &w->tail, at + GNOMON__PART_HEADER, s,
                    gnomon__struct_whole(s, gnomon__struct_at(list, i), &room));
    }
}

/* Cells, of which each takes eight bytes, or sizes. */
static void file_words(file_writer *w, int has_cells, const void *list,
                       size_t count)
{
    const gnomon_cell *cells = list;
    const int64_t *sizes = list;
    char *at = file_room(w, &w->tail, 8 * count);
    for (size_t i = 0; at && i < count; i++)
        gnomon__put_64(at + 8 * i,
                       has_cells ? (uint64_t)cells[i].cell << 54 |
                                       (cells[i].count & ((1ull << 54) - 1))
                                 : (uint64_t)sizes[i]);
}

/* Where a list of `count` begins in the tail; 0: it is empty. */
static uint32_t file_list(file_writer *w, const gnomon__field *f,
                          const void *list, size_t count)
{
    const uint32_t where = tail_at(w);
    if (!count)
        return 0;
    if (f->type >= GNOMON__TYPE_CELLS)
        file_words(w, f->type == GNOMON__TYPE_CELLS, list, count);
    else
        file_structs(w, &gnomon__structs[f->of], list, count);
    return where;
}

/* Puts a field at `at` of a buffer, which may move meanwhile; its bytes there. */
static uint32_t file_field(file_writer *w, file_buffer *to, size_t at,
                           const gnomon__field *f, const void *of)
{
    const uint32_t bytes = gnomon__field_bytes(f);
    uint32_t small;
    if (f->type == GNOMON__TYPE_NUMBER) {
        small = number_in_file(w, gnomon__number_of(f, of),
                               gnomon__field_32(f, of));
    } else if (f->type < GNOMON__TYPE_TEXT) {
        gnomon__field_put(f, to->bytes + at, of);
        return bytes;
    } else if (f->type < GNOMON__TYPE_STRUCT) {
        small = file_text_at(w, gnomon__field_pointer(f, of));
    } else {
        const size_t count = gnomon__field_count(f, of);
        small = file_list(w, f, gnomon__field_pointer(f, of), count);
        if (bytes == 8)
            gnomon__put_32(to->bytes + at + 4, (uint32_t)count);
    }
    gnomon__put_32(to->bytes + at, small);
    return bytes;
}

static void file_fields(file_writer *w, file_buffer *to, size_t at,
                        const gnomon__struct *s, const void *of)
{
    for (unsigned i = 0; !w->code && i < s->field_count; i++)
        at += file_field(w, to, at, &s->fields[i], of);
}

static void end_section(file_writer *w, const gnomon__struct *s)
{
    file_put_texts(w);
    if (w->count)
        file_section(w, s->kind, gnomon__record_bytes(s, s->field_count),
                     w->first, w->count, &w->records, &w->tail);
    w->first += w->count;
    w->count = 0;
}

/* Adds a record to the current section. */
static void file_record(file_writer *w, const gnomon__struct *s, uint32_t size,
                        const void *of)
{
    size_t at = w->records.used;
    if (file_room(w, &w->records, size))
        file_fields(w, &w->records, at, s, of);
    w->count++;
}

/* ---- Entities ----------------------------------------------------------------- */

static void file_entities(file_writer *w, int entity, gnomon__file_range some)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    const uint32_t size = gnomon__record_bytes(s, s->field_count);
    gnomon__any any;
    if (entity == GNOMON_EVENTS) {
        file_events(w, some);
        return;
    }
    w->first = w->written[entity] + 1;
    if (w->written[entity] + some.count > UINT32_MAX)
        set_full(w);
    for (size_t i = 0; !w->code && i < some.count; i++) {
        size_t records = w->records.used, tail = w->tail.used;
        any.struct_size = s->size;
        w->p->api->get(w->p, entity, some.first + i, &any);
        file_record(w, s, size, &any);
        if (w->count == 1 ||
            w->records.used + w->tail.used <= GNOMON__SECTION_FULL)
            continue;
        w->records.used = records; /* move it to the next section */
        w->tail.used = tail;
        w->count--;
        end_section(w, s);
        if (!w->code)
            file_record(w, s, size, &any);
    }
    end_section(w, s);
    w->written[entity] += some.count;
}

/* The count of each kind, from which a reader sees that entities are missing. */
static void file_end(file_writer *w)
{
    file_buffer none = {0};
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__file_order[i];
        char *at = file_room(w, &w->records, 16);
        if (!at)
            return;
        memcpy(at, gnomon__structs[entity].kind, 4);
        gnomon__put_32(at + 4, 0);
        gnomon__put_64(at + 8, w->written[entity]);
    }
    file_section(w, "END ", 16, 1, GNOMON__ENTITIES, &w->records, &none);
}

/* ---- The file ---------------------------------------------------------------- */

static void start_file(file_writer *w, const gnomon_writer *out)
{
    memset(w, 0, sizeof *w);
    w->out = out;
    w->set = &w->shared;
}

void gnomon__file_start(file_writer *w, const gnomon_writer *out)
{
    char header[GNOMON__FILE_HEADER];
    start_file(w, out);
    memcpy(header, GNOMON__FILE_MAGIC, 8);
    gnomon__put_32(header + 8, GNOMON__FILE_VERSION);
    gnomon__put_32(header + 12, gnomon__crc32(0, header, 12));
    put_bytes_in_file(w, header, sizeof header);
}

void gnomon__file_shared(file_writer *w, const gnomon_profile *p)
{
    w->p = p;
    for (int i = 0; !w->code && i < GNOMON__SHARED; i++) {
        int entity = gnomon__file_order[i];
        gnomon__file_range all = {1, gnomon_profile_count(p, entity)};
        file_entities(w, entity, all);
    }
}

void gnomon__file_runs(file_writer *w, const gnomon_profile *p,
                       const gnomon__file_range *ranges)
{
    gnomon__file_range all[GNOMON__ENTITIES];
    w->p = p;
    w->set = &w->own;
    gnomon__text_table_free(&w->own);
    for (int k = 0; !ranges && k < GNOMON__ENTITIES; k++)
        all[k] = (gnomon__file_range){1, gnomon_profile_count(p, k)};
    ranges = ranges ? ranges : all;
    for (int i = GNOMON__SHARED; i < GNOMON__ENTITIES; i++) {
        int k = gnomon__file_order[i];
        w->shift[k] = (uint32_t)(w->written[k] - (ranges[k].first - 1));
    }
    for (int i = GNOMON__SHARED; !w->code && i < GNOMON__ENTITIES; i++)
        file_entities(w, gnomon__file_order[i], ranges[gnomon__file_order[i]]);
}

int gnomon__file_add_part(const gnomon_profile *p, const gnomon_writer *out,
                          gnomon__file_counts *so_far)
{
    file_writer w;
    if (so_far->is_begun)
        start_file(&w, out);
    else
        gnomon__file_start(&w, out);
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        w.written[k] = so_far->written[k];
        w.shift[k] = (uint32_t)so_far->written[k];
    }
    w.texts_written = so_far->texts;
    gnomon__file_shared(&w, p);
    gnomon__file_runs(&w, p, NULL);
    int code = gnomon__file_finish(&w);
    so_far->is_begun = 1;
    so_far->texts = w.texts_written;
    memcpy(so_far->written, w.written, sizeof w.written);
    return code;
}

int gnomon__file_finish(file_writer *w)
{
    if (!w->code)
        file_end(w);
    gnomon__free(w->records.bytes);
    gnomon__free(w->tail.bytes);
    gnomon__free(w->texts.bytes);
    gnomon__free(w->block.bytes);
    gnomon__text_table_free(&w->shared);
    gnomon__text_table_free(&w->own);
    return w->code;
}

/* ---- A .gnomon file ----------------------------------------------------------- */

/* Entities of no run sort last. */
static size_t run_or_last(const gnomon_profile *p, int entity, size_t i)
{
    size_t run = gnomon__run_of(p, entity, i);
    return run ? run : gnomon_profile_count(p, GNOMON_RUNS) + 1;
}

static int is_sorted_by_run(const gnomon_profile *p)
{
    for (int i = GNOMON__SHARED; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__file_order[i];
        size_t last = 0;
        for (size_t k = 1; k <= gnomon_profile_count(p, entity); k++) {
            size_t run_number = run_or_last(p, entity, k);
            if (run_number < last)
                return 0;
            last = run_number;
        }
    }
    return 1;
}

/* Run after run, if the entities are sorted by run, as those of merged profiles are;
 * else as one part. */
static int write_file(const gnomon_profile *p, const gnomon_writer *out)
{
    file_writer w;
    gnomon__file_range ranges[GNOMON__ENTITIES];
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    gnomon__file_start(&w, out);
    gnomon__file_shared(&w, p);
    if (runs < 2 || !is_sorted_by_run(p)) {
        gnomon__file_runs(&w, p, NULL);
        return gnomon__file_finish(&w);
    }
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        ranges[k] = (gnomon__file_range){1, 0};
    for (size_t run = 1; run <= runs + 1; run++) {
        for (int i = GNOMON__SHARED; i < GNOMON__ENTITIES; i++) {
            int entity = gnomon__file_order[i];
            gnomon__file_range *r = &ranges[entity];
            size_t end = r->first += r->count;
            while (end <= gnomon_profile_count(p, entity) &&
                   run_or_last(p, entity, end) == run)
                end++;
            r->count = end - r->first;
        }
        gnomon__file_runs(&w, p, ranges);
    }
    return gnomon__file_finish(&w);
}

/* ---- In either form ------------------------------------------------------------ */

static int write_as(int form, const gnomon_profile *p, const gnomon_writer *out)
{
    switch (form) {
    case GNOMON__FORM_FILE:
        return write_file(p, out);
    case GNOMON__FORM_JSON:
        return gnomon__write_json(p, out);
    }
    return gnomon__fail(GNOMON_EINVAL, "no such form: %d", form);
}

/* The writer, the caller's, is called while memory of ours is held. */
int gnomon__profile_write(const gnomon_profile *p, int form,
                          const gnomon_writer *out)
{
    gnomon__fail_clear();
    if (!p || !out || !out->write)
        return gnomon__fail(GNOMON_EINVAL, "no profile, or no writer");
    int cancel = gnomon__os_cancel_off();
    int code = write_as(form, p, out);
    gnomon__os_cancel_back(cancel);
    return code;
}
