/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_PLATFORM_CRC32_H
#define GNOMON_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 (ISO 3309, as zlib's and Python's) of the bytes, going on from `crc`;
 * 0 to begin. Any thread. */
uint32_t gnomon__crc32(uint32_t crc, const void *bytes, size_t size);

#endif
