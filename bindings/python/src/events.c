/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile of single executions that another profiler recorded: they come as columns, and
 * paths, with their times, work and memory, are found out here. gnomon/_kineto.py brings
 * those of torch.
 *
 * An execution is inside the innermost one of its track that contains all of it. What
 * overlaps one around it only in part is beside it. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include <gnomon/report.h>

/* The columns: of int64_t, the last one of doubles. */
enum {
    OF_KIND, /* gnomon_event_kind */
    OF_TRACK,
    OF_REGION, /* of memory the pool, a track */
    OF_OP,     /* 0: none */
    OF_BEGIN,
    OF_END,
    OF_ASYNC, /* it ended on another thread */
    OF_VALUE, /* of counters; of memory its bytes */
    COLUMNS
};

typedef struct single {
    /* `inside`: what it contains takes; of memory the address. */
    uint64_t begin, end, inside;
    double value;
    struct single *parent;
    size_t number; /* as it came */
    uint32_t kind, track, region, op, node;
    int is_async;
} single;

typedef struct path {
    uint32_t parent, region, op, track;
    int is_async, is_crossed;
    uint64_t count, total, self, min, max, first_end, first;
} path;

/* A value of a node: a cell of its histogram, or an event of a pool. */
typedef struct node_value {
    uint32_t node, of; /* a cell, or a pool */
    size_t order;
    int64_t bytes;
} node_value;

typedef struct building {
    gnomon_builder *builder;
    single *at, **sorted;
    size_t count;
    path *paths; /* from 1 */
    uint32_t path_count;
    uint32_t *slots; /* of paths by their keys; half are empty at least */
    size_t room;
    node_value *cells, *memory;
    size_t cell_count, memory_count;
    uint64_t *flops;          /* by operation */
    unsigned char *is_stream; /* by track */
    uint32_t track_count;
} building;

/* ---- Orders ----------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* As torch has them: the outer one first. */
static int by_begin(const void *left, const void *right)
{
    const single *a = left, *b = right;
    int order = compare(a->begin, b->begin);
    if (!order)
        order = compare(b->end, a->end);
    return order ? order : compare(a->number, b->number);
}

static int by_track(const void *left, const void *right)
{
    const single *a = *(single *const *)left, *b = *(single *const *)right;
    const int order = compare(a->track, b->track);
    return order ? order : (a > b) - (a < b);
}

static int by_node(const void *left, const void *right)
{
    const node_value *a = left, *b = right;
    int order = compare(a->node, b->node);
    if (!order)
        order = compare(a->of, b->of);
    return order ? order : compare(a->order, b->order);
}

/* ---- Paths ------------------------------------------------------------------------ */

static int is_path(const path *p, const path *of)
{
    return p->parent == of->parent && p->region == of->region &&
           p->op == of->op && p->track == of->track &&
           p->is_async == of->is_async;
}

/* There are no more than executions, for which there is room. */
static uint32_t path_of(building *b, const single *e)
{
    const path wanted = {.parent = e->parent ? e->parent->node : 0,
                         .region = e->region,
                         .op = e->op,
                         .track = e->track,
                         .is_async = e->is_async};
    uint64_t hash = wanted.parent;
    hash = (hash * 0x9E3779B97F4A7C15u + wanted.region) ^ hash >> 29;
    hash = (hash * 0x9E3779B97F4A7C15u + wanted.op) ^ hash >> 29;
    hash = (hash + wanted.track) * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash >> 20) & (b->room - 1);
    while (b->slots[at] && !is_path(&b->paths[b->slots[at]], &wanted))
        at = (at + 1) & (b->room - 1);
    if (!b->slots[at]) {
        b->slots[at] = ++b->path_count;
        b->paths[b->path_count] = wanted;
        b->paths[b->path_count].first_end = UINT64_MAX;
    }
    return b->slots[at];
}

/* Whether it is inside. A moment at the end is, an execution is not. */
static int contains(const single *outer, const single *e)
{
    return outer->track == e->track && e->end <= outer->end &&
           (e->begin < outer->end || e->kind != GNOMON_EVENT_EXECUTION);
}

static void find_paths(building *b)
{
    single *open = NULL;
    qsort(b->sorted, b->count, sizeof *b->sorted, by_track);
    for (size_t i = 0; i < b->count; i++) {
        single *e = b->sorted[i];
        if (e->is_async) {
            e->node = path_of(b, e);
            continue;
        }
        single *around = open;
        while (around && !contains(around, e))
            around = around->parent;
        e->parent = around;
        if (e->kind != GNOMON_EVENT_EXECUTION) {
            e->node = around ? around->node : 0;
            continue;
        }
        e->node = path_of(b, e);
        if (around)
            around->inside += e->end - e->begin;
        open = e;
    }
}

static void add_up(building *b, const single *e)
{
    path *p = &b->paths[e->node];
    const uint64_t ns = e->end - e->begin;
    p->min = p->count && p->min < ns ? p->min : ns;
    p->max = p->max > ns ? p->max : ns;
    p->count++;
    p->total += ns;
    if (!e->is_async)
        p->self += ns > e->inside ? ns - e->inside : 0;
    p->is_crossed |= e->inside > ns;
    p->first_end = p->first_end < e->end ? p->first_end : e->end;
    b->cells[b->cell_count++] =
        (node_value){.node = e->node, .of = gnomon_cell_of(ns)};
}

static void add_up_all(building *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const single *e = &b->at[i];
        if (e->kind == GNOMON_EVENT_EXECUTION)
            add_up(b, e);
        else if (e->kind == GNOMON_EVENT_MEMORY && e->node)
            b->memory[b->memory_count++] =
                (node_value){e->node, e->region, i, (int64_t)e->value};
    }
    if (b->cell_count)
        qsort(b->cells, b->cell_count, sizeof *b->cells, by_node);
    if (b->memory_count)
        qsort(b->memory, b->memory_count, sizeof *b->memory, by_node);
}

/* ---- Nodes ------------------------------------------------------------------------ */

static int by_first_end(const void *left, const void *right)
{
    const path *a = *(path *const *)left, *b = *(path *const *)right;
    const int order = compare(a->first_end, b->first_end);
    return order ? order : (a > b) - (a < b);
}

/* 0: no memory. */
static int number_ends(building *b)
{
    path **ended = calloc(b->path_count + 1u, sizeof *ended);
    if (!ended)
        return 0;
    for (uint32_t i = 0; i < b->path_count; i++)
        ended[i] = &b->paths[i + 1];
    qsort(ended, b->path_count, sizeof *ended, by_first_end);
    for (uint32_t i = 0; i < b->path_count; i++)
        ended[i]->first = i + 1;
    free(ended);
    return 1;
}

/* Cells of the node from *at on; returns how many. */
static size_t cells_of(const building *b, uint32_t node, size_t *at,
                       gnomon_cell *cells)
{
    size_t count = 0;
    for (; *at < b->cell_count && b->cells[*at].node == node; ++*at) {
        const uint32_t cell = b->cells[*at].of;
        if (!count || cells[count - 1].cell != cell)
            cells[count++] = (gnomon_cell){cell, 0, 0};
        cells[count - 1].count++;
    }
    return count;
}

/* Likewise. */
static size_t memory_of(const building *b, uint32_t node, size_t *at,
                        gnomon_memory_stats *pools, size_t room)
{
    size_t count = 0;
    for (; *at < b->memory_count && b->memory[*at].node == node; ++*at) {
        const node_value *m = &b->memory[*at];
        if (!count || pools[count - 1].pool != m->of) {
            if (count == room)
                continue;
            pools[count++] = (gnomon_memory_stats){.struct_size = sizeof *pools,
                                                   .pool = m->of};
        }
        gnomon_memory_stats *pool = &pools[count - 1];
        if (m->bytes >= 0) {
            pool->allocations++;
            pool->allocated_bytes += (uint64_t)m->bytes;
        } else {
            pool->frees++;
            pool->freed_bytes += (uint64_t)-m->bytes;
        }
        pool->live_bytes += m->bytes;
        if (pool->live_bytes > (int64_t)pool->peak_bytes)
            pool->peak_bytes = (uint64_t)pool->live_bytes;
    }
    return count;
}

static void add_nodes(const building *b)
{
    static const int crossed = GNOMON_NODE_CROSSED, range = GNOMON_NODE_RANGE;
    gnomon_cell cells[GNOMON_CELLS];
    gnomon_memory_stats pools[16];
    size_t cell = 0, value = 0;
    for (uint32_t i = 1; i <= b->path_count; i++) {
        const path *p = &b->paths[i];
        const gnomon_stats times = {.struct_size = sizeof times,
                                    .count = p->count,
                                    .total_ns = p->total,
                                    .self_ns = p->self,
                                    .min_ns = p->min,
                                    .max_ns = p->max,
                                    .cells = cells,
                                    .cell_count = cells_of(b, i, &cell, cells)};
        const gnomon_work_stats work = {
            .struct_size = sizeof work,
            .flops = p->op ? b->flops[p->op] * p->count : 0};
        const size_t pool_count = memory_of(b, i, &value, pools, 16);
        const int is_stream = b->is_stream[p->track];
        gnomon_add_node(b->builder,
                        &(gnomon_node_info){
                            .track = p->track,
                            .stage = 1,
                            .parent = p->parent,
                            .region = p->region,
                            .op = p->op,
                            .flags = (uint32_t)((p->is_crossed ? crossed : 0) |
                                                (p->is_async ? range : 0)),
                            .first = p->first,
                            .host = is_stream ? NULL : &times,
                            .device = is_stream ? &times : NULL,
                            .memory = pool_count ? pools : NULL,
                            .memory_count = pool_count,
                            .work = work.flops ? &work : NULL});
    }
}

/* ---- Events ----------------------------------------------------------------------- */

static void add_events(const building *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const single *e = &b->at[i];
        const int is_execution = e->kind == GNOMON_EVENT_EXECUTION;
        gnomon_add_event(
            b->builder,
            &(gnomon_event_info){.kind = e->kind,
                                 .track = e->track,
                                 .node = e->node,
                                 .region = is_execution ? 0 : e->region,
                                 .begin_ns = e->begin,
                                 .duration_ns = e->end - e->begin,
                                 .instance =
                                     is_execution ? e->number + 1 : e->inside,
                                 .value = e->value});
    }
}

/* Triples: two events, as they came, and a gnomon_link_kind. 0: no memory. */
static int add_links(const building *b, const char *links, size_t count)
{
    int64_t of[3];
    uint32_t *nodes = calloc(b->count + 1, sizeof *nodes);
    if (!nodes)
        return 0;
    for (size_t i = 0; i < b->count; i++)
        nodes[b->at[i].number] = b->at[i].node;
    for (size_t i = 0; i + 3 <= count; i += 3) {
        memcpy(of, links + 8 * i, sizeof of);
        const size_t from = (size_t)of[0], to = (size_t)of[1];
        if (from < b->count && to < b->count && nodes[from] && nodes[to])
            gnomon_add_link(b->builder,
                            &(gnomon_link_info){.from = nodes[from],
                                                .to = nodes[to],
                                                .kind = (uint32_t)of[2],
                                                .count = 1,
                                                .from_instance = from + 1,
                                                .to_instance = to + 1});
    }
    free(nodes);
    return 1;
}

/* ---- What they are of -------------------------------------------------------------- */

/* The run of the profile that was recorded meanwhile, with another zero, and what was said
 * of it. */
static void add_run(gnomon_builder *b, const gnomon_profile *of, uint64_t zero,
                    uint64_t end)
{
    gnomon_run_info run;
    gnomon_metadata_info said;
    gnomon_stage_info stage = {.ordinal = 1, .end_ns = end, .ended = 1};
    if (gnomon_profile_run(of, 1, &run))
        run = (gnomon_run_info){.rank = -1, .local_rank = -1, .world_size = -1};
    run.zero_unix_ns = zero;
    run.now_ns = end;
    run.anchors = NULL;
    run.anchor_count = 0;
    stage.run = gnomon_add_run(b, &run);
    gnomon_add_stage(b, &stage);
    for (size_t i = 1; !gnomon_profile_metadata(of, i, &said); i++) {
        said.run = stage.run;
        gnomon_add_metadata(b, &said);
    }
}

/* Calls `add` with each tuple of a list. 0: an exception is set. */
static int add_each(building *b, PyObject *list,
                    int (*add)(building *b, PyObject *given))
{
    const Py_ssize_t count = PyList_Size(list);
    for (Py_ssize_t i = 0; i < count; i++)
        if (!add(b, PyList_GetItem(list, i)))
            return 0;
    return count >= 0;
}

static int add_metadata(building *b, PyObject *given)
{
    gnomon_metadata_info said = {.run = 1};
    if (!PyArg_ParseTuple(given, "ss", &said.key, &said.json))
        return 0;
    gnomon_add_metadata(b->builder, &said);
    return 1;
}

static int add_track(building *b, PyObject *given)
{
    gnomon_track_info track = {.run = 1, .thread_count = 1};
    long long os_id;
    if (!PyArg_ParseTuple(given, "IsLIi", &track.kind, &track.name, &os_id,
                          &track.index, &track.device))
        return 0;
    track.os_id = os_id;
    const uint32_t number = gnomon_add_track(b->builder, &track);
    b->is_stream[number] = track.kind == GNOMON_TRACK_STREAM;
    return 1;
}

static int add_region(building *b, PyObject *given)
{
    gnomon_region_info region = {.line = 0};
    if (!PyArg_ParseTuple(given, "Iss", &region.kind, &region.name,
                          &region.category))
        return 0;
    gnomon_add_region(b->builder, &region);
    return 1;
}

/* The inputs of an operation: a type, and lists of sizes and strides; no strides, or another
 * number of them, as of a list of tensors: not known. 0: an exception is set. */
static int read_inputs(PyObject *given, gnomon_tensor *inputs, int64_t *dims,
                       size_t room)
{
    for (Py_ssize_t i = 0; i < PyList_Size(given); i++) {
        PyObject *sizes, *strides;
        inputs[i] =
            (gnomon_tensor){.struct_size = sizeof *inputs, .dims = dims};
        if (!PyArg_ParseTuple(PyList_GetItem(given, i), "sO!O!",
                              &inputs[i].dtype, &PyList_Type, &sizes,
                              &PyList_Type, &strides))
            return 0;
        const size_t rank = (size_t)PyList_Size(sizes);
        if (rank > room / 2)
            continue;
        for (size_t d = 0; d < rank; d++)
            *dims++ = PyLong_AsLongLong(PyList_GetItem(sizes, (Py_ssize_t)d));
        inputs[i].rank = (uint32_t)rank;
        room -= 2 * rank;
        if (!rank || (size_t)PyList_Size(strides) != rank)
            continue;
        inputs[i].strides = dims;
        for (size_t d = 0; d < rank; d++)
            *dims++ = PyLong_AsLongLong(PyList_GetItem(strides, (Py_ssize_t)d));
    }
    return !PyErr_Occurred();
}

/* Attributes: keys and JSON texts. 0: an exception is set. */
static int read_attributes(PyObject *given, gnomon_attribute *to)
{
    for (Py_ssize_t i = 0; i < PyList_Size(given); i++) {
        to[i].struct_size = sizeof *to;
        if (!PyArg_ParseTuple(PyList_GetItem(given, i), "ss", &to[i].key,
                              &to[i].json))
            return 0;
    }
    return 1;
}

/* A name, flags, flops, how many sizes and strides the inputs have together, inputs,
 * attributes. */
static int add_op(building *b, PyObject *given)
{
    gnomon_op_info op = {.struct_size = sizeof op};
    PyObject *inputs, *attributes;
    unsigned long long flops;
    Py_ssize_t sizes;
    if (!PyArg_ParseTuple(given, "sIKnO!O!", &op.operation, &op.flags, &flops,
                          &sizes, &PyList_Type, &inputs, &PyList_Type,
                          &attributes))
        return 0;
    op.flops = flops;
    op.input_count = (size_t)PyList_Size(inputs);
    op.attribute_count = (size_t)PyList_Size(attributes);
    gnomon_tensor *tensors = calloc(op.input_count + 1, sizeof *tensors);
    gnomon_attribute *own = calloc(op.attribute_count + 1, sizeof *own);
    int64_t *dims = calloc((size_t)sizes + 1, sizeof *dims);
    int is_read = tensors && own && dims;
    if (!is_read)
        PyErr_NoMemory();
    else
        is_read = read_inputs(inputs, tensors, dims, (size_t)sizes) &&
                  read_attributes(attributes, own);
    op.inputs = tensors;
    op.attributes = own;
    const uint32_t number = is_read ? gnomon_add_op(b->builder, &op) : 0;
    if (number)
        b->flops[number] = op.flops;
    free(tensors);
    free(own);
    free(dims);
    return is_read;
}

/* ---- Reading the columns ---------------------------------------------------------- */

static int read_single(building *b, size_t i, const char *const *columns,
                       uint32_t ops)
{
    int64_t of[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        memcpy(&of[k], columns[k] + 8 * i, 8);
    single *e = &b->at[i];
    *e = (single){.number = i,
                  .kind = (uint32_t)of[OF_KIND],
                  .track = (uint32_t)of[OF_TRACK],
                  .region = (uint32_t)of[OF_REGION],
                  .op = (uint32_t)of[OF_OP],
                  .begin = (uint64_t)of[OF_BEGIN],
                  .end = (uint64_t)of[OF_END],
                  .is_async = of[OF_ASYNC] != 0};
    memcpy(&e->value, &of[OF_VALUE], sizeof e->value);
    if (e->kind == GNOMON_EVENT_MEMORY) {
        e->inside = (uint64_t)of[OF_OP];
        e->op = 0;
    }
    b->sorted[i] = e;
    return e->track <= b->track_count && e->op <= ops && e->begin <= e->end;
}

/* NULL: an exception is set. */
static const char *column_of(PyObject *columns, int k, size_t *count)
{
    char *at = NULL;
    Py_ssize_t size = 0;
    PyObject *column = PyList_GetItem(columns, k);
    if (!column || PyBytes_AsStringAndSize(column, &at, &size))
        return NULL;
    if (k && (size_t)size / 8 != *count) {
        PyErr_SetString(PyExc_ValueError, "columns are not of one length");
        return NULL;
    }
    *count = (size_t)size / 8;
    return at;
}

/* 0: an exception is set. */
static int read_columns(building *b, PyObject *given, uint32_t ops)
{
    const char *columns[COLUMNS];
    for (int k = 0; k < COLUMNS; k++)
        if (!(columns[k] = column_of(given, k, &b->count)))
            return 0;
    for (b->room = 64; b->room < 2 * b->count + 2; b->room *= 2)
        ;
    b->at = calloc(b->count + 1, sizeof *b->at);
    b->sorted = calloc(b->count + 1, sizeof *b->sorted);
    b->paths = calloc(b->count + 2, sizeof *b->paths);
    b->slots = calloc(b->room, sizeof *b->slots);
    b->cells = calloc(b->count + 1, sizeof *b->cells);
    b->memory = calloc(b->count + 1, sizeof *b->memory);
    if (!b->at || !b->sorted || !b->paths || !b->slots || !b->cells ||
        !b->memory) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t i = 0; i < b->count; i++)
        if (!read_single(b, i, columns, ops)) {
            PyErr_Format(PyExc_ValueError, "event %zu is wrong", i);
            return 0;
        }
    return 1;
}

static int build_all(building *b, PyObject *links)
{
    char *at = NULL;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(links, &at, &size))
        return 0;
    if (b->count)
        qsort(b->at, b->count, sizeof *b->at, by_begin);
    find_paths(b);
    add_up_all(b);
    if (!number_ends(b)) {
        PyErr_NoMemory();
        return 0;
    }
    add_nodes(b);
    add_events(b);
    if (!add_links(b, at, (size_t)size / 8)) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
}

/* The operations and the tracks, of which more is needed than their numbers. */
static int begin_building(building *b, PyObject *tracks, PyObject *ops)
{
    b->track_count = (uint32_t)PyList_Size(tracks);
    b->flops = calloc((size_t)PyList_Size(ops) + 1, sizeof *b->flops);
    b->is_stream = calloc((size_t)b->track_count + 1, 1);
    if (!b->flops || !b->is_stream) {
        PyErr_NoMemory();
        return 0;
    }
    return gnomon_builder_create(&b->builder) == GNOMON_OK;
}

static void free_building(building *b)
{
    free(b->at);
    free(b->sorted);
    free(b->paths);
    free(b->slots);
    free(b->cells);
    free(b->memory);
    free(b->flops);
    free(b->is_stream);
}

/* profile_of(meanwhile, zero_unix_ns, end_ns, metadata, tracks, regions, ops, columns,
 * links) */
static PyObject *call_profile_of(PyObject *module, PyObject *args)
{
    building b = {.count = 0};
    PyObject *of, *metadata, *tracks, *regions, *ops, *columns, *links;
    unsigned long long zero, end;
    gnomon_profile *profile = NULL;
    if (!PyArg_ParseTuple(args, "OKKO!O!O!O!O!O:profile_of", &of, &zero, &end,
                          &PyList_Type, &metadata, &PyList_Type, &tracks,
                          &PyList_Type, &regions, &PyList_Type, &ops,
                          &PyList_Type, &columns, &links))
        return NULL;
    const gnomon_profile *meanwhile = binding_profile_of(of);
    int is_made = meanwhile && begin_building(&b, tracks, ops);
    if (is_made)
        add_run(b.builder, meanwhile, zero, end);
    is_made = is_made && add_each(&b, metadata, add_metadata) &&
              add_each(&b, tracks, add_track) &&
              add_each(&b, regions, add_region) && add_each(&b, ops, add_op) &&
              read_columns(&b, columns, (uint32_t)PyList_Size(ops)) &&
              build_all(&b, links);
    free_building(&b);
    if (!is_made) {
        gnomon_builder_free(b.builder);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    const int code = gnomon_builder_finish(b.builder, &profile);
    return binding_profile_own(binding_state_of(module), code, profile);
}

PyMethodDef binding_event_methods[] = {
    {"_profile_of", call_profile_of, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
