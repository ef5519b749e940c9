/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What PyProf's parser makes of the markers around a launch, in its order. */
#include "nsys/record.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory -------------------------------------------------------------------------- */

#define CHUNK ((size_t)16384)

struct gnomon__nsys_record_chunk {
    struct gnomon__nsys_record_chunk *next;
    size_t size;
    _Alignas(16) char bytes[];
};

static void *room_get(gnomon__nsys_record_room *r, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    while (!r->at || size > r->at->size - r->used) {
        struct gnomon__nsys_record_chunk *next = r->at ? r->at->next : r->first;
        if (!next || next->size < size) {
            const size_t room = size > CHUNK ? size : CHUNK;
            struct gnomon__nsys_record_chunk *c = malloc(sizeof *c + room);
            if (!c)
                return NULL;
            *c = (struct gnomon__nsys_record_chunk){next, room};
            *(r->at ? &r->at->next : &r->first) = c;
            next = c;
        }
        r->at = next;
        r->used = 0;
    }
    r->used += size;
    return r->at->bytes + r->used - size;
}

const char *gnomon__nsys_record_text(gnomon__nsys_record *r, const char *text,
                                     size_t length)
{
    char *copy = room_get(&r->own, length + 1);
    if (!copy) {
        r->has_no_memory = true;
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static void add_text(gnomon__nsys_record *r, gnomon__texts *to,
                     const char *text, size_t length)
{
    if (to->count == to->room) {
        const size_t room = to->room ? to->room * 2 : 8;
        const char **at = room_get(&r->own, room * sizeof *at);
        if (!at) {
            r->has_no_memory = true;
            return;
        }
        if (to->count)
            memcpy(at, to->at, to->count * sizeof *at);
        to->at = at;
        to->room = room;
    }
    const char *copy = gnomon__nsys_record_text(r, text, length);
    if (copy)
        to->at[to->count++] = copy;
}

void gnomon__nsys_record_list(gnomon__nsys_record *r, gnomon__texts *to,
                              const char *text)
{
    add_text(r, to, text, strlen(text));
}

void gnomon__nsys_record_begin(gnomon__nsys_record *r)
{
    *r = (gnomon__nsys_record){.own = {.first = r->own.first}};
}

void gnomon__nsys_record_free(gnomon__nsys_record *r)
{
    while (r->own.first) {
        struct gnomon__nsys_record_chunk *next = r->own.first->next;
        free(r->own.first);
        r->own.first = next;
    }
    *r = (gnomon__nsys_record){0};
}

/* ---- Ranges ---------------------------------------------------------------------------- */

/* Of a frame that no user wrote. */
static bool is_inner_frame(const char *frame)
{
    static const char *const inner[] = {"torch/nn/modules",
                                        "torch/nn/functional.py",
                                        "torch/tensor.py",
                                        "torch/autograd/__init__.py",
                                        "torch/_jit_internal.py",
                                        "pyprof/nvtx/nvmarker.py",
                                        "apex/optimizers",
                                        "torch/_utils.py",
                                        "torch/optim"};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
        if (strstr(frame, inner[i]))
            return true;
    return false;
}

static void add_trace(gnomon__nsys_record *r, const gnomon__literal *value)
{
    const gnomon__literal *frames = gnomon__literal_get(value, "traceMarker");
    const char *layer =
        gnomon__literal_text(gnomon__literal_get(value, "funcStack"));
    if (layer)
        gnomon__nsys_record_list(r, &r->layers, layer);
    if (!gnomon__literal_is_list(frames))
        return;
    r->trace.count = 0; /* the innermost call's stays */
    const gnomon__literal *frame = frames + 1;
    for (uint32_t i = 0; i < frames->count;
         i++, frame = gnomon__literal_next(frame))
        if (frame->kind == GNOMON__LITERAL_TEXT &&
            !is_inner_frame(frame->of.text))
            gnomon__nsys_record_list(r, &r->trace, frame->of.text);
}

static void add_args(gnomon__nsys_record *r, const gnomon__marker *m)
{
    const char *mod =
        gnomon__literal_text(gnomon__literal_get(m->value, "mod"));
    const char *op = gnomon__literal_text(gnomon__literal_get(m->value, "op"));
    add_text(r, &r->markers, m->text, m->length);
    gnomon__nsys_record_list(r, &r->mods, mod ? mod : "na");
    gnomon__nsys_record_list(r, &r->ops, op ? op : "na");
}

void gnomon__nsys_record_add(gnomon__nsys_record *r, const gnomon__marker *m)
{
    const char *layer;
    r->is_in_range = true;
    switch (m->kind) {
    case GNOMON__MARKER_IGNORED:
        break;
    case GNOMON__MARKER_SEQ:
        add_text(r, &r->seq_markers, m->text, m->length);
        r->is_backward |= m->is_backward;
        r->inner = gnomon__nsys_record_text(r, m->text, m->length);
        r->sizes = NULL;
        if (m->sizes)
            r->sizes = gnomon__nsys_record_text(r, m->sizes, strlen(m->sizes));
        break;
    case GNOMON__MARKER_ARGS:
        add_args(r, m);
        break;
    case GNOMON__MARKER_LAYER:
        layer = strchr(m->text, ':') + 1;
        gnomon__nsys_record_list(r, &r->layers, layer);
        break;
    case GNOMON__MARKER_TRACE:
        add_trace(r, m->value);
        break;
    case GNOMON__MARKER_REPR:
        add_text(r, &r->reprs, m->text, m->length);
        break;
    default:
        add_text(r, &r->others, m->text, m->length);
    }
}

/* ---- What they mean together -------------------------------------------------------------- */

static uint64_t seq_of(const char *marker, bool *has)
{
    const char *at = strstr(marker, "seq = ");
    *has = at && at[6] >= '0' && at[6] <= '9';
    return *has ? strtoull(at + 6, NULL, 10) : 0;
}

static int by_seq(const void *left, const void *right)
{
    const char *a = *(const char *const *)left,
               *b = *(const char *const *)right;
    const char *x = strstr(a, ", seq ="), *y = strstr(b, ", seq =");
    const int order = strcmp(x ? x : "", y ? y : "");
    return order ? order : strcmp(a, b);
}

/* Whether the texts are of one number, and the name of one is in the other's. */
static bool says_the_same(const char *a, const char *b)
{
    const size_t n = strcspn(a, ","), m = strcspn(b, ",");
    if (strcmp(a + n, b + m))
        return false;
    const char *longer = n < m ? b : a, *shorter = n < m ? a : b;
    const size_t least = n < m ? n : m, most = n < m ? m : n;
    for (size_t i = 0; i + least <= most; i++)
        if (!memcmp(longer + i, shorter, least))
            return true;
    return false;
}

/* Ordered by number and name, of those that say the same one. */
static void settle_seq_markers(gnomon__nsys_record *r)
{
    gnomon__texts *t = &r->seq_markers;
    size_t kept = 0;
    if (t->count > 1)
        qsort(t->at, t->count, sizeof *t->at, by_seq);
    for (size_t i = 0; i < t->count; i++) {
        if (i + 1 < t->count && says_the_same(t->at[i], t->at[i + 1]))
            continue;
        t->at[kept++] = t->at[i];
    }
    t->count = kept;
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = strtoull(*(const char *const *)left, NULL, 10),
                   b = strtoull(*(const char *const *)right, NULL, 10);
    return (a > b) - (a < b);
}

static void settle_seqs(gnomon__nsys_record *r)
{
    gnomon__texts *t = &r->seqs;
    size_t kept = 0;
    for (size_t i = 0; i < r->seq_markers.count; i++) {
        char text[24];
        bool has;
        const uint64_t seq = seq_of(r->seq_markers.at[i], &has);
        snprintf(text, sizeof text, "%" PRIu64, seq);
        if (has)
            gnomon__nsys_record_list(r, t, text);
    }
    if (t->count > 1)
        qsort(t->at, t->count, sizeof *t->at, by_number);
    for (size_t i = 0; i < t->count; i++)
        if (!kept || strcmp(t->at[kept - 1], t->at[i]))
            t->at[kept++] = t->at[i];
    t->count = kept;
    if (kept > 1 &&
        !strcmp(t->at[0], "0")) { /* nothing is recorded for gradients */
        t->at++;
        t->count--;
        t->room--;
    }
}

/* The name of torch's operation in a marker, that of a backward pass as the forward one's. */
static void add_torch_name(gnomon__nsys_record *r, const char *text)
{
    char name[512];
    gnomon__marker m = {0};
    if (!gnomon__marker_set(&m, text, strlen(text)))
        r->has_no_memory = true;
    else if (m.is_backward)
        gnomon__marker_forward_name(text, m.name_length, name, sizeof name);
    else
        snprintf(name, sizeof name, "%.*s", (int)m.name_length, text);
    gnomon__marker_free(&m);
    if (r->has_no_memory)
        return;
    gnomon__nsys_record_list(r, &r->ops, name);
    gnomon__nsys_record_list(r, &r->mods, "na");
}

/* Without PyProf's markers an operation is torch's, the innermost one first; or what else
 * the program said. */
static void name_operation(gnomon__nsys_record *r)
{
    if (r->ops.count)
        return;
    if (r->inner)
        add_torch_name(r, r->inner);
    for (size_t i = 0; i < r->seq_markers.count; i++)
        if (!r->inner || strcmp(r->seq_markers.at[i], r->inner))
            add_torch_name(r, r->seq_markers.at[i]);
    if (!r->ops.count && r->others.count)
        gnomon__nsys_record_list(r, &r->ops, r->others.at[r->others.count - 1]);
    if (!r->mods.count)
        gnomon__nsys_record_list(r, &r->mods, "na");
}

/* A backward pass has its own number first; a forward pass the first one that is new, else
 * that of the kernel before it. */
static void choose_seq(gnomon__nsys_record *r,
                       const gnomon__nsys_record_before *before)
{
    char text[24];
    gnomon__texts *t = &r->seqs;
    uint64_t own = strtoull(t->at[0], NULL, 10);
    if (!r->is_backward && before->has_seq) {
        size_t i = 0;
        while (i < t->count && strtoull(t->at[i], NULL, 10) <= before->seq)
            i++;
        own = i < t->count ? strtoull(t->at[i], NULL, 10) : before->seq;
    }
    snprintf(text, sizeof text, "%" PRIu64, own);
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->at[i], text))
            gnomon__nsys_record_list(r, &r->other_seqs, t->at[i]);
    t->count = 0;
    gnomon__nsys_record_list(r, t, text);
}

void gnomon__nsys_record_end(gnomon__nsys_record *r,
                             gnomon__nsys_record_before *before)
{
    settle_seq_markers(r);
    settle_seqs(r);
    name_operation(r);
    if (!r->seqs.count)
        return;
    choose_seq(r, before);
    const uint64_t seq = strtoull(r->seqs.at[0], NULL, 10);
    const char *op = r->ops.count ? r->ops.at[0] : "";
    if (before->has_seq && before->seq == seq && !strcmp(before->op, op))
        r->sub = before->sub + 1;
    before->has_seq = true;
    before->seq = seq;
    before->sub = r->sub;
    snprintf(before->op, sizeof before->op, "%s", op);
}

void gnomon__nsys_record_name(gnomon__nsys_record *r, const char *long_name)
{
    static const char *const left_out[] = {
        "void ",    "at::",        "cuda::",
        "native::", "<unnamed>::", "(anonymous namespace)::"};
    char name[256];
    size_t n = 0;
    r->long_name = gnomon__nsys_record_text(r, long_name, strlen(long_name));
    for (const char *at = long_name; *at && n + 1 < sizeof name;) {
        size_t skipped = 0;
        for (size_t i = 0; !skipped && i < sizeof left_out / sizeof *left_out;
             i++)
            if (!strncmp(at, left_out[i], strlen(left_out[i])))
                skipped = strlen(left_out[i]);
        if (!skipped && (*at == '<' || *at == '('))
            break;
        if (skipped)
            at += skipped;
        else
            name[n++] = *at++;
    }
    r->name = gnomon__nsys_record_text(r, n ? name : long_name,
                                       n ? n : strlen(long_name));
}

/* ---- Lines ---------------------------------------------------------------------------- */

/* As Python's repr. */
static void print_text(const char *text, FILE *to)
{
    const char quote = strchr(text, '\'') && !strchr(text, '"') ? '"' : '\'';
    fputc(quote, to);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '\\' || c == (unsigned char)quote)
            fprintf(to, "\\%c", c);
        else if (c == '\n' || c == '\t' || c == '\r')
            fprintf(to, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < 0x20 || c == 0x7f)
            fprintf(to, "\\x%02x", c);
        else
            fputc(c, to);
    }
    fputc(quote, to);
}

/* The lists of a record, in the order of the line. */
static const struct {
    const char *key;
    size_t at;
    bool has_numbers;
} record_lists[] = {
    {"layer", offsetof(gnomon__nsys_record, layers), false},
    {"trace", offsetof(gnomon__nsys_record, trace), false},
    {"reprMarkers", offsetof(gnomon__nsys_record, reprs), false},
    {"marker", offsetof(gnomon__nsys_record, markers), false},
    {"seqMarker", offsetof(gnomon__nsys_record, seq_markers), false},
    {"seqId", offsetof(gnomon__nsys_record, seqs), true},
    {"altSeqId", offsetof(gnomon__nsys_record, other_seqs), true},
    {"mod", offsetof(gnomon__nsys_record, mods), false},
    {"op", offsetof(gnomon__nsys_record, ops), false}};

static void print_list(const gnomon__nsys_record *r, const char *key, FILE *to)
{
    size_t k = 0;
    while (strcmp(record_lists[k].key, key))
        k++;
    const gnomon__texts *t =
        (const void *)((const char *)r + record_lists[k].at);
    fprintf(to, "'%s': [", key);
    for (size_t i = 0; i < t->count; i++) {
        fputs(i ? ", " : "", to);
        if (record_lists[k].has_numbers)
            fputs(t->at[i], to);
        else
            print_text(t->at[i], to);
    }
    fputs("], ", to);
}

void gnomon__nsys_record_print(const gnomon__nsys_record *r, FILE *to)
{
    static const char *const before_sub[] = {
        "layer", "trace", "reprMarkers", "marker", "seqMarker", "seqId"};
    fputs("{'kShortName': ", to);
    print_text(r->name, to);
    fprintf(to, ", 'kDuration': %" PRId64 ", ", r->ns);
    for (size_t i = 0; i < sizeof before_sub / sizeof *before_sub; i++)
        print_list(r, before_sub[i], to);
    fprintf(to, "'subSeqId': %" PRIu32 ", ", r->sub);
    print_list(r, "altSeqId", to);
    fprintf(to, "'dir': '%s', ", r->is_backward ? "bprop" : "fprop");
    print_list(r, "mod", to);
    print_list(r, "op", to);
    fprintf(to,
            "'tid': %" PRId64 ", 'device': %" PRId64 ", 'stream': %" PRId64
            ", 'grid': (%" PRId64 ", %" PRId64 ", %" PRId64
            "), 'block': (%" PRId64 ", %" PRId64 ", %" PRId64
            "), 'kLongName': ",
            r->thread, r->device, r->stream, r->grid[0], r->grid[1], r->grid[2],
            r->block[0], r->block[1], r->block[2]);
    print_text(r->long_name, to);
    fputs("}\n", to);
}

static int64_t number_of(const gnomon__literal *l)
{
    if (!l ||
        (l->kind != GNOMON__LITERAL_INTEGER && l->kind != GNOMON__LITERAL_REAL))
        return 0;
    if (l->kind == GNOMON__LITERAL_INTEGER)
        return l->of.integer;
    return l->of.real > -9e18 && l->of.real < 9e18 ? (int64_t)l->of.real : 0;
}

static void read_list(gnomon__nsys_record *r, const gnomon__literal *list,
                      gnomon__texts *to)
{
    char number[24];
    if (!gnomon__literal_is_list(list))
        return;
    const gnomon__literal *part = list + 1;
    for (uint32_t i = 0; i < list->count;
         i++, part = gnomon__literal_next(part)) {
        snprintf(number, sizeof number, "%" PRId64, number_of(part));
        const char *text = gnomon__literal_text(part);
        gnomon__nsys_record_list(r, to, text ? text : number);
    }
}

static void read_sizes(const gnomon__literal *line, const char *key,
                       int64_t out[3])
{
    const gnomon__literal *of = gnomon__literal_get(line, key);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = gnomon__literal_is_list(of) && i < of->count
                     ? number_of(gnomon__literal_part(of, i))
                     : 0;
}

bool gnomon__nsys_record_read(gnomon__nsys_record *r,
                              const gnomon__literal *line)
{
    const char *name =
        gnomon__literal_text(gnomon__literal_get(line, "kShortName"));
    const char *full =
        gnomon__literal_text(gnomon__literal_get(line, "kLongName"));
    const char *dir = gnomon__literal_text(gnomon__literal_get(line, "dir"));
    if (!name && !full)
        return false;
    gnomon__nsys_record_begin(r);
    gnomon__nsys_record_name(r, full ? full : name);
    if (name && *name)
        r->name = gnomon__nsys_record_text(r, name, strlen(name));
    for (size_t i = 0; i < sizeof record_lists / sizeof *record_lists; i++)
        read_list(r, gnomon__literal_get(line, record_lists[i].key),
                  (gnomon__texts *)(void *)((char *)r + record_lists[i].at));
    r->ns = number_of(gnomon__literal_get(line, "kDuration"));
    r->sub = (uint32_t)number_of(gnomon__literal_get(line, "subSeqId"));
    r->thread = number_of(gnomon__literal_get(line, "tid"));
    r->device = number_of(gnomon__literal_get(line, "device"));
    r->stream = number_of(gnomon__literal_get(line, "stream"));
    read_sizes(line, "grid", r->grid);
    read_sizes(line, "block", r->block);
    r->is_backward = dir && !strcmp(dir, "bprop");
    r->has_call = true;
    r->is_in_range = r->markers.count + r->seq_markers.count + r->ops.count > 0;
    return !r->has_no_memory;
}
