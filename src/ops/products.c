/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* Formulas: torch/utils/flop_counter.py for the products; Dao et al., FlashAttention-2
 * (arXiv 2307.08691), section 4.1, for attention's backward pass, which computes one of
 * its products again. A backward pass makes two products for one. */
#include "ops/products.h"

#include <string.h>

#define SEQUENCES 256 /* the most sequences, or groups, of one operation */

/* What a product of these operands and this result does. */
static bool put_product(const gnomon__operands *o, uint64_t multiplications,
                        uint64_t result_bytes, gnomon__op_cost *w)
{
    const uint64_t read = gnomon__bytes_from(o, 0);
    w->flops = gnomon__times(o->is_backward ? 4 : 2, multiplications);
    w->bytes = gnomon__plus(read, result_bytes);
    if (o->is_backward) /* reads the gradient twice, writes that of each operand */
        w->bytes = gnomon__times(2, w->bytes);
    return true;
}

bool gnomon__cost_mm(const gnomon__operands *o, size_t first,
                     gnomon__op_cost *w)
{
    const gnomon_tensor *a = &o->at[first], *b = &o->at[first + 1];
    if (o->count < first + 2 || a->rank < 2 || a->rank != b->rank ||
        gnomon__dim(a, -1) != gnomon__dim(b, -2))
        return false;
    const uint64_t out =
        gnomon__times(gnomon__elements_before(a, -1), gnomon__dim(b, -1));
    return put_product(o, gnomon__times(out, gnomon__dim(a, -1)),
                       gnomon__times(out, gnomon__element_bytes(a->dtype)), w);
}

bool gnomon__cost_matmul(const gnomon__operands *o, gnomon__op_cost *w)
{
    const gnomon_tensor *a = &o->at[0], *b = &o->at[1];
    uint64_t batch;
    if (o->count < 2 || !a->rank || !b->rank ||
        gnomon__dim(a, -1) != gnomon__dim(b, b->rank > 1 ? -2 : -1) ||
        !gnomon__broadcast(o, 2, 2, &batch))
        return false;
    const uint64_t m = a->rank > 1 ? gnomon__dim(a, -2) : 1;
    const uint64_t n = b->rank > 1 ? gnomon__dim(b, -1) : 1;
    const uint64_t out = gnomon__times(batch, gnomon__times(m, n));
    return put_product(o, gnomon__times(out, gnomon__dim(a, -1)),
                       gnomon__times(out, gnomon__element_bytes(a->dtype)), w);
}

bool gnomon__cost_linear(const gnomon__operands *o, gnomon__op_cost *w)
{
    const gnomon_tensor *x = &o->at[0], *weight = &o->at[1];
    if (o->count < 2 || !x->rank || weight->rank != 2 ||
        gnomon__dim(x, -1) != gnomon__dim(weight, 1))
        return false;
    const uint64_t out =
        gnomon__times(gnomon__elements_before(x, -1), gnomon__dim(weight, 0));
    return put_product(o, gnomon__times(out, gnomon__dim(x, -1)),
                       gnomon__times(out, gnomon__element_bytes(x->dtype)), w);
}

bool gnomon__cost_grouped(const gnomon__operands *o, gnomon__op_cost *w)
{
    const gnomon_tensor *a = &o->at[0], *b = &o->at[1];
    int64_t tokens[SEQUENCES];
    uint64_t rows = 0, used = 0;
    const uint64_t groups = gnomon__dim(b, 0);
    if (o->count < 2 || a->rank != 2 || b->rank != 3 ||
        gnomon__dim(a, 1) != gnomon__dim(b, 1) || groups > SEQUENCES ||
        !groups ||
        gnomon__op_list(o->op, "tokens", tokens, SEQUENCES) != (int)groups)
        return false;
    for (uint64_t g = 0; g < groups; g++) {
        if (tokens[g] < 0)
            return false;
        rows = gnomon__plus(rows, (uint64_t)tokens[g]);
        used += tokens[g] > 0;
    }
    const uint64_t k = gnomon__dim(a, 1), n = gnomon__dim(b, 2);
    const uint64_t e = gnomon__element_bytes(a->dtype);
    put_product(o, gnomon__times(rows, gnomon__times(k, n)), 0, w);
    /* Weights of a group without tokens are not read. */
    w->bytes = gnomon__times(
        o->is_backward ? 2 : 1,
        gnomon__plus(gnomon__times(gnomon__times(rows, gnomon__plus(k, n)), e),
                     gnomon__times(gnomon__times(used, gnomon__times(k, n)),
                                   gnomon__element_bytes(b->dtype))));
    return true;
}

/* ---- Convolutions ----------------------------------------------------------------- */

uint64_t gnomon__window_count(uint64_t size, uint64_t kernel, int64_t stride,
                              int64_t padding, int64_t dilation)
{
    if (stride < 1 || dilation < 1 || padding < 0 || !kernel ||
        size > INT64_MAX / 4 || kernel > INT32_MAX || padding > INT32_MAX ||
        dilation > INT32_MAX)
        return 0;
    const int64_t room =
        (int64_t)size + 2 * padding - dilation * ((int64_t)kernel - 1) - 1;
    return room < 0 ? 0 : (uint64_t)(room / stride) + 1;
}

typedef struct conv_window {
    int64_t stride[GNOMON__SPATIAL], padding[GNOMON__SPATIAL],
        dilation[GNOMON__SPATIAL], output_padding[GNOMON__SPATIAL];
    bool is_same; /* as many outputs as inputs */
} conv_window;

static bool read_window(const gnomon_op_info *op, size_t dims, conv_window *s)
{
    const char *padding = gnomon__op_json(op, "padding");
    s->is_same = padding && strcmp(padding, "\"same\"") == 0;
    if (padding && *padding == '"') {
        if (!s->is_same && strcmp(padding, "\"valid\"") != 0)
            return false;
        memset(s->padding, 0, sizeof s->padding);
    } else if (!gnomon__op_numbers(op, "padding", 0, s->padding, dims)) {
        return false;
    }
    return gnomon__op_numbers(op, "stride", 1, s->stride, dims) &&
           gnomon__op_numbers(op, "dilation", 1, s->dilation, dims) &&
           gnomon__op_numbers(op, "output_padding", 0, s->output_padding, dims);
}

/* Of a transposed convolution the size whose windows are `size`. 0: there is none. */
static uint64_t conv_outputs(const conv_window *s, bool is_transposed, size_t d,
                             uint64_t size, uint64_t kernel)
{
    if (s->is_same)
        return size;
    if (!is_transposed)
        return gnomon__window_count(size, kernel, s->stride[d], s->padding[d],
                                    s->dilation[d]);
    if (s->stride[d] < 1 || s->dilation[d] < 1 || size < 1 ||
        size > INT32_MAX || kernel > INT32_MAX || s->stride[d] > INT32_MAX ||
        s->dilation[d] > INT32_MAX)
        return 0;
    const int64_t out = ((int64_t)size - 1) * s->stride[d] - 2 * s->padding[d] +
                        s->dilation[d] * ((int64_t)kernel - 1) +
                        s->output_padding[d] + 1;
    return out < 1 ? 0 : (uint64_t)out;
}

bool gnomon__cost_convolution(const gnomon__operands *o, bool is_transposed,
                              gnomon__op_cost *w)
{
    const gnomon_tensor *x = &o->at[0], *weight = &o->at[1];
    const size_t dims = weight->rank - 2;
    const int64_t groups = gnomon__op_number(o->op, "groups", 1);
    uint64_t in = 1, out = 1, kernel = 1;
    conv_window s;
    is_transposed |= gnomon__op_number(o->op, "transposed", 0) != 0;
    if (o->count < 2 || weight->rank < 3 || dims > GNOMON__SPATIAL ||
        x->rank < dims + 1 || x->rank > dims + 2 || groups < 1 ||
        !read_window(o->op, dims, &s))
        return false;
    const int first = -(int)dims; /* the first dim of both that is spatial */
    for (int d = 0; d < (int)dims; d++) {
        const uint64_t size = gnomon__dim(x, first + d);
        const uint64_t along = gnomon__dim(weight, first + d);
        const uint64_t outputs =
            conv_outputs(&s, is_transposed, (size_t)d, size, along);
        if (!outputs)
            return false;
        in = gnomon__times(in, size);
        kernel = gnomon__times(kernel, along);
        out = gnomon__times(out, outputs);
    }
    const uint64_t batch = x->rank == dims + 2 ? gnomon__dim(x, 0) : 1;
    const uint64_t channels = gnomon__dim(x, first - 1);
    const uint64_t there = gnomon__dim(weight, is_transposed ? 0 : 1);
    if (gnomon__times(there, is_transposed ? 1 : (uint64_t)groups) != channels)
        return false;
    /* Each input, or each output, meets the kernel of its group once. */
    const uint64_t results =
        is_transposed ? gnomon__times(gnomon__dim(weight, 1), (uint64_t)groups)
                      : gnomon__dim(weight, 0);
    const uint64_t made = gnomon__times(batch, gnomon__times(results, out));
    const uint64_t met = is_transposed
                             ? gnomon__times(batch, gnomon__times(channels, in))
                             : made;
    return put_product(
        o, gnomon__times(met, gnomon__times(gnomon__dim(weight, 1), kernel)),
        gnomon__times(made, gnomon__element_bytes(x->dtype)), w);
}

/* ---- Attention -------------------------------------------------------------------- */

/* How many pairs of a query and a key are computed. Causal: query i sees the keys up to
 * its own, where the last query is the last key's; of these the last `window`. */
static uint64_t query_pairs(uint64_t q, uint64_t k, bool is_causal,
                            uint64_t window)
{
    if (!is_causal)
        return gnomon__times(q, window && window < k ? window : k);
    const uint64_t before = k > q ? k - q : 0; /* keys before the first query */
    uint64_t rows = k < q ? k : q;             /* the others see nothing */
    uint64_t whole = 0;
    if (window && window < before)
        return gnomon__times(rows, window);
    if (window && window - before < rows) {
        whole = gnomon__times(rows - (window - before), window);
        rows = window - before;
    }
    const uint64_t half = rows % 2 ? gnomon__times(rows, (rows + 1) / 2)
                                   : gnomon__times(rows / 2, rows + 1);
    return gnomon__plus(gnomon__plus(gnomon__times(rows, before), half), whole);
}

static bool pairs_of_sequences(const gnomon_op_info *op, bool is_causal,
                               uint64_t window, uint64_t *out)
{
    int64_t q[SEQUENCES], k[SEQUENCES];
    const int count = gnomon__op_list(op, "seqlens_q", q, SEQUENCES);
    const int keys = gnomon__op_list(op, "seqlens_k", k, SEQUENCES);
    *out = 0;
    if (count < 1 || count > SEQUENCES || (keys != count && keys != 0))
        return false;
    for (int i = 0; i < count; i++) {
        const int64_t seen = keys ? k[i] : q[i];
        if (q[i] < 0 || seen < 0)
            return false;
        *out = gnomon__plus(*out, query_pairs((uint64_t)q[i], (uint64_t)seen,
                                              is_causal, window));
    }
    return true;
}

bool gnomon__cost_attention(const gnomon__operands *o, gnomon__op_cost *w)
{
    const gnomon_tensor *q = &o->at[0], *k = &o->at[1], *v = &o->at[2];
    if (o->count < 3 || q->rank < 2 || k->rank < 2 || v->rank < 2 ||
        gnomon__dim(q, -1) != gnomon__dim(k, -1) ||
        gnomon__dim(k, -2) != gnomon__dim(v, -2))
        return false;
    const int64_t window = gnomon__op_number(o->op, "window", 0);
    const bool is_causal = gnomon__op_number(o->op, "is_causal", 0) != 0;
    const uint64_t rows = gnomon__elements_before(q, -1); /* B * H * Sq */
    const uint64_t d = gnomon__dim(q, -1), dv = gnomon__dim(v, -1);
    const uint64_t out =
        gnomon__times(gnomon__times(rows, dv), gnomon__element_bytes(q->dtype));
    const uint64_t log_sums = gnomon__times(4, rows);
    uint64_t met;
    if (window < 0)
        return false;
    if (gnomon__op_json(o->op, "seqlens_q")) { /* [tokens, H, D] */
        if (!pairs_of_sequences(o->op, is_causal, (uint64_t)window, &met))
            return false;
        met = gnomon__times(met, gnomon__dim(q, -2));
    } else {
        met = gnomon__times(gnomon__elements_before(q, -2),
                            query_pairs(gnomon__dim(q, -2), gnomon__dim(k, -2),
                                        is_causal, (uint64_t)window));
    }
    const uint64_t read = gnomon__plus(
        gnomon__bytes(q), gnomon__plus(gnomon__bytes(k), gnomon__bytes(v)));
    if (o->is_backward) {
        w->flops = gnomon__times(
            gnomon__times(2, met),
            gnomon__plus(gnomon__times(3, d), gnomon__times(2, dv)));
        w->bytes =
            gnomon__times(2, gnomon__plus(read, gnomon__plus(out, log_sums)));
    } else {
        w->flops = gnomon__times(gnomon__times(2, met), gnomon__plus(d, dv));
        w->bytes = gnomon__plus(read, gnomon__plus(out, log_sums));
    }
    return true;
}
