/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The matrix product, forward and backward: most of the time of a training
 * step. Called by the blocks of model.c and, on one thread, by attention.c.
 *
 * Invariant: an element of a product is one sum over k = 0, 1, ..., whatever
 * the tile, the block or the thread that computes it.
 */
#include "layers.h"

#include <gnomon.h>

/* A tile's sums live in registers: 4 x 8 floats are 8 of SSE's 16. */
#define TILE_ROWS 4
#define TILE_COLUMNS 8
/* The block that a thread computes at a time. */
#define BLOCK_ROWS 16

static void multiply_tile(real *restrict c, ptrdiff_t c_row,
                          const real *restrict a, ptrdiff_t a_row,
                          ptrdiff_t a_column, const real *restrict b,
                          ptrdiff_t b_row, ptrdiff_t count)
{
    real sum[TILE_ROWS][TILE_COLUMNS];
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_COLUMNS; j++)
            sum[i][j] = c[i * c_row + j];
    for (ptrdiff_t k = 0; k < count; k++) {
        for (int i = 0; i < TILE_ROWS; i++) {
            real factor = a[i * a_row + k * a_column];
#pragma omp simd
            for (int j = 0; j < TILE_COLUMNS; j++)
                sum[i][j] += factor * b[k * b_row + j];
        }
    }
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_COLUMNS; j++)
            c[i * c_row + j] = sum[i][j];
}

/* The rest, where no whole tile fits. */
static void multiply_rest(struct matrix c, struct matrix a, struct matrix b,
                          ptrdiff_t row, ptrdiff_t rows, ptrdiff_t column,
                          ptrdiff_t columns)
{
    for (ptrdiff_t i = row; i < row + rows; i++) {
        for (ptrdiff_t j = column; j < column + columns; j++) {
            real sum = c.at[i * c.row_step + j];
            for (ptrdiff_t k = 0; k < a.columns; k++)
                sum += a.at[i * a.row_step + k * a.column_step] *
                       b.at[k * b.row_step + j];
            c.at[i * c.row_step + j] = sum;
        }
    }
}

/* Columns outside, rows inside: a strip of b stays in the cache. */
static void multiply_rows(struct matrix c, struct matrix a, struct matrix b,
                          ptrdiff_t first, ptrdiff_t last)
{
    for (ptrdiff_t j = 0; j < c.columns; j += TILE_COLUMNS) {
        ptrdiff_t columns = c.columns - j;
        for (ptrdiff_t i = first; i < last; i += TILE_ROWS) {
            ptrdiff_t rows = last - i < TILE_ROWS ? last - i : TILE_ROWS;
            if (rows == TILE_ROWS && columns >= TILE_COLUMNS)
                multiply_tile(c.at + i * c.row_step + j, c.row_step,
                              a.at + i * a.row_step, a.row_step, a.column_step,
                              b.at + j, b.row_step, a.columns);
            else
                multiply_rest(c, a, b, i, rows, j,
                              columns < TILE_COLUMNS ? columns : TILE_COLUMNS);
        }
    }
}

void multiply_add(struct matrix c, struct matrix a, struct matrix b)
{
    multiply_rows(c, a, b, 0, c.rows);
}

static ptrdiff_t block_end(ptrdiff_t first, ptrdiff_t rows)
{
    return first + BLOCK_ROWS < rows ? first + BLOCK_ROWS : rows;
}

void matmul_forward(struct matrix out, struct matrix in, struct matrix weight,
                    const real *bias, const real *residual)
{
    GNOMON_OP_SCOPE(
        "matmul_forward", .operation = "mm",
        GNOMON_INPUTS(GNOMON_TENSOR(REAL, in.rows, in.columns),
                      GNOMON_TENSOR(REAL, weight.rows, weight.columns)));
#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < out.rows; first += BLOCK_ROWS) {
        ptrdiff_t last = block_end(first, out.rows);
        for (ptrdiff_t i = first; i < last; i++) {
            real *row = out.at + i * out.row_step;
            for (ptrdiff_t j = 0; j < out.columns; j++)
                row[j] = (bias ? bias[j] : 0) +
                         (residual ? residual[i * out.row_step + j] : 0);
        }
        multiply_rows(out, in, weight, first, last);
    }
}

void matmul_backward(struct matrix din, real *dweight, real *dbias,
                     struct matrix dout, struct matrix in, struct matrix weight,
                     real *scratch)
{
    GNOMON_OP_SCOPE(
        "matmul_backward", .operation = "mm", .flags = GNOMON_OP_BACKWARD,
        GNOMON_INPUTS(GNOMON_TENSOR(REAL, in.rows, in.columns),
                      GNOMON_TENSOR(REAL, weight.rows, weight.columns)));
    struct matrix turned = matrix_of(scratch, weight.columns, weight.rows);
#pragma omp parallel for schedule(static)
    for (ptrdiff_t j = 0; j < weight.columns; j++)
        for (ptrdiff_t i = 0; i < weight.rows; i++)
            turned.at[j * turned.row_step + i] =
                weight.at[i * weight.row_step + j];

#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < din.rows; first += BLOCK_ROWS) {
        ptrdiff_t last = block_end(first, din.rows);
        for (ptrdiff_t i = first; i < last; i++)
            for (ptrdiff_t j = 0; j < din.columns; j++)
                din.at[i * din.row_step + j] = 0;
        multiply_rows(din, dout, turned, first, last);
    }

    struct matrix sum = matrix_of(dweight, weight.rows, weight.columns);
#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < sum.rows; first += BLOCK_ROWS)
        multiply_rows(sum, matrix_transposed(in), dout, first,
                      block_end(first, sum.rows));

    /* Each thread owns some columns and adds all rows to them in order. */
    if (!dbias)
        return;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t first = 0; first < dout.columns; first += BLOCK_ROWS) {
        ptrdiff_t last = block_end(first, dout.columns);
        for (ptrdiff_t i = 0; i < dout.rows; i++)
#pragma omp simd
            for (ptrdiff_t j = first; j < last; j++)
                dbias[j] += dout.at[i * dout.row_step + j];
    }
}
