/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes an operation of PyProf's arguments or of torch's sizes, for ops/cost.h. */
#include "nsys/work.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ops/cost.h"
#include "ops/operands.h"
#include "platform/memory.h"

/* ---- Arguments ---------------------------------------------------------------------------- */

static void add_input(gnomon__operation *o, const gnomon__literal *shape,
                      const char *dtype)
{
    if (o->info.input_count == GNOMON__OP_MOST_INPUTS ||
        shape->count > GNOMON__OP_MOST_DIMS)
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

static void add_attribute(gnomon__operation *o, const char *key,
                          const gnomon__literal *value)
{
    const size_t n = o->info.attribute_count;
    if (n == GNOMON__OP_MOST_ATTRIBUTES || !key || !value ||
        !put_json(o->json[n], sizeof *o->json, value))
        return;
    o->attributes[n] = (gnomon_attribute){
        .struct_size = sizeof *o->attributes, .key = key, .json = o->json[n]};
    o->info.attribute_count++;
}

/* What torch calls the arguments of a convolution that have no name. */
static const char *place_name(const gnomon__operation *o, uint32_t place)
{
    static const char *const names[] = {
        "input", "weight", "bias", "stride", "padding", "dilation", "groups"};
    return !strncmp(o->name, "conv", 4) && place < 7 ? names[place] : "";
}

static void add_argument(gnomon__operation *o, const gnomon__literal *a,
                         uint32_t place)
{
    const char *type = gnomon__literal_text_of(a, "type");
    const char *name = gnomon__literal_text_of(a, "name");
    const gnomon__literal *shape = gnomon__literal_get(a, "shape"),
                          *dims = gnomon__literal_get(a, "dims");
    const char *dtype = gnomon__literal_text_of(a, "dtype");
    if (gnomon__literal_is_list(dims)) /* gnomon's */
        add_input(o, dims, dtype ? dtype : "");
    else if (type && (!strcmp(type, "tensor") || !strcmp(type, "ndarray")) &&
             gnomon__literal_is_list(shape))
        add_input(o, shape, dtype ? dtype : "");
    else
        add_attribute(o, name && *name ? name : place_name(o, place),
                      gnomon__literal_get(a, "value"));
}

static void begin_operation(gnomon__operation *o, const char *name)
{
    *o = (gnomon__operation){.info.struct_size = sizeof o->info};
    name += strspn(name, "_");
    snprintf(o->name, sizeof o->name, "%s", name);
    for (size_t n = strlen(o->name); n && o->name[n - 1] == '_'; n--)
        o->name[n - 1] = 0;
    o->info.operation = o->name;
    o->info.inputs = o->inputs;
    o->info.attributes = o->attributes;
}

/* What gnomon's own texts say besides: attributes and figures. */
static void add_said(gnomon__operation *o, const gnomon__literal *of)
{
    const gnomon__literal *attributes = gnomon__literal_get(of, "type");
    if (attributes && attributes->kind == GNOMON__LITERAL_DICT)
        for (uint32_t i = 0; i < attributes->count; i += 2)
            add_attribute(
                o, gnomon__literal_text(gnomon__literal_part(attributes, i)),
                gnomon__literal_part(attributes, i + 1));
    o->flops = gnomon__literal_count_of(of, "flops");
    o->bytes = gnomon__literal_count_of(of, "bytes");
}

/* Of PyProf's first marker, the outermost call that it saw. */
static bool from_marker(gnomon__operation *o, gnomon__work *w,
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
    add_said(o, w->marker.value);
    if (!strcmp(o->name, "embedding") && o->info.input_count == 2 &&
        o->inputs[0].dtype[0] == 'i') { /* torch.nn.functional's has them so */
        const gnomon_tensor indices = o->inputs[0];
        o->inputs[0] = o->inputs[1];
        o->inputs[1] = indices;
    }
    o->has_types = true;
    return true;
}

/* Of "[[2, 3], [], ...]", which ends where other fields of the text begin. */
static bool from_sizes(gnomon__operation *o, gnomon__work *w,
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

static bool is_product(const gnomon__operation *o)
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
    return !gnomon__has_any(kernel, "splitKreduce\0reduce_1Block\0"
                                    "nchwToNhwc\0nhwcToNchw\0OffsetsKernel\0"
                                    "elementwise\0reduce_kernel\0"
                                    "scaleTensor\0flip_filter\0"
                                    "compute_gemm_pointers\0transpose\0"
                                    "kernelReduce\0generateWinogradTiles\0"
                                    "winogradForwardData\0"
                                    "winogradForwardOutput\0"
                                    "winogradForwardFilter\0winogradWgrad\0") &&
           gnomon__has_any(kernel, "gemm\0Gemm\0gemv\0dot_kernel\0cutlass\0"
                                   "conv\0cudnn\0xmma\0nvjet\0grad\0fprop\0"
                                   "winograd\0");
}

/* That a thread launched a kernel of. */
struct gnomon__last_operation {
    int64_t process, thread;
    char text[320];
    uint32_t products; /* so far */
};

/* There are few. NULL: no memory. */
static struct gnomon__last_operation *last_of(gnomon__work *w,
                                              const gnomon__nsys_record *r)
{
    for (size_t i = 0; i < w->last_count; i++)
        if (w->lasts[i].process == r->process &&
            w->lasts[i].thread == r->thread)
            return &w->lasts[i];
    if (!gnomon__grow_zeroed(&w->lasts, &w->last_room, w->last_count + 1,
                             sizeof *w->lasts))
        return NULL;
    w->lasts[w->last_count].process = r->process;
    w->lasts[w->last_count].thread = r->thread;
    return &w->lasts[w->last_count++];
}

/* How many products of this operation came before; of others, how many kernels. */
static uint32_t come_before(gnomon__work *w, gnomon__nsys_record *r,
                            bool counts)
{
    struct gnomon__last_operation *last = last_of(w, r);
    char own[sizeof last->text];
    if (!last) {
        r->has_no_memory = true;
        return 0;
    }
    snprintf(own, sizeof own, "%u %" PRIu64 " %" PRIu64 " %s", r->is_backward,
             r->instance, r->seqs.count ? r->seqs.at[0] : 0,
             r->ops.count ? r->ops.at[0] : "");
    const bool is_same =
        (r->instance || r->sub) && strcmp(own, last->text) == 0;
    memcpy(last->text, own, sizeof own);
    last->products = is_same ? last->products : 0;
    const uint32_t before = last->products;
    last->products += counts;
    return before;
}

/* What PyProf calls the kernels of a linear layer that do not multiply. */
static void set_bias(gnomon__work *w, const gnomon__operation *o)
{
    uint64_t n = o->info.input_count > 1 && o->inputs[1].rank
                     ? (uint64_t)o->inputs[1].dims[0]
                     : 0;
    for (uint32_t i = 0; n && i + 1 < o->inputs[0].rank; i++)
        n *= (uint64_t)o->inputs[0].dims[i];
    w->op_is_bias = true;
    w->flops = n;
    w->bytes = 2 * n * gnomon__element_bytes(o->inputs[0].dtype);
}

static void set_figures(gnomon__work *w, gnomon__nsys_record *r,
                        gnomon__operation *o)
{
    const bool is_made = is_product(o),
               counts = !is_made || r->is_whole || multiplies(r->long_name);
    const uint32_t before = come_before(w, r, counts);
    if (r->is_backward && !is_made)
        o->info.flags = GNOMON_OP_BACKWARD;
    gnomon__op_cost cost = gnomon__op_cost_of(&o->info);
    cost.flops = o->flops ? o->flops : cost.flops;
    cost.bytes = o->bytes ? o->bytes : cost.bytes;
    cost.is_known |= o->flops || o->bytes;
    if (w->is_pyprofs && !counts && !strcmp(o->name, "linear"))
        set_bias(w, o);
    w->is_known = cost.is_known;
    o->info.flops = cost.flops;
    o->info.bytes = cost.bytes;
    if (!counts || before > (is_made && r->is_backward))
        return;
    for (size_t i = 0; o->has_types && i < o->info.input_count; i++)
        w->input_bytes =
            gnomon__plus(w->input_bytes, gnomon__bytes(&o->inputs[i]));
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

static void put_param(gnomon__work *w, const char *format, ...)
    GNOMON_PRINTF(2, 3);

/* What does not fit is cut off: a parameter has at most 400 bytes, and there is room. */
static void put_param(gnomon__work *w, const char *format, ...)
{
    va_list arguments;
    if (w->params_used >= w->params_room)
        return;
    va_start(arguments, format);
    const int n = vsnprintf(w->params + w->params_used,
                            w->params_room - w->params_used, format, arguments);
    va_end(arguments);
    w->params_used += n > 0 ? (size_t)n : 0;
}

/* "(2,3)", or a lone size as a number. */
static void put_dims(gnomon__work *w, const char *name, const int64_t *dims,
                     uint32_t rank)
{
    put_param(w, rank == 1 ? "%s=" : "%s=(", name);
    for (uint32_t i = 0; i < rank; i++)
        put_param(w, "%s%" PRId64, i ? "," : "", dims[i]);
    put_param(w, rank == 1 ? "," : "),");
}

/* Of a convolution along dimension `i`, where one number may stand for all. */
static int64_t attribute_of(const gnomon__operation *o, const char *key, int i,
                            int64_t preset)
{
    int64_t all[2];
    return gnomon__op_numbers(&o->info, key, preset, all, o->inputs[0].rank - 2)
               ? all[i]
               : preset;
}

/* Along one dimension of a convolution. */
typedef struct filter {
    int64_t in, size, pad, stride, dilation, out;
} filter;

static filter filter_of(const gnomon__operation *o, uint32_t dim, int i)
{
    const int64_t *in = o->inputs[0].dims, *weight = o->inputs[1].dims;
    filter f = {.in = in[dim],
                .size = weight[dim],
                .pad = attribute_of(o, "padding", i, 0),
                .stride = attribute_of(o, "stride", i, 1),
                .dilation = attribute_of(o, "dilation", i, 1)};
    const int64_t span = f.in + 2 * f.pad - (f.size - 1) * f.dilation - 1;
    f.out = f.stride > 0 && span >= 0 ? span / f.stride + 1 : 0;
    return f;
}

static bool put_convolution(gnomon__work *w, const gnomon__operation *o)
{
    static const filter none = {1, 1, 0, 1, 1, 1};
    const uint32_t rank = o->info.input_count < 2 ? 0 : o->inputs[0].rank;
    if ((rank != 3 && rank != 4) || o->inputs[1].rank != rank)
        return false;
    const filter h = rank == 4 ? filter_of(o, 2, 0) : none,
                 v = filter_of(o, rank - 1, rank == 4);
    const int64_t *in = o->inputs[0].dims;
    put_param(w, "N=%" PRId64 ",C=%" PRId64 ",H=%" PRId64 ",W=%" PRId64, in[0],
              in[1], h.in, v.in);
    put_param(w, ",K=%" PRId64 ",P=%" PRId64 ",Q=%" PRId64 ",R=%" PRId64,
              o->inputs[1].dims[0], h.out, v.out, h.size);
    put_param(w, ",S=%" PRId64 ",ph=%" PRId64 ",pw=%" PRId64 ",U=%" PRId64,
              v.size, h.pad, v.pad, h.stride);
    put_param(w, ",V=%" PRId64 ",dh=%" PRId64 ",dw=%" PRId64 ",g=%" PRId64 ",",
              v.stride, h.dilation, v.dilation,
              gnomon__op_number(&o->info, "groups", 1));
    return true;
}

/* A linear layer's first backward product is that of its input, the second that of its
 * weights. */
static bool put_linear(gnomon__work *w, const gnomon__nsys_record *r,
                       const gnomon__operation *o)
{
    if (o->info.input_count < 2 || !o->inputs[0].rank || o->inputs[1].rank != 2)
        return false;
    const gnomon_tensor *x = &o->inputs[0];
    const int64_t *weight = o->inputs[1].dims;
    if (w->op_is_bias) {
        put_dims(w, "M", weight, 1);
        put_dims(w, "N", x->dims, x->rank - 1);
    } else if (r->is_backward && r->sub > 1) {
        put_dims(w, "X", x->dims, x->rank);
        put_dims(w, "W", weight, 2);
    } else if (r->is_backward && r->sub) {
        put_dims(w, "M", weight + 1, 1);
        put_dims(w, "N", weight, 1);
        put_dims(w, "K", x->dims, x->rank - 1);
    } else {
        put_dims(w, "M", weight + r->is_backward, 1);
        put_dims(w, "N", x->dims, x->rank - 1);
        put_dims(w, "K", weight + !r->is_backward, 1);
    }
    return true;
}

/* cuBLAS has columns first, so M and N are those of the other operand. */
static bool put_product(gnomon__work *w, const gnomon__operation *o)
{
    const uint32_t rank = !strcmp(o->name, "bmm") ? 3 : 2;
    const size_t first = !strcmp(o->name, "addmm");
    if (!strcmp(o->name, "matmul") && o->info.input_count > 1) {
        put_dims(w, "A", o->inputs[0].dims, o->inputs[0].rank);
        put_dims(w, "B", o->inputs[1].dims, o->inputs[1].rank);
        return true;
    }
    if (!gnomon__op_word_in("mm bmm addmm", o->name) ||
        o->info.input_count < first + 2 || o->inputs[first].rank != rank ||
        o->inputs[first + 1].rank != rank)
        return false;
    const int64_t *a = o->inputs[first].dims, *b = o->inputs[first + 1].dims;
    if (rank == 3)
        put_dims(w, "B", a, 1);
    put_dims(w, "M", b + rank - 1, 1);
    put_dims(w, "N", a + rank - 2, 1);
    put_dims(w, "K", a + rank - 1, 1);
    return true;
}

/* As PyProf: "M=120,N=32,K=400,fp32," of products and convolutions, else
 * "[2,3]fp32;[3,4]fp32". */
static bool set_params(gnomon__work *w, const gnomon__nsys_record *r,
                       const gnomon__operation *o)
{
    const size_t count = o->info.input_count;
    if (!gnomon__grow(&w->params, &w->params_room,
                      512 + count * (GNOMON__OP_MOST_DIMS * 21 + 32), 1))
        return false;
    w->params_used = 0;
    if ((gnomon__op_word_in("conv1d conv2d", o->name) &&
         put_convolution(w, o)) ||
        (!strcmp(o->name, "linear") && put_linear(w, r, o)) ||
        put_product(w, o)) {
        put_param(w, "%.24s,", short_type(o->inputs[0].dtype));
        return true;
    }
    put_param(w, count ? "" : "na=na,");
    for (size_t i = 0; i < count; i++) {
        const gnomon_tensor *t = &o->inputs[i];
        put_param(w, i ? ";[" : "[");
        for (uint32_t d = 0; d < t->rank; d++)
            put_param(w, "%s%" PRId64, d ? "," : "", t->dims[d]);
        put_param(w, "]%.24s", short_type(t->dtype));
    }
    return true;
}

static void set_tensor_cores(gnomon__work *w, const gnomon__nsys_record *r,
                             const gnomon__operation *o)
{
    const char *by_name = gnomon__tensor_cores_of(r->long_name);
    if (*by_name == '0')
        by_name = !w->is_known                                ? "na"
                  : is_product(o) && r->is_whole              ? "?"
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
    r->has_lent_layers = true;
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
    gnomon__operation *o = &w->operation;
    w->flops = w->bytes = w->input_bytes = 0;
    w->is_known = false;
    w->info = NULL;
    w->op_is_bias = false;
    if (r->seqs.count && r->is_backward && !r->markers.count)
        borrow(w, r);
    if (r->seqs.count && !r->is_backward && r->markers.count &&
        !keep_forward(w, r))
        return false;
    begin_operation(o, "");
    if (from_marker(o, w, r) || from_sizes(o, w, r)) {
        set_figures(w, r, o);
        w->info = *o->name ? &o->info : NULL;
    }
    if (r->has_work) {
        w->flops = r->flops;
        w->bytes = r->bytes;
        w->is_known = true;
    }
    if (!set_params(w, r, o) || r->has_no_memory)
        return false;
    set_tensor_cores(w, r, o);
    w->mod = r->mods.count ? r->mods.at[0] : "na";
    w->op = w->op_is_bias ? "bias" : r->ops.count ? r->ops.at[0] : "na";
    return true;
}

void gnomon__work_free(gnomon__work *w)
{
    free_forwards(&w->forwards[0]);
    free_forwards(&w->forwards[1]);
    gnomon__free(w->lasts);
    gnomon__free(w->params);
    gnomon__marker_free(&w->marker);
    *w = (gnomon__work){0};
}
