/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* An operation's name says its formula and the formula's weights; all formulas that are not
 * products are here. N: elements; e: their bytes.
 *
 * Sources: products.c; torch's profiler (torch/csrc/profiler/util.cpp) for
 * gnomon__torch_flops; the weights are conventions: an addition, a comparison and a product
 * are 1, a root, an exponential or a logarithm 20, and compositions what their usual code
 * does. Nobody counted them, so that they are "by definition". */
#include "ops/cost.h"

#include <string.h>

#include "ops/products.h"

enum formula {
    OF_MM,
    OF_ADDMM,
    OF_MATMUL,
    OF_LINEAR,
    OF_GROUPED,
    OF_CONV,
    OF_CONV_TRANSPOSED,
    OF_ATTENTION,
    OF_MASKED, /* as EACH, with a mask of one byte an element */
    OF_EACH,   /* of the first operand: flops, and passes over it, an element */
    OF_JOINED, /* of operands that are broadcast: flops for each result */
    OF_COMPARED, /* likewise, with results of one byte */
    OF_REDUCED,  /* flops an element; reads all, writes little */
    OF_NORM, /* flops an element; statistics for each row; weight and bias */
    OF_GROUP_NORM, /* likewise, of the attribute num_groups rows a batch */
    OF_GATED,      /* of two halves of the first operand */
    OF_MOVED,      /* reads all operands, writes as much */
    OF_READ,       /* reads or writes each operand once */
    OF_PICKED,     /* reads and writes what the last operand lists */
    OF_EMBEDDING,
    OF_POOL,
    OF_LOSS, /* flops for each element of the first operand, which all are read */
    OF_UPDATED, /* a step of an optimizer: operands are its parameters */
    OF_NOTHING
};

/* `forward` and `backward`: flops an element. `moves`: how often the elements of the first
 * operand are moved, in the forward pass and in the backward pass; of UPDATED the state's
 * tensors of float32 for each parameter, in bytes moved. */
typedef struct op_rule {
    const char *names;
    uint8_t formula, forward, backward, moves, backward_moves;
    bool is_counted;
} op_rule;

static const op_rule op_rules[] = {
    {"mm bmm scaled_mm", OF_MM, 0, 0, 0, 0, true},
    {"addmm baddbmm", OF_ADDMM, 0, 0, 0, 0, true},
    {"matmul mv dot vdot", OF_MATMUL, 0, 0, 0, 0, true},
    {"linear", OF_LINEAR, 0, 0, 0, 0, true},
    {"grouped_mm", OF_GROUPED, 0, 0, 0, 0, true},
    {"conv1d conv2d conv3d convolution convolution_overrideable "
     "cudnn_convolution mkldnn_convolution thnn_conv2d",
     OF_CONV, 0, 0, 0, 0, true},
    {"conv_transpose1d conv_transpose2d conv_transpose3d", OF_CONV_TRANSPOSED,
     0, 0, 0, 0, true},
    {"attention", OF_ATTENTION, 0, 0, 0, 0, true},
    {"abs neg relu relu6 leaky_relu prelu rrelu threshold hardtanh "
     "hardshrink softshrink softsign tanhshrink celu elu selu "
     "log_sigmoid softplus clamp clamp_min clamp_max ceil floor "
     "round frac sign trunc bitwise_not logical_not reciprocal "
     "cumsum",
     OF_EACH, 1, 1, 2, 3, false},
    {"exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan "
     "asin acos atan sinh cosh tanh sigmoid erf erfc erfinv gelu",
     OF_EACH, 20, 20, 2, 3, false},
    {"silu", OF_EACH, 5, 5, 2, 3, false},
    {"softmax log_softmax", OF_EACH, 5, 4, 2, 3, false},
    {"rope rotary_embedding", OF_EACH, 3, 3, 2, 2, false},
    {"batch_norm cudnn_batch_norm", OF_EACH, 8, 8, 4, 5, false},
    {"dropout", OF_MASKED, 5, 1, 2, 2, false},
    {"clone contiguous to to_copy type_as masked_fill masked_select", OF_EACH,
     0, 0, 2, 2, false},
    {"any all fill zero zeros_like ones_like full_like", OF_EACH, 0, 0, 1, 1,
     false},
    {"sum amax amin max min argmax argmin", OF_REDUCED, 1, 0, 1, 1, true},
    {"mean", OF_REDUCED, 1, 0, 2, 2, true},
    {"norm linalg_vector_norm", OF_REDUCED, 2, 0, 2, 2, true},
    {"layer_norm", OF_NORM, 7, 14, 3, 3, false},
    {"rms_norm fused_rms_norm", OF_NORM, 4, 9, 2, 2, false},
    {"group_norm", OF_GROUP_NORM, 7, 14, 3, 3, false},
    {"glu swiglu geglu reglu", OF_GATED, 5, 5, 3, 5, false},
    {"add sub rsub", OF_JOINED, 1, 0, 2, 2, true},
    {"mul div true_divide", OF_JOINED, 1, 1, 3, 3, true},
    {"remainder fmod floor_divide maximum minimum", OF_JOINED, 1, 1, 3, 3,
     false},
    {"pow atan2", OF_JOINED, 20, 20, 3, 3, false},
    {"addcmul addcdiv lerp", OF_JOINED, 3, 3, 4, 4, true},
    {"where", OF_JOINED, 0, 0, 3, 3, false},
    {"bitwise_and bitwise_or bitwise_xor", OF_JOINED, 1, 0, 2, 2, false},
    {"eq ne lt le gt ge logical_and logical_or logical_xor", OF_COMPARED, 1, 0,
     0, 0, false},
    {"cat stack", OF_MOVED, 0, 0, 0, 0, false},
    {"copy", OF_READ, 0, 0, 0, 0, false},
    {"view unsafe_view reshape t transpose permute expand squeeze "
     "unsqueeze select slice narrow detach as_strided alias chunk "
     "split unbind",
     OF_NOTHING, 0, 0, 0, 0, false},
    {"gather take_along_dim", OF_PICKED, 0, 0, 1, 1, false},
    {"index_select", OF_PICKED, 0, 0, 2, 2, false},
    {"embedding", OF_EMBEDDING, 0, 1, 2, 3, true},
    {"max_pool1d avg_pool1d", OF_POOL, 1, 1, 1, 1, true},
    {"max_pool2d avg_pool2d", OF_POOL, 1, 1, 2, 2, true},
    {"max_pool3d avg_pool3d", OF_POOL, 1, 1, 3, 3, true},
    {"mse_loss", OF_LOSS, 3, 3, 0, 0, false},
    {"l1_loss", OF_LOSS, 2, 1, 0, 0, false},
    {"cross_entropy cross_entropy_loss", OF_LOSS, 5, 4, 0, 0, false},
    {"adam adamw", OF_UPDATED, 16, 16, 16, 16, false},
    {"sgd", OF_UPDATED, 5, 5, 8, 8, false},
};

/* ---- Formulas --------------------------------------------------------------------- */

typedef struct op_problem {
    const op_rule *rule;
    gnomon__operands o;
    uint64_t n, e; /* of the first operand */
    uint64_t weight, moves;
} op_problem;

static void set_work(gnomon__op_cost *w, uint64_t flops, uint64_t bytes)
{
    w->flops = flops;
    w->bytes = bytes;
}

static uint64_t moved_by(const op_problem *p)
{
    return gnomon__times(gnomon__times(p->moves, p->n), p->e);
}

static bool work_each(const op_problem *p, gnomon__op_cost *w)
{
    const uint64_t mask = p->rule->formula == OF_MASKED ? p->n : 0;
    set_work(w, gnomon__times(p->weight, p->n),
             gnomon__plus(gnomon__plus(moved_by(p), mask),
                          gnomon__bytes_from(&p->o, 1)));
    return true;
}

/* A backward pass reads a gradient of the result, and of a product the other operand, and
 * writes the operands' gradients: `moves` results. */
static bool work_joined(const op_problem *p, bool is_compared,
                        gnomon__op_cost *w)
{
    uint64_t out;
    if (!gnomon__broadcast(&p->o, 3, 0, &out))
        return false;
    const uint64_t made = gnomon__times(out, is_compared ? 1 : p->e);
    set_work(w, gnomon__times(p->weight, out),
             p->o.is_backward
                 ? gnomon__times(p->moves, made)
                 : gnomon__plus(gnomon__bytes_from(&p->o, 0), made));
    return true;
}

static bool work_reduced(const op_problem *p, gnomon__op_cost *w)
{
    const bool is_last = p->rule->moves > 1; /* one flop more: mean, norm */
    set_work(w, gnomon__plus(gnomon__times(p->weight, p->n), is_last),
             gnomon__plus(gnomon__times(p->n, p->e), p->e));
    return true;
}

/* Rows are what the last dim leaves; their statistics are of 4 bytes each: `moves` - 1 of
 * them. */
static bool work_norm(const op_problem *p, gnomon__op_cost *w)
{
    const bool is_grouped = p->rule->formula == OF_GROUP_NORM;
    const int64_t groups = gnomon__op_number(p->o.op, "num_groups", 0);
    const uint64_t rows =
        is_grouped
            ? gnomon__times(gnomon__dim(&p->o.at[0], 0), (uint64_t)groups)
            : gnomon__elements_before(&p->o.at[0], -1);
    if (is_grouped && groups < 1)
        return false;
    const uint64_t passes = p->o.is_backward ? 3 : 2;
    const uint64_t kept =
        gnomon__times(4 * (uint64_t)(p->rule->moves - 1), rows);
    set_work(w, gnomon__times(p->weight, p->n),
             gnomon__plus(gnomon__times(passes, gnomon__times(p->n, p->e)),
                          gnomon__plus(kept, gnomon__bytes_from(&p->o, 1))));
    return true;
}

static bool work_gated(const op_problem *p, gnomon__op_cost *w)
{
    set_work(w, gnomon__times(p->weight, p->n / 2),
             gnomon__times(p->moves, gnomon__times(p->n / 2, p->e)));
    return p->n % 2 == 0;
}

static bool work_moved(const op_problem *p, gnomon__op_cost *w)
{
    set_work(w, 0,
             gnomon__times(p->rule->formula == OF_READ ? 1 : 2,
                           gnomon__bytes_from(&p->o, 0)));
    return true;
}

/* index_select takes whole slices along `dim`, gather single elements. */
static bool work_picked(const op_problem *p, gnomon__op_cost *w)
{
    const gnomon_tensor *index = &p->o.at[p->o.count - 1];
    uint64_t out = gnomon__elements(index);
    if (p->o.count < 2)
        return false;
    if (p->rule->moves > 1) {
        const int64_t dim = gnomon__op_number(p->o.op, "dim", 0);
        const uint64_t along =
            dim > -64 && dim < 64 ? gnomon__dim(&p->o.at[0], (int)dim) : 0;
        if (!along)
            return false;
        out = gnomon__times(out, p->n / along);
    }
    set_work(w, 0,
             gnomon__plus(gnomon__times(2, gnomon__times(out, p->e)),
                          gnomon__bytes(index)));
    return true;
}

static bool work_embedding(const op_problem *p, gnomon__op_cost *w)
{
    const gnomon_tensor *table = &p->o.at[0], *index = &p->o.at[1];
    const uint64_t rows =
        gnomon__times(gnomon__elements(index), gnomon__dim(table, -1));
    if (p->o.count < 2 || table->rank != 2)
        return false;
    set_work(w, p->o.is_backward ? rows : 0,
             gnomon__plus(gnomon__bytes(index),
                          gnomon__times(p->moves, gnomon__times(rows, p->e))));
    return true;
}

static bool work_pool(const op_problem *p, gnomon__op_cost *w)
{
    const gnomon_tensor *x = &p->o.at[0];
    const size_t dims = p->rule->moves;
    int64_t kernel[GNOMON__SPATIAL], stride[GNOMON__SPATIAL],
        padding[GNOMON__SPATIAL], dilation[GNOMON__SPATIAL];
    uint64_t out = 1, window = 1;
    if (x->rank < dims + 1 ||
        !gnomon__op_numbers(p->o.op, "kernel_size", 0, kernel, dims) ||
        !gnomon__op_numbers(p->o.op, "stride", 0, stride, dims) ||
        !gnomon__op_numbers(p->o.op, "padding", 0, padding, dims) ||
        !gnomon__op_numbers(p->o.op, "dilation", 1, dilation, dims))
        return false;
    for (size_t d = 0; d < dims; d++) {
        if (kernel[d] < 1)
            return false;
        window = gnomon__times(window, (uint64_t)kernel[d]);
        out = gnomon__times(
            out, gnomon__window_count(gnomon__dim(x, (int)d - (int)dims),
                                      (uint64_t)kernel[d],
                                      stride[d] ? stride[d] : kernel[d],
                                      padding[d], dilation[d]));
    }
    out = gnomon__times(out, gnomon__elements_before(x, -(int)dims));
    set_work(w, gnomon__times(out, window),
             gnomon__times(gnomon__plus(p->n, out), p->e));
    return true;
}

static bool work_loss(const op_problem *p, gnomon__op_cost *w)
{
    const uint64_t read = gnomon__bytes_from(&p->o, 0);
    set_work(w, gnomon__times(p->weight, p->n),
             gnomon__plus(read, p->o.is_backward ? gnomon__bytes(&p->o.at[0])
                                                 : p->e));
    return true;
}

/* Reads parameter and gradient, writes the parameter; reads and writes each state. */
static bool work_updated(const op_problem *p, gnomon__op_cost *w)
{
    for (size_t i = 0; i < p->o.op->input_count; i++) {
        const gnomon_tensor *t = gnomon_input_at(p->o.op, i);
        gnomon__operands one;
        if (!gnomon__operands_of(&one, p->o.op, i))
            return false;
        const uint64_t n = gnomon__elements(t);
        const uint64_t each = 3 * gnomon__element_bytes(t->dtype) + p->moves;
        w->flops = gnomon__plus(w->flops, gnomon__times(p->weight, n));
        w->bytes = gnomon__plus(w->bytes, gnomon__times(each, n));
    }
    return true;
}

static bool work_of(const op_problem *p, gnomon__op_cost *w)
{
    switch (p->rule->formula) {
    case OF_MM:
        return gnomon__cost_mm(&p->o, 0, w);
    case OF_ADDMM:
        return gnomon__cost_mm(&p->o, 1, w);
    case OF_MATMUL:
        return gnomon__cost_matmul(&p->o, w);
    case OF_LINEAR:
        return gnomon__cost_linear(&p->o, w);
    case OF_GROUPED:
        return gnomon__cost_grouped(&p->o, w);
    case OF_CONV:
    case OF_CONV_TRANSPOSED:
        return gnomon__cost_convolution(
            &p->o, p->rule->formula == OF_CONV_TRANSPOSED, w);
    case OF_ATTENTION:
        return gnomon__cost_attention(&p->o, w);
    case OF_EACH:
    case OF_MASKED:
        return work_each(p, w);
    case OF_JOINED:
    case OF_COMPARED:
        return work_joined(p, p->rule->formula == OF_COMPARED, w);
    case OF_REDUCED:
        return work_reduced(p, w);
    case OF_NORM:
    case OF_GROUP_NORM:
        return work_norm(p, w);
    case OF_GATED:
        return work_gated(p, w);
    case OF_MOVED:
    case OF_READ:
        return work_moved(p, w);
    case OF_PICKED:
        return work_picked(p, w);
    case OF_EMBEDDING:
        return work_embedding(p, w);
    case OF_POOL:
        return work_pool(p, w);
    case OF_LOSS:
        return work_loss(p, w);
    case OF_UPDATED:
        return work_updated(p, w);
    default:
        return true;
    }
}

/* ---- Names ------------------------------------------------------------------------- */

static bool op_starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Without what says how the operation is run and not which: "aten::_softmax_backward_data"
 * is the backward pass of softmax, whose gradient is its first input. */
static void plain_name(char out[48], const char *name, bool *is_backward)
{
    const char *colon = strrchr(name, ':');
    name = colon ? colon + 1 : name;
    name += strspn(name, "_");
    if (op_starts(name, "native_"))
        name += 7;
    size_t length = strlen(name);
    char *end;
    if (length > 47)
        length = 47;
    memcpy(out, name, length);
    out[length] = 0;
    while (length && out[length - 1] == '_')
        out[--length] = 0;
    *is_backward = (end = strstr(out, "_backward")) != NULL && end > out;
    if (*is_backward)
        *end = 0;
    if (op_starts(out, "scaled_dot_product_") ||
        op_starts(out, "flash_attention_"))
        memcpy(out, "attention", sizeof "attention");
}

static const op_rule *rule_of(const char *name)
{
    for (size_t i = 0; i < sizeof op_rules / sizeof *op_rules; i++)
        if (gnomon__op_word_in(op_rules[i].names, name))
            return &op_rules[i];
    return NULL;
}

gnomon__op_cost gnomon__op_cost_of(const gnomon_op_info *op)
{
    gnomon__op_cost w = {0};
    op_problem p;
    char name[48];
    bool is_backward;
    plain_name(name, op->operation ? op->operation : "", &is_backward);
    p.rule = rule_of(name);
    if (!p.rule || !gnomon__operands_of(&p.o, op, is_backward) || !p.o.count)
        return w;
    p.o.is_backward |= is_backward;
    p.n = gnomon__elements(&p.o.at[0]);
    p.e = gnomon__element_bytes(p.o.at[0].dtype);
    p.weight = p.o.is_backward ? p.rule->backward : p.rule->forward;
    p.moves = p.o.is_backward ? p.rule->backward_moves : p.rule->moves;
    w.is_known = work_of(&p, &w);
    w.is_by_definition = w.is_known && !p.rule->is_counted && w.flops;
    if (!w.is_known)
        w.flops = w.bytes = 0;
    return w;
}

uint64_t gnomon__torch_flops(const gnomon_op_info *op)
{
    static const char *const products[] = {"aten::mm", "aten::bmm",
                                           "aten::addmm", "aten::baddbmm"};
    const char *name = op->operation ? op->operation : "";
    gnomon__operands o;
    gnomon__op_cost w = {0};
    if (!gnomon__operands_of(&o, op, 0) || !o.count)
        return 0;
    o.is_backward = false;
    if (strcmp(name, "aten::mul") == 0 || strcmp(name, "aten::add") == 0)
        return gnomon__elements(&o.at[0]);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (strcmp(name, products[i]) == 0)
            return gnomon__cost_mm(&o, i / 2, &w) ? w.flops : 0;
    const char *padding = gnomon__op_json(op, "padding");
    if (strcmp(name, "aten::conv2d") == 0 && o.at[0].rank == 4 && padding &&
        *padding != '"' && gnomon__op_json(op, "stride") &&
        gnomon__op_json(op, "dilation"))
        return gnomon__cost_convolution(&o, false, &w) ? w.flops : 0;
    return 0;
}
