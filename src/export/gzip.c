/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "export/gzip.h"

#include <stddef.h>

#if GNOMON_WITH_ZLIB

#include <stdlib.h>
#include <zlib.h>

#define GZIP_ROOM 65536u
#define GZIP_HEAD \
    16 /* added to the bits of the window: a gzip head, not zlib's */

struct gnomon__gzip {
    z_stream stream;
    const gnomon_writer *out;
    int code;
    unsigned char room[GZIP_ROOM];
};

/* Compresses all input that there is, and with Z_FINISH ends the file. */
static int gzip_run(gnomon__gzip *g, int flush)
{
    do {
        g->stream.next_out = g->room;
        g->stream.avail_out = GZIP_ROOM;
        (void)deflate(&g->stream, flush);
        size_t size = GZIP_ROOM - g->stream.avail_out;
        if (size && !g->code)
            g->code = g->out->write(g->out, g->room, size);
    } while (!g->code && g->stream.avail_out == 0);
    return g->code;
}

static int gzip_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    gnomon__gzip *g = w->context;
    const unsigned char *from = bytes;
    while (size && !g->code) {
        uInt part = size < (1u << 30) ? (uInt)size : 1u << 30;
        g->stream.next_in = (Bytef *)(size_t)from;
        g->stream.avail_in = part;
        gzip_run(g, Z_NO_FLUSH);
        from += part;
        size -= part;
    }
    return g->code;
}

int gnomon__gzip_is_there(void)
{
    return 1;
}

gnomon__gzip *gnomon__gzip_begin(const gnomon_writer *out,
                                 gnomon_writer *writer)
{
    gnomon__gzip *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->out = out;
    if (deflateInit2(&g->stream, 6, Z_DEFLATED, MAX_WBITS + GZIP_HEAD, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(g);
        return NULL;
    }
    *writer = (gnomon_writer){
        .struct_size = sizeof *writer, .write = gzip_write, .context = g};
    return g;
}

int gnomon__gzip_end(gnomon__gzip *g)
{
    if (!g)
        return GNOMON_ENOMEM;
    g->stream.avail_in = 0;
    int code = g->code ? g->code : gzip_run(g, Z_FINISH);
    (void)deflateEnd(&g->stream);
    free(g);
    return code;
}

#else

int gnomon__gzip_is_there(void)
{
    return 0;
}

gnomon__gzip *gnomon__gzip_begin(const gnomon_writer *out,
                                 gnomon_writer *writer)
{
    (void)out;
    (void)writer;
    return NULL;
}

int gnomon__gzip_end(gnomon__gzip *g)
{
    (void)g;
    return GNOMON_ENOMEM;
}

#endif
