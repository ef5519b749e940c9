/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files of `gnomon export`: their names, and which time is in which. */
#ifndef GNOMON_CLI_EXPORT_FILES_H
#define GNOMON_CLI_EXPORT_FILES_H

#include "export/export.h"

/* Smaller files than this have hardly more than names of threads. */
#define GNOMON__EXPORT_LEAST 65536

typedef struct gnomon__export_request {
    const gnomon__exporter *exporter;
    const char *to; /* -o; NULL: standard output */
    int which;      /* of its exporters, by --to; -1: not given */
    int reader;     /* 0: TensorBoard; -1: none */
    int metric;     /* gnomon__stacks_metric; -1: not given */
    int modules;    /* of chrome: layers as modules */
    uint64_t max;   /* bytes of a file before compression; 0: any */
    char **made;    /* paths in the folder, with room for all */
    size_t made_count;
} gnomon__export_request;

int gnomon__export_is_gzip(const char *path);
/* A folder that is there, or a path that ends with a slash. */
int gnomon__export_is_folder(const char *path);

/* Both return a gnomon__exit; a line has said what went wrong. `path` NULL or "-" is
 * standard output. */
int gnomon__export_files(const gnomon__export_request *r,
                         const gnomon_profile *const *profiles, size_t count,
                         const char *path);
int gnomon__export_into_folder(gnomon__export_request *r,
                               const gnomon_profile *profile);

#endif
