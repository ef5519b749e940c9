/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of marks, each choice in it a byte of the input, run by the library
 * and by the model.
 * links: testing */
#include "fuzz.h"

#include "model_program.h"

static uint32_t roll(uint32_t below)
{
    uint32_t n = fuzz_byte();
    if (below > 256)
        n = n << 8 | fuzz_byte();
    return n % below;
}

static int rolled_out(void)
{
    return fuzz_left == 0;
}

static void roll_for(uint32_t operation)
{
    (void)operation;
}

static int is_left_out(uint32_t operation)
{
    (void)operation;
    return 0;
}

static uint32_t inputs;

static int may_fork(void)
{
    return FUZZ_IS_REPLAY || inputs % 64 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_started;
    if (!is_started++ && !world_start())
        abort();
    inputs++;
    fuzz_begin(data, size);
    if (run_program())
        world_tidy();
    return fuzz_end();
}
