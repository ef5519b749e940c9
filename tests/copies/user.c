/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module that marks: a scope of its own name, an action that all modules name
 * alike, and one of each other kind. */
#include "user.h"

#include <string.h>

#include "gnomon.h"
#include "gnomon/profiler.h"

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
        gnomon_link link = gnomon_link_out();
        gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    }
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
