/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the texts of torch's emit_nvtx have in common, whoever reads them. */
#ifndef GNOMON_OPS_TORCH_TEXT_H
#define GNOMON_OPS_TORCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether a name is one of backward: "AddmmBackward0". Older torches have no number. */
static inline bool gnomon__torch_is_backward(const char *name, size_t length)
{
    while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    return length >= 8 && !memcmp(name + length - 8, "Backward", 8);
}

#endif
