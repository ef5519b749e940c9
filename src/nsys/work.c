/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes an operation of PyProf's arguments or of torch's sizes, for ops/cost.h. */
#include "nsys/work.h"

#include <inttypes.h>
#include <string.h>

#include "ops/cost.h"
#include "ops/operands.h"
#include "platform/memory.h"

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
    snprintf(own, sizeof own, "%u %" PRIu64 " %" PRIu64 " %s", r->is_backward,
             r->instance, r->seqs.count ? r->seqs.at[0] : 0,
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
    if (!gnomon__grow(&w->params, &w->params_room, most, 1))
        return false;
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

struct gnomon__forward {
    int64_t process;
    uint64_t seq;
    size_t texts; /* where they begin: see keep_forward */
};

static int is_forward(const void *forwards, uint32_t item, const void *wanted)
{
    const struct gnomon__forward *f =
        &((const gnomon__forwards *)forwards)->at[item - 1];
    const struct gnomon__forward *key = wanted;
    return f->process == key->process && f->seq == key->seq;
}

static struct gnomon__forward *forward_of(const gnomon__forwards *of,
                                          int64_t process, uint64_t seq,
                                          uint64_t *hash)
{
    const struct gnomon__forward key = {process, seq, 0};
    *hash = gnomon__mix(gnomon__mix(0, (uint64_t)process), seq);
    const uint32_t item =
        gnomon__slots_find(&of->by_key, *hash, is_forward, of, &key);
    return item ? &of->at[item - 1] : NULL;
}

static void free_forwards(gnomon__forwards *f)
{
    gnomon__free(f->at);
    gnomon__free(f->texts);
    gnomon__slots_free(&f->by_key);
    *f = (gnomon__forwards){0};
}

/* The lists that a backward kernel gets, in the order of the texts. */
static void lent_lists(gnomon__nsys_record *r, gnomon__texts *out[6])
{
    out[0] = &r->markers;
    out[1] = &r->reprs;
    out[2] = &r->mods;
    out[3] = &r->ops;
    out[4] = &r->layers;
    out[5] = &r->trace;
}

/* Keeps each list as its texts, with a 1 before each and a 2 behind the list. Of several
 * kernels of one operation the last one's stay. */
static bool keep_forward(gnomon__work *w, gnomon__nsys_record *r)
{
    gnomon__forwards *of = &w->forwards[0];
    gnomon__texts *lists[6];
    uint64_t hash;
    size_t size = 6;
    lent_lists(r, lists);
    for (int k = 0; k < 6; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            size += strlen(lists[k]->at[i]) + 2;
    if (of->count >= GNOMON__FORWARDS ||
        of->used + size > GNOMON__FORWARD_BYTES) {
        free_forwards(&w->forwards[1]);
        w->forwards[1] = *of;
        *of = (gnomon__forwards){0};
    }
    struct gnomon__forward *f =
        forward_of(of, r->process, r->seqs.at[0], &hash);
    if (!gnomon__grow(&of->texts, &of->text_room, of->used + size, 1) ||
        (!f && (!gnomon__grow(&of->at, &of->room, of->count + 1, sizeof *f) ||
                gnomon__slots_add(&of->by_key, hash, (uint32_t)of->count + 1))))
        return false;
    f = f ? f : &of->at[of->count++];
    *f = (struct gnomon__forward){r->process, r->seqs.at[0], of->used};
    char *to = of->texts + of->used;
    of->used += size;
    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < lists[k]->count; i++) {
            *to++ = 1;
            to = stpcpy(to, lists[k]->at[i]) + 1;
        }
        *to++ = 2;
    }
    return true;
}

static void lend(gnomon__nsys_record *r, const char *at)
{
    gnomon__texts *lists[6];
    lent_lists(r, lists);
    for (int k = 0; k < 6; k++, at++) {
        lists[k]->count = 0;
        for (; *at == 1; at += strlen(at) + 1)
            gnomon__nsys_record_list(r, lists[k], at + 1);
    }
}

/* By its number, or by one of those of the ranges around it. */
static void borrow(gnomon__work *w, gnomon__nsys_record *r)
{
    uint64_t hash;
    if (!w->forwards[0].count)
        return; /* there are none of PyProf's markers */
    for (size_t i = 0; i < 1 + r->other_seqs.count; i++) {
        const uint64_t seq = i ? r->other_seqs.at[i - 1] : r->seqs.at[0];
        for (int k = 0; k < 2; k++) {
            const gnomon__forwards *of = &w->forwards[k];
            const struct gnomon__forward *f =
                forward_of(of, r->process, seq, &hash);
            if (f) {
                lend(r, of->texts + f->texts);
                return;
            }
        }
    }
    w->without_forward++;
}

bool gnomon__work_of(gnomon__work *w, gnomon__nsys_record *r)
{
    operation o;
    w->flops = w->bytes = 0;
    w->is_known = false;
    if (r->seqs.count && r->is_backward && !r->markers.count)
        borrow(w, r);
    if (r->seqs.count && !r->is_backward && r->markers.count &&
        !keep_forward(w, r))
        return false;
    begin_operation(&o, "");
    if (from_marker(&o, w, r) || from_sizes(&o, w, r))
        set_figures(w, r, &o);
    if (!set_params(w, &o) || r->has_no_memory)
        return false;
    set_tensor_cores(w, r, &o);
    w->mod = r->mods.count ? r->mods.at[0] : "na";
    w->op = r->ops.count ? r->ops.at[0] : "na";
    return true;
}

void gnomon__work_free(gnomon__work *w)
{
    free_forwards(&w->forwards[0]);
    free_forwards(&w->forwards[1]);
    gnomon__free(w->params);
    gnomon__marker_free(&w->marker);
    *w = (gnomon__work){0};
}
