/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The bits of masks: one for each recorder and hook. */
#ifndef GNOMON_MARK_BITS_H
#define GNOMON_MARK_BITS_H

#include <stdint.h>

#define GNOMON__BITS 31           /* recorders and hooks: bits of a mask */
#define GNOMON__NEVER 0x80000000u /* no masked value equals it */

/* Takes the lowest bit off *rest: its number. 0: there is none. */
static inline __attribute__((always_inline)) int
gnomon__bit_next(uint32_t *rest, uint32_t *bit)
{
    if (!*rest)
        return 0;
    *bit = (uint32_t)__builtin_ctz(*rest);
    *rest &= *rest - 1;
    return 1;
}

/* For each bit of `bits`, the lowest first: its number is `bit`. */
#define gnomon__each_bit(bit, bits) \
    for (uint32_t rest_of_##bit = (bits), bit; \
         gnomon__bit_next(&rest_of_##bit, &bit);)

#endif
