/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Four arrays, each with a hash of its items. A key is found by its bytes. */
#include "record/activity_tables.h"

#include <string.h>

#include "mark/names.h"
#include "mark/thread.h"
#include "platform/memory.h"
#include "platform/os_wait.h"
#include "platform/process.h"
#include "profile/slots.h"

/* Names are those of kernels, of which large programs have some thousands. A name has an
 * operation for each size of its grid: where these are many, they say little. At most
 * about 100 bytes an item, without texts. */
#define MOST_WORK_NAMES 65536u
#define MOST_WORK_TRACKS 4096u
#define MOST_WORK_OPS 65536u
#define MOST_OPS_OF_NAME 64u
/* As many again of leaves whose operation was left out, and of those whose path was. */
#define MOST_LEAVES ((size_t)131072)
#define MORE_WORK_NAMES 16u /* "(other)" of each kind */

typedef struct work_table {
    char *items;
    size_t room;
    gnomon__slots slots;
} work_table;

static work_table work_names GNOMON__OF_PROCESS;
static work_table work_tracks GNOMON__OF_PROCESS;
static work_table work_ops GNOMON__OF_PROCESS;
static work_table work_leaves GNOMON__OF_PROCESS;

static gnomon__os_lock work_lock = GNOMON__OS_LOCK;

void gnomon__activities_lock(void)
{
    gnomon__heap_start(); /* not first under a lock */
    gnomon__os_lock_take(&work_lock);
}

void gnomon__activities_unlock(void)
{
    gnomon__os_lock_give(&work_lock);
}

/* ---- Items by their bytes ---------------------------------------------------------- */

/* Where there are fewer than `most`, one that is not there is added. */
static uint32_t work_find(work_table *t, const void *item, size_t size,
                          size_t most)
{
    return gnomon__keyed_at(&t->slots, &t->items, &t->room, size, item, size,
                            most);
}

static void *work_item(const work_table *t, uint32_t number, size_t size)
{
    return t->items + (number - 1) * size;
}

uint32_t gnomon__activity_find_track(const gnomon__activity_track *track)
{
    return work_find(&work_tracks, track, sizeof *track, MOST_WORK_TRACKS);
}

uint32_t gnomon__activity_find_op(const gnomon__activity_op *op)
{
    gnomon__activity_name *name =
        work_item(&work_names, op->name, sizeof *name);
    const size_t before = work_ops.slots.count;
    uint32_t number =
        work_find(&work_ops, op, sizeof *op,
                  name->ops < MOST_OPS_OF_NAME ? MOST_WORK_OPS : 0);
    name->ops += work_ops.slots.count != before;
    return number;
}

uint32_t gnomon__activity_find_leaf(const gnomon__activity_leaf *leaf)
{
    gnomon__activity_leaf l = *leaf;
    for (size_t most = MOST_LEAVES; most <= 3 * MOST_LEAVES;
         most += MOST_LEAVES) {
        uint32_t number = work_find(&work_leaves, &l, sizeof l, most);
        if (number || work_leaves.slots.count < most)
            return number;
        if (most == MOST_LEAVES)
            gnomon__trouble(&gnomon__no_thread, other_names);
        else
            l.thread = l.path = 0;
        l.op = 0;
    }
    return 0;
}

uint32_t gnomon__activity_find_scope(gnomon__activity_leaf *leaf)
{
    uint32_t number = leaf->track ? work_find(&work_leaves, leaf, sizeof *leaf,
                                              2 * MOST_LEAVES)
                                  : 0;
    if (number)
        return number;
    leaf->track = 0; /* such ones are no more than paths */
    return work_find(&work_leaves, leaf, sizeof *leaf, SIZE_MAX);
}

/* ---- Names ----------------------------------------------------------------------------- */

/* Eight bytes at a time: names of kernels are long, and each record has one. */
static uint64_t work_text_hash(const char *text, size_t length)
{
    uint64_t hash = length, word = 0;
    for (; length >= sizeof word; length -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = gnomon__mix(hash, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return gnomon__mix(hash, word);
}

/* A copy that is fit for reports; NULL: no memory. */
static char *work_text(const char *text, size_t length)
{
    char room[GNOMON__MAX_NAME + 1], clean[GNOMON__MAX_NAME + 1];
    gnomon__text fit = gnomon__name_fit((gnomon__text){text, length}, room, 0);
    size_t n =
        gnomon__utf8_clean(fit.at, fit.length, clean, sizeof clean, NULL);
    return gnomon__strndup(clean, n);
}

uint32_t gnomon__activity_find_name(uint32_t kind, const char *category,
                                    const char *text)
{
    text = text && *text ? text : "(no name)";
    const int is_other = strcmp(text, "(other)") == 0;
    const size_t most = MOST_WORK_NAMES + (is_other ? MORE_WORK_NAMES : 0);
    gnomon__activity_name name = {
        .length = strlen(text), .category = category, .kind = kind};
    name.hash = work_text_hash(text, name.length);
    uint32_t number = gnomon__keyed_at(
        &work_names.slots, &work_names.items, &work_names.room, sizeof name,
        &name, offsetof(gnomon__activity_name, ops), most);
    if (!number && work_names.slots.count >= most && !is_other) {
        gnomon__trouble(&gnomon__no_thread, other_names);
        return gnomon__activity_find_name(kind, category, "(other)");
    }
    if (!number)
        return 0;
    gnomon__activity_name *its = work_item(&work_names, number, sizeof *its);
    if (!its->text)
        its->text = work_text(text, name.length);
    return its->text ? number : 0;
}

/* ---- By number ---------------------------------------------------------------------------- */

const gnomon__activity_name *gnomon__activity_name_at(uint32_t number)
{
    return work_item(&work_names, number, sizeof(gnomon__activity_name));
}

const gnomon__activity_track *gnomon__activity_track_at(uint32_t number)
{
    return work_item(&work_tracks, number, sizeof(gnomon__activity_track));
}

const gnomon__activity_op *gnomon__activity_op_at(uint32_t number)
{
    return work_item(&work_ops, number, sizeof(gnomon__activity_op));
}

const gnomon__activity_leaf *gnomon__activity_leaf_at(uint32_t number)
{
    return work_item(&work_leaves, number, sizeof(gnomon__activity_leaf));
}

void gnomon__activity_tables_clear(void)
{
    work_table *const all[] = {&work_names, &work_tracks, &work_ops,
                               &work_leaves};
    for (uint32_t i = 1; i <= work_names.slots.count; i++)
        gnomon__free(gnomon__activity_name_at(i)->text);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        gnomon__free(all[i]->items);
        gnomon__slots_free(&all[i]->slots);
        *all[i] = (work_table){0};
    }
}
