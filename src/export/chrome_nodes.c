/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is equal in all rows of a path: made once, as most of a large trace is rows. */
#include "export/chrome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Categories -------------------------------------------------------------------- */

static int is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return 1;
    return 0;
}

/* Categories of Kineto that a region may name itself. */
static int is_category(const char *category)
{
    static const char *const known[] = {
        "cpu_op",    "user_annotation", "cuda_runtime", "cuda_driver",
        "kernel",    "gpu_memcpy",      "gpu_memset",   "gpu_user_annotation",
        "cuda_sync", "python_function", "overhead",     "collective_comm"};
    return is_among(category, known, sizeof known / sizeof *known);
}

static const char *category_of(const gnomon_region_info *r,
                               const gnomon_node_info *n, int is_on_device)
{
    if (is_category(r->category))
        return r->category;
    if (is_on_device && strcmp(r->category, "graph") == 0)
        return "kernel"; /* the device is busy with it */
    switch (r->kind) {
    case GNOMON_KIND_PYTHON:
        return "python_function";
    case GNOMON_KIND_API:
        return "cuda_runtime";
    case GNOMON_KIND_KERNEL:
        return "kernel";
    case GNOMON_KIND_COPY:
        return "gpu_memcpy";
    case GNOMON_KIND_SET:
        return "gpu_memset";
    default:
        return is_on_device ? "gpu_user_annotation"
               : n->op      ? "cpu_op"
                            : "user_annotation";
    }
}

/* The plugin takes a label of a device for the operation itself, where it has the name of
 * a collective, and forgets that of the host. */
int gnomon__chrome_hides_collective(const char *category, const char *name)
{
    return strcmp(category, "gpu_user_annotation") == 0 &&
           (strncmp(name, "nccl:", 5) == 0 || strncmp(name, "gloo:", 5) == 0);
}

/* TensorBoard's plugin expects calls in the category Runtime, and ignores labels
 * except steps and collectives: as operators they are shown. A label whose category
 * the program gave keeps it. */
static const char *for_tensorboard(const char *category,
                                   const gnomon_region_info *r)
{
    static const char loader[] = "enumerate(DataLoader)#";
    if (strcmp(category, "cuda_runtime") == 0 ||
        strcmp(category, "cuda_driver") == 0)
        return "Runtime";
    if (gnomon__chrome_hides_collective(category, r->name))
        return "gpu_label";
    if (strcmp(category, "user_annotation") == 0 &&
        strncmp(r->name, "ProfilerStep#", 13) != 0 &&
        (!is_category(r->category) ||
         strncmp(r->name, loader, sizeof loader - 1) == 0))
        return "cpu_op";
    return category;
}

/* ---- Operations ------------------------------------------------------------------- */

static void put_numbers(gnomon__out *t, const int64_t *of, size_t count)
{
    gnomon__out_literal(t, "[");
    for (size_t i = 0; of && i < count; i++) {
        if (i)
            gnomon__out_literal(t, ", ");
        gnomon__out_signed(t, of[i]);
    }
    gnomon__out_literal(t, "]");
}

/* A list of each input's dims, strides or type. */
static void put_inputs(gnomon__out *t, const gnomon_op_info *op, int which)
{
    gnomon__out_literal(t, "[");
    for (size_t i = 0; i < op->input_count; i++) {
        const gnomon_tensor *input = gnomon_input_at(op, i);
        if (i)
            gnomon__out_literal(t, ", ");
        if (which == 2)
            gnomon__export_form(t, "'%s'", input->dtype);
        else
            put_numbers(t, which ? input->strides : input->dims, input->rank);
    }
    gnomon__out_literal(t, "]");
}

/* Keys that rows have of their own: an attribute of this name would be a second. */
static int is_own_arg(const char *key)
{
    static const char *const own[] = {"External id",
                                      "correlation",
                                      "device",
                                      "stream",
                                      "Input Dims",
                                      "Input Strides",
                                      "Input type",
                                      "flops",
                                      "bytes",
                                      "finished",
                                      "memory bandwidth (GB/s)"};
    return is_among(key, own, sizeof own / sizeof *own);
}

/* The first attribute of this name; NULL: there is none. */
static const gnomon_attribute *attribute_of(const gnomon_op_info *op,
                                            const char *key)
{
    for (size_t i = 0; i < op->attribute_count; i++)
        if (strcmp(gnomon_attribute_at(op, i)->key, key) == 0)
            return gnomon_attribute_at(op, i);
    return NULL;
}

static void put_op(gnomon__out *t, const gnomon_op_info *op)
{
    static const char *const keys[] = {"Input Dims", "Input Strides",
                                       "Input type"};
    for (int i = 0; op->input_count && i < 3; i++) {
        if (i == 1 && !gnomon__export_has_strides(op))
            continue;
        gnomon__export_form(t, ",'%s':", keys[i]);
        put_inputs(t, op, i);
    }
    for (size_t i = 0; i < op->attribute_count; i++) {
        const gnomon_attribute *a = gnomon_attribute_at(op, i);
        if (is_own_arg(a->key) || attribute_of(op, a->key) != a)
            continue;
        gnomon__export_form(t, ",'%s':", a->key);
        gnomon__out_text(t, a->json);
    }
    if (op->flops)
        gnomon__export_form(t, ",'flops':%ju", op->flops);
    if (op->bytes)
        gnomon__export_form(t, ",'bytes':%ju", op->bytes);
}

/* ---- How much of a device a kernel takes ---------------------------------------------- */

/* The product of "[8, 8, 1]"; 0: it is none. */
static double product_of(const gnomon_op_info *op, const char *key)
{
    const gnomon_attribute *a = attribute_of(op, key);
    double all = 1;
    char *at;
    if (!a || *a->json != '[')
        return 0;
    for (at = (char *)(uintptr_t)a->json; *at == '[' || *at == ',';)
        all *= (double)strtoull(at + 1, &at, 10);
    return *at == ']' ? all : 0;
}

/* How many multiprocessors the device has: metadata of its run; 0: not known. */
static double processors_of(const gnomon_profile *p, const gnomon_track_info *k)
{
    char key[48];
    gnomon_metadata_info m;
    snprintf(key, sizeof key, "gnomon.cuda.%" PRId32 ".processors", k->device);
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &m); i++)
        if (m.run == k->run && strcmp(m.key, key) == 0)
            return (double)strtoull(m.json, NULL, 10);
    return 0;
}

/* Computed as Kineto does: from the grid alone, whatever else runs. Profiles that
 * were made from a trace have them already. */
static void put_share_of_device(gnomon__out *t, const gnomon_profile *p,
                                const gnomon_track_info *k,
                                const gnomon_op_info *op)
{
    double blocks = product_of(op, "grid"), threads = product_of(op, "block");
    double processors = blocks > 0 && threads > 0 ? processors_of(p, k) : 0;
    if (!(processors > 0) || attribute_of(op, "blocks per SM") ||
        attribute_of(op, "warps per SM"))
        return;
    gnomon__export_form(t, ",'blocks per SM':%g,'warps per SM':%g",
                        blocks / processors,
                        blocks * threads / 32 / processors);
}

/* ---- A path --------------------------------------------------------------------------- */

typedef struct chrome_path {
    gnomon_node_info node;
    gnomon_region_info region;
    const gnomon_track_info *track;
    gnomon_op_info op;
    const char *category;
    int is_on_device;
} chrome_path;

static void read_path(const gnomon__chrome *c, chrome_path *p, uint32_t node)
{
    *p = (chrome_path){.region = {.name = "", .category = ""}};
    (void)gnomon_profile_node(c->line.p, node, &p->node);
    (void)gnomon_profile_region(c->line.p, p->node.region, &p->region);
    p->track = &c->line.tracks[p->node.track].info;
    if (p->node.op)
        (void)gnomon_profile_op(c->line.p, p->node.op, &p->op);
    p->is_on_device = gnomon__timeline_on_device(&c->line, p->node.track);
    p->category = category_of(&p->region, &p->node, p->is_on_device);
}

static void put_head(const gnomon__chrome *c, gnomon__out *t,
                     const chrome_path *p)
{
    gnomon__export_form(t, "{'ph':'X','cat':'%s','name':'%s','pid':%jd,'tid':",
                        c->what->for_tensorboard
                            ? for_tensorboard(p->category, &p->region)
                            : p->category,
                        p->region.name, c->line.tracks[p->node.track].pid);
}

/* A row with a stream is work of the device: a label there has none, or readers would
 * add up the time of what it spans twice. */
static int is_work(const chrome_path *p)
{
    return p->is_on_device && strcmp(p->category, "gpu_user_annotation") != 0;
}

static void put_args(const gnomon__chrome *c, gnomon__out *t,
                     const chrome_path *p)
{
    if (is_work(p))
        gnomon__export_form(t, ",'device':%d,'stream':%jd", p->track->device,
                            c->line.tracks[p->node.track].tid);
    if (p->node.op)
        put_op(t, &p->op);
    if (strcmp(p->category, "kernel") == 0)
        put_share_of_device(t, c->line.p, p->track, &p->op);
}

static void describe(gnomon__chrome_node *to, const chrome_path *p)
{
    const char *is = p->category;
    to->is_label =
        strcmp(is, "cpu_op") == 0 || strcmp(is, "user_annotation") == 0;
    to->is_call =
        strcmp(is, "cuda_runtime") == 0 || strcmp(is, "cuda_driver") == 0;
    to->is_annotation = strcmp(is, "user_annotation") == 0;
    to->is_wait = strcmp(is, "cuda_sync") == 0;
    to->is_work = (uint32_t)is_work(p);
    to->is_timed = (p->node.flags & GNOMON_NODE_PART) != 0;
    to->is_span = strcmp(is, "gpu_user_annotation") == 0 &&
                  p->region.kind == GNOMON_KIND_SCOPE && !to->is_timed;
    if (strcmp(is, "gpu_memcpy") == 0 || strcmp(is, "gpu_memset") == 0)
        to->moved = p->op.bytes;
}

/* Each text as a block of memory of its own. 0: no memory. */
static int make_row_texts(const gnomon__chrome *c, gnomon__chrome_node *to,
                          uint32_t node)
{
    gnomon__export_memory m = {0};
    const gnomon_writer w = gnomon__export_to_memory(&m);
    chrome_path p;
    gnomon__out *t = gnomon__export_text_begin(&w);
    if (!t)
        return 0;
    read_path(c, &p, node);
    put_head(c, t, &p);
    gnomon__out_flush(t);
    size_t head = m.size;
    put_args(c, t, &p);
    if (gnomon__export_text_end(t) || m.size > UINT32_MAX) {
        free(m.text);
        return 0;
    }
    *to = (gnomon__chrome_node){.head = m.text,
                                .args = m.text + head,
                                .head_size = (uint32_t)head,
                                .args_size = (uint32_t)(m.size - head)};
    describe(to, &p);
    return 1;
}

const gnomon__chrome_node *gnomon__chrome_node_at(gnomon__chrome *c,
                                                  uint32_t node)
{
    gnomon__chrome_node *n = &c->nodes[node <= c->node_count ? node : 0];
    return n->head || gnomon__export_needs(c->t, make_row_texts(c, n, node))
               ? n
               : NULL;
}
