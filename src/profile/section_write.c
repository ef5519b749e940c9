/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts a section into a file, with its checksums. */
#include <string.h>

#include "platform/crc32.h"
#include "platform/error.h"
#include "profile/bytes.h"
#include "profile/file_write.h"
#include "profile/layout.h"

void gnomon__file_bytes(gnomon__file_writer *w, const void *bytes, size_t size)
{
    if (!w->code && size)
        w->code = w->out->write(w->out, bytes, size);
}

void gnomon__file_section(gnomon__file_writer *w, const char *kind,
                          uint32_t item_size, uint64_t first, uint32_t count,
                          gnomon__file_buffer *a, gnomon__file_buffer *b)
{
    char header[GNOMON__SECTION_HEADER] = {0};
    static const char zeroes[8];
    uint64_t bytes = a->used + b->used;
    uint32_t crc = gnomon__crc32(0, a->bytes, a->used);
    crc = gnomon__crc32(crc, b->bytes, b->used);
    memcpy(header, kind, 4);
    gnomon__put_32(header + 4, item_size);
    gnomon__put_64(header + 8, bytes);
    gnomon__put_64(header + 16, first);
    gnomon__put_32(header + 24, count);
    gnomon__put_32(header + 28, crc);
    gnomon__put_32(header + 36, gnomon__crc32(0, header, 36));
    gnomon__file_bytes(w, header, sizeof header);
    gnomon__file_bytes(w, a->bytes, a->used);
    gnomon__file_bytes(w, b->bytes, b->used);
    gnomon__file_bytes(w, zeroes, (size_t)(-bytes & 7));
    a->used = b->used = 0;
}

void gnomon__file_full(gnomon__file_writer *w)
{
    w->code = gnomon__fail(GNOMON_EFULL,
                           "more than 4294967295 of a kind in one file");
}
