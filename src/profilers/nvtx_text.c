/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pure functions of texts, without NVTX's headers. */
#include "profilers/nvtx_text.h"

#include <stddef.h>
#include <string.h>

/* FNV-1a; never 0, which means no category. */
uint32_t gnomon__nvtx_hash(const char *text)
{
    uint32_t hash = 0x811c9dc5u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x01000193u;
    return hash ? hash : 1;
}

/* Bytes of the UTF-8 character at `text`; 0: not valid. */
static size_t nvtx_sequence(const char *text)
{
    unsigned char first = (unsigned char)*text;
    size_t length = first < 0x80   ? 1
                    : first < 0xc2 ? 0
                    : first < 0xe0 ? 2
                    : first < 0xf0 ? 3
                    : first < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

const char *gnomon__nvtx_text(char fit[GNOMON__NVTX_TEXT], const char *text)
{
    size_t used = 0, n;
    if (!text)
        return "(null)";
    for (; *text && used + 4 < GNOMON__NVTX_TEXT; text += n ? n : 1) {
        n = nvtx_sequence(text);
        memcpy(fit + used, n ? text : "?", n ? n : 1);
        used += n ? n : 1;
    }
    fit[used] = 0;
    return fit;
}

/* One of twelve colours that differ on a light and on a dark background. */
uint32_t gnomon__nvtx_colour(uint32_t category)
{
    static const uint32_t colours[] = {
        0xff4e79a7, 0xfff28e2b, 0xff59a14f, 0xffe15759, 0xffb07aa1, 0xff76b7b2,
        0xffedc948, 0xffff9da7, 0xff9c755f, 0xff86bcb6, 0xffd37295, 0xff8cd17d};
    return colours[category % (sizeof colours / sizeof *colours)];
}
