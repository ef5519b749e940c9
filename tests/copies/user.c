/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module that marks: a scope of its own name, an action that all modules name
 * alike, and one of each other kind. */
#include "user.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../fake_cuda/fake_cuda.h"
#include "gnomon.h"
#include "gnomon/cuda.h"
#include "gnomon/tool.h"

/* Of the fake driver, where $GNOMON_CUDA_LIBRARY names it; else none. */
static gnomon_cuda_stream null_stream(void)
{
    static gnomon_cuda_stream stream;
    const char *path = getenv("GNOMON_CUDA_LIBRARY");
    void *library = path && !stream ? dlopen(path, RTLD_NOW) : NULL;
    const fake_cuda *cuda = library ? dlsym(library, "fake_cuda_table") : NULL;
    if (cuda)
        stream = cuda->stream(cuda->context(0));
    return stream;
}

/* The same operation, looked up each time, and found once. */
static void compute(void)
{
    static gnomon_region *found;
    GNOMON_REGION(region, "op of " USER, NULL);
    const gnomon_op_info op = {
        .struct_size = sizeof op, .operation = "op of " USER, .flops = 8};
    gnomon_end(gnomon_begin_op(&region, &op));
    found = found ? found : gnomon_op_region(&region, &op);
    gnomon_end(gnomon_begin(found));
}

void use(int times)
{
    for (int i = 0; i < times; i++) {
        GNOMON_SCOPE(USER);
        gnomon_start("common");
        {
            GNOMON_FUNCTION();
        }
        gnomon_stop("common");
        GNOMON_REGION(region, "range of " USER, NULL);
        gnomon_range_end(gnomon_range_begin(&region));
        GNOMON_COUNTER("counter of " USER, i);
        GNOMON_MARK("mark of " USER);
        compute();
        {
            GNOMON_SCOPE_ON("stream of " USER, null_stream());
        }
        gnomon_link link = gnomon_link_out();
        gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    }
}

int use_configure(const char *spec)
{
    return gnomon_attach(NULL, NULL, spec);
}

static int keep(const gnomon_writer *writer, const void *bytes, size_t size)
{
    char *out = writer->context;
    size_t used = strlen(out), room = 65535 - used;
    memcpy(out + used, bytes, size < room ? size : room);
    out[used + (size < room ? size : room)] = 0;
    return 0;
}

int use_text(char *text)
{
    gnomon_writer writer = {
        .struct_size = sizeof writer, .write = keep, .context = text};
    *text = 0;
    return gnomon_summary("simple", &writer);
}
