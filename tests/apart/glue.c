/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Both sides of the door between a library without reports and one that has nothing
 * else. APART_REPORTS: the reports' side, which exports what it has. Else the library's
 * side: in place of the tables of src/profilers and src/export it has empty ones, which
 * it fills when it is loaded, if the reports lie beside it. */
#include "export/export.h"
#include "gnomon/tool.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct apart_reports {
    const gnomon_profiler *const *const *profilers; /* NULL ends them */
    const gnomon__exporter *chrome;
} apart_reports;

#ifdef APART_REPORTS

#include "profilers/table.h"

extern const apart_reports apart_v1;
GNOMON_API const apart_reports apart_v1 = {gnomon__profilers,
                                           &gnomon__export_chrome};

#else

/* Those of profilers/table.h and export/export.h, which are constants there. */
extern const gnomon_profiler *const *gnomon__profilers[64];
const gnomon_profiler *const *gnomon__profilers[64];

static const apart_reports *apart;

static int write_chrome(const gnomon__export *what, const gnomon_writer *out)
{
    return apart ? apart->chrome->write(what, out) : GNOMON_ENOENT;
}

const gnomon__exporter gnomon__export_chrome = {.extension = ".json",
                                                .write = write_chrome};

/* Before the program's first mark, so before anybody asks for a profiler. */
__attribute__((constructor)) static void apart_load(void)
{
    Dl_info own;
    char path[4096];
    if (!dladdr(&gnomon__export_chrome, &own))
        return;
    const char *name = strrchr(own.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/libgnomon-reports.so",
             name ? (int)(name - own.dli_fname) : 0, own.dli_fname);
    void *reports = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    apart = reports ? dlsym(reports, "apart_v1") : NULL;
    for (size_t i = 0; apart && apart->profilers[i]; i++)
        gnomon__profilers[i] = apart->profilers[i];
}

#endif
