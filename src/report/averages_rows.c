/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* --as averages: torch's key_averages() of a profile. From single executions, where there
 * are any, rows are exactly torch's; from sums by path memory and kernels are of the paths
 * that have them, and the line below says so.
 *
 * Events in the order of their begins, longer ones first, are a tree of each thread: what a
 * stack of open ones contains. Sums go from children to parents in one pass backwards, as
 * a parent comes before its children. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/events.h"
#include "print/order.h"
#include "print/regions.h"
#include "report/averages.h"

enum { USE_ROW, USE_MEMORY, USE_NONE }; /* of an event, in their order */

typedef gnomon__average_event averaged;

typedef struct averaging {
    averaged *at; /* those that make rows, then memory */
    size_t count, memory_count;
    averaged **sorted;
    gnomon__keyed_list ids;
    struct averaged_memory {
        int64_t sums[2]; /* of all before it: the CPU's, the device's */
        /* Operations that begin to have it, less those that end to. */
        int64_t covers;
    } * memory; /* one more than there is */
} averaging;

static uint8_t use_of(const averaged *e)
{
    static const char *const dropped[] = {
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version"};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (strcmp(e->name, dropped[i]) == 0)
            return USE_NONE;
    return strcmp(e->name, "[memory]") == 0 ||
                   strcmp(e->name, "[OutOfMemory]") == 0
               ? USE_MEMORY
               : USE_ROW;
}

/* ---- Orders ------------------------------------------------------------------------ */

GNOMON__ORDER(averages_by_begin, averaged, UP(use), UP(begin_ns), DOWN(end_ns),
              UP(order))

/* In their order on each thread of a node. */
GNOMON__ORDER(averages_by_thread, averaged *const, AT(thread), AT(node), ITSELF)

static void sort_events(averaging *a, size_t count)
{
    GNOMON__SORT(a->at, count, averages_by_begin);
    a->count = a->memory_count = 0;
    for (size_t i = 0; i < count; i++) {
        a->count += a->at[i].use == USE_ROW;
        a->memory_count += a->at[i].use == USE_MEMORY;
    }
}

/* ---- Memory ------------------------------------------------------------------------ */

/* How many of the memory events are before `ns`. */
static size_t memory_before(const averaging *a, uint64_t ns)
{
    const averaged *memory = a->at + a->count;
    size_t low = 0, high = a->memory_count;
    GNOMON__SEARCH(low, high, i, memory[i].begin_ns < ns)
    return low;
}

/* The sums of an interval are the difference of two. */
static void use_memory(averaging *a)
{
    for (size_t i = 0; i < a->memory_count; i++) {
        const averaged *e = &a->at[a->count + i];
        memcpy(a->memory[i + 1].sums, a->memory[i].sums,
               sizeof a->memory->sums);
        if (strcmp(e->name, "[memory]") == 0)
            a->memory[i + 1].sums[e->is_device] += e->bytes;
    }
    for (size_t i = 0; i < a->count; i++) {
        averaged *one = &a->at[i];
        const size_t from = memory_before(a, one->begin_ns);
        const size_t to =
            memory_before(a, one->end_ns + (one->end_ns < UINT64_MAX));
        if (one->is_device || to <= from)
            continue;
        for (int k = 0; k < 2; k++)
            one->all[2 + k] =
                (double)(a->memory[to].sums[k] - a->memory[from].sums[k]);
        a->memory[from].covers++;
        a->memory[to].covers--;
    }
}

/* Memory of no operation makes rows of its own. */
static void take_unused_memory(averaging *a)
{
    int64_t covers = 0;
    for (size_t i = 0; i < a->memory_count; i++) {
        averaged *e = &a->at[a->count + i];
        if ((covers += a->memory[i].covers) > 0)
            continue;
        e->use = USE_ROW;
        e->linked = 0;
        e->all[2 + e->is_device] = (double)e->bytes;
    }
}

static double averages_us(uint64_t ns)
{
    return (double)ns / 1000.0;
}

static void take_events(averaging *a, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        averaged *e = &a->at[i];
        e->use = use_of(e);
        e->order = i + (e->use == USE_MEMORY ? count : 0);
        e->is_async = e->end_thread != e->thread && !e->is_device;
        if (e->use == USE_ROW && e->end_ns > e->begin_ns)
            e->all[e->is_device] =
                averages_us(e->end_ns) - averages_us(e->begin_ns);
    }
    sort_events(a, count);
    use_memory(a);
    take_unused_memory(a);
    sort_events(a, a->count + a->memory_count);
}

/* ---- The tree ---------------------------------------------------------------------- */

/* Kernels are of the operation that they are linked to; calls of a runtime go to its
 * thread. */
static void follow_links(averaging *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const averaged *one = &a->at[i];
        if (!one->is_device && !one->is_async && !one->linked &&
            use_of(one) == USE_ROW)
            a->ids.at[a->ids.count++] = (gnomon__keyed){one->id, i, 0};
    }
    gnomon__keyed_sort(&a->ids);
    for (size_t i = 0; i < a->count; i++) {
        averaged *one = &a->at[i];
        const gnomon__keyed *id =
            one->linked ? gnomon__keyed_find(&a->ids, one->linked) : NULL;
        if (id && one->is_device)
            a->at[id->value].kernels += one->all[1];
        else if (id)
            one->thread = a->at[id->value].thread;
    }
}

/* An only child of its parent's name is one with it. */
static void merge_equal(averaged *one)
{
    while (one->parent && one->parent->is_merged)
        one->parent = one->parent->parent;
    averaged *parent = one->parent;
    if (!parent || parent->children != 1 ||
        strcmp(parent->name, one->name) != 0)
        return;
    parent->children = one->children;
    parent->kernels = one->kernels;
    one->is_merged = true;
}

static bool contains(const averaged *outer, const averaged *inner)
{
    return outer->thread == inner->thread && outer->node == inner->node &&
           inner->begin_ns < outer->end_ns && inner->end_ns <= outer->end_ns;
}

/* What all of it took is known: it goes to what is around it, after what began before.
 * Up to `outer`. */
static void close_to(averaged *open, const averaged *outer)
{
    for (; open != outer; open = open->parent) {
        open->all[1] = open->kernels + open->below[1];
        for (int k = 0; k < 4 && open->parent; k++)
            open->parent->below[k] += open->all[k];
    }
}

static void make_tree(averaging *a)
{
    size_t count = 0;
    averaged *open = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (!a->at[i].is_device && !a->at[i].is_async)
            a->sorted[count++] = &a->at[i];
    GNOMON__SORT(a->sorted, count, averages_by_thread);
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
    open = NULL;
    for (size_t i = 0; i < count; i++)
        if (!a->sorted[i]->is_merged) {
            close_to(open, a->sorted[i]->parent);
            open = a->sorted[i];
        }
    close_to(open, NULL);
}

/* ---- Rows -------------------------------------------------------------------------- */

static gnomon__cell *begin_row(gnomon__report_rows *r, const char *name,
                               const char *shapes, uint64_t kind)
{
    gnomon__cell *cells = gnomon__report_row_of(r, 0);
    gnomon__cell_text(&cells[GNOMON__AVERAGE_NAME], name);
    gnomon__cell_text(&cells[GNOMON__AVERAGE_OVERLOAD], "");
    gnomon__cell_text(&cells[GNOMON__AVERAGE_SHAPES], shapes);
    gnomon__cell_text(&cells[GNOMON__AVERAGE_LAYER], "");
    gnomon__cell_text(&cells[GNOMON__AVERAGE_STACK], "");
    gnomon__cell_count(&cells[GNOMON__AVERAGE_KIND], kind);
    gnomon__cell_number(&cells[GNOMON__AVERAGE_NODE], -1);
    for (int k = GNOMON__AVERAGE_CPU; k < GNOMON__AVERAGE_ORDER; k++)
        gnomon__cell_number(&cells[k], 0);
    return cells;
}

/* The innermost frames, so many of them. */
static const char *frames_of(gnomon__report_rows *r, const char *stack,
                             size_t count)
{
    size_t size = 0;
    for (size_t i = 0; stack && i < count && stack[size]; i++)
        size += strcspn(stack + size + (i > 0), "\n") + (i > 0);
    return !size ? ""
                 : gnomon__report_kept(r, gnomon__table_keep(&r->table, "%.*s",
                                                             (int)size, stack));
}

static void add_row(gnomon__report_rows *r, const gnomon__averages_by *by,
                    const averaged *one)
{
    const bool is_step = strncmp(one->name, "ProfilerStep#", 13) == 0;
    gnomon__cell *cells =
        begin_row(r, is_step ? "ProfilerStep*" : one->name,
                  !by->shapes   ? ""
                  : one->shapes ? one->shapes
                                : "[]",
                  (by->is_apart ? 4 * (uint64_t)one->order : 0) +
                      (one->is_device ? 2u : 0u) + one->is_annotation);
    gnomon__cell_text(&cells[GNOMON__AVERAGE_STACK],
                      frames_of(r, one->stack, by->frames));
    if (one->layer)
        gnomon__cell_text(&cells[GNOMON__AVERAGE_LAYER], one->layer);
    if (by->overloads && one->overload)
        gnomon__cell_text(&cells[GNOMON__AVERAGE_OVERLOAD], one->overload);
    gnomon__cell_number(&cells[GNOMON__AVERAGE_NODE], (double)one->node);
    gnomon__cell_number(&cells[GNOMON__AVERAGE_COUNT], 1);
    gnomon__cell_number(&cells[GNOMON__AVERAGE_FLOPS], (double)one->flops);
    for (int k = 0; k < 4; k++) {
        gnomon__cell_number(&cells[GNOMON__AVERAGE_CPU + k], one->all[k]);
        if (!one->is_async)
            gnomon__cell_number(&cells[GNOMON__AVERAGE_SELF_CPU + k],
                                one->all[k] - one->below[k]);
    }
    gnomon__cell_count(
        &cells[GNOMON__AVERAGE_ORDER],
        gnomon__average_order(one->order, one->is_async, one->parent != NULL));
}

void gnomon__averages_add(gnomon__report_rows *r, const gnomon__averages_by *by,
                          gnomon__average_event *events, size_t count)
{
    averaging a = {.at = events};
    a.sorted = calloc(count + 1, sizeof *a.sorted);
    a.ids.at = calloc(count + 1, sizeof *a.ids.at);
    a.memory = calloc(count + 1, sizeof *a.memory);
    if (a.sorted && a.ids.at && a.memory) {
        take_events(&a, count);
        follow_links(&a);
        make_tree(&a);
        for (size_t i = 0; i < a.count; i++) {
            a.at[i].order = i;
            if (!a.at[i].is_merged)
                add_row(r, by, &a.at[i]);
        }
    } else {
        r->code = GNOMON_ENOMEM;
    }
    free(a.sorted);
    free(a.ids.at);
    free(a.memory);
}

/* ---- A profile --------------------------------------------------------------------- */

/* What is read of a profile. */
typedef struct averages_of {
    gnomon__averages_choice
        choice; /* the first; has_flops and so on: of any event */
    bool is_of_events;
    /* Texts of operations, by number; NULL: none yet. */
    const char **shapes, **stacks;
    const char **layers; /* by node; NULL: they are not asked for */
} averages_of;

/* "[[4, 5], []]", as Python prints it. */
static const char *print_shapes(gnomon__report_rows *r,
                                const gnomon_op_info *op)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const char *kept = "";
    if (!out) {
        r->code = GNOMON_ENOMEM;
        return "";
    }
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(op, i);
        fputs(i ? ", [" : "[[", out);
        for (uint32_t d = 0; d < t->rank; d++)
            fprintf(out, d ? ", %lld" : "%lld", (long long)t->dims[d]);
        fputs("]", out);
    }
    fputs(op->input_count ? "]" : "[]", out);
    if (fclose(out))
        r->code = GNOMON_ENOMEM;
    else
        kept = gnomon__report_text(r, text);
    free(text);
    return kept;
}

/* A text among the attributes; "" where there is none. */
static char *attribute_text(gnomon__report_rows *r, const gnomon_op_info *op,
                            const char *key)
{
    static char none[1];
    const char *json = "";
    for (size_t i = 0; i < op->attribute_count; i++)
        if (strcmp(gnomon_attribute_at(op, i)->key, key) == 0)
            json = gnomon_attribute_at(op, i)->json;
    const size_t size = strlen(json);
    char *text = gnomon__table_take(&r->table, size + 1), *to = text;
    if (!text)
        r->code = GNOMON_ENOMEM;
    for (size_t i = 1; text && i + 1 < size; i++) {
        i += json[i] == '\\';
        *to++ = json[i];
    }
    return text ? text : none;
}

/* A line for each frame of the call stack, which is as Kineto writes it: "inner;outer;". */
static const char *print_stack(gnomon__report_rows *r, const gnomon_op_info *op)
{
    char *text = attribute_text(r, op, "Call stack");
    for (char *at = text; (at = strchr(at, ';')) != NULL;)
        *at = at[1] ? '\n' : 0;
    return text;
}

/* What the operation of a node says of its events. */
static void read_op(gnomon__report_rows *r, uint32_t number, averaged *to)
{
    averages_of *a = r->more;
    gnomon_op_info op;
    if (!number || gnomon_profile_op(r->profile, number, &op))
        return;
    to->flops = op.flops;
    a->choice.has_flops |= op.flops != 0;
    if (a->choice.has_shapes && !a->shapes[number])
        a->shapes[number] = print_shapes(r, &op);
    if (a->choice.frames && !a->stacks[number])
        a->stacks[number] = print_stack(r, &op);
    to->shapes = a->shapes[number];
    to->stack = a->stacks[number];
    if (a->choice.has_overloads)
        to->overload = attribute_text(r, &op, "Overload name");
}

/* ---- Events ------------------------------------------------------------------------ */

/* Whether it is a label, and no operation: of gnomon, or as torch calls its own. */
static bool is_annotation(const gnomon__report_node *n)
{
    return n->region.kind <= GNOMON_KIND_RANGE && n->region.category &&
           (!n->of.op || strstr(n->region.category, "user_annotation"));
}

/* An allocation, or a mark that there was no memory, whose category is the pool. False: it
 * is neither. */
static bool read_memory(const gnomon_profile *p, const gnomon_event_info *e,
                        averaged *to)
{
    gnomon_track_info pool;
    gnomon_region_info mark = {.name = "[memory]"};
    if (e->kind == GNOMON_EVENT_MEMORY
            ? gnomon_profile_track(p, e->region, &pool) != GNOMON_OK
            : e->kind != GNOMON_EVENT_MARK ||
                  gnomon_profile_region(p, e->region, &mark) ||
                  strcmp(mark.name, "[OutOfMemory]") != 0)
        return false;
    *to = (averaged){.name = mark.name,
                     .bytes = fabs(e->value) < 1e15 ? (int64_t)e->value : 0,
                     .is_device = e->kind == GNOMON_EVENT_MEMORY
                                      ? pool.device >= 0
                                      : strcmp(mark.category, "host") != 0};
    return true;
}

/* False: it makes no row. */
static bool read_event(gnomon__report_rows *r, const gnomon_event_info *e,
                       averaged *to)
{
    averages_of *a = r->more;
    gnomon__report_node n;
    gnomon_track_info track;
    if (read_memory(r->profile, e, to)) {
        a->choice.has_memory = true;
    } else {
        if (e->kind != GNOMON_EVENT_EXECUTION ||
            !gnomon__report_node_at(r->profile, e->node, &n) || !n.of.region ||
            gnomon_profile_track(r->profile, e->track, &track))
            return false;
        *to = (averaged){.name = n.region.name,
                         .id = e->instance,
                         .is_annotation = is_annotation(&n),
                         .is_device = track.kind == GNOMON_TRACK_STREAM};
        read_op(r, n.of.op, to);
        to->is_async = n.of.flags & GNOMON_NODE_RANGE;
    }
    to->begin_ns = e->begin_ns;
    to->end_ns = e->begin_ns + e->duration_ns;
    to->thread = e->track;
    to->end_thread = to->is_async ? 0 : e->track;
    to->node = -1;
    return true;
}

static void read_events(gnomon__report_rows *r, size_t count)
{
    const averages_of *a = r->more;
    const gnomon__averages_by by = {a->choice.has_shapes,
                                    a->choice.has_overloads, a->choice.is_apart,
                                    (size_t)a->choice.frames};
    averaged *events = calloc(count + 1, sizeof *events);
    size_t used = 0;
    gnomon__keyed_list launches = {0};
    gnomon_event_info e;
    if (!events ||
        !gnomon__keyed_links(&launches, r->profile, GNOMON_LINK_LAUNCH))
        r->code = GNOMON_ENOMEM;
    for (size_t i = 1; i <= count && !r->code; i++) {
        r->code = gnomon_profile_event(r->profile, i, &e);
        if (r->code || !read_event(r, &e, &events[used]))
            continue;
        averaged *to = &events[used++];
        to->layer = a->layers && e.node ? a->layers[e.node] : NULL;
        const gnomon__keyed *launch =
            to->is_device && e.instance
                ? gnomon__keyed_find(&launches, e.instance)
                : NULL;
        to->linked = launch ? launch->value : 0;
    }
    if (!r->code)
        gnomon__averages_add(r, &by, events, used);
    free(events);
    free(launches.at);
}

/* ---- Paths ------------------------------------------------------------------------- */

/* Kernels below each path, its own and those below what is inside it. */
static int64_t *device_times(const gnomon_profile *p, size_t count,
                             int64_t *own)
{
    int64_t *all = calloc(count + 1, sizeof *all);
    gnomon_node_info n;
    gnomon_link_info l;
    for (size_t i = 1; all && !gnomon_profile_link(p, i, &l); i++)
        if (l.kind == GNOMON_LINK_LAUNCH && !l.to_instance &&
            !gnomon_profile_node(p, l.to, &n) && n.device)
            own[l.from] += (int64_t)n.device->total_ns;
    for (size_t i = count; all && i; i--) {
        all[i] += own[i];
        if (!gnomon_profile_node(p, i, &n))
            all[n.parent] += all[i];
    }
    return all;
}

/* ---- Layers ------------------------------------------------------------------------ */

/* Whether it is no operation, and may be around some. */
static bool is_layer(const gnomon__report_node *n)
{
    return is_annotation(n) && strcmp(n->region.category, "cpu_op") != 0 &&
           strcmp(n->region.category, "op") != 0;
}

/* Sets layers[i] to the name of the innermost layer around node i; what another one caused,
 * as backward or by a launch, is in that one's. In two passes, as a cause may come later.
 * `within`: of what is directly inside a node. */
static void set_layers(gnomon__report_rows *r, const uint32_t *causes,
                       const char **within)
{
    averages_of *a = r->more;
    const size_t count = 2 * gnomon_profile_count(r->profile, GNOMON_NODES);
    gnomon__report_node n;
    gnomon_op_info op;
    for (size_t k = 0; k < count; k++) {
        const size_t i = k % (count / 2) + 1;
        gnomon__report_node_at(r->profile, i, &n);
        const uint32_t of = causes[i] ? causes[i] : n.of.parent;
        const char *around = within[of] ? within[of] : "";
        if (!*around && n.of.op &&
            !gnomon_profile_op(r->profile, n.of.op, &op) &&
            op.flags & GNOMON_OP_BACKWARD)
            around = "(no forward)";
        a->layers[i] = around;
        within[i] = is_layer(&n) && !causes[i]
                        ? gnomon__report_text(r, n.region.name)
                        : around;
    }
}

static void find_layers(gnomon__report_rows *r)
{
    averages_of *a = r->more;
    const size_t count = gnomon_profile_count(r->profile, GNOMON_NODES);
    const char **within = calloc(count + 1, sizeof *within);
    uint32_t *causes = calloc(count + 1, sizeof *causes);
    gnomon_link_info l;
    a->layers = gnomon__table_take(&r->table, (count + 1) * sizeof *a->layers);
    if (!within || !causes || !a->layers)
        r->code = GNOMON_ENOMEM;
    for (size_t i = 1; !r->code && !gnomon_profile_link(r->profile, i, &l); i++)
        if (l.kind != GNOMON_LINK_SUBMIT)
            causes[l.to] = l.from; /* the last one */
    if (!r->code)
        set_layers(r, causes, within);
    free(within);
    free(causes);
}

/* ---- Devices ----------------------------------------------------------------------- */

/* "CUDA": the kind of which the profile has devices, as its metadata
 * "gnomon.cuda.0.name" says, in capitals. */
static const char *device_word(gnomon__report_rows *rows,
                               const gnomon_profile *profile)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(profile, i, &m); i++) {
        char word[16];
        int end = 0;
        if (sscanf(m.key, "gnomon.%15[a-z0-9].%*d.%n", word, &end) != 1 || !end)
            continue;
        for (char *c = word; *c; c++)
            *c = (char)(*c >= 'a' ? *c - 'a' + 'A' : *c);
        return gnomon__report_text(rows, word);
    }
    return "CUDA";
}

static double allocated(const gnomon_node_info *n, bool is_device,
                        const gnomon_profile *profile)
{
    int64_t bytes = 0;
    gnomon_track_info pool;
    for (size_t i = 0; i < n->memory_count; i++) {
        const gnomon_memory_stats *m = gnomon_memory_at(n, i);
        if (!gnomon_profile_track(profile, m->pool, &pool) &&
            (pool.device >= 0) == is_device)
            bytes += (int64_t)(m->allocated_bytes - m->freed_bytes);
    }
    return (double)bytes;
}

/* `all` and `own`: ns of kernels; `own_flops`: without those below it. */
static void add_path(gnomon__report_rows *r, size_t number, int64_t all,
                     int64_t own, uint64_t own_flops)
{
    averages_of *a = r->more;
    gnomon__report_node n;
    gnomon_track_info track;
    averaged op = {0};
    if (!gnomon__report_node_at(r->profile, number, &n) || !n.of.region ||
        gnomon_profile_track(r->profile, n.of.track, &track))
        return;
    const bool is_device = track.kind == GNOMON_TRACK_STREAM;
    const gnomon_stats *times = is_device ? n.of.device : n.of.host;
    if (!times || !times->count)
        return;
    read_op(r, n.of.op, &op);
    gnomon__cell *cells = begin_row(
        r, n.region.name, op.shapes ? op.shapes : "", is_device ? 2u : 0u);
    gnomon__cell_text(&cells[GNOMON__AVERAGE_STACK],
                      frames_of(r, op.stack, (size_t)a->choice.frames));
    if (a->layers)
        gnomon__cell_text(&cells[GNOMON__AVERAGE_LAYER], a->layers[number]);
    const uint64_t flops = n.of.work ? own_flops : op.flops * times->count;
    const double values[][2] = {
        {is_device ? 0 : averages_us(times->total_ns),
         is_device ? 0 : averages_us(times->self_ns)},
        {averages_us(is_device ? times->total_ns : (uint64_t)all),
         averages_us(is_device ? times->total_ns : (uint64_t)own)},
        {is_device ? 0 : allocated(&n.of, false, r->profile)},
        {is_device ? 0 : allocated(&n.of, true, r->profile)}};
    for (int k = 0; k < 4; k++) {
        gnomon__cell_number(&cells[GNOMON__AVERAGE_CPU + k], values[k][0]);
        gnomon__cell_number(&cells[GNOMON__AVERAGE_SELF_CPU + k],
                            values[k][k < 2]);
    }
    gnomon__cell_number(&cells[GNOMON__AVERAGE_COUNT], (double)times->count);
    gnomon__cell_number(&cells[GNOMON__AVERAGE_FLOPS], (double)flops);
    gnomon__cell_count(&cells[GNOMON__AVERAGE_ORDER],
                       gnomon__average_order(n.of.first ? n.of.first : number,
                                             false, n.of.parent != 0));
    a->choice.has_memory |= !is_device && n.of.memory_count;
}

static void read_paths(gnomon__report_rows *r)
{
    const size_t count = gnomon_profile_count(r->profile, GNOMON_NODES);
    int64_t *own = calloc(count + 1, sizeof *own);
    int64_t *all = own ? device_times(r->profile, count, own) : NULL;
    uint64_t *flops = gnomon__own_flops(r->profile);
    if (!all || !flops)
        r->code = GNOMON_ENOMEM;
    for (size_t i = 1; !r->code && i <= count; i++)
        add_path(r, i, all[i], own[i], flops[i]);
    free(own);
    free(all);
    free(flops);
}

/* ---- The report -------------------------------------------------------------------- */

static void averages_read(gnomon__report_rows *r)
{
    averages_of *a = r->more;
    const size_t count = gnomon_profile_count(r->profile, GNOMON_EVENTS);
    const size_t ops = gnomon_profile_count(r->profile, GNOMON_OPS);
    gnomon_event_info e;
    gnomon_metadata_info said;
    a->shapes =
        gnomon__table_take(&r->table, (2 * ops + 2) * sizeof *a->shapes);
    if (!a->shapes)
        r->code = GNOMON_ENOMEM;
    else
        a->stacks = a->shapes + ops + 1;
    for (size_t i = 1; !gnomon_profile_metadata(r->profile, i, &said); i++)
        a->choice.has_memory |= strcmp(said.key, "profile_memory") == 0;
    for (size_t i = 1; i <= count && !r->code && !a->is_of_events; i++) {
        r->code = gnomon_profile_event(r->profile, i, &e);
        a->is_of_events = !r->code && e.kind == GNOMON_EVENT_EXECUTION;
    }
    if (!r->code && a->choice.has_layers)
        find_layers(r);
    if (!r->code && a->is_of_events)
        read_events(r, count);
    else if (!r->code)
        read_paths(r);
}

static bool averages_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    const double count = cells[GNOMON__AVERAGE_COUNT].number;
    (void)r;
    for (int k = 0; k < 2; k++)
        gnomon__cell_number(
            &cells[GNOMON__AVERAGE_CPU_MEAN + k],
            count > 0 ? cells[GNOMON__AVERAGE_CPU + k].number / count : 0);
    return true;
}

const gnomon__report gnomon__averages = {.name = "averages",
                                         .columns = gnomon__average_columns,
                                         .column_count = GNOMON__AVERAGE_CELLS,
                                         .read = averages_read,
                                         .finish = averages_finish,
                                         .choose = gnomon__averages_choose};

typedef struct averages_options {
    gnomon__averages_choice choice; /* the first */
    char sort[64], unit[8];
} averages_options;

int gnomon__averages_make(gnomon__report_rows *rows,
                          gnomon__averages_choice *choice, bool *is_of_events,
                          const gnomon_profile *profile)
{
    averages_of a = {.choice = *choice};
    const int code = gnomon__report_make(rows, &gnomon__averages,
                                         &choice->table, &a, profile);
    for (size_t i = 0; i < rows->table.row_count && !a.choice.device; i++)
        if (gnomon__cells_of(&rows->table, i)[GNOMON__AVERAGE_KIND].count & 2)
            a.choice.device = device_word(rows, profile);
    *choice = a.choice;
    *is_of_events = a.is_of_events;
    return code ? code : rows->code;
}

static int averages_summary(void *self, const gnomon_profile *profile,
                            const gnomon_writer *out)
{
    static const char of_events[] =
        "From single executions, as torch makes it.\n";
    static const char of_paths[] =
        "From sums by thread and path, without single executions: no [memory] "
        "rows; memory and flops are each path's own.\n";
    gnomon__averages_choice choice =
        self ? *(const gnomon__averages_choice *)self : gnomon__averages_preset;
    gnomon__report_rows rows;
    bool is_of_events;
    int code = gnomon__averages_make(&rows, &choice, &is_of_events, profile);
    if (!code)
        code = gnomon__averages_text(&rows, out);
    if (!code && rows.table.row_count)
        code = is_of_events ? out->write(out, of_events, sizeof of_events - 1)
                            : out->write(out, of_paths, sizeof of_paths - 1);
    gnomon__report_free(&rows);
    return code;
}

static int averages_create(const gnomon_options *options, void **self)
{
    averages_options *o = calloc(1, sizeof *o);
    if (!o)
        return GNOMON_ENOMEM;
    o->choice = gnomon__averages_preset;
    const char *sort = options->text(options, "sort");
    const char *unit = options->text(options, "unit");
    snprintf(o->sort, sizeof o->sort, "%s", sort ? sort : "");
    snprintf(o->unit, sizeof o->unit, "%s", unit ? unit : "");
    if (unit && strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0 &&
        strcmp(unit, "us") != 0)
        options->log("averages: unit=: say s, ms or us");
    o->choice.sort_by = *o->sort ? o->sort : NULL;
    o->choice.time_unit = o->unit;
    o->choice.row_limit = options->number(options, "limit");
    o->choice.is_top_level = options->number(options, "top_level") != 0;
    o->choice.has_shapes = options->number(options, "shapes") != 0;
    o->choice.has_layers = options->number(options, "layer") != 0;
    o->choice.frames = options->number(options, "stack");
    o->choice.has_stacks = o->choice.frames > 0;
    *self = o;
    return GNOMON_OK;
}

static const gnomon_option_info averages_option_list[] = {
    GNOMON__TABLE_OPTION("sort", TEXT,
                         "torch's sort_by, as self_cpu_time_total"),
    GNOMON__PRESET_OPTION("layer", BOOL, "false",
                          "a row for each layer; of backward the forward's"),
    GNOMON__PRESET_OPTION("limit", INTEGER, "100", "the most rows; -1: all"),
    GNOMON__PRESET_OPTION("shapes", BOOL, "false",
                          "a row for each shape of inputs"),
    GNOMON__PRESET_OPTION("stack", INTEGER, "0",
                          "a row for so many innermost frames of the stack"),
    GNOMON__PRESET_OPTION("top_level", BOOL, "false",
                          "only what nothing was open around"),
    GNOMON__TABLE_OPTION("unit", TEXT, "of all times: s, ms or us"),
    {.key = NULL}};

const gnomon_profiler gnomon__averages_report = {
    .struct_size = sizeof gnomon__averages_report,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE | GNOMON_WANT_EVENTS,
    .name = "averages",
    .help = "torch's table of key_averages()",
    .options = averages_option_list,
    .create = averages_create,
    .summary = averages_summary,
    .destroy = free,
};
