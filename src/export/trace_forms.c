/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "export/trace_forms.h"

#include <string.h>

#include "export/gzip.h"

static int write_compressed(const gnomon__exporter *by,
                            const gnomon__export *what,
                            const gnomon_writer *out)
{
    gnomon_writer compressed;
    gnomon__gzip *g = gnomon__gzip_begin(out, &compressed);
    int code = g ? by->write(what, &compressed) : GNOMON_OK;
    int end = gnomon__gzip_end(g);
    return code ? code : end;
}

static int write_chrome(const gnomon__export *what, const gnomon_writer *out)
{
    return write_compressed(&gnomon__export_chrome, what, out);
}

static int write_perfetto(const gnomon__export *what, const gnomon_writer *out)
{
    return gnomon__export_perfetto.write(what, out);
}

static int write_perfetto_gzip(const gnomon__export *what,
                               const gnomon_writer *out)
{
    return write_compressed(&gnomon__export_perfetto, what, out);
}

const gnomon__exporter *gnomon__trace_form(const char *file)
{
    static const gnomon__exporter forms[] = {
        {.extension = ".pftrace", .write = write_perfetto},
        {.extension = ".perfetto-trace", .write = write_perfetto},
        {.extension = ".pftrace.gz", .write = write_perfetto_gzip},
        {.extension = ".perfetto-trace.gz", .write = write_perfetto_gzip},
        {.extension = ".pt.trace.json.gz", .write = write_chrome},
        {.extension = ".json.gz", .write = write_chrome},
        {.extension = ".gz", .write = write_chrome}};
    size_t n = strlen(file);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const char *end = forms[i].extension;
        if (n > strlen(end) && strcmp(file + n - strlen(end), end) == 0)
            return forms[i].write == write_perfetto || gnomon__gzip_is_there()
                       ? &forms[i]
                       : NULL;
    }
    return NULL;
}
