/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes an operation of PyProf's arguments or of torch's sizes, for ops/cost.h. */
#include "nsys/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ops/cost.h"
#include "ops/operands.h"

#define MOST_INPUTS 16
#define MOST_DIMS 8
#define MOST_ATTRIBUTES 12

/* An operation with room for what it is made of. */
typedef struct operation {
    gnomon_op_info info;
    gnomon_tensor inputs[MOST_INPUTS];
    gnomon_attribute attributes[MOST_ATTRIBUTES];
    int64_t dims[MOST_INPUTS][MOST_DIMS];
    char json[MOST_ATTRIBUTES][64];
    char name[64];
    bool has_types; /* torch's sizes have none */
} operation;

/* ---- Arguments ---------------------------------------------------------------------------- */

static void add_input(operation *o, const gnomon__literal *shape,
                      const char *dtype)
{
    if (o->info.input_count == MOST_INPUTS || shape->count > MOST_DIMS)
        return;
    const size_t n = o->info.input_count++;
    const gnomon__literal *dim = shape + 1;
    for (uint32_t i = 0; i < shape->count; i++, dim = gnomon__literal_next(dim))
        o->dims[n][i] =
            dim->kind == GNOMON__LITERAL_INTEGER ? dim->of.integer : 1;
    o->inputs[n] = (gnomon_tensor){.struct_size = sizeof *o->inputs,
                                   .rank = shape->count,
                                   .dtype = dtype,
                                   .dims = o->dims[n]};
}

/* A number, a word or a list of numbers as JSON. Others are left out. */
static bool put_json(char *to, size_t size, const gnomon__literal *l)
{
    switch (l->kind) {
    case GNOMON__LITERAL_INTEGER:
        snprintf(to, size, "%" PRId64, l->of.integer);
        return true;
    case GNOMON__LITERAL_BOOL:
        snprintf(to, size, "%s", l->of.integer ? "true" : "false");
        return true;
    case GNOMON__LITERAL_LIST:
    case GNOMON__LITERAL_TUPLE:
        break;
    default:
        return false;
    }
    size_t n = (size_t)snprintf(to, size, "[");
    const gnomon__literal *part = l + 1;
    for (uint32_t i = 0; i < l->count; i++, part = gnomon__literal_next(part)) {
        if (part->kind != GNOMON__LITERAL_INTEGER || n + 24 > size)
            return false;
        n += (size_t)snprintf(to + n, size - n, "%s%" PRId64, i ? "," : "",
                              part->of.integer);
    }
    snprintf(to + n, size - n, "]");
    return true;
}

static void add_attribute(operation *o, const char *key,
                          const gnomon__literal *value)
{
    const size_t n = o->info.attribute_count;
    if (n == MOST_ATTRIBUTES || !value ||
        !put_json(o->json[n], sizeof *o->json, value))
        return;
    o->attributes[n] = (gnomon_attribute){
        .struct_size = sizeof *o->attributes, .key = key, .json = o->json[n]};
    o->info.attribute_count++;
}

/* What torch calls the arguments of a convolution that have no name. */
static const char *place_name(const operation *o, uint32_t place)
{
    static const char *const names[] = {
        "input", "weight", "bias", "stride", "padding", "dilation", "groups"};
    return !strncmp(o->name, "conv", 4) && place < 7 ? names[place] : "";
}

static void add_argument(operation *o, const gnomon__literal *a, uint32_t place)
{
    const char *type = gnomon__literal_text(gnomon__literal_get(a, "type"));
    const char *name = gnomon__literal_text(gnomon__literal_get(a, "name"));
    const gnomon__literal *shape = gnomon__literal_get(a, "shape");
    const char *dtype = gnomon__literal_text(gnomon__literal_get(a, "dtype"));
    if (type && (!strcmp(type, "tensor") || !strcmp(type, "ndarray")) &&
        gnomon__literal_is_list(shape))
        add_input(o, shape, dtype ? dtype : "");
    else
        add_attribute(o, name && *name ? name : place_name(o, place),
                      gnomon__literal_get(a, "value"));
}

static void begin_operation(operation *o, const char *name)
{
    *o = (operation){.info.struct_size = sizeof o->info};
    name += strspn(name, "_");
    snprintf(o->name, sizeof o->name, "%s", name);
    for (size_t n = strlen(o->name); n && o->name[n - 1] == '_'; n--)
        o->name[n - 1] = 0;
    o->info.operation = o->name;
    o->info.inputs = o->inputs;
    o->info.attributes = o->attributes;
}

/* Of PyProf's first marker, the outermost call that it saw. */
static bool from_marker(operation *o, gnomon__work *w,
                        const gnomon__nsys_record *r)
{
    if (!r->markers.count || !gnomon__marker_set(&w->marker, r->markers.at[0],
                                                 strlen(r->markers.at[0])))
        return false;
    const gnomon__literal *args = gnomon__literal_get(w->marker.value, "args");
    if (!gnomon__literal_is_list(args))
        return false;
    begin_operation(o, r->ops.at[0]);
    const gnomon__literal *a = args + 1;
    for (uint32_t i = 0; i < args->count; i++, a = gnomon__literal_next(a))
        add_argument(o, a, i);
    o->has_types = true;
    return true;
}

/* Of "[[2, 3], [], ...]", which ends where other fields of the text begin. */
static bool from_sizes(operation *o, gnomon__work *w,
                       const gnomon__nsys_record *r)
{
    size_t n = 0;
    int depth = 0;
    const char *colon;
    if (!r->sizes || !r->ops.count)
        return false;
    do
        depth += (r->sizes[n] == '[') - (r->sizes[n] == ']');
    while (r->sizes[n++] && depth);
    const gnomon__literal *sizes =
        gnomon__literal_read(&w->marker.literals, r->sizes, n);
    if (!sizes || !gnomon__literal_is_list(sizes))
        return false;
    const char *name = r->ops.at[0];
    begin_operation(o, (colon = strrchr(name, ':')) ? colon + 1 : name);
    const gnomon__literal *shape = sizes + 1;
    for (uint32_t i = 0; i < sizes->count;
         i++, shape = gnomon__literal_next(shape))
        if (gnomon__literal_is_list(shape))
            add_input(o, shape, "");
    return true;
}

/* ---- Figures ---------------------------------------------------------------------------- */

static bool is_product(const operation *o)
{
    return gnomon__op_word_in(
        "mm bmm addmm baddbmm matmul linear mv dot conv1d conv2d "
        "conv3d convolution conv_transpose1d conv_transpose2d "
        "conv_transpose3d",
        o->name);
}

/* Whether it multiplies, and does not only prepare or finish that. */
static bool multiplies(const char *kernel)
{
    static const char *const helps[] = {"splitKreduce",
                                        "reduce_1Block",
                                        "nchwToNhwc",
                                        "nhwcToNchw",
                                        "OffsetsKernel",
                                        "elementwise",
                                        "reduce_kernel",
                                        "scaleTensor",
                                        "flip_filter",
                                        "compute_gemm_pointers",
                                        "transpose",
                                        "kernelReduce",
                                        "generateWinogradTiles",
                                        "winogradForwardData",
                                        "winogradForwardOutput",
                                        "winogradForwardFilter",
                                        "winogradWgrad"};
    static const char *const does[] = {"gemm",    "Gemm", "gemv",  "dot_kernel",
                                       "cutlass", "conv", "cudnn", "xmma",
                                       "nvjet",   "grad", "fprop", "winograd"};
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (strstr(kernel, helps[i]))
            return false;
    for (size_t i = 0; i < sizeof does / sizeof *does; i++)
        if (strstr(kernel, does[i]))
            return true;
    return false;
}

/* How many products of this operation came before; of others, how many kernels. */
static uint32_t come_before(gnomon__work *w, const gnomon__nsys_record *r,
                            bool counts)
{
    char own[sizeof w->last];
    snprintf(own, sizeof own, "%u %" PRIu64 " %s %s", r->is_backward,
             r->instance, r->seqs.count ? r->seqs.at[0] : "",
             r->ops.count ? r->ops.at[0] : "");
    const bool is_same = (r->instance || r->sub) && !strcmp(own, w->last);
    memcpy(w->last, own, sizeof own);
    w->products = is_same ? w->products : 0;
    const uint32_t before = w->products;
    w->products += counts;
    return before;
}

static void set_figures(gnomon__work *w, const gnomon__nsys_record *r,
                        operation *o)
{
    const bool is_made = is_product(o),
               counts = !is_made || multiplies(r->long_name);
    const uint32_t before = come_before(w, r, counts);
    if (r->is_backward && !is_made)
        o->info.flags = GNOMON_OP_BACKWARD;
    const gnomon__op_cost cost = gnomon__op_cost_of(&o->info);
    w->is_known = cost.is_known;
    if (!counts || before > (is_made && r->is_backward))
        return;
    w->flops = o->has_types || is_made ? cost.flops : 0;
    w->bytes = o->has_types ? cost.bytes : 0;
}

static const char *short_type(const char *dtype)
{
    static const char *const names[][2] = {
        {"float32", "fp32"}, {"float", "fp32"},    {"float16", "fp16"},
        {"half", "fp16"},    {"bfloat16", "bf16"}, {"float64", "fp64"},
        {"double", "fp64"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(dtype, names[i][0]))
            return names[i][1];
    return dtype;
}

/* "[2,3]fp32;[3,4]fp32,": tensors and what else was given. */
static bool set_params(gnomon__work *w, const operation *o)
{
    const size_t most = 64 + o->info.input_count * (MOST_DIMS * 21 + 32) +
                        o->info.attribute_count * 128;
    if (w->params_room < most) {
        char *more = realloc(w->params, most);
        if (!more)
            return false;
        w->params = more;
        w->params_room = most;
    }
    size_t n = (size_t)snprintf(w->params, most, "%s",
                                o->info.input_count ? "T=" : "na=na");
    for (size_t i = 0; i < o->info.input_count; i++) {
        const gnomon_tensor *t = &o->inputs[i];
        n += (size_t)snprintf(w->params + n, most - n, "%s[", i ? ";" : "");
        for (uint32_t d = 0; d < t->rank; d++)
            n += (size_t)snprintf(w->params + n, most - n, "%s%" PRId64,
                                  d ? "," : "", t->dims[d]);
        n += (size_t)snprintf(w->params + n, most - n, "]%.24s",
                              short_type(t->dtype));
    }
    for (size_t i = 0; i < o->info.attribute_count; i++)
        if (*o->attributes[i].key)
            n += (size_t)snprintf(w->params + n, most - n, ",%.32s=%s",
                                  o->attributes[i].key, o->attributes[i].json);
    snprintf(w->params + n, most - n, ",");
    return true;
}

static void set_tensor_cores(gnomon__work *w, const gnomon__nsys_record *r,
                             const operation *o)
{
    const char *by_name = gnomon__tensor_cores_of(r->long_name);
    if (*by_name == '0')
        by_name = !w->is_known                                ? "na"
                  : is_product(o) && multiplies(r->long_name) ? "0"
                                                              : "-";
    w->tensor_cores = by_name;
}

/* ---- Forward and backward ------------------------------------------------------------------ */

/* What a forward operation lends. */
struct gnomon__forward {
    uint64_t key; /* process and number; 0: free */
    uint64_t seq;
    int64_t process;
    char *texts; /* see lend */
    size_t size;
};

static uint64_t hash_of(int64_t process, uint64_t seq)
{
    const uint64_t h = (seq + 1) * 0x9e3779b97f4a7c15ull ^
                       (uint64_t)process * 0xc2b2ae3d27d4eb4full;
    return h ? h : 1;
}

static struct gnomon__forward *forward_at(gnomon__work *w, int64_t process,
                                          uint64_t seq)
{
    const uint64_t key = hash_of(process, seq);
    for (size_t i = (size_t)(key >> 20);; i++) {
        struct gnomon__forward *f = &w->forwards[i & (w->forward_room - 1)];
        if (!f->key ||
            (f->key == key && f->seq == seq && f->process == process))
            return f;
    }
}

static bool widen_forwards(gnomon__work *w)
{
    struct gnomon__forward *old = w->forwards;
    const size_t room = w->forward_room;
    w->forward_room = room ? room * 2 : 256;
    w->forwards = calloc(w->forward_room, sizeof *w->forwards);
    if (!w->forwards) {
        w->forwards = old;
        w->forward_room = room;
        return false;
    }
    for (size_t i = 0; i < room; i++)
        if (old[i].key)
            *forward_at(w, old[i].process, old[i].seq) = old[i];
    free(old);
    return true;
}

/* The lists that a backward kernel gets, in the order of `texts`. */
static void lent_lists(gnomon__nsys_record *r, gnomon__texts *out[6])
{
    out[0] = &r->markers;
    out[1] = &r->reprs;
    out[2] = &r->mods;
    out[3] = &r->ops;
    out[4] = &r->layers;
    out[5] = &r->trace;
}

/* Keeps each list as its texts, with a 1 before each and a 2 behind the list. */
static bool keep_forward(gnomon__work *w, gnomon__nsys_record *r)
{
    gnomon__texts *lists[6];
    size_t size = 1;
    if (w->forward_count * 2 >= w->forward_room && !widen_forwards(w))
        return false;
    const uint64_t seq = strtoull(r->seqs.at[0], NULL, 10);
    struct gnomon__forward *f = forward_at(w, r->process, seq);
    lent_lists(r, lists);
    for (int k = 0; k < 6; k++, size++)
        for (size_t i = 0; i < lists[k]->count; i++)
            size += strlen(lists[k]->at[i]) + 2;
    char *texts = realloc(f->texts, size), *to = texts;
    if (!texts)
        return false;
    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < lists[k]->count; i++) {
            *to++ = 1;
            to = stpcpy(to, lists[k]->at[i]) + 1;
        }
        *to++ = 2;
    }
    w->forward_count += !f->key;
    *f = (struct gnomon__forward){hash_of(r->process, seq), seq, r->process,
                                  texts, size};
    return true;
}

static bool lend(gnomon__nsys_record *r, const struct gnomon__forward *f)
{
    gnomon__texts *lists[6];
    const char *at = f->texts;
    lent_lists(r, lists);
    for (int k = 0; k < 6; k++, at++) {
        lists[k]->count = 0;
        for (; *at == 1; at += strlen(at) + 1)
            gnomon__nsys_record_list(r, lists[k], at + 1);
    }
    return !r->has_no_memory;
}

/* By its number, or by one of those of the ranges around it. */
static bool borrow(gnomon__work *w, gnomon__nsys_record *r)
{
    if (!w->forward_room)
        return true;
    for (size_t i = 0; i < 1 + r->other_seqs.count; i++) {
        const char *seq = i ? r->other_seqs.at[i - 1] : r->seqs.at[0];
        const struct gnomon__forward *f =
            forward_at(w, r->process, strtoull(seq, NULL, 10));
        if (f->key)
            return lend(r, f);
    }
    return true;
}

bool gnomon__work_of(gnomon__work *w, gnomon__nsys_record *r)
{
    operation o;
    w->flops = w->bytes = 0;
    w->is_known = false;
    if (r->seqs.count && r->is_backward && !r->markers.count && !borrow(w, r))
        return false;
    if (r->seqs.count && !r->is_backward && r->markers.count &&
        !keep_forward(w, r))
        return false;
    begin_operation(&o, "");
    if (from_marker(&o, w, r) || from_sizes(&o, w, r))
        set_figures(w, r, &o);
    if (!set_params(w, &o))
        return false;
    set_tensor_cores(w, r, &o);
    w->mod = r->mods.count ? r->mods.at[0] : "na";
    w->op = r->ops.count ? r->ops.at[0] : "na";
    return true;
}

void gnomon__work_free(gnomon__work *w)
{
    for (size_t i = 0; i < w->forward_room; i++)
        free(w->forwards[i].texts);
    free(w->forwards);
    free(w->params);
    gnomon__marker_free(&w->marker);
    *w = (gnomon__work){0};
}
