/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies of operations, with texts that are fit for reports. Under the lock. */
#include <string.h>

#include "mark/names.h"
#include "mark/op.h"
#include "mark/thread.h"
#include "platform/json.h"

typedef struct contents_room {
    char *at;
    size_t left;
    int is_full;
} contents_room;

/* NULL: it does not fit, and so nothing will. */
static void *take_room(contents_room *r, size_t bytes)
{
    void *at = r->at;
    bytes = (bytes + 7) & ~(size_t)7;
    if (r->is_full || bytes > r->left) {
        r->is_full = 1;
        return NULL;
    }
    r->at += bytes;
    r->left -= bytes;
    return at;
}

static const void *copy_bytes(contents_room *r, const void *from, size_t bytes)
{
    void *to = take_room(r, bytes);
    return to ? memcpy(to, from, bytes) : NULL;
}

/* A name, as those of regions are made fit. */
static const char *copy_name(contents_room *r, const char *text)
{
    char fit[GNOMON__MAX_NAME + 1];
    if (!text)
        gnomon__trouble(&gnomon__no_thread, bad_names);
    gnomon__text name = gnomon__name_fit(
        gnomon__text_of(text ? text : "(null)", GNOMON_TO_NUL), fit, 1);
    char *to = take_room(r, name.length + 1);
    if (!to)
        return NULL;
    to[name.length] = 0;
    return memcpy(to, name.at, name.length);
}

static const char *copy_json(contents_room *r, const char *json,
                             uint32_t *is_bad)
{
    size_t n = json ? strnlen(json, GNOMON__MAX_OP_JSON + 1) : 0;
    if (!json || n > GNOMON__MAX_OP_JSON || !gnomon__json_valid(json, n)) {
        *is_bad = 1;
        json = "null";
        n = 4;
    }
    return copy_bytes(r, json, n + 1);
}

static void copy_inputs(contents_room *r, gnomon_op_info *to,
                        const gnomon__op_view *from)
{
    size_t count = from->info.input_count;
    gnomon_tensor *list = take_room(r, count * sizeof *list);
    to->inputs = count ? list : NULL;
    for (size_t i = 0; list && i < count; i++) {
        gnomon_tensor *t = &list[i];
        gnomon__op_input(t, from, i);
        size_t bytes = t->rank * sizeof *t->dims;
        t->struct_size = sizeof *t;
        /* One copy of a type, by which comparisons are shorter. */
        const char *dtype = copy_name(r, t->dtype ? t->dtype : "");
        t->dtype =
            dtype && i && !strcmp(dtype, t[-1].dtype) ? t[-1].dtype : dtype;
        t->dims = t->dims ? copy_bytes(r, t->dims, bytes) : NULL;
        t->strides = t->strides ? copy_bytes(r, t->strides, bytes) : NULL;
    }
}

static void copy_attributes(contents_room *r, gnomon_op_info *to,
                            const gnomon__op_view *from, uint32_t *is_bad)
{
    size_t count = from->info.attribute_count;
    gnomon_attribute *list = take_room(r, count * sizeof *list);
    to->attributes = count ? list : NULL;
    for (size_t i = 0; list && i < count; i++) {
        gnomon_attribute *a = &list[i];
        gnomon__op_attribute(a, from, i);
        *a = (gnomon_attribute){.struct_size = sizeof *a,
                                .key = copy_name(r, a->key),
                                .json = copy_json(r, a->json, is_bad)};
    }
}

size_t gnomon__op_copy(void *room, size_t bytes, const gnomon__op_view *from,
                       uint32_t *is_bad)
{
    contents_room r = {.at = room, .left = bytes};
    gnomon_op_info *to = take_room(&r, sizeof *to);
    if (!to)
        return 0;
    *to = from->info;
    to->struct_size = sizeof *to;
    to->operation = copy_name(&r, from->info.operation);
    copy_inputs(&r, to, from);
    copy_attributes(&r, to, from, is_bad);
    return r.is_full ? 0 : bytes - r.left;
}
