/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* Events in the order of their begins, longer ones first, are a tree of each thread: what a
 * stack of open ones contains. Sums go from children to parents in one pass backwards, as
 * a parent comes before its children. */
#include "report/averages_events.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE SIZE_MAX

/* An event that makes rows. */
typedef struct averaged {
    const gnomon__average_event *of;
    const char *name, *overload, *shapes; /* of its row's key */
    size_t frames, order;
    struct averaged *parent; /* NULL: none */
    size_t children;
    uint64_t thread;
    int64_t kernels_ns; /* of its own kernels */
    int64_t cpu_ns, device_ns, bytes, device_bytes;
    /* Of its children. */
    int64_t below_ns, below_device_ns, below_bytes, below_device_bytes;
    bool is_async, is_merged; /* into its parent */
} averaged;

typedef struct averaging {
    const gnomon__averages_by *by;
    averaged *at;
    averaged **sorted; /* in the order that is needed */
    size_t count;
    struct averaged_memory {
        uint64_t ns;
        size_t event;
        int64_t sums[2]; /* of all before it: the CPU's, the device's */
        /* Operations that begin to have it, less those that end to. */
        int64_t covers;
    } * memory;
    size_t memory_count;
} averaging;

static bool is_memory(const gnomon__average_event *e)
{
    return strcmp(e->name, "[memory]") == 0 ||
           strcmp(e->name, "[OutOfMemory]") == 0;
}

static bool is_dropped(const char *name)
{
    static const char *const names[] = {"profiler::_record_function_enter",
                                        "profiler::_record_function_enter_new",
                                        "profiler::_record_function_exit",
                                        "aten::is_leaf",
                                        "aten::output_nr",
                                        "aten::_version"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- Orders ------------------------------------------------------------------------ */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int first_begun(const averaged *a, const averaged *b)
{
    int order = compare_u64(a->of->begin_ns, b->of->begin_ns);
    if (!order)
        order = compare_u64(b->of->end_ns, a->of->end_ns);
    return order ? order : compare_u64(a->order, b->order);
}

static int averages_by_begin(const void *left, const void *right)
{
    return first_begun(left, right);
}

static int averages_by_id(const void *left, const void *right)
{
    const averaged *a = *(averaged *const *)left,
                   *b = *(averaged *const *)right;
    const int order = compare_u64(a->of->id, b->of->id);
    return order ? order : compare_u64(a->order, b->order);
}

static int averages_by_thread(const void *left, const void *right)
{
    const averaged *a = *(averaged *const *)left,
                   *b = *(averaged *const *)right;
    int order = compare_u64(a->thread, b->thread);
    if (!order)
        order = compare_u64((uint64_t)a->of->node, (uint64_t)b->of->node);
    return order ? order : first_begun(a, b);
}

/* Of equal rows 0. */
static int compare_keys(const averaged *a, const averaged *b)
{
    int order = strcmp(a->name, b->name);
    if (!order)
        order = compare_u64((uint64_t)a->of->node, (uint64_t)b->of->node);
    if (!order)
        order = (a->of->is_device - b->of->is_device) * 2 +
                (a->of->is_annotation - b->of->is_annotation);
    if (!order)
        order = compare_texts(a->overload, b->overload);
    if (!order)
        order = compare_texts(a->shapes, b->shapes);
    if (!order)
        order = compare_u64(a->frames, b->frames);
    for (size_t i = 0; !order && i < a->frames; i++)
        order = strcmp(a->of->stack[i], b->of->stack[i]);
    return order;
}

static int averages_by_key(const void *left, const void *right)
{
    const averaged *a = *(averaged *const *)left,
                   *b = *(averaged *const *)right;
    const int order = compare_keys(a, b);
    return order ? order : compare_u64(a->order, b->order);
}

static int memory_by_time(const void *left, const void *right)
{
    const struct averaged_memory *a = left, *b = right;
    const int order = compare_u64(a->ns, b->ns);
    return order ? order : compare_u64(a->event, b->event);
}

/* ---- What counts ------------------------------------------------------------------- */

static averaged *add_averaged(averaging *a, const gnomon__average_event *e)
{
    averaged *one = &a->at[a->count];
    *one = (averaged){.of = e,
                      .name = strncmp(e->name, "ProfilerStep#", 13) == 0
                                  ? "ProfilerStep*"
                                  : e->name,
                      .overload = a->by->overloads ? e->overload : NULL,
                      .shapes = !a->by->shapes ? NULL
                                : e->shapes    ? e->shapes
                                               : "[]",
                      .frames = e->stack_count < a->by->frames ? e->stack_count
                                                               : a->by->frames,
                      .order = a->count++,
                      .thread = e->thread,
                      .is_async = e->end_thread != e->thread && !e->is_device};
    return one;
}

/* How many of the memory events are before `ns`, or at it. */
static size_t memory_before(const averaging *a, uint64_t ns, bool is_at)
{
    size_t low = 0, high = a->memory_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (a->memory[middle].ns < ns || (is_at && a->memory[middle].ns == ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The sums of an interval are the difference of two. One item more has the sums of all. */
static void sum_memory(averaging *a, const gnomon__average_event *events)
{
    int64_t sums[2] = {0, 0};
    qsort(a->memory, a->memory_count, sizeof *a->memory, memory_by_time);
    for (size_t i = 0; i <= a->memory_count; i++) {
        memcpy(a->memory[i].sums, sums, sizeof sums);
        if (i == a->memory_count)
            break;
        const gnomon__average_event *e = &events[a->memory[i].event];
        if (strcmp(e->name, "[memory]") == 0)
            sums[e->is_device] += e->bytes;
    }
}

static void use_memory(averaging *a, averaged *one)
{
    const size_t from = memory_before(a, one->of->begin_ns, false);
    const size_t to = memory_before(a, one->of->end_ns, true);
    if (to <= from)
        return;
    one->bytes = a->memory[to].sums[0] - a->memory[from].sums[0];
    one->device_bytes = a->memory[to].sums[1] - a->memory[from].sums[1];
    a->memory[from].covers++;
    a->memory[to].covers--;
}

/* Memory of no operation makes rows of its own. */
static void take_unused_memory(averaging *a,
                               const gnomon__average_event *events)
{
    int64_t covers = 0;
    for (size_t i = 0; i < a->memory_count; i++) {
        const gnomon__average_event *e = &events[a->memory[i].event];
        if ((covers += a->memory[i].covers) > 0)
            continue;
        averaged *one = add_averaged(a, e);
        *(e->is_device ? &one->device_bytes : &one->bytes) = e->bytes;
    }
}

static void take_events(averaging *a, const gnomon__average_event *events,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_memory(&events[i]))
            a->memory[a->memory_count++] =
                (struct averaged_memory){.ns = events[i].begin_ns, .event = i};
    sum_memory(a, events);
    for (size_t i = 0; i < count; i++) {
        const gnomon__average_event *e = &events[i];
        if (is_memory(e) || is_dropped(e->name))
            continue;
        averaged *one = add_averaged(a, e);
        const int64_t ns =
            e->end_ns > e->begin_ns ? (int64_t)(e->end_ns - e->begin_ns) : 0;
        *(e->is_device ? &one->device_ns : &one->cpu_ns) = ns;
        if (!e->is_device)
            use_memory(a, one);
    }
    take_unused_memory(a, events);
}

/* ---- The tree ---------------------------------------------------------------------- */

static averaged *with_id(averaged **sorted, size_t count, uint64_t id)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sorted[middle]->of->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && sorted[low]->of->id == id ? sorted[low] : NULL;
}

/* Kernels are of the operation that they are linked to; calls of a runtime go to its
 * thread. */
static void follow_links(averaging *a)
{
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++) {
        const averaged *one = &a->at[i];
        if (!one->of->is_device && !one->is_async && !one->of->linked &&
            !is_memory(one->of))
            a->sorted[count++] = &a->at[i];
    }
    qsort(a->sorted, count, sizeof *a->sorted, averages_by_id);
    for (size_t i = 0; i < a->count; i++) {
        averaged *one = &a->at[i];
        averaged *to =
            one->of->linked ? with_id(a->sorted, count, one->of->linked) : NULL;
        if (to && one->of->is_device)
            to->kernels_ns += one->device_ns;
        else if (to)
            one->thread = to->thread;
    }
}

/* The innermost that is not one with its parent. */
static averaged *merged_parent(averaged *one)
{
    while (one && one->is_merged)
        one = one->parent;
    return one;
}

/* An only child of its parent's name is one with it. */
static void merge_equal(averaged *one)
{
    averaged *parent = merged_parent(one->parent);
    one->parent = parent;
    if (!parent || parent->children != 1 || strcmp(parent->name, one->name))
        return;
    parent->children = one->children;
    parent->kernels_ns = one->kernels_ns;
    one->is_merged = true;
}

static bool contains(const averaged *outer, const averaged *inner)
{
    return outer->thread == inner->thread &&
           outer->of->node == inner->of->node &&
           inner->of->begin_ns < outer->of->end_ns &&
           inner->of->end_ns <= outer->of->end_ns;
}

static void add_to_parent(averaged *one)
{
    averaged *parent = one->parent;
    one->device_ns = one->kernels_ns + one->below_device_ns;
    if (!parent)
        return;
    parent->below_ns += one->cpu_ns;
    parent->below_device_ns += one->device_ns;
    parent->below_bytes += one->bytes;
    parent->below_device_bytes += one->device_bytes;
}

static void make_tree(averaging *a)
{
    size_t count = 0;
    averaged *open = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (!a->at[i].of->is_device && !a->at[i].is_async)
            a->sorted[count++] = &a->at[i];
    qsort(a->sorted, count, sizeof *a->sorted, averages_by_thread);
    for (size_t i = 0; i < count; i++) {
        averaged *one = a->sorted[i];
        while (open && !contains(open, one))
            open = open->parent;
        one->parent = open;
        if (open)
            open->children++;
        open = one;
    }
    for (size_t i = 0; i < count; i++)
        merge_equal(a->sorted[i]);
    for (size_t i = count; i-- > 0;)
        if (!a->sorted[i]->is_merged)
            add_to_parent(a->sorted[i]);
}

/* ---- Rows -------------------------------------------------------------------------- */

static void add_to_row(gnomon__average *row, const averaged *one)
{
    row->count++;
    row->flops += one->of->flops;
    row->cpu_ns += one->cpu_ns;
    row->device_ns += one->device_ns;
    row->cpu_bytes += one->bytes;
    row->device_bytes += one->device_bytes;
    if (one->is_async)
        return;
    row->self_cpu_ns += one->cpu_ns - one->below_ns;
    row->self_device_ns += one->device_ns - one->below_device_ns;
    row->self_cpu_bytes += one->bytes - one->below_bytes;
    row->self_device_bytes += one->device_bytes - one->below_device_bytes;
}

static gnomon__average new_row(const averaged *one)
{
    return (gnomon__average){.name = one->name,
                             .overload = one->overload,
                             .shapes = one->shapes,
                             .stack = one->of->stack,
                             .stack_count = one->frames,
                             .node = one->of->node,
                             .is_device = one->of->is_device,
                             .is_annotation = one->of->is_annotation,
                             .is_async = one->is_async,
                             .is_inner = one->parent != NULL};
}

/* Events with one key are neighbours once they are sorted; the place of each one's row is
 * kept where the first of them came. */
static void make_rows(averaging *a, gnomon__average *rows, size_t *row_count)
{
    size_t *row_of = (size_t *)(void *)a->memory; /* not needed any more */
    size_t count = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!a->at[i].is_merged)
            a->sorted[count++] = &a->at[i];
    qsort(a->sorted, count, sizeof *a->sorted, averages_by_key);
    for (size_t i = 0; i < count; i++) {
        const bool is_first =
            !i || compare_keys(a->sorted[i - 1], a->sorted[i]) != 0;
        const size_t order = a->sorted[i]->order;
        row_of[order] = is_first ? order : row_of[a->sorted[i - 1]->order];
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->at[i].is_merged)
            continue;
        const size_t first = row_of[i];
        if (first == i) {
            a->at[i].children = *row_count;
            rows[(*row_count)++] = new_row(&a->at[i]);
        }
        add_to_row(&rows[a->at[first].children], &a->at[i]);
    }
}

int gnomon__averages_of_events(const gnomon__average_event *events,
                               size_t count, const gnomon__averages_by *by,
                               gnomon__average **rows, size_t *row_count)
{
    averaging a = {.by = by};
    a.at = malloc((count + 1) * sizeof *a.at);
    a.sorted = malloc((count + 1) * sizeof *a.sorted);
    a.memory = malloc((count + 1) * sizeof *a.memory);
    *rows = malloc((count + 1) * sizeof **rows);
    *row_count = 0;
    const bool has_room = a.at && a.sorted && a.memory && *rows;
    if (has_room) {
        take_events(&a, events, count);
        qsort(a.at, a.count, sizeof *a.at, averages_by_begin);
        for (size_t i = 0; i < a.count; i++)
            a.at[i].order = i;
        follow_links(&a);
        make_tree(&a);
        make_rows(&a, *rows, row_count);
    } else {
        free(*rows);
        *rows = NULL;
    }
    free(a.at);
    free(a.sorted);
    free(a.memory);
    return has_room ? GNOMON_OK : GNOMON_ENOMEM;
}
