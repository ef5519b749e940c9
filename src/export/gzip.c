/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "export/gzip.h"

#include <string.h>

/* ---- Compression ------------------------------------------------------------------ */

int gnomon__gzip_is_there(void)
{
    return GNOMON_WITH_ZLIB;
}

#if GNOMON_WITH_ZLIB

#include <stdlib.h>
#include <zlib.h>

#define GZIP_ROOM 65536u
#define GZIP_HEAD \
    16 /* added to the bits of the window: a gzip head, not zlib's */

typedef struct gzip_stream {
    z_stream stream;
    const gnomon_writer *out;
    int code;
    unsigned char room[GZIP_ROOM];
} gzip_stream;

/* Compresses all input that there is, and with Z_FINISH ends the file. */
static int gzip_run(gzip_stream *g, int flush)
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
    gzip_stream *g = w->context;
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

int gnomon__gzip(const gnomon_writer *out, gnomon__gzip_maker *make,
                 void *context)
{
    gzip_stream *g = calloc(1, sizeof *g);
    const gnomon_writer compressed = {
        .struct_size = sizeof compressed, .write = gzip_write, .context = g};
    int code = GNOMON_ENOMEM;
    if (g && deflateInit2(&g->stream, 6, Z_DEFLATED, MAX_WBITS + GZIP_HEAD, 8,
                          Z_DEFAULT_STRATEGY) == Z_OK) {
        g->out = out;
        code = make(context, &compressed);
        g->stream.avail_in = 0;
        code = code ? code : g->code ? g->code : gzip_run(g, Z_FINISH);
        (void)deflateEnd(&g->stream);
    }
    free(g);
    return code;
}

#else

int gnomon__gzip(const gnomon_writer *out, gnomon__gzip_maker *make,
                 void *context)
{
    (void)out;
    (void)make;
    (void)context;
    return GNOMON_ENOMEM;
}

#endif

/* ---- What the profiler trace writes ------------------------------------------------- */

static int write_perfetto(const gnomon__export *what, const gnomon_writer *out)
{
    return gnomon__export_perfetto.write(what, out);
}

static int make_perfetto(void *what, const gnomon_writer *out)
{
    return gnomon__export_perfetto.write(what, out);
}

static int make_chrome(void *what, const gnomon_writer *out)
{
    return gnomon__export_chrome.write(what, out);
}

static int write_perfetto_gzip(const gnomon__export *what,
                               const gnomon_writer *out)
{
    return gnomon__gzip(out, make_perfetto, (void *)(size_t)what);
}

static int write_chrome_gzip(const gnomon__export *what,
                             const gnomon_writer *out)
{
    return gnomon__gzip(out, make_chrome, (void *)(size_t)what);
}

const gnomon__exporter *gnomon__trace_form(const char *file)
{
    static const gnomon__exporter forms[] = {
        {.extension = ".pftrace", .write = write_perfetto},
        {.extension = ".perfetto-trace", .write = write_perfetto},
        {.extension = ".pftrace.gz", .write = write_perfetto_gzip},
        {.extension = ".perfetto-trace.gz", .write = write_perfetto_gzip},
        {.extension = ".pt.trace.json.gz", .write = write_chrome_gzip},
        {.extension = ".json.gz", .write = write_chrome_gzip},
        {.extension = ".gz", .write = write_chrome_gzip}};
    size_t n = strlen(file);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *end = forms[i].extension;
        if (n > strlen(end) && strcmp(file + n - strlen(end), end) == 0)
            return forms[i].write == write_perfetto || GNOMON_WITH_ZLIB
                       ? &forms[i]
                       : NULL;
    }
    return NULL;
}
