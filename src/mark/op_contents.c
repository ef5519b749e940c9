/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* What a program says of an operation: read with the sizes of its own structs, hashed and
 * compared. */
#include "mark/op.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "platform/hash.h"

/* ---- Structs of any size ------------------------------------------------------- */

/* The parts without which there is nothing to read. */
#define LEAST_OP (offsetof(gnomon_op_info, operation) + sizeof(void *))
#define LEAST_PART offsetof(gnomon_tensor, dtype)
_Static_assert(LEAST_PART == offsetof(gnomon_attribute, key), "both lists");

#define KNOWN_FLAGS \
    ((uint32_t)(GNOMON_OP_BACKWARD | GNOMON_OP_FLOPS_GIVEN | \
                GNOMON_OP_BYTES_GIVEN))

/* `size` is a constant, so that the usual case is a few moves. */
static inline __attribute__((always_inline)) void
read_sized(void *to, size_t size, const void *from, uint32_t has)
{
    if (likely(has >= size)) {
        memcpy(to, from, size);
    } else {
        memset(to, 0, size);
        memcpy(to, from, has);
    }
}

/* The distance of a list's items; 0: it cannot be read. */
static uint32_t distance_of(const void *first)
{
    uint32_t bytes;
    memcpy(&bytes, first, sizeof bytes);
    return bytes >= LEAST_PART && bytes % alignof(gnomon_tensor) == 0 ? bytes
                                                                      : 0;
}

/* 0: too many. A list that cannot be read is left out. */
static int view_list(const void *first, size_t *count, uint32_t *bytes,
                     uint32_t *is_bad)
{
    if (!*count)
        return 1;
    *bytes = first ? distance_of(first) : 0;
    if (*bytes)
        return *count <= GNOMON__MAX_OP_PARTS;
    *is_bad = 1;
    *count = 0;
    return 1;
}

int gnomon__op_view_of(gnomon__op_view *out, const gnomon_op_info *op)
{
    if (!op || op->struct_size < LEAST_OP)
        return 0;
    *out = (gnomon__op_view){0};
    read_sized(&out->info, sizeof out->info, op, op->struct_size & ~7u);
    out->info.flags &= KNOWN_FLAGS;
    return view_list(out->info.inputs, &out->info.input_count,
                     &out->input_bytes, &out->is_bad) &&
           view_list(out->info.attributes, &out->info.attribute_count,
                     &out->attribute_bytes, &out->is_bad);
}

int gnomon__op_input(gnomon_tensor *out, const gnomon__op_view *of, size_t i)
{
    read_sized(out, sizeof *out,
               (const char *)of->info.inputs + i * of->input_bytes,
               of->input_bytes);
    int can_be = out->rank <= GNOMON__MAX_OP_RANK && (out->dims || !out->rank);
    if (!can_be || !out->rank) {
        out->rank = 0;
        out->dims = out->strides = NULL;
    }
    return can_be;
}

void gnomon__op_attribute(gnomon_attribute *out, const gnomon__op_view *of,
                          size_t i)
{
    read_sized(out, sizeof *out,
               (const char *)of->info.attributes + i * of->attribute_bytes,
               of->attribute_bytes);
}

/* ---- Hash and comparison --------------------------------------------------------- */

/* Numbers word by word: shapes are most of an operation. */
static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint64_t hash_numbers(uint64_t hash, const int64_t *of, uint32_t count)
{
    for (uint32_t i = 0; of && i < count; i++)
        hash = hash_number(hash, (uint64_t)of[i]);
    return hash_number(hash, of ? count : UINT64_MAX);
}

/* All of up to seven bytes, by loads that overlap. */
static uint64_t short_word(const char *text, size_t length)
{
    uint32_t first, last;
    if (length < 4)
        return (uint64_t)(unsigned char)text[0] << 16 |
               (uint64_t)(unsigned char)text[length / 2] << 8 |
               (unsigned char)text[length - 1];
    memcpy(&first, text, sizeof first);
    memcpy(&last, text + length - sizeof last, sizeof last);
    return (uint64_t)first << 32 | last;
}

/* NULL and "" are not the same, as a copy has a name for NULL. */
static uint64_t hash_words(uint64_t hash, const char *text)
{
    size_t length = text ? strlen(text) : SIZE_MAX;
    hash = hash_number(hash, length);
    if (!text || !length)
        return hash;
    for (; length >= 8; length -= 8, text += 8) {
        uint64_t word;
        memcpy(&word, text, sizeof word);
        hash = hash_number(hash, word);
    }
    return length ? hash_number(hash, short_word(text, length)) : hash;
}

uint64_t gnomon__op_hash(gnomon__op_view *of)
{
    uint64_t hash = hash_words(GNOMON__HASH_SEED, of->info.operation);
    for (size_t i = 0; i < of->info.input_count; i++) {
        gnomon_tensor t;
        of->is_bad |= (uint32_t)!gnomon__op_input(&t, of, i);
        hash = hash_words(hash, t.dtype ? t.dtype : "");
        hash = hash_numbers(hash, t.dims, t.rank);
        hash = hash_numbers(hash, t.strides, t.rank);
    }
    for (size_t i = 0; i < of->info.attribute_count; i++) {
        gnomon_attribute a;
        gnomon__op_attribute(&a, of, i);
        hash = hash_words(hash_words(hash, a.key), a.json);
    }
    hash = hash_number(hash, of->info.flags);
    return hash_number(hash_number(hash, of->info.flops), of->info.bytes);
}

static int is_same_text(const char *given, const char *kept)
{
    return given && strcmp(given, kept) == 0;
}

/* Few numbers: a call of memcmp takes longer. */
static inline int same_numbers(const int64_t *given, const int64_t *kept,
                               uint32_t count)
{
    uint32_t i = 0;
    if (!given || !kept)
        return !given && !kept;
    while (i < count && given[i] == kept[i])
        i++;
    return i == count;
}

/* Of a kept one the rank can be. `before`: the input before it, of which a type that is one text
 * there and here has been compared. */
static __attribute__((noinline)) int same_input(const gnomon_tensor *t,
                                                const gnomon_tensor *k,
                                                const gnomon_tensor *before)
{
    return t->rank == k->rank &&
           (!t->rank || (t->dims && same_numbers(t->dims, k->dims, t->rank) &&
                         same_numbers(t->strides, k->strides, t->rank))) &&
           ((before && t->dtype == before->dtype && k->dtype == k[-1].dtype) ||
            is_same_text(t->dtype ? t->dtype : "", k->dtype));
}

static int same_input_at(const gnomon__op_view *of, const gnomon_op_info *kept,
                         size_t i)
{
    gnomon_tensor t;
    return gnomon__op_input(&t, of, i) &&
           same_input(&t, &kept->inputs[i], NULL);
}

static int same_attribute(const gnomon__op_view *of, const gnomon_op_info *kept,
                          size_t i)
{
    gnomon_attribute a;
    gnomon__op_attribute(&a, of, i);
    return is_same_text(a.key, kept->attributes[i].key) &&
           is_same_text(a.json, kept->attributes[i].json);
}

int gnomon__op_is(const gnomon__op_view *of, const gnomon_op_info *kept)
{
    const gnomon_op_info *given = &of->info;
    int is = given->flags == kept->flags && given->flops == kept->flops &&
             given->bytes == kept->bytes &&
             given->input_count == kept->input_count &&
             given->attribute_count == kept->attribute_count &&
             is_same_text(given->operation, kept->operation);
    for (size_t i = 0; is && i < given->input_count; i++)
        is = same_input_at(of, kept, i);
    for (size_t i = 0; is && i < given->attribute_count; i++)
        is = same_attribute(of, kept, i);
    return is;
}

/* In place, where nothing has to be read by another size. */
int gnomon__op_repeats(const gnomon_op_info *op, const gnomon_op_info *kept)
{
    gnomon__op_view view;
    const gnomon_tensor *t = op ? op->inputs : NULL;
    size_t i = 0;
    if (unlikely(!t || op->struct_size < sizeof *op || op->attribute_count ||
                 t->struct_size != sizeof *t))
        return gnomon__op_view_of(&view, op) && !view.is_bad &&
               gnomon__op_is(&view, kept);
    if ((op->flags & KNOWN_FLAGS) != kept->flags || op->flops != kept->flops ||
        op->bytes != kept->bytes || op->input_count != kept->input_count ||
        kept->attribute_count || !is_same_text(op->operation, kept->operation))
        return 0;
    while (i < op->input_count &&
           same_input(t + i, &kept->inputs[i], i ? t + i - 1 : NULL))
        i++;
    return i == op->input_count;
}
