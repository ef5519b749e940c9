/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What PyProf's parser makes of the markers around a launch, in its order. */
#include "nsys/record.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/utf8.h"
#include "print/order.h"

/* ---- Lists ----------------------------------------------------------------------------- */

void gnomon__nsys_record_list(gnomon__nsys_record *r, gnomon__texts *to,
                              const char *text)
{
    r->has_no_memory |= !GNOMON__PUSH(to->at, to->room, to->count, text);
}

static void add_seq(gnomon__nsys_record *r, gnomon__seqs *to, uint64_t seq)
{
    r->has_no_memory |= !GNOMON__PUSH(to->at, to->room, to->count, seq);
}

/* The lists of a record, in the order of the line; of numbers the last two. */
static const struct {
    const char *key;
    size_t at;
} record_lists[] = {{"layer", offsetof(gnomon__nsys_record, layers)},
                    {"trace", offsetof(gnomon__nsys_record, trace)},
                    {"reprMarkers", offsetof(gnomon__nsys_record, reprs)},
                    {"marker", offsetof(gnomon__nsys_record, markers)},
                    {"seqMarker", offsetof(gnomon__nsys_record, seq_markers)},
                    {"mod", offsetof(gnomon__nsys_record, mods)},
                    {"op", offsetof(gnomon__nsys_record, ops)},
                    {NULL, offsetof(gnomon__nsys_record, others)},
                    {NULL, offsetof(gnomon__nsys_record, path)}};
#define TEXT_LISTS (sizeof record_lists / sizeof *record_lists)

static gnomon__texts *list_at(gnomon__nsys_record *r, size_t i)
{
    return (gnomon__texts *)(void *)((char *)r + record_lists[i].at);
}

void gnomon__nsys_record_begin(gnomon__nsys_record *r)
{
    const gnomon__nsys_record old = *r;
    *r = (gnomon__nsys_record){
        .names = old.names,
        .name_room = old.name_room,
        .seqs = {old.seqs.at, 0, old.seqs.room},
        .other_seqs = {old.other_seqs.at, 0, old.other_seqs.room}};
    for (size_t i = 0; i < TEXT_LISTS; i++) {
        const gnomon__texts *was =
            (const void *)((const char *)&old + record_lists[i].at);
        *list_at(r, i) = (gnomon__texts){was->at, 0, was->room};
    }
}

void gnomon__nsys_record_free(gnomon__nsys_record *r)
{
    for (size_t i = 0; i < TEXT_LISTS; i++)
        free((void *)list_at(r, i)->at);
    free(r->seqs.at);
    free(r->other_seqs.at);
    gnomon__free(r->names);
    *r = (gnomon__nsys_record){0};
}

/* ---- Ranges ---------------------------------------------------------------------------- */

/* Of a frame that no user wrote. */
static bool is_inner_frame(const char *frame)
{
    return gnomon__has_any(frame, "torch/nn/modules\0"
                                  "torch/nn/functional.py\0"
                                  "torch/tensor.py\0"
                                  "torch/autograd/__init__.py\0"
                                  "torch/_jit_internal.py\0"
                                  "pyprof/nvtx/nvmarker.py\0"
                                  "apex/optimizers\0torch/_utils.py\0"
                                  "torch/optim\0");
}

static void add_trace(gnomon__nsys_record *r, const gnomon__literal *value)
{
    const gnomon__literal *frames = gnomon__literal_get(value, "traceMarker");
    const char *layer = gnomon__literal_text_of(value, "funcStack");
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
    const char *mod = gnomon__literal_text_of(m->value, "mod");
    const char *op = gnomon__literal_text_of(m->value, "op");
    gnomon__nsys_record_list(r, &r->markers, m->text);
    gnomon__nsys_record_list(r, &r->mods, mod ? mod : "na");
    gnomon__nsys_record_list(r, &r->ops, op ? op : "na");
}

void gnomon__nsys_record_add(gnomon__nsys_record *r, const gnomon__marker *m)
{
    const gnomon__texts *path = &r->path;
    r->is_in_range = true;
    r->is_backward |= m->is_backward;
    if (m->name &&
        (!path->count || strcmp(path->at[path->count - 1], m->name) != 0))
        gnomon__nsys_record_list(r, &r->path, m->name);
    switch (m->kind) {
    case GNOMON__MARKER_IGNORED:
        r->is_recomputed = true;
        break;
    case GNOMON__MARKER_SEQ:
        gnomon__nsys_record_list(r, &r->seq_markers, m->text);
        r->inner = m->text;
        r->sizes = m->sizes;
        break;
    case GNOMON__MARKER_ARGS:
        add_args(r, m);
        break;
    case GNOMON__MARKER_LAYER:
        gnomon__nsys_record_list(r, &r->layers, strchr(m->text, ':') + 1);
        break;
    case GNOMON__MARKER_TRACE:
        add_trace(r, m->value);
        break;
    case GNOMON__MARKER_REPR:
        gnomon__nsys_record_list(r, &r->reprs, m->text);
        break;
    default:
        gnomon__nsys_record_list(r, &r->others, m->text);
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
    if (strcmp(a + n, b + m) != 0)
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
    GNOMON__SORT(t->at, t->count, by_seq);
    for (size_t i = 0; i < t->count; i++) {
        if (i + 1 < t->count && says_the_same(t->at[i], t->at[i + 1]))
            continue;
        t->at[kept++] = t->at[i];
    }
    t->count = kept;
}

GNOMON__ORDER(by_number, uint64_t, ITSELF)

/* Each once, and 0 only alone: nothing is recorded for gradients there. */
static void settle_seqs(gnomon__nsys_record *r)
{
    gnomon__seqs *t = &r->seqs;
    size_t kept = 0, i = 0;
    for (; i < r->seq_markers.count; i++) {
        bool has;
        const uint64_t seq = seq_of(r->seq_markers.at[i], &has);
        if (has)
            add_seq(r, t, seq);
    }
    GNOMON__SORT(t->at, t->count, by_number);
    for (i = 0; i + 1 < t->count && !t->at[i];)
        i++;
    for (; i < t->count; i++)
        if (!kept || t->at[kept - 1] != t->at[i])
            t->at[kept++] = t->at[i];
    t->count = kept;
}

/* Without PyProf's markers an operation is torch's, the innermost one first; or what else
 * the program said. */
static void name_operation(gnomon__nsys_record *r)
{
    if (r->ops.count)
        return;
    if (r->inner)
        gnomon__nsys_record_list(r, &r->ops, gnomon__marker_op(r->inner));
    for (size_t i = 0; i < r->seq_markers.count; i++)
        if (!r->inner || strcmp(r->seq_markers.at[i], r->inner) != 0)
            gnomon__nsys_record_list(r, &r->ops,
                                     gnomon__marker_op(r->seq_markers.at[i]));
    if (!r->ops.count && r->others.count)
        gnomon__nsys_record_list(r, &r->ops, r->others.at[r->others.count - 1]);
    do
        gnomon__nsys_record_list(r, &r->mods, "na");
    while (r->mods.count < r->ops.count && !r->has_no_memory);
}

/* A backward pass has its own number first; a forward pass the first one that is new, else
 * that of the kernel before it. */
static void choose_seq(gnomon__nsys_record *r,
                       const gnomon__nsys_record_before *before)
{
    gnomon__seqs *t = &r->seqs;
    uint64_t own = t->at[0];
    if (!r->is_backward && before->has_seq) {
        size_t i = 0;
        while (i < t->count && t->at[i] <= before->seq)
            i++;
        own = i < t->count ? t->at[i] : before->seq;
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i] != own)
            add_seq(r, &r->other_seqs, t->at[i]);
    t->at[0] = own;
    t->count = 1;
}

void gnomon__nsys_record_end(gnomon__nsys_record *r,
                             gnomon__nsys_record_before *before)
{
    r->is_recomputed &= !r->is_backward;
    settle_seq_markers(r);
    settle_seqs(r);
    name_operation(r);
    if (!r->seqs.count)
        return;
    choose_seq(r, before);
    const uint64_t seq = r->seqs.at[0];
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
    const size_t length = strlen(long_name), most = 3 * length;
    size_t n = 0;
    if (!gnomon__grow(&r->names, &r->name_room, 2 * most + 2, 1)) {
        r->has_no_memory = true;
        return;
    }
    char *name = r->names + most + 1;
    gnomon__utf8_clean(long_name, length, r->names, most + 1, NULL);
    r->long_name = r->names;
    for (const char *at = r->long_name; *at;) {
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
    name[n] = 0;
    r->name = n ? name : r->long_name;
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

static void print_list(const gnomon__nsys_record *r, size_t list, FILE *to)
{
    const gnomon__texts *t =
        (const void *)((const char *)r + record_lists[list].at);
    fprintf(to, "'%s': [", record_lists[list].key);
    for (size_t i = 0; i < t->count; i++) {
        fputs(i ? ", " : "", to);
        print_text(t->at[i], to);
    }
    fputs("], ", to);
}

static void print_seqs(const char *key, const gnomon__seqs *seqs, FILE *to)
{
    fprintf(to, "'%s': [", key);
    for (size_t i = 0; i < seqs->count; i++)
        fprintf(to, "%s%" PRIu64, i ? ", " : "", seqs->at[i]);
    fputs("], ", to);
}

void gnomon__nsys_record_print(const gnomon__nsys_record *r, FILE *to)
{
    fputs("{'kShortName': ", to);
    print_text(r->name, to);
    fprintf(to, ", 'kDuration': %" PRId64 ", ", r->ns);
    for (size_t i = 0; i < 5; i++)
        print_list(r, i, to);
    print_seqs("seqId", &r->seqs, to);
    fprintf(to, "'subSeqId': %" PRIu32 ", ", r->sub);
    print_seqs("altSeqId", &r->other_seqs, to);
    fprintf(to, "'dir': '%s', ", r->is_backward ? "bprop" : "fprop");
    print_list(r, 5, to);
    print_list(r, 6, to);
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

/* What is no text in a list of texts is left out. */
static void read_list(gnomon__nsys_record *r, const gnomon__literal *list,
                      gnomon__texts *to)
{
    const gnomon__literal *part = list + 1;
    for (uint32_t i = 0; gnomon__literal_is_list(list) && i < list->count;
         i++, part = gnomon__literal_next(part))
        if (gnomon__literal_text(part))
            gnomon__nsys_record_list(r, to, part->of.text);
}

static void read_seqs(gnomon__nsys_record *r, const gnomon__literal *list,
                      gnomon__seqs *to)
{
    const gnomon__literal *part = list + 1;
    for (uint32_t i = 0; gnomon__literal_is_list(list) && i < list->count;
         i++, part = gnomon__literal_next(part))
        add_seq(r, to, (uint64_t)number_of(part));
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

/* In a line the innermost operation's marker is known by its name. */
static const char *sizes_of(const gnomon__nsys_record *r)
{
    static const char key[] = ", sizes = ";
    const char *op = r->ops.count && !r->markers.count ? r->ops.at[0] : "";
    const size_t n = strlen(op);
    for (size_t i = 0; n && i < r->seq_markers.count; i++) {
        const char *text = r->seq_markers.at[i], *sizes = strstr(text, key);
        if (sizes && !strncmp(text, op, n) && text[n] == ',')
            return sizes + sizeof key - 1;
    }
    return NULL;
}

bool gnomon__nsys_record_read(gnomon__nsys_record *r,
                              const gnomon__literal *line)
{
    const char *name = gnomon__literal_text_of(line, "kShortName");
    const char *full = gnomon__literal_text_of(line, "kLongName");
    const char *dir = gnomon__literal_text_of(line, "dir");
    if (!name && !full)
        return false;
    gnomon__nsys_record_begin(r);
    gnomon__nsys_record_name(r, full ? full : name ? name : "");
    if (name && *name)
        r->name = name;
    for (size_t i = 0; record_lists[i].key; i++)
        read_list(r, gnomon__literal_get(line, record_lists[i].key),
                  list_at(r, i));
    read_seqs(r, gnomon__literal_get(line, "seqId"), &r->seqs);
    read_seqs(r, gnomon__literal_get(line, "altSeqId"), &r->other_seqs);
    r->ns = number_of(gnomon__literal_get(line, "kDuration"));
    r->sub = (uint32_t)number_of(gnomon__literal_get(line, "subSeqId"));
    r->thread = number_of(gnomon__literal_get(line, "tid"));
    r->device = number_of(gnomon__literal_get(line, "device"));
    r->stream = number_of(gnomon__literal_get(line, "stream"));
    read_sizes(line, "grid", r->grid);
    read_sizes(line, "block", r->block);
    r->is_backward = dir && !strcmp(dir, "bprop");
    r->sizes = sizes_of(r);
    r->has_call = true;
    r->is_in_range = r->markers.count + r->seq_markers.count + r->ops.count > 0;
    return !r->has_no_memory;
}
