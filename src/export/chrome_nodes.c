/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is equal in all rows of a path: made once, as most of a large trace is rows. */
#include "export/chrome.h"

#include <stdlib.h>

/* ---- Text in memory -------------------------------------------------------------- */

typedef struct chrome_memory {
    char *text;
    size_t size, room;
} chrome_memory;

static int write_memory(const gnomon_writer *w, const void *bytes, size_t size)
{
    chrome_memory *m = w->context;
    if (size > m->room - m->size) {
        size_t room = 2 * (m->size + size);
        char *text = realloc(m->text, room);
        if (!text)
            return GNOMON_ENOMEM;
        m->text = text;
        m->room = room;
    }
    memcpy(m->text + m->size, bytes, size);
    m->size += size;
    return GNOMON_OK;
}

/* ---- Categories -------------------------------------------------------------------- */

/* Categories of Kineto that a region may name itself. */
static int is_category(const char *category)
{
    static const char *const known[] = {
        "cpu_op",    "user_annotation", "cuda_runtime", "cuda_driver",
        "kernel",    "gpu_memcpy",      "gpu_memset",   "gpu_user_annotation",
        "cuda_sync", "python_function", "overhead",     "collective_comm"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(category, known[i]) == 0)
            return 1;
    return 0;
}

static const char *category_of(const gnomon__chrome *c,
                               const gnomon_region_info *r,
                               const gnomon_node_info *n)
{
    const char *category = "user_annotation";
    if (n->op)
        category = "cpu_op";
    if (r->kind == GNOMON_KIND_PYTHON)
        category = "python_function";
    else if (r->kind == GNOMON_KIND_API)
        category = "cuda_runtime";
    else if (r->kind == GNOMON_KIND_KERNEL)
        category = "kernel";
    else if (r->kind == GNOMON_KIND_COPY)
        category = "gpu_memcpy";
    else if (r->kind == GNOMON_KIND_SET)
        category = "gpu_memset";
    if (is_category(r->category))
        category = r->category;
    if (!c->what->for_tensorboard)
        return category;
    if (strcmp(category, "cuda_runtime") == 0 ||
        strcmp(category, "cuda_driver") == 0)
        return "Runtime";
    /* Its plugin ignores labels but for steps; as operators they are shown. */
    if (strcmp(category, "user_annotation") == 0 &&
        strncmp(r->name, "ProfilerStep#", 13) != 0)
        return "cpu_op";
    return category;
}

/* ---- Operations ------------------------------------------------------------------- */

static void put_numbers(gnomon__export_text *t, const int64_t *of, size_t count)
{
    gnomon__export_literal(t, "[");
    for (size_t i = 0; of && i < count; i++) {
        if (i)
            gnomon__export_literal(t, ", ");
        gnomon__export_signed(t, of[i]);
    }
    gnomon__export_literal(t, "]");
}

/* A list of each input's dims, strides or type. */
static void put_inputs(gnomon__export_text *t, const gnomon_op_info *op,
                       int which)
{
    gnomon__export_literal(t, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        if (i)
            gnomon__export_literal(t, ", ");
        if (which == 2)
            gnomon__export_json(t, input->dtype);
        else
            put_numbers(t, which ? input->strides : input->dims, input->rank);
    }
    gnomon__export_literal(t, "]");
}

static void put_op(gnomon__export_text *t, const gnomon_op_info *op)
{
    if (op->input_count) {
        gnomon__export_literal(t, ",\"Input Dims\":");
        put_inputs(t, op, 0);
        gnomon__export_literal(t, ",\"Input Strides\":");
        put_inputs(t, op, 1);
        gnomon__export_literal(t, ",\"Input type\":");
        put_inputs(t, op, 2);
    }
    for (size_t i = 0; i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        gnomon__export_literal(t, ",");
        gnomon__export_json(t, a->key);
        gnomon__export_literal(t, ":");
        gnomon__export_string(t, a->json);
    }
    if (op->flops) {
        gnomon__export_literal(t, ",\"flops\":");
        gnomon__export_number(t, op->flops);
    }
    if (op->bytes) {
        gnomon__export_literal(t, ",\"bytes\":");
        gnomon__export_number(t, op->bytes);
    }
}

/* ---- A path --------------------------------------------------------------------------- */

static void put_head(const gnomon__chrome *c, gnomon__export_text *t,
                     const gnomon_node_info *n, const gnomon_region_info *r)
{
    gnomon__export_literal(t, "{\"ph\":\"X\",\"cat\":\"");
    gnomon__export_json_inside(t, category_of(c, r, n));
    gnomon__export_literal(t, "\",\"name\":");
    gnomon__export_json(t, r->name);
    gnomon__export_literal(t, ",\"pid\":");
    gnomon__export_signed(t, c->ids.pids[n->track]);
    gnomon__export_literal(t, ",\"tid\":");
}

static void put_args(const gnomon__chrome *c, gnomon__export_text *t,
                     const gnomon_node_info *n)
{
    gnomon_track_info k;
    gnomon_op_info op;
    (void)gnomon_profile_track(c->p, n->track, &k);
    if (k.kind == GNOMON_TRACK_STREAM && k.device >= 0) {
        gnomon__export_literal(t, ",\"device\":");
        gnomon__export_signed(t, k.device);
        gnomon__export_literal(t, ",\"stream\":");
        gnomon__export_signed(t, c->ids.tracks[n->track]);
    }
    if (n->op && !gnomon_profile_op(c->p, n->op, &op))
        put_op(t, &op);
}

/* Each text as a block of memory of its own. 0: no memory. */
static int make_row_texts(const gnomon__chrome *c, gnomon__chrome_node *to,
                          uint32_t node)
{
    chrome_memory m = {0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = write_memory, .context = &m};
    gnomon_node_info n;
    gnomon_region_info r = {.name = "", .category = ""};
    gnomon__export_text *t = gnomon__export_text_begin(&w);
    if (!t)
        return 0;
    (void)gnomon_profile_node(c->p, node, &n);
    (void)gnomon_profile_region(c->p, n.region, &r);
    put_head(c, t, &n, &r);
    gnomon__export_text_flush(t);
    size_t head = m.size;
    put_args(c, t, &n);
    if (gnomon__export_text_end(t) || m.size > UINT32_MAX) {
        free(m.text);
        return 0;
    }
    *to = (gnomon__chrome_node){m.text, m.text + head, (uint32_t)head,
                                (uint32_t)(m.size - head), n.op != 0};
    return 1;
}

int gnomon__chrome_nodes_begin(gnomon__chrome_nodes *n, const gnomon_profile *p)
{
    size_t count = gnomon_profile_count(p, GNOMON_NODES);
    n->of = calloc(count + 1, sizeof *n->of);
    n->count = n->of ? count : 0;
    return n->of != NULL;
}

void gnomon__chrome_nodes_end(gnomon__chrome_nodes *n)
{
    for (size_t i = 0; n->of && i <= n->count; i++)
        free(n->of[i].head);
    free(n->of);
    *n = (gnomon__chrome_nodes){0};
}

const gnomon__chrome_node *gnomon__chrome_node_at(gnomon__chrome *c,
                                                  uint32_t node)
{
    gnomon__chrome_node *n = &c->nodes.of[node <= c->nodes.count ? node : 0];
    return n->head || make_row_texts(c, n, node) ? n : NULL;
}
